//! Compares types read from debug info with `-Zprint-type-sizes` of the same nightly compiler: sizes, alignments, field
//! offsets, sizes of variants, and padding, for all types found in both.
//!
//! `DWELL_EXE=PROGRAM DWELL_TYPE_SIZES=FOLDER cargo test --test type_sizes program -- --nocapture` compares any
//! program. The folder holds the compiler's output for each crate in a file named after the crate.

#[path = "../../dwell-heap/tests/support/mod.rs"]
mod support;

use cargo_dwell::parts::layout_json::{self as json, Type};
use dwell_debuginfo::Options;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A type as `-Zprint-type-sizes` prints it.
#[derive(Debug, Default)]
struct Printed {
    krate: String,
    name: String,
    size: u64,
    align: u64,
    tag: u64,
    end_padding: u64,
    /// The variants; a struct, union, or closure has a single one without a name.
    variants: Vec<Variant>,
}

#[derive(Debug, Default, PartialEq, Eq)]
struct Variant {
    name: Option<String>,
    size: Option<u64>,
    padding: u64,
    /// Name, offset, and size of each field that is not zero-sized.
    fields: BTreeSet<(String, u64, u64)>,
}

fn number(text: &str) -> u64 {
    text.parse().unwrap_or_else(|_| panic!("no number: {text}"))
}

/// Splits a line ``KIND `NAME`: REST`` into the name and the rest, if it is of the given kind.
fn named<'t>(line: &'t str, kind: &str) -> Option<(&'t str, &'t str)> {
    line.strip_prefix(kind)?.strip_prefix(" `")?.rsplit_once("`: ")
}

/// Returns the number after the first occurrence of `key`.
fn part(text: &str, key: &str) -> Option<u64> {
    let (_, rest) = text.split_once(key)?;
    Some(number(rest.split(' ').next()?))
}

fn parse(krate: &str, text: &str) -> Vec<Printed> {
    let mut types: Vec<Printed> = Vec::new();
    // The offset of the next field unless its line gives one.
    let mut next = 0;
    for line in text.lines().filter_map(|line| line.strip_prefix("print-type-size ")) {
        if let Some((name, sizes)) = named(line, "type:") {
            let (size, align) = (part(sizes, ""), part(sizes, "alignment: "));
            let (Some(size), Some(align)) = (size, align) else { panic!("{line}") };
            types.push(Printed { krate: krate.into(), name: name.into(), size, align, ..Printed::default() });
            next = 0;
            continue;
        }
        let Some(ty) = types.last_mut() else { continue };
        let in_variant = line.starts_with("        ");
        let line = line.trim_start();
        if let Some(tag) = line.strip_prefix("discriminant: ") {
            ty.tag = part(tag, "").expect("bytes");
        } else if let Some(padding) = line.strip_prefix("end padding: ") {
            ty.end_padding = part(padding, "").expect("bytes");
        } else if let Some((name, size)) = named(line, "variant") {
            next = ty.tag;
            ty.variants.push(Variant { name: Some(name.into()), size: part(size, ""), ..Variant::default() });
        } else {
            if ty.variants.is_empty() {
                assert!(!in_variant, "{line}");
                ty.variants.push(Variant::default());
            }
            let variant = ty.variants.last_mut().expect("there is one");
            if let Some(padding) = line.strip_prefix("padding: ") {
                let padding = part(padding, "").expect("bytes");
                variant.padding += padding;
                next += padding;
                continue;
            }
            let field = ["field", "upvar", "local"].into_iter().find_map(|kind| named(line, kind));
            // A type's name in a coroutine's line may have a backtick of its own.
            let Some((name, rest)) = field else { panic!("{line}") };
            let name = name.split("`: ").next().expect("a name").trim_start_matches('.');
            let size = part(rest, "").expect("bytes");
            next = part(rest, ", offset: ").unwrap_or(next);
            if size > 0 {
                variant.fields.insert((name.to_owned(), next, size));
            }
            next += size;
        }
    }
    types
}

