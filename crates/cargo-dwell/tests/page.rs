//! Opens the pages that `--html` writes in a real browser: they show the numbers of the JSON report, and their search
//! works.
//!
//! Without Chromium the tests print that they skip the browser.

#[path = "../../dwell-heap/tests/support/mod.rs"]
mod support;

use std::path::{Path, PathBuf};
use std::process::Command;

fn chromium() -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    let names = ["chromium", "chromium-browser", "google-chrome"];
    std::env::split_paths(&path).flat_map(|folder| names.map(|name| folder.join(name))).find(|file| file.is_file())
}

/// Opens the page in a headless browser and returns its DOM after its scripts have run.
fn opened(browser: &Path, page: &Path, hash: &str) -> String {
    let profile = tempfile::tempdir().unwrap();
    let output = Command::new(browser)
        .args(["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"])
        .args(["--disable-background-networking", "--disable-component-update", "--disable-sync"])
        .args(["--disable-dev-shm-usage", "--window-size=1200,900", "--virtual-time-budget=5000", "--dump-dom"])
        .arg(format!("--user-data-dir={}", profile.path().display()))
        .arg(format!("file://{}{hash}", page.display()))
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

fn bars(dom: &str) -> usize {
    dom.matches("<button class=\"bar ").count()
}

#[test]
fn shape_page_opens_and_searches() {
    let folder = tempfile::tempdir().unwrap();
    let page = folder.path().join("shape.html");
    let output = Command::new(env!("CARGO_BIN_EXE_cargo-dwell"))
        .args(["shape", "--format", "json", "--html"])
        .arg(&page)
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let report: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let html = std::fs::read_to_string(&page).unwrap();
    let from = html.find("id=\"data\">").unwrap() + 10;
    let data = &html[from..from + html[from..].find("</script>").unwrap()];
    let data: serde_json::Value = serde_json::from_str(data).unwrap();
    for (index, set) in ["naive", "lean"].into_iter().enumerate() {
        assert_eq!(data[index]["root"]["bytes"], report[set]["bytes"], "{set}");
    }
    // An existing page is not overwritten without `--force`.
    let again = Command::new(env!("CARGO_BIN_EXE_cargo-dwell")).args(["shape", "--html"]).arg(&page).output().unwrap();
    assert_eq!(again.status.code(), Some(2));

    let Some(browser) = chromium() else {
        crate::support::skip("there is no Chromium to open the page with");
        return;
    };
    let dom = opened(&browser, &page, "");
    let all = dom.matches("<tr>").count();
    assert!(bars(&dom) > 10, "{} bars are drawn", bars(&dom));
    assert!(!dom.contains("<tr hidden"));
    let dom = opened(&browser, &page, "#q=traits");
    let hidden = dom.matches("<tr hidden").count();
    assert!(hidden > 0 && hidden < all, "{hidden} of {all} rows are hidden");
    assert!(dom.contains(" found\""), "bars that the search finds are marked");
}

/// Returns the row of one owner in a saved census.
fn row(owner: &str, content: &str, bytes: u64) -> serde_json::Value {
    serde_json::json!({
        "owner": owner, "by": "field", "content": content, "element": "u8", "element_size": 1, "blocks": 1,
        "bytes": bytes, "len": bytes / 2, "capacity": bytes, "unused_bytes": bytes / 2
    })
}

/// With `--diff OLD`, the page compares the two runs instead of the first and last snapshot of the new run.
#[test]
fn census_diff_page_compares_two_runs() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, snapshots: serde_json::Value| {
        let path = folder.path().join(name);
        let document = serde_json::json!({ "version": 1, "program": { "file": "app" }, "snapshots": snapshots });
        std::fs::write(&path, document.to_string()).unwrap();
        path
    };
    let peak = |rows: Vec<serde_json::Value>| {
        let bytes: u64 = rows.iter().map(|row| row["bytes"].as_u64().unwrap()).sum();
        serde_json::json!({
            "at": "peak", "live_bytes": bytes, "live_blocks": rows.len(), "typed_bytes": bytes, "owned_bytes": bytes,
            "blocks": rows
        })
    };
    let rows = |bytes| vec![row("Shape.members", "Vec<u8>", bytes), row("Model.name", "String", 1000)];
    let mut gone = rows(500);
    gone.push(row("Gone.list", "Vec<u8>", 700));
    let old = write("old.json", serde_json::json!([peak(gone)]));
    let first = serde_json::json!({ "at": "1s", "live_bytes": 1, "blocks": [] });
    let new = write("new.json", serde_json::json!([first, peak(rows(2000))]));
    let page = folder.path().join("diff.html");
    let census = |more: &[&std::ffi::OsStr]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_cargo-dwell"));
        command.arg("census").arg(&new).arg("--diff").arg(&old).args(more).output().unwrap()
    };
    let output = census(&["--format".as_ref(), "json".as_ref(), "--html".as_ref(), page.as_ref()]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let diff: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((&diff["before"]["live_bytes"], &diff["after"]["live_bytes"]), (&2200.into(), &3000.into()));
    let owners: Vec<&str> =
        diff["changes"].as_array().unwrap().iter().map(|change| change["owner"].as_str().unwrap()).collect();
    assert_eq!(owners, ["Shape.members", "Gone.list"]);
    let Some(browser) = chromium() else {
        crate::support::skip("there is no Chromium to open the page with");
        return;
    };
    let dom = opened(&browser, &page, "");
    for text in ["What grew from peak (2.2 kB) to peak (3.0 kB)", "+1.5 kB", "-700 B", "Gone.list", "Model.name"] {
        assert!(dom.contains(text), "{text} is not in {dom}");
    }
    assert!(!dom.contains("What grew from 1s"), "{dom}");
    let shown = dom.matches("<tr>").count();
    let dom = opened(&browser, &page, "#q=gone");
    let hidden = dom.matches("<tr hidden").count();
    assert!(hidden > 0 && hidden < shown, "{hidden} of {shown} rows are hidden");
}

