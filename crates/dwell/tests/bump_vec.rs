//! `bump::Vec`, `bump::String`, `bump::UnmanagedVec` and `bump::Box` compared with std's types, and attempts to break
//! them: panics in closures, clones and drops, forgotten iterators, user code that re-enters the arena, zero-sized and
//! over-aligned values, overflowing counts, and failed allocations.
#![cfg_attr(feature = "nightly", feature(allocator_api))]
#![expect(clippy::large_stack_arrays, reason = "values of all sizes are put into arenas")]

mod common;

use common::{Counts, Spy, failing_after, left_by, panics};
use dwell::bump::{self, AllocOrInitError, UnmanagedVec};
use dwell::{AllocError, Bump};
use proptest::prelude::*;
use std::cell::{Cell, RefCell};
use std::collections::hash_map::DefaultHasher;
use std::future::Future;
use std::hash::{Hash, Hasher};
use std::io::Write;
use std::mem::{ManuallyDrop, MaybeUninit};
use std::panic::{RefUnwindSafe, UnwindSafe};
use std::pin::Pin;
use std::ptr::NonNull;
use std::task::{Context, Poll, Waker};
use std::time::{Duration, Instant};

/// The number of cases of a random test; `DWELL_TEST_CASES` lowers it for slow tools such as Miri.
fn cases() -> u32 {
    if cfg!(miri) {
        return 2;
    }
    std::env::var("DWELL_TEST_CASES").ok().and_then(|n| n.parse().ok()).unwrap_or(200)
}

/// The maximum number of steps of a random program.
const STEPS: usize = if cfg!(miri) { 16 } else { 120 };

/// The size of a block that gets a dedicated chunk.
const LARGE: usize = 17_152;

// --- Compared with std -----------------------------------------------------------------------------------------------

/// An iterator whose size hint is wrong by this amount.
struct Hinted<I>(I, isize);

impl<I: Iterator> Iterator for Hinted<I> {
    type Item = I::Item;

    fn next(&mut self) -> Option<I::Item> {
        self.0.next()
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.0.size_hint().0.saturating_add_signed(self.1), None)
    }
}

fn range(a: u8, b: u8, len: usize) -> std::ops::Range<usize> {
    let (a, b) = (usize::from(a) % (len + 1), usize::from(b) % (len + 1));
    a.min(b)..a.max(b)
}

/// Runs a program on a vector in an arena and on one of std, and compares the two after each step.
fn vectors<'a, const MIN_ALIGN: usize>(bump: &'a Bump<MIN_ALIGN>, counts: &'a Counts, program: &[[u8; 4]]) {
    let spies = |n: u8, count: u8| (0..u32::from(count)).map(move |k| counts.spy(u32::from(n) / 16 + k / 2));
    let mut ours = bump::Vec::new_in(bump);
    let mut theirs: Vec<Spy<'_>> = Vec::new();
    for &[what, a, b, n] in program {
        let (len, value) = (theirs.len(), u32::from(n) / 16);
        let at = usize::from(a) % (len + 1);
        let range = range(a, b, len);
        match what % 22 {
            0 | 1 => {
                ours.push(counts.spy(value));
                theirs.push(counts.spy(value));
            }
            2 => {
                ours.insert(at, counts.spy(value));
                theirs.insert(at, counts.spy(value));
            }
            3 if len > 0 => assert_eq!(ours.remove(at % len).value, theirs.remove(at % len).value),
            4 if len > 0 => assert_eq!(ours.swap_remove(at % len).value, theirs.swap_remove(at % len).value),
            5 => {
                let (mut our, mut their) = (ours.drain(range.clone()), theirs.drain(range));
                for step in 0..n % 8 {
                    assert_eq!(our.size_hint(), their.size_hint());
                    let (our, their) =
                        if step % 3 == 1 { (our.next_back(), their.next_back()) } else { (our.next(), their.next()) };
                    assert_eq!(our.map(|spy| spy.value), their.map(|spy| spy.value));
                }
                assert!(our.as_slice().iter().map(|spy| spy.value).eq(their.as_slice().iter().map(|spy| spy.value)));
            }
            6..9 => {
                let count = b % 24;
                let hint = [0, -3, 5, isize::MIN, isize::MAX][usize::from(n % 5)];
                let mut our = ours.splice(range.clone(), Hinted(spies(n, count), hint));
                let mut their = theirs.splice(range, spies(n, count));
                for _ in 0..n % 4 {
                    assert_eq!(our.next().map(|spy| spy.value), their.next().map(|spy| spy.value));
                }
            }
            9 => {
                ours.retain_mut(|spy| {
                    spy.value ^= 1;
                    spy.value % 3 != value % 3
                });
                theirs.retain_mut(|spy| {
                    spy.value ^= 1;
                    spy.value % 3 != value % 3
                });
            }
            10 => {
                ours.retain(|spy| spy.value != value);
                theirs.retain(|spy| spy.value != value);
            }
            11 => {
                ours.dedup_by_key(|spy| spy.value);
                theirs.dedup_by_key(|spy| spy.value);
            }
            12 => {
                let same = |element: &mut Spy<'_>, before: &mut Spy<'_>| {
                    before.value += 1;
                    element.value / 4 == before.value / 4
                };
                ours.dedup_by(same);
                theirs.dedup_by(same);
            }
            13 => {
                let len = usize::from(b % 40);
                ours.resize(len, counts.spy(value));
                theirs.resize(len, counts.spy(value));
            }
            14 => {
                let (len, next) = (usize::from(b % 40), Cell::new(value));
                let make = || {
                    next.set(next.get() + 1);
                    bump.alloc(next.get());
                    counts.spy(next.get())
                };
                ours.resize_with(len, make);
                next.set(value);
                theirs.resize_with(len, make);
            }
            15 => {
                let (mut our, mut their) =
                    (bump::Vec::from_iter_in(spies(n, b % 9), bump), spies(n, b % 9).collect::<Vec<_>>());
                ours.append(&mut our);
                theirs.append(&mut their);
                assert!(our.is_empty() && their.is_empty());
            }
            16 => {
                let (our, their) = (ours.split_off(at), theirs.split_off(at));
                assert_eq!(our.len(), their.len());
                ours.splice(..0, our);
                theirs.splice(..0, their);
            }
            17 => {
                let range = range.start..range.end.min(range.start + 20);
                ours.extend_from_within(range.clone());
                theirs.extend_from_within(range);
            }
            18 => {
                let clone = ours.clone();
                let old = std::mem::replace(&mut ours, clone);
                assert!(old.iter().map(|spy| spy.value).eq(theirs.iter().map(|spy| spy.value)));
            }
            19 => {
                let (mut our, their) = (Vec::new(), Cell::new(0_u32));
                our.extend(ours.extract_if(range.clone(), |spy| spy.value % 2 == 0).take(3).map(|spy| spy.value));
                let mut left = 3;
                let mut index = 0;
                theirs.retain(|spy| {
                    let extracts = range.contains(&index) && left > 0 && spy.value.is_multiple_of(2);
                    index += 1;
                    if extracts {
                        left -= 1;
                        assert_eq!(our[their.replace(their.get() + 1) as usize], spy.value);
                    }
                    !extracts
                });
                assert_eq!(their.get() as usize, our.len());
            }
            20 => {
                ours.truncate(at);
                theirs.truncate(at);
                ours.shrink_to_fit();
            }
            _ => {
                // Allocates another block after the vector, and reserves an exact capacity.
                bump.alloc(n);
                ours.reserve_exact(usize::from(n));
                assert!(ours.capacity() >= len + usize::from(n));
            }
        }
        assert!(
            ours.iter().map(|spy| spy.value).eq(theirs.iter().map(|spy| spy.value)),
            "after {what}: {ours:?} beside {theirs:?}"
        );
        if theirs.len() > 2000 {
            ours.clear();
            theirs.clear();
        }
    }
    let (mut our, mut their) = (ours.into_iter(), theirs.into_iter());
    assert!(our.as_slice().iter().map(|spy| spy.value).eq(their.as_slice().iter().map(|spy| spy.value)));
    assert_eq!(our.next().map(|spy| spy.value), their.next().map(|spy| spy.value));
    assert_eq!(our.as_mut_slice().len(), their.len());
}

