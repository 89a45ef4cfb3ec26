//! How often the function of `--during` was called, and what each call allocates.

use super::document::During;
use crate::function_names::{ends_with, plain};
use dwell_debuginfo::Frames;
use dwell_heap::profile::Profile;
use dwell_heap::stacks;
use object::{Object, ObjectSymbol, SymbolKind};
use std::collections::BTreeMap;
use std::path::Path;

/// The most functions of one name whose calls are counted.
const MOST: usize = 64;

/// Returns the addresses and sizes of the functions with a name; none if they are too many.
pub(super) fn functions(executable: &Path, name: &str) -> Vec<(u64, u64)> {
    let wanted = plain(name);
    let Ok(data) = std::fs::read(executable) else { return Vec::new() };
    let Ok(file) = object::File::parse(&*data) else { return Vec::new() };
    let is_wanted = |symbol: &object::Symbol<'_, '_>| {
        let name = symbol.name().map(|name| format!("{:#}", rustc_demangle::demangle(name)));
        symbol.kind() == SymbolKind::Text
            && symbol.is_definition()
            && symbol.size() > 0
            && name.is_ok_and(|name| ends_with(&plain(&name), &wanted))
    };
    let all: Vec<_> = file.symbols().filter(is_wanted).collect();
    // C's `main` calls that of Rust.
    let is_rust = |symbol: &object::Symbol<'_, '_>| symbol.name().is_ok_and(|name| name.starts_with('_'));
    let has_rust = all.iter().any(is_rust);
    let named = all.iter().filter(|symbol| !has_rust || is_rust(symbol));
    let found: BTreeMap<u64, u64> = named.map(|symbol| (symbol.address(), symbol.size())).collect();
    if found.len() > MOST { Vec::new() } else { found.into_iter().collect() }
}

/// Returns what is known of the calls.
pub(super) fn during(profile: &Profile, frames: &Frames, name: &str) -> During {
    let mut during = During { name: name.to_owned(), calls: profile.calls, why: String::new() };
    if is_inlined(profile, frames, name) {
        during.calls = None;
        during.why = "it is inlined into a caller; `#[inline(never)]` gives their number".into();
    } else if let Some(why) = &profile.uncounted {
        during.why = why.clone();
    } else if during.calls.is_none() {
        during.why = format!("it is no function of the executable, or more than {MOST}");
    }
    during
}

/// Returns `true` if a block comes from a copy of the function within another one, whose calls nothing counts.
fn is_inlined(profile: &Profile, frames: &Frames, name: &str) -> bool {
    let (snapshot, wanted) = (profile.as_snapshot(), plain(name));
    // Of the functions at one address, all but the last are inlined into the next one.
    let inlined = |stack: &Vec<u64>| {
        stack.iter().any(|address| {
            let functions = stacks::functions(&snapshot, frames, std::slice::from_ref(address));
            let inner = functions.len().saturating_sub(1);
            functions.into_iter().take(inner).flatten().any(|frame| ends_with(&stacks::shown_function(frame), &wanted))
        })
    };
    snapshot.stacks.iter().any(inlined)
}
