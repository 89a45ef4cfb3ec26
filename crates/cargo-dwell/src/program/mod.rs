//! Finds the executable that a command inspects: builds it with cargo, or opens an existing one.

mod select;

use anyhow::{Context, Result, bail};
use cargo_metadata::diagnostic::DiagnosticLevel;
use cargo_metadata::{Artifact, CompilerMessage, Message, Metadata, MetadataCommand, PackageId};
use clap::Args;
use select::Selected;
use std::ffi::OsString;
use std::io::{BufReader, IsTerminal as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};

/// The arguments that choose a program.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "The program")]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of cargo's")]
pub struct BuildArgs {
    /// Read FILE, an existing executable with debug info, instead of building one
    #[arg(long, value_name = "FILE", conflicts_with_all = [
        "package", "bin", "example", "lib", "test", "bench", "features", "all_features", "no_default_features", "profile",
        "release", "target", "target_dir", "locked", "offline", "frozen", "jobs",
    ])]
    pub exe: Option<PathBuf>,
    /// Path to Cargo.toml
    #[arg(long, value_name = "PATH")]
    pub manifest_path: Option<PathBuf>,
    /// The package with the executable
    #[arg(short, long, value_name = "SPEC")]
    pub package: Option<String>,
    /// The binary to inspect
    #[arg(long, value_name = "NAME", group = "kind")]
    pub bin: Option<String>,
    /// The example to inspect
    #[arg(long, value_name = "NAME", group = "kind")]
    pub example: Option<String>,
    /// The unit tests of the library
    #[arg(long, group = "kind")]
    pub lib: bool,
    /// The integration test to inspect
    #[arg(long, value_name = "NAME", group = "kind")]
    pub test: Option<String>,
    /// The benchmark to inspect
    #[arg(long, value_name = "NAME", group = "kind")]
    pub bench: Option<String>,
    /// Features to activate, separated by spaces or commas
    #[arg(short = 'F', long, value_name = "FEATURES")]
    pub features: Vec<String>,
    /// Activate all features
    #[arg(long)]
    pub all_features: bool,
    /// Do not activate the `default` feature
    #[arg(long)]
    pub no_default_features: bool,
    /// Build with this profile
    #[arg(long, value_name = "PROFILE-NAME", conflicts_with = "release")]
    pub profile: Option<String>,
    /// Build with the profile `release`
    #[arg(short, long)]
    pub release: bool,
    /// Build for this target
    #[arg(long, value_name = "TRIPLE")]
    pub target: Option<String>,
    /// The target directory [default: `dwell` in the package's target directory]
    #[arg(long, value_name = "DIRECTORY")]
    pub target_dir: Option<PathBuf>,
    /// Build only if Cargo.lock needs no change
    #[arg(long)]
    pub locked: bool,
    /// Build without the network
    #[arg(long)]
    pub offline: bool,
    /// The same as --locked and --offline
    #[arg(long)]
    pub frozen: bool,
    /// Run N jobs at a time
    #[arg(short, long, value_name = "N")]
    pub jobs: Option<String>,
}

/// The purpose of a build.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Purpose {
    /// Inspect the debug info.
    Inspect,
    /// Run it with the agent inside: optimised by default, with frame pointers, in a separate target directory. Cargo
    /// gets an explicit target, so that the flags do not reach build scripts and proc macros.
    Run,
}

/// The result of a step that runs cargo.
#[derive(Debug)]
pub enum Outcome<T> {
    /// The step's result.
    Done(T),
    /// Cargo failed and printed the reason; this is its exit code.
    Failed(ExitCode),
}

/// The program that the arguments choose, before it is built.
#[derive(Debug)]
pub struct Choice<'a> {
    args: &'a BuildArgs,
    workspace: Option<Metadata>,
    selected: Option<Selected>,
}

