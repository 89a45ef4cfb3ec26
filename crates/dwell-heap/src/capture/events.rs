//! Events of `perf_event_open`: samples of a process, and what it starts.

#![expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "sizes of mappings and file numbers are far from the bounds of their types"
)]

use crate::arch;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::sync::atomic::{AtomicU64, Ordering};

/// The memory for samples that are not read yet, for all processors together: without a privilege the kernel allows
/// 516 KiB.
const BUFFERS: usize = 512 << 10;
/// Samples a second of each thread. The number is prime, so that it does not follow a period of the program.
const FREQUENCY: u64 = 1999;
/// What a record tells.
pub(crate) enum Seen<'s> {
    /// A sample's instruction and stack.
    At(u64, &'s [u64]),
    /// A sample's instruction, its callers by frame pointers, the stack pointer, and the stack.
    Called { address: u64, chain: &'s [u64], stack_pointer: u64, stack: &'s [u64] },
    /// The process started another one with this number.
    Started(u32),
    /// It became another program.
    Executed,
}

/// The events, one for each processor.
#[derive(Debug)]
pub(crate) struct Events(Vec<Event>);

/// The events of a processor, one for each thread, with their buffer.
#[derive(Debug)]
struct Event {
    _files: Vec<OwnedFd>,
    buffer: memmap2::MmapRaw,
    has_callers: bool,
}

/// The attributes of an event, `struct perf_event_attr` of the kernel in its fifth version.
#[derive(Default)]
#[repr(C)]
pub(crate) struct Attributes {
    kind: u32,
    size: u32,
    config: u64,
    frequency: u64,
    sample_type: u64,
    read_format: u64,
    flags: u64,
    wakeup: u32,
    breakpoint: u32,
    config1: u64,
    config2: u64,
    branches: u64,
    registers: u64,
    stack: u32,
    clock: i32,
    registers_of_interrupt: u64,
    aux_watermark: u32,
    max_stack: u16,
    reserved: u16,
}

const _: () = assert!(size_of::<Attributes>() == 112);

impl Attributes {
    /// Returns those of an event that counts in user mode, also in what a process starts, and takes no samples.
    pub(crate) fn counting(kind: u32, config: u64, flags: u64, read_format: u64) -> Self {
        let flags = INHERIT | EXCLUDE_KERNEL | EXCLUDE_HV | flags;
        Self { kind, size: size_of::<Self>() as u32, config, flags, read_format, ..Self::default() }
    }
}

const SOFTWARE: u32 = 1;
const CPU_CLOCK: u64 = 0;
const NOTHING: u64 = 9;
const SAMPLE_IP: u64 = 1;
const SAMPLE_TID: u64 = 1 << 1;
const SAMPLE_CALLCHAIN: u64 = 1 << 5;
const SAMPLE_REGS_USER: u64 = 1 << 12;
const SAMPLE_STACK_USER: u64 = 1 << 13;
/// The bit of the stack pointer among the registers of a sample.
const STACK_POINTER: u64 = 1 << if cfg!(target_arch = "aarch64") { 31 } else { 7 };
/// The request to write the samples of an event to the buffer of another one.
const SET_OUTPUT: u64 = 0x2405;
const INHERIT: u64 = 1 << 1;
const EXCLUDE_KERNEL: u64 = 1 << 5;
const EXCLUDE_HV: u64 = 1 << 6;
const BY_FREQUENCY: u64 = 1 << 10;
/// Leaves the kernel's own functions out of the callers.
const NO_KERNEL: u64 = 1 << 21;
pub(crate) const CLOSE_ON_EXEC: u64 = 1 << 3;
const WITH_EXEC: u64 = 1 << 9 | 1 << 24;
const WITH_TASKS: u64 = 1 << 13;
const RECORD_COMM: u32 = 3;
const RECORD_FORK: u32 = 7;
const RECORD_SAMPLE: u32 = 9;
/// The flag of a record that a name is that of an executed program.
const IS_EXEC: u64 = 1 << 13;
/// The offsets in the first page of a buffer: how far the kernel has written, how far this process has read, and where
/// the samples begin.
const HEAD: usize = 1024;
const TAIL: usize = 1032;

/// Returns the bytes of a page, with which a buffer begins.
fn page() -> usize {
    arch::page() as usize
}

