//! The keys of a map as text.

use super::walk::{Holds, SiteId, Walk, number, sub};
use std::rc::Rc;

/// The most characters of a key that are shown.
const LONGEST: usize = 40;
/// The deepest nesting of a key's parts.
const DEEPEST: u32 = 4;

/// Returns a key as text, if it is a text, a number, or a struct or tuple of these.
pub(super) fn shown(walk: &mut Walk<'_, '_>, site: SiteId, address: u64) -> Option<String> {
    let size = usize::try_from(walk.schema.sites[site].size).ok()?;
    let mut bytes = Vec::new();
    if size > 256 || !walk.memory(address, size, &mut bytes) {
        return None;
    }
    let text = value(walk, site, &bytes, 0)?;
    match text.char_indices().nth(LONGEST) {
        Some((end, _)) => Some(format!("{}..", &text[..end])),
        None => Some(text),
    }
}

fn value(walk: &mut Walk<'_, '_>, site: SiteId, bytes: &[u8], depth: u32) -> Option<String> {
    if depth > DEEPEST {
        return None;
    }
    let place = &walk.schema.sites[site];
    let decoder = Rc::clone(&place.decoder);
    if let Some((address, length)) = decoder.text(bytes) {
        let mut text = Vec::new();
        // A character has up to four bytes.
        let length = usize::try_from(length).ok()?;
        if !walk.is_known(address, length as u64) || !walk.memory(address, length.min(4 * LONGEST + 4), &mut text) {
            return None;
        }
        let text = String::from_utf8_lossy(&text);
        return Some(format!("\"{}\"", text.escape_debug()));
    }
    if let Some(integer) = place.integer {
        return integer.read(bytes).map(|number| number.to_string());
    }
    match (decoder.holds(), &*place.name) {
        (Holds::Plain, "u8") => number(bytes, 0, 1).map(|number| number.to_string()),
        (Holds::Plain, "bool") => number(bytes, 0, 1).map(|number| (number != 0).to_string()),
        (Holds::Def(def), _) => {
            walk.schema.prepare(def);
            let definition = &walk.schema.defs[def];
            let index = definition.tag.as_ref().map_or(Some(0), |tag| tag.variant(bytes))?;
            let variant = definition.variants.get(index)?;
            let (is_enum, name) = (definition.is_enum, variant.name.to_string());
            let fields: Vec<(u64, SiteId)> = variant.fields.iter().map(|field| (field.at, field.site)).collect();
            match fields[..] {
                [] if is_enum => Some(name),
                _ => parts(walk, &fields, bytes, depth),
            }
        }
        _ => {
            let fields: Vec<(u64, SiteId)> = decoder.parts().iter().map(|part| (part.at, part.site)).collect();
            parts(walk, &fields, bytes, depth)
        }
    }
}

fn parts(walk: &mut Walk<'_, '_>, parts: &[(u64, SiteId)], bytes: &[u8], depth: u32) -> Option<String> {
    let mut texts = Vec::new();
    for &(at, site) in parts {
        let size = walk.schema.sites[site].size;
        if size > 0 {
            texts.push(value(walk, site, sub(bytes, at, size), depth + 1)?);
        }
    }
    (!texts.is_empty()).then(|| texts.join(", "))
}