#[test]
fn census_page_opens_and_searches() {
    let folder = tempfile::tempdir().unwrap();
    let (saved, page) = (folder.path().join("census.json"), folder.path().join("census.html"));
    let field = serde_json::json!({
        "type": "u8", "field": "absent", "size": 16, "instances": 1000, "filled": 990,
        "variants": [{ "name": "None", "count": 10 }, { "name": "Some", "count": 990 }]
    });
    let document = serde_json::json!({
        "version": 1,
        "program": { "file": "app" },
        "snapshots": [{
            "at": "1s", "live_bytes": 500, "live_blocks": 1, "typed_bytes": 500, "owned_bytes": 500,
            "blocks": [row("Shape.members", "Vec<u8>", 500)]
        }, {
            "at": "peak", "live_bytes": 3000, "live_blocks": 2, "typed_bytes": 3000, "owned_bytes": 3000,
            "blocks": [row("Shape.members", "Vec<u8>", 2000), row("Model.name", "String", 1000)],
            "findings": [{
                "kind": "shrink", "where": "Shape.members", "fields": ["Shape.members"], "saves": 1000, "why": "half is unused",
                "how": "shrink_to_fit", "costs": "none",
                "edits": [{ "file": "src/shape.rs", "line": 7, "item": "Shape.members", "from": "Vec<u8>", "to": "Box<[u8]>" }]
            }],
            "sizes": [{ "from": 512, "to": 1023, "count": 1 }, { "from": 1024, "to": 2047, "count": 1 }],
            "fields": [field]
        }]
    });
    std::fs::write(&saved, document.to_string()).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_cargo-dwell"));
    let output = command.arg("census").arg(&saved).arg("--html").arg(&page).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let Some(browser) = chromium() else {
        crate::support::skip("there is no Chromium to open the page with");
        return;
    };
    let dom = opened(&browser, &page, "");
    assert!(dom.contains("3.0 kB") && bars(&dom) > 4, "{dom}");
    // Unused capacity and absent values have bars of their own classes.
    assert!(dom.contains("<button class=\"bar spare\"") && dom.contains("<button class=\"bar absent\""), "{dom}");
    for text in [
        "What grew from 1s (500 B) to peak (3.0 kB)",
        "+1.5 kB",
        "Blocks by their size",
        "1,024 to 2,047 B",
        "id=\"plot1\"",
    ] {
        assert!(dom.contains(text), "{text}");
    }
    // The bar of a finding is marked, and the finding with its line is beside the picture from the first look on.
    assert!(dom.contains("<button class=\"bar sequence advised\""), "{dom}");
    let detail = &dom[dom.find("id=\"detail\"").unwrap()..];
    for text in ["Shape.members", "shrink_to_fit", "half is unused", "src/shape.rs:7", "1.0 kB"] {
        assert!(
            detail[..detail.find("id=\"advice\"").unwrap_or(detail.len())].contains(text),
            "{text} is not in {detail}"
        );
    }
    // A heading is not broken inside of a word, and one bar compares nothing.
    assert!(!dom.contains("Model.name: String by their length"), "{dom}");
    let dom = opened(&browser, &page, "#q=members");
    assert_eq!(dom.matches("<tr hidden").count(), 1);
    assert!(dom.contains(" found\""));
}

