//! Compares the counts of `cargo dwell allocs` with a counting allocator, for programs with every kind of exit.
#![cfg(agent)]

#[path = "../../dwell-heap/tests/support/mod.rs"]
mod support;

use dwell_debuginfo::load_with_frames;
use dwell_heap::profile::run::{Options, profile, with_snapshots};
use dwell_heap::profile::{Allocator, Counts, Profile};
use dwell_heap::run::{At, Options as RunOptions, Run, snapshots};
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;
use support::truth::{ALL_ALLOCATORS, Truth, tests_jemalloc};

const TRUTH: Truth = Truth("allocs_run");

fn folder() -> PathBuf {
    TRUTH.folder()
}

/// Returns the path of a program with a counting allocator; its first argument selects the behaviour.
fn truth() -> &'static Path {
    static BUILT: OnceLock<PathBuf> = OnceLock::new();
    BUILT.get_or_init(|| TRUTH.build())
}

fn run(exe: &Path, mode: &str, file: &Path, sample: Option<u64>) -> Profile {
    let arguments: [OsString; 2] = [mode.into(), file.into()];
    let options = Options { sample, cache: Some(folder()), ..Options::default() };
    profile(exe, &arguments, &options).expect("it runs")
}

/// Returns the sum of the pairs that the program's own allocator allocated: those with the innermost frame in the
/// executable. Std allocates parts of a thread with the system's allocator, which the program's own does not count.
fn of_program(exe: &Path, profile: &Profile) -> Counts {
    let mut sum = Counts::default();
    if profile.pairs.iter().any(|pair| pair.allocator != Allocator::Glibc) {
        profile.pairs.iter().filter(|pair| pair.allocator != Allocator::Glibc).for_each(|pair| sum.add(&pair.counts));
        return sum;
    }
    let of_exe = &profile.modules[0];
    let address = |stack: u32| {
        let frame = profile.stacks[stack as usize].first()?;
        (of_exe.start..of_exe.end).contains(frame).then(|| frame - of_exe.bias - 1)
    };
    let addresses: Vec<u64> = profile.pairs.iter().filter_map(|pair| address(pair.stack)).collect();
    let (_, frames) = load_with_frames(exe, &dwell_debuginfo::Options::default(), &addresses).expect("debug info");
    let is_counted = |stack: u32| {
        let Some(address) = address(stack) else { return false };
        let paths = || frames.get(&address).into_iter().flatten().map(|frame| &*frame.path);
        let is_system = paths().next().is_some_and(|path| path.starts_with("std::sys::alloc"));
        !is_system || paths().any(|path| path.starts_with("truth::{impl") || path.contains("__rust"))
    };
    profile.pairs.iter().filter(|pair| is_counted(pair.stack)).for_each(|pair| sum.add(&pair.counts));
    sum
}

/// Checks the counts of a mode against those that the program wrote to a file.
fn check(exe: &Path, name: &str, mode: &str, code: u8) {
    let file = exe.with_file_name(format!("{name}-{mode}.txt"));
    let profile = run(exe, mode, &file, None);
    assert_eq!(profile.code, code, "{name} {mode}");
    let mut notes = profile.notes.clone();
    if let (Some(_), "fork" | "exec") = (&profile.samples, mode) {
        let [note] = &notes[..] else { panic!("{name} {mode}: {notes:?}") };
        let told = if mode == "fork" { "the program started 1 process, whose" } else { "the program executed another" };
        assert!(note.starts_with(told), "{note}");
        notes.clear();
    }
    assert!(notes.is_empty() && profile.lost == 0, "{name} {mode}: {notes:?}");
    let text = fs::read_to_string(&file).expect("the program wrote it");
    let numbers: Vec<u64> = text.split_whitespace().map(|number| number.parse().expect("a number")).collect();
    let sum = of_program(exe, &profile);
    assert_eq!([sum.allocations, sum.frees, sum.reallocations, sum.bytes], numbers[..], "{name} {mode}");
    assert_eq!(sum.reallocations, sum.replaced, "{name} {mode}");
    assert_eq!(sum.live, sum.allocations - sum.frees, "{name} {mode}");
    let of_threads: u64 = profile.threads.iter().map(|thread| thread.allocations).sum();
    assert_eq!(of_threads, profile.total().allocations, "{name} {mode}");
    assert_eq!(profile.curve.last().map(|point| point.blocks), Some(of_threads + profile.total().reallocations));
}

