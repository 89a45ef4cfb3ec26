//! `cargo dwell allocators`: runs a program under other allocators and settings of them, and compares memory and time.
//!
//! Nothing is predicted. A round runs the program once under each setting, and as it is before and after these: the two tell how much
//! equal runs differ. A setting is named if it is better in each round, by more than that.

use crate::allocators::{Preload, Program, median};
use crate::processes::{self, Usage};
use crate::program::{self, BuildArgs, Outcome, Purpose};
use anyhow::{Context, Result, bail};
use clap::Args;
use dwell_output::units;
use std::collections::HashSet;
use std::ffi::OsString;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::time::{Duration, Instant};

const EXIT_CODES: &str = "Exit code: 0 if the program was measured; 2 for wrong input or usage, or if it does not run; cargo's exit code \
                          if the build fails.";

/// The least and the most rounds.
const ROUNDS: [usize; 2] = [3, 10];
/// The share that a setting must save in each round to be named.
const LEAST: f64 = 0.03;
/// Settings whose medians differ by so much of what the program takes are about as good.
const ALIKE: f64 = 0.05;
/// The longest first run.
const LONGEST: Duration = Duration::from_secs(600);

/// Settings of glibc's malloc, by variables of the environment.
const GLIBC: [&[(&str, &str)]; 5] = [
    &[("MALLOC_ARENA_MAX", "1")],
    &[("MALLOC_ARENA_MAX", "2")],
    &[("MALLOC_TRIM_THRESHOLD_", "65536")],
    &[("MALLOC_MMAP_THRESHOLD_", "65536")],
    &[("GLIBC_TUNABLES", "glibc.malloc.tcache_count=0")],
];
const MIMALLOC: [&[(&str, &str)]; 2] = [&[], &[("MIMALLOC_PURGE_DELAY", "0")]];
/// What people give jemalloc.
const DECAY: &str = "background_thread:true,dirty_decay_ms:1000,muzzy_decay_ms:0";
const FEW_ARENAS: &str = "background_thread:true,narenas:2,dirty_decay_ms:1000,muzzy_decay_ms:0";
const AT_ONCE: &str = "dirty_decay_ms:0,muzzy_decay_ms:0";
const JEMALLOC: [&[(&str, &str)]; 4] =
    [&[], &[("MALLOC_CONF", DECAY)], &[("MALLOC_CONF", FEW_ARENAS)], &[("MALLOC_CONF", AT_ONCE)]];
/// The same for a jemalloc whose functions have the prefix of the crate tikv-jemallocator.
const PREFIXED: [&[(&str, &str)]; 3] =
    [&[("_RJEM_MALLOC_CONF", DECAY)], &[("_RJEM_MALLOC_CONF", FEW_ARENAS)], &[("_RJEM_MALLOC_CONF", AT_ONCE)]];

/// `cargo dwell allocators`
#[derive(Debug, Args)]
#[command(after_help = EXIT_CODES, override_usage = "cargo dwell allocators [OPTIONS] [-- ARGS]...")]
pub struct Allocators {
    /// Run SCRIPT while the program runs, and end the program after it: a server gets its load so. `DWELL_PID` is the program's
    #[arg(long, value_name = "SCRIPT")]
    driver: Option<PathBuf>,
    /// The time after which no further round begins, such as `90s` or `10m`; there are three at least
    #[arg(long, value_name = "TIME", default_value = "2m", value_parser = dwell_heap::run::duration)]
    time: Duration,
    /// Also run it under FILE, a library with an allocator; may be repeated
    #[arg(long, value_name = "FILE")]
    preload: Vec<PathBuf>,
    #[command(flatten)]
    build: BuildArgs,
    /// The program's own arguments
    #[arg(last = true, value_name = "ARGS")]
    args: Vec<OsString>,
}

/// An allocator with its settings.
#[derive(Clone, Debug, Default)]
struct Setting {
    preload: Option<Preload>,
    variables: &'static [(&'static str, &'static str)],
}

