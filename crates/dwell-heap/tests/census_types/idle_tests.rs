//! Memory that is used for nothing: nodes, fields, locks, tasks, buffers.

use super::*;

/// The program `idle`, or `None` if cargo has not downloaded its crates.
pub(super) fn program(flags: &str) -> Option<PathBuf> {
    let dependencies = r#"bytes = "1"
thin-vec = "0.2"
tokio = { version = "1", default-features = false, features = ["rt"] }
"#;
    let name = if flags.is_empty() { "idle" } else { "idle-bare" };
    with_crates(name, "idle.rs", dependencies, flags, true)
}

fn idle(mode: &str, flags: &str) -> Option<json::Snapshot> {
    Some(run_exe(program(flags)?, mode, At::Exit))
}

fn has(s: &json::Snapshot, kind: &str, location: &str) -> bool {
    s.findings.iter().any(|finding| finding.kind == kind && finding.location == location)
}

#[test]
fn nodes_that_were_filled_in_order_are_half_empty() {
    let Some(s) = idle("trees", "") else { return };
    let tree = row(&s, "Trees.ordered");
    let (bytes, len, slots) = (tree.3, tree.4.expect("a length"), tree.5);
    assert_eq!(len, 50_000);
    let nodes = finding(&s, "nodes", "Trees.ordered");
    assert_eq!((nodes.count, nodes.bytes, nodes.saves), (tree.2, bytes, bytes * (slots - len) / slots));
    // Keys in no order fill two thirds of the nodes, and `collect` fills all.
    assert!(!has(&s, "nodes", "Trees.mixed") && !has(&s, "nodes", "Trees.set"), "{:#?}", s.findings);
    // What the change saves.
    let Some(after) = idle("collected", "") else { return };
    let saved = bytes - row(&after, "Trees.ordered").3;
    assert!(nodes.saves.abs_diff(saved) * 100 < saved * 3, "{} for {saved}", nodes.saves);
}

#[test]
fn fields_that_are_always_none_are_found() {
    let Some(s) = idle("absent", "") else { return };
    assert_eq!(field(&s, "Row", "total").0, 20_010);
    let advice = finding(&s, "constant", "total, code of Row");
    // 16 bytes and 8 of 48.
    assert_eq!((advice.count, advice.bytes, advice.saves), (20_010, 20_010 * 24, 20_010 * 24), "{advice:?}");
    assert!(!advice.fields.iter().any(|field| field == "Row.seldom") && advice.dependency.is_none(), "{advice:?}");
}

#[test]
fn locks_that_only_the_map_holds_are_found() {
    let Some(s) = idle("locks", "") else { return };
    let advice = finding(&s, "idle", "Locks.by_key value");
    assert_eq!((advice.count, advice.bytes), (990, row(&s, "Locks.by_key value").3), "{advice:?}");
    assert_eq!(advice.saves, advice.bytes * 990 / 1000);
    assert!(!has(&s, "idle", "Locks.sessions value"), "{:#?}", s.findings);
}

/// Also without frame pointers, where no call stack tells a type.
#[test]
fn thin_vectors_and_drained_buffers_have_owners() {
    for flags in ["", " -Cforce-frame-pointers=no"] {
        let Some(s) = idle("thin", flags) else { return };
        // A header of 16 bytes and 8 numbers; lists of 0 to 3 numbers.
        assert_eq!(row(&s, "Thin.lists []"), ("ThinVec<u32>", "u32", 100, 100 * 48, Some(150), 800), "{flags}");
        assert_eq!(row(&s, "Thin.texts"), ("ThinVec<String>", "String", 1, 16 + 50 * 24, Some(40), 50), "{flags}");
        assert_eq!(row(&s, "Thin.texts []").2, 40, "{flags}");
        // The elements begin at a multiple of 32.
        let wide = row(&s, "Thin.wide");
        assert_eq!((wide.2, wide.3, wide.4), (1, 32 + wide.5 * 32, Some(10)), "{flags}");
        let Some(s) = idle("buffers", flags) else { return };
        // What was split off is dropped; the counted block has the whole buffer.
        assert_eq!((row(&s, "Buffers.split []").2, row(&s, "Buffers.split []").3), (20, 20 * 40), "{flags}");
        let split = row(&s, "bytes_mut::Shared.vec");
        assert_eq!((split.1, split.2, split.3), ("u8", 20, 20 * 2048), "{flags}");
        let advanced = row(&s, "Buffers.advanced []");
        assert_eq!((advanced.1, advanced.2, advanced.3, advanced.4), ("u8", 30, 30 * 2048, Some(0)), "{flags}");
        assert!(s.owned_bytes * 100 >= s.live_bytes * 95, "{flags}: {:#?}", s.blocks);
    }
}

#[test]
fn tasks_that_have_ended_are_found() {
    let Some(s) = idle("joined", "") else { return };
    let advice = s.findings.iter().find(|finding| finding.kind == "finished").unwrap_or_else(|| {
        let rows: Vec<_> = s.blocks.iter().map(|row| (&row.owner, &row.content, row.blocks)).collect();
        panic!("{rows:?} {:?}", s.enums)
    });
    let tasks = s.blocks.iter().find(|row| row.by == "task").expect("tasks");
    assert_eq!((advice.count, advice.saves, &advice.location), (300, tasks.bytes, &tasks.content), "{advice:?}");
}
