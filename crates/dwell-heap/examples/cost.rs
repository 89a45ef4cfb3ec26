//! What a census costs: runs a command under it, or looks at a process, and prints the CPU time and the memory of this tool with the
//! first findings. `cargo run --release -p dwell-heap --example cost -- pid PID`, or `.. -- run COMMAND ARGUMENTS..`

#[cfg(agent)]
fn main() -> anyhow::Result<()> {
    use anyhow::{Context as _, bail};
    use dwell_heap::run::{At, Options, snapshots};
    use dwell_heap::{Ran, census, from_outside, outside};
    use std::mem::zeroed;
    use std::time::Instant;

    let arguments: Vec<_> = std::env::args_os().skip(1).collect();
    let [what, target, rest @ ..] = &arguments[..] else { bail!("name `pid PID` or `run COMMAND`") };
    let start = Instant::now();
    let document = if what == "pid" {
        let pid = target.to_str().and_then(|pid| pid.parse().ok()).context("a number")?;
        let captured = outside::attach(pid, None, None)?;
        let executable = captured.executable().to_owned();
        let (snapshot, _) = captured.snapshot()?;
        from_outside(&Ran { executable, ..Ran::default() }, &mut [snapshot])?
    } else {
        let mut run = snapshots(target.as_ref(), rest, &Options { at: vec![At::Peak], ..Options::default() })?;
        run.notes.iter().for_each(|note| eprintln!("note: {note}"));
        census(&Ran { executable: target.into(), ..Ran::default() }, &mut run.snapshots)?
    };
    // SAFETY: all bytes of the struct may be zero.
    let mut usage: libc::rusage = unsafe { zeroed() };
    // SAFETY: the call writes to a local.
    unsafe { libc::getrusage(libc::RUSAGE_SELF, &raw mut usage) };
    let seconds = |time: libc::timeval| time.tv_sec as f64 + time.tv_usec as f64 / 1e6;
    let (user, sys) = (seconds(usage.ru_utime), seconds(usage.ru_stime));
    eprintln!(
        "the tool: {user:.2} s user, {sys:.2} s sys, {} MB at most; {:.1} s in all",
        usage.ru_maxrss / 1024,
        start.elapsed().as_secs_f64()
    );
    for snapshot in &document.snapshots {
        let part = |bytes: u64| bytes as f64 * 100.0 / snapshot.live_bytes.max(1) as f64;
        println!(
            "{}: {} B live in {} blocks, {:.2} % typed, {:.2} % owned",
            snapshot.at,
            snapshot.live_bytes,
            snapshot.live_blocks,
            part(snapshot.typed_bytes),
            part(snapshot.owned_bytes)
        );
        for finding in snapshot.findings.iter().take(5) {
            let of_crate = finding.dependency.as_deref().unwrap_or("own");
            println!(
                "{} ({of_crate}) {}: {} B, {}: {}",
                finding.kind, finding.location, finding.saves, finding.why, finding.how
            );
        }
    }
    Ok(())
}

#[cfg(not(agent))]
fn main() {
    eprintln!("a census needs Linux on x86-64 or aarch64");
}
