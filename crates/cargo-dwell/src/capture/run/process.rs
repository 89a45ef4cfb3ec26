//! Starts the program, listens to its helper, and collects snapshots.

#![expect(
    clippy::cast_possible_truncation,
    clippy::cast_possible_wrap,
    clippy::cast_sign_loss,
    reason = "process ids, signals and times are far from the bounds of their types"
)]

use super::{At, Options, Run};
use crate::agent::{self, hooks, layout};
use crate::capture::image::{self, About, Process};
use crate::capture::stop::Stopped;
use crate::capture::{Moment, Snapshot, Thread};
use crate::debuginfo;
use crate::program::loadable::{self, Target};
use anyhow::{Context, Result, bail};
use layout::{Event, Shared, Status};
use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{Read, Write};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::Path;
use std::process::{Command, ExitStatus};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::thread;
use std::time::{Duration, Instant};

/// Returns the exit code that a shell reports for a program.
fn code(status: ExitStatus) -> u8 {
    let signal = || status.signal().map_or(1, |signal| 128 + signal);
    u8::try_from(status.code().unwrap_or_else(signal)).unwrap_or(1)
}

/// Runs a program with this process's standard streams and takes snapshots.
///
/// # Errors
/// Returns an error if the agent cannot be loaded, if the program cannot be started, or if its memory cannot be read.
pub fn snapshots(executable: &Path, args: &[OsString], options: &Options) -> Result<Run> {
    run(executable, args, options, None, None)
}

/// Follows a run that counts allocations.
pub(crate) trait Watch {
    /// The program has started. `plan` begins with the page that it shares with this process, a [`Shared`].
    fn started(&mut self, pid: i32, plan: &File) -> Result<()>;

    /// The program has ended; its memory is that of `process`.
    fn ended(&mut self, process: &Arc<Process>, about: &About) -> Result<()>;
}

/// Runs a program like [`snapshots`], and gives its records to `watch`.
///
/// # Errors
/// As [`snapshots`].
pub(crate) fn watched(executable: &Path, args: &[OsString], options: &Options, watch: &mut dyn Watch) -> Result<Run> {
    run(executable, args, options, None, Some(watch))
}

/// Receives the snapshots to report while the program runs, with the milliseconds since its start.
type Early<'e> = &'e mut dyn FnMut(Vec<Snapshot>, u64);

/// Like [`snapshots`], but also reports while the program runs: it calls `early` with the snapshots so far when a
/// signal requests one, and after the last planned snapshot if none is planned for the end. The [`Run`] has these
/// snapshots only if later ones follow.
///
/// # Errors
/// As [`snapshots`].
pub fn snapshots_early(executable: &Path, args: &[OsString], options: &Options, early: Early<'_>) -> Result<Run> {
    run(executable, args, options, Some(early), None)
}

