//! Values that are hard to find: copies while a map grows, what futures hold, unions, trait objects, skip lists, tasks.

use super::*;
use std::fs;

fn case(level: &str, mode: &str, at: At) -> json::Snapshot {
    run_exe(built("cases.rs", level), mode, at)
}

/// The peak of the program is at the moment when the table was copied, and the old one is not freed yet.
#[test]
fn map_that_grows_counts_once() {
    for level in LEVELS {
        for (mode, owner) in [("field", "Shelf.items"), ("local", "(local items of truth::main)")] {
            let s = case(level, mode, At::Peak);
            let rows = owned(&s, owner);
            let find = |is_copy: bool| {
                let mut found = rows.iter().filter(|row| row.content.ends_with(", which grows") == is_copy);
                found.next().unwrap_or_else(|| panic!("{is_copy} at {level}: {:#?}", s.blocks))
            };
            let (map, copy) = (find(false), find(true));
            assert_eq!((map.blocks, map.len, map.capacity), (1, Some(896), 2048), "{mode} at {level}");
            assert_eq!((copy.blocks, copy.len, copy.unused_bytes), (1, Some(0), copy.bytes), "{mode} at {level}");
            // The entry that makes the table grow is not in it yet.
            assert!((896..=897).contains(&field(&s, "Item", "seldom").0), "{mode} at {level}");
            assert!(s.findings.iter().all(|finding| finding.kind != "shrink"), "{:#?}", s.findings);
            assert_eq!(finding(&s, "box", "Item.seldom").count, field(&s, "Item", "seldom").0);
            // With the capacity from the start, there is no old table.
            let growth = finding(&s, "growth", owner);
            assert_eq!((growth.count, growth.bytes), (1, map.bytes + copy.bytes), "{growth:?}");
            assert!(growth.saves <= copy.bytes && growth.saves > 0, "{growth:?}");
        }
    }
}

#[test]
fn variant_without_values_keeps_its_size() {
    for level in LEVELS {
        let s = case(level, "variants", At::Exit);
        let note = finding(&s, "box", "Piece.note");
        // The enum is as large as `Two`, which gets smaller with its pieces: 224 B become 40. 20 notes are boxed.
        assert_eq!(
            (note.count, note.saves, note.exact),
            (1000, 1000 * (224 - 40) - 20 * 96, true),
            "{note:?} at {level}"
        );
    }
}

#[test]
fn collections_in_futures_that_wait_are_decoded() {
    for level in LEVELS {
        let s = case(level, "futures", At::Exit);
        let counts = |name: &str| {
            let rows = owned(&s, name);
            let [row] = rows.as_slice() else { panic!("{name} at {level}: {rows:?} of {:#?}", s.blocks) };
            (&*row.content, row.blocks, row.len)
        };
        assert_eq!(counts("{async fn waits}.queue"), ("VecDeque<String>", 20, Some(20 * 9)));
        assert_eq!(counts("{async fn waits}.queue []"), ("String", 20 * 9, Some(20 * 9 * 14)));
        assert_eq!(counts("{async fn waits}.tree"), ("BTreeMap<u64, String>", 20, Some(20 * 3)));
        assert_eq!(counts("{async fn waits}.list"), ("LinkedList<[u64; 4]>", 40, Some(40)));
        let messages = s.blocks.iter().filter(|row| row.element == "[u8; 48]" && row.by == "field");
        assert_eq!(messages.map(|row| row.blocks).sum::<u64>(), 100, "at {level}: {:#?}", s.blocks);
        assert!(s.owned_bytes * 100 >= s.live_bytes * 95, "{} of {}: {:#?}", s.owned_bytes, s.live_bytes, s.blocks);
    }
}

#[test]
fn unions_and_buffers_of_words_are_searched_for_headers() {
    for level in LEVELS {
        let s = case(level, "buffers", At::Exit);
        let weak = |start: &str| {
            let found = s.blocks.iter().find(|row| row.owner.starts_with(start) && row.by == "weak");
            let row = found.unwrap_or_else(|| panic!("{start} at {level} of {:#?}", s.blocks));
            (&*row.content, row.blocks, row.len, row.capacity)
        };
        assert_eq!(weak("Erased.words"), ("Vec<u64>", 30, Some(30 * 5), 30 * 5));
        assert_eq!(weak("Buffers.either []"), ("Vec<u32>", 30, Some(30 * 6), 30 * 8));
    }
}

