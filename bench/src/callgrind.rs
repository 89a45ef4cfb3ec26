//! Instructions per operation: runs an operation N and 2N times under callgrind, and divides the difference by N.
//!
//! Work that is done once cancels out, and only the runs are counted. This program runs once under valgrind for many
//! operations and forks for each, so that every count starts from the same heap. The count is the same on every run of
//! one binary.

use anyhow::{Context, Result, bail};
use std::collections::HashMap;
use std::io::{self, BufRead, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

pub(crate) use dwell_bench_real::valgrind as version;

use crate::op::{LOOP, Suite, repeat};
use crate::row::Row;

/// The number of operations. It makes the random difference between two runs, a few instructions in the allocator,
/// negligible. It is a multiple of the number of rounds between resets of arenas.
static OPERATIONS: AtomicUsize = AtomicUsize::new(80_000);

/// The modules in which every operation does the same work, so that a few operations give the same count. A future of 4
/// KiB takes half a millisecond under callgrind.
const UNIFORM: [&str; 3] = ["pin", "tower", "sorted-map"];
/// The number of operations in these modules.
const FEW: usize = 10_000;

/// Counts fewer operations from now on. Counts of periodic work, such as growth, then differ.
pub(crate) fn be_quick() {
    OPERATIONS.store(10_000, Relaxed);
}

/// Counts so few operations from now on that only orders of magnitude are reliable.
pub(crate) fn be_coarse() {
    OPERATIONS.store(2_000, Relaxed);
}

/// Returns a row for each operation of `suite` that `wanted` selects. The empty loop is a separate subject.
///
/// Ratios compare the numbers without the loop.
pub(crate) fn rows(suite: &Suite, wanted: impl Fn(&str, &str) -> bool) -> Result<Vec<Row>> {
    let mut picked = Vec::new();
    let mut needed = Vec::new();
    for workload in suite.workloads() {
        let subjects: Vec<_> =
            suite.ops_of(workload).map(|op| op.subject).filter(|subject| wanted(workload, subject)).collect();
        if subjects.is_empty() {
            continue;
        }
        for subject in suite.ops_of(workload).map(|op| op.subject) {
            if [LOOP, suite.baseline].contains(&subject) || subjects.contains(&subject) {
                needed.push((workload, subject));
            }
        }
        picked.push((workload, subjects));
    }
    let counts = counts(suite.module, &needed)?;
    let mut rows = Vec::new();
    for (workload, subjects) in picked {
        let bare = counts.get(&(workload, LOOP)).copied().unwrap_or_default();
        let baseline = *counts.get(&(workload, suite.baseline)).context("a suite has its baseline")?;
        for subject in subjects {
            let value = counts[&(workload, subject)];
            rows.push(Row {
                module: suite.module,
                workload: workload.to_owned(),
                subject: subject.to_owned(),
                metric: "ir",
                value,
                unit: "ir",
                baseline: suite.baseline.to_owned(),
                ratio: (value - bare) / (baseline - bare),
            });
        }
    }
    Ok(rows)
}

/// Returns the instructions of each operation. Runs one process for each core at a time.
fn counts<'a>(module: &str, ops: &[(&'a str, &'a str)]) -> Result<HashMap<(&'a str, &'a str), f64>> {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let mut operations = OPERATIONS.load(Relaxed);
    if UNIFORM.contains(&module) {
        operations = operations.min(FEW);
    }
    let shares: Vec<Vec<_>> = (0..cores).map(|core| ops.iter().copied().skip(core).step_by(cores).collect()).collect();
    let counts = std::thread::scope(|scope| -> Result<Vec<_>> {
        let running: Vec<_> = shares
            .iter()
            .filter(|share| !share.is_empty())
            .map(|share| (share, scope.spawn(move || totals(module, share, operations))))
            .collect();
        let mut counts = Vec::new();
        for (share, thread) in running {
            let totals = thread.join().expect("a thread that counts does not panic")?;
            let per_operation = |pair: &[Total]| {
                (pair[1].instructions as f64 - pair[0].instructions as f64)
                    / (pair[1].operations - pair[0].operations) as f64
            };
            counts.extend(share.iter().copied().zip(totals.chunks(2).map(per_operation)));
        }
        Ok(counts)
    })?;
    Ok(counts.into_iter().collect())
}

