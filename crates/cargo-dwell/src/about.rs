//! The program that a report describes.

use dwell_debuginfo::Program;
use serde::{Deserialize, Serialize};

/// The program that a report describes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct About {
    /// The executable.
    pub file: String,
    /// The profile that it was built with, if cargo dwell built it.
    pub profile: Option<String>,
    /// The compiler's version.
    pub rustc: Option<String>,
    /// The build id in hexadecimal digits.
    pub build_id: Option<String>,
}

impl About {
    /// Returns the description of a program.
    pub fn new(program: &Program, profile: Option<&str>) -> Self {
        Self {
            file: program.file.display().to_string(),
            profile: profile.map(str::to_owned),
            rustc: program.rustc.as_deref().map(str::to_owned),
            build_id: program.build_id.as_deref().map(str::to_owned),
        }
    }
}
