//! What was predicted, beside what was measured: a line of JSON for each try.

use super::answer::{Ended, Tried};
use anyhow::{Context, Result, bail};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::Path;

/// The tries that a kind needs before its error is believed.
const ENOUGH: usize = 3;
/// The median error from which on a prediction is printed as a question.
const LARGE: f64 = 0.2;

/// A prediction of one try, and what was measured.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Line {
    program: String,
    kind: String,
    name: String,
    /// `bytes` at the peak, or `percent` of the CPU time.
    unit: String,
    predicted: f64,
    measured: f64,
}

impl Line {
    /// Returns the line of a try; `None` if nothing was predicted or measured.
    fn of(program: &str, tried: &Tried) -> Option<Self> {
        let gain = match &tried.ended {
            Ended::Held { gain, .. } | Ended::Lost { gain: Some(gain), .. } => gain,
            Ended::Lost { gain: None, .. } | Ended::Person { .. } => return None,
        };
        let (unit, predicted, measured) = match (tried.bytes, tried.percent) {
            (Some(bytes), _) => ("bytes", bytes as f64, gain.live[0] as f64 - gain.live[1] as f64),
            (_, Some(percent)) => ("percent", percent, (1.0 - gain.median()?) * 100.0),
            _ => return None,
        };
        let [program, kind, name, unit] = [program, &tried.kind, &tried.name, unit].map(str::to_owned);
        Some(Self { program, kind, name, unit, predicted, measured })
    }

    /// Returns the distance of the prediction from what was measured, as a share of the prediction.
    fn error(&self) -> f64 {
        (self.measured - self.predicted).abs() / self.predicted.max(1.0)
    }
}

/// Appends the tries of a run to a file.
///
/// # Errors
/// Returns an error if it cannot be written.
pub(super) fn append(file: &Path, program: &str, tried: &[Tried]) -> Result<()> {
    let failed = || format!("{}: cannot be written", file.display());
    let mut text = Vec::new();
    for line in tried.iter().filter_map(|tried| Line::of(program, tried)) {
        serde_json::to_writer(&mut text, &line).with_context(failed)?;
        text.push(b'\n');
    }
    let mut out = OpenOptions::new().create(true).append(true).open(file).with_context(failed)?;
    out.write_all(&text).with_context(failed)
}

/// Reads a file of [`append`].
///
/// # Errors
/// Returns an error if it cannot be read, or if a line is another one.
pub(super) fn read(file: &Path) -> Result<Vec<Line>> {
    let text = fs::read_to_string(file).with_context(|| format!("{}: cannot be read", file.display()))?;
    let mut all = Vec::new();
    for (index, line) in text.lines().enumerate() {
        match serde_json::from_str(line) {
            Ok(line) => all.push(line),
            Err(error) => bail!("{}:{}: is no line of `advise --record`: {error}", file.display(), index + 1),
        }
    }
    Ok(all)
}

/// Returns the errors of each kind, in order of size.
fn errors(all: &[Line]) -> BTreeMap<&str, Vec<f64>> {
    let mut kinds: BTreeMap<&str, Vec<f64>> = BTreeMap::new();
    for line in all {
        kinds.entry(&line.kind).or_default().push(line.error());
    }
    for errors in kinds.values_mut() {
        errors.sort_by(f64::total_cmp);
    }
    kinds
}

/// Returns the kinds whose predictions are often wrong by more than a fifth.
pub(super) fn unsure(all: &[Line]) -> Vec<String> {
    errors(all).into_iter().filter(|(_, errors)| is_unsure(errors)).map(|(kind, _)| kind.to_owned()).collect()
}

fn is_unsure(errors: &[f64]) -> bool {
    errors.len() >= ENOUGH && errors[errors.len() / 2] > LARGE
}

/// Prints a table of the errors.
///
/// # Errors
/// Returns an error if it cannot be written.
pub(super) fn print(all: &[Line], out: &mut dyn Write) -> Result<()> {
    if all.is_empty() {
        writeln!(out, "no try is in the file")?;
        return Ok(());
    }
    writeln!(out, "  tries  median error  largest  kind")?;
    for (kind, errors) in errors(all) {
        let (median, most) = (errors[errors.len() / 2], errors[errors.len() - 1]);
        let note = if is_unsure(&errors) { "  (printed as a question)" } else { "" };
        writeln!(out, "  {:5}  {:10.0} %  {:5.0} %  {kind}{note}", errors.len(), median * 100.0, most * 100.0)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::costs::Gain;
    use super::*;

    #[test]
    fn kinds_with_large_errors_become_questions() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("record.jsonl");
        let tried = |kind: &str, bytes, after| Tried {
            name: "A.b".into(),
            how: String::new(),
            kind: kind.into(),
            bytes: Some(bytes),
            percent: None,
            ended: Ended::Lost { gain: Some(Gain { live: [1000, after], ..Gain::default() }), why: String::new() },
        };
        let person = Tried { ended: Ended::Person { why: String::new() }, ..tried("box", 1, 1) };
        append(&file, "app", &[tried("box", 100, 895), tried("shrink", 100, 1000), person]).unwrap();
        append(&file, "app", &[tried("shrink", 400, 900), tried("shrink", 100, 950)]).unwrap();
        let all = read(&file).unwrap();
        assert_eq!((all.len(), unsure(&all)), (4, vec!["shrink".to_owned()]));
        let mut out = Vec::new();
        print(&all, &mut out).unwrap();
        let text = String::from_utf8(out).unwrap();
        assert!(text.contains("      1           5 %      5 %  box\n"), "{text}");
        assert!(text.contains("      3          75 %    100 %  shrink  (printed as a question)\n"), "{text}");
        fs::write(&file, "{}\n").unwrap();
        assert!(read(&file).unwrap_err().to_string().contains("record.jsonl:1: is no line of"));
    }

    /// A kind of which this fails is printed with a number that half of the tries contradict: its model has to be mended.
    #[test]
    fn no_kind_is_often_wrong_in_the_draws() {
        let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../bench/advise/tries.jsonl");
        if !file.exists() {
            println!("skipped: {} is not in a package", file.display());
            return;
        }
        let all = read(&file).unwrap();
        assert!(all.len() > 20 && unsure(&all).is_empty(), "{:?}", unsure(&all));
    }
}
