//! Runs `cargo dwell layout`, `futures` and `stack` on `tests/suggested`. Each suggested change was also made by hand in
//! that program, which prints the sizes before and after; what is not worth doing must not be suggested.

#[path = "../../dwell-heap/tests/support/mod.rs"]
mod support;

use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn dwell(arguments: &[&str]) -> Output {
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/suggested/Cargo.toml");
    let mut command = Command::new(env!("CARGO_BIN_EXE_cargo-dwell"));
    command.args(arguments).args(["--offline", "--manifest-path"]).arg(manifest);
    command.arg("--target-dir").arg(support::target_dir().join("suggested"));
    command.env_remove("RUSTFLAGS").env_remove("CARGO_ENCODED_RUSTFLAGS").output().expect("it runs")
}

fn text(arguments: &[&str]) -> String {
    let output = dwell(arguments);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("UTF-8")
}

fn json(command: &str, more: &[&str]) -> Value {
    serde_json::from_str(&text(&[&[command, "--format", "json"], more].concat())).expect("JSON")
}

/// Returns the lines that the program prints with this first word: the name, and the sizes before and after.
fn measured(program: &Value, first: &str) -> Vec<(String, u64, u64)> {
    let file: PathBuf = program["program"]["file"].as_str().expect("a file").into();
    let output = Command::new(file).output().expect("it runs");
    let text = String::from_utf8(output.stdout).expect("UTF-8");
    let rest = text.lines().filter_map(|line| line.strip_prefix(first)?.strip_prefix(' '));
    let parse = |line: &str| {
        let words: Vec<&str> = line.split(' ').collect();
        (words[0].to_owned(), words[1].parse().expect("bytes"), words[2].parse().expect("bytes"))
    };
    rest.map(parse).collect()
}

fn of_name<'a>(document: &'a Value, list: &str, key: &str, name: &str) -> &'a Value {
    let list = document[list].as_array().expect("a list");
    list.iter().find(|entry| entry[key] == name).unwrap_or_else(|| panic!("no {name}"))
}

#[test]
fn types_get_the_change_that_saves_what_is_said() {
    let document = json("layout", &[]);
    let lines = measured(&document, "type");
    assert_eq!(lines.len(), 2);
    for (name, before, after) in lines {
        let ty = of_name(&document, "types", "name", &name);
        let suggestion = &ty["suggestion"];
        let saves = suggestion["saves"].as_u64().expect("a suggestion");
        assert!(suggestion["shown"] == true && ty["size"] == before, "{ty:#}");
        // The least number of bytes: rustc may find a niche.
        assert!(saves <= before - after && before - after <= saves + 16, "{name}: {before} to {after}, said {saves}");
        assert!(suggestion["edits"].as_array().is_some_and(|edits| !edits.is_empty()), "{suggestion:#}");
    }
    let shape = &of_name(&document, "types", "name", "Shape")["suggestion"];
    assert_eq!(shape["parts"].as_array().map(Vec::len), Some(3));
    let edit = &shape["edits"][0];
    assert_eq!(
        (&edit["item"], &edit["from"], &edit["to"]),
        (&"Shape::Mesh".into(), &"[u64; 300]".into(), &"Box<[u64; 300]>".into())
    );
    let source = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/suggested/src/main.rs"));
    let line = source.expect("a source").lines().position(|line| line.contains("Mesh([u64; 300])"));
    assert_eq!(edit["line"].as_u64().and_then(|line| usize::try_from(line).ok()), line.map(|line| line + 1));
    let route = &of_name(&document, "types", "name", "Route")["suggestion"];
    assert_eq!((&route["kind"], &route["edits"][0]["to"]), (&"box-option".into(), &"Option<Box<Target>>".into()));
    assert_eq!(route["evidence"]["holders"][0]["slots"], 11);
}

#[test]
fn one_change_is_made_where_the_bytes_come_from() {
    let document = json("layout", &[]);
    let shown = |name: &str| {
        let suggestion = &of_name(&document, "types", "name", name)["suggestion"];
        (suggestion["shown"] == true).then(|| suggestion.clone())
    };
    let (_, before, after) = measured(&document, "option").remove(0);
    let call = shown("Call").expect("a suggestion");
    assert_eq!((&call["kind"], &call["saves"]), (&"box-option".into(), &(before - after).into()));
    assert!(call["shrinks"].as_u64() >= Some(1), "{call:#}");
    assert!(shown("Term").is_none(), "its bytes are those of `Call`");
    // Only the wildcard: most operands are terms.
    let argument = shown("Operand").expect("a suggestion");
    assert_eq!(argument["parts"], serde_json::json!(["`Wildcard`"]));
    let edit = &argument["edits"][0];
    assert_eq!((&edit["item"], &edit["from"]), (&"Operand::Wildcard.except".into(), &"[u64; 60]".into()));
    assert!(shown("Condition").is_none(), "a tree has more leaves than nodes");
    assert!(shown("Prefix").is_none(), "all prefixes would be in a box");
    assert!(shown("Separated<[u64; 18]>").is_none(), "a type parameter");
    assert!(shown("Sheet").is_none(), "the program unwraps it");
}

