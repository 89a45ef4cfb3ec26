//! The moves that reports propose, read from their JSON.

use super::syntax::dense;
use super::types::{difference, is_narrower, with_paths};
use super::weigh;
use anyhow::{Context, Result};
use dwell_output::units;
use dwell_source::{Edit, Items};
use serde::Deserialize;
use serde_json::Value;
use std::fs;
use std::path;
use syn::spanned::Spanned as _;

/// A change that a report proposes.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
pub(super) struct Move {
    /// The kind of the finding: `box`, `variant`, `BoxVariants`, ...
    pub(super) kind: String,
    /// The field, variant or type.
    #[serde(rename = "where", alias = "future")]
    pub(super) location: String,
    /// What the report expects to be saved.
    pub(super) saves: Saves,
    /// The bytes that it saves if it is the only change, where that is another number.
    pub(super) saves_alone: Option<u64>,
    /// For time, the part of the program's in per cent: at least, probably, at most.
    pub(super) percent: [f64; 3],
    /// The change in words.
    pub(super) how: String,
    /// The crate that declares the field, if it is a dependency.
    pub(super) dependency: Option<String>,
    /// The fields or variants, if there are several.
    pub(super) fields: Vec<String>,
    /// What to change in the source.
    pub(super) edits: Vec<Edit>,
    /// Whether the edits are those of all fields of variants, of which the large ones are boxed.
    #[serde(skip)]
    pub(super) of_whole_variants: bool,
    /// The executable that gets another global allocator.
    #[serde(skip)]
    pub(super) program: Option<path::PathBuf>,
    /// Whether a type of std stands in the place of one of the library, for which the report says what it saves.
    #[serde(skip)]
    pub(super) is_of_std: bool,
}

/// What a report expects to be saved.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(untagged)]
pub(super) enum Saves {
    /// Bytes: in all for `census`, for each value for `layout`.
    Bytes(u64),
    /// Nanoseconds of CPU time for `allocs`: at least, probably, at most.
    Nanos([u64; 3]),
}

impl Default for Saves {
    fn default() -> Self {
        Self::Bytes(0)
    }
}

impl Move {
    /// Returns `true` if an argument names this move: `Type.field`, `Type::Variant`, or its type.
    pub(super) fn is_named(&self, name: &str) -> bool {
        let is_end = |text: &str| text == name || text.ends_with(&format!("::{name}"));
        is_end(&self.location) || self.edits.iter().any(|edit| is_end(&edit.item))
    }

    /// Returns `true` if it boxes variants with several fields, and no edit says which of them.
    pub(super) fn is_of_whole_variant(&self) -> bool {
        self.dependency.is_none()
            && self.kind == "variant"
            && (self.edits.is_empty() || self.edits.iter().any(is_of_fields))
    }

    /// Returns `true` if it changes a future.
    pub(super) fn is_of_future(&self) -> bool {
        ["pin-future", "box-argument", "box-future", "box-value"].contains(&self.kind.as_str())
    }

    /// Returns `true` if another move is about the same fields, in the same way.
    pub(super) fn is_for_same(&self, other: &Self) -> bool {
        let items = |found: &Self| found.edits.iter().map(|edit| edit.item.clone()).collect::<Vec<_>>();
        self.kind == other.kind && items(self) == items(other)
    }

    /// Returns `true` if another move proposes the same for the same fields.
    pub(super) fn proposes(&self, other: &Self) -> bool {
        let types = |change: &Self| -> Vec<(String, String)> {
            change.edits.iter().map(|edit| (edit.item.clone(), dense(&edit.to))).collect()
        };
        self.kind == other.kind && types(self) == types(other)
    }

    /// Returns `true` if it is expected to save clearly more bytes than another.
    pub(super) fn saves_more_than(&self, other: &Self) -> bool {
        let bytes = |change: &Self| match change.saves {
            Saves::Bytes(bytes) => bytes,
            Saves::Nanos(_) => 0,
        };
        bytes(self) / 11 > bytes(other) / 10
    }

    /// Returns what the report expects, in words.
    pub(super) fn expects(&self) -> String {
        match self.saves {
            Saves::Bytes(bytes) => units::bytes(bytes),
            Saves::Nanos(_) => {
                let [least, _, most] = self.percent;
                format!("{least:.0} to {most:.0} % of the CPU time")
            }
        }
    }

