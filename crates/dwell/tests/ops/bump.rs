//! Random programs for an arena: blocks of all layouts with their expected contents, scopes, checkpoints and resets;
//! vectors and strings compared with std's; and user code that re-enters the arena: closures, `Display`, iterators,
//! `Clone`, drops, and a base allocator that immediately reuses freed blocks. The model test and the fuzz target share
//! this file.

use dwell::alloc::{Allocator, Global};
use dwell::{Bump, bump};
use std::alloc::Layout;
use std::cell::{Cell, RefCell};
use std::fmt::{self, Write};
use std::ptr::NonNull;

/// A live block, filled with `mark`.
struct Block {
    at: NonNull<u8>,
    layout: Layout,
    mark: u8,
}

impl Block {
    fn new(at: NonNull<u8>, layout: Layout, mark: u8) -> Self {
        assert_eq!(at.addr().get() % layout.align(), 0, "{layout:?}");
        // SAFETY: the arena returned the block for this layout, so it has these bytes.
        unsafe { at.write_bytes(mark, layout.size()) };
        Self { at, layout, mark }
    }

    fn check(&self, size: usize) {
        // SAFETY: the block is live, and `new` has written all its bytes.
        let bytes = unsafe { std::slice::from_raw_parts(self.at.as_ptr(), size) };
        // Checks that the first byte is the mark and each byte equals its predecessor: two comparisons, where a loop
        // takes Miri seconds.
        let is_whole =
            bytes.split_first().is_none_or(|(first, rest)| *first == self.mark && *rest == bytes[..rest.len()]);
        assert!(is_whole, "a block of {:?} was written to", self.layout);
    }
}

fn check(blocks: &[Block]) {
    for (index, block) in blocks.iter().enumerate() {
        block.check(block.layout.size());
        for other in &blocks[..index] {
            let (a, b) = (block.at.addr().get(), other.at.addr().get());
            assert!(
                a + block.layout.size() <= b
                    || b + other.layout.size() <= a
                    || block.layout.size() * other.layout.size() == 0,
                "blocks overlap"
            );
        }
    }
}

/// An operation of a program.
enum Op {
    /// Allocates a block.
    Allocate { layout: Layout, mark: u8 },
    /// Grows a block by `more` bytes, and to this alignment if there is one.
    Grow { at: usize, more: usize, align: Option<usize>, mark: u8 },
    /// Frees a block.
    Free { at: usize },
    /// Moves values of known types into the arena.
    Values { mark: u8 },
    /// Runs the next operations in a scope.
    Scope,
    /// Uses two scopes and the arena alternately.
    SideBySide { layout: Layout, mark: u8 },
    /// Rewinds to a checkpoint.
    Rewind { layout: Layout, blocks: u8, mark: u8 },
    /// Sets or removes the limit.
    Limit { layout: Layout, more: Option<usize> },
    /// Runs the next operations on vectors.
    Vectors { count: u8 },
    /// Runs the next operations on a string.
    Texts,
    /// Runs the next operations inside user code that the arena calls.
    Inside { what: Inside, mark: u8 },
    /// Ends a scope, user code, or the round.
    End,
}

/// The kind of user code that re-enters the arena.
enum Inside {
    Closure,
    Fallible,
    Display,
    Iterator,
    Clone,
    Retain,
    Splice,
    Drop,
}

