//! The memory of a process at one moment: the pages that were copied, the files that it maps, and zeros.

use super::Memory;
use super::maps::Mapping;
use crate::debuginfo;
use memmap2::Mmap;
use std::ops::Deref;
use std::path::{Path, PathBuf};

type Buffer = Box<dyn Deref<Target = [u8]> + Send + Sync>;

/// Adjacent bytes of the process in a buffer.
#[derive(Clone, Copy, Debug)]
struct Part {
    start: u64,
    buffer: usize,
    from: usize,
    len: usize,
}

/// A range of addresses that was not copied.
struct Rest {
    start: u64,
    end: u64,
    /// The file and the offset; `None` for zeros.
    file: Option<(usize, u64)>,
}

/// The memory of a process at one moment.
#[derive(Default)]
pub(crate) struct Copied {
    buffers: Vec<Buffer>,
    /// Sorted by address, without overlap.
    parts: Vec<Part>,
    files: Vec<(PathBuf, Mmap)>,
    rest: Vec<Rest>,
}

impl Copied {
    /// Adds a buffer, and returns its number.
    pub(crate) fn buffer(&mut self, buffer: Buffer) -> usize {
        self.buffers.push(buffer);
        self.buffers.len() - 1
    }

    /// Adds `len` bytes of a buffer from `from` on: they were at the address `start`.
    pub(crate) fn part(&mut self, start: u64, buffer: usize, from: usize, len: usize) {
        if len > 0 {
            self.parts.push(Part { start, buffer, from, len });
        }
    }

    /// Sorts the parts, before the first read.
    pub(crate) fn sort(&mut self) {
        self.parts.sort_unstable_by_key(|part| part.start);
    }

    /// Completes the memory with files and zeros, as the mappings say. `file` returns where a mapped file can be read.
    /// `is_zero` tells that what was not copied of memory without a file is zero.
    pub(crate) fn complete(&mut self, maps: &[Mapping], file: &dyn Fn(&Path) -> Option<PathBuf>, is_zero: bool) {
        self.sort();
        for map in maps.iter().filter(|map| map.readable) {
            let (start, end) = (map.start, map.end);
            if map.is_anonymous() {
                if is_zero && map.private {
                    self.rest.push(Rest { start, end, file: None });
                }
                continue;
            }
            let Some(path) = file(&map.path) else { continue };
            let known = self.files.iter().position(|(file, _)| *file == path);
            let file = known.or_else(|| {
                // Opening a pipe would wait.
                let file = path.is_file().then(|| debuginfo::map(&path).ok())??;
                self.files.push((path, file));
                Some(self.files.len() - 1)
            });
            if let Some(file) = file {
                self.rest.push(Rest { start, end, file: Some((file, map.offset)) });
            }
        }
        self.rest.sort_unstable_by_key(|rest| rest.start);
    }

    /// Returns the number of bytes that were copied.
    pub(crate) fn bytes(&self) -> u64 {
        self.parts.iter().map(|part| part.len as u64).sum()
    }

    /// Returns the ranges that were copied between two addresses.
    pub(crate) fn copied(&self, start: u64, end: u64) -> impl Iterator<Item = (u64, u64)> {
        let first = self.parts.partition_point(|part| part.start.saturating_add(part.len as u64) <= start);
        let range = move |part: &Part| (part.start.max(start), part.start.saturating_add(part.len as u64).min(end));
        self.parts[first..].iter().map(range).take_while(move |(from, _)| *from < end)
    }

    fn part_at(&self, addr: u64) -> Option<&[u8]> {
        let (start, bytes) = self.around(addr)?;
        bytes.get(usize::try_from(addr - start).ok()?..)
    }

    /// Returns adjacent bytes from an address on, of copied memory or of a file.
    pub(crate) fn slice(&self, addr: u64) -> Option<&[u8]> {
        if let Some(bytes) = self.part_at(addr) {
            return Some(bytes);
        }
        let (rest, end) = self.rest_at(addr)?;
        let (file, offset) = rest.file?;
        let from = usize::try_from(offset.checked_add(addr - rest.start)?).ok()?;
        let bytes = self.files.get(file)?.1.get(from..)?;
        let len = usize::try_from(end - addr).ok()?.min(bytes.len());
        Some(&bytes[..len]).filter(|bytes| !bytes.is_empty())
    }

