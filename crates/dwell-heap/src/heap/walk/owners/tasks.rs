//! Tasks of tokio without call stacks: a task begins with a header, which points to a table of functions. Their arguments are
//! the future and the scheduler.

use crate::capture::{Block, Snapshot, rust};
use crate::debuginfo::{Frames, TypeId};
use crate::heap::walk::{BlockType, Schema};
use std::collections::HashMap;
use std::ops::Range;

/// The type of a task's block.
const CELL: &str = "tokio::runtime::task::core::Cell";
/// The functions in the table.
const FUNCTIONS: &str = "tokio::runtime::task::raw::";
/// The words of a header that may point to the table, by version.
const WORDS: [usize; 4] = [2, 3, 4, 5];
/// The smallest task.
const LEAST: u64 = 96;
/// The words of a table that are read, and the least number of functions among them.
const TABLE: usize = 8;
const LEAST_FUNCTIONS: usize = 3;

/// Returns the tables that a block may point to as a task does.
fn tables<'a>(snapshot: &Snapshot, rust: &'a [Range<u64>], block: Block) -> impl Iterator<Item = u64> + 'a {
    let mut bytes = [0; 48];
    let is_read = block.size >= LEAST && snapshot.memory.read(block.addr, &mut bytes) == bytes.len();
    WORDS.into_iter().filter(move |_| is_read).filter_map(move |word| {
        let at = bytes.as_chunks::<8>().0.get(word).map(|word| u64::from_le_bytes(*word))?;
        (at % 8 == 0 && rust.iter().any(|range| range.contains(&at))).then_some(at)
    })
}

/// Returns the addresses of the files with Rust code.
fn ranges(snapshot: &Snapshot) -> Vec<Range<u64>> {
    rust(&snapshot.modules).map(|module| module.start..module.end).collect()
}

/// Returns the functions in a table, as the debug info counts addresses.
fn functions(snapshot: &Snapshot, table: u64) -> Vec<u64> {
    let mut bytes = [0; 8 * TABLE];
    let read = snapshot.memory.read(table, &mut bytes);
    let words = bytes[..read].as_chunks::<8>().0.iter().map(|word| u64::from_le_bytes(*word));
    let found: Vec<u64> = words.filter_map(|word| snapshot.in_program(word)).collect();
    if found.len() < LEAST_FUNCTIONS { Vec::new() } else { found }
}

/// Returns the functions in all tables that blocks point to as tasks do.
pub(super) fn addresses(snapshot: &Snapshot) -> Vec<u64> {
    if snapshot.usable.is_none() {
        return Vec::new();
    }
    let rust = ranges(snapshot);
    let mut all: Vec<u64> = snapshot.blocks.iter().flat_map(|block| tables(snapshot, &rust, *block)).collect();
    all.sort_unstable();
    all.dedup();
    all.into_iter().flat_map(|table| functions(snapshot, table)).collect()
}

/// Finds the blocks that are tasks, with their types and names.
pub(crate) fn find(snapshot: &Snapshot, frames: &Frames, schema: &Schema<'_>) -> HashMap<usize, (BlockType, String)> {
    let mut found = HashMap::new();
    let rust = ranges(snapshot);
    let mut known: HashMap<u64, Option<TypeId>> = HashMap::new();
    for (index, block) in snapshot.blocks.iter().enumerate() {
        for table in tables(snapshot, &rust, *block) {
            let cell = *known.entry(table).or_insert_with(|| {
                let functions = functions(snapshot, table);
                functions.iter().find_map(|function| cell(frames, *function, schema))
            });
            if let Some(cell) = cell.filter(|cell| schema.get(*cell).size <= block.size) {
                let future = schema.param(cell, "T").map_or("?", |future| &*schema.get(future).name);
                found.insert(index, (BlockType::Value(cell), format!("task {future}")));
                break;
            }
        }
    }
    found
}

/// Returns the type of the tasks that a function is for.
fn cell(frames: &Frames, function: u64, schema: &Schema<'_>) -> Option<TypeId> {
    let frame = frames.get(&function)?.last()?;
    if !frame.path.starts_with(FUNCTIONS) {
        return None;
    }
    let argument = |name: &str| frame.params.iter().find(|param| &*param.name == name).map(|param| param.ty);
    let (future, scheduler) = (argument("T")?, argument("S")?);
    let (path, of_scheduler) = (&schema.get(future).path, &schema.get(scheduler).path);
    schema.by_path(&format!("{CELL}<{path}, {of_scheduler}>"), future)
}
