//! What is tried: the changes of all reports, those that promise most first.

use super::super::moves::{Move, Saves};
use super::costs::{self, Goal};
use serde_json::Value;
use std::collections::VecDeque;
use std::path::Path;

/// The number of changes of types of which no report knows how many values live.
const WITHOUT_COUNT: usize = 3;
/// The least share of the bytes or of the time that a change must promise to be tried alone: what it must save.
const ALONE: f64 = costs::LEAST;
/// The least that it must promise to be tried together with others.
const LEAST: f64 = ALONE / 4.0;

/// A change to try.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Candidate {
    /// Another global allocator.
    Allocator,
    /// A change of the source, of which a report of a run knows what it saves.
    Counted(Box<Move>),
    /// A change of a type, of which no report knows how many values live.
    Size(Box<Move>),
    /// Changes that save too little alone.
    Together(Vec<Move>),
}

impl Candidate {
    /// Returns its name, by which a person finds the place.
    pub(super) fn name(&self) -> String {
        match self {
            Self::Allocator => super::super::allocator::NAME.to_owned(),
            Self::Counted(change) | Self::Size(change) => change.location.clone(),
            Self::Together(all) => all.iter().map(|item| item.location.as_str()).collect::<Vec<_>>().join(", "),
        }
    }

    /// Returns what is done, in words.
    pub(super) fn how(&self) -> String {
        match self {
            Self::Allocator => "as the global allocator".to_owned(),
            Self::Counted(change) | Self::Size(change) => change.how.clone(),
            Self::Together(_) => "what saves too little alone".to_owned(),
        }
    }

    /// Returns the kind of the prediction.
    pub(super) fn kind(&self) -> &str {
        match self {
            Self::Allocator => "allocator",
            Self::Counted(change) | Self::Size(change) => &change.kind,
            Self::Together(_) => "together",
        }
    }

    /// Returns `true` if it changes something.
    pub(super) fn has_some(&self) -> bool {
        *self == Self::Allocator || !self.moves().is_empty()
    }

    /// Returns the changes of the source.
    pub(super) fn moves(&self) -> &[Move] {
        match self {
            Self::Allocator => &[],
            Self::Counted(change) | Self::Size(change) => std::slice::from_ref(change),
            Self::Together(all) => all,
        }
    }
}

/// Returns the share of what the program costs that a change is said to save.
pub(super) fn share(change: &Move, live: u64, goal: Option<Goal>) -> f64 {
    match change.saves {
        Saves::Bytes(bytes) if goal != Some(Goal::Time) => bytes as f64 / (live as f64).max(1.0),
        Saves::Nanos(_) if goal != Some(Goal::Memory) => change.percent[1] / 100.0,
        Saves::Bytes(_) | Saves::Nanos(_) => 0.0,
    }
}

/// The changes of all reports.
#[derive(Debug, Default)]
pub(super) struct Sorted {
    /// Those that are tried one by one, in their order.
    pub(super) able: Vec<Candidate>,
    /// Those that promise too little to be tried alone.
    pub(super) small: Vec<Move>,
    /// Those that need a person.
    pub(super) person: Vec<Move>,
}

/// Sorts changes by what they promise. `counted` are those of a run, and `sizes` those of types of which no report knows how many live.
pub(super) fn sorted(mut counted: Vec<Move>, sizes: Vec<Move>, live: u64, goal: Option<Goal>) -> Sorted {
    let (mut able, mut person): (Vec<Move>, Vec<Move>) = (Vec::new(), Vec::new());
    let same = |one: &Move, other: &Move| {
        let items =
            |change: &Move| change.edits.iter().map(|edit| (edit.item.clone(), edit.to.clone())).collect::<Vec<_>>();
        items(one) == items(other) && (!one.edits.is_empty() || one.location == other.location)
    };
    counted.sort_by(|one, other| share(other, live, goal).total_cmp(&share(one, live, goal)));
    for change in counted {
        let list = if change.refusal().is_none() { &mut able } else { &mut person };
        if !list.iter().any(|other| same(other, &change)) {
            list.push(change);
        }
    }
    able.retain(|candidate| share(candidate, live, goal) >= LEAST);
    let mut sizes: Vec<Move> = sizes.into_iter().filter(|size| size.refusal().is_none()).collect();
    sizes.retain(|candidate| !able.iter().any(|other| same(other, candidate)));
    sizes.truncate(WITHOUT_COUNT);
    let (able, small): (Vec<Move>, Vec<Move>) =
        able.into_iter().partition(|candidate| share(candidate, live, goal) >= ALONE);
    let able = able.into_iter().map(|item| Candidate::Counted(Box::new(item)));
    let able = able.chain(sizes.into_iter().map(|size| Candidate::Size(Box::new(size)))).collect();
    Sorted { able, small, person }
}

