//! A JSON Schema or an `OpenAPI` document as a source of names, maps and tags, which is held against the data.
//!
//! What the schema says becomes decisions, as if the user had given them. What it says and the data never do is listed, and
//! the reverse.

use super::input;
use super::names::{step, type_name};
use super::overrides::Override;
use super::schema::{Kind, Record, Schema, Slot};
use anyhow::{Context, Result, bail};
use dwell_output::units::plural;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::path::Path;

/// The most decisions that are taken from a schema, and the most schemas that describe one value.
const MOST: usize = 2000;
/// The most paths that are looked at for them.
const PATHS: usize = 10 * MOST;

/// A schema in a file.
#[derive(Debug)]
pub struct Declared {
    document: Value,
    /// The JSON pointer of the type of a document.
    at: String,
}

/// What a schema says about one value.
#[derive(Debug, Default)]
struct Said<'a> {
    name: Option<String>,
    /// The keys of an object, with their schemas.
    keys: BTreeMap<&'a str, Vec<&'a Value>>,
    required: BTreeSet<&'a str>,
    /// The schemas of other keys, if they are allowed.
    more: Vec<&'a Value>,
    /// Whether the objects are of one of several schemas.
    has_alternatives: bool,
    elements: Vec<&'a Value>,
    tag: Option<&'a str>,
    /// The JSON types; none if all are allowed.
    types: BTreeSet<&'a str>,
    words: BTreeSet<&'a str>,
    has_words: bool,
    /// The schemas that said this, each also as a part of an alternative. In `OpenAPI` a base names its kinds, and each of them its base.
    seen: HashSet<(*const Value, bool)>,
}

impl Declared {
    /// Reads `FILE` or `FILE#/pointer`.
    ///
    /// # Errors
    /// Returns an error if the file cannot be read, or if it is not clear which schema is that of a document.
    pub fn read(text: &str) -> Result<Self> {
        let (file, at) = text.split_once('#').unwrap_or((text, ""));
        let json = input::json(Path::new(file)).with_context(|| file.to_owned())?;
        let document: Value = serde_json::from_slice(&json).with_context(|| format!("{file}: is no JSON"))?;
        let named =
            ["/components/schemas", "/definitions"].into_iter().find_map(|place| document.pointer(place)?.as_object());
        if at.is_empty() && (document.get("openapi").is_some() || document.get("swagger").is_some()) {
            let all: Vec<&str> = named.into_iter().flatten().map(|(name, _)| name.as_str()).take(20).collect();
            bail!("{file}: name a schema, as in {file}#/components/schemas/NAME; there are {}", all.join(", "));
        }
        if document.pointer(at).is_none_or(|value| !value.is_object()) {
            bail!("{file}: has no schema at #{at}");
        }
        Ok(Self { document, at: at.to_owned() })
    }

    fn root(&self) -> &Value {
        self.document.pointer(&self.at).unwrap_or(&Value::Null)
    }