impl Events {
    /// Opens an event for each processor, for all threads that the process will have. A sample has this many bytes of the
    /// stack.
    pub(crate) fn open(pid: i32, stack: u32) -> Result<Self, String> {
        let sample = SAMPLE_IP | SAMPLE_TID | if stack > 0 { SAMPLE_STACK_USER } else { 0 };
        Self::open_each(&[pid], &Attributes { sample_type: sample, stack, ..Attributes::default() })
            .map(|(events, _)| events)
    }

    /// Opens events without samples, which tell only what the process starts.
    pub(crate) fn of_tasks(pid: i32) -> Result<Self, String> {
        Self::open_each(&[pid], &Attributes { config: NOTHING, ..Attributes::default() }).map(|(events, _)| events)
    }

    /// Opens them for the threads of a running process, with the callers in each sample. Returns also the number of threads.
    pub(crate) fn with_callers(threads: &[i32], stack: u32) -> Result<(Self, usize), String> {
        let sample = SAMPLE_IP | SAMPLE_TID | SAMPLE_CALLCHAIN | SAMPLE_REGS_USER | SAMPLE_STACK_USER;
        let attributes = Attributes {
            sample_type: sample,
            stack,
            registers: STACK_POINTER,
            flags: NO_KERNEL,
            ..Attributes::default()
        };
        Self::open_each(threads, &attributes)
    }

    /// Opens the events for some threads and those that they start. Returns also for how many of them that was possible.
    fn open_each(threads: &[i32], attributes: &Attributes) -> Result<(Self, usize), String> {
        // SAFETY: the call takes a number, and accesses no memory of this process.
        let processors = unsafe { libc::sysconf(libc::_SC_NPROCESSORS_CONF) }.max(1);
        let samples = attributes.config == CPU_CLOCK;
        let attributes = Attributes {
            kind: SOFTWARE,
            size: size_of::<Attributes>() as u32,
            frequency: if samples { FREQUENCY } else { 0 },
            flags: INHERIT
                | EXCLUDE_KERNEL
                | EXCLUDE_HV
                | WITH_EXEC
                | WITH_TASKS
                | if samples { BY_FREQUENCY } else { 0 }
                | attributes.flags,
            ..*attributes
        };
        let mut all = Vec::new();
        let mut failure = None;
        // The number of pages of samples is a power of two.
        let pages = (BUFFERS / page() / processors as usize).max(4);
        let pages = 1 << pages.ilog2();
        let pages =
            if pages * processors as usize + processors as usize > BUFFERS / page() { pages / 2 } else { pages };
        let mut most = 0;
        for processor in 0..processors {
            let mut files: Vec<OwnedFd> = Vec::new();
            let mut buffer = None;
            for thread in threads {
                // SAFETY: the call reads the attributes, a local with the size that they state.
                let file = unsafe {
                    libc::syscall(
                        libc::SYS_perf_event_open,
                        &raw const attributes,
                        *thread,
                        processor,
                        -1,
                        CLOSE_ON_EXEC,
                    )
                };
                if file < 0 {
                    failure = Some(std::io::Error::last_os_error());
                    continue;
                }
                // SAFETY: the call succeeded, so the number is a new file without another owner.
                let file = unsafe { OwnedFd::from_raw_fd(file as i32) };
                // The first one has the buffer, which the others need before they can write to it.
                let has_output = match files.first() {
                    // SAFETY: the call takes two open files, and accesses no memory of this process.
                    Some(first) => (unsafe { libc::ioctl(file.as_raw_fd(), SET_OUTPUT as _, first.as_raw_fd()) }) == 0,
                    None => match memmap2::MmapOptions::new().len((1 + pages) * page()).map_raw(file.as_raw_fd()) {
                        Ok(of_first) => buffer.insert(of_first).len() > 0,
                        Err(error) => {
                            failure = Some(error);
                            false
                        }
                    },
                };
                if has_output {
                    files.push(file);
                }
            }
            most = most.max(files.len());
            let has_callers = attributes.sample_type & SAMPLE_CALLCHAIN != 0;
            all.extend(buffer.map(|buffer| Event { _files: files, buffer, has_callers }));
        }
        match failure {
            Some(error) if all.is_empty() => {
                Err(format!("the kernel allows no samples ({error}); set kernel.perf_event_paranoid to 2 or less"))
            }
            _ => Ok((Self(all), most)),
        }
    }

    /// Calls `found` with what each new record tells of the process.
    pub(crate) fn read(&self, pid: i32, found: &mut dyn FnMut(Seen<'_>)) {
        for event in &self.0 {
            event.read(pid, found);
        }
    }
}

impl Event {
    #[expect(clippy::cast_ptr_alignment, reason = "a mapping is aligned to a page")]
    fn position(&self, at: usize) -> &AtomicU64 {
        // SAFETY: the buffer's first page has this offset.
        let word = unsafe { self.buffer.as_ptr().add(at) };
        // SAFETY: the kernel and this process access the aligned word atomically. The mapping lives as long as `self`.
        unsafe { &*word.cast::<AtomicU64>() }
    }

