//! Runs `cargo dwell census` on programs with known data and checks types, owners, lengths, variants, and duplicates.
#![cfg(agent)]
#![allow(unexpected_cfgs, dead_code, reason = "another program uses these types")]

mod support;

#[path = "ops/census.rs"]
mod ops;

use dwell_heap::Moment;
use dwell_heap::json::{self, Blocks, Document};
use dwell_heap::run::{At, Options, snapshots};
use dwell_heap::{Asked, Ran, census};
use ops::{Copied, changes};
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, OnceLock};
use support::truth::Package;

fn folder() -> PathBuf {
    support::target_dir().join("census_types")
}

/// Returns the program `truth` of an optimisation level.
fn truth(level: &str) -> PathBuf {
    built("truth.rs", level)
}

/// Returns the program of a source file and an optimisation level, which is built once.
fn built(source: &str, level: &str) -> PathBuf {
    static BUILT: OnceLock<Mutex<HashMap<String, PathBuf>>> = OnceLock::new();
    let mut built = BUILT.get_or_init(Mutex::default).lock().expect("a build");
    let exe = built.entry(format!("{source}{level}")).or_insert_with(|| {
        let exe = folder().join(format!("truth-{}-{level}", source.trim_end_matches(".rs")));
        let source = support::truth::source(&format!("census_types/{source}"));
        support::truth::compile(&source, &exe, &["--crate-name=truth", &format!("-Copt-level={level}")]);
        exe
    });
    exe.clone()
}

/// Builds a program that depends on crates of the registry. Returns `None` if cargo has not downloaded them.
fn with_crates(name: &str, source: &str, dependencies: &str, flags: &str, release: bool) -> Option<PathBuf> {
    // The paths of types begin with the crate's name, which must not depend on the folder.
    let bin = name.split('-').next().unwrap_or(name);
    let source = support::truth::source(&format!("census_types/{source}"));
    Package { folder: folder().join(name), bin, source, dependencies, flags, release, lto: false }.build()
}

fn run(level: &str, mode: &str, at: At) -> json::Snapshot {
    run_exe(truth(level), mode, at)
}

fn run_exe(executable: PathBuf, mode: &str, at: At) -> json::Snapshot {
    let options = Options { at: vec![at], cache: Some(folder()), ..Options::default() };
    let mut run = snapshots(&executable, &[mode.into()], &options).expect("it runs");
    assert!(run.code == 0);
    let own = executable.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    let own = if own.starts_with("truth") { "truth".to_owned() } else { own.replace('-', "_") };
    let root = Some(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/census_types"));
    let mut ran = Ran { executable, own_crates: vec![own], root, ..Ran::default() };
    let first: Document = census(&ran, &mut run.snapshots).expect("it is read");
    // The values of the same run as evidence of further ones.
    ran.also = vec![first.clone(), first];
    let mut document: Document = census(&ran, &mut run.snapshots).expect("it is read");
    let snapshot = document.snapshots.pop().expect("a snapshot");
    let saves: u64 =
        snapshot.findings.iter().filter(|finding| !finding.of_allocator).map(|finding| finding.saves).sum();
    assert!(saves <= snapshot.live_bytes, "{saves} of {}: {:#?}", snapshot.live_bytes, snapshot.findings);
    snapshot
}

/// Returns a finding, also one that is an alternative of another.
fn finding<'s>(snapshot: &'s json::Snapshot, kind: &str, location: &str) -> &'s json::Finding {
    let mut all = snapshot.findings.iter().flat_map(|finding| std::iter::once(finding).chain(&finding.alternatives));
    let found = all.find(|finding| finding.location == location && finding.kind == kind);
    found.unwrap_or_else(|| panic!("{kind} of {location} is not among {:#?}", snapshot.findings))
}

/// Returns the rows of an owner.
fn owned<'s>(snapshot: &'s json::Snapshot, owner: &str) -> Vec<&'s Blocks> {
    snapshot.blocks.iter().filter(|row| row.owner == owner).collect()
}

/// Returns content, element, blocks, bytes, length, and capacity of the only row of an owner.
fn row<'s>(snapshot: &'s json::Snapshot, owner: &str) -> (&'s str, &'s str, u64, u64, Option<u64>, u64) {
    let rows = owned(snapshot, owner);
    let [row] = rows.as_slice() else { panic!("{owner}: {rows:?} of {:#?}", snapshot.blocks) };
    (&row.content, &row.element, row.blocks, row.bytes, row.len, row.capacity)
}

fn field<'s>(snapshot: &'s json::Snapshot, owner: &str, field: &str) -> (u64, Vec<(&'s str, u64)>) {
    let found = snapshot.fields.iter().find(|row| row.owner == owner && row.field == field);
    let found = found.unwrap_or_else(|| panic!("{owner}.{field} is not among {:#?}", snapshot.fields));
    (found.instances, found.variants.iter().map(|variant| (&*variant.name, variant.count)).collect())
}

fn variants<'s>(snapshot: &'s json::Snapshot, name: &str) -> Vec<(&'s str, u64)> {
    let found = snapshot.enums.iter().find(|row| row.name == name);
    let found = found.unwrap_or_else(|| panic!("{name} is not among {:#?}", snapshot.enums));
    found.variants.iter().filter(|variant| variant.count > 0).map(|variant| (&*variant.name, variant.count)).collect()
}

