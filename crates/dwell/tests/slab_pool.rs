//! Tests of the public API of `slab::Pool`, and attempts to break it with safe code.
#![expect(clippy::large_stack_arrays, reason = "values too large for every size class")]
#![expect(clippy::cast_possible_truncation, reason = "numbers that are small enough")]

mod common;

use common::{Counts, live};
use dwell::slab::{Pool, Pooled};
use std::fmt::Debug;
use std::future::Future;
use std::mem::ManuallyDrop;
use std::pin::Pin;
use std::task::{Context, Waker};

#[test]
fn sizes() {
    assert_eq!(size_of::<Option<Pooled<[u64; 8]>>>(), 8);
    assert_eq!(size_of::<Option<Pooled<dyn Debug>>>(), 16);
}

#[test]
fn types_of_the_same_size_share_cells() {
    let pool = Pool::new();
    let first = pool.insert([1_u64; 3]);
    let address = first.as_ptr().addr();
    drop(first);
    let text = pool.insert(String::from("three words too"));
    assert_eq!(text.as_ptr().addr(), address);
    let larger = pool.insert([1_u64; 4]);
    assert_ne!(larger.as_ptr().addr(), address);
    assert_eq!((&**text, larger[3]), ("three words too", 1));
}

/// Small values are passed in registers if there is no cached cell, and copied a word at a time if there is one.
#[test]
fn small_values_are_copied_completely() {
    fn check<T: PartialEq + Debug>(make: impl Fn(usize) -> T) {
        let (pool, sync) = (Pool::new(), Pool::new());
        let values: Vec<_> =
            (0..if cfg!(miri) { 20 } else { 2000 }).map(|n| (pool.insert(make(n)), sync.insert(make(n)))).collect();
        for (n, (value, other)) in values.iter().enumerate() {
            let expected = make(n);
            assert_eq!((&**value, &**other), (&expected, &expected));
        }
        drop(values);
        assert_eq!(*pool.insert(make(3)), make(3));
    }
    check(|n| n);
    check(|n| (n, n + 1));
    check(|n| (n % 2 == 0, n.to_string()));
    check(|n| (u8::MAX, n as u16, [n; 2]));
    check(|n| [n; 4]);
    check(|n| [n; 5]);
    check(|n| [n as u32; 7]);
    check(|n| [u8::MAX, n as u8, 7]);
    check(|n| n as u128);
    check(|n| (n as u128, n));
    check(|_| ());
    check(|n| (Box::new(n), Box::<str>::from("text"), Some(n as u16)));
}

/// Inserts values of many sizes and alignments and checks all their bytes.
#[test]
fn values_of_all_sizes_and_alignments() {
    #[repr(align(16))]
    struct Align16<const N: usize>([u8; N]);
    #[repr(align(64))]
    struct Align64<const N: usize>([u8; N]);
    #[repr(align(128))]
    struct Align128<const N: usize>([u8; N]);
    #[repr(align(4096))]
    struct Align4096<const N: usize>([u8; N]);
    // The size of a block, and twice that.
    #[repr(align(0x1_0000))]
    struct AlignBlock<const N: usize>([u8; N]);
    #[repr(align(0x2_0000))]
    struct AlignTwo<const N: usize>([u8; N]);
    trait Bytes {
        fn bytes(&self) -> &[u8];
    }
    macro_rules! bytes {
        ($($Type:ident)*) => {
            $(impl<const N: usize> Bytes for $Type<N> {
                fn bytes(&self) -> &[u8] {
                    assert_eq!(std::ptr::from_ref(self).addr() % align_of::<Self>(), 0);
                    &self.0
                }
            })*
        };
    }
    struct Align1<const N: usize>([u8; N]);
    bytes!(Align1 Align16 Align64 Align128 Align4096 AlignBlock AlignTwo);
    type Slots = Vec<(u8, usize, Pooled<dyn Bytes>)>;
    // Each type gets its own function, since debug builds give every temporary its own stack slot.
    fn insert<T: Bytes + 'static>(pool: &Pool, slots: &mut Slots, len: usize, make: impl Fn(u8) -> T) {
        slots.extend(
            (0..if cfg!(miri) { 1 } else { 20 })
                .map(|fill| (fill, len, pool.insert_with(|| make(fill)).coerce(|view| view as _))),
        );
    }
    fn insert_all<const N: usize>(pool: &Pool, slots: &mut Slots) {
        insert(pool, slots, N, |fill| Align1([fill; N]));
        insert(pool, slots, N, |fill| Align16([fill; N]));
        insert(pool, slots, N, |fill| Align64([fill; N]));
        insert(pool, slots, N, |fill| Align128([fill; N]));
        insert(pool, slots, N, |fill| Align4096([fill; N]));
    }
    fn insert_aligned<const N: usize>(pool: &Pool, slots: &mut Slots) {
        insert(pool, slots, N, |fill| AlignBlock([fill; N]));
        insert(pool, slots, N, |fill| AlignTwo([fill; N]));
    }
    macro_rules! insert {
        ($pool:ident $slots:ident: $($N:literal)*) => {
            $(insert_all::<$N>(&$pool, &mut $slots);)*
        };
    }
    let left = common::left_by(|| {
        let pool = Pool::new();
        let mut slots = Slots::new();
        insert!(pool slots: 0 1 7 8 9 63 64 65 100 129 1000 1024 1025 4096 5000 14336 14337 16384 70000);
        assert!(slots.iter().all(|(fill, len, slot)| slot.bytes() == vec![*fill; *len]));
        let kept = slots.split_off(slots.len() / 2);
        drop(slots);
        let mut slots = Slots::new();
        insert!(pool slots: 0 1 7 8 9 63 64 65 100 129 1000 1024 1025 4096 5000 14336 14337 16384 70000);
        insert_aligned::<0>(&pool, &mut slots);
        insert_aligned::<1>(&pool, &mut slots);
        drop(pool);
        assert!(slots.iter().chain(&kept).all(|(fill, len, slot)| slot.bytes() == vec![*fill; *len]));
    });
    assert_eq!(left, (0, 0));
}

