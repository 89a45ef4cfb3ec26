//! Looks at programs that were started without the tool, and compares what is found with what the program's own allocator
//! wrote down; and checks that such a program is not disturbed.
#![cfg(all(target_os = "linux", target_arch = "x86_64"))]

mod support;

use cargo_dwell::capture::outside;
use cargo_dwell::census::output::{Ran, Symbols};
use std::collections::HashMap;
use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Output, Stdio};
use std::sync::OnceLock;
use std::time::{Duration, Instant};
use support::truth::Package;

fn folder() -> PathBuf {
    support::target_dir().join("outside")
}

/// Returns the program, or `None` if cargo has not downloaded its crates.
fn truth() -> Option<&'static Path> {
    static TRUTH: OnceLock<Option<PathBuf>> = OnceLock::new();
    TRUTH.get_or_init(|| build("", "")).as_deref()
}

fn build(dependencies: &str, flags: &str) -> Option<PathBuf> {
    let source = support::truth::source("outside/truth.rs");
    let tokio = "tokio = { version = \"1\", default-features = false, features = [\"rt\", \"sync\", \"time\"] }";
    let folder = folder().join(flags.replace(' ', ""));
    let dependencies = &format!("{tokio}\n{dependencies}");
    Package { folder, bin: "truth", source, dependencies, flags, release: true, lto: false }.build()
}

/// A program that waits for the end of its standard input.
struct Running {
    child: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
    blocks: PathBuf,
}

impl Running {
    fn start(command: &mut Command, mode: &str, name: &str) -> Self {
        let blocks = folder().join(format!("{name}.blocks"));
        let mut child =
            command.arg(mode).arg(&blocks).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("it starts");
        let mut output = BufReader::new(child.stdout.take().expect("a pipe"));
        let mut line = String::new();
        output.read_line(&mut line).expect("it says something");
        assert_eq!(line, "ready\n");
        let input = child.stdin.take();
        Self { child, input, output, blocks }
    }

    fn id(&self) -> i32 {
        self.child.id().cast_signed()
    }

    /// Returns the live blocks by the program's own allocator.
    fn truth(&self) -> HashMap<u64, u64> {
        let bytes = fs::read(&self.blocks).expect("the program wrote it");
        let pairs = bytes.as_chunks::<16>().0.iter();
        let word = |bytes: &[u8]| u64::from_le_bytes(*bytes.first_chunk().expect("a word"));
        pairs.map(|pair| (word(pair), word(&pair[8..]))).filter(|(block, _)| *block > 1).collect()
    }

