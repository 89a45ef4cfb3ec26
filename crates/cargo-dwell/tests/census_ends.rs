//! However a program ends, also while it is stopped for a snapshot, the tool ends, and nothing is left.
#![cfg(agent)]

#[path = "../../dwell-heap/tests/support/mod.rs"]
mod support;

use std::fs;
use std::io::Write as _;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

/// A busy machine needs much of it; a tool that hangs does so for ever.
const PATIENCE: Duration = Duration::from_secs(600);

fn folder() -> PathBuf {
    support::target_dir().join("census_ends")
}

fn truth() -> &'static Path {
    static TRUTH: OnceLock<PathBuf> = OnceLock::new();
    TRUTH.get_or_init(|| {
        let exe = folder().join("ends");
        support::truth::compile(&support::truth::source("census_ends/ends.rs"), &exe, &["-Copt-level=2"]);
        exe
    })
}

/// A run of the tool on the program.
struct Run {
    tool: Child,
    program: i32,
}

impl Run {
    fn start(mode: &str) -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_cargo-dwell"));
        command.args(["dwell", "census", "--every", "100ms", "--top", "1", "--exe"]).arg(truth()).args(["--", mode]);
        command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
        let default_interrupt = || {
            // SAFETY: `SIG_DFL` is a valid disposition for `SIGINT`, and `signal` is async-signal-safe.
            unsafe { libc::signal(libc::SIGINT, libc::SIG_DFL) };
            Ok(())
        };
        // A shell without job control starts background jobs with SIGINT ignored, which the tool would inherit.
        // SAFETY: the closure only calls `signal`, which is async-signal-safe and thus allowed between `fork` and `exec`.
        unsafe { command.pre_exec(default_interrupt) };
        let mut run = Self { tool: command.spawn().expect("it starts"), program: 0 };
        run.program = wait_for(|| run.children().into_iter().find(|id| name(*id) == "ends"));
        // The helper starts just before the agent is ready, and the program's own code runs after that.
        wait_for(|| run.children().into_iter().find(|id| name(*id) == "dwell-census"));
        if mode == "ignore" {
            wait_for(|| ignores_interrupts(run.program).then_some(()));
        }
        run
    }

    /// The program, the helper and the copies.
    fn children(&self) -> Vec<i32> {
        let Ok(threads) = fs::read_dir(format!("/proc/{}/task", self.tool.id())) else { return Vec::new() };
        let children = |thread: fs::DirEntry| fs::read_to_string(thread.path().join("children")).unwrap_or_default();
        let text: String = threads.flatten().map(children).collect();
        text.split_whitespace().map(|id| id.parse().expect("a number")).collect()
    }

    fn threads(&self) -> Vec<i32> {
        let Ok(all) = fs::read_dir(format!("/proc/{}/task", self.program)) else { return Vec::new() };
        all.flatten().filter_map(|thread| thread.file_name().to_str()?.parse().ok()).collect()
    }

    /// Waits until a thread of the program is stopped, and returns whether one was.
    fn wait_for_a_stop(&self) -> bool {
        let until = Instant::now() + Duration::from_secs(60);
        while Instant::now() < until {
            if self.threads().iter().any(|thread| state(*thread) == Some('t')) {
                return true;
            }
        }
        false
    }

    fn signal(&self, signal: i32) {
        send(self.tool.id().cast_signed(), signal);
    }

    /// Checks that the tool ends, and what it started, too. Returns its exit code.
    fn end(mut self, what: &str) -> Option<i32> {
        let children = self.children();
        let until = Instant::now() + PATIENCE;
        let status = loop {
            if let Some(status) = self.tool.try_wait().expect("a child") {
                break status;
            }
            if Instant::now() > until {
                let state = state(self.program);
                self.signal(libc::SIGKILL);
                panic!("{what}: the tool has not ended; the program is {state:?}");
            }
            std::thread::sleep(Duration::from_millis(10));
        };
        for child in children.into_iter().filter(|child| *child != self.program) {
            wait_until_gone(child, what);
        }
        status.code()
    }
}

fn send(process: i32, signal: i32) {
    // SAFETY: the call takes two numbers, and accesses no memory of this process.
    unsafe { libc::kill(process, signal) };
}

fn name(process: i32) -> String {
    fs::read_to_string(format!("/proc/{process}/comm")).unwrap_or_default().trim().to_owned()
}

fn ignores_interrupts(process: i32) -> bool {
    let status = fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    // The program sets SIGTERM last.
    ignored
        .and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok())
        .is_some_and(|mask| mask >> (libc::SIGTERM - 1) & 1 == 1)
}

