//! Data structures that the agent and the tool share. The agent is compiled with this file, so it uses `core` only.

use core::sync::atomic::{AtomicI64, AtomicU32, AtomicU64};

/// The environment variable that passes two file descriptors to the agent, the plan and the socket: `FD,FD`. With `--follow` an
/// abstract address is behind them, `FD,FD@ADDRESS`, where the agents of children ask for theirs.
pub const VARIABLE: &str = "CARGO_DWELL_CENSUS";
/// The first word of a plan. It changes with the format.
pub const MAGIC: u64 = 0x0036_306c_6c65_7744;
/// The largest size of a page in bytes that kernels for this processor may have.
pub const LARGEST_PAGE: usize = if cfg!(target_arch = "aarch64") { 1 << 16 } else { 1 << 12 };
/// The size of [`Shared`] in the plan's file in bytes. The patches follow it.
pub const SHARED_BYTES: usize = LARGEST_PAGE;
/// The maximum number of frames kept of a call stack.
pub const DEPTH: usize = 32;
/// Is added to the length of a call stack that mapped memory: no block was allocated there.
pub const OF_MAPPING: u64 = 1 << 32;
/// Blocks of fewer bytes at multiples of [`GRANULE`] are in the shadow, others in the shards.
pub const SMALL: u64 = 1024;
/// The shadow's entry for a block in a shard.
pub const IN_SHARD: u32 = u32::MAX;
/// The number of bytes of address space for each entry of the shadow.
pub const GRANULE: u64 = 16;
/// The size of a shadow's entry in bytes. An entry is the number of a [`Pair`], [`IN_SHARD`], or 0.
pub const ENTRY: u64 = 4;
/// The largest end of the user address space. [`State::addresses`] is the one of the kernel.
pub const ADDRESSES: u64 = if cfg!(target_arch = "aarch64") { 1 << 48 } else { 1 << 47 };
/// The number of hash tables for blocks outside the shadow.
pub const SHARDS: usize = 16;
/// The maximum number of pairs, and of words of frames.
pub const PAIRS: u64 = 1 << 24;
pub const FRAMES: u64 = 1 << 27;
/// The address in a tombstone, which is a [`Slot`] whose block was removed.
pub const TOMBSTONE: u64 = 1;

/// One page that the program and the tool share.
#[repr(C)]
pub struct Shared {
    /// The fields that the tool writes before the program starts.
    pub magic: AtomicU64,
    pub entry: AtomicU64,
    pub device: AtomicU64,
    pub inode: AtomicU64,
    pub wants_peak: AtomicU32,
    pub patch_bytes: AtomicU32,
    /// A [`Mode`].
    pub mode: AtomicU32,
    /// Whether the tool sees what the process starts: the agent waits for it, so that nothing starts before.
    pub attached: AtomicU32,
    pub sample: AtomicU64,
    /// The fields that the agent writes: a [`Status`] and its error number, the address of its [`State`], the bias of
    /// the executable, the process id of the helper, and the number of patched functions.
    pub status: AtomicU32,
    pub errno: AtomicU32,
    pub state: AtomicU64,
    pub bias: AtomicU64,
    pub helper: AtomicU32,
    pub patched: AtomicU32,
    /// The thread pointer of the main thread.
    pub thread_pointer: AtomicU64,
    /// The futex that the helper waits on.
    pub doorbell: AtomicU32,
    /// The numbers of snapshots that the tool requested and that the helper answered.
    pub asked: AtomicU32,
    pub answered: AtomicU32,
    /// Set by the tool after the program's end. The helper then answers with [`Event::ENDED`] and takes no more
    /// snapshots.
    pub ended: AtomicU32,
    /// Whether the tool stops the program's threads for a copy, and how often it has done so.
    pub stops: AtomicU32,
    pub stopped: AtomicU32,
    /// Live bytes that the threads have reported. The page stays when the program is killed.
    pub live: AtomicU64,
    /// The number of live bytes from which on a thread requests a copy; the thread then sets it to `u64::MAX`.
    pub grow_at: AtomicU64,
    /// Whether the program waits while the tool writes the last copy to disk.
    pub busy: AtomicU32,
    /// How often the program has forked.
    pub forks: AtomicU32,
    /// Set by the tool when the helper has ended: it is a zombie until the tool waits for it.
    pub helper_ended: AtomicU32,
}

