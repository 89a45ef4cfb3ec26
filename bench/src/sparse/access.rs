//! The cost of reading, creating and dropping a `Sparse`, an `Option<Box<T>>` and a plain struct.

use dwell::Sparse;
use dwell::sparse::ConstDefault;
use fastrand::Rng;
use std::hint::black_box;
use std::sync::LazyLock;

use crate::op::{LOOP, Op, Run, Suite, whole_rounds};
use crate::sink;

/// A part of a record, of eight words.
#[derive(Default, Sparse)]
struct Part {
    count: u64,
    rest: [u64; 7],
}

/// The default, for subjects that return a reference to it.
static DEFAULT: Part = <Part as ConstDefault>::DEFAULT;

/// A way to store an optional `Part` in a record.
trait Holder {
    fn empty() -> Self;
    fn full(part: Part) -> Self;
    /// Returns the count, or zero without a part.
    fn count(&self) -> u64;
    /// Returns the part, or the default without one.
    fn part(&self) -> &Part;
}

impl Holder for Part {
    fn empty() -> Self {
        Self::default()
    }

    fn full(part: Part) -> Self {
        part
    }

    fn count(&self) -> u64 {
        self.count
    }

    fn part(&self) -> &Part {
        self
    }
}

impl Holder for Option<Box<Part>> {
    fn empty() -> Self {
        None
    }

    fn full(part: Part) -> Self {
        Some(Box::new(part))
    }

    fn count(&self) -> u64 {
        self.as_deref().map_or(0, |part| part.count)
    }

    fn part(&self) -> &Part {
        self.as_deref().unwrap_or(&DEFAULT)
    }
}

impl Holder for Sparse<Part> {
    fn empty() -> Self {
        Self::empty()
    }

    fn full(part: Part) -> Self {
        Self::new(part)
    }

    fn count(&self) -> u64 {
        self.count
    }

    fn part(&self) -> &Part {
        self
    }
}

/// An `Option<Box<T>>` with a lazily created default, as code without dwell has it.
struct WithLazyDefault(Option<Box<Part>>);

impl WithLazyDefault {
    fn get(&self) -> &Part {
        static DEFAULT: LazyLock<Part> = LazyLock::new(Part::default);
        self.0.as_deref().unwrap_or_else(|| &*DEFAULT)
    }
}

impl Holder for WithLazyDefault {
    fn empty() -> Self {
        Self(None)
    }

    fn full(part: Part) -> Self {
        Self(Some(Box::new(part)))
    }

    fn count(&self) -> u64 {
        self.get().count
    }

    fn part(&self) -> &Part {
        self.get()
    }
}

/// A `Sparse` that is read by `get`, which returns an `Option` as `Option<Box<T>>` does.
struct Asked(Sparse<Part>);

impl Holder for Asked {
    fn empty() -> Self {
        Self(Sparse::empty())
    }

    fn full(part: Part) -> Self {
        Self(Sparse::new(part))
    }

    fn count(&self) -> u64 {
        self.0.get().map_or(0, |part| part.count)
    }

    fn part(&self) -> &Part {
        self.0.get().unwrap_or(&DEFAULT)
    }
}

/// A part with a constant default. The default of `Part` is created by the first read that needs it.
#[derive(Sparse)]
#[sparse(const)]
struct Fixed(Part);

impl ConstDefault for Part {
    const DEFAULT: Self = Self { count: 0, rest: [0; 7] };
}

impl Holder for Sparse<Fixed> {
    fn empty() -> Self {
        Self::empty()
    }

    fn full(part: Part) -> Self {
        Self::new(Fixed(part))
    }

    fn count(&self) -> u64 {
        self.0.count
    }

    fn part(&self) -> &Part {
        &self.0
    }
}

/// A record that contains the part, as an element of a vector.
struct Record<H> {
    #[expect(dead_code, reason = "the other fields of a record")]
    id: u64,
    part: H,
}

/// The number of records in a vector: more than a branch predictor learns, but few enough for a second-level cache.
const RECORDS: usize = 20_000;

fn records<H: Holder>(filled: f64) -> Vec<Record<H>> {
    // The same slots are filled for all subjects.
    let mut rng = Rng::with_seed(1);
    let record = |id: u64| {
        let part =
            if rng.f64() < filled { H::full(black_box(Part { count: id + 1, rest: [id; 7] })) } else { H::empty() };
        Record { id, part }
    };
    (0..RECORDS as u64).map(record).collect()
}

/// Calls `pass` with all records, as often as the number of operations needs. An operation is a record.
fn passes<H: 'static>(records: Vec<Record<H>>, pass: fn(&[Record<H>])) -> Run {
    Box::new(move |operations| {
        for _ in whole_rounds(operations, RECORDS) {
            pass(black_box(&records));
        }
    })
}

#[inline(never)]
fn read_field<H: Holder>(records: &[Record<H>]) {
    for record in records {
        sink::word(record.part.count());
    }
}

#[inline(never)]
fn read_whole<H: Holder>(records: &[Record<H>]) {
    for record in records {
        sink::pointer(record.part.part());
    }
}

#[inline(never)]
fn read_nothing(records: &[Record<()>]) {
    for record in records {
        sink::pointer(record);
    }
}

fn repeat(body: fn()) -> Run {
    Box::new(move |operations| (0..operations).for_each(|_| body()))
}

#[inline(never)]
fn make_empty<H: Holder>() {
    let value = H::empty();
    sink::pointer(&value);
}

#[inline(never)]
fn make_full<H: Holder>() {
    let part = Part { count: 1, rest: [1; 7] };
    sink::pointer(&part);
    let value = H::full(part);
    sink::pointer(&value);
}

#[inline(never)]
fn make_nothing() {}

const FILLS: [(&str, f64); 3] = [("2%", 0.02), ("50%", 0.5), ("98%", 0.98)];

fn ops<H: Holder + 'static>(subject: &'static str) -> Vec<Op> {
    let mut ops = Vec::new();
    for (fill, rate) in FILLS {
        ops.push(Op::new(format!("read/field/{fill}"), subject, move || passes(records::<H>(rate), read_field)));
        ops.push(Op::new(format!("read/whole/{fill}"), subject, move || passes(records::<H>(rate), read_whole)));
    }
    ops.push(Op::new("create+drop/empty", subject, || repeat(make_empty::<H>)));
    ops.push(Op::new("create+drop/full", subject, || repeat(make_full::<H>)));
    ops
}

/// The loops alone, under the same names.
fn loops() -> Vec<Op> {
    let mut ops = Vec::new();
    for (fill, _) in FILLS {
        for what in ["field", "whole"] {
            let walk = || passes((0..RECORDS as u64).map(|id| Record { id, part: () }).collect(), read_nothing);
            ops.push(Op::new(format!("read/{what}/{fill}"), LOOP, walk));
        }
    }
    for what in ["empty", "full"] {
        ops.push(Op::new(format!("create+drop/{what}"), LOOP, || repeat(make_nothing)));
    }
    ops
}

/// The baseline is the plain Rust code without dwell.
pub(super) fn suite() -> Suite {
    let mut all = ops::<Option<Box<Part>>>("option-box");
    all.extend(ops::<WithLazyDefault>("option-box/lazy"));
    all.extend(ops::<Asked>("dwell/get"));
    all.extend(ops::<Sparse<Part>>("dwell"));
    all.extend(ops::<Sparse<Fixed>>("dwell/const"));
    all.extend(ops::<Part>("inline"));
    all.extend(loops());
    Suite { module: "sparse", baseline: "option-box", ops: all }
}
