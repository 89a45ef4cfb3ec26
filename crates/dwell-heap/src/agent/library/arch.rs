//! What differs between processors: system calls, registers, and where a thread's data is.

#[cfg(target_arch = "aarch64")]
mod aarch64;
#[cfg(target_arch = "x86_64")]
mod x86_64;

#[cfg(target_arch = "aarch64")]
pub use aarch64::*;
#[cfg(target_arch = "x86_64")]
pub use x86_64::*;

use core::arch::global_asm;

/// An instruction that must not run.
#[cfg(target_arch = "x86_64")]
macro_rules! trap {
    () => {
        "ud2"
    };
}
#[cfg(target_arch = "aarch64")]
macro_rules! trap {
    () => {
        "brk 1"
    };
}

// Thread-local memory with the initial-exec model, reserved at program start. Rust's `thread_local` in a library calls
// `__tls_get_addr`, which may allocate.
global_asm!(
    ".pushsection .tbss.dwell_thread,\"awT\",%nobits",
    ".balign 16",
    ".globl dwell_thread",
    ".hidden dwell_thread",
    ".type dwell_thread, %object",
    ".size dwell_thread, 64",
    "dwell_thread:",
    ".zero 64",
    ".popsection",
);

// The unwind tables of `core` refer to this symbol, but the agent never unwinds. It is hidden, so that it does not
// replace the program's.
global_asm!(
    ".pushsection .text.rust_eh_personality,\"ax\",%progbits",
    ".globl rust_eh_personality",
    ".hidden rust_eh_personality",
    ".type rust_eh_personality, %function",
    "rust_eh_personality:",
    trap!(),
    ".popsection",
);
