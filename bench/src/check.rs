//! The error of a failed check (exit code 1), as opposed to a failed measurement (2).

use std::fmt;

#[derive(Debug)]
pub(crate) struct CheckFailed(String);

impl CheckFailed {
    pub(crate) fn error(message: String) -> anyhow::Error {
        Self(message).into()
    }
}

impl fmt::Display for CheckFailed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for CheckFailed {}
