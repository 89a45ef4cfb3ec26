use super::documents;
use serde_json::Value;

const MODELS: usize = 40;

fn parsed() -> Vec<Value> {
    documents(1, MODELS).map(|(name, json)| serde_json::from_slice(&json).expect(&name)).collect()
}

#[test]
fn equal_seeds_give_equal_bytes() {
    let all: Vec<_> = documents(7, 3).collect();
    assert_eq!(all, documents(7, 3).collect::<Vec<_>>());
    assert_eq!(all[..2], documents(7, 2).collect::<Vec<_>>(), "a document does not depend on how many there are");
    assert_ne!(all[0].1, documents(8, 1).next().unwrap().1);
}

#[test]
fn names_are_distinct_and_total_size_is_in_range() {
    let mut bytes = 0;
    let mut names: Vec<String> = documents(1, MODELS)
        .map(|(name, json)| {
            bytes += json.len();
            name
        })
        .collect();
    names.sort();
    names.dedup();
    assert_eq!(names.len(), MODELS);
    assert!((5_000_000..10_000_000).contains(&bytes), "{bytes} bytes");
}

/// Asserts that a rate of the sample is close to that of the real corpus.
fn near(what: &str, part: usize, whole: usize, real: f64) {
    let rate = part as f64 / whole as f64;
    assert!((rate - real).abs() <= 0.15 * real + 0.01, "{what}: {rate:.3}, in real models {real}");
}

#[test]
fn fill_rates_match_real_models() {
    let (mut shapes, mut with_traits, mut documented) = (0, 0, 0);
    let (mut structures, mut operations, mut strings, mut lists, mut services) = (0, 0, 0, 0, 0);
    let (mut members, mut structure_members, mut member_traits, mut member_text) = (0, 0, 0, 0);
    let (mut actions, mut text, mut distinct) = (0, 0, std::collections::HashMap::new());
    for model in parsed() {
        for shape in model["shapes"].as_object().unwrap().values() {
            shapes += 1;
            let traits = shape.get("traits").and_then(Value::as_object);
            with_traits += usize::from(traits.is_some());
            actions += usize::from(traits.is_some_and(|traits| traits.contains_key("aws.iam#iamAction")));
            let document = |traits: Option<&Value>| {
                traits.and_then(|t| t.get("smithy.api#documentation")).and_then(Value::as_str).map(str::to_owned)
            };
            documented += usize::from(document(shape.get("traits")).is_some());
            let kind = shape["type"].as_str().unwrap();
            match kind {
                "structure" => structures += 1,
                "operation" => operations += 1,
                "string" => strings += 1,
                "list" => lists += 1,
                "service" => services += 1,
                _ => (),
            }
            for member in shape.get("members").and_then(Value::as_object).into_iter().flat_map(|m| m.values()) {
                members += 1;
                structure_members += usize::from(kind == "structure");
                member_traits += usize::from(member.get("traits").is_some());
                if let Some(document) = document(member.get("traits")) {
                    member_text += document.len();
                    text += 1;
                    *distinct.entry(document).or_insert(0) += 1;
                }
            }
        }
    }
    assert_eq!(services, MODELS);
    near("shapes with traits", with_traits, shapes, 0.81);
    near("shapes with documentation", documented, shapes, 0.433);
    near("structures", structures, shapes, 0.496);
    near("operations", operations, shapes, 0.143);
    near("strings", strings, shapes, 0.127);
    near("lists", lists, shapes, 0.102);
    near("members of a structure", structure_members, structures, 3.24);
    near("members with traits", member_traits, members, 0.97);
    near("members with documentation", text, members, 0.79);
    near("bytes of a member's documentation", member_text, text, 161.5);
    near("operations with an iamAction", actions, operations, 0.033);
    near("distinct documentation", distinct.len(), text, 0.74);
}
