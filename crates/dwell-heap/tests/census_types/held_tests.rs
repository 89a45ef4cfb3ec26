//! Who holds what: leaks, holders of shared values, what each owner keeps.

use super::*;

fn held(level: &str, mode: &str, at: At) -> json::Snapshot {
    run_exe(built("held.rs", level), mode, at)
}

#[test]
fn rings_without_an_outside_owner_are_leaks() {
    for level in LEVELS {
        let s = held(level, "rings", At::Exit);
        let leak = |location: &str| {
            let found = s.findings.iter().find(|finding| finding.kind == "leak" && finding.location == location);
            let leak = found.unwrap_or_else(|| panic!("{location} at {level} of {:#?}", s.findings));
            assert!(leak.exact && leak.at.as_deref().is_some_and(|at| at.contains("held.rs:")), "{leak:?}");
            (leak.count, leak.saves, leak.how.as_str())
        };
        // An `Rc` block has two counts; the text has 60 bytes.
        assert_eq!(leak("Own.me").0, 100);
        assert_eq!(leak("Own.me").1, 100 * (size_of::<(u64, u64, u64, Option<Box<u8>>, String)>() as u64 + 60));
        let parents = leak("Parent.kids -> Kid.parent");
        assert!(parents.0 == 100 && parents.2.starts_with("make Kid.parent a Weak"), "{parents:?}");
        assert_eq!(leak("Peer.peers").0, 100);
        assert_eq!(s.findings.iter().filter(|finding| finding.kind == "leak").count(), 4, "{:#?}", s.findings);
        // They come first, and nothing else is said about leaked values.
        assert!(s.findings.iter().take(4).all(|finding| finding.kind == "leak"), "{:#?}", s.findings);
        let others = s.findings.iter().skip(4).flat_map(|finding| &finding.fields);
        let is_leaked = |field: &&String| {
            ["Own.", "Parent.", "Kid.", "Peer.", "Widget."].iter().any(|start| field.starts_with(start))
        };
        assert_eq!(others.filter(is_leaked).count(), 0, "{:#?}", s.findings);
        let leaked: u64 = s.blocks.iter().map(|row| row.leaked_bytes).sum();
        assert_eq!(
            leaked,
            s.findings.iter().filter(|finding| finding.kind == "leak").map(|finding| finding.saves).sum::<u64>()
        );
        // All kids are found below their parents, whose lengths are known.
        assert_eq!(row(&s, "Parent.kids").4, Some(300));
        let good = s.blocks.iter().filter(|row| row.owner.starts_with("Good"));
        assert!(good.into_iter().all(|row| row.leaked_bytes == 0), "{:#?}", s.blocks);
    }
}

#[test]
fn rings_that_something_holds_are_no_leaks() {
    for level in LEVELS {
        let s = held(level, "kept", At::Peak);
        assert!(s.findings.iter().all(|finding| finding.kind != "leak"), "{:#?}", s.findings);
        assert_eq!(s.blocks.iter().map(|row| row.leaked_bytes).sum::<u64>(), 0, "{:#?}", s.blocks);
    }
}

#[test]
fn all_holders_of_shared_values_are_listed() {
    for level in LEVELS {
        let s = held(level, "tenants", At::Exit);
        let big = s.blocks.iter().find(|row| row.content == "Arc<Big>" && row.blocks == 250 && row.shared_by.len() > 1);
        let all: Vec<_> = s.blocks.iter().filter(|row| row.content == "Arc<Big>").collect();
        let rows: Vec<_> = all
            .iter()
            .map(|row| (row.blocks, row.shared_by.iter().map(|by| (&*by.owner, by.references)).collect::<Vec<_>>()))
            .collect();
        assert!(big.is_some() || all.len() == 1, "{rows:?}");
        let references = |owner: &str| -> u64 {
            all.iter().flat_map(|row| &row.shared_by).filter(|by| by.owner == owner).map(|by| by.references).sum()
        };
        assert_eq!(references("(static truth::SHARED) []"), 250, "{rows:?}");
        assert!(references("Audit.entry") >= 250, "{rows:?}");
        let plan = all_of(&s, "Arc<str>");
        assert_eq!(plan.shared_by, [], "one field alone holds it: {plan:?}");
    }
}

fn all_of<'s>(s: &'s json::Snapshot, content: &str) -> &'s Blocks {
    s.blocks.iter().find(|row| row.content == content).unwrap_or_else(|| panic!("{content} of {:#?}", s.blocks))
}

#[test]
fn what_each_owner_keeps_is_exact() {
    for level in LEVELS {
        let s = held(level, "tenants", At::Exit);
        let kept = |owner: &str| {
            let found = s.retained.iter().find(|row| row.owner == owner);
            found.unwrap_or_else(|| panic!("{owner} at {level} of {:#?}", s.retained))
        };
        let sum = |owners: &[&str]| {
            let is_it = |row: &&Blocks| owners.contains(&&*row.owner);
            s.blocks.iter().filter(is_it).map(|row| row.bytes).sum::<u64>()
        };
        let of_tenant = ["Tenant.docs", "Doc.body", "Tenant.index", "Tenant.index value"];
        let tenants = sum(&of_tenant) + sum(&["Cache.tenants", "Cache.tenants key", "Tenant.plan"]);
        // All tenants together keep the plan; no tenant keeps it alone.
        assert_eq!((kept("(static truth::CACHE)").bytes, kept("Cache.tenants").bytes), (tenants, tenants));
        assert_eq!(kept("Tenant.docs").bytes, sum(&of_tenant[..2]));
        assert_eq!(kept("Tenant.index").bytes, sum(&of_tenant[2..]));
        assert_eq!(kept("Tenant.plan").bytes, sum(&["Tenant.plan"]));
        let keys = &kept("Cache.tenants").keys;
        assert_eq!(keys[0].key, "\"tenant 42\"");
        let (docs, others) = (10_000 * (100 + 24 + 64), tenants - keys[0].bytes);
        assert!(keys[0].bytes > docs && keys[0].bytes < tenants && others < 400_000, "{keys:?} of {tenants}");
        assert_eq!(
            (&*kept("(static truth::NUMBERS)").keys[0].key, kept("(static truth::NUMBERS)").keys[0].bytes),
            ("3", 100_000)
        );
        // Half of the values are in the log alone; both keep the others together.
        let half = 250 * (size_of::<(u64, u64, Vec<u8>)>() as u64 + 1000);
        assert_eq!(kept("Audit.entry").bytes, half);
        let both = s.retained.iter().find(|row| row.by == "shared");
        let both = both.unwrap_or_else(|| panic!("{:#?}", s.retained));
        assert_eq!((&*both.owner, both.bytes), ("(static truth::SHARED) and Audit.entry", half));
    }
}

