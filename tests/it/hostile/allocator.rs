//! An allocator that uses an executor while that executor allocates.

use std::cell::RefCell;
use std::future::pending;

use framestep::Handle;
use framestep::prelude::*;

use crate::support::{call_in_allocation, has_called};

thread_local! {
    static HANDLE: RefCell<Option<Handle>> = const { RefCell::new(None) };
    static SPAWNED: RefCell<Option<Coroutine<[u64; 6]>>> = const { RefCell::new(None) };
}

fn spawn() {
    HANDLE.with_borrow(|handle| {
        let script = async {
            pending::<()>().await;
            [7_u64; 6]
        };
        let spawned = handle.as_ref().map(|handle| handle.spawn(script));
        SPAWNED.set(spawned);
    });
}

#[test]
fn a_coroutine_that_is_spawned_while_the_table_of_tasks_grows_is_one_of_its_own() {
    // The list of blocks grows to 8, 16 and 32 pointers.
    for full in [4, 8, 16] {
        let mut executor = Executor::new();
        HANDLE.set(Some(executor.handle()));
        let others: Vec<Coroutine<u8>> = (0..full)
            .map(|number| {
                executor.spawn(async move {
                    wait_frames(3).await;
                    number
                })
            })
            .collect();
        executor.run_frame(0.25);
        call_in_allocation(2 * usize::from(full) * size_of::<usize>(), spawn);
        let outer = executor.spawn(async { 1_u8 });
        assert!(
            has_called(),
            "the list of blocks grows with the {full}th coroutine"
        );
        let inner = SPAWNED.take().unwrap();
        assert_ne!(inner.id(), outer.id());
        assert!(others.iter().all(|other| other.id() != inner.id()));
        executor.run_frames(5, 0.25);
        assert!(!inner.is_finished());
        assert_eq!(outer.take().unwrap().unwrap(), 1);
        for (number, other) in (0..).zip(others) {
            assert_eq!(other.take().unwrap().unwrap(), number);
        }
        assert!(inner.stop());
        HANDLE.set(None);
    }
}
