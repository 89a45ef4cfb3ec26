//! Collections that live shortly, one after the other: one buffer could serve all.

use super::super::sites::Holder;
use super::{Context, Proposal, Rule, Saved, Site, part};
use dwell_calibrate::Place;
use dwell_output::units::{bytes, plural};

pub(super) struct Buffer;

/// A short life: fewer than 2^`BITS` allocations of the thread.
const BITS: usize = 4;
const SHORT: f64 = 0.9;

impl Rule for Buffer {
    fn kind(&self) -> &'static str {
        "buffer"
    }

    fn propose(&self, site: &Site, cx: &Context<'_>) -> Option<Proposal> {
        let counts = &site.counts;
        let is_short = site.freed_within(BITS) >= SHORT && part(counts.frees, counts.allocations) >= SHORT;
        // A `BytesMut` gives its buffer to the `Bytes` that are split from it.
        let is_buffer = !site.what.starts_with("Box<") && site.what != "BytesMut";
        let is_growable = matches!(site.holder, Holder::Text | Holder::Sequence) && is_buffer;
        if cx.is_sampled || !site.is_own() || !is_growable || !is_short || !site.is_dropped_on_its_thread() {
            return None;
        }
        let name = site.what.split('<').next().unwrap_or_default();
        let is_text = site.holder == Holder::Text;
        let fill = if is_text { "`write!` or `push_str`" } else { "`extend`" };
        // Elements that do something when they are dropped would do it later.
        let places = if is_text || is_plain(&site.what) { &site.places[..] } else { &[] };
        let edits = cx.sources.replaced(places, name, &format!("{name}::new()"), |_| "clear()".into());
        let formats = site.places.first().and_then(super::Spot::formats);
        Some(Proposal {
            instead: match formats {
                Some(ty) if is_integer(ty) => "`write!` into a buffer that is cleared, or the crate itoa",
                Some("f32" | "f64") => "`write!` into a buffer that is cleared, or the crate ryu",
                Some(_) => "`write!` into a buffer that is cleared",
                None if site.places.first().is_some_and(super::Spot::is_formatted) => {
                    "`write!` into a buffer that is cleared"
                }
                None => "a buffer that is cleared and used again",
            }
            .into(),
            place: Place::Buffer,
            saved: Saved::Blocks(1.0),
            why: format!(
                "{} of up to {}, each dropped soon after it was made",
                plural(counts.allocations, "collection"),
                bytes(site.largest())
            ),
            how: format!("keep one outside of the loop, `clear()` it, and fill it with {fill}"),
            costs: "the buffer keeps the memory of the largest".into(),
            edits,
        })
    }
}

fn is_integer(name: &str) -> bool {
    let digits = name.trim_start_matches(['u', 'i']);
    digits == "size" || digits != name && digits.parse::<u8>().is_ok()
}

/// Returns `true` for a vector of numbers, characters or truth values.
fn is_plain(what: &str) -> bool {
    let element = what.strip_prefix("Vec<").and_then(|rest| rest.strip_suffix('>')).unwrap_or_default();
    matches!(element, "f32" | "f64" | "bool" | "char") || is_integer(element)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_that_do_nothing_when_dropped_are_known() {
        assert!(is_plain("Vec<u8>") && is_plain("Vec<f64>") && is_plain("Vec<char>"));
        assert!(
            !is_plain("Vec<String>") && !is_plain("Vec<&str>") && !is_plain("VecDeque<u8>") && !is_plain("Vec<u8x4>")
        );
    }
}