const MODES: [(&str, u8); 7] =
    [("exit", 7), ("threads", 7), ("orders", 7), ("panics", 7), ("fork", 7), ("exec", 9), ("abort", 134)];

#[test]
fn counts_equal_those_of_a_counting_allocator() {
    for (mode, code) in MODES {
        check(truth(), "system", mode, code);
    }
}

/// One run records the live blocks and counts the allocations.
#[test]
fn counts_beside_snapshots_are_equal() {
    for (mode, code) in MODES {
        let file = truth().with_file_name(format!("beside-{mode}.txt"));
        let arguments: [OsString; 2] = [mode.into(), file.clone().into()];
        let of_run = RunOptions { at: vec![At::Peak, At::Exit], cache: Some(folder()), ..RunOptions::default() };
        let (run, profile) = with_snapshots(truth(), &arguments, &of_run).expect("it runs");
        assert_eq!((run.code, profile.code), (code, code), "{mode}");
        let text = fs::read_to_string(&file).expect("the program wrote it");
        let numbers: Vec<u64> = text.split_whitespace().map(|number| number.parse().expect("a number")).collect();
        let sum = of_program(truth(), &profile);
        assert_eq!([sum.allocations, sum.reallocations, sum.bytes], [numbers[0], numbers[2], numbers[3]], "{mode}");
        // The same snapshots as without counts.
        let alone = snapshots(truth(), &arguments, &of_run).expect("it runs");
        let blocks = |run: &Run| {
            run.snapshots.iter().map(|snapshot| (snapshot.at.clone(), snapshot.live_blocks)).collect::<Vec<_>>()
        };
        // Threads that still run have what they have at that moment, and report it late.
        if mode != "threads" {
            let peak = run.snapshots.iter().map(|snapshot| snapshot.live_bytes).max();
            assert!(run.peak_bytes >= peak && peak.is_some(), "{mode}: {:?} {peak:?}", run.peak_bytes);
            assert_eq!(blocks(&run).last(), blocks(&alone).last(), "{mode}");
        }
    }
}

#[test]
fn counts_are_equal_with_fat_lto() {
    let exe = TRUTH.build_with("truth-lto", &["-Copt-level=3", "-Clto=fat"]);
    for (mode, code) in MODES {
        check(&exe, "truth-lto", mode, code);
    }
}

/// Checks the counts with a statically linked allocator, if cargo has its crate: in release with fat LTO, and with
/// [`ALL_ALLOCATORS`] set also without LTO and in dev.
fn check_over(allocator: &str) {
    let all = std::env::var_os(ALL_ALLOCATORS).is_some();
    for (release, lto) in [(true, true), (true, false), (false, false)].into_iter().take(if all { 3 } else { 1 }) {
        let Some(exe) = TRUTH.over(allocator, release, lto) else { return };
        for (mode, code) in MODES {
            check(&exe, &format!("{allocator}, release {release}, lto {lto}"), mode, code);
        }
    }
}

#[test]
fn counts_over_mimalloc_are_equal() {
    check_over("mimalloc");
}

#[test]
fn counts_over_jemalloc_are_equal() {
    if tests_jemalloc() {
        check_over("jemalloc");
    }
}

#[test]
fn orders_of_allocations_and_frees_are_counted() {
    let profile = run(truth(), "orders", &folder().join("orders.txt"), None);
    let of_size = |size: u64| {
        let mut sum = Counts::default();
        profile.pairs.iter().filter(|pair| pair.size == size).for_each(|pair| sum.add(&pair.counts));
        sum
    };
    let temporary = of_size(331);
    assert_eq!((temporary.allocations, temporary.temporary, temporary.in_order), (1000, 1000, 1000));
    assert_eq!(temporary.lifetimes[0], 1000);
    // The first one comes from the heap. Its block then is in the thread's cache.
    assert_eq!(temporary.allocated[0], 999);
    let stack = of_size(347);
    assert_eq!((stack.frees, stack.in_order, stack.temporary), (500, 500, 100));
    assert_eq!(stack.most_live, 5);
    let together = of_size(363);
    assert_eq!((together.frees, together.together), (1000, 993));
    assert!(together.lifetimes[9..11].iter().sum::<u64>() > 700, "{:?}", together.lifetimes);
    assert_eq!(together.freed, [7, 0, 993], "glibc's cache keeps seven blocks of a class");
    let with_root = profile.pairs.iter().find(|pair| pair.size == 363).and_then(|pair| pair.run_stack);
    assert!(with_root.is_some_and(|stack| !profile.stacks[stack as usize].is_empty()));
    let foreign = of_size(379);
    assert_eq!((foreign.frees, foreign.foreign), (100, 100));
    let grown = of_size(395);
    assert_eq!((grown.allocations, grown.replaced, grown.frees), (50, 50, 0));
}