/// An executable to inspect.
#[derive(Debug, Clone)]
pub struct Executable {
    /// The file.
    pub file: PathBuf,
    /// The profile that it was built with, if it was built here.
    pub profile: Option<String>,
    /// The crates of the executable's workspace, with `_` for `-`; empty if unknown.
    pub own_crates: Vec<String>,
    /// The folder for the cache of parsed debug info.
    pub cache: Option<PathBuf>,
    /// The folder that relative source paths start from.
    pub root: Option<PathBuf>,
}

/// Finds the program that the arguments choose.
///
/// # Errors
/// Returns an error if there is no manifest, or if it has no executable or more than one to choose from.
pub fn choose(args: &BuildArgs) -> Result<Outcome<Choice<'_>>> {
    if let Some(exe) = &args.exe {
        // The workspace only tells which types are its own; the executable is readable without it.
        let outcome = match (&args.manifest_path, manifest_above()) {
            (Some(_), _) => metadata(args, false)?,
            // Without cargo, as in a container, it is read like a program from elsewhere.
            (None, Some(_)) => metadata(args, false).unwrap_or_default(),
            (None, None) => None,
        };
        let workspace = outcome.filter(|workspace| args.manifest_path.is_some() || belongs_to(exe, workspace));
        return Ok(Outcome::Done(Choice { args, workspace, selected: None }));
    }
    check_manifest(args)?;
    let Some(workspace) = metadata(args, true)? else {
        // The exit code that cargo uses for its own errors.
        return Ok(Outcome::Failed(ExitCode::from(101)));
    };
    let selected = select::select(args, &workspace)?;
    Ok(Outcome::Done(Choice { args, workspace: Some(workspace), selected: Some(selected) }))
}

/// Finds and builds the program that the arguments choose.
///
/// # Errors
/// Returns the errors of [`choose`] and [`Choice::build`].
pub fn built(args: &BuildArgs, purpose: Purpose) -> Result<Outcome<Executable>> {
    match choose(args)? {
        Outcome::Done(choice) => choice.build(purpose),
        Outcome::Failed(code) => Ok(Outcome::Failed(code)),
    }
}

/// Refuses arguments without a manifest.
fn check_manifest(args: &BuildArgs) -> Result<()> {
    match &args.manifest_path {
        Some(path) if !path.exists() => {
            bail!("{}: there is no such manifest; --manifest-path takes the path of a Cargo.toml", path.display())
        }
        None if manifest_above().is_none() => bail!(
            "there is no Cargo.toml in this folder or above it; run this in a package, or name one with --manifest-path \
             or an executable with --exe"
        ),
        _ => Ok(()),
    }
}

