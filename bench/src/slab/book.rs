//! A limit order book: each price level is a doubly linked list of orders, first come first served.
//!
//! An event picks an order number. If that order is open it is cancelled, otherwise it is placed. One event in eight is
//! a market order instead, which fills the first order at the best price. About half of the numbers are open at any
//! time.

use fastrand::Rng;

use super::subject::{Books, Order};
use crate::op::{Op, Run};
use crate::sink;

/// The number of order numbers.
const NUMBERS: u32 = 16 * 1024;
/// The number of price levels on each side. A word has a bit for each, which is set if the level has orders.
const LEVELS: u32 = 64;

/// The orders of one price.
#[derive(Clone, Copy)]
struct Level<L> {
    first: L,
    last: L,
}

struct Book<S: Books> {
    /// The slots of the open orders, by order number.
    standing: Vec<Option<S::Slot>>,
    levels: Vec<Level<S::Link>>,
    /// The levels that have orders, for each side. The lowest bit is the best price.
    occupied: [u64; 2],
    storage: S::Storage,
    traded: u64,
}

impl<S: Books> Drop for Book<S> {
    fn drop(&mut self) {
        for slot in self.standing.drain(..).flatten() {
            S::remove(&mut self.storage, slot);
        }
    }
}

impl<S: Books> Book<S> {
    fn new() -> Self {
        Self {
            standing: (0..NUMBERS).map(|_| None).collect(),
            levels: vec![Level { first: S::NIL, last: S::NIL }; 2 * LEVELS as usize],
            occupied: [0; 2],
            storage: S::storage(NUMBERS as usize),
            traded: 0,
        }
    }

    /// Returns the order at a link that is not nil.
    fn order(&mut self, link: S::Link) -> &mut Order<S::Link> {
        // SAFETY: links lead to open orders, since `take` unlinks an order before it removes the slot. The only
        // reference to the order is the returned one, which borrows the book.
        unsafe { S::at(&mut self.storage, link) }
    }

    fn place(&mut self, id: u32, level: u32, quantity: u64) {
        let last = self.levels[level as usize].last;
        let order = Order {
            previous: last,
            next: S::NIL,
            id,
            level,
            quantity,
            account: u64::from(id) % 97,
            time: [self.traded, 0],
            reserved: 0,
        };
        let mut slot = S::insert(&mut self.storage, order);
        let link = S::link(&mut slot);
        self.standing[id as usize] = Some(slot);
        self.levels[level as usize].last = link;
        if last == S::NIL {
            self.levels[level as usize].first = link;
            self.occupied[(level / LEVELS) as usize] |= 1 << (level % LEVELS);
        } else {
            self.order(last).next = link;
        }
    }

    /// Removes an order from its list and from the book.
    fn take(&mut self, id: u32) {
        let Some(mut slot) = self.standing[id as usize].take() else { return };
        let link = S::link(&mut slot);
        let &mut Order { previous, next, level, .. } = self.order(link);
        if previous == S::NIL {
            self.levels[level as usize].first = next;
        } else {
            self.order(previous).next = next;
        }
        if next == S::NIL {
            self.levels[level as usize].last = previous;
        } else {
            self.order(next).previous = previous;
        }
        if previous == S::NIL && next == S::NIL {
            self.occupied[(level / LEVELS) as usize] &= !(1 << (level % LEVELS));
        }
        S::remove(&mut self.storage, slot);
    }

    /// Trades against the best orders of a side.
    fn sweep(&mut self, side: u32, mut quantity: u64) {
        while quantity > 0 && self.occupied[side as usize] != 0 {
            let level = side * LEVELS + self.occupied[side as usize].trailing_zeros();
            let first = self.levels[level as usize].first;
            let order = self.order(first);
            let traded = quantity.min(order.quantity);
            order.quantity -= traded;
            let (id, filled, account) = (order.id, order.quantity == 0, order.account);
            quantity -= traded;
            self.traded = self.traded.wrapping_add(traded * account);
            if filled {
                self.take(id);
            }
        }
    }

    fn event(&mut self, rng: &mut Rng) {
        let random = rng.u32(..);
        let (quantity, side) = (1 + u64::from(random >> 24), random >> 8 & 1);
        if random.is_multiple_of(8) {
            self.sweep(side, quantity);
            return;
        }
        let id = rng.u32(..) % NUMBERS;
        if self.standing[id as usize].is_some() {
            self.take(id);
        } else {
            self.place(id, side * LEVELS + (random >> 16) % LEVELS, quantity);
        }
    }
}

fn book<S: Books>() -> Run {
    let mut book = Book::<S>::new();
    let mut rng = Rng::with_seed(7);
    // Afterwards about half of the numbers are open.
    (0..4 * NUMBERS).for_each(|_| book.event(&mut rng));
    Box::new(move |operations| {
        (0..operations).for_each(|_| book.event(&mut rng));
        sink::word(book.traded);
    })
}

pub(super) fn ops<S: Books>(ops: &mut Vec<Op>) {
    ops.push(Op::new("book", S::NAME, book::<S>));
}

#[cfg(test)]
mod tests {
    use super::{Book, LEVELS, Rng};
    use crate::slab::peers::{by_key::SlabCrate, heap::Heap};
    use crate::slab::subject::{Books, Holds};

    /// Plays events and returns the open orders in list order and the traded quantity.
    fn play<S: Books>() -> (Vec<(u32, u64)>, u64) {
        let mut book = Book::<S>::new();
        let mut rng = Rng::with_seed(1);
        (0..100_000).for_each(|_| book.event(&mut rng));
        let mut orders = Vec::new();
        for level in 0..2 * LEVELS as usize {
            let mut link = book.levels[level].first;
            while link != S::NIL {
                let order = book.order(link);
                orders.push((order.id, order.quantity));
                link = order.next;
            }
        }
        (orders, book.traded)
    }

    #[test]
    fn slab_and_heap_books_agree() {
        fn name<T: 'static, S: Holds<T>>() -> &'static str {
            S::NAME
        }
        let (orders, traded) = play::<SlabCrate>();
        assert!(orders.len() > 1000 && traded > 0, "{} {}", orders.len(), name::<u8, SlabCrate>());
        assert_eq!(play::<Heap<std::alloc::System>>(), (orders, traded));
    }
}
