//! Memory of the child, which grows without an allocator.

use crate::sys::{self, Errno};
use core::ffi::CStr;
use core::marker::PhantomData;
use core::ops::Range;
use core::slice;

/// Values that were added one after the other.
///
/// # Invariants
/// 1. `at` is the start of a mapping of `bytes` bytes that belongs to this value alone.
/// 2. The first `len` values in it are initialised, and fit.
pub(crate) struct Buffer<T: Word> {
    at: *mut T,
    len: usize,
    bytes: usize,
    marker: PhantomData<T>,
}

/// A type whose every value is made of bytes without padding, and every such bytes are a value.
///
/// # Safety
/// That is so, and a page is aligned for it.
pub(crate) unsafe trait Word: Copy {}

// SAFETY: integers and arrays of them have no padding.
unsafe impl Word for u8 {}
// SAFETY: an array of integers has no padding, any bytes are integers, and it is aligned to less than a page.
unsafe impl Word for [u64; 2] {}

impl<T: Word> Buffer<T> {
    /// Returns a buffer with memory for `bytes` bytes.
    pub(crate) fn new(bytes: usize) -> Result<Self, Errno> {
        Ok(Self { at: sys::map(bytes, false)?.cast(), len: 0, bytes, marker: PhantomData })
    }

    /// Returns the addresses of the memory.
    pub(crate) fn range(&self) -> Range<u64> {
        self.at.addr() as u64..(self.at.addr() + self.bytes) as u64
    }

    /// Adds values.
    pub(crate) fn extend(&mut self, values: &[T]) -> Result<(), Errno> {
        let needed = (self.len + values.len()) * size_of::<T>();
        while self.bytes < needed {
            // SAFETY: (1).
            self.at = unsafe { sys::remap(self.at.cast(), self.bytes, 2 * self.bytes) }?.cast();
            self.bytes *= 2;
        }
        // SAFETY: the index is at most that of the end of the mapping, by the loop.
        let end = unsafe { self.at.add(self.len) };
        // SAFETY: the values fit behind the last one, by the loop, and the caller's slice is another memory.
        unsafe { end.copy_from_nonoverlapping(values.as_ptr(), values.len()) };
        self.len += values.len();
        Ok(())
    }

    /// Returns the values.
    pub(crate) fn values(&self) -> &[T] {
        // SAFETY: (2).
        unsafe { slice::from_raw_parts(self.at, self.len) }
    }

    /// Returns the values, to change them.
    pub(crate) fn values_mut(&mut self) -> &mut [T] {
        // SAFETY: (2).
        unsafe { slice::from_raw_parts_mut(self.at, self.len) }
    }

    /// Keeps the first `len` values.
    pub(crate) fn truncate(&mut self, len: usize) {
        self.len = self.len.min(len);
    }
}

impl Buffer<u8> {
    /// Adds zeros up to a multiple of `to`.
    pub(crate) fn align(&mut self, to: usize) -> Result<(), Errno> {
        while !self.len.is_multiple_of(to) {
            self.extend(&[0])?;
        }
        Ok(())
    }

    /// Returns the contents of a file, in memory that never moved: the file may list the mappings of this process.
    pub(crate) fn file(path: &CStr) -> Result<Self, Errno> {
        let mut bytes = 1 << 17;
        loop {
            let mut text = Self::new(bytes)?;
            let file = sys::open(path, libc::O_RDONLY)?;
            let is_whole = text.fill(file);
            sys::close(file);
            if is_whole? {
                return Ok(text);
            }
            bytes *= 2;
        }
    }

    /// Reads a file. Returns `false` if it does not fit.
    fn fill(&mut self, file: i32) -> Result<bool, Errno> {
        let mut some = [0; 4096];
        while self.len + some.len() < self.bytes {
            match sys::read(file, &mut some)? {
                0 => return Ok(true),
                read => self.extend(some.get(..read).unwrap_or_default())?,
            }
        }
        Ok(false)
    }
}

impl<T: Word> Drop for Buffer<T> {
    fn drop(&mut self) {
        // SAFETY: (1), and the value ends here.
        unsafe { sys::unmap(self.at.cast(), self.bytes) };
    }
}
