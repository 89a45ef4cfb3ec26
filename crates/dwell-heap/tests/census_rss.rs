//! The parts of the resident memory of programs whose parts are known.
#![cfg(agent)]

mod support;

use dwell_heap::json::{Remedy, Rss, Snapshot};
use dwell_heap::run::{At, Options, snapshots};
use dwell_heap::{Ran, census};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};
use support::truth::{Truth, tests_jemalloc};

const MIB: u64 = 1 << 20;

const TRUTH: Truth = Truth("census_rss");

fn folder() -> PathBuf {
    TRUTH.folder()
}

fn truth() -> &'static Path {
    static BUILT: OnceLock<PathBuf> = OnceLock::new();
    BUILT.get_or_init(|| TRUTH.build())
}

fn number(file: &Path) -> u64 {
    fs::read_to_string(file).expect("the program wrote it").trim().parse().expect("a number")
}

#[track_caller]
fn near(found: u64, truth: u64, percent: u64) {
    assert!(found.abs_diff(truth) * 100 <= truth * percent, "{found} is not within {percent} % of {truth}");
}

/// Runs the program and returns its parts, which are checked to add up to the resident memory that it found itself.
#[track_caller]
fn run(exe: &Path, mode: &str, at: At) -> Rss {
    snapshot(exe, mode, at).rss.expect("the parts")
}

/// See [`run`].
#[track_caller]
fn snapshot(exe: &Path, mode: &str, at: At) -> Snapshot {
    static RUNS: AtomicU32 = AtomicU32::new(0);
    let own = folder().join(format!("run{}", RUNS.fetch_add(1, Ordering::Relaxed)));
    fs::create_dir_all(&own).expect("a folder");
    let file = own.join("out.txt");
    let options = Options { at: vec![at], cache: Some(folder()), ..Options::default() };
    let mut run = snapshots(exe, &[mode.into(), file.clone().into()], &options).expect("it runs");
    assert_eq!((run.code, &run.notes), (0, &Vec::new()));
    let ran = Ran { executable: exe.to_owned(), own_crates: vec!["truth".to_owned()], ..Ran::default() };
    let mut document = census(&ran, &mut run.snapshots).expect("it is read");
    let snapshot = document.snapshots.pop().expect("a snapshot");
    let rss = snapshot.rss.as_ref().expect("the parts");
    let of_heap = [rss.live, rss.rounding, rss.cached, rss.arenas, rss.free_pages, rss.fragmented];
    let sum: u64 = of_heap.iter().chain(&[rss.mapped, rss.stacks, rss.files, rss.program]).sum();
    near(sum, rss.bytes, 1);
    assert_eq!(rss.live + rss.untouched, snapshot.live_bytes);
    if at == At::Exit {
        // Between its own look and its end the program touched up to 24 pages more.
        near(rss.bytes + rss.census, number(&file), 4);
    }
    snapshot
}

fn remedy<'r>(rss: &'r Rss, kind: &str) -> &'r Remedy {
    rss.remedies
        .iter()
        .find(|remedy| remedy.kind == kind)
        .unwrap_or_else(|| panic!("{kind} is not among {:#?}", rss.remedies))
}

#[test]
fn survivors_of_a_burst_keep_its_pages() {
    let snapshot = snapshot(truth(), "fragments", At::Exit);
    let rss = snapshot.rss.as_ref().expect("the parts");
    // 10,000 of 200,000 sessions, with one on nearly each page.
    // The list keeps the buffer of the burst's.
    near(rss.live, 10_000 * 208 + 200_000 * 8, 2);
    assert!(rss.fragmented > 35 * MIB && rss.free_pages < 8 * MIB, "{rss:#?}");
    let first = &rss.survivors[0];
    assert_eq!((&*first.owner, &*first.content, first.blocks), ("Table.open []", "Box<Session>", 10_000), "{rss:#?}");
    assert!(first.at.contains("truth.rs"), "{first:?}");
    // Chunks of 224 bytes: 18.3 on a page, and every twentieth is kept.
    near(first.pages, 10_300, 5);
    // All free pages: those between the survivors, and those that `malloc_trim` gives back now.
    let trim = rss.remedies.iter().find(|remedy| remedy.kind == "trim").map_or(0, |remedy| remedy.returns);
    near(remedy(rss, "apart").returns, first.returns + trim, 4);
    // The list is mapped separately, so its capacity is RSS too, while smaller sessions free no page.
    let spare = snapshot.findings.iter().find(|finding| finding.kind == "shrink").expect("spare capacity");
    assert_eq!((&*spare.location, spare.saves), ("Table.open", 190_000 * 8));
    near(spare.rss.expect("its pages"), spare.saves, 2);
    near(remedy(rss, "capacity").returns, spare.saves, 2);
    assert!(snapshot.findings.iter().all(|finding| finding.kind == "shrink" || finding.rss.is_none_or(|rss| rss == 0)));
    near(first.returns, first.alone * 4096 - 10_000 * 224, 1);
}

