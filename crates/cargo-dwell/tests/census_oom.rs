//! Programs that are killed while they grow: what was live is in the report.
#![cfg(agent)]

#[path = "../../dwell-heap/tests/support/mod.rs"]
mod support;

use dwell_heap::json::Document;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};

const MIB: u64 = 1 << 20;

fn folder() -> PathBuf {
    support::target_dir().join("census_oom")
}

/// Waits until no other test kills: the kernel counts the kills of its OOM killer for the whole machine.
fn alone() -> MutexGuard<'static, ()> {
    static KILLS: Mutex<()> = Mutex::new(());
    KILLS.lock().unwrap_or_else(PoisonError::into_inner)
}

fn truth() -> &'static Path {
    static TRUTH: OnceLock<PathBuf> = OnceLock::new();
    TRUTH.get_or_init(|| {
        let exe = folder().join("grow");
        support::truth::compile(&support::truth::source("census_oom/grow.rs"), &exe, &["-Copt-level=2"]);
        exe
    })
}

/// A run of the tool on the program.
struct Run {
    tool: Child,
    live: PathBuf,
    saved: PathBuf,
}

impl Run {
    /// Starts the tool by a program and its arguments. The program that grows stops at `most` MiB.
    fn start(name: &str, by: &[&str], most: u64, shape: &str) -> Self {
        let folder = folder().join(name);
        fs::create_dir_all(&folder).expect("a folder");
        let (live, saved) = (folder.join("live"), folder.join("saved.json"));
        for file in [&live, &saved] {
            let _ = fs::remove_file(file);
        }
        let tool = [by, &[env!("CARGO_BIN_EXE_cargo-dwell")]].concat();
        let tool = Command::new(tool[0])
            .args(&tool[1..])
            .args(["dwell", "census", "--exe"])
            .arg(truth())
            .arg("--save")
            .arg(&saved)
            .arg("--")
            .arg(&live)
            .arg(most.to_string())
            .arg(shape)
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .expect("it starts");
        Self { tool, live, saved }
    }

    /// The live bytes by the program's own count; 0 before it counts.
    fn live(&self) -> u64 {
        fs::read(&self.live).ok().and_then(|bytes| Some(u64::from_le_bytes(bytes.try_into().ok()?))).unwrap_or(0)
    }

    /// Returns what the tool printed, and what it saved, after a kill.
    fn end(self) -> (String, Document, u64) {
        let live = self.live.clone();
        let output = self.tool.wait_with_output().expect("it ends");
        let errors = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(137), "{errors}");
        // The helper, which is killed too, is no process that the program started.
        assert!(!errors.contains("the program started"), "{errors}");
        let text = fs::read(&self.saved).unwrap_or_else(|_| panic!("nothing was saved: {errors}"));
        let document = serde_json::from_slice(&text).expect("a census");
        let live = fs::read(live).expect("its live bytes");
        (errors, document, u64::from_le_bytes(live.try_into().expect("a number")))
    }
}

/// A memory control group below this process's own.
struct Group {
    folder: PathBuf,
    limit: &'static str,
}

impl Group {
    /// Returns `None` if there can be none.
    fn new(name: &str) -> Option<Self> {
        let groups = fs::read_to_string("/proc/self/cgroup").ok()?;
        let first = groups.lines().find_map(|line| line.split_once(":memory:"));
        let (root, path, limit) = match first {
            Some((_, path)) => ("/sys/fs/cgroup/memory", path, "memory.limit_in_bytes"),
            None => ("/sys/fs/cgroup", groups.lines().find_map(|line| line.strip_prefix("0::"))?, "memory.max"),
        };
        let folder = Path::new(root).join(path.trim_start_matches('/')).join(format!("{name}-{}", std::process::id()));
        fs::create_dir(&folder).ok()?;
        let group = Self { folder, limit };
        group.folder.join(limit).exists().then_some(group)
    }

    fn limit(&self, bytes: u64) {
        fs::write(self.folder.join(self.limit), bytes.to_string()).expect("a limit");
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        // The last process may not have left yet.
        for _ in 0..50 {
            if fs::remove_dir(&self.folder).is_ok() {
                return;
            }
            std::thread::sleep(Duration::from_millis(100));
        }
    }
}

