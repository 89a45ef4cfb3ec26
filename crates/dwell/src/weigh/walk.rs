//! The walk over a value, and its counters.

use super::seen::Seen;
use super::tally::{Counter, Cursor, Tally, whole};
use super::types::{opaque_type_of, shared_type_of};
use super::{Weigh, Weight};
use crate::weigh::malloc::Model;
use core::convert::identity;
use core::mem;
use core::ops::Deref;
use std_alloc::boxed::Box;
use std_alloc::rc::Rc;
use std_alloc::sync::Arc;
use std_alloc::vec::Vec;

/// The number of nested pointers that the walk follows by recursion. It defers deeper ones, which bounds the stack.
const DEEPEST: i32 = 64;
/// The largest number of nested guards. The walk counts deeper values as opaque, unless an `Rc` or `Arc` leads to them.
const MOST_GUARDS: u32 = 256;
/// The length in bytes from which on a `ThinStr` needs a longer header.
const LONG_TEXT: usize = 255;
#[cfg(feature = "advice")]
const _: () = assert!(LONG_TEXT == dwell_model::LONG_TEXT, "the model counts the same texts as long");

/// A walk over a value, to which implementations of [`Weigh`] report.
///
/// The walk follows a reference of lifetime `'a` at once, or defers it, so that a long list needs no deep stack. All
/// values outlive `'v`. With `TREE` the walk counts by type and field, without it only the total. [`Kind`](super::Kind)
/// defines the part numbers.
pub struct Walk<'a, 'v, const TREE: bool> {
    core: Core<'v, TREE>,
    /// The deferred pointers, which the walk follows later.
    deferred: Vec<(Cursor, Deferred<'a, 'v, TREE>)>,
    /// The number of pointers that the walk may still follow by recursion before it defers.
    depth_left: i32,
    guards: u32,
}

/// The part of a walk that outlives the guard of a cell.
#[derive(Default)]
pub(super) struct Core<'v, const TREE: bool> {
    /// The heap bytes of the total. The field is not adjacent to the count of blocks: LLVM would merge the two adjacent
    /// additions into one on a vector register, which waits for both earlier stores.
    heap: u64,
    /// The number of times that `heap` has wrapped. A saturating sum would take more instructions for each block.
    wraps: u64,
    weight: Weight,
    /// The saturating sum of the weights that functions in `#[weigh(with = "..")]` return, and of blocks that are counted
    /// together.
    custom: Weight,
    model: Model,
    /// Whether a tree also counts the bytes after an allocator's rounding, or the contents of strings.
    detailed: bool,
    seen: Seen,
    tally: Tally,
    /// Shared pointers found behind a guard. The walk follows them after it has released the guard.
    owned: Vec<(Cursor, Box<dyn Handle<'v, TREE> + 'v>)>,
}

/// A deferred pointer.
enum Deferred<'a, 'v, const TREE: bool> {
    /// A pointer that implements `Weigh`.
    Pointer(&'a (dyn Resume<'a, 'v, TREE> + 'a)),
    /// The target of a pointer that does not implement `Weigh`.
    Target(Box<dyn FnOnce(&mut Walk<'a, 'v, TREE>) + 'a>),
}

/// A pointer that the walk can follow later.
trait Resume<'a, 'v, const TREE: bool> {
    fn resume(&'a self, walk: &mut Walk<'a, 'v, TREE>);
}

impl<'a, 'v, T: Weigh + 'v, const TREE: bool> Resume<'a, 'v, TREE> for T {
    fn resume(&'a self, walk: &mut Walk<'a, 'v, TREE>) {
        self.weigh(walk);
    }
}

/// A clone of a shared pointer, which the walk can follow later.
pub(super) trait Handle<'v, const TREE: bool> {
    fn resume(&self, core: Core<'v, TREE>, cursor: Cursor) -> Core<'v, TREE>;
}

