//! Which keys are tags: those whose values stand for types, and not identifiers or levels.

mod support;

use dwell_shape::schema::Schema;
use serde_json::{Map, Value, json};

fn schema(texts: &[Value]) -> Schema {
    let texts: Vec<String> = texts.iter().map(ToString::to_string).collect();
    support::schema(&texts.iter().map(String::as_bytes))
}

/// Returns the tags of the unions, with the number of their variants.
fn tags(texts: &[Value]) -> Vec<(String, usize)> {
    schema(texts).unions.into_iter().map(|union| (union.tag, union.variants.len())).collect()
}

/// Returns objects of several kinds, each with keys of its own of which each has `share` percent of them.
fn kinds(tag: &str, kinds: usize, each: usize, share: u32) -> Vec<Value> {
    let mut rng = fastrand::Rng::with_seed(7);
    let one = |n: usize| {
        let kind = n % kinds;
        let mut object = Map::from_iter([(tag.to_owned(), json!(format!("Kind{kind}"))), ("id".to_owned(), json!(n))]);
        for key in 0..4 {
            if rng.u32(0..100) < share {
                object.insert(format!("key_{kind}_{key}"), json!(n * key));
            }
        }
        object.into()
    };
    (0..kinds * each).map(one).collect()
}

#[test]
fn kinds_without_a_required_key_have_types() {
    for (tag, number, each, share) in
        [("type", 6, 20, 60), ("label", 6, 20, 60), ("resourceType", 20, 10, 60), ("resourceType", 40, 4, 100)]
    {
        assert_eq!(tags(&kinds(tag, number, each, share)), [(tag.to_owned(), number)], "{tag} {number} {each} {share}");
    }
}

#[test]
fn a_key_that_some_objects_have_does_not_hide_a_tag() {
    let mut texts = kinds("resourceType", 20, 4, 100);
    for (index, text) in texts.iter_mut().enumerate().filter(|(index, _)| index % 80 < 20) {
        text["type"] = json!(format!("t{}", index % 4));
    }
    assert_eq!(tags(&texts), [("resourceType".to_owned(), 20)]);
}

#[test]
fn identifiers_are_no_tags() {
    let few: Vec<Value> = (0..4)
        .map(|n| match n {
            3 => json!({"id": "C4", "by": "W01", "name": "d", "private": true, "members": []}),
            _ => json!({"id": format!("C{n}"), "by": "U01", "name": "a", "topic": "x", "count": n}),
        })
        .collect();
    assert_eq!(tags(&few), []);
    for (layers, images) in
        [("layer_", "image_"), ("https://example.org/l/", "https://example.org/i/"), ("a0c4f1", "b7d9e2")]
    {
        let assets = |n: usize| {
            let layer = (0..=n % 5).map(|i| json!({"id": format!("{layers}{i}"), "layers": [{"n": i, "m": n}]}));
            let image = (0..=n % 7)
                .map(|i| json!({"id": format!("{images}{i}"), "w": 10 + n, "h": 20, "file": format!("{i}.png")}));
            json!({"assets": layer.chain(image).collect::<Vec<_>>()})
        };
        assert_eq!(tags(&(0..60).map(assets).collect::<Vec<_>>()), [], "{layers}");
    }
}

#[test]
fn levels_of_permissions_are_one_enum() {
    let keys = ["checks", "contents", "deployments", "issues", "metadata", "pages", "statuses"];
    let text = |n: usize| {
        let level = |key: &str| json!(if key == "metadata" { "read" } else { "write" });
        let all: Map<String, Value> = keys.iter().map(|&key| (key.to_owned(), level(key))).collect();
        let few = json!({"contents": "read", "metadata": "read", "actions": "read", "packages": "write"});
        json!({"permissions": if n < 130 { all.into() } else { few }})
    };
    let schema = schema(&(0..132).map(text).collect::<Vec<_>>());
    assert!(schema.unions.is_empty(), "{:?}", schema.unions);
    let enums: Vec<(&str, usize)> = schema.keywords.iter().map(|of| (&*of.name, of.values.len())).collect();
    assert_eq!(enums, [("Permission", 2)]);
}