/// Returns the state of a process or thread; `None` if there is none.
fn state(id: i32) -> Option<char> {
    let stat = fs::read_to_string(format!("/proc/{id}/stat")).ok()?;
    stat.rsplit_once(')')?.1.trim_start().chars().next()
}

fn wait_for<T>(mut find: impl FnMut() -> Option<T>) -> T {
    let until = Instant::now() + PATIENCE;
    loop {
        if let Some(found) = find() {
            return found;
        }
        assert!(Instant::now() < until, "nothing was found");
        std::thread::sleep(Duration::from_millis(1));
    }
}

#[track_caller]
fn wait_until_gone(process: i32, what: &str) {
    let until = Instant::now() + PATIENCE;
    while !matches!(state(process), None | Some('Z' | 'X')) {
        assert!(Instant::now() < until, "{what}: {process} is left, {}", name(process));
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// The tool waited for ever for a thread that nobody waited for.
#[test]
fn the_tool_ends_if_the_program_ends_while_it_is_stopped() {
    for mode in ["exit", "thread", "abort", "exec", "threads", "leader", "kill"] {
        let mut run = Run::start(mode);
        let was_stopped = run.wait_for_a_stop();
        if mode == "kill" {
            send(run.program, libc::SIGKILL);
        } else {
            run.tool.stdin.take().expect("a pipe").write_all(b"\n").expect("it reads");
        }
        let code = run.end(mode);
        eprintln!("{mode}: stopped {was_stopped}, code {code:?}");
        let wanted = match mode {
            "abort" => 128 + libc::SIGABRT,
            "kill" => 128 + libc::SIGKILL,
            _ => 0,
        };
        assert_eq!(code, Some(wanted), "{mode}");
    }
}

#[test]
fn a_second_signal_ends_the_tool_and_a_program_that_ignores_it() {
    for signals in [[libc::SIGINT; 2], [libc::SIGTERM; 2], [libc::SIGTERM, libc::SIGINT]] {
        let run = Run::start("ignore");
        let program = run.program;
        for signal in signals {
            run.signal(signal);
            // The kernel makes one of two equal signals.
            std::thread::sleep(Duration::from_millis(300));
        }
        let code = run.end("two signals");
        assert!(code.is_none_or(|code| code == 128 + libc::SIGKILL), "{code:?}");
        wait_until_gone(program, "two signals");
    }
}

#[test]
fn nothing_but_the_program_is_left_of_a_tool_that_is_killed() {
    for is_stopped in [false, true] {
        let run = Run::start("ignore");
        if is_stopped {
            run.wait_for_a_stop();
        }
        let program = run.program;
        run.signal(libc::SIGKILL);
        run.end("killed");
        assert!(state(program).is_some_and(|state| !matches!(state, 'Z' | 'X')), "the program has ended");
        let until = Instant::now() + PATIENCE;
        while state(program) == Some('t') {
            assert!(Instant::now() < until, "it is still stopped");
            std::thread::sleep(Duration::from_millis(10));
        }
        send(program, libc::SIGKILL);
    }
}

/// The program waited for ever for a copy by a helper that was killed, since a zombie exists.
#[test]
fn a_program_whose_helper_is_killed_continues() {
    let mut run = Run::start("grow");
    let helper = run.children().into_iter().filter(|id| name(*id) == "dwell-census").min().expect("the helper");
    send(helper, libc::SIGKILL);
    wait_until_gone(helper, "the helper");
    run.tool.stdin.take().expect("a pipe").write_all(b"\n").expect("it reads");
    assert_eq!(run.end("without a helper"), Some(0));
}

/// The tool said that the agent was not loaded, with reasons that were not the case.
#[test]
fn a_program_that_is_killed_before_the_agent_is_ready_is_said_to_be() {
    let library = folder().join("early.so");
    let program = truth();
    support::truth::compile(&support::truth::source("census_ends/early.rs"), &library, &["--crate-type=cdylib"]);
    let mut command = Command::new(env!("CARGO_BIN_EXE_cargo-dwell"));
    command.args(["dwell", "census", "--exe"]).arg(program).args(["--", "exit"]).env("LD_PRELOAD", &library);
    let output = command.stdin(Stdio::null()).output().expect("it runs");
    let notes = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(128 + libc::SIGKILL), "{notes}");
    assert_eq!(notes, "note: signal 9 ended the program before the agent was ready: nothing was recorded\n");
}