fn run<'w>(
    executable: &Path,
    args: &[OsString],
    options: &Options,
    early: Option<Early<'w>>,
    mut watch: Option<&'w mut dyn Watch>,
) -> Result<Run> {
    let target = Target::open(executable)?;
    debuginfo::expect(executable)?;
    let library = agent::library(options.cache.as_deref())?;
    let mut notes = Vec::new();
    if loadable::has_frame_pointers(&target.data) == Some(false) {
        notes.push(
            "the program was built without frame pointers, so most call stacks are incomplete; leave --exe out, or build with \
             RUSTFLAGS=-Cforce-frame-pointers=yes"
                .to_owned(),
        );
    }
    let patches = hooks::plan(&target.data);
    if let Some(first) = patches.refused.first() {
        let more = patches.refused.len() - 1;
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        notes.push(format!(
            "functions of the allocator cannot be hooked, so their allocations are not recorded: {first}{more}"
        ));
    }
    let plan = Plan::new(&target, options, &patches.bytes)?;
    let (ours, theirs) = sockets()?;
    let mut command = Command::new(&target.path);
    command.args(args).env(layout::VARIABLE, format!("{},{}", plan.file.as_raw_fd(), theirs.as_raw_fd()));
    let mut preload = library.into_os_string();
    if let Some(other) = std::env::var_os("LD_PRELOAD").filter(|other| !other.is_empty()) {
        preload.push(":");
        preload.push(other);
    }
    command.env("LD_PRELOAD", preload);
    let inherited = [plan.file.as_raw_fd(), theirs.as_raw_fd()];
    let keep = move || {
        for file in inherited {
            // SAFETY: the call changes a flag of an open file of the new process; it neither allocates nor locks.
            if unsafe { libc::fcntl(file, libc::F_SETFD, 0) } < 0 {
                return Err(std::io::Error::last_os_error());
            }
        }
        Ok(())
    };
    // SAFETY: `keep` runs after `fork`; it calls `fcntl`, which is async-signal-safe, and reads an array it owns.
    unsafe { command.pre_exec(keep) };

    let (sender, messages) = mpsc::channel();
    if options.signals {
        signals::listen(sender.clone())?;
    }
    let started = Instant::now();
    let mut child = command.spawn().with_context(|| format!("{}: cannot be started", target.path.display()))?;
    let pid = child.id() as i32;
    drop(theirs);
    if let Some(watch) = &mut watch {
        watch.started(pid, &plan.file)?;
    }
    signals::PROGRAM.store(pid, Ordering::Relaxed);
    let ours = Arc::new(ours);
    let over = Arc::new(AtomicBool::new(false));
    // `wait` would return when a thread is stopped.
    let end = EndOf::new(pid);
    plan.shared().stops.store(u32::from(end.is_some()), Ordering::Release);
    let plan = Arc::new(plan);
    let reader = {
        let (socket, sender, over, plan) = (Arc::clone(&ours), sender.clone(), Arc::clone(&over), Arc::clone(&plan));
        thread::spawn(move || listen(&socket, pid, &plan, &sender, &over))
    };
    let waiter = thread::spawn(move || {
        if let Some(end) = end {
            end.wait();
        }
        let status = child.wait();
        signals::PROGRAM.store(0, Ordering::Relaxed);
        let _ = sender.send(Message::Ended(status));
    });
    let mut session = Session {
        pid,
        target: &target,
        options,
        plan: &plan,
        socket: ours,
        taken: Vec::new(),
        peak: None,
        asked: Vec::new(),
        early_asks: Vec::new(),
        started,
        interrupted: false,
        thinned: false,
        early,
        watch,
        reported: 0,
        patches: patches.count,
        notes,
    };
    let status = session.listen(&messages);
    let result = status.and_then(|status| session.finish(status, &messages));
    over.store(true, Ordering::Relaxed);
    let _ = reader.join();
    let _ = waiter.join();
    result
}

enum Message {
    /// A message of the helper, the program's threads if they were stopped, and its mappings at that moment.
    Event(Event, Vec<Thread>, Option<String>),
    Ended(std::io::Result<ExitStatus>),
    /// A signal, and whether only this process received it.
    Signal(i32, bool),
}

/// The interval at which a due snapshot checks whether the agent is ready.
const ARMING: Duration = Duration::from_millis(5);

/// The maximum number of kept snapshots of `--every`. Each holds a copy of the memory that the program has changed
/// since.
const MOST_ROUNDS: usize = 16;

/// The file for the agent: a shared page, then the patches.
struct Plan {
    file: File,
    page: memmap2::MmapMut,
}

