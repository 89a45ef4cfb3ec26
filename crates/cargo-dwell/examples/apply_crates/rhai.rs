//! Keeps many compiled scripts, and values that scripts made.

use rhai::{AST, Dynamic, Engine};

fn main() {
    let count: usize = std::env::args().nth(1).map_or(10, |text| text.parse().expect("a number"));
    let engine = Engine::new();
    let mut scripts: Vec<AST> = Vec::new();
    let mut values: Vec<Dynamic> = Vec::new();
    for n in 0..count {
        let text = format!(
            "fn f{n}(x, y) {{ if x > {n} {{ return x * y; }} let z = [x, y, {n}]; for i in z {{ x += i; }} x }}\n\
             let a = #{{ name: \"n{n}\", size: {n}, tags: [\"a\", \"b\"] }};\nlet b = f{n}(a.size, 3);\n\
             while b > 10 {{ b -= 7; }}\nswitch b {{ 1 => a.size, 2 => b + 1, _ => a.tags.len() }};\na"
        );
        let script = engine.compile(&text).expect("it is a script");
        values.push(engine.eval_ast(&script).expect("it runs"));
        scripts.push(script);
    }
    println!("{} scripts, {} values", scripts.len(), values.len());
}