/// Splits a name into paths and punctuation without lifetimes: `a::B<C>` becomes `a::B`, `<`, `C`, `>`.
fn tokens(name: &str) -> Vec<String> {
    let mut tokens: Vec<String> = Vec::new();
    let mut word = String::new();
    let mut characters = name.chars().peekable();
    let flush = |word: &mut String, tokens: &mut Vec<String>| {
        if !word.is_empty() {
            tokens.push(std::mem::take(word));
        }
    };
    while let Some(character) = characters.next() {
        match character {
            '\'' => {
                // The debug info has no lifetimes.
                while characters.next_if(|next| next.is_alphanumeric() || *next == '_').is_some() {}
                characters.next_if_eq(&' ');
                if tokens.last().is_some_and(|last| last == "," || last == "<") && word.is_empty() {
                    // `<'a, T>`, `<'a>`
                    characters.next_if_eq(&',');
                    characters.next_if_eq(&' ');
                }
            }
            ' ' => flush(&mut word, &mut tokens),
            _ if character.is_alphanumeric() || character == '_' || character == ':' => word.push(character),
            _ => {
                flush(&mut word, &mut tokens);
                tokens.push(character.to_string());
            }
        }
    }
    flush(&mut word, &mut tokens);
    let mut index = 0;
    while index + 1 < tokens.len() {
        // Remove the `<>` of `Type<'a>` and the comma of `Type<T, 'a>`.
        if tokens[index] == "<" && tokens[index + 1] == ">" {
            tokens.drain(index..index + 2);
        } else if tokens[index] == "," && tokens[index + 1] == ">" {
            tokens.remove(index);
        } else {
            index += 1;
        }
    }
    tokens
}

const STD: [&str; 3] = ["std", "core", "alloc"];

/// Returns whether a path as the compiler prints it may denote the type at a path of the debug info, which names the
/// defining modules.
fn same_path(shown: &str, full: &str, krate: &str) -> bool {
    if shown == full {
        return !shown.contains("::_::");
    }
    let shown: Vec<&str> = shown.split("::").collect();
    let full: Vec<&str> = full.split("::").collect();
    if full.len() < 2 || shown.last() != full.last() {
        return false;
    }
    if shown.len() > 1 && STD.contains(&shown[0]) {
        // The compiler prints types of std by their documented paths.
        let mut modules = full[1..].iter();
        STD.contains(&full[0]) && shown[1..].iter().all(|part| modules.any(|module| module == part))
    } else {
        // The compiler omits the name of the crate it compiles. Any other path may be a re-export of another type, and
        // several modules are named `_`, so these do not match.
        full[0] == krate && full[1..] == shown[..] && !shown.contains(&"_")
    }
}

/// Returns whether two names denote the same type. The debug info includes default arguments, which the compiler omits.
fn same_name(shown: &[String], full: &[String], krate: &str) -> bool {
    let (mut a, mut b) = (0, 0);
    loop {
        let ends = |token: Option<&String>| token.is_none_or(|token| [">", ",", ")", "]", ";"].contains(&&**token));
        match (shown.get(a), full.get(b)) {
            (None, None) => return true,
            (Some(x), Some(y)) if same_path(x, y, krate) => (a, b) = (a + 1, b + 1),
            (x, Some(y)) if (y == "," && x.is_some_and(|x| x == ">")) || (y == "<" && ends(x)) => {
                let (mut depth, start) = (0, b);
                loop {
                    match full.get(b).map(|token| &**token) {
                        None => return false,
                        Some("<" | "(" | "[" | "{") => depth += 1,
                        Some(">") if depth == 0 => break,
                        Some(">" | ")" | "]" | "}") => depth -= 1,
                        Some(_) => {}
                    }
                    b += 1;
                    if depth == 0 && y == "<" {
                        break;
                    }
                }
                let is_default = |token: &String| {
                    let last = token.rsplit("::").next().unwrap_or(token);
                    ["Global", "RandomState", "DefaultHashBuilder", "(", ")", ",", "<"].contains(&last)
                };
                if !full[start..b].iter().all(is_default) {
                    return false;
                }
            }
            _ => return false,
        }
    }
}

/// Returns the last segments of the paths at the start of a name, up to the end of the first argument. They are equal
/// in all names of a type.
fn head(tokens: &[String]) -> Vec<&str> {
    let is_in = |token: &&String| ![",", ">", ")", "]", ";"].contains(&token.as_str());
    tokens.iter().take_while(is_in).map(|path| path.rsplit("::").next().unwrap_or(path)).collect()
}

/// The result of a comparison.
#[derive(Debug, Default)]
struct Outcome {
    printed: usize,
    both: usize,
    /// The number of differing types of crates with several versions in the program: the debug info may have only the
    /// other version.
    ambiguous: usize,
    different: Vec<String>,
}

