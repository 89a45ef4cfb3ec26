//! Follows a process: listens to its helper, and collects snapshots.

#![expect(
    clippy::cast_possible_truncation,
    clippy::cast_possible_wrap,
    clippy::cast_sign_loss,
    reason = "process ids, signals and times are far from the bounds of their types"
)]

use super::copies::{Copies, Kept, first_readable, most_blocks};
use super::growth::{Growth, Shield};
use super::limits::{Room, smaps};
use super::listen::listen;
use super::message::{Message, Moved};
use super::plan::Plan;
use super::{At, Killed, Options, Records, Run};
use crate::agent::layout::{Allocator, Event, Status};
use crate::agent::loadable::Target;
use crate::arch;
use crate::capture::image::{self, About, Process};
use crate::capture::spill::Spilled;
use crate::capture::{Moment, Snapshot, Thread};
use anyhow::{Context, Result, bail};
use std::fs::{self, File};
use std::os::fd::OwnedFd;
use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender};
use std::thread;
use std::time::{Duration, Instant};

/// Returns the exit code that a shell reports for a program.
fn code(status: ExitStatus) -> u8 {
    let signal = || status.signal().map_or(1, |signal| 128 + signal);
    u8::try_from(status.code().unwrap_or_else(signal)).unwrap_or(1)
}

/// Follows a run that counts allocations.
pub(crate) trait Watch {
    /// The addresses and sizes of the functions whose calls are counted.
    fn counted(&self) -> &[(u64, u64)] {
        &[]
    }

    /// The calls are not counted.
    fn uncounted(&mut self, _why: &str) {}

    /// This process received SIGUSR1.
    fn marked(&mut self) {}

    /// The program has started. `plan` begins with the page that it shares with this process, a [`Shared`].
    fn started(&mut self, pid: i32, plan: &File) -> Result<()>;

    /// The program has ended; its memory is that of `process`.
    fn ended(&mut self, process: &Arc<Process>, about: &About) -> Result<()>;
}

/// Receives the snapshots to report while the program runs, with the milliseconds since its start.
pub(super) type Early<'e> = &'e mut dyn FnMut(Vec<Snapshot>, u64);

/// A process to follow.
pub(super) struct Followed<'r> {
    pub(super) pid: i32,
    pub(super) target: &'r Target,
    pub(super) options: &'r Options,
    pub(super) plan: Arc<Plan>,
    pub(super) socket: OwnedFd,
    pub(super) started: Instant,
    /// The number of functions to patch, and the allocator that they are of.
    pub(super) patches: u32,
    pub(super) allocator: Option<Allocator>,
    pub(super) notes: Vec<String>,
    pub(super) shield: Option<Shield>,
    /// Passes a request for a snapshot on to the processes that it started.
    pub(super) ask: Option<&'r dyn Fn()>,
}

/// Follows a process to its end, for which `wait` waits.
///
/// # Errors
/// Returns an error if the agent was not loaded, or if the memory of the process cannot be read.
pub(super) fn follow<'w>(
    followed: Followed<'_>,
    wait: impl FnOnce() -> std::io::Result<ExitStatus> + Send + 'static,
    (sender, messages): (Sender<Message>, Receiver<Message>),
    early: Option<Early<'w>>,
    watch: Option<&'w mut dyn Watch>,
) -> Result<Run> {
    let Followed { pid, target, options, plan, socket, started, patches, allocator, notes, shield, ask } = followed;
    let ours = Arc::new(socket);
    let over = Arc::new(AtomicBool::new(false));
    let growth = Arc::new(Growth::new(pid, Arc::clone(&plan), options.cache.as_deref()));
    let reader = {
        let (socket, sender, over, growth) =
            (Arc::clone(&ours), sender.clone(), Arc::clone(&over), Arc::clone(&growth));
        thread::spawn(move || listen(&socket, &growth, &sender, &over))
    };
    let of_spills = sender.clone();
    let waiter = thread::spawn(move || {
        let status = wait();
        let _ = sender.send(Message::Ended(status, now()));
    });
    let program = Started { pid, target, options, plan: &plan, socket: ours, since: started, patches, allocator };
    let bounds = Bounds { growth, sender: of_spills, shield, room: None };
    let (copies, asked) = (Copies::default(), Asked::default());
    let mut session = Session { program, copies, asked, bounds, early, watch, ended: 0, notes, ask, left: None };
    let result = match session.listen(&messages) {
        Ok(End::Ended(status)) => session.finish(status, &messages),
        Ok(End::Left) => session.finish_running(),
        Ok(End::Replaced) => {
            drop(session);
            Ok(Run { is_replaced: true, ..Run::default() })
        }
        Err(error) => Err(error),
    };
    if matches!(&result, Ok(run) if run.is_replaced || run.is_left) {
        image::end(plan.shared().helper.load(Ordering::Relaxed) as i32);
    }
    over.store(true, Ordering::Relaxed);
    let _ = reader.join();
    // One that is left or replaced still runs.
    if waiter.is_finished() || matches!(&result, Ok(run) if !run.is_replaced && !run.is_left) {
        let _ = waiter.join();
    }
    result
}

