//! The slots of unbounded channels of std and crossbeam. Their state tells whether a message was written and not read.

use crate::debuginfo::TypeId;
use crate::heap::walk::{Decoded, Decoder, Family, Part, Schema, SiteId, Value, Walk, named};
use dwell_model::Edge;
use std::rc::Rc;

pub(super) const FAMILY: Family = Family::new(&[
    ("std::sync::mpmc::list::Slot", recognise),
    ("crossbeam_channel::flavors::list::Slot", recognise),
]);

/// The bits of a slot's state.
const WRITTEN: u64 = 1;
const READ: u64 = 2;

#[derive(Debug)]
struct Slot {
    state: u64,
    message: Part,
}

fn recognise(schema: &mut Schema<'_>, ty: TypeId, site: SiteId) -> Decoded {
    let (state, at) = (named(schema, ty, "state")?, named(schema, ty, "msg")?);
    let message = schema.param(ty, "T")?;
    Some(Rc::new(Slot { state, message: Part { at, site: schema.part(message, site, Edge::Inner) } }))
}

impl Decoder for Slot {
    fn read(&self, cx: &mut Walk<'_, '_>, value: Value<'_>) -> bool {
        let is_full = value.word(self.state).is_some_and(|state| state & (WRITTEN | READ) == WRITTEN);
        if is_full {
            cx.part(&self.message, value);
        }
        !is_full
    }
}