/// The operations and instructions of one process.
struct Total {
    operations: usize,
    instructions: u64,
}

/// Runs each operation N times and 2N times, in turn.
fn totals(module: &str, ops: &[(&str, &str)], operations: usize) -> Result<Vec<Total>> {
    let program = std::env::current_exe()?;
    let (Some(folder), Some(name)) = (program.parent(), program.file_name()) else {
        bail!("{} is not the path of a program", program.display());
    };
    let mut child = Command::new("valgrind")
        .args(["--tool=callgrind", "--callgrind-out-file=/dev/null", "--instr-atstart=no"])
        // A relative path, which is the same in each folder: the program copies it to the heap, and the counts of some peers
        // depend on its length (`BoxCloneService` with "eight/clone+request": 3,750 to 3,888 instructions).
        .arg(Path::new(".").join(name))
        .current_dir(folder)
        .args(["operate", module])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .context("cannot run valgrind")?;
    let mut jobs = child.stdin.take().context("no pipe to valgrind")?;
    let line = |(workload, subject): &(&str, &str)| format!("{workload}\t{subject}\t{operations}\t1\t2\n");
    let text = ops.iter().map(line).collect::<String>();
    // A separate thread writes the jobs: they may exceed the pipe's buffer, and the child reads them while operations
    // run.
    let writer = std::thread::spawn(move || jobs.write_all(text.as_bytes()));
    let output = child.wait_with_output()?;
    let written = writer.join().expect("a thread that writes does not panic");
    let messages = String::from_utf8_lossy(&output.stderr);
    if !output.status.success() {
        bail!("valgrind failed on {module}: {}", messages.lines().last().unwrap_or_default());
    }
    written?;
    let processes = String::from_utf8_lossy(&output.stdout);
    let count = |line: &str| {
        let (operations, process) = line.split_once(' ').with_context(|| format!("a process printed '{line}'"))?;
        let instructions = collected(&messages, process)
            .with_context(|| format!("callgrind gave no count for process {process} of {module}"))?;
        Ok(Total { operations: operations.parse()?, instructions })
    };
    let totals: Vec<Total> = processes.lines().map(count).collect::<Result<_>>()?;
    if totals.len() != 2 * ops.len() {
        bail!("valgrind counted {} of {} runs of {module}", totals.len(), 2 * ops.len());
    }
    Ok(totals)
}

/// Returns the number in a process's line `==1234== Collected : 5678`.
fn collected(messages: &str, process: &str) -> Option<u64> {
    let of_process = |line: &&str| line.split("==").nth(1) == Some(process) && line.contains("Collected");
    let (_, count) = messages.lines().find(of_process)?.rsplit_once(':')?;
    count.trim().parse().ok()
}

/// Runs under callgrind. For each line of standard input it forks a process that prepares the operation, which forks
/// another process for each run. Prints the number of operations and the process id of each run.
pub(crate) fn operate(suite: &Suite) -> Result<()> {
    for line in io::stdin().lock().lines() {
        let line = line?;
        let mut fields = line.split('\t');
        let mut field = || fields.next().with_context(|| format!("not an operation: {line}"));
        let (workload, subject, operations) = (field()?, field()?, field()?.parse()?);
        let times: Vec<usize> = fields.map(str::parse).collect::<Result<_, _>>()?;
        let op = suite.find(workload, subject).with_context(|| format!("no such operation: {line}"))?;
        in_child(|| {
            let mut run = (op.prepare)();
            for times in times {
                let process = in_child(|| {
                    request(START);
                    let done = repeat(&mut run, operations, times);
                    request(STOP);
                    say(&format!("{done} "))
                })?;
                say(&format!("{process}\n"))?;
            }
            Ok(())
        })?;
    }
    Ok(())
}

