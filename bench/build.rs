//! Passes the compiler's version to the program, which prints it with the results.

use std::env;
use std::process::Command;

fn main() {
    let rustc = env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let version = Command::new(rustc).arg("--version").output().ok();
    let version =
        version.map_or_else(|| "rustc".to_owned(), |output| String::from_utf8_lossy(&output.stdout).into_owned());
    println!("cargo::rustc-env=DWELL_RUSTC={}", version.trim());
    println!("cargo::rerun-if-changed=build.rs");
}
