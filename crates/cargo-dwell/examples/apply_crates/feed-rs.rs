//! Keeps many feeds.

use feed_rs::{model::Feed, parser};

fn main() {
    let count: usize = std::env::args().nth(1).map_or(10, |text| text.parse().expect("a number"));
    let mut feeds: Vec<Feed> = Vec::new();
    for n in 0..count {
        let mut items = String::new();
        for m in 0..15 {
            items.push_str(&format!(
                "<item><title>Item {m}</title><link>https://example.org/{n}/{m}</link><description>Text {m}</description>\
                 <guid>g{n}-{m}</guid><pubDate>Mon, 02 Jan 2023 10:0{}:00 GMT</pubDate><category>c</category></item>",
                m % 10
            ));
        }
        let text = format!(
            "<?xml version=\"1.0\"?><rss version=\"2.0\"><channel><title>Feed {n}</title><link>https://example.org/{n}</link>\
             <description>About {n}</description><language>en</language>{items}</channel></rss>"
        );
        feeds.push(parser::parse(text.as_bytes()).expect("it is a feed"));
    }
    let entries: usize = feeds.iter().map(|feed| feed.entries.len()).sum();
    println!("{entries} entries");
}
