//! Runs a program again, plain and under another allocator that is preloaded, and compares time, instructions and memory.
//!
//! Two lines make mimalloc the allocator of a Rust program, so every other change has to be better than these.

use crate::processes::{self, Usage};
use anyhow::{Context, Result, bail};
use object::{Object, ObjectSection};
use std::ffi::{OsStr, OsString};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// How to get mimalloc.
const INSTALL: &str = "install libmimalloc (Debian: `apt install libmimalloc2.0`), or a C compiler";

/// An allocator as a library for `LD_PRELOAD`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Preload {
    pub(crate) name: String,
    pub(crate) library: PathBuf,
}

/// A program to run again: it starts where this process did, with its environment and its standard input. What it prints is
/// dropped.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Program<'a> {
    pub(crate) file: &'a Path,
    pub(crate) arguments: &'a [OsString],
    /// The longest time of a run.
    pub(crate) bound: Duration,
}

/// A run of a program to its end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Run {
    /// The exit code; for a signal, 128 plus its number.
    pub(crate) code: u8,
    pub(crate) usage: Usage,
    /// Samples of its time in user mode: in the program and in the allocator. None if the kernel allows none.
    pub(crate) samples: [u64; 2],
}

/// Runs in pairs, one plain and one under the other allocator.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Pairs(pub(crate) Vec<[Run; 2]>);

impl Preload {
    /// Finds mimalloc, or builds it once from the sources that cargo has. `cache` is the folder for it.
    ///
    /// # Errors
    /// Returns an error that says how to get it.
    pub(crate) fn mimalloc(cache: Option<&Path>) -> Result<Self> {
        let built = cache.and_then(|cache| Some((cache, newest_source(&cargo_home()?.join("registry/src"))?)));
        let library = match built.map(|(cache, source)| compile(&source, cache)) {
            Some(Ok(library)) => library,
            _ => installed("libmimalloc.so").with_context(|| format!("mimalloc is not on this machine; {INSTALL}"))?,
        };
        Ok(Self { name: "mimalloc".to_owned(), library })
    }

    /// Finds jemalloc.
    ///
    /// # Errors
    /// Returns an error that says how to get it.
    pub(crate) fn jemalloc() -> Result<Self> {
        let library = installed("libjemalloc.so").context(
            "jemalloc is not on this machine; install it (Debian: `apt install libjemalloc2`), or name it by --preload",
        )?;
        Ok(Self { name: "jemalloc".to_owned(), library })
    }

    /// A library that the user names.
    ///
    /// # Errors
    /// Returns an error if there is no such file.
    pub(crate) fn of_file(file: &Path) -> Result<Self> {
        let library = file.canonicalize().ok();
        let library = library.with_context(|| format!("--preload: {}: there is no such file", file.display()))?;
        Ok(Self { name: file.file_name().unwrap_or_default().to_string_lossy().into_owned(), library })
    }

    /// Checks that the loader takes the library for this program. The program does not run.
    pub(crate) fn check(&self, program: &Path) -> Result<()> {
        let data = fs::read(program).with_context(|| format!("{} cannot be read", program.display()))?;
        let interpreter = object::File::parse(&*data).ok().and_then(|file| {
            let section = file.section_by_name(".interp")?;
            let text = String::from_utf8(section.data().ok()?.to_vec()).ok()?;
            Some(text.trim_end_matches('\0').to_owned())
        });
        let interpreter = interpreter.context("the program is linked statically, so no allocator can be preloaded")?;
        let mut list = Command::new(interpreter);
        list.arg("--list").arg(program).env("LD_PRELOAD", self.with_earlier());
        let listed = processes::run(&mut list, Duration::from_secs(10))?;
        let is_there = String::from_utf8_lossy(&listed.stdout).contains(&*self.library.to_string_lossy());
        if !is_there {
            bail!("the loader does not take {} for this program", self.library.display());
        }
        Ok(())
    }

    /// The value of `LD_PRELOAD`: the library, and what it has already.
    pub(crate) fn with_earlier(&self) -> OsString {
        let mut all = self.library.clone().into_os_string();
        if let Some(earlier) = std::env::var_os("LD_PRELOAD").filter(|earlier| !earlier.is_empty()) {
            all.push(":");
            all.push(earlier);
        }
        all
    }
}

