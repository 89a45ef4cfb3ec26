//! `cargo dwell shape`: infers Rust types for JSON.

mod accept;
pub mod advice;
pub mod against;
mod borrow;
pub mod formats;
pub mod held_out;
pub mod html;
pub mod infer;
pub mod input;
mod json_schema;
pub mod lean;
mod loading;
pub mod model;
pub mod names;
pub mod overrides;
pub mod part;
pub mod plan;
pub mod positions;
mod prose;
pub mod quicktype;
pub mod report;
pub mod rust;
pub mod sample;
pub mod schema;
pub mod style;
pub mod types;
pub mod value;

use anyhow::{Context, Result, bail};
use bytesize::ByteSize;
use clap::Args;
use dwell_output::units::plural;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use overrides::Override;
use plan::{Plan, Set};
use report::Format;
use schema::{Kind, Schema};
use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use style::Style;

/// The arguments of `cargo dwell shape`.
#[derive(Debug, Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a switch of the command line")]
#[command(
    after_help = "Exit code: 0 on success, 2 if an input could not be read (the report covers the rest) or for wrong usage."
)]
pub struct ShapeArgs {
    /// Files and folders with JSON (.json .jsonl .ndjson .geojson .topojson .ipynb .har .jsonld, each also .gz or
    /// .zst), `-` for standard input; without a path, reads a built-in sample
    #[arg(value_name = "DIR|FILE")]
    pub paths: Vec<PathBuf>,
    /// Write Rust types to FILE
    #[arg(long, value_name = "FILE")]
    pub rust: Option<PathBuf>,
    /// Which types --rust writes
    #[arg(long, value_enum, default_value_t)]
    pub types: Set,
    /// Accept only values like those in the data: enums of strings have no variant `Other`, unknown keys are errors
    #[arg(long)]
    pub strict: bool,
    /// How the types treat unknown keys [default: ignore; with --strict, refuse]
    #[arg(long, value_enum, value_name = "ACTION")]
    pub unknown_keys: Option<UnknownKeys>,
    /// Use `serde_json::Number` instead of `f64` for fields that mix integers and fractions, so that 1 is written back as
    /// 1 and not as 1.0
    #[arg(long)]
    pub exact_numbers: bool,
    /// Use `f64` for fields that mix integers and fractions (the default)
    #[arg(long, hide = true, conflicts_with = "exact_numbers")]
    pub floats: bool,
    /// Use plain strings instead of enums of strings
    #[arg(long)]
    pub no_enums: bool,
    /// Override one decision of the inference, as PATH=WHAT: map, struct, string, enum, skip, tag=KEY, or the name of a
    /// type, such as $.users=map; also as `set = ["$.users=map"]` below `[shape]` in dwell.toml
    #[arg(long, value_name = "PATH=WHAT")]
    pub set: Vec<overrides::Override>,
    /// Derive further traits, such as Eq or `schemars::JsonSchema`
    #[arg(long, value_name = "TRAITS", value_delimiter = ',')]
    pub derive: Vec<String>,
    /// The name of the type of a document
    #[arg(long, value_name = "NAME", default_value = style::DOCUMENT)]
    pub root: String,
    /// The visibility of types and fields: pub, pub(crate) or pub(super)
    #[arg(long, value_name = "VISIBILITY", default_value = "pub")]
    pub visibility: String,
    /// Let strings borrow from the JSON text, as `Cow<'a, str>`; a string with escapes owns a copy
    #[arg(long)]
    pub borrow: bool,
    /// Write no counts in comments, and sort variants by name, so that the file changes only if the types do
    #[arg(long)]
    pub plain: bool,
    /// Use the types of these crates for strings that are all UUIDs, dates or absolute URLs, if they are written back
    /// unchanged
    #[arg(long, value_enum, value_name = "CRATES", value_delimiter = ',')]
    pub text: Vec<TextType>,
    /// Cross-validate: infer types from four fifths of the documents and test them on the rest, in K rounds (5 test
    /// every document once); print how many documents do not load or are written back differently
    #[arg(long, value_name = "K", value_parser = clap::value_parser!(u32).range(1..=20))]
    pub held_out: Option<u32>,
    /// Write intermediate counts to PART, for a later --merge, and print no report
    #[arg(long, value_name = "PART")]
    pub save: Option<PathBuf>,
    /// Report on the part files that --save wrote, on this machine or on others
    #[arg(long, value_name = "PART", num_args = 1.., conflicts_with_all = ["paths", "sample", "held_out", "form"])]
    pub merge: Vec<PathBuf>,
    /// Write the form of the documents (which objects are unions, maps or one recursive type) to FORM, for a later
    /// --form, and print no report; reads at most 64 MiB
    #[arg(long, value_name = "FORM", conflicts_with_all = ["merge", "save", "form", "held_out"])]
    pub save_form: Option<PathBuf>,
    /// Use the form that --save-form wrote, instead of inferring one; parts with one form merge to the output of one run
    #[arg(long, value_name = "FORM")]
    pub form: Option<PathBuf>,
    /// Write the report to FILE as an HTML page: icicle charts of live bytes by JSON path, suggestions, and a
    /// searchable table
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,
    /// Hold the types in this Rust file against the data: the bytes of their fields, what they refuse, lose and never
    /// see, and what to change; modules that the file declares are read too
    #[arg(long, value_name = "FILE", conflicts_with_all = ["rust", "html", "json_schema", "held_out", "save", "save_form"])]
    pub against: Option<PathBuf>,
    /// The type of a document in the file of --against
    #[arg(long = "type", value_name = "NAME", requires = "against")]
    pub type_name: Option<String>,
    /// Write the types to FILE as a JSON Schema, which accepts what the lean types accept
    #[arg(long, value_name = "FILE")]
    pub json_schema: Option<PathBuf>,
    /// Overwrite the files of --rust, --html, --json-schema, --save and --save-form
    #[arg(long)]
    pub force: bool,
    /// The output format
    #[arg(long, value_enum, default_value_t)]
    pub format: Format,
    /// Print only the N suggestions with the largest savings and the N largest records
    #[arg(long, value_name = "N")]
    pub top: Option<usize>,
    /// Leave out suggestions that save less, such as 64K or 1MiB
    #[arg(long, value_name = "BYTES", value_parser = dwell_output::units::parse_bytes)]
    pub min_saving: Option<ByteSize>,
    /// Read only about N documents: files at even intervals, and the first lines of JSON Lines files
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub sample: Option<u32>,
    /// Allow comments and trailing commas (JSONC), and read .jsonc files in folders too
    #[arg(long)]
    pub jsonc: bool,
    /// Stop at the first input that cannot be read, without a report
    #[arg(long)]
    pub strict_input: bool,
    /// Skip inputs that cannot be read (the default)
    #[arg(long, hide = true, conflicts_with = "strict_input")]
    pub keep_going: bool,
    /// Read with N threads, at most one for each 64 MiB and eight in all; the result is the same [default: one for each
    /// core]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=256))]
    pub threads: Option<u16>,
}