#[test]
fn value_of_a_rare_branch_gets_a_box() {
    let document = json("futures", &[]);
    let shown = |name: &str| -> Vec<Value> {
        let all = of_name(&document, "futures", "function", name)["suggestions"].as_array().expect("a list").iter();
        all.filter(|one| one["shown"] == true).cloned().collect()
    };
    let hash = shown("hash");
    assert_eq!(hash.len(), 1, "{hash:#?}");
    assert_eq!((&hash[0]["kind"], &hash[0]["outermost"]), (&"box-value".into(), &"{async fn dispatch}".into()));
    assert!(hash[0]["saves_in_outermost"].as_u64() > Some(8000), "{hash:#?}");
    assert!(shown("linear").is_empty() && shown("both").is_empty());
}

#[test]
fn what_is_not_shown_has_its_reason() {
    let document = json("layout", &[]);
    for (name, reason) in [
        ("Declined", "allow"),
        ("Kept", "keep"),
        ("Outcome", "common"),
        ("Parcel", "common"),
        ("Event", "queue"),
        ("Settings", "few"),
        ("Condition", "common"),
        ("Sheet", "common"),
        ("Separated<[u64; 18]>", "common"),
    ] {
        let suggestion = &of_name(&document, "types", "name", name)["suggestion"];
        assert_eq!(
            (&suggestion["shown"], &suggestion["withheld"]["reason"]),
            (&false.into(), &reason.into()),
            "{name}"
        );
    }
    assert!(of_name(&document, "types", "name", "Target")["suggestion"].is_null());
    let generated = document["types"].as_array().expect("a list").iter();
    for found in generated.filter(|found| found["path"].as_str().is_some_and(|path| path.contains("__either"))) {
        assert!(found["suggestion"].is_null() || found["suggestion"]["withheld"]["reason"] == "generated", "{found:#}");
    }
    for (name, before, after) in measured(&document, "silent") {
        let suggestion = &of_name(&document, "types", "name", &name)["suggestion"];
        assert_eq!(
            (&suggestion["shown"], &suggestion["saves"]),
            (&true.into(), &(before - after).into()),
            "{suggestion:#}"
        );
    }
    let report = text(&["layout"]);
    let line = report.lines().find(|line| line.contains(" withheld: ")).expect("a line");
    assert!(line.contains("1 by `allow`, 1 by `dwell: keep`") && line.contains("1 in a hot queue"), "{line}");
    assert!(!report.contains("`palette: Option<Box<[u64; 64]>>`"), "{report}");
    let listed = text(&["layout", "--withheld"]);
    assert!(
        listed.contains("`palette: Option<Box<[u64; 64]>>`") && listed.contains("nearly all are large"),
        "{listed}"
    );
}

#[test]
fn census_decides_by_the_counts() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("census.json");
    let run = |large: u64| {
        let variant = |name: &str, count: u64| serde_json::json!({"name": name, "count": count});
        let shape = serde_json::json!({
            "type": "Shape", "size": 2408, "instances": 1000,
            "variants": [variant("Mesh", large), variant("Dot", 1000 - large)],
        });
        let saved =
            serde_json::json!({"version": 1, "program": {}, "snapshots": [{"live_bytes": 1, "enums": [shape]}]});
        std::fs::write(&file, saved.to_string()).expect("written");
        json("layout", &["--census", file.to_str().expect("UTF-8")])
    };
    let rare = run(10);
    let evidence = &of_name(&rare, "types", "name", "Shape")["suggestion"]["evidence"];
    assert_eq!((&evidence["live"], &evidence["boxed"]), (&1000.into(), &10.into()));
    let each = of_name(&rare, "types", "name", "Shape")["suggestion"]["saves"].as_u64().expect("bytes");
    assert_eq!(evidence["saves_in_all"].as_u64(), Some(1000 * each - 10 * (2400 + 16)));
    let withheld = |document: &Value, name: &str| -> Value {
        of_name(document, "types", "name", name)["suggestion"]["withheld"]["reason"].clone()
    };
    assert_eq!(withheld(&rare, "Route"), "census", "it has no value of it");
    assert_eq!(withheld(&run(900), "Shape"), "census", "the boxed variant is the common one");
    std::fs::write(&file, "{}").expect("written");
    let output = dwell(&["layout", "--census", file.to_str().expect("UTF-8")]);
    assert_eq!(output.status.code(), Some(2));
}