/// Returns a character of one to four bytes.
fn character(n: u8) -> char {
    ['a', 'b', '\u{E9}', '\u{20AC}', '\u{1F980}'][usize::from(n) % 5]
}

/// Runs a program on a string in an arena and on one of std, and compares the two after each step.
fn strings(bump: &Bump<1>, program: &[[u8; 4]]) {
    let (mut ours, mut theirs) = (bump::String::new_in(bump), String::new());
    for &[what, a, b, n] in program {
        let boundary = |n: u8| {
            let mut at = usize::from(n) % (theirs.len() + 1);
            while !theirs.is_char_boundary(at) {
                at -= 1;
            }
            at
        };
        let (at, end) = (boundary(a).min(boundary(b)), boundary(a).max(boundary(b)));
        let text: String = (0..n % 6).map(|k| character(n / 6 + k)).collect();
        match what % 12 {
            0 => {
                ours.push(character(n));
                theirs.push(character(n));
            }
            1 | 2 => {
                ours.insert(at, character(n));
                theirs.insert(at, character(n));
            }
            3 | 4 => {
                ours.insert_str(at, &text);
                theirs.insert_str(at, &text);
            }
            5 if at < theirs.len() => assert_eq!(ours.remove(at), theirs.remove(at)),
            6 => {
                let (mut our, mut their) = (ours.drain(at..end), theirs.drain(at..end));
                for step in 0..n % 5 {
                    let (our, their) =
                        if step % 2 == 1 { (our.next_back(), their.next_back()) } else { (our.next(), their.next()) };
                    assert_eq!(our, their);
                }
                assert_eq!(our.as_str(), their.as_str());
            }
            7 => {
                let mut count = 0;
                ours.retain(|c| {
                    count += 1;
                    c != character(n) && count % 4 != 0
                });
                count = 0;
                theirs.retain(|c| {
                    count += 1;
                    c != character(n) && count % 4 != 0
                });
            }
            8 => {
                ours.replace_range(at..end, &text);
                theirs.replace_range(at..end, &text);
            }
            9 => {
                let (our, their) = (ours.split_off(at), theirs.split_off(at));
                assert_eq!(our, their);
                ours.insert_str(0, &our);
                theirs.insert_str(0, &their);
            }
            10 => {
                let clone = ours.clone();
                assert_eq!(std::mem::replace(&mut ours, clone), theirs);
                ours.make_ascii_uppercase();
                theirs.make_ascii_uppercase();
            }
            _ => {
                bump.alloc(n);
                assert_eq!(ours.pop(), theirs.pop());
            }
        }
        assert_eq!(ours, theirs);
    }
    let bytes = ours.into_bytes();
    assert_eq!(*bump::String::from_utf8(bytes).unwrap().into_boxed_str(), *theirs);
}

/// A vector in an arena, and its model.
type Pair<'a> = (UnmanagedVec<'a, (u8, u64)>, Vec<(u8, u64)>);

/// Runs a program on unmanaged vectors, each step with any of three arenas, one of which is nested in another.
fn unmanaged<'a>(
    arenas: (&'a Bump, &'a Bump<64>, &'a Bump<1, &'a Bump>),
    vecs: &mut Vec<Pair<'a>>,
    program: &[[u8; 4]],
) {
    for &[what, which, a, n] in program {
        if vecs.len() < 4 {
            vecs.push((UnmanagedVec::new(), Vec::new()));
        }
        let index = usize::from(which) % vecs.len();
        let (ours, theirs) = &mut vecs[index];
        let at = usize::from(a) % (theirs.len() + 1);
        let element = (n, u64::from(a));
        macro_rules! in_arena {
            ($bump:ident => $body:expr) => {
                match n % 3 {
                    0 => {
                        let $bump = arenas.0;
                        $body
                    }
                    1 => {
                        let $bump = arenas.1;
                        $body
                    }
                    _ => {
                        let $bump = arenas.2;
                        $body
                    }
                }
            };
        }
        match what % 12 {
            0..4 => {
                in_arena!(bump => ours.push(bump, element));
                theirs.push(element);
            }
            4 => {
                in_arena!(bump => ours.extend(bump, (0..a).map(|k| (k, 1))));
                theirs.extend((0..a).map(|k| (k, 1)));
            }
            5 => {
                let values = vec![element; usize::from(a)];
                in_arena!(bump => ours.extend_from_slice(bump, &values));
                theirs.extend_from_slice(&values);
            }
            6 => {
                in_arena!(bump => ours.insert(bump, at, element));
                theirs.insert(at, element);
            }
            7 if at < theirs.len() => assert_eq!(ours.remove(at), theirs.remove(at)),
            8 if at < theirs.len() => assert_eq!(ours.swap_remove(at), theirs.swap_remove(at)),
            9 => {
                ours.retain(|(n, _)| *n % 4 != a % 4);
                theirs.retain(|(n, _)| *n % 4 != a % 4);
                ours.sort_unstable();
                theirs.sort_unstable();
            }
            10 => in_arena!(bump => assert_eq!(bump.alloc([n; 90])[89], n)),
            _ => {
                ours.truncate(at);
                theirs.truncate(at);
                assert_eq!(ours.pop(), theirs.pop());
                in_arena!(bump => ours.reserve(bump, usize::from(a) * 20));
            }
        }
        assert!(vecs.iter().all(|(ours, theirs)| ours[..] == theirs[..]));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(cases()))]

    #[test]
    fn vectors_match_std(program in prop::collection::vec(any::<[u8; 4]>(), 0..STEPS)) {
        let counts = Counts::default();
        let left = left_by(|| {
            vectors(&Bump::<1>::with_min_align(), &counts, &program);
            vectors(&Bump::<8>::new(), &counts, &program);
            vectors(&Bump::<64>::with_min_align(), &counts, &program);
        });
        prop_assert_eq!(left, (0, 0));
        prop_assert!(counts.balanced());
    }

    #[test]
    fn strings_match_std(program in prop::collection::vec(any::<[u8; 4]>(), 0..STEPS)) {
        strings(&Bump::with_min_align(), &program);
    }

    #[test]
    fn from_utf8_lossy_matches_std(bytes in prop::collection::vec(any::<u8>(), 0..STEPS)) {
        let bump = Bump::new();
        prop_assert_eq!(&*bump::String::from_utf8_lossy_in(&bytes, &bump), String::from_utf8_lossy(&bytes));
        let ours = bump::String::from_utf8(bump::Vec::from_iter_in(bytes.iter().copied(), &bump));
        let ours = ours.map_err(|error| { assert_eq!(error.as_bytes(), bytes); error.utf8_error() });
        prop_assert_eq!(ours.map(|text| text.len()), String::from_utf8(bytes.clone()).map(|text| text.len()).map_err(|error| error.utf8_error()));
    }

    #[test]
    fn unmanaged_vectors_may_use_any_arena(program in prop::collection::vec(any::<[u8; 4]>(), 0..STEPS)) {
        let (one, two) = (Bump::new(), Bump::<64>::with_min_align());
        let three = Bump::new_in(&one);
        let mut vecs = Vec::new();
        let (before, rest) = program.split_at(program.len() / 2);
        unmanaged((&one, &two, &three), &mut vecs, before);
        // Blocks allocated in the scope end with it, so the vectors are copied.
        one.scope(|scope| {
            let mut vecs: Vec<_> = vecs.iter().map(|(_, theirs)| {
                (UnmanagedVec::from_iter_in(theirs.iter().copied(), &one), theirs.clone())
            }).collect();
            unmanaged((scope, &two, &three), &mut vecs, rest);
            unmanaged((&one, &two, &three), &mut vecs, before);
        });
        unmanaged((&one, &two, &three), &mut vecs, rest);
        for (ours, theirs) in vecs {
            prop_assert_eq!(&*ours.into_slice(), &*theirs);
        }
    }
}

