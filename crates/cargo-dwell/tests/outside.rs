//! Looks at programs that were started without the tool, and compares what is found with what the program's own allocator
//! wrote down; and checks that such a program is not disturbed.
#![cfg(agent)]

#[path = "outside/children.rs"]
mod children;
#[path = "outside/container.rs"]
mod container;
#[path = "outside/damaged.rs"]
mod damaged;
#[path = "outside/dumped.rs"]
mod dumped;
#[path = "outside/forked.rs"]
mod forked;
#[path = "outside/libcs.rs"]
mod libcs;
#[path = "outside/libraries.rs"]
mod libraries;
#[path = "outside/library.rs"]
mod library;
#[path = "outside/refused.rs"]
mod refused;
#[path = "outside/running.rs"]
mod running;
#[path = "outside/split.rs"]
mod split;
#[path = "../../dwell-heap/tests/support/mod.rs"]
mod support;
#[path = "outside/undisturbed.rs"]
mod undisturbed;

use dwell_heap::Symbols;
use dwell_heap::outside;
use running::{Running, build, build_at, check, folder, gcore, one_line, ran, tool, truth};
use std::fs;
use std::path::Path;
use std::process::Command;
use support::truth::{tests_jemalloc, without_pages};

const MIMALLOC: &str = "mimalloc = { version = \"0.1.52\", default-features = false }";
const JEMALLOC: &str = "tikv-jemallocator = \"0.7\"";

#[test]
fn a_running_program_has_the_blocks_that_it_knows() {
    if let Some(exe) = truth() {
        check_running(exe, "running");
    }
}

#[test]
fn a_running_dev_build_has_the_blocks_that_it_knows() {
    if let Some(exe) = build_at(&folder().join("dev"), "", "", false) {
        check_running(&exe, "running-dev");
    }
}

#[test]
fn mimalloc_has_the_blocks_that_the_program_knows() {
    if let Some(exe) = build(MIMALLOC, "--cfg mimalloc") {
        check_running(&exe, "mimalloc");
    }
}

#[test]
fn jemalloc_has_the_blocks_that_the_program_knows() {
    if tests_jemalloc()
        && let Some(exe) = build(JEMALLOC, "--cfg jemalloc")
    {
        check_running(&exe, "jemalloc");
    }
}

/// Runs a program, and compares what is found with what it knows.
fn check_running(exe: &Path, name: &str) {
    let running = Running::start(&mut Command::new(exe), "hold", name);
    let truth = running.truth();
    assert!(truth.len() > 20_000, "{}", truth.len());
    let captured = outside::attach(running.id(), None, None).expect("it can be looked at");
    eprintln!("{} bytes, stopped for {:?}", captured.bytes(), captured.pause);
    running.end();
    let (typed, owned, live) = check(captured, exe, &truth);
    eprintln!("{} blocks, {live} bytes: {typed} typed, {owned} owned", truth.len());
    assert!(typed * 1000 >= live * 995 && owned * 1000 >= live * 990, "{typed} typed and {owned} owned of {live}");
}

/// Returns what the kernel counts as resident.
fn resident(id: i32) -> u64 {
    let text = fs::read_to_string(format!("/proc/{id}/smaps_rollup")).expect("a process has it");
    let kib = text.lines().find_map(|line| line.strip_prefix("Rss:")?.split_ascii_whitespace().next());
    1024 * kib.and_then(|kib| kib.parse::<u64>().ok()).expect("a number")
}

#[test]
fn parts_of_the_resident_memory_add_up() {
    let Some(exe) = truth() else { return };
    check_resident(exe);
    if let Some(exe) = build(MIMALLOC, "--cfg mimalloc") {
        check_resident(&exe);
    }
    if tests_jemalloc()
        && let Some(exe) = build(JEMALLOC, "--cfg jemalloc")
    {
        check_resident(&exe);
    }
}