#[test]
fn futures_get_the_change_that_saves_what_is_said() {
    let document = json("futures", &[]);
    for (kind, number) in [("box-argument", 3), ("return-future", 2), ("pin-future", 1)] {
        let lines = measured(&document, kind);
        assert_eq!(lines.len(), number);
        for (name, before, after) in lines {
            let future = of_name(&document, "futures", "function", &name);
            let suggestions = future["suggestions"].as_array().expect("a list");
            let one = suggestions.iter().find(|one| one["kind"] == kind && one["future"] == future["name"]);
            let one = one.unwrap_or_else(|| panic!("no {kind} for {name}: {suggestions:#?}"));
            let saves = one["saves_in_future"].as_u64().expect("bytes");
            let measured = before - after;
            assert!(saves <= measured && measured <= saves + 16, "{name}: {before} to {after}, said {saves}");
            assert_eq!(one["shown"], true, "{one:#}");
            assert_eq!(one["heap"].as_u64() > Some(0), kind == "box-argument", "{one:#}");
        }
    }
    // A box in `copies` is in no other future that has `work` too.
    let twice = of_name(&document, "futures", "function", "twice")["suggestions"].as_array().expect("a list").iter();
    assert!(twice.clone().all(|one| one["future"] != "{async fn copies}"), "{twice:#?}");
    // Each place has what it saves after the others, so what is shown saves something.
    let all =
        document["futures"].as_array().expect("a list").iter().filter_map(|future| future["suggestions"].as_array());
    let shown: Vec<_> = all.flatten().filter(|one| one["shown"] == true).collect();
    assert!(!shown.is_empty() && shown.iter().all(|one| one["saves_together"].as_u64() >= Some(128)), "{shown:#?}");
    let checked = of_name(&document, "futures", "function", "checked");
    let kinds = checked["suggestions"].as_array().expect("a list").iter().map(|one| &one["kind"]);
    assert!(kinds.clone().all(|kind| kind != "return-future" && kind != "unused-argument"), "{checked:#}");
}

#[test]
fn edits_of_futures_are_those_made_by_hand() {
    let document = json("futures", &[]);
    let source = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/suggested/src/main.rs"));
    let source = source.expect("a source");
    for (function, kind, from, to) in [
        ("copies", "box-argument", "work()", "Box::pin(work())"),
        ("twice", "pin-future", "work()", "std::pin::pin!(work())"),
    ] {
        let future = of_name(&document, "futures", "function", function);
        let mut all = future["suggestions"].as_array().expect("a list").iter();
        let one = all.find(|one| one["kind"] == kind).expect("the suggestion");
        let [edit] = &one["edits"].as_array().expect("edits")[..] else { panic!("{one:#}") };
        assert_eq!((&edit["from"], &edit["to"], &edit["item"]), (&from.into(), &to.into(), &function.into()));
        assert_eq!(edit["file"], "src/main.rs");
        let line = edit["line"].as_u64().and_then(|line| usize::try_from(line).ok()).expect("a line");
        assert!(source.lines().nth(line - 1).is_some_and(|line| line.contains(from)), "{edit:#}");
    }
}

#[test]
fn box_of_a_trait_object_gets_its_edits_and_says_what_the_blocks_become() {
    let document = json("dyn", &[]);
    let job = of_name(&document, "traits", "name", "Job");
    assert_eq!(job["suggested_n"], 3, "{job:#}");
    let edits = job["edits"].as_array().expect("edits");
    let places: Vec<_> = edits.iter().map(|edit| (edit["item"].as_str(), edit["to"].as_str())).collect();
    assert!(places.contains(&(Some("Queue.waiting"), Some("Vec<SmallBox<dyn Job, 3>>"))), "{places:?}");
    assert!(places.contains(&(Some("Queue.sender"), Some("Sender<SmallBox<dyn Job, 3>>"))), "{places:?}");
    assert!(edits.iter().all(|edit| edit["file"] == "src/jobs.rs"));
    let block = &job["blocks"][0];
    // The program prints the sizes of such a block, made by hand.
    let lines = measured(&document, "block");
    let bytes = |name: &str| lines.iter().find(|line| line.0 == name).map(|line| (line.1, line.2)).expect("a line");
    assert_eq!(block["container"], "std::sync::mpsc");
    assert_eq!((block["bytes"].as_u64(), block["bytes_with_n"].as_u64()), (Some(bytes("N=3").0), Some(bytes("N=3").1)));
    assert_eq!((block["smaller_n"].as_u64(), block["smaller_bytes"].as_u64()), (Some(2), Some(bytes("N=2").1)));
    let report = text(&["dyn"]);
    assert!(
        report.contains("With N = 3 a block of `std::sync::mpsc` has 1,248 bytes, more than the 1,032"),
        "{report}"
    );
    assert!(report.contains("; with N = 2 it has 1,000."), "{report}");
}

