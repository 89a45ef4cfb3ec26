//! Filters like those of jaq's own benchmark: numbers, recursion, and paths in a tree.

use jaq_core::load::{Arena, File, Loader};
use jaq_core::{Compiler, Ctx, Vars, data, unwrap_valr};
use jaq_json::Val;

fn filter(code: &'static str, input: Val) -> Box<dyn FnMut() -> u64> {
    let arena = Arena::default();
    let definitions = jaq_core::defs().chain(jaq_std::defs()).chain(jaq_json::defs());
    let modules = Loader::new(definitions).load(&arena, File { code, path: () }).expect("the filter parses");
    let functions = jaq_core::funs().chain(jaq_std::funs()).chain(jaq_json::funs());
    let filter = Compiler::default().with_funs(functions).compile(modules).expect("the filter compiles");
    Box::new(move || {
        let context = Ctx::<data::JustLut<Val>>::new(&filter.lut, Vars::new([]));
        let mut bytes = 0;
        for output in filter.id.run((context, input.clone())).map(unwrap_valr) {
            bytes += output.expect("the filter has no error").to_string().len() as u64;
        }
        bytes
    })
}

pub fn workload(name: &str) -> Box<dyn FnMut() -> u64> {
    match name {
        // Like `cumsum`, `reduce` and `add` of its benchmark.
        "numbers" => filter(
            "[range(20000) | select(. % 3 == 0) | . * 2] | [foreach .[] as $x (0; . + $x)] | (add / length, last)",
            Val::from(0_isize),
        ),
        // Its benchmark `ack`.
        "recursion" => filter(
            "def ack($m; $n): if $m == 0 then $n + 1 elif $n == 0 then ack($m - 1; 1) \
             else ack($m - 1; ack($m; $n - 1)) end; ack(2; 40)",
            Val::from(0_isize),
        ),
        // Its benchmarks `tree-flatten` and `tree-update`.
        "a tree" => filter(
            "def tree: if . == 0 then 1 else . - 1 | [tree, tree] end; \
             11 | tree | (.. |= if type == \"number\" then . + 1 else . end) | [..] | length",
            Val::from(0_isize),
        ),
        _ => panic!("no workload {name}"),
    }
}