#[test]
fn values_moved_out_of_a_future_count_once() {
    for level in LEVELS {
        let s = held(level, "moved", At::Exit);
        let peers = s.blocks.iter().filter(|row| row.owner == "Conn.peer");
        assert_eq!(peers.map(|row| row.blocks).sum::<u64>(), 100, "{:#?}", s.blocks);
        assert_eq!(field(&s, "Conn", "peer").0, 100, "at level {level}");
        assert_eq!(variants(&s, "{async fn handle}").iter().map(|variant| variant.1).sum::<u64>(), 100);
    }
}

#[test]
fn edits_name_the_line_and_the_types() {
    let source = include_str!("held.rs");
    let line = |text: &str| {
        let number = source.lines().position(|line| line.contains(text)).expect("the line");
        u32::try_from(number + 1).unwrap()
    };
    for level in LEVELS {
        let s = held(level, "boxes", At::Exit);
        let edits = |kind: &str, location: &str| {
            let found = finding(&s, kind, location);
            let all = found.edits.iter().map(|edit| (&*edit.file, edit.line, &*edit.item, &*edit.from, &*edit.to));
            all.collect::<Vec<_>>()
        };
        let types = ("Option<[u64; 12]>", "Option<Box<[u64; 12]>>");
        let boxes = edits("box", "seldom, shared [] of truth::Boxed");
        let seldom = ("held.rs", line("pub seldom: Option<[u64; 12]>"), "truth::Boxed.seldom", types.0, types.1);
        assert_eq!((boxes[0], boxes.len()), (seldom, 2));
        // The type is on several lines, and keeps its comment.
        let shared = boxes[1];
        assert_eq!((shared.1, shared.2), (line("pub shared: Vec<"), "truth::Boxed.shared"));
        assert!(shared.3.starts_with("Vec<\n        // The type"), "{shared:?}");
        assert_eq!(shared.3.replace(types.0, types.1), shared.4);
        let maps = finding(&s, "sorted", "truth::Boxed.attrs");
        // A box of 24 bytes and a node of 11 entries each; the sorted map has a block with one entry.
        assert_eq!((maps.saves, &*maps.how), (2000 * (24 + 144 - 2 * 16), "SortedMap<u32, u64> without the box"));
        let types = ("Box<BTreeMap<u32, u64>>", "SortedMap<u32, u64>");
        let expected = ("held.rs", line("pub attrs"), "truth::Boxed.attrs", types.0, types.1);
        assert_eq!(edits("sorted", "truth::Boxed.attrs"), [expected]);
        assert_eq!(edits("intern", "truth::Boxed.code")[0].1, line("pub code: String"));
    }
}

/// The only document with this text, the largest list of documents, and the block at its address.
#[test]
fn chains_lead_from_a_root_to_a_block() {
    for level in LEVELS {
        let executable = built("held.rs", level);
        let options = Options { at: vec![At::Exit], cache: Some(folder()), ..Options::default() };
        let mut run = snapshots(&executable, &["tenants".into()], &options).expect("it runs");
        let mut answers = |path: &str, find: Option<&str>| {
            let find = find.map(|find| find.parse().expect("a field and a text"));
            let asked = Asked { path: Some(path.into()), find };
            let ran = Ran { executable: executable.clone(), own_crates: vec!["truth".into()], asked, ..Ran::default() };
            census(&ran, &mut run.snapshots).expect("it is read").snapshots.remove(0).paths
        };
        let paths = answers("Doc", Some("Doc.body contains 9999"));
        let [list, value] = &paths[..] else { panic!("{paths:#?}") };
        assert_eq!(list.root.as_deref(), Some("(static truth::CACHE)"), "{list:#?}");
        let steps: Vec<_> = list.steps.iter().map(|step| (&*step.owner, &*step.content)).collect();
        assert_eq!(steps, [("Cache.tenants", "HashMap<String, Tenant>"), ("Tenant.docs", "Vec<Doc>")]);
        let documents = &list.steps[1];
        assert_eq!(documents.bytes, 10_000 * 24);
        // The text is that of a document in this list.
        assert_eq!((&value.steps, value.root.as_ref()), (&list.steps, list.root.as_ref()));
        assert!(value.target.starts_with("Doc.body = \"0000"), "{value:?}");
        let at = answers(&format!("{:#x}", documents.address + 100), None);
        assert_eq!(at[0].steps, list.steps);
        // A type that is no block of its own: the map that has such values.
        assert_eq!(answers("Tenant", None)[0].steps, list.steps[..1]);
        assert_eq!(answers("0x10", Some("Doc.body is 9999")), []);
    }
}
