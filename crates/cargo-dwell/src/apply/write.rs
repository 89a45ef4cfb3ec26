//! Writes the changed files into the user's tree: all of them, or none.
//!
//! The old texts are first saved in a journal. A run that ends in the middle, by a signal or a full disk, leaves the
//! journal, and the next run gives the files their old texts back before it does anything else.

use super::tree::Change;
use crate::report::saved::write as write_file;
use anyhow::{Context, Result, bail};
use serde::{Deserialize, Serialize};
use std::fs;
use std::path::{Path, PathBuf};

/// The files that a run is about to change.
#[derive(Debug, Serialize, Deserialize)]
struct Journal {
    root: PathBuf,
    files: Vec<Entry>,
}

#[derive(Debug, Serialize, Deserialize)]
struct Entry {
    file: PathBuf,
    before: String,
    after: String,
}

/// Writes the changes to the user's tree.
///
/// # Errors
/// Returns an error, with all files as they were, if one of them has changed since it was copied, or cannot be written.
pub(super) fn write(root: &Path, changes: &[Change], journal: &Path) -> Result<()> {
    for change in changes {
        let path = root.join(&change.file);
        if fs::read_to_string(&path).ok().as_ref() != Some(&change.before) {
            bail!("{}: was changed while apply ran; nothing is written, run it again", path.display());
        }
        if fs::metadata(&path).is_ok_and(|metadata| metadata.permissions().readonly()) {
            bail!("{}: is read-only; nothing is written", path.display());
        }
    }
    let entry = |change: &Change| Entry {
        file: change.file.clone(),
        before: change.before.clone(),
        after: change.after.clone(),
    };
    let saved = Journal { root: root.to_owned(), files: changes.iter().map(entry).collect() };
    write_file(journal, |out| serde_json::to_writer(out, &saved).map_err(Into::into)).context("nothing is written")?;
    let written = changes.iter().try_for_each(|change| replace(&root.join(&change.file), &change.after));
    if let Err(error) = written {
        recover(journal)?;
        return Err(error.context("nothing is written"));
    }
    fs::remove_file(journal).with_context(|| format!("{}: cannot be removed", journal.display()))
}

/// Replaces a file atomically, with its permissions.
fn replace(path: &Path, text: &str) -> Result<()> {
    // A link stays one: the file that it names is replaced.
    let path = path.canonicalize().with_context(|| format!("{}: cannot be read", path.display()))?;
    let permissions = fs::metadata(&path).map(|metadata| metadata.permissions());
    write_file(&path, |out| out.write_all(text.as_bytes()))?;
    if let Ok(permissions) = permissions {
        fs::set_permissions(&path, permissions).with_context(|| format!("{}: cannot be written", path.display()))?;
    }
    Ok(())
}

/// Gives the files of an interrupted run their old texts back. Returns their number. A file that somebody changed since
/// then stays.
///
/// # Errors
/// Returns an error if the journal cannot be read, or if a file cannot be written.
pub(super) fn recover(journal: &Path) -> Result<usize> {
    let Ok(text) = fs::read(journal) else { return Ok(0) };
    let Ok(saved) = serde_json::from_slice::<Journal>(&text) else {
        // It is written before the first file changes: an incomplete one has nothing to restore.
        fs::remove_file(journal).with_context(|| format!("{}: cannot be removed", journal.display()))?;
        return Ok(0);
    };
    let mut restored = 0;
    for Entry { file, before, after } in saved.files {
        let path = saved.root.join(file);
        if fs::read_to_string(&path).is_ok_and(|text| text == after && text != before) {
            replace(&path, &before)?;
            restored += 1;
        }
    }
    fs::remove_file(journal).with_context(|| format!("{}: cannot be removed", journal.display()))?;
    Ok(restored)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt as _;

    fn change(file: &str, before: &str, after: &str) -> Change {
        Change { file: file.into(), before: before.into(), after: after.into() }
    }

    #[test]
    fn all_files_are_written_or_none() {
        let folder = tempfile::tempdir().unwrap();
        let (root, journal) = (folder.path().join("root"), folder.path().join("journal"));
        fs::create_dir(&root).unwrap();
        fs::write(root.join("a"), "1").unwrap();
        fs::write(root.join("b"), "2").unwrap();
        fs::set_permissions(root.join("a"), fs::Permissions::from_mode(0o750)).unwrap();
        let text = |file: &str| fs::read_to_string(root.join(file)).unwrap();
        let error = write(&root, &[change("a", "1", "x"), change("b", "other", "y")], &journal).unwrap_err();
        assert!(error.to_string().contains("was changed while apply ran"), "{error}");
        assert_eq!((text("a").as_str(), text("b").as_str()), ("1", "2"));
        write(&root, &[change("a", "1", "x"), change("b", "2", "y")], &journal).unwrap();
        assert_eq!((text("a").as_str(), text("b").as_str()), ("x", "y"));
        assert_eq!(fs::metadata(root.join("a")).unwrap().permissions().mode() & 0o777, 0o750);
        assert!(!journal.exists() && fs::read_dir(&root).unwrap().count() == 2);
    }

    #[test]
    fn interrupted_run_is_undone_by_the_next() {
        let folder = tempfile::tempdir().unwrap();
        let journal = folder.path().join("journal");
        let entry = |file: &str| Entry { file: file.into(), before: "old".into(), after: "new".into() };
        let files = vec![entry("written"), entry("not yet"), entry("edited")];
        let saved = Journal { root: folder.path().to_owned(), files };
        fs::write(&journal, serde_json::to_vec(&saved).unwrap()).unwrap();
        for (file, text) in [("written", "new"), ("not yet", "old"), ("edited", "by somebody")] {
            fs::write(folder.path().join(file), text).unwrap();
        }
        assert_eq!(recover(&journal).unwrap(), 1);
        let text = |file: &str| fs::read_to_string(folder.path().join(file)).unwrap();
        assert_eq!([text("written"), text("not yet"), text("edited")], ["old", "old", "by somebody"]);
        assert_eq!(recover(&journal).unwrap(), 0);
        fs::write(&journal, "{").unwrap();
        assert_eq!(recover(&journal).unwrap(), 0);
        assert!(!journal.exists());
    }
}
