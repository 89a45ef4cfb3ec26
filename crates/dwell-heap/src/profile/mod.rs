//! A profile of a program's allocations: counts for each pair of size and call stack, and samples of its processor time.

#[cfg(agent)]
mod counter;
#[cfg(agent)]
mod live;
#[cfg(agent)]
mod plain;
#[cfg(agent)]
mod records;
pub mod run;
#[cfg(agent)]
mod sampler;

#[cfg(agent)]
pub use counter::Counter;
#[cfg(agent)]
pub use live::{Live, sample};
#[cfg(agent)]
pub use plain::Plain;

use crate::capture::{Memory, Module, Moment, Snapshot};
use std::collections::HashMap;

/// The number of bins of lifetimes. Bin `n` has the lifetimes of `n` bits; the last bin has all longer ones.
pub const LIFETIMES: usize = 24;

/// The maximum number of points of a curve whose interval is not given.
pub const POINTS: usize = 64;

/// An allocator.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Allocator {
    /// The system's.
    #[default]
    Glibc,
    /// mimalloc.
    Mimalloc,
    /// jemalloc.
    Jemalloc,
    /// An allocator in an executable that defines its own `malloc`.
    Executable,
}

/// The counts of a pair of size and call stack.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Counts {
    /// Blocks that were allocated anew.
    pub allocations: u64,
    /// Blocks that were freed.
    pub frees: u64,
    /// The bytes of all blocks, also of those that `realloc` returned.
    pub bytes: u64,
    /// Blocks that are live at the end.
    pub live: u64,
    /// The sum of the largest numbers of live blocks of each thread: exact for one thread, else an upper bound.
    pub most_live: u64,
    /// Frees of the block that the thread allocated last, with no call between.
    pub temporary: u64,
    /// Frees of the newest live block of the thread.
    pub in_order: u64,
    /// Frees in runs of at least eight, with no allocation between.
    pub together: u64,
    /// Blocks that `realloc` returned.
    pub reallocations: u64,
    /// Blocks that `realloc` replaced.
    pub replaced: u64,
    /// Bytes that `realloc` copied to another address.
    pub copied: u64,
    /// Frees on another thread than the allocation.
    pub foreign: u64,
    /// Blocks taken from glibc's thread cache, from its fast bins, and from elsewhere, by a model.
    pub allocated: [u64; 3],
    /// Blocks given back to these.
    pub freed: [u64; 3],
    /// By the bits of the number of blocks that the thread allocated between allocation and free.
    pub lifetimes: [u64; LIFETIMES],
}

impl Counts {
    /// Returns `true` if there was no call.
    pub fn is_empty(&self) -> bool {
        self.allocations + self.frees + self.reallocations + self.replaced == 0
    }

    /// Adds the counts of another pair or thread.
    pub fn add(&mut self, other: &Self) {
        self.allocations += other.allocations;
        self.frees += other.frees;
        self.bytes = self.bytes.saturating_add(other.bytes);
        self.live += other.live;
        self.most_live += other.most_live;
        self.temporary += other.temporary;
        self.in_order += other.in_order;
        self.together += other.together;
        self.reallocations += other.reallocations;
        self.replaced += other.replaced;
        self.copied = self.copied.saturating_add(other.copied);
        self.foreign += other.foreign;
        for (sum, more) in self.allocated.iter_mut().zip(other.allocated) {
            *sum += more;
        }
        for (sum, more) in self.freed.iter_mut().zip(other.freed) {
            *sum += more;
        }
        for (sum, more) in self.lifetimes.iter_mut().zip(other.lifetimes) {
            *sum += more;
        }
    }
}

