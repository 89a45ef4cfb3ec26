//! Stops the threads of a process for a moment, and reads their registers.
//!
//! A thread that runs, or that waits in a system call which the kernel restarts after a stop, is stopped by `ptrace`. Other
//! system calls, such as `epoll_wait`, would return `EINTR`, which a program might not expect. A thread that waits in one
//! is left alone: `/proc` has its stack pointer and its instruction pointer. One that enters such a call before it stops is set
//! back to it ([`SetBack`]). On aarch64 the kernel forgets the first argument of the call, so there it returns `EINTR`.

#![expect(clippy::cast_sign_loss, reason = "system calls have numbers, and statuses are words")]

use super::Thread;
use super::registers::{self, Before, User};
use crate::arch::{INSTRUCTION_POINTER, STACK_POINTER, UNKNOWN};
use std::fs;
use std::time::{Duration, Instant};

/// The time to wait for a thread to stop.
const PATIENCE: Duration = Duration::from_millis(100);
/// The maximum number of rounds in which new threads are looked for.
const ROUNDS: usize = 16;

/// A process whose threads are stopped until this is dropped. It must be dropped by the thread that made it.
#[derive(Debug)]
pub(crate) struct Stopped {
    pub(crate) threads: Vec<Thread>,
    process: i32,
    /// The threads that are stopped, each with the signal to deliver.
    held: Vec<(i32, i32)>,
    /// The threads that did not stop in time.
    late: Vec<(i32, Before)>,
    set_back: Vec<SetBack>,
}

/// What a thread does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Doing {
    Running,
    /// It waits in a system call: its number, the stack pointer and the instruction pointer.
    Waiting(i64, u64, u64),
}

impl Stopped {
    /// Stops all threads of a child. Threads that cannot be stopped are left out.
    pub(crate) fn new(process: i32) -> Self {
        let mut stopped =
            Self { threads: Vec::new(), process, held: Vec::new(), late: Vec::new(), set_back: Vec::new() };
        let mut known: Vec<i32> = Vec::new();
        for _ in 0..ROUNDS {
            let fresh: Vec<i32> = tasks(process).into_iter().filter(|id| !known.contains(id)).collect();
            if fresh.is_empty() {
                break;
            }
            let mut asked = Vec::new();
            for &id in &fresh {
                known.push(id);
                let before = Before::new(process, id);
                match doing(process, id) {
                    Some(Doing::Waiting(call, stack, code)) if !registers::RESTARTED.contains(&call) => {
                        let mut registers = UNKNOWN;
                        registers[STACK_POINTER] = Some(stack);
                        registers[INSTRUCTION_POINTER] = Some(code);
                        stopped.threads.push(Thread { id, registers, pointer: None });
                    }
                    _ if interrupt(id) => asked.push((id, before)),
                    _ => {}
                }
            }
            let until = Instant::now() + PATIENCE;
            for (id, before) in asked {
                stopped.wait(id, before, until);
            }
        }
        stopped
    }

    /// Waits until a thread stops, and reads its registers.
    fn wait(&mut self, id: i32, before: Before, until: Instant) {
        loop {
            match state(self.process, id) {
                State::Stopped(signal) => {
                    self.held.push((id, signal));
                    if let Some(of) = registers::read(id) {
                        self.threads.push(registers::thread(id, &of));
                        self.set_back.extend(SetBack::new(self.process, id, before, of));
                    }
                    return;
                }
                State::Ended => return,
                State::Runs if Instant::now() < until => std::thread::yield_now(),
                State::Runs => return self.late.push((id, before)),
            }
        }
    }
}

impl Drop for Stopped {
    fn drop(&mut self) {
        self.set_back.iter().for_each(SetBack::before_detach);
        for &(id, signal) in &self.held {
            detach(id, signal);
        }
        // A thread can be detached only while it is stopped.
        let until = Instant::now() + 10 * PATIENCE;
        for &(id, before) in &self.late {
            loop {
                match state(self.process, id) {
                    State::Stopped(signal) => {
                        registers::read(id).and_then(|of| SetBack::new(self.process, id, before, of));
                        detach(id, signal);
                    }
                    State::Runs if Instant::now() < until => {
                        std::thread::sleep(Duration::from_millis(1));
                        continue;
                    }
                    State::Runs | State::Ended => {}
                }
                break;
            }
        }
    }
}

/// A stopped thread that was set back to its system call, as the kernel does for other calls. Unless a signal waits for the
/// thread: then its program expects `EINTR`.
#[derive(Debug)]
pub(super) struct SetBack {
    process: i32,
    id: i32,
    /// The registers with which the call has failed.
    failed: User,
}

impl SetBack {
    /// Sets a thread back, if the stop made its system call fail. `of` are its registers.
    pub(super) fn new(process: i32, id: i32, before: Before, of: User) -> Option<Self> {
        let again = before.repeated(process, id, &of)?;
        let is_back = !is_signalled(process, id) && registers::write(id, &again);
        is_back.then_some(Self { process, id, failed: of })
    }

    /// Lets the call fail if a signal came meanwhile, of which the program has to learn as it would have.
    pub(super) fn before_detach(&self) {
        if is_signalled(self.process, self.id) {
            registers::write(self.id, &self.failed);
        }
    }
}

/// Returns a line of a thread's `status`.
pub(super) fn status(process: i32, id: i32, key: &str) -> Option<String> {
    let text = fs::read_to_string(format!("/proc/{process}/task/{id}/status")).ok()?;
    text.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix(':').map(|rest| rest.trim().to_owned()))
}

