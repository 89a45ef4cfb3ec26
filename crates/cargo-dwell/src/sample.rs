//! A corpus of service models in the format of Smithy's JSON AST, generated from a seed.
//!
//! The corpus replaces real data in tests and demonstrations. Its structure, fill rates and lengths match a published
//! corpus of 301 service models (86,504 shapes); its texts are generated. A seed gives the same bytes on every machine,
//! since the generator uses integers and exact float arithmetic only.

use fastrand::Rng;
use serde::ser::{Serialize, SerializeMap, Serializer};
use std::collections::HashSet;

/// Returns the documents of `models` services: the file name and pretty-printed JSON, about 200 KB each.
///
/// Document `i` depends on `seed` and `i` only. One in fifty is five times as large.
///
/// ```
/// let (name, json) = cargo_dwell::sample::documents(1, 40).next().unwrap();
/// assert!(name.ends_with(".json"));
/// assert!(json.starts_with(b"{\n  \"smithy\": \"2.0\""));
/// ```
#[expect(clippy::missing_panics_doc, reason = "serialising the generated models cannot fail")]
pub fn documents(seed: u64, models: usize) -> impl Iterator<Item = (String, Vec<u8>)> {
    (0..models).map(move |index| {
        let mut model = Model::new(seed, index);
        let name = format!("{}-{}-{}.json", model.namespace, index, model.version);
        let mut json = serde_json::to_vec_pretty(&model.document()).expect("a node holds nothing that JSON cannot");
        json.push(b'\n');
        (name, json)
    })
}

/// A JSON value whose objects keep the order in which they were filled.
#[derive(Clone)]
enum Node {
    Bool(bool),
    Number(i64),
    Text(String),
    List(Vec<Node>),
    Map(Vec<(String, Node)>),
}

impl Serialize for Node {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Bool(value) => serializer.serialize_bool(*value),
            Self::Number(value) => serializer.serialize_i64(*value),
            Self::Text(value) => serializer.serialize_str(value),
            Self::List(values) => serializer.collect_seq(values),
            Self::Map(entries) => {
                let mut map = serializer.serialize_map(Some(entries.len()))?;
                entries.iter().try_for_each(|(key, value)| map.serialize_entry(key, value))?;
                map.end()
            }
        }
    }
}

impl From<&str> for Node {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<String> for Node {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl From<bool> for Node {
    fn from(value: bool) -> Self {
        Self::Bool(value)
    }
}

impl From<i64> for Node {
    fn from(value: i64) -> Self {
        Self::Number(value)
    }
}

impl From<Map> for Node {
    fn from(map: Map) -> Self {
        Self::Map(map.0)
    }
}

impl<T: Into<Node>> From<Vec<T>> for Node {
    fn from(values: Vec<T>) -> Self {
        Self::List(values.into_iter().map(Into::into).collect())
    }
}

/// An object under construction.
#[derive(Default)]
struct Map(Vec<(String, Node)>);

impl Map {
    fn with(mut self, key: impl Into<String>, value: impl Into<Node>) -> Self {
        self.add(key, value);
        self
    }

    fn add(&mut self, key: impl Into<String>, value: impl Into<Node>) {
        self.0.push((key.into(), value.into()));
    }

    /// Adds an entry with probability `rate`.
    fn maybe<T: Into<Node>>(&mut self, rng: &mut Rng, rate: f64, key: &str, value: impl FnOnce(&mut Rng) -> T) {
        if chance(rng, rate) {
            let value = value(rng);
            self.add(key, value);
        }
    }

    /// Adds `traits`, unless it is empty.
    fn traits(self, traits: Map) -> Self {
        if traits.0.is_empty() { self } else { self.with("traits", traits) }
    }
}

fn chance(rng: &mut Rng, rate: f64) -> bool {
    rng.f64() < rate
}

/// Values at the quantiles [`Quantiles::AT`] of a real distribution.
struct Quantiles([f64; 9]);

impl Quantiles {
    const AT: [f64; 9] = [0.0, 0.1, 0.25, 0.5, 0.75, 0.9, 0.97, 0.99, 1.0];

    /// Draws from the distribution, which is linear between the quantiles.
    fn draw(&self, rng: &mut Rng) -> usize {
        let p = rng.f64();
        let upper = Self::AT.iter().position(|&at| p < at).expect("a draw is below 1");
        let (low, high) = (Self::AT[upper - 1], Self::AT[upper]);
        let value = self.0[upper - 1] + (self.0[upper] - self.0[upper - 1]) * (p - low) / (high - low);
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "small and positive")]
        let rounded = (value + 0.5) as usize;
        rounded
    }
}

