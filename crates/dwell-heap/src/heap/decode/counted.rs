//! `Rc`, `Arc` and their `Weak`: the value comes after two counts.

use crate::debuginfo::{Kind, Text, TypeId};
use crate::heap::walk::{BlockType, Blocks, CallStack, Decoded, Decoder, Family, InModel, Schema, SiteId, Start, Use, Value, WORD, Walk, argument, fields, find, first_element, head, is_text, named, pointee, wide, word};
use dwell_model::{Edge, Holder, Shape};
use std::rc::Rc;

pub(super) const FAMILY: Family = Family {
    of_frame,
    content,
    blocks: Some(Blocks { name: SLICE, site: slice_block }),
    ..Family::new(&[
        ("alloc::rc::Rc", counted),
        ("alloc::sync::Arc", counted),
        ("alloc::rc::Weak", weak),
        ("alloc::sync::Weak", weak),
    ])
};

const SLICE: &str = "counted slice";
/// The bytes of the two counts.
const COUNTS: u64 = 2 * WORD;

#[derive(Debug)]
struct Counted {
    ptr: u64,
    is_weak: bool,
    target: Target,
}

/// The value after the counts.
#[derive(Debug)]
enum Target {
    Sized { value: SiteId, at: u64, block: u64 },
    Slice { element: SiteId, stride: u64, at: u64 },
    Text,
    Dyn,
}

fn counted(schema: &mut Schema<'_>, ty: TypeId, site: SiteId) -> Decoded {
    recognise(schema, ty, site, false)
}

fn weak(schema: &mut Schema<'_>, ty: TypeId, site: SiteId) -> Decoded {
    recognise(schema, ty, site, true)
}

fn recognise(schema: &mut Schema<'_>, ty: TypeId, site: SiteId, is_weak: bool) -> Decoded {
    let ptr = named(schema, ty, "ptr")?;
    let wide_pointer =
        find(schema, ty, |field| matches!(schema.get(field.ty).kind, Kind::WidePointer { .. })).map(|found| found.1.ty);
    let argument = schema.get(ty).path.split_once('<').map_or("", |(_, rest)| rest);
    let target = match wide_pointer {
        None => {
            let inner = pointee(schema, ty)?;
            let value = fields(schema, inner).into_iter().find(|field| matches!(&*field.name, "value" | "data"))?;
            let block = schema.get(inner).size;
            Target::Sized { value: schema.part(value.ty, site, Edge::Pointee), at: value.offset, block }
        }
        Some(ty) if wide(schema, ty).is_none() => Target::Dyn,
        Some(_) if is_text(argument) => Target::Text,
        Some(_) => {
            let element = schema.by_path(first_element(argument)?, ty)?;
            let definition = schema.get(element);
            let (stride, at) = (definition.size, COUNTS.max(definition.align));
            Target::Slice { element: schema.part(element, site, Edge::Element), stride, at }
        }
    };
    Some(Rc::new(Counted { ptr, is_weak, target }))
}

/// The function of `Rc` and `Arc` that allocates a block for a copy of a value, in `make_mut` and others.
const FOR_LAYOUT: &str = "allocate_for_layout<";

fn of_frame(stack: &CallStack<'_, '_>) -> Option<BlockType> {
    // `Rc::new` calls `Box::new`, whose argument is the whole block.
    for (module, inner) in [("alloc::rc::", "alloc::rc::RcInner"), ("alloc::sync::", "alloc::sync::ArcInner")] {
        if stack.starts(&[module]) && stack.frame()?.path.contains(FOR_LAYOUT) {
            let value = stack.schema.get(stack.param()?);
            // The value of a slice, a text or a trait object has no type of its own.
            let ty = stack.schema.by_path(&format!("{inner}<{}>", value.path), stack.param()?).filter(|_| value.size > 0)?;
            return Some(BlockType::Value(ty));
        }
    }
    if !stack.starts(&["alloc::rc::", "alloc::sync::"]) || !stack.frame()?.path.contains("slice") {
        return None;
    }
    let ty = stack.param()?;
    let is_global = head(&stack.schema.get(ty).path) == "alloc::alloc::Global";
    (!is_global).then_some(BlockType::Own(SLICE, ty, 0))
}

fn content(ty: BlockType, stack: &CallStack<'_, '_>) -> Option<String> {
    match ty {
        BlockType::Own(name, element, _) if name == SLICE => {
            let holder = if stack.has("alloc::sync::") { "Arc" } else { "Rc" };
            Some(format!("{holder}<[{}]>", stack.schema.get(element).name))
        }
        BlockType::Value(value) => {
            let definition = stack.schema.get(value);
            let holder = match head(&definition.path) {
                "alloc::rc::RcInner" | "alloc::rc::RcBox" => "Rc",
                "alloc::sync::ArcInner" => "Arc",
                _ => return None,
            };
            Some(format!("{holder}<{}>", argument(&definition.name)))
        }
        _ => None,
    }
}

impl Decoder for Counted {
    fn read(&self, cx: &mut Walk<'_, '_>, value: Value<'_>) -> bool {
        self.follow(cx, value);
        false
    }

    fn is_valid(&self, cx: &mut Walk<'_, '_>, bytes: &[u8], _: u32) -> bool {
        let Some(ptr) = word(bytes, self.ptr) else { return false };
        // A `Weak` may have no block.
        self.is_weak
            || cx.block_at(ptr).is_some_and(|block| cx.block(block).size >= COUNTS)
                && cx.word(ptr).is_some_and(|strong| strong > 0)
    }

