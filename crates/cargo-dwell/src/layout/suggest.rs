//! Suggestions for smaller types, each with the evidence for it.
//!
//! Without a census the tool does not know how many values a type has, nor which of an enum's variants are common. So a
//! suggestion needs two facts from the program. First, the values are many: a collection, a channel or a spawned task holds
//! them. Second, the change saves memory even if most values are of the boxed kind, or the boxed kind is known not to be the
//! common one (`candidates.rs`). What is not shown is withheld with a reason (`withheld.rs`): its author allows clippy's lint or keeps the
//! type by a comment, or one of the facts is missing.
//!
//! The changes are chosen one after the other by what they save in all types with heap memory, and after each the sizes of
//! all types are computed again. So each byte is saved once, where it comes from.

use super::candidates::{Candidate, Change, Finder, HEADER};
use super::counts::Counts;
use super::holders::{Holder, Holders, is};
use super::measure::Embedding;
use super::resize::Sizes;
use super::withheld::{Reason, Withheld};
use crate::rank::Rank;
use dwell_debuginfo::{Kind, Program, Type, TypeId};
use dwell_output::units::count;
use dwell_source::{Edit, Item, Items};
use serde::{Deserialize, Serialize};
use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap, HashMap, HashSet};

/// Why a suggestion is made.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Evidence {
    /// The highest rank of the holders.
    pub rank: Rank,
    /// The types that hold the values, those with the most values first.
    pub holders: Vec<Holder>,
    /// The percentage of values that may need the box before it costs more memory than it saves.
    pub break_even_percent: u64,
    /// The number of live values, if a census was given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub live: Option<u64>,
    /// The number of live values that would need the box, if a census was given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub boxed: Option<u64>,
    /// The bytes that the change saves for all live values, less those of the boxes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub saves_in_all: Option<u64>,
    /// The bytes of the block that a value with the boxed parts allocates; 0 for a change without a box.
    pub heap: u64,
}

/// A suggested change of a type.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Suggestion {
    /// The kind of the change.
    pub kind: Change,
    /// The change, as text.
    pub how: String,
    /// The least number of bytes saved for each value.
    pub saves: u64,
    /// The size of the type before this change, after the changes before it in [`order`](Self::order).
    pub size: u64,
    /// The position among the changes that the report shows, the one that saves the most first.
    pub order: u64,
    /// The number of other types of the workspace that become smaller too.
    pub shrinks: u64,
    /// The variants or fields to change.
    pub parts: Vec<String>,
    /// The changes of the source, if it was found.
    pub edits: Vec<Edit>,
    /// The evidence.
    pub evidence: Evidence,
    /// Whether the report shows it.
    pub shown: bool,
    /// Why the report does not show it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub withheld: Option<Withheld>,
}

impl Suggestion {
    /// Formats the evidence.
    pub fn why(&self) -> String {
        let evidence = &self.evidence;
        if let (Some(live), Some(boxed), Some(saves)) = (evidence.live, evidence.boxed, evidence.saves_in_all) {
            let needs = match evidence.heap {
                0 => String::new(),
                heap => format!(", {} of them with a box of {} bytes", count(boxed), count(heap)),
            };
            return format!("the census has {} values{needs}: saves {} bytes", count(live), count(saves));
        }
        let text = match &evidence.holders[..] {
            [] => String::new(),
            [one, two, ..] if two.rank == one.rank => format!("in {} and {}", one.text(), two.text()),
            [one, ..] => format!("in {}", one.text()),
        };
        let text = match self.shrinks {
            0 => text,
            1 => format!("{text}; 1 other type shrinks too"),
            others => format!("{text}; {} other types shrink too", count(others)),
        };
        if evidence.heap == 0 || evidence.break_even_percent == 0 {
            return text;
        }
        let parts = self.parts.join(", ");
        // What passes a queue is made again for each message.
        let each = if evidence.is_queue() { "value that passes with" } else { "value with" };
        let text = format!("{text}; an allocation of {} bytes for each {each} {parts}", count(evidence.heap));
        match self.kind {
            Change::BoxError => text,
            _ => format!("{text}: saves memory while fewer than {} % have it", evidence.break_even_percent),
        }
    }
}

