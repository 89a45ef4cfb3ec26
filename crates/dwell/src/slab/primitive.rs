//! The atomics that threads share, which loom replaces in the models.

#[cfg(not(all(loom, test)))]
pub(super) use core::{
    hint::spin_loop,
    sync::atomic::{AtomicIsize, AtomicPtr, AtomicU32, Ordering},
};
#[cfg(all(loom, test))]
pub(super) use loom::{
    hint::spin_loop,
    sync::atomic::{AtomicIsize, AtomicPtr, AtomicU32, Ordering},
};
