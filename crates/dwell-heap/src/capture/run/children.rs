//! Processes that the program starts.
//!
//! They are counted by the kernel's events, or else by the agent, which sees forks. With `--follow` each of them connects to this
//! process and gets a plan, and is then followed as the program is.

#![expect(
    clippy::cast_possible_truncation,
    clippy::cast_possible_wrap,
    clippy::cast_sign_loss,
    reason = "process ids and sizes of messages are far from the bounds of their types"
)]

use super::message::Message;
use super::plan::{EndOf, Plan};
use super::process::{Followed, Watch, follow};
use super::{At, Child, Options, Run};
use crate::agent::hooks;
use crate::agent::loadable::Target;
use crate::debuginfo;
use crate::units::plural;
use anyhow::{Context, Result, bail};
use std::collections::{BTreeMap, HashSet};
use std::fs;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::os::unix::process::ExitStatusExt;
use std::path::PathBuf;
use std::process::ExitStatus;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::mpsc::{self, Sender};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Instant;

/// The most processes that are followed: each has copies until the report.
const MOST: usize = 64;

/// Makes what reads the counts of a child: of the process with this number, and with records at this address if it was forked.
pub(crate) type OfChild = Arc<dyn Fn(i32, Option<u64>) -> Box<dyn Watch + Send> + Send + Sync>;

/// Waits for the children of a program.
pub(super) struct Children {
    shared: Arc<Shared>,
    thread: JoinHandle<()>,
}

struct Shared {
    /// The abstract address.
    name: String,
    listener: OwnedFd,
    over: AtomicBool,
    options: Options,
    of_child: Option<OfChild>,
    /// When the run began.
    started: Instant,
    admitted: AtomicU32,
    all: Mutex<All>,
}

#[derive(Default)]
struct All {
    /// The processes that are followed, with the time of their start.
    senders: BTreeMap<(i32, u64), Sender<Message>>,
    threads: Vec<JoinHandle<()>>,
    found: Vec<Child>,
    /// The processes that are not followed: their number by name and reason.
    refused: BTreeMap<(String, String), u32>,
    /// The numbers of all that connected.
    connected: HashSet<u32>,
}

impl Children {
    /// Listens for children.
    pub(super) fn listen(options: &Options, of_child: Option<OfChild>, started: Instant) -> Result<Self> {
        // SAFETY: the call takes numbers. Processes whose parents end become children of this one, so that it may read them.
        unsafe { libc::prctl(libc::PR_SET_CHILD_SUBREAPER, 1) };
        let random = || std::hash::BuildHasher::hash_one(&std::hash::RandomState::new(), 0_u8);
        let name = format!("cargo-dwell-{:016x}{:016x}", random(), random());
        let listener = bind(&name).context("children cannot be followed: no socket can be made")?;
        let shared = Arc::new(Shared {
            name,
            listener,
            over: AtomicBool::new(false),
            options: options.clone(),
            of_child,
            started,
            admitted: AtomicU32::new(0),
            all: Mutex::default(),
        });
        let thread = {
            let shared = Arc::clone(&shared);
            thread::spawn(move || accept(&shared))
        };
        Ok(Self { shared, thread })
    }

    /// Returns the address for the environment of the program.
    pub(super) fn address(&self) -> &str {
        &self.shared.name
    }

    /// Passes a request for a snapshot on.
    pub(super) fn ask(&self) {
        for sender in self.shared.all().senders.values() {
            let _ = sender.send(Message::Signal(libc::SIGUSR1, false));
        }
    }

    /// Waits for the children after the end of the program; those that still run are looked at as they are. `started` are the
    /// processes that the kernel saw. Returns what was found, and notes.
    pub(super) fn finish(self, started: &HashSet<u32>) -> (Vec<Child>, Vec<String>) {
        self.shared.over.store(true, Ordering::Relaxed);
        let _ = self.thread.join();
        let threads = {
            let mut all = self.shared.all();
            for sender in all.senders.values() {
                let _ = sender.send(Message::Over);
            }
            std::mem::take(&mut all.threads)
        };
        for thread in threads {
            let _ = thread.join();
        }
        let mut all = self.shared.all();
        let mut found = std::mem::take(&mut all.found);
        found.sort_by_key(|child| child.pid);
        let note = |((name, why), count): (&(String, String), &u32)| {
            let times = if *count > 1 { format!(" ({count} times)") } else { String::new() };
            // Without the path and the advice of an error about the program itself.
            let why =
                why.split_once(": ").map_or(&**why, |(_, why)| why).split([';', '(']).next().unwrap_or_default().trim();
            format!("{name}{times}, which the program started, is not counted: it {why}")
        };
        let mut notes: Vec<String> = all.refused.iter().map(note).collect();
        let without = started.difference(&all.connected).count() as u64;
        if without > 0 {
            let (processes, are) = (plural(without, "process"), if without == 1 { "is" } else { "are" });
            notes.push(format!(
                "{processes} that the program started {are} not counted: without its environment, or static"
            ));
        }
        (found, notes)
    }
}

