//! Walks from block to block by the types of their contents.
//!
//! The walk has two passes. The first follows every pointer of every block with a known type, and records which blocks
//! have an owner. The second starts at the blocks without an owner, which belong to a stack or a static. It assigns
//! each block to the first owner that it meets, and counts. Raw pointers and references are followed last, and become
//! weak owners.
//!
//! Each pass reads a block at most once, so it terminates for any contents. It reads memory only inside live blocks and
//! statics, and never more elements than a collection's length. A collection larger than its block is not decoded.

#![expect(clippy::similar_names, reason = "`site` and `size` are used together")]
#![expect(clippy::match_same_arms, clippy::single_match_else, reason = "one arm for each kind of type")]

use super::once::STATE_BYTES;
use super::owners::{BlockType, Origin};
use super::rows::Histogram;
use super::std_types;
use super::texts::Texts;
use super::types::{Decode, DefId, Meta, Node, Schema, SiteId, TableHeader, Target, VecHeader, head, number, word};
use crate::capture::pieces::Image;
use crate::capture::{Moment, Snapshot};
use crate::debuginfo::{Kind, Text, TypeId};
use dwell::model::malloc::Model as Malloc;
use dwell::model::{Counts, Edge, LONG_TEXT, table};
use std::collections::{HashMap, HashSet};
use std::rc::Rc;

/// The number of bytes of a collection that are read at once.
const CHUNK: u64 = 1 << 20;
/// The longest text that is read, in bytes.
const LONGEST_TEXT: u64 = 64 << 20;
/// The deepest nesting of values without a block between them.
const DEEPEST: u32 = 256;
/// The width of hashbrown's groups of control bytes on x86-64, where the program ran.
const GROUP: u64 = table::GROUP_OF_SSE2 as u64;
/// The greatest height of a B-tree: a higher one would not fit in memory.
const TALLEST: u64 = 24;

const WORD: u64 = 8;
/// The maximum number of bytes of a stack to search.
const LONGEST_STACK: u64 = 8 << 20;
/// The maximum number of a collection's last elements whose bytes are checked.
const CHECKED: u64 = 64;

/// The longest text that `CompactString` stores inline, in bytes.
pub(crate) const SHORT: u64 = 24;

/// The last byte of a `CompactString` whose text is on the heap, and of an empty one.
const COMPACT_HEAP: u8 = 216;
const COMPACT_EMPTY: u8 = 192;
/// The maximum number of bytes read through pointers into blocks, as a multiple of the live bytes. It limits the work
/// for damaged memory.
const MOST_INNER: u64 = 8;

/// The flags of a block, which the first pass sets.
const SEEN: u8 = 1;
const OWNED: u8 = 2;
const POINTED_AT: u8 = 4;

/// The counts of a site.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tally {
    pub(crate) counts: Counts,
    /// The number of values of each variant, for an enum.
    pub(crate) variants: Vec<u64>,
    pub(crate) texts: Option<Box<Texts>>,
    /// The counts of equal blocks with these elements.
    pub(crate) contents: Option<Box<Texts>>,
    /// The least and greatest value, for an integer.
    pub(crate) range: Option<Range>,
    /// The number of bytes of blocks that empty collections own.
    pub(crate) hollow_bytes: u64,
    /// The number of texts of at most [`SHORT`] bytes, and the bytes of their blocks.
    pub(crate) short: (u64, u64),
    /// The number of bytes by which glibc's blocks are larger than the requested sizes.
    pub(crate) rounding: u64,
    /// The number of `Rc` blocks with one owner and no `Weak`.
    pub(crate) unshared: u64,
    /// The number of values whose bytes are invalid for the type.
    pub(crate) invalid: u64,
}

/// The range of an integer's values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Range {
    pub(crate) low: i128,
    pub(crate) high: i128,
    pub(crate) has_zero: bool,
}

impl Range {
    /// Returns the number of bits that hold all values with their sign.
    pub(crate) fn bits(self) -> u32 {
        let of = |value: i128| i128::BITS - if value < 0 { (!value).leading_zeros() } else { value.leading_zeros() };
        of(self.low).max(of(self.high)) + u32::from(self.low < 0)
    }
}

/// The counts of a struct or enum.
#[derive(Clone, Debug, Default)]
pub(crate) struct DefTally {
    pub(crate) instances: u64,
    pub(crate) variants: Vec<u64>,
}

/// The blocks that one site owns.
#[derive(Clone, Debug)]
pub(crate) struct Holding {
    pub(crate) owner: Owner,
    pub(crate) content: String,
    pub(crate) element: Text,
    pub(crate) element_size: u64,
    /// The concrete type behind a `Box<dyn Trait>`.
    pub(crate) concrete: Option<TypeId>,
    pub(crate) blocks: u64,
    pub(crate) bytes: u64,
    pub(crate) len: u64,
    pub(crate) capacity: u64,
    /// The number of bytes that hold no elements.
    pub(crate) unused: u64,
    /// The number of blocks with an unknown length.
    pub(crate) unknown: u64,
    /// The lengths of the other blocks.
    pub(crate) lengths: Histogram,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Owner {
    Site(SiteId),
    /// A raw pointer or a reference.
    Weak(SiteId),
    Stack,
    /// The type is known, but the only path to the block starts at the block itself.
    Unowned,
    /// The type is unknown.
    Untyped,
}

/// The index of a [`Holding`].
pub(crate) type HoldingId = u32;

/// A walk through a snapshot, with its counts.
pub(crate) struct Walk<'s, 'p> {
    snapshot: &'s Snapshot,
    origins: &'s [Origin],
    image: Image<'s>,
    pub(crate) schema: Schema<'p>,
    addresses: Vec<u64>,
    vtables: HashMap<u64, TypeId>,
    is_counting: bool,
    flags: Vec<u8>,
    /// The index plus one of the block with the first pointer that owns each block; 0 if there is none.
    owner_of: Vec<u32>,
    /// The index plus one of the block that is being read; 0 for a static.
    current: u32,
    /// The index of each block's holding plus one; 0 if it has none.
    claims: Vec<HoldingId>,
    queue: Vec<Work>,
    pointed_at: Vec<Pointed>,
    depth: u32,
    pub(crate) tallies: Vec<Tally>,
    pub(crate) def_tallies: Vec<DefTally>,
    pub(crate) holdings: Vec<Holding>,
    holding_of: HashMap<(Owner, SiteId, Option<TypeId>), HoldingId>,
    /// The sites of blocks whose type is known from their call stack, by that type and their container.
    roots: HashMap<BlockType, Vec<(String, SiteId)>>,
    /// Lengths of blocks whose header is on a live stack frame.
    lengths: HashMap<usize, u64>,
    concretes: HashMap<(SiteId, TypeId), SiteId>,
    /// The values inside blocks that this pass has read.
    inner: HashSet<(u64, SiteId)>,
    /// The number of bytes of these values.
    inner_bytes: u64,
    buffer: Vec<u8>,
}

/// A block that a raw pointer or reference points to.
struct Pointed {
    block: usize,
    site: SiteId,
    /// The type of the target, or of its elements.
    pointee: Option<TypeId>,
    /// The number of elements, for a pointer to a slice.
    len: Option<u64>,
}

/// A block to read.
struct Work {
    block: usize,
    what: What,
}

enum What {
    /// `count` values, the first at the offset `at`.
    Run {
        site: SiteId,
        at: u64,
        stride: u64,
        count: u64,
    },
    /// The values of a `VecDeque`.
    Ring {
        site: SiteId,
        stride: u64,
        head: u64,
        len: u64,
        cap: u64,
    },
    Table {
        site: SiteId,
        buckets: u64,
        ctrl: u64,
    },
    /// A node of a B-tree. Without a height, the type of the block tells whether it has edges.
    Node {
        site: SiteId,
        node: Node,
        height: Option<u64>,
    },
    Text {
        site: SiteId,
        at: u64,
        len: u64,
    },
}

/// The part of a block that is in use, computed when the block gets its owner.
#[derive(Clone, Copy, Default)]
struct Use {
    len: u64,
    capacity: u64,
    unused: u64,
    is_unknown: bool,
}

impl<'s, 'p> Walk<'s, 'p> {
    pub(crate) fn new(snapshot: &'s Snapshot, origins: &'s [Origin], schema: Schema<'p>) -> Self {
        let bias = snapshot.modules.first().map_or(0, |module| module.bias);
        let program = schema.program;
        let vtables = program
            .statics
            .iter()
            .filter_map(|of| match &program.get(of.ty).kind {
                Kind::Vtable(vtable) => Some((of.address.wrapping_add(bias), vtable.concrete)),
                _ => None,
            })
            .collect();
        let blocks = snapshot.blocks.len();
        Self {
            snapshot,
            origins,
            image: Image::new(&*snapshot.memory),
            schema,
            addresses: snapshot.blocks.iter().map(|block| block.addr).collect(),
            vtables,
            is_counting: false,
            flags: vec![0; blocks],
            owner_of: vec![0; blocks],
            current: 0,
            claims: vec![0; blocks],
            queue: Vec::new(),
            pointed_at: Vec::new(),
            depth: 0,
            tallies: Vec::new(),
            def_tallies: Vec::new(),
            holdings: Vec::new(),
            holding_of: HashMap::new(),
            roots: HashMap::new(),
            lengths: HashMap::new(),
            concretes: HashMap::new(),
            inner: HashSet::new(),
            inner_bytes: 0,
            buffer: Vec::new(),
        }
    }

