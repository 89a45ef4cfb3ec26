//! A limit order book: orders in a slab, in a linked list for each price, with keys of four bytes.
//!
//! Orders are created and removed all the time, and their addresses must not change. `slab!` defines a slab for each
//! thread; an order takes one slot of it and no allocation.
//!
//! ```text
//! cargo run --release --example order_book
//! ```

use dwell::slab::Key;
use std::collections::BTreeMap;

struct Order {
    quantity: u64,
    /// The next, later order of the same price.
    next: Option<Key>,
}

dwell::slab! {
    /// The orders of this thread.
    mod orders: Order;
}

/// The orders of one price, a queue: the front is served first, new orders go to the back.
struct Level {
    front: Key,
    back: Key,
}

#[derive(Default)]
struct Asks {
    levels: BTreeMap<u64, Level>, // by price in cents, the best first
}

impl Asks {
    fn offer(&mut self, price: u64, quantity: u64) {
        // Leaks the order into the slab. The key owns nothing, and gives access to the order.
        let key = orders::insert(Order { quantity, next: None }).leak();
        match self.levels.get_mut(&price) {
            None => {
                self.levels.insert(price, Level { front: key, back: key });
            }
            Some(level) => {
                orders::with(level.back, |back| back.next = Some(key)).expect("the book holds keys of live orders");
                level.back = key;
            }
        }
    }

    /// Buys up to `wanted` at a price of up to `limit` each. Returns the quantity and its cost.
    fn buy(&mut self, mut wanted: u64, limit: u64) -> (u64, u64) {
        let (mut bought, mut cost) = (0, 0);
        while wanted != 0
            && let Some(mut level) = self.levels.first_entry()
            && *level.key() <= limit
        {
            let price = *level.key();
            let front = level.get().front;
            let (taken, empty, next) = orders::with(front, |order| {
                let taken = order.quantity.min(wanted);
                order.quantity -= taken;
                (taken, order.quantity == 0, order.next)
            })
            .expect("the book holds keys of live orders");
            bought += taken;
            cost += taken * price;
            wanted -= taken;
            if empty {
                drop(orders::reclaim(front)); // the slot is free for the next order
                match next {
                    Some(next) => level.get_mut().front = next,
                    None => drop(level.remove()),
                }
            }
        }
        (bought, cost)
    }
}

fn main() {
    let mut asks = Asks::default();
    let mut random = 0x2545_F491_4F6C_DD1D_u64;
    let (mut offered, mut bought, mut cost) = (0, 0, 0);
    for _ in 0..1_000_000 {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        let quantity = 1 + random % 50;
        if random % 5 < 3 {
            asks.offer(10_000 + (random >> 20) % 64, quantity);
            offered += quantity;
        } else {
            let (quantity, paid) = asks.buy(quantity * 3 / 2, 10_032);
            bought += quantity;
            cost += paid;
        }
    }
    println!(
        "{offered} offered, {bought} bought at {:.2} on average; {} orders stand at {} prices",
        cost as f64 / bought as f64 / 100.0,
        orders::len(),
        asks.levels.len()
    );
    let (rest, _) = asks.buy(u64::MAX, u64::MAX);
    assert_eq!((bought + rest, orders::len()), (offered, 0));
}