    /// Collects what some schemas of one value say together.
    fn said<'a>(&'a self, schemas: &[&'a Value]) -> Said<'a> {
        let mut said = Said::default();
        for schema in schemas {
            self.add(schema, true, &mut said);
        }
        said
    }

    fn add<'a>(&'a self, schema: &'a Value, is_all: bool, said: &mut Said<'a>) {
        if said.seen.len() > MOST || !said.seen.insert((std::ptr::from_ref(schema), is_all)) {
            return;
        }
        if let Some(to) = schema.get("$ref").and_then(Value::as_str) {
            let pointer = to.strip_prefix('#').unwrap_or_default();
            if let Some(target) = self.document.pointer(pointer).filter(|_| !pointer.is_empty()) {
                let name = pointer.rsplit('/').next().unwrap_or_default();
                said.name.get_or_insert_with(|| type_name(name));
                self.add(target, is_all, said);
            }
        }
        let list = |key: &str| schema.get(key).and_then(Value::as_array).into_iter().flatten();
        for part in list("allOf") {
            // The name is that of the whole.
            let name = said.name.take();
            self.add(part, is_all, said);
            said.name = name;
        }
        for part in list("oneOf").chain(list("anyOf")) {
            let name = said.name.take();
            self.add(part, false, said);
            said.name = name;
            said.has_alternatives = true;
        }
        if let Some(title) = schema.get("title").and_then(Value::as_str).filter(|title| title.len() <= 40) {
            said.name.get_or_insert_with(|| type_name(title));
        }
        said.tag = said.tag.or_else(|| schema.pointer("/discriminator/propertyName")?.as_str());
        for (key, value) in schema.get("properties").and_then(Value::as_object).into_iter().flatten() {
            said.keys.entry(key).or_default().push(value);
        }
        if is_all {
            said.required.extend(list("required").filter_map(Value::as_str));
        }
        said.more.extend(schema.get("additionalProperties").filter(|value| value.is_object()));
        for key in ["items", "prefixItems"] {
            match schema.get(key) {
                Some(Value::Array(all)) => said.elements.extend(all),
                Some(elements @ Value::Object(_)) => said.elements.push(elements),
                _ => {}
            }
        }
        let types = schema.get("type").map(|value| value.as_array().map_or(std::slice::from_ref(value), Vec::as_slice));
        said.types.extend(types.into_iter().flatten().filter_map(Value::as_str));
        if schema.get("nullable") == Some(&Value::Bool(true)) {
            said.types.insert("null");
        }
        if let Some(words) = schema.get("enum").and_then(Value::as_array) {
            said.has_words = true;
            said.words.extend(words.iter().filter_map(Value::as_str));
            said.types.extend(words.iter().any(Value::is_null).then_some("null"));
        }
        if let Some(word) = schema.get("const").and_then(Value::as_str) {
            said.has_words = true;
            said.words.insert(word);
        }
    }

    /// Returns what the schema says as decisions.
    pub fn overrides(&self) -> Vec<Override> {
        let mut all = Vec::new();
        let mut open = std::collections::VecDeque::from([("$".to_owned(), vec![self.root()], HashSet::new())]);
        let mut paths = 0;
        while let Some((path, schemas, above)) = open.pop_front() {
            paths += 1;
            let said = self.said(&schemas);
            let mut decide = |what: &str| all.extend(format!("{path}={what}").parse::<Override>());
            if let Some(tag) = said.tag {
                decide(&format!("tag={tag}"));
            } else if !said.keys.is_empty() && !said.has_alternatives {
                decide("struct");
            } else if !said.more.is_empty() && said.keys.is_empty() {
                decide("map");
            }
            if let Some(name) = said.name.as_ref().filter(|_| path != "$" && (!said.keys.is_empty() || said.has_words))
            {
                decide(name);
            }
            // A recursive type is described once.
            let mut below = above.clone();
            if !schemas.iter().all(|schema| below.insert(std::ptr::from_ref(*schema)))
                || all.len() > MOST
                || paths > PATHS
            {
                continue;
            }
            let keys = said.keys.iter().map(|(key, schemas)| (format!("{path}{}", step(key)), schemas.clone()));
            open.extend(keys.map(|(path, schemas)| (path, schemas, below.clone())));
            if !said.more.is_empty() && said.keys.is_empty() {
                open.push_back((format!("{path}.*"), said.more, below.clone()));
            }
            if !said.elements.is_empty() {
                open.push_back((format!("{path}[]"), said.elements, below));
            }
        }
        all.truncate(MOST);
        all
    }

    /// Returns the differences between the schema and the data, one a line.
    pub fn differences(&self, schema: &Schema) -> Vec<String> {
        let mut found = Vec::new();
        let mut seen = HashSet::new();
        self.compare(&[self.root()], (schema, &schema.root), "$", &mut seen, &mut found);
        let elsewhere = self.elsewhere().into_iter().map(|to| format!("{to} is in another file, and not read"));
        elsewhere.chain(found).collect()
    }

    /// Returns the references to other files.
    fn elsewhere(&self) -> BTreeSet<&str> {
        let (mut found, mut open) = (BTreeSet::new(), vec![&self.document]);
        while let Some(value) = open.pop() {
            match value {
                Value::Array(all) => open.extend(all),
                Value::Object(all) => {
                    let to = all.get("$ref").and_then(Value::as_str);
                    found.extend(to.filter(|to| !to.starts_with('#')));
                    open.extend(all.values());
                }
                _ => {}
            }
        }
        found
    }

