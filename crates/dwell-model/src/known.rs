//! The layouts and blocks that an evaluation has computed, and what has to be computed again after a change.

use super::layout::Layout;
use super::program::{DefId, Program, Shape, SiteId};
use core::cmp::Reverse;
use core::num::Saturating;
use core::ops::{AddAssign, SubAssign};
use std_alloc::collections::BinaryHeap;
use std_alloc::vec;
use std_alloc::vec::Vec;

/// A number in a sum. Sums and products saturate, since the counts of a wrong `Weigh` or of a damaged document may have any
/// value.
pub(super) type Wide = Saturating<i128>;

/// The most bytes of one part. No program has so many parts that their sum saturates, so a part that was added can be
/// subtracted.
const MOST: i128 = 1 << 96;

pub(super) fn wide(n: u64) -> Wide {
    Saturating(n.into())
}

pub(super) fn change_of(new: u64, old: u64) -> Wide {
    wide(new) - wide(old)
}

/// Bytes and allocations of one site or type, or of all.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Part {
    pub(super) bytes: Wide,
    pub(super) allocations: Wide,
    /// The number of layouts that are guessed.
    pub(super) guesses: Wide,
}

impl Part {
    /// Adds blocks of the same size. Zero-size values take no block.
    pub(super) fn add(&mut self, blocks: u64, size: u64) {
        if size != 0 {
            self.bytes += wide(blocks) * wide(size);
            self.allocations += wide(blocks);
        }
    }

    /// Notes that the bytes are an estimate.
    pub(super) fn guess(&mut self) {
        self.guesses += 1;
    }

    fn bounded(self) -> Self {
        let bounded = |n: Wide| Saturating(n.0.clamp(-MOST, MOST));
        Self { bytes: bounded(self.bytes), allocations: bounded(self.allocations), guesses: bounded(self.guesses) }
    }
}

impl AddAssign for Part {
    fn add_assign(&mut self, other: Self) {
        self.bytes += other.bytes;
        self.allocations += other.allocations;
        self.guesses += other.guesses;
    }
}

impl SubAssign for Part {
    fn sub_assign(&mut self, other: Self) {
        self.bytes -= other.bytes;
        self.allocations -= other.allocations;
        self.guesses -= other.guesses;
    }
}

/// What has a layout, and owns blocks.
#[derive(Clone, Copy, Debug)]
pub(super) enum Node {
    /// The values of a site.
    Site(SiteId),
    /// A struct or enum. Its boxed variants own blocks.
    Def(DefId),
}

/// The order in which layouts are computed, and what depends on each.
#[derive(Debug)]
pub(super) struct Graph {
    // # Invariants
    //
    // 1. Nodes are numbered: the sites first, then the structs and enums.
    // 2. `ranks` is the inverse of `order`.
    /// The number of sites.
    sites: usize,
    /// The nodes that contain a value of each node inline.
    users: Vec<Vec<usize>>,
    /// The sites whose blocks contain values of each node.
    owners: Vec<Vec<SiteId>>,
    /// All nodes, each after those that its layout depends on.
    order: Vec<usize>,
    /// The position of each node in the order.
    ranks: Vec<usize>,
}

impl Graph {
    pub(super) fn new(program: &Program) -> Self {
        let (sites, all) = (program.sites.len(), program.sites.len() + program.defs.len());
        let (mut users, mut owners) = (vec![Vec::new(); all], vec![Vec::new(); all]);
        for (def, definition) in program.defs.iter().enumerate() {
            for field in definition.variants.iter().flat_map(|variant| &variant.fields) {
                users[field.site].push(sites + def);
            }
        }
        for (site, field) in program.sites.iter().enumerate() {
            match field.shape {
                Shape::Leaf | Shape::Text(_) => {}
                Shape::Def(def) => users[sites + def].push(site),
                Shape::Tuple(_) | Shape::Optional { .. } | Shape::Wrapper(_) | Shape::Array(..) => {
                    program.parts(site).into_iter().for_each(|part| users[part].push(site));
                }
                Shape::Sequence(..) | Shape::Map(..) => {
                    program.parts(site).into_iter().for_each(|part| owners[part].push(site));
                }
                Shape::Pointer(_, to) => {
                    owners[to].push(site);
                    // The elements of a boxed slice are in the block of the box.
                    if let Shape::Sequence(_, element) = program.sites[to].shape {
                        owners[element].push(site);
                    }
                }
            }
        }
        let order = order(&users);
        let mut ranks = vec![0; all];
        order.iter().enumerate().for_each(|(rank, &node)| ranks[node] = rank);
        Self { sites, users, owners, order, ranks }
    }

