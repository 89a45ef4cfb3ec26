//! The builds that compile after the change if they did before it: sets of features of the workspace, and packages that the
//! workspace excludes but its tree contains.

use super::tree::{Tree, normal};
use cargo_metadata::diagnostic::{Diagnostic, DiagnosticLevel, DiagnosticSpan};
use cargo_metadata::{Artifact, Message, Metadata, MetadataCommand, Package, TargetKind};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use walkdir::WalkDir;

/// The number of features that are checked alone.
const ALONE: usize = 16;
/// The number of excluded workspaces that are checked.
const EXCLUDED: usize = 8;

/// A way to build the workspace, or another one in its tree.
#[derive(Clone, Debug)]
pub(super) struct Build {
    /// The folder of a workspace that the user's one excludes, below the root of the tree; empty for the user's.
    pub(super) folder: PathBuf,
    pub(super) features: Features,
    /// What it compiled before the change.
    pub(super) before: Checked,
}

/// The features of a build.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Features {
    /// Those of the user's flags.
    Given,
    /// Those of the measured program, and nothing else of the workspace; with the manifest that names it.
    Program(PathBuf),
    /// All.
    All,
    /// These, without the default ones.
    Only(String),
    /// These, with the default ones.
    With(String),
}

impl Build {
    /// Returns a build that was not checked yet.
    pub(super) fn new(folder: impl Into<PathBuf>, features: Features) -> Self {
        Self { folder: folder.into(), features, before: Checked::default() }
    }

    /// Returns the build in the words of cargo.
    pub(super) fn name(&self) -> String {
        let features = match &self.features {
            Features::Given => String::new(),
            Features::Program(_) => "the program".to_owned(),
            Features::All => "--all-features".to_owned(),
            Features::Only(set) if set.is_empty() => "--no-default-features".to_owned(),
            Features::Only(set) => format!("--no-default-features --features {set}"),
            Features::With(set) if set.is_empty() => "the default features".to_owned(),
            Features::With(set) => format!("--features {set}"),
        };
        let words = [self.folder.display().to_string(), features];
        words.into_iter().filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ")
    }

    /// Returns `true` if the tests run in this build.
    pub(super) fn is_tested(&self) -> bool {
        let is_whole = self.before.errors.is_empty() && !self.before.units.is_empty();
        match self.features {
            Features::Given => self.folder.as_os_str().is_empty() || is_whole,
            Features::All => self.folder.as_os_str().is_empty() && is_whole,
            Features::Program(_) | Features::Only(_) | Features::With(_) => false,
        }
    }

    /// Returns the errors that the change made: all of a check after it, without those of targets that did not compile before.
    pub(super) fn made_by_change(&self, after: &Checked) -> Vec<Diagnostic> {
        let missing: BTreeSet<&Target> = self.missing(after).map(|unit| &unit.target).collect();
        let failed: BTreeSet<&Target> = self.before.errors.iter().map(|(target, _)| target).collect();
        let is_new = |(target, error): &&(Target, Diagnostic)| {
            missing.contains(target)
                || !failed.contains(target)
                    && !self.before.errors.iter().any(|(_, before)| before.message == error.message)
        };
        let mut errors: Vec<Diagnostic> = Vec::new();
        for (_, error) in after.errors.iter().filter(is_new) {
            if !errors.contains(error) {
                errors.push(error.clone());
            }
        }
        // A library that compiled has the name of its tests, which may not have compiled. Their errors may be on other lines now.
        let source = |error: &Diagnostic| {
            let primary = error.spans.iter().filter(|span| span.is_primary);
            let lines = primary.flat_map(|span| &span.text).map(|line| line.text.clone()).collect::<Vec<_>>();
            (error.message.clone(), lines)
        };
        let known: Vec<_> = self.before.errors.iter().map(|(_, error)| source(error)).collect();
        let of_change: Vec<Diagnostic> =
            errors.iter().filter(|error| !known.contains(&source(error))).cloned().collect();
        if of_change.is_empty() { errors } else { of_change }
    }

    /// Returns the warnings that the change made.
    pub(super) fn new_warnings(&self, after: &Checked) -> Vec<String> {
        let mut before: Vec<&str> = self.before.warnings.iter().map(|(_, message)| message.as_str()).collect();
        let mut all = Vec::new();
        for (at, message) in &after.warnings {
            // One that only moves is not new.
            match before.iter().position(|item| item == message) {
                Some(index) => _ = before.swap_remove(index),
                None => all.push(format!("{at}: {message}")),
            }
        }
        all.sort();
        all.dedup();
        all
    }