/// Adds what a census of the changed program proposes to what is left, in the order of what it promises now, before the changes of types
/// of which no report knows how many live. What promises too little alone by now becomes one of the `small` ones.
pub(super) fn renew(
    queue: &mut VecDeque<Candidate>,
    small: &mut Vec<Move>,
    mut new: Vec<Move>,
    live: u64,
    goal: Option<Goal>,
) {
    let promised = |candidate: &Candidate| match candidate {
        Candidate::Counted(change) => Some(share(change, live, goal)),
        _ => None,
    };
    for queued in queue.iter_mut() {
        if let Candidate::Counted(change) = queued
            && let Some(index) = new.iter().position(|new| new.is_for_same(change))
        {
            **change = new.remove(index);
        }
    }
    for queued in small.iter_mut() {
        if let Some(index) = new.iter().position(|new| new.is_for_same(queued)) {
            *queued = new.remove(index);
        }
    }
    small.retain(|queued| share(queued, live, goal) >= LEAST);
    queue.extend(new.into_iter().map(|item| Candidate::Counted(Box::new(item))));
    queue.retain(|candidate| promised(candidate).is_none_or(|share| share >= LEAST));
    queue.retain(|candidate| match candidate {
        Candidate::Counted(change) if share(change, live, goal) < ALONE => {
            small.push((**change).clone());
            false
        }
        _ => true,
    });
    let order = |candidate: &Candidate| match candidate {
        Candidate::Allocator => (0, 0.0),
        Candidate::Counted(_) => (1, -promised(candidate).unwrap_or_default()),
        Candidate::Size(_) => (2, 0.0),
        Candidate::Together(_) => (3, 0.0),
    };
    queue.make_contiguous().sort_by(|one, other| {
        let (one, other) = (order(one), order(other));
        one.0.cmp(&other.0).then(one.1.total_cmp(&other.1))
    });
}

/// Gives the suggestions of a report of `allocs` their places below the root: they are about a row of it.
pub(super) fn add_places(report: &mut Value, root: &Path) {
    let text = |value: Option<&Value>| value.and_then(Value::as_str).map(str::to_owned);
    let place = |row: &Value| {
        let what = text(row.get("what"))?;
        let first = row.get("places")?.get(0)?;
        let at = text(first.get("called_from")).or_else(|| text(first.get("at")))?;
        let at = Path::new(&at).strip_prefix(root).unwrap_or(Path::new(&at)).display();
        Some(format!("{what} at {at}"))
    };
    let rows: Vec<Option<String>> =
        report.get("rows").and_then(Value::as_array).into_iter().flatten().map(place).collect();
    for suggestion in report.get_mut("suggestions").and_then(Value::as_array_mut).into_iter().flatten() {
        let index = suggestion.get("row").and_then(Value::as_u64).and_then(|index| usize::try_from(index).ok());
        if let (Some(place), Some(fields)) =
            (index.and_then(|index| rows.get(index)?.clone()), suggestion.as_object_mut())
        {
            fields.insert("where".to_owned(), place.into());
        }
    }
}

/// Returns a change with the types of std in the place of those of the library; `None`: std has none.
pub(super) fn of_std(change: &Move) -> Option<Move> {
    let mut change = change.clone();
    for edit in &mut change.edits {
        let to = edit.to.replace("ThinStr", "Box<str>");
        edit.to = match (to.split_once("ThinSlice<"), to.strip_suffix('>')) {
            (Some((head, _)), Some(rest)) => format!("{head}Box<[{}]>", &rest[head.len() + "ThinSlice<".len()..]),
            _ => to,
        };
    }
    let is_of_std =
        change.edits.iter().all(|edit| change.becomes(edit).is_some_and(|becomes| becomes.features().is_empty()));
    let to: Vec<String> = change.edits.iter().map(|edit| edit.to.clone()).collect();
    change.how = to.first().cloned().unwrap_or_default();
    change.is_of_std = true;
    is_of_std.then_some(change)
}

/// Returns the line of a text that was on `line` before an edit, or the nearest that is left.
pub(super) fn moved_line(before: &str, after: &str, line: u32) -> u32 {
    let number = |index: usize| u32::try_from(index + 1).unwrap_or(line);
    let index = (line as usize).saturating_sub(1);
    let (before, after): (Vec<&str>, Vec<&str>) = (before.lines().collect(), after.lines().collect());
    let head = before.iter().zip(&after).take_while(|(one, other)| one == other).count();
    if index < head {
        return line;
    }
    let most = before.len().min(after.len()) - head;
    let tail = before.iter().rev().zip(after.iter().rev()).take(most).take_while(|(one, other)| one == other).count();
    if index >= before.len() - tail {
        return number((index + after.len()).saturating_sub(before.len()));
    }
    // Between them: the same line that is nearest to where it was.
    let same = after.iter().enumerate().filter(|(_, text)| before.get(index) == Some(text));
    same.min_by_key(|(at, _)| at.abs_diff(index)).map_or(line, |(at, _)| number(at))
}

