//! Whose code allocates: the places that people can change, and the functions of the workspace with all that they call.

use super::document::Function;
use crate::function_names::{ends_with, plain};
use dwell_debuginfo::{Frame, Frames};
use dwell_heap::profile::{Counts, Pair, Profile};
use dwell_heap::stacks::{self, Origin, is_std};
use std::collections::{BTreeMap, HashMap, HashSet};

/// A place in the source that allocates.
#[derive(Clone, Debug, Default)]
pub(super) struct Place {
    /// The innermost function that is not std's.
    pub(super) function: String,
    pub(super) at: Option<String>,
    /// Its source file as in the debug info, and the line.
    pub(super) source: Option<(String, u32)>,
    /// Its crate, if that is not one of the workspace.
    pub(super) dependency: Option<String>,
    /// The innermost function of the workspace with most of the blocks, if that is another one.
    pub(super) called_from: Option<String>,
    /// The collection of a dependency that grows here, such as `BytesMut`.
    pub(super) collection: Option<&'static str>,
    /// The functions of std between it and the allocator, innermost first, without arguments.
    pub(super) through: Vec<String>,
    pub(super) pairs: Vec<usize>,
    pub(super) counts: Counts,
    /// The blocks of each caller.
    pub(super) callers: BTreeMap<String, u64>,
}

impl Place {
    /// Returns `true` if a function of std that allocated for this place has one of these names.
    pub(super) fn goes_through(&self, names: &[&str]) -> bool {
        self.through.iter().any(|path| path.rsplit("::").next().is_some_and(|name| names.contains(&name)))
    }

    /// Returns the type of a value that is no text, such as a number, if the place makes its text.
    pub(super) fn formats(&self) -> Option<&str> {
        let outermost = self.through.iter().rev().find_map(|path| path.strip_suffix("::spec_to_string"));
        let type_name = outermost.map(|path| path.rsplit("::").next().unwrap_or(path));
        type_name.filter(|name| !["str", "String", "Cow"].contains(name))
    }

    /// Returns `true` if std makes the text, by `format!` or `to_string`, so that no line states its length.
    pub(super) fn is_formatted(&self) -> bool {
        self.formats().is_some() || self.goes_through(&["format", "format_inner"])
    }

    /// Adds the blocks of a pair, which `place` describes.
    pub(super) fn add(&mut self, number: usize, pair: &Pair, place: &Self) {
        if self.pairs.is_empty() {
            self.counts = Counts::default();
        }
        self.pairs.push(number);
        self.counts.add(&pair.counts);
        if let Some(caller) = &place.called_from {
            *self.callers.entry(caller.clone()).or_default() += pair.counts.allocations + pair.counts.reallocations;
        }
    }

    /// Names the caller with most blocks, and says how many others there are.
    pub(super) fn name_caller(&mut self) {
        let most = self.callers.iter().max_by_key(|(name, blocks)| (**blocks, std::cmp::Reverse(*name)));
        let more = self.callers.len().saturating_sub(1);
        self.called_from = most.map(|(name, _)| match more {
            0 => name.clone(),
            _ => format!("{name} and {more} more"),
        });
    }
}

/// The crates of the workspace.
#[derive(Debug)]
pub(super) struct Own {
    crates: HashSet<String>,
    /// The generic functions of the workspace that allocate for many types.
    helpers: HashSet<String>,
}

/// A generic function with so many sets of arguments is a helper: its callers are the places.
const HELPED: usize = 3;
/// The collections of dependencies, with the functions that make their blocks larger.
const GROWS: [(&str, &str); 4] = [
    ("bytes::bytes_mut::BytesMut", "reserve_inner"),
    ("smallvec::SmallVec", "try_grow"),
    ("smallvec::SmallVec", "reserve_one_unchecked"),
    ("thin_vec::ThinVec", "reserve"),
];
/// Two functions with so much of their blocks in common are one, in per cent.
const PASSED: u64 = 99;
/// The part of a function's blocks that are in one other function, to name it, in per cent.
const INSIDE: u64 = 90;
/// The most functions in the document.
const FUNCTIONS: usize = 40;

