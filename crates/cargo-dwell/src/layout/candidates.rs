//! The changes of one type that make it smaller: boxes around large fields of variants and large `Option` fields, lists without
//! a capacity, and another order of the fields of a `repr(C)` struct.

use super::holders::Holders;
use super::measure::Embedding;
use super::resize::{Part, Sizes, optional, variants};
use super::withheld::{Reason, Withheld};
use dwell_debuginfo::{Field, Kind, Program, Type, TypeId};
use dwell_model::layout::{self, Layout};
use dwell_output::units::count;
use dwell_source::{Edit, Item, Items};
use serde::{Deserialize, Serialize};
use std::collections::HashMap;

/// The least saving in bytes, unless it is an eighth of a larger type.
pub(super) const LEAST: u64 = 16;
/// A box must save memory even if this percentage of the values need it.
const BREAK_EVEN: u64 = 66;
/// The same for an enum with a variant that is known to be common, which needs no box.
const BREAK_EVEN_RARE: u64 = 33;
/// The least saving for each of several boxed variants, and the one that is enough for an enum of any size.
const LEAST_EACH: u64 = 32;
const MOST_EACH: u64 = 64;
/// The least saving of a box around fields that may mostly be present.
const MOST_GENERAL: u64 = 128;
/// The least size of an error that a box makes worth while: that of clippy's `result_large_err`.
const LARGE_ERROR: u64 = 128;
/// The number of variants that are boxed together.
const MOST_VARIANTS: usize = 16;
/// The number of fields of a variant that get a box each. More fields get one box.
const MOST_FIELDS: usize = 2;

/// The bytes that an allocator adds to a block.
pub(super) const HEADER: u64 = 16;

/// The kind of a change.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Change {
    /// Box the fields of large variants.
    #[default]
    BoxVariants,
    /// `Option<Box<T>>` for `Option<T>`.
    BoxOption,
    /// Keep the fields of an error in a box.
    BoxError,
    /// `Box<str>` for `String`, `Box<[T]>` for `Vec<T>`.
    BoxSlice,
    /// An index type that is never zero, so that an `Option` of it needs no tag.
    Niche,
    /// The `bool` fields as the bits of one integer.
    Flags,
    /// Order the fields of a `repr(C)` struct by alignment.
    Reorder,
}

/// A change with the numbers that decide on it.
#[derive(Debug)]
pub(super) struct Candidate {
    pub(super) kind: Change,
    pub(super) boxes: Vec<Part>,
    /// The bytes that each value saves.
    pub(super) saves: u64,
    /// The size of the type before the change.
    pub(super) size: u64,
    /// The layouts of all types that change.
    pub(super) after: HashMap<TypeId, Layout>,
    /// The bytes that go to the heap for a value that needs the box.
    pub(super) heap: u64,
    /// The variants or fields.
    pub(super) parts: Vec<String>,
    pub(super) how: String,
    /// Whether the names of the parts say that they are rare.
    pub(super) is_rare: bool,
    /// The least saving for which it is shown without a census.
    pub(super) least_shown: u64,
    /// Whether values of the types in the boxes are elsewhere too, so that they may be common here.
    pub(super) is_general: bool,
    /// The least percentage of values that may need the box.
    pub(super) least_even: u64,
    pub(super) edits: Vec<Edit>,
    /// Why it is not shown, if the type itself tells.
    pub(super) against: Option<Withheld>,
}

impl Candidate {
    /// Returns a change without boxes.
    pub(super) fn unboxed(kind: Change, size: u64, saves: u64) -> Self {
        Self {
            kind,
            boxes: Vec::new(),
            saves,
            size,
            after: HashMap::new(),
            heap: 0,
            parts: Vec::new(),
            how: String::new(),
            is_rare: false,
            least_shown: LEAST,
            is_general: false,
            least_even: 0,
            edits: Vec::new(),
            against: None,
        }
    }

    /// Returns the percentage of values that may need the box before it costs more memory than it saves.
    pub(super) fn break_even(&self) -> u64 {
        if self.heap == 0 { 100 } else { (self.saves * 100 / (self.heap + HEADER)).min(100) }
    }
}

