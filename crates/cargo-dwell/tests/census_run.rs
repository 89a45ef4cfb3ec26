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

#[test]
fn blocks_and_bytes_at_exit_are_those_of_a_counting_allocator() {
    let file = folder().join("exit.txt");
    let run = run(&["exit", file.to_str().expect("UTF-8")], &[At::Exit]);
    assert_eq!(run.code(), 7);
    let (blocks, bytes) = counted(&file);
    let [snapshot] = &run.snapshots[..] else { panic!("{} snapshots", run.snapshots.len()) };
    assert_eq!(snapshot.at, Moment::Exit);
    let rust = of_program(snapshot);
    eprintln!("{:?} {} {} {:?}", run.notes, snapshot.live_blocks, snapshot.live_bytes, rust);
    assert_eq!(rust, (blocks, bytes));
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
