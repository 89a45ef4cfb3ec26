//! Structs: the fields and the keys that they claim.

use super::super::data::{Object, name_of, objects};
use super::super::items::{Field, Shape, Struct};
use super::super::types::{DefId, Ty};
use super::{At, By, Check, is_whole, lengths_of, scale};
use crate::schema::{Kind, Lengths, Slot, Text};
use std::collections::BTreeSet;

impl<'a, 's> Check<'a, 's> {
    pub(super) fn named(&mut self, id: DefId, slot: &'a Slot, count: u64, at: &At) {
        self.found.instances[id] += count;
        let (types, schema) = (self.types, self.schema);
        let def = &types.defs[id];
        if def.item.is_opaque {
            return self.not_checked(at, format!("`{}` has a `Deserialize` of its own", def.name));
        }
        match &def.item.shape {
            Shape::Struct(of) if of.is_transparent || !of.is_named => self.content(id, 0, of, slot, count, at),
            Shape::Struct(_) => {
                let (all, units) = objects(schema, slot);
                if all.is_empty() || !units.is_empty() {
                    return self.not_an_object(id, slot, at);
                }
                let instances: u64 = all.iter().map(|object| object.of.instances).sum();
                for object in all {
                    let part = object.of.instances as f64 / instances.max(1) as f64;
                    self.later(object, By::Fields(id, 0), count as f64 * part, at);
                }
            }
            Shape::Enum(of) => self.enumeration(id, of, slot, count, at),
            Shape::Alias(_) => {}
        }
    }

    pub(super) fn not_an_object(&mut self, id: DefId, slot: &Slot, at: &At) {
        let name = &self.types.defs[id].name;
        match slot.kind {
            Kind::Map(_) => {
                self.found.unsure.insert(id);
                self.not_checked(at, format!("the keys there are data, and `{name}` has fields"));
            }
            Kind::Any(_) => {
                self.found.unsure.insert(id);
                self.not_checked(at, "the values there have too many types");
            }
            _ => self.refuse(format!("{} for `{name}`", name_of(&slot.kind)), slot.count - slot.nulls, at, false),
        }
    }

    /// Reads values as a tuple struct, or as the content of a variant.
    pub(super) fn content(&mut self, id: DefId, part: usize, of: &'s Struct, slot: &'a Slot, count: u64, at: &At) {
        let parts = &self.types.defs[id].parts[part];
        let place =
            |index: usize| At { owner: Some((id, part, index)), item: of.fields[index].item.clone(), ..at.clone() };
        match &parts[..] {
            [] if !of.is_named => {}
            [only] if !of.is_named || of.is_transparent => {
                *self.found.seen.entry((id, part, 0)).or_default() += count;
                let at = place(0);
                if of.fields[0].is_opaque {
                    return self.not_checked(&at, "a function reads it");
                }
                // An `Option` around it has taken the nulls.
                self.some(only, slot, &at);
            }
            all if !of.is_named => {
                (0..all.len()).for_each(|index| *self.found.seen.entry((id, part, index)).or_default() += count);
                self.tuple(all, &slot.kind, count, &place(0));
            }
            _ => {
                let (all, _) = objects(self.schema, slot);
                if all.is_empty() {
                    return self.not_an_object(id, slot, at);
                }
                let instances: u64 = all.iter().map(|object| object.of.instances).sum();
                for object in all {
                    let share = object.of.instances as f64 / instances.max(1) as f64;
                    self.later(object, By::Fields(id, part), count as f64 * share, at);
                }
            }
        }
    }

    /// Reads the fields of a struct or variant, and claims their keys.
    pub(super) fn fields(
        &mut self,
        id: DefId,
        part: usize,
        of: &'s Struct,
        object: &Object<'a>,
        at: &At,
        claimed: &mut BTreeSet<&'a str>,
    ) {
        let parts = &self.types.defs[id].parts[part];
        let instances = object.of.instances;
        let path = self.path_of(object, at);
        let at = &At { path, ..at.clone() };
        let fields = || of.fields.iter().zip(parts).enumerate();
        if let Some((tag, _)) = object.tag.filter(|(tag, _)| of.tag.as_deref() == Some(*tag)) {
            claimed.insert(tag);
        }
        for (index, (field, ty)) in fields().filter(|(_, (field, _))| !field.is_flat && !field.is_skipped) {
            let has = |key: &str| field.key == key || field.aliases.iter().any(|alias| alias == key);
            let own = At {
                owner: Some((id, part, index)),
                item: field.item.clone(),
                path: at.step(&field.key),
                ..at.clone()
            };
            let seen = self.found.seen.entry((id, part, index)).or_default();
            if let Some((tag, value)) = object.tag.filter(|(tag, _)| has(tag)) {
                *seen += scale(instances, at.share);
                claimed.insert(tag);
                self.constant(ty, value, instances, &own);
                continue;
            }
            let mut count = 0;
            for (key, slot) in object.fields.iter().filter(|(key, _)| has(key)) {
                claimed.insert(key);
                count += slot.count;
                let nulls = if matches!(ty, Ty::Option(_)) { slot.nulls } else { 0 };
                *self.found.seen.entry((id, part, index)).or_default() += scale(slot.count - nulls, at.share);
                if field.is_opaque {
                    self.not_checked(&own, "a function reads it");
                } else {
                    self.value(ty, slot, &own);
                }
            }
            let is_required =
                !field.has_default && !matches!(ty, Ty::Option(_)) && !at.lenient && object.rest.is_none();
            if is_required && count < instances && (count == 0 || !self.is_doubtful(&own)) {
                self.refuse("the key is missing", instances - count, &own, true);
            }
        }
        for (index, (field, ty)) in fields().filter(|(_, (field, _))| field.is_flat && !field.is_skipped) {
            let own = At { owner: Some((id, part, index)), item: field.item.clone(), buffered: true, ..at.clone() };
            self.flat(ty, field, object, &own, claimed);
        }
    }

