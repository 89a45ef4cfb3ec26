use super::super::sites::Holder;
use super::*;
use dwell_debuginfo::{Kind, Type, TypeId};
use dwell_heap::profile::{Allocator, Counts, LIFETIMES};
use std::collections::BTreeMap;

/// A program with one type, of 24 bytes.
fn program() -> Program {
    let node = Type {
        name: "Node".into(),
        path: "app::Node".into(),
        size: 24,
        align: 8,
        kind: Kind::Opaque,
        params: Vec::new(),
        source: None,
        krate: "app".into(),
        own: true,
        public: false,
        unit: 0,
    };
    Program { types: vec![node], ..Program::default() }
}

/// A site of 10,000 blocks that were freed on their thread after 2^`bits` allocations.
fn site(what: &str, holder: Holder, bits: usize) -> Site {
    let mut lifetimes = [0; LIFETIMES];
    lifetimes[bits] = 10_000;
    let counts = Counts { allocations: 10_000, frees: 10_000, lifetimes, ..Counts::default() };
    Site {
        what: what.into(),
        holder,
        of_trait: None,
        types: BTreeMap::from([(TypeId(0), 10_000)]),
        pairs: Vec::new(),
        places: vec![Spot { counts: counts.clone(), ..Spot::default() }],
        counts,
        sizes: BTreeMap::from([(24, 10_000)]),
        allocator: Allocator::Glibc,
        root: None,
        consumed: 0,
        held: 0,
    }
}

/// Returns the kinds of the rules that propose something.
fn kinds(site: &Site, is_sampled: bool) -> Vec<&'static str> {
    let program = program();
    let cx = Context { program: &program, is_sampled, sources: Sources::default() };
    proposals(site, &cx).into_iter().map(|(kind, _)| kind).collect()
}

#[test]
fn trait_objects_go_to_the_pool_or_inline() {
    let mut boxes = site("Box<dyn Draw>", Holder::Box, 3);
    boxes.of_trait = Some("Draw".into());
    assert_eq!(kinds(&boxes, false), ["pool", "inline"]);
    boxes.of_trait = Some("FnOnce(u8)".into());
    assert_eq!(kinds(&boxes, false), ["pool", "inline"]);
    let cx = |program| Context { program, is_sampled: false, sources: Sources::default() };
    let of_closures = pool::Pool.propose(&boxes, &cx(&program())).unwrap();
    assert!(of_closures.how.contains("OnceFn"), "a box of an `FnOnce` is called by value: {}", of_closures.how);
    boxes.of_trait = Some("Future<Output=u8>".into());
    assert_eq!(kinds(&boxes, false), ["pool"], "a future does not move with its handle");
    boxes.of_trait = Some("Draw".into());
    boxes.sizes = BTreeMap::from([(200, 10_000)]);
    assert_eq!(kinds(&boxes, true), ["pool"], "25 words are too many for inline storage");
}

#[test]
fn counted_values_go_to_the_pool() {
    let program = program();
    let cx = Context { program: &program, is_sampled: false, sources: Sources::default() };
    let place =
        |what: &str| counted::Counted.propose(&site(what, Holder::Counted, 3), &cx).map(|proposal| proposal.place);
    assert_eq!((place("Rc<Node>"), place("Arc<Node>")), (Some(Place::Pool), Some(Place::SyncSlab)));
    assert_eq!(kinds(&site("Rc<Node>", Holder::Counted, 3), false), ["counted"]);
    let mut large = site("Rc<Node>", Holder::Counted, 3);
    large.sizes = BTreeMap::from([(4096, 10_000)]);
    assert!(counted::Counted.propose(&large, &cx).is_none());
    let mut objects = site("Arc<dyn Draw>", Holder::Counted, 3);
    objects.of_trait = Some("Draw".into());
    assert_eq!(kinds(&objects, false), Vec::<&str>::new(), "a counted trait object has no place in this library");
}

#[test]
fn boxes_of_one_type_go_to_a_slab_by_threads() {
    let mut boxes = site("Box<Node>", Holder::Box, 12);
    let program = program();
    let cx = Context { program: &program, is_sampled: false, sources: Sources::default() };
    assert_eq!(slab::Slab.propose(&boxes, &cx).unwrap().place, Place::Slab);
    boxes.counts.foreign = 1;
    assert_eq!(slab::Slab.propose(&boxes, &cx).unwrap().place, Place::SyncSlab);
    boxes.sizes = BTreeMap::from([(4096, 10_000)]);
    assert!(slab::Slab.propose(&boxes, &cx).is_none());
}