#[test]
fn statics_are_listed() {
    let list: Value = serde_json::from_str(&text(&["layout", "--statics", "--format", "json"])).expect("JSON");
    let pool = list
        .as_array()
        .expect("a list")
        .iter()
        .find(|variable| variable["path"] == "suggested::POOL")
        .expect("the pool");
    assert_eq!((&pool["type"], &pool["size"]), (&"[u64; 512]".into(), &4096.into()));
}

/// Returns the charts of a page that a command wrote.
fn charts(command: &str, more: &[&str]) -> (String, Vec<Value>) {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("page.html");
    text(&[&[command, "--html", file.to_str().expect("UTF-8")], more].concat());
    let page = std::fs::read_to_string(file).expect("a page");
    let data = page.split("id=\"data\">").nth(1).and_then(|rest| rest.split("</script>").next()).expect("the charts");
    (page.clone(), serde_json::from_str(data).expect("JSON"))
}

/// Checks that the bars below each bar fill it, or are less.
#[track_caller]
fn fits(bar: &Value) -> u64 {
    let below: u64 = bar["bars"].as_array().expect("bars").iter().map(fits).sum();
    let bytes = bar["bytes"].as_u64().expect("bytes");
    assert!(below <= bytes, "{bar:#}");
    bytes
}

#[test]
fn pages_have_the_bytes_of_types_futures_and_frames() {
    let (page, all) = charts("layout", &[]);
    let shape = all.iter().find(|chart| chart["title"] == "Shape").expect("a chart");
    let bars = shape["root"]["bars"].as_array().expect("bars");
    assert!(bars.iter().any(|bar| bar["name"] == "Mesh.0" && bar["bytes"] == 2400), "{shape:#}");
    assert_eq!(bars.iter().map(fits).sum::<u64>(), fits(&shape["root"]), "padding is a bar, too");
    assert!(page.contains("What to change") && page.contains("Option&lt;Box&lt;Target&gt;&gt;"));
    let (page, all) = charts("futures", &[]);
    assert!(all.iter().map(|chart| fits(&chart["root"])).max() > Some(8000) && page.contains("{async fn dispatch}"));
    if cfg!(target_arch = "x86_64") {
        let (page, all) = charts("stack", &["--top", "99"]);
        let deepest = all.iter().map(|chart| fits(&chart["root"])).max();
        assert!(deepest > Some(5000) && page.contains("`scratch` on the heap"), "{deepest:?}");
    }
}

#[test]
fn suggestions_are_at_their_lines_in_sarif() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("layout.sarif");
    for command in ["layout", "futures"] {
        let document = json(command, &["--sarif", file.to_str().expect("UTF-8")]);
        let sarif: Value = serde_json::from_slice(&std::fs::read(&file).expect("a file")).expect("JSON");
        let results = sarif["runs"][0]["results"].as_array().expect("results");
        assert!(
            results
                .iter()
                .all(|finding| finding["level"] == "note" && finding["ruleId"] == command.trim_end_matches('s'))
        );
        if command == "layout" {
            let shape = &of_name(&document, "types", "name", "Shape")["suggestion"]["edits"][0];
            let is_it = |finding: &&Value| {
                finding["message"]["text"].as_str().is_some_and(|text| text.starts_with("Shape takes "))
            };
            let place = &results.iter().find(is_it).expect("it")["locations"][0]["physicalLocation"];
            assert_eq!(
                (&place["artifactLocation"]["uri"], &place["region"]["startLine"]),
                (&shape["file"], &shape["line"])
            );
        } else {
            assert!(!results.is_empty());
        }
    }
}

