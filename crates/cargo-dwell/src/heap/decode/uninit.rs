//! Types of std whose bytes are no value: `PhantomData<T>` does not store a `T`, a `MaybeUninit<T>` may not, and a `Path`
//! has no size.

use crate::debuginfo::TypeId;
use crate::heap::decoder::{Decoded, Family};
use crate::heap::structure::{Opaque, Plain};
use crate::heap::types::{Schema, SiteId};
use std::rc::Rc;

pub(super) const FAMILY: Family = Family::of(&[
    ("core::marker::PhantomData", nothing),
    ("core::mem::maybe_uninit::MaybeUninit", opaque),
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