impl Setting {
    fn name(&self) -> String {
        let variables = self.variables.iter().map(|(name, value)| format!("{name}={value}"));
        let all: Vec<String> = self.preload.iter().map(|preload| preload.name.clone()).chain(variables).collect();
        if all.is_empty() { "as it is".to_owned() } else { all.join(" ") }
    }

    /// Returns what a person writes to have it always.
    fn line(&self) -> String {
        let variables =
            self.variables.iter().map(|(name, value)| format!("{name}={value}")).collect::<Vec<_>>().join(" ");
        match &self.preload {
            None => format!("in its environment: {variables}"),
            Some(preload) => {
                let own = match &*preload.name {
                    "mimalloc" => "`#[global_allocator] static A: mimalloc::MiMalloc = mimalloc::MiMalloc;`".to_owned(),
                    "jemalloc" => {
                        "`#[global_allocator] static A: tikv_jemallocator::Jemalloc = tikv_jemallocator::Jemalloc;`"
                            .to_owned()
                    }
                    _ => format!("in its environment: LD_PRELOAD={}", preload.library.display()),
                };
                if variables.is_empty() { own } else { format!("{own}, and in its environment: {variables}") }
            }
        }
    }
}

/// What is compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Measure {
    Peak,
    End,
    Time,
}

impl Measure {
    const ALL: [Self; 3] = [Self::Peak, Self::End, Self::Time];

    fn name(self) -> &'static str {
        match self {
            Self::Peak => "the most resident bytes",
            Self::End => "resident bytes at the end",
            Self::Time => "CPU time",
        }
    }

    #[expect(clippy::cast_precision_loss, reason = "times and sizes are far below 2^52")]
    fn value(self, usage: &Usage) -> f64 {
        match self {
            Self::Peak => usage.resident as f64,
            Self::End => usage.last as f64,
            Self::Time => usage.cpu().as_secs_f64(),
        }
    }
}

/// The runs of all rounds.
#[derive(Debug, Default)]
struct Rounds {
    /// As the program is, before and after the settings of a round.
    plain: Vec<[Usage; 2]>,
    /// The runs under each setting, or why there are none.
    settings: Vec<(Setting, Result<Vec<Usage>, String>)>,
}

impl Rounds {
    /// Returns the ratios of runs to the program as it is in their round, the least, the median and the largest.
    fn ratios(&self, runs: &[Usage], measure: Measure) -> [f64; 3] {
        let base = |[before, after]: &[Usage; 2]| f64::midpoint(measure.value(before), measure.value(after));
        let ratio = |(run, plain): (&Usage, &[Usage; 2])| measure.value(run) / base(plain).max(f64::MIN_POSITIVE);
        let mut all: Vec<f64> = runs.iter().zip(&self.plain).map(ratio).collect();
        all.sort_by(f64::total_cmp);
        let at = |index: usize| all.get(index).copied().unwrap_or(1.0);
        [at(0), median(&all), at(all.len().saturating_sub(1))]
    }

    /// Returns the largest share by which equal runs of a round differ.
    fn noise(&self, measure: Measure) -> f64 {
        let apart = |[before, after]: &[Usage; 2]| {
            let [before, after] = [before, after].map(|usage| measure.value(usage));
            (before - after).abs() / before.min(after).max(f64::MIN_POSITIVE)
        };
        self.plain.iter().map(apart).fold(0.0, f64::max)
    }

