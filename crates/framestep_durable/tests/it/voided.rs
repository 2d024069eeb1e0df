//! What a restore invalidates, and what prevents a restore.

use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::rc::Rc;

use framestep_durable::prelude::*;

use crate::sleeps::{Sleeps, blank, reread};

/// A child of an owner that is inactive becomes inactive by itself.
#[test]
fn an_owner_below_an_inactive_one_is_active_again_with_it_even_after_a_restore() {
    let first = blank();
    let above = first.owner();
    let below = first.enter(|| above.child());
    first.enter(|| above.set_active(false));
    let mut second = blank();
    second.restore(&reread(&first), Policy::Fail).unwrap();
    for runtime in [&first, &second] {
        runtime.enter(|| above.set_active(true));
        let sleeps = runtime.enter(|| below.start(Sleeps));
        assert!(runtime.is_alive(sleeps.id()));
    }
}

#[test]
fn a_handle_from_before_a_restore_does_not_read_the_result_of_another_script() {
    let mut runtime = blank();
    let empty = reread(&runtime);
    let before = runtime.start(Sleeps);
    runtime.restore(&empty, Policy::Fail).unwrap();
    let other = runtime.start(Sleeps);
    for _ in 0..10 {
        runtime.run_frame(0.1);
    }
    assert_eq!(runtime.result(&before), None);
    assert_eq!(runtime.result(&other), Some(Ok(1)));
}

#[test]
fn a_coroutine_that_is_not_durable_is_not_lost_in_a_restore() {
    let mut runtime = blank();
    let empty = runtime.save_state().unwrap();
    let alive = Rc::new(());
    let inside = alive.clone();
    runtime.executor().spawn(async move {
        loop {
            framestep::next_frame().await;
            assert_eq!(*inside, ());
        }
    });
    runtime.run_frame(0.1);
    let error = runtime
        .restore(&empty, Policy::Fail)
        .unwrap_err()
        .to_string();
    assert!(error.contains("not durable scripts: `"), "{error}");
    assert!(error.contains("voided::"), "it names them: {error}");
    let error = runtime.rollback(&empty).unwrap_err().to_string();
    assert!(error.contains("not durable scripts"), "{error}");
    runtime.run_frame(0.1);
    assert_eq!(Rc::strong_count(&alive), 2, "it continues");
}

/// Runs a frame of its own runtime, which is refused.
#[derive(Serialize, Deserialize)]
struct RunsItself;

type Shared = Rc<RefCell<Runtime>>;

impl DurableScript for RunsItself {
    const NAME: &'static str = "runs itself";
    type Output = ();

    async fn run(self) -> Chapter<Self> {
        with(|runtime: &mut Shared| {
            let run = || runtime.borrow_mut().run_frame(0.1);
            assert!(catch_unwind(AssertUnwindSafe(run)).is_err());
        });
        Chapter::Done(())
    }
}

#[test]
fn a_run_that_is_refused_leaves_the_results_that_the_host_may_still_ask_for() {
    let blank = || Runtime::new(Registry::new().with::<Sleeps>().with::<RunsItself>());
    let mut earlier = blank();
    let sleeps = earlier.start(Sleeps);
    for _ in 0..9 {
        earlier.run_frame(0.1);
    }
    let mut runtime = blank();
    runtime.restore(&reread(&earlier), Policy::Fail).unwrap();
    let (host, lender) = (runtime.host().clone(), runtime.executor().handle());
    let mut runtime: Shared = Rc::new(RefCell::new(runtime));
    let started = lender.lend(&mut runtime, |_| host.start(RunsItself));
    assert_eq!(host.take(started.unwrap()), Some(Ok(())));
    let sleeps = host
        .executor()
        .enter(|| sleeps.id().handle())
        .flatten()
        .expect("no run has begun");
    assert_eq!(host.take::<u32>(sleeps), Some(Ok(1)));
}

#[test]
fn a_handle_from_before_a_rollback_does_not_take_the_result_with_it() {
    let mut runtime = blank();
    let old = runtime.start(Sleeps);
    let id = old.id();
    for _ in 0..20 {
        runtime.run_frame(0.1);
    }
    let save = runtime.save_state().unwrap();
    assert_eq!(runtime.result(&old), Some(Ok(1)));
    runtime.run_frame(0.1);
    runtime.rollback(&save).unwrap();
    drop(old);
    let new = runtime
        .enter(|| id.handle::<u32>())
        .expect("it had a handle at the save");
    assert_eq!(runtime.result(&new), Some(Ok(1)));
    // Handles that it gets from now on count as ever.
    drop(new);
    assert!(runtime.enter(|| id.handle::<u32>()).is_none());

    // Without a handle, the result is there until the next run.
    runtime.rollback(&save).unwrap();
    runtime.run_frame(0.1);
    assert!(runtime.enter(|| id.handle::<u32>()).is_none());
}
