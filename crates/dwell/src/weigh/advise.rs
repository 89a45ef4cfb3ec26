//! Which fields to move, and what each move is worth.
#![forbid(unsafe_code)]

use super::tree::{Edge, Tree};
use super::types::{Kind, MapKind, Repr};
use super::what_if::{Change, Site, SiteId, Sum, WhatIf, short};
use std_alloc::format;
use std_alloc::string::String;
use std_alloc::vec::Vec;

/// Bytes that an allocator spends on a block besides those asked for, as a move counts them.
const BLOCK: u64 = 16;
/// A move is worth telling when it saves more than this part of the total.
const LEAST: u64 = 1000;
/// Control bytes of a hash map besides one a bucket.
const GROUP: u64 = 16;
/// A small box: its value would fit beside the pointer.
const SMALL: u64 = 4 * size_of::<usize>() as u64;

/// What would make a value smaller: the answer of [`Tree::advise`].
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Advice {
    /// The moves, the most worth first.
    pub moves: Vec<Move>,
    /// The bytes asked for as it is, inline and on the heap.
    pub before: u64,
    /// The bytes after all moves whose prediction is [exact](Move::is_exact).
    pub after: u64,
}

/// One change of the types, and what it is worth.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Move {
    /// What to change: `Shape.traits`.
    pub path: String,
    /// What it is now.
    pub from: String,
    /// What to make of it.
    pub to: String,
    /// What kind of change.
    pub kind: MoveKind,
    /// How many places hold something.
    pub filled: u64,
    /// How many places there are.
    pub slots: u64,
    /// Bytes asked for that are saved when this move is made after those before it.
    pub saves: u64,
    /// Allocations more than before this move; negative if fewer.
    pub allocations: i64,
    /// What it costs besides, in words.
    pub cost: &'static str,
    /// Whether the bytes are those that the changed program would take, and not an estimate.
    pub is_exact: bool,
}

/// A kind of change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum MoveKind {
    /// A struct that is rarely there moves into a box.
    Box,
    /// A string or vector gives up its spare room.
    Exact,
    /// The fields of an enum's large and rare variant move into a box.
    Variant,
    /// A `repr(C)` struct lets the compiler order its fields.
    Reorder,
    /// A map or vector with many free places is shrunk.
    Shrink,
    /// A `Box<dyn Trait>` of small values becomes a `SmallBox`.
    Inline,
    /// Equal strings share one block. Only where they [were read](super::tree_with_texts).
    Intern,
}

impl MoveKind {
    /// A word for it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Box => "box",
            Self::Exact => "exact",
            Self::Variant => "variant",
            Self::Reorder => "reorder",
            Self::Shrink => "shrink",
            Self::Inline => "inline",
            Self::Intern => "intern",
        }
    }
}

impl Tree {
    /// What would make the value smaller, each move with what it saves and what it costs.
    ///
    /// Moves whose effect follows from the counts are predicted together and in order: each says what it saves when those
    /// before it have been made. Moves that save less than a thousandth are left out, and so is a box for what is mostly
    /// there. Estimates, which the data behind the counts would have to decide, stand last.
    ///
    /// ```
    /// # #[cfg(feature = "derive")] {
    /// use dwell::Weigh;
    /// use dwell::weigh::{MoveKind, tree};
    ///
    /// #[derive(Default, Weigh)]
    /// struct Page {
    ///     title: Box<str>,
    ///     author: Option<[u64; 20]>,
    /// }
    ///
    /// let pages: Vec<Page> = (0..10).map(|_| Page::default()).collect();
    /// let advice = tree(&pages).advise();
    /// assert_eq!(advice.moves[0].path, "Page.author");
    /// assert_eq!(advice.moves[0].kind, MoveKind::Box);
    /// assert_eq!(advice.moves[0].saves, 10 * (168 - 8));
    /// # }
    /// ```
    pub fn advise(&self) -> Advice {
        let mut what_if = WhatIf::new(self);
        let before = what_if.sum();
        let mut now = before;
        let mut moves = Vec::new();
        let mut open: Vec<(i128, SiteId, Change)> = candidates(&what_if)
            .into_iter()
            .map(|(site, change)| (gain(&mut what_if, site, change, now), site, change))
            .collect();
        // Moves change what others save, mostly to less: the one that saved most when it was last looked at is looked at
        // again, and made if it still saves more than the others did (Minoux, "Accelerated greedy algorithms", 1978).
        let least = i128::from(before.bytes / LEAST);
        loop {
            open.retain(|&(gain, ..)| gain > least);
            // Stable, so that equal ones stay in the order of the tree.
            open.sort_by_key(|&(gain, ..)| core::cmp::Reverse(gain));
            let Some(&(_, site, change)) = open.first() else { break };
            open[0].0 = gain(&mut what_if, site, change, now);
            if open[0].0 <= least || open.get(1).is_some_and(|next| open[0].0 < next.0) {
                continue;
            }
            open.remove(0);
            what_if.apply(site, change);
            let next = what_if.sum();
            moves.push(describe(&what_if, site, change, now, next));
            now = next;
        }
        let mut estimates: Vec<Move> = (0..what_if.sites.len())
            .filter_map(|site| match what_if.changes.get(&site) {
                None => shrink(site, &what_if)
                    .or_else(|| inline(&what_if.sites[site]))
                    .or_else(|| intern(&what_if.sites[site], false)),
                Some(Change::Exact) => intern(&what_if.sites[site], true),
                Some(_) => None,
            })
            .filter(|made| made.saves > before.bytes / LEAST || made.kind == MoveKind::Inline)
            .collect();
        estimates.sort_by_key(|made| core::cmp::Reverse(made.saves));
        moves.extend(estimates);
        Advice { moves, before: before.bytes, after: now.bytes }
    }
}

