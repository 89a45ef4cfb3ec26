//! Compares the snapshots of the agent of `cargo dwell census` with a counting allocator, for programs with every kind
//! of exit.
#![cfg(agent)]

#[path = "../../dwell-heap/tests/support/mod.rs"]
mod support;

use dwell_heap::run::{At, Options, Run, snapshots};
use dwell_heap::stacks::DEPTH;
use dwell_heap::{Moment, Snapshot};
use std::ffi::OsString;
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;
use support::truth::{Package, without_pages};

fn folder() -> PathBuf {
    support::target_dir().join("census_run")
}

/// Returns the path of a program with a counting allocator; its first argument selects the behaviour.
fn truth() -> &'static Path {
    static TRUTH: OnceLock<PathBuf> = OnceLock::new();
    TRUTH.get_or_init(|| compile("truth", &[]))
}

fn source() -> PathBuf {
    support::truth::source("census_run/truth.rs")
}

fn compile(name: &str, flags: &[&str]) -> PathBuf {
    let exe = folder().join(name);
    support::truth::compile(&source(), &exe, &[&["-Copt-level=2"], flags].concat());
    exe
}

/// Builds the same program with the allocator of a crate. Returns `None` if cargo has not downloaded the crate.
fn truth_over(allocator: &str, krate: &str, release: bool, lto: bool) -> Option<PathBuf> {
    let (folder, flags) = (folder().join(allocator), format!("--cfg {allocator}"));
    Package { folder, bin: "truth", source: source(), dependencies: krate, flags: &flags, release, lto }.build()
}

fn run(arguments: &[&str], at: &[At]) -> Run {
    run_exe(truth(), arguments, at)
}

fn run_exe(exe: &Path, arguments: &[&str], at: &[At]) -> Run {
    run_with(exe, arguments, &Options { at: at.to_vec(), cache: Some(folder()), ..Options::default() })
}

fn run_with(exe: &Path, arguments: &[&str], options: &Options) -> Run {
    let arguments: Vec<OsString> = arguments.iter().map(Into::into).collect();
    snapshots(exe, &arguments, options).expect("it runs")
}

/// Reads the blocks and bytes that the program's allocator counted from the file that the program wrote.
fn counted(file: &Path) -> (u64, u64) {
    let text = fs::read_to_string(file).expect("the program wrote it");
    let (blocks, bytes) = text.trim().split_once(' ').expect("two numbers");
    (blocks.parse().expect("a number"), bytes.parse().expect("a number"))
}

/// The size of the block that the program leaks first, in bytes.
const LEAKED: u64 = 123_457;

#[track_caller]
fn only(run: &Run) -> &Snapshot {
    let [snapshot] = &run.snapshots[..] else { panic!("{} snapshots, {:?}", run.snapshots.len(), run.notes) };
    assert_eq!(without_pages(&run.notes), [""; 0]);
    snapshot
}

fn blocks_of(snapshot: &Snapshot, size: u64) -> usize {
    snapshot.blocks.iter().filter(|block| block.size == size).count()
}

#[test]
fn exit_snapshot_matches_a_counting_allocator() {
    check_exit(truth());
}

#[test]
fn exit_snapshot_of_a_dev_build_matches_a_counting_allocator() {
    check_exit(&compile("truth-dev", &["-Copt-level=0"]));
}

fn check_exit(exe: &Path) {
    let file = exe.with_extension("exit");
    let run = run_exe(exe, &["exit", file.to_str().expect("UTF-8")], &[At::Exit]);
    assert_eq!(run.code, 7);
    let snapshot = only(&run);
    assert_eq!(snapshot.at, Moment::Exit);
    assert_eq!(of_program(snapshot), counted(&file));
    // The snapshot can read the contents of a block.
    let leaked = snapshot.blocks.iter().find(|block| block.size == LEAKED).expect("it is live");
    let mut bytes = vec![0; 123_457];
    assert_eq!(snapshot.memory.read(leaked.addr, &mut bytes), bytes.len());
    assert!(bytes.iter().all(|byte| *byte == 7));
    assert_eq!(snapshot.memory.read(8, &mut bytes), 0);
}

