//! Small values passed in registers.

use core::mem::MaybeUninit;

/// A value of up to four words, whatever it is made of, to be passed as two [`Pair`]s.
///
/// What has an address is kept in memory, and so is what a call takes by its address, or would drop if the call panics. So a
/// cold call that takes a value makes the hot way beside it slower: the value is put together in memory, a word at a time, and
/// read again two words at a time, for which the processor waits until all that was written is in the cache. A call that takes
/// this leaves the value in registers, and drops it itself if it panics. Nothing has to be kept over such a call either, and the
/// way without it has no frame.
#[derive(Clone, Copy)]
#[repr(C)]
pub(crate) struct Words(pub(crate) Pair, pub(crate) Pair);

/// What is passed in two registers. A struct of more would be passed by its address.
#[derive(Clone, Copy)]
#[repr(C)]
pub(crate) struct Pair(Word, Word);

// A pointer, so that those in the value stay pointers.
type Word = MaybeUninit<*mut ()>;

impl Words {
    pub(crate) const fn fit<T>() -> bool {
        size_of::<T>() <= size_of::<Self>() && align_of::<T>() <= align_of::<Self>()
    }

    /// Whether a `T` does not fit, but is so small that it is best put together in its place: in registers, and not in memory
    /// first.
    pub(crate) const fn nearly_fit<T>() -> bool {
        !Self::fit::<T>() && size_of::<T>() <= 4 * size_of::<Self>()
    }

    /// Whether a `T` is of three words or four. Two are passed in registers, without a way through memory.
    pub(super) const fn are<T>() -> bool {
        Self::fit::<T>() && align_of::<T>() == align_of::<Word>() && size_of::<T>() > size_of::<Pair>()
    }

    /// # Panics
    ///
    /// When it does not [`fit`](Self::fit).
    #[inline(always)]
    pub(crate) fn new<T>(value: T) -> Self {
        assert!(const { Self::fit::<T>() });
        let pair = Pair(Word::uninit(), Word::uninit());
        let mut words = Self(pair, pair);
        // SAFETY: it fits, and the words may have any bytes.
        unsafe { (&raw mut words).cast::<T>().write(value) };
        words
    }

    /// Writes the first words to `place`, as many as a `T` has.
    ///
    /// One at a time, as the value was most likely written: a future that a function has returned is in memory, and of what was
    /// just written to it the processor hands on a word, but not two at once. Volatile, or the compiler would join them.
    ///
    /// # Safety
    ///
    /// `place` is valid for writes of a `T`, which fits and is of whole words.
    #[inline(always)]
    pub(super) unsafe fn write<T>(self, place: *mut T) {
        let (from, to) = ((&raw const self).cast::<Word>(), place.cast::<Word>());
        for index in 0..size_of::<T>() / size_of::<Word>() {
            // SAFETY: it fits, so that there are as many words.
            let from = unsafe { from.add(index) };
            // SAFETY: as above.
            let word = unsafe { from.read() };
            // SAFETY: by the caller there is room for as many.
            let to = unsafe { to.add(index) };
            // SAFETY: as above.
            unsafe { to.write_volatile(word) };
        }
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
        assert!(!Words::fit::<[usize; 5]>() && !Words::fit::<u128>());
        fn back<T>(value: T) -> T {
            // SAFETY: made of one, and read once.
            unsafe { Words::new(value).into() }
        }
        assert_eq!(back((7_u64, Box::new(8))), (7, Box::new(8)));
        assert_eq!(back((1_u8, 2_u16)), (1, 2));
        assert_eq!(back((Box::new(1), Box::<str>::from("2"), 3_u8)), (Box::new(1), "2".into(), 3));
        back(());
    }
}
