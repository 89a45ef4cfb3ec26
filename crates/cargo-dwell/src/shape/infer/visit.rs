//! Reads a text into the accumulators as `serde_json` parses it: no value is kept.

use super::arena::{After, Arena, Array, Fixed, MAX_PLACES, NodeId, ObjectId, Shape};
use super::decide;
use super::sets;
use super::study::Study;
use super::text::{Hashes, hash};
use crate::shape::schema::{Free, Lengths};
use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use std::fmt;

/// A string that may be the value of a tag.
const MAX_WORD: usize = 40;

/// A string that may be the value of a tag: the name of something.
fn is_word(text: &str) -> bool {
    let is_part = |c: char| c.is_alphanumeric() || "-_.:/#@".contains(c);
    text.len() <= MAX_WORD && text.starts_with(char::is_alphabetic) && text.chars().all(is_part)
}

/// Reads one value into a node.
pub(super) struct Value<'a> {
    pub(super) arena: &'a mut Arena,
    pub(super) node: NodeId,
}

impl<'de> DeserializeSeed<'de> for Value<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Value<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<E: Error>(self) -> Result<(), E> {
        self.arena.node_mut(self.node).nulls += 1;
        Ok(())
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<(), E> {
        let node = self.arena.node_mut(self.node);
        if let Some(free) = &mut node.free {
            free.count += 1;
            return Ok(());
        }
        node.bools += 1;
        node.trues += u64::from(value);
        Ok(())
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<(), E> {
        self.integer(i128::from(value));
        Ok(())
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<(), E> {
        self.integer(i128::from(value));
        Ok(())
    }

    fn visit_f64<E: Error>(self, _: f64) -> Result<(), E> {
        let node = self.arena.node_mut(self.node);
        match &mut node.free {
            Some(free) => free.count += 1,
            None => node.floats += 1,
        }
        Ok(())
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<(), E> {
        let studying = self.arena.studying;
        let node = self.arena.node_mut(self.node);
        if let Some(free) = &mut node.free {
            free.count += 1;
            free_text(free, text);
            return Ok(());
        }
        let hash = hash(text);
        if studying {
            node.word = is_word(text).then_some(hash);
        }
        node.texts.get_or_insert_default().add(text, hash);
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<(), A::Error> {
        let Self { arena, node } = self;
        if arena.node(node).free.is_some() {
            return in_free(arena, node, |free| FreeValue { free }.visit_seq(seq));
        }
        if arena.node(node).array.is_none() {
            let element = arena.new_node(arena.node(node).name);
            let array = Array { lengths: Lengths::default(), element, places: Vec::new(), fixed: Fixed::Unknown };
            arena.node_mut(node).array = Some(Box::new(array));
        }
        let mut length = 0;
        loop {
            let array = arena.array_mut(node);
            let place = match array.fixed {
                Fixed::Varied => array.element,
                Fixed::At(known) if length >= known => array.element,
                Fixed::Unknown if length >= MAX_PLACES => array.element,
                _ => {
                    if array.places.len() == length {
                        let place = arena.new_node(arena.node(node).name);
                        arena.array_mut(node).places.push(place);
                    }
                    arena.array_mut(node).places[length]
                }
            };
            if seq.next_element_seed(Value { arena, node: place })?.is_none() {
                break;
            }
            length += 1;
        }
        let array = arena.array_mut(node);
        array.lengths.add(length as u64);
        match array.fixed {
            Fixed::Unknown if (1..=MAX_PLACES).contains(&length) => array.fixed = Fixed::At(length),
            Fixed::At(known) if known == length => {}
            Fixed::Varied => {}
            _ => arena.flatten(node),
        }
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<(), A::Error> {
        let Self { arena, node } = self;
        if arena.node(node).free.is_some() {
            return in_free(arena, node, |free| FreeValue { free }.visit_map(map));
        }
        let object = arena.objects_at(node);
        let length = Open::new(arena, object).read(arena, map, object)?;
        let node = arena.node_mut(node);
        node.objects += 1;
        node.empties += u64::from(length == 0);
        Ok(())
    }
}

impl Value<'_> {
    fn integer(self, value: i128) {
        let node = self.arena.node_mut(self.node);
        match &mut node.free {
            Some(free) => free.count += 1,
            None => node.integer(value),
        }
    }
}

/// An object that is being read.
struct Open {
    /// Where its fields go; of a union's object, not known until a key was read.
    target: Option<ObjectId>,
    /// The union, until its tag was read.
    union: Option<ObjectId>,
    /// The target is an object of the union's to collect what comes before the tag.
    scratch: bool,
    serial: u64,
    /// The index of the field that followed in the last object.
    expected: usize,
    /// The keys so far, if they are data.
    keys: Option<Hashes>,
    /// The sum of the keys so far, if they are not.
    sum: u64,
}

/// Where the value of a key goes.
enum Next {
    Node(NodeId),
    Tag(ObjectId),
}

impl Open {
    fn new(arena: &mut Arena, object: ObjectId) -> Self {
        arena.serial += 1;
        let union = arena.tagged(object).map(|_| object);
        let target = union.is_none().then_some(object);
        Self { target, union, scratch: false, serial: arena.serial, expected: 0, keys: None, sum: 0 }
    }

    /// Reads the entries of an object of `owner` and counts it.
    fn read<'de, A: MapAccess<'de>>(mut self, arena: &mut Arena, mut map: A, owner: ObjectId) -> Result<u64, A::Error> {
        let epoch = arena.epoch;
        let mut length = 0u64;
        let mut variant = None;
        while let Some(next) = map.next_key_seed(Key { arena, open: &mut self })? {
            length += 1;
            match next {
                Next::Node(node) => {
                    if arena.studying {
                        arena.node_mut(node).word = None; // That of another object.
                    }
                    map.next_value_seed(Value { arena, node })?;
                }
                Next::Tag(union) => {
                    variant = map.next_value_seed(Tag { arena, union, target: self.target, serial: self.serial })?;
                    self.union = None;
                    if self.target.is_none() {
                        self.target = Some(variant.unwrap_or(owner));
                        self.expected = 1;
                    }
                }
            }
        }
        if let Some(keys) = self.keys {
            arena.put_keys(keys);
        }
        if self.union.is_some() {
            arena.dissolve(owner); // An object without the tag.
        }
        let last = variant.map_or(owner, |variant| arena.find(variant));
        for object in if last == owner { [None, Some(owner)] } else { [Some(owner), Some(last)] }.into_iter().flatten()
        {
            let object = match self.target {
                Some(scratch) if self.scratch && object == last => scratch,
                _ => object,
            };
            arena.object_mut(object).instances += 1;
            arena.object_mut(object).lengths.add(length);
        }
        let target = self.target.filter(|_| self.scratch).unwrap_or(last);
        let serial = self.serial;
        let object = arena.object_mut(target);
        if let Shape::Record(fields) = &object.shape {
            let keys = || fields.list.iter().filter(|field| field.last == serial).map(|field| field.hash).collect();
            object.sets.add(self.sum, 1, keys);
        }
        match self.target {
            Some(scratch) if self.scratch => {
                // A scratch object whose form has changed is not used again: its form would spread to all variants.
                let same = arena.epoch == epoch;
                arena.absorb_object(last, scratch, if same { After::Keep } else { After::Take });
                if arena.epoch == epoch {
                    arena.put_scratch(owner, scratch);
                }
            }
            _ if arena.studying => Study::add(arena, owner, self.serial),
            _ => {}
        }
        Ok(length)
    }

    /// Finds the place of a key's value.
    fn next<E: Error>(&mut self, arena: &mut Arena, key: &str) -> Result<Next, E> {
        let duplicate = || E::custom(format_args!("duplicate key {key:?}"));
        if let Some((union, tagged)) = self.union.and_then(|union| Some((union, arena.tagged(union)?))) {
            if *tagged.key == *key {
                return Ok(Next::Tag(union));
            }
            if self.target.is_none() {
                self.target = Some(arena.take_scratch(union));
                self.scratch = true;
            }
        }
        let target = *self.target.get_or_insert_with(|| self.union.expect("an object is of a union or has a target"));
        match &mut arena.object_mut(target).shape {
            Shape::Record(fields) => {
                let hashed;
                // Most objects have their keys in the order of the last one.
                let ahead = fields.list.get(self.expected..self.expected + 2).unwrap_or_default();
                let index = if let Some(skipped) = ahead.iter().position(|field| *field.key == *key) {
                    Some(self.expected + skipped)
                } else {
                    hashed = hash(key);
                    let index = fields.find(hashed);
                    // Between two entries nothing below this object is being read, so it may change its form.
                    if index.is_none() && !decide::is_full(arena, target) {
                        let index = arena.new_field(target, key, hashed, self.serial);
                        self.sum = self.sum.wrapping_add(sets::part(hashed));
                        self.expected = index + 1;
                        let node = arena.fields(target).map(|fields| fields.list[index].node);
                        return Ok(Next::Node(node.expect("the field was just made")));
                    }
                    index
                };
                if let Some(index) = index {
                    let moment = arena.moment;
                    let fields = arena.fields_mut(target).expect("matched above");
                    let field = &mut fields.list[index];
                    if field.last == self.serial {
                        return Err(duplicate());
                    }
                    field.last = self.serial;
                    let node = field.node;
                    self.sum = self.sum.wrapping_add(sets::part(field.hash));
                    if field.first == u64::MAX {
                        field.first = moment + 1;
                        arena.moment += 1;
                    }
                    self.expected = index + 1;
                    return Ok(Next::Node(node));
                }
                let fields = arena.fields(target).expect("matched above");
                let seen = fields.list.iter().filter(|field| field.last == self.serial).map(|field| field.hash);
                self.keys = Some(seen.collect());
                arena.collapse(target);
                self.next(arena, key)
            }
            Shape::Map { keys, value } => {
                let (hash, value) = (hash(key), *value);
                keys.add(key, hash);
                if self.keys.get_or_insert_with(|| arena.take_keys()).insert(hash) {
                    Ok(Next::Node(value))
                } else {
                    Err(duplicate())
                }
            }
            Shape::Union(_) => unreachable!("a target is no union, and a union that is given up becomes a record"),
        }
    }
}

struct Key<'a> {
    arena: &'a mut Arena,
    open: &'a mut Open,
}

impl<'de> DeserializeSeed<'de> for Key<'_> {
    type Value = Next;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Next, D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl Visitor<'_> for Key<'_> {
    type Value = Next;

    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("a key")
    }

    fn visit_str<E: Error>(self, key: &str) -> Result<Next, E> {
        self.open.next(self.arena, key)
    }
}

/// Reads the value of a union's tag. Gives the objects of the variant, or none if the union had to be given up.
struct Tag<'a> {
    arena: &'a mut Arena,
    union: ObjectId,
    target: Option<ObjectId>,
    serial: u64,
}

impl<'a> Tag<'a> {
    /// The tag is also a field of the variant, or of what the union becomes.
    fn value(self, key: &str, variant: Option<ObjectId>) -> Value<'a> {
        let Self { arena, union, target, serial } = self;
        let object = target.or(variant).unwrap_or(union);
        let hash = hash(key);
        let index = match arena.fields(object).and_then(|fields| fields.find(hash)) {
            Some(index) => index,
            None => arena.new_field(object, key, hash, serial),
        };
        arena.moment += 1;
        let moment = arena.moment;
        let field = &mut arena.fields_mut(object).expect("variants are records").list[index];
        field.last = serial;
        field.first = field.first.min(moment);
        let node = field.node;
        Value { arena, node }
    }

