use cargo_dwell::census::snapshot::*;
use std::collections::HashMap;
use std::path::Path;
pub struct Mem(Vec<(u64, Vec<u8>)>);
impl Memory for Mem {
    fn read(&self, addr: u64, into: &mut [u8]) -> usize {
        let mut done = 0;
        while done < into.len() {
            let a = addr + done as u64;
            let i = self.0.partition_point(|(s, _)| *s <= a);
            if i == 0 {
                break;
            }
            let (s, d) = &self.0[i - 1];
            let off = (a - s) as usize;
            if off >= d.len() {
                break;
            }
            let n = (d.len() - off).min(into.len() - done);
            into[done..done + n].copy_from_slice(&d[off..off + n]);
            done += n;
        }
        done
    }
}
pub fn load(dir: &Path) -> Snapshot {
    let text = std::fs::read_to_string(dir.join("blocks")).unwrap();
    let mut stacks = Vec::new();
    let mut known: HashMap<Vec<u64>, u32> = HashMap::new();
    let mut blocks = Vec::new();
    for line in text.lines() {
        let mut w = line.split(' ').map(|w| u64::from_str_radix(w, 16).unwrap());
        let (addr, size) = (w.next().unwrap(), w.next().unwrap());
        let st: Vec<u64> = w.collect();
        let n = stacks.len() as u32;
        let stack = *known.entry(st.clone()).or_insert(n);
        if stack == n {
            stacks.push(st);
        }
        blocks.push(Block { addr, size, stack, weight: 1 });
    }
    blocks.sort_by_key(|b| b.addr);
    let maps = std::fs::read_to_string(dir.join("maps")).unwrap();
    let mut modules: Vec<Module> = Vec::new();
    let mut roots = Vec::new();
    for line in maps.lines() {
        let f: Vec<&str> = line.split_whitespace().collect();
        let (a, b) = f[0].split_once('-').unwrap();
        let (a, b) = (u64::from_str_radix(a, 16).unwrap(), u64::from_str_radix(b, 16).unwrap());
        if f.len() < 6 {
            continue;
        }
        if f[5] == "[stack]" {
            roots.push((a, b));
        }
        if !f[5].starts_with('/') {
            continue;
        }
        match modules.iter_mut().find(|m| m.path == Path::new(f[5])) {
            Some(m) => m.end = m.end.max(b),
            None => modules.push(Module { path: f[5].into(), bias: a, start: a, end: b }),
        }
    }
    let mem = std::fs::read(dir.join("mem")).unwrap();
    let mut parts: Vec<(u64, Vec<u8>)> = Vec::new();
    let mut rest = &mem[..];
    while !rest.is_empty() {
        let a = u64::from_le_bytes(rest[..8].try_into().unwrap());
        let n = u64::from_le_bytes(rest[8..16].try_into().unwrap()) as usize;
        parts.push((a, rest[16..16 + n].to_vec()));
        rest = &rest[16 + n..];
    }
    parts.sort_by_key(|p| p.0);
    Snapshot {
        at: Moment::Exit,
        millis: 12,
        live_bytes: blocks.iter().map(|b| b.size).sum(),
        live_blocks: blocks.len() as u64,
        peak_bytes: 0,
        blocks,
        stacks,
        modules,
        roots,
        memory: Box::new(Mem(parts)),
    }
}
fn main() {
    let args: Vec<String> = std::env::args().collect();
    let snapshot = load(Path::new(&args[1]));
    let exe = snapshot.modules[0].clone();
    let ran = cargo_dwell::census::output::Ran {
        executable: exe.path.clone(),
        own_crates: vec!["truth".into()],
        millis: 20,
        ..Default::default()
    };
    let t = std::time::Instant::now();
    let mut out = cargo_dwell::census::output::OutputArgs::default();
    out.save = Some("/tmp/walk/out.json".into());
    out.of_type = args.get(2).cloned();
    cargo_dwell::census::output::report(&ran, vec![snapshot], &out).unwrap();
    eprintln!("{:?}", t.elapsed());
}
