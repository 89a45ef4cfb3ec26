//! Derives the type and the source position of a block from the call stack that allocated it.

pub(super) mod callbacks;
pub(super) mod tasks;

use super::{Schema, head, is_std};
use crate::capture::{Snapshot, rust};
use crate::debuginfo::{Frame, Frames, TypeId};
use std::collections::HashSet;

/// The contents of a block, as far as its call stack shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BlockType {
    /// One value.
    Value(TypeId),
    /// Adjacent values, of which an unknown number is in use.
    Slots(TypeId),
    /// Contents that one family reads: its name in `Blocks`, the type, and a number that the family chooses.
    Own(&'static str, TypeId, u8),
    /// A chunk of an arena, by the name of the arena.
    Chunk(&'static str),
}

/// The maximum number of functions, after those of std, to search for a function of an arena.
const WITHIN_ARENA: usize = 8;

/// The libraries with C++'s `operator new`.
const CPP: [&str; 3] = ["libstdc++.so", "libc++.so", "libc++abi.so"];

/// The properties of a block that its call stack shows.
#[derive(Clone, Debug, Default)]
pub struct Origin {
    /// What the block contains, if the stack shows it.
    pub ty: Option<BlockType>,
    /// The type that allocated the block: `Vec<Node>`.
    pub content: String,
    /// Whether the block has no owner but itself: a task of a runtime.
    pub is_root: bool,
    /// The innermost function of the workspace's crates, or else the innermost one outside of std, with file and line.
    pub function: String,
    /// See `function`.
    pub at: Option<String>,
    /// Whether neither std nor a known arena allocated it: C code did, or a call of `malloc`.
    pub is_foreign: bool,
}

/// Returns the addresses in Rust code whose functions tell the types of blocks: those of the snapshot's stacks, and those
/// in the headers of tasks.
pub fn addresses(snapshot: &Snapshot) -> Vec<u64> {
    if snapshot.usable.is_some() {
        return [tasks::addresses(snapshot), callbacks::addresses(snapshot)].concat();
    }
    let mut all: Vec<u64> =
        snapshot.stacks.iter().flatten().filter_map(|address| call_before(snapshot, *address)).collect();
    all.sort_unstable();
    all.dedup();
    all
}

/// Returns the address of the call instruction before a return address, as the debug info counts it.
fn call_before(snapshot: &Snapshot, address: u64) -> Option<u64> {
    Some(snapshot.in_program(address)?.wrapping_sub(1))
}

/// Returns the functions of a stack, innermost first; `Err` names a module without debug info, with the offset.
pub fn functions<'f>(snapshot: &Snapshot, frames: &'f Frames, stack: &[u64]) -> Vec<Result<&'f Frame, String>> {
    let mut all = Vec::new();
    for &address in stack {
        let known = call_before(snapshot, address).and_then(|address| frames.get(&address));
        match (known, snapshot.modules.iter().find(|module| module.contains(address))) {
            (Some(known), _) => all.extend(known.iter().map(Ok)),
            (None, Some(module)) => {
                let name = module.path.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned());
                all.push(Err(format!("{name}+{:#x}", address.wrapping_sub(module.bias))));
            }
            (None, None) => all.push(Err(format!("{address:#x}"))),
        }
    }
    all
}

/// Returns the origin of blocks for each stack of a snapshot.
pub(crate) fn origins(snapshot: &Snapshot, frames: &Frames, schema: &Schema<'_>) -> Vec<Origin> {
    let own: HashSet<&str> =
        schema.program.types().filter(|(_, ty)| ty.own && !ty.krate.is_empty()).map(|(_, ty)| &*ty.krate).collect();
    let files = rust(&snapshot.modules).filter_map(|module| module.path.file_name());
    let files: Vec<String> = files.map(|name| format!("{}+", name.to_string_lossy())).collect();
    let is_inside = |name: &str| files.iter().any(|file| name.starts_with(file));
    let is_library = snapshot.modules.iter().skip(1).any(|module| module.is_executable);
    let of_stack = |stack: &Vec<u64>| {
        let mut origin = origin(&functions(snapshot, frames, stack), schema, &own, &is_inside);
        // What another program holds is a row for each of its files: its own call stacks say nothing about the Rust code.
        if is_library && origin.is_foreign && origin.at.is_none() {
            origin.function = origin.function.split("+0x").next().unwrap_or_default().to_owned();
        }
        origin
    };
    snapshot.stacks.iter().map(of_stack).collect()
}

