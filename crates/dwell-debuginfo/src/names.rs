//! Short names: `Option<Vec<u8>>` for `core::option::Option<alloc::vec::Vec<u8, alloc::alloc::Global>>`.

use super::model::Source;
use std::collections::{HashMap, HashSet};

/// The type of an `impl`, as found in the symbols of this unit.
#[derive(Clone, Debug)]
pub(super) struct ImplFor {
    pub unit: u32,
    pub name: String,
}

/// The longest of the names that are tried for a type.
const LEVELS: u32 = 4;

/// The deepest nesting of types that get a short name. Deeper types keep their full path.
const DEEPEST: u32 = 128;

/// Well-known types, such as those of the prelude: they always keep the bare name.
const BARE: [&str; 24] = [
    "alloc::string::String",
    "alloc::vec::Vec",
    "alloc::boxed::Box",
    "alloc::rc::Rc",
    "alloc::sync::Arc",
    "alloc::borrow::Cow",
    "core::option::Option",
    "core::result::Result",
    "core::pin::Pin",
    "core::cell::Cell",
    "core::cell::RefCell",
    "core::cell::UnsafeCell",
    "core::mem::maybe_uninit::MaybeUninit",
    "core::mem::manually_drop::ManuallyDrop",
    "core::marker::PhantomData",
    "core::ptr::non_null::NonNull",
    "core::ptr::unique::Unique",
    "core::task::poll::Poll",
    "core::time::Duration",
    "core::ops::range::Range",
    "std::collections::hash::map::HashMap",
    "std::collections::hash::set::HashSet",
    "alloc::collections::btree::map::BTreeMap",
    "std::path::PathBuf",
];

/// Types of std with a public path that is shorter than the one in the debug info: they keep the bare name if the
/// program has them. Types of other crates with the same name get a longer one.
const BARE_IF_USED: [&str; 17] = [
    "std::sync::poison::mutex::Mutex",
    "std::sync::poison::rwlock::RwLock",
    "std::sync::mutex::Mutex",
    "std::sync::rwlock::RwLock",
    "std::sync::once_lock::OnceLock",
    "std::sync::lazy_lock::LazyLock",
    "core::cell::once::OnceCell",
    "core::cell::lazy::LazyCell",
    "core::num::nonzero::NonZero",
    "alloc::collections::vec_deque::VecDeque",
    "alloc::collections::binary_heap::BinaryHeap",
    "alloc::collections::linked_list::LinkedList",
    "alloc::collections::btree::set::BTreeSet",
    "alloc::ffi::c_str::CString",
    "std::ffi::os_str::OsString",
    "std::time::Instant",
    "std::time::SystemTime",
];

/// Default arguments, which short names omit.
const DEFAULTS: [&str; 3] =
    ["alloc::alloc::Global", "std::hash::random::RandomState", "std::collections::hash::map::RandomState"];

/// The short names of a program's types.
#[derive(Debug, Default)]
pub(super) struct Namer<'a> {
    /// The short name for each path without arguments.
    short: HashMap<&'a str, String>,
}

impl<'a> Namer<'a> {
    /// Chooses a short name for each path in `heads`, which have no arguments. `source` gives the location of a closure
    /// or coroutine, `impls` the type of `app::{impl#3}`.
    pub(super) fn new(
        heads: impl Iterator<Item = &'a str>,
        source: impl Fn(&str) -> Option<Source>,
        impls: &HashMap<String, ImplFor>,
    ) -> Self {
        let mut short: HashMap<&str, String> = HashMap::new();
        let mut open: Vec<&str> = heads.filter(|head| short.insert(head, String::new()).is_none()).collect();
        let mut taken: HashMap<String, usize> = HashMap::new();
        let used = BARE_IF_USED.iter().filter(|path| short.contains_key(*path)).copied();
        let bare: Vec<&str> = BARE.into_iter().chain(used).collect();
        for path in &bare {
            taken.insert(last(path).to_owned(), 2);
            if let Some(name) = short.get_mut(path) {
                last(path).clone_into(name);
            }
        }
        open.retain(|head| !bare.contains(head));
        let mut given: HashSet<String> = HashSet::new();
        for level in 0..=LEVELS {
            let names: Vec<String> =
                open.iter().map(|head| candidate(head, level, &source, impls).unwrap_or_default()).collect();
            for name in &names {
                *taken.entry(name.clone()).or_default() += 1;
            }
            // All modules of a function may still be the few that were too short for another one.
            let mut now: HashMap<&str, usize> = HashMap::new();
            for name in names.iter().filter(|name| level > 1 && name.starts_with('{')) {
                *now.entry(name).or_default() += 1;
            }
            let is_free = |name: &str| taken[name] == 1 || now.get(name) == Some(&1) && !given.contains(name);
            let free: Vec<bool> = names.iter().map(|name| is_free(name)).collect();
            let mut left = Vec::new();
            for ((head, name), is_free) in open.into_iter().zip(names).zip(free) {
                if is_free || level == LEVELS {
                    given.insert(name.clone());
                    short.insert(head, name);
                } else {
                    left.push(head);
                }
            }
            open = left;
        }
        Self { short }
    }

