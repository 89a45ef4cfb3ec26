//! A program that starts others: `starts SESSIONS STEP..` makes so many sessions, which live to its end, and does the steps: `fork=N`
//! forks a process that makes N more, `spawn=N` starts itself with N, `cleared=N` does that without its environment, `exec=N` becomes
//! itself with N, `leave=N` starts itself with N and does not wait for it, `killed=N` starts itself with N, which SIGKILL ends,
//! `mark=FILE` makes a file, `threads` lets threads allocate meanwhile.
use std::hint::black_box;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, exit};
use std::time::Duration;

unsafe extern "C" {
    fn fork() -> i32;
    fn kill(pid: i32, signal: i32) -> i32;
    fn waitpid(pid: i32, status: *mut i32, options: i32) -> i32;
    fn _exit(code: i32) -> !;
}

struct Session {
    user: Box<[u64; 12]>,
}

#[inline(never)]
fn sessions(count: u64) -> Vec<Session> {
    (0..count).map(|number| Session { user: Box::new([number; 12]) }).collect()
}

fn itself(count: &str) -> Command {
    let mut command = Command::new(std::env::current_exe().expect("a path"));
    command.arg(count);
    command
}

fn main() {
    let mut steps = std::env::args().skip(1);
    let count = steps.next().and_then(|count| count.parse().ok()).expect("a number");
    let mut all = vec![sessions(count)];
    let mut started: Vec<Child> = Vec::new();
    for step in steps {
        let (what, count) = step.split_once('=').unwrap_or((&step, "0"));
        match what {
            "fork" => {
                // SAFETY: the child allocates, which glibc allows after `fork`, and ends by `_exit`.
                let pid = unsafe { fork() };
                if pid == 0 {
                    all.push(sessions(count.parse().expect("a number")));
                    black_box(&all.iter().flatten().map(|session| session.user[0]).sum::<u64>());
                    // SAFETY: the process ends here.
                    unsafe { _exit(0) };
                }
                let mut status = 0;
                // SAFETY: the call writes to a local.
                assert_eq!(unsafe { waitpid(pid, &raw mut status, 0) }, pid);
                assert_eq!(status, 0);
                // The process has no other child.
                // SAFETY: the call writes to a local.
                assert_eq!(unsafe { waitpid(-1, &raw mut status, 0) }, -1);
            }
            "spawn" => started.push(itself(count).spawn().expect("it starts")),
            "cleared" => started.push(itself(count).env_clear().spawn().expect("it starts")),
            "killed" => assert!(!itself(count).arg("kill").status().expect("it starts").success()),
            // SAFETY: the call takes numbers.
            "kill" => assert_eq!(unsafe { kill(std::process::id() as i32, 9) }, 0),
            "mark" => std::fs::write(count, "").expect("a file"),
            "leave" => drop(itself(count).arg("stay").spawn().expect("it starts")),
            "stay" => std::thread::sleep(Duration::from_secs(2)),
            "exec" => panic!("{}", itself(count).exec()),
            _ => {
                for _ in 0..3 {
                    std::thread::spawn(|| {
                        for size in (1..).map(|round| 1 + round * 37 % 5000) {
                            black_box(vec![1_u8; size]);
                        }
                    });
                }
            }
        }
    }
    for mut child in started {
        assert!(child.wait().expect("it ends").success());
    }
    black_box(&all.iter().flatten().map(|session| session.user[0]).sum::<u64>());
    // The sessions are live at the end.
    exit(0);
}
