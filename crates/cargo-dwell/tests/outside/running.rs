//! Builds and runs the truth program, and compares what the tool finds with what the program wrote down.

use crate::support::{self, truth::Package, truth::without_pages};
use dwell_heap::outside;
use dwell_heap::{Ran, Symbols};
use std::collections::HashMap;
use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Output, Stdio};
use std::sync::OnceLock;

pub(crate) fn folder() -> PathBuf {
    support::target_dir().join("outside")
}

/// Returns the program, or `None` if cargo has not downloaded its crates.
pub(crate) fn truth() -> Option<&'static Path> {
    static TRUTH: OnceLock<Option<PathBuf>> = OnceLock::new();
    TRUTH.get_or_init(|| build("", "")).as_deref()
}

pub(crate) fn build(dependencies: &str, flags: &str) -> Option<PathBuf> {
    build_at(&folder().join(flags.replace(' ', "")), dependencies, flags, true)
}

pub(crate) fn build_at(folder: &Path, dependencies: &str, flags: &str, release: bool) -> Option<PathBuf> {
    let source = support::truth::source("outside/truth.rs");
    let tokio = "tokio = { version = \"1\", default-features = false, features = [\"rt\", \"sync\", \"time\"] }";
    let folder = folder.to_owned();
    let heapdump = support::root().join("crates/dwell-heapdump");
    let heapdump = format!("dwell-heapdump = {{ path = \"{}\" }}", heapdump.display());
    let dependencies = &format!("{tokio}\n{heapdump}\n{dependencies}");
    Package { folder, bin: "truth", source, dependencies, flags, release, lto: false }.build()
}

/// Returns a small program, whose threads allocate without pause.
pub(crate) fn churn() -> &'static Path {
    static CHURN: OnceLock<PathBuf> = OnceLock::new();
    CHURN.get_or_init(|| {
        let exe = folder().join("churn");
        support::truth::compile(&support::truth::source("outside/churn.rs"), &exe, &["-O"]);
        exe
    })
}

/// A program that waits for the end of its standard input.
pub(crate) struct Running {
    pub(crate) child: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
    blocks: PathBuf,
}

impl Running {
    pub(crate) fn start(command: &mut Command, mode: &str, name: &str) -> Self {
        let blocks = folder().join(format!("{name}.blocks"));
        // A heap dump replaces no file.
        let _ = fs::remove_file(blocks.with_extension("blocks.core"));
        let mut child =
            command.arg(mode).arg(&blocks).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("it starts");
        let mut output = BufReader::new(child.stdout.take().expect("a pipe"));
        let mut line = String::new();
        output.read_line(&mut line).expect("it says something");
        assert_eq!(line, "ready\n");
        let input = child.stdin.take();
        Self { child, input, output, blocks }
    }

    pub(crate) fn id(&self) -> i32 {
        self.child.id().cast_signed()
    }

    /// Returns the live blocks by the program's own allocator.
    pub(crate) fn truth(&self) -> HashMap<u64, u64> {
        let bytes = fs::read(&self.blocks).expect("the program wrote it");
        let pairs = bytes.as_chunks::<16>().0.iter();
        let word = |bytes: &[u8]| u64::from_le_bytes(*bytes.first_chunk().expect("a word"));
        pairs.map(|pair| (word(pair), word(&pair[8..]))).filter(|(block, _)| *block > 1).collect()
    }

    /// Returns the heap dump that the program wrote.
    pub(crate) fn dump(&self) -> PathBuf {
        self.blocks.with_extension("blocks.core")
    }

    /// Ends the program, and checks that nothing disturbed it. Returns its number of rounds.
    pub(crate) fn end(mut self) -> u64 {
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

pub(crate) fn tool(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_cargo-dwell"));
    command.args(["dwell", "census"]).args(arguments).stdin(Stdio::null());
    command
}

pub(crate) fn ran(exe: &Path) -> Ran {
    Ran { executable: exe.to_owned(), own_crates: vec!["truth".into()], ..Ran::default() }
}

/// Compares the blocks of a snapshot with the truth: all are found, and the sizes that owners show are the requested ones.
pub(crate) fn check(captured: outside::Captured, exe: &Path, truth: &HashMap<u64, u64>) -> (u64, u64, u64) {
    let (mut snapshot, notes) = captured.snapshot().expect("its heap is read");
    assert_eq!(without_pages(&notes), [""; 0]);
    let usable: HashMap<u64, u64> = snapshot.blocks.iter().map(|block| (block.addr, block.size)).collect();
    let missing: Vec<_> =
        truth.iter().filter(|(addr, size)| usable.get(addr).is_none_or(|bytes| bytes < size)).collect();
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
    let symbols = Symbols::load(&ran(exe), std::slice::from_mut(&mut snapshot)).expect("debug info");
    symbols.settle(&mut snapshot);
    let settled = snapshot.blocks.iter().filter(|block| usable[&block.addr] != block.size);
    let wrong: Vec<_> = settled
        .filter_map(|block| Some((block, truth.get(&block.addr)?)))
        .filter(|(block, size)| block.size != **size)
        .collect();
    assert!(wrong.is_empty(), "{} sizes are wrong: {:?}", wrong.len(), &wrong[..wrong.len().min(9)]);
    let found = symbols.look_at(&snapshot);
    let table: Vec<_> = found.blocks.iter().map(|row| (&row.owner, &row.content, row.blocks, row.bytes)).collect();
    let row_of = |owner: &str, content: &str| {
        let row = found.blocks.iter().find(|row| row.owner == owner && row.content == content);
        row.map_or_else(|| panic!("no {owner} {content}: {table:#?}"), |row| (row.blocks, row.len))
    };
    assert_eq!(row_of("World.items", "HashMap<String, Item>"), (1, Some(5000)));
    assert_eq!(row_of("World.large", "Vec<u8>"), (1, Some(3 << 20)));
    assert_eq!(row_of("World.aligned", "Vec<Line>"), (1, Some(5000)));
    assert_eq!(row_of("World.list", "LinkedList<[u64; 3]>"), (3000, Some(3000)));
    let shapes = found.blocks.iter().filter(|row| row.owner == "World.shapes []" && row.content == "Box<dyn Shape>");
    assert_eq!(shapes.map(|row| row.blocks).sum::<u64>(), 3000, "{table:#?}");
    let tasks: u64 = found.blocks.iter().filter(|row| row.by == "task").map(|row| row.blocks).sum();
    assert_eq!(tasks, 300, "{table:#?}");
    (found.typed_bytes, found.owned_bytes, found.live_bytes)
}

/// Returns the one line with which the tool refuses something.
#[track_caller]
pub(crate) fn one_line(output: &Output) -> String {
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2), "{text}");
    assert_eq!(text.lines().count(), 1, "{text}");
    text
}

/// Makes a core with `gcore`; `None` if there is none.
pub(crate) fn gcore(running: &Running, name: &str) -> Option<PathBuf> {
    let path = folder().join(name);
    let made = Command::new("gcore").arg("-o").arg(&path).arg(running.id().to_string()).output();
    let core = folder().join(format!("{name}.{}", running.id()));
    if !core.exists() {
        crate::support::skip(format_args!("gcore cannot be run here: {made:?}"));
        return None;
    }
    Some(core)
}
