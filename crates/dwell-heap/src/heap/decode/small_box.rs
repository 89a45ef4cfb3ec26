//! `dwell::SmallBox<dyn Trait, N>`: the lowest bit of the vtable's address tells whether the value is on the heap.

use crate::debuginfo::{Text, TypeId};
use crate::heap::walk::{Decoded, Decoder, Family, Opaque, Schema, SiteId, Value, Walk, find};
use std::rc::Rc;

// Releases differ in the module.
pub(super) const FAMILY: Family =
    Family::new(&[("dwell::small::small_box::SmallBox", recognise), ("dwell::small::SmallBox", recognise)]);

#[derive(Debug)]
struct SmallBox {
    meta: u64,
}

/// Contents other than trait objects are opaque.
fn recognise(schema: &mut Schema<'_>, ty: TypeId, _: SiteId) -> Decoded {
    let (meta, _) = find(schema, ty, |field| &*field.name == "meta")?;
    let is_dyn = schema
        .get(ty)
        .path
        .split_once('<')
        .is_some_and(|(_, arguments)| arguments.starts_with("dyn ") || arguments.starts_with("(dyn "));
    Some(if is_dyn { Rc::new(SmallBox { meta }) } else { Rc::new(Opaque) })
}

impl Decoder for SmallBox {
    fn read(&self, cx: &mut Walk<'_, '_>, value: Value<'_>) -> bool {
        let (Some(ptr), Some(meta)) = (value.word(0), value.word(self.meta)) else { return false };
        if let Some((concrete, inner)) = cx.concrete(value.site, meta & !1) {
            if meta & 1 == 0 {
                let size = cx.schema.sites[inner].size;
                if size <= value.bytes.len() as u64 {
                    cx.value(inner, value.part(0, size), value.weight);
                }
            } else if let Some(block) = cx.block_at(ptr) {
                cx.boxed(block, value.site, inner, Some(concrete));
            }
        }
        false
    }

    fn element(&self, schema: &Schema<'_>, concrete: Option<TypeId>) -> Option<(Text, u64)> {
        Some(schema.concrete(concrete))
    }
}
