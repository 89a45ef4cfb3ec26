//! Samples allocations.
//!
//! Bytes are sampled by a Poisson process, so a block of `size` bytes is recorded with a probability of `1 - exp(-size
//! / mean)`. Each recorded block counts as often as the inverse of its probability.

use crate::stacks::mix;
use crate::thread::Thread;
use crate::STATE;
use core::sync::atomic::{AtomicU32, AtomicU64, Ordering};

/// For each page of the heap, the number of recorded blocks that begin in it. Pages share a counter if their numbers
/// are equal modulo 65,536. A counter of 0 shows that a freed block is not recorded, without a read of the shadow: the
/// counters take 256 KiB and stay in the cache.
static RECORDED: [AtomicU32; 1 << 16] = {
    #[allow(clippy::declare_interior_mutable_const)]
    const NONE: AtomicU32 = AtomicU32::new(0);
    [NONE; 1 << 16]
};

#[inline(always)]
fn recorded(addr: u64) -> &'static AtomicU32 {
    &RECORDED[(addr >> 12) as usize % RECORDED.len()]
}

/// Returns true only if the block at an address is not recorded. The counter is raised before the program gets the
/// block, and lowered when the block's record is removed.
#[inline(always)]
pub fn is_unrecorded(addr: u64) -> bool {
    STATE.sample.load(Ordering::Relaxed) != 0 && recorded(addr).load(Ordering::Relaxed) == 0
}

/// Counts a block that is being recorded.
pub fn raise(addr: u64) {
    if STATE.sample.load(Ordering::Relaxed) != 0 {
        recorded(addr).fetch_add(1, Ordering::Relaxed);
    }
}

/// Subtracts a block whose record was removed or replaced.
pub fn lower(addr: u64) {
    if STATE.sample.load(Ordering::Relaxed) != 0 {
        recorded(addr).fetch_sub(1, Ordering::Relaxed);
    }
}

/// Decides whether to record the thread's next allocation, of `size` bytes.
#[inline]
pub fn is_sampled(thread: &Thread, size: u64, mean: u64) -> bool {
    if thread.random.get() == 0 {
        begin(thread, mean);
    }
    let left = thread.until_sample.get() - size as i64;
    if left > 0 {
        thread.until_sample.set(left);
        return false;
    }
    // A Poisson process is memoryless: the distance to the next sample does not depend on the past.
    thread.until_sample.set(distance(thread, mean));
    true
}

#[cold]
fn begin(thread: &Thread, mean: u64) {
    static THREADS: AtomicU64 = AtomicU64::new(1);
    // The seed is deterministic for programs with one thread.
    thread.random.set(mix(THREADS.fetch_add(1, Ordering::Relaxed)) | 1);
    thread.until_sample.set(distance(thread, mean));
}

/// Returns an exponentially distributed number of bytes, at least 1.
fn distance(thread: &Thread, mean: u64) -> i64 {
    // xorshift64*, Marsaglia (2003) and Vigna (2016).
    let mut state = thread.random.get();
    state ^= state >> 12;
    state ^= state << 25;
    state ^= state >> 27;
    thread.random.set(state);
    let bits = state.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 11;
    let uniform = (bits as f64 + 0.5) / (1_u64 << 53) as f64;
    (-ln(uniform) * mean as f64) as i64 + 1
}

/// Returns the natural logarithm of a number above 0, to nine digits.
fn ln(value: f64) -> f64 {
    let bits = value.to_bits();
    let mut exponent = (bits >> 52) as i64 - 1023;
    let mut mantissa = f64::from_bits(bits & 0x000f_ffff_ffff_ffff | 0x3ff0_0000_0000_0000);
    if mantissa > core::f64::consts::SQRT_2 {
        mantissa /= 2.0;
        exponent += 1;
    }
    let f = (mantissa - 1.0) / (mantissa + 1.0);
    let square = f * f;
    let series = 1.0 + square * (1.0 / 3.0 + square * (1.0 / 5.0 + square * (1.0 / 7.0 + square * (1.0 / 9.0 + square / 11.0))));
    exponent as f64 * core::f64::consts::LN_2 + 2.0 * f * series
}

/// Returns the bytes that a recorded block of `size` bytes represents.
pub fn counted(size: u64, mean: u64) -> i64 {
    if mean == 0 || size == 0 || size > 16 * mean {
        return size as i64;
    }
    let ratio = size as f64 / mean as f64;
    // exp(-ratio), by squaring.
    let mut chance = if ratio < 1e-3 { ratio - ratio * ratio / 2.0 } else {
        let mut power = 1.0 - ratio / 65536.0 + ratio * ratio / (2.0 * 65536.0 * 65536.0);
        for _ in 0..16 {
            power *= power;
        }
        1.0 - power
    };
    if chance <= 0.0 {
        chance = 1e-12;
    }
    (size as f64 / chance) as i64
}
