//! Programs on slabs that re-enter: destructors, closures and iterators of the values use the slab that holds them. The
//! test in `slab_attack_again.rs` and the fuzz target share this file.

use dwell::slab::{Bounded, Key, Pool, Pooled, Slab, Slot, sync};
use std::cell::{Cell, RefCell};
use std::collections::HashSet;
use std::ops::DerefMut;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::rc::Rc;

/// A slab or pool of nodes.
trait Subject: Sized + 'static {
    type Slot: DerefMut<Target = Node<Self>>;

    /// Whether a new slab is another one, and the old one is dropped.
    const OUTLIVED: bool = true;

    fn new() -> Self;
    fn insert(&self, node: Node<Self>) -> Option<Self::Slot>;
    fn insert_with(&self, make: impl FnOnce() -> Node<Self>) -> Option<Self::Slot>;
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
    ($Slab:ty, $Slot:ty, $new:expr, { $($more:tt)* }) => {
        impl Subject for $Slab {
            type Slot = $Slot;

            fn new() -> Self {
                Self($new)
            }

            fn insert(&self, node: Node<Self>) -> Option<Self::Slot> {
                self.0.try_insert(node).ok()
            }

            fn insert_with(&self, make: impl FnOnce() -> Node<Self>) -> Option<Self::Slot> {
                self.0.try_insert_with(make).ok()
            }

            fn into_inner(slot: Self::Slot) -> Node<Self> {
                slot.into_inner()
            }

            $($more)*
        }
    };
}

macro_rules! keyed {
    () => {
        fn len(&self) -> Option<usize> {
            Some(self.0.len())
        }

        fn leak(slot: Self::Slot) -> Result<Key, Self::Slot> {
            Ok(slot.leak_stamped().key())
        }

        fn reclaim(&self, key: Key) -> Option<Self::Slot> {
            self.0.reclaim(key)
        }

        fn with<R>(&self, key: Key, f: impl FnOnce(&mut Node<Self>) -> R) -> Option<R> {
            self.0.with(key, f)
        }
    };
}

struct Direct(Slab<Node<Direct>>);
struct SmallChunks(Slab<Node<SmallChunks>>);
struct Full(Bounded<Node<Full>>);
struct Shared(sync::Slab<Node<Shared>>);
struct OfPool(Pool);
struct OfThread;

dwell::slab!(mod nodes: Node<OfThread>);

impl Subject for OfThread {
    type Slot = nodes::Slot;
    const OUTLIVED: bool = false;

    fn new() -> Self {
        Self
    }

    fn insert(&self, node: Node<Self>) -> Option<Self::Slot> {
        Some(nodes::insert(node))
    }