/// What the changes of a type depend on.
#[derive(Clone, Copy, Debug)]
pub(super) struct Finder<'a, 'p> {
    pub(super) program: &'p Program,
    pub(super) embedding: &'a Embedding,
    pub(super) holders: &'a Holders,
    pub(super) sizes: &'a Sizes<'p>,
    pub(super) items: &'a Items,
    /// Whether a census counts the values.
    pub(super) is_counted: bool,
}

impl Finder<'_, '_> {
    /// Returns the changes of a type that save enough.
    pub(super) fn candidates(&self, id: TypeId, item: Option<&Item>) -> Vec<Candidate> {
        let ty = self.program.get(id);
        let found = match &ty.kind {
            Kind::Enum(_) => self.variants(id, ty, item),
            Kind::Struct(fields) => {
                let boxes = self.optional(id, ty, fields, item).into_iter().chain(self.error(id, ty, fields));
                let lists = self.slices(id, ty, fields, item).into_iter();
                let compact = lists.chain(self.niches(id, fields, item)).chain(self.flags(id, fields, item));
                boxes.chain(compact).chain(self.reordering(ty, fields, item)).collect()
            }
            _ => Vec::new(),
        };
        found
            .into_iter()
            .filter(|candidate| candidate.kind == Change::Flags || candidate.saves >= LEAST.max(candidate.size / 8))
            .collect()
    }

    pub(super) fn size(&self, id: TypeId) -> u64 {
        self.sizes.layout(id).size
    }

    /// Returns `true` if values of a type, or of that in an `Option`, are elements and targets elsewhere too.
    fn is_general(&self, id: TypeId) -> bool {
        self.holders.is_general(self.program, optional(self.program, id).unwrap_or(id))
    }

    /// The layout of a `Box`.
    fn pointer(&self) -> Layout {
        Layout::words_of(self.program.pointer_size, 1, 1)
    }

    /// Returns the least size of what a `Result` has instead of this error. `None` for a type that is no error, or smaller
    /// than what is worth a box.
    fn beside_error(&self, id: TypeId) -> Option<u64> {
        // A queue that is full returns what it cannot take.
        let is_error = || is_error(&self.program.get(id).name) || !self.is_general(id);
        self.holders.beside_error(id).filter(|_| self.size(id) >= LARGE_ERROR && is_error())
    }

    /// Returns `true` if a variant has no fields, or only pointers to its contents.
    fn is_boxed_content(&self, fields: &[Field]) -> bool {
        fields.iter().all(|field| {
            let inside = self.program.get(optional(self.program, field.ty).unwrap_or(field.ty));
            ["Box<", "Rc<", "Arc<"].iter().any(|pointer| inside.name.starts_with(pointer))
                && self.size(field.ty) <= self.program.pointer_size
        })
    }

    /// Returns the size of a variant's fields, with these fields in boxes.
    fn content(&self, id: TypeId, variant: usize, fields: &[Field], boxed: &[usize]) -> u64 {
        if self.sizes.is_boxed(Part::Variant(id, variant)) {
            return self.program.pointer_size;
        }
        let layouts = fields.iter().enumerate().map(|(index, field)| {
            let is_boxed = boxed.contains(&index) || self.sizes.is_boxed(Part::Field(id, variant, index));
            if is_boxed { self.pointer() } else { self.sizes.layout(field.ty) }
        });
        layout::structure(&layouts.collect::<Vec<_>>()).size
    }

