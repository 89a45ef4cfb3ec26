//! Prefetch: memory that is loaded before it is used.

/// Asks the processor to load the cache line at `address`, and does not wait for it.
///
/// Any address will do, even one where nothing is: a program cannot tell whether the line was loaded.
#[inline]
pub(crate) fn prefetch(address: *const ()) {
    #[cfg(all(target_arch = "x86_64", target_feature = "sse", not(miri)))]
    {
        use core::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: the function asks for SSE, which the `cfg` says the target has. Its documentation says that the pointer may be
        // invalid.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(address.cast()) }
    }
    #[cfg(not(all(target_arch = "x86_64", target_feature = "sse", not(miri))))]
    let _ = address;
}