impl Op {
    fn of([what, of, n, mark]: [u8; 4]) -> Self {
        let layout = Layout::from_size_align(size(of, n), 1 << (of / 8 % 9)).expect("a small layout");
        let at = usize::from(n);
        match what % 18 {
            0..4 => Self::Allocate { layout, mark },
            4 | 5 => {
                let align = mark.is_multiple_of(4).then_some(layout.align());
                Self::Grow { at, more: size(of, n), align, mark }
            }
            6 | 7 => Self::Free { at },
            8 => Self::Values { mark },
            9 => Self::Scope,
            10 => Self::SideBySide { layout, mark },
            11 => Self::Rewind { layout, blocks: mark % 5, mark },
            12 => Self::Limit { layout, more: mark.is_multiple_of(2).then_some(size(of, n)) },
            13 => Self::Vectors { count: mark },
            14 => Self::Texts,
            15 => Self::End,
            _ => {
                let what = match of % 8 {
                    0 => Inside::Closure,
                    1 => Inside::Fallible,
                    2 => Inside::Display,
                    3 => Inside::Iterator,
                    4 => Inside::Clone,
                    5 => Inside::Retain,
                    6 => Inside::Splice,
                    _ => Inside::Drop,
                };
                Self::Inside { what, mark: mark % 128 }
            }
        }
    }
}

/// Returns a size; sizes at which the arena's behaviour changes are frequent.
fn size(of: u8, n: u8) -> usize {
    let n = usize::from(n);
    match of % 8 {
        0 => n % 4,
        1 | 2 => n,
        3 => n * 8,
        4 => 400 + n,
        5 => 900 + n * 8,
        6 => (1 << 14) - 128 + n,
        _ => n << 9,
    }
}

/// The remaining steps of a program, shared with user code that runs inside an operation.
struct Steps<'a>(Cell<&'a [u8]>);

impl Steps<'_> {
    fn next(&self) -> Option<[u8; 4]> {
        let (step, rest) = self.0.get().split_first_chunk()?;
        self.0.set(rest);
        Some(*step)
    }

    fn left(&self) -> usize {
        self.0.get().len()
    }
}

/// A base allocator of these programs.
trait Base: Allocator + Sized {
    /// Allows the allocator to use this arena.
    fn attach<const MIN_ALIGN: usize>(_: &Bump<MIN_ALIGN, Self>) {}
    /// Forbids the allocator to use the arena. Returns whether it was allowed before.
    fn detach(&self) -> bool {
        false
    }
    /// Restores the value that `detach` returned.
    fn reattach(&self, _: bool) {}
    /// Checks the blocks that the allocator holds in the arena. A reset frees them.
    fn check(&self, _reset: bool) {}
}

impl Base for Global {}
impl Base for bump::First<'_> {}

/// Runs the program encoded in `bytes`, four bytes per operation: the operation and its operands.
pub(crate) fn run(bytes: &[u8]) {
    match bytes.split_first() {
        None => {}
        Some((first, rest)) => match first % 6 {
            0 => run_rounds(&mut Bump::<1>::with_min_align(), rest),
            1 => run_rounds(&mut Bump::<8>::with_capacity_in(usize::from(*first), Global), rest),
            2 => run_rounds(&mut Bump::<16>::with_min_align(), rest),
            3 => run_rounds(&mut Bump::<64>::with_min_align(), rest),
            #[cfg(any(feature = "allocator-api2", feature = "nightly"))]
            5 => run_rounds(&mut Bump::<8, _>::new_in(reusing::Reusing::new(rest)), rest),
            _ => {
                let mut buffer = [std::mem::MaybeUninit::uninit(); 700];
                run_rounds(&mut Bump::<4, _>::with_buffer(&mut buffer[usize::from(first / 8)..]), rest);
            }
        },
    }
}

fn run_rounds<const MIN_ALIGN: usize, A: Base>(bump: &mut Bump<MIN_ALIGN, A>, bytes: &[u8]) {
    let steps = Steps(Cell::new(bytes));
    let blocks = RefCell::new(Vec::new());
    while steps.left() != 0 {
        A::attach(bump);
        run_part(bump, &blocks, &steps, 0);
        bump.allocator().detach();
        check(&blocks.borrow());
        bump.allocator().check(true);
        let asked: usize = blocks.borrow_mut().drain(..).map(|block| block.layout.size()).sum();
        assert!(asked <= bump.allocated_bytes());
        assert!(bump.chunks().map(<[_]>::len).sum::<usize>() <= bump.allocated_bytes());
        bump.reset();
        assert_eq!(bump.chunks().map(<[_]>::len).sum::<usize>(), 0);
        bump.set_allocation_limit(None);
        if steps.left() < 4 {
            return;
        }
    }
}

