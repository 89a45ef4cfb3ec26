//! Whether a text loads into types, and what of it they lose.
//!
//! Nothing is compiled: each text is compared with the schema by the rules that the generated types follow.

use super::formats::{self, Format};
use super::lean;
use super::schema::{Kind, MOST_IN_F64, Record, Schema, Slot, Tagging, UnionId};
use super::types::Int;
use dwell_output::units::{count, plural};
use serde_json::{Map, Value};
use std::collections::{BTreeMap, BTreeSet};

/// The effect on a text that does not load or is not written back equal, the worst first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Effect {
    /// The text does not load.
    Refused,
    /// The text is written back with a difference other than a lost key.
    Changed,
    /// The text is written back without some of its keys.
    Lost,
}

impl std::fmt::Display for Effect {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        f.write_str(match self {
            Self::Refused => "refused",
            Self::Changed => "changed",
            Self::Lost => "lost",
        })
    }
}

/// The result for the held-out texts.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Outcome {
    /// The number of texts tried.
    pub tried: u64,
    /// The number of texts that do not load.
    pub refused: u64,
    /// The number of texts that load and are written back with a difference other than a lost key.
    pub changed: u64,
    /// The number of texts that load without some of their keys.
    pub lost: u64,
    /// Counts by effect and reason: the first reason of each refused text, and each reason of another text once.
    pub reasons: BTreeMap<(Effect, String), u64>,
}

impl Outcome {
    /// Returns the reasons as lines: by effect, the worst first, then by frequency.
    pub fn lines(&self) -> Vec<String> {
        let mut reasons: Vec<_> = self.reasons.iter().collect();
        reasons.sort_by_key(|&((effect, reason), times)| (*effect, std::cmp::Reverse(*times), reason));
        let line = |((effect, reason), times): (&(Effect, String), &u64)| {
            format!("{} {effect}: {reason}", plural(*times, "time"))
        };
        reasons.into_iter().map(line).collect()
    }
}

/// The differences of one text.
#[derive(Default)]
struct Wrong {
    refused: Option<String>,
    changed: BTreeSet<String>,
    lost: BTreeSet<String>,
}

impl Outcome {
    /// Adds the counts of another round.
    pub fn merge(&mut self, other: Self) {
        self.tried += other.tried;
        self.refused += other.refused;
        self.changed += other.changed;
        self.lost += other.lost;
        for (reason, times) in other.reasons {
            *self.reasons.entry(reason).or_default() += times;
        }
    }

    /// Tests one text and counts the result.
    pub fn add(&mut self, schema: &Schema, unit_other: &BTreeSet<UnionId>, value: &Value) {
        let mut found = Wrong::default();
        Check { schema, unit_other, found: &mut found }.slot(&schema.root, value, "$", false);
        self.tried += 1;
        if let Some(reason) = found.refused {
            self.refused += 1;
            *self.reasons.entry((Effect::Refused, reason)).or_default() += 1;
            return;
        }
        self.changed += u64::from(!found.changed.is_empty());
        self.lost += u64::from(!found.lost.is_empty());
        let changed = found.changed.into_iter().map(|reason| (Effect::Changed, reason));
        for reason in changed.chain(found.lost.into_iter().map(|reason| (Effect::Lost, reason))) {
            *self.reasons.entry(reason).or_default() += 1;
        }
    }
}

struct Check<'a> {
    schema: &'a Schema,
    /// The unions whose variant for unknown tags holds no value.
    unit_other: &'a BTreeSet<UnionId>,
    found: &'a mut Wrong,
}

