//! Finds the variables that are in scope at an address, with their locations.
//!
//! A variable has one location for its whole scope, or a list of locations with ranges of addresses. Only a location
//! whose range has the address counts: outside of it the register or slot may hold anything.

use super::Frames;
use super::budget::Budget;
use super::file::Slice;
use super::frames::{Attrs, addresses_in, covers, has_ranges, reference};
use super::input::Input;
use super::link::Offsets;
use super::model::{Local, Text, TypeId};
use super::unit::{self, Opened};
use anyhow::Result;
use gimli::{Attribute, Dwarf, Error, constants as dw};
use std::collections::HashMap;

/// The variables at addresses of an executable, innermost scope first.
pub type Locals = HashMap<u64, Vec<Local>>;

/// The maximum number of variables at all addresses.
const MOST: usize = 200_000;

/// The maximum number of entries that are read of one list of locations.
const LOCATIONS: usize = 10_000;

/// A variable whose type and name may be those of its abstract origin.
struct RawLocal {
    address: u64,
    name: Option<Text>,
    ty: Option<TypeId>,
    origin: Option<u64>,
    /// The number of functions around the one that declares it, which is inlined into them.
    depth: usize,
    location: Box<[u8]>,
    base: Option<Box<[u8]>>,
    encoding: gimli::Encoding,
}

/// A function or block that covers addresses.
struct Scope {
    depth: isize,
    addresses: Vec<u64>,
    /// The expression for the frame base of the function.
    base: Option<Box<[u8]>>,
    /// The number of functions around it.
    functions: usize,
}

/// Returns the variables at `addresses`. `frames` names their functions.
///
/// Damaged units are skipped.
///
/// # Errors
/// Returns an error if the budget is exceeded.
pub(super) fn find(
    inputs: &[Input<'_, '_>],
    offsets: &Offsets,
    frames: &Frames,
    addresses: &[u64],
    budget: &Budget,
) -> Result<Locals> {
    let mut wanted = addresses.to_vec();
    wanted.sort_unstable();
    wanted.dedup();
    let mut raw = Vec::new();
    let mut last = None;
    for input in inputs.iter().filter(|_| !wanted.is_empty()) {
        let Ok(opened) = input.open(&mut last) else { continue };
        if opened.dwo_name.is_none() {
            // Variables before the damage are kept.
            let _ = of_unit(input, &opened, &wanted, offsets, &mut raw);
        }
    }
    budget.charge(raw.iter().map(|local| (size_of::<RawLocal>() + local.location.len()) as u64).sum())?;
    let origins = origins(inputs, offsets, &raw);
    let mut all = Locals::new();
    // The innermost scopes come last in the debug info.
    for local in raw.into_iter().rev() {
        let origin = local.origin.and_then(|origin| origins.get(&origin));
        let Some(ty) = local.ty.or_else(|| origin?.1) else { continue };
        let name = local.name.or_else(|| origin?.0.clone()).unwrap_or_default();
        let function = frames.get(&local.address).and_then(|frames| frames.iter().rev().nth(local.depth));
        all.entry(local.address).or_default().push(Local {
            name,
            ty,
            function: function.map_or_else(Text::default, |frame| Text::clone(&frame.path)),
            location: local.location,
            base: local.base,
            encoding: local.encoding,
        });
    }
    Ok(all)
}

