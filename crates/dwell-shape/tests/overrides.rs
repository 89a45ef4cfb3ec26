//! `cargo dwell shape --set`, `dwell.toml`, and the options that decide how types are written.

use std::fs;
use std::path::Path;
use std::process::Command;
use tempfile::TempDir;

/// Runs `cargo dwell shape` on `data.json` in a folder, and returns the types and standard error.
fn types(folder: &Path, arguments: &[&str]) -> (String, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_dwell-shape"));
    command.current_dir(folder).args(["shape", "data.json", "--force", "--rust", "types.rs", "--types", "std"]);
    let output = command.args(arguments).output().unwrap();
    let errors = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success(), "{arguments:?}: {errors}");
    (fs::read_to_string(folder.join("types.rs")).unwrap(), errors)
}

fn folder() -> TempDir {
    let dir = TempDir::new().unwrap();
    let line = |n: usize| {
        let level = ["low", "high", "none"][n % 3];
        format!(
            "{{\"users\":{{\"ann\":{{\"age\":{n}}},\"bob\":{{\"age\":{n}}}}},\"level\":\"{level}\",\"secret\":\"s{n}\"}}\n"
        )
    };
    fs::write(dir.path().join("data.json"), (0..90).map(line).collect::<String>()).unwrap();
    dir
}

#[test]
fn decisions_override_the_inference() {
    let dir = folder();
    let (plain, _) = types(dir.path(), &[]);
    for part in ["pub users: Users,", "pub ann: ", "pub enum Level {", "pub secret: "] {
        assert!(plain.contains(part), "{part}: {plain}");
    }
    let set = ["$.users=map", "$.level=string", "$.secret=skip", "$.users.*=Person"];
    let arguments: Vec<&str> = set.iter().flat_map(|one| ["--set", one]).collect();
    let (changed, errors) = types(dir.path(), &arguments);
    for part in ["pub users: HashMap<String, Person>,", "pub struct Person {", "pub level: Box<str>,"] {
        assert!(changed.contains(part), "{part}: {changed}");
    }
    assert!(!changed.contains("secret") && !changed.contains("Level"), "{changed}");
    assert_eq!(errors, "");
    // The same from `dwell.toml`, and the command line on top of it.
    let list = set[..3].iter().chain(&["$.nothing=enum"]).map(|one| format!("{one:?}")).collect::<Vec<_>>().join(", ");
    fs::write(dir.path().join("dwell.toml"), format!("[shape]\nset = [{list}]\n")).unwrap();
    let (configured, errors) = types(dir.path(), &["--set", "$.users.*=Person"]);
    assert_eq!(configured, changed);
    assert_eq!(errors, "note: dwell.toml: $.nothing: the types have nothing there\n");
}

