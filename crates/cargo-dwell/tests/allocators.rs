//! `cargo dwell allocators` on a program whose memory depends on the number of arenas.
#![cfg(agent)]

#[path = "../../dwell-heap/tests/support/mod.rs"]
mod support;

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::{Command, Output, Stdio};

fn run(args: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_cargo-dwell"));
    command.args(["allocators", "--time", "1s"]).args(args).env_remove("MALLOC_ARENA_MAX");
    command.stdin(Stdio::null()).output().expect("it runs")
}

#[test]
fn setting_that_saves_is_named() {
    let folder = support::target_dir().join("allocators");
    let program = folder.join("arenas");
    support::truth::compile(&support::truth::source("allocators/arenas.rs"), &program, &["-Copt-level=2"]);
    let program = program.to_str().expect("a path");
    let ran = run(&["--exe", program]);
    let text = String::from_utf8_lossy(&ran.stdout);
    assert_eq!(ran.status.code(), Some(0), "{}", String::from_utf8_lossy(&ran.stderr));
    for line in [
        "arenas: ",
        "GLIBC_TUNABLES=glibc.malloc.tcache_count=0  ",
        "\nthe most resident bytes: MALLOC_ARENA_MAX=1, 0.",
        "\n  in its environment: MALLOC_ARENA_MAX=1\n",
    ] {
        assert!(text.contains(line), "{line}: {text}");
    }

    // A server is measured when its driver ends.
    let (ready, driver) = (folder.join("ready"), folder.join("driver.sh"));
    let script = format!("#!/bin/sh\nwhile ! [ -e '{0}' ]; do sleep 0.01; done\nrm '{0}'\n", ready.display());
    fs::write(&driver, script).expect("a file");
    fs::set_permissions(&driver, fs::Permissions::from_mode(0o755)).expect("a file");
    let _ = fs::remove_file(&ready);
    let driver = driver.to_str().expect("a path");
    let ran = run(&["--exe", program, "--driver", driver, "--", ready.to_str().expect("a path")]);
    let text = String::from_utf8_lossy(&ran.stdout);
    assert_eq!(ran.status.code(), Some(0), "{}", String::from_utf8_lossy(&ran.stderr));
    assert!(text.contains("\nresident bytes at the end: MALLOC_ARENA_MAX=1, 0."), "{text}");
}

#[test]
fn wrong_input_is_one_line() {
    let is_there = |name: &str| Path::new(name).exists();
    assert!(is_there("/bin/false") && is_there("/bin/sh"));
    for (args, wrong) in [
        (&["--exe", "/bin/sh", "--preload", "/none.so"][..], "error: --preload: /none.so: there is no such file\n"),
        (&["--exe", "/bin/sh", "--driver", "/none.sh"], "error: --driver: /none.sh: there is no such script\n"),
        (&["--exe", "/none"], "error: /none: there is no such file\n"),
    ] {
        let ran = run(args);
        assert_eq!((ran.status.code(), &*String::from_utf8_lossy(&ran.stderr)), (Some(2), wrong));
    }
}