impl Choice<'_> {
    /// Returns the `dwell.toml` of the package, or else of the workspace.
    pub fn config(&self) -> Option<PathBuf> {
        let workspace = self.workspace.as_ref()?;
        let package = self.selected.as_ref().and_then(|selected| selected.package_dir.clone());
        let folder = || {
            let manifest = self.args.manifest_path.clone().or_else(manifest_above)?;
            Some(manifest.parent()?.to_owned())
        };
        let mut folders = package.or_else(folder).into_iter().chain([workspace.workspace_root.clone().into()]);
        folders.find_map(|folder| Some(folder.join("dwell.toml")).filter(|file| file.exists()))
    }

    /// Returns the target directory, from cargo's metadata or from the executable's path.
    fn target_dir(&self) -> Option<PathBuf> {
        if let Some(dir) = &self.args.target_dir {
            return Some(dir.clone());
        }
        if let Some(workspace) = &self.workspace {
            return Some(workspace.target_directory.join("dwell").into());
        }
        let exe = self.args.exe.as_ref()?.canonicalize().ok()?;
        let above = exe.ancestors().find(|folder| folder.join("CACHEDIR.TAG").exists());
        above.map(|folder| folder.join("dwell"))
    }

    /// Returns the folder of the cache: in the target directory, or in the user's cache directory.
    fn cache(&self) -> Option<PathBuf> {
        let target = self.target_dir().map(|dir| dir.join("cache"));
        target.or_else(user_cache)
    }

    /// Builds the program with full debug info, or opens the existing executable.
    ///
    /// # Errors
    /// Returns an error if cargo cannot be run, or if it does not report the executable.
    pub fn build(&self, purpose: Purpose) -> Result<Outcome<Executable>> {
        let workspace = self.workspace.as_ref();
        let mut executable = Executable {
            file: PathBuf::new(),
            profile: None,
            own_crates: workspace.map(own_crates).unwrap_or_default(),
            cache: self.cache(),
            root: workspace.map(|workspace| workspace.workspace_root.clone().into()),
        };
        if let Some(exe) = &self.args.exe {
            executable.file.clone_from(exe);
            return Ok(Outcome::Done(executable));
        }
        let (Some(workspace), Some(selected)) = (workspace, &self.selected) else {
            bail!("no program was chosen; name one with --bin or --exe");
        };
        let profile = self.profile(purpose);
        let mut command = self.command(workspace, selected, profile, purpose);
        let mut cargo = command.spawn().context("cargo cannot be run; is it on the PATH?")?;
        let stdout = cargo.stdout.take().context("cargo has no standard output")?;
        let mut found = Vec::new();
        let mut warnings = Warnings::default();
        for message in Message::parse_stream(BufReader::new(stdout)) {
            match message.context("cargo's messages cannot be read")? {
                Message::CompilerMessage(message) => warnings.add(message),
                Message::CompilerArtifact(artifact) => {
                    warnings.print(&artifact);
                    found.extend(artifact.executable.filter(|_| selected.is(&artifact.target)));
                }
                // The output of a proc macro.
                Message::TextLine(line) => eprintln!("{line}"),
                _ => {}
            }
        }
        let status = cargo.wait().context("cargo did not end")?;
        if !status.success() {
            warnings.print_all();
            let code = status.code().and_then(|code| u8::try_from(code).ok());
            return Ok(Outcome::Failed(ExitCode::from(code.unwrap_or(101))));
        }
        executable.file = match &mut found[..] {
            [file] => std::mem::take(file).into(),
            [] => bail!(
                "cargo built no executable for {selected}; name another one with --bin, --example, --test or --bench"
            ),
            _ => bail!("{selected} is in {} packages; choose one with -p", found.len()),
        };
        executable.profile = Some(profile.to_owned());
        Ok(Outcome::Done(executable))
    }

    /// Returns cargo's command that builds the program for a run, with messages in JSON.
    ///
    /// # Errors
    /// Returns an error if no program was chosen.
    pub(crate) fn command_to_run(&self) -> Result<Command> {
        let (Some(workspace), Some(selected)) = (&self.workspace, &self.selected) else {
            bail!("no program was chosen; name one with --bin");
        };
        Ok(self.command(workspace, selected, self.profile(Purpose::Run), Purpose::Run))
    }

    fn profile(&self, purpose: Purpose) -> &str {
        match &self.args.profile {
            Some(profile) => profile,
            None if self.args.release || purpose == Purpose::Run => "release",
            None => "dev",
        }
    }

    fn command(&self, workspace: &Metadata, selected: &Selected, profile: &str, purpose: Purpose) -> Command {
        let args = self.args;
        let is_terminal = std::io::stderr().is_terminal();
        let mut command = Command::new(cargo());
        command
            .args(selected.command())
            .args(["--message-format", if is_terminal { "json-diagnostic-rendered-ansi" } else { "json" }])
            .stdin(Stdio::null())
            .stdout(Stdio::piped());
        selected.pass_on(&mut command);
        let mut pass = |flag: &str, value: Option<OsString>| {
            if let Some(value) = value {
                command.arg(flag).arg(value);
            }
        };
        pass("--manifest-path", args.manifest_path.clone().map(Into::into));
        pass("--package", args.package.clone().map(Into::into));
        for features in &args.features {
            pass("--features", Some(features.into()));
        }
        let mut target = args.target.clone();
        let mut target_dir = self.target_dir();
        if purpose == Purpose::Run {
            target = target.or_else(host);
            if args.target_dir.is_none() {
                target_dir = target_dir.map(|dir| dir.join("census"));
            }
            pass("--profile", Some(profile.into()));
        } else {
            pass("--profile", args.profile.clone().map(Into::into));
        }
        pass("--target", target.clone().map(Into::into));
        pass("--jobs", args.jobs.clone().map(Into::into));
        pass("--target-dir", target_dir.map(Into::into));
        for (flag, given) in [
            ("--all-features", args.all_features),
            ("--no-default-features", args.no_default_features),
            ("--release", args.release && purpose == Purpose::Inspect),
            ("--locked", args.locked),
            ("--offline", args.offline),
            ("--frozen", args.frozen),
        ] {
            if given {
                command.arg(flag);
            }
        }
        // Tests and benchmarks have their own profiles, which inherit from these.
        let also: &[&str] = match profile {
            "dev" => &["TEST"],
            "release" => &["BENCH"],
            _ => &[],
        };
        let own = profile.to_uppercase().replace('-', "_");
        for profile in also.iter().copied().chain([own.as_str()]) {
            command.env(format!("CARGO_PROFILE_{profile}_DEBUG"), "2");
            command.env(format!("CARGO_PROFILE_{profile}_STRIP"), "none");
        }
        for (profile, package) in packages_without_debug(workspace.workspace_root.as_std_path(), profile) {
            command.arg("--config").arg(format!("profile.{profile}.package.{package:?}.debug=2"));
        }
        if purpose == Purpose::Run {
            add_flag(&mut command, workspace.workspace_root.as_std_path(), target.as_deref(), FRAME_POINTERS);
        }
        command
    }
}

