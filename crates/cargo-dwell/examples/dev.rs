use cargo_dwell::shape::{input, plan::Plan, report::{Format, Options}};
fn main() {
    let mut args = std::env::args_os().skip(1);
    let what = args.next().unwrap().into_string().unwrap();
    let paths: Vec<_> = args.map(Into::into).collect();
    let found = input::find(&paths);
    let reading = input::read(&found, &input::Options { threads: 0, keep_going: false }, &|_| {});
    for problem in &reading.problems { eprintln!("{problem}"); }
    let schema = reading.accumulator.finish();
    let t = std::time::Instant::now();
    let plan = Plan::new(&schema);
    eprintln!("plan {:?} places {}", t.elapsed(), plan.places.list.len());
    match what.as_str() {
        "list" => cargo_dwell::shape::list(&schema, &mut std::io::stdout()).unwrap(),
        "rust" => print!("{}", plan.rust()),
        f => { let f = match f { "json" => Format::Json, "md" => Format::Markdown, _ => Format::Human };
            plan.write(f, &Options { width: Some(160), ..Options::default() }, &mut std::io::stdout()).unwrap(); }
    }
    eprintln!("all {:?}", t.elapsed());
}
