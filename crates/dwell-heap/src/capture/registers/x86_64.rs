//! x86-64.

#![expect(
    clippy::cast_possible_truncation,
    clippy::cast_possible_wrap,
    reason = "registers have numbers of system calls, errors and timeouts"
)]

use crate::capture::Thread;
use std::time::Duration;

/// The registers of the kernel.
pub(crate) type User = libc::user_regs_struct;

/// The system calls that a thread does not notice to have been interrupted.
pub(crate) const RESTARTED: [i64; 13] = [
    libc::SYS_futex,
    libc::SYS_poll,
    libc::SYS_ppoll,
    libc::SYS_select,
    libc::SYS_pselect6,
    libc::SYS_nanosleep,
    libc::SYS_clock_nanosleep,
    libc::SYS_wait4,
    libc::SYS_waitid,
    libc::SYS_pause,
    libc::SYS_rt_sigsuspend,
    libc::SYS_sched_yield,
    libc::SYS_restart_syscall,
];

/// The system calls that fail with `EINTR` after a stop, and that have done nothing then.
const WITHOUT_EFFECT: [i64; 13] = [
    libc::SYS_epoll_wait,
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
pub(crate) const TIMED: [i64; 2] = [libc::SYS_epoll_wait, libc::SYS_epoll_pwait];
/// The length of the instruction `syscall`.
const SYSCALL: u64 = 2;

/// The system call of a thread before it was asked to stop. The registers tell it afterwards, too.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Called;

impl Called {
    pub(crate) fn new(_process: i32, _id: i32) -> Self {
        Self
    }

    /// Returns the registers with which a thread repeats its system call, if the stop made that fail.
    #[expect(clippy::unused_self, reason = "other processors need it")]
    pub(crate) fn repeated(self, _process: i32, _id: i32, of: &User) -> Option<User> {
        let failed = of.rax as i64 == -i64::from(libc::EINTR) && WITHOUT_EFFECT.contains(&(of.orig_rax as i64));
        failed.then(|| User { rax: of.orig_rax, rip: of.rip.wrapping_sub(SYSCALL), ..*of })
    }
}

/// Returns the timeout of a system call that is repeated, if it has one.
pub(crate) fn timeout(of: &User) -> Option<Duration> {
    let millis = u64::try_from(of.r10 as i32).ok().filter(|_| TIMED.contains(&(of.orig_rax as i64)))?;
    Some(Duration::from_millis(millis))
}

/// Changes the timeout of a system call that is repeated.
pub(crate) fn set_timeout(of: &mut User, left: Duration) {
    of.r10 = super::millis(left);
}

/// Returns where a thread is in its code.
pub(crate) fn code(of: &User) -> u64 {
    of.rip
}

/// Reads the registers of a stopped thread.
pub(crate) fn read(id: i32) -> Option<User> {
    // SAFETY: the struct consists of integers, for which zero is valid.
    let mut of: User = unsafe { std::mem::zeroed() };
    // SAFETY: the request writes to a local of the type that it requires.
    let read = unsafe { libc::ptrace(libc::PTRACE_GETREGS, id, 0, &raw mut of) };
    (read == 0).then_some(of)
}

/// Writes the registers of a stopped thread.
pub(crate) fn write(id: i32, of: &User) -> bool {
    // SAFETY: the request reads a local of the type that it requires, and no other memory of this process.
    unsafe { libc::ptrace(libc::PTRACE_SETREGS, id, 0, std::ptr::from_ref(of)) == 0 }
}

/// Returns a thread with its registers.
pub(crate) fn thread(id: i32, of: &User) -> Thread {
    let registers = [
        of.rax, of.rdx, of.rcx, of.rbx, of.rsi, of.rdi, of.rbp, of.rsp, of.r8, of.r9, of.r10, of.r11, of.r12, of.r13,
        of.r14, of.r15, of.rip,
    ];
    Thread { id, registers: registers.map(Some), pointer: Some(of.fs_base) }
}
