//! The answer: what the program costs, what held, what was tried and lost, what needs a person.

use super::candidates::Candidate;
use super::costs::{Gain, Noise};
use crate::apply::moves::Saves;
use crate::apply::patched::Patched;
use crate::processes::Usage;
use dwell_output::units;
use serde::{Deserialize, Serialize};
use std::collections::HashSet;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The number of rows of what lost and of what needs a person.
const ROWS: usize = 8;
/// The share of the bytes or of the time from which on a person is asked.
pub(super) const WORTH_A_LINE: f64 = 0.01;

/// How a try ended.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) enum Ended {
    /// It holds: the tests are as before, and the gain is one.
    Held {
        gain: Gain,
        /// The changed files with their texts.
        files: Vec<(PathBuf, String)>,
        /// The numbers of added and removed lines.
        lines: [usize; 2],
        /// The change as a diff.
        patch: String,
        /// New warnings, tests that differ in one of two runs.
        notes: Vec<String>,
    },
    /// It compiles, and does not pay or fails a test.
    Lost { gain: Option<Gain>, why: String },
    /// A person has to make or to judge it.
    Person { why: String },
}

/// A change with its result.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Tried {
    pub(super) name: String,
    pub(super) how: String,
    pub(super) kind: String,
    /// What a report expects to be saved: bytes of those at the peak, or a share of the CPU time in per cent.
    pub(super) bytes: Option<u64>,
    pub(super) percent: Option<f64>,
    pub(super) ended: Ended,
}

impl Tried {
    pub(super) fn new(candidate: &Candidate, ended: Ended) -> Self {
        let (mut bytes, mut percent) = (None, None);
        if let Candidate::Counted(change) = candidate
            && !change.is_of_std
        {
            match change.saves {
                Saves::Bytes(all) => bytes = Some(change.saves_alone.unwrap_or(all)),
                Saves::Nanos(_) => percent = Some(change.percent[1]),
            }
        }
        Self { name: candidate.name(), how: candidate.how(), kind: candidate.kind().to_owned(), bytes, percent, ended }
    }

    /// Returns the share of the bytes or of the time that a report expects to be saved; `None`: none expects anything.
    fn share(&self, live: u64) -> Option<f64> {
        match (self.bytes, self.percent) {
            (Some(bytes), _) if bytes > 0 => Some(bytes as f64 / (live as f64).max(1.0)),
            (_, Some(percent)) => Some(percent / 100.0),
            _ => None,
        }
    }

    /// Returns what was predicted, in words.
    fn predicted(&self, is_sure: bool) -> String {
        let may = if is_sure { "" } else { "may save " };
        match (self.bytes, self.percent) {
            (Some(bytes), _) if bytes > 0 => format!("; {may}{}{}", units::bytes(bytes), of_prediction(is_sure)),
            (_, Some(percent)) => format!("; {may}{percent:.0} % of the CPU time{}", of_prediction(is_sure)),
            _ => String::new(),
        }
    }
}

fn of_prediction(is_sure: bool) -> &'static str {
    if is_sure { " predicted" } else { "" }
}

/// What the program costs before all changes, as far as it was measured.
#[derive(Clone, Debug, Default)]
pub(super) struct Known {
    /// What is measured now.
    pub(super) step: &'static str,
    /// The name of the program; empty: it was not run yet.
    pub(super) program: String,
    /// Live bytes and blocks at the peak.
    pub(super) live: [u64; 2],
    /// CPU time and resident bytes of a run.
    pub(super) usage: Option<Usage>,
    pub(super) noise: Option<Noise>,
}

impl Known {
    /// Prints it.
    ///
    /// # Errors
    /// Returns an error if it cannot be written.
    pub(super) fn print(&self, out: &mut dyn Write) -> io::Result<()> {
        if self.program.is_empty() {
            return Ok(());
        }
        let [bytes, blocks] = self.live;
        let (bytes, blocks) = (units::bytes(bytes), units::plural(blocks, "block"));
        write!(out, "{}: {bytes} live at the peak in {blocks}", self.program)?;
        if let Some(usage) = self.usage {
            let (resident, seconds) = (units::bytes(usage.resident), usage.cpu().as_secs_f64());
            write!(out, ", {resident} resident, {seconds:.2} s of CPU time")?;
        }
        writeln!(out)?;
        let Some(noise) = self.noise else { return Ok(()) };
        let instructions = match noise.instructions {
            Some(share) => format!(", {:.1} % of the instructions", share * 100.0),
            None => {
                "; instructions are not counted: the kernel counts none here, and valgrind is missing or takes too long"
                    .to_owned()
            }
        };
        writeln!(
            out,
            "equal runs differ by {} live, {:.1} % of the CPU time, {:.1} % of the resident bytes{instructions}",
            units::bytes(noise.live),
            noise.cpu * 100.0,
            noise.resident * 100.0
        )
    }