impl Evidence {
    /// Returns `true` if all that holds many values passes them on.
    fn is_queue(&self) -> bool {
        let mut many = self.holders.iter().filter(|holder| holder.rank == Rank::Many).peekable();
        many.peek().is_some() && many.all(|holder| holder.is_queue)
    }
}

/// The facts about a program that suggestions need.
#[derive(Debug)]
pub(super) struct Facts<'p> {
    pub(super) program: &'p Program,
    pub(super) embedding: Embedding,
    holders: Holders,
    items: Items,
    counts: Option<Counts>,
    /// Whether the program allocates: a box needs `alloc`.
    allocates: bool,
    /// The changes that the report shows.
    chosen: HashMap<TypeId, Suggestion>,
}

impl<'p> Facts<'p> {
    /// Collects the facts. Sources are read below `root`.
    pub(super) fn new(program: &'p Program, root: Option<&std::path::Path>, counts: Option<Counts>) -> Self {
        let embedding = Embedding::new(program);
        let mut facts = Self {
            program,
            holders: Holders::new(program, &embedding),
            embedding,
            items: Items::new(root),
            counts,
            allocates: super::allocates(program),
            chosen: HashMap::new(),
        };
        facts.choose();
        facts
    }

    /// Returns `true` if a census counts the values.
    pub(super) fn is_counted(&self) -> bool {
        self.counts.is_some()
    }

    /// Returns the declaration of an own type.
    pub(super) fn item(&self, ty: &Type) -> Option<&Item> {
        if ty.own && ty.source.is_none() { self.items.at(&ty.path) } else { None }
    }

    /// Returns the position of a type's declaration.
    pub(super) fn position(&self, ty: &Type) -> Option<(String, u32)> {
        match &ty.source {
            Some(source) => Some((source.file.to_string(), source.line)),
            None => self.item(ty).map(|item| (item.file.clone(), item.line)),
        }
    }

    /// Returns the change of a type of the workspace: the one that the report shows, or one that it withholds.
    pub(super) fn suggest(&self, id: TypeId) -> Option<Suggestion> {
        self.chosen.get(&id).cloned().or_else(|| {
            let sizes = Sizes::new(self.program);
            let (_, suggestion) = self.best(id, &sizes)?;
            let covered =
                || Withheld::new(Reason::Covered, "nothing that holds it becomes smaller after the changes shown");
            let withheld = suggestion.withheld.clone().or_else(|| Some(covered()));
            Some(Suggestion { shown: false, withheld, ..suggestion })
        })
    }

    /// Chooses the changes one after the other: each time the one that saves the most in all types together that have
    /// their values on the heap. So of two changes that save the same bytes, only the better one is chosen.
    fn choose(&mut self) {
        let mut sizes = Sizes::new(self.program);
        let mut queue = BinaryHeap::new();
        for (id, ty) in self.program.types().filter(|(_, ty)| ty.own) {
            let Some((candidate, suggestion)) = self.best(id, &sizes).filter(|(_, suggestion)| suggestion.shown) else {
                continue;
            };
            let worth = self.worth(&sizes, &candidate, &suggestion);
            if worth > 0 {
                queue.push((worth, ty.size, Reverse(id)));
            }
        }
        let mut heads = HashSet::new();
        while let Some((known, size, Reverse(id))) = queue.pop() {
            let head = self.program.get(id).path.split('<').next().unwrap_or_default();
            if heads.contains(head) {
                continue;
            }
            let Some((candidate, mut suggestion)) = self.best(id, &sizes).filter(|(_, suggestion)| suggestion.shown)
            else {
                continue;
            };
            let now = self.worth(&sizes, &candidate, &suggestion);
            // What holds the values is as large as before.
            if now == 0 {
                continue;
            }
            if now < known && queue.peek().is_some_and(|(next, ..)| *next > now) {
                queue.push((now, size, Reverse(id)));
                continue;
            }
            heads.insert(head);
            suggestion.order = self.chosen.len() as u64;
            suggestion.shrinks =
                candidate.after.keys().filter(|changed| **changed != id && self.program.get(**changed).own).count()
                    as u64;
            self.chosen.insert(id, suggestion);
            let changed = candidate.after.keys().flat_map(|inner| self.embedding.inside(*inner).iter().chain([inner]));
            let changed: BTreeSet<TypeId> = changed.copied().collect();
            sizes.apply(&candidate.boxes, candidate.after);
            // A type around it may have another change now: the next variant is smaller.
            for id in changed {
                let Some((candidate, suggestion)) = self.best(id, &sizes).filter(|(_, suggestion)| suggestion.shown)
                else {
                    continue;
                };
                let worth = self.worth(&sizes, &candidate, &suggestion);
                if worth > 0 {
                    queue.push((worth, self.program.size_of(id), Reverse(id)));
                }
            }
        }
    }