#[test]
fn sampled_totals_are_close_to_the_exact_totals() {
    let file = folder().join("sampled.txt");
    let options = Options { at: vec![At::Exit], sample: Some(4096), cache: Some(folder()), ..Options::default() };
    let run = run_with(truth(), &["sampled", file.to_str().expect("UTF-8")], &options);
    let snapshot = only(&run);
    let (blocks, bytes) = counted(&file);
    assert!((snapshot.blocks.len() as u64) < blocks / 2, "{} of {blocks}", snapshot.blocks.len());
    // With one thread, every run draws the same random numbers. The standard error is below 1 % for the bytes and 2 %
    // for the blocks.
    let near = |found: u64, truth: u64, percent: u64| found.abs_diff(truth) * 100 <= truth * percent;
    assert!(near(snapshot.live_bytes, bytes, 4), "{} of {bytes}", snapshot.live_bytes);
    assert!(near(snapshot.live_blocks, blocks, 10), "{} of {blocks}", snapshot.live_blocks);
    assert!(near(snapshot.peak_bytes, bytes, 5), "{} of {bytes}", snapshot.peak_bytes);
}

#[test]
fn unknown_allocator_gives_a_note() {
    let exe = compile("bump", &["--cfg", "bump"]);
    let run = run_exe(&exe, &["return"], &[At::Exit]);
    assert_eq!(run.code, 0);
    assert!(
        run.notes.iter().any(|note| note.contains("no allocation by the program's own code was recorded")),
        "{:?}",
        run.notes
    );
}

/// The environment variable that enables tests that build allocators written in C more than once.
const ALL_ALLOCATORS: &str = "DWELL_TEST_ALLOCATORS";

/// Checks the counts with a statically linked allocator, if cargo has its crate: in release with fat LTO, and with
/// [`ALL_ALLOCATORS`] set also without LTO and in dev.
fn check_over(allocator: &str, krate: &str) {
    let all = std::env::var_os(ALL_ALLOCATORS).is_some();
    for (release, lto) in [(true, true), (true, false), (false, false)].into_iter().take(if all { 3 } else { 1 }) {
        let Some(exe) = truth_over(allocator, krate, release, lto) else { return };
        let file = folder().join(allocator).join("exit.txt");
        let run = run_exe(&exe, &["exit", file.to_str().expect("UTF-8")], &[At::Exit]);
        assert_eq!(run.code, 7);
        assert_eq!(of_program(only(&run)), counted(&file), "{allocator}, release {release}, lto {lto}");
        let run = run_exe(&exe, &["threads"], &[At::Peak]);
        assert_eq!(blocks_of(only(&run), 100), 200);
    }
}

#[test]
fn mimalloc_is_counted() {
    check_over("mimalloc", "mimalloc = { version = \"0.1.52\", default-features = false }");
}

#[test]
fn jemalloc_is_counted() {
    if std::env::var_os(ALL_ALLOCATORS).is_none() {
        crate::support::skip(format_args!("jemalloc takes a minute to build; set {ALL_ALLOCATORS}=1"));
        return;
    }
    check_over("jemalloc", "tikv-jemallocator = \"0.7\"");
}

#[test]
fn peak_snapshot_is_within_two_percent_of_the_peak() {
    let file = folder().join("peak.txt");
    let run = run(&["peak", file.to_str().expect("UTF-8")], &[At::Peak]);
    assert_eq!(run.code, 0);
    let snapshot = only(&run);
    assert_eq!(snapshot.at, Moment::Peak);
    let (_, peak) = counted(&file);
    let (_, bytes) = of_program(snapshot);
    assert!(bytes <= peak && bytes * 100 >= peak * 98, "{bytes} of {peak}");
    assert!(snapshot.peak_bytes >= snapshot.live_bytes);
}

/// Runs the command as in a container that has neither cargo nor rustc.
fn alone() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_cargo-dwell"));
    command.env_clear().env("PATH", "").env("HOME", folder().join("nowhere")).current_dir("/").arg("dwell");
    command
}

#[test]
fn an_executable_runs_without_cargo_and_rustc() {
    let output = alone().args(["census", "--exe"]).arg(truth()).args(["--", "return"]).output().expect("it runs");
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && text.contains("live in"), "{text}");
}

