//! Plans the hooks for allocators that are linked statically.
//!
//! A jump to a stub near the executable replaces a function's first instructions. The stub jumps to the agent's hook. The
//! replaced instructions move next to the stub, followed by a jump to the rest of the function; the hook calls this code as
//! the original function. The tool encodes all code for several addresses, and the agent picks a free address and copies the
//! bytes.
//!
//! A function is not patched, and a note says so, if one of its first instructions cannot be moved, or if the function
//! branches back to one of them.

#![expect(
    clippy::cast_possible_truncation,
    reason = "sizes of code are below 2^31, and `usize` has 64 bits where this runs"
)]

mod aarch64;
mod x86_64;

use super::layout::{Allocator, CALLS, FUNCTIONS, PATCH_BYTES, PLACEMENTS, Patch, Patches};
use crate::agent::loadable::code_at;
use object::read::elf::ElfFile64;
use object::{Architecture, LittleEndian, Object, ObjectSegment, ObjectSymbol, SymbolKind};
use std::collections::BTreeMap;

/// The patches for an executable.
#[derive(Debug, Default)]
pub(crate) struct Plan {
    /// The patches in the format of the agent; empty if there are none.
    pub(crate) bytes: Vec<u8>,
    pub(crate) count: u32,
    /// The allocator that is linked statically.
    pub(crate) allocator: Option<Allocator>,
    /// Functions that cannot be patched, with reasons.
    pub(crate) refused: Vec<String>,
    /// Why the calls of the asked functions cannot be counted.
    pub(crate) uncounted: Option<String>,
}

/// The instructions of a processor.
trait Processor {
    /// The first bytes of a stub: a jump to the address that follows them.
    const STUB: [u8; 8];
    /// What fills the replaced bytes behind the jump.
    const FILLER: u8;
    /// The largest executable in MiB whose functions can jump to each placement.
    const LARGEST: u64;
    /// The distances in MiB of the placements from the executable: four below it, and four above it with space for the heap
    /// between.
    const DISTANCES: ([u64; PLACEMENTS / 2], [u64; PLACEMENTS / 2]);

    /// Returns the number of bytes that the jump replaces, or the reason why the function cannot be patched.
    fn replaced(code: &[u8], addr: u64) -> Result<usize, String>;

    /// Moves instructions from one address to another, with a jump to what followed them. Returns `None` if that is too far.
    fn moved(code: &[u8], from: u64, to: u64) -> Option<Vec<u8>>;

    /// Encodes what adds one to the word whose address is this many bytes behind the code's start, if this processor can do
    /// so at a function's start without a change of its arguments.
    fn counter(address: u8) -> Option<Vec<u8>>;

    /// Encodes the jump to the stub. Returns `None` if that is too far.
    fn jump(from: u64, to: u64) -> Option<Vec<u8>>;
}

/// The size of a stub in bytes: the jump, and the hook's address.
const STUB: usize = 16;
/// The size of a page. Addresses of code are multiples of the largest page that kernels have.
const PAGE: u64 = super::layout::LARGEST_PAGE as u64;
const MEGABYTE: u64 = 1 << 20;

/// The size of the part of the code for a function. A moved instruction may become longer, so that all have a fixed size.
const PART: usize = 128;
/// Where the part of a function whose calls are counted has the address of their number.
const ADDRESS: usize = 112;

/// Plans the patches for an executable. `counted` are the addresses and sizes of functions whose calls are counted.
pub(crate) fn plan(data: &[u8], counted: &[(u64, u64)]) -> Plan {
    let Ok(file) = ElfFile64::<LittleEndian>::parse(data) else { return Plan::default() };
    match file.architecture() {
        Architecture::Aarch64 => plan_for::<aarch64::Aarch64>(&file, data, counted),
        _ => plan_for::<x86_64::X86_64>(&file, data, counted),
    }
}

