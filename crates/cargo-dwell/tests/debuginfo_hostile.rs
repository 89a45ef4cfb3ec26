//! Reads damaged and malicious debug info: there must be no panic, and the memory must stay within a multiple of the
//! file's size.

#[path = "ops/debuginfo.rs"]
mod ops;

use std::path::Path;
use std::process::Command;
use std::sync::{Mutex, PoisonError};

#[global_allocator]
static ALLOCATOR: ops::Peak = ops::Peak;

/// Runs one test at a time, since the tests measure the memory of the process.
static SERIAL: Mutex<()> = Mutex::new(());

/// Returns the debug sections of a small `no_std` library.
fn library() -> Vec<(String, Vec<u8>)> {
    use object::{Object, ObjectSection};
    let folder = tempfile::tempdir().unwrap();
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("../dwell-debuginfo/tests/debuginfo/small.rs");
    let output = Command::new(std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into()))
        .args(["--edition", "2024", "--crate-type", "cdylib", "-g", "-C", "panic=abort", "-C", "link-arg=-nostdlib"])
        .args(["-A", "warnings", "-o", "small"])
        .arg(source)
        .current_dir(folder.path())
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let data = std::fs::read(folder.path().join("small")).unwrap();
    let object = object::File::parse(&*data).unwrap();
    // The library's own units come first; the units of `core` after them are cut off.
    [".debug_abbrev", ".debug_info", ".debug_str", ".debug_line"]
        .map(|name| {
            let mut data = object.section_by_name(name).unwrap().data().unwrap().to_vec();
            if name == ".debug_info" {
                let mut end = 0;
                while end < 10_000 {
                    end += 4 + u32::from_le_bytes(data[end..end + 4].try_into().unwrap()) as usize;
                }
                data.truncate(end);
            }
            (name.to_owned(), data)
        })
        .into()
}

fn whole(sections: &[(String, Vec<u8>)]) -> Vec<u8> {
    let sections: Vec<(&str, &[u8])> = sections.iter().map(|(name, data)| (&**name, &**data)).collect();
    ops::elf(&sections)
}

/// Returns the number of cases, which `DWELL_TEST_CASES` lowers for slow tools.
fn cases() -> usize {
    std::env::var("DWELL_TEST_CASES").ok().and_then(|text| text.parse().ok()).unwrap_or(400)
}

#[test]
fn damaged_bytes() {
    let _serial = SERIAL.lock().unwrap_or_else(PoisonError::into_inner);
    let sections = library();
    assert!(ops::parse(&whole(&sections)), "the library itself can be read");
    let mut random = fastrand::Rng::with_seed(19);
    for _ in 0..cases() {
        let mut damaged = sections.clone();
        for _ in 0..random.usize(1..8) {
            let index = random.usize(..damaged.len());
            let data = &mut damaged[index].1;
            if data.is_empty() {
                continue;
            }
            let at = random.usize(..data.len());
            match random.u8(..5) {
                0 => data[at] = random.u8(..),
                1 => data[at] ^= 1 << random.u8(..8),
                2 => data.truncate(at),
                3 => data[at..].iter_mut().take(4).for_each(|byte| *byte = 0xff),
                _ => {
                    let from = random.usize(..data.len());
                    let piece: Vec<u8> = data[from..].iter().copied().take(random.usize(..64)).collect();
                    data.splice(at..at, piece);
                }
            }
        }
        ops::parse(&whole(&damaged));
    }
}

#[test]
fn truncated_file_and_missing_sections() {
    let _serial = SERIAL.lock().unwrap_or_else(PoisonError::into_inner);
    let sections = library();
    let file = whole(&sections);
    let step = (file.len() / cases().max(1)).max(1);
    for length in (0..file.len()).step_by(step) {
        ops::parse(&file[..length]);
    }
    for index in 0..sections.len() {
        let mut without = sections.clone();
        without[index].1.clear();
        ops::parse(&whole(&without));
        without.remove(index);
        ops::parse(&whole(&without));
    }
}

#[test]
fn arbitrary_bytes() {
    let _serial = SERIAL.lock().unwrap_or_else(PoisonError::into_inner);
    let mut random = fastrand::Rng::with_seed(19);
    for _ in 0..cases() {
        let length = random.usize(..2000);
        let mut bytes: Vec<u8> = std::iter::repeat_with(|| random.u8(..)).take(length).collect();
        for index in (2..bytes.len().min(12)).step_by(2) {
            bytes[index] = 0;
        }
        ops::run(&bytes);
    }
}

