//! Deterministic workloads, for instruction counts and times.
//!
//! Each value is made of a word that is opaque to the compiler, and is passed to the sink while it is in its slot, so
//! that no write is optimised away. Between operations the container is passed to the sink as well. Otherwise the
//! compiler keeps the head of a free list in a register, which does not happen in a program with other work in between.

use std::sync::mpsc;

use super::peers::heap::{HeapBox, Malloc};
use super::subject::{Edits, Grows, Holds, Names, Sends, Visits, Words};
use crate::op::{Op, Run, whole_rounds};
use crate::sink;

/// The number of live values during a churn.
pub(super) const LIVE: usize = 256;

/// A container and its live values; dropping it frees all of them.
pub(super) struct Live<S: Holds<T>, T: 'static> {
    pub(super) slots: Vec<S::Slot>,
    pub(super) storage: S::Storage,
}

impl<S: Holds<T>, T: 'static> Drop for Live<S, T> {
    fn drop(&mut self) {
        while let Some(slot) = self.slots.pop() {
            S::remove(&mut self.storage, slot);
        }
    }
}

/// Returns a container that has grown to its largest size and holds `live` values.
pub(super) fn warm<S: Holds<Words<N>>, const N: usize>(live: usize) -> Live<S, Words<N>> {
    let capacity = live + LIVE;
    let mut storage = S::storage(capacity);
    let mut slots: Vec<_> = (0..capacity as u64).map(|n| S::insert(&mut storage, Words::new(n))).collect();
    while slots.len() > live {
        let slot = slots.pop().expect("longer than `live`");
        S::remove(&mut storage, slot);
    }
    Live { slots, storage }
}

/// Inserts a value, passes it to the sink, and removes it.
#[inline(always)]
pub(super) fn live_once<S: Holds<Words<N>>, const N: usize>(storage: &mut S::Storage, word: u64) {
    let slot = S::insert(storage, Words::new(word));
    S::get(storage, &slot, sink::pointer);
    sink::change(storage);
    S::remove(storage, slot);
    sink::change(storage);
}

/// Inserts a value and removes one of the live values.
#[expect(clippy::cast_possible_truncation, reason = "only the low bits are used")]
#[inline(always)]
pub(super) fn exchange<S: Holds<Words<N>>, const N: usize>(
    storage: &mut S::Storage,
    slots: &mut [S::Slot; LIVE],
    word: u64,
) {
    const { assert!(LIVE.is_power_of_two()) };
    let slot = S::insert(storage, Words::new(word));
    S::get(storage, &slot, sink::pointer);
    sink::change(storage);
    // Visits all slots, but not in their order.
    let at = (word as usize).wrapping_mul(167) % LIVE;
    let old = std::mem::replace(&mut slots[at], slot);
    S::remove(storage, old);
    sink::change(storage);
}

fn lifecycle<S: Holds<Words<N>>, const N: usize>() -> Run {
    #[inline(never)]
    fn run<S: Holds<Words<N>>, const N: usize>(storage: &mut S::Storage, operations: usize) {
        (0..operations as u64).for_each(|word| live_once::<S, N>(storage, word));
    }
    let mut live = warm::<S, N>(0);
    Box::new(move |operations| run::<S, N>(&mut live.storage, operations))
}

fn churn<S: Holds<Words<N>>, const N: usize>() -> Run {
    #[inline(never)]
    fn run<S: Holds<Words<N>>, const N: usize>(
        storage: &mut S::Storage,
        slots: &mut [S::Slot; LIVE],
        operations: usize,
    ) {
        (0..operations as u64).for_each(|word| exchange::<S, N>(storage, slots, word));
    }
    let mut live = warm::<S, N>(LIVE);
    Box::new(move |operations| {
        let Live { slots, storage } = &mut live;
        run::<S, N>(storage, slots.as_mut_slice().try_into().expect("of this length"), operations);
    })
}