#[test]
fn a_program_without_types_is_refused_before_it_runs() {
    // The std of Debian has types, and so does each program that is linked with it.
    let version = Command::new("rustc").arg("-vV").output().expect("rustc runs").stdout;
    if String::from_utf8_lossy(&version).contains("(built from a source tarball)") {
        crate::support::skip("the std of a distribution's rustc has debug info with types");
        return;
    }
    let file = folder().join("refused.txt");
    let _ = fs::remove_file(&file);
    let exe = compile("no-types", &["-Cdebuginfo=0"]);
    let output =
        alone().args(["census", "--exe"]).arg(&exe).arg("--").arg("exit").arg(&file).output().expect("it runs");
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(text.contains("line numbers only") && output.status.code() == Some(2), "{text}");
    assert_eq!(text.lines().count(), 1, "{text}");
    assert!(!file.exists(), "the program ran");
}

/// A thread that was stopped continues as if nothing had happened: `epoll_wait` does not fail.
#[test]
fn snapshots_do_not_interrupt_system_calls() {
    let every = Some(std::time::Duration::from_millis(15));
    let options = Options { at: vec![At::Peak], every, cache: Some(folder()), ..Options::default() };
    let run = run_with(truth(), &["waits"], &options);
    assert_eq!((run.code, run.snapshots.len() > 5), (0, true), "{:?}", run.notes);
    let stopped = run.snapshots.iter().filter(|snapshot| snapshot.threads.len() == 4);
    // On a busy machine few copies are made before the threads end.
    assert!(
        stopped.count() > 0,
        "{:?}",
        run.snapshots.iter().map(|snapshot| snapshot.threads.len()).collect::<Vec<_>>()
    );
}

#[test]
fn every_kind_of_exit_gives_peak_and_exit_snapshots() {
    let ends = [
        ("return", 0),
        ("abort", 134),
        ("panic", 101),
        ("kill", 137),
        ("crash", 139),
        ("refused", 134),
        ("dlopen", 0),
        ("lock", 0),
        ("exec", 9),
        ("fork", 0),
    ];
    for (mode, code) in ends {
        let run = run(&[mode], &[At::Exit, At::Peak]);
        assert_eq!(run.code, code, "{mode}");
        let [peak, exit] = &run.snapshots[..] else { panic!("{mode}: {} snapshots", run.snapshots.len()) };
        assert_eq!((&peak.at, &exit.at), (&Moment::Peak, &Moment::Exit));
        for snapshot in [peak, exit] {
            assert_eq!(blocks_of(snapshot, LEAKED), 1, "{mode}");
            assert_eq!(blocks_of(snapshot, 10_000), 0, "{mode}");
        }
    }
}

#[test]
fn allocations_of_threads_ending_together_are_counted() {
    let run = run(&["threads"], &[At::Exit]);
    assert_eq!(run.code, 0);
    let snapshot = only(&run);
    assert_eq!((blocks_of(snapshot, 100), blocks_of(snapshot, 10), blocks_of(snapshot, 5000)), (200, 200, 0));
}

#[test]
fn cross_thread_frees_are_counted() {
    let file = folder().join("churn.txt");
    let after = |millis| At::After(std::time::Duration::from_millis(millis));
    let at = vec![At::Peak, At::Exit, after(5), after(20), after(50)];
    let options = Options { at, cache: Some(folder()), ..Options::default() };
    let run = run_with(truth(), &["churn", file.to_str().expect("UTF-8")], &options);
    assert_eq!(run.code, 0);
    let exit = run.snapshots.last().expect("the end");
    assert_eq!(exit.at, Moment::Exit);
    assert_eq!(of_program(exit), counted(&file));
    for snapshot in &run.snapshots {
        assert!(snapshot.live_bytes <= snapshot.peak_bytes);
        assert!(snapshot.blocks.is_sorted_by(|left, right| left.addr + left.size <= right.addr));
    }
}

