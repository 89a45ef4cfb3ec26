//! Memory asked for before it is looked at.

/// Asks the processor to bring the memory at `address` nearer, and does not wait for it.
///
/// Any address will do, one where nothing is too: a program cannot tell whether it was asked for.
#[inline]
pub(crate) fn prefetch(address: *const ()) {
    #[cfg(all(target_arch = "x86_64", target_feature = "sse", not(miri)))]
    {
        use core::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: the target has SSE, which is all that the function asks for. Of the pointer its documentation says that
        // it may be invalid.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(address.cast()) }
    }
    #[cfg(not(all(target_arch = "x86_64", target_feature = "sse", not(miri))))]
    let _ = address;
}
