//! Forty-two shapes of futures. A line `// shape: NAME` precedes each, and `main` prints its size as measured by the
//! program. After an `.await`, `// holds:` lists the values held across it with their types; `_` stands for any type.

#![allow(clippy::large_futures)]

mod changes;
mod poll;

use poll::{Either, Next, Stream, join, next, select, step};
use std::future::Future;
use std::hint::black_box;
use std::pin::{Pin, pin};

type Bytes<const N: usize> = [u8; N];

// 1: nothing held
// shape: plain
async fn plain() {
    step().await; // holds:
}

// 2
// shape: argument
async fn argument(data: Bytes<40>) -> u8 {
    step().await; // holds: data: [u8; 40]
    data[1]
}

// 3: used only before the await, and never borrowed
// shape: argument_used_before
async fn argument_used_before(data: Bytes<40>) -> u8 {
    let first = data[1];
    step().await; // holds: first: u8
    first
}

// 4
// shape: reference
async fn reference(data: &Bytes<40>) -> u8 {
    step().await; // holds: data: &[u8; 40]
    data[1]
}

// 5: dropped at the end of the function
// shape: owned
async fn owned(_text: String) {
    step().await; // holds: _text: String
}

// 6: moved out
// shape: moved_away
async fn moved_away(text: String) -> usize {
    let length = black_box(text).len();
    step().await; // holds: length: usize
    length
}

// 7
// shape: two_awaits
async fn two_awaits() -> u8 {
    let large = black_box([1; 300]);
    step().await; // holds: large: [u8; 300]
    let small = large[3];
    step().await; // holds: small: u8
    small
}

// 8: two blocks that can share their bytes
// shape: blocks_in_turn
async fn blocks_in_turn() -> u8 {
    let first = {
        let one = black_box([1u8; 200]);
        step().await; // holds: one: [u8; 200]
        one[0]
    };
    let two = black_box([2u8; 210]);
    step().await; // holds: first: u8, two: [u8; 210]
    first + two[0]
}

// 9
// shape: in_a_loop
async fn in_a_loop() -> u64 {
    let mut sum = 0u64;
    let mut round = 0u32;
    loop {
        step().await; // holds: sum: u64, round: u32
        sum += u64::from(round);
        round += 1;
        if round == 3 {
            return sum;
        }
    }
}

// 10
// shape: in_a_for
async fn in_a_for() -> u64 {
    let mut sum = 0u64;
    for i in 0..3u64 {
        step().await; // holds: sum: u64, iter: Range<u64>, i: u64
        sum += i;
    }
    sum
}

// 11
// shape: in_a_while
async fn in_a_while(mut stack: Vec<u16>) -> u16 {
    let mut last = 0;
    while let Some(top) = stack.pop() {
        step().await; // holds: stack: Vec<u16>, top: u16
        last = top;
    }
    last
}

// 12
// shape: match_arms
async fn match_arms(which: u8) -> u8 {
    match which {
        0 => {
            let a = black_box([1u8; 64]);
            step().await; // holds: a: [u8; 64]
            a[0]
        }
        1 => {
            let b = black_box([1u16; 64]);
            step().await; // holds: b: [u16; 64]
            b[0] as u8
        }
        _ => {
            step().await; // holds:
            3
        }
    }
}

// 13
// shape: if_else
async fn if_else(yes: bool) -> u8 {
    if yes {
        let boxed = Box::new(7u8);
        step().await; // holds: boxed: Box<u8>
        *boxed
    } else {
        let plain = 3u8;
        step().await; // holds: plain: u8
        plain
    }
}

// 14
// shape: question_mark
async fn question_mark(text: &str) -> Result<u32, std::num::ParseIntError> {
    let first: u32 = text.parse()?;
    step().await; // holds: text: &str, first: u32
    let second: u32 = text[..1].parse()?;
    step().await; // holds: first: u32, second: u32
    Ok(first + second)
}

// 15
// shape: fails
async fn fails(data: Vec<u8>) -> Result<u8, String> {
    step().await; // holds: data: Vec<u8>
    data.first().copied().ok_or_else(|| "empty".to_owned())
}

// 16: `?` on the result of an await
// shape: asks
async fn asks() -> Result<u8, String> {
    let kept = black_box([5u8; 30]);
    let first = fails(vec![1]).await?; // holds: kept: [u8; 30]
    Ok(first + kept[0])
}

// 17
// shape: nested
async fn nested() -> u8 {
    let mine = black_box([1u8; 10]);
    let inner = argument([2; 40]).await; // holds: mine: [u8; 10]
    mine[0] + inner
}