    /// Returns the bytes that a change saves in one value of each type that has its values on the heap; with a census,
    /// those that it saves in all values.
    fn worth(&self, sizes: &Sizes<'_>, candidate: &Candidate, suggestion: &Suggestion) -> u64 {
        if let Some(saves) = suggestion.evidence.saves_in_all {
            return saves;
        }
        // A task has the type among its variables.
        if candidate.kind == Change::Reorder || suggestion.evidence.rank == Rank::Task {
            return candidate.saves;
        }
        if candidate.is_rare {
            let returned = candidate.after.iter().filter(|(id, _)| {
                let ty = self.program.get(**id);
                self.holders.is_on_heap(**id) || is(ty, "core::result::Result")
            });
            return returned.map(|(id, after)| sizes.layout(*id).size.saturating_sub(after.size)).max().unwrap_or(0);
        }
        let on_heap = candidate.after.iter().filter(|(id, _)| self.holders.is_on_heap(**id));
        let less = on_heap.map(|(id, after)| sizes.layout(*id).size.saturating_sub(after.size));
        let worth = less.fold(0, u64::saturating_add);
        match candidate.kind {
            _ if candidate.is_general => worth / 4,
            // A variant needs its box each time, a field only if it is present.
            Change::BoxVariants => worth / 8 * 7,
            _ => worth,
        }
    }

    /// Returns the best change of a type of the workspace.
    fn best(&self, id: TypeId, sizes: &Sizes<'p>) -> Option<(Candidate, Suggestion)> {
        let ty = self.program.get(id);
        if !ty.own {
            return None;
        }
        let item = self.item(ty);
        let finder = Finder {
            program: self.program,
            embedding: &self.embedding,
            holders: &self.holders,
            sizes,
            items: &self.items,
            is_counted: self.counts.is_some(),
        };
        let judged = finder.candidates(id, item).into_iter().map(|candidate| self.judge(id, ty, candidate, sizes));
        // Most structs have a `String`: what nothing speaks for is not worth a line.
        let is_compact =
            |suggestion: &Suggestion| matches!(suggestion.kind, Change::BoxSlice | Change::Niche | Change::Flags);
        let judged = judged.filter(|(_, suggestion)| suggestion.shown || !is_compact(suggestion));
        judged.max_by_key(|(_, suggestion)| {
            let boxes = suggestion.parts.len() as u64;
            (
                suggestion.shown,
                suggestion.evidence.saves_in_all,
                suggestion.saves / if suggestion.kind == Change::BoxVariants { boxes } else { 1 },
            )
        })
    }

    /// Returns what its author or the program has against a change of a type.
    fn declined(&self, ty: &Type, candidate: &Candidate) -> Option<Withheld> {
        let item = self.item(ty);
        if let Some(reason) = item.and_then(Item::kept) {
            return Some(Withheld::new(Reason::Keep, format!("`// dwell: keep`: {reason}")));
        }
        if is_generated(ty) || item.is_none() && !self.items.is_empty() {
            return Some(Withheld::new(
                Reason::Generated,
                "a macro declares it, or its source is not in the workspace",
            ));
        }
        if candidate.heap == 0 {
            return None;
        }
        let lints = match candidate.kind {
            Change::BoxVariants if candidate.is_rare => &["large_enum_variant", "result_large_err"][..],
            Change::BoxVariants => &["large_enum_variant"],
            Change::BoxError => &["result_large_err"],
            _ => &[],
        };
        // The census has the numbers that clippy's lint has not.
        if self.counts.is_none() && item.is_some_and(|item| item.allows(lints)) {
            return Some(Withheld::new(
                Reason::Allow,
                format!("an attribute allows `clippy::{}`", lints.join("` or `clippy::")),
            ));
        }
        if item.is_some_and(Item::is_copy) {
            return Some(Withheld::new(Reason::Copy, "it is `Copy`, and a box is not"));
        }
        let no_alloc = || Withheld::new(Reason::NoAlloc, "the program does not use `alloc`, so there is no `Box`");
        (!self.allocates).then(no_alloc)
    }