fn check_resident(exe: &Path) {
    let running = Running::start(&mut Command::new(exe), "hold", "resident");
    let rss = resident(running.id());
    let captured = outside::attach(running.id(), None, None).expect("it can be looked at");
    running.end();
    let (mut snapshot, notes) = captured.snapshot().expect("its heap is read");
    if !notes.is_empty() && without_pages(&notes).is_empty() {
        crate::support::skip(format_args!("{}", notes[0]));
        return;
    }
    let symbols = Symbols::load(&ran(exe), std::slice::from_mut(&mut snapshot)).expect("debug info");
    symbols.settle(&mut snapshot);
    let found = symbols.look_at(&snapshot).rss.expect("it is divided");
    eprintln!("{found:?} of {rss}");
    let heap = found.live + found.rounding + found.cached + found.arenas + found.free_pages + found.fragmented;
    let sum = heap + found.mapped + found.stacks + found.files + found.program;
    assert!(found.bytes == sum && found.census == 0, "{found:?}");
    assert!(sum.abs_diff(rss) * 50 <= rss, "{sum} of {rss}");
    assert!(found.live * 20 > snapshot.live_bytes * 19 && found.mapped * 20 < rss, "{found:?}");
}

#[test]
fn a_core_has_the_same_blocks() {
    let Some(exe) = truth() else { return };
    let running = Running::start(&mut Command::new(exe), "hold", "core");
    let truth = running.truth();
    let of_process = check(outside::attach(running.id(), None, None).expect("it can be looked at"), exe, &truth);
    // With `gcore`, `epoll_wait` fails in the program.
    let Some(core) = gcore(&running, "core") else { return };
    let of_core = check(outside::open(&core, None, None).expect("it can be read"), exe, &truth);
    assert_eq!(of_core, of_process);
    fs::remove_file(core).expect("it is there");
}

#[test]
fn a_core_of_the_kernel_is_read() {
    let Some(exe) = truth() else { return };
    let pattern = fs::read_to_string("/proc/sys/kernel/core_pattern").unwrap_or_default();
    if pattern.trim() != "core" {
        crate::support::skip(format_args!("the kernel gives cores to {}", pattern.trim()));
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let mut command = Command::new("sh");
    command.args(["-c", "ulimit -c unlimited && exec \"$0\" \"$@\""]).arg(exe).current_dir(&folder);
    let mut running = Running::start(&mut command, "hold", "kernel");
    let truth = running.truth();
    let id = running.id();
    assert!(Command::new("kill").args(["-ABRT", &id.to_string()]).status().expect("it runs").success());
    running.child.wait().expect("it ends");
    let cores = ["core".to_owned(), format!("core.{id}")].map(|name| folder.path().join(name));
    let Some(core) = cores.into_iter().find(|core| core.exists()) else {
        crate::support::skip("the kernel wrote no core");
        return;
    };
    check(outside::open(&core, None, None).expect("it can be read"), exe, &truth);

    // What can be wrong with a core.
    let refused = |arguments: &[&str]| one_line(&tool(arguments).output().expect("it runs"));
    let core = core.to_str().expect("UTF-8");
    let tool_itself = env!("CARGO_BIN_EXE_cargo-dwell");
    let other = refused(&["--core", core, "--exe", tool_itself]);
    assert!(other.contains("is not the executable of the core"), "{other}");
    let bytes = fs::read(core).expect("it is read");
    let half = folder.path().join("half");
    fs::write(&half, &bytes[..bytes.len() / 2]).expect("it is written");
    let truncated = refused(&["--core", half.to_str().expect("UTF-8")]);
    assert!(truncated.contains("is a truncated core"), "{truncated}");
    let none = folder.path().join("none");
    fs::write(&none, without_memory(bytes)).expect("it is written");
    let none = refused(&["--core", none.to_str().expect("UTF-8")]);
    assert!(none.contains("has no anonymous memory"), "{none}");
    let no_core = refused(&["--core", exe.to_str().expect("UTF-8")]);
    assert!(no_core.contains("is not a core"), "{no_core}");
}

/// Empties the segments of a core.
fn without_memory(mut core: Vec<u8>) -> Vec<u8> {
    let word = |core: &[u8], at: usize| u64::from_le_bytes(*core[at..].first_chunk().expect("a word"));
    let (table, count) = (word(&core, 32), u16::from_le_bytes([core[56], core[57]]));
    for index in 0..usize::from(count) {
        let at = usize::try_from(table).expect("an offset") + 56 * index;
        if core[at] == 1 {
            core[at + 32..at + 40].fill(0);
        }
    }
    core
}

#[test]
fn two_looks_show_what_grows() {
    let Some(exe) = truth() else { return };
    let running = Running::start(&mut Command::new(exe), "hold", "grows");
    let output = tool(&["--pid", &running.id().to_string(), "--every", "200ms"]).output().expect("it runs");
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && text.contains("What grew"), "{text}{}", String::from_utf8_lossy(&output.stderr));
    running.end();
}
