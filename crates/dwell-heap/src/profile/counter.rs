//! Counts what a program does, by `perf_event_open`.

#![expect(clippy::cast_possible_truncation, reason = "file numbers are far from the bounds of their types")]

use crate::capture::events::{Attributes, CLOSE_ON_EXEC};
use std::fs::File;
use std::io::{Error, ErrorKind, Read as _, Result};
use std::os::fd::FromRawFd as _;

const HARDWARE: u32 = 0;
const INSTRUCTIONS: u64 = 1;
/// Counts nothing until a process that inherits the event executes a program.
const DISABLED: u64 = 1;
const ENABLE_ON_EXEC: u64 = 1 << 12;
/// A reading has also how long the event was wanted, and how long it was counted.
const TIMES: u64 = 1 | 1 << 1;

/// A counter of the processes that this thread starts after it, until they end.
///
/// They inherit the event, each with a count of its own, which the kernel adds to this one when the process ends.
#[derive(Debug)]
pub struct Counter(File);

impl Counter {
    /// Counts the instructions in user mode.
    ///
    /// # Errors
    /// Returns an error if the kernel does not count them, as in most virtual machines.
    pub fn instructions() -> Result<Self> {
        Self::open(HARDWARE, INSTRUCTIONS)
    }

    fn open(kind: u32, config: u64) -> Result<Self> {
        let attributes = Attributes::counting(kind, config, DISABLED | ENABLE_ON_EXEC, TIMES);
        // SAFETY: the call reads the attributes, a local with the size that they state. The numbers are this thread, and all processors.
        let file = unsafe { libc::syscall(libc::SYS_perf_event_open, &raw const attributes, 0, -1, -1, CLOSE_ON_EXEC) };
        if file < 0 {
            return Err(Error::last_os_error());
        }
        // SAFETY: the call succeeded, so the number is a new file without another owner.
        Ok(Self(unsafe { File::from_raw_fd(file as i32) }))
    }

    /// Returns the count of the processes that ended.
    ///
    /// # Errors
    /// Returns an error if the kernel did not count.
    pub fn read(mut self) -> Result<u64> {
        let mut words = [[0; 8]; 3];
        self.0.read_exact(words.as_flattened_mut())?;
        let [count, wanted, counted] = words.map(u64::from_ne_bytes);
        match counted {
            0 => Err(Error::new(ErrorKind::Unsupported, "the event was never counted")),
            // With more events than the processor has counters, they take turns.
            _ if counted < wanted => {
                let all = u128::from(count) * u128::from(wanted) / u128::from(counted);
                Ok(u64::try_from(all).unwrap_or(u64::MAX))
            }
            _ => Ok(count),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;

    const SOFTWARE: u32 = 1;
    const PAGE_FAULTS: u64 = 2;

    /// Runs a shell with a loop. Returns what was counted; `None` with the reason: nothing.
    fn counted(counter: Result<Counter>, rounds: u32) -> Option<u64> {
        let counter = match counter {
            Ok(counter) => counter,
            Err(error) => {
                println!("skipped: the kernel does not count here: {error}");
                return None;
            }
        };
        let text = format!("i=0; while [ $i -lt {rounds} ]; do i=$((i+1)); done");
        assert!(Command::new("sh").args(["-c", &text]).status().unwrap().success());
        Some(counter.read().unwrap())
    }

    #[test]
    fn instructions_of_a_child_are_counted() {
        let few = counted(Counter::instructions(), 1_000);
        let many = counted(Counter::instructions(), 100_000);
        if let (Some(few), Some(many)) = (few, many) {
            assert!(few > 1_000 && many > few + 1_000_000, "{few} {many}");
        }
    }

    /// Each kernel counts faults: that a child inherits the event is tested everywhere.
    #[test]
    fn only_children_are_counted() {
        let counter = Counter::open(SOFTWARE, PAGE_FAULTS);
        let touched = vec![1_u8; 64 << 20];
        if let Some(faults) = counted(counter, 1) {
            assert!((1..(64 << 20) / 4096).contains(&faults), "{faults} {}", touched.len());
        }
    }
}
