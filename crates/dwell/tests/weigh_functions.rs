//! `Weigh` for function pointers and closures: types with `for<'a>`, which `#[derive(Weigh)]` covers by subtyping.
#![cfg(all(feature = "std", feature = "derive"))]
#![allow(
    dead_code,
    clippy::trivially_copy_pass_by_ref,
    clippy::type_complexity,
    reason = "the fields are weighed, not read, and their types are what is tested"
)]

use dwell::Weigh;
use dwell::weigh::{Edge, Reach, Tree};
use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap};
use std::ffi::{c_char, c_int};
use std::fmt;
use std::marker::PhantomData;
use std::rc::Rc;
use std::sync::{Arc, Mutex};

/// Returns the tree of a value, after comparing its total with that of the other walk.
fn tree<T: Weigh + ?Sized>(value: &T) -> Tree {
    let tree = dwell::weigh::tree(value);
    assert_eq!(tree.weight, dwell::weigh(value));
    assert!(tree.weight.is_exact());
    tree
}

fn heap<T: Weigh + ?Sized>(value: &T) -> u64 {
    tree(value).weight.heap
}

type Alias<T> = fn(&T) -> Option<&T>;

/// A type with a lifetime that a signature may leave out.
struct Text<'t>(&'t str);

#[derive(Weigh)]
struct Direct {
    name: String,
    length: fn(&str) -> usize,
    named: for<'a> fn(&'a str, &str) -> &'a str,
    mutable: fn(&mut Vec<u8>, &[u8]) -> Result<(), fmt::Error>,
    hidden: fn(&mut fmt::Formatter<'_>) -> fmt::Result,
    in_a_type: fn(Text<'_>, Option<&str>, &'static str) -> usize,
    unsafe_one: unsafe fn(*const u8, &u8),
    foreign: extern "C" fn(&u8) -> c_int,
    unsafe_foreign: unsafe extern "C" fn(&u8, c_int) -> &u8,
    unwinding: extern "C-unwind" fn(&u8),
    system: unsafe extern "system" fn(&u8),
    variadic: unsafe extern "C" fn(*const c_char, ...) -> c_int,
    named_arguments: fn(left: &u8, right: &u8) -> bool,
    never: fn(&u8) -> !,
    nested: fn(fn(&str) -> usize, &dyn Fn(&u8) -> u8) -> fn(&u8) -> u8,
    many: fn(&u8, &u8, &u8, &u8, &u8, &u8, &u8, &u8, &u8, &u8, &u8, &u8) -> u8,
    plain: fn(u8) -> u8,
}

extern "C" fn foreign(_: &u8) -> c_int {
    0
}
unsafe extern "C" fn unsafe_foreign(of: &u8, _: c_int) -> &u8 {
    of
}
extern "C-unwind" fn unwinding(_: &u8) {}
unsafe extern "system" fn system(_: &u8) {}
unsafe extern "C" {
    fn printf(format: *const c_char, ...) -> c_int;
}
unsafe fn unsafe_one(_: *const u8, _: &u8) {}
fn never(_: &u8) -> ! {
    panic!("not called")
}
#[expect(clippy::too_many_arguments, reason = "what is tested")]
fn many(a: &u8, _: &u8, _: &u8, _: &u8, _: &u8, _: &u8, _: &u8, _: &u8, _: &u8, _: &u8, _: &u8, _: &u8) -> u8 {
    *a
}

fn direct() -> Direct {
    Direct {
        name: "abc".into(),
        length: str::len,
        named: |left, _| left,
        mutable: |to, from| {
            to.extend(from);
            Ok(())
        },
        hidden: |f| f.write_str("x"),
        in_a_type: |text, _, _| text.0.len(),
        unsafe_one,
        foreign,
        unsafe_foreign,
        unwinding,
        system,
        variadic: printf,
        named_arguments: |left, right| left == right,
        never,
        nested: |_, _| |of| *of,
        many,
        plain: |of| of,
    }
}