#[cfg(test)]
mod tests {
    use super::*;
    use dwell_source::Edit;

    fn of(item: &str, saves: Saves, percent: f64) -> Move {
        let edits = vec![Edit { item: item.into(), from: "B".into(), to: "Box<B>".into(), ..Edit::default() }];
        Move { location: item.into(), saves, percent: [0.0, percent, 0.0], edits, ..Move::default() }
    }

    #[test]
    fn what_promises_most_is_first() {
        let counted = vec![
            of("A.a", Saves::Bytes(100), 0.0),
            of("A.b", Saves::Nanos([0; 3]), 30.0),
            of("A.c", Saves::Bytes(500), 0.0),
            of("A.a", Saves::Nanos([0; 3]), 1.0),
            of("A.f", Saves::Bytes(9), 0.0),
            of("A.g", Saves::Bytes(2), 0.0),
            Move { location: "D.d".into(), dependency: Some("d".into()), ..Move::default() },
        ];
        let sizes = vec![of("A.c", Saves::Bytes(8), 0.0), of("A.e", Saves::Bytes(8), 0.0)];
        let names = |goal| {
            let sorted = sorted(counted.clone(), sizes.clone(), 1000, goal);
            assert_eq!(sorted.person.len(), 1);
            let small = sorted.small.iter().map(|item| format!("({})", item.location));
            sorted.able.iter().map(Candidate::name).chain(small).collect::<Vec<_>>().join(" ")
        };
        assert_eq!(names(None), "A.c A.b A.a A.e (A.f)");
        assert_eq!(names(Some(Goal::Memory)), "A.c A.a A.e (A.f)");
        assert_eq!(names(Some(Goal::Time)), "A.b A.a A.c A.e");
    }

    #[test]
    fn what_a_changed_program_proposes_is_in_order() {
        let counted = |item: &str, bytes| Candidate::Counted(Box::new(of(item, Saves::Bytes(bytes), 0.0)));
        let size = Candidate::Size(Box::new(of("A.e", Saves::Bytes(8), 0.0)));
        let mut queue = VecDeque::from([counted("A.a", 500), counted("A.b", 300), size]);
        let new = [("A.c", 400), ("A.b", 450), ("A.d", 1), ("A.f", 7), ("A.g", 1), ("A.h", 6)];
        let new = new.map(|(item, bytes)| of(item, Saves::Bytes(bytes), 0.0));
        let mut small = vec![of("A.g", Saves::Bytes(9), 0.0), of("A.h", Saves::Bytes(9), 0.0)];
        renew(&mut queue, &mut small, new.to_vec(), 1000, None);
        assert_eq!(queue.iter().map(Candidate::name).collect::<Vec<_>>().join(" "), "A.a A.b A.c A.e");
        assert_eq!(small.iter().map(|item| item.location.as_str()).collect::<Vec<_>>(), ["A.h", "A.f"]);
        assert_eq!(small[0].saves, Saves::Bytes(6));
    }

    #[test]
    fn types_of_the_library_become_those_of_std() {
        let with = |from: &str, to: &str| {
            let edits = vec![Edit { from: from.into(), to: to.into(), ..Edit::default() }];
            Some(of_std(&Move { edits, ..Move::default() })?.edits[0].to.clone())
        };
        assert_eq!(with("String", "ThinStr").as_deref(), Some("Box<str>"));
        assert_eq!(with("Option<String>", "Option<ThinStr>").as_deref(), Some("Option<Box<str>>"));
        assert_eq!(with("Vec<Item<u8>>", "ThinSlice<Item<u8>>").as_deref(), Some("Box<[Item<u8>]>"));
        assert_eq!(with("HashMap<u8, u8>", "SortedMap<u8, u8>"), None);
    }

    #[test]
    fn suggestions_of_allocs_get_their_places() {
        let mut report = serde_json::json!({
            "rows": [{"what": "String", "places": [{"at": "/app/src/a.rs:3", "called_from": null}]}],
            "suggestions": [{"kind": "borrow", "row": 0}, {"kind": "borrow", "row": 7}],
        });
        add_places(&mut report, Path::new("/app"));
        assert_eq!(report["suggestions"][0]["where"], "String at src/a.rs:3");
        assert!(report["suggestions"][1].get("where").is_none());
    }

    #[test]
    fn lines_move_with_edits() {
        let before = "a\nb\nc\nd\ne\n";
        let after = "a\nx\ny\nc\nd2\ne\n";
        let lines: Vec<u32> = (1..=5).map(|line| moved_line(before, after, line)).collect();
        assert_eq!(lines, [1, 2, 4, 4, 6]);
        assert_eq!(moved_line("a\na\n", "a\n", 2), 2 - 1);
    }
}
