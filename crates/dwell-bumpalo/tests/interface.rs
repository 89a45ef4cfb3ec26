//! Tests of the parts of the interface that bumpalo's own tests (which its package does not ship) do not cover.
#![cfg(all(feature = "collections", feature = "boxed"))]

use dwell_bumpalo::boxed::Box;
use dwell_bumpalo::collections::{CollectIn, CollectionAllocErr, String, Vec};
use dwell_bumpalo::{AllocErr, AllocOrInitError, Bump};
use std::panic::{AssertUnwindSafe, catch_unwind};

#[test]
fn bumpalo_program_compiles_and_runs() {
    let mut bump = Bump::new();
    {
        let mut words: Vec<'_, &str> = "where values live".split(' ').collect_in(&bump);
        words.push(bump.alloc_str("long"));
        words.extend_from_slice(&["and", "well"]);
        let upper: Vec<'_, String<'_>> = words
            .iter()
            .map(|word| String::from_iter_in(word.chars().map(|c| c.to_ascii_uppercase()), &bump))
            .collect_in(&bump);
        assert_eq!(upper, ["WHERE", "VALUES", "LIVE", "LONG", "AND", "WELL"]);
        let boxed: Box<'_, [usize]> = words.iter().map(|word| word.len()).collect_in(&bump);
        assert_eq!(*boxed, [5, 6, 4, 4, 3, 4]);
        assert_eq!(words.drain_filter(|word| word.len() == 4).count(), 3);
        assert!(std::ptr::eq(words.bump(), &raw const bump));
        let numbers: Result<Vec<'_, u32>, _> = ["1", "x", "2"].iter().map(|n| n.parse()).collect_in(&bump);
        assert!(numbers.is_err());
        assert_eq!(words.into_bump_slice(), ["where", "values", "and"]);
        let value = Box::new_in(7, &bump);
        assert_eq!(Box::into_inner(value), 7);
        let text = dwell_bumpalo::format!(in &bump, "{}-{:02}", "a", 7);
        assert_eq!(text.into_bump_str(), "a-07");
        assert_eq!(dwell_bumpalo::vec![in &bump; 3; 2], [3, 3]);
    }
    bump.reset();
    assert_eq!(bump.chunks_raw().map(std::ptr::NonNull::len).sum::<usize>(), 0);
}

/// bumpalo panics where dwell and std abort, and a program may rely on the panic.
#[test]
fn failed_allocation_panics() {
    fn panics<T>(f: impl FnOnce() -> T) -> bool {
        catch_unwind(AssertUnwindSafe(|| drop(f()))).is_err()
    }
    let bump = Bump::new();
    bump.alloc(1_u8);
    bump.set_allocation_limit(Some(bump.allocated_bytes()));
    let long = "x".repeat(5000);
    assert!(panics(|| bump.alloc([0_u8; 5000])));
    assert!(panics(|| bump.alloc_with(|| [0_u8; 5000])));
    assert!(panics(|| bump.alloc_try_with(|| Ok::<_, ()>([0_u8; 5000]))));
    assert!(panics(|| bump.alloc_slice_copy(&[0_u8; 5000])));
    assert!(panics(|| bump.alloc_str(&long)));
    assert!(panics(|| bump.alloc_slice_fill_iter(0..5000)));
    assert!(panics(|| Vec::<u8>::with_capacity_in(5000, &bump)));
    assert!(panics(|| Vec::<u8>::with_capacity_in(usize::MAX, &bump)));
    assert!(panics(|| String::from_str_in(&long, &bump)));
    let mut vec = dwell_bumpalo::vec![in &bump; 1];
    assert!(panics(|| (0..5000).for_each(|n| vec.push(n))));
    assert!(panics(|| vec.extend(0..5000)) && panics(|| vec.resize(5000, 1)) && panics(|| vec.reserve(5000)));
    assert!(vec.len() < 5000 && vec[0] == 1);
    assert_eq!(vec.try_reserve(5000), Err(CollectionAllocErr::AllocErr));
    assert_eq!(vec.try_reserve(usize::MAX), Err(CollectionAllocErr::CapacityOverflow));
    assert_eq!(bump.try_alloc([0_u8; 5000]), Err(AllocErr));
    assert_eq!(bump.try_alloc_try_with(|| Ok::<_, ()>([0_u8; 5000])), Err(AllocOrInitError::Alloc(AllocErr)));
    assert_eq!(bump.try_alloc_try_with(|| Err::<(), _>(1)), Err(AllocOrInitError::Init(1)));
}

#[cfg(feature = "allocator-api2")]
#[test]
fn arena_is_an_allocator() {
    let bump = Bump::<8>::with_min_align();
    let mut vec = allocator_api2::vec::Vec::new_in(&bump);
    vec.extend(0..100);
    vec.truncate(10);
    vec.shrink_to_fit();
    assert!({ vec }.iter().copied().eq(0..10));
    // As in the version after bumpalo 3.20 the arena may be owned.
    let mut owner = allocator_api2::vec::Vec::new_in(bump);
    owner.extend(0..1000);
    assert!({ owner }.iter().copied().eq(0..1000));
}

/// As with bumpalo's `Box`, generic code need not write `T: 'a`.
#[test]
fn generic_code_needs_no_bound_for_the_lifetime_of_a_box() {
    struct Owner<'a, T>(Box<'a, T>);
    impl<'a, T> Owner<'a, T> {
        fn new(value: T, bump: &'a Bump) -> Self {
            Self(Box::new_in(value, bump))
        }
    }
    trait Borrows {
        type Reference;
    }
    impl<'a, T> Borrows for Box<'a, T> {
        type Reference = &'a T;
    }
    fn boxed<T>(value: T, bump: &Bump) -> Box<'_, T> {
        Owner::new(value, bump).0
    }
    let bump = Bump::new();
    let number: <Box<'_, i32> as Borrows>::Reference = Box::leak(boxed(7, &bump));
    assert_eq!(*number, 7);
}
