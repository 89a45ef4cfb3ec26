//! The outcomes of tests, and what differs between two runs.

use std::collections::{BTreeMap, BTreeSet};

/// The number of times that tests of a name had an outcome.
pub(super) type Outcomes = BTreeMap<(String, String), usize>;

/// The result of a user's tests.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Tests {
    /// The outcomes by name: `ok`, `FAILED`, `ignored`. An executable of tests has one too: `ran` or `failed`.
    pub(super) outcomes: Outcomes,
    /// Whether the command succeeded.
    pub(super) success: bool,
    /// The error of a command without any outcome: it did not build.
    pub(super) error: Option<String>,
}

impl Tests {
    /// Returns the number of tests with an outcome.
    pub(super) fn count(&self, outcome: &str) -> usize {
        self.outcomes.iter().filter(|((_, known), _)| known == outcome).map(|(_, count)| count).sum()
    }

    /// Returns the tests whose outcome differs, by name. A test that has none in the other run is among them.
    pub(super) fn differ(&self, other: &Self) -> BTreeMap<String, String> {
        let with = |tests: &Self, name: &str| -> Vec<(String, usize)> {
            let own = tests.outcomes.iter().filter(|((known, _), _)| known == name);
            own.map(|((_, outcome), count)| (outcome.clone(), *count)).collect()
        };
        let names: BTreeSet<&String> =
            self.outcomes.keys().chain(other.outcomes.keys()).map(|(name, _)| name).collect();
        let mut all = BTreeMap::new();
        for name in names {
            let (before, after) = (with(self, name), with(other, name));
            if before == after {
                continue;
            }
            let new = after.iter().find(|item| !before.contains(item)).map(|(outcome, _)| outcome.as_str());
            all.insert(name.clone(), format!("{name} is {}", new.unwrap_or("missing")));
        }
        if all.is_empty() && self.success != other.success {
            let word = if other.success { "succeeds" } else { "fails" };
            all.insert(String::new(), format!("the command {word}"));
        }
        all
    }

    /// Leaves out the tests whose names are given.
    pub(super) fn without(&mut self, names: &BTreeMap<String, String>) {
        self.outcomes.retain(|(name, _), _| !names.contains_key(name));
    }
}

/// Returns the name of a test without cargo's hash, which a new dependency changes: of a generated file's document,
/// `/a/target/debug/build/app-16c59adfe1f2c7ea/out/types.rs - T::new`.
fn without_hash(name: &str) -> String {
    const DIGITS: usize = 16;
    let Some((before, after)) = name.split_once("/out/") else { return name.to_owned() };
    let Some((folder, hash)) = before.rsplit_once('-') else { return name.to_owned() };
    let is_hash = hash.len() == DIGITS && hash.bytes().all(|byte| byte.is_ascii_hexdigit());
    if is_hash && folder.contains("/build/") { format!("{folder}/out/{after}") } else { name.to_owned() }
}

/// Adds the outcomes in the output of cargo and of Rust's test harness. A document's test has its line in its name, which a change
/// moves. `note` is added to each name.
pub(super) fn outcomes(stdout: &[u8], stderr: &[u8], note: &str, all: &mut Outcomes) {
    for line in String::from_utf8_lossy(stdout).lines() {
        let Some((name, outcome)) = line.strip_prefix("test ").and_then(|rest| rest.rsplit_once(" ... ")) else {
            continue;
        };
        let name = match name.split_once(" (line ") {
            // `f (line 3) - compile fail`
            Some((name, rest)) => format!("{name}{}", rest.split_once(')').map_or("", |(_, rest)| rest)),
            None => name.to_owned(),
        };
        let name = without_hash(&name);
        // An executable that aborts leaves a name without an outcome.
        let Some(outcome) = outcome.split([' ', ',']).next().filter(|outcome| !outcome.is_empty()) else { continue };
        *all.entry((format!("{name}{note}"), outcome.to_owned())).or_default() += 1;
    }
    // An executable without the harness has no other outcome than its status.
    for line in String::from_utf8_lossy(stderr).lines() {
        let line = line.trim();
        let found = if let Some(rest) = line.strip_prefix("Running ") {
            rest.split_once(" (").map(|(name, _)| (name.to_owned(), "ran"))
        } else if let Some(name) = line.strip_prefix("Doc-tests ") {
            Some((format!("documents of {name}"), "ran"))
        } else {
            let failed = line.strip_prefix("error: test failed, to rerun pass `");
            failed.and_then(|rest| Some((format!("`{}`", rest.strip_suffix('`')?), "failed")))
        };
        if let Some((name, outcome)) = found {
            *all.entry((format!("{name}{note}"), outcome.to_owned())).or_default() += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(stdout: &str, stderr: &str) -> Outcomes {
        let mut all = Outcomes::new();
        outcomes(stdout.as_bytes(), stderr.as_bytes(), "", &mut all);
        all
    }

    #[test]
    fn documents_of_generated_files_have_no_hash() {
        let name = |hash: &str| format!("/a/target/debug/build/app-{hash}/out/types.rs - T::new (line 3)");
        let read = |hash: &str| read(&format!("test {} ... ok\n", name(hash)), "");
        assert_eq!(read("16c59adfe1f2c7ea"), read("7da5a2814799560f"));
        assert_ne!(read("16c59adfe1f2c7ea"), read("another"));
        assert_eq!(without_hash("src/lib.rs - T::new"), "src/lib.rs - T::new");
    }

    #[test]
    fn outcomes_are_read() {
        let text = "running 3 tests\ntest a::b ... ok\ntest c ... FAILED\ntest d - should panic ... ok\n\
                    test src/lib.rs - f (line 3) ... ok\ntest e ... ignored, because\ntest result: FAILED. 2 passed;\n";
        let all = read(text, "");
        let keys: Vec<_> = all.keys().map(|(name, outcome)| format!("{name}={outcome}")).collect();
        assert_eq!(keys, ["a::b=ok", "c=FAILED", "d - should panic=ok", "e=ignored", "src/lib.rs - f=ok"]);
        let before = Tests { outcomes: all.clone(), ..Tests::default() };
        let moved = read(&text.replace("(line 3)", "(line 4)").replace("c ... FAILED", "c ... ok"), "");
        let after = Tests { outcomes: moved, success: true, error: None };
        let differ = before.differ(&after);
        assert_eq!((differ["c"].as_str(), differ.len(), after.count("ok")), ("c is ok", 1, 4));
    }

    /// A test after which the executable aborts has no outcome, and those after it have none either.
    #[test]
    fn a_test_without_an_outcome_after_the_change_differs() {
        let tests = |stdout: &str, stderr: &str| Tests { outcomes: read(stdout, stderr), ..Tests::default() };
        let before = tests("test a ... FAILED\ntest b ... ok\n", "");
        let after = tests("test a ... FAILED\ntest b ... ", "");
        assert_eq!(before.differ(&after)["b"], "b is missing");
        let running = "     Running tests/own.rs (target/debug/deps/own-4ae2)\n";
        let failed = format!("{running}error: test failed, to rerun pass `--test own`\n");
        let (before, after) = (tests("", running), tests("", &failed));
        assert_eq!(before.differ(&after)["`--test own`"], "`--test own` is failed");
        let mut flaky = before.clone();
        flaky.without(&before.differ(&after));
        assert!(flaky.differ(&before).is_empty());
    }
}
