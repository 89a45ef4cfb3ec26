//! Keeps the syntax trees of many pages.

use markdown::{ParseOptions, mdast::Node, to_mdast};

fn main() {
    let count: usize = std::env::args().nth(1).map_or(10, |text| text.parse().expect("a number"));
    let mut pages: Vec<Node> = Vec::new();
    for n in 0..count {
        let text = format!(
            "# Page {n}\n\nSome *text* with **strong** words, `code {n}`, and a [link](https://example.org/{n} \"title\").\n\n\
             * one\n* two\n    1. three\n    2. four\n\n> A quotation\n> of two lines.\n\n```rust\nfn f() {{}}\n```\n\n\
             | a | b |\n|---|--:|\n| 1 | {n} |\n\n![image](a.png)\n\n---\n\nLast paragraph, line {n}.\n"
        );
        pages.push(to_mdast(&text, &ParseOptions::gfm()).expect("it is Markdown"));
    }
    println!("{} pages", pages.len());
}
