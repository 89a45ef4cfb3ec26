//! Receives the helper's messages, and stops the program's threads while it is copied.

use super::growth::Growth;
use super::limits::smaps;
use super::message::{Message, Moved};
use super::plan::{Plan, wake};
use crate::agent::layout::Event;
use crate::capture::resident::names;
use crate::capture::stop::Tracer;
use std::fs::File;
use std::io::Read;
use std::os::fd::{AsRawFd, OwnedFd};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::Sender;
use std::time::{Duration, Instant};

/// Forwards the helper's messages until it closes its end. Stops the threads of the program while the helper copies it.
pub(super) fn listen(socket: &OwnedFd, growth: &Growth, sender: &Sender<Message>, over: &AtomicBool) {
    const PATIENCE: i32 = 100;
    /// The time that a copy may take.
    const MOST_HELD: Duration = Duration::from_secs(20);
    let Ok(socket) = socket.try_clone() else { return };
    let mut file = File::from(socket);
    let plan: &Plan = &growth.plan;
    let mut stopped: Option<(Tracer, Instant)> = None;
    loop {
        let mut poll = libc::pollfd { fd: file.as_raw_fd(), events: libc::POLLIN, revents: 0 };
        // SAFETY: the call reads and writes one entry, which is a local.
        let ready = unsafe { libc::poll(&raw mut poll, 1, PATIENCE) };
        if ready <= 0 {
            if over.load(Ordering::Relaxed) {
                return;
            }
            continue;
        }
        let mut bytes = [0; Event::BYTES];
        let Ok(Event::BYTES) = file.read(&mut bytes) else { return };
        let event = Event::from_bytes(bytes);
        if event.what == Event::STOP {
            // The last one ends first.
            drop(stopped.take());
            let since = Instant::now();
            stopped = Tracer::start(growth.pid, MOST_HELD).map(|tracer| (tracer, since));
            // The helper waits for the tool after the copy, too.
            let waits = Growth::is_kept(event.pid.cast_unsigned()) && growth.nearness().holds();
            plan.shared().busy.store(u32::from(waits), Ordering::Release);
            plan.shared().stopped.fetch_add(1, Ordering::Release);
            wake(&plan.shared().stopped);
            continue;
        }
        // Before the threads continue. The agent counts this time as that of the copy.
        let smaps = if event.pid > 0 { smaps(growth.pid) } else { None };
        let names = smaps.as_ref().map(|_| names(growth.pid)).unwrap_or_default();
        let threads = stopped.as_ref().map(|(stopped, _)| stopped.threads.clone()).filter(|_| event.held != 0);
        let spill = event.pid > 0 && Growth::is_kept(event.what) && growth.nearness().spills();
        let moved = Moved { threads: threads.unwrap_or_default(), names, smaps, spill };
        if sender.send(Message::Event(event, moved)).is_err() || event.what == Event::ENDED {
            growth.release();
            return;
        }
        if event.what == Event::GROWN {
            growth.next();
        }
        if spill {
            growth.wait_for_release();
        }
        growth.release();
        if let Some((_, since)) = stopped.take() {
            growth.add_cost(since.elapsed());
        }
    }
}
