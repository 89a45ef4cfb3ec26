//! Keeps the syntax trees of many scripts.

use full_moon::ast::Ast;

fn main() {
    let count: usize = std::env::args().nth(1).map_or(10, |text| text.parse().expect("a number"));
    let mut trees: Vec<Ast> = Vec::new();
    for n in 0..count {
        let mut text = String::new();
        for m in 0..12 {
            text.push_str(&format!(
                "local function f{m}(a, b)\n    if a > {n} then\n        return a + b * {m}\n    end\n    for i = 1, 10 do\n        \
                 print(i, \"text {m}\", {{ x = 1, [2] = a }})\n    end\nend\n"
            ));
        }
        trees.push(full_moon::parse(&text).expect("it is Lua"));
    }
    println!("{} trees", trees.len());
}
