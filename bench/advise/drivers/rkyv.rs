//! Archives a game's world, checks it, and reads it back.
use rkyv::rancor::Error;
use rkyv::{Archive, Deserialize, Serialize};
use std::collections::{BTreeMap, HashMap};

#[derive(Archive, Deserialize, Serialize)]
struct Player {
    name: String,
    position: (f32, f32, f32),
    items: Vec<Item>,
    friends: BTreeMap<u32, String>,
    guild: Option<Box<Guild>>,
}

#[derive(Archive, Deserialize, Serialize)]
enum Item {
    Empty,
    Coins(u32),
    Book { title: String, pages: Vec<u16> },
}

#[derive(Archive, Deserialize, Serialize)]
struct Guild {
    name: String,
    ranks: HashMap<String, u32>,
}

fn main() {
    let item = |number: u32| match number % 3 {
        0 => Item::Empty,
        1 => Item::Coins(number),
        _ => Item::Book { title: format!("volume {number}"), pages: (0..6).collect() },
    };
    let player = |number: u32| Player {
        name: format!("player {number}"),
        position: (number as f32, 0.0, 1.0),
        items: (number..number + 9).map(item).collect(),
        friends: (1..4).map(|step| (number + step, format!("player {}", number + step))).collect(),
        guild: (number % 4 == 0).then(|| Box::new(Guild { name: format!("guild {number}"), ranks: HashMap::from([("lord".to_owned(), number)]) })),
    };
    let world: Vec<Player> = (0..30_000).map(player).collect();
    let bytes = rkyv::to_bytes::<Error>(&world).unwrap();
    drop(world);
    let archived = rkyv::access::<rkyv::Archived<Vec<Player>>, Error>(&bytes).unwrap();
    let coins: u64 = archived.iter().flat_map(|player| player.items.iter()).filter_map(|item| match item {
        ArchivedItem::Coins(coins) => Some(u64::from(coins.to_native())),
        _ => None,
    }).sum();
    let world: Vec<Player> = rkyv::deserialize::<_, Error>(archived).unwrap();
    println!("{} {coins} {}", bytes.len(), world.iter().map(|player| player.friends.len()).sum::<usize>());
}
