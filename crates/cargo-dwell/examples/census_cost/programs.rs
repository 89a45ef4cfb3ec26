//! `programs NAME TIMES FILE` runs a program that allocates, and writes the nanoseconds of processor time that an allocation and
//! its free took to FILE. `programs pause MIB FILE` keeps MIB of small blocks, looks at the clock until five seconds after its start,
//! and writes the longest time between two looks in milliseconds. `programs many RECORDS` keeps records of nine blocks each until
//! the end of its standard input.

use std::cell::Cell;
use std::collections::{HashMap, VecDeque};
use std::hint::black_box;
use std::time::{Duration, Instant};

unsafe extern "C" {
    fn clock_gettime(clock: i32, time: *mut u64) -> i32;
}

/// Nanoseconds of processor time of this process.
fn cpu() -> u64 {
    const PROCESS_CPUTIME: i32 = 2;
    let mut time = [0_u64; 2];
    unsafe { clock_gettime(PROCESS_CPUTIME, time.as_mut_ptr()) };
    time[0] * 1_000_000_000 + time[1]
}

struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 as usize % limit
    }
}

fn deep(calls: u32, run: &mut dyn FnMut()) {
    if calls == 0 {
        run();
    } else {
        deep(calls - 1, run);
        black_box(calls);
    }
}

enum Tree {
    Text(String),
    List(Vec<Tree>),
    Map(HashMap<String, Tree>),
}

thread_local!(static PAIRS: Cell<u64> = const { Cell::new(0) });

fn pair() {
    PAIRS.set(PAIRS.get() + 1);
}

/// Reads `text`, `[a,b]` and `{key:value,key:value}`.
fn parse(text: &mut &[u8]) -> Tree {
    let skip = |text: &mut &[u8]| *text = &text[1..];
    match text[0] {
        b'[' => {
            let mut list = Vec::new();
            while text[0] != b']' {
                skip(text);
                list.push(parse(text));
            }
            skip(text);
            pair();
            Tree::List(list)
        }
        b'{' => {
            let mut map = HashMap::new();
            while text[0] != b'}' {
                skip(text);
                let key = word(text);
                skip(text);
                map.insert(key, parse(text));
            }
            skip(text);
            pair();
            Tree::Map(map)
        }
        _ => Tree::Text(word(text)),
    }
}

fn word(text: &mut &[u8]) -> String {
    let end = text.iter().position(|byte| b"[]{}:,".contains(byte)).unwrap();
    let (word, rest) = text.split_at(end);
    *text = rest;
    pair();
    String::from_utf8(word.to_vec()).unwrap()
}

fn count(tree: &Tree) -> usize {
    match tree {
        Tree::Text(text) => text.len(),
        Tree::List(list) => list.iter().map(count).sum(),
        Tree::Map(map) => map.values().map(count).sum(),
    }
}

fn document(records: usize) -> String {
    let mut random = Random(5);
    let record = |random: &mut Random| {
        let tags: Vec<_> = (0..random.below(8)).map(|_| format!("tag number {}", random.below(100))).collect();
        format!("{{id:{},name:name of {},tags:[{}]}}", random.below(1 << 30), random.below(1000), tags.join(","))
    };
    let records: Vec<_> = (0..records).map(|_| record(&mut random)).collect();
    format!("[{}]", records.join(","))
}

/// What `many` keeps.
struct Record {
    name: String,
    note: Option<Box<str>>,
    points: Vec<[u32; 2]>,
    parts: Vec<Box<Part>>,
}

struct Part {
    title: String,
    weight: f64,
}

impl Record {
    fn size(&self) -> usize {
        let texts = self.name.len() + self.note.as_ref().map_or(0, |note| note.len());
        let parts: usize = self.parts.iter().map(|part| part.title.len() + part.weight as usize).sum();
        texts + self.points.len() + parts
    }
}

fn many(records: u64) -> HashMap<u64, Vec<Record>> {
    let part = |number: u64| Box::new(Part { title: format!("part {}", number % 1000), weight: number as f64 });
    let mut all: HashMap<u64, Vec<Record>> = HashMap::new();
    for number in 0..records {
        let record = Record {
            name: format!("record {number}"),
            note: (number % 2 == 0).then(|| format!("note {}", number % 100).into()),
            points: vec![[number as u32; 2]; 3],
            parts: (0..3).map(|index| part(number + index)).collect(),
        };
        all.entry(number / 8).or_default().push(record);
    }
    all
}

/// Returns the longest time for which this thread did not run, with so many MiB of blocks.
fn pause(mib: u64) -> Duration {
    let start = Instant::now();
    let live: Vec<Box<[u64; 32]>> = (0..mib << 12).map(|index| Box::new([index; 32])).collect();
    let (mut last, mut longest) = (Instant::now(), Duration::ZERO);
    while start.elapsed() < Duration::from_secs(5) {
        let now = Instant::now();
        longest = longest.max(now - last);
        last = now;
    }
    black_box(&live);
    std::mem::forget(live);
    longest
}

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    let times: u64 = arguments[2].parse().unwrap();
    if arguments[1] == "many" {
        let records = black_box(many(times));
        black_box(records.values().flatten().map(Record::size).sum::<usize>());
        std::io::copy(&mut std::io::stdin(), &mut std::io::sink()).unwrap();
        black_box(&records);
        std::mem::forget(records);
        return;
    }
    if arguments[1] == "pause" {
        std::fs::write(&arguments[3], format!("{}", pause(times).as_secs_f64() * 1e3)).unwrap();
        return;
    }
    let mut random = Random(1);
    let mut size = move || 16 + random.below(113);
    let mut random = Random(2);
    const LIVE: usize = 1_000_000;
    let mut pairs = times;
    let start;
    match arguments[1].as_str() {
        "tight" => {
            start = cpu();
            for index in 0..times {
                drop(black_box(Box::new(index)));
            }
        }
        "deep" => {
            start = cpu();
            deep(40, &mut || {
                for index in 0..times {
                    drop(black_box(Box::new(index)));
                }
            });
        }
        "ordered" => {
            let mut live: VecDeque<Vec<u8>> = (0..LIVE).map(|_| Vec::with_capacity(size())).collect();
            start = cpu();
            for _ in 0..times {
                live.pop_front();
                live.push_back(Vec::with_capacity(size()));
            }
            black_box(&live);
        }
        "random" => {
            let mut live: Vec<Vec<u8>> = (0..LIVE).map(|_| Vec::with_capacity(size())).collect();
            start = cpu();
            for _ in 0..times {
                live[random.below(LIVE)] = Vec::with_capacity(size());
            }
            black_box(&live);
        }
        "grow" => {
            start = cpu();
            let live: Vec<Box<[u64; 32]>> = (0..times).map(|index| Box::new([index; 32])).collect();
            black_box(&live);
            std::mem::forget(live);
        }
        "tree" => {
            let document = document(30_000);
            start = cpu();
            for _ in 0..times {
                black_box(count(&parse(&mut document.as_bytes())));
            }
            pairs = PAIRS.get();
        }
        "work" => {
            let document = document(3_000);
            start = cpu();
            for _ in 0..times {
                black_box(count(&parse(&mut document.as_bytes())));
                let mut hash = 0_u64;
                for _ in 0..160 {
                    for byte in document.bytes() {
                        hash = (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3);
                    }
                }
                black_box(hash);
            }
            pairs = PAIRS.get();
        }
        _ => panic!("no such program"),
    }
    let nanos = cpu() - start;
    std::fs::write(&arguments[3], format!("{}", nanos as f64 / pairs as f64)).unwrap();
}
