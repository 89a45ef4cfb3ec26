//! What the copy of the process does: it writes its own memory as a core, and ends.
//!
//! Another thread of the program may have held any lock at the moment of the copy, and will never release it here. So nothing
//! below allocates with the program's allocator, prints, panics, or calls a function of libc but those of [`crate::sys`].

use crate::arch;
use crate::buffer::Buffer;
use crate::elf::{self, Thread};
use crate::maps::Mapping;
use crate::pages::{PageMap, Pages};
use crate::sys::{self, Errno};
use core::ffi::CStr;
use core::sync::atomic::{AtomicU64, Ordering};
use libc::c_int;

/// What is to be written, and where.
pub(crate) struct Order<'a> {
    pub(crate) file: c_int,
    /// Whether it is a file on a disk.
    pub(crate) is_regular: bool,
    /// A name that the file has, the one that it gets in the end, and whether the first one is removed.
    pub(crate) names: Option<(&'a CStr, &'a CStr, bool)>,
    /// The threads. The first one writes.
    pub(crate) threads: &'a [Thread],
    /// The id of the first thread of the process.
    pub(crate) first: i32,
    /// The kernel's words for the process: pairs of a key and a value.
    pub(crate) words: &'a [u64],
    /// The time in milliseconds since 1970.
    pub(crate) time: u64,
    /// The version of glibc, whose file may be another one where the dump is read.
    pub(crate) glibc: Option<&'a CStr>,
    /// The most bytes, and those that stay free on the disk.
    pub(crate) most: u64,
    pub(crate) keep_free: u64,
    pub(crate) seconds: u64,
    pub(crate) page: u64,
    pub(crate) control: &'a Control,
}

/// What the child tells its parent, in memory that both share.
#[derive(Default)]
pub(crate) struct Control {
    /// The bytes of the dump, once they are known.
    pub(crate) total: AtomicU64,
    /// Those that are written.
    pub(crate) written: AtomicU64,
    /// A [`Stage`] and the number of the error.
    pub(crate) failure: AtomicU64,
    pub(crate) is_done: AtomicU64,
}

/// Where a child may fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stage {
    /// To read its own mappings.
    Maps = 1,
    /// To get memory for lists.
    Memory,
    /// To write.
    Write,
    /// The dump is larger than is allowed.
    Size,
    /// There is too little room on the disk.
    Disk,
    /// To give the file its name.
    Name,
}

impl Stage {
    pub(crate) fn from_number(number: u64) -> Option<Self> {
        [Self::Maps, Self::Memory, Self::Write, Self::Size, Self::Disk, Self::Name]
            .into_iter()
            .find(|stage| *stage as u64 == number)
    }
}

type Failure = (Stage, Errno);

fn at(stage: Stage) -> impl Fn(Errno) -> Failure {
    move |error| (stage, error)
}

/// Writes the dump and ends the process.
pub(crate) fn run(order: &Order<'_>) -> ! {
    // First of all: a descriptor that stays open here keeps a connection open that the program closes.
    sys::close_others([order.file, order.file]);
    sys::end_after(order.seconds);
    // All signals were blocked for the copy, as their handlers are the program's.
    const SIGALRM: u64 = 1 << (libc::SIGALRM - 1);
    sys::block(!SIGALRM);
    sys::step_back();
    match write(order) {
        Ok(()) => {
            order.control.is_done.store(1, Ordering::Release);
            sys::exit(0)
        }
        Err((stage, error)) => {
            let error = u64::try_from(error).unwrap_or_default();
            order.control.failure.store(((stage as u64) << 32) | error, Ordering::Release);
            sys::exit(1)
        }
    }
}

