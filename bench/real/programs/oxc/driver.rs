//! The TypeScript compiler, 8.3 MB of JavaScript, parsed: with a new arena each time, and with one that is reset.

use oxc_allocator::Allocator;
use oxc_parser::Parser;
use oxc_span::SourceType;

fn parse(allocator: &Allocator, text: &str) -> u64 {
    let parsed = Parser::new(allocator, text, SourceType::cjs()).parse();
    assert!(parsed.errors.is_empty() && !parsed.panicked, "the input must parse");
    parsed.program.body.len() as u64 + u64::from(parsed.program.span.end)
}

pub fn workload(name: &str) -> Box<dyn FnMut() -> u64> {
    let text = std::fs::read_to_string("{input}").expect("the input is there");
    match name {
        "typescript.js" => Box::new(move || parse(&Allocator::default(), &text)),
        "typescript.js, reset" => {
            let mut allocator = Allocator::default();
            Box::new(move || {
                let sum = parse(&allocator, &text);
                allocator.reset();
                sum
            })
        }
        _ => panic!("no workload {name}"),
    }
}