macro_rules! handle {
    ($($(#[$attribute:meta])* [$($generics:tt)*] $pointer:ty;)*) => {$(
        $(#[$attribute])*
        impl<'v, T: Weigh + ?Sized + 'v, $($generics)* const TREE: bool> Handle<'v, TREE> for $pointer {
            fn resume(&self, core: Core<'v, TREE>, cursor: Cursor) -> Core<'v, TREE> {
                let mut walk = Walk { core, deferred: Vec::new(), depth_left: DEEPEST, guards: 0 };
                walk.core.tally.cursor = cursor;
                self.weigh(&mut walk);
                walk.finish_deferred(DEEPEST);
                walk.core
            }
        }
    )*};
}

handle! {
    [] Rc<T>;
    [] Arc<T>;
    #[cfg(all(feature = "slab", feature = "std"))]
    [] crate::slab::PoolRc<T>;
    #[cfg(all(feature = "slab", feature = "std"))]
    [] crate::slab::PoolArc<T>;
}

/// Walks over a value and everything it owns, and returns the total.
pub(super) fn total<T: Weigh + ?Sized>(value: &T, model: Model) -> Weight {
    if model != Model::Requested {
        return counters(value, model, false).0;
    }
    let core = run::<T, false>(value, model, false);
    let Weight { heap, allocations, .. } = core.custom;
    Weight {
        heap: if core.wraps == 0 { whole(core.heap.saturating_add(heap)) } else { u64::MAX },
        allocations: whole(core.weight.allocations.saturating_add(allocations)),
        ..core.weight
    }
}

/// Walks over a value and everything it owns, and counts by type and field.
pub(super) fn counters<T: Weigh + ?Sized>(value: &T, model: Model, texts: bool) -> (Weight, Vec<Counter>) {
    let core = run::<T, true>(value, model, texts);
    let counters = core.tally.counters();
    let mut weight = core.weight;
    weight.heap = whole(counters.iter().fold(0, |sum, counter| counter.taken.saturating_add(sum)));
    weight.allocations = whole(counters.iter().fold(0, |sum, counter| counter.blocks.saturating_add(sum)));
    (weight, counters)
}

fn run<'v, T: Weigh + ?Sized + 'v, const TREE: bool>(value: &T, model: Model, texts: bool) -> Core<'v, TREE> {
    let mut core = Core { model, detailed: texts || model != Model::Requested, ..Core::default() };
    core.weight.inline = size_of_val(value) as u64;
    if TREE {
        core.tally = Tally::new(T::TYPE);
        core.tally.texts = texts.then(Vec::new);
    }
    let mut walk = Walk { core, deferred: Vec::new(), depth_left: DEEPEST, guards: 0 };
    if !(T::REACH.is_skipped(TREE) || TREE && value.is_vacant()) {
        if TREE {
            walk.core.tally.enter_root();
        }
        value.weigh(&mut walk);
        walk.finish_deferred(DEEPEST);
    } else if !T::REACH.is_skipped(TREE) {
        walk.vacant::<T>();
    }
    let mut core = walk.core;
    while let Some((cursor, handle)) = core.owned.pop() {
        core = handle.resume(core, cursor);
    }
    core
}

impl<'a, 'v, const TREE: bool> Walk<'a, 'v, TREE> {
    /// Follows part `index` of a struct or of an enum's variant.
    #[expect(clippy::inline_always, reason = "each field of a mostly empty struct should cost one test")]
    #[inline(always)]
    pub fn field<T: Weigh + ?Sized + 'v>(&mut self, index: usize, value: &'a T) {
        if !(const { T::REACH.is_skipped(TREE) } || TREE && value.is_vacant()) {
            if TREE {
                self.follow(index, value);
            } else {
                value.weigh(self);
            }
        } else if TREE && const { T::VACANT_MAPS != 0 && !T::REACH.is_skipped(TREE) } {
            self.vacant::<T>();
        }
    }

    #[inline]
    fn follow<T: Weigh + ?Sized + 'v>(&mut self, index: usize, value: &'a T) {
        let outer = self.core.tally.enter(index, const { T::TYPE });
        value.weigh(self);
        self.core.tally.cursor = outer;
    }

    /// Reports the contents of a string. Only a walk of [`tree_with_texts`](super::tree_with_texts) reads them.
    #[inline]
    pub fn text(&mut self, text: &[u8]) {
        if TREE && self.core.detailed {
            self.core.tally.read(text);
        }
    }

    /// Counts the block of a string with a capacity of `capacity` bytes, and reports its contents.
    #[inline]
    pub(super) fn text_block(&mut self, text: &[u8], capacity: usize) {
        // One comparison finds both empty strings and long ones.
        if TREE && text.len().wrapping_sub(1) >= LONG_TEXT - 1 {
            self.odd_text(text.len());
        }
        if TREE && self.core.detailed {
            self.text_in_detail(text, capacity);
        } else {
            self.count(capacity, capacity != 0, (capacity - text.len()) as u64);
        }
    }

    #[cold]
    #[inline(never)]
    fn odd_text(&mut self, len: usize) {
        let odd = self.core.tally.odd();
        if len == 0 {
            odd.hollow += 1;
        } else {
            odd.long += 1;
        }
    }

    /// Counts the current value as the owner of a block without a used byte.
    #[inline]
    pub(super) fn hollow(&mut self) {
        if TREE {
            self.core.tally.odd().hollow += 1;
        }
    }

    /// Counts the current struct as equal to the default of its type.
    #[doc(hidden)]
    #[inline]
    pub fn default_value(&mut self) {
        if TREE {
            self.core.tally.odd().defaults += 1;
        }
    }

    #[cold]
    #[inline(never)]
    fn text_in_detail(&mut self, text: &[u8], capacity: usize) {
        self.block(capacity, 1, capacity - text.len());
        self.core.tally.read(text);
    }

    /// Counts the block of a pointer whose target owns nothing.
    #[inline]
    pub(super) fn last_block<T: Weigh + ?Sized + 'v>(&mut self, value: &'a T) {
        if TREE && const { size_of::<&T>() != size_of::<usize>() } && size_of_val(value) >= LONG_TEXT {
            self.odd_text(size_of_val(value));
        }
        if TREE && self.core.detailed {
            self.last_in_detail(value);
        } else {
            self.count(size_of_val(value), size_of_val(value) != 0, 0);
        }
    }

    #[cold]
    #[inline(never)]
    fn last_in_detail<T: Weigh + ?Sized + 'v>(&mut self, value: &'a T) {
        self.block(size_of_val(value), align_of_val(value), 0);
        // A string reports its contents.
        value.weigh(self);
    }

    /// Follows the fields of the variant `index` of an enum by calling `fields`.
    #[inline]
    pub fn variant(&mut self, index: usize, fields: impl FnOnce(&mut Self)) {
        if TREE {
            let outer = self.core.tally.enter_variant(index);
            fields(self);
            self.core.tally.cursor = outer;
        } else {
            fields(self);
        }
    }

    /// Follows values of part `index` that are stored inline.
    #[inline]
    pub fn inline<T: Weigh + 'v>(&mut self, index: usize, values: &'a [T]) {
        if const { T::REACH.is_skipped(TREE) } {
            return;
        }
        let inner = if TREE { self.core.tally.inline(index, const { T::TYPE }) } else { Cursor::default() };
        self.each(index, inner, values);
    }

    /// Counts a block that the value owns: `size` bytes aligned to `align`, of which `spare` bytes are unused.
    #[inline]
    pub fn block(&mut self, size: usize, align: usize, spare: usize) {
        if TREE && self.core.detailed {
            self.blocks_in_detail(size, align, usize::from(size != 0), spare as u64);
        } else {
            // A size of zero means that there is no block. The conversion from `bool` needs no branch.
            self.count(size, size != 0, spare as u64);
        }
    }

    /// Counts `count` blocks of the same size and alignment with `spare` unused bytes in all of them.
    #[inline]
    pub fn blocks(&mut self, size: usize, align: usize, count: usize, spare: u64) {
        if count == 0 {
            return;
        }
        if TREE && self.core.detailed {
            self.blocks_in_detail(size, align, count, spare);
        } else {
            self.count_many(size.saturating_mul(count), count as u64, spare);
        }
    }

    /// Counts one block, or none if `is_one` is `false`.
    #[inline]
    fn count(&mut self, requested: usize, is_one: bool, spare: u64) {
        let requested = requested as u64;
        if TREE {
            self.core.tally.block(requested, is_one, spare);
        } else {
            // Real blocks fit in the address space. The sizes that a wrong implementation reports need not.
            let (heap, wraps) = self.core.heap.overflowing_add(requested);
            self.core.heap = heap;
            self.core.wraps += u64::from(wraps);
            self.core.weight.allocations += u64::from(is_one);
        }
    }

    /// Counts blocks by numbers of any size. The sums saturate.
    #[inline]
    fn count_many(&mut self, requested: usize, blocks: u64, spare: u64) {
        let requested = requested as u64;
        if TREE {
            self.core.tally.blocks(requested, blocks, spare);
        } else {
            let custom = &mut self.core.custom;
            custom.heap = custom.heap.saturating_add(requested);
            custom.allocations = custom.allocations.saturating_add(blocks);
        }
    }

    /// Counts blocks, and the bytes that the model's allocator adds by rounding.
    #[cold]
    #[inline(never)]
    fn blocks_in_detail(&mut self, size: usize, align: usize, count: usize, spare: u64) {
        self.count_many(size.saturating_mul(count), count as u64, spare);
        if size != 0 {
            let size = size as u64;
            let beyond = self.core.model.bytes(size, align as u64).saturating_sub(size).saturating_mul(count as u64);
            self.core.tally.add_beyond(beyond);
        }
    }

    /// Counts slots for part `index` in the blocks of the value: `slots`, of which `used` hold a `T`.
    ///
    /// Follow the values with [`elements`](Self::elements).
    #[inline]
    pub fn slots<T: Weigh + ?Sized + 'v>(&mut self, index: usize, slots: usize, used: usize) {
        if TREE {
            let free = slots.saturating_sub(used);
            self.core.tally.slots(index, const { T::TYPE }, used as u64, free as u64);
        }
    }

    /// Follows the values in the slots of part `index`.
    #[inline]
    pub fn elements<T: Weigh + 'v>(&mut self, index: usize, values: impl IntoIterator<Item = &'a T>) {
        self.depth_left -= 1;
        self.elements_here(index, values);
        self.depth_left += 1;
    }

    #[inline]
    pub(super) fn elements_here<T: Weigh + 'v>(&mut self, index: usize, values: impl IntoIterator<Item = &'a T>) {
        if const { T::REACH.is_skipped(TREE) } {
            return;
        }
        let inner = if TREE { self.core.tally.on_heap(index, const { T::TYPE }) } else { Cursor::default() };
        self.each(index, inner, values);
    }

    /// Follows the values of part `index`, whose node is `inner`.
    #[inline]
    fn each<T: Weigh + 'v>(&mut self, index: usize, inner: Cursor, values: impl IntoIterator<Item = &'a T>) {
        let outer = mem::replace(&mut self.core.tally.cursor, inner);
        let mut entered = 0;
        values.into_iter().for_each(|value| {
            if TREE && value.is_vacant() {
                self.vacant::<T>();
            } else {
                entered += 1;
                value.weigh(self);
            }
        });
        if TREE {
            self.core.tally.cursor = outer;
            self.core.tally.count(index, entered);
        }
    }
}