    /// Returns the move without the edits that `is_stuck` returns `true` for. `None`: there are none, or no other ones.
    pub(super) fn without(&self, is_stuck: impl Fn(&Edit) -> bool) -> Option<Self> {
        let edits: Vec<Edit> = self.edits.iter().filter(|edit| !is_stuck(edit)).cloned().collect();
        (!edits.is_empty() && edits.len() < self.edits.len()).then(|| Self { edits, ..self.clone() })
    }

    /// Returns the bytes that the report expects to be saved, in words, if `kept` other findings were applied before this one.
    pub(super) fn predicts(&self, kept: usize) -> Option<String> {
        let Saves::Bytes(last) = self.saves else { return None };
        let alone = self.saves_alone.unwrap_or(last);
        Some(match kept {
            0 => units::bytes(alone),
            _ if alone == last => units::bytes(last),
            _ => format!("{} to {}", units::bytes(last.min(alone)), units::bytes(last.max(alone))),
        })
    }

    /// Returns the reason if the move cannot be made.
    pub(super) fn refusal(&self) -> Option<String> {
        if self.program.is_some() {
            return None;
        }
        if let Some(dependency) = &self.dependency {
            return Some(format!(
                "{} is declared in {dependency}: its author can make this change; --patched {dependency} tries it",
                self.location
            ));
        }
        if self.edits.is_empty() && self.kind == "variant" {
            return Some(format!(
                "{}: its variants are not in this workspace's source, or a macro declares them",
                self.location
            ));
        }
        if self.edits.is_empty() {
            // A suggestion of `allocs` may have no location.
            let what = [self.location.clone(), on_one_line(&self.how)].into_iter().filter(|text| !text.is_empty());
            let what = what.collect::<Vec<_>>().join(": ");
            return Some(format!("{what}: the report has no edit of this workspace's source; a person can make it"));
        }
        self.edits.iter().find_map(|edit| match self.becomes(edit) {
            Some(_) => None,
            None if edit.to.is_empty() => Some(format!("{}: is not in this workspace's source", edit.item)),
            None => {
                let [from, to] = [&edit.from, &edit.to].map(|ty| on_one_line(ty));
                Some(format!("{}: from {from} to {to} is no move that apply can make", edit.item))
            }
        })
    }

    /// Returns what an edit does. `None`: no move that apply can make.
    pub(super) fn becomes(&self, edit: &Edit) -> Option<Becomes> {
        if self.kind == "shrink" && edit.from.is_empty() && edit.to.is_empty() {
            return Some(Becomes::Shrunk);
        }
        becomes(edit)
    }
}

/// Returns `true` for the edit of a variant whose fields must become one: it has no single type.
pub(super) fn is_of_fields(edit: &Edit) -> bool {
    edit.to.is_empty() || !edit.from.is_empty() && syn::parse_str::<syn::Type>(&edit.from).is_err()
}

/// What an edit does to a type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Becomes {
    /// `T` becomes `Box<T>`, and `Option<T>` becomes `Option<Box<T>>`; with the source of `T`.
    Boxed(String),
    /// `String` becomes `Box<str>`, and `Vec<T>` becomes `Box<[T]>`.
    Fixed,
    /// `String` becomes `ThinStr`, and `Vec<T>` becomes `ThinSlice<T>`.
    Thin,
    /// `String` becomes `Arc<str>`, `Vec<T>` becomes `Arc<[T]>` or `Arc<Vec<T>>`; with the new type.
    Shared(String),
    /// An integer becomes this narrower one.
    Narrowed(String),
    /// A map becomes a `SortedMap`.
    Sorted,
    /// `T` becomes `Sparse<T>`; with the name of the field.
    Sparse(String),
    /// `Box<T>` becomes another owner of one value; with the new type.
    Owner(Owner, String),
    /// An expression is put into a box, or pinned, where it is: `Box::pin(upload(message))`.
    Wrapped,
    /// A collection gets the capacity that it will need where it is made.
    Capacity,
    /// A collection that each round of a loop makes is made before it.
    Hoisted,
    /// A collection gives its unused capacity back where it is complete. Its type stays.
    Shrunk,
}

/// An owner of one value, in place of a `Box`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Owner {
    /// `SmallBox<dyn Trait, N>`
    Small,
    /// `Pooled<dyn Trait>`, which `pooled!` makes
    PoolDyn,
    /// `Pooled<T>`
    Pool,
    /// `PoolFuture<'a, T>`
    Future,
}

impl Becomes {
    /// Returns `true` if the new type may lack traits that the old one has, such as `Send`.
    pub(super) fn has_other_traits(&self) -> bool {
        !self.features().is_empty() || matches!(self, Self::Shared(_))
    }

