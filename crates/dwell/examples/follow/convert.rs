//! Generates functions that convert the values of a crate to a copy of its types in which some types have changed.
//!
//! The types of `openapiv3` have their own deserializers, which no patch changes. So the program loads values of the
//! original types, and each step has functions that convert them to its types: `String` to `ThinStr`, `Option<T>` to
//! `Option<Box<T>>`, and so on.

use super::Result;
use std::collections::BTreeMap;
use std::fmt::Write;
use syn::{Fields, GenericArgument, Item, PathArguments};

/// A type in the source: the name without a path, and the arguments. `()` and `[]` are names too.
#[derive(Clone, Debug, PartialEq)]
struct Type {
    name: String,
    arguments: Vec<Type>,
}

/// A struct, or a variant of an enum.
#[derive(Clone, Debug)]
struct Part {
    name: String,
    fields: Vec<(String, Type)>,
    is_named: bool,
}

/// A struct or enum.
#[derive(Clone, Debug)]
struct Def {
    parameters: Vec<String>,
    is_enum: bool,
    parts: Vec<Part>,
    default: Standard,
    /// Whether the type derives `Hash`.
    is_key: bool,
}

/// The `Default` of a type: none, derived, or a variant of an enum.
#[derive(Clone, Debug, PartialEq)]
enum Standard {
    None,
    Derived,
    Variant(String),
}

/// The structs and enums of a source file.
pub(super) struct Types {
    defs: BTreeMap<String, Def>,
    aliases: BTreeMap<String, Type>,
}

