//! Evidence from further runs: how many bits the values of an integer field need, and whether they are ever zero.

use crate::heap::rows::Field;
use crate::heap::walk::Site;
use std::collections::HashMap;

/// The least number of further runs for a narrower type.
const RUNS: usize = 2;
/// The bits that must stay free in a narrower type: its largest value is 16 times that of all runs.
const FREE: u32 = 4;
/// Words in the names of fields whose values grow without a bound, or whose whole width counts.
const UNBOUNDED: [&str; 67] = [
    "addr",
    "address",
    "age",
    "amount",
    "at",
    "balance",
    "bytes",
    "capacity",
    "cents",
    "checksum",
    "clock",
    "cost",
    "count",
    "counter",
    "crc",
    "created",
    "cursor",
    "date",
    "deadline",
    "dev",
    "device",
    "digest",
    "duration",
    "end",
    "epoch",
    "fd",
    "generation",
    "gid",
    "handle",
    "hash",
    "height",
    "hits",
    "id",
    "ids",
    "inode",
    "ino",
    "key",
    "len",
    "length",
    "lsn",
    "millis",
    "mtime",
    "nanos",
    "next",
    "nonce",
    "num",
    "number",
    "offset",
    "page",
    "pid",
    "pos",
    "position",
    "price",
    "ptr",
    "revision",
    "secs",
    "seq",
    "serial",
    "size",
    "start",
    "time",
    "timestamp",
    "total",
    "ts",
    "uid",
    "value",
    "version",
];

/// The integer fields of further runs: by type and field, the bits of each run's values.
#[derive(Clone, Debug, Default)]
pub(crate) struct Also {
    bits: HashMap<(String, String), Vec<u32>>,
    /// In how many runs a field was zero, and never zero.
    zeros: HashMap<(String, String), (usize, usize)>,
}

impl Also {
    /// Adds the fields of a run.
    pub(crate) fn add(&mut self, fields: &[Field]) {
        for field in fields {
            if let Some(bits) = field.bits {
                let zeros = self.zeros.entry((field.owner.clone(), field.field.clone())).or_default();
                let runs = if field.has_zero { &mut zeros.0 } else { &mut zeros.1 };
                *runs += 1;
                self.bits.entry((field.owner.clone(), field.field.clone())).or_default().push(bits);
            }
        }
    }

    /// Returns `true` if a field was zero in none of the runs.
    pub(super) fn is_never_zero(&self, integer: &Site) -> bool {
        let Some((def, field)) = integer.path.rsplit_once('.') else { return false };
        let runs = self.zeros.get(&(def.to_owned(), field.to_owned()));
        runs.is_some_and(|(zero, other)| *zero == 0 && *other >= RUNS)
    }

    /// Returns `true` if the values of a field stay far below the maximum of a type with `size` bytes in all runs, and its
    /// name does not tell that they grow without a bound.
    pub(super) fn is_small(&self, integer: &Site, size: u64) -> bool {
        let Some((def, field)) = integer.path.rsplit_once('.') else { return false };
        let mut words = field.split(|c: char| !c.is_alphanumeric()).map(str::to_lowercase);
        if words.any(|word| UNBOUNDED.contains(&&*word)) {
            return false;
        }
        let Some(bits) = self.bits.get(&(def.to_owned(), field.to_owned())) else { return false };
        bits.len() >= RUNS && bits.iter().all(|bits| u64::from(bits + FREE) <= 8 * size)
    }
}