// Measured on the corpus named above. The number of operations is halved, and the maxima, which are single outliers,
// are reduced to fit a small corpus.
const OPERATIONS: Quantiles = Quantiles([4.0, 7.0, 10.0, 15.0, 28.0, 44.0, 62.0, 90.0, 110.0]);
const INPUT_MEMBERS: Quantiles = Quantiles([0.0, 1.0, 2.0, 3.0, 4.0, 7.0, 11.0, 16.0, 41.0]);
const OUTPUT_MEMBERS: Quantiles = Quantiles([0.0, 0.0, 1.0, 2.0, 2.0, 6.0, 12.0, 17.0, 25.0]);
const OTHER_MEMBERS: Quantiles = Quantiles([0.0, 1.0, 2.0, 3.0, 5.0, 9.0, 14.0, 21.0, 43.0]);
const ERROR_MEMBERS: Quantiles = Quantiles([0.0, 1.0, 1.0, 1.0, 1.0, 2.0, 3.0, 5.0, 9.0]);
const ENUM_MEMBERS: Quantiles = Quantiles([1.0, 2.0, 2.0, 3.0, 4.0, 7.0, 15.0, 31.0, 120.0]);
const UNION_MEMBERS: Quantiles = Quantiles([1.0, 1.0, 1.0, 2.0, 3.0, 5.0, 9.0, 14.0, 27.0]);
const ERRORS: Quantiles = Quantiles([0.0, 2.0, 3.0, 5.0, 6.0, 7.0, 9.0, 14.0, 20.0]);
const MEMBER_TEXT: Quantiles = Quantiles([10.0, 36.0, 50.0, 74.0, 148.0, 339.0, 738.0, 1320.0, 4374.0]);
const SHAPE_TEXT: Quantiles = Quantiles([10.0, 36.0, 52.0, 73.0, 127.0, 286.0, 661.0, 1176.0, 3010.0]);
const OPERATION_TEXT: Quantiles = Quantiles([15.0, 42.0, 61.0, 147.0, 437.0, 1016.0, 2180.0, 3433.0, 10_855.0]);
const SERVICE_TEXT: Quantiles = Quantiles([20.0, 91.0, 337.0, 790.0, 1542.0, 3369.0, 6323.0, 9000.0, 15_819.0]);
const PATTERN_TEXT: Quantiles = Quantiles([2.0, 5.0, 12.0, 21.0, 45.0, 78.0, 120.0, 179.0, 400.0]);

#[rustfmt::skip]
const NOUNS: &[&str] = &[
    "account", "alarm", "anchor", "archive", "attachment", "badge", "balance", "barrel", "beacon", "bridge",
    "broker", "bucket", "budget", "cabinet", "cable", "calendar", "canal", "cargo", "catalog", "channel",
    "charter", "cohort", "column", "compass", "contract", "corridor", "courier", "crane", "depot", "device",
    "digest", "dock", "document", "engine", "entry", "envelope", "ferry", "filter", "fleet", "folder",
    "freight", "gallery", "garden", "gate", "grid", "group", "harbour", "index", "invoice", "journal", "kiln",
    "label", "lantern", "ledger", "lever", "library", "list", "locker", "lot", "manifest", "map", "market",
    "meter", "mill", "mirror", "notice", "orchard", "order", "pallet", "parcel", "permit", "pier", "pipeline",
    "policy", "pool", "profile", "quarry", "queue", "rack", "record", "region", "report", "route", "rule",
    "sample", "schedule", "sensor", "shelf", "signal", "silo", "snapshot", "stack", "station", "stream",
    "switch", "table", "tag", "task", "template", "terminal", "ticket", "token", "tool", "tower", "track",
    "trail", "tunnel", "valve", "vault", "vessel", "warehouse", "window", "workshop", "yard", "zone",
];
#[rustfmt::skip]
const QUALIFIERS: &[&str] = &[
    "active", "annual", "base", "central", "common", "current", "daily", "default", "direct", "distant",
    "early", "empty", "final", "first", "fixed", "full", "general", "hidden", "idle", "inner", "joint", "large",
    "last", "late", "local", "lower", "main", "maximum", "minimum", "mixed", "narrow", "native", "nested",
    "next", "open", "outer", "partial", "pending", "plain", "primary", "private", "public", "quick", "quiet",
    "rapid", "regular", "remote", "reserved", "second", "shared", "short", "single", "slow", "source", "spare",
    "stable", "target", "total", "upper", "valid", "weekly", "wide", "wooden",
];
#[rustfmt::skip]
const PARTS: &[&str] = &[
    "id", "name", "status", "type", "state", "count", "size", "owner", "time", "date", "code", "key", "value",
    "limit", "version", "location", "role", "mode", "format", "level", "reason", "message", "description",
    "path", "address", "token", "number", "range", "unit", "group", "settings", "options", "summary", "details",
    "configuration", "list",
];
const COMMON_MEMBERS: &[&str] = &[
    "nextToken",
    "maxResults",
    "name",
    "id",
    "arn",
    "tags",
    "description",
    "status",
    "createdAt",
    "updatedAt",
    "type",
];
#[rustfmt::skip]
const VERBS: &[&str] = &[
    "Create", "Delete", "Describe", "Get", "List", "Update", "Put", "Start", "Stop", "Tag", "Untag", "Search",
    "Batch", "Import", "Export", "Attach", "Detach", "Enable", "Disable", "Validate",
];
#[rustfmt::skip]
const FILLER: &[&str] = &[
    "a", "the", "of", "and", "to", "in", "for", "that", "is", "with", "when", "you", "can", "this", "from",
    "each", "one", "after", "before", "only", "which", "not", "must", "be", "are", "has", "its", "by", "or",
    "if", "until", "while", "then", "every", "between", "up", "at", "on", "an", "it",
];
#[rustfmt::skip]
const ACTIONS: &[&str] = &[
    "add", "arrange", "carry", "change", "check", "choose", "close", "collect", "compare", "copy", "count",
    "deliver", "describe", "divide", "empty", "fill", "find", "follow", "hold", "join", "keep", "leave", "lift",
    "load", "mark", "measure", "merge", "move", "name", "number", "open", "pack", "place", "print", "read",
    "release", "remove", "repair", "replace", "return", "send", "set", "sort", "split", "start", "stop",
    "store", "swap", "take", "use", "wait", "write",
];

