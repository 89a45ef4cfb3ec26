//! A simulation whose event queue holds closures: `SmallBox<dyn CallOnce>` for `Box<dyn FnOnce>`.
//!
//! Each event schedules others. A closure of up to two words is stored inline in the queue, so that most events do not
//! allocate.
//!
//! ```text
//! cargo run --release --example event_queue
//! ```

use dwell::small::CallOnce;
use dwell::{SmallBox, small_box};
use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

/// The code of an event, which may schedule more. `CallOnce` is `FnOnce` for a box that calls without allocating.
type Action = SmallBox<dyn for<'a> CallOnce<(&'a mut Simulation,), Output = ()>>;

struct Event {
    at: u64, // milliseconds since the start
    number: u64,
    action: Action,
}

// Orders events by time, then by the order of scheduling.
impl Ord for Event {
    fn cmp(&self, other: &Self) -> Ordering {
        (self.at, self.number).cmp(&(other.at, other.number))
    }
}

impl PartialOrd for Event {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Event {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Event {}

#[derive(Default)]
struct Simulation {
    now: u64,
    queue: BinaryHeap<Reverse<Event>>,
    scheduled: u64,
    inline: u64,
    served: u64,
    waited: u64,
    free_desks: u32,
    waiting: std::collections::VecDeque<u64>,
}

impl Simulation {
    fn after(&mut self, delay: u64, action: Action) {
        self.inline += u64::from(action.is_inline());
        self.scheduled += 1;
        self.queue.push(Reverse(Event { at: self.now + delay, number: self.scheduled, action }));
    }

    fn run(&mut self) {
        while let Some(Reverse(event)) = self.queue.pop() {
            self.now = event.at;
            event.action.call_once((self,));
        }
    }
}

/// A customer arrives, and schedules the arrival of the next.
fn arrive(simulation: &mut Simulation, left: u32, mut random: u64) {
    simulation.waiting.push_back(simulation.now);
    serve(simulation);
    if left != 0 {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        // `left` and `random` take two words, so the closure is stored inline.
        simulation
            .after(random % 100, small_box!(move |simulation: &mut Simulation| arrive(simulation, left - 1, random)));
    }
}

/// The first waiting customer goes to a free desk, if one is free.
fn serve(simulation: &mut Simulation) {
    if simulation.free_desks == 0 {
        return;
    }
    let Some(came) = simulation.waiting.pop_front() else { return };
    simulation.free_desks -= 1;
    simulation.waited += simulation.now - came;
    simulation.after(
        90 + came % 50,
        small_box!(|simulation: &mut Simulation| {
            simulation.free_desks += 1;
            simulation.served += 1;
            serve(simulation);
        }),
    );
}

fn main() {
    let mut simulation = Simulation { free_desks: 3, ..Simulation::default() };
    arrive(&mut simulation, 100_000, 0x9E37_79B9_7F4A_7C15);
    simulation.run();
    assert_eq!(simulation.served, 100_001);
    println!(
        "{} served in {} s, {} ms of waiting each; {} of {} events were stored inline",
        simulation.served,
        simulation.now / 1000,
        simulation.waited / simulation.served,
        simulation.inline,
        simulation.scheduled
    );
    assert_eq!(simulation.inline, simulation.scheduled);
}
