//! Compares the types that `debuginfo` reads with the output of the program itself, for each format of debug info.

use dwell_debuginfo::{Flavour, Kind, Options, Program, Type};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

fn rustc() -> Command {
    Command::new(std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into()))
}

/// Builds the fixture in `folder`. Prints the reason and returns `None` if the linker does not support the flags.
fn try_build(folder: &Path, flags: &[&str]) -> Option<PathBuf> {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/debuginfo/fixture.rs");
    let output = rustc()
        .args(["--edition", "2024", "--crate-name", "fixture", "-A", "warnings", "-o", "fixture"])
        .args(flags)
        .arg(source)
        .current_dir(folder)
        .output()
        .unwrap();
    if !output.status.success() {
        let _ = writeln!(std::io::stderr(), "skipped: rustc {flags:?}: {}", String::from_utf8_lossy(&output.stderr));
        return None;
    }
    Some(folder.join("fixture"))
}

fn build(folder: &Path, flags: &[&str]) -> PathBuf {
    try_build(folder, flags).expect("the fixture builds")
}

fn own() -> Options {
    Options { own_crates: vec!["fixture".into()], ..Options::default() }
}

fn named<'p>(program: &'p Program, name: &str) -> &'p Type {
    let mut found = program.types().map(|(_, ty)| ty).filter(|ty| *ty.name == *name);
    let first = found.next().unwrap_or_else(|| panic!("{name} is not there"));
    assert!(found.next().is_none(), "{name} is there twice");
    first
}

/// Loads the debug info of the executable and compares its types with the program's output.
fn check(executable: &Path, options: &Options) -> Program {
    let program = dwell_debuginfo::load(executable, options).unwrap();
    assert_eq!(program.damaged, [""; 0]);
    let output = Command::new(executable).output().unwrap();
    assert!(output.status.success());
    let text = String::from_utf8(output.stdout).unwrap();
    let mut compared = 0;
    for line in text.lines() {
        let number = |text: &str| text.parse::<u64>().unwrap();
        match &line.split('\t').collect::<Vec<_>>()[..] {
            ["type", name, size, align] => {
                let name = name.replace("'static ", "");
                let ty = named(&program, &name);
                assert_eq!((ty.size, ty.align), (number(size), number(align)), "{name}");
            }
            ["field", name, field, offset] => {
                let Kind::Struct(fields) = &named(&program, name).kind else { panic!("{name} is no struct") };
                let field = fields.iter().find(|candidate| *candidate.name == **field).expect(field);
                assert_eq!(field.offset, number(offset), "{name}.{}", field.name);
            }
            ["future", name, size] => {
                assert_eq!(named(&program, &format!("{{async fn {name}}}")).size, number(size), "{name}");
            }
            other => panic!("{other:?}"),
        }
        compared += 1;
    }
    assert!(compared > 20);
    program
}

#[test]
fn type_kinds_are_distinguished() {
    let folder = tempfile::tempdir().unwrap();
    let program = check(&build(folder.path(), &["-g"]), &own());

    let ty = named(&program, "Plain");
    assert_eq!((&*ty.path, &*ty.krate, ty.own), ("fixture::Plain", "fixture", true));
    assert!(!named(&program, "String").own);

    let Kind::Enum(niche) = &named(&program, "Niche").kind else { panic!() };
    let tag = niche.tag.as_ref().unwrap();
    assert!(tag.niche.as_ref().unwrap().ends_with("cap.0"), "{tag:?}");
    assert!(niche.variants[1].discriminants.is_empty());

    let Kind::Enum(tagged) = &named(&program, "Tagged").kind else { panic!() };
    assert_eq!(tagged.tag.as_ref().unwrap().niche, None);
    let names: Vec<&str> = tagged.variants.iter().map(|variant| &*variant.name).collect();
    assert_eq!(names, ["A", "B", "C"]);
    assert_eq!(&*tagged.variants[0].fields[0].name, "0");

    let Kind::Enum(numbered) = &named(&program, "Numbered").kind else { panic!() };
    let values: Vec<_> = numbered.variants.iter().map(|variant| variant.discriminants.clone()).collect();
    assert_eq!(values, [vec![-3..=-3], vec![9..=9]]);

    // Constants of a signed tag have the fewest bytes that hold them with their sign.
    let Kind::Enum(signed) = &named(&program, "Signed").kind else { panic!() };
    let values: Vec<_> = signed.variants.iter().map(|variant| variant.discriminants.clone()).collect();
    assert_eq!(values, [vec![-5..=-5], vec![251..=251], vec![-300..=-300]]);

    assert!(matches!(&named(&program, "Either").kind, Kind::Union(fields) if fields.len() == 2));
    let Kind::Array { element, count: 3 } = named(&program, "[[u16; 2]; 3]").kind else { panic!() };
    assert_eq!(&*program.get(element).name, "[u16; 2]");

    let Kind::WidePointer { pointee: Some(pointee), .. } = named(&program, "&[u8]").kind else { panic!() };
    assert_eq!(&*program.get(pointee).name, "u8");

    let generic = named(&program, "Generic<u16, 5>");
    assert_eq!(&*generic.params[0].name, "T");
    assert_eq!(&*program.get(generic.params[0].ty).name, "u16");

    let mut concrete: Vec<&str> = program
        .types()
        .filter_map(|(_, ty)| match &ty.kind {
            Kind::Vtable(vtable) if &*vtable.trait_path == "fixture::Draw" => Some(&*program.get(vtable.concrete).name),
            _ => None,
        })
        .collect();
    concrete.sort_unstable();
    assert_eq!(concrete, ["Numbered", "Plain"]);

    let closure = program.types().map(|(_, ty)| ty).find(|ty| ty.name.starts_with("{closure in main:")).unwrap();
    let Kind::Closure(captures) = &closure.kind else { panic!() };
    assert_eq!(&*captures[0].name, "captured");
    assert!(closure.source.as_ref().unwrap().file.ends_with("fixture.rs"));
}