impl Plan {
    fn new(target: &Target, options: &Options, patches: &[u8]) -> Result<Self> {
        // SAFETY: the name is a NUL-terminated string, which the call only reads.
        let file =
            unsafe { libc::memfd_create(c"cargo-dwell-census".as_ptr(), libc::MFD_CLOEXEC | libc::MFD_ALLOW_SEALING) };
        if file < 0 {
            return Err(std::io::Error::last_os_error()).context("cannot create the memory shared with the program");
        }
        // SAFETY: the call succeeded, so the number is a new file without another owner.
        let mut file = unsafe { File::from_raw_fd(file) };
        let filled = file.write_all(&[0; layout::SHARED_BYTES]).and_then(|()| file.write_all(patches));
        filled.context("cannot create the memory shared with the program")?;
        // SAFETY: the call takes an open file and flags, and accesses no memory of this process.
        let sealed =
            unsafe { libc::fcntl(file.as_raw_fd(), libc::F_ADD_SEALS, libc::F_SEAL_SHRINK | libc::F_SEAL_GROW) };
        if sealed != 0 {
            return Err(std::io::Error::last_os_error()).context("cannot create the memory shared with the program");
        }
        // SAFETY: the seals keep the file from being truncated. The program writes to the page at the same time, but
        // both processes access it only through atomics, see `shared`.
        let page = unsafe { memmap2::MmapOptions::new().len(layout::SHARED_BYTES).map_mut(&file) };
        let plan = Self { page: page.context("cannot create the memory shared with the program")?, file };
        let shared = plan.shared();
        shared.entry.store(target.entry, Ordering::Relaxed);
        shared.device.store(target.device, Ordering::Relaxed);
        shared.inode.store(target.inode, Ordering::Relaxed);
        shared.wants_peak.store(u32::from(options.at.contains(&At::Peak)), Ordering::Relaxed);
        shared.patch_bytes.store(patches.len() as u32, Ordering::Relaxed);
        shared.sample.store(options.sample.unwrap_or(0), Ordering::Relaxed);
        let mode = if options.counts { layout::Mode::Counts } else { layout::Mode::Blocks };
        shared.mode.store(mode as u32, Ordering::Relaxed);
        shared.magic.store(layout::MAGIC, Ordering::Release);
        Ok(plan)
    }

    #[expect(clippy::cast_ptr_alignment, reason = "a mapping is aligned to a page")]
    fn shared(&self) -> &Shared {
        // SAFETY: the mapping is one aligned page, and a `Shared` fits in a page. It consists of atomic integers, for
        // which every bit pattern is valid and which the program may write at any time.
        unsafe { &*self.page.as_ptr().cast::<Shared>() }
    }

    fn status(&self) -> Status {
        let status = self.shared().status.load(Ordering::Acquire);
        Status::ALL.into_iter().find(|known| *known as u32 == status).unwrap_or(Status::Absent)
    }

    /// Wakes the helper.
    fn ring(&self) {
        let bell = &self.shared().doorbell;
        bell.fetch_add(1, Ordering::Release);
        wake(bell);
    }
}

/// Wakes the processes that wait for a word.
fn wake(word: &AtomicU32) {
    // SAFETY: the call does not access the word; it uses the address only to find the waiting threads.
    unsafe { libc::syscall(libc::SYS_futex, word.as_ptr(), libc::FUTEX_WAKE, i32::MAX) };
}

/// Returns two connected sockets that preserve message boundaries.
fn sockets() -> Result<(OwnedFd, OwnedFd)> {
    let mut pair = [0; 2];
    // SAFETY: the call writes two numbers to an array of two.
    let error =
        unsafe { libc::socketpair(libc::AF_UNIX, libc::SOCK_SEQPACKET | libc::SOCK_CLOEXEC, 0, pair.as_mut_ptr()) };
    if error != 0 {
        return Err(std::io::Error::last_os_error()).context("no socket to the program can be made");
    }
    // SAFETY: the call succeeded, so each number is a new file without another owner.
    Ok(pair.map(|file| unsafe { OwnedFd::from_raw_fd(file) }).into())
}

/// The end of a child, which can be waited for without reaping it.
struct EndOf(OwnedFd);

impl EndOf {
    /// Returns `None` if the kernel is older than 5.3.
    fn new(pid: i32) -> Option<Self> {
        // SAFETY: the call takes two numbers. The child was not waited for, so the number is its own.
        let file = unsafe { libc::syscall(libc::SYS_pidfd_open, pid, 0) };
        // SAFETY: the call succeeded, so the number is a new file without another owner.
        i32::try_from(file).ok().filter(|file| *file >= 0).map(|file| Self(unsafe { OwnedFd::from_raw_fd(file) }))
    }

