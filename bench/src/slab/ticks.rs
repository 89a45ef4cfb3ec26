//! The time stamp counter of the processor, or nanoseconds on processors other than x86-64.

use std::sync::OnceLock;

#[cfg(target_arch = "x86_64")]
mod counter {
    use std::arch::x86_64::{__rdtscp, _mm_lfence, _rdtsc};

    pub(in crate::slab) const UNIT: &str = "ticks";

    /// Reads the counter after all earlier instructions.
    #[inline(always)]
    pub(super) fn before() -> u64 {
        // SAFETY: every x86-64 processor has SSE2, to which the instruction belongs.
        unsafe { _mm_lfence() };
        // SAFETY: every x86-64 processor has the instruction.
        unsafe { _rdtsc() }
    }

    /// Reads the counter after all earlier instructions and before all later ones.
    #[inline(always)]
    pub(super) fn after() -> u64 {
        let mut processor = 0;
        // SAFETY: every x86-64 processor of the last fifteen years has the instruction; it writes to the local.
        let ticks = unsafe { __rdtscp(&raw mut processor) };
        // SAFETY: every x86-64 processor has SSE2, to which the instruction belongs.
        unsafe { _mm_lfence() };
        ticks
    }
}

#[cfg(not(target_arch = "x86_64"))]
mod counter {
    use std::sync::OnceLock;
    use std::time::Instant;

    pub(in crate::slab) const UNIT: &str = "ns";

    static BEGIN: OnceLock<Instant> = OnceLock::new();

    pub(super) fn before() -> u64 {
        BEGIN.get_or_init(Instant::now).elapsed().as_nanos() as u64
    }

    pub(super) use before as after;
}

pub(super) use counter::UNIT;

/// Returns the ticks between two reads of the counter.
fn own() -> u64 {
    static OWN: OnceLock<u64> = OnceLock::new();
    *OWN.get_or_init(|| {
        (0..1000)
            .map(|_| {
                let start = counter::before();
                counter::after() - start
            })
            .min()
            .unwrap_or(0)
    })
}

#[inline(always)]
pub(super) fn start() -> u64 {
    counter::before()
}

/// Returns the ticks since [`start`], minus the cost of the two reads.
#[inline(always)]
pub(super) fn since(start: u64) -> u32 {
    let ticks = counter::after() - start;
    u32::try_from(ticks.saturating_sub(own())).unwrap_or(u32::MAX)
}
