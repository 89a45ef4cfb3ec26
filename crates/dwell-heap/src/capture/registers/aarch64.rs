//! aarch64.

#![expect(
    clippy::cast_possible_truncation,
    clippy::cast_possible_wrap,
    reason = "registers have numbers of system calls, errors and timeouts"
)]

use crate::arch::{INSTRUCTION_POINTER, STACK_POINTER, UNKNOWN, code_address};
use crate::capture::Thread;
use std::fs;
use std::time::Duration;

/// The registers of the kernel.
pub(crate) type User = libc::user_regs_struct;

/// The system calls that a thread does not notice to have been interrupted.
pub(crate) const RESTARTED: [i64; 10] = [
    libc::SYS_futex,
    libc::SYS_ppoll,
    libc::SYS_pselect6,
    libc::SYS_nanosleep,
    libc::SYS_clock_nanosleep,
    libc::SYS_wait4,
    libc::SYS_waitid,
    libc::SYS_rt_sigsuspend,
    libc::SYS_sched_yield,
    libc::SYS_restart_syscall,
];

/// The system calls that fail with `EINTR` after a stop, and that have done nothing then.
const WITHOUT_EFFECT: [i64; 12] = [
    libc::SYS_epoll_pwait,
    libc::SYS_epoll_pwait2,
    libc::SYS_rt_sigtimedwait,
    libc::SYS_io_getevents,
    libc::SYS_semop,
    libc::SYS_semtimedop,
    libc::SYS_read,
    libc::SYS_recvfrom,
    libc::SYS_recvmsg,
    libc::SYS_accept,
    libc::SYS_accept4,
    libc::SYS_io_uring_enter,
];
/// Those of them that have a timeout in milliseconds as the fourth argument.
pub(crate) const TIMED: [i64; 1] = [libc::SYS_epoll_pwait];
/// Those of them that have a pointer to a timeout, and its argument's number.
pub(crate) const TIMED_IN_MEMORY: [(i64, usize); 4] = [
    (libc::SYS_epoll_pwait2, 3),
    (libc::SYS_rt_sigtimedwait, 2),
    (libc::SYS_semtimedop, 3),
    (libc::SYS_io_getevents, 4),
];
/// The system calls that may wait for a child.
pub(crate) const FORKS: [i64; 2] = [libc::SYS_clone, libc::SYS_clone3];
/// The length of the instruction `svc`.
const SVC: u64 = 4;
/// The register with the number of a system call.
const NUMBER: usize = 8;

/// The system call of a thread before it was asked to stop: the result of a system call replaces its first argument, which the kernel
/// does not tell afterwards.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Called {
    /// How often it has waited.
    waits: Option<u64>,
    call: Option<Call>,
}

/// A system call that a thread waits in: its number, its arguments, and where it returns to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Call {
    number: i64,
    arguments: [u64; 6],
    stack: u64,
    code: u64,
}

impl Call {
    /// Parses `/proc/PID/task/TID/syscall`.
    fn parse(text: &str) -> Option<Self> {
        let mut words = text.split_ascii_whitespace();
        let number = words.next()?.parse().ok().filter(|number| *number >= 0)?;
        let mut all = [0; 8];
        for word in &mut all {
            *word = u64::from_str_radix(words.next()?.strip_prefix("0x")?, 16).ok()?;
        }
        let [a, b, c, d, e, f, stack, code] = all;
        Some(Self { number, arguments: [a, b, c, d, e, f], stack, code })
    }
}

/// Returns how often a thread has waited.
fn waits(process: i32, id: i32) -> Option<u64> {
    let text = fs::read_to_string(format!("/proc/{process}/task/{id}/status")).ok()?;
    text.lines().find_map(|line| line.strip_prefix("voluntary_ctxt_switches:")?.trim().parse().ok())
}

impl Called {
    pub(crate) fn new(process: i32, id: i32) -> Self {
        // A thread that waits once more meanwhile is recognised by the number, which is read first.
        let waits = waits(process, id);
        let text = fs::read_to_string(format!("/proc/{process}/task/{id}/syscall")).unwrap_or_default();
        Self { waits, call: Call::parse(&text) }
    }

