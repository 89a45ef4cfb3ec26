//! A pattern of the boxed type that may fail to match, inside of another: `Expr::Not(Expr::Lit(lit)) => body`. It becomes a
//! guard, `Expr::Not(boxed) if matches!(*boxed, Expr::Lit(..)) => ..`, so that the arms after it are tried as before.

use super::super::syntax::{Bindings, By, Bytes, Kind, dense};
use super::matched::{free_name, is_mut, scrutinee_type};
use super::{Replace, Site, arms};
use syn::parse::Parser as _;
use syn::spanned::Spanned as _;
use syn::visit::{self, Visit};

/// The number of lines of an `else` block that is written twice at most.
const LINES: usize = 4;

/// Returns `true` if the names of the pattern at the error's place may be used in a guard.
pub(super) fn is_guarded(site: &Site<'_>) -> bool {
    let inside = |range: &Bytes| range.start <= site.range.start && site.range.end <= range.end;
    site.syntax.around(&site.range).any(|node| match &node.kind {
        Kind::Arm { pattern, guard: Some(_), .. } | Kind::Matches { pattern, guard: Some(_), .. } => inside(pattern),
        _ => false,
    })
}

/// Repairs the pattern at the error's place, which binds `bindings`. It may fail to match, or its names are used in a guard.
pub(super) fn repair(site: &Site<'_>, bindings: &Bindings, is_refutable: bool) -> Option<Vec<Replace>> {
    if let Some(all) = arms::repair(site) {
        return Some(all);
    }
    // `ref` is no longer allowed in a pattern for a reference.
    if bindings.has(By::Ref) || bindings.has(By::RefMut) {
        return None;
    }
    let pattern = site.source();
    // `of @ Value::Wide(_)`
    if site.text[..site.range.start].trim_end().ends_with('@')
        && let Some(all) = whole(site)
    {
        return Some(all);
    }
    let ty = scrutinee_type(site).map(|(_, ty)| ty);
    let name = free_name(site);
    let (shared, value) = match ty.as_deref() {
        Some(ty) if is_mut(ty) => (format!("&**{name}"), format!("&mut **{name}")),
        Some(ty) if ty.contains('&') => (format!("&**{name}"), format!("&**{name}")),
        _ => (format!("&*{name}"), format!("*{name}")),
    };
    let other = if is_refutable { " else { unreachable!() }" } else { "" };
    let statement = format!("let {pattern} = {value}{other};");
    // The guard of an arm or of `matches!`, whose pattern ends at `end`.
    let guarded = |shared: &str, guard: &Option<Bytes>, end: usize| {
        let names = || bindings.names.iter().map(|(name, _)| name.as_str());
        if let Some(guard) =
            guard.as_ref().filter(|guard| !words(site.at(guard)).any(|word| names().any(|name| name == word)))
        {
            let condition = format!("matches!({}, {})", shared.trim_start_matches('&'), without_names(pattern));
            let text = site.at(guard);
            let text = if text.contains("||") { format!("({text})") } else { text.to_owned() };
            // The tests of two boxes stand in the order of the pattern.
            let is_test = text.starts_with("matches!(*");
            let both = if is_test { format!("{text} && {condition}") } else { format!("{condition} && {text}") };
            return site.replace(guard.clone(), both);
        }
        if let Some(guard) = guard {
            return site.replace(guard.clone(), format!("matches!({shared}, {pattern} if {})", site.at(guard)));
        }
        // Nothing is bound, so nothing is moved out.
        let value = shared.trim_start_matches('&');
        site.replace(end..end, format!(" if matches!({value}, {})", without_names(pattern)))
    };
    let inside = |range: &Bytes| range.start <= site.range.start && site.range.end <= range.end;
    let named = site.replace(site.range.clone(), name.clone());
    for node in site.syntax.around(&site.range) {
        match &node.kind {
            Kind::Or { .. } => return whole(site).or_else(|| parted(site)).or_else(|| condition(site)),
            // `matches!(options.style, Some(Style::Wide))`
            Kind::Matches { scrutinee, pattern: matched, .. }
                if bindings.names.is_empty()
                    && dense(site.at(matched)) == format!("Some({})", dense(pattern))
                    && site.syntax.is_postfix(scrutinee) =>
            {
                return Some(vec![site.replace(scrutinee.end..scrutinee.end, ".as_deref()")]);
            }
            Kind::Matches { pattern: matched, guard, .. } if inside(matched) => {
                // A name alone would move the box out of a place.
                let is_ref = ty.as_deref().is_some_and(|ty| ty.contains('&'));
                let bound = if is_ref { name.clone() } else { format!("ref {name}") };
                let guard = guarded(&format!("&**{name}"), guard, matched.end);
                return Some(vec![site.replace(site.range.clone(), bound), guard]);
            }
            // What the pattern binds are references, as before.
            Kind::Arm { pattern: matched, guard, .. }
                if inside(matched)
                    && site.tree.has_let_guards(site.file)
                    && !bindings.names.is_empty()
                    && ty.as_deref().is_some_and(|ty| ty.contains('&') && !is_mut(ty)) =>
            {
                let condition = format!("let {pattern} = {value}");
                let guard = match guard {
                    Some(guard) => match conditions_end(site.at(guard)) {
                        0 => site.replace(guard.start..guard.start, format!("{condition} && ")),
                        // The boxes of the pattern in their order.
                        end => {
                            let end = guard.start + end;
                            site.replace(end..end, format!(" && {condition}"))
                        }
                    },
                    None => site.replace(matched.end..matched.end, format!(" if {condition}")),
                };
                return Some(vec![named, guard]);
            }
            Kind::Arm { pattern: matched, guard, body, is_block } if inside(matched) => {
                let mut all = vec![named, guarded(&shared, guard, matched.end)];
                if bindings.names.is_empty() {
                } else if *is_block {
                    all.push(site.replace(body.start + 1..body.start + 1, format!(" {statement}")));
                } else {
                    all.push(site.replace(body.start..body.start, format!("{{ {statement} ")));
                    all.push(site.replace(body.end..body.end, " }"));
                }
                return Some(all);
            }
            // Another condition of the chain.
            Kind::Let { pattern: matched, scrutinee, body }
                if inside(matched) && (body.is_none() || site.has_chains) =>
            {
                let end = scrutinee.end;
                return Some(vec![named, site.replace(end..end, format!(" && let {pattern} = {value}"))]);
            }
            Kind::Let { pattern: matched, body: Some(body), .. } if inside(matched) => {
                let start = body.start + 1;
                if !site.text[..node.range.start].trim_end().ends_with("if") {
                    // `while let`
                    let statement = format!(" let {pattern} = {value} else {{ break }};");
                    return Some(vec![named, site.replace(start..start, statement)]);
                }
                if bindings.names.is_empty()
                    && let Some(all) = condition(site)
                {
                    return Some(all);
                }
                let after = &site.text[body.end..];
                let other = after.trim_start().strip_prefix("else").map_or(Some(""), |_| other_block(after))?;
                let end = body.end - 1;
                return Some(vec![
                    named,
                    site.replace(start..start, format!(" if let {pattern} = {value} {{")),
                    site.replace(end..end, format!("}} {other}")),
                ]);
            }
            Kind::Local { pattern: matched, scrutinee: Some(scrutinee) } if inside(matched) => {
                let (_, other) = site.at(&(scrutinee.end..node.range.end)).split_once("else")?;
                if other.lines().count() > LINES {
                    return None;
                }
                let end = node.range.end;
                return Some(vec![named, site.replace(end..end, format!(" let {pattern} = {value} else{other}"))]);
            }
            _ => {}
        }
    }
    None
}