#[test]
fn allocs_page_opens_and_searches() {
    let folder = tempfile::tempdir().unwrap();
    let (saved, page) = (folder.path().join("allocs.json"), folder.path().join("allocs.html"));
    let counts = serde_json::json!({ "allocations": 3_000_000, "frees": 3_000_000, "lifetimes": [5, 7] });
    let suggestion = serde_json::json!({
        "kind": "pool", "row": 0, "instead": "`pooled!`", "saves": [1000, 2_000_000, 3_000_000],
        "percent": [1.0, 20.0, 30.0], "is_worth_it": true, "why": "seen", "costs": "memory"
    });
    let place = serde_json::json!({ "function": "app::parse", "at": "src/parse.rs:7", "allocations": 3_000_000 });
    let row = |what: &str| serde_json::json!({ "what": what, "counts": counts, "nanos": 4_000_000, "places": [place], "suggestions": [0] });
    let document = serde_json::json!({
        "version": 1, "kind": "allocs", "program": { "file": "app" },
        "time": { "program": 10_000_000, "allocator": 4_000_000, "by": "samples" },
        "total": counts, "rows": [row("Box<dyn Fn(u8)>"), row("String")], "suggestions": [suggestion],
        "curve": [{ "millis": 10, "blocks": 100 }, { "millis": 20, "blocks": 300 }, { "millis": 30, "blocks": 350 }],
        "frames": ["alloc::alloc", "app::parse", "app::main"],
        "stacks": [{ "frames": [0, 1, 2], "nanos": 3_000_000, "blocks": 4 }, { "frames": [0, 2], "nanos": 1_000_000 }]
    });
    std::fs::write(&saved, document.to_string()).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_cargo-dwell"));
    let output = command.arg("allocs").arg(&saved).arg("--html").arg(&page).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(
        text.starts_with("Another allocator was not compared: the report has no runs without recording.\n"),
        "{text}"
    );
    assert!(text.contains("\n10.0 ms of CPU time, 4.0 ms (40 %) of it in the allocator: 3.0 M allocations"), "{text}");
    assert!(text.contains("`pooled!` instead of Box<dyn Fn(u8)> gives ~20.0 % (1.0-30.0) of it back"), "{text}");
    let Some(browser) = chromium() else {
        crate::support::skip("there is no Chromium to open the page with");
        return;
    };
    let dom = opened(&browser, &page, "");
    for text in ["4.0 ms", "2.0 ms", "Allocations over time", "Lifetimes, in allocations", "src/parse.rs:7"] {
        assert!(dom.contains(text), "{text}");
    }
    // Functions of std are left out: all, `app::main` and `app::parse`.
    assert_eq!(bars(&dom), 3, "{dom}");
    assert!(!dom.contains("title=\"all app::main alloc::alloc"), "{dom}");
    let dom = opened(&browser, &page, "#q=string");
    assert_eq!(dom.matches("<tr hidden").count(), 1);
    let dom = opened(&browser, &page, "#q=parse");
    assert!(dom.contains(" found\""), "functions that the search finds are marked");
}

/// The resident memory has a chart with a scale of its own: it may be far wider than the live bytes.
#[test]
fn census_page_shows_resident_memory_by_part() {
    let folder = tempfile::tempdir().unwrap();
    let (saved, page) = (folder.path().join("census.json"), folder.path().join("census.html"));
    let survivor = serde_json::json!({
        "owner": "Table.open []", "content": "Box<Session>", "at": "src/main.rs:7", "pages": 900, "alone": 900,
        "returns": 30_000_000
    });
    let rss = serde_json::json!({
        "bytes": 50_000_000, "live": 1000, "fragmented": 40_000_000, "free_pages": 9_999_000, "census": 700,
        "survivors": [survivor]
    });
    let snapshot = serde_json::json!({
        "at": "peak", "live_bytes": 1000, "live_blocks": 1, "blocks": [row("Table.open", "Vec<u8>", 1000)], "rss": rss
    });
    let document = serde_json::json!({ "version": 1, "program": { "file": "app" }, "snapshots": [snapshot] });
    std::fs::write(&saved, document.to_string()).unwrap();
    let output =
        Command::new(env!("CARGO_BIN_EXE_cargo-dwell")).arg("census").arg(&saved).arg("--html").arg(&page).output();
    let output = output.unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.contains("RSS by part: 50.0 MB resident, apart from 700 B of census"), "{text}");
    let Some(browser) = chromium() else {
        crate::support::skip("there is no Chromium to open the page with");
        return;
    };
    let dom = opened(&browser, &page, "");
    let width = |name: &str| {
        let at = dom.find(&format!("title=\"{name}")).unwrap_or_else(|| panic!("{name} is not in {dom}"));
        let bar = &dom[at..at + dom[at..].find("\">").unwrap()];
        let width = bar.split("width: ").nth(1).unwrap_or_else(|| panic!("{bar}"));
        width.split('%').next().unwrap().parse::<f64>().unwrap()
    };
    assert!((width("live bytes ") - 100.0).abs() < 0.1 && (width("RSS  50.0 MB") - 100.0).abs() < 0.1);
    let kept = "RSS  freed, but held: free bytes on pages with live bytes (fragmentation) Table.open []";
    assert!((width(kept) - 60.0).abs() < 0.1, "{}", width(kept));
}
