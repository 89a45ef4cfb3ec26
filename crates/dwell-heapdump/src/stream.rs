//! A dump whose bytes are read while they are written.

use crate::dump::Child;
use crate::error::Error;
use crate::sys;
use std::io::{self, PipeReader, Read};
use std::os::fd::AsRawFd as _;

/// A dump that is being written to a pipe. If it is dropped before its end, the child that writes is killed.
///
/// After the last byte [`read`](Read::read) returns an error if the dump is not complete, so that a response is not ended as
/// if it were.
///
/// ```
/// use std::io::Read as _;
///
/// # if cfg!(miri) { return Ok(()); }
/// let mut dump = dwell_heapdump::stream()?;
/// let mut start = [0; 4];
/// dump.read_exact(&mut start)?;
/// assert_eq!(&start, b"\x7fELF");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Dump {
    /// `None` at the end.
    reader: Option<PipeReader>,
    child: Child,
}

impl std::fmt::Debug for Dump {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Dump").field("bytes", &self.child.total()).finish_non_exhaustive()
    }
}

impl Dump {
    pub(crate) fn new(reader: PipeReader, child: Child) -> Self {
        Self { reader: Some(reader), child }
    }

    /// Returns the number of all bytes. Waits until the first can be read.
    ///
    /// # Errors
    /// Returns an error if the child has failed before.
    pub fn size(&mut self) -> Result<u64, Error> {
        loop {
            if let Some(total) = self.child.total() {
                return Ok(total);
            }
            let Some(reader) = &self.reader else { return self.child.wait().map(|summary| summary.bytes) };
            if sys::wait_to_read(reader.as_raw_fd(), 50) && self.child.total().is_none() {
                return self.child.wait().map(|summary| summary.bytes);
            }
            self.child.check()?;
        }
    }
}

impl Read for Dump {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let Some(reader) = &mut self.reader else { return Ok(0) };
        while !sys::wait_to_read(reader.as_raw_fd(), 50) {
            self.child.check()?;
        }
        let read = reader.read(into)?;
        if read == 0 && !into.is_empty() {
            self.reader = None;
            self.child.wait()?;
        }
        Ok(read)
    }
}

#[cfg(feature = "stream")]
pub use chunks::Chunks;

#[cfg(feature = "stream")]
mod chunks {
    use super::{Dump, Error, Read as _, io};
    use futures_core::Stream;
    use std::pin::Pin;
    use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
    use std::task::{Context, Poll, Waker};
    use std::thread;

    /// A [`Dump`] as a stream of chunks, for any runtime: a thread reads the pipe.
    #[derive(Debug)]
    pub struct Chunks(Arc<Between>);

    #[derive(Debug, Default)]
    struct Between {
        state: Mutex<State>,
        is_taken: Condvar,
    }

    #[derive(Debug, Default)]
    struct State {
        chunk: Option<io::Result<Vec<u8>>>,
        /// The thread reads no more.
        is_over: bool,
        /// The stream was dropped.
        is_left: bool,
        waker: Option<Waker>,
    }

    impl Between {
        fn lock(&self) -> MutexGuard<'_, State> {
            self.state.lock().unwrap_or_else(PoisonError::into_inner)
        }
    }

    impl Dump {
        /// Returns a stream of the bytes, such as `axum::body::Body::from_stream` takes.
        ///
        /// # Errors
        /// Returns an error if no thread can be started.
        pub fn into_stream(mut self) -> Result<Chunks, Error> {
            let between = Arc::new(Between::default());
            let of_thread = Arc::clone(&between);
            let read = move || {
                loop {
                    let mut chunk = vec![0; 1 << 17];
                    let chunk = match self.read(&mut chunk) {
                        Ok(0) => None,
                        Ok(read) => {
                            chunk.truncate(read);
                            Some(Ok(chunk))
                        }
                        Err(error) => Some(Err(error)),
                    };
                    let is_last = !matches!(chunk, Some(Ok(_)));
                    let mut state = of_thread.lock();
                    while state.chunk.is_some() && !state.is_left {
                        state = of_thread.is_taken.wait(state).unwrap_or_else(PoisonError::into_inner);
                    }
                    state.chunk = chunk;
                    state.is_over = is_last;
                    let (waker, is_left) = (state.waker.take(), state.is_left);
                    drop(state);
                    if let Some(waker) = waker {
                        waker.wake();
                    }
                    if is_last || is_left {
                        break;
                    }
                }
            };
            thread::Builder::new().name("heapdump".to_owned()).spawn(read).map_err(Error::Copy)?;
            Ok(Chunks(between))
        }
    }

    impl Stream for Chunks {
        type Item = io::Result<Vec<u8>>;

        fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
            self.poll_chunk(cx)
        }
    }

    impl Chunks {
        /// Returns the next chunk: what [`Stream::poll_next`] does, for a type that is no stream itself, such as a body of hyper.
        pub fn poll_chunk(&self, cx: &mut Context<'_>) -> Poll<Option<io::Result<Vec<u8>>>> {
            let mut state = self.0.lock();
            let chunk = state.chunk.take();
            if chunk.is_none() && !state.is_over {
                state.waker = Some(cx.waker().clone());
                return Poll::Pending;
            }
            self.0.is_taken.notify_one();
            Poll::Ready(chunk)
        }
    }

    impl Drop for Chunks {
        fn drop(&mut self) {
            self.0.lock().is_left = true;
            self.0.is_taken.notify_one();
        }
    }
}