fn write(order: &Order<'_>) -> Result<(), Failure> {
    let memory = at(Stage::Memory);
    let text = Buffer::file(c"/proc/self/maps")
        .map_err(|error| (if error == libc::ENOMEM { Stage::Memory } else { Stage::Maps }, error))?;
    let mut plan = Plan::new(order)?;
    plan.find(&text)?;
    let head = plan.head(&text).map_err(&memory)?;
    let total =
        plan.parts.values().iter().fold(head.values().len() as u64, |sum, [start, end]| sum + length(*start, *end));
    order.control.total.store(total, Ordering::Release);
    if total > order.most {
        return Err((Stage::Size, 0));
    }
    if order.is_regular && sys::free_disk(order.file).map_err(at(Stage::Disk))? < total.saturating_add(order.keep_free)
    {
        return Err((Stage::Disk, libc::ENOSPC));
    }
    // The names are in memory that is dropped when it is written.
    let mut names = Buffer::<u8>::new(1 << 13).map_err(&memory)?;
    if let Some((from, to, _)) = order.names {
        names.extend(from.to_bytes_with_nul()).map_err(&memory)?;
        names.extend(to.to_bytes_with_nul()).map_err(&memory)?;
    }
    let is_removed = order.names.is_some_and(|(.., is_removed)| is_removed);
    let mut output = Output { order, written: 0, hinted: 0 };
    output.all(head.values()).map_err(at(Stage::Write))?;
    let mut maps = Mapping::all(text.values()).peekable();
    let mut before: Option<Mapping<'_>> = None;
    for [start, end] in plan.parts.values() {
        while let Some(map) = maps.next_if(|map| map.end <= *start) {
            before = Some(map);
        }
        let may_forget = maps.peek().is_some_and(|map| plan.may_forget(map, before.as_ref()));
        output.memory(*start, *start + length(*start, *end), may_forget).map_err(at(Stage::Write))?;
    }
    let mut ends = names.values().split_inclusive(|byte| *byte == 0);
    if let (Some(from), Some(to)) = (ends.next(), ends.next())
        && let (Ok(from), Ok(to)) = (CStr::from_bytes_with_nul(from), CStr::from_bytes_with_nul(to))
    {
        sys::link(from, to).map_err(at(Stage::Name))?;
        if is_removed {
            sys::unlink(from);
        }
    }
    Ok(())
}

/// The flags of a part are in the lowest bits of its end.
const FLAGS: u64 = 7;

fn length(start: u64, end: u64) -> u64 {
    (end & !FLAGS).saturating_sub(start)
}

/// What of the memory is written.
struct Plan<'a> {
    order: &'a Order<'a>,
    /// The first address and one past the last, with flags.
    parts: Buffer<[u64; 2]>,
    /// For each thread its stack pointer and its thread pointer.
    threads: Buffer<[u64; 2]>,
    /// Addresses in the stack and the control block of this thread.
    own: [u64; 2],
    /// Whether parts have bytes that no mapping has.
    is_merged: bool,
}

impl<'a> Plan<'a> {
    fn new(order: &'a Order<'a>) -> Result<Self, Failure> {
        let memory = at(Stage::Memory);
        let parts = Buffer::new(1 << 16).map_err(&memory)?;
        let mut threads = Buffer::new(1 << 12).map_err(&memory)?;
        for thread in order.threads {
            let stack = thread.registers.get(arch::STACK_POINTER).copied().unwrap_or(0);
            threads.extend(&[[stack, thread.pointer]]).map_err(&memory)?;
        }
        let own = threads.values().first().copied().unwrap_or_default();
        Ok(Self { order, parts, threads, own, is_merged: false })
    }

    /// Finds the pages that have contents.
    fn find(&mut self, text: &Buffer<u8>) -> Result<(), Failure> {
        let memory = at(Stage::Memory);
        let page = self.order.page;
        // The kernel may have made one mapping of this list and the program's memory.
        let list = text.range();
        let mut pages = PageMap::new(page);
        for map in Mapping::all(text.values()).filter(Mapping::is_own) {
            let bits = [(0, b'r', 4), (1, b'w', 2), (2, b'x', 1)];
            let flags = bits.iter().fold(
                0,
                |all, (index, letter, bit)| {
                    if map.flags.get(*index) == Some(letter) { all | bit } else { all }
                },
            );
            let parts = &mut self.parts;
            if map.may_have_headers() {
                add(parts, map.start, map.start + page, flags).map_err(&memory)?;
            }
            let (threads, order) = (&mut self.threads, self.order);
            let mut found = |range: Pages| {
                note_stacks(threads.values_mut(), order, &map, range);
                if !(range.are_present && map.is_anonymous()) {
                    return add(parts, range.start, range.end, flags);
                }
                let mut at = range.start;
                while at < range.end {
                    // SAFETY: the page is in a mapping that can be read, and this is the only thread.
                    if !list.contains(&at) && !unsafe { arch::is_zero(at, page) } {
                        add(parts, at, at + page, flags)?;
                    }
                    at += page;
                }
                Ok(())
            };
            pages.own(&map, &mut found).map_err(&memory)?;
            self.find_control_blocks(&map);
        }
        self.is_merged = merge(&mut self.parts, page);
        Ok(())
    }

    /// Finds the control blocks of threads whose stack is in a mapping, if their pointers are not known yet.
    fn find_control_blocks(&mut self, map: &Mapping<'_>) {
        const LONGEST: u64 = 1 << 20;
        const ALIGN: usize = 64;
        let own = self.own[1];
        for thread in self.threads.values_mut().iter_mut().filter(|thread| thread[1] == 0 && map.contains(thread[0])) {
            let [stack, pointer] = thread;
            let mut at = map.end - ALIGN as u64;
            while own != 0 && at > *stack && at > map.end.saturating_sub(LONGEST) {
                // SAFETY: the address is in a mapping that can be read, above the stack pointer of a thread, and its own
                // control block exists as well.
                if unsafe { sys::is_control_block(at, own) } {
                    *pointer = at;
                    break;
                }
                at -= ALIGN as u64;
            }
        }
    }

