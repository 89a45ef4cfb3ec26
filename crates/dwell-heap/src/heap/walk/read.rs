//! Reads memory: values, runs of values, texts.

use super::Walk;
use crate::capture::rust;
use crate::heap::walk::{Holds, Part, SiteId, Value, WORD, sub};
use std::rc::Rc;

/// The number of bytes of a collection that are read at once.
pub(super) const CHUNK: u64 = 1 << 20;
/// The longest text that is read, in bytes.
const LONGEST_TEXT: u64 = 64 << 20;
/// The deepest nesting of values without a block between them.
const DEEPEST: u32 = 256;

/// The number of values of a collection after which the blocks that they own are read, so that the queue stays short.
pub(crate) const AT_ONCE: u64 = 1 << 18;
/// The least number of queued blocks that are sorted.
const SORTED: usize = 1 << 10;

/// The bytes of values whose blocks are looked for at once, and the least number of blocks for which that is worth it.
pub(crate) const TOGETHER: u64 = 1 << 10;
const TOUCHED: usize = 1 << 14;

/// A block to read.
#[derive(Clone, Copy)]
pub(super) struct Work {
    pub(super) block: u32,
    site: u32,
    what: What,
}

#[derive(Clone, Copy)]
pub(super) enum What {
    /// `count` values, the first at the offset `at`.
    Run {
        at: u64,
        stride: u64,
        count: u64,
    },
    /// More of a run.
    Rest {
        at: u64,
        stride: u64,
        count: u64,
    },
    Text {
        at: u64,
        len: u64,
    },
    /// What the decoder of the site knows how to read.
    Own([u64; 3]),
}

/// Adjacent values in a block: the offset of the first, the distance, and their number.
#[derive(Clone, Copy)]
struct Run {
    block: usize,
    site: SiteId,
    at: u64,
    stride: u64,
    count: u64,
}

/// The blocks to read.
#[derive(Default)]
pub(super) struct Queue {
    pub(super) work: Vec<Work>,
    /// The bytes of the last text or run, whose memory the next one uses.
    buffer: Vec<u8>,
    /// The same, for the values of a run.
    values: Vec<u8>,
}

impl Queue {
    /// Sorts what was queued from a place on: the block with the least address is read first.
    fn sort(&mut self, from: usize) {
        let work = &mut self.work[from..];
        // The keys alone are sorted, which are smaller.
        let key = |(at, work): (u32, &Work)| u64::from(!work.block) << 32 | u64::from(at);
        let mut keys: Vec<u64> = (0..).zip(&*work).map(key).collect();
        keys.sort_unstable();
        let sorted: Vec<Work> = keys.iter().map(|key| work[length(*key & u64::from(u32::MAX))]).collect();
        work.copy_from_slice(&sorted);
    }
}

impl Walk<'_, '_> {
    pub(super) fn push(&mut self, block: usize, site: SiteId, what: What) {
        self.queue.work.push(Work { block: number(block), site: number(site), what });
    }

    /// Reads what is queued.
    pub(super) fn drain(&mut self) {
        while let Some(work) = self.queue.work.pop() {
            let queued = self.queue.work.len();
            self.place(work.block.saturating_add(1));
            self.read_block(&work);
            // The blocks of a hash table's entries: in the order of their addresses, each page is read once.
            if self.queue.work.len() - queued >= SORTED {
                let is_rest = matches!(self.queue.work[queued].what, What::Rest { .. } | What::Own(_));
                let from = queued + usize::from(is_rest && self.queue.work[queued].block == work.block);
                self.queue.sort(from);
            }
        }
        self.place(0);
    }

    /// Queues `count` values in a block that was claimed, the first at the offset `at`.
    pub(in crate::heap) fn run(&mut self, block: usize, site: SiteId, at: u64, stride: u64, count: u64) {
        // Nothing is found in them, and the second pass counts them.
        if !self.is_counting() && self.is_without_pointers(site) {
            return;
        }
        self.push(block, site, What::Run { at, stride, count });
    }

    /// Queues a block that was claimed. The decoder of the site gets the words in `read_block`.
    pub(in crate::heap) fn later(&mut self, block: usize, site: SiteId, words: [u64; 3]) {
        self.push(block, site, What::Own(words));
    }

    /// Reads `count` values in a block, in `read_block`. Values beyond the end of the block are not read.
    pub(in crate::heap) fn run_now(&mut self, block: usize, site: SiteId, at: u64, stride: u64, count: u64) {
        self.run_of(Run { block, site, at, stride, count });
    }

    /// Reads the word at an address.
    pub(in crate::heap) fn word(&mut self, addr: u64) -> Option<u64> {
        self.image.word(addr)
    }

