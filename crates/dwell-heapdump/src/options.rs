//! One dump and its bounds.

use crate::dump::{Bounds, Child, Summary, Target};
use crate::error::Error;
use crate::stream::Dump;
use std::ffi::CString;
use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::fd::{AsFd, AsRawFd as _};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The bounds of a dump.
///
/// ```no_run
/// use dwell_heapdump::Options;
/// use std::time::Duration;
///
/// let summary = Options::new().timeout(Duration::from_secs(20)).at_most(4 << 30).write("heap.core")?;
/// println!("{} bytes after a pause of {:?}", summary.bytes, summary.pause);
/// # Ok::<(), dwell_heapdump::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Options {
    pub(crate) bounds: Bounds,
}

impl Default for Options {
    fn default() -> Self {
        Self::new()
    }
}

impl Options {
    /// Returns the bounds that hold if nothing else is said: 120 seconds, and 64 MiB of the disk stay free.
    #[must_use]
    pub const fn new() -> Self {
        let timeout = Duration::from_secs(120);
        Self { bounds: Bounds { timeout, most: u64::MAX, keep_free: 64 << 20, spacing: Duration::ZERO } }
    }

    /// Gives a dump up after this time. As long as it is written, each page that the program writes to for the first time is
    /// copied.
    #[must_use]
    pub const fn timeout(mut self, time: Duration) -> Self {
        self.bounds.timeout = time;
        self
    }

    /// Gives a dump up before its first byte if it would have more bytes.
    #[must_use]
    pub const fn at_most(mut self, bytes: u64) -> Self {
        self.bounds.most = bytes;
        self
    }

    /// Gives a dump up before its first byte if fewer bytes of the disk would stay free.
    #[must_use]
    pub const fn keep_free(mut self, bytes: u64) -> Self {
        self.bounds.keep_free = bytes;
        self
    }

    /// Refuses a dump that is asked for earlier than this time after the beginning of the last one.
    #[must_use]
    pub const fn spacing(mut self, time: Duration) -> Self {
        self.bounds.spacing = time;
        self
    }

    /// Writes a dump to a new file that only this user can read. The file appears when it is complete.
    ///
    /// # Errors
    /// Returns an error if there is such a file already, or if there is no dump. Then there is no file.
    pub fn write(&self, path: impl AsRef<Path>) -> Result<Summary, Error> {
        let path = path.as_ref();
        if fs::symlink_metadata(path).is_ok() {
            return Err(Error::Exists(path.to_owned()));
        }
        let new = New::create(path).map_err(Error::Write)?;
        let target = Target { file: new.file.as_fd(), names: Some(new.names(path)?) };
        Child::start(&target, &self.bounds)?.wait()
    }

    /// Writes a dump to an open file, a pipe or a socket.
    ///
    /// # Errors
    /// Returns an error if the dump is not complete.
    pub fn write_to(&self, file: impl AsFd) -> Result<Summary, Error> {
        Child::start(&Target { file: file.as_fd(), names: None }, &self.bounds)?.wait()
    }

    /// Starts a dump whose bytes are read from the returned value.
    ///
    /// # Errors
    /// Returns an error if the process cannot be copied.
    pub fn stream(&self) -> Result<Dump, Error> {
        let (reader, writer) = io::pipe().map_err(Error::Write)?;
        // With less the child only waits more often.
        crate::sys::enlarge_pipe(writer.as_raw_fd());
        let child = Child::start(&Target { file: writer.as_fd(), names: None }, &self.bounds)?;
        Ok(Dump::new(reader, child))
    }
}

/// Returns an error if no dump can be written to a folder.
pub(crate) fn expect_folder(folder: &Path) -> Result<(), Error> {
    New::create(&folder.join("dwell-heapdump")).map(drop).map_err(|error| Error::Folder(folder.to_owned(), error))
}

/// A file without a name, or, where the file system does not have that, with one that is removed.
struct New {
    file: File,
    name: Option<PathBuf>,
}

impl New {
    fn create(path: &Path) -> io::Result<Self> {
        let folder = path.parent().filter(|folder| *folder != Path::new("")).unwrap_or(Path::new("."));
        let mut options = OpenOptions::new();
        options.write(true).mode(0o600);
        if let Ok(file) = options.clone().custom_flags(libc::O_TMPFILE).open(folder) {
            return Ok(Self { file, name: None });
        }
        let name = path.file_name().ok_or(io::ErrorKind::InvalidFilename)?;
        let mut partial = name.to_owned();
        partial.push(".partial");
        let partial = folder.join(partial);
        let file = options.create_new(true).open(&partial)?;
        Ok(Self { file, name: Some(partial) })
    }

    fn names(&self, path: &Path) -> Result<(CString, CString, bool), Error> {
        let text = |path: &Path| CString::new(path.as_os_str().as_bytes()).map_err(|error| Error::Write(error.into()));
        let own = self.name.clone().unwrap_or_else(|| format!("/proc/self/fd/{}", self.file.as_raw_fd()).into());
        Ok((text(path)?, text(&own)?, self.name.is_some()))
    }
}

impl Drop for New {
    fn drop(&mut self) {
        if let Some(name) = &self.name {
            // The child has removed it if the dump is complete.
            let _ = fs::remove_file(name);
        }
    }
}
