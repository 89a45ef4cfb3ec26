//! Compares what a run costs with what it cost at the base, and names the cause of each growth.

use super::costs::{Costs, Held, Place, Span, TOTALS, Total};
use super::limits::Limits;
use super::row::{Kind, Row, Unit, place};
use crate::sizes::{Change, Diff};
use dwell_output::units::{bytes, count};
use dwell_source::Items;
use std::collections::BTreeMap;
use std::path::Path;

/// The moments of a run.
const PEAK: &str = "live at the peak";
const EXIT: &str = "live at the exit";

/// What is needed to explain the differences of a run.
struct Comparison<'a> {
    run: &'a str,
    limits: Limits<'a>,
    items: &'a Items,
    root: &'a Path,
    /// The types and futures that grew.
    grown: &'a [Change],
    /// How many bytes of the base's owners may be missing.
    missing: u64,
}

/// Returns a row for each cause of growth of a run after those of its totals: what is held, then what is allocated, the largest
/// first.
pub(super) fn rows(
    run: &str,
    before: &Costs,
    after: &Costs,
    limits: Limits<'_>,
    items: &Items,
    root: &Path,
) -> Vec<Row> {
    let diff = Diff::between(before.sizes.clone(), after.sizes.clone());
    // Owners name a type without its path, also where another crate has the same name.
    let mut grown = diff.grew().to_vec();
    for change in &mut grown {
        change.name = without_path(&change.name);
    }
    let comparison = Comparison { run, limits, items, root, grown: &grown, missing: before.missing };
    let mut rows = comparison.totals(before, after);
    let mut causes = comparison.owners(&before.owners, &after.owners, PEAK);
    let leaked = comparison.owners(&before.leaks, &after.leaks, "leaked");
    // What is live at the exit explains its growth where neither the peak nor a leak does.
    if leaked.is_empty() && before.has_left() && rows.iter().any(|row| row.what == "exit-bytes") {
        let known: Vec<String> = causes.iter().map(|row| row.what.replace(PEAK, EXIT)).collect();
        let left = comparison.owners(&before.left, &after.left, EXIT);
        causes.extend(left.into_iter().filter(|row| !known.contains(&row.what)));
    }
    causes.extend(leaked);
    causes.extend(comparison.places(&before.places, &after.places));
    // What is held explains what is allocated.
    causes.sort_by_key(|row| (row.unit == Unit::Blocks, std::cmp::Reverse(row.growth())));
    rows.extend(causes);
    rows.extend(comparison.tests(&before.tests, &after.tests));
    rows
}

