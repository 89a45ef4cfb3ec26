//! Reads the entries of compilation units. One of several threads reads each unit once, from start to end.
//!
//! Every unit describes all types that it uses, so most types are read many times. [`Pool`] keeps a type once. It
//! recognises a type by a hash of its own entries: its path, its size, its fields' names and offsets, but not its
//! fields' types. A reference to a type is its global offset, which [`UnitTypes`] maps to the pool.

use super::budget::Budget;
use super::file::Slice;
use super::names::{self, ImplFor};
use super::unit;
use anyhow::Result;
use foldhash::fast::FixedState;
use gimli::{
    Attribute, AttributeValue, DwTag, Dwarf, EntriesRaw, Error, Operation, Reader as _, UnitHeader, constants as dw,
};
use std::collections::HashMap;
use std::hash::{BuildHasher, Hash, Hasher};
use std::ops::RangeInclusive;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// A unit to read.
pub(super) struct Input<'a, 'd> {
    pub dwarf: &'a Dwarf<Slice<'d>>,
    pub header: UnitHeader<Slice<'d>>,
    /// The global offset of the file's first byte.
    pub base: u64,
    /// The name of the file, for error messages.
    pub file: &'a str,
    /// For a unit in another file: the unit of the executable that names it, which has the table of source files.
    pub named_by: Option<(&'a Dwarf<Slice<'d>>, &'a Skeleton<'d>)>,
}

/// The data that all threads share.
pub(super) struct Output<'d> {
    pub pool: Pool<'d>,
    pub units: Vec<UnitTypes>,
    pub bodies: HashMap<String, Body>,
    /// The type of `{impl#3}` in a path: `app::{impl#3}` is `Server`.
    pub impls: HashMap<String, ImplFor>,
    pub statics: Vec<RawStatic>,
    pub skeletons: Vec<Skeleton<'d>>,
    pub damaged: Vec<String>,
    pub rustc: Option<String>,
    /// The number of units by rustc.
    pub rust_units: usize,
}

impl Output<'_> {
    pub(super) fn new() -> Self {
        Self {
            pool: Pool::new(),
            units: Vec::new(),
            bodies: HashMap::new(),
            impls: HashMap::new(),
            statics: Vec::new(),
            skeletons: Vec::new(),
            damaged: Vec::new(),
            rustc: None,
            rust_units: 0,
        }
    }
}

/// A static or a vtable, with the global offset of its type.
#[derive(Debug)]
pub(super) struct RawStatic {
    pub address: u64,
    pub path: Box<str>,
    pub ty: Option<u64>,
}

/// A unit whose types are in another file.
#[derive(Debug)]
pub(super) struct Skeleton<'d> {
    pub id: Option<gimli::DwoId>,
    pub folder: Option<Slice<'d>>,
    pub name: String,
    line: Option<gimli::DebugLineOffset>,
}

/// The types of a unit, by their handles in the pool.
#[derive(Debug)]
pub(super) struct UnitTypes {
    pub name: String,
    pub base: u64,
    /// Offsets from `base` with handles, sorted.
    pub types: Vec<(u32, Handle)>,
    /// Unnamed types.
    pub unnamed: Vec<Unnamed>,
}

/// An array, or a pointer without a name.
#[derive(Clone, Copy, Debug)]
pub(super) struct Unnamed {
    /// Offset from the unit's base.
    pub at: u32,
    /// The global offset of the element or of the pointer's target.
    pub of: u64,
    /// The number of elements; `None` for a pointer.
    pub count: Option<u64>,
}

/// A handle of a type in a [`Pool`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Handle(u32);

const SHARDS: usize = 64;

/// The deepest nesting of scopes and types.
const DEEPEST: usize = 4096;

/// The longest path of a type, in bytes.
const LONGEST_PATH: usize = 1 << 20;

/// The distinct types.
pub(super) struct Pool<'d> {
    shards: Vec<Mutex<Shard<'d>>>,
}

#[derive(Default)]
struct Shard<'d> {
    by_key: HashMap<u128, u32, FixedState>,
    types: Vec<(u128, RawType<'d>)>,
}

impl<'d> Pool<'d> {
    fn new() -> Self {
        Self { shards: (0..SHARDS).map(|_| Mutex::default()).collect() }
    }

    /// Adds a type unless it is present. Of equal types it keeps the one with the lowest offset, so that the result
    /// does not depend on the threads.
    fn add(&self, key: u128, offset: u64, budget: &Budget, make: impl FnOnce() -> RawType<'d>) -> Result<Handle> {
        let [.., top] = key.to_le_bytes();
        let shard = top >> 2;
        let mut types = self.shards[usize::from(shard)].lock().unwrap_or_else(PoisonError::into_inner);
        let index = if let Some(&index) = types.by_key.get(&key) {
            let kept = &mut types.types[index as usize].1;
            if offset < kept.offset {
                *kept = make();
            }
            index
        } else {
            let new = make();
            budget.charge(new.bytes() + 48)?;
            let index = u32::try_from(types.types.len()).ok().filter(|index| *index < 1 << 26);
            let Some(index) = index else { anyhow::bail!("there are more than 4 billion types") };
            types.types.push((key, new));
            types.by_key.insert(key, index);
            index
        };
        Ok(Handle(u32::from(shard) << 26 | index))
    }