    /// Returns the boxes that make a variant not larger than `most`, and the bytes that they contain: the fewest fields,
    /// or all fields in one box.
    fn boxes(&self, id: TypeId, variant: usize, fields: &[Field], most: u64) -> (Vec<Part>, u64) {
        let pointer = self.program.pointer_size;
        let part = |index: &usize| Part::Field(id, variant, *index);
        let mut order: Vec<usize> = (0..fields.len()).filter(|index| !self.sizes.is_boxed(part(index))).collect();
        order.sort_by_key(|&index| std::cmp::Reverse(self.size(fields[index].ty)));
        for number in 1..=order.len().min(MOST_FIELDS) {
            let taken = &order[..number];
            if taken.iter().any(|&index| self.size(fields[index].ty) <= 3 * pointer) {
                break;
            }
            if fields.len() == 1 || self.content(id, variant, fields, taken) <= most {
                let bytes = |&index: &usize| {
                    let ty = fields[index].ty;
                    optional(self.program, ty).map_or(self.size(ty), |inside| self.size(inside))
                };
                return (taken.iter().map(part).collect(), taken.iter().map(bytes).sum());
            }
        }
        (vec![Part::Variant(id, variant)], self.content(id, variant, fields, &[]))
    }

    /// Returns the changes that box the largest variants of an enum: the one, the two, and so on, all but the last.
    fn variants(&self, id: TypeId, ty: &Type, item: Option<&Item>) -> Vec<Candidate> {
        let Kind::Enum(of_enum) = &ty.kind else { return Vec::new() };
        let pointer = self.program.pointer_size;
        let all = variants(ty);
        let sizes: Vec<u64> = (0..all.len()).map(|index| self.content(id, index, all[index], &[])).collect();
        let mut order: Vec<usize> = (0..all.len()).collect();
        order.sort_by_key(|&index| std::cmp::Reverse(sizes[index]));
        let name = |index: usize| &*of_enum.variants[index].name;
        // `Expr(Expr)`: the variant that most values have, if `Expr` is a type of its own right.
        let is_main = |index: usize| all[index].len() == 1 && self.is_general(all[index][0].ty);
        let recurs = |fields: &[Field]| fields.iter().any(|field| self.program.get(field.ty).path.contains(&*ty.path));
        let is_recursive = all.iter().any(|fields| recurs(fields));
        let mut found = Vec::new();
        for boxed in 1..order.len().min(MOST_VARIANTS + 1) {
            let (large, rest) = order.split_at(boxed);
            let (last, next) = (sizes[large[boxed - 1]], sizes[rest[0]]);
            if last <= pointer * 2 || last == next {
                continue;
            }
            // The values of an error are few, whatever its variants are called.
            let all_errors = large.iter().all(|&index| is_error(name(index))) || self.beside_error(id).is_some();
            let mut against = None;
            let mut is_common = |why: String| {
                if !all_errors && !self.is_counted && against.is_none() {
                    against = Some(Withheld::new(Reason::Common, why));
                }
            };
            // Then every value with fields has a box: the commonest too, whichever it is.
            if rest.iter().all(|&index| self.is_boxed_content(all[index])) {
                is_common("then every value with fields would be in a box".to_owned());
            }
            // `Ok` and `Err`, `Some` and `None` under other names: the large variant is the common one.
            let mut with_fields = rest.iter().filter(|index| !all[**index].is_empty());
            if with_fields.all(|&index| is_error(name(index))) {
                is_common(format!("the others are errors or empty: most values may be `{}`", name(large[0])));
            }
            // A tree has at least as many leaves as nodes with several children.
            if is_recursive {
                let is_leaf =
                    |index: &&usize| !all[**index].is_empty() && !recurs(all[**index]) && !is_fallback(name(**index));
                if rest.iter().all(|index| !is_leaf(&index)) {
                    is_common("a tree has more leaves than nodes, and the leaves would be in boxes".to_owned());
                }
            }
            let most = next.max(pointer);
            let boxes: Vec<(Vec<Part>, u64)> =
                large.iter().map(|&index| self.boxes(id, index, all[index], most)).collect();
            let heap = boxes.iter().map(|(_, bytes)| *bytes).max().unwrap_or(0);
            let general = boxes.iter().flat_map(|(parts, _)| parts).find_map(|part| match part {
                Part::Field(_, variant, field) => Some(all[*variant][*field].ty).filter(|ty| self.is_general(*ty)),
                _ => None,
            });
            if let Some(ty) = general {
                let name = &self.program.get(ty).name;
                is_common(format!("collections and boxes have values of `{name}` too: most values may have one"));
            }
            // The type's user chose it, and other users choose a small one.
            let has_parameter = |part: &Part| match part {
                Part::Field(_, variant, field)
                | Part::Slice(_, variant, field)
                | Part::Niche(_, variant, field)
                | Part::Flag(_, variant, field) => {
                    is_parameter(item, Some(name(*variant)), &all[*variant][*field].name)
                }
                Part::Variant(_, variant) => {
                    all[*variant].iter().any(|field| is_parameter(item, Some(name(*variant)), &field.name))
                }
            };
            if boxes.iter().flat_map(|(parts, _)| parts).any(has_parameter) {
                against = Some(Withheld::new(Reason::Common, "its user chose the type of the field, a parameter"));
            }
            let parts: Vec<Part> = boxes.iter().flat_map(|(parts, _)| parts).copied().collect();
            let after = self.sizes.after(self.embedding, id, &parts);
            let size = self.size(id);
            let saves = after.get(&id).map_or(0, |after| size.saturating_sub(after.size));
            // Without a census: a few large variants among many, or so large that a box never matters.
            let few = boxed <= rest.len() || saves >= 512 && saves >= size / 4 * 3;
            if all_errors && size < LARGE_ERROR {
                continue;
            }
            if !few && !all_errors && !self.is_counted && against.is_none() {
                let why = format!("{boxed} of {} variants would be in boxes", order.len());
                against = Some(Withheld::new(Reason::Common, why));
            }
            // Each box is an edit and an allocation: it must save something by itself.
            let each = saves / boxed as u64;
            if boxed > 1 && !self.is_counted && each < LEAST_EACH.max((size / 8).min(MOST_EACH)) {
                continue;
            }
            let whole = |(parts, &index): (&Vec<Part>, &usize)| {
                matches!(parts[..], [Part::Variant(..)]) || parts.len() == all[index].len()
            };
            let of_whole = boxes.iter().map(|(parts, _)| parts).zip(large).filter(|boxed| whole(*boxed));
            let names: Vec<String> = of_whole.map(|(_, &index)| format!("`{}`", name(index))).collect();
            let of_fields = boxes.iter().map(|(parts, _)| parts).zip(large).filter(|boxed| !whole(*boxed));
            let mut described: Vec<String> = of_fields
                .map(|(parts, &index)| {
                    let fields = parts.iter().filter_map(|part| match part {
                        Part::Field(.., field) => Some(format!("`{}`", all[index][*field].name)),
                        _ => None,
                    });
                    format!("{} of `{}`", list(&fields.collect::<Vec<_>>()), name(index))
                })
                .collect();
            if !names.is_empty() {
                described.insert(0, format!("the fields of {}", list(&names)));
            }
            let how = format!(
                "box {} ({} bytes; the next variant, `{}`, has {})",
                list(&described),
                count(sizes[large[0]]),
                name(rest[0]),
                count(next)
            );
            let edits = parts.iter().filter_map(|part| edit(ty, *part, item)).collect();
            let names = large.iter().map(|&index| name(index).to_owned()).collect();
            found.push(Candidate {
                kind: Change::BoxVariants,
                boxes: parts,
                saves,
                size,
                after,
                heap,
                parts: names,
                how,
                is_rare: all_errors,
                is_general: false,
                least_shown: LEAST,
                least_even: if saves >= MOST_EACH && rest.iter().any(|&index| is_main(index)) {
                    BREAK_EVEN_RARE
                } else {
                    BREAK_EVEN
                },
                edits,
                against,
            });
        }
        found
    }

