//! Unsafe code that is correct over std's `Vec`, `String` and `Box` is correct over those of an arena.
//!
//! Each program runs on std's type and on the arena's. The programs keep a pointer across calls of methods that do not
//! need the elements it points to. Miri reports a method that creates a reference to them.
#![expect(
    clippy::borrow_as_ptr,
    clippy::implicit_clone,
    clippy::multiple_unsafe_ops_per_block,
    clippy::wrong_self_convention,
    reason = "the programs are as users write them, on two types"
)]

use dwell::{Bump, bump};

/// Runs a program on a vector of std and on one of an arena. `$vec` has this capacity.
macro_rules! on_vectors {
    ($capacity:expr, |$vec:ident: $Type:ty, $bump:ident| $program:block) => {{
        let $bump = Bump::new();
        let mut $vec: Vec<$Type> = Vec::with_capacity($capacity);
        let expected = $program;
        let mut $vec: bump::Vec<$Type> = bump::Vec::with_capacity_in($capacity, &$bump);
        let found = $program;
        assert_eq!(found, expected);
    }};
}

#[test]
fn as_ptr_covers_the_capacity_and_survives_writes() {
    on_vectors!(4, |vec: u8, _bump| {
        vec.extend([1, 2, 3]);
        let p = vec.as_mut_ptr();
        let q = vec.as_ptr();
        // SAFETY: the capacity is 4, and the vector is not used meanwhile. Four elements are initialised at the end.
        unsafe {
            p.write(7);
            p.add(3).write(9);
            assert_eq!((q.read(), q.add(3).read()), (7, 9));
            vec.set_len(4);
            vec.as_mut_ptr().add(1).write(8);
            assert_eq!((q.add(1).read(), p.add(2).read()), (8, 3));
        }
        vec.to_vec()
    });
}

/// A pointer that comes from a reference to the first element, across calls that do not need that element.
#[test]
fn methods_refer_only_to_the_elements_that_they_need() {
    macro_rules! keeps_the_first {
        ($(|$vec:ident, $bump:ident| $call:expr;)*) => {$(
            on_vectors!(16, |vec: u64, $bump| {
                vec.extend([1, 2, 3]);
                let first: *mut u64 = &mut vec[0];
                {
                    let $vec = &mut vec;
                    let _ = $call;
                }
                // SAFETY: the call neither moved nor removed the first element, and needed no reference to it.
                unsafe { *first += 100 };
                vec.to_vec()
            });
        )*};
    }
    keeps_the_first! {
        |vec, _bump| vec.len() + usize::from(vec.is_empty()) + vec.capacity();
        |vec, _bump| (vec.as_ptr(), vec.as_mut_ptr());
        |vec, _bump| vec.push(4);
        |vec, _bump| vec.pop();
        |vec, _bump| vec.reserve(4);
        |vec, _bump| vec.try_reserve(4).is_ok();
        |vec, _bump| vec.insert(3, 4);
        |vec, _bump| vec.insert(1, 4);
        |vec, _bump| vec.remove(2);
        |vec, _bump| vec.remove(1);
        |vec, _bump| vec.swap_remove(2);
        |vec, _bump| vec.swap_remove(1);
        |vec, _bump| vec.truncate(1);
        |vec, _bump| vec.truncate(9);
        |vec, _bump| vec.resize(8, 5);
        |vec, _bump| vec.resize(2, 5);
        |vec, _bump| vec.resize_with(8, || 6);
        |vec, _bump| vec.extend([7; 5]);
        |vec, _bump| vec.extend((0..9).filter(|n| n % 2 == 0));
        |vec, _bump| vec.extend_from_slice(&[8; 5]);
        |vec, _bump| vec.split_off(1).len();
        |vec, _bump| vec.split_off(3).len();
        |vec, _bump| vec.drain(1..2).count();
        |vec, _bump| vec.drain(2..).count();
        |vec, _bump| vec.drain(3..3).count();
        |vec, _bump| vec.drain(1..2).next_back();
        |vec, _bump| vec.splice(1..2, [9, 9]).count();
        |vec, _bump| vec.splice(3.., [9, 9]).count();
        |vec, _bump| vec.spare_capacity_mut().len();
        // SAFETY: the first two elements are live.
        |vec, _bump| unsafe { vec.set_len(2) };
    }
    on_vectors!(16, |vec: u64, bump| {
        vec.push(1);
        let first: *mut u64 = &mut vec[0];
        let mut other = bump::Vec::from_iter_in([2, 3], &bump);
        vec.extend(other.drain(..));
        // SAFETY: the first element is where it was.
        unsafe { *first += 100 };
        vec.to_vec()
    });
}

