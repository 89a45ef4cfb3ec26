//! Stores records with an index, and reads them.
use persy::{Config, Persy, PersyId, ValueMode};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let path = std::env::temp_dir().join(format!("persy-{}", std::process::id()));
    Persy::create(&path)?;
    let persy = Persy::open(&path, Config::new())?;
    let mut tx = persy.begin()?;
    tx.create_segment("data")?;
    tx.create_index::<String, PersyId>("index", ValueMode::Replace)?;
    tx.prepare()?.commit()?;
    for batch in 0..20 {
        let mut tx = persy.begin()?;
        for number in 0..1_000 {
            let id = tx.insert("data", format!("record {batch} {number}").as_bytes())?;
            tx.put::<String, PersyId>("index", format!("key-{}", number * 20 + batch), id)?;
        }
        tx.prepare()?.commit()?;
    }
    let mut found = 0;
    for number in (0..20_000).step_by(7) {
        for id in persy.get::<String, PersyId>("index", &format!("key-{number}"))? {
            found += persy.read("data", &id)?.map_or(0, |record| record.len());
        }
    }
    println!("{found}");
    std::fs::remove_file(path)?;
    Ok(())
}