    /// Assigns an owner and a type to each block, if they can be determined.
    pub(crate) fn run(&mut self) {
        let blocks = self.snapshot.blocks.len();
        let statics = self.statics();
        self.start_at_statics(&statics);
        self.drain();
        for block in 0..blocks {
            if self.flags[block] & SEEN == 0 {
                self.start(block, Owner::Stack);
                self.drain();
            }
        }
        self.follow_pointers();
        self.start_at_stacks();
        self.is_counting = true;
        self.inner.clear();
        self.inner_bytes = 0;
        self.start_at_statics(&statics);
        self.drain();
        for (without, owner) in [(OWNED | POINTED_AT, Owner::Stack), (OWNED, Owner::Unowned)] {
            for block in 0..blocks {
                if self.flags[block] & without == 0 {
                    self.start_unclaimed(block, owner.clone());
                }
            }
            self.follow_pointers();
        }
        // The other blocks are in a cycle of owners, or an owner in a cycle leads to them.
        let mut passed = vec![false; blocks];
        for block in 0..blocks {
            if self.claims[block] == 0 {
                let first = self.first_owner(block, &mut passed);
                self.start_unclaimed(first, Owner::Unowned);
                self.start_unclaimed(block, Owner::Unowned);
            }
        }
        self.follow_pointers();
        for block in 0..blocks {
            if self.claims[block] == 0 {
                self.untyped(block);
            }
        }
    }

    /// Decodes a block without an owner as the type from its call stack, if that is known.
    fn start_unclaimed(&mut self, block: usize, owner: Owner) {
        if self.claims[block] == 0 && self.type_of(block).is_some() {
            self.start(block, owner);
            self.drain();
        }
    }

    /// Follows the owners of a block until one repeats or has no owner, and returns that one. Stops at blocks that an
    /// earlier call has passed.
    fn first_owner(&self, block: usize, passed: &mut [bool]) -> usize {
        let mut at = block;
        while !std::mem::replace(&mut passed[at], true)
            && let Some(owner) = self.owner_of[at].checked_sub(1)
        {
            at = owner as usize;
        }
        at
    }

    /// Returns the site of the values in each holding's blocks, for holdings without an owning field.
    pub(crate) fn roots_of_holdings(&self) -> Vec<Option<SiteId>> {
        let mut all = vec![None; self.holdings.len()];
        for ((owner, site, _), holding) in &self.holding_of {
            let is_it = |(ty, all): (&BlockType, &Vec<(String, SiteId)>)| {
                !matches!(ty, BlockType::Node(..)) && all.iter().any(|(_, of)| of == site)
            };
            if *owner != Owner::Untyped && self.roots.iter().any(is_it) {
                all[*holding as usize] = Some(*site);
            }
        }
        all
    }

    /// Returns the index of a block's holding.
    pub(crate) fn holding(&self, block: usize) -> HoldingId {
        self.claims[block].saturating_sub(1)
    }

    fn drain(&mut self) {
        while let Some(work) = self.queue.pop() {
            self.current = u32::try_from(work.block + 1).unwrap_or(0);
            self.look_into(&work);
        }
        self.current = 0;
    }

    /// Returns the statics of the program, as sites with their addresses.
    fn statics(&mut self) -> Vec<(u64, SiteId)> {
        let Some(module) = self.snapshot.modules.first() else { return Vec::new() };
        let program = self.schema.program;
        let mut all = Vec::new();
        for of in &program.statics {
            let ty = program.get(of.ty);
            let address = of.address.wrapping_add(module.bias);
            let is_inside = (module.start..module.end).contains(&address);
            if matches!(ty.kind, Kind::Vtable(_)) || !is_inside || ty.size == 0 || ty.size > module.end - address {
                continue;
            }
            let path = format!("(static {})", super::owners::shown(&of.path));
            all.push((address, self.schema.root(of.ty, &path)));
        }
        all
    }

    fn start_at_statics(&mut self, statics: &[(u64, SiteId)]) {
        for &(address, site) in statics {
            let size = self.schema.sites[site].size;
            let mut bytes = Vec::new();
            // Later parts of the mapping are zero-initialised and not in the file.
            if size <= CHUNK && self.image.read(address, usize::try_from(size).unwrap_or(0), &mut bytes) {
                self.value(site, &bytes, 1);
            }
        }
    }

    /// Finds collections that are local variables.
    ///
    /// A header must have the layout of its type: a pointer to a block without an owner, and beside it a capacity that
    /// matches the size of the block. Several headers may point to one block, as copies left behind by moves. The
    /// longest one whose elements are all valid counts. At the exit of a program, the frames of its functions are gone,
    /// and their remains are not read.
    fn start_at_stacks(&mut self) {
        if self.snapshot.at == Moment::Exit {
            return;
        }
        let open = |this: &Self, block: usize| {
            this.flags[block] & (SEEN | OWNED) == 0 && matches!(this.type_of(block), Some(BlockType::Slots(_)))
        };
        let mut headers: HashMap<TypeId, Option<VecHeader>> = HashMap::new();
        let mut found: HashMap<usize, Vec<u64>> = HashMap::new();
        let roots = &self.snapshot.roots;
        let mut bytes = Vec::new();
        for &(start, end) in roots {
            let start = start.next_multiple_of(WORD);
            let size = end.saturating_sub(start).min(LONGEST_STACK) / WORD * WORD;
            if !self.image.read(start, length(size), &mut bytes) {
                continue;
            }
            for at in (0..size).step_by(8) {
                let Some(block) =
                    word(&bytes, at).and_then(|ptr| self.block_at(ptr)).filter(|block| open(self, *block))
                else {
                    continue;
                };
                let Some(BlockType::Slots(element)) = self.type_of(block) else { continue };
                let header = *headers.entry(element).or_insert_with(|| std_types::header_of(&self.schema, element));
                let Some(header) = header else { continue };
                let stride = self.schema.get(element).size;
                let beside = |field: u64| word(&bytes, at.checked_sub(header.ptr)?.checked_add(field)?);
                let (Some(cap), Some(len)) = (header.cap.and_then(beside), beside(header.len)) else { continue };
                if len <= cap && cap.checked_mul(stride) == Some(self.snapshot.blocks[block].size) {
                    found.entry(block).or_default().push(len);
                }
            }
        }
        let mut found: Vec<(usize, Vec<u64>)> = found.into_iter().collect();
        found.sort_unstable();
        for (block, mut lengths) in found {
            lengths.sort_unstable_by(|a, b| b.cmp(a));
            lengths.dedup();
            let Some(ty) = self.type_of(block) else { continue };
            let content = self.content_of(block);
            let root = self.root(ty, &content);
            let Decode::Vec { element, stride, .. } = *self.schema.sites[root].decode else { continue };
            let addr = self.snapshot.blocks[block].addr;
            let valid = lengths.into_iter().find(|len| self.are_valid(addr, element, stride, *len));
            if let Some(len) = valid {
                self.lengths.insert(block, len);
                self.start(block, Owner::Stack);
                self.drain();
            }
        }
    }

    /// Returns `true` if the last of `count` adjacent values are valid for their type. The last ones decide, because
    /// stale lengths include elements that were removed, and elements are dropped from the first one on.
    fn are_valid(&mut self, addr: u64, site: SiteId, stride: u64, count: u64) -> bool {
        let size = self.schema.sites[site].size;
        let mut bytes = Vec::new();
        (count.saturating_sub(CHECKED)..count).all(|index| {
            let Some(at) = index.checked_mul(stride).and_then(|at| addr.checked_add(at)) else { return false };
            size > CHUNK || self.image.read(at, length(size), &mut bytes) && self.is_valid(site, &bytes, 0)
        })
    }

