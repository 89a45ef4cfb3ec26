#[path = "../tests/support/oracle.rs"]
mod oracle;
use cargo_dwell::shape::plan::Plan;
use cargo_dwell::shape::report::{Format, Options};
fn main() {
    let mut args = std::env::args().skip(1);
    let what = args.next().unwrap();
    let dir = args.next().unwrap();
    let mut bytes = 0;
    let mut docs = vec![];
    let mut files: Vec<_> = std::fs::read_dir(&dir).unwrap().map(|e| e.unwrap().path()).collect();
    files.sort();
    for f in files {
        if f.extension().is_some_and(|e| e == "json") {
            let b = std::fs::read(&f).unwrap();
            let v: serde_json::Value = serde_json::from_slice(&b).unwrap();
            if v.get("shapes").is_none() { continue }
            bytes += b.len() as u64;
            docs.push(v);
        }
    }
    let schema = oracle::schema(&docs, bytes, &[("shapes-value", "type")]);
    drop(docs);
    if what == "schema" { println!("{}", serde_json::to_string_pretty(&schema).unwrap()); return; }
    let t = std::time::Instant::now();
    let plan = Plan::new(&schema);
    eprintln!("plan {:?} places {}", t.elapsed(), plan.places.list.len());
    match what.as_str() {
        "rust" => print!("{}", plan.rust()),
        f => { let f = match f { "json" => Format::Json, "md" => Format::Markdown, _ => Format::Human };
            plan.write(f, &Options { width: Some(160), ..Options::default() }, &mut std::io::stdout()).unwrap(); }
    }
    eprintln!("all {:?}", t.elapsed());
}