/// Reads the variables of a unit.
fn of_unit<'d>(
    input: &Input<'_, 'd>,
    opened: &Opened<'d>,
    wanted: &[u64],
    offsets: &Offsets,
    all: &mut Vec<RawLocal>,
) -> Result<(), Error> {
    let abbreviations = std::sync::Arc::clone(&opened.unit.abbreviations);
    let encoding = opened.unit.encoding();
    let mut entries = input.header.entries_raw(&abbreviations, None)?;
    let mut attrs = Attrs::new();
    let Some(root) = entries.read_abbreviation()? else { return Ok(()) };
    entries.read_attributes(root.attributes(), &mut attrs)?;
    // A unit in another file has no ranges; those of the unit that names it are the same.
    if !has_ranges(&attrs) && input.named_by.is_none()
        || has_ranges(&attrs) && !covers(input.dwarf, opened, &attrs, wanted)?
    {
        return Ok(());
    }
    let mut skipped: Option<isize> = None;
    let mut scopes: Vec<Scope> = Vec::new();
    while !entries.is_empty() {
        let depth = entries.next_depth();
        let Some(abbreviation) = entries.read_abbreviation()? else { continue };
        if skipped.is_some_and(|above| depth <= above) {
            skipped = None;
        }
        scopes.truncate(scopes.partition_point(|scope| scope.depth < depth));
        let tag = abbreviation.tag();
        let is_scope = matches!(tag, dw::DW_TAG_subprogram | dw::DW_TAG_inlined_subroutine | dw::DW_TAG_lexical_block);
        let is_variable = matches!(tag, dw::DW_TAG_variable | dw::DW_TAG_formal_parameter);
        let is_wanted = is_scope || is_variable && !scopes.is_empty();
        if skipped.is_some() || !is_wanted {
            entries.skip_attributes(abbreviation.attributes())?;
            continue;
        }
        entries.read_attributes(abbreviation.attributes(), &mut attrs)?;
        if is_scope {
            let mut addresses = Vec::new();
            addresses_in(input.dwarf, opened, &attrs, wanted, |address| addresses.push(address))?;
            if addresses.is_empty() {
                skipped = Some(depth);
                continue;
            }
            let above = scopes.last();
            let is_function = tag != dw::DW_TAG_lexical_block;
            let functions = above.map_or(0, |scope| scope.functions + usize::from(is_function));
            let base = attrs.iter().find(|attr| attr.name() == dw::DW_AT_frame_base).and_then(expression);
            let base = base.or_else(|| above.and_then(|scope| scope.base.clone()));
            scopes.push(Scope { depth, addresses, base, functions });
        } else if let Some(scope) = scopes.last() {
            for (address, location) in locations(input.dwarf, opened, &attrs, &scope.addresses) {
                if all.len() == MOST {
                    return Ok(());
                }
                let value = |name| attrs.iter().find(|attr| attr.name() == name).map(Attribute::value);
                let name = value(dw::DW_AT_name).and_then(|name| input.dwarf.attr_string(&opened.unit, name).ok());
                let ty = value(dw::DW_AT_type).and_then(|ty| offsets.find(reference(input, &ty)?));
                all.push(RawLocal {
                    address,
                    name: name.map(|name| name.to_string_lossy().into()),
                    ty,
                    origin: value(dw::DW_AT_abstract_origin).and_then(|origin| reference(input, &origin)),
                    depth: scope.functions,
                    location,
                    base: scope.base.clone(),
                    encoding,
                });
            }
        }
    }
    Ok(())
}

fn expression(attr: &Attribute<Slice<'_>>) -> Option<Box<[u8]>> {
    attr.exprloc_value().map(|expression| expression.0.slice().into())
}

/// Returns the locations of a variable at those of `addresses` that one covers.
fn locations<'d>(
    dwarf: &Dwarf<Slice<'d>>,
    opened: &Opened<'d>,
    attrs: &Attrs<'d>,
    addresses: &[u64],
) -> Vec<(u64, Box<[u8]>)> {
    let Some(location) = attrs.iter().find(|attr| attr.name() == dw::DW_AT_location) else { return Vec::new() };
    if let Some(expression) = expression(location) {
        return addresses.iter().map(|address| (*address, expression.clone())).collect();
    }
    let mut all = Vec::new();
    let Ok(Some(mut list)) = dwarf.attr_locations(&opened.unit, location.value()) else { return all };
    for _ in 0..LOCATIONS {
        let Ok(Some(entry)) = list.next() else { break };
        let range = entry.range.begin..entry.range.end;
        let covered = addresses.iter().filter(|address| range.contains(address));
        all.extend(covered.map(|address| (*address, entry.data.0.slice().into())));
    }
    all
}

/// Returns the names and types of the abstract origins.
fn origins(
    inputs: &[Input<'_, '_>],
    offsets: &Offsets,
    raw: &[RawLocal],
) -> HashMap<u64, (Option<Text>, Option<TypeId>)> {
    let mut open: Vec<u64> = raw.iter().filter_map(|local| local.origin).collect();
    open.sort_unstable();
    open.dedup();
    let mut found = HashMap::new();
    let mut last: unit::Abbreviations = None;
    for input in inputs {
        let end = input.base + input.header.length_including_self() as u64;
        let first = open.partition_point(|origin| *origin < input.base);
        let mut of_unit = open[first..].iter().take_while(|origin| **origin < end).peekable();
        if of_unit.peek().is_none() {
            continue;
        }
        let Ok(opened) = input.open(&mut last) else { continue };
        for origin in of_unit {
            let Ok(at) = usize::try_from(origin - input.base) else { continue };
            let Ok(entry) = opened.unit.entry(gimli::UnitOffset(at)) else { continue };
            let name = entry.attr_value(dw::DW_AT_name);
            let name = name.and_then(|name| input.dwarf.attr_string(&opened.unit, name).ok());
            let ty = entry.attr_value(dw::DW_AT_type).and_then(|ty| offsets.find(reference(input, &ty)?));
            found.insert(*origin, (name.map(|name| name.to_string_lossy().into()), ty));
        }
    }
    found
}