impl Types {
    pub(super) fn parse<'a>(files: impl IntoIterator<Item = &'a str>) -> Result<Self> {
        let (mut defs, mut aliases) = (BTreeMap::new(), BTreeMap::new());
        let parameters =
            |generics: &syn::Generics| generics.type_params().map(|parameter| parameter.ident.to_string()).collect();
        let mut defaults: BTreeMap<String, String> = BTreeMap::new();
        let files = files.into_iter().map(syn::parse_file).collect::<syn::Result<Vec<_>>>()?;
        for item in files.into_iter().flat_map(|file| file.items) {
            match item {
                // Skips the visitors for serde, which are tuple structs. The types of the documents have named fields.
                Item::Struct(item) if matches!(item.fields, Fields::Named(_)) => {
                    let (name, [has_default, is_key]) = (item.ident.to_string(), derived(&item.attrs));
                    let default = if has_default { Standard::Derived } else { Standard::None };
                    let parts = vec![Part::parse(name.clone(), &item.fields)?];
                    defs.insert(
                        name,
                        Def { parameters: parameters(&item.generics), is_enum: false, parts, default, is_key },
                    );
                }
                Item::Enum(item) => {
                    let part = |variant: &syn::Variant| Part::parse(variant.ident.to_string(), &variant.fields);
                    let parts = item.variants.iter().map(part).collect::<Result<_>>()?;
                    let default = Standard::None;
                    let parameters = parameters(&item.generics);
                    defs.insert(
                        item.ident.to_string(),
                        Def { parameters, is_enum: true, parts, default, is_key: derived(&item.attrs)[1] },
                    );
                }
                Item::Type(alias) => _ = aliases.insert(alias.ident.to_string(), Type::parse(&alias.ty)?),
                Item::Impl(item_impl) => {
                    if let Some((name, variant)) = default_of(&item_impl) {
                        defaults.insert(name, variant);
                    }
                }
                _ => {}
            }
        }
        for (name, variant) in defaults {
            if let Some(def) = defs.get_mut(&name) {
                def.default = Standard::Variant(variant);
            }
        }
        Ok(Self { defs, aliases })
    }

    /// Returns the source of these types, with one field on each line.
    pub(super) fn text(&self) -> String {
        let mut text = String::new();
        for (name, def) in &self.defs {
            let parameters =
                if def.parameters.is_empty() { String::new() } else { format!("<{}>", def.parameters.join(", ")) };
            let kind = if def.is_enum { "enum" } else { "struct" };
            let default = if def.default == Standard::None { "" } else { ", Default" };
            let key = if def.is_key { ", PartialEq, Eq, Hash" } else { "" };
            let _ = writeln!(text, "#[derive(Weigh{default}{key})]\npub {kind} {name}{parameters} {{");
            for part in &def.parts {
                let field = |public: &str, (field, ty): &(String, Type)| {
                    let ty = self.expanded(ty).text();
                    if part.is_named { format!("{public}{field}: {ty},") } else { format!("({ty}),") }
                };
                if def.default == Standard::Variant(part.name.clone()) {
                    text.push_str("    #[default]\n");
                }
                match (def.is_enum, part.fields.as_slice()) {
                    (false, fields) => fields.iter().for_each(|one| _ = writeln!(text, "    {}", field("pub ", one))),
                    (true, []) => _ = writeln!(text, "    {},", part.name),
                    (true, [one]) if !part.is_named => _ = writeln!(text, "    {}{}", part.name, field("", one)),
                    (true, fields) => {
                        let _ = writeln!(text, "    {} {{", part.name);
                        for one in fields {
                            _ = writeln!(text, "        {}", field("", one));
                        }
                        let _ = writeln!(text, "    }},");
                    }
                }
            }
            text.push_str("}\n");
        }
        text
    }

    /// Returns the type with its aliases expanded.
    fn expanded(&self, ty: &Type) -> Type {
        match self.aliases.get(&ty.name) {
            Some(alias) => self.expanded(alias),
            None => Type {
                name: ty.name.clone(),
                arguments: ty.arguments.iter().map(|argument| self.expanded(argument)).collect(),
            },
        }
    }

    /// Returns a function for each type, which converts a value of the crate `from` to the type of the same name in the
    /// module `to`.
    pub(super) fn functions(&self, from: &str, to: &str, new: &Self) -> Result<String> {
        let mut text = String::new();
        for (name, def) in &self.defs {
            let changed = new.defs.get(name).ok_or_else(|| format!("no type `{name}`"))?;
            let (mut generics, mut before, mut after, mut functions) = (vec![], vec![], vec![], String::new());
            let mut names = BTreeMap::new();
            for (number, parameter) in def.parameters.iter().enumerate() {
                generics.extend([format!("A{number}"), format!("B{number}")]);
                before.push(format!("A{number}"));
                after.push(format!("B{number}"));
                let _ = write!(functions, ", f{number}: fn(A{number}) -> B{number}");
                names.insert(parameter.as_str(), format!("f{number}"));
            }
            let list =
                |names: &[String]| if names.is_empty() { String::new() } else { format!("<{}>", names.join(", ")) };
            let _ = writeln!(
                text,
                "#[allow(non_snake_case)]\npub fn {name}{}(value: {from}::{name}{}{functions}) -> {to}::{name}{} {{\n    match value {{",
                list(&generics),
                list(&before),
                list(&after)
            );
            let convert = Convert { old: self, new, names };
            for (part, changed) in def.parts.iter().zip(&changed.parts) {
                let path = |module: &str| {
                    if def.is_enum { format!("{module}::{name}::{}", part.name) } else { format!("{module}::{name}") }
                };
                let variables: Vec<String> = (0..part.fields.len()).map(|number| format!("v{number}")).collect();
                let values = |of: &Part| -> Result<String> {
                    let fields = part.fields.iter().zip(&of.fields).zip(&variables).map(|((old, new), variable)| {
                        convert.value(&self.expanded(&old.1), &convert.new.expanded(&new.1), variable)
                    });
                    Ok(of.with(&fields.collect::<Result<Vec<_>>>()?))
                };
                // A suggestion may have moved the fields of the variant to a struct in a box.
                let moved = match changed.fields.as_slice() {
                    [(_, ty)] if part.is_named && !changed.is_named && ty.name == "Box" => {
                        new.defs.get(&ty.arguments[0].name)
                    }
                    _ => None,
                };
                let made = match moved {
                    Some(field) => {
                        format!(
                            "(Box::new({to}::{}{}))",
                            changed.fields[0].1.arguments[0].name,
                            values(&field.parts[0])?
                        )
                    }
                    None => values(changed)?,
                };
                let _ = writeln!(text, "        {}{} => {}{made},", path(from), part.with(&variables), path(to));
            }
            text.push_str("    }\n}\n");
        }
        Ok(text)
    }
}

