//! Which positions accept JSON types that the data does not have there.

use super::schema::{ENOUGH, Field, Kind, MIN_TEXTS, Open, Record, Schema, Slot};

/// The fewest fields of a record for [`Record::open_siblings`].
const MIN_SIBLINGS: usize = 16;
/// The chance that the next value has another JSON type, above which a position accepts others.
const CHANCE: f64 = 0.01;
/// The positions, and those of several JSON types, that count as known before any is seen.
const BEFORE: (f64, f64) = (20.0, 0.2);

impl Schema {
    /// Marks the positions that accept other JSON types: those with few values, or whose siblings have several.
    /// Positions inside an open one stay closed: if a value does not fit there, the whole outer value counts as one of
    /// another type.
    pub fn open(&mut self) {
        let documents = self.documents;
        if documents < MIN_TEXTS {
            return;
        }
        // Fields that most texts have keep plain types, even in a small corpus.
        let rare = |count: u64| count < ENOUGH && count * 2 <= documents;
        let mixed = self.mixed();
        let few = |count: u64| rare(count) && mixed / (count + 1) as f64 > CHANCE;
        self.root.open_if(&few);
        // A record of few objects is inside positions of few values, or in an enum that has `Other`.
        for record in self.records.iter_mut().filter(|record| !rare(record.instances)) {
            record.open_siblings();
            for field in &mut record.fields {
                match &mut field.slot.kind {
                    // This map holds the entries whose keys are not fields. It is not a value of the data.
                    Kind::Map(map) if field.rest => map.value.open_if(&few),
                    _ => field.slot.open_if(&few),
                }
            }
        }
    }

    /// Returns the share of the well-known positions that have several JSON types.
    fn mixed(&self) -> f64 {
        let (mut known, mut mixed) = BEFORE;
        let mut count = |slot: &Slot| {
            if slot.count - slot.nulls >= ENOUGH {
                known += 1.0;
                mixed += f64::from(u8::from(matches!(slot.kind, Kind::Mixed { .. })));
            }
        };
        self.root.each(&mut count);
        self.records.iter().flat_map(|record| &record.fields).for_each(|field| field.slot.each(&mut count));
        mixed / known
    }
}

impl Slot {
    /// Calls `f` with this position and those inside it.
    fn each(&self, f: &mut impl FnMut(&Slot)) {
        f(self);
        match &self.kind {
            Kind::Seq(seq) => seq.element.each(f),
            Kind::Map(map) => map.value.each(f),
            Kind::Tuple { positions: slots } | Kind::Mixed { alternatives: slots } => {
                for slot in slots {
                    slot.each(f);
                }
            }
            _ => {}
        }
    }

    /// Opens this position if it has few values, otherwise the positions inside that have few.
    fn open_if(&mut self, few: &impl Fn(u64) -> bool) {
        if self.open.is_some() {
            return;
        }
        let is_one_type = !matches!(self.kind, Kind::Never | Kind::Any(_) | Kind::Mixed { .. });
        if is_one_type && few(self.count - self.nulls) {
            self.open = Some(Open::Few);
            return;
        }
        match &mut self.kind {
            Kind::Seq(seq) => seq.element.open_if(few),
            Kind::Map(map) => map.value.open_if(few),
            Kind::Tuple { positions: slots } => slots.iter_mut().for_each(|slot| slot.open_if(few)),
            _ => {}
        }
    }
}

impl Record {
    /// Opens the fields of one JSON type if nearly all fields have that type, and at least two have others as well.
    fn open_siblings(&mut self) {
        use JsonType::{Array, Bool, Number, Object, String};
        let has = |field: &Field, json_type| match &field.slot.kind {
            Kind::Mixed { alternatives } => {
                alternatives.iter().any(|slot| JsonType::from_kind(&slot.kind) == Some(json_type))
            }
            kind => JsonType::from_kind(kind) == Some(json_type),
        };
        let mixed = self.fields.iter().filter(|field| matches!(field.slot.kind, Kind::Mixed { .. }));
        if self.fields.len() < MIN_SIBLINGS || mixed.count() < 2 {
            return;
        }
        for ty in [Bool, Number, String, Array, Object] {
            let alike = self.fields.iter().filter(|field| has(field, ty)).count();
            let others =
                self.fields.iter().filter(|field| has(field, ty) && JsonType::from_kind(&field.slot.kind).is_none());
            if alike * 10 >= self.fields.len() * 9 && others.count() >= 2 {
                let closed = self.fields.iter_mut().filter(|field| JsonType::from_kind(&field.slot.kind) == Some(ty));
                closed.filter(|field| !field.rest).for_each(|field| field.slot.open = Some(Open::Siblings));
            }
        }
    }
}

/// The types of JSON, except `null`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum JsonType {
    Bool,
    Number,
    String,
    Array,
    Object,
}

impl JsonType {
    /// Returns the JSON type of all values of a kind, if they have one.
    fn from_kind(kind: &Kind) -> Option<Self> {
        match kind {
            Kind::Bool { .. } => Some(Self::Bool),
            Kind::Integer { .. } | Kind::Float { .. } => Some(Self::Number),
            Kind::Text(_) | Kind::Keyword { .. } => Some(Self::String),
            Kind::Seq(_) | Kind::Tuple { .. } => Some(Self::Array),
            Kind::Record { .. } | Kind::Union { .. } | Kind::Map(_) => Some(Self::Object),
            Kind::Never | Kind::Mixed { .. } | Kind::Any(_) => None,
        }
    }
}