    /// Copies bytes from the ring.
    fn copy(&self, from: u64, into: &mut [u8]) {
        let size = self.buffer.len() - page();
        for (at, byte) in (from..).zip(into) {
            let offset = page() + at as usize % size;
            // SAFETY: `offset` is within the mapping.
            let there = unsafe { self.buffer.as_ptr().add(offset) };
            // SAFETY: the byte is mapped, and the kernel does not write between the tail and the head.
            *byte = unsafe { there.read_volatile() };
        }
    }

    fn read(&self, pid: i32, found: &mut dyn FnMut(Seen<'_>)) {
        let head = self.position(HEAD).load(Ordering::Acquire);
        let mut tail = self.position(TAIL).load(Ordering::Relaxed);
        let mut record = Vec::new();
        while tail + 8 <= head {
            let mut header = [0; 8];
            self.copy(tail, &mut header);
            // The kind in four bytes, flags in two, the size in two.
            let header = u64::from_le_bytes(header);
            let size = header >> 48;
            if size < 8 || tail + size > head {
                break;
            }
            let kind = header as u32;
            if [RECORD_SAMPLE, RECORD_FORK, RECORD_COMM].contains(&kind) {
                record.resize(size as usize - 8, 0);
                self.copy(tail + 8, &mut record);
                let (words, _) = record.as_chunks::<8>();
                let words: Vec<u64> = words.iter().map(|word| u64::from_le_bytes(*word)).collect();
                // Both begin with the number of a process; a fork has that of its parent in the upper half.
                let first = words.first().copied().unwrap_or(0);
                if kind == RECORD_FORK && (first >> 32) as u32 == pid as u32 && first as u32 != pid as u32 {
                    found(Seen::Started(first as u32));
                }
                if kind == RECORD_COMM && first as u32 == pid as u32 && (header >> 32) & IS_EXEC != 0 {
                    found(Seen::Executed);
                }
                // The instruction, the process and thread, the size of the stack, its bytes, and how many are valid.
                if let [address, task, rest @ ..] = &words[..]
                    && kind == RECORD_SAMPLE
                    && *task as u32 == pid as u32
                {
                    if self.has_callers {
                        callers(*address, rest, found);
                        tail += size;
                        continue;
                    }
                    let (size, stack) = rest.split_first().unwrap_or((&0, &[]));
                    let len = (*size as usize / 8).min(stack.len());
                    let valid = stack.get(len).map_or(0, |bytes| *bytes as usize / 8);
                    found(Seen::At(*address, &stack[..len.min(valid)]));
                }
            }
            tail += size;
        }
        self.position(TAIL).store(tail, Ordering::Release);
    }
}

/// Reads the part of a sample after the process: the number of callers and these, the kind of the registers and the stack
/// pointer, and the stack as in other samples.
fn callers(address: u64, rest: &[u64], found: &mut dyn FnMut(Seen<'_>)) {
    let Some((len, rest)) = rest.split_first() else { return };
    let Some((chain, rest)) = rest.split_at_checked(usize::try_from(*len).unwrap_or(usize::MAX)) else { return };
    // A thread of the kernel has no registers.
    let [kind, stack_pointer, size, stack @ ..] = rest else { return };
    if *kind == 0 {
        return;
    }
    let len = (*size as usize / 8).min(stack.len());
    let valid = stack.get(len).map_or(0, |bytes| *bytes as usize / 8);
    found(Seen::Called { address, chain, stack_pointer: *stack_pointer, stack: &stack[..len.min(valid)] });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_with_callers_are_read() {
        let record = [2, 0x1500, 0x1600, 2, 0x7000, 24, 7, 8, 9, 16];
        let mut all = Vec::new();
        let mut found = |seen: Seen<'_>| {
            if let Seen::Called { address, chain, stack_pointer, stack } = seen {
                all.push((address, chain.to_vec(), stack_pointer, stack.to_vec()));
            }
        };
        callers(0x1500, &record, &mut found);
        for len in 0..record.len() - 1 {
            callers(0x1500, &record[..len], &mut |_| {});
        }
        assert_eq!(all, [(0x1500, vec![0x1500, 0x1600], 0x7000, vec![7, 8])]);
    }
}
