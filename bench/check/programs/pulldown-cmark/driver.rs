//! Parses a document and writes it as HTML, and keeps its events.

use pulldown_cmark::{Event, Parser, html};
use std::fmt::Write as _;

fn text(sections: usize) -> String {
    let mut text = String::new();
    for at in 0..sections {
        let _ = write!(
            text,
            "# Section {at}\n\nA paragraph with *emphasis*, **{at}** and [a link](https://example.com/{at} \"title\").\n\n\
             - one `code`\n- two\n- three\n\n```rust\nfn f{at}() {{}}\n```\n\n> a quotation\n\n"
        );
    }
    text
}

fn main() {
    let rounds = std::env::args().nth(1).and_then(|rounds| rounds.parse().ok()).unwrap_or(1);
    let text = text(400);
    let mut bytes = 0;
    for _ in 0..rounds {
        let events: Vec<Event<'_>> = Parser::new(&text).collect();
        let mut page = String::new();
        html::push_html(&mut page, events.iter().cloned());
        bytes += page.len() + events.len();
    }
    println!("{bytes}");
}