/// lru's entries and rayon's jobs: nothing was said of them, and `Pooled` saves 16 % and 46 % of their programs' time.
#[test]
fn boxes_of_a_generic_type_go_to_the_pool_of_the_thread() {
    let mut boxes = site("Box<Entry<u64>>", Holder::Box, 12);
    let mut program = program();
    let params = vec![dwell_debuginfo::Param { name: "K".into(), ty: TypeId(0) }];
    program.types[0] =
        Type { name: "Entry<u64>".into(), path: "app::Entry<u64>".into(), params, ..program.types[0].clone() };
    let cx = Context { program: &program, is_sampled: false, sources: Sources::default() };
    let proposal = slab::Slab.propose(&boxes, &cx).unwrap();
    assert_eq!((proposal.place, proposal.edits.len()), (Place::Pool, 0));
    assert!(proposal.instead.contains("Pooled<Entry<..>>"), "{}", proposal.instead);
    boxes.counts.foreign = 1;
    assert!(slab::Slab.propose(&boxes, &cx).is_none());
}

#[test]
fn blocks_dropped_together_go_to_an_arena_with_their_root() {
    let mut boxes = site("Box<Node>", Holder::Box, 12);
    boxes.counts.together = 9000;
    boxes.root = Some("Tree".into());
    assert_eq!(kinds(&boxes, false), ["slab", "arena"]);
    assert_eq!(kinds(&boxes, true), ["slab"], "a sampled run does not see the order of frees");
    let program = program();
    let cx = Context { program: &program, is_sampled: false, sources: Sources::default() };
    assert!(arena::Arena.propose(&boxes, &cx).unwrap().instead.contains("`Tree`"));
    boxes.places[0].dependency = Some("other".into());
    assert_eq!(kinds(&boxes, false), Vec::<&str>::new(), "the boxes of a dependency stay where they are");
    boxes.places.push(Spot::default());
    assert_eq!(kinds(&boxes, false), ["slab"], "its types get no lifetime");
    boxes.places.pop();
    let mut text = site("String", Holder::Text, 1);
    text.places[0].dependency = Some("other".into());
    assert_eq!(kinds(&text, false), Vec::<&str>::new(), "the code of a dependency does not change");
    boxes.places[0].dependency = None;
    boxes.counts.foreign = 5;
    assert_eq!(kinds(&boxes, false), ["slab"]);
}

#[test]
fn texts_are_reused_borrowed_or_held_by_another_type() {
    let mut text = site("String", Holder::Text, 1);
    let program = program();
    let cx = Context { program: &program, is_sampled: false, sources: Sources::default() };
    let instead = |text: &Site| text::Text.propose(text, &cx).map(|proposal| proposal.instead);
    assert_eq!(kinds(&text, false), ["buffer", "text"]);
    assert_eq!(instead(&text).as_deref(), Some("`CompactString`"), "short texts that come and go");
    text.sizes = BTreeMap::from([(25, 10_000)]);
    assert_eq!(kinds(&text, false), ["buffer"], "no other type is faster for longer ones");
    text.sizes = BTreeMap::from([(8, 10_000), (16, 9_000), (32, 1_000)]);
    text.counts.reallocations = 10_000;
    assert_eq!(instead(&text).as_deref(), Some("`CompactString`"), "9,000 of those that grew end short");
    text.sizes = BTreeMap::from([(8, 10_000), (32, 20_000)]);
    text.counts.reallocations = 20_000;
    assert_eq!(kinds(&text, false), ["capacity", "buffer"]);
    text.places[0].through = vec!["alloc::string::String::write_str".into(), "alloc::fmt::format::format_inner".into()];
    assert_eq!(kinds(&text, false), ["buffer"], "no line states the length of what `format!` makes");
    text.counts.reallocations = 0;
    text.places[0].through = vec!["alloc::string::String::clone".into()];
    assert_eq!(kinds(&text, false), ["buffer", "borrow", "text"]);
    assert_eq!(instead(&text).as_deref(), Some("`Rc<str>`"));
    text.held = 9_000;
    assert_eq!(kinds(&text, false), ["buffer", "text"], "a type that holds copies gets no lifetime");
    let mut kept = site("String", Holder::Text, 15);
    kept.places[0].through = vec!["alloc::string::String::clone".into()];
    assert_eq!(instead(&kept).as_deref(), Some("`Rc<str>`"), "no clone of a short text is made anew");
    kept.places[0].counts.allocations = 6_000;
    assert_eq!(instead(&kept).as_deref(), Some("`CompactString`"), "4,000 of them are");
    kept.places[0].counts.allocations = 10_000;
    kept.sizes = BTreeMap::from([(25, 10_000)]);
    kept.counts.reallocations = 1;
    assert_eq!(kinds(&kept, false), Vec::<&str>::new(), "texts that grow are changed, and are not shared");
}