/// Runs operations up to the end of a scope, of user code, or of the program.
fn run_part<const MIN_ALIGN: usize, A: Base>(
    bump: &Bump<MIN_ALIGN, A>,
    blocks: &RefCell<Vec<Block>>,
    steps: &Steps<'_>,
    depth: u8,
) {
    // The blocks from `own` on belong to this part, which may grow and free them with `bump`.
    let own = blocks.borrow().len();
    let own_at = |n: usize| {
        let len = blocks.borrow().len();
        (own < len).then(|| own + n % (len - own))
    };
    while let Some(step) = steps.next() {
        match Op::of(step) {
            Op::Allocate { layout, mark } => {
                if let Ok(block) = bump.allocate(layout) {
                    assert!(block.len() >= layout.size());
                    blocks.borrow_mut().push(Block::new(block.cast(), layout, mark));
                }
            }
            Op::Grow { at, more, align, mark } => {
                let Some(at) = own_at(at) else { continue };
                let Block { at: old, layout: was, mark: held } = blocks.borrow()[at];
                let align = align.unwrap_or(was.align());
                let new = Layout::from_size_align(was.size() + more, align).expect("a small layout");
                // SAFETY: the block is this arena's, with this layout; the new layout is no smaller.
                if let Ok(block) = unsafe { (&bump).grow(old, was, new) } {
                    Block { at: block.cast(), layout: was, mark: held }.check(was.size());
                    blocks.borrow_mut()[at] = Block::new(block.cast(), new, mark);
                }
            }
            Op::Free { at } => {
                let Some(at) = own_at(at) else { continue };
                let block = blocks.borrow_mut().swap_remove(at);
                block.check(block.layout.size());
                // SAFETY: the block is this arena's, with this layout, and is not used again.
                unsafe { (&bump).deallocate(block.at, block.layout) };
            }
            Op::Values { mark } => {
                if let Ok(value) = bump.try_alloc([mark; 24]) {
                    let block = Block::new(NonNull::from(value).cast(), Layout::new::<[u8; 24]>(), mark);
                    blocks.borrow_mut().push(block);
                }
                if let Ok(value) = bump.try_alloc(u128::from(mark)) {
                    let block = Block::new(NonNull::from(value).cast(), Layout::new::<u128>(), mark);
                    blocks.borrow_mut().push(block);
                }
            }
            Op::Scope if depth < 5 => {
                let scoped = blocks.borrow().len();
                bump.scope(|scope| run_part(scope, blocks, steps, depth + 1));
                check(&blocks.borrow()[..scoped]);
                blocks.borrow_mut().truncate(scoped);
            }
            Op::SideBySide { layout, mark } if depth < 5 => side_by_side(bump, &mut blocks.borrow_mut(), layout, mark),
            Op::Rewind { layout, blocks: count, mark } => {
                // Blocks that the allocator would allocate meanwhile would be freed by the rewind too.
                let was = bump.allocator().detach();
                let checkpoint = bump.checkpoint();
                let kept = blocks.borrow().len();
                for turn in 0..count {
                    if let Ok(block) = bump.try_alloc_layout(layout) {
                        blocks.borrow_mut().push(Block::new(block, layout, mark ^ turn));
                    }
                }
                check(&blocks.borrow());
                blocks.borrow_mut().truncate(kept);
                // SAFETY: nothing allocated since the checkpoint is used again.
                unsafe { bump.rewind(checkpoint) };
                bump.allocator().reattach(was);
            }
            Op::Limit { layout, more } => {
                let limit = more.map(|more| bump.allocated_bytes() + more);
                bump.set_allocation_limit(limit);
                if let Some(limit) = limit {
                    let _ = bump.try_alloc_layout(layout);
                    assert!(bump.allocated_bytes() <= limit);
                }
            }
            Op::Vectors { count } => vectors(bump, steps, count),
            Op::Texts => texts(bump, steps),
            Op::Inside { what, mark } if depth < 5 => run_inside(bump, blocks, steps, depth, &what, mark),
            Op::Scope | Op::SideBySide { .. } | Op::Inside { .. } => {}
            Op::End => return,
        }
        check(&blocks.borrow());
        bump.allocator().check(false);
    }
}