/// Returns this tool's folder in the user's cache directory.
pub(crate) fn user_cache() -> Option<PathBuf> {
    let caches = std::env::var_os("XDG_CACHE_HOME").filter(|path| !path.is_empty()).map(PathBuf::from);
    let home = || Some(PathBuf::from(std::env::var_os("HOME")?).join(".cache"));
    Some(caches.or_else(home)?.join("cargo-dwell"))
}

/// The compiler's warnings, until it is known whether cargo only repeats those of an earlier build.
#[derive(Debug, Default)]
struct Warnings {
    held: Vec<(PackageId, String, String)>,
}

impl Warnings {
    /// Prints an error; keeps a warning.
    fn add(&mut self, message: CompilerMessage) {
        let text = message.message.rendered.unwrap_or(message.message.message);
        if message.message.level == DiagnosticLevel::Error {
            eprint!("{text}");
        } else {
            self.held.push((message.package_id, message.target.name, text));
        }
    }

    /// Prints the warnings of a target, unless it was built before.
    fn print(&mut self, artifact: &Artifact) {
        let (held, rest) = std::mem::take(&mut self.held)
            .into_iter()
            .partition(|(package, target, _)| *package == artifact.package_id && *target == artifact.target.name);
        self.held = rest;
        if !artifact.fresh {
            Self { held }.print_all();
        }
    }

    fn print_all(&self) {
        self.held.iter().for_each(|(.., text)| eprint!("{text}"));
    }
}

/// The flag for frame pointers, by which call stacks are walked.
const FRAME_POINTERS: &str = "-Cforce-frame-pointers=yes";