#[test]
fn panicking_values_are_dropped_once() {
    let counts = Counts::default();
    let left = common::left_by(|| {
        let pool = Pool::new();
        let slots: Vec<_> = (0..10).map(|n| pool.insert((counts.spy(n), [n; 5]))).collect();
        counts.panic_at_drop.set(4);
        assert!(common::panics(|| drop(slots)));
        assert!(common::panics(|| drop(pool.insert_with(|| -> [u8; 100] { panic!("no value") }))));
        assert!(common::panics(|| drop(pool.insert_with(|| -> [u8; 100_000] { panic!("no value") }))));
        let spy = pool.insert(counts.spy(0));
        let (spy, _) = (spy.into_inner(), pool.insert(counts.spy(1)));
        drop(pool);
        drop(spy);
    });
    assert!(counts.balanced());
    assert_eq!(left, (0, 0));
}

#[test]
fn drop_re_enters_the_pool() {
    struct Nested<'a>(&'a Pool, u32);
    impl Drop for Nested<'_> {
        fn drop(&mut self) {
            if self.1 > 0 {
                drop(self.0.insert(Nested(self.0, self.1 - 1)));
                drop(self.0.insert([self.1; 100]));
            }
        }
    }
    let pool = Pool::new();
    drop(pool.insert(Nested(&pool, 50)));
    let slot = pool.insert_with(|| {
        drop(pool.insert([0_u64; 2]));
        [*pool.insert(7_u64); 2]
    });
    assert_eq!(*slot, [7; 2]);
}

#[test]
fn forgotten_slot_keeps_its_memory() {
    let pool = Pool::new();
    // To the pool this is a forgotten slot. It is dropped at the end of the test, so that leak checkers report nothing.
    let slot = ManuallyDrop::new(pool.insert(7_u64));
    drop(pool);
    assert_eq!(**slot, 7);
    drop(ManuallyDrop::into_inner(slot));
}

#[test]
fn failed_allocation_returns_the_value() {
    let pool = Pool::new();
    for successes in 0..4 {
        let result = common::failing_after(successes, || pool.try_insert(String::new()));
        if let Err(error) = result {
            assert_eq!(error.into_inner(), "");
            assert!(successes < 3, "three blocks are enough");
        }
    }
    let value =
        common::failing_after(0, || pool.try_insert([7_u8; 100_000]).map_err(|error| error.into_inner()[99_999]));
    assert_eq!(value.unwrap_err(), 7);
    drop(pool.try_insert([7_u8; 100_000]).unwrap());
}

#[test]
fn futures_of_all_sizes_are_pinned_and_polled() {
    let pool = Pool::new();
    fn task<'a>(slot: Pooled<dyn Future<Output = usize> + 'a>) -> Pin<Pooled<dyn Future<Output = usize> + 'a>> {
        slot.into_pin()
    }
    let (short, long) = (7_usize, [1_u8; 3000]);
    let large = async {
        let held = long;
        std::future::ready(()).await;
        held.len()
    };
    let mut tasks = [
        task(pool.insert(async { short }).coerce(|view| view as _)),
        task(pool.insert(large).coerce(|view| view as _)),
    ];
    let mut context = Context::from_waker(Waker::noop());
    let ready: Vec<bool> = tasks.iter_mut().map(|task| task.as_mut().poll(&mut context).is_ready()).collect();
    assert_eq!(ready, [true, true]);
}

/// The slabs of a pool grow by half, because a pool has many.
#[test]
fn a_pool_takes_little_more_than_its_values() {
    for count in [13_usize, 30, 100, 300, 900] {
        let before = live().1;
        let pool = Pool::new();
        let values: Vec<_> = (0..count).map(|n| pool.insert([n as u64; 8])).collect();
        let bytes = live().1 - before - (values.capacity() * size_of::<usize>()).cast_signed();
        // A cell has 64 bytes and a word on the stack. The core and the headers of chunks take some hundred bytes.
        let needed = (count * (64 + 8)).cast_signed();
        println!("{count}: {bytes} of {needed}");
        assert!(bytes < needed * 8 / 5 + 1500, "{count}: {bytes} of {needed}");
    }
}
