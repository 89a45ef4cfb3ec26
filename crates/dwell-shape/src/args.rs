//! The arguments of the command.

use crate::overrides;
use crate::plan::Set;
use crate::report::Format;
use clap::Args;
use std::path::PathBuf;

/// The arguments of `cargo dwell shape`.
#[derive(Debug, Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a switch of the command line")]
#[command(
    after_help = "Exit code: 0 on success, 2 if an input could not be read (the report covers the rest) or for wrong usage."
)]
pub struct ShapeArgs {
    /// Files, folders with JSON (by the ending, or if it begins as JSON; also .gz and .zst), `-` for standard input; without
    /// a path, reads what is piped in, or a built-in sample
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
    /// Override a decision of the inference, as PATH=WHAT: map, struct, string, enum, value, skip, tag=KEY, untagged, no-other,
    /// null=missing, exact, or the name of a type (one name for one type, two for two). In a PATH `..` stands for any steps
    /// and `.*` for any key: $.users=map, $..permissions.*=Level; `$..=string` is for all strings. @FILE reads decisions, one
    /// a line; if there is no FILE, those of this run are written to it, so that the types stay what they are when the data
    /// changes
    #[arg(long, value_name = "PATH=WHAT|@FILE")]
    pub set: Vec<overrides::Value>,
    /// Derive further traits, such as Eq or `schemars::JsonSchema`
    #[arg(long, value_name = "TRAITS", value_delimiter = ',')]
    pub derive: Vec<String>,
    /// The name of the type of a document, also in the file of --against; for documents of several types, once for each, with
    /// the files that have it (a file, a folder, or a pattern such as orders/**/*.json) [default: Document]
    #[arg(long, alias = "type", value_name = "[FILES=]NAME", conflicts_with_all = ["save", "form", "json_schema"])]
    pub root: Vec<String>,
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
    /// Write the counts of this part of the data to PART and print no report; part files as paths are added up
    #[arg(long, value_name = "PART")]
    pub save: Option<PathBuf>,
    /// Read by the form in FORM (which objects are unions, maps or one recursive type), so that parts add up to the output of
    /// one run; if there is no FORM, only write that of the data, by at most 64 MiB of it
    #[arg(long, value_name = "FORM", conflicts_with = "held_out")]
    pub form: Option<PathBuf>,
    /// Write the report to FILE as an HTML page: icicle charts of live bytes by JSON path, suggestions, and a
    /// searchable table
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,
    /// Hold the types in this Rust file against the data: the bytes of their fields, what they refuse, lose and never
    /// see, and what to change; modules that the file declares are read too
    #[arg(long, value_name = "FILE", conflicts_with_all = ["rust", "html", "json_schema", "held_out", "save", "form", "set"])]
    pub against: Option<PathBuf>,
    /// Take names, maps and tags from a JSON Schema or an `OpenAPI` document, and list how the data differs from it; a pointer
    /// names a schema in the file: openapi.json#/components/schemas/Order
    #[arg(long, value_name = "FILE[#POINTER]", conflicts_with_all = ["against", "save", "form"])]
    pub schema: Option<String>,
    /// Write the types to FILE as a JSON Schema, which accepts what the lean types accept
    #[arg(long, value_name = "FILE")]
    pub json_schema: Option<PathBuf>,
    /// Overwrite the files of --rust, --html, --json-schema, --save and --form
    #[arg(long)]
    pub force: bool,
    /// The output format
    #[arg(long, value_enum, default_value_t)]
    pub format: Format,
    /// Print only the N suggestions with the largest savings and the N largest records
    #[arg(long, value_name = "N")]
    pub top: Option<usize>,
    /// Read only about N documents: files at even intervals, and the first lines of JSON Lines files
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub sample: Option<u32>,
    /// Allow comments and trailing commas (JSONC), and read .jsonc files in folders too
    #[arg(long)]
    pub jsonc: bool,
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