/// Uses both scopes and the arena alternately, and drops the guards in the order in which they were made.
fn side_by_side<const MIN_ALIGN: usize, A: Base>(
    bump: &Bump<MIN_ALIGN, A>,
    blocks: &mut Vec<Block>,
    layout: Layout,
    mark: u8,
) {
    let first = bump.scope_guard();
    let second = bump.scope_guard();
    let kept = blocks.len();
    let mut of_the_arena = 0;
    for (arena, is_kept) in [(&*first, false), (bump, true), (&*second, false), (&*first, false), (bump, true)] {
        if let Ok(block) = arena.try_alloc_layout(layout) {
            let block = Block::new(block, layout, mark);
            if is_kept {
                blocks.insert(kept, block);
                of_the_arena += 1;
            } else {
                blocks.push(block);
            }
        }
    }
    check(blocks);
    drop(first);
    drop(second);
    blocks.truncate(kept + of_the_arena);
}

/// A value that calls a closure when it is formatted or cloned.
struct Calls<'f>(&'f RefCell<&'f mut dyn FnMut()>);

impl Calls<'_> {
    fn call(&self) {
        // The closure is not called recursively.
        if let Ok(mut f) = self.0.try_borrow_mut() {
            f();
        }
    }
}

impl fmt::Display for Calls<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.call();
        f.write_str("x")?;
        self.call();
        f.write_str("yz")
    }
}

impl Clone for Calls<'_> {
    fn clone(&self) -> Self {
        self.call();
        Self(self.0)
    }
}

/// A value that calls the closure of [`Calls`] when it is dropped.
struct Drops<'f>(Calls<'f>);

impl Drop for Drops<'_> {
    fn drop(&mut self) {
        self.0.call();
    }
}

