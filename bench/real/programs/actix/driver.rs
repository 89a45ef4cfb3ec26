//! Messages to an actor in one thread: many in its mailbox at once, and one after the other with an answer to each.

use actix::prelude::*;

struct Adder(u64);

impl Actor for Adder {
    type Context = Context<Self>;

    fn started(&mut self, context: &mut Self::Context) {
        context.set_mailbox_capacity(usize::MAX);
    }
}

#[derive(Message)]
#[rtype(result = "u64")]
struct Add([u64; 3]);

impl Handler<Add> for Adder {
    type Result = u64;

    fn handle(&mut self, Add(words): Add, _: &mut Self::Context) -> u64 {
        self.0 = self.0.wrapping_mul(31).wrapping_add(words.iter().sum());
        self.0
    }
}

async fn at_once(messages: u64) -> u64 {
    let adder = Adder(0).start();
    for _ in 0..4 {
        for n in 0..messages / 4 {
            adder.do_send(Add([n, n + 1, n + 2]));
        }
        adder.send(Add([0; 3])).await.expect("it lives");
    }
    adder.send(Add([1; 3])).await.expect("it lives")
}

async fn in_turn(messages: u64) -> u64 {
    let adder = Adder(0).start();
    let mut sum = 0_u64;
    for n in 0..messages {
        sum = sum.wrapping_add(adder.send(Add([n, n + 1, n + 2])).await.expect("it lives"));
    }
    sum
}

pub fn workload(name: &str) -> Box<dyn FnMut() -> u64> {
    let system = System::new();
    match name {
        "20,000 messages" => Box::new(move || system.block_on(at_once(20_000))),
        "5,000 in turn" => Box::new(move || system.block_on(in_turn(5_000))),
        _ => panic!("no workload {name}"),
    }
}
