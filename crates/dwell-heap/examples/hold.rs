//! What `cargo dwell census --pid` does to a program of any language: starts a command, and stops it every MILLIS for 20 ms
//! until it ends. `cargo run -p dwell-heap --example hold -- MILLIS COMMAND ARGUMENTS..`

#[cfg(agent)]
fn main() -> anyhow::Result<()> {
    use anyhow::{Context as _, bail};
    use dwell_heap::outside;
    use std::process::Command;
    use std::time::{Duration, Instant};

    let arguments: Vec<_> = std::env::args_os().skip(1).collect();
    let [millis, command, arguments @ ..] = &arguments[..] else { bail!("name the milliseconds and a command") };
    let every = Duration::from_millis(millis.to_str().unwrap_or_default().parse().context("milliseconds")?);
    let start = Instant::now();
    let mut child = Command::new(command).args(arguments).spawn()?;
    let mut pauses = Vec::new();
    let status = loop {
        std::thread::sleep(every);
        if let Some(status) = child.try_wait()? {
            break status;
        }
        // It may end in this moment.
        pauses.extend(outside::hold(child.id().cast_signed(), Duration::from_millis(20)));
    };
    let longest = pauses.iter().max().copied().unwrap_or_default();
    eprintln!("{status} after {:.1?}, stopped {} times for {longest:.1?} at most", start.elapsed(), pauses.len());
    Ok(())
}

#[cfg(not(agent))]
fn main() {
    eprintln!("`cargo dwell census --pid` needs Linux on x86-64 or aarch64");
}