fn strings(snapshot: &json::Snapshot, owner: &str) -> (u64, u64, u64, u64) {
    let found = snapshot.strings.iter().find(|row| row.owner == owner);
    let found = found.unwrap_or_else(|| panic!("{owner} is not among {:#?}", snapshot.strings));
    (found.count, found.bytes, found.distinct, found.duplicate_bytes)
}

/// The control bytes of a hash table that follow those of its buckets.
const GROUP: u64 = if cfg!(target_arch = "aarch64") { 8 } else { 16 };

const LEVELS: [&str; 2] = ["0", "2"];

/// Returns whether to build the programs with other allocators too, in dev and release.
fn all_allocators() -> bool {
    std::env::var_os("DWELL_TEST_ALLOCATORS").is_some()
}

#[test]
fn collections_are_counted_exactly() {
    for level in LEVELS {
        check_collections(&run(level, "data", At::Exit));
    }
}

#[test]
fn types_are_identified_under_mimalloc() {
    check_over("mimalloc", "mimalloc = { version = \"0.1\", default-features = false }");
}

#[test]
fn types_are_identified_under_jemalloc() {
    check_over("jemalloc", "tikv-jemallocator = \"0.7\"");
}

fn check_over(allocator: &str, krate: &str) {
    if !all_allocators() {
        crate::support::skip(format_args!("set DWELL_TEST_ALLOCATORS=1 to build {allocator}"));
        return;
    }
    for release in [false, true] {
        let name = format!("truth-{allocator}");
        let Some(executable) = with_crates(&name, "truth.rs", krate, &format!(" --cfg {allocator}"), release) else {
            return;
        };
        check_collections(&run_exe(executable.clone(), "data", At::Exit));
        check_pointers(&run_exe(executable.clone(), "data", At::Exit));
        check_variants(&run_exe(executable.clone(), "data", At::Exit));
        check_leaks(&run_exe(executable, "leak", At::Exit));
    }
}

const CRATES: &str = r#"bytes = "1"
compact_str = { version = "0.9", default-features = false }
slab = "0.4"
smallvec = "1"
tokio = { version = "1", default-features = false, features = ["rt", "sync", "time"] }
"#;

fn over_crates(release: bool) -> Option<PathBuf> {
    let dwell = support::root().join("crates/dwell");
    let features = r#"default-features = false, features = ["std", "small", "slab", "bump", "sparse"]"#;
    let dependencies = format!("{CRATES}dwell = {{ path = \"{}\", {features} }}\n", dwell.display());
    with_crates("crates", "crates.rs", &dependencies, "", release)
}

#[test]
fn types_of_other_crates_are_identified_by_name() {
    for release in if all_allocators() { &[false, true][..] } else { &[false] } {
        let Some(executable) = over_crates(*release) else { return };
        let snapshot = run_exe(executable, "types", At::Exit);
        let s = &snapshot;
        // 60 of the 100 SmallVecs hold three numbers inline; the rows count the spilled ones.
        assert_eq!(row(s, "Owner.small []"), ("SmallVec<[u32; 4]>", "u32", 40, 1600, Some(400), 400));
        assert_eq!(row(s, "Owner.nested []").2, 2);
        // A CompactString stores up to 24 bytes inline.
        let compact = row(s, "Owner.compact []");
        assert_eq!((compact.0, compact.2, compact.4), ("CompactString", 20, Some(20 * 37)));
        assert_eq!(strings(s, "Owner.compact []"), (20, 20 * 37, 1, 19 * 37));
        assert_eq!(row(s, "Owner.bytes []"), ("Bytes", "u8", 10, 1000, Some(1000), 1000));
        // Shared `Bytes` have an extra block with the reference count.
        let mut shared: Vec<_> = owned(s, "Owner.shared []")
            .iter()
            .map(|row| (&*row.element, row.bytes, row.len, row.unused_bytes))
            .collect();
        shared.sort_unstable();
        assert_eq!(shared, [("bytes::bytes::Shared", 24, Some(1), 0), ("u8", 64, Some(64), 0)]);
        assert_eq!(row(s, "Owner.buffer"), ("BytesMut", "u8", 1, 128, Some(5), 128));
        // The slots of a `slab::Slab` appear as variants of the enum `Entry`.
        let of_slab: Vec<_> =
            s.enums.iter().filter(|row| row.name == "slab::Entry<String>" || row.name == "Entry<String>").collect();
        assert_eq!(of_slab.len(), 1, "{:#?}", s.enums);
        assert_eq!(
            of_slab[0].variants.iter().map(|variant| (&*variant.name, variant.count)).collect::<Vec<_>>(),
            [("Vacant", 2), ("Occupied", 3)]
        );
        // The types of dwell.
        assert_eq!(
            row(s, "Owner.shapes []"),
            ("SmallBox<dyn Shape, 2, dwell::Global, usize>", "Polygon", 6, 6 * 64, Some(6), 6)
        );
        assert_eq!(field(s, "Square", "0").0, 10);
        let sparse = row(s, "Owner.sparse []");
        assert_eq!((sparse.2, sparse.3), (4, 4 * 24));
        assert_eq!(row(s, "Owner.sparse [] * []").2, 4);
        assert_eq!(row(s, "Owner.thin []"), ("ThinStr", "u8", 30, 300, Some(270), 270));
        assert_eq!(strings(s, "Owner.thin []"), (30, 270, 1, 29 * 9));
        assert_eq!(row(s, "Owner.slices []"), ("ThinSlice<u16>", "u16", 5, 5 * 14, Some(15), 15));
        assert_eq!(row(s, "Owner.sorted").2, 1);
        assert_eq!(row(s, "Owner.sorted").4, Some(7));
        assert_eq!(row(s, "Owner.sorted [].1").2, 7);
        // Heap blocks owned by values in the chunks of a slab and of an arena.
        assert_eq!(row(s, "Node.name").2, 12);
        assert_eq!(row(s, "Leaf.boxed").2, 10);
        let chunks: Vec<_> = s.blocks.iter().filter(|row| row.content.starts_with("chunk of dwell")).collect();
        assert!(chunks.len() >= 2 && chunks.iter().all(|row| row.len.is_none()), "{chunks:#?}");
    }
}

