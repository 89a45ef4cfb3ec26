//! Finds the functions at an address: the function that has the frame, and those inlined into it.
//!
//! Only units and functions that cover one of the addresses are read. An inlined function refers to its abstract origin
//! for its name and type parameters, and that refers to a declaration for its path. These are looked up in a few rounds
//! over the units that have them.

use super::Frames;
use super::budget::Budget;
use super::file::Slice;
use super::input::Input;
use super::link::Offsets;
use super::model::{Frame, Param, Source, Text};
use super::names;
use super::unit::Opened;
use anyhow::Result;
use foldhash::fast::FixedState;
use gimli::{Attribute, AttributeValue, Dwarf, Error, Operation, RangeListsOffset, constants as dw};
use std::collections::{HashMap, HashSet};

/// The deepest nesting of inlined functions.
const DEEPEST: usize = 512;

/// The maximum number of references from an inlined function to its abstract origin and declaration, with a margin.
const ROUNDS: usize = 6;

/// The maximum number of variables of a frame.
const LOCALS: usize = 1000;

/// The maximum number of ranges that are read for one entry.
const RANGES: usize = 100_000;

/// A function at an address, with the data of its own entry.
#[derive(Clone, Debug)]
struct RawFrame {
    /// The global offset of its entry.
    entry: u64,
    /// The variables in memory.
    locals: Vec<RawLocal>,
    /// For an inlined function, the line of the call.
    call: Option<Source>,
}

/// A variable in memory.
#[derive(Clone, Debug)]
enum RawLocal {
    /// Its name, and the global offset of its type.
    Known(Text, u64),
    /// For one of an inlined function, the global offset of the entry with both.
    Inlined(u64),
}

/// The data of a function's entry.
#[derive(Clone, Debug, Default)]
struct Function {
    /// The enclosing namespaces and types.
    scope: String,
    name: Option<String>,
    /// The name of its symbol.
    symbol: Option<String>,
    params: Vec<(Text, Option<u64>)>,
    /// The global offset of its abstract origin or declaration.
    origin: Option<u64>,
}

/// Returns the functions at `addresses`, innermost first. With `inlined`, the variables of a frame include those of functions
/// that are inlined anywhere into its function.
///
/// Damaged entries are skipped, so a frame may lack its name.
///
/// # Errors
/// Returns an error if the budget is exceeded.
pub(super) fn find(
    inputs: &[Input<'_, '_>],
    offsets: &Offsets,
    addresses: &[u64],
    inlined: bool,
    budget: &Budget,
) -> Result<Frames> {
    let mut wanted = addresses.to_vec();
    wanted.sort_unstable();
    wanted.dedup();
    if wanted.is_empty() {
        return Ok(Frames::new());
    }
    let mut found = Found { inlined, ..Found::default() };
    let mut last = None;
    for input in inputs {
        let Ok(mut opened) = input.open(&mut last) else { continue };
        if opened.dwo_name.is_some() {
            continue;
        }
        if found.unit(input, &mut opened, &wanted).unwrap_or(false) {
            found.lines(input.files_of(&opened), &mut opened, &wanted);
        }
        budget.charge(64)?;
    }
    let frames = found.raw.values().flatten();
    let mut open: HashSet<u64> = frames.clone().map(|frame| frame.entry).collect();
    open.extend(frames.flat_map(|frame| &frame.locals).filter_map(|local| match local {
        RawLocal::Inlined(entry) => Some(*entry),
        RawLocal::Known(..) => None,
    }));
    for _ in 0..ROUNDS {
        open.retain(|entry| !found.functions.contains_key(entry) && !found.variables.contains_key(entry));
        if open.is_empty() {
            break;
        }
        budget.charge(open.len() as u64 * 256)?;
        found.functions(inputs, &open);
        open = open.iter().filter_map(|entry| found.functions.get(entry)?.origin).collect();
    }
    Ok(found.finish(offsets))
}

#[derive(Default)]
struct Found {
    inlined: bool,
    /// By address, outermost first.
    raw: HashMap<u64, Vec<RawFrame>, FixedState>,
    /// The line of the innermost function, by address.
    lines: HashMap<u64, Source, FixedState>,
    functions: HashMap<u64, Function, FixedState>,
    /// The names of variables of inlined functions, and the global offsets of their types.
    variables: HashMap<u64, (Text, u64), FixedState>,
}