impl Own {
    /// Returns the crates of the workspace, or else those whose sources are neither std's nor kept by cargo.
    pub(super) fn new(crates: &[String], frames: &Frames) -> Self {
        let all = || frames.values().flatten().filter(|frame| !is_std(head(&frame.path)));
        let mut found: HashSet<String> = crates.iter().cloned().collect();
        if !all().any(|frame| found.contains(krate(&frame.path))) {
            let is_here = |file: &str| {
                // A build script's output is its crate's, wherever that is.
                let is_made = file.contains("/build/") && file.contains("/out/");
                let kept = ["/registry/src/", "/git/checkouts/", "/rustc/", "/rust/deps/", "library/"];
                !is_made && !kept.iter().any(|kept| file.contains(kept))
            };
            let here = all().filter(|frame| frame.source.as_ref().is_some_and(|source| is_here(&source.file)));
            found = here.map(|frame| krate(&frame.path).to_owned()).collect();
        }
        let mut instances: HashMap<&str, HashSet<Vec<u32>>> = HashMap::new();
        for frame in all().filter(|frame| !frame.params.is_empty() && found.contains(krate(&frame.path))) {
            let params = frame.params.iter().map(|param| param.ty.0).collect();
            instances.entry(&frame.path).or_default().insert(params);
        }
        // The path has the arguments, so that instances differ in it.
        let mut named: HashMap<String, usize> = HashMap::new();
        for path in instances.keys() {
            *named.entry(stacks::shown(path)).or_default() += 1;
        }
        let helpers = named.into_iter().filter(|(_, count)| *count >= HELPED).map(|(name, _)| name).collect();
        Self { crates: found, helpers }
    }

    fn is(&self, frame: &Frame) -> bool {
        !is_std(head(&frame.path)) && self.crates.contains(krate(&frame.path))
    }

    /// Returns `true` for a function that does what its caller asks for: `clone`, and generic helpers for many types.
    fn is_helper(&self, frame: &Frame) -> bool {
        let name = stacks::shown(&frame.path);
        frame.path.contains("{impl#") && name.ends_with("::clone") || self.helpers.contains(&name)
    }

    /// Returns the place of a call stack.
    pub(super) fn place(&self, stack: &[Result<&Frame, String>], origin: &Origin) -> Place {
        let stack = stacks::without_allocator(stack);
        let known: Vec<&Frame> = stack.iter().filter_map(|frame| frame.as_ref().ok().copied()).collect();
        let first = known.iter().position(|frame| !is_std(head(&frame.path)));
        let of_std = &known[..first.unwrap_or(known.len())];
        let mut through: Vec<String> = of_std.iter().map(|frame| stacks::shown_function(frame)).collect();
        let Some(mut first) = first else {
            return Place { function: origin.function.clone(), at: origin.at.clone(), through, ..Place::default() };
        };
        // The text that a `fmt` writes to is made by who asks for it.
        let writes = ["String::write_str", "String::write_char", "String::write_fmt"];
        if through.iter().any(|path| writes.iter().any(|write| path.ends_with(write)))
            && formats(known[first])
            && let Some(asks) = (first..known.len()).find(|at| !is_std(head(&known[*at].path)) && !formats(known[*at]))
            && self.is(known[asks])
        {
            through.extend(known[first..asks].iter().map(|frame| stacks::shown_function(frame)));
            first = asks;
        }
        // A helper of the workspace stands for the code that calls it, if there is some.
        let mut frame = known[first];
        let others = || known[first..].iter().filter(|frame| !is_std(head(&frame.path)));
        if self.is(frame)
            && self.is_helper(frame)
            && let Some(caller) = others().find(|frame| !self.is_helper(frame)).filter(|caller| self.is(caller))
        {
            through.push(stacks::shown(&frame.path));
            frame = caller;
        }
        // A collection of a dependency grows for the code that fills it.
        let path = stacks::shown(&frame.path);
        let grown = GROWS
            .iter()
            .find(|(collection, function)| path == format!("{collection}::{function}"))
            .map(|(collection, _)| *collection);
        if grown.is_some()
            && let Some(caller) =
                others().find(|other| krate(&other.path) != krate(&path)).filter(|caller| self.is(caller))
        {
            frame = caller;
        }
        let is_own = self.crates.is_empty() || self.is(frame);
        let caller = others().copied().filter(|frame| self.is(frame));
        let caller = caller.clone().find(|frame| !self.is_helper(frame)).or_else(|| caller.clone().next());
        Place {
            at: at(frame),
            source: frame.source.as_ref().map(|source| (source.file.to_string(), source.line)),
            function: stacks::shown_function(frame),
            dependency: (!is_own).then(|| krate(&frame.path).to_owned()),
            called_from: caller.filter(|_| !is_own).map(|caller| match at(caller) {
                Some(at) => format!("{} ({at})", stacks::shown_function(caller)),
                None => stacks::shown_function(caller),
            }),
            through,
            collection: grown.and_then(|collection| collection.rsplit("::").next()).filter(|_| is_own),
            ..Place::default()
        }
    }

