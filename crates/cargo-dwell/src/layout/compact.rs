//! Changes of a struct's fields that need no further block: lists without a capacity, index types or integers with a niche, and
//! flags as bits.

use super::candidates::{Candidate, Change, Finder, LEAST, is_parameter, list};
use super::resize::{Part, optional};
use dwell_debuginfo::{Field, Kind, Type, TypeId};
use dwell_output::units::count;
use dwell_source::{Edit, Item};

/// The fewest `bool` fields that become one integer: each place that reads one changes.
const FEWEST_FLAGS: usize = 5;

impl Finder<'_, '_> {
    /// Returns the change that leaves out the capacity of texts and lists whose length no code changes.
    pub(super) fn slices(&self, id: TypeId, ty: &Type, fields: &[Field], item: Option<&Item>) -> Option<Candidate> {
        let item = item?;
        let name = ty.name.split('<').next().unwrap_or_default();
        let is_list = |field: &Field| {
            let path = &*self.program.get(field.ty).path;
            path == "alloc::string::String" || path.starts_with("alloc::vec::Vec<")
        };
        let fixed: Vec<(usize, &Field)> = fields
            .iter()
            .enumerate()
            .filter(|(_, field)| is_list(field) && !self.items.grows(name, &field.name))
            .filter(|(_, field)| !is_parameter(Some(item), None, &field.name))
            .collect();
        let boxes: Vec<Part> = fixed.iter().map(|(index, _)| Part::Slice(id, 0, *index)).collect();
        let (size, pointer) = (self.size(id), self.program.pointer_size);
        let after = self.sizes.after(self.embedding, id, &boxes);
        let saves = after.get(&id).map_or(0, |after| size.saturating_sub(after.size));
        if !self.is_counted && saves < (2 * pointer).max(size / 4) {
            return None;
        }
        let edit = |field: &Field| {
            let (line, from) = item.field_type(None, &field.name)?;
            let list = from.strip_prefix("Vec<").and_then(|rest| rest.strip_suffix('>'));
            let to = if from == "String" {
                Some("Box<str>".to_owned())
            } else {
                list.map(|element| format!("Box<[{element}]>"))
            };
            Some(Edit { file: item.file.clone(), line, item: format!("{name}.{}", field.name), from, to: to? })
        };
        let names: Vec<String> = fixed.iter().map(|(_, field)| format!("`{}`", field.name)).collect();
        Some(Candidate {
            after,
            parts: fixed.iter().map(|(_, field)| field.name.to_string()).collect(),
            how: format!("`Box<str>` or `Box<[T]>` for {}: no code changes their length", list(&names)),
            edits: fixed.iter().filter_map(|(_, field)| edit(field)).collect(),
            boxes,
            ..Candidate::unboxed(Change::BoxSlice, size, saves)
        })
    }

    /// Returns the change that gives the index types or integers in several `Option` fields a niche: each of the options has a tag
    /// now.
    pub(super) fn niches(&self, id: TypeId, fields: &[Field], item: Option<&Item>) -> Option<Candidate> {
        item?;
        let index = |field: &Field| {
            let inside = optional(self.program, field.ty)?;
            let has_tag = self.size(field.ty) > self.size(inside);
            (has_tag && self.is_index(inside)).then_some(inside)
        };
        let found: Vec<(usize, &Field, TypeId)> =
            fields.iter().enumerate().filter_map(|(at, field)| Some((at, field, index(field)?))).collect();
        if found.len() < 2 {
            return None;
        }
        let boxes: Vec<Part> = found.iter().map(|(at, ..)| Part::Niche(id, 0, *at)).collect();
        let size = self.size(id);
        let after = self.sizes.after(self.embedding, id, &boxes);
        let saves = after.get(&id).map_or(0, |after| size.saturating_sub(after.size));
        if saves < LEAST.max(size / 4) {
            return None;
        }
        let mut types: Vec<String> = found.iter().map(|(.., ty)| format!("`{}`", self.program.get(*ty).name)).collect();
        types.sort();
        types.dedup();
        let names: Vec<String> = found.iter().map(|(_, field, _)| format!("`{}`", field.name)).collect();
        let how = format!(
            "keep a `NonZero`, the number plus one, in {} of the `Option`s {}: then they need no tag ({} bytes each)",
            list(&types),
            list(&names),
            count(found.iter().map(|(.., ty)| self.size(*ty)).max().unwrap_or(0))
        );
        Some(Candidate {
            after,
            parts: found.iter().map(|(_, field, _)| field.name.to_string()).collect(),
            how,
            boxes,
            ..Candidate::unboxed(Change::Niche, size, saves)
        })
    }

    /// Returns the change that keeps the `bool` fields as the bits of one integer, if that saves a quarter of the type.
    pub(super) fn flags(&self, id: TypeId, fields: &[Field], item: Option<&Item>) -> Option<Candidate> {
        item?;
        let is_flag = |field: &Field| &*self.program.get(field.ty).path == "bool";
        let found: Vec<(usize, &Field)> = fields.iter().enumerate().filter(|(_, field)| is_flag(field)).collect();
        if found.len() < FEWEST_FLAGS {
            return None;
        }
        let boxes: Vec<Part> = found.iter().map(|(at, _)| Part::Flag(id, 0, *at)).collect();
        let size = self.size(id);
        let after = self.sizes.after(self.embedding, id, &boxes);
        let saves = after.get(&id).map_or(0, |after| size.saturating_sub(after.size));
        if saves == 0 || saves < size / 4 {
            return None;
        }
        Some(Candidate {
            after,
            parts: found.iter().map(|(_, field)| field.name.to_string()).collect(),
            how: format!(
                "keep the {} `bool` fields as the bits of one integer, as the crate bitflags does",
                found.len()
            ),
            boxes,
            least_shown: 0,
            ..Candidate::unboxed(Change::Flags, size, saves)
        })
    }

    /// Returns `true` for an integer, and for a type of the workspace that is one: `struct NodeId(usize)`.
    fn is_index(&self, id: TypeId) -> bool {
        let ty = self.program.get(id);
        let is_integer = |id: TypeId| matches!(&*self.program.get(id).path, "u16" | "u32" | "u64" | "usize");
        match &ty.kind {
            Kind::Struct(fields) => ty.own && matches!(&fields[..], [only] if is_integer(only.ty)),
            _ => is_integer(id),
        }
    }
}