pub(super) type Attrs<'d> = Vec<Attribute<Slice<'d>>>;

impl Found {
    /// Reads the functions of a unit. Returns `true` if one of the addresses is in it.
    fn unit<'d>(&mut self, input: &Input<'_, 'd>, opened: &mut Opened<'d>, wanted: &[u64]) -> Result<bool, Error> {
        let abbreviations = std::sync::Arc::clone(&opened.unit.abbreviations);
        let mut entries = input.header.entries_raw(&abbreviations, None)?;
        let mut attrs = Attrs::new();
        let Some(root) = entries.read_abbreviation()? else { return Ok(false) };
        entries.read_attributes(root.attributes(), &mut attrs)?;
        // A unit in another file has no ranges; those of the unit that names it are the same.
        if !has_ranges(&attrs) && input.named_by.is_none()
            || has_ranges(&attrs) && !covers(input.dwarf, opened, &attrs, wanted)?
        {
            return Ok(false);
        }
        // The depth of an entry that covers none of the addresses; its children are skipped.
        let mut skipped: Option<isize> = None;
        let mut hits = Vec::new();
        // The addresses in the function with a frame whose children are being read, and its depth.
        let mut outermost: Option<(isize, Vec<u64>)> = None;
        while !entries.is_empty() {
            let offset = entries.next_offset().0 as u64;
            let depth = entries.next_depth();
            let Some(abbreviation) = entries.read_abbreviation()? else { continue };
            let is_function = matches!(abbreviation.tag(), dw::DW_TAG_subprogram | dw::DW_TAG_inlined_subroutine);
            if skipped.is_some_and(|above| depth <= above) {
                skipped = None;
            }
            if outermost.as_ref().is_some_and(|(above, _)| depth <= *above) {
                outermost = None;
            }
            let is_variable = matches!(abbreviation.tag(), dw::DW_TAG_variable | dw::DW_TAG_formal_parameter);
            if let (true, None, Some((_, addresses))) = (is_variable, skipped, &outermost) {
                entries.read_attributes(abbreviation.attributes(), &mut attrs)?;
                if let Some(local) = local(input, opened, &attrs) {
                    for address in addresses {
                        let frame = self.raw.get_mut(address).and_then(|frames| frames.first_mut());
                        if let Some(frame) = frame.filter(|frame| frame.locals.len() < LOCALS) {
                            frame.locals.push(local.clone());
                        }
                    }
                }
                continue;
            }
            if skipped.is_some() || !is_function {
                entries.skip_attributes(abbreviation.attributes())?;
                continue;
            }
            entries.read_attributes(abbreviation.attributes(), &mut attrs)?;
            hits.clear();
            addresses_in(input.dwarf, opened, &attrs, wanted, |address| hits.push(address))?;
            if hits.is_empty() {
                // The locals of an inlined function are in the frame of the function around it.
                let is_inside = self.inlined && outermost.is_some() && abbreviation.tag() != dw::DW_TAG_subprogram;
                if !is_inside {
                    skipped = Some(depth);
                }
                continue;
            }
            let (mut file, mut line, mut origin) = (None, None, None);
            for attr in &attrs {
                match attr.name() {
                    dw::DW_AT_call_file => file = index(attr),
                    dw::DW_AT_call_line => line = attr.udata_value().and_then(|line| u32::try_from(line).ok()),
                    dw::DW_AT_abstract_origin => origin = reference(input, &attr.value()),
                    _ => {}
                }
            }
            let call = match file.zip(line) {
                Some((file, line)) => {
                    let files_of = input.files_of(opened);
                    opened.read_files(files_of);
                    opened.file_of_code(files_of, file).map(|file| Source { file: file.into(), line })
                }
                None => None,
            };
            for address in &hits {
                let frames = self.raw.entry(*address).or_default();
                if frames.len() < DEEPEST {
                    let entry = origin.unwrap_or(input.base + offset);
                    frames.push(RawFrame { entry, locals: Vec::new(), call: call.clone() });
                }
            }
            if abbreviation.tag() == dw::DW_TAG_subprogram {
                outermost = Some((depth, hits.clone()));
            }
        }
        Ok(true)
    }

    /// Reads the line numbers for the addresses of a unit.
    fn lines<'d>(&mut self, dwarf: &Dwarf<Slice<'d>>, opened: &mut Opened<'d>, wanted: &[u64]) {
        opened.read_files(dwarf);
        let Some(program) = opened.unit.line_program.clone() else { return };
        let mut files: HashMap<u64, Option<Text>> = HashMap::new();
        let mut rows = program.rows();
        let mut before: Option<(u64, u64, u32)> = None;
        while let Ok(Some((_, row))) = rows.next_row() {
            if let Some((start, file, line)) = before
                && start < row.address()
            {
                let first = wanted.partition_point(|address| *address < start);
                for address in wanted[first..].iter().take_while(|address| **address < row.address()) {
                    let name =
                        files.entry(file).or_insert_with(|| opened.file_of_code(dwarf, file).map(Into::into)).clone();
                    if let Some(file) = name {
                        self.lines.insert(*address, Source { file, line });
                    }
                }
            }
            let line = row.line().map_or(0, |line| u32::try_from(line.get()).unwrap_or(u32::MAX));
            before = (!row.end_sequence()).then_some((row.address(), row.file_index(), line));
        }
    }

    /// Reads the entries of functions at `open`.
    fn functions(&mut self, inputs: &[Input<'_, '_>], open: &HashSet<u64>) {
        let mut last = None;
        for input in inputs {
            let end = input.base + input.header.length_including_self() as u64;
            if !open.iter().any(|entry| (input.base..end).contains(entry)) {
                continue;
            }
            let Ok(opened) = input.open(&mut last) else { continue };
            // Entries before the damage are kept.
            let _ = self.functions_of(input, &opened, open);
        }
    }

    fn functions_of<'d>(
        &mut self,
        input: &Input<'_, 'd>,
        opened: &Opened<'d>,
        open: &HashSet<u64>,
    ) -> Result<(), Error> {
        let text = |value| input.dwarf.attr_string(&opened.unit, value).ok();
        let abbreviations = std::sync::Arc::clone(&opened.unit.abbreviations);
        let mut entries = input.header.entries_raw(&abbreviations, None)?;
        let mut attrs = Attrs::new();
        let mut scopes: Vec<(isize, Option<Slice<'d>>)> = Vec::new();
        let mut current: Option<(isize, u64)> = None;
        while !entries.is_empty() {
            let offset = input.base + entries.next_offset().0 as u64;
            let depth = entries.next_depth();
            let Some(abbreviation) = entries.read_abbreviation()? else { continue };
            scopes.truncate(scopes.partition_point(|(above, _)| *above < depth));
            if current.is_some_and(|(above, _)| depth <= above) {
                current = None;
            }
            match abbreviation.tag() {
                dw::DW_TAG_namespace
                | dw::DW_TAG_structure_type
                | dw::DW_TAG_union_type
                | dw::DW_TAG_enumeration_type => {
                    entries.read_attributes(abbreviation.attributes(), &mut attrs)?;
                    let name = attrs.iter().find(|attr| attr.name() == dw::DW_AT_name);
                    scopes.push((depth, name.and_then(|attr| text(attr.value()))));
                }
                dw::DW_TAG_variable | dw::DW_TAG_formal_parameter if open.contains(&offset) => {
                    entries.read_attributes(abbreviation.attributes(), &mut attrs)?;
                    let attribute = |name| attrs.iter().find(|attr| attr.name() == name);
                    let name = attribute(dw::DW_AT_name).and_then(|attr| text(attr.value()));
                    let ty = attribute(dw::DW_AT_type).and_then(|attr| reference(input, &attr.value()));
                    if let (Some(name), Some(ty)) = (name, ty) {
                        self.variables.insert(offset, (name.to_string_lossy().into(), ty));
                    }
                }
                dw::DW_TAG_subprogram if open.contains(&offset) => {
                    entries.read_attributes(abbreviation.attributes(), &mut attrs)?;
                    let mut function = Function::default();
                    for (_, name) in &scopes {
                        if let Some(name) = name {
                            function.scope.push_str(&name.to_string_lossy());
                            function.scope.push_str("::");
                        }
                    }
                    for attr in &attrs {
                        match attr.name() {
                            dw::DW_AT_name => {
                                function.name = text(attr.value()).map(|name| name.to_string_lossy().into_owned());
                            }
                            dw::DW_AT_linkage_name | dw::DW_AT_MIPS_linkage_name => {
                                let symbol = text(attr.value()).filter(|symbol| symbol.len() < names::LONGEST_SYMBOL);
                                function.symbol = symbol.map(|symbol| symbol.to_string_lossy().into_owned());
                            }
                            dw::DW_AT_specification | dw::DW_AT_abstract_origin => {
                                function.origin = reference(input, &attr.value()).filter(|origin| *origin != offset);
                            }
                            _ => {}
                        }
                    }
                    self.functions.insert(offset, function);
                    current = Some((depth, offset));
                }
                dw::DW_TAG_template_type_parameter if current.is_some_and(|(above, _)| depth == above + 1) => {
                    entries.read_attributes(abbreviation.attributes(), &mut attrs)?;
                    let mut param = (Text::from(""), None);
                    for attr in &attrs {
                        match attr.name() {
                            dw::DW_AT_name => {
                                param.0 = text(attr.value())
                                    .map_or_else(Default::default, |name| name.to_string_lossy().into());
                            }
                            dw::DW_AT_type => param.1 = reference(input, &attr.value()),
                            _ => {}
                        }
                    }
                    let function = current.and_then(|(_, offset)| self.functions.get_mut(&offset));
                    if let Some(function) = function {
                        function.params.push(param);
                    }
                }
                _ => entries.skip_attributes(abbreviation.attributes())?,
            }
        }
        Ok(())
    }

    /// Returns the frames by address, innermost first.
    fn finish(self, offsets: &Offsets) -> Frames {
        let mut known: HashMap<u64, (Text, Option<Text>, Vec<Param>)> = HashMap::new();
        let mut all = Frames::new();
        for (address, raw) in &self.raw {
            let mut frames = Vec::with_capacity(raw.len());
            let mut source = self.lines.get(address).cloned();
            for frame in raw.iter().rev() {
                let (path, implementor, params) =
                    known.entry(frame.entry).or_insert_with(|| self.resolve(frame.entry, offsets)).clone();
                let local = |local: &RawLocal| {
                    let (name, ty, is_inlined) = match local {
                        RawLocal::Known(name, ty) => (name, ty, false),
                        RawLocal::Inlined(entry) => self.variables.get(entry).map(|(name, ty)| (name, ty, true))?,
                    };
                    Some((Text::clone(name), offsets.find(*ty)?, is_inlined))
                };
                let locals = frame.locals.iter().filter_map(local).collect();
                frames.push(Frame { path, implementor, params, source: source.take(), locals });
                source.clone_from(&frame.call);
            }
            all.insert(*address, frames);
        }
        all
    }

    /// Returns the path of a function, the type of the `impl` in it, and the arguments of its type parameters.
    fn resolve(&self, entry: u64, offsets: &Offsets) -> (Text, Option<Text>, Vec<Param>) {
        let (mut name, mut symbol, mut scope, mut params) = (None, None, String::new(), Vec::new());
        let mut at = Some(entry);
        for _ in 0..=ROUNDS {
            let Some(function) = at.and_then(|at| self.functions.get(&at)) else { break };
            name = name.or_else(|| function.name.clone());
            symbol = symbol.or(function.symbol.as_deref());
            // The declaration comes last, and its scope is the function's path.
            scope.clone_from(&function.scope);
            if params.is_empty() {
                params = function
                    .params
                    .iter()
                    .filter_map(|(name, ty)| Some(Param { name: Text::clone(name), ty: offsets.find((*ty)?)? }))
                    .collect();
            }
            at = function.origin;
        }
        let path = format!("{scope}{}", name.unwrap_or_else(|| "?".into()));
        let implementor = symbol.and_then(|symbol| {
            let (_, after) = path.split_once("{impl#")?.1.split_once('}')?;
            names::self_type(symbol, names::parts(after.trim_start_matches("::")).len())
        });
        (path.into(), implementor.map(Into::into), params)
    }
}

