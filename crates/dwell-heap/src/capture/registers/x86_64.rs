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
/// Those of them that have a pointer to a timeout, and its argument's number.
pub(crate) const TIMED_IN_MEMORY: [(i64, usize); 4] = [
    (libc::SYS_epoll_pwait2, 3),
    (libc::SYS_rt_sigtimedwait, 2),
    (libc::SYS_semtimedop, 3),
    (libc::SYS_io_getevents, 4),
];
/// The system calls that may wait for a child.
pub(crate) const FORKS: [i64; 3] = [libc::SYS_vfork, libc::SYS_clone, libc::SYS_clone3];
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
    pub(crate) fn repeated(self, _process: i32, _id: i32, user: &User) -> Option<User> {
        let failed = user.rax as i64 == -i64::from(libc::EINTR) && WITHOUT_EFFECT.contains(&(user.orig_rax as i64));
        failed.then(|| User { rax: user.orig_rax, rip: user.rip.wrapping_sub(SYSCALL), ..*user })
    }
}

/// Returns the timeout of a system call that is repeated, if it has one.
pub(crate) fn timeout(user: &User) -> Option<Duration> {
    let millis = u64::try_from(user.r10 as i32).ok().filter(|_| TIMED.contains(&(user.orig_rax as i64)))?;
    Some(Duration::from_millis(millis))
}

/// Changes the timeout of a system call that is repeated.
pub(crate) fn set_timeout(user: &mut User, left: Duration) {
    user.r10 = super::millis(left);
}

/// Returns where a thread is in its code.
pub(crate) fn code(user: &User) -> u64 {
    user.rip
}

/// Reads the registers of a stopped thread.
pub(crate) fn read(id: i32) -> Option<User> {
    // SAFETY: the struct consists of integers, for which zero is valid.
    let mut user: User = unsafe { std::mem::zeroed() };
    // SAFETY: the request writes to a local of the type that it requires.
    let read = unsafe { libc::ptrace(libc::PTRACE_GETREGS, id, 0, &raw mut user) };
    (read == 0).then_some(user)
}

/// Writes the registers of a stopped thread.
pub(crate) fn write(id: i32, user: &User) -> bool {
    // SAFETY: the request reads a local of the type that it requires, and no other memory of this process.
    unsafe { libc::ptrace(libc::PTRACE_SETREGS, id, 0, std::ptr::from_ref(user)) == 0 }
}

/// Returns a thread with its registers.
pub(crate) fn thread(id: i32, user: &User) -> Thread {
    let registers = [
        user.rax, user.rdx, user.rcx, user.rbx, user.rsi, user.rdi, user.rbp, user.rsp, user.r8, user.r9, user.r10,
        user.r11, user.r12, user.r13, user.r14, user.r15, user.rip,
    ];
    Thread { id, registers: registers.map(Some), pointer: Some(user.fs_base) }
}