/// The program `queues`, or `None` if cargo has not downloaded its crates.
fn queues() -> Option<PathBuf> {
    let dependencies = r#"bytes = "1"
crossbeam-channel = "0.5"
dashmap = "6"
flume = { version = "0.12", default-features = false }
heapless = "0.9"
tokio = { version = "1", default-features = false, features = ["sync"] }
"#;
    with_crates("queues", "queues.rs", dependencies, "", false)
}

#[test]
fn messages_in_channels_have_owners() {
    let Some(executable) = queues() else { return };
    let snapshot = run_exe(executable, "", At::Exit);
    let s = &snapshot;
    // Sent minus received. The slots of received messages, which keep their bytes, are not counted.
    let sent = [("Tokio", 60), ("Bounded", 40), ("Std", 55), ("Sync", 25), ("Crossbeam", 35), ("Flume", 22)];
    for (channel, count) in sent {
        assert_eq!(field(s, &format!("Of{channel}"), "0").0, count, "{channel}");
    }
    let all = 20 + sent.iter().map(|(_, count)| count).sum::<u64>();
    assert_eq!(row(s, "Message.text"), ("String", "u8", all, 32 * all, Some(24 * all), 32 * all));
    assert_eq!(row(s, "Message.numbers"), ("Vec<u64>", "u64", all, 40 * all, Some(5 * all), 5 * all));
    assert!(s.owned_bytes * 1000 >= s.live_bytes * 990, "{} of {}: {:#?}", s.owned_bytes, s.live_bytes, s.blocks);
}

#[test]
fn inline_vectors_shards_and_pinned_buffers_are_decoded() {
    let Some(executable) = queues() else { return };
    let snapshot = run_exe(executable, "", At::Exit);
    let s = &snapshot;
    let few = row(s, "Queues.few [] []");
    assert_eq!((few.0, few.2, few.4), ("String", 30, Some(30 * 8)));
    // The tables behind the locks of a `DashMap` belong to the field that has it, and so do their values.
    let of_shards = |content: &'static str| {
        s.blocks.iter().filter(move |row| row.owner.starts_with("Queues.shards") && row.content.contains(content))
    };
    // The box of all shards has their type in its name too.
    let tables = of_shards("RawTable<(u64, SharedValue<String>)").filter(|row| !row.content.starts_with("Box<"));
    assert_eq!(tables.map(|row| row.len.unwrap_or(0)).sum::<u64>(), 500);
    assert_eq!(of_shards("String").filter(|row| row.content == "String").map(|row| row.blocks).sum::<u64>(), 500);
    let shrink =
        s.findings.iter().find(|finding| finding.kind == "shrink" && finding.location.starts_with("Queues.emptied"));
    let shrink = shrink.unwrap_or_else(|| panic!("{:#?}", s.findings));
    assert!(shrink.dependency.is_none() && shrink.saves * 10 > shrink.bytes * 9, "{shrink:?}");
    // Ten handles of 20 bytes keep ten buffers of 4 KiB.
    let pins = owned(s, "Queues.pins []");
    let buffers = pins.iter().find(|pin| pin.element == "u8").unwrap_or_else(|| panic!("{pins:#?}"));
    assert_eq!((buffers.blocks, buffers.bytes, buffers.len, buffers.unused_bytes), (10, 40_960, Some(200), 40_760));
    let pinned = finding(s, "pinned", "Queues.pins []");
    assert_eq!((pinned.count, pinned.bytes, pinned.saves), (10, 40_960, 40_760));
}

