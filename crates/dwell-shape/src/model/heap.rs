//! The heap memory of all documents in the types of a model.

use super::defs::{At, Part, Source};
use super::{Heap, Model, Owned, thin_lengths};
use crate::positions::PositionId;
use crate::schema::Lengths;
use crate::types::{Body, DefId, Layouts, Type};
use dwell_model::{Layout, blocks, table};
use std::collections::BTreeMap;

/// Returns the total capacity of vectors that serde fills from a buffer, and whether it is exact.
///
/// serde reserves the length in the buffer, up to 1 MiB. A longer vector grows from there by doubling.
fn buffered_capacity(lengths: &Lengths, size: u64) -> (u64, bool) {
    let reserved = (1u64 << 20).checked_div(size).unwrap_or(u64::MAX).max(1);
    if lengths.max <= reserved {
        return (lengths.total, true);
    }
    let grown = |length: u64| {
        let mut capacity = reserved;
        while capacity < length {
            capacity *= 2;
        }
        capacity - length
    };
    let (mut capacity, mut exact) = (lengths.total, true);
    for (power, &count) in (0u32..).zip(&lengths.by_power) {
        let most = 1u64 << power;
        if most > reserved && count > 0 {
            let is_last = power as usize + 1 == lengths.by_power.len();
            // The lengths of this class are not known, except for the longest.
            let length = if is_last { lengths.max } else { (most / 4 * 3).max(1) };
            exact &= is_last && count == 1;
            capacity += if length > reserved { grown(length) * count } else { 0 };
        }
    }
    (capacity, exact)
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a share is between 0 and 1")]
fn share_of(count: u64, share: f64) -> u64 {
    (count as f64 * share).round() as u64
}

/// Calls `f` with each struct and enum that a type stores inline, and their number.
pub(super) fn inline(ty: &Type, times: u64, f: &mut dyn FnMut(DefId, u64)) {
    match ty {
        Type::Named(id) => f(*id, times),
        Type::Option(inner) | Type::Open(inner) => inline(inner, times, f),
        Type::Array(inner, length) => inline(inner, times * length, f),
        Type::Tuple(fields) => fields.iter().for_each(|field| inline(field, times, f)),
        _ => {}
    }
}

impl<'s> Model<'_, 's> {
    /// Returns the memory of all documents in one vector without spare capacity, by owner.
    ///
    /// The sum equals the count of an allocator after `serde_json::from_slice` of each document.
    pub fn heap(&self) -> BTreeMap<At, Heap> {
        let mut layouts = Layouts::new(&self.bodies);
        let mut heap = BTreeMap::<At, Heap>::new();
        for (at, own) in &self.own {
            *heap.entry(*at).or_default() += self.owned(*at, own, &mut |ty| layouts.layout(ty));
        }
        heap
    }

    /// Returns the unused part of [`heap`](Self::heap): spare capacity of vectors, and empty buckets of hash tables.
    pub fn spare(&self) -> BTreeMap<At, u64> {
        let mut layouts = Layouts::new(&self.bodies);
        let mut spare = BTreeMap::<At, u64>::new();
        for (at, own) in &self.own {
            if let Owned::Vecs(lengths, element, _) | Owned::HashMaps(lengths, element) = own {
                let used = lengths.total * layouts.size(element);
                *spare.entry(*at).or_default() +=
                    self.owned(*at, own, &mut |ty| layouts.layout(ty)).bytes.saturating_sub(used);
            }
        }
        spare
    }

    /// Returns the sum of [`heap`](Self::heap).
    pub fn total(&self) -> Heap {
        let mut layouts = Layouts::new(&self.bodies);
        let mut total = Heap::default();
        for (at, own) in &self.own {
            total += self.owned(*at, own, &mut |ty| layouts.layout(ty));
        }
        total
    }

    pub(super) fn owned(&self, at: At, own: &Owned<'s>, layout: &mut dyn FnMut(&Type) -> Layout) -> Heap {
        let owned = |count: u64, bytes: u64| Heap { bytes, allocations: if bytes == 0 { 0 } else { count } };
        if at == At::Documents {
            return owned(1, self.positions.schema.documents * layout(&self.root).size);
        }
        match own {
            Owned::Text(text, thin) => {
                let lengths = if *thin { thin_lengths(text) } else { 0 };
                Heap { bytes: text.bytes + lengths, allocations: text.count - text.empty }
            }
            Owned::Known(heap) => *heap,
            Owned::Boxes(count, ty) => owned(*count, count * layout(ty).size),
            Owned::Vecs(lengths, ty, buffered) => {
                let size = layout(ty).size;
                let exact = share_of(buffered_capacity(lengths, size).0, *buffered);
                let pushed = share_of(lengths.pushed_capacity(blocks::least_capacity(size)), 1.0 - buffered);
                owned(lengths.count - lengths.empty, (exact + pushed) * size)
            }
            Owned::Slices(lengths, ty, is_thin) => {
                let (filled, element) = (lengths.count - lengths.empty, layout(ty));
                let header = if *is_thin { blocks::thin_header(element) } else { 0 };
                owned(filled, lengths.total * element.size + filled * header)
            }
            Owned::HashMaps(lengths, entry) => {
                let (buckets, filled) = (lengths.hash_buckets(), lengths.count - lengths.empty);
                owned(filled, table::tables(filled, buckets, layout(entry).size))
            }
        }
    }

    /// Returns the number of slots of each struct and enum, with the spare capacity of vectors and hash tables.
    pub fn slots(&self) -> Vec<u64> {
        let mut layouts = Layouts::new(&self.bodies);
        let mut slots = vec![0; self.defs.len()];
        let mut count = |ty: &Type, units: u64| inline(ty, 1, &mut |id, times| slots[id] += units * times);
        count(&self.root, self.positions.schema.documents);
        for (at, own) in &self.own {
            match own {
                _ if *at == At::Documents => {}
                Owned::Text(..) | Owned::Known(_) => {}
                Owned::Boxes(number, ty) => count(ty, *number),
                Owned::Vecs(lengths, ty, buffered) => {
                    let smallest = blocks::least_capacity(layouts.size(ty));
                    let pushed = share_of(lengths.pushed_capacity(smallest), 1.0 - buffered);
                    count(ty, share_of(lengths.total, *buffered) + pushed);
                }
                Owned::Slices(lengths, ty, _) => count(ty, lengths.total),
                Owned::HashMaps(lengths, entry) => count(entry, lengths.hash_buckets()),
            }
        }
        // Each definition passes its slots to the types inside it, outermost first. An enum passes to each variant only
        // the instances of that variant: unused bytes of a small variant belong to the enum.
        let schema = self.positions.schema;
        let each_inside = |id: DefId, f: &mut dyn FnMut(DefId, u64)| match (&self.bodies[id], self.defs[id].source) {
            (Body::Struct(fields), _) => fields
                .iter()
                .for_each(|field| inline(field, 1, &mut |id, times| (0..times).for_each(|_| f(id, u64::MAX)))),
            (Body::Enum(variants), source) => {
                for (index, field) in variants.iter().enumerate().filter_map(|(index, ty)| Some((index, ty.as_ref()?)))
                {
                    let most = match (source, self.defs[id].parts.get(index)) {
                        (Source::Union(union), _) => {
                            let variant = schema.unions[union].variants.get(index);
                            variant.map_or(0, |&(_, record)| schema.records[record].instances)
                        }
                        (_, Some(&Part::Position(position, _))) => self.positions.full(position),
                        _ => u64::MAX,
                    };
                    inline(field, 1, &mut |id, times| (0..times).for_each(|_| f(id, most)));
                }
            }
        };
        let mut containers = vec![0u32; self.defs.len()];
        for id in 0..self.defs.len() {
            each_inside(id, &mut |inner, _| containers[inner] += 1);
        }
        let mut ready: Vec<DefId> = (0..self.defs.len()).filter(|&id| containers[id] == 0).collect();
        while let Some(id) = ready.pop() {
            let own = slots[id];
            each_inside(id, &mut |inner, most| {
                slots[inner] += own.min(most);
                containers[inner] -= 1;
                if containers[inner] == 0 {
                    ready.push(inner);
                }
            });
        }
        slots
    }

    /// Returns the positions of vectors that may exceed 1 MiB, the most that serde reserves for a sequence from a
    /// buffer.
    pub fn grown(&self) -> Vec<PositionId> {
        let mut layouts = Layouts::new(&self.bodies);
        let grown = self.own.iter().filter_map(|(at, own)| match (at, own) {
            (At::Position(id), Owned::Vecs(lengths, ty, buffered)) if *buffered > 0.0 => {
                (!buffered_capacity(lengths, layouts.size(ty)).1
                    || (*buffered < 1.0 && lengths.max * layouts.size(ty) > 1 << 20))
                    .then_some(*id)
            }
            _ => None,
        });
        grown.collect()
    }

    /// Returns the positions of vectors that serde reads from a buffer in some places and not in others, if that changes
    /// their capacity. Which of the lengths are from a buffer is not known.
    pub fn partly_buffered(&self) -> Vec<PositionId> {
        let mut layouts = Layouts::new(&self.bodies);
        let differs = |lengths: &Lengths, size: u64| {
            lengths.pushed_capacity(blocks::least_capacity(size)) != buffered_capacity(lengths, size).0
        };
        let partly = self.own.iter().filter_map(|(at, own)| match (at, own) {
            // The shares are the result of an iteration, which may end just below 1.
            (At::Position(id), Owned::Vecs(lengths, ty, share)) if (1e-9..1.0 - 1e-9).contains(share) => {
                differs(lengths, layouts.size(ty)).then_some(*id)
            }
            _ => None,
        });
        partly.collect()
    }
}