/// `drain`, `retain` and others do not write the elements that stay where they are.
#[test]
fn elements_that_stay_are_not_written() {
    on_vectors!(8, |vec: u64, _bump| {
        vec.extend([1, 2, 3, 4]);
        let last: *mut u64 = &mut vec[3];
        drop(vec.drain(2..2));
        // SAFETY: no element was removed.
        unsafe { *last += 100 };
        vec.to_vec()
    });
}

/// A function that gets one element may use a pointer to another one. (std's `retain` does not permit this.)
#[test]
fn functions_may_use_pointers_to_other_elements() {
    let bump = Bump::new();
    {
        let mut vec = bump::Vec::<u64>::with_capacity_in(8, &bump);
        vec.extend([1, 2, 3, 4]);
        let last: *mut u64 = &mut vec[3];
        let mut calls = 0;
        vec.retain(|n| {
            calls += 1;
            if calls < 4 {
                // SAFETY: the last element is behind the one that the function got, and was not moved yet.
                unsafe { *last += 10 };
            }
            *n != 2
        });
        assert_eq!(vec, [1, 3, 34]);
    }
    {
        let mut vec = bump::Vec::<u64>::with_capacity_in(8, &bump);
        vec.extend([1, 1, 3, 4]);
        let last: *mut u64 = &mut vec[3];
        let mut calls = 0;
        vec.dedup_by(|a, b| {
            calls += 1;
            if calls < 3 {
                // SAFETY: the last element is behind the two that the function got, and was not moved yet.
                unsafe { *last += 10 };
            }
            a == b
        });
        assert_eq!(vec, [1, 3, 24]);
    }
    {
        let mut vec = bump::Vec::<u64>::with_capacity_in(8, &bump);
        vec.extend([1, 2, 3, 4]);
        let last: *mut u64 = &mut vec[3];
        let mut calls = 0;
        let gone = vec
            .extract_if(0..3, |n| {
                calls += 1;
                // SAFETY: the last element is not in the range, and moves only at the end.
                unsafe { *last += 10 };
                *n == 2
            })
            .count();
        assert_eq!((&vec[..], gone, calls), (&[1, 3, 34][..], 1, 3));
    }
}

/// An element that is its own drop's witness: the drop uses a pointer to a kept element.
#[test]
fn drops_may_use_pointers_to_kept_elements() {
    struct Counts(*mut u64, u64);
    impl Drop for Counts {
        fn drop(&mut self) {
            if !self.0.is_null() {
                // SAFETY: the pointer is to the number of an element that is not dropped in this call.
                unsafe { *self.0 += 1 };
            }
        }
    }
    on_vectors!(8, |vec: Counts, _bump| {
        vec.push(Counts(std::ptr::null_mut(), 0));
        let first: *mut u64 = &mut vec[0].1;
        (0..4).for_each(|_| vec.push(Counts(first, 0)));
        vec.truncate(4);
        drop(vec.pop());
        drop(vec.remove(1));
        drop(vec.drain(1..));
        vec.push(Counts(first, 0));
        drop(vec.swap_remove(1));
        let _ = vec.len();
        // SAFETY: the first element is where it was.
        unsafe { *first }
    });
}

