//! The live blocks.
//!
//! Small blocks are in the shadow: an array with an entry of 4 bytes for each 16 bytes of address space. Only its
//! touched pages use memory. Other blocks are in several hash tables, the shards; the shadow marks their addresses if
//! it has entries for them.
//!
//! The process may be copied between any two instructions of another thread. So a block is added after its allocation
//! and removed before it is freed, and the address in an entry is written last.

use crate::layout::{Shard, Slot, ENTRY, GRANULE, IN_SHARD, SHARDS, SMALL, TOMBSTONE};
use crate::stacks::{self, Walked};
use crate::{arch, sys, STATE};
use core::sync::atomic::{AtomicU32, Ordering};

/// The record of a block.
#[derive(Clone, Copy)]
pub enum Block {
    /// A block in the shadow, with the number of its [`Pair`].
    Small(u32),
    /// A block in a shard, with its size and the index of its stack.
    Large(u64, u32),
}

impl Block {
    #[inline(always)]
    pub fn size(self) -> u64 {
        match self {
            Self::Small(pair) => u64::from(stacks::pair(pair).size.load(Ordering::Relaxed)),
            Self::Large(size, _) => size,
        }
    }
}

/// Returns the shadow's entry for an address.
#[inline(always)]
fn entry(addr: u64) -> &'static AtomicU32 {
    let at = STATE.shadow.load(Ordering::Relaxed) + (addr & (arch::addresses() - 1)) / GRANULE * ENTRY;
    // SAFETY: the shadow has an entry for each granule below `addresses`, and the mask keeps the address below that. The
    // shadow is mapped before the hooks are armed and never unmapped. Every bit pattern is a valid atomic integer.
    unsafe { &*(at as *const AtomicU32) }
}

/// Returns `true` if the shadow has an entry for this address.
#[inline(always)]
fn is_aligned(addr: u64) -> bool {
    addr % GRANULE == 0
}

/// Adds a block. Returns the size of the block that was recorded at this address before, and whose free was missed; 0
/// if there was none.
#[inline(always)]
pub fn insert(addr: u64, size: u64, stack: &Walked) -> u64 {
    if size < SMALL && is_aligned(addr) {
        let number = stack.pair(size as u32);
        if number != 0 {
            let before = find(addr);
            if let Some(Block::Large(..)) = before {
                remove_large(addr);
            }
            entry(addr).store(number, Ordering::Relaxed);
            return before.map_or(0, Block::size);
        }
    }
    insert_large(addr, size, stack.number())
}

/// Adds a block again that [`remove`] removed.
pub fn restore(addr: u64, block: Block) {
    match block {
        Block::Small(pair) => entry(addr).store(pair, Ordering::Relaxed),
        Block::Large(size, stack) => {
            insert_large(addr, size, stack);
        }
    }
}

/// Returns the record of the block at an address.
#[inline(always)]
pub fn find(addr: u64) -> Option<Block> {
    if is_aligned(addr) {
        match entry(addr).load(Ordering::Relaxed) {
            0 => return None,
            IN_SHARD => {}
            number => return Some(Block::Small(number)),
        }
    }
    find_large(addr)
}

/// Removes a block that [`find`] returned.
#[inline(always)]
pub fn remove(addr: u64, block: Block) {
    match block {
        Block::Small(_) => entry(addr).store(0, Ordering::Relaxed),
        Block::Large(..) => remove_large(addr),
    }
}

/// Adds a word for an address that the shadow has no entry for.
pub fn insert_word(addr: u64, word: u64) {
    shard(addr).set(addr, word, 0);
}

/// Removes the word of an address, and returns it; 0 if there is none.
pub fn take_word(addr: u64) -> u64 {
    shard(addr).take(addr).map_or(0, |(word, _)| word)
}

#[inline(never)]
fn insert_large(addr: u64, size: u64, stack: u32) -> u64 {
    let shard = shard(addr);
    sys::lock(&shard.lock);
    let mut before = shard.insert(addr, size, stack);
    sys::unlock(&shard.lock);
    if is_aligned(addr) {
        let entry = entry(addr);
        match entry.load(Ordering::Relaxed) {
            0 | IN_SHARD => {}
            number => before = Block::Small(number).size(),
        }
        entry.store(IN_SHARD, Ordering::Relaxed);
    }
    before
}

#[inline(never)]
fn find_large(addr: u64) -> Option<Block> {
    let shard = shard(addr);
    if shard.used.load(Ordering::Relaxed) == 0 {
        return None;
    }
    sys::lock(&shard.lock);
    let found = shard.find(addr).map(|slot| {
        Block::Large(slot.size.load(Ordering::Relaxed), slot.stack.load(Ordering::Relaxed) as u32)
    });
    sys::unlock(&shard.lock);
    found
}

#[inline(never)]
fn remove_large(addr: u64) {
    if is_aligned(addr) {
        entry(addr).store(0, Ordering::Relaxed);
    }
    shard(addr).take(addr);
}

/// Calls `done` with the lock of each shard.
pub fn locks(done: fn(&AtomicU32)) {
    STATE.shards.iter().chain([&STATE.mapped]).for_each(|shard| done(&shard.lock));
}

fn hash(addr: u64) -> u64 {
    (addr / 8).wrapping_mul(0x9e37_79b9_7f4a_7c15)
}

fn shard(addr: u64) -> &'static Shard {
    &STATE.shards[(hash(addr) >> 60) as usize % SHARDS]
}

