//! The agent of `cargo dwell census`: a library that `LD_PRELOAD` loads into the program to record its live blocks.
//!
//! The user's rustc compiles it, so it depends on `core` only and uses no recent language features. An environment
//! variable passes it two file descriptors: the plan and a socket. Without a plan it only forwards calls to glibc.
//!
//! The agent does not allocate through the hooked functions and takes no lock of libc. After the start of the program
//! it does not read the environment or files. In a `fork` of the program the page that enables the hooks is wiped, so a
//! child is not recorded, unless it is followed (see `follow.rs`).

#![no_std]
#![deny(unsafe_op_in_unsafe_fn)]

mod arch;
mod blocks;
mod follow;
mod helper;
mod hooks;
#[allow(dead_code)]
mod layout;
mod mappings;
mod patch;
mod profile;
mod sample;
mod stacks;
mod sys;
mod thread;

use core::ffi::{c_char, CStr};
use core::sync::atomic::{AtomicI64, AtomicU32, AtomicU64, Ordering};
use layout::{Mode, Shard, Shared, State, Status, ADDRESSES, ENTRY, FRAMES, GRANULE, LARGEST_PAGE, LEDGERS, PAIRS, SHARDS, TABLES};

/// The agent's records. The tool reads them from a copy of the process, at this address.
pub static STATE: State = State {
    counters: AtomicU64::new(0),
    calls: AtomicU64::new(0),
    shadow: AtomicU64::new(0),
    addresses: AtomicU64::new(ADDRESSES),
    pairs: AtomicU64::new(0),
    pairs_len: AtomicU64::new(1),
    frames: AtomicU64::new(0),
    // Index 0 means "no stack", so the first stack is at 1.
    frames_len: AtomicU64::new(1),
    shards: {
        #[allow(clippy::declare_interior_mutable_const)]
        const SHARD: Shard = Shard::NEW;
        [SHARD; SHARDS]
    },
    mapped: Shard::NEW,
    live: AtomicI64::new(0),
    peak: AtomicI64::new(0),
    taken: AtomicI64::new(0),
    copied: AtomicI64::new(0),
    quantum: AtomicI64::new(0),
    threads: AtomicU32::new(0),
    wanted: AtomicU32::new(0),
    done: AtomicU32::new(0),
    disabled: AtomicU32::new(0),
    spent_nanos: AtomicU64::new(0),
    start_nanos: AtomicU64::new(0),
    sample: AtomicU64::new(0),
    asker_stack: AtomicU64::new(0),
    asker_thread: AtomicU64::new(0),
    allocations: AtomicU64::new(0),
    ledgers: AtomicU64::new(0),
    ledgers_len: AtomicU64::new(0),
    lost: AtomicU64::new(0),
    tables_len: AtomicU64::new(0),
    tables: {
        #[allow(clippy::declare_interior_mutable_const)]
        const NONE: [AtomicU64; 2] = [AtomicU64::new(0), AtomicU64::new(0)];
        [NONE; TABLES]
    },
};

/// Maps memory that the agent never unmaps, and notes that it is the agent's.
pub fn map_for_good(bytes: usize) -> Result<usize, u32> {
    let addr = sys::map(bytes)?;
    let number = STATE.tables_len.fetch_add(1, Ordering::Relaxed) as usize;
    if let Some([start, len]) = STATE.tables.get(number) {
        len.store(bytes as u64, Ordering::Relaxed);
        start.store(addr as u64, Ordering::Relaxed);
    }
    Ok(addr)
}

/// A page that `fork` wipes in the child, of the largest size that pages may have.
#[cfg_attr(target_arch = "x86_64", repr(C, align(4096)))]
#[cfg_attr(target_arch = "aarch64", repr(C, align(65536)))]
struct Page {
    armed: AtomicU32,
    _rest: [u8; LARGEST_PAGE - 4],
}

static PAGE: Page = Page { armed: AtomicU32::new(0), _rest: [0; LARGEST_PAGE - 4] };
const _: () = assert!(core::mem::align_of::<Page>() == LARGEST_PAGE && core::mem::size_of::<Page>() == LARGEST_PAGE);

/// Returns `true` if the hooks record calls.
#[inline(always)]
pub fn is_armed() -> bool {
    PAGE.armed.load(Ordering::Relaxed) != 0
}

