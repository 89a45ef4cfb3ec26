//! The mappings of a process.

use super::Module;
use crate::agent::layout::ADDRESSES;
use crate::debuginfo;
use std::cmp::Reverse;
use std::path::{Path, PathBuf};

/// A mapping of `/proc/PID/maps` or `/proc/PID/smaps`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "the four flags of a line of `maps`")]
pub(crate) struct Mapping {
    pub(crate) start: u64,
    pub(crate) end: u64,
    pub(crate) readable: bool,
    pub(crate) writable: bool,
    pub(crate) executable: bool,
    /// Whether what the process writes stays its own.
    pub(crate) private: bool,
    pub(crate) offset: u64,
    /// The file, a name such as `[stack]`, or nothing.
    pub(crate) path: PathBuf,
    /// The bytes of its pages that are in memory; 0 if only the mappings were read.
    pub(crate) resident: u64,
}

impl Mapping {
    /// Returns `true` if it has no file: its pages are zero until they are written to.
    pub(crate) fn is_anonymous(&self) -> bool {
        !self.path.is_absolute()
    }

    /// Returns `true` if an address is inside.
    pub(crate) fn contains(&self, addr: u64) -> bool {
        (self.start..self.end).contains(&addr)
    }
}

/// Parses `/proc/PID/maps` or `/proc/PID/smaps`. Leaves out the kernel's part of the addresses, and lines that cannot be
/// parsed.
pub(crate) fn mappings(text: &str) -> Vec<Mapping> {
    let mut all: Vec<Mapping> = Vec::new();
    for line in text.lines() {
        if let Some(mapping) = mapping(line) {
            all.push(mapping);
        } else if let Some(amount) = line.strip_prefix("Rss:")
            && let Some(last) = all.last_mut()
        {
            let kibibytes: u64 = amount.trim().trim_end_matches(" kB").parse().unwrap_or_default();
            last.resident = kibibytes.saturating_mul(1024);
        }
    }
    all.retain(|mapping| mapping.end <= ADDRESSES);
    all
}

/// Returns the mappings of a process that hold code of files. There are none if the process has ended.
pub(crate) fn code_mappings(pid: i32) -> Vec<Mapping> {
    let text = std::fs::read_to_string(format!("/proc/{pid}/maps")).unwrap_or_default();
    mappings(&text).into_iter().filter(|map| map.executable && map.path.is_absolute()).collect()
}

/// Parses the first line of a mapping: `55cb830bf000-55cb830c0000 rw-p 00001000 fe:00 9979964     /a b/c`.
fn mapping(line: &str) -> Option<Mapping> {
    let mut words = line.splitn(6, ' ');
    let (start, end) = words.next()?.split_once('-')?;
    let flags = words.next()?;
    let offset = words.next()?;
    Some(Mapping {
        start: u64::from_str_radix(start, 16).ok()?,
        end: u64::from_str_radix(end, 16).ok()?,
        readable: flags.starts_with('r'),
        writable: flags.as_bytes().get(1) == Some(&b'w'),
        executable: flags.as_bytes().get(2) == Some(&b'x'),
        private: flags.ends_with('p'),
        offset: u64::from_str_radix(offset, 16).ok()?,
        path: words.nth(2).unwrap_or_default().trim_start().into(),
        resident: 0,
    })
}

/// Returns a path below a root, which is empty for this machine's own.
pub(crate) fn below(root: &Path, path: &Path) -> PathBuf {
    match path.strip_prefix("/") {
        Ok(rest) if root != Path::new("") => root.join(rest),
        _ => path.to_owned(),
    }
}

/// Returns the mapped files. A core does not tell which of them have code.
pub(crate) fn files(maps: &[Mapping]) -> Vec<&Path> {
    let mut all: Vec<&Path> = maps.iter().map(|map| &*map.path).filter(|path| path.is_absolute()).collect();
    all.dedup();
    all
}

