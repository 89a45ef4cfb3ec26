//! Stops the threads of a process for a moment, and reads their registers.
//!
//! A thread is stopped by `ptrace`. The kernel ends that when the thread that traces ends, whatever the reason. Most system
//! calls are restarted by the kernel after a stop. Others, such as `epoll_wait`, return `EINTR`, which a program might not
//! expect. A thread that was stopped in one of those is set back to its call ([`SetBack`]), with what is left of its timeout.
//!
//! The agent's mode leaves a thread alone that waits in such a call ([`Which::Willing`]): `/proc` has its stack pointer and its
//! instruction pointer. So does the other mode where the timeout of the call is in memory. The thread is traced all the same: the kernel queues a signal for a traced thread even if the program
//! ignores it, and such a signal ends the call of any thread that is not traced.
//!
//! A program may end while it is stopped. A traced thread that has ended stays until the thread that traces it waits for it
//! or ends, and until then the process has not ended for its parent. So what makes a [`Stopped`] ends soon after it: a
//! [`Tracer`] is a thread for one stop, and the guard of `outside` a process.

#![expect(clippy::cast_sign_loss, reason = "system calls have numbers, and statuses are words")]

use super::registers::{self, Called, User};
use super::{Thread, maps};
use crate::arch::{INSTRUCTION_POINTER, Registers, STACK_POINTER, UNKNOWN};
use std::cell::OnceCell;
use std::fs;
use std::io;
use std::sync::mpsc::{self, Sender};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// Which threads are stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Which {
    /// Those that run, or that wait in a system call which the kernel restarts.
    Willing,
    All,
}

impl Which {
    /// The time to wait for a thread that has to run to stop, if it waits for something else than a processor. If it does not stop, it
    /// does before it returns to the program.
    const fn patience(self) -> Duration {
        match self {
            Self::Willing => Duration::from_millis(100),
            Self::All => Duration::from_secs(2),
        }
    }

    /// The maximum number of rounds in which new threads are looked for.
    const fn rounds(self) -> u32 {
        match self {
            Self::Willing => 16,
            Self::All => 1000,
        }
    }
}

/// Why a process could not be stopped.
#[derive(Debug)]
pub(crate) enum Failed {
    /// It has ended.
    Gone,
    /// It must not be traced.
    Refused(io::Error),
    /// It starts threads faster than they can be stopped.
    TooManyThreads,
}

/// A process whose threads are stopped until this is dropped, by the thread that made it and that ends soon after.
#[derive(Debug)]
pub(crate) struct Stopped {
    pub(crate) threads: Vec<Thread>,
    process: i32,
    held: Vec<Held>,
    others: Vec<Other>,
    code: OnceCell<Vec<(u64, u64)>>,
}

/// A thread that is stopped.
#[derive(Debug)]
struct Held {
    id: i32,
    /// The signal to deliver, or 0.
    signal: i32,
    set_back: Option<SetBack>,
}

/// A traced thread that runs or waits. It is in the kernel, or left alone.
#[derive(Debug)]
struct Other {
    id: i32,
    before: Before,
    /// It was asked to stop, and does before it returns to the program.
    is_asked: bool,
}

/// What a thread does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Doing {
    Running,
    /// It waits in a system call: its number, the stack pointer and the instruction pointer.
    Waiting(i64, u64, u64),
    /// The same, and the timeout of the call is in memory.
    WaitingUntil(i64, u64, u64),
}

/// What the kernel says of a thread that waits outside of any call, for a page.
const NO_CALL: i64 = -1;
/// The calls that wait for the lock of the process's mappings, as threads that allocate do. Only a signal that kills ends that.
const OF_MEMORY: [i64; 5] = [libc::SYS_mmap, libc::SYS_munmap, libc::SYS_mprotect, libc::SYS_mremap, libc::SYS_brk];

