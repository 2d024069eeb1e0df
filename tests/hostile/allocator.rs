//! An allocator that uses an executor while that executor allocates.

use std::cell::{Cell, RefCell};
use std::future::pending;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::rc::Rc;

use framestep::Handle;
use framestep::prelude::*;
use framestep::task::CoroutineId;

use framestep_testkit::{call_in_allocation, call_in_nth_allocation, has_called};

thread_local! {
    static HANDLE: RefCell<Option<Handle>> = const { RefCell::new(None) };
    static STOPPED: Cell<Option<CoroutineId>> = const { Cell::new(None) };
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
        assert_eq!(outer.take_output().unwrap().unwrap(), 1);
        for (number, other) in (0..).zip(others) {
            assert_eq!(other.take_output().unwrap().unwrap(), number);
        }
        assert!(inner.stop());
        HANDLE.set(None);
    }
}

/// Stops a coroutine. In builds with debug assertions, the crate panics instead where the
/// allocator was called too early. An allocator must not unwind.
fn stop() {
    let _ = catch_unwind(|| {
        HANDLE.with_borrow(|handle| {
            let handle = handle.as_ref().expect("it is set");
            handle.stop(STOPPED.get().expect("it is set"))
        })
    });
}

/// Calls `f` with a coroutine that the `nth` allocation of `f` stops. Another coroutine
/// must be unharmed by that. Returns whether `f` allocated that often.
fn stopped_in(nth: u64, f: fn(&mut Executor, CoroutineId)) -> bool {
    async fn large() {
        let bytes = [7_u8; 4000];
        wait_seconds(1000).await;
        assert_eq!(bytes, [7; 4000]);
    }
    let mut executor = Executor::new();
    let held = Rc::new(());
    let holds = held.clone();
    let other = executor.spawn(async move {
        pending::<()>().await;
        drop(holds);
    });
    let id = executor.spawn(large()).id();
    executor.run_frame(0.25);
    HANDLE.set(Some(executor.handle()));
    STOPPED.set(Some(id));
    call_in_nth_allocation(nth, stop);
    // It may find a coroutine that has ended meanwhile.
    let _ = catch_unwind(AssertUnwindSafe(|| f(&mut executor, id)));
    let was_called = has_called();
    HANDLE.set(None);
    // They go where the stopped one was.
    for _ in 0..4 {
        executor.spawn(large());
    }
    executor.run_frame(0.25);
    assert!(!other.is_finished());
    assert_eq!(Rc::strong_count(&held), 2);
    drop(executor);
    assert_eq!(Rc::strong_count(&held), 1);
    was_called
}

// In release builds, where the allocator's code is not refused, this is a test for
// memory errors: see scripts/proofs/address-sanitizer.
#[test]
fn a_coroutine_that_is_stopped_while_its_pause_is_noted_leaves_a_block_for_others() {
    let allocations =
        (1..).take_while(|&nth| stopped_in(nth, |executor, id| _ = executor.pause(id)));
    assert!(allocations.count() > 0);
}

#[test]
fn a_coroutine_that_is_stopped_while_hooks_are_added_leaves_a_block_for_others() {
    let add = |executor: &mut Executor, _| _ = executor.on_trace(|_| ());
    let allocations = (1..).take_while(|&nth| stopped_in(nth, add));
    assert!(allocations.count() > 0);
}
