//! Random operations on slabs, compared with a `Vec<Option<Box<T>>>`. The model test and the fuzz target share this
//! file.

use dwell::slab::{Bounded, Full, Key, Slab, Slot, StampedKey};
use std::cell::Cell;
use std::rc::Rc;

/// A value that owns memory, so that a checking allocator detects a cell used twice, and that counts the live values.
#[derive(Debug)]
pub(crate) struct Value<const N: usize> {
    number: Box<u64>,
    live: Rc<Cell<usize>>,
    fill: [u8; N],
}

impl<const N: usize> Value<N> {
    fn new(number: u64, live: &Rc<Cell<usize>>) -> Self {
        live.set(live.get() + 1);
        Self { number: Box::new(number), live: live.clone(), fill: [number.to_le_bytes()[0]; N] }
    }

    fn check(&self, number: u64) {
        assert_eq!(*self.number, number);
        assert!(self.fill.iter().all(|&byte| byte == number.to_le_bytes()[0]), "another value wrote here");
    }
}

impl<const N: usize> Drop for Value<N> {
    fn drop(&mut self) {
        self.live.set(self.live.get() - 1);
    }
}

/// The operations that the three kinds of slab have in common.
trait Subject<const N: usize> {
    type Kind: dwell::slab::thread::Keyed;
    fn insert(&self, value: Value<N>) -> Result<Slot<Value<N>, Self::Kind>, Value<N>>;
    fn insert_with(&self, make: impl FnOnce() -> Value<N>) -> Slot<Value<N>, Self::Kind>;
    fn reclaim(&self, key: Key) -> Option<Slot<Value<N>, Self::Kind>>;
    fn reclaim_stamped(&self, key: StampedKey) -> Option<Slot<Value<N>, Self::Kind>>;
    fn with<R>(&self, key: Key, f: impl FnOnce(&mut Value<N>) -> R) -> Option<R>;
    fn leaked(&self) -> Vec<Key>;
    fn len(&self) -> usize;
    fn capacity(&self) -> usize;
    fn shrink(&self);
    fn reserve(&self, n: usize);
}

impl<const N: usize> Subject<N> for Slab<Value<N>> {
    type Kind = dwell::slab::thread::OneThread;

    fn insert(&self, value: Value<N>) -> Result<Slot<Value<N>>, Value<N>> {
        self.try_insert(value).map_err(dwell::AllocError::into_inner)
    }

    fn insert_with(&self, make: impl FnOnce() -> Value<N>) -> Slot<Value<N>> {
        self.insert_with(make)
    }

    fn reclaim(&self, key: Key) -> Option<Slot<Value<N>>> {
        self.reclaim(key)
    }

    fn reclaim_stamped(&self, key: StampedKey) -> Option<Slot<Value<N>>> {
        self.reclaim_stamped(key)
    }

    fn with<R>(&self, key: Key, f: impl FnOnce(&mut Value<N>) -> R) -> Option<R> {
        self.with(key, f)
    }

    fn leaked(&self) -> Vec<Key> {
        self.leaked().collect()
    }

    fn len(&self) -> usize {
        self.len()
    }

    fn capacity(&self) -> usize {
        self.capacity()
    }

    fn shrink(&self) {
        self.shrink_to_fit();
    }

    fn reserve(&self, n: usize) {
        self.reserve(n);
    }
}

impl<const N: usize> Subject<N> for Bounded<Value<N>> {
    type Kind = dwell::slab::thread::OneThread;

    fn insert(&self, value: Value<N>) -> Result<Slot<Value<N>>, Value<N>> {
        self.try_insert(value).map_err(Full::into_inner)
    }

    fn insert_with(&self, make: impl FnOnce() -> Value<N>) -> Slot<Value<N>> {
        self.insert_with(make)
    }

    fn reclaim(&self, key: Key) -> Option<Slot<Value<N>>> {
        self.reclaim(key)
    }

    fn reclaim_stamped(&self, key: StampedKey) -> Option<Slot<Value<N>>> {
        self.reclaim_stamped(key)
    }

    fn with<R>(&self, key: Key, f: impl FnOnce(&mut Value<N>) -> R) -> Option<R> {
        self.with(key, f)
    }

    fn leaked(&self) -> Vec<Key> {
        self.leaked().collect()
    }

    fn len(&self) -> usize {
        self.len()
    }

    fn capacity(&self) -> usize {
        self.capacity()
    }

    fn shrink(&self) {}

    fn reserve(&self, _n: usize) {}
}

type Local = Value<7>;
dwell::slab!(mod values: Local);

/// The slab of the current thread.
struct Thread {
    grows: bool,
}

impl Subject<7> for Thread {
    type Kind = dwell::slab::thread::PerThread<values::Module>;

    fn insert(&self, value: Local) -> Result<values::Slot, Local> {
        values::try_insert(value).map_err(Full::into_inner)
    }

    fn insert_with(&self, make: impl FnOnce() -> Local) -> values::Slot {
        values::insert_with(make)
    }

    fn reclaim(&self, key: Key) -> Option<values::Slot> {
        assert_eq!(values::contains_key(key), values::leaked().any(|leaked| leaked == key));
        values::reclaim(key)
    }

    fn reclaim_stamped(&self, key: StampedKey) -> Option<values::Slot> {
        values::reclaim_stamped(key)
    }

    fn with<R>(&self, key: Key, f: impl FnOnce(&mut Local) -> R) -> Option<R> {
        values::with(key, f)
    }

    fn leaked(&self) -> Vec<Key> {
        values::leaked().collect()
    }

    fn len(&self) -> usize {
        values::len()
    }