    fn number(&self, node: Node) -> usize {
        match node {
            Node::Site(site) => site,
            Node::Def(def) => self.sites + def,
        }
    }

    fn node(&self, number: usize) -> Node {
        number.checked_sub(self.sites).map_or(Node::Site(number), Node::Def)
    }
}

/// Returns all nodes, each before its users (Kahn, "Topological sorting of large networks", 1962). Types that contain themselves
/// inline come last; only a damaged document has such types.
fn order(users: &[Vec<usize>]) -> Vec<usize> {
    let mut missing = vec![0_usize; users.len()];
    users.iter().flatten().for_each(|&user| missing[user] += 1);
    let mut order: Vec<usize> = (0..users.len()).filter(|&node| missing[node] == 0).collect();
    let mut at = 0;
    while let Some(&node) = order.get(at) {
        at += 1;
        for &user in &users[node] {
            missing[user] -= 1;
            if missing[user] == 0 {
                order.push(user);
            }
        }
    }
    order.extend((0..users.len()).filter(|&node| missing[node] != 0));
    order
}

/// The layouts and blocks of a plan.
///
/// A change opens its target. An open layout is computed again, and opens what depends on it only if it has changed.
#[derive(Clone, Debug)]
pub(super) struct Known {
    layouts: Vec<Layout>,
    /// The blocks of the values of each site, and of the boxed variants of each enum.
    parts: Vec<Part>,
    /// The sum of `parts`.
    sum: Part,
    /// The ranks of the layouts that have to be computed again, the least on top. A rank may be there twice.
    open: BinaryHeap<Reverse<usize>>,
    /// The nodes whose blocks have to be computed again, each once.
    open_parts: Vec<usize>,
    is_open_part: Vec<bool>,
    /// What a trial has replaced; `None` outside of one.
    trial: Option<Trial>,
    /// The number of the last change that is no trial, for each node that it computed again, and of the last one of all.
    changed: Vec<u32>,
    now: u32,
}

/// What a trial has replaced, in this order.
#[derive(Clone, Debug, Default)]
struct Trial {
    layouts: Vec<(usize, Layout)>,
    parts: Vec<(usize, Part)>,
    sum: Part,
}

/// The result of a trial: a number that holds until one of the nodes is computed again.
#[derive(Clone, Debug, Default)]
pub(super) struct Tried {
    nodes: Vec<u32>,
    at: u32,
}

impl Known {
    /// Creates the state in which all has to be computed.
    pub(super) fn nothing(program: &Program, graph: &Graph) -> Self {
        let own = program.sites.iter().map(|site| site.own).chain(program.defs.iter().map(|def| def.own));
        let all = graph.order.len();
        Self {
            layouts: own.collect(),
            parts: vec![Part::default(); all],
            sum: Part::default(),
            open: (0..all).map(Reverse).collect(),
            open_parts: Vec::new(),
            is_open_part: vec![false; all],
            trial: None,
            changed: vec![0; all],
            now: 0,
        }
    }

    /// Begins a trial. Nothing may be open.
    pub(super) fn begin(&mut self) {
        self.trial = Some(Trial { sum: self.sum, ..Trial::default() });
    }

    /// Ends a trial: all is as before. Returns the nodes that it has computed.
    pub(super) fn end(&mut self) -> Tried {
        let Some(Trial { layouts, parts, sum }) = self.trial.take() else { return Tried::default() };
        self.open.clear();
        for number in self.open_parts.drain(..) {
            self.is_open_part[number] = false;
        }
        let mut nodes: Vec<u32> = Vec::with_capacity(parts.len());
        // Each node whose layout was computed has its part, too.
        for &(number, part) in parts.iter().rev() {
            self.parts[number] = part;
            nodes.extend(u32::try_from(number));
        }
        layouts.iter().rev().for_each(|&(number, layout)| self.layouts[number] = layout);
        self.sum = sum;
        Tried { nodes, at: self.now }
    }

    /// Returns `true` if a trial would have the same effect again.
    pub(super) fn is_same(&self, tried: &Tried) -> bool {
        tried.nodes.iter().all(|&node| self.changed[node as usize] <= tried.at)
    }

    /// Begins to compute what is open. Outside of a trial that is a change.
    pub(super) fn change(&mut self) {
        if self.trial.is_none() && !(self.open.is_empty() && self.open_parts.is_empty()) {
            self.now += 1;
        }
    }

    pub(super) fn layout(&self, node: Node, graph: &Graph) -> Layout {
        self.layouts[graph.number(node)]
    }

    pub(super) fn sum(&self) -> Part {
        self.sum
    }