#[test]
fn allocations_on_signal_and_deep_stacks_are_counted() {
    let run = run(&["stacks"], &[At::Exit]);
    assert_eq!(run.code, 0);
    let snapshot = only(&run);
    assert_eq!((blocks_of(snapshot, 777), blocks_of(snapshot, 778)), (1, 2));
    let deepest = |size| {
        let of_size = snapshot.blocks.iter().filter(move |block| block.size == size);
        of_size.map(|block| snapshot.stacks[block.stack as usize].len()).min()
    };
    assert_eq!(deepest(778), Some(DEPTH), "stacks of deep calls are whole");
    assert!(deepest(777) > Some(1), "the handler's stack is walked");
}

/// Runs `cargo dwell census --exe` on the program.
fn census(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_cargo-dwell"));
    command.args(["census", "--exe"]).arg(truth()).args(arguments);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let default_interrupt = || {
        // SAFETY: `SIG_DFL` is a valid disposition for `SIGINT`, and `signal` is async-signal-safe.
        unsafe { libc::signal(libc::SIGINT, libc::SIG_DFL) };
        Ok(())
    };
    // A shell without job control starts background jobs with SIGINT ignored, which the tool would inherit.
    // SAFETY: the closure only calls `signal`, which is async-signal-safe and thus allowed between `fork` and `exec`.
    unsafe { command.pre_exec(default_interrupt) };
    command
}

#[test]
fn sigusr1_takes_a_snapshot_and_streams_pass_through() {
    let mut tool = census(&["--at", "signal", "--", "wait"]).spawn().expect("it runs");
    let mut out = BufReader::new(tool.stdout.take().expect("piped"));
    let mut errors = BufReader::new(tool.stderr.take().expect("piped"));
    let mut line = String::new();
    out.read_line(&mut line).expect("a line");
    assert_eq!(line, "ready\n");
    let signal = |name: &str| {
        let kill = Command::new("kill").args([name, &tool.id().to_string()]).status().expect("kill runs");
        assert!(kill.success());
    };
    signal("-USR1");
    line.clear();
    // The report is printed while the program runs.
    while !line.starts_with("signal") {
        line.clear();
        assert_ne!(errors.read_line(&mut line).expect("a line"), 0, "no snapshot");
    }
    tool.stdin.take().expect("piped").write_all(b"hello").expect("it reads");
    let status = tool.wait().expect("it ends");
    let mut rest = String::new();
    errors.read_to_string(&mut rest).expect("UTF-8");
    assert!(rest.contains("5 bytes\n"), "{rest}");
    assert_eq!(status.code(), Some(3), "{rest}");
}

#[test]
fn interrupt_ends_the_program_and_reports_the_peak() {
    let mut tool = census(&["--", "wait"]).spawn().expect("it runs");
    let mut out = BufReader::new(tool.stdout.take().expect("piped"));
    let mut line = String::new();
    out.read_line(&mut line).expect("a line");
    let kill = Command::new("kill").args(["-INT", &tool.id().to_string()]).status().expect("kill runs");
    assert!(kill.success());
    // The open pipe keeps the program reading until the signal ends it.
    let input = tool.stdin.take().expect("piped");
    let output = tool.wait_with_output().expect("it ends");
    drop(input);
    // Only the program writes to standard output.
    let mut text = String::new();
    out.read_to_string(&mut text).expect("UTF-8");
    assert_eq!(text, "");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(130), "{errors}");
    assert!(errors.starts_with("peak"), "{errors}");
}

#[test]
fn a_signal_ends_the_tool_when_the_program_has_ended() {
    let folder = tempfile::tempdir().expect("a folder");
    // The tool waits for somebody who reads.
    let pipe = folder.path().join("pipe");
    assert!(Command::new("mkfifo").arg(&pipe).status().expect("it runs").success());
    let mut tool = census(&["--save", pipe.to_str().expect("UTF-8"), "--", "wait"]).spawn().expect("it runs");
    drop(tool.stdin.take());
    let status = loop {
        std::thread::sleep(std::time::Duration::from_millis(50));
        if let Some(status) = tool.try_wait().expect("it is there") {
            break status;
        }
        // The first ones may still be for the program.
        Command::new("kill").args(["-TERM", &tool.id().to_string()]).status().expect("kill runs");
    };
    assert_eq!(status.signal(), Some(libc::SIGTERM), "{status}");
}

