//! More attempts to break slabs in safe code: values whose destructors do whatever they like, and orders of ending.

mod common;

use common::{left_by, panics};
use dwell::slab::{Key, Pool, PoolSlot, Slab, Slot, StampedKey, sync};
use std::any::Any;
use std::cell::{Cell, RefCell};
use std::collections::HashSet;
use std::ops::Deref;
use std::rc::Rc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::{env, thread};

/// A stamped key finds no later value, though its slab was shut down in between.
#[test]
fn stamps_go_on_after_a_shutdown() {
    dwell::slab!(mod texts: String);
    let mut old: Vec<StampedKey> = Vec::new();
    for round in 0..4 {
        for _ in 0..=round {
            let key = texts::insert(format!("of round {round}")).leak_stamped();
            assert!(old.iter().all(|&old| old != key && texts::reclaim_stamped(old).is_none()));
            old.push(key);
            assert_eq!(*texts::reclaim_stamped(key).unwrap(), format!("of round {round}"));
        }
        texts::shutdown().unwrap();
        assert_eq!(texts::capacity(), 0);
    }
}

/// What has places for nodes.
trait Home: Sized + 'static {
    type Slot: Deref<Target = Node<Self>>;

    fn insert(&self, node: Node<Self>) -> Self::Slot;
    fn insert_with(&self, make: impl FnOnce() -> Node<Self>) -> Self::Slot;
    fn into_inner(slot: Self::Slot) -> Node<Self>;
    fn len(&self) -> Option<usize> {
        None
    }
    fn shrink_to_fit(&self) {}
    fn leak(slot: Self::Slot) -> Result<Key, Self::Slot> {
        Err(slot)
    }
    fn reclaim(&self, _: Key) -> Option<Self::Slot> {
        None
    }
    fn with<R>(&self, _: Key, _: impl FnOnce(&mut Node<Self>) -> R) -> Option<R> {
        None
    }
}

macro_rules! home {
    ($Home:ty, $Slot:ty, { $($more:tt)* }) => {
        impl Home for $Home {
            type Slot = $Slot;

            fn insert(&self, node: Node<Self>) -> Self::Slot {
                self.0.insert(node)
            }

            fn insert_with(&self, make: impl FnOnce() -> Node<Self>) -> Self::Slot {
                self.0.insert_with(make)
            }

            fn into_inner(slot: Self::Slot) -> Node<Self> {
                slot.into_inner()
            }

            $($more)*
        }
    };
}

struct Direct(Slab<Node<Direct>>);
struct Shared(sync::Slab<Node<Shared>>);
struct Pooled(Pool);
struct OfThread;

dwell::slab!(mod nodes: Node<OfThread>);

impl Home for OfThread {
    type Slot = nodes::Slot;

    fn insert(&self, node: Node<Self>) -> Self::Slot {
        nodes::insert(node)
    }

    fn insert_with(&self, make: impl FnOnce() -> Node<Self>) -> Self::Slot {
        nodes::insert_with(make)
    }

    fn into_inner(slot: Self::Slot) -> Node<Self> {
        slot.into_inner()
    }

    fn len(&self) -> Option<usize> {
        Some(nodes::len())
    }

    fn shrink_to_fit(&self) {
        nodes::shrink_to_fit();
        assert!(nodes::is_empty() || nodes::shutdown().is_err());
    }

    fn leak(slot: Self::Slot) -> Result<Key, Self::Slot> {
        Ok(slot.leak())
    }

    fn reclaim(&self, key: Key) -> Option<Self::Slot> {
        nodes::reclaim(key)
    }

    fn with<R>(&self, key: Key, f: impl FnOnce(&mut Node<Self>) -> R) -> Option<R> {
        nodes::with(key, f)
    }
}

home!(Direct, Slot<Node<Self>>, {
    fn len(&self) -> Option<usize> {
        Some(self.0.len())
    }

    fn shrink_to_fit(&self) {
        self.0.shrink_to_fit();
    }

    fn leak(slot: Self::Slot) -> Result<Key, Self::Slot> {
        Ok(slot.leak())
    }

    fn reclaim(&self, key: Key) -> Option<Self::Slot> {
        self.0.reclaim(key)
    }

    fn with<R>(&self, key: Key, f: impl FnOnce(&mut Node<Self>) -> R) -> Option<R> {
        self.0.with(key, f)
    }
});
home!(Pooled, PoolSlot<Node<Self>>, {});
home!(Shared, sync::Slot<Node<Self>>, {
    fn len(&self) -> Option<usize> {
        Some(self.0.len())
    }

    fn shrink_to_fit(&self) {
        self.0.shrink_to_fit();
    }
});

