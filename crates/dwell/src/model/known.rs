//! The layouts and blocks that an evaluation has computed, and what has to be computed again after a change.

use super::layout::Layout;
use super::program::{DefId, Program, Shape, SiteId};
use core::num::Saturating;
use core::ops::{AddAssign, SubAssign};
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

/// What depends on the layout of a site or type.
#[derive(Clone, Copy, Debug)]
pub(super) enum User {
    /// The layout of a site, and its blocks.
    Site(SiteId),
    /// The blocks of a site.
    Blocks(SiteId),
    /// The layout of a struct or enum, and the blocks of its boxed variants.
    Def(DefId),
}

/// The users of each site and of each struct or enum.
#[derive(Debug)]
pub(super) struct Users {
    sites: Vec<Vec<User>>,
    defs: Vec<Vec<User>>,
}

impl Users {
    pub(super) fn new(program: &Program) -> Self {
        let (sites, defs) = (vec![Vec::new(); program.sites.len()], vec![Vec::new(); program.defs.len()]);
        let mut users = Self { sites, defs };
        for (def, of) in program.defs.iter().enumerate() {
            for field in of.variants.iter().flat_map(|variant| &variant.fields) {
                users.sites[field.site].push(User::Def(def));
            }
        }
        for (site, of) in program.sites.iter().enumerate() {
            match of.shape {
                Shape::Leaf | Shape::Text(_) => {}
                Shape::Def(def) => users.defs[def].push(User::Site(site)),
                Shape::Tuple(_) | Shape::Optional { .. } | Shape::Wrapper(_) | Shape::Array(..) => {
                    program.parts(site).into_iter().for_each(|part| users.sites[part].push(User::Site(site)));
                }
                Shape::Sequence(..) | Shape::Map(..) => {
                    program.parts(site).into_iter().for_each(|part| users.sites[part].push(User::Blocks(site)));
                }
                Shape::Pointer(_, to) => {
                    users.sites[to].push(User::Blocks(site));
                    // The elements of a boxed slice are in the block of the box.
                    if let Shape::Sequence(_, element) = program.sites[to].shape {
                        users.sites[element].push(User::Blocks(site));
                    }
                }
            }
        }
        users
    }
}

/// The known layouts and blocks of a plan.
///
/// If something is unknown, so is all that depends on it.
#[derive(Clone, Debug)]
pub(super) struct Known {
    sites: Vec<Option<Layout>>,
    defs: Vec<Option<Layout>>,
    /// The blocks of the values of each site.
    blocks: Vec<Option<Part>>,
    /// The blocks of the boxed variants of each enum.
    boxes: Vec<Option<Part>>,
    /// The sum of `blocks` and `boxes`.
    sum: Part,
    /// What has to be computed again.
    open: Vec<User>,
}

impl Known {
    /// Creates the state in which nothing is known.
    pub(super) fn nothing(program: &Program) -> Self {
        let (sites, defs) = (program.sites.len(), program.defs.len());
        let open = (0..sites).map(User::Site).chain((0..defs).map(User::Def)).collect();
        Self {
            sites: vec![None; sites],
            defs: vec![None; defs],
            blocks: vec![None; sites],
            boxes: vec![None; defs],
            sum: Part::default(),
            open,
        }
    }

    pub(super) fn site(&self, site: SiteId) -> Option<Layout> {
        self.sites[site]
    }

    pub(super) fn set_site(&mut self, site: SiteId, layout: Layout) {
        self.sites[site] = Some(layout);
    }

    pub(super) fn def(&self, def: DefId) -> Option<Layout> {
        self.defs[def]
    }

    pub(super) fn set_def(&mut self, def: DefId, layout: Layout) {
        self.defs[def] = Some(layout);
    }

    pub(super) fn set_blocks(&mut self, site: SiteId, part: Part) {
        Self::set(&mut self.blocks[site], part, &mut self.sum);
    }

    pub(super) fn set_boxes(&mut self, def: DefId, part: Part) {
        Self::set(&mut self.boxes[def], part, &mut self.sum);
    }

    fn set(slot: &mut Option<Part>, part: Part, sum: &mut Part) {
        if slot.is_none() {
            let part = part.bounded();
            *slot = Some(part);
            *sum += part;
        }
    }

    /// Takes what has to be computed again. Something may be in the list twice.
    pub(super) fn take_open(&mut self) -> Vec<User> {
        core::mem::take(&mut self.open)
    }

    pub(super) fn sum(&self) -> Part {
        self.sum
    }

    /// Forgets the layout of a site and all that depends on it.
    pub(super) fn forget_site(&mut self, site: SiteId, users: &Users) {
        self.forget(User::Site(site), users);
    }

    /// Forgets the layout of a struct or enum and all that depends on it.
    pub(super) fn forget_def(&mut self, def: DefId, users: &Users) {
        self.forget(User::Def(def), users);
    }

    fn forget(&mut self, first: User, users: &Users) {
        let mut next = vec![first];
        while let Some(user) = next.pop() {
            let (was_known, part) = match user {
                User::Site(site) => {
                    let was_known = self.sites[site].take().is_some();
                    if was_known {
                        next.extend(&users.sites[site]);
                    }
                    (was_known, self.blocks[site].take())
                }
                User::Blocks(site) => {
                    let part = self.blocks[site].take();
                    (part.is_some(), part)
                }
                User::Def(def) => {
                    let was_known = self.defs[def].take().is_some();
                    if was_known {
                        next.extend(&users.defs[def]);
                    }
                    (was_known, self.boxes[def].take())
                }
            };
            if let Some(part) = part {
                self.sum -= part;
            }
            if was_known {
                self.open.push(user);
            }
        }
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
        let changes = [Change::Boxed, Change::BoxedAlways, Change::Sparse, Change::Exact, Change::Thin, Change::Sorted];
        for seed in 0..if cfg!(miri) { 2 } else { 60 } {
            let mut random = Random(seed);
            let program = program(&mut random);
            let mut plan = Plan::new(&program);
            let mut made: Vec<Edit> = Vec::new();
            for _ in 0..60 {
                let def = random.index(program.defs.len());
                let edit = match random.below(4) {
                    0 => Edit::Variant(def, random.index(program.defs[def].variants.len())),
                    1 => Edit::Reorder(def),
                    _ => Edit::Site(random.index(program.sites.len()), changes[random.index(changes.len())]),
                };
                if random.below(3) == 0 && !made.is_empty() {
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
    }
}
