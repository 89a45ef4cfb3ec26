//! A trait that a box does not implement: the value is passed instead of the box.

use super::super::moves::Becomes;
use super::super::syntax::Kind;
use super::{Replace, Site, quoted_after};

pub(super) fn repair(site: &Site<'_>) -> Option<Vec<Replace>> {
    if let Some(repaired) = taken(site) {
        return Some(repaired);
    }
    if site.code() != "E0277" {
        return None;
    }
    let known = built(site)
        .or_else(|| operator(site))
        .or_else(|| conversion(site))
        .or_else(|| converted(site))
        .or_else(|| borrowed(site));
    if let Some(repaired) = known {
        return Some(repaired);
    }
    // The error of `value.into()` is at the method.
    let receiver = site.syntax.around(&site.range).find_map(|node| match &node.kind {
        Kind::Method { receiver, name, .. } if name == "into" && receiver.end <= site.range.start => {
            Some(receiver.clone())
        }
        _ => None,
    });
    let is_receiver = receiver.is_some() && !site.syntax.is_expr(&site.range);
    let range = receiver.filter(|_| is_receiver).unwrap_or_else(|| site.range.clone());
    if !site.syntax.is_expr(&range) {
        return None;
    }
    // "the trait bound `&Box<T>: Trait` is not satisfied", "`Box<T>` doesn't implement `Trait`"
    let message = &site.error.message;
    let ty = quoted_after(message, "bound ").or_else(|| quoted_after(message, ""))?;
    // "required for the cast from `&Box<T>` to `&dyn Trait`": the reference is to become one to the trait object.
    let cast = site.error.children.iter().find_map(|note| quoted_after(&note.message, "the cast from "));
    let ty = cast.filter(|_| ty.contains("Box<")).unwrap_or(ty).replace("std::boxed::", "");
    let text = site.at(&range);
    let text = if site.syntax.is_postfix(&range) { text.to_owned() } else { format!("({text})") };
    let stars = match &*ty {
        _ if ty.starts_with("&mut Box<") => "&mut **",
        _ if ty.starts_with("&Box<") => "&**",
        _ if ty.starts_with("Box<") => "*",
        // `Node: From<&Box<T>>`
        _ if ty.contains("<&mut Box<") => "&mut **",
        _ if ty.contains("<&Box<") => "&**",
        _ if ty.contains("From<Box<") => "*",
        _ => return None,
    };
    // `.map(Node::new)`, where the function takes what is converted into the value.
    let function = site.syntax.around(&site.range).find_map(|node| match &node.kind {
        Kind::Method { arguments, .. } if arguments.len() == 1 => {
            let is_here = [&node.range, &arguments[0]].contains(&&site.range);
            let is_path = site.syntax.at(&arguments[0]).any(|node| node.kind == Kind::Path);
            (is_here && is_path).then(|| arguments[0].clone())
        }
        _ => None,
    });
    if let Some(path) = function.filter(|_| stars == "*" && !is_receiver) {
        let with = format!("|value| {}(*value)", site.at(&path));
        return Some(vec![site.replace(path, with)]);
    }
    if text.starts_with('*') && stars == "*" {
        return None;
    }
    let with = match site.shorthand(&site.range) {
        Some(name) => format!("{name}: {stars}{name}"),
        None if is_receiver => format!("({stars}{text})"),
        None => format!("{stars}{text}"),
    };
    Some(vec![site.replace(range, with)])
}

/// `all.collect()` makes the collection that is boxed: `Box::new(all.collect())`.
fn built(site: &Site<'_>) -> Option<Vec<Replace>> {
    let ty = quoted_after(&site.error.message, "a value of type ")?.replace("std::boxed::", "");
    let is_boxed = ty.starts_with("Box<") && !ty.starts_with("Box<[") && ty != "Box<str>";
    let call = site.syntax.around(&site.range).find(|node| match &node.kind {
        Kind::Method { name, .. } => ["collect", "sum", "product"].contains(&name.as_str()),
        _ => false,
    })?;
    is_boxed.then(|| vec![site.replace(call.range.clone(), format!("Box::new({})", site.at(&call.range)))])
}

