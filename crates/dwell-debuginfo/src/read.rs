//! Reads the entries of compilation units. One of several threads reads each unit once, from start to end.
//!
//! Every unit describes all types that it uses, so most types are read many times. [`Pool`] keeps a type once. It
//! recognises a type by a hash of its own entries: its path, its size, its fields' names and offsets, but not its
//! fields' types. A reference to a type is its global offset, which [`UnitTypes`] maps to the pool.

use super::budget::Budget;
use super::entries::UnitReader;
use super::input::{Input, Shared, Skeleton, Worker};
use super::names::ImplFor;
use super::pool::Pool;
use super::raw::{Body, RawStatic, UnitTypes, merge_body};
use anyhow::Result;
use gimli::Error;
use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The data that all threads share.
pub(super) struct Output<'d> {
    pub pool: Pool<'d>,
    /// As in [`Shared`].
    pub thread_locals: HashMap<&'d [u8], u64>,
    pub units: Vec<UnitTypes>,
    pub bodies: HashMap<String, Body>,
    /// The type of `{impl#3}` in a path: `app::{impl#3}` is `Server`.
    pub impls: HashMap<String, ImplFor>,
    pub statics: Vec<RawStatic>,
    pub skeletons: Vec<Skeleton<'d>>,
    pub damaged: Vec<String>,
    pub rustc: Option<String>,
    /// The number of units by rustc.
    pub rust_units: usize,
}

impl<'d> Output<'d> {
    pub(super) fn new(thread_locals: HashMap<&'d [u8], u64>) -> Self {
        Self {
            pool: Pool::new(),
            thread_locals,
            units: Vec::new(),
            bodies: HashMap::new(),
            impls: HashMap::new(),
            statics: Vec::new(),
            skeletons: Vec::new(),
            damaged: Vec::new(),
            rustc: None,
            rust_units: 0,
        }
    }
}

/// Reads `inputs` with `threads` threads into `output`; calls `progress` with the bytes of each unit.
///
/// # Errors
/// Returns an error if the budget is exceeded, or if a unit by rustc is damaged. A damaged unit of another compiler is
/// recorded and skipped.
pub(super) fn read<'d>(
    inputs: &[Input<'_, 'd>],
    threads: usize,
    budget: &Budget,
    output: &mut Output<'d>,
    progress: &(dyn Fn(u64) + Sync),
) -> Result<()> {
    let first = output.units.len();
    // The longest units come first, so that all threads finish at about the same time.
    let mut order: Vec<usize> = (0..inputs.len()).collect();
    order.sort_by_key(|&index| (std::cmp::Reverse(inputs[index].header.length_including_self()), index));
    let next = AtomicUsize::new(0);
    let shared = Shared { pool: &output.pool, budget, thread_locals: &output.thread_locals };
    let work = || -> Result<Worker<'d>> {
        let mut worker = Worker::default();
        while let Some(&index) = order.get(next.fetch_add(1, Ordering::Relaxed)) {
            let input = &inputs[index];
            worker
                .unit(input, index, first + index, shared)
                .inspect_err(|_| next.store(order.len(), Ordering::Relaxed))?;
            progress(input.header.length_including_self() as u64);
        }
        Ok(worker)
    };
    let workers: Vec<Result<Worker<'d>>> = std::thread::scope(|scope| {
        let others: Vec<_> = (1..threads.clamp(1, inputs.len().max(1))).map(|_| scope.spawn(work)).collect();
        let own = work();
        let joined =
            others.into_iter().map(|other| other.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
        std::iter::once(own).chain(joined).collect()
    });
    let mut units = Vec::new();
    let mut damaged = Vec::new();
    let mut skeletons = Vec::new();
    for worker in workers {
        let worker = worker?;
        units.extend(worker.units);
        damaged.extend(worker.damaged);
        skeletons.extend(worker.skeletons);
        output.statics.extend(worker.statics);
        output.rust_units += worker.rust_units;
        for (path, body) in worker.bodies {
            merge_body(&mut output.bodies, path, body);
        }
        for (path, name) in worker.impls {
            let kept = output.impls.entry(path).or_insert_with(|| name.clone());
            if name.unit < kept.unit {
                *kept = name;
            }
        }
        output.rustc = output.rustc.take().max(worker.rustc);
    }
    units.sort_unstable_by_key(|(index, _)| *index);
    damaged.sort_unstable();
    skeletons.sort_unstable_by_key(|(index, _)| *index);
    output.statics.sort_unstable_by(|a, b| (a.address, &a.path).cmp(&(b.address, &b.path)));
    output.statics.dedup_by(|a, b| (a.address, &a.path) == (b.address, &b.path));
    output.units.extend(units.into_iter().map(|(_, unit)| unit));
    output.damaged.extend(damaged.into_iter().map(|(_, text)| text));
    output.skeletons.extend(skeletons.into_iter().map(|(_, skeleton)| skeleton));
    Ok(())
}

impl<'d> Worker<'d> {
    fn unit(&mut self, input: &Input<'_, 'd>, index: usize, number: usize, shared: Shared<'_, 'd>) -> Result<()> {
        let budget = shared.budget;
        let mut types = UnitTypes { name: String::new(), base: input.base, types: Vec::new(), unnamed: Vec::new() };
        let damaged = |error: &Error| {
            format!("{}: the unit at {:#x} of its debug info is damaged: {error}", input.file, input.header.offset().0)
        };
        match input.open(&mut self.abbreviations) {
            Ok(opened) if opened.dwo_name.is_some() && input.dwarf.file_type == gimli::DwarfFileType::Main => {
                let name = opened.dwo_name.unwrap_or_default();
                budget.charge((name.len() + 128) as u64)?;
                let (id, folder, line) = (opened.unit.dwo_id, opened.unit.comp_dir, opened.line);
                let (low_pc, addresses, ranges) =
                    (opened.unit.low_pc, opened.unit.addr_base, opened.unit.rnglists_base);
                self.skeletons.push((index, Skeleton { id, folder, name, line, low_pc, addresses, ranges }));
            }
            Ok(opened) if opened.is_rust => {
                let files_of = input.files_of(&opened);
                self.rust_units += 1;
                self.rustc = self.rustc.take().max(opened.rustc.clone());
                types.name = opened.unit.name.map_or_else(String::new, |name| name.to_string_lossy().into_owned());
                budget.charge(types.name.len() as u64 + 128)?;
                let number = u32::try_from(number).unwrap_or(u32::MAX);
                let mut reader = UnitReader::new(input, files_of, opened, number, shared, self, &mut types);
                let read = reader.read();
                let is_over = reader.is_over();
                if is_over {
                    budget.charge(u64::MAX)?;
                }
                if let Err(error) = read {
                    anyhow::bail!("{}; build the program again", damaged(&error));
                }
            }
            Ok(_) => {}
            Err(error) => self.damaged.push((index, damaged(&error))),
        }
        types.types.sort_unstable_by_key(|(offset, _)| *offset);
        self.units.push((index, types));
        Ok(())
    }
}
