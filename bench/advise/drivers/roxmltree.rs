//! Parses documents and holds their trees.
use std::fmt::Write;

fn main() {
    let document = |of: usize| {
        let mut text = format!("<?xml version=\"1.0\"?>\n<catalog xmlns=\"http://example.com/c\" xmlns:p=\"http://example.com/p\" id=\"{of}\">\n");
        for item in 0..8_000 {
            writeln!(text, "  <item id=\"i{item}\" p:kind=\"book\"><title>Title {item}</title><price currency=\"EUR\">{}</price></item>", item % 99).unwrap();
        }
        text + "</catalog>\n"
    };
    let texts: Vec<String> = (0..6).map(document).collect();
    let trees: Vec<_> = texts.iter().map(|text| roxmltree::Document::parse(text).unwrap()).collect();
    println!("{}", trees.iter().map(|tree| tree.descendants().filter(|node| node.is_element()).count()).sum::<usize>());
}