#[test]
fn decisions_undo_each_other() {
    let dir = TempDir::new().unwrap();
    let rights = |n: usize, keys: &[&str]| {
        let all: Vec<String> = keys.iter().map(|key| format!("\"{key}\":\"{}\"", ["read", "write"][n % 2])).collect();
        format!("{{{}}}", all.join(","))
    };
    let line = |n: usize| {
        let (kind, keys) = [("circle", "\"r\":1,\"x\":2"), ("square", "\"w\":1,\"h\":2,\"d\":3")][n % 2];
        let note = if n.is_multiple_of(3) {
            ",\"note\":null"
        } else {
            ["", ",\"note\":\"n\"", "", "", ",\"note\":\"m\"", ""][n % 6]
        };
        let rights = rights(n, &["checks", "issues", "pages"]);
        format!(
            "{{\"shape\":{{\"form\":\"{kind}\",{keys}}},\"rights\":{rights},\"low\":{{\"at\":1.5,\"to\":{n}}},\"high\":{{\"at\":2.5,\
             \"to\":{n}}},\"free\":{{\"a\":{{\"b\":{n}}}}}{note}}}\n"
        )
    };
    fs::write(dir.path().join("data.json"), (0..200).map(line).collect::<String>()).unwrap();
    let set = |all: &[&str]| {
        let arguments: Vec<&str> = all.iter().flat_map(|one| ["--set", one]).collect();
        types(dir.path(), &arguments).0
    };
    let plain = set(&[]);
    for part in
        ["#[serde(tag = \"form\"", "pub note: Option<Option<", "pub low: LowOrHigh,\n", "pub high: LowOrHigh,\n"]
    {
        assert!(plain.contains(part), "{part}: {plain}");
    }
    for (decisions, parts, gone) in [
        (&["$.shape=struct"][..], &["pub shape: Shape,", "pub struct Shape {"][..], "tag ="),
        (&["$..shape=tag=form", "$.shape=struct", "$.shape=tag=form"], &["tag = \"form\""], "pub struct Shape {"),
        (
            &["$.low=Low", "$.high=High"],
            &["pub low: Low,", "pub high: High,", "pub struct High {"],
            "pub high: LowOrHigh,",
        ),
        (&["$..rights.*=Level"], &["pub checks: Level,", "pub issues: Level,", "pub pages: Level,"], "enum Right"),
        (&["$..rights.*=no-other", "$.shape=no-other", "$.note=no-other"], &["pub enum Right {"], "Other"),
        (&["$.note=null=missing"], &["pub note: Option<"], "Option<Option<"),
        (&["$.free=value"], &["pub free: serde_json::Value,"], "pub free: Free"),
        (&["$..b=skip"], &["pub struct Document {"], "pub b: "),
    ] {
        let changed = set(decisions);
        for part in parts {
            assert!(changed.contains(part), "{decisions:?}: {part}: {changed}");
        }
        assert!(!changed.contains(gone), "{decisions:?}: {gone}: {changed}");
    }
    for (decision, reason) in [
        ("$.none=map", "$.none: the types have nothing there"),
        ("$.low.at=map", "$.low.at: the values there are no objects"),
        ("$.low=tag=at", "$.low: not every object has a string of few under this key, or all have one string"),
        ("$.low.at=string", "$.low.at: the values there are no strings"),
        ("$.low.at=Low", "$.low.at: the values there have no type of their own"),
        ("$.low.at=no-other", "$.low.at: no enum there has a variant for other values"),
        ("$.low.at=null=missing", "$.low.at: no value there is null, or all are"),
    ] {
        let mut command = Command::new(env!("CARGO_BIN_EXE_dwell-shape"));
        let output = command.current_dir(dir.path()).args(["shape", "data.json", "--set", decision]).output().unwrap();
        assert_eq!(String::from_utf8_lossy(&output.stderr), format!("error: --set: {reason}\n"));
        assert_eq!(output.status.code(), Some(2));
    }
}

#[test]
fn decisions_of_a_run_keep_the_types() {
    let dir = folder();
    let first = types(dir.path(), &["--plain", "--set", "@sets.txt", "--set", "$.level=Level"]).0;
    let decisions = fs::read_to_string(dir.path().join("sets.txt")).unwrap();
    assert!(decisions.contains("\n$.users=struct\n") && decisions.contains("\n$.level=enum\n"), "{decisions}");
    // Many more users, which are data without the decisions.
    let users: Vec<String> = (0..80).map(|n| format!("\"u{n}\":{{\"age\":{n}}}")).collect();
    let line = format!("{{\"users\":{{{}}},\"level\":\"low\",\"secret\":\"s\"}}\n", users.join(","));
    let all = fs::read_to_string(dir.path().join("data.json")).unwrap();
    fs::write(dir.path().join("data.json"), all + &line).unwrap();
    assert!(types(dir.path(), &["--plain"]).0.contains("HashMap<"));
    let kept = types(dir.path(), &["--plain", "--set", "@sets.txt"]).0;
    assert!(kept.contains("pub users: Users,") && kept.contains("pub level: Level,"), "{kept}");
    assert!(first.contains("pub users: Users,"));
    fs::write(dir.path().join("sets.txt"), "# mine\n$.users=mapp\n").unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_dwell-shape"));
    let output = command.current_dir(dir.path()).args(["shape", "data.json", "--set", "@sets.txt"]).output().unwrap();
    assert!(String::from_utf8_lossy(&output.stderr).starts_with("error: sets.txt:2: "), "{output:?}");
}

