//! Enums: the tags and the contents of their variants.

use super::super::data::{Object, name_of, objects, words};
use super::super::items::{Enum, Shape, Tagging, Variant};
use super::super::types::{DefId, Ty};
use super::{At, By, Check, scale};
use crate::schema::{Kind, Slot};
use std::collections::BTreeSet;

impl<'a, 's> Check<'a, 's> {
    pub(super) fn enumeration(&mut self, id: DefId, of: &'s Enum, slot: &'a Slot, count: u64, at: &At) {
        let schema = self.schema;
        let (all, units) = objects(schema, slot);
        match &of.tagging {
            Tagging::Untagged => self.untagged(id, of, slot, count, at),
            Tagging::External => {
                if matches!(slot.kind, Kind::Text(_) | Kind::Keyword { .. }) {
                    if let Some(words) = words(schema, slot) {
                        self.units(id, of, &words, at);
                    } else {
                        self.found.unsure.insert(id);
                        self.not_checked(at, "there are too few or too many strings to tell them apart");
                    }
                    return;
                }
                if all.is_empty() && units.is_empty() {
                    return self.not_an_object(id, slot, at);
                }
                self.later_tagged(id, of, (all, units), count, at);
            }
            Tagging::Internal(_) | Tagging::Adjacent(..) => {
                if all.is_empty() || !units.is_empty() {
                    return self.not_an_object(id, slot, at);
                }
                self.later_tagged(id, of, (all, units), count, at);
            }
        }
    }