/// A map that was large once, and maps whose values have a field that is nearly always `None`.
#[test]
fn maps_that_are_local_variables_have_findings() {
    for level in LEVELS {
        let snapshot = run(level, "maps", At::Peak);
        let found = |kind: &str, location: &str| {
            let is_it = |finding: &&json::Finding| {
                finding.location == location || finding.location == "(local large of truth::main)"
            };
            let found = snapshot.findings.iter().find(|finding| finding.kind == kind && is_it(finding));
            found.unwrap_or_else(|| panic!("{kind} of {location} is not among {:#?}", snapshot.findings))
        };
        // 8,192 buckets of 40 B for 20 entries.
        let shrink = found("shrink", "(local large of truth::main)");
        assert_eq!((shrink.count, shrink.bytes), (1, 8192 * (40 + 1) + GROUP));
        // 32 buckets would do.
        assert_eq!(shrink.saves, shrink.bytes - shrink.bytes * 32 / 8192);
        assert!(shrink.at.as_deref().is_some_and(|at| at.contains("truth.rs:")), "{shrink:?}");
        let seldom = found("box", "Visit.seldom");
        assert_eq!((seldom.count, field(&snapshot, "Visit", "seldom").0), (1000, 1000));
    }
}

/// What `async fn main` keeps is in a future on the stack of `block_on`, which waits.
#[test]
fn what_the_future_of_block_on_keeps_has_owners() {
    for release in [false, true] {
        let Some(executable) = over_crates(release) else { return };
        let s = run_exe(executable, "block_on", At::Peak);
        let rows = |content: &str| s.blocks.iter().filter(|row| row.content == content).collect::<Vec<_>>();
        let [deque] = &*rows("VecDeque<Message>") else { panic!("{:#?}", s.blocks) };
        assert!(deque.owner.ends_with("queue") && deque.len == Some(300), "{deque:?}");
        let [list] = &*rows("Vec<Message>") else { panic!("{:#?}", s.blocks) };
        assert!(list.owner.ends_with("sessions") && list.len == Some(200), "{list:?}");
        assert_eq!(row(&s, "Message.text").2, 500);
    }
}

#[test]
fn tokio_tasks_show_where_they_are_suspended() {
    for release in if all_allocators() { &[false, true][..] } else { &[false] } {
        let Some(executable) = over_crates(*release) else { return };
        let snapshot = run_exe(executable, "tasks", At::Exit);
        let s = &snapshot;
        for (task, count) in [("{async fn asleep}", 30), ("{async fn listening}", 10)] {
            let states = variants(s, task);
            assert!(
                matches!(states.as_slice(), [(state, all)] if state.starts_with("Suspend0 (") && *all == count),
                "{states:?}"
            );
        }
        assert_eq!(row(s, "{async fn asleep}.held"), ("Vec<u64>", "u64", 30, 30 * 32, Some(120), 120));
        assert!(s.owned_bytes * 100 >= s.live_bytes * 95, "{} of {}: {:#?}", s.owned_bytes, s.live_bytes, s.blocks);
    }
}

fn check_collections(s: &json::Snapshot) {
    assert!(s.typed_bytes * 1000 >= s.live_bytes * 998, "{} of {}", s.typed_bytes, s.live_bytes);
    assert!(s.owned_bytes * 100 >= s.live_bytes * 95, "{} of {}", s.owned_bytes, s.live_bytes);
    let of_blocks: u64 = s.blocks.iter().map(|row| row.bytes).sum();
    assert_eq!(of_blocks, s.live_bytes);

    let member = owned(s, "Plain.members")[0].element_size;
    assert_eq!(row(s, "Plain.members"), ("Vec<Member>", "Member", 1, 1024 * member, Some(1000), 1024));
    assert_eq!(row(s, "Member.children").4, Some(999));
    assert_eq!(row(s, "Member.inner"), ("Vec<Option<Pair>>", "Option<Pair>", 20, 20 * 3 * 32, Some(60), 60));
    assert_eq!(row(s, "Pair.left"), ("Box<u16>", "u16", 20, 40, Some(20), 20));
    assert_eq!(row(s, "Kind::B.0"), ("Vec<u8>", "u8", 100, 1000, Some(1000), 1000));
    assert_eq!(
        row(s, "Plain.map"),
        ("HashMap<u64, String>", "(u64, String)", 1, 1024 * (32 + 1) + GROUP, Some(500), 1024)
    );
    assert_eq!(row(s, "Plain.map value").2, 500);
    assert_eq!(row(s, "Plain.set"), ("HashSet<u32>", "u32", 1, 128 * (4 + 1) + GROUP, Some(77), 128));
    let tree = row(s, "Plain.ordered");
    assert_eq!((tree.0, tree.4), ("BTreeMap<u32, [u64; 4]>", Some(250)));
    assert_eq!(row(s, "Plain.names").4, Some(40));
    assert_eq!(row(s, "Plain.names []").2, 40);
    assert_eq!(row(s, "Plain.deque"), ("VecDeque<Box<u64>>", "Box<u64>", 1, 128, Some(14), 16));
    assert_eq!(row(s, "Plain.deque []"), ("Box<u64>", "u64", 14, 112, Some(14), 14));
    assert_eq!(row(s, "Plain.list"), ("LinkedList<String>", "String", 20, 20 * 40, Some(20), 20));
    assert_eq!(row(s, "Plain.list []").2, 20);
    assert_eq!(row(s, "Plain.slices []"), ("Box<[u16]>", "u16", 8, 72, Some(36), 36));
    assert_eq!(row(s, "Plain.heap").4, Some(33));
    assert_eq!(row(s, "Plain.path"), ("PathBuf", "u8", 1, 16, Some(16), 16));
    assert_eq!(row(s, "Plain.boxed"), ("Box<str>", "u8", 1, 10, Some(10), 10));
    assert_eq!(row(s, "Plain.lock").4, Some(50));
    assert_eq!(row(s, "Plain.lock []"), ("Box<u16>", "u16", 10, 20, Some(10), 10));
}