/// Everything there is, and what is known of it.
struct World<H: Home> {
    home: H,
    slots: RefCell<Vec<H::Slot>>,
    keys: RefCell<Vec<Key>>,
    /// The numbers of the nodes that are alive.
    alive: RefCell<HashSet<u64>>,
    last: Cell<u64>,
    random: Cell<u64>,
    depth: Cell<u32>,
}

/// A value that does something at random when it is dropped, and may panic.
struct Node<H: Home> {
    world: Rc<World<H>>,
    number: u64,
    /// Another place for the number: a node that was written over shows.
    again: Box<u64>,
    _room: [u64; 120],
}

impl<H: Home> Drop for Node<H> {
    fn drop(&mut self) {
        self.check();
        assert!(self.world.alive.borrow_mut().remove(&self.number), "dropped twice");
        self.world.clone().act();
    }
}

impl<H: Home> Node<H> {
    fn check(&self) {
        assert_eq!(self.number, *self.again, "values overlap");
    }
}

impl<H: Home> World<H> {
    fn node(self: &Rc<Self>) -> Node<H> {
        let number = self.last.get() + 1;
        self.last.set(number);
        self.alive.borrow_mut().insert(number);
        Node { world: self.clone(), number, again: Box::new(number), _room: [number; 120] }
    }

    fn random(&self, below: usize) -> usize {
        let next = self.random.get().wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        self.random.set(next);
        usize::try_from(next >> 33).unwrap() % below
    }

    fn pick<T>(&self, from: &RefCell<Vec<T>>) -> Option<T> {
        let len = from.borrow().len();
        (len != 0).then(|| from.borrow_mut().swap_remove(self.random(len)))
    }

    /// Does one thing, in which others may happen.
    fn act(self: &Rc<Self>) {
        /// One level up again, however that comes.
        struct Up<'a>(&'a Cell<u32>);
        impl Drop for Up<'_> {
            fn drop(&mut self) {
                self.0.set(self.0.get() - 1);
            }
        }
        if self.depth.get() >= 5 {
            return;
        }
        self.depth.set(self.depth.get() + 1);
        let _up = Up(&self.depth);
        let keep = |slot| self.slots.borrow_mut().push(slot);
        match self.random(12) {
            0..3 => keep(self.home.insert(self.node())),
            3 => keep(self.home.insert_with(|| {
                self.act();
                self.node()
            })),
            4 | 5 => drop(self.pick(&self.slots)),
            6 => drop(self.pick(&self.slots).map(H::into_inner)),
            7 => match self.pick(&self.slots).map(H::leak) {
                Some(Ok(key)) => self.keys.borrow_mut().push(key),
                Some(Err(slot)) => keep(slot),
                None => {}
            },
            8 => {
                if let Some(key) = self.pick(&self.keys) {
                    match self.home.reclaim(key) {
                        Some(slot) => {
                            slot.check();
                            keep(slot);
                        }
                        None => self.keys.borrow_mut().push(key), // it is lent
                    }
                }
            }
            9 => {
                let key = self.keys.borrow().last().copied();
                key.and_then(|key| {
                    self.home.with(key, |node| {
                        self.act();
                        node.check();
                    })
                });
            }
            10 => self.home.shrink_to_fit(),
            _ if thread::panicking() => {}
            _ => panic!("somewhere"),
        }
    }
}

