//! Published crates whose awaits are boxed by edits of their source.

use anyhow::{Context, Result, bail};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

use super::{Boxes, PROFILE, Program, leaf_constant};

/// A crate of crates.io.
pub(super) struct Published {
    pub(super) name: &'static str,
    version: &'static str,
    /// The name of the binary.
    binary: &'static str,
    /// A program that uses the crate, if it has none itself.
    main: Option<&'static str>,
    /// The file to which the leaf is added.
    leaf: &'static str,
    /// Bounds to extend, since `.boxed()` requires `Send`: the texts and their replacements, for all subjects.
    bounds: &'static [(&'static str, &'static str)],
    /// The place of the one erasure: a file, the text to find, and the text to insert after it.
    boundary: (&'static str, &'static str),
}

pub(super) const ALL: [Published; 2] = [
    Published {
        name: "mini-redis",
        version: "0.4.1",
        binary: "mini-redis-server",
        main: None,
        leaf: "src/frame.rs",
        bounds: &[],
        boundary: ("src/server.rs", "handler.run()"),
    },
    Published {
        name: "fast-socks5",
        version: "0.9.6",
        binary: "program",
        main: Some(
            "use fast_socks5::server::{DenyAuthentication, Socks5Server};
use tokio_stream::StreamExt as _;

fn main() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let listener = Socks5Server::<DenyAuthentication>::bind(\"127.0.0.1:1080\").await.unwrap();
        let mut incoming = listener.incoming();
        while let Some(Ok(socket)) = incoming.next().await {
            tokio::spawn(async move { socket.upgrade_to_socks5().await.map(drop) });
        }
    });
}
",
        ),
        leaf: "src/util/target_addr.rs",
        bounds: &[
            ("AsyncWrite + Unpin", "AsyncWrite + Unpin + Send + Sync"),
            ("AsyncRead + Unpin", "AsyncRead + Unpin + Send"),
            (": ToSocketAddrs", ": ToSocketAddrs + Send"),
            (": AsyncToSocketAddrs", ": AsyncToSocketAddrs + Send + Sync"),
            ("type Item;", "type Item: Send;"),
        ],
        boundary: ("src/bin/program.rs", "socket.upgrade_to_socks5()"),
    },
];

impl Published {
    /// Returns the folder of the crate's source, which cargo downloads if necessary.
    fn source(&self, folder: &Path) -> Result<PathBuf> {
        let folder = folder.join(self.name).join("fetched");
        fs::create_dir_all(folder.join("src"))?;
        let manifest = format!(
            "[package]\nname = \"fetched\"\nversion = \"0.0.0\"\nedition = \"2024\"\n[workspace]\n[dependencies]\n\
             {} = \"={}\"\n",
            self.name, self.version
        );
        fs::write(folder.join("Cargo.toml"), manifest)?;
        fs::write(folder.join("src/lib.rs"), "")?;
        fetch(&folder)?;
        let home = env::var_os("CARGO_HOME").map(PathBuf::from);
        let home = home
            .or_else(|| Some(PathBuf::from(env::var_os("HOME")?).join(".cargo")))
            .context("neither CARGO_HOME nor HOME is set")?;
        let name = format!("{}-{}", self.name, self.version);
        for registry in fs::read_dir(home.join("registry/src"))? {
            let path = registry?.path().join(&name);
            if path.is_dir() {
                return Ok(path);
            }
        }
        bail!("cargo has not unpacked {name}")
    }