impl Doing {
    fn is_restarted(self) -> bool {
        match self {
            Self::Running => true,
            Self::Waiting(call, ..) | Self::WaitingUntil(call, ..) => {
                call == NO_CALL || OF_MEMORY.contains(&call) || registers::RESTARTED.contains(&call)
            }
        }
    }

    /// Returns `true` if the thread is left alone. It cannot wait for less than the whole time again, if that is in memory.
    fn is_left(self, which: Which) -> bool {
        match which {
            Which::Willing => !self.is_restarted(),
            Which::All => matches!(self, Self::WaitingUntil(..)),
        }
    }

    /// Returns a thread with the registers that are known without a stop.
    fn thread(self, id: i32) -> Option<Thread> {
        let (Self::Waiting(_, stack, code) | Self::WaitingUntil(_, stack, code)) = self else { return None };
        let mut registers: Registers = UNKNOWN;
        registers[STACK_POINTER] = Some(stack);
        registers[INSTRUCTION_POINTER] = Some(code);
        Some(Thread { id, registers, pointer: None })
    }
}

impl Stopped {
    /// Stops the threads of a process, also those that start meanwhile.
    pub(crate) fn new(process: i32, which: Which) -> Result<Self, Failed> {
        let mut stopped =
            Self { threads: Vec::new(), process, held: Vec::new(), others: Vec::new(), code: OnceCell::new() };
        let mut known: Vec<i32> = Vec::new();
        for _ in 0..which.rounds() {
            let fresh: Vec<i32> = tasks(process).into_iter().filter(|id| !known.contains(id)).collect();
            if fresh.is_empty() {
                let is_empty = stopped.held.is_empty() && stopped.others.is_empty();
                return if is_empty { Err(Failed::Gone) } else { Ok(stopped) };
            }
            known.extend(&fresh);
            stopped.stop(&fresh, which)?;
        }
        if which == Which::All { Err(Failed::TooManyThreads) } else { Ok(stopped) }
    }

    /// Traces all of the threads, and then stops them.
    fn stop(&mut self, fresh: &[i32], which: Which) -> Result<(), Failed> {
        let mut asked = Vec::new();
        for &id in fresh {
            let does = doing(self.process, id);
            let before = Before::new(self.process, id, does);
            if seize(id) {
                let left = does.filter(|does| does.is_left(which));
                match left.and_then(|does| does.thread(id)) {
                    Some(thread) => {
                        self.threads.push(thread);
                        self.others.push(Other { id, before, is_asked: false });
                    }
                    None => asked.push((id, before)),
                }
            } else {
                let error = io::Error::last_os_error();
                // Else the thread has ended, or its process does.
                if is_alive(self.process, id) {
                    return Err(Failed::Refused(error));
                }
            }
        }
        asked.retain(|(id, _)| interrupt(*id));
        let until = Instant::now() + which.patience();
        for (id, before) in asked {
            self.wait(id, before, until);
        }
        Ok(())
    }

    /// Waits until a thread stops, and reads its registers.
    fn wait(&mut self, id: i32, before: Before, until: Instant) {
        /// Most threads stop in this time.
        const SOON: Duration = Duration::from_millis(1);
        let begin = Instant::now();
        loop {
            match state(self.process, id) {
                State::Stopped(signal) => {
                    let user = registers::read(id);
                    self.threads.extend(user.map(|user| registers::thread(id, &user)));
                    let set_back = user.and_then(|user| self.set_back(id, &before, user, signal));
                    return self.held.push(Held { id, signal, set_back });
                }
                State::Ended => return,
                State::Runs if begin.elapsed() < SOON => thread::yield_now(),
                State::Runs if is_late(self.process, id, until) || is_in_vfork(self.process, id) => {
                    self.threads.extend(doing(self.process, id).and_then(|does| does.thread(id)));
                    return self.others.push(Other { id, before, is_asked: true });
                }
                State::Runs => thread::sleep(Duration::from_micros(100)),
            }
        }
    }