/// Prints and flushes, since these processes exit without flushing.
fn say(text: &str) -> Result<()> {
    let mut out = io::stdout();
    out.write_all(text.as_bytes())?;
    Ok(out.flush()?)
}

/// Runs `f` in a forked process and returns the process id.
#[cfg(unix)]
fn in_child(f: impl FnOnce() -> Result<()>) -> Result<libc::pid_t> {
    // SAFETY: `fork` restricts the child to async-signal-safe functions only if the process has several threads. A
    // process of `operate` starts no thread, so the child may call any function.
    let process = unsafe { libc::fork() };
    if process == 0 {
        let code = f().map_or_else(
            |error| {
                eprintln!("error: {error:#}");
                1
            },
            |()| 0,
        );
        // SAFETY: `_exit` has no preconditions. It flushes no buffers, so nothing is printed twice.
        unsafe { libc::_exit(code) };
    }
    if process < 0 {
        return Err(io::Error::last_os_error().into());
    }
    let mut status = 0;
    // SAFETY: `waitpid` writes one `c_int` through the pointer, which comes from the live local `status` of that type.
    let waited = unsafe { libc::waitpid(process, &raw mut status, 0) };
    if waited != process || status != 0 {
        bail!("an operation ended with status {status}");
    }
    Ok(process)
}

const START: u64 = 0x4354_0004;
const STOP: u64 = 0x4354_0005;

/// Requests callgrind to start or stop counting, by a sequence of instructions without effect that valgrind recognises.
#[cfg(target_arch = "x86_64")]
fn request(code: u64) {
    let arguments = [code, 0, 0, 0, 0, 0];
    // SAFETY: without valgrind, the rotations of `rdi` by 128 bits in total and the exchange of `rbx` with itself leave
    // all registers unchanged. Under valgrind, the request reads the six words of `arguments`, a live local to which
    // `rax` points, and writes `rdx`, which is declared as an output. The sequence does not touch the stack.
    unsafe {
        std::arch::asm!(
            "rol rdi, 3", "rol rdi, 13", "rol rdi, 61", "rol rdi, 51", "xchg rbx, rbx",
            in("rax") arguments.as_ptr(),
            inout("rdx") 0_u64 => _,
            options(nostack),
        );
    }
}

/// Requests callgrind to start or stop counting, by valgrind's sequence for this processor.
#[cfg(target_arch = "aarch64")]
fn request(code: u64) {
    let arguments = [code, 0, 0, 0, 0, 0];
    // SAFETY: without valgrind, the rotations of `x12` by 128 bits in total and the `orr` of `x10` with itself leave
    // all registers unchanged. Under valgrind, the request reads the six words of `arguments`, a live local to which
    // `x4` points, and writes `x3`, which is declared as an output. The sequence does not touch the stack.
    unsafe {
        std::arch::asm!(
            "ror x12, x12, #3", "ror x12, x12, #13", "ror x12, x12, #51", "ror x12, x12, #61", "orr x10, x10, x10",
            in("x4") arguments.as_ptr(),
            inout("x3") 0_u64 => _,
            options(nostack),
        );
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn instruction_count_is_parsed() {
        let messages =
            "==7== Events    : Ir\n==7== Collected : 123456\n==8== Collected : 5\n==7== I   refs:      123,456\n";
        assert_eq!(super::collected(messages, "7"), Some(123_456));
        assert_eq!(super::collected(messages, "8"), Some(5));
        assert_eq!(super::collected("==7== Events    : Ir", "7"), None);
    }

    #[test]
    fn client_requests_do_nothing_without_valgrind() {
        super::request(super::START);
        super::request(super::STOP);
    }
}
