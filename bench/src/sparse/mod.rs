//! `dwell::sparse` in a real program: service models loaded and kept, in one layout after the other.

mod arena;
mod canonical;
mod holders;
mod intern;
mod layouts;
mod load;

use anyhow::Result;
use std::path::Path;

pub(crate) use load::Task;

pub(crate) fn run(models: &Path, rounds: usize) -> Result<()> {
    for &layout in load::LAYOUTS {
        let counted = load::measure(layout, models, true)?;
        println!("{} {counted:?}", layout.name);
    }
    for _ in 0..rounds {
        let mut naive = 0.0;
        for &layout in load::LAYOUTS {
            let time = load::measure(layout, models, false)?.cpu_ms;
            if naive == 0.0 {
                naive = time;
            }
            print!(" {}: {time:.1} {:.3}", layout.name, time / naive);
        }
        println!();
    }
    Ok(())
}