#[test]
fn raw_parts_make_a_vector_again() {
    let bump = Bump::new();
    let mut vec = std::mem::ManuallyDrop::new(bump::Vec::from_iter_in([1_u32, 2, 3], &bump));
    let (start, len, capacity) = (vec.as_mut_ptr(), vec.len(), vec.capacity());
    // SAFETY: the parts are those of a vector that is not used again.
    let mut vec = unsafe { bump::Vec::from_raw_parts_in(start, len, capacity, &bump) };
    vec.push(4);
    assert_eq!(vec, [1, 2, 3, 4]);

    // A slice of the arena is a block without unused capacity.
    let slice = bump.alloc_slice_copy(&[5_u32, 6]);
    // SAFETY: this arena allocated the slice, which is not used again.
    let mut vec = unsafe { bump::Vec::from_raw_parts_in(slice.as_mut_ptr(), 2, 2, &bump) };
    vec.extend([7; 100]);
    assert_eq!((vec.len(), &vec[..3]), (102, &[5, 6, 7][..]));

    // For zero-sized elements the capacity is ignored, as in std.
    for capacity in [0, 3, 7, usize::MAX] {
        // SAFETY: the pointer is aligned and not null, and a `()` needs no memory.
        let mut vec = unsafe { bump::Vec::from_raw_parts_in([(); 0].as_mut_ptr(), 3, capacity, &bump) };
        vec.push(());
        vec.extend([(); 9]);
        assert_eq!((vec.len(), vec.capacity(), vec.pop()), (13, usize::MAX, Some(())));
    }
}

#[test]
fn strings_refer_only_to_the_text_that_they_need() {
    macro_rules! on_strings {
        ($(|$text:ident| $call:expr;)*) => {$(
            let bump = Bump::new();
            let expected = {
                let mut text = String::with_capacity(32);
                on_strings!(@ text, |$text| $call)
            };
            let mut text = bump::String::with_capacity_in(32, &bump);
            let found = on_strings!(@ text, |$text| $call);
            assert_eq!(found, expected);
        )*};
        (@ $string:ident, |$text:ident| $call:expr) => {{
            $string.push_str("abc");
            // SAFETY: the bytes stay UTF-8.
            let first: *mut u8 = unsafe { &mut $string.as_bytes_mut()[0] };
            {
                let $text = &mut $string;
                let _ = $call;
            }
            // SAFETY: the call neither moved nor removed the first byte, and needed no reference to it. An `A` is UTF-8.
            unsafe { *first = b'A' };
            $string.to_string()
        }};
    }
    on_strings! {
        |text| text.len() + usize::from(text.is_empty()) + text.capacity();
        |text| text.push_str("def");
        |text| text.push('d');
        |text| text.push('\u{20AC}');
        |text| text.reserve(9);
        // SAFETY: the bytes stay UTF-8.
        |text| unsafe { text.as_mut_vec() }.push(b'd');
        // SAFETY: the bytes stay UTF-8.
        |text| unsafe { text.as_mut_vec() }.len();
    }
    let mut text = String::from("a\u{20AC}b");
    std::mem::forget(text.drain(..1));
    let bump = Bump::new();
    let mut ours = bump::String::from_str_in("a\u{20AC}b", &bump);
    std::mem::forget(ours.drain(..1));
    assert_eq!(text, ours, "a forgotten `drain` removes nothing");
    // The ends of a drain, and one that is dropped early.
    for take in 0..4 {
        let (mut text, mut ours) =
            (String::from("xa\u{20AC}\u{1F980}by"), bump::String::from_str_in("xa\u{20AC}\u{1F980}by", &bump));
        let (mut one, mut two) = (text.drain(1..9), ours.drain(1..9));
        for n in 0..take {
            assert_eq!(
                if n % 2 == 0 { one.next() } else { one.next_back() },
                if n % 2 == 0 { two.next() } else { two.next_back() }
            );
            assert_eq!((one.as_str(), one.size_hint()), (two.as_str(), two.size_hint()));
        }
        drop((one, two));
        assert_eq!(text, ours);
    }
}

/// `Box`'s functions that consume it are not methods, as in std: the value's methods are called.
#[test]
fn methods_of_a_boxed_value_are_reached() {
    struct Value(u32);
    impl Value {
        fn leak(&self) -> u32 {
            self.0
        }
        fn into_raw(&self) -> u32 {
            self.0 + 1
        }
        fn into_inner(&self) -> u32 {
            self.0 + 2
        }
    }
    let bump = Bump::new();
    let boxed = bump::Box::new_in(Value(7), &bump);
    assert_eq!((boxed.leak(), boxed.into_raw(), boxed.into_inner()), (7, 8, 9));
    assert_eq!(bump::Box::into_inner(boxed).0, 7);
    let raw = bump::Box::into_raw(bump::Box::new_in(1, &bump));
    // SAFETY: the pointer came from `into_raw`, and this is the only box made of it.
    assert_eq!(*bump::Box::leak(unsafe { bump::Box::from_raw(raw) }), 1);
}