/// Returns where the conditions end that other boxes of the pattern gave to its guard: `let P = &**value && let Q = &**other`.
fn conditions_end(guard: &str) -> usize {
    let mut end = 0;
    while let Some(rest) = guard[end..].strip_prefix(if end == 0 { "let " } else { " && let " })
        && let Some((pattern, after)) = rest.split_once(" = &**")
        && !pattern.contains(" = ")
    {
        let name = after.find(|letter: char| !(letter.is_alphanumeric() || letter == '_')).unwrap_or(after.len());
        end = guard.len() - after.len() + name;
    }
    end
}

/// Alternatives inside of the box that bind nothing, in an arm: `Part::Is(of @ (Value::Nil | Value::Text(_)))` becomes
/// `Part::Is(of) if matches!(*of, Value::Nil | Value::Text(_))`.
fn whole(site: &Site<'_>) -> Option<Vec<Replace>> {
    struct Hole {
        of: Bytes,
        found: Option<(Bytes, Option<String>, Bytes)>,
    }
    impl<'ast> Visit<'ast> for Hole {
        fn visit_pat_tuple_struct(&mut self, node: &'ast syn::PatTupleStruct) {
            for elem in &node.elems {
                let range = elem.span().byte_range();
                if range.start <= self.of.start && self.of.end <= range.end && range != self.of {
                    let (name, inner) = match elem {
                        syn::Pat::Ident(syn::PatIdent { ident, subpat: Some((_, pat)), by_ref: None, .. }) => {
                            (Some(ident.to_string()), &**pat)
                        }
                        elem => (None, elem),
                    };
                    let inner = if let syn::Pat::Paren(paren) = inner { &*paren.pat } else { inner };
                    self.found = Some((range, name, inner.span().byte_range()));
                }
                self.visit_pat(elem);
            }
        }
    }
    let inside = |range: &Bytes| range.start <= site.range.start && site.range.end <= range.end;
    let (pattern, is_arm) = site.syntax.around(&site.range).find_map(|node| match &node.kind {
        Kind::Arm { pattern, guard: None, .. } if inside(pattern) => Some((pattern.clone(), true)),
        Kind::Matches { pattern, guard: None, .. } if inside(pattern) => Some((pattern.clone(), false)),
        _ => None,
    })?;
    let parsed = syn::Pat::parse_multi_with_leading_vert.parse_str(site.at(&pattern)).ok()?;
    let place = site.range.start - pattern.start..site.range.end - pattern.start;
    let mut hole = Hole { of: place, found: None };
    hole.visit_pat(&parsed);
    let (elem, name, inner) = hole.found?;
    let at = |range: Bytes| pattern.start + range.start..pattern.start + range.end;
    let inner = site.at(&at(inner));
    if matches!(parsed, syn::Pat::Or(_)) || without_names(inner) != inner {
        return None;
    }
    let is_ref = scrutinee_type(site).is_some_and(|(_, ty)| ty.contains('&'));
    let (name, stars) = (name.unwrap_or_else(|| free_name(site)), if is_ref { "**" } else { "*" });
    // A name alone would move the box out of a place.
    let bound = if is_arm || is_ref { name.clone() } else { format!("ref {name}") };
    let stars = if is_arm { stars } else { "**" };
    Some(vec![
        site.replace(at(elem), bound),
        site.replace(pattern.end..pattern.end, format!(" if matches!({stars}{name}, {inner})")),
    ])
}