    /// Returns what was not copied at an address, and the address up to which nothing was.
    fn rest_at(&self, addr: u64) -> Option<(&Rest, u64)> {
        let index = self.rest.partition_point(|rest| rest.start <= addr).checked_sub(1)?;
        let rest = self.rest.get(index).filter(|rest| addr < rest.end)?;
        let next = self.parts.get(self.parts.partition_point(|part| part.start <= addr));
        Some((rest, next.map_or(rest.end, |part| part.start.min(rest.end))))
    }

    /// Returns the word at an address.
    pub(crate) fn word(&self, addr: u64) -> Option<u64> {
        if let Some(word) = self.part_at(addr).and_then(|bytes| bytes.first_chunk()) {
            return Some(u64::from_le_bytes(*word));
        }
        let mut bytes = [0; 8];
        (self.read(addr, &mut bytes) == 8).then(|| u64::from_le_bytes(bytes))
    }

    /// Returns `len` bytes at an address.
    pub(crate) fn bytes_at(&self, addr: u64, len: usize) -> Option<Vec<u8>> {
        let mut bytes = vec![0; len];
        (self.read(addr, &mut bytes) == len).then_some(bytes)
    }
}

impl Memory for Copied {
    fn read(&self, addr: u64, into: &mut [u8]) -> usize {
        let mut done = 0;
        while done < into.len() {
            let Some(at) = addr.checked_add(done as u64) else { break };
            let left = &mut into[done..];
            if let Some(bytes) = self.slice(at) {
                let len = bytes.len().min(left.len());
                left[..len].copy_from_slice(&bytes[..len]);
                done += len;
            } else if let Some((_, end)) = self.rest_at(at) {
                // Pages that nothing was written to, and the rest of a file's last page.
                let len = usize::try_from(end - at).unwrap_or(usize::MAX).min(left.len());
                left[..len].fill(0);
                done += len;
            } else {
                break;
            }
        }
        done
    }

    fn around(&self, addr: u64) -> Option<(u64, &[u8])> {
        let index = self.parts.partition_point(|part| part.start <= addr).checked_sub(1)?;
        let part = self.parts[index];
        let bytes = self.buffers.get(part.buffer)?.get(part.from..part.from + part.len)?;
        (addr - part.start < part.len as u64).then_some((part.start, bytes))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn copied_pages_files_and_zeros_are_read_as_one() {
        let mut memory = Copied::default();
        let buffer = memory.buffer(Box::new(vec![1, 2, 3, 4, 5, 6]));
        memory.part(0x1002, buffer, 2, 4);
        let map =
            |start, end| Mapping { start, end, readable: true, writable: true, private: true, ..Mapping::default() };
        memory.complete(&[map(0x1000, 0x1008), map(0x2000, 0x2004)], &|path| Some(path.to_owned()), true);
        assert_eq!(memory.bytes(), 4);
        assert_eq!(memory.copied(0x1003, 0x1100).collect::<Vec<_>>(), [(0x1003, 0x1006)]);
        assert_eq!(memory.copied(0x1006, 0x1100).next(), None);
        let mut into = [9; 10];
        assert_eq!(memory.read(0x1000, &mut into), 8);
        assert_eq!(into[..8], [0, 0, 3, 4, 5, 6, 0, 0]);
        assert_eq!(memory.word(0x1000), Some(u64::from_le_bytes([0, 0, 3, 4, 5, 6, 0, 0])));
        assert_eq!(memory.read(0x1ffe, &mut into), 0);
        assert_eq!(memory.read(0x2001, &mut into), 3);
        assert_eq!(memory.read(u64::MAX, &mut into), 0);
        assert_eq!(memory.slice(0x1004), Some(&[5, 6][..]));
        assert_eq!(memory.around(0x1004), Some((0x1002, &[3, 4, 5, 6][..])));
        assert_eq!((memory.around(0x1001), memory.around(0x1006)), (None, None));
    }
}