#[test]
fn report_is_printed_once_all_snapshots_are_taken() {
    let mut tool = census(&["--at", "10ms", "--", "wait"]).spawn().expect("it runs");
    let mut errors = BufReader::new(tool.stderr.take().expect("piped"));
    let mut line = String::new();
    while !line.starts_with("10ms") {
        line.clear();
        assert_ne!(errors.read_line(&mut line).expect("a line"), 0, "no report");
    }
    drop(tool.stdin.take());
    let mut rest = String::new();
    errors.read_to_string(&mut rest).expect("UTF-8");
    assert!(!rest.contains("\n10ms"), "it is reported once: {rest}");
    assert_eq!(tool.wait().expect("it ends").code(), Some(3));
}

#[test]
fn package_is_built_in_release_with_frame_pointers() {
    let folder = folder().join("package");
    fs::create_dir_all(folder.join("src")).expect("a folder");
    let write = |path: &str, text: &str| {
        let path = folder.join(path);
        if fs::read_to_string(&path).ok().as_deref() != Some(text) {
            fs::write(path, text).expect("a file");
        }
    };
    write("Cargo.toml", "[workspace]\n[package]\nname = \"small\"\nversion = \"0.0.0\"\nedition = \"2024\"\n");
    write(
        "src/main.rs",
        "fn main() {\n    let texts: Vec<String> = std::env::args().map(|text| text.repeat(1000)).collect();\n    \
         println!(\"{} {}\", cfg!(debug_assertions), texts[1].len());\n    std::process::exit(4);\n}\n",
    );
    let save = folder.join("saved.json");
    let output = Command::new(env!("CARGO_BIN_EXE_cargo-dwell"))
        .args(["dwell", "census", "--offline", "--manifest-path"])
        .arg(folder.join("Cargo.toml"))
        .arg("--save")
        .arg(&save)
        .args(["--", "--text"])
        .env_remove("CARGO_TARGET_DIR")
        .env_remove("RUSTFLAGS")
        .env_remove("CARGO_ENCODED_RUSTFLAGS")
        .output()
        .expect("it runs");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert_eq!(String::from_utf8_lossy(&output.stdout), "false 6000\n", "{errors}");
    assert_eq!(output.status.code(), Some(4), "{errors}");
    assert!(!errors.contains("frame pointers"), "{errors}");
    let json: serde_json::Value = serde_json::from_slice(&fs::read(save).expect("it is saved")).expect("JSON");
    let snapshot = &json["snapshots"][0];
    assert_eq!(snapshot["at"], "peak");
    let share =
        |bytes: &serde_json::Value| bytes.as_f64().expect("a number") / snapshot["live_bytes"].as_f64().expect("one");
    assert!(share(&snapshot["typed_bytes"]) > 0.9, "{snapshot}");
}

/// The names of std's functions have the hash of their crate first, and so seemed to be the program's.
#[test]
fn a_program_without_frame_pointers_is_told_so() {
    // A later `-Cforce-frame-pointers=no` would not take back the one of `compile`.
    let exe = folder().join("truth-without");
    let built =
        Command::new("rustc").args(["--edition=2024", "-g", "-Copt-level=3", "-o"]).arg(&exe).arg(source()).status();
    assert!(built.expect("rustc runs").success());
    let output = Command::new(env!("CARGO_BIN_EXE_cargo-dwell"))
        .args(["dwell", "census", "--at", "exit", "--exe"])
        .arg(&exe)
        .args(["--", "return"])
        .arg(folder().join("without.txt"))
        .output()
        .expect("it runs");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(errors.contains("was built without frame pointers"), "{errors}");
}

#[test]
fn every_option_repeats_snapshots() {
    let output =
        census(&["--format", "json", "--at", "20ms", "--every", "30ms", "--", "copies"]).output().expect("it runs");
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    let json: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let at: Vec<_> = json["snapshots"].as_array().expect("a list").iter().map(|snapshot| &snapshot["at"]).collect();
    // A slow machine misses some.
    let millis = |at: &serde_json::Value| at.as_str()?.strip_suffix("ms")?.parse::<u64>().ok();
    let is_repeated = at.iter().skip(1).all(|at| millis(at).is_some_and(|millis| millis > 0 && millis % 30 == 0));
    assert!(at.len() >= 2 && at[0] == "20ms" && is_repeated, "{at:?}");
}