    /// Returns the types sorted by path, and the new index for each handle.
    pub(super) fn into_ordered(self) -> (Vec<RawType<'d>>, Ranks) {
        let mut all = Vec::new();
        let mut starts = Vec::with_capacity(SHARDS);
        for shard in self.shards {
            let shard = shard.into_inner().unwrap_or_else(PoisonError::into_inner);
            starts.push(all.len());
            all.extend(shard.types.into_iter().map(|(key, raw)| (key, raw, 0)));
        }
        for (index, entry) in all.iter_mut().enumerate() {
            entry.2 = index;
        }
        all.sort_unstable_by(|a, b| (&a.1.path, a.0).cmp(&(&b.1.path, b.0)));
        let mut ranks = vec![0; all.len()];
        for (rank, entry) in all.iter().enumerate() {
            ranks[entry.2] = u32::try_from(rank).unwrap_or(u32::MAX);
        }
        (all.into_iter().map(|entry| entry.1).collect(), Ranks { starts, ranks })
    }
}

/// The new index of each type after [`Pool::into_ordered`].
#[derive(Debug)]
pub(super) struct Ranks {
    starts: Vec<usize>,
    ranks: Vec<u32>,
}

impl Ranks {
    pub(super) fn of(&self, handle: Handle) -> u32 {
        self.ranks[self.starts[(handle.0 >> 26) as usize] + (handle.0 & ((1 << 26) - 1)) as usize]
    }
}

/// A type as its entries describe it. References are global offsets.
#[derive(Debug)]
pub(super) struct RawType<'d> {
    pub path: Box<str>,
    pub kind: RawKind,
    pub size: u64,
    pub align: Option<u64>,
    pub fields: Vec<RawField<'d>>,
    pub variants: Vec<RawVariant<'d>>,
    /// The tag's offset and type.
    pub tag: Option<(u64, Option<u64>)>,
    pub params: Vec<(&'d [u8], Option<u64>)>,
    /// The target of a pointer, or the concrete type of a vtable.
    pub target: Option<u64>,
    pub is_public: bool,
    pub unit: u32,
    pub offset: u64,
}

impl RawType<'_> {
    /// Returns an estimate of the type's memory here and as a [`Type`](super::Type).
    fn bytes(&self) -> u64 {
        let fields: usize = self.variants.iter().map(|variant| variant.fields.len() + 2).sum();
        let fields = fields + self.fields.len() + self.params.len();
        (size_of::<Self>() + 2 * self.path.len() + fields * size_of::<RawField>()) as u64
    }
}

/// The kind of an entry, from its DWARF tag.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum RawKind {
    Base,
    Struct,
    Union,
    /// A struct with a variant part.
    Variants,
    /// An enumeration type.
    Enumeration,
    Pointer,
    Vtable,
    Opaque,
}

#[derive(Clone, Debug)]
pub(super) struct RawField<'d> {
    pub name: &'d [u8],
    pub ty: Option<u64>,
    pub offset: u64,
    /// The alignment of its type.
    pub align: Option<u64>,
}

#[derive(Clone, Debug)]
pub(super) struct RawVariant<'d> {
    pub name: &'d [u8],
    pub discriminants: Discriminants,
    pub fields: Vec<RawField<'d>>,
    pub source: Option<(Arc<str>, u32)>,
}

/// The tag values of a variant.
#[derive(Clone, Debug, Default, Hash)]
pub(super) struct Discriminants {
    values: Vec<RangeInclusive<i128>>,
    /// The number of bytes of the constant, if its form has no sign; 0 otherwise.
    bytes: u32,
}

impl Discriminants {
    pub(super) fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// Returns the values for a tag with or without a sign. LLVM writes the constant in the fewest bytes for this kind
    /// of tag: one byte of 251 is -5 for an `i16`, and 251 for a `u16`.
    pub(super) fn of_tag(&self, is_signed: bool) -> Vec<RangeInclusive<i128>> {
        let unused = 128 - 8 * self.bytes;
        let extend = |value: i128| if is_signed && self.bytes > 0 { value << unused >> unused } else { value };
        self.values.iter().map(|range| extend(*range.start())..=extend(*range.end())).collect()
    }
}

/// The function of a closure or coroutine.
#[derive(Debug)]
pub(super) struct Body {
    pub file: Arc<str>,
    pub line: u32,
    pub variables: Vec<Variable>,
    offset: u64,
}

/// A local variable of a coroutine's function.
#[derive(Debug)]
pub(super) struct Variable {
    pub name: Box<str>,
    pub line: u32,
    /// Its offset in the coroutine, if the debug info gives one for the whole scope.
    pub offset: Option<u64>,
}

