//! Decoders of types without a family, by their kind in the debug info: structs, enums, arrays, pointers.

use super::{
    Decoder, DefId, Holds, InModel, Meta, Part, Schema, SiteId, Start, TagDecode, Use, Value, Variant, WORD, Walk, word,
};
use crate::debuginfo::{Text, Type, TypeId};
use dwell_model::{Holder, Shape};
use std::rc::Rc;

/// A type without pointers. A value of zero bytes is empty.
#[derive(Debug)]
pub(crate) struct Plain;

impl Decoder for Plain {
    fn read(&self, cx: &mut Walk<'_, '_>, value: Value<'_>) -> bool {
        cx.integers(value.site, value.bytes);
        value.bytes.iter().all(|byte| *byte == 0)
    }

    fn holds(&self) -> Holds {
        Holds::Plain
    }
}

/// Bytes that are not decoded.
#[derive(Debug)]
pub(crate) struct Opaque;

impl Decoder for Opaque {
    fn read(&self, _: &mut Walk<'_, '_>, _: Value<'_>) -> bool {
        false
    }

    fn holds(&self) -> Holds {
        Holds::Opaque
    }
}

/// A union, or a buffer for values of any type: nothing tells what it holds. It is searched for pointers.
#[derive(Debug)]
struct Searched;

impl Decoder for Searched {
    fn read(&self, cx: &mut Walk<'_, '_>, value: Value<'_>) -> bool {
        cx.search(value.site, value.bytes);
        false
    }
}

/// Returns the decoder of a type whose contents are unknown.
pub(crate) fn searched(definition: &Type) -> Rc<dyn Decoder> {
    // A pointer does not fit, or lies across two values.
    if definition.size < WORD || definition.align < WORD { Rc::new(Opaque) } else { Rc::new(Searched) }
}

/// A struct or enum of a crate.
#[derive(Debug)]
pub(crate) struct Declared(pub(crate) DefId);

impl Decoder for Declared {
    fn read(&self, cx: &mut Walk<'_, '_>, value: Value<'_>) -> bool {
        let def = self.0;
        cx.schema.prepare(def);
        let definition = &cx.schema.defs[def];
        let (is_enum, number) = (definition.is_enum, definition.variants.len());
        let index = match &definition.tag {
            Some(tag) => tag.variant(value.bytes),
            None => Some(0),
        };
        let Some(index) = index.filter(|index| *index < number) else {
            return if number == 0 { true } else { cx.invalid(value) };
        };
        cx.count_def(def, is_enum.then_some((index, number)), value);
        let fields = cx.schema.defs[def].variants[index].fields.len();
        let mut is_empty = true;
        for field in 0..fields {
            let field = &cx.schema.defs[def].variants[index].fields[field];
            let (part, is_moved) = (Part { at: field.at, site: field.site }, field.is_moved);
            if is_moved {
                cx.perhaps(&part, value);
            } else {
                is_empty &= cx.part(&part, value);
            }
        }
        // Most enums have their first variant as default.
        is_empty && (!is_enum || index == 0 && fields == 0)
    }

    fn is_valid(&self, cx: &mut Walk<'_, '_>, bytes: &[u8], depth: u32) -> bool {
        cx.schema.prepare(self.0);
        let definition = &cx.schema.defs[self.0];
        let index = definition.tag.as_ref().map_or(Some(0), |tag| tag.variant(bytes));
        let Some(variant) = index.and_then(|index| definition.variants.get(index)) else {
            return definition.variants.is_empty();
        };
        let parts: Vec<_> = variant
            .fields
            .iter()
            .filter(|field| !field.is_moved)
            .map(|field| Part { at: field.at, site: field.site })
            .collect();
        cx.are_parts_valid(&parts, bytes, depth)
    }

    fn shape(&self, model: &InModel<'_, '_>) -> Shape {
        if model.schema.defs[self.0].is_ready { Shape::Def(self.0) } else { Shape::Leaf }
    }

    fn holds(&self) -> Holds {
        Holds::Def(self.0)
    }
}

/// An `Option`, or another enum of std.
#[derive(Debug)]
pub(crate) struct StdEnum {
    pub(crate) tag: Option<TagDecode>,
    pub(crate) variants: Vec<Variant>,
    pub(crate) is_option: bool,
}

impl StdEnum {
    fn variant(&self, bytes: &[u8]) -> Option<(usize, &Variant)> {
        let index = match &self.tag {
            Some(tag) => tag.variant(bytes)?,
            None => 0,
        };
        Some((index, self.variants.get(index)?))
    }
}

impl Decoder for StdEnum {
    fn read(&self, cx: &mut Walk<'_, '_>, value: Value<'_>) -> bool {
        let Some((index, variant)) = self.variant(value.bytes) else { return cx.invalid(value) };
        cx.count_variant(index, self.variants.len(), value);
        for part in &variant.parts {
            cx.part(part, value);
        }
        variant.parts.is_empty()
    }

    fn is_valid(&self, cx: &mut Walk<'_, '_>, bytes: &[u8], depth: u32) -> bool {
        self.variant(bytes).is_some_and(|(_, variant)| cx.are_parts_valid(&variant.parts, bytes, depth))
    }