#[test]
fn one_line_comes_before_a_buffer() {
    let suggestion =
        |kind: &str, saves| Suggestion { kind: kind.into(), saves: [0, saves, 0], pays: true, ..Suggestion::default() };
    let all =
        [suggestion("buffer", 400), suggestion("borrow", 300), suggestion("capacity", 100), suggestion("capacity", 99)];
    let order = |mut numbers: [usize; 3]| {
        prefer(&mut numbers, &all);
        numbers
    };
    assert_eq!([order([0, 1, 2]), order([0, 1, 3]), order([2, 0, 1])], [[2, 0, 1], [0, 1, 3], [2, 0, 1]]);
}

#[test]
fn texts_of_numbers_are_not_borrowed() {
    let mut text = site("String", Holder::Text, 1);
    text.places[0].through = vec!["alloc::str::str::to_owned".into(), "alloc::string::u64::spec_to_string".into()];
    assert_eq!(kinds(&text, false), ["buffer", "text"]);
    let program = program();
    let cx = Context { program: &program, is_sampled: false, sources: Sources::default() };
    let instead = |text: &Site| buffer::Buffer.propose(text, &cx).unwrap().instead;
    assert!(instead(&text).ends_with("the crate itoa"));
    text.places[0].through = vec!["alloc::string::f64::spec_to_string".into()];
    assert!(instead(&text).ends_with("the crate ryu"));
    text.places[0].through = vec!["alloc::string::P::spec_to_string".into()];
    assert_eq!(instead(&text), "`write!` into a buffer that is cleared");
}

#[test]
fn maps_that_grow_state_their_capacity() {
    let mut map = site("HashMap<u64, u64>", Holder::Table, 1);
    map.sizes = BTreeMap::from([(84, 2500), (148, 2500), (276, 2500), (532, 2500)]);
    assert_eq!(kinds(&map, false), Vec::<&str>::new(), "nothing shows that these grew");
    map.places[0].through = vec!["hashbrown::raw::RawTable::reserve_rehash".into()];
    assert_eq!(kinds(&map, false), ["table"]);
    let program = program();
    let cx = Context { program: &program, is_sampled: false, sources: Sources::default() };
    let proposal = table::Table.propose(&map, &cx).unwrap();
    assert!(proposal.why.starts_with("10,000 tables of 2,500 maps (4.0 each) up to 532 B"), "{}", proposal.why);
    let Saved::Tables { part, moved } = proposal.saved else { panic!("tables are saved") };
    assert_eq!((part * 100.0, moved), (75.0, (3 + 7 + 14) * 2500));
    map.sizes = BTreeMap::from([(532, 10_000)]);
    assert_eq!(kinds(&map, false), Vec::<&str>::new(), "one table each");
}

#[test]
fn vectors_that_are_iterated_over_are_not_collected() {
    let mut vector = site("Vec<Node>", Holder::Sequence, 12);
    vector.sizes = BTreeMap::from([(480, 10_000)]);
    vector.places[0].through = vec!["alloc::vec::spec_from_iter_nested::from_iter".into()];
    assert_eq!(kinds(&vector, false), Vec::<&str>::new());
    vector.consumed = 9_500;
    assert_eq!(kinds(&vector, false), ["collected"]);
    vector.sizes = BTreeMap::from([(24, 9_900), (48, 100)]);
    assert_eq!(kinds(&vector, false), ["collected", "short"]);
    vector.counts.live = 6_000;
    assert_eq!(kinds(&vector, false), ["collected"]);
}

