//! Handles signals that this process receives while the program runs.

#![expect(
    clippy::cast_sign_loss,
    clippy::cast_possible_truncation,
    reason = "numbers of signals are small and positive"
)]

use super::message::Message;
use anyhow::{Context, Result};
use std::fs::File;
use std::io::Read;
use std::os::fd::{FromRawFd, IntoRawFd, OwnedFd};
use std::sync::atomic::{AtomicI32, Ordering};
use std::sync::mpsc::Sender;
use std::thread;
use std::time::{Duration, Instant};

/// The process id of the program; 0 if it does not run.
pub(crate) static PROGRAM: AtomicI32 = AtomicI32::new(0);
/// The pipe that the handler writes to.
static PIPE: AtomicI32 = AtomicI32::new(-1);

const HANDLED: [i32; 5] = [libc::SIGINT, libc::SIGTERM, libc::SIGHUP, libc::SIGQUIT, libc::SIGUSR1];

extern "C" fn handle(signal: i32, info: *const libc::siginfo_t, _: *mut libc::c_void) {
    // SAFETY: the kernel passes a valid `siginfo_t` to a handler that was set with SA_SIGINFO.
    let code = unsafe { (*info).si_code };
    // A signal from a terminal reaches the program too; its sender is the kernel.
    let bytes = [signal as u8, u8::from(code <= 0)];
    let pipe = PIPE.load(Ordering::Relaxed);
    // SAFETY: `write` is async-signal-safe and reads two bytes of a local.
    unsafe { libc::write(pipe, bytes.as_ptr().cast(), bytes.len()) };
}

/// Sends a message for each signal.
pub(crate) fn listen(sender: Sender<Message>) -> Result<()> {
    let mut pair = [0; 2];
    // SAFETY: the call writes two numbers to an array of two.
    if unsafe { libc::pipe2(pair.as_mut_ptr(), libc::O_CLOEXEC) } != 0 {
        return Err(std::io::Error::last_os_error()).context("signals cannot be handled");
    }
    // SAFETY: the call succeeded, so each number is a new file without another owner.
    let [read, write] = pair.map(|file| unsafe { OwnedFd::from_raw_fd(file) });
    PIPE.store(write.into_raw_fd(), Ordering::Relaxed);
    for signal in HANDLED {
        // SAFETY: zero is valid for each field: no flags, an empty mask, the default handler.
        let mut action: libc::sigaction = unsafe { std::mem::zeroed() };
        // SAFETY: the call changes no action, and writes the current one to a local.
        unsafe { libc::sigaction(signal, std::ptr::null(), &raw mut action) };
        if action.sa_sigaction == libc::SIG_IGN {
            // The signal is ignored, as under nohup. The program inherits that.
            continue;
        }
        action.sa_sigaction = handle as *const () as usize;
        action.sa_flags = libc::SA_SIGINFO | libc::SA_RESTART;
        // SAFETY: the handler has the type that SA_SIGINFO requires, and calls only async-signal-safe functions.
        unsafe { libc::sigaction(signal, &raw const action, std::ptr::null_mut()) };
    }
    thread::spawn(move || {
        let mut file = File::from(read);
        let mut bytes = [0; 2];
        let mut ends = Ends::default();
        while file.read_exact(&mut bytes).is_ok() {
            let signal = i32::from(bytes[0]);
            let is_over = sender.send(Message::Signal(signal, bytes[1] != 0)).is_err();
            // Of the others, a program may read its configuration again by SIGHUP.
            if is_over && signal == libc::SIGHUP || matches!(signal, libc::SIGINT | libc::SIGTERM | libc::SIGQUIT) {
                ends.signal(signal, is_over);
            }
        }
    });
    Ok(())
}

/// The signals that end a process.
#[derive(Default)]
struct Ends {
    count: u32,
}

impl Ends {
    /// The first one is for the program. The second one kills it, and ends this process unless that reports at once. Once the
    /// program has ended, each one ends this process as without a handler.
    fn signal(&mut self, signal: i32, is_over: bool) {
        /// The time in which a killed program is gone.
        const PATIENCE: Duration = Duration::from_secs(2);
        self.count += 1;
        let program = PROGRAM.load(Ordering::Acquire);
        if is_over || self.count > 2 || self.count == 2 && program == 0 {
            end_by(signal);
        } else if self.count == 2 {
            // SAFETY: `kill` takes two numbers and accesses no memory of this process. The child was not waited for yet, or just now.
            unsafe { libc::kill(program, libc::SIGKILL) };
            thread::spawn(move || {
                let until = Instant::now() + PATIENCE;
                while PROGRAM.load(Ordering::Acquire) != 0 {
                    if Instant::now() >= until {
                        end_by(signal);
                    }
                    thread::sleep(Duration::from_millis(10));
                }
            });
        }
    }
}

/// Ends this process by a signal, as without a handler.
fn end_by(signal: i32) {
    // SAFETY: the signal exists, and the default action needs no handler.
    unsafe { libc::signal(signal, libc::SIG_DFL) };
    let own = i32::try_from(std::process::id()).unwrap_or_default();
    // SAFETY: the call takes two numbers, and accesses no memory. The signal may be blocked in this thread only if it is
    // in the whole process.
    unsafe { libc::kill(own, signal) };
}
