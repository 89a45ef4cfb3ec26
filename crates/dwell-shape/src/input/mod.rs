//! Finds JSON texts in files, folders and standard input, and reads them into accumulators.

mod blocks;
mod file;
mod find;
mod other;
mod problem;
mod reader;
mod roots;
mod study;
mod text;

use crate::judge;
use crate::overrides::Override;
use crate::schema::Schema;
pub use file::Input;
use file::STUDIED;
pub use find::{Found, SAMPLE_MODELS, SAMPLE_SEED, find, find_jsonc, is_piped, sample};
pub use problem::Problem;
pub use reader::BUFFER;
pub use roots::Roots;

use crate::infer::{self, Accumulator, Blank, Form};
use problem::cannot_read;
use reader::Reader;
pub(crate) use reader::Sink;
use std::collections::BTreeMap;
use std::io::Read;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use study::{STUDIED_FORM, study};
use text::{split, without_mark};

/// The size of all read buffers together, as far as no line is longer.
const BUFFERS: usize = 2 * BUFFER;

/// The least size of a read buffer.
const LEAST_BUFFER: usize = 1 << 20;

/// The least number of bytes of a part, which one thread reads. Each part sees only its own texts when it chooses the
/// keys that become fields, so a varied corpus gets better types from fewer parts.
const PART: u64 = 64 << 20;

/// How often the inputs are read again if the full pass shows that the form is wrong.
const CORRECTIONS: usize = 2;

/// Options for reading.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// The number of threads; 0 means one for each core. The result does not depend on it.
    pub threads: usize,
    /// Whether to skip a text that cannot be read, instead of stopping.
    pub keep_going: bool,
    /// The least number of bytes of a part, which one thread reads; 0 means 64 MiB.
    pub part: u64,
    /// The decisions of the user.
    pub overrides: Vec<Override>,
    /// Whether the counts become a part of others, so that nothing is decided yet.
    pub is_part: bool,
}

/// The result of [`read`].
pub struct Reading {
    /// The counts of all texts that could be read.
    pub accumulator: Accumulator,
    /// All errors with `keep_going`, otherwise only the first.
    pub problems: Vec<Problem>,
}

/// Returns the texts of the inputs, up to `most` bytes, without those that cannot be parsed.
pub fn texts(found: &Found, most: usize) -> Vec<String> {
    let (mut texts, mut size) = (Vec::new(), 0);
    for input in &found.inputs {
        let before = texts.len();
        texts.extend(texts_of(input, most - size));
        size += texts[before..].iter().map(String::len).sum::<usize>();
    }
    texts
}

/// Returns the texts of an input, if it has at most `most` bytes.
fn texts_of(input: &Input, most: usize) -> Vec<String> {
    let mut buffer = Vec::new();
    let read = input.open().and_then(|source| source.take(most as u64 + 1).read_to_end(&mut buffer));
    let text = std::str::from_utf8(without_mark(&buffer)).unwrap_or_default();
    if read.is_err() || buffer.len() > most {
        return Vec::new();
    }
    // A text with a duplicate key is skipped, as in the report.
    let is_good = |text: &str| infer::check(&mut serde_json::Deserializer::from_str(text)).is_ok();
    let of_root = |text: &str| match input.root() {
        Some(root) => format!("{{\"{root}\":{text}}}"),
        None => text.to_owned(),
    };
    split(text).filter(|(_, text)| is_good(text)).map(|(_, text)| of_root(text)).collect()
}

/// Reads the texts of all inputs one after the other. Returns the problems: with `keep_going` all, else only the first.
pub(crate) fn each(found: &Found, keep_going: bool, sink: &mut impl Sink) -> Vec<Problem> {
    let (mut problems, mut buffer) = (Vec::new(), Vec::new());
    for input in &found.inputs {
        let mut reader = Reader { input, most: BUFFER, accumulator: &mut *sink, keep_going, problems: &mut problems };
        match input.open() {
            Ok(source) => reader.read(source, &mut buffer),
            Err(error) => reader.complain(None, cannot_read(&error)),
        }
        if !keep_going && !problems.is_empty() {
            break;
        }
    }
    problems.into_iter().map(|(_, problem)| problem).collect()
}

/// Reads all inputs, in the form that a sample of them has. `progress` receives the size of each file after it is read.
pub fn read(found: &Found, options: &Options, progress: &(dyn Fn(u64) + Sync)) -> Reading {
    let total: u64 = found.inputs.iter().map(|input| input.size).sum();
    let form = |is_cautious| in_thread(|| study(found, total, STUDIED, &options.overrides, is_cautious).blank());
    let mut reading = read_by(&form(false), found, options, progress);
    if options.is_part || found.inputs.iter().any(Input::is_pipe) {
        return reading;
    }
    reading.accumulator = corrected(reading.accumulator, found, options);
    if reading.accumulator.is_in_doubt() {
        let fewer = read_by(&form(true), found, options, &|_| {}).accumulator;
        let fewer = corrected(fewer, found, options);
        let schemas = [&reading.accumulator, &fewer].map(Accumulator::schema);
        let sample = texts(found, usize::try_from(STUDIED).unwrap_or(usize::MAX));
        let rejected = in_thread(|| judge::rejects_maps(&schemas[0], &schemas[1], &sample, &options.overrides));
        if rejected {
            reading.accumulator = fewer;
        }
    }
    reading
}

