//! A hashbrown map in an arena, through allocator-api2 0.2. The test is not among the library's tests because their
//! feature `nightly` would change the allocator-api2 that hashbrown uses.

use dwell::Bump;
use std::cell::Cell;
use std::hash::RandomState;

struct Counted<'a>(u32, &'a Cell<u32>);

impl Drop for Counted<'_> {
    fn drop(&mut self) {
        self.1.set(self.1.get() + 1);
    }
}

#[test]
fn hashbrown_map_allocates_in_an_arena() {
    let dropped = Cell::new(0);
    let mut bump = Bump::new();
    for _ in 0..3 {
        dropped.set(0);
        let mut map = hashbrown::HashMap::with_hasher_in(RandomState::new(), &bump);
        for n in 0..2000_u32 {
            map.insert(n.to_string(), Counted(n, &dropped));
            bump.alloc(n); // between the tables
        }
        for n in (0..2000_u32).step_by(3) {
            assert_eq!(map.remove(&n.to_string()).map(|value| value.0), Some(n));
        }
        map.shrink_to_fit();
        assert_eq!(map.len(), 1333);
        assert!(map.iter().all(|(key, value)| *key == value.0.to_string()));
        let copy: Vec<u32> = bump.scope(|scope| {
            let mut inner = hashbrown::HashSet::with_hasher_in(RandomState::new(), scope);
            inner.extend(map.values().map(|value| value.0));
            inner.iter().copied().collect()
        });
        assert_eq!(copy.len(), 1333);
        drop(map);
        assert_eq!(dropped.get(), 2000);
        bump.reset();
    }
}
