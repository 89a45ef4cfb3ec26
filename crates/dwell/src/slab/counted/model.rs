//! The counts of [`PoolArc`](super::PoolArc) in every order that the memory model allows: who drops the value, who frees the cell,
//! and who may change the value.

use super::AtomicCounts;
use super::sealed::Counts;
use loom::cell::UnsafeCell;
use loom::sync::Arc;
use loom::sync::atomic::{AtomicUsize, Ordering};
use loom::thread;

/// A cell of a pool. loom checks the accesses to the value and to the memory of the cell.
struct Cell {
    counts: AtomicCounts,
    value: UnsafeCell<usize>,
    memory: UnsafeCell<usize>,
    dropped: AtomicUsize,
    freed: AtomicUsize,
}

// SAFETY: loom checks the accesses.
unsafe impl Sync for Cell {}
// SAFETY: as above.
unsafe impl Send for Cell {}

impl Cell {
    fn new(counts: AtomicCounts) -> Arc<Self> {
        let [dropped, freed] = [0, 0].map(AtomicUsize::new);
        Arc::new(Self { counts, value: UnsafeCell::new(1), memory: UnsafeCell::new(1), dropped, freed })
    }

    /// Reads the value, as a strong pointer does.
    fn read(&self) -> usize {
        // SAFETY: loom checks that no other thread writes it.
        self.value.with(|value| unsafe { *value })
    }

    /// Writes the value, as the only pointer does, or its drop.
    fn write(&self, new: usize) {
        // SAFETY: loom checks that no other thread accesses it.
        self.value.with_mut(|value| unsafe { *value = new });
    }

    /// Drops a strong pointer, as `Counted::drop` does.
    fn drop_strong(&self) {
        if self.counts.remove_strong() {
            self.write(0);
            self.dropped.fetch_add(1, Ordering::Relaxed);
            self.drop_weak();
        }
    }

    /// Drops a weak pointer, as `Weak::drop` does. The cell goes back to its pool, which writes to it and may give its chunk back.
    fn drop_weak(&self) {
        // SAFETY: loom checks that the memory is not freed.
        self.memory.with(|memory| assert_eq!(unsafe { *memory }, 1));
        if self.counts.remove_weak() {
            // SAFETY: loom checks that no other thread accesses it.
            self.memory.with_mut(|memory| unsafe { *memory = 0 });
            self.write(0);
            self.freed.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// A weak pointer is upgraded, used if there was a strong one, and dropped.
    fn use_weak(&self) {
        if self.counts.upgrade() {
            assert_ne!(self.read(), 0, "a live value");
            self.drop_strong();
        }
        self.drop_weak();
    }

    fn check(&self, dropped: usize) {
        let counts = [&self.dropped, &self.freed].map(|count| count.load(Ordering::Relaxed));
        assert_eq!(counts, [dropped, 1], "dropped and freed once");
    }
}

/// Two strong pointers and a weak one end on three threads.
#[test]
fn the_last_pointer_frees_the_cell() {
    loom::model(|| {
        let cell = Cell::new(AtomicCounts::one());
        cell.counts.add_strong();
        cell.counts.add_weak();
        let others = [Cell::drop_strong, Cell::use_weak].map(|end| {
            let cell = cell.clone();
            thread::spawn(move || end(&cell))
        });
        assert_ne!(cell.read(), 0);
        cell.drop_strong();
        others.into_iter().for_each(|other| other.join().unwrap());
        cell.check(1);
    });
}

/// `get_mut` on one thread, while another makes a weak pointer of its own strong one, and drops both.
#[test]
fn a_value_is_changed_by_its_only_pointer() {
    loom::model(|| {
        let cell = Cell::new(AtomicCounts::one());
        cell.counts.add_strong();
        let other = thread::spawn({
            let cell = cell.clone();
            move || {
                cell.counts.add_weak();
                assert_ne!(cell.read(), 0);
                cell.drop_strong();
                cell.use_weak();
            }
        });
        if cell.counts.is_unique() {
            cell.write(2);
        }
        cell.drop_strong();
        other.join().unwrap();
        cell.check(1);
    });
}

/// `try_unwrap` moves the value out, while a weak pointer is upgraded: only one of them gets it.
#[test]
fn a_value_is_moved_out_or_upgraded() {
    loom::model(|| {
        let cell = Cell::new(AtomicCounts::one());
        cell.counts.add_weak();
        let other = thread::spawn({
            let cell = cell.clone();
            move || cell.use_weak()
        });
        let is_moved = cell.counts.take_only();
        if is_moved {
            cell.write(0);
            cell.drop_weak();
        } else {
            cell.drop_strong();
        }
        other.join().unwrap();
        cell.check(usize::from(!is_moved));
    });
}

/// `new_cyclic`: a weak pointer finds no value before there is one, and a whole one afterwards.
#[test]
fn a_weak_pointer_waits_for_a_cyclic_value() {
    loom::model(|| {
        let cell = Cell::new(AtomicCounts::weak_only());
        // The closure's weak pointer, of which it gives a clone to another thread.
        cell.counts.add_weak();
        let other = thread::spawn({
            let cell = cell.clone();
            move || cell.use_weak()
        });
        cell.write(1);
        cell.counts.restore_only();
        cell.drop_strong();
        other.join().unwrap();
        cell.check(1);
    });
}