    /// Returns the change that boxes the large `Option` fields of a struct.
    fn optional(&self, id: TypeId, ty: &Type, fields: &[Field], item: Option<&Item>) -> Option<Candidate> {
        let pointer = self.program.pointer_size;
        let size = self.size(id);
        // A box of less does not pay for its block, or is not worth the edit.
        let is_large = |field: &Field, inside: u64| {
            inside > pointer
                && (inside - pointer) * 100 / (inside + HEADER) >= BREAK_EVEN
                && self.size(field.ty).saturating_sub(pointer) >= LEAST.max(size / 8)
        };
        let mut large: Vec<(usize, &Field, TypeId)> = fields
            .iter()
            .enumerate()
            .filter(|(index, _)| !self.sizes.is_boxed(Part::Field(id, 0, *index)))
            .filter_map(|(index, field)| Some((index, field, optional(self.program, field.ty)?)))
            .filter(|(_, field, inside)| is_large(field, self.size(*inside)))
            .collect();
        // What speaks against a field does not speak against the others.
        let is_unwrapped = |field: &Field| !self.is_counted && self.items.is_unwrapped(&field.name);
        let is_free = |field: &Field| !is_unwrapped(field) && !is_parameter(item, None, &field.name);
        let has_free = large.iter().any(|(_, field, _)| is_free(field));
        large.retain(|(_, field, _)| !has_free || is_free(field));
        let against = large.first().filter(|_| !has_free).map(|(_, field, _)| {
            let why = if is_unwrapped(field) {
                format!("code unwraps `{}`, so it expects a value", field.name)
            } else {
                "its user chose the type of the field, a parameter".to_owned()
            };
            Withheld::new(Reason::Common, why)
        });
        // Of the fields whose types are elsewhere too, such as `condition: Option<Expr>`, more may be present.
        let is_general = large.iter().all(|(_, field, _)| self.is_general(field.ty));
        large.retain(|(_, field, _)| is_general || !self.is_general(field.ty));
        if large.is_empty() {
            return None;
        }
        let boxes: Vec<Part> = large.iter().map(|(index, ..)| Part::Field(id, 0, *index)).collect();
        let after = self.sizes.after(self.embedding, id, &boxes);
        let saves = after.get(&id).map_or(0, |after| size.saturating_sub(after.size));
        let described = large.iter().map(|(_, field, inside)| {
            let inner = &self.program.get(*inside).name;
            format!("`{}: Option<Box<{inner}>>` ({} bytes, absent or not)", field.name, count(self.size(*inside)))
        });
        Some(Candidate {
            kind: Change::BoxOption,
            saves,
            size,
            after,
            heap: large.iter().map(|(.., inside)| self.size(*inside)).sum(),
            parts: large.iter().map(|(_, field, _)| field.name.to_string()).collect(),
            how: described.collect::<Vec<_>>().join(", "),
            is_rare: false,
            is_general,
            least_shown: if is_general { MOST_GENERAL } else { MOST_EACH },
            least_even: BREAK_EVEN,
            edits: boxes.iter().filter_map(|part| edit(ty, *part, item)).collect(),
            boxes,
            against,
        })
    }

