//! The names of types in the rows of a report.

use super::rows::Field;

/// Returns the type of an owner: `Shape` for `Shape.members []`, `Kind` for `Kind::B.0`, `app::Cell` for `app::Cell.0`.
#[must_use]
pub fn type_of(owner: &str) -> &str {
    let mut depth = 0_u32;
    let mut part = 0;
    for (at, byte) in owner.bytes().enumerate() {
        match byte {
            b'<' | b'{' | b'(' => depth += 1,
            b'>' | b'}' | b')' => depth = depth.saturating_sub(1),
            // A crate or a module, and not an enum before its variant.
            b':' if depth == 0 && owner[part..].starts_with(|first: char| first.is_ascii_lowercase()) => part = at + 2,
            b':' if depth == 0 && at < part => {}
            b'.' | b' ' | b':' if depth == 0 => return &owner[..at],
            _ => {}
        }
    }
    owner
}

/// Returns `true` if a type has a name: also without its arguments, and a function's future by the function.
#[must_use]
pub fn is_named(ty: &str, name: &str) -> bool {
    let future = ty.strip_prefix('{').and_then(|rest| rest.strip_suffix('}'));
    let function = future.and_then(|rest| rest.strip_prefix("async fn "));
    let is_it = |path: &str| path == name || path.split_once('<').is_some_and(|(head, _)| head == name);
    is_it(ty) || function.is_some_and(|path| is_it(path) || path.rsplit("::").next().is_some_and(is_it))
}

/// Returns the types that store values of a type inline, with itself.
#[must_use]
pub fn around<'d>(fields: &'d [Field], name: &'d str) -> Vec<&'d str> {
    let mut all = vec![name];
    let mut done = 0;
    while let Some(inner) = all.get(done).copied() {
        done += 1;
        for field in fields.iter().filter(|field| has_inline(&field.field_type, inner)) {
            let owner = type_of(&field.owner);
            if !all.contains(&owner) {
                all.push(owner);
            }
        }
    }
    all
}

/// Returns `true` if values of `element` are, or store inline, values of a type with this name.
#[must_use]
pub fn has_inline(element: &str, name: &str) -> bool {
    is_named(element, name) || is_inline(element, name)
}

/// Returns `true` if values of `element` store values of `name` inline, not behind a pointer.
#[must_use]
pub fn is_inline(element: &str, name: &str) -> bool {
    let is_word = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || c == '_');
    element.match_indices(name).any(|(at, _)| {
        let after = element[at + name.len()..].chars().next();
        !is_word(element[..at].chars().next_back()) && !is_word(after) && !is_behind_pointer(&element[..at])
    })
}

/// Returns `true` if the text before a type's name leaves the brackets of a pointer or collection open.
fn is_behind_pointer(before: &str) -> bool {
    let mut depth = 0_u32;
    let mut end = before.len();
    for (at, c) in before.char_indices().rev() {
        match c {
            '>' | ')' | ']' => depth += 1,
            '<' | '(' | '[' if depth > 0 => depth -= 1,
            '<' => {
                let start = before[..at].trim_end_matches(|c: char| c.is_alphanumeric() || c == '_').len();
                let head = &before[start..at];
                let pointers =
                    ["Box", "Vec", "VecDeque", "Rc", "Arc", "Weak", "NonNull", "SmallBox", "Sparse", "ThinSlice"];
                if pointers.contains(&head)
                    || ["Map", "Set", "List", "Heap"].iter().any(|suffix| head.ends_with(suffix))
                {
                    return true;
                }
                end = start;
            }
            '&' | '*' if depth == 0 && before[at..end].chars().all(|c| !matches!(c, ',' | ';')) => return true,
            _ => {}
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_around_a_type_are_found() {
        for (element, is_it) in [
            ("Shape", true),
            ("Option<Shape>", true),
            ("(Box<u8>, Shape)", true),
            ("Box<Shape>", false),
            ("(u8, Vec<(u8, Shape)>)", false),
            ("HashMap<u8, Shape>", false),
            ("&Shape", false),
            ("(&u8, Shape)", true),
            ("MyShape", false),
        ] {
            assert_eq!(is_inline(element, "Shape"), is_it, "{element}");
        }
        assert!(is_named("{async fn Server::outer}", "outer") && is_named("{async fn outer}", "outer"));
        assert!(is_named("Page<u8>", "Page") && !is_named("Pages<u8>", "Page"));
        let field = |owner: &str, ty: &str| Field { owner: owner.into(), field_type: ty.into(), ..Field::default() };
        let fields = vec![field("Outer", "Option<Inner>"), field("Kind::A", "Outer"), field("Other", "Box<Inner>")];
        assert_eq!(around(&fields, "Inner"), ["Inner", "Outer", "Kind"]);
    }

    #[test]
    fn type_name_is_parsed_from_an_owner() {
        assert_eq!(type_of("Shape.members []"), "Shape");
        assert_eq!(type_of("Kind::B.0"), "Kind");
        assert_eq!(type_of("Page<a::B>.lines"), "Page<a::B>");
        assert_eq!(type_of("(static app::TABLE)"), "(static app::TABLE)");
        assert_eq!(type_of("Vec<String> []"), "Vec<String>");
        assert_eq!(type_of("tokio::UnsafeCell<Option<a::B>>.0"), "tokio::UnsafeCell<Option<a::B>>");
        assert_eq!(type_of("app::model::Kind::B.0"), "app::model::Kind");
    }
}