#[test]
fn coroutine_states_list_held_values_and_lines() {
    let source = include_str!("debuginfo/fixture.rs");
    let line_of = |text: &str| (1..).zip(source.lines()).find(|(_, line)| line.contains(text)).unwrap().0;
    let folder = tempfile::tempdir().unwrap();
    for flags in [&["-g"][..], &["-g", "-O"]] {
        let program = dwell_debuginfo::load(&build(folder.path(), flags), &own()).unwrap();
        let ty = named(&program, "{async fn Plain::run}");
        assert_eq!(ty.source.as_ref().unwrap().line, line_of("async fn run"));
        let Kind::Coroutine(coroutine) = &ty.kind else { panic!() };
        assert_eq!((coroutine.flavour, &*coroutine.function), (Flavour::AsyncFn, "Plain::run"));
        let captures: Vec<&str> = coroutine.captures.iter().map(|field| &*field.name).collect();
        assert_eq!(captures, ["self", "number"]);
        let suspended: Vec<_> = coroutine.states.iter().filter(|state| state.is_suspended()).collect();
        assert_eq!(suspended.len(), 2);
        let awaits: Vec<u32> = suspended.iter().map(|state| state.source.as_ref().unwrap().line).collect();
        assert_eq!(awaits, [line_of("let first = "), line_of("let second = ")]);
        for state in &suspended {
            assert_eq!(&*program.get(state.awaited.as_ref().unwrap().ty).name, "{async fn leaf}");
            let buffer = state.held.iter().find(|field| &*field.name == "buffer").unwrap();
            assert_eq!((program.size_of(buffer.ty), buffer.line), (100, Some(line_of("let buffer = "))));
        }
        let holds_text = |index: usize| suspended[index].held.iter().any(|field| &*field.name == "text");
        assert_eq!((holds_text(0), holds_text(1)), (false, true));
    }
}

#[test]
fn all_dwarf_versions_and_optimisation_levels() {
    let folder = tempfile::tempdir().unwrap();
    for flags in [
        &["-g", "-C", "dwarf-version=4"][..],
        &["-g", "-C", "dwarf-version=5"],
        &["-g", "-O"],
        &["-g", "-O", "-C", "lto=fat"],
        &["-g", "-C", "codegen-units=16"],
    ] {
        check(&build(folder.path(), flags), &own());
    }
}

#[test]
fn compressed_sections() {
    let folder = tempfile::tempdir().unwrap();
    for with in ["zlib", "zstd"] {
        let flag = format!("link-arg=-Wl,--compress-debug-sections={with}");
        if let Some(executable) = try_build(folder.path(), &["-g", "-C", &flag]) {
            check(&executable, &own());
        }
    }
}

