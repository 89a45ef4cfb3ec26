//! A snapshot of a process: its live blocks with their call stacks, and its memory.

#[cfg(agent)]
mod copied;
#[cfg(agent)]
pub(crate) mod events;
mod glibc;
#[cfg(agent)]
pub(crate) mod image;
#[cfg(agent)]
mod malloc;
#[cfg(agent)]
pub(crate) mod maps;
#[cfg(agent)]
pub(crate) mod outside;
#[cfg(agent)]
mod pagemap;
pub(crate) mod pieces;
mod prologue;
pub(crate) mod python;
#[cfg(agent)]
mod registers;
mod resident;
pub(crate) mod run;
#[cfg(agent)]
mod spill;
#[cfg(agent)]
mod stop;
mod thread;
mod unwind;
pub(crate) mod variables;

pub use crate::arch::Registers;
pub use resident::Resident;
pub use thread::Thread;

use crate::debuginfo;
use std::path::PathBuf;

/// A live block of the heap.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Block {
    /// The address of its first byte.
    pub addr: u64,
    /// The requested size in bytes.
    pub size: u64,
    /// The call stack that allocated it, as an index into [`Snapshot::stacks`].
    pub stack: u32,
    /// The number of blocks that it represents: 1, or more in a sampled run.
    pub weight: u32,
}

/// A file that is mapped into the process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Module {
    /// The file.
    pub path: PathBuf,
    /// The difference between an address in the process and in the file.
    pub bias: u64,
    /// Its first address in the process.
    pub start: u64,
    /// One past its last address.
    pub end: u64,
    /// Whether it is the executable.
    pub is_executable: bool,
    /// Its number among the files with debug info of Rust code, which are the first ones.
    pub object: Option<u32>,
}

impl Module {
    /// Returns `true` if an address is inside.
    #[must_use]
    pub fn contains(&self, address: u64) -> bool {
        (self.start..self.end).contains(&address)
    }

    /// Returns an address inside as the debug info counts it, if the file has any.
    fn in_program(&self, address: u64) -> Option<u64> {
        let object = self.object.filter(|_| self.contains(address))?;
        Some(debuginfo::of_object(object, address.wrapping_sub(self.bias)))
    }
}

/// Returns the files with debug info of Rust code.
pub(crate) fn rust(modules: &[Module]) -> impl Iterator<Item = &Module> {
    modules.iter().take_while(|module| module.object.is_some())
}

/// Gives equal files of several snapshots the same number. Returns the files.
pub(crate) fn number(snapshots: &mut [Snapshot]) -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> = Vec::new();
    for module in snapshots.iter_mut().flat_map(|snapshot| &mut snapshot.modules) {
        if module.object.is_some() {
            let known = files.iter().position(|file| *file == module.path);
            let number = known.unwrap_or_else(|| {
                files.push(module.path.clone());
                files.len() - 1
            });
            module.object = u32::try_from(number).ok();
        }
    }
    files
}

/// The moment of a snapshot.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Moment {
    /// Live bytes were at least 98 % of their maximum.
    Peak,
    /// Live bytes had grown; the last such copy before the program was killed.
    Growth,
    /// The program ended.
    Exit,
    /// A signal requested it.
    Signal,
    /// Milliseconds after the start of the program.
    After(u64),
    /// Somebody looked at it from outside.
    Attached,
    /// The program died, and left a core.
    Core,
    /// Milliseconds after the first heap dump of a folder.
    Dump(u64),
}

/// The memory of a process that no longer changes.
pub trait Memory: Sync {
    /// Reads up to `into.len()` bytes at `addr`. Returns the number of bytes read.
    fn read(&self, addr: u64, into: &mut [u8]) -> usize;

    /// Returns adjacent bytes around an address with their first address, if they are here and need no copy.
    fn around(&self, _addr: u64) -> Option<(u64, &[u8])> {
        None
    }

    /// Returns what the resident memory of the process is for, if that is known.
    fn resident(&self) -> Option<&Resident> {
        None
    }
}

