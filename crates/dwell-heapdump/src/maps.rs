//! The lines of `/proc/self/maps`, read without an allocator.

#![forbid(unsafe_code)]

/// A mapping.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Mapping<'a> {
    pub(crate) start: u64,
    pub(crate) end: u64,
    /// `rwxp`, or `-` instead of a letter, and `s` instead of `p` for shared memory.
    pub(crate) flags: [u8; 4],
    pub(crate) offset: u64,
    /// A file, a name such as `[stack]`, or nothing.
    pub(crate) name: &'a [u8],
}

/// The longest mapping that is read. Longer ones are address space that a sanitizer has reserved.
const LONGEST: u64 = 1 << 38;

impl<'a> Mapping<'a> {
    /// Returns all mappings of a text. Leaves out lines that it does not understand.
    pub(crate) fn all(text: &'a [u8]) -> impl Iterator<Item = Self> {
        text.split(|byte| *byte == b'\n').filter_map(Self::parse)
    }

    /// Reads `55cb830bf000-55cb830c0000 rw-p 00001000 fe:00 9979964     /a b/c`.
    fn parse(line: &'a [u8]) -> Option<Self> {
        let (start, rest) = number(line, b'-')?;
        let (end, rest) = number(rest, b' ')?;
        let (flags, rest) = rest.split_first_chunk::<4>()?;
        let (offset, rest) = number(rest.get(1..)?, b' ')?;
        // The device and the inode.
        let mut words = rest.splitn(3, |byte| *byte == b' ');
        let name = words.nth(2).unwrap_or_default();
        Some(Self { start, end, flags: *flags, offset, name: name.trim_ascii_start() })
    }

    pub(crate) fn is_file(&self) -> bool {
        self.name.first() == Some(&b'/')
    }

    pub(crate) fn is_anonymous(&self) -> bool {
        !self.is_file()
    }

    pub(crate) fn contains(&self, addr: u64) -> bool {
        self.start <= addr && addr < self.end
    }

    /// Returns `true` if it can have pages that belong to this process alone, and are to be written.
    pub(crate) fn is_own(&self) -> bool {
        // `[vvar]` and `[vsyscall]` are the kernel's, and cannot be copied.
        self.flags[0] == b'r'
            && self.flags[3] == b'p'
            && !self.name.starts_with(b"[v")
            && self.end.saturating_sub(self.start) <= LONGEST
    }

    /// Returns `true` if it begins with the headers of an executable or library, which name its build.
    pub(crate) fn may_have_headers(&self) -> bool {
        self.is_file() && self.offset == 0 && self.is_own()
    }
}

/// Reads a hexadecimal number and what follows its end.
fn number(text: &[u8], end: u8) -> Option<(u64, &[u8])> {
    let at = text.iter().position(|byte| *byte == end)?;
    let (digits, rest) = text.split_at_checked(at)?;
    let value = digits.iter().try_fold(0_u64, |value, byte| {
        let digit = char::from(*byte).to_digit(16)?;
        Some(value.checked_mul(16)? | u64::from(digit))
    })?;
    (!digits.is_empty()).then_some((value, rest.get(1..).unwrap_or_default()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_read() {
        let text = b"55cb830bf000-55cb830c0000 rw-p 00001000 fe:00 9979964                    /a b/c\n\
                     7f0000000000-7f0000001000 ---s 00000000 00:00 0 \n\
                     7fff00000000-7fff00001000 r--p 00000000 00:00 0                          [vvar]\n\
                     ffffffffff600000-ffffffffff601000 --xp 00000000 00:00 0                  [vsyscall]\n";
        let all: Vec<Mapping<'_>> = Mapping::all(text).collect();
        assert_eq!(all.len(), 4);
        assert_eq!(
            all[0],
            Mapping {
                start: 0x55cb_830b_f000,
                end: 0x55cb_830c_0000,
                flags: *b"rw-p",
                offset: 0x1000,
                name: b"/a b/c"
            }
        );
        assert!(all[0].is_own() && all[0].is_file() && all[0].contains(0x55cb_830b_f000));
        assert!(!all[1].is_own() && all[1].is_anonymous() && all[1].name.is_empty());
        assert!(!all[2].is_own() && !all[3].is_own());
    }

    #[test]
    fn damaged_lines_are_left_out() {
        for line in [
            "",
            "-",
            "12-",
            "12-13",
            "12-13 rw-p",
            "12-13 rw-p 0",
            "x-13 rw-p 0 0 0 /a",
            "-1 rw-p 0 0 0 ",
            "11111111111111111-2 rw-p 0 0 0 ",
        ] {
            assert_eq!(Mapping::all(line.as_bytes()).count(), 0, "{line}");
        }
        assert_eq!(Mapping::all(b"12-13 rw-p 0 0:0 0").count(), 1);
    }
}