    /// Adds the evidence to a change, and why it is not shown.
    fn judge(&self, id: TypeId, ty: &Type, candidate: Candidate, sizes: &Sizes<'_>) -> (Candidate, Suggestion) {
        let break_even = candidate.break_even();
        let mut evidence = Evidence { break_even_percent: break_even, heap: candidate.heap, ..Evidence::default() };
        let against = self.counts.as_ref().and_then(|counts| count_values(counts, ty, &candidate, &mut evidence));
        evidence.holders = self.holders.around(self.program, &self.embedding, id, sizes);
        evidence.rank = evidence.holders.first().map_or(Rank::Once, |holder| holder.rank);
        let against = self.declined(ty, &candidate).or(against).or_else(|| candidate.against.clone());
        let withheld = against.or_else(|| self.without_evidence(ty, &candidate, &evidence));
        evidence.holders.truncate(10);
        let suggestion = Suggestion {
            kind: candidate.kind,
            how: candidate.how.clone(),
            saves: candidate.saves,
            size: candidate.size,
            parts: candidate.parts.iter().map(|part| format!("`{part}`")).collect(),
            edits: candidate.edits.clone(),
            evidence,
            shown: withheld.is_none(),
            withheld,
            ..Suggestion::default()
        };
        (candidate, suggestion)
    }

    /// Returns what is missing for a change without a census.
    fn without_evidence(&self, ty: &Type, candidate: &Candidate, evidence: &Evidence) -> Option<Withheld> {
        if evidence.live.is_some() {
            return None;
        }
        let few = |why: String| Some(Withheld::new(Reason::Few, why));
        let item = self.item(ty);
        if item.is_some_and(Item::is_command_line) {
            return few("it is the command line, of which there is one".to_owned());
        }
        // A task has it, but no collection.
        if evidence.rank == Rank::Task && item.is_some_and(Item::is_deserialized) {
            return few("it is a configuration, of which there is one".to_owned());
        }
        if candidate.kind == Change::Reorder {
            // It costs nothing where the program runs.
            let is_enough = evidence.rank >= Rank::Boxed || candidate.saves >= LARGE_REORDER;
            return if is_enough { None } else { few(few_values(evidence)) };
        }
        let is_returned = evidence.holders.iter().any(|holder| holder.rank >= Rank::Returned);
        if candidate.is_rare && is_returned {
            return None;
        }
        if candidate.is_rare || evidence.rank <= Rank::Future {
            return few(few_values(evidence));
        }
        if matches!(candidate.kind, Change::BoxSlice | Change::Niche | Change::Flags)
            && (evidence.rank < Rank::Many || evidence.is_queue())
        {
            return few(few_values(evidence));
        }
        if break_even_is_low(candidate) {
            let why = format!(
                "it saves memory only while fewer than {} % of the values need the box, or saves little ({} bytes)",
                candidate.break_even(),
                count(candidate.saves)
            );
            return Some(Withheld::new(Reason::Little, why));
        }
        let variants = match &ty.kind {
            Kind::Enum(all) if candidate.kind == Change::BoxVariants => all.variants.len(),
            _ => usize::MAX,
        };
        (evidence.is_queue() && candidate.parts.len().saturating_mul(2) >= variants).then(|| {
            let why = format!("{} only passes values on: each would be an allocation", evidence.holders[0].text());
            Withheld::new(Reason::Queue, why)
        })
    }
}

/// Says what holds few values.
fn few_values(evidence: &Evidence) -> String {
    match evidence.holders.first() {
        None => "only variables hold it".to_owned(),
        Some(holder) => format!("no collection, channel or task holds it, only {}", holder.text()),
    }
}

