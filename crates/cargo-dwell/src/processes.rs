//! Runs a command to its end, for a bounded time, and leaves none of the processes that it started.

use anyhow::{Context, Result, anyhow, bail};
use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs;
use std::io::Read;
use std::path::Path;
use std::process::{Child, Command, ExitCode, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, AtomicI32, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// The signals that end the command after its processes.
#[cfg(unix)]
const HANDLED: [i32; 3] = [libc::SIGINT, libc::SIGTERM, libc::SIGHUP];

/// How long the output of a command that ended is awaited: a process that it left may hold it.
const GRACE: Duration = Duration::from_secs(2);

/// How long a killed process is awaited.
const DYING: Duration = Duration::from_secs(10);

/// The longest pause between two looks at a running process.
const PAUSE: Duration = Duration::from_millis(5);

/// The signal that this process received, or 0.
static RECEIVED: AtomicI32 = AtomicI32::new(0);
/// Whether all processes that this one started are the command's, so that all may be ended.
static WATCHES: AtomicBool = AtomicBool::new(false);

#[cfg(unix)]
extern "C" fn note(signal: i32) {
    RECEIVED.store(signal, Ordering::Relaxed);
}

/// From now on a signal ends first what this process started, also processes whose parents ended: a test that cargo started
/// outlives cargo.
pub(crate) fn watch_signals() {
    WATCHES.store(true, Ordering::Relaxed);
    // SAFETY: the call reads no memory. Processes without a parent become children of this one, so that it finds them.
    #[cfg(target_os = "linux")]
    unsafe {
        libc::prctl(libc::PR_SET_CHILD_SUBREAPER, 1);
    }
    #[cfg(unix)]
    for signal in HANDLED {
        // SAFETY: all bytes zero are an action: no flags, an empty mask, the default handler.
        let mut action: libc::sigaction = unsafe { std::mem::zeroed() };
        // SAFETY: the new action may be null, and `action` is writable.
        unsafe { libc::sigaction(signal, std::ptr::null(), &raw mut action) };
        if action.sa_sigaction == libc::SIG_IGN {
            continue;
        }
        action.sa_sigaction = note as *const () as usize;
        action.sa_flags = 0;
        // SAFETY: `note` only writes an atomic number, which a handler may do.
        unsafe { libc::sigaction(signal, &raw const action, std::ptr::null_mut()) };
    }
}

/// Runs a command, and ends what it started if this process receives a signal. The exit code is then 128 plus its number.
///
/// # Errors
/// Returns the error of the command.
pub(crate) fn ended_by_signals(command: impl FnOnce() -> Result<ExitCode>) -> Result<ExitCode> {
    watch_signals();
    match (command(), received()) {
        (Err(error), Some(signal)) => {
            eprintln!("error: {error:#}");
            Ok(ExitCode::from(u8::try_from(128 + signal).unwrap_or(1)))
        }
        (result, _) => result,
    }
}

/// Returns the signal that this process received.
pub(crate) fn received() -> Option<i32> {
    Some(RECEIVED.load(Ordering::Relaxed)).filter(|signal| *signal != 0)
}

/// Returns an error if a signal was received.
///
/// # Errors
/// See above.
pub(crate) fn check() -> Result<()> {
    if received().is_some() {
        bail!("interrupted");
    }
    Ok(())
}

/// Calls `work`, which starts processes and waits for them, in [`ended_by_signals`].
///
/// # Errors
/// Returns an error if a signal was received, or that of `work`.
pub(crate) fn interruptible<T>(work: impl FnOnce() -> Result<T>) -> Result<T> {
    let has_ended = AtomicBool::new(false);
    let done = thread::scope(|scope| {
        scope.spawn(|| {
            while !has_ended.load(Ordering::Relaxed) {
                if received().is_some() {
                    end_descendants();
                }
                thread::sleep(Duration::from_millis(20));
            }
        });
        // Also if `work` panics, since the scope waits for the thread.
        let _end = OnDrop(&has_ended);
        work()
    });
    check()?;
    done
}

/// Sets a flag when it is dropped.
struct OnDrop<'a>(&'a AtomicBool);

