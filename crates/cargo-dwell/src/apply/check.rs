//! What holds before the change, and has to hold after it: what compiles, what users of a library see, the outcomes of tests. What only
//! a person can judge is named.

use super::builds::{self, Build, Features};
use super::outcomes::Tests;
use super::package::{package_of, published_library};
use super::session::Session;
use super::tree::Change;
use super::unbuilt::{self, Built, Names, Place};
use super::{api, cfg, edit, effects};
use crate::program::BuildArgs;
use anyhow::{Result, bail};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// The traits that the compiler derives from the types of fields.
const TRAITS: [&str; 5] = ["Send", "Sync", "Unpin", "::core::panic::UnwindSafe", "::core::panic::RefUnwindSafe"];

impl Session<'_> {
    /// Checks what compiles before the change, and refuses a package whose library or program does not.
    pub(super) fn check_before(&mut self, files: &[PathBuf]) -> Result<()> {
        self.check_given_before(files)?;
        self.check_others_before(files)
    }

    /// Checks what compiles before the change with the user's features.
    pub(super) fn check_given_before(&mut self, files: &[PathBuf]) -> Result<()> {
        let mut own = Build::new("", Features::Given);
        let (checked, failed) = self.cargo.check_build(&own)?;
        let original = self.workspace.workspace_root.as_std_path();
        let is_whole = files.iter().filter_map(|file| package_of(&self.workspace, file)).all(|package| {
            let below = package.manifest_path.as_std_path().strip_prefix(original).unwrap_or(Path::new("Cargo.toml"));
            let mut targets = package.targets.iter();
            targets.all(|target| {
                let is_needed = builds::is_main(&target.kind) && target.required_features.is_empty();
                !is_needed || checked.has(&self.tree.root.join(below), target)
            })
        });
        let first = checked.errors.first().map(|(_, error)| {
            let at = error.spans.first().map(|span| format!("{}:{}: ", span.file_name, span.line_start));
            format!("{}{}", at.unwrap_or_default(), error.message)
        });
        if let Some(why) = first.or(failed) {
            if !is_whole {
                bail!("the workspace does not compile before the change: {why}");
            }
            (self.tell)(&format!("does not compile before the change, and is not looked at: {why}"));
        }
        own.before = checked;
        self.cargo.builds = vec![own];
        Ok(())
    }

    /// Checks what compiles before the change with other features, and what the workspace excludes.
    pub(super) fn check_others_before(&mut self, files: &[PathBuf]) -> Result<()> {
        let affected = builds::affected(&self.workspace, files);
        let original = self.workspace.workspace_root.as_std_path();
        let mut all = self.cargo.builds.clone();
        let given = |package: &cargo_metadata::Package| given_features(&self.args.build, package);
        let (sets, left) = builds::of_features(&affected, &given);
        let mut others: Vec<Build> = sets.into_iter().map(|set| Build::new("", set)).collect();
        others.extend(
            builds::excluded(&self.tree, &self.workspace)
                .into_iter()
                .map(|package| Build::new(package, Features::Given)),
        );
        for build in others {
            self.add_build(build, &mut all)?;
        }
        for set in &self.args.features_set {
            let build = Build::new("", Features::Only(set.clone()));
            let name = build.name();
            if !self.add_build(build, &mut all)? {
                bail!("the workspace does not compile with {name} before the change");
            }
        }
        for features in builds::required(&affected, &self.tree.root, original, &all) {
            self.add_build(Build::new("", features), &mut all)?;
        }
        let names: Vec<String> = all.iter().skip(1).map(Build::name).collect();
        if !names.is_empty() {
            let more = if left == 0 { String::new() } else { format!("; {left} more features are not checked alone") };
            (self.tell)(&format!("also checked: {}{more}", names.join(", ")));
        }
        if self.args.build.package.is_some() {
            self.cargo.tested = affected.iter().map(|package| package.name.to_string()).collect();
        }
        self.cargo.builds = all;
        Ok(())
    }

    /// Adds a build with what it compiles now. Returns `false` if that is nothing.
    fn add_build(&self, mut build: Build, to: &mut Vec<Build>) -> Result<bool> {
        let (checked, _) = self.cargo.check_build(&build)?;
        let is_some = !checked.units.is_empty();
        if is_some {
            build.before = checked;
            to.push(build);
        } else {
            (self.tell)(&format!("does not compile before the change, and is not looked at: {}", build.name()));
        }
        Ok(is_some)
    }

    /// Runs the tests as they are before the change.
    pub(super) fn test_once_before(&mut self) -> Result<()> {
        let tests = self.cargo.test(self.args.test_command.as_deref())?;
        if !tests.success && tests.outcomes.is_empty() {
            bail!("the tests fail before the change, and none has an outcome; --no-test leaves them out");
        }
        self.tests = Some(tests);
        Ok(())
    }

    /// Runs the tests twice: one that has two outcomes without a change tells nothing about one.
    pub(super) fn test_before(&mut self) -> Result<()> {
        self.test_once_before()?;
        let command = self.args.test_command.as_deref();
        let Some(mut tests) = self.tests.take() else { return Ok(()) };
        self.flaky = tests.differ(&self.cargo.test(command)?);
        if !self.flaky.is_empty() {
            let names: Vec<&str> = self.flaky.values().map(String::as_str).collect();
            (self.tell)(&format!(
                "not compared, as it differs between two runs before the change: {}",
                names.join(", ")
            ));
            tests.without(&self.flaky);
            tests.success = true;
        }
        self.tests = Some(tests);
        Ok(())
    }

    /// Runs the tests, and compares their outcomes with those before. Returns what holds in words, or what differs in two runs.
    pub(super) fn test_after(&self, before: &Tests) -> Result<Result<String, String>> {
        let run = || -> Result<Tests> {
            let mut tests = self.cargo.test(self.args.test_command.as_deref())?;
            if !self.flaky.is_empty() {
                tests.without(&self.flaky);
                tests.success = true;
            }
            Ok(tests)
        };
        let mut once = String::new();
        let after = run()?;
        if let Some(error) = after.error.as_ref().filter(|_| before.error.is_none()) {
            return Ok(Err(format!("they do not build: {error}")));
        }
        let mut differ = before.differ(&after);
        if !differ.is_empty() {
            // A test that depends on time may fail once.
            let again = before.differ(&run()?);
            let others: Vec<String> = differ
                .iter()
                .filter(|(name, _)| !again.contains_key(*name))
                .map(|(_, outcome)| outcome.clone())
                .collect();
            differ.retain(|name, _| again.contains_key(name));
            if !others.is_empty() {
                once = format!("; in one of two runs {}", others.join(", "));
            }
        }
        if !differ.is_empty() {
            let all: Vec<&str> = differ.values().map(String::as_str).collect();
            return Ok(Err(format!("not as before: {}", all.join(", "))));
        }
        let failed = match before.count("FAILED") {
            0 => String::new(),
            failed => format!(", {failed} failed, as before"),
        };
        let ignored = match before.count("ignored") {
            0 => String::new(),
            ignored => format!(", {ignored} ignored and not run"),
        };
        Ok(Ok(format!("{} passed{failed}{ignored}{once}", before.count("ok"))))
    }

    /// Returns what becomes another type for users of libraries that can be published, since the files had the texts of `mark`.
    pub(super) fn breaking(&self, mark: &[Change]) -> Vec<String> {
        let changes = self.tree.changes();
        let files: Vec<PathBuf> = changes.iter().map(|change| change.file.clone()).collect();
        let before = |file: &Path| {
            let marked = mark.iter().find(|change| change.file == file);
            marked.map(|change| change.after.clone()).or_else(|| self.tree.read_before(file))
        };
        let mut all = Vec::new();
        for package in builds::affected(&self.workspace, &files) {
            if let Some(root) = published_library(&self.workspace, package) {
                all.extend(api::changed(&api::of(&root, &before), &api::of(&root, &|file| self.tree.read(file))));
            }
        }
        all
    }

    /// Refuses a change of files that must stay, or of what users of a library see.
    pub(super) fn check_change(&self, mark: &[Change]) -> Result<()> {
        self.tree.check_changes()?;
        if self.args.breaking {
            return Ok(());
        }
        match &self.breaking(mark)[..] {
            [] => Ok(()),
            [one] => bail!("{one} is public: the change is breaking for users of the crate; --breaking makes it"),
            [one, more @ ..] => bail!(
                "{one} and {} more are public: the change is breaking for users of the crate; --breaking makes it",
                more.len()
            ),
        }
    }

    /// Returns the traits that public types of libraries lose, since the files had the texts of `mark`: those that the compiler derives
    /// from the fields. A box, which has those of its value, loses none.
    pub(super) fn lost_traits(&mut self, mark: &[Change]) -> Result<Vec<String>> {
        let files: Vec<PathBuf> = self.tree.changes().into_iter().map(|change| change.file).collect();
        let affected = builds::affected(&self.workspace, &files);
        let roots: Vec<(PathBuf, String)> = affected
            .into_iter()
            .filter_map(|package| Some((published_library(&self.workspace, package)?, package.name.to_string())))
            .collect();
        let mut all = Vec::new();
        for (root, package) in roots {
            let types = api::types(&root, &|file| self.tree.read(file));
            let after = self.without_traits(&root, &package, &types)?;
            let now = self.tree.mark();
            self.tree.restore(mark)?;
            let before = self.without_traits(&root, &package, &types);
            self.tree.restore(&now)?;
            all.extend(after.difference(&before?).cloned());
        }
        Ok(all)
    }

    /// Returns the types that do not have a trait, by a check of the library with an assertion for each.
    fn without_traits(&mut self, root: &Path, package: &str, types: &[String]) -> Result<BTreeSet<String>> {
        let text = self.tree.read(root).unwrap_or_default();
        let first = text.lines().count() + 1;
        let pairs: Vec<(&str, &String)> =
            TRAITS.iter().flat_map(|item| types.iter().map(move |ty| (*item, ty))).collect();
        let lines = pairs.iter().enumerate().map(|(number, (bound, ty))| {
            format!(
                "#[allow(dead_code)] fn dwell_asserts_{number}() {{ fn has<T: ?Sized + {bound}>() {{}} has::<{ty}>(); }}\n"
            )
        });
        let end = if text.ends_with('\n') { "" } else { "\n" };
        self.tree.write(root, &format!("{text}{end}{}", lines.collect::<String>()))?;
        let errors = self.cargo.check_library(package);
        self.tree.write(root, &text)?;
        let mut all = BTreeSet::new();
        for error in errors? {
            let own = error.spans.iter().filter(|span| Path::new(&span.file_name) == root && span.line_start >= first);
            all.extend(
                own.filter_map(|span| pairs.get(span.line_start - first)).map(|(bound, ty)| format!("{bound} of {ty}")),
            );
        }
        Ok(all)
    }

    /// Returns the places that a person has to look at, since neither the compiler nor the tests do.
    pub(super) fn places(&self, made: &edit::Made, mark: &[Change]) -> Vec<Place> {
        let changes = self.tree.changes();
        let files: Vec<PathBuf> = changes.iter().map(|change| change.file.clone()).collect();
        let affected = builds::affected(&self.workspace, &files);
        let mut names = Names::default();
        made.changed.iter().map(|item| &item.item).chain(&made.everywhere).for_each(|item| names.add(item));
        for change in &changes {
            let marked = mark.iter().find(|item| item.file == change.file);
            let before = marked.map_or(&change.before, |marked_change| &marked_change.after);
            names.functions.extend(api::changed_functions(before, &change.after));
        }
        let own = self.args.test_command.is_some();
        let has_documents = |tests: &Tests| !own || tests.outcomes.keys().any(|(name, _)| name.contains(".rs - "));
        let built = Built {
            builds: &self.cargo.builds,
            base: cfg::of_target(self.args.build.target.as_deref()),
            tested: self.tests.as_ref().is_some_and(has_documents),
        };
        let mut all = unbuilt::find(&self.tree, &built, &names);
        all.extend(unbuilt::outside(self.workspace.workspace_root.as_std_path(), &names));
        all.extend(made.asking.iter().cloned());
        let root = &self.workspace.workspace_root;
        let folders = affected.iter().filter_map(|package| package.manifest_path.parent()?.strip_prefix(root).ok());
        let is_main = |file: &PathBuf| {
            !file.iter().any(|part| ["tests", "benches", "examples"].iter().any(|folder| part == *folder))
        };
        let sources: BTreeSet<PathBuf> =
            folders.flat_map(|folder| self.tree.sources(folder.as_std_path())).filter(is_main).collect();
        let is_published = affected.iter().any(|package| published_library(&self.workspace, package).is_some());
        all.extend(effects::find(&self.tree, &sources.into_iter().collect::<Vec<_>>(), &made.changed, is_published));
        all
    }
}

/// Returns the features of a package that the user's flags activate.
fn given_features(build: &BuildArgs, package: &cargo_metadata::Package) -> Vec<String> {
    if build.all_features {
        return package.features.keys().cloned().collect();
    }
    let names = build.features.iter().flat_map(|list| list.split([' ', ',']));
    let own = names.filter_map(|name| match name.split_once('/') {
        Some((krate, name)) => (*package.name == *krate).then_some(name),
        None => Some(name),
    });
    let default = if build.no_default_features { None } else { Some("default") };
    own.chain(default).filter(|name| package.features.contains_key(*name)).map(str::to_owned).collect()
}