    fn wait(&self) {
        let mut poll = libc::pollfd { fd: self.0.as_raw_fd(), events: libc::POLLIN, revents: 0 };
        // SAFETY: the call reads and writes one entry, which is a local.
        while unsafe { libc::poll(&raw mut poll, 1, -1) } < 0
            && std::io::Error::last_os_error().kind() == std::io::ErrorKind::Interrupted
        {}
    }
}

/// Forwards the helper's messages until it closes its end. Stops the threads of the program while the helper copies it.
fn listen(socket: &OwnedFd, pid: i32, plan: &Plan, sender: &Sender<Message>, over: &AtomicBool) {
    const PATIENCE: i32 = 100;
    /// The time that a copy may take.
    const MOST_HELD: Duration = Duration::from_secs(20);
    let Ok(socket) = socket.try_clone() else { return };
    let mut file = File::from(socket);
    // This thread traces those of the program, so it must let them continue.
    let mut stopped: Option<(Stopped, Instant)> = None;
    loop {
        stopped = stopped.filter(|(_, since)| since.elapsed() < MOST_HELD);
        let mut poll = libc::pollfd { fd: file.as_raw_fd(), events: libc::POLLIN, revents: 0 };
        // SAFETY: the call reads and writes one entry, which is a local.
        let ready = unsafe { libc::poll(&raw mut poll, 1, PATIENCE) };
        if ready <= 0 {
            if over.load(Ordering::Relaxed) {
                return;
            }
            continue;
        }
        let mut bytes = [0; Event::BYTES];
        let Ok(Event::BYTES) = file.read(&mut bytes) else { return };
        let event = Event::from_bytes(bytes);
        if event.what == Event::STOP {
            stopped = Some((Stopped::new(pid), Instant::now()));
            plan.shared().stopped.fetch_add(1, Ordering::Release);
            wake(&plan.shared().stopped);
            continue;
        }
        // Before the threads continue. The agent counts this time as that of the copy.
        let smaps = if event.pid > 0 { smaps(pid) } else { None };
        let threads = stopped.take().map(|(stopped, _)| stopped.threads.clone()).filter(|_| event.held != 0);
        let threads = threads.unwrap_or_default();
        if sender.send(Message::Event(event, threads, smaps)).is_err() || event.what == Event::ENDED {
            return;
        }
    }
}

/// The state of a program after its end.
struct End {
    process: Arc<Process>,
    about: About,
    /// Live bytes in the last copy at the peak, and at the end.
    taken: i64,
    live: i64,
}

struct Session<'r, 'e> {
    pid: i32,
    target: &'r Target,
    options: &'r Options,
    plan: &'r Plan,
    socket: Arc<OwnedFd>,
    taken: Vec<(Arc<Process>, About)>,
    /// The latest copy at a peak.
    peak: Option<(Arc<Process>, About)>,
    /// The requested snapshots that the helper has not answered yet.
    asked: Vec<Moment>,
    /// The snapshots that were due before the agent was ready. The loader takes long for a large program.
    early_asks: Vec<Moment>,
    started: Instant,
    interrupted: bool,
    /// Whether snapshots of `--every` were dropped.
    thinned: bool,
    early: Option<Early<'e>>,
    watch: Option<&'e mut dyn Watch>,
    /// The number of snapshots reported early.
    reported: usize,
    /// The number of functions to patch.
    patches: u32,
    notes: Vec<String>,
}