/// Continues the program inside user code that the arena calls, and checks the result.
fn run_inside<const MIN_ALIGN: usize, A: Base>(
    bump: &Bump<MIN_ALIGN, A>,
    blocks: &RefCell<Vec<Block>>,
    steps: &Steps<'_>,
    depth: u8,
    what: &Inside,
    mark: u8,
) {
    let own = |bytes: &mut [u8]| {
        let layout = Layout::for_value(bytes);
        blocks.borrow_mut().push(Block::new(NonNull::from(bytes).cast(), layout, mark));
    };
    // A part frees only its own blocks, so the blocks that are live now stay live.
    let mut go_on = || run_part(bump, blocks, steps, depth + 1);
    let fails = mark.is_multiple_of(3);
    match what {
        Inside::Fallible => {
            // A value or slice whose initialiser may fail.
            let made = bump.try_alloc_try_with(|| {
                go_on();
                if fails { Err(mark) } else { Ok([mark; 40]) }
            });
            if let Ok(made) = made {
                assert!(!fails && *made == [mark; 40]);
                own(made);
            }
            let made = bump.try_alloc_slice_try_fill_with(usize::from(mark % 10), |at| {
                go_on();
                if fails && at == 5 { Err(mark) } else { Ok(mark) }
            });
            if let Ok(made) = made {
                assert_eq!(*made, vec![mark; usize::from(mark % 10)]);
                own(made);
            }
        }
        Inside::Retain => {
            let mut values = bump::Vec::new_in(bump);
            if values.try_extend((0..mark % 20).map(Box::new)).is_ok() {
                values.retain_mut(|value| {
                    go_on();
                    !value.is_multiple_of(3)
                });
                values.dedup_by(|left, right| {
                    go_on();
                    **left / 4 == **right / 4
                });
                let mut model: Vec<u8> = (0..mark % 20).filter(|value| !value.is_multiple_of(3)).collect();
                model.dedup_by(|left, right| *left / 4 == *right / 4);
                assert!(values.iter().map(|value| **value).eq(model));
            }
        }
        Inside::Splice => {
            let mut values = bump::Vec::new_in(bump);
            if values.try_extend((0..mark % 20).map(Box::new)).is_ok() {
                let (end, count) = (values.len() / 2, usize::from(mark % 7));
                let mut left = count;
                let inserted = std::iter::from_fn(|| {
                    left = left.checked_sub(1)?;
                    go_on();
                    Some(Box::new(mark))
                });
                if values.try_splice(..end, inserted).is_ok() {
                    let new = std::iter::repeat_n(mark, count);
                    let rest = (0..mark % 20).skip(end);
                    assert!(values.iter().map(|value| **value).eq(new.chain(rest)));
                }
            }
        }
        Inside::Closure => {
            let made = bump.try_alloc_with(|| {
                go_on();
                [mark; 40]
            });
            if let Ok(made) = made {
                assert_eq!(*made, [mark; 40]);
                own(made);
            }
        }
        Inside::Display => {
            let cell: RefCell<&mut dyn FnMut()> = RefCell::new(&mut go_on);
            let calls = Calls(&cell);
            if let Ok(text) = bump.try_alloc_fmt(format_args!("a{calls}b{mark:>90}c{calls}")) {
                assert_eq!(*text, format!("axyzb{mark:>90}cxyz"));
                // SAFETY: the bytes are overwritten with the mark, which is below 128, so they stay valid UTF-8.
                own(unsafe { text.as_bytes_mut() });
            }
        }
        Inside::Iterator => {
            let mut left = mark % 20;
            let values = std::iter::from_fn(|| {
                left = left.checked_sub(1)?;
                go_on();
                Some(mark)
            });
            if let Ok(values) = bump.try_alloc_iter(values) {
                assert!(values.len() == usize::from(mark % 20) && values.iter().all(|&value| value == mark));
                own(values);
            }
        }
        Inside::Clone => {
            let cell: RefCell<&mut dyn FnMut()> = RefCell::new(&mut go_on);
            let values = vec![Calls(&cell); usize::from(mark % 5)];
            if let Ok(copies) = bump.try_alloc_slice_clone(&values) {
                assert_eq!(copies.len(), values.len());
            }
        }
        Inside::Drop => {
            let cell: RefCell<&mut dyn FnMut()> = RefCell::new(&mut go_on);
            let mut values = bump::Vec::new_in(bump);
            for _ in 0..mark % 5 {
                if values.try_push(Drops(Calls(&cell))).is_err() {
                    break;
                }
            }
            values.truncate(2);
        }
    }
}

/// A base allocator that re-enters the arena that calls it.
#[cfg(any(feature = "allocator-api2", feature = "nightly"))]
mod reusing {
    use super::{Base, Block};
    #[cfg(not(feature = "nightly"))]
    use allocator_api2::alloc::AllocError;
    use dwell::alloc::{Allocator, Global};
    use dwell::{Bump, bump};
    #[cfg(feature = "nightly")]
    use std::alloc::AllocError;
    use std::alloc::Layout;
    use std::cell::{Cell, RefCell};
    use std::ptr::NonNull;

    /// An allocator that immediately reuses freed blocks, and runs an operation of `script` before and after each call.
    pub(super) struct Reusing {
        free: RefCell<Vec<(NonNull<u8>, Layout)>>,
        arena: Cell<Option<NonNull<Bump<8, Self>>>>,
        may_enter: Cell<bool>,
        script: Vec<u8>,
        at: Cell<usize>,
        blocks: RefCell<Vec<Block>>,
    }

    impl Reusing {
        pub(super) fn new(script: &[u8]) -> Self {
            Self {
                free: RefCell::default(),
                arena: Cell::new(None),
                may_enter: Cell::new(false),
                script: script.to_vec(),
                at: Cell::new(0),
                blocks: RefCell::default(),
            }
        }