    fn shape(&self, _: &InModel<'_, '_>) -> Shape {
        let mut parts = self.variants.iter().flat_map(|variant| &variant.parts);
        match (parts.next(), parts.next()) {
            (Some(part), None) => Shape::Optional { some: part.site, is_option: self.is_option },
            _ => Shape::Leaf,
        }
    }

    fn holds(&self) -> Holds {
        Holds::Enum { is_option: self.is_option }
    }

    fn variants(&self) -> &[Variant] {
        &self.variants
    }
}

/// A tuple, or a struct of std with parts to decode.
#[derive(Debug)]
pub(crate) struct Parts {
    pub(crate) parts: Vec<Part>,
    pub(crate) is_tuple: bool,
}

impl Decoder for Parts {
    fn read(&self, cx: &mut Walk<'_, '_>, value: Value<'_>) -> bool {
        let mut is_empty = true;
        for part in &self.parts {
            is_empty &= cx.part(part, value);
        }
        is_empty
    }

    fn is_valid(&self, cx: &mut Walk<'_, '_>, bytes: &[u8], depth: u32) -> bool {
        cx.are_parts_valid(&self.parts, bytes, depth)
    }

    fn shape(&self, model: &InModel<'_, '_>) -> Shape {
        if self.is_tuple {
            return Shape::Tuple(self.parts.iter().map(|part| part.site).collect());
        }
        let is_plain = |part: &&Part| model.schema.sites[part.site].decoder.holds() == Holds::Plain;
        let mut parts = self.parts.iter().filter(|part| !is_plain(part));
        match (parts.next(), parts.next()) {
            (Some(part), None) => Shape::Wrapper(part.site),
            _ => Shape::Leaf,
        }
    }

    fn holds(&self) -> Holds {
        if self.is_tuple { Holds::Other } else { Holds::Wrapper }
    }

    fn parts(&self) -> &[Part] {
        &self.parts
    }
}

/// An array of values with pointers.
#[derive(Debug)]
pub(crate) struct Array {
    pub(crate) element: SiteId,
    pub(crate) stride: u64,
    pub(crate) count: u64,
}

impl Decoder for Array {
    fn read(&self, cx: &mut Walk<'_, '_>, value: Value<'_>) -> bool {
        cx.inline(self.element, value, 0, self.stride, self.count)
    }

    fn shape(&self, _: &InModel<'_, '_>) -> Shape {
        Shape::Array(self.element, self.count)
    }

    fn holds(&self) -> Holds {
        Holds::Array(self.count)
    }
}

/// Adjacent values in a block, of which the header is unknown.
#[derive(Debug)]
pub(crate) struct Slots {
    pub(crate) element: SiteId,
    pub(crate) stride: u64,
}

impl Decoder for Slots {
    fn read(&self, _: &mut Walk<'_, '_>, _: Value<'_>) -> bool {
        false
    }

    fn start(&self, cx: &mut Walk<'_, '_>, block: usize, _: u8, start: Start) {
        let size = cx.block(block).size;
        let capacity = size.checked_div(self.stride).unwrap_or(0);
        let (name, _) = cx.schema.element(self.element);
        if let Some(len) = cx.known_len(block) {
            let unused = size.saturating_sub(len.saturating_mul(self.stride));
            let used = Use { len, capacity, unused, is_unknown: false };
            if cx.claim_start(block, start, (name, self.stride), used) {
                cx.run(block, self.element, 0, self.stride, len);
            }
            return;
        }
        // The header is unknown, and so is the number of elements in use.
        cx.claim_unknown(block, start, (name, self.stride), capacity);
        if let Some(len) = cx.guessed(block) {
            cx.run(block, self.element, 0, self.stride, len);
        }
    }

    fn slots(&self) -> Option<(SiteId, u64)> {
        Some((self.element, self.stride))
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

    fn holds(&self) -> Holds {
        Holds::Elements
    }
}

/// A raw pointer or a reference, a weak owner of its target.
#[derive(Debug)]
pub(crate) struct Pointer {
    pub(crate) pointee: Option<TypeId>,
    pub(crate) meta: Meta,
    /// Whether it is a `&str`.
    pub(crate) is_text: bool,
}

impl Decoder for Pointer {
    fn read(&self, cx: &mut Walk<'_, '_>, value: Value<'_>) -> bool {
        let Some(ptr) = value.word(0) else { return false };
        let (pointee, len) = match self.meta {
            Meta::None => (self.pointee, None),
            Meta::Length(at) => (self.pointee, value.word(at)),
            Meta::Vtable(at) => (value.word(at).and_then(|table| cx.of_vtable(table)), None),
        };
        cx.points_to(value.site, ptr, pointee, len)
    }

    fn text(&self, bytes: &[u8]) -> Option<(u64, u64)> {
        let Meta::Length(at) = self.meta else { return None };
        Some((word(bytes, 0)?, word(bytes, at)?)).filter(|_| self.is_text)
    }
}
