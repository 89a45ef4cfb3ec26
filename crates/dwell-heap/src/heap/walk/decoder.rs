//! What a decoder says about its types.
//!
//! A *family* is a file in `decode/`: the paths of the types that it recognises, and the functions of std or of its crate
//! that show, on the call stack of an allocation, what a block contains. A *decoder* is made for one use of such a type.
//! It reads values, and describes them to the reports and to the model of `dwell::weigh`.

use super::{BlockType, CallStack, DefId, Movable, Part, Schema, SiteId, Start, Variant, Walk, number, sub, word};
use crate::debuginfo::{Text, TypeId};
use dwell_model::Shape;
use std::fmt::Debug;
use std::rc::Rc;

/// The result of recognising a type.
pub(crate) type Decoded = Option<Rc<dyn Decoder>>;

/// Makes the decoder of a type at a site. Returns `None` if the fields are not as expected; the type is then decoded like
/// any other struct.
pub(crate) type Recognise = fn(&mut Schema<'_>, TypeId, SiteId) -> Decoded;

/// Related types, in a file of their own.
pub(crate) struct Family {
    /// The full path of each type, without arguments, and the function that recognises its fields.
    pub(crate) types: &'static [(&'static str, Recognise)],
    /// Returns the contents of a block that this function of the call stack allocates.
    pub(crate) of_frame: fn(&CallStack<'_, '_>) -> Option<BlockType>,
    /// Returns the collection that owns a block with these contents, by the std functions of its call stack: `Vec<Node>`.
    pub(crate) content: fn(BlockType, &CallStack<'_, '_>) -> Option<String>,
    /// Returns `true` if blocks with these contents have no owner but themselves, such as tasks.
    pub(crate) is_root: fn(&Schema<'_>, BlockType) -> bool,
    /// The decoder of blocks of this family that have no owner, if a call stack shows any.
    pub(crate) blocks: Option<Blocks>,
    /// Arenas: the start of the paths of the functions that allocate chunks, and the arena's name.
    pub(crate) arenas: &'static [(&'static str, &'static str)],
}

impl Family {
    /// A family of these types. Call stacks show nothing about it.
    pub(crate) const fn new(types: &'static [(&'static str, Recognise)]) -> Self {
        Self { types, of_frame: |_| None, content: |_, _| None, is_root: |_, _| false, blocks: None, arenas: &[] }
    }
}

