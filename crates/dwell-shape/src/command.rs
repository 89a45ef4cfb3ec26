//! The command: from arguments to the report and the files.

use crate::args::{ShapeArgs, TextType};
use crate::decisions;
use crate::declared::Declared;
use crate::overrides::{self, Given, Override};
use crate::plan::{Plan, Set};
use crate::schema::{self, Kind, Schema};
use crate::style::{self, Style};
use crate::{against, formats, held_out, html, infer, input, part, report};
use anyhow::{Context, Result, bail};
use dwell_output::units::plural;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Runs `cargo dwell shape`.
///
/// # Errors
/// Returns an error if an input cannot be read and must not be skipped, if a file exists and must not be overwritten,
/// or if output cannot be written.
pub fn run(args: &ShapeArgs) -> Result<ExitCode> {
    let targets =
        [("--rust", &args.rust), ("--html", &args.html), ("--json-schema", &args.json_schema), ("--save", &args.save)];
    for (option, file) in targets {
        if let Some(file) = file {
            check_target(option, file, args.force)?;
        }
    }
    let (root, roots) = input::Roots::parse(&args.root)?;
    style(args)?.check()?;
    if args.against.is_some() && !roots.is_empty() {
        bail!("--against reads documents of one type: --root NAME");
    }
    let given = Given::read(&args.set)?;
    for file in &given.new {
        check_target("--set", file, false)?;
    }
    let declared = args.schema.as_deref().map(Declared::read).transpose()?;
    let said = declared.as_ref().map(Declared::overrides).unwrap_or_default();
    let overrides = [said, roots.overrides(), overrides::configured()?, given.all.clone()].concat();
    if args.paths.iter().any(|path| part::is_part(path)) {
        if args.sample.is_some() || args.held_out.is_some() || args.form.is_some() || args.against.is_some() {
            bail!(
                "part files have counts and no documents, so --sample, --held-out, --form and --against do not apply"
            );
        }
        if let Some(file) = &args.save {
            part::join(&args.paths, file, args.force)?;
            return Ok(ExitCode::SUCCESS);
        }
        let accumulator = part::merge(&args.paths)?;
        return finish(args, accumulator, None, &overrides, &given, declared.as_ref(), &[]);
    }
    // The first run writes the form by which the others read.
    let new_form = args.form.as_deref().filter(|form| args.save.is_none() && !form.exists());
    if let Some(file) = new_form {
        check_target("--form", file, false)?;
    }
    let form = args.form.as_deref().filter(|_| new_form.is_none()).map(part::form).transpose()?;
    // What is piped in is read, not the sample.
    let is_piped = args.paths.is_empty() && input::is_piped();
    let paths = if is_piped { vec![PathBuf::from("-")] } else { args.paths.clone() };
    if paths.is_empty() && args.schema.is_some() {
        bail!("--schema needs data to compare; typify and progenitor make types of a schema alone");
    }
    let mut found = if paths.is_empty() { input::sample() } else { input::find_jsonc(&paths, args.jsonc) };
    if paths.is_empty() {
        eprintln!("note: no path given; using a built-in sample of {} service models", found.inputs.len());
    }
    roots.apply(&mut found)?;
    let files = found.inputs.len();
    if let Some(texts) = args.sample {
        let each = plural(found.sample(texts as usize), "document");
        let files = plural(files as u64, "file");
        eprintln!("note: sample: reading {} of {files}, at most {each} of each", found.inputs.len());
    }
    if let Some(file) = &args.against {
        let (report, problems) = against::compare(&found, true, file, root.as_deref())?;
        found.problems.extend(problems);
        print_problems(&found.problems);
        let mut out = io::BufWriter::new(anstream::stdout().lock());
        let written = report.write(args.format, args.top, &mut out).and_then(|()| out.flush());
        written.or_else(|error| if error.kind() == io::ErrorKind::BrokenPipe { Ok(()) } else { Err(error) })?;
        return Ok(exit_code(&found.problems, report.documents));
    }
    if let Some(file) = new_form {
        // Inputs that cannot be read are skipped: the run that reads them all reports them.
        let form = input::form(&found, &overrides);
        let documents = form.documents();
        print_problems(&found.problems);
        if documents == 0 {
            return nothing(&found.problems);
        }
        part::save_form(file, false, form)?;
        return Ok(exit_code(&found.problems, documents));
    }

    let progress = progress(found.inputs.iter().map(input::Input::size).sum());
    let options = input::Options {
        threads: 0,
        keep_going: true,
        part: 0,
        overrides: overrides.clone(),
        is_part: args.save.is_some(),
    };
    let advance = |bytes| progress.inc(bytes);
    let mut reading = match &form {
        Some(form) => input::read_by(form, &found, &options, &advance),
        None => input::read(&found, &options, &advance),
    };
    progress.finish_and_clear();
    let mut left_out = std::mem::take(&mut found.problems);
    left_out.append(&mut reading.problems);
    print_problems(&left_out);
    if let Some(rounds) = args.held_out {
        held_out::print(&found, rounds, rules(args), &overrides);
    }
    let found = (!paths.is_empty()).then_some(&found);
    finish(args, reading.accumulator, found, &overrides, &given, declared.as_ref(), &left_out)
}

