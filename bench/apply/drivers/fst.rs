//! Builds a map of sorted keys, and searches in it.
use fst::{IntoStreamer, Map, MapBuilder, Streamer};

fn main() {
    let mut maps = Vec::new();
    for of in 0..4_u64 {
        let mut builder = MapBuilder::memory();
        for at in 0..60_000_u64 {
            builder.insert(format!("key {:08} of {of}", at * 37), at).unwrap();
        }
        maps.push(Map::new(builder.into_inner().unwrap()).unwrap());
    }
    let mut sum = 0;
    for map in &maps {
        let mut found = map.range().ge("key 00010000").lt("key 00900000").into_stream();
        while let Some((_, value)) = found.next() {
            sum += value;
        }
    }
    println!("{sum}");
}