#[cfg(target_arch = "x86_64")]
#[test]
fn stack_frames_have_their_locals() {
    for release in [&[][..], &["--release"]] {
        let document = json("stack", &[&["--top", "99"], release].concat());
        let find = |name: &str| of_name(&document, "functions", "name", name);
        let buffer = find("suggested::buffer");
        let frame = buffer["frame"].as_u64().expect("bytes");
        assert!((5000..20_000).contains(&frame), "{buffer:#}");
        assert_eq!(buffer["recursive"], false);
        if release.is_empty() {
            assert_eq!(buffer["locals"][0]["name"], "scratch");
            assert_eq!(buffer["locals"][0]["size"], 5000);
        }
        let descend = find("suggested::descend");
        assert!(descend["frame"].as_u64() >= Some(400), "{descend:#}");
        assert_eq!((&descend["recursive"], &descend["is_least"]), (&true.into(), &true.into()));
        assert!(descend["deepest"].as_u64() >= Some(frame + 400));
        assert!(descend["path"].as_array().expect("a path").iter().any(|step| step["name"] == "suggested::buffer"));
    }
    let output = dwell(&["stack", "buffr"]);
    assert!(String::from_utf8_lossy(&output.stderr).contains("buffer") && output.status.code() == Some(2));
}

/// Other targets' instructions and tables for unwinding.
#[test]
fn stack_frames_of_other_targets_are_read() {
    const TARGETS: [&str; 7] = [
        "thumbv7em-none-eabi",
        "thumbv6m-none-eabi",
        "armv7a-none-eabi",
        "riscv32imac-unknown-none-elf",
        "riscv64gc-unknown-none-elf",
        "aarch64-unknown-none",
        "i686-unknown-linux-gnu",
    ];
    let folder = tempfile::tempdir().expect("a folder");
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/bare/program.rs");
    for target in TARGETS {
        let file = folder.path().join(target);
        let mut rustc = Command::new("rustc");
        rustc.args(["--edition", "2024", "-Cpanic=abort", "-g", "-O", "-Clinker=rust-lld", "-Clinker-flavor=ld.lld"]);
        rustc.args(["-Clink-arg=--unresolved-symbols=ignore-all", "-Clink-arg=--entry=_start", "--target", target]);
        // Programs without `core` are a feature of nightly compilers.
        let built = rustc.env("RUSTC_BOOTSTRAP", "1").arg("-o").arg(&file).arg(&source).output().expect("rustc runs");
        if !built.status.success() {
            eprintln!("skipped: rustc builds nothing for {target}: {}", String::from_utf8_lossy(&built.stderr));
            continue;
        }
        let stack = |format: &str| {
            let mut command = Command::new(env!("CARGO_BIN_EXE_cargo-dwell"));
            let output = command.args(["stack", "--all", "--format", format, "--exe"]).arg(&file).output();
            String::from_utf8(output.expect("it runs").stdout).expect("UTF-8")
        };
        let document: Value = serde_json::from_str(&stack("json")).expect("JSON");
        let find = |name: &str| of_name(&document, "functions", "name", name);
        let frame = |name: &str| find(name)["frame"].as_u64().expect("bytes");
        assert!((604..704).contains(&frame("leaf")) && (604..704).contains(&frame("middle")), "{document:#}");
        assert_eq!(
            (&find("leaf")["locals"][0]["name"], &find("leaf")["locals"][0]["size"]),
            (&"packet".into(), &604.into())
        );
        let start = find("_start");
        let path: Vec<&str> =
            start["path"].as_array().expect("a path").iter().filter_map(|step| step["name"].as_str()).collect();
        assert_eq!(path, ["_start", "middle", "leaf"], "{target}");
        assert_eq!(start["deepest"], frame("_start") + frame("middle") + frame("leaf"));
        // Without an allocator there is no box, and a microcontroller has a few KiB.
        let is_small = !target.contains("64");
        assert_eq!(stack("markdown").contains("`packet` in a static"), is_small, "{target}");
    }
}

#[test]
fn growth_and_stale_names_fail_in_ci() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("sizes.json");
    let path = file.to_str().expect("UTF-8");
    text(&["layout", "--save", path]);
    let unchanged = dwell(&["layout", "--diff", path, "--fail-on-growth", "0"]);
    assert_eq!(unchanged.status.code(), Some(0));
    let saved = std::fs::read_to_string(&file).expect("saved").replace("\"size\":2408", "\"size\":2000");
    std::fs::write(&file, saved).expect("written");
    let grown = dwell(&["layout", "--diff", path, "--fail-on-growth", "1"]);
    assert_eq!(grown.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&grown.stderr).contains("`Shape` grew from 2,000 to 2,408 bytes"));
    let release = dwell(&["layout", "--release", "--diff", path]);
    let error = String::from_utf8_lossy(&release.stderr).into_owned();
    assert!(release.status.code() == Some(2) && error.contains("profile dev"), "{error}");
}