impl Counts {
    /// Leaves out earlier counts of the same pair. The largest number of live blocks stays that of the whole run.
    fn leave_out(&mut self, earlier: &Self) {
        let subtract = |now: &mut u64, before: u64| *now = now.saturating_sub(before);
        subtract(&mut self.allocations, earlier.allocations);
        subtract(&mut self.frees, earlier.frees);
        subtract(&mut self.bytes, earlier.bytes);
        subtract(&mut self.live, earlier.live);
        subtract(&mut self.temporary, earlier.temporary);
        subtract(&mut self.in_order, earlier.in_order);
        subtract(&mut self.together, earlier.together);
        subtract(&mut self.reallocations, earlier.reallocations);
        subtract(&mut self.replaced, earlier.replaced);
        subtract(&mut self.copied, earlier.copied);
        subtract(&mut self.foreign, earlier.foreign);
        let all = self.allocated.iter_mut().chain(&mut self.freed).chain(&mut self.lifetimes);
        let before = earlier.allocated.iter().chain(&earlier.freed).chain(&earlier.lifetimes);
        all.zip(before).for_each(|(now, before)| subtract(now, *before));
    }
}

/// A pair of size and call stack.
#[derive(Clone, Debug)]
pub struct Pair {
    /// The size of its blocks in bytes. Sizes from 1 KiB on are rounded up by at most an eighth.
    pub size: u64,
    /// Its call stack, as an index into [`Profile::stacks`].
    pub stack: u32,
    /// The allocator of its blocks.
    pub allocator: Allocator,
    /// A call stack that freed its blocks in a run with others, if there was one.
    pub run_stack: Option<u32>,
    /// A call stack that freed one of its blocks.
    pub free_stack: Option<u32>,
    /// Its counts in all threads.
    pub counts: Counts,
}

/// The counts of a thread, or of several that ran one after the other.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Thread {
    /// The number of threads.
    pub threads: u64,
    /// Their allocations.
    pub allocations: u64,
    /// Their frees.
    pub frees: u64,
    /// Their reallocations.
    pub reallocations: u64,
}

impl Thread {
    /// Leaves out what was counted before.
    #[cfg_attr(not(agent), allow(dead_code, reason = "only a run has children"))]
    fn leave_out(&mut self, before: &Self) {
        self.allocations = self.allocations.saturating_sub(before.allocations);
        self.frees = self.frees.saturating_sub(before.frees);
        self.reallocations = self.reallocations.saturating_sub(before.reallocations);
    }
}

/// Samples of the program's time in user mode.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Samples {
    /// Samples in the program's own code, libraries included.
    pub program: u64,
    /// Samples in the allocator.
    pub allocator: u64,
    /// Samples in the agent, which are no part of the program's time.
    pub agent: u64,
}

/// A point of the curve of allocations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Point {
    /// Milliseconds since the start of the program.
    pub millis: u64,
    /// The number of allocations and reallocations so far.
    pub blocks: u64,
}

/// The allocations of a run.
#[derive(Clone, Debug, Default)]
pub struct Profile {
    /// The pairs.
    pub pairs: Vec<Pair>,
    /// Those of the whole run, if `pairs` are of a region of it; their call stacks have other numbers.
    pub whole: Vec<Pair>,
    /// The call stacks as return addresses, innermost first.
    pub stacks: Vec<Vec<u64>>,
    /// The mapped files, the executable first.
    pub modules: Vec<Module>,
    /// The threads.
    pub threads: Vec<Thread>,
    /// The number of calls that were not counted.
    pub lost: u64,
    /// The calls of the functions in [`run::Options::counted`], if they were counted.
    pub calls: Option<u64>,
    /// The number of these functions, and why their calls were not counted.
    pub counters: u64,
    /// See `counters`.
    pub uncounted: Option<String>,
    /// The curve of allocations.
    pub curve: Vec<Point>,
    /// The samples, if the kernel allowed them.
    pub samples: Option<Samples>,
    /// Why there are no samples.
    pub no_samples: String,
    /// The processor time in user mode and in the kernel, of the program and of children that it waited for, in
    /// nanoseconds.
    pub user_nanos: u64,
    /// The time in the kernel.
    pub system_nanos: u64,
    /// The running time in milliseconds.
    pub millis: u64,
    /// The number of processes that it started, and whether it executed another program. Known if there are samples.
    pub children: u64,
    /// See `children`.
    pub executed: bool,
    /// The time of the monotonic clock at the start.
    pub start_nanos: u64,
    /// The mean number of bytes between two recorded allocations; 0 if all were recorded.
    pub sample: u64,
    /// The program's exit code; for a signal, 128 plus its number.
    pub code: u8,
    /// Notes for the user, a line each.
    pub notes: Vec<String>,
    /// The processes that it started, if they are followed.
    pub followed: Vec<Followed>,
}

