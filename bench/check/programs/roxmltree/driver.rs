//! Parses a document of many elements, and keeps it.

use roxmltree::Document;
use std::fmt::Write as _;

fn text(elements: usize) -> String {
    let mut text = String::from("<r>");
    for at in 0..elements {
        let _ = write!(text, "<item id=\"{at}\" name=\"item &amp; {at}\"><p>text of {at}</p>a &lt; {at}</item>");
    }
    text + "</r>"
}

fn main() {
    let rounds = std::env::args().nth(1).and_then(|rounds| rounds.parse().ok()).unwrap_or(1);
    let text = text(4_000);
    let mut sum = 0;
    for _ in 0..rounds {
        let document = Document::parse(&text).expect("XML");
        sum += document.descendants().filter(|node| node.is_element()).map(|node| node.attributes().count()).sum::<usize>();
    }
    println!("{sum}");
}
