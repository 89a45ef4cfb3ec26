//! Budgets, from the command line and from `dwell.toml`.

use super::CheckArgs;
use crate::config::Config;
use anyhow::{Result, bail};
use dwell_debuginfo::{Field, Kind, Program, Type, TypeId};
use dwell_output::nearest;
use dwell_output::units::parse_bytes;
use dwell_output::units::{count, plural};
use std::path::Path;
use std::str::FromStr;

/// A type's largest allowed size.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SizeBudget {
    /// The type's name, or the last parts of its path, with or without arguments.
    pub name: String,
    /// The largest allowed size in bytes.
    pub most: u64,
}

impl FromStr for SizeBudget {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        // A type's name may contain `=` too: `Box<dyn Fn() -> u8>=16`, `Iterator<Item = u8>`.
        let (name, bytes) = text.rsplit_once('=').ok_or("write it as TYPE=BYTES, such as `Config=64`")?;
        let most = parse_bytes(bytes).map_err(|how| format!("`{}` {how}", bytes.trim()))?;
        let name = name.trim().to_owned();
        if name.is_empty() {
            return Err("name the type before the `=`, such as `Config=64`".into());
        }
        Ok(Self { name, most: most.as_u64() })
    }
}

/// The budgets of a program.
#[derive(Debug, Clone, Default)]
pub struct Budgets {
    /// The budgets from the command line. A name that matches no type is an error.
    asked: Vec<SizeBudget>,
    /// The budgets from `dwell.toml`, which all programs of a workspace share. A name that matches no type only gives a
    /// note.
    configured: Vec<SizeBudget>,
    max_future: Option<u64>,
    strict: bool,
}

impl Budgets {
    /// Combines the budgets of the arguments with those of `dwell.toml`. The arguments take precedence.
    ///
    /// # Errors
    /// Returns an error if `dwell.toml` cannot be read or has unknown keys.
    pub fn new(args: &CheckArgs, config: Option<&Path>) -> Result<Self> {
        let config = config.map_or_else(|| Ok(Config::default()), Config::read)?;
        let asked = args.max_size.clone();
        let configured =
            config.max_size.into_iter().filter(|(name, _)| asked.iter().all(|budget| budget.name != *name));
        Ok(Self {
            configured: configured.map(|(name, most)| SizeBudget { name, most: most.0 }).collect(),
            max_future: args.max_future.map(|size| size.as_u64()).or(config.max_future.map(|most| most.0)),
            strict: args.strict,
            asked,
        })
    }

    /// Returns a line for each type of the programs that exceeds its budget. With `all`, this includes futures of
    /// dependencies.
    ///
    /// # Errors
    /// Returns an error if the command line, or with `--strict` `dwell.toml`, names a type that none of the programs has.
    pub fn broken(&self, programs: &[&Program], all: bool) -> Result<Vec<String>> {
        let mut lines = Vec::new();
        let budgets = self.asked.iter().map(|budget| (budget, true));
        for (budget, asked) in budgets.chain(self.configured.iter().map(|budget| (budget, false))) {
            let mut is_known = false;
            for program in programs {
                let types = matching(program, &budget.name);
                is_known |= !types.is_empty();
                let broken = types.into_iter().filter(|&id| program.size_of(id) > budget.most);
                lines.extend(broken.map(|id| line(program, id, budget.most)));
            }
            if !is_known {
                let names = programs.iter().flat_map(|program| program.types()).map(|(_, ty)| &*ty.name);
                let near = nearest::suggestion(&budget.name, names);
                let message = format!("the budget for `{}` matches no type of the program{near}", budget.name);
                if asked || self.strict {
                    bail!("{message}");
                }
                eprintln!("note: {message}");
            }
        }
        if let Some(most) = self.max_future {
            for program in programs {
                let is_future = |ty: &Type| matches!(ty.kind, Kind::Coroutine(_)) && (all || ty.own);
                let futures = program.types().filter(|(_, ty)| is_future(ty));
                let mut broken: Vec<TypeId> = futures.filter(|(_, ty)| ty.size > most).map(|(id, _)| id).collect();
                broken.sort_by_key(|&id| std::cmp::Reverse(program.size_of(id)));
                lines.extend(broken.into_iter().map(|id| line(program, id, most)));
            }
        }
        let mut seen = std::collections::HashSet::new();
        lines.retain(|line| seen.insert(line.clone()));
        Ok(lines)
    }
}

/// Returns the types that a budget applies to: those of the workspace, or else those of dependencies.
pub(crate) fn matching(program: &Program, name: &str) -> Vec<TypeId> {
    let fits = |text: &str| text == name || text.strip_suffix(name).is_some_and(|start| start.ends_with("::"));
    let without_arguments = |text: &str| {
        let end = text.find('<').filter(|_| text.ends_with('>') && !text.starts_with('<'));
        fits(&text[..end.unwrap_or(text.len())])
    };
    let is_named =
        |ty: &Type| fits(&ty.name) || fits(&ty.path) || without_arguments(&ty.name) || without_arguments(&ty.path);
    let sized = |ty: &Type| !matches!(ty.kind, Kind::Vtable(_) | Kind::Opaque);
    let found: Vec<_> = program.types().filter(|(_, ty)| sized(ty) && is_named(ty)).collect();
    let own: Vec<TypeId> = found.iter().filter(|(_, ty)| ty.own).map(|(id, _)| *id).collect();
    if own.is_empty() { found.into_iter().map(|(id, _)| id).collect() } else { own }
}

