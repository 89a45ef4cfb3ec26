//! The package with the types of all steps.

use super::Result;
use super::apply::Source;
use super::convert::Types;
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

pub(super) struct Package {
    name: &'static str,
    folder: PathBuf,
    data: PathBuf,
}

/// The folder with the examples of this package.
const EXAMPLES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/examples");

impl Package {
    /// Writes a package without types.
    pub(super) fn create(name: &'static str, data: &Path) -> Result<Self> {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/follow").join(name);
        fs::create_dir_all(folder.join("src"))?;
        let package = Self { name, folder, data: data.into() };
        let (types, features) = match name {
            "rustdoc" => (format!("\n[dev-dependencies]\nrustdoc-types = \"0.{}\"\n", package.format_version()?), ""),
            "openapi" => ("indexmap = \"2\"\nopenapiv3 = \"2\"\n".into(), ", \"indexmap\""),
            _ => (String::new(), ""),
        };
        let dwell = env!("CARGO_MANIFEST_DIR");
        let manifest = format!(
            "[package]\nname = \"follow-{name}\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\n[workspace]\n\n[dependencies]\n\
             dwell = {{ path = {dwell:?}, features = [\"advice\", \"derive\", \"serde\", \"serde_json\"{features}] }}\n\
             serde = {{ version = \"1\", features = [\"derive\"] }}\nserde_json = \"1\"\n{types}\n\
             [profile.dev]\ndebug = false\n\n[profile.dev.package.dwell]\nopt-level = 2\n"
        );
        fs::write(package.folder.join("Cargo.toml"), manifest)?;
        fs::write(package.folder.join("src/main.rs"), "fn main() {}")?;
        Ok(package)
    }

    /// Returns the version of rustdoc's JSON, which is also the version of the package with its types.
    fn format_version(&self) -> Result<u64> {
        let file = if self.data.is_file() { self.data.clone() } else { self.documents()?[0].clone() };
        let json: serde_json::Value = serde_json::from_str(&fs::read_to_string(&file)?)?;
        json["format_version"].as_u64().ok_or_else(|| format!("{}: this is not rustdoc's JSON", file.display()).into())
    }

    fn documents(&self) -> Result<Vec<PathBuf>> {
        let mut files = self.data.read_dir()?.map(|file| Ok(file?.path())).collect::<Result<Vec<_>>>()?;
        files.retain(|file| file.extension().is_some_and(|extension| extension == "json"));
        files.sort();
        if files.is_empty() {
            return Err(format!("{}: no JSON in this folder", self.data.display()).into());
        }
        Ok(files)
    }

    /// Returns the original types.
    pub(super) fn source(&self) -> Result<Source> {
        if self.name == "openapi" {
            return Ok(Source::of_types(&self.types_of_openapi()?.text()));
        }
        if self.name == "rustdoc" {
            let mut source = Source::new(&fs::read_to_string(self.folder_of("rustdoc-types")?.join("lib.rs"))?);
            source.derive(|list| {
                let kept = list.split(", ").filter(|name| !name.contains("Serialize"));
                kept.chain(["dwell::Weigh"]).collect::<Vec<_>>().join(", ")
            });
            return Ok(source);
        }
        let mut text = String::new();
        for file in ["types.rs", "parts.rs"] {
            text.push_str(&fs::read_to_string(Path::new(EXAMPLES).join(self.name).join(file))?);
        }
        let mut source = Source::new(&text);
        // Applying the suggestions adds the derive where it is needed.
        source.derive(|list| list.split(", ").filter(|name| *name != "DeriveSparse").collect::<Vec<_>>().join(", "));
        Ok(source)
    }

    /// Returns the aliases that the source of the types uses.
    fn aliases(&self) -> Result<String> {
        if self.name != "smithy" {
            return Ok(String::new());
        }
        let main = fs::read_to_string(Path::new(EXAMPLES).join(self.name).join("main.rs"))?;
        let before =
            main.split_once("mod before {").and_then(|(_, rest)| rest.split_once("include!")).ok_or("no types")?;
        Ok(before.0.into())
    }

    fn types_of_openapi(&self) -> Result<Types> {
        let folder = self.folder_of("openapiv3")?;
        let mut files = folder.read_dir()?.map(|file| Ok(file?.path())).collect::<Result<Vec<_>>>()?;
        files.sort();
        let texts = files.iter().map(fs::read_to_string).collect::<std::io::Result<Vec<_>>>()?;
        Types::parse(texts.iter().map(String::as_str))
    }

    /// Returns the folder with the source of a package that this package depends on.
    fn folder_of(&self, package: &str) -> Result<PathBuf> {
        let out = self.cargo(&["metadata", "--format-version", "1"]).output()?;
        let metadata: serde_json::Value = serde_json::from_slice(&out.stdout)
            .map_err(|_| format!("cargo metadata failed\n{}", String::from_utf8_lossy(&out.stderr)))?;
        let packages = metadata["packages"].as_array().into_iter().flatten();
        let manifest = packages.into_iter().find(|of| of["name"] == package);
        let manifest = manifest.and_then(|package| package["manifest_path"].as_str());
        let manifest = manifest.ok_or_else(|| format!("no package {package}"))?;
        Ok(Path::new(manifest).with_file_name("src"))
    }

