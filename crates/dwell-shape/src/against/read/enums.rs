//! Enums: the tags and the contents of their variants.

use super::super::found::Event;
use super::super::items::{Enum, Tagging, Variant};
use super::super::json::Json;
use super::super::types::DefId;
use super::fields::is_optional;
use super::{At, Entries, Reader, Step, quoted};

impl Reader<'_, '_> {
    pub(super) fn enumeration(&mut self, id: DefId, body: &Enum, value: &Json, at: &At) -> bool {
        match (&body.tagging, value) {
            (Tagging::Untagged, _) => self.first(id, body, value, at, |_| true),
            (Tagging::External, Json::Text(tag)) => match find(body, tag) {
                Some(index) if is_unit(&body.variants[index]) => {
                    self.events.push(Event::Variant(id, index));
                    true
                }
                Some(index) => {
                    let what = format!("{} without its content", body.variants[index].item);
                    self.other(id, body, value, at, what)
                }
                None => self.other(id, body, value, at, self.no_variant(id, tag)),
            },
            (Tagging::External, Json::Object(all)) if all.len() == 1 => match find(body, &all[0].0) {
                Some(index) => {
                    let step = Step::Key(all[0].0.clone());
                    self.below(step, |this| this.variant(id, index, &body.variants[index], &all[0].1, at))
                }
                None => self.other(id, body, value, at, self.no_variant(id, &all[0].0)),
            },
            (Tagging::External, Json::Object(all)) => {
                self.other(id, body, value, at, format!("an object with {} keys for a variant", all.len()))
            }
            (Tagging::Internal(_) | Tagging::Adjacent(..), Json::Object(all)) => {
                let mut entries: Entries<'_> = all.iter().map(|(key, value)| (&**key, value)).collect();
                let before = self.events.len();
                if self.tagged(id, body, &mut entries, at, false) {
                    return true;
                }
                self.or_untagged(id, body, value, at, before)
            }
            (_, Json::Null) => self.refuse_without_option("null", at),
            _ => {
                let what = format!("{} for `{}`", value.name(), self.types.defs[id].name);
                self.other(id, body, value, at, what)
            }
        }
    }

    fn no_variant(&self, id: DefId, tag: &str) -> String {
        format!("{} is no variant of `{}`", quoted(tag), self.types.defs[id].name)
    }

    /// Reads a value without a known tag, as a variant for these.
    fn other(&mut self, id: DefId, body: &Enum, value: &Json, at: &At, what: String) -> bool {
        if let Some(index) = body.variants.iter().position(|variant| variant.is_other) {
            self.events.push(Event::Variant(id, index));
            return true;
        }
        let before = self.events.len();
        self.refuse(what, at);
        self.or_untagged(id, body, value, at, before)
    }

    /// Tries the variants without a tag, in place of the events after `before`.
    fn or_untagged(&mut self, id: DefId, body: &Enum, value: &Json, at: &At, before: usize) -> bool {
        if !body.variants.iter().any(|variant| variant.is_untagged) {
            return false;
        }
        let refused = self.events.split_off(before);
        if self.first(id, body, value, at, |variant| variant.is_untagged) {
            return true;
        }
        self.events.truncate(before);
        self.events.extend(refused);
        false
    }

    /// Reads a value as the first variant that takes it.
    fn first(&mut self, id: DefId, body: &Enum, value: &Json, at: &At, may: impl Fn(&Variant) -> bool) -> bool {
        let at = At { buffered: true, ..*at };
        let before = self.events.len();
        for (index, variant) in
            body.variants.iter().enumerate().filter(|(_, variant)| !variant.is_skipped && may(variant))
        {
            if self.variant(id, index, variant, value, &at) {
                return true;
            }
            self.events.truncate(before);
        }
        self.refuse(format!("{} fits no variant of `{}`", value.name(), self.types.defs[id].name), &at)
    }

    /// Reads the content of a variant.
    fn variant(&mut self, id: DefId, index: usize, variant: &Variant, value: &Json, at: &At) -> bool {
        self.events.push(Event::Variant(id, index));
        if variant.is_opaque {
            return self.by_function();
        }
        self.content(id, index, &variant.content, value, at)
    }

