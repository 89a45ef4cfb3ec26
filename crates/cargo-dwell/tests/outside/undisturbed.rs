//! A program that is looked at notices nothing but the pause, whatever happens to the tool.

use crate::running::{Running, tool, truth};
use cargo_dwell::capture::outside;
use std::collections::HashMap;
use std::fs;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

#[test]
fn threads_that_allocate_are_not_disturbed() {
    let Some(exe) = truth() else { return };
    let running = Running::start(&mut Command::new(exe), "churn", "churn");
    let truth = running.truth();
    let until = Instant::now() + Duration::from_secs(40);
    let mut attached = 0;
    while attached < 100 && Instant::now() < until {
        let captured = outside::attach(running.id(), None).expect("it can be looked at");
        attached += 1;
        // Reading the heap takes longer than the attach.
        if attached % 10 != 1 {
            continue;
        }
        let (snapshot, notes) = captured.snapshot().expect("its heap is read");
        // Other threads allocate while this one was stopped in `malloc`, but never within it.
        assert!(notes.is_empty(), "{notes:?}");
        let known: HashMap<u64, u64> = snapshot.blocks.iter().map(|block| (block.addr, block.size)).collect();
        let missing = truth.iter().filter(|(addr, size)| known.get(addr).is_none_or(|of| of < size)).count();
        assert_eq!(missing, 0, "after {attached}");
    }
    eprintln!("{attached} attaches");
    assert!(attached > 3);
    assert!(running.end() > 1000);
}

#[test]
fn a_killed_tool_leaves_the_program_running() {
    let Some(exe) = truth() else { return };
    let running = Running::start(&mut Command::new(exe), "churn", "killed");
    let id = running.id().to_string();
    // The time until it has attached.
    let until = Instant::now() + Duration::from_secs(60);
    let mut state = 88_172_645_463_325_252_u64;
    let mut killed = 0;
    while killed < 100 && Instant::now() < until {
        let mut tool = tool(&["--pid", &id, "--format", "json"])
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("it starts");
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        std::thread::sleep(Duration::from_micros(state % 150_000));
        tool.kill().expect("it runs, or has ended");
        tool.wait().expect("it ends");
        killed += 1;
        // The process that holds it notices the end of the tool, and lets one thread after the other continue.
        let threads = || -> Vec<String> {
            let all = fs::read_dir(format!("/proc/{id}/task")).expect("it runs");
            let status =
                |thread: std::io::Result<fs::DirEntry>| fs::read_to_string(thread.ok()?.path().join("status")).ok();
            all.filter_map(status).collect()
        };
        let is_held =
            |of: &String| !of.contains("TracerPid:\t0") || of.contains("State:\tt") || of.contains("State:\tT");
        let soon = Instant::now() + Duration::from_secs(10);
        while let Some(held) = threads().into_iter().find(is_held) {
            assert!(Instant::now() < soon, "{held}");
            std::thread::sleep(Duration::from_millis(1));
        }
    }
    eprintln!("killed {killed} times");
    assert!(killed > 10);
    assert!(running.end() > 1000);
}

/// Only one can stop a process at a time. The other one gives back what it has stopped.
#[test]
fn two_tools_at_once_disturb_nothing() {
    let Some(exe) = truth() else { return };
    let running = Running::start(&mut Command::new(exe), "churn", "both");
    let id = running.id().to_string();
    for _ in 0..4 {
        let start = || {
            tool(&["--pid", &id, "--format", "json"])
                .stdout(Stdio::null())
                .stderr(Stdio::piped())
                .spawn()
                .expect("it starts")
        };
        for one in [start(), start()] {
            let output = one.wait_with_output().expect("it ends");
            let text = String::from_utf8_lossy(&output.stderr);
            assert!(
                output.status.success() || text.contains("is traced by process") || text.contains("ptrace"),
                "{text}"
            );
        }
    }
    assert!(running.end() > 1000);
}
