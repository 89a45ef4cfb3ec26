//! Runs `cargo dwell layout` and `cargo dwell dyn` on the program in `tests/debuginfo`.

use serde_json::Value;
use std::path::Path;
use std::process::{Command, Output};
use std::sync::OnceLock;

/// Runs `cargo dwell` with `arguments` on the fixture, which is built once.
fn dwell(command: &str, arguments: &[&str]) -> Output {
    static FOLDER: OnceLock<tempfile::TempDir> = OnceLock::new();
    let folder = FOLDER.get_or_init(|| {
        let folder = tempfile::tempdir().unwrap();
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("../dwell-debuginfo/tests/debuginfo/fixture.rs");
        let status = Command::new(std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into()))
            .args(["--edition", "2024", "-g", "-A", "warnings", "-o", "fixture"])
            .arg(source)
            .current_dir(folder.path())
            .status();
        assert!(status.unwrap().success());
        folder
    });
    Command::new(env!("CARGO_BIN_EXE_cargo-dwell"))
        .arg(command)
        .args(arguments)
        .args(["--exe", "fixture"])
        .current_dir(folder.path())
        .output()
        .unwrap()
}

fn stdout(output: &Output) -> String {
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout.clone()).unwrap()
}

fn json(command: &str, arguments: &[&str]) -> Value {
    serde_json::from_str(&stdout(&dwell(command, &[arguments, &["--format", "json"]].concat()))).unwrap()
}

#[test]
fn json_has_the_documented_fields() {
    let document = json("layout", &["fixture::Tagged"]);
    assert_eq!(document["version"], 1);
    assert!(document["program"]["rustc"].is_string());
    let types = document["types"].as_array().unwrap();
    let tagged = types.iter().find(|ty| ty["path"] == "fixture::Tagged").unwrap();
    // Where std has debug info, it has a `Tagged` too.
    assert_eq!(tagged["name"].as_str().unwrap().trim_start_matches("fixture::"), "Tagged");
    assert_eq!((&tagged["size"], &tagged["align"], &tagged["padding"]), (&216.into(), &8.into(), &7.into()));
    assert_eq!(tagged["variant_gap"], 214);
    assert_eq!(tagged["variants"][1]["name"], "B");
    assert_eq!(tagged["variants"][1]["size"], 215);
    let field = &tagged["variants"][1]["fields"][0];
    assert_eq!((&field["name"], &field["type"]), (&"x".into(), &"[u8; 200]".into()));
    assert_eq!((&field["offset"], &field["size"]), (&1.into(), &200.into()));

    let document = json("layout", &["fixture::Wasteful"]);
    let wasteful = &document["types"][0];
    assert_eq!((&wasteful["size"], &wasteful["padding"]), (&48.into(), &22.into()));
    assert_eq!(wasteful["fields"].as_array().unwrap().len(), 4);

    let document = json("dyn", &["fixture::Draw"]);
    let draw = &document["traits"][0];
    assert_eq!(draw["name"], "Draw");
    assert_eq!(draw["implementors"][0]["type"], "Plain");
    assert_eq!(draw["implementors"][0]["size"], 24);
    assert_eq!(draw["implementors"][1]["type"], "Numbered");
    assert_eq!(draw["fits"][0]["types"], 1);
    assert_eq!(draw["suggested_n"], 3);
}

#[test]
fn explain_draws_a_type() {
    let text = stdout(&dwell("layout", &["--explain", "fixture::Tagged"]));
    let text = text.trim_start_matches("fixture::");
    assert!(text.starts_with("Tagged  216 bytes, align 8, tag of 1 at 0, padding 7, `B` is 214 larger"), "{text}");
    let row = text.lines().find(|line| line.trim_start().starts_with("B ")).unwrap();
    assert!(row.contains("|tag|x: [u8; 200] .") && row.contains("~|y: u64"), "{text}");
    let text = stdout(&dwell("layout", &["--explain", "Niche"]));
    assert!(text.contains("niche in `B.0.buf.inner.cap.0`"), "{text}");
    // A struct, a union, a unit struct, a fieldless enum, an async fn, a niche, a primitive; then Markdown.
    for name in ["Wasteful", "Either", "Empty", "Numbered", "{async fn leaf}", "Option<Box<Plain>>", "u128"] {
        let text = stdout(&dwell("layout", &["--explain", name]));
        assert!(text.lines().any(|line| line.trim_start_matches("fixture::").starts_with(name)), "{name}: {text}");
    }
    assert!(stdout(&dwell("layout", &["--explain", "Plain", "--format", "markdown"])).contains("```"));
}

#[test]
fn table_is_sorted_and_filtered() {
    let sizes = |arguments: &[&str]| -> Vec<u64> {
        let document = json("layout", arguments);
        document["types"].as_array().unwrap().iter().map(|ty| ty["size"].as_u64().unwrap()).collect()
    };
    let by_size = sizes(&["fixture::", "--sort", "size"]);
    assert!(by_size.is_sorted_by(|a, b| a >= b) && by_size.len() > 10);
    let large = sizes(&["fixture::", "--sort", "size", "--min", "64"]);
    assert_eq!(large, by_size.iter().copied().filter(|size| *size >= 64).collect::<Vec<_>>());
    let first = |sort: &str| json("layout", &["fixture::", "--sort", sort])["types"][0].clone();
    assert_eq!(first("padding")["path"], "fixture::Aligned");
    assert_eq!(first("variant-gap")["path"], "fixture::Tagged");
    let text = stdout(&dwell("layout", &["fixture::", "--top", "2"]));
    assert!(text.contains("more are not shown"), "{text}");
}

#[test]
fn unknown_name_suggests_the_nearest() {
    for (command, arguments, near) in [
        ("layout", &["Wastful"][..], "Wasteful"),
        ("layout", &["--explain", "Taged"], "Tagged"),
        ("dyn", &["Dravv"], "Draw"),
    ] {
        let output = dwell(command, arguments);
        let error = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2));
        assert!(output.stdout.is_empty());
        let lines: Vec<&str> = error.lines().filter(|line| line.starts_with("error: ")).collect();
        assert!(lines.len() == 1 && lines[0].contains(near), "{error}");
    }
}