    /// Returns the short name for a type's path.
    pub(super) fn name(&self, path: &str) -> String {
        let mut parser = Parser { rest: path, out: String::with_capacity(path.len() / 2), depth: 0, namer: self };
        if parser.ty().is_some() && parser.rest.is_empty() { parser.out } else { path.to_owned() }
    }

    /// Returns the short name for a trait's path.
    pub(super) fn trait_name(&self, path: &str) -> String {
        let mut parser = Parser { rest: path, out: String::new(), depth: 0, namer: self };
        if parser.path(true).is_some() && parser.rest.is_empty() { parser.out } else { path.to_owned() }
    }

    fn head<'b>(&'b self, path: &'b str) -> &'b str {
        match self.short.get(path) {
            Some(name) => name,
            None => last(path),
        }
    }
}

/// Returns the path of a type without its arguments.
pub(super) fn head(path: &str) -> &str {
    match path.find('<') {
        Some(0) | None => path,
        Some(end) => &path[..end],
    }
}

/// Returns the last part of a path.
fn last(path: &str) -> &str {
    path.rsplit("::").next().unwrap_or(path)
}

/// Returns the candidate name for `head`; a higher `level` gives a longer name.
fn candidate(
    head: &str,
    level: u32,
    source: &impl Fn(&str) -> Option<Source>,
    impls: &HashMap<String, ImplFor>,
) -> Option<String> {
    if let Some((outer, kind)) = generated(head) {
        let function = function(outer, level, impls);
        return Some(match (kind, source(head)) {
            ("async fn", Some(source)) if level == LEVELS => format!("{{async fn {function}:{}}}", source.line),
            ("async fn", _) => format!("{{async fn {function}}}"),
            (_, Some(source)) => format!("{{{kind} in {function}:{}}}", source.line),
            (_, None) => format!("{{{kind} in {function}}}"),
        });
    }
    let parts: Vec<&str> = head.split("::").filter(|part| !part.starts_with('{')).collect();
    let name = *parts.last()?;
    let module = |from: &str| format!("{from}::{name}");
    Some(match (level, parts.as_slice()) {
        (0, _) | (_, [_]) => name.to_owned(),
        (1, ["core" | "alloc" | "std", first, .., _]) => module(first),
        (1, [krate, ..]) => module(krate),
        (2, ["core" | "alloc" | "std", .., "btree", last, _]) => module(&format!("btree_{last}")),
        (2, ["std", .., "hash", last, _]) => module(&format!("hash_{last}")),
        (2, [.., last, _]) => module(last),
        _ => head.to_owned(),
    })
}

/// Splits off a name in braces, which the compiler generates with the position and kind of an item.
pub(super) fn generated(head: &str) -> Option<(&str, &'static str)> {
    let (outer, name) = head.rsplit_once("::")?;
    let kind = match name.strip_prefix('{')?.split_once("_env#")?.0 {
        "closure" => "closure",
        "async_fn" => "async fn",
        "async_block" => "async block",
        "async_closure" => "async closure",
        "gen_fn" => "gen fn",
        "gen_block" => "gen block",
        "gen_closure" => "gen closure",
        "async_gen_fn" => "async gen fn",
        "async_gen_block" => "async gen block",
        "async_gen_closure" => "async gen closure",
        _ => "coroutine",
    };
    Some((outer, kind))
}

