//! Reads one large input of lines with several threads, which take blocks of whole lines from it in turn.
//!
//! The parts get the blocks in turn too, so that their contents depend only on the input, and not on the threads.

use super::file::{Format, Input};
use super::problem::{Problem, cannot_read};
use super::reader::{BUFFER, Reader, fill, too_long};
use super::text::{are_lines, have_longer_texts, without_mark};
use super::{PART, STACK};
use crate::infer::{Accumulator, Blank};
use std::io::{self, Cursor, Read};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// The number of blocks for the least size of a part.
const BLOCKS: u64 = 8;

/// An input whose first bytes are in the buffer.
pub(super) struct Opened<'a> {
    pub(super) source: Box<dyn Read + Send + 'a>,
    pub(super) buffer: Vec<u8>,
    pub(super) ended: bool,
}

/// How to read an input.
#[derive(Clone, Copy)]
pub(super) struct How {
    pub(super) threads: usize,
    /// The least number of bytes of a part.
    pub(super) least: u64,
    /// Whether to skip texts with errors, which are found before they are counted.
    pub(super) check: bool,
    /// Whether to go on after an error.
    pub(super) keep_going: bool,
}

/// Opens the only input if it may be large enough for several threads. The size of a pipe is not known.
pub(super) fn open(input: &Input, least: u64) -> io::Result<Option<Opened<'_>>> {
    if input.jsonc
        || input.other.is_some()
        || input.limit < u64::MAX
        || !(input.is_pipe() || input.weight() / 2 >= least)
    {
        return Ok(None);
    }
    let mut source = input.open()?;
    let mut buffer = Vec::new();
    let ended = fill(&mut source, &mut buffer, usize::try_from(least.min(PART)).unwrap_or(BUFFER))?;
    Ok(Some(Opened { source, buffer, ended }))
}

/// Returns whether the input has lines for several threads.
pub(super) fn are_many(input: &Input, opened: &Opened<'_>) -> bool {
    let text = without_mark(&opened.buffer);
    !opened.ended && if input.form == Format::Lines { !have_longer_texts(text) } else { are_lines(text) }
}

/// Reads the input. Returns the sum of the parts, and the problems in the order of their lines.
pub(super) fn read(form: &Blank, input: &Input, opened: Opened<'_>, how: How) -> (Accumulator, Vec<Problem>) {
    let known = usize::try_from(input.weight() / how.least).unwrap_or(usize::MAX);
    let parts = if input.is_pipe() { form.most() } else { known.clamp(2, form.most().max(2)) };
    let parts = parts.min(form.most());
    let size = usize::try_from((how.least.min(PART) / BLOCKS).max(1)).unwrap_or(BUFFER);
    let Opened { source, mut buffer, .. } = opened;
    if without_mark(&buffer).len() < buffer.len() {
        buffer.drain(..3);
    }
    let source: Box<dyn Read + Send + '_> = Box::new(Cursor::new(buffer).chain(source));
    let lines = Mutex::new(Lines { source, rest: Vec::new(), size, number: 0, next: 0, ended: false });
    let new = |index| Part { accumulator: form.start(parts), problems: Vec::new(), next: index };
    let all: Vec<(Mutex<Part>, Condvar)> = (0..parts).map(|index| (Mutex::new(new(index)), Condvar::new())).collect();
    let work = || {
        loop {
            let (mut block, failed) = lock(&lines).take(input);
            let Some(Block { number, index, text }) = block.take() else {
                if let Some((index, problem)) = failed {
                    lock(&all[index % parts].0).problems.push((index, problem));
                }
                return;
            };
            let (part, turn) = &all[index % parts];
            let part = lock(part);
            let waiting = turn.wait_while(part, |part| part.next != index);
            let mut part = waiting.unwrap_or_else(PoisonError::into_inner);
            let mut found = Vec::new();
            part.accumulator.at(u32::try_from(index).unwrap_or(u32::MAX));
            let accumulator = &mut part.accumulator;
            let mut reader = Reader { input, most: size, accumulator, keep_going: how.check, problems: &mut found };
            reader.read_block(&text, number);
            let goes_on = how.keep_going && how.check;
            let stop = !found.is_empty() && !goes_on;
            part.problems.extend(found.into_iter().map(|(_, problem)| (index, problem)));
            part.next += parts;
            drop(part);
            turn.notify_all();
            if stop {
                lock(&lines).ended = true;
                return;
            }
        }
    };
    std::thread::scope(|scope| {
        let spawn = |_| std::thread::Builder::new().stack_size(STACK).spawn_scoped(scope, work);
        let threads: Vec<_> = (0..how.threads.min(parts)).map(spawn).collect();
        for thread in threads {
            match thread {
                Ok(thread) => thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)),
                Err(_) => work(),
            }
        }
    });
    let (mut sum, mut problems) = (None::<Accumulator>, Vec::new());
    for (part, _) in all {
        let mut part = part.into_inner().unwrap_or_else(PoisonError::into_inner);
        problems.append(&mut part.problems);
        match &mut sum {
            Some(sum) => sum.merge(part.accumulator),
            sum => *sum = Some(part.accumulator),
        }
    }
    problems.sort_by_key(|&(index, _)| index);
    let problems = problems.into_iter().map(|(_, problem)| problem).collect();
    (sum.unwrap_or_else(|| form.start(1)), problems)
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The counts of every so many blocks.
struct Part {
    accumulator: Accumulator,
    /// The problems, with the numbers of their blocks.
    problems: Vec<(usize, Problem)>,
    /// The number of its next block.
    next: usize,
}

/// A block of whole lines.
struct Block {
    /// The number of lines before it.
    number: u64,
    index: usize,
    text: Vec<u8>,
}

/// The lines that no thread has taken yet.
struct Lines<'a> {
    source: Box<dyn Read + Send + 'a>,
    /// The beginning of the next line.
    rest: Vec<u8>,
    /// The size of a block.
    size: usize,
    /// The number of lines taken.
    number: u64,
    /// The number of the next block.
    next: usize,
    ended: bool,
}

impl Lines<'_> {
    /// Takes a block. Returns a problem with its number if the source cannot be read any further.
    fn take(&mut self, input: &Input) -> (Option<Block>, Option<(usize, Problem)>) {
        if self.ended {
            return (None, None);
        }
        let mut text = std::mem::take(&mut self.rest);
        let mut most = self.size.max(text.len() * 2);
        loop {
            self.ended = match fill(&mut self.source, &mut text, most) {
                Ok(ended) => ended,
                Err(error) => {
                    self.ended = true;
                    return (None, Some((self.next, input.problem(None, cannot_read(&error)))));
                }
            };
            if self.ended {
                break;
            }
            if let Some(end) = memchr::memrchr(b'\n', &text) {
                self.rest = text.split_off(end + 1);
                break;
            }
            if text.len() >= BUFFER {
                self.ended = true;
                return (None, Some((self.next, input.problem(Some((self.number + 1, 1)), too_long()))));
            }
            most = (text.len() * 2).min(BUFFER);
        }
        if text.is_empty() {
            return (None, None);
        }
        let block = Block { number: self.number, index: self.next, text };
        self.number += memchr::memchr_iter(b'\n', &block.text).count() as u64;
        self.next += 1;
        (Some(block), None)
    }
}
