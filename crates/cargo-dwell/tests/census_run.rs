//! The agent of `cargo dwell census` sees what a counting allocator sees, in programs that end in any way.
#![cfg(all(target_os = "linux", target_arch = "x86_64"))]

mod support;

use cargo_dwell::census::run::{At, Options, Run, snapshots};
use cargo_dwell::census::snapshot::{Moment, Snapshot};
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

fn folder() -> PathBuf {
    support::target_dir().join("census_run")
}

/// A program whose allocator counts, which does what its first argument says.
fn truth() -> &'static Path {
    static TRUTH: OnceLock<PathBuf> = OnceLock::new();
    TRUTH.get_or_init(|| {
        let folder = folder();
        fs::create_dir_all(&folder).expect("a folder");
        let exe = folder.join("truth");
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/census_run/truth.rs");
        let output = Command::new("rustc")
            .args(["--edition=2024", "-g", "-Copt-level=2", "-Cforce-frame-pointers=yes", "-o"])
            .arg(&exe)
            .arg(source)
            .output()
            .expect("rustc runs");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        exe
    })
}

fn run(arguments: &[&str], at: &[At]) -> Run {
    let options = Options { at: at.to_vec(), cache: Some(folder()), ..Options::default() };
    let arguments: Vec<OsString> = arguments.iter().map(Into::into).collect();
    snapshots(truth(), &arguments, &options).expect("it runs")
}

/// What the program's own allocator counted, in the file that it wrote.
fn counted(file: &Path) -> (u64, u64) {
    let text = fs::read_to_string(file).expect("the program wrote it");
    let (blocks, bytes) = text.trim().split_once(' ').expect("two numbers");
    (blocks.parse().expect("a number"), bytes.parse().expect("a number"))
}

/// Bytes that the program leaks in one block first.
const LEAKED: u64 = 123_457;

#[track_caller]
fn only(run: &Run) -> &Snapshot {
    let [snapshot] = &run.snapshots[..] else { panic!("{} snapshots, {:?}", run.snapshots.len(), run.notes) };
    assert!(run.notes.is_empty(), "{:?}", run.notes);
    snapshot
}

fn blocks_of(snapshot: &Snapshot, size: u64) -> usize {
    snapshot.blocks.iter().filter(|block| block.size == size).count()
}

#[test]
fn blocks_and_bytes_at_exit_are_those_of_a_counting_allocator() {
    let file = folder().join("exit.txt");
    let run = run(&["exit", file.to_str().expect("UTF-8")], &[At::Exit]);
    assert_eq!(run.code(), 7);
    let snapshot = only(&run);
    assert_eq!(snapshot.at, Moment::Exit);
    assert_eq!(of_program(snapshot), counted(&file));
    // Contents are those of the program.
    let leaked = snapshot.blocks.iter().find(|block| block.size == LEAKED).expect("it is live");
    let mut bytes = vec![0; LEAKED as usize];
    assert_eq!(snapshot.memory.read(leaked.addr, &mut bytes), bytes.len());
    assert!(bytes.iter().all(|byte| *byte == 7));
    assert_eq!(snapshot.memory.read(8, &mut bytes), 0);
}

#[test]
fn the_snapshot_of_the_peak_is_within_two_percent_of_it() {
    let file = folder().join("peak.txt");
    let run = run(&["peak", file.to_str().expect("UTF-8")], &[At::Peak]);
    assert_eq!(run.code(), 0);
    let snapshot = only(&run);
    assert_eq!(snapshot.at, Moment::Peak);
    let (_, peak) = counted(&file);
    let (_, bytes) = of_program(snapshot);
    assert!(bytes <= peak && bytes * 100 >= peak * 98, "{bytes} of {peak}");
    assert!(snapshot.peak_bytes >= snapshot.live_bytes);
}

#[test]
fn however_the_program_ends_its_end_is_seen() {
    for (mode, code) in [("return", 0), ("abort", 134), ("panic", 101), ("kill", 137), ("exec", 9), ("fork", 0)] {
        let run = run(&[mode], &[At::Exit, At::Peak]);
        assert_eq!(run.code(), code, "{mode}");
        let [peak, exit] = &run.snapshots[..] else { panic!("{mode}: {} snapshots", run.snapshots.len()) };
        assert_eq!((&peak.at, &exit.at), (&Moment::Peak, &Moment::Exit));
        for snapshot in [peak, exit] {
            assert_eq!(blocks_of(snapshot, LEAKED), 1, "{mode}");
            assert_eq!(blocks_of(snapshot, 10_000), 0, "{mode}");
        }
    }
}

#[test]
fn threads_that_end_together_are_counted() {
    let run = run(&["threads"], &[At::Exit]);
    assert_eq!(run.code(), 0);
    let snapshot = only(&run);
    assert_eq!((blocks_of(snapshot, 100), blocks_of(snapshot, 10), blocks_of(snapshot, 5000)), (200, 200, 0));
}

/// Blocks and bytes that the program's allocator made: the innermost frame is the executable's.
fn of_program(snapshot: &Snapshot) -> (u64, u64) {
    let exe = &snapshot.modules[0];
    let of_exe = |block: &&cargo_dwell::census::snapshot::Block| {
        let innermost = snapshot.stacks[block.stack as usize].first();
        innermost.is_some_and(|frame| (exe.start..exe.end).contains(frame))
    };
    let blocks = snapshot.blocks.iter().filter(of_exe);
    (blocks.clone().count() as u64, blocks.map(|block| block.size).sum())
}