impl Program<'_> {
    /// Runs it once.
    ///
    /// # Errors
    /// Returns an error if it cannot be run, takes longer than the bound, or if this process receives a signal.
    pub(crate) fn run(&self, under: Option<&Preload>) -> Result<Run> {
        let mut command = Command::new(self.file);
        command.args(self.arguments);
        self.ended(&mut command, under)
    }

    /// Runs it in pairs until `budget` is used, at least once and at most `most` times. The order changes, so that a
    /// machine that gets slower favours none.
    ///
    /// # Errors
    /// Returns an error if a run fails, or if runs end with different exit codes.
    pub(crate) fn pairs(&self, under: &Preload, most: usize, budget: Duration) -> Result<Pairs> {
        under.check(self.file)?;
        let (started, mut pairs) = (Instant::now(), Vec::new());
        while pairs.len() < most.max(1) {
            let is_reversed = pairs.len() % 2 == 1;
            let first = self.run(is_reversed.then_some(under))?;
            let second = self.run((!is_reversed).then_some(under))?;
            let pair = if is_reversed { [second, first] } else { [first, second] };
            if pair[0].code != pair[1].code {
                bail!("it ended with {} plain, and with {} under {}", pair[0].code, pair[1].code, under.name);
            }
            pairs.push(pair);
            let each = started.elapsed() / u32::try_from(pairs.len()).unwrap_or(u32::MAX);
            if started.elapsed() + each > budget {
                break;
            }
        }
        Ok(Pairs(pairs))
    }

    /// Counts the instructions of a run by valgrind, which takes some 50 times as long; `None` without valgrind.
    ///
    /// # Errors
    /// Returns an error if the program cannot be run, or takes longer than the bound.
    pub(crate) fn instructions(&self, under: Option<&Preload>) -> Result<Option<u64>> {
        let Some(valgrind) = on_path("valgrind") else { return Ok(None) };
        let log = std::env::temp_dir().join(format!("cargo-dwell-valgrind-{}", std::process::id()));
        let mut command = Command::new(valgrind);
        command.args(["--tool=callgrind", "--callgrind-out-file=/dev/null"]);
        command.arg(concat([OsStr::new("--log-file="), log.as_os_str()])).arg(self.file).args(self.arguments);
        let run = self.ended(&mut command, under);
        let text = fs::read_to_string(&log).unwrap_or_default();
        let _ = fs::remove_file(&log);
        run.map(|_| collected(&text))
    }

    /// Runs a command for it to its end.
    ///
    /// # Errors
    /// The same as those of [`Program::run`].
    pub(crate) fn ended(&self, command: &mut Command, under: Option<&Preload>) -> Result<Run> {
        if let Some(under) = under {
            command.env("LD_PRELOAD", under.with_earlier());
        }
        command.stdin(processes::input()?).stdout(Stdio::null()).stderr(Stdio::null());
        processes::check()?;
        let mut child = command.spawn().with_context(|| format!("{} cannot be run again", self.file.display()))?;
        #[cfg(agent)]
        let mut plain = dwell_heap::profile::Plain::start(child.id()).ok();
        let mut each = || {
            #[cfg(agent)]
            plain.iter_mut().for_each(dwell_heap::profile::Plain::read);
        };
        let ended = processes::watch(&mut child, self.bound, &mut each);
        // The user asked for one run: what another one leaves in the background ends with it.
        processes::end_descendants();
        let (status, usage) = ended?;
        #[cfg(agent)]
        let samples = plain.map(dwell_heap::profile::Plain::finish).unwrap_or_default();
        #[cfg(not(agent))]
        let samples = [0; 2];
        Ok(Run { code: processes::code(status), usage, samples })
    }
}

/// Returns the number of instructions in a log of callgrind.
fn collected(log: &str) -> Option<u64> {
    let line = log.lines().rev().find_map(|line| line.split_once("Collected :"))?;
    line.1.trim().parse().ok()
}

fn nanos(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}

impl Run {
    pub(crate) fn nanos(&self) -> u64 {
        nanos(self.usage.cpu())
    }

    pub(crate) fn user_nanos(&self) -> u64 {
        nanos(self.usage.user)
    }
}

impl Pairs {
    /// Returns the part of the time in user mode that is in the allocator, on a side, and the number of samples in it.
    #[expect(clippy::cast_precision_loss, reason = "numbers of samples are far below 2^52")]
    pub(crate) fn in_allocator(&self, side: usize) -> (f64, u64) {
        let sum = |index: usize| self.0.iter().map(|pair| pair[side].samples[index]).sum::<u64>();
        let (program, allocator) = (sum(0), sum(1));
        (allocator as f64 / (program + allocator).max(1) as f64, allocator)
    }