/// Reads `inputs` with `threads` threads into `output`; calls `progress` with the bytes of each unit.
///
/// # Errors
/// Returns an error if the budget is exceeded, or if a unit by rustc is damaged. A damaged unit of another compiler is
/// recorded and skipped.
pub(super) fn read<'d>(
    inputs: &[Input<'_, 'd>],
    threads: usize,
    budget: &Budget,
    output: &mut Output<'d>,
    progress: &(dyn Fn(u64) + Sync),
) -> Result<()> {
    let first = output.units.len();
    // The longest units come first, so that all threads finish at about the same time.
    let mut order: Vec<usize> = (0..inputs.len()).collect();
    order.sort_by_key(|&index| (std::cmp::Reverse(inputs[index].header.length_including_self()), index));
    let next = AtomicUsize::new(0);
    let pool = &output.pool;
    let work = || -> Result<Worker<'d>> {
        let mut worker = Worker::default();
        while let Some(&index) = order.get(next.fetch_add(1, Ordering::Relaxed)) {
            let input = &inputs[index];
            worker
                .unit(input, index, first + index, pool, budget)
                .inspect_err(|_| next.store(order.len(), Ordering::Relaxed))?;
            progress(input.header.length_including_self() as u64);
        }
        Ok(worker)
    };
    let workers: Vec<Result<Worker<'d>>> = std::thread::scope(|scope| {
        let others: Vec<_> = (1..threads.clamp(1, inputs.len().max(1))).map(|_| scope.spawn(work)).collect();
        let own = work();
        let joined =
            others.into_iter().map(|other| other.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
        std::iter::once(own).chain(joined).collect()
    });
    let mut units = Vec::new();
    let mut damaged = Vec::new();
    let mut skeletons = Vec::new();
    for worker in workers {
        let worker = worker?;
        units.extend(worker.units);
        damaged.extend(worker.damaged);
        skeletons.extend(worker.skeletons);
        output.statics.extend(worker.statics);
        output.rust_units += worker.rust_units;
        for (path, body) in worker.bodies {
            merge_body(&mut output.bodies, path, body);
        }
        for (path, name) in worker.impls {
            let kept = output.impls.entry(path).or_insert_with(|| name.clone());
            if name.unit < kept.unit {
                *kept = name;
            }
        }
        output.rustc = output.rustc.take().max(worker.rustc);
    }
    units.sort_unstable_by_key(|(index, _)| *index);
    damaged.sort_unstable();
    skeletons.sort_unstable_by_key(|(index, _)| *index);
    output.statics.sort_unstable_by(|a, b| (a.address, &a.path).cmp(&(b.address, &b.path)));
    output.statics.dedup_by(|a, b| (a.address, &a.path) == (b.address, &b.path));
    output.units.extend(units.into_iter().map(|(_, unit)| unit));
    output.damaged.extend(damaged.into_iter().map(|(_, text)| text));
    output.skeletons.extend(skeletons.into_iter().map(|(_, skeleton)| skeleton));
    Ok(())
}

/// Keeps the copy of a generic function with the most variables, since the optimiser may have removed some in others.
fn merge_body(bodies: &mut HashMap<String, Body>, path: String, body: Body) {
    let better = |kept: &Body| (kept.variables.len(), body.offset) < (body.variables.len(), kept.offset);
    if bodies.get(&path).is_none_or(better) {
        bodies.insert(path, body);
    }
}

/// The data that one thread collects.
#[derive(Default)]
struct Worker<'d> {
    abbreviations: unit::Abbreviations,
    units: Vec<(usize, UnitTypes)>,
    bodies: HashMap<String, Body>,
    impls: HashMap<String, ImplFor>,
    statics: Vec<RawStatic>,
    skeletons: Vec<(usize, Skeleton<'d>)>,
    damaged: Vec<(usize, String)>,
    rustc: Option<String>,
    rust_units: usize,
}

impl<'d> Worker<'d> {
    fn unit(
        &mut self,
        input: &Input<'_, 'd>,
        index: usize,
        number: usize,
        pool: &Pool<'d>,
        budget: &Budget,
    ) -> Result<()> {
        let mut types = UnitTypes { name: String::new(), base: input.base, types: Vec::new(), unnamed: Vec::new() };
        let damaged = |error: &Error| {
            format!("{}: the unit at {:#x} of its debug info is damaged: {error}", input.file, input.header.offset().0)
        };
        match unit::open(input.dwarf, input.header, &mut self.abbreviations) {
            Ok(opened) if opened.dwo_name.is_some() && input.dwarf.file_type == gimli::DwarfFileType::Main => {
                let name = opened.dwo_name.unwrap_or_default();
                budget.charge((name.len() + 128) as u64)?;
                let (id, folder, line) = (opened.unit.dwo_id, opened.unit.comp_dir, opened.line);
                self.skeletons.push((index, Skeleton { id, folder, name, line }));
            }
            Ok(mut opened) if opened.is_rust => {
                let mut files_of = input.dwarf;
                if let (None, Some((dwarf, skeleton))) = (opened.line, input.named_by) {
                    files_of = dwarf;
                    opened.line = skeleton.line;
                    opened.unit.comp_dir = opened.unit.comp_dir.or(skeleton.folder);
                }
                self.rust_units += 1;
                self.rustc = self.rustc.take().max(opened.rustc.clone());
                types.name = opened.unit.name.map_or_else(String::new, |name| name.to_string_lossy().into_owned());
                budget.charge(types.name.len() as u64 + 128)?;
                let mut reader = UnitReader {
                    dwarf: input.dwarf,
                    files_of,
                    opened,
                    base: input.base,
                    number: u32::try_from(number).unwrap_or(u32::MAX),
                    pool,
                    budget,
                    worker: self,
                    types: &mut types,
                    files: HashMap::default(),
                    path: String::new(),
                    partials: Vec::new(),
                    charged: 0,
                    is_over: false,
                };
                let read = reader.read();
                let is_over = reader.is_over;
                if is_over {
                    budget.charge(u64::MAX)?;
                }
                if let Err(error) = read {
                    anyhow::bail!("{}; build the program again", damaged(&error));
                }
            }
            Ok(_) => {}
            Err(error) => self.damaged.push((index, damaged(&error))),
        }
        types.types.sort_unstable_by_key(|(offset, _)| *offset);
        self.units.push((index, types));
        Ok(())
    }
}