/// Changes a word of each of 64 values in turn.
fn get_mut<S: Edits<Words<N>>, const N: usize>() -> Run {
    #[inline(never)]
    fn run<S: Edits<Words<N>>, const N: usize>(storage: &mut S::Storage, slots: &mut [S::Slot], rounds: usize) {
        for word in 0..rounds as u64 {
            for slot in &mut *slots {
                S::get_mut(storage, slot, |value| {
                    value.0[0] = word;
                    sink::pointer(value);
                });
            }
        }
    }
    let mut live = warm::<S, N>(64);
    Box::new(move |operations| {
        let Live { slots, storage } = &mut live;
        run::<S, N>(storage, slots, whole_rounds(operations, 64).len());
    })
}

/// Values stored by key; dropping it takes all of them out.
struct Named<S: Names<Words<8>>> {
    storage: S::Storage,
    keys: Vec<S::Key>,
}

impl<S: Names<Words<8>>> Named<S> {
    fn new(len: usize) -> Self {
        let mut storage = S::storage(len);
        let keys = (0..len as u64).map(|word| {
            let slot = S::insert(&mut storage, Words::new(word));
            S::name(&mut storage, slot)
        });
        Self { keys: keys.collect(), storage }
    }
}

impl<S: Names<Words<8>>> Drop for Named<S> {
    fn drop(&mut self) {
        self.keys.drain(..).for_each(|key| S::take(&mut self.storage, key));
    }
}

/// Reads a word of each of 64 values by its key.
fn find<S: Names<Words<8>>>() -> Run {
    #[inline(never)]
    fn run<S: Names<Words<8>>>(storage: &S::Storage, keys: &[S::Key], rounds: usize) {
        for _ in 0..rounds {
            for &key in keys {
                S::find(storage, key, |value| sink::word(value.0[0]));
            }
        }
    }
    let live = Named::<S>::new(64);
    Box::new(move |operations| run::<S>(&live.storage, &live.keys, whole_rounds(operations, 64).len()))
}

/// Asks for each of 64 keys whether it has a value.
fn contains<S: Names<Words<8>>>() -> Run {
    #[inline(never)]
    fn run<S: Names<Words<8>>>(storage: &S::Storage, keys: &[S::Key], rounds: usize) {
        for _ in 0..rounds {
            for &key in keys {
                sink::word(u64::from(S::contains(storage, key)));
            }
        }
    }
    let live = Named::<S>::new(64);
    Box::new(move |operations| run::<S>(&live.storage, &live.keys, whole_rounds(operations, 64).len()))
}

/// Reads a word of each of 64 values in turn by its slot.
fn get<S: Holds<Words<8>>>() -> Run {
    #[inline(never)]
    fn run<S: Holds<Words<8>>>(live: &Live<S, Words<8>>, rounds: usize) {
        for _ in 0..rounds {
            for slot in &live.slots {
                S::get(&live.storage, slot, |value| sink::word(value.0[0]));
            }
        }
    }
    let live = warm::<S, 8>(64);
    Box::new(move |operations| run::<S>(&live, whole_rounds(operations, 64).len()))
}

/// Reads a word of each of 64 values of a module by the address that its key finds.
pub(super) fn by_address(ops: &mut Vec<Op>) {
    use super::peers::dwell::{Thread, words8};

    #[inline(never)]
    fn run(keys: &[dwell::slab::Key], rounds: usize) {
        for _ in 0..rounds {
            for &key in keys {
                let value = words8::get_ptr(key).expect("leaked");
                // SAFETY: the value is leaked until `Named` drops, and nothing changes it meanwhile.
                sink::word(unsafe { (*value.as_ptr()).0[0] });
            }
        }
    }
    ops.push(Op::new("find/64B", "dwell/get_ptr", || -> Run {
        let live = Named::<Thread>::new(64);
        Box::new(move |operations| run(&live.keys, whole_rounds(operations, 64).len()))
    }));
}

/// The number of visited values, which take 256 KiB.
const VISITED: usize = 4096;

/// Reads a word of each of 4096 values in the container's order. One operation is one value.
fn visit<S: Visits<Words<8>>>() -> Run {
    #[inline(never)]
    fn run<S: Visits<Words<8>>>(storage: &S::Storage, rounds: usize) {
        for _ in 0..rounds {
            S::visit(storage, |value| sink::word(value.0[0]));
        }
    }
    let live = Named::<S>::new(VISITED);
    Box::new(move |operations| run::<S>(&live.storage, whole_rounds(operations, VISITED).len()))
}