/// The progress of the agent's start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Status {
    /// The agent was not loaded.
    Absent = 0,
    Armed = 1,
    OtherExecutable = 2,
    NoAddressSpace = 3,
    NoHelper = 4,
}

impl Status {
    pub const ALL: [Status; 5] =
        [Status::Absent, Status::Armed, Status::OtherExecutable, Status::NoAddressSpace, Status::NoHelper];
}

/// What the hooks record.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u32)]
pub enum Mode {
    /// The live blocks.
    #[default]
    Blocks = 0,
    /// Counts of all allocations and frees, in a [`Ledger`] for each thread.
    Counts = 1,
    /// The live blocks, and in the ledgers only how often each call stack allocated and reallocated.
    Both = 2,
}

/// The records of the hooks, in the program's memory.
#[repr(C)]
pub struct State {
    /// The address of the shadow, which has an entry for each [`GRANULE`] bytes of address space, and where that ends.
    pub shadow: AtomicU64,
    pub addresses: AtomicU64,
    /// The address of the [`Pair`]s, and their number. Number 0 is not used.
    pub pairs: AtomicU64,
    pub pairs_len: AtomicU64,
    /// The address of the call stacks, and their number of words. A stack is a length, maybe with [`OF_MAPPING`], then that many
    /// return addresses, innermost first.
    pub frames: AtomicU64,
    pub frames_len: AtomicU64,
    pub shards: [Shard; SHARDS],
    /// What the program mapped by `mmap` without a file.
    pub mapped: Shard,
    /// Live bytes that the threads have reported, and their maximum.
    pub live: AtomicI64,
    pub peak: AtomicI64,
    /// Live bytes in the last snapshot at the peak, and in all of them so far.
    pub taken: AtomicI64,
    pub copied: AtomicI64,
    /// The bytes that a thread may keep unreported.
    pub quantum: AtomicI64,
    pub threads: AtomicU32,
    /// Whether a thread waits for a snapshot, 0 or [`Event::PEAK`] or [`Event::GROWN`]; the number of answered snapshots, and whether snapshots are impossible.
    pub wanted: AtomicU32,
    pub done: AtomicU32,
    pub disabled: AtomicU32,
    pub spent_nanos: AtomicU64,
    pub start_nanos: AtomicU64,
    /// The mean distance in bytes between sampled allocations; 0 if all are recorded.
    pub sample: AtomicU64,
    /// The frame pointer and the thread pointer of the thread that requested the latest snapshot.
    pub asker_stack: AtomicU64,
    pub asker_thread: AtomicU64,
    /// The number of recorded allocations that the threads have reported.
    pub allocations: AtomicU64,
    /// Unless the mode is [`Mode::Blocks`]: the address of the addresses of [`LEDGERS`] ledgers, the number of ledgers, and the
    /// number of calls that were not recorded because there was no ledger.
    pub ledgers: AtomicU64,
    pub ledgers_len: AtomicU64,
    pub lost: AtomicU64,
    /// The number of functions whose calls are counted, see [`CALLS`], and of their calls.
    pub counters: AtomicU64,
    pub calls: AtomicU64,
    /// Further mappings of the agent, which it never unmaps: the number of them, and the address and the bytes of each.
    pub tables_len: AtomicU64,
    pub tables: [[AtomicU64; 2]; TABLES],
}

/// The maximum number of mappings in [`State::tables`]. The tables double, so there are never as many.
pub const TABLES: usize = 64;