/// What a move is worth in bytes, blocks counted.
fn gain(what_if: &mut WhatIf<'_>, site: SiteId, change: Change, now: Sum) -> i128 {
    what_if.apply(site, change);
    let next = what_if.sum();
    what_if.undo(site, change);
    let blocks = i128::from(next.allocations) - i128::from(now.allocations);
    i128::from(now.bytes) - i128::from(next.bytes) - blocks * i128::from(BLOCK)
}

/// Changes worth a look.
fn candidates(what_if: &WhatIf<'_>) -> Vec<(SiteId, Change)> {
    let mut found = Vec::new();
    let mut reordered = Vec::new();
    for (id, site) in what_if.sites.iter().enumerate() {
        if site.can_be_exact() && site.edge != Edge::Root {
            found.push((id, Change::Exact));
        } else if is_worth_a_box(site) && is_rare(site, site.ty.size as u64) {
            found.push((id, Change::Boxed));
        }
        if matches!(site.edge, Edge::Variant(_)) && is_rare(site, what_if.variant_size(id)) {
            found.push((id, Change::Variant));
        }
        if matches!(site.ty.kind, Kind::Struct { repr: Repr::C, .. }) && !reordered.contains(&site.type_id) {
            reordered.push(site.type_id);
            found.push((id, Change::Reordered));
        }
    }
    found
}

/// Whether a field is a struct or enum or holds one, which alone is worth a box.
fn is_worth_a_box(site: &Site) -> bool {
    let is_large =
        |kind: &Kind| matches!(kind, Kind::Struct { .. } | Kind::Enum { .. } | Kind::Array { .. } | Kind::Map { .. });
    site.can_be_boxed()
        && match site.ty.kind {
            Kind::Optional { some } => is_large(&some().kind),
            ref kind => is_large(kind),
        }
}

/// Whether so few places hold something that a pointer and a block for each of these take less.
fn is_rare(site: &Site, bytes: u64) -> bool {
    let word = size_of::<usize>() as u64;
    let (filled, slots) = (u128::from(site.filled), u128::from(site.slots));
    bytes > word && filled * u128::from(bytes + BLOCK) < slots * u128::from(bytes - word)
}

