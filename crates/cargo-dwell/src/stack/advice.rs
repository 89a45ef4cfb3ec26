//! What can make a frame smaller.

use super::{LEAST_UNNAMED, Local, Row, Target};
use dwell_output::units::count;

impl Target {
    /// Returns the least frame for which something is advised; of a function that calls itself, each level has one.
    fn large(self, recursive: bool) -> u64 {
        let bytes = if recursive { 512 } else { 2048 };
        if self.is_small { bytes / 4 } else { bytes }
    }

    /// Returns how a local leaves the stack.
    fn moved(self, local: &Local) -> String {
        // `Box::new` of an array makes it on the stack first.
        match local.type_name.strip_prefix('[') {
            _ if !self.allocates => format!("`{}` in a static", local.name),
            Some(_) => format!("`{}` on the heap: vec![..].into_boxed_slice()", local.name),
            None => format!("`{}` in a Box", local.name),
        }
    }
}

impl Row {
    /// Returns the bytes of the frame without a name. Values that are made, moved or passed have none: a future on its way to
    /// its task.
    pub(super) fn unnamed(&self) -> u64 {
        let named = self.locals.iter().map(|local| local.size).fold(0, u64::saturating_add);
        self.frame.saturating_sub(named)
    }

    /// Returns what to try; nothing for a small frame.
    pub(super) fn advice(&self) -> String {
        self.remedy().map_or_else(String::new, |(text, _)| text)
    }

    /// Returns the bytes by which [`advice`](Self::advice) makes the frame smaller, if that is known.
    pub(super) fn spared(&self) -> u64 {
        self.remedy().map_or(0, |(_, bytes)| bytes)
    }

    fn remedy(&self) -> Option<(String, u64)> {
        let half = self.frame / 2;
        let largest = self.locals.first().filter(|local| local.size >= self.frame / 3);
        if self.recursive && self.frame >= self.target.large(true) {
            let part = largest.map_or_else(String::new, |local| format!(", or {}", self.target.moved(local)));
            let text =
                format!("each level has {} bytes: a loop over a list of what is left to do{part}", count(self.frame));
            return Some((text, largest.map_or(0, |local| local.size)));
        }
        if self.frame < self.target.large(false) {
            return None;
        }
        let inlined: Vec<&Local> = self.locals.iter().filter(|local| local.is_inlined).collect();
        let bytes = inlined.iter().map(|local| local.size).fold(0, u64::saturating_add);
        if let ([first, second, ..], true) = (&inlined[..], bytes >= half) {
            let names = format!("`{}` and `{}`", first.name, second.name);
            let text = format!("#[inline(never)] on the functions of {names}: inlined, both are in this frame at once");
            return Some((text, second.size));
        }
        if let Some(local) = largest {
            let text = if local.is_inlined {
                format!("#[inline(never)] on the function of `{}`, or {}", local.name, self.target.moved(local))
            } else {
                self.target.moved(local)
            };
            return Some((text, local.size));
        }
        if self.unnamed() >= LEAST_UNNAMED.max(half) {
            return Some(("split it into parts that are #[inline(never)]".to_owned(), 0));
        }
        match &self.locals[..] {
            [first, second, ..] => Some((
                format!("split it: `{}` and `{}` in #[inline(never)] parts", first.name, second.name),
                second.size,
            )),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn local(name: &str, type_name: &str, size: u64, is_inlined: bool) -> Local {
        Local { name: name.into(), type_name: type_name.into(), size, is_inlined }
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
            target: Target { allocates: true, is_small: false },
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
        assert!(row(9000, false, Vec::new()).advice().starts_with("split it into parts"));
        let parts = vec![local("a", "A", 2500, false), local("b", "B", 2400, false), local("c", "C", 2300, false)];
        assert!(row(9000, false, parts).advice().starts_with("split it: `a` and `b`"));
        let small = Row { target: Target { allocates: false, is_small: true }, ..row(600, false, vec![buffer()]) };
        assert_eq!(small.advice(), "`buffer` in a static");
    }
}