/// Crates with types for strings.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum TextType {
    /// `uuid::Uuid`
    Uuid,
    /// `chrono::NaiveDate`, `chrono::DateTime` for RFC 3339
    Chrono,
    /// `url::Url`
    Url,
}

/// How types treat unknown keys.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum UnknownKeys {
    /// Drop them
    Ignore,
    /// Keep them in a map of `serde_json::Value`
    Keep,
    /// Fail to load the document
    Refuse,
}

/// Runs `cargo dwell shape`.
///
/// # Errors
/// Returns an error if an input cannot be read and must not be skipped, if a file exists and must not be overwritten,
/// or if output cannot be written.
pub fn run(args: &ShapeArgs) -> Result<ExitCode> {
    let targets = [
        ("--rust", &args.rust),
        ("--html", &args.html),
        ("--json-schema", &args.json_schema),
        ("--save", &args.save),
        ("--save-form", &args.save_form),
    ];
    for (option, file) in targets {
        if let Some(file) = file {
            check_target(option, file, args.force)?;
        }
    }
    style(args).check()?;
    let overrides = [overrides::configured()?, args.set.clone()].concat();
    if !args.merge.is_empty() {
        if let Some(file) = &args.save {
            part::join(&args.merge, file, args.force)?;
            return Ok(ExitCode::SUCCESS);
        }
        let accumulator = part::merge(&args.merge)?;
        return finish(args, accumulator, &overrides, &[]);
    }
    let form = args.form.as_deref().map(part::form).transpose()?;
    let mut found = if args.paths.is_empty() { input::sample() } else { input::find_jsonc(&args.paths, args.jsonc) };
    if args.paths.is_empty() {
        eprintln!("note: no path given; using a built-in sample of {} service models", found.inputs.len());
    }
    let keep_going = !args.strict_input;
    if !keep_going && !found.problems.is_empty() {
        return Err(found.problems.swap_remove(0).into());
    }
    let files = found.inputs.len();
    if let Some(texts) = args.sample {
        let each = plural(found.sample(texts as usize), "document");
        let files = plural(files as u64, "file");
        eprintln!("note: sample: reading {} of {files}, at most {each} of each", found.inputs.len());
    }
    if let Some(file) = &args.save_form {
        // Inputs that cannot be read are skipped: the run that reads them all reports them.
        let form = input::form(&found, &overrides);
        let documents = form.documents();
        if documents == 0 {
            bail!("no input could be read");
        }
        part::save_form(file, args.force, form)?;
        print_problems(&found.problems);
        return Ok(exit_code(&found.problems, documents));
    }

    let progress = progress(found.inputs.iter().map(input::Input::size).sum());
    let options = input::Options {
        threads: args.threads.map_or(0, usize::from),
        keep_going,
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
    if !keep_going && !reading.problems.is_empty() {
        return Err(reading.problems.swap_remove(0).into());
    }
    let mut left_out = std::mem::take(&mut found.problems);
    left_out.append(&mut reading.problems);
    print_problems(&left_out);
    if let Some(rounds) = args.held_out {
        held_out::print(&found, rounds, rules(args));
    }
    finish(args, reading.accumulator, &overrides, &left_out)
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
    if let Some(path) = overrides::apply(overrides, &mut schema).first() {
        bail!("the types have nothing at {path}");
    }
    if style.plain {
        schema.sort_variants();
    }
    schema.style = style;
    Ok(Plan::new(&schema).rust(set))
}

/// The number of problems that are printed; a summary counts the others.
const SHOWN: usize = 50;

fn print_problems(problems: &[input::Problem]) {
    for problem in problems.iter().take(SHOWN) {
        eprintln!("error: {problem}");
    }
    if problems.len() > SHOWN {
        eprintln!("error: {} with errors", plural((problems.len() - SHOWN) as u64, "more input"));
    }
}

/// Returns the options that decide how the types are written.
fn style(args: &ShapeArgs) -> Style {
    Style {
        plain: args.plain,
        derives: args.derive.clone(),
        visibility: args.visibility.clone(),
        root: args.root.clone(),
        borrow: args.borrow,
    }
}

/// Returns the options that decide which values the types accept.
fn rules(args: &ShapeArgs) -> held_out::Rules {
    let has = |of| args.text.contains(&of);
    held_out::Rules {
        strict: args.strict,
        exact_numbers: args.exact_numbers,
        unknown: args.unknown_keys,
        typed: formats::Typed { uuid: has(TextType::Uuid), chrono: has(TextType::Chrono), url: has(TextType::Url) },
    }
}

/// Saves or reports the counts.
fn finish(
    args: &ShapeArgs,
    mut accumulator: infer::Accumulator,
    overrides: &[Override],
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
        bail!("no input could be read");
    }
    rules(args).apply(&mut schema);
    for path in overrides::apply(overrides, &mut schema) {
        eprintln!("note: --set: the types have nothing at {path}");
    }
    if args.no_enums {
        schema.drop_keywords();
    }
    if args.plain {
        schema.sort_variants();
    }
    schema.style = style(args);
    if let Some(file) = &args.against {
        let report = against::compare(&schema, file, args.type_name.as_deref())?;
        let mut out = io::BufWriter::new(anstream::stdout().lock());
        let written = report.write(args.format, args.top, &mut out).and_then(|()| out.flush());
        written.or_else(|error| if error.kind() == io::ErrorKind::BrokenPipe { Ok(()) } else { Err(error) })?;
        return Ok(exit_code(left_out, schema.documents));
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
    let min_saving = args.min_saving.map_or(0, |size| size.as_u64());
    let options = report::Options { top: args.top, min_saving, width: None, sampled: args.sample.is_some() };
    let mut out = io::BufWriter::new(anstream::stdout().lock());
    let written = plan.write(args.format, &options, &mut out);
    match written.and_then(|()| out.flush()) {
        // A closed pipe is not an error.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        written => written.context("standard output"),
    }
}
