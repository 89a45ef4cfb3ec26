//! The objects of a schema as their readers see them: with the tag and the content as keys.

use crate::schema::{Kind, Lengths, Record, RecordId, Schema, Slot, Tagging};

/// The objects of one record, with the keys that the schema keeps apart.
#[derive(Clone)]
pub(super) struct Object<'s> {
    pub(super) record: RecordId,
    pub(super) of: &'s Record,
    /// The tag with its value.
    pub(super) tag: Option<(&'s str, &'s str)>,
    /// The keys of the fields, without the map of further keys.
    pub(super) fields: Vec<(&'s str, &'s Slot)>,
    /// The values of the keys that are no fields.
    pub(super) rest: Option<&'s Slot>,
}

impl<'s> Object<'s> {
    fn of(schema: &'s Schema, record: RecordId, tag: Option<(&'s str, &'s str)>) -> Self {
        let of = &schema.records[record];
        let fields = of.fields.iter().filter(|field| !field.rest).map(|field| (&*field.key, &field.slot)).collect();
        let rest = of.fields.iter().find(|field| field.rest).and_then(|field| match &field.slot.kind {
            Kind::Map(map) => Some(&map.value),
            _ => None,
        });
        Self { record, of, tag, fields, rest }
    }

    /// Returns the strings under a key with their counts, if all are known.
    pub(super) fn tags(&self, schema: &'s Schema, key: &str) -> Option<Vec<(&'s str, u64)>> {
        if let Some((_, value)) = self.tag.filter(|(tag, _)| *tag == key) {
            return Some(vec![(value, self.of.instances)]);
        }
        let (_, slot) = self.fields.iter().find(|(known, _)| *known == key)?;
        words(schema, slot)
    }

    /// Returns the number of keys of each object.
    pub(super) fn lengths(&self) -> Lengths {
        let mut lengths = Lengths::default();
        let more = usize::from(self.tag.is_some());
        if self.of.key_sets.is_empty() {
            let keys: u64 = self.fields.iter().map(|(_, slot)| slot.count).sum();
            return Lengths::spread(self.of.instances, keys, self.fields.len() as u64);
        }
        for (set, count) in &self.of.key_sets {
            lengths.add_many((set.len() + more) as u64, *count);
        }
        lengths
    }
}

/// Returns the strings of a position with their counts, if all are known.
pub(super) fn words<'s>(schema: &'s Schema, slot: &'s Slot) -> Option<Vec<(&'s str, u64)>> {
    let words = match &slot.kind {
        Kind::Keyword { id, .. } => &schema.keywords[*id].values,
        Kind::Text(text) if text.words.len() as u64 == text.distinct => &text.words,
        _ => return None,
    };
    Some(words.iter().map(|(word, &count)| (&**word, count)).collect())
}

/// Returns the objects of a position, and the strings that stand for a variant without content.
pub(super) fn objects<'s>(schema: &'s Schema, slot: &'s Slot) -> (Vec<Object<'s>>, Vec<(&'s str, u64)>) {
    let (mut all, mut units) = (Vec::new(), Vec::new());
    match &slot.kind {
        Kind::Record { id, .. } => all.push(Object::of(schema, *id, None)),
        Kind::Union { id } => {
            let union = &schema.unions[*id];
            for (tag, record) in &union.variants {
                if union.without_tag() == Some(*record) {
                    all.push(Object::of(schema, *record, None));
                    continue;
                }
                match &union.form {
                    Tagging::Internal => all.push(Object::of(schema, *record, Some((&union.tag, tag)))),
                    Tagging::Adjacent(content) => {
                        let mut object = Object::of(schema, *record, Some((&union.tag, tag)));
                        object.fields.iter_mut().for_each(|(key, _)| *key = content);
                        all.push(object);
                    }
                    Tagging::External => {
                        let mut object = Object::of(schema, *record, None);
                        if object.fields.is_empty() {
                            units.push((&**tag, object.of.instances));
                        } else {
                            object.fields.iter_mut().for_each(|(key, _)| *key = tag);
                            all.push(object);
                        }
                    }
                }
            }
        }
        _ => {}
    }
    (all, units)
}

/// Returns the JSON types of a kind in words.
pub(super) fn name_of(kind: &Kind) -> &'static str {
    match kind {
        Kind::Never => "null",
        Kind::Bool { .. } => "a boolean",
        Kind::Integer { .. } => "an integer",
        Kind::Float { .. } => "a number with a fraction",
        Kind::Text(_) | Kind::Keyword { .. } => "a string",
        Kind::Record { .. } | Kind::Union { .. } | Kind::Map(_) => "an object",
        Kind::Seq(_) | Kind::Tuple { .. } => "an array",
        Kind::Mixed { .. } => "a value of several types",
        Kind::Any(_) => "a value of many types",
    }
}