    fn element(&self, schema: &Schema<'_>, concrete: Option<TypeId>) -> Option<(Text, u64)> {
        Some(match self.target {
            Target::Sized { value, .. } => schema.element(value),
            Target::Slice { element, .. } => schema.element(element),
            Target::Text => ("u8".into(), 1),
            Target::Dyn => schema.concrete(concrete),
        })
    }

    fn text(&self, bytes: &[u8]) -> Option<(u64, u64)> {
        let ptr = word(bytes, self.ptr)?.checked_add(COUNTS)?;
        matches!(self.target, Target::Text).then_some((ptr, word(bytes, self.ptr.checked_add(WORD)?)?))
    }

    fn shape(&self, _: &InModel<'_, '_>) -> Shape {
        match self.target {
            _ if self.is_weak => Shape::Leaf,
            Target::Sized { value, .. } => Shape::Pointer(Holder::Counted, value),
            Target::Slice { element, .. } => Shape::Sequence(Holder::Other, element),
            Target::Text | Target::Dyn => Shape::Leaf,
        }
    }
}

impl Counted {
    /// Claims the block and queues its value. Returns `None` if there is none.
    fn follow(&self, cx: &mut Walk<'_, '_>, value: Value<'_>) -> Option<()> {
        let site = value.site;
        let meta = value.word(self.ptr.saturating_add(WORD)).unwrap_or(0);
        let ptr = value.word(self.ptr)?;
        let block = cx.block_at(ptr)?;
        let size = cx.block(block).size;
        let (strong, weak) = (cx.word(ptr)?, cx.word(ptr.saturating_add(WORD))?);
        if size < COUNTS {
            return None;
        }
        if self.is_weak {
            // With a strong count of 0, only a `Weak` keeps the block. Otherwise the `Rc`s own it.
            if strong == 0 {
                cx.claim(block, site, Use { unused: size, ..Use::default() });
            }
            return None;
        }
        if strong == 0 {
            return None;
        }
        cx.strong(block, strong);
        // The first value's site, offset and stride; the number of values; the concrete type.
        let (run, len, concrete) = match self.target {
            Target::Sized { value, at, block: whole } => {
                if !cx.fits(block, whole) {
                    return None;
                }
                (Some((value, at, cx.schema.sites[value].size)), 1, None)
            }
            Target::Slice { element, stride, at } => {
                let end = meta.checked_mul(stride)?.checked_add(at)?;
                if !cx.fits(block, rounded(end)) {
                    return None;
                }
                (Some((element, at, stride)), meta, None)
            }
            Target::Text => {
                if !cx.fits(block, rounded(COUNTS.checked_add(meta)?)) {
                    return None;
                }
                (None, meta, None)
            }
            Target::Dyn => {
                let found = cx.concrete(site, meta).and_then(|(concrete, inner)| {
                    let pointee = &cx.schema.sites[inner];
                    let at = COUNTS.next_multiple_of(pointee.align.max(1));
                    (at.checked_add(pointee.size)? <= size).then_some(((inner, at, pointee.size), concrete))
                });
                (found.map(|found| found.0), 1, found.map(|found| found.1))
            }
        };
        let used = Use { len, capacity: len, ..Use::default() };
        if cx.claim_of(block, site, concrete, used) {
            let end = match (run, &self.target) {
                (_, Target::Sized { block, .. }) => *block,
                (Some((inner, at, stride)), _) => {
                    let end = at.saturating_add(len.saturating_mul(stride));
                    end.checked_next_multiple_of(cx.schema.sites[inner].align.max(WORD)).unwrap_or(end)
                }
                (None, Target::Text) => rounded(COUNTS.saturating_add(len)),
                (None, _) => 0,
            };
            cx.is_requested(block, end);
            if strong == 1 && weak == 1 {
                cx.count_unshared(block, site);
            }
            match (run, &self.target) {
                (Some((inner, at, stride)), _) => cx.run(block, inner, at, stride, len),
                (None, Target::Text) => cx.text(block, site, COUNTS, len),
                (None, _) => {}
            }
        }
        Some(())
    }
}

/// Returns the size of a block: its counts are words.
fn rounded(end: u64) -> u64 {
    end.checked_next_multiple_of(WORD).unwrap_or(end)
}

/// The block of an `Rc<[T]>` without a known owner.
#[derive(Debug)]
struct SliceBlock {
    element: SiteId,
    stride: u64,
}

fn slice_block(schema: &mut Schema<'_>, ty: TypeId, content: &str) -> SiteId {
    let stride = schema.get(ty).size;
    schema.made(content, content, |schema, site| {
        Rc::new(SliceBlock { element: schema.part(ty, site, Edge::Element), stride })
    })
}

impl Decoder for SliceBlock {
    fn read(&self, _: &mut Walk<'_, '_>, _: Value<'_>) -> bool {
        false
    }

    fn start(&self, cx: &mut Walk<'_, '_>, block: usize, _: u8, start: Start) {
        let at = COUNTS.max(cx.schema.sites[self.element].align);
        let count = cx.block(block).size.saturating_sub(at).checked_div(self.stride).unwrap_or(0);
        let used = Use { len: count, capacity: count, ..Use::default() };
        let (name, _) = cx.schema.element(self.element);
        if cx.claim_start(block, start, (name, self.stride), used) {
            cx.run(block, self.element, at, self.stride, count);
        }
    }

    fn element(&self, schema: &Schema<'_>, _: Option<TypeId>) -> Option<(Text, u64)> {
        Some(schema.element(self.element))
    }

    fn shape(&self, model: &InModel<'_, '_>) -> Shape {
        if model.is_met { Shape::Sequence(Holder::LikeGrowable, self.element) } else { Shape::Leaf }
    }

    fn shape_of_block(&self) -> Option<Shape> {
        Some(Shape::Sequence(Holder::LikeGrowable, self.element))
    }
}