#[test]
fn sampled_counts_are_close() {
    let file = folder().join("sampled.txt");
    let profile = run(truth(), "panics", &file, Some(512));
    let text = fs::read_to_string(&file).expect("the program wrote it");
    let truth: Vec<u64> = text.split_whitespace().map(|number| number.parse().expect("a number")).collect();
    let sum = of_program(self::truth(), &profile);
    let near = |found: u64, truth: u64, percent: u64| found.abs_diff(truth) * 100 <= truth * percent;
    // With few threads every run draws the same random numbers.
    assert!(near(sum.allocations + sum.reallocations, truth[0] + truth[2], 10), "{sum:?} of {truth:?}");
    assert!(near(sum.bytes, truth[3], 10), "{sum:?} of {truth:?}");
}

fn allocs() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_cargo-dwell"));
    command.arg("allocs");
    command
}

#[test]
fn budgets_fail_with_a_line_each() {
    let folder = folder().join("budgets");
    fs::create_dir_all(&folder).expect("a folder");
    let saved = folder.join("saved.json");
    let file = folder.join("orders.txt");
    let output = allocs()
        .arg("--exe")
        .arg(truth())
        .args(["--once", "--max-allocs", "10", "--max-allocs-per", "orders=100", "--save"])
        .arg(&saved)
        .args(["--", "orders"])
        .arg(&file)
        .output()
        .expect("it runs");
    let errors = String::from_utf8_lossy(&output.stderr);
    // The program's own exit code comes first.
    assert_eq!(output.status.code(), Some(7), "{errors}");
    assert_eq!(errors.lines().filter(|line| line.contains("more than its budget of")).count(), 2, "{errors}");
    let first = errors.lines().find(|line| line.contains(" of CPU time")).expect("a first line");
    assert!(first.contains("allocations") && first.contains("reallocations"), "{first}");
    // A name that nothing has is told with the nearest, and the report was saved before.
    let wrong = allocs()
        .arg("--exe")
        .arg(truth())
        .args(["--once", "--max-allocs-per", "truth::ordrs=100", "--", "orders"])
        .arg(&file)
        .output()
        .expect("it runs");
    let told = String::from_utf8_lossy(&wrong.stderr);
    assert!(told.contains("error: the program has no function or type `truth::ordrs`"), "{told}");
    assert_eq!(wrong.status.code(), Some(2), "{told}");
    let again = allocs().arg(&saved).args(["--max-allocs-per", "orders=100"]).output().expect("it runs");
    assert_eq!(again.status.code(), Some(1), "{}", String::from_utf8_lossy(&again.stderr));
    let diff = allocs().arg(&saved).arg("--diff").arg(&saved).output().expect("it runs");
    assert!(String::from_utf8_lossy(&diff.stdout).contains("No difference"), "{diff:?}");
    let json: serde_json::Value = serde_json::from_slice(&fs::read(&saved).expect("saved")).expect("JSON");
    assert_eq!(json["kind"], "allocs");
    let rows = json["rows"].as_array().expect("rows");
    let row = rows.iter().find(|row| row["sizes"] == serde_json::json!([331, 331])).expect("a row");
    assert_eq!((&row["what"], &row["counts"]["temporary"]), (&"Vec<u8>".into(), &1000.into()), "{row}");
    let index = row["suggestions"][0].as_u64().and_then(|index| usize::try_from(index).ok());
    let rule = &json["suggestions"][index.expect("a suggestion")];
    assert_eq!((&rule["kind"], &rule["place"]), (&"buffer".into(), &"buffer".into()), "{rule}");
    let copies = rows.iter().find(|row| row["what"] == "Rc<Shared>").expect("copies of a counted value");
    assert_eq!(copies["counts"]["allocations"], 501, "{copies}");
}