    /// Opens a layout, with its blocks.
    pub(super) fn open(&mut self, node: Node, graph: &Graph) {
        self.open.push(Reverse(graph.ranks[graph.number(node)]));
    }

    /// Takes an open layout that depends on no other open one.
    pub(super) fn take_open(&mut self, graph: &Graph) -> Option<Node> {
        let Reverse(rank) = self.open.pop()?;
        while self.open.peek() == Some(&Reverse(rank)) {
            self.open.pop();
        }
        Some(graph.node(graph.order[rank]))
    }

    /// Sets a layout, and opens what depends on it if it has changed.
    pub(super) fn set_layout(&mut self, node: Node, layout: Layout, graph: &Graph) {
        let number = graph.number(node);
        self.open_part(number);
        if self.layouts[number] == layout {
            return;
        }
        if let Some(trial) = &mut self.trial {
            trial.layouts.push((number, self.layouts[number]));
        }
        self.layouts[number] = layout;
        for &user in &graph.users[number] {
            // The users of a type that contains itself are not computed without end.
            if graph.ranks[user] > graph.ranks[number] {
                self.open.push(Reverse(graph.ranks[user]));
            }
        }
        graph.owners[number].iter().for_each(|&site| self.open_part(site));
    }

    fn open_part(&mut self, number: usize) {
        if !self.is_open_part[number] {
            self.is_open_part[number] = true;
            self.open_parts.push(number);
        }
    }

    /// Takes a node whose blocks are open.
    pub(super) fn take_open_part(&mut self, graph: &Graph) -> Option<Node> {
        let number = self.open_parts.pop()?;
        self.is_open_part[number] = false;
        Some(graph.node(number))
    }

    /// Sets the blocks of a node.
    pub(super) fn set_part(&mut self, node: Node, part: Part, graph: &Graph) {
        let number = graph.number(node);
        let old = &mut self.parts[number];
        match &mut self.trial {
            Some(trial) => trial.parts.push((number, *old)),
            None => self.changed[number] = self.now,
        }
        self.sum -= *old;
        *old = part.bounded();
        self.sum += *old;
    }
}

#[cfg(test)]
mod tests {
    use super::super::search::Edit;
    use super::super::{Change, Counts, Def, Edge, FieldDef, Holder, Plan, ReprOf, Site, VariantDef};
    use super::*;
    use std_alloc::string::String;

    /// A linear congruential generator.
    struct Random(u64);

    impl Random {
        fn below(&mut self, most: u64) -> u64 {
            self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (self.0 >> 33) % most
        }

        fn index(&mut self, len: usize) -> usize {
            usize::try_from(self.below(len as u64)).unwrap()
        }
    }

    /// Returns a program of structs and enums, each of which may contain those before it.
    fn program(random: &mut Random) -> Program {
        let mut program = Program { inline: 8, ..Program::default() };
        for def in 0..12 {
            let is_enum = random.below(2) == 0;
            let variants = if is_enum { 1 + random.index(4) } else { 1 };
            let variants = (0..variants).map(|variant| {
                let fields = (0..random.index(4)).map(|_| {
                    let site = site(random, &mut program, def);
                    FieldDef { name: String::new(), attributes: "", site }
                });
                let fields: Vec<FieldDef> = fields.collect();
                let counts = Counts { filled: random.below(9), ..Counts::default() };
                VariantDef { name: std_alloc::format!("{variant}"), fields, counts }
            });
            let variants: Vec<VariantDef> = variants.collect();
            let (own, repr) = (Layout::plain(8 * (1 + random.below(6)), 8), [ReprOf::Rust, ReprOf::C][random.index(2)]);
            let name = std_alloc::format!("D{def}");
            program.defs.push(Def { name, own, is_editable: true, is_shareable: true, is_enum, repr, variants });
        }
        program
    }

    fn site(random: &mut Random, program: &mut Program, defs: usize) -> SiteId {
        let part = |random: &mut Random, program: &mut Program| match random.below(3) {
            0 if !program.sites.is_empty() => random.index(program.sites.len()),
            _ => site_of(random, program, Shape::Leaf),
        };
        let shape = match random.below(10) {
            0 => Shape::Text(Holder::Growable),
            1 => Shape::Optional { some: part(random, program), is_option: true },
            2 => Shape::Tuple(vec![part(random, program), part(random, program)]),
            3 => Shape::Sequence(Holder::Growable, part(random, program)),
            4 => Shape::Map(Holder::BTree, part(random, program), part(random, program)),
            5 => {
                let to = part(random, program);
                let to = site_of(random, program, Shape::Sequence(Holder::Unsized, to));
                Shape::Pointer([Holder::Box, Holder::Counted][random.index(2)], to)
            }
            6 => Shape::Wrapper(part(random, program)),
            _ if defs > 0 => Shape::Def(random.index(defs)),
            _ => Shape::Leaf,
        };
        site_of(random, program, shape)
    }

