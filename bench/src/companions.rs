//! Compares the size and cost of strings, slices and small maps, the companions of `Sparse`.

use anyhow::Result;
use dwell::sparse::{SortedMap, ThinSlice, ThinStr};
use fastrand::Rng;
use std::collections::{BTreeMap, HashMap};
use std::hint::black_box;
use std::sync::Arc;

use crate::op::{LOOP, Op, Suite};
use crate::row::{Output, Row};
use crate::select::Select;
use crate::{count, sink};

/// The lengths of the strings in 40 of AWS's Smithy models, at every twentieth of the distribution. The last length is
/// set so that the means agree.
const TEXT_LENGTHS: [usize; 21] = [0, 4, 7, 9, 9, 12, 15, 21, 30, 32, 36, 39, 43, 46, 49, 53, 61, 70, 104, 215, 1_100];
/// The numbers of members of the shapes in these models, at every twentieth of the distribution.
const MAP_LENGTHS: [usize; 21] = [0, 1, 1, 1, 1, 1, 1, 2, 2, 2, 2, 2, 2, 3, 3, 4, 4, 5, 7, 10, 30];
/// The number of values that an operation uses in turn: enough that no branch is always the same, few enough to stay in
/// a cache.
const VALUES: usize = 1 << 10;
/// The number of values whose bytes are counted.
const MANY: usize = 100_000;

/// Prints the size of a value and the cost of each operation.
pub(crate) fn run(select: &Select, quick: bool, output: Output) -> Result<()> {
    let suites = suites();
    select.check(suites.iter().flat_map(Suite::names))?;
    if select.is_all() {
        output.say(
            "Bytes and blocks of one value, including its handle, with string and map lengths as in the Smithy models:",
        )?;
        output.rows(&bytes())?;
    }
    // Times of these operations depend on the allocator's state more than on the type.
    let select = Select { ir: true, ..select.clone() };
    for suite in suites {
        let first = suite.workloads().first().map(|&workload| workload.to_owned());
        let is_counted = |workload: &str| !quick || first.as_deref() == Some(workload);
        output.rows(&select.rows(suite, quick, output, is_counted)?)?;
    }
    Ok(())
}

/// Returns the operations on strings, slices and maps.
pub(crate) fn suites() -> [Suite; 3] {
    [strings(), slices(), maps()]
}

/// Returns a random length from a distribution.
fn length(twentieths: &[usize; 21], rng: &mut Rng) -> usize {
    let at = rng.usize(0..20);
    rng.usize(twentieths[at]..=twentieths[at + 1])
}

fn texts(count: usize) -> Vec<String> {
    let rng = &mut Rng::with_seed(7);
    (0..count).map(|_| (0..length(&TEXT_LENGTHS, rng)).map(|_| rng.alphanumeric()).collect()).collect()
}

/// A kind of string.
trait Text: Clone + PartialEq + 'static {
    fn make(text: &str) -> Self;
    fn text(&self) -> &str;
}

macro_rules! texts {
    ($($type:ty)*) => {$(
        impl Text for $type {
            fn make(text: &str) -> Self {
                Self::from(text)
            }

            #[inline]
            fn text(&self) -> &str {
                self
            }
        }
    )*};
}
texts!(
    Box<str> String ThinStr Arc<str> arcstr::ArcStr ecow::EcoString cold_string::ColdString compact_str_010::CompactString
    smol_str::SmolStr
);

macro_rules! for_texts {
    ($do:ident $($argument:expr)?) => {
        $do::<Box<str>>("box-str" $(, $argument)?);
        $do::<String>("string" $(, $argument)?);
        $do::<ThinStr>("dwell" $(, $argument)?);
        $do::<Arc<str>>("arc-str" $(, $argument)?);
        $do::<compact_str_010::CompactString>("compact_str 0.10.0" $(, $argument)?);
        $do::<smol_str::SmolStr>("smol_str 0.3.7" $(, $argument)?);
        $do::<arcstr::ArcStr>("arcstr 1.2.0" $(, $argument)?);
        $do::<ecow::EcoString>("ecow 0.3.1" $(, $argument)?);
        $do::<cold_string::ColdString>("cold-string 0.5.0" $(, $argument)?);
    };
}

