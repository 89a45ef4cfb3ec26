//! Files that are read in parallel, cut into chunks and packed (rustic#1820).
use dwell_bench_allocators::{Random, block};
use std::sync::mpsc::sync_channel;
use std::thread;

fn main() {
    let (chunks, packer) = sync_channel::<Vec<u8>>(16);
    let reading: Vec<_> = (0..6_u64)
        .map(|number| {
            let chunks = chunks.clone();
            thread::spawn(move || {
                let mut random = Random(number + 1);
                for _ in 0..60 {
                    let file = block((64 << 10) + random.below(4 << 20));
                    for chunk in file.chunks((512 << 10) + random.below(1 << 20)) {
                        chunks.send(chunk.to_vec()).expect("it packs");
                    }
                }
            })
        })
        .collect();
    drop(chunks);
    let mut pack = Vec::new();
    for chunk in packer {
        pack.extend(chunk);
        if pack.len() > 16 << 20 {
            pack = Vec::new();
        }
    }
    reading.into_iter().for_each(|one| one.join().expect("it ends"));
}
