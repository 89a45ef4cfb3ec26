//! The structs of C code that is linked into a program, for the tables of allocators.

use super::budget::Budget;
use super::{file, unit};
use gimli::{AttributeValue, constants as dw};
use std::collections::HashMap;
use std::path::Path;

/// Returns the offsets of the fields of a struct of C code by its name. Reads the executable or the file with its debug info.
pub fn c_struct(path: &Path, name: &str) -> Option<HashMap<String, u64>> {
    let map = file::map(path).ok()?;
    let object = file::parse(path, &map).ok()?;
    if file::has_debug_info(&object) {
        return find(&object, map.len(), name);
    }
    file::separate(path, &object).iter().find_map(|separate| {
        let other = file::map(separate).ok()?;
        let parsed = file::parse(separate, &other).ok()?;
        file::belongs(&object, &parsed, &other).then(|| find(&parsed, other.len(), name)).flatten()
    })
}

fn find(object: &object::File<'_>, len: usize, name: &str) -> Option<HashMap<String, u64>> {
    let endian = file::endian(object);
    let sections = file::sections(object, &Budget::new(len as u64)).ok()?;
    let dwarf = sections.borrow(|section| file::slice(section, endian));
    let mut units = dwarf.units();
    let mut last = None;
    while let Ok(Some(header)) = units.next() {
        let Ok(opened) = unit::open(&dwarf, header, &mut last) else { continue };
        if opened.is_rust {
            continue;
        }
        if let Some(fields) = fields(&dwarf, &opened, name) {
            return Some(fields);
        }
    }
    None
}

/// Returns the fields of a struct that a unit defines.
fn fields<'d>(
    dwarf: &gimli::Dwarf<file::Slice<'d>>,
    opened: &unit::Opened<'d>,
    name: &str,
) -> Option<HashMap<String, u64>> {
    let mut entries = opened.unit.header.entries_raw(&opened.unit.abbreviations, None).ok()?;
    let mut attrs = Vec::new();
    let mut found: Option<(isize, HashMap<String, u64>)> = None;
    while !entries.is_empty() {
        let depth = entries.next_depth();
        let Some(abbreviation) = entries.read_abbreviation().ok()? else { continue };
        entries.read_attributes(abbreviation.attributes(), &mut attrs).ok()?;
        let text = |value: AttributeValue<file::Slice<'d>>| {
            dwarf.attr_string(&opened.unit, value).ok().map(|text| text.to_string_lossy().into_owned())
        };
        let attr = |wanted| attrs.iter().find(|attr| attr.name() == wanted);
        let called = || attr(dw::DW_AT_name).and_then(|attr| text(attr.value()));
        match &mut found {
            Some((outer, fields)) => {
                if depth <= *outer {
                    break;
                }
                if depth == *outer + 1
                    && abbreviation.tag() == dw::DW_TAG_member
                    && let Some(offset) = attr(dw::DW_AT_data_member_location).and_then(gimli::Attribute::udata_value)
                    && let Some(field) = called()
                {
                    fields.insert(field, offset);
                }
            }
            None => {
                if abbreviation.tag() == dw::DW_TAG_structure_type
                    && attr(dw::DW_AT_declaration).is_none()
                    && called().is_some_and(|own| own == name)
                {
                    found = Some((depth, HashMap::new()));
                }
            }
        }
    }
    found.map(|(_, fields)| fields).filter(|fields| !fields.is_empty())
}
