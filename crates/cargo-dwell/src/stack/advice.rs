//! What can make a frame smaller.

use super::{LEAST_UNNAMED, Local, Row};
use dwell_output::units::count;

/// The least frame for which something is advised.
const LARGE: u64 = 2048;
/// The same of a function that calls itself: each level has it.
const LARGE_RECURSIVE: u64 = 512;

impl Row {
    /// Returns the bytes of the frame without a name. Values that are made, moved or passed have none: a future on its way to
    /// its task.
    pub(super) fn unnamed(&self) -> u64 {
        let named = self.locals.iter().map(|local| local.size).fold(0, u64::saturating_add);
        self.frame.saturating_sub(named)
    }

    /// Returns what to try; nothing for a small frame.
    pub(super) fn advice(&self) -> String {
        let half = self.frame / 2;
        let largest = self.locals.first();
        if self.recursive && self.frame >= LARGE_RECURSIVE {
            let large = largest.filter(|local| local.size >= half);
            let part = large.map_or_else(String::new, |local| format!(", or {}", boxed(local)));
            return format!(
                "each level has {} bytes: a loop over a list of what is left to do{part}",
                count(self.frame)
            );
        }
        if self.frame < LARGE {
            return String::new();
        }
        let inlined: Vec<&Local> = self.locals.iter().filter(|local| local.is_inlined).collect();
        let bytes = inlined.iter().map(|local| local.size).fold(0, u64::saturating_add);
        if let ([first, second, ..], true) = (&inlined[..], bytes >= half) {
            return format!(
                "#[inline(never)] on the functions of `{}` and `{}`: inlined, both are in this frame at once",
                first.name, second.name
            );
        }
        match largest.filter(|local| local.size >= half) {
            Some(local) if local.is_inlined => {
                format!("#[inline(never)] on the function of `{}`, or {}", local.name, boxed(local))
            }
            Some(local) => boxed(local),
            None if self.unnamed() >= LEAST_UNNAMED.max(half) => {
                "split it: what makes or moves large values in functions of their own, with #[inline(never)]".to_owned()
            }
            None => match &self.locals[..] {
                [first, second, ..] => {
                    format!(
                        "split it: `{}` and `{}` in functions of their own, with #[inline(never)]",
                        first.name, second.name
                    )
                }
                _ => String::new(),
            },
        }
    }
}

/// Returns how a local goes to the heap.
fn boxed(local: &Local) -> String {
    // `Box::new` of an array makes it on the stack first.
    match local.of.strip_prefix('[') {
        Some(_) => format!("`{}` on the heap: vec![..].into_boxed_slice()", local.name),
        None => format!("`{}` in a Box", local.name),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn local(name: &str, of: &str, size: u64, is_inlined: bool) -> Local {
        Local { name: name.into(), of: of.into(), size, is_inlined }
    }

    fn row(frame: u64, recursive: bool, locals: Vec<Local>) -> Row {
        Row {
            name: "a::b".into(),
            file: None,
            line: None,
            frame,
            locals,
            deepest: frame,
            is_least: false,
            recursive,
            path: Vec::new(),
        }
    }

    #[test]
    fn each_cause_has_its_remedy() {
        let buffer = || local("buffer", "[u8; 7000]", 7000, false);
        assert_eq!(row(1000, false, vec![local("a", "A", 900, false)]).advice(), "");
        assert_eq!(row(7100, false, vec![buffer()]).advice(), "`buffer` on the heap: vec![..].into_boxed_slice()");
        assert_eq!(row(7100, false, vec![local("a", "A", 7000, false)]).advice(), "`a` in a Box");
        let of_two =
            vec![local("first", "D", 7000, true), local("second", "D", 7000, true), local("own", "O", 500, false)];
        let text = row(15_000, false, of_two).advice();
        assert!(text.starts_with("#[inline(never)] on the functions of `first` and `second`"), "{text}");
        let text = row(7100, false, vec![local("first", "D", 7000, true)]).advice();
        assert_eq!(text, "#[inline(never)] on the function of `first`, or `first` in a Box");
        let text = row(800, true, vec![local("a", "A", 500, false)]).advice();
        assert_eq!(text, "each level has 800 bytes: a loop over a list of what is left to do, or `a` in a Box");
        assert!(row(9000, false, Vec::new()).advice().starts_with("split it: what makes or moves"));
        let parts = vec![local("a", "A", 3000, false), local("b", "B", 3000, false), local("c", "C", 2900, false)];
        assert!(row(9000, false, parts).advice().starts_with("split it: `a` and `b`"));
    }
}
