//! Tests of type inference with `small_box!`, which infers the same as `Box::new` where a `Box<dyn Trait>` is expected.
//! These tests pass when they compile.

// The macro must not expand to `unsafe` code at its call site.
#![forbid(unsafe_code)]
#![allow(
    clippy::needless_pass_by_value,
    clippy::redundant_closure_for_method_calls,
    clippy::type_complexity,
    clippy::unused_async,
    clippy::vec_init_then_push,
    reason = "what is tested: closures, boxes that are passed, types that are known late"
)]

use dwell::{SmallBox, small_box, small_box_const};
use std::fmt::{Debug, Display};

#[test]
fn literals_follow_the_target() {
    let answer: SmallBox<dyn Fn() -> u8> = small_box!(|| 42);
    assert_eq!(answer(), 42);
    let words: SmallBox<[u64]> = small_box!([1, 2, 3]);
    assert_eq!(size_of_val(&*words), 24);
    let float: SmallBox<dyn Fn(f32) -> f32> = small_box!(|x| x * 2.5);
    assert_eq!(float(2.0).to_bits(), 5_f32.to_bits());
    let nested: SmallBox<[Option<u8>]> = small_box!([None, Some(1)]);
    assert_eq!(nested.len(), 2);
}

#[test]
fn parameters_of_closures_follow_the_target() {
    let length: SmallBox<dyn Fn(&str) -> usize> = small_box!(|text| text.len());
    assert_eq!(length("four"), 4);
    let push: SmallBox<dyn Fn(u8, &mut Vec<u8>)> = small_box!(|byte, to| to.push(byte));
    let mut bytes = Vec::new();
    push(7, &mut bytes);
    assert_eq!(bytes, [7]);
    let first: SmallBox<dyn for<'a> Fn(&'a [u8]) -> Option<&'a u8>> = small_box!(|bytes| bytes.first());
    assert_eq!(first(&[3]), Some(&3));
}

#[test]
fn boxes_of_boxes() {
    let all: SmallBox<[SmallBox<dyn Display>]> = small_box!([small_box!(1), small_box!("a"), small_box!('c')]);
    assert_eq!(all.iter().map(ToString::to_string).collect::<String>(), "1ac");
    let chosen: SmallBox<dyn Fn(bool) -> SmallBox<dyn Display>> =
        small_box!(|yes| if yes { small_box!("yes") } else { small_box!(0) });
    assert_eq!(chosen(true).to_string() + &chosen(false).to_string(), "yes0");
}

#[test]
fn target_is_known_from_the_context() {
    struct Field {
        call: SmallBox<dyn Fn(&str) -> usize>,
    }
    fn argument(value: SmallBox<dyn Debug + '_>) -> String {
        format!("{value:?}")
    }

    let field = Field { call: small_box!(|text| text.trim().len()) };
    assert_eq!((field.call)(" x "), 1);
    // A temporary lives as long as one in an argument of `Box::new`.
    assert_eq!(argument(small_box!(&String::from("temporary"))), "\"temporary\"");
    let pushed: Vec<SmallBox<dyn Debug, 4>> = [1, 2]
        .into_iter()
        .map(|x| -> SmallBox<_, 4> { small_box!(x) })
        .collect::<Vec<SmallBox<i32, 4>>>()
        .into_iter()
        .map(|x| -> SmallBox<dyn Debug, 4> { small_box!(x.into_inner()) })
        .collect();
    assert_eq!(pushed.len(), 2);
    let option: Option<SmallBox<dyn FnMut() -> u8>> = Some(small_box!(|| 1));
    assert_eq!(option.map(|mut call| call()), Some(1));
    let sized: SmallBox<u8, 1> = small_box!(5);
    assert_eq!(*sized, 5);
    // The target becomes known later.
    let mut late = Vec::new();
    late.push(SmallBox::new_coerced(1, |value| value as _));
    let late: Vec<SmallBox<dyn Debug>> = late;
    assert_eq!(format!("{late:?}"), "[1]");
}

#[test]
fn new_needs_no_annotations() {
    let byte = SmallBox::new(5_u8);
    assert_eq!((*byte, size_of_val(&byte)), (5, 24));
    assert_eq!(SmallBox::try_new(String::from("text")).unwrap().len(), 4);
}

#[test]
fn constants() {
    static ANSWER: SmallBox<dyn Fn() -> u8 + Sync> = small_box_const!(|| 42);
    static BYTES: SmallBox<[u16]> = small_box_const!([1, 2]);
    static FIRST: SmallBox<dyn Fn(&[u8]) -> Option<&u8> + Sync> = small_box_const!(|bytes| bytes.first());
    static NESTED: SmallBox<[Option<u8>]> = small_box_const!([None, Some(1)]);
    static DOUBLE: SmallBox<dyn Fn(u8) -> u8 + Sync> = small_box_const!(|x| x * 2);
    assert_eq!((FIRST(&[3]), NESTED.len(), DOUBLE(4)), (Some(&3), 2, 8));
    assert_eq!(ANSWER(), 42);
    assert_eq!(size_of_val(&*BYTES), 4);
}

/// Returns an opaque type that captures a lifetime and a type parameter.
fn pairs<'a, T: Clone>(of: &'a [T], with: &'a T) -> impl Iterator<Item = (T, T)> + use<'a, T> {
    of.iter().cloned().map(|left| (left, with.clone()))
}

fn boxed_pairs<'a, T: Clone>(of: &'a [T], with: &'a T) -> SmallBox<dyn Iterator<Item = (T, T)> + 'a, 4> {
    small_box!(pairs(of, with))
}

fn future<'a, T: Debug + Sync>(value: &'a T) -> SmallBox<dyn Future<Output = String> + Send + 'a, 4> {
    async fn text<T: Debug>(value: &T) -> String {
        format!("{value:?}")
    }
    small_box!(text(value))
}

#[test]
fn opaque_types_can_be_boxed() {
    assert_eq!(boxed_pairs(&[1, 2], &3).collect::<Vec<_>>(), [(1, 3), (2, 3)]);
    let mut future = std::pin::pin!(future(&7));
    let mut context = std::task::Context::from_waker(std::task::Waker::noop());
    assert_eq!(future.as_mut().poll(&mut context), std::task::Poll::Ready("7".into()));
}

/// Borrows local variables in the tail expression of a block.
fn local(of: &[u8]) -> u8 {
    fn call(with: SmallBox<dyn Fn(u8) -> u8 + '_>) -> u8 {
        with(1)
    }
    let sum: u8 = of.iter().sum();
    call(small_box!(|x| x + sum))
}

#[test]
fn box_may_borrow_local_variables() {
    assert_eq!(local(&[1, 2]), 4);
}

/// The functions that the macro calls are hidden, but public, so safe code may call them twice.
#[test]
fn incoming_value_is_taken_once() {
    use dwell::small::{Incoming, IncomingStorage, fill};
    use std::panic::{AssertUnwindSafe, catch_unwind};

    let mut storage = IncomingStorage::new();
    let incoming: &mut Incoming<String, dyn Display> = fill(String::from("once"), &mut storage);
    let first: SmallBox<dyn Display> = SmallBox::from_incoming(incoming);
    let again = catch_unwind(AssertUnwindSafe(|| SmallBox::<dyn Display>::from_incoming(incoming)));
    assert!(again.is_err());
    assert_eq!(first.to_string(), "once");
    // After `fill`, the storage holds a new value.
    let second: SmallBox<dyn Display> = SmallBox::from_incoming(fill(String::from("again"), &mut storage));
    assert_eq!(second.to_string(), "again");
}
