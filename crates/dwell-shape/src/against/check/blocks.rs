//! The heap blocks of values.

use super::super::data::{Object, objects};
use super::super::types::{Map, Seq, Ty};
use super::{At, By, Check, is_whole, lengths_of, scale};
use crate::schema::{Kind, Lengths, Slot, Text};
use dwell_model::{blocks, table};

impl<'a> Check<'a, '_> {
    pub(super) fn text(&mut self, of: &Ty, text: &Text, at: &At) {
        let filled = scale(text.count - text.empty, at.share);
        let bytes = scale(text.bytes, at.share);
        match of {
            Ty::ThinStr => {
                self.own(bytes + blocks::thin_texts(filled, scale(text.long, at.share)), filled, at);
            }
            // A shared text has its counters even if it is empty.
            Ty::BoxStr(before) if *before > 0 => {
                let count = scale(text.count, at.share);
                self.own(bytes + before * count, count, at);
            }
            _ => self.own(bytes, filled, at),
        }
    }

    pub(super) fn seq(&mut self, seq: Seq, element: &Ty, lengths: &Lengths, at: &At) {
        let layout = self.layouts.of(element);
        let (size, filled) = (layout.size, lengths.count - lengths.empty);
        match seq {
            Seq::Vec | Seq::VecDeque => {
                let capacity =
                    if at.buffered { lengths.total } else { lengths.pushed_capacity(blocks::least_capacity(size)) };
                self.own(capacity * size, filled, at);
            }
            Seq::BoxSlice => self.own(lengths.total * size, filled, at),
            Seq::ThinSlice => self.own(lengths.total * size + filled * blocks::thin_header(layout), filled, at),
            Seq::HashSet => self.own(table::tables(filled, lengths.hash_buckets(), size), filled, at),
            Seq::BTreeSet => {
                self.found.is_exact = false;
                self.own(lengths.total * size * 3 / 2, filled, at);
            }
        }
    }

    /// Adds the blocks of maps with these numbers of entries; `keys` are the number and the bytes of all keys.
    pub(super) fn map(&mut self, map: Map, value: &Ty, lengths: &Lengths, (count, bytes): (u64, u64), at: &At) {
        let filled = lengths.count - lengths.empty;
        let (key, of) = (self.layouts.of(&Ty::String), self.layouts.of(value));
        let entry = blocks::entry(key, of).size;
        match map {
            Map::Hash => self.own(table::tables(filled, lengths.hash_buckets(), entry), filled, at),
            Map::Sorted => self.own(lengths.total * entry + filled * 8, filled, at),
            Map::Index => {
                self.found.is_exact = false;
                let entries = lengths.pushed_capacity(4) * (entry + 8);
                self.own(entries + table::tables(filled, lengths.hash_buckets(), 8), 2 * filled, at);
            }
            Map::BTree | Map::Json => {
                let leaf = blocks::leaf(key, of);
                let many: u64 = lengths.by_power.iter().skip(4).sum();
                self.found.is_exact &= lengths.max <= 11;
                // Each further leaf holds about eight entries.
                let more = lengths.total.saturating_sub(8 * (filled - many.min(filled))) / 8;
                let leaves = filled + if lengths.max > 11 { more.min(lengths.total / 8) } else { 0 };
                self.own(leaves * leaf, leaves, at);
            }
        }
        self.own(bytes, count, at);
    }

    pub(super) fn free(&mut self, slot: &'a Slot, at: &At) {
        let share = at.share;
        let count = scale(slot.count - slot.nulls, share);
        match &slot.kind {
            Kind::Text(text) | Kind::Keyword { text, .. } => {
                self.found.free.texts += scale(text.count - text.empty, share);
                self.found.free.text_bytes += scale(text.bytes, share);
            }
            Kind::Seq(data) => {
                let lengths = lengths_of(&data.lengths, at);
                self.found.free.arrays.merge(&lengths);
                self.free(&data.element, at);
            }
            Kind::Tuple { positions } => {
                self.found.free.arrays.add_many(positions.len() as u64, count);
                for slot in positions {
                    self.free(slot, at);
                }
            }
            Kind::Map(data) => {
                let lengths = lengths_of(&data.lengths, at);
                self.found.free.objects.merge(&lengths);
                self.found.free.key_bytes += scale(data.key.bytes, share);
                self.free(&data.value, at);
            }
            Kind::Mixed { alternatives } => {
                for slot in alternatives {
                    self.free(slot, at);
                }
            }
            Kind::Any(free) if is_whole(share) => self.found.free.merge(free),
            Kind::Any(_) => self.found.is_exact = false,
            Kind::Record { .. } | Kind::Union { .. } => {
                let (all, units) = objects(self.schema, slot);
                for (word, count) in units {
                    self.found.free.texts += scale(count, share);
                    self.found.free.text_bytes += scale(count, share) * word.len() as u64;
                }
                let instances: u64 = all.iter().map(|object| object.of.instances).sum();
                for object in all {
                    let part = object.of.instances as f64 / instances.max(1) as f64;
                    self.later(object, By::Value, count as f64 * part, at);
                }
            }
            Kind::Never | Kind::Bool { .. } | Kind::Integer { .. } | Kind::Float { .. } => {}
        }
    }

    pub(super) fn free_object(&mut self, object: &Object<'a>, at: &At) {
        let lengths = lengths_of(&object.lengths(), at);
        self.found.is_exact &= lengths.max <= 11 && (!object.of.key_sets.is_empty() || object.fields.is_empty());
        self.found.free.objects.merge(&lengths);
        if let Some((tag, value)) = object.tag {
            let count = scale(object.of.instances, at.share);
            self.found.free.key_bytes += count * tag.len() as u64;
            self.found.free.text_bytes += count * value.len() as u64;
            self.found.free.texts += if value.is_empty() { 0 } else { count };
        }
        for (key, slot) in object.fields.clone() {
            self.found.free.key_bytes += scale(slot.count, at.share) * key.len() as u64;
            self.free(slot, at);
        }
    }
}