impl Session<'_, '_> {
    /// Handles messages until the program ends.
    fn listen(&mut self, messages: &Receiver<Message>) -> Result<ExitStatus> {
        let mut times: Vec<Duration> = self.options.at.iter().filter_map(|at| at_time(*at)).collect();
        times.sort_unstable();
        times.dedup();
        let mut times = times.into_iter().peekable();
        let mut every = self.options.every;
        let mut next_round = every;
        let mut rounds = Vec::new();
        loop {
            self.ask_early();
            let due = times.peek().copied().into_iter().chain(next_round).min();
            let wait = due.map(|due| due.saturating_sub(self.started.elapsed()));
            let poll = (!self.early_asks.is_empty()).then_some(ARMING);
            let message = match wait.into_iter().chain(poll).min() {
                Some(wait) => messages.recv_timeout(wait),
                None => messages.recv().map_err(|_| RecvTimeoutError::Disconnected),
            };
            match message {
                Ok(Message::Event(event, threads, smaps)) => self.take(&event, threads, smaps)?,
                Ok(Message::Ended(status)) => return status.context("cannot wait for the program to end"),
                Ok(Message::Signal(signal, alone)) => self.signal(signal, alone),
                Err(RecvTimeoutError::Disconnected) => bail!("cannot wait for the program to end"),
                Err(RecvTimeoutError::Timeout) => {
                    let Some(due) = due.filter(|due| *due <= self.started.elapsed()) else { continue };
                    let asked_for = times.next_if_eq(&due).is_some();
                    let armed = self.plan.status() == Status::Armed;
                    // Skip periodic snapshots until the agent is ready.
                    if asked_for || armed {
                        self.ask(Moment::After(due.as_millis() as u64));
                    }
                    if next_round == Some(due) {
                        if armed {
                            rounds.push(due.as_millis() as u64);
                        }
                        if rounds.len() == MOST_ROUNDS {
                            every = every.map(|every| every * 2);
                            self.thin_out(&mut rounds);
                        }
                        next_round = every.map(|every| due + every);
                    }
                }
            }
        }
    }

    /// Drops every second snapshot of `--every`.
    fn thin_out(&mut self, rounds: &mut Vec<u64>) {
        let dropped: Vec<u64> = rounds.iter().copied().step_by(2).collect();
        self.taken.retain(|(_, about)| !matches!(about.at, Moment::After(millis) if dropped.contains(&millis)));
        rounds.retain(|millis| !dropped.contains(millis));
        if !self.thinned {
            self.thinned = true;
            self.notes.push(format!(
                "--every would hold more than {MOST_ROUNDS} copies of the program: every second one was dropped, and the \
                 time between two doubled"
            ));
        }
    }

    fn signal(&mut self, signal: i32, alone: bool) {
        match signal {
            libc::SIGUSR1 => return self.ask(Moment::Signal),
            libc::SIGINT if self.options.at.contains(&At::Signal) => self.ask(Moment::Signal),
            _ => {}
        }
        if signal == libc::SIGINT && std::mem::replace(&mut self.interrupted, true) {
            // The first signal takes a snapshot; the second one ends the program.
            // SAFETY: `kill` takes two numbers and touches no memory of this process.
            unsafe { libc::kill(self.pid, libc::SIGKILL) };
        } else if alone {
            // SAFETY: `kill` takes two numbers and touches no memory of this process.
            unsafe { libc::kill(self.pid, signal) };
        }
    }

    /// Requests a snapshot, now or as soon as the agent is ready.
    fn ask(&mut self, at: Moment) {
        self.early_asks.push(at);
        self.ask_early();
    }

    fn ask_early(&mut self) {
        match self.plan.status() {
            Status::Absent => {}
            Status::Armed => {
                for at in self.early_asks.drain(..) {
                    self.asked.push(at);
                    self.plan.shared().asked.fetch_add(1, Ordering::Release);
                    self.plan.ring();
                }
            }
            // The agent failed.
            _ => self.early_asks.clear(),
        }
    }