    fn is_valid(&mut self, site: SiteId, bytes: &[u8], depth: u32) -> bool {
        let decode = Rc::clone(&self.schema.sites[site].decode);
        let all = |this: &mut Self, parts: &[super::types::Part]| {
            parts.iter().all(|part| {
                let size = this.schema.sites[part.site].size;
                this.is_valid(part.site, sub(bytes, part.at, size), depth + 1)
            })
        };
        if depth > DEEPEST {
            return true;
        }
        match &*decode {
            Decode::Def(def) => {
                self.schema.prepare(*def);
                let of = &self.schema.defs[*def];
                let index = of.tag.as_ref().map_or(Some(0), |tag| tag.variant(bytes));
                let Some(variant) = index.and_then(|index| of.variants.get(index)) else {
                    return of.variants.is_empty();
                };
                let fields = variant.fields.iter();
                let parts: Vec<_> = fields.map(|field| super::types::Part { at: field.at, site: field.site }).collect();
                all(self, &parts)
            }
            Decode::Enum { tag, variants, .. } => {
                let index = tag.as_ref().map_or(Some(0), |tag| tag.variant(bytes));
                index.and_then(|index| variants.get(index)).is_some_and(|variant| all(self, &variant.parts))
            }
            Decode::Parts { parts, .. } => all(self, parts),
            Decode::Vec { header: Some(header), stride, .. } => self.is_header(header, bytes, *stride),
            Decode::Text { header: Some(header) } => self.is_header(header, bytes, 1),
            Decode::Box { value } => {
                self.schema.sites[*value].size == 0 || word(bytes, 0).is_some_and(|ptr| self.block_at(ptr).is_some())
            }
            _ => true,
        }
    }

    fn is_header(&self, header: &VecHeader, bytes: &[u8], stride: u64) -> bool {
        let Some((ptr, cap, len)) = header.read(bytes) else { return false };
        let fits = |block: usize| cap.checked_mul(stride).is_some_and(|end| end <= self.snapshot.blocks[block].size);
        len <= cap && (cap == 0 || stride == 0 || self.block_at(ptr).is_some_and(fits))
    }

    /// Follows raw pointers and references to blocks without another owner.
    fn follow_pointers(&mut self) {
        while let Some(Pointed { block, site, pointee, len }) = self.pointed_at.pop() {
            if self.is_met(block) {
                continue;
            }
            let size = self.snapshot.blocks[block].size;
            // Only a slice of the whole block tells how many elements there are: a `Vec` may have more.
            let slice = pointee
                .zip(len)
                .filter(|(element, len)| *len > 0 && len.checked_mul(self.schema.get(*element).size) == Some(size));
            let of_block = self.type_of(block);
            if let Some(ty) = of_block {
                if let Some((element, len)) = slice.filter(|(element, _)| ty == BlockType::Slots(*element)) {
                    self.lengths.insert(block, len);
                    self.slice_text(block, site, element, len);
                }
                self.start(block, Owner::Weak(site));
            } else if let Some((element, len)) = slice {
                let content = format!("*[{}]", self.schema.get(element).name);
                let root = self.root(BlockType::Slots(element), &content);
                self.lengths.insert(block, len);
                self.slice_text(block, site, element, len);
                self.start_as(block, Owner::Weak(site), BlockType::Slots(element), root, content);
            } else if let Some(ty) = pointee
                && len.is_none()
                && self.schema.get(ty).size == size
                && size != 0
            {
                let content = format!("*{}", self.schema.get(ty).name);
                let root = self.root(BlockType::Value(ty), &content);
                self.start_as(block, Owner::Weak(site), BlockType::Value(ty), root, content);
            } else if let Some(ty) = pointee
                && self.schema.get(ty).size == 0
                && self.is_foreign(block)
            {
                // An opaque type of a C library, such as `DIR`: its size and fields are unknown.
                let name = Text::clone(&self.schema.get(ty).name);
                let content = format!("*{name}");
                let root = self.root(BlockType::Value(ty), &content);
                let used = Use { len: 1, capacity: 1, unused: 0, is_unknown: false };
                self.claim_as(block, Owner::Weak(site), root, None, || (content, name, 0), used);
            }
            self.drain();
        }
    }

    /// Returns `true` if the present pass has met an owner of a block, or has read it.
    fn is_met(&self, block: usize) -> bool {
        if self.is_counting { self.claims[block] != 0 } else { self.flags[block] & SEEN != 0 }
    }

    /// Counts the text of a `&str`.
    fn slice_text(&mut self, block: usize, site: SiteId, element: TypeId, len: u64) {
        if self.schema.get(element).size == 1 && self.schema.sites[site].name.ends_with("str") {
            self.text(block, site, 0, len);
        }
    }

    fn type_of(&self, block: usize) -> Option<BlockType> {
        self.origins.get(self.snapshot.blocks[block].stack as usize)?.ty
    }

    /// Returns the type that holds a block, from its call stack: `Vec<Node>`.
    fn content_of(&self, block: usize) -> String {
        let origin = self.origins.get(self.snapshot.blocks[block].stack as usize);
        origin.map_or_else(String::new, |origin| origin.content.clone())
    }

    /// Returns the site of blocks with the contents `ty` in a container `content` that have no owning field.
    fn root(&mut self, ty: BlockType, content: &str) -> SiteId {
        let known = self.roots.get(&ty).into_iter().flatten().find(|(of, _)| of == content);
        if let Some(&(_, site)) = known {
            return site;
        }
        let schema = &mut self.schema;
        let made = |schema: &mut Schema<'_>, name: &str| schema.made(name, name, Decode::Opaque);
        let site = match ty {
            BlockType::Value(of) => {
                let name = Text::clone(&schema.get(of).name);
                schema.root(of, &name)
            }
            BlockType::Slots(of) => {
                let site = made(schema, content);
                let decode = std_types::vec_of(schema, of, site, None);
                schema.sites[site].decode = Rc::new(decode);
                site
            }
            BlockType::Counted(of) => {
                let site = made(schema, content);
                let decode = std_types::vec_of(schema, of, site, None);
                schema.sites[site].decode = Rc::new(decode);
                site
            }
            BlockType::Table(of, kind) => {
                let of_entry = &schema.get(of).name;
                let pair = of_entry.strip_prefix('(').and_then(|rest| rest.strip_suffix(')')).unwrap_or(of_entry);
                let name = match kind {
                    std_types::TableKind::Map => format!("HashMap<{pair}>"),
                    std_types::TableKind::Set => format!("HashSet<{}>", pair.strip_suffix(", ()").unwrap_or(pair)),
                    std_types::TableKind::Table => format!("HashTable<{of_entry}>"),
                };
                let site = made(schema, &name);
                let decode = std_types::table_of(schema, of, site, kind, None);
                schema.sites[site].decode = Rc::new(decode);
                site
            }
            BlockType::Chunk(arena) => made(schema, &format!("chunk of {arena}")),
            BlockType::Node(leaf, _) => {
                let site = made(schema, content);
                if let Some(node) = std_types::node_of(schema, leaf, site, content.starts_with("BTreeSet<")) {
                    schema.sites[site].decode = Rc::new(Decode::Tree { header: None, node });
                }
                site
            }
        };
        self.roots.entry(ty).or_default().push((content.to_owned(), site));
        site
    }

    /// Decodes a block as the type from its call stack.
    fn start(&mut self, block: usize, owner: Owner) {
        let Some(origin) = self.origins.get(self.snapshot.blocks[block].stack as usize) else { return };
        let Some(ty) = origin.ty else { return };
        let content = origin.content.clone();
        let root = self.root(ty, &content);
        self.start_as(block, owner, ty, root, content);
    }