/// Blocks that are neither one value nor a plain run of values, and whose call stack shows their type.
pub(crate) struct Blocks {
    /// The name in [`BlockType::Own`].
    pub(crate) name: &'static str,
    /// Creates the site of such blocks in a collection with this name. Its decoder's [`Decoder::start`] reads them.
    pub(crate) site: fn(&mut Schema<'_>, TypeId, &str) -> SiteId,
}

/// Reads and describes the values of one use of a type.
pub(crate) trait Decoder: Debug {
    /// Claims the blocks of a value and reads its parts. Returns `true` if the value is empty.
    ///
    /// Memory may be damaged and bytes may be missing: every function of the walk checks what it gets.
    fn read(&self, cx: &mut Walk<'_, '_>, value: Value<'_>) -> bool;

    /// Reads a block that [`Walk::later`] queued with these words.
    fn read_block(&self, _cx: &mut Walk<'_, '_>, _block: usize, _site: SiteId, _words: [u64; 3]) {}

    /// Claims and reads a block that only its call stack describes. `variant` is that of [`BlockType::Own`].
    fn start(&self, cx: &mut Walk<'_, '_>, block: usize, _variant: u8, start: Start) {
        cx.start_unknown(block, start, 0);
    }

    /// Returns `false` if bytes cannot be a value. The search for local variables relies on it.
    fn is_valid(&self, _cx: &mut Walk<'_, '_>, _bytes: &[u8], _depth: u32) -> bool {
        true
    }

    /// Returns the name and size of the elements in the value's blocks. `concrete` is the type that was passed to
    /// [`Walk::claim_of`]. By default the elements are like the value itself.
    fn element(&self, _schema: &Schema<'_>, _concrete: Option<TypeId>) -> Option<(Text, u64)> {
        None
    }

    /// Returns the shape in the model of `dwell::weigh`, with the walk's sites. A `Leaf` has no part that could change.
    fn shape(&self, _of: &InModel<'_, '_>) -> Shape {
        Shape::Leaf
    }

    /// Returns the shape of a collection on a stack, of which only the block is known, if its blocks hold elements.
    fn shape_of_block(&self) -> Option<Shape> {
        None
    }

    /// Returns the entries of a map in one of its blocks.
    fn entries(&self, _cx: &mut Walk<'_, '_>, _block: usize) -> Option<Entries> {
        None
    }

    /// Returns `true` if such a collection leaves a block when it grows, so that for a moment it has two of them.
    fn moves(&self) -> bool {
        false
    }

    /// Returns the entries of a block that such a collection may leave.
    fn movable(&self, _cx: &mut Walk<'_, '_>, _block: usize) -> Option<Movable> {
        None
    }

    /// Returns the site and the distance of adjacent values in a block of which only the call stack is known.
    fn slots(&self) -> Option<(SiteId, u64)> {
        None
    }

    /// Returns the address and length of a text.
    fn text(&self, _bytes: &[u8]) -> Option<(u64, u64)> {
        None
    }

    /// Tells which findings can apply.
    fn holds(&self) -> Holds {
        Holds::Other
    }

    /// Returns the parts that a value always has inline.
    fn parts(&self) -> &[Part] {
        &[]
    }

    /// Returns the variants of an enum of std.
    fn variants(&self) -> &[Variant] {
        &[]
    }
}

/// The entries of a map in a block.
#[derive(Clone, Debug)]
pub(crate) struct Entries {
    pub(crate) key: SiteId,
    pub(crate) value: SiteId,
    /// The addresses of the keys and their values.
    pub(crate) at: Vec<(u64, u64)>,
}

/// What a value is, as far as findings treat values differently.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Holds {
    /// Bytes without pointers.
    Plain,
    /// Bytes that are not decoded.
    Opaque,
    /// A struct or enum of a crate.
    Def(DefId),
    /// An enum of std.
    Enum { is_option: bool },
    /// A struct of std around its parts: a cell, a lock.
    Wrapper,
    /// An array of this many elements.
    Array(u64),
    /// A collection with spare capacity: `Vec`, `VecDeque`.
    Elements,
    /// A text, perhaps with spare capacity.
    Text,
    /// A hash table. It always has vacant buckets.
    Table,
    /// One value in a block of its own.
    Box,
    /// A value of a type that only its vtable names.
    Dyn,
    /// Another type.
    Other,
}

/// The site of a decoder when its shape is asked for.
pub(crate) struct InModel<'a, 'p> {
    pub(crate) schema: &'a Schema<'p>,
    /// The short name of the type.
    pub(crate) name: &'a str,
    /// Whether the walk met a block of this site. If not, there is none that could grow.
    pub(crate) is_met: bool,
}

/// A value that is being read.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Value<'a> {
    pub(crate) site: SiteId,
    /// The bytes; fewer than the type's size if memory is damaged.
    pub(crate) bytes: &'a [u8],
    /// The number of values that this one represents in a sampled run.
    pub(crate) weight: u64,
}

impl<'a> Value<'a> {
    /// Returns the word at an offset.
    pub(crate) fn word(&self, at: u64) -> Option<u64> {
        word(self.bytes, at)
    }

    /// Returns the integer of up to 8 bytes at an offset.
    pub(crate) fn number(&self, at: u64, size: u64) -> Option<u64> {
        number(self.bytes, at, size).and_then(|number| u64::try_from(number).ok())
    }

    /// Returns some of the bytes; none if the value does not have all of them.
    pub(crate) fn part(&self, at: u64, size: u64) -> &'a [u8] {
        sub(self.bytes, at, size)
    }
}
