//! A program that is looked at notices nothing but the pause, whatever happens to the tool.

use crate::running::{Running, churn, tool, truth};
use crate::support::truth::without_pages;
use dwell_heap::outside;
use std::collections::HashMap;
use std::fs;
use std::os::unix::process::CommandExt as _;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Each attach stops the threads somewhere in the allocator.
#[test]
fn a_hundred_attaches_disturb_no_thread_that_allocates() {
    let running = Running::start(&mut Command::new(churn()), "", "churn-small");
    let mut blocks = Vec::new();
    for attached in 1..=100 {
        let captured = outside::attach(running.id(), None, None).expect("it can be looked at");
        let (snapshot, notes) = captured.snapshot().expect("its heap is read");
        assert_eq!(without_pages(&notes), [""; 0], "after {attached}");
        let no_overlap = snapshot.blocks.is_sorted_by(|a, b| a.addr + a.size <= b.addr);
        assert!(no_overlap, "after {attached}");
        blocks.push(snapshot.blocks.len());
    }
    eprintln!("{:?} blocks", (blocks.iter().min(), blocks.iter().max()));
    assert!(blocks.iter().all(|count| (100..100_000).contains(count)), "{blocks:?}");
    running.end();
}

#[test]
fn blocks_are_found_while_other_threads_allocate() {
    let Some(exe) = truth() else { return };
    let running = Running::start(&mut Command::new(exe), "churn", "churn");
    let truth = running.truth();
    for attached in 0..5 {
        let captured = outside::attach(running.id(), None, None).expect("it can be looked at");
        let (snapshot, notes) = captured.snapshot().expect("its heap is read");
        // Other threads allocate while this one was stopped in `malloc`, but never within it.
        assert_eq!(without_pages(&notes), [""; 0]);
        let known: HashMap<u64, u64> = snapshot.blocks.iter().map(|block| (block.addr, block.size)).collect();
        let missing = truth.iter().filter(|(addr, size)| known.get(addr).is_none_or(|usable| usable < size)).count();
        assert_eq!(missing, 0, "after {attached}");
    }
    running.end();
}

/// A terminal that is closed, or Ctrl-C in it, ends all processes of the tool that are in its group.
#[test]
fn a_tool_that_ends_at_any_moment_leaves_the_program_running() {
    let running = Running::start(&mut Command::new(churn()), "", "killed");
    let id = running.id().to_string();
    let first = format!("/proc/{id}/status");
    let mut state = 88_172_645_463_325_252_u64;
    let mut held = 0;
    for round in 0..100 {
        let mut tool = tool(&["--pid", &id, "--format", "json"])
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .process_group(0)
            .spawn()
            .expect("it starts");
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        // Most moments are soon after the first thread was seized.
        let until = Instant::now() + Duration::from_secs(if round % 5 == 0 { 0 } else { 5 });
        while Instant::now() < until && fs::read_to_string(&first).is_ok_and(|status| status.contains("TracerPid:\t0"))
        {
        }
        std::thread::sleep(Duration::from_micros(state % if round % 5 == 0 { 100_000 } else { 3000 }));
        let was_held = threads(&id).iter().any(is_held);
        held += u32::from(was_held);
        let signal = [libc::SIGKILL, libc::SIGHUP, libc::SIGTERM, libc::SIGINT][round % 4];
        // SAFETY: the call sends a signal to the group of a child that was not waited for yet.
        unsafe { libc::kill(-tool.id().cast_signed(), signal) };
        tool.wait().expect("it ends");
        // The process that holds it notices the end of the tool, and lets one thread after the other continue. It has a session,
        // and so a share of the processor, of its own, and on a busy machine it waits for that.
        let soon = Instant::now() + Duration::from_secs(120);
        while let Some(held) = threads(&id).into_iter().find(is_held) {
            assert!(Instant::now() < soon, "{held}");
            std::thread::sleep(Duration::from_millis(1));
        }
    }
    eprintln!("the program was held at {held} of 100 moments");
    running.end();
}

/// Returns the states of the threads of a process.
fn threads(id: &str) -> Vec<String> {
    let all = fs::read_dir(format!("/proc/{id}/task")).expect("it runs");
    all.filter_map(|thread| fs::read_to_string(thread.ok()?.path().join("status")).ok()).collect()
}

#[expect(clippy::ptr_arg, reason = "it is given to `find`")]
fn is_held(status: &String) -> bool {
    !status.contains("TracerPid:\t0") || status.contains("State:\tt") || status.contains("State:\tT")
}

/// Only one can stop a process at a time. The other one gives back what it has stopped.
#[test]
fn two_tools_at_once_disturb_nothing() {
    let running = Running::start(&mut Command::new(churn()), "", "both");
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
    running.end();
}
