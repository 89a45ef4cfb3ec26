//! Copies of a program that grows, so that there is one if the kernel's OOM killer ends it.
//!
//! The OOM killer also ends the helper, which shares the program's memory, but not the copies. A copy is requested when
//! live bytes have doubled since the last one, or sooner if that much memory is not left: by then, half of what is left may
//! be used, but an eighth of the live bytes is always worth a copy. A copy shares its pages with the program until
//! either writes to them. So it is written to disk while there is little memory left, and the program waits for that
//! while there would be none for both.

use super::limits::{Kills, Limits, Room, resident};
use super::message::Message;
use super::plan::{FLOOR, Plan, wake};
use crate::agent::layout::Event;
use crate::capture::image::{About, Process, Source};
use crate::capture::spill::Store;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::Sender;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// The least growth between two copies, as a part of the live bytes.
const LEAST: u64 = 8;
/// The longest time that the program waits until a copy is on disk.
const MOST_WAITED: Duration = Duration::from_secs(1);
/// The time that repeated copies may take: so much, and this share of the run.
const FREE: Duration = Duration::from_millis(30);
const SHARE: u32 = 20;

/// How much memory is left.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Nearness {
    /// For more than three times the program's.
    Far,
    /// For the program's, and a copy that no longer shares pages with it.
    Soon,
    /// Less.
    Near,
}

impl Nearness {
    fn new(left: u64, resident: u64) -> Self {
        if left < resident {
            Self::Near
        } else if left / 3 < resident {
            Self::Soon
        } else {
            Self::Far
        }
    }

    /// Returns `true` if copies are written to disk.
    pub(super) const fn spills(self) -> bool {
        !matches!(self, Self::Far)
    }

    /// Returns `true` if the program waits for that.
    pub(super) const fn holds(self) -> bool {
        matches!(self, Self::Near)
    }
}

/// Plans the copies of a program.
pub(super) struct Growth {
    pub(super) pid: i32,
    pub(super) plan: Arc<Plan>,
    limits: Limits,
    before: Kills,
    started: Instant,
    /// Live bytes in the last copy.
    last: AtomicU64,
    /// The time that copies have taken, in nanoseconds.
    cost: AtomicU64,
    /// For copies because of growth, and for those of the peak.
    stores: [Mutex<Store>; 2],
    /// The times of the last copies that were to be written to these.
    latest: [AtomicU64; 2],
}

impl Growth {
    pub(super) fn new(pid: i32, plan: Arc<Plan>, cache: Option<&Path>) -> Self {
        let folders = || {
            let usual = [PathBuf::from("/var/tmp"), std::env::temp_dir()];
            cache.map(Path::to_owned).into_iter().chain(usual).collect()
        };
        let limits = Limits::new(Path::new("/"), pid);
        let before = limits.kills();
        let (last, cost) = (AtomicU64::new(0), AtomicU64::new(0));
        let stores = [(); 2].map(|()| Mutex::new(Store::new(folders())));
        let latest = [(); 2].map(|()| AtomicU64::new(0));
        Self { pid, plan, limits, before, started: Instant::now(), last, cost, stores, latest }
    }

    /// Returns `true` if only the last copy of this kind of event is kept, and may be on disk.
    pub(super) const fn is_kept(what: u32) -> bool {
        matches!(what, Event::PEAK | Event::GROWN)
    }

    fn room(&self) -> Option<(Room, u64)> {
        Some((self.limits.room()?, resident(self.pid)?))
    }

    pub(super) fn nearness(&self) -> Nearness {
        self.room().map_or(Nearness::Far, |(room, resident)| Nearness::new(room.left, resident))
    }

    /// Returns the live bytes at which the next copy is made, after one of `live` bytes.
    fn after(&self, live: u64) -> u64 {
        next(live, self.room().map(|(room, resident)| (room.left, resident)))
    }

    /// Plans the next copy after one was made.
    pub(super) fn next(&self) {
        let live = self.plan.shared().live.load(Ordering::Relaxed);
        self.last.store(live, Ordering::Relaxed);
        self.plan.shared().grow_at.store(self.after(live), Ordering::Release);
    }

    /// Plans the next copy again, as other memory is in use, or the program has become smaller.
    pub(super) fn replan(&self) {
        let shared = self.plan.shared();
        // The program must not wait for a helper that was killed. A zombie has no memory.
        let helper = shared.helper.load(Ordering::Relaxed).cast_signed();
        if helper != 0 && resident(helper).is_none_or(|bytes| bytes == 0) {
            shared.helper_ended.store(1, Ordering::Release);
        }
        let planned = shared.grow_at.load(Ordering::Acquire);
        // Before the first copy, and while one is made.
        if planned == u64::MAX || planned == FLOOR {
            return;
        }
        let (live, last) = (shared.live.load(Ordering::Relaxed), self.last.load(Ordering::Relaxed));
        let is_cheap = || {
            let limit = FREE + self.started.elapsed() / SHARE;
            Duration::from_nanos(self.cost.load(Ordering::Relaxed)) < limit
        };
        let fell = live < last / 4 && is_cheap();
        if fell {
            self.last.store(live, Ordering::Relaxed);
        }
        let new = self.after(if fell { live } else { last });
        if new < planned {
            // Not if a thread has just requested a copy.
            let _ = shared.grow_at.compare_exchange(planned, new, Ordering::AcqRel, Ordering::Relaxed);
        }
    }

