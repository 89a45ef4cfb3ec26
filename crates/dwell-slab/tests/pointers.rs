//! A pointer to a value stays valid across the calls across which it does with slab. Miri checks it.

/// Keeps a pointer to the first value across calls that neither move it nor need it.
macro_rules! program {
    ($krate:ident) => {{
        let mut slab: $krate::Slab<u64> = $krate::Slab::with_capacity(16);
        let key = slab.insert(1);
        let first = &raw mut slab[key];
        let mut sum = 0;
        for round in 0..4 {
            sum += slab.len() + usize::from(slab.is_empty()) + slab.vacant_key() + slab.vacant_entry().key();
            // SAFETY: the value was neither moved nor removed, and nothing made a reference to it.
            unsafe { *first += 1 };
            sum += slab.insert(round);
            // SAFETY: the capacity is sufficient, so the value was not moved, and nothing made a reference to it.
            unsafe { *first += 1 };
            slab.reserve(2);
            slab.reserve_exact(2);
            // SAFETY: the capacity was sufficient, so the value was not moved, and nothing made a reference to it.
            unsafe { *first += 1 };
        }
        (sum, slab[key], slab.capacity())
    }};
}

#[test]
fn pointers_to_values_survive_insertions() {
    let (expected, found) = (program!(slab), program!(dwell_slab));
    assert_eq!(found, expected);
    assert_eq!(found.1, 13);
}