/// One service: its names, and its shapes so far.
struct Model {
    rng: Rng,
    namespace: String,
    service: String,
    version: String,
    shapes: Vec<(String, Node)>,
    names: HashSet<String>,
    /// The names of string shapes. Members refer to these and to the shapes of the lists below.
    strings: Vec<String>,
    lists: Vec<String>,
    structures: Vec<String>,
    enums: Vec<String>,
    others: Vec<String>,
    errors: Vec<String>,
    /// Short texts used so far; documentation repeats some of them.
    said: Vec<String>,
    /// Whether all members have a different name on the wire, as in a few real services.
    json_names: bool,
    http: bool,
}

impl Model {
    fn new(seed: u64, index: usize) -> Self {
        // Without the multiplication, neighbouring seeds would have models in common.
        let mut rng = Rng::with_seed(seed ^ (index as u64 + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15));
        let (first, second) = (pick(&mut rng, QUALIFIERS), pick(&mut rng, NOUNS));
        Self {
            namespace: format!("{first}{second}"),
            service: format!("{}{}", capital(first), capital(second)),
            version: format!("20{}-{:02}-{:02}", rng.u32(10..26), rng.u32(1..13), rng.u32(1..29)),
            shapes: Vec::new(),
            names: HashSet::new(),
            strings: Vec::new(),
            lists: Vec::new(),
            structures: Vec::new(),
            enums: Vec::new(),
            others: Vec::new(),
            errors: Vec::new(),
            said: Vec::new(),
            json_names: chance(&mut rng, 0.1),
            http: chance(&mut rng, 0.58),
            rng,
        }
    }

    fn document(&mut self) -> Node {
        let mut count = OPERATIONS.draw(&mut self.rng);
        if chance(&mut self.rng, 0.02) {
            count *= 5;
        }
        // Shapes for each operation, as measured on the real models.
        self.repeat(count, 0.887, Self::string);
        self.repeat(count, 0.471, Self::enumeration);
        self.repeat(count, 0.161, |model| model.number("integer", 0.78, 0.15));
        self.repeat(count, 0.030, |model| model.number("long", 0.41, 0.34));
        self.repeat(count, 0.017, |model| model.number("double", 0.32, 0.33));
        self.repeat(count, 0.005, |model| model.number("float", 0.58, 0.11));
        self.repeat(count, 0.046, Self::boolean);
        self.repeat(count, 0.035, Self::timestamp);
        self.repeat(count, 0.010, Self::blob);
        self.repeat(count, 0.002, |model| model.simple("document", "Document", Map::default()));
        self.repeat(count, 0.355, Self::list);
        self.repeat(count, 0.062, Self::map);
        self.repeat(count, 1.3, |model| {
            let name = model.name("");
            let mut traits = Map::default();
            traits.maybe(&mut model.rng, 0.003, "smithy.api#sensitive", |_| Map::default());
            model.structure(&name, &OTHER_MEMBERS, 0.97, 0.23, traits);
            model.structures.push(name);
        });
        self.repeat(count, 0.355, Self::list);
        self.repeat(count, 0.032, Self::union);
        self.repeat(count, 0.34, Self::error);

        let operations: Vec<String> = (0..count).map(|_| self.operation()).collect();
        let mut resources = Vec::new();
        self.repeat(count, 0.029, |model| resources.push(model.resource(&operations)));
        self.service(&operations, &resources);

        self.rng.shuffle(&mut self.shapes);
        let mut document = Map::default().with("smithy", "2.0");
        document.maybe(&mut self.rng, 0.65, "metadata", |rng| {
            let suppressions = (0..rng.usize(1..8)).map(|_| {
                let id = format!("{}{}", capital(pick(rng, ACTIONS)), capital(pick(rng, NOUNS)));
                Map::default().with("id", id).with("namespace", "*")
            });
            Map::default().with("suppressions", suppressions.collect::<Vec<_>>())
        });
        document.with("shapes", Node::Map(std::mem::take(&mut self.shapes))).into()
    }

