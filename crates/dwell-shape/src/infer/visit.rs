//! Reads a text into the accumulators while `serde_json` parses it, without building values.

use super::arena::{Arena, Fields, Fixed, MAX_TUPLE, NodeId, ObjectId, Shape};
use super::decide;
use super::judge::Word;
use super::sets;
use super::study::mark;
use super::text::{Hashes, hash};
use crate::schema::Free;
use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use std::fmt;

/// The longest string that may be the value of a tag, in bytes.
const MAX_WORD: usize = 40;

/// The most keys of an object that are counted in the study of the object around it.
const MAX_INNER: usize = 128;

/// The first whole number above the range of `i64`.
const TWO_TO_63: f64 = 9_223_372_036_854_775_808.0;

/// Returns whether a string may be the value of a tag: an identifier, a name, or the empty string that templates have.
fn is_word(text: &str) -> bool {
    let is_part = |c: char| c.is_alphanumeric() || "-_.:/#@".contains(c);
    text.is_empty() || (text.len() <= MAX_WORD && text.starts_with(char::is_alphabetic) && text.chars().all(is_part))
}

/// A seed that reads one value into a node.
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
        self.arena.reading.mark = mark::NONE;
        self.arena.node_mut(self.node).nulls += 1;
        Ok(())
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<(), E> {
        self.arena.reading.mark = mark::BOOL;
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

    fn visit_f64<E: Error>(self, value: f64) -> Result<(), E> {
        self.arena.reading.mark = mark::NUMBER;
        let node = self.arena.node_mut(self.node);
        if let Some(free) = &mut node.free {
            free.count += 1;
        } else {
            node.floats += 1;
            // `f64` values of this size are all whole.
            node.huge += u64::from(value.abs() >= TWO_TO_63);
        }
        Ok(())
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<(), E> {
        let studying = self.arena.studying;
        self.arena.reading.mark = mark::TEXT;
        let (node, room) = self.arena.node_and_room(self.node);
        if let Some(free) = &mut node.free {
            free.count += 1;
            free_text(free, text);
            return Ok(());
        }
        let hash = hash(text);
        let texts = node.texts.get_or_insert_default();
        texts.add(text, hash, room);
        if studying {
            // A tag has few values.
            node.word = (texts.exact().is_some() && is_word(text)).then(|| Word::new(text, hash));
        }
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<(), A::Error> {
        let Self { arena, node } = self;
        if arena.node(node).free.is_some() {
            arena.reading.mark = mark::NONE;
            return in_free(arena, node, |free| FreeValue { free }.visit_seq(seq));
        }
        if arena.node(node).array.is_none() {
            arena.new_array(node);
        }
        let (mut length, mut element) = (0, mark::NONE);
        // Arrays that are known to differ in length stay so until the end of the text, so their element is looked up
        // once.
        let array = arena.array_mut(node);
        let varied = (array.fixed == Fixed::Varied).then_some(array.element);
        let ended = loop {
            let position = varied.unwrap_or_else(|| arena.element(node, length));
            match seq.next_element_seed(Value { arena, node: position }) {
                Ok(Some(())) => {
                    length += 1;
                    element = if element == mark::NONE { arena.reading.mark } else { element };
                }
                Ok(None) => break Ok(()),
                // A study also uses the counts before the error.
                Err(error) if arena.studying => break Err(error),
                Err(error) => return Err(error),
            }
        };
        arena.reading.mark = if length == 0 { mark::NONE } else { element.saturating_add(mark::ARRAY) };
        let array = arena.array_mut(node);
        array.lengths.add(length as u64);
        match array.fixed {
            Fixed::Unknown if (1..=MAX_TUPLE).contains(&length) => array.fixed = Fixed::At(length),
            Fixed::At(known) if known == length => {}
            Fixed::Varied => {}
            _ => arena.vary(node),
        }
        ended
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<(), A::Error> {
        let Self { arena, node } = self;
        if arena.node(node).free.is_some() {
            arena.reading.mark = mark::NONE;
            return in_free(arena, node, |free| FreeValue { free }.visit_map(map));
        }
        let object = arena.objects_at(node);
        let (length, sum, ended) = Open::new(arena, object).read(arena, map, object);
        arena.reading.mark = if arena.reading.is_tagged { mark::TAGGED } else { mark::OBJECT };
        if ended.is_err() && !arena.studying {
            return ended;
        }
        let seen = arena.node_mut(node);
        seen.objects += 1;
        seen.empties += u64::from(length == 0);
        if arena.is_new(object) && arena.knows() {
            arena.recognise(node, object, sum);
        }
        ended
    }
}

impl Value<'_> {
    fn integer(self, value: i128) {
        self.arena.reading.mark = mark::NUMBER;
        let node = self.arena.node_mut(self.node);
        match &mut node.free {
            Some(free) => free.count += 1,
            None => node.integer(value),
        }
    }
}

/// An object that is being read.
struct Open {
    /// The record that gets the fields. In a union it is unknown until the first key.
    target: Option<ObjectId>,
    /// The template of the union that the target belongs to.
    template: Option<ObjectId>,
    /// The union, until the tag is read.
    union: Option<ObjectId>,
    /// Whether the target is a scratch object for the keys before the tag.
    scratch: bool,
    /// The union, once a marker was read.
    marked: Option<ObjectId>,
    serial: u64,
    /// The index after the last field, where the next key is expected.
    expected: usize,
    /// The keys read so far that are not fields.
    keys: Option<Hashes>,
    /// The sum of the keys read so far that are fields.
    sum: u64,
    /// The start of its keys in [`Arena::seen`].
    seen: usize,
    /// The start of its strings in [`Arena::words`].
    words: usize,
    /// The start of its type codes in [`Arena::marks`].
    marks: usize,
    /// The start of the keys of its objects in [`Arena::inner`].
    inner: usize,
}

/// The node for the value of a key.
enum Next {
    /// The position, and the hash of the key if it may be a tag.
    Node(NodeId, Option<u64>),
    Tag(ObjectId),
}

impl Open {
    fn new(arena: &mut Arena, object: ObjectId) -> Self {
        arena.reading.serial += 1;
        let template = arena.tagged(object).map(|tagged| tagged.template);
        let union = template.map(|_| object);
        if union.is_some() {
            arena.reading.inside.push(object);
        }
        let target = union.is_none().then_some(object);
        Self {
            target,
            template,
            union,
            scratch: false,
            marked: None,
            serial: arena.reading.serial,
            expected: 0,
            keys: None,
            sum: 0,
            seen: arena.reading.seen.len(),
            words: arena.reading.words.len(),
            marks: arena.reading.marks.len(),
            inner: arena.reading.inner.len(),
        }
    }

    /// Reads the entries of an object of `owner` and counts the object. Returns their number, the sum of the keys, and
    /// the outcome.
    fn read<'de, A: MapAccess<'de>>(
        mut self,
        arena: &mut Arena,
        mut map: A,
        owner: ObjectId,
    ) -> (u64, u64, Result<(), A::Error>) {
        let is_union = self.union.is_some();
        let mut length = 0u64;
        let ended = loop {
            let next = match map.next_key_seed(Key { arena, open: &mut self }) {
                Ok(Some(next)) => next,
                Ok(None) => break Ok(()),
                Err(error) => break Err(error),
            };
            length += 1;
            let read = match next {
                Next::Node(node, None) => map.next_value_seed(Value { arena, node }),
                Next::Node(node, Some(hash)) => {
                    arena.node_mut(node).word = None; // It may be the word of another object.
                    let read = map.next_value_seed(Value { arena, node });
                    if let Some(word) = arena.node_mut(node).word.take() {
                        arena.reading.words.push((hash, word));
                    }
                    if arena.reading.mark != mark::NONE {
                        arena.reading.marks.push((hash, arena.reading.mark));
                    }
                    if matches!(arena.reading.mark % mark::ARRAY, mark::OBJECT | mark::TAGGED) {
                        let keys = std::mem::take(&mut arena.reading.last);
                        arena.reading.inner.extend(keys.iter().map(|&key| (hash, key)));
                        arena.reading.last = keys;
                    }
                    read
                }
                Next::Tag(union) => map.next_value_seed(Tag { arena, union, open: &mut self }),
            };
            if let Err(error) = read {
                break Err(error);
            }
        };
        if let Some(keys) = self.keys.take() {
            arena.put_keys(keys);
        }
        // The tag of this object was read.
        let had_tag = is_union && self.union.is_none();
        if ended.is_ok() || arena.studying {
            self.count(arena, owner, length);
        }
        arena.reading.is_tagged = had_tag || arena.has_usual_tag(self.words);
        if arena.studying {
            arena.reading.last.clear();
            // The keys of the objects in it count too, so that the content of a variant may be further inside. A common
            // tag key of its own decides about these, as in a syntax tree, where each object would count all below it.
            let below = if arena.reading.is_tagged { &[] } else { &arena.reading.inner[self.inner..] };
            let below = below.iter().map(|&(outer, key)| sets::part(outer).wrapping_add(key));
            arena.reading.last.extend(arena.reading.seen[self.seen..].iter().copied().chain(below).take(MAX_INNER));
        }
        arena.reading.seen.truncate(self.seen);
        arena.reading.inner.truncate(self.inner);
        arena.reading.words.truncate(self.words);
        arena.reading.marks.truncate(self.marks);
        if is_union {
            arena.reading.inside.pop();
        }
        (length, self.sum, ended)
    }

    /// Counts an object that was read completely.
    fn count(&mut self, arena: &mut Arena, owner: ObjectId, length: u64) {
        if let Some(union) = self.union {
            // The object has no tag.
            let object = arena.untagged(union);
            self.decide(arena, union, object);
        }
        let target = self.target.unwrap_or(owner);
        for object in [(target != owner).then_some(owner), Some(target)].into_iter().flatten() {
            let object = arena.object_mut(object);
            object.instances += 1;
            object.lengths.add(length);
        }
        if arena.fields(target).is_some() {
            arena.add_set(target, self.sum, self.seen);
        }
        if arena.studying && target == owner {
            arena.add_to_study(owner, self.seen, self.words, self.marks, self.inner);
        }
    }

    /// Sets the variant of the object, and moves the keys read so far to it.
    fn decide(&mut self, arena: &mut Arena, union: ObjectId, variant: ObjectId) {
        if let Some(scratch) = self.target.take().filter(|_| self.scratch) {
            let keys: Vec<u64> = arena.reading.seen[self.seen..].to_vec();
            arena.add_scratch(union, scratch, variant, &keys, self.serial);
        }
        self.scratch = false;
        self.union = None;
        self.target = Some(variant);
    }

    /// Finds the position of a key's value.
    fn next<E: Error>(&mut self, arena: &mut Arena, key: &str) -> Result<Next, E> {
        let duplicate = || E::custom(format_args!("duplicate key {key:?}"));
        if let Some((union, tagged)) = self.union.and_then(|union| Some((union, arena.tagged(union)?))) {
            let marked = if tagged.has_markers() { tagged.find(hash(key)) } else { None };
            if *tagged.key == *key {
                return Ok(Next::Tag(union));
            }
            if let Some(variant) = marked {
                self.decide(arena, union, arena.find(variant));
                self.marked = Some(union);
            } else if self.target.is_none() {
                self.target = Some(arena.take_scratch(union));
                self.scratch = true;
            }
        } else if let Some(union) = self.marked
            && arena.tagged(union).is_some_and(|tagged| tagged.find(hash(key)).is_some())
        {
            arena.give_up_markers(union);
        }
        let target = *self.target.get_or_insert_with(|| self.union.expect("an object is of a union or has a target"));
        match &arena.object(target).shape {
            Shape::Record(fields) => {
                // Most objects have the same order of keys as the one before.
                let index = if let Some(index) = fields.ahead(self.expected, key) {
                    index
                } else {
                    let hash = hash(key);
                    match fields.find(hash) {
                        Some(index) => index,
                        None if decide::is_full(arena, target, hash) => {
                            return self.next_in_rest(arena, target, key, hash);
                        }
                        None => arena.new_field(target, self.template, key, hash),
                    }
                };
                let (hash, node) = arena.enter_field(target, index, self.serial, self.seen).ok_or_else(duplicate)?;
                self.sum = self.sum.wrapping_add(sets::part(hash));
                self.expected = index + 1;
                Ok(Next::Node(node, arena.studying.then_some(hash)))
            }
            Shape::Map { value, .. } => {
                let (hash, value) = (hash(key), *value);
                if !self.keys.get_or_insert_with(|| arena.take_keys()).insert(hash) {
                    return Err(duplicate());
                }
                let (object, room) = arena.object_and_room(target);
                if let Shape::Map { keys, .. } = &mut object.shape {
                    keys.add(key, hash, room);
                }
                Ok(Next::Node(value, None))
            }
            Shape::Union(_) => unreachable!("a variant is a record, and forms do not change while a text is read"),
        }
    }

    /// Returns the position for a key that is not a field of a record and does not become one.
    fn next_in_rest<E: Error>(&mut self, arena: &mut Arena, target: ObjectId, key: &str, hash: u64) -> Result<Next, E> {
        if !self.keys.get_or_insert_with(|| arena.take_keys()).insert(hash) {
            return Err(E::custom(format_args!("duplicate key {key:?}")));
        }
        let value = arena.rest(target).expect("the target is a record").value;
        let (object, room) = arena.object_and_room(target);
        if let Shape::Record(Fields { rest: Some(rest), .. }) = &mut object.shape {
            rest.keys.add(key, hash, room);
        }
        Ok(Next::Node(value, None))
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

/// A seed that reads the value of a union's tag and sets the variant of the object.
struct Tag<'a> {
    arena: &'a mut Arena,
    union: ObjectId,
    open: &'a mut Open,
}

impl<'a> Tag<'a> {
    /// Sets the variant, and returns the seed for the tag's value: the tag is also a field of the variant.
    fn value(self, variant: ObjectId) -> Value<'a> {
        let Self { arena, union, open } = self;
        open.decide(arena, union, variant);
        let (key, hash) = arena.tagged(union).map_or_else(Default::default, |tagged| (tagged.key.clone(), tagged.hash));
        let index = match arena.fields(variant).and_then(|fields| fields.find(hash)) {
            Some(index) => index,
            None => arena.new_field(variant, open.template, &key, hash),
        };
        let moment = arena.next_moment(hash);
        arena.reading.seen.push(hash);
        open.sum = open.sum.wrapping_add(sets::part(hash));
        open.expected = index + 1;
        let field = &mut arena.fields_mut(variant).expect("variants are records").list[index];
        field.last = open.serial;
        field.first = field.first.min(moment);
        let node = field.node;
        Value { arena, node }
    }

    fn no_tag(self) -> Value<'a> {
        let untagged = self.arena.untagged(self.union);
        self.value(untagged)
    }
}

impl<'de> DeserializeSeed<'de> for Tag<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Tag<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<(), E> {
        let variant = self.arena.variant(self.union, text, hash(text));
        self.value(variant).visit_str(text)
    }

    fn visit_unit<E: Error>(self) -> Result<(), E> {
        self.no_tag().visit_unit()
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<(), E> {
        self.no_tag().visit_bool(value)
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<(), E> {
        self.no_tag().visit_u64(value)
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<(), E> {
        self.no_tag().visit_i64(value)
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<(), E> {
        self.no_tag().visit_f64(value)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, seq: A) -> Result<(), A::Error> {
        self.no_tag().visit_seq(seq)
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<(), A::Error> {
        self.no_tag().visit_map(map)
    }
}

/// Adds to the sums of an untyped position.
fn in_free<E>(arena: &mut Arena, node: NodeId, read: impl FnOnce(&mut Free) -> Result<(), E>) -> Result<(), E> {
    let mut free = arena.node_mut(node).free.take().unwrap_or_default();
    free.count += 1;
    let result = read(&mut free);
    arena.node_mut(node).free = Some(free);
    result
}

/// A seed that reads a value below an untyped position.
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