#[test]
fn pointers_are_followed_to_their_targets() {
    for level in LEVELS {
        check_pointers(&run(level, "data", At::Exit));
    }
}

fn check_pointers(s: &json::Snapshot) {
    // Ten numbers and ten circles have a block each; the zero-sized dots have none.
    let mut shapes: Vec<(&str, u64)> =
        owned(s, "Data.shapes []").iter().map(|row| (&*row.element, row.blocks)).collect();
    shapes.sort_unstable();
    assert_eq!(shapes, [("Circle", 10), ("u32", 10)]);
    assert_eq!(row(s, "Data.calls []").2, 10);
    assert_eq!(row(s, "Data.objects []"), ("Rc<dyn Draw>", "Circle", 8, 8 * 32, Some(8), 8));
    // The root of the tree is reached through `Data.root` or, because of the cycle, through a child.
    let trees: u64 = s.blocks.iter().filter(|row| row.content == "Rc<Tree>").map(|row| row.blocks).sum();
    assert_eq!(trees, 6);
    assert_eq!(row(s, "Data.gone"), ("rc::Weak<u128>", "u128", 1, 32, Some(0), 0));
    assert_eq!(row(s, "Data.texts []"), ("Arc<str>", "u8", 40, 40 * 24, Some(240), 240));
    assert_eq!(row(s, "Data.shared []"), ("Arc<[u32]>", "u32", 6, 24 * 2 + 32 * 2 + 40 * 2, Some(21), 21));
    assert_eq!(row(s, "Data.cow []").2, 4);
    assert_eq!(row(s, "Data.os"), ("OsString", "u8", 1, 12, Some(12), 12));
    assert_eq!(row(s, "Data.c"), ("CString", "u8", 1, 11, Some(11), 11));
    assert_eq!(row(s, "Data.weak"), ("sync::Weak<[u8; 3]>", "[u8; 3]", 1, 24, Some(0), 0));
    assert!(owned(s, "Data.hole").is_empty());
    assert_eq!(row(s, "Data.locked"), ("Arc<Mutex<Vec<u8>>>", "Mutex<Vec<u8>>", 1, 16 + 32, Some(1), 1));
    assert_eq!(row(s, "Data.locked *"), ("Vec<u8>", "u8", 1, 5, Some(5), 5));
    let table = row(s, "(static truth::TABLE) []");
    assert_eq!((table.0, table.2, table.3), ("Box<[u8; 100]>", 7, 700));
    assert!(owned(s, "(static truth::TABLE)").iter().all(|row| row.by == "static"));
}

#[test]
fn values_left_in_an_iterator_are_counted() {
    for level in LEVELS {
        let s = &run(level, "data", At::Exit);
        assert_eq!(row(s, "Data.left"), ("vec::IntoIter<String>", "String", 1, 240, Some(7), 10));
        assert_eq!(row(s, "Data.left []").2, 7);
        assert_eq!(strings(s, "Data.left []"), (7, 42, 7, 0));
    }
}

#[test]
fn zero_initialised_statics_are_owners() {
    for level in LEVELS {
        let s = &run(level, "data", At::Exit);
        assert_eq!(row(s, "(static truth::SLOTS) []"), ("Box<u16>", "u16", 2000, 4000, Some(2000), 2000));
    }
}

#[test]
fn contents_of_once_locks_are_counted_if_they_are_initialised() {
    for level in LEVELS {
        let s = &run(level, "data", At::Exit);
        assert_eq!(row(s, "Data.once"), ("Vec<u8>", "u8", 1, 21, Some(21), 21));
        assert!(owned(s, "Data.never").is_empty());
        let boxes = row(s, "(static truth::LAZY) []");
        assert_eq!((boxes.0, boxes.2, boxes.3), ("Box<[u8; 50]>", 9, 450));
    }
}

#[test]
fn unsized_texts_have_owners() {
    for level in LEVELS {
        let s = &run(level, "data", At::Exit);
        assert_eq!(row(s, "Data.place"), ("Box<Path>", "u8", 1, 7, Some(7), 7));
        assert_eq!(row(s, "Data.places []"), ("Rc<Path>", "u8", 3, 3 * 24, Some(18), 18));
        assert_eq!(strings(s, "Data.places []"), (3, 18, 1, 12));
    }
}

#[test]
fn reference_to_a_whole_block_gives_its_length() {
    for level in LEVELS {
        let s = &run(level, "data", At::Exit);
        let slice = row(s, "Data.borrowed");
        assert_eq!((slice.0, slice.1, slice.2, slice.4), ("Vec<Note>", "Note", 1, Some(3)));
        assert_eq!(owned(s, "Data.borrowed")[0].by, "weak");
        assert_eq!(strings(s, "Data.word"), (1, 6, 1, 0));
        assert_eq!(row(s, "Note.text").2, 3);
    }
}