    /// Calls `make` `count * rate` times, rounded up or down at random.
    fn repeat(&mut self, count: usize, rate: f64, mut make: impl FnMut(&mut Self)) {
        let exact = count as f64 * rate;
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a small count")]
        let times = exact as usize + usize::from(chance(&mut self.rng, exact.fract()));
        (0..times).for_each(|_| make(self));
    }

    fn add(&mut self, name: &str, shape: Map) {
        self.shapes.push((self.absolute(name), shape.into()));
    }

    fn absolute(&self, name: &str) -> String {
        format!("com.example.{}#{name}", self.namespace)
    }

    /// Returns a new shape name of one to three words and `suffix`.
    fn name(&mut self, suffix: &str) -> String {
        loop {
            let mut name = String::new();
            if chance(&mut self.rng, 0.6) {
                name += &capital(pick(&mut self.rng, QUALIFIERS));
            }
            name += &capital(pick(&mut self.rng, NOUNS));
            if chance(&mut self.rng, 0.7) {
                name += &capital(pick(&mut self.rng, PARTS));
            }
            name += suffix;
            if self.names.insert(name.clone()) {
                return name;
            }
        }
    }

    fn member_name(&mut self) -> String {
        match self.rng.u32(0..20) {
            0..6 => pick(&mut self.rng, COMMON_MEMBERS).to_owned(),
            6..14 => pick(&mut self.rng, NOUNS).to_owned() + &capital(pick(&mut self.rng, PARTS)),
            14..17 => pick(&mut self.rng, PARTS).to_owned(),
            _ => {
                let start = pick(&mut self.rng, QUALIFIERS).to_owned();
                start + &capital(pick(&mut self.rng, NOUNS)) + &capital(pick(&mut self.rng, PARTS))
            }
        }
    }

    /// Returns a text of about `length` bytes, sometimes a copy of an earlier one.
    fn text(&mut self, length: usize) -> Node {
        // Short texts repeat: 26 % of all documentation texts are copies, with 19 % of the bytes.
        if length < 150 && chance(&mut self.rng, 0.33) && !self.said.is_empty() {
            return self.said[self.rng.usize(..self.said.len())].clone().into();
        }
        let mut text = String::with_capacity(length + 32);
        text += "<p>";
        while text.len() + 5 < length {
            self.sentence(&mut text, length);
            if text.len() + 5 < length {
                text += if chance(&mut self.rng, 0.25) { "</p>\n         <p>" } else { " " };
            }
        }
        text += "</p>";
        if length < 150 {
            self.said.push(text.clone());
        }
        text.into()
    }

    fn sentence(&mut self, text: &mut String, length: usize) {
        let words = self.rng.usize(6..20);
        *text += &capital(pick(&mut self.rng, FILLER));
        for _ in 0..words {
            if text.len() + 12 > length {
                break;
            }
            text.push(' ');
            match self.rng.u32(0..10) {
                0..4 => *text += pick(&mut self.rng, FILLER),
                4..7 => *text += pick(&mut self.rng, NOUNS),
                7 => *text += pick(&mut self.rng, ACTIONS),
                8 => *text += pick(&mut self.rng, QUALIFIERS),
                _ => {
                    *text += "<code>";
                    *text += pick(&mut self.rng, NOUNS);
                    *text += "</code>";
                }
            }
        }
        text.push('.');
    }

    fn document_shape(&mut self, traits: &mut Map, rate: f64, length: &Quantiles) {
        if chance(&mut self.rng, rate) {
            let length = length.draw(&mut self.rng);
            let text = self.text(length);
            traits.add("smithy.api#documentation", text);
        }
    }

    fn simple(&mut self, kind: &str, suffix: &str, traits: Map) {
        let name = self.name(suffix);
        self.add(&name, Map::default().with("type", kind).traits(traits));
        if kind == "string" {
            self.strings.push(name);
        } else {
            self.others.push(name);
        }
    }