fn origin(
    stack: &[Result<&Frame, String>],
    schema: &Schema<'_>,
    own: &HashSet<&str>,
    is_inside: &dyn Fn(&str) -> bool,
) -> Origin {
    let mut origin = Origin::default();
    let paths: Vec<Option<&str>> =
        stack.iter().map(|frame| frame.as_ref().ok().map(|frame| path_head(&frame.path))).collect();
    let after_allocator = after_allocator(&paths);
    let first = after_allocator.unwrap_or(0);
    // C code allocated the block, or a call of `malloc`, if neither std nor a function without debug info did.
    let is_by_std = after_allocator.is_some() || paths.first().is_some_and(|path| path.is_some_and(is_std));
    let is_by_c =
        !is_by_std && stack.first().is_none_or(|frame| frame.as_ref().map_or_else(|name| !is_inside(name), |_| true));
    let stack = &stack[first..];
    for (index, frame) in stack.iter().enumerate() {
        let Ok(frame) = frame else { continue };
        if is_by_c || !is_std(path_head(&frame.path)) {
            break;
        }
        let stack = CallStack { stack: &stack[index..], schema };
        if let Some(ty) = schema.families.iter().find_map(|family| (family.of_frame)(&stack)) {
            origin.ty = Some(ty);
            origin.is_root = schema.families.iter().any(|family| (family.is_root)(schema, ty));
            origin.content = schema.families.iter().find_map(|family| (family.content)(ty, &stack)).unwrap_or_default();
            break;
        }
    }
    if origin.ty.is_none()
        && let Some(arena) = arena(stack, schema)
    {
        origin.ty = Some(BlockType::Chunk(arena));
        origin.content = format!("chunk of {arena}");
    }
    let mut functions = stack.iter().filter_map(|frame| frame.as_ref().ok());
    let is_own = |frame: &&&Frame| own.contains(path_head(&frame.path).split("::").next().unwrap_or_default());
    let frame = functions.clone().find(is_own).or_else(|| functions.find(|frame| !is_std(path_head(&frame.path))));
    // What std allocates for itself: the first function above its allocator.
    let known = || stack.iter().filter_map(|frame| frame.as_ref().ok());
    let frame = frame.or_else(|| known().find(|frame| !path_head(&frame.path).starts_with("alloc::")));
    let frame = frame.or_else(|| known().next());
    #[expect(clippy::single_match_else, reason = "a function, or none")]
    match frame {
        Some(frame) => {
            origin.function = shown_function(frame);
            origin.at = frame.source.as_ref().map(|source| format!("{}:{}", short_file(&source.file), source.line));
            origin.is_foreign = is_by_c && origin.ty.is_none();
        }
        None => {
            origin.is_foreign = true;
            // `operator new` allocates for its caller.
            let mut files = stack.iter().filter_map(|frame| frame.as_ref().err());
            let first = files.next();
            let of_cpp = |name: &&String| CPP.iter().any(|file| name.starts_with(file));
            let caller = first.filter(of_cpp).and_then(|_| files.next());
            origin.function = caller.or(first).cloned().unwrap_or_default();
        }
    }
    origin
}

/// Returns the arena that allocated a block, if all functions above it are std's or the arena's own.
fn arena(stack: &[Result<&Frame, String>], schema: &Schema<'_>) -> Option<&'static str> {
    let arenas = || schema.families.iter().flat_map(|family| family.arenas);
    let paths = stack.iter().map_while(|frame| frame.as_ref().ok()).map(|frame| path_head(&frame.path));
    let mut paths = paths.skip_while(|path| is_std(path)).peekable();
    let krate = paths.peek()?.split("::").next()?;
    paths
        .take(WITHIN_ARENA)
        .take_while(|path| is_std(path) || path.split("::").next() == Some(krate))
        .find_map(|path| arenas().find(|(start, _)| path.starts_with(start)).map(|(_, arena)| *arena))
}

/// Returns the path of a dependency's file relative to cargo's folder of sources: `serde-1.0.0/src/de.rs`.
pub fn short_file(file: &str) -> &str {
    let of_registry = file.split_once("/registry/src/");
    match of_registry.or_else(|| file.split_once("/git/checkouts/")) {
        Some((_, rest)) => rest.split_once('/').map_or(rest, |(_, rest)| rest),
        None => file,
    }
}

/// The functions by which std calls the program's allocator.
const ENTRIES: [&str; 3] = ["::__rust_alloc", "::__rust_alloc_zeroed", "::__rust_realloc"];

/// The maximum number of functions of an allocator.
const ALLOCATOR: usize = 16;

/// Returns the number of functions of the allocator, innermost first, if std called it: the program may define its own.
fn after_allocator(paths: &[Option<&str>]) -> Option<usize> {
    let paths = &paths[..paths.len().min(ALLOCATOR)];
    let calls = |path: &str| path.starts_with("alloc::alloc::");
    paths.iter().position(|path| path.is_some_and(calls)).or_else(|| {
        // The shipped std has no debug info for some of its functions.
        let is_entry =
            |path: &str| path.starts_with("core::alloc::global::") || ENTRIES.iter().any(|entry| path.ends_with(entry));
        paths.iter().rposition(|path| path.is_some_and(is_entry)).map(|last| last + 1)
    })
}

/// Leaves out the functions of the program's own allocator.
pub fn without_allocator<'s, 'f>(stack: &'s [Result<&'f Frame, String>]) -> &'s [Result<&'f Frame, String>] {
    let paths: Vec<Option<&str>> =
        stack.iter().map(|frame| frame.as_ref().ok().map(|frame| path_head(&frame.path))).collect();
    &stack[after_allocator(&paths).unwrap_or(0)..]
}