    /// Records a copy that the helper made.
    fn take(&mut self, event: &Event, threads: Vec<Thread>, smaps: Option<String>) -> Result<()> {
        let at = match event.what {
            Event::PEAK => Moment::Peak,
            Event::ASKED if !self.asked.is_empty() => self.asked.remove(0),
            _ => return Ok(()),
        };
        if event.pid <= 0 {
            let error = std::io::Error::from_raw_os_error(-event.pid);
            self.notes.push(format!("the program could not be copied for a snapshot: {error}"));
            return Ok(());
        }
        let mut about = About { smaps, ..self.about(at.clone(), event.nanos) };
        if at == Moment::Peak {
            about.stacks.push(event.stack);
            about.threads.push(event.thread);
        }
        if threads.is_empty() {
            about.stacks.extend(stack_pointers(self.pid));
        }
        about.stacks.extend(threads.iter().filter_map(Thread::stack_pointer));
        about.threads.extend(threads.iter().filter_map(|thread| thread.pointer));
        about.registers = threads;
        let process = Arc::new(Process::new(event.pid, Arc::clone(&self.socket))?);
        if at == Moment::Peak {
            // Only the latest copy is kept. Dropping the previous copy ends its process.
            self.peak = Some((process, about));
            return Ok(());
        }
        self.taken.push((process, about));
        let times = self.options.at.iter().filter(|at| at_time(**at).is_some()).count();
        let only_times = self.options.every.is_none() && times == self.options.at.len();
        if at == Moment::Signal || only_times && self.taken.len() >= times && self.asked.is_empty() {
            self.report_early()?;
        }
        Ok(())
    }

    /// Reports while the program runs, because it may never end.
    fn report_early(&mut self) -> Result<()> {
        let Some(early) = &mut self.early else { return Ok(()) };
        let read = |(process, about): &(Arc<Process>, About)| image::snapshot(Arc::clone(process), about);
        let snapshots = self.taken.iter().map(read).collect::<Result<Vec<_>>>()?;
        self.reported = snapshots.len();
        early(in_order(snapshots), self.started.elapsed().as_millis() as u64);
        Ok(())
    }

    fn about(&self, at: Moment, nanos: u64) -> About {
        let shared = self.plan.shared();
        About {
            at,
            nanos,
            stacks: Vec::new(),
            threads: vec![shared.thread_pointer.load(Ordering::Relaxed)],
            registers: Vec::new(),
            state: shared.state.load(Ordering::Relaxed),
            bias: shared.bias.load(Ordering::Relaxed),
            executable: self.target.path.clone(),
            smaps: None,
        }
    }

    /// Reads the snapshots after the end of the program.
    fn finish(mut self, status: ExitStatus, messages: &Receiver<Message>) -> Result<Run> {
        let path = self.target.path.display();
        let millis = self.started.elapsed().as_millis() as u64;
        let shared = self.plan.shared();
        match self.plan.status() {
            Status::Armed => {}
            Status::Absent => bail!(
                "{path}: the agent was not loaded: the program has file capabilities or does not use glibc's loader, \
                 or the agent's folder is mounted noexec (set XDG_CACHE_HOME or TMPDIR to another folder)"
            ),
            Status::OtherExecutable => {
                bail!(
                    "{path}: this file starts another executable (pass that executable with --exe), or /proc is not \
                     mounted"
                )
            }
            Status::NoAddressSpace => bail!(
                "{path}: 32 TiB of address space cannot be reserved for the records ({}); raise `ulimit -v` and `ulimit -d`, and \
                 vm.overcommit_memory must not be 2",
                std::io::Error::from_raw_os_error(shared.errno.load(Ordering::Relaxed) as i32)
            ),
            Status::NoHelper => bail!(
                "{path}: the process that copies the program cannot be created: {}",
                std::io::Error::from_raw_os_error(shared.errno.load(Ordering::Relaxed) as i32)
            ),
        }
        let end = self.end(messages)?;
        let patched = shared.patched.load(Ordering::Relaxed);
        if patched != self.patches {
            self.notes.push(format!(
                "{patched} of {} functions of the allocator were hooked; allocations of the others are not recorded",
                self.patches
            ));
        }
        let Some(End { process, about, taken: taken_bytes, live: live_bytes }) = end else {
            // Earlier copies still exist.
            self.notes.push(
                "the agent's helper process was killed or does not answer, so there is no record of the program's exit"
                    .to_owned(),
            );
            let found = self.taken.drain(..).chain(self.peak.take());
            let snapshots =
                found.map(|(process, about)| image::snapshot(process, &about)).collect::<Result<Vec<_>>>()?;
            return Ok(Run { snapshots: in_order(snapshots), code: code(status), millis, notes: self.notes });
        };
        if image::saw_executable(&process, &about) == Some(false) {
            self.notes.push(
                "no allocation by the program's own code was recorded; maybe its allocator is none of the system's, \
                 mimalloc and jemalloc, or its symbols are stripped"
                    .to_owned(),
            );
        }
        if let Some(watch) = self.watch.take() {
            watch.ended(&process, &about)?;
            return Ok(Run { snapshots: Vec::new(), code: code(status), millis, notes: self.notes });
        }
        if self.options.at.contains(&At::Peak) {
            match self.peak.take() {
                Some(peak) if taken_bytes >= live_bytes => self.taken.push(peak),
                _ => self.taken.push((Arc::clone(&process), About { at: Moment::Peak, ..about.clone() })),
            }
        }
        if self.options.at.contains(&At::Exit) {
            self.taken.push((process, about));
        } else if self.taken.is_empty() {
            self.notes.push(
                "the program ended before any requested snapshot; reporting its state at exit instead".to_owned(),
            );
            self.taken.push((process, about));
        }
        let mut snapshots = Vec::new();
        if self.taken.len() > self.reported {
            for (process, about) in std::mem::take(&mut self.taken) {
                snapshots.push(image::snapshot(process, &about)?);
            }
        }
        Ok(Run { snapshots: in_order(snapshots), code: code(status), millis, notes: self.notes })
    }

