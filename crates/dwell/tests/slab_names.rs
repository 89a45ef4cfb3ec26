//! What a `Box`, an `Rc`, an `Arc` and their `Weak` have and our types in a pool have not: all names, from what rustdoc prints of both.
//! The how-to must name each of them, and name nothing that exists.
#![cfg(all(feature = "std", feature = "slab", not(miri)))]

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::SystemTime;

/// Traits of unstable features, that std alone may implement, and those that the compiler implements or another crate.
const NOT_OURS: &[&str] = &[
    "Allocator",
    "AsyncFn",
    "AsyncFnMut",
    "AsyncFnOnce",
    "AsyncIterator",
    "CloneFromCell",
    "CoerceUnsized",
    "Coroutine",
    "DerefPure",
    "DispatchFromDyn",
    "Drop",
    "Fn",
    "FnMut",
    "FnOnce",
    "IsEmpty",
    "PinCoerceUnsized",
    "UseCloned",
    "Service",
    "RefUnwindSafe",
    "UnwindSafe",
    "Unpin",
    "Sync",
    "Send",
];

const PAIRS: &[[&str; 2]] =
    &[["Box", "Pooled"], ["Rc", "PoolRc"], ["Arc", "PoolArc"], ["Weak", "PoolRcWeak"], ["ArcWeak", "PoolArcWeak"]];

/// The builds of the library beside this test, the newest first: another one may have other features.
fn libraries(deps: &Path) -> Vec<PathBuf> {
    let built =
        |path: &PathBuf| path.metadata().and_then(|metadata| metadata.modified()).unwrap_or(SystemTime::UNIX_EPOCH);
    let libraries = fs::read_dir(deps).unwrap().map(|entry| entry.unwrap().path()).filter(|path| {
        let name = path.file_name().unwrap().to_string_lossy();
        name.starts_with("libdwell-") && name.ends_with(".rlib")
    });
    let mut libraries: Vec<PathBuf> = libraries.collect();
    libraries.sort_by_key(|path| std::cmp::Reverse(built(path)));
    libraries
}

/// The stable methods and the traits of a type, from its page: those of its own, none that it dereferences to.
fn names(page: &str) -> BTreeSet<&str> {
    let word = |text: &'_ str| text.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(text.len());
    let own = page.find("id=\"deref-methods").unwrap_or(page.len());
    let traits = page.find("id=\"trait-implementations-list\"").unwrap_or(page.len());
    let end = page.find("id=\"synthetic-implementations-list\"").unwrap_or(page.len());
    let methods = page[..own.min(traits)].split("<section id=\"method.").skip(1);
    let methods = methods.filter(|method| !method.contains("stab unstable")).map(|method| &method[..word(method)]);
    // The traits of the list, and not those that other types implement for this one.
    let of = |at: &'_ str| at.split('"').next().is_some_and(|id| !id.contains("-for-Vec"));
    let traits = page[traits.min(end)..end].split("<section id=\"impl-").skip(1).filter(|at| of(at));
    methods.chain(traits.map(|name| &name[..word(name)])).filter(|name| !name.is_empty()).collect()
}

#[test]
fn how_to_names_all_that_our_types_lack() {
    let how_to = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/how-to/slabs.md");
    let Ok(how_to) = fs::read_to_string(how_to) else {
        return println!("skipped: the how-to is not part of the package");
    };
    let deps = std::env::current_exe().unwrap().parent().unwrap().to_path_buf();
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("slab_names");
    fs::create_dir_all(&folder).unwrap();
    let source = folder.join("names.rs");
    fs::write(
        &source,
        "#[doc(inline)] pub use std::{boxed::Box, rc::{Rc, Weak}, sync::{Arc, Weak as ArcWeak}};
         #[doc(inline)] pub use dwell::slab::{Pooled, PoolArc, PoolArcWeak, PoolRc, PoolRcWeak};",
    )
    .unwrap();
    let document = |library: &PathBuf| {
        Command::new(std::env::var_os("RUSTDOC").unwrap_or("rustdoc".into()))
            .args(["--edition", "2024", "--crate-name", "names", "-L"])
            .arg(&deps)
            .arg(format!("--extern=dwell={}", library.display()))
            .arg("--out-dir")
            .args([&folder, &source])
            .output()
    };
    let listed = how_to.split_once("<!-- lacks -->").expect("the how-to has the list").1;
    let listed = listed.split("Their two counts").next().unwrap();
    let listed = listed.split('`').skip(1).step_by(2).filter(|name| !name.contains('<'));
    let listed: BTreeSet<String> = listed.map(str::to_owned).collect();
    let mut errors = String::new();
    let mut newest = None;
    // The library of this test is one of them; which one only cargo knows.
    for library in libraries(&deps) {
        match document(&library) {
            Ok(run) if run.status.success() => {
                let lacking = lacking(&folder);
                if lacking == listed {
                    return;
                }
                newest = newest.or(Some(lacking));
            }
            Ok(run) => errors = String::from_utf8_lossy(&run.stderr).into_owned(),
            Err(error) => return println!("skipped: rustdoc does not start: {error}"),
        }
    }
    match newest {
        None if errors.contains("E0514") => {
            println!("skipped: rustdoc is of another version than the compiler of this test");
        }
        None => panic!("{errors}"),
        Some(newest) => assert_eq!(newest, listed, "what is lacking, and what docs/how-to/slabs.md says"),
    }
}

/// The names that std's types have and ours have not, from the pages in a folder.
fn lacking(folder: &Path) -> BTreeSet<String> {
    let read = |name: &str| fs::read_to_string(folder.join(format!("names/struct.{name}.html"))).unwrap();
    let mut lacking = BTreeSet::new();
    for [std, ours] in PAIRS {
        let (std, ours) = (read(std), read(ours));
        let (std, ours) = (names(&std), names(&ours));
        assert!(
            std.len() > 15 && std.contains("new") && ours.contains("new") && ours.contains("Debug"),
            "{std:?} {ours:?}"
        );
        lacking.extend(std.difference(&ours).filter(|name| !NOT_OURS.contains(name)).map(|name| (*name).to_owned()));
    }
    lacking
}