    fn no_tag(self) -> Value<'a> {
        let key = self.arena.tagged(self.union).map(|tagged| tagged.key.clone()).unwrap_or_default();
        self.arena.dissolve(self.union);
        self.value(&key, None)
    }
}

impl<'de> DeserializeSeed<'de> for Tag<'_> {
    type Value = Option<ObjectId>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Tag<'_> {
    type Value = Option<ObjectId>;

    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Self::Value, E> {
        let Some(key) = self.arena.tagged(self.union).map(|tagged| tagged.key.clone()) else { return Ok(None) };
        let variant = self.arena.variant(self.union, text, hash(text));
        self.value(&key, variant).visit_str(text)?;
        Ok(variant)
    }

    fn visit_unit<E: Error>(self) -> Result<Self::Value, E> {
        self.no_tag().visit_unit().map(|()| None)
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<Self::Value, E> {
        self.no_tag().visit_bool(value).map(|()| None)
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<Self::Value, E> {
        self.no_tag().visit_u64(value).map(|()| None)
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<Self::Value, E> {
        self.no_tag().visit_i64(value).map(|()| None)
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<Self::Value, E> {
        self.no_tag().visit_f64(value).map(|()| None)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, seq: A) -> Result<Self::Value, A::Error> {
        self.no_tag().visit_seq(seq).map(|()| None)
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Self::Value, A::Error> {
        self.no_tag().visit_map(map).map(|()| None)
    }
}

/// Reads a value of a place that was given up.
fn in_free<E>(arena: &mut Arena, node: NodeId, read: impl FnOnce(&mut Free) -> Result<(), E>) -> Result<(), E> {
    let mut free = arena.node_mut(node).free.take().unwrap_or_default();
    free.count += 1;
    let result = read(&mut free);
    arena.node_mut(node).free = Some(free);
    result
}

/// Reads a value at any depth below a place that was given up.
pub(super) struct FreeValue<'a> {
    pub(super) free: &'a mut Free,
}

fn free_text(free: &mut Free, text: &str) {
    free.texts += u64::from(!text.is_empty());
    free.text_bytes += text.len() as u64;
}

impl<'de> DeserializeSeed<'de> for FreeValue<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for FreeValue<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<E: Error>(self) -> Result<(), E> {
        Ok(())
    }

    fn visit_bool<E: Error>(self, _: bool) -> Result<(), E> {
        Ok(())
    }

    fn visit_u64<E: Error>(self, _: u64) -> Result<(), E> {
        Ok(())
    }

    fn visit_i64<E: Error>(self, _: i64) -> Result<(), E> {
        Ok(())
    }

    fn visit_f64<E: Error>(self, _: f64) -> Result<(), E> {
        Ok(())
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<(), E> {
        free_text(self.free, text);
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<(), A::Error> {
        let mut length = 0;
        while seq.next_element_seed(FreeValue { free: &mut *self.free })?.is_some() {
            length += 1;
        }
        self.free.arrays.add(length);
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let mut keys = Hashes::default();
        while map.next_key_seed(FreeKey { free: &mut *self.free, keys: &mut keys })?.is_some() {
            map.next_value_seed(FreeValue { free: &mut *self.free })?;
        }
        self.free.objects.add(keys.len() as u64);
        Ok(())
    }
}

struct FreeKey<'a> {
    free: &'a mut Free,
    keys: &'a mut Hashes,
}

impl<'de> DeserializeSeed<'de> for FreeKey<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl Visitor<'_> for FreeKey<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("a key")
    }

    fn visit_str<E: Error>(self, key: &str) -> Result<(), E> {
        self.free.key_bytes += key.len() as u64;
        if self.keys.insert(hash(key)) { Ok(()) } else { Err(E::custom(format_args!("duplicate key {key:?}"))) }
    }
}