/// The state of a process at one moment.
pub struct Snapshot {
    /// The moment.
    pub at: Moment,
    /// The time since the start of the program in milliseconds.
    pub millis: u64,
    /// The number of live bytes.
    pub live_bytes: u64,
    /// The number of live blocks.
    pub live_blocks: u64,
    /// The maximum of live bytes so far.
    pub peak_bytes: u64,
    /// The blocks, sorted by address, without overlap.
    pub blocks: Vec<Block>,
    /// The call stacks as return addresses, innermost first.
    pub stacks: Vec<Vec<u64>>,
    /// The mapped files, the executable first.
    pub modules: Vec<Module>,
    /// Threads' stacks (from the stack pointer up) and thread-local memory, if known: first address and one past the
    /// last.
    pub roots: Vec<(u64, u64)>,
    /// The pages without a file that are in memory, as far as they are known: first address and one past the last.
    pub anonymous: Vec<(u64, u64)>,
    /// The threads whose registers or thread-local memory are known.
    pub threads: Vec<Thread>,
    /// How the allocator rounds sizes, if those of the blocks are not the requested ones but what can be used.
    pub usable: Option<Rounding>,
    /// The memory of the process.
    pub memory: Box<dyn Memory + Send>,
}

impl Snapshot {
    /// Returns an address in Rust code as the debug info counts it.
    pub(crate) fn in_program(&self, address: u64) -> Option<u64> {
        rust(&self.modules).find_map(|module| module.in_program(address))
    }

    /// Returns the address in the process of one in the debug info, and the end of the file there.
    pub(crate) fn in_process(&self, address: u64) -> Option<(u64, u64)> {
        let (object, address) = debuginfo::object_at(address);
        let module = rust(&self.modules).find(|module| module.object == Some(object))?;
        let address = address.wrapping_add(module.bias);
        module.contains(address).then_some((address, module.end))
    }
}

/// How an allocator rounds sizes up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rounding {
    /// glibc: multiples of 16 bytes less 8, or pages of so many bytes less 16 bytes; sometimes a little more.
    Glibc(u64),
    /// mimalloc and jemalloc: classes, of which each is at most a quarter larger than the one before.
    Classes,
    /// An allocator inside of a library, beside glibc with pages of so many bytes.
    Either(u64),
    /// musl: it knows the requested sizes.
    None,
}

impl Rounding {
    /// Returns `true` if a block of which `usable` bytes can be used may be the answer to a request of `size` bytes.
    #[must_use]
    pub fn fits(self, size: u64, usable: u64) -> bool {
        /// A rest that is too small for a chunk stays with a block, also where it was aligned.
        const REST: u64 = 32;
        const LEAST: u64 = 24;
        let Some(rest) = usable.checked_sub(size) else { return false };
        match self {
            // A block that is mapped separately.
            Self::Glibc(page) if usable.is_multiple_of(16) => rest < page.saturating_add(REST),
            Self::Glibc(_) => {
                let rounded = (size.saturating_add(8).next_multiple_of(16) - 8).max(LEAST);
                usable <= rounded + REST
            }
            Self::Either(page) => Self::Classes.fits(size, usable) || Self::Glibc(page).fits(size, usable),
            Self::Classes => rest <= (usable / 4).max(16),
            Self::None => rest == 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_that_are_mapped_separately_are_rounded_up_to_pages() {
        // 3 MiB in pages of 4 and of 16 KiB.
        let (size, of_4, of_16) = (3 << 20, (3 << 20) + 4096 - 16, (3 << 20) + 16384 - 16);
        assert!(Rounding::Glibc(4096).fits(size, of_4) && !Rounding::Glibc(4096).fits(size, of_16));
        assert!(Rounding::Glibc(16384).fits(size, of_16) && Rounding::Glibc(16384).fits(size, of_4));
        assert!(!Rounding::Glibc(16384).fits(size, of_16 + 16384) && !Rounding::Glibc(4096).fits(size, size - 16));
        // Others are not.
        assert!(Rounding::Glibc(16384).fits(100, 104) && !Rounding::Glibc(16384).fits(100, 152));
    }
}
