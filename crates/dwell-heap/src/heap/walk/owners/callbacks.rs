//! Values that C code holds beside the function that frees them, such as those of JavaScript's objects: `napi_wrap` takes both.

use crate::capture::{Snapshot, rust};
use crate::debuginfo::{self, Frames, TypeId};
use crate::heap::walk::{BlockType, Schema};
use object::read::elf::{ElfFile64, ProgramHeader as _};
use object::{LittleEndian, elf};
use std::collections::HashMap;
use std::ops::Range;

/// The words of a block that are read.
const WORDS: usize = 32;
/// Parts of the names of functions that free a value.
const NAMES: [&str; 5] = ["finalize", "drop", "destr", "free", "release"];

/// Returns the addresses of Rust code in a program of another language.
fn code(snapshot: &Snapshot) -> Vec<Range<u64>> {
    let mut all = Vec::new();
    if snapshot.modules.first().is_none_or(|module| module.is_executable) {
        return all;
    }
    for module in rust(&snapshot.modules) {
        let Ok(data) = debuginfo::map(&module.path) else { continue };
        let Ok(file) = ElfFile64::<LittleEndian>::parse(&*data) else { continue };
        let e = LittleEndian;
        let segments = file.elf_program_headers().iter().filter(|segment| segment.p_type(e) == elf::PT_LOAD);
        all.extend(segments.filter(|segment| segment.p_flags(e) & elf::PF_X == elf::PF_X).map(|segment| {
            let start = segment.p_vaddr(e).wrapping_add(module.bias);
            start..start.saturating_add(segment.p_memsz(e))
        }));
    }
    all
}

/// Calls `found` with the functions in blocks, and the blocks beside them, by index.
fn pairs(snapshot: &Snapshot, found: &mut dyn FnMut(u64, usize)) {
    let code = code(snapshot);
    let mut bytes = [0; 8 * WORDS];
    for block in snapshot.blocks.iter().filter(|_| !code.is_empty()) {
        let len = usize::try_from(block.size).map_or(bytes.len(), |size| size.min(bytes.len()));
        let read = snapshot.memory.read(block.addr, &mut bytes[..len]);
        let words = bytes[..read].as_chunks::<8>().0;
        for (at, function) in words.iter().map(|word| u64::from_le_bytes(*word)).enumerate() {
            if !code.iter().any(|range| range.contains(&function)) {
                continue;
            }
            for word in &words[at.saturating_sub(1)..(at + 2).min(words.len())] {
                let value = u64::from_le_bytes(*word);
                if let Ok(index) = snapshot.blocks.binary_search_by_key(&value, |block| block.addr) {
                    found(function, index);
                }
            }
        }
    }
}

/// Returns the functions, as the debug info counts their addresses.
pub(super) fn addresses(snapshot: &Snapshot) -> Vec<u64> {
    let mut all = Vec::new();
    pairs(snapshot, &mut |function, _| all.extend(snapshot.in_program(function)));
    all.sort_unstable();
    all.dedup();
    all
}

/// Finds the blocks that a function beside them frees, with their types and names.
pub(crate) fn find(snapshot: &Snapshot, frames: &Frames, schema: &Schema<'_>) -> HashMap<usize, (BlockType, String)> {
    let mut all = HashMap::new();
    pairs(snapshot, &mut |function, index| {
        let usable = snapshot.blocks[index].size;
        let fits = |ty: TypeId| {
            let size = schema.get(ty).size;
            size > 0 && snapshot.usable.is_some_and(|rounding| rounding.fits(size, usable))
        };
        if let Some(frame) = snapshot.in_program(function).and_then(|address| frames.get(&address)?.last())
            && let Some(name) = frame.path.split('<').next().and_then(|path| path.rsplit("::").next())
            && NAMES.iter().any(|part| name.contains(part))
            && let Some(param) = frame.params.iter().find(|param| fits(param.ty))
        {
            let value = &schema.get(param.ty).name;
            all.insert(index, (BlockType::Value(param.ty), format!("{value} that C code holds")));
        }
    });
    all
}
