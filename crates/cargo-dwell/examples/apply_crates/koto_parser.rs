//! Keeps the syntax trees of many scripts.

use koto_parser::{Ast, Parser};

fn main() {
    let count: usize = std::env::args().nth(1).map_or(10, |text| text.parse().expect("a number"));
    let mut trees: Vec<Ast> = Vec::new();
    for n in 0..count {
        let mut text = String::new();
        for m in 0..10 {
            text.push_str(&format!(
                "f{m} = |a, b|\n  x = a + b * {n}\n  if x > {m}\n    print 'value {{x}}'\n  else\n    x = [1, 2, {n}]\n  {{foo: x, bar: 'text {m}'}}\n\n"
            ));
        }
        trees.push(Parser::parse(&text).expect("it is Koto"));
    }
    println!("{} trees", trees.len());
}
