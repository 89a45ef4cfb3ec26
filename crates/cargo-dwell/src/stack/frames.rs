//! The sizes of functions' stack frames, from the tables for unwinding and the prologues.

use super::code::{Code, Processor};
use anyhow::{Context as _, Result, bail};
use dwell_debuginfo::map;
use gimli::{
    BaseAddresses, CfaRule, CieOrFde, DebugFrame, EhFrame, EndianSlice, LittleEndian, UnwindContext, UnwindOffset,
    UnwindSection,
};
use object::{Object as _, ObjectSection as _, ObjectSymbol as _, SymbolKind};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::Path;

/// A function with its frame.
#[derive(Clone, Debug)]
pub(super) struct Function {
    pub(super) address: u64,
    /// The name as in source.
    pub(super) name: String,
    /// The bytes of the frame: the return address, saved registers and locals.
    pub(super) frame: u64,
    /// The functions that it calls or jumps to, as indices.
    pub(super) calls: Vec<usize>,
    /// Whether it calls a function that only the running program knows: by a pointer or in a library.
    pub(super) is_open: bool,
}

/// The functions of an executable.
#[derive(Clone, Debug)]
pub(super) struct Functions {
    /// Sorted by address.
    pub(super) all: Vec<Function>,
    /// The size of an address in bytes.
    pub(super) word: u8,
}

/// Reads the functions of an executable.
///
/// # Errors
/// Returns an error if the file cannot be read, has no table for unwinding, or is for a processor whose instructions are not read.
pub(super) fn read(path: &Path) -> Result<Functions> {
    let data = map(path)?;
    let object = object::File::parse(&data[..]).with_context(|| format!("{}: cannot be read", path.display()))?;
    let Some(processor) = Processor::of(object.architecture()).filter(|_| object.is_little_endian()) else {
        bail!("{}: is for {:?}; frames are read for x86, Arm and RISC-V", path.display(), object.architecture());
    };
    let frames = unwound(&object, processor).with_context(|| format!("{}: the table for unwinding", path.display()))?;
    if frames.is_empty() {
        bail!(
            "{}: has neither .eh_frame nor .debug_frame; build it with -Cforce-unwind-tables=yes or debug info",
            path.display()
        );
    }
    let mut names: HashMap<u64, &str> = HashMap::new();
    // Functions in Arm's A32.
    let mut in_arm: HashSet<u64> = HashSet::new();
    // Where constants between instructions start and end: `$d`, and `$a` or `$t`.
    let mut constants: BTreeMap<u64, bool> = BTreeMap::new();
    for symbol in object.symbols().chain(object.dynamic_symbols()) {
        let Ok(name) = symbol.name() else { continue };
        if processor == Processor::Thumb && ["$a", "$d", "$t"].iter().any(|start| name.starts_with(start)) {
            constants.insert(symbol.address(), name.starts_with("$d"));
        } else if symbol.kind() == SymbolKind::Text {
            // The lowest bit says that the instructions are T32.
            let mut address = symbol.address();
            if processor == Processor::Thumb {
                if address & 1 == 0 {
                    in_arm.insert(address);
                }
                address &= !1;
            }
            names.entry(address).or_insert(name);
        }
    }
    let is_constant = |at: u64| constants.range(..=at).next_back().is_some_and(|(_, is)| *is);
    let starts: Vec<u64> = frames.keys().copied().collect();
    let code: Vec<(u64, &[u8])> = object
        .sections()
        .filter(|section| section.kind() == object::SectionKind::Text)
        .filter_map(|section| Some((section.address(), section.data().ok()?)))
        .collect();
    let mut all = Vec::with_capacity(frames.len());
    for (&start, frame) in &frames {
        let Some(name) = names.get(&start) else {
            let name = format!("{start:#x}");
            all.push(Function { address: start, name, frame: frame.bytes, calls: Vec::new(), is_open: true });
            continue;
        };
        let processor = if in_arm.contains(&start) { Processor::Arm } else { processor };
        let body = code.iter().find_map(|(address, bytes)| {
            let at = usize::try_from(start.checked_sub(*address)?).ok()?;
            bytes.get(at..at.checked_add(usize::try_from(frame.length).ok()?)?)
        });
        let unknown = Code { is_open: true, ..Code::default() };
        let code = body.map_or(unknown, |body| processor.decode(body, start, &is_constant));
        // With a frame pointer, the table does not have the size of the locals.
        let by_prologue = code.below.saturating_add(processor.return_address());
        let bytes = if frame.has_pointer { frame.bytes.max(by_prologue) } else { frame.bytes };
        let calls: Vec<usize> = code.calls.iter().filter_map(|target| starts.binary_search(target).ok()).collect();
        all.push(Function {
            address: start,
            name: format!("{:#}", rustc_demangle::demangle(name)),
            frame: bytes,
            is_open: code.is_open || calls.len() < code.calls.len(),
            calls,
        });
    }
    Ok(Functions { all, word: processor.word() })
}

/// What the table for unwinding says of a function.
#[derive(Clone, Copy, Debug)]
struct Unwound {
    length: u64,
    /// The largest distance of the caller's frame from the stack pointer.
    bytes: u64,
    /// Whether another register than the stack pointer has the frame's address.
    has_pointer: bool,
}

/// Reads both tables: programs without unwinding have the one for debuggers.
fn unwound(object: &object::File<'_>, processor: Processor) -> Result<BTreeMap<u64, Unwound>> {
    let mut all = BTreeMap::new();
    let section = |name: &str| object.section_by_name(name);
    let address = |name: &str| section(name).map_or(0, |section| section.address());
    let bases = BaseAddresses::default().set_eh_frame(address(".eh_frame")).set_text(address(".text"));
    let bases = bases.set_got(address(".got"));
    if let Some(found) = section(".debug_frame") {
        let bytes = found.uncompressed_data()?;
        let mut table = DebugFrame::from(EndianSlice::new(&bytes, LittleEndian));
        table.set_address_size(processor.word());
        add(&table, &bases, processor, &mut all)?;
    }
    if let Some(found) = section(".eh_frame") {
        let mut table = EhFrame::from(EndianSlice::new(found.data()?, LittleEndian));
        table.set_address_size(processor.word());
        add(&table, &bases, processor, &mut all)?;
    }
    Ok(all)
}

fn add<'d, S>(table: &S, bases: &BaseAddresses, processor: Processor, all: &mut BTreeMap<u64, Unwound>) -> Result<()>
where
    S: UnwindSection<EndianSlice<'d, LittleEndian>>,
    S::Offset: UnwindOffset<usize>,
{
    let mut entries = table.entries(bases);
    let mut context = UnwindContext::new();
    while let Some(entry) = entries.next()? {
        let CieOrFde::Fde(partial) = entry else { continue };
        let Ok(fde) = partial.parse(S::cie_from_offset) else { continue };
        let Ok(mut rows) = fde.rows(table, bases, &mut context) else { continue };
        let (mut bytes, mut has_pointer) = (processor.return_address(), false);
        while let Ok(Some(row)) = rows.next_row() {
            if let CfaRule::RegisterAndOffset { register, offset } = row.cfa() {
                has_pointer |= register.0 != processor.stack_pointer();
                bytes = bytes.max(u64::try_from(*offset).unwrap_or(0));
            }
        }
        // The linker leaves the entries of functions that it removes at the address 0.
        if fde.initial_address() != 0 {
            all.insert(fde.initial_address(), Unwound { length: fde.len(), bytes, has_pointer });
        }
    }
    Ok(())
}
