//! Small values passed in registers.

use core::mem::MaybeUninit;

/// A value of up to four words, to be passed as two [`Pair`]s: in registers.
///
/// An insert calls a function that is not inlined only if the free stack is empty. A value that such a call takes is put
/// together in memory, since it may be passed by its address, or has to be dropped if the call panics; then the insert that
/// finds a cell reads it there again. A call that takes words leaves the value in registers, and drops it itself.
/// (`.pooled()` and a first poll take 61 instructions with it: `cargo run --release -p dwell-bench -- pin`.)
#[derive(Clone, Copy)]
#[repr(C)] // as an array of words
pub(super) struct Registers(pub(super) Pair, pub(super) Pair);

/// What is passed in two registers. A struct of more would be passed by its address.
#[derive(Clone, Copy)]
#[repr(C)] // as an array of words
pub(super) struct Pair(Word, Word);

// A pointer, so that the pointers of the value keep their provenance.
type Word = MaybeUninit<*mut ()>;

impl Registers {
    /// Whether a `T` fits.
    pub(super) const fn fit<T>() -> bool {
        size_of::<T>() <= size_of::<Self>() && align_of::<T>() <= align_of::<Self>()
    }

    /// # Panics
    ///
    /// When the value does not [`fit`](Self::fit).
    #[inline(always)]
    pub(super) fn new<T>(value: T) -> Self {
        assert!(const { Self::fit::<T>() });
        let pair = Pair(Word::uninit(), Word::uninit());
        let mut words = Self(pair, pair);
        // SAFETY: a `T` fits in size and alignment, and any bytes are valid for the words.
        unsafe { (&raw mut words).cast::<T>().write(value) };
        words
    }

    /// # Safety
    ///
    /// They were made of a `T`, which is taken out this once.
    #[inline(always)]
    pub(super) unsafe fn into<T>(self) -> T {
        // SAFETY: the caller says that `new` has written a `T` there, which is not used otherwise.
        unsafe { (&raw const self).cast::<T>().read() }
    }
}

#[cfg(test)]
mod tests {
    use super::Registers;
    use std_alloc::boxed::Box;

    #[test]
    fn values_come_back() {
        assert!(!Registers::fit::<[usize; 5]>() && !Registers::fit::<u128>());
        fn back<T>(value: T) -> T {
            // SAFETY: made of one, and read once.
            unsafe { Registers::new(value).into() }
        }
        assert_eq!(back((7_u64, Box::new(8))), (7, Box::new(8)));
        assert_eq!(back((1_u8, 2_u16)), (1, 2));
        assert_eq!(back((Box::new(1), Box::<str>::from("2"), 3_u8)), (Box::new(1), "2".into(), 3));
        back(());
    }
}