/// How a process was followed to an end.
enum End {
    Ended(ExitStatus),
    /// It still runs.
    Left,
    /// It became another program, which is followed instead.
    Replaced,
}

/// The note if there is no record of the end.
const NO_HELPER: &str =
    "the agent's helper process was killed or does not answer, so there is no record of the program's exit";

/// The time in which a process that outlives the program is copied.
const LEAVING: Duration = Duration::from_secs(5);

/// The interval at which a due snapshot checks whether the agent is ready.
const ARMING: Duration = Duration::from_millis(5);

/// The maximum number of kept snapshots of `--every`. Each holds a copy of the memory that the program has changed
/// since.
const MOST_ROUNDS: usize = 16;

/// The interval at which the memory that is left is looked at, and the same while little is left.
const LOOKING: Duration = Duration::from_millis(200);
const LOOKING_CLOSELY: Duration = Duration::from_millis(25);

/// The state of a program after its end.
struct Last {
    process: Arc<Process>,
    about: About,
    /// Live bytes in the last copy at the peak, at the end, and the most until then.
    taken: i64,
    live: i64,
    peak: i64,
}

/// The program that runs, and what it shares with this process.
struct Started<'r> {
    pid: i32,
    target: &'r Target,
    options: &'r Options,
    plan: &'r Plan,
    socket: Arc<OwnedFd>,
    since: Instant,
    /// The number of functions to patch.
    patches: u32,
    allocator: Option<Allocator>,
}

/// The requested snapshots that the helper has not answered yet.
#[derive(Default)]
struct Asked {
    sent: Vec<Moment>,
    /// Those that were due before the agent was ready. The loader takes long for a large program.
    early: Vec<Moment>,
}

/// What keeps the program and this process within their memory.
struct Bounds {
    growth: Arc<Growth>,
    sender: Sender<Message>,
    shield: Option<Shield>,
    /// The closest limit when it was looked at last.
    room: Option<Room>,
}

/// A run, until the program has ended and its snapshots are read.
struct Session<'r, 'e> {
    program: Started<'r>,
    copies: Copies,
    asked: Asked,
    bounds: Bounds,
    early: Option<Early<'e>>,
    watch: Option<&'e mut dyn Watch>,
    /// The time of the program's end.
    ended: u64,
    notes: Vec<String>,
    /// Passes a request for a snapshot on to the processes that it started.
    ask: Option<&'r dyn Fn()>,
    /// The time at which the process is left, although it runs.
    left: Option<Instant>,
}