    /// Prints it after an interrupt before the first try.
    ///
    /// # Errors
    /// Returns an error if it cannot be written.
    pub(super) fn print_interrupted(&self, out: &mut dyn Write) -> io::Result<()> {
        self.print(out)?;
        writeln!(out, "\nnothing was tried before the interrupt (it {}); --resume goes on", self.step)
    }
}

/// What is printed.
#[derive(Debug)]
pub(super) struct Answer<'a> {
    /// What the program costs.
    pub(super) known: &'a Known,
    pub(super) tried: &'a [Tried],
    /// What all kept changes save together.
    pub(super) together: Option<Gain>,
    /// The changes that no time was left for.
    pub(super) untried: usize,
    /// How long it took until the first try began, or until the end.
    pub(super) waited: Duration,
    /// Whether the end was a signal.
    pub(super) is_interrupted: bool,
    /// The patches.
    pub(super) patches: &'a [PathBuf],
    pub(super) branch: Option<&'a str>,
    /// The dependency whose source was changed.
    pub(super) patched: Option<&'a Patched>,
    /// The folder of the workspace, where the paths in the patches begin.
    pub(super) root: &'a Path,
    /// The kinds of predictions that are often wrong by more than a fifth.
    pub(super) unsure: &'a [String],
}

impl Answer<'_> {
    /// Prints it.
    ///
    /// # Errors
    /// Returns an error if it cannot be written.
    pub(super) fn print(&self, out: &mut dyn Write) -> io::Result<()> {
        self.known.print(out)?;
        let is = |is_end: fn(&Ended) -> bool| {
            self.tried.iter().filter(move |tried| is_end(&tried.ended)).collect::<Vec<_>>()
        };
        let held = is(|ended| matches!(ended, Ended::Held { .. }));
        let lost = is(|ended| matches!(ended, Ended::Lost { .. }));
        let person = self.persons(is(|ended| matches!(ended, Ended::Person { .. })));
        writeln!(out, "\nheld: {} of {} tried", held.len(), held.len() + lost.len())?;
        for (number, tried) in held.iter().enumerate() {
            let Ended::Held { gain, files, lines: [added, removed], notes, .. } = &tried.ended else { continue };
            let files: Vec<String> = files.iter().map(|(file, _)| file.display().to_string()).collect();
            writeln!(out, "{:3}. {}: {}", number + 1, tried.name, tried.how)?;
            writeln!(out, "     {}{}", gain.words(), tried.predicted(self.is_sure(tried)))?;
            writeln!(out, "     +{added} -{removed} lines: {}", files.join(", "))?;
            for note in notes {
                writeln!(out, "     note: {note}")?;
            }
        }
        if let Some(together) = self.together.as_ref().filter(|_| held.len() > 1) {
            writeln!(out, "  together: {}", together.words())?;
        }
        print_rows(out, "tried and lost", &lost, &|tried| {
            let Ended::Lost { gain, why } = &tried.ended else { return String::new() };
            let numbers = gain.as_ref().map_or_else(String::new, |gain| format!(" ({})", gain.words()));
            format!("{}: {}: {why}{numbers}{}", tried.name, tried.how, tried.predicted(self.is_sure(tried)))
        })?;
        print_rows(out, "needs a person", &person, &|tried| {
            let Ended::Person { why } = &tried.ended else { return String::new() };
            // What refuses a change may name its place itself.
            let twice = format!("{0}: {0}", tried.name);
            let why = why.strip_prefix(&twice).map_or_else(|| why.clone(), |rest| format!("{}{rest}", tried.name));
            format!("{why}{}", tried.predicted(self.is_sure(tried)))
        })?;
        if self.untried > 0 {
            let why = if self.is_interrupted { "before the interrupt" } else { "in this time" };
            writeln!(
                out,
                "\nnot tried {why}: {}; --resume goes on, --time gives more (the first try began after {}:{:02})",
                units::plural(self.untried as u64, "change"),
                self.waited.as_secs() / 60,
                self.waited.as_secs() % 60
            )?;
        }
        if let Some(branch) = self.branch {
            writeln!(out, "\nbranch {branch}: {}", units::plural(held.len() as u64, "commit"))?;
        }
        if let [first, ..] = self.patches {
            let folder = first.parent().unwrap_or(Path::new(""));
            let here = std::env::current_dir().unwrap_or_default();
            let folder = folder.strip_prefix(self.root).unwrap_or(folder).display();
            let cd = match self.root.strip_prefix(&here).unwrap_or(self.root) {
                root if root == Path::new("") => String::new(),
                root => format!("cd {} && ", root.display()),
            };
            match self.patched {
                None => {
                    writeln!(out, "\n`{cd}git apply {folder}/*.patch` makes the changes; your source is as it was")?;
                }
                Some(patched) => patched.print(first, out)?,
            }
        }
        Ok(())
    }

    /// Returns what needs a person and may be worth it, one row for each place, those that promise most first.
    fn persons<'t>(&self, mut all: Vec<&'t Tried>) -> Vec<&'t Tried> {
        let share = |tried: &Tried| tried.share(self.known.live[0]).unwrap_or(f64::INFINITY);
        all.retain(|tried| share(tried) >= WORTH_A_LINE);
        all.sort_by(|one, other| share(other).total_cmp(&share(one)));
        let mut places = HashSet::new();
        all.retain(|tried| places.insert(&tried.name));
        all
    }

    fn is_sure(&self, tried: &Tried) -> bool {
        !self.unsure.contains(&tried.kind)
    }
}

