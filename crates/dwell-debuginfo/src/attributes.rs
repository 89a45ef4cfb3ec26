//! Reads the attributes of an entry.

use super::file::Slice;
use super::raw::Discriminants;
use super::unit::Opened;
use gimli::{Attribute, AttributeValue, Dwarf, Operation, Reader as _, constants as dw};

pub(super) type Attrs<'d> = Vec<Attribute<Slice<'d>>>;
/// The attributes that most entries have.
#[derive(Default)]
pub(super) struct Common<'d> {
    pub(super) name: Option<&'d [u8]>,
    pub(super) ty: Option<u64>,
    pub(super) size: Option<u64>,
    pub(super) align: Option<u64>,
    pub(super) location: Option<u64>,
    pub(super) source: Option<(u64, u32)>,
    pub(super) containing: Option<u64>,
    pub(super) is_declaration: bool,
    pub(super) is_public: bool,
}

/// Returns the fixed address of an expression, as [`Attributes::fixed_address`]. `indexed` returns an address of the unit's
/// table.
fn fixed_address(
    expression: gimli::Expression<Slice<'_>>,
    encoding: gimli::Encoding,
    indexed: impl Fn(gimli::DebugAddrIndex) -> Option<u64>,
) -> Option<(u64, bool)> {
    let mut operations = expression.operations(encoding);
    let of_thread = |value: u64, next: Option<Operation<_>>| (next == Some(Operation::TLS)).then_some((value, true));
    let (mut address, is_thread_local) = match operations.next().ok()?? {
        Operation::Address { address } => (address, false),
        Operation::AddressIndex { index } => (indexed(index)?, false),
        Operation::UnsignedConstant { value } => of_thread(value, operations.next().ok()?)?,
        Operation::ConstantIndex { index } => of_thread(indexed(index)?, operations.next().ok()?)?,
        _ => return None,
    };
    // The linker has removed it.
    if address == 0 && !is_thread_local {
        return None;
    }
    while let Some(operation) = operations.next().ok()? {
        match operation {
            // For aarch64, LLVM joins statics: each is at an offset in the joint one.
            Operation::PlusConstant { value } if !is_thread_local => address = address.checked_add(value)?,
            _ => return None,
        }
    }
    Some((address, is_thread_local))
}

/// An opened unit whose attributes are read.
pub(super) struct Attributes<'a, 'd> {
    pub(super) dwarf: &'a Dwarf<Slice<'d>>,
    pub(super) opened: Opened<'d>,
    /// The global offset of the file's first byte.
    pub(super) base: u64,
}

impl<'d> Attributes<'_, 'd> {
    /// Returns the address of a static with `false`, or the offset of a thread-local variable in its thread's block with
    /// `true`.
    pub(super) fn fixed_address(&self, attr: &Attribute<Slice<'d>>) -> Option<(u64, bool)> {
        let indexed = |index| self.dwarf.address(&self.opened.unit, index).ok();
        fixed_address(attr.exprloc_value()?, self.opened.unit.encoding(), indexed)
    }

    /// Returns the offset in the coroutine, from a location expression that adds a constant to the frame's address.
    pub(super) fn in_coroutine(&self, attr: &Attribute<Slice<'d>>) -> Option<u64> {
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

    pub(super) fn text(&self, value: AttributeValue<Slice<'d>>) -> Option<&'d [u8]> {
        self.dwarf.attr_string(&self.opened.unit, value).ok().map(|text| text.slice())
    }

    /// Returns the global offset that an attribute refers to.
    pub(super) fn reference(&self, value: &AttributeValue<Slice<'d>>) -> Option<u64> {
        match value {
            AttributeValue::UnitRef(offset) => Some(self.base + offset.0 as u64),
            AttributeValue::DebugInfoRef(offset) if self.dwarf.file_type == gimli::DwarfFileType::Main => {
                Some(offset.0 as u64)
            }
            _ => None,
        }
    }

    /// Returns the name of a variable's symbol.
    pub(super) fn symbol(&self, attrs: &Attrs<'d>) -> Option<&'d [u8]> {
        self.text(attrs.iter().find(|attr| attr.name() == dw::DW_AT_linkage_name)?.value())
    }

    pub(super) fn common(&self, attrs: &Attrs<'d>) -> Common<'d> {
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

/// Returns the number of elements in a subrange of an array.
pub(super) fn length(attrs: &Attrs<'_>) -> u64 {
    let value = |name| attrs.iter().find(|attr| attr.name() == name).and_then(Attribute::udata_value);
    match value(dw::DW_AT_count) {
        Some(count) => count,
        None => value(dw::DW_AT_upper_bound).map_or(0, |last| last.saturating_add(1)),
    }
}

/// Returns the tag values of a variant: one value, or a list of values and ranges.
pub(super) fn discriminants(attrs: &Attrs<'_>) -> Discriminants {
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
pub(super) fn number(attr: &Attribute<Slice<'_>>) -> Option<i128> {
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

#[cfg(test)]
mod tests {
    use super::*;
    use gimli::{Encoding, Format, RunTimeEndian};

    fn fixed(code: &[u8]) -> Option<(u64, bool)> {
        let encoding = Encoding { address_size: 8, format: Format::Dwarf32, version: 5 };
        let code = gimli::EndianSlice::new(code, RunTimeEndian::Little);
        fixed_address(gimli::Expression(code), encoding, |index| [0, 0x5000].get(index.0).copied())
    }

    #[test]
    fn statics_have_an_address_and_an_offset() {
        let (plus, tls) = (dw::DW_OP_plus_uconst.0, dw::DW_OP_form_tls_address.0);
        let address = [dw::DW_OP_addr.0, 0x10, 0x40, 0, 0, 0, 0, 0, 0];
        assert_eq!(fixed(&address), Some((0x4010, false)));
        assert_eq!(fixed(&[&address[..], &[plus, 8]].concat()), Some((0x4018, false)));
        assert_eq!(fixed(&[dw::DW_OP_addrx.0, 1]), Some((0x5000, false)));
        assert_eq!(fixed(&[dw::DW_OP_addrx.0, 1, plus, 0x7f]), Some((0x507f, false)));
        // One that was removed, a part of a static, and garbage.
        assert_eq!(fixed(&[dw::DW_OP_addrx.0, 0, plus, 8]), None);
        assert_eq!(fixed(&[&address[..], &[plus, 8, dw::DW_OP_piece.0, 8]].concat()), None);
        assert_eq!(fixed(&address[..4]), None);
        assert_eq!(fixed(&[dw::DW_OP_const1u.0, 24, tls]), Some((24, true)));
        assert_eq!(fixed(&[dw::DW_OP_const1u.0, 0, tls]), Some((0, true)));
        assert_eq!(fixed(&[dw::DW_OP_const1u.0, 24]), None);
    }
}