/// Checks that the executable is refused: nothing on standard output, one line on standard error that contains `part`,
/// and exit code 2.
#[track_caller]
fn check_refused(exe: &Path, part: &str) {
    let output =
        Command::new(env!("CARGO_BIN_EXE_cargo-dwell")).args(["census", "--exe"]).arg(exe).output().expect("it runs");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(errors.starts_with("error: ") && errors.lines().count() == 1 && errors.contains(part), "{errors}");
    assert_eq!(output.status.code(), Some(2));
    assert!(output.stdout.is_empty());
}

#[test]
fn unsupported_executables_are_refused() {
    use std::os::unix::fs::PermissionsExt;
    let folder = folder().join("wrong");
    fs::create_dir_all(&folder).expect("a folder");
    let write = |name: &str, bytes: &[u8], mode: u32| {
        let path = folder.join(name);
        let _ = fs::remove_file(&path);
        fs::write(&path, bytes).expect("a file");
        fs::set_permissions(&path, fs::Permissions::from_mode(mode)).expect("a mode");
        path
    };
    let program = fs::read(truth()).expect("a file");
    let with = |at: usize, byte: u8| {
        let mut changed = program.clone();
        changed[at] = byte;
        changed
    };
    let stripped = folder.join("stripped");
    let output = Command::new("objcopy").arg("--strip-all").args([truth(), &*stripped]).output();
    match output {
        Ok(output) if output.status.success() => check_refused(&stripped, "has no debug info"),
        _ => crate::support::skip("no objcopy to strip the program with"),
    }
    check_refused(&folder.join("none"), "there is no such file");
    check_refused(&folder, "is not a file");
    check_refused(&write("empty", b"", 0o755), "not an ELF executable");
    check_refused(&write("text", b"hello", 0o755), "not an ELF executable");
    check_refused(&write("script", b"#!/bin/sh\n", 0o755), "is a script");
    check_refused(&write("plain", &program, 0o644), "is not executable");
    check_refused(&write("setuid", &program, 0o4755), "is setuid");
    check_refused(&write("cut", &program[..100], 0o755), "damaged");
    check_refused(&write("class", &with(4, 1), 0o755), "32-bit");
    // The number of the other processor.
    let (other, name) = if cfg!(target_arch = "aarch64") { (62, "aarch64") } else { (183, "x86-64") };
    check_refused(&write("machine", &with(18, other), 0o755), &format!("not for {name}"));
    check_refused(&write("object", &with(16, 1), 0o755), "is an object file");
    // Without the segment that names the dynamic loader, an executable counts as statically linked.
    let word = |at: usize, bytes: usize| {
        program[at..at + bytes].iter().rev().fold(0, |all, byte| all << 8 | usize::from(*byte))
    };
    let (segments, number) = (word(32, 8), word(56, 2));
    let of_loader = (0..number).map(|index| segments + 56 * index).find(|at| word(*at, 4) == 3).expect("a loader");
    check_refused(&write("static", &with(of_loader, 0), 0o755), "loads no agent");
    let at = memchr::memmem::find(&program, b"/ld-linux-").expect("a loader");
    let mut musl = program.clone();
    // A loader that is not here.
    musl[at..at + 10].copy_from_slice(b"/ld-musl-x");
    check_refused(&write("musl", &musl, 0o755), "cannot be started");
}

/// Returns the number and the bytes of the blocks allocated by the program itself: those with the innermost frame in
/// the executable.
fn of_program(snapshot: &Snapshot) -> (u64, u64) {
    let exe = &snapshot.modules[0];
    let of_exe = |block: &&dwell_heap::Block| {
        let innermost = snapshot.stacks[block.stack as usize].first();
        innermost.is_some_and(|frame| (exe.start..exe.end).contains(frame))
    };
    let blocks = snapshot.blocks.iter().filter(of_exe);
    (blocks.clone().count() as u64, blocks.map(|block| block.size).sum())
}
