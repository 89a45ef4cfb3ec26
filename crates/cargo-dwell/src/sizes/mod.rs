//! Budgets, saved sizes, and differences between two builds.

mod budget;
mod diff;
mod saved;

pub use budget::{Budgets, SizeBudget};
pub(crate) use budget::{matching, why};
pub(crate) use diff::Change;
pub use diff::Diff;
pub(crate) use saved::Known;
pub use saved::{Document, Selection, check_target};

use bytesize::ByteSize;
use clap::Args;
use std::path::PathBuf;

/// The arguments for budgets and differences.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Budgets and differences")]
pub struct CheckArgs {
    /// Fail with exit code 1 if TYPE is larger than BYTES: `Type=64`, `module::Type=64`
    #[arg(long, value_name = "TYPE=BYTES")]
    pub max_size: Vec<SizeBudget>,
    /// Fail with exit code 1 if a future is larger than BYTES
    #[arg(long, value_name = "BYTES", value_parser = dwell_output::units::parse_bytes)]
    pub max_future: Option<ByteSize>,
    /// Write the sizes of all types, futures and vtables to FILE as JSON, for --diff
    #[arg(long, value_name = "FILE")]
    pub save: Option<PathBuf>,
    /// Print what grew and what shrank since FILE, a file that --save wrote or an executable
    #[arg(long, value_name = "FILE")]
    pub diff: Option<PathBuf>,
    /// Fail with exit code 1 if a type or future grew by more than BYTES since the --diff FILE
    #[arg(long, value_name = "BYTES", requires = "diff", value_parser = dwell_output::units::parse_bytes)]
    pub fail_on_growth: Option<ByteSize>,
    /// Report on FILE too, another executable, and check the budgets in it; repeatable
    #[arg(long, value_name = "FILE")]
    pub also: Vec<PathBuf>,
    /// Fail if a name in dwell.toml matches no type of any of the executables
    #[arg(long)]
    pub strict: bool,
}