    /// Returns the ratio of the second side to the first by this measure: the smallest, the median, and the largest.
    #[expect(clippy::cast_precision_loss, reason = "times and sizes are far below 2^52")]
    pub(crate) fn ratio(&self, number_of: fn(&Run) -> u64) -> [f64; 3] {
        let ratio = |[plain, other]: &[Run; 2]| number_of(other) as f64 / number_of(plain).max(1) as f64;
        let mut all: Vec<f64> = self.0.iter().map(ratio).collect();
        all.sort_by(f64::total_cmp);
        let at = |index: usize| all.get(index).copied().unwrap_or(1.0);
        [at(0), median(&all), at(all.len().saturating_sub(1))]
    }

    /// Returns the median of a measure on each side.
    pub(crate) fn medians(&self, number_of: fn(&Run) -> u64) -> [u64; 2] {
        [0, 1].map(|side| {
            let mut all: Vec<u64> = self.0.iter().map(|pair| number_of(&pair[side])).collect();
            all.sort_unstable();
            all.get(all.len() / 2).copied().unwrap_or(0)
        })
    }
}

/// Returns the median of numbers in their order; 1 of none.
pub(crate) fn median(numbers: &[f64]) -> f64 {
    let at = |index: usize| numbers.get(index).copied().unwrap_or(1.0);
    f64::midpoint(at(numbers.len() / 2), at(numbers.len().saturating_sub(1) / 2))
}

/// Returns the sources of the newest mimalloc that cargo unpacked: a folder with `src/static.c`, and the version of the crate.
fn newest_source(registries: &Path) -> Option<(PathBuf, String)> {
    let entries = |folder: &Path| fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    let crates = entries(registries).flat_map(|registry| entries(&registry).collect::<Vec<_>>());
    let named = crates.filter_map(|path| {
        let version = path.file_name()?.to_str()?.strip_prefix("libmimalloc-sys-")?.to_owned();
        let all = path.join("c_src/mimalloc");
        // The crate builds version 3 by default where it has two.
        let source = [all.join("v3"), all].into_iter().find(|source| source.join("src/static.c").is_file())?;
        Some((source, version))
    });
    let numbers = |version: &str| version.split('.').map(|part| part.parse().unwrap_or(0)).collect::<Vec<u64>>();
    named.max_by_key(|(_, version)| numbers(version))
}

/// Compiles mimalloc as a library, as its own build does, unless the cache has it.
fn compile((source, version): &(PathBuf, String), cache: &Path) -> Result<PathBuf> {
    let library = cache.join(format!("libmimalloc-{version}.so"));
    if library.is_file() {
        return Ok(library.canonicalize()?);
    }
    fs::create_dir_all(cache)?;
    let part = cache.join(format!("libmimalloc-{}.part", std::process::id()));
    let mut compiler = Command::new(std::env::var_os("CC").unwrap_or_else(|| "cc".into()));
    compiler.args(["-O3", "-DNDEBUG", "-fPIC", "-shared", "-ftls-model=initial-exec", "-fvisibility=hidden"]);
    compiler.args(["-fno-builtin-malloc", "-DMI_MALLOC_OVERRIDE", "-DMI_SHARED_LIB", "-DMI_SHARED_LIB_EXPORT"]);
    compiler.arg(concat([OsStr::new("-I"), source.join("include").as_os_str()]));
    compiler.arg(concat([OsStr::new("-I"), source.join("src").as_os_str()]));
    compiler.arg(source.join("src/static.c")).arg("-o").arg(&part).arg("-lpthread");
    let built = processes::run(&mut compiler, Duration::from_secs(120));
    let is_built = built.as_ref().is_ok_and(|built| built.status.success());
    let done = if is_built { fs::rename(&part, &library).map_err(Into::into) } else { built.map(|_| ()) };
    let _ = fs::remove_file(&part);
    done?;
    library.canonicalize().context("mimalloc was not built")
}

/// Returns the library that the system has.
fn installed(file: &str) -> Option<PathBuf> {
    let of_system = ["/usr/lib", "/usr/lib64", "/usr/local/lib", "/lib"].map(PathBuf::from);
    let more = std::env::var_os("LD_LIBRARY_PATH").unwrap_or_default();
    let triple = format!("{}-linux-gnu", std::env::consts::ARCH);
    let folders =
        std::env::split_paths(&more).chain(of_system.into_iter().flat_map(|folder| [folder.join(&triple), folder]));
    let mut found = folders.filter_map(|folder| {
        let names = fs::read_dir(folder).ok()?.flatten().map(|entry| entry.path());
        names.filter(|path| path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(file))).max()
    });
    found.find_map(|path| path.canonicalize().ok())
}