    /// Sets a thread back to its system call, if the stop made that fail. `user` are its registers, and `signal` is what it was
    /// about to receive.
    fn set_back(&self, id: i32, before: &Before, user: User, signal: i32) -> Option<SetBack> {
        let again = before.call.repeated(self.process, id, &user)?;
        let mut ends = None;
        if let Some(timeout) = registers::timeout(&again) {
            let waited = before.waited(self.process, id)?;
            // The caller may use the register of the timeout again, unless it is a function of libc.
            if self.is_in_libc(registers::code(&user)) {
                ends = Some(Instant::now() + timeout.saturating_sub(waited));
            } else if waited > Duration::ZERO {
                return None;
            }
        }
        let set_back = SetBack { process: self.process, id, failed: user, again, ends };
        let is_back = !notices(self.process, id, signal) && set_back.write();
        is_back.then_some(set_back)
    }

    fn is_in_libc(&self, code: u64) -> bool {
        let parts = self.code.get_or_init(|| {
            let text = fs::read_to_string(format!("/proc/{}/maps", self.process)).unwrap_or_default();
            let is_libc = |map: &&maps::Mapping| {
                let name = map.path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
                ["libc.so", "libc-2.", "ld-musl"].iter().any(|start| name.starts_with(start))
            };
            maps::mappings(&text).iter().filter(is_libc).map(|map| (map.start, map.end)).collect()
        });
        parts.iter().any(|(start, end)| (*start..*end).contains(&code))
    }

    /// Lets the threads continue that are stopped.
    pub(crate) fn release(&mut self) {
        // While a thread is traced, an ignored signal for it ends the call of another one that is not traced any more.
        let mut held = std::mem::take(&mut self.held);
        held.sort_by_key(|held| held.set_back.is_some());
        held.iter().for_each(Held::release);
    }
}

impl Held {
    fn release(&self) {
        self.set_back.iter().for_each(SetBack::before_detach);
        // SAFETY: the request takes numbers, and accesses no memory of this process.
        unsafe { libc::ptrace(libc::PTRACE_DETACH, self.id, 0, self.signal) };
    }
}

impl Drop for Stopped {
    fn drop(&mut self) {
        /// The time to wait for the threads that were asked to stop and are in the kernel.
        const PATIENCE: Duration = Duration::from_millis(100);
        self.release();
        // A thread can be detached only while it is stopped. The kernel does it when this thread ends.
        let until = Instant::now() + PATIENCE;
        for Other { id, before, is_asked } in std::mem::take(&mut self.others) {
            loop {
                match state(self.process, id) {
                    State::Stopped(signal) => {
                        let set_back = registers::read(id).and_then(|user| self.set_back(id, &before, user, signal));
                        Held { id, signal, set_back }.release();
                    }
                    State::Runs if is_asked && Instant::now() < until => {
                        thread::sleep(Duration::from_millis(1));
                        continue;
                    }
                    State::Runs | State::Ended => {}
                }
                break;
            }
        }
    }
}

/// A process whose threads a thread of its own has stopped, until this is dropped.
#[derive(Debug)]
pub(crate) struct Tracer {
    pub(crate) threads: Vec<Thread>,
    hold: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Tracer {
    /// Stops the threads that are willing, for so long at most. Returns `None` if they cannot be traced.
    pub(crate) fn start(process: i32, longest: Duration) -> Option<Self> {
        let (hold, asked) = mpsc::channel::<()>();
        let (report, answer) = mpsc::channel();
        let trace = move || {
            if let Ok(mut stopped) = Stopped::new(process, Which::Willing) {
                let _ = report.send(std::mem::take(&mut stopped.threads));
                // Nothing is sent: the other end is dropped.
                let _ = asked.recv_timeout(longest);
            }
        };
        let thread = thread::Builder::new().name("tracer".to_owned()).spawn(trace).ok()?;
        let threads = answer.recv().ok()?;
        Some(Self { threads, hold: Some(hold), thread: Some(thread) })
    }
}

impl Drop for Tracer {
    fn drop(&mut self) {
        drop(self.hold.take());
        let _ = self.thread.take().map(JoinHandle::join);
    }
}

/// What a thread did before it was asked to stop.
#[derive(Debug)]
struct Before {
    call: Called,
    began: Began,
}

/// Since when a thread waits.
#[derive(Debug)]
enum Began {
    /// It did not wait yet, or its call has no timeout.
    Later,
    /// It last ran at this time, and had waited so often.
    At(Instant, u64),
    Unknown,
}

impl Before {
    fn new(process: i32, id: i32, does: Option<Doing>) -> Self {
        let began = match does {
            Some(Doing::Waiting(call, ..)) if registers::TIMED.contains(&call) => {
                last_ran(process, id).map_or(Began::Unknown, |(at, waits)| Began::At(at, waits))
            }
            _ => Began::Later,
        };
        Self { call: Called::new(process, id), began }
    }

