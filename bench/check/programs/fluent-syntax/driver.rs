//! Parses messages and keeps their syntax trees.

use fluent_syntax::ast::Entry;
use fluent_syntax::parser::parse;
use std::fmt::Write as _;

fn main() {
    let rounds = std::env::args().nth(1).and_then(|rounds| rounds.parse().ok()).unwrap_or(1);
    let mut text = String::new();
    for at in 0..800 {
        let _ = write!(
            text,
            "# A comment\nkey-{at} = Hello {{ $user }}, you have {{ $count ->\n    [one] one mail\n   *[other] {{ $count }} mails\n }} in {at}\n    .label = Label {at}\n-term-{at} = Term {at}\n"
        );
    }
    let mut sum = 0;
    for _ in 0..rounds {
        let resource = parse(text.clone()).expect("messages");
        sum += resource.body.iter().filter(|entry| matches!(entry, Entry::Message(_))).count();
    }
    println!("{sum}");
}
