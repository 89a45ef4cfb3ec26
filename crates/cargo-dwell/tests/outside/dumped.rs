//! Heap dumps that a program writes of itself have the blocks that it knows: of each allocator, and read where its files are not.

use crate::running::{Running, build, check, folder, gcore, one_line, tool, truth};
use crate::support::truth::tests_jemalloc;
use crate::{JEMALLOC, MIMALLOC};
use dwell_heap::outside;
use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

#[test]
fn a_dump_has_the_blocks_that_the_program_knows() {
    if let Some(exe) = truth() {
        check_dump(exe, "dump");
    }
}

#[test]
fn a_dump_with_mimalloc_has_the_blocks_that_the_program_knows() {
    if let Some(exe) = build(MIMALLOC, "--cfg mimalloc") {
        check_dump(&exe, "dump-mimalloc");
    }
}

#[test]
fn a_dump_with_jemalloc_has_the_blocks_that_the_program_knows() {
    if tests_jemalloc()
        && let Some(exe) = build(JEMALLOC, "--cfg jemalloc")
    {
        check_dump(&exe, "dump-jemalloc");
    }
}

/// Lets a program write a dump, and ends it. Returns its blocks.
fn dump(exe: &Path, name: &str) -> (PathBuf, HashMap<u64, u64>) {
    let running = Running::start(&mut Command::new(exe), "dump", name);
    let (core, truth) = (running.dump(), running.truth());
    running.end();
    assert!(truth.len() > 20_000, "{}", truth.len());
    (core, truth)
}

fn check_dump(exe: &Path, name: &str) {
    let (core, truth) = dump(exe, name);
    let (typed, owned, live) = check(outside::open(&core, Some(exe), None).expect("it can be read"), exe, &truth);
    eprintln!("{name}: {} blocks, {live} bytes: {typed} typed, {owned} owned", truth.len());
    assert!(typed * 1000 >= live * 990 && owned * 1000 >= live * 980, "{typed} typed and {owned} owned of {live}");
    fs::remove_file(core).expect("it is there");
}

/// Returns a folder with a copy of the program's glibc, with which it runs if its path is in `LD_LIBRARY_PATH`.
fn own_glibc(exe: &Path) -> tempfile::TempDir {
    let output = Command::new("ldd").arg(exe).output().expect("it runs");
    let text = String::from_utf8(output.stdout).expect("UTF-8");
    let libc = text.split_ascii_whitespace().find(|word| word.starts_with('/') && word.contains("libc.so.6"));
    let folder = tempfile::tempdir().expect("a folder");
    fs::copy(libc.expect("it is linked with it"), folder.path().join("libc.so.6")).expect("it is copied");
    folder
}

#[test]
fn files_of_another_machine_are_found_by_their_build() {
    let Some(exe) = truth() else { return };
    let libc = own_glibc(exe);
    let start = |mode, name| Running::start(Command::new(exe).env("LD_LIBRARY_PATH", libc.path()), mode, name);
    let running = start("dump", "elsewhere");
    let (core, truth) = (running.dump(), running.truth());
    // With `gcore`, `epoll_wait` fails in the program, which is therefore killed.
    let of_gcore = gcore(&running, "elsewhere-gcore");
    drop(running);
    // Another build of the same name, as another machine has it.
    let (here, kept) = (libc.path().join("libc.so.6"), tempfile::tempdir().expect("a folder"));
    fs::rename(&here, kept.path().join("renamed")).expect("it is moved");
    let another = std::env::current_exe().expect("a path");
    fs::copy(another, &here).expect("it is copied");
    // A heap dump tells the version.
    check(outside::open(&core, Some(exe), None).expect("it can be read"), exe, &truth);
    fs::remove_file(core).expect("it is there");
    let Some(core) = of_gcore else { return };
    let arguments = ["--core", core.to_str().expect("UTF-8"), "--exe", exe.to_str().expect("UTF-8")];
    let refused = one_line(&tool(&arguments).output().expect("it runs"));
    assert!(refused.contains("so the version of glibc is not known"), "{refused}");
    check(outside::open(&core, Some(exe), Some(kept.path())).expect("it can be read"), exe, &truth);
    fs::remove_file(core).expect("it is there");
}

/// A static program, whose allocator knows the requested sizes.
#[test]
fn musl_has_the_blocks_that_the_program_knows() {
    let Some(cargo) = std::env::var_os("DWELL_MUSL") else {
        crate::support::skip("DWELL_MUSL names no cargo that builds static programs with musl");
        return;
    };
    // For its manifest.
    if truth().is_none() {
        return;
    }
    let target = folder().join("musl");
    let output = Command::new(cargo)
        .args(["build", "--release", "--manifest-path"])
        .arg(folder().join("Cargo.toml"))
        .arg("--target-dir")
        .arg(&target)
        .env("CARGO_PROFILE_RELEASE_DEBUG", "2")
        .env("CARGO_PROFILE_RELEASE_PANIC", "abort")
        .output()
        .expect("it runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let exe = target.join("x86_64-unknown-linux-musl/release/truth");
    crate::check_running(&exe, "running-musl");
    check_dump(&exe, "dump-musl");
}