fn strings() -> Suite {
    fn operations<T: Text>(subject: &'static str, ops: &mut Vec<Op>) {
        fn values<T: Text>() -> Vec<T> {
            texts(VALUES).iter().map(|text| T::make(text)).collect()
        }
        ops.push(op("read", subject, values::<T>, |values, n| {
            let text = values[n % VALUES].text();
            sink::pointer(text);
            sink::word(text.len() as u64);
        }));
        ops.push(op("len", subject, values::<T>, |values, n| {
            sink::word(values[n % VALUES].text().len() as u64);
        }));
        ops.push(op(
            "equal",
            subject,
            || (values::<T>(), values::<T>()),
            |(a, b), n| {
                sink::word(u64::from(a[n % VALUES] == b[n % VALUES]));
            },
        ));
        ops.push(op("unequal", subject, values::<T>, |values, n| {
            sink::word(u64::from(values[n % VALUES] == values[(n + 1) % VALUES]));
        }));
        ops.push(op(
            "create+drop",
            subject,
            || texts(VALUES),
            |texts, n| {
                sink::pointer(T::make(&texts[n % VALUES]).text());
            },
        ));
        ops.push(op("clone+drop", subject, values::<T>, |values, n| {
            sink::pointer(values[n % VALUES].clone().text());
        }));
        // Names and codes, all of which an inline form holds.
        fn short() -> Vec<String> {
            let rng = &mut Rng::with_seed(7);
            (0..VALUES).map(|_| (0..rng.usize(1..=22)).map(|_| rng.alphanumeric()).collect()).collect()
        }
        ops.push(op("create+drop/1-22", subject, short, |texts, n| {
            sink::pointer(T::make(&texts[n % VALUES]).text());
        }));
        let shorts = || short().iter().map(|text| T::make(text)).collect::<Vec<T>>();
        ops.push(op("clone+drop/1-22", subject, shorts, |values, n| {
            sink::pointer(values[n % VALUES].clone().text());
        }));
    }
    let ops = &mut Vec::new();
    for_texts!(operations ops);
    suite("thin-str", "box-str", ops)
}

/// A kind of slice.
trait Slice: Clone + 'static {
    fn make(elements: &[u64]) -> Self;
    fn slice(&self) -> &[u64];
}

macro_rules! slices {
    ($($type:ty)*) => {$(
        impl Slice for $type {
            fn make(elements: &[u64]) -> Self {
                elements.into()
            }

            #[inline]
            fn slice(&self) -> &[u64] {
                self
            }
        }
    )*};
}
slices!(Box<[u64]> Vec<u64> ThinSlice<u64> thin_vec::ThinVec<u64> ecow::EcoVec<u64>);

macro_rules! for_slices {
    ($do:ident $($argument:expr)?) => {
        $do::<Box<[u64]>>("box-slice" $(, $argument)?);
        $do::<Vec<u64>>("vec" $(, $argument)?);
        $do::<ThinSlice<u64>>("dwell" $(, $argument)?);
        $do::<thin_vec::ThinVec<u64>>("thin-vec 0.2.21" $(, $argument)?);
        $do::<ecow::EcoVec<u64>>("ecow 0.3.1" $(, $argument)?);
    };
}

fn lists(count: usize) -> Vec<Vec<u64>> {
    let rng = &mut Rng::with_seed(7);
    (0..count).map(|_| (0..length(&MAP_LENGTHS, rng)).map(|_| rng.u64(..)).collect()).collect()
}