/// An entry whose children are being read.
enum Frame {
    /// A namespace, with the length of the path before it.
    Scope { path: usize },
    /// The index of a type in `partials`, with the length of the path before it.
    Type { index: usize, path: usize },
    /// The variant part of a type.
    VariantPart { index: usize },
    /// A variant of a type.
    Variant { index: usize, discriminants: Discriminants },
    /// The function of a closure or coroutine, with its path.
    Body { path: String, body: Body },
    /// Another function.
    Function,
}

/// A type whose entries are being read. It is kept until the outermost type is complete.
struct Partial<'d> {
    raw: RawType<'d>,
    /// The variants. The fields of each are in another partial type.
    parts: Vec<VariantRef<'d>>,
    /// The offset of the entry of the tag.
    discriminant: Option<u64>,
    array: Option<(u64, u64)>,
    /// The type's name without the path.
    name: Option<&'d [u8]>,
}

struct VariantRef<'d> {
    name: &'d [u8],
    ty: Option<u64>,
    offset: u64,
    discriminants: Discriminants,
    source: Option<(Arc<str>, u32)>,
}

struct UnitReader<'a, 'd> {
    dwarf: &'a Dwarf<Slice<'d>>,
    /// The file with the table of source files.
    files_of: &'a Dwarf<Slice<'d>>,
    opened: unit::Opened<'d>,
    base: u64,
    number: u32,
    pool: &'a Pool<'d>,
    budget: &'a Budget,
    worker: &'a mut Worker<'d>,
    types: &'a mut UnitTypes,
    files: HashMap<u64, Option<Arc<str>>, FixedState>,
    path: String,
    partials: Vec<Partial<'d>>,
    /// The bytes charged to the budget for `partials`.
    charged: u64,
    /// Whether the budget is exceeded.
    is_over: bool,
}

type Attrs<'d> = Vec<Attribute<Slice<'d>>>;

/// The attributes that most entries have.
#[derive(Default)]
struct Common<'d> {
    name: Option<&'d [u8]>,
    ty: Option<u64>,
    size: Option<u64>,
    align: Option<u64>,
    location: Option<u64>,
    source: Option<(u64, u32)>,
    containing: Option<u64>,
    is_declaration: bool,
    is_public: bool,
}

