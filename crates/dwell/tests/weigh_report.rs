//! Tests of trees, advice and differences as text: their contents, and the escaping of names.

#![cfg(all(feature = "advice", feature = "derive", feature = "std"))]

use dwell::Weigh;
use dwell::weigh::{JSON_VERSION, Tree, diff, tree, tree_with_texts};
use serde_json::Value;
use std::collections::{BTreeMap, HashMap};

/// A name with a character that needs escaping in each format.
const NASTY: &str = "</script><b a=\"1\" b='2'>&\\|;`_*\n\u{1}é";

#[derive(Weigh, Default)]
#[weigh(name = "</script><b a=\"1\" b='2'>&\\|;`_*\n\u{1}é")]
struct Nasty {
    #[weigh(name = "</script><b a=\"1\" b='2'>&\\|;`_*\n\u{1}é")]
    field: Option<[u64; 30]>,
    text: String,
}

#[derive(Weigh)]
struct List {
    name: String,
    next: Option<Box<List>>,
}

#[derive(Weigh)]
enum Json {
    Null,
    Text(String),
    Array(Vec<Json>),
    Object(HashMap<String, Json>),
}

fn list(len: usize) -> Option<Box<List>> {
    (0..len).fold(None, |next, n| Some(Box::new(List { name: n.to_string(), next })))
}

fn json() -> Json {
    let leaf = || Json::Text("leaf".into());
    let object = (0..20).map(|n| (n.to_string(), Json::Array(vec![leaf(), Json::Null]))).collect();
    Json::Array(vec![Json::Object(object), leaf(), Json::Null])
}

fn nasty() -> Vec<Nasty> {
    (0..10).map(|_| Nasty { text: "text".into(), ..Nasty::default() }).collect()
}

