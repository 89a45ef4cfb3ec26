//! `dwell::ThinStr`: the length is in the block.

use crate::debuginfo::{Text, TypeId};
use crate::heap::walk::{Decoded, Decoder, Family, Schema, SiteId, Use, Value, WORD, Walk, named};
use std::rc::Rc;

pub(super) const FAMILY: Family = Family::new(&[("dwell::sparse::thin_str::ThinStr", recognise)]);

#[derive(Debug)]
struct ThinStr {
    ptr: u64,
}

fn recognise(schema: &mut Schema<'_>, ty: TypeId, _: SiteId) -> Decoded {
    Some(Rc::new(ThinStr { ptr: named(schema, ty, "data")? }))
}

impl Decoder for ThinStr {
    fn read(&self, cx: &mut Walk<'_, '_>, value: Value<'_>) -> bool {
        let Some(ptr) = value.word(self.ptr) else { return true };
        // The text begins after one byte of length, or after one byte and a word.
        let found = [1, 1 + WORD].into_iter().find_map(|back| {
            let block = cx.block_at(ptr.checked_sub(back)?)?;
            Some((block, back, cx.block(block).size.checked_sub(back)?))
        });
        let Some((block, back, len)) = found else { return true };
        if cx.claim(block, value.site, Use { len, capacity: len, ..Use::default() }) {
            cx.text(block, value.site, back, len);
        }
        false
    }

    fn element(&self, _: &Schema<'_>, _: Option<TypeId>) -> Option<(Text, u64)> {
        Some(("u8".into(), 1))
    }
}
