//! Parses a page into a tree of nodes, with mimalloc.

use html5ever::tendril::TendrilSink as _;
use markup5ever_rcdom::{Handle, RcDom};
use std::fmt::Write as _;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn nodes(of: &Handle) -> usize {
    1 + of.children.borrow().iter().map(nodes).sum::<usize>()
}

fn main() {
    let rounds = std::env::args().nth(1).and_then(|rounds| rounds.parse().ok()).unwrap_or(1);
    let mut text = String::from("<!DOCTYPE html><title>Rows</title><table>");
    for at in 0..1_500 {
        let _ = write!(text, "<tr class=row id=row-{at}><td>{at}</td><td><a href=\"/rows/{at}\">row number {at}</a></td></tr>");
    }
    let mut sum = 0;
    for _ in 0..rounds {
        let dom = html5ever::parse_document(RcDom::default(), Default::default()).one(&*text);
        sum += nodes(&dom.document);
    }
    println!("{sum}");
}