    fn site_of(random: &mut Random, program: &mut Program, shape: Shape) -> SiteId {
        let mut n = || random.below(99);
        let counts = Counts {
            slots: n(),
            instances: n(),
            filled: n(),
            requested: n() * 64,
            allocations: n(),
            waste: n(),
            element_slots: n(),
            used: n(),
            ..Counts::default()
        };
        let own = Layout::plain(8 * (1 + random.below(4)), 8);
        let text = String::new;
        let edge = Edge::Root;
        program.sites.push(Site { path: text(), ty: text(), shape, own, edge, def: None, is_editable: true, counts });
        program.sites.len() - 1
    }

    #[test]
    fn a_changed_plan_equals_a_new_one_with_the_same_changes() {
        let mut same = 0;
        let changes = [Change::Boxed, Change::BoxedAlways, Change::Sparse, Change::Exact, Change::Thin, Change::Sorted];
        for seed in 0..if cfg!(miri) { 2 } else { 60 } {
            let mut random = Random(seed);
            let program = program(&mut random);
            let mut plan = Plan::new(&program);
            let mut made: Vec<Edit> = Vec::new();
            let mut tried: Vec<(Edit, Tried, i128)> = Vec::new();
            for _ in 0..60 {
                let def = random.index(program.defs.len());
                let edit = match random.below(4) {
                    0 => Edit::Variant(def, random.index(program.defs[def].variants.len())),
                    1 => Edit::Reorder(def),
                    _ => Edit::Site(random.index(program.sites.len()), changes[random.index(changes.len())]),
                };
                if random.below(4) == 0 {
                    let mut new = Plan::new(&program);
                    new.apply_all(&made);
                    new.apply(edit);
                    let found = plan.with(&[edit], Plan::sum).0;
                    assert_eq!(found, new.sum(), "seed {seed}: {made:?} and {edit:?}");
                    // What a trial saved, it saves until what it has computed changes.
                    let saves = |plan: &mut Plan<'_>, edit| plan.sum().cost() - plan.with(&[edit], Plan::sum).0.cost();
                    if let Some((_, tried, known)) =
                        tried.iter().find(|(other, ..)| *other == edit).filter(|(_, tried, _)| plan.is_same(tried))
                    {
                        assert_eq!(
                            saves(&mut plan, edit),
                            *known,
                            "seed {seed}: {made:?} and {edit:?} after {tried:?}"
                        );
                        same += 1;
                    }
                    tried.retain(|(other, ..)| *other != edit);
                    let known = saves(&mut plan, edit);
                    tried.push((edit, plan.tried().clone(), known));
                } else if random.below(3) == 0 && !made.is_empty() {
                    let last = made.swap_remove(random.index(made.len()));
                    plan.undo(last);
                } else if plan.apply(edit) {
                    made.push(edit);
                }
                if random.below(2) == 0 {
                    continue;
                }
                let mut new = Plan::new(&program);
                new.apply_all(&made);
                assert_eq!((plan.sum(), plan.is_exact()), (new.sum(), new.is_exact()), "seed {seed}: {made:?}");
                assert_eq!(plan.def(def), new.def(def), "seed {seed}: {made:?}");
            }
        }
        assert!(same > 10 || cfg!(miri), "{same}");
    }

    #[test]
    fn a_type_that_contains_itself_is_computed_once() {
        let mut random = Random(1);
        let mut program = Program::default();
        let inner = site_of(&mut random, &mut program, Shape::Def(0));
        let word = site_of(&mut random, &mut program, Shape::Text(Holder::Growable));
        let field = |site| FieldDef { name: String::new(), attributes: "", site };
        let variant =
            VariantDef { name: String::new(), fields: vec![field(inner), field(word)], counts: Counts::default() };
        let (name, own) = (String::new(), Layout::plain(64, 8));
        let (is_enum, repr, variants) = (false, ReprOf::Rust, vec![variant]);
        program.defs.push(Def { name, own, is_editable: true, is_shareable: true, is_enum, repr, variants });
        let mut plan = Plan::new(&program);
        let before = plan.sum();
        assert!(plan.apply(Edit::Site(word, Change::Thin)));
        assert!(plan.def(0).size < 200);
        plan.undo(Edit::Site(word, Change::Thin));
        assert_eq!(plan.sum().allocations, before.allocations);
    }
}