    /// Reads the objects of a position as a tagged enum later, and its strings as variants without content.
    pub(super) fn later_tagged(
        &mut self,
        id: DefId,
        of: &'s Enum,
        (all, units): (Vec<Object<'a>>, Vec<(&str, u64)>),
        count: u64,
        at: &At,
    ) {
        let objects: u64 = all.iter().map(|object| object.of.instances).sum();
        let every = objects + units.iter().map(|(_, count)| count).sum::<u64>();
        // Other positions may have the same union.
        let share = count as f64 / every.max(1) as f64;
        self.units(id, of, &units, &At { share, ..at.clone() });
        for object in all {
            let count = object.of.instances as f64 * share;
            self.later(object, By::Tagged(id), count, at);
        }
    }

    /// Reads strings as variants without content.
    pub(super) fn units(&mut self, id: DefId, of: &'s Enum, words: &[(&str, u64)], at: &At) {
        for (word, count) in words {
            match of.variants.iter().position(|variant| variant.has_tag(word) && variant.content.fields.is_empty()) {
                Some(index) => *self.found.variants.entry((id, index)).or_default() += scale(*count, at.share),
                None => self.unseen_tag(id, of, word, *count, at),
            }
        }
    }

    pub(super) fn unseen_tag(&mut self, id: DefId, of: &'s Enum, word: &str, count: u64, at: &At) {
        let other = of.variants.iter().position(|variant| variant.is_other || variant.is_untagged);
        if let Some(index) = other {
            *self.found.variants.entry((id, index)).or_default() += scale(count, at.share);
        } else if self.is_doubtful(at) {
            self.found.unsure.insert(id);
        } else {
            let what = format!("{word:?} is no variant of `{}`", self.types.defs[id].name);
            self.refuse(what, count, at, false);
        }
    }

    /// Reads objects as a tagged enum. With `claimed`, the enum is flattened.
    pub(super) fn tagged(
        &mut self,
        id: DefId,
        of: &'s Enum,
        object: &Object<'a>,
        at: &At,
        claimed: Option<&mut BTreeSet<&'a str>>,
    ) {
        let instances = object.of.instances;
        let share = at.share;
        let mut taken = BTreeSet::new();
        let claimed_keys = claimed.as_ref().map(|keys| (**keys).clone()).unwrap_or_default();
        match &of.tagging {
            Tagging::External => {
                // Without an external tag in the schema, each key is a variant.
                for (key, slot) in object.fields.iter().filter(|(key, _)| !claimed_keys.contains(key)) {
                    match of.variants.iter().position(|variant| variant.has_tag(key)) {
                        Some(index) => {
                            taken.insert(*key);
                            let at = At { path: at.step(key), item: of.variants[index].item.clone(), ..at.clone() };
                            self.variant(id, index, &of.variants[index], slot, scale(slot.count, share), &at);
                        }
                        None if claimed.is_none() => self.unseen_tag(id, of, key, slot.count, at),
                        None => {}
                    }
                }
            }
            Tagging::Internal(tag) | Tagging::Adjacent(tag, _) => {
                let Some(tags) = object.tags(self.schema, tag) else {
                    if claimed.is_none() && !object.fields.iter().any(|(key, _)| key == tag) && !at.lenient {
                        let at = At { path: at.step(tag), item: self.types.defs[id].name.clone(), ..at.clone() };
                        return self.refuse("the tag is missing", instances, &at, false);
                    }
                    self.found.unsure.insert(id);
                    return self.not_checked(at, format!("the values of `{tag}` are not told apart"));
                };
                taken.extend(object.fields.iter().map(|(key, _)| *key).find(|key| key == tag));
                taken.extend(object.tag.map(|(tag, _)| tag).filter(|key| key == tag));
                let seen: u64 = tags.iter().map(|(_, count)| count).sum();
                if seen < instances && claimed.is_none() && !at.lenient {
                    let at = At { path: at.step(tag), item: self.types.defs[id].name.clone(), ..at.clone() };
                    self.refuse("the tag is missing", instances - seen, &at, false);
                }
                let is_one = tags.len() == 1;
                if let Tagging::Adjacent(_, content) = &of.tagging
                    && !is_one
                    && let Some(&(key, slot)) = object.fields.iter().find(|(key, _)| key == content)
                {
                    taken.insert(key);
                    self.contents(id, of, &tags, slot, &At { path: at.step(content), ..at.clone() });
                    if let Some(claimed) = claimed {
                        claimed.extend(taken);
                    }
                    return;
                }
                for (value, count) in tags {
                    let Some(index) = of.variants.iter().position(|variant| variant.has_tag(value)) else {
                        self.unseen_tag(id, of, value, count, at);
                        continue;
                    };
                    let variant = &of.variants[index];
                    let part = count as f64 / instances.max(1) as f64;
                    let item = variant.item.clone();
                    let at = At { share: share * part, item, lenient: at.lenient || !is_one, ..at.clone() };
                    if let Tagging::Adjacent(_, content) = &of.tagging {
                        let found = object.fields.iter().find(|(key, _)| key == content);
                        if let Some((key, slot)) = found {
                            taken.insert(*key);
                            let at = At { path: at.step(content), ..at };
                            self.variant(id, index, variant, slot, scale(count, share), &at);
                        } else {
                            *self.found.variants.entry((id, index)).or_default() += scale(count, share);
                        }
                        continue;
                    }
                    *self.found.variants.entry((id, index)).or_default() += scale(count, share);
                    let mut keys: BTreeSet<&'a str> = claimed_keys.union(&taken).copied().collect();
                    self.internal(id, index, variant, object, &at, &mut keys, claimed.is_none());
                    taken.extend(keys);
                }
            }
            Tagging::Untagged => {
                taken.extend(object.fields.iter().map(|(key, _)| *key));
                self.found.unsure.insert(id);
                self.not_checked(at, "an untagged enum is flattened there");
            }
        }
        if let Some(claimed) = claimed {
            claimed.extend(taken);
        }
    }

    /// Reads the contents of several variants of an adjacently tagged enum, which the data does not tell apart: each JSON
    /// type as the first variant that takes it.
    fn contents(&mut self, id: DefId, of: &'s Enum, tags: &[(&str, u64)], slot: &'a Slot, at: &At) {
        let mut seen = Vec::new();
        for (tag, count) in tags {
            match of.variants.iter().position(|variant| variant.has_tag(tag)) {
                Some(index) => {
                    *self.found.variants.entry((id, index)).or_default() += scale(*count, at.share);
                    seen.push(index);
                }
                None => self.unseen_tag(id, of, tag, *count, at),
            }
        }
        let slots = match &slot.kind {
            Kind::Mixed { alternatives } => &alternatives[..],
            _ => std::slice::from_ref(slot),
        };
        for slot in slots {
            let parts = &self.types.defs[id].parts;
            let mut fitting = seen.iter().filter(|&&index| self.fits_variant(&of.variants[index], &parts[index], slot));
            let (first, is_only) = (fitting.next().copied(), fitting.next().is_none());
            let Some(index) = first.filter(|_| is_only) else {
                self.found.unsure.insert(id);
                self.not_checked(at, "the contents of the variants are not told apart");
                continue;
            };
            let variant = &of.variants[index];
            let at = At { item: variant.item.clone(), ..at.clone() };
            self.content(id, index, &variant.content, slot, scale(slot.count - slot.nulls, at.share), &at);
        }
    }

    /// Reads the objects with one value of an internal tag, whose content has the other keys.
    #[expect(clippy::too_many_arguments, reason = "the objects, and where they are")]
    pub(super) fn internal(
        &mut self,
        id: DefId,
        index: usize,
        variant: &'s Variant,
        object: &Object<'a>,
        at: &At,
        keys: &mut BTreeSet<&'a str>,
        is_whole: bool,
    ) {
        let at = &At { buffered: true, ..at.clone() };
        let parts = &self.types.defs[id].parts[index];
        let count = scale(object.of.instances, at.share);
        let (mut of, mut ty) = ((id, index, &variant.content), parts.first());
        if variant.is_opaque {
            return self.not_checked(at, "a function reads it");
        }
        let mut at = at.clone();
        // `Variant(Struct)`: through boxes to the struct.
        while !of.2.is_named {
            *self.found.seen.entry((of.0, of.1, 0)).or_default() += count;
            at.owner = Some((of.0, of.1, 0));
            let mut inner = ty;
            while let Some(Ty::Boxed(next, before)) = inner {
                let size = self.layouts.size(next) + before;
                self.own(count * size, count, &at);
                inner = Some(&**next);
            }
            match inner {
                Some(Ty::Named(next)) if !self.types.defs[*next].item.is_opaque => {
                    self.found.instances[*next] += count;
                    match &self.types.defs[*next].item.shape {
                        Shape::Struct(inner) => {
                            of = (*next, 0, inner);
                            ty = self.types.defs[*next].parts[0].first();
                            if inner.fields.is_empty() {
                                break;
                            }
                        }
                        Shape::Enum(inner) => return self.tagged(*next, inner, object, &at, Some(keys)),
                        Shape::Alias(_) => return,
                    }
                }
                Some(Ty::Map(map, value)) => {
                    let field = &variant.content.fields[0];
                    let of = Ty::Map(*map, value.clone());
                    return self.flat(&of, field, object, &at, keys);
                }
                None => break,
                Some(_) => return self.not_checked(&at, "the content is of another type"),
            }
        }
        let path = at.path.clone();
        self.fields(of.0, of.1, of.2, object, &At { path, ..at.clone() }, keys);
        if is_whole {
            let name = if of.0 == id { variant.item.clone() } else { self.types.defs[of.0].name.clone() };
            self.unclaimed(&name, of.2.denies_unknown, object, &at, keys);
        }
    }

    /// Reads the content of a variant.
    pub(super) fn variant(&mut self, id: DefId, index: usize, of: &'s Variant, slot: &'a Slot, count: u64, at: &At) {
        *self.found.variants.entry((id, index)).or_default() += count;
        if of.is_opaque {
            return self.not_checked(at, "a function reads it");
        }
        let takes_null = match &self.types.defs[id].parts[index][..] {
            [] => true,
            [only] if !of.content.is_named => self.takes_null(only),
            _ => false,
        };
        if slot.nulls > 0 && !takes_null {
            self.refuse("null", slot.nulls, at, false);
        }
        self.content(id, index, &of.content, slot, count, at);
    }

    pub(super) fn untagged(&mut self, id: DefId, of: &'s Enum, slot: &'a Slot, count: u64, at: &At) {
        let parts = &self.types.defs[id].parts;
        let fits = |(variant, parts): (&Variant, &Vec<Ty>)| self.fits_variant(variant, parts, slot);
        let Some(index) = of.variants.iter().zip(parts).position(fits) else {
            let what = format!("{} fits no variant of `{}`", name_of(&slot.kind), self.types.defs[id].name);
            return self.refuse(what, slot.count - slot.nulls, at, false);
        };
        let variant = &of.variants[index];
        let at = At { buffered: true, item: variant.item.clone(), ..at.clone() };
        self.variant(id, index, variant, slot, count, &at);
    }
}
