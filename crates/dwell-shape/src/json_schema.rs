//! The inferred types as a JSON Schema (draft 2020-12). It accepts what the Rust types accept.

use super::plan::Plan;
use super::schema::{Field, Kind, RecordId, Schema, Slot, Tagging, UnionId};
use serde_json::{Map, Value, json};

impl Plan<'_> {
    /// Returns the types as a JSON Schema.
    pub fn json_schema(&self) -> Value {
        let writer = Writer { plan: self, schema: self.positions.schema };
        let mut defs = Map::new();
        for (id, _) in writer.schema.records.iter().enumerate().filter(|(_, record)| !record.is_variant) {
            defs.insert(writer.record_name(id).to_owned(), writer.record(id, None));
        }
        for (id, (name, _)) in self.positions.union_names.iter().enumerate() {
            defs.insert(name.clone(), writer.union(id));
        }
        for (id, (name, _)) in self.positions.keywords_names.iter().enumerate() {
            let words: Vec<&String> = writer.schema.keywords[id].values.keys().collect();
            let seen = json!({ "enum": words });
            let value = if writer.schema.strict { seen } else { json!({ "anyOf": [seen, { "type": "string" }] }) };
            defs.insert(name.clone(), value);
        }
        let mut all = json!({ "$schema": "https://json-schema.org/draft/2020-12/schema" });
        if let (Value::Object(all), Value::Object(root)) = (&mut all, writer.slot(&writer.schema.root)) {
            all.extend(root);
            all.insert("$defs".to_owned(), defs.into());
        }
        all
    }
}

struct Writer<'p, 's> {
    plan: &'p Plan<'s>,
    schema: &'s Schema,
}

impl Writer<'_, '_> {
    fn record_name(&self, id: RecordId) -> &str {
        &self.plan.positions.record_names[id].0
    }

    fn slot(&self, slot: &Slot) -> Value {
        let mut value = self.kind(&slot.kind);
        if slot.nulls > 0 && !matches!(slot.kind, Kind::Never | Kind::Any(_)) {
            value = json!({ "anyOf": [value, { "type": "null" }] });
        }
        // A position with few values accepts all others too.
        if self.schema.is_open(slot) { json!({ "anyOf": [value, true] }) } else { value }
    }

    fn kind(&self, kind: &Kind) -> Value {
        let named = |name: &str| json!({ "$ref": format!("#/$defs/{name}") });
        match kind {
            Kind::Never | Kind::Any(_) => json!({}),
            Kind::Bool { .. } => json!({ "type": "boolean" }),
            Kind::Integer { min, max } if self.schema.strict => match (i64::try_from(*min), u64::try_from(*max)) {
                (Ok(min), Ok(max)) => json!({ "type": "integer", "minimum": min, "maximum": max }),
                (Ok(min), Err(_)) => json!({ "type": "integer", "minimum": min }),
                _ => json!({ "type": "integer" }),
            },
            Kind::Integer { min: 0.., .. } => json!({ "type": "integer", "minimum": 0 }),
            Kind::Integer { .. } => json!({ "type": "integer" }),
            Kind::Float { .. } => json!({ "type": "number" }),
            Kind::Text(_) => json!({ "type": "string" }),
            Kind::Keyword { id, .. } => named(&self.plan.positions.keywords_names[*id].0),
            Kind::Record { id, .. } => named(self.record_name(*id)),
            Kind::Union { id } => named(&self.plan.positions.union_names[*id].0),
            Kind::Map(map) => json!({ "type": "object", "additionalProperties": self.slot(&map.value) }),
            Kind::Seq(seq) => json!({ "type": "array", "items": self.slot(&seq.element) }),
            Kind::Tuple { positions } => {
                let items: Vec<Value> = positions.iter().map(|slot| self.slot(slot)).collect();
                json!({ "type": "array", "prefixItems": items, "items": false, "minItems": positions.len() })
            }
            Kind::Mixed { alternatives } => {
                let mut all: Vec<Value> = alternatives.iter().map(|slot| self.slot(slot)).collect();
                if !self.schema.strict {
                    all.push(true.into());
                }
                json!({ "anyOf": all })
            }
        }
    }

    /// Returns the objects of a record; those of a variant have the tag with its value too.
    fn record(&self, id: RecordId, tag: Option<(&str, &str)>) -> Value {
        let record = &self.schema.records[id];
        let (mut properties, mut required) = (Map::new(), Vec::new());
        if let Some((tag, value)) = tag {
            properties.insert(tag.to_owned(), json!({ "const": value }));
            required.push(tag.to_owned());
        }
        let mut rest = if self.schema.refuse { Some(Value::Bool(false)) } else { None };
        for field in &record.fields {
            let Field { key, slot, rest: is_rest } = field;
            if *is_rest {
                rest = match &slot.kind {
                    Kind::Map(map) => Some(self.slot(&map.value)),
                    _ => None,
                };
                continue;
            }
            properties.insert(key.clone(), self.slot(slot));
            if !self.schema.is_optional(record, field) {
                required.push(key.clone());
            }
        }
        let mut value = json!({ "type": "object", "properties": properties, "required": required });
        if let Some(rest) = rest {
            value["additionalProperties"] = rest;
        }
        value
    }

    fn union(&self, id: UnionId) -> Value {
        let union = &self.schema.unions[id];
        let variant = |(tag, record): &(String, RecordId)| {
            if union.without_tag() == Some(*record) {
                return self.record(*record, None);
            }
            let content = self.schema.records[*record].fields.first().map(|field| self.slot(&field.slot));
            match (&union.form, content) {
                (Tagging::Internal, _) => self.record(*record, Some((&union.tag, tag))),
                (Tagging::Untagged, _) => self.record(*record, None),
                (Tagging::External, None) => json!({ "const": tag }),
                (Tagging::External, Some(content)) => {
                    json!({ "type": "object", "properties": { tag: content }, "required": [tag], "maxProperties": 1 })
                }
                (Tagging::Adjacent(_), None) => {
                    json!({ "type": "object", "properties": { &union.tag: { "const": tag } }, "required": [union.tag] })
                }
                (Tagging::Adjacent(key), Some(content)) => {
                    let properties = json!({ &union.tag: { "const": tag }, key: content });
                    json!({ "type": "object", "properties": properties, "required": [union.tag, key] })
                }
            }
        };
        let mut all: Vec<Value> = union.variants.iter().map(variant).collect();
        if !self.schema.is_closed_union(id) {
            all.push(true.into());
        }
        json!({ "anyOf": all })
    }
}
