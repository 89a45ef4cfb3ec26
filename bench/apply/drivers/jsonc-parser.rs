//! Parses settings with comments, and keeps their trees.
use jsonc_parser::{CollectOptions, CommentCollectionStrategy, ParseOptions, parse_to_ast};
use std::fmt::Write;

fn main() {
    let mut text = String::from("{\n");
    for at in 0..15_000 {
        writeln!(text, "  // The setting {at}.\n  \"setting {at}\": {{ \"on\": true, \"values\": [{at}, 2, \"three\"], \"note\": null }},").unwrap();
    }
    text.push_str("}\n");
    let options = CollectOptions { comments: CommentCollectionStrategy::Separate, tokens: true };
    let trees: Vec<_> = (0..3).map(|_| parse_to_ast(&text, &options, &ParseOptions::default()).unwrap()).collect();
    println!("{}", trees.iter().map(|tree| tree.comments.as_ref().map_or(0, |all| all.len())).sum::<usize>());
}
