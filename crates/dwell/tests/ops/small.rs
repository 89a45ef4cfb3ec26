//! Random operations on a list of `SmallBox<dyn Object>`, compared with a list of `Box<dyn Object>`. Some values
//! re-enter: their drops and clones make, resize and drop other boxes. The model test and the fuzz target share this
//! file.

use dwell::alloc::Global;
use dwell::small::PushCoerced;
use dwell::{SmallBox, small_box};
use std::cell::{Cell, RefCell};
use std::fmt::Debug;

/// The trait of the boxed values, with a method to read, one to change and two to copy.
trait Object: Debug {
    fn sum(&self) -> u64;
    fn add(&mut self, n: u8);
    fn small(&self) -> Small;
    fn boxed(&self) -> Box<dyn Object>;
}

type Small = SmallBox<dyn Object>;

#[derive(Clone, Debug)]
struct Bytes<const N: usize>([u8; N]);

/// A value that owns memory, so that a checking allocator detects a wrong move.
#[derive(Clone, Debug)]
struct Owner(Box<u64>);

#[derive(Clone, Debug)]
struct Two(String);

#[derive(Clone, Debug)]
#[repr(align(32))]
struct Aligned(u64);

#[derive(Clone, Debug)]
#[repr(align(64))]
struct AlignedNothing;

thread_local! {
    /// The boxes that [`Reenters`] makes and drops.
    static OTHERS: RefCell<Vec<Small>> = const { RefCell::new(Vec::new()) };
    /// Whether [`Reenters`] still makes boxes.
    static MAKES: Cell<bool> = const { Cell::new(false) };
}

/// A value that makes and drops other boxes in `clone` and `drop`, some of which do the same.
#[derive(Debug)]
struct Reenters<const N: usize>([u8; N]);

impl<const N: usize> Reenters<N> {
    fn reenter(&self) {
        let n = self.0.iter().fold(0_u8, |sum, byte| sum.wrapping_add(*byte));
        let taken = OTHERS.with_borrow_mut(|others| (others.len() > 4).then(|| others.swap_remove(usize::from(n) % 4)));
        if let Some(taken) = taken {
            let moved = taken.resize::<1>();
            let _sum = moved.sum();
            drop(moved.resize::<4>()); // may re-enter
        }
        if MAKES.get() {
            let made: Small =
                if n % 3 == 0 { small_box!(Reenters([n / 2])) } else { small_box!(Owner(Box::new(n.into()))) };
            OTHERS.with_borrow_mut(|others| others.push(made));
        }
    }
}

impl<const N: usize> Clone for Reenters<N> {
    fn clone(&self) -> Self {
        self.reenter();
        Self(self.0)
    }
}

impl<const N: usize> Drop for Reenters<N> {
    fn drop(&mut self) {
        self.reenter();
    }
}

/// An iterator that re-enters between its items and has a wrong size hint.
struct WrongHint<I>(I, usize);

impl<I: Iterator> Iterator for WrongHint<I> {
    type Item = I::Item;

    fn next(&mut self) -> Option<I::Item> {
        Reenters([7, 8]).reenter();
        self.0.next()
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.1, None)
    }
}

impl<const N: usize> Object for Bytes<N> {
    fn sum(&self) -> u64 {
        self.0.iter().map(|&byte| u64::from(byte)).sum()
    }

    fn add(&mut self, n: u8) {
        self.0.iter_mut().for_each(|byte| *byte = byte.wrapping_add(n));
    }

    fn small(&self) -> Small {
        small_box!(self.clone())
    }

    fn boxed(&self) -> Box<dyn Object> {
        Box::new(self.clone())
    }
}

impl<const N: usize> Object for Reenters<N> {
    fn sum(&self) -> u64 {
        self.0.iter().map(|&byte| u64::from(byte)).sum()
    }

    fn add(&mut self, n: u8) {
        self.0.iter_mut().for_each(|byte| *byte = byte.wrapping_add(n));
    }

    fn small(&self) -> Small {
        small_box!(self.clone())
    }

    fn boxed(&self) -> Box<dyn Object> {
        Box::new(self.clone())
    }
}

macro_rules! object {
    ($Type:ty, |$this:ident| $sum:expr, |$that:ident, $n:ident| $add:expr) => {
        impl Object for $Type {
            fn sum(&self) -> u64 {
                let $this = self;
                assert_eq!((&raw const *$this).addr() % align_of::<Self>(), 0);
                $sum
            }

            fn add(&mut self, $n: u8) {
                let $that = self;
                $add
            }

            fn small(&self) -> Small {
                small_box!(self.clone())
            }

            fn boxed(&self) -> Box<dyn Object> {
                Box::new(self.clone())
            }
        }
    };
}
object!(Owner, |this| *this.0, |this, n| *this.0 += u64::from(n));
object!(Two, |this| this.0.len() as u64, |this, n| this.0.push(char::from(b'a' + n % 26)));
object!(Aligned, |this| this.0, |this, n| this.0 ^= u64::from(n));
object!(AlignedNothing, |_this| 7, |_this, _n| ());