#[test]
fn function_pointers_of_every_form_are_plain() {
    let tree = tree(&direct());
    assert_eq!((tree.weight.inline, tree.weight.heap), (24 + 16 * size_of::<fn()>() as u64, 3));
    let fields: Vec<_> = tree.nodes[0].children.iter().map(|child| &tree.nodes[*child]).collect();
    assert!(fields.iter().all(|node| matches!(node.edge, Edge::Field(_))) && fields.len() == 17);
    for node in &fields[1..] {
        assert_eq!((node.ty.reach, node.size, node.ty.has_niche), (Reach::Plain, size_of::<fn()>() as u64, true));
    }
    assert_eq!(fields[1].ty.name(), "fn(&str) -> usize");
    assert!(tree.to_json().contains("fn(&str) -> usize"));
    assert!(tree.advise().suggestions.iter().all(|made| made.path == "Direct.name"));
}

#[derive(Weigh)]
struct Nested<'s, T, const N: usize> {
    option: Option<fn(&str) -> &str>,
    list: Vec<for<'a> fn(&'a T) -> &'a T>,
    array: [fn(&'s str, &T) -> bool; N],
    tuple: (fn(&T), u8, Option<fn(&mut T)>),
    boxed: Box<[unsafe fn(&T)]>,
    shared: Arc<fn(&T, &'s str)>,
    map: HashMap<String, fn(&[T], &str) -> Result<(), String>>,
    sorted: BTreeMap<u8, Vec<Option<fn(&T)>>>,
    of_box: Box<fn(&Self)>,
    lent: &'s fn(&T),
    phantom: PhantomData<fn(&T) -> &T>,
    phantom_object: PhantomData<dyn Fn(&T) -> &T>,
}

struct NoWeigh(#[expect(dead_code, reason = "only its type matters")] u8);

#[test]
fn function_pointers_in_containers_are_weighed() {
    fn run(_: &NoWeigh) {}
    fn same(of: &NoWeigh) -> &NoWeigh {
        of
    }
    let text = String::from("x");
    let lent: fn(&NoWeigh) = run;
    let of = Nested::<NoWeigh, 2> {
        option: Some(|text| text),
        list: vec![same, same],
        array: [|_, _| true, |_, _| false],
        tuple: (run, 0, None),
        boxed: Box::new([run]),
        shared: Arc::new(|_, _| ()),
        map: HashMap::from([("one".into(), (|_, _| Ok(())) as fn(&[NoWeigh], &str) -> _)]),
        sorted: BTreeMap::from([(1, vec![Some(run as fn(&NoWeigh)), None])]),
        of_box: Box::new(|_| ()),
        lent: &lent,
        phantom: PhantomData,
        phantom_object: PhantomData,
    };
    assert!(of.array[0](&text, &NoWeigh(1)));
    let tree = dwell::weigh::tree(&of);
    assert_eq!(tree.weight, dwell::weigh(&of));
    let node = |name: &str| {
        let found = tree.nodes[0].children.iter().find(|child| tree.label(**child) == name);
        &tree.nodes[*found.unwrap()]
    };
    let word = size_of::<fn()>() as u64;
    assert_eq!((node("list").heap, node("boxed").heap, node("shared").heap), (2 * word, word, 3 * word));
    assert_eq!(node("of_box").heap, word);
    assert_eq!((node("option").filled, node("array").size), (1, 2 * word));
    // A tree follows the options in the vector in the map.
    let value = &tree.nodes[node("sorted").children[1]];
    let option = &tree.nodes[value.children[0]];
    assert_eq!((value.heap, option.slots, option.filled), (2 * word, 2, 1));
}

#[derive(Weigh)]
enum Action {
    Nothing,
    Call(fn(&str) -> usize),
    Named { before: Vec<fn(&Self)>, run: Box<dyn Fn(&str) -> usize + Send> },
}

#[test]
fn function_pointers_in_variants_are_weighed() {
    let word = size_of::<fn()>() as u64;
    let text = String::from("abc");
    let run: Box<dyn Fn(&str) -> usize + Send> = Box::new(move |of| of.len() + text.len());
    let of = vec![Action::Nothing, Action::Call(str::len), Action::Named { before: vec![|_| ()], run }];
    let size = size_of::<Action>() as u64;
    // The closure is opaque: its text is not counted.
    assert_eq!(heap(&of), 3 * size + word + 24);
}

#[derive(Weigh)]
struct Closures<'s, T> {
    plain: Box<dyn Fn(u8) -> u8>,
    lent: Box<dyn Fn(&T) -> Option<&T> + Send + Sync + 's>,
    mutable: Vec<Box<dyn for<'a> FnMut(&'a mut T, &str) -> &'a T + 's>>,
    once: Option<Box<dyn FnOnce(&T) + Send>>,
    shared: Rc<dyn Fn(&str, &dyn Fn(&u8))>,
    iterator: Box<dyn Iterator<Item = u8> + 's>,
    error: Box<dyn std::error::Error + Send + Sync + 's>,
    debug: Box<dyn fmt::Debug + 's>,
}

#[test]
fn closures_that_take_references_are_opaque() {
    #[derive(Debug)]
    struct Failed<'s>(&'s str);
    impl fmt::Display for Failed<'_> {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str(self.0)
        }
    }
    impl std::error::Error for Failed<'_> {}

    let text = String::from("abc");
    let lent = text.as_str();
    let of = Closures::<NoWeigh> {
        plain: Box::new(|of| of),
        lent: Box::new(move |of| (!lent.is_empty()).then_some(of)),
        mutable: vec![Box::new(move |of, text| {
            assert_ne!(text, lent);
            of
        })],
        once: Some(Box::new(|_| ())),
        shared: Rc::new(|_, _| ()),
        iterator: Box::new(lent.bytes()),
        error: Box::new(Failed(lent)),
        debug: Box::new(lent),
    };
    // Three texts of two words, an iterator of two, a vector with a box of two, and a closure of one.
    let weight = dwell::weigh(&of);
    assert_eq!(dwell::weigh::tree(&of).weight, weight);
    assert_eq!(weight.heap, (2 + (2 + 2) + 2 + 2 + 2 + 2) * 8);
}

