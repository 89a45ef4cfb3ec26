//! Holds a process in a process of its own, so that it continues unharmed whatever happens to this one.
//!
//! Threads that wait in `epoll_wait` are set back to that call after they have stopped ([`Stopped`]). If this process was
//! killed between the two, the program would get `EINTR`. So a child stops the program and lets it continue: when this
//! process is done or gone, or after [`PAUSE`]. It has its own session, so that no terminal stops or ends it.

use super::halt;
use crate::arch::{REGISTERS, Registers};
use crate::capture::Thread;
use crate::capture::stop::{Stopped, Which};
use anyhow::{Context as _, Result, bail};
use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::{AsRawFd as _, FromRawFd as _};
use std::time::Duration;

/// The longest pause. A process whose memory is in the swap takes too long.
pub(super) const PAUSE: Duration = Duration::from_secs(20);
/// The words of a thread: its number, a bit for each known register, the registers, the thread pointer.
const WORDS: usize = REGISTERS + 3;
/// The exit codes of the child: the program was released on request, or too late.
const RELEASED: i32 = 0;
const LATE: i32 = 3;

/// A process that is stopped until this is dropped or released.
#[derive(Debug)]
pub(super) struct Guard {
    pub(super) threads: Vec<Thread>,
    child: i32,
    /// The child waits until the other end of this is closed.
    hold: Option<File>,
    /// The child closes the other end of this when the program continues.
    answer: File,
}

impl Guard {
    /// Stops a process.
    pub(super) fn new(process: i32) -> Result<Self> {
        let (asked, hold) = pipe()?;
        let (answer, report) = pipe()?;
        // SAFETY: the child runs on a copy of this thread's memory. Other threads do not exist there, so it uses nothing that
        // they might have locked: only files of its own, and the heap, which glibc makes usable in a child.
        let child = unsafe { libc::fork() };
        if child < 0 {
            return Err(io::Error::last_os_error()).context("no process can be started to stop the program");
        }
        if child == 0 {
            drop(hold);
            drop(answer);
            let code = serve(process, &asked, report);
            // SAFETY: the call ends this process without running anything else.
            unsafe { libc::_exit(code) };
        }
        drop(asked);
        drop(report);
        let mut guard = Self { threads: Vec::new(), child, hold: Some(hold), answer };
        let bytes = guard.read().context("the process that stops the program does not answer")?;
        guard.threads = match bytes.split_first() {
            Some((b'T', threads)) => parse(threads),
            Some((_, error)) => bail!("{}", String::from_utf8_lossy(error)),
            None => bail!("the process that stopped the program has ended; the program continues"),
        };
        Ok(guard)
    }

    /// Reads what the child says: its length, then the bytes. Nothing if it has ended.
    fn read(&mut self) -> io::Result<Vec<u8>> {
        let mut length = [0; 8];
        let mut bytes = Vec::new();
        if self.answer.read_exact(&mut length).is_ok() {
            (&self.answer).take(u64::from_le_bytes(length)).read_to_end(&mut bytes)?;
        }
        Ok(bytes)
    }

    /// Lets the process continue.
    pub(super) fn release(&mut self) {
        drop(self.hold.take());
        let _ = self.read();
    }

    /// Returns an error if the process was not stopped until it was released.
    pub(super) fn end(mut self, process: i32) -> Result<()> {
        match self.wait() {
            Some(RELEASED) => Ok(()),
            Some(LATE) => bail!(
                "process {process} was stopped for {} s and its memory not yet copied, so it continues: much of it may be in the \
                 swap",
                PAUSE.as_secs()
            ),
            _ => Err(halt::gone(process)),
        }
    }

    /// Waits for the child, once, and returns its exit code.
    fn wait(&mut self) -> Option<i32> {
        drop(self.hold.take());
        let child = std::mem::take(&mut self.child);
        let mut status = 0;
        loop {
            // SAFETY: the call writes to a local. The child was not waited for yet, so the number is still its own.
            let done = unsafe { libc::waitpid(child, &raw mut status, 0) };
            if done == child {
                return libc::WIFEXITED(status).then(|| libc::WEXITSTATUS(status));
            }
            if io::Error::last_os_error().kind() != io::ErrorKind::Interrupted {
                return None;
            }
        }
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        if self.child != 0 {
            self.wait();
        }
    }
}

/// Returns the two ends of a pipe: to read and to write.
fn pipe() -> Result<(File, File)> {
    let mut ends = [0; 2];
    // SAFETY: the call writes two numbers to a local.
    if unsafe { libc::pipe2(ends.as_mut_ptr(), libc::O_CLOEXEC) } != 0 {
        return Err(io::Error::last_os_error()).context("no pipe can be made");
    }
    // SAFETY: the call succeeded, so the number is a new file without another owner.
    let read = unsafe { File::from_raw_fd(ends[0]) };
    // SAFETY: the second number is another new file of the same call, and nothing else owns it.
    Ok((read, unsafe { File::from_raw_fd(ends[1]) }))
}