/// `matches!(part, A(..) | B)` becomes `matches!(part, A(..)) || matches!(part, B)`, so that each has a guard of its own.
fn parted(site: &Site<'_>) -> Option<Vec<Replace>> {
    let (call, scrutinee, pattern) = site.syntax.around(&site.range).find_map(|node| match &node.kind {
        Kind::Matches { scrutinee, pattern, guard: None } => {
            Some((node.range.clone(), scrutinee.clone(), pattern.clone()))
        }
        _ => None,
    })?;
    let cases = site.syntax.at(&pattern).find_map(|node| match &node.kind {
        Kind::Or { cases } => Some(cases.clone()),
        _ => None,
    })?;
    // The node is what stands in the parentheses.
    let name = site.text[..call.start].trim_end().strip_suffix('(')?.trim_end();
    let end = site.text.len() - site.text[call.end..].trim_start_matches([' ', '\n', ',']).strip_prefix(')')?.len();
    let call = name.strip_suffix("matches!")?.len()..end;
    let value = site.at(&scrutinee);
    if !is_place(value) {
        return None;
    }
    let own = |case: &Bytes| case.start <= site.range.start && site.range.end <= case.end;
    let join = |cases: &mut dyn Iterator<Item = &Bytes>| {
        let all: Vec<&str> = cases.map(|case| site.at(case)).collect();
        format!("matches!({value}, {})", all.join(" | "))
    };
    let (first, last) =
        (join(&mut cases.iter().filter(|case| own(case))), join(&mut cases.iter().filter(|case| !own(case))));
    let both = if own(cases.first()?) { format!("{first} || {last}") } else { format!("{last} || {first}") };
    let (before, after) = (site.text[..call.start].trim_end(), site.text[call.end..].trim_start());
    let is_alone = before.ends_with(['{', '(', ',', ';', '|', '>'])
        || [" =", "return", " if"].iter().any(|end| before.ends_with(end));
    let is_alone = is_alone && (after.starts_with(['}', ')', ',', ';', '{']) || after.starts_with("||"));
    Some(vec![site.replace(call, if is_alone { both } else { format!("({both})") })])
}