    fn string(&mut self) {
        let mut traits = Map::default();
        self.document_shape(&mut traits, 0.033, &SHAPE_TEXT);
        traits.maybe(&mut self.rng, 0.06, "smithy.api#enum", |rng| {
            let values = (0..rng.usize(1..8)).map(|_| {
                let name = pick(rng, NOUNS);
                Map::default().with("value", name).with("name", name.to_uppercase())
            });
            values.collect::<Vec<_>>()
        });
        traits.maybe(&mut self.rng, 0.65, "smithy.api#length", |rng| range(rng, 2048));
        traits.maybe(&mut self.rng, 0.5, "smithy.api#pattern", pattern);
        traits.maybe(&mut self.rng, 0.053, "smithy.api#sensitive", |_| Map::default());
        self.simple("string", "", traits);
    }

    fn number(&mut self, kind: &str, ranged: f64, defaulted: f64) {
        let mut traits = Map::default();
        traits.maybe(&mut self.rng, defaulted, "smithy.api#default", |_| 0);
        self.document_shape(&mut traits, 0.05, &SHAPE_TEXT);
        traits.maybe(&mut self.rng, ranged, "smithy.api#range", |rng| range(rng, 1_000_000));
        self.simple(kind, "Number", traits);
    }

    fn boolean(&mut self) {
        let mut traits = Map::default();
        traits.maybe(&mut self.rng, 0.42, "smithy.api#default", |_| false);
        self.simple("boolean", "Flag", traits);
    }

    fn timestamp(&mut self) {
        let mut traits = Map::default();
        self.document_shape(&mut traits, 0.037, &SHAPE_TEXT);
        traits.maybe(&mut self.rng, 0.17, "smithy.api#timestampFormat", |rng| {
            pick(rng, &["date-time", "epoch-seconds", "http-date"])
        });
        self.simple("timestamp", "Time", traits);
    }

    fn blob(&mut self) {
        let mut traits = Map::default();
        traits.maybe(&mut self.rng, 0.44, "smithy.api#length", |rng| range(rng, 1 << 20));
        traits.maybe(&mut self.rng, 0.2, "smithy.api#sensitive", |_| Map::default());
        traits.maybe(&mut self.rng, 0.16, "smithy.api#streaming", |_| Map::default());
        self.simple("blob", "Data", traits);
    }

    fn list(&mut self) {
        let mut traits = Map::default();
        self.document_shape(&mut traits, 0.031, &SHAPE_TEXT);
        traits.maybe(&mut self.rng, 0.29, "smithy.api#length", |rng| range(rng, 100));
        traits.maybe(&mut self.rng, 0.01, "smithy.api#uniqueItems", |_| Map::default());
        let name = self.name("List");
        let member = self.target();
        self.add(&name, Map::default().with("type", "list").with("member", member).traits(traits));
        self.lists.push(name);
    }

    fn map(&mut self) {
        let mut traits = Map::default();
        self.document_shape(&mut traits, 0.063, &SHAPE_TEXT);
        traits.maybe(&mut self.rng, 0.26, "smithy.api#length", |rng| range(rng, 200));
        traits.maybe(&mut self.rng, 0.06, "smithy.api#sensitive", |_| Map::default());
        let name = self.name("Map");
        let (key, value) = (self.string_target(), self.target());
        let shape = Map::default().with("type", "map").with("key", key).with("value", value);
        self.add(&name, shape.traits(traits));
        self.others.push(name);
    }

    fn enumeration(&mut self) {
        let mut members = Map::default();
        let mut seen = HashSet::new();
        for _ in 0..ENUM_MEMBERS.draw(&mut self.rng) {
            let mut value = pick(&mut self.rng, ACTIONS).to_uppercase();
            if chance(&mut self.rng, 0.6) {
                value += "_";
                value += &pick(&mut self.rng, NOUNS).to_uppercase();
            }
            if seen.insert(value.clone()) {
                let traits = Map::default().with("smithy.api#enumValue", value.as_str());
                let unit = Map::default().with("target", "smithy.api#Unit").with("traits", traits);
                members.add(value, unit);
            }
        }
        let mut traits = Map::default();
        self.document_shape(&mut traits, 0.165, &SHAPE_TEXT);
        let name = self.name("");
        self.add(&name, Map::default().with("type", "enum").with("members", members).traits(traits));
        self.enums.push(name);
    }

