//! The `cargo dwell` command.

use cargo_dwell::cli::Cli;
use std::process::ExitCode;

fn main() -> ExitCode {
    match Cli::from_env().run() {
        Ok(code) => code,
        Err(error) => {
            anstream::eprintln!("error: {error:#}");
            ExitCode::from(2)
        }
    }
}