    /// Reads entries as a tagged enum, and takes those away that it reads. With `is_flat`, others may be there.
    pub(super) fn tagged(&mut self, id: DefId, body: &Enum, entries: &mut Entries<'_>, at: &At, is_flat: bool) -> bool {
        let (tag, content) = match &body.tagging {
            Tagging::Internal(tag) => (tag, None),
            Tagging::Adjacent(tag, content) => (tag, Some(content)),
            Tagging::External => {
                let found = entries.iter().position(|(key, _)| find(body, key).is_some());
                let Some((key, value)) = found.map(|found| entries.remove(found)) else {
                    return self.refuse("the key of a variant is missing", at);
                };
                let Some(index) = find(body, key) else { return true };
                let at = At { buffered: true, ..*at };
                return self.below(Step::Key(key.to_owned()), |this| {
                    this.variant(id, index, &body.variants[index], value, &at)
                });
            }
            Tagging::Untagged => {
                let at = At { buffered: true, ..*at };
                let all = entries.iter().map(|(key, value)| ((*key).to_owned(), (*value).clone())).collect();
                entries.clear();
                return self.first(id, body, &Json::Object(all), &at, |_| true);
            }
        };
        let place = entries.iter().position(|(key, _)| key == tag);
        let Some((_, value)) = place.map(|place| entries.remove(place)) else {
            return self.below(Step::Key(tag.clone()), |this| this.refuse("the tag is missing", at));
        };
        let Json::Text(value) = value else {
            let what = format!("{} for the tag", value.name());
            return self.below(Step::Key(tag.clone()), |this| this.refuse(what, at));
        };
        let Some(index) = find(body, value) else {
            if let Some(other) = body.variants.iter().position(|variant| variant.is_other) {
                self.events.push(Event::Variant(id, other));
                return true;
            }
            let what = self.no_variant(id, value);
            return self.below(Step::Key(tag.clone()), |this| this.refuse(what, at));
        };
        let variant = &body.variants[index];
        let Some(content) = content else {
            self.events.push(Event::Variant(id, index));
            return self.internal(id, index, variant, entries, at, is_flat);
        };
        let found = entries.iter().position(|(key, _)| key == content);
        // serde keeps content that comes before its tag.
        let buffered = at.buffered || found.zip(place).is_some_and(|(content, tag)| content < tag);
        let loads = if let Some(value) = found.map(|found| entries.remove(found).1) {
            let at = At { buffered, ..*at };
            self.below(Step::Key(content.clone()), |this| this.variant(id, index, variant, value, &at))
        } else {
            self.events.push(Event::Variant(id, index));
            let parts = &self.types.defs[id].parts[index];
            let is_optional = !variant.content.is_named && parts.len() == 1 && is_optional(&parts[0]);
            is_unit(variant)
                || is_optional
                || self.below(Step::Key(content.clone()), |this| this.refuse("the key is missing", at))
        };
        let rest = is_flat || self.unclaimed(self.name_of(id, index), variant.content.denies_unknown, entries);
        loads && rest
    }

    /// Reads the content of an internally tagged variant from the keys beside the tag.
    fn internal(
        &mut self,
        id: DefId,
        index: usize,
        variant: &Variant,
        entries: &mut Entries<'_>,
        at: &At,
        is_flat: bool,
    ) -> bool {
        let (types, content) = (self.types, &variant.content);
        let at = At { buffered: true, ..*at };
        if variant.is_opaque {
            return self.by_function();
        }
        if !content.is_named && !content.fields.is_empty() {
            let field = (id, index, 0);
            self.events.push(Event::Seen(field));
            return self.object(&types.defs[id].parts[index][0], entries, &At::at_field(field, true));
        }
        let loads = self.fields(id, index, content, entries, &at);
        let rest = is_flat || self.unclaimed(self.name_of(id, index), content.denies_unknown, entries);
        loads && rest
    }
}

fn find(body: &Enum, tag: &str) -> Option<usize> {
    let may = |variant: &Variant| !variant.is_skipped && !variant.is_untagged;
    body.variants.iter().position(|variant| may(variant) && variant.has_tag(tag))
}

/// Returns whether a variant is without content.
fn is_unit(variant: &Variant) -> bool {
    variant.content.fields.is_empty()
}
