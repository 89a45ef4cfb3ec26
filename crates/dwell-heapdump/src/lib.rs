#![doc = include_str!("../README.md")]
#![cfg(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")))]

mod arch;
mod buffer;
mod child;
mod dump;
mod elf;
mod error;
mod limit;
mod maps;
mod options;
mod pages;
mod stream;
mod sys;
mod threads;
mod watch;

pub use dump::Summary;
pub use error::Error;
#[doc(no_inline)]
pub use libc::SIGUSR2;
pub use options::Options;
#[cfg(feature = "stream")]
pub use stream::Chunks;
pub use stream::Dump;
pub use watch::{Folder, Outcome, Watch, above_rss, every, near_limit, on_signal, request};

use std::os::fd::AsFd;
use std::path::Path;

/// Writes a dump to a new file that only this user can read. The file appears when it is complete.
///
/// # Errors
/// Returns an error if there is such a file already, or if there is no dump. Then there is no file.
///
/// ```no_run
/// let summary = dwell_heapdump::write("heap.core")?;
/// # Ok::<(), dwell_heapdump::Error>(())
/// ```
pub fn write(path: impl AsRef<Path>) -> Result<Summary, Error> {
    Options::new().write(path)
}

/// Writes a dump to an open file, a pipe or a socket, such as the standard input of a program that compresses or encrypts.
///
/// # Errors
/// Returns an error if the dump is not complete.
pub fn write_to(file: impl AsFd) -> Result<Summary, Error> {
    Options::new().write_to(file)
}

/// Starts a dump whose bytes are read from the returned value, for example by a handler of HTTP requests.
///
/// # Errors
/// Returns an error if the process cannot be copied.
pub fn stream() -> Result<Dump, Error> {
    Options::new().stream()
}

/// Returns how many bytes a dump would have now at most, without starting one.
///
/// # Errors
/// Returns an error if `/proc/self` cannot be read.
pub fn size() -> Result<u64, Error> {
    dump::size()
}
