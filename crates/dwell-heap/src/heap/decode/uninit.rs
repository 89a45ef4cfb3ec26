//! Types of std whose bytes may be no value: `PhantomData<T>` does not store a `T`, a `MaybeUninit<T>` may not, and a `Path`
//! has no size.

use crate::debuginfo::TypeId;
use crate::heap::walk::{Decoded, Decoder, Family, Holds, Opaque, Part, Plain, Schema, SiteId, Value, Walk, searched};
use dwell_model::Edge;
use std::rc::Rc;

pub(super) const FAMILY: Family = Family::new(&[
    ("core::marker::PhantomData", nothing),
    ("core::mem::maybe_uninit::MaybeUninit", uninit),
    ("std::path::Path", opaque),
]);

#[expect(clippy::unnecessary_wraps, reason = "a row of a table")]
fn nothing(_: &mut Schema<'_>, _: TypeId, _: SiteId) -> Decoded {
    Some(Rc::new(Plain))
}

#[expect(clippy::unnecessary_wraps, reason = "a row of a table")]
fn opaque(_: &mut Schema<'_>, _: TypeId, _: SiteId) -> Decoded {
    Some(Rc::new(Opaque))
}

/// The slot of a queue. Nothing tells whether it has a value, so the walk follows its pointers last.
#[derive(Debug)]
struct Uninit(Part);

#[expect(clippy::unnecessary_wraps, reason = "a row of a table")]
fn uninit(schema: &mut Schema<'_>, ty: TypeId, site: SiteId) -> Decoded {
    let value = schema.param(ty, "T").filter(|value| !schema.is_plain(*value, 0));
    // Words without a type: a buffer for values of any type.
    let Some(value) = value else { return Some(searched(schema.get(ty))) };
    let value = schema.part(value, site, Edge::Inner);
    Some(match schema.sites[value].decoder.holds() {
        Holds::Opaque | Holds::Plain => searched(schema.get(ty)),
        _ => Rc::new(Uninit(Part { at: 0, site: value })),
    })
}

impl Decoder for Uninit {
    fn read(&self, cx: &mut Walk<'_, '_>, value: Value<'_>) -> bool {
        cx.perhaps(&self.0, value);
        false
    }
}
