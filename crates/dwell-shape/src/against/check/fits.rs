//! Which values a type takes.

use super::super::data::{Object, objects, words};
use super::super::items::{Enum, Shape, Struct, Tagging, Variant};
use super::super::types::Ty;
use super::{Check, range};
use crate::schema::{Kind, Slot};

/// The levels of types inside each other that are looked at to choose the variant of an untagged enum.
pub(super) const DEPTH: usize = 4;

impl Check<'_, '_> {
    pub(super) fn takes_null(&self, of: &Ty) -> bool {
        self.takes_null_within(of, DEPTH)
    }

    /// Like [`takes_null`](Self::takes_null), down to a depth.
    pub(super) fn takes_null_within(&self, of: &Ty, depth: usize) -> bool {
        let Some(depth) = depth.checked_sub(1) else { return false };
        match of {
            Ty::Option(_) | Ty::Value | Ty::Unit | Ty::Unknown(_) => true,
            Ty::Boxed(inner, _) => self.takes_null_within(inner, depth),
            Ty::Named(id) => {
                let def = &self.types.defs[*id];
                match &def.item.shape {
                    _ if def.item.is_opaque => true,
                    Shape::Struct(of) if of.is_transparent => {
                        def.parts[0].iter().all(|of| self.takes_null_within(of, depth))
                    }
                    Shape::Enum(Enum { tagging: Tagging::Untagged, variants }) => {
                        variants.iter().zip(&def.parts).any(|(variant, parts)| match &parts[..] {
                            [] => !variant.content.is_named,
                            [only] => !variant.content.is_named && self.takes_null_within(only, depth),
                            _ => false,
                        })
                    }
                    _ => false,
                }
            }
            _ => false,
        }
    }

    /// Returns the JSON type that a type wants.
    pub(super) fn wanted(&self, of: &Ty) -> String {
        match of {
            Ty::Unit => "null".into(),
            Ty::Bool => "a boolean".into(),
            Ty::Char => "one character".into(),
            Ty::Int { bits, signed } => format!("an integer (`{}{bits}`)", if *signed { 'i' } else { 'u' }),
            Ty::Float { .. } | Ty::Number => "a number".into(),
            Ty::String | Ty::BoxStr(_) | Ty::ThinStr | Ty::Borrowed => "a string".into(),
            Ty::Seq(..) | Ty::Array(..) | Ty::Tuple(_) => "an array".into(),
            Ty::Map(..) => "an object".into(),
            Ty::Named(id) => format!("`{}`", self.types.defs[*id].name),
            Ty::Option(inner) | Ty::Boxed(inner, _) => self.wanted(inner),
            Ty::Value => "any value".into(),
            Ty::Unknown(name) => format!("`{name}`"),
        }
    }

    /// Returns whether a type takes all values of a position, looking `depth` levels into it.
    pub(super) fn fits(&self, of: &Ty, slot: &Slot, depth: usize) -> bool {
        if (slot.nulls > 0 && !self.takes_null(of)) || depth == 0 {
            return depth == 0;
        }
        match (of, &slot.kind) {
            (Ty::Option(inner) | Ty::Boxed(inner, _), _) => {
                let slot = Slot { nulls: 0, ..slot.clone() };
                self.fits(inner, &slot, depth)
            }
            (_, Kind::Mixed { alternatives }) => {
                matches!(of, Ty::Value | Ty::Unknown(_)) || alternatives.iter().all(|slot| self.fits(of, slot, depth))
            }
            (Ty::Value | Ty::Unknown(_), _)
            | (_, Kind::Never | Kind::Any(_))
            | (Ty::Bool, Kind::Bool { .. })
            | (Ty::Number | Ty::Float { .. }, Kind::Integer { .. } | Kind::Float { .. })
            | (Ty::String | Ty::BoxStr(_) | Ty::ThinStr | Ty::Borrowed, Kind::Text(_) | Kind::Keyword { .. }) => true,
            (Ty::Int { bits, signed }, Kind::Integer { min, max }) => {
                let (low, high) = range(*bits, *signed);
                low <= *min && *max <= high
            }
            (Ty::Seq(_, element), Kind::Seq(data)) => self.fits(element, &data.element, depth - 1),
            (Ty::Seq(_, element), Kind::Tuple { positions }) => {
                positions.iter().all(|slot| self.fits(element, slot, depth - 1))
            }
            (Ty::Array(_, length), Kind::Seq(data)) => data.lengths.one() == Some(*length),
            (Ty::Tuple(all), Kind::Tuple { positions }) => all.len() == positions.len(),
            (Ty::Tuple(all), Kind::Seq(data)) => data.lengths.one() == Some(all.len() as u64),
            (Ty::Map(_, value), Kind::Map(data)) => self.fits(value, &data.value, depth - 1),
            (Ty::Map(_, value), Kind::Record { .. } | Kind::Union { .. }) => {
                let (all, units) = objects(self.schema, slot);
                let of_all =
                    |object: &Object<'_>| object.fields.iter().all(|(_, slot)| self.fits(value, slot, depth - 1));
                units.is_empty() && all.iter().all(of_all)
            }
            (Ty::Named(id), _) => {
                let def = &self.types.defs[*id];
                match &def.item.shape {
                    _ if def.item.is_opaque => true,
                    Shape::Struct(of) if of.is_named && !of.is_transparent => {
                        self.fits_fields(of, &def.parts[0], slot, depth)
                    }
                    Shape::Struct(_) => def.parts[0].first().is_some_and(|of| self.fits(of, slot, depth - 1)),
                    Shape::Enum(of) => self.fits_enum(of, &def.parts, slot, depth),
                    Shape::Alias(_) => false,
                }
            }
            _ => false,
        }
    }

