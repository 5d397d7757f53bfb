//! Work that several threads share out.

use std::{
    collections::BTreeMap,
    panic::resume_unwind,
    sync::{Mutex, MutexGuard, PoisonError},
    thread,
};

/// Works on all items in so many threads, this one among them, each of which takes the next item when it is done with one. What became of each, in their order.
pub(crate) fn in_threads<I: Send, T: Send>(threads: usize, items: Vec<I>, work: impl Fn(usize, I) -> T + Sync) -> Vec<T> {
    let threads = threads.min(items.len());
    let (queue, results) = (Mutex::new(items.into_iter().enumerate()), Mutex::new(BTreeMap::new()));
    let run = || {
        loop {
            let next = lock(&queue).next();
            let Some((place, item)) = next else { break };
            let result = work(place, item);
            lock(&results).insert(place, result);
        }
    };
    thread::scope(|scope| {
        // Where the system gives fewer threads, those that there are do it.
        let spawn = |_| thread::Builder::new().spawn_scoped(scope, run).ok();
        let others: Vec<_> = (1..threads).map_while(spawn).collect();
        run();
        others.into_iter().for_each(|other| other.join().unwrap_or_else(|panic| resume_unwind(panic)));
    });
    results.into_inner().unwrap_or_else(PoisonError::into_inner).into_values().collect()
}

fn lock<T>(of: &Mutex<T>) -> MutexGuard<'_, T> {
    of.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_are_in_the_order_of_items() {
        for threads in [0, 1, 3, 40] {
            let found = in_threads(threads, (0..30).collect(), |place, item: usize| {
                thread::sleep(std::time::Duration::from_micros(((item * 7) % 5 * 100) as u64));
                (place, item * item)
            });
            assert_eq!(found, (0..30).map(|item| (item, item * item)).collect::<Vec<_>>(), "{threads}");
        }
    }
}
