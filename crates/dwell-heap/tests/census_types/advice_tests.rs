//! What is proposed, and what must not be.

use super::*;

#[test]
fn findings_name_the_field_and_the_saving() {
    let snapshot = run("2", "data", At::Exit);
    let found = |location: &str, kind: &str| finding(&snapshot, kind, location);
    let opt = found("Member.opt", "box");
    assert_eq!((opt.count, opt.exact), (1000, true));
    // 1,024 slots shrink from 264 B to one word each, and ten values are boxed.
    assert_eq!(opt.saves, 1024 * (264 - 8) - 10 * 264);
    assert!(opt.at.as_deref().is_some_and(|at| at.contains("data.rs")), "{opt:?}");
    assert_eq!(found("Member.name", "intern").count, 1000);
    assert!(
        snapshot.findings.is_sorted_by_key(|finding| (finding.dependency.is_some(), std::cmp::Reverse(finding.saves)))
    );
}

#[test]
fn each_kind_of_waste_is_found() {
    for level in LEVELS {
        let snapshot = run(level, "waste", At::Exit);
        let found = |kind: &str, location: &str| {
            let advice = finding(&snapshot, kind, location);
            assert!(!advice.costs.is_empty() && !advice.why.is_empty() && !advice.how.is_empty(), "{advice:?}");
            (advice.count, advice.bytes, advice.saves)
        };
        // 200 empty queues with a capacity of 8 numbers.
        assert_eq!(found("empty", "Waste.hollow []"), (200, 200 * 32, 200 * 32));
        // A block of 24 bytes takes 32 in glibc, 8 of which are its own.
        assert_eq!(found("slab", "Waste.points []"), (2000, 2000 * 24, 2000 * 8));
        // 500 arrays of 256 B, 5 of them distinct; each of these gets two reference counts. Those that are all zero may be
        // buffers that nothing was written to.
        assert_eq!(found("duplicate", "Waste.profiles []"), (400, 400 * 256, 396 * 256 - 4 * 16));
        assert_eq!(found("duplicate", "Waste.settings []"), (300, 300 * 16, 297 * 16 - 3 * 16));
        assert_eq!(found("unshared", "Waste.settings []"), (300, 300 * 32, 300 * 16));
        // 24 B in declaration order (`repr(C)`), 16 B in the compiler's order.
        assert_eq!(found("reorder", "Ordered").2, 1000 * 8);
        // An `Option<u64>` that is never zero: 24 B become 16.
        assert_eq!(found("niche", "Mark.when"), (500, 1000 * 8, 1000 * 8));
        // -3 to 3 in an `i64`, beside a `u32`: 32 B become 24. An id may have any number.
        assert_eq!(found("narrow", "Reading.level"), (1000, 1000 * 8, 1000 * 8));
        let narrow = finding(&snapshot, "narrow", "Reading.level");
        assert_eq!((narrow.how.as_str(), narrow.exact), ("i8; check the range", false));
        // A `bool` beside a `u64`.
        assert_eq!(found("padding", "Flagged"), (20_000, 320_000, 140_000));
        // Boxing two fields saves more than boxing the struct that holds them. The latter is found as well: 232 B
        // become 8, and half of the structs are boxed.
        assert_eq!(found("box", "first, second of Extra").2, 300 * 2 * (104 - 8) - 12 * 96);
        let whole = finding(&snapshot, "sparse", "Entry.extra");
        assert_eq!(whole.instead_of, ["Extra.first", "Extra.second"]);
        assert_eq!((whole.saves, whole.exact), (300 * (232 - 8) - 150 * 232, true));
        // A block for a string of 10 bytes takes 32 in glibc, 8 of which are its own.
        assert_eq!(found("short", "Vec<String> []"), (2000, 20_000, 20_000));
        assert_eq!(found("rounding", "Vec<String> []"), (2000, 20_000, 2000 * 22));
    }
}

#[test]
fn rare_variants_small_maps_and_small_objects_are_found() {
    for level in LEVELS {
        let snapshot = run(level, "more", At::Exit);
        let found = |kind: &str, location: &str| {
            let advice = finding(&snapshot, kind, location);
            assert!(
                !advice.costs.is_empty() && !advice.why.is_empty() && !advice.how.is_empty() && advice.at.is_some(),
                "{advice:?}"
            );
            (advice.count, advice.bytes, advice.saves)
        };
        // 136 B become 16, and ten values have a block.
        assert_eq!(found("variant", "Choice::Large"), (1000, 136_000, 1000 * (136 - 16) - 10 * 128));
        // A map of 48 B with four buckets of 16 B and their control bytes; a sorted map of 8 B with a length and two entries.
        let table = 4 * (16 + 1) + GROUP;
        assert_eq!(found("sorted", "More.maps []"), (400, 400 * (48 + table), 400 * (48 - 8 + table - 40)));
        assert_eq!(found("shrink", "More.queues []"), (300, 300 * 512, 300 * (512 - 64)));
        // A capacity of 100: such texts may still grow.
        assert_eq!(found("shrink", "More.texts []"), (500, 500 * 100, 500 * (100 - 30)));
        // 24 B and a block of 30 bytes; then 8 B, and a block with a byte for the length.
        assert_eq!(found("thin", "More.complete []"), (500, 500 * 54, 500 * (24 - 8 - 1)));
        // Nine of ten values fit in one word.
        assert_eq!(found("inline", "More.areas []"), (900, 900 * 8 + 100 * 32, 900 * 8));
    }
}

#[test]
fn nothing_is_proposed_without_evidence() {
    for level in LEVELS {
        let snapshot = run(level, "advice", At::Exit);
        let all: Vec<_> = snapshot
            .findings
            .iter()
            .flat_map(|finding| std::iter::once(finding).chain(&finding.alternatives))
            .collect();
        let kinds = |location: &str| -> Vec<&str> {
            all.iter()
                .filter(|finding| finding.fields.iter().any(|field| field == location))
                .map(|finding| &*finding.kind)
                .collect()
        };
        // Counters, ids, times, sizes and money may grow, whatever their values are now.
        for field in ["seq", "balance_cents", "user_id", "created", "size"] {
            assert_eq!(kinds(&format!("Session.{field}")), [""; 0], "{field}");
        }
        // A buffer with spare capacity may still grow, and a growing one cannot be shared.
        assert_eq!(kinds("Session.buffer"), ["shrink"]);
        assert_eq!(kinds("Advice.growing"), [""; 0], "one list that is more than half full");
        // Scratch is no value, whether it is full, or equal to that of others.
        let is_scratch = |finding: &&&json::Finding| {
            ["Advice.readers", "Advice.writers", "Advice.lines"].iter().any(|start| finding.location.starts_with(start))
        };
        assert_eq!(all.iter().find(is_scratch), None);
        assert!(all.iter().all(|finding| finding.saves >= 64), "{all:#?}");
        // Without its box, the payload would enlarge every value.
        let slab = finding(&snapshot, "slab", "Value::Map.0");
        assert!(slab.of_allocator && !slab.how.contains("without boxes"), "{slab:?}");
    }
}
