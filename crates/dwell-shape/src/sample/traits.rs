//! The values of traits.

use super::draw::{PATTERN_TEXT, capital, pick};
use super::node::{Map, Node};
use super::words::{ACTIONS, NOUNS, PARTS, VERBS};
use fastrand::Rng;

pub(super) fn reference(target: &str) -> Map {
    Map::default().with("target", target)
}

pub(super) fn prelude(rng: &mut Rng) -> Map {
    reference(pick(rng, &["smithy.api#String", "smithy.api#Boolean", "smithy.api#Integer", "smithy.api#Timestamp"]))
}

pub(super) fn range(rng: &mut Rng, most: i64) -> Map {
    let mut range = Map::default();
    range.maybe(rng, 0.85, "min", |rng| rng.i64(0..3));
    range.with("max", rng.i64(1..=most))
}

pub(super) fn pattern(rng: &mut Rng) -> String {
    let length = PATTERN_TEXT.draw(rng);
    let mut pattern = String::from("^");
    while pattern.len() < length {
        pattern += pick(rng, &["[a-z]+", "[0-9]{12}", "[A-Za-z0-9_-]", "\\d", ":", "/", "(-", ".*", "\\w+=,.@"]);
    }
    pattern + "$"
}

pub(super) fn iam_action(rng: &mut Rng, noun: &str) -> Map {
    let mut action = Map::default();
    action.maybe(rng, 0.41, "name", |_| noun);
    action.maybe(rng, 0.9, "documentation", |rng| {
        format!("Grants permission to {} a {}", pick(rng, ACTIONS), pick(rng, NOUNS))
    });
    action.maybe(rng, 0.36, "requiredActions", |rng| {
        (0..rng.usize(1..4)).map(|_| format!("{}:{}", pick(rng, NOUNS), pick(rng, VERBS))).collect::<Vec<_>>()
    });
    action.maybe(rng, 0.06, "resources", |rng| {
        Map::default().with("required", Map::default().with(pick(rng, NOUNS), Map::default()))
    });
    action.maybe(rng, 0.02, "createsResources", |rng| vec![pick(rng, NOUNS)]);
    action
}

pub(super) fn free_form(rng: &mut Rng, depth: usize) -> Map {
    let mut object = Map::default();
    for _ in 0..rng.usize(1..5) {
        let key = pick(rng, NOUNS).to_owned() + &capital(pick(rng, PARTS));
        let value = match rng.u32(0..8) {
            0 => Node::from(rng.bool()),
            1 => Node::from(rng.i64(0..1000)),
            2 | 3 if depth > 0 => free_form(rng, depth - 1).into(),
            4 if depth > 0 => (0..rng.usize(1..3)).map(|_| free_form(rng, depth - 1)).collect::<Vec<_>>().into(),
            _ => Node::from(format!("{}-{:08x}", pick(rng, NOUNS), rng.u32(..))),
        };
        if object.0.iter().all(|(name, _)| *name != key) {
            object.add(key, value);
        }
    }
    object
}

pub(super) fn parameters() -> Map {
    let parameter = |built_in: &str, kind: &str, required: bool| {
        let parameter = Map::default().with("builtIn", built_in).with("required", required);
        let parameter = if required { parameter.with("default", false) } else { parameter };
        parameter.with("documentation", "Where and how a request is sent.").with("type", kind)
    };
    Map::default()
        .with("Region", parameter("AWS::Region", "String", false))
        .with("UseDualStack", parameter("AWS::UseDualStack", "Boolean", true))
        .with("UseFIPS", parameter("AWS::UseFIPS", "Boolean", true))
        .with("Endpoint", parameter("SDK::Endpoint", "String", false))
}

/// Returns a tree of conditions, the recursive and mixed part of a real model.
pub(super) fn rule(rng: &mut Rng, depth: usize) -> Map {
    let conditions = (0..rng.usize(0..3)).map(|_| condition(rng)).collect::<Vec<_>>();
    let rule = Map::default().with("conditions", conditions);
    match rng.u32(0..6) {
        0 => rule.with("error", "This combination of options is not supported").with("type", "error"),
        1..5 if depth > 0 => {
            let rules = (0..rng.usize(1..4)).map(|_| self::rule(rng, depth - 1)).collect::<Vec<_>>();
            rule.with("rules", rules).with("type", "tree")
        }
        _ => {
            let url = if rng.bool() {
                Node::from(reference_to("Endpoint"))
            } else {
                Node::from(format!("https://{}.{{Region}}.example.com", pick(rng, NOUNS)))
            };
            let endpoint = Map::default().with("url", url).with("properties", Map::default());
            rule.with("endpoint", endpoint.with("headers", Map::default())).with("type", "endpoint")
        }
    }
}

fn condition(rng: &mut Rng) -> Map {
    match rng.u32(0..3) {
        0 => Map::default().with("fn", "isSet").with("argv", vec![reference_to("Endpoint")]),
        1 => {
            let flag = reference_to(pick(rng, &["UseFIPS", "UseDualStack"]));
            let argv = vec![Node::from(flag), Node::from(rng.bool())];
            Map::default().with("fn", "booleanEquals").with("argv", argv)
        }
        _ => {
            let partition = Map::default().with("fn", "aws.partition").with("argv", vec![reference_to("Region")]);
            partition.with("assign", "PartitionResult")
        }
    }
}

fn reference_to(parameter: &str) -> Map {
    Map::default().with("ref", parameter)
}

pub(super) fn endpoint_test(rng: &mut Rng, host: &str) -> Map {
    let region = pick(rng, &["north-1", "north-2", "south-1", "east-1", "west-1"]);
    let (fips, dual) = (rng.bool(), rng.bool());
    let url = format!("https://{host}{}.{region}.example.com", if fips { "-fips" } else { "" });
    let params = Map::default().with("Region", region).with("UseFIPS", fips).with("UseDualStack", dual);
    Map::default()
        .with("documentation", format!("For region {region} with FIPS {fips} and DualStack {dual}"))
        .with("expect", Map::default().with("endpoint", Map::default().with("url", url)))
        .with("params", params)
}
