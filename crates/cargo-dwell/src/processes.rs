//! Runs a command to its end, for a bounded time, and leaves none of the processes that it started.

use anyhow::{Context, Result, bail};
use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs;
use std::io::Read;
use std::process::{Child, Command, ExitCode, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, AtomicI32, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// The signals that end the command after its processes.
const HANDLED: [i32; 3] = [libc::SIGINT, libc::SIGTERM, libc::SIGHUP];

/// How long the output of a command that ended is awaited: a process that it left may hold it.
const GRACE: Duration = Duration::from_secs(2);

/// The signal that this process received, or 0.
static RECEIVED: AtomicI32 = AtomicI32::new(0);
/// Whether all processes that this one started are the command's, so that all may be ended.
static WATCHES: AtomicBool = AtomicBool::new(false);

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

/// What a command printed.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) status: ExitStatus,
    pub(crate) stdout: Vec<u8>,
    pub(crate) stderr: Vec<u8>,
}

/// Runs a command to its end.
///
/// # Errors
/// Returns an error if it cannot be started, if it takes longer than the bound, or if this process receives a signal; then it and
/// its children are ended.
pub(crate) fn run(command: &mut Command, bound: Duration) -> Result<Ran> {
    run_with(command, Stdio::null(), bound)
}

/// Like [`run`], with this standard input.
///
/// # Errors
/// The same as those of [`run`].
pub(crate) fn run_with(command: &mut Command, stdin: Stdio, bound: Duration) -> Result<Ran> {
    check()?;
    let name = command.get_program().to_string_lossy().into_owned();
    let step: Vec<OsString> = command.get_args().take(1).map(Into::into).collect();
    let step = step.first().map(|step| step.to_string_lossy().into_owned()).unwrap_or_default();
    command.stdin(stdin).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().with_context(|| format!("{name} cannot be run; is it on the PATH?"))?;
    let (stdout, stderr) = (reader(child.stdout.take()), reader(child.stderr.take()));
    let end = Instant::now() + bound;
    let mut pause = Duration::from_millis(1);
    let status = loop {
        if let Some(status) = child.try_wait().with_context(|| format!("{name} did not end"))? {
            break status;
        }
        if received().is_some() {
            end_all(&mut child);
            check()?;
        }
        if Instant::now() > end {
            end_all(&mut child);
            bail!("`{name} {step}` took more than {} s and was ended; --timeout allows more", bound.as_secs());
        }
        thread::sleep(pause);
        pause = (pause * 2).min(Duration::from_millis(50));
    };
    if received().is_some() {
        end_all(&mut child);
        check()?;
    }
    let end = Instant::now() + GRACE;
    while !(stdout.is_finished() && stderr.is_finished()) {
        if Instant::now() > end {
            // A process that the command left in the background holds its output.
            end_descendants();
            break;
        }
        thread::sleep(Duration::from_millis(1));
    }
    let joined = |reader: JoinHandle<Vec<u8>>| reader.join().unwrap_or_default();
    Ok(Ran { status, stdout: joined(stdout), stderr: joined(stderr) })
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
fn end_descendants() {
    if !WATCHES.load(Ordering::Relaxed) {
        return;
    }
    // One that starts another while it is looked for is found in the next round.
    for _ in 0..20 {
        let all = descendants(std::process::id());
        if all.is_empty() {
            return;
        }
        kill(all);
        thread::sleep(Duration::from_millis(5));
    }
}

/// Returns the processes that a process, or one of them, started and that did not end, the last first.
fn descendants(of: u32) -> Vec<u32> {
    let (mut pids, mut next) = (vec![of], 0);
    let mut seen = BTreeSet::from([of]);
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
    for pid in pids {
        if let Ok(pid) = libc::pid_t::try_from(pid) {
            // SAFETY: `kill` reads no memory. The process is a descendant of ours: its number stays taken until its
            // parent, which is killed after it, waits for it.
            unsafe { libc::kill(pid, libc::SIGKILL) };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn command_that_hangs_is_ended_with_its_children() {
        let mut command = Command::new("sh");
        command.args(["-c", "sleep 600 & sleep 600"]);
        let start = Instant::now();
        let error = run(&mut command, Duration::from_millis(200)).unwrap_err().to_string();
        assert!(error.contains("took more than 0 s") && start.elapsed() < Duration::from_secs(60), "{error}");
    }
}
