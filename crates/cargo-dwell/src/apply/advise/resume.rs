//! What a run tried, for one that goes on.

use super::super::tree::Change;
use super::answer::Tried;
use anyhow::{Context, Result};
use serde::{Deserialize, Serialize};
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

/// What a run tried.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct Saved {
    arguments: Vec<OsString>,
    pub(super) tried: Vec<Tried>,
    /// The files with the changes that held: path, text before, text after.
    files: Vec<(PathBuf, String, String)>,
}

impl Saved {
    pub(super) fn new(arguments: &[OsString], tried: &[Tried], changes: Vec<Change>) -> Self {
        let files = changes.into_iter().map(|change| (change.file, change.before, change.after)).collect();
        Self { arguments: arguments.to_vec(), tried: tried.to_vec(), files }
    }

    /// # Errors
    /// Returns an error if the file cannot be written.
    pub(super) fn write(&self, file: &Path) -> Result<()> {
        crate::report::saved::write(file, |out| serde_json::to_writer(out, self).map_err(Into::into))
    }

    /// Reads what a run saved. `None`, with the reason on standard error: it does not fit the program as it is now.
    pub(super) fn read(file: &Path, arguments: &[OsString]) -> Result<Option<Self>> {
        let Ok(text) = fs::read(file) else {
            eprintln!("note: there is no run to go on with: this is the first one");
            return Ok(None);
        };
        let saved: Self = serde_json::from_slice(&text)
            .with_context(|| format!("{}: is damaged; delete it, or run without --resume", file.display()))?;
        if saved.arguments != arguments {
            eprintln!("note: the last run had other arguments: this one begins anew");
            return Ok(None);
        }
        Ok(Some(saved))
    }

    /// Returns the changes that held, if the user's files are as they were.
    pub(super) fn changes(&self, root: &Path) -> Option<Vec<Change>> {
        let is_same = |(file, before, _): &(PathBuf, String, String)| {
            fs::read_to_string(root.join(file)).is_ok_and(|text| text == *before)
        };
        let change = |(file, before, after): &(PathBuf, String, String)| Change {
            file: file.clone(),
            before: before.clone(),
            after: after.clone(),
        };
        self.files.iter().all(is_same).then(|| self.files.iter().map(change).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_goes_on_with_the_same_source() {
        let folder = tempfile::tempdir().unwrap();
        let (file, root) = (folder.path().join("state.json"), folder.path());
        let arguments = [OsString::from("x")];
        assert!(Saved::read(&file, &arguments).unwrap().is_none());
        fs::write(root.join("a.rs"), "a").unwrap();
        let change = Change { file: "a.rs".into(), before: "a".into(), after: "b".into() };
        Saved::new(&arguments, &[], vec![change.clone()]).write(&file).unwrap();
        let saved = Saved::read(&file, &arguments).unwrap().unwrap();
        assert_eq!(saved.changes(root), Some(vec![change]));
        fs::write(root.join("a.rs"), "c").unwrap();
        assert_eq!(saved.changes(root), None);
        assert!(Saved::read(&file, &[]).unwrap().is_none());
        fs::write(&file, "{").unwrap();
        assert!(Saved::read(&file, &arguments).unwrap_err().to_string().contains("is damaged"));
    }
}
