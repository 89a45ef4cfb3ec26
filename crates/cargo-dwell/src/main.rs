//! The `cargo dwell` command.

use cargo_dwell::cli::Cli;
use std::process::ExitCode;

/// Choosing types tries many small models and inference keeps many small maps: a sixth of the whole command's time is saved
/// against glibc's allocator.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    match Cli::from_env().run() {
        Ok(code) => code,
        Err(error) => {
            anstream::eprintln!("error: {error:#}");
            ExitCode::from(2)
        }
    }
}
