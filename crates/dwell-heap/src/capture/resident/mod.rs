//! The resident memory of a process (RSS), divided by what it is for.
//!
//! `smaps` of the program has the resident bytes of each mapping. It is read while the threads are stopped for the copy, since
//! a copy has no pages of files. `pagemap` of the copy has the anonymous pages that existed at that moment. Of a process that
//! was copied from outside, the copied pages are those.

#[cfg(agent)]
mod classes;
#[cfg(agent)]
mod divide;
#[cfg(agent)]
mod glibc;

#[cfg(agent)]
pub(super) use divide::{Names, OfThread, Pages, Sources, divide, names, undivided};

/// The resident memory of a process.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Resident {
    /// The executable and its libraries, with their statics.
    pub program: u64,
    /// Other mapped files, and memory that is shared between processes.
    pub files: u64,
    /// The bytes of `files` by their paths, most bytes first.
    pub by_file: Vec<(String, u64)>,
    /// The stacks of threads.
    pub stacks: u64,
    /// The number of stacks that have resident pages.
    pub threads: u64,
    /// The bytes of `stacks` by the names of the threads and their number, most bytes first.
    pub by_thread: Vec<(String, u64, u64)>,
    /// Anonymous memory that is of no allocator as far as is known: the program mapped it itself.
    pub mapped: u64,
    /// The pages of `mapped`.
    pub pages: Ranges,
    /// The bytes of `mapped` by the numbers of the call stacks that mapped them, as far as these are known.
    pub by_stack: Vec<(u32, u64)>,
    /// The memory of the agent.
    pub census: u64,
    /// The resident pages of allocators.
    pub heap: Ranges,
    /// The bytes of pages in `heap` that the kernel does not count: they were read, but never written.
    pub unwritten: u64,
    /// What each block takes with header and rounding, as far as that is known: first address, and one past the last.
    pub taken: Vec<(u64, u64)>,
    /// Free chunks in the caches of threads.
    pub cached: Ranges,
    /// The bytes that `malloc_trim(0)` would return; `None` if glibc's heaps are not known.
    pub trim: Option<u64>,
    /// The heaps of glibc's arenas other than the main one.
    pub arenas: Vec<(u64, u64)>,
}

/// Sorted ranges of addresses that do not overlap.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ranges(Vec<(u64, u64)>);

impl Ranges {
    /// Returns the ranges.
    #[must_use]
    pub fn all(&self) -> &[(u64, u64)] {
        &self.0
    }

    /// Sorts ranges and joins those that overlap or touch.
    #[cfg(agent)]
    fn new(mut all: Vec<(u64, u64)>) -> Self {
        all.retain(|(start, end)| start < end);
        all.sort_unstable();
        all.dedup_by(|next, last| {
            let joins = next.0 <= last.1;
            last.1 = if joins { last.1.max(next.1) } else { last.1 };
            joins
        });
        Self(all)
    }

    /// Returns the sum of the lengths.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.0.iter().map(|(start, end)| end - start).sum()
    }

    /// Returns the number of bytes that are in `start..end`.
    #[must_use]
    pub fn bytes_in(&self, start: u64, end: u64) -> u64 {
        let first = self.0.partition_point(|range| range.1 <= start);
        let inside = self.0[first..].iter().take_while(|range| range.0 < end);
        inside.map(|range| range.1.min(end) - range.0.max(start)).sum()
    }

    /// Returns the parts that are also in `other`.
    #[cfg(agent)]
    fn and(&self, other: &Self) -> Self {
        let mut found = Vec::new();
        let mut rest = other.0.as_slice();
        for &(start, end) in &self.0 {
            rest = &rest[rest.partition_point(|range| range.1 <= start)..];
            let inside = rest.iter().take_while(|range| range.0 < end);
            found.extend(inside.map(|range| (range.0.max(start), range.1.min(end))));
        }
        Self(found)
    }

    /// Returns the parts that are not in `other`.
    #[cfg(agent)]
    fn without(&self, other: &Self) -> Self {
        let mut found = Vec::new();
        for &(mut start, end) in &self.0 {
            let first = other.0.partition_point(|range| range.1 <= start);
            for cut in other.0[first..].iter().take_while(|range| range.0 < end) {
                found.push((start, cut.0));
                start = cut.1;
            }
            found.push((start, end));
        }
        Self::new(found)
    }
}

#[cfg(all(test, agent))]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_joined_and_cut() {
        let all = Ranges::new(vec![(30, 40), (10, 20), (20, 25), (5, 5)]);
        assert_eq!(all.all(), [(10, 25), (30, 40)]);
        assert_eq!((all.bytes(), all.bytes_in(20, 35), all.bytes_in(25, 30)), (25, 10, 0));
        let other = Ranges::new(vec![(0, 12), (24, 31), (35, 36)]);
        assert_eq!(all.and(&other).all(), [(10, 12), (24, 25), (30, 31), (35, 36)]);
        assert_eq!(all.without(&other).all(), [(12, 24), (31, 35), (36, 40)]);
    }
}
