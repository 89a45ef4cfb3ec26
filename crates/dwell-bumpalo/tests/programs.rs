//! Programs that are correct over bumpalo run on both crates, and give the same results. Under Miri they also show that the
//! unsafe ones are correct over both.
#![cfg(all(feature = "collections", feature = "boxed"))]
#![expect(
    clippy::borrow_as_ptr,
    clippy::large_stack_arrays,
    clippy::multiple_unsafe_ops_per_block,
    clippy::wrong_self_convention,
    reason = "the programs are as users write them"
)]

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Runs a program, in which `$krate` is the crate, on both crates and compares the results.
macro_rules! both {
    (|$krate:ident| $program:block) => {{
        let expected = {
            use bumpalo as $krate;
            $program
        };
        let found = {
            use dwell_bumpalo as $krate;
            $program
        };
        assert_eq!(found, expected);
        found
    }};
}

/// Returns the message of the panic of `f`, or what it returns.
fn outcome<R: std::fmt::Debug>(f: impl FnOnce() -> R) -> Result<String, String> {
    let result = catch_unwind(AssertUnwindSafe(f)).map(|value| format!("{value:?}"));
    result.map_err(|payload| match payload.downcast::<String>() {
        Ok(text) => *text,
        Err(payload) => payload.downcast::<&str>().map_or_else(|_| "?".to_owned(), |text| (*text).to_owned()),
    })
}

/// Counts its drops.
#[derive(Debug)]
struct Spy<'c>(&'c Cell<usize>, usize);

impl Drop for Spy<'_> {
    fn drop(&mut self) {
        self.0.set(self.0.get() + 1);
    }
}

impl Clone for Spy<'_> {
    fn clone(&self) -> Self {
        assert!(self.1 != 13, "clone of 13");
        Spy(self.0, self.1)
    }
}

#[test]
fn pointers_of_a_vector_stay_valid_within_the_capacity() {
    both!(|krate| {
        let bump = krate::Bump::new();
        let mut vec: krate::collections::Vec<'_, u32> = krate::collections::Vec::with_capacity_in(8, &bump);
        vec.extend_from_slice(&[1, 2, 3]);
        let first: *mut u32 = &mut vec[0];
        let (start, len) = (vec.as_mut_ptr(), vec.len() + usize::from(vec.is_empty()));
        // SAFETY: the vector does not move within its capacity of 8, and its first element stays.
        unsafe {
            start.add(5).write(6);
            vec.push(4);
            *start += 10;
            assert_eq!(vec.as_ptr().add(5).read(), 6);
            vec.push(5);
            vec.set_len(6);
            start.add(1).write(20);
        }
        vec.insert(6, 7);
        vec.remove(5);
        vec.swap_remove(4);
        vec.truncate(5);
        drop(vec.drain(2..3));
        let text = format!("{vec:?} {} {first:?}", len, first = first == start);
        let slice = vec.into_bump_slice_mut();
        slice[0] += 1;
        (text, slice.to_vec())
    });
    // A pointer from a reference to the first element survives methods that do not need that element.
    both!(|krate| {
        let bump = krate::Bump::new();
        let mut vec: krate::collections::Vec<'_, u32> = krate::vec![in &bump; 1, 2, 3];
        vec.reserve(20);
        let first: *mut u32 = &mut vec[0];
        let add = || {
            // SAFETY: nothing moved the first element or made a reference to it.
            unsafe { *first += 1 };
        };
        add();
        let mut sum = vec.len() + usize::from(vec.is_empty());
        add();
        vec.push(4);
        add();
        sum += vec.pop().unwrap() as usize;
        add();
        vec.insert(1, 9);
        add();
        vec.remove(1);
        add();
        vec.reserve(2);
        add();
        vec.extend_from_slice(&[5, 6]);
        add();
        vec.extend_from_slice_copy(&[7]);
        add();
        vec.resize(7, 1);
        add();
        vec.truncate(4);
        add();
        drop(vec.split_off(3));
        add();
        drop(vec.drain(1..2));
        add();
        (sum, vec.to_vec())
    });
}