/// The maximum number of threads that run at the same time and are counted, and of pairs that are counted.
pub const LEDGERS: u64 = 1 << 12;
pub const COUNTED: u64 = 1 << 22;
/// The number of recent allocations of a thread that are compared with its next free.
pub const RECENT: usize = 32;
/// The number of size classes of glibc's thread cache, and of its fast bins.
pub const CACHED: usize = 64;
pub const FAST_BINS: usize = 7;
/// The length of a run of frees, without an allocation between, from which on its blocks count as freed together.
pub const RUN: u64 = 8;
/// The number of bins of lifetimes. Bin `n` has the lifetimes of `n` bits; the last bin has all longer ones.
pub const LIFETIMES: usize = 24;

/// The counts of a thread. When a thread ends, a later thread continues its ledger.
///
/// Only its thread writes to it, so it needs no atomic additions. The [`Counts`] of the pairs follow it, at
/// [`LEDGER_BYTES`].
#[repr(C)]
pub struct Ledger {
    /// Whether a thread uses it.
    pub busy: AtomicU32,
    pub number: AtomicU32,
    /// The number of threads that used it.
    pub threads: AtomicU64,
    /// The number of blocks that its threads got, which is the clock for lifetimes.
    pub blocks: AtomicU64,
    /// One more than the highest number of a pair in it.
    pub pairs: AtomicU64,
    /// The number of frees since the last allocation, and the call stack of that run of frees.
    pub run: AtomicU64,
    pub run_stack: AtomicU64,
    /// The address of the block that the last call returned; 0 after a free.
    pub last: AtomicU64,
    /// The addresses of recent blocks that are live, in the order of their allocation; the number of allocations since
    /// the start; and the index of the oldest one.
    pub recent: [AtomicU64; RECENT],
    pub top: AtomicU64,
    pub bottom: AtomicU64,
    /// The number of blocks in each class of glibc's thread cache, and in each fast bin, by a model of it.
    pub cached: [AtomicU32; CACHED],
    pub fast: [AtomicU32; FAST_BINS],
}

/// The offset of the counts in a ledger.
pub const LEDGER_BYTES: usize = 4096;

/// The counts of a pair in a thread. `allocated` and `freed` are by [`Depot`].
#[repr(C, align(64))]
pub struct Counts {
    pub allocations: AtomicU64,
    pub frees: AtomicU64,
    pub bytes: AtomicU64,
    /// Blocks that are live; negative if this thread frees blocks of others.
    pub live: AtomicI64,
    pub most_live: AtomicI64,
    /// Frees of the block that the thread allocated last, with no call between.
    pub temporary: AtomicU64,
    /// Frees of the newest live block of the thread.
    pub in_order: AtomicU64,
    /// Frees in runs of at least [`RUN`].
    pub together: AtomicU64,
    /// Blocks that `realloc` returned; that it replaced; and the bytes that it copied to another address.
    pub reallocations: AtomicU64,
    pub replaced: AtomicU64,
    pub copied: AtomicU64,
    /// Frees of blocks of other threads.
    pub foreign: AtomicU64,
    pub allocated: [AtomicU64; 3],
    pub freed: [AtomicU64; 3],
    /// The number of an [`Allocator`].
    pub allocator: AtomicU32,
    /// The call stack of a run in which a block was freed; 0 if there was none.
    pub run_stack: AtomicU32,
    /// The call stack of the thread's first free of such a block; 0 if there was none.
    pub free_stack: AtomicU32,
    pub padding: AtomicU32,
    /// By the bits of the number of blocks that the thread allocated between allocation and free.
    pub lifetimes: [AtomicU64; LIFETIMES],
}

/// Where glibc's allocator takes a block from, or keeps it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Depot {
    /// The thread's cache.
    Thread = 0,
    /// A fast bin.
    Fast = 1,
    /// Another bin, or the end of the heap.
    Heap = 2,
}

/// Rounds the size of a large block up, so that a call stack has few pairs. Up to an eighth is added.
pub const fn rounded(size: u64) -> u64 {
    if size < SMALL {
        return size;
    }
    let step = 1 << (60 - size.leading_zeros());
    match size.checked_next_multiple_of(step) {
        Some(rounded) => rounded,
        None => size,
    }
}

