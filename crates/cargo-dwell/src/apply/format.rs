//! Formats the changed files that were formatted before the change, by rustfmt.

use super::tree::{Change, Tree};
use anyhow::Result;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

/// Formats a changed source, if rustfmt left it as it was before. Without rustfmt it stays as it is.
///
/// # Errors
/// Returns an error if it cannot be written.
pub(super) fn restore(tree: &mut Tree, change: &Change) -> Result<()> {
    if change.file.extension().is_none_or(|extension| extension != "rs") {
        return Ok(());
    }
    let path = tree.root.join(&change.file);
    let (folder, edition) = (path.parent().unwrap_or(&tree.root), tree.edition(&change.file));
    if formatted(folder, edition, &change.before).is_some_and(|text| text == change.before)
        && let Some(text) = formatted(folder, edition, &change.after)
    {
        tree.write(&change.file, &text)?;
    }
    Ok(())
}

/// Returns a source as rustfmt writes it, with the settings of a folder. `None`: it cannot.
fn formatted(folder: &Path, edition: &str, text: &str) -> Option<String> {
    let mut command = Command::new(std::env::var_os("RUSTFMT").unwrap_or_else(|| "rustfmt".into()));
    command.args(["--edition", edition, "--emit", "stdout", "--quiet"]).current_dir(folder);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().ok()?;
    let mut stdin = child.stdin.take()?;
    let input = text.to_owned();
    let writer = std::thread::spawn(move || stdin.write_all(input.as_bytes()));
    let output = child.wait_with_output().ok()?;
    let is_written = writer.join().is_ok_and(|result| result.is_ok());
    (output.status.success() && is_written).then(|| String::from_utf8(output.stdout).ok()).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sources_are_formatted() {
        let folder = tempfile::tempdir().unwrap();
        let text = "fn main() {\n    f(1);\n}\n";
        let Some(made) = formatted(folder.path(), "2021", &text.replace("    ", " ")) else {
            return println!("skipped: there is no rustfmt");
        };
        assert_eq!(made, text);
        assert_eq!(formatted(folder.path(), "2021", "fn {"), None);
    }
}