/// Returns the functions whose calls are counted, or why that is not possible for one of them.
fn counters<'d, P: Processor>(
    file: &ElfFile64<'d, LittleEndian>,
    data: &'d [u8],
    counted: &[(u64, u64)],
) -> Result<Vec<Site<'d>>, String> {
    let site = |(addr, size): &(u64, u64)| {
        let code = code_at(file, data, *addr, *size).ok_or("the function has no code")?;
        let len = P::replaced(code, *addr).map_err(|reason| format!("its code {reason}"))?;
        P::counter(ADDRESS as u8).ok_or("that is done on x86-64 only")?;
        Ok(Site { addr: *addr, function: CALLS as usize, code: &code[..len] })
    };
    counted.iter().map(site).collect()
}

fn plan_for<'d, P: Processor>(file: &ElfFile64<'d, LittleEndian>, data: &'d [u8], counted: &[(u64, u64)]) -> Plan {
    let mut plan = Plan::default();
    let found = functions(file);
    let hooked: Vec<u64> = found.keys().copied().collect();
    let is_hooked = |addr: u64| hooked.contains(&addr);
    plan.allocator = found.values().map(|(function, ..)| FUNCTIONS[*function].allocator).min();
    let mut sites = Vec::new();
    for (addr, (function, name, size)) in found {
        let Some(code) = code_at(file, data, addr, size) else { continue };
        match P::replaced(code, addr) {
            Ok(len) => sites.push(Site { addr, function, code: &code[..len] }),
            Err(reason) => plan.refused.push(format!("{name} {reason}")),
        }
    }
    match counters::<P>(file, data, counted) {
        Ok(counters) => sites.extend(counters.into_iter().filter(|counter| !is_hooked(counter.addr))),
        Err(reason) => plan.uncounted = Some(reason),
    }
    if sites.is_empty() {
        return plan;
    }
    let start = file.segments().map(|segment| segment.address()).min().unwrap_or(0) & !(PAGE - 1);
    let end =
        file.segments().map(|segment| segment.address() + segment.size()).max().unwrap_or(0).next_multiple_of(PAGE);
    if end - start > P::LARGEST * MEGABYTE {
        plan.refused.push(format!("the executable is larger than {} MiB in memory", P::LARGEST));
        return plan;
    }
    if let Some(bytes) = encode::<P>(&sites, &placements::<P>(start, end)) {
        plan.bytes = bytes;
        plan.count = sites.len() as u32;
    } else {
        plan.refused.push(format!("the first instructions of {} functions cannot be relocated", sites.len()));
    }
    plan
}

/// A function to patch.
struct Site<'d> {
    addr: u64,
    function: usize,
    /// The replaced bytes.
    code: &'d [u8],
}

/// Returns the functions of known allocators by address. A function with several names is listed once.
fn functions<'d>(file: &ElfFile64<'d, LittleEndian>) -> BTreeMap<u64, (usize, &'d str, u64)> {
    let mut named = BTreeMap::new();
    for symbol in file.symbols() {
        if symbol.kind() == SymbolKind::Text
            && symbol.address() != 0
            && symbol.is_definition()
            && let Ok(name) = symbol.name()
        {
            named.entry(name).or_insert((symbol.address(), symbol.size()));
        }
    }
    let prefix =
        ["_rjem_", "je_", "jemalloc_"].into_iter().find(|prefix| named.contains_key(&*format!("{prefix}mallocx")));
    let mut found = BTreeMap::new();
    for (index, function) in FUNCTIONS.iter().enumerate() {
        let name = match (function.allocator, prefix) {
            (Allocator::Jemalloc, None) => continue,
            (Allocator::Jemalloc, Some(prefix)) => format!("{prefix}{}", function.name),
            _ => function.name.to_owned(),
        };
        if let Some((name, (addr, size))) = named.get_key_value(&*name) {
            found.entry(*addr).or_insert((index, *name, *size));
        }
    }
    found
}

/// Returns addresses for the code.
fn placements<P: Processor>(start: u64, end: u64) -> [u64; PLACEMENTS] {
    let (below, above) = P::DISTANCES;
    let mut all = [0; PLACEMENTS];
    let below = below.map(|megabytes| start.wrapping_sub(megabytes * MEGABYTE));
    let above = above.map(|megabytes| end + megabytes * MEGABYTE);
    for (place, addr) in all.iter_mut().zip(below.into_iter().chain(above)) {
        *place = addr;
    }
    all
}