fn slices() -> Suite {
    fn operations<T: Slice>(subject: &'static str, ops: &mut Vec<Op>) {
        fn values<T: Slice>() -> Vec<T> {
            lists(VALUES).iter().map(|list| T::make(list)).collect()
        }
        ops.push(op("read", subject, values::<T>, |values, n| {
            let slice = values[n % VALUES].slice();
            sink::pointer(slice);
            sink::word(slice.len() as u64);
        }));
        ops.push(op("sum", subject, values::<T>, |values, n| {
            let mut sum = 0_u64;
            for element in values[n % VALUES].slice() {
                sum = sum.wrapping_add(*element);
                sink::word(sum); // prevents the compiler from vectorising the loop for some subjects only
            }
        }));
        ops.push(op(
            "create+drop",
            subject,
            || lists(VALUES),
            |lists, n| {
                sink::pointer(T::make(&lists[n % VALUES]).slice());
            },
        ));
        ops.push(op("clone+drop", subject, values::<T>, |values, n| {
            sink::pointer(values[n % VALUES].clone().slice());
        }));
    }
    let ops = &mut Vec::new();
    for_slices!(operations ops);
    suite("thin-slice", "box-slice", ops)
}

type Key = &'static str;

/// Returns entries with keys that share a long prefix, as the names in a model do.
fn entries(len: usize, rng: &mut Rng) -> Vec<(Key, u64)> {
    let name = |n| &*format!("smithy.api#{:08x}", Rng::with_seed(n).u32(..)).leak();
    let mut entries: Vec<_> = (0..len as u64).map(|n| (name(n), n)).collect();
    rng.shuffle(&mut entries);
    entries
}

/// A kind of map.
trait Map: Clone + 'static {
    fn make(entries: Vec<(Key, u64)>) -> Self;
    fn find(&self, key: &str) -> Option<&u64>;
    fn sum(&self) -> u64;
}

macro_rules! maps {
    ($($type:ty)*) => {$(
        impl Map for $type {
            fn make(entries: Vec<(Key, u64)>) -> Self {
                entries.into_iter().collect()
            }

            #[inline]
            fn find(&self, key: &str) -> Option<&u64> {
                self.get(key)
            }

            #[inline]
            fn sum(&self) -> u64 {
                self.iter().map(|(_, value)| value).sum()
            }
        }
    )*};
}
maps!(
    BTreeMap<Key, u64> HashMap<Key, u64> SortedMap<Key, u64> litemap::LiteMap<Key, u64>
    vecmap::VecMap<Key, u64>
);

macro_rules! for_maps {
    ($do:ident $($argument:expr)?) => {
        $do::<BTreeMap<Key, u64>>("btree-map" $(, $argument)?);
        $do::<HashMap<Key, u64>>("hash-map" $(, $argument)?);
        $do::<SortedMap<Key, u64>>("dwell" $(, $argument)?);
        $do::<litemap::LiteMap<Key, u64>>("litemap 0.8.3" $(, $argument)?);
        $do::<vecmap::VecMap<Key, u64>>("vecmap-rs 0.3.1" $(, $argument)?);
    };
}

fn maps() -> Suite {
    fn operations<T: Map>(subject: &'static str, ops: &mut Vec<Op>) {
        for len in [1, 4, 8, 16, 64] {
            let fresh = move || {
                let rng = &mut Rng::with_seed(7);
                let entries = entries(len, rng);
                let wanted: Vec<Key> = (0..VALUES).map(|_| entries[rng.usize(0..len)].0).collect();
                (entries, wanted)
            };
            let made = move || {
                let (entries, wanted) = fresh();
                (T::make(entries), wanted)
            };
            ops.push(op(format!("get/{len}"), subject, made, |(map, wanted), n| {
                sink::word(*map.find(wanted[n % VALUES]).expect("a key that is there"));
            }));
            if [4, 16].contains(&len) {
                ops.push(op(format!("build+drop/{len}"), subject, fresh, |(entries, _), _| {
                    sink::pointer(&T::make(entries.clone()));
                }));
                ops.push(op(format!("clone+drop/{len}"), subject, made, |(map, _), _| {
                    sink::pointer(&map.clone());
                }));
                ops.push(op(format!("iterate/{len}"), subject, made, |(map, _), _| {
                    sink::word(black_box(map).sum());
                }));
            }
        }
    }
    let ops = &mut Vec::new();
    for_maps!(operations ops);
    suite("sorted-map", "btree-map", ops)
}