    /// Stops the helper, which shares the program's memory. Returns the final state of the program, or `None` if the
    /// helper does not answer.
    fn end(&mut self, messages: &Receiver<Message>) -> Result<Option<End>> {
        const PATIENCE: Duration = Duration::from_secs(20);
        let helper = self.plan.shared().helper.load(Ordering::Relaxed) as i32;
        self.plan.shared().ended.store(1, Ordering::Release);
        self.plan.ring();
        let until = Instant::now() + PATIENCE;
        let nanos = loop {
            match messages.recv_timeout(until.saturating_duration_since(Instant::now()).min(Duration::from_millis(200)))
            {
                Ok(Message::Event(event, ..)) if event.what == Event::ENDED => break event.nanos,
                Ok(Message::Event(event, threads, smaps)) => self.take(&event, threads, smaps)?,
                Err(_) if Instant::now() >= until || is_gone(helper) => return Ok(None),
                Ok(_) | Err(_) => {}
            }
        };
        let mut about = self.about(Moment::Exit, nanos);
        // The helper has the program's memory, also the pages of files.
        about.smaps = smaps(helper).filter(|_| !self.options.counts);
        // The frames are gone, but the thread-local memory of the main thread still exists.
        about.registers.push(Thread { id: self.pid, registers: [None; 17], pointer: about.threads.first().copied() });
        let process = Arc::new(Process::new(helper, Arc::clone(&self.socket))?);
        let [taken, live] = image::live(&process, about.state).context(image::NO_RECORDS)?;
        Ok(Some(End { process, about, taken, live }))
    }
}

fn at_time(at: At) -> Option<Duration> {
    match at {
        At::After(time) => Some(time),
        _ => None,
    }
}

fn in_order(mut snapshots: Vec<Snapshot>) -> Vec<Snapshot> {
    snapshots.sort_by_key(|snapshot| (snapshot.millis, snapshot.at == Moment::Exit));
    snapshots
}

/// Returns `true` if a child of this process has ended.
fn is_gone(pid: i32) -> bool {
    // A zombie has no memory.
    fs::read_to_string(format!("/proc/{pid}/statm")).map_or(true, |text| text.starts_with("0 "))
}

/// Reads the mappings of a process with their resident bytes. A process that has ended has none.
fn smaps(pid: i32) -> Option<String> {
    fs::read_to_string(format!("/proc/{pid}/smaps")).ok().filter(|text| !text.is_empty())
}