/// Returns the decisions of a schema that a sample of the inputs leaves in doubt, as `--set` keeps them, each with what the objects
/// may be instead.
pub fn doubts(schema: &Schema, found: &Found, overrides: &[Override]) -> Vec<(String, String)> {
    if found.inputs.iter().any(Input::is_pipe) {
        return Vec::new();
    }
    let total: u64 = found.inputs.iter().map(|input| input.size).sum();
    let most = judge::SAMPLE;
    let mut order: Vec<&Input> = found.inputs.iter().collect();
    // A file more or less leaves the others in the sample.
    if total > most as u64 {
        order.sort_by_cached_key(|input| judge::hash(&input.path.file_name().unwrap_or_default().to_string_lossy()));
    }
    let (mut texts, mut size) = (Vec::new(), 0);
    for input in order {
        let before = texts.len();
        texts.extend(texts_of(input, most - size));
        size += texts[before..].iter().map(String::len).sum::<usize>();
    }
    in_thread(|| judge::doubts(schema, &texts, overrides))
}

/// Reads the inputs again if the counts show that their form is wrong.
fn corrected(mut accumulator: Accumulator, found: &Found, options: &Options) -> Accumulator {
    for _ in 0..CORRECTIONS {
        let Some(form) = accumulator.correction() else { break };
        accumulator = read_by(&form.blank(), found, options, &|_| {}).accumulator;
    }
    accumulator
}

/// Infers the form of the documents from a larger sample than [`read`], for several runs.
pub fn form(found: &Found, overrides: &[Override]) -> Form {
    let total = found.inputs.iter().map(|input| input.size).sum();
    in_thread(|| study(found, total, STUDIED_FORM, overrides, false))
}

/// Calls `work` in a thread with a large stack, whose memory the next thread reuses.
fn in_thread<T: Send>(work: impl Fn() -> T + Sync) -> T {
    std::thread::scope(|scope| match std::thread::Builder::new().stack_size(STACK).spawn_scoped(scope, &work) {
        Ok(thread) => thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)),
        Err(_) => work(),
    })
}

/// Like [`read`], with a form that is known already.
pub fn read_by(form: &Blank, found: &Found, options: &Options, progress: &(dyn Fn(u64) + Sync)) -> Reading {
    let threads = match options.threads {
        0 => std::thread::available_parallelism().map_or(1, usize::from),
        threads => threads,
    };
    // The parts depend only on the inputs, and are added up in order, so the result does not depend on the threads.
    let least = if options.part == 0 { PART } else { options.part };
    // The beginning of a pipe, which can be opened once only.
    let mut first = None;
    if let [input] = &found.inputs[..] {
        match read_blocks(form, input, options, threads, least) {
            Ok(reading) => {
                progress(input.size);
                return reading;
            }
            Err(opened) => first = opened.filter(|_| input.is_pipe()),
        }
    }
    let first = Mutex::new(first);
    let whole: u64 = found.inputs.iter().map(Input::weight).sum();
    let parts = usize::try_from(whole / least).unwrap_or(usize::MAX);
    let parts = parts.min(found.inputs.len()).clamp(1, form.most());
    // For a power of two, any such number of cores has the same work.
    let parts = 1 << parts.ilog2();
    let most = (BUFFERS / parts).clamp(LEAST_BUFFER, BUFFER);
    let shares = shares(&found.inputs, parts);
    // Without `keep_going`, no thread begins a file that comes after a file with an error.
    let bad = AtomicUsize::new(usize::MAX);
    // A syntax error shows only after part of the text is counted. Such texts are rare, so the first pass does not
    // check for them. If it meets one, the thread reads the part again and checks each text before it counts it.
    let work = |share: &[usize], check: bool| {
        let part = share.iter().map(|&index| found.inputs[index].weight()).sum();
        let mut accumulator = form.start_part(parts, part, whole);
        let mut buffer = Vec::new();
        let mut problems = Vec::new();
        for &index in share {
            if index > bad.load(Ordering::Relaxed) {
                break;
            }
            let input = &found.inputs[index];
            accumulator.at(u32::try_from(index).unwrap_or(u32::MAX));
            let before = problems.len();
            let mut reader = Reader {
                input,
                most,
                accumulator: &mut accumulator,
                keep_going: options.keep_going && check,
                problems: &mut problems,
            };
            let opened = first.lock().unwrap_or_else(PoisonError::into_inner).take();
            match (opened, input.open()) {
                (Some(blocks::Opened { source, buffer: mut head, ended }), _) => {
                    reader.read_on(source, &mut head, ended);
                }
                (None, Ok(source)) => reader.read(source, &mut buffer),
                (None, Err(error)) => reader.complain(None, cannot_read(&error)),
            }
            if problems.len() > before {
                problems[before..].iter_mut().for_each(|problem| problem.0 = index);
                if !options.keep_going {
                    bad.fetch_min(index, Ordering::Relaxed);
                } else if !check {
                    break;
                }
            }
            if !check {
                progress(input.size);
            }
        }
        (accumulator, problems)
    };
    let (next, sum) = (AtomicUsize::new(0), Mutex::new(Sum::default()));
    let work = || {
        loop {
            let part = next.fetch_add(1, Ordering::Relaxed);
            let Some(share) = shares.get(part) else { break };
            let has_pipe = share.iter().any(|&index| found.inputs[index].is_pipe());
            let mut read = work(share, options.keep_going && has_pipe);
            if options.keep_going && !has_pipe && !read.1.is_empty() {
                read = work(share, true);
            }
            sum.lock().unwrap_or_else(PoisonError::into_inner).add(part, read.0, read.1);
        }
    };
    std::thread::scope(|scope| {
        let spawn = |_| std::thread::Builder::new().stack_size(STACK).spawn_scoped(scope, work);
        let threads: Vec<_> = (0..threads.min(parts)).map(spawn).collect();
        for thread in threads {
            match thread {
                Ok(thread) => thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)),
                // The system refused to start a thread, so this thread reads what the others leave.
                Err(_) => work(),
            }
        }
    });
    let Sum { accumulator, mut problems, .. } = sum.into_inner().unwrap_or_else(PoisonError::into_inner);
    problems.sort_by_key(|&(index, _)| index);
    if !options.keep_going {
        problems.truncate(1);
    }
    let accumulator = accumulator.unwrap_or_else(|| form.start(1));
    let problems = problems.into_iter().map(|(_, problem)| problem).collect();
    Reading { accumulator, problems }
}