impl Comparison<'_> {
    fn row(&self, what: String, unit: Unit, numbers: (Span, Span), cause: String, at: Option<(String, u32)>) -> Row {
        let (before, after) = numbers;
        let kind = Kind::Growth { before: before.most };
        Row { run: self.run.to_owned(), what, unit, kind, now: after.least, cause, place: at }
    }

    fn totals(&self, before: &Costs, after: &Costs) -> Vec<Row> {
        let row = |(what, unit, number): &Total| {
            let (before, after) = (number(before)?, number(after)?);
            self.limits.least(what).growth(before, after, *unit)?;
            Some(self.row((*what).to_owned(), *unit, (before, after), String::new(), None))
        };
        // RSS varies from run to run.
        TOTALS.iter().filter(|(what, ..)| *what != "rss").filter_map(row).collect()
    }

    /// Returns a row for each owner that holds more, and for each type whose values became larger.
    fn owners(&self, before: &[Held], after: &[Held], what: &str) -> Vec<Row> {
        let groups = |all: &[Held]| -> BTreeMap<(String, String), Vec<Held>> {
            let mut groups: BTreeMap<_, Vec<Held>> = BTreeMap::new();
            for held in all {
                groups.entry(group(held)).or_default().push(held.clone());
            }
            groups
        };
        let (old, new) = (groups(&adopted(before, after)), groups(&adopted(after, before)));
        let mut rows = Vec::new();
        // By type and field: the bytes before and after, and the owners.
        let mut of_types: BTreeMap<String, (Span, Span, Vec<String>, &Change)> = BTreeMap::new();
        for (key, now) in &new {
            let was = old.get(key).map_or(&[][..], |was| &was[..]);
            let numbers = (sum(was, |held| held.bytes), sum(now, |held| held.bytes));
            let least = self.limits.least(&key.0);
            let growth = least.growth(numbers.0, numbers.1, Unit::Bytes);
            // Sizes are exact, whatever differs between equal runs.
            if let Some((change, by_size)) = self.larger_values(was, now)
                && (by_size >= growth.unwrap_or(0) / 2 && least.counts(by_size, numbers.0))
            {
                let change = self.innermost(change);
                let elements: u64 = now.iter().map(|held| held.elements.least).sum();
                let entry = of_types.entry(change.name.clone()).or_insert((
                    Span::default(),
                    Span::default(),
                    Vec::new(),
                    change,
                ));
                entry.0 = added(entry.0, numbers.0);
                entry.1 = added(entry.1, numbers.1);
                entry.2.push(format!("{} in {}", count(elements), key.0));
                continue;
            }
            // The copy at the exit lacks nothing.
            let missing = if what == PEAK { self.missing } else { 0 };
            if growth.is_none_or(|growth| growth <= missing) {
                continue;
            }
            let (cause, prefers_line) = cause(was, now);
            let line =
                now.iter().max_by_key(|held| held.bytes.most).and_then(|held| place(held.at.as_deref()?, self.root));
            let field = self.declaration(&key.0);
            let at = if prefers_line { line.or(field) } else { field.or(line) };
            let contents: Vec<&str> = now.iter().map(|held| &*held.content).take(2).collect();
            let name = format!("{}: {}, {what}", key.0, contents.join(", "));
            rows.push(self.row(name, Unit::Bytes, numbers, cause, at));
        }
        for (name, (was, now, owners, change)) in of_types {
            let field = change.by.iter().find(|by| by.after > by.before);
            let path = field.map_or_else(|| name.clone(), |by| field_path(&name, &by.field, &by.type_name));
            let because = field.map_or_else(String::new, |by| format!("{}: ", by.text()));
            let cause = format!(
                "{because}`{name}` {} -> {} bytes, {}",
                count(change.before),
                count(change.after),
                owners.join(", ")
            );
            let at = self.declaration(&path).or_else(|| self.declaration(&name));
            rows.push(self.row(format!("{path}, {what}"), Unit::Bytes, (was, now), cause, at));
        }
        rows
    }

    /// Returns the type inside of a larger one that has the new bytes itself.
    fn innermost<'c>(&'c self, change: &'c Change) -> &'c Change {
        let mut last = change;
        // Types cannot contain themselves by value; the bound is for damaged files.
        for _ in 0..self.grown.len() {
            // A variant has no type, but its fields do; `Option<Inner>` is as large as `Inner`.
            let parts = last.by.iter().filter(|by| by.before > 0 && by.after > by.before);
            let inner = parts.flat_map(|by| {
                let is_inner = |inner: &&Change| inner.name != last.name && has_word(&by.type_name, &inner.name);
                self.grown.iter().filter(is_inner).map(|inner| (by.after - by.before, inner.name.len(), inner))
            });
            let Some((.., inner)) = inner.max_by_key(|(growth, length, _)| (*growth, *length)) else { break };
            last = inner;
        }
        last
    }

    /// Returns the type because of which the values of an owner are larger, and how many bytes that makes.
    fn larger_values(&self, was: &[Held], now: &[Held]) -> Option<(&Change, u64)> {
        let mut best: Option<(&Change, u64)> = None;
        for held in now {
            let Some(old) = was.iter().find(|old| old.element == held.element) else { continue };
            let larger = held.element_size.saturating_sub(old.element_size);
            let of_element = self.grown.iter().filter(|change| has_word(&held.element, &change.name));
            let Some(change) = of_element.max_by_key(|change| change.after - change.before) else { continue };
            let all = held.elements.least.max(held.blocks.least);
            // Also those that it has capacity for.
            let all = all.max(held.bytes.least.checked_div(held.element_size).unwrap_or(0));
            let by_size = larger.saturating_mul(all);
            if by_size > best.map_or(0, |(_, most)| most) {
                best = Some((change, by_size));
            }
        }
        best
    }

    fn places(&self, before: &[Place], after: &[Place]) -> Vec<Row> {
        let old: BTreeMap<_, Span> =
            before.iter().map(|place| ((&place.what, &place.function), place.blocks)).collect();
        let row = |now: &Place| {
            let was = old.get(&(&now.what, &now.function)).copied().unwrap_or_default();
            self.limits.least(&now.function).growth(was, now.blocks, Unit::Blocks)?;
            let new = if was == Span::default() { "new" } else { "more often" };
            let at = now.at.as_deref().and_then(|at| place(at, self.root));
            let what = format!("{} in {}, allocated", now.what, now.function);
            Some(self.row(what, Unit::Blocks, (was, now.blocks), new.to_owned(), at))
        };
        after.iter().filter_map(row).collect()
    }

    fn tests(&self, before: &[Place], after: &[Place]) -> Vec<Row> {
        let row = |test: &Place| {
            let was = before.iter().find(|was| was.function == test.function)?.blocks;
            self.limits.least(&test.function).growth(was, test.blocks, Unit::Blocks)?;
            let at = test.at.as_deref().and_then(|at| place(at, self.root));
            let what = format!("the test {}, allocated", test.function);
            Some(self.row(what, Unit::Blocks, (was, test.blocks), "more often".to_owned(), at))
        };
        after.iter().filter_map(row).collect()
    }

    /// Returns the place of a field's or type's declaration.
    fn declaration(&self, path: &str) -> Option<(String, u32)> {
        // `State.sessions []` are the elements, `State.sessions key` the keys.
        let path = path.split(' ').next().unwrap_or(path);
        if let Some((item, line, _)) = self.items.field(path) {
            return Some((item.file.clone(), line));
        }
        let head = path.split('.').next().unwrap_or(path);
        let item_of = |name: &str| self.items.at(name).map(|item| (item, name.to_owned()));
        let (item, _) = item_of(head).or_else(|| item_of(head.rsplit_once("::")?.0))?;
        let variant = head.rsplit_once("::").and_then(|(_, variant)| item.part(variant));
        Some((item.file.clone(), variant.map_or(item.line, |(line, _)| line)))
    }
}