    /// Returns what compiled before and not after.
    pub(super) fn missing<'a>(&'a self, after: &'a Checked) -> impl Iterator<Item = &'a Unit> {
        self.before.units.difference(&after.units)
    }
}

/// A target of a package: `a lib a`.
pub(super) type Target = String;

/// A target that is compiled as it is, or as a test.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Unit {
    pub(super) target: Target,
    pub(super) is_test: bool,
}

/// The source files of a unit, and what its `cfg`s say.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Compiled {
    /// Below the root of the tree.
    pub(super) files: BTreeSet<PathBuf>,
    pub(super) features: BTreeSet<String>,
    /// What a build script sets.
    pub(super) cfgs: BTreeSet<String>,
    pub(super) is_test: bool,
}

/// What a check compiled.
#[derive(Clone, Debug, Default)]
pub(super) struct Checked {
    pub(super) units: BTreeSet<Unit>,
    pub(super) errors: Vec<(Target, Diagnostic)>,
    /// The warnings, with the place of each.
    pub(super) warnings: Vec<(String, String)>,
    /// All warnings, and the errors of clippy if the crate denies what it finds.
    pub(super) lints: Vec<Diagnostic>,
    pub(super) compiled: Vec<Compiled>,
    /// The targets that compiled, as they are and not as tests, with the manifests of their packages.
    targets: Vec<(PathBuf, cargo_metadata::Target)>,
}

impl Checked {
    /// Reads what `cargo check --message-format=json` printed in a folder of the tree.
    pub(super) fn read(output: &[u8], root: &Path, folder: &Path) -> Self {
        let mut all = Self::default();
        let mut cfgs: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        let mut artifacts: Vec<Artifact> = Vec::new();
        for message in Message::parse_stream(output) {
            match message {
                Ok(Message::CompilerMessage(message)) => {
                    let mut error = message.message;
                    if error.code.as_ref().is_some_and(|code| code.code.starts_with("clippy::")) {
                        place(&mut error, root, folder);
                        all.lints.push(error);
                        continue;
                    }
                    if error.level == DiagnosticLevel::Warning && !error.spans.is_empty() {
                        place(&mut error, root, folder);
                        let at = error.spans.iter().find(|span| span.is_primary);
                        let at = at.map(|span| format!("{}:{}", span.file_name, span.line_start));
                        all.warnings.push((at.unwrap_or_default(), error.message.clone()));
                        all.lints.push(error);
                        continue;
                    }
                    if error.level == DiagnosticLevel::Error && !error.spans.is_empty() {
                        place(&mut error, root, folder);
                        let target = target(&message.package_id.repr, &message.target);
                        if !all.errors.iter().any(|(_, other)| *other == error) {
                            all.errors.push((target, error));
                        }
                    }
                }
                Ok(Message::CompilerArtifact(artifact)) if artifact.manifest_path.starts_with(root) => {
                    artifacts.push(artifact);
                }
                Ok(Message::BuildScriptExecuted(script)) => {
                    cfgs.entry(script.package_id.repr).or_default().extend(script.cfgs);
                }
                _ => {}
            }
        }
        for artifact in artifacts {
            let is_test = artifact.profile.test;
            let target = target(&artifact.package_id.repr, &artifact.target);
            // A library or program is compiled as a test too.
            if !is_test || !is_main(&artifact.target.kind) {
                all.targets.push((artifact.manifest_path.clone().into(), artifact.target.clone()));
            }
            all.units.insert(Unit { target, is_test });
            let mut files = sources(&artifact, &root.join(folder));
            files.insert(artifact.target.src_path.clone().into_std_path_buf());
            let below = |file: PathBuf| Some(file.strip_prefix(root).ok()?.to_owned());
            all.compiled.push(Compiled {
                files: files.into_iter().filter_map(below).collect(),
                features: artifact.features.into_iter().collect(),
                cfgs: cfgs.get(&artifact.package_id.repr).cloned().unwrap_or_default(),
                is_test,
            });
        }
        all
    }

    /// Returns `true` if a target of a package was compiled.
    pub(super) fn has(&self, manifest: &Path, target: &cargo_metadata::Target) -> bool {
        let is_it = |other: &cargo_metadata::Target| other.name == target.name && other.kind == target.kind;
        self.targets.iter().any(|(package, known)| package == manifest && is_it(known))
    }
}

fn target(package: &str, target: &cargo_metadata::Target) -> Target {
    let kinds: Vec<String> = target.kind.iter().map(ToString::to_string).collect();
    format!("{package} {} {}", kinds.join(","), target.name)
}

