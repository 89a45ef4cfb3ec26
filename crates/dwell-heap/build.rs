//! Compiles the agent of `cargo dwell census`, which the tool contains: the machine that it runs on needs no rustc.

#[path = "src/agent/flags.rs"]
mod flags;

use std::env;
use std::path::Path;
use std::process::Command;

const LIBRARY: &str = "src/agent/library";

fn main() {
    println!("cargo::rerun-if-changed={LIBRARY}");
    println!("cargo::rerun-if-changed=src/agent/flags.rs");
    let target = env::var("TARGET").unwrap_or_default();
    let out = Path::new(&env::var_os("OUT_DIR").unwrap_or_default()).join("agent.so");
    // An empty file stands for no agent.
    std::fs::write(&out, []).expect("cargo's folder for the output is writable");
    println!("cargo::rustc-check-cfg=cfg(agent)");
    let processor = target.split('-').next().unwrap_or_default();
    // CI checks the tool as it is for targets without an agent.
    println!("cargo::rerun-if-env-changed=DWELL_NO_AGENT");
    let is_left_out = env::var_os("DWELL_NO_AGENT").is_some();
    if is_left_out || !["x86_64", "aarch64"].contains(&processor) || !target.contains("-linux-") {
        return;
    }
    // There is an agent for this target, so programs can be run and looked at.
    println!("cargo::rustc-cfg=agent");
    println!("cargo::metadata=agent=1");
    // The agent is loaded into programs for glibc, for which the tool itself may not be built.
    let of_agent = if target.ends_with("-gnu") { target.clone() } else { format!("{processor}-unknown-linux-gnu") };
    let mut rustc = Command::new(env::var_os("RUSTC").unwrap_or_else(|| "rustc".into()));
    rustc.args(flags::FLAGS).arg("--target").arg(&of_agent);
    if let Some(linker) = env::var_os("RUSTC_LINKER").filter(|_| env::var("HOST").is_ok_and(|host| host != of_agent)) {
        let mut flag = std::ffi::OsString::from("-Clinker=");
        flag.push(linker);
        rustc.arg(flag);
    }
    let built = out.with_extension("new");
    let compiled = rustc.arg("-o").arg(&built).arg(Path::new(LIBRARY).join("agent.rs")).output();
    match compiled {
        Ok(output) if output.status.success() => std::fs::rename(&built, &out).expect("cargo's folder is writable"),
        Ok(output) => {
            let errors = String::from_utf8_lossy(&output.stderr);
            let first = errors.lines().find(|line| line.starts_with("error")).unwrap_or("rustc printed no error");
            println!("cargo::warning=the agent of `census` is compiled at its first use instead: {first}");
        }
        Err(error) => println!("cargo::warning=the agent of `census` is compiled at its first use instead: {error}"),
    }
}