/// Returns a variable in the frame's memory.
fn local<'d>(input: &Input<'_, 'd>, opened: &Opened<'d>, attrs: &Attrs<'d>) -> Option<RawLocal> {
    let (mut name, mut ty, mut origin, mut is_in_memory) = (None, None, None, false);
    for attr in attrs {
        match attr.name() {
            dw::DW_AT_name => name = input.dwarf.attr_string(&opened.unit, attr.value()).ok(),
            dw::DW_AT_type => ty = reference(input, &attr.value()),
            dw::DW_AT_abstract_origin => origin = reference(input, &attr.value()),
            dw::DW_AT_location => {
                let mut operations = attr.exprloc_value()?.operations(opened.unit.encoding());
                let first = operations.next().ok()??;
                let is_frame = matches!(first, Operation::FrameOffset { .. } | Operation::RegisterOffset { .. });
                // Further operations follow a pointer: the value is elsewhere.
                is_in_memory = is_frame && operations.next().ok()?.is_none();
            }
            _ => {}
        }
    }
    match (name, ty, origin) {
        _ if !is_in_memory => None,
        (Some(name), Some(ty), _) => Some(RawLocal::Known(name.to_string_lossy().into(), ty)),
        (.., Some(origin)) => Some(RawLocal::Inlined(origin)),
        _ => None,
    }
}

