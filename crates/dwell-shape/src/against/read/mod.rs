//! Reads documents by the rules of the user's types, value by value as serde would.

mod enums;
mod fields;

use super::found::{Event, FieldId, Findings, PLACE, inside};
use super::items::Shape;
use super::json::Json;
use super::types::{DefId, Map, Seq, Ty, Types};
use crate::input::Sink;
use crate::schema::{Free, Lengths};
use serde::Deserialize;
use std::collections::HashSet;
use std::fmt::Write;

/// Reads documents of one type.
pub(super) struct Reader<'t, 's> {
    types: &'t Types<'s>,
    root: &'t Ty,
    pub(super) found: Findings,
    events: Vec<Event>,
    /// The way to the present value.
    path: Vec<Step>,
    /// The types that are being read, each with the length of the way to its value and the number of entries.
    open: Vec<(DefId, usize, usize)>,
}

/// A step of a path.
enum Step {
    Key(String),
    Element,
    Index(usize),
    Any,
}

/// The place of a value.
#[derive(Clone)]
struct At {
    /// The field that owns its blocks; `None` for the document.
    owner: Option<FieldId>,
    /// The place within the field's type.
    place: u64,
    /// Whether serde reads it from a buffer.
    buffered: bool,
}

impl At {
    fn at_field(field: FieldId, buffered: bool) -> Self {
        Self { owner: Some(field), place: PLACE, buffered }
    }

    fn inside(&self, index: usize) -> Self {
        Self { place: inside(self.place, index), ..*self }
    }
}

/// The keys of an object that are not read yet, with their values.
type Entries<'j> = Vec<(&'j str, &'j Json)>;

impl Sink for Reader<'_, '_> {
    fn read<'de, R: serde_json::de::Read<'de>>(
        &mut self,
        _: Option<&str>,
        json: &mut serde_json::Deserializer<R>,
    ) -> serde_json::Result<()> {
        let document = Json::deserialize(json)?;
        self.document(&document);
        Ok(())
    }

    fn add_bytes(&mut self, _: u64) {}
}

impl<'t, 's> Reader<'t, 's> {
    pub(super) fn new(types: &'t Types<'s>, root: &'t Ty) -> Self {
        Self { types, root, found: Findings::default(), events: Vec::new(), path: Vec::new(), open: Vec::new() }
    }

    fn document(&mut self, document: &Json) {
        let at = At { owner: None, place: PLACE, buffered: false };
        let loads = self.value(self.root, document, &at);
        let events = std::mem::take(&mut self.events);
        self.found.add(events, loads);
    }

    fn path_text(&self) -> String {
        let mut text = "$".to_owned();
        for step in &self.path {
            match step {
                Step::Key(key) if !key.is_empty() && key.chars().all(|c| c.is_ascii_alphanumeric() || c == '_') => {
                    text.push('.');
                    text.push_str(key);
                }
                Step::Key(key) => drop(write!(text, "[{key:?}]")),
                Step::Element => text.push_str("[]"),
                Step::Index(index) => drop(write!(text, "[{index}]")),
                Step::Any => text.push_str(".*"),
            }
        }
        text
    }

    /// Calls `f` one step further.
    fn below<T>(&mut self, step: Step, f: impl FnOnce(&mut Self) -> T) -> T {
        self.path.push(step);
        let result = f(self);
        self.path.pop();
        result
    }

    /// Calls `f` to read a type from a value, or from this number of entries of it. A type that reads itself from the same
    /// would never end, as serde does not.
    fn enter(&mut self, id: DefId, entries: usize, at: &At, f: impl FnOnce(&mut Self) -> bool) -> bool {
        let own = (id, self.path.len(), entries);
        let here = self.open.iter().rev().take_while(|place| place.1 == own.1);
        if here.into_iter().any(|place| *place == own) {
            return self.refuse(format!("`{}` contains itself without end", self.types.defs[id].name), at);
        }
        self.open.push(own);
        let loads = f(self);
        self.open.pop();
        loads
    }

    /// Returns the name of the field that a value belongs to.
    fn item(&self, at: &At) -> String {
        at.owner.map_or_else(|| "the document".into(), |field| super::advice::item(self.types, field).0.to_owned())
    }

    /// Records that a value does not load. Returns `false`.
    fn refuse(&mut self, what: impl Into<String>, at: &At) -> bool {
        let (item, path) = (self.item(at), self.path_text());
        self.events.push(Event::Refused { item, path, what: what.into(), optional: None });
        false
    }

    /// Like [`refuse`](Self::refuse), for what an `Option` would accept.
    fn refuse_without_option(&mut self, what: &str, at: &At) -> bool {
        let (item, path) = (self.item(at), self.path_text());
        self.events.push(Event::Refused { item, path, what: what.into(), optional: at.owner });
        false
    }

    /// Records that a value is not checked. Returns `true`.
    fn not_checked(&mut self, why: impl Into<String>, def: Option<DefId>) -> bool {
        let path = self.path_text();
        self.events.push(Event::Unchecked { path, why: why.into(), of: def });
        true
    }

