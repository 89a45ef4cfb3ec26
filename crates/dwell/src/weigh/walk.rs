//! The walk over a value and what it counts on the way.

use super::model::Model;
use super::seen::Seen;
use super::tally::{Counter, Cursor, Tally};
use super::types::{opaque_type_of, shared_type_of};
use super::{Weigh, Weight};
use crate::model::blocks::LONG;
use core::convert::identity;
use core::mem;
use core::ops::Deref;
use std_alloc::boxed::Box;
use std_alloc::rc::Rc;
use std_alloc::sync::Arc;
use std_alloc::vec::Vec;

/// Pointers that are followed one inside the other before the rest is put off: what bounds the stack.
const DEEPEST: i32 = 64;
/// Guards that are held one inside the other. What lies deeper is missed, unless an `Rc` or `Arc` leads there.
const MOST_GUARDS: u32 = 256;

/// A walk under way: what an implementation of [`Weigh`] reports to.
///
/// References that live for `'a` are followed at once or later, so that a long list needs no deep stack; all values
/// outlive `'v`. With `TREE` the walk counts by type and field, without it only the total. The numbers of parts are
/// those of [`Kind`](super::Kind).
pub struct Walk<'a, 'v, const TREE: bool> {
    core: Core<'v, TREE>,
    /// Pointers that are still to be followed.
    later: Vec<(Cursor, Later<'a, 'v, TREE>)>,
    /// How many pointers deeper it goes before it puts off.
    room: i32,
    guards: u32,
}

/// What outlives the guard of a cell.
#[derive(Default)]
pub(super) struct Core<'v, const TREE: bool> {
    /// The total's bytes, to be the weight's: not beside its blocks, for two additions side by side are made one in a vector
    /// register, which waits for what was written to each before.
    heap: u64,
    weight: Weight,
    /// What functions of the user's say, in a sum that stops at the largest number.
    said: Weight,
    model: Model,
    /// Whether a tree is to know more than numbers of blocks: what an allocator takes for them, or what strings say.
    more: bool,
    seen: Seen,
    tally: Tally,
    /// Shared pointers that were met below a guard and are to be followed when it is gone.
    owned: Vec<(Cursor, Box<dyn Handle<'v, TREE> + 'v>)>,
}

/// What was put off.
enum Later<'a, 'v, const TREE: bool> {
    /// A pointer that is to be weighed.
    Pointer(&'a (dyn Resume<'a, 'v, TREE> + 'a)),
    /// What a pointer that is not `Weigh` itself points to.
    Target(Box<dyn FnOnce(&mut Walk<'a, 'v, TREE>) + 'a>),
}

/// A pointer to come back to.
trait Resume<'a, 'v, const TREE: bool> {
    fn resume(&'a self, walk: &mut Walk<'a, 'v, TREE>);
}

impl<'a, 'v, T: Weigh + 'v, const TREE: bool> Resume<'a, 'v, TREE> for T {
    fn resume(&'a self, walk: &mut Walk<'a, 'v, TREE>) {
        self.weigh(walk);
    }
}

/// A shared pointer of one's own to come back to.
pub(super) trait Handle<'v, const TREE: bool> {
    fn resume(&self, core: Core<'v, TREE>, cursor: Cursor) -> Core<'v, TREE>;
}

macro_rules! handle {
    ($($pointer:ident)*) => {$(
        impl<'v, T: Weigh + ?Sized + 'v, const TREE: bool> Handle<'v, TREE> for $pointer<T> {
            fn resume(&self, core: Core<'v, TREE>, cursor: Cursor) -> Core<'v, TREE> {
                let mut walk = Walk { core, later: Vec::new(), room: DEEPEST, guards: 0 };
                walk.core.tally.cursor = cursor;
                self.weigh(&mut walk);
                walk.finish_later(DEEPEST);
                walk.core
            }
        }
    )*};
}

handle!(Rc Arc);

/// Walks over a value and everything it owns.
pub(super) fn total<T: Weigh + ?Sized>(value: &T, model: Model) -> Weight {
    if model != Model::Requested {
        return counters(value, model, false).0;
    }
    let core = run::<T, false>(value, model, false);
    let Weight { heap, allocations, .. } = core.said;
    Weight {
        heap: core.heap.saturating_add(heap),
        allocations: core.weight.allocations.saturating_add(allocations),
        ..core.weight
    }
}

