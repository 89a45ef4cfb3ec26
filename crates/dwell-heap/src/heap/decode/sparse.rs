//! `dwell::Sparse<T>`: an optional box.

use crate::debuginfo::{Text, TypeId};
use crate::heap::walk::{Decoded, Decoder, Family, InModel, Schema, SiteId, Value, Walk, named};
use dwell_model::{Edge, Holder, Shape};
use std::rc::Rc;

pub(super) const FAMILY: Family = Family::new(&[("dwell::sparse::Sparse", recognise)]);

#[derive(Debug)]
struct Sparse {
    ptr: u64,
    value: SiteId,
}

fn recognise(schema: &mut Schema<'_>, ty: TypeId, site: SiteId) -> Decoded {
    let ptr = named(schema, ty, "ptr")?;
    let value = schema.param(ty, "T")?;
    Some(Rc::new(Sparse { ptr, value: schema.part(value, site, Edge::Pointee) }))
}

impl Decoder for Sparse {
    fn read(&self, cx: &mut Walk<'_, '_>, value: Value<'_>) -> bool {
        let Some(block) = value.word(self.ptr).and_then(|ptr| cx.block_at(ptr)) else { return true };
        cx.boxed(block, value.site, self.value, None);
        false
    }

    fn element(&self, schema: &Schema<'_>, _: Option<TypeId>) -> Option<(Text, u64)> {
        Some(schema.element(self.value))
    }

    fn shape(&self, _: &InModel<'_, '_>) -> Shape {
        Shape::Pointer(Holder::Sparse, self.value)
    }
}