// --- Panics ----------------------------------------------------------------------------------------------------------

/// An operation on a vector whose elements panic.
type Operation = for<'c, 'a> fn(&mut bump::Vec<'a, Owner<'c>, 8>, &'c Counts, &Cell<u32>);

/// An element that owns a heap block, so that every tool detects a double drop.
#[derive(Clone)]
struct Owner<'c>(Spy<'c>, Box<u32>);

fn owner(counts: &Counts, value: u32) -> Owner<'_> {
    Owner(counts.spy(value), Box::new(value))
}

/// Counts down, and panics at 0.
fn tick(fuse: &Cell<u32>) {
    fuse.set(fuse.get().wrapping_sub(1));
    assert_ne!(fuse.get(), 0, "intentional panic in a closure");
}

const OPERATIONS: &[(&str, Operation)] = &[
    ("drain", |vec, _, _| drop(vec.drain(1..6))),
    ("drain, half of it", |vec, _, _| _ = vec.drain(1..6).nth(1)),
    ("drain from the back", |vec, _, _| _ = vec.drain(1..6).nth_back(1)),
    ("splice, longer", |vec, counts, fuse| {
        let values = (0..9).map(|n| {
            tick(fuse);
            owner(counts, n)
        });
        drop(vec.splice(2..4, values.filter(|_| true)));
    }),
    ("splice, shorter", |vec, counts, fuse| {
        let values = (0..2).map(|n| {
            tick(fuse);
            owner(counts, n)
        });
        drop(vec.splice(1..6, values));
    }),
    ("splice at the end", |vec, counts, fuse| {
        let values = (0..20).map(|n| {
            tick(fuse);
            owner(counts, n)
        });
        drop(vec.splice(7.., values));
    }),
    ("try_splice", |vec, counts, fuse| {
        let values = (0..5).map(|n| {
            tick(fuse);
            owner(counts, n)
        });
        vec.try_splice(3..5, values).unwrap();
    }),
    ("retain_mut", |vec, _, fuse| {
        vec.retain_mut(|element| {
            tick(fuse);
            element.0.value % 3 != 0
        });
    }),
    ("extract_if", |vec, _, fuse| {
        let extracted = vec.extract_if(1..7, |element| {
            tick(fuse);
            element.0.value % 2 == 0
        });
        drop(extracted.collect::<Vec<_>>());
    }),
    ("dedup_by", |vec, _, fuse| {
        vec.dedup_by(|element, before| {
            tick(fuse);
            element.0.value / 3 == before.0.value / 3
        });
    }),
    ("dedup_by_key", |vec, _, fuse| {
        vec.dedup_by_key(|element| {
            tick(fuse);
            element.0.value / 2
        });
    }),
    ("resize, longer", |vec, counts, _| vec.resize(20, owner(counts, 1))),
    ("resize, shorter", |vec, counts, _| vec.resize(2, owner(counts, 1))),
    ("resize_with", |vec, counts, fuse| {
        vec.resize_with(20, || {
            tick(fuse);
            owner(counts, 1)
        });
    }),
    ("append", |vec, _, _| {
        let mut other = vec.clone();
        vec.append(&mut other);
    }),
    ("split_off", |vec, _, _| drop(vec.split_off(3))),
    ("extend_from_within", |vec, _, _| vec.extend_from_within(1..5)),
    ("clone", |vec, _, _| drop(vec.clone())),
    ("extend", |vec, counts, fuse| {
        vec.extend((0..9).map(|n| {
            tick(fuse);
            owner(counts, n)
        }));
    }),
    ("truncate", |vec, _, _| vec.truncate(2)),
    ("from_elem_in", |vec, counts, _| drop(bump::vec![in vec.bump(); owner(counts, 1); 6])),
];

/// Runs each operation with a panic in each call of user code: no element is dropped twice, and the vector remains
/// usable.
#[test]
fn panic_in_each_call_of_user_code() {
    for (name, operation) in OPERATIONS {
        for source in ["drop", "clone", "closure"] {
            for at in (1_u32..).step_by(if cfg!(miri) { 7 } else { 1 }) {
                let counts = Counts::default();
                let bump = Bump::new();
                let mut vec = bump::Vec::from_iter_in((0..8).map(|n| owner(&counts, n)), &bump);
                let fuse = Cell::new(0);
                match source {
                    "drop" => counts.panic_at_drop.set(at),
                    "clone" => counts.panic_at_clone.set(at),
                    _ => fuse.set(at),
                }
                let panicked = panics(|| operation(&mut vec, &counts, &fuse));
                counts.panic_at_drop.set(0);
                counts.panic_at_clone.set(0);
                // Every remaining element is intact.
                assert!(vec.iter().all(|element| element.0.value == *element.1), "{name}");
                vec.push(owner(&counts, 9));
                vec.extend_from_within(..);
                drop(vec);
                assert!(counts.balanced(), "{name}: {counts:?} with a panic at {source} {at}");
                if !panicked {
                    break;
                }
                assert!(at < 100);
            }
        }
    }
}

/// A panic in `retain` leaves the string valid UTF-8.
#[test]
fn panic_in_string_retain_keeps_valid_utf8() {
    let bump = Bump::new();
    for at in 1..7 {
        let mut text = bump::String::from_str_in("a\u{E9}\u{20AC}\u{1F980}bc", &bump);
        let fuse = Cell::new(at);
        assert!(panics(|| text.retain(|character| {
            tick(&fuse);
            character != '\u{E9}'
        })));
        let expected = ["a\u{E9}\u{20AC}\u{1F980}bc", "a\u{20AC}\u{1F980}bc"][usize::from(at > 2)];
        assert_eq!(text, expected);
    }
}

// --- Forgotten iterators ---------------------------------------------------------------------------------------------