/// Returns the owners of a run. A value that is being dropped, or whose variable is not known at that moment, has no field as
/// owner; it gets the one that only the other run has for blocks of the same kind that the same function allocated.
fn adopted(one: &[Held], other: &[Held]) -> Vec<Held> {
    let is_known = |owner: &Held| one.iter().any(|held| held.owner == owner.owner && held.content == owner.content);
    let adopt = |held: &Held| {
        let is_same = |candidate: &&Held| {
            !candidate.owner.starts_with('(')
                && candidate.content == held.content
                && candidate.function == held.function
        };
        let field = other
            .iter()
            .filter(|_| held.owner.starts_with('('))
            .find(|candidate| is_same(candidate) && !is_known(candidate));
        Held { owner: field.map_or_else(|| held.owner.clone(), |field| field.owner.clone()), ..held.clone() }
    };
    one.iter().map(adopt).collect()
}

/// What is compared with each other: all that a field owns, or blocks without a field by what they are.
fn group(held: &Held) -> (String, String) {
    let content = if held.owner.starts_with('(') { held.content.clone() } else { String::new() };
    (held.owner.clone(), content)
}

fn added(a: Span, b: Span) -> Span {
    Span { least: a.least + b.least, most: a.most + b.most }
}

fn sum(all: &[Held], number_of: impl Fn(&Held) -> Span) -> Span {
    all.iter().map(number_of).fold(Span::default(), added)
}