    /// Returns how long a stopped thread has waited in the call that the stop made fail, if that is known.
    fn waited(&self, process: i32, id: i32) -> Option<Duration> {
        match self.began {
            Began::Unknown => None,
            // The stop itself is a wait. Else it is another call than before.
            Began::At(at, waits) if waits_of(process, id) == Some(waits + 1) => Some(at.elapsed()),
            Began::Later | Began::At(..) => Some(Duration::ZERO),
        }
    }
}

/// Returns how often a thread has waited.
fn waits_of(process: i32, id: i32) -> Option<u64> {
    status(process, id, "voluntary_ctxt_switches")?.parse().ok()
}

/// Returns when a thread last ran, and how often it had waited. `None` if the kernel does not tell, or this thread cannot run on
/// the same processor: each has a clock of its own.
fn last_ran(process: i32, id: i32) -> Option<(Instant, u64)> {
    let sched = fs::read_to_string(format!("/proc/{process}/task/{id}/sched")).ok()?;
    let stat = fs::read_to_string(format!("/proc/{process}/task/{id}/stat")).ok()?;
    let processor = stat.rsplit_once(')')?.1.split_ascii_whitespace().nth(36)?.parse().ok()?;
    let (own, now) = on_processor(processor, || {
        // SAFETY: the call takes nothing, and accesses no memory. It makes the kernel note the time.
        unsafe { libc::sched_yield() };
        (fs::read_to_string("/proc/thread-self/sched"), Instant::now())
    })?;
    let began = |text: &str| scheduled::<f64>(text, "se.exec_start");
    let since = began(&own.ok()?)? - began(&sched)?;
    let since = Duration::try_from_secs_f64(since / 1000.0).ok()?;
    Some((now.checked_sub(since)?, scheduled(&sched, "nr_voluntary_switches")?))
}

/// Returns a number of `/proc/PID/sched`.
fn scheduled<T: std::str::FromStr>(text: &str, key: &str) -> Option<T> {
    let entry = text.lines().find_map(|line| line.split_once(':').filter(|(name, _)| name.trim() == key))?;
    entry.1.trim().parse().ok()
}

/// Runs something on a processor, if this thread may.
fn on_processor<T>(processor: usize, run: impl FnOnce() -> T) -> Option<T> {
    // SAFETY: zero is valid for each field: no processor.
    let mut before: libc::cpu_set_t = unsafe { std::mem::zeroed() };
    let mut only = before;
    if processor >= 8 * size_of::<libc::cpu_set_t>() {
        return None;
    }
    // SAFETY: the number is less than that of the bits.
    unsafe { libc::CPU_SET(processor, &mut only) };
    let bytes = size_of::<libc::cpu_set_t>();
    // SAFETY: the call writes at most so many bytes to a local of that size.
    let known = unsafe { libc::sched_getaffinity(0, bytes, &raw mut before) } == 0;
    // SAFETY: the call reads a local of that size.
    if !known || unsafe { libc::sched_setaffinity(0, bytes, &raw const only) } != 0 {
        return None;
    }
    let done = run();
    // SAFETY: the call reads a local of that size, which `sched_getaffinity` filled.
    unsafe { libc::sched_setaffinity(0, bytes, &raw const before) };
    Some(done)
}

/// A stopped thread that was set back to its system call, as the kernel does for other calls. Unless a signal waits for the
/// thread that the program notices: then it expects `EINTR`.
#[derive(Debug)]
struct SetBack {
    process: i32,
    id: i32,
    /// The registers with which the call has failed, and those that repeat it.
    failed: User,
    again: User,
    /// When its timeout ends.
    ends: Option<Instant>,
}

impl SetBack {
    /// Writes the registers that repeat the call, for what is left of its timeout.
    fn write(&self) -> bool {
        let mut again = self.again;
        if let Some(ends) = self.ends {
            registers::set_timeout(&mut again, ends.saturating_duration_since(Instant::now()));
        }
        registers::write(self.id, &again)
    }