// Maps, the targets of pointers, and what is not measured.
impl<'a, 'v, const TREE: bool> Walk<'a, 'v, TREE> {
    /// Follows keys and values, parts 0 and 1 of a map.
    #[inline]
    pub fn entries<K: Weigh + 'v, V: Weigh + 'v>(&mut self, entries: impl IntoIterator<Item = (&'a K, &'a V)>) {
        self.depth_left -= 1;
        self.entries_here(entries);
        self.depth_left += 1;
    }

    #[inline]
    pub(super) fn entries_here<K: Weigh + 'v, V: Weigh + 'v>(
        &mut self,
        entries: impl IntoIterator<Item = (&'a K, &'a V)>,
    ) {
        let (no_key, no_value) = const { (K::REACH.is_skipped(TREE), V::REACH.is_skipped(TREE)) };
        if no_key && no_value {
            entries.into_iter().for_each(drop);
            return;
        }
        let outer = self.core.tally.cursor;
        let mut inner = |index, ty, skipped: bool| {
            if TREE && !skipped { self.core.tally.on_heap(index, ty) } else { Cursor::default() }
        };
        let (key, value) = (inner(0, const { K::TYPE }, no_key), inner(1, const { V::TYPE }, no_value));
        let (mut keys, mut values) = (0, 0);
        entries.into_iter().for_each(|(k, v)| {
            self.entered(k, key, &mut keys);
            self.entered(v, value, &mut values);
        });
        if TREE {
            self.core.tally.cursor = outer;
            if !no_key {
                self.core.tally.count(0, keys);
            }
            if !no_value {
                self.core.tally.count(1, values);
            }
        }
    }