    /// Returns the call of a dependency's function that a function of the workspace makes in a stack, if `wanted` says so of
    /// the path of one that it calls: the name of that function, and where it is called.
    pub(super) fn call(&self, stack: &[Result<&Frame, String>], wanted: &dyn Fn(&str) -> bool) -> Option<[String; 2]> {
        let known = stack.iter().filter_map(|frame| frame.as_ref().ok().copied());
        let known: Vec<&Frame> = known.filter(|frame| !is_std(head(&frame.path))).collect();
        let caller = known.iter().position(|frame| self.is(frame))?;
        // A crate may compile for another one: the function that the workspace calls is the one that can be called once.
        let inner = &known[..caller];
        let maker = inner.last().filter(|_| inner.iter().any(|frame| wanted(&stacks::shown_function(frame))))?;
        let caller = known[caller];
        let at = at(caller).map_or_else(String::new, |at| format!(" ({at})"));
        Some([stacks::shown_function(maker), format!("{}{at}", stacks::shown_function(caller))])
    }

    /// Returns the functions of the workspace with all that they call, the one with most time first. Those that only pass on are
    /// left out. `nanos` is the time of each pair in the allocator.
    pub(super) fn functions(&self, profile: &Profile, frames: &Frames, nanos: &[u64]) -> Vec<Function> {
        let snapshot = profile.as_snapshot();
        let stacks: Vec<Vec<Result<&Frame, String>>> =
            snapshot.stacks.iter().map(|stack| stacks::functions(&snapshot, frames, stack)).collect();
        let mut sums: HashMap<String, Sum> = HashMap::new();
        for (pair, nanos) in profile.pairs.iter().zip(nanos) {
            let Some(stack) = stacks.get(pair.stack as usize) else { continue };
            let blocks = pair.counts.allocations + pair.counts.reallocations;
            let stack = stacks::without_allocator(stack);
            let known: Vec<&Frame> = stack.iter().filter_map(|frame| frame.as_ref().ok().copied()).collect();
            let names: Vec<String> = known.iter().map(|frame| stacks::shown_function(frame)).collect();
            let own: Vec<usize> = (0..known.len()).filter(|at| self.is(known[*at])).collect();
            let mut met: HashSet<&str> = HashSet::new();
            for (number, at) in own.iter().enumerate() {
                // The outermost call of a function that calls itself is met last; all count once.
                if !met.insert(&names[*at]) {
                    continue;
                }
                let sum = sums.entry(names[*at].clone()).or_default();
                sum.blocks += blocks;
                sum.bytes = sum.bytes.saturating_add(pair.counts.bytes);
                sum.nanos += nanos;
                let line = self::at(known[*at]).unwrap_or_default();
                *sum.lines.entry(line).or_default() += blocks;
                sum.depth += blocks * number as u64;
                for other in own
                    .iter()
                    .filter(|other| names[**other] != names[*at])
                    .map(|other| &names[*other])
                    .collect::<HashSet<_>>()
                {
                    *sum.with.entry(other.clone()).or_default() += blocks;
                }
                let mut inner: HashSet<&str> = HashSet::new();
                for (distance, inside) in (0..*at).rev().enumerate() {
                    if !is_std(head(&known[inside].path)) && inner.insert(&names[inside]) {
                        let entry = sum.inside.entry(names[inside].clone()).or_default();
                        *entry = (entry.0 + blocks, entry.1.max(distance));
                    }
                }
            }
        }
        let most = |counts: &HashMap<String, u64>| {
            let name = counts.iter().max_by_key(|(name, blocks)| (**blocks, std::cmp::Reverse((*name).clone())));
            name.map(|(name, _)| name.clone()).filter(|name| !name.is_empty())
        };
        // Of functions with the same blocks, such as `main` and the one that it calls, the innermost is the one.
        let mut order: Vec<(&String, &Sum)> = sums.iter().filter(|(_, sum)| sum.blocks > 0).collect();
        order.sort_by_key(|(name, sum)| (sum.depth / sum.blocks, *name));
        let mut kept: Vec<(&String, &Sum)> = Vec::new();
        for (name, sum) in order {
            let is_same = |(other, their_sum): &(&String, &Sum)| {
                let both = sum.with.get(*other).copied().unwrap_or(0);
                both * 100 >= sum.blocks.max(their_sum.blocks) * PASSED
            };
            if !kept.iter().any(is_same) {
                kept.push((name, sum));
            }
        }
        let mut all: Vec<Function> = kept
            .into_iter()
            .map(|(name, sum)| {
                let inside = sum
                    .inside
                    .iter()
                    .filter(|(other, (blocks, _))| *other != name && blocks * 100 >= sum.blocks * INSIDE);
                Function {
                    name: name.clone(),
                    at: most(&sum.lines),
                    inside: inside
                        .max_by_key(|(name, (_, distance))| (*distance, (*name).clone()))
                        .map(|(name, _)| name.clone()),
                    blocks: sum.blocks,
                    bytes: sum.bytes,
                    nanos: sum.nanos,
                }
            })
            .collect();
        all.sort_by(|a, b| (b.nanos, b.blocks, &a.name).cmp(&(a.nanos, a.blocks, &b.name)));
        all.truncate(FUNCTIONS);
        all
    }
}