    /// Lets the call fail if a signal came meanwhile, of which the program has to learn as it would have.
    fn before_detach(&self) {
        if notices(self.process, self.id, 0) {
            registers::write(self.id, &self.failed);
        } else if self.ends.is_some() {
            self.write();
        }
    }
}

/// Returns a line of a thread's `status`.
pub(super) fn status(process: i32, id: i32, key: &str) -> Option<String> {
    let text = fs::read_to_string(format!("/proc/{process}/task/{id}/status")).ok()?;
    line(&text, key).map(str::to_owned)
}

fn line<'t>(text: &'t str, key: &str) -> Option<&'t str> {
    text.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix(':').map(str::trim))
}

/// Returns `true` if a thread did not stop in time. One that is ready to run waits for a processor, which takes longer on a busy
/// machine: without its registers, what its variables own would have no owner.
fn is_late(process: i32, id: i32, until: Instant) -> bool {
    const BUSY: Duration = Duration::from_secs(1);
    let now = Instant::now();
    let is_ready = || status(process, id, "State").is_some_and(|state| state.starts_with('R'));
    now >= until && (now >= until + BUSY || !is_ready())
}

/// Returns `true` if a thread has not ended.
fn is_alive(process: i32, id: i32) -> bool {
    status(process, id, "State").is_some_and(|state| !state.starts_with(['Z', 'X']))
}

/// Returns `true` if a thread waits until its child calls `exec`. Other calls that nothing interrupts end soon, and may change
/// memory before that.
fn is_in_vfork(process: i32, id: i32) -> bool {
    let is_call = |does| matches!(does, Doing::Waiting(call, ..) if registers::FORKS.contains(&call));
    is_in(process, id, 'D') && doing(process, id).is_some_and(is_call)
}

/// Returns `true` if a thread is in this state.
fn is_in(process: i32, id: i32, wanted: char) -> bool {
    status(process, id, "State").is_some_and(|state| state.starts_with(wanted))
}

/// Returns `true` if `signal`, or one that waits for a thread that does not block it, does something in the program. If that
/// cannot be told, too.
fn notices(process: i32, id: i32, signal: i32) -> bool {
    let bit = |signal: i32| if signal == 0 { 0 } else { 1_u64 << (signal - 1) };
    /// What is ignored if the program does not say otherwise.
    const QUIET: [i32; 4] = [libc::SIGCHLD, libc::SIGURG, libc::SIGWINCH, libc::SIGCONT];
    let Ok(text) = fs::read_to_string(format!("/proc/{process}/task/{id}/status")) else { return true };
    let mask = |key: &str| u64::from_str_radix(line(&text, key)?, 16).ok();
    let [own, shared, blocked, ignored, caught] = ["SigPnd", "ShdPnd", "SigBlk", "SigIgn", "SigCgt"].map(mask);
    let (Some(own), Some(shared), Some(blocked)) = (own, shared, blocked) else { return true };
    let (Some(ignored), Some(caught)) = (ignored, caught) else { return true };
    let quiet = ignored | QUIET.iter().map(|signal| bit(*signal)).sum::<u64>() & !caught;
    ((own | shared) & !blocked | bit(signal)) & !quiet != 0
}