/// Infers types from the JSON at these paths and returns them as Rust source, for a `build.rs`.
///
/// ```
/// use dwell_shape::{generate, plan::Set, style::Style};
///
/// # let dir = std::env::temp_dir().join(format!("dwell-generate-{}", std::process::id()));
/// # std::fs::create_dir_all(&dir)?;
/// let data = dir.join("user.json");
/// std::fs::write(&data, r#"{"name": "Ann", "age": 41}"#)?;
/// let style = Style { root: "User".into(), plain: true, ..Style::default() };
/// let source = generate(&[data], Set::Std, &[], style)?;
/// assert!(source.contains("pub struct User {"));
/// # std::fs::remove_dir_all(dir)?;
/// # Ok::<(), anyhow::Error>(())
/// ```
///
/// # Errors
/// Returns an error if a path or a text cannot be read, if there is no text, or if a name in `style` is not valid.
pub fn generate(paths: &[PathBuf], set: Set, overrides: &[Override], style: Style) -> Result<String> {
    style.check()?;
    let mut found = input::find(paths);
    let options = input::Options { overrides: overrides.to_vec(), ..input::Options::default() };
    let mut reading = input::read(&found, &options, &|_| {});
    found.problems.append(&mut reading.problems);
    if !found.problems.is_empty() {
        return Err(found.problems.swap_remove(0).into());
    }
    let mut accumulator = reading.accumulator;
    accumulator.set_overrides(overrides);
    let mut schema = accumulator.finish();
    if schema.documents == 0 {
        bail!("no input could be read");
    }
    if let Some(wrong) = overrides::apply(overrides, &mut schema).first() {
        bail!("{wrong}");
    }
    if style.plain {
        schema.sort_variants();
    }
    schema.style = style;
    Ok(Plan::new(&schema).rust(set))
}

/// The number of problems that are printed; a summary counts the others.
const SHOWN: usize = 50;

/// The number of decisions in doubt that are printed.
const DOUBTS: usize = 5;

fn print_problems(problems: &[input::Problem]) {
    for problem in problems.iter().take(SHOWN) {
        eprintln!("error: {problem}");
    }
    if problems.len() > SHOWN {
        eprintln!("error: {} with errors", plural((problems.len() - SHOWN) as u64, "more input"));
    }
}

/// Ends a run that read no document. If problems were printed, they say why.
fn nothing(printed: &[input::Problem]) -> Result<ExitCode> {
    if printed.is_empty() {
        bail!("no input could be read");
    }
    Ok(ExitCode::from(2))
}

/// Returns the options that decide how the types are written.
fn style(args: &ShapeArgs) -> Result<Style> {
    Ok(Style {
        plain: args.plain,
        derives: args.derive.clone(),
        visibility: args.visibility.clone(),
        root: input::Roots::parse(&args.root)?.0.unwrap_or_else(|| style::DOCUMENT.to_owned()),
        borrow: args.borrow,
    })
}

