//! `in_phase` on a wait that has begun: the wait already stands in a phase, so this
//! panics at the caller's line.

use std::cell::Cell;
use std::rc::Rc;

use framestep::prelude::*;

use crate::support::{place_of_panic, poll_once};
use crate::timeline::unclamped;
use crate::watched::watched;

/// Begins `$wait`, then puts it into another phase.
macro_rules! begun {
    ($wait:expr) => {{
        let mut executor = unclamped();
        let place = Rc::new(Cell::new(String::new()));
        let tell = place.clone();
        let coroutine = executor.start(watched(async move {
            let mut wait = $wait;
            assert!(poll_once(&mut wait).await.is_pending());
            tell.set(place_of_panic(|| wait.in_phase(Phase::LateUpdate)));
            next_frame().await;
        }));
        assert_eq!(
            place.take(),
            format!("{}:{}", file!(), line!()),
            stringify!($wait)
        );
        // What it refused is gone, and has left nothing behind.
        let snapshot = executor.snapshot();
        let waits = snapshot.iter().map(|coroutine| coroutine.waits().count());
        assert_eq!(waits.sum::<usize>(), 1, stringify!($wait));
        executor.run_frame(0.25);
        assert!(coroutine.is_finished());
    }};
}

#[test]
fn in_phase_of_a_wait_that_has_begun_panics_at_the_callers_line() {
    begun!(next_frame());
    begun!(wait_frames(2));
    begun!(wait_seconds(1));
    begun!(wait_seconds_realtime(1));
    begun!(wait_until(|| false));
    begun!(wait_while(|| true));
}

#[test]
fn in_phase_of_a_wait_that_has_begun_is_a_panic_of_its_coroutine() {
    let mut executor = unclamped();
    let coroutine = executor.start(watched(async {
        let mut wait = next_frame();
        let _ = poll_once(&mut wait).await;
        wait.in_phase(Phase::LateUpdate).await;
    }));
    assert!(coroutine.is_finished());
    executor.run_frame(0.25);
    let result = crate::support::result_of(&executor, coroutine);
    assert!(result.unwrap_err().is_panic());
    assert!(executor.is_empty());
}