    /// Returns the registers with which a thread repeats its system call, if the stop made that fail and if it is surely the
    /// one from before.
    pub(crate) fn repeated(self, process: i32, id: i32, user: &User) -> Option<User> {
        let call = self.call.filter(|call| WITHOUT_EFFECT.contains(&call.number))?;
        let failed = user.regs[0] as i64 == -i64::from(libc::EINTR) && user.regs[NUMBER] as i64 == call.number;
        let is_same = (user.sp, user.pc) == (call.stack, call.code) && user.regs[1..6] == call.arguments[1..];
        // The stop itself is one.
        let has_waited = self.waits.is_none() || waits(process, id) != self.waits.map(|waits| waits + 1);
        if !failed || !is_same || has_waited {
            return None;
        }
        let mut again = *user;
        again.regs[0] = call.arguments[0];
        again.pc = user.pc.wrapping_sub(SVC);
        Some(again)
    }
}

/// Returns the timeout of a system call that is repeated, if it has one.
pub(crate) fn timeout(user: &User) -> Option<Duration> {
    let millis = u64::try_from(user.regs[3] as i32).ok().filter(|_| TIMED.contains(&(user.regs[NUMBER] as i64)))?;
    Some(Duration::from_millis(millis))
}

/// Changes the timeout of a system call that is repeated.
pub(crate) fn set_timeout(user: &mut User, left: Duration) {
    user.regs[3] = super::millis(left);
}

/// Returns where a thread is in its code.
pub(crate) fn code(user: &User) -> u64 {
    user.pc
}

/// A set of registers.
const GENERAL: i32 = 1;
const TLS: i32 = 0x401;

/// Reads a set of registers of a stopped thread. Returns `true` if it was read.
///
/// # Safety
/// Every bit pattern must be valid for a `T`.
unsafe fn read_set<T>(id: i32, set: i32, into: &mut T) -> bool {
    let mut part = libc::iovec { iov_base: std::ptr::from_mut(into).cast(), iov_len: size_of::<T>() };
    // SAFETY: the request writes at most as many bytes as the local has, and the caller guarantees that any are valid.
    let read = unsafe { libc::ptrace(libc::PTRACE_GETREGSET, id, set, &raw mut part) };
    read == 0 && part.iov_len == size_of::<T>()
}

/// Reads the registers of a stopped thread.
pub(crate) fn read(id: i32) -> Option<User> {
    // SAFETY: the struct consists of integers, for which zero is valid.
    let mut user: User = unsafe { std::mem::zeroed() };
    // SAFETY: the struct consists of integers, for which every bit pattern is valid.
    unsafe { read_set(id, GENERAL, &mut user) }.then_some(user)
}

/// Writes the registers of a stopped thread.
pub(crate) fn write(id: i32, user: &User) -> bool {
    let mut copy = *user;
    let part = libc::iovec { iov_base: (&raw mut copy).cast(), iov_len: size_of::<User>() };
    // SAFETY: the request reads a local of the type that it requires, and no other memory of this process.
    unsafe { libc::ptrace(libc::PTRACE_SETREGSET, id, GENERAL, &raw const part) == 0 }
}

/// Returns a stopped thread with its registers.
pub(crate) fn thread(id: i32, user: &User) -> Thread {
    let mut registers = UNKNOWN;
    for (register, value) in registers.iter_mut().zip(user.regs) {
        *register = Some(value);
    }
    registers[STACK_POINTER] = Some(user.sp);
    registers[INSTRUCTION_POINTER] = Some(code_address(user.pc));
    let mut pointer = 0_u64;
    // SAFETY: an integer has no invalid bit pattern.
    let has_pointer = unsafe { read_set(id, TLS, &mut pointer) };
    Thread { id, registers, pointer: has_pointer.then_some(pointer) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn system_calls_are_parsed() {
        let text = "22 0x3 0xffff 0x400 0xffffffffffffffff 0x0 0x8 0xffffdc 0xffffa0\n";
        let call =
            Call { number: 22, arguments: [3, 0xffff, 0x400, u64::MAX, 0, 8], stack: 0xff_ffdc, code: 0xff_ffa0 };
        assert_eq!(Call::parse(text), Some(call));
        assert_eq!(Call::parse("running\n"), None);
        assert_eq!(Call::parse("-1 0x3 0x4\n"), None);
    }
}
