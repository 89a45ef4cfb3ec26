//! A server with sessions. Commands on its standard input: `dump FILE`, `size`, `quit`.
use std::collections::{BTreeMap, HashMap};
use std::io::BufRead;
use std::sync::{Arc, Mutex};
use std::time::Duration;
struct Session { user: String, tags: Vec<String>, extra: Option<Box<[u64; 30]>> }
struct State { sessions: HashMap<u64, Session>, index: BTreeMap<String, Vec<u64>> }
fn main() {
    let n: u64 = std::env::args().nth(1).map_or(100_000, |x| x.parse().unwrap());
    let state = Arc::new(Mutex::new(State { sessions: HashMap::new(), index: BTreeMap::new() }));
    for t in 0..4u64 {
        let state = state.clone();
        std::thread::spawn(move || {
            let mut local: Vec<String> = Vec::new();
            for i in 0..n { let id = i * 4 + t; let mut s = state.lock().unwrap();
                s.sessions.insert(id, Session { user: format!("user {id}"), tags: vec![format!("tag {}", id % 7)], extra: (id % 100 == 0).then(|| Box::new([id; 30])) });
                s.index.entry(format!("group {}", id % 1000)).or_default().push(id);
                if i % 50 == 0 { local.push(format!("thread {t} kept {i}")); } }
            loop { std::thread::sleep(Duration::from_secs(100)); std::hint::black_box(&local); }
        });
    }
    loop { std::thread::sleep(Duration::from_millis(200)); if state.lock().unwrap().sessions.len() as u64 == 4 * n { break } }
    println!("ready {}", std::process::id());
    for line in std::io::stdin().lock().lines() {
        let line = line.unwrap();
        let mut words = line.split(' ');
        match words.next() {
            Some("dump") => println!("{:?}", dwell_heapdump::write(words.next().unwrap())),
            Some("size") => println!("{:?}", dwell_heapdump::size()),
            _ => break,
        }
    }
    println!("{}", state.lock().unwrap().sessions.values().map(|s| s.user.len() + s.tags.len() + s.extra.is_some() as usize).sum::<usize>());
}