/// Returns the profile with the blocks of a function alone, with all that it calls.
pub(super) fn during(profile: &Profile, frames: &Frames, name: &str) -> Profile {
    let (snapshot, wanted) = (profile.as_snapshot(), plain(name));
    let is_asked = |stack: &Vec<u64>| {
        let functions = stacks::functions(&snapshot, frames, stack);
        functions.into_iter().flatten().any(|frame| ends_with(&stacks::shown_function(frame), &wanted))
    };
    let is_below: Vec<bool> = snapshot.stacks.iter().map(is_asked).collect();
    let pairs = profile.pairs.iter().filter(|pair| is_below.get(pair.stack as usize) == Some(&true));
    Profile { pairs: pairs.cloned().collect(), ..profile.clone() }
}

/// Leaves out the blocks of backtraces, which a test that panics or fails makes. Returns their number.
pub(super) fn leave_out_backtraces(profile: &mut Profile, frames: &Frames) -> u64 {
    let snapshot = profile.as_snapshot();
    let is_of_backtrace = |frame: &Frame| {
        let starts = ["std::backtrace", "std::sys::backtrace::", "std::backtrace_rs::"];
        starts.iter().any(|start| head(&frame.path).starts_with(start)) && !frame.path.contains("_short_backtrace")
    };
    let is_left_out: Vec<bool> = snapshot
        .stacks
        .iter()
        .map(|stack| stacks::functions(&snapshot, frames, stack).into_iter().flatten().any(is_of_backtrace))
        .collect();
    let mut left_out = 0;
    profile.pairs.retain(|pair| {
        let is_one = is_left_out.get(pair.stack as usize) == Some(&true);
        left_out += if is_one { pair.counts.allocations + pair.counts.reallocations } else { 0 };
        !is_one
    });
    left_out
}

/// The blocks of a function with all that it calls.
#[derive(Debug, Default)]
struct Sum {
    blocks: u64,
    bytes: u64,
    nanos: u64,
    /// By the line of the function.
    lines: HashMap<String, u64>,
    /// The blocks that other functions of the workspace are on the stacks of, too.
    with: HashMap<String, u64>,
    /// The sum of the numbers of functions of the workspace that it calls on the stacks.
    depth: u64,
    /// By a function that is called, with the largest distance to it.
    inside: HashMap<String, (u64, usize)>,
}

fn at(frame: &Frame) -> Option<String> {
    let source = frame.source.as_ref()?;
    Some(format!("{}:{}", stacks::short_file(&source.file), source.line))
}

/// Returns `true` for the `fmt` of an `impl`.
fn formats(frame: &Frame) -> bool {
    frame.path.contains("{impl#") && stacks::shown(&frame.path).ends_with("::fmt")
}

/// Returns the path of a function without arguments of its impl.
pub(super) fn head(path: &str) -> &str {
    path.strip_prefix('<').unwrap_or(path)
}