#[test]
fn ring_that_nothing_owns_is_leaked() {
    for level in LEVELS {
        let s = &run(level, "data", At::Exit);
        let rings: u64 = s.blocks.iter().filter(|row| row.content == "Arc<Ring>").map(|row| row.blocks).sum();
        assert_eq!(rings, 7);
        assert_eq!(row(s, "(leaked)").2, 1);
        assert_eq!(row(s, "Ring.bytes"), ("Vec<u8>", "u8", 7, 21, Some(21), 21));
    }
}

#[test]
fn variants_and_strings_are_counted_exactly() {
    for level in LEVELS {
        check_variants(&run(level, "data", At::Exit));
    }
}

fn check_variants(s: &json::Snapshot) {
    assert_eq!(field(s, "Member", "opt"), (1000, vec![("None", 990), ("Some", 10)]));
    assert_eq!(field(s, "Member", "kind"), (1000, vec![("A", 600), ("B", 100), ("C", 300)]));
    assert_eq!(field(s, "Member", "flag"), (1000, vec![("None", 250), ("Some", 750)]));
    assert_eq!(field(s, "Member", "letter"), (1000, vec![("None", 200), ("Some", 800)]));
    assert_eq!(field(s, "Member", "wide"), (1000, vec![("None", 500), ("Some", 500)]));
    assert_eq!(field(s, "Pair", "left"), (40, vec![("None", 20), ("Some", 20)]));
    assert_eq!(field(s, "Pair", "right"), (40, vec![("Ok", 20), ("Err", 20)]));
    assert_eq!(variants(s, "Kind"), [("A", 600), ("B", 100), ("C", 300)]);
    assert_eq!(variants(s, "Option<char>"), [("None", 200), ("Some", 600)]);
    assert_eq!(variants(s, "Option<Pair>"), [("None", 20), ("Some", 40)]);
    assert_eq!(strings(s, "Member.name"), (1000, 6000, 10, 5940));
    assert_eq!(strings(s, "Data.texts []"), (40, 240, 4, 216));
    assert_eq!(strings(s, "Traits.name"), (10, 200, 1, 180));
}

#[test]
fn idle_futures_are_found() {
    for level in LEVELS {
        let snapshot = run(level, "tasks", At::Exit);
        let found =
            snapshot.findings.iter().find(|finding| finding.kind == "future" && finding.location == "{async fn task}");
        let future = found.unwrap_or_else(|| panic!("{:#?}", snapshot.findings));
        // 30 futures are in the state with the large array, and 10 in the other one.
        assert!(future.count == 40 && future.saves > 0 && future.saves < 10 * future.bytes / 40, "{future:?}");
        assert!(future.why.starts_with("30 of 40 are in Suspend") && future.at.is_some(), "{future:?}");
    }
}

#[test]
fn futures_are_counted_by_state() {
    for level in LEVELS {
        let snapshot = run(level, "tasks", At::Exit);
        let s = &snapshot;
        let states = variants(s, "{async fn task}");
        assert_eq!(states.iter().map(|state| state.1).collect::<Vec<_>>(), [10, 30], "{states:?}");
        assert!(states.iter().all(|state| state.0.contains("truth.rs:")), "{states:?}");
        let tasks = row(s, "Server.tasks []");
        assert_eq!((tasks.1, tasks.2), ("{async fn task}", 40));
        assert_eq!(row(s, "{async fn task}.held"), ("Vec<u64>", "u64", 10, 10 * 128, Some(160), 160));
    }
}

#[test]
fn leaks_are_reported_by_type_and_call_site() {
    for level in LEVELS {
        check_leaks(&run(level, "leak", At::Exit));
    }
}

fn check_leaks(snapshot: &json::Snapshot) {
    let leaked = snapshot.blocks.iter().find(|row| row.content == "Box<u32>").expect("the leak");
    assert_eq!((leaked.owner.as_str(), leaked.blocks, leaked.bytes), ("(stack)", 10_000, 40_000));
    assert!(leaked.sites[0].at.as_deref().is_some_and(|at| at.contains("truth.rs:")), "{leaked:?}");
    // The `Vec` itself was on a stack frame that is gone, so the length is unknown and only the capacity is reported.
    let unknown = snapshot.blocks.iter().find(|row| row.content == "Vec<String>").expect("the vector");
    assert_eq!((unknown.len, unknown.capacity), (None, 3));
    // Only the root of a leaked tree has no owner.
    let tree: Vec<_> = snapshot.blocks.iter().filter(|row| row.content == "BTreeMap<u16, Box<u16>>").collect();
    let [nodes, root] = tree.as_slice() else { panic!("{tree:#?}") };
    assert_eq!((nodes.owner.as_str(), root.owner.as_str(), root.blocks), ("BTreeMap<u16, Box<u16>>", "(stack)", 1));
    assert_eq!(nodes.len.zip(root.len).map(|(nodes, root)| nodes + root), Some(500));
    assert_eq!(row(snapshot, "BTreeMap<u16, Box<u16>> value").2, 500);
}

