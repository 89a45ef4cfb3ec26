//! The live blocks of a heap by the allocator's own lists.

mod glibc;
mod jemalloc;
mod mimalloc;
mod musl;

use super::copied::Copied;
use super::maps::{self, Mapping};
use super::{Memory, Rounding, Thread};
use crate::debuginfo;
use anyhow::{Result, bail};
use std::path::{Path, PathBuf};

/// A process whose allocator is asked.
#[derive(Clone, Copy)]
pub(super) struct ProcessImage<'a> {
    pub(super) maps: &'a [Mapping],
    pub(super) memory: &'a Copied,
    pub(super) threads: &'a [Thread],
    /// The executable in the mappings, and where it can be read; or a library with an allocator inside.
    pub(super) executable: (&'a Path, &'a Path),
    /// The difference between an address of this file in the process and in the file.
    pub(super) bias: u64,
    /// The bytes of a page of its kernel.
    pub(super) page: u64,
    /// Returns where a mapped file can be read, if it is here in the same build.
    pub(super) file: &'a dyn Fn(&Path) -> Option<PathBuf>,
    /// The version of glibc, such as `2.36`, if it is known without its file.
    pub(super) glibc: Option<&'a str>,
}

/// The live blocks.
#[derive(Debug)]
pub(super) struct Live {
    /// The address and the usable size of each block, sorted, without overlap.
    pub(super) blocks: Vec<(u64, u64)>,
    /// The name and version of the allocator.
    pub(super) allocator: String,
    pub(super) rounding: Rounding,
    /// The number of bytes that were left out, because lists contradict each other.
    pub(super) lost: u64,
    /// Why the blocks of an allocator inside of a library are not among them, a line each.
    pub(super) unread: Vec<String>,
}

/// The blocks of an allocator inside of a file.
struct Inside {
    /// As in [`Live`].
    blocks: Vec<(u64, u64)>,
    /// The ranges of its memory, in which no other allocator has blocks.
    own: Vec<(u64, u64)>,
    allocator: &'static str,
}

/// Returns the words of a table that are not zero. A table may end early.
fn words(process: &ProcessImage<'_>, start: u64, count: usize) -> impl Iterator<Item = u64> {
    let mut bytes = vec![0; 8 * count];
    let read = Memory::read(process.memory, start, &mut bytes);
    bytes.truncate(read);
    let words: Vec<u64> = bytes.as_chunks::<8>().0.iter().map(|word| u64::from_le_bytes(*word)).collect();
    words.into_iter().filter(|word| *word != 0)
}

/// Functions of allocators that are linked into programs, and whose structures are not known.
const OTHERS: [(&str, &str); 8] = [
    ("_rjem_malloc", "a jemalloc that is not of version 5.3"),
    ("_rjem_je_malloc_default", "a jemalloc that is not of version 5.3"),
    ("je_malloc_default", "a jemalloc that is not of version 5.3"),
    ("tc_malloc", "tcmalloc"),
    ("sn_malloc", "snmalloc"),
    ("sn_rust_alloc", "snmalloc"),
    ("rpmalloc", "rpmalloc"),
    ("mi_malloc", "mimalloc 2"),
];

/// Returns the live blocks of a process: those of the allocators inside of the executable and of libraries, and libc's.
pub(super) fn live(process: &ProcessImage<'_>) -> Result<Live> {
    let mut all: Vec<Inside> = inside(process)?.into_iter().collect();
    let of_executable = all.len();
    let mut unread = Vec::new();
    for library in maps::modules(process.maps, &|path| path == process.executable.0, process.executable.1, process.bias)
    {
        if library.is_executable {
            continue;
        }
        let Some(file) = (process.file)(&library.path) else { continue };
        match inside(&ProcessImage { executable: (&library.path, &file), bias: library.bias, ..*process }) {
            Ok(found) => all.extend(found),
            Err(error) => unread.push(format!("{error:#}; its blocks are left out")),
        }
    }
    if all.is_empty() {
        return Ok(Live { unread, ..system(process, &[])? });
    }
    let mut own: Vec<(u64, u64)> = all.iter().flat_map(|inside| inside.own.iter().copied()).collect();
    own.sort_unstable();
    let names: Vec<&str> = all.iter().map(|inside| inside.allocator).collect();
    let allocator = names.join(" and ");
    let rounding = if all.len() > of_executable { Rounding::Either(process.page) } else { Rounding::Classes };
    let mut blocks: Vec<(u64, u64)> = all.into_iter().flat_map(|inside| inside.blocks).collect();
    // A libc that is not known has none.
    if let Ok(others) = system(process, &own) {
        let is_own = |addr: u64| {
            let index = own.partition_point(|(start, _)| *start <= addr);
            index.checked_sub(1).is_some_and(|index| addr < own[index].1)
        };
        blocks.extend(others.blocks.into_iter().filter(|(addr, _)| !is_own(*addr)));
    }
    blocks.sort_unstable();
    Ok(Live { blocks, allocator, rounding, lost: 0, unread })
}

/// Returns the live blocks of the allocator inside of a file, if it has one.
fn inside(process: &ProcessImage<'_>) -> Result<Option<Inside>> {
    let mut wanted: Vec<&str> = OTHERS.iter().map(|(name, _)| *name).collect();
    wanted.push(mimalloc::PAGE_MAP);
    wanted.extend(jemalloc::NAMES.iter().flat_map(|(tree, thread)| [*tree, *thread]));
    let found = debuginfo::symbols(process.executable.1, &wanted);
    if let Some(map) = found.get(mimalloc::PAGE_MAP) {
        return mimalloc::Mimalloc { page_map: map.0.wrapping_add(process.bias) }.live(process).map(Some);
    }
    for (tree, thread) in jemalloc::NAMES {
        if let (Some(tree), Some(of_thread)) = (found.get(tree), found.get(thread)) {
            let ((tree, tree_bytes), of_thread) = (*tree, of_thread.0);
            let tree = tree.wrapping_add(process.bias);
            return jemalloc::Jemalloc { tree, tree_bytes, of_thread }.live(process).map(Some);
        }
    }
    if let Some((_, name)) = OTHERS.iter().find(|(function, _)| found.contains_key(*function)) {
        bail!(
            "{}: its allocator is {name}, whose lists of blocks cannot be read from outside; start it with `cargo dwell \
             census --exe`",
            process.executable.0.display()
        );
    }
    Ok(None)
}

/// Returns the live blocks of the allocator of libc. `others` are the ranges of another one, in which glibc maps none.
fn system(process: &ProcessImage<'_>, others: &[(u64, u64)]) -> Result<Live> {
    if !glibc::is_loaded(process)
        && let Some(musl) = musl::Musl::find(process)
    {
        return Ok(musl.live(process));
    }
    glibc::blocks(process, others)
}