/// The units of the sizes of pairs from this size on, so that the size fits in a [`Pair`].
pub const HUGE: u64 = 1 << 31;

/// The size and call stack of small blocks.
#[repr(C)]
pub struct Pair {
    /// The index of the stack in the frames.
    pub stack: AtomicU32,
    pub size: AtomicU32,
}

/// A hash table of blocks, or of mappings, by address.
#[repr(C)]
pub struct Shard {
    pub lock: AtomicU32,
    pub used: AtomicU32,
    /// The address of `mask + 1` slots; 0 if there is no table.
    pub slots: AtomicU64,
    pub mask: AtomicU64,
}

/// A block in a [`Shard`]. The address of a slot that was never used is 0.
#[repr(C)]
pub struct Slot {
    pub addr: AtomicU64,
    pub size: AtomicU64,
    pub stack: AtomicU64,
}

/// A message from the helper to the tool.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Event {
    pub what: u32,
    /// The copy's process id, or a negative error number.
    pub pid: i32,
    /// The time of the monotonic clock.
    pub nanos: u64,
    pub stack: u64,
    pub thread: u64,
    /// 1 if the threads were stopped while the copy was made.
    pub held: u64,
}

impl Event {
    pub const PEAK: u32 = 1;
    pub const ASKED: u32 = 2;
    pub const ENDED: u32 = 3;
    /// The helper is about to make a copy, and waits until the tool has stopped the threads.
    pub const STOP: u32 = 4;
    /// A copy because live bytes have grown.
    pub const GROWN: u32 = 5;
    pub const BYTES: usize = core::mem::size_of::<Self>();

    /// Returns the event with this in-memory representation.
    pub fn from_bytes(bytes: [u8; Self::BYTES]) -> Self {
        let word = |at: usize| {
            let mut word = [0; 8];
            word.copy_from_slice(&bytes[at..at + 8]);
            u64::from_ne_bytes(word)
        };
        Self {
            what: word(0) as u32,
            pid: (word(0) >> 32) as i32,
            nanos: word(8),
            stack: word(16),
            thread: word(24),
            held: word(32),
        }
    }
}

/// The kind of an allocator's function, with the meaning of its arguments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Call {
    /// Returns a block. The argument with this index is its size.
    Allocate(usize),
    /// Returns a block for `(count, size)`.
    AllocateMany,
    /// `(out, align, size)`: writes the block to `out` and returns 0.
    AllocateInto,
    /// `(block, size)`: returns the block that replaces it.
    Reallocate,
    /// `(block, count, size)`
    ReallocateMany,
    /// `(block)`
    Free,
}

/// The allocator that a function belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Allocator {
    Mimalloc = 1,
    Jemalloc = 2,
    /// An allocator in an executable that defines its own `malloc`.
    Executable = 3,
    Glibc = 0,
}

/// A function of a statically linked allocator. Jemalloc's functions also have a prefix.
#[derive(Clone, Copy, Debug)]
pub struct Function {
    pub allocator: Allocator,
    pub name: &'static str,
    pub call: Call,
}

const fn function(allocator: Allocator, name: &'static str, call: Call) -> Function {
    Function { allocator, name, call }
}

/// The length of [`FUNCTIONS`].
pub const FUNCTION_COUNT: usize = 50;

