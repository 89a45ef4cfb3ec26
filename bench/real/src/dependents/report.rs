//! The comparison of both sides, and the results as a Markdown table and as JSON.

use anyhow::{Result, bail};
use serde_json::json;
use std::fmt::Write as _;

use super::{Ran, Tested};
use crate::table;

/// Compares both sides.
///
/// # Errors
///
/// If they differ and the list does not say so, or the reverse.
pub(super) fn verdict(tested: &Tested) -> Result<()> {
    let differences = differences(tested);
    match &tested.dependent.differs {
        None if differences.is_empty() => Ok(()),
        None => bail!("the results differ\n  {}", differences.join("\n  ")),
        Some(_) if differences.is_empty() => bail!("the results are equal, but the list gives a reason; remove it"),
        Some(known) => {
            let expected: Vec<String> = match known.tests {
                [] => vec![NOT_BUILT.to_owned()],
                tests => tests.iter().map(|name| only_with("drop-in", name)).collect(),
            };
            let unknown: Vec<&str> = differences
                .iter()
                .map(|difference| difference.lines().next().unwrap_or_default())
                .filter(|difference| !expected.iter().any(|expected| expected == difference))
                .collect();
            let missing =
                expected.iter().filter(|expected| !differences.iter().any(|found| found.starts_with(*expected)));
            let missing: Vec<String> = missing.map(|expected| format!("no longer: {expected}")).collect();
            if unknown.is_empty() && missing.is_empty() {
                return Ok(());
            }
            let all: Vec<&str> = unknown.into_iter().chain(missing.iter().map(String::as_str)).collect();
            bail!("the results differ in another way than the list says\n  {}", all.join("\n  "))
        }
    }
}

/// Compares whether both sides build.
///
/// # Errors
///
/// If the crate does not build with the drop-ins and the list does not say so, or the reverse.
pub(super) fn builds(tested: &Tested) -> Result<()> {
    let refused = matches!(&tested.dependent.differs, Some(differs) if differs.tests.is_empty());
    match &tested.after {
        Ran::NotBuilt(errors) if !refused => bail!("{NOT_BUILT}\n{errors}"),
        Ran::Built(_) if refused => bail!("builds with the drop-in, but the list says that it does not"),
        _ => Ok(()),
    }
}

const NOT_BUILT: &str = "does not build with the drop-in";

fn only_with(side: &str, test: &str) -> String {
    format!("fails only with the {side}: {test}")
}

/// Returns what differs, one item a string.
fn differences(tested: &Tested) -> Vec<String> {
    let (Ran::Built(before), after) = (&tested.before, &tested.after) else { return Vec::new() };
    let after = match after {
        Ran::Built(after) => after,
        Ran::NotBuilt(errors) => return vec![format!("{NOT_BUILT}\n{errors}")],
    };
    let mut found: Vec<String> =
        after.failures.difference(&before.failures).map(|name| only_with("drop-in", name)).collect();
    found.extend(before.failures.difference(&after.failures).map(|name| only_with("original", name)));
    if before.signals != after.signals {
        found.push(format!(
            "test programs end by {:?} with the original, by {:?} with the drop-in",
            before.signals, after.signals
        ));
    }
    if before.timed_out != after.timed_out {
        found.push(format!(
            "the time limit ends the tests with the {}",
            if after.timed_out { "drop-in" } else { "original" }
        ));
    }
    // What the time limit ends, it ends anywhere.
    if found.is_empty() && before.tests != after.tests && !before.timed_out {
        found.push(format!("{:?} with the original, {:?} with the drop-in", before.tests, after.tests));
    }
    found
}