#[test]
fn vtables_beside_pointers_give_types() {
    for level in LEVELS {
        let s = case(level, "objects", At::Exit);
        let blocks =
            |element: &str| s.blocks.iter().filter(|row| row.element == element).map(|row| row.blocks).sum::<u64>();
        assert_eq!((blocks("Polygon"), blocks("[u8; 40]")), (25, 25), "at {level}: {:#?}", s.blocks);
        assert_eq!(row(&s, "Polygon.name").2, 25, "at {level}");
        // The pairs themselves have no type.
        let pairs = s.blocks.iter().find(|row| row.owner == "(allocated by truth::hidden)");
        assert_eq!(pairs.map(|row| (row.blocks, row.bytes)), Some((25, 400)), "at {level}: {:#?}", s.blocks);
    }
}

#[test]
fn entries_of_skip_lists_are_found() {
    let Some(executable) = with_crates("lists", "lists.rs", "crossbeam-skiplist = \"0.1\"\n", "", false) else {
        return;
    };
    let s = run_exe(executable, "", At::Exit);
    let map = row(&s, "Lists.map");
    assert_eq!((map.1, map.2, map.4), ("(u64, String)", 200, Some(200)), "{:#?}", s.blocks);
    assert_eq!(row(&s, "Lists.map value").4, Some(200 * 22));
    assert_eq!((row(&s, "Lists.set").2, row(&s, "Lists.set key").2), (70, 70));
}

#[test]
fn tasks_are_owners_and_show_their_future() {
    let Some(executable) = over_crates(false) else { return };
    let s = run_exe(executable, "tasks", At::Exit);
    let tasks: Vec<_> =
        s.blocks.iter().filter(|row| row.by == "task").map(|row| (&*row.content, &*row.owner, row.blocks)).collect();
    assert!(tasks.contains(&("task {async fn asleep}", "(task)", 30)), "{tasks:?}");
    assert!(tasks.contains(&("task {async fn listening}", "(task)", 10)), "{tasks:?}");
}

/// A service whose tasks fill one map: the variant that is rare, the texts, and who holds what.
#[test]
fn map_that_tasks_fill_has_the_right_findings() {
    let Some(executable) = over_crates(false) else { return };
    let s = run_exe(executable, "service", At::Exit);
    let trace = finding(&s, "box", "Outcome::Failed.trace");
    assert_eq!((trace.count, trace.dependency.as_deref()), (20, None));
    assert_eq!(field(&s, "Record", "outcome").0, 2000);
    let config = s.blocks.iter().find(|row| row.content == "Arc<Config>").expect("a row");
    let by: Vec<_> = config.shared_by.iter().map(|by| (&*by.owner, by.references)).collect();
    assert!(by.contains(&("Record.config", 2000)), "{by:?}");
    // What tokio holds is no finding of the program, and has no type to change.
    let own = s.findings.iter().filter(|finding| finding.dependency.is_none());
    let fields: Vec<&String> = own.flat_map(|finding| &finding.fields).collect();
    assert!(fields.iter().all(|field| !field.contains("tokio") && !field.contains("Inner.")), "{fields:?}");
}

/// A list in a variable of another crate's function is not the program's own.
#[test]
fn variables_of_other_crates_are_in_dependencies() {
    let lister = folder().join("lister");
    fs::create_dir_all(lister.join("src")).expect("a folder");
    let manifest = "[package]\nname = \"lister\"\nversion = \"0.0.0\"\nedition = \"2021\"\n\n[workspace]\n";
    fs::write(lister.join("Cargo.toml"), manifest).expect("a file");
    let library = "pub fn list(count: u64, then: impl FnOnce(&[[u64; 4]])) -> u64 {\n    \
                   let mut list: Vec<[u64; 4]> = Vec::with_capacity(3 * count as usize);\n    \
                   list.extend((0..count).map(|n| [n; 4]));\n    then(&list);\n    list.iter().map(|of| of[0]).sum()\n}\n";
    fs::write(lister.join("src/lib.rs"), library).expect("a file");
    let dependency = format!("lister = {{ path = \"{}\" }}\n", lister.display());
    let Some(executable) = with_crates("borrower", "borrower.rs", &dependency, "", false) else { return };
    let s = run_exe(executable, "", At::Peak);
    let list = s.blocks.iter().find(|row| row.bytes == 960_000).expect("a row");
    assert_eq!(list.owner, "(local list of lister::list)", "{:#?}", s.blocks);
    let found = s.findings.iter().find(|finding| finding.location == list.owner).expect("a finding");
    assert_eq!(found.dependency.as_deref(), Some("lister"), "{:#?}", s.findings);
    // The line of the unused capacity, and not the one that allocates twice as many bytes.
    let words = finding(&s, "shrink", "Keep.words");
    let line =
        include_str!("borrower.rs").lines().position(|line| line.contains("with_capacity(200)")).expect("a line");
    assert!(words.at.as_ref().is_some_and(|at| at.ends_with(&format!(":{}", line + 1))), "{words:#?}");
}
