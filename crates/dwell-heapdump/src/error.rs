//! Why there is no dump.

use std::fmt;
use std::io;
use std::path::PathBuf;

/// Why there is no dump. The text is one line.
#[derive(Debug)]
#[non_exhaustive]
pub enum Error {
    /// This system or processor is not supported.
    Unsupported,
    /// Another dump of this process is being written.
    Busy,
    /// The kernel does not copy the process: too many processes, too little memory to commit, or a filter that forbids it.
    Copy(io::Error),
    /// `/proc` does not tell what is needed.
    Proc(io::Error),
    /// The children of this process are made in another pid namespace, of which the child would be the first process.
    Namespace,
    /// The dump cannot be written.
    Write(io::Error),
    /// No file can be made in the folder.
    Folder(PathBuf, io::Error),
    /// There is a file of this name already.
    Exists(PathBuf),
    /// The dump does not fit on the disk: its bytes, and those that may be used.
    Disk {
        /// The bytes of the dump, or those that are to stay free.
        needed: u64,
        /// The bytes that are free.
        free: u64,
    },
    /// The dump has more bytes than are allowed.
    Size {
        /// The bytes of the dump.
        needed: u64,
        /// The bytes that are allowed.
        most: u64,
    },
    /// The dump took longer than is allowed.
    Timeout,
    /// Too little memory was left while the dump was written.
    Memory,
    /// The child was killed by this signal.
    Killed(i32),
    /// The folder has as many dumps as are allowed.
    Full(PathBuf, usize),
    /// The last dump was too short a time ago.
    Spacing,
    /// The signal has a handler already, or cannot have one.
    Signal(i32),
    /// No limit of memory is known here.
    NoLimit,
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mib = |bytes: &u64| bytes.div_ceil(1 << 20);
        match self {
            Self::Unsupported => write!(f, "heap dumps need Linux on x86-64 or aarch64"),
            Self::Busy => write!(f, "another heap dump of this process is being written"),
            Self::Copy(error) => write!(f, "the process cannot be copied for a heap dump: {}", reason(error)),
            Self::Proc(error) => write!(f, "/proc does not tell what a heap dump needs: {error}"),
            Self::Namespace => write!(
                f,
                "the process cannot be copied for a heap dump: its children are the first of another pid namespace"
            ),
            Self::Write(error) => write!(f, "the heap dump cannot be written: {error}"),
            Self::Folder(path, error) => write!(f, "{}: no heap dump can be written there: {error}", path.display()),
            Self::Exists(path) => write!(f, "{} exists already; a heap dump replaces no file", path.display()),
            Self::Disk { needed, free } => write!(
                f,
                "the heap dump does not fit on the disk: {} MiB are needed, and {} MiB are free",
                mib(needed),
                mib(free)
            ),
            Self::Size { needed, most } => {
                write!(f, "the heap dump has {} MiB, and {} MiB are allowed", mib(needed), mib(most))
            }
            Self::Timeout => write!(f, "the heap dump took longer than is allowed"),
            Self::Memory => write!(f, "the heap dump was given up, as too little memory was left"),
            Self::Killed(signal) => write!(f, "the child that wrote the heap dump was killed by signal {signal}"),
            Self::Full(folder, most) => {
                write!(f, "{} has {most} heap dumps already; remove one to get another", folder.display())
            }
            Self::Spacing => write!(f, "the last heap dump was too short a time ago"),
            Self::Signal(signal) => write!(f, "signal {signal} has a handler already, or cannot have one"),
            Self::NoLimit => write!(f, "no limit of memory is known: neither of a control group nor of the machine"),
        }
    }
}

/// Says which limit it is.
fn reason(error: &io::Error) -> String {
    let why = match error.kind() {
        io::ErrorKind::WouldBlock => "; the limit of processes of this user or container is reached",
        io::ErrorKind::OutOfMemory => "; the kernel does not commit memory for a copy (see vm.overcommit_memory)",
        io::ErrorKind::PermissionDenied | io::ErrorKind::Unsupported => "; a seccomp filter forbids `clone`",
        _ => "",
    };
    format!("{error}{why}")
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Copy(error) | Self::Proc(error) | Self::Write(error) | Self::Folder(_, error) => Some(error),
            _ => None,
        }
    }
}

impl From<Error> for io::Error {
    fn from(error: Error) -> Self {
        Self::other(error)
    }
}
