//! What recording allocations costs: the same programs alone, under `cargo dwell census`, heaptrack and DHAT, one after the
//! other, several times.
//!
//! `cargo run -p cargo-dwell --example census_cost [ROUNDS]`. Heaptrack and valgrind are left out where they are not installed.
//! Times are processor time of the program's threads, the best of all rounds: a busy machine disturbs them less.

use dwell_heap::run::{At, Options, snapshots};
use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

/// The programs, with how often they do what they do, and how often under valgrind, which is slow.
const PROGRAMS: [(&str, u64, u64, &str); 7] = [
    ("tight", 5_000_000, 500_000, "one Box made and dropped"),
    ("deep", 5_000_000, 500_000, "the same, 40 calls deep"),
    ("ordered", 2_000_000, 200_000, "1 M live, freed in the order they were made"),
    ("random", 2_000_000, 200_000, "1 M live, freed in random order"),
    ("grow", 4 << 20, 200_000, "boxes of 256 B that stay, up to 1 GiB"),
    ("tree", 10, 1, "a text parsed to a tree of strings, lists and maps"),
    ("work", 40, 1, "hashing, with a tenth of the time in allocations"),
];

#[derive(Clone, Copy, PartialEq, Eq)]
enum Under {
    Nothing,
    Census,
    Sampled,
    Heaptrack,
    Dhat,
}

fn main() -> Result<(), Box<dyn Error>> {
    let rounds: u32 = std::env::args().nth(1).map_or(Ok(3), |rounds| rounds.parse())?;
    let folder = std::env::current_exe()?.with_file_name("census_cost_programs");
    fs::create_dir_all(&folder)?;
    let exe = folder.join("programs");
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/census_cost/programs.rs");
    let built = Command::new("rustc")
        .args(["--edition=2024", "-g", "-O", "-Cforce-frame-pointers=yes", "-o"])
        .arg(&exe)
        .arg(source)
        .status()?;
    if !built.success() {
        return Err("rustc failed".into());
    }
    let has =
        |tool: &str| Command::new(tool).arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status().is_ok();
    let mut unders = vec![Under::Nothing, Under::Census, Under::Sampled];
    unders.extend(has("heaptrack").then_some(Under::Heaptrack));
    unders.extend(has("valgrind").then_some(Under::Dhat));
    println!(
        "| program | without, ns a pair | census | `--sample 64K` | heaptrack | DHAT |\n|---|---|---|---|---|---|"
    );
    for (program, times, few, what) in PROGRAMS {
        let mut cells = vec!["-".to_owned(); 5];
        let mut alone = 0.0;
        for under in &unders {
            let times = if *under == Under::Dhat { few } else { times };
            let mut best = f64::INFINITY;
            for _ in 0..if *under == Under::Dhat { 1 } else { rounds } {
                best = best.min(measure(&exe, program, times, *under, &folder)?);
            }
            if *under == Under::Nothing {
                alone = best;
                cells[0] = format!("{best:.0}");
            } else {
                cells[*under as usize] = format!("+{:.0} ({:.2} x)", best - alone, best / alone);
            }
        }
        println!("| {what} | {} |", cells.join(" | "));
    }
    println!("\n| MiB in blocks of 256 B | longest pause without, ms | with two snapshots |\n|--:|--:|--:|");
    for mib in [64, 256, 1024] {
        let mut cells = Vec::new();
        for under in [Under::Nothing, Under::Census] {
            let (mut least, mut most) = (f64::INFINITY, 0.0_f64);
            for _ in 0..rounds {
                let pause = pause(&exe, mib, under, &folder)?;
                (least, most) = (least.min(pause), most.max(pause));
            }
            cells.push(format!("{least:.1} to {most:.1}"));
        }
        println!("| {mib} | {} |", cells.join(" | "));
    }
    Ok(())
}

/// The longest time for which the program did not run, in milliseconds.
fn pause(exe: &Path, mib: u64, under: Under, folder: &Path) -> Result<f64, Box<dyn Error>> {
    let result = folder.join("result");
    let arguments = ["pause".into(), mib.to_string().into(), result.clone().into_os_string()];
    if under == Under::Census {
        let at = [3, 4].map(|seconds| At::After(Duration::from_secs(seconds))).to_vec();
        snapshots(exe, &arguments, &Options { at, cache: Some(folder.to_owned()), ..Options::default() })?;
    } else if !Command::new(exe).args(&arguments).status()?.success() {
        return Err("the program failed".into());
    }
    Ok(fs::read_to_string(result)?.trim().parse()?)
}

/// Nanoseconds of processor time for an allocation and its free.
fn measure(exe: &Path, program: &str, times: u64, under: Under, folder: &Path) -> Result<f64, Box<dyn Error>> {
    let result: PathBuf = folder.join("result");
    let arguments = [program.into(), times.to_string().into(), result.clone().into_os_string()];
    let sample = (under == Under::Sampled).then_some(64 << 10);
    let mut command = match under {
        Under::Census | Under::Sampled => {
            let options = Options { at: vec![At::Peak], sample, cache: Some(folder.to_owned()), ..Options::default() };
            snapshots(exe, &arguments, &options)?;
            return Ok(fs::read_to_string(result)?.trim().parse()?);
        }
        Under::Nothing => Command::new(exe),
        Under::Heaptrack => {
            let mut command = Command::new("heaptrack");
            command.arg("--output").arg(folder.join("heaptrack")).arg(exe);
            command
        }
        Under::Dhat => {
            let mut command = Command::new("valgrind");
            command.arg("--tool=dhat").arg(format!("--dhat-out-file={}", folder.join("dhat").display())).arg(exe);
            command
        }
    };
    let status = command.args(arguments).stdout(Stdio::null()).stderr(Stdio::null()).status()?;
    if !status.success() {
        return Err(format!("{program} failed").into());
    }
    Ok(fs::read_to_string(result)?.trim().parse()?)
}