/// Returns the stack pointers of threads that wait in a system call.
fn stack_pointers(pid: i32) -> Vec<u64> {
    let Ok(threads) = fs::read_dir(format!("/proc/{pid}/task")) else { return Vec::new() };
    let pointer = |thread: fs::DirEntry| {
        let text = fs::read_to_string(thread.path().join("syscall")).ok()?;
        let word = text.split_ascii_whitespace().rev().nth(1)?.to_owned();
        u64::from_str_radix(word.strip_prefix("0x")?, 16).ok()
    };
    threads.filter_map(|thread| pointer(thread.ok()?)).collect()
}

mod signals {
    //! Handles signals that this process receives while the program runs.

    use super::Message;
    use anyhow::{Context, Result};
    use std::fs::File;
    use std::io::Read;
    use std::os::fd::{FromRawFd, IntoRawFd, OwnedFd};
    use std::sync::atomic::{AtomicI32, Ordering};
    use std::sync::mpsc::Sender;

    /// The process id of the program; 0 if it does not run.
    pub(crate) static PROGRAM: AtomicI32 = AtomicI32::new(0);
    /// The pipe that the handler writes to.
    static PIPE: AtomicI32 = AtomicI32::new(-1);

    const HANDLED: [i32; 5] = [libc::SIGINT, libc::SIGTERM, libc::SIGHUP, libc::SIGQUIT, libc::SIGUSR1];

    extern "C" fn handle(signal: i32, info: *const libc::siginfo_t, _: *mut libc::c_void) {
        // SAFETY: the kernel passes a valid `siginfo_t` to a handler that was set with SA_SIGINFO.
        let code = unsafe { (*info).si_code };
        // A signal from a terminal reaches the program too; its sender is the kernel.
        let bytes = [signal as u8, u8::from(code <= 0)];
        let pipe = PIPE.load(Ordering::Relaxed);
        // SAFETY: `write` is async-signal-safe and reads two bytes of a local.
        unsafe { libc::write(pipe, bytes.as_ptr().cast(), bytes.len()) };
    }

    /// Sends a message for each signal.
    pub(crate) fn listen(sender: Sender<Message>) -> Result<()> {
        let mut pair = [0; 2];
        // SAFETY: the call writes two numbers to an array of two.
        if unsafe { libc::pipe2(pair.as_mut_ptr(), libc::O_CLOEXEC) } != 0 {
            return Err(std::io::Error::last_os_error()).context("signals cannot be handled");
        }
        // SAFETY: the call succeeded, so each number is a new file without another owner.
        let [read, write] = pair.map(|file| unsafe { OwnedFd::from_raw_fd(file) });
        PIPE.store(write.into_raw_fd(), Ordering::Relaxed);
        for signal in HANDLED {
            // SAFETY: zero is valid for each field: no flags, an empty mask, the default handler.
            let mut action: libc::sigaction = unsafe { std::mem::zeroed() };
            // SAFETY: the call changes no action, and writes the current one to a local.
            unsafe { libc::sigaction(signal, std::ptr::null(), &raw mut action) };
            if action.sa_sigaction == libc::SIG_IGN {
                // The signal is ignored, as under nohup. The program inherits that.
                continue;
            }
            action.sa_sigaction = handle as *const () as usize;
            action.sa_flags = libc::SA_SIGINFO | libc::SA_RESTART;
            // SAFETY: the handler has the type that SA_SIGINFO requires, and calls only async-signal-safe functions.
            unsafe { libc::sigaction(signal, &raw const action, std::ptr::null_mut()) };
        }
        std::thread::spawn(move || {
            let mut file = File::from(read);
            let mut bytes = [0; 2];
            while file.read_exact(&mut bytes).is_ok() {
                if sender.send(Message::Signal(i32::from(bytes[0]), bytes[1] != 0)).is_err() {
                    break;
                }
            }
        });
        Ok(())
    }
}