/// The least saving of another order of the fields for a type with few values.
const LARGE_REORDER: u64 = 64;

fn break_even_is_low(candidate: &Candidate) -> bool {
    candidate.break_even() < candidate.least_even || candidate.saves < candidate.least_shown
}

/// Adds the numbers of a census to the evidence. Returns why they speak against the change.
fn count_values(counts: &Counts, ty: &Type, candidate: &Candidate, evidence: &mut Evidence) -> Option<Withheld> {
    let found = match candidate.kind {
        Change::BoxVariants => counts.of_variants(&ty.name, &candidate.parts),
        Change::BoxOption => {
            let all = candidate.parts.iter().filter_map(|field| counts.of_field(&ty.name, field));
            all.reduce(|a, b| (a.0.max(b.0), a.1.max(b.1)))
        }
        Change::Reorder | Change::BoxSlice | Change::Niche | Change::Flags => {
            candidate.parts.first().and_then(|first| counts.of_field(&ty.name, first))
        }
        // An error is returned, and not live for long.
        Change::BoxError => return None,
    };
    let against = |why: String| Some(Withheld::new(Reason::Census, why));
    let Some((live, boxed)) = found else { return against("the census has no value of it".to_owned()) };
    let heap = if evidence.heap == 0 { 0 } else { boxed.saturating_mul(candidate.heap + HEADER) };
    let gross = live.saturating_mul(candidate.saves);
    (evidence.live, evidence.boxed) = (Some(live), Some(boxed));
    evidence.saves_in_all = gross.checked_sub(heap).filter(|saves| *saves > 0);
    // A variant that most values are costs an allocation each.
    if evidence.heap > 0 && boxed.saturating_mul(2) > live || evidence.saves_in_all.is_none() {
        return against(format!("of {} values in the census {} would be in boxes", count(live), count(boxed)));
    }
    None
}

