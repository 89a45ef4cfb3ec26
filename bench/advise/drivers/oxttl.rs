//! Parses a Turtle document and holds its triples.
use oxttl::TurtleParser;
use std::fmt::Write;

fn main() {
    let mut text = String::from("@prefix ex: <http://example.com/> .\n@prefix schema: <http://schema.org/> .\n");
    for person in 0..40_000 {
        writeln!(text, "ex:person{person} a schema:Person ; schema:name \"Person {person}\" ; schema:age {} ;", person % 90).unwrap();
        writeln!(text, "  schema:knows ex:person{}, ex:person{} .", person / 2, person / 3).unwrap();
    }
    let triples: Vec<_> = TurtleParser::new().for_reader(text.as_bytes()).map(Result::unwrap).collect();
    println!("{}", triples.len());
}