    /// Returns the file header, the headers of the parts, and the notes.
    fn head(&self, text: &Buffer<u8>) -> Result<Buffer<u8>, Errno> {
        let notes = self.notes(text)?;
        let parts = self.parts.values();
        let of_headers = elf::FILE_HEADER + (parts.len() + 1) * elf::PART_HEADER;
        let page = usize::try_from(self.order.page).unwrap_or(1 << 12);
        let mut head = Buffer::new(1 << 16)?;
        head.extend(&elf::file_header(parts.len() + 1))?;
        head.extend(&elf::part_header(of_headers as u64, None, notes.values().len() as u64, *b"----", 4))?;
        let mut offset = (of_headers + notes.values().len()).next_multiple_of(page) as u64;
        for [start, end] in parts {
            let letter = |bit: u64, letter: u8| if end & bit == bit { letter } else { b'-' };
            let flags = [letter(4, b'r'), letter(2, b'w'), letter(1, b'x'), b'p'];
            let len = length(*start, *end);
            head.extend(&elf::part_header(offset, Some(*start), len, flags, self.order.page))?;
            offset += len;
        }
        head.extend(notes.values())?;
        head.align(page)?;
        Ok(head)
    }

    fn notes(&self, text: &Buffer<u8>) -> Result<Buffer<u8>, Errno> {
        let mut notes = Buffer::new(1 << 16)?;
        for (thread, [stack, pointer]) in self.order.threads.iter().zip(self.threads.values()) {
            let mut thread = Thread { pointer: *pointer, ..*thread };
            if let Some(register) = thread.registers.get_mut(arch::STACK_POINTER) {
                *register = *stack;
            }
            note(&mut notes, b"CORE", elf::NT_PRSTATUS, &elf::status(&thread))?;
            if arch::POINTER.is_none() {
                note(&mut notes, b"LINUX", elf::NT_ARM_TLS, &pointer.to_le_bytes())?;
            }
        }
        let mut words = Buffer::<u8>::new(1 << 12)?;
        for word in self.order.words {
            words.extend(&word.to_le_bytes())?;
        }
        note(&mut notes, b"CORE", elf::NT_AUXV, words.values())?;
        words.truncate(0);
        let files = || Mapping::all(text.values()).filter(Mapping::is_file);
        words.extend(&(files().count() as u64).to_le_bytes())?;
        words.extend(&self.order.page.to_le_bytes())?;
        for map in files() {
            for word in [map.start, map.end, map.offset / self.order.page] {
                words.extend(&word.to_le_bytes())?;
            }
        }
        for map in files() {
            words.extend(map.name)?;
            words.extend(&[0])?;
        }
        note(&mut notes, b"CORE", elf::NT_FILE, words.values())?;
        note(&mut notes, elf::OWN, elf::OWN_MAPS, text.values())?;
        note(&mut notes, elf::OWN, elf::OWN_TIME, &self.order.time.to_le_bytes())?;
        if let Some(version) = self.order.glibc {
            note(&mut notes, elf::OWN, elf::OWN_GLIBC, version.to_bytes())?;
        }
        Ok(notes)
    }

    /// Returns `true` if a mapping is not needed any more when it is written. Its pages are dropped then, so that the
    /// program does not have to copy those that it writes to. `before` is the mapping before it.
    fn may_forget(&self, map: &Mapping<'_>, before: Option<&Mapping<'_>>) -> bool {
        // What is directly behind a file are its statics.
        let is_static = before.is_some_and(|before| before.is_file() && before.end == map.start);
        !self.is_merged
            && map.is_anonymous()
            && map.is_own()
            && !is_static
            && !self.own.iter().any(|addr| map.contains(*addr))
            // The address sanitizer keeps variables apart from the stack.
            && !map.contains(core::ptr::from_ref(&is_static).addr() as u64)
    }
}

/// Adds pages behind those that are known.
fn add(parts: &mut Buffer<[u64; 2]>, start: u64, end: u64, flags: u64) -> Result<(), Errno> {
    if let Some([from, last]) = parts.values_mut().last_mut() {
        let until = *last & !FLAGS;
        if start <= until && start >= *from && *last & FLAGS == flags {
            *last = until.max(end) | flags;
            return Ok(());
        }
    }
    parts.extend(&[[start, end | flags]])
}