/// Returns the threads of a process.
fn tasks(process: i32) -> Vec<i32> {
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
        [call, arguments @ .., stack, code] => {
            let (call, stack, code) = (call.parse().ok()?, word(stack)?, word(code)?);
            let timeout = registers::TIMED_IN_MEMORY.iter().find(|timed| timed.0 == call);
            let is_timed = timeout.and_then(|timed| word(arguments.get(timed.1)?)).is_some_and(|timeout| timeout != 0);
            Some(if is_timed { Doing::WaitingUntil(call, stack, code) } else { Doing::Waiting(call, stack, code) })
        }
        _ => None,
    }
}

/// Traces a thread, which does not notice that.
fn seize(id: i32) -> bool {
    // SAFETY: the request takes numbers, and accesses no memory of this process.
    unsafe { libc::ptrace(libc::PTRACE_SEIZE, id, 0, 0) == 0 }
}

/// Asks a traced thread to stop. Returns `true` if it will.
fn interrupt(id: i32) -> bool {
    // SAFETY: the request takes numbers, and accesses no memory of this process.
    unsafe { libc::ptrace(libc::PTRACE_INTERRUPT, id, 0, 0) == 0 }
}

enum State {
    Runs,
    /// It is stopped; the number is that of a signal that it was about to receive, or 0.
    Stopped(i32),
    Ended,
}