/// Returns the source files that the compiler read, as it wrote beside what it made. A relative path begins at `base`.
fn sources(artifact: &Artifact, base: &Path) -> BTreeSet<PathBuf> {
    let mut all = BTreeSet::new();
    for made in &artifact.filenames {
        let stem = made.file_stem().unwrap_or_default();
        let file = made.with_file_name(format!("{}.d", stem.strip_prefix("lib").unwrap_or(stem)));
        let Ok(text) = fs::read_to_string(&file) else { continue };
        // A line for each source: `src/lib.rs:`.
        let names = text.lines().filter_map(|line| line.strip_suffix(':')).filter(|line| !line.starts_with('#'));
        all.extend(names.map(|name| normal(&base.join(name.replace("\\ ", " ")))));
    }
    all
}

/// Gives the spans of an error the paths below the root of the tree.
fn place(error: &mut Diagnostic, root: &Path, folder: &Path) {
    fn one(span: &mut DiagnosticSpan, root: &Path, folder: &Path) {
        let path = normal(&root.join(folder).join(&span.file_name));
        if let Ok(below) = path.strip_prefix(root)
            && path.exists()
        {
            span.file_name = below.to_string_lossy().into_owned();
        }
        if let Some(expansion) = &mut span.expansion {
            one(&mut expansion.span, root, folder);
            if let Some(span) = &mut expansion.def_site_span {
                one(span, root, folder);
            }
        }
    }
    error.spans.iter_mut().for_each(|span| one(span, root, folder));
    error.children.iter_mut().for_each(|child| place(child, root, folder));
}

/// Returns the members that a change of some files may break, those with the files first, then those that depend on them.
pub(super) fn affected<'m>(workspace: &'m Metadata, files: &[PathBuf]) -> Vec<&'m Package> {
    let mut all: Vec<&Package> = Vec::new();
    for file in files {
        let package = super::package::package_of(workspace, file);
        all.extend(package.filter(|package| !all.iter().any(|item| item.id == package.id)));
    }
    let mut next = 0;
    while next < all.len() {
        let folder = all[next].manifest_path.parent();
        next += 1;
        for package in workspace.workspace_packages() {
            let depends = package
                .dependencies
                .iter()
                .any(|dependency| dependency.path.as_deref() == folder && dependency.path.is_some());
            if depends && !all.iter().any(|item| item.id == package.id) {
                all.push(package);
            }
        }
    }
    all
}

/// Returns the sets of features to check beside the user's one, and the number of those that are left out.
pub(super) fn of_features(affected: &[&Package], given: &dyn Fn(&Package) -> Vec<String>) -> (Vec<Features>, usize) {
    type Active = Vec<BTreeSet<String>>;
    let active = |features: &dyn Fn(&Package) -> Vec<String>| -> Active {
        affected.iter().map(|package| closure(package, features(package))).collect()
    };
    let mut seen: Vec<Active> = vec![active(given)];
    let mut all = Vec::new();
    let mut add = |features: Features, active: Active| {
        if seen.contains(&active) {
            return false;
        }
        seen.push(active);
        all.push(features);
        true
    };
    add(Features::With(String::new()), active(&|_| vec!["default".to_owned()]));
    add(Features::Only(String::new()), active(&|_| Vec::new()));
    add(Features::All, active(&|package| package.features.keys().cloned().collect()));
    let (mut alone, mut left) = (0, 0);
    for package in affected {
        for name in package.features.keys().filter(|name| *name != "default") {
            let is_it = |other: &Package| if other.id == package.id { vec![name.clone()] } else { Vec::new() };
            if alone == ALONE {
                left += 1;
            } else if add(Features::Only(format!("{}/{name}", package.name)), active(&is_it)) {
                alone += 1;
            }
        }
    }
    (all, left)
}

/// Returns the features that some of a package's features activate, with these.
fn closure(package: &Package, features: Vec<String>) -> BTreeSet<String> {
    let (mut all, mut next) = (BTreeSet::new(), features);
    while let Some(name) = next.pop() {
        let known = package.features.get(&name);
        // `default` is no difference by itself.
        let is_new = name == "default" || all.insert(name);
        if is_new {
            next.extend(known.into_iter().flatten().cloned());
        }
    }
    all
}

