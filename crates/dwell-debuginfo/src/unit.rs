//! Opens a compilation unit: its abbreviations, root entry and table of source files.

use super::file::Slice;
use gimli::{
    AttributeValue, DebugAbbrev, DebugAbbrevOffset, DebugLineOffset, DebugStrOffsetsBase, Dwarf, EndianSlice, Error,
    Reader, Unit, UnitHeader, constants as dw,
};
use std::sync::Arc;

/// The maximum number of bytes of abbreviations. A real table has a few kilobytes. A parsed table takes many times its
/// length in memory.
const LONGEST_ABBREVIATIONS: usize = 1 << 20;

/// The maximum number of bytes of a unit's table of source files. A real table has a few kilobytes.
const LONGEST_LINE_HEADER: u64 = 512 << 10;

/// An opened unit.
pub(super) struct Opened<'d> {
    pub unit: Unit<Slice<'d>>,
    pub is_rust: bool,
    /// The version of rustc, from `rustc version 1.95.0`.
    pub rustc: Option<String>,
    /// The file with the unit's types, if it is another file.
    pub dwo_name: Option<String>,
    /// The offset of its table of source files.
    pub line: Option<DebugLineOffset>,
}

/// The abbreviations used last, because units of one object file may share them.
pub(super) type Abbreviations = Option<(DebugAbbrevOffset, usize, Arc<gimli::Abbreviations>)>;

/// Reads the root entry of a unit.
pub(super) fn open<'d>(
    dwarf: &Dwarf<Slice<'d>>,
    header: UnitHeader<Slice<'d>>,
    last: &mut Abbreviations,
) -> Result<Opened<'d>, Error> {
    let abbreviations = abbreviations(dwarf, header.debug_abbrev_offset(), last)?;
    let dwo_id = match header.type_() {
        gimli::UnitType::Skeleton(id) | gimli::UnitType::SplitCompilation(id) => Some(id),
        _ => None,
    };
    let unit = Unit {
        abbreviations,
        name: None,
        comp_dir: None,
        low_pc: 0,
        str_offsets_base: DebugStrOffsetsBase::default_for_encoding_and_file(header.encoding(), dwarf.file_type),
        addr_base: gimli::DebugAddrBase(0),
        loclists_base: gimli::DebugLocListsBase::default_for_encoding_and_file(header.encoding(), dwarf.file_type),
        rnglists_base: gimli::DebugRngListsBase::default_for_encoding_and_file(header.encoding(), dwarf.file_type),
        line_program: None,
        dwo_id,
        header,
    };
    let mut opened = Opened { unit, is_rust: false, rustc: None, dwo_name: None, line: None };
    let mut attrs = Vec::new();
    {
        let mut entries = opened.unit.header.entries_raw(&opened.unit.abbreviations, None)?;
        let root = entries.read_abbreviation()?.ok_or(Error::MissingUnitDie)?;
        entries.read_attributes(root.attributes(), &mut attrs)?;
    }
    // The base comes first, since strings may depend on it.
    for attr in &attrs {
        match (attr.name(), attr.value()) {
            (_, AttributeValue::DebugStrOffsetsBase(base)) => opened.unit.str_offsets_base = base,
            (_, AttributeValue::DebugAddrBase(base)) => opened.unit.addr_base = base,
            (_, AttributeValue::DebugLocListsBase(base)) => opened.unit.loclists_base = base,
            (_, AttributeValue::DebugRngListsBase(base)) => opened.unit.rnglists_base = base,
            (dw::DW_AT_GNU_dwo_id, AttributeValue::DwoId(id)) => opened.unit.dwo_id = opened.unit.dwo_id.or(Some(id)),
            _ => {}
        }
    }
    for attr in &attrs {
        let text = || dwarf.attr_string(&opened.unit, attr.value()).ok();
        match (attr.name(), attr.value()) {
            (dw::DW_AT_name, _) => opened.unit.name = text(),
            (dw::DW_AT_low_pc, value) => {
                opened.unit.low_pc = dwarf.attr_address(&opened.unit, value).ok().flatten().unwrap_or(0);
            }
            (dw::DW_AT_comp_dir, _) => opened.unit.comp_dir = text(),
            (dw::DW_AT_dwo_name | dw::DW_AT_GNU_dwo_name, _) => {
                opened.dwo_name = text().map(|name| name.to_string_lossy().into_owned());
            }
            (dw::DW_AT_producer, _) => {
                let producer = text().map(|text| text.to_string_lossy()).unwrap_or_default();
                if let Some((_, version)) = producer.split_once("rustc version ") {
                    opened.is_rust = true;
                    opened.rustc = version.split([' ', ')']).next().filter(|text| text.len() < 64).map(str::to_owned);
                }
            }
            (dw::DW_AT_language, AttributeValue::Language(language)) => opened.is_rust |= language == dw::DW_LANG_Rust,
            (dw::DW_AT_stmt_list, AttributeValue::DebugLineRef(offset)) => opened.line = Some(offset),
            _ => {}
        }
    }
    Ok(opened)
}

fn abbreviations(
    dwarf: &Dwarf<Slice<'_>>,
    offset: DebugAbbrevOffset,
    last: &mut Abbreviations,
) -> Result<Arc<gimli::Abbreviations>, Error> {
    let section = *gimli::Section::reader(&dwarf.debug_abbrev);
    let start = section.slice().as_ptr().addr();
    if let Some((kept, base, abbreviations)) = last
        && (*kept, *base) == (offset, start)
    {
        return Ok(Arc::clone(abbreviations));
    }
    let rest = section.slice().get(offset.0..).ok_or(Error::OffsetOutOfBounds(offset.0 as u64))?;
    let rest = &rest[..rest.len().min(LONGEST_ABBREVIATIONS)];
    let parsed = Arc::new(DebugAbbrev::new(rest, section.endian()).abbreviations(DebugAbbrevOffset(0))?);
    *last = Some((offset, start, Arc::clone(&parsed)));
    Ok(parsed)
}