    fn capacity(&self) -> usize {
        values::capacity()
    }

    fn shrink(&self) {
        values::shrink_to_fit();
    }

    fn reserve(&self, n: usize) {
        if self.grows {
            values::reserve(n);
        }
    }
}

/// Runs the operations encoded in `bytes`, two bytes each, on a slab that the first byte selects.
pub(crate) fn run(bytes: &[u8]) {
    let Some((&kind, bytes)) = bytes.split_first() else { return };
    match kind % 6 {
        0 => program(Slab::<Value<0>>::new(), bytes),
        1 => program(Slab::<Value<40>>::builder().chunk_capacity(usize::from(kind) / 6 + 1).build(), bytes),
        2 => program(Slab::<Value<5000>>::builder().preallocate(usize::from(kind) / 6).build(), bytes),
        3 => program(Bounded::<Value<40>>::with_capacity(usize::from(kind) / 6), bytes),
        4 => {
            values::init().chunk_capacity(usize::from(kind) / 6 + 1).build();
            program(Thread { grows: true }, bytes);
            end_thread();
        }
        _ => {
            values::init().bounded(usize::from(kind) / 6).build();
            program(Thread { grows: false }, bytes);
            end_thread();
        }
    }
}

/// Drops the leaked values and checks that the thread's slab is empty.
fn end_thread() {
    for key in values::leaked() {
        drop(values::reclaim(key));
    }
    values::shutdown().unwrap();
    assert_eq!((values::len(), values::capacity()), (0, 0));
}

fn program<const N: usize, P: Subject<N>>(slab: P, bytes: &[u8]) {
    let live = Rc::new(Cell::new(0));
    // The model: the value of each slot and of each key.
    let mut slots: Vec<Slot<Value<N>, P::Kind>> = Vec::new();
    let mut models: Vec<Option<Box<u64>>> = Vec::new();
    let mut leaked: Vec<(Key, Option<StampedKey>, u64)> = Vec::new();
    let mut stale: Vec<StampedKey> = Vec::new();
    let mut number = 0;

    for step in bytes.chunks_exact(2) {
        let at = usize::from(step[1]) % slots.len().max(1);
        let key_at = usize::from(step[1]) % leaked.len().max(1);
        match step[0] % 16 {
            0..=3 => {
                for _ in 0..=step[1] / 16 {
                    number += 1;
                    match slab.insert(Value::new(number, &live)) {
                        Ok(slot) => {
                            slots.push(slot);
                            models.push(Some(Box::new(number)));
                        }
                        Err(value) => {
                            value.check(number);
                            assert_eq!(slab.len(), slab.capacity());
                        }
                    }
                }
            }
            4 if slab.len() < slab.capacity() => {
                number += 1;
                slots.push(slab.insert_with(|| Value::new(number, &live)));
                models.push(Some(Box::new(number)));
            }
            5 if !slots.is_empty() => {
                drop(slots.swap_remove(at));
                models.swap_remove(at);
            }
            6 => {
                slots.truncate(at);
                models.truncate(at);
            }
            7 if !slots.is_empty() => slots.swap_remove(at).into_inner().check(*models.swap_remove(at).unwrap()),
            8 if !slots.is_empty() => {
                number += 1;
                let old = std::mem::replace(&mut *slots[at], Value::new(number, &live));
                old.check(*models[at].replace(Box::new(number)).unwrap());
            }
            9 if !slots.is_empty() => {
                let (slot, model) = (slots.swap_remove(at), models.swap_remove(at).unwrap());
                let name = slot.key();
                assert!(slab.reclaim(name).is_none(), "it has a slot");
                let key = slot.leak();
                assert_eq!(key, name);
                leaked.push((key, None, *model));
            }
            10 if !slots.is_empty() => {
                let (slot, model) = (slots.swap_remove(at), models.swap_remove(at).unwrap());
                let key = slot.leak_stamped();
                leaked.push((key.key(), Some(key), *model));
            }
            11 if !leaked.is_empty() => {
                let (key, stamped, model) = leaked.swap_remove(key_at);
                let slot = match stamped {
                    Some(stamped) => {
                        stale.push(stamped);
                        slab.reclaim_stamped(stamped).unwrap()
                    }
                    None => slab.reclaim(key).unwrap(),
                };
                assert!(slab.reclaim(key).is_none());
                slots.push(slot);
                models.push(Some(Box::new(model)));
            }
            12 if !leaked.is_empty() => {
                let (key, _, model) = leaked[key_at];
                slab.with(key, |value| value.check(model)).unwrap();
            }
            13 => {
                assert!(stale.iter().all(|&key| slab.reclaim_stamped(key).is_none()), "a key of another value");
                assert!(slab.with(Key::from_raw(u32::from(step[1]) << 24 | 0xFF_FFFF), |_| ()).is_none());
            }
            14 => slab.shrink(),
            15 => slab.reserve(usize::from(step[1])),
            _ => {}
        }
        assert_eq!(slab.len(), slots.len() + leaked.len());
        assert!(slab.capacity() >= slab.len());
        assert_eq!(live.get(), slab.len());
    }
    let mut keys: Vec<Key> = leaked.iter().map(|leaked| leaked.0).collect();
    keys.sort_unstable();
    assert_eq!(slab.leaked(), keys);
    for (slot, model) in slots.iter().zip(&models) {
        slot.check(**model.as_ref().unwrap());
    }
    // Drops either the slab or the slots first.
    if bytes.len().is_multiple_of(4) {
        drop(slab);
        drop(slots);
    } else {
        drop(slots);
        drop(slab);
    }
}