    fn start_as(&mut self, block: usize, owner: Owner, ty: BlockType, site: SiteId, content: String) {
        let of = self.snapshot.blocks[block];
        let decode = Rc::clone(&self.schema.sites[site].decode);
        let name = Text::clone(&self.schema.sites[site].name);
        let fits = |stride: u64| of.size.checked_div(stride).unwrap_or(0);
        match (ty, &*decode) {
            (BlockType::Value(_), _) => {
                let size = self.schema.sites[site].size;
                if size > of.size {
                    return self.start_unknown(block, owner, site, content, name, size);
                }
                let used = Use { len: 1, capacity: 1, unused: of.size - size, is_unknown: false };
                if self.claim_as(block, owner, site, None, || (content, name, size), used) {
                    self.push(block, What::Run { site, at: 0, stride: size, count: 1 });
                }
            }
            (BlockType::Table(..), Decode::Table { stride, align, .. }) => {
                let Some((buckets, ctrl)) = buckets_of(of.size, *stride, *align) else {
                    return self.start_unknown(block, owner, site, content, name, *stride);
                };
                // The control bytes tell which buckets are full.
                let len = self.full(of.addr + ctrl, buckets).len() as u64;
                let unused = of.size.saturating_sub(len.saturating_mul(*stride));
                let used = Use { len, capacity: buckets, unused, is_unknown: false };
                if self.claim_as(block, owner, site, None, || (content, name, *stride), used) {
                    self.push(block, What::Table { site, buckets, ctrl });
                }
            }
            (BlockType::Node(_, is_inner), Decode::Tree { node, .. }) => {
                let height = if is_inner { None } else { Some(0) };
                let node = *node;
                let len = self.node_len(of.addr, &node);
                let entry = node.keys.1.saturating_add(node.values.1);
                let unused = (11 - len).saturating_mul(entry);
                let used = Use { len, capacity: 11, unused, is_unknown: false };
                if node.size <= of.size && self.claim_as(block, owner, site, None, || (content, name, entry), used) {
                    self.push(block, What::Node { site, node, height });
                }
            }
            (BlockType::Counted(_), Decode::Vec { element, stride, .. }) => {
                let at = GROUP.max(self.schema.sites[*element].align);
                let count = of.size.saturating_sub(at).checked_div(*stride).unwrap_or(0);
                let used = Use { len: count, capacity: count, unused: 0, is_unknown: false };
                let (element, stride) = (*element, *stride);
                let of_element = Text::clone(&self.schema.sites[element].name);
                if self.claim_as(block, owner, site, None, || (content, of_element, stride), used) {
                    self.push(block, What::Run { site: element, at, stride, count });
                }
            }
            (_, Decode::Vec { element, stride, .. }) => {
                let of_element = Text::clone(&self.schema.sites[*element].name);
                if let Some(&len) = self.lengths.get(&block) {
                    let unused = of.size.saturating_sub(len.saturating_mul(*stride));
                    let used = Use { len, capacity: fits(*stride), unused, is_unknown: false };
                    let (element, stride) = (*element, *stride);
                    if self.claim_as(block, owner, site, None, || (content, of_element, stride), used) {
                        self.push(block, What::Run { site: element, at: 0, stride, count: len });
                    }
                    return;
                }
                // The header is unknown, and so is the number of elements in use.
                let used = Use { len: 0, capacity: fits(*stride), unused: 0, is_unknown: true };
                if self.is_counting {
                    self.claim_as(block, owner, site, None, || (content, of_element, *stride), used);
                }
            }
            _ => self.start_unknown(block, owner, site, content, name, 0),
        }
    }

    /// Records a block whose type is known but does not match its size.
    fn start_unknown(&mut self, block: usize, owner: Owner, site: SiteId, content: String, name: Text, size: u64) {
        if self.is_counting {
            let used = Use { is_unknown: true, ..Use::default() };
            self.claim_as(block, owner, site, None, || (content, name, size), used);
        }
    }

    /// Returns `true` if the call stack of a block shows no Rust function.
    fn is_foreign(&self, block: usize) -> bool {
        let stack = self.snapshot.blocks[block].stack;
        self.origins.get(stack as usize).is_none_or(|origin| origin.is_foreign)
    }

    fn untyped(&mut self, block: usize) {
        let is_foreign = self.is_foreign(block);
        let content = if is_foreign { "block of C code" } else { "?" };
        let site = usize::from(is_foreign);
        let used = Use { is_unknown: true, ..Use::default() };
        self.claim_as(block, Owner::Untyped, site, None, || (content.into(), "?".into(), 0), used);
    }

    fn push(&mut self, block: usize, what: What) {
        self.queue.push(Work { block, what });
    }

    /// Returns the block that begins at `addr`.
    fn block_at(&self, addr: u64) -> Option<usize> {
        self.addresses.binary_search(&addr).ok()
    }

    /// Assigns a block to a site that points to it. Returns `true` if the walk must read it.
    fn claim(&mut self, block: usize, site: SiteId, concrete: Option<TypeId>, used: Use) -> bool {
        if !self.is_counting {
            let is_new = self.flags[block] & SEEN == 0;
            if self.flags[block] & OWNED == 0 {
                self.owner_of[block] = self.current;
            }
            self.flags[block] |= SEEN | OWNED;
            return is_new;
        }
        if self.claims[block] != 0 {
            return false;
        }
        // The stack owns the root block only, not the blocks below it.
        let schema = &self.schema;
        let (content, element, size) = describe(schema, site, concrete);
        let is_new = self.claim_as(block, Owner::Site(site), site, concrete, || (content, element, size), used);
        if is_new {
            let of = self.snapshot.blocks[block];
            let weight = u64::from(of.weight);
            let tally = self.tally(site);
            let bytes = of.size.saturating_mul(weight);
            tally.counts.add(&Counts {
                requested: bytes,
                allocations: weight,
                waste: used.unused.saturating_mul(weight),
                hollow: if used.len == 0 { weight } else { 0 },
                element_slots: used.capacity.saturating_mul(weight),
                used: used.len.saturating_mul(weight),
                ..Counts::default()
            });
            if used.len == 0 {
                tally.hollow_bytes = tally.hollow_bytes.saturating_add(bytes);
            }
            tally.rounding = tally.rounding.saturating_add(rounding(of.size).saturating_mul(weight));
        }
        is_new
    }

    fn claim_as(
        &mut self,
        block: usize,
        owner: Owner,
        site: SiteId,
        concrete: Option<TypeId>,
        text: impl FnOnce() -> (String, Text, u64),
        used: Use,
    ) -> bool {
        if !self.is_counting {
            let is_new = self.flags[block] & SEEN == 0;
            self.flags[block] |= SEEN;
            return is_new;
        }
        if self.claims[block] != 0 {
            return false;
        }
        let holding = match self.holding_of.get(&(owner.clone(), site, concrete)) {
            Some(&holding) => holding,
            None => {
                let (content, element, element_size) = text();
                let holding = HoldingId::try_from(self.holdings.len()).unwrap_or(HoldingId::MAX - 1);
                self.holding_of.insert((owner.clone(), site, concrete), holding);
                self.holdings.push(Holding {
                    owner,
                    content,
                    element,
                    element_size,
                    concrete,
                    blocks: 0,
                    bytes: 0,
                    len: 0,
                    capacity: 0,
                    unused: 0,
                    unknown: 0,
                    lengths: Histogram::default(),
                });
                holding
            }
        };
        self.claims[block] = holding + 1;
        let of = self.snapshot.blocks[block];
        let weight = u64::from(of.weight);
        let add = |sum: &mut u64, more: u64| *sum = sum.saturating_add(more.saturating_mul(weight));
        let holding = &mut self.holdings[holding as usize];
        add(&mut holding.blocks, 1);
        add(&mut holding.bytes, of.size);
        add(&mut holding.len, used.len);
        add(&mut holding.capacity, used.capacity);
        add(&mut holding.unused, used.unused);
        add(&mut holding.unknown, u64::from(used.is_unknown));
        if !used.is_unknown {
            holding.lengths.add(used.len, weight);
        }
        true
    }

    fn tally(&mut self, site: SiteId) -> &mut Tally {
        if self.tallies.len() <= site {
            self.tallies.resize_with(self.schema.sites.len().max(site + 1), Tally::default);
        }
        &mut self.tallies[site]
    }

    fn def_tally(&mut self, def: DefId) -> &mut DefTally {
        if self.def_tallies.len() <= def {
            self.def_tallies.resize_with(self.schema.defs.len().max(def + 1), DefTally::default);
        }
        &mut self.def_tallies[def]
    }

    /// Reads the contents of a block.
    fn look_into(&mut self, work: &Work) {
        let of = self.snapshot.blocks[work.block];
        let weight = u64::from(of.weight);
        match work.what {
            What::Run { site, at, stride, count } => {
                self.contents(of.addr, of.size, site, at, stride, count, weight);
                self.run_of(of.addr, of.size, site, at, stride, count, weight);
            }
            What::Ring { site, stride, head, len, cap } => {
                let first = len.min(cap.saturating_sub(head));
                self.run_of(of.addr, of.size, site, head.saturating_mul(stride), stride, first, weight);
                self.run_of(of.addr, of.size, site, 0, stride, len - first, weight);
            }
            What::Table { site, buckets, ctrl } => {
                let decode = Rc::clone(&self.schema.sites[site].decode);
                let Decode::Table { parts, stride, .. } = &*decode else { return };
                if ctrl.saturating_add(buckets) > of.size {
                    return;
                }
                let mut bytes = Vec::new();
                for bucket in self.full(of.addr + ctrl, buckets) {
                    let Some(at) = (bucket + 1).checked_mul(*stride).and_then(|back| ctrl.checked_sub(back)) else {
                        break;
                    };
                    if !self.image.read(of.addr + at, length(*stride), &mut bytes) {
                        break;
                    }
                    for part in parts {
                        let size = self.schema.sites[part.site].size;
                        self.value(part.site, sub(&bytes, part.at, size), weight);
                    }
                }
            }
            What::Node { site, node, height } => self.node(work.block, site, &node, height),
            What::Text { site, at, len } => {
                if !self.is_counting || len > LONGEST_TEXT || at.saturating_add(len) > of.size {
                    return;
                }
                let mut bytes = std::mem::take(&mut self.buffer);
                if self.image.read(of.addr + at, length(len), &mut bytes) {
                    self.tally(site).texts.get_or_insert_default().add(&bytes, weight);
                }
                self.buffer = bytes;
            }
        }
    }