#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    // SAFETY: `exit_group` takes a number, the exit code of an abort. It accesses no memory and does not return.
    unsafe { sys::call(sys::EXIT_GROUP, [134, 0, 0, 0, 0, 0]) };
    loop {
        sys::yield_now();
    }
}

/// The agent's initialiser. The loader calls it before the program's own ones.
#[used]
#[link_section = ".init_array"]
static START: extern "C" fn(i32, *const *const c_char, *mut *mut c_char) = start;

extern "C" {
    fn getauxval(kind: u64) -> u64;
}

/// Returns the size of a page of the kernel.
pub fn page() -> usize {
    const AUX_PAGE: u64 = 6;
    // SAFETY: `getauxval` takes a number, and only reads the table that the kernel passed to the process.
    let page = unsafe { getauxval(AUX_PAGE) } as usize;
    if page.is_power_of_two() { page } else { LARGEST_PAGE }
}

extern "C" fn start(_: i32, _: *const *const c_char, environment: *mut *mut c_char) {
    let (files, is_child) = match follow::of_environment(environment) {
        follow::Found::Followed(files) => (Some(files), false),
        follow::Found::Child => (follow::connect(0), true),
        follow::Found::None => (take_files(environment), false),
    };
    let Some((plan, socket)) = files else { return };
    if let Some(shared) = map(plan) {
        arm(shared, plan, socket, environment as u64, is_child);
    }
    close(plan, socket);
}

/// Closes the files that the agent was given.
fn close(plan: u32, socket: u32) {
    for file in [plan, socket] {
        // SAFETY: the tool opened these files for the agent; no other code in this process knows them.
        unsafe { sys::call(sys::CLOSE, [file as usize, 0, 0, 0, 0, 0]) };
    }
}

/// Reads the two file descriptors. Removes the tool's changes from the environment, so that children of the program do
/// not load the agent.
fn take_files(environment: *mut *mut c_char) -> Option<(u32, u32)> {
    let mut files = None;
    let mut index = 0;
    loop {
        // SAFETY: the loader passes an array that ends with null. The loop returns at the null, so `index` is not
        // beyond it.
        let slot = unsafe { environment.add(index) };
        // SAFETY: the array is readable up to its null, and no other thread runs yet.
        let entry = unsafe { *slot };
        if entry.is_null() {
            return files;
        }
        // SAFETY: an entry of the environment is a NUL-terminated string that lives as long as the process.
        let text = unsafe { CStr::from_ptr(entry) }.to_bytes();
        let value = |name: &str| text.strip_prefix(name.as_bytes())?.strip_prefix(b"=");
        if let Some(value) = value(layout::VARIABLE) {
            files = files.or_else(|| numbers(value));
        } else if let Some(preload) = value("LD_PRELOAD") {
            // The agent is the first entry of the list.
            if let Some(colon) = preload.iter().position(|byte| *byte == b':') {
                let name = b"LD_PRELOAD=";
                for (at, byte) in (colon + 1..).zip(name) {
                    // SAFETY: the entry is `LD_PRELOAD=`, `colon` bytes, a colon, and the rest, which stays. `at` is
                    // less than `colon + 1` plus the length of the name, which is the offset of the rest.
                    let target = unsafe { entry.add(at) };
                    // SAFETY: the kernel puts the environment's strings on the stack, which is writable, and no other
                    // thread runs yet.
                    unsafe { *target = *byte as c_char };
                }
                // SAFETY: `colon + 1` is within the entry: the loop above wrote the name there.
                let rest = unsafe { entry.add(colon + 1) };
                // SAFETY: the array is writable, and no other thread runs yet.
                unsafe { *slot = rest };
                index += 1;
                continue;
            }
        } else {
            index += 1;
            continue;
        }
        let mut at = slot;
        loop {
            // SAFETY: the entry at `at` is not null: `slot` was checked above, and the loop ends at the null. So the
            // array has a next entry.
            let behind = unsafe { at.add(1) };
            // SAFETY: `behind` is at most the null at the array's end, which is readable.
            let next = unsafe { *behind };
            // SAFETY: the array is writable, and no other thread runs yet.
            unsafe { *at = next };
            if next.is_null() {
                break;
            }
            at = behind;
        }
    }
}

