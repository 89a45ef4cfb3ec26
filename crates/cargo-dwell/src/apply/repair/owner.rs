//! A `Box` where another owner of one value is expected: `Box::new(value)` becomes `dwell::pooled!(value)`.

use super::super::moves::{Becomes, Owner};
use super::super::syntax::Kind;
use super::{Replace, Site, unboxed};

pub(super) fn repair(site: &Site<'_>) -> Option<Vec<Replace>> {
    let Becomes::Owner(owner, ty) = site.becomes else { return None };
    match site.code() {
        "E0308" => made(site, *owner, ty),
        "E0507" => moved(site),
        _ => None,
    }
}

/// A box is made where the other owner is expected.
fn made(site: &Site<'_>, owner: Owner, ty: &str) -> Option<Vec<Replace>> {
    let (expected, found) = site.types()?;
    if !is_owner(expected, owner) || is_owner(found, owner) {
        return None;
    }
    if let Some(call) = made_by(site, &site.range, owner) {
        return Some(vec![call]);
    }
    let is_box = unboxed(found).is_some() || unboxed(pinned(found)).is_some();
    // A box that was made before: in a `let` of this file, if there is one of its name.
    let is_name = site.syntax.at(&site.range).any(|node| node.kind == Kind::Path);
    if is_box && is_name {
        let name = site.source();
        let (pattern, value) = site
            .syntax
            .locals(site.range.start)
            .find(|(pattern, _)| site.at(pattern) == name || site.at(pattern) == format!("mut {name}"))?;
        let is_typed = site.at(&(pattern.end..value.start)).contains(':');
        let annotation =
            (!is_typed && owner != Owner::Future).then(|| site.replace(pattern.end..pattern.end, format!(": {ty}")));
        return Some(annotation.into_iter().chain([made_by(site, value, owner)?]).collect());
    }
    // A value where a box was made implicitly.
    let is_value = !is_box && owner == Owner::Pool && expected.contains(found) && !found.starts_with('&');
    (is_value && site.syntax.is_expr(&site.range))
        .then(|| vec![site.replace(site.range.clone(), format!("dwell::slab::Pooled::new({})", site.source()))])
}

/// Returns the call that makes the other owner, instead of `Box::new(..)`, `Box::pin(..)` or `.boxed()`.
fn made_by(site: &Site<'_>, range: &super::Bytes, owner: Owner) -> Option<Replace> {
    let with = site.syntax.at(range).find_map(|node| match &node.kind {
        Kind::Call { arguments } => {
            let [argument] = &arguments[..] else { return None };
            let function = site.at(&(range.start..argument.start)).trim_end().strip_suffix('(')?.trim_end();
            let value = site.at(argument);
            // `Node::new(..)` may return a box too.
            if !function.split("::").any(|part| part == "Box") {
                return None;
            }
            match (function.rsplit("::").next()?, owner) {
                ("new" | "from", Owner::Small) => Some(format!("dwell::small_box!({value})")),
                ("new" | "from", Owner::PoolDyn) => Some(format!("dwell::pooled!({value})")),
                ("new" | "from", Owner::Pool) => Some(format!("dwell::slab::Pooled::new({value})")),
                ("pin", Owner::Future) => Some(format!("dwell::pin::ErasedExt::pooled({value})")),
                _ => None,
            }
        }
        Kind::Method { receiver, name, arguments } if name == "boxed" && arguments.is_empty() => {
            (owner == Owner::Future).then(|| format!("dwell::pin::ErasedExt::pooled({})", site.at(receiver)))
        }
        _ => None,
    })?;
    Some(site.replace(range.clone(), with))
}

/// `*boxed` moves the value out of a box, which no other owner can: `boxed.into_inner()`.
fn moved(site: &Site<'_>) -> Option<Vec<Replace>> {
    let place = site.source().strip_prefix('*')?;
    let start = site.range.end - place.len();
    let range = start..site.range.end;
    let with = if site.syntax.is_postfix(&range) {
        format!("{place}.into_inner()")
    } else {
        format!("({place}).into_inner()")
    };
    Some(vec![site.replace(site.range.clone(), with)])
}

fn is_owner(ty: &str, owner: Owner) -> bool {
    let name = |ty: &str| ty.split('<').next().and_then(|path| path.rsplit("::").next()).unwrap_or_default().to_owned();
    match owner {
        Owner::Small => name(ty) == "SmallBox",
        Owner::PoolDyn | Owner::Pool => name(ty) == "Pooled",
        Owner::Future => name(pinned(ty)) == "Pooled",
    }
}

/// Returns what a `Pin` contains.
fn pinned(ty: &str) -> &str {
    super::argument(ty, "Pin").unwrap_or_default()
}