    fn union(&mut self) {
        let mut traits = Map::default();
        self.document_shape(&mut traits, 1.0, &SHAPE_TEXT);
        traits.maybe(&mut self.rng, 0.04, "smithy.api#streaming", |_| Map::default());
        let members = self.members(&UNION_MEMBERS, 0.98, 0.0, &mut Vec::new());
        let name = self.name("Choice");
        self.add(&name, Map::default().with("type", "union").with("members", members).traits(traits));
        self.structures.push(name);
    }

    fn error(&mut self) {
        let status = [400, 403, 404, 409, 429, 500][self.rng.usize(..6)];
        let mut traits = Map::default();
        if chance(&mut self.rng, 0.25) {
            let query = Map::default().with("code", pick(&mut self.rng, NOUNS)).with("httpResponseCode", status);
            traits.add("aws.protocols#awsQueryError", query);
        }
        traits.add("smithy.api#error", if status < 500 { "client" } else { "server" });
        traits.maybe(&mut self.rng, 0.7, "smithy.api#httpError", |_| status);
        traits.maybe(&mut self.rng, 0.027, "smithy.api#retryable", |_| Map::default());
        let name = self.name("Exception");
        self.structure(&name, &ERROR_MEMBERS, 0.38, 0.17, traits);
        self.errors.push(name);
    }

    fn structure(&mut self, name: &str, members: &Quantiles, documented: f64, required: f64, mut traits: Map) {
        // Most inputs and outputs have no documentation of their own: the operation has it.
        let rate = if traits.0.iter().any(|(name, _)| name.ends_with("put")) { 0.12 } else { 0.9 };
        self.document_shape(&mut traits, rate, &SHAPE_TEXT);
        let members = self.members(members, documented, required, &mut Vec::new());
        self.add(name, Map::default().with("type", "structure").with("members", members).traits(traits));
    }

    /// Returns members with their traits. The names of members with an `httpLabel` are added to `labels`.
    fn members(&mut self, count: &Quantiles, documented: f64, required: f64, labels: &mut Vec<String>) -> Map {
        let mut members = Map::default();
        let mut seen = HashSet::new();
        for _ in 0..count.draw(&mut self.rng) {
            let name = self.member_name();
            if !seen.insert(name.clone()) {
                continue;
            }
            let mut traits = Map::default();
            let is_required = chance(&mut self.rng, required);
            traits.maybe(&mut self.rng, 0.025, "smithy.api#default", |_| 0);
            traits.maybe(&mut self.rng, 0.034, "smithy.api#clientOptional", |_| Map::default());
            traits.maybe(&mut self.rng, 0.002, "smithy.api#deprecated", |rng| {
                Map::default().with("message", format!("Use {} instead.", pick(rng, PARTS)))
            });
            self.document_shape(&mut traits, documented, &MEMBER_TEXT);
            if self.http && is_required && chance(&mut self.rng, 0.25) {
                traits.add("smithy.api#httpLabel", Map::default());
                labels.push(name.clone());
            } else if self.http {
                traits.maybe(&mut self.rng, 0.05, "smithy.api#httpQuery", |_| name.as_str());
                traits.maybe(&mut self.rng, 0.018, "smithy.api#httpHeader", |_| format!("x-{name}"));
            }
            traits.maybe(&mut self.rng, 0.005, "smithy.api#idempotencyToken", |_| Map::default());
            if self.json_names {
                traits.maybe(&mut self.rng, 0.6, "smithy.api#jsonName", |_| name.as_str());
            }
            if is_required {
                traits.add("smithy.api#required", Map::default());
            }
            traits.maybe(&mut self.rng, 0.005, "smithy.api#xmlName", |_| name.as_str());
            let mut member = self.target();
            if !traits.0.is_empty() {
                member.add("traits", traits);
            }
            members.add(name, member);
        }
        members
    }

    /// Returns a reference to a type, with the frequencies of real members.
    fn target(&mut self) -> Map {
        let pool = match self.rng.u32(0..1000) {
            0..490 => &self.strings,
            490..610 => &self.structures,
            610..720 => &self.lists,
            720..800 => &self.enums,
            800..955 => &self.others,
            _ => return prelude(&mut self.rng),
        };
        // A few shapes get most references: the smaller of two random numbers prefers the front.
        let Some(last) = pool.len().checked_sub(1) else { return prelude(&mut self.rng) };
        let index = self.rng.usize(..=last).min(self.rng.usize(..=last));
        reference(&self.absolute(&pool[index]))
    }

    fn string_target(&mut self) -> Map {
        if self.strings.is_empty() {
            return prelude(&mut self.rng);
        }
        let index = self.rng.usize(..self.strings.len());
        reference(&self.absolute(&self.strings[index]))
    }