/// Adds a flag for rustc to the user's flags. Cargo reads flags from one source only: an environment variable, else the
/// target's settings, else the build's settings.
fn add_flag(command: &mut Command, root: &Path, target: Option<&str>, flag: &str) {
    if let Ok(flags) = std::env::var("CARGO_ENCODED_RUSTFLAGS") {
        let separator = if flags.is_empty() { "" } else { "\x1f" };
        command.env("CARGO_ENCODED_RUSTFLAGS", format!("{flags}{separator}{flag}"));
    } else if let Ok(flags) = std::env::var("RUSTFLAGS") {
        command.env("RUSTFLAGS", format!("{flags} {flag}"));
    } else {
        let table = match target {
            Some(target) if has_target_flags(root) => format!("target.{target}"),
            _ => "build".to_owned(),
        };
        command.arg("--config").arg(format!("{table}.rustflags=[{flag:?}]"));
    }
}

/// Returns `true` if one of cargo's configuration files sets flags for a target.
///
/// The files are searched from this folder and from the workspace's root upwards, and in cargo's home.
fn has_target_flags(root: &Path) -> bool {
    let here = std::env::current_dir().ok();
    let home = std::env::var_os("CARGO_HOME").map(PathBuf::from);
    let home = home.or_else(|| Some(Path::new(&std::env::var_os("HOME")?).join(".cargo")));
    let above = here.iter().flat_map(|folder| folder.ancestors()).chain(root.ancestors());
    let folders = above.map(|folder| folder.join(".cargo")).chain(home);
    folders.flat_map(|folder| [folder.join("config.toml"), folder.join("config")]).any(|file| {
        let config = std::fs::read_to_string(file).ok().and_then(|text| text.parse::<toml::Table>().ok());
        let targets = config.as_ref().and_then(|config| config.get("target")?.as_table());
        targets.is_some_and(|targets| targets.values().any(|target| target.get("rustflags").is_some()))
    })
}

/// Returns the default target of rustc.
fn host() -> Option<String> {
    of_rustc("host: ")
}

/// Returns the version of rustc: major, minor.
pub(crate) fn rustc_version() -> Option<(u64, u64)> {
    let version = of_rustc("release: ")?;
    let mut numbers = version.split('.').map_while(|of| of.parse().ok());
    Some((numbers.next()?, numbers.next()?))
}

/// Returns what rustc says of itself after a word.
fn of_rustc(word: &str) -> Option<String> {
    let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let output = Command::new(rustc).arg("-vV").output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    text.lines().find_map(|line| Some(line.strip_prefix(word)?.to_owned()))
}

/// Returns the cargo that runs this command, or the one on the PATH.
fn cargo() -> OsString {
    std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into())
}

/// Returns the manifest that cargo finds from the current folder upwards.
pub(crate) fn manifest_above() -> Option<PathBuf> {
    let here = std::env::current_dir().ok()?;
    here.ancestors().map(|folder| folder.join("Cargo.toml")).find(|manifest| manifest.is_file())
}

/// Returns the metadata of the workspace that the arguments name; `None` if cargo failed and printed the reason.
///
/// # Errors
/// Returns an error if there is no manifest.
pub(crate) fn workspace(args: &BuildArgs) -> Result<Option<Metadata>> {
    check_manifest(args)?;
    metadata(args, true)
}

/// Returns the metadata of the workspace and of its dependencies; `None` if cargo failed and printed the reason.
///
/// # Errors
/// Returns an error if there is no manifest.
pub(crate) fn with_dependencies(args: &BuildArgs) -> Result<Option<Metadata>> {
    check_manifest(args)?;
    read_metadata(args, &mut MetadataCommand::new(), true)
}

/// Returns the metadata of the workspace; `None` if cargo fails. With `speak`, cargo prints its errors.
fn metadata(args: &BuildArgs, speak: bool) -> Result<Option<Metadata>> {
    read_metadata(args, MetadataCommand::new().no_deps(), speak)
}

