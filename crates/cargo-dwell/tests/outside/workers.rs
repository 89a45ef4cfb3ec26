//! A server that forks two workers, which have 1,000 and 2,000 sessions; the server itself has 500. It waits for the end of its
//! standard input, or runs its arguments as a command, with its own number as the last one.
use std::hint::black_box;
use std::io::{Read, Write};

unsafe extern "C" {
    fn fork() -> i32;
    fn kill(pid: i32, signal: i32) -> i32;
    fn pause() -> i32;
    fn prctl(option: i32, value: u64) -> i32;
}

struct Session {
    user: Box<[u64; 12]>,
}

struct Server {
    sessions: Vec<Session>,
}

fn main() {
    let mut server = Server { sessions: (0..500).map(|number| Session { user: Box::new([number; 12]) }).collect() };
    let mut ready = Vec::new();
    let mut workers = Vec::new();
    for number in 1..3 {
        let (mut from, mut to) = std::io::pipe().expect("a pipe");
        // SAFETY: the program has one thread.
        let pid = unsafe { fork() };
        if pid == 0 {
            // SAFETY: the worker gets SIGKILL when its parent ends.
            unsafe { prctl(1, 9) };
            let more = |number| Session { user: Box::new([number; 12]) };
            server.sessions.extend((500..1000 * number).map(more));
            to.write_all(b"!").expect("the server reads it");
            loop {
                // SAFETY: waits for a signal.
                unsafe { pause() };
                black_box(&server.sessions.first().map(|session| session.user[0]));
            }
        }
        drop(to);
        from.read_exact(&mut [0]).expect("the worker says so");
        ready.push(from);
        workers.push(pid);
    }
    let command: Vec<String> = std::env::args().skip(1).collect();
    if let [program, arguments @ ..] = &command[..] {
        let own = std::process::id().to_string();
        let status = std::process::Command::new(program).args(arguments).arg(own).status().expect("it runs");
        assert!(status.success());
    } else {
        println!("ready");
        let _ = std::io::stdin().read(&mut [0]);
    }
    for pid in workers {
        // SAFETY: a child that was not waited for.
        unsafe { kill(pid, 9) };
    }
    black_box(&server.sessions.first().map(|session| session.user[0]));
}
