//! Programs on slabs that re-enter: destructors, closures and iterators of the values use the slab that holds them. The
//! test in `slab_attack_again.rs` and the fuzz target share this file.

use dwell::slab::{Key, Pool, PoolSlot, Slab, Slot, sync};
use std::cell::{Cell, RefCell};
use std::collections::HashSet;
use std::ops::DerefMut;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::rc::Rc;

/// A slab or pool of nodes.
trait Subject: Sized + 'static {
    type Slot: DerefMut<Target = Node<Self>>;

    fn insert(&self, node: Node<Self>) -> Self::Slot;
    fn insert_with(&self, make: impl FnOnce() -> Node<Self>) -> Self::Slot;
    fn into_inner(slot: Self::Slot) -> Node<Self>;
    fn len(&self) -> Option<usize> {
        None
    }
    fn shrink_to_fit(&self) {}
    fn reserve(&self, _more: usize) {}
    fn drop_all(slots: impl Iterator<Item = Self::Slot>) {
        slots.for_each(drop);
    }
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

macro_rules! slab {
    ($Slab:ty, $Slot:ty, { $($more:tt)* }) => {
        impl Subject for $Slab {
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

impl Subject for OfThread {
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

    fn reserve(&self, more: usize) {
        nodes::reserve(more);
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

slab!(Direct, Slot<Node<Self>>, {
    fn reserve(&self, more: usize) {
        self.0.reserve(more);
    }

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
slab!(Pooled, PoolSlot<Node<Self>>, {});
slab!(Shared, sync::Slot<Node<Self>>, {
    fn reserve(&self, more: usize) {
        self.0.reserve(more);
    }

    fn drop_all(slots: impl Iterator<Item = Self::Slot>) {
        sync::drop_all(slots);
    }

    fn len(&self) -> Option<usize> {
        Some(self.0.len())
    }

    fn shrink_to_fit(&self) {
        self.0.shrink_to_fit();
    }
});

/// An operation of a program. Destructors, closures and iterators of the values run the next operation themselves.
#[derive(Clone, Copy, Debug)]
enum Op {
    Insert,
    /// The closure runs an op before it makes the value.
    InsertWith,
    Drop(u8),
    IntoInner(u8),
    Replace(u8),
    Leak(u8),
    Reclaim(u8),
    /// The closure runs an op while it borrows the value.
    With(u8),
    ShrinkToFit,
    Reserve(u8),
    /// Drops this many slots with `drop_all`, whose iterator runs an op before each item.
    DropMany(u8),
    Panic,
}

impl Op {
    fn decode(op: u8, operand: u8) -> Self {
        match op % 18 {
            0..4 => Self::Insert,
            4 => Self::InsertWith,
            5 | 6 => Self::Drop(operand),
            7 => Self::IntoInner(operand),
            8 => Self::Replace(operand),
            9 | 10 => Self::Leak(operand),
            11 => Self::Reclaim(operand),
            12 | 13 => Self::With(operand),
            14 => Self::ShrinkToFit,
            15 => Self::Reserve(operand),
            16 => Self::DropMany(operand),
            _ => Self::Panic,
        }
    }
}

/// The slab, its slots and keys, and the model.
struct World<H: Subject> {
    slab: H,
    slots: RefCell<Vec<H::Slot>>,
    keys: RefCell<Vec<Key>>,
    /// The numbers of the live nodes.
    alive: RefCell<HashSet<u64>>,
    last: Cell<u64>,
    /// The remaining ops, the next one last.
    script: RefCell<Vec<Op>>,
    depth: Cell<u32>,
}

/// A value whose destructor runs an op, which may panic.
struct Node<H: Subject> {
    world: Rc<World<H>>,
    number: u64,
    /// A copy of the number, which differs if the node was overwritten.
    again: Box<u64>,
    fill: [u64; 120],
}

impl<H: Subject> Drop for Node<H> {
    fn drop(&mut self) {
        self.check();
        assert!(self.world.alive.borrow_mut().remove(&self.number), "dropped twice");
        self.world.clone().run_next_op();
    }
}

impl<H: Subject> Node<H> {
    fn check(&self) {
        assert!(self.number == *self.again && self.fill[119] == self.number, "values overlap");
    }
}

/// Decrements the depth on drop, also during unwinding.
struct DepthGuard<'a>(&'a Cell<u32>);

impl Drop for DepthGuard<'_> {
    fn drop(&mut self) {
        self.0.set(self.0.get() - 1);
    }
}

impl<H: Subject> World<H> {
    fn node(self: &Rc<Self>) -> Node<H> {
        let number = self.last.get() + 1;
        self.last.set(number);
        self.alive.borrow_mut().insert(number);
        Node { world: self.clone(), number, again: Box::new(number), fill: [number; 120] }
    }

    fn pick<T>(from: &RefCell<Vec<T>>, at: u8) -> Option<T> {
        let len = from.borrow().len();
        (len != 0).then(|| from.borrow_mut().swap_remove(usize::from(at) % len))
    }

    fn keep(&self, slot: H::Slot) {
        self.slots.borrow_mut().push(slot);
    }

    /// Runs the next op, which may run others.
    fn run_next_op(self: &Rc<Self>) {
        if self.depth.get() >= 5 {
            return;
        }
        self.depth.set(self.depth.get() + 1);
        let _up = DepthGuard(&self.depth);
        let op = self.script.borrow_mut().pop();
        match op {
            None => {}
            Some(Op::Insert) => self.keep(self.slab.insert(self.node())),
            Some(Op::InsertWith) => self.keep(self.slab.insert_with(|| {
                self.run_next_op();
                self.node()
            })),
            Some(Op::Drop(at)) => drop(Self::pick(&self.slots, at)),
            Some(Op::IntoInner(at)) => drop(Self::pick(&self.slots, at).map(H::into_inner)),
            Some(Op::Replace(at)) => {
                if let Some(mut slot) = Self::pick(&self.slots, at) {
                    let old = std::mem::replace(&mut *slot, self.node());
                    self.keep(slot);
                    drop(old);
                }
            }
            Some(Op::Leak(at)) => match Self::pick(&self.slots, at).map(H::leak) {
                Some(Ok(key)) => self.keys.borrow_mut().push(key),
                Some(Err(slot)) => self.keep(slot),
                None => {}
            },
            Some(Op::Reclaim(at)) => {
                if let Some(key) = Self::pick(&self.keys, at) {
                    match self.slab.reclaim(key) {
                        Some(slot) => {
                            slot.check();
                            self.keep(slot);
                        }
                        None => self.keys.borrow_mut().push(key), // `with` borrows it
                    }
                }
            }
            Some(Op::With(at)) => {
                let keys = self.keys.borrow().clone();
                if let Some(key) = keys.get(usize::from(at) % keys.len().max(1)) {
                    self.slab.with(*key, |node| {
                        self.run_next_op();
                        node.check();
                    });
                }
            }
            Some(Op::ShrinkToFit) => self.slab.shrink_to_fit(),
            Some(Op::Reserve(more)) => self.slab.reserve(usize::from(more)),
            Some(Op::DropMany(count)) => {
                let each = (0..count % 8).filter_map(|at| {
                    self.run_next_op();
                    Self::pick(&self.slots, at)
                });
                H::drop_all(each);
            }
            Some(Op::Panic) if std::thread::panicking() => {}
            // Bypasses the panic hook, which would print a message or end a fuzzer.
            Some(Op::Panic) => resume_unwind(Box::new(Expected)),
        }
    }
}

/// The payload of an op's panic.
struct Expected;

/// Runs `f` and returns whether an op panicked. Resumes any other panic.
fn panics(f: impl FnOnce()) -> bool {
    match catch_unwind(AssertUnwindSafe(f)) {
        Ok(()) => false,
        Err(panic) if panic.is::<Expected>() => true,
        Err(panic) => resume_unwind(panic),
    }
}

/// Runs the ops encoded in `bytes`, two bytes each, on a slab that the first byte selects. Returns how many panicked.
pub(crate) fn run(bytes: &[u8]) -> u32 {
    let Some((&kind, bytes)) = bytes.split_first() else { return 0 };
    match kind % 5 {
        0 => program(Direct(Slab::builder().chunk_capacity(3).build()), bytes),
        1 => program(Direct(Slab::new()), bytes),
        2 => {
            let panicked = program(OfThread, bytes);
            nodes::shutdown().unwrap();
            panicked
        }
        3 => program(Shared(sync::Slab::new()), bytes),
        _ => program(Pooled(Pool::new()), bytes),
    }
}

fn program<H: Subject>(slab: H, bytes: &[u8]) -> u32 {
    let script = bytes.rchunks_exact(2).map(|op| Op::decode(op[0], op[1])).collect();
    let world = Rc::new(World {
        slab,
        slots: RefCell::default(),
        keys: RefCell::default(),
        alive: RefCell::default(),
        last: Cell::new(0),
        script: RefCell::new(script),
        depth: Cell::new(0),
    });
    let mut panicked = 0;
    while !world.script.borrow().is_empty() {
        panicked += u32::from(panics(|| world.run_next_op()));
        world.slots.borrow().iter().for_each(|slot| slot.check());
        assert!(world.slots.borrow().len() + world.keys.borrow().len() <= world.alive.borrow().len());
        while world.slots.borrow().len() > 60 {
            panicked += u32::from(panics(|| drop(World::<H>::pick(&world.slots, 0))));
        }
    }
    while let Some(key) = World::<H>::pick(&world.keys, 0) {
        drop(world.slab.reclaim(key));
    }
    while let Some(slot) = World::<H>::pick(&world.slots, 0) {
        drop(slot);
    }
    assert!(world.alive.borrow().is_empty());
    assert!(world.slab.len().is_none_or(|len| len == 0));
    assert_eq!(Rc::strong_count(&world), 1);
    panicked
}