impl Session<'_, '_> {
    /// Handles messages until the program ends.
    fn listen(&mut self, messages: &Receiver<Message>) -> Result<End> {
        let mut times: Vec<Duration> = self.program.options.at.iter().filter_map(|at| at_time(*at)).collect();
        times.sort_unstable();
        times.dedup();
        let mut times = times.into_iter().peekable();
        let mut every = self.program.options.every;
        let mut next_round = every;
        let mut rounds = Vec::new();
        loop {
            self.ask_early();
            let due = times.peek().copied().into_iter().chain(next_round).min();
            let wait = due.map(|due| due.saturating_sub(self.program.since.elapsed()));
            let poll = (!self.asked.early.is_empty()).then_some(ARMING);
            let look = self.look_at_limits();
            if self.left.is_some_and(|at| self.has_all() || Instant::now() >= at) {
                return Ok(End::Left);
            }
            let leave = self.left.map(|at| at.saturating_duration_since(Instant::now()));
            let message = match wait.into_iter().chain(poll).chain(look).chain(leave).min() {
                Some(wait) => messages.recv_timeout(wait),
                None => messages.recv().map_err(|_| RecvTimeoutError::Disconnected),
            };
            match message {
                Ok(Message::Event(event, moved)) => self.take(&event, moved)?,
                Ok(Message::Spilled(what, nanos, spilled)) => self.spilled(what, nanos, spilled),
                Ok(Message::Ended(status, at)) => {
                    self.ended = at;
                    return status.map(End::Ended).context("cannot wait for the program to end");
                }
                Ok(Message::Replaced) => return Ok(End::Replaced),
                Ok(Message::Over) => {
                    self.left = Some(Instant::now() + LEAVING);
                    if self.program.options.records != Records::Counts {
                        self.ask(Moment::Signal);
                    }
                }
                Ok(Message::Signal(signal, alone)) => self.signal(signal, alone),
                Err(RecvTimeoutError::Disconnected) => bail!("cannot wait for the program to end"),
                Err(RecvTimeoutError::Timeout) => {
                    let Some(due) = due.filter(|due| *due <= self.program.since.elapsed()) else { continue };
                    let asked_for = times.next_if_eq(&due).is_some();
                    let armed = self.program.plan.status() == Status::Armed;
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

    /// Returns `true` if the helper has answered all requests.
    fn has_all(&self) -> bool {
        self.asked.early.is_empty() && self.asked.sent.is_empty()
    }

    /// Reads the snapshots of a process that still runs.
    fn finish_running(mut self) -> Result<Run> {
        if self.program.options.records == Records::Counts {
            bail!("still runs");
        }
        self.bounds.growth.stop();
        let mut snapshots = Vec::new();
        if let Some((peak, about)) = self.copies.peak.take().filter(|_| self.program.options.at.contains(&At::Peak)) {
            snapshots.push(peak.snapshot(&about)?);
            // The last one is as it was left.
            self.copies.taken.pop();
        }
        for (process, about) in std::mem::take(&mut self.copies.taken) {
            snapshots.push(Kept::Process(process).snapshot(&about)?);
        }
        if snapshots.is_empty() {
            bail!("still runs, and could not be copied");
        }
        let millis = self.program.since.elapsed().as_millis() as u64;
        Ok(Run { snapshots: in_order(snapshots), millis, is_left: true, notes: self.notes, ..Run::default() })
    }

    /// Looks at the memory that is left, and returns the time until that is necessary again.
    fn look_at_limits(&mut self) -> Option<Duration> {
        if self.program.options.records == Records::Counts {
            return None;
        }
        if self.program.plan.status() != Status::Armed {
            return Some(LOOKING);
        }
        self.bounds.room = self.bounds.growth.limit().or(self.bounds.room);
        self.bounds.growth.replan();
        if !self.bounds.growth.nearness().spills() {
            return Some(LOOKING);
        }
        // Copies from when there was more memory.
        let mut known = [(Event::PEAK, &mut self.copies.peak), (Event::GROWN, &mut self.copies.grown)];
        for (what, kept) in &mut known {
            if let Some((Kept::Process(process), about)) = kept
                && !std::mem::replace(&mut about.is_on_its_way, true)
            {
                self.bounds.growth.spill(*what, Arc::clone(process), about.clone(), self.bounds.sender.clone());
            }
        }
        Some(LOOKING_CLOSELY)
    }

    /// Replaces a copy by the one on disk.
    fn spilled(&mut self, what: u32, nanos: u64, spilled: Result<Spilled>) {
        let kept = if what == Event::PEAK { &mut self.copies.peak } else { &mut self.copies.grown };
        match spilled {
            Ok(spilled) => {
                if let Some((kept, _)) = kept.as_mut().filter(|(_, about)| about.nanos == nanos) {
                    // This ends the copy.
                    *kept = Kept::Disk(spilled);
                    if what == Event::GROWN {
                        self.copies.fallback = None;
                    }
                }
            }
            Err(error) => self.copies.problem = self.copies.problem.take().or(Some(error)),
        }
    }

    /// Drops every second snapshot of `--every`.
    fn thin_out(&mut self, rounds: &mut Vec<u64>) {
        let dropped: Vec<u64> = rounds.iter().copied().step_by(2).collect();
        self.copies.taken.retain(|(_, about)| !matches!(about.at, Moment::After(millis) if dropped.contains(&millis)));
        rounds.retain(|millis| !dropped.contains(millis));
        if !self.copies.thinned {
            self.copies.thinned = true;
            self.notes.push(format!(
                "--every would hold more than {MOST_ROUNDS} copies of the program: every second one was dropped, and the \
                 time between two doubled"
            ));
        }
    }

    fn signal(&mut self, signal: i32, alone: bool) {
        match signal {
            libc::SIGUSR1 => return asked_for(self),
            libc::SIGINT if self.program.options.at.contains(&At::Signal) => asked_for(self),
            _ => {}
        }
        if alone {
            // SAFETY: `kill` takes two numbers and touches no memory of this process.
            unsafe { libc::kill(self.program.pid, signal) };
        }
    }

    /// Requests a snapshot, now or as soon as the agent is ready.
    fn ask(&mut self, at: Moment) {
        self.asked.early.push(at);
        self.ask_early();
    }

    fn ask_early(&mut self) {
        match self.program.plan.status() {
            Status::Absent => {}
            Status::Armed => {
                for at in self.asked.early.drain(..) {
                    self.asked.sent.push(at);
                    self.program.plan.shared().asked.fetch_add(1, Ordering::Release);
                    self.program.plan.ring();
                }
            }
            // The agent failed.
            _ => self.asked.early.clear(),
        }
    }

    /// Records a copy that the helper made.
    fn take(&mut self, event: &Event, moved: Moved) -> Result<()> {
        let Moved { threads, names, smaps, spill } = moved;
        let at = match event.what {
            Event::PEAK => Moment::Peak,
            Event::GROWN => Moment::Growth,
            Event::ASKED if !self.asked.sent.is_empty() => self.asked.sent.remove(0),
            _ => return Ok(()),
        };
        if event.pid <= 0 {
            let error = std::io::Error::from_raw_os_error(-event.pid);
            self.notes.push(format!("the program could not be copied for a snapshot: {error}"));
            return Ok(());
        }
        let is_latest = Growth::is_kept(event.what);
        let mut about = About { names, smaps, is_on_its_way: spill, ..self.about(at.clone(), event.nanos) };
        if is_latest {
            about.stacks.push(event.stack);
            about.threads.push(event.thread);
        }
        if threads.is_empty() {
            about.stacks.extend(stack_pointers(self.program.pid));
        }
        about.stacks.extend(threads.iter().filter_map(Thread::stack_pointer));
        about.threads.extend(threads.iter().filter_map(|thread| thread.pointer));
        about.registers = threads;
        let process = Arc::new(Process::new(event.pid, Arc::clone(&self.program.socket))?);
        if is_latest {
            if spill {
                self.bounds.growth.spill(event.what, Arc::clone(&process), about.clone(), self.bounds.sender.clone());
            }
            // Only the latest copy is kept. Dropping the previous copy ends its process.
            let kept = if at == Moment::Peak { &mut self.copies.peak } else { &mut self.copies.grown };
            let before = kept.replace((Kept::Process(process), about));
            if at == Moment::Growth && matches!(before, Some((Kept::Disk(_), _))) {
                self.copies.fallback = before;
            }
            return Ok(());
        }
        self.copies.taken.push((process, about));
        let times = self.program.options.at.iter().filter(|at| at_time(**at).is_some()).count();
        let only_times = self.program.options.every.is_none() && times == self.program.options.at.len();
        if at == Moment::Signal || only_times && self.copies.taken.len() >= times && self.asked.sent.is_empty() {
            self.report_early()?;
        }
        Ok(())
    }

    /// Reports while the program runs, because it may never end.
    fn report_early(&mut self) -> Result<()> {
        let Some(early) = &mut self.early else { return Ok(()) };
        // To report takes memory, which must not be safer than that of other programs.
        drop(self.bounds.shield.take());
        let read = |(process, about): &(Arc<Process>, About)| Kept::Process(Arc::clone(process)).snapshot(about);
        let snapshots = self.copies.taken.iter().map(read).collect::<Result<Vec<_>>>()?;
        self.copies.reported = snapshots.len();
        early(in_order(snapshots), self.program.since.elapsed().as_millis() as u64);
        self.bounds.shield = Some(Shield::new());
        Ok(())
    }

    fn about(&self, at: Moment, nanos: u64) -> About {
        let shared = self.program.plan.shared();
        About {
            at,
            nanos,
            stacks: Vec::new(),
            threads: vec![shared.thread_pointer.load(Ordering::Relaxed)],
            registers: Vec::new(),
            state: shared.state.load(Ordering::Relaxed),
            bias: shared.bias.load(Ordering::Relaxed),
            executable: self.program.target.path.clone(),
            names: Vec::new(),
            smaps: None,
            is_on_its_way: false,
            allocator: self.program.allocator,
        }
    }
}

impl Session<'_, '_> {
    /// Reads the snapshots after the end of the program.
    fn finish(mut self, status: ExitStatus, messages: &Receiver<Message>) -> Result<Run> {
        drop(self.bounds.shield.take());
        let path = self.program.target.path.display();
        let millis = self.program.since.elapsed().as_millis() as u64;
        let shared = self.program.plan.shared();
        match self.program.plan.status() {
            Status::Armed => {}
            Status::Absent if status.signal().is_some() => {
                let signal = status.signal().unwrap_or_default();
                self.notes.push(format!(
                    "signal {signal} ended the program before the agent was ready: nothing was recorded"
                ));
                return Ok(Run { code: code(status), millis, notes: self.notes, ..Run::default() });
            }
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
        if patched != self.program.patches {
            self.notes.push(format!(
                "{patched} of {} functions of the allocator were hooked; allocations of the others are not recorded",
                self.program.patches
            ));
        }
        let Some(Last { process, about, taken: taken_bytes, live: live_bytes, peak }) = end else {
            return Ok(self.after_kill(status, millis, messages));
        };
        let peak_bytes = u64::try_from(peak.max(live_bytes)).ok();
        self.bounds.growth.stop();
        if image::saw_executable(&process, &about) == Some(false) {
            self.notes.push(
                "no allocation by the program's own code was recorded; maybe its allocator is none of the system's, \
                 mimalloc and jemalloc, or its symbols are stripped"
                    .to_owned(),
            );
        }
        for library in image::with_allocator(&process, &about) {
            self.notes.push(format!(
                "{}: has an allocator inside, whose blocks a run does not record; `census --pid` reads them",
                library.display()
            ));
        }
        if let Some(watch) = self.watch.take() {
            watch.ended(&process, &about)?;
            if self.program.options.records == Records::Counts || self.program.options.at.is_empty() {
                return Ok(Run { code: code(status), millis, notes: self.notes, ..Run::default() });
            }
        }
        let mut snapshots = Vec::new();
        if self.program.options.at.contains(&At::Peak) {
            match self.copies.peak.take() {
                Some((peak, about)) if taken_bytes >= live_bytes => snapshots.push(peak.snapshot(&about)?),
                _ => self.copies.taken.push((Arc::clone(&process), About { at: Moment::Peak, ..about.clone() })),
            }
        }
        if self.program.options.at.contains(&At::Exit) {
            self.copies.taken.push((process, about));
        } else if self.copies.taken.is_empty() && snapshots.is_empty() {
            self.notes.push(
                "the program ended before any requested snapshot; reporting its state at exit instead".to_owned(),
            );
            self.copies.taken.push((process, about));
        }
        if self.copies.taken.len() + snapshots.len() > self.copies.reported {
            for (process, about) in std::mem::take(&mut self.copies.taken) {
                snapshots.push(Kept::Process(process).snapshot(&about)?);
            }
        }
        let snapshots = in_order(snapshots);
        Ok(Run { snapshots, peak_bytes, code: code(status), millis, notes: self.notes, ..Run::default() })
    }

    /// Reads what is left if the helper was killed, too.
    fn after_kill(mut self, status: ExitStatus, millis: u64, messages: &Receiver<Message>) -> Run {
        /// A copy that is being written is worth this wait.
        const PATIENCE: Duration = Duration::from_secs(60);
        let until = Instant::now() + PATIENCE;
        let is_written =
            |kept: &Option<(Kept, About)>| matches!(kept, Some((Kept::Process(_), about)) if about.is_on_its_way);
        while self.copies.problem.is_none() && (is_written(&self.copies.grown) || is_written(&self.copies.peak)) {
            match messages.recv_timeout(until.saturating_duration_since(Instant::now())) {
                Ok(Message::Spilled(what, nanos, spilled)) => self.spilled(what, nanos, spilled),
                Ok(_) => {}
                Err(_) => break,
            }
        }
        self.bounds.growth.stop();
        let (room, is_oom) = self.bounds.growth.killed(self.bounds.room);
        let is_killed = status.signal() == Some(libc::SIGKILL);
        let live = self.program.plan.shared().live.load(Ordering::Relaxed);
        let nanos = |copy: &Option<(Kept, About)>| copy.as_ref().map(|(_, about)| about.nanos);
        // The latest copy is what comes closest to the end.
        let mut copies = vec![self.copies.grown.take(), self.copies.peak.take(), self.copies.fallback.take()];
        copies.sort_by_key(|copy| std::cmp::Reverse(nanos(copy)));
        let most = most_blocks() / (1 + self.copies.taken.len());
        let mut snapshots = Vec::new();
        let (mut before, mut sample) = (None, None);
        let (read, lost) = first_readable(copies.into_iter().flatten(), most);
        let problem = self.copies.problem.take().or(lost);
        if let Some((snapshot, thinned, nanos)) = read {
            sample = thinned;
            before = Some(self.ended.saturating_sub(nanos) / 1_000_000);
            snapshots.push(snapshot);
        }
        let latest = snapshots.first().map_or(0, |snapshot| snapshot.live_bytes);
        for (process, about) in self.copies.taken.drain(..) {
            if let Ok((snapshot, thinned)) = Kept::Process(process).bounded(&about, most) {
                sample = sample.max(thinned);
                snapshots.push(snapshot);
            }
        }
        if let Some(mean) = sample {
            self.notes.push(format!(
                "the memory that is left is not enough to read all blocks: the report is as with --sample {mean}"
            ));
        }
        if let Some(problem) = problem {
            self.notes.push(format!("a copy of the program was lost: {problem:#}"));
        }
        let killed = Killed {
            is_oom: is_killed && is_oom,
            used: room.filter(|_| is_oom).map(|room| room.used),
            limit: room.filter(|_| is_oom).map(|room| room.limit),
            live,
            before,
        };
        // A small copy from the start of the program tells nothing, however it was made.
        let is_worth = |bytes: u64| bytes >= live / 100;
        snapshots.retain(|snapshot| is_worth(snapshot.live_bytes));
        self.notes.insert(0, if is_killed { killed.note(latest) } else { NO_HELPER.to_owned() });
        let snapshots = in_order(snapshots);
        let (code, notes) = (code(status), self.notes);
        Run { snapshots, sample, code, millis, notes, killed: Some(killed), ..Run::default() }
    }

    /// Stops the helper, which shares the program's memory. Returns the final state of the program, or `None` if the
    /// helper does not answer.
    fn end(&mut self, messages: &Receiver<Message>) -> Result<Option<Last>> {
        const PATIENCE: Duration = Duration::from_secs(20);
        let helper = self.program.plan.shared().helper.load(Ordering::Relaxed) as i32;
        self.program.plan.shared().ended.store(1, Ordering::Release);
        self.program.plan.ring();
        let until = Instant::now() + PATIENCE;
        let nanos = loop {
            match messages.recv_timeout(until.saturating_duration_since(Instant::now()).min(Duration::from_millis(200)))
            {
                Ok(Message::Event(event, ..)) if event.what == Event::ENDED => break event.nanos,
                Ok(Message::Event(event, moved)) => self.take(&event, moved)?,
                Ok(Message::Spilled(what, nanos, spilled)) => self.spilled(what, nanos, spilled),
                Err(_) if Instant::now() >= until || is_gone(helper) => return Ok(None),
                Ok(_) | Err(_) => {}
            }
        };
        let mut about = self.about(Moment::Exit, nanos);
        // The helper has the program's memory, also the pages of files.
        about.smaps = smaps(helper).filter(|_| self.program.options.records != Records::Counts);
        // The frames are gone, but the thread-local memory of the main thread still exists.
        about.registers.push(Thread {
            id: self.program.pid,
            registers: arch::UNKNOWN,
            pointer: about.threads.first().copied(),
        });
        let process = Arc::new(Process::new(helper, Arc::clone(&self.program.socket))?);
        let [taken, live, peak] = image::live(&process, about.state).context(image::NO_RECORDS)?;
        Ok(Some(Last { process, about, taken, live, peak }))
    }
}

/// SIGUSR1 asks for a snapshot, or marks the counts of a run without snapshots.
fn asked_for(session: &mut Session<'_, '_>) {
    match &mut session.watch {
        Some(watch) if session.program.options.records == Records::Counts => watch.marked(),
        _ => session.ask(Moment::Signal),
    }
    if let Some(ask) = session.ask {
        ask();
    }
}

/// Returns the time of the monotonic clock, by which the helper's messages are timed.
fn now() -> u64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the call writes to a local.
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &raw mut time) };
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
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