/// Returns `true` for a type that the expansion of a macro declares: `tokio::select!`'s `__tokio_select_util::Out`.
fn is_generated(ty: &Type) -> bool {
    let head = ty.path.split('<').next().unwrap_or_default();
    head.split("::").any(|part| part.starts_with("__"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use dwell_debuginfo::{Enum, Field, Param, Tag, Variant};

    /// A program for a target with words of `word` bytes, to which types are added.
    struct Made(Program);

    impl Made {
        fn new(word: u64) -> Self {
            Self(Program { pointer_size: word, ..Program::default() })
        }

        fn add(&mut self, path: &str, size: u64, align: u64, kind: Kind) -> TypeId {
            let krate = path.split("::").next().filter(|_| path.contains("::")).unwrap_or_default();
            self.0.types.push(Type {
                name: path.rsplit("::").next().unwrap_or_default().into(),
                path: path.into(),
                size,
                align,
                kind,
                params: Vec::new(),
                source: None,
                krate: krate.into(),
                own: krate == "app",
                public: false,
                unit: 0,
            });
            TypeId(u32::try_from(self.0.types.len()).unwrap() - 1)
        }

        fn bytes(&mut self, count: u64) -> TypeId {
            let byte = self.add("u8", 1, 1, Kind::Primitive);
            self.add("[u8]", count, 1, Kind::Array { element: byte, count })
        }

        /// Adds an enum whose variants have one field each, or none.
        fn choice(&mut self, path: &str, size: u64, align: u64, variants: &[(&str, Option<TypeId>)]) -> TypeId {
            let variants = variants.iter().zip(0..).map(|((name, types), number)| Variant {
                name: (*name).into(),
                discriminants: vec![number..=number],
                fields: types.iter().map(|ty| Field { name: "0".into(), ty: *ty, offset: 4, line: None }).collect(),
            });
            let variants = variants.collect();
            let tag = Some(Tag { offset: 0, size: 1, niche: None });
            self.add(path, size, align, Kind::Enum(Enum { tag, variants }))
        }

        fn generic(&mut self, path: &str, size: u64, params: &[TypeId]) -> TypeId {
            let id = self.add(path, size, 8, Kind::Struct(Vec::new()));
            self.0.types[id.0 as usize].params = params.iter().map(|ty| Param { name: "T".into(), ty: *ty }).collect();
            id
        }

        fn suggest(&self, id: TypeId) -> Suggestion {
            Facts::new(&self.0, None, None).suggest(id).expect("a change")
        }
    }

    fn event(made: &mut Made) -> TypeId {
        let number = made.add("u32", 4, 4, Kind::Primitive);
        let key = made.add("char", 4, 4, Kind::Primitive);
        let large = made.bytes(100);
        made.choice("app::Event", 104, 4, &[("Number", Some(number)), ("Large", Some(large)), ("Key", Some(key))])
    }

    #[test]
    fn words_are_those_of_the_target() {
        for (word, saves) in [(4, 96), (8, 88)] {
            let mut made = Made::new(word);
            let event = event(&mut made);
            made.generic("alloc::vec::Vec<app::Event>", 3 * word, &[event]);
            let one = made.suggest(event);
            assert_eq!((one.saves, one.shown), (saves, true), "{one:#?}");
            assert!(one.why().contains("an allocation of 100 bytes for each value with `Large`"), "{}", one.why());
        }
    }

    #[test]
    fn program_without_alloc_gets_no_box() {
        let mut made = Made::new(4);
        let event = event(&mut made);
        made.add("[app::Event; 8]", 832, 4, Kind::Array { element: event, count: 8 });
        let one = made.suggest(event);
        assert_eq!(one.withheld.map(|withheld| withheld.reason), Some(Reason::NoAlloc));
    }

    /// `Vec<Option<(u8, Large)>>` elsewhere: most events may be large.
    #[test]
    fn values_inside_options_and_tuples_are_many_too() {
        for (outer, reason) in [("alloc::vec::Vec<..>", Some(Reason::Common)), ("app::Other<..>", None)] {
            let mut made = Made::new(8);
            let bytes = made.bytes(240);
            let field = |ty| Field { name: "0".into(), ty, offset: 0, line: None };
            let large = made.add("app::Large", 240, 1, Kind::Struct(vec![field(bytes)]));
            let pair = made.add("(u8, app::Large)", 241, 1, Kind::Struct(vec![field(large)]));
            let option =
                made.choice("core::option::Option<(u8, app::Large)>", 244, 1, &[("None", None), ("Some", Some(pair))]);
            made.generic(outer, 24, &[option]);
            let number = made.add("u32", 4, 4, Kind::Primitive);
            let packet = [("Publish", Some(large)), ("Ack", Some(number)), ("Ping", None)];
            let packet = made.choice("app::Packet", 244, 4, &packet);
            made.generic("alloc::vec::Vec<app::Packet>", 24, &[packet]);
            assert_eq!(made.suggest(packet).withheld.map(|withheld| withheld.reason), reason, "{outer}");
        }
    }

    #[test]
    fn queue_that_mostly_passes_the_large_kind_is_hot() {
        for (holder, reason) in
            [("alloc::collections::vec_deque::VecDeque<..>", Some(Reason::Queue)), ("alloc::vec::Vec<..>", None)]
        {
            let mut made = Made::new(8);
            let (large, small) = (made.bytes(240), made.bytes(2));
            let event = made.choice("app::Event", 244, 4, &[("Incoming", Some(large)), ("Outgoing", Some(small))]);
            made.generic(holder, 32, &[event]);
            assert_eq!(made.suggest(event).withheld.map(|withheld| withheld.reason), reason, "{holder}");
        }
    }

    #[test]
    fn large_error_of_a_result_is_shown() {
        let mut made = Made::new(8);
        let (large, small) = (made.bytes(140), made.add("u64", 8, 8, Kind::Primitive));
        let error = made.choice("app::Failure", 144, 8, &[("Query", Some(large)), ("Missing", Some(small))]);
        made.add("alloc::string::String", 24, 8, Kind::Struct(Vec::new()));
        let few = made.suggest(error);
        assert_eq!(few.withheld.map(|withheld| withheld.reason), Some(Reason::Few));
        let result = [("Ok", Some(small)), ("Err", Some(error))];
        made.choice("core::result::Result<u64, app::Failure>", 152, 8, &result);
        let one = made.suggest(error);
        assert!(one.shown && one.saves == 128, "{one:#?}");
        // A struct has one box for all fields, if what is returned beside it is smaller.
        let field = |ty| Field { name: "0".into(), ty, offset: 0, line: None };
        let lost = made.add("app::Lost", 140, 1, Kind::Struct(vec![field(large)]));
        made.choice("core::result::Result<u64, app::Lost>", 152, 8, &[("Ok", Some(small)), ("Err", Some(lost))]);
        let one = made.suggest(lost);
        assert_eq!((one.kind, one.shown, one.saves), (Change::BoxError, true, 132));
    }

    #[test]
    fn lists_without_capacity_and_indexes_with_a_niche_are_suggested() {
        let row = "pub struct Row { a: String, b: String, c: String }\n";
        let node = "struct Id(usize);\nstruct Node { up: Option<Id>, next: Option<Id>, number: u64 }\n\
                    struct Span { first: Option<u64>, last: Option<u64> }\n";
        let suggest = |more: &str| {
            let folder = tempfile::tempdir().unwrap();
            std::fs::write(folder.path().join("a.rs"), [row, node, more].concat()).unwrap();
            let mut made = Made::new(8);
            let field = |name: &str, ty, offset| Field { name: name.into(), ty, offset, line: None };
            let text = made.add("alloc::string::String", 24, 8, Kind::Struct(Vec::new()));
            let fields = ["a", "b", "c"].into_iter().zip([0, 24, 48]).map(|(name, at)| field(name, text, at)).collect();
            let row = made.add("app::Row", 72, 8, Kind::Struct(fields));
            made.generic("alloc::vec::Vec<app::Row>", 24, &[row]);
            let (number, wide) = (made.add("usize", 8, 8, Kind::Primitive), made.add("u64", 8, 8, Kind::Primitive));
            let index = made.add("app::Id", 8, 8, Kind::Struct(vec![field("0", number, 0)]));
            let option = made.choice("core::option::Option<app::Id>", 16, 8, &[("None", None), ("Some", Some(index))]);
            let fields = vec![field("up", option, 0), field("next", option, 16), field("number", number, 32)];
            let node = made.add("app::Node", 40, 8, Kind::Struct(fields));
            made.generic("alloc::vec::Vec<app::Node>", 24, &[node]);
            let option = made.choice("core::option::Option<u64>", 16, 8, &[("None", None), ("Some", Some(wide))]);
            let fields = vec![field("first", option, 0), field("last", option, 16)];
            let span = made.add("app::Span", 32, 8, Kind::Struct(fields));
            made.generic("alloc::vec::Vec<app::Span>", 24, &[span]);
            let facts = Facts::new(&made.0, Some(folder.path()), None);
            [row, node, span]
                .map(|id| facts.suggest(id).map(|suggestion| (suggestion.kind, suggestion.saves, suggestion.shown)))
        };
        let niche = Some((Change::Niche, 16, true));
        assert_eq!(suggest(""), [Some((Change::BoxSlice, 24, true)), niche, niche]);
        assert_eq!(suggest("impl Row { fn f(&mut self) { self.c.push('x'); } }\n")[0], None);
    }

    /// A container of another crate is known by what its raw pointers point at, a cursor of it by its name.
    #[test]
    fn containers_of_other_crates_hold_values() {
        for (path, is_many) in [("grove::Forest<app::Event>", true), ("grove::ForestIter<app::Event>", false)] {
            let mut made = Made::new(8);
            let event = event(&mut made);
            let field = |name: &str, ty| Field { name: name.into(), ty, offset: 0, line: None };
            let node = made.add("grove::Node<app::Event>", 112, 8, Kind::Struct(vec![field("data", event)]));
            let pointer = made.add("*mut grove::Node<app::Event>", 8, 8, Kind::Pointer { pointee: Some(node) });
            let forest = made.generic(path, 8, &[event]);
            made.0.types[forest.0 as usize].kind = Kind::Struct(vec![field("nodes", pointer)]);
            made.add("alloc::string::String", 24, 8, Kind::Struct(Vec::new()));
            assert_eq!(made.suggest(event).shown, is_many, "{path}");
        }
    }
}