/// Parses two file descriptors, such as `3,4`.
pub fn numbers(text: &[u8]) -> Option<(u32, u32)> {
    let text = core::str::from_utf8(text).ok()?;
    let (first, second) = text.split_once(',')?;
    Some((first.parse().ok()?, second.parse().ok()?))
}

/// Maps the page that the plan begins with.
fn map(plan: u32) -> Option<&'static Shared> {
    const PROT_READ_WRITE: usize = 3;
    const MAP_SHARED: usize = 1;
    // SAFETY: the kernel chooses an unused address, so the new mapping replaces nothing.
    let page = unsafe {
        sys::call(sys::MMAP, [0, layout::SHARED_BYTES, PROT_READ_WRITE, MAP_SHARED, plan as usize, 0])
    };
    if (-4095..0).contains(&page) {
        return None;
    }
    // SAFETY: `mmap` succeeded, so `page` is the address of a page, which stays mapped while the process lives.
    // `Shared` consists of atomic integers, for which every bit pattern is valid.
    let shared: &'static Shared = unsafe { &*(page as *const Shared) };
    (shared.magic.load(Ordering::Relaxed) == layout::MAGIC).then_some(shared)
}

/// Reads the plan, prepares the tables and enables the hooks.
fn arm(shared: &'static Shared, plan: u32, socket: u32, stack_end: u64, is_child: bool) {
    match prepare(shared, socket, stack_end, is_child) {
        Ok(()) => {
            patch::apply(shared, plan);
            // Returns at once if the tool is ready, and after a second if it is gone.
            sys::wait(&shared.attached, 0, true);
            follow::watch_forks();
            shared.status.store(Status::Armed as u32, Ordering::Release);
            PAGE.armed.store(1, Ordering::Release);
        }
        Err((status, errno)) => {
            shared.errno.store(errno, Ordering::Relaxed);
            shared.status.store(status as u32, Ordering::Release);
        }
    }
}

/// Enables the hooks in a process that was forked. Its records are those of its parent at that moment.
fn arm_again() {
    let Some((plan, socket)) = follow::connect(&STATE as *const State as u64) else { return };
    if let Some(shared) = map(plan) {
        let before = helper::shared();
        for (field, old) in [(&shared.bias, &before.bias), (&shared.state, &before.state)] {
            field.store(old.load(Ordering::Relaxed), Ordering::Relaxed);
        }
        shared.patched.store(before.patched.load(Ordering::Relaxed), Ordering::Relaxed);
        shared.thread_pointer.store(arch::thread_pointer(), Ordering::Relaxed);
        // The other threads, and a copy that one of them wanted, are not here.
        for word in [&STATE.wanted, &STATE.done] {
            word.store(0, Ordering::Relaxed);
        }
        STATE.threads.store(thread::current().known.get(), Ordering::Relaxed);
        STATE.disabled.store(u32::from(shared.wants_peak.load(Ordering::Relaxed) == 0), Ordering::Relaxed);
        STATE.peak.store(STATE.live.load(Ordering::Relaxed), Ordering::Relaxed);
        for word in [&STATE.taken, &STATE.copied] {
            word.store(0, Ordering::Relaxed);
        }
        STATE.spent_nanos.store(0, Ordering::Relaxed);
        match helper::start(shared, socket, true) {
            Ok(helper) => {
                shared.helper.store(helper, Ordering::Relaxed);
                shared.status.store(Status::Armed as u32, Ordering::Release);
                PAGE.armed.store(1, Ordering::Release);
            }
            Err(errno) => {
                shared.errno.store(errno, Ordering::Relaxed);
                shared.status.store(Status::NoHelper as u32, Ordering::Release);
            }
        }
    }
    close(plan, socket);
}