    /// Follows `len` entries as [`entries_here`](Self::entries_here) does, and prefetches the targets of four values
    /// before it follows them. The walk then waits for memory once for four values. It does not prefetch keys: most are
    /// strings, of which it reads only the length.
    #[inline]
    pub(super) fn entries_ahead<K: Weigh + 'v, V: Weigh + 'v>(
        &mut self,
        len: usize,
        mut entries: impl Iterator<Item = (&'a K, &'a V)>,
    ) {
        if const { !V::PREFETCHES } {
            return self.entries_here(entries);
        }
        self.entries_by::<K, V>(len, |walk, key, value, vacant| {
            let mut next = entries.next();
            while next.is_some() {
                walk.go_to(key);
                let mut meet = |entry: Option<(&'a K, &'a V)>| {
                    let (k, v) = entry?;
                    V::prefetch(Some(v));
                    walk.next(k, &mut vacant.0);
                    Some(v)
                };
                let batch = [meet(next), meet(entries.next()), meet(entries.next()), meet(entries.next())];
                walk.go_to(value);
                for v in batch.iter().copied().map_while(identity) {
                    walk.next(v, &mut vacant.1);
                }
                next = entries.next();
            }
        });
    }

    /// Calls `follow` with the nodes of `len` keys and `len` values. `follow` counts the vacant keys and values.
    #[inline]
    fn entries_by<K: Weigh + 'v, V: Weigh + 'v>(
        &mut self,
        len: usize,
        follow: impl FnOnce(&mut Self, Cursor, Cursor, &mut (u64, u64)),
    ) {
        let (no_key, no_value) = const { (K::REACH.is_skipped(TREE), V::REACH.is_skipped(TREE)) };
        let outer = self.core.tally.cursor;
        let mut inner = |index, ty, skipped: bool| {
            if TREE && !skipped { self.core.tally.on_heap(index, ty) } else { Cursor::default() }
        };
        let (key, value) = (inner(0, const { K::TYPE }, no_key), inner(1, const { V::TYPE }, no_value));
        let mut vacant = (0, 0);
        follow(self, key, value, &mut vacant);
        if TREE {
            self.core.tally.cursor = outer;
            if !no_key {
                self.core.tally.count(0, (len as u64).saturating_sub(vacant.0));
            }
            if !no_value {
                self.core.tally.count(1, (len as u64).saturating_sub(vacant.1));
            }
        }
    }