fn model(kind: u8, n: u8) -> Box<dyn Object> {
    match kind % 10 {
        0 => Box::new(Bytes([n; 0])),
        1 => Box::new(Bytes([n; 3])),
        2 => Box::new(Bytes([n; 16])),
        3 => Box::new(Bytes([n; 17])),
        4 => Box::new(Owner(Box::new(n.into()))),
        5 => Box::new(Two("x".repeat(n.into()))),
        6 => Box::new(Aligned(n.into())),
        7 => Box::new(Reenters([n; 4])),
        8 => Box::new(Reenters([n; 40])),
        _ => Box::new(AlignedNothing),
    }
}

/// Runs the operations encoded in `bytes`, three bytes each: the operation, the index, and the operand.
pub(crate) fn run(bytes: &[u8]) {
    let mut boxes: Vec<Small> = Vec::new();
    let mut models: Vec<Box<dyn Object>> = Vec::new();
    MAKES.set(true);

    for step in bytes.chunks_exact(3) {
        let (kind, n) = (step[1], step[2]);
        let at = usize::from(n) % boxes.len().max(1);
        match step[0] % 14 {
            _ if boxes.is_empty() || step[0] % 14 < 3 => {
                let model = model(kind, n);
                boxes.push(model.small());
                models.push(model);
            }
            3 => {
                boxes.push_coerced(Owner(Box::new(n.into())), |value| value);
                models.push(Box::new(Owner(Box::new(n.into()))));
            }
            4 => {
                let model = model(kind, n);
                boxes.push(SmallBox::from_box(model.boxed()));
                models.push(model);
            }
            5 => {
                boxes[at].add(kind);
                models[at].add(kind);
            }
            6 => {
                let small = boxes.swap_remove(at);
                assert_eq!(small.sum(), models.swap_remove(at).sum());
            }
            7 => {
                let small = boxes.swap_remove(at);
                boxes.push(small.resize::<1>().resize::<5>().resize());
                let model = models.swap_remove(at);
                models.push(model);
            }
            8 => {
                let whole: Box<dyn Object> = boxes.swap_remove(at).into_box();
                boxes.push(SmallBox::from_box(whole));
                let model = models.swap_remove(at);
                models.push(model);
            }
            9 => {
                boxes[at] = models[at].small();
            }
            10 => {
                let wide: SmallBox<dyn Object, 8, Global, Aligned> = small_box!(Aligned(n.into()));
                assert!(wide.is_inline());
                boxes.rotate_left(at);
                models.rotate_left(at);
                assert_eq!(wide.sum(), u64::from(n));
            }
            11 => {
                let small = boxes.swap_remove(at);
                let debug: SmallBox<dyn Debug> = small.coerce(|value| value as _);
                let model = models.swap_remove(at);
                assert_eq!(format!("{debug:?}"), format!("{model:?}"));
            }
            12 => slices(&bytes[..usize::from(kind).min(bytes.len())], n),
            _ => {
                boxes.truncate(at);
                models.truncate(at);
            }
        }
        assert!(boxes.iter().map(|small| small.sum()).eq(models.iter().map(|model| model.sum())));
    }
    assert_eq!(format!("{boxes:?}"), format!("{models:?}"));
    MAKES.set(false);
    drop((boxes, models));
    while let Some(other) = OTHERS.with_borrow_mut(Vec::pop) {
        drop(other);
    }
}

/// Makes and consumes a slice of boxes by every conversion.
fn slices(bytes: &[u8], n: u8) {
    let bytes = &bytes[..bytes.len().min(usize::from(n % 5))];
    let expected: Vec<Box<u8>> = bytes.iter().copied().map(Box::new).collect();
    let hint = [0, usize::from(n), 1 << (usize::BITS - 17), usize::MAX][usize::from(n % 4)];
    let collected: SmallBox<[Box<u8>]> = WrongHint(expected.iter().cloned(), hint).collect();
    let cloned = collected.clone();
    let from_vec: SmallBox<[Box<u8>]> = expected.clone().into();
    assert_eq!(collected, from_vec);
    assert!(*cloned == *expected);
    assert_eq!(collected.is_inline(), expected.len() <= 2);
    let mut values = collected.resize::<4>().into_iter();
    let front = values.next();
    assert_eq!(front.as_ref(), expected.first());
    if n > 128 {
        assert_eq!(values.next_back().as_ref(), expected.get(1..).and_then(<[_]>::last));
    }
    drop(values);
    assert_eq!(Vec::from(from_vec), expected);
    let text: SmallBox<str> = WrongHint(bytes.iter().map(|&byte| char::from(byte % 128)), hint).collect();
    assert_eq!(text.len(), bytes.len());
    assert_eq!(String::from(text.clone()), *text);
}
