//! End-to-end tests of `dwell-bench`: rows, one-line errors, and exit codes.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

/// Runs `dwell-bench` with an empty `PATH`, so that it finds no valgrind and takes seconds.
fn bench(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_dwell-bench")).args(arguments).env("PATH", "").output().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

/// Returns the one-line error of a run over `folder`, which must fail with code 2.
fn error_line(folder: &Path) -> String {
    let output = bench(&["sparse", "--quick", "--json", "--models", folder.to_str().unwrap()]);
    assert_eq!(output.status.code(), Some(2));
    assert!(output.stdout.is_empty());
    let message = text(&output.stderr);
    assert_eq!(message.lines().count(), 1, "{message}");
    message
}

#[test]
fn bad_input_prints_one_line_and_exits_with_2() {
    let folder = tempfile::tempdir().unwrap();
    let missing = folder.path().join("missing");
    assert!(error_line(&missing).contains("cannot read the folder"));
    assert!(error_line(folder.path()).contains("contains no .json file"));

    let file = folder.path().join("a.json");
    for (content, expected) in [
        (&b"no json"[..], "a.json is not a Smithy model: expected ident at line 1 column 2"),
        (b"{\"shapes\": {\"a#b\": {\"type\": \"list\"", "a.json is not a Smithy model: EOF while parsing"),
        (b"{\"shapes\": {\"a#b\": {\"type\": \"lost\"}}}", "unknown variant `lost`"),
        (b"\xFF", "valid UTF-8"),
    ] {
        fs::write(&file, content).unwrap();
        let message = error_line(folder.path());
        assert!(message.contains(expected), "{message}");
    }
}

#[test]
fn invalid_requests_fail_before_measuring() {
    for (arguments, expected) in [
        (&["slab", "--workload", "lost"][..], "no workload has `lost` in its name; there are: "),
        (&["bump", "--workload", "lost"], "no workload has `lost` in its name; there are: u8, "),
        (&["small", "--subject", "lost"], "no subject begins with `lost`; there are: box/glibc, dwell, "),
        (&["sparse", "--html", "no-folder/page.html"], "cannot write no-folder/page.html"),
        (&["real", "lost"], "no program is called `lost`; there are: lru, "),
        (&["report"], "nothing to write"),
        (&["report", "--markdown", "results.md"], "there are no rows on standard input"),
        (&["seeds"], "there are no rows on standard input"),
        (&["medians"], "there are no rows on standard input"),
    ] {
        // Standard input is empty.
        let output = bench(arguments);
        let message = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {message}");
        assert!(message.lines().count() == 1 && message.contains(expected), "{message}");
    }
}

#[test]
fn json_output_has_only_rows() {
    let folder = tempfile::tempdir().unwrap();
    for (name, json) in dwell_shape::sample::documents(2, 3) {
        fs::write(folder.path().join(name), json).unwrap();
    }
    let output = bench(&["sparse", "--quick", "--json", "--models", folder.path().to_str().unwrap()]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    assert!(text(&output.stderr).contains("valgrind is not installed"));
    let rows: Vec<serde_json::Value> =
        text(&output.stdout).lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    for row in &rows {
        let keys = ["module", "workload", "subject", "metric", "value", "unit", "baseline", "ratio"];
        assert_eq!(row.as_object().unwrap().len(), keys.len());
        assert!(keys.iter().all(|key| row.get(key).is_some()), "{row}");
        assert!(row["value"].is_f64() && row["ratio"].is_f64(), "{row}");
    }
    let find = |subject: &str, metric: &str| {
        let row = rows.iter().find(|row| row["subject"] == subject && row["metric"] == metric);
        row.unwrap_or_else(|| panic!("no row {subject} {metric}"))["ratio"].as_f64().unwrap()
    };
    // Coarse bounds that hold on any machine; `gate` checks the exact ones.
    assert!(find("boxed", "bytes") < 0.4);
    assert!(find("dwell/sparse", "bytes") < find("boxed", "bytes"));
    assert!(find("dwell/thin", "bytes") < find("dwell/sorted", "bytes"));
    assert!(find("dwell/interned", "allocs") < 0.5);
}

#[test]
fn gate_without_valgrind_reports_skipped_gates() {
    let output = bench(&["gate"]);
    assert_eq!(output.status.code(), Some(0), "{}{}", text(&output.stdout), text(&output.stderr));
    assert!(text(&output.stderr).contains("gates on `ir` are skipped"));
    let (stdout, summary) = (text(&output.stdout), " numbers compared with bench/baseline.tsv: 0 worse");
    assert!(stdout.lines().all(|line| line.starts_with("ok ") || line.contains(summary)), "{stdout}");
}