impl Shared {
    fn all(&self) -> std::sync::MutexGuard<'_, All> {
        self.all.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn refuse(&self, name: String, why: String) {
        *self.all().refused.entry((name, why)).or_insert(0) += 1;
    }
}

/// Returns a socket that listens at an abstract address.
fn bind(name: &str) -> std::io::Result<OwnedFd> {
    // SAFETY: the call takes numbers.
    let file = unsafe { libc::socket(libc::AF_UNIX, libc::SOCK_SEQPACKET | libc::SOCK_CLOEXEC, 0) };
    if file < 0 {
        return Err(std::io::Error::last_os_error());
    }
    // SAFETY: the call succeeded, so the number is a new file without another owner.
    let file = unsafe { OwnedFd::from_raw_fd(file) };
    // SAFETY: zeros are valid: a family and bytes.
    let mut address: libc::sockaddr_un = unsafe { std::mem::zeroed() };
    address.sun_family = libc::AF_UNIX as libc::sa_family_t;
    // A zero first says that the address is abstract.
    for (to, from) in address.sun_path[1..].iter_mut().zip(name.bytes()) {
        *to = from as libc::c_char;
    }
    let len = std::mem::offset_of!(libc::sockaddr_un, sun_path) + 1 + name.len();
    // SAFETY: the call reads `len` bytes of the local, which is longer.
    let bound = unsafe { libc::bind(file.as_raw_fd(), (&raw const address).cast(), len as libc::socklen_t) };
    // SAFETY: the call takes an open file and a number.
    if bound != 0 || unsafe { libc::listen(file.as_raw_fd(), 128) } != 0 {
        return Err(std::io::Error::last_os_error());
    }
    Ok(file)
}

fn accept(shared: &Arc<Shared>) {
    const PATIENCE: i32 = 50;
    while !shared.over.load(Ordering::Relaxed) {
        let mut poll = libc::pollfd { fd: shared.listener.as_raw_fd(), events: libc::POLLIN, revents: 0 };
        // SAFETY: the call reads and writes one entry, which is a local.
        if unsafe { libc::poll(&raw mut poll, 1, PATIENCE) } <= 0 {
            continue;
        }
        let (address, len) = (std::ptr::null_mut(), std::ptr::null_mut());
        // SAFETY: the call takes an open file, and writes no address.
        let file = unsafe { libc::accept4(shared.listener.as_raw_fd(), address, len, libc::SOCK_CLOEXEC) };
        if file < 0 {
            continue;
        }
        // SAFETY: the call succeeded, so the number is a new file without another owner.
        let connection = unsafe { OwnedFd::from_raw_fd(file) };
        let of_child = Arc::clone(shared);
        let child = thread::spawn(move || admit(&of_child, connection));
        shared.all().threads.push(child);
    }
}

/// Returns the process at the other end, if it is this user's, and the address that it sends.
fn greeting(connection: &OwnedFd) -> Option<(i32, u64)> {
    let mut peer = libc::ucred { pid: 0, uid: 0, gid: 0 };
    let mut len = size_of::<libc::ucred>() as libc::socklen_t;
    let file = connection.as_raw_fd();
    // SAFETY: the call writes at most `len` bytes to a local of this size.
    let known =
        unsafe { libc::getsockopt(file, libc::SOL_SOCKET, libc::SO_PEERCRED, (&raw mut peer).cast(), &raw mut len) };
    // SAFETY: the call has no arguments and cannot fail.
    if known != 0 || peer.pid <= 0 || peer.uid != unsafe { libc::geteuid() } {
        return None;
    }
    let mut poll = libc::pollfd { fd: file, events: libc::POLLIN, revents: 0 };
    let mut state = 0_u64;
    // SAFETY: the call reads and writes one entry, which is a local.
    let ready = unsafe { libc::poll(&raw mut poll, 1, 1000) };
    // SAFETY: the call writes eight bytes to a local.
    (ready == 1 && unsafe { libc::recv(file, (&raw mut state).cast(), 8, 0) } == 8).then_some((peer.pid, state))
}