const FIRST_SLOTS: u64 = 256;

impl Shard {
    pub const NEW: Self = Self {
        lock: AtomicU32::new(0),
        used: AtomicU32::new(0),
        slots: core::sync::atomic::AtomicU64::new(0),
        mask: core::sync::atomic::AtomicU64::new(0),
    };

    fn slots(&self) -> &[Slot] {
        let slots = self.slots.load(Ordering::Relaxed);
        if slots == 0 {
            return &[];
        }
        // SAFETY: `grow` mapped `mask + 1` slots at this address, and every bit pattern is valid for their atomic
        // integers. Only the holder of the lock calls this function, and only the holder unmaps the slots.
        unsafe { core::slice::from_raw_parts(slots as *const Slot, self.mask.load(Ordering::Relaxed) as usize + 1) }
    }

    /// Returns the slots to search for an address, in probe order.
    fn probe(slots: &[Slot], addr: u64) -> impl Iterator<Item = &Slot> {
        let first = (hash(addr) >> 20) as usize;
        let mask = slots.len().wrapping_sub(1);
        (0..slots.len()).filter_map(move |step| slots.get(first.wrapping_add(step) & mask))
    }

    fn find(&self, addr: u64) -> Option<&Slot> {
        for slot in Self::probe(self.slots(), addr) {
            match slot.addr.load(Ordering::Relaxed) {
                0 => return None,
                found if found == addr => return Some(slot),
                _ => {}
            }
        }
        None
    }

    /// Adds an entry, or replaces that of the address, under the lock.
    pub fn set(&self, addr: u64, size: u64, stack: u32) {
        sys::lock(&self.lock);
        self.insert(addr, size, stack);
        sys::unlock(&self.lock);
    }

    /// Removes the entry of an address, under the lock, and returns its size and its stack.
    pub fn take(&self, addr: u64) -> Option<(u64, u32)> {
        sys::lock(&self.lock);
        let taken = self.find(addr).map(|slot| {
            let taken = (slot.size.load(Ordering::Relaxed), slot.stack.load(Ordering::Relaxed) as u32);
            slot.addr.store(TOMBSTONE, Ordering::Release);
            taken
        });
        sys::unlock(&self.lock);
        taken
    }

    fn insert(&self, addr: u64, size: u64, stack: u32) -> u64 {
        if let Some(slot) = self.find(addr) {
            let before = slot.size.load(Ordering::Relaxed);
            slot.size.store(size, Ordering::Relaxed);
            slot.stack.store(u64::from(stack), Ordering::Relaxed);
            return before;
        }
        if u64::from(self.used.load(Ordering::Relaxed)) * 4 >= self.slots().len() as u64 * 3 {
            self.grow();
        }
        for slot in Self::probe(self.slots(), addr) {
            let found = slot.addr.load(Ordering::Relaxed);
            if found == 0 || found == TOMBSTONE {
                slot.size.store(size, Ordering::Relaxed);
                slot.stack.store(u64::from(stack), Ordering::Relaxed);
                slot.addr.store(addr, Ordering::Release);
                if found == 0 {
                    self.used.fetch_add(1, Ordering::Relaxed);
                }
                break;
            }
        }
        0
    }

    /// Moves the blocks to a table with a load of at most three eighths. If there is no memory, the old table stays.
    fn grow(&self) {
        let old = self.slots();
        let live = old.iter().filter(|slot| slot.addr.load(Ordering::Relaxed) > TOMBSTONE);
        let count = (live.clone().count() as u64 * 8 / 3).next_power_of_two().max(FIRST_SLOTS);
        let Ok(slots) = sys::map(count as usize * core::mem::size_of::<Slot>()) else { return };
        // SAFETY: `slots` is a fresh mapping of `count` slots that no other thread knows. Its zeros are valid atomic
        // integers.
        let new = unsafe { core::slice::from_raw_parts(slots as *const Slot, count as usize) };
        let mut used = 0;
        for slot in live {
            let addr = slot.addr.load(Ordering::Relaxed);
            let empty = Self::probe(new, addr).find(|slot| slot.addr.load(Ordering::Relaxed) == 0);
            if let Some(empty) = empty {
                empty.size.store(slot.size.load(Ordering::Relaxed), Ordering::Relaxed);
                empty.stack.store(slot.stack.load(Ordering::Relaxed), Ordering::Relaxed);
                empty.addr.store(addr, Ordering::Relaxed);
                used += 1;
            }
        }
        let bytes = core::mem::size_of_val(old);
        let addr = old.as_ptr() as usize;
        // If the process is copied between the two stores, the tool must not read beyond the table. So the mask of a
        // larger table is stored last, and that of a smaller one first.
        if count as usize >= old.len() {
            self.slots.store(slots as u64, Ordering::Release);
            self.mask.store(count - 1, Ordering::Release);
        } else {
            self.mask.store(count - 1, Ordering::Release);
            self.slots.store(slots as u64, Ordering::Release);
        }
        self.used.store(used, Ordering::Relaxed);
        if bytes != 0 {
            // SAFETY: an earlier `grow` mapped the old slots with this size. The caller holds the lock and calls
            // `slots` again after this function, so nothing refers to the old slots.
            unsafe { sys::call(sys::MUNMAP, [addr, bytes, 0, 0, 0, 0]) };
        }
    }
}
