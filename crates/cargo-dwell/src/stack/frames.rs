//! The sizes of functions' stack frames, from `.eh_frame`, and the calls between functions, from their instructions.

use anyhow::{Context as _, Result, bail};
use dwell_debuginfo::map;
use gimli::{BaseAddresses, CfaRule, CieOrFde, EhFrame, EndianSlice, LittleEndian, UnwindContext, UnwindSection as _};
use iced_x86::{Decoder, DecoderOptions, FlowControl, Mnemonic, OpKind, Register};
use object::{Architecture, Object as _, ObjectSection as _, ObjectSymbol as _, SymbolKind};
use std::collections::{BTreeMap, HashMap};
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

/// Reads the functions of an executable, sorted by address.
///
/// # Errors
/// Returns an error if the file cannot be read, has no `.eh_frame`, or is for another processor than x86-64.
pub(super) fn read(path: &Path) -> Result<Vec<Function>> {
    let data = map(path)?;
    let object = object::File::parse(&data[..]).with_context(|| format!("{}: cannot be read", path.display()))?;
    if object.architecture() != Architecture::X86_64 {
        bail!("{}: is for another processor; frames are read for x86-64 only", path.display());
    }
    let section = |name: &str| object.section_by_name(name);
    let Some(eh_frame) = section(".eh_frame") else {
        bail!("{}: has no .eh_frame; build it with -Cforce-unwind-tables=yes", path.display());
    };
    let address = |name: &str| section(name).map_or(0, |section| section.address());
    let bases = BaseAddresses::default().set_eh_frame(eh_frame.address()).set_text(address(".text"));
    let bases = bases.set_got(address(".got"));
    let bytes = eh_frame.data().with_context(|| format!("{}: its .eh_frame is damaged", path.display()))?;
    let mut table = EhFrame::from(EndianSlice::new(bytes, LittleEndian));
    table.set_address_size(8);

    let mut frames: BTreeMap<u64, (u64, u64, bool)> = BTreeMap::new();
    let mut entries = table.entries(&bases);
    let mut context = UnwindContext::new();
    while let Some(entry) = entries.next().with_context(|| format!("{}: its .eh_frame is damaged", path.display()))? {
        let CieOrFde::Fde(partial) = entry else { continue };
        let Ok(fde) = partial.parse(EhFrame::cie_from_offset) else { continue };
        let Ok(mut rows) = fde.rows(&table, &bases, &mut context) else { continue };
        let (mut most, mut has_pointer) = (8, false);
        while let Ok(Some(row)) = rows.next_row() {
            if let CfaRule::RegisterAndOffset { register, offset } = row.cfa() {
                let offset = u64::try_from(*offset).unwrap_or(0);
                has_pointer |= register.0 == RBP;
                most = most.max(offset);
            }
        }
        frames.insert(fde.initial_address(), (fde.len(), most, has_pointer));
    }

    let mut names: HashMap<u64, &str> = HashMap::new();
    for symbol in object.symbols().chain(object.dynamic_symbols()) {
        if let (SymbolKind::Text, Ok(name)) = (symbol.kind(), symbol.name()) {
            names.entry(symbol.address()).or_insert(name);
        }
    }
    let starts: Vec<u64> = frames.keys().copied().collect();
    let index_of = |address: u64| starts.binary_search(&address).ok();
    let code: Vec<(u64, &[u8])> = object
        .sections()
        .filter(|section| section.kind() == object::SectionKind::Text)
        .filter_map(|section| Some((section.address(), section.data().ok()?)))
        .collect();
    let mut functions = Vec::with_capacity(frames.len());
    for (&start, &(length, most, has_pointer)) in &frames {
        let Some(name) = names.get(&start) else {
            functions.push(Function {
                address: start,
                name: format!("{start:#x}"),
                frame: most,
                calls: Vec::new(),
                is_open: true,
            });
            continue;
        };
        let body = code.iter().find_map(|(address, bytes)| {
            let at = usize::try_from(start.checked_sub(*address)?).ok()?;
            bytes.get(at..at.checked_add(usize::try_from(length).ok()?)?)
        });
        let (calls, is_open, below) = body.map_or((Vec::new(), true, 0), |body| decode(body, start, length, &index_of));
        // With a frame pointer, the table does not have the size of the locals; the prologue subtracts it.
        let frame = if has_pointer { most.saturating_add(below) } else { most };
        let name = format!("{:#}", rustc_demangle::demangle(name));
        functions.push(Function { address: start, name, frame, calls, is_open });
    }
    Ok(functions)
}

/// The number of the register `rbp` in DWARF.
const RBP: u16 = 6;

/// Returns the functions that a body calls, whether it calls unknown ones, and the bytes that its prologue reserves.
fn decode(body: &[u8], start: u64, length: u64, index_of: &impl Fn(u64) -> Option<usize>) -> (Vec<usize>, bool, u64) {
    let mut decoder = Decoder::with_ip(64, body, start, DecoderOptions::NONE);
    let (mut calls, mut is_open, mut below) = (Vec::new(), false, 0_u64);
    let mut is_prologue = true;
    while decoder.can_decode() {
        let instruction = decoder.decode();
        let is_sub = instruction.mnemonic() == Mnemonic::Sub && instruction.op0_register() == Register::RSP;
        if is_prologue && is_sub && matches!(instruction.op1_kind(), OpKind::Immediate32to64 | OpKind::Immediate8to64) {
            below = below.saturating_add(instruction.immediate(1));
        }
        match instruction.flow_control() {
            FlowControl::Call | FlowControl::UnconditionalBranch => {
                let target = instruction.near_branch_target();
                is_prologue = false;
                let is_inside = target >= start && target - start < length;
                let is_call = instruction.flow_control() == FlowControl::Call;
                if is_inside && !(is_call && target == start) {
                    continue;
                }
                match index_of(target) {
                    Some(index) => calls.push(index),
                    None => is_open = true,
                }
            }
            FlowControl::IndirectCall => is_open = true,
            _ => {}
        }
    }
    calls.sort_unstable();
    calls.dedup();
    (calls, is_open, below)
}
