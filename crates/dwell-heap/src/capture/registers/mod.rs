//! The registers of a stopped thread, by `ptrace`, and the system calls that a stop interrupts.

#[cfg(target_arch = "aarch64")]
mod aarch64;
#[cfg(target_arch = "x86_64")]
mod x86_64;

#[cfg(target_arch = "aarch64")]
pub(super) use aarch64::*;
#[cfg(target_arch = "x86_64")]
pub(super) use x86_64::*;

/// Returns a time in milliseconds, rounded up as for `epoll_wait`.
fn millis(time: std::time::Duration) -> u64 {
    u64::try_from(time.as_nanos().div_ceil(1_000_000)).unwrap_or(u64::MAX).min(i32::MAX as u64)
}