/// Returns the options that decide which values the types accept.
fn rules(args: &ShapeArgs) -> held_out::Rules {
    let has = |kind| args.text.contains(&kind);
    held_out::Rules {
        strict: args.strict,
        unknown: args.unknown_keys,
        typed: formats::Typed { uuid: has(TextType::Uuid), chrono: has(TextType::Chrono), url: has(TextType::Url) },
    }
}

/// Saves or reports the counts. `found` are the inputs, if they are the user's and can be read again.
fn finish(
    args: &ShapeArgs,
    mut accumulator: infer::Accumulator,
    found: Option<&input::Found>,
    overrides: &[Override],
    given: &Given,
    declared: Option<&Declared>,
    left_out: &[input::Problem],
) -> Result<ExitCode> {
    if let Some(file) = &args.save {
        let documents = accumulator.documents();
        part::save(file, args.force, accumulator)?;
        return Ok(exit_code(left_out, documents));
    }
    accumulator.set_overrides(overrides);
    let mut schema = accumulator.finish();
    if schema.documents == 0 {
        return nothing(left_out);
    }
    rules(args).apply(&mut schema);
    let mut wrong = overrides::apply(overrides, &mut schema);
    if let Some(declared) = declared {
        // What the schema says is no error if the data is otherwise, and is listed.
        wrong.retain(|wrong| given.all.iter().any(|one| wrong.starts_with(&format!("{}: ", one.path))));
        let lines = declared.differences(&schema);
        for line in lines.iter().take(SHOWN) {
            eprintln!("schema: {line}");
        }
        if lines.len() > SHOWN {
            eprintln!("schema: {}", plural((lines.len() - SHOWN) as u64, "more difference"));
        }
    }
    // The decisions of a `dwell.toml` are for all data of a folder, and those of a file for data that changes, so some may have
    // nothing to decide here.
    let configured = overrides::configured()?;
    let is_of = |all: &[Override], wrong: &str| {
        all.iter().any(|one| wrong.strip_prefix(&*one.path).is_some_and(|rest| rest.starts_with(": ")))
    };
    let (notes, errors): (Vec<&String>, Vec<&String>) =
        wrong.iter().partition(|wrong| is_of(&configured, wrong) || is_of(&given.kept, wrong));
    for note in notes.iter().take(SHOWN) {
        eprintln!("note: {}: {note}", if is_of(&configured, note) { "dwell.toml" } else { "--set @FILE" });
    }
    if let Some((first, rest)) = errors.split_first() {
        for error in rest {
            eprintln!("error: --set: {error}");
        }
        bail!("--set: {first}");
    }
    for file in &given.new {
        write_new(file, false, &decisions::list(&schema))?;
    }
    if args.plain {
        schema.sort_variants();
    }
    schema.style = style(args)?;
    let doubts = found.map_or_else(Vec::new, |found| input::doubts(&schema, found, overrides));
    if !doubts.is_empty() {
        let list = doubts.iter().take(DOUBTS).map(|(is, other)| format!("--set '{is}' (or {other})"));
        let more = if doubts.len() > DOUBTS { format!(" and {} more", doubts.len() - DOUBTS) } else { String::new() };
        eprintln!(
            "note: in doubt, since a fifth of the documents changes it: {}{more}",
            list.collect::<Vec<_>>().join(", ")
        );
    }
    if is_medley(&schema) {
        eprintln!("note: the files seem to contain unrelated data; run the command for one kind of file at a time");
    }
    if let Some((path, percent)) = one_map(&schema) {
        eprintln!("note: {percent} % of the objects have one type, a map that contains itself: {path}");
    }
    let plan = Plan::new(&schema);
    // The report and the files are independent: a failure of one does not suppress the others.
    let rust = args.rust.as_ref().map_or(Ok(()), |file| write_new(file, args.force, &plan.rust(args.types)));
    let html = args
        .html
        .as_ref()
        .map_or(Ok(()), |file| write_new(file, args.force, &html::page(&plan, args.sample.is_some())));
    let json = args
        .json_schema
        .as_ref()
        .map_or(Ok(()), |file| write_new(file, args.force, &format!("{:#}\n", plan.json_schema())));
    print(&plan, args)?;
    rust.and(html).and(json)?;
    Ok(exit_code(left_out, schema.documents))
}