    fn place(at: &At) -> super::found::Place {
        (at.owner, at.place, at.buffered)
    }

    /// Counts a value in a box, unless the value in it counts itself.
    fn boxed(&mut self, inner: &Ty, at: &At) {
        let mut inner_type = inner;
        while let Ty::Option(next) = inner_type {
            inner_type = next;
        }
        if !matches!(inner_type, Ty::Boxed(..) | Ty::Named(_) | Ty::String | Ty::BoxStr(_) | Ty::ThinStr | Ty::Borrowed)
        {
            self.events.push(Event::Value(Self::place(at)));
        }
    }

    /// Reads a value. Returns whether it loads.
    fn value(&mut self, ty: &Ty, value: &Json, at: &At) -> bool {
        match (ty, value) {
            (Ty::Option(_) | Ty::Unit, Json::Null) => return true,
            (Ty::Option(inner), _) => return self.value(inner, value, at),
            (Ty::Boxed(inner, _), _) => {
                self.boxed(inner, at);
                return self.value(inner, value, at);
            }
            (Ty::Unknown(name), _) => return self.not_checked(format!("the source does not declare `{name}`"), None),
            (Ty::Value, _) => {
                let mut free = Free::default();
                self.events.extend(count(value, &mut free).then(|| Event::Free(Box::new(free))));
                return true;
            }
            (Ty::Named(id), _) => return self.enter(*id, usize::MAX, at, |this| this.named(*id, value, at)),
            (_, Json::Null) => return self.refuse_without_option("null", at),
            _ => {}
        }
        match (ty, value) {
            (Ty::Bool, Json::Bool(_)) | (Ty::Number | Ty::Float { .. }, Json::Int(_) | Json::Float) => true,
            (Ty::Int { .. }, Json::Int(value)) => self.integer(ty, *value, at),
            (Ty::Char, Json::Text(text)) => {
                text.chars().count() == 1 || self.refuse(format!("{} for `char`", quoted(text)), at)
            }
            (Ty::String | Ty::BoxStr(_) | Ty::ThinStr | Ty::Borrowed, Json::Text(text)) => {
                self.events.push(Event::Value(Self::place(at)));
                self.events.push(Event::Text(Self::place(at), text.len()));
                true
            }
            (Ty::Seq(seq, element), Json::Array(all)) => self.sequence(*seq, element, all, at),
            (Ty::Array(element, length), Json::Array(all)) => {
                let types = vec![(**element).clone(); usize::try_from(*length).unwrap_or(0).min(all.len() + 1)];
                self.tuple(&types, all, at, true)
            }
            (Ty::Tuple(types), Json::Array(all)) => self.tuple(types, all, at, false),
            (Ty::Map(map, key, element), Json::Object(all)) => {
                let entries: Entries<'_> = all.iter().map(|(key, value)| (&**key, value)).collect();
                self.map((*map, key, element), &entries, at, false)
            }
            _ => self.refuse(format!("{} for {}", value.name(), self.wanted(ty)), at),
        }
    }

    fn integer(&mut self, ty: &Ty, value: i128, at: &At) -> bool {
        let &Ty::Int { bits, signed, nonzero } = ty else { return true };
        let (low, high) = if signed { (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) } else { (0, (1i128 << bits) - 1) };
        if let Some(owner) = at.owner {
            self.events.push(Event::Integer(owner, value));
        }
        let fits = (low..=high).contains(&value) && !(nonzero && value == 0);
        fits || {
            let sign = if value == 0 { "zero" } else { "integers out of range" };
            self.refuse(format!("{sign} for {}", self.wanted(ty)), at)
        }
    }

    fn sequence(&mut self, seq: Seq, element: &Ty, all: &[Json], at: &At) -> bool {
        let below = at.inside(0);
        let mut loads = true;
        for value in all {
            loads &= self.below(Step::Element, |this| this.value(element, value, &below));
        }
        let mut length = all.len();
        if matches!(seq, Seq::HashSet | Seq::BTreeSet) {
            let distinct: HashSet<String> = all.iter().map(|value| format!("{value:?}")).collect();
            self.found.has_unknown_sets |= distinct.len() < length;
            length = distinct.len();
        }
        self.events.push(Event::Length(Self::place(at), length));
        loads
    }

    fn tuple(&mut self, types: &[Ty], all: &[Json], at: &At, is_array: bool) -> bool {
        if all.len() != types.len() {
            return self.refuse(format!("an array of {} for one of {}", all.len(), types.len()), at);
        }
        let mut loads = true;
        for (index, (ty, value)) in types.iter().zip(all).enumerate() {
            let at = at.inside(if is_array { 0 } else { index });
            loads &= self.below(Step::Index(index), |this| this.value(ty, value, &at));
        }
        loads
    }