#[derive(Weigh)]
struct Cells<T> {
    all: RefCell<Vec<Box<dyn Fn(&T)>>>,
    shared: Arc<Mutex<Vec<Box<dyn FnMut(&mut T, &str) -> usize + Send>>>>,
    one: Mutex<Option<fn(&T) -> &str>>,
    once: std::sync::OnceLock<unsafe extern "C" fn(&mut T, u8)>,
}

#[test]
fn functions_in_cells_are_weighed() {
    let of = Cells::<u8> {
        all: RefCell::new(vec![Box::new(|_| ())]),
        shared: Arc::new(Mutex::new(vec![Box::new(|_, text| text.len())])),
        one: Mutex::new(Some(|_| "x")),
        once: std::sync::OnceLock::new(),
    };
    let lock = size_of::<Mutex<Vec<Box<dyn FnMut()>>>>() as u64;
    assert_eq!(heap(&of), 16 + (16 + lock) + 16);
    let plain: Vec<fn(&str) -> usize> = vec![str::len];
    assert_eq!(heap(&plain), 8);
    let objects: [Box<dyn Fn(&str, &mut u8) -> usize>; 1] = [Box::new(|text, _| text.len())];
    assert_eq!(heap(&objects), 0);
}

#[derive(Weigh)]
struct Generic<F> {
    calls: Vec<F>,
}

#[derive(Weigh)]
struct OfGeneric {
    all: Generic<fn(&str) -> usize>,
    alias: Alias2,
    // Invariant, and not higher-ranked.
    cell: RefCell<Vec<fn(u8) -> u8>>,
    lock: Mutex<Option<fn()>>,
}

type Alias2 = fn(u8, String) -> u8;

#[test]
fn function_pointers_are_arguments_of_other_types() {
    let of = OfGeneric {
        all: Generic { calls: vec![str::len] },
        alias: |of, _| of,
        cell: RefCell::new(vec![|of| of]),
        lock: Mutex::new(None),
    };
    assert_eq!(heap(&of), 2 * size_of::<fn()>() as u64);
    let _: Option<Alias<u8>> = None;
}

#[test]
fn predictions_know_the_niche_of_a_function_pointer() {
    #[derive(Weigh)]
    struct Command {
        run: Option<unsafe extern "C" fn(&u8, c_int) -> &u8>,
        more: Option<[u64; 8]>,
    }
    let of: Vec<Command> = (0..10).map(|_| Command { run: None, more: None }).collect();
    let tree = tree(&of);
    let advice = tree.advise();
    assert_eq!(advice.suggestions[0].path, "Command.more");
    assert_eq!(advice.suggestions[0].type_size, [80, 16]);
    assert!(advice.suggestions[0].is_exact);
}