/// Says why an owner holds more, and whether the line that allocates explains it better than the field does.
fn cause(was: &[Held], now: &[Held]) -> (String, bool) {
    if was.is_empty() {
        return (format!("new: {} blocks", count(sum(now, |held| held.blocks).least)), false);
    }
    let numbers = |number_of: fn(&Held) -> Span| (sum(was, number_of).most, sum(now, number_of).least);
    let (unused_before, unused) = numbers(|held| held.unused);
    let (bytes_before, bytes_now) = numbers(|held| held.bytes);
    let (elements_before, elements) = numbers(|held| held.elements);
    let (blocks_before, blocks) = numbers(|held| held.blocks);
    if elements > elements_before + elements_before / 10 {
        return (format!("{} -> {} elements", count(elements_before), count(elements)), false);
    }
    if unused.saturating_sub(unused_before) > bytes_now.saturating_sub(bytes_before) / 2 {
        return (format!("unused capacity {} -> {}", bytes(unused_before), bytes(unused)), true);
    }
    if elements > elements_before {
        return (format!("{} -> {} elements", count(elements_before), count(elements)), false);
    }
    (format!("{} -> {} blocks", count(blocks_before), count(blocks)), true)
}

/// Returns the path of a field: `Session.tags`, `Kind::Large`, `Kind::Large.size`.
fn field_path(ty: &str, field: &str, inner: &str) -> String {
    let ty = ty.split('<').next().unwrap_or(ty);
    match field.split_once('.') {
        Some((variant, field)) => format!("{ty}::{variant}.{field}"),
        // A variant has no type.
        None if inner.is_empty() => format!("{ty}::{field}"),
        None => format!("{ty}.{field}"),
    }
}

/// Returns the name of a type without its path: `Entry<a::Key>` for `app::Entry<a::Key>`.
fn without_path(name: &str) -> String {
    let head = name.split('<').next().unwrap_or(name);
    name[head.rfind("::").map_or(0, |at| at + 2)..].to_owned()
}

/// Returns `true` if a text has a name as a whole word.
fn has_word(text: &str, name: &str) -> bool {
    let is_part = |letter: char| letter.is_alphanumeric() || letter == '_';
    text.match_indices(name).any(|(at, _)| {
        !text[..at].ends_with(is_part) && !text[at + name.len()..].starts_with(is_part) && !name.is_empty()
    })
}

#[cfg(test)]
mod tests {
    use super::super::limits::Least;
    use super::*;
    use crate::config::Limit;

    fn owner(owner: &str, content: &str, element: &str, element_size: u64, elements: u64, unused: u64) -> Held {
        let exactly = |number| Span { least: number, most: number };
        Held {
            owner: owner.into(),
            content: content.into(),
            element: element.into(),
            element_size,
            bytes: exactly(element_size * elements + unused),
            blocks: exactly(1),
            elements: exactly(elements),
            unused: exactly(unused),
            at: Some("src/main.rs:7".into()),
            function: "main".into(),
        }
    }

    fn compared(before: &Costs, after: &Costs) -> Vec<(String, String)> {
        compared_by(before, after, &BTreeMap::new())
    }

    fn compared_by(before: &Costs, after: &Costs, named: &BTreeMap<String, Limit>) -> Vec<(String, String)> {
        let limits = Limits { default: Least::new(0.01, 1024), named };
        let rows = rows("load", before, after, limits, &Items::new(None), Path::new("/"));
        rows.into_iter().map(|row| (row.what, row.cause)).collect()
    }