/// Returns the function that contains a closure or coroutine: `Server::run` for `app::{impl#2}::run::{async_fn#0}`. A higher
/// `level` gives a longer name.
pub(super) fn function(outer: &str, level: u32, impls: &HashMap<String, ImplFor>) -> String {
    let mut path = outer;
    while let Some((above, name)) = path.rsplit_once("::")
        && name.starts_with('{')
        && !name.starts_with("{impl#")
    {
        path = above;
    }
    let Some((above, name)) = path.rsplit_once("::") else { return path.to_owned() };
    let is_impl = last(above).starts_with("{impl#");
    let modules: Vec<&str> = above.split("::").filter(|part| !part.starts_with('{')).collect();
    // One module, then all, then the crate too.
    let few = match level {
        0 => &[][..],
        1 => &modules[modules.len().saturating_sub(1)..],
        2 => modules.get(1..).unwrap_or_default(),
        _ => &modules[..],
    };
    let known = if is_impl { impls.get(above).map(|known| &*known.name) } else { None };
    few.iter().copied().chain(known).chain([name]).collect::<Vec<_>>().join("::")
}

/// The length in bytes from which on the name of a symbol is not read.
pub(super) const LONGEST_SYMBOL: usize = 4096;

/// Returns the type of the `impl` that contains the function `symbol`. The path has `names_after` names after the
/// `impl`.
pub(super) fn self_type(symbol: &str, names_after: usize) -> Option<String> {
    let name = format!("{:#}", rustc_demangle::try_demangle(symbol).ok()?);
    let namer = Namer::default();
    let implementor = if let Some(inner) = name.strip_prefix('<') {
        let mut parser = Parser { rest: inner, out: String::new(), depth: 0, namer: &namer };
        parser.ty()?;
        parser.out
    } else {
        let parts = parts(&name);
        let part = parts.get(..parts.len().checked_sub(names_after)?)?.last()?;
        part.strip_prefix("<impl ").and_then(|rest| rest.strip_suffix('>')).unwrap_or(part).to_owned()
    };
    (!implementor.is_empty() && !implementor.starts_with('{') && implementor.len() < 200).then_some(implementor)
}

/// Splits a path into its parts: `a`, `b<c::d>` and `e` for `a::b<c::d>::e`.
pub(super) fn parts(path: &str) -> Vec<&str> {
    let (mut parts, mut from, mut depth) = (Vec::new(), 0, 0_u32);
    let bytes = path.as_bytes();
    for (at, byte) in path.bytes().enumerate() {
        match byte {
            b'<' | b'(' | b'[' | b'{' => depth += 1,
            b'>' if at > 0 && bytes[at - 1] == b'-' => {}
            b'>' | b')' | b']' | b'}' => depth = depth.saturating_sub(1),
            b':' if depth == 0 && at >= from && bytes.get(at + 1) == Some(&b':') => {
                parts.push(&path[from..at]);
                from = at + 2;
            }
            _ => {}
        }
    }
    parts.push(&path[from..]);
    parts
}

/// Returns the type and the trait of a vtable such as `<app::Circle as app::Draw>::{vtable_type}`.
pub(super) fn vtable(path: &str) -> Option<(&str, &str)> {
    let inner = path.strip_prefix('<')?;
    let inner = &inner[..inner.rfind(">::{vtable")?];
    // The type itself may contain ` as ` in angle brackets.
    let mut depth = 0_u32;
    for (at, byte) in inner.bytes().enumerate() {
        match byte {
            b'<' | b'(' | b'[' => depth += 1,
            b'>' if at > 0 && inner.as_bytes()[at - 1] == b'-' => {}
            b'>' | b')' | b']' => depth = depth.saturating_sub(1),
            b' ' if depth == 0 && inner[at..].starts_with(" as ") => return Some((&inner[..at], &inner[at + 4..])),
            _ => {}
        }
    }
    None
}

/// Parses a path and writes its short name.
struct Parser<'a> {
    rest: &'a str,
    out: String,
    depth: u32,
    namer: &'a Namer<'a>,
}

impl<'a> Parser<'a> {
    fn eat(&mut self, text: &str) -> bool {
        match self.rest.strip_prefix(text) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }

    /// Copies `text` to the output if it comes next. Returns `true` if it did.
    fn copy(&mut self, text: &str) -> bool {
        let is_next = self.eat(text);
        if is_next {
            self.out.push_str(text);
        }
        is_next
    }

    fn ty(&mut self) -> Option<()> {
        self.depth += 1;
        if self.depth > DEEPEST {
            return None;
        }
        let read = self.ty_inner();
        self.depth -= 1;
        read
    }