fn line(program: &Program, id: TypeId, most: u64) -> String {
    let ty = program.get(id);
    let at = ty.source.as_ref().map_or_else(String::new, |source| format!(" ({}:{})", source.file, source.line));
    let why = why(program, ty);
    let colon = if why.is_empty() { "" } else { ": " };
    let size = ty.size;
    format!(
        "`{}`{at} takes {} bytes, {} more than its budget of {}{colon}{why}",
        ty.name,
        count(size),
        count(size - most),
        count(most)
    )
}

/// Names the fields that make a type large.
pub(crate) fn why(program: &Program, ty: &Type) -> String {
    let end = |fields: &[Field]| {
        fields.iter().map(|field| field.offset.saturating_add(program.size_of(field.ty))).max().unwrap_or(0)
    };
    match &ty.kind {
        Kind::Struct(fields) | Kind::Closure(fields) | Kind::Union(fields) => {
            largest(program, fields, "its largest field")
        }
        Kind::Enum(of_enum) => {
            // A tag outside of the fields is not part of a variant.
            let tag = of_enum.tag.as_ref().filter(|tag| tag.niche.is_none()).map_or(0, |tag| tag.size);
            let size = |fields: &[Field]| end(fields).saturating_sub(tag);
            let mut variants: Vec<_> =
                of_enum.variants.iter().map(|variant| (size(&variant.fields), variant)).collect();
            variants.sort_by_key(|&(size, _)| std::cmp::Reverse(size));
            let Some((size, variant)) = variants.first() else { return String::new() };
            let next = variants.get(1).map_or_else(String::new, |(size, next)| {
                format!("; the next, `{}`, takes {}", next.name, count(*size))
            });
            let field = largest(program, &variant.fields, "because of");
            format!("its largest variant `{}` takes {} bytes {field}{next}", variant.name, count(*size))
        }
        Kind::Array { element, count: number } => {
            format!("it has {} of {}", plural(*number, "element"), plural(program.size_of(*element), "byte"))
        }
        Kind::Coroutine(coroutine) => {
            let suspended = coroutine.states.iter().filter(|state| state.is_suspended());
            let fields = |state: &dwell_debuginfo::State| -> Vec<Field> {
                state.held.iter().chain(&state.awaited).cloned().collect()
            };
            match suspended.max_by_key(|state| end(&fields(state))) {
                Some(state) => {
                    let at = state.source.as_ref();
                    let at = at.map_or_else(String::new, |at| format!(" in {}:{}", at.file, at.line));
                    largest(program, &fields(state), &format!("across the `.await`{at} it holds"))
                }
                None => largest(program, &coroutine.captures, "its largest capture"),
            }
        }
        _ => String::new(),
    }
}

/// Lists up to three of the largest fields, each at least a quarter as large as the largest.
fn largest(program: &Program, fields: &[Field], what: &str) -> String {
    let mut fields: Vec<(u64, &Field)> = fields.iter().map(|field| (program.size_of(field.ty), field)).collect();
    fields.sort_by_key(|&(size, field)| (std::cmp::Reverse(size), field.offset));
    fields.dedup_by_key(|(_, field)| (field.name.clone(), field.offset));
    let Some(&(first, _)) = fields.first() else { return String::new() };
    let near = fields.iter().filter(|(size, _)| *size > 0 && size.saturating_mul(4) >= first).take(3);
    let names: Vec<_> = near
        .map(|(size, field)| match &*field.name {
            "__awaitee" => format!("the future `{}` ({} bytes)", program.get(field.ty).name, count(*size)),
            name => format!("`{name}: {}` ({} bytes)", program.get(field.ty).name, count(*size)),
        })
        .collect();
    if names.is_empty() { String::new() } else { format!("{what} {}", names.join(", ")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn size_budgets_are_parsed() {
        let budget = |text: &str| text.parse::<SizeBudget>();
        assert_eq!(budget("Config=64"), Ok(SizeBudget { name: "Config".into(), most: 64 }));
        assert_eq!(budget("Map<K, V> = 4KiB"), Ok(SizeBudget { name: "Map<K, V>".into(), most: 4096 }));
        assert_eq!(budget("dyn Iterator<Item = u8>=16").unwrap().name, "dyn Iterator<Item = u8>");
        for wrong in ["Config", "=64", "Config=", "Config=-1", "Config=many", "Config=99999999999999999999999"] {
            assert!(!budget(wrong).unwrap_err().contains('\n'), "{wrong}");
        }
    }
}
