//! Names of functions as people write them in budgets.

use dwell_heap::stacks::shown;

/// Returns a name without arguments, and with the type alone of an `impl`: `P::encode` for `<P as Codec>::encode`, and `decode`
/// for `decode::<u32>`.
pub(crate) fn plain(name: &str) -> String {
    let name = name.trim();
    let whole = match name.strip_prefix('<').and_then(|inside| Some((inside, end_of_arguments(inside)?))) {
        Some((inside, end)) => {
            let qualified = &inside[..end];
            format!("{}{}", qualified.split(" as ").next().unwrap_or(qualified), &inside[end + 1..])
        }
        None => name.to_owned(),
    };
    shown(&whole).split("::").filter(|part| !part.is_empty()).collect::<Vec<_>>().join("::")
}

/// Returns the place of the `>` that ends the arguments in which a text begins.
fn end_of_arguments(text: &str) -> Option<usize> {
    let mut depth = 1_usize;
    let mut before = ' ';
    for (at, letter) in text.char_indices() {
        match letter {
            '<' => depth += 1,
            '>' if before != '-' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return Some(at);
        }
        before = letter;
    }
    None
}

/// Returns `true` if a name is another one's last parts.
pub(crate) fn ends_with(text: &str, name: &str) -> bool {
    text == name || text.strip_suffix(name).is_some_and(|start| start.ends_with("::"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_and_traits_are_left_out() {
        for (name, expected) in [
            ("decode", "decode"),
            ("decode::<u32>", "decode"),
            ("<P as Codec>::encode", "P::encode"),
            ("<app::P<u8> as app::Codec<Vec<u8>>>::encode", "app::P::encode"),
            ("<P>::dump", "P::dump"),
            ("app::P::<u8>::dump", "app::P::dump"),
            ("<fn(u8) -> u8 as Call>::call", "fn(u8) -> u8::call"),
            ("app::run::{closure#0}", "app::run::{closure#0}"),
            ("<", ""),
            ("", ""),
        ] {
            assert_eq!(plain(name), expected, "{name}");
        }
        assert!(ends_with("app::P::encode", "P::encode") && ends_with("decode", "decode"));
        assert!(!ends_with("app::P::encode", "ode"));
    }
}