/// Fills an empty container and removes all values. An operation is a value.
fn fill<S: Grows<Words<8>>>() -> Run {
    Box::new(|operations| {
        let mut live = Live::<S, _> { slots: Vec::with_capacity(operations), storage: S::empty() };
        for word in 0..operations as u64 {
            let slot = S::insert(&mut live.storage, Words::new(word));
            S::get(&live.storage, &slot, sink::pointer);
            live.slots.push(slot);
        }
    })
}

/// The number of values that are sent to the other thread together.
const BATCH: usize = 256;

/// Inserts values on one thread and frees them on another. An operation is a value.
fn pipe<S: Sends<Words<8>>>() -> Run {
    let live = warm::<S, 8>(0);
    let mut storage = live;
    Box::new(move |operations| {
        let remote = S::remote(&storage.storage);
        let (send, receive) = mpsc::sync_channel::<Vec<S::Slot>>(4);
        let (give_back, again) = mpsc::sync_channel::<Vec<S::Slot>>(8);
        std::thread::scope(|scope| {
            scope.spawn(move || {
                for mut batch in receive {
                    S::free_all(&remote, batch.drain(..));
                    let _ = give_back.send(batch);
                }
            });
            for round in whole_rounds(operations, BATCH) {
                let mut batch =
                    if round < 6 { Vec::with_capacity(BATCH) } else { again.recv().expect("the other thread runs") };
                for word in 0..BATCH as u64 {
                    let slot = S::insert(&mut storage.storage, Words::new(word));
                    S::get(&storage.storage, &slot, sink::pointer);
                    batch.push(slot);
                }
                send.send(batch).expect("the other thread runs");
            }
            drop(send);
        });
    })
}

/// Adds the operations of every subject for values of one size.
pub(super) fn sized<S: Holds<Words<N>>, const N: usize>(ops: &mut Vec<Op>) {
    ops.push(Op::new(format!("lifecycle/{}B", 8 * N), S::NAME, lifecycle::<S, N>));
    ops.push(Op::new(format!("churn/{}B", 8 * N), S::NAME, churn::<S, N>));
}

pub(super) fn editing<S: Edits<Words<N>>, const N: usize>(ops: &mut Vec<Op>) {
    ops.push(Op::new(format!("get_mut/{}B", 8 * N), S::NAME, get_mut::<S, N>));
}

pub(super) fn reading<S: Holds<Words<8>>>(ops: &mut Vec<Op>) {
    ops.push(Op::new("get/64B", S::NAME, get::<S>));
}

pub(super) fn growing<S: Grows<Words<8>>>(ops: &mut Vec<Op>) {
    ops.push(Op::new("fill+drain/64B", S::NAME, fill::<S>));
}

pub(super) fn sending<S: Sends<Words<8>>>(ops: &mut Vec<Op>) {
    ops.push(Op::new("producer+consumer/64B", S::NAME, pipe::<S>));
}

pub(super) fn naming<S: Names<Words<8>>>(ops: &mut Vec<Op>) {
    ops.push(Op::new("find/64B", S::NAME, find::<S>));
    ops.push(Op::new("contains/64B", S::NAME, contains::<S>));
}

/// Adds the boxes beside keys and iteration: in a vector, read in order.
pub(super) fn boxes<A: Malloc>(ops: &mut Vec<Op>) {
    #[inline(never)]
    fn run<A: Malloc>(boxes: &[HeapBox<Words<8>, A>], rounds: usize) {
        for _ in 0..rounds {
            for value in boxes {
                sink::word(value.0[0]);
            }
        }
    }
    for (workload, len) in [("find/64B", 64), ("contains/64B", 64), ("iterate/64B", VISITED)] {
        ops.push(Op::new(workload, A::NAME, move || -> Run {
            let boxes: Vec<HeapBox<_, A>> = (0..len as u64).map(|word| HeapBox::new(Words::new(word))).collect();
            Box::new(move |operations| run(&boxes, whole_rounds(operations, len).len()))
        }));
    }
}

pub(super) fn visiting<S: Visits<Words<8>>>(ops: &mut Vec<Op>) {
    ops.push(Op::new("iterate/64B", S::NAME, visit::<S>));
}
