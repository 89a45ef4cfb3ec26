//! Variants with several fields, of which a report says that they are large: their large fields are boxed one by one. How large each is,
//! the compiler says.

use super::moves::{Move, is_of_fields};
use super::session::Session;
use super::tree::Tree;
use anyhow::Result;
use dwell_source::{Edit, Items};
use std::collections::BTreeMap;
use std::path::Path;
use syn::spanned::Spanned as _;
use syn::visit::Visit;

/// Fields up to this size stay: a box of one saves less than its block costs.
const SMALL: u64 = 24;

/// Gives the moves that name variants with several fields an edit for each field. [`Session::large`] leaves out the small ones.
pub(super) fn locate(moves: &mut [Move], root: &Path) {
    if !moves.iter().any(Move::is_of_whole_variant) {
        return;
    }
    let items = Items::new(Some(root));
    for change in moves.iter_mut().filter(|candidate| candidate.is_of_whole_variant()) {
        let named = if change.fields.is_empty() { std::slice::from_ref(&change.location) } else { &change.fields };
        let open = named.iter().map(|name| Edit { item: name.clone(), ..Edit::default() });
        let given = if change.edits.is_empty() { open.collect() } else { change.edits.clone() };
        let edits = given
            .into_iter()
            .map(|edit| if is_of_fields(&edit) { fields_of(root, &items, &edit.item) } else { Some(vec![edit]) });
        if let Some(edits) = edits.collect::<Option<Vec<_>>>() {
            change.edits = edits.concat();
            change.of_whole_variants = true;
        }
    }
}

/// Returns an edit for each field of a variant such as `m::Kind::Call`.
fn fields_of(root: &Path, items: &Items, name: &str) -> Option<Vec<Edit>> {
    let (path, variant) = name.rsplit_once("::")?;
    let item = items.at(path)?;
    let text = std::fs::read_to_string(root.join(&item.file)).ok()?;
    let name = path.split('<').next()?.rsplit("::").next()?;
    let fields = fields(&text, name, variant, item.line)?.into_iter();
    Some(fields.map(|field| Edit { file: item.file.clone(), ..field }).collect())
}

/// Returns an edit for each field of a variant; its only field, if it has one, is the variant.
fn fields(text: &str, name: &str, variant: &str, line: u32) -> Option<Vec<Edit>> {
    let file = syn::parse_file(text).ok()?;
    let mut search = Enums { name, found: Vec::new() };
    search.visit_file(&file);
    let nearest = |item: &&syn::ItemEnum| u32::try_from(item.span().start().line).unwrap_or(0).abs_diff(line);
    let nearest_enum = search.found.into_iter().min_by_key(nearest)?;
    let variant_item = nearest_enum.variants.iter().find(|candidate| candidate.ident == variant)?;
    let is_only = variant_item.fields.len() == 1;
    let edits = variant_item.fields.iter().enumerate().map(|(index, field)| {
        let from = text.get(field.ty.span().byte_range())?.to_owned();
        let to = match from.strip_prefix("Option<").and_then(|rest| rest.strip_suffix('>')) {
            Some(inner) => format!("Option<Box<{inner}>>"),
            None => format!("Box<{from}>"),
        };
        let field_name = field.ident.as_ref().map_or_else(|| index.to_string(), ToString::to_string);
        let item = if is_only { format!("{name}::{variant}") } else { format!("{name}::{variant}.{field_name}") };
        let line = u32::try_from(field.span().start().line).ok()?;
        Some(Edit { line, item, from, to, ..Edit::default() })
    });
    edits.collect()
}

struct Enums<'a, 'ast> {
    name: &'a str,
    found: Vec<&'ast syn::ItemEnum>,
}

impl<'ast> Visit<'ast> for Enums<'_, 'ast> {
    fn visit_item_enum(&mut self, item: &'ast syn::ItemEnum) {
        if item.ident == self.name {
            self.found.push(item);
        }
    }
}