    /// Compares the contents of a block with the other blocks of its owner. Comparing bytes is enough: equal blocks
    /// cannot own the same other block.
    #[expect(clippy::too_many_arguments, reason = "the first two describe a block, the others a run of values in it")]
    fn contents(&mut self, addr: u64, size: u64, site: SiteId, at: u64, stride: u64, count: u64, weight: u64) {
        let of = &self.schema.sites[site];
        let Some(bytes) = count.checked_mul(stride).filter(|bytes| (1..=LONGEST_TEXT).contains(bytes)) else { return };
        if !self.is_counting || of.parent.is_none() || at.checked_add(bytes).is_none_or(|end| end > size) {
            return;
        }
        let padding = of.ty.map(|ty| self.schema.padding(ty)).unwrap_or_default();
        let mut all = std::mem::take(&mut self.buffer);
        if self.image.read(addr + at, length(bytes), &mut all) {
            if !padding.is_empty() {
                for value in all.chunks_mut(length(stride)) {
                    for &(start, end) in &*padding {
                        value.get_mut(start..end).unwrap_or_default().fill(0);
                    }
                }
            }
            self.tally(site).contents.get_or_insert_default().add(&all, weight);
        }
        self.buffer = all;
    }

    /// Records the range of an integer's values.
    fn integers(&mut self, site: SiteId, bytes: &[u8]) {
        let of = &self.schema.sites[site];
        let (Some(integer), Ok(size)) = (of.integer, usize::try_from(of.size)) else { return };
        if !self.is_counting || size == 0 {
            return;
        }
        let mut range = self.tally(site).range;
        for value in bytes.chunks_exact(size).filter_map(|value| integer.read(value)) {
            let of = range.get_or_insert(Range { low: value, high: value, has_zero: false });
            of.low = of.low.min(value);
            of.high = of.high.max(value);
            of.has_zero |= value == 0;
        }
        self.tally(site).range = range;
    }

    /// Reads `count` adjacent values.
    #[expect(clippy::too_many_arguments, reason = "the first two describe a block, the others a run of values in it")]
    fn run_of(&mut self, addr: u64, size: u64, site: SiteId, at: u64, stride: u64, count: u64, weight: u64) {
        if count == 0 || stride == 0 {
            return;
        }
        let Some(end) = count.checked_mul(stride).and_then(|bytes| bytes.checked_add(at)) else { return };
        if end > size {
            return;
        }
        if matches!(*self.schema.sites[site].decode, Decode::Plain | Decode::Opaque) {
            if self.is_counting {
                let many = count.saturating_mul(weight);
                let counts = &mut self.tally(site).counts;
                counts.instances = counts.instances.saturating_add(many);
                counts.filled = counts.filled.saturating_add(many);
                if self.schema.sites[site].integer.is_some() && end - at <= LONGEST_TEXT {
                    let mut bytes = std::mem::take(&mut self.buffer);
                    if self.image.read(addr + at, length(end - at), &mut bytes) {
                        self.integers(site, &bytes);
                    }
                    self.buffer = bytes;
                }
            }
            return;
        }
        let of = self.schema.sites[site].size;
        let in_chunk = (CHUNK / stride).max(1);
        let mut bytes = Vec::new();
        let mut done = 0;
        while done < count {
            let many = in_chunk.min(count - done);
            if !self.image.read(addr + at + done * stride, length(many * stride), &mut bytes) {
                return;
            }
            for index in 0..many {
                self.value(site, sub(&bytes, index * stride, of), weight);
            }
            done += many;
        }
    }

    /// Returns the indices of a table's full buckets.
    fn full(&mut self, ctrl: u64, buckets: u64) -> Vec<u64> {
        let mut bytes = Vec::new();
        if buckets > 1 << 40 || !self.image.read(ctrl, length(buckets), &mut bytes) {
            return Vec::new();
        }
        (0..).zip(&bytes).filter(|(_, byte)| **byte & 0x80 == 0).map(|(bucket, _)| bucket).collect()
    }

    /// Returns the number of keys in a node.
    fn node_len(&mut self, addr: u64, node: &Node) -> u64 {
        let mut bytes = Vec::new();
        if !self.image.read(addr + node.len, 2, &mut bytes) {
            return 0;
        }
        u64::from(u16::from_le_bytes([bytes[0], bytes[1]])).min(11)
    }

    fn node(&mut self, block: usize, site: SiteId, node: &Node, height: Option<u64>) {
        let of = self.snapshot.blocks[block];
        let weight = u64::from(of.weight);
        let len = self.node_len(of.addr, node);
        self.run_of(of.addr, of.size, node.keys.2, node.keys.0, node.keys.1, len, weight);
        self.run_of(of.addr, of.size, node.values.2, node.values.0, node.values.1, len, weight);
        let edges = node.size.next_multiple_of(WORD);
        if height == Some(0) || edges + 12 * WORD > of.size {
            return;
        }
        for edge in 0..=len {
            let Some(child) = self.image.word(of.addr + edges + edge * WORD) else { return };
            let Some(child) = self.block_at(child) else { continue };
            let height = match height {
                Some(height) => Some(height - 1),
                None => match self.type_of(child) {
                    Some(BlockType::Node(_, true)) => None,
                    _ => Some(0),
                },
            };
            self.claim_node(child, site, node, height);
        }
    }

    fn claim_node(&mut self, block: usize, site: SiteId, node: &Node, height: Option<u64>) {
        let of = self.snapshot.blocks[block];
        if of.size < node.size {
            return;
        }
        let len = self.node_len(of.addr, node);
        let unused = (11 - len).saturating_mul(node.keys.1.saturating_add(node.values.1));
        let used = Use { len, capacity: 11, unused, is_unknown: false };
        if self.claim(block, site, None, used) {
            self.push(block, What::Node { site, node: *node, height });
        }
    }

    /// Reads a value. Returns `true` if it is empty: zero, `None`, a collection without elements, or made of empty
    /// values only.
    fn value(&mut self, site: SiteId, bytes: &[u8], weight: u64) -> bool {
        self.depth += 1;
        let is_empty = if self.depth > DEEPEST { false } else { self.decoded(site, bytes, weight) };
        self.depth -= 1;
        if self.is_counting {
            let counts = &mut self.tally(site).counts;
            counts.instances = counts.instances.saturating_add(weight);
            if !is_empty {
                counts.filled = counts.filled.saturating_add(weight);
            }
        }
        is_empty
    }