/// The child: stops a process, reports its threads, and lets it continue when nobody asks for more. Returns an exit code.
fn serve(process: i32, asked: &File, mut report: File) -> i32 {
    // SAFETY: the call takes nothing, and changes only what this process belongs to.
    unsafe { libc::setsid() };
    // SAFETY: the call changes the reaction to a signal, and runs no code of this program.
    unsafe { libc::signal(libc::SIGPIPE, libc::SIG_IGN) };
    // The parent may have been killed since: then another tool may stop the process soon.
    if is_closed(asked, 0) {
        return RELEASED;
    }
    let mut say = |bytes: &[u8]| {
        let _ = report.write_all(&bytes.len().to_le_bytes());
        let _ = report.write_all(bytes);
    };
    let mut stopped = match Stopped::new(process, Which::All) {
        Ok(stopped) => stopped,
        Err(failed) => {
            say(format!("E{:#}", halt::error(process, &failed)).as_bytes());
            return 1;
        }
    };
    let mut bytes = vec![b'T'];
    stopped.threads.iter().for_each(|thread| bytes.extend(words(thread).iter().flat_map(|word| word.to_le_bytes())));
    say(&bytes);
    let longest = i32::try_from(PAUSE.as_millis()).unwrap_or(i32::MAX);
    let is_asked = is_closed(asked, longest);
    stopped.release();
    // The program continues. What is left takes a moment.
    drop(report);
    drop(stopped);
    if is_asked { RELEASED } else { LATE }
}

/// Waits until the other end of a pipe is closed, for so many milliseconds at most. Returns `true` if it is.
fn is_closed(end: &File, millis: i32) -> bool {
    let mut wanted = libc::pollfd { fd: end.as_raw_fd(), events: libc::POLLIN, revents: 0 };
    // SAFETY: the call writes to one local.
    unsafe { libc::poll(&raw mut wanted, 1, millis) == 1 }
}

fn words(thread: &Thread) -> [u64; WORDS] {
    let mut words = [0; WORDS];
    words[0] = u64::from(thread.id.cast_unsigned());
    for (number, register) in thread.registers.iter().enumerate() {
        if let Some(value) = register {
            words[1] |= 1 << number;
            words[2 + number] = *value;
        }
    }
    if let Some(pointer) = thread.pointer {
        words[1] |= 1 << 63;
        words[WORDS - 1] = pointer;
    }
    words
}

fn parse(bytes: &[u8]) -> Vec<Thread> {
    let (all, _) = bytes.as_chunks::<{ 8 * WORDS }>();
    let thread = |bytes: &[u8; 8 * WORDS]| {
        let (words, _) = bytes.as_chunks::<8>();
        let word = |at: usize| words.get(at).map_or(0, |word| u64::from_le_bytes(*word));
        let known = |bit: usize, at: usize| (word(1) >> bit & 1 == 1).then(|| word(at));
        let registers: Registers = std::array::from_fn(|number| known(number, 2 + number));
        #[expect(clippy::cast_possible_truncation, reason = "it was widened")]
        Thread { id: word(0) as i32, registers, pointer: known(63, WORDS - 1) }
    };
    all.iter().map(thread).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arch::UNKNOWN;
    use crate::capture::stop;
    use std::process::Command;

    #[test]
    fn threads_pass_the_pipe() {
        let mut registers: Registers = UNKNOWN;
        registers[7] = Some(u64::MAX);
        registers[REGISTERS - 1] = Some(0);
        let threads = [
            Thread { id: 7, registers, pointer: None },
            Thread { id: i32::MAX, registers: [Some(3); REGISTERS], pointer: Some(9) },
        ];
        let bytes: Vec<u8> = threads.iter().flat_map(|thread| words(thread).map(u64::to_le_bytes).concat()).collect();
        assert_eq!(parse(&bytes), threads);
    }

    #[test]
    fn a_process_is_stopped_and_continues() {
        let mut other = Command::new("sleep").arg("0.4").spawn().expect("it starts");
        let id = other.id().cast_signed();
        std::thread::sleep(Duration::from_millis(50));
        let state = || stop::status(id, id, "State").unwrap_or_default();
        let mut guard = Guard::new(id).expect("it is stopped");
        assert!(state().starts_with('t') && guard.threads.len() == 1, "{} {:?}", state(), guard.threads);
        guard.release();
        assert!(!state().starts_with('t'), "{}", state());
        guard.end(id).expect("in time");
        assert!(other.wait().expect("it ends").success());
    }
}