/// Returns `true` if a signal waits for a thread that does not block it. If that cannot be told, too.
fn is_signalled(process: i32, id: i32) -> bool {
    let mask = |key: &str| u64::from_str_radix(&status(process, id, key)?, 16).ok();
    let [own, shared, blocked] = ["SigPnd", "ShdPnd", "SigBlk"].map(mask);
    let (Some(own), Some(shared), Some(blocked)) = (own, shared, blocked) else { return true };
    (own | shared) & !blocked != 0
}

/// Returns the threads of a process.
pub(super) fn tasks(process: i32) -> Vec<i32> {
    let Ok(tasks) = fs::read_dir(format!("/proc/{process}/task")) else { return Vec::new() };
    tasks.filter_map(|task| task.ok()?.file_name().to_str()?.parse().ok()).collect()
}

/// Returns what a thread does; `None` if that cannot be read.
fn doing(process: i32, id: i32) -> Option<Doing> {
    parse(&fs::read_to_string(format!("/proc/{process}/task/{id}/syscall")).ok()?)
}

/// Parses `/proc/PID/task/TID/syscall`: a number, six arguments, the stack pointer and the instruction pointer.
fn parse(text: &str) -> Option<Doing> {
    let words: Vec<&str> = text.split_ascii_whitespace().collect();
    let word = |text: &&str| u64::from_str_radix(text.strip_prefix("0x")?, 16).ok();
    match words.as_slice() {
        ["running"] => Some(Doing::Running),
        [call, .., stack, code] => Some(Doing::Waiting(call.parse().ok()?, word(stack)?, word(code)?)),
        _ => None,
    }
}

/// Asks a thread to stop. Returns `true` if it will.
pub(super) fn interrupt(id: i32) -> bool {
    // SAFETY: the request takes numbers, and accesses no memory of this process.
    let seized = unsafe { libc::ptrace(libc::PTRACE_SEIZE, id, 0, 0) };
    // SAFETY: as above.
    seized == 0 && unsafe { libc::ptrace(libc::PTRACE_INTERRUPT, id, 0, 0) } == 0
}

/// Lets a thread continue.
pub(super) fn detach(id: i32, signal: i32) {
    // SAFETY: the request takes numbers, and accesses no memory of this process.
    unsafe { libc::ptrace(libc::PTRACE_DETACH, id, 0, signal) };
}

pub(super) enum State {
    Runs,
    /// It is stopped; the number is that of a signal that it was about to receive, or 0.
    Stopped(i32),
    Ended,
}

/// Returns the state of a traced thread.
pub(super) fn state(process: i32, id: i32) -> State {
    // The end of the process is for the thread that waits for the child.
    let ends = if id == process { 0 } else { libc::WEXITED };
    // SAFETY: zero is valid for each field of `siginfo_t`.
    let mut info: libc::siginfo_t = unsafe { std::mem::zeroed() };
    let options = libc::WSTOPPED | libc::WNOHANG | libc::__WALL | ends;
    // SAFETY: the call writes to a local.
    let failed = unsafe { libc::waitid(libc::P_PID, id as libc::id_t, &raw mut info, options) } != 0;
    if failed {
        return State::Ended;
    }
    // SAFETY: the call filled the fields for a child, or left them zero.
    let pid = unsafe { info.si_pid() };
    // SAFETY: as above.
    let status = unsafe { info.si_status() };
    match (pid, info.si_code) {
        (0, _) => State::Runs,
        // The status of an event has its number in the second byte. The kernel's own stops deliver no signal.
        (_, libc::CLD_TRAPPED | libc::CLD_STOPPED) => State::Stopped(if status >> 8 == 0 { status } else { 0 }),
        _ => State::Ended,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::{Command, Stdio};

    #[test]
    fn lines_of_system_calls_are_parsed() {
        let waiting = "202 0x7f 0x80 0x2 0x0 0x0 0x0 0x7ffd 0x7f12\n";
        assert_eq!(parse(waiting), Some(Doing::Waiting(202, 0x7ffd, 0x7f12)));
        assert_eq!(parse("running\n"), Some(Doing::Running));
        assert_eq!(parse("-1 0x7ffd 0x7f12"), Some(Doing::Waiting(-1, 0x7ffd, 0x7f12)));
        assert_eq!(parse(""), None);
    }

    #[test]
    fn a_child_is_stopped_and_continues() {
        let mut child = Command::new("sleep").arg("0.3").stdout(Stdio::null()).spawn().unwrap();
        let id = child.id().cast_signed();
        // The child may not have called `exec` yet.
        std::thread::sleep(Duration::from_millis(50));
        let stopped = Stopped::new(id);
        let of_child = stopped.threads.iter().find(|thread| thread.id == id).expect("its registers");
        assert!(of_child.registers[STACK_POINTER].is_some_and(|at| at > 4096) && of_child.pointer.is_some());
        let state = || fs::read_to_string(format!("/proc/{id}/stat")).unwrap();
        assert!(state().contains(") t "), "{}", state());
        drop(stopped);
        assert!(child.wait().unwrap().success());
    }

    #[test]
    fn a_call_that_would_fail_is_left_alone() {
        // `cat` waits in `read`.
        let mut child = Command::new("cat").stdin(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap();
        let id = child.id().cast_signed();
        std::thread::sleep(Duration::from_millis(50));
        let stopped = Stopped::new(id);
        let of_child = stopped.threads.first().expect("its registers");
        assert!(of_child.registers[STACK_POINTER].is_some() && of_child.registers[0].is_none(), "{of_child:?}");
        assert!(stopped.held.is_empty());
        drop(stopped);
        drop(child.stdin.take());
        assert!(child.wait().unwrap().success());
    }
}