/// Returns `true` if an expression calls nothing, and so makes no value that lives on in what follows.
fn is_place(value: &str) -> bool {
    value.chars().all(|letter| letter.is_alphanumeric() || "_.&* ".contains(letter))
}

/// `if let A(..) | B = part`, which binds nothing, becomes `if matches!(part, A(..) | B)`.
fn condition(site: &Site<'_>) -> Option<Vec<Replace>> {
    let (whole, pattern, scrutinee) = site.syntax.around(&site.range).find_map(|node| match &node.kind {
        Kind::Let { pattern, scrutinee, .. } if pattern.start <= site.range.start && site.range.end <= pattern.end => {
            Some((node.range.clone(), pattern.clone(), scrutinee.clone()))
        }
        _ => None,
    })?;
    let binds_nothing = site.syntax.pattern(&pattern).is_some_and(|bindings| bindings.names.is_empty());
    let with = format!("matches!({}, {})", site.at(&scrutinee), site.at(&pattern));
    (binds_nothing && is_place(site.at(&scrutinee)) && site.at(&whole).starts_with("let "))
        .then(|| vec![site.replace(whole, with)])
}

/// Returns the words of a text.
fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|letter: char| !(letter.is_alphanumeric() || letter == '_')).filter(|word| !word.is_empty())
}

/// Returns the `else` of an `if`, which is written once more: a block with few lines.
fn other_block(after: &str) -> Option<&str> {
    let other = after.trim_start();
    let block = other.strip_prefix("else")?.trim_start();
    if !block.starts_with('{') {
        return None;
    }
    let mut depth = 0_i32;
    for (at, letter) in block.char_indices() {
        depth += i32::from(letter == '{') - i32::from(letter == '}');
        if depth == 0 {
            let whole = &other[..=other.len() - block.len() + at];
            return (whole.lines().count() <= LINES && syn::parse_str::<syn::Block>(&block[..=at]).is_ok())
                .then_some(whole);
        }
    }
    None
}

/// Returns a pattern that binds nothing: `P { x: _, .. }` for `P { x, .. }`.
fn without_names(pattern: &str) -> String {
    struct Names(Vec<(Bytes, String)>);
    impl<'ast> Visit<'ast> for Names {
        fn visit_pat_ident(&mut self, node: &'ast syn::PatIdent) {
            let name = node.ident.to_string();
            match &node.subpat {
                Some((_, pat)) => {
                    let (whole, inner) = (node.span().byte_range(), pat.span().byte_range());
                    self.0.push((whole.start..inner.start, String::new()));
                    self.visit_pat(pat);
                }
                // A name in upper case is a constant or a variant.
                None if name.starts_with(char::is_uppercase) => {}
                None => self.0.push((node.span().byte_range(), "_".to_owned())),
            }
        }

        fn visit_field_pat(&mut self, node: &'ast syn::FieldPat) {
            if node.colon_token.is_none() {
                if let syn::Member::Named(name) = &node.member {
                    self.0.push((node.span().byte_range(), format!("{name}: _")));
                }
                return;
            }
            visit::visit_field_pat(self, node);
        }
    }
    let Ok(parsed) = syn::Pat::parse_multi_with_leading_vert.parse_str(pattern) else { return pattern.to_owned() };
    let mut names = Names(Vec::new());
    names.visit_pat(&parsed);
    let mut text = pattern.to_owned();
    for (range, with) in names.0.into_iter().rev() {
        text.replace_range(range, &with);
    }
    text
}

