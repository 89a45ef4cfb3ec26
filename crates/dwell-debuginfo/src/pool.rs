//! The distinct types of all units, shared by all threads.

use super::budget::Budget;
use super::raw::{Handle, RawType};
use anyhow::Result;
use foldhash::fast::FixedState;
use std::collections::HashMap;
use std::hash::{BuildHasher, Hash, Hasher};
use std::sync::{Mutex, PoisonError};

const SHARDS: usize = 64;

/// The distinct types.
pub(super) struct Pool<'d> {
    shards: Vec<Mutex<Shard<'d>>>,
}

#[derive(Default)]
struct Shard<'d> {
    by_key: HashMap<u128, u32, FixedState>,
    types: Vec<(u128, RawType<'d>)>,
}

impl<'d> Pool<'d> {
    pub(super) fn new() -> Self {
        Self { shards: (0..SHARDS).map(|_| Mutex::default()).collect() }
    }

    /// Adds a type unless it is present. Of equal types it keeps the one with the lowest offset, so that the result
    /// does not depend on the threads.
    pub(super) fn add(
        &self,
        key: u128,
        offset: u64,
        budget: &Budget,
        make: impl FnOnce() -> RawType<'d>,
    ) -> Result<Handle> {
        let [.., top] = key.to_le_bytes();
        let shard = top >> 2;
        let mut types = self.shards[usize::from(shard)].lock().unwrap_or_else(PoisonError::into_inner);
        let index = if let Some(&index) = types.by_key.get(&key) {
            let kept = &mut types.types[index as usize].1;
            if offset < kept.offset {
                *kept = make();
            }
            index
        } else {
            let new = make();
            budget.charge(new.bytes() + 48)?;
            let index = u32::try_from(types.types.len()).ok().filter(|index| *index < 1 << 26);
            let Some(index) = index else { anyhow::bail!("there are more than 4 billion types") };
            types.types.push((key, new));
            types.by_key.insert(key, index);
            index
        };
        Ok(Handle(u32::from(shard) << 26 | index))
    }

    /// Returns the types sorted by path, and the new index for each handle.
    pub(super) fn into_ordered(self) -> (Vec<RawType<'d>>, Ranks) {
        let mut all = Vec::new();
        let mut starts = Vec::with_capacity(SHARDS);
        for shard in self.shards {
            let shard = shard.into_inner().unwrap_or_else(PoisonError::into_inner);
            starts.push(all.len());
            all.extend(shard.types.into_iter().map(|(key, raw)| (key, raw, 0)));
        }
        for (index, entry) in all.iter_mut().enumerate() {
            entry.2 = index;
        }
        // Of one path, declarations come last.
        let order = |entry: &(u128, RawType<'d>, usize)| (entry.1.is_declaration(), entry.0);
        all.sort_unstable_by(|a, b| a.1.path.cmp(&b.1.path).then_with(|| order(a).cmp(&order(b))));
        let mut ranks = vec![0; all.len()];
        let mut types: Vec<RawType<'d>> = Vec::with_capacity(all.len());
        for (_, raw, index) in all {
            // A unit that only declares a type refers to the description of another unit.
            let is_complete = |other: &&RawType<'_>| other.path == raw.path && !other.is_declaration();
            let of_path = types.partition_point(|other| other.path < raw.path);
            let complete = types.get(of_path).filter(|_| raw.is_declaration()).filter(is_complete).map(|_| of_path);
            let rank = complete.unwrap_or(types.len());
            ranks[index] = u32::try_from(rank).unwrap_or(u32::MAX);
            if complete.is_none() {
                types.push(raw);
            }
        }
        (types, Ranks { starts, ranks })
    }
}

/// The new index of each type after [`Pool::into_ordered`].
#[derive(Debug)]
pub(super) struct Ranks {
    starts: Vec<usize>,
    ranks: Vec<u32>,
}

impl Ranks {
    pub(super) fn get(&self, handle: Handle) -> u32 {
        self.ranks[self.starts[(handle.0 >> 26) as usize] + (handle.0 & ((1 << 26) - 1)) as usize]
    }
}

/// Returns the hash that identifies equal descriptions of a type.
pub(super) fn key(raw: &RawType<'_>) -> u128 {
    let half = |seed| {
        let mut hasher = FixedState::with_seed(seed).build_hasher();
        (&raw.path, raw.kind, raw.size, raw.align, raw.tag.map(|tag| tag.0)).hash(&mut hasher);
        for field in &raw.fields {
            (field.name, field.offset).hash(&mut hasher);
        }
        for variant in &raw.variants {
            (variant.name, &variant.discriminants, variant.source.as_ref().map(|source| source.1)).hash(&mut hasher);
            for field in &variant.fields {
                (field.name, field.offset).hash(&mut hasher);
            }
        }
        hasher.finish()
    };
    u128::from(half(1)) << 64 | u128::from(half(2))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::raw::RawKind;

    fn raw(kind: RawKind, size: u64, unit: u32) -> RawType<'static> {
        RawType {
            path: "tokio::Cell<T>".into(),
            kind,
            size,
            align: None,
            fields: Vec::new(),
            variants: Vec::new(),
            tag: None,
            params: Vec::new(),
            target: None,
            is_public: false,
            unit,
            offset: unit.into(),
        }
    }

    #[test]
    fn declarations_are_the_type_of_another_unit() {
        let budget = Budget::new(1 << 20);
        let pool = Pool::new();
        let add = |raw: RawType<'static>| pool.add(key(&raw), raw.offset, &budget, || raw).unwrap();
        let declared = add(raw(RawKind::Opaque, 0, 0));
        let complete = add(raw(RawKind::Struct, 1464, 1));
        let (types, ranks) = pool.into_ordered();
        assert_eq!(types.iter().map(|raw| raw.size).collect::<Vec<_>>(), [1464]);
        assert_eq!((ranks.get(declared), ranks.get(complete)), (0, 0));
    }
}