/// Encodes the plan.
fn encode<P: Processor>(sites: &[Site<'_>], placements: &[u64; PLACEMENTS]) -> Option<Vec<u8>> {
    let mut patches: Vec<Patch> = sites
        .iter()
        .map(|site| {
            let mut old = [0; PATCH_BYTES];
            let len = site.code.len();
            old[..len].copy_from_slice(site.code);
            Patch {
                addr: site.addr,
                function: site.function as u32,
                len: len as u32,
                moved: 0,
                hook: 0,
                old,
                new: [[P::FILLER; PATCH_BYTES]; PLACEMENTS],
            }
        })
        .collect();
    let code_bytes = (sites.len() * PART).next_multiple_of(PAGE as usize);
    let mut codes = Vec::new();
    for (number, base) in placements.iter().enumerate() {
        let mut code = vec![0xcc; code_bytes];
        for ((index, site), patch) in sites.iter().enumerate().zip(&mut patches) {
            let at = index * PART;
            let part = &mut code[at..at + PART];
            let (start, hook) = if patch.function == CALLS {
                (P::counter(ADDRESS as u8)?, ADDRESS)
            } else {
                let mut stub = P::STUB.to_vec();
                stub.resize(STUB, 0xcc);
                (stub, P::STUB.len())
            };
            part[..start.len()].copy_from_slice(&start);
            patch.hook = (at + hook) as u32;
            patch.moved = (at + start.len()) as u32;
            let moved = P::moved(site.code, site.addr, base.wrapping_add((at + start.len()) as u64))?;
            part[start.len()..ADDRESS].get_mut(..moved.len())?.copy_from_slice(&moved);
            let jump = P::jump(site.addr, base.wrapping_add(at as u64))?;
            patch.new[number].get_mut(..jump.len())?.copy_from_slice(&jump);
        }
        codes.push(code);
    }
    let head = Patches { count: sites.len() as u32, code_bytes: code_bytes as u32, placements: *placements };
    let mut bytes = head.to_bytes();
    for patch in &patches {
        bytes.extend(patch.to_bytes());
    }
    bytes.extend(codes.concat());
    Some(bytes)
}

impl Patches {
    /// Returns the in-memory representation.
    fn to_bytes(self) -> Vec<u8> {
        let mut bytes = Vec::new();
        bytes.extend(self.count.to_ne_bytes());
        bytes.extend(self.code_bytes.to_ne_bytes());
        bytes.extend(self.placements.iter().flat_map(|placement| placement.to_ne_bytes()));
        debug_assert_eq!(bytes.len(), size_of::<Self>());
        bytes
    }
}

impl Patch {
    /// Returns the in-memory representation.
    fn to_bytes(self) -> Vec<u8> {
        let mut bytes = Vec::new();
        bytes.extend(self.addr.to_ne_bytes());
        for word in [self.function, self.len, self.moved, self.hook] {
            bytes.extend(word.to_ne_bytes());
        }
        bytes.extend(self.old);
        bytes.extend(self.new.concat());
        debug_assert_eq!(bytes.len(), size_of::<Self>());
        bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_without_code_have_no_patches() {
        assert!(plan(b"", &[]).bytes.is_empty());
        assert!(plan(&[0x7f, b'E', b'L', b'F', 2, 1, 1, 0], &[(0, 1)]).bytes.is_empty());
    }

    #[test]
    fn placements_are_around_the_executable() {
        let all = placements::<aarch64::Aarch64>(0x4000_0000, 0x4100_0000);
        assert!(all.iter().all(|at| *at % PAGE == 0 && !(0x4000_0000..0x4100_0000).contains(at)), "{all:x?}");
        // Each function reaches each of them by one branch.
        assert!(
            all.iter().all(|at| at.abs_diff(0x4000_0000) < 128 * MEGABYTE && at.abs_diff(0x4100_0000) < 128 * MEGABYTE)
        );
    }
}
