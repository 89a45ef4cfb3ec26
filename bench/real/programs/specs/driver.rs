//! Lazy updates: entities whose components `World::maintain` adds, such as particles and projectiles.

use specs::prelude::*;

struct Position([f32; 3]);

impl Component for Position {
    type Storage = VecStorage<Self>;
}

struct Lifetime(u32);

impl Component for Lifetime {
    type Storage = VecStorage<Self>;
}

/// Creates a thousand entities in each frame, each with a position and a lifetime.
struct Emit;

impl<'a> System<'a> for Emit {
    type SystemData = (Entities<'a>, Read<'a, LazyUpdate>);

    fn run(&mut self, (entities, lazy): Self::SystemData) {
        for at in 0..1_000_u16 {
            let particle = entities.create();
            lazy.insert(particle, Position([f32::from(at), 0.0, 1.0]));
            lazy.insert(particle, Lifetime(u32::from(at % 4) + 1));
        }
    }
}

/// Removes entities at the end of their lifetime.
struct Age;

impl<'a> System<'a> for Age {
    type SystemData = (Entities<'a>, WriteStorage<'a, Lifetime>, Read<'a, LazyUpdate>);

    fn run(&mut self, (entities, mut lifetimes, lazy): Self::SystemData) {
        for (entity, lifetime) in (&entities, &mut lifetimes).join() {
            lifetime.0 -= 1;
            if lifetime.0 == 0 {
                lazy.exec_mut(move |world| world.delete_entity(entity).expect("the entity is alive"));
            }
        }
    }
}

pub fn workload(name: &str) -> Box<dyn FnMut() -> u64> {
    match name {
        "20 frames of particles" => Box::new(|| {
            let mut world = World::new();
            world.register::<Position>();
            world.register::<Lifetime>();
            for _ in 0..20 {
                Emit.run_now(&world);
                Age.run_now(&world);
                world.maintain();
            }
            let (positions, lifetimes) = (world.read_storage::<Position>(), world.read_storage::<Lifetime>());
            (&positions, &lifetimes).join().map(|(at, left)| at.0[0] as u64 + u64::from(left.0)).sum()
        }),
        _ => panic!("no workload {name}"),
    }
}