    /// Returns whether the content of a variant takes all values of a position.
    pub(super) fn fits_variant(&self, variant: &Variant, parts: &[Ty], slot: &Slot) -> bool {
        match parts {
            _ if variant.is_skipped => false,
            _ if variant.is_opaque => true,
            _ if variant.content.is_named => self.fits_fields(&variant.content, parts, slot, DEPTH),
            [] => false,
            [only] => self.fits(only, slot, DEPTH),
            all => match &slot.kind {
                Kind::Tuple { positions } => positions.len() == all.len(),
                Kind::Seq(seq) => seq.lengths.one() == Some(all.len() as u64),
                _ => false,
            },
        }
    }

    pub(super) fn fits_fields(&self, of: &Struct, parts: &[Ty], slot: &Slot, depth: usize) -> bool {
        let (all, units) = objects(self.schema, slot);
        let fits = |object: &Object<'_>| {
            let known = |key: &str| of.fields.iter().any(|field| field.key == key);
            let has_flat = of.fields.iter().any(|field| field.is_flat);
            let unknown = of.denies_unknown && !has_flat && object.fields.iter().any(|(key, _)| !known(key));
            !unknown
                && of.fields.iter().zip(parts).filter(|(field, _)| !field.is_flat && !field.is_skipped).all(
                    |(field, ty)| {
                        if object.tag.is_some_and(|(tag, _)| tag == field.key) {
                            return true;
                        }
                        match object.fields.iter().find(|(key, _)| *key == field.key) {
                            Some((_, slot)) => {
                                let may_lack = field.has_default || matches!(ty, Ty::Option(_));
                                (may_lack || slot.count == object.of.instances)
                                    && (field.is_opaque || self.fits(ty, slot, depth - 1))
                            }
                            None => field.has_default || matches!(ty, Ty::Option(_)),
                        }
                    },
                )
        };
        units.is_empty() && !all.is_empty() && all.iter().all(fits)
    }

    pub(super) fn fits_enum(&self, of: &Enum, parts: &[Vec<Ty>], slot: &Slot, depth: usize) -> bool {
        let has = |word: &str| of.variants.iter().any(|variant| variant.has_tag(word) || variant.is_other);
        let (all, units) = objects(self.schema, slot);
        match &of.tagging {
            Tagging::Untagged => of.variants.iter().zip(parts).any(|(variant, parts)| match &parts[..] {
                _ if variant.content.is_named => self.fits_fields(&variant.content, parts, slot, depth - 1),
                [only] => self.fits(only, slot, depth - 1),
                _ => false,
            }),
            Tagging::External if matches!(slot.kind, Kind::Text(_) | Kind::Keyword { .. }) => {
                words(self.schema, slot).is_some_and(|words| words.iter().all(|(word, _)| has(word)))
            }
            Tagging::External => {
                (!all.is_empty() || !units.is_empty())
                    && units.iter().all(|(word, _)| has(word))
                    && all.iter().flat_map(|object| &object.fields).all(|(key, _)| has(key))
            }
            Tagging::Internal(tag) | Tagging::Adjacent(tag, _) => {
                let of_all = |object: &Object<'_>| {
                    object.tags(self.schema, tag).is_some_and(|tags| tags.iter().all(|(word, _)| has(word)))
                };
                units.is_empty() && !all.is_empty() && all.iter().all(of_all)
            }
        }
    }
}