    fn operation(&mut self) -> String {
        let verb = pick(&mut self.rng, VERBS);
        let (noun, name) = loop {
            let noun = self.name("");
            let name = format!("{verb}{noun}");
            // A shape may have this name already: `ListList` is also the name of a list.
            if self.names.insert(name.clone()) {
                break (noun, name);
            }
        };
        let (input, output) = (format!("{name}Request"), format!("{name}Response"));

        let mut labels = Vec::new();
        let members = self.members(&INPUT_MEMBERS, 0.98, 0.44, &mut labels);
        let mut traits = Map::default();
        self.document_shape(&mut traits, 0.12, &SHAPE_TEXT);
        traits.maybe(&mut self.rng, 0.92, "smithy.api#input", |_| Map::default());
        self.add(&input, Map::default().with("type", "structure").with("members", members).traits(traits));
        let has_output = chance(&mut self.rng, 0.9);
        if has_output {
            let mut traits = Map::default();
            traits.maybe(&mut self.rng, 0.92, "smithy.api#output", |_| Map::default());
            self.structure(&output, &OUTPUT_MEMBERS, 0.96, 0.175, traits);
        }

        let mut traits = Map::default();
        traits.maybe(&mut self.rng, 0.033, "aws.iam#iamAction", |rng| iam_action(rng, &noun));
        traits.maybe(&mut self.rng, 0.016, "aws.iam#actionPermissionDescription", |rng| {
            format!("Grants permission to {} a {}", pick(rng, ACTIONS), pick(rng, NOUNS))
        });
        self.document_shape(&mut traits, 1.0, &OPERATION_TEXT);
        if chance(&mut self.rng, 0.107) {
            let examples: Vec<Map> = (0..self.rng.usize(1..3)).map(|_| self.example(&noun)).collect();
            traits.add("smithy.api#examples", examples);
        }
        if self.http {
            let uri = labels.iter().fold(format!("/{}", self.namespace), |uri, label| uri + "/{" + label + "}");
            let method = pick(&mut self.rng, &["GET", "POST", "PUT", "DELETE", "PATCH"]);
            let http = Map::default().with("method", method).with("uri", uri).with("code", 200);
            traits.add("smithy.api#http", http);
        }
        traits.maybe(&mut self.rng, 0.1, "smithy.api#idempotent", |_| Map::default());
        traits.maybe(&mut self.rng, 0.18, "smithy.api#paginated", |rng| {
            let tokens = Map::default().with("inputToken", "nextToken").with("outputToken", "nextToken");
            tokens.with("items", pick(rng, NOUNS)).with("pageSize", "maxResults")
        });
        traits.maybe(&mut self.rng, 0.1, "smithy.api#readonly", |_| Map::default());
        traits.maybe(&mut self.rng, 0.01, "smithy.api#tags", |rng| vec![pick(rng, PARTS)]);

        let output = if has_output { self.absolute(&output) } else { "smithy.api#Unit".to_owned() };
        let shape = Map::default().with("type", "operation").with("input", reference(&self.absolute(&input)));
        let mut shape = shape.with("output", reference(&output));
        let mut errors = self.errors.clone();
        self.rng.shuffle(&mut errors);
        errors.truncate(ERRORS.draw(&mut self.rng));
        if !errors.is_empty() {
            shape.add("errors", errors.iter().map(|name| reference(&self.absolute(name))).collect::<Vec<_>>());
        }
        self.add(&name, shape.traits(traits));
        name
    }

    /// Returns an example of a call, with free-form objects as input and output.
    fn example(&mut self, noun: &str) -> Map {
        let title = format!("To {} a {}", pick(&mut self.rng, ACTIONS), noun.to_lowercase());
        let text = self.text(90);
        let mut object = |depth| free_form(&mut self.rng, depth);
        let (input, output) = (object(1), object(2));
        Map::default().with("title", title).with("documentation", text).with("input", input).with("output", output)
    }

    fn resource(&mut self, operations: &[String]) -> String {
        let name = self.name("Resource");
        let mut shape = Map::default().with("type", "resource");
        if chance(&mut self.rng, 0.85) {
            let id = self.member_name();
            let target = self.string_target();
            shape.add("identifiers", Map::default().with(id, target));
        }
        for (part, rate) in [("create", 0.54), ("read", 0.68), ("update", 0.5), ("delete", 0.6), ("list", 0.7)] {
            let operation = &operations[self.rng.usize(..operations.len())];
            let operation = reference(&self.absolute(operation));
            shape.maybe(&mut self.rng, rate, part, |_| operation);
        }
        let mut traits = Map::default();
        let noun = pick(&mut self.rng, NOUNS);
        traits.maybe(&mut self.rng, 0.57, "aws.api#arn", |_| {
            Map::default().with("template", format!("{noun}/{{{noun}Id}}"))
        });
        traits.maybe(&mut self.rng, 0.27, "aws.cloudformation#cfnResource", |_| Map::default());
        self.document_shape(&mut traits, 0.13, &SHAPE_TEXT);
        self.add(&name, shape.traits(traits));
        name
    }

