//! A `no_std` library with little debug info, which `debuginfo_hostile` damages.
#![no_std]

use core::future::Future;
use core::pin::Pin;
use core::task::{Context, Poll, Waker};

#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    loop {}
}

pub struct Node {
    next: Option<&'static Node>,
    kind: Kind,
    bytes: [u8; 3],
}

pub enum Kind {
    A,
    B(u64, (u8, u16)),
    C { x: [[u16; 2]; 4] },
}

pub trait Size {
    fn size(&self) -> usize;
}

impl Size for Node {
    fn size(&self) -> usize {
        self.bytes[0] as usize + self.next.map_or(0, |next| next.size())
    }
}

async fn leaf(number: u8) -> u8 {
    core::future::ready(number).await
}

async fn outer(node: &Node) -> u8 {
    let held = node.bytes;
    let number = leaf(held[0]).await;
    held[1] ^ number
}

#[unsafe(no_mangle)]
pub extern "C" fn entry(number: u64) -> usize {
    let kind = match number {
        0 => Kind::A,
        1 => Kind::B(number, (1, 2)),
        _ => Kind::C { x: [[number as u16; 2]; 4] },
    };
    let node = Node { next: None, kind, bytes: [number as u8; 3] };
    let size: &dyn Size = &node;
    let add = |more: usize| more + number as usize;
    let mut future = outer(&node);
    // SAFETY: `future` is a local variable that is not used again except through `pinned`, so it is never moved.
    let pinned = unsafe { Pin::new_unchecked(&mut future) };
    let ready = match pinned.poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(value) => value as usize,
        Poll::Pending => 0,
    };
    let variant = match &node.kind {
        Kind::A => 0,
        Kind::B(number, pair) => *number as usize + pair.0 as usize,
        Kind::C { x } => x[0][1] as usize,
    };
    add(size.size()) + ready + variant
}