    /// Returns the change that keeps the fields of a large error in a box: each `Result` has room for the error.
    fn error(&self, id: TypeId, ty: &Type, fields: &[Field]) -> Option<Candidate> {
        let beside = self.beside_error(id)?;
        let size = self.size(id);
        let boxes = vec![Part::Variant(id, 0)];
        let after = self.sizes.after(self.embedding, id, &boxes);
        let saves = after.get(&id).map_or(0, |after| size.saturating_sub(after.size));
        let name = ty.name.split('<').next().unwrap_or_default();
        let how = format!(
            "keep its {} fields in a box, `struct {name}(Box<..>)`: a `Result` with it has {} bytes for a value of {}",
            fields.len(),
            count(size),
            count(beside)
        );
        Some(Candidate {
            after,
            heap: size,
            parts: vec![name.to_owned()],
            how,
            is_rare: true,
            boxes,
            ..Candidate::unboxed(Change::BoxError, size, saves)
        })
    }

    /// Returns a change that sorts the fields of a `repr(C)` struct by alignment. rustc sorts those of other structs.
    fn reordering(&self, ty: &Type, fields: &[Field], item: Option<&Item>) -> Option<Candidate> {
        let program = self.program;
        if item.is_some_and(|item| !item.has_repr()) {
            return None;
        }
        let sum = fields.iter().map(|field| program.size_of(field.ty)).fold(0, u64::saturating_add);
        let saves = ty.size.checked_sub(sum.checked_next_multiple_of(ty.align)?)?;
        let mut order: Vec<&Field> = fields.iter().collect();
        order.sort_by_key(|field| (std::cmp::Reverse(program.get(field.ty).align), field.offset));
        let names: Vec<_> = order.iter().map(|field| format!("`{}`", field.name)).collect();
        let mut how = format!("order the fields of the `repr(C)` type by alignment: {}", names.join(", "));
        if let Some(at) = self.items.foreign(ty.name.split('<').next().unwrap_or_default()) {
            how = format!("{how}; WITH CARE: a foreign function at {at} has this type, so both sides must change");
        }
        let parts = order.iter().map(|field| field.name.to_string()).collect();
        Some(Candidate { parts, how, ..Candidate::unboxed(Change::Reorder, ty.size, saves) })
    }
}