    /// Returns the features of `dwell` that the new type needs; none if it is one of std.
    pub(super) fn features(&self) -> &'static [&'static str] {
        match self {
            Self::Boxed(_)
            | Self::Fixed
            | Self::Shared(_)
            | Self::Narrowed(_)
            | Self::Wrapped
            | Self::Capacity
            | Self::Hoisted
            | Self::Shrunk => &[],
            Self::Thin | Self::Sorted => &["std", "sparse"],
            Self::Sparse(_) => &["std", "sparse", "derive"],
            Self::Owner(Owner::Small, _) => &["std", "small"],
            Self::Owner(Owner::PoolDyn | Owner::Pool, _) => &["std", "small", "slab"],
            Self::Owner(Owner::Future, _) => &["std", "pin"],
        }
    }
}

/// Returns what an edit of a type does. `None`: no move that apply can make.
fn becomes(edit: &Edit) -> Option<Becomes> {
    if edit.from.ends_with("::new()") && edit.to.contains("::with_capacity(") {
        return Some(Becomes::Capacity);
    }
    if edit.from.ends_with("::new()") && edit.to == "clear()" {
        return Some(Becomes::Hoisted);
    }
    let is_wrapped = |before: &str, after: &str| {
        let inside = edit.to.strip_prefix(before).and_then(|rest| rest.strip_suffix(after));
        inside == Some(&edit.from) && !edit.from.is_empty()
    };
    if ["Box::pin(", "std::pin::pin!(", "Box::new("].iter().any(|before| is_wrapped(before, ")"))
        || is_wrapped("vec!", "")
    {
        return Some(Becomes::Wrapped);
    }
    if is_narrower(&edit.from, &edit.to) {
        return Some(Becomes::Narrowed(edit.to.clone()));
    }
    let (old, new) = difference(&edit.from, &edit.to)?;
    let is_of = |owner: &str, name: &str| dense(&new) == dense(&format!("{owner}<{name}>"));
    if is_of("Box", &old) {
        return Some(Becomes::Boxed(old));
    }
    if is_of("Sparse", &old) {
        let field = edit.item.rsplit('.').next().unwrap_or_default();
        return Some(Becomes::Sparse(field.to_owned()));
    }
    let owner = |owner: Owner| Some(Becomes::Owner(owner, with_paths(&new)));
    let (from, to) = (Path::of(&old)?, Path::of(&new)?);
    match (&*from.name, &from.arguments[..], &*to.name, &to.arguments[..]) {
        ("String", [], "ThinStr", []) => Some(Becomes::Thin),
        ("String", [], "Box", [text]) if text == "str" => Some(Becomes::Fixed),
        ("Vec", [element], "Box", [slice]) if *slice == format!("[{element}]") => Some(Becomes::Fixed),
        ("Vec", [inner], "ThinSlice", [element]) if inner == element => Some(Becomes::Thin),
        ("String", [], "Arc", [text]) if text == "str" => Some(Becomes::Shared(new)),
        ("Vec", [element], "Arc", [list]) if *list == format!("[{element}]") || *list == dense(&old) => {
            Some(Becomes::Shared(new))
        }
        ("Box", [map], "SortedMap", entries) => Path::of(map)?.is_map_of(entries).then_some(Becomes::Sorted),
        (_, _, "SortedMap", entries) => from.is_map_of(entries).then_some(Becomes::Sorted),
        ("Box", [inner], "SmallBox", [value, _words]) if inner == value => owner(Owner::Small),
        ("Box", [inner], "Pooled", [value]) if inner == value => {
            // Arguments have no blanks.
            owner(if value.starts_with("dyn") { Owner::PoolDyn } else { Owner::Pool })
        }
        ("Pin", [_], "PoolFuture", _) => owner(Owner::Future),
        _ => None,
    }
}

/// The path of a type: the last name, and the arguments without spaces.
struct Path {
    name: String,
    arguments: Vec<String>,
}

impl Path {
    fn of(text: &str) -> Option<Self> {
        let syn::Type::Path(path) = syn::parse_str(text).ok()? else { return None };
        let last = path.path.segments.last()?;
        let arguments = match &last.arguments {
            syn::PathArguments::AngleBracketed(angle_bracketed) => {
                angle_bracketed.args.iter().filter_map(|arg| text.get(arg.span().byte_range()))
            }
            _ => return Some(Self { name: last.ident.to_string(), arguments: Vec::new() }),
        };
        Some(Self { name: last.ident.to_string(), arguments: arguments.map(dense).collect() })
    }

