//! Pushing boxes onto a `Vec` without a copy on the stack.

use super::SmallBox;
use crate::alloc::{AllocError, Global, largest_layout};
use crate::coerce::Coercible;
use core::alloc::Layout;
use std_alloc::vec::Vec;

/// Methods that push a box onto a `Vec` without a copy on the stack.
///
/// `vec.push(small_box!(value))` may build the box on the stack word by word and then copy it by wider loads, which
/// wait for the stores. That takes about 7 ns. `push_coerced` writes the words directly to the vector and takes about 1 ns
/// (`bulk/push` of `cargo run --release -p dwell-bench -- small`).
///
/// ```
/// use dwell::SmallBox;
/// use dwell::small::PushCoerced;
///
/// let mut jobs: Vec<SmallBox<dyn FnMut()>> = Vec::new();
/// jobs.push_coerced(|| println!("first"), |value| value);
/// jobs.push_coerced(|| println!("second"), |value| value);
/// jobs.iter_mut().for_each(|job| job());
/// ```
pub trait PushCoerced<T: ?Sized> {
    /// Pushes `SmallBox::new_coerced(value, unsize)`, and writes it directly to the vector.
    fn push_coerced<U, F>(&mut self, value: U, unsize: F)
    where
        F: for<'a> FnOnce(&'a Coercible<U, U>) -> &'a Coercible<U, T>;

    /// Like [`push_coerced`](Self::push_coerced), but returns an error if the allocation fails.
    ///
    /// # Errors
    ///
    /// If the vector cannot grow, and in the cases of [`SmallBox::try_new_coerced`]. The error contains the value.
    fn try_push_coerced<U, F>(&mut self, value: U, unsize: F) -> Result<(), AllocError<U>>
    where
        F: for<'a> FnOnce(&'a Coercible<U, U>) -> &'a Coercible<U, T>;
}

impl<T: ?Sized, const N: usize, L> PushCoerced<T> for Vec<SmallBox<T, N, Global, L>> {
    #[inline]
    fn push_coerced<U, F>(&mut self, value: U, unsize: F)
    where
        F: for<'a> FnOnce(&'a Coercible<U, U>) -> &'a Coercible<U, T>,
    {
        // Reserves first: if the box existed while the vector grows, it would have to be in memory, so that it could be
        // dropped if the growth unwinds.
        if self.len() == self.capacity() {
            self.reserve(1);
        }
        let len = self.len();
        if let [next, ..] = self.spare_capacity_mut() {
            next.write(SmallBox::new_coerced(value, unsize));
            // SAFETY: the element at `len` is within the capacity and was written by the line above.
            unsafe { self.set_len(len + 1) };
        }
    }

    #[inline]
    fn try_push_coerced<U, F>(&mut self, value: U, unsize: F) -> Result<(), AllocError<U>>
    where
        F: for<'a> FnOnce(&'a Coercible<U, U>) -> &'a Coercible<U, T>,
    {
        if self.try_reserve(1).is_err() {
            let layout = Layout::array::<SmallBox<T, N, Global, L>>(self.len().saturating_add(1));
            return Err(AllocError::new(value, layout.unwrap_or(largest_layout(align_of::<L>()))));
        }
        self.push(SmallBox::try_new_coerced(value, unsize)?);
        Ok(())
    }
}