impl Drop for OnDrop<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// What a process used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Usage {
    /// The CPU time in user mode, with that of the processes that it started and waited for.
    pub(crate) user: Duration,
    /// The same in kernel mode.
    pub(crate) system: Duration,
    /// The most resident bytes of the process itself, as far as they were seen.
    pub(crate) resident: u64,
    /// Its resident bytes when they were seen last.
    pub(crate) last: u64,
    /// Its page faults.
    pub(crate) faults: u64,
    /// The instructions in user mode of the process and of those that it started, if the kernel counts them.
    pub(crate) instructions: Option<u64>,
}

impl Usage {
    /// Returns the CPU time.
    pub(crate) fn cpu(self) -> Duration {
        self.user + self.system
    }
}

/// Returns the most resident bytes of a running process until now, and those of now. Those of `wait4` are at least this process's own, in whose memory
/// the child begins.
pub(crate) fn resident(pid: u32) -> Option<[u64; 2]> {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let bytes_of = |name: &str| {
        let line = status.lines().find_map(|line| line.strip_prefix(name))?;
        line.split_whitespace().next()?.parse::<u64>().ok().map(|kib| kib * 1024)
    };
    Some([bytes_of("VmHWM:")?, bytes_of("VmRSS:")?])
}

/// How a command ended, and what it printed.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) status: ExitStatus,
    pub(crate) usage: Usage,
    pub(crate) stdout: Vec<u8>,
    pub(crate) stderr: Vec<u8>,
}

/// This executable, also after another build of it took its place.
#[cfg(target_os = "linux")]
const OWN: &str = "/proc/self/exe";

/// Returns the command that starts this executable.
///
/// # Errors
/// Returns an error if its path is not known.
pub(crate) fn own_command() -> Result<Command> {
    #[cfg(target_os = "linux")]
    if Path::new(OWN).exists() {
        return Ok(Command::new(OWN));
    }
    Ok(Command::new(std::env::current_exe().context("this executable cannot be found")?))
}

/// Runs a command to its end.
///
/// # Errors
/// Returns an error if it cannot be started, if it takes longer than the bound, or if this process receives a signal; then it and
/// its children are ended.
pub(crate) fn run(command: &mut Command, bound: Duration) -> Result<Ran> {
    run_with(command, Stdio::null(), bound)
}

/// Returns this process's standard input for one of several runs of a program: a file from its start. What is no file has nothing for them.
///
/// # Errors
/// Returns an error for a pipe or socket, which only one run can read.
pub(crate) fn input() -> Result<Stdio> {
    let stdin = fs::metadata("/dev/stdin").ok();
    let is_file = stdin.as_ref().is_some_and(fs::Metadata::is_file);
    #[cfg(unix)]
    {
        use std::os::unix::fs::FileTypeExt;
        let file_type = stdin.map(|stdin| stdin.file_type());
        if file_type.is_some_and(|file_type| file_type.is_fifo() || file_type.is_socket()) {
            bail!("the standard input is a pipe, which only one run of the program can read; write it to a file");
        }
    }
    if is_file {
        return Ok(fs::File::open("/dev/stdin").context("the standard input cannot be read again")?.into());
    }
    Ok(Stdio::null())
}

/// Like [`input`], but nothing for a pipe in which nothing waits, as that of a job in CI.
///
/// # Errors
/// Returns an error for a pipe with something in it.
pub(crate) fn input_of_all() -> Result<Stdio> {
    #[cfg(unix)]
    {
        let mut waiting: libc::c_int = 0;
        // SAFETY: `FIONREAD` writes an int to this place, or fails.
        let status = unsafe { libc::ioctl(0, libc::FIONREAD, &raw mut waiting) };
        if status != 0 || waiting == 0 {
            return Ok(input().unwrap_or_else(|_| Stdio::null()));
        }
    }
    input()
}