fn compare(printed: &[Printed], known: &[Type], several: &BTreeSet<String>) -> Outcome {
    let known: Vec<(Vec<String>, &Type)> = known.iter().map(|ty| (tokens(&ty.path), ty)).collect();
    let mut by_name: HashMap<_, Vec<&(Vec<String>, &Type)>> = HashMap::new();
    for ty in &known {
        let head = head(&ty.0);
        // The compiler omits default arguments.
        let is_default =
            |two: &[&str]| two[0] == "<" && ["Global", "RandomState", "DefaultHashBuilder"].contains(&two[1]);
        if let Some(end) = head.windows(2).position(is_default) {
            by_name.entry(head[..end].to_vec()).or_default().push(ty);
        }
        by_name.entry(head).or_default().push(ty);
    }
    let mut outcome = Outcome::default();
    let mut seen = BTreeSet::new();
    for ty in printed {
        if !seen.insert((&ty.krate, &ty.name, ty.size)) {
            continue;
        }
        outcome.printed += 1;
        let tokens = tokens(&ty.name);
        let candidates = by_name.get(&head(&tokens)).map_or(&[][..], Vec::as_slice);
        let same = candidates.iter().filter(|(known, _)| same_name(&tokens, known, &ty.krate));
        let differences: Vec<String> = same.map(|(_, known)| difference(ty, known)).collect();
        if differences.is_empty() {
            continue;
        }
        outcome.both += 1;
        if differences.iter().all(|difference| !difference.is_empty()) {
            if several.contains(&ty.krate) || several.iter().any(|krate| ty.name.contains(&format!("{krate}::"))) {
                outcome.both -= 1;
                outcome.ambiguous += 1;
                continue;
            }
            outcome.different.push(format!("{}: {}", ty.name, differences[0]));
        }
    }
    outcome
}

/// Describes the first difference; the string is empty if there is none.
fn difference(printed: &Printed, known: &Type) -> String {
    if (printed.size, printed.align) != (known.size, known.align) {
        return format!("{} align {}, not {} align {}", known.size, known.align, printed.size, printed.align);
    }
    let fields = |fields: &[json::Field]| -> BTreeSet<(String, u64, u64)> {
        fields
            .iter()
            .filter(|field| field.size > 0)
            .map(|field| (field.name.clone(), field.offset, field.size))
            .collect()
    };
    for variant in &printed.variants {
        let Some(name) = &variant.name else {
            let found = fields(&known.fields);
            if found != variant.fields {
                return format!("fields {found:?}, not {:?}", variant.fields);
            }
            let padding = variant.padding + printed.end_padding;
            // Padding is not compared for unions, where it differs from field to field.
            if known.kind != "union" && known.padding != padding {
                return format!("padding {}, not {padding}", known.padding);
            }
            continue;
        };
        let Some(found) = known.variants.iter().find(|found| found.name == *name) else {
            // The debug info omits uninhabited variants, and describes an enum with one variant as that variant.
            if variant.fields.is_empty() || known.variants.is_empty() {
                continue;
            }
            return format!("no variant {name}");
        };
        if fields(&found.fields) != variant.fields {
            return format!("{name}: fields {:?}, not {:?}", fields(&found.fields), variant.fields);
        }
        if Some(found.size) != variant.size {
            return format!("{name}: size {}, not {:?}", found.size, variant.size);
        }
        if found.padding != variant.padding {
            return format!("{name}: padding {}, not {}", found.padding, variant.padding);
        }
    }
    String::new()
}

fn types_of(exe: &Path, own: &str) -> Vec<Type> {
    let options = Options { own_crates: vec![own.to_owned()], ..Options::default() };
    json::types(&dwell_debuginfo::load(exe, &options).expect("debug info"), true, None)
}

/// Returns whether there is a nightly toolchain; if not, prints that the test is skipped.
fn has_nightly() -> bool {
    let version = Command::new("rustc").args(["+nightly", "--version"]).output();
    let found = version.is_ok_and(|output| output.status.success());
    if !found {
        crate::support::skip("there is no nightly toolchain, which -Zprint-type-sizes needs");
    }
    found
}

