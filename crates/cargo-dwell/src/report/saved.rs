//! Reads and writes files with a census.

use anyhow::{Context, Result, bail};
use dwell_heap::json::{Document, VERSION};
use serde::Deserialize;
use std::fs;
use std::io::{BufReader, Write};
use std::path::Path;

/// Reads a file that `--save` wrote.
///
/// # Errors
/// Returns an error if it cannot be read, is not a census, or has another version.
pub(crate) fn read(file: &Path) -> Result<Document> {
    /// The version alone: a file of a later version may have other fields.
    #[derive(Deserialize)]
    struct Version {
        version: u32,
        snapshots: Vec<serde_json::Value>,
    }
    let not_saved = || format!("{}: is not a file that `cargo dwell census --save` wrote", file.display());
    let opened = fs::File::open(file).with_context(|| format!("{}: cannot be read", file.display()))?;
    let value: serde_json::Value = serde_json::from_reader(BufReader::new(opened)).with_context(not_saved)?;
    let Version { version, snapshots } = Version::deserialize(&value).with_context(not_saved)?;
    if version != VERSION {
        bail!(
            "{}: has version {version} of the schema, not {VERSION}; save it again with this cargo dwell",
            file.display()
        );
    }
    if snapshots.is_empty() {
        bail!("{}: has no snapshot", file.display());
    }
    if let Some(number) = largest(&value["snapshots"]).filter(|number| *number > LARGEST) {
        bail!("{}: has the number {number}, which no census has; the file was changed or damaged", file.display());
    }
    Document::deserialize(value).with_context(not_saved)
}

/// The largest number of a census: the address space in bytes. Sums of such numbers do not overflow.
const LARGEST: u64 = 1 << 48;

/// Returns the largest number in a value.
fn largest(value: &serde_json::Value) -> Option<u64> {
    match value {
        serde_json::Value::Number(number) => number.as_u64(),
        serde_json::Value::Array(all) => all.iter().filter_map(largest).max(),
        serde_json::Value::Object(all) => all.values().filter_map(largest).max(),
        _ => None,
    }
}

/// Writes a file atomically.
///
/// # Errors
/// Returns an error if it cannot be written. An older file then stays unchanged.
pub(crate) fn write(file: &Path, write: impl FnOnce(&mut dyn Write) -> std::io::Result<()>) -> Result<()> {
    let not_written = || format!("{}: cannot be written", file.display());
    // Devices and pipes are written directly.
    if fs::metadata(file).is_ok_and(|metadata| !metadata.is_file()) {
        let mut out = std::io::BufWriter::new(fs::File::create(file).with_context(not_written)?);
        return write(&mut out).and_then(|()| out.flush()).with_context(not_written);
    }
    let mut name = file.file_name().with_context(not_written)?.to_owned();
    name.push(format!(".{}.tmp", std::process::id()));
    let unfinished = file.with_file_name(name);
    let written = fs::File::create(&unfinished).and_then(|opened| {
        let mut out = std::io::BufWriter::new(opened);
        write(&mut out)?;
        out.flush()?;
        fs::rename(&unfinished, file)
    });
    if written.is_err() {
        let _ = fs::remove_file(&unfinished);
    }
    written.with_context(not_written)
}

#[cfg(test)]
mod tests {
    use super::*;
    use dwell_heap::json::{Finding, Snapshot};

    #[test]
    fn saved_census_round_trips() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("census.json");
        let finding = Finding { kind: "box".into(), location: "Shape.traits".into(), saves: 7, ..Finding::default() };
        let snapshot = Snapshot { at: "peak".into(), findings: vec![finding], ..Snapshot::default() };
        let document = Document { version: VERSION, snapshots: vec![snapshot], ..Document::default() };
        write(&file, |out| serde_json::to_writer(out, &document).map_err(Into::into)).unwrap();
        assert_eq!(read(&file).unwrap(), document);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn other_files_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("other");
        for (text, wrong) in [
            ("", "is not a file that"),
            ("{}", "is not a file that"),
            ("[1, 2]", "is not a file that"),
            (r#"{"version": 9, "snapshots": []}"#, "has version 9"),
            (r#"{"version": 1, "snapshots": []}"#, "has no snapshot"),
            (r#"{"version": 1, "snapshots": [{"at": 3}]}"#, "is not a file that"),
            (
                r#"{"version": 1, "snapshots": [{"blocks": [{"bytes": 18446744073709551615}]}]}"#,
                "has the number 18446744073709551615",
            ),
        ] {
            fs::write(&file, text).unwrap();
            let error = read(&file).unwrap_err().to_string();
            assert!(error.contains(wrong), "{text}: {error}");
        }
        assert!(read(&folder.path().join("none")).unwrap_err().to_string().contains("cannot be read"));
    }

    #[test]
    fn failed_write_keeps_the_old_file() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("census.json");
        fs::write(&file, "before").unwrap();
        let full = write(&file, |_| Err(std::io::Error::from(std::io::ErrorKind::StorageFull)));
        assert!(full.unwrap_err().to_string().contains("cannot be written"));
        assert_eq!(fs::read_to_string(&file).unwrap(), "before");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }
}