        fn enter(&self) {
            let Some(arena) = self.arena.get().filter(|_| self.may_enter.get()) else { return };
            self.may_enter.set(false);
            // SAFETY: `attach` stored the arena that owns this allocator, and `may_enter` is only set while the arena
            // is borrowed.
            let arena = unsafe { arena.as_ref() };
            let at = self.at.replace(self.at.get() + 1);
            let what = self.script.get(at % self.script.len().max(1)).copied().unwrap_or(0);
            let layout =
                Layout::from_size_align([1, 24, 300, 17_000][usize::from(what / 64)], 8).expect("a small layout");
            let last = self.blocks.borrow_mut().pop();
            match (what % 8, last) {
                (0, Some(block)) => {
                    block.check(block.layout.size());
                    // SAFETY: the block is the arena's, with this layout, and is not used again.
                    unsafe { (&arena).deallocate(block.at, block.layout) };
                }
                // Bounded, so that a long script does not run out of memory.
                (1, Some(block)) if block.layout.size() <= 1 << 18 => {
                    let new = Layout::from_size_align(block.layout.size() * 2, 8).expect("a small layout");
                    // SAFETY: the block is the arena's, with this layout; the new layout is no smaller.
                    let grown = unsafe { (&arena).grow(block.at, block.layout, new) };
                    let block = grown.map_or(block, |grown| Block::new(grown.cast(), new, what));
                    self.blocks.borrow_mut().push(block);
                }
                (of, last) => {
                    self.blocks.borrow_mut().extend(last);
                    match of {
                        2 => {
                            let scope = arena.scope_guard();
                            let _ = scope.try_alloc_layout(layout);
                        }
                        3 => {
                            if let Ok(text) = arena.try_alloc_fmt(format_args!("{what}{at}")) {
                                assert_eq!(*text, format!("{what}{at}"));
                            }
                        }
                        4 => {
                            let mut vec = bump::Vec::new_in(arena);
                            let _ = vec.try_extend(0..u16::from(what));
                        }
                        _ => {
                            if let Ok(block) = arena.try_alloc_layout(layout) {
                                self.blocks.borrow_mut().push(Block::new(block, layout, what));
                            }
                        }
                    }
                }
            }
            self.may_enter.set(true);
        }
    }

    impl Base for Reusing {
        fn attach<const MIN_ALIGN: usize>(bump: &Bump<MIN_ALIGN, Self>) {
            // `MIN_ALIGN` is 8 wherever this allocator is used.
            bump.allocator().arena.set(Some(NonNull::from(bump).cast()));
            bump.allocator().may_enter.set(true);
        }

        fn detach(&self) -> bool {
            self.may_enter.replace(false)
        }

        fn reattach(&self, was: bool) {
            self.may_enter.set(was);
        }

        fn check(&self, reset: bool) {
            super::check(&self.blocks.borrow());
            if reset {
                self.blocks.borrow_mut().clear();
            }
        }
    }

    impl Drop for Reusing {
        fn drop(&mut self) {
            for (block, layout) in self.free.take() {
                // SAFETY: the block came from `Global`, and it is on the free list, so no other code uses it.
                unsafe { Global.deallocate(block, layout) };
            }
        }
    }

    // SAFETY: a block comes from `Global` with this layout, and is only returned to `Global` at the end. While it is on
    // the free list no other code uses it.
    unsafe impl Allocator for Reusing {
        fn allocate(&self, layout: Layout) -> Result<NonNull<[u8]>, AllocError> {
            self.enter();
            let mut free = self.free.borrow_mut();
            let block = match free.iter().rposition(|&(_, free)| free == layout) {
                Some(at) => NonNull::slice_from_raw_parts(free.swap_remove(at).0, layout.size()),
                None => Global.allocate(layout)?,
            };
            drop(free);
            self.enter();
            Ok(block)
        }

        unsafe fn deallocate(&self, block: NonNull<u8>, layout: Layout) {
            self.enter();
            // SAFETY: the block has these bytes, and the caller guarantees that it is not used after it was freed.
            unsafe { block.write_bytes(0xDD, layout.size()) };
            self.free.borrow_mut().push((block, layout));
            self.enter();
        }
    }
}