/// Numbers that look random, the same in each run.
fn random(seed: u64) -> u64 {
    let mut number = (seed + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    number ^= number >> 29;
    number.wrapping_mul(0xbf58_476d_1ce4_e5b9) >> 17
}

#[test]
fn a_kill_at_any_limit_leaves_what_was_live() {
    let _alone = alone();
    let Some(group) = Group::new("dwell-oom") else {
        crate::support::skip("no memory control group can be made here");
        return;
    };
    let count = std::env::var("DWELL_TEST_LIMITS").map_or(3, |text| text.parse().expect("a number"));
    for number in 0..count {
        // The tool is in the group, too, and needs memory to read the copy.
        let limit = (128 + random(number) % if count > 3 { 272 } else { 72 }) * MIB;
        group.limit(limit);
        let join = format!("echo $$ > {}/cgroup.procs; exec \"$@\"", group.folder.display());
        let run = Run::start("limit", &["sh", "-c", &join, "sh"], 500, "one");
        let (errors, document, live) = run.end();
        let killed = document.program.killed.as_ref().expect("it was killed");
        assert!(killed.is_oom && killed.limit == Some(limit), "{killed:?}: {errors}");
        assert!(errors.contains("note: killed by the OOM killer at ") && errors.contains(" ms before"), "{errors}");
        let [snapshot] = document.snapshots.as_slice() else { panic!("one snapshot: {errors}") };
        eprintln!(
            "limit {} MiB: {} of {live} live bytes, {:?} ms before; the run took {} ms",
            limit / MIB,
            snapshot.live_bytes,
            killed.before,
            document.program.millis
        );
        assert!(snapshot.live_bytes * 10 >= live * 8, "limit {limit}: {} of {live}: {errors}", snapshot.live_bytes);
        // The agent's own count is exact.
        assert!(killed.live.abs_diff(live) * 50 < live, "{killed:?}, {live}");
        let sessions = snapshot.fields.iter().find(|field| field.field == "history").expect("the field");
        assert!(sessions.instances > 1000, "{sessions:?}");
    }
}

/// More blocks than the tool has memory to read: a sample of them is read.
#[test]
fn a_kill_of_many_small_blocks_leaves_a_report() {
    let _alone = alone();
    let Some(group) = Group::new("dwell-oom-boxes") else {
        eprintln!("skipped: no memory control group can be made here");
        return;
    };
    group.limit(120 * MIB);
    let join = format!("echo $$ > {}/cgroup.procs; exec \"$@\"", group.folder.display());
    let (errors, document, live) = Run::start("boxes", &["sh", "-c", &join, "sh"], 500, "boxes").end();
    let [snapshot] = document.snapshots.as_slice() else { panic!("one snapshot: {errors}") };
    eprintln!("{} of {live} live bytes, {:?}", snapshot.live_bytes, document.program.sample);
    assert!(document.program.sample.is_some() && errors.contains("the report is as with --sample "), "{errors}");
    assert!(snapshot.live_bytes * 2 > live && snapshot.live_bytes < live + live / 10, "{live}: {errors}");
    assert!(snapshot.blocks.iter().any(|blocks| blocks.content.contains("Session")), "{errors}");
}

/// A kill between the stop of the first thread and the copy: the tool waited for the threads for ever. And threads that waited
/// for a page were not stopped, so that the last copy had a half of what was live.
#[test]
fn a_kill_while_threads_grow_leaves_what_was_live() {
    let _alone = alone();
    let Some(group) = Group::new("dwell-oom-threads") else {
        eprintln!("skipped: no memory control group can be made here");
        return;
    };
    for limit in [120 * MIB, 150 * MIB] {
        group.limit(limit);
        let join = format!("echo $$ > {}/cgroup.procs; exec \"$@\"", group.folder.display());
        let mut run = Run::start("threads", &["sh", "-c", &join, "sh"], 500, "threads");
        let until = Instant::now() + Duration::from_secs(120);
        while run.tool.try_wait().expect("a child").is_none() {
            if Instant::now() > until {
                let _ = run.tool.kill();
                panic!("the tool has not ended at {limit}");
            }
            std::thread::sleep(Duration::from_millis(50));
        }
        let (errors, document, live) = run.end();
        let [snapshot] = document.snapshots.as_slice() else { panic!("one snapshot: {errors}") };
        eprintln!("limit {} MiB: {} of {live} live bytes", limit / MIB, snapshot.live_bytes);
        assert!(snapshot.live_bytes * 10 >= live * 8, "limit {limit}: {} of {live}: {errors}", snapshot.live_bytes);
        assert!(errors.contains("note: killed by the OOM killer at "), "{errors}");
    }
}

#[test]
fn a_kill_without_a_limit_leaves_half_of_what_was_live() {
    let _alone = alone();
    for number in 0..3 {
        let at = (20 + random(number) % 100) * MIB;
        let run = Run::start("killed", &[], 130, "one");
        let start = Instant::now();
        while run.live() < at && start.elapsed() < Duration::from_secs(60) {
            std::thread::sleep(Duration::from_millis(1));
        }
        kill_with_helper(run.tool.id());
        let (errors, document, live) = run.end();
        assert!(errors.contains("note: killed by SIGKILL together with census' helper"), "{errors}");
        let snapshot = document.snapshots.first().unwrap_or_else(|| panic!("a snapshot: {errors}"));
        // The kill of the two is not one moment.
        assert!(snapshot.live_bytes * 10 >= live * 4, "{} of {live}: {errors}", snapshot.live_bytes);
    }
}

/// Kills the program and the helper that shares its memory, as the OOM killer does. Both are children of the tool.
fn kill_with_helper(tool: u32) {
    let name = |pid: u32| fs::read_to_string(format!("/proc/{pid}/comm")).unwrap_or_default();
    let mut children = Vec::new();
    for thread in fs::read_dir(format!("/proc/{tool}/task")).expect("its threads").flatten() {
        let text = fs::read_to_string(thread.path().join("children")).unwrap_or_default();
        children.extend(text.split_whitespace().map(|pid| pid.parse::<u32>().expect("a number")));
    }
    let program = children.iter().copied().find(|pid| name(*pid).trim() == "grow").expect("the program");
    // The copies have the helper's name, too; it is the first one.
    let helper = children.iter().copied().filter(|pid| name(*pid).trim() == "dwell-census").min().expect("the helper");
    let status =
        Command::new("kill").args(["-9", &program.to_string(), &helper.to_string()]).status().expect("kill runs");
    assert!(status.success());
}