    /// Returns the setting that is better in each round, by more than equal runs differ: the one with the least median, or of those that
    /// are about as good the one that takes the least time.
    fn best(&self, measure: Measure) -> Option<(&Setting, [f64; 3])> {
        let least = self.noise(measure).max(LEAST);
        let rows = self.settings.iter().filter_map(|(setting, runs)| {
            let runs = runs.as_ref().ok()?;
            Some((setting, self.ratios(runs, measure), self.ratios(runs, Measure::Time)[1]))
        });
        let rows: Vec<_> = rows.filter(|(_, [_, _, most], _)| 1.0 - most >= least).collect();
        let lowest = rows.iter().map(|(_, [_, middle, _], _)| *middle).min_by(f64::total_cmp)?;
        let as_good = rows.into_iter().filter(|(_, [_, middle, _], _)| *middle <= lowest + ALIKE);
        as_good.min_by(|one, other| one.2.total_cmp(&other.2)).map(|(setting, ratios, _)| (setting, ratios))
    }

    fn print(&self, program: &str, out: &mut dyn Write) -> io::Result<()> {
        let all: Vec<&Usage> = self.plain.iter().flatten().collect();
        let middle = |measure: Measure| {
            let mut all: Vec<f64> = all.iter().map(|usage| measure.value(usage)).collect();
            all.sort_by(f64::total_cmp);
            median(&all)
        };
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "sizes are positive and far below 2^52"
        )]
        let bytes = |measure: Measure| units::bytes(middle(measure) as u64);
        writeln!(
            out,
            "{program}: {} resident at most, {} at the end, {:.2} s of CPU time; {}, equal runs differ by {:.0} %, {:.0} % and {:.0} %\n",
            bytes(Measure::Peak),
            bytes(Measure::End),
            middle(Measure::Time),
            units::plural(self.plain.len() as u64, "round"),
            self.noise(Measure::Peak) * 100.0,
            self.noise(Measure::End) * 100.0,
            self.noise(Measure::Time) * 100.0,
        )?;
        let names: Vec<String> = self.settings.iter().map(|(setting, _)| setting.name()).collect();
        let width = names.iter().map(String::len).max().unwrap_or(0).max("of the program as it is".len());
        writeln!(out, "{:width$}  most            end             CPU time        faults", "of the program as it is")?;
        for (name, (_, runs)) in names.iter().zip(&self.settings) {
            match runs {
                Err(why) => writeln!(out, "{name:width$}  {why}")?,
                Ok(runs) => {
                    let columns: Vec<String> =
                        Measure::ALL.iter().map(|measure| range(self.ratios(runs, *measure))).collect();
                    let faults = runs.get(runs.len() / 2).map_or(0, |usage| usage.faults);
                    let [most, end, time] = &columns[..] else { continue };
                    writeln!(out, "{name:width$}  {most:14}  {end:14}  {time:14}  {}", units::count(faults))?;
                }
            }
        }
        writeln!(out)?;
        for measure in Measure::ALL {
            match self.best(measure) {
                None => writeln!(out, "{}: no setting is better in each round", measure.name())?,
                Some((setting, ratios)) => {
                    let others: Vec<String> = Measure::ALL
                        .iter()
                        .filter(|other| **other != measure)
                        .map(|other| format!("{} {}", other.name(), range(self.setting_ratios(setting, *other))))
                        .collect();
                    writeln!(out, "{}: {}, {} ({})", measure.name(), setting.name(), range(ratios), others.join(", "))?;
                    writeln!(out, "  {}", setting.line())?;
                }
            }
        }
        Ok(())
    }

    fn setting_ratios(&self, setting: &Setting, measure: Measure) -> [f64; 3] {
        let runs = self
            .settings
            .iter()
            .find(|(other, _)| other.name() == setting.name())
            .and_then(|(_, runs)| runs.as_ref().ok());
        runs.map_or([1.0; 3], |runs| self.ratios(runs, measure))
    }
}

fn range([least, middle, most]: [f64; 3]) -> String {
    format!("{middle:.2} ({least:.2}-{most:.2})")
}