    #[test]
    fn each_growth_has_its_cause() {
        let before = Costs {
            owners: vec![
                owner("State.sessions", "Vec<Session>", "Session", 48, 1000, 0),
                owner("State.cache", "Vec<u64>", "u64", 8, 1000, 0),
                owner("State.spare", "Vec<u64>", "u64", 8, 1000, 0),
                owner("State.same", "Vec<u64>", "u64", 8, 1000, 0),
            ],
            sizes: serde_json::from_str(
                r#"{"types":[{"name":"Session","path":"a::Session","size":48,"fields":[]}],"futures":[]}"#,
            )
            .unwrap(),
            ..Costs::default()
        };
        let after = Costs {
            owners: vec![
                owner("State.sessions", "Vec<Session>", "Session", 72, 1000, 0),
                owner("State.cache", "Vec<u64>", "u64", 8, 9000, 0),
                owner("State.spare", "Vec<u64>", "u64", 8, 1000, 4000),
                owner("State.same", "Vec<u64>", "u64", 8, 1001, 0),
                owner("State.notes", "Vec<u64>", "u64", 8, 500, 0),
            ],
            sizes: serde_json::from_str(
                r#"{"types":[{"name":"Session","path":"a::Session","size":72,
                    "fields":[{"name":"tags","type":"Vec<u8>","offset":0,"size":24}]}],"futures":[]}"#,
            )
            .unwrap(),
            ..Costs::default()
        };
        let found = compared(&before, &after);
        let has = |what: &str, cause: &str| {
            assert!(found.iter().any(|(a, b)| a.starts_with(what) && b.contains(cause)), "{what} {cause} {found:?}");
        };
        assert_eq!(found.len(), 4, "{found:?}");
        assert!(found[0].0.starts_with("State.cache"), "{found:?}");
        has("Session.tags", "`Session` 48 -> 72 bytes, 1,000 in State.sessions");
        has("State.cache: Vec<u64>", "1,000 -> 9,000 elements");
        has("State.spare: Vec<u64>", "unused capacity");
        has("State.notes: Vec<u64>", "new: 1 blocks");
    }

    #[test]
    fn field_of_an_inner_type_is_the_cause() {
        let costs = |size: u64, field: &str| Costs {
            owners: vec![owner("Resource.body", "Vec<Entry>", "Entry", 16 + size, 1000, 0)],
            sizes: serde_json::from_str(&format!(
                r#"{{"types":[{{"name":"Entry","path":"a::Entry","size":{},"fields":[
                    {{"name":"message","type":"Option<Message>","offset":0,"size":{size}}}]}},
                    {{"name":"Message","path":"a::Message","size":{size},"fields":[
                    {{"name":"id","type":"u64","offset":0,"size":8}}{field}]}}],"futures":[]}}"#,
                16 + size
            ))
            .unwrap(),
            ..Costs::default()
        };
        let notes = r#",{"name":"notes","type":"[u64; 4]","offset":8,"size":32}"#;
        // Another crate has an `Entry` too.
        let with_path = |mut costs: Costs| {
            let text =
                serde_json::to_string(&costs.sizes).unwrap().replace("\"name\":\"Entry\"", "\"name\":\"app::Entry\"");
            costs.sizes = serde_json::from_str(&text).unwrap();
            costs
        };
        let found = compared(&with_path(costs(8, "")), &with_path(costs(40, notes)));
        assert!(found.len() == 1 && found[0].0.starts_with("Message.notes"), "{found:?}");
        let found = compared(&costs(8, ""), &costs(40, notes));
        assert_eq!(found.len(), 1, "{found:?}");
        assert!(found[0].0.starts_with("Message.notes") && found[0].1.contains("1,000 in Resource.body"), "{found:?}");
    }

    #[test]
    fn what_differs_between_equal_runs_is_no_growth() {
        let limits = Least::new(0.01, 100);
        let span = |least, most| Span { least, most };
        assert_eq!(limits.growth(span(1000, 1000), span(1200, 1200), Unit::Bytes), Some(200));
        assert_eq!(limits.growth(span(900, 1000), span(1200, 1300), Unit::Bytes), None);
        assert_eq!(limits.growth(span(1000, 1000), span(1050, 1050), Unit::Bytes), None);
        assert_eq!(limits.growth(span(100_000, 100_000), span(100_900, 100_900), Unit::Bytes), None);
        assert_eq!(limits.growth(span(1000, 1000), span(900, 900), Unit::Bytes), None);
        assert_eq!(limits.growth(span(0, 0), span(3, 3), Unit::Blocks), Some(3));
    }

    #[test]
    fn value_that_is_being_dropped_has_its_field() {
        let costs = |name: &str, elements| Costs {
            owners: vec![owner(name, "Vec<u64>", "u64", 8, elements, 0)],
            missing: 100,
            ..Costs::default()
        };
        assert_eq!(compared(&costs("(local value that is being dropped)", 1000), &costs("State.list", 1010)), []);
        let found = compared(&costs("State.list", 1000), &costs("(local value that is being dropped)", 9000));
        assert!(found[0].0.starts_with("State.list"), "{found:?}");
        // As many bytes as this were freed before the copy of the base was made.
        let base = Costs { missing: 9000, ..costs("State.list", 1000) };
        assert_eq!(compared(&base, &costs("State.list", 2000)), []);
    }

    #[test]
    fn what_stays_until_the_exit_is_a_cause() {
        let costs = |elements: u64| Costs {
            exit_bytes: Some(Span { least: 8 * elements, most: 8 * elements }),
            left: vec![owner("(stack)", "Box<Node>", "Node", 8, elements, 0)],
            missing: 100_000,
            ..Costs::default()
        };
        let found = compared(&costs(1000), &costs(9000));
        assert_eq!(found.len(), 2, "{found:?}");
        assert!(found[1].0.starts_with("(stack): Box<Node>, live at the exit"), "{found:?}");
        // A file of an earlier release does not say what was live at the exit.
        assert_eq!(compared(&Costs { left: Vec::new(), ..costs(1000) }, &costs(9000)).len(), 1);
        // The peak has the same owner.
        let at_peak = |elements| Costs { owners: costs(elements).left, missing: 0, ..costs(elements) };
        let found = compared(&at_peak(1000), &at_peak(9000));
        assert_eq!(found.len(), 2, "{found:?}");
        assert!(found[1].0.ends_with("live at the peak"), "{found:?}");
    }

    #[test]
    fn names_have_their_own_limits() {
        let exactly = |number| Some(Span { least: number, most: number });
        let costs = |elements: u64| Costs {
            peak_bytes: exactly(8 * elements + 100_000),
            owners: vec![owner("app::State.list []", "Vec<u64>", "u64", 8, elements, 0)],
            ..Costs::default()
        };
        let found = |limits: &[(&str, Limit)]| {
            let named = limits.iter().map(|(name, limit)| ((*name).to_owned(), *limit)).collect();
            compared_by(&costs(1000), &costs(1400), &named).into_iter().map(|(what, _)| what).collect::<Vec<_>>()
        };
        assert_eq!(found(&[]), ["peak-bytes", "app::State.list []: Vec<u64>, live at the peak"]);
        assert_eq!(found(&[("peak-bytes", Limit::Share(0.03))]), ["app::State.list []: Vec<u64>, live at the peak"]);
        assert_eq!(found(&[("State.list", Limit::Number(3200))]), ["peak-bytes"]);
        assert_eq!(found(&[("State.list", Limit::Number(3199)), ("peak-bytes", Limit::Share(0.02))]).len(), 2);
    }

    #[test]
    fn paths_and_words_are_told_apart() {
        assert_eq!(field_path("Kind<u8>", "Large.size", "u64"), "Kind::Large.size");
        assert_eq!(field_path("Kind", "Large", ""), "Kind::Large");
        assert_eq!(field_path("Session", "tags", "Vec<u8>"), "Session.tags");
        assert!(has_word("(u64, app::Session)", "Session") && !has_word("SessionMap", "Session"));
    }
}