impl Check<'_> {
    fn refuse(&mut self, path: &str, why: &str) -> bool {
        self.found.refused.get_or_insert_with(|| format!("{path}: {why}"));
        false
    }

    /// Tries one of several ways to load a value; records its differences only if it succeeds.
    fn attempt(&mut self, load: impl FnOnce(&mut Check<'_>) -> bool) -> bool {
        let mut found = Wrong::default();
        let loads = load(&mut Check { schema: self.schema, unit_other: self.unit_other, found: &mut found });
        if loads {
            self.found.changed.append(&mut found.changed);
            self.found.lost.append(&mut found.lost);
        }
        loads
    }

    /// Returns whether a value loads at a position.
    fn slot(&mut self, slot: &Slot, value: &Value, path: &str, optional: bool) -> bool {
        let is_none = value.is_null() && (optional || slot.nulls > 0);
        if self.schema.is_open(slot) && !is_none {
            // A value of another type is held as a `Value`.
            self.attempt(|check| check.seen(slot, value, path, optional));
            return true;
        }
        self.seen(slot, value, path, optional)
    }

    /// Returns whether a value loads as the inferred type.
    fn seen(&mut self, slot: &Slot, value: &Value, path: &str, optional: bool) -> bool {
        match (&slot.kind, value) {
            (Kind::Any(_) | Kind::Never, _) | (Kind::Bool { .. }, Value::Bool(_)) => true,
            (Kind::Text(known), Value::String(text)) => match self.schema.format(known) {
                Some(format) if !formats::is(text, format) => self.text(format, text, path),
                _ => true,
            },
            (_, Value::Null) if slot.nulls > 0 => true,
            (_, Value::Null) if optional => {
                self.found.changed.insert(format!("{path}: `null` is written back as a missing key"));
                true
            }
            (Kind::Integer { min, max }, Value::Number(number)) => self.integer(*min, *max, number, path),
            (Kind::Float { whole, wide, .. }, Value::Number(number)) => {
                if !number.is_f64() && !Schema::needs_number(*whole, *wide) {
                    let magnitude = number.as_i64().map(i64::unsigned_abs).or(number.as_u64());
                    if magnitude.is_some_and(|magnitude| magnitude > MOST_IN_F64) {
                        self.found.changed.insert(format!("{path}: an `f64` keeps 15 to 17 digits of a whole number"));
                    }
                }
                true
            }
            (Kind::Keyword { id, .. }, Value::String(text)) => {
                let known = self.schema.keywords[*id].values.contains_key(text);
                known
                    || !self.schema.is_closed_enum(*id)
                    || self.refuse(path, "a string that is not in the enum; without --strict it loads")
            }
            (Kind::Record { id, .. }, Value::Object(object)) => {
                self.record(&self.schema.records[*id], object, path, None)
            }
            (Kind::Union { id }, value) if self.schema.unions[*id].form == Tagging::External => {
                self.external(*id, value, path)
            }
            (Kind::Union { id }, Value::Object(object)) => {
                let union = &self.schema.unions[*id];
                let tag = object.get(&union.tag).and_then(Value::as_str);
                let variant = union.tagged().iter().find(|(value, _)| union.is_of(value, object));
                let open = !self.schema.is_closed_union(*id) && !self.unit_other.contains(id);
                match variant {
                    Some(&(_, record)) if open => {
                        // The variant for other values holds a rejected object as a `Value`.
                        self.attempt(|check| {
                            check.record(&check.schema.records[record], object, path, Some(&union.tag))
                        });
                        true
                    }
                    Some(&(_, record)) => self.record(&self.schema.records[record], object, path, Some(&union.tag)),
                    None if open => {
                        if let Some(record) = union.without_tag() {
                            // The variant for other values holds a rejected object as a `Value`.
                            self.attempt(|check| check.record(&check.schema.records[record], object, path, None));
                        }
                        true
                    }
                    None if !self.schema.is_closed_union(*id) && tag.is_some() => {
                        let tag = &union.tag;
                        self.found.lost.insert(format!(
                            "{path}: the other keys of objects with an unknown value of the tag {tag:?}"
                        ));
                        true
                    }
                    None => match union.without_tag() {
                        Some(record) => self.record(&self.schema.records[record], object, path, None),
                        None => self.refuse(
                            path,
                            &format!("an unknown value of the tag {:?}; without --strict it loads", union.tag),
                        ),
                    },
                }
            }
            (Kind::Map(map), Value::Object(object)) => {
                object.values().all(|value| self.slot(&map.value, value, &format!("{path}.*"), false))
            }
            (Kind::Seq(seq), Value::Array(array)) => {
                if lean::array(seq).is_some_and(|length| array.len() as u64 != length) {
                    return self.refuse(path, "an array of another length; `Box<[T]>` accepts it");
                }
                array.iter().all(|value| self.slot(&seq.element, value, &format!("{path}[]"), false))
            }
            (Kind::Tuple { positions }, Value::Array(array)) => {
                if positions.len() != array.len() {
                    return self.refuse(path, "an array of another length; `Box<[T]>` accepts it");
                }
                positions
                    .iter()
                    .zip(array)
                    .all(|(position, value)| self.slot(position, value, &format!("{path}[]"), false))
            }
            (Kind::Mixed { alternatives }, value) => {
                let fits = |alternative| self.attempt(|check| check.slot(alternative, value, path, false));
                if alternatives.iter().any(fits) || !self.schema.strict {
                    return true;
                }
                self.refuse(path, &format!("{} fits no variant of the enum; without --strict it loads", kind_of(value)))
            }
            (_, value) => {
                let seen = match slot.count {
                    1 => "the only value seen has".to_owned(),
                    times => format!("all {} values seen have", count(times)),
                };
                self.refuse(path, &format!("{} where {seen} another type; `OrOther` accepts it", kind_of(value)))
            }
        }
    }

    /// Returns whether a string loads although its type does not write it back unchanged.
    fn text(&mut self, format: Format, text: &str, path: &str) -> bool {
        let loads = match format {
            Format::Uuid => formats::is(&text.to_ascii_lowercase(), format),
            Format::Url => text.contains("://"),
            Format::Date | Format::Utc | Format::Offset => false,
        };
        if !loads {
            return self.refuse(path, "a string that is not in the format of the others; without --text it loads");
        }
        self.found
            .changed
            .insert(format!("{path}: a string is written back in another form; without --text it is not"));
        true
    }

    fn integer(&mut self, min: i128, max: i128, number: &serde_json::Number, path: &str) -> bool {
        if !Int::fits(min, max) {
            return true;
        }
        let int = if self.schema.strict { Int::narrowest(min, max) } else { Int::with_headroom(min, max) };
        let value = number.as_i64().map(i128::from).or_else(|| number.as_u64().map(i128::from));
        match value {
            Some(value) if int.holds_one(value) => true,
            Some(_) => self.refuse(path, "a number outside the range of its type; a wider type accepts it"),
            None => self.refuse(path, "a number with a fraction where the type is an integer; `f64` accepts it"),
        }
    }

    /// Checks a value of an externally tagged union.
    fn external(&mut self, id: UnionId, value: &Value, path: &str) -> bool {
        let union = &self.schema.unions[id];
        let (key, content) = match value {
            Value::String(text) => (Some(text), None),
            Value::Object(object) if object.len() == 1 => {
                object.iter().next().map_or((None, None), |(key, value)| (Some(key), Some(value)))
            }
            _ => (None, None),
        };
        let variant = union.variants.iter().find(|(value, _)| Some(value) == key);
        let field = variant.map(|&(_, record)| self.schema.records[record].fields.first());
        let fits = match (field, content) {
            (Some(Some(field)), Some(content)) => {
                let path = format!("{path}.{}", field.key);
                if self.schema.is_closed_union(id) {
                    return self.slot(&field.slot, content, &path, false);
                }
                // The variant for other values holds a rejected content as a `Value`.
                self.attempt(|check| check.slot(&field.slot, content, &path, false));
                true
            }
            (Some(None), None) => true,
            _ => false,
        };
        fits || !self.schema.is_closed_union(id)
            || self.refuse(path, "an unknown variant of an externally tagged enum; without --strict it loads")
    }

    fn record(&mut self, record: &Record, object: &Map<String, Value>, path: &str, tag: Option<&str>) -> bool {
        let rest = record.fields.iter().find(|field| field.rest);
        for field in record.fields.iter().filter(|field| !field.rest) {
            let optional = self.schema.is_optional(record, field);
            let path = format!("{path}.{}", field.key);
            match object.get(&field.key) {
                Some(value) if !self.slot(&field.slot, value, &path, optional) => return false,
                Some(_) => {}
                None if optional || field.slot.nulls > 0 => {
                    if !optional {
                        self.found.changed.insert(format!("{path}: a missing key is written back as `null`"));
                    }
                }
                None => return self.refuse(&path, "a required key is missing; an `Option` accepts that"),
            }
        }
        for (key, value) in object {
            if Some(key.as_str()) == tag || record.fields.iter().any(|field| field.key == *key && !field.rest) {
                continue;
            }
            if let Some(rest) = rest {
                let Kind::Map(map) = &rest.slot.kind else { continue };
                if !self.slot(&map.value, value, &format!("{path}.*"), false) {
                    return false;
                }
            } else if self.schema.refuse {
                return self.refuse(&format!("{path}.{key}"), "an unknown key; --unknown-keys keep would keep it");
            } else {
                self.found.lost.insert(format!("{path}.{key}: an unknown key; --unknown-keys keep would keep it"));
            }
        }
        true
    }
}

fn kind_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "`null`",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    }
}
