//! The simple and aggregate shapes of a service.

use super::draw::{ENUM_MEMBERS, ERROR_MEMBERS, MEMBER_TEXT, Quantiles, SHAPE_TEXT, UNION_MEMBERS, chance, pick};
use super::model::Model;
use super::node::Map;
use super::traits::{pattern, prelude, range, reference};
use super::words::{ACTIONS, NOUNS, PARTS};
use std::collections::HashSet;

impl Model {
    pub(super) fn simple(&mut self, kind: &str, suffix: &str, traits: Map) {
        let name = self.name(suffix);
        self.add(&name, Map::default().with("type", kind).traits(traits));
        if kind == "string" {
            self.strings.push(name);
        } else {
            self.others.push(name);
        }
    }

    pub(super) fn string(&mut self) {
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

    pub(super) fn number(&mut self, kind: &str, ranged: f64, defaulted: f64) {
        let mut traits = Map::default();
        traits.maybe(&mut self.rng, defaulted, "smithy.api#default", |_| 0);
        self.document_shape(&mut traits, 0.05, &SHAPE_TEXT);
        traits.maybe(&mut self.rng, ranged, "smithy.api#range", |rng| range(rng, 1_000_000));
        self.simple(kind, "Number", traits);
    }

    pub(super) fn boolean(&mut self) {
        let mut traits = Map::default();
        traits.maybe(&mut self.rng, 0.42, "smithy.api#default", |_| false);
        self.simple("boolean", "Flag", traits);
    }

    pub(super) fn timestamp(&mut self) {
        let mut traits = Map::default();
        self.document_shape(&mut traits, 0.037, &SHAPE_TEXT);
        traits.maybe(&mut self.rng, 0.17, "smithy.api#timestampFormat", |rng| {
            pick(rng, &["date-time", "epoch-seconds", "http-date"])
        });
        self.simple("timestamp", "Time", traits);
    }

    pub(super) fn blob(&mut self) {
        let mut traits = Map::default();
        traits.maybe(&mut self.rng, 0.44, "smithy.api#length", |rng| range(rng, 1 << 20));
        traits.maybe(&mut self.rng, 0.2, "smithy.api#sensitive", |_| Map::default());
        traits.maybe(&mut self.rng, 0.16, "smithy.api#streaming", |_| Map::default());
        self.simple("blob", "Data", traits);
    }

    pub(super) fn list(&mut self) {
        let mut traits = Map::default();
        self.document_shape(&mut traits, 0.031, &SHAPE_TEXT);
        traits.maybe(&mut self.rng, 0.29, "smithy.api#length", |rng| range(rng, 100));
        traits.maybe(&mut self.rng, 0.01, "smithy.api#uniqueItems", |_| Map::default());
        let name = self.name("List");
        let member = self.target();
        self.add(&name, Map::default().with("type", "list").with("member", member).traits(traits));
        self.lists.push(name);
    }

    pub(super) fn map(&mut self) {
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

    pub(super) fn enumeration(&mut self) {
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

    pub(super) fn union(&mut self) {
        let mut traits = Map::default();
        self.document_shape(&mut traits, 1.0, &SHAPE_TEXT);
        traits.maybe(&mut self.rng, 0.04, "smithy.api#streaming", |_| Map::default());
        let members = self.members(&UNION_MEMBERS, 0.98, 0.0, &mut Vec::new());
        let name = self.name("Choice");
        self.add(&name, Map::default().with("type", "union").with("members", members).traits(traits));
        self.structures.push(name);
    }

    pub(super) fn error(&mut self) {
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

    pub(super) fn structure(
        &mut self,
        name: &str,
        members: &Quantiles,
        documented: f64,
        required: f64,
        mut traits: Map,
    ) {
        // Most inputs and outputs have no documentation of their own: the operation has it.
        let rate = if traits.0.iter().any(|(name, _)| name.ends_with("put")) { 0.12 } else { 0.9 };
        self.document_shape(&mut traits, rate, &SHAPE_TEXT);
        let members = self.members(members, documented, required, &mut Vec::new());
        self.add(name, Map::default().with("type", "structure").with("members", members).traits(traits));
    }

    /// Returns members with their traits. The names of members with an `httpLabel` are added to `labels`.
    pub(super) fn members(
        &mut self,
        count: &Quantiles,
        documented: f64,
        required: f64,
        labels: &mut Vec<String>,
    ) -> Map {
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
    pub(super) fn target(&mut self) -> Map {
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

    pub(super) fn string_target(&mut self) -> Map {
        if self.strings.is_empty() {
            return prelude(&mut self.rng);
        }
        let index = self.rng.usize(..self.strings.len());
        reference(&self.absolute(&self.strings[index]))
    }
}
