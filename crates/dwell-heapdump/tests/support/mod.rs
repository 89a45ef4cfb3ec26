//! Reads dumps, and runs a test in a process of its own.
#![allow(
    dead_code,
    unreachable_pub,
    clippy::cast_possible_truncation,
    clippy::multiple_unsafe_ops_per_block,
    clippy::undocumented_unsafe_blocks
)]

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Runs a test in a process of its own, whose limits, handlers and children are no other test's.
pub fn alone(name: &str, case: impl FnOnce()) {
    const CASE: &str = "DWELL_HEAPDUMP_CASE";
    if std::env::var(CASE).is_ok_and(|case| case == name) {
        return case();
    }
    let child = Command::new(std::env::current_exe().unwrap())
        .args([name, "--exact", "--nocapture", "--test-threads=1"])
        .env(CASE, name)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let end = format!("-{}", child.id());
    let output = child.wait_with_output().unwrap();
    // What a user without rights, or a process that was killed, could not remove.
    for entry in fs::read_dir(std::env::temp_dir()).unwrap().flatten() {
        let name = entry.file_name().into_string().unwrap_or_default();
        if name.starts_with("dwell-heapdump-") && name.ends_with(&end) {
            let _ = fs::remove_dir_all(entry.path());
        }
    }
    let text = String::from_utf8_lossy(&output.stdout);
    for line in text.lines().filter(|line| line.contains("skipped:") || line.contains("note:")) {
        println!("{line}");
    }
    assert!(
        output.status.success() && text.contains("1 passed"),
        "{}\n{text}\n{}",
        output.status,
        String::from_utf8_lossy(&output.stderr)
    );
}

/// The address sanitizer has memory of its own (its shadow, and blocks that it keeps after they were freed), and keeps variables
/// apart from the stack.
pub fn is_sanitized() -> bool {
    option_env!("RUSTFLAGS").is_some_and(|flags| flags.contains("sanitizer"))
}

/// A folder that is removed in the end.
pub struct Scratch(pub PathBuf);