    /// Reads `len` bytes at an address. Returns `true` if all were readable.
    pub(in crate::heap) fn memory(&mut self, addr: u64, len: usize, into: &mut Vec<u8>) -> bool {
        self.image.read(addr, len, into)
    }

    /// Returns `true` if a range is in one block or in a file with Rust code.
    pub(in crate::heap) fn is_known(&self, addr: u64, len: u64) -> bool {
        let is_in = |start: u64, end: u64| start <= addr && addr.checked_add(len).is_some_and(|last| last <= end);
        let is_in_block = |block: usize| {
            let allocation = self.snapshot.blocks[block];
            is_in(allocation.addr, allocation.addr.saturating_add(allocation.size))
        };
        self.block_around(addr).is_some_and(is_in_block)
            || rust(&self.snapshot.modules).any(|module| is_in(module.start, module.end))
    }

    /// Reads a part of a value. Returns `true` if it is empty.
    pub(in crate::heap) fn part(&mut self, part: &Part, value: Value<'_>) -> bool {
        let size = self.schema.sites[part.site].size;
        self.value(part.site, value.part(part.at, size), value.weight)
    }

    /// Reads `count` values inside a value, the first at the offset `at`. Returns `true` if all are empty.
    pub(in crate::heap) fn inline(&mut self, site: SiteId, value: Value<'_>, at: u64, stride: u64, count: u64) -> bool {
        let size = self.schema.sites[site].size;
        let bytes = (value.bytes.len() as u64).saturating_sub(at);
        let mut is_empty = true;
        for index in 0..count.min(bytes.checked_div(stride).unwrap_or(bytes)) {
            is_empty &= self.value(site, value.part(at + index * stride, size), value.weight);
        }
        is_empty
    }

    /// Reads the contents of a block.
    pub(super) fn read_block(&mut self, work: &Work) {
        let (block, site) = (work.block as usize, work.site as SiteId);
        match work.what {
            What::Run { at, stride, count } => {
                let run = Run { block, site, at, stride, count };
                self.contents(run);
                self.some_of(run);
            }
            What::Rest { at, stride, count } => self.some_of(Run { block, site, at, stride, count }),
            What::Own(words) => {
                let decoder = Rc::clone(&self.schema.sites[site].decoder);
                decoder.read_block(self, block, site, words);
            }
            What::Text { at, len } => {
                let allocation = self.snapshot.blocks[block];
                if !self.is_counting() || len > LONGEST_TEXT || at.saturating_add(len) > allocation.size {
                    return;
                }
                let mut bytes = std::mem::take(&mut self.queue.buffer);
                if self.image.read(allocation.addr + at, length(len), &mut bytes) {
                    self.tally(site).texts.get_or_insert_default().add(&bytes, u64::from(allocation.weight));
                }
                self.queue.buffer = bytes;
            }
        }
    }

    /// Compares the contents of a block with the other blocks of its owner. Comparing bytes is enough: equal blocks
    /// cannot own the same other block.
    fn contents(&mut self, run: Run) {
        let Run { site, at, stride, count, .. } = run;
        let block = self.snapshot.blocks[run.block];
        let (addr, size, weight) = (block.addr, block.size, u64::from(block.weight));
        let field = &self.schema.sites[site];
        let Some(bytes) = count.checked_mul(stride).filter(|bytes| (1..=LONGEST_TEXT).contains(bytes)) else { return };
        if !self.counts() || field.parent.is_none() || at.checked_add(bytes).is_none_or(|end| end > size) {
            return;
        }
        let padding = field.ty.map(|ty| self.schema.padding(ty)).unwrap_or_default();
        let mut all = std::mem::take(&mut self.queue.buffer);
        if self.image.read(addr + at, length(bytes), &mut all) {
            if !padding.is_empty() {
                for value in all.chunks_mut(length(stride)) {
                    for &(start, end) in &*padding {
                        value.get_mut(start..end).unwrap_or_default().fill(0);
                    }
                }
            }
            // Buffers that nothing was written to are no equal values.
            if all.iter().any(|byte| *byte != 0) {
                self.tally(site).contents.get_or_insert_default().add(&all, weight);
            }
        }
        self.queue.buffer = all;
    }

    /// Reads adjacent values, and queues the rest if they are many.
    fn some_of(&mut self, run: Run) {
        let is_long = run.count > AT_ONCE && !self.is_plain(run.site);
        let end = AT_ONCE.checked_mul(run.stride).and_then(|bytes| run.at.checked_add(bytes));
        let Some(at) = end.filter(|_| is_long) else { return self.run_of(run) };
        self.push(run.block, run.site, What::Rest { at, stride: run.stride, count: run.count - AT_ONCE });
        self.run_of(Run { count: AT_ONCE, ..run });
    }

