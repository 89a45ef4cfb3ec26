//! Types of every kind of layout. All of them are used, so that the debug info describes them.

#![allow(dead_code)]

use std::cell::{Cell, OnceCell, RefCell};
use std::collections::{BTreeMap, BTreeSet, BinaryHeap, HashMap, HashSet, LinkedList, VecDeque};
use std::hint::black_box;
use std::marker::PhantomData;
use std::mem::{ManuallyDrop, MaybeUninit};
use std::num::NonZeroU16;
use std::rc::{Rc, Weak};
use std::sync::{Arc, Mutex, RwLock, mpsc};

mod inner {
    pub struct Same(pub u8);
    pub mod deeper {
        pub struct Same(pub u64, pub u8);
    }
}

struct Empty;
struct One(u8);
struct Sorted {
    a: u8,
    b: u64,
    c: u16,
    d: u32,
}
#[repr(C)]
struct InOrder {
    a: u8,
    b: u64,
    c: u16,
    d: u32,
}
#[repr(C, packed)]
struct Packed {
    a: u8,
    b: u64,
}
#[repr(packed(2))]
struct PackedTwo {
    a: u8,
    b: u64,
}
#[repr(align(64))]
struct Aligned(u8);
struct WithAligned {
    a: u8,
    b: Aligned,
    c: u8,
}
#[repr(transparent)]
struct Wrapper(u64, PhantomData<String>);
struct Generic<T, const N: usize> {
    value: T,
    list: [T; N],
}
struct Borrows<'a> {
    text: &'a str,
    slice: &'a [u16],
    one: &'a mut u8,
    dynamic: &'a dyn Fn(u8) -> u8,
}
struct Pointers {
    a: *const u8,
    b: *mut [u8],
    c: fn(u8) -> u8,
    d: Box<dyn Iterator<Item = u8>>,
    e: Option<fn()>,
}
union Either {
    small: u8,
    large: [u32; 3],
    dropped: ManuallyDrop<String>,
}

enum Never {}
enum Single {
    Only(u32),
}
#[derive(Clone, Copy)]
enum Plain {
    A,
    B,
    C,
}
#[repr(u16)]
enum Numbered {
    A = 3,
    B = 500,
}
#[repr(i8)]
enum Negative {
    A = -1,
    B = 1,
}
enum Tagged {
    Nothing,
    Small(u8),
    Wide(u64),
    Text(String),
    Named { a: u8, b: u32, c: [u8; 3] },
}
enum Niche {
    Owned(String),
    Nothing,
    Number(u32),
    Pair(u8, u16),
}
enum NicheInside {
    Large { a: u64, flag: bool, b: [u8; 5] },
    Small(u8),
    None,
}
#[repr(C)]
enum LikeC {
    A(u8),
    B(u64),
}
#[repr(C, u8)]
enum LikeCByte {
    A(u8),
    B(u64, u8),
}
enum WithNever {
    Possible(u32),
    Impossible(Never, u64),
}
enum WideTag {
    A(u128),
    B([u8; 3]),
}
enum Many {
    V00(u8), V01(u16), V02(u32), V03(u64), V04(u128), V05(char), V06(bool), V07(f32), V08(f64), V09(String),
    V10(Vec<u8>), V11(Box<u8>), V12([u8; 200]), V13((u8, u32)), V14(Option<u64>), V15(Option<Box<u8>>), V16, V17, V18, V19,
}

trait Shape {
    fn area(&self) -> u64;
}

impl Shape for Sorted {
    fn area(&self) -> u64 {
        self.b
    }
}

impl Shape for One {
    fn area(&self) -> u64 {
        u64::from(self.0)
    }
}

/// Keeps a value, so that its type is in the debug info.
fn keep<T>(value: T) {
    black_box(&value);
}

fn main() {
    keep(Empty);
    keep(One(1));
    keep((inner::Same(1), inner::deeper::Same(1, 2)));
    keep(Sorted { a: 1, b: 2, c: 3, d: 4 });
    keep(InOrder { a: 1, b: 2, c: 3, d: 4 });
    keep(Packed { a: 1, b: 2 });
    keep(PackedTwo { a: 1, b: 2 });
    keep(WithAligned { a: 1, b: Aligned(2), c: 3 });
    keep(Wrapper(1, PhantomData));
    keep(Generic::<u8, 3> { value: 1, list: [1; 3] });
    keep(Generic::<Option<String>, 2> { value: None, list: [None, None] });
    let mut byte = 1;
    let mut list = [1u8];
    keep(Borrows { text: "a", slice: &[1], one: &mut byte, dynamic: &|x| x });
    keep(Pointers { a: &raw const byte, b: &raw mut list[..], c: |x| x, d: Box::new(vec![1u8].into_iter()), e: None });
    keep(Either { large: [1; 3] });
    keep(None::<Never>);
    keep(Single::Only(1));
    keep((Plain::A, Plain::B, Plain::C, Some(Plain::A), Some(Some(Plain::A))));
    keep([Numbered::A, Numbered::B]);
    keep([Negative::A, Negative::B]);
    keep([
        Tagged::Nothing,
        Tagged::Small(1),
        Tagged::Wide(2),
        Tagged::Text(String::new()),
        Tagged::Named { a: 1, b: 2, c: [3; 3] },
    ]);
    keep([Niche::Owned(String::new()), Niche::Nothing, Niche::Number(1), Niche::Pair(1, 2)]);
    keep([NicheInside::Large { a: 1, flag: true, b: [1; 5] }, NicheInside::Small(1), NicheInside::None]);
    keep([LikeC::A(1), LikeC::B(2)]);
    keep([LikeCByte::A(1), LikeCByte::B(2, 3)]);
    keep(WithNever::Possible(1));
    keep(Ok::<u32, Never>(1));
    keep([WideTag::A(1), WideTag::B([1; 3])]);
    keep([
        Many::V00(1), Many::V01(1), Many::V02(1), Many::V03(1), Many::V04(1), Many::V05('a'), Many::V06(true),
        Many::V07(1.0), Many::V08(1.0), Many::V09(String::new()), Many::V10(vec![]), Many::V11(Box::new(1)),
        Many::V12([1; 200]), Many::V13((1, 2)), Many::V14(None), Many::V15(None), Many::V16, Many::V17, Many::V18, Many::V19,
    ]);
    keep((None::<NonZeroU16>, None::<char>, None::<bool>, None::<u64>, None::<Box<u8>>, None::<&str>, None::<Rc<u8>>));
    keep((Ok::<u8, String>(1), Err::<(), Box<dyn std::error::Error>>("a".into()), None::<Option<Option<bool>>>));
    keep((Cell::new(1u8), RefCell::new(vec![1u8]), OnceCell::<String>::new()));
    keep((Mutex::new(1u64), RwLock::new(String::new()), Arc::new(1u16), Weak::<u8>::new()));
    keep((BTreeMap::from([(1u8, "a")]), BTreeSet::from([1u32]), HashMap::from([(1u8, 2u64)]), HashSet::from(['a'])));
    keep((VecDeque::from([1u8]), LinkedList::from([1u64]), BinaryHeap::from([1u16])));
    keep((MaybeUninit::<[u64; 2]>::uninit(), ManuallyDrop::new(1u8), mpsc::channel::<String>()));
    let shapes: [Box<dyn Shape>; 2] = [Box::new(Sorted { a: 1, b: 2, c: 3, d: 4 }), Box::new(One(1))];
    let number = black_box(7u64);
    let adds = move |x: u64| x + number;
    println!("{}", shapes.iter().map(|shape| shape.area()).sum::<u64>() + adds(1));
}