#[test]
fn forgotten_iterators_only_leak() {
    let counts = Counts::default();
    let bump = Bump::new();
    let make = || bump::Vec::from_iter_in((0..8).map(|n| counts.spy(n)), &bump);
    let check = |vec: bump::Vec<'_, Spy<'_>>, expected: &[u32]| {
        assert!(vec.iter().map(|spy| spy.value).eq(expected.iter().copied()));
        let mut vec = vec;
        vec.resize(40, counts.spy(7));
        assert_eq!(vec.len(), 40);
    };
    for steps in 0..3 {
        let mut vec = make();
        let mut drain = ManuallyDrop::new(vec.drain(2..6));
        (0..steps).for_each(|_| _ = drain.next());
        check(vec, &[0, 1]);

        let mut vec = make();
        let mut splice = ManuallyDrop::new(vec.splice(2..6, (0..50).map(|n| counts.spy(n))));
        (0..steps).for_each(|_| _ = splice.next());
        check(vec, &[0, 1]);

        let mut vec = make();
        let mut extract = ManuallyDrop::new(vec.extract_if(1.., |spy| spy.value % 2 == 0));
        (0..steps).for_each(|_| _ = extract.next());
        let kept = [&[0][..], &[0, 1], &[0, 1, 3]][steps];
        check(vec, kept);

        let mut text = bump::String::from_str_in("\u{E9}\u{20AC}\u{1F980}", &bump);
        let mut drain = ManuallyDrop::new(text.drain(2..5));
        (0..steps).for_each(|_| _ = drain.next());
        // As in std: the text is removed when the iterator is dropped.
        assert_eq!(text, "\u{E9}\u{20AC}\u{1F980}");
        text.push('x');
        assert_eq!(text, "\u{E9}\u{20AC}\u{1F980}x");
    }
    // Only the elements inside the forgotten iterators leak.
    assert!(counts.dropped.get() < counts.made.get() && counts.made.get() - counts.dropped.get() <= 3 * (6 + 6 + 7));
}

// --- Re-entrancy -----------------------------------------------------------------------------------------------------

#[test]
fn closures_and_elements_re_enter() {
    let bump = Bump::new();
    let kept = RefCell::new(bump::Vec::new_in(&bump));
    let busy = |n: u32| {
        let value = &*bump.alloc(n);
        kept.borrow_mut().push(value);
        bump.scope(|scope| assert_eq!(scope.alloc_slice_copy(&[n; 100]), &[n; 100]));
        drop(bump::vec![in &bump; [n; 150]; 4]);
    };
    let mut vec = bump::Vec::from_iter_in(0..20_u32, &bump);
    vec.retain_mut(|n| {
        busy(*n);
        *n % 3 != 0
    });
    drop(vec.splice(2..5, (100..140).inspect(|n| busy(*n))));
    vec.dedup_by_key(|n| {
        busy(*n);
        *n / 2
    });
    vec.resize_with(60, || {
        busy(7);
        7
    });
    let extracted: Vec<u32> = vec
        .extract_if(.., |n| {
            busy(*n);
            *n == 7
        })
        .collect();
    assert!(extracted.iter().all(|n| *n == 7));
    assert!(!vec.contains(&7) && vec.contains(&138));
    // Elements that use the arena when they are cloned or dropped.
    struct Busy<'a>(&'a dyn Fn(u32), u32);
    impl Clone for Busy<'_> {
        fn clone(&self) -> Self {
            (self.0)(self.1);
            Self(self.0, self.1 + 1)
        }
    }
    impl Drop for Busy<'_> {
        fn drop(&mut self) {
            (self.0)(self.1);
        }
    }
    let mut elements = bump::vec![in &bump; Busy(&busy, 0); 5];
    elements.resize(30, Busy(&busy, 3));
    elements.extend_from_within(10..20);
    let mut clone = elements.clone();
    elements.append(&mut clone);
    drop(elements.drain(5..70));
    drop(elements.splice(1..3, (0..10).map(|n| Busy(&busy, n))));
    elements.retain(|element| element.1 > 4);
    drop(elements.split_off(2));
    assert_eq!(elements.len(), 2);
    drop((elements, clone));
    assert!(kept.borrow().iter().all(|n| **n < 200));
    assert!(
        bump.alloc_try_with(|| {
            busy(1);
            Err::<u32, _>(())
        })
        .is_err()
    );
}

/// The string of `alloc_fmt`, a vector and a string of one arena grow alternately, each from inside the growth of the
/// first.
#[test]
fn collections_grow_inside_each_others_growth() {
    const TURNS: u32 = if cfg!(miri) { 15 } else { 400 };
    struct Grows<'a>(&'a Bump, RefCell<(bump::String<'a>, bump::Vec<'a, u32>)>);
    impl std::fmt::Display for Grows<'_> {
        fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            for n in 0..TURNS {
                f.write_str("text")?;
                let mut own = self.1.borrow_mut();
                match n % 3 {
                    0 => own.0.push_str("string"),
                    1 => own.1.extend_from_slice(&[n; 20]),
                    // Frees the end of the last block of the arena, after the string that is being written.
                    _ => own.1.shrink_to_fit(),
                }
                if n % 5 == 0 {
                    let half = own.1.len() / 2;
                    own.1.splice(..half, (0..3).inspect(|n| _ = self.0.alloc([*n; 9])));
                }
            }
            Ok(())
        }
    }
    for fill in [0, 40, 500] {
        let bump = Bump::new();
        bump.alloc_slice_copy(&vec![1_u8; fill]);
        let grows = Grows(&bump, RefCell::new((bump::String::new_in(&bump), bump::Vec::new_in(&bump))));
        let text = bump.alloc_fmt(format_args!("{grows}{grows}"));
        let mut string = bump::format!(in &bump, "{grows}");
        let (inner, numbers) = grows.1.into_inner();
        string.push_str("end");
        assert_eq!(*text, *"text".repeat(2 * TURNS as usize));
        assert_eq!(*string, *("text".repeat(TURNS as usize) + "end"));
        assert_eq!(*inner, *"string".repeat(3 * TURNS.div_ceil(3) as usize));
        assert!(numbers.iter().all(|n| *n < TURNS));
    }
}

