//! Tests the report of `shape` on a small corpus, in each format.

mod support;

use dwell_shape::plan::{Plan, Set};
use dwell_shape::report::{Format, Options};
use dwell_shape::schema::Schema;
use serde_json::{Value, json};

/// Returns the schema of a thousand orders: half of them have an address, and 2 % a large refund.
fn schema() -> Schema {
    let order = |n: u64| {
        let mut order = json!({"id": n, "customer": format!("customer {n}"), "currency": "EUR"});
        if n.is_multiple_of(2) {
            order["address"] = json!({"street": format!("street {n}"), "city": "Paris", "zip": n % 90_000});
        }
        if n.is_multiple_of(50) {
            let text = |key: &str| format!("{key} of {n}");
            order["refund"] = json!({"reason": text("reason"), "agent": text("agent"), "note": text("note"), "sum": n});
        }
        order.to_string()
    };
    let texts: Vec<String> = (0..1000).map(order).collect();
    support::schema(&texts.iter().map(String::as_bytes))
}

fn report(format: Format, options: &Options) -> String {
    let schema = schema();
    let mut out = Vec::new();
    Plan::new(&schema).write(format, options, &mut out).expect("memory takes it");
    String::from_utf8(out).expect("UTF-8")
}

#[test]
fn human_report_lists_totals_then_suggestions_then_types() {
    let text = report(Format::Human, &Options { width: Some(120), ..Options::default() });
    let at = |what: &str| text.find(what).unwrap_or_else(|| panic!("no {what:?} in\n{text}"));
    assert!(at("1,000 JSON documents") < at("naive types"));
    assert!(at("naive types") < at("lean types"));
    assert!(at("lean types") < at("What to change"));
    assert!(at("What to change") < at("Option<Box<Refund>>"));
    assert!(at("Option<Box<Refund>>") < at("1,000 objects"));
    assert!(text.contains("2.0 %"), "the refund's fill rate:\n{text}");
    assert!(text.lines().all(|line| line.chars().count() <= 160), "styles apart, lines fit:\n{text}");
}

/// On a narrow terminal the tables become lists of sentences, wrapped at words to the terminal's width.
#[test]
fn narrow_terminal_gets_wrapped_lists() {
    for width in [40, 72, 80, 119] {
        let text = report(Format::Human, &Options { width: Some(width), ..Options::default() });
        let at = |what: &str| text.find(what).unwrap_or_else(|| panic!("no {what:?} in\n{text}"));
        assert!(at("1,000 JSON documents") < at("serde_json::Value"));
        assert!(at("serde_json::Value") < at("What to change"));
        assert!(at("1. Save") < at("2. Save"));
        let flat = text.split_whitespace().collect::<Vec<_>>().join(" ");
        for sentence in [
            "$.refund is absent in 98.0 % of the objects",
            "Option<Refund> -> Option<Box<Refund>>",
            "address: in 50.0 % of the objects",
        ] {
            assert!(flat.contains(sentence), "no {sentence:?} at {width} columns:\n{text}");
        }
        let longest = text.split('\n').filter(|line| line.trim().contains(' ')).map(|line| line.chars().count()).max();
        // Up to eight characters are escape sequences of styles, which the terminal does not show.
        assert!(longest <= Some(usize::from(width) + 8), "{longest:?} of {width}:\n{text}");
    }
    let table = report(Format::Human, &Options { width: Some(120), ..Options::default() });
    assert!(table.contains("filled") && !table.contains("1. Save"), "{table}");
}

#[test]
fn only_rarely_filled_fields_are_boxed() {
    let text = report(Format::Json, &Options::default());
    let report: Value = serde_json::from_str(&text).expect("JSON");
    let suggestions = report["suggestions"].as_array().expect("a list");
    let boxed: Vec<&str> =
        suggestions.iter().filter(|one| one["filled"].is_u64()).filter_map(|one| one["path"].as_str()).collect();
    assert_eq!(boxed, ["$.refund"], "the address is there half of the time and small");
}

#[test]
fn json_report_adds_up() {
    let report: Value = serde_json::from_str(&report(Format::Json, &Options::default())).expect("JSON");
    assert_eq!(report["version"], 4);
    assert_eq!(report["documents"], 1000);
    let number = |value: &Value| value.as_i64().expect("a number");
    let mut total = number(&report["naive"]["bytes"]);
    let mut blocks = number(&report["naive"]["allocations"]);
    for one in report["suggestions"].as_array().expect("a list") {
        total -= number(&one["saves"]);
        blocks += number(&one["allocations"]);
        assert_eq!(number(&one["total"]), total, "{one}");
    }
    assert_eq!(total, number(&report["lean"]["bytes"]));
    assert_eq!(blocks, number(&report["lean"]["allocations"]));

    // The root records and the heap of all fields add up to the total: each byte is counted exactly once.
    for set in ["naive", "lean"] {
        let documents =
            &report["records"].as_array().expect("a list").iter().find(|record| record["name"] == "Document");
        let size = &documents.expect("the root")[set];
        let fields = report["records"]
            .as_array()
            .expect("a list")
            .iter()
            .flat_map(|record| record["fields"].as_array().expect("a list"));
        let heap: i64 = fields.map(|field| number(&field[set]["heap"])).sum();
        assert_eq!(number(&size["size"]) * number(&size["slots"]) + heap, number(&report[set]["bytes"]), "{set}");
    }
}

#[test]
fn omitted_suggestions_are_counted() {
    let all: Value = serde_json::from_str(&report(Format::Json, &Options::default())).expect("JSON");
    let few = Options { top: Some(1), sampled: true, ..Options::default() };
    let top: Value = serde_json::from_str(&report(Format::Json, &few)).expect("JSON");
    let count = |row: &Value, key: &str| row[key].as_array().expect("a list").len();
    assert_eq!((count(&top, "suggestions"), count(&top, "records")), (1, 1));
    assert_eq!(top["suggestions"][0], all["suggestions"][0]);
    assert_eq!(top["suggestions_left_out"], count(&all, "suggestions") - 1);
    assert_eq!(top["sampled"], true);
    assert!(report(Format::Human, &few).contains("not shown (--top)"));
    assert!(report(Format::Human, &few).contains("sampled"));
}

#[test]
fn markdown_report_has_tables() {
    let text = report(Format::Markdown, &Options::default());
    assert!(text.starts_with("# "));
    assert!(text.contains("\n| lean types"), "{text}");
    assert!(!text.contains('\u{1b}'), "no styles");
    let tables = text.lines().filter(|line| line.starts_with("|--")).count();
    assert!(tables >= 4, "{tables} tables in\n{text}");
}

#[test]
fn tiny_inputs_give_a_report() {
    for text in ["1", "null", "[]", "{}", "\"x\"", "[[1,\"a\"],[2,\"b\"]]"] {
        let schema = support::schema(&[text.as_bytes()].into_iter());
        let plan = Plan::new(&schema);
        let mut out = Vec::new();
        for format in [Format::Human, Format::Json, Format::Markdown] {
            plan.write(format, &Options::default(), &mut out).expect("memory takes it");
        }
        assert!(plan.lean_heap().bytes <= plan.naive_heap().bytes, "{text}");
        assert_eq!(support::unformatted(&plan.rust(Set::Both)), "", "{text}: rustfmt would change it");
    }
}