/// Prints rows of one line each.
fn print_rows(out: &mut dyn Write, title: &str, rows: &[&Tried], line: &dyn Fn(&Tried) -> String) -> io::Result<()> {
    if rows.is_empty() {
        return Ok(());
    }
    writeln!(out, "\n{title}:")?;
    for tried in rows.iter().take(ROWS) {
        writeln!(out, "  {}", line(tried).split_whitespace().collect::<Vec<_>>().join(" "))?;
    }
    if rows.len() > ROWS {
        writeln!(out, "  and {} more", rows.len() - ROWS)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answer_is_one_screen() {
        let gain = Gain { live: [1000, 600], resident: [5000, 4000], cpu: vec![0.97, 0.98, 1.0], ..Gain::default() };
        let held = Ended::Held {
            gain: gain.clone(),
            files: vec![("src/a.rs".into(), String::new())],
            lines: [2, 1],
            patch: String::new(),
            notes: Vec::new(),
        };
        let tried = |name: &str, ended: Ended| Tried {
            name: name.into(),
            how: "box it".into(),
            kind: "box".into(),
            bytes: Some(400),
            percent: None,
            ended,
        };
        let all = [
            tried("A.b", held),
            tried("A.c", Ended::Lost { gain: None, why: "tests: not as before".into() }),
            tried("D.e", Ended::Person { why: "D.e is declared in d".into() }),
            Tried { bytes: Some(300), ..tried("D.e", Ended::Person { why: "again".into() }) },
            Tried { bytes: Some(500), ..tried("D.f", Ended::Person { why: "D.f: D.f: is no field".into() }) },
            Tried {
                kind: "shrink".into(),
                bytes: Some(600),
                ..tried("D.h", Ended::Person { why: "D.h grows".into() })
            },
            Tried { bytes: Some(9), ..tried("D.g", Ended::Person { why: "too little".into() }) },
        ];
        let patches = [PathBuf::from("out/1-a-b.patch")];
        let usage = Usage { resident: 5000, user: Duration::from_millis(1500), ..Usage::default() };
        let known = Known {
            program: "app".into(),
            live: [1000, 3],
            usage: Some(usage),
            noise: Some(Noise::default()),
            step: "measures",
        };
        let answer = Answer {
            known: &known,
            tried: &all,
            together: None,
            untried: 2,
            waited: Duration::from_secs(65),
            is_interrupted: false,
            patches: &patches,
            branch: None,
            patched: None,
            root: Path::new("/app"),
            unsure: &["shrink".to_owned()],
        };
        let mut out = Vec::new();
        answer.print(&mut out).unwrap();
        let text = String::from_utf8(out).unwrap();
        for line in [
            "app: 1.0 kB live at the peak in 3 blocks, 5.0 kB resident, 1.50 s of CPU time\n",
            "held: 1 of 2 tried\n  1. A.b: box it\n     live bytes 1.0 kB to 600 B (-40.0 %)",
            "; 400 B predicted\n     +2 -1 lines: src/a.rs\n",
            "tried and lost:\n  A.c: box it: tests: not as before; 400 B predicted\n",
            "needs a person:\n  D.h grows; may save 600 B\n  D.f: is no field; 500 B predicted\n  D.e is declared in d; 400 B predicted\n\nnot tried",
            "not tried in this time: 2 changes; --resume goes on, --time gives more (the first try began after 1:05)\n",
            "`cd /app && git apply out/*.patch` makes the changes",
        ] {
            assert!(text.contains(line), "{line:?} is not in\n{text}");
        }
    }

    #[test]
    fn an_interrupt_says_what_is_known() {
        let print = |known: &Known| {
            let mut out = Vec::new();
            known.print_interrupted(&mut out).unwrap();
            String::from_utf8(out).unwrap()
        };
        let end = "\nnothing was tried before the interrupt (it builds); --resume goes on\n";
        let mut known = Known { step: "builds", ..Known::default() };
        assert_eq!(print(&known), end);
        (known.program, known.live) = ("app".into(), [2000, 3]);
        assert_eq!(print(&known), format!("app: 2.0 kB live at the peak in 3 blocks\n{end}"));
    }
}