    /// Ends the program, and checks that nothing disturbed it. Returns its number of rounds.
    fn end(mut self) -> u64 {
        drop(self.input.take());
        let mut rest = String::new();
        self.output.read_to_string(&mut rest).expect("text");
        let status = self.child.wait().expect("it ends");
        assert!(status.success(), "{status}: {rest}");
        let rounds = rest.trim().strip_prefix("fine ").unwrap_or_else(|| panic!("{rest}"));
        rounds.parse().expect("a number")
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn tool(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_cargo-dwell"));
    command.args(["dwell", "census"]).args(arguments).stdin(Stdio::null());
    command
}

fn ran(exe: &Path) -> Ran {
    Ran { executable: exe.to_owned(), own_crates: vec!["truth".into()], ..Ran::default() }
}

/// Compares the blocks of a snapshot with the truth: all are found, and the sizes that owners show are the requested ones.
fn check(captured: outside::Captured, exe: &Path, truth: &HashMap<u64, u64>) -> (u64, u64, u64) {
    let (mut snapshot, notes) = captured.snapshot().expect("its heap is read");
    assert_eq!(notes, [""; 0]);
    let usable: HashMap<u64, u64> = snapshot.blocks.iter().map(|block| (block.addr, block.size)).collect();
    let missing: Vec<_> = truth.iter().filter(|(addr, size)| usable.get(addr).is_none_or(|of| of < size)).collect();
    assert!(
        missing.is_empty(),
        "{} of {} are missing: {:x?}",
        missing.len(),
        truth.len(),
        &missing[..missing.len().min(9)]
    );
    let more = snapshot.blocks.iter().filter(|block| !truth.contains_key(&block.addr)).count();
    // Those of libc itself.
    assert!(more < 40, "{more} are no blocks of the program");
    let symbols = Symbols::load(&ran(exe), std::slice::from_ref(&snapshot)).expect("debug info");
    symbols.settle(&mut snapshot);
    let settled = snapshot.blocks.iter().filter(|block| usable[&block.addr] != block.size);
    let wrong: Vec<_> =
        settled.filter_map(|of| Some((of, truth.get(&of.addr)?))).filter(|(of, size)| of.size != **size).collect();
    assert!(wrong.is_empty(), "{} sizes are wrong: {:?}", wrong.len(), &wrong[..wrong.len().min(9)]);
    let found = symbols.look_at(&snapshot);
    let table: Vec<_> = found.blocks.iter().map(|row| (&row.owner, &row.content, row.blocks, row.bytes)).collect();
    let of = |owner: &str, content: &str| {
        let row = found.blocks.iter().find(|row| row.owner == owner && row.content == content);
        row.map_or_else(|| panic!("no {owner} {content}: {table:#?}"), |row| (row.blocks, row.len))
    };
    assert_eq!(of("World.items", "HashMap<String, Item>"), (1, Some(5000)));
    assert_eq!(of("World.large", "Vec<u8>"), (1, Some(3 << 20)));
    assert_eq!(of("World.aligned", "Vec<Line>"), (1, Some(5000)));
    assert_eq!(of("World.list", "LinkedList<[u64; 3]>"), (3000, Some(3000)));
    let shapes = found.blocks.iter().filter(|row| row.owner == "World.shapes []" && row.content == "Box<dyn Shape>");
    assert_eq!(shapes.map(|row| row.blocks).sum::<u64>(), 3000, "{table:#?}");
    let tasks: u64 = found.blocks.iter().filter(|row| row.by == "task").map(|row| row.blocks).sum();
    assert_eq!(tasks, 300, "{table:#?}");
    (found.typed_bytes, found.owned_bytes, found.live_bytes)
}

#[test]
fn a_running_program_has_the_blocks_that_it_knows() {
    let Some(exe) = truth() else { return };
    let running = Running::start(&mut Command::new(exe), "hold", "running");
    let truth = running.truth();
    assert!(truth.len() > 20_000, "{}", truth.len());
    let captured = outside::attach(running.id(), None).expect("it can be looked at");
    eprintln!("{} bytes, stopped for {:?}", captured.bytes(), captured.pause);
    running.end();
    let (typed, owned, live) = check(captured, exe, &truth);
    eprintln!("{} blocks, {live} bytes: {typed} typed, {owned} owned", truth.len());
    assert!(typed * 1000 >= live * 995 && owned * 1000 >= live * 990, "{typed} typed and {owned} owned of {live}");
}

#[test]
fn mimalloc_has_the_blocks_that_the_program_knows() {
    let mimalloc = "mimalloc = { version = \"0.1.52\", default-features = false }";
    let Some(exe) = build(mimalloc, "--cfg mimalloc") else { return };
    let running = Running::start(&mut Command::new(&exe), "hold", "mimalloc");
    let truth = running.truth();
    let captured = outside::attach(running.id(), None).expect("it can be looked at");
    running.end();
    let (typed, owned, live) = check(captured, &exe, &truth);
    assert!(typed * 1000 >= live * 995 && owned * 1000 >= live * 990, "{typed} typed and {owned} owned of {live}");
}

#[test]
fn a_core_has_the_same_blocks() {
    let Some(exe) = truth() else { return };
    let running = Running::start(&mut Command::new(exe), "hold", "core");
    let truth = running.truth();
    let of_process = check(outside::attach(running.id(), None).expect("it can be looked at"), exe, &truth);
    // With `gcore`, `epoll_wait` fails in the program.
    let Some(core) = gcore(&running, "core") else { return };
    let of_core = check(outside::open(&core, None).expect("it can be read"), exe, &truth);
    assert_eq!(of_core, of_process);
    fs::remove_file(core).expect("it is there");
}

/// Makes a core with `gcore`; `None` if there is none.
fn gcore(running: &Running, name: &str) -> Option<PathBuf> {
    let path = folder().join(name);
    let made = Command::new("gcore").arg("-o").arg(&path).arg(running.id().to_string()).output();
    let core = folder().join(format!("{name}.{}", running.id()));
    if !core.exists() {
        eprintln!("skipped: gcore cannot be run here: {made:?}");
        return None;
    }
    Some(core)
}

#[test]
fn a_core_of_the_kernel_is_read() {
    let Some(exe) = truth() else { return };
    let pattern = fs::read_to_string("/proc/sys/kernel/core_pattern").unwrap_or_default();
    if pattern.trim() != "core" {
        eprintln!("skipped: the kernel gives cores to {}", pattern.trim());
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
        eprintln!("skipped: the kernel wrote no core");
        return;
    };
    check(outside::open(&core, None).expect("it can be read"), exe, &truth);

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

/// Returns the one line with which the tool refuses something.
#[track_caller]
fn one_line(output: &Output) -> String {
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2), "{text}");
    assert_eq!(text.lines().count(), 1, "{text}");
    text
}

#[test]
fn what_cannot_be_looked_at_is_refused_in_one_line() {
    let Some(exe) = truth() else { return };
    let refused = |id: &str| one_line(&tool(&["--pid", id]).output().expect("it runs"));
    let none = refused("4194000");
    assert!(none.contains("there is no process 4194000"), "{none}");
    // A zombie is a child that ended, and for which nobody waited.
    let mut child = Command::new("true").spawn().expect("it starts");
    std::thread::sleep(Duration::from_millis(300));
    let zombie = refused(&child.id().to_string());
    assert!(zombie.contains("a zombie"), "{zombie}");
    child.wait().expect("it ends");
    if fs::read_to_string("/proc/2/comm").is_ok_and(|name| name.trim() == "kthreadd") {
        let kernel = refused("2");
        assert!(kernel.contains("a thread of the kernel"), "{kernel}");
    }
    let running = Running::start(&mut Command::new(exe), "hold", "refused");
    let id = running.id().to_string();
    let thread = fs::read_dir(format!("/proc/{id}/task")).expect("threads");
    let thread = thread.map(|of| of.expect("one").file_name().into_string().expect("a number")).find(|of| *of != id);
    let of_thread = refused(&thread.expect("it has several"));
    assert!(of_thread.contains(&format!("is a thread of process {id}")), "{of_thread}");
    let other = one_line(&tool(&["--pid", &id, "--exe", env!("CARGO_BIN_EXE_cargo-dwell")]).output().expect("it runs"));
    assert!(other.contains(&format!("is not the executable of process {id}")), "{other}");
    // As another user, who must not look at it.
    let mut command = tool(&["--pid", &id]);
    match command.uid(65534).gid(65534).current_dir("/").output() {
        Ok(output) => {
            let no_right = one_line(&output);
            assert!(no_right.contains("must not be looked at by ptrace"), "{no_right}");
        }
        Err(error) => eprintln!("skipped: the tool cannot be run as another user: {error}"),
    }
    running.end();
    // A program without debug info.
    let mut sleep = Command::new("sleep").arg("30").spawn().expect("it starts");
    let stripped = refused(&sleep.id().to_string());
    assert!(stripped.contains("has no debug info"), "{stripped}");
    sleep.kill().expect("it runs");
    sleep.wait().expect("it ends");
}

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

#[test]
fn two_looks_show_what_grows() {
    let Some(exe) = truth() else { return };
    let running = Running::start(&mut Command::new(exe), "hold", "grows");
    let output = tool(&["--pid", &running.id().to_string(), "--every", "200ms"]).output().expect("it runs");
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && text.contains("What grew"), "{text}{}", String::from_utf8_lossy(&output.stderr));
    running.end();
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