impl Allocators {
    /// Runs the command.
    ///
    /// # Errors
    /// Returns an error if the program cannot be built or run.
    pub fn run(&self) -> Result<ExitCode> {
        let script = |file: &PathBuf| {
            file.canonicalize().ok().with_context(|| format!("--driver: {}: there is no such script", file.display()))
        };
        if cfg!(not(unix)) && self.driver.is_some() {
            bail!("--driver ends the program by a signal, which this system has not");
        }
        let driver = self.driver.as_ref().map(script).transpose()?;
        let own = self.preload.iter().map(|file| Preload::of_file(file)).collect::<Result<Vec<_>>>()?;
        let executable = match program::built(&self.build, Purpose::Run)? {
            Outcome::Done(executable) => executable,
            Outcome::Failed(code) => return Ok(code),
        };
        if !executable.file.is_file() {
            bail!("{}: there is no such file", executable.file.display());
        }
        let folder = program::user_cache().or(executable.cache);
        processes::ended_by_signals(|| {
            let program = Program { file: &executable.file, arguments: &self.args, bound: LONGEST };
            let settings = settings(own, folder.as_deref(), &executable.file);
            let rounds = rounds(program, driver.as_deref(), settings, self.time)?;
            let name = executable.file.file_name().unwrap_or_default().to_string_lossy();
            rounds.print(&name, &mut io::stdout().lock()).context("the table cannot be written")?;
            Ok(ExitCode::SUCCESS)
        })
    }
}

/// Returns the settings of the allocator that is linked into a program; they alone have an effect then.
fn linked(file: &Path) -> Option<&'static [&'static [(&'static str, &'static str)]]> {
    use object::{Object as _, ObjectSymbol as _};
    let data = std::fs::read(file).ok()?;
    let object = object::File::parse(&*data).ok()?;
    let names: HashSet<&str> =
        object.symbols().filter(object::ObjectSymbol::is_definition).filter_map(|symbol| symbol.name().ok()).collect();
    let has = |name: &str| names.contains(name);
    if has("_rjem_malloc") || has("_rjem_mallocx") {
        Some(&PREFIXED)
    } else if has("je_arena_boot") || has("malloc_conf") && has("mallocx") {
        Some(&JEMALLOC[1..])
    } else if has("mi_malloc") || has("mi_malloc_aligned") {
        Some(&MIMALLOC[1..])
    } else {
        None
    }
}

/// Returns what to compare: the settings of the program's own allocator, or else those of glibc's malloc, and the allocators that this
/// machine has.
fn settings(own: Vec<Preload>, folder: Option<&Path>, file: &Path) -> Vec<Setting> {
    let under = |preload: Option<Preload>, all: &[&'static [(&'static str, &'static str)]]| {
        all.iter().map(|&variables| Setting { preload: preload.clone(), variables }).collect::<Vec<_>>()
    };
    if let Some(variables) = linked(file) {
        eprintln!("note: the program has an allocator of its own: only its settings are compared");
        return under(None, variables);
    }
    let mut all = under(None, &GLIBC);
    for (found, variables) in [(Preload::mimalloc(folder), &MIMALLOC[..]), (Preload::jemalloc(), &JEMALLOC[..])] {
        match found {
            Ok(preload) => all.extend(under(Some(preload), variables)),
            Err(error) => eprintln!("note: {error:#}"),
        }
    }
    all.extend(own.into_iter().flat_map(|preload| under(Some(preload), &[&[]])));
    all
}

