//! Sinks for results, which are opaque to the compiler and cost no instruction.
//!
//! `std::hint::black_box` writes its argument to the stack first; these functions do not.

use std::arch::asm;

/// Uses a word.
#[inline(always)]
#[expect(clippy::inline_always, reason = "a call would cost what the sink is there to avoid")]
pub(crate) fn word(value: u64) {
    // SAFETY: the template is an assembler comment, so no instruction runs. The operand is only an input, and memory,
    // stack and flags stay unchanged, as the options declare.
    unsafe { asm!("/* {0} */", in(reg) value, options(nomem, nostack, preserves_flags)) };
}

/// Returns the same word, opaque to the optimiser.
#[inline(always)]
#[expect(clippy::inline_always, reason = "a call would cost what the sink is there to avoid")]
pub(crate) fn opaque(mut value: u64) -> u64 {
    // SAFETY: the template is an assembler comment, so no instruction runs. The register keeps its value, a valid
    // `u64`, and memory, stack and flags stay unchanged, as the options declare.
    unsafe { asm!("/* {0} */", inout(reg) value, options(pure, nomem, nostack, preserves_flags)) };
    value
}

/// Uses an address and the memory behind it.
#[inline(always)]
#[expect(clippy::inline_always, reason = "a call would cost what the sink is there to avoid")]
pub(crate) fn pointer<T: ?Sized>(value: &T) {
    let address = std::ptr::from_ref(value).cast::<u8>();
    // SAFETY: the template is an assembler comment, so no instruction runs. The compiler must assume reads of memory,
    // but none happen, and no write, as `readonly` declares. Stack and flags stay unchanged.
    unsafe { asm!("/* {0} */", in(reg) address, options(readonly, nostack, preserves_flags)) };
}

/// Uses an address, and makes the compiler assume that any reachable memory changed.
///
/// Values loaded before are unknown afterwards. A type that keeps its state in cells must load it again, as between two
/// uses in a program.
#[inline(always)]
#[expect(clippy::inline_always, reason = "a call would cost what the sink is there to avoid")]
pub(crate) fn address(address: *const u8) {
    // SAFETY: the template is an assembler comment, so no instruction runs. The compiler must assume reads and writes
    // of memory, but none happen. Stack and flags stay unchanged, as the options declare.
    unsafe { asm!("/* {0} */", in(reg) address, options(nostack, preserves_flags)) };
}

/// Makes the compiler assume that everything behind a reference changed, so that it reads the memory again.
#[inline(always)]
#[expect(clippy::inline_always, reason = "a call would cost what the sink is there to avoid")]
pub(crate) fn change<T: ?Sized>(value: &mut T) {
    address(std::ptr::from_mut(value).cast::<u8>());
}
