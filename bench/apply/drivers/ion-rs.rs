//! Reads values, and keeps them.
use ion_rs::Element;
use std::fmt::Write;

fn main() {
    let mut text = String::new();
    for at in 0..20_000 {
        writeln!(text, "row::{{ number: {at}, name: \"row {at}\", at: 2024-05-03T12:00:00Z, tags: [one, two, {at}], note: null.string }}").unwrap();
    }
    let all: Vec<_> = (0..3).map(|_| Element::read_all(&text).unwrap()).collect();
    println!("{}", all.iter().map(|sequence| sequence.len()).sum::<usize>());
}