impl Part {
    fn parse(name: String, fields: &Fields) -> Result<Self> {
        let is_named = matches!(fields, Fields::Named(_));
        let field = |(number, field): (usize, &syn::Field)| {
            let name = field.ident.as_ref().map_or_else(|| number.to_string(), ToString::to_string);
            Ok((name, Type::parse(&field.ty)?))
        };
        Ok(Self { name, fields: fields.iter().enumerate().map(field).collect::<Result<_>>()?, is_named })
    }

    /// Returns the fields with these values, as a pattern or an expression.
    fn with(&self, values: &[String]) -> String {
        let named = |((name, _), value): (&(String, Type), &String)| format!("{name}: {value}");
        match (self.is_named, values) {
            (true, _) => format!(" {{ {} }}", self.fields.iter().zip(values).map(named).collect::<Vec<_>>().join(", ")),
            (false, []) => String::new(),
            (false, _) => format!("({})", values.join(", ")),
        }
    }
}

impl Type {
    fn parse(ty: &syn::Type) -> Result<Self> {
        let (name, arguments) = match ty {
            syn::Type::Path(path) => {
                let last = path.path.segments.last().ok_or("a type without a name")?;
                let arguments =
                    match &last.arguments {
                        PathArguments::AngleBracketed(given) => given
                            .args
                            .iter()
                            .filter_map(|argument| {
                                if let GenericArgument::Type(ty) = argument { Some(Self::parse(ty)) } else { None }
                            })
                            .collect::<Result<_>>()?,
                        _ => Vec::new(),
                    };
                (last.ident.to_string(), arguments)
            }
            syn::Type::Tuple(tuple) => ("()".into(), tuple.elems.iter().map(Self::parse).collect::<Result<_>>()?),
            syn::Type::Paren(inner) => return Self::parse(&inner.elem),
            syn::Type::Slice(slice) => ("[]".into(), vec![Self::parse(&slice.elem)?]),
            _ => return Err("a type that is neither a path, a tuple nor a slice".into()),
        };
        Ok(Self { name, arguments })
    }

    fn text(&self) -> String {
        let arguments = self.arguments.iter().map(Self::text).collect::<Vec<_>>().join(", ");
        match self.name.as_str() {
            "()" => format!("({arguments})"),
            "[]" => format!("[{arguments}]"),
            name if self.arguments.is_empty() => name.into(),
            name => format!("{name}<{arguments}>"),
        }
    }
}

/// Returns whether a type derives `Default`, and whether it derives `Hash`.
fn derived(attributes: &[syn::Attribute]) -> [bool; 2] {
    let mut found = [false; 2];
    for attribute in attributes.iter().filter(|attribute| attribute.path().is_ident("derive")) {
        let _ = attribute.parse_nested_meta(|meta| {
            found[0] |= meta.path.is_ident("Default");
            found[1] |= meta.path.is_ident("Hash");
            Ok(())
        });
    }
    found
}

/// Returns the enum for which a block implements `Default`, and the variant that is its default.
fn default_of(block: &syn::ItemImpl) -> Option<(String, String)> {
    let is_default = block.trait_.as_ref().is_some_and(|(_, path, _)| path.is_ident("Default"));
    let [syn::ImplItem::Fn(function)] = block.items.as_slice() else { return None };
    let Some(syn::Stmt::Expr(syn::Expr::Path(variant), None)) = function.block.stmts.last() else { return None };
    let name = Type::parse(&block.self_ty).ok()?.name;
    is_default.then_some((name, variant.path.segments.last()?.ident.to_string()))
}

/// A generator of expressions that convert values of one type to another.
struct Convert<'a> {
    old: &'a Types,
    new: &'a Types,
    /// The conversion functions for the type's parameters.
    names: BTreeMap<&'a str, String>,
}