/// Joins parts with small gaps between them until a core can have so many. Returns `true` if there were too many.
fn merge(parts: &mut Buffer<[u64; 2]>, page: u64) -> bool {
    let is_merged = parts.values().len() > elf::MOST_PARTS;
    let mut gap = page;
    while parts.values().len() > elf::MOST_PARTS && gap < 1 << 40 {
        let all = parts.values_mut();
        let mut last = 0;
        for index in 1..all.len() {
            let (Some([start, end]), Some([_, until])) = (all.get(index).copied(), all.get_mut(last)) else { break };
            if start.saturating_sub(*until & !FLAGS) <= gap {
                *until = end & !FLAGS | *until & FLAGS;
            } else {
                last += 1;
                if let Some(to) = all.get_mut(last) {
                    *to = [start, end];
                }
            }
        }
        parts.truncate(last + 1);
        gap *= 2;
    }
    is_merged
}

/// A thread that ran has no stack pointer: the lowest page of its stack stands for it.
fn note_stacks(threads: &mut [[u64; 2]], order: &Order<'_>, map: &Mapping<'_>, pages: Pages) {
    for (known, thread) in threads.iter_mut().zip(order.threads).filter(|(known, _)| known[0] == 0) {
        let is_first = thread.id == order.first;
        let is_of_first = map.name == b"[stack]" && pages.end == map.end;
        let is_of_other = (pages.start..pages.end).contains(&known[1]);
        if is_first && is_of_first || !is_first && is_of_other {
            known[0] = pages.start;
        }
    }
}

fn note(into: &mut Buffer<u8>, name: &[u8], kind: u32, contents: &[u8]) -> Result<(), Errno> {
    let (header, len) = elf::note(name, kind, contents.len());
    into.extend(header.get(..len).unwrap_or(&header))?;
    into.extend(contents)?;
    into.align(4)
}

struct Output<'a> {
    order: &'a Order<'a>,
    written: u64,
    /// Up to where the kernel was told that the file's pages are not needed.
    hinted: u64,
}

impl Output<'_> {
    /// Writes bytes of this process's own lists.
    fn all(&mut self, bytes: &[u8]) -> Result<(), Errno> {
        let mut rest = bytes;
        while !rest.is_empty() {
            let written = self.some(rest.as_ptr(), rest.len())?;
            rest = rest.get(written..).unwrap_or_default();
        }
        Ok(())
    }

    /// Writes memory, and drops it if nobody needs it.
    fn memory(&mut self, start: u64, end: u64, may_forget: bool) -> Result<(), Errno> {
        /// Of the size of a huge page, which is dropped as a whole.
        const AT_ONCE: u64 = 2 << 20;
        let zeros = [0_u8; 4096];
        let mut from = start;
        while from < end {
            let until = end.min((from - from % AT_ONCE) + AT_ONCE);
            let mut at = from;
            while at < until {
                let address = core::ptr::with_exposed_provenance(usize::try_from(at).unwrap_or_default());
                let len = usize::try_from(until - at).unwrap_or_default();
                let written = match self.some(address, len) {
                    // A page that cannot be read has no contents.
                    Err(libc::EFAULT) => self.some(zeros.as_ptr(), zeros.len().min(len))?,
                    other => other?,
                };
                at += written as u64;
            }
            if may_forget {
                // SAFETY: the mapping is neither this thread's stack nor its control block nor statics, and what else was
                // needed of the program's memory was copied to buffers before.
                unsafe { sys::forget(from, until - from) };
            }
            from = until;
        }
        Ok(())
    }

    fn some(&mut self, from: *const u8, len: usize) -> Result<usize, Errno> {
        const HINT: u64 = 16 << 20;
        loop {
            match sys::write(self.order.file, from, len) {
                Ok(0) => return Err(libc::EIO),
                Ok(written) => {
                    self.written += written as u64;
                    self.order.control.written.store(self.written, Ordering::Relaxed);
                    if self.order.is_regular && self.written - self.hinted >= HINT {
                        sys::written(self.order.file, self.hinted, self.written - self.hinted);
                        self.hinted = self.written;
                    }
                    return Ok(written);
                }
                Err(libc::EINTR) => {}
                Err(libc::EAGAIN) => sys::wait_to_write(self.order.file),
                Err(error) => return Err(error),
            }
        }
    }
}

/// Returns how many bytes a dump would have now at most, without the headers: what is read may change meanwhile.
pub(crate) fn size(page: u64) -> Result<u64, Errno> {
    let text = Buffer::file(c"/proc/self/maps")?;
    let mut bytes = 0;
    let mut pages = PageMap::new(page);
    for map in Mapping::all(text.values()).filter(Mapping::is_own) {
        bytes += if map.may_have_headers() { page } else { 0 };
        pages.own(&map, &mut |range| {
            bytes += range.end - range.start;
            Ok(())
        })?;
    }
    Ok(bytes)
}