#[test]
fn parts_of_blocks_make_vectors_and_strings() {
    both!(|krate| {
        let bump = krate::Bump::new();
        let layout = std::alloc::Layout::array::<u16>(6).unwrap();
        let block = bump.alloc_layout(layout).cast::<u16>();
        // SAFETY: the block has the layout of six elements, of which two are written.
        let mut vec = unsafe {
            block.write(1);
            block.add(1).write(2);
            krate::collections::Vec::from_raw_parts_in(block.as_ptr(), 2, 6, &bump)
        };
        vec.extend_from_slice(&[3; 30]);
        let mut vec = std::mem::ManuallyDrop::new(vec);
        let (start, len, capacity) = (vec.as_mut_ptr(), vec.len(), vec.capacity());
        // SAFETY: the parts are those of a vector that is not used again.
        let vec = unsafe { krate::collections::Vec::from_raw_parts_in(start, len, capacity, &bump) };
        let text = bump.alloc_str("abc");
        // SAFETY: the text is a block of this arena and UTF-8, and is not used again.
        let mut text = unsafe { krate::collections::String::from_raw_parts_in(text.as_mut_ptr(), 3, 3, &bump) };
        text.push_str("def");
        // SAFETY: the bytes stay UTF-8.
        unsafe { text.as_mut_vec() }.push(b'g');
        (vec.to_vec(), text.to_string())
    });
    // Zero-sized elements: any capacity.
    for capacity in [0, 5, 9] {
        both!(|krate| {
            let bump = krate::Bump::new();
            // SAFETY: a `()` needs no memory, and the pointer is aligned and not null.
            let mut vec = unsafe {
                krate::collections::Vec::from_raw_parts_in(
                    std::ptr::NonNull::<()>::dangling().as_ptr(),
                    5,
                    capacity,
                    &bump,
                )
            };
            (0..10).for_each(|_| vec.push(()));
            (vec.len(), vec.capacity(), vec.drain(..).count())
        });
    }
}

#[test]
fn boxes_are_converted_as_in_bumpalo() {
    struct Value(u32);
    impl Value {
        fn into_inner(&self) -> u32 {
            self.0
        }
        fn leak(&self) -> u32 {
            self.0 + 1
        }
        fn into_raw(&self) -> u32 {
            self.0 + 2
        }
    }
    both!(|krate| {
        use krate::boxed::Box;
        let (bump, drops) = (krate::Bump::new(), Cell::new(0));
        let raw = Box::into_raw(Box::new_in(Spy(&drops, 1), &bump));
        // SAFETY: the pointer came from `into_raw`, and one box is made of it.
        drop(unsafe { Box::from_raw(raw) });
        let value = Box::new_in(Value(7), &bump);
        let methods = (value.into_inner(), value.leak(), value.into_raw());
        Box::leak(Box::new_in(Spy(&drops, 2), &bump)).1 = 3;
        assert_eq!(Box::into_inner(Box::new_in(Spy(&drops, 4), &bump)).1, 4);
        // SAFETY: the value came from the arena, which does not drop it.
        let any: Box<'_, dyn std::any::Any> = unsafe { Box::from_raw(bump.alloc(5_u8) as &mut dyn std::any::Any) };
        let any = any.downcast::<u16>().unwrap_err().downcast::<u8>().unwrap();
        let slice: Box<'_, [u8]> = Box::new_in([1, 2, 3], &bump).into();
        let array: Result<Box<'_, [u8; 2]>, _> = slice.try_into();
        (
            methods,
            drops.get(),
            *any,
            array.unwrap_err().to_vec(),
            size_of::<Box<'_, u8>>(),
            size_of::<Option<Box<'_, u8>>>(),
        )
    });
}

#[test]
fn vec_macro_evaluates_what_bumpalos_does() {
    both!(|krate| {
        let (bump, drops, calls) = (krate::Bump::new(), Cell::new(0), Cell::new(0));
        let make = |n| {
            calls.set(calls.get() * 10 + n);
            Spy(&drops, n)
        };
        let none = krate::vec![in &bump; make(1); 0];
        let three = krate::vec![in &bump; make(2); 3];
        let order = krate::vec![in &bump; make(4); { calls.set(calls.get() * 10 + 3); 1 }];
        let lens = (none.len(), none.capacity(), three.len(), three.capacity(), order.len());
        drop((none, three, order));
        let numbers = krate::vec![in &bump; 7_u8; 5];
        (lens, drops.get(), calls.get(), numbers.capacity())
    });
}

