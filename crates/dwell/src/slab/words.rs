//! Small values passed in registers.

use core::mem::MaybeUninit;

/// A value of up to two words, whatever it is made of.
///
/// A struct of 16 bytes is passed by its address, and what has an address is kept in memory. So a cold call that takes one
/// makes the hot way beside it slower; one that takes this does not. Nothing has to be kept over such a call either, and the
/// way without it has no frame.
#[derive(Clone, Copy)]
#[repr(C)]
pub(crate) struct Words(Word, Word);

// A pointer, so that those in the value stay pointers.
type Word = MaybeUninit<*mut ()>;

impl Words {
    pub(crate) const fn fit<T>() -> bool {
        size_of::<T>() <= size_of::<Self>() && align_of::<T>() <= align_of::<Self>()
    }

    /// # Panics
    ///
    /// When it does not [`fit`](Self::fit).
    #[inline(always)]
    pub(crate) fn new<T>(value: T) -> Self {
        assert!(const { Self::fit::<T>() });
        let mut words = Self(Word::uninit(), Word::uninit());
        // SAFETY: it fits, and the words may have any bytes.
        unsafe { (&raw mut words).cast::<T>().write(value) };
        words
    }

    /// # Safety
    ///
    /// They were made of a `T`, which is not used otherwise.
    #[inline(always)]
    pub(crate) unsafe fn into<T>(self) -> T {
        // SAFETY: by the caller.
        unsafe { (&raw const self).cast::<T>().read() }
    }
}

#[cfg(test)]
mod tests {
    use super::Words;
    use std_alloc::boxed::Box;

    #[test]
    fn values_come_back() {
        assert!(!Words::fit::<[usize; 3]>() && !Words::fit::<u128>());
        fn back<T>(value: T) -> T {
            // SAFETY: made of one, and read once.
            unsafe { Words::new(value).into() }
        }
        assert_eq!(back((7_u64, Box::new(8))), (7, Box::new(8)));
        assert_eq!(back((1_u8, 2_u16)), (1, 2));
        back(());
    }
}