/// Returns the features that targets need and with which no build has compiled them.
pub(super) fn required(affected: &[&Package], root: &Path, original: &Path, builds: &[Build]) -> Vec<Features> {
    let mut all = Vec::new();
    for package in affected {
        let Ok(below) = package.manifest_path.as_std_path().strip_prefix(original) else { continue };
        let manifest = root.join(below);
        for target in package.targets.iter().filter(|target| !target.required_features.is_empty()) {
            if !builds.iter().any(|build| build.before.has(&manifest, target)) {
                let set: Vec<String> =
                    target.required_features.iter().map(|name| format!("{}/{name}", package.name)).collect();
                let features = Features::With(set.join(","));
                if !all.contains(&features) {
                    all.push(features);
                }
            }
        }
    }
    all
}

/// Returns the folders of packages that the workspace does not have as members, but that depend on packages of its tree.
pub(super) fn excluded(tree: &Tree, workspace: &Metadata) -> Vec<PathBuf> {
    let original = workspace.workspace_root.as_std_path();
    let members: BTreeSet<PathBuf> = workspace
        .workspace_packages()
        .into_iter()
        .filter_map(|package| Some(package.manifest_path.as_std_path().strip_prefix(original).ok()?.to_owned()))
        .collect();
    let entries = WalkDir::new(&tree.root).sort_by_file_name().max_depth(6).into_iter();
    let entries = entries.filter_entry(|entry| !entry.path().join("CACHEDIR.TAG").exists()).filter_map(Result::ok);
    let mut all = BTreeSet::new();
    for entry in entries.filter(|entry| entry.file_name() == "Cargo.toml") {
        let Ok(below) = entry.path().strip_prefix(&tree.root) else { continue };
        if all.len() == EXCLUDED || below == Path::new("Cargo.toml") || members.contains(below) {
            continue;
        }
        let mut command = MetadataCommand::new();
        command.manifest_path(entry.path()).no_deps();
        let Ok(other) = command.exec() else { continue };
        let is_own = |path: &Path| normal(path).starts_with(&tree.root);
        let has_own = |package: &&Package| {
            let mut paths = package.dependencies.iter().filter_map(|dependency| dependency.path.as_ref());
            paths.any(|path| is_own(path.as_std_path()))
        };
        // `[patch.crates-io]` names a folder too.
        let patched = |root: &Path| {
            let text = fs::read_to_string(root.join("Cargo.toml")).unwrap_or_default();
            let text = text.split_once("[patch").map_or("", |(_, rest)| rest);
            text.split("path").skip(1).filter_map(|rest| rest.split('"').nth(1)).any(|path| is_own(&root.join(path)))
        };
        let folder = other.workspace_root.as_std_path().strip_prefix(&tree.root);
        if let Ok(folder) = folder
            && !folder.as_os_str().is_empty()
            && (other.workspace_packages().iter().any(has_own) || patched(other.workspace_root.as_std_path()))
        {
            all.insert(folder.to_owned());
        }
    }
    all.into_iter().collect()
}

/// Returns `true` if a target's kind is part of the program or library, and not a test or benchmark of it.
pub(super) fn is_main(kind: &[TargetKind]) -> bool {
    kind.iter().any(|kind| {
        !matches!(kind, TargetKind::Test | TargetKind::Bench | TargetKind::Example | TargetKind::CustomBuild)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn package(features: &serde_json::Value) -> Package {
        serde_json::from_value(
            json!({"name": "a", "version": "1.0.0", "id": "path+file:///a#1.0.0", "source": null, "dependencies": [],
            "targets": [], "features": features, "manifest_path": "/a/Cargo.toml", "edition": "2021"}),
        )
        .unwrap()
    }

    #[test]
    fn sets_of_features_that_differ_are_checked() {
        let with = |features: serde_json::Value, given: &[&str]| {
            let package = package(&features);
            let given: Vec<String> = given.iter().map(|name| (*name).to_owned()).collect();
            let (all, left) = of_features(&[&package], &|_| given.clone());
            (all.into_iter().map(|item| Build::new("", item).name()).collect::<Vec<_>>(), left)
        };
        assert_eq!(with(json!({}), &["default"]), (vec![], 0));
        assert_eq!(
            with(json!({"default": ["std"], "std": [], "serde": ["dep:serde", "std"]}), &["default"]),
            (vec!["--no-default-features".to_owned(), "--all-features".to_owned(),], 0)
        );
        assert_eq!(with(json!({"x": [], "y": []}), &["default", "x"]).0.len(), 3);
        let many: serde_json::Map<String, serde_json::Value> =
            (0..40).map(|number| (format!("f{number}"), json!([]))).collect();
        let (all, left) = with(many.into(), &["default"]);
        assert_eq!((all.len(), left), (ALONE + 1, 40 - ALONE));
    }
}
