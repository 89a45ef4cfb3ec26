//! Random operations on an arena: blocks of all layouts, scopes, checkpoints and resets, each block beside what it should
//! hold; and vectors and strings in it beside those of std. The model test and the fuzz target share it.

use dwell::alloc::{Allocator, Global};
use dwell::{Bump, bump};
use std::alloc::Layout;
use std::fmt::Write;
use std::ptr::NonNull;

/// A block in use, all of whose bytes are `mark`.
struct Block {
    at: NonNull<u8>,
    layout: Layout,
    mark: u8,
}

impl Block {
    fn new(at: NonNull<u8>, layout: Layout, mark: u8) -> Self {
        assert_eq!(at.addr().get() % layout.align(), 0, "{layout:?}");
        // SAFETY: the arena said that the block has these bytes.
        unsafe { at.write_bytes(mark, layout.size()) };
        Self { at, layout, mark }
    }

    fn check(&self, size: usize) {
        // SAFETY: the block is in use and was written when it was made.
        let bytes = unsafe { std::slice::from_raw_parts(self.at.as_ptr(), size) };
        assert!(bytes.iter().all(|&byte| byte == self.mark), "a block of {:?} was written to", self.layout);
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

/// A size with the interesting ones among them.
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

struct Steps<'a>(&'a [u8]);

impl Steps<'_> {
    fn next(&mut self) -> Option<[u8; 4]> {
        let (step, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(*step)
    }
}

/// Runs the operations that `bytes` spell, four bytes each: what to do, and with what.
pub(crate) fn run(bytes: &[u8]) {
    match bytes.split_first() {
        None => {}
        Some((first, rest)) => match first % 5 {
            0 => whole(&mut Bump::<1>::with_min_align(), rest),
            1 => whole(&mut Bump::<8>::with_capacity_in(usize::from(*first), Global), rest),
            2 => whole(&mut Bump::<16>::with_min_align(), rest),
            3 => whole(&mut Bump::<64>::with_min_align(), rest),
            _ => {
                let mut buffer = [std::mem::MaybeUninit::uninit(); 700];
                whole(&mut Bump::<4, _>::with_buffer(&mut buffer[usize::from(first / 8)..]), rest);
            }
        },
    }
}

fn whole<const MIN_ALIGN: usize, A: Allocator>(bump: &mut Bump<MIN_ALIGN, A>, bytes: &[u8]) {
    let mut steps = Steps(bytes);
    let mut blocks = Vec::new();
    while !steps.0.is_empty() {
        part(bump, &mut blocks, &mut steps, 0);
        check(&blocks);
        let asked: usize = blocks.drain(..).map(|block| block.layout.size()).sum();
        assert!(asked <= bump.allocated_bytes());
        assert!(bump.chunks().map(<[_]>::len).sum::<usize>() <= bump.allocated_bytes());
        bump.reset();
        assert_eq!(bump.chunks().map(<[_]>::len).sum::<usize>(), 0);
        bump.set_limit(None);
        if steps.0.len() < 4 {
            return;
        }
    }
}

/// Runs operations up to the end of a scope, or of all.
fn part<const MIN_ALIGN: usize, A: Allocator>(
    bump: &Bump<MIN_ALIGN, A>,
    blocks: &mut Vec<Block>,
    steps: &mut Steps<'_>,
    depth: u8,
) {
    // Those from `own` on are this part's, and can be given to `bump`.
    let own = blocks.len();
    while let Some([what, of, n, mark]) = steps.next() {
        let layout = Layout::from_size_align(size(of, n), 1 << (of / 8 % 9)).expect("a small layout");
        let at = own + usize::from(n) % (blocks.len() - own).max(1);
        match what % 16 {
            0..4 => {
                if let Ok(block) = bump.allocate(layout) {
                    assert!(block.len() >= layout.size());
                    blocks.push(Block::new(block.cast(), layout, mark));
                }
            }
            4 | 5 if at < blocks.len() => {
                let Block { at: old, layout: was, mark: held } = blocks[at];
                let align = if mark % 4 == 0 { layout.align() } else { was.align() };
                let new = Layout::from_size_align(was.size() + size(of, n), align).expect("a small layout");
                // SAFETY: the block is this arena's with this layout, and the new one is no smaller.
                if let Ok(block) = unsafe { (&bump).grow(old, was, new) } {
                    Block { at: block.cast(), layout: was, mark: held }.check(was.size());
                    blocks[at] = Block::new(block.cast(), new, mark);
                }
            }
            6 | 7 if at < blocks.len() => {
                let block = blocks.swap_remove(at);
                block.check(block.layout.size());
                // SAFETY: the block is this arena's with this layout, and is not used again.
                unsafe { (&bump).deallocate(block.at, block.layout) };
            }
            8 => {
                if let Ok(value) = bump.try_alloc([mark; 24]) {
                    blocks.push(Block::new(NonNull::from(value).cast(), Layout::new::<[u8; 24]>(), mark));
                }
                if let Ok(value) = bump.try_alloc(u128::from(mark)) {
                    blocks.push(Block::new(NonNull::from(value).cast(), Layout::new::<u128>(), mark));
                }
            }
            9 if depth < 5 => {
                let scoped = blocks.len();
                bump.scope(|scope| part(scope, blocks, steps, depth + 1));
                check(&blocks[..scoped]);
                blocks.truncate(scoped);
            }
            10 if depth < 5 => {
                // Both arenas are used in turns, and the guards go in the order in which they came.
                let first = bump.scope_guard();
                let second = bump.scope_guard();
                let kept = blocks.len();
                for (arena, is_kept) in
                    [(&*first, false), (bump, true), (&*second, false), (&*first, false), (bump, true)]
                {
                    if let Ok(block) = arena.try_alloc_layout(layout) {
                        let block = Block::new(block, layout, mark);
                        if is_kept { blocks.insert(kept, block) } else { blocks.push(block) }
                    }
                }
                check(blocks);
                let scoped = blocks.len().min(kept + 2);
                drop(first);
                drop(second);
                blocks.truncate(if blocks.len() == kept + 5 { scoped } else { kept });
            }
            11 => {
                let checkpoint = bump.checkpoint();
                let kept = blocks.len();
                for turn in 0..mark % 5 {
                    if let Ok(block) = bump.try_alloc_layout(layout) {
                        blocks.push(Block::new(block, layout, mark ^ turn));
                    }
                }
                check(blocks);
                blocks.truncate(kept);
                // SAFETY: what was allocated since is not used again.
                unsafe { bump.rewind(checkpoint) };
            }
            12 => {
                let limit = bump.allocated_bytes() + size(of, n);
                bump.set_limit((mark % 2 == 0).then_some(limit));
                if mark % 2 == 0 {
                    let _ = bump.try_alloc_layout(layout);
                    assert!(bump.allocated_bytes() <= limit);
                }
            }
            13 => vectors(bump, steps, mark),
            14 => texts(bump, steps),
            15 if depth > 0 => return,
            _ => {}
        }
        if what % 16 != 15 {
            check(blocks);
        } else if depth == 0 {
            return; // and a reset
        }
    }
}

/// A vector of owners, and one of numbers, beside std's.
fn vectors<const MIN_ALIGN: usize, A: Allocator>(bump: &Bump<MIN_ALIGN, A>, steps: &mut Steps<'_>, mark: u8) {
    bump.set_limit(None);
    let mut owners = bump::Vec::new_in(bump);
    let mut owners_model: Vec<Box<u8>> = Vec::new();
    let mut numbers: bump::Vec<'_, u16, MIN_ALIGN, A> = bump::Vec::with_capacity_in(usize::from(mark % 8), bump);
    let mut numbers_model: Vec<u16> = Vec::with_capacity(8);
    for _ in 0..mark % 32 {
        let Some([what, at, n, more]) = steps.next() else { break };
        let at = usize::from(at) % (owners.len() + 1);
        match what % 12 {
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

/// A string beside std's.
fn texts<const MIN_ALIGN: usize, A: Allocator>(bump: &Bump<MIN_ALIGN, A>, steps: &mut Steps<'_>) {
    bump.set_limit(None);
    let mut text = bump::String::new_in(bump);
    let mut model = String::new();
    for _ in 0..8 {
        let Some([what, n, character, _]) = steps.next() else { break };
        let character = char::from_u32(u32::from(character) << (n % 14)).unwrap_or('?');
        match what % 6 {
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
                let at = model.char_indices().map(|(at, _)| at).nth(n.into()).unwrap_or(0);
                text.truncate(at);
                model.truncate(at);
            }
            _ => assert_eq!(*bump.alloc_fmt(format_args!("<{text:>30}{n}>")), format!("<{model:>30}{n}>")),
        }
        assert_eq!(*text, *model);
    }
    assert_eq!(*text.into_str(), *model);
}