/// The drops, clones and comparisons of elements push to another vector of the arena, or panic, while an operation
/// moves them.
#[test]
fn elements_push_to_another_vector_when_moved() {
    /// The number of calls of user code, plus one.
    const ALL: u32 = 29;
    struct Pushes<'v, 'a>(&'v RefCell<bump::Vec<'a, u32>>, u32, &'v Cell<u32>);
    impl Pushes<'_, '_> {
        fn push(&self) {
            self.0.borrow_mut().push(self.1);
            self.2.set(self.2.get().wrapping_sub(1));
            assert_ne!(self.2.get(), 0, "intentional panic in an element");
        }
    }
    impl Drop for Pushes<'_, '_> {
        fn drop(&mut self) {
            self.push();
        }
    }
    impl Clone for Pushes<'_, '_> {
        fn clone(&self) -> Self {
            self.push();
            Self(self.0, self.1 + 100, self.2)
        }
    }
    impl PartialEq for Pushes<'_, '_> {
        fn eq(&self, other: &Self) -> bool {
            self.push();
            self.1 / 2 == other.1 / 2
        }
    }
    for at in (0..40).step_by(if cfg!(miri) { 9 } else { 1 }) {
        let bump = Bump::new();
        let (pushed, fuse) = (RefCell::new(bump::Vec::new_in(&bump)), Cell::new(0));
        let mut vec = bump::Vec::from_iter_in((0..8).map(|n| Pushes(&pushed, n, &fuse)), &bump);
        fuse.set(at);
        let has_panicked = panics(|| {
            vec.dedup();
            drop(vec.drain(1..2));
            vec.resize(6, Pushes(&pushed, 50, &fuse));
            let mut tail = vec.split_off(3);
            tail.extend_from_within(1..);
            vec.append(&mut tail);
            drop(vec.splice(2..4, vec![Pushes(&pushed, 7, &fuse); 3]));
            vec.retain(|element| element.1 % 2 == 0);
            vec.truncate(1);
        });
        fuse.set(0);
        assert_eq!(has_panicked, 0 < at && at < ALL, "{at}");
        let alive = vec.len();
        pushed.borrow_mut().clear();
        drop(vec);
        assert_eq!(pushed.borrow().len(), alive, "each of those that were left was dropped once");
    }
}

// --- Zero size and large alignment -----------------------------------------------------------------------------------

thread_local!(static NOTHINGS: Cell<i32> = const { Cell::new(0) });

/// A zero-sized value that counts its instances.
#[derive(Debug, PartialEq)]
#[repr(align(64))]
struct Nothing([u64; 0]);

impl Nothing {
    fn new() -> Self {
        NOTHINGS.set(NOTHINGS.get() + 1);
        Self([])
    }
}

impl Clone for Nothing {
    fn clone(&self) -> Self {
        assert_eq!((&raw const *self).addr() % 64, 0);
        Self::new()
    }
}

impl Drop for Nothing {
    fn drop(&mut self) {
        assert_eq!((&raw const *self).addr() % 64, 0);
        NOTHINGS.set(NOTHINGS.get() - 1);
    }
}

#[test]
fn zero_sized_elements_are_counted_and_dropped() {
    let bump = Bump::<1>::with_min_align();
    let mut vec = bump::vec![in &bump; Nothing::new(), Nothing::new(), Nothing::new()];
    vec.resize(10, Nothing::new());
    vec.extend_from_within(2..7);
    assert_eq!(vec.drain(1..4).count(), 3);
    assert_eq!(vec.splice(3..6, (0..30).map(|_| Nothing::new())).count(), 3);
    assert_eq!((vec.len(), NOTHINGS.get()), (39, 39));
    let mut other = vec.split_off(20);
    vec.append(&mut other);
    let clone = vec.clone();
    assert_eq!(vec, clone);
    vec.dedup();
    assert_eq!((vec.len(), clone.len(), NOTHINGS.get()), (1, 39, 40));
    assert_eq!(clone.into_iter().rev().take(5).count(), 5);
    vec.retain(|_| false);
    vec.resize_with(4, Nothing::new);
    assert_eq!(vec.extract_if(.., |_| true).take(1).count(), 1);
    assert_eq!(NOTHINGS.get(), 3);
    vec.shrink_to_fit();
    drop(vec.into_boxed_slice());
    assert_eq!(NOTHINGS.get(), 0);
    assert_eq!(bump.allocated_bytes(), 0);

    let mut units = UnmanagedVec::new();
    units.extend(&bump, std::iter::repeat_n((), 1000));
    units.reserve(&bump, 5);
    assert_eq!((units.len(), units.pop(), bump.allocated_bytes()), (1000, Some(()), 0));
    assert!(units.try_reserve(&bump, u32::MAX as usize).is_err());
    assert!(bump.alloc_try_with(|| Err::<(), _>(7)).is_err());
    assert_eq!(bump.alloc_slice_try_fill_with(3, |_| Ok::<_, ()>(())).unwrap().len(), 3);
}

#[derive(Clone, Copy, Debug, PartialEq)]
#[repr(align(128))]
struct Aligned(u8);

#[test]
fn over_aligned_elements_stay_aligned() {
    fn check<const MIN_ALIGN: usize>() {
        let bump = Bump::<MIN_ALIGN>::with_min_align();
        let aligned = |vec: &[Aligned]| vec.as_ptr().addr().is_multiple_of(128);
        let mut vec = bump::vec![in &bump; Aligned(0), Aligned(1), Aligned(2)];
        let mut list = UnmanagedVec::new();
        for n in 3..40 {
            drop(vec.splice(1..2, [Aligned(n), Aligned(1)]));
            bump.alloc(n);
            list.push(&bump, Aligned(n));
            assert!(aligned(&vec) && aligned(&list));
        }
        vec.extend_from_within(..20);
        let (tail, clone) = (vec.split_off(7), vec.clone());
        assert!(aligned(&tail) && aligned(&clone) && clone == *vec);
        assert!(list.iter().map(|n| n.0).eq(3..40));
        let mut exact = tail;
        exact.reserve_exact(50);
        assert!(aligned(&exact) && exact.capacity() == exact.len() + 50);
        let made = bump.alloc_slice_try_fill_iter([Ok(Aligned(1)), Err(2)]);
        assert_eq!(made, Err(2));
    }
    check::<1>();
    check::<8>();
    check::<64>();
}

// --- Overflow and failed allocations ---------------------------------------------------------------------------------

#[test]
fn overflowing_counts_and_ranges_panic() {
    let bump = Bump::new();
    let mut vec = bump::vec![in &bump; 1_u64, 2];
    assert!(panics(|| vec.reserve_exact(usize::MAX)));
    assert!(panics(|| vec.resize(usize::MAX, 1)));
    assert!(panics(|| vec.resize_with(usize::MAX / 8, || 1)));
    assert!(vec.try_reserve_exact(usize::MAX).is_err() && vec.try_reserve_exact(usize::MAX / 4).is_err());
    assert_eq!(vec.try_resize(usize::MAX, 5).unwrap_err().into_inner(), 5);
    assert_eq!(vec.try_resize_with(usize::MAX, || 6).unwrap_err().into_inner()(), 6);
    assert!(panics(|| drop(vec.drain(3..))) && panics(|| drop(vec.drain(..=usize::MAX))));
    let backwards = (2, 1);
    assert!(panics(|| drop(vec.drain(backwards.0..backwards.1))) && panics(|| drop(vec.splice(..3, []))));
    assert!(panics(|| drop(vec.drain((std::ops::Bound::Excluded(usize::MAX), std::ops::Bound::Unbounded)))));
    assert!(panics(|| _ = vec.split_off(3)) && panics(|| vec.extend_from_within(1..3)));
    assert_eq!(vec, [1, 2]);
    assert!(bump::Vec::<u64>::try_from_elem_in(1, usize::MAX, &bump).is_err());
    assert!(panics(|| _ = bump.alloc_slice_try_fill_with(usize::MAX, |_| Err::<u64, ()>(()))));
    assert!(matches!(
        bump.try_alloc_slice_try_fill_with(usize::MAX, |_| Err::<u64, ()>(())),
        Err(AllocOrInitError::Alloc(_))
    ));
    // A vector of `usize::MAX` units.
    let mut units = bump::vec![in &bump; (), ()];
    // SAFETY: units take no memory, so elements up to any length count as initialised.
    unsafe { units.set_len(usize::MAX) };
    assert!(panics(|| units.push(())) && units.try_push(()).is_err());
    assert!(panics(|| units.append(&mut bump::vec![in &bump; ()])) && panics(|| units.extend_from_within(..1)));
    assert!(panics(|| drop(units.splice(..1, [(), ()]))));
    assert_eq!(units.len(), usize::MAX);
    assert!(units.try_splice(..1, [(), ()]).is_err() && units.try_reserve_exact(1).is_err());
    let mut units = UnmanagedVec::new();
    assert!(panics(|| units.extend_from_slice(&bump, &[(); 1 << 33])));
    assert!(units.try_extend_from_slice(&bump, &[(); 1 << 33]).is_err());
    units.extend_from_slice(&bump, &[(); u32::MAX as usize]);
    assert!(units.try_push(&bump, ()).is_err() && panics(|| units.push(&bump, ())));
    assert_eq!(units.len(), u32::MAX as usize);
    // Texts
    let mut text = bump::String::from_str_in("\u{E9}", &bump);
    assert!(panics(|| text.insert(1, 'x')) && panics(|| text.insert_str(3, "x")) && panics(|| _ = text.remove(2)));
    assert!(panics(|| drop(text.drain(..1))) && panics(|| drop(text.drain(3..))) && panics(|| _ = text.split_off(1)));
    assert!(panics(|| text.replace_range(1.., "x")));
    assert_eq!(text, "\u{E9}");
}

/// If the vector cannot grow, `splice` uses all of its spare capacity for the gap, so the tail moves a few times. It
/// used to move for each value, which took a minute here.
#[test]
fn splice_within_the_capacity_takes_linear_time() {
    let count = if cfg!(miri) { 96 } else { 3 << 18 };
    let bump = Bump::new();
    let mut vec = bump::Vec::with_capacity_in(3 * count, &bump);
    vec.extend(0..count); // at its last doubling the gap has less than a third of the rest
    bump.set_allocation_limit(Some(bump.allocated_bytes()));
    let begin = Instant::now();
    // `filter` gives no lower size hint, so that the gap grows by doubling.
    drop(vec.splice(..0, (0..2 * count).filter(|_| true)));
    assert!(begin.elapsed() < Duration::from_secs(20), "{:?}", begin.elapsed());
    assert!(vec.iter().copied().eq((0..2 * count).chain(0..count)));
}

/// Each allocating call fails at the limit: the error returns the arguments, and nothing is lost.
#[test]
fn failed_allocation_returns_the_arguments() {
    fn layout_of<T, V>(result: Result<T, AllocError<V>>) -> usize {
        result.map(drop).unwrap_err().layout().size()
    }
    let counts = Counts::default();
    let bump = Bump::new();
    let mut vec = bump::Vec::from_iter_in((0..4).map(|n| counts.spy(n)), &bump);
    let mut text = bump::String::from_str_in("text", &bump);
    let mut list = UnmanagedVec::from_iter_in(0..4, &bump);
    bump.set_allocation_limit(Some(bump.allocated_bytes()));
    // Enough values to need a dedicated chunk; fewer under Miri.
    const MANY: usize = if cfg!(miri) { 1100 } else { 2000 };
    let many = || (0..u32::try_from(MANY).unwrap()).map(|n| counts.spy(n));

    let (refused, rest) = vec.try_splice(1..2, many()).unwrap_err().into_inner();
    // The vector has the values from 0 on; the error has the refused value and the rest.
    let here = vec.len() - 3;
    assert!((0..here).all(|n| vec[n + 1].value as usize == n) && refused.value as usize == here);
    assert_eq!(rest.count(), MANY - here - 1);
    assert_eq!((vec[0].value, vec[here + 1].value, vec[here + 2].value), (0, 2, 3));
    drop(refused);
    vec.truncate(4);

    assert_eq!(vec.try_resize(MANY, counts.spy(9)).unwrap_err().into_inner().value, 9);
    assert!(vec.try_resize_with(MANY, || counts.spy(1)).is_err());
    assert!(layout_of(vec.try_reserve_exact(MANY)) >= MANY);
    let mut other = Bump::new();
    {
        let mut large = bump::Vec::from_iter_in(many(), &other);
        assert!(vec.try_append(&mut large).is_err());
        assert_eq!(large.len(), MANY);
        bump.set_allocation_limit(None);
        vec.try_append(&mut large).unwrap();
        bump.set_allocation_limit(Some(bump.allocated_bytes()));
    }
    assert!(vec.try_clone().is_err() && vec.try_extend_from_within(..).is_err() && vec.try_split_off(4).is_err());
    assert_eq!(vec.len(), MANY + 4);
    assert_eq!(bump::try_vec![in &bump; [7_u8; 9000]; 3].unwrap_err().into_inner(), [7; 9000]);
    assert_eq!(bump::try_vec![in &bump; [7_u8; 9000], [8; 9000]].unwrap_err().into_inner()[1], [8; 9000]);
    other.reset();

    let long = "x".repeat(9000);
    assert!(text.try_insert_str(1, &long).is_err() && text.try_replace_range(1..2, &long).is_err());
    assert!(text.try_reserve(9000).is_err() && bump::String::try_from_utf8_lossy_in(long.as_bytes(), &bump).is_err());
    assert!(bump::try_format!(in &bump, "{long}").is_err());
    let mut whole = bump::vec![in &bump; 0_u8; 1];
    while whole.try_push(b'a').is_ok() {}
    let mut whole = bump::String::from_utf8(whole).unwrap();
    assert_eq!(whole.try_insert(1, 'x').unwrap_err().into_inner(), 'x');
    assert!(whole.try_clone().is_err() && whole.len() < 20 || whole.try_split_off(0).is_err());
    assert_eq!(text, "text");
    assert_eq!(whole.into_bytes().write(&long.into_bytes()).unwrap_err().kind(), std::io::ErrorKind::OutOfMemory);

    assert_eq!(list.try_extend(&bump, 0..9000).unwrap_err().into_inner().1.end, 9000);
    list.truncate(4);
    assert!(list.try_reserve(&bump, 9000).is_err() && list.try_extend_from_slice(&bump, &[1; 9000]).is_err());
    assert_eq!(list, [0, 1, 2, 3]);
    while list.try_push(&bump, 1).is_ok() {}
    assert_eq!(list.try_push(&bump, 5).unwrap_err().into_inner(), 5);
    assert_eq!(list.try_insert(&bump, 0, 6).unwrap_err().into_inner(), 6);
    assert!(UnmanagedVec::<u8>::try_with_capacity_in(9000, &bump).is_err());
    assert!(UnmanagedVec::try_from_iter_in(0..9000, &bump).is_err());
    assert!(bump::Box::try_from_iter_in(0..9000, &bump).is_err());

    let refused = bump.try_alloc_try_with(|| Ok::<_, ()>([1_u8; 9000]));
    assert!(matches!(&refused, Err(AllocOrInitError::Alloc(error)) if error.layout().size() == 9000));
    let Err(AllocOrInitError::Alloc(error)) = refused else { unreachable!() };
    assert_eq!(error.into_inner()(), Ok([1; 9000]));
    assert!(matches!(bump.try_alloc_try_with(|| Err::<(), _>(5)), Err(AllocOrInitError::Init(5))));
    let refused = bump.try_alloc_slice_try_fill_iter((0..9000).map(Ok::<_, ()>));
    let Err(AllocOrInitError::Alloc(error)) = refused else { unreachable!() };
    assert_eq!(error.into_inner().len(), 9000);
    assert!(bump.try_alloc_slice_fill_clone(9000, &1).is_err());
    drop(vec);
    assert!(counts.balanced());
    // The same with an allocator that fails.
    let bump = Bump::new();
    let mut vec = bump::vec![in &bump; 1, 2, 3];
    failing_after(0, || assert!(vec.try_splice(1..1, 0..5000).is_err()));
    assert_eq!((vec[0], vec[vec.len() - 2], vec[vec.len() - 1]), (1, 2, 3));
}

// --- Failing initialisers --------------------------------------------------------------------------------------------

#[test]
fn failed_initializers_free_the_block() {
    let counts = Counts::default();
    let bump = Bump::with_capacity(1000);
    bump.alloc(1);
    let free = bump.chunk_capacity();
    assert_eq!(bump.alloc_try_with(|| Err::<[u64; 9], _>("no")), Err("no"));
    assert_eq!(bump.chunk_capacity(), free);
    assert_eq!(*bump.alloc_try_with(|| Ok::<_, ()>(7)).unwrap(), 7);
    // A value allocated after the block stays valid.
    let behind = RefCell::new(None);
    assert!(
        bump.alloc_try_with(|| {
            *behind.borrow_mut() = Some(bump.alloc([3_u64; 4]));
            Err::<[u64; 9], _>(())
        })
        .is_err()
    );
    bump.alloc([9_u64; 20]);
    assert_eq!(behind.into_inner().as_deref(), Some(&[3; 4]));
    // A failed block with a dedicated chunk frees the chunk.
    let before = bump.allocated_bytes();
    assert!(bump.alloc_try_with(|| Err::<[u8; LARGE], _>(())).is_err());
    assert_eq!(bump.allocated_bytes(), before);
    assert!(panics(|| _ = bump.alloc_try_with(|| -> Result<[u8; 100], ()> { panic!("intentional panic") })));

    let free = bump.chunk_capacity();
    let failed = bump.alloc_slice_try_fill_with(5, |n| if n < 3 { Ok(counts.spy(1)) } else { Err(n) });
    assert_eq!(failed.map(|spies| spies.len()).unwrap_err(), 3);
    assert!(counts.balanced() && counts.made.get() == 3);
    assert_eq!(bump.chunk_capacity(), free);
    let failed = bump.alloc_slice_try_fill_iter([Ok(counts.spy(1)), Err(2), Ok(counts.spy(3))]);
    assert_eq!(failed.map(|spies| spies.len()).unwrap_err(), 2);
    assert!(counts.balanced());
    let numbers = bump.alloc_slice_try_fill_iter([Ok::<_, ()>(1), Ok(2)]).unwrap();
    assert_eq!(numbers, [1, 2]);
    // An `ExactSizeIterator` that yields fewer items than its length.
    struct Short(usize);
    impl Iterator for Short {
        type Item = Result<u32, ()>;
        fn next(&mut self) -> Option<Self::Item> {
            self.0 = self.0.checked_sub(1)?;
            Some(Ok(1))
        }
        fn size_hint(&self) -> (usize, Option<usize>) {
            (self.0 + 5, Some(self.0 + 5))
        }
    }
    impl ExactSizeIterator for Short {}
    assert!(panics(|| _ = bump.alloc_slice_try_fill_iter(Short(3))));
    assert!(panics(|| _ = bump.try_alloc_slice_try_fill_iter(Short(3))));
    assert!(panics(
        || _ = bump.alloc_slice_try_fill_with(3, |_| -> Result<Spy<'_>, ()> { panic!("intentional panic") })
    ));
    assert_eq!(format!("{:?}", AllocOrInitError::<_>::Init(3)), "Init(3)");
    assert_eq!(AllocOrInitError::<_>::Init(3).to_string(), "3");
}

#[test]
fn allocation_limit_and_chunk_capacity() {
    let bump = Bump::new();
    assert_eq!((bump.allocation_limit(), bump.chunk_capacity()), (None, 0));
    bump.set_allocation_limit(Some(1000));
    assert_eq!(bump.allocation_limit(), Some(1000));
    bump.alloc(1_u8);
    let left = bump.chunk_capacity();
    assert!(left > 0);
    bump.alloc_slice_fill_copy(left, 1_u8);
    assert_eq!(bump.chunk_capacity(), 0);
    assert!(bump.try_alloc([0_u8; 1000]).is_err());
    bump.scope(|scope| {
        assert_eq!(scope.allocation_limit(), Some(1000));
        scope.set_allocation_limit(Some(0));
    });
    assert_eq!(bump.allocation_limit(), Some(0));
    bump.set_allocation_limit(Some(usize::MAX));
    assert_eq!(bump.allocation_limit(), None);
    bump.set_allocation_limit(None);
    assert_eq!(bump.allocation_limit(), None);
}

// --- Chunks ----------------------------------------------------------------------------------------------------------

/// `chunks_raw` is called, then blocks with dedicated chunks grow, move and are freed: all returned pointers stay
/// valid.
#[test]
fn pointers_from_chunks_raw_stay_valid() {
    let bump = Bump::new();
    // A shared reference, since reading through a raw pointer would invalidate a `&mut`.
    let small: &[u8; 8] = bump.alloc([5_u8; 8]);
    let large = || {
        let mut vec = bump::Vec::new_in(&bump);
        vec.extend_from_slice(&[7_u8; LARGE]);
        vec
    };
    let (first, second, mut third) = (large(), large(), large());
    let mut chunks = bump.chunks_raw();
    let newest = chunks.next().unwrap();
    assert_eq!(newest.cast::<u8>().as_ptr(), third.as_mut_ptr());
    third.reserve(4 * LARGE); // moves the block
    drop((third, second));
    let more = large();
    drop(first);
    drop(more);
    bump.alloc([0_u8; LARGE]);
    bump.scope(|scope| scope.alloc_slice_copy(&[1_u8; LARGE]).len());
    let mut count = 1;
    let mut found = false;
    for chunk in chunks.by_ref().chain([newest]) {
        count += 1;
        for at in 0..chunk.len().min(8) {
            // SAFETY: the chunk has this byte, it is initialised, and it is not written now.
            let byte = unsafe { chunk.cast::<MaybeUninit<u8>>().add(at) };
            // SAFETY: the chunk is live for as long as the arena is borrowed.
            let byte = unsafe { byte.read() };
            // SAFETY: the first bytes of each chunk were written.
            assert!(matches!(unsafe { byte.assume_init() }, 5 | 7));
        }
        found |= chunk.cast::<u8>().as_ptr().cast_const() == small.as_ptr();
    }
    assert!(found && count >= 4 && chunks.next().is_none());
    assert_eq!(*small, [5; 8]);
    // Values allocated after a call are not in its chunks, but in those of the next call.
    let before: usize = bump.chunks_raw().map(NonNull::len).sum();
    bump.alloc([1_u64; 3]);
    assert_eq!(bump.chunks_raw().map(NonNull::len).sum::<usize>(), before + 24);
    assert_eq!(Bump::new().chunks_raw().count(), 0);
}

/// After `chunks_raw` a block no longer owns its dedicated chunk, but it still grows, shrinks and is freed.
#[test]
fn blocks_grow_and_are_freed_after_chunks_raw() {
    let mut bump = Bump::new();
    let whole: Vec<u8> = (0..=u8::MAX).collect::<Vec<_>>().repeat(LARGE / 256);
    let large = whole.len();
    for look in (0..16_u32).step_by(if cfg!(miri) { 5 } else { 1 }) {
        let look = |at: u32| {
            if look >> at & 1 == 1 {
                let _ = bump.chunks_raw();
            }
        };
        let mut vec = bump::Vec::new_in(&bump);
        vec.extend_from_slice(&whole);
        look(0);
        vec.reserve(2 * large);
        look(1);
        vec.shrink_to_fit();
        look(2);
        let checkpoint = bump.checkpoint();
        bump.alloc([1_u8; LARGE]);
        look(3);
        // SAFETY: nothing allocated since the checkpoint is used again, and neither are pointers to chunks.
        unsafe { bump.rewind(checkpoint) };
        vec.extend_from_slice(&whole);
        assert!(vec[..large] == whole && vec[large..] == whole);
        drop(vec);
        bump.reset();
    }
    let chunks = bump.chunks().count();
    assert_eq!(bump.chunks_raw().count(), chunks);
}

// --- Boxes -----------------------------------------------------------------------------------------------------------

#[test]
fn boxes_forward_and_convert() {
    let counts = Counts::default();
    let bump = Bump::new();
    let raw = bump::Box::into_raw(bump::Box::new_in(counts.spy(1), &bump));
    assert_eq!(counts.dropped.get(), 0);
    // SAFETY: the pointer came from `into_raw`, and `from_raw` is called once with it.
    drop(unsafe { bump::Box::<Spy<'_>>::from_raw(raw) });
    assert!(counts.balanced());
    let raw: *mut [u8] = bump::Box::into_raw(bump::Box::from_iter_in([1, 2, 3], &bump));
    // SAFETY: the pointer came from `into_raw`, and `from_raw` is called once with it.
    assert_eq!(*unsafe { bump::Box::from_raw(raw) }, [1, 2, 3]);

    let (mut empty, text) = (bump::Box::<[u64]>::default(), bump::Box::<str>::default());
    assert!(empty.is_empty() && text.is_empty() && empty.iter_mut().next().is_none());
    assert_eq!(bump::Box::into_raw(bump::Box::<[Nothing]>::default()).addr() % 64, 0);

    let numbers = bump::Box::new_in(0..5, &bump).coerce::<dyn DoubleEndedIterator<Item = i32>, _>(|value| value);
    assert!(numbers.rev().eq([4, 3, 2, 1, 0]));
    let mut exact = bump::Box::new_in(0..5, &bump);
    assert_eq!((exact.len(), exact.size_hint(), exact.nth(1), exact.nth_back(0)), (5, (5, Some(5)), Some(1), Some(4)));
    let counter = std::rc::Rc::new(());
    let held = std::rc::Rc::clone(&counter);
    let mut future = bump::Box::new_in(std::future::ready((7, held)), &bump)
        .coerce::<dyn Future<Output = (i32, std::rc::Rc<()>)> + Unpin, _>(|value| value);
    let mut context = Context::from_waker(Waker::noop());
    assert!(matches!(Pin::new(&mut future).poll(&mut context), Poll::Ready((7, _))));
    drop(future);
    assert_eq!(std::rc::Rc::strong_count(&counter), 1);
    let mut hasher = bump::Box::new_in(DefaultHasher::new(), &bump);
    7_u32.hash(&mut hasher);
    let mut plain = DefaultHasher::new();
    7_u32.hash(&mut plain);
    assert_eq!(hasher.finish(), plain.finish());

    let array = bump::Box::new_in([counts.spy(1), counts.spy(2)], &bump);
    let slice: bump::Box<'_, [Spy<'_>]> = array.into();
    let slice = bump::Box::<[Spy<'_>; 3]>::try_from(slice).unwrap_err();
    let array = bump::Box::<[Spy<'_>; 2]>::try_from(slice).unwrap();
    assert_eq!(array[1].value, 2);
    drop(array);
    assert!(counts.balanced());
    let any = bump::Box::new_in(7_u8, &bump).coerce::<dyn std::any::Any + Send, _>(|value| value);
    let any = any.downcast::<u16>().unwrap_err();
    assert_eq!(*any.downcast::<u8>().unwrap(), 7);
}

#[test]
fn macros_and_writers() {
    let bump = Bump::new();
    let mut log = bump::Vec::new_in(&bump);
    write!(log, "{}-two", 1).unwrap();
    log.write_all(b"!").unwrap();
    assert_eq!(log.write(b"?").unwrap(), 1);
    log.flush().unwrap();
    assert_eq!(log, *b"1-two!?");
    let trailing = bump::vec![in &bump; 1, 2,];
    let none: bump::Vec<'_, u8> = bump::vec![in &bump;];
    assert_eq!((trailing.len(), none.len(), bump::vec![in &bump; 7; 0].len()), (2, 0, 0));
    let name = "x";
    assert_eq!(bump::format!(in &bump, "{name}={:>3}", 7,), "x=  7");
    assert_eq!(bump::try_format!(in &bump, "plain").unwrap(), "plain");
    // The elements that were already made are dropped if the allocation fails.
    let counts = Counts::default();
    let failed =
        failing_after(0, || bump::try_vec![in &Bump::new(); counts.spy(1), counts.spy(2)].map(|vec| vec.len()));
    drop(failed);
    assert!(counts.balanced());
    // SAFETY: the parts are those of a vector in this arena that is not dropped.
    let whole = unsafe {
        let mut vec = ManuallyDrop::new(trailing);
        bump::Vec::from_raw_parts_in(vec.as_mut_ptr(), vec.len(), vec.capacity(), &bump)
    };
    assert_eq!(whole, [1, 2]);
}

#[test]
fn auto_traits() {
    fn send_sync<T: Send + Sync + Unpin + UnwindSafe + RefUnwindSafe>() {}
    fn unwind_safe<T: UnwindSafe>() {}
    send_sync::<UnmanagedVec<'_, u8>>();
    unwind_safe::<UnmanagedVec<'_, Cell<u8>>>();
    unwind_safe::<bump::Drain<'_, '_, u8>>();
    send_sync::<AllocOrInitError<u8>>();
    assert_eq!(size_of::<UnmanagedVec<'_, [u64; 9]>>(), 8 + size_of::<usize>());
    assert_eq!(size_of::<Option<UnmanagedVec<'_, u8>>>(), 8 + size_of::<usize>());
    assert!(!std::mem::needs_drop::<UnmanagedVec<'_, u8>>());
    // Covariant, like std's.
    fn _shorter<'a: 's, 's>(vec: UnmanagedVec<'a, &'a str>) -> UnmanagedVec<'s, &'s str> {
        vec
    }
    fn _vec<'a: 's, 's>(vec: bump::Vec<'a, &'a str>) -> bump::Vec<'s, &'s str> {
        vec
    }
}

/// A vector is changed on another thread, and a copy of it grows there in another arena.
#[test]
fn unmanaged_vectors_can_be_sent() {
    let bump = Bump::new();
    let mut list = UnmanagedVec::from_iter_in(0..10, &bump);
    let sums = std::thread::scope(|threads| {
        let list = &mut list;
        let thread = threads.spawn(move || {
            let other = Bump::new();
            let mut moved = UnmanagedVec::from_iter_in(list.iter().copied(), &other);
            moved.extend(&other, 10..100);
            list.retain(|n| *n % 2 == 0);
            moved.iter().sum::<i32>()
        });
        bump.alloc([1; 50]);
        thread.join().unwrap()
    });
    list.push(&bump, 100);
    assert_eq!((sums, &*list), (4950, &[0, 2, 4, 6, 8, 100][..]));
}
