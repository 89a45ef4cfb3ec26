//! Parses pages, and selects in them.
use scraper::{Html, Selector};
use std::fmt::Write;

fn main() {
    let page = |of: usize| {
        let mut text = format!("<!DOCTYPE html><title>Page {of}</title><table id=rows>");
        for row in 0..3_000 {
            write!(text, "<tr class=\"row even\" data-number={row}><td>{row}</td><td><a href=\"/rows/{row}\" title=\"Row {row}\">row</a></td></tr>").unwrap();
        }
        text
    };
    let pages: Vec<_> = (0..4).map(|of| Html::parse_document(&page(of))).collect();
    let links = Selector::parse("tr.row a[href]").unwrap();
    println!("{}", pages.iter().map(|page| page.select(&links).count()).sum::<usize>());
}
