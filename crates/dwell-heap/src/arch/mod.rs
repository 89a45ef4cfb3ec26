//! What differs between processors: registers, thread-local memory, and the first instructions of functions.
//!
//! The tool runs programs and reads processes and cores of the processor that it was built for.

#[cfg(target_arch = "aarch64")]
mod aarch64;
#[cfg(not(target_arch = "aarch64"))]
mod x86_64;

#[cfg(target_arch = "aarch64")]
pub(crate) use aarch64::*;
#[cfg(not(target_arch = "aarch64"))]
pub(crate) use x86_64::*;

/// Registers by their DWARF number; `None` for those that are not known.
pub type Registers = [Option<u64>; REGISTERS];

/// Registers of which none is known.
pub(crate) const UNKNOWN: Registers = [None; REGISTERS];

/// Returns the bytes of a page of this machine's kernel.
#[cfg(unix)]
pub(crate) fn page() -> u64 {
    // SAFETY: the call takes a number, and accesses no memory of this process.
    u64::try_from(unsafe { libc::sysconf(libc::_SC_PAGESIZE) }).unwrap_or(0).max(SMALLEST_PAGE)
}

/// Returns the bytes of a page of this machine's kernel.
#[cfg(not(unix))]
pub(crate) fn page() -> u64 {
    SMALLEST_PAGE
}

/// The smallest size of a page, which divides all others.
pub(crate) const SMALLEST_PAGE: u64 = 4096;