    /// Enters the node of the next values.
    #[inline]
    fn go_to(&mut self, node: Cursor) {
        if TREE {
            self.core.tally.cursor = node;
        }
    }

    /// Follows a value at its node, or counts it as vacant.
    #[inline]
    fn next<T: Weigh + 'v>(&mut self, value: &'a T, vacant: &mut u64) {
        if const { T::REACH.is_skipped(TREE) } {
        } else if TREE && value.is_vacant() {
            *vacant += 1;
            self.vacant::<T>();
        } else {
            value.weigh(self);
        }
    }

    /// Follows a value at the node `inner` and counts it in `entered`, unless it is vacant.
    #[inline]
    fn entered<T: Weigh + 'v>(&mut self, value: &'a T, inner: Cursor, entered: &mut u64) {
        if const { T::REACH.is_skipped(TREE) } {
            return;
        }
        if TREE && value.is_vacant() {
            return self.vacant::<T>();
        }
        if TREE {
            self.core.tally.cursor = inner;
            *entered += 1;
        }
        value.weigh(self);
    }

    /// Follows part 0, the target of a pointer, which is in its own block.
    #[inline]
    pub fn pointee<T: Weigh + ?Sized + 'v>(&mut self, value: &'a T) {
        self.depth_left -= 1;
        self.pointee_here(value);
        self.depth_left += 1;
    }

    #[inline]
    pub(super) fn pointee_here<T: Weigh + ?Sized + 'v>(&mut self, value: &'a T) {
        if const { T::REACH.is_skipped(TREE) } {
            return self.slots::<T>(0, 1, 1);
        }
        if TREE && value.is_vacant() {
            self.vacant::<T>();
            return self.slots::<T>(0, 1, 1);
        }
        let outer = if TREE { self.core.tally.enter_pointee(const { T::TYPE }) } else { Cursor::default() };
        value.weigh(self);
        if TREE {
            self.core.tally.cursor = outer;
        }
    }

    /// Defers `pointer` if the walk is too deep, and returns whether it did.
    ///
    /// Call this before you count what the pointer owns, and return if the result is `true`: the walk calls
    /// [`Weigh::weigh`] of the pointer again later, with a shallow stack.
    #[inline]
    pub fn defer<T: Weigh + 'v>(&mut self, pointer: &'a T) -> bool {
        if !self.is_deep() {
            return false;
        }
        self.push_deferred(pointer);
        true
    }

    #[cold]
    #[inline(never)]
    fn push_deferred(&mut self, pointer: &'a (dyn Resume<'a, 'v, TREE> + 'a)) {
        self.deferred.push((self.core.tally.cursor, Deferred::Pointer(pointer)));
    }

    /// Defers `pointer` if the walk is too deep, or else calls `follow` one level deeper.
    ///
    /// The decrement that enters the level also serves as the test of the depth.
    #[inline]
    pub(super) fn open<T: Weigh + 'v>(&mut self, pointer: &'a T, follow: impl FnOnce(&mut Self)) {
        self.depth_left -= 1;
        if self.depth_left < 0 {
            return self.defer_and_leave(pointer);
        }
        follow(self);
        self.depth_left += 1;
    }

    /// Calls [`open`](Self::open), out of line for a total: the caller can then test whether a map is empty without a
    /// stack frame.
    #[inline]
    pub(super) fn open_map<T: Weigh + 'v>(&mut self, map: &'a T, follow: impl FnOnce(&mut Self)) {
        if TREE { self.open(map, follow) } else { self.open_out_of_line(map, follow) }
    }

    #[inline(never)]
    fn open_out_of_line<T: Weigh + 'v>(&mut self, map: &'a T, follow: impl FnOnce(&mut Self)) {
        self.open(map, follow);
    }

    #[cold]
    #[inline(never)]
    fn defer_and_leave(&mut self, pointer: &'a (dyn Resume<'a, 'v, TREE> + 'a)) {
        self.depth_left += 1;
        self.push_deferred(pointer);
    }

    /// Returns whether the walk is so deep that [`defer`](Self::defer) defers.
    #[inline]
    pub fn is_deep(&self) -> bool {
        self.depth_left <= 0
    }

    /// Defers a shared pointer. Behind a guard, the walk keeps a clone of the pointer.
    #[cold]
    pub(super) fn defer_shared<P: Weigh + Clone + Handle<'v, TREE> + 'v>(&mut self, pointer: &'a P) {
        if self.guards == 0 {
            self.deferred.push((self.core.tally.cursor, Deferred::Pointer(pointer)));
        } else {
            // The walk cannot keep the guard, but a clone of the pointer keeps the target alive.
            self.core.owned.push((self.core.tally.cursor, Box::new(pointer.clone())));
        }
    }

    /// Returns whether the walk visits the shared block at `address` for the first time, and marks it as visited.
    #[inline]
    pub fn is_first_at(&mut self, address: usize) -> bool {
        self.core.seen.insert(address)
    }

    /// Returns whether the walk has visited the shared block at `address`.
    #[inline]
    pub fn was_at(&self, address: usize) -> bool {
        self.core.seen.contains(address)
    }

    /// Follows part 0, to which a guard gives access. The walk keeps no reference to the part.
    pub fn guarded<T: Weigh + ?Sized + 'v>(&mut self, value: &T) {
        self.behind_guard(|walk| walk.field(0, value));
    }

    /// Calls `follow` for a value to which a guard gives access. The walk keeps no reference to the value.
    pub(super) fn behind_guard<'g>(&mut self, follow: impl FnOnce(&mut Walk<'g, 'v, TREE>))
    where
        'v: 'g,
    {
        if self.guards >= MOST_GUARDS {
            self.opaque();
            return;
        }
        let core = mem::take(&mut self.core);
        let mut inner = Walk { core, deferred: Vec::new(), depth_left: self.depth_left, guards: self.guards + 1 };
        follow(&mut inner);
        // With a depth of at least 1 the walk follows each deferred pointer instead of deferring it again.
        inner.finish_deferred(self.depth_left.max(1));
        self.core = inner.core;
    }

    /// Counts an opaque part: a lock that is held, a cell that is mutably borrowed.
    pub fn opaque(&mut self) {
        self.core.weight.opaque = self.core.weight.opaque.saturating_add(1);
    }

    /// Records that a part may own more than is counted.
    #[inline]
    pub fn at_least(&mut self) {
        self.core.weight.at_least = self.core.weight.at_least.saturating_add(1);
    }

    /// Records that a part may own less than is counted.
    #[inline]
    pub fn at_most(&mut self) {
        self.core.weight.at_most = self.core.weight.at_most.saturating_add(1);
    }

    /// Records the empty maps in a vacant value, which a tree does not follow.
    #[inline]
    fn vacant<T: Weigh + ?Sized>(&mut self) {
        if TREE && const { T::VACANT_MAPS != 0 } {
            let at_least = &mut self.core.weight.at_least;
            *at_least = at_least.saturating_add(T::VACANT_MAPS);
        }
    }

    /// Adds the weight that a function in `#[weigh(with = "..")]` returned for part `index`.
    pub fn add<T>(&mut self, index: usize, owned: Weight) {
        let weight = &mut self.core.weight;
        weight.opaque = weight.opaque.saturating_add(owned.opaque);
        weight.at_least = weight.at_least.saturating_add(owned.at_least);
        weight.at_most = weight.at_most.saturating_add(owned.at_most);
        if !TREE {
            let custom = &mut self.core.custom;
            custom.heap = custom.heap.saturating_add(owned.heap);
            custom.allocations = custom.allocations.saturating_add(owned.allocations);
        } else if owned.heap != 0 || owned.allocations != 0 {
            let outer = self.core.tally.enter(index, opaque_type_of::<T>());
            self.core.tally.add_custom(owned.heap, owned.allocations);
            self.core.tally.cursor = outer;
        }
    }

    /// Follows part `index`, a shared pointer, and counts its block unless the walk has visited it already.
    pub fn shared<P: Deref<Target: Weigh> + 'v>(&mut self, index: usize, pointer: &'a P) {
        let target = &**pointer;
        let address = (&raw const *target).addr();
        if size_of_val(target) == 0 || !self.is_first_at(address) {
            return;
        }
        let outer = if TREE { self.core.tally.enter(index, shared_type_of::<P>()) } else { Cursor::default() };
        self.block(size_of_val(target), align_of_val(target), 0);
        if self.is_deep() {
            self.deferred
                .push((self.core.tally.cursor, Deferred::Target(Box::new(move |walk| walk.pointee(&**pointer)))));
        } else {
            self.pointee(target);
        }
        if TREE {
            self.core.tally.cursor = outer;
        }
    }

    /// Follows the deferred pointers, each up to `depth` levels deep.
    fn finish_deferred(&mut self, depth: i32) {
        let before = mem::replace(&mut self.depth_left, depth);
        while let Some((cursor, later)) = self.deferred.pop() {
            self.core.tally.cursor = cursor;
            match later {
                Deferred::Pointer(pointer) => pointer.resume(self),
                Deferred::Target(follow) => follow(self),
            }
        }
        self.depth_left = before;
    }
}