impl<'d> UnitReader<'_, 'd> {
    fn read(&mut self) -> Result<(), Error> {
        let header = self.opened.unit.header;
        let abbreviations = Arc::clone(&self.opened.unit.abbreviations);
        let mut entries = header.entries_raw(&abbreviations, None)?;
        if let Some(root) = entries.read_abbreviation()? {
            entries.skip_attributes(root.attributes())?;
        }
        let mut stack: Vec<(isize, Frame)> = Vec::new();
        let end = self.entries(&mut entries, &mut stack);
        while let Some((_, frame)) = stack.pop() {
            self.leave(frame)?;
        }
        end
    }

    fn entries(
        &mut self,
        entries: &mut EntriesRaw<'_, Slice<'d>>,
        stack: &mut Vec<(isize, Frame)>,
    ) -> Result<(), Error> {
        let mut attrs = Attrs::new();
        while !entries.is_empty() {
            let offset = entries.next_offset().0 as u64;
            let depth = entries.next_depth();
            while stack.last().is_some_and(|(above, _)| *above >= depth) {
                if let Some((_, frame)) = stack.pop() {
                    self.leave(frame)?;
                }
            }
            let Some(abbreviation) = entries.read_abbreviation()? else { continue };
            let tag = abbreviation.tag();
            if !Self::is_wanted(tag, stack.last().map(|(_, frame)| frame)) {
                entries.skip_attributes(abbreviation.attributes())?;
                continue;
            }
            entries.read_attributes(abbreviation.attributes(), &mut attrs)?;
            let top = stack.last_mut().map(|(_, frame)| frame);
            if let Some(frame) = self.enter(tag, offset, &attrs, top)? {
                if stack.len() == DEEPEST {
                    return Err(Error::OffsetOutOfBounds(offset));
                }
                stack.push((depth, frame));
            }
        }
        Ok(())
    }

    fn is_wanted(tag: DwTag, top: Option<&Frame>) -> bool {
        match tag {
            dw::DW_TAG_variable => matches!(top, None | Some(Frame::Body { .. } | Frame::Scope { .. })),
            dw::DW_TAG_inlined_subroutine
            | dw::DW_TAG_lexical_block
            | dw::DW_TAG_formal_parameter
            | dw::DW_TAG_imported_declaration
            | dw::DW_TAG_imported_module
            | dw::DW_TAG_call_site => false,
            _ => true,
        }
    }

    /// Reads an entry. Returns the frame for its children; `None` to skip them.
    fn enter(
        &mut self,
        tag: DwTag,
        offset: u64,
        attrs: &Attrs<'d>,
        mut top: Option<&mut Frame>,
    ) -> Result<Option<Frame>, Error> {
        Ok(match tag {
            dw::DW_TAG_namespace => {
                let path = self.path.len();
                let name = self.common(attrs).name.unwrap_or(b"{anonymous}");
                self.enter_path(name)?;
                Some(Frame::Scope { path })
            }
            dw::DW_TAG_structure_type | dw::DW_TAG_class_type => {
                let common = self.common(attrs);
                let kind = if common.containing.is_some() { RawKind::Vtable } else { RawKind::Struct };
                self.enter_type(kind, offset, &common)?
            }
            dw::DW_TAG_union_type => self.enter_type(RawKind::Union, offset, &self.common(attrs))?,
            dw::DW_TAG_enumeration_type => self.enter_type(RawKind::Enumeration, offset, &self.common(attrs))?,
            dw::DW_TAG_base_type | dw::DW_TAG_unspecified_type => {
                self.enter_type(RawKind::Base, offset, &self.common(attrs))?
            }
            dw::DW_TAG_pointer_type | dw::DW_TAG_reference_type => {
                let mut common = self.common(attrs);
                common.size = Some(common.size.unwrap_or(u64::from(self.opened.unit.header.address_size())));
                self.enter_type(RawKind::Pointer, offset, &common)?
            }
            dw::DW_TAG_subroutine_type => self.enter_type(RawKind::Opaque, offset, &self.common(attrs))?,
            dw::DW_TAG_array_type => {
                let common = self.common(attrs);
                let frame = self.enter_type(RawKind::Opaque, offset, &common)?;
                if let Some(Frame::Type { index, .. }) = &frame {
                    self.partials[*index].array = Some((common.ty.unwrap_or(u64::MAX), 0));
                }
                frame
            }
            dw::DW_TAG_subrange_type => {
                if let Some(Frame::Type { index, .. }) = top
                    && let Some((_, count)) = &mut self.partials[*index].array
                {
                    *count = length(attrs);
                }
                None
            }
            dw::DW_TAG_variant_part => {
                if let Some(Frame::Type { index, .. }) = top {
                    let partial = &mut self.partials[*index];
                    partial.raw.kind = RawKind::Variants;
                    for attr in attrs {
                        if let (dw::DW_AT_discr, AttributeValue::UnitRef(discriminant)) = (attr.name(), attr.value()) {
                            partial.discriminant = Some(discriminant.0 as u64);
                        }
                    }
                    Some(Frame::VariantPart { index: *index })
                } else {
                    None
                }
            }
            dw::DW_TAG_variant => match top {
                Some(Frame::VariantPart { index }) => {
                    Some(Frame::Variant { index: *index, discriminants: discriminants(attrs) })
                }
                _ => None,
            },
            dw::DW_TAG_member => {
                self.member(offset, attrs, &mut top)?;
                None
            }
            dw::DW_TAG_enumerator => {
                if let Some(Frame::Type { index, .. }) = top {
                    let index = *index;
                    let name = self.common(attrs).name.unwrap_or_default();
                    let value = attrs.iter().find(|attr| attr.name() == dw::DW_AT_const_value).and_then(number);
                    self.charge(size_of::<RawVariant<'_>>())?;
                    self.partials[index].raw.variants.push(RawVariant {
                        name,
                        discriminants: Discriminants {
                            values: value.map(|value| value..=value).into_iter().collect(),
                            bytes: 0,
                        },
                        fields: Vec::new(),
                        source: None,
                    });
                }
                None
            }
            dw::DW_TAG_template_type_parameter => {
                if let Some(Frame::Type { index, .. }) = top {
                    let index = *index;
                    let common = self.common(attrs);
                    self.charge(64)?;
                    self.partials[index].raw.params.push((common.name.unwrap_or_default(), common.ty));
                }
                None
            }
            dw::DW_TAG_subprogram => self.enter_function(offset, attrs)?,
            dw::DW_TAG_variable => {
                match top {
                    Some(Frame::Body { body, .. }) => self.variable(attrs, body)?,
                    _ => self.global(attrs)?,
                }
                None
            }
            _ => None,
        })
    }

    fn enter_type(&mut self, kind: RawKind, offset: u64, common: &Common<'d>) -> Result<Option<Frame>, Error> {
        let path = self.path.len();
        self.charge(size_of::<Partial<'_>>())?;
        self.enter_path(common.name.unwrap_or_default())?;
        let target = common.containing.or(if kind == RawKind::Pointer { common.ty } else { None });
        self.charge(self.path.len())?;
        self.partials.push(Partial {
            raw: RawType {
                path: self.path.as_str().into(),
                kind: if common.is_declaration { RawKind::Opaque } else { kind },
                size: common.size.unwrap_or(0),
                align: common.align,
                fields: Vec::new(),
                variants: Vec::new(),
                // The entry of an enumeration type names the type of its tag.
                tag: (kind == RawKind::Enumeration).then_some((0, common.ty)),
                params: Vec::new(),
                target,
                is_public: common.is_public,
                unit: self.number,
                offset: self.base + offset,
            },
            parts: Vec::new(),
            discriminant: None,
            array: None,
            name: common.name,
        });
        Ok(Some(Frame::Type { index: self.partials.len() - 1, path }))
    }

    fn member(&mut self, offset: u64, attrs: &Attrs<'d>, top: &mut Option<&mut Frame>) -> Result<(), Error> {
        let common = self.common(attrs);
        self.charge(size_of::<RawField<'_>>())?;
        let name = common.name.unwrap_or_default();
        let at = common.location.unwrap_or(0);
        match top {
            Some(Frame::Type { index, .. }) => {
                let field = RawField { name, ty: common.ty, offset: at, align: common.align };
                self.partials[*index].raw.fields.push(field);
            }
            Some(Frame::VariantPart { index }) => {
                let partial = &mut self.partials[*index];
                if partial.discriminant == Some(offset) || partial.discriminant.is_none() {
                    partial.raw.tag = Some((at, common.ty));
                }
            }
            Some(Frame::Variant { index, discriminants }) => {
                let (index, discriminants) = (*index, std::mem::take(discriminants));
                let source = match common.source {
                    Some((file, line)) => self.file(file)?.map(|file| (file, line)),
                    None => None,
                };
                self.charge(size_of::<VariantRef<'_>>())?;
                self.partials[index].parts.push(VariantRef { name, ty: common.ty, offset: at, discriminants, source });
            }
            _ => {}
        }
        Ok(())
    }

    /// Reads the source position and the variables of a closure's or coroutine's function.
    fn enter_function(&mut self, offset: u64, attrs: &Attrs<'d>) -> Result<Option<Frame>, Error> {
        let common = self.common(attrs);
        let Some(name) = common.name.filter(|name| name.starts_with(b"{")) else { return Ok(Some(Frame::Function)) };
        let (Some((file, line)), Ok(name)) = (common.source, std::str::from_utf8(name)) else {
            return Ok(Some(Frame::Function));
        };
        let Some(file) = self.file(file)? else { return Ok(Some(Frame::Function)) };
        let name = name.split('<').next().unwrap_or_default();
        let path = format!("{}::{name}", self.path);
        self.keep(2 * path.len() + 128)?;
        self.learn_impl(attrs)?;
        let body = Body { file, line, variables: Vec::new(), offset: self.base + offset };
        Ok(Some(Frame::Body { path, body }))
    }

    /// Finds the type of an `impl` from the name of a symbol.
    fn learn_impl(&mut self, attrs: &Attrs<'d>) -> Result<(), Error> {
        let Some(start) = self.path.rfind("{impl#") else { return Ok(()) };
        let Some(end) = self.path[start..].find('}').map(|end| start + end + 1) else { return Ok(()) };
        // The unit with the lowest number decides, so that the result does not depend on the threads.
        if self.worker.impls.get(&self.path[..end]).is_some_and(|known| known.unit <= self.number) {
            return Ok(());
        }
        let symbol =
            attrs.iter().find(|attr| matches!(attr.name(), dw::DW_AT_linkage_name | dw::DW_AT_MIPS_linkage_name));
        let Some(symbol) = symbol.and_then(|attr| self.text(attr.value())) else { return Ok(()) };
        let Some(symbol) = std::str::from_utf8(symbol).ok().filter(|symbol| symbol.len() < 4096) else { return Ok(()) };
        let names_after = names::parts(&self.path[end..]).len();
        if let Some(name) = names::self_type(symbol, names_after) {
            let path = self.path[..end].to_owned();
            self.keep(path.len() + name.len() + 64)?;
            self.worker.impls.insert(path, ImplFor { unit: self.number, name });
        }
        Ok(())
    }

    fn variable(&mut self, attrs: &Attrs<'d>, body: &mut Body) -> Result<(), Error> {
        let common = self.common(attrs);
        if let (Some(name), Some((_, line))) = (common.name, common.source) {
            let offset =
                attrs.iter().find(|attr| attr.name() == dw::DW_AT_location).and_then(|attr| self.in_coroutine(attr));
            let name = String::from_utf8_lossy(name);
            self.keep(name.len() + size_of::<Variable>())?;
            body.variables.push(Variable { name: name.into(), line, offset });
        }
        Ok(())
    }

    fn global(&mut self, attrs: &Attrs<'d>) -> Result<(), Error> {
        let common = self.common(attrs);
        let location = attrs.iter().find(|attr| attr.name() == dw::DW_AT_location);
        let (Some(name), Some(address)) = (common.name, location.and_then(|attr| self.fixed_address(attr))) else {
            return Ok(());
        };
        let name = String::from_utf8_lossy(name);
        let path = if self.path.is_empty() { name.into_owned() } else { format!("{}::{name}", self.path) };
        self.keep(path.len() + size_of::<RawStatic>())?;
        self.worker.statics.push(RawStatic { address, path: path.into(), ty: common.ty });
        Ok(())
    }

    /// Returns the address of a static; `None` for a thread-local variable.
    fn fixed_address(&self, attr: &Attribute<Slice<'d>>) -> Option<u64> {
        let mut operations = attr.exprloc_value()?.operations(self.opened.unit.encoding());
        let address = match operations.next().ok()?? {
            Operation::Address { address } => address,
            Operation::AddressIndex { index } => self.dwarf.address(&self.opened.unit, index).ok()?,
            _ => return None,
        };
        operations.next().ok()?.is_none().then_some(address).filter(|address| *address != 0)
    }

    /// Returns the offset in the coroutine, from a location expression that adds a constant to the frame's address.
    fn in_coroutine(&self, attr: &Attribute<Slice<'d>>) -> Option<u64> {
        let mut operations = attr.exprloc_value()?.operations(self.opened.unit.encoding());
        let mut is_read = false;
        let mut offset = 0;
        while let Some(operation) = operations.next().ok()? {
            match operation {
                Operation::FrameOffset { .. } | Operation::RegisterOffset { .. } => {}
                Operation::Deref { .. } => (is_read, offset) = (true, 0),
                Operation::PlusConstant { value } => offset = value,
                _ => return None,
            }
        }
        is_read.then_some(offset)
    }

    /// Completes an entry after its children.
    fn leave(&mut self, frame: Frame) -> Result<(), Error> {
        match frame {
            Frame::Scope { path } => self.path.truncate(path),
            Frame::Type { index, path } => {
                self.path.truncate(path);
                if index == 0 {
                    self.finish()?;
                }
            }
            Frame::VariantPart { .. } | Frame::Variant { .. } | Frame::Function => {}
            Frame::Body { path, body } => merge_body(&mut self.worker.bodies, path, body),
        }
        Ok(())
    }

    /// Adds the outermost type and the types inside it, except variants, to the pool.
    fn finish(&mut self) -> Result<(), Error> {
        let mut partials = std::mem::take(&mut self.partials);
        let mut by_offset: HashMap<u64, usize, FixedState> = HashMap::default();
        if partials.len() > 1 {
            by_offset.extend(partials.iter().enumerate().map(|(index, partial)| (partial.raw.offset, index)));
        }
        let mut is_part = vec![false; partials.len()];
        for index in 0..partials.len() {
            for part in std::mem::take(&mut partials[index].parts) {
                let of = part.ty.and_then(|ty| by_offset.get(&ty).copied()).filter(|of| *of > index);
                let mut fields = of.map_or_else(Vec::new, |of| partials[of].raw.fields.clone());
                for field in &mut fields {
                    field.offset = field.offset.saturating_add(part.offset);
                }
                self.charge(size_of::<RawVariant<'_>>() + fields.len() * size_of::<RawField<'_>>())?;
                // The entry of a variant has no name, or a number as name. The variant's name is the name of its type.
                let name = match of {
                    Some(of) => {
                        is_part[of] = true;
                        partials[of].name
                    }
                    None => None,
                };
                partials[index].raw.variants.push(RawVariant {
                    name: name.unwrap_or(part.name),
                    discriminants: part.discriminants,
                    fields,
                    source: part.source,
                });
            }
        }
        for (partial, is_part) in partials.drain(..).zip(is_part) {
            if is_part {
                continue;
            }
            let offset = partial.raw.offset;
            let Ok(local) = u32::try_from(offset - self.base) else {
                return Err(Error::OffsetOutOfBounds(offset));
            };
            let unnamed = match (partial.array, partial.name, partial.raw.target) {
                (Some((element, count)), ..) => Some((element, Some(count))),
                (None, None, Some(target)) if partial.raw.kind == RawKind::Pointer => Some((target, None)),
                _ => None,
            };
            if let Some((of, count)) = unnamed {
                self.keep(size_of::<Unnamed>())?;
                self.types.unnamed.push(Unnamed { at: local, of, count });
                continue;
            }
            let key = key(&partial.raw);
            let added = self.pool.add(key, offset, self.budget, || partial.raw);
            let Ok(handle) = added else { return Err(self.over()) };
            self.keep(8)?;
            self.types.types.push((local, handle));
        }
        self.partials = partials;
        self.budget.refund(std::mem::take(&mut self.charged));
        Ok(())
    }

    /// Charges bytes to the budget until the outermost type is complete.
    fn charge(&mut self, bytes: usize) -> Result<(), Error> {
        self.charged += bytes as u64;
        self.keep(bytes)
    }

    /// Charges bytes to the budget permanently.
    fn keep(&mut self, bytes: usize) -> Result<(), Error> {
        self.budget.charge(bytes as u64).map_err(|_| self.over())
    }

    /// Records that the budget is exceeded, and returns the error that ends the reading.
    fn over(&mut self) -> Error {
        self.is_over = true;
        Error::OffsetOutOfBounds(0)
    }

    /// Appends a name to the path.
    fn enter_path(&mut self, name: &[u8]) -> Result<(), Error> {
        if self.path.len() + name.len() > LONGEST_PATH {
            return Err(Error::OffsetOutOfBounds(LONGEST_PATH as u64));
        }
        if !self.path.is_empty() && !name.is_empty() {
            self.path.push_str("::");
        }
        self.path.push_str(&String::from_utf8_lossy(name));
        Ok(())
    }

    fn text(&self, value: AttributeValue<Slice<'d>>) -> Option<&'d [u8]> {
        self.dwarf.attr_string(&self.opened.unit, value).ok().map(|text| text.slice())
    }

    /// Returns the global offset that an attribute refers to.
    fn reference(&self, value: &AttributeValue<Slice<'d>>) -> Option<u64> {
        match value {
            AttributeValue::UnitRef(offset) => Some(self.base + offset.0 as u64),
            AttributeValue::DebugInfoRef(offset) if self.dwarf.file_type == gimli::DwarfFileType::Main => {
                Some(offset.0 as u64)
            }
            _ => None,
        }
    }

    /// Returns the source file with an index.
    fn file(&mut self, index: u64) -> Result<Option<Arc<str>>, Error> {
        if let Some(file) = self.files.get(&index) {
            return Ok(file.clone());
        }
        self.opened.read_files(self.files_of);
        let file: Option<Arc<str>> = self.opened.file(self.files_of, index).map(Into::into);
        self.keep(file.as_ref().map_or(0, |file| file.len()) + 64)?;
        self.files.insert(index, file.clone());
        Ok(file)
    }

    fn common(&self, attrs: &Attrs<'d>) -> Common<'d> {
        let mut common = Common::default();
        let (mut file, mut line) = (None, None);
        for attr in attrs {
            match attr.name() {
                dw::DW_AT_name => common.name = self.text(attr.value()),
                dw::DW_AT_type => common.ty = self.reference(&attr.value()),
                dw::DW_AT_containing_type => common.containing = self.reference(&attr.value()),
                dw::DW_AT_byte_size => common.size = attr.udata_value(),
                dw::DW_AT_alignment => common.align = attr.udata_value().filter(|align| align.is_power_of_two()),
                dw::DW_AT_data_member_location => common.location = attr.udata_value(),
                dw::DW_AT_decl_file => {
                    file = match attr.value() {
                        AttributeValue::FileIndex(index) => Some(index),
                        _ => attr.udata_value(),
                    }
                }
                dw::DW_AT_decl_line => line = attr.udata_value().and_then(|line| u32::try_from(line).ok()),
                dw::DW_AT_declaration => common.is_declaration = true,
                dw::DW_AT_accessibility => {
                    common.is_public = matches!(attr.value(), AttributeValue::Accessibility(dw::DW_ACCESS_public));
                }
                _ => {}
            }
        }
        common.source = file.zip(line);
        common
    }
}

/// Returns the hash that identifies equal descriptions of a type.
fn key(raw: &RawType<'_>) -> u128 {
    let half = |seed| {
        let mut hasher = FixedState::with_seed(seed).build_hasher();
        (&raw.path, raw.kind, raw.size, raw.align, raw.tag.map(|tag| tag.0)).hash(&mut hasher);
        for field in &raw.fields {
            (field.name, field.offset).hash(&mut hasher);
        }
        for variant in &raw.variants {
            (variant.name, &variant.discriminants, variant.source.as_ref().map(|source| source.1)).hash(&mut hasher);
            for field in &variant.fields {
                (field.name, field.offset).hash(&mut hasher);
            }
        }
        hasher.finish()
    };
    u128::from(half(1)) << 64 | u128::from(half(2))
}

/// Returns the number of elements in a subrange of an array.
fn length(attrs: &Attrs<'_>) -> u64 {
    let value = |name| attrs.iter().find(|attr| attr.name() == name).and_then(Attribute::udata_value);
    match value(dw::DW_AT_count) {
        Some(count) => count,
        None => value(dw::DW_AT_upper_bound).map_or(0, |last| last.saturating_add(1)),
    }
}

/// Returns the tag values of a variant: one value, or a list of values and ranges.
fn discriminants(attrs: &Attrs<'_>) -> Discriminants {
    let one = attrs.iter().find(|attr| attr.name() == dw::DW_AT_discr_value);
    if let Some((attr, value)) = one.and_then(|attr| Some((attr, number(attr)?))) {
        let bytes = match attr.value() {
            AttributeValue::Data1(_) => 1,
            AttributeValue::Data2(_) => 2,
            AttributeValue::Data4(_) => 4,
            AttributeValue::Data8(_) => 8,
            _ => 0,
        };
        return Discriminants { values: vec![value..=value], bytes };
    }
    let list = attrs.iter().find(|attr| attr.name() == dw::DW_AT_discr_list);
    let Some(AttributeValue::Block(mut block)) = list.map(Attribute::value) else { return Discriminants::default() };
    let mut ranges = Vec::new();
    while ranges.len() < 64
        && let Ok(kind) = block.read_u8()
    {
        let Ok(low) = block.read_uleb128() else { break };
        let high = if kind == dw::DW_DSC_range.0 { block.read_uleb128().unwrap_or(low) } else { low };
        ranges.push(i128::from(low)..=i128::from(high));
    }
    Discriminants { values: ranges, bytes: 0 }
}

/// Returns a constant of up to 16 bytes.
fn number(attr: &Attribute<Slice<'_>>) -> Option<i128> {
    match attr.value() {
        AttributeValue::Sdata(value) => Some(i128::from(value)),
        AttributeValue::Data16(value) => Some(value.cast_signed()),
        AttributeValue::Block(block) => {
            let mut bytes = [0; 16];
            bytes.get_mut(..block.len())?.copy_from_slice(block.slice());
            Some(i128::from_le_bytes(bytes))
        }
        _ => attr.udata_value().map(i128::from),
    }
}