    /// Returns the path of the objects of a record; of a union's, the path to here.
    pub(super) fn path_of(&self, object: &Object<'_>, at: &At) -> String {
        let first = self.schema.records[object.record].paths.first();
        first.filter(|_| object.tag.is_none() && is_whole(at.share)).cloned().unwrap_or_else(|| at.path.clone())
    }

    /// Reads the tag's value as a field.
    pub(super) fn constant(&mut self, of: &Ty, value: &str, count: u64, at: &At) {
        match of {
            Ty::Option(inner) | Ty::Boxed(inner, _) => self.constant(inner, value, count, at),
            Ty::String | Ty::ThinStr | Ty::BoxStr(_) => {
                let text = Text { count, bytes: count * value.len() as u64, ..Text::default() };
                self.text(of, &text, at);
            }
            Ty::Named(id) => {
                self.found.instances[*id] += scale(count, at.share);
                if let Shape::Enum(of) = &self.types.defs[*id].item.shape
                    && !self.types.defs[*id].item.is_opaque
                {
                    self.units(*id, of, &[(value, count)], at);
                }
            }
            Ty::Value | Ty::Unknown(_) | Ty::Borrowed => {}
            _ => self.refuse(format!("a string for {}", self.wanted(of)), count, at, false),
        }
    }

    /// Reads a flattened field from the keys that no field has claimed.
    pub(super) fn flat(
        &mut self,
        of: &Ty,
        field: &'s Field,
        object: &Object<'a>,
        at: &At,
        claimed: &mut BTreeSet<&'a str>,
    ) {
        let count = scale(object.of.instances, at.share);
        match of {
            Ty::Option(inner) => {
                let at = At { lenient: true, ..at.clone() };
                self.flat(inner, field, object, &at, claimed);
            }
            Ty::Boxed(inner, before) => {
                let size = self.layouts.size(inner) + before;
                self.own(count * size, count, at);
                self.flat(inner, field, object, at, claimed);
            }
            Ty::Named(id) if !self.types.defs[*id].item.is_opaque && !field.is_opaque => {
                self.found.instances[*id] += count;
                match &self.types.defs[*id].item.shape {
                    Shape::Struct(of) => self.fields(*id, 0, of, object, at, claimed),
                    Shape::Enum(of) => self.tagged(*id, of, object, at, Some(claimed)),
                    Shape::Alias(_) => {}
                }
            }
            Ty::Map(map, value) => {
                let free: Vec<_> = object.fields.iter().filter(|(key, _)| !claimed.contains(key)).copied().collect();
                let entries: u64 = free.iter().map(|(_, slot)| slot.count).sum();
                let bytes: u64 = free.iter().map(|(key, slot)| slot.count * key.len() as u64).sum();
                let lengths = Lengths::spread(object.of.instances, entries, free.len() as u64);
                self.found.is_exact &= free.is_empty() && object.rest.is_none();
                let lengths = lengths_of(&lengths, at);
                self.map(*map, value, &lengths, (scale(entries, at.share), scale(bytes, at.share)), at);
                *self.found.seen.entry(at.owner.unwrap_or_default()).or_default() += scale(entries, at.share);
                for (key, slot) in free {
                    claimed.insert(key);
                    self.value(value, slot, &At { path: at.step(key), ..at.clone() });
                }
                claimed.extend(object.tag.map(|(tag, _)| tag));
            }
            _ => {
                claimed.extend(object.fields.iter().map(|(key, _)| *key));
                self.not_checked(at, "a flattened field of another type reads it");
            }
        }
    }

    /// Reports the keys that no field has claimed.
    pub(super) fn unclaimed(
        &mut self,
        name: &str,
        denies: bool,
        object: &Object<'a>,
        at: &At,
        claimed: &BTreeSet<&str>,
    ) {
        if at.lenient {
            return;
        }
        let at = &At { path: self.path_of(object, at), ..at.clone() };
        let tag = object.tag.map(|(tag, _)| (tag, object.of.instances));
        let keys = object.fields.iter().map(|(key, slot)| (*key, slot.count)).chain(tag);
        for (key, count) in keys.filter(|(key, _)| !claimed.contains(key)).collect::<Vec<_>>() {
            if count < object.of.instances && self.is_doubtful(&At { path: at.step(key), ..at.clone() }) {
                continue;
            }
            if denies {
                let at = At { item: name.to_owned(), path: at.step(key), ..at.clone() };
                self.refuse("the key is unknown", count, &at, false);
            } else {
                *self.found.lost.entry((name.to_owned(), at.step(key))).or_default() += scale(count, at.share);
            }
        }
    }
}
