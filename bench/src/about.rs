//! The machine, the compiler, the allocator, and the versions of all compared crates.

use anyhow::{Context, Result};
use std::fs;

use crate::row::{Output, Row};
use crate::{callgrind, count};

/// Returns names and values that describe the machine, in the order of printing.
pub(crate) fn machine() -> Vec<(&'static str, String)> {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let mut about = vec![
        ("processor", format!("{}, {cores} cores", processor())),
        ("memory", memory().unwrap_or_else(|| "unknown".to_owned())),
        ("system", system()),
        ("compiler", env!("DWELL_RUSTC").to_owned()),
        ("allocator", allocator()),
    ];
    about.push((
        "counter",
        callgrind::version().unwrap_or_else(|| "valgrind is not installed: no instruction counts".to_owned()),
    ));
    about
}

fn processor() -> String {
    let info = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let name = info.lines().find_map(|line| line.strip_prefix("model name")?.split_once(':'));
    name.map_or_else(|| std::env::consts::ARCH.to_owned(), |(_, name)| name.trim().to_owned())
}

fn memory() -> Option<String> {
    let info = fs::read_to_string("/proc/meminfo").ok()?;
    let kilobytes: f64 = info.lines().next()?.split_whitespace().nth(1)?.parse().ok()?;
    Some(format!("{:.1} GB", kilobytes * 1024.0 / 1e9))
}

fn system() -> String {
    let release = fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    format!("{} {} {}", std::env::consts::OS, release.trim(), std::env::consts::ARCH)
}

#[cfg(target_env = "gnu")]
fn allocator() -> String {
    // SAFETY: `gnu_get_libc_version` has no preconditions.
    let version = unsafe { libc::gnu_get_libc_version() };
    // SAFETY: glibc documents that the function returns a string. The string ends with a nul byte, is a constant of the
    // library, and is never written or freed.
    let version = unsafe { std::ffi::CStr::from_ptr(version) };
    format!("{} (glibc {})", count::allocator(), version.to_string_lossy())
}

#[cfg(not(target_env = "gnu"))]
fn allocator() -> String {
    count::allocator().to_owned()
}

/// The name of the row with this program's arguments.
pub(crate) const COMMAND: &str = "command";

/// The dependencies of this program that it does not compare with Dwell.
const TOOLS: [&str; 14] = [
    "anyhow",
    "clap",
    "dwell",
    "dwell-bench-real",
    "dwell-output",
    "dwell-shape",
    "cargo-dwell",
    "fastrand",
    "libc",
    "rustix",
    "serde",
    "serde_json",
    "tempfile",
    "toml",
];

/// Returns the version of each peer, from the lock file of this build.
pub(crate) fn versions() -> Result<Vec<(String, String)>> {
    peers(include_str!("../../Cargo.lock")).context("Cargo.lock")
}

fn peers(lock: &str) -> Result<Vec<(String, String)>> {
    #[derive(serde::Deserialize)]
    struct Package {
        name: String,
        version: String,
        #[serde(default)]
        dependencies: Vec<String>,
    }
    #[derive(serde::Deserialize)]
    struct Lock {
        package: Vec<Package>,
    }
    let Lock { package: packages } = toml::from_str(lock)?;
    let ours = packages.iter().find(|package| package.name == "dwell-bench").context("no package dwell-bench")?;
    let mut peers = Vec::new();
    for dependency in &ours.dependencies {
        // If a package has several versions, the dependency names the version too.
        let mut words = dependency.split_whitespace();
        let (name, version) = (words.next().context("a dependency without a name")?, words.next());
        let same =
            |package: &&Package| package.name == name && version.is_none_or(|version| version == package.version);
        if !TOOLS.contains(&name) {
            let package = packages.iter().find(same).with_context(|| format!("no package {name}"))?;
            peers.push((name.to_owned(), package.version.clone()));
        }
    }
    Ok(peers)
}

/// Prints the machine and the versions, as text or as one row for each.
pub(crate) fn run(output: Output) -> Result<()> {
    let (machine, versions) = (machine(), versions()?);
    for (name, value) in &machine {
        output.say(&format!("{name}: {value}"))?;
    }
    let list: Vec<String> = versions.iter().map(|(name, version)| format!("{name} {version}")).collect();
    output.say(&format!("peers: {}", list.join(", ")))?;
    if output.json {
        let row = |workload: &str, subject: String| Row {
            module: "about",
            workload: workload.to_owned(),
            subject,
            metric: "about",
            value: 0.0,
            unit: "",
            baseline: String::new(),
            ratio: 0.0,
        };
        let arguments = std::env::args().skip(1).collect::<Vec<_>>().join(" ");
        let machine = machine.into_iter().chain([(COMMAND, arguments)]).map(|(name, value)| row(name, value));
        let rows: Vec<Row> = machine.chain(list.into_iter().map(|peer| row("peer", peer))).collect();
        output.rows(&rows)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    #[test]
    fn versions_come_from_the_lock_file() {
        let lock = r#"
            [[package]]
            name = "dwell-bench"
            version = "0.1.0"
            dependencies = ["clap", "slab", "nexus-slab 0.10.2", "nexus-slab 1.0.0"]
            [[package]]
            name = "nexus-slab"
            version = "0.10.2"
            [[package]]
            name = "nexus-slab"
            version = "1.0.0"
            [[package]]
            name = "slab"
            version = "0.4.11"
        "#;
        let peers = super::peers(lock).unwrap();
        let found: Vec<_> = peers.iter().map(|(name, version)| (name.as_str(), version.as_str())).collect();
        assert_eq!(found, [("slab", "0.4.11"), ("nexus-slab", "0.10.2"), ("nexus-slab", "1.0.0")]);
        let versions = super::versions().unwrap();
        assert!(versions.iter().any(|(name, _)| name == "bumpalo"));
        assert!(!versions.iter().any(|(name, _)| name.contains("dwell")));
    }
}