/// Reports how many inputs were skipped, and chooses the exit code.
fn exit_code(left_out: &[input::Problem], documents: u64) -> ExitCode {
    if left_out.is_empty() {
        return ExitCode::SUCCESS;
    }
    eprintln!("error: {} skipped; {} read", were(left_out.len() as u64, "input"), were(documents, "document"));
    ExitCode::from(2)
}

/// Returns the path of the map that contains itself and has most objects of the data, and their share in percent.
fn one_map(schema: &Schema) -> Option<(&str, u64)> {
    let all: u64 = schema.records.iter().map(|record| record.instances).sum();
    let is_map = |record: &&schema::Record| matches!(&record.fields[..], [field] if field.rest);
    let most = schema.records.iter().filter(is_map).max_by_key(|record| record.instances)?;
    let path = most.paths.first()?;
    (all >= 100 && most.instances * 2 > all).then(|| (&**path, most.instances * 100 / all))
}

/// Returns whether the documents, or their elements, are probably unrelated objects. Their record then has at least 20
/// keys, and fewer than a tenth of the keys are in more than half of the objects.
fn is_medley(schema: &Schema) -> bool {
    let slots = match &schema.root.kind {
        Kind::Mixed { alternatives } => alternatives.iter().collect(),
        _ => vec![&schema.root],
    };
    let records = slots.into_iter().filter_map(|slot| match &slot.kind {
        Kind::Record { id, .. } => Some(&schema.records[*id]),
        Kind::Seq(seq) => match seq.element.kind {
            Kind::Record { id, .. } => Some(&schema.records[id]),
            _ => None,
        },
        _ => None,
    });
    schema.documents > 1
        && records.into_iter().any(|record| {
            let often = record.fields.iter().filter(|field| field.slot.count * 2 > record.instances).count();
            record.fields.len() >= 20 && often * 10 < record.fields.len()
        })
}

fn were(number: u64, noun: &str) -> String {
    format!("{} {}", plural(number, noun), if number == 1 { "was" } else { "were" })
}

/// Creates a progress bar on standard error, if that is a terminal.
fn progress(bytes: u64) -> ProgressBar {
    let bar = ProgressBar::with_draw_target(Some(bytes), ProgressDrawTarget::stderr());
    if let Ok(style) = ProgressStyle::with_template("{bar:40} {bytes}/{total_bytes} {eta}") {
        bar.set_style(style);
    }
    bar
}

/// Checks that `file` can be written. This precedes reading, since a later failure would lose the report.
fn check_target(option: &str, file: &Path, force: bool) -> Result<()> {
    let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty());
    if file.as_os_str() == "-" {
        bail!("{option} -: standard output is used for the report; pass a file name");
    } else if file.is_dir() {
        bail!("{}: is a folder; name a file in it", file.display());
    } else if let Some(folder) = folder.filter(|folder| !folder.is_dir()) {
        bail!("{}: the folder {} does not exist; create it first", file.display(), folder.display());
    } else if !force && file.exists() {
        bail!("{}: exists already; --force overwrites it", file.display());
    }
    Ok(())
}

/// Writes a file. Without `force` it does not overwrite one, even one that was created in the meantime.
fn write_new(file: &Path, force: bool, source: &str) -> Result<()> {
    let mut options = File::options();
    options.write(true);
    if force {
        options.create(true).truncate(true)
    } else {
        options.create_new(true)
    };
    let written = options.open(file).and_then(|mut file| file.write_all(source.as_bytes()));
    written.with_context(|| format!("{}: cannot be written", file.display()))
}

fn print(plan: &Plan<'_>, args: &ShapeArgs) -> Result<()> {
    let options = report::Options { top: args.top, width: None, sampled: args.sample.is_some() };
    let mut out = io::BufWriter::new(anstream::stdout().lock());
    let written = plan.write(args.format, &options, &mut out);
    match written.and_then(|()| out.flush()) {
        // A closed pipe is not an error.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        written => written.context("standard output"),
    }
}