/// A process that the program started.
#[derive(Clone, Debug, Default)]
pub struct Followed {
    /// Its number.
    pub pid: u32,
    /// Its name.
    pub name: String,
    /// The executable.
    pub executable: std::path::PathBuf,
    /// Its arguments.
    pub arguments: Vec<String>,
    /// What was counted; of one that was forked, since then.
    pub profile: Profile,
}

impl Profile {
    /// Returns the sum of all counts.
    pub fn total(&self) -> Counts {
        let mut total = Counts::default();
        self.pairs.iter().for_each(|pair| total.add(&pair.counts));
        total
    }

    /// Returns the files with debug info of Rust code; the executable, if there are none.
    pub fn files(&self, executable: &std::path::Path) -> Vec<std::path::PathBuf> {
        let mut all: Vec<_> = crate::capture::rust(&self.modules).map(|module| module.path.clone()).collect();
        if all.is_empty() {
            all.push(executable.to_owned());
        }
        all
    }

    /// Leaves out what an earlier profile of the same run has.
    #[cfg_attr(not(agent), allow(dead_code, reason = "only a run has an earlier profile"))]
    fn leave_out(&mut self, earlier: &Self) {
        let key = |profile: &Self, pair: &Pair| {
            (pair.size, profile.stacks.get(pair.stack as usize).cloned().unwrap_or_default())
        };
        let before: HashMap<_, &Counts> = earlier.pairs.iter().map(|pair| (key(earlier, pair), &pair.counts)).collect();
        let keys: Vec<_> = self.pairs.iter().map(|pair| key(self, pair)).collect();
        for (pair, key) in self.pairs.iter_mut().zip(keys) {
            before.get(&key).into_iter().for_each(|before| pair.counts.leave_out(before));
        }
        self.pairs.retain(|pair| !pair.counts.is_empty());
        self.calls = self.calls.map(|calls| calls.saturating_sub(earlier.calls.unwrap_or(0)));
    }

    /// Returns a snapshot with these call stacks and without blocks, for functions that read call stacks.
    pub fn as_snapshot(&self) -> Snapshot {
        Snapshot {
            at: Moment::Exit,
            millis: self.millis,
            live_bytes: 0,
            live_blocks: 0,
            peak_bytes: 0,
            blocks: Vec::new(),
            stacks: self.stacks.clone(),
            modules: self.modules.clone(),
            roots: Vec::new(),
            anonymous: Vec::new(),
            usable: None,
            threads: Vec::new(),
            memory: Box::new(NoMemory),
        }
    }
}

struct NoMemory;

impl Memory for NoMemory {
    fn read(&self, _: u64, _: &mut [u8]) -> usize {
        0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_region_has_what_was_counted_in_it() {
        let pair = |stack, allocations| Pair {
            size: 8,
            stack,
            allocator: Allocator::Glibc,
            run_stack: None,
            free_stack: None,
            counts: Counts { allocations, allocated: [allocations, 0, 0], ..Counts::default() },
        };
        // The stacks of the later profile have other numbers.
        let (pairs, stacks) = (vec![pair(0, 5), pair(1, 2)], vec![vec![10], vec![20]]);
        let start = Profile { pairs, stacks, calls: Some(3), ..Profile::default() };
        let stacks = vec![vec![30], vec![20], vec![10]];
        let mut end =
            Profile { pairs: vec![pair(0, 7), pair(1, 2), pair(2, 9)], stacks, calls: Some(10), ..Profile::default() };
        end.leave_out(&start);
        assert_eq!(end.calls, Some(7));
        let left: Vec<_> =
            end.pairs.iter().map(|pair| (pair.stack, pair.counts.allocations, pair.counts.allocated[0])).collect();
        assert_eq!(left, [(0, 7, 7), (2, 4, 4)]);
    }
}