    /// Writes a copy of the crate for each subject.
    pub(super) fn write(&self, folder: &Path) -> Result<Vec<Program>> {
        let source = self.source(folder)?;
        let mut programs = Vec::new();
        for subject in [Boxes::None, Boxes::Pinned, Boxes::Boxed, Boxes::Once, Boxes::OncePooled] {
            let copy = folder.join(self.name).join(subject.name().replace('/', "-"));
            fs::create_dir_all(&copy)?;
            copy_sources(&source.join("src"), &copy.join("src"), &|text| {
                let bound = self.bounds.iter().fold(text.to_owned(), |text, (from, to)| text.replace(from, to));
                at_each_await(subject, &bound)
            })?;
            if let Some(main) = self.main {
                fs::create_dir_all(copy.join("src/bin"))?;
                fs::write(copy.join("src/bin/program.rs"), at_each_await(subject, main))?;
            }
            let postfix = match subject {
                Boxes::Once => ".boxed()",
                Boxes::OncePooled => ".pooled()",
                Boxes::None | Boxes::Pinned | Boxes::Boxed | Boxes::OnceInside => "",
            };
            if !postfix.is_empty() {
                let (file, future) = self.boundary;
                let text = fs::read_to_string(copy.join(file))?;
                if text.matches(future).count() != 1 {
                    bail!("{file} does not contain the expected text once");
                }
                fs::write(copy.join(file), text.replace(future, &format!("{future}{postfix}")) + IMPORTS)?;
            }
            if source.join("examples").is_dir() {
                // The manifest names the examples.
                copy_sources(&source.join("examples"), &copy.join("examples"), &str::to_owned)?;
            }
            fs::write(copy.join("Cargo.toml"), self.manifest(&source)?)?;
            // All copies use the versions of the first one.
            if let Some(Program { folder, .. }) = programs.first() {
                fs::copy(folder.join("Cargo.lock"), copy.join("Cargo.lock"))?;
            }
            fetch(&copy)?;
            let leaf = copy.join(self.leaf);
            let text = fs::read_to_string(&leaf).with_context(|| format!("no {}", leaf.display()))?;
            let constant = leaf_constant(0);
            let used = "#[doc(hidden)] #[inline(never)] pub fn leaf() -> u64 { std::hint::black_box(LEAF) }";
            fs::write(&leaf, format!("{text}\n{constant}\n{used}\n"))?;
            programs.push(Program {
                workload: format!("{} {}", self.name, self.version),
                subject: subject.name(),
                folder: copy,
                target: folder.join("target"),
                binary: self.binary,
                leaf,
            });
        }
        Ok(programs)
    }

    /// Returns the crate's manifest with the dependencies of the edited source.
    fn manifest(&self, source: &Path) -> Result<String> {
        let mut manifest = fs::read_to_string(source.join("Cargo.toml"))?;
        if self.main.is_some() {
            let tokio = "[dependencies.tokio]\nversion = \"1\"\nfeatures = [";
            if !manifest.contains(tokio) {
                bail!("its Cargo.toml does not have the expected dependency on tokio");
            }
            manifest = manifest.replacen(tokio, &format!("{tokio}\"full\", "), 1);
        }
        let more = concat!(
            "\n[dependencies.futures-util]\nversion = \"0.3\"\n[dependencies.dwell]\npath = \"",
            env!("CARGO_MANIFEST_DIR"),
            "/../crates/dwell\"\n[workspace]\n"
        );
        Ok(format!("{manifest}{more}{PROFILE}"))
    }
}

/// The imports, which are added at the end of a file since its first lines may be inner attributes.
const IMPORTS: &str = "
#[allow(unused_imports)]
use {dwell::pin::{ErasedExt as _, PinExt as _}, futures_util::FutureExt as _};
";

fn fetch(folder: &Path) -> Result<()> {
    let output = Command::new("cargo").args(["fetch", "--quiet"]).current_dir(folder).output()?;
    if !output.status.success() {
        bail!("cannot download its dependencies: {}", String::from_utf8_lossy(&output.stderr).trim());
    }
    Ok(())
}

fn at_each_await(subject: Boxes, text: &str) -> String {
    let postfix = match subject {
        Boxes::Pinned => ".pinned()",
        Boxes::Boxed => ".boxed()",
        Boxes::None | Boxes::OnceInside | Boxes::Once | Boxes::OncePooled => return text.to_owned(),
    };
    if text.contains(".await") {
        text.replace(".await", &format!("{postfix}.await"))
            // This future holds an address that need not be `Send`, which `.boxed()` requires.
            .replace(&format!("connect(addr){postfix}"), "connect(addr)")
            + IMPORTS
    } else {
        text.to_owned()
    }
}

fn copy_sources(from: &Path, to: &Path, change: &dyn Fn(&str) -> String) -> Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let path = entry?.path();
        let to = to.join(path.file_name().context("a file has a name")?);
        if path.is_dir() {
            copy_sources(&path, &to, change)?;
        } else {
            fs::write(to, change(&fs::read_to_string(&path)?))?;
        }
    }
    Ok(())
}