fn cargo_home() -> Option<PathBuf> {
    let home = || Some(PathBuf::from(std::env::var_os("HOME")?).join(".cargo"));
    std::env::var_os("CARGO_HOME").map(PathBuf::from).or_else(home)
}

fn on_path(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).map(|folder| folder.join(name)).find(|file| file.is_file())
}

fn concat(parts: [&OsStr; 2]) -> OsString {
    let mut all = parts[0].to_owned();
    all.push(parts[1]);
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(user_nanos: u64, resident: u64) -> Run {
        let usage = Usage { user: Duration::from_nanos(user_nanos), resident, ..Usage::default() };
        Run { usage, ..Run::default() }
    }

    #[test]
    #[expect(clippy::float_cmp, reason = "halves and quarters are exact")]
    fn ratios_are_those_of_pairs() {
        let pairs = Pairs(vec![[run(100, 8), run(50, 16)], [run(400, 8), run(100, 16)], [run(10, 8), run(10, 16)]]);
        assert_eq!(pairs.ratio(Run::nanos), [0.25, 0.5, 1.0]);
        assert_eq!(pairs.medians(|run| run.usage.resident), [8, 16]);
        assert_eq!(Pairs::default().ratio(Run::nanos), [1.0; 3]);
        assert_eq!(Pairs(vec![[run(4, 0), run(1, 0)], [run(4, 0), run(3, 0)]]).ratio(Run::nanos)[1], 0.5);
    }

    #[test]
    fn time_memory_and_code_of_a_run_are_measured() {
        let script = ["-c".into(), "i=0; while [ $i -lt 20000 ]; do i=$((i + 1)); done; exit 3".into()];
        let program = Program { file: Path::new("/bin/sh"), arguments: &script, bound: Duration::from_secs(60) };
        let run = program.run(None).unwrap();
        assert!(run.code == 3 && run.nanos() > 1_000_000, "{run:?}");
        assert!(cfg!(not(target_os = "linux")) || run.usage.resident > 100_000, "{run:?}");
        let endless = ["-c".into(), "while :; do :; done".into()];
        let program = Program { arguments: &endless, bound: Duration::from_millis(50), ..program };
        assert!(program.run(None).unwrap_err().to_string().contains("took more than 0 s"));
    }

    #[test]
    fn newest_sources_of_mimalloc_are_found() {
        let folder = tempfile::tempdir().unwrap();
        for (version, inside) in [("0.1.9", ""), ("0.1.49", "v3"), ("0.1.10", "")] {
            let source = folder.path().join(format!("index/libmimalloc-sys-{version}/c_src/mimalloc/{inside}/src"));
            fs::create_dir_all(&source).unwrap();
            fs::write(source.join("static.c"), "").unwrap();
        }
        let (source, version) = newest_source(folder.path()).unwrap();
        assert!(version == "0.1.49" && source.ends_with("c_src/mimalloc/v3"), "{}", source.display());
        assert_eq!(newest_source(&folder.path().join("none")), None);
    }

    #[test]
    fn instructions_are_read_from_the_log() {
        assert_eq!(collected("==1== Events    : Ir\n==1== Collected : 123456\n==1==\n"), Some(123_456));
        assert_eq!(collected("==1== \n"), None);
    }

    /// A program that loads mimalloc, if there is a compiler or the library.
    #[cfg(target_os = "linux")]
    #[test]
    fn pairs_are_plain_and_under_mimalloc() {
        let folder = tempfile::tempdir().unwrap();
        let mimalloc = match Preload::mimalloc(Some(folder.path())) {
            Ok(mimalloc) => mimalloc,
            Err(error) => return eprintln!("skipped: {error}"),
        };
        // The maps of the process itself tell whether the library is in it.
        let script = ["-c".into(), "grep -q mimalloc /proc/$$/maps && exit 7; exit 8".into()];
        let program = Program { file: Path::new("/bin/sh"), arguments: &script, bound: Duration::from_secs(60) };
        let error = program.pairs(&mimalloc, 1, Duration::ZERO).unwrap_err().to_string();
        assert_eq!(error, "it ended with 8 plain, and with 7 under mimalloc");
        let program = Program { arguments: &["-c".into(), "exit 5".into()], ..program };
        let pairs = program.pairs(&mimalloc, 3, Duration::from_secs(60)).unwrap();
        assert!(pairs.0.len() == 3 && pairs.0.iter().flatten().all(|run| run.code == 5), "{pairs:?}");
    }
}