impl Convert<'_> {
    /// Returns whether a value of a type needs no conversion.
    fn is_same(&self, ty: &Type) -> bool {
        !self.old.defs.contains_key(&ty.name)
            && !self.names.contains_key(ty.name.as_str())
            && ty.arguments.iter().all(|argument| self.is_same(argument))
    }

    /// Returns the expression that converts `value` from the type `from` to the type `to`.
    fn value(&self, from: &Type, to: &Type, value: &str) -> Result<String> {
        if from == to && self.is_same(from) {
            return Ok(value.into());
        }
        if let Some(function) = self.names.get(from.name.as_str()).filter(|_| from == to) {
            return Ok(format!("{function}({value})"));
        }
        let inner =
            |number: usize| -> Result<String> { self.value(&from.arguments[number], &to.arguments[number], "v") };
        Ok(match (from.name.as_str(), to.name.as_str()) {
            ("Option", "Sparse") => {
                let inner = self.value(&from.arguments[0], &to.arguments[0], "v")?;
                format!("match {value} {{ Some(v) => Sparse::new({inner}), None => Sparse::default() }}")
            }
            (_, "Sparse") => format!("Sparse::new({})", self.value(from, &to.arguments[0], value)?),
            ("Option", "Option") => format!("{value}.map(|v| {})", inner(0)?),
            // An empty value becomes `None`.
            (_, "Option") if to.arguments[0].name == "Box" => {
                let inner = self.value(from, &to.arguments[0].arguments[0], value)?;
                format!("Some({inner}).filter(|v| !Weigh::is_vacant(v)).map(Box::new)")
            }
            ("String", "Box") if to.arguments[0].name == "str" => format!("{value}.into_boxed_str()"),
            ("String", "ThinStr") => format!("ThinStr::from({value})"),
            ("Vec", "Box") if to.arguments[0].name == "[]" => {
                let inner = self.value(&from.arguments[0], &to.arguments[0].arguments[0], "v")?;
                format!("{value}.into_iter().map(|v| {inner}).collect::<Box<[_]>>()")
            }
            ("Vec", "ThinSlice") => format!("{value}.into_iter().map(|v| {}).collect::<ThinSlice<_>>()", inner(0)?),
            ("Box", "Box") => {
                format!("Box::new({})", self.value(&from.arguments[0], &to.arguments[0], &format!("(*{value})"))?)
            }
            (_, "Box") => format!("Box::new({})", self.value(from, &to.arguments[0], value)?),
            // Keeps the capacity.
            ("Vec", "Vec") => format!(
                "{{ let mut all = Vec::with_capacity({value}.capacity()); all.extend({value}.into_iter().map(|v| {})); all }}",
                inner(0)?
            ),
            ("IndexMap", "IndexMap") => {
                let key = self.value(&from.arguments[0], &to.arguments[0], "k")?;
                format!(
                    "{{ let mut all = IndexMap::with_capacity({value}.capacity()); all.extend({value}.into_iter().map(|(k, v)| ({key}, {}))); all }}",
                    inner(1)?
                )
            }
            ("HashMap" | "BTreeMap", "HashMap" | "BTreeMap" | "SortedMap") => {
                let key = self.value(&from.arguments[0], &to.arguments[0], "k")?;
                format!("{value}.into_iter().map(|(k, v)| ({key}, {})).collect()", inner(1)?)
            }
            ("()", "()") => {
                let parts = (0..from.arguments.len()).map(|number| {
                    self.value(&from.arguments[number], &to.arguments[number], &format!("{value}.{number}"))
                });
                format!("({},)", parts.collect::<Result<Vec<_>>>()?.join(", "))
            }
            (name, other) if name == other && self.old.defs.contains_key(name) => {
                let functions = (0..from.arguments.len()).map(|number| Ok(format!(", |v| {}", inner(number)?)));
                format!("{name}({value}{})", functions.collect::<Result<Vec<_>>>()?.concat())
            }
            _ => return Err(format!("no way from `{}` to `{}`", from.text(), to.text()).into()),
        })
    }
}