/// Returns the table, and the reasons for the differences below it.
pub(super) fn markdown(crates: &[Tested]) -> String {
    let mut text = String::from(
        "| crate | replaced | tests | with the original | with the drop-in | equal | seconds |\n|---|---|---|--:|--:|---|--:|\n",
    );
    let mut reasons = String::new();
    for tested in crates {
        let dependent = tested.dependent;
        let (name, version) = (dependent.package.name, dependent.package.version);
        let originals: Vec<&str> = dependent.originals.iter().map(|original| original.name).collect();
        let (before, after) = (cell(&tested.before), cell(&tested.after));
        let equal = if differences(tested).is_empty() { "yes" } else { "no" };
        let _ = writeln!(
            text,
            "| {name} {version} | {} | {} | {before} | {after} | {equal} | {} |",
            originals.join(", "),
            dependent.part,
            tested.seconds
        );
        if let Some(differs) = &dependent.differs {
            let _ = writeln!(reasons, "- **{name} {version}.** {}", differs.reason);
        }
    }
    if !reasons.is_empty() {
        let _ = write!(text, "\n{reasons}");
    }
    text
}

fn cell(ran: &Ran) -> String {
    let outcome = match ran {
        Ran::Built(outcome) => outcome,
        Ran::NotBuilt(_) => return "does not build".to_owned(),
    };
    let mut text = table::tests(outcome.tests);
    for signal in &outcome.signals {
        let _ = write!(text, ", {signal}");
    }
    if outcome.timed_out {
        text.push_str(", time limit");
    }
    text
}

