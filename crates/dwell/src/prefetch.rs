//! Prefetching: loading a cache line before it is read.

/// Prefetches the cache line at `address` and does not wait for it.
///
/// Every address is allowed, including a dangling one: a prefetch has no effect that a program can observe.
#[inline]
pub(crate) fn prefetch(address: *const ()) {
    #[cfg(all(target_arch = "x86_64", target_feature = "sse", not(miri)))]
    {
        use core::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: the function requires SSE, which the `cfg` guarantees. Its documentation says that the pointer may be
        // invalid.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(address.cast()) }
    }
    #[cfg(not(all(target_arch = "x86_64", target_feature = "sse", not(miri))))]
    let _ = address;
}