    fn decoded(&mut self, site: SiteId, bytes: &[u8], weight: u64) -> bool {
        let decode = Rc::clone(&self.schema.sites[site].decode);
        match &*decode {
            Decode::Plain => {
                self.integers(site, bytes);
                bytes.iter().all(|byte| *byte == 0)
            }
            Decode::Opaque => false,
            Decode::Def(def) => self.def(site, *def, bytes, weight),
            Decode::Enum { tag, variants, .. } => {
                let index = match tag {
                    Some(tag) => tag.variant(bytes),
                    None => Some(0),
                };
                let Some((index, variant)) = index.and_then(|index| Some((index, variants.get(index)?))) else {
                    return self.invalid(site, weight);
                };
                self.count_variant(site, index, variants.len(), weight);
                for part in &variant.parts {
                    let size = self.schema.sites[part.site].size;
                    self.value(part.site, sub(bytes, part.at, size), weight);
                }
                variant.parts.is_empty()
            }
            Decode::Parts { parts, .. } => {
                let mut is_empty = true;
                for part in parts {
                    let size = self.schema.sites[part.site].size;
                    is_empty &= self.value(part.site, sub(bytes, part.at, size), weight);
                }
                is_empty
            }
            Decode::Array { element, stride, count } => {
                let mut is_empty = true;
                let size = self.schema.sites[*element].size;
                let there = (bytes.len() as u64).checked_div(*stride).unwrap_or(0);
                for index in 0..(*count).min(there) {
                    is_empty &= self.value(*element, sub(bytes, index * stride, size), weight);
                }
                is_empty
            }
            Decode::Vec { header: Some(header), element, stride } => {
                let Some((ptr, cap, len)) = header.read(bytes) else { return true };
                if let Some(block) = self.sequence(site, ptr, cap, len, *stride) {
                    self.push(block, What::Run { site: *element, at: 0, stride: *stride, count: len });
                }
                len == 0
            }
            Decode::Slice { element, stride } => {
                let (Some(ptr), Some(len)) = (word(bytes, 0), word(bytes, WORD)) else { return true };
                if let Some(block) = self.sequence(site, ptr, len, len, *stride) {
                    self.push(block, What::Run { site: *element, at: 0, stride: *stride, count: len });
                }
                len == 0
            }
            Decode::Deque { header: Some(header), head, element, stride } => {
                let Some((ptr, cap, len)) = header.read(bytes) else { return true };
                let Some(head) = word(bytes, *head).filter(|head| *head <= cap) else { return len == 0 };
                if let Some(block) = self.sequence(site, ptr, cap, len, *stride) {
                    self.push(block, What::Ring { site: *element, stride: *stride, head, len, cap });
                }
                len == 0
            }
            Decode::Text { header: Some(header) } => {
                let Some((ptr, cap, len)) = header.read(bytes) else { return true };
                if let Some(block) = self.sequence(site, ptr, cap, len, 1) {
                    self.text(block, site, 0, len);
                }
                len == 0
            }
            Decode::Box { value } => {
                if let Some(block) = word(bytes, 0).and_then(|ptr| self.block_at(ptr)) {
                    self.boxed(block, site, *value, None);
                }
                false
            }
            Decode::Dyn => {
                let (Some(ptr), Some(vtable)) = (word(bytes, 0), word(bytes, WORD)) else { return false };
                if let Some(block) = self.block_at(ptr) {
                    match self.concrete(site, vtable) {
                        Some((concrete, value)) => self.boxed(block, site, value, Some(concrete)),
                        None => {
                            let used = Use { len: 1, capacity: 1, ..Use::default() };
                            self.claim(block, site, None, used);
                        }
                    }
                } else if self.is_counting
                    && let Some((concrete, _)) = self.concrete(site, vtable)
                {
                    self.inline_dyn(site, concrete, weight);
                }
                false
            }
            Decode::Counted { ptr, is_weak, counts, target } => {
                self.counted(site, bytes, *ptr, *is_weak, *counts, target);
                false
            }
            Decode::Table { header: Some(header), stride, align, .. } => {
                self.table(site, bytes, *header, *stride, *align)
            }
            Decode::Tree { header: Some(header), node } => {
                let len = word(bytes, header.len).unwrap_or(0);
                let (Some(root), Some(height)) = (word(bytes, header.root), word(bytes, header.height)) else {
                    return true;
                };
                if root != 0
                    && height <= TALLEST
                    && let Some(block) = self.block_at(root)
                {
                    self.claim_node(block, site, node, Some(height));
                }
                len == 0
            }
            Decode::List { head, len, next, element_at, element, node_size } => {
                let (Some(mut at), Some(len)) = (word(bytes, *head), word(bytes, *len)) else { return true };
                let mut left = len;
                while left > 0
                    && let Some(block) = self.block_at(at)
                    && self.snapshot.blocks[block].size >= *node_size
                {
                    left -= 1;
                    let used = Use { len: 1, capacity: 1, unused: 0, is_unknown: false };
                    if !self.claim(block, site, None, used) {
                        break;
                    }
                    let stride = self.schema.sites[*element].size;
                    self.push(block, What::Run { site: *element, at: *element_at, stride, count: 1 });
                    match self.image.word(at.saturating_add(*next)) {
                        Some(after) => at = after,
                        None => break,
                    }
                }
                len == 0
            }
            Decode::Small { cap, limit, inline, ptr, len, element, stride } => {
                let Some(cap) = word(bytes, *cap) else { return true };
                if cap <= *limit {
                    let size = self.schema.sites[*element].size;
                    for index in 0..cap.min(bytes.len() as u64) {
                        self.value(*element, sub(bytes, inline + index * stride, size), weight);
                    }
                    return cap == 0;
                }
                let (Some(ptr), Some(len)) = (word(bytes, *ptr), word(bytes, *len)) else { return true };
                if let Some(block) = self.sequence(site, ptr, cap, len, *stride) {
                    self.push(block, What::Run { site: *element, at: 0, stride: *stride, count: len });
                }
                len == 0
            }
            Decode::Compact => match bytes.last() {
                Some(&COMPACT_HEAP) => {
                    let cap = number(bytes, 16, 7).and_then(|cap| u64::try_from(cap).ok());
                    let (Some(ptr), Some(len), Some(cap)) = (word(bytes, 0), word(bytes, 8), cap) else {
                        return true;
                    };
                    if let Some(block) = self.sequence(site, ptr, cap, len, 1) {
                        self.text(block, site, 0, len);
                    }
                    len == 0
                }
                Some(&last) => last == COMPACT_EMPTY,
                None => true,
            },
            Decode::Bytes { ptr, len, data, is_mut } => {
                let (Some(ptr), Some(len), Some(data)) = (word(bytes, *ptr), word(bytes, *len), word(bytes, *data))
                else {
                    return true;
                };
                self.bytes(site, ptr, len, data, *is_mut);
                len == 0
            }
            Decode::ThinText { ptr } => {
                let Some(ptr) = word(bytes, *ptr) else { return true };
                // The text begins after one byte of length, or after one byte and a word.
                let found = [1, 1 + WORD].into_iter().find_map(|back| {
                    let block = self.block_at(ptr.checked_sub(back)?)?;
                    Some((block, back, self.snapshot.blocks[block].size.checked_sub(back)?))
                });
                let Some((block, back, len)) = found else { return true };
                let used = Use { len, capacity: len, unused: 0, is_unknown: false };
                if self.claim(block, site, None, used) {
                    self.text(block, site, back, len);
                }
                false
            }
            Decode::Thin { ptr, back, element, stride } => {
                let Some(ptr) = word(bytes, *ptr) else { return true };
                let Some(block) = ptr.checked_sub(*back).and_then(|start| self.block_at(start)) else { return true };
                let Some(len) = self.image.word(ptr - WORD) else { return true };
                let end = len.checked_mul(*stride).and_then(|bytes| bytes.checked_add(*back));
                if end.is_some_and(|end| end <= self.snapshot.blocks[block].size) {
                    let used = Use { len, capacity: len, unused: 0, is_unknown: false };
                    if self.claim(block, site, None, used) {
                        self.push(block, What::Run { site: *element, at: *back, stride: *stride, count: len });
                    }
                }
                false
            }
            Decode::Sparse { ptr, value } => match word(bytes, *ptr).and_then(|ptr| self.block_at(ptr)) {
                Some(block) => {
                    self.boxed(block, site, *value, None);
                    false
                }
                None => true,
            },
            Decode::SmallDyn { meta } => {
                let (Some(ptr), Some(meta)) = (word(bytes, 0), word(bytes, *meta)) else { return false };
                if let Some((concrete, value)) = self.concrete(site, meta & !1) {
                    if meta & 1 == 0 {
                        let size = self.schema.sites[value].size;
                        if size <= bytes.len() as u64 {
                            self.value(value, sub(bytes, 0, size), weight);
                        }
                    } else if let Some(block) = self.block_at(ptr) {
                        self.boxed(block, site, value, Some(concrete));
                    }
                }
                false
            }
            Decode::Within { ptr, len, element, stride } => {
                let Some(ptr) = word(bytes, *ptr) else { return false };
                let len = match *len {
                    None => 1,
                    Some((at, size)) => number(bytes, at, size).and_then(|len| u64::try_from(len).ok()).unwrap_or(0),
                };
                self.within(site, ptr, *element, *stride, len);
                len == 0
            }
            Decode::Once { state, complete, value } => {
                // The state's higher bits tell whether threads wait.
                let is_complete =
                    number(bytes, *state, STATE_BYTES).is_some_and(|state| state & 3 == u128::from(*complete));
                if is_complete {
                    let size = self.schema.sites[value.site].size;
                    self.value(value.site, sub(bytes, value.at, size), weight);
                }
                !is_complete
            }
            Decode::Iter { start, cap, ptr, end, element, stride } => {
                let at = |field: u64| word(bytes, field);
                let (Some(start), Some(cap), Some(ptr), Some(end)) = (at(*start), at(*cap), at(*ptr), at(*end)) else {
                    return true;
                };
                let from = ptr.checked_sub(start);
                let len = end.checked_sub(ptr).and_then(|bytes| bytes.checked_div(*stride));
                let (Some(from), Some(len)) = (from, len) else { return true };
                if from.checked_add(len.saturating_mul(*stride)).is_some_and(|end| end <= cap.saturating_mul(*stride))
                    && let Some(block) = self.sequence(site, start, cap, len, *stride)
                {
                    self.push(block, What::Run { site: *element, at: from, stride: *stride, count: len });
                }
                len == 0
            }
            Decode::Pointer { pointee, meta } => {
                let Some(ptr) = word(bytes, 0) else { return false };
                let (pointee, len) = match *meta {
                    Meta::None => (*pointee, None),
                    Meta::Length(at) => (*pointee, word(bytes, at)),
                    Meta::Vtable(at) => (word(bytes, at).and_then(|table| self.vtables.get(&table).copied()), None),
                };
                // A reference to a value in an arena.
                if let Some(pointee) = pointee
                    && self.schema.get(pointee).size > 0
                    && let Some(block) = self.block_around(ptr)
                    && matches!(self.type_of(block), Some(BlockType::Chunk(_)))
                {
                    let element = self.pointee(site, pointee);
                    self.within(site, ptr, element, self.schema.get(pointee).size, len.unwrap_or(1));
                    return false;
                }
                if let Some(block) = self.block_at(ptr) {
                    if !self.is_counting {
                        self.flags[block] |= POINTED_AT;
                    }
                    if !self.is_met(block) {
                        self.pointed_at.push(Pointed { block, site, pointee, len });
                    }
                }
                ptr == 0
            }
            Decode::Vec { header: None, .. }
            | Decode::Text { header: None }
            | Decode::Deque { header: None, .. }
            | Decode::Table { header: None, .. }
            | Decode::Tree { header: None, .. } => false,
        }
    }