/// Returns `true` if one of the addresses is in an entry's ranges.
pub(super) fn covers<'d>(
    dwarf: &Dwarf<Slice<'d>>,
    opened: &Opened<'d>,
    attrs: &Attrs<'d>,
    wanted: &[u64],
) -> Result<bool, Error> {
    let mut is_hit = false;
    addresses_in(dwarf, opened, attrs, wanted, |_| is_hit = true)?;
    Ok(is_hit)
}

pub(super) fn has_ranges(attrs: &Attrs<'_>) -> bool {
    attrs.iter().any(|attr| matches!(attr.name(), dw::DW_AT_low_pc | dw::DW_AT_ranges))
}

fn index(attr: &Attribute<Slice<'_>>) -> Option<u64> {
    match attr.value() {
        AttributeValue::FileIndex(index) => Some(index),
        _ => attr.udata_value(),
    }
}

/// Returns the global offset that an attribute refers to.
pub(super) fn reference(input: &Input<'_, '_>, value: &AttributeValue<Slice<'_>>) -> Option<u64> {
    match value {
        AttributeValue::UnitRef(offset) => Some(input.base + offset.0 as u64),
        AttributeValue::DebugInfoRef(offset) if input.dwarf.file_type == gimli::DwarfFileType::Main => {
            Some(offset.0 as u64)
        }
        _ => None,
    }
}