/// Like [`run`], but a server: when its executable, a file below `folder`, runs, so does the driver, with the number of the process in
/// `DWELL_PID`, and when the driver ends, the server gets SIGTERM.
///
/// # Errors
/// The same as those of [`run`], or if the driver fails, or if the server ends before it.
pub(crate) fn run_driven(command: &mut Command, folder: &Path, driver: &Path, bound: Duration) -> Result<Ran> {
    let end = Instant::now() + bound;
    let folder = folder.canonicalize().with_context(|| format!("{}: cannot be read", folder.display()))?;
    let (folder, has_ended) = (&folder, &AtomicBool::new(false));
    thread::scope(|scope| {
        let load = scope.spawn(move || -> Result<()> {
            let pid = loop {
                if has_ended.load(Ordering::Relaxed) || Instant::now() > end {
                    bail!("the program ended before the driver began");
                }
                // A build script is below the folder too.
                let is_server = |pid: &u32| {
                    let file = fs::read_link(format!("/proc/{pid}/exe")).unwrap_or_default();
                    file.strip_prefix(folder).is_ok_and(|file| !file.iter().any(|part| part == "build"))
                };
                // The first of several processes.
                if let Some(pid) = descendants(std::process::id()).into_iter().rfind(is_server) {
                    break pid;
                }
                thread::sleep(Duration::from_millis(5));
            };
            let mut script = Command::new(driver);
            script.env("DWELL_PID", pid.to_string());
            let left = end.saturating_duration_since(Instant::now());
            let ran = run(&mut script, left);
            let is_live = !has_ended.load(Ordering::Relaxed);
            if is_live {
                signal(pid, libc::SIGTERM);
            }
            let ran = ran?;
            if !ran.status.success() {
                let text = String::from_utf8_lossy(&ran.stderr).trim().to_owned();
                bail!("{}: {}; {text}", driver.display(), ran.status);
            }
            if !is_live {
                bail!("the program ended before its driver");
            }
            Ok(())
        });
        let ran = run(command, bound);
        has_ended.store(true, Ordering::Relaxed);
        // A driver of a server that ended by itself has nothing to do.
        end_descendants();
        let loaded = load.join().unwrap_or_else(|_| bail!("the driver was not run"));
        let ran = ran?;
        loaded?;
        Ok(ran)
    })
}

/// Like [`run`], with this standard input.
///
/// # Errors
/// The same as those of [`run`].
pub(crate) fn run_with(command: &mut Command, stdin: Stdio, bound: Duration) -> Result<Ran> {
    check()?;
    let name = command.get_program().to_string_lossy().into_owned();
    #[cfg(target_os = "linux")]
    let name = if name == OWN { "cargo dwell".to_owned() } else { name };
    let step: Vec<OsString> = command.get_args().take(1).map(Into::into).collect();
    let step = step.first().map(|step| step.to_string_lossy().into_owned()).unwrap_or_default();
    command.stdin(stdin).stdout(Stdio::piped()).stderr(Stdio::piped());
    #[cfg(agent)]
    let counter = dwell_heap::profile::Counter::instructions().ok();
    let mut child = command.spawn().with_context(|| format!("{name} cannot be run; is it on the PATH?"))?;
    let (stdout, stderr) = (reader(child.stdout.take()), reader(child.stderr.take()));
    #[cfg_attr(not(agent), expect(unused_mut, reason = "nothing counts"))]
    let (status, mut usage) = watch(&mut child, bound, &mut || {}).map_err(|error| match received() {
        None => anyhow!("`{name} {step}` {error}; --timeout allows more"),
        Some(_) => error,
    })?;
    let end = Instant::now() + GRACE;
    while !(stdout.is_finished() && stderr.is_finished()) {
        if Instant::now() > end {
            // A process that the command left in the background holds its output.
            end_descendants();
            break;
        }
        thread::sleep(Duration::from_millis(1));
    }
    #[cfg(agent)]
    {
        usage.instructions = counter.and_then(|counter| counter.read().ok());
    }
    let joined = |reader: JoinHandle<Vec<u8>>| reader.join().unwrap_or_default();
    Ok(Ran { status, usage, stdout: joined(stdout), stderr: joined(stderr) })
}

