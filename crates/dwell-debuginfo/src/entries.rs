//! Reads the entries of one unit.

use super::attributes::{Attributes, Attrs, Common, discriminants, length, number};
use super::budget::Budget;
use super::file::Slice;
use super::input::{Input, Shared, Worker};
use super::names::{self, ImplFor};
use super::pool::{Pool, key};
use super::raw::{
    Body, Discriminants, RawField, RawKind, RawStatic, RawType, RawVariant, UnitTypes, Unnamed, Variable, merge_body,
};
use super::unit;
use foldhash::fast::FixedState;
use gimli::{AttributeValue, DwTag, Dwarf, EntriesRaw, Error, constants as dw};
use std::collections::HashMap;
use std::sync::Arc;

/// The deepest nesting of scopes and types.
const DEEPEST: usize = 4096;

/// The longest path of a type, in bytes.
const LONGEST_PATH: usize = 1 << 20;
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

pub(super) struct UnitReader<'a, 'd> {
    /// The unit, for reading attributes.
    unit: Attributes<'a, 'd>,
    /// The file with the table of source files.
    files_of: &'a Dwarf<Slice<'d>>,
    number: u32,
    pool: &'a Pool<'d>,
    budget: &'a Budget,
    thread_locals: &'a HashMap<&'d [u8], u64>,
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

impl<'a, 'd> UnitReader<'a, 'd> {
    pub(super) fn new(
        input: &Input<'a, 'd>,
        files_of: &'a Dwarf<Slice<'d>>,
        opened: unit::Opened<'d>,
        number: u32,
        shared: Shared<'a, 'd>,
        worker: &'a mut Worker<'d>,
        types: &'a mut UnitTypes,
    ) -> Self {
        Self {
            unit: Attributes { dwarf: input.dwarf, opened, base: input.base },
            files_of,
            number,
            pool: shared.pool,
            budget: shared.budget,
            thread_locals: shared.thread_locals,
            worker,
            types,
            files: HashMap::default(),
            path: String::new(),
            partials: Vec::new(),
            charged: 0,
            is_over: false,
        }
    }

    /// Returns `true` if the budget is exceeded.
    pub(super) fn is_over(&self) -> bool {
        self.is_over
    }
}

impl<'d> UnitReader<'_, 'd> {
    pub(super) fn read(&mut self) -> Result<(), Error> {
        let header = self.unit.opened.unit.header;
        let abbreviations = Arc::clone(&self.unit.opened.unit.abbreviations);
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
                let name = self.unit.common(attrs).name.unwrap_or(b"{anonymous}");
                self.enter_path(name)?;
                Some(Frame::Scope { path })
            }
            dw::DW_TAG_structure_type | dw::DW_TAG_class_type => {
                let common = self.unit.common(attrs);
                let kind = if common.containing.is_some() { RawKind::Vtable } else { RawKind::Struct };
                self.enter_type(kind, offset, &common)?
            }
            dw::DW_TAG_union_type => self.enter_type(RawKind::Union, offset, &self.unit.common(attrs))?,
            dw::DW_TAG_enumeration_type => self.enter_type(RawKind::Enumeration, offset, &self.unit.common(attrs))?,
            dw::DW_TAG_base_type | dw::DW_TAG_unspecified_type => {
                self.enter_type(RawKind::Base, offset, &self.unit.common(attrs))?
            }
            dw::DW_TAG_pointer_type | dw::DW_TAG_reference_type => {
                let mut common = self.unit.common(attrs);
                common.size = Some(common.size.unwrap_or(u64::from(self.unit.opened.unit.header.address_size())));
                self.enter_type(RawKind::Pointer, offset, &common)?
            }
            dw::DW_TAG_subroutine_type => self.enter_type(RawKind::Opaque, offset, &self.unit.common(attrs))?,
            dw::DW_TAG_array_type => {
                let common = self.unit.common(attrs);
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
                    let name = self.unit.common(attrs).name.unwrap_or_default();
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
                    let common = self.unit.common(attrs);
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
                offset: self.unit.base + offset,
            },
            parts: Vec::new(),
            discriminant: None,
            array: None,
            name: common.name,
        });
        Ok(Some(Frame::Type { index: self.partials.len() - 1, path }))
    }

    fn member(&mut self, offset: u64, attrs: &Attrs<'d>, top: &mut Option<&mut Frame>) -> Result<(), Error> {
        let common = self.unit.common(attrs);
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
}

