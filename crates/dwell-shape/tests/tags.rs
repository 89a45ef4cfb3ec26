//! Which keys are tags: those whose values stand for types, and not identifiers or levels.

mod support;

use dwell_shape::schema::{Schema, Tagging};
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
fn a_tag_of_few_objects_must_hold_for_all_of_their_name() {
    // At one position, the keys seem to depend on the name; at the other, each name has both.
    let names = ["limit", "offset", "sort", "filter"];
    let object = |n: usize, kind: usize| match kind {
        0 => json!({"name": names[n % 4], "schema": {"max": n}, "required": true, "minimum": 1}),
        _ => json!({"name": names[n % 4], "content": [n], "example": "x", "style": "form"}),
    };
    let list = |few: bool, n: usize| -> Vec<Value> {
        (0..4).map(|k| object(n + k, if few { (n + k) % 2 } else { (n + k) / 4 % 2 })).collect()
    };
    let few: Vec<Value> = (0..8).map(|n| json!({"get": {"parameters": list(true, n * 4)}})).collect();
    assert_eq!(tags(&few).len(), 1, "{:?}", tags(&few));
    let many = (0..80).map(|n| json!({"put": {"parameters": list(false, n * 4)}}));
    let all: Vec<Value> = few.into_iter().chain(many).collect();
    assert!(!tags(&all).iter().any(|(tag, _)| tag == "name"), "{:?}", tags(&all));
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
    let enums: Vec<(&str, usize)> = schema.keywords.iter().map(|set| (&*set.name, set.values.len())).collect();
    assert_eq!(enums, [("Permission", 2)]);
}

#[test]
fn one_object_without_a_tag_does_not_undo_it() {
    for tag in ["label", "type", "resourceType"] {
        for value in [None, Some(Value::Null), Some(json!(5))] {
            for at in [0, 37] {
                let mut texts = kinds(tag, 5, 16, 100);
                texts[at].as_object_mut().unwrap().remove(tag);
                if let Some(value) = &value {
                    texts[at][tag] = value.clone();
                }
                assert_eq!(tags(&texts), [(tag.to_owned(), 6)], "{tag} {value:?} {at}");
            }
        }
    }
    // A string that is no name is text.
    let mut texts = kinds("label", 5, 16, 100);
    texts[37]["label"] = json!("a label of several words, which is no name");
    assert!(tags(&texts).iter().all(|(tag, _)| tag != "label"));
}

#[test]
fn resources_of_many_rare_kinds_have_types() {
    let mut rng = fastrand::Rng::with_seed(3);
    let one = |n: usize| {
        let kind = rng.usize(0..73) * rng.usize(0..73) / 73;
        let mut object = Map::from_iter([
            (
                "resourceType".to_owned(),
                json!(format!("R{}", "abcdefghijklmnopqrstuvwxyz"[kind % 26..].split_at(1).0.repeat(1 + kind / 26))),
            ),
            ("id".to_owned(), json!(format!("r{n}"))),
        ]);
        for key in 0..3 + kind % 6 {
            if rng.u8(0..100) < 60 {
                object.insert(format!("key_{kind}_{key}"), if key % 2 == 0 { json!(n) } else { json!({"code": n}) });
            }
        }
        object.into()
    };
    let texts: Vec<Value> = (0..266).map(one).collect();
    let found = tags(&texts);
    assert!(found.len() == 1 && found[0].0 == "resourceType" && found[0].1 > 40, "{found:?}");
}

#[test]
fn kinds_that_a_small_sample_does_not_show_are_no_map() {
    // In the first texts, nearly every kind is new.
    let letters =
        |n: usize| ["abcdefghijklmnop"[n / 16..].split_at(1).0, "abcdefghijklmnop"[n % 16..].split_at(1).0].concat();
    let text = |n: usize| {
        let keys = (0..4)
            .map(|key| (format!("key_{}_{key}", n % 250), if key == 0 { json!(n) } else { json!({"code": "x"}) }));
        let own: Map<String, Value> = keys.collect();
        json!({"resourceType": letters(n % 250), "about": "x".repeat(200)})
            .as_object()
            .unwrap()
            .clone()
            .into_iter()
            .chain(own)
            .collect()
    };
    let dir = tempfile::tempdir().unwrap();
    let texts: Vec<Value> = (0..1500).map(text).collect();
    let lines: Vec<String> = texts.iter().map(ToString::to_string).collect();
    std::fs::write(dir.path().join("data.jsonl"), lines.join("\n")).unwrap();
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_dwell-shape"));
    let output = command.current_dir(dir.path()).args(["shape", "data.jsonl", "--top", "0"]).output().unwrap();
    let printed = String::from_utf8(output.stdout).unwrap();
    assert!(printed.contains("; 251 types") || printed.contains("; 252 types"), "{printed}");
}