    fn def(&mut self, site: SiteId, def: DefId, bytes: &[u8], weight: u64) -> bool {
        self.schema.prepare(def);
        let of = &self.schema.defs[def];
        let (is_enum, number) = (of.is_enum, of.variants.len());
        let index = match &of.tag {
            Some(tag) => tag.variant(bytes),
            None => Some(0),
        };
        let Some(index) = index.filter(|index| *index < number) else {
            return if number == 0 { true } else { self.invalid(site, weight) };
        };
        if self.is_counting {
            let tally = self.def_tally(def);
            tally.instances = tally.instances.saturating_add(weight);
            if is_enum {
                tally.variants.resize(number, 0);
                tally.variants[index] = tally.variants[index].saturating_add(weight);
                self.count_variant(site, index, number, weight);
            }
        }
        let fields = self.schema.defs[def].variants[index].fields.len();
        let mut is_empty = true;
        for field in 0..fields {
            let (at, part) = {
                let field = &self.schema.defs[def].variants[index].fields[field];
                (field.at, field.site)
            };
            let size = self.schema.sites[part].size;
            is_empty &= self.value(part, sub(bytes, at, size), weight);
        }
        // Most enums have their first variant as default.
        is_empty && (!is_enum || index == 0 && fields == 0)
    }

    fn invalid(&mut self, site: SiteId, weight: u64) -> bool {
        if self.is_counting {
            let tally = self.tally(site);
            tally.invalid = tally.invalid.saturating_add(weight);
        }
        false
    }

    fn count_variant(&mut self, site: SiteId, index: usize, number: usize, weight: u64) {
        if self.is_counting {
            let variants = &mut self.tally(site).variants;
            variants.resize(number, 0);
            variants[index] = variants[index].saturating_add(weight);
        }
    }

    /// Assigns the block of a collection to its site. Returns the block if the walk must read it.
    fn sequence(&mut self, site: SiteId, ptr: u64, cap: u64, len: u64, stride: u64) -> Option<usize> {
        if cap == 0 || stride == 0 || len > cap {
            return None;
        }
        let block = self.block_at(ptr)?;
        let size = self.snapshot.blocks[block].size;
        if cap.checked_mul(stride)? > size {
            return None;
        }
        let used = Use { len, capacity: cap, unused: size - len * stride, is_unknown: false };
        self.claim(block, site, None, used).then_some(block)
    }

    fn text(&mut self, block: usize, site: SiteId, at: u64, len: u64) {
        if !self.is_counting {
            return;
        }
        if len >= LONG_TEXT as u64 {
            let weight = u64::from(self.snapshot.blocks[block].weight);
            let counts = &mut self.tally(site).counts;
            counts.long = counts.long.saturating_add(weight);
        }
        if len <= SHORT {
            let of = self.snapshot.blocks[block];
            let (number, bytes) = &mut self.tally(site).short;
            *number = number.saturating_add(u64::from(of.weight));
            *bytes = bytes.saturating_add(of.size.saturating_mul(u64::from(of.weight)));
        }
        self.push(block, What::Text { site, at, len });
    }

    fn boxed(&mut self, block: usize, site: SiteId, value: SiteId, concrete: Option<TypeId>) {
        let (size, of) = (self.schema.sites[value].size, self.snapshot.blocks[block].size);
        if size == 0 || size > of {
            return;
        }
        let used = Use { len: 1, capacity: 1, unused: of - size, is_unknown: false };
        if self.claim(block, site, concrete, used) {
            self.push(block, What::Run { site: value, at: 0, stride: size, count: 1 });
        }
    }

    /// Returns the concrete type of a trait object, and the site of its values.
    fn concrete(&mut self, site: SiteId, vtable: u64) -> Option<(TypeId, SiteId)> {
        let concrete = *self.vtables.get(&vtable)?;
        Some((concrete, self.pointee(site, concrete)))
    }

    /// Returns the site of a pointer's target.
    fn pointee(&mut self, site: SiteId, pointee: TypeId) -> SiteId {
        match self.concretes.get(&(site, pointee)) {
            Some(&value) => value,
            None => {
                let value = self.schema.part(pointee, site, Edge::Pointee);
                self.concretes.insert((site, pointee), value);
                value
            }
        }
    }

    /// Returns the block that contains an address.
    fn block_around(&self, addr: u64) -> Option<usize> {
        let block = self.addresses.partition_point(|start| *start <= addr).checked_sub(1)?;
        let of = self.snapshot.blocks[block];
        (addr - of.addr < of.size).then_some(block)
    }

    /// Reads values inside a block that a slab or arena owns. Each pass reads a value once, even if several pointers
    /// lead to it.
    fn within(&mut self, site: SiteId, ptr: u64, element: SiteId, stride: u64, len: u64) {
        let Some(block) = self.block_around(ptr).filter(|_| stride > 0 && len > 0) else { return };
        let of = self.snapshot.blocks[block];
        let at = ptr - of.addr;
        let fits = |bytes: &u64| at.checked_add(*bytes).is_some_and(|end| end <= of.size);
        let Some(bytes) = len.checked_mul(stride).filter(fits) else { return };
        let most = self.snapshot.live_bytes.saturating_mul(MOST_INNER);
        if self.inner_bytes > most || !self.inner.insert((ptr, element)) {
            return;
        }
        self.inner_bytes = self.inner_bytes.saturating_add(bytes);
        if !self.is_counting {
            self.flags[block] |= POINTED_AT;
        } else if self.claims[block] == 0 {
            self.pointed_at.push(Pointed { block, site, pointee: None, len: None });
        }
        self.push(block, What::Run { site: element, at, stride, count: len });
    }

    /// Returns the type inside a `MaybeUninit`; other types are returned as they are.
    fn initialised(&self, ty: TypeId) -> TypeId {
        match head(&self.schema.get(ty).path) {
            "core::mem::maybe_uninit::MaybeUninit" => self.schema.param(ty, "T").unwrap_or(ty),
            _ => ty,
        }
    }

    /// Assigns the buffer of a `Bytes` or `BytesMut` to its site. The handle owns it directly or through a counted
    /// block.
    fn bytes(&mut self, site: SiteId, ptr: u64, len: u64, data: u64, is_mut: bool) {
        if is_mut && data & 1 == 1 {
            // The buffer starts this many bytes before the pointer.
            let start = ptr.checked_sub(data >> 5);
            self.buffer_of_bytes(site, start, ptr, len);
            return;
        }
        for start in [data, data & !1] {
            let Some(block) = self.block_at(start) else { continue };
            let shared = match self.type_of(block) {
                Some(BlockType::Value(ty)) => Some(self.initialised(ty)).filter(|ty| {
                    let of = self.schema.get(*ty);
                    head(&of.path).starts_with("bytes::") && of.size <= self.snapshot.blocks[block].size
                }),
                _ => None,
            };
            match shared {
                Some(ty) => {
                    let value = self.pointee(site, ty);
                    self.boxed(block, site, value, Some(ty));
                }
                None => self.buffer_of_bytes(site, Some(start), ptr, len),
            }
            return;
        }
    }

