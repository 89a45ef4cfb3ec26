//! The blocks of containers that hold boxes of a trait object, and what an `N` of `SmallBox<dyn Trait, N>` makes of them.
//!
//! A container that allocates several elements in one block grows by all of them. If that takes the block over the
//! largest size for which glibc's `malloc` has a cache per thread, each block costs several times as much.

use dwell_debuginfo::{Field, Kind, Program, TypeId};
use serde::{Deserialize, Serialize};
use std::collections::HashMap;

/// The largest block that glibc keeps for a thread when it is freed.
const CACHED: u64 = 1032;

/// The blocks of several elements, with the container that a user knows.
const BLOCKS: [(&str, &str); 8] = [
    ("std::sync::mpmc::list::Block", "std::sync::mpsc"),
    ("crossbeam_channel::flavors::list::Block", "crossbeam_channel"),
    ("crossbeam_queue::seg_queue::Block", "SegQueue"),
    ("crossbeam_deque::deque::Block", "Injector"),
    ("tokio::sync::mpsc::block::Block", "tokio::sync::mpsc"),
    ("concurrent_queue::unbounded::Block", "concurrent_queue"),
    ("alloc::collections::btree::node::LeafNode", "BTreeMap"),
    ("alloc::collections::btree::node::InternalNode", "BTreeMap (inner)"),
];

/// A container whose blocks the suggested `N` makes too large for the allocator's cache.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Block {
    /// The container: `std::sync::mpsc`.
    pub container: String,
    /// The bytes of a block now, with `Box`.
    pub bytes: u64,
    /// The bytes with the suggested `N`.
    pub bytes_with_n: u64,
    /// The largest `N` whose block is in the cache. `None`: there is none.
    pub smaller_n: Option<u64>,
    /// The bytes with it.
    pub smaller_bytes: Option<u64>,
}

impl Block {
    /// Returns the sentence for people.
    pub(super) fn text(&self, n: u64) -> String {
        let count = dwell_output::units::count;
        let smaller = match (self.smaller_n, self.smaller_bytes) {
            (Some(n), Some(bytes)) => format!("; with N = {n} it has {}", count(bytes)),
            _ => format!("; with `Box` it has {}", count(self.bytes)),
        };
        format!(
            "With N = {n} a block of `{}` has {} bytes, more than the {} up to which glibc keeps freed blocks for a \
             thread{smaller}.",
            self.container,
            count(self.bytes_with_n),
            count(CACHED)
        )
    }
}

/// Returns the blocks that `SmallBox<_, n>` instead of these boxes takes out of the cache, the largest first.
pub(super) fn blocks(program: &Program, boxes: &[TypeId], n: u64) -> Vec<Block> {
    let mut found: Vec<Block> = Vec::new();
    for (id, ty) in program.types() {
        let head = ty.path.split('<').next().unwrap_or_default();
        let Some((_, container)) = BLOCKS.iter().find(|(path, _)| *path == head) else { continue };
        let with = |n: u64| ty.size.saturating_add(Growth::new(program, boxes, n).growth(id, 0));
        let bytes_with_n = with(n);
        if ty.size > CACHED || bytes_with_n <= CACHED {
            continue;
        }
        let smaller_n = (1..n).rev().find(|n| with(*n) <= CACHED);
        found.push(Block {
            container: (*container).to_owned(),
            bytes: ty.size,
            bytes_with_n,
            smaller_n,
            smaller_bytes: smaller_n.map(with),
        });
    }
    found.sort_by(|a, b| b.bytes_with_n.cmp(&a.bytes_with_n).then_with(|| a.container.cmp(&b.container)));
    found.dedup_by(|a, b| a.container == b.container);
    found
}

/// The deepest nesting of types that is followed. This bounds the recursion on damaged debug info.
const DEEPEST: u32 = 64;

/// The bytes that types grow by if each of some boxes grows.
struct Growth<'a> {
    program: &'a Program,
    boxes: &'a [TypeId],
    each: u64,
    known: HashMap<TypeId, u64>,
}

impl<'a> Growth<'a> {
    fn new(program: &'a Program, boxes: &'a [TypeId], n: u64) -> Self {
        // `SmallBox<dyn Trait, N>` has N words and the vtable, `Box<dyn Trait>` two words.
        let each = n.saturating_sub(1).saturating_mul(program.pointer_size);
        Self { program, boxes, each, known: HashMap::new() }
    }

    fn growth(&mut self, id: TypeId, depth: u32) -> u64 {
        if self.boxes.contains(&id) {
            return self.each;
        }
        if depth == DEEPEST {
            return 0;
        }
        if let Some(&known) = self.known.get(&id) {
            return known;
        }
        let ty = self.program.get(id);
        let found = match &ty.kind {
            Kind::Struct(fields) | Kind::Closure(fields) => self.sum(fields, depth),
            Kind::Union(fields) => fields.iter().map(|field| self.growth(field.ty, depth + 1)).max().unwrap_or(0),
            Kind::Enum(def) => {
                let end = |field: &Field| field.offset.saturating_add(self.program.size_of(field.ty));
                let ends: Vec<u64> =
                    def.variants.iter().map(|variant| variant.fields.iter().map(end).max().unwrap_or(0)).collect();
                let grown = def.variants.iter().zip(ends);
                let grown = grown.map(|(variant, end)| end.saturating_add(self.sum(&variant.fields, depth)));
                grown.max().unwrap_or(0).saturating_sub(ty.size)
            }
            Kind::Array { element, count } => self.growth(*element, depth + 1).saturating_mul(*count),
            _ => 0,
        };
        self.known.insert(id, found);
        found
    }

    fn sum(&mut self, fields: &[Field], depth: u32) -> u64 {
        fields.iter().map(|field| self.growth(field.ty, depth + 1)).fold(0, u64::saturating_add)
    }
}
