//! `bytes::Bytes` and `BytesMut`. The handle owns its buffer directly or through a counted block.

use crate::debuginfo::{Text, TypeId};
use crate::heap::walk::{BlockType, Decoded, Decoder, Family, Schema, SiteId, Use, Value, Walk, head, named, vec_header};
use std::rc::Rc;

pub(super) const FAMILY: Family =
    Family::new(&[("bytes::bytes::Bytes", shared), ("bytes::bytes_mut::BytesMut", unique)]);

#[derive(Debug)]
struct Bytes {
    ptr: u64,
    len: u64,
    data: u64,
    /// `None` for `Bytes`, which cannot grow.
    cap: Option<u64>,
    /// The counted blocks that such a handle may have.
    shared: Vec<Shared>,
}

/// A counted block, and where it has the address and the size of its buffer.
#[derive(Debug)]
struct Shared {
    ty: TypeId,
    buffer: u64,
    size: u64,
}

fn shared(schema: &mut Schema<'_>, ty: TypeId, _: SiteId) -> Decoded {
    named(schema, ty, "vtable")?;
    recognise(schema, ty, false)
}

fn unique(schema: &mut Schema<'_>, ty: TypeId, _: SiteId) -> Decoded {
    named(schema, ty, "cap")?;
    recognise(schema, ty, true)
}

fn recognise(schema: &Schema<'_>, ty: TypeId, is_mut: bool) -> Decoded {
    let at = |name: &str| named(schema, ty, name);
    let cap = if is_mut { Some(at("cap")?) } else { None };
    let paths = ["bytes::bytes_mut::Shared", "bytes::bytes::Shared"];
    let shared = paths.into_iter().filter_map(|path| {
        let ty = schema.by_path(path, ty)?;
        let (buffer, size) = match vec_header(schema, ty) {
            Some(header) => (header.ptr, header.cap?),
            None => (named(schema, ty, "buf")?, named(schema, ty, "cap")?),
        };
        Some(Shared { ty, buffer, size })
    });
    Some(Rc::new(Bytes { ptr: at("ptr")?, len: at("len")?, data: at("data")?, cap, shared: shared.collect() }))
}

/// Returns the type inside a `MaybeUninit`; other types are returned as they are.
fn initialised(schema: &Schema<'_>, ty: TypeId) -> TypeId {
    match head(&schema.get(ty).path) {
        "core::mem::maybe_uninit::MaybeUninit" => schema.param(ty, "T").unwrap_or(ty),
        _ => ty,
    }
}

/// Claims a buffer that begins at `start`, of which the handle uses `len` bytes from `ptr` on. Returns `true` if it had no
/// owner.
fn buffer(cx: &mut Walk<'_, '_>, site: SiteId, start: Option<u64>, ptr: u64, len: u64) -> bool {
    let Some(start) = start else { return false };
    let Some(block) = cx.block_at(start) else { return false };
    let size = cx.block(block).size;
    let end = ptr.checked_sub(start).and_then(|from| from.checked_add(len));
    let used = Use { len, capacity: size, unused: size.saturating_sub(len), is_unknown: false };
    end.is_some_and(|end| end <= size) && cx.claim(block, site, used)
}

impl Bytes {
    /// Returns the type of a counted block that no call stack shows: its buffer has what the handle uses.
    fn shared_in(&self, cx: &mut Walk<'_, '_>, block: usize, ptr: u64, len: u64) -> Option<TypeId> {
        let start = cx.block(block).addr;
        let end = ptr.checked_add(len)?;
        let is_it = |layout: &&Shared| {
            let word = |cx: &mut Walk<'_, '_>, at: u64| cx.word(start.checked_add(at)?);
            let (Some(buffer), Some(size)) = (word(cx, layout.buffer), word(cx, layout.size)) else { return false };
            cx.fits(block, cx.schema.get(layout.ty).size)
                && cx.block_at(buffer).is_some_and(|buffer| cx.fits(buffer, size))
                && buffer <= ptr
                && buffer.checked_add(size).is_some_and(|last| end <= last)
        };
        self.shared.iter().find(is_it).map(|layout| layout.ty)
    }
}

impl Decoder for Bytes {
    fn read(&self, cx: &mut Walk<'_, '_>, value: Value<'_>) -> bool {
        let words = [self.ptr, self.len, self.data].map(|at| value.word(at));
        let [Some(ptr), Some(len), Some(data)] = words else { return true };
        let site = value.site;
        if self.cap.is_some() && data & 1 == 1 {
            // The buffer starts this many bytes before the pointer.
            buffer(cx, site, ptr.checked_sub(data >> 5), ptr, len);
            return len == 0;
        }
        for start in [data, data & !1] {
            let Some(block) = cx.block_at(start) else { continue };
            let shared = match cx.type_of(block) {
                Some(BlockType::Value(ty)) => Some(initialised(&cx.schema, ty)).filter(|ty| {
                    let definition = cx.schema.get(*ty);
                    head(&definition.path).starts_with("bytes::") && definition.size <= cx.block(block).size
                }),
                _ => None,
            };
            match shared.or_else(|| self.shared_in(cx, block, ptr, len)) {
                Some(ty) => {
                    let inner = cx.pointee(site, ty);
                    cx.boxed(block, site, inner, Some(ty));
                    // The spare capacity of a `BytesMut` is still to be filled.
                    let used = self.cap.and_then(|cap| value.word(cap)).unwrap_or(0).max(len);
                    if used > 0 {
                        cx.view(site, ptr, used);
                    }
                }
                None => {
                    if buffer(cx, site, Some(start), ptr, len) && self.cap.is_none() {
                        cx.pin(block, site, len);
                    }
                }
            }
            break;
        }
        len == 0
    }

    fn element(&self, schema: &Schema<'_>, concrete: Option<TypeId>) -> Option<(Text, u64)> {
        Some(concrete.map_or_else(|| ("u8".into(), 1), |concrete| schema.concrete(Some(concrete))))
    }
}
