//! Copies of a program on disk, so that they take no memory and survive the program.
//!
//! A file holds one copy, page by page. The next copy adds only the pages that differ, and the places of those that no copy
//! needs any more are used again. The file has no name, so nothing is left of it after the tool's end.

#![expect(clippy::cast_possible_truncation, reason = "`usize` has 64 bits where this runs")]

use super::copied::Copied;
use super::image::{About, Source};
use super::maps::Mapping;
use super::pagemap::{OF_FILE, PAGE, PRESENT, PageMap, SWAPPED};
use anyhow::{Context, Result, bail};
use memmap2::MmapMut;
use std::ffi::CString;
use std::fs::{File, OpenOptions};
use std::hash::{BuildHasher, Hasher};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The bytes that are read or written at once.
const AT_ONCE: usize = 1 << 20;
/// The slot of a page that has only zeros.
const ZEROS: u64 = u64::MAX;

/// A file for copies.
pub(crate) struct Store {
    folders: Vec<PathBuf>,
    file: Option<Arc<File>>,
    /// The pages of the last copy, sorted.
    pages: Vec<Page>,
    /// The slots of the file without a page of the last copy, the last one first.
    free: Vec<u64>,
    /// The number of slots.
    slots: u64,
    buffers: Option<[MmapMut; 2]>,
}

#[derive(Clone, Copy, Debug)]
struct Page {
    number: u64,
    hash: u64,
    slot: u64,
}

/// A copy on disk. Its bytes are valid until the second copy after it is written to the same store.
pub(crate) struct Spilled {
    maps: Vec<Mapping>,
    pages: Vec<Page>,
    file: Arc<File>,
}

impl Store {
    /// Makes a store in the first of these folders that is on a disk.
    pub(crate) fn new(folders: Vec<PathBuf>) -> Self {
        Self { folders, file: None, pages: Vec::new(), free: Vec::new(), slots: 0, buffers: None }
    }

    /// Writes a copy of the program. Returns `None` if it is no longer wanted.
    ///
    /// # Errors
    /// Returns an error if the copy has ended, or if no folder has room for it.
    pub(crate) fn spill(
        &mut self,
        source: &Source,
        about: &About,
        is_wanted: &dyn Fn() -> bool,
    ) -> Result<Option<Spilled>> {
        let pages = own_pages(source, &source.wanted(about)?);
        let count: u64 = pages.iter().map(|(start, end)| (end - start) / PAGE).sum();
        let file = self.file_for(count * PAGE)?;
        if self.buffers.is_none() {
            let buffer = || MmapMut::map_anon(AT_ONCE).context("there is no memory to write a copy");
            self.buffers = Some([buffer()?, buffer()?]);
        }
        let Some([read, written]) = &mut self.buffers else { bail!("there is no memory to write a copy") };
        let mut out = Out { file: &file, buffer: written, slot: 0, len: 0 };
        let hashing = foldhash::fast::FixedState::default();
        let mut found: Vec<Page> = Vec::with_capacity(count as usize);
        let mut before = self.pages.iter().peekable();
        for (start, end) in pages {
            let mut at = start;
            while at < end {
                if !is_wanted() {
                    return Ok(None);
                }
                let len = ((end - at) as usize).min(AT_ONCE);
                if source.memory.read(at, &mut read[..len]) != len {
                    bail!("the copy of the program ended while it was written to disk");
                }
                for (index, bytes) in (0..).zip(read[..len].as_chunks::<{ PAGE as usize }>().0) {
                    let number = at / PAGE + index;
                    while before.next_if(|page| page.number < number).is_some() {}
                    let same = before.next_if(|page| page.number == number);
                    if *bytes == [0; PAGE as usize] {
                        found.push(Page { number, hash: 0, slot: ZEROS });
                        continue;
                    }
                    let mut hasher = hashing.build_hasher();
                    hasher.write(bytes);
                    let hash = hasher.finish();
                    if let Some(same) = same.filter(|same| same.hash == hash && same.slot != ZEROS) {
                        found.push(*same);
                        continue;
                    }
                    let slot = self.free.pop().unwrap_or_else(|| {
                        self.slots += 1;
                        self.slots - 1
                    });
                    out.page(slot, bytes)?;
                    found.push(Page { number, hash, slot });
                }
                at += len as u64;
            }
        }
        out.flush()?;
        // What only the copy before this one has is free for the next.
        let mut used = vec![false; self.slots as usize];
        found.iter().filter(|page| page.slot != ZEROS).for_each(|page| used[page.slot as usize] = true);
        self.free = (0..self.slots).rev().filter(|slot| !used[*slot as usize]).collect();
        self.pages.clone_from(&found);
        Ok(Some(Spilled { maps: source.maps.clone(), pages: found, file }))
    }