#[test]
fn a_function_above_deep_recursion_has_its_blocks() {
    let file = folder().join("deep.txt");
    let budget = |name: &str| {
        let mut command = allocs();
        command.arg("--exe").arg(truth()).args(["--once", "--max-allocs-per", name, "--", "deep"]).arg(&file);
        String::from_utf8_lossy(&command.output().expect("it runs").stderr).into_owned()
    };
    let told = budget("truth::deep=0");
    assert!(told.contains("`truth::deep` takes 1 blocks, 1 more than its budget of 0"), "{told}");
    let mut command = allocs();
    command.arg("--exe").arg(truth()).args(["--once", "--during", "truth::nested", "--", "deep"]).arg(&file);
    let told = String::from_utf8_lossy(&command.output().expect("it runs").stderr).into_owned();
    // Each call of the recursion is counted.
    let expected =
        if cfg!(target_arch = "x86_64") { "61 calls of `truth::nested`: each 0.0 blocks" } else { "x86-64 only" };
    assert!(told.contains(expected), "{told}");
}

#[test]
fn wrong_input_is_explained_in_one_line() {
    let folder = folder().join("wrong");
    fs::create_dir_all(&folder).expect("a folder");
    let text = folder.join("text");
    fs::write(&text, "hello").expect("a file");
    let check = |arguments: &[&std::ffi::OsStr], part: &str| {
        let output = allocs().args(arguments).output().expect("it runs");
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(errors.starts_with("error: ") && errors.contains(part), "{errors}");
        assert_eq!((output.status.code(), output.stdout.is_empty()), (Some(2), true), "{errors}");
    };
    check(&["--exe".as_ref(), folder.join("none").as_ref()], "there is no such file");
    check(&["--exe".as_ref(), text.as_ref()], "is not executable");
    check(&[text.as_ref()], "is not a file that `cargo dwell allocs --save` wrote");
    check(&["--diff".as_ref(), text.as_ref(), "--exe".as_ref(), truth().as_ref()], "is not a file that");
    check(&["--save".as_ref(), folder.as_ref(), "--exe".as_ref(), truth().as_ref()], "is a directory");
    check(&["--sample".as_ref(), "0".as_ref(), "--exe".as_ref(), truth().as_ref()], "must be at least 1 byte");
    check(&["--max-allocs-per".as_ref(), "x".as_ref()], "write it as NAME=N");
    check(&["--pid".as_ref(), i32::MAX.to_string().as_ref()], "there is no process 2147483647");
}

#[test]
fn plain_runs_and_mimalloc_are_measured() {
    let folder = folder().join("again");
    fs::create_dir_all(&folder).expect("a folder");
    let (file, saved) = (folder.join("orders.txt"), folder.join("saved.json"));
    let mut command = allocs();
    command.arg("--exe").arg(truth()).arg("--save").arg(&saved).args(["--during", "orders", "--", "orders"]).arg(&file);
    let output = command.output().expect("it runs");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(7), "{errors}");
    let json: serde_json::Value = serde_json::from_slice(&fs::read(&saved).expect("saved")).expect("JSON");
    let again = &json["again"];
    assert!(again["nanos"][0].as_u64() > Some(0) && again["nanos"][0] == json["time"]["program"], "{again}");
    if again["other"] == "mimalloc" {
        assert!(again["pairs"].as_u64() >= Some(1) && again["nanos"][1].as_u64() > Some(0), "{again}");
        assert!(errors.contains("mimalloc alone takes "), "{errors}");
    } else {
        eprintln!("skipped: {}", again["why"]);
    }
    let below = |stack: &serde_json::Value| {
        let frames = stack["frames"].as_array().expect("frames");
        let name = |frame: &serde_json::Value| {
            frame.as_u64().and_then(|at| json["frames"][usize::try_from(at).ok()?].as_str())
        };
        frames.iter().filter_map(name).any(|name| name.starts_with("truth::orders"))
    };
    let stacks = json["stacks"].as_array().expect("stacks");
    assert!(!stacks.is_empty() && stacks.iter().all(below), "only the blocks of the function");
}

/// The user asked for one run: what that leaves in the background stays, and what the runs beside it leave does not.
#[test]
fn runs_beside_the_recorded_one_leave_no_process() {
    let seconds = "611.25";
    // The program writes a file of that name.
    let mut command = allocs();
    command.current_dir(folder()).arg("--exe").arg(truth()).args(["--", "leaves", seconds]);
    let output = command.output().expect("it runs");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(errors.contains("the program runs again without recording"), "{errors}");
    let is_left = |process: &fs::DirEntry| {
        let line = fs::read(process.path().join("cmdline")).unwrap_or_default();
        line == format!("sleep\0{seconds}\0").as_bytes()
    };
    let left: Vec<_> = fs::read_dir("/proc").expect("processes").flatten().filter(is_left).collect();
    for process in &left {
        let _ = Command::new("kill").arg(process.file_name()).status();
    }
    assert_eq!(left.len(), 1, "{errors}");
}
