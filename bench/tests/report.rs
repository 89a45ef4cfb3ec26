//! Tests the HTML page in a browser, where no click may cause a script error, and the Markdown files for given rows.

use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

/// Rows of every kind: counts, times with ranges, percentiles, and growth.
const ROWS: &str = include_str!("rows.jsonl");

/// Runs `dwell-bench` with rows on standard input.
fn report(arguments: &[&str]) {
    let mut child = Command::new(env!("CARGO_BIN_EXE_dwell-bench"))
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(ROWS.as_bytes()).unwrap();
    assert!(child.wait().unwrap().success());
}

fn page(folder: &Path) -> String {
    let file = folder.join("page.html");
    report(&["report", "--html", file.to_str().unwrap()]);
    fs::read_to_string(file).unwrap()
}

/// A script that clicks every control of each section and writes errors and counts into the page.
const CLICKS: &str = r##"
const wrong = window.wrong, seen = { sections: 0, clicks: 0, pictures: 0 };
const tick = () => new Promise(done => setTimeout(done, 0));
(async () => {
    for (const tab of document.querySelectorAll("#tabs button")) {
        tab.click();
        await tick();
        const shown = [...document.querySelectorAll("section")].filter(section => !section.hidden);
        if (shown.length !== 1 || shown[0].id !== tab.dataset.of) wrong.push(`${tab.dataset.of} does not show`);
        seen.sections += 1;
        for (const summary of shown[0].querySelectorAll("summary")) summary.click();
        for (const button of shown[0].querySelectorAll("button, th[data-sort]")) {
            for (const _ of [1, 2]) button.click();
            seen.clicks += 1;
            await tick();
        }
        for (const head of shown[0].querySelectorAll('th[aria-sort="descending"]')) {
            const index = [...head.parentNode.children].indexOf(head);
            const cells = [...head.closest("table").querySelectorAll("tbody tr")].map(line => line.children[index].textContent);
            if (index < 2 && [...cells].sort().reverse().join() !== cells.join()) wrong.push(`${shown[0].id} is not sorted by ${head.textContent}`);
        }
        for (const input of shown[0].querySelectorAll("input")) {
            input.value = "no such workload";
            input.dispatchEvent(new Event("input"));
            input.value = "";
            input.dispatchEvent(new Event("input"));
        }
        seen.pictures += shown[0].querySelectorAll("svg").length;
        for (const element of shown[0].querySelectorAll("svg *")) {
            for (const { name, value } of element.attributes) if (/NaN|undefined|Infinity/.test(value)) wrong.push(`${name}="${value}" in ${shown[0].id}`);
        }
    }
    const before = document.documentElement.dataset.theme;
    document.getElementById("theme").click();
    if (document.documentElement.dataset.theme === before) wrong.push("the theme stays");
    const outcome = document.createElement("pre");
    outcome.id = "outcome";
    outcome.textContent = JSON.stringify({ wrong, ...seen });
    document.body.replaceChildren(outcome);
})();
"##;

/// Returns the name of an installed browser.
fn browser() -> Option<&'static str> {
    let names = ["chromium", "chromium-browser", "google-chrome"];
    names
        .into_iter()
        .find(|name| Command::new(name).arg("--version").output().is_ok_and(|output| output.status.success()))
}

#[test]
fn clicking_every_control_causes_no_script_error() {
    let Some(browser) = browser() else {
        eprintln!("skipped: no Chromium is here");
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    // The first script collects errors before the page's own script runs; the last one clicks after it has run.
    let page = page(folder.path())
        .replacen(
            "<head>",
            "<head><script>window.wrong = []; addEventListener('error', event => wrong.push(event.message)); \
             console.error = console.warn = (...words) => wrong.push(words.join(' '));</script>",
            1,
        )
        .replacen("</body>", &format!("<script>{CLICKS}</script></body>"), 1);
    let file = folder.path().join("clicked.html");
    fs::write(&file, page).unwrap();
    let output = Command::new(browser)
        .args(["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"])
        .args(["--disable-background-networking", "--disable-component-update", "--disable-sync"])
        .args(["--enable-logging=stderr", "--virtual-time-budget=20000", "--dump-dom"])
        .arg(format!("--user-data-dir={}", folder.path().join("profile").display()))
        .arg(format!("file://{}", file.display()))
        .output()
        .unwrap();
    let (dom, messages) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    let console: Vec<&str> = messages.lines().filter(|line| line.contains("CONSOLE")).collect();
    assert!(console.is_empty(), "{console:?}");
    let (_, outcome) = dom.split_once(r#"<pre id="outcome">"#).unwrap_or_else(|| panic!("no outcome: {dom:.2000}"));
    let outcome = outcome.split_once("</pre>").unwrap().0;
    let outcome: serde_json::Value = serde_json::from_str(&outcome.replace("&gt;", ">").replace("&amp;", "&")).unwrap();
    assert_eq!(outcome["wrong"], serde_json::json!([]), "{outcome}");
    // The summary, the modules in the rows, and the articles.
    assert!(outcome["sections"].as_u64() >= Some(5), "{outcome}");
    assert!(outcome["clicks"].as_u64() >= Some(15), "{outcome}");
    assert!(outcome["pictures"].as_u64() >= Some(15), "{outcome}");
}

#[test]
fn rows_are_written_to_markdown_and_the_readme() {
    let folder = tempfile::tempdir().unwrap();
    let (results, readme) = (folder.path().join("results.md"), folder.path().join("README.md"));
    fs::write(&readme, "before\n<!-- results -->\n<!-- /results -->\nafter\n").unwrap();
    report(&["report", "--markdown", results.to_str().unwrap(), "--readme", readme.to_str().unwrap()]);
    let results = fs::read_to_string(results).unwrap();
    assert!(results.contains("## slab") && results.contains("| **dwell** |") && results.contains("| peers |"));
    let readme = fs::read_to_string(readme).unwrap();
    let lines = readme.lines().filter(|line| line.starts_with("| ")).count();
    assert!(lines > 3 && lines <= 13, "{readme}");
}
