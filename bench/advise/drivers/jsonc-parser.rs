//! Parses a long text of JSON with comments to a tree with ranges, and to values.
use jsonc_parser::{JsonValue, ParseOptions, parse_to_ast, parse_to_value};

fn main() {
    let item = |item: usize| format!(
        "  // the item {item}\n  {{ \"id\": {item}, \"name\": \"Item \\\"{item}\\\"\", \"tags\": [\"a\", \"b{}\"], \"size\": {{ \"width\": {}.5, \"height\": null }} }},\n",
        item % 7, item % 100);
    let text = format!("[\n{}]\n", (0..20_000).map(item).collect::<String>());
    let tree = parse_to_ast(&text, &Default::default(), &ParseOptions::default()).unwrap();
    let value = parse_to_value(&text, &ParseOptions::default()).unwrap();
    println!("{} {}", tree.value.is_some(), matches!(value, Some(JsonValue::Array(all)) if all.len() == 20_000));
}