    fn service(&mut self, operations: &[String], resources: &[String]) {
        let id = self.service.clone();
        let host = self.namespace.clone();
        let mut service = Map::default().with("sdkId", id.as_str());
        service.maybe(&mut self.rng, 0.96, "arnNamespace", |_| host.as_str());
        service.maybe(&mut self.rng, 0.76, "cloudFormationName", |_| id.as_str());
        service.maybe(&mut self.rng, 0.87, "cloudTrailEventSource", |_| format!("{host}.example.com"));
        let version = self.version.clone();
        service.maybe(&mut self.rng, 0.16, "docId", |_| format!("{host}-{version}"));
        service.maybe(&mut self.rng, 0.82, "endpointPrefix", |_| host.as_str());

        let mut traits = Map::default().with("aws.api#service", service);
        traits.add("aws.auth#sigv4", Map::default().with("name", host.as_str()));
        let protocol = if self.http { "aws.protocols#restJson1" } else { "aws.protocols#awsJson1_1" };
        traits.add(protocol, Map::default());
        self.document_shape(&mut traits, 1.0, &SERVICE_TEXT);
        traits.add("smithy.api#title", format!("Example {id}"));
        traits.maybe(&mut self.rng, 0.24, "smithy.api#xmlNamespace", |_| {
            Map::default().with("uri", format!("http://{host}.example.com/doc/{version}/"))
        });
        let rules = (0..self.rng.usize(1..4)).map(|_| rule(&mut self.rng, 3)).collect::<Vec<_>>();
        let rule_set = Map::default().with("version", "1.0").with("parameters", parameters()).with("rules", rules);
        traits.add("smithy.rules#endpointRuleSet", rule_set);
        let tests = (0..self.rng.usize(4..20)).map(|_| endpoint_test(&mut self.rng, &host)).collect::<Vec<_>>();
        traits.add("smithy.rules#endpointTests", Map::default().with("testCases", tests).with("version", "1.0"));

        let list = |model: &Self, names: &[String]| {
            names.iter().map(|name| reference(&model.absolute(name))).collect::<Vec<_>>()
        };
        let mut shape = Map::default().with("type", "service").with("version", version);
        shape.add("operations", list(self, operations));
        if !resources.is_empty() {
            shape.add("resources", list(self, resources));
        }
        self.add(&id, shape.with("traits", traits));
    }
}

fn pick<'a>(rng: &mut Rng, words: &[&'a str]) -> &'a str {
    words[rng.usize(..words.len())]
}

fn capital(word: &str) -> String {
    word[..1].to_uppercase() + &word[1..]
}

fn reference(target: &str) -> Map {
    Map::default().with("target", target)
}

fn prelude(rng: &mut Rng) -> Map {
    reference(pick(rng, &["smithy.api#String", "smithy.api#Boolean", "smithy.api#Integer", "smithy.api#Timestamp"]))
}

fn range(rng: &mut Rng, most: i64) -> Map {
    let mut range = Map::default();
    range.maybe(rng, 0.85, "min", |rng| rng.i64(0..3));
    range.with("max", rng.i64(1..=most))
}

fn pattern(rng: &mut Rng) -> String {
    let length = PATTERN_TEXT.draw(rng);
    let mut pattern = String::from("^");
    while pattern.len() < length {
        pattern += pick(rng, &["[a-z]+", "[0-9]{12}", "[A-Za-z0-9_-]", "\\d", ":", "/", "(-", ".*", "\\w+=,.@"]);
    }
    pattern + "$"
}

fn iam_action(rng: &mut Rng, noun: &str) -> Map {
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

fn free_form(rng: &mut Rng, depth: usize) -> Map {
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

fn parameters() -> Map {
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
fn rule(rng: &mut Rng, depth: usize) -> Map {
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

fn endpoint_test(rng: &mut Rng, host: &str) -> Map {
    let region = pick(rng, &["north-1", "north-2", "south-1", "east-1", "west-1"]);
    let (fips, dual) = (rng.bool(), rng.bool());
    let url = format!("https://{host}{}.{region}.example.com", if fips { "-fips" } else { "" });
    let params = Map::default().with("Region", region).with("UseFIPS", fips).with("UseDualStack", dual);
    Map::default()
        .with("documentation", format!("For region {region} with FIPS {fips} and DualStack {dual}"))
        .with("expect", Map::default().with("endpoint", Map::default().with("url", url)))
        .with("params", params)
}

#[cfg(test)]
mod tests {
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
}