    fn ty_inner(&mut self) -> Option<()> {
        for prefix in ["&mut ", "&", "*const ", "*mut "] {
            if self.copy(prefix) {
                return self.ty();
            }
        }
        if self.copy("(") {
            return self.list(")");
        }
        if self.copy("[") {
            self.ty()?;
            if self.copy("; ") {
                let count = self.take(|character| character != ']');
                self.out.push_str(count);
            }
            return self.copy("]").then_some(());
        }
        if self.copy("dyn ") {
            return self.bounds();
        }
        for prefix in ["unsafe ", "extern \"C\" ", "extern \"system\" "] {
            self.copy(prefix);
        }
        if self.rest.starts_with("extern \"") {
            self.copy("extern \"");
            let abi = self.take(|character| character != '"');
            self.out.push_str(abi);
            self.copy("\" ");
        }
        if self.copy("fn(") {
            self.list(")")?;
            return if self.copy(" -> ") { self.ty() } else { Some(()) };
        }
        if self.copy("!") {
            return Some(());
        }
        if self.copy("<") {
            self.ty()?;
            if self.copy(" as ") {
                self.ty()?;
            }
            return (self.copy(">") && self.copy("::")).then_some(()).and_then(|()| self.ty());
        }
        self.path(false)
    }

    /// Parses types separated by commas up to the closing `end`.
    fn list(&mut self, end: &str) -> Option<()> {
        loop {
            if self.copy(end) {
                return Some(());
            }
            if self.copy("...") {
                continue;
            }
            self.argument()?;
            if !self.copy(", ") && !self.copy(",") && !self.rest.starts_with(end) {
                return None;
            }
        }
    }

    /// Parses a type, a constant, or `Item=T`.
    fn argument(&mut self) -> Option<()> {
        let name = self.rest.bytes().take_while(|byte| byte.is_ascii_alphanumeric() || *byte == b'_').count();
        if self.rest[name..].starts_with('=') {
            self.out.push_str(&self.rest[..name]);
            self.out.push_str(" = ");
            self.rest = &self.rest[name + 1..];
        }
        // An argument needs no parentheses.
        if self.eat("(dyn ") {
            self.out.push_str("dyn ");
            self.bounds()?;
            return self.eat(")").then_some(());
        }
        if self.rest.starts_with(['\'', '"']) {
            return None;
        }
        self.ty()
    }

    /// Parses the traits after `dyn`.
    fn bounds(&mut self) -> Option<()> {
        loop {
            self.path(true)?;
            if !self.copy(" + ") {
                return Some(());
            }
        }
    }