    fn insert_with(&self, make: impl FnOnce() -> Node<Self>) -> Option<Self::Slot> {
        nodes::try_insert_with(make).ok()
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

slab!(Direct, Slot<Node<Self>>, Slab::new(), {
    keyed!();

    fn reserve(&self, more: usize) {
        self.0.reserve(more);
    }

    fn shrink_to_fit(&self) {
        self.0.shrink_to_fit();
    }
});
slab!(SmallChunks, Slot<Node<Self>>, Slab::builder().chunk_capacity(3).build(), {
    keyed!();

    fn reserve(&self, more: usize) {
        self.0.try_reserve(more).unwrap();
    }

    fn shrink_to_fit(&self) {
        self.0.shrink_to_fit();
    }
});
slab!(Full, Slot<Node<Self>>, Bounded::with_capacity(5), {
    keyed!();
});
slab!(OfPool, Pooled<Node<Self>>, Pool::new(), {});
slab!(Shared, sync::Slot<Node<Self>>, sync::Slab::new(), {
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
    /// Drops the slab, while it may have slots, and makes a new one.
    NewSlab,
    Panic,
}

impl Op {
    fn decode(op: u8, operand: u8) -> Self {
        match op % 20 {
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
            17 | 18 => Self::NewSlab,
            _ => Self::Panic,
        }
    }
}

/// The slab, its slots and keys, and the model.
struct World<H: Subject> {
    slab: RefCell<Rc<(u64, H)>>,
    /// The slots, each with the number of its slab, which may be dropped.
    slots: RefCell<Vec<(u64, H::Slot)>>,
    /// The keys of values that were leaked to `slab`.
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

    /// Returns the slab and its number.
    fn slab(&self) -> Rc<(u64, H)> {
        self.slab.borrow().clone()
    }

    /// Runs the next op, which may run others.
    fn run_next_op(self: &Rc<Self>) {
        if self.depth.get() >= 5 {
            return;
        }
        self.depth.set(self.depth.get() + 1);
        let _up = DepthGuard(&self.depth);
        let op = self.script.borrow_mut().pop();
        let current = self.slab();
        let (number, slab) = &*current;
        let keep = |slot| self.slots.borrow_mut().extend(slot);
        let keep_new = |slot: Option<H::Slot>| keep(slot.map(|slot| (*number, slot)));
        match op {
            None => {}
            Some(Op::Insert) => keep_new(slab.insert(self.node())),
            Some(Op::InsertWith) => keep_new(slab.insert_with(|| {
                self.run_next_op();
                self.node()
            })),
            Some(Op::Drop(at)) => drop(Self::pick(&self.slots, at)),
            Some(Op::IntoInner(at)) => drop(Self::pick(&self.slots, at).map(|(_, slot)| H::into_inner(slot))),
            Some(Op::Replace(at)) => {
                if let Some((of, mut slot)) = Self::pick(&self.slots, at) {
                    let old = std::mem::replace(&mut *slot, self.node());
                    keep(Some((of, slot)));
                    drop(old);
                }
            }
            // A value that is leaked to a slab which was dropped leaks for good.
            Some(Op::Leak(at)) => match Self::pick(&self.slots, at) {
                Some((of, slot)) if of == self.slab().0 => match H::leak(slot) {
                    Ok(key) => self.keys.borrow_mut().push(key),
                    Err(slot) => keep(Some((of, slot))),
                },
                of_dropped => keep(of_dropped),
            },
            Some(Op::Reclaim(at)) => {
                if let Some(key) = Self::pick(&self.keys, at) {
                    match slab.reclaim(key) {
                        Some(slot) => {
                            slot.check();
                            keep_new(Some(slot));
                        }
                        None => self.keys.borrow_mut().push(key), // `with` borrows it
                    }
                }
            }
            Some(Op::With(at)) => {
                let keys = self.keys.borrow().clone();
                if let Some(key) = keys.get(usize::from(at) % keys.len().max(1)) {
                    slab.with(*key, |node| {
                        self.run_next_op();
                        node.check();
                    });
                }
            }
            Some(Op::ShrinkToFit) => slab.shrink_to_fit(),
            Some(Op::Reserve(more)) => slab.reserve(usize::from(more)),
            Some(Op::DropMany(count)) => {
                let each = (0..count % 8).filter_map(|at| {
                    self.run_next_op();
                    Self::pick(&self.slots, at).map(|(_, slot)| slot)
                });
                H::drop_all(each);
            }
            Some(Op::NewSlab) => {
                let new = Rc::new((number + 1, H::new()));
                if H::OUTLIVED {
                    self.keys.borrow_mut().clear();
                    drop(self.slab.replace(new));
                }
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
    match kind % 6 {
        0 => program::<SmallChunks>(bytes),
        1 => program::<Direct>(bytes),
        2 => {
            let panicked = program::<OfThread>(bytes);
            nodes::shutdown().unwrap();
            panicked
        }
        3 => program::<Shared>(bytes),
        4 => program::<Full>(bytes),
        _ => program::<OfPool>(bytes),
    }
}

fn program<H: Subject>(bytes: &[u8]) -> u32 {
    let script = bytes.rchunks_exact(2).map(|op| Op::decode(op[0], op[1])).collect();
    let world: Rc<World<H>> = Rc::new(World {
        slab: RefCell::new(Rc::new((0, H::new()))),
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
        world.slots.borrow().iter().for_each(|(_, slot)| slot.check());
        assert!(world.slots.borrow().len() + world.keys.borrow().len() <= world.alive.borrow().len());
        while world.slots.borrow().len() > 60 {
            panicked += u32::from(panics(|| drop(World::<H>::pick(&world.slots, 0))));
        }
    }
    while let Some(key) = World::<H>::pick(&world.keys, 0) {
        drop(world.slab().1.reclaim(key));
    }
    while let Some(slot) = World::<H>::pick(&world.slots, 0) {
        drop(slot);
    }
    assert!(world.alive.borrow().is_empty());
    assert!(world.slab().1.len().is_none_or(|len| len == 0));
    assert_eq!(Rc::strong_count(&world), 1);
    panicked
}