    fn cargo(&self, arguments: &[&str]) -> Command {
        let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or("cargo".into()));
        // The package has its own lock file and target folder.
        let target = self.folder.join("target");
        cargo.args(arguments).current_dir(&self.folder).env("CARGO_TARGET_DIR", target).env_remove("RUSTFLAGS");
        cargo
    }

    /// Builds the program with these types and returns its output.
    pub(super) fn run(&self, sources: &[Source], what: &str) -> Result<String> {
        let aliases = self.aliases()?;
        let mut text = String::from(PROGRAM);
        let mut calls = String::new();
        let old = if self.name == "openapi" { Some(self.types_of_openapi()?) } else { None };
        if old.is_some() {
            text.push_str(OPENAPI);
        }
        for (number, source) in sources.iter().enumerate() {
            let load = match (&old, self.name) {
                (Some(old), _) => {
                    let new = Types::parse([source.text().as_str()])?;
                    let functions = old.functions("openapiv3", &format!("super::step{number}"), &new)?;
                    writeln!(
                        text,
                        "mod into{number} {{\nuse super::names::*;\nuse super::prelude::*;\n{functions}\n}}"
                    )?;
                    format!("|documents| load_into(documents, into{number}::OpenAPI)")
                }
                (None, "smithy") => format!("load::<step{number}::Model>"),
                (None, _) => format!("load::<step{number}::Crate>"),
            };
            let names = if old.is_some() { "use super::names::*;" } else { "" };
            // Types that serde does not load keep none of its attributes.
            let mut types = source.text();
            if old.is_some() {
                let is_kept = |line: &&str| !line.trim().starts_with("#[serde(");
                types = types.lines().filter(is_kept).collect::<Vec<_>>().join("\n");
            }
            writeln!(text, "mod step{number} {{\nuse super::prelude::*;\n{names}\n{aliases}\n{types}\n}}")?;
            if what == "advise" {
                writeln!(
                    calls,
                    "    println!(\"{{}}\", dwell::weigh::tree(&({load})(&documents)).advise().to_json());"
                )?;
            } else {
                writeln!(calls, "    measure(&documents, {load});")?;
            }
        }
        writeln!(text, "fn main() {{\n    let documents = documents();\n{calls}}}")?;
        fs::write(self.folder.join("src/main.rs"), text)?;
        let mut run = self.cargo(&["run", "--quiet", "--"]);
        let out = run.arg(&self.data).stdin(Stdio::null()).stderr(Stdio::inherit()).output()?;
        if !out.status.success() {
            return Err(format!("the program in {} failed", self.folder.display()).into());
        }
        Ok(String::from_utf8(out.stdout)?)
    }
}

/// Further source for the types of `openapiv3`: serde loads the original types, and the program moves their values to
/// the types of a step.
const OPENAPI: &str = r"
mod names {
    pub(crate) use indexmap::IndexMap;
    pub(crate) use serde_json::{Number, Value};
}
fn load_into<T>(documents: &[String], into: fn(openapiv3::OpenAPI) -> T) -> Vec<T> {
    let mut values = Vec::with_capacity(documents.len());
    for document in documents {
        values.push(into(serde_json::from_str(document).unwrap()));
    }
    values
}
";

/// The generated program without the types: it loads documents, and counts their bytes.
const PROGRAM: &str = r#"#![allow(warnings)]
mod prelude {
    pub(crate) use dwell::{Sparse, Weigh, sparse::{SortedMap, ThinSlice, ThinStr}};
    pub(crate) use serde::Deserialize;
    pub(crate) use std::collections::{BTreeMap, HashMap};
    pub(crate) use std::path::PathBuf;
}
use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

struct Counting;
static LIVE: AtomicU64 = AtomicU64::new(0);

unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        LIVE.fetch_add(layout.size() as u64, Relaxed);
        unsafe { System.alloc(layout) }
    }
    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        LIVE.fetch_sub(layout.size() as u64, Relaxed);
        unsafe { System.dealloc(block, layout) }
    }
    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        LIVE.fetch_add((size as u64).wrapping_sub(layout.size() as u64), Relaxed);
        unsafe { System.realloc(block, layout, size) }
    }
}

#[global_allocator]
static COUNTING: Counting = Counting;

fn documents() -> Vec<String> {
    let path = std::path::PathBuf::from(std::env::args_os().nth(1).unwrap());
    let mut files = vec![path.clone()];
    if path.is_dir() {
        files = path.read_dir().unwrap().map(|file| file.unwrap().path()).collect();
        files.retain(|file| file.extension().is_some_and(|extension| extension == "json"));
        files.sort();
    }
    files.iter().map(|file| std::fs::read_to_string(file).unwrap()).collect()
}

fn load<T: serde::de::DeserializeOwned>(documents: &[String]) -> Vec<T> {
    let mut values = Vec::with_capacity(documents.len());
    for document in documents {
        values.push(serde_json::from_str(document).unwrap());
    }
    values
}

fn measure<T>(documents: &[String], load: fn(&[String]) -> Vec<T>) {
    let before = LIVE.load(Relaxed);
    let values = load(documents);
    println!("{}", LIVE.load(Relaxed) - before + size_of_val(&values) as u64);
}
"#;