#[test]
fn a_file_of_decisions_leads_to_the_same_types() {
    let dir = TempDir::new().unwrap();
    // A map in a map, a union by a tag with contents of their own, a list of two kinds, and texts without a type.
    let line = |n: usize| {
        let (kind, keys) = [("cat", "\"lives\":9,\"claws\":[1]"), ("dog", "\"walks\":{\"a\":1},\"bone\":true")][n % 2];
        let state = ["on", "off", "idle"][n % 3];
        let keys_of = |from: usize| {
            (from..from + 12).map(|k| format!("\"k{k}\":{{\"n\":{n},\"s\":\"{state}\"}}")).collect::<Vec<_>>().join(",")
        };
        format!(
            "{{\"pet\":{{\"kind\":\"{kind}\",{keys}}},\"all\":{{\"x{n}\":{{{}}}}},\"free\":{{\"a\":[{n}]}},\"level\":\"{state}\"}}\n",
            keys_of(n * 7)
        )
    };
    fs::write(dir.path().join("data.json"), (0..60).map(line).collect::<String>()).unwrap();
    let given = ["--plain", "--set", "$.free=value"];
    let (first, _) = types(dir.path(), &[&given[..], &["--set", "@sets.txt"]].concat());
    let decisions = fs::read_to_string(dir.path().join("sets.txt")).unwrap();
    for line in ["$.all=map", "$.all.*=map", "$.pet=tag=kind", "$.free=value", "$.level=enum", "$.all.*.*=struct"] {
        assert!(decisions.lines().any(|found| found == line), "{line}: {decisions}");
    }
    let (again, errors) = types(dir.path(), &["--plain", "--set", "@sets.txt"]);
    assert_eq!((again, errors), (first, String::new()));
    // A tenth of the documents changes nothing.
    fs::write(dir.path().join("data.json"), (0..6).map(line).collect::<String>()).unwrap();
    let (few, _) = types(dir.path(), &["--plain", "--set", "@sets.txt"]);
    for part in ["HashMap<String, HashMap<String, ", "tag = \"kind\"", "serde_json::Value"] {
        assert!(few.contains(part), "{part}: {few}");
    }
}

#[test]
fn an_untyped_value_under_a_key_leaves_maps_with_that_key_typed() {
    let dir = TempDir::new().unwrap();
    let schema = |n: usize| format!("{{\"kind\":\"s\",\"examples\":[{n},{{\"x\":{n}}}]}}");
    // One of the keys of the map is `examples` too.
    let line = |n: usize| {
        let keys: Vec<String> = (0..40).map(|k| format!("\"k{}\":{}", n * 40 + k, schema(k))).collect();
        let examples = if n == 0 { format!("\"examples\":{},", schema(n)) } else { String::new() };
        format!("{{\"properties\":{{{examples}{}}}}}\n", keys.join(","))
    };
    fs::write(dir.path().join("data.json"), (0..20).map(line).collect::<String>()).unwrap();
    let (changed, _) = types(dir.path(), &["--set", "$..examples=value"]);
    for part in ["pub properties: HashMap<String, ", "pub kind: ", "pub examples: serde_json::Value,"] {
        assert!(changed.contains(part), "{part}: {changed}");
    }
}

