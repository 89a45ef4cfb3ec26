//! Measurements of built drivers: instructions, paired times, bytes.

use anyhow::{Context, Result, bail, ensure};
use std::path::Path;
use std::process::{Command, Output, Stdio};

/// A number for each side.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Pair {
    pub(crate) before: f64,
    pub(crate) after: f64,
}

impl Pair {
    pub(crate) fn ratio(self) -> f64 {
        self.after / self.before
    }
}

/// The times of both sides, and the ratio of paired times.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Time {
    /// The shortest time of each side, in nanoseconds.
    pub(crate) least: Pair,
    /// The median of the ratios of the pairs, and its 95 % confidence interval.
    pub(crate) ratio: f64,
    pub(crate) low: f64,
    pub(crate) high: f64,
}

/// Returns the output of a driver: a number, and the checksum of the workload.
fn answer(output: &Output, what: &Path) -> Result<(f64, String)> {
    if !output.status.success() {
        let message = String::from_utf8_lossy(&output.stderr);
        bail!("{} failed: {}", what.display(), message.lines().last().unwrap_or("no message"));
    }
    let text = String::from_utf8_lossy(&output.stdout);
    let parts = text.trim().split_once(' ').and_then(|(number, checksum)| Some((number.parse().ok()?, checksum)));
    let (number, checksum) = parts.with_context(|| format!("{} printed `{}`", what.display(), text.trim()))?;
    Ok((number, checksum.to_owned()))
}

fn same_work(before: &str, after: &str) -> Result<()> {
    ensure!(before == after, "both sides must do the same work; the checksums are {before} and {after}");
    Ok(())
}

/// Returns the largest number of live bytes of one run: `peak` of requested bytes, `held` of the allocator's.
pub(crate) fn peak(before: &Path, after: &Path, what: &str, workload: &str) -> Result<Pair> {
    let peak = |binary: &Path| {
        let output = Command::new(binary).args([what, workload]).output();
        answer(&output.with_context(|| format!("cannot run {}", binary.display()))?, binary)
    };
    let (before, after) = (peak(before)?, peak(after)?);
    same_work(&before.1, &after.1)?;
    Ok(Pair { before: before.0, after: after.0 })
}

/// Returns the times of both sides. Each round runs both, every other round in reverse order.
pub(crate) fn time(before: &Path, after: &Path, workload: &str, rounds: usize) -> Result<Time> {
    let time = |binary: &Path| {
        let output = Command::new(binary).args(["time", workload]).output();
        answer(&output.with_context(|| format!("cannot run {}", binary.display()))?, binary)
    };
    let mut least = Pair { before: f64::INFINITY, after: f64::INFINITY };
    let mut ratios = Vec::new();
    for round in 0..rounds {
        let (old, new) = if round.is_multiple_of(2) {
            let old = time(before)?;
            (old, time(after)?)
        } else {
            let new = time(after)?;
            (time(before)?, new)
        };
        same_work(&old.1, &new.1)?;
        least = Pair { before: least.before.min(old.0), after: least.after.min(new.0) };
        ratios.push(new.0 / old.0);
    }
    let [ratio, low, high] = spread(ratios);
    Ok(Time { least, ratio, low, high })
}

/// Returns the median of values and its 95 % confidence interval.
///
/// The interval is by ranks, so it holds for any distribution; for fewer than six values it is their range.
///
/// # Panics
///
/// Panics if there are no values.
pub fn spread(mut values: Vec<f64>) -> [f64; 3] {
    values.sort_by(f64::total_cmp);
    let count = values.len() as f64;
    #[expect(
        clippy::cast_sign_loss,
        clippy::cast_possible_truncation,
        reason = "the index is positive and below `len`"
    )]
    let low = (count / 2.0 - 0.98 * count.sqrt()).max(1.0) as usize - 1;
    let (least, greatest) = (values[low], values[values.len() - 1 - low]);
    [median(values), least, greatest]
}

/// Returns the middle value, or the mean of the middle two.
///
/// # Panics
///
/// Panics if there are no values.
pub fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    let middle = values.len() / 2;
    if values.len().is_multiple_of(2) { f64::midpoint(values[middle - 1], values[middle]) } else { values[middle] }
}

/// Returns the version of the installed valgrind, or `None`.
pub fn valgrind() -> Option<String> {
    let output = Command::new("valgrind").arg("--version").stderr(Stdio::null()).output().ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

/// Returns the instructions of one run: those of a process that runs the workload `1 + more` times, less those of a
/// process that runs it once, divided by `more`.
pub(crate) fn instructions(before: &Path, after: &Path, workload: &str, more: u32) -> Result<Pair> {
    let count = |binary: &Path, times: u32| {
        let output = Command::new("valgrind")
            .args(["--tool=callgrind", "--callgrind-out-file=/dev/null"])
            .arg(binary)
            .args(["count", workload, &times.to_string()])
            .output()
            .context("cannot run valgrind")?;
        let (_, checksum) = answer(&output, binary)?;
        let count = collected(&String::from_utf8_lossy(&output.stderr)).context("callgrind gave no count")?;
        anyhow::Ok((count, checksum))
    };
    let of_one = |binary: &Path| {
        let (once, checksum) = count(binary, 1)?;
        let (more_often, _) = count(binary, 1 + more)?;
        anyhow::Ok(((more_often - once) / f64::from(more), checksum))
    };
    let (before, after) = (of_one(before)?, of_one(after)?);
    same_work(&before.1, &after.1)?;
    Ok(Pair { before: before.0, after: after.0 })
}

/// Returns the number in callgrind's last line, `==1234== Collected : 5678`.
fn collected(messages: &str) -> Option<f64> {
    let line = messages.lines().find(|line| line.contains("Collected :"))?;
    line.rsplit_once(':')?.1.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    #[test]
    #[expect(clippy::float_cmp, reason = "exact in binary")]
    fn median_is_the_middle_value() {
        assert_eq!(super::median(vec![3.0, 1.0, 2.0]), 2.0);
        assert_eq!(super::median(vec![4.0, 1.0, 2.0, 100.0]), 3.0);
    }

    #[test]
    #[expect(clippy::float_cmp, reason = "exact in binary")]
    fn spread_is_a_rank_interval_of_the_median() {
        assert_eq!(super::spread(vec![3.0, 1.0, 2.0]), [2.0, 1.0, 3.0]);
        // The 6th and the 16th of 21 values, as in tables of the binomial distribution.
        assert_eq!(super::spread((1..=21).map(f64::from).collect()), [11.0, 6.0, 16.0]);
    }

    #[test]
    fn instruction_count_is_parsed() {
        assert_eq!(super::collected("==7== Events    : Ir\n==7== Collected : 123\n==7== I refs: 123"), Some(123.0));
        assert_eq!(super::collected("==7== Events"), None);
    }
}