/// Returns the path of a function without arguments.
pub(super) fn path_head(path: &str) -> &str {
    path.strip_prefix('<').unwrap_or(path)
}

/// Returns a function's path without arguments and impls: `app::run` for `app::{impl#2}::run<u8>`.
pub fn shown(path: &str) -> String {
    let mut depth = 0_u32;
    let mut name = String::new();
    for character in path.chars() {
        match character {
            '<' => depth += 1,
            '>' if !name.ends_with('-') => depth = depth.saturating_sub(1),
            _ if depth == 0 => name.push(character),
            _ => {}
        }
    }
    name.split("::").filter(|part| !part.starts_with("{impl#")).collect::<Vec<_>>().join("::")
}

/// Returns a function's path as [`shown`], with the type of its impl: `app::Server::run`.
pub fn shown_function(frame: &Frame) -> String {
    let implementor = frame.implementor.as_deref();
    match implementor.and_then(|name| Some((name, frame.path.split_once("{impl#")?))) {
        Some((name, (module, rest))) => {
            let rest = rest.split_once('}').map_or("", |(_, rest)| rest);
            shown(&format!("{module}{name}{rest}"))
        }
        None => shown(&frame.path),
    }
}

/// The functions of a call stack, from the one that a family is asked about, which belongs to std.
pub(crate) struct CallStack<'a, 'p> {
    stack: &'a [Result<&'a Frame, String>],
    pub(crate) schema: &'a Schema<'p>,
}

impl<'a> CallStack<'a, '_> {
    fn frames(&self) -> impl Iterator<Item = &'a Frame> {
        self.stack.iter().map_while(|frame| frame.as_ref().ok().copied())
    }

    /// Returns the first function.
    pub(crate) fn frame(&self) -> Option<&'a Frame> {
        self.frames().next()
    }

    /// Returns `true` if the path of the first function starts with one of these.
    pub(crate) fn starts(&self, starts: &[&str]) -> bool {
        self.frame().is_some_and(|frame| {
            let path = head(&frame.path);
            starts.iter().any(|start| path.starts_with(start))
        })
    }

    /// Returns `true` if the path of one of the first functions, all of which belong to std, starts with `start`.
    pub(crate) fn has(&self, start: &str) -> bool {
        let mut paths = self.frames().map(|frame| head(&frame.path)).take_while(|path| is_std(path));
        paths.any(|path| path.starts_with(start))
    }

    /// Returns the type with a full path in the object of these functions.
    pub(crate) fn by_path(&self, path: &str) -> Option<TypeId> {
        let near = self.stack.iter().flatten().find_map(|frame| frame.params.first());
        self.schema.by_path(path, near.map_or(TypeId(0), |param| param.ty))
    }

    /// Returns the argument `T` of the first function.
    pub(crate) fn param(&self) -> Option<TypeId> {
        let frame = self.frame()?;
        // For functions of the shipped std, only the name has the arguments.
        param_of(frame, "T").or_else(|| self.by_path(first_argument(last_arguments(&frame.path)?)?))
    }

    fn is_same_layout(&self, ty: TypeId, other: TypeId) -> bool {
        let layout = |ty: TypeId| (self.schema.get(ty).size, self.schema.get(ty).align);
        layout(ty) == layout(other)
    }

    /// Corrects the type of a buffer's elements by the function of std that called the ones of `RawVec`.
    ///
    /// LLVM merges functions with equal code, such as `RawVec::grow_one` for two types of the same size, and the debug
    /// info of one of them remains. Their callers are more often inlined, so that their arguments are right. The size
    /// must be the same, because a caller may also be a function of another collection, which contains this one.
    pub(crate) fn of_caller(&self, element: TypeId) -> TypeId {
        let caller = self.frames().find(|frame| !frame.path.starts_with("alloc::raw_vec::"));
        let caller = caller.filter(|frame| frame.path.starts_with("alloc::"));
        let other = caller.and_then(|frame| param_of(frame, "T")).filter(|other| self.is_same_layout(element, *other));
        other.unwrap_or(element)
    }

    /// Corrects the type of a map's entries in the same way: returns the type whose path `path` makes from the key and
    /// value of the outermost caller in these modules.
    pub(crate) fn of_map(&self, modules: &[&str], path: &dyn Fn(&str, &str) -> String, entry: TypeId) -> TypeId {
        let schema = self.schema;
        self.frames()
            .take_while(|frame| is_std(path_head(&frame.path)))
            .filter(|frame| modules.iter().any(|module| frame.path.starts_with(module)))
            .filter_map(|frame| param_of(frame, "K").zip(param_of(frame, "V")))
            .filter_map(|(key, value)| schema.by_path(&path(&schema.get(key).path, &schema.get(value).path), key))
            .filter(|other| self.is_same_layout(entry, *other))
            .last()
            .unwrap_or(entry)
    }
}

