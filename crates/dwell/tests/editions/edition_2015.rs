//! The derives in a crate of edition 2015: paths begin at the crate's root.

extern crate dwell;

use dwell::{Sparse, Weigh};
use std::collections::HashMap;

#[derive(Weigh)]
struct Command<'s, T: ?Sized> {
    name: String,
    run: fn(&str) -> usize,
    more: Vec<for<'a> fn(&'a str, &T) -> &'a str>,
    object: Box<dyn Fn(&str) -> usize + Send + 's>,
    map: HashMap<String, u8>,
    #[weigh(with = "two")]
    with: u8,
    #[weigh(shared)]
    shared: &'s String,
    tail: T,
}

fn two(_: &u8) -> dwell::weigh::Weight {
    dwell::weigh::Weight::of_blocks(2, 1)
}

#[derive(Weigh)]
enum Either {
    Nothing,
    Left(String),
    Right { more: Option<Box<Either>> },
}

#[derive(Default, Sparse, Weigh)]
struct Traits {
    title: Option<String>,
    #[sparse(eq)]
    level: Level,
    #[sparse(is_empty = "self::inner::is_zero")]
    number: u8,
}

mod inner {
    pub fn is_zero(of: &u8) -> bool {
        *of == 0
    }
}

#[derive(Default, PartialEq, Weigh)]
struct Level(u8);

#[derive(Sparse)]
#[sparse(const)]
struct Constant {
    text: String,
    number: Option<u8>,
}

#[derive(Default, PartialEq, Sparse)]
#[sparse(eq)]
struct Whole(u8);

#[derive(Default, Sparse)]
struct Generic<'a, T: Default> {
    value: T,
    text: &'a str,
}

#[derive(Default, Sparse)]
enum Mark {
    #[default]
    Nothing,
    Something(Option<u8>),
}

fn main() {
    let shared = String::from("abc");
    let name = &shared;
    let of = Command {
        name: "x".into(),
        run: str::len,
        more: vec![|text, _: &u8| text],
        object: Box::new(move |of| of.len() + name.len()),
        map: HashMap::new(),
        with: 1,
        shared: &shared,
        tail: 0_u8,
    };
    // The name, a function, a closure of a word, a foreign block, and the shared string with its text.
    assert_eq!(dwell::weigh(&of).heap, 1 + 8 + 8 + 2 + 24 + 3);
    let _ = (of.tail, of.map.len(), of.with, of.shared, (of.run)(""), (of.object)(""), of.more.len());
    let all = vec![Either::Nothing, Either::Left("ab".into()), Either::Right { more: Some(Box::new(Either::Nothing)) }];
    let size = std::mem::size_of::<Either>() as u64;
    assert_eq!(dwell::weigh(&all).heap, 4 * size + 2);
    for one in &all {
        match *one {
            Either::Left(ref text) => assert_eq!(text, "ab"),
            Either::Right { ref more } => assert!(more.is_some()),
            Either::Nothing => {}
        }
    }
    let traits = Sparse::<Traits>::empty();
    assert!(traits.title.is_none() && traits.level.0 == 0 && traits.number == 0);
    let constant = Sparse::<Constant>::empty();
    assert!(constant.text.is_empty() && constant.number.is_none());
    assert_eq!(Sparse::<Whole>::empty().0, 0);
    let generic = Sparse::<Generic<Vec<u8>>>::empty();
    assert!(generic.value.is_empty() && generic.text.is_empty());
    assert!(Sparse::new(Mark::Nothing).get().is_none() && Sparse::new(Mark::Something(None)).get().is_some());
    match *Sparse::new(Mark::Something(Some(1))) {
        Mark::Something(number) => assert_eq!(number, Some(1)),
        Mark::Nothing => unreachable!(),
    }
    assert_eq!(dwell::weigh(&Sparse::new(Traits::default())).heap, 0);
}