/// A derived `TryFrom` gives the box now: `kind.try_into()` becomes `Box::<Huge>::try_from(kind).map(|value| *value)`.
fn taken(site: &Site<'_>) -> Option<Vec<Replace>> {
    let Becomes::Boxed(inner) = site.becomes else { return None };
    let message = &site.error.message;
    let (ty, _) = match site.code() {
        "E0277" => quoted_after(message, "bound ")?.split_once(": ")?,
        "E0271" => quoted_after(message, "resolving ")?.strip_prefix('<')?.split_once(" as TryFrom<")?,
        _ => return None,
    };
    let is_reference = ty.starts_with('&');
    if ty.trim_start_matches('&').rsplit("::").next() != inner.rsplit("::").next() {
        return None;
    }
    let (range, value) = site.syntax.around(&site.range).find_map(|node| match &node.kind {
        Kind::Method { receiver, name, arguments } if name == "try_into" && arguments.is_empty() => {
            Some((node.range.clone(), receiver.clone()))
        }
        Kind::Call { arguments } if arguments.len() == 1 => {
            let function = site.at(&(node.range.start..arguments[0].start));
            function.ends_with("::try_from(").then(|| (node.range.clone(), arguments[0].clone()))
        }
        _ => None,
    })?;
    let value = site.at(&value);
    let with = if is_reference {
        format!("<&Box<{inner}>>::try_from({value}).map(|value| &**value)")
    } else {
        format!("Box::<{inner}>::try_from({value}).map(|value| *value)")
    };
    Some(vec![site.replace(range, with)])
}

/// An operator that is called as a function: `BitOrAssign::bitor_assign(bits, &other)` gets `&mut **bits`, and `&*other`.
fn operator(site: &Site<'_>) -> Option<Vec<Replace>> {
    let message = &site.error.message;
    let (left, right) = match message.strip_prefix("no implementation for ") {
        Some(_) => quoted_after(message, "for ")?.split_once("= ")?,
        // "cannot subtract-assign `R` from `L`"
        None if message.starts_with("cannot ") && message.contains("-assign ") => {
            let first = quoted_after(message, "-assign ")?;
            let second = [" from ", " to ", " by "].iter().find_map(|word| quoted_after(message, word))?;
            if message.contains("` by `") { (first, second) } else { (second, first) }
        }
        None => return None,
    };
    let arguments = site.syntax.around(&site.range).find_map(|node| match &node.kind {
        Kind::Call { arguments } if arguments.len() == 2 => {
            let function = site.at(&(node.range.start..arguments[0].start)).trim_end();
            function.strip_suffix('(')?.ends_with("_assign").then(|| arguments.clone())
        }
        _ => None,
    })?;
    let wanted = [(left.starts_with("Box<"), "&mut "), (right.starts_with("&Box<"), "&")];
    let mut all = Vec::new();
    for (argument, (is_box, reference)) in arguments.into_iter().zip(wanted) {
        let text = site.at(&argument);
        let with = text
            .strip_prefix(reference)
            .map_or_else(|| format!("{reference}**{text}"), |rest| format!("{reference}*{rest}"));
        all.extend(is_box.then(|| site.replace(argument, with)));
    }
    (!all.is_empty()).then_some(all)
}

/// `map.remove(key)` with a `&String`, where the keys became `Box<str>`: `map.remove(key.as_str())`. The same if the key became one.
fn borrowed(site: &Site<'_>) -> Option<Vec<Replace>> {
    let (_, bound) = quoted_after(&site.error.message, "bound ")?.split_once(": Borrow<")?;
    let source = site.source();
    let key = source.trim_start_matches('&');
    if !site.syntax.is_expr(&site.range) || key.contains(' ') {
        return None;
    }
    let with = match bound {
        "String>" | "ThinStr>" | "dwell::ThinStr>" => format!("{key}.as_str()"),
        _ if bound.starts_with("Vec<") || bound.contains("ThinSlice<") => format!("{key}.as_slice()"),
        // `&key` is one already.
        _ if ["Box<", "Arc<"].iter().any(|owner| bound.starts_with(owner)) => {
            format!("{}{key}", if source.starts_with('&') { "&*" } else { "&**" })
        }
        _ => return None,
    };
    Some(vec![site.replace(site.range.clone(), with)])
}

