//! The resident memory of a server before, during and after a spike: `cargo run --release -p dwell-bench --example spike`.
//!
//! A separate process for each subject and allocator keeps a thousand values of three sizes for the whole run. Three times 300,000
//! more are inserted, and dropped in random order; then the server idles for half a second, with a hundred values in use at a time.

#![expect(dead_code, reason = "the module is that of the whole suite, which uses more of it")]

#[path = "../src/count.rs"]
mod count;

use anyhow::{Context, Result, bail};
use dwell::slab::Pooled;
use std::hint::black_box;
use std::process::Command;
use std::time::Duration;
use std::{array, env, thread};

const BASE: u64 = 1000;
const SPIKE: u64 = 300_000;
const SPIKES: usize = 3;

/// Values of the three sizes.
trait Make {
    fn make(n: u64) -> Self;
}

macro_rules! subject {
    ($Name:ident, $Box:ident) => {
        #[expect(dead_code, reason = "it only has to live")]
        enum $Name {
            Small($Box<[u64; 8]>),
            Middle($Box<[u64; 25]>),
            Large($Box<[u64; 120]>),
        }

        impl Make for $Name {
            fn make(n: u64) -> Self {
                match n % 20 {
                    0 => Self::Large($Box::new([n; 120])),
                    1..5 => Self::Middle($Box::new([n; 25])),
                    _ => Self::Small($Box::new([n; 8])),
                }
            }
        }
    };
}

subject!(Boxes, Box);
subject!(Pool, Pooled);

fn shuffle<T>(values: &mut [T], mut random: u64) {
    for end in (1..values.len()).rev() {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        values.swap(end, usize::try_from(random >> 33).unwrap_or(0) % (end + 1));
    }
}

/// Returns the resident KiB before the first spike, in the last one, right after it, and after idling.
fn serve<T: Make>() -> Result<[usize; 4]> {
    let base: Vec<T> = (0..BASE).map(T::make).collect();
    let resident = || anyhow::Ok(count::resident()? / 1024);
    let mut sizes = [resident()?; 4];
    for round in 0..SPIKES {
        let mut values: Vec<T> = (0..SPIKE).map(T::make).collect();
        shuffle(&mut values, round as u64);
        sizes[1] = resident()?;
        drop(values);
        sizes[2] = resident()?;
        for _ in 0..50 {
            thread::sleep(Duration::from_millis(10));
            black_box((0..100).map(T::make).collect::<Vec<_>>());
        }
        sizes[3] = resident()?;
    }
    black_box(base);
    Ok(sizes)
}

fn measure(subject: &str) -> Result<[usize; 4]> {
    match subject {
        "boxes" => serve::<Boxes>(),
        "Pooled" => serve::<Pool>(),
        other => bail!("no such subject: {other}"),
    }
}

fn main() -> Result<()> {
    if let Some(subject) = env::args().nth(1) {
        println!("{}", measure(&subject)?.map(|size| size.to_string()).join(" "));
        return Ok(());
    }
    println!("resident memory in KiB; the last column is relative to boxes\n");
    println!("{:8}  {:8} {:>8} {:>8} {:>8} {:>8}", "", "", "before", "spike", "dropped", "idle");
    for allocator in ["glibc", "mimalloc"] {
        let mut boxes = None;
        for subject in ["boxes", "Pooled"] {
            let mut run = Command::new(env::current_exe()?);
            let output = run.arg(subject).env(count::VARIABLE, allocator).output()?;
            let text = String::from_utf8_lossy(&output.stdout);
            let mut words = text.split_whitespace().map(str::parse::<usize>);
            let sizes: [_; 4] = array::from_fn(|_| words.next().and_then(Result::ok));
            let sizes = sizes.map(|size| size.with_context(|| String::from_utf8_lossy(&output.stderr).into_owned()));
            let [before, spike, dropped, idle] = sizes;
            let (before, spike, dropped, idle) = (before?, spike?, dropped?, idle?);
            let ratio = idle as f64 / *boxes.get_or_insert(idle) as f64;
            println!("{allocator:8}  {subject:8} {before:8} {spike:8} {dropped:8} {idle:8}  {ratio:5.2}");
        }
    }
    Ok(())
}