    pub(super) fn add_cost(&self, time: Duration) {
        self.cost.fetch_add(u64::try_from(time.as_nanos()).unwrap_or(u64::MAX), Ordering::Relaxed);
    }

    /// Lets the program continue after a copy.
    pub(super) fn release(&self) {
        let busy = &self.plan.shared().busy;
        busy.store(0, Ordering::Release);
        wake(busy);
    }

    /// Waits until a copy is on disk, for a limited time.
    pub(super) fn wait_for_release(&self) {
        const STEP: Duration = Duration::from_micros(500);
        let start = Instant::now();
        while self.plan.shared().busy.load(Ordering::Acquire) != 0 && start.elapsed() < MOST_WAITED {
            thread::sleep(STEP);
        }
    }

    /// Writes a copy to disk in a thread of its own, instead of an earlier one that is not complete yet.
    pub(super) fn spill(self: &Arc<Self>, what: u32, process: Arc<Process>, about: About, sender: Sender<Message>) {
        let growth = Arc::clone(self);
        let number = usize::from(what == Event::PEAK);
        self.latest[number].store(about.nanos, Ordering::Release);
        thread::spawn(move || {
            let is_wanted = || growth.latest[number].load(Ordering::Acquire) == about.nanos;
            let spilled = Source::open(process).and_then(|source| {
                // A copy whose writing panicked is lost, but the pages of the file are known.
                let mut store = growth.stores[number].lock().unwrap_or_else(PoisonError::into_inner);
                store.spill(&source, &about, &is_wanted)
            });
            if let Some(spilled) = spilled.transpose() {
                let _ = sender.send(Message::Spilled(what, about.nanos, spilled));
            }
            if is_wanted() {
                growth.release();
            }
        });
    }

    /// Ends what is written to disk. No file changes after this.
    pub(super) fn stop(&self) {
        for (latest, store) in self.latest.iter().zip(&self.stores) {
            latest.store(u64::MAX, Ordering::Release);
            // A thread that writes has the lock, and looks at `latest` before each part.
            drop(store.lock().unwrap_or_else(PoisonError::into_inner));
        }
    }

    /// Returns the limit that was closest, and whether the OOM killer has killed a process since the program's start.
    pub(super) fn killed(&self, last: Option<Room>) -> (Option<Room>, bool) {
        let room = last.map(|last| Room { used: self.limits.most(last), ..last });
        (room, self.limits.kills().since(self.before))
    }

    /// Returns the limit that is closest.
    pub(super) fn limit(&self) -> Option<Room> {
        self.limits.room()
    }
}

/// Returns the live bytes at which the next copy is made. `room` is the memory that is left, and the program's.
fn next(live: u64, room: Option<(u64, u64)>) -> u64 {
    let step = match room {
        // Half of what is left, in live bytes: they take as much of it as they do now.
        Some((left, resident)) => {
            let part = u128::from(live) * u128::from(left) / (2 * u128::from(resident.max(1)));
            u64::try_from(part).unwrap_or(live).clamp(live / LEAST, live)
        }
        None => live,
    };
    (live + step).max(FLOOR)
}

/// Keeps the tool from being killed instead of the program, as far as the system allows it.
pub(super) struct Shield(Option<String>);

impl Shield {
    const FILE: &str = "/proc/self/oom_score_adj";

    /// To be called after the program was started, which would inherit it.
    pub(super) fn new() -> Self {
        let before = std::fs::read_to_string(Self::FILE).ok();
        Self(before.filter(|_| std::fs::write(Self::FILE, "-1000").is_ok()))
    }
}

impl Drop for Shield {
    fn drop(&mut self) {
        if let Some(before) = self.0.take() {
            let _ = std::fs::write(Self::FILE, before.trim());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MIB: u64 = 1 << 20;

    #[test]
    fn copies_are_made_at_each_doubling_and_more_often_near_a_limit() {
        assert_eq!(next(100 * MIB, None), 200 * MIB);
        assert_eq!(next(100 * MIB, Some((10_000 * MIB, 130 * MIB))), 200 * MIB);
        // 130 of 230 MiB: half of what is left.
        assert_eq!(next(130 * MIB, Some((100 * MIB, 130 * MIB))), 180 * MIB);
        assert_eq!(next(80 * MIB, Some((5 * MIB, 130 * MIB))), 90 * MIB);
        assert_eq!(next(80 * MIB, Some((0, 130 * MIB))), 90 * MIB);
        assert_eq!(next(1, Some((0, 0))), FLOOR);
    }

    #[test]
    fn a_copy_at_any_limit_has_four_fifths_of_what_is_live() {
        // A block takes 1.3 bytes for each live one.
        for limit in (20 * MIB..2000 * MIB).step_by(7 << 20) {
            let most = limit * 10 / 13;
            let mut copied = FLOOR;
            loop {
                let resident = copied * 13 / 10;
                let at = next(copied, Some((limit - resident, resident)));
                if at > most {
                    break;
                }
                copied = at;
            }
            assert!(copied * 10 >= most * 8, "{copied} of {most}");
        }
    }

    #[test]
    fn copies_go_to_disk_before_memory_is_short() {
        let nearness = |left, resident| Nearness::new(left * MIB, resident * MIB);
        assert_eq!(
            [nearness(1000, 100), nearness(250, 100), nearness(99, 100)],
            [Nearness::Far, Nearness::Soon, Nearness::Near]
        );
        assert!(!Nearness::Far.spills() && Nearness::Soon.spills() && Nearness::Near.spills());
        assert!(!Nearness::Soon.holds() && Nearness::Near.holds());
    }
}