/// Builds an executable with the given abbreviations and strings and one unit, which contains `entries`.
fn unit(abbreviations: &[u8], entries: &[u8], strings: &[u8]) -> Vec<u8> {
    // Abbreviation 1 is that of the unit: DW_AT_language as two bytes of data.
    let mut abbrev = vec![1, 0x11, 1, 0x13, 0x05, 0, 0];
    abbrev.extend_from_slice(abbreviations);
    abbrev.push(0);
    let mut info = Vec::new();
    info.extend_from_slice(&(entries.len() + 10).to_le_bytes()[..4]);
    info.extend_from_slice(&[4, 0, 0, 0, 0, 0, 8, 1, 0x1c, 0]);
    info.extend_from_slice(entries);
    ops::elf(&[(".debug_abbrev", &abbrev), (".debug_info", &info), (".debug_str", strings)])
}

#[test]
fn many_names_in_one_long_string() {
    let _serial = SERIAL.lock().unwrap_or_else(PoisonError::into_inner);
    // 60,000 structs, whose names start at different offsets of one string of 1 MiB.
    let strings = [&vec![b'a'; 1 << 20][..], &[0]].concat();
    let mut entries = Vec::new();
    for index in 0..60_000_u32 {
        entries.push(2);
        entries.extend_from_slice(&(index * 16).to_le_bytes());
    }
    assert!(!ops::parse(&unit(&[2, 0x13, 0, 0x03, 0x0e, 0, 0], &entries, &strings)));
}

#[test]
fn deeply_nested_namespaces_and_structs() {
    let _serial = SERIAL.lock().unwrap_or_else(PoisonError::into_inner);
    let strings = [&vec![b'a'; 1 << 16][..], &[0]].concat();
    let entries: Vec<u8> = std::iter::repeat_n([2, 0, 0, 0, 0], 100_000).flatten().collect();
    ops::parse(&unit(&[2, 0x39, 1, 0x03, 0x0e, 0, 0], &entries, &strings));
    // Without names an entry takes one byte, so namespaces nest a million deep.
    ops::parse(&unit(&[2, 0x39, 1, 0, 0], &vec![2; 1 << 20], &[]));
    // Structs nested as deep.
    ops::parse(&unit(&[2, 0x13, 1, 0, 0], &vec![2; 1 << 20], &[]));
}

#[test]
fn struct_entries_of_few_bytes() {
    let _serial = SERIAL.lock().unwrap_or_else(PoisonError::into_inner);
    // Without attributes all structs are equal.
    ops::parse(&unit(&[2, 0x13, 0, 0, 0], &vec![2; 1 << 20], &[]));
    // With a size of four bytes in each entry all structs differ.
    let mut entries = Vec::new();
    for index in 0..100_000_u32 {
        entries.push(2);
        entries.extend_from_slice(&index.to_le_bytes());
    }
    ops::parse(&unit(&[2, 0x13, 0, 0x0b, 0x06, 0, 0], &entries, &[]));
}

#[test]
fn abbreviation_table_as_long_as_the_file() {
    let _serial = SERIAL.lock().unwrap_or_else(PoisonError::into_inner);
    // One abbreviation with two million attributes.
    let mut abbreviations = vec![2, 0x13, 0];
    abbreviations.extend(std::iter::repeat_n([0x0b, 0x19], 2 << 20).flatten());
    abbreviations.extend([0, 0]);
    ops::parse(&unit(&abbreviations, &[2; 100], &[]));
}

#[test]
fn self_referential_arrays_and_structs() {
    let _serial = SERIAL.lock().unwrap_or_else(PoisonError::into_inner);
    // An array of itself, and a struct with itself as a field. The offset of the first entry is 21.
    let abbreviations = [2, 0x01, 0, 0x49, 0x13, 0, 0, 3, 0x13, 1, 0, 0, 4, 0x0d, 0, 0x49, 0x13, 0, 0];
    let first = 21_u8;
    assert!(!ops::parse(&unit(&abbreviations, &[2, first, 0, 0, 0, 0], &[])));
    ops::parse(&unit(&abbreviations, &[3, 4, first, 0, 0, 0, 0, 0], &[]));
}
