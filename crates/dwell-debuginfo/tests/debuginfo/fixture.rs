//! A program that prints the results of `size_of`, `align_of`, and `offset_of!` for its types. The test compares them
//! with the debug info.

use std::collections::HashMap;
use std::future::Future;
use std::hint::black_box;
use std::mem::{align_of, offset_of, size_of, size_of_val};
use std::pin::pin;
use std::task::{Context, Poll, Waker};

pub struct Plain {
    a: u8,
    b: u64,
    c: (u16, bool),
    d: Option<Box<Plain>>,
}

#[repr(C)]
pub struct Wasteful {
    a: u8,
    b: u64,
    c: u8,
    d: u128,
}

#[repr(C, packed)]
pub struct Packed {
    a: u8,
    b: u64,
}

#[repr(align(64))]
pub struct Aligned(u8);

pub enum Niche {
    A,
    B(Vec<u8>),
}

pub enum Tagged {
    A(u8),
    B { x: [u8; 200], y: u64 },
    C,
}

#[repr(i8)]
pub enum Numbered {
    X = -3,
    Y = 9,
}

#[repr(i16)]
pub enum Signed {
    A(u64) = -5,
    B = 251,
    C = -300,
}

pub union Either {
    int: u64,
    bytes: [u8; 12],
}

pub struct Generic<T, const N: usize> {
    items: [T; N],
    nested: [[T; 2]; 3],
}

pub struct Empty;

pub trait Draw {
    fn draw(&self) -> u64;
}

impl Draw for Plain {
    fn draw(&self) -> u64 {
        self.b + u64::from(self.a) + u64::from(self.c.0) + self.d.as_ref().map_or(0, |next| next.draw())
    }
}

impl Draw for Numbered {
    fn draw(&self) -> u64 {
        match self {
            Numbered::X => 1,
            Numbered::Y => 2,
        }
    }
}

pub async fn leaf(number: u32) -> u32 {
    std::future::ready(number).await + 1
}

impl Plain {
    pub async fn run(&self, number: u32) -> u32 {
        let buffer = [number as u8; 100];
        let first = leaf(number).await;
        let text = format!("{first}");
        let second = leaf(first).await;
        second + u32::from(buffer[3]) + text.len() as u32 + u32::from(self.a)
    }
}

fn block_on<F: Future>(future: F) -> F::Output {
    let mut future = pin!(future);
    let mut context = Context::from_waker(Waker::noop());
    loop {
        if let Poll::Ready(value) = future.as_mut().poll(&mut context) {
            return value;
        }
    }
}

macro_rules! print_sizes {
    ($($ty:ty),* $(,)?) => {
        $(println!("type\t{}\t{}\t{}", stringify!($ty), size_of::<$ty>(), align_of::<$ty>());)*
    };
}

macro_rules! print_offsets {
    ($ty:ty, $($field:ident),*) => {
        $(println!("field\t{}\t{}\t{}", stringify!($ty), stringify!($field), offset_of!($ty, $field));)*
    };
}

fn main() {
    let count = std::env::args().count() as u64;
    let plain = Plain { a: count as u8, b: count, c: (3, count > 1), d: None };
    let plain = Plain { a: 1, b: 2, c: (1, true), d: Some(Box::new(plain)) };
    let drawn: Vec<Box<dyn Draw>> = vec![Box::new(plain), Box::new(if count > 3 { Numbered::X } else { Numbered::Y })];
    let captured = count;
    let sum: u64 = drawn.iter().map(|shape| shape.draw() + captured).sum();
    black_box(&sum);
    black_box(&Wasteful { a: 1, b: 2, c: 3, d: 4 });
    black_box(&Packed { a: 1, b: 2 });
    black_box(&Aligned(1));
    black_box(&Niche::A);
    black_box(&Niche::B(vec![count as u8]));
    black_box(&Tagged::A(1));
    black_box(&Tagged::B { x: [count as u8; 200], y: 1 });
    black_box(&Tagged::C);
    black_box(&[Signed::A(count), Signed::B, Signed::C]);
    black_box(&Either { int: count });
    black_box(&Generic::<u16, 5> { items: [count as u16; 5], nested: [[1; 2]; 3] });
    black_box(&Empty);
    let map: HashMap<u8, String> = HashMap::from([(1, String::from("a"))]);
    black_box(&map);
    let plain = Plain { a: 1, b: 2, c: (1, true), d: None };
    let future = plain.run(count as u32);
    println!("future\tPlain::run\t{}", size_of_val(&future));
    println!("future\tleaf\t{}", size_of_val(&leaf(1)));
    black_box(block_on(future));
    print_sizes!(
        Plain, Wasteful, Packed, Aligned, Niche, Tagged, Numbered, Signed, Either, Generic<u16, 5>, Empty,
        Option<Box<Plain>>, Vec<u8>, HashMap<u8, String>, u128, &'static [u8], Box<dyn Draw>,
    );
    print_offsets!(Plain, a, b, c, d);
    print_offsets!(Wasteful, a, b, c, d);
    print_offsets!(Packed, a, b);
    print_offsets!(Generic<u16, 5>, items, nested);
}