#[test]
fn forgotten_and_panicking_iterators() {
    both!(|krate| {
        let bump = krate::Bump::new();
        let mut text = krate::collections::String::from_str_in("a\u{20AC}bc", &bump);
        let mut drain = text.drain(1..5);
        let first = drain.next_back();
        std::mem::forget(drain);
        let forgotten = text.to_string();
        drop(text.drain(..1));
        let mut vec: krate::collections::Vec<'_, u32> = krate::vec![in &bump; 1, 2, 3, 4];
        std::mem::forget(vec.drain(1..2));
        let after = vec.to_vec();
        (first, forgotten, text.to_string(), after)
    });
    for at in 0..6 {
        both!(|krate| {
            let (bump, drops) = (krate::Bump::new(), Cell::new(0));
            let mut vec: krate::collections::Vec<'_, Spy<'_>> = krate::vec![in &bump];
            (0..5).map(|n| vec.push(Spy(&drops, n))).count();
            let retained = outcome(|| {
                vec.retain(|spy| {
                    assert!(spy.1 != at, "at {at}");
                    spy.1 % 2 == 0
                });
            });
            let deduped = outcome(|| {
                vec.dedup_by_key(|spy| {
                    assert!(spy.1 != at + 1, "at {at}");
                    0
                });
            });
            let spliced = outcome(|| {
                drop(vec.splice(
                    ..1,
                    (0..9).map(|n| {
                        assert!(n != at, "at {at}");
                        Spy(&drops, n)
                    }),
                ));
            });
            let resized = outcome(|| vec.resize(20, Spy(&drops, if at == 5 { 13 } else { 1 })));
            drop(vec);
            // How many values leak after a panic differs: dwell leaks fewer. None is dropped twice.
            assert!(drops.get() <= 40);
            (retained.is_err(), deduped.is_err() || at != 1, spliced.is_err(), resized.is_err())
        });
    }
}

/// Elements of a slice that is not complete are not dropped: the program may still own them.
#[test]
fn elements_of_an_incomplete_slice_still_belong_to_the_program() {
    let drops = both!(|krate| {
        let (bump, drops) = (krate::Bump::new(), Cell::new(0));
        let owned: Vec<Spy<'_>> = (0..4).map(|n| Spy(&drops, n)).collect();
        // SAFETY: the copies are not dropped, and are forgotten with the slice that is never complete.
        let copy = |n: usize| unsafe { std::ptr::read(&owned[n]) };
        let failed =
            bump.alloc_slice_try_fill_with(4, |n| if n < 3 { Ok(copy(n)) } else { Err(n) }).map(|slice| slice.len());
        let iter = (0..4).map(|n| if n < 3 { Ok(copy(n)) } else { Err(n) }).collect::<Vec<_>>();
        let iter_failed = bump.alloc_slice_try_fill_iter(iter).map(|slice| slice.len());
        let panicked = outcome(|| {
            bump.alloc_slice_fill_with(4, |n| {
                assert!(n < 3, "at {n}");
                copy(n)
            });
        });
        let tried = outcome(|| {
            let slice = bump.try_alloc_slice_fill_with(4, |n| {
                assert!(n < 3, "at {n}");
                copy(n)
            });
            slice.is_ok()
        });
        let source: Vec<Spy<'_>> = [11, 12, 13, 14].map(|n| Spy(&drops, n)).into();
        let cloned = outcome(|| bump.alloc_slice_clone(&source).len());
        let whole = bump.alloc_slice_fill_with(2, copy).iter().map(|spy| spy.1).collect::<Vec<_>>();
        let before = drops.get();
        drop((owned, source));
        (failed, iter_failed, panicked, tried, cloned, whole, before, drops.get())
    });
    assert_eq!((drops.6, drops.7), (0, 8));
}