    fn compare<'a>(
        &'a self,
        schemas: &[&'a Value],
        (schema, slot): (&'a Schema, &'a Slot),
        path: &str,
        seen: &mut HashSet<(*const Value, *const Slot)>,
        found: &mut Vec<String>,
    ) {
        if !schemas.iter().any(|one| seen.insert((std::ptr::from_ref(*one), std::ptr::from_ref(slot)))) {
            return;
        }
        let said = self.said(schemas);
        if slot.nulls > 0 && !said.types.is_empty() && !said.types.contains("null") {
            found.push(format!("{path} is null {}, which the schema does not allow", plural(slot.nulls, "time")));
        }
        let kinds: Vec<&Slot> = match &slot.kind {
            Kind::Mixed { alternatives } => alternatives.iter().collect(),
            _ => vec![slot],
        };
        for one in kinds {
            let (is, also) = match &one.kind {
                Kind::Bool { .. } => ("boolean", ""),
                Kind::Integer { .. } => ("integer", "number"),
                Kind::Float { .. } => ("number", ""),
                Kind::Text(_) | Kind::Keyword { .. } => ("string", ""),
                Kind::Record { .. } | Kind::Union { .. } | Kind::Map(_) => ("object", ""),
                Kind::Seq(_) | Kind::Tuple { .. } => ("array", ""),
                Kind::Never | Kind::Any(_) | Kind::Mixed { .. } => continue,
            };
            if !said.types.is_empty() && !said.types.contains(is) && !said.types.contains(also) {
                let types: Vec<&str> = said.types.iter().copied().collect();
                let times = plural(one.count - one.nulls.min(one.count), "time");
                found.push(format!("{path} is of type {is} {times}; the schema says {}", types.join(", ")));
                continue;
            }
            match &one.kind {
                Kind::Keyword { text, .. } | Kind::Text(text) if said.has_words && !text.words.is_empty() => {
                    for (word, times) in text.words.iter().filter(|(word, _)| !said.words.contains(word.as_str())) {
                        found.push(format!(
                            "{path} is {word:?} {}, which the schema does not list",
                            plural(*times, "time")
                        ));
                    }
                    for word in said.words.iter().filter(|word| !text.words.contains_key(**word)) {
                        found.push(format!("{path} is never {word:?}"));
                    }
                }
                Kind::Record { id, .. } => self.object(&said, schema, &[&schema.records[*id]], path, seen, found),
                Kind::Union { id } => {
                    let records = schema.unions[*id].variants.iter().map(|&(_, record)| &schema.records[record]);
                    self.object(&said, schema, &records.collect::<Vec<_>>(), path, seen, found);
                }
                Kind::Map(map) if !said.more.is_empty() => {
                    self.compare(&said.more, (schema, &map.value), &format!("{path}.*"), seen, found);
                }
                Kind::Seq(seq) if !said.elements.is_empty() => {
                    self.compare(&said.elements, (schema, &seq.element), &format!("{path}[]"), seen, found);
                }
                _ => {}
            }
        }
    }

    /// Compares the keys of objects.
    fn object<'a>(
        &'a self,
        said: &Said<'a>,
        schema: &'a Schema,
        records: &[&'a Record],
        path: &str,
        seen: &mut HashSet<(*const Value, *const Slot)>,
        found: &mut Vec<String>,
    ) {
        let all: u64 = records.iter().map(|record| record.instances).sum();
        let fields = || records.iter().flat_map(|record| &record.fields).filter(|field| !field.rest);
        for (key, schemas) in &said.keys {
            let path = format!("{path}{}", step(key));
            let count: u64 = fields().filter(|field| field.key == *key).map(|field| field.slot.count).sum();
            if said.tag == Some(*key) {
                continue;
            }
            if count == 0 {
                found.push(format!("{path} is never there"));
            } else if count < all && said.required.contains(key) {
                found.push(format!("{path} is required, and missing {}", plural(all - count, "time")));
            }
            for field in fields().filter(|field| field.key == *key) {
                self.compare(schemas, (schema, &field.slot), &path, seen, found);
            }
        }
        if said.keys.is_empty() {
            return;
        }
        for field in
            fields().filter(|field| !said.keys.contains_key(field.key.as_str()) && said.tag != Some(&*field.key))
        {
            if said.more.is_empty() {
                let times = plural(field.slot.count, "time");
                let path = format!("{path}{}", step(&field.key));
                found.push(format!("{path} is there {times}, and not in the schema"));
            }
        }
    }
}