/// The same, by type and field.
pub(super) fn counters<T: Weigh + ?Sized>(value: &T, model: Model, texts: bool) -> (Weight, Vec<Counter>) {
    let core = run::<T, true>(value, model, texts);
    let counters = core.tally.counters();
    let mut weight = core.weight;
    weight.heap = counters.iter().fold(0, |sum, counter| counter.taken.saturating_add(sum));
    weight.allocations = counters.iter().fold(0, |sum, counter| counter.blocks.saturating_add(sum));
    (weight, counters)
}

fn run<'v, T: Weigh + ?Sized + 'v, const TREE: bool>(value: &T, model: Model, texts: bool) -> Core<'v, TREE> {
    let mut core = Core { model, more: texts || model != Model::Requested, ..Core::default() };
    core.weight.inline = size_of_val(value) as u64;
    if TREE {
        core.tally = Tally::new(T::TYPE);
        core.tally.texts = texts.then(Vec::new);
    }
    let mut walk = Walk { core, later: Vec::new(), room: DEEPEST, guards: 0 };
    if !(T::REACH.is_skipped(TREE) || TREE && value.is_vacant()) {
        if TREE {
            walk.core.tally.enter_root();
        }
        value.weigh(&mut walk);
        walk.finish_later(DEEPEST);
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
    /// Follows part `index` of a struct, or of the variant of an enum.
    #[expect(clippy::inline_always, reason = "of a struct that is mostly empty, each field should cost one test")]
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

    /// Says what the string at hand says, to a walk that counts [how many differ](super::tree_with_texts).
    #[inline]
    pub fn text(&mut self, text: &[u8]) {
        if TREE && self.core.more {
            self.core.tally.read(text);
        }
    }

    /// Counts the block of a string with room for `capacity` bytes, and says what the string says.
    #[inline]
    pub(super) fn text_block(&mut self, text: &[u8], capacity: usize) {
        // Neither empty nor long, in one comparison.
        if TREE && text.len().wrapping_sub(1) >= LONG - 1 {
            self.odd_text(text.len());
        }
        if TREE && self.core.more {
            self.more_of_text(text, capacity);
        } else {
            self.count(capacity, u64::from(capacity != 0), (capacity - text.len()) as u64);
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

    /// Notes that nothing is in use in the block of the value at hand.
    #[inline]
    pub(super) fn hollow(&mut self) {
        if TREE {
            self.core.tally.odd().hollow += 1;
        }
    }

    /// Notes that the struct at hand equals its type's default.
    #[doc(hidden)]
    #[inline]
    pub fn default_value(&mut self) {
        if TREE {
            self.core.tally.odd().defaults += 1;
        }
    }

    #[cold]
    #[inline(never)]
    fn more_of_text(&mut self, text: &[u8], capacity: usize) {
        self.block(capacity, 1, capacity - text.len());
        self.core.tally.read(text);
    }

    /// Counts the block behind a pointer to a value that nothing is behind. A tree knows that behind each is a value.
    #[inline]
    pub(super) fn last_block<T: Weigh + ?Sized + 'v>(&mut self, value: &'a T) {
        if TREE && const { size_of::<&T>() != size_of::<usize>() } && size_of_val(value) >= LONG {
            self.odd_text(size_of_val(value));
        }
        if TREE && self.core.more {
            self.more_of_last(value);
        } else {
            self.count(size_of_val(value), u64::from(size_of_val(value) != 0), 0);
        }
    }

    #[cold]
    #[inline(never)]
    fn more_of_last<T: Weigh + ?Sized + 'v>(&mut self, value: &'a T) {
        self.block(size_of_val(value), align_of_val(value), 0);
        // For the sake of strings.
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

    /// Follows values that lie in the value itself, of part `index`.
    #[inline]
    pub fn inline<T: Weigh + 'v>(&mut self, index: usize, values: &'a [T]) {
        if const { T::REACH.is_skipped(TREE) } {
            return;
        }
        let inner = if TREE { self.core.tally.inline(index, const { T::TYPE }) } else { Cursor::default() };
        self.each(index, inner, values);
    }

    /// Counts a block that the value owns, of `size` bytes aligned to `align`, of which `spare` are not in use.
    #[inline]
    pub fn block(&mut self, size: usize, align: usize, spare: usize) {
        if TREE && self.core.more {
            self.more_of_blocks(size, align, usize::from(size != 0), spare as u64);
        } else {
            // No block has no bytes: that is told without a branch.
            self.count(size, u64::from(size != 0), spare as u64);
        }
    }

    /// Counts `count` blocks of the same size and alignment with `spare` unused bytes in all of them.
    #[inline]
    pub fn blocks(&mut self, size: usize, align: usize, count: usize, spare: u64) {
        if count == 0 {
            return;
        }
        if TREE && self.core.more {
            self.more_of_blocks(size, align, count, spare);
        } else {
            self.count(size.wrapping_mul(count), count as u64, spare);
        }
    }

    #[inline]
    fn count(&mut self, requested: usize, blocks: u64, spare: u64) {
        let requested = requested as u64;
        if TREE {
            self.core.tally.block(requested, blocks, spare);
        } else {
            // Blocks that are there are not too large together; where one is made up, so is the sum.
            self.core.heap = self.core.heap.wrapping_add(requested);
            self.core.weight.allocations += blocks;
        }
    }

    /// Counts blocks, and what the model's allocator takes for them beyond the bytes asked for.
    #[cold]
    #[inline(never)]
    fn more_of_blocks(&mut self, size: usize, align: usize, count: usize, spare: u64) {
        self.count(size.wrapping_mul(count), count as u64, spare);
        if size != 0 {
            let size = size as u64;
            let beyond = (self.core.model.bytes(size, align as u64) - size).saturating_mul(count as u64);
            self.core.tally.add_beyond(beyond);
        }
    }

    /// Counts places for part `index` in blocks of the value's: `slots`, of which `used` hold a `T`.
    ///
    /// Follow the values with [`elements`](Self::elements).
    #[inline]
    pub fn places<T: Weigh + ?Sized + 'v>(&mut self, index: usize, slots: usize, used: usize) {
        if TREE {
            let free = slots.saturating_sub(used);
            self.core.tally.places(index, const { T::TYPE }, used as u64, free as u64);
        }
    }

    /// Follows the values in such places.
    #[inline]
    pub fn elements<T: Weigh + 'v>(&mut self, index: usize, values: impl IntoIterator<Item = &'a T>) {
        self.room -= 1;
        self.elements_here(index, values);
        self.room += 1;
    }

    #[inline]
    pub(super) fn elements_here<T: Weigh + 'v>(&mut self, index: usize, values: impl IntoIterator<Item = &'a T>) {
        if const { T::REACH.is_skipped(TREE) } {
            return;
        }
        let inner = if TREE { self.core.tally.apart(index, const { T::TYPE }) } else { Cursor::default() };
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

    /// Follows keys and values, parts 0 and 1 of a map.
    #[inline]
    pub fn entries<K: Weigh + 'v, V: Weigh + 'v>(&mut self, entries: impl IntoIterator<Item = (&'a K, &'a V)>) {
        self.room -= 1;
        self.entries_here(entries);
        self.room += 1;
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
            if TREE && !skipped { self.core.tally.apart(index, ty) } else { Cursor::default() }
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

    /// [`entries_here`](Self::entries_here) of `len` entries, which asks for what four values point to before it follows these:
    /// so a walk waits for their memory once. Their keys, met on the way, are mostly strings, of which only the length is read.
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

    /// Calls `follow` with the nodes of keys and values; it counts the vacant ones of `len` each.
    #[inline]
    fn entries_by<K: Weigh + 'v, V: Weigh + 'v>(
        &mut self,
        len: usize,
        follow: impl FnOnce(&mut Self, Cursor, Cursor, &mut (u64, u64)),
    ) {
        let (no_key, no_value) = const { (K::REACH.is_skipped(TREE), V::REACH.is_skipped(TREE)) };
        let outer = self.core.tally.cursor;
        let mut inner = |index, ty, skipped: bool| {
            if TREE && !skipped { self.core.tally.apart(index, ty) } else { Cursor::default() }
        };
        let (key, value) = (inner(0, const { K::TYPE }, no_key), inner(1, const { V::TYPE }, no_value));
        let mut vacant = (0, 0);
        follow(self, key, value, &mut vacant);
        if TREE {
            self.core.tally.cursor = outer;
            if !no_key {
                self.core.tally.count(0, len as u64 - vacant.0);
            }
            if !no_value {
                self.core.tally.count(1, len as u64 - vacant.1);
            }
        }
    }

    /// Goes to the node of values that come next.
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

    /// Follows a value to its node, where so many were met.
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

    /// Follows a pointer to part 0, which lies in a block of its own.
    #[inline]
    pub fn pointee<T: Weigh + ?Sized + 'v>(&mut self, value: &'a T) {
        self.room -= 1;
        self.pointee_here(value);
        self.room += 1;
    }

    #[inline]
    pub(super) fn pointee_here<T: Weigh + ?Sized + 'v>(&mut self, value: &'a T) {
        if const { T::REACH.is_skipped(TREE) } {
            return self.places::<T>(0, 1, 1);
        }
        if TREE && value.is_vacant() {
            self.vacant::<T>();
            return self.places::<T>(0, 1, 1);
        }
        let outer = if TREE { self.core.tally.enter_pointee(const { T::TYPE }) } else { Cursor::default() };
        value.weigh(self);
        if TREE {
            self.core.tally.cursor = outer;
        }
    }

    /// Whether `pointer` is put off, since the walk is deep enough: ask before counting what the pointer owns.
    ///
    /// It is then weighed again, later and with less on the stack.
    #[inline]
    pub fn puts_off<T: Weigh + 'v>(&mut self, pointer: &'a T) -> bool {
        if !self.is_deep() {
            return false;
        }
        self.put_off(pointer);
        true
    }

    #[cold]
    #[inline(never)]
    fn put_off(&mut self, pointer: &'a (dyn Resume<'a, 'v, TREE> + 'a)) {
        self.later.push((self.core.tally.cursor, Later::Pointer(pointer)));
    }

    /// Puts `pointer` off, or counts and follows it one deeper by `follow`: in one step on the number of both.
    #[inline]
    pub(super) fn open<T: Weigh + 'v>(&mut self, pointer: &'a T, follow: impl FnOnce(&mut Self)) {
        self.room -= 1;
        if self.room < 0 {
            return self.put_off_below(pointer);
        }
        follow(self);
        self.room += 1;
    }

    /// [`open`](Self::open), for a total in a call of its own: so whoever holds a map looks whether it is empty without a frame.
    #[inline]
    pub(super) fn open_map<T: Weigh + 'v>(&mut self, map: &'a T, follow: impl FnOnce(&mut Self)) {
        if TREE { self.open(map, follow) } else { self.open_apart(map, follow) }
    }

    #[inline(never)]
    fn open_apart<T: Weigh + 'v>(&mut self, map: &'a T, follow: impl FnOnce(&mut Self)) {
        self.open(map, follow);
    }

    #[cold]
    #[inline(never)]
    fn put_off_below(&mut self, pointer: &'a (dyn Resume<'a, 'v, TREE> + 'a)) {
        self.room += 1;
        self.put_off(pointer);
    }

    /// Whether the walk is so deep that [`puts_off`](Self::puts_off) would put a pointer off.
    #[inline]
    pub fn is_deep(&self) -> bool {
        self.room <= 0
    }

    /// Puts off a pointer that may be kept alive by a handle of one's own.
    #[cold]
    pub(super) fn put_off_shared<P: Weigh + Clone + Handle<'v, TREE> + 'v>(&mut self, pointer: &'a P) {
        if self.guards == 0 {
            self.later.push((self.core.tally.cursor, Later::Pointer(pointer)));
        } else {
            // A guard cannot be kept for later, but the values below it can be.
            self.core.owned.push((self.core.tally.cursor, Box::new(pointer.clone())));
        }
    }

    /// Whether the walk meets the shared block at `address` for the first time.
    #[inline]
    pub fn is_first_at(&mut self, address: usize) -> bool {
        self.core.seen.insert(address)
    }

    /// Whether the walk was at the shared block at `address` already.
    #[inline]
    pub fn was_at(&self, address: usize) -> bool {
        self.core.seen.contains(address)
    }

    /// Follows part 0, which a guard gives access to and which cannot be looked at any more once this returns.
    pub fn guarded<T: Weigh + ?Sized + 'v>(&mut self, value: &T) {
        self.behind_guard(|walk| walk.field(0, value));
    }

    /// Follows, by `follow`, what a guard gives access to and what cannot be looked at any more once this returns.
    pub(super) fn behind_guard<'g>(&mut self, follow: impl FnOnce(&mut Walk<'g, 'v, TREE>))
    where
        'v: 'g,
    {
        if self.guards >= MOST_GUARDS {
            self.missed();
            return;
        }
        let core = mem::take(&mut self.core);
        let mut inner = Walk { core, later: Vec::new(), room: self.room, guards: self.guards + 1 };
        follow(&mut inner);
        // One pointer each may be followed from here.
        inner.finish_later(self.room.max(1));
        self.core = inner.core;
    }

    /// Notes that something could not be looked at: a lock that is held, a cell that is borrowed for writing.
    pub fn missed(&mut self) {
        self.core.weight.missed += 1;
    }

    /// Notes that a part may own more than what is counted of it.
    #[inline]
    pub fn at_least(&mut self) {
        self.core.weight.at_least += 1;
    }

    /// Notes that a part may own less than what is counted of it.
    #[inline]
    pub fn at_most(&mut self) {
        self.core.weight.at_most += 1;
    }

    /// Notes the empty maps in a vacant value, which a tree does not follow.
    #[inline]
    fn vacant<T: Weigh + ?Sized>(&mut self) {
        if TREE && const { T::VACANT_MAPS != 0 } {
            self.core.weight.at_least += T::VACANT_MAPS;
        }
    }

    /// Adds what a function of the user's says that part `index` owns.
    pub fn add<T>(&mut self, index: usize, owned: Weight) {
        let weight = &mut self.core.weight;
        weight.missed = weight.missed.saturating_add(owned.missed);
        weight.at_least = weight.at_least.saturating_add(owned.at_least);
        weight.at_most = weight.at_most.saturating_add(owned.at_most);
        if !TREE {
            let said = &mut self.core.said;
            said.heap = said.heap.saturating_add(owned.heap);
            said.allocations = said.allocations.saturating_add(owned.allocations);
        } else if owned.heap != 0 || owned.allocations != 0 {
            let outer = self.core.tally.enter(index, opaque_type_of::<T>());
            self.core.tally.said(owned.heap, owned.allocations);
            self.core.tally.cursor = outer;
        }
    }

    /// Follows part `index`, which points to what others may point to as well: a block of its own, counted once.
    pub fn shared<P: Deref<Target: Weigh> + 'v>(&mut self, index: usize, pointer: &'a P) {
        let target = &**pointer;
        let address = (&raw const *target).addr();
        if size_of_val(target) == 0 || !self.is_first_at(address) {
            return;
        }
        let outer = if TREE { self.core.tally.enter(index, shared_type_of::<P>()) } else { Cursor::default() };
        self.block(size_of_val(target), align_of_val(target), 0);
        if self.is_deep() {
            self.later.push((self.core.tally.cursor, Later::Target(Box::new(move |walk| walk.pointee(&**pointer)))));
        } else {
            self.pointee(target);
        }
        if TREE {
            self.core.tally.cursor = outer;
        }
    }

    /// Follows what was put off, each with so much room.
    fn finish_later(&mut self, room: i32) {
        let before = mem::replace(&mut self.room, room);
        while let Some((cursor, later)) = self.later.pop() {
            self.core.tally.cursor = cursor;
            match later {
                Later::Pointer(pointer) => pointer.resume(self),
                Later::Target(follow) => follow(self),
            }
        }
        self.room = before;
    }
}