#[cfg(target_os = "linux")]
#[test]
fn split_debug_info() {
    for version in ["4", "5"] {
        for (how, files) in [("packed", "fixture.dwp"), ("unpacked", "")] {
            let folder = tempfile::tempdir().unwrap();
            let how = format!("split-debuginfo={how}");
            let version = format!("dwarf-version={version}");
            let executable = build(folder.path(), &["-g", "-C", &how, "-C", &version]);
            check(&executable, &own());
            // A copy elsewhere finds them where the compiler wrote them.
            let elsewhere = tempfile::tempdir().unwrap();
            let copy = elsewhere.path().join("copied");
            std::fs::copy(&executable, &copy).unwrap();
            check(&copy, &own());
            // Without the split files there is an error, or one line in `damaged`.
            if files.is_empty() {
                for entry in std::fs::read_dir(folder.path()).unwrap().flatten() {
                    if entry.path().extension().is_some_and(|end| end == "dwo") {
                        std::fs::remove_file(entry.path()).unwrap();
                    }
                }
            } else {
                std::fs::remove_file(folder.path().join(files)).unwrap();
            }
            match dwell_debuginfo::load(&executable, &own()) {
                Ok(program) => assert!(program.damaged[0].contains("are missing"), "{:?}", program.damaged),
                Err(error) => {
                    let text = error.to_string();
                    assert!(text.contains("missing") && text.contains("split-debuginfo = \"off\""), "{text}");
                }
            }
        }
    }
}

#[cfg(target_os = "linux")]
#[test]
fn separate_debug_file_is_found_by_build_id_and_debuglink() {
    let folder = tempfile::tempdir().unwrap();
    let executable = build(folder.path(), &["-g", "-C", "link-arg=-Wl,--build-id"]);
    let objcopy = |args: &[&str]| {
        Command::new("objcopy").args(args).current_dir(folder.path()).status().is_ok_and(|status| status.success())
    };
    if !objcopy(&["--only-keep-debug", "fixture", "kept"]) || !objcopy(&["--strip-debug", "fixture", "stripped"]) {
        let _ = writeln!(std::io::stderr(), "skipped: there is no objcopy");
        return;
    }
    let id = dwell_debuginfo::load(&executable, &own()).unwrap().build_id.unwrap();
    let stripped = folder.path().join("stripped");
    let error = dwell_debuginfo::load(&stripped, &own()).unwrap_err().to_string();
    assert!(error.contains("has no debug info") && error.contains("_DEBUG=2"), "{error}");

    // By the build ID.
    let by_id = folder.path().join(".build-id").join(&id[..2]);
    std::fs::create_dir_all(&by_id).unwrap();
    std::fs::copy(folder.path().join("kept"), by_id.join(format!("{}.debug", &id[2..]))).unwrap();
    check(&stripped, &own());
    std::fs::remove_dir_all(folder.path().join(".build-id")).unwrap();

    // By the name in `.gnu_debuglink`; a debug file of another program is rejected.
    assert!(objcopy(&["--add-gnu-debuglink=kept", "stripped", "linked"]));
    check(&folder.path().join("linked"), &own());
    let other = tempfile::tempdir().unwrap();
    build(other.path(), &["-g", "-O", "-C", "link-arg=-Wl,--build-id"]);
    std::fs::copy(other.path().join("fixture"), folder.path().join("kept")).unwrap();
    assert!(dwell_debuginfo::load(&folder.path().join("linked"), &own()).is_err());
}

/// The `-gnu` targets of Windows write DWARF into PE files.
#[test]
fn dwarf_in_pe_is_read() {
    let folder = tempfile::tempdir().unwrap();
    let elf = build(folder.path(), &["-g"]);
    let objcopy = |sections: &[&str], to: &str| {
        let sections = sections.iter().flat_map(|name| ["-j", *name]);
        let mut command = Command::new("objcopy");
        command.args(["-O", "pei-x86-64"]).args(sections).args(["fixture", to]).current_dir(folder.path());
        command.output().is_ok_and(|output| output.status.success())
    };
    if !objcopy(&[".text", ".rodata", ".debug_*"], "fixture.exe") || !objcopy(&[".text"], "stripped.exe") {
        let _ = writeln!(std::io::stderr(), "skipped: there is no objcopy that writes PE");
        return;
    }
    let (of_elf, of_pe) =
        [elf, folder.path().join("fixture.exe")].map(|file| dwell_debuginfo::load(&file, &own()).unwrap()).into();
    let types = |program: &Program| program.types().map(|(_, ty)| (ty.path.clone(), ty.size)).collect::<Vec<_>>();
    assert_eq!(types(&of_pe), types(&of_elf));
    let error = dwell_debuginfo::load(&folder.path().join("stripped.exe"), &own()).unwrap_err().to_string();
    assert!(error.contains("(PE) without DWARF") && !error.contains('\n'), "{error}");
}