/// Builds a fixture with the nightly. Returns the executable and the compiler's output.
fn build(fixture: &str, release: bool) -> (PathBuf, String) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests").join(fixture);
    let target = support::target_dir().join("type_sizes").join(fixture);
    let profile = if release { "release" } else { "debug" };
    // The compiler prints nothing for a crate that is already built.
    fs::remove_dir_all(target.join(profile)).ok();
    let mut cargo = Command::new("cargo");
    cargo.args(["+nightly", "rustc", "--offline", "--quiet", "--manifest-path"]).arg(folder.join("Cargo.toml"));
    cargo.arg("--target-dir").arg(&target).args(release.then_some("--release"));
    cargo.args(["--", "-Zprint-type-sizes"]);
    cargo.env("CARGO_PROFILE_DEV_DEBUG", "2").env("CARGO_PROFILE_RELEASE_DEBUG", "2").env_remove("RUSTUP_TOOLCHAIN");
    for variable in
        ["CARGO", "RUSTC", "RUSTFLAGS", "CARGO_ENCODED_RUSTFLAGS", "RUSTC_WRAPPER", "RUSTC_WORKSPACE_WRAPPER"]
    {
        cargo.env_remove(variable);
    }
    let output = cargo.output().expect("cargo runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let exe = target.join(profile).join(fixture.replace('_', "-"));
    (exe, String::from_utf8(output.stdout).expect("UTF-8"))
}

#[track_caller]
fn check(fixture: &str, release: bool, least: usize) {
    if !has_nightly() {
        return;
    }
    let (exe, text) = build(fixture, release);
    let outcome = compare(&parse(fixture, &text), &types_of(&exe, fixture), &BTreeSet::new());
    println!("{} types printed, {} in both, {} different", outcome.printed, outcome.both, outcome.different.len());
    assert!(outcome.different.is_empty(), "{}", outcome.different.join("\n"));
    assert!(outcome.both >= least, "only {} of {} types have a name in both", outcome.both, outcome.printed);
}

#[test]
fn plain_types_in_dev() {
    check("type_shapes", false, 200);
}

#[test]
fn plain_types_in_release() {
    check("type_shapes", true, 60);
}

#[test]
fn types_around_futures_in_dev() {
    check("async_shapes", false, 80);
}

#[test]
fn types_around_futures_in_release() {
    check("async_shapes", true, 30);
}

#[test]
fn program() {
    let (Some(exe), Some(folder)) = (std::env::var_os("DWELL_EXE"), std::env::var_os("DWELL_TYPE_SIZES")) else {
        crate::support::skip("DWELL_EXE and DWELL_TYPE_SIZES name no program");
        return;
    };
    let mut printed = Vec::new();
    let mut files: BTreeMap<PathBuf, String> = BTreeMap::new();
    for entry in fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        let krate = path.file_name().and_then(|name| name.to_str()?.split('.').next()).expect("a crate").to_owned();
        files.insert(path, krate);
    }
    for (file, krate) in &files {
        printed.extend(parse(krate, &fs::read_to_string(file).expect("UTF-8")));
    }
    let mut seen = BTreeSet::new();
    let several = files.values().filter(|krate| !seen.insert(*krate)).cloned().collect();
    let outcome = compare(&printed, &types_of(Path::new(&exe), ""), &several);
    let (both, ambiguous) = (outcome.both, outcome.ambiguous);
    println!("{} types printed, {both} in both, {} different", outcome.printed, outcome.different.len());
    println!("{ambiguous} more differ that may be those of another version of their crate");
    assert!(outcome.different.is_empty(), "{}", outcome.different.join("\n"));
}

/// The source of a `no_core` crate, which compiles for macOS without its standard library.
const NO_CORE: &str = r#"
#![feature(no_core, lang_items, auto_traits)]
#![no_core]
#![allow(internal_features)]
#[lang = "pointee_sized"]
pub trait PointeeSized {}
#[lang = "meta_sized"]
pub trait MetaSized: PointeeSized {}
#[lang = "sized"]
pub trait Sized: MetaSized {}
#[lang = "copy"]
pub trait Copy {}
impl Copy for u8 {}
#[lang = "freeze"]
unsafe auto trait Freeze {}
pub enum Kind { Small(u8), Large { x: [u64; 4], y: u8 } }
pub struct Page { pub a: u8, pub b: u64, pub c: u32 }
#[repr(C)]
pub struct Wide { pub a: u8, pub b: u64, pub kind: Kind }
#[unsafe(no_mangle)]
pub fn f(page: &Page, wide: &Wide) -> u8 { let _wide = wide; page.a }
"#;

/// Gives a Mach-O object file a UUID, as the linker does for a program. It replaces the first load command of the same
/// size, which is the build version or the symbol table.
fn set_uuid(object: &Path) {
    // `LC_UUID` of mach-o/loader.h; the load commands follow a header of 32 bytes.
    const UUID: [u8; 8] = [0x1B, 0, 0, 0, 24, 0, 0, 0];
    let mut bytes = fs::read(object).expect("an object file");
    let mut at = 32;
    while bytes[at + 4..at + 8] != UUID[4..] {
        at += u32::from_le_bytes(bytes[at + 4..at + 8].try_into().expect("four bytes")) as usize;
    }
    bytes[at..at + 8].copy_from_slice(&UUID);
    bytes[at + 8..at + 24].copy_from_slice(&[7; 16]);
    fs::write(object, bytes).expect("written");
}

