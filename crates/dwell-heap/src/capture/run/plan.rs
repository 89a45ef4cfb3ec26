//! What the tool and the program share: a page, a socket, and the end of the program.

#![expect(clippy::cast_possible_truncation, reason = "sizes and statuses are far from the bounds of their types")]

use super::{At, Options, Records};
use crate::agent::layout::{self, Shared, Status};
use crate::agent::loadable::Target;
use anyhow::{Context, Result};
use std::fs::File;
use std::io::Write;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::sync::atomic::{AtomicU32, Ordering};

/// The live bytes of the first copy because of growth.
pub(super) const FLOOR: u64 = 4 << 20;

/// The file for the agent: a shared page, then the patches.
pub(super) struct Plan {
    pub(super) file: File,
    page: memmap2::MmapMut,
}

impl Plan {
    pub(super) fn new(target: &Target, options: &Options, patches: &[u8]) -> Result<Self> {
        // SAFETY: the name is a NUL-terminated string, which the call only reads.
        let file =
            unsafe { libc::memfd_create(c"cargo-dwell-census".as_ptr(), libc::MFD_CLOEXEC | libc::MFD_ALLOW_SEALING) };
        if file < 0 {
            return Err(std::io::Error::last_os_error()).context("cannot create the memory shared with the program");
        }
        // SAFETY: the call succeeded, so the number is a new file without another owner.
        let mut file = unsafe { File::from_raw_fd(file) };
        let filled = file.write_all(&[0; layout::SHARED_BYTES]).and_then(|()| file.write_all(patches));
        filled.context("cannot create the memory shared with the program")?;
        // SAFETY: the call takes an open file and flags, and accesses no memory of this process.
        let sealed =
            unsafe { libc::fcntl(file.as_raw_fd(), libc::F_ADD_SEALS, libc::F_SEAL_SHRINK | libc::F_SEAL_GROW) };
        if sealed != 0 {
            return Err(std::io::Error::last_os_error()).context("cannot create the memory shared with the program");
        }
        // SAFETY: the seals keep the file from being truncated. The program writes to the page at the same time, but
        // both processes access it only through atomics, see `shared`.
        let page = unsafe { memmap2::MmapOptions::new().len(layout::SHARED_BYTES).map_mut(&file) };
        let plan = Self { page: page.context("cannot create the memory shared with the program")?, file };
        let shared = plan.shared();
        shared.entry.store(target.entry, Ordering::Relaxed);
        shared.device.store(target.device, Ordering::Relaxed);
        shared.inode.store(target.inode, Ordering::Relaxed);
        shared.wants_peak.store(u32::from(options.at.contains(&At::Peak)), Ordering::Relaxed);
        shared.patch_bytes.store(patches.len() as u32, Ordering::Relaxed);
        shared.sample.store(options.sample.unwrap_or(0), Ordering::Relaxed);
        let mode = match options.records {
            Records::Blocks => layout::Mode::Blocks,
            Records::Counts => layout::Mode::Counts,
            Records::Both => layout::Mode::Both,
        };
        shared.mode.store(mode as u32, Ordering::Relaxed);
        let grow_at = if options.records == Records::Counts { u64::MAX } else { FLOOR };
        shared.grow_at.store(grow_at, Ordering::Relaxed);
        shared.magic.store(layout::MAGIC, Ordering::Release);
        Ok(plan)
    }

    #[expect(clippy::cast_ptr_alignment, reason = "a mapping is aligned to a page")]
    pub(super) fn shared(&self) -> &Shared {
        // SAFETY: the mapping is one aligned page, and a `Shared` fits in a page. It consists of atomic integers, for
        // which every bit pattern is valid and which the program may write at any time.
        unsafe { &*self.page.as_ptr().cast::<Shared>() }
    }

    pub(super) fn status(&self) -> Status {
        let status = self.shared().status.load(Ordering::Acquire);
        Status::ALL.into_iter().find(|known| *known as u32 == status).unwrap_or(Status::Absent)
    }

    /// Wakes the helper.
    pub(super) fn ring(&self) {
        let bell = &self.shared().doorbell;
        bell.fetch_add(1, Ordering::Release);
        wake(bell);
    }
}

/// Wakes the processes that wait for a word.
pub(super) fn wake(word: &AtomicU32) {
    // SAFETY: the call does not access the word; it uses the address only to find the waiting threads.
    unsafe { libc::syscall(libc::SYS_futex, word.as_ptr(), libc::FUTEX_WAKE, i32::MAX) };
}

/// Returns two connected sockets that preserve message boundaries.
pub(super) fn sockets() -> Result<(OwnedFd, OwnedFd)> {
    let mut pair = [0; 2];
    // SAFETY: the call writes two numbers to an array of two.
    let error =
        unsafe { libc::socketpair(libc::AF_UNIX, libc::SOCK_SEQPACKET | libc::SOCK_CLOEXEC, 0, pair.as_mut_ptr()) };
    if error != 0 {
        return Err(std::io::Error::last_os_error()).context("no socket to the program can be made");
    }
    // SAFETY: the call succeeded, so each number is a new file without another owner.
    Ok(pair.map(|file| unsafe { OwnedFd::from_raw_fd(file) }).into())
}

/// The end of a child, which can be waited for without reaping it.
pub(super) struct EndOf(OwnedFd);

impl EndOf {
    /// Returns `None` if the kernel is older than 5.3.
    pub(super) fn new(pid: i32) -> Option<Self> {
        // SAFETY: the call takes two numbers. The child was not waited for, so the number is its own.
        let file = unsafe { libc::syscall(libc::SYS_pidfd_open, pid, 0) };
        // SAFETY: the call succeeded, so the number is a new file without another owner.
        i32::try_from(file).ok().filter(|file| *file >= 0).map(|file| Self(unsafe { OwnedFd::from_raw_fd(file) }))
    }

    pub(super) fn wait(&self) {
        let mut poll = libc::pollfd { fd: self.0.as_raw_fd(), events: libc::POLLIN, revents: 0 };
        // SAFETY: the call reads and writes one entry, which is a local.
        while unsafe { libc::poll(&raw mut poll, 1, -1) } < 0
            && std::io::Error::last_os_error().kind() == std::io::ErrorKind::Interrupted
        {}
    }
}