fn anything_goes<H: Home>(home: H) {
    let steps = env::var("DWELL_TEST_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(2000) * 10;
    let world = Rc::new(World {
        home,
        slots: RefCell::default(),
        keys: RefCell::default(),
        alive: RefCell::default(),
        last: Cell::new(0),
        random: Cell::new(8),
        depth: Cell::new(0),
    });
    let mut panicked = 0;
    for _ in 0..steps {
        panicked += u32::from(panics(|| world.act()));
        world.slots.borrow().iter().for_each(|slot| slot.check());
        assert!(world.slots.borrow().len() + world.keys.borrow().len() <= world.alive.borrow().len());
        while world.slots.borrow().len() > 60 {
            panicked += u32::from(panics(|| drop(world.pick(&world.slots))));
        }
    }
    assert!(panicked > steps / 100, "{panicked} of {steps}");
    world.depth.set(u32::MAX); // nothing happens any more
    while let Some(key) = world.pick(&world.keys) {
        drop(world.home.reclaim(key));
    }
    while let Some(slot) = world.pick(&world.slots) {
        drop(slot);
    }
    assert!(world.alive.borrow().is_empty());
    assert!(world.home.len().is_none_or(|len| len == 0));
    assert_eq!(Rc::strong_count(&world), 1);
}

#[test]
fn drops_that_do_anything() {
    anything_goes(Direct(Slab::builder().chunk_capacity(3).build()));
    anything_goes(Direct(Slab::new()));
    anything_goes(OfThread);
    nodes::shutdown().unwrap();
    anything_goes(Shared(sync::Slab::new()));
    anything_goes(Pooled(Pool::new()));
}

/// The destructor of a value drops the slab that the value was in, and other values of it.
#[test]
fn slabs_that_go_with_their_values() {
    struct Owner(#[expect(dead_code, reason = "dropped")] (Rc<Pool>, Option<PoolSlot<dyn Any>>));
    struct Shares(RefCell<Vec<sync::Slot<Owned>>>, sync::Slab<Owned>);
    struct Owned(Rc<Shares>, Box<u32>);
    impl Drop for Owned {
        fn drop(&mut self) {
            // One more than its own, while a run of places is put together.
            let other = self.0.0.borrow_mut().pop();
            *self.1 += u32::from(other.is_some());
        }
    }
    let left = left_by(|| {
        for count in 2..20 {
            let shares = Rc::new(Shares(RefCell::default(), sync::Slab::new()));
            let mut slots: Vec<_> = (0..count).map(|n| shares.1.insert(Owned(shares.clone(), Box::new(n)))).collect();
            let half = slots.split_off(slots.len() / 2);
            *shares.0.borrow_mut() = half;
            drop(shares);
            sync::drop_all(slots);
        }
        for count in 0..10 {
            let pool = Rc::new(Pool::new());
            let mut last: Option<PoolSlot<dyn Any>> = None;
            for _ in 0..count {
                last = Some(pool.insert(Owner((pool.clone(), last))).coerce(|view| view as _));
            }
            drop(pool);
            drop(last);
        }
    });
    assert_eq!(left, (0, 0));
}

/// Leaked values of two modules own slots of each other, whichever of them ends first.
#[test]
fn modules_that_own_each_other() {
    static DROPPED: AtomicUsize = AtomicUsize::new(0);
    struct Left(#[expect(dead_code, reason = "dropped")] Option<rights::Slot>, Box<u32>);
    #[expect(dead_code, reason = "dropped")]
    struct Right(Option<lefts::Slot>, Box<u32>);
    dwell::slab!(mod lefts: Left);
    dwell::slab!(mod rights: Right);
    impl Drop for Left {
        fn drop(&mut self) {
            DROPPED.fetch_add(1, Ordering::Relaxed);
            if let Some(less) = self.1.checked_sub(1) {
                // In a slab that may be gone, to which a leak would be for good.
                drop(rights::insert(Right(None, Box::new(less))));
            }
        }
    }
    impl Drop for Right {
        fn drop(&mut self) {
            DROPPED.fetch_add(1, Ordering::Relaxed);
            drop(lefts::insert(Left(None, Box::new(0))));
        }
    }
    let mut dropped = Vec::new();
    for left_first in [true, false] {
        DROPPED.store(0, Ordering::Relaxed);
        thread::spawn(move || {
            if left_first {
                lefts::reserve(1);
            } else {
                rights::reserve(1);
            }
            for n in 0..50 {
                let right = rights::insert(Right(None, Box::new(n)));
                let left = lefts::insert(Left(Some(right), Box::new(n % 3)));
                let outer = rights::insert(Right(Some(left), Box::new(n)));
                if n % 2 == 0 {
                    outer.leak();
                } else {
                    lefts::insert(Left(Some(outer), Box::new(0))).leak();
                }
            }
        })
        .join()
        .unwrap();
        // 100 of `Right` and 75 of `Left`, each `Right` makes a `Left`, and some of `Left` make a `Right`: as many in either order.
        dropped.push(DROPPED.load(Ordering::Relaxed));
    }
    assert!(dropped[0] >= 275 && dropped[0] == dropped[1], "{dropped:?}");
}