fn describe(what_if: &WhatIf<'_>, site: SiteId, change: Change, now: Sum, next: Sum) -> Move {
    let of = &what_if.sites[site];
    let from = short(of.ty.name());
    let inner = |name: &str| match name.strip_prefix("Option<").and_then(|name| name.strip_suffix('>')) {
        Some(inner) => String::from(inner),
        None => String::from(name),
    };
    let (kind, from, to, cost) = match change {
        Change::Boxed => {
            let to = format!("Option<Box<{}>>", inner(&from));
            (MoveKind::Box, from, to, "an indirection; `dwell::Sparse` is as small and reads as the struct itself")
        }
        Change::Exact => {
            let to = match of.ty.kind {
                Kind::Text { .. } => "Box<str>".into(),
                _ => format!(
                    "Box<[{}]>",
                    from.strip_prefix("Vec<").and_then(|name| name.strip_suffix('>')).unwrap_or("_")
                ),
            };
            (MoveKind::Exact, from, to, "no room to grow in place")
        }
        Change::Variant => {
            let name = format!("{} bytes in place", what_if.variant_size(site));
            (MoveKind::Variant, name, "Box<_>".into(), "an indirection in that variant")
        }
        Change::Reordered => {
            (MoveKind::Reorder, "repr(C)".into(), "repr(Rust)".into(), "no layout that other languages know")
        }
    };
    let path = if change == Change::Reordered { short(of.ty.name()) } else { of.path.clone() };
    Move {
        path,
        from,
        to,
        kind,
        filled: of.filled,
        slots: of.slots,
        saves: now.bytes.saturating_sub(next.bytes),
        allocations: next.allocations.cast_signed() - now.allocations.cast_signed(),
        cost,
        is_exact: what_if.is_exact(),
    }
}

/// A move that is no change of a type.
fn estimate(site: &Site, kind: MoveKind, to: &str, saves: u64, allocations: i64, cost: &'static str) -> Move {
    Move {
        path: site.path.clone(),
        from: short(site.ty.name()),
        to: to.into(),
        kind,
        filled: site.filled,
        slots: site.slots,
        saves,
        allocations,
        cost,
        is_exact: false,
    }
}

/// A map or vector of which more is free than in use.
fn shrink(id: SiteId, what_if: &WhatIf<'_>) -> Option<Move> {
    let site = &what_if.sites[id];
    let saves = match site.ty.kind {
        Kind::Map { map: MapKind::Hash, entry, .. } => {
            let entry = entry as u64 + 1;
            let entries = what_if.part(id, Edge::Key)?.instances;
            // As if all maps were of the mean length.
            let maps = site.allocations.max(1);
            let buckets = ((entries / maps).saturating_mul(8) / 7 + 1).next_power_of_two().max(4);
            site.heap.saturating_sub(maps.saturating_mul(buckets.saturating_mul(entry) + GROUP))
        }
        Kind::Sequence { growable: true, .. } => site.waste,
        _ => return None,
    };
    let cost = "time, once; the next insertion allocates";
    (saves > site.heap / 2).then(|| estimate(site, MoveKind::Shrink, "shrink_to_fit()", saves, 0, cost))
}

/// Strings of which many are equal: what it saves that each is there once, behind an `Arc` as large as a `Box<str>`.
fn intern(site: &Site, is_exact: bool) -> Option<Move> {
    let texts = site.texts.as_ref()?;
    let word = size_of::<usize>() as u64;
    let spare = if is_exact { site.waste } else { 0 };
    let place = if is_exact { 2 * word } else { site.ty.size as u64 };
    let now = site.heap.saturating_sub(spare).saturating_add(place.saturating_mul(site.slots));
    // Two counts before each, rounded up to a word: half a word on the average.
    let each = 2 * word + word / 2;
    let then = texts.bytes().saturating_add(each.saturating_mul(texts.distinct()));
    let then = then.saturating_add((2 * word).saturating_mul(site.slots));
    let blocks = i64::try_from(texts.distinct()).ok()?.checked_sub(i64::try_from(site.allocations).ok()?)?;
    let cost = "a look-up for each that is made; none can be changed in place";
    (texts.distinct() < site.filled / 2 && then < now)
        .then(|| estimate(site, MoveKind::Intern, "a shared Arc<str>", now - then, blocks, cost))
}

/// A box of values of unknown type, which are small on the average.
fn inline(site: &Site) -> Option<Move> {
    let Kind::Pointer { to, shared: false } = site.ty.kind else { return None };
    let blocks = site.allocations;
    if to().is_sized || blocks == 0 || site.heap / blocks > SMALL || !to().name().starts_with("dyn ") {
        return None;
    }
    let words = (site.heap / blocks).div_ceil(size_of::<usize>() as u64).max(1);
    let place = format!("SmallBox<{}, {words}>", short(to().name()));
    let grows = site.slots.saturating_mul(words * size_of::<usize>() as u64);
    let blocks = i64::try_from(blocks).unwrap_or(i64::MAX);
    Some(estimate(
        site,
        MoveKind::Inline,
        &place,
        site.heap.saturating_sub(grows),
        -blocks,
        "a larger owner; moving it moves the value",
    ))
}
