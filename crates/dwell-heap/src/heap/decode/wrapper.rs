//! Locks and other wrappers of crates around one value. What they contain belongs to the field that has them, as with those of
//! std.

use crate::debuginfo::{Kind, TypeId};
use crate::heap::walk::{Decoded, Family, Part, Parts, Schema, SiteId};
use dwell_model::Edge;
use std::rc::Rc;

pub(super) const FAMILY: Family = Family::new(&[
    ("lock_api::mutex::Mutex", data),
    ("lock_api::rwlock::RwLock", data),
    ("lock_api::remutex::ReentrantMutex", data),
    ("async_lock::mutex::Mutex", data),
    ("async_lock::rwlock::RwLock", value),
    ("tokio::sync::mutex::Mutex", c),
    ("tokio::sync::rwlock::RwLock", c),
    ("crossbeam_utils::cache_padded::CachePadded", value),
    ("dashmap::DashMap", shards),
    ("dashmap::set::DashSet", inner),
    ("dashmap::util::SharedValue", value),
]);

fn data(schema: &mut Schema<'_>, ty: TypeId, site: SiteId) -> Decoded {
    field(schema, ty, site, "data")
}

fn value(schema: &mut Schema<'_>, ty: TypeId, site: SiteId) -> Decoded {
    field(schema, ty, site, "value")
}

fn c(schema: &mut Schema<'_>, ty: TypeId, site: SiteId) -> Decoded {
    field(schema, ty, site, "c")
}

fn shards(schema: &mut Schema<'_>, ty: TypeId, site: SiteId) -> Decoded {
    field(schema, ty, site, "shards")
}

fn inner(schema: &mut Schema<'_>, ty: TypeId, site: SiteId) -> Decoded {
    field(schema, ty, site, "inner")
}

fn field(schema: &mut Schema<'_>, ty: TypeId, site: SiteId, name: &str) -> Decoded {
    let Kind::Struct(fields) = &schema.get(ty).kind else { return None };
    let field = fields.iter().find(|field| &*field.name == name)?;
    let part = Part { at: field.offset, site: schema.part(field.ty, site, Edge::Inner) };
    Some(Rc::new(Parts { parts: vec![part], is_tuple: false }))
}