/// The locals of a function that is inlined are in the frame of the one around it.
#[test]
fn locals_of_inlined_functions_are_in_the_frame() {
    let folder = tempfile::tempdir().unwrap();
    let source = "#[inline(always)] fn made(n: u8) -> u8 { let first = [n; 700]; std::hint::black_box(&first); first[3] }\n\
                  #[unsafe(no_mangle)] #[inline(never)] fn outer(n: u8) -> u8 { let own = [n; 90]; std::hint::black_box(&own); made(own[1]) }\n\
                  fn main() { println!(\"{}\", outer(3)); }\n";
    std::fs::write(folder.path().join("inlined.rs"), source).unwrap();
    let status = rustc().args(["--edition", "2024", "-g", "inlined.rs"]).current_dir(folder.path()).status();
    assert!(status.unwrap().success());
    let file = folder.path().join("inlined");
    let symbols = dwell_debuginfo::symbols(&file, &["outer"]);
    let address = symbols["outer"].0;
    let names = |inlined: bool| {
        let load = if inlined { dwell_debuginfo::load_with_inlined } else { dwell_debuginfo::load_with_frames };
        let (program, frames) = load(&file, &own(), &[address]).unwrap();
        let locals = frames[&address].last().unwrap().locals.clone();
        let large = locals.into_iter().filter(|(_, ty, _)| program.size_of(*ty) >= 90);
        large.map(|(name, ty, inlined)| (name.to_string(), program.size_of(ty), inlined)).collect::<Vec<_>>()
    };
    assert_eq!(names(false), [("own".to_owned(), 90, false)]);
    assert_eq!(names(true), [("own".to_owned(), 90, false), ("first".to_owned(), 700, true)]);
}

#[test]
fn files_without_types_give_a_one_line_error() {
    let folder = tempfile::tempdir().unwrap();
    let error = |path: &Path| {
        let error = dwell_debuginfo::load(path, &own()).unwrap_err();
        let text = format!("{error:#}");
        assert!(!text.contains('\n'), "{text}");
        text
    };
    let executable = build(folder.path(), &["-C", "debuginfo=line-tables-only"]);
    let text = error(&executable);
    assert!(text.contains("line numbers only"), "{text}");
    let executable = build(folder.path(), &["-C", "strip=symbols"]);
    assert!(error(&executable).contains("has no debug info"));
    assert!(error(&folder.path().join("none")).contains("there is no such file"));
    assert!(error(folder.path()).contains("is not a file"));
    let text = folder.path().join("text");
    std::fs::write(&text, "#!/bin/sh\n").unwrap();
    assert!(error(&text).contains("is not an executable"));
    std::fs::write(&text, "").unwrap();
    assert!(error(&text).contains("is empty"));
    let whole = std::fs::read(&executable).unwrap();
    for length in [4, 16, 63, 64, 100, whole.len() / 2] {
        std::fs::write(&text, &whole[..length]).unwrap();
        error(&text);
    }
}

#[test]
fn second_load_uses_the_cache() {
    let folder = tempfile::tempdir().unwrap();
    let executable = build(folder.path(), &["-g"]);
    let cache = folder.path().join("cache");
    let options = Options { cache: Some(cache.clone()), ..own() };
    let first = check(&executable, &options);
    let files = || std::fs::read_dir(&cache).unwrap().map(|entry| entry.unwrap().path()).collect::<Vec<_>>();
    assert_eq!(files().len(), 1);
    let second = check(&executable, &options);
    assert_eq!(format!("{first:?}"), format!("{second:?}"));
    // The cache file is independent of `own_crates`.
    let third = dwell_debuginfo::load(&executable, &Options { own_crates: Vec::new(), ..options.clone() }).unwrap();
    assert!(!third.types().any(|(_, ty)| ty.own));
    // A damaged cache file is replaced.
    let kept = std::fs::read(&files()[0]).unwrap();
    std::fs::write(&files()[0], &kept[..kept.len() / 2]).unwrap();
    check(&executable, &options);
    assert_eq!(std::fs::read(&files()[0]).unwrap(), kept);
    // A cache folder that cannot be created is not an error.
    let blocked = Options { cache: Some(executable.join("cache")), ..own() };
    check(&executable, &blocked);
}

#[test]
fn type_order_is_deterministic() {
    let folder = tempfile::tempdir().unwrap();
    let executable = build(folder.path(), &["-g", "-C", "codegen-units=16"]);
    let first = format!("{:?}", dwell_debuginfo::load(&executable, &own()).unwrap());
    for _ in 0..5 {
        assert_eq!(format!("{:?}", dwell_debuginfo::load(&executable, &own()).unwrap()), first);
    }
}