/// The debug info of a macOS program lies in its `.dSYM` bundle, which is found by name and UUID.
#[test]
fn mach_o_with_a_dsym() {
    if !has_nightly() {
        return;
    }
    for target in ["x86_64-apple-darwin", "aarch64-apple-darwin"] {
        let folder = support::target_dir().join("type_sizes").join(target);
        let debug = folder.join("pages.dSYM/Contents/Resources/DWARF");
        fs::create_dir_all(&debug).expect("a folder");
        fs::write(folder.join("pages.rs"), NO_CORE).expect("written");
        let compile = |out: &Path, arguments: &[&str]| {
            let mut rustc = Command::new("rustc");
            rustc.args(["+nightly", "--crate-type", "lib", "--emit", "obj", "--edition", "2024", "--target", target]);
            rustc.arg(folder.join("pages.rs")).arg("-o").arg(out).args(arguments).env_remove("RUSTUP_TOOLCHAIN");
            rustc.output().expect("rustc runs")
        };
        let exe = folder.join("pages");
        let output = compile(&debug.join("pages"), &["-g", "-Zprint-type-sizes"]);
        if !output.status.success() {
            crate::support::skip("this nightly does not compile a crate without core");
            return;
        }
        assert!(compile(&exe, &[]).status.success());
        set_uuid(&exe);
        let stripped = dwell_debuginfo::load(&exe, &Options::default());
        assert!(stripped.is_err(), "a .dSYM of another build was taken");
        set_uuid(&debug.join("pages"));
        let printed = parse("pages", &String::from_utf8(output.stdout).expect("UTF-8"));
        let outcome = compare(&printed, &types_of(&exe, "pages"), &BTreeSet::new());
        assert_eq!((outcome.both, outcome.different), (3, Vec::new()));
    }
}

#[test]
fn compiler_and_debug_info_names_are_matched() {
    let same = |shown: &str, full: &str| same_name(&tokens(shown), &tokens(full), "app");
    assert!(same("std::vec::Vec<u8>", "alloc::vec::Vec<u8, alloc::alloc::Global>"));
    assert!(same("std::cell::Ref<'_, u8>", "core::cell::Ref<u8>"));
    assert!(same("std::slice::Iter<'_, std::string::String>", "core::slice::iter::Iter<alloc::string::String>"));
    assert!(same("(std::boxed::Box<u8>, &str)", "(alloc::boxed::Box<u8, alloc::alloc::Global>, &str)"));
    assert!(same("inner::Same", "app::inner::Same"));
    assert!(same("std::option::Option<inner::Same<'_>>", "core::option::Option<app::inner::Same>"));
    assert!(same("std::ops::ControlFlow<u8>", "core::ops::control_flow::ControlFlow<u8, ()>"));
    assert!(!same("std::ops::ControlFlow<u8>", "core::ops::control_flow::ControlFlow<u8, u16>"));
    assert!(!same("std::boxed::Box<u8>", "alloc::boxed::Box<u8, &alloc::alloc::Global>"));
    assert!(same("other::Same", "other::Same"));
    assert!(!same("other::Same", "other::inner::Same"));
    assert!(!same("inner::Same", "other::inner::Same"));
    assert!(!same("std::option::Option<u8>", "core::option::Option<u16>"));
    assert!(!same("std::slice::Iter<'_, u8>", "alloc::vec::Iter<u8>"));
}

#[test]
fn print_type_sizes_output_is_parsed() {
    let text = "print-type-size type: `E`: 16 bytes, alignment: 8 bytes\n\
                print-type-size     discriminant: 1 bytes\n\
                print-type-size     variant `A`: 15 bytes\n\
                print-type-size         padding: 7 bytes\n\
                print-type-size         field `.0`: 8 bytes, alignment: 8 bytes\n\
                print-type-size     variant `B`: 0 bytes\n";
    let types = parse("app", text);
    let [ty] = &types[..] else { panic!("{types:?}") };
    assert_eq!((ty.size, ty.align, ty.tag, ty.variants.len()), (16, 8, 1, 2));
    assert_eq!(ty.variants[0].fields, BTreeSet::from([("0".to_owned(), 8, 8)]));
    assert_eq!((ty.variants[0].size, ty.variants[0].padding), (Some(15), 7));
}
