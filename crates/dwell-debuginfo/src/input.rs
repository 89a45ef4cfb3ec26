//! The units to read, and what the threads share and collect.

use super::budget::Budget;
use super::file::Slice;
use super::names::ImplFor;
use super::pool::Pool;
use super::raw::{Body, RawStatic, UnitTypes};
use super::unit;
use gimli::{Dwarf, UnitHeader};
use std::collections::HashMap;

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

impl<'a, 'd> Input<'a, 'd> {
    /// Reads the root entry. A unit in another file has the base of its addresses from the unit that names it.
    pub(super) fn open(&self, last: &mut unit::Abbreviations) -> Result<unit::Opened<'d>, gimli::Error> {
        let mut opened = unit::open(self.dwarf, self.header, last)?;
        if let Some((_, skeleton)) = self.named_by {
            // Before DWARF 5 the file names itself.
            opened.dwo_name = None;
            opened.unit.low_pc = skeleton.low_pc;
            opened.unit.addr_base = skeleton.addresses;
            // Since DWARF 5 the file has its own ranges.
            if self.header.version() < 5 {
                opened.unit.rnglists_base = skeleton.ranges;
            }
            opened.unit.comp_dir = opened.unit.comp_dir.or(skeleton.folder);
            opened.line = opened.line.or(skeleton.line);
        }
        Ok(opened)
    }

    /// Returns the file with the table of source files of the opened unit.
    pub(super) fn files_of(&self, opened: &unit::Opened<'d>) -> &'a Dwarf<Slice<'d>> {
        match self.named_by {
            Some((dwarf, skeleton)) if opened.line == skeleton.line => dwarf,
            _ => self.dwarf,
        }
    }
}

/// A unit whose types are in another file.
#[derive(Debug)]
pub(super) struct Skeleton<'d> {
    pub id: Option<gimli::DwoId>,
    pub folder: Option<Slice<'d>>,
    pub name: String,
    pub(super) line: Option<gimli::DebugLineOffset>,
    /// The bases of its addresses and ranges.
    pub(super) low_pc: u64,
    pub(super) addresses: gimli::DebugAddrBase,
    pub(super) ranges: gimli::DebugRngListsBase,
}

/// What all threads share.
#[derive(Clone, Copy)]
pub(super) struct Shared<'a, 'd> {
    pub pool: &'a Pool<'d>,
    pub budget: &'a Budget,
    /// The offsets of thread-local symbols, by their names, where debug info has none.
    pub thread_locals: &'a HashMap<&'d [u8], u64>,
}

/// The data that one thread collects.
#[derive(Default)]
pub(super) struct Worker<'d> {
    pub(super) abbreviations: unit::Abbreviations,
    pub(super) units: Vec<(usize, UnitTypes)>,
    pub(super) bodies: HashMap<String, Body>,
    pub(super) impls: HashMap<String, ImplFor>,
    pub(super) statics: Vec<RawStatic>,
    pub(super) skeletons: Vec<(usize, Skeleton<'d>)>,
    pub(super) damaged: Vec<(usize, String)>,
    pub(super) rustc: Option<String>,
    pub(super) rust_units: usize,
}
