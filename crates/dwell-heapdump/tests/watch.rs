//! Dumps without a caller.
#![cfg(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")))]
#![allow(clippy::multiple_unsafe_ops_per_block, clippy::undocumented_unsafe_blocks, reason = "calls of libc in tests")]

mod support;

use dwell_heapdump::{Error, Folder, Options, SIGUSR2, above_rss, every, near_limit, on_signal};
use std::fs;
use std::hint::black_box;
use std::path::Path;
use std::sync::mpsc;
use std::time::Duration;
use support::{Core, Scratch, alone, children, is_root};

const LONG: Duration = Duration::from_secs(60);

fn folder(scratch: &Scratch) -> (Folder, mpsc::Receiver<Result<std::path::PathBuf, String>>) {
    let (sender, outcomes) = mpsc::channel();
    let folder = Folder::new(&scratch.0).files(2).options(Options::new()).report(move |outcome| {
        let _ = sender.send(outcome.as_ref().map(|(path, _)| path.clone()).map_err(ToString::to_string));
    });
    (folder, outcomes)
}

#[test]
fn above_a_number_of_bytes() {
    alone("above_a_number_of_bytes", || {
        let scratch = Scratch::new("above");
        let (folder, outcomes) = folder(&scratch);
        let watch = above_rss(100 << 20, folder).unwrap();
        assert!(outcomes.recv_timeout(Duration::from_millis(400)).is_err());
        let values = vec![1_u64; 16 << 20];
        let path = outcomes.recv_timeout(LONG).unwrap().unwrap();
        assert!(Core::open(&path).has(&values[..1000]));
        watch.stop();
    });
}

#[test]
fn a_folder_has_a_number_of_files() {
    alone("a_folder_has_a_number_of_files", || {
        let scratch = Scratch::new("every");
        let (folder, outcomes) = folder(&scratch);
        let watch = every(Duration::from_millis(1100), folder).unwrap();
        for _ in 0..2 {
            Core::open(&outcomes.recv_timeout(LONG).unwrap().unwrap());
        }
        let error = outcomes.recv_timeout(LONG).unwrap().unwrap_err();
        assert!(error.ends_with("has 2 heap dumps already; remove one to get another"), "{error}");
        watch.stop();
        assert_eq!(scratch.names().len(), 2);
        assert_eq!(children(), []);
    });
}

#[test]
fn a_missing_folder_is_reported() {
    alone("a_missing_folder_is_reported", || {
        let scratch = Scratch::new("missing");
        let error = Folder::new(scratch.path("none")).write().unwrap_err();
        assert!(matches!(error, Error::Write(_)), "{error}");
        // At the start of the program, and not when memory runs out.
        let error = near_limit(scratch.path("none")).unwrap_err();
        assert!(matches!(&error, Error::Folder(..)), "{error}");
        assert!(matches!(on_signal(SIGUSR2, scratch.path("none")).unwrap_err(), Error::Folder(..)));
        assert_eq!(scratch.names(), [""; 0]);
    });
}

/// A memory control group, which is removed in the end.
struct Group(std::path::PathBuf);

impl Group {
    fn new(bytes: u64) -> Option<Self> {
        let place = ["/sys/fs/cgroup/memory", "/sys/fs/cgroup"]
            .map(Path::new)
            .into_iter()
            .find(|place| place.join("memory.limit_in_bytes").exists() || place.join("cgroup.controllers").exists())?;
        let folder = place.join(format!("dwell-heapdump-{}", std::process::id()));
        fs::create_dir(&folder).ok()?;
        let group = Self(folder);
        let limit = ["memory.limit_in_bytes", "memory.max"].into_iter().find(|name| group.0.join(name).exists())?;
        fs::write(group.0.join(limit), bytes.to_string()).ok()?;
        fs::write(group.0.join("cgroup.procs"), std::process::id().to_string()).ok()?;
        Some(group)
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        let parent = self.0.parent().unwrap().join("cgroup.procs");
        let _ = fs::write(parent, std::process::id().to_string());
        let _ = fs::remove_dir(&self.0);
    }
}

#[test]
fn near_the_limit_of_a_control_group() {
    alone("near_the_limit_of_a_control_group", || {
        // The pages of the dump's file belong to the group too, until the disk has them.
        const LIMIT: u64 = 400 << 20;
        let group = if is_root() { Group::new(LIMIT) } else { None };
        let Some(group) = group else {
            println!("skipped: no memory control group can be made here");
            return;
        };
        let scratch = Scratch::new("limit");
        let (folder, outcomes) = folder(&scratch);
        let watch = near_limit(folder.share(0.28)).unwrap();
        let mut values = Vec::new();
        // Faster than the watch looks, as far as its share and a little more. Then nothing is written to while the dump is.
        while values.len() < 130 {
            values.push(vec![values.len() as u64 + 1; 1 << 17]);
        }
        let path = outcomes.recv_timeout(Duration::from_secs(120)).expect("a dump").unwrap();
        watch.stop();
        // To read the dump takes as much memory again.
        drop(group);
        assert!(Core::open(&path).has(&values[10]));
        black_box(&values);
    });
}

#[test]
fn a_dump_that_was_given_up_is_written_when_memory_is_left() {
    alone("a_dump_that_was_given_up_is_written_when_memory_is_left", || {
        const LIMIT: u64 = 400 << 20;
        let group = if is_root() { Group::new(LIMIT) } else { None };
        let Some(group) = group else {
            println!("skipped: no memory control group can be made here");
            return;
        };
        let scratch = Scratch::new("again");
        let (folder, outcomes) = folder(&scratch);
        let usage = group.0.join("memory.usage_in_bytes");
        let usage = if usage.exists() { usage } else { group.0.join("memory.current") };
        let used = || fs::read_to_string(&usage).unwrap().trim().parse::<u64>().unwrap();
        let mut values = Vec::new();
        while used() < LIMIT - (5 << 20) {
            values.push(vec![values.len() as u64 + 1; 1 << 16]);
        }
        // An hour, of which the dump that was given up is no beginning.
        let options = Options::new().spacing(Duration::from_secs(3600));
        let watch = near_limit(folder.options(options).share(0.5)).unwrap();
        let error = outcomes.recv_timeout(Duration::from_secs(120)).expect("an attempt").unwrap_err();
        assert!(error.contains("too little memory") || error.contains("killed"), "{error}");
        values.truncate(500);
        let path = loop {
            match outcomes.recv_timeout(Duration::from_secs(120)).expect("another attempt") {
                Ok(path) => break path,
                Err(error) => assert!(!error.contains("too short a time ago"), "{error}"),
            }
        };
        watch.stop();
        drop(group);
        assert!(Core::open(&path).has(&values[10]));
        black_box(&values);
    });
}
