//! Parses modules, and keeps their trees.
use rustpython_parser::{Mode, parse};
use std::fmt::Write;

fn main() {
    let mut text = String::from("import os\n");
    for at in 0..3_000 {
        writeln!(text, "class Row{at}(Base):\n    \"\"\"A row.\"\"\"\n    limit: int = {at}\n\n    def total(self, rate=1.5, *rest):\n        values = [x * rate for x in rest if x > {at}]\n        return sum(values) + self.limit if values else None\n").unwrap();
    }
    let trees: Vec<_> = (0..3).map(|of| parse(&text, Mode::Module, &format!("module {of}")).unwrap()).collect();
    println!("{}", trees.iter().map(|tree| tree.as_module().map_or(0, |module| module.body.len())).sum::<usize>());
}
