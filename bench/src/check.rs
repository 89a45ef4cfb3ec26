//! The error that means "measured, and not good enough" (exit code 1) rather than "could not measure" (2).

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
