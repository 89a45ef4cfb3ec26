//! Builds and reads executables with arbitrary debug info. `tests/debuginfo_hostile.rs` and the fuzz target share this.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering};

/// The system's allocator, which records the peak of live bytes.
pub(crate) struct Peak;

static LIVE: AtomicUsize = AtomicUsize::new(0);
static MOST: AtomicUsize = AtomicUsize::new(0);

// SAFETY: each method passes its arguments on to `System`, which upholds the contract of `GlobalAlloc`; counting does
// not change the block.
unsafe impl GlobalAlloc for Peak {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let live = LIVE.fetch_add(layout.size(), Ordering::Relaxed) + layout.size();
        MOST.fetch_max(live, Ordering::Relaxed);
        // SAFETY: the caller of `alloc` guarantees that `layout` has a non-zero size, which is what `System` requires.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        LIVE.fetch_sub(layout.size(), Ordering::Relaxed);
        // SAFETY: the caller guarantees that `block` came from `alloc` above with this layout, and thus from `System`.
        unsafe { System.dealloc(block, layout) }
    }
}

/// The memory that reading any file may take, in bytes.
const FLOOR: usize = 96 << 20;
/// The additional memory for each byte of the file, in bytes.
const FOR_EACH_BYTE: usize = 24;

/// Parses `data` as an executable and returns whether it could be read. Parsing must neither panic nor exceed the
/// memory limit.
pub(crate) fn parse(data: &[u8]) -> bool {
    let before = LIVE.load(Ordering::Relaxed);
    MOST.store(before, Ordering::Relaxed);
    let parsed = dwell_debuginfo::parse(data);
    let took = MOST.load(Ordering::Relaxed).saturating_sub(before);
    assert!(took <= FLOOR + FOR_EACH_BYTE * data.len(), "{took} bytes for {}", data.len());
    if let Ok(program) = &parsed {
        for (id, ty) in program.types() {
            assert!(ty.align.is_power_of_two() && program.get(id).size == ty.size);
        }
        // The reports of the commands must not panic either.
        let _ = cargo_dwell::layout::json::types(program, true, None);
        let _ = cargo_dwell::dyn_traits::json::traits(program, true, None);
    }
    parsed.is_ok()
}

/// Builds an ELF executable with the given sections.
pub(crate) fn elf(sections: &[(&str, &[u8])]) -> Vec<u8> {
    let mut names = vec![0];
    let mut file = vec![0; 64];
    let mut headers = vec![[0_u8; 64]];
    let mut add = |name: &str, kind: u32, data: &[u8], names: &mut Vec<u8>, file: &mut Vec<u8>| {
        let mut header = [0; 64];
        header[0..4].copy_from_slice(&names.len().to_le_bytes()[..4]);
        names.extend_from_slice(name.as_bytes());
        names.push(0);
        header[4..8].copy_from_slice(&kind.to_le_bytes());
        header[24..32].copy_from_slice(&(file.len() as u64).to_le_bytes());
        header[32..40].copy_from_slice(&(data.len() as u64).to_le_bytes());
        header[48] = 1;
        file.extend_from_slice(data);
        headers.push(header);
    };
    for (name, data) in sections {
        add(name, 1, data, &mut names, &mut file);
    }
    let mut own = names.clone();
    own.extend_from_slice(b".shstrtab\0");
    add(".shstrtab", 3, &own, &mut names, &mut file);
    let start = file.len() as u64;
    for header in &headers {
        file.extend_from_slice(header);
    }
    file[..20].copy_from_slice(&[0x7f, b'E', b'L', b'F', 2, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2, 0, 62, 0]);
    file[20] = 1;
    file[40..48].copy_from_slice(&start.to_le_bytes());
    file[52] = 64;
    file[58] = 64;
    file[60..62].copy_from_slice(&headers.len().to_le_bytes()[..2]);
    file[62..64].copy_from_slice(&(headers.len() - 1).to_le_bytes()[..2]);
    file
}

/// The sections that the reader uses, in the order in which [`run`] takes them from its input.
const SECTIONS: [&str; 5] = [".debug_abbrev", ".debug_info", ".debug_str", ".debug_line", ".debug_line_str"];

/// Builds an executable of arbitrary bytes and parses it. The first byte selects the form; the lengths of the sections
/// follow, then their contents.
pub(crate) fn run(bytes: &[u8]) {
    let Some((how, rest)) = bytes.split_first() else { return };
    if how % 4 == 0 {
        parse(rest);
        return;
    }
    let Some((lengths, mut rest)) = rest.split_first_chunk::<10>() else { return };
    let mut sections = Vec::new();
    let mut info = Vec::new();
    for (index, name) in SECTIONS.into_iter().enumerate() {
        let wanted = usize::from(u16::from_le_bytes([lengths[2 * index], lengths[2 * index + 1]]));
        let (section, after) = rest.split_at(wanted.min(rest.len()));
        rest = after;
        if name == ".debug_info" && how % 4 > 1 {
            // A valid unit header lets the reader reach the entries.
            let version = if how % 4 == 2 { 4_u16 } else { 5 };
            info.extend_from_slice(&(section.len() + if version == 4 { 7 } else { 8 }).to_le_bytes()[..4]);
            info.extend_from_slice(&version.to_le_bytes());
            if version == 4 {
                info.extend_from_slice(&[0, 0, 0, 0, 8]);
            } else {
                info.extend_from_slice(&[1, 8, 0, 0, 0, 0]);
            }
            info.extend_from_slice(section);
        } else {
            sections.push((name, section));
        }
    }
    if !info.is_empty() {
        sections.push((".debug_info", &info));
    }
    parse(&elf(&sections));
}