fn krate(path: &str) -> &str {
    head(path).split("::").next().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use dwell_debuginfo::Source;
    use dwell_heap::Module;

    fn frame(path: &str, file: &str, line: u32) -> Frame {
        let source = Some(Source { file: file.into(), line });
        Frame { path: path.into(), implementor: None, params: Vec::new(), source, locals: Vec::new() }
    }

    fn pair(stack: u32, allocations: u64) -> Pair {
        Pair {
            size: 8,
            stack,
            allocator: dwell_heap::profile::Allocator::Glibc,
            run_stack: None,
            free_stack: None,
            counts: Counts { allocations, bytes: allocations * 8, ..Counts::default() },
        }
    }

    /// Frames by their addresses: 10 is std, 20 a dependency, and the others are the program's.
    fn frames() -> Frames {
        let registry = "/home/a/.cargo/registry/src/index-1/rx-1.2.0/src/lib.rs";
        [
            (10, frame("alloc::alloc::alloc", "/rustc/1/library/alloc/src/alloc.rs", 9)),
            (20, frame("rx::build", registry, 7)),
            (25, frame("rx::parse", registry, 8)),
            (30, frame("app::rewrite", "src/main.rs", 3)),
            (40, frame("app::main", "src/main.rs", 9)),
            (50, frame("app::once", "src/main.rs", 5)),
            (60, frame("app::{impl#1}::clone", "src/main.rs", 1)),
        ]
        .into_iter()
        .map(|(at, frame)| (at, vec![frame]))
        .collect()
    }

    fn profile(stacks: &[&[u64]], pairs: Vec<Pair>) -> Profile {
        let stacks = stacks.iter().map(|stack| stack.iter().map(|at| at + 1).collect()).collect();
        let modules =
            vec![Module { path: "app".into(), bias: 0, start: 1, end: 1000, is_executable: true, object: Some(0) }];
        Profile { stacks, pairs, modules, ..Profile::default() }
    }

    #[test]
    fn functions_of_the_workspace_have_all_that_they_call() {
        let stacks: [&[u64]; 3] = [&[10, 20, 25, 30, 40], &[10, 30, 40], &[10, 20, 50, 40]];
        let profile = profile(&stacks, vec![pair(0, 950), pair(1, 40), pair(2, 10)]);
        let frames = frames();
        let own = Own::new(&[], &frames);
        let all = own.functions(&profile, &frames, &[95, 4, 1]);
        let names: Vec<(&str, u64)> = all.iter().map(|function| (&*function.name, function.blocks)).collect();
        assert_eq!(names, [("app::rewrite", 990), ("app::once", 10)], "main only passes on");
        assert_eq!((all[0].at.as_deref(), all[0].inside.as_deref()), (Some("src/main.rs:3"), Some("rx::build")));
        assert_eq!((all[0].nanos, all[0].bytes), (99, 990 * 8));
    }

    #[test]
    fn collection_grows_for_the_code_that_fills_it() {
        let registry = "/home/a/.cargo/registry/src/index-1/bytes-1.2.0/src/bytes_mut.rs";
        let all = [
            frame("alloc::raw_vec::RawVecInner::grow_amortized", "/rustc/1/library/alloc/src/raw_vec.rs", 9),
            frame("bytes::bytes_mut::BytesMut::reserve_inner", registry, 7),
            frame("bytes::buf::buf_mut::BufMut::put_u64", registry, 8),
            frame("app::encode", "src/main.rs", 3),
        ];
        let own = Own::new(&["app".into()], &frames());
        let place = |frames: &[&Frame]| {
            own.place(&frames.iter().map(|frame| Ok(*frame)).collect::<Vec<_>>(), &Origin::default())
        };
        let [of_std, grows, puts, encode] = &all;
        let found = place(&[of_std, grows, puts, encode]);
        assert_eq!((&*found.function, found.dependency, found.collection), ("app::encode", None, Some("BytesMut")));
        let found = place(&[of_std, puts, encode]);
        assert_eq!((found.dependency.as_deref(), found.collection), (Some("bytes"), None));
        let other = frame("codec::write", registry, 8);
        let found = place(&[of_std, grows, puts, &other, encode]);
        assert_eq!((found.dependency.as_deref(), found.collection), (Some("bytes"), None));
    }

    #[test]
    fn blocks_of_one_function_are_those_below_it() {
        let stacks: [&[u64]; 3] = [&[10, 20, 25, 30, 40], &[10, 30, 40], &[10, 20, 50, 40]];
        let profile = profile(&stacks, vec![pair(0, 950), pair(1, 40), pair(2, 10)]);
        let allocations = |name: &str| during(&profile, &frames(), name).total().allocations;
        assert_eq!(
            [allocations("rewrite"), allocations("app::once"), allocations("main"), allocations("write")],
            [990, 10, 1000, 0]
        );
    }

    #[test]
    fn the_call_of_a_dependency_is_that_of_the_workspace() {
        let frames = frames();
        let own = Own::new(&["app".into()], &frames);
        let call = |stack: &[u64], name: &str| {
            let frames: Vec<Result<&Frame, String>> = stack.iter().map(|at| Ok(&frames[at][0])).collect();
            own.call(&frames, &|path| path == name)
        };
        let called = ["rx::parse".to_owned(), "app::rewrite (src/main.rs:3)".to_owned()];
        assert_eq!(call(&[10, 20, 25, 30, 40], "rx::build"), Some(called));
        assert_eq!(call(&[10, 30, 40], "rx::build"), None);
    }

    #[test]
    fn backtraces_are_left_out() {
        let mut frames = frames();
        frames.insert(70, vec![frame("std::sys::backtrace::_print_fmt", "", 1)]);
        frames.insert(80, vec![frame("std::sys::backtrace::__rust_begin_short_backtrace", "", 1)]);
        let stacks: [&[u64]; 2] = [&[10, 70, 40, 80], &[10, 30, 40, 80]];
        let mut profile = profile(&stacks, vec![pair(0, 70), pair(1, 30)]);
        assert_eq!(leave_out_backtraces(&mut profile, &frames), 70);
        assert_eq!(profile.total().allocations, 30);
    }

    #[test]
    fn the_largest_caller_is_named_and_clones_are_those_of_the_call() {
        let frames = frames();
        let own = Own::new(&["app".into()], &frames);
        let place_of = |stack: &[u64]| {
            let frames: Vec<Result<&Frame, String>> = stack.iter().map(|at| Ok(&frames[at][0])).collect();
            own.place(&frames, &Origin::default())
        };
        let mut place = place_of(&[10, 20, 50, 40]);
        assert_eq!((&*place.function, place.dependency.as_deref()), ("rx::build", Some("rx")));
        assert_eq!(place.at.as_deref(), Some("rx-1.2.0/src/lib.rs:7"));
        let first = place.clone();
        place.add(0, &pair(0, 1), &first);
        place.add(1, &pair(0, 300), &place_of(&[10, 20, 30, 40]));
        place.name_caller();
        assert_eq!(place.called_from.as_deref(), Some("app::rewrite (src/main.rs:3) and 1 more"));
        let clone = place_of(&[10, 60, 60, 30, 40]);
        assert_eq!((&*clone.function, clone.at.as_deref()), ("app::rewrite", Some("src/main.rs:3")));
        assert!(clone.goes_through(&["clone"]) && clone.dependency.is_none());
    }

    #[test]
    fn a_text_is_made_by_the_code_that_asks_for_it() {
        let own = Own::new(&["app".into()], &frames());
        let mut write = frame("alloc::string::{impl#1}::write_str", "/rustc/1/library/alloc/src/string.rs", 3);
        write.implementor = Some("String".into());
        let to_string = frame("alloc::string::{impl#2}::spec_to_string", "/rustc/1/library/alloc/src/string.rs", 9);
        let (fmt, asks) = (frame("app::{impl#3}::fmt", "src/main.rs", 2), frame("app::draw", "src/main.rs", 7));
        let place = |frames: &[&Frame]| {
            own.place(&frames.iter().map(|frame| Ok(*frame)).collect::<Vec<_>>(), &Origin::default())
        };
        let found = place(&[&write, &fmt, &to_string, &asks]);
        assert_eq!((&*found.function, found.at.as_deref()), ("app::draw", Some("src/main.rs:7")));
        assert!(found.formats().is_some(), "{:?}", found.through);
        // What a `fmt` makes for itself is its own.
        assert_eq!(place(&[&to_string, &fmt, &asks]).at.as_deref(), Some("src/main.rs:2"));
    }

    #[test]
    fn texts_of_numbers_are_known_by_what_makes_them() {
        let place = |through: &[&str]| Place {
            through: through.iter().map(|function| (*function).into()).collect(),
            ..Place::default()
        };
        assert!(place(&["alloc::str::str::to_owned", "alloc::string::u64::spec_to_string"]).formats().is_some());
        assert!(
            place(&["alloc::string::str::spec_to_string", "alloc::string::u8::spec_to_string"]).formats() == Some("u8")
        );
        assert!(place(&["alloc::str::str::to_owned", "alloc::string::String::spec_to_string"]).formats().is_none());
        let cloned = place(&["alloc::string::String::clone"]);
        assert!(
            cloned.goes_through(&["clone", "to_owned"])
                && !cloned.goes_through(&["string"])
                && cloned.formats().is_none()
        );
    }
}