/// Creates an operation on the data that `prepare` returns.
fn op<D: 'static>(
    workload: impl Into<String>,
    subject: &'static str,
    prepare: impl Fn() -> D + 'static,
    body: impl Fn(&D, usize) + Copy + 'static,
) -> Op {
    Op::new(workload, subject, move || {
        let data = prepare();
        Box::new(move |operations| {
            for n in 0..operations {
                body(&data, n);
            }
        })
    })
}

/// Returns the suite of the operations, with the empty loop for each workload.
fn suite(module: &'static str, baseline: &'static str, ops: &mut Vec<Op>) -> Suite {
    let mut suite = Suite { module, baseline, ops: std::mem::take(ops) };
    let loops: Vec<_> =
        suite.workloads().iter().map(|&name| op(name, LOOP, || (), |(), n| sink::word(n as u64))).collect();
    suite.ops.extend(loops);
    suite
}

/// Returns the bytes and blocks of the values of each kind.
fn bytes() -> Vec<Row> {
    fn of_text<T: Text>(subject: &'static str, rows: &mut Vec<Row>) {
        let texts = texts(MANY);
        measure("strings", subject, "box-str", rows, || texts.iter().map(|text| T::make(text)));
    }
    fn of_slice<T: Slice>(subject: &'static str, rows: &mut Vec<Row>) {
        let lists = lists(MANY);
        measure("slices of u64", subject, "box-slice", rows, || lists.iter().map(|list| T::make(list)));
    }
    fn of_map<T: Map>(subject: &'static str, rows: &mut Vec<Row>) {
        let rng = &mut Rng::with_seed(7);
        let most = entries(MAP_LENGTHS[20], rng);
        let lengths: Vec<usize> = (0..MANY).map(|_| length(&MAP_LENGTHS, rng)).collect();
        measure("maps", subject, "btree-map", rows, || lengths.iter().map(|&len| T::make(most[..len].to_vec())));
    }
    let rows = &mut Vec::new();
    for_texts!(of_text rows);
    for_slices!(of_slice rows);
    for_maps!(of_map rows);
    std::mem::take(rows)
}

/// Makes and keeps `MANY` values, and adds rows with the mean for one value.
fn measure<T, I: Iterator<Item = T>>(
    workload: &str,
    subject: &'static str,
    baseline: &'static str,
    rows: &mut Vec<Row>,
    values: impl Fn() -> I,
) {
    let mut kept = Vec::with_capacity(MANY);
    let in_use = glibc_in_use();
    count::start();
    kept.extend(values());
    let live = count::live();
    let in_use = glibc_in_use().zip(in_use).map(|(after, before)| after.wrapping_sub(before));
    drop(kept);
    let handle = size_of::<T>() as f64;
    let each = |total: f64| total / MANY as f64;
    let mut push = |metric: &'static str, value: f64, unit| {
        let of_baseline = |row: &&Row| (&*row.workload, &*row.subject, row.metric) == (workload, baseline, metric);
        let first = rows.iter().find(of_baseline).map_or(value, |row| row.value);
        let (workload, subject, baseline) = (workload.to_owned(), subject.to_owned(), baseline.to_owned());
        rows.push(Row { module: "companions", workload, subject, metric, value, unit, baseline, ratio: value / first });
    };
    push("handle", handle, "bytes");
    push("bytes", handle + each(live.bytes as f64), "bytes");
    if let Some(in_use) = in_use {
        push("glibc", handle + each(in_use as f64), "bytes");
    }
    push("allocs", each(live.blocks as f64), "allocs");
}

/// Returns the bytes of the live blocks of glibc, including its headers and rounding; `None` with another allocator.
#[cfg(all(target_env = "gnu", not(feature = "profile")))]
#[expect(clippy::unnecessary_wraps, reason = "returns `None` with another allocator")]
fn glibc_in_use() -> Option<usize> {
    // SAFETY: `mallinfo2` has no preconditions; it only reads the allocator's statistics.
    let info = unsafe { libc::mallinfo2() };
    Some(info.uordblks + info.hblkhd)
}

#[cfg(not(all(target_env = "gnu", not(feature = "profile"))))]
fn glibc_in_use() -> Option<usize> {
    None
}