fn read_metadata(args: &BuildArgs, command: &mut MetadataCommand, speak: bool) -> Result<Option<Metadata>> {
    command.cargo_path(cargo());
    if let Some(path) = &args.manifest_path {
        command.manifest_path(path);
    }
    let output = command.cargo_command().output().context("cargo cannot be run; is it on the PATH?")?;
    if !output.status.success() {
        if speak {
            std::io::stderr().write_all(&output.stderr)?;
        }
        return Ok(None);
    }
    let text = str::from_utf8(&output.stdout).context("cargo's metadata is not UTF-8")?;
    let json = text.lines().find(|line| line.starts_with('{')).unwrap_or(text);
    MetadataCommand::parse(json).map(Some).context("cargo's metadata cannot be read")
}

/// Returns the crates of a workspace, with their names in code.
fn own_crates(workspace: &Metadata) -> Vec<String> {
    let packages = workspace.workspace_packages();
    let targets = packages.iter().flat_map(|package| &package.targets).filter(|target| !target.is_custom_build());
    let mut crates: Vec<_> = targets.map(|target| target.name.replace('-', "_")).collect();
    crates.sort_unstable();
    crates.dedup();
    crates
}

/// Returns `true` if an executable is in the workspace or in its target directory.
fn belongs_to(exe: &Path, workspace: &Metadata) -> bool {
    let Ok(exe) = exe.canonicalize() else { return false };
    let inside = |folder: &Path| folder.canonicalize().is_ok_and(|folder| exe.starts_with(folder));
    inside(workspace.workspace_root.as_std_path()) || inside(workspace.target_directory.as_std_path())
}

/// Returns the `[profile.NAME.package.SPEC]` tables that set `debug`, with their profile. Environment variables do not
/// override these.
fn packages_without_debug(root: &Path, profile: &str) -> Vec<(String, String)> {
    let manifest = std::fs::read_to_string(root.join("Cargo.toml")).ok();
    let Some(manifest) = manifest.and_then(|text| text.parse::<toml::Table>().ok()) else { return Vec::new() };
    let profiles = manifest.get("profile").and_then(toml::Value::as_table);
    let mut found = Vec::new();
    let mut name = profile;
    // The bound ends the loop if the profiles inherit in a circle; cargo reports that circle later.
    for _ in 0..profiles.map_or(0, toml::Table::len).max(2) {
        let table = profiles.and_then(|profiles| profiles.get(name)?.as_table());
        if let Some(packages) = table.and_then(|table| table.get("package")?.as_table()) {
            let set = packages.iter().filter(|(_, package)| package.get("debug").is_some());
            found.extend(set.map(|(spec, _)| (name.to_owned(), spec.clone())));
        }
        name = match (table.and_then(|table| table.get("inherits")?.as_str()), name) {
            (Some(parent), _) => parent,
            (None, "test") => "dev",
            (None, "bench") => "release",
            (None, _) => break,
        };
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn package_profiles_include_inherited_profiles() {
        let dir = tempfile::TempDir::new().unwrap();
        let manifest = "[profile.dist]\ninherits = \"release\"\n[profile.dist.package.a]\ndebug = 1\n\
                        [profile.release.package.\"*\"]\ndebug = false\n[profile.release.package.b]\nopt-level = 3\n";
        std::fs::write(dir.path().join("Cargo.toml"), manifest).unwrap();
        let without_debug = |profile| packages_without_debug(dir.path(), profile);
        let pair = |profile: &str, package: &str| (profile.to_owned(), package.to_owned());
        assert_eq!(without_debug("dist"), [pair("dist", "a"), pair("release", "*")]);
        assert_eq!(without_debug("bench"), [pair("release", "*")]);
        assert_eq!(without_debug("dev"), []);
    }

    #[test]
    fn cyclic_profile_inheritance_terminates() {
        let dir = tempfile::TempDir::new().unwrap();
        let manifest = "[profile.a]\ninherits = \"b\"\n[profile.b]\ninherits = \"a\"\n";
        std::fs::write(dir.path().join("Cargo.toml"), manifest).unwrap();
        assert_eq!(packages_without_debug(dir.path(), "a"), []);
    }
}