#[test]
fn hundreds_of_kinds_are_a_union() {
    let letters = |n: usize| [n / 100, n / 10 % 10, n % 10].map(|n| "abcdefghij"[n..].split_at(1).0).concat();
    let one = |n: usize| {
        let kind = n % 300;
        json!({"type": letters(kind), (format!("a{kind}")): n, (format!("b{kind}")): "x", (format!("c{kind}")): true})
    };
    assert_eq!(tags(&(0..900).map(one).collect::<Vec<_>>()), [("type".to_owned(), 300)]);
}

/// Returns objects of three shapes, with what `tag` adds to each.
fn shapes(tag: impl Fn(usize) -> Value) -> Vec<Value> {
    let one = |n: usize| {
        let mut object = match n % 3 {
            0 => json!({"id": n, "radius": n}),
            1 => json!({"id": n, "width": n, "height": n}),
            _ => json!({"id": n, "points": [n, n + 1], "closed": n.is_multiple_of(2)}),
        };
        let own = object.as_object_mut().unwrap();
        own.extend(tag(n % 3).as_object().unwrap().clone());
        if n.is_multiple_of(4) {
            own.insert("note".into(), "x".into());
        }
        object
    };
    (0..90).map(one).collect()
}

#[test]
fn shapes_with_keys_of_their_own_are_an_untagged_union() {
    let tags: [&dyn Fn(usize) -> Value; 4] = [
        &|_| json!({}),
        &|kind| json!({"kind": kind}),
        &|kind| json!({"round": kind == 0}),
        &|kind| json!({"header": {"type": (["circle", "box", "path"][kind]), "at": kind}}),
    ];
    for tag in tags {
        let found = schema(&shapes(tag));
        let [union] = &found.unions[..] else { panic!("{:?}", found.unions) };
        assert_eq!((&union.form, union.variants.len(), union.untagged), (&Tagging::Untagged, 3, false));
        for (marker, record) in &union.variants {
            let record = &found.records[*record];
            assert!(record.fields.iter().any(|field| field.key == *marker && field.slot.count == record.instances));
        }
    }
    // An object without any of the keys, and one with keys of two shapes.
    let mut texts = shapes(|_| json!({}));
    texts.push(json!({"id": 90}));
    let found = schema(&texts);
    assert!(found.unions.len() == 1 && found.unions[0].untagged, "{:?}", found.unions);
    texts.push(json!({"id": 91, "radius": 1, "width": 2, "height": 3}));
    assert!(schema(&texts).unions.is_empty());
}

#[test]
fn an_optional_key_or_another_is_no_union() {
    let text = |n: usize| match n % 5 {
        0 => json!({"jsonrpc": "2.0", "id": n, "error": {"code": n, "message": "m"}}),
        _ => json!({"jsonrpc": "2.0", "id": n, "result": n}),
    };
    assert!(schema(&(0..100).map(text).collect::<Vec<_>>()).unions.is_empty());
}

#[test]
fn numbered_strings_and_single_ones_are_no_enums() {
    let text =
        |n: usize| json!({"image": format!("img_{}.png", n % 7), "folder": "images", "mode": (["on", "off"][n % 2])});
    let schema = schema(&(0..200).map(text).collect::<Vec<_>>());
    let enums: Vec<&str> = schema.keywords.iter().map(|set| &*set.name).collect();
    assert_eq!(enums, ["Mode"]);
}

#[test]
fn equal_enums_are_one() {
    let level = |n: usize| ["low", "middle", "high"][n % 3];
    let text =
        |n: usize| json!({"alert": {"severity": level(n)}, "log": {"level": level(n / 2), "of": (["a", "b"][n % 2])}});
    let schema = schema(&(0..120).map(text).collect::<Vec<_>>());
    let enums: Vec<usize> = schema.keywords.iter().map(|set| set.values.len()).collect();
    assert_eq!(enums.len(), 2, "{:?}", schema.keywords);
    assert_eq!(schema.keywords.iter().map(|set| set.values.values().sum::<u64>()).sum::<u64>(), 360);
}