/// Waits for a child to end, and calls `each` every few milliseconds. After that `child` must not be used: its number is free.
///
/// # Errors
/// Returns an error if it takes longer than the bound, or if this process receives a signal; then it and its children are ended.
pub(crate) fn watch(child: &mut Child, bound: Duration, each: &mut dyn FnMut()) -> Result<(ExitStatus, Usage)> {
    let end = Instant::now() + bound;
    let (mut pause, mut most, mut last) = (Duration::from_micros(200), 0, 0);
    loop {
        if let Some((status, [user, system], faults, peak)) = wait(child).context("a process did not end")? {
            if received().is_some() {
                end_descendants();
                check()?;
            }
            most = most.max(peak.unwrap_or(0));
            return Ok((status, Usage { user, system, resident: most, last, faults, instructions: None }));
        }
        each();
        if let Some([until_now, now]) = resident(child.id()) {
            (most, last) = (most.max(until_now), now);
        }
        if received().is_some() {
            end_all(child);
            check()?;
        }
        if Instant::now() > end {
            end_all(child);
            bail!("took more than {} s and was ended", bound.as_secs());
        }
        thread::sleep(pause);
        pause = (pause * 2).min(PAUSE);
    }
}

/// How a child ended, its CPU time in user and in kernel mode, its page faults, and its most resident bytes if they are known.
type Ended = (ExitStatus, [Duration; 2], u64, Option<u64>);

/// Returns how a child ended; `None` while it runs. After that `child` must not be used.
#[cfg(unix)]
fn wait(child: &mut Child) -> std::io::Result<Option<Ended>> {
    use std::os::unix::process::ExitStatusExt as _;
    let mut status = 0;
    // SAFETY: all zeros is a valid `rusage`, a struct of integers.
    let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
    // SAFETY: `status` and `usage` are live and writable.
    let pid = unsafe { libc::wait4(child.id().cast_signed(), &raw mut status, libc::WNOHANG, &raw mut usage) };
    match pid {
        0 => Ok(None),
        pid if pid > 0 => {
            let times = [usage.ru_utime, usage.ru_stime].map(|time| {
                Duration::from_secs(u64::try_from(time.tv_sec).unwrap_or(0))
                    + Duration::from_micros(u64::try_from(time.tv_usec).unwrap_or(0))
            });
            let faults = u64::try_from(usage.ru_minflt + usage.ru_majflt).unwrap_or(0);
            // Until it runs its executable, a child has the memory of this process: only what is more is its own.
            let peak = (usage.ru_maxrss > own_peak()).then(|| u64::try_from(usage.ru_maxrss).unwrap_or(0) * 1024);
            Ok(Some((ExitStatus::from_raw(status), times, faults, peak)))
        }
        _ => Err(std::io::Error::last_os_error()),
    }
}

/// Returns the most resident KiB of this process.
#[cfg(unix)]
fn own_peak() -> libc::c_long {
    // SAFETY: all zeros is a valid `rusage`, a struct of integers.
    let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
    // SAFETY: `usage` is live and writable.
    let status = unsafe { libc::getrusage(libc::RUSAGE_SELF, &raw mut usage) };
    if status == 0 { usage.ru_maxrss } else { libc::c_long::MAX }
}

/// Returns how a child ended; its CPU time, faults and memory are not known here.
#[cfg(not(unix))]
fn wait(child: &mut Child) -> std::io::Result<Option<Ended>> {
    Ok(child.try_wait()?.map(|status| (status, [Duration::ZERO; 2], 0, None)))
}