    fn is_plain(&self, site: SiteId) -> bool {
        matches!(self.schema.sites[site].decoder.holds(), Holds::Plain | Holds::Opaque)
    }

    /// Returns `true` for plain values, and for tuples and cells of them.
    fn is_without_pointers(&self, site: SiteId) -> bool {
        let decoder = &self.schema.sites[site].decoder;
        let parts = decoder.parts();
        self.is_plain(site)
            || matches!(decoder.holds(), Holds::Wrapper | Holds::Other)
                && !parts.is_empty()
                && parts.iter().all(|part| self.is_plain(part.site))
    }

    /// Reads `count` adjacent values.
    fn run_of(&mut self, run: Run) {
        let Run { site, at, stride, count, .. } = run;
        let block = self.snapshot.blocks[run.block];
        let (addr, size, weight) = (block.addr, block.size, u64::from(block.weight));
        if count == 0 || stride == 0 {
            return;
        }
        let Some(end) = count.checked_mul(stride).and_then(|bytes| bytes.checked_add(at)) else { return };
        if end > size {
            return;
        }
        if self.is_plain(site) {
            if self.counts() {
                let many = count.saturating_mul(weight);
                let counts = &mut self.tally(site).counts;
                counts.instances = counts.instances.saturating_add(many);
                counts.filled = counts.filled.saturating_add(many);
                if self.schema.sites[site].integer.is_some() && end - at <= LONGEST_TEXT {
                    let mut bytes = std::mem::take(&mut self.queue.buffer);
                    if self.image.read(addr + at, length(end - at), &mut bytes) {
                        self.integers(site, &bytes);
                    }
                    self.queue.buffer = bytes;
                }
            }
            return;
        }
        let size = self.schema.sites[site].size;
        let in_chunk = (CHUNK / stride).max(1);
        let in_group = (TOGETHER / stride).max(1);
        let mut bytes = std::mem::take(&mut self.queue.values);
        let mut done = 0;
        while done < count {
            let many = in_chunk.min(count - done);
            if !self.image.read(addr + at + done * stride, length(many * stride), &mut bytes) {
                break;
            }
            for index in 0..many {
                if index % in_group == 0 && many > 1 {
                    self.touch(sub(&bytes, index * stride, in_group.min(many - index) * stride));
                }
                self.value(site, sub(&bytes, index * stride, size), weight);
            }
            done += many;
        }
        self.queue.values = bytes;
    }

    /// Reads what is known of the blocks that values point to, before the values are read: the processor waits for the memory of
    /// all of them together, instead of for one after the other.
    pub(in crate::heap) fn touch(&self, bytes: &[u8]) {
        let blocks = &self.snapshot.blocks;
        if blocks.len() < TOUCHED {
            return;
        }
        let mut found = [0_u32; (TOGETHER / WORD) as usize];
        let mut count = 0;
        for word in bytes.as_chunks::<8>().0 {
            if let Some(block) = self.index.at(u64::from_le_bytes(*word))
                && let Some(slot) = found.get_mut(count)
            {
                *slot = number(block);
                count += 1;
            }
        }
        let of_block = |all: u64, block: &u32| {
            let block = *block as usize;
            all ^ blocks[block].size
                ^ u64::from(self.marks.flags[block])
                ^ u64::from(self.marks.claims[block])
                ^ self.holders.touch(block)
        };
        std::hint::black_box(found[..count].iter().fold(0, of_block));
    }

    /// Reads a value. Returns `true` if it is empty: zero, `None`, a collection without elements, or made of empty
    /// values only.
    pub(in crate::heap) fn value(&mut self, site: SiteId, bytes: &[u8], weight: u64) -> bool {
        self.current.depth += 1;
        let is_empty = if self.current.depth > DEEPEST {
            false
        } else {
            let decoder = Rc::clone(&self.schema.sites[site].decoder);
            decoder.read(self, Value { site, bytes, weight })
        };
        self.current.depth -= 1;
        if self.counts() {
            if self.found.is_some() {
                self.look(site, bytes);
            }
            let counts = &mut self.tally(site).counts;
            counts.instances = counts.instances.saturating_add(weight);
            if !is_empty {
                counts.filled = counts.filled.saturating_add(weight);
            }
        }
        is_empty
    }
}

/// Returns the number of a block or site in less memory.
fn number(block: usize) -> u32 {
    u32::try_from(block).unwrap_or(u32::MAX)
}

/// Returns a number of bytes as a length.
pub(crate) fn length(bytes: u64) -> usize {
    usize::try_from(bytes).unwrap_or(usize::MAX)
}