/// `text.into()`, `text.parse()?` and `text.parse().unwrap()` where a box is expected: the value is made, and then the box.
fn conversion(site: &Site<'_>) -> Option<Vec<Replace>> {
    let bound = quoted_after(&site.error.message, "bound ")?;
    if !bound.starts_with("Box<")
        || !bound.contains(">: From<") && !bound.contains(">: FromStr") && !bound.contains(">: std::str::FromStr")
    {
        return None;
    }
    let call = site.syntax.around(&site.range).find(|node| {
        matches!(&node.kind, Kind::Method { name, arguments, .. } if ["into", "parse"].contains(&name.as_str()) && arguments.is_empty())
    })?;
    let mut range = call.range.clone();
    if site.text.get(range.end..).is_some_and(|rest| rest.starts_with('?')) {
        range.end += 1;
    }
    let unwrapped = site.syntax.around(&range).find_map(|node| match &node.kind {
        Kind::Method { receiver, name, .. } if *receiver == range && ["unwrap", "expect"].contains(&name.as_str()) => {
            Some(node.range.clone())
        }
        _ => None,
    });
    let range = unwrapped.unwrap_or(range);
    let value = site.at(&range).to_owned();
    Some(vec![site.replace(range, format!("Box::new({value})"))])
}

/// A derived `From<T>` has become `From<Box<T>>`, as that of `#[from]`: the value is boxed before it is converted.
fn converted(site: &Site<'_>) -> Option<Vec<Replace>> {
    let Becomes::Boxed(inner) = site.becomes else { return None };
    let message = &site.error.message;
    let is_try = message.starts_with("`?` couldn't convert");
    let texts = site.error.children.iter().map(|child| child.message.as_str()).chain([message.as_str()]);
    let is_it = |text: &str| {
        let Some((_, rest)) = text.split_once("From<") else { return false };
        let ty = rest.split(['>', '<']).next().unwrap_or_default();
        ty.rsplit("::").next() == inner.rsplit("::").next()
    };
    if !texts.into_iter().any(is_it) {
        return None;
    }
    if is_try && site.source() == "?" {
        return Some(vec![site.replace(site.range.clone(), ".map_err(Box::new)?")]);
    }
    // `.map_err(Failure::from)?`, `.map_err(Into::into)`
    let from = site.syntax.within(&site.range).find_map(|node| match &node.kind {
        Kind::Method { name, arguments, .. } if ["map", "map_err"].contains(&name.as_str()) => {
            let is_it =
                |argument: &&super::Bytes| ["::from", "Into::into"].iter().any(|end| site.at(argument).ends_with(end));
            arguments.iter().find(is_it).cloned()
        }
        _ => None,
    });
    if let Some(from) = from {
        let name = site.argument_name(from.start);
        let with = match site.at(&from) {
            path if path.ends_with("::into") => format!("|{name}| Box::new({name}).into()"),
            path => format!("|{name}| {path}(Box::new({name}))"),
        };
        return Some(vec![site.replace(from, with)]);
    }
    let into = site.syntax.around(&site.range).find_map(|node| match &node.kind {
        Kind::Method { receiver, name, arguments } if name == "into" && arguments.is_empty() => Some(receiver.clone()),
        _ => None,
    });
    // The error is at the method, or at its receiver.
    let value = match into {
        Some(receiver) if receiver.end <= site.range.start || receiver == site.range => receiver,
        _ if site.syntax.is_expr(&site.range) => site.range.clone(),
        _ => return None,
    };
    let text = site.at(&value);
    (!text.starts_with("Box::new(")).then(|| vec![site.replace(value.clone(), format!("Box::new({text})"))])
}