/// Reads one large input of lines with several threads. Returns `Err` if it is none, with the beginning of the input if
/// that was read.
fn read_blocks<'a>(
    form: &Blank,
    input: &'a Input,
    options: &Options,
    threads: usize,
    least: u64,
) -> Result<Reading, Option<blocks::Opened<'a>>> {
    // An error is reported by the reader of the whole input.
    let open = || blocks::open(input, least).unwrap_or_default();
    let Some(opened) = open() else { return Err(None) };
    if !blocks::are_many(input, &opened) {
        return Err(Some(opened));
    }
    let keep_going = options.keep_going;
    let how = blocks::How { threads, least, check: keep_going && input.is_pipe(), keep_going };
    let mut read = blocks::read(form, input, opened, how);
    // As for files, a text with an error is counted in part, so all are read again.
    if keep_going
        && !how.check
        && !read.1.is_empty()
        && let Some(opened) = open()
    {
        read = blocks::read(form, input, opened, blocks::How { check: true, ..how });
    }
    let (accumulator, mut problems) = read;
    if !keep_going {
        problems.truncate(1);
    }
    Ok(Reading { accumulator, problems })
}

/// The sum of the parts read so far. They are added in order: the result depends on it where memory is short.
#[derive(Default)]
struct Sum {
    /// The number of parts that were added.
    added: usize,
    accumulator: Option<Accumulator>,
    /// Parts that were read before one of a lower number.
    waiting: BTreeMap<usize, Accumulator>,
    /// Problems with the index of the input.
    problems: Vec<(usize, Problem)>,
}

impl Sum {
    fn add(&mut self, part: usize, accumulator: Accumulator, problems: Vec<(usize, Problem)>) {
        self.problems.extend(problems);
        self.waiting.insert(part, accumulator);
        while let Some(part) = self.waiting.remove(&self.added) {
            self.added += 1;
            match &mut self.accumulator {
                Some(sum) => sum.merge(part),
                sum => *sum = Some(part),
            }
        }
    }
}

/// Splits the inputs into parts of about equal size, each in order. The split is deterministic, and so is the result.
fn shares(inputs: &[Input], parts: usize) -> Vec<Vec<usize>> {
    let mut shares = vec![(0, Vec::new()); parts];
    for (index, input) in inputs.iter().enumerate() {
        if let Some((bytes, share)) = shares.iter_mut().min_by_key(|(bytes, _)| *bytes) {
            *bytes += input.weight();
            share.push(index);
        }
    }
    shares.into_iter().map(|(_, share)| share).collect()
}

/// The stack size of a thread: it suffices for the deepest nesting that `serde_json` accepts, in a debug build.
const STACK: usize = 16 << 20;

/// Returns the contents of a file as JSON, whatever its format is.
pub(crate) fn json(file: &std::path::Path) -> std::io::Result<Vec<u8>> {
    let size = file.metadata()?.len();
    let known = Input::file(file, size).or_else(|| Input::other(file, size));
    let mut json = Vec::new();
    known.unwrap_or_else(|| Input::new(file, file::Format::Unknown)).open()?.read_to_end(&mut json)?;
    Ok(json)
}