    /// Reads entries as those of a map.
    fn map(&mut self, (map, key, element): (Map, &Ty, &Ty), entries: &Entries<'_>, at: &At, is_flat: bool) -> bool {
        let below = at.inside(0);
        let mut loads = true;
        let (mut owned, mut bytes) = (0, 0);
        for (name, value) in entries {
            loads &= self.key(key, name, at);
            if matches!(key, Ty::String | Ty::BoxStr(_) | Ty::ThinStr) && !name.is_empty() {
                (owned, bytes) = (owned + 1, bytes + name.len());
            }
            // A flattened map has the keys of the object around it.
            let step = if is_flat { Step::Key((*name).to_owned()) } else { Step::Any };
            loads &= self.below(step, |this| this.value(element, value, &below));
        }
        if map == Map::Json {
            // Its values are in no other place, and its blocks are those of a `Value`.
            let mut free = Free::default();
            free.objects.add(entries.len() as u64);
            free.key_bytes = bytes as u64;
            self.events.push(Event::Free(Box::new(free)));
            return loads;
        }
        self.events.push(Event::Length(Self::place(at), entries.len()));
        self.events.push(Event::Keys(Self::place(at), owned, bytes));
        loads
    }

    /// Reads a key of a map.
    fn key(&mut self, ty: &Ty, name: &str, at: &At) -> bool {
        let wrong = |this: &mut Self| this.refuse(format!("the key {} for {}", quoted(name), this.wanted(ty)), at);
        match ty {
            Ty::String | Ty::BoxStr(_) | Ty::ThinStr | Ty::Borrowed => true,
            Ty::Boxed(inner, _) => self.key(inner, name, at),
            // serde's buffer holds keys as strings, which are no integers.
            Ty::Int { .. } => match name.parse() {
                Ok(value) if !at.buffered => self.integer(ty, value, &At { owner: None, ..*at }),
                _ => wrong(self),
            },
            Ty::Char => name.chars().count() == 1 || wrong(self),
            Ty::Bool => matches!(name, "true" | "false") || wrong(self),
            Ty::Named(_) => self.value(ty, &Json::Text(name.to_owned()), at),
            Ty::Unknown(name) => self.not_checked(format!("the source does not declare `{name}`"), None),
            _ => wrong(self),
        }
    }

    fn named(&mut self, id: DefId, value: &Json, at: &At) -> bool {
        let item = self.types.defs[id].item;
        self.events.push(Event::Instance(id));
        self.events.push(Event::Value(Self::place(at)));
        if item.is_opaque {
            let why =
                format!("`{}` does not derive `Deserialize`, or is read as another type", self.types.defs[id].name);
            return self.not_checked(why, Some(id));
        }
        match &item.shape {
            Shape::Struct(body) => self.content(id, 0, body, value, at),
            Shape::Enum(body) => self.enumeration(id, body, value, at),
            Shape::Alias(_) => true,
        }
    }

    /// Describes a type.
    fn wanted(&self, ty: &Ty) -> String {
        match ty {
            Ty::Unit => "`()`".into(),
            Ty::Bool => "a boolean".into(),
            Ty::Char => "a `char`".into(),
            Ty::Int { bits, signed, nonzero } => {
                let name = format!("{}{bits}", if *signed { 'i' } else { 'u' });
                if *nonzero { format!("a `NonZero<{name}>`") } else { format!("`{name}`") }
            }
            Ty::Float { .. } | Ty::Number => "a number".into(),
            Ty::String | Ty::BoxStr(_) | Ty::ThinStr | Ty::Borrowed => "a string".into(),
            Ty::Seq(..) => "a sequence".into(),
            Ty::Map(..) => "a map".into(),
            Ty::Array(_, length) => format!("an array of {length}"),
            Ty::Tuple(all) => format!("a tuple of {}", all.len()),
            Ty::Named(id) => format!("`{}`", self.types.defs[*id].name),
            Ty::Value => "a value".into(),
            Ty::Option(inner) | Ty::Boxed(inner, _) => self.wanted(inner),
            Ty::Unknown(name) => format!("`{name}`"),
        }
    }
}

/// Adds the sums of a value in a `serde_json::Value`. Returns whether it owns a block.
fn count(value: &Json, free: &mut Free) -> bool {
    let lengths = |lengths: &mut Lengths, length: usize| lengths.add(length as u64);
    match value {
        Json::Text(text) => {
            free.texts += u64::from(!text.is_empty());
            free.text_bytes += text.len() as u64;
        }
        Json::Array(all) => {
            lengths(&mut free.arrays, all.len());
            for value in all {
                count(value, free);
            }
        }
        Json::Object(all) => {
            lengths(&mut free.objects, all.len());
            for (key, value) in all {
                free.key_bytes += key.len() as u64;
                count(value, free);
            }
        }
        _ => return false,
    }
    true
}

/// The longest string that is shown.
const SHOWN: usize = 40;

/// Returns a string in quotes, shortened.
fn quoted(text: &str) -> String {
    let short: String = text.chars().take(SHOWN).collect();
    if short.len() < text.len() { format!("{:?}", short + "..") } else { format!("{text:?}") }
}