/// Returns the state of a traced thread.
fn state(process: i32, id: i32) -> State {
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
    // SAFETY: `waitid` fills the same fields for each child, of which the status is one.
    let status = unsafe { info.si_status() };
    match (pid, info.si_code) {
        // A main thread ends before the others, and is not waited for.
        (0, _) if id == process && !is_alive(process, id) => State::Ended,
        (0, _) => State::Runs,
        // The status of an event has its number in the second byte. The kernel's own stops deliver no signal.
        (_, libc::CLD_TRAPPED | libc::CLD_STOPPED) => State::Stopped(if status >> 8 == 0 { status } else { 0 }),
        _ => State::Ended,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{BufRead as _, BufReader, Read as _, Write as _};
    use std::os::unix::process::CommandExt as _;
    use std::process::{Child, Command, Stdio};

    #[test]
    fn lines_of_system_calls_are_parsed() {
        let waiting = "202 0x7f 0x80 0x2 0x0 0x0 0x0 0x7ffd 0x7f12\n";
        assert_eq!(parse(waiting), Some(Doing::Waiting(202, 0x7ffd, 0x7f12)));
        let timed = format!("{} 0x4 0x7f 0x8 0x7ff0 0x0 0x8 0x7ffd 0x7f12\n", libc::SYS_epoll_pwait2);
        assert_eq!(parse(&timed), Some(Doing::WaitingUntil(libc::SYS_epoll_pwait2, 0x7ffd, 0x7f12)));
        let without = timed.replace("0x7ff0", "0x0");
        assert_eq!(parse(&without), Some(Doing::Waiting(libc::SYS_epoll_pwait2, 0x7ffd, 0x7f12)));
        assert_eq!(parse("running\n"), Some(Doing::Running));
        // Threads that grow wait for pages, and are stopped in that.
        assert_eq!(parse("-1 0x7ffd 0x7f12"), Some(Doing::Waiting(NO_CALL, 0x7ffd, 0x7f12)));
        let is_left = |call: i64| Doing::Waiting(call, 0x7ffd, 0x7f12).is_left(Which::Willing);
        assert!(![NO_CALL, libc::SYS_mmap, libc::SYS_futex].map(is_left).contains(&true) && is_left(libc::SYS_read));
        assert_eq!(parse(""), None);
    }

    #[test]
    fn a_child_is_stopped_and_continues() {
        let mut child = Command::new("sleep").arg("0.3").stdout(Stdio::null()).spawn().unwrap();
        let id = child.id().cast_signed();
        // The child may not have called `exec` yet.
        thread::sleep(Duration::from_millis(50));
        let stopped = Tracer::start(id, LONG).expect("it is a child");
        let of_child = stopped.threads.iter().find(|thread| thread.id == id).expect("its registers");
        assert!(of_child.registers[STACK_POINTER].is_some_and(|at| at > 4096) && of_child.pointer.is_some());
        assert!(is_in(id, id, 't'));
        drop(stopped);
        assert!(child.wait().unwrap().success());
    }

    #[test]
    fn a_call_that_would_fail_is_left_alone() {
        // `cat` waits in `read`.
        let mut child = Command::new("cat").stdin(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap();
        let id = child.id().cast_signed();
        thread::sleep(Duration::from_millis(50));
        let stopped = Tracer::start(id, LONG).expect("it is a child");
        let of_child = stopped.threads.first().expect("its registers");
        assert!(of_child.registers[STACK_POINTER].is_some() && of_child.registers[0].is_none(), "{of_child:?}");
        assert!(is_in(id, id, 'S'));
        drop(stopped);
        drop(child.stdin.take());
        assert!(child.wait().unwrap().success());
    }

    const LONG: Duration = Duration::from_secs(20);
    const PROGRAM: &str = "DWELL_TEST_PROGRAM";

    /// Starts the next test as a process of its own, and waits until it is ready.
    fn program(mode: &str) -> Child {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.args(["--exact", "--nocapture", "capture::stop::tests::is_a_program_if_it_is_asked_to"]);
        command.env(PROGRAM, mode).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut lines = BufReader::new(child.stdout.as_mut().unwrap()).lines();
        assert!(lines.any(|line| line.unwrap().ends_with("ready")));
        child
    }

    /// Waits for a line, which a thread does that is never stopped, and then ends by `mode`. Other threads run and wait.
    #[test]
    fn is_a_program_if_it_is_asked_to() {
        let Ok(mode) = std::env::var(PROGRAM) else { return };
        let waits = |call: fn()| thread::spawn(call);
        let all = [
            waits(|| {
                loop {
                    std::hint::spin_loop();
                }
            }),
            waits(|| thread::sleep(LONG)),
            waits(timed),
        ];
        println!("ready");
        if mode == "vfork" {
            let mut stack = vec![0_u64; 1 << 14];
            let flags = libc::CLONE_VM | libc::CLONE_VFORK | libc::SIGCHLD;
            // SAFETY: the child has the stack for itself, since this thread waits until it ends.
            unsafe { libc::clone(slow, stack.as_mut_ptr_range().end.cast(), flags, std::ptr::null_mut()) };
            std::process::exit(0);
        }
        if mode == "timed" {
            all.into_iter().last().unwrap().join().unwrap();
            std::process::exit(0);
        }
        let mut line = String::new();
        std::io::stdin().read_line(&mut line).unwrap();
        match &*mode {
            "exit" => std::process::exit(0),
            "abort" => std::process::abort(),
            "exec" => panic!("{}", Command::new("true").exec()),
            // This is no main thread, which ends when it is the last one.
            "last" => {
                // SAFETY: the call takes a number, and accesses no memory of this process.
                unsafe { libc::syscall(libc::SYS_exit_group, 0) };
            }
            mode => panic!("{mode}"),
        }
    }

    /// The child of `vfork`.
    extern "C" fn slow(_: *mut libc::c_void) -> i32 {
        let time = libc::timespec { tv_sec: 3, tv_nsec: 0 };
        // SAFETY: the call reads a local.
        unsafe { libc::nanosleep(&raw const time, std::ptr::null_mut()) };
        0
    }

    /// Waits for one second by `epoll_wait`, and tells how it ended.
    fn timed() {
        // SAFETY: the call takes a number, and accesses no memory of this process.
        let poll = unsafe { libc::epoll_create1(0) };
        let mut event = libc::epoll_event { events: 0, u64: 0 };
        let start = Instant::now();
        // SAFETY: the call writes at most one event to a local.
        let found = unsafe { libc::epoll_wait(poll, &raw mut event, 1, 1000) };
        println!("{found} {}", start.elapsed().as_millis());
    }

    #[test]
    fn a_program_that_ends_while_it_is_stopped_is_gone() {
        for mode in ["exit", "abort", "exec", "last", "kill"] {
            let mut child = program(mode);
            let id = child.id().cast_signed();
            let stopped = Tracer::start(id, LONG).expect("it is a child");
            assert!(stopped.threads.len() >= 4, "{mode}: {:?}", stopped.threads);
            if mode == "kill" {
                child.kill().unwrap();
            } else {
                child.stdin.take().unwrap().write_all(b"\n").unwrap();
            }
            let until = Instant::now() + Duration::from_secs(1);
            while is_alive(id, id) && Instant::now() < until {
                thread::sleep(Duration::from_millis(1));
            }
            assert!(child.try_wait().unwrap().is_none(), "{mode}: it was not stopped");
            drop(stopped);
            let until = Instant::now() + LONG;
            while child.try_wait().unwrap().is_none() {
                assert!(Instant::now() < until, "{mode}: it has not ended");
                thread::sleep(Duration::from_millis(1));
            }
        }
    }

    /// `epoll_wait` began again with its whole timeout.
    #[test]
    fn a_stop_does_not_lengthen_a_timeout() {
        let mut child = program("timed");
        let id = child.id().cast_signed();
        let knows = fs::metadata(format!("/proc/{id}/sched")).is_ok();
        let stop = move || {
            for _ in 0..4 {
                thread::sleep(Duration::from_millis(200));
                drop(Stopped::new(id, Which::All));
            }
        };
        // The kernel lets the threads continue when the one that traces ends.
        thread::spawn(stop).join().unwrap();
        let mut text = String::new();
        child.stdout.take().unwrap().read_to_string(&mut text).unwrap();
        child.wait().unwrap();
        let line = text.lines().find_map(|line| line.split_once(' ')).expect("it tells");
        let (found, millis): (i32, u64) = (line.0.parse().unwrap(), line.1.parse().unwrap());
        if !knows {
            eprintln!("skipped: the kernel does not tell when a thread last ran");
        } else if cfg!(target_arch = "x86_64") {
            // Four times the whole timeout would be 1,800.
            assert!(found == 0 && (1000..1600).contains(&millis), "{found} after {millis} ms");
        }
    }

    /// The pause was as long as the child took.
    #[test]
    fn a_thread_in_vfork_is_not_waited_for() {
        let mut child = program("vfork");
        let id = child.id().cast_signed();
        let until = Instant::now() + LONG;
        while !tasks(id).into_iter().any(|thread| is_in_vfork(id, thread)) {
            assert!(Instant::now() < until, "no thread is in vfork");
        }
        let stop = move || {
            let stopped = Stopped::new(id, Which::All).expect("it is a child");
            (stopped.held.len(), stopped.others.len(), stopped.threads.len())
        };
        let begin = Instant::now();
        let (held, others, threads) = thread::spawn(stop).join().unwrap();
        assert!(others == 1 && held + others == threads, "{held} {others} {threads}");
        assert!(begin.elapsed() < Duration::from_secs(2), "{:?}", begin.elapsed());
        assert!(child.wait().unwrap().success());
    }

    #[test]
    fn a_signal_that_the_program_ignores_is_no_reason_to_fail() {
        // SAFETY: the call takes nothing.
        let own = unsafe { libc::gettid() };
        let process = std::process::id().cast_signed();
        let noticed = |signal| notices(process, own, signal);
        assert!(!noticed(0) && !noticed(libc::SIGCHLD) && !noticed(libc::SIGWINCH));
        // Rust's runtime ignores the first, and SIGSEGV has its handler.
        assert!(!noticed(libc::SIGPIPE) && noticed(libc::SIGTERM) && noticed(libc::SIGSEGV));
    }
}
