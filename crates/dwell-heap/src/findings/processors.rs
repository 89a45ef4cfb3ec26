//! Work on all processors.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

/// Calls a function for each item, on as many threads as there are processors, and returns the results in the order of the items.
pub(super) fn each<T: Sync, R: Send>(items: &[T], run: &(impl Fn(&T) -> R + Sync + ?Sized)) -> Vec<R> {
    let (next, found) = (AtomicUsize::new(0), Mutex::new(Vec::with_capacity(items.len())));
    let work = || {
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            let Some(item) = items.get(number) else { break };
            let result = run(item);
            found.lock().unwrap_or_else(std::sync::PoisonError::into_inner).push((number, result));
        }
    };
    let others = thread::available_parallelism().map_or(1, usize::from).min(items.len()).saturating_sub(1);
    thread::scope(|scope| {
        for _ in 0..others {
            // If no thread can be made, this one does it all.
            drop(thread::Builder::new().spawn_scoped(scope, work));
        }
        work();
    });
    let mut found = found.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
    found.sort_unstable_by_key(|(number, _)| *number);
    found.into_iter().map(|(_, result)| result).collect()
}

#[cfg(test)]
mod tests {
    use super::each;

    #[test]
    fn results_have_the_order_of_the_items() {
        let items: Vec<u64> = (0..100).collect();
        assert_eq!(each(&items, &|item| item * item), items.iter().map(|item| item * item).collect::<Vec<_>>());
        assert!(each(&[] as &[u64], &|item| *item).is_empty());
    }
}
