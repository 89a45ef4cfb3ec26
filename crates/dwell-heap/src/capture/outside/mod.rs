//! A process that was started without the agent, from outside: its memory, its mappings and its threads at one moment, or
//! those of its core.
//!
//! `process` and `copy` copy the memory of a process, which `guard` has stopped by `halt`, and `core` reads a core. The blocks
//! of the heap are those of the allocator's own lists (`capture::malloc`).

mod compressed;
mod copy;
mod core;
mod executable;
mod folder;
mod guard;
mod halt;
mod process;

pub use core::{history, open};
pub use process::{attach, hold};

use super::copied::Copied;
use super::image::Copy;
use super::maps::{self, Mapping, below};
use super::pagemap::PAGE;
use super::resident::{self, Names, OfThread, Pages, Sources};
use super::{Block, Module, Moment, Rounding, Snapshot, Thread, malloc};
use crate::arch::{self, AROUND};
use anyhow::Result;
use executable::Executable;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Where the files of a program can be read.
enum Files {
    /// Below this folder: of a container, its root.
    Below(PathBuf),
    /// On another machine: by the path that the program knew, those of which there is the same build.
    Known(HashMap<PathBuf, PathBuf>),
}

impl Files {
    /// Returns where a mapped file can be read.
    fn file(&self, path: &Path, executable: &Executable) -> Option<PathBuf> {
        match self {
            _ if path == executable.path => Some(executable.file.clone()),
            Self::Below(root) => Some(below(root, path)),
            Self::Known(files) => files.get(path).cloned(),
        }
    }
}

/// What a program was at one moment.
pub struct Captured {
    maps: Vec<Mapping>,
    memory: Copied,
    threads: Vec<Thread>,
    executable: Executable,
    /// The bytes of a page of its kernel.
    page: u64,
    files: Files,
    /// The version of glibc, if a heap dump tells it.
    glibc: Option<String>,
    moment: Moment,
    millis: u64,
    /// The names of its threads.
    names: Names,
    /// The mappings with what is resident of each, if that is known.
    smaps: Option<Vec<Mapping>>,
    /// How long the program was stopped.
    pub pause: Option<Duration>,
}

impl Captured {
    /// Returns the file with the executable.
    #[must_use]
    pub fn executable(&self) -> &Path {
        &self.executable.file
    }

    /// Returns the number of bytes that were copied.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.memory.bytes()
    }

    /// Finds the blocks of the heap. Also returns notes for the user.
    ///
    /// # Errors
    /// Returns an error if the allocator is not known.
    pub fn snapshot(self) -> Result<(Snapshot, Vec<String>)> {
        let executable = &self.executable;
        let file = |path: &Path| self.files.file(path, executable);
        let place = malloc::ProcessImage {
            maps: &self.maps,
            memory: &self.memory,
            threads: &self.threads,
            executable: (&executable.path, &executable.file),
            bias: executable.bias,
            page: self.page,
            file: &file,
            glibc: self.glibc.as_deref(),
        };
        let live = malloc::live(&place)?;
        let mut notes = live.unread;
        notes.extend(self.smaps.as_ref().and_then(|_| resident::undivided()));
        if live.lost > 0 {
            notes.push(format!(
                "{} bytes of the heap could not be read: the lists of {} are inconsistent there",
                live.lost, live.allocator
            ));
        }
        let blocks: Vec<Block> =
            live.blocks.into_iter().map(|(addr, size)| Block { addr, size, stack: 0, weight: 1 }).collect();
        let live_bytes = blocks.iter().map(|block| block.size).sum();
        let resident = self.smaps.as_ref().filter(|_| arch::page() == PAGE).map(|smaps| {
            let stacks = self.threads.iter().filter_map(|thread| OfThread::new(thread, &self.names)).collect();
            let has_classes = matches!(live.rounding, Rounding::Classes | Rounding::Either(_));
            let (memory, blocks) = (&self.memory, blocks.as_slice());
            let sources =
                Sources { memory, blocks, records: Vec::new(), mapped: Vec::new(), agent: None, stacks, has_classes };
            resident::divide(&Pages::copied(&self.maps, smaps, memory), &sources)
        });
        let mut modules = self.modules();
        modules.retain(|module| executable::is_same(&self.memory, module));
        let anonymous = self.maps.iter().filter(|map| map.is_anonymous() && map.readable);
        let snapshot = Snapshot {
            anonymous: anonymous.flat_map(|map| self.memory.copied(map.start, map.end)).collect(),
            at: self.moment.clone(),
            millis: self.millis,
            live_bytes,
            live_blocks: blocks.len() as u64,
            peak_bytes: live_bytes,
            blocks,
            stacks: Vec::new(),
            modules,
            roots: self.roots(),
            threads: self.threads,
            usable: Some(live.rounding),
            memory: Box::new(Copy { memory: Box::new(self.memory), resident }),
        };
        Ok((snapshot, notes))
    }

    /// Returns the mapped files, the executable first.
    fn modules(&self) -> Vec<Module> {
        let executable = &self.executable;
        let mut modules = maps::modules(&self.maps, &|path| path == executable.path, &executable.file, executable.bias);
        for module in modules.iter_mut().skip(1) {
            module.path = self.files.file(&module.path, executable).unwrap_or_default();
        }
        modules.retain(|module| module.path != Path::new(""));
        maps::put_rust_first(&mut modules, &self.maps);
        modules
    }

    /// Returns the parts of memory that belong to threads: their stacks and thread-local memory.
    fn roots(&self) -> Vec<(u64, u64)> {
        let holding = |addr: u64| self.maps.iter().find(|map| map.readable && map.contains(addr));
        let mut roots = Vec::new();
        for thread in &self.threads {
            if let Some(stack) = thread.stack_pointer() {
                roots.extend(holding(stack).map(|map| (stack & !7, map.end)));
            }
            if let Some(pointer) = thread.pointer {
                let around = |map: &Mapping| {
                    (map.start.max(pointer.saturating_sub(AROUND.0)), map.end.min(pointer.saturating_add(AROUND.1)))
                };
                roots.extend(holding(pointer).map(around));
            }
        }
        roots.sort_unstable();
        roots.dedup();
        roots
    }
}

/// The keys of a kernel's words for a process: the bytes of a page, and the address of the first instruction.
const AT_PAGESZ: u64 = 6;
const AT_ENTRY: u64 = 9;

/// Returns the value of a key among the kernel's words for a process: pairs of a key and a value.
fn word_in(words: &[u8], wanted: u64) -> Option<u64> {
    let (words, _) = words.as_chunks::<16>();
    words.iter().find_map(|pair| {
        let (key, value) = pair.split_at(8);
        let [key, value] = [key, value].map(|word| word.first_chunk().map(|word| u64::from_le_bytes(*word)));
        value.filter(|_| key == Some(wanted))
    })
}
