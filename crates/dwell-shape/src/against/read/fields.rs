//! Structs, and the contents of variants.

use super::super::found::Event;
use super::super::items::{Field, Shape, Struct};
use super::super::json::Json;
use super::super::types::{DefId, Ty};
use super::{At, Entries, Reader, Step};

impl<'s> Reader<'_, 's> {
    /// Reads a value as a struct, or as the content of a variant.
    pub(super) fn content(&mut self, id: DefId, part: usize, body: &Struct, value: &Json, at: &At) -> bool {
        let types = self.types;
        let parts = &types.defs[id].parts[part];
        match (&body.fields[..], value) {
            ([], Json::Null) if !body.is_named => true,
            ([only], _) if body.is_transparent => {
                let field = (id, part, 0);
                self.events.push(Event::Seen(field));
                if only.is_opaque {
                    self.by_function()
                } else {
                    self.value(&parts[0], value, &At::at_field(field, at.buffered))
                }
            }
            (all, Json::Array(values)) if !all.iter().any(|field| field.is_flat) && !all.is_empty() => {
                let read: Vec<usize> = (0..all.len()).filter(|&index| !all[index].is_skipped).collect();
                let least = read.iter().rposition(|&index| !all[index].has_default).map_or(0, |last| last + 1);
                if values.len() > read.len() || values.len() < least {
                    return self.refuse(format!("an array of {} for one of {}", values.len(), read.len()), at);
                }
                let mut loads = true;
                for (position, (index, value)) in read.into_iter().zip(values).enumerate() {
                    let field = (&all[index], &parts[index]);
                    let step = Step::Index(position);
                    loads &= self.below(step, |this| this.field((id, part, index), field, value, at.buffered));
                }
                loads
            }
            (_, Json::Object(all)) if body.is_named => {
                let mut entries: Entries<'_> = all.iter().map(|(key, value)| (&**key, value)).collect();
                let loads = self.fields(id, part, body, &mut entries, at);
                self.unclaimed(self.name_of(id, part), body.denies_unknown, &entries) && loads
            }
            (_, Json::Null) => self.refuse_without_option("null", at),
            _ => self.refuse(format!("{} for `{}`", value.name(), self.name_of(id, part)), at),
        }
    }

    pub(super) fn by_function(&mut self) -> bool {
        self.not_checked("a function reads it", None)
    }

    pub(super) fn name_of(&self, id: DefId, part: usize) -> &'s str {
        match &self.types.defs[id].item.shape {
            Shape::Enum(body) => &body.variants[part].item,
            _ => self.types.defs[id].item.name.as_str(),
        }
    }

    fn field(
        &mut self,
        id: super::super::found::FieldId,
        (field, ty): (&Field, &Ty),
        value: &Json,
        buffered: bool,
    ) -> bool {
        if *value != Json::Null || !matches!(ty, Ty::Option(_)) {
            self.events.push(Event::Seen(id));
        }
        if field.is_opaque { self.by_function() } else { self.value(ty, value, &At::at_field(id, buffered)) }
    }

    /// Reads the fields of a struct or variant from entries, and takes these away.
    pub(super) fn fields(&mut self, id: DefId, part: usize, body: &Struct, entries: &mut Entries<'_>, at: &At) -> bool {
        let types = self.types;
        let parts = &types.defs[id].parts[part];
        let mut loads = true;
        let has_flat = body.fields.iter().any(|field| field.is_flat);
        if let Some(tag) = &body.tag {
            entries.retain(|(key, _)| key != tag);
        }
        let all = || body.fields.iter().zip(parts).enumerate();
        for (index, (field, ty)) in all().filter(|(_, (field, _))| !field.is_flat && !field.is_skipped) {
            let own = (id, part, index);
            let has = |key: &str| field.key == key || field.aliases.iter().any(|alias| alias == key);
            let found: Entries<'_> = entries.iter().filter(|(key, _)| has(key)).copied().collect();
            entries.retain(|(key, _)| !has(key));
            match found[..] {
                [] if field.has_default || (is_optional(ty) && !field.is_opaque) => {}
                [] => {
                    loads &= self.below(Step::Key(field.key.clone()), |this| {
                        this.refuse_without_option("the key is missing", &At::at_field(own, at.buffered))
                    });
                }
                [(key, value)] => {
                    // serde reads the fields beside a flattened one at once, unless all come from a buffer.
                    let step = Step::Key(key.to_owned());
                    loads &= self.below(step, |this| this.field(own, (field, ty), value, at.buffered));
                }
                _ => {
                    let at = At::at_field(own, at.buffered);
                    loads &= self.refuse("the key is there twice, by an alias", &at);
                }
            }
        }
        if has_flat {
            for (index, (field, ty)) in all().filter(|(_, (field, _))| field.is_flat && !field.is_skipped) {
                let at = At::at_field((id, part, index), true);
                loads &= if field.is_opaque { self.by_function() } else { self.flat(ty, entries, &at) };
            }
        }
        loads
    }

    /// Reads a flattened field from the entries that no field has taken.
    fn flat(&mut self, ty: &Ty, entries: &mut Entries<'_>, at: &At) -> bool {
        match ty {
            // A value that does not load is none.
            Ty::Option(inner) => {
                let (before, left) = (self.events.len(), entries.clone());
                if !self.flat(inner, entries, at) {
                    self.events.truncate(before);
                    *entries = left;
                }
                true
            }
            Ty::Boxed(inner, _) => {
                self.events.push(Event::Value(Self::place(at)));
                self.flat(inner, entries, at)
            }
            Ty::Map(map, key, value) => {
                let taken = std::mem::take(entries);
                self.events.extend(taken.iter().filter_map(|_| at.owner.map(Event::Seen)));
                self.map((*map, key, value), &taken, at, true)
            }
            Ty::Value => {
                let all = std::mem::take(entries).into_iter();
                let all = all.map(|(key, value)| (key.to_owned(), value.clone())).collect();
                self.value(ty, &Json::Object(all), at)
            }
            Ty::Named(id) if !self.types.defs[*id].item.is_opaque => {
                self.events.push(Event::Instance(*id));
                self.enter(*id, entries.len(), at, |this| match &this.types.defs[*id].item.shape {
                    Shape::Struct(body) => this.fields(*id, 0, body, entries, at),
                    Shape::Enum(body) => this.tagged(*id, body, entries, at, true),
                    Shape::Alias(_) => true,
                })
            }
            _ => {
                entries.clear();
                self.not_checked("a flattened field of another type reads it", None)
            }
        }
    }

    /// Records the entries that no field has taken. Returns whether they may be there.
    pub(super) fn unclaimed(&mut self, name: &str, denies: bool, entries: &Entries<'_>) -> bool {
        for (key, _) in entries {
            self.path.push(Step::Key((*key).to_owned()));
            let path = self.path_text();
            self.events.push(if denies {
                Event::Refused { item: name.to_owned(), path, what: "the key is unknown".into(), optional: None }
            } else {
                Event::Lost { of: name.to_owned(), path }
            });
            self.path.pop();
        }
        !denies || entries.is_empty()
    }

    /// Reads entries as a whole value: the content of an internally tagged variant.
    pub(super) fn object(&mut self, ty: &Ty, entries: &mut Entries<'_>, at: &At) -> bool {
        match ty {
            Ty::Named(id) if !self.types.defs[*id].item.is_opaque => {
                let id = *id;
                self.events.push(Event::Instance(id));
                self.events.push(Event::Value(Self::place(at)));
                self.enter(id, entries.len(), at, |this| match &this.types.defs[id].item.shape {
                    Shape::Struct(body) if body.is_named => {
                        let loads = this.fields(id, 0, body, entries, at);
                        this.unclaimed(this.name_of(id, 0), body.denies_unknown, entries) && loads
                    }
                    Shape::Struct(body) if body.is_transparent && body.fields.len() == 1 => {
                        let field = (id, 0, 0);
                        this.events.push(Event::Seen(field));
                        let types = this.types;
                        this.object(&types.defs[id].parts[0][0], entries, &At::at_field(field, true))
                    }
                    Shape::Struct(body) if body.fields.is_empty() => true,
                    Shape::Enum(body) => this.tagged(id, body, entries, at, false),
                    _ => this.refuse(format!("an object for `{}`", this.types.defs[id].name), at),
                })
            }
            Ty::Boxed(inner, _) => {
                self.boxed(inner, at);
                self.object(inner, entries, at)
            }
            Ty::Option(inner) => self.object(inner, entries, at),
            Ty::Unit => true,
            _ => {
                let all = entries.iter().map(|(key, value)| ((*key).to_owned(), (*value).clone())).collect();
                self.value(ty, &Json::Object(all), at)
            }
        }
    }
}

/// Returns whether a key may be missing.
pub(super) fn is_optional(ty: &Ty) -> bool {
    match ty {
        Ty::Option(_) => true,
        Ty::Boxed(inner, _) => is_optional(inner),
        _ => false,
    }
}