impl Scratch {
    pub fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("dwell-heapdump-{name}-{}", std::process::id()));
        fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    pub fn names(&self) -> Vec<String> {
        let mut names: Vec<String> =
            fs::read_dir(&self.0).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// A dump that was read.
pub struct Core {
    bytes: Vec<u8>,
    /// By address: where the bytes are, and how many.
    pub parts: BTreeMap<u64, (usize, usize)>,
    pub notes: Vec<(String, u32, Vec<u8>)>,
}

impl Core {
    pub fn open(path: &Path) -> Self {
        Self::parse(fs::read(path).unwrap()).unwrap()
    }

    /// Reads a dump, or says what is wrong with it.
    pub fn parse(bytes: Vec<u8>) -> Result<Self, String> {
        let word = |at: usize| bytes.get(at..at + 8).map(|word| u64::from_le_bytes(word.try_into().unwrap()));
        let half = |at: usize| bytes.get(at..at + 4).map(|word| u32::from_le_bytes(word.try_into().unwrap()));
        if !bytes.starts_with(b"\x7fELF\x02\x01\x01") || bytes.get(16) != Some(&4) {
            return Err("no core".to_owned());
        }
        let count = u16::from_le_bytes([bytes[56], bytes[57]]);
        let (mut parts, mut notes) = (BTreeMap::new(), Vec::new());
        let mut end = 0;
        for index in 0..usize::from(count) {
            let at = 64 + 56 * index;
            let field = |offset: usize| word(at + offset).ok_or("truncated headers");
            let (offset, address, len) = (field(8)? as usize, field(16)?, field(32)? as usize);
            let contents =
                bytes.get(offset..offset + len).ok_or_else(|| format!("truncated part {index} of {count}"))?;
            end = end.max(offset + len);
            if half(at) == Some(1) {
                assert_eq!((offset as u64 % 4096, address % 4096), (0, 0));
                parts.insert(address, (offset, len));
                continue;
            }
            let mut rest = contents;
            while rest.len() >= 12 {
                let word = |at: usize| u32::from_le_bytes(rest[at..at + 4].try_into().unwrap());
                let (name, len, kind) = (word(0) as usize, word(4) as usize, word(8));
                let from = 12 + name.next_multiple_of(4);
                let text = String::from_utf8(rest[12..12 + name - 1].to_vec()).unwrap();
                notes.push((text, kind, rest[from..from + len].to_vec()));
                rest = &rest[(from + len.next_multiple_of(4)).min(rest.len())..];
            }
        }
        if end != bytes.len() {
            return Err(format!("{} bytes behind the last part", bytes.len() - end));
        }
        Ok(Self { bytes, parts, notes })
    }

    /// Returns bytes at an address, or `None` if a page is not in the dump.
    pub fn at(&self, mut address: u64, len: usize) -> Option<Vec<u8>> {
        let mut found = Vec::new();
        while found.len() < len {
            let (start, (offset, size)) = self.parts.range(..=address).next_back()?;
            let skip = usize::try_from(address - start).ok().filter(|skip| skip < size)?;
            let now = (size - skip).min(len - found.len());
            found.extend(&self.bytes[offset + skip..offset + skip + now]);
            address += now as u64;
        }
        Some(found)
    }

    /// Returns whether the dump has the value as it is now.
    pub fn has<T>(&self, value: &[T]) -> bool {
        let address = value.as_ptr().addr() as u64;
        let bytes = unsafe { std::slice::from_raw_parts(value.as_ptr().cast::<u8>(), size_of_val(value)) };
        self.at(address, bytes.len()).as_deref() == Some(bytes)
    }

    /// Returns the contents of the notes of a kind.
    pub fn notes(&self, name: &str, kind: u32) -> Vec<&[u8]> {
        self.notes.iter().filter(|note| note.0 == name && note.1 == kind).map(|note| &*note.2).collect()
    }
}

/// Returns the ids of the children of this process, dead ones too.
pub fn children() -> Vec<i32> {
    let me = std::process::id().to_string();
    let mut found = Vec::new();
    for entry in fs::read_dir("/proc").unwrap().flatten() {
        let Some(id) = entry.file_name().to_str().and_then(|name| name.parse().ok()) else { continue };
        let Ok(stat) = fs::read_to_string(entry.path().join("stat")) else { continue };
        let Some((_, rest)) = stat.rsplit_once(')') else { continue };
        if rest.split_ascii_whitespace().nth(1) == Some(&me) {
            found.push(id);
        }
    }
    found
}

/// A filter of system calls: the first number of arguments that are looked at, and the error.
pub struct Filter {
    pub call: i64,
    /// The number of an argument, its bits that are looked at, and what they have to be.
    pub argument: (u32, u32, u32),
    pub errno: i32,
}

/// Lets a system call fail from now on in this thread and its children.
pub fn forbid(filter: &Filter) {
    const LOAD: u16 = 0x20;
    const JUMP_IF_EQUAL: u16 = 0x15;
    const AND: u16 = 0x54;
    const RETURN: u16 = 0x06;
    const ALLOW: u32 = 0x7fff_0000;
    const ERROR: u32 = 0x0005_0000;
    const NUMBER: u32 = 0;
    const ARGUMENTS: u32 = 16;
    let step = |code, k, yes, no| libc::sock_filter { code, jt: yes, jf: no, k };
    let (argument, mask, wanted) = filter.argument;
    let mut program = [
        step(LOAD, NUMBER, 0, 0),
        step(JUMP_IF_EQUAL, u32::try_from(filter.call).unwrap(), 0, 4),
        step(LOAD, ARGUMENTS + 8 * argument, 0, 0),
        step(AND, mask, 0, 0),
        step(JUMP_IF_EQUAL, wanted, 0, 1),
        step(RETURN, ERROR | u32::try_from(filter.errno).unwrap(), 0, 0),
        step(RETURN, ALLOW, 0, 0),
    ];
    let program = libc::sock_fprog { len: program.len() as u16, filter: program.as_mut_ptr() };
    unsafe {
        assert_eq!(libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0);
        assert_eq!(libc::prctl(libc::PR_SET_SECCOMP, libc::SECCOMP_MODE_FILTER, &raw const program), 0);
    }
}

pub fn is_root() -> bool {
    unsafe { libc::geteuid() == 0 }
}