impl<'d> Opened<'d> {
    /// Returns `true` if the unit's abbreviations have one for structs or enums.
    pub(super) fn has_types(&self) -> bool {
        let abbreviations = &self.unit.abbreviations;
        let tags = (1..).map_while(|code| abbreviations.get(code)).map(gimli::Abbreviation::tag);
        tags.into_iter().any(|tag| matches!(tag, dw::DW_TAG_structure_type | dw::DW_TAG_enumeration_type))
    }

    /// Reads the table of source files, which [`Opened::file`] needs.
    pub(super) fn read_files(&mut self, dwarf: &Dwarf<Slice<'d>>) {
        let Some(offset) = self.line.take() else { return };
        let section = *gimli::Section::reader(&dwarf.debug_line);
        if line_header_is_plain(section, offset).is_ok_and(|is_plain| is_plain) {
            let size = self.unit.header.address_size();
            self.unit.line_program = dwarf.debug_line.program(offset, size, self.unit.comp_dir, self.unit.name).ok();
        }
    }

    /// Returns the path of a source file, relative to the folder of the compilation if it is inside it.
    pub(super) fn file(&self, dwarf: &Dwarf<Slice<'d>>, index: u64) -> Option<String> {
        let header = self.unit.line_program.as_ref()?.header();
        let file = header.file(index)?;
        let text = |value| dwarf.attr_string(&self.unit, value).ok().map(|text| text.to_string_lossy().into_owned());
        let name = text(file.path_name())?;
        let folder = file.directory(header).and_then(text).unwrap_or_default();
        let here = self.unit.comp_dir.map(|folder| folder.to_string_lossy().into_owned()).unwrap_or_default();
        let path = std::path::Path::new(&here).join(folder).join(name);
        Some(path.strip_prefix(&here).unwrap_or(&path).to_string_lossy().into_owned())
    }

    /// Returns the path of a source file like [`file`](Self::file), but in full if the unit is a dependency's, which cargo keeps
    /// with other sources.
    pub(super) fn file_of_code(&self, dwarf: &Dwarf<Slice<'d>>, index: u64) -> Option<String> {
        let file = self.file(dwarf, index)?;
        let here = self.unit.comp_dir.map(|folder| folder.to_string_lossy().into_owned()).unwrap_or_default();
        let is_kept = ["/registry/src/", "/git/checkouts/"].iter().any(|kept| here.contains(kept));
        Some(if is_kept { std::path::Path::new(&here).join(file).to_string_lossy().into_owned() } else { file })
    }
}

/// Returns `true` if a line program's header has a plausible length and no entry without bytes. Otherwise `gimli` could
/// build tables of any length.
fn line_header_is_plain(section: Slice<'_>, offset: DebugLineOffset) -> Result<bool, Error> {
    let mut input = section;
    input.skip(offset.0)?;
    let (length, format) = input.read_initial_length()?;
    let mut input = input.split(length)?;
    let version = input.read_u16()?;
    if version >= 5 {
        input.skip(2)?;
    }
    let header = input.read_length(format)? as u64;
    if header > LONGEST_LINE_HEADER {
        return Ok(false);
    }
    if version < 5 {
        return Ok(true);
    }
    input.skip(5)?;
    let opcodes = input.read_u8()?;
    input.skip(usize::from(opcodes.saturating_sub(1)))?;
    for _ in ["folders", "files"] {
        let mut forms = [gimli::DwForm(0); 8];
        let formats = usize::from(input.read_u8()?);
        let Some(forms) = forms.get_mut(..formats) else { return Ok(false) };
        for form in &mut *forms {
            input.read_uleb128()?;
            *form = gimli::DwForm(input.read_uleb128_u16()?);
        }
        for _ in 0..input.read_uleb128()? {
            let before = input.len();
            for form in &*forms {
                skip(&mut input, *form, format)?;
            }
            if input.len() == before {
                return Ok(false);
            }
        }
    }
    Ok(true)
}

/// Skips a value in a form that DWARF 5 allows in these tables.
fn skip(input: &mut Slice<'_>, form: gimli::DwForm, format: gimli::Format) -> Result<(), Error> {
    match form {
        dw::DW_FORM_string => input.read_null_terminated_slice().map(|_| ()),
        dw::DW_FORM_line_strp | dw::DW_FORM_strp | dw::DW_FORM_sec_offset => input.read_offset(format).map(|_| ()),
        dw::DW_FORM_udata | dw::DW_FORM_strx => input.skip_leb128(),
        dw::DW_FORM_data1 | dw::DW_FORM_strx1 => input.skip(1),
        dw::DW_FORM_data2 | dw::DW_FORM_strx2 => input.skip(2),
        dw::DW_FORM_strx3 => input.skip(3),
        dw::DW_FORM_data4 | dw::DW_FORM_strx4 => input.skip(4),
        dw::DW_FORM_data8 => input.skip(8),
        dw::DW_FORM_data16 => input.skip(16),
        dw::DW_FORM_block => {
            let length = input.read_uleb128()?;
            input.skip(usize::try_from(length).map_err(|_| Error::UnsupportedOffset)?)
        }
        form => Err(Error::UnknownForm(form)),
    }
}

/// Returns an empty section.
pub(super) fn empty<'d>(endian: gimli::RunTimeEndian) -> Slice<'d> {
    EndianSlice::new(&[], endian)
}
