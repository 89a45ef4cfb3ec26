//! The counts of a saved census: how many values of each enum and field there were, and how many of each variant. The
//! format is that of `docs/json-output.md`.

use anyhow::{Context, Result, bail};
use serde::Deserialize;
use std::collections::HashMap;
use std::io::Read as _;
use std::path::{Path, PathBuf};

/// The version of the census's format.
const VERSION: u32 = 1;

#[derive(Deserialize)]
struct Saved {
    version: u32,
    program: About,
    snapshots: Vec<Snapshot>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct About {
    build_id: Option<String>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Snapshot {
    live_bytes: u64,
    fields: Vec<Field>,
    enums: Vec<Enum>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Field {
    #[serde(rename = "type")]
    type_name: String,
    #[serde(rename = "field")]
    name: String,
    instances: u64,
    filled: u64,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Enum {
    #[serde(rename = "type")]
    type_name: String,
    instances: u64,
    variants: Vec<Variant>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Variant {
    name: String,
    count: u64,
}

/// The counts of the snapshot with the most live bytes.
#[derive(Debug, Default)]
pub(super) struct Counts {
    /// The values of each variant, by enum.
    enums: HashMap<String, (u64, HashMap<String, u64>)>,
    /// All values and those that are not empty, by type and field.
    fields: HashMap<(String, String), (u64, u64)>,
}

/// The largest file that is searched for a census, and the number of bytes at its start that have the build id.
const LARGEST: u64 = 256 << 20;
const START: u64 = 8 << 10;

/// Finds the newest file in one of the folders that `cargo dwell census --save` wrote for this build, or else for another
/// build of the executable with this name: `census` builds the program with other flags.
pub(super) fn find(folders: &[PathBuf], build_id: Option<&str>, name: &str) -> Option<PathBuf> {
    let entries = folders.iter().filter_map(|folder| std::fs::read_dir(folder).ok()).flatten();
    let files = entries.filter_map(|entry| {
        let path = entry.ok()?.path();
        let about = std::fs::metadata(&path).ok()?;
        let is_json = path.extension().is_some_and(|extension| extension == "json");
        (is_json && about.is_file() && about.len() <= LARGEST).then_some((about.modified().ok()?, path))
    });
    let start = |path: &Path| {
        let mut start = Vec::new();
        std::fs::File::open(path).and_then(|file| file.take(START).read_to_end(&mut start)).ok()?;
        Some(String::from_utf8_lossy(&start).replace("\": ", "\":")).filter(|text| text.contains("\"build_id\":"))
    };
    let mut files: Vec<_> = files.filter_map(|(time, path)| Some((time, start(&path)?, path))).collect();
    files.sort();
    files.reverse();
    let of_build = build_id.map(|build_id| format!("\"build_id\":\"{build_id}\""));
    let of_name = Some(format!("/{name}\""));
    of_build.into_iter().chain(of_name).find_map(|wanted| {
        let found = files.iter().filter(|(_, start, _)| start.contains(&wanted));
        // `layout --save` writes the same facts about the program.
        found.map(|(.., path)| path).find(|path| Counts::parse(path).is_ok()).cloned()
    })
}

impl Counts {
    /// Reads a file that `cargo dwell census --save` wrote, for the program with this build id.
    ///
    /// # Errors
    /// Returns an error if it is no census, has another version, or is of another build.
    pub(super) fn read(file: &Path, build_id: Option<&str>) -> Result<Self> {
        let saved = Self::parse(file)?;
        if let (Some(found), Some(wanted)) = (&saved.program.build_id, build_id)
            && found != wanted
        {
            eprintln!(
                "note: {}: is of another build of the program; its counts are used by the names of types",
                file.display()
            );
        }
        let Some(most) = saved.snapshots.into_iter().max_by_key(|snapshot| snapshot.live_bytes) else {
            bail!("{}: has no snapshot", file.display());
        };
        let mut counts = Self::default();
        for row in most.enums {
            let variants = row.variants.into_iter().map(|variant| (variant.name, variant.count)).collect();
            counts.enums.insert(row.type_name, (row.instances, variants));
        }
        for row in most.fields {
            counts.fields.insert((row.type_name, row.name), (row.instances, row.filled));
        }
        Ok(counts)
    }

    fn parse(file: &Path) -> Result<Saved> {
        let not_saved = || format!("{}: is not a file that `cargo dwell census --save` wrote", file.display());
        let text = std::fs::read(file).with_context(|| format!("{}: cannot be read", file.display()))?;
        let saved: Saved = serde_json::from_slice(&text).with_context(not_saved)?;
        if saved.version != VERSION {
            bail!("{}: has version {} of the schema, not {VERSION}; save it again", file.display(), saved.version);
        }
        Ok(saved)
    }

    /// Returns the number of values of an enum, and the number of those with one of these variants.
    pub(super) fn of_variants(&self, name: &str, variants: &[String]) -> Option<(u64, u64)> {
        let (all, by_variant) = self.enums.get(name)?;
        let some = variants.iter().map(|name| by_variant.get(name).copied().unwrap_or(0)).fold(0, u64::saturating_add);
        Some((*all, some))
    }

    /// Returns the number of values of a struct, and of those in which the field is not empty.
    pub(super) fn of_field(&self, name: &str, field: &str) -> Option<(u64, u64)> {
        self.fields.get(&(name.to_owned(), field.to_owned())).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn census_of_the_build_is_found() {
        let folder = tempfile::tempdir().unwrap();
        let folders = [folder.path().join("missing"), folder.path().to_owned()];
        let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
        let text = |build: &str, list: &str| {
            format!(r#"{{"version": 1, "program": {{"file": "/a/app", "build_id": "{build}"}}, {list}}}"#)
        };
        let snapshots = r#""snapshots": [{"live_bytes": 1}]"#;
        write("layout.json", &text("ab", r#""types": []"#));
        write("notes.txt", &text("ab", snapshots));
        assert_eq!(find(&folders, Some("ab"), "app"), None);
        write("other.json", &text("cd", snapshots));
        assert_eq!(find(&folders, Some("ab"), "app"), Some(folder.path().join("other.json")));
        assert_eq!(find(&folders, Some("ab"), "pp"), None);
        write("a.json", &text("ab", snapshots));
        assert_eq!(find(&folders, Some("ab"), "app"), Some(folder.path().join("a.json")));
    }
}