/// Puts the files with debug info of Rust code first: the executable, or, if it has none, such as Python's or Node's, the largest
/// library.
pub(crate) fn put_rust_first(modules: &mut [Module], maps: &[Mapping]) {
    let size = |module: &Module| std::fs::metadata(&module.path).map_or(0, |file| file.len());
    for module in &mut *modules {
        module.object = debuginfo::expect(&module.path).is_ok().then_some(0);
        if module.object.is_some() && !module.is_executable {
            with_statics(module, maps);
        }
    }
    modules.sort_by_cached_key(|module| (module.object.is_none(), !module.is_executable, Reverse(size(module))));
    let rust = modules.iter_mut().filter(|module| module.object.is_some());
    rust.zip(0..).for_each(|(module, number)| module.object = Some(number));
}

/// Adds the memory that is mapped without a file for zero-initialised statics, directly behind the file's last mapping.
fn with_statics(module: &mut Module, maps: &[Mapping]) {
    let behind = maps.iter().find(|map| map.start == module.end && map.writable && map.path.as_os_str().is_empty());
    module.end = behind.map_or(module.end, |map| map.end);
}

/// Returns the mapped files, the executable first. `file` is where it can be read.
pub(crate) fn modules(maps: &[Mapping], is_executable: &dyn Fn(&Path) -> bool, file: &Path, bias: u64) -> Vec<Module> {
    let mut modules: Vec<Module> = Vec::new();
    for map in maps.iter().filter(|map| map.path.is_absolute()) {
        match modules.iter_mut().find(|module| module.path == map.path) {
            Some(module) => {
                module.start = module.start.min(map.start);
                module.end = module.end.max(map.end);
            }
            // A file begins with its headers; in a library their address is 0.
            None if map.offset == 0 => {
                modules.push(Module {
                    path: map.path.clone(),
                    bias: map.start,
                    start: map.start,
                    end: map.end,
                    is_executable: false,
                    object: None,
                });
            }
            None => {}
        }
    }
    if let Some(index) = modules.iter().position(|module| is_executable(&module.path)) {
        let mut module = modules.remove(index);
        (module.bias, module.is_executable) = (bias, true);
        with_statics(&mut module, maps);
        file.clone_into(&mut module.path);
        modules.insert(0, module);
    }
    modules
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_below_a_root() {
        assert_eq!(below(Path::new("/proc/7/root"), Path::new("/a/b")), Path::new("/proc/7/root/a/b"));
        assert_eq!(below(Path::new(""), Path::new("/a/b")), Path::new("/a/b"));
    }

    #[test]
    fn proc_maps_lines_are_parsed() {
        let text = "55cb830bf000-55cb830c0000 rw-p 00001000 fe:00 9979964                    /a b/c\n\
                    7f0000000000-7f0000001000 ---s 00000000 00:00 0 \n\
                    ffffffffff600000-ffffffffff601000 --xp 00000000 00:00 0                  [vsyscall]\n";
        let maps = mappings(text);
        assert_eq!(maps.len(), 2);
        assert_eq!(maps[0].path, Path::new("/a b/c"));
        assert!(maps[0].readable && maps[0].writable && maps[0].private && maps[0].offset == 0x1000);
        assert!(!maps[1].readable && !maps[1].private && maps[1].is_anonymous());
    }

    #[test]
    fn mappings_of_smaps_have_their_resident_bytes() {
        let text = "55cb830bf000-55cb830c0000 r-xp 00001000 fe:00 9979964                    /a b/c\n\
                    Size:                  4 kB\nRss:                   4 kB\nVmFlags: rd ex mr mw me\n\
                    7f0000000000-7f0000003000 rw-p 00000000 00:00 0 \n\
                    Rss:                   8 kB\nAnonymous:             8 kB\n\
                    7ffd00000000-7ffd00021000 rw-p 00000000 00:00 0                          [stack]\nRss: damaged\n";
        let all = mappings(text);
        let found: Vec<(&Path, u64, bool)> =
            all.iter().map(|mapping| (&*mapping.path, mapping.resident, mapping.executable)).collect();
        assert_eq!(
            found,
            [(Path::new("/a b/c"), 4096, true), (Path::new(""), 8192, false), (Path::new("[stack]"), 0, false)]
        );
        assert!(!all[0].is_anonymous() && all[1].is_anonymous() && all[2].is_anonymous());
    }
}
