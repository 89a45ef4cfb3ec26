//! Samples a program that runs without the agent: which part of its time is in the allocator.
//!
//! Recording takes caches from the program, so that its shares are those of a slower program. A plain run has none of that. The
//! instruction of a sample is in the allocator if it is in a library of one, in one that the executable contains, or in the part
//! of libc that `malloc.c` was compiled to: the functions between the last exported one before `malloc` that is not of this
//! file, and the first one after it.

use super::sampler::allocator_functions;
use crate::capture::events::{Events, Seen};
use crate::capture::maps::{Mapping, code_mappings};
use object::{Object, ObjectSegment, ObjectSymbol};
use std::collections::HashMap;
use std::path::{Path, PathBuf};

/// The functions that `malloc.c` of glibc exports.
const OF_MALLOC: [&str; 18] = [
    "malloc",
    "free",
    "cfree",
    "realloc",
    "calloc",
    "memalign",
    "aligned_alloc",
    "valloc",
    "pvalloc",
    "posix_memalign",
    "malloc_trim",
    "malloc_usable_size",
    "malloc_stats",
    "malloc_info",
    "mallinfo",
    "mallinfo2",
    "mallopt",
    "reallocarray",
];

/// The samples of a process.
#[derive(Debug)]
pub struct Plain {
    pid: i32,
    events: Events,
    /// The code of files.
    mappings: Vec<Mapping>,
    /// The number of samples by instruction: the file, and the offset in it.
    found: HashMap<(PathBuf, u64), u64>,
    /// Those in no file.
    others: u64,
}

impl Plain {
    /// Starts to sample a process.
    ///
    /// # Errors
    /// Returns an error if the kernel allows no samples.
    pub fn start(pid: u32) -> Result<Self, String> {
        let pid = i32::try_from(pid).map_err(|_| "the process has no number".to_owned())?;
        let events = Events::open(pid, 0)?;
        Ok(Self { pid, events, mappings: Vec::new(), found: HashMap::new(), others: 0 })
    }

    /// Reads the samples that were taken since the last call: call it every few milliseconds, and after the end.
    pub fn read(&mut self) {
        let mut taken: HashMap<u64, u64> = HashMap::new();
        self.events.read(self.pid, &mut |seen| {
            if let Seen::At(address, _) = seen {
                *taken.entry(address).or_default() += 1;
            }
        });
        let is_known = |all: &[Mapping], address: u64| all.iter().any(|mapping| mapping.contains(address));
        if taken.keys().any(|address| !is_known(&self.mappings, *address)) {
            let read = code_mappings(self.pid);
            // A process that ended has none.
            if !read.is_empty() {
                self.mappings = read;
            }
        }
        for (address, count) in taken {
            match self.mappings.iter().find(|mapping| mapping.contains(address)) {
                Some(mapping) => {
                    *self.found.entry((mapping.path.clone(), address - mapping.start + mapping.offset)).or_default() +=
                        count;
                }
                None => self.others += count,
            }
        }
    }

    /// Returns the numbers of samples in the program and in the allocator.
    pub fn finish(mut self) -> [u64; 2] {
        self.read();
        let mut ranges: HashMap<&Path, Vec<(u64, u64)>> = HashMap::new();
        let mut sums = [self.others, 0];
        for ((path, offset), count) in &self.found {
            let ranges = ranges.entry(path).or_insert_with(|| of_allocator(path));
            let is_allocator = ranges.iter().any(|(start, end)| (*start..*end).contains(offset));
            sums[usize::from(is_allocator)] += count;
        }
        sums
    }
}

/// Returns the offsets in a file that are code of an allocator.
pub(super) fn of_allocator(path: &Path) -> Vec<(u64, u64)> {
    let name = path.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned());
    if ["libmimalloc", "libjemalloc", "libtcmalloc"].iter().any(|library| name.starts_with(library)) {
        return vec![(0, u64::MAX)];
    }
    let data = std::fs::read(path).unwrap_or_default();
    let Ok(file) = object::File::parse(&*data) else { return Vec::new() };
    let mut ranges = allocator_functions(&data);
    if name.starts_with("libc.so") || name.starts_with("libc-") {
        let exported = file.dynamic_symbols().filter(|symbol| symbol.is_definition() && symbol.address() > 0);
        let exported: Vec<(&str, u64, u64)> =
            exported.filter_map(|symbol| Some((symbol.name().ok()?, symbol.address(), symbol.size()))).collect();
        ranges.extend(of_malloc(&exported));
    }
    // Addresses are those of the file's segments.
    let in_file = |address: u64| {
        file.segments().find_map(|segment| {
            let at = address.checked_sub(segment.address()).filter(|at| *at < segment.size())?;
            Some(segment.file_range().0 + at)
        })
    };
    ranges.iter().filter_map(|(start, end)| Some((in_file(*start)?, in_file(end.checked_sub(1)?)? + 1))).collect()
}

/// Returns the addresses of `malloc.c` from the exported functions: name, address and size.
fn of_malloc(exported: &[(&str, u64, u64)]) -> Option<(u64, u64)> {
    let malloc = exported.iter().find(|(name, ..)| *name == "malloc")?.1;
    let is_own = |name: &str| OF_MALLOC.contains(&name.trim_start_matches("__libc_").trim_start_matches("__"));
    // A name may have an address that one of these has, too.
    let own: Vec<u64> = exported.iter().filter(|(name, ..)| is_own(name)).map(|(_, address, _)| *address).collect();
    let others = || exported.iter().filter(|(_, address, _)| !own.contains(address));
    let start = others().filter(|(_, address, _)| *address < malloc).map(|(_, address, size)| address + size).max()?;
    let end = others().map(|(_, address, _)| *address).filter(|address| *address > malloc).min()?;
    Some((start.min(malloc), end))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_of_malloc_are_those_between_exported_ones_of_other_files() {
        let exported = [
            ("timer_settime", 0x100, 0x40),
            ("__default_morecore", 0x200, 0x20),
            ("malloc", 0x400, 0x80),
            ("__libc_malloc", 0x400, 0x80),
            ("__libc_free", 0x500, 0x80),
            ("malloc_info", 0x600, 0x40),
            ("mcheck", 0x640, 0x10),
            ("mtrace", 0x650, 0x10),
        ];
        assert_eq!(of_malloc(&exported), Some((0x220, 0x640)));
        assert_eq!(of_malloc(&exported[..2]), None);
    }
}