#[test]
fn records_can_be_kept_and_enums_be_made() {
    let dir = TempDir::new().unwrap();
    let entries: Vec<String> = (0..30).map(|n| format!("\"k{n}\":{{\"a\":{n},\"b\":\"w{}\"}}", n % 3)).collect();
    fs::write(dir.path().join("data.json"), format!("{{\"all\":{{{}}}}}", entries.join(","))).unwrap();
    assert!(types(dir.path(), &[]).0.contains("HashMap<String, All>"));
    let (kept, _) = types(dir.path(), &["--set", "$.all=struct", "--set", "$.all.k0.b=enum"]);
    assert!(kept.contains("pub all: All,") && kept.contains("pub k29: "), "{kept}");
    assert!(kept.contains("pub enum B {"), "{kept}");
}

#[test]
fn style_changes_names_and_comments_only() {
    let dir = folder();
    let style =
        ["--plain", "--root", "Snapshot", "--derive", "Eq", "--visibility", "pub(crate)", "--set", "$..=string"];
    let (styled, _) = types(dir.path(), &style);
    for part in ["pub(crate) struct Snapshot {", "Deserialize, Serialize, Eq)]", "    pub(crate) level: Box<str>,"] {
        assert!(styled.contains(part), "{part}: {styled}");
    }
    assert!(!styled.contains("90") && !styled.contains('%') && !styled.contains("\n    pub "), "{styled}");
    // Half of the data has the same types, and with `--plain` the same file.
    let all = fs::read_to_string(dir.path().join("data.json")).unwrap();
    let half: String = all.split_inclusive('\n').take(75).collect();
    fs::write(dir.path().join("data.json"), half).unwrap();
    assert_eq!(types(dir.path(), &style).0, styled);
}

#[test]
fn wrong_options_are_explained() {
    let dir = folder();
    for (arguments, message) in [
        (["--root", "a b"], "--root a b: not the name of a type, such as Order"),
        (["--derive", "1x"], "--derive 1x: not the path of a trait, such as Eq or schemars::JsonSchema"),
        (["--visibility", "private"], "--visibility private: not one of pub, pub(crate) and pub(super)"),
        (
            ["--set", "$.a=mapp"],
            "\"mapp\" is none of map, struct, string, enum, value, skip, tag=KEY, untagged, no-other, null=missing, exact and a type's name",
        ),
    ] {
        let mut command = Command::new(env!("CARGO_BIN_EXE_dwell-shape"));
        let output = command.current_dir(dir.path()).args(["shape", "data.json"]).args(arguments).output().unwrap();
        let errors = String::from_utf8(output.stderr).unwrap();
        assert!(errors.contains(message), "{errors}");
        assert_eq!(output.status.code(), Some(2), "{errors}");
    }
}

#[test]
fn a_decision_in_doubt_is_named_with_what_keeps_it() {
    let dir = TempDir::new().unwrap();
    let run = |pairs: usize, arguments: &[&str]| {
        let pair = |n| {
            format!("{{\"pet\":\"cat\",\"a\":1,\"b\":2,\"n\":{n}}}\n{{\"pet\":\"dog\",\"c\":1,\"d\":2,\"n\":{n}}}\n")
        };
        // A kind of its own is in a few documents only.
        let rare = (0..3).map(|n| format!("{{\"pet\":\"cow\",\"e\":{n}}}\n"));
        fs::write(dir.path().join("data.json"), (0..pairs).map(pair).chain(rare).collect::<String>()).unwrap();
        let (source, errors) = types(dir.path(), arguments);
        (source.contains("tag = \"pet\""), errors)
    };
    // A fifth less is another decision somewhere between too few pairs and enough.
    let named =
        |errors: &str| errors.starts_with("note: in doubt, since a fifth of the documents changes it: --set '$=");
    let pairs = (4..30).find(|&pairs| named(&run(pairs, &[]).1)).expect("a decision in doubt");
    let (is_tag, errors) = run(pairs, &[]);
    let (is, other) = if is_tag { ("$=tag=pet", "struct") } else { ("$=struct", "tag=pet") };
    assert!(errors.contains(&format!("--set '{is}' (or {other})")), "{errors}");
    assert_eq!(run(pairs, &["--set", is]), (is_tag, String::new()));
    assert_eq!(run(100, &[]), (true, String::new()));
}