fn parsed(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

/// Returns trees of all kinds of types.
fn trees() -> Vec<Tree> {
    let sorted: BTreeMap<String, Vec<u8>> =
        (0..if cfg!(miri) { 12 } else { 100 }).map(|n| (n.to_string(), vec![0; n])).collect();
    vec![tree(&nasty()), tree(&list(50)), tree(&json()), tree(&sorted), tree(&0_u8), tree(&Some("lent"))]
}

#[test]
fn folded_stacks_contain_each_byte_once() {
    for tree in trees() {
        let folded = tree.to_folded();
        let sum: u64 = folded.lines().map(|line| line.rsplit_once(' ').unwrap().1.parse::<u64>().unwrap()).sum();
        assert_eq!(sum, tree.weight.total(), "{folded}");
    }
}

#[test]
fn json_matches_the_tree() {
    for tree in trees() {
        let json = parsed(&tree.to_json());
        assert_eq!(json["version"], JSON_VERSION);
        let nodes = json["nodes"].as_array().unwrap();
        assert_eq!(nodes.len(), tree.nodes.len());
        let heap: u64 = nodes.iter().map(|node| node["heap"].as_u64().unwrap()).sum();
        assert_eq!(heap, tree.weight.heap);
        assert_eq!(json["heap"], heap);
        assert!(nodes[1..].iter().enumerate().all(|(index, node)| node["parent"].as_u64().unwrap() <= index as u64));
        for (node, counted) in nodes.iter().zip(&tree.nodes) {
            assert_eq!(node["type"], counted.ty.name());
            assert_eq!((&node["slots"], &node["values"]), (&counted.slots.into(), &counted.instances.into()));
        }
    }
    let nodes = parsed(&tree(&nasty()).to_json())["nodes"].clone();
    assert!(nodes.as_array().unwrap().iter().any(|node| node["label"] == NASTY));
}

#[test]
fn json_counts_distinct_strings_of_read_nodes() {
    let names = ["Ada", "Ada", "Grace"].map(String::from).to_vec();
    let nodes = parsed(&tree_with_texts(&names).to_json())["nodes"].clone();
    assert_eq!(nodes[0].get("texts"), None, "a vector is no string");
    assert_eq!(nodes[1]["texts"], serde_json::json!({"distinct": 2, "bytes": 8}));
    assert_eq!(parsed(&tree(&names).to_json())["nodes"][1].get("texts"), None);
}

#[test]
fn all_table_rows_have_the_same_number_of_cells() {
    for tree in trees() {
        let markdown = tree.to_markdown();
        let cells = |line: &str| line.replace("\\\\", "").replace("\\|", "").matches('|').count();
        let of_head = cells(markdown.lines().next().unwrap());
        assert!(markdown.lines().all(|line| cells(line) == of_head), "{markdown}");
        assert!(markdown.lines().count() > 2);
    }
    let advice = tree(&nasty()).advise().to_markdown();
    assert!(
        advice.lines().all(|line| line.replace("\\\\", "").replace("\\|", "").matches('|').count() == 9),
        "{advice}"
    );
}

#[test]
fn names_are_escaped_in_html() {
    let page = tree(&nasty()).to_html();
    assert!(!page.contains("<b a"), "{page}");
    assert_eq!(page.matches("</script>").count(), 1);
    assert!(page.contains("&lt;/script&gt;&lt;b a=&quot;1&quot; b=&#39;2&#39;&gt;&amp;"));
    // The page must not load anything from the network.
    assert!(!page.contains("http") && !page.contains("src=") && !page.contains("url("));
    for tag in ["html", "head", "body", "table", "button", "div", "tr", "td", "p"] {
        let opened = page.matches(&format!("<{tag}>")).count() + page.matches(&format!("<{tag} ")).count();
        assert_eq!(opened, page.matches(&format!("</{tag}>")).count(), "{tag}");
    }
}

#[test]
fn bars_do_not_overlap_and_fit_the_page() {
    for tree in trees() {
        let page = tree.to_html();
        let mut rows: BTreeMap<usize, Vec<(f64, f64)>> = BTreeMap::new();
        for bar in page.lines().filter(|line| line.starts_with("<button")) {
            let part = |key: &str| bar.split_once(key).unwrap().1.split(['"', 'p']).next().unwrap();
            let number = |key| part(key).parse::<f64>().unwrap();
            rows.entry(part("top:").parse().unwrap()).or_default().push((number("data-x=\""), number("data-w=\"")));
        }
        for bars in rows.values_mut() {
            bars.sort_by(|a, b| a.0.total_cmp(&b.0));
            assert!(bars.windows(2).all(|pair| pair[0].0 + pair[0].1 <= pair[1].0 + 1e-4), "{bars:?}");
            assert!(bars.iter().all(|(left, width)| *left >= 0.0 && left + width <= 1.0001));
        }
        assert_eq!(rows[&0].len(), 1);
    }
}

#[test]
fn text_tables_are_aligned() {
    let text = tree(&json()).to_text();
    let lines: Vec<&str> = text.lines().collect();
    assert!(lines[1].starts_with("Json "), "{text}");
    let width = lines[0].chars().count();
    // All lines have the same width, except for the total in the last line.
    assert!(lines[..lines.len() - 1].iter().all(|line| line.chars().count() == width), "{text}");
    assert_eq!(tree(&json()).to_string(), text);
}

/// A width in `format!` is at most 65,535.
#[test]
fn long_type_names_do_not_panic() {
    use std::marker::PhantomData;
    type Twice<T> = (T, T);
    type Many<T> = Twice<Twice<Twice<Twice<Twice<T>>>>>;
    // Miri takes minutes for names of that length.
    #[cfg(miri)]
    type Long = Many<u64>;
    #[cfg(not(miri))]
    type Long = Twice<Twice<Twice<Twice<Many<Many<u64>>>>>>;
    #[derive(Weigh)]
    struct Tagged<T> {
        tag: PhantomData<T>,
        text: String,
    }
    let value: Vec<Tagged<Long>> = (0..3).map(|_| Tagged { tag: PhantomData, text: "text".into() }).collect();
    let tree = tree(&value);
    let long = if cfg!(miri) { 1 << 7 } else { 1 << 16 };
    assert!(tree.nodes.iter().any(|node| node.ty.name().len() > long));
    for text in [tree.to_text(), tree.to_markdown(), tree.to_html(), tree.to_folded(), tree.to_json()] {
        assert!(text.len() > long);
    }
    let advice = tree.advise();
    let _ = (advice.to_string(), advice.to_markdown(), diff(&tree, &dwell::weigh::tree(&0_u8)).to_string());
}

#[test]
fn recursive_type_is_shown_once() {
    let text = tree(&list(50)).to_text();
    assert_eq!(text.matches("next: Option<Box<List>>").count(), 1, "{text}");
    assert!(text.contains(" 50 "), "{text}");
}

#[test]
fn differences_add_up() {
    let mut value = json();
    let before = tree(&value);
    assert!(diff(&before, &tree(&value)).changes.is_empty());
    let Json::Array(items) = &mut value else { unreachable!() };
    items.extend((0..100).map(|n| Json::Text(n.to_string())));
    let after = tree(&value);
    let diff = diff(&before, &after);
    let sum = |when: usize| diff.changes.iter().map(|changed| changed.heap[when]).sum::<u64>();
    assert_eq!(sum(1) - sum(0), after.weight.heap - before.weight.heap);
    assert_eq!(diff.total, [before.weight.total(), after.weight.total()]);
    let sizes: Vec<u64> = diff.changes.iter().map(|changed| changed.heap[0].abs_diff(changed.heap[1])).collect();
    assert!(sizes.is_sorted_by(|a, b| a >= b));
    let text = diff.to_string();
    assert!(text.lines().last().unwrap().starts_with("total"), "{text}");
    // Nodes with more values but unchanged bytes are in `changes` but not in the table.
    assert!(diff.changes.iter().any(|changed| changed.heap[0] == changed.heap[1]));
    assert!(!text.contains(" +0 B "), "{text}");
}

#[test]
fn advice_json_matches_the_advice() {
    let advice = tree(&nasty()).advise();
    let json = parsed(&advice.to_json());
    assert_eq!(json["suggestions"].as_array().unwrap().len(), advice.suggestions.len());
    assert_eq!(json["suggestions"][0]["saves"], advice.suggestions[0].saves);
    assert_eq!(json["after"], advice.after);
    assert!(advice.to_string().contains("now"), "{advice}");
}