    /// Returns `true` for a map with these types of keys and values, and any hasher.
    fn is_map_of(&self, entries: &[String]) -> bool {
        ["HashMap", "BTreeMap"].contains(&&*self.name) && entries.len() == 2 && self.arguments.starts_with(entries)
    }
}

/// Returns the files that moves edit.
pub(super) fn files(moves: &[Move]) -> Vec<path::PathBuf> {
    moves.iter().flat_map(|candidate| &candidate.edits).map(|edit| edit.file.clone().into()).collect()
}

/// Reads a file with a report as JSON.
///
/// # Errors
/// Returns an error if the file cannot be read, or is not JSON.
pub(super) fn read(file: &path::Path) -> Result<Value> {
    let text = fs::read(file).with_context(|| format!("{}: cannot be read", file.display()))?;
    serde_json::from_slice(&text)
        .with_context(|| format!("{}: is no JSON; save a report with `cargo dwell census --save FILE`", file.display()))
}

/// Gives the edits of `dwell::weigh`'s advice their places in the source. A move of which one has none loses all, and is
/// refused.
pub(super) fn locate(moves: &mut [Move], root: &path::Path) {
    let has_no_place = |edit: &Edit| edit.file.is_empty();
    if !moves.iter().any(|candidate| candidate.edits.iter().any(has_no_place)) {
        return;
    }
    let items = Items::new(Some(root));
    for change in moves {
        let place = |edit: &Edit| if has_no_place(edit) { weigh::located(edit, &items) } else { Some(edit.clone()) };
        change.edits = change.edits.iter().map(place).collect::<Option<_>>().unwrap_or_default();
    }
}

/// Collects the objects with edits. A suggestion of `layout` is a field of its type, which has the name.
pub(super) fn collect(value: &Value, name: &str, to: &mut Vec<Move>) {
    match value {
        Value::Array(all) => all.iter().for_each(|value| collect(value, name, to)),
        Value::Object(fields) => {
            let text = |key: &str| fields.get(key).and_then(Value::as_str);
            if let Some(weigh::Suggestion { kind, path, paths, from, to: new, saves }) = weigh::read(fields) {
                let edit = |item: String| Edit { item, from: from.clone(), to: new.clone(), ..Edit::default() };
                let edits = paths.into_iter().map(edit).collect();
                let (how, saves) = (format!("{from} to {new}"), Saves::Bytes(saves));
                to.push(Move { kind, location: path, saves, how, edits, ..Move::default() });
                return;
            }
            if text("kind").is_some() && fields.get("saves").is_some_and(|saves| saves.is_u64() || saves.is_array()) {
                if let Ok(mut found) = Move::deserialize(value) {
                    if found.location.is_empty() {
                        // A suggestion of `allocs` is about the type of its edits.
                        let of_edit = found.edits.first().map_or("", |edit| &edit.item);
                        found.location = if name.is_empty() { of_edit.to_owned() } else { name.to_owned() };
                    }
                    // One change of a future makes several smaller, and stands below each.
                    let is_same = |change: &Move| !change.edits.is_empty() && change.edits == found.edits;
                    if to.iter().any(is_same) {
                        return;
                    }
                    to.push(found);
                }
                return;
            }
            to.extend(allocator(fields));
            let name = text("name").unwrap_or(name);
            // A trait of `dyn` with the length of its small boxes.
            if let (Some(words), Some(edits)) = (fields.get("suggested_n").and_then(Value::as_u64), fields.get("edits"))
            {
                let edits = Vec::<Edit>::deserialize(edits).unwrap_or_default();
                let (location, how) = (format!("dyn {name}"), format!("SmallBox<dyn {name}, {words}>"));
                to.push(Move { kind: "inline".into(), location, how, edits, ..Move::default() });
                return;
            }
            fields.values().for_each(|value| collect(value, name, to));
        }
        _ => {}
    }
}

/// From this part of the time on another allocator is no change.
const PAYS: f64 = 0.97;

