//! The resident memory of many small slabs: `cargo run -p dwell-bench --example small_slabs`.
//!
//! The requested bytes of a slab do not show how many pages they touch. So a separate process for each subject creates
//! ten thousand slabs of ten values, or as many boxes, and prints its resident memory.

#![expect(dead_code, reason = "the module is that of the whole suite, which uses more of it")]

#[path = "../src/count.rs"]
mod count;

use anyhow::{Context, Result, bail};
use dwell::slab::Slab;
use std::hint::black_box;
use std::process::Command;
use std::{env, iter};

type Value = [u64; 9];

const GROUPS: u64 = 10_000;
const EACH: usize = 10;

/// Returns the KiB by which the resident memory of this process is larger while the groups exist.
fn grown<T>(group: impl Fn(&mut dyn Iterator<Item = Value>) -> T) -> Result<usize> {
    let before = count::resident()?;
    let all: Vec<T> = (0..GROUPS).map(|n| group(&mut iter::repeat_n([n; 9], EACH))).collect();
    let after = count::resident()?;
    black_box(all);
    Ok((after - before) / 1024)
}

fn measure(subject: &str) -> Result<usize> {
    match subject {
        "boxes" => grown(|values| values.map(Box::new).collect::<Vec<_>>()),
        "a slab a group" => grown(|values| {
            let slab = Slab::new();
            let slots: Vec<_> = values.map(|value| slab.insert(value)).collect();
            (slab, slots)
        }),
        "one slab" => {
            let slab = Slab::new();
            grown(|values| values.map(|value| slab.insert(value)).collect::<Vec<_>>())
        }
        other => bail!("no such subject: {other}"),
    }
}

fn main() -> Result<()> {
    if let Some(subject) = env::args().nth(1) {
        println!("{}", measure(&subject)?);
        return Ok(());
    }
    println!("{GROUPS} groups of {EACH} values of {} bytes; resident memory in KiB", size_of::<Value>());
    for allocator in ["glibc", "mimalloc"] {
        let mut boxes = None;
        for subject in ["boxes", "a slab a group", "one slab"] {
            let mut run = Command::new(env::current_exe()?);
            let output = run.arg(subject).env(count::VARIABLE, allocator).output()?;
            let size = String::from_utf8_lossy(&output.stdout).trim().parse::<usize>();
            let size = size.with_context(|| String::from_utf8_lossy(&output.stderr).into_owned())?;
            let ratio = size as f64 / *boxes.get_or_insert(size) as f64;
            println!("{allocator:8}  {subject:15} {size:8}  {ratio:5.2}");
        }
    }
    Ok(())
}