/// What an entry adds to the output.
impl<'d> UnitReader<'_, 'd> {
    /// Reads the source position and the variables of a closure's or coroutine's function.
    fn enter_function(&mut self, offset: u64, attrs: &Attrs<'d>) -> Result<Option<Frame>, Error> {
        let common = self.unit.common(attrs);
        let Some(name) = common.name.filter(|name| name.starts_with(b"{")) else { return Ok(Some(Frame::Function)) };
        let (Some((file, line)), Ok(name)) = (common.source, std::str::from_utf8(name)) else {
            return Ok(Some(Frame::Function));
        };
        let Some(file) = self.file(file)? else { return Ok(Some(Frame::Function)) };
        let name = name.split('<').next().unwrap_or_default();
        let path = format!("{}::{name}", self.path);
        self.keep(2 * path.len() + 128)?;
        self.learn_impl(attrs)?;
        let body = Body { file, line, variables: Vec::new(), offset: self.unit.base + offset };
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
        let Some(symbol) = symbol.and_then(|attr| self.unit.text(attr.value())) else { return Ok(()) };
        let Some(symbol) = std::str::from_utf8(symbol).ok().filter(|symbol| symbol.len() < names::LONGEST_SYMBOL)
        else {
            return Ok(());
        };
        let names_after = names::parts(&self.path[end..]).len();
        if let Some(name) = names::self_type(symbol, names_after) {
            let path = self.path[..end].to_owned();
            self.keep(path.len() + name.len() + 64)?;
            self.worker.impls.insert(path, ImplFor { unit: self.number, name });
        }
        Ok(())
    }

    fn variable(&mut self, attrs: &Attrs<'d>, body: &mut Body) -> Result<(), Error> {
        let common = self.unit.common(attrs);
        if let (Some(name), Some((_, line))) = (common.name, common.source) {
            let offset = attrs
                .iter()
                .find(|attr| attr.name() == dw::DW_AT_location)
                .and_then(|attr| self.unit.in_coroutine(attr));
            let name = String::from_utf8_lossy(name);
            self.keep(name.len() + size_of::<Variable>())?;
            body.variables.push(Variable { name: name.into(), line, offset });
        }
        Ok(())
    }

    fn global(&mut self, attrs: &Attrs<'d>) -> Result<(), Error> {
        let common = self.unit.common(attrs);
        let location = attrs.iter().find(|attr| attr.name() == dw::DW_AT_location);
        let place = if let Some(location) = location {
            self.unit.fixed_address(location)
        } else {
            let symbol = self.unit.symbol(attrs);
            symbol.and_then(|name| Some((*self.thread_locals.get(name)?, true)))
        };
        let (Some(name), Some((address, is_thread_local))) = (common.name, place) else { return Ok(()) };
        let name = String::from_utf8_lossy(name);
        let path = if self.path.is_empty() { name.into_owned() } else { format!("{}::{name}", self.path) };
        self.keep(path.len() + size_of::<RawStatic>())?;
        self.worker.statics.push(RawStatic { address, is_thread_local, path: path.into(), ty: common.ty });
        Ok(())
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
                let inner = part.ty.and_then(|ty| by_offset.get(&ty).copied()).filter(|inner| *inner > index);
                let mut fields = inner.map_or_else(Vec::new, |inner| partials[inner].raw.fields.clone());
                for field in &mut fields {
                    field.offset = field.offset.saturating_add(part.offset);
                }
                self.charge(size_of::<RawVariant<'_>>() + fields.len() * size_of::<RawField<'_>>())?;
                // The entry of a variant has no name, or a number as name. The variant's name is the name of its type.
                let name = match inner {
                    Some(inner) => {
                        is_part[inner] = true;
                        partials[inner].name
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
            let Ok(local) = u32::try_from(offset - self.unit.base) else {
                return Err(Error::OffsetOutOfBounds(offset));
            };
            let unnamed = match (partial.array, partial.name, partial.raw.target) {
                (Some((element, count)), ..) => Some((element, Some(count))),
                (None, None, Some(target)) if partial.raw.kind == RawKind::Pointer => Some((target, None)),
                _ => None,
            };
            if let Some((target, count)) = unnamed {
                self.keep(size_of::<Unnamed>())?;
                self.types.unnamed.push(Unnamed { at: local, target, count });
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

    /// Returns the source file with an index.
    fn file(&mut self, index: u64) -> Result<Option<Arc<str>>, Error> {
        if let Some(file) = self.files.get(&index) {
            return Ok(file.clone());
        }
        self.unit.opened.read_files(self.files_of);
        let file: Option<Arc<str>> = self.unit.opened.file(self.files_of, index).map(Into::into);
        self.keep(file.as_ref().map_or(0, |file| file.len()) + 64)?;
        self.files.insert(index, file.clone());
        Ok(file)
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
}