#[test]
fn merged_functions_do_not_mix_types() {
    for level in LEVELS {
        let snapshot = run(level, "merged", At::Exit);
        let sizes = |content: &str| {
            let roots = snapshot.blocks.iter().filter(|row| row.owner == "(stack)" && row.content == content);
            roots.map(|row| (row.blocks, row.bytes)).collect::<Vec<_>>()
        };
        for content in ["Vec<u64>", "Vec<f64>", "Vec<Box<u16>>", "VecDeque<u64>", "VecDeque<f64>"] {
            assert_eq!(sizes(content), [(1, 1024)], "{content} at level {level} of {:#?}", snapshot.blocks);
        }
        for content in ["BTreeMap<u64, [u64; 3]>", "BTreeMap<u64, String>"] {
            assert_eq!(sizes(content).len(), 1, "{content} at level {level} of {:#?}", snapshot.blocks);
        }
    }
}

#[test]
fn raw_pointers_are_weak_owners() {
    for level in LEVELS {
        let snapshot = run(level, "pointers", At::Exit);
        let links = row(&snapshot, "Link.next");
        assert_eq!((links.1, links.2), ("Link", 100));
        assert_eq!(owned(&snapshot, "Link.next")[0].by, "weak");
        assert_eq!(row(&snapshot, "Link.text").2, 101);
        // An opaque C type.
        let open = snapshot.blocks.iter().find(|row| row.content == "*DIR");
        let open = open.unwrap_or_else(|| panic!("{:#?}", snapshot.blocks));
        assert_eq!((open.by.as_str(), open.element.as_str(), open.blocks), ("weak", "DIR", 1), "{open:?}");
    }
}

#[test]
fn allocations_of_ended_threads_are_counted() {
    for level in LEVELS {
        let snapshot = run(level, "threads", At::Exit);
        let numbers = row(&snapshot, "Vec<Box<u64>> []");
        assert_eq!((numbers.0, numbers.2), ("Box<u64>", 406));
    }
}

#[test]
fn live_local_variables_are_found() {
    for level in LEVELS {
        let snapshot = run(level, "local", At::Peak);
        let members = snapshot.blocks.iter().find(|row| row.content == "Vec<Member>").expect("the vector");
        assert_eq!((members.len, members.capacity), (Some(1000), 1024), "at level {level}");
        assert_eq!(field(&snapshot, "Member", "opt"), (1000, vec![("None", 990), ("Some", 10)]));
        assert!(snapshot.findings.iter().any(|finding| finding.location == "Member.opt"), "{:#?}", snapshot.findings);
    }
}

#[path = "census_types/advice_tests.rs"]
mod advice_tests;

#[path = "census_types/cases_tests.rs"]
mod cases_tests;

#[path = "census_types/idle_tests.rs"]
mod idle_tests;

#[path = "census_types/held_tests.rs"]
mod held_tests;

fn rooted(level: &str) -> json::Snapshot {
    run_exe(built("roots.rs", level), "", At::Peak)
}

#[test]
fn names_are_the_same_without_the_workspace() {
    let executable = built("roots.rs", "2");
    let options = Options { at: vec![At::Peak], cache: Some(folder()), ..Options::default() };
    let mut run = snapshots(&executable, &[], &options).expect("it runs");
    let mut read_with = |own_crates: Vec<String>| {
        let ran = Ran { executable: executable.clone(), own_crates, ..Ran::default() };
        census(&ran, &mut run.snapshots).expect("it is read").snapshots.remove(0)
    };
    let snapshot = read_with(Vec::new());
    assert_eq!(owned(&snapshot, "Node.bytes").len(), 1, "{:#?}", snapshot.blocks);
    assert_eq!(snapshot.blocks, read_with(vec!["truth".into()]).blocks);
}

#[test]
fn variables_of_all_threads_own_their_blocks() {
    for level in LEVELS {
        let s = rooted(level);
        let local = |name: &str, function: &str| format!("(local {name} of truth::{function})");
        assert_eq!(row(&s, &local("items", "lists")), ("Vec<Item>", "Item", 1, 48_000, Some(1000), 1000), "{level}");
        assert_eq!(row(&s, &local("queue", "lists")), ("VecDeque<u64>", "u64", 1, 4000, Some(500), 500));
        assert_eq!(row(&s, &local("heap", "lists")), ("BinaryHeap<u16>", "u16", 1, 400, Some(200), 200));
        assert_eq!(row(&s, &local("list", "lists")).2, 50);
        assert_eq!(row(&s, &local("text", "lists")).0, "String");
        assert_eq!(row(&s, &local("hashed", "maps")).4, Some(3000));
        assert_eq!(row(&s, &local("set", "maps")).4, Some(900));
        assert_eq!(row(&s, &local("tree", "maps")).4, Some(700));
        assert_eq!(row(&s, &format!("{} value", local("tree", "maps"))).2, 700);
        assert_eq!(row(&s, &local("ordered", "maps")).4, Some(400));
        assert_eq!(row(&s, &local("boxed", "pointers")).0, "Box<dyn Fn(usize) -> usize>");
        // A ring has its owner outside.
        assert_eq!(owned(&s, "Node.bytes")[0].blocks, 2);
        assert!(!s.blocks.iter().any(|row| row.by == "cycle" && row.content.contains("Rc<Node>")), "{:#?}", s.blocks);
        // The caller's copy of the session is stale: its `Vec` had 100 items.
        assert_eq!(row(&s, "Session.items"), ("Vec<Item>", "Item", 1, 38_400, Some(800), 800));
        assert_eq!(row(&s, "Session.by_name value").2, 60);
        let owners = |content: &str| -> Vec<_> {
            let rows = s.blocks.iter().filter(|row| row.content == content);
            rows.map(|row| (row.by.as_str(), row.len, row.blocks)).collect()
        };
        assert_eq!(owners("Vec<[u32; 32]>"), [("local", Some(64), 1)]);
        // It was dropped.
        assert_eq!(owners("Vec<[u64; 16]>"), []);
        assert!(s.owned_bytes * 1000 > s.live_bytes * 985, "{} of {}", s.owned_bytes, s.live_bytes);
    }
}