#[test]
fn messages_are_those_of_bumpalo() {
    /// Runs what follows on an arena that gets no more memory, and returns the messages.
    macro_rules! full {
        ($krate:ident, $($call:expr;)*) => {[$({
            let bump = $krate::Bump::new();
            bump.alloc(1_u8);
            bump.set_allocation_limit(Some(bump.allocated_bytes()));
            let call: fn(&$krate::Bump) -> String = $call;
            // The layout of the allocation that failed may differ.
            let message = outcome(|| call(&bump));
            message.map_err(|text| text.split(':').next().unwrap_or_default().to_owned())
        }),*]};
    }
    let messages = both!(|krate| {
        use krate::boxed::Box;
        use krate::collections::{CollectIn, String as Text, Vec as List};
        full! { krate,
            |bump| format!("{:?}", List::<u16>::with_capacity_in(usize::MAX, bump));
            |bump| format!("{:?}", List::<u16>::with_capacity_in(50_000, bump));
            |bump| format!("{:?}", Text::with_capacity_in(50_000, bump));
            |bump| { krate::vec![in bump; 1_u16].reserve(usize::MAX); String::new() };
            |bump| { krate::vec![in bump; 1_u16].reserve(usize::MAX / 2); String::new() };
            |bump| { krate::vec![in bump; 1_u16].reserve_exact(usize::MAX - 1); String::new() };
            |bump| { krate::vec![in bump; 1_u16].reserve(50_000); String::new() };
            |bump| { krate::vec![in bump; 1_u16].reserve_exact(50_000); String::new() };
            |bump| { krate::vec![in bump; 1_u16].extend(0..50_000); String::new() };
            |bump| { krate::vec![in bump; 1_u16].resize(50_000, 1); String::new() };
            |bump| { krate::vec![in bump; 1_u16].extend_from_slice(&[1; 50_000]); String::new() };
            |bump| { krate::vec![in bump; 1_u16].extend_from_slice_copy(&[1; 50_000]); String::new() };
            |bump| { drop(krate::vec![in bump; 1_u16].splice(.., 0..50_000)); String::new() };
            |bump| { Text::from_str_in("a", bump).push_str(&"b".repeat(50_000)); String::new() };
            |bump| format!("{:?}", (0..50_000).collect_in::<List<'_, u32>>(bump));
            |bump| format!("{:?}", (0..50_000).collect_in::<Box<'_, [u32]>>(bump));
            |bump| format!("{:?}", Box::new_in([0_u8; 50_000], bump).len());
            |bump| format!("{:?}", bump.alloc([0_u8; 50_000]).len());
            |bump| format!("{:?}", bump.alloc_slice_fill_copy(50_000, 1_u8).len());
            |bump| format!("{:?}", bump.alloc_slice_fill_with(usize::MAX / 2, |_| 1_u32).len());
            |bump| format!("{:?}", bump.alloc_slice_copy(&[0_u8; 50_000]).len());
            |bump| format!("{:?}", bump.alloc_layout(std::alloc::Layout::new::<[u8; 50_000]>()));
            |bump| format!("{:?}", bump.try_alloc([0_u8; 50_000]).map(|array| array.len()));
            |bump| format!("{:?}", bump.try_alloc_slice_fill_default::<u8>(50_000).map(|slice| slice.len()));
            |bump| format!("{:?}", bump.try_alloc_slice_fill_copy(50_000, 1_u8).map(|slice| slice.len()));
            |bump| format!("{:?}", bump.try_alloc_layout(std::alloc::Layout::new::<[u8; 50_000]>()));
            |bump| format!("{:?}", krate::vec![in bump; 1_u16].try_reserve(usize::MAX));
            |bump| format!("{:?}", krate::vec![in bump; 1_u16].try_reserve(50_000));
            |bump| format!("{:?}", krate::vec![in bump; 1_u16].try_reserve_exact(usize::MAX - 1));
            |bump| format!("{:?}", krate::vec![in bump; 1_u16].try_reserve_exact(50_000));
            |_| format!("{:?}", krate::Bump::with_capacity(usize::MAX));
            |_| format!("{:?}", krate::Bump::try_with_capacity(usize::MAX).map(drop));
        }
    });
    assert!(messages.contains(&Err("capacity overflow".to_owned())));
}

/// A `splice` or a box at a limit panics, and the arena and the vector are usable.
#[test]
fn splice_at_a_limit_panics() {
    use dwell_bumpalo::{Bump, boxed::Box, vec};
    let (bump, drops) = (Bump::new(), Cell::new(0));
    let mut vec = vec![in &bump; Spy(&drops, 0), Spy(&drops, 1), Spy(&drops, 2)];
    bump.set_allocation_limit(Some(bump.allocated_bytes()));
    assert!(outcome(|| drop(vec.splice(1..2, (0..5000).map(|n| Spy(&drops, n))))).is_err());
    assert!(vec.len() > 2 && vec[0].1 == 0 && vec[vec.len() - 1].1 == 2);
    assert!(outcome(|| Box::new_in([0_u8; 5000], &bump).len()).is_err());
    bump.set_allocation_limit(None);
    vec.push(Spy(&drops, 3));
    assert_eq!(*Box::new_in(7, &bump), 7);
}

/// Paths and names that published crates use.
#[test]
fn names_of_bumpalo_exist() {
    use dwell_bumpalo::collections::{string, vec};
    fn named<A, B, C, D, E, F, G>() {}
    named::<
        string::Drain<'_, '_>,
        string::FromUtf8Error<'_>,
        string::FromUtf16Error,
        vec::Drain<'_, '_, u8>,
        vec::DrainFilter<'_, '_, u8, fn(&mut u8) -> bool>,
        vec::IntoIter<'_, u8>,
        vec::Splice<'_, '_, std::iter::Empty<u8>>,
    >();
    use dwell_bumpalo::core_alloc::fmt::Write;
    let bump = dwell_bumpalo::Bump::new();
    let mut text = dwell_bumpalo::collections::String::new_in(&bump);
    write!(text, "{}", 7).unwrap();
    assert_eq!(text, "7");
}
