//! Timers that are moved by code that does not have them: each is refused, also in a replay.

use std::cell::{Cell, RefCell};
use std::future::poll_fn;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::rc::Rc;
use std::task::Poll;

use framestep_durable::prelude::*;

use crate::sleeps::reread;
use crate::twin::{Log, log, quiet, what};

type Timer = Rc<RefCell<Pin<Box<framestep::wait::WaitSeconds>>>>;

thread_local! {
    /// The timer of `sleeps`, where anything finds it.
    static TIMER: RefCell<Option<Timer>> = const { RefCell::new(None) };
    /// Whether `moves` moves the timer of another script.
    static IS_OTHER: Cell<bool> = const { Cell::new(false) };
}

/// Sleeps on a timer that it has put where others find it, if that is none of a replay.
#[durable]
async fn sleeps() {
    let timer: Timer = Rc::new(RefCell::new(Box::pin(wait_seconds(1))));
    let first = poll_fn(|cx| Poll::Ready(timer.borrow_mut().as_mut().poll(cx).is_pending()));
    assert!(first.await);
    TIMER.with_borrow_mut(|shared| {
        shared.get_or_insert_with(|| timer.clone());
    });
    poll_fn(|cx| timer.borrow_mut().as_mut().poll(cx)).await;
    log("awake");
}

/// Moves the timer of `sleeps`.
fn move_timer() {
    let timer = TIMER.with_borrow(|timer| timer.clone().unwrap());
    timer.borrow_mut().as_mut().reset(0.125);
}

/// Moves a timer of its own. In the replays that the test disturbs, it finds that of another script.
#[durable]
async fn moves() {
    let mut own = Box::pin(wait_seconds(9));
    assert!(poll_fn(|cx| Poll::Ready(own.as_mut().poll(cx).is_pending())).await);
    if IS_OTHER.get() {
        move_timer();
    } else {
        own.as_mut().reset(0.5);
    }
    own.await;
    log("moved");
}

fn begun(script: impl DurableScript) -> (Runtime, Log) {
    let mut runtime = quiet(Registry::new().script(sleeps).script(moves));
    let mut log = Log::new();
    runtime.start(script).detach();
    runtime.run_frame_with(&mut log, 0.125);
    (runtime, log)
}

fn refused(moves: impl FnOnce()) -> String {
    let why = catch_unwind(AssertUnwindSafe(moves)).unwrap_err();
    *why.downcast::<String>().unwrap()
}

#[test]
fn a_host_moves_no_timer_of_a_script_and_it_ends_in_its_own_time() {
    let (mut runtime, mut log) = begun(sleeps());
    for why in [refused(move_timer), runtime.enter(|| refused(move_timer))] {
        let here = concat!("`reset` at ", file!(), ":");
        assert!(
            why.contains(here) && why.contains("cannot share waits"),
            "{why}"
        );
    }
    runtime.verify().unwrap();
    for _ in 0..6 {
        runtime.run_frame_with(&mut log, 0.125);
    }
    assert!(log.is_empty(), "frame 7 is before its time: {log:?}");
    runtime.run_frame_with(&mut log, 0.125);
    assert_eq!(what(&log), ["awake"]);
}

#[test]
fn a_replay_that_moves_the_timer_of_another_script_is_refused_and_that_one_goes_on() {
    let (mut runtime, mut log) = begun(sleeps());
    runtime.start(moves()).detach();
    runtime.run_frame_with(&mut log, 0.125);
    let (save, file) = (runtime.save_state().unwrap(), reread(&runtime));
    IS_OTHER.set(true);
    // The script is replayed where none has begun it: a rollback goes on with those that have not changed.
    let other = quiet(Registry::new().script(sleeps).script(moves)).restore(&file, Policy::Fail);
    let why = other.unwrap_err().to_string();
    for part in ["`moves`", "cannot share waits"] {
        assert!(why.contains(part), "{why}");
    }
    IS_OTHER.set(false);
    runtime.rollback(&save).unwrap();
    for _ in 0..6 {
        runtime.run_frame_with(&mut log, 0.125);
    }
    // `moves` has begun in frame 1, `sleeps` in frame 0: both are over half a second, and a second later.
    assert_eq!(what(&log), ["moved", "awake"]);
}
