//! A world of moving entities: twenty frames with systems, new entities and deleted ones.
use shipyard::{Component, EntitiesViewMut, IntoIter, View, ViewMut, World};

#[derive(Component)]
struct Position([f32; 2]);
#[derive(Component)]
struct Speed([f32; 2]);
#[derive(Component)]
struct Health(u32);
#[derive(Component)]
struct Name(String);

fn step(mut positions: ViewMut<Position>, speeds: View<Speed>) {
    for (position, speed) in (&mut positions, &speeds).iter() {
        position.0[0] += speed.0[0];
        position.0[1] += speed.0[1];
    }
}

fn hurt(positions: View<Position>, mut healths: ViewMut<Health>) {
    for (_, health) in (&positions, &mut healths).iter().filter(|(position, _)| position.0[0] > 50.0) {
        health.0 = health.0.saturating_sub(1);
    }
}

fn spawn(mut entities: EntitiesViewMut, mut positions: ViewMut<Position>, mut speeds: ViewMut<Speed>, mut healths: ViewMut<Health>) {
    for index in 0..2_000 {
        let parts = (Position([index as f32, 0.0]), Speed([1.0, 2.0]), Health(3));
        entities.add_entity((&mut positions, &mut speeds, &mut healths), parts);
    }
}

fn main() {
    let mut world = World::new();
    for index in 0..60_000_u32 {
        let speed = Speed([(index % 7) as f32, (index % 3) as f32]);
        if index % 4 == 0 {
            world.add_entity((Position([0.0; 2]), speed, Health(index % 90), Name(format!("unit {index}"))));
        } else {
            world.add_entity((Position([0.0; 2]), speed));
        }
    }
    for _ in 0..20 {
        world.run(step);
        world.run(hurt);
        world.run(spawn);
        let dead: Vec<_> = world.run(|healths: View<Health>| healths.iter().with_id().filter(|(_, health)| health.0 == 0).map(|(id, _)| id).collect());
        for id in dead {
            world.delete_entity(id);
        }
    }
    println!("{}", world.run(|names: View<Name>| names.iter().map(|name| name.0.len()).sum::<usize>()));
}