    /// Returns the file, if it can grow by so many bytes.
    fn file_for(&mut self, bytes: u64) -> Result<Arc<File>> {
        const LEFT: u64 = 64 << 20;
        let more = bytes.saturating_sub(self.free.len() as u64 * PAGE);
        let mut problem = "no folder is on a disk; set TMPDIR to one that is".to_owned();
        while let Some(folder) = self.folders.first() {
            match place(folder) {
                Some((true, free)) if free >= more + more / 8 + LEFT => match &self.file {
                    Some(file) => return Ok(Arc::clone(file)),
                    None => match unnamed(folder) {
                        Ok(file) => return Ok(Arc::clone(self.file.insert(Arc::new(file)))),
                        Err(error) => problem = format!("{}: {error}", folder.display()),
                    },
                },
                Some((true, free)) => {
                    problem =
                        format!("{}: has {} MiB left, and {} are needed", folder.display(), free >> 20, more >> 20);
                }
                _ => {}
            }
            if self.file.is_some() {
                break;
            }
            self.folders.remove(0);
        }
        bail!(problem)
    }
}

/// Pages on their way to the file.
struct Out<'o> {
    file: &'o File,
    buffer: &'o mut MmapMut,
    slot: u64,
    len: usize,
}

impl Out<'_> {
    fn page(&mut self, slot: u64, bytes: &[u8; PAGE as usize]) -> Result<()> {
        let follows = slot == self.slot + (self.len as u64 / PAGE) && self.len < AT_ONCE;
        if !follows {
            self.flush()?;
            self.slot = slot;
        }
        self.buffer[self.len..self.len + bytes.len()].copy_from_slice(bytes);
        self.len += bytes.len();
        Ok(())
    }

    fn flush(&mut self) -> Result<()> {
        let written = self.file.write_all_at(&self.buffer[..self.len], self.slot * PAGE);
        self.len = 0;
        written.context("a copy of the program cannot be written to disk")
    }
}

/// Returns the pages in ranges that are the process's own, as ranges of addresses.
fn own_pages(source: &Source, wanted: &[(u64, u64)]) -> Vec<(u64, u64)> {
    const AT_ONCE: u64 = 1 << 16;
    let mut all: Vec<(u64, u64)> = Vec::new();
    let Some(pagemap) = &source.pagemap else { return all };
    for (start, end) in wanted {
        let (mut page, last) = (start / PAGE, end / PAGE);
        while page < last {
            let count = AT_ONCE.min(last - page);
            for (number, flags) in (page..).zip(pagemap.flags(page, count as usize)) {
                if flags & (PRESENT | SWAPPED) == 0 || flags & OF_FILE != 0 {
                    continue;
                }
                let at = number * PAGE;
                match all.last_mut().filter(|last| last.1 == at) {
                    Some(last) => last.1 += PAGE,
                    None => all.push((at, at + PAGE)),
                }
            }
            page += count;
        }
    }
    all
}

/// Returns whether a folder is on a disk, and the free bytes there.
fn place(folder: &Path) -> Option<(bool, u64)> {
    const IN_MEMORY: [i64; 2] = [0x0102_1994, 0x8584_58f6];
    let path = CString::new(folder.as_os_str().as_bytes()).ok()?;
    // SAFETY: zero is valid for each field, all of which are integers.
    let mut stat: libc::statfs = unsafe { std::mem::zeroed() };
    // SAFETY: the call reads a NUL-terminated string, and writes to a local.
    let error = unsafe { libc::statfs(path.as_ptr(), &raw mut stat) };
    let free = stat.f_bavail.saturating_mul(u64::try_from(stat.f_bsize).unwrap_or(0));
    (error == 0).then(|| (!IN_MEMORY.contains(&(stat.f_type & 0xffff_ffff)), free))
}

/// Opens a file without a name. What is written to it takes no memory, where the file system can do that.
fn unnamed(folder: &Path) -> std::io::Result<File> {
    let open = |flags| OpenOptions::new().read(true).write(true).mode(0o600).custom_flags(flags).open(folder);
    open(libc::O_TMPFILE | libc::O_DIRECT).or_else(|_| open(libc::O_TMPFILE))
}

impl Spilled {
    /// Returns what [`super::image::snapshot`] reads.
    pub(crate) fn source(&self) -> Result<Source> {
        let mut memory = Copied::default();
        let mut known: Vec<(u64, u64)> = Vec::new();
        // SAFETY: the file has no name, so only this process can change it. Copies are read after `Growth::stop`, from which on
        // no thread writes to it.
        let all = unsafe { memmap2::MmapOptions::new().map(&*self.file) }.context("a copy on disk cannot be read")?;
        let buffer = memory.buffer(Box::new(all));
        let mut part: Option<(u64, u64, u64)> = None;
        for page in &self.pages {
            let at = page.number * PAGE;
            match known.last_mut().filter(|last| last.1 == at) {
                Some(last) => last.1 += PAGE,
                None => known.push((at, at + PAGE)),
            }
            if page.slot == ZEROS {
                continue;
            }
            let from = page.slot * PAGE;
            match &mut part {
                Some((start, first, len)) if *start + *len == at && *first + *len == from => *len += PAGE,
                _ => {
                    if let Some((start, first, len)) = part.replace((at, from, PAGE)) {
                        memory.part(start, buffer, first as usize, len as usize);
                    }
                }
            }
        }
        if let Some((start, first, len)) = part {
            memory.part(start, buffer, first as usize, len as usize);
        }
        memory.complete(&self.maps, &|path| Some(path.to_owned()), true);
        Ok(Source { maps: self.maps.clone(), pagemap: Some(PageMap::Known(known)), memory: Box::new(memory) })
    }
}