/// Runs operations on a vector of boxes and one of numbers, compared with std's.
fn vectors<const MIN_ALIGN: usize, A: Base>(bump: &Bump<MIN_ALIGN, A>, steps: &Steps<'_>, mark: u8) {
    bump.set_allocation_limit(None);
    let mut owners = bump::Vec::new_in(bump);
    let mut owners_model: Vec<Box<u8>> = Vec::new();
    let mut numbers: bump::Vec<'_, u16, MIN_ALIGN, A> = bump::Vec::with_capacity_in(usize::from(mark % 8), bump);
    let mut numbers_model: Vec<u16> = Vec::with_capacity(8);
    for _ in 0..mark % 32 {
        let Some([what, at, n, more]) = steps.next() else { break };
        let at = usize::from(at) % (owners.len() + 1);
        let end = at + usize::from(n) % (owners.len() - at + 1);
        match what % 20 {
            0..4 => {
                owners.push(Box::new(n));
                owners_model.push(Box::new(n));
                numbers.push(n.into());
                numbers_model.push(n.into());
            }
            4 => assert_eq!(owners.pop(), owners_model.pop()),
            5 => {
                owners.insert(at, Box::new(n));
                owners_model.insert(at, Box::new(n));
            }
            6 if at < owners.len() => assert_eq!(owners.remove(at), owners_model.remove(at)),
            7 if at < owners.len() => assert_eq!(owners.swap_remove(at), owners_model.swap_remove(at)),
            8 => {
                owners.truncate(at);
                owners_model.truncate(at);
                numbers.truncate(at);
                numbers_model.truncate(at);
            }
            9 => {
                owners.retain(|owner| **owner % 3 != more % 3);
                owners_model.retain(|owner| **owner % 3 != more % 3);
                numbers.retain(|number| number % 3 != 0);
                numbers_model.retain(|number| number % 3 != 0);
            }
            10 => {
                let values: Vec<u16> = (0..u16::from(n)).collect();
                numbers.extend_from_slice(&values);
                numbers_model.extend_from_slice(&values);
                owners.extend(values.iter().map(|value| Box::new(value.to_le_bytes()[0])));
                owners_model.extend(values.iter().map(|value| Box::new(value.to_le_bytes()[0])));
            }
            11 => {
                let removed: Vec<Box<u8>> = owners.drain(at..end).skip(usize::from(more % 3)).collect();
                let model: Vec<Box<u8>> = owners_model.drain(at..end).skip(usize::from(more % 3)).collect();
                assert_eq!(removed, model);
            }
            12 => {
                let new = || (0..more % 9).map(Box::new);
                let removed: Vec<Box<u8>> = owners.splice(at..end, new()).collect();
                assert_eq!(removed, owners_model.splice(at..end, new()).collect::<Vec<_>>());
            }
            13 => {
                owners.resize(end, Box::new(more));
                owners_model.resize(end, Box::new(more));
                numbers.resize_with(at, || u16::from(more));
                numbers_model.resize_with(at, || u16::from(more));
            }
            14 => {
                let mut other = owners.split_off(at);
                let mut other_model = owners_model.split_off(at);
                assert_eq!(*other, *other_model);
                if more % 2 == 0 {
                    other.append(&mut owners);
                    other_model.append(&mut owners_model);
                    (owners, owners_model) = (other, other_model);
                }
            }
            15 if owners.len() < 500 => {
                owners.extend_from_within(at..end);
                owners_model.extend_from_within(at..end);
            }
            16 => {
                owners.dedup_by_key(|owner| **owner / 2);
                owners_model.dedup_by_key(|owner| **owner / 2);
                assert_eq!(*owners.clone(), *owners_model);
            }
            17 => {
                let mut keep = 0_usize;
                owners.retain_mut(|owner| {
                    **owner = owner.wrapping_add(1);
                    keep += 1;
                    keep % 4 != usize::from(more % 4)
                });
                keep = 0;
                owners_model.retain_mut(|owner| {
                    **owner = owner.wrapping_add(1);
                    keep += 1;
                    keep % 4 != usize::from(more % 4)
                });
            }
            18 => {
                // An unmanaged vector, whose struct has 16 bytes and which takes the arena in each call.
                let mut short = bump::UnmanagedVec::new();
                let mut model = Vec::new();
                for value in 0..n % 40 {
                    short.push(bump, value);
                    model.push(value);
                    if value.is_multiple_of(7) {
                        bump.alloc(more);
                    }
                }
                short.extend_from_slice(bump, &[more; 3]);
                model.extend_from_slice(&[more; 3]);
                short.retain(|value| *value % 5 != 1);
                model.retain(|value| *value % 5 != 1);
                assert_eq!(short.pop(), model.pop());
                short.insert(bump, short.len() / 2, n);
                model.insert(model.len() / 2, n);
                assert_eq!(*short.into_slice(), *model);
            }
            _ if more % 2 == 0 => {
                numbers.shrink_to_fit();
                assert!(numbers.capacity() >= numbers.len());
            }
            _ => {
                bump.alloc(more);
            }
        }
        assert_eq!(*owners, *owners_model);
        assert_eq!(*numbers, *numbers_model);
    }
    let mut values = owners.into_iter();
    let mut values_model = owners_model.into_iter();
    assert_eq!(values.len(), values_model.len());
    for turn in 0..mark % 8 {
        if turn % 3 == 0 {
            assert_eq!(values.next_back(), values_model.next_back());
        } else {
            assert_eq!(values.next(), values_model.next());
        }
    }
    assert_eq!(*numbers.into_boxed_slice(), *numbers_model);
}

