//! Rare operations that must still work.

use std::future::poll_fn;
use std::task::Poll;

use futures::task::LocalSpawnExt;

use framestep::prelude::*;

use framestep_testkit::timeline::unclamped;
use framestep_testkit::{panic_of, panic_text, result_of};

#[test]
fn a_thread_that_lives_as_long_as_the_poll_may_borrow_the_waker() {
    let mut executor = unclamped();
    let mut is_first = true;
    let coroutine = executor.spawn(poll_fn(move |cx| {
        if !is_first {
            return Poll::Ready(());
        }
        is_first = false;
        let waker = cx.waker();
        std::thread::scope(|scope| {
            scope.spawn(|| drop(waker.clone()));
            scope.spawn(|| waker.wake_by_ref());
        });
        Poll::Pending
    }));
    executor.run_frame(0.25);
    assert!(!coroutine.is_finished());
    executor.run_frame(0.25);
    assert!(coroutine.is_finished());
}

#[test]
fn a_future_of_any_alignment_is_stored_where_it_wants_to_be() {
    #[repr(align(4096))]
    struct Page([u8; 3]);

    let mut executor = unclamped();
    for _ in 0..3 {
        let pages = [1, 2].map(|fill| {
            executor.start(async move {
                let page = Page([fill; 3]);
                next_frame().await;
                assert_eq!(&raw const page as usize % 4096, 0);
                page.0
            })
        });
        executor.run_frame(0.25);
        let read = pages.map(|page| result_of(&executor, page).unwrap());
        assert_eq!(read, [[1; 3], [2; 3]]);
    }
}

#[test]
fn executors_and_handles_are_spawners_of_futures_own_traits() {
    let mut executor = unclamped();
    let handle = executor.handle();
    let by_handle = handle.spawn_local_with_handle(async { 1 }).unwrap();
    let by_executor = executor.spawn_local_with_handle(async { 2 }).unwrap();
    let sum = executor.run_until(async move { by_handle.await + by_executor.await }, 0.25);
    assert_eq!(sum, 3);
    drop(executor);
    assert!(handle.spawn_local(async {}).unwrap_err().is_shutdown());
}

// docs/contract.md#decided-after-the-end
#[test]
fn a_wait_that_is_polled_after_its_end_panics_in_its_coroutine() {
    let mut executor = unclamped();
    let waits = [
        executor.start(async {
            let mut wait = next_frame();
            (&mut wait).await;
            (&mut wait).await;
        }),
        executor.start(async {
            let mut wait = wait_seconds(0);
            (&mut wait).await;
            (&mut wait).await;
        }),
    ];
    executor.run_frame(0.25);
    for wait in waits {
        let error = result_of(&executor, wait).unwrap_err();
        let text = panic_text(&*error.into_panic());
        assert!(text.contains("polled"), "{text}");
    }
}

#[test]
fn a_builder_refuses_steps_that_lead_nowhere() {
    for seconds in [0.0, -1.0, f64::NAN] {
        let text = panic_of(|| Executor::builder().fixed_delta(seconds));
        assert!(text.contains("`fixed_delta` must be"), "{text}");
        let text = panic_of(|| Executor::builder().max_delta(seconds));
        assert!(text.contains("`max_delta` must be"), "{text}");
    }
}

#[test]
fn a_phase_prints_its_name() {
    assert_eq!(format!("{:>8}", Phase::Update), "  Update");
    assert_eq!(Phase::Custom(7).to_string(), "Custom(7)");
}