fn prepare(shared: &'static Shared, socket: u32, stack_end: u64, is_child: bool) -> Result<(), (Status, u32)> {
    const AUX_ENTRY: u64 = 9;
    const WIPE_ON_FORK: usize = 18;
    const DONT_DUMP: usize = 16;
    const NO_HUGE_PAGE: usize = 15;
    const RLIMIT_STACK: usize = 3;
    const MOST_STACK: u64 = 1 << 30;
    // SAFETY: `getauxval` takes a number, and only reads the table that the kernel passed to the process.
    let entry = unsafe { getauxval(AUX_ENTRY) };
    let bias = entry.wrapping_sub(shared.entry.load(Ordering::Relaxed));
    if bias % 4096 != 0 || !is_executable(shared) {
        return Err((Status::OtherExecutable, 0));
    }
    shared.bias.store(bias, Ordering::Relaxed);

    STATE.addresses.store(arch::end_of_addresses(stack_end), Ordering::Relaxed);
    // An entry of the shadow is twice as large if it also has the time of the allocation.
    let mode = shared.mode.load(Ordering::Relaxed);
    let counts = mode == Mode::Counts as u32;
    let entry = if counts { profile::ENTRY } else { ENTRY };
    for (field, bytes) in [
        (&STATE.shadow, arch::addresses() / GRANULE * entry),
        (&STATE.pairs, PAIRS * 8),
        (&STATE.frames, FRAMES * 8),
        (&STATE.ledgers, if mode == Mode::Blocks as u32 { 4096 } else { LEDGERS * 8 }),
    ] {
        let addr = sys::map(bytes as usize).map_err(|errno| (Status::NoAddressSpace, errno))?;
        // With huge pages, one block could take 2 MiB of shadow.
        for advice in [DONT_DUMP, NO_HUGE_PAGE] {
            // SAFETY: the range is the mapping made above, and the advice does not change its contents.
            unsafe { sys::call(sys::MADVISE, [addr, bytes as usize, advice, 0, 0, 0]) };
        }
        field.store(addr as u64, Ordering::Relaxed);
    }
    // SAFETY: `PAGE` is aligned to the size of a page and has only zeros, so the loader maps it as private anonymous memory. The advice
    // changes it only in a child of a `fork`, to zeros, which are valid for all its fields.
    let error = unsafe { sys::call(sys::MADVISE, [&PAGE as *const Page as usize, LARGEST_PAGE, WIPE_ON_FORK, 0, 0, 0]) };
    if error != 0 {
        return Err((Status::NoHelper, -error as u32));
    }
    let mut limit = [MOST_STACK; 2];
    // SAFETY: the call writes two words to `limit`, which has two.
    unsafe { sys::call(sys::GETRLIMIT, [RLIMIT_STACK, limit.as_mut_ptr() as usize, 0, 0, 0, 0]) };
    stacks::MAIN_LOW.store(stack_end - limit[0].min(MOST_STACK), Ordering::Relaxed);
    stacks::MAIN_HIGH.store(stack_end, Ordering::Relaxed);
    stacks::MAIN_THREAD.store(arch::thread_pointer(), Ordering::Relaxed);
    shared.thread_pointer.store(arch::thread_pointer(), Ordering::Relaxed);
    thread::prepare(hooks::end_of_thread);
    STATE.sample.store(shared.sample.load(Ordering::Relaxed), Ordering::Relaxed);
    profile::prepare(mode);
    STATE.disabled.store(u32::from(shared.wants_peak.load(Ordering::Relaxed) == 0), Ordering::Relaxed);
    shared.state.store(&STATE as *const State as u64, Ordering::Relaxed);
    let helper = helper::start(shared, socket, is_child).map_err(|errno| (Status::NoHelper, errno))?;
    shared.helper.store(helper, Ordering::Relaxed);
    Ok(())
}

/// Returns `true` if this process runs the plan's executable. Without `/proc` that is not known, and the result is `false`.
fn is_executable(shared: &Shared) -> bool {
    const NO_FOLDER: isize = -100;
    // The kernel's `struct stat` begins with device and inode.
    let mut stat = [0_u64; 32];
    // SAFETY: the path is a NUL-terminated string; the call writes at most 144 bytes, and `stat` has 256.
    let error = unsafe {
        sys::call(sys::STAT_AT, [NO_FOLDER as usize, c"/proc/self/exe".as_ptr() as usize, stat.as_mut_ptr() as usize, 0, 0, 0])
    };
    error == 0
        && stat[0] == shared.device.load(Ordering::Relaxed) && stat[1] == shared.inode.load(Ordering::Relaxed)
}