/// The functions that are hooked. Each has at most three arguments.
pub const FUNCTIONS: [Function; FUNCTION_COUNT] = {
    use Allocator::{Executable, Jemalloc, Mimalloc};
    use Call::{Allocate, AllocateInto, AllocateMany, Free, Reallocate, ReallocateMany};
    [
        function(Mimalloc, "mi_malloc", Allocate(0)),
        function(Mimalloc, "mi_malloc_small", Allocate(0)),
        function(Mimalloc, "mi_zalloc", Allocate(0)),
        function(Mimalloc, "mi_zalloc_small", Allocate(0)),
        function(Mimalloc, "mi_malloc_aligned", Allocate(0)),
        function(Mimalloc, "mi_zalloc_aligned", Allocate(0)),
        function(Mimalloc, "mi_malloc_aligned_at", Allocate(0)),
        function(Mimalloc, "mi_zalloc_aligned_at", Allocate(0)),
        function(Mimalloc, "mi_calloc", AllocateMany),
        function(Mimalloc, "mi_mallocn", AllocateMany),
        function(Mimalloc, "mi_calloc_aligned", AllocateMany),
        function(Mimalloc, "mi_realloc", Reallocate),
        function(Mimalloc, "mi_rezalloc", Reallocate),
        function(Mimalloc, "mi_realloc_aligned", Reallocate),
        function(Mimalloc, "mi_rezalloc_aligned", Reallocate),
        function(Mimalloc, "mi_reallocn", ReallocateMany),
        function(Mimalloc, "mi_recalloc", ReallocateMany),
        function(Mimalloc, "mi_reallocarray", ReallocateMany),
        function(Mimalloc, "mi_memalign", Allocate(1)),
        function(Mimalloc, "mi_aligned_alloc", Allocate(1)),
        function(Mimalloc, "mi_valloc", Allocate(0)),
        function(Mimalloc, "mi_pvalloc", Allocate(0)),
        function(Mimalloc, "mi_posix_memalign", AllocateInto),
        function(Mimalloc, "mi_free", Free),
        function(Mimalloc, "mi_cfree", Free),
        function(Mimalloc, "mi_free_size", Free),
        function(Mimalloc, "mi_free_aligned", Free),
        function(Mimalloc, "mi_free_size_aligned", Free),
        function(Jemalloc, "malloc", Allocate(0)),
        function(Jemalloc, "calloc", AllocateMany),
        function(Jemalloc, "realloc", Reallocate),
        function(Jemalloc, "memalign", Allocate(1)),
        function(Jemalloc, "valloc", Allocate(0)),
        function(Jemalloc, "aligned_alloc", Allocate(1)),
        function(Jemalloc, "posix_memalign", AllocateInto),
        function(Jemalloc, "mallocx", Allocate(0)),
        function(Jemalloc, "rallocx", Reallocate),
        function(Jemalloc, "free", Free),
        function(Jemalloc, "dallocx", Free),
        function(Jemalloc, "sdallocx", Free),
        function(Jemalloc, "free_sized", Free),
        function(Executable, "malloc", Allocate(0)),
        function(Executable, "calloc", AllocateMany),
        function(Executable, "realloc", Reallocate),
        function(Executable, "reallocarray", ReallocateMany),
        function(Executable, "memalign", Allocate(1)),
        function(Executable, "aligned_alloc", Allocate(1)),
        function(Executable, "posix_memalign", AllocateInto),
        function(Executable, "free", Free),
        function(Executable, "cfree", Free),
    ]
};

/// The number of addresses at which the agent may place the patches' code.
pub const PLACEMENTS: usize = 8;
/// The maximum number of bytes that a patch replaces.
pub const PATCH_BYTES: usize = 32;

/// The header of the patches, which follow [`Shared`] in the plan.
///
/// After the header come `count` [`Patch`]es, then `code_bytes` bytes of code for each placement.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct Patches {
    pub count: u32,
    pub code_bytes: u32,
    /// The addresses for the code, without the bias of the executable. They are multiples of a page.
    pub placements: [u64; PLACEMENTS],
}

/// Instead of a hook: the patch counts the function's calls in [`State::calls`].
pub const CALLS: u32 = u32::MAX;

/// A function whose first instructions are replaced by a jump.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct Patch {
    /// The function's address, without the bias of the executable.
    pub addr: u64,
    /// The number of its [`Function`], or [`CALLS`].
    pub function: u32,
    /// The number of replaced bytes.
    pub len: u32,
    /// The offsets in the code of the moved instructions, and of the hook's address, which the agent writes.
    pub moved: u32,
    pub hook: u32,
    /// The function's original bytes.
    pub old: [u8; PATCH_BYTES],
    /// The bytes that replace them, for each placement.
    pub new: [[u8; PATCH_BYTES]; PLACEMENTS],
}