#[test]
fn arenas_are_for_values_that_own_nothing_else() {
    let mut boxes = site("Vec<String>", Holder::Sequence, 12);
    boxes.counts.together = 9000;
    boxes.root = Some("Tree".into());
    boxes.types.clear();
    assert_eq!(kinds(&boxes, false), Vec::<&str>::new(), "an arena drops no texts");
    boxes.what = "Vec<u8>".into();
    assert_eq!(kinds(&boxes, false), ["arena"]);
    boxes.root = Some("Rc<Tree>".into());
    assert_eq!(kinds(&boxes, false), Vec::<&str>::new(), "the sharers of a tree drop it");
}

#[test]
fn boxes_freed_at_once_are_hoisted() {
    let mut boxes = site("Box<Node>", Holder::Box, 0);
    boxes.counts.temporary = 10_000;
    assert_eq!(kinds(&boxes, false), ["slab", "hoist"]);
    boxes.counts.temporary = 5_000;
    assert_eq!(kinds(&boxes, false), ["slab"]);
}

#[test]
fn few_or_unknown_blocks_are_no_evidence() {
    assert_eq!(kinds(&site("?", Holder::Other, 0), false), Vec::<&str>::new());
    let mut few = site("String", Holder::Text, 1);
    few.counts.allocations = 50;
    let program = program();
    let cx = Context { program: &program, is_sampled: false, sources: Sources::default() };
    let profile = dwell_heap::profile::Profile::default();
    let calibration = dwell_calibrate::Calibration::default();
    let (model, _) = Model::new(&profile, &calibration, &super::super::document::Again::default());
    assert!(of_site(&few, Both { own: Costs::default(), other: Costs::default() }, &model, 1000, &cx).is_empty());
}

#[test]
fn edits_name_a_place_of_the_workspace() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("a.rs"), "fn f() {\n    let x: Box<dyn Op> = Box::new(y);\n}\n").unwrap();
    let sources = Sources::new(Some(folder.path()));
    let spot = |line| Spot { source: Some(("a.rs".into(), line)), ..Spot::default() };
    let of_dependency = Spot { dependency: Some("other".into()), ..spot(2) };
    let to = "dwell::slab::Pooled<dyn Op>";
    let edits = sources.everywhere(&[of_dependency.clone(), spot(9), spot(2)], "Box<dyn Op>", to.into());
    assert_eq!(edits.len(), 1);
    assert_eq!((edits[0].line, &*edits[0].item, &*edits[0].from, &*edits[0].to), (2, "Box<dyn Op>", "Box<dyn Op>", to));
    assert!(sources.everywhere(&[of_dependency], "Box<dyn Op>", to.into()).is_empty());
    assert_eq!((last_name("core::ops::Fn<(u8,)>"), last_name("dyn_op::Op + Send")), ("Fn", "Op"));
    assert_eq!(last_name("[app::Segment; 4]"), "[app::Segment; 4]");
}

#[test]
#[expect(clippy::float_cmp, reason = "products of small whole numbers are exact")]
fn what_std_does_beside_the_allocator_is_saved_too() {
    let cost = |instructions: f64| Cost { nanos: 0.0, instructions };
    let calibration = Calibration { grown: cost(50.0), cloned: cost(30.0), ..Calibration::default() };
    let beside = |function: &str, place: Place| {
        let mut text = site("String", Holder::Text, 1);
        text.places[0].through = vec![function.into()];
        beside_allocator(&text, place, &calibration).instructions / 10_000.0
    };
    assert_eq!(beside("alloc::raw_vec::RawVec::grow_one", Place::Buffer), 50.0);
    assert_eq!(
        (beside("alloc::string::clone", Place::Shared), beside("alloc::string::clone", Place::Borrowed)),
        (30.0, 30.0)
    );
    // A buffer gets the copy too, and a slab does not change what a value costs beside its block.
    assert_eq!(
        (beside("alloc::string::clone", Place::Buffer), beside("alloc::string::clone", Place::Slab)),
        (0.0, 0.0)
    );
}