fn rounds(program: Program<'_>, driver: Option<&Path>, settings: Vec<Setting>, time: Duration) -> Result<Rounds> {
    let run = |setting: &Setting, bound: Duration| -> Result<(u8, Usage)> {
        let program = Program { bound, ..program };
        let mut command = Command::new(program.file);
        command.args(program.arguments).envs(setting.variables.iter().copied());
        match driver {
            None => {
                let ran = program.ended(&mut command, setting.preload.as_ref())?;
                Ok((ran.code, ran.usage))
            }
            Some(driver) => {
                if let Some(preload) = &setting.preload {
                    command.env("LD_PRELOAD", preload.with_earlier());
                }
                let folder = program.file.parent().unwrap_or(Path::new("."));
                Ok((0, processes::run_driven(&mut command, folder, driver, bound)?.usage))
            }
        }
    };
    let started = Instant::now();
    let plain = Setting::default();
    let (code, first) = run(&plain, LONGEST)?;
    if first.cpu().is_zero() || first.resident == 0 {
        bail!("the program ends too soon to be measured");
    }
    let bound = started.elapsed() * 5 + Duration::from_secs(5);
    let all: Vec<(Setting, Result<Vec<Usage>, String>)> = settings
        .into_iter()
        .map(|setting| {
            let checked = setting.preload.as_ref().map_or(Ok(()), |preload| preload.check(program.file));
            (setting, checked.map(|()| Vec::new()).map_err(|error| error.to_string()))
        })
        .collect();
    let mut rounds = Rounds { plain: Vec::new(), settings: all };
    while rounds.plain.len() < ROUNDS[0] || rounds.plain.len() < ROUNDS[1] && started.elapsed() < time {
        eprintln!("note: round {}", rounds.plain.len() + 1);
        let before = run(&plain, bound)?.1;
        for (setting, runs) in &mut rounds.settings {
            let Ok(list) = runs else { continue };
            match run(setting, bound) {
                Ok((ended, usage)) if ended == code => list.push(usage),
                Ok((ended, _)) => *runs = Err(format!("it ended with {ended} instead of {code}")),
                Err(error) => {
                    processes::check()?;
                    *runs = Err(format!("{error:#}"));
                }
            }
        }
        rounds.plain.push([before, run(&plain, bound)?.1]);
    }
    Ok(rounds)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn usage(resident: u64, last: u64, millis: u64) -> Usage {
        Usage { resident, last, user: Duration::from_millis(millis), ..Usage::default() }
    }

    fn rounds(settings: &[&[Usage]]) -> Rounds {
        let all = settings
            .iter()
            .zip(&GLIBC)
            .map(|(runs, variables)| (Setting { preload: None, variables }, Ok(runs.to_vec())));
        Rounds { plain: vec![[usage(1000, 500, 100), usage(1010, 500, 102)]; 3], settings: all.collect() }
    }

    #[test]
    fn setting_is_named_if_it_is_better_in_each_round() {
        let less = [usage(800, 100, 101), usage(810, 110, 99), usage(790, 120, 100)];
        let once = [usage(500, 500, 50), usage(1200, 500, 100), usage(500, 500, 50)];
        let all = rounds(&[&once, &less]);
        assert_eq!(all.best(Measure::Peak).map(|(setting, _)| setting.name()).as_deref(), Some("MALLOC_ARENA_MAX=2"));
        assert_eq!(all.best(Measure::End).map(|(setting, _)| setting.name()).as_deref(), Some("MALLOC_ARENA_MAX=2"));
        assert!(all.best(Measure::Time).is_none());
        // Of two that are about as good, the one that takes less time.
        let slower = [usage(780, 95, 300); 3];
        let all = rounds(&[&slower, &less]);
        assert_eq!(all.best(Measure::Peak).map(|(setting, _)| setting.name()).as_deref(), Some("MALLOC_ARENA_MAX=2"));
        // A gain within the difference of equal runs is none.
        let little = [usage(1000, 490, 99); 3];
        assert!(Measure::ALL.iter().all(|measure| rounds(&[&little]).best(*measure).is_none()));
        let all = rounds(&[&once, &less]);
        let mut out = Vec::new();
        all.print("app", &mut out).unwrap();
        let text = String::from_utf8(out).unwrap();
        assert!(
            text.contains(
                "\nresident bytes at the end: MALLOC_ARENA_MAX=2, 0.22 (0.20-0.24) (the most resident bytes 0.80"
            ),
            "{text}"
        );
        assert!(text.contains("\nCPU time: no setting is better in each round\n"), "{text}");
    }
}