#[test]
fn split_debug_info_has_types_and_functions() {
    for split in ["packed", "unpacked"] {
        let name = format!("truth-{split}");
        let cfg = format!(" -Csplit-debuginfo={split}");
        let Some(executable) = with_crates(&name, "roots.rs", "", &cfg, true) else { return };
        let s = run_exe(executable.clone(), "", At::Peak);
        assert_eq!(row(&s, "(local items of truth::lists)").4, Some(1000), "{split}");
        assert!(s.owned_bytes * 1000 > s.live_bytes * 985, "{split}: {} of {}", s.owned_bytes, s.live_bytes);
    }
}

/// Blocks that C allocated have the nearest line of the program.
#[test]
fn blocks_of_c_code_are_shown_at_the_program() {
    for level in LEVELS {
        let s = rooted(level);
        let at = |content: &str| {
            let rows = s.blocks.iter().filter(|row| row.content == content).flat_map(|row| &row.sites);
            rows.filter_map(|site| Some((site.at.clone()?, site.bytes))).collect::<Vec<_>>()
        };
        let of_c = at("block of C code");
        assert!(of_c.iter().any(|(at, bytes)| at.contains("roots.rs:") && *bytes == 40 * 300), "{level}: {of_c:?}");
    }
}

#[test]
fn thread_local_variables_own_their_blocks() {
    for level in LEVELS {
        let s = rooted(level);
        let cache = &owned(&s, "(thread-local truth::CACHE)")[0];
        assert_eq!((cache.by.as_str(), cache.len), ("thread-local", Some(150)));
        assert_eq!(row(&s, "(thread-local truth::CACHE) value").2, 150);
        assert_eq!(row(&s, "(thread-local truth::BUFFER)").4, Some(250));
        let plain = &owned(&s, "(thread-local truth::PLAIN)")[0];
        assert_eq!((plain.by.as_str(), plain.bytes), ("weak", 1600));
    }
}

#[path = "census_types/data.rs"]
#[allow(clippy::all, clippy::pedantic, unreachable_pub, dropping_copy_types, reason = "code as in other programs")]
mod data;

#[test]
fn heap_bytes_equal_those_of_weigh() {
    let weight = dwell::weigh::tree(&data::plain()).weight;
    for level in LEVELS {
        let snapshot = run(level, "data", At::Exit);
        let of_plain = |owner: &str| {
            ["Plain.", "Member.", "Kind::", "Pair.", "Traits."].iter().any(|start| owner.starts_with(start))
        };
        let blocks = snapshot.blocks.iter().filter(|row| of_plain(&row.owner));
        let (bytes, number) = blocks.fold((0, 0), |sum, row| (sum.0 + row.bytes, sum.1 + row.blocks));
        assert_eq!((bytes, number), (weight.heap, weight.allocations), "at level {level}");
    }
}

#[test]
fn walk_over_damaged_memory_does_not_panic() {
    check_damaged(truth("2"), "data");
    if let Some(executable) = over_crates(false) {
        check_damaged(executable, "types");
    }
    if let Some(executable) = queues() {
        check_damaged(executable, "");
    }
    if let Some(executable) = idle_tests::program("") {
        check_damaged(executable.clone(), "thin");
        check_damaged(executable, "buffers");
    }
}

fn check_damaged(executable: PathBuf, mode: &str) {
    let copied = Copied::new(executable, mode, folder());
    let same = copied.check(&[], Moment::Exit);
    assert!(same.typed_bytes * 100 > copied.live_bytes() * 90, "nothing is damaged yet");
    let mut random = fastrand::Rng::with_seed(20);
    let cases = std::env::var("DWELL_TEST_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(10);
    for case in 0..cases {
        let bytes: Vec<u8> = (0..12 * random.usize(1..400)).map(|_| random.u8(..)).collect();
        let at = if case % 2 == 0 { Moment::Exit } else { Moment::Signal };
        copied.check(&changes(&copied, &bytes), at);
    }
}