fn param_of(frame: &Frame, name: &str) -> Option<TypeId> {
    frame.params.iter().find(|param| &*param.name == name).map(|param| param.ty)
}

/// Returns the arguments at the end of a path: `u8, A>` for `a::b<u8, A>`.
fn last_arguments(path: &str) -> Option<&str> {
    let mut depth = 0_u32;
    for (at, byte) in path.bytes().enumerate().rev() {
        match byte {
            b'>' if at > 0 && path.as_bytes()[at - 1] == b'-' => {}
            b'>' => depth += 1,
            b'<' => {
                depth = depth.checked_sub(1)?;
                if depth == 0 {
                    return path.get(at + 1..);
                }
            }
            _ if depth == 0 => return None,
            _ => {}
        }
    }
    None
}

/// Returns the first of the arguments in angle brackets.
fn first_argument(arguments: &str) -> Option<&str> {
    let mut depth = 0_u32;
    for (at, byte) in arguments.bytes().enumerate() {
        match byte {
            b'<' | b'(' | b'[' => depth += 1,
            b'>' if at > 0 && arguments.as_bytes()[at - 1] == b'-' => {}
            b'>' | b',' if depth == 0 => return arguments.get(..at),
            b'>' | b')' | b']' => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    None
}

/// Returns the field of a site's path: `Node.next` for `Node.next [] key`.
pub(crate) fn field_of(path: &str) -> &str {
    let mut path = path;
    while let Some(rest) = [" []", " key", " value", " *"].iter().find_map(|end| path.strip_suffix(end)) {
        path = rest;
    }
    path
}

/// Returns the text in the angle brackets of a name.
pub(crate) fn argument(name: &str) -> &str {
    name.split_once('<').and_then(|(_, rest)| rest.strip_suffix('>')).unwrap_or(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_of_the_allocator_are_skipped() {
        let skipped = |paths: &[&'static str]| {
            let paths: Vec<_> = paths.iter().map(|path| Some(*path).filter(|path| !path.is_empty())).collect();
            after_allocator(&paths)
        };
        let own = ["std::sys::alloc::unix::alloc", "app::Counting::alloc", "alloc::alloc::alloc", "alloc::vec::push"];
        assert_eq!(skipped(&own), Some(2));
        assert_eq!(skipped(&["app::Counting::alloc", "app::_::__rust_realloc", "", "gimli::parse"]), Some(2));
        assert_eq!(skipped(&["alloc::alloc::alloc", "alloc::vec::push"]), Some(0));
        // The shipped std has no debug info for some of its functions.
        assert_eq!(skipped(&["", "alloc::raw_vec::grow", "app::main", "std::sys::__rust_begin_short_backtrace"]), None);
        // A call of `malloc`, from a function that std calls.
        assert_eq!(skipped(&["app::c_malloc", "app::main", "core::ops::function::FnOnce::call_once"]), None);
    }

    #[test]
    fn paths_are_parsed_and_shortened() {
        assert_eq!(first_argument("u8, alloc::alloc::Global>"), Some("u8"));
        assert_eq!(first_argument("(a::B<u8, u16>, C), D>"), Some("(a::B<u8, u16>, C)"));
        assert_eq!(last_arguments("a::B<u8>::c<fn() -> D<E>, F>"), Some("fn() -> D<E>, F>"));
        assert_eq!(last_arguments("a::B<u8>::c"), None);
        assert_eq!(short_file("/home/a/.cargo/registry/src/index-1/serde-1.0.0/src/de.rs"), "serde-1.0.0/src/de.rs");
        assert_eq!(short_file("src/main.rs"), "src/main.rs");
        assert_eq!(shown("app::{impl#2}::run<u8>::{closure#0}"), "app::run::{closure#0}");
        assert_eq!(field_of("Node<A, B>.next [] value"), "Node<A, B>.next");
        assert_eq!(field_of("(static app::ALL) []"), "(static app::ALL)");
    }
}