// 18: three deep
// shape: deep
async fn deep() -> u8 {
    nested().await + 1 // holds:
}

// 19
// shape: boxed_branch
async fn boxed_branch(yes: bool) -> u8 {
    if yes {
        Box::pin(deep()).await // holds:
    } else {
        0
    }
}

// 20
// shape: recursive
async fn recursive(depth: u32) -> u32 {
    if depth == 0 {
        return 0;
    }
    let below = Box::pin(recursive(depth - 1)).await; // holds: depth: u32
    below + depth
}

// 21: a type-erased future
// shape: erased
async fn erased(future: Pin<Box<dyn Future<Output = u8>>>) -> u8 {
    let mine = black_box([1u8; 16]);
    let other = future.await; // holds: mine: [u8; 16]
    mine[0] + other
}

// 22
// shape: generic
async fn generic<T: Copy>(value: T) -> T {
    step().await; // holds: value: _
    value
}

// 23: the same function with another type
fn generic_large() -> impl Future<Output = Bytes<500>> {
    generic([3; 500])
}

// 24
// shape: generic_future
async fn generic_future<F: Future<Output = u8>>(future: F) -> u8 {
    let before = black_box(3u8);
    let value = future.await; // holds: before: u8
    before + value
}

// 25: a block that captures by move
fn block_move(data: Bytes<33>) -> impl Future<Output = u8> {
    // shape: block_move
    async move {
        step().await; // holds: data: [u8; 33]
        data[0]
    }
}

// 26: a block that borrows
fn block_borrow(data: &Bytes<33>) -> impl Future<Output = u8> + '_ {
    // shape: block_borrow
    async {
        step().await; // holds: data: &[u8; 33]
        data[0]
    }
}

// 27: a block in a function
// shape: block_inside
async fn block_inside() -> u8 {
    let outside = black_box([1u8; 20]);
    // shape: -
    let inside = async {
        let local = black_box([2u8; 50]);
        step().await; // holds: outside: &[u8; 20], local: [u8; 50]
        local[0] + outside[0]
    };
    inside.await // holds: outside: [u8; 20]
}

// 28: a closure that returns a block
fn closure_block() -> impl Future<Output = u8> {
    let make = |data: Bytes<21>| {
        // shape: closure_block
        async move {
            step().await; // holds: data: [u8; 21]
            data[0]
        }
    };
    make([4; 21])
}

// 29
// shape: async_closure
async fn async_closure() -> u8 {
    let kept = black_box([9u8; 25]);
    // shape: -
    let closure = async |add: u8| {
        step().await; // holds: add: u8, kept: &[u8; 25]
        kept[0] + add
    };
    closure(1).await // holds: kept: [u8; 25], closure: _
}

// 30
// shape: joined
async fn joined() -> (u8, u8) {
    join(argument([1; 40]), two_awaits()).await // holds:
}

// 31
// shape: joined_pinned
async fn joined_pinned() -> u8 {
    let mut left = pin!(argument([1; 40]));
    let mut right = pin!(argument([2; 40]));
    // Pinned on the stack, they are part of the future.
    let (a, b) = join(left.as_mut(), right.as_mut()).await; // holds: left: _, right: _
    a + b
}

// 32
// shape: selected
async fn selected() -> u8 {
    match select(argument([1; 40]), deep()).await { // holds:
        Either::Left(value) | Either::Right(value) => value,
    }
}

// 33: select in a loop
// shape: select_loop
async fn select_loop() -> u8 {
    let mut total = black_box(0u8);
    for round in 0..2u8 {
        let won = select(argument([round; 40]), plain_value(round)).await; // holds: total: u8, iter: Range<u8>
        total += match won {
            Either::Left(value) | Either::Right(value) => value,
        };
    }
    total
}

// 34
// shape: plain_value
async fn plain_value(value: u8) -> u8 {
    value
}

// 35: a trait's method
trait Fetch {
    async fn fetch(&self, key: u32) -> u8;
}

struct Cached {
    bytes: Bytes<12>,
}

impl Fetch for Cached {
    // shape: trait_method
    async fn fetch(&self, key: u32) -> u8 {
        step().await; // holds: self: &Cached, key: u32
        self.bytes[key as usize]
    }
}

// 36: a method that takes `self` by value
impl Cached {
    // shape: method_by_value
    async fn consume(self, times: u64) -> u64 {
        step().await; // holds: self: Cached, times: u64
        u64::from(self.bytes[0]) * times
    }
}

