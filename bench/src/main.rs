//! Dwell beside its peers, measured in one run.

mod count;
mod row;
mod sparse;

use clap::Parser;

#[derive(Parser)]
enum Cli {
    Sparse { models: std::path::PathBuf },
    Load(sparse::Task),
}

fn main() -> anyhow::Result<()> {
    match Cli::parse() {
        Cli::Sparse { models } => sparse::run(&models, 5),
        Cli::Load(task) => task.answer(),
    }
}
