//! Cores that were compressed on their way.

use crate::debuginfo;
use anyhow::{Context as _, Result};
use flate2::read::MultiGzDecoder;
use memmap2::Mmap;
use std::fs::{self, OpenOptions};
use std::io::{self, Read};
use std::path::Path;
use std::process;

/// Maps a file. One that is compressed by gzip or zstd is decompressed to a file without a name first.
pub(super) fn map(path: &Path) -> Result<Mmap> {
    let data = debuginfo::map(path)?;
    let mut reader: Box<dyn Read + '_> = match *data {
        [0x1f, 0x8b, ..] => Box::new(MultiGzDecoder::new(&*data)),
        [0x28, 0xb5, 0x2f, 0xfd, ..] => {
            let decoder = ruzstd::decoding::StreamingDecoder::new(&*data);
            Box::new(decoder.with_context(|| format!("{}: is a damaged zstd file", path.display()))?)
        }
        _ => return Ok(data),
    };
    let place = std::env::temp_dir().join(format!("dwell-core-{}", process::id()));
    let mut file = OpenOptions::new()
        .read(true)
        .write(true)
        .create_new(true)
        .open(&place)
        .with_context(|| format!("{}: cannot be written, to decompress {}", place.display(), path.display()))?;
    let removed = fs::remove_file(&place);
    io::copy(&mut reader, &mut file).with_context(|| format!("{}: cannot be decompressed", path.display()))?;
    removed.with_context(|| format!("{}: cannot be removed", place.display()))?;
    // SAFETY: the file has no name, and nothing writes to it any more.
    unsafe { Mmap::map(&file) }.with_context(|| format!("{}: cannot be mapped", path.display()))
}