/// Calls `hit` for each address of `wanted` in an entry's ranges.
pub(super) fn addresses_in<'d>(
    dwarf: &Dwarf<Slice<'d>>,
    opened: &Opened<'d>,
    attrs: &Attrs<'d>,
    wanted: &[u64],
    mut hit: impl FnMut(u64),
) -> Result<(), Error> {
    let mut range = |start: u64, end: u64| {
        let first = wanted.partition_point(|address| *address < start);
        wanted[first..].iter().take_while(|address| **address < end).for_each(|address| hit(*address));
    };
    let value = |name| attrs.iter().find(|attr| attr.name() == name).map(Attribute::value);
    if let Some(ranges) = value(dw::DW_AT_ranges) {
        let Some(offset): Option<RangeListsOffset> = dwarf.attr_ranges_offset(&opened.unit, ranges)? else {
            return Ok(());
        };
        let mut list = dwarf.ranges(&opened.unit, offset)?;
        for _ in 0..RANGES {
            let Some(one) = list.next()? else { break };
            range(one.begin, one.end);
        }
        return Ok(());
    }
    let Some(low) = value(dw::DW_AT_low_pc) else { return Ok(()) };
    let Some(low) = dwarf.attr_address(&opened.unit, low)? else { return Ok(()) };
    let high = match value(dw::DW_AT_high_pc) {
        Some(AttributeValue::Udata(length)) => low.saturating_add(length),
        Some(value) => match dwarf.attr_address(&opened.unit, value)? {
            Some(high) => high,
            None => low.saturating_add(value.udata_value().unwrap_or(0)),
        },
        None => low,
    };
    range(low, high);
    Ok(())
}