/// Guards do not count for whether all values are matched. If the last arm of a variant has one of the guards above, its pattern
/// matches all that is left: it loses the guard.
pub(super) fn repair_last(site: &Site<'_>) -> Option<Vec<Replace>> {
    if site.code() != "E0004" {
        return None;
    }
    let whole = site.syntax.around(&site.range).find_map(|node| match &node.kind {
        Kind::Match { scrutinee } if *scrutinee == site.range => Some(node.range.clone()),
        _ => None,
    })?;
    // `non-exhaustive patterns: `&Part::Is(_)` not covered`
    let missing = site.error.message.split('`').nth(1)?;
    let variant = missing.split('(').next()?.rsplit("::").next()?;
    let arms = site.syntax.within(&whole).filter_map(|node| match &node.kind {
        Kind::Arm { pattern, guard: Some(_), body, is_block } => {
            Some((node.range.clone(), pattern.clone(), body.clone(), *is_block))
        }
        _ => None,
    });
    let own = arms.filter(|(arm, ..)| {
        let matches = site.syntax.around(arm).filter(|node| matches!(node.kind, Kind::Match { .. }));
        matches.map(|node| &node.range).next() == Some(&whole)
    });
    let guards = own.filter_map(|(arm, pattern, body, is_block)| {
        let (text, guard) = (site.at(&pattern), site.at(&(pattern.end..body.start)));
        let name = text.split_once(&format!("{variant}(")).and_then(|(_, rest)| rest.strip_suffix(')'))?;
        let is_test = ["**", "*"].iter().any(|deref| guard.starts_with(&format!(" if matches!({deref}{name}, ")));
        // `if let P = &**value =>`, whose names the body uses.
        let binds = guard.strip_prefix(" if ").and_then(|condition| condition.trim_end().strip_suffix("=>"));
        let binds = binds
            .map(str::trim_end)
            .filter(|condition| condition.starts_with("let ") && condition.ends_with(&format!(" = &**{name}")));
        (is_test || binds.is_some()).then_some((arm.start, pattern, body, is_block, binds))
    });
    let (_, pattern, body, is_block, binds) = guards.max_by_key(|(start, ..)| *start)?;
    let mut all = vec![site.replace(pattern.end..body.start, " => ")];
    if let Some(binds) = binds {
        let statement = format!("{binds} else {{ unreachable!() }};");
        if is_block {
            all.push(site.replace(body.start + 1..body.start + 1, format!(" {statement}")));
        } else {
            all.push(site.replace(body.start..body.start, format!("{{ {statement} ")));
            all.push(site.replace(body.end..body.end, " }"));
        }
    }
    Some(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn conditions_of_other_boxes() {
        let guard = "let Value::One(a) = &**value && let Value::One(b) = &**other";
        assert_eq!(conditions_end(guard), guard.len());
        assert_eq!(conditions_end(&format!("{guard} && a == b")), guard.len());
        assert_eq!(conditions_end("a == b"), 0);
    }

    #[test]
    fn pattern_without_names() {
        assert_eq!(
            without_names("P { x, y: (a, _), z: Some(b @ 1..), .. }"),
            "P { x: _, y: (_, _), z: Some(1..), .. }"
        );
        assert_eq!(without_names("Kind::Sum(mut a, None, MOST)"), "Kind::Sum(_, None, MOST)");
    }
}
