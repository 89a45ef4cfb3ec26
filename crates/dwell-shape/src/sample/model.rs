//! One service: its names, its texts, and its document.

use super::draw::{OPERATIONS, OTHER_MEMBERS, Quantiles, capital, chance, pick};
use super::node::{Map, Node};
use super::words::{ACTIONS, COMMON_MEMBERS, FILLER, NOUNS, PARTS, QUALIFIERS};
use fastrand::Rng;
use std::collections::HashSet;

/// One service: its names, and its shapes so far.
pub(super) struct Model {
    pub(super) rng: Rng,
    pub(super) namespace: String,
    pub(super) service: String,
    pub(super) version: String,
    pub(super) shapes: Vec<(String, Node)>,
    pub(super) names: HashSet<String>,
    /// The names of string shapes. Members refer to these and to the shapes of the lists below.
    pub(super) strings: Vec<String>,
    pub(super) lists: Vec<String>,
    pub(super) structures: Vec<String>,
    pub(super) enums: Vec<String>,
    pub(super) others: Vec<String>,
    pub(super) errors: Vec<String>,
    /// Short texts used so far; documentation repeats some of them.
    pub(super) said: Vec<String>,
    /// Whether all members have a different name on the wire, as in a few real services.
    pub(super) json_names: bool,
    pub(super) http: bool,
}

impl Model {
    pub(super) fn new(seed: u64, index: usize) -> Self {
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

    pub(super) fn document(&mut self) -> Node {
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
    pub(super) fn repeat(&mut self, count: usize, rate: f64, mut make: impl FnMut(&mut Self)) {
        let exact = count as f64 * rate;
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a small count")]
        let times = exact as usize + usize::from(chance(&mut self.rng, exact.fract()));
        (0..times).for_each(|_| make(self));
    }

    pub(super) fn add(&mut self, name: &str, shape: Map) {
        self.shapes.push((self.absolute(name), shape.into()));
    }

    pub(super) fn absolute(&self, name: &str) -> String {
        format!("com.example.{}#{name}", self.namespace)
    }

    /// Returns a new shape name of one to three words and `suffix`.
    pub(super) fn name(&mut self, suffix: &str) -> String {
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

    pub(super) fn member_name(&mut self) -> String {
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
    pub(super) fn text(&mut self, length: usize) -> Node {
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

    pub(super) fn sentence(&mut self, text: &mut String, length: usize) {
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

    pub(super) fn document_shape(&mut self, traits: &mut Map, rate: f64, length: &Quantiles) {
        if chance(&mut self.rng, rate) {
            let length = length.draw(&mut self.rng);
            let text = self.text(length);
            traits.add("smithy.api#documentation", text);
        }
    }
}