// 37: generic over the trait
// shape: through_trait
async fn through_trait<F: Fetch>(fetch: F) -> u8 {
    let key = black_box(3);
    let one = fetch.fetch(key).await; // holds: fetch: Cached, key: u32
    let two = fetch.fetch(key + 1).await; // holds: one: u8, fetch: Cached
    one + two
}

// 38: a stream
// shape: streamed
async fn streamed() -> u32 {
    let mut numbers = poll::Counter { next: 0, end: 4 };
    let mut sum = 0u32;
    while let Some(number) = next(&mut numbers).await { // holds: numbers: Counter, sum: u32
        sum += number;
        step().await; // holds: numbers: Counter, sum: u32
    }
    sum
}

// 39: a generic stream
// shape: streamed_generic
async fn streamed_generic<S: Stream<Item = u32> + Unpin>(mut stream: S) -> u32 {
    let waiting: Next<'_, S> = next(&mut stream);
    waiting.await.unwrap_or(0) // holds: stream: _
}

// 40: a guard dropped before an await, and a guard held across one
// shape: guarded
async fn guarded(cell: &std::cell::RefCell<u8>) -> u8 {
    let value = {
        let guard = cell.borrow();
        *guard
    };
    step().await; // holds: cell: &RefCell<u8>, value: u8
    let mut guard = cell.borrow_mut();
    *guard += value;
    step().await; // holds: guard: RefMut<u8>
    *guard
}

// 41: patterns in the arguments
// shape: patterns
async fn patterns((left, right): (Bytes<8>, u32), Cached { bytes }: Cached) -> u32 {
    step().await; // holds: left: [u8; 8], right: u32, bytes: [u8; 12]
    right + u32::from(left[0]) + u32::from(bytes[0])
}

// 42: a shadowed variable
// shape: shadowed
async fn shadowed() -> usize {
    let value = black_box([1u8; 24]);
    let value = (value, vec![1u16]);
    step().await; // holds: value: ([u8; 24], Vec<u16>)
    value.0.len() + value.1.len()
}

macro_rules! shape {
    ($name:literal, $future:expr) => {{
        let future = $future;
        println!("{} {}", $name, size_of_val(&future));
        let _ = black_box(poll::run(future));
    }};
}

fn main() {
    let bytes = [1; 40];
    let short = [1; 33];
    let cell = std::cell::RefCell::new(1);
    shape!("plain", plain());
    shape!("argument", argument(bytes));
    shape!("argument_used_before", argument_used_before(bytes));
    shape!("reference", reference(&bytes));
    shape!("owned", owned("text".into()));
    shape!("moved_away", moved_away("text".into()));
    shape!("two_awaits", two_awaits());
    shape!("blocks_in_turn", blocks_in_turn());
    shape!("in_a_loop", in_a_loop());
    shape!("in_a_for", in_a_for());
    shape!("in_a_while", in_a_while(vec![1, 2]));
    shape!("match_arms", match_arms(1));
    shape!("if_else", if_else(true));
    shape!("question_mark", question_mark("12"));
    shape!("fails", fails(vec![1]));
    shape!("asks", asks());
    shape!("nested", nested());
    shape!("deep", deep());
    shape!("boxed_branch", boxed_branch(true));
    shape!("recursive", recursive(3));
    shape!("erased", erased(Box::pin(deep())));
    shape!("generic", generic(7u64));
    shape!("generic", generic_large());
    shape!("generic_future", generic_future(deep()));
    shape!("block_move", block_move(short));
    shape!("block_borrow", block_borrow(&short));
    shape!("block_inside", block_inside());
    shape!("closure_block", closure_block());
    shape!("async_closure", async_closure());
    shape!("joined", joined());
    shape!("joined_pinned", joined_pinned());
    shape!("selected", selected());
    shape!("select_loop", select_loop());
    shape!("plain_value", plain_value(1));
    shape!("trait_method", Cached { bytes: [1; 12] }.fetch(3));
    shape!("method_by_value", Cached { bytes: [1; 12] }.consume(3));
    shape!("through_trait", through_trait(Cached { bytes: [1; 12] }));
    shape!("streamed", streamed());
    shape!("streamed_generic", streamed_generic(poll::Counter { next: 0, end: 4 }));
    shape!("guarded", guarded(&cell));
    shape!("patterns", patterns(([1; 8], 2), Cached { bytes: [1; 12] }));
    shape!("shadowed", shadowed());
    changes::print();
}