/// Runs operations on a string, compared with std's.
fn texts<const MIN_ALIGN: usize, A: Base>(bump: &Bump<MIN_ALIGN, A>, steps: &Steps<'_>) {
    bump.set_allocation_limit(None);
    let mut text = bump::String::new_in(bump);
    let mut model = String::new();
    for _ in 0..8 {
        let Some([what, n, character, _]) = steps.next() else { break };
        let character = char::from_u32(u32::from(character) << (n % 14)).unwrap_or('?');
        // Selects the boundaries of one character, or the end twice.
        let mut boundaries = model.char_indices().map(|(at, _)| at).chain([model.len()]);
        let at = boundaries.nth(usize::from(n) % (model.chars().count() + 1)).expect("it is one of them");
        let end = boundaries.next().unwrap_or(model.len());
        match what % 12 {
            0 => {
                text.push(character);
                model.push(character);
            }
            1 => {
                text.push_str("where values live");
                model.push_str("where values live");
            }
            2 => {
                write!(text, "{n:x}-{character:?}").expect("it is written");
                write!(model, "{n:x}-{character:?}").expect("it is written");
            }
            3 => assert_eq!(text.pop(), model.pop()),
            4 => {
                text.truncate(at);
                model.truncate(at);
            }
            5 => {
                text.insert(at, character);
                model.insert(at, character);
            }
            6 if at < model.len() => assert_eq!(text.remove(at), model.remove(at)),
            7 => assert!(text.drain(at..end).eq(model.drain(at..end))),
            8 => {
                text.retain(|kept| kept != character && kept != 'l');
                model.retain(|kept| kept != character && kept != 'l');
            }
            9 => {
                text.replace_range(at..end, "here and there");
                model.replace_range(at..end, "here and there");
            }
            10 => {
                assert_eq!(*text.split_off(at), *model.split_off(at));
                text.insert_str(0, "again ");
                model.insert_str(0, "again ");
            }
            _ => assert_eq!(*bump.alloc_fmt(format_args!("<{text:>30}{n}>")), format!("<{model:>30}{n}>")),
        }
        assert_eq!(*text, *model);
    }
    assert_eq!(*text.into_str(), *model);
}