/// Returns the change of the global allocator, if a report of `allocs` measured that it pays.
fn allocator(report: &serde_json::Map<String, Value>) -> Option<Move> {
    let again = report.get("again")?;
    let other = again.get("other")?.as_str().filter(|other| *other == super::allocator::NAME)?;
    let ratio = <[f64; 3]>::deserialize(again.get("ratio")?).ok()?;
    let [plain, under] = <[u64; 2]>::deserialize(again.get("nanos")?).ok()?;
    let program = report.get("program")?.get("file")?.as_str()?;
    let [least, median, most] = ratio.map(|ratio| (1.0 - ratio).max(0.0) * 100.0);
    (ratio[1] > 0.0 && ratio[1] < PAYS).then(|| Move {
        kind: "allocator".into(),
        location: other.into(),
        saves: Saves::Nanos([plain.saturating_sub(under); 3]),
        percent: [most, median, least],
        how: "as the global allocator".into(),
        program: Some(program.into()),
        ..Move::default()
    })
}

/// Returns a type that the source has on several lines on one.
fn on_one_line(ty: &str) -> String {
    let words: Vec<&str> = ty.split_whitespace().collect();
    words.join(" ").replace("( ", "(").replace(", )", ")").replace("< ", "<").replace(", >", ">")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn edit(from: &str, to: &str) -> Edit {
        Edit { from: from.into(), to: to.into(), item: "A.b".into(), ..Edit::default() }
    }

    #[test]
    fn a_refusal_is_one_line() {
        let edits = vec![edit("Box<(\n    u8,\n    Map<\n        u8,\n    >,\n)>", "Arc<(u8, Map<u8>)>")];
        let finding = Move { edits, ..Move::default() };
        let expected = "A.b: from Box<(u8, Map<u8>)> to Arc<(u8, Map<u8>)> is no move that apply can make";
        assert_eq!(finding.refusal().as_deref(), Some(expected));
        let with =
            |kind: &str| Move { kind: kind.into(), location: "Expr".into(), ..Move::default() }.refusal().unwrap();
        assert!(with("variant").contains("a macro declares") && with("box").contains("has no edit"));
    }

    #[test]
    fn moves_are_known() {
        let boxed = |name: &str| Some(Becomes::Boxed(name.to_owned()));
        let with = |from: &str, to: &str| becomes(&edit(from, to));
        assert_eq!(with("Option<B<u8>>", "Option<Box<B<u8>>>"), boxed("B<u8>"));
        assert_eq!(with("(u8, B)", "Box<(u8, B)>"), boxed("(u8, B)"));
        assert_eq!(with("Option<B>", "Box<Option<B>>"), boxed("Option<B>"));
        let fixed =
            [("String", "Box<str>"), ("Vec<(u8, B)>", "Box<[(u8, B)]>"), ("Option<String>", "Option<Box<str>>")];
        for (from, to) in fixed.into_iter().chain([("HashMap<u8, Vec<B>>", "HashMap<u8, Box<[B]>>")]) {
            assert_eq!(with(from, to), Some(Becomes::Fixed), "{from}");
        }
        for (from, to) in [("std::string::String", "ThinStr"), ("Option<Vec<(u8, B)>>", "Option<ThinSlice<(u8, B)>>")] {
            assert_eq!(with(from, to), Some(Becomes::Thin), "{from}");
        }
        for (from, to, new) in [
            ("String", "Arc<str>", "Arc<str>"),
            ("Option<Vec<B>>", "Option<Arc<[B]>>", "Arc<[B]>"),
            ("Vec<B>", "Arc<Vec<B>>", "Arc<Vec<B>>"),
        ] {
            assert_eq!(with(from, to), Some(Becomes::Shared(new.into())), "{from}");
        }
        for from in
            ["HashMap<u8, Vec<B>, State>", "Box<BTreeMap<u8, Vec<B>>>", "std::collections::BTreeMap<u8, Vec<B>>"]
        {
            assert_eq!(with(from, "SortedMap<u8, Vec<B>>"), Some(Becomes::Sorted), "{from}");
        }
        assert_eq!(with("B", "Sparse<B>"), Some(Becomes::Sparse("b".into())));
        assert_eq!(with("upload(message)", "Box::pin(upload(message))"), Some(Becomes::Wrapped));
        assert_eq!(with("[0; 9000]", "vec![0; 9000]"), Some(Becomes::Wrapped));
        for (to, owner) in [
            ("dwell::SmallBox<dyn Op + Send, 2>", Owner::Small),
            ("dwell::slab::Pooled<dyn Op + Send>", Owner::PoolDyn),
        ] {
            let becomes = with("Box<dyn Op + Send>", to);
            assert!(matches!(&becomes, Some(Becomes::Owner(found, _)) if *found == owner), "{to}: {becomes:?}");
        }
        for (from, to) in [
            ("B", "C"),
            ("", ""),
            ("B", "Box<C>"),
            ("Vec<B>", "Box<[C]>"),
            ("u64", "usize"),
            ("Vec<u64>", "Vec<u32>"),
            ("HashMap<u8, u8>", "SortedMap<u8, u16>"),
            ("Map<A, B>", "Map<Box<A>, Box<B>>"),
        ] {
            assert_eq!(with(from, to), None, "{from}");
        }
    }

    #[test]
    fn sparse_needs_a_value_that_is_always_there() {
        let with = |from: &str, to: &str| Move { edits: vec![edit(from, to)], ..Move::default() }.refusal();
        assert!(with("Option<B>", "Sparse<B>").is_some_and(|why| why.contains("no move")));
        assert_eq!(with("B", "Sparse<B>"), None);
    }

    #[test]
    fn a_move_is_tried_again_if_it_saves_clearly_more() {
        let with = |bytes: u64| Move { saves: Saves::Bytes(bytes), ..Move::default() };
        assert!(with(1200).saves_more_than(&with(1000)) && with(100).saves_more_than(&with(0)));
        assert!(!with(1050).saves_more_than(&with(1000)) && !with(1000).saves_more_than(&with(1000)));
    }

    #[test]
    fn a_move_loses_the_edits_that_are_stuck() {
        let with = |item: &str| Edit { item: item.into(), ..Edit::default() };
        let all = Move { edits: vec![with("A.b"), with("A.c")], ..Move::default() };
        assert_eq!(all.without(|edit| edit.item == "A.b").unwrap().edits, [with("A.c")]);
        assert!(all.without(|_| false).is_none() && all.without(|_| true).is_none());
    }

    #[test]
    fn moves_are_read_from_both_kinds_of_reports() {
        let census = r#"{"snapshots": [{"findings": [{"kind": "box", "where": "m::A.b", "saves": 9, "how": "x",
            "edits": [{"file": "a.rs", "line": 3, "item": "A.b", "from": "Option<B>", "to": "Option<Box<B>>"}]},
            {"kind": "box", "where": "D.e", "saves": 1, "dependency": "hyper"}]}]}"#;
        let layout = r#"{"types": [{"name": "E", "kind": "enum", "suggestion": {"kind": "variant", "saves": 24, "edits": []}}]}"#;
        let read = |text: &str| {
            let mut all = Vec::new();
            collect(&serde_json::from_str(text).unwrap(), "", &mut all);
            all
        };
        let all = read(census);
        assert!(all.len() == 2 && all[0].is_named("A.b") && !all[0].is_named("b") && all[0].refusal().is_none());
        assert!(all[1].refusal().unwrap().contains("hyper"));
        let futures = r#"{"futures": [{"name": "main", "suggestions": [{"kind": "box-future", "future": "run", "saves": 9,
            "edits": [{"file": "a.rs", "line": 3, "item": "run", "from": "f(x)", "to": "Box::pin(f(x))"}]}]},
            {"name": "run", "suggestions": [{"kind": "box-future", "future": "run", "saves": 9,
            "edits": [{"file": "a.rs", "line": 3, "item": "run", "from": "f(x)", "to": "Box::pin(f(x))"}]}]}]}"#;
        let all = read(futures);
        assert!(all.len() == 1 && all[0].location == "run" && all[0].refusal().is_none());
        let traits = r#"{"traits": [{"name": "Op", "suggested_n": 2, "edits": [{"file": "a.rs", "line": 3, "item": "A.op",
            "from": "Box<dyn Op>", "to": "SmallBox<dyn Op, 2>"}]}]}"#;
        let all = read(traits);
        assert!(all.len() == 1 && all[0].is_named("A.op") && all[0].refusal().is_none());
        let allocs = |median: f64| {
            format!(
                r#"{{"program": {{"file": "target/release/a"}}, "again": {{"other": "mimalloc", "nanos": [100, 80],
            "ratio": [0.7, {median}, 0.9]}}, "suggestions": []}}"#
            )
        };
        let all = read(&allocs(0.8));
        assert!(all.len() == 1 && all[0].is_named("mimalloc") && all[0].refusal().is_none());
        assert_eq!(all[0].expects(), "10 to 30 % of the CPU time");
        assert!(read(&allocs(0.98)).is_empty());
        let all = read(layout);
        assert_eq!((all[0].location.as_str(), all[0].saves), ("E", Saves::Bytes(24)));
        assert!(all[0].refusal().unwrap().contains("a macro declares"));
    }
}
