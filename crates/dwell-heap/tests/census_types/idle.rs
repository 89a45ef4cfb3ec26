//! `idle MODE`: values that take memory for nothing: nodes that are half empty, fields without a value, locks of nobody, tasks
//! that have ended, buffers that were drained.

use bytes::{Buf, BytesMut};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::hint::black_box;
use std::sync::{Arc, Mutex};
use thin_vec::ThinVec;

/// Keys that come in order, and keys that do not.
struct Trees {
    ordered: BTreeMap<u64, [u64; 2]>,
    mixed: BTreeMap<u64, [u64; 2]>,
    set: BTreeSet<u32>,
}

/// 48 bytes, of which 16 and 8 are for values that do not exist.
struct Row {
    number: u64,
    total: Option<i64>,
    seldom: Option<u64>,
    code: Option<u32>,
}

struct Table {
    rows: Vec<Row>,
    few: Vec<Row>,
}

struct Locks {
    by_key: HashMap<u64, Arc<Mutex<()>>>,
    /// Values, of which the map is the store.
    sessions: HashMap<u64, Arc<Mutex<Session>>>,
}

struct Session {
    number: u64,
}

struct Thin {
    lists: Vec<ThinVec<u32>>,
    texts: ThinVec<String>,
    wide: ThinVec<Wide>,
}

#[repr(align(32))]
struct Wide(u64);

struct Buffers {
    split: Vec<BytesMut>,
    advanced: Vec<BytesMut>,
}

fn mixed(number: u64) -> u64 {
    number.wrapping_mul(0x9e37_79b9_7f4a_7c15)
}

fn row(number: u64, has: bool) -> Row {
    Row { number, total: None, seldom: (number % 3 == 0).then_some(number), code: has.then_some(7) }
}

fn thin() -> Thin {
    let list = |number: u32| {
        let mut list = ThinVec::with_capacity(8);
        list.extend(0..number % 4);
        list
    };
    let mut texts = ThinVec::with_capacity(50);
    texts.extend((0..40).map(|number| format!("text {number:03}")));
    Thin { lists: (0..100).map(list).collect(), texts, wide: (0..10).map(Wide).collect() }
}

fn buffers() -> Buffers {
    let full = || {
        let mut buffer = BytesMut::with_capacity(2048);
        buffer.extend_from_slice(&[1; 2000]);
        buffer
    };
    let split = |_| {
        let mut buffer = full();
        drop(buffer.split());
        buffer
    };
    let advanced = |_| {
        let mut buffer = full();
        buffer.advance(2000);
        buffer
    };
    Buffers { split: (0..20).map(split).collect(), advanced: (0..30).map(advanced).collect() }
}

async fn job(number: u64) -> String {
    tokio::task::yield_now().await;
    format!("this is result {number:06}")
}

fn keep<T>(value: T) -> &'static T {
    black_box(Box::leak(Box::new(value)))
}

fn main() {
    match std::env::args().nth(1).as_deref() {
        Some("trees") => {
            let (mut ordered, mut other) = (BTreeMap::new(), BTreeMap::new());
            (0..50_000).for_each(|number| _ = ordered.insert(number, [number; 2]));
            (0..50_000).for_each(|number| _ = other.insert(mixed(number), [number; 2]));
            let set = (0..50_000).collect();
            let trees = keep(Trees { ordered, mixed: other, set });
            println!("{}", trees.ordered.len() + trees.mixed.len() + trees.set.len());
        }
        // As `trees`, after the change that the finding proposes.
        Some("collected") => {
            let ordered = (0..50_000).map(|number| (number, [number; 2])).collect();
            println!("{}", keep(Trees { ordered, mixed: BTreeMap::new(), set: BTreeSet::new() }).ordered.len());
        }
        Some("absent") => {
            let rows = (0..20_000).map(|number| row(number, false)).collect();
            let table = keep(Table { rows, few: (0..10).map(|number| row(number, number > 10)).collect() });
            let used = table.rows.iter().chain(&table.few).map(|row| {
                row.number + row.seldom.unwrap_or(0) + row.total.map_or(0, |_| 1) + u64::from(row.code.unwrap_or(0))
            });
            println!("{}", used.sum::<u64>());
        }
        Some("locks") => {
            let by_key: HashMap<u64, Arc<Mutex<()>>> = (0..1000).map(|key| (key, Arc::default())).collect();
            let used: Vec<_> = (0..10).map(|key| by_key[&key].clone()).collect();
            let sessions = (0..1000).map(|number| (number, Arc::new(Mutex::new(Session { number })))).collect();
            let (locks, used) = (keep(Locks { by_key, sessions }), keep(used));
            println!("{} {}", locks.sessions[&3].lock().unwrap().number, locks.by_key[&1].try_lock().is_ok() as usize + used.len());
        }
        Some("thin") => {
            let thin = keep(thin());
            println!("{} {} {}", thin.lists[3].len(), thin.texts[0], thin.wide[1].0);
        }
        Some("buffers") => {
            let buffers = keep(buffers());
            println!("{}", buffers.split[0].len() + buffers.advanced[0].capacity());
        }
        Some("joined") => {
            let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
            let mut set = tokio::task::JoinSet::new();
            runtime.block_on(async {
                (0..300).for_each(|number| drop(set.spawn(job(number))));
                for _ in 0..2000 {
                    tokio::task::yield_now().await;
                }
            });
            println!("{}", keep((runtime, set)).1.len());
        }
        _ => std::process::exit(2),
    }
}