#[test]
fn malloc_trim_returns_the_predicted_bytes() {
    let rss = run(truth(), "holes", At::Exit);
    let file = folder().join("trimmed.txt");
    let output = Command::new(truth()).arg("trimmed").arg(&file).output().expect("it runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let returned = number(&file);
    assert!(returned > 30 * MIB, "{returned}");
    near(remedy(&rss, "trim").returns, returned, 10);
}

#[test]
fn parts_are_divided() {
    let rss = run(truth(), "parts", At::Exit);
    near(rss.mapped, 12 * MIB, 2);
    near(rss.files, 8 * MIB, 2);
    near(rss.largest_files[0].1, 8 * MIB, 2);
    // `map` is called for the anonymous memory and for the file, whose pages are no part of this.
    let [(place, bytes)] = &rss.largest_mapped[..] else { panic!("{rss:#?}") };
    assert!(place.contains("truth.rs"), "{rss:#?}");
    near(*bytes, 12 * MIB, 1);
    // Each frame has the array once or twice.
    assert!((6 * MIB..14 * MIB).contains(&rss.stacks), "{rss:#?}");
    // Capacity that was never touched, and zeros that were never written.
    near(rss.untouched, 48 * MIB, 1);
    near(rss.live, 10 * MIB, 2);
    assert!(rss.survivors.is_empty(), "{rss:#?}");
}

#[test]
fn moved_mappings_keep_the_place_that_made_them() {
    let rss = run(truth(), "remapped", At::Exit);
    near(rss.mapped, 6 * MIB, 4);
    let [(place, bytes)] = &rss.largest_mapped[..] else { panic!("{rss:#?}") };
    assert!(place.contains("truth.rs"), "{rss:#?}");
    near(*bytes, 6 * MIB, 1);
}

#[test]
fn parts_at_the_peak_include_files() {
    // The copy for the peak is made while the vector of the burst exists.
    let rss = run(truth(), "fragments", At::Peak);
    assert!(rss.live > 38 * MIB && rss.program > MIB / 2 && rss.fragmented < 2 * MIB, "{rss:#?}");
}

#[test]
fn stacks_are_listed_by_the_names_of_threads() {
    let rss = run(truth(), "named", At::Peak);
    let Some((name, 2, bytes)) = rss.largest_stacks.first() else { panic!("{rss:#?}") };
    assert_eq!(name, "deep");
    assert!((12 * MIB..rss.stacks + 1).contains(bytes), "{rss:#?}");
}

#[test]
fn free_pages_of_arenas_are_found() {
    let rss = run(truth(), "arenas", At::Exit);
    assert!(rss.arenas > 10 * MIB && rss.free_pages < MIB, "{rss:#?}");
    near(rss.mapped + MIB, MIB, 30);
}

#[test]
fn caches_of_threads_are_a_part() {
    let rss = run(truth(), "cached", At::Exit);
    let of_thread: u64 = (0..64).map(|class| 7 * (32 + 16 * class)).sum();
    near(rss.cached, 4 * of_thread, 10);
}

fn over(allocator: &str) {
    let Some(exe) = TRUTH.over(allocator, true, false) else { return };
    let rss = run(&exe, "fragments", At::Exit);
    assert_eq!((&*rss.survivors[0].owner, rss.survivors[0].blocks), ("Table.open []", 10_000), "{rss:#?}");
    assert!(rss.fragmented > 30 * MIB, "{rss:#?}");
    // 208 bytes take 224, the list has the size of a class.
    near(rss.rounding, 10_000 * 16, 40);
    assert!(rss.remedies.iter().all(|remedy| remedy.kind != "trim"), "{rss:#?}");
    let rss = run(&exe, "parts", At::Exit);
    near(rss.files, 8 * MIB, 2);
    assert!((6 * MIB..14 * MIB).contains(&rss.stacks) && rss.mapped >= 12 * MIB, "{rss:#?}");
}

#[test]
fn parts_over_mimalloc() {
    over("mimalloc");
}

#[test]
fn parts_over_jemalloc() {
    if tests_jemalloc() {
        over("jemalloc");
    }
}
