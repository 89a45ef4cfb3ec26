//! A sink for results that the compiler cannot see into and that costs no instruction.
//!
//! `std::hint::black_box` writes its argument to the stack first; this does not.

use std::arch::asm;

/// Uses a word.
#[inline(always)]
#[expect(clippy::inline_always, reason = "a call would cost what the sink is there to avoid")]
pub(crate) fn word(value: u64) {
    // SAFETY: this emits no instruction, reads one register and clobbers none.
    unsafe { asm!("/* {0} */", in(reg) value, options(nomem, nostack, preserves_flags)) };
}

/// The same word, opaque to the optimiser.
#[inline(always)]
#[expect(clippy::inline_always, reason = "a call would cost what the sink is there to avoid")]
pub(crate) fn opaque(mut value: u64) -> u64 {
    // SAFETY: no instruction; the register keeps its value and nothing is clobbered.
    unsafe { asm!("/* {0} */", inout(reg) value, options(pure, nomem, nostack, preserves_flags)) };
    value
}

/// Uses an address, and whatever it leads to.
#[inline(always)]
#[expect(clippy::inline_always, reason = "a call would cost what the sink is there to avoid")]
pub(crate) fn pointer<T: ?Sized>(value: &T) {
    let address = std::ptr::from_ref(value).cast::<u8>();
    // SAFETY: no instruction. The compiler must take it that memory is read, but nothing is written through `value`.
    unsafe { asm!("/* {0} */", in(reg) address, options(readonly, nostack, preserves_flags)) };
}

/// Uses an address, and may change any memory that others can reach: nothing that was loaded before is known after. What
/// keeps its state in cells has to load it again, as between two uses in a program.
#[inline(always)]
#[expect(clippy::inline_always, reason = "a call would cost what the sink is there to avoid")]
pub(crate) fn address(address: *const u8) {
    // SAFETY: no instruction; that memory is written is only what the compiler has to believe.
    unsafe { asm!("/* {0} */", in(reg) address, options(nostack, preserves_flags)) };
}

/// Makes the compiler assume that everything behind a pointer changed, so that it reads it again.
#[inline(always)]
#[expect(clippy::inline_always, reason = "a call would cost what the sink is there to avoid")]
pub(crate) fn change<T: ?Sized>(value: &mut T) {
    address(std::ptr::from_mut(value).cast::<u8>());
}
