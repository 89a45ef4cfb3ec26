//! Selects one of a workspace's executables, by the rules of `cargo run`.

use super::BuildArgs;
use anyhow::{Result, bail};
use cargo_metadata::{Metadata, Package, Target, TargetKind};
use std::fmt;
use std::path::PathBuf;
use std::process::Command;

/// One executable of a workspace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Selected {
    kind: Kind,
    name: String,
    /// The folder of its package, if known.
    pub(crate) package_dir: Option<PathBuf>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Bin,
    Example,
    Test,
    Bench,
    /// The tests in a library's source.
    Lib,
}

impl Kind {
    fn flag(self) -> &'static str {
        match self {
            Self::Bin => "--bin",
            Self::Example => "--example",
            Self::Test => "--test",
            Self::Bench => "--bench",
            Self::Lib => "--lib",
        }
    }

    fn is(self, target: &Target) -> bool {
        match self {
            Self::Bin => target.is_bin(),
            Self::Example => target.is_example(),
            Self::Test => target.is_test(),
            Self::Bench => target.is_bench(),
            Self::Lib => is_library(target),
        }
    }
}

impl fmt::Display for Selected {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.kind {
            Kind::Lib => f.write_str("--lib"),
            kind => write!(f, "{} {}", kind.flag(), self.name),
        }
    }
}

impl Selected {
    /// Returns `true` if a message from cargo is about this executable.
    pub(crate) fn is(&self, target: &Target) -> bool {
        // Building a test also builds the binaries of its package, so the kind must match too.
        self.kind.is(target) && target.name == self.name
    }

    pub(crate) fn pass_on(&self, command: &mut Command) {
        command.arg(self.kind.flag());
        if self.kind != Kind::Lib {
            command.arg(&self.name);
        }
    }

    /// Returns cargo's command that builds it.
    pub(crate) fn command(&self) -> &'static [&'static str] {
        if self.kind == Kind::Lib { &["test", "--no-run"] } else { &["build"] }
    }
}

pub(crate) fn select(args: &BuildArgs, workspace: &Metadata) -> Result<Selected> {
    let packages = packages(args, workspace);
    let named =
        [(Kind::Bin, &args.bin), (Kind::Example, &args.example), (Kind::Test, &args.test), (Kind::Bench, &args.bench)];
    if let Some((kind, name)) = named.into_iter().find_map(|(kind, name)| Some((kind, name.clone()?))) {
        // If no package has the name, cargo reports it and lists the names it knows.
        let has = |package: &&&Package| package.targets.iter().any(|target| kind.is(target) && target.name == name);
        let package_dir = packages.iter().find(has).and_then(|package| dir(package));
        return Ok(Selected { kind, name, package_dir });
    }

    if args.lib {
        let libraries: Vec<_> = packages.iter().flat_map(|package| targets(package, Kind::Lib)).collect();
        return match libraries[..] {
            [(package, target)] => {
                Ok(Selected { kind: Kind::Lib, name: target.name.clone(), package_dir: dir(package) })
            }
            [] => bail!("there is no library; leave out --lib"),
            _ => bail!("there are {} libraries; choose one with -p", libraries.len()),
        };
    }

    let bins: Vec<_> = packages.iter().flat_map(|package| targets(package, Kind::Bin)).collect();
    let defaults: Vec<_> = packages.iter().filter_map(|package| package.default_run.as_deref()).collect();
    let mut chosen = bins.clone();
    if let [default] = defaults[..] {
        chosen.retain(|(_, target)| target.name == default);
    }
    match (&chosen[..], &packages[..]) {
        (&[(package, target)], _) => {
            Ok(Selected { kind: Kind::Bin, name: target.name.clone(), package_dir: dir(package) })
        }
        // Cargo reports what is wrong with the specification.
        ([], []) => Ok(Selected { kind: Kind::Bin, name: args.package.clone().unwrap_or_default(), package_dir: None }),
        ([], packages) => bail!("{}", no_executable(packages)),
        (several, _) => {
            let named: Vec<_> = several.iter().map(|(package, target)| choice(several, package, target)).collect();
            bail!("there are {} executables; choose one with {}", several.len(), listed(&named, "or"))
        }
    }
}

/// Returns the arguments that select one of several executables.
fn choice(all: &[(&Package, &Target)], package: &Package, target: &Target) -> String {
    if all.iter().filter(|(_, other)| other.name == target.name).count() > 1 {
        format!("-p {} --bin {}", package.name, target.name)
    } else {
        format!("--bin {}", target.name)
    }
}

/// Returns the packages that cargo would search.
fn packages<'w>(args: &BuildArgs, workspace: &'w Metadata) -> Vec<&'w Package> {
    let members = workspace.workspace_packages();
    match &args.package {
        // Also `name@version` and `path+file:///..#name@version`.
        Some(spec) => {
            let name = spec.rsplit(['#', '/']).next().unwrap_or(spec).split(['@', ':']).next().unwrap_or(spec);
            members.into_iter().filter(|package| package.name.as_str() == name).collect()
        }
        None if workspace.workspace_default_members.is_available() => workspace.workspace_default_packages(),
        None => members,
    }
}

fn targets(package: &Package, kind: Kind) -> impl Iterator<Item = (&Package, &Target)> {
    package.targets.iter().filter(move |target| kind.is(target)).map(move |target| (package, target))
}

fn dir(package: &Package) -> Option<PathBuf> {
    package.manifest_path.parent().map(|dir| dir.as_std_path().to_owned())
}

/// Returns the message for packages without a binary, with the other executables that they have.
fn no_executable(packages: &[&Package]) -> String {
    let what = match packages {
        [package] if package.targets.iter().any(is_library) => {
            format!("`{}` is a library and has no executable", package.name)
        }
        [package] => format!("`{}` has no executable", package.name),
        packages => format!("none of the {} packages has an executable", packages.len()),
    };
    let mut others: Vec<_> = [Kind::Example, Kind::Test, Kind::Bench]
        .into_iter()
        .flat_map(|kind| {
            packages.iter().flat_map(move |package| targets(package, kind)).map(move |target| (kind, target))
        })
        .map(|(kind, (_, target))| format!("{} {}", kind.flag(), target.name))
        .collect();
    if packages.iter().any(|package| package.targets.iter().any(is_library)) {
        others.push("--lib for its unit tests".to_owned());
    }
    let all = others.len();
    others.truncate(5);
    if others.is_empty() {
        return format!("{what}; add an example that uses it");
    }
    let more = if all > 5 { ", ..." } else { "" };
    format!("{what}; choose a target: {}{more}", listed(&others, "or"))
}

fn is_library(target: &Target) -> bool {
    let kinds = [
        TargetKind::Lib,
        TargetKind::RLib,
        TargetKind::DyLib,
        TargetKind::CDyLib,
        TargetKind::StaticLib,
        TargetKind::ProcMacro,
    ];
    target.kind.iter().any(|kind| kinds.contains(kind))
}

/// Lists names: `a, b or c`.
fn listed(names: &[String], word: &str) -> String {
    match names {
        [] => String::new(),
        [one] => one.clone(),
        [first @ .., last] => format!("{} {word} {last}", first.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_joined_with_commas_and_or() {
        let names: Vec<_> = ["a", "b", "c"].map(str::to_owned).into();
        assert_eq!(listed(&names, "or"), "a, b or c");
        assert_eq!(listed(&names[..1], "or"), "a");
    }
}