/// Returns the exit code that a shell reports for a program: for a signal, 128 plus its number.
pub(crate) fn code(status: ExitStatus) -> u8 {
    #[cfg(unix)]
    let signal = std::os::unix::process::ExitStatusExt::signal(&status).map(|signal| 128 + signal);
    #[cfg(not(unix))]
    let signal = None;
    u8::try_from(status.code().or(signal).unwrap_or(1)).unwrap_or(1)
}

fn reader(pipe: Option<impl Read + Send + 'static>) -> JoinHandle<Vec<u8>> {
    thread::spawn(move || {
        let mut bytes = Vec::new();
        if let Some(mut pipe) = pipe {
            let _ = pipe.read_to_end(&mut bytes);
        }
        bytes
    })
}

/// Ends a process and all that it started.
fn end_all(child: &mut Child) {
    kill(descendants(child.id()));
    let _ = child.kill();
    let _ = child.wait();
    end_descendants();
}

/// Ends all processes that this one, or one of them, started. Those whose parents ended are among them, as [`watch_signals`] says.
pub(crate) fn end_descendants() {
    if !WATCHES.load(Ordering::Relaxed) {
        return;
    }
    // One that starts another while it is looked for is found in the next round. On a busy machine a killed process waits for a
    // processor before it ends; one in a call of the kernel may not end at all.
    let until = Instant::now() + DYING;
    while Instant::now() < until {
        let all = descendants(std::process::id());
        if all.is_empty() {
            return;
        }
        kill(all);
        thread::sleep(Duration::from_millis(5));
    }
}

/// Returns the processes that a process, or one of them, started and that did not end, the last first.
pub(crate) fn descendants(ancestor: u32) -> Vec<u32> {
    let (mut pids, mut next) = (vec![ancestor], 0);
    let mut seen = BTreeSet::from([ancestor]);
    while let Some(&pid) = pids.get(next) {
        next += 1;
        // Each thread has the children that it started.
        let Ok(threads) = fs::read_dir(format!("/proc/{pid}/task")) else { continue };
        for thread in threads.flatten() {
            let children = fs::read_to_string(thread.path().join("children")).unwrap_or_default();
            pids.extend(children.split_whitespace().filter_map(|pid| pid.parse().ok()).filter(|pid| seen.insert(*pid)));
        }
    }
    pids.remove(0);
    pids.retain(|pid| !has_ended(*pid));
    pids.reverse();
    pids
}

/// Returns `true` for a process that only waits for its parent to take its status.
fn has_ended(pid: u32) -> bool {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit(") ").next().is_none_or(|rest| rest.starts_with(['Z', 'X']) || rest.is_empty())
}

fn kill(pids: Vec<u32>) {
    // A descendant of ours keeps its number until its parent, which is killed after it, waits for it.
    #[cfg(unix)]
    for pid in pids {
        signal(pid, libc::SIGKILL);
    }
    // Elsewhere none is found.
    #[cfg(not(unix))]
    drop(pids);
}

#[cfg(unix)]
pub(crate) fn signal(pid: u32, signal: i32) {
    if let Ok(pid) = libc::pid_t::try_from(pid) {
        // SAFETY: `kill` reads no memory.
        unsafe { libc::kill(pid, signal) };
    }
}

/// Only what a driver ends gets a signal, and there is none of these.
#[cfg(not(unix))]
fn signal(_: u32, _: i32) {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn usage_is_that_of_the_command() {
        let mut command = Command::new("sh");
        command.args(["-c", "i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done"]);
        let usage = run(&mut command, Duration::from_secs(60)).unwrap().usage;
        assert!(usage.cpu() > Duration::ZERO && usage.resident > 100_000, "{usage:?}");
    }

    #[test]
    fn command_that_hangs_is_ended_with_its_children() {
        let mut command = Command::new("sh");
        command.args(["-c", "sleep 600 & sleep 600"]);
        let start = Instant::now();
        let error = run(&mut command, Duration::from_millis(200)).unwrap_err().to_string();
        assert!(error.contains("took more than 0 s") && start.elapsed() < Duration::from_secs(60), "{error}");
    }
}
