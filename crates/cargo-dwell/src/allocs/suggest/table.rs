//! Hash maps and sets that grow step by step.

use super::super::sites::Holder;
use super::{Context, Proposal, Rule, Saved, Site, part};
use dwell_calibrate::Place;
use dwell_output::units::{bytes, count, plural};

pub(super) struct Table;

/// The functions that replace a table by a larger one.
const GROWS: &[&str] = &["reserve_rehash", "resize_inner", "reserve_rehash_inner"];
/// The tables for each map from which on it grows step by step.
const STEPS: f64 = 1.5;

impl Rule for Table {
    fn kind(&self) -> &'static str {
        "table"
    }

    fn propose(&self, site: &Site, cx: &Context<'_>) -> Option<Proposal> {
        let grows = site.places.first().is_some_and(|place| place.goes_through(GROWS));
        if site.holder != Holder::Table || cx.is_sampled || !site.is_own() || !grows {
            return None;
        }
        // Each map begins with the smallest table; a larger first table is the start of another map.
        let tables: u64 = site.sizes.values().sum();
        let maps = site.sizes.values().next().copied().unwrap_or(0).max(1);
        if part(tables, maps) < STEPS {
            return None;
        }
        let largest = site.largest();
        // The smallest table has four entries.
        let entry = (site.sizes.keys().next().copied().unwrap_or(0).saturating_sub(GROUP) / 4).max(1);
        let entries = |bytes: u64| bytes / entry * 7 / 8;
        let replaced = site.sizes.iter().filter(|(size, _)| **size != largest);
        let moved: u64 = replaced.map(|(size, blocks)| entries(*size) * blocks).sum();
        let name = site.what.split('<').next().unwrap_or_default();
        Some(Proposal {
            instead: format!("`{name}::with_capacity`, or `reserve`"),
            place: Place::Borrowed,
            saved: Saved::Tables { part: 1.0 - part(maps, tables), moved },
            why: format!(
                "{} of {} ({:.1} each) up to {}; each larger one hashes all keys again",
                plural(tables, "table"),
                plural(maps, "map"),
                part(tables, maps),
                bytes(largest)
            ),
            how: format!(
                "state the expected length when the {name} is made, of up to {} entries",
                count(entries(largest))
            ),
            costs: "memory, if the length is overestimated".into(),
            edits: cx.sources.replaced(&site.places, name, &format!("{name}::new()"), |_| {
                format!("{name}::with_capacity({})", entries(largest))
            }),
        })
    }
}

/// The tags behind the last entry's, which are read together.
const GROUP: u64 = 16;
