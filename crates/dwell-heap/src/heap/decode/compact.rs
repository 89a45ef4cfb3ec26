//! `compact_str::CompactString`. The last of its 24 bytes tells whether the text is inline.

use crate::debuginfo::{Text, TypeId};
use crate::heap::walk::{Decoded, Decoder, Family, Schema, SiteId, Value, Walk};
use std::rc::Rc;

pub(super) const FAMILY: Family = Family::new(&[("compact_str::CompactString", recognise)]);

/// The size of a `CompactString`.
const SIZE: u64 = 24;
/// The last byte if the text is on the heap, and if it is empty.
const HEAP: u8 = 216;
const EMPTY: u8 = 192;

#[derive(Debug)]
struct Compact;

fn recognise(schema: &mut Schema<'_>, ty: TypeId, _: SiteId) -> Decoded {
    if schema.get(ty).size == SIZE { Some(Rc::new(Compact)) } else { None }
}

impl Decoder for Compact {
    fn read(&self, cx: &mut Walk<'_, '_>, value: Value<'_>) -> bool {
        match value.bytes.last() {
            Some(&HEAP) => {
                let words = [value.word(0), value.word(8), value.number(16, 7)];
                let [Some(ptr), Some(len), Some(cap)] = words else { return true };
                if let Some(block) = cx.elements(value.site, ptr, cap, len, 1) {
                    cx.text(block, value.site, 0, len);
                }
                len == 0
            }
            Some(&last) => last == EMPTY,
            None => true,
        }
    }

    fn element(&self, _: &Schema<'_>, _: Option<TypeId>) -> Option<(Text, u64)> {
        Some(("u8".into(), 1))
    }
}