/// Returns one row for each number, with the keys of the other modules.
pub(super) fn json(tested: &Tested) -> String {
    let package = &tested.dependent.package;
    let originals = tested.dependent.originals;
    let joined = |name: fn(&super::Original) -> &'static str| {
        originals.iter().map(|original| name(original)).collect::<Vec<_>>().join(",")
    };
    let (subject, baseline) = (joined(|original| original.drop_in), joined(|original| original.name));
    let count = |ran: &Ran, failed: bool| match ran {
        Ran::Built(outcome) => Some(if failed { outcome.tests.failed } else { outcome.tests.passed }),
        Ran::NotBuilt(_) => None,
    };
    let mut text = String::new();
    for (metric, failed) in [("tests_passed", false), ("tests_failed", true)] {
        let (before, after) = (count(&tested.before, failed), count(&tested.after, failed));
        let ratio = match (before, after) {
            (Some(before), Some(after)) if before > 0 => after as f64 / before as f64,
            _ => 0.0,
        };
        let row = json!({
            "module": "dependents", "workload": package.name, "subject": subject, "metric": metric, "value": after,
            "unit": "tests", "baseline": baseline, "ratio": ratio, "before": before, "version": package.version,
        });
        let _ = writeln!(text, "{row}");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::super::list::BUMPALO;
    use super::super::{Dependent, Differs};
    use super::*;
    use crate::cargo::{Outcome, Tests};
    use crate::program::Package;

    const PACKAGE: Package = Package { name: "herd", version: "1.0.0", edits: "", tests: Some(&["--lib"]) };
    const SAME: Dependent = Dependent { package: PACKAGE, originals: &[&BUMPALO], part: "unit tests", differs: None };
    static PLAIN: Dependent = SAME;
    static KNOWN: Dependent =
        Dependent { differs: Some(Differs { tests: &["order"], reason: "It sorts by address." }), ..SAME };
    static REFUSED: Dependent = Dependent { differs: Some(Differs { tests: &[], reason: "No such method." }), ..SAME };

    fn ran(passed: usize, failures: &[&str]) -> Ran {
        let tests = Tests { passed, failed: failures.len(), ignored: 0 };
        let failures = failures.iter().map(|name| (*name).to_owned()).collect();
        Ran::Built(Outcome { tests, failures, ..Outcome::default() })
    }

    fn tested(dependent: &'static Dependent, after: Ran) -> Tested {
        Tested { dependent, before: ran(3, &["old"]), after, seconds: 7 }
    }

    fn message(tested: &Tested) -> String {
        verdict(tested).unwrap_err().to_string()
    }

    #[test]
    fn equal_failures_are_no_difference() {
        verdict(&tested(&PLAIN, ran(3, &["old"]))).unwrap();
        let other = message(&tested(&PLAIN, ran(3, &["new"])));
        assert_eq!(
            other,
            "the results differ\n  fails only with the drop-in: new\n  fails only with the original: old"
        );
        let fewer = message(&tested(&PLAIN, ran(2, &["old"])));
        assert!(fewer.contains("passed: 3, failed: 1") && fewer.contains("passed: 2, failed: 1"), "{fewer}");
    }

    #[test]
    fn signal_and_time_limit_are_differences() {
        let Ran::Built(outcome) = ran(3, &["old"]) else { unreachable!() };
        let late = Outcome { timed_out: true, ..outcome.clone() };
        assert!(message(&tested(&PLAIN, Ran::Built(late))).contains("the time limit ends the tests with the drop-in"));
        let ended = Outcome { signals: vec!["signal 6".to_owned()], ..outcome };
        assert!(message(&tested(&PLAIN, Ran::Built(ended))).contains("by [\"signal 6\"] with the drop-in"));
    }

    #[test]
    fn known_difference_must_be_exactly_as_listed() {
        verdict(&tested(&KNOWN, ran(2, &["old", "order"]))).unwrap();
        assert!(message(&tested(&KNOWN, ran(3, &["old"]))).ends_with("remove it"));
        let more = message(&tested(&KNOWN, ran(1, &["old", "order", "worse"])));
        assert!(more.ends_with("than the list says\n  fails only with the drop-in: worse"), "{more}");
        let built = Ran::NotBuilt("error[E0599]".to_owned());
        assert!(message(&tested(&KNOWN, built.clone())).contains("does not build"));
        verdict(&tested(&REFUSED, built)).unwrap();
        assert!(message(&tested(&REFUSED, ran(2, &["old", "a"]))).contains("no longer: does not build"));
    }

    #[test]
    fn check_compares_only_the_builds() {
        builds(&tested(&KNOWN, Ran::Built(Outcome::default()))).unwrap();
        builds(&tested(&REFUSED, Ran::NotBuilt(String::new()))).unwrap();
        assert!(builds(&tested(&REFUSED, Ran::Built(Outcome::default()))).is_err());
        let error = builds(&tested(&KNOWN, Ran::NotBuilt("error[E0599]".to_owned()))).unwrap_err().to_string();
        assert_eq!(error, "does not build with the drop-in\nerror[E0599]");
    }

    #[test]
    fn tests_that_the_time_limit_ends_on_both_sides_may_differ_in_number() {
        let late = |passed| match ran(passed, &[]) {
            Ran::Built(outcome) => Ran::Built(Outcome { timed_out: true, ..outcome }),
            not_built @ Ran::NotBuilt(_) => not_built,
        };
        verdict(&Tested { before: late(3), ..tested(&PLAIN, late(5)) }).unwrap();
    }

    #[test]
    fn table_has_a_row_for_each_crate_and_the_reasons() {
        let rows = [tested(&KNOWN, ran(2, &["old", "order"])), tested(&REFUSED, Ran::NotBuilt(String::new()))];
        assert_eq!(
            markdown(&rows),
            "| crate | replaced | tests | with the original | with the drop-in | equal | seconds |\n\
             |---|---|---|--:|--:|---|--:|\n\
             | herd 1.0.0 | bumpalo | unit tests | 1 of 4 fail | 2 of 4 fail | no | 7 |\n\
             | herd 1.0.0 | bumpalo | unit tests | 1 of 4 fail | does not build | no | 7 |\n\
             \n- **herd 1.0.0.** It sorts by address.\n- **herd 1.0.0.** No such method.\n"
        );
    }

    #[test]
    fn json_rows_have_the_keys_of_the_other_modules() {
        let rows = json(&tested(&PLAIN, ran(3, &["old"])));
        let rows: Vec<serde_json::Value> = rows.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        assert_eq!(rows.len(), 2);
        for key in ["module", "workload", "subject", "metric", "value", "unit", "baseline", "ratio"] {
            assert!(rows.iter().all(|row| row.get(key).is_some()), "{key}");
        }
        assert_eq!((&rows[0]["value"], &rows[0]["subject"]), (&3.into(), &"dwell-bumpalo".into()));
    }
}