/// Returns `true` if the declared type of a field is a type parameter, or an `Option` of one.
pub(super) fn is_parameter(item: Option<&Item>, variant: Option<&str>, field: &str) -> bool {
    let declared = |item: &Item| {
        let (_, text) = item.field_type(variant, field)?;
        let text = text.strip_prefix("Option<").and_then(|text| text.strip_suffix('>')).unwrap_or(&text).trim();
        Some(item.has_parameter(text))
    };
    item.and_then(declared).unwrap_or(false)
}

/// Returns the edit that moves a part to a box.
fn edit(ty: &Type, part: Part, item: Option<&Item>) -> Option<Edit> {
    let item = item?;
    let short = ty.name.split('<').next().unwrap_or_default();
    let name = |variant: usize| match &ty.kind {
        Kind::Enum(def) => Some(&*def.variants.get(variant)?.name),
        _ => None,
    };
    let fields = |variant: usize| variants(ty).get(variant).copied().unwrap_or_default();
    let (line, path, from) = match part {
        Part::Slice(..) | Part::Niche(..) | Part::Flag(..) => return None,
        Part::Field(_, variant, field) => {
            let field = fields(variant).get(field)?;
            let (line, from) = item.field_type(name(variant), &field.name)?;
            let place =
                name(variant).map_or_else(|| format!(".{}", field.name), |name| format!("::{name}.{}", field.name));
            // A variant with one field is its variant.
            let is_only = fields(variant).len() == 1 && &*field.name == "0";
            let place = if is_only { place.trim_end_matches(".0").to_owned() } else { place };
            (line, place, from)
        }
        Part::Variant(_, variant) => {
            let name = name(variant)?;
            let (line, text) = item.part(name)?;
            let inside = text.strip_prefix(name)?.trim().strip_prefix('(').and_then(|rest| rest.strip_suffix(')'));
            (line, format!("::{name}"), inside.unwrap_or_default().trim().trim_end_matches(',').to_owned())
        }
    };
    let to = match part {
        _ if from.is_empty() => String::new(),
        Part::Variant(..) => format!("Box<({from})>"),
        Part::Field(..) | Part::Slice(..) | Part::Niche(..) | Part::Flag(..) => {
            match from.strip_prefix("Option<").and_then(|rest| rest.strip_suffix('>')) {
                Some(inside) => format!("Option<Box<{inside}>>"),
                None => format!("Box<{from}>"),
            }
        }
    };
    Some(Edit { file: item.file.clone(), line, item: format!("{short}{path}"), from, to })
}

/// Lists names: `a, b and c`.
pub(super) fn list(names: &[String]) -> String {
    match names {
        [] => String::new(),
        [one] => one.clone(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}

/// Returns `true` if a variant's name says that it is for what the others do not cover.
fn is_fallback(name: &str) -> bool {
    let name = name.to_lowercase();
    is_error(&name) || ["unknown", "other", "custom", "verbatim", "unparsed"].iter().any(|word| name.contains(word))
}

/// Returns `true` if a variant's name says that it is an error.
fn is_error(name: &str) -> bool {
    let name = name.to_lowercase();
    name == "err" || ["error", "failure", "failed", "invalid", "panic"].iter().any(|word| name.contains(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_errors_are_known() {
        assert!(is_error("Err") && is_error("ParseError") && !is_error("Errand"));
        assert_eq!(list(&["a".into(), "b".into(), "c".into()]), "a, b and c");
    }
}
