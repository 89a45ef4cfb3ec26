//! Prediction against measurement on real data: the folder `DWELL_MODELS`, or the AWS models beside the repository.
//!
//! `cargo test -p cargo-dwell --test predict_models -- --nocapture` prints both.

mod support;

use cargo_dwell::shape::model::Heap;
use cargo_dwell::shape::plan::Plan;
use std::path::PathBuf;

fn folder() -> Option<PathBuf> {
    if let Some(folder) = std::env::var_os("DWELL_MODELS") {
        return Some(folder.into());
    }
    // Beside the repository, or beside the one that this is a worktree of.
    let beside = support::root().join("../shared/data/aws-models");
    beside.is_dir().then_some(beside)
}

#[test]
fn a_folder_takes_what_was_predicted() {
    let Some(folder) = folder() else {
        eprintln!("skipped: DWELL_MODELS names no folder and ../shared/data/aws-models is not there");
        return;
    };
    let entries = std::fs::read_dir(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let paths = entries.map(|entry| entry.expect("an entry").path());
    let mut paths: Vec<PathBuf> = paths.filter(|path| path.extension().is_some_and(|is| is == "json")).collect();
    paths.sort();
    let texts: Vec<Vec<u8>> = paths.iter().map(|path| std::fs::read(path).expect("readable")).collect();
    let schema = support::schema(texts.iter().map(Vec::as_slice));
    drop(texts);
    let plan = Plan::new(&schema);
    let source = plan.rust();
    assert_eq!(support::unformatted(&source), "", "rustfmt would change it");

    let sources = [("main.rs", include_str!("support/load.rs")), ("types.rs", &source)];
    for (set, predicted) in [("naive", plan.naive_heap()), ("lean", plan.lean_heap())] {
        let mut arguments = vec![set];
        arguments.extend(paths.iter().map(|path| path.to_str().expect("UTF-8")));
        let printed = support::run("load", &sources, &arguments);
        let numbers: Vec<u64> = printed.split_whitespace().map(|text| text.parse().expect("a number")).collect();
        let [bytes, allocations, cpu, unequal] = numbers[..] else { panic!("four numbers, not {printed:?}") };
        let measured = Heap { bytes, allocations };
        println!("{set}: predicted {predicted:?}, measured {measured:?}, {cpu} ms of CPU");
        assert_eq!(unequal, 0, "documents are written back otherwise");
        for (predicted, measured) in [(predicted.bytes, bytes), (predicted.allocations, allocations)] {
            let off = (predicted as f64 / measured as f64 - 1.0).abs();
            assert!(off < 0.01, "{set}: predicted {predicted}, measured {measured}");
        }
    }
}

/// Documents that try what types can get wrong: keys that are no names, null beside missing, numbers of all sorts, texts
/// that are sometimes something else, recursion, empty things, tuples, tags, and a record wide enough to be split.
fn odd() -> Vec<String> {
    let mut texts = Vec::new();
    for n in 0..400 {
        let maybe = |every: usize, text: String| if n % every == 0 { text } else { String::new() };
        let nested = (0..n % 5).fold("null".to_owned(), |inner, _| format!(r#"{{"next":{inner},"kids":[{inner},{{}}]}}"#));
        let event = match n % 3 {
            0 => format!(r#"{{"kind":"log-in","user":"u{n}","at":{n}}}"#),
            1 => format!(r#"{{"at":1,"kind":"2fa","codes":[{n},2,3,4,5],"big":[[1,"a"],[2,"b"]]}}"#),
            _ => r#"{"kind":"logOut"}"#.to_owned(),
        };
        let wide: String = (0..40).filter(|k| (n + k * 7) % (k + 9) == 0).map(|k| format!(r#""w{k}":"x{k}","#)).collect();
        let mut text = format!(
            r#"{{"type":"t{}","self":{n},"r#try":true,"a b":1,"a-b":2,"aB":3,"":"empty","1st":-{n},"ünï":"é\n\"","#,
            n % 7
        );
        text += &maybe(3, r#""gone":null,"#.into());
        text += &maybe(4, format!(r#""gone":{{"x":{n},"y":[]}},"#)).replace("null", "null");
        text += &format!(r#""number":{},"float":{}.5,"huge":{},"#, if n % 9 == 0 { "1.0" } else { "1" }, n, u64::MAX - n as u64);
        let mixed = ["1", "\"one\"", "[1,2]", "true", "null", "{\"a\":1}", "1.5"];
        text += &format!(r#""mixed":{},"tree":{nested},"event":{event},"#, mixed[n % mixed.len()]);
        text += &format!(r#""wide":{{{}"always":{n}}},"#, wide);
        text += &format!(r#""pair":[{n},"p{n}"],"nothing":[],"free":{{"k{n}":{{"v{n}":[{n},null]}}}},"#);
        text += &format!(r#""map":{{{}}},"flag":{{}},"#, (0..n % 30).map(|k| format!(r#""key {n} {k}":{k}"#)).collect::<Vec<_>>().join(","));
        text += &format!(r#""text":"{}"}}"#, "long ".repeat(n % 120));
        // The key that was there twice goes.
        if n % 12 == 0 {
            text = text.replacen(r#""gone":null,"#, "", 1);
        }
        texts.push(text);
    }
    texts
}

#[test]
fn odd_data_is_held_and_given_back() {
    let texts = odd();
    let schema = support::schema(texts.iter().map(String::as_bytes));
    let plan = Plan::new(&schema);
    let source = plan.rust();
    assert_eq!(support::unformatted(&source), "", "rustfmt would change it");
    let folder = std::env::temp_dir().join(format!("dwell-odd-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    let mut arguments = Vec::new();
    for (index, text) in texts.iter().enumerate() {
        let path = folder.join(format!("{index}.json"));
        std::fs::write(&path, text).expect("a file");
        arguments.push(path.to_str().expect("UTF-8").to_owned());
    }
    let sources = [("main.rs", include_str!("support/load.rs")), ("types.rs", &source)];
    for (set, predicted) in [("naive", plan.naive_heap()), ("lean", plan.lean_heap())] {
        let all: Vec<&str> = [set].into_iter().chain(arguments.iter().map(String::as_str)).collect();
        let printed = support::run("odd", &sources, &all);
        let numbers: Vec<&str> = printed.split_whitespace().collect();
        assert_eq!(numbers[3], "0", "documents are written back otherwise");
        println!("{set}: predicted {predicted:?}, measured {printed}");
        assert_eq!(numbers[..2], [predicted.bytes.to_string(), predicted.allocations.to_string()], "{set}");
    }
    std::fs::remove_dir_all(folder).expect("a folder of ours");
}