    fn buffer_of_bytes(&mut self, site: SiteId, start: Option<u64>, ptr: u64, len: u64) {
        let Some(start) = start else { return };
        let Some(block) = self.block_at(start) else { return };
        let size = self.snapshot.blocks[block].size;
        let fits = ptr.checked_sub(start).and_then(|from| from.checked_add(len)).is_some_and(|end| end <= size);
        if fits {
            let used = Use { len, capacity: size, unused: size - len, is_unknown: false };
            self.claim(block, site, None, used);
        }
    }

    /// Counts a zero-sized value behind a trait object, which has no block.
    fn inline_dyn(&mut self, site: SiteId, concrete: TypeId, weight: u64) {
        if self.schema.get(concrete).size == 0 {
            let value = self.concretes[&(site, concrete)];
            let counts = &mut self.tally(value).counts;
            counts.instances = counts.instances.saturating_add(weight);
        }
    }

    fn counted(&mut self, site: SiteId, bytes: &[u8], ptr: u64, is_weak: bool, counts: u64, target: &Target) {
        let meta = word(bytes, ptr.saturating_add(WORD)).unwrap_or(0);
        let Some(ptr) = word(bytes, ptr) else { return };
        let Some(block) = self.block_at(ptr) else { return };
        let size = self.snapshot.blocks[block].size;
        let (Some(strong), Some(weak)) = (self.image.word(ptr), self.image.word(ptr.saturating_add(WORD))) else {
            return;
        };
        if size < counts {
            return;
        }
        if is_weak {
            // With a strong count of 0, only a `Weak` keeps the block. Otherwise the `Rc`s own it.
            if strong == 0 {
                let used = Use { unused: size, ..Use::default() };
                self.claim(block, site, None, used);
            }
            return;
        }
        if strong == 0 {
            return;
        }
        let what = match target {
            Target::Sized { value, at, block: whole } => {
                let bytes = self.schema.sites[*value].size;
                if *whole > size {
                    return;
                }
                Some((What::Run { site: *value, at: *at, stride: bytes, count: 1 }, 1, None))
            }
            Target::Slice { element, stride, at } => {
                let Some(end) = meta.checked_mul(*stride).and_then(|bytes| bytes.checked_add(*at)) else { return };
                if end > size {
                    return;
                }
                Some((What::Run { site: *element, at: *at, stride: *stride, count: meta }, meta, None))
            }
            Target::Text { at } => {
                if at.checked_add(meta).is_none_or(|end| end > size) {
                    return;
                }
                Some((What::Text { site, at: *at, len: meta }, meta, None))
            }
            Target::Dyn => self.concrete(site, meta).and_then(|(concrete, value)| {
                let of = &self.schema.sites[value];
                let at = counts.next_multiple_of(of.align.max(1));
                (at.checked_add(of.size)? <= size).then_some((
                    What::Run { site: value, at, stride: of.size, count: 1 },
                    1,
                    Some(concrete),
                ))
            }),
        };
        let (len, concrete) = what.as_ref().map_or((1, None), |what| (what.1, what.2));
        let used = Use { len, capacity: len, unused: 0, is_unknown: false };
        if self.claim(block, site, concrete, used) {
            if self.is_counting && strong == 1 && weak == 1 {
                let weight = u64::from(self.snapshot.blocks[block].weight);
                let tally = self.tally(site);
                tally.unshared = tally.unshared.saturating_add(weight);
            }
            match what {
                Some((What::Text { site, at, len }, ..)) => self.text(block, site, at, len),
                Some((what, ..)) => self.push(block, what),
                None => {}
            }
        }
    }

    fn table(&mut self, site: SiteId, bytes: &[u8], header: TableHeader, stride: u64, align: u64) -> bool {
        let (Some(ctrl), Some(mask), Some(items)) =
            (word(bytes, header.ctrl), word(bytes, header.mask), word(bytes, header.items))
        else {
            return true;
        };
        let find = || {
            let buckets = mask.checked_add(1).filter(|buckets| buckets.is_power_of_two() && *buckets > 1)?;
            let (data, end) = table::layout_with(buckets, stride, align, GROUP)?;
            let block = self.block_at(ctrl.checked_sub(data)?)?;
            (end <= self.snapshot.blocks[block].size && items <= buckets).then_some((block, buckets, data))
        };
        if let Some((block, buckets, data)) = find() {
            let size = self.snapshot.blocks[block].size;
            let unused = size.saturating_sub(items.saturating_mul(stride));
            let used = Use { len: items, capacity: buckets, unused, is_unknown: false };
            if self.claim(block, site, None, used) {
                self.push(block, What::Table { site, buckets, ctrl: data });
            }
        }
        items == 0
    }
}

/// Describes the contents of a site's blocks: the owning type, the element's name and its size.
fn describe(schema: &Schema<'_>, site: SiteId, concrete: Option<TypeId>) -> (String, Text, u64) {
    let of = &schema.sites[site];
    let at = |site: SiteId| (Text::clone(&schema.sites[site].name), schema.sites[site].size);
    let (element, size) = match &*of.decode {
        Decode::Vec { element, .. }
        | Decode::Slice { element, .. }
        | Decode::Deque { element, .. }
        | Decode::Iter { element, .. } => at(*element),
        Decode::Text { .. } | Decode::Compact | Decode::ThinText { .. } => ("u8".into(), 1),
        Decode::Small { element, .. } | Decode::Thin { element, .. } => at(*element),
        Decode::Bytes { .. } => match concrete {
            Some(concrete) => (Text::clone(&schema.get(concrete).name), schema.get(concrete).size),
            None => ("u8".into(), 1),
        },
        Decode::Box { value } | Decode::Sparse { value, .. } => at(*value),
        Decode::Counted { target: Target::Sized { value, .. }, .. } => at(*value),
        Decode::Counted { target: Target::Slice { element, .. }, .. } => at(*element),
        Decode::Counted { target: Target::Text { .. }, .. } => ("u8".into(), 1),
        Decode::List { element, .. } => at(*element),
        Decode::Table { parts, stride, .. } => match parts.as_slice() {
            [key, value] => {
                (format!("({}, {})", schema.sites[key.site].name, schema.sites[value.site].name).into(), *stride)
            }
            [one] => at(one.site),
            _ => ("?".into(), *stride),
        },
        Decode::Tree { node, .. } => {
            let (key, value) = (&schema.sites[node.keys.2], &schema.sites[node.values.2]);
            if value.size == 0 {
                (Text::clone(&key.name), key.size)
            } else {
                (format!("({}, {})", key.name, value.name).into(), node.keys.1.saturating_add(node.values.1))
            }
        }
        Decode::Dyn | Decode::SmallDyn { .. } | Decode::Counted { target: Target::Dyn, .. } => match concrete {
            Some(concrete) => (Text::clone(&schema.get(concrete).name), schema.get(concrete).size),
            None => ("?".into(), 0),
        },
        _ => (Text::clone(&of.name), of.size),
    };
    (of.name.to_string(), element, size)
}

impl VecHeader {
    /// Reads pointer, capacity and length.
    fn read(&self, bytes: &[u8]) -> Option<(u64, u64, u64)> {
        let len = word(bytes, self.len)?;
        let cap = match self.cap {
            Some(cap) => word(bytes, cap)?,
            None => len,
        };
        Some((word(bytes, self.ptr)?, cap, len))
    }
}

/// Returns the overhead of glibc for a block of `size` bytes. A block of 0 bytes takes as much as one of 1 byte.
fn rounding(size: u64) -> u64 {
    Malloc::Glibc.bytes(size.max(1), WORD).saturating_sub(size)
}

/// Returns the number of buckets in a table of `size` bytes, and the offset of its control bytes.
fn buckets_of(size: u64, stride: u64, align: u64) -> Option<(u64, u64)> {
    (2..40).map(|power| 1_u64 << power).find_map(|buckets| {
        let (data, end) = table::layout_with(buckets, stride, align, GROUP)?;
        (end == size).then_some((buckets, data))
    })
}

fn length(bytes: u64) -> usize {
    usize::try_from(bytes).unwrap_or(usize::MAX)
}

/// Returns a range of a value's bytes; empty if the value does not have all of them.
fn sub(bytes: &[u8], at: u64, size: u64) -> &[u8] {
    let range = at.checked_add(size).and_then(|end| Some(usize::try_from(at).ok()?..usize::try_from(end).ok()?));
    range.and_then(|range| bytes.get(range)).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_hold_all_values() {
        let cases = [(0, 0, 0), (0, 1, 1), (0, 255, 8), (0, 256, 9), (-1, 0, 1), (-128, 127, 8), (-129, 0, 9)];
        for (low, high, expected) in cases {
            assert_eq!(Range { low, high, has_zero: false }.bits(), expected, "{low} to {high}");
        }
    }
}
