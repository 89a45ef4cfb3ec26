//! The files that a report can be written to. A new format is a file here and a line in [`FORMATS`].

use super::diff::Diff;
use super::format::FileFormat;
use super::{dhat, folded, html, pprof, saved};
use anyhow::Result;
use clap::{Arg, ArgMatches, Args, Command, FromArgMatches, value_parser};
use dwell_heap::json::Document;
use std::path::{Path, PathBuf};

/// All formats, in the order of the help.
const FORMATS: &[&dyn FileFormat] = &[&folded::Folded, &dhat::DhatFile, &pprof::Pprof, &html::Html];

/// The files to write, from the options of [`FORMATS`].
#[derive(Clone, Debug, Default)]
pub struct Files {
    /// The file of each format, in the order of [`FORMATS`].
    files: Vec<Option<PathBuf>>,
}

impl Files {
    /// Returns the files.
    pub(crate) fn paths(&self) -> impl Iterator<Item = &Path> {
        self.files.iter().flatten().map(PathBuf::as_path)
    }

    /// Writes each file.
    ///
    /// # Errors
    /// Returns an error if a file cannot be written.
    pub(crate) fn write(&self, document: &Document, diff: Option<&Diff>) -> Result<()> {
        for (format, file) in FORMATS.iter().zip(&self.files) {
            if let Some(file) = file {
                saved::write(file, |out| format.write(document, diff, out))?;
            }
        }
        Ok(())
    }
}

impl FromArgMatches for Files {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        Ok(Self { files: FORMATS.iter().map(|format| matches.get_one(format.option()).cloned()).collect() })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

impl Args for Files {
    fn augment_args(command: Command) -> Command {
        FORMATS.iter().fold(command, |command, format| {
            let option = Arg::new(format.option()).long(format.option()).help(format.help());
            command.arg(option.value_name("FILE").value_parser(value_parser!(PathBuf)))
        })
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}
