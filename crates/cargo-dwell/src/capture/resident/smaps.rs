//! Parses `/proc/PID/smaps`: the mappings of a process, each with its resident bytes.

use std::path::PathBuf;

/// A mapping.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Mapping {
    pub(crate) start: u64,
    pub(crate) end: u64,
    pub(crate) is_readable: bool,
    pub(crate) is_executable: bool,
    /// The file, a name such as `[stack]`, or nothing.
    pub(crate) path: PathBuf,
    /// The bytes of its pages that are in memory.
    pub(crate) resident: u64,
}

impl Mapping {
    /// Returns `true` if no file is behind it.
    pub(crate) fn is_anonymous(&self) -> bool {
        !self.path.to_string_lossy().starts_with('/')
    }

    pub(crate) fn contains(&self, addr: u64) -> bool {
        (self.start..self.end).contains(&addr)
    }
}

/// Returns the mappings in the order of their addresses. Lines that cannot be parsed are ignored.
pub(crate) fn parse(text: &str) -> Vec<Mapping> {
    let mut all: Vec<Mapping> = Vec::new();
    for line in text.lines() {
        if let Some(mapping) = header(line) {
            all.push(mapping);
        } else if let Some(of) = line.strip_prefix("Rss:")
            && let Some(last) = all.last_mut()
        {
            let kibibytes: u64 = of.trim().trim_end_matches(" kB").parse().unwrap_or_default();
            last.resident = kibibytes.saturating_mul(1024);
        }
    }
    all
}

/// Parses the first line of a mapping: `55cb830bf000-55cb830c0000 rw-p 00001000 fe:00 9979964     /a b/c`.
fn header(line: &str) -> Option<Mapping> {
    let mut words = line.splitn(6, ' ');
    let (start, end) = words.next()?.split_once('-')?;
    let flags = words.next()?;
    Some(Mapping {
        start: u64::from_str_radix(start, 16).ok()?,
        end: u64::from_str_radix(end, 16).ok()?,
        is_readable: flags.starts_with('r'),
        is_executable: flags.as_bytes().get(2) == Some(&b'x'),
        path: words.nth(3).unwrap_or_default().trim_start().into(),
        resident: 0,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    #[test]
    fn mappings_have_their_resident_bytes() {
        let text = "55cb830bf000-55cb830c0000 r-xp 00001000 fe:00 9979964                    /a b/c\n\
                    Size:                  4 kB\nRss:                   4 kB\nVmFlags: rd ex mr mw me\n\
                    7f0000000000-7f0000003000 rw-p 00000000 00:00 0 \n\
                    Rss:                   8 kB\nAnonymous:             8 kB\n\
                    7ffd00000000-7ffd00021000 rw-p 00000000 00:00 0                          [stack]\nRss: damaged\n";
        let all = parse(text);
        let found: Vec<(&Path, u64, bool)> = all.iter().map(|of| (&*of.path, of.resident, of.is_executable)).collect();
        assert_eq!(
            found,
            [(Path::new("/a b/c"), 4096, true), (Path::new(""), 8192, false), (Path::new("[stack]"), 0, false)]
        );
        assert!(!all[0].is_anonymous() && all[1].is_anonymous() && all[2].is_anonymous());
    }
}