impl Session<'_> {
    /// Returns a move with the edits of large fields only. Without one, or if the compiler does not know their sizes, all stay.
    pub(super) fn large(&mut self, change: &Move) -> Result<Move> {
        if !change.of_whole_variants {
            return Ok(change.clone());
        }
        let sizes = self.sizes_of(&change.edits)?;
        let large: Vec<Edit> = change
            .edits
            .iter()
            .filter(|edit| sizes.get(&edit.item).is_some_and(|size| *size > SMALL))
            .cloned()
            .collect();
        Ok(if large.is_empty() { change.clone() } else { Move { edits: large, ..change.clone() } })
    }

    /// Asks the compiler for the sizes of the types that edits change: a constant for each has the wrong length.
    fn sizes_of(&mut self, edits: &[Edit]) -> Result<BTreeMap<String, u64>> {
        let mark = self.tree.mark();
        for (index, edit) in edits.iter().enumerate() {
            add_constant(&mut self.tree, edit, index)?;
        }
        let found = self.cargo.check();
        self.tree.restore(&mark)?;
        let mut all = BTreeMap::new();
        for error in found?.errors {
            let Some(span) = error.spans.iter().find(|span| span.is_primary) else { continue };
            let line = span.text.iter().map(|item| item.text.as_str()).collect::<String>();
            let index = line.split_once("DWELL_SIZE_").and_then(|(_, rest)| rest.split(':').next()?.parse().ok());
            let texts = error.children.iter().map(|child| &child.message).chain(span.label.as_ref());
            let size = texts.chain([&error.message]).find_map(|text| {
                let (_, rest) = text.split_once("one with a size of ")?;
                rest.chars().take_while(char::is_ascii_digit).collect::<String>().parse().ok()
            });
            if let (Some(edit), Some(size)) = (index.and_then(|index: usize| edits.get(index)), size) {
                all.insert(edit.item.clone(), size);
            }
        }
        Ok(all)
    }
}

/// Adds a constant after the enum of an edit, of which the compiler says how long it would have to be.
fn add_constant(tree: &mut Tree, edit: &Edit, index: usize) -> Result<()> {
    let file = Path::new(&edit.file);
    let name = edit.item.split("::").next().unwrap_or_default();
    let Some(mut text) = tree.read(file) else { return Ok(()) };
    let Ok(parsed) = syn::parse_file(&text) else { return Ok(()) };
    let mut search = Enums { name, found: Vec::new() };
    search.visit_file(&parsed);
    let nearest = |item: &&&syn::ItemEnum| u32::try_from(item.span().start().line).unwrap_or(0).abs_diff(edit.line);
    let Some(item) = search.found.iter().min_by_key(nearest) else { return Ok(()) };
    if item.generics.type_params().next().is_some() || item.generics.const_params().next().is_some() {
        return Ok(());
    }
    let mut ty = edit.from.split_whitespace().collect::<Vec<_>>().join(" ");
    for lifetime in item.generics.lifetimes() {
        ty = ty.replace(&lifetime.lifetime.to_string(), "'static");
    }
    let end = item.span().byte_range().end;
    text.insert_str(
        end,
        &format!("\n#[allow(dead_code)] const DWELL_SIZE_{index}: [(); 0] = [(); ::core::mem::size_of::<{ty}>()];\n"),
    );
    tree.write(file, &text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_field_of_a_variant_has_an_edit() {
        let text = "enum Kind {\n    Call {\n        name: Name,\n        of: Option<Big>,\n    },\n    Pair(Big, u8),\n    One(Big),\n}\n";
        let with = |variant: &str| {
            let all = fields(text, "Kind", variant, 1).unwrap().into_iter();
            all.map(|edit| format!("{} {} {}", edit.line, edit.item, edit.to)).collect::<Vec<_>>()
        };
        assert_eq!(with("Call"), ["3 Kind::Call.name Box<Name>", "4 Kind::Call.of Option<Box<Big>>"]);
        assert_eq!(with("Pair"), ["6 Kind::Pair.0 Box<Big>", "6 Kind::Pair.1 Box<u8>"]);
        assert_eq!(with("One"), ["7 Kind::One Box<Big>"]);
    }
}