/// Follows a process to its end.
fn admit(shared: &Arc<Shared>, connection: OwnedFd) {
    let Some((pid, state)) = greeting(&connection) else { return };
    let text = |name: &str| fs::read(format!("/proc/{pid}/{name}")).unwrap_or_default();
    let name = String::from_utf8_lossy(&text("comm")).trim().to_owned();
    let arguments = text("cmdline");
    let arguments = arguments.split(|byte| *byte == 0).skip(1).filter(|argument| !argument.is_empty());
    let arguments = arguments.map(|argument| String::from_utf8_lossy(argument).into_owned()).collect();
    let start = shared.started.elapsed().as_nanos() as u64;
    let (sender, messages) = mpsc::channel();
    {
        let mut all = shared.all();
        // A process that was forked has become another program; its copy of the heap tells nothing.
        for ((other, _), before) in &all.senders {
            if *other == pid {
                let _ = before.send(Message::Replaced);
            }
        }
        all.connected.insert(pid as u32);
        all.senders.insert((pid, start), sender.clone());
    }
    let result = followed(shared, connection, (pid, state), (sender, messages));
    let mut all = shared.all();
    all.senders.remove(&(pid, start));
    match result {
        Ok(Some((executable, run))) => {
            all.found.push(Child { pid: pid as u32, name, executable, arguments, run });
        }
        Ok(None) => {}
        Err(error) => {
            drop(all);
            shared.refuse(name, format!("{error:#}"));
        }
    }
}

type Ends = (Sender<Message>, mpsc::Receiver<Message>);

fn followed(
    shared: &Shared,
    connection: OwnedFd,
    (pid, state): (i32, u64),
    (sender, messages): Ends,
) -> Result<Option<(PathBuf, Run)>> {
    let executable = fs::read_link(format!("/proc/{pid}/exe")).context("ended")?;
    let target = Target::open(&executable)?;
    debuginfo::expect(&executable)?;
    if shared.admitted.fetch_add(1, Ordering::Relaxed) as usize >= MOST {
        bail!("is more than the {MOST} processes that are followed");
    }
    let patches = hooks::plan(&target.data, &[]);
    let plan = Plan::new(&target, &shared.options, &patches.bytes)?;
    let end = EndOf::new(pid).context("runs on a kernel before 5.3")?;
    plan.shared().stops.store(1, Ordering::Relaxed);
    plan.shared().attached.store(1, Ordering::Release);
    let mut watch = shared.of_child.as_ref().map(|of_child| of_child(pid, (state != 0).then_some(state)));
    send(&connection, &plan).context("ended")?;
    let mut options = shared.options.clone();
    // What is due by the time of the run is not due again.
    let now = shared.started.elapsed();
    options.at.retain(|at| !matches!(at, At::After(time) if *time <= now));
    let wait = move || {
        end.wait();
        Ok(ExitStatus::from_raw(0))
    };
    let of_process = Followed {
        pid,
        target: &target,
        options: &options,
        plan: Arc::new(plan),
        socket: connection,
        started: shared.started,
        patches: patches.count,
        allocator: patches.allocator,
        notes: Vec::new(),
        shield: None,
        ask: None,
    };
    let watch = watch.as_mut().map(|watch| &mut **watch as &mut dyn Watch);
    let run = follow(of_process, wait, (sender, messages), None, watch)?;
    Ok((!run.is_replaced).then_some((executable, run)))
}

/// Sends the file of a plan.
fn send(connection: &OwnedFd, plan: &Plan) -> std::io::Result<()> {
    let mut byte = 0_u8;
    let mut part = libc::iovec { iov_base: (&raw mut byte).cast(), iov_len: 1 };
    // The length of the control message, its level and kind, and a file: the C type in words.
    let mut control = [20_u64, 1 | 1 << 32, plan.file.as_raw_fd() as u64];
    const { assert!(libc::SOL_SOCKET == 1 && libc::SCM_RIGHTS == 1) };
    // SAFETY: zeros are valid: null pointers and lengths of 0.
    let mut message: libc::msghdr = unsafe { std::mem::zeroed() };
    message.msg_iov = &raw mut part;
    message.msg_iovlen = 1;
    message.msg_control = control.as_mut_ptr().cast();
    message.msg_controllen = size_of_val(&control) as _;
    // SAFETY: the call reads the message with its part and its control data, all of which are locals.
    let sent = unsafe { libc::sendmsg(connection.as_raw_fd(), &raw const message, libc::MSG_NOSIGNAL) };
    if sent == 1 { Ok(()) } else { Err(std::io::Error::last_os_error()) }
}