    fn take(&mut self, belongs: impl Fn(char) -> bool) -> &'a str {
        let end = self.rest.find(|character| !belongs(character)).unwrap_or(self.rest.len());
        let (taken, rest) = self.rest.split_at(end);
        self.rest = rest;
        taken
    }

    /// Parses `a::b::C<D, E>`.
    fn path(&mut self, is_trait: bool) -> Option<()> {
        let whole = self.rest;
        loop {
            if self.rest.starts_with('{') {
                let end = self.rest.find('}')?;
                self.rest = &self.rest[end + 1..];
            } else {
                let name =
                    self.take(|character| character.is_alphanumeric() || matches!(character, '_' | '-' | '$' | '#'));
                if name.is_empty() {
                    return None;
                }
            }
            if !self.eat("::") {
                break;
            }
        }
        let path = &whole[..whole.len() - self.rest.len()];
        let name = self.namer.head(path);
        // Write `{async fn fetch}<u8>` as `{async fn fetch<u8>}`.
        let (name, end) = match name.strip_suffix('}').filter(|_| name.starts_with('{')) {
            Some(name) => match name.rfind(':').filter(|at| name[at + 1..].bytes().all(|byte| byte.is_ascii_digit())) {
                Some(at) => (&name[..at], &name[at..]),
                None => (name, ""),
            },
            None => (name, ""),
        };
        let is_generated = path.ends_with('}');
        self.out.push_str(name);
        if self.eat("<") {
            if is_trait && matches!(name, "Fn" | "FnMut" | "FnOnce" | "AsyncFn" | "AsyncFnMut" | "AsyncFnOnce") {
                self.fn_arguments()?;
            } else {
                self.arguments()?;
            }
        }
        self.out.push_str(end);
        if is_generated && name.starts_with('{') {
            self.out.push('}');
        }
        // An item in an impl of a generic type.
        if self.copy("::") { self.path(false) } else { Some(()) }
    }

    /// Parses the arguments in angle brackets and omits defaults.
    fn arguments(&mut self) -> Option<()> {
        let start = self.out.len();
        self.out.push('<');
        let mut is_first = true;
        loop {
            if self.eat(">") {
                break;
            }
            let before = self.out.len();
            let rest = self.rest;
            if !is_first {
                self.out.push_str(", ");
            }
            self.argument()?;
            let argument = &rest[..rest.len() - self.rest.len()];
            if DEFAULTS.contains(&argument) {
                self.out.truncate(before);
            } else {
                is_first = false;
            }
            if !self.eat(", ") && !self.rest.starts_with('>') {
                return None;
            }
        }
        if is_first {
            self.out.truncate(start);
        } else {
            self.out.push('>');
        }
        Some(())
    }

    /// Writes `<(A, B), Output=C>` as `(A, B) -> C`.
    fn fn_arguments(&mut self) -> Option<()> {
        if !self.rest.starts_with('(') {
            self.out.push('<');
            return self.list(">");
        }
        self.ty()?;
        if self.out.ends_with(",)") {
            self.out.truncate(self.out.len() - 2);
            self.out.push(')');
        }
        if self.eat(", Output=") {
            let start = self.out.len();
            self.out.push_str(" -> ");
            self.ty()?;
            if &self.out[start..] == " -> ()" {
                self.out.truncate(start);
            }
        }
        self.eat(">").then_some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn namer<'a>(heads: &[&'a str]) -> Namer<'a> {
        let source =
            |head: &str| head.ends_with("{closure_env#0}").then(|| Source { file: "src/main.rs".into(), line: 12 });
        let impls = HashMap::from([("app::{impl#2}".to_owned(), ImplFor { unit: 0, name: "Server".to_owned() })]);
        Namer::new(heads.iter().copied(), source, &impls)
    }

    #[test]
    fn paths_are_shown_as_written_in_source() {
        let heads = [
            "app::main::{closure_env#0}",
            "app::{impl#2}::run::{async_fn_env#0}",
            "app::{impl#2}::run::{async_fn#0}::{async_block_env#0}",
            "app::fetch::{async_fn_env#0}",
            "core::option::Option",
        ];
        let namer = namer(&heads);
        for (path, name) in [
            ("core::option::Option<alloc::vec::Vec<u8, alloc::alloc::Global>>", "Option<Vec<u8>>"),
            ("std::collections::hash::map::HashMap<u8, (), std::hash::random::RandomState>", "HashMap<u8, ()>"),
            ("app::main::{closure_env#0}", "{closure in main:12}"),
            ("app::main::{closure_env#0}<app::A>", "{closure in main<A>:12}"),
            ("app::{impl#2}::run::{async_fn_env#0}", "{async fn Server::run}"),
            ("app::fetch::{async_fn_env#0}<u8>", "{async fn fetch<u8>}"),
            (
                "core::pin::Pin<&mut app::{impl#2}::run::{async_fn#0}::{async_block_env#0}>",
                "Pin<&mut {async block in Server::run}>",
            ),
            ("[app::A; 3]", "[A; 3]"),
            ("&mut [&str]", "&mut [&str]"),
            ("(u8, app::A, ())", "(u8, A, ())"),
            ("(app::A,)", "(A,)"),
            ("*const ()", "*const ()"),
            ("unsafe extern \"C\" fn(*mut app::A, ...) -> i32", "unsafe extern \"C\" fn(*mut A, ...) -> i32"),
            ("fn(&app::A) -> core::option::Option<u8>", "fn(&A) -> Option<u8>"),
            (
                "alloc::boxed::Box<dyn core::ops::function::Fn<(&u8, u16), Output=()> + core::marker::Send, alloc::alloc::Global>",
                "Box<dyn Fn(&u8, u16) + Send>",
            ),
            ("&dyn core::iter::Iterator<Item=app::A>", "&dyn Iterator<Item = A>"),
            ("app::Small<(dyn app::T + core::marker::Send), 24>", "Small<dyn T + Send, 24>"),
            ("&(dyn app::T + core::marker::Send)", "&(dyn T + Send)"),
            ("app::Small<dyn app::T, 24>", "Small<dyn T, 24>"),
            ("(dyn app::A + core::marker::Send)", "(dyn A + Send)"),
            ("<app::A as app::T>::Out", "<A as T>::Out"),
            ("!", "!"),
            ("", ""),
            ("app::What<'c'>", "app::What<'c'>"),
            ("app::Cut<u8", "app::Cut<u8"),
        ] {
            assert_eq!(namer.name(path), name);
        }
    }

    #[test]
    fn functions_of_one_name_have_the_modules_that_tell_them_apart() {
        let heads = [
            "app::ev::{impl#0}::poll::{async_fn_env#0}",
            "app::v5::ev::{impl#0}::poll::{async_fn_env#0}",
            "app::one::run::{async_fn_env#0}",
            "app::two::run::{async_fn_env#0}",
            "app::same::{impl#0}::go::{async_fn_env#0}",
            "app::same::{impl#1}::go::{async_fn_env#0}",
            "other::ev::{impl#0}::poll::{async_fn_env#0}",
        ];
        let implementor = |name: &str| ImplFor { unit: 0, name: name.to_owned() };
        let impls = ["app::ev::{impl#0}", "app::v5::ev::{impl#0}", "other::ev::{impl#0}"]
            .map(|at| (at.to_owned(), implementor("Loop")));
        let same = [0, 1].map(|number| (format!("app::same::{{impl#{number}}}"), implementor("Same")));
        let source = |head: &str| {
            let line = u32::try_from(heads.iter().position(|other| *other == head)?).ok()?;
            Some(Source { file: "src/main.rs".into(), line })
        };
        let names = |heads: &[&str]| {
            let namer =
                Namer::new(heads.iter().copied(), source, &impls.clone().into_iter().chain(same.clone()).collect());
            heads.iter().map(|head| namer.name(head)).collect::<Vec<_>>()
        };
        assert_eq!(
            names(&heads[..6]),
            [
                "{async fn ev::Loop::poll}",
                "{async fn v5::ev::Loop::poll}",
                "{async fn one::run}",
                "{async fn two::run}",
                "{async fn app::same::Same::go:4}",
                "{async fn app::same::Same::go:5}",
            ]
        );
        assert_eq!(
            names(&[heads[0], heads[6]]),
            ["{async fn app::ev::Loop::poll}", "{async fn other::ev::Loop::poll}"]
        );
    }

    #[test]
    fn closure_traits_use_function_syntax() {
        let namer = Namer::default();
        assert_eq!(namer.trait_name("core::ops::function::FnMut<(&str), Output=app::A>"), "FnMut(&str) -> A");
        assert_eq!(namer.trait_name("core::ops::function::Fn<(u8, u16)>"), "Fn(u8, u16)");
        assert_eq!(namer.trait_name("app::T<u8>"), "T<u8>");
    }

    #[test]
    fn ambiguous_names_keep_a_path_segment() {
        let heads = [
            "std::sync::poison::mutex::Mutex",
            "lock_api::mutex::Mutex",
            "core::fmt::Error",
            "std::io::error::Error",
            "app::Error",
            "alloc::vec::Vec",
            "other::Vec",
            "app::a::X",
            "app::b::X",
        ];
        let namer = namer(&heads);
        assert_eq!(
            heads.map(|head| namer.name(head)),
            ["Mutex", "lock_api::Mutex", "fmt::Error", "io::Error", "app::Error", "Vec", "other::Vec", "a::X", "b::X"]
        );
    }

    #[test]
    fn excessive_nesting_is_left_unchanged() {
        let path = "&".repeat(100_000) + "u8";
        assert_eq!(Namer::default().name(&path), path);
        let path = "(".repeat(100_000);
        assert_eq!(Namer::default().name(&path), path);
    }

    #[test]
    fn vtable_name_gives_type_and_trait() {
        assert_eq!(vtable("<app::Circle as app::Draw>::{vtable_type}"), Some(("app::Circle", "app::Draw")));
        assert_eq!(
            vtable("<fn(u8) -> app::V<<A as B>::C> as core::fmt::Debug>::{vtable}"),
            Some(("fn(u8) -> app::V<<A as B>::C>", "core::fmt::Debug"))
        );
        assert_eq!(vtable("<>::{vtable}"), None);
        assert_eq!(vtable("app::A"), None);
    }

    #[test]
    fn symbol_gives_the_self_type_of_an_impl() {
        let legacy = "_ZN1a6Server3run28_$u7b$$u7b$closure$u7d$$u7d$17he022bef1b486b8c2E";
        assert_eq!(self_type(legacy, 2).as_deref(), Some("Server"));
        assert_eq!(self_type(legacy, 99), None);
        let of_trait = "_ZN37_$LT$a..Server$u20$as$u20$a..Draw$GT$4draw17h0123456789abcdefE";
        assert_eq!(self_type(of_trait, 1).as_deref(), Some("Server"));
        assert_eq!(self_type("main", 1), None);
        // A `::` inside angle brackets does not separate parts.
        assert_eq!(parts("a::Iter<[b::Slot<u8>]>::next"), ["a", "Iter<[b::Slot<u8>]>", "next"]);
        assert_eq!(parts("::next::{closure#0}"), ["", "next", "{closure#0}"]);
    }
}
