//! `RemoteHandle`: requests from other threads, and when they take effect.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;

use framestep::Executor;
use framestep::prelude::*;
use framestep::task::RemoteHandle;

use framestep_testkit::forever;
use framestep_testkit::timeline::{Log, in_quarters};

/// A log for other threads.
#[derive(Clone, Default)]
struct Shared(Arc<Mutex<Vec<String>>>);

impl Shared {
    fn say(&self, text: &str) {
        let now = time();
        let phase = now
            .phase
            .map_or("host".to_owned(), |phase| phase.to_string());
        let text = format!("F{}.{phase}: {text}", now.frame);
        self.0.lock().unwrap().push(text);
    }

    fn take(&self) -> Vec<String> {
        std::mem::take(&mut *self.0.lock().unwrap())
    }
}

/// Makes requests on another thread, and waits until they are made.
fn elsewhere(executor: &Executor, f: impl FnOnce(RemoteHandle) + Send + 'static) {
    let remote = executor.remote();
    thread::spawn(move || f(remote)).join().unwrap();
}

#[test]
fn spawn_in_is_first_polled_in_the_next_run_of_that_phase() {
    let (mut executor, log) = (in_quarters(), Shared::default());
    let say = log.clone();
    elsewhere(&executor, move |remote| {
        for phase in [Phase::EndOfFrame, Phase::FixedUpdate, Phase::EarlyUpdate] {
            let say = say.clone();
            let name = format!("in {phase}");
            assert!(remote.spawn_in(phase, move || async move { say.say(&name) }));
        }
        assert!(remote.spawn(move || async move { say.say("plain") }));
    });
    assert!(executor.has_ready());
    executor.run_frame(0.25);
    assert_eq!(
        log.take(),
        [
            "F1.EarlyUpdate: in EarlyUpdate",
            "F1.FixedUpdate: in FixedUpdate",
            "F1.Update: plain",
            "F1.EndOfFrame: in EndOfFrame",
        ]
    );
}

#[test]
fn a_call_is_made_when_the_next_run_begins_before_anything_is_polled() {
    let (mut executor, log) = (in_quarters(), Shared::default());
    let say = log.clone();
    executor
        .script("")
        .in_phase(Phase::EarlyUpdate)
        .spawn(async move { say.say("polled") });
    let say = log.clone();
    elsewhere(&executor, move |remote| {
        let again = remote.clone();
        assert!(remote.call(move || {
            say.say("called");
            let (spawned, started, later) = (say.clone(), say.clone(), say.clone());
            spawn(async move { spawned.say("spawned") });
            start(async move { started.say("started") });
            again.call(move || later.say("called again"));
        }));
    });
    assert!(executor.has_ready());
    executor.begin_frame(0.25);
    assert_eq!(log.take(), [""; 0]);
    executor.run_phase(Phase::EarlyUpdate);
    assert_eq!(
        log.take(),
        [
            "F1.host: called",
            "F1.host: started",
            "F1.EarlyUpdate: polled"
        ]
    );
    assert!(executor.has_ready());
    executor.run_phase(Phase::Update);
    assert_eq!(log.take(), ["F1.host: called again", "F1.Update: spawned"]);
    assert!(!executor.has_ready());
}

#[test]
fn calls_and_stops_are_made_in_order_of_arrival() {
    let (mut executor, log) = (in_quarters(), Shared::default());
    let ids: Vec<_> = (0..2).map(|_| executor.start(forever()).id()).collect();
    let (handle, say) = (executor.handle(), Log::new());
    let alive = say.clone();
    executor.start(async move {
        loop {
            alive.say(handle.snapshot().unwrap().len());
            next_frame().await;
        }
    });
    let stops = log.clone();
    elsewhere(&executor, move |remote| {
        let before = stops.clone();
        remote.call(move || before.say("before"));
        assert!(remote.stop(ids[0]));
        remote.call(move || stops.say("between"));
        assert!(remote.stop(ids[1]));
        assert!(remote.stop(ids[1]), "it was there to be asked");
    });
    assert_eq!(executor.len(), 3);
    executor.run_frame(0.25);
    assert_eq!(log.take(), ["F1.host: before", "F1.host: between"]);
    assert_eq!(executor.len(), 1);
    say.check(&["F0: 3", "F1: 1"]);
}

/// A local spawn in between takes over the requests that have arrived, but calls no
/// closures: the host may be in the middle of anything.
#[test]
fn a_call_is_not_made_while_the_host_spawns_or_wakes() {
    let (mut executor, log) = (in_quarters(), Shared::default());
    let say = log.clone();
    elsewhere(&executor, move |remote| {
        remote.call(move || say.say("called"));
    });
    executor.spawn(async {});
    executor.start(async {});
    executor.owner().pause();
    assert_eq!(log.take(), [""; 0]);
    assert!(executor.has_ready());
    executor.run_phase(Phase::LateUpdate);
    assert_eq!(log.take(), ["F0.host: called"]);
}

#[test]
fn a_stop_frees_the_joiners_for_the_run_that_begins() {
    let mut executor = in_quarters();
    let blocked = executor.start(forever());
    let id = blocked.id();
    let joined = executor.start(async move { blocked.await.unwrap_err().is_stopped() });
    elsewhere(&executor, move |remote| assert!(remote.stop(id)));
    executor.run_phase(Phase::Update);
    assert!(joined.is_finished());
}

#[test]
fn a_stop_of_what_belongs_to_another_executor_does_nothing() {
    let (mut executor, other) = (in_quarters(), in_quarters());
    let script = other.start(forever());
    let id = script.id();
    elsewhere(&executor, move |remote| assert!(remote.stop(id)));
    executor.run_frame(0.25);
    assert!(!script.is_finished());
}

#[test]
fn a_call_borrows_what_is_lent_for_the_run() {
    let mut executor = in_quarters();
    elsewhere(&executor, |remote| {
        remote.call(|| with(|world: &mut Vec<&'static str>| world.push("called")));
    });
    let mut world: Vec<&'static str> = Vec::new();
    executor.lend(&mut world, |executor| executor.run_frame(0.25));
    assert_eq!(world, ["called"]);
}

#[test]
fn a_call_that_panics_ends_alone() {
    let (mut executor, log) = (in_quarters(), Shared::default());
    let say = log.clone();
    elsewhere(&executor, move |remote| {
        remote.call(|| panic!("on purpose"));
        remote.call(move || say.say("the next one"));
    });
    executor.run_frame(0.25);
    assert_eq!(log.take(), ["F1.host: the next one"]);
    executor.assert_empty();
}

/// Counts its drops, and notes their threads.
struct Dropped(Arc<AtomicUsize>, thread::ThreadId);

impl Drop for Dropped {
    fn drop(&mut self) {
        assert_eq!(
            thread::current().id(),
            self.1,
            "it is dropped on that thread"
        );
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

#[test]
fn once_the_executor_is_gone_requests_are_dropped_where_they_are_made() {
    let executor = in_quarters();
    let (remote, id) = (executor.remote(), executor.start(forever()).id());
    drop(executor);
    let drops = Arc::new(AtomicUsize::new(0));
    let count = drops.clone();
    thread::spawn(move || {
        let guard = || Dropped(count.clone(), thread::current().id());
        let guards = [guard(), guard(), guard()];
        let [a, b, c] = guards;
        assert!(!remote.spawn(move || async move { drop(a) }));
        assert!(!remote.spawn_in(Phase::Update, move || async move { drop(b) }));
        assert!(!remote.call(move || drop(c)));
        assert!(!remote.stop(id));
        assert_eq!(count.load(Ordering::Relaxed), 3);
    })
    .join()
    .unwrap();
    assert_eq!(drops.load(Ordering::Relaxed), 3);
}

/// Also requests that have been taken over, and wait for the next run.
#[test]
fn what_has_not_been_met_is_dropped_with_the_executor_and_not_called() {
    for taken_over in [false, true] {
        let executor = in_quarters();
        let drops = Arc::new(AtomicUsize::new(0));
        let home = thread::current().id();
        let guards = [(); 2].map(|()| Dropped(drops.clone(), home));
        elsewhere(&executor, move |remote| {
            let [a, b] = guards;
            assert!(remote.call(move || panic!("called: {:?}", a.0)));
            assert!(remote.spawn(move || async move { panic!("polled: {:?}", b.0) }));
        });
        if taken_over {
            executor.spawn(async {});
        }
        assert_eq!(drops.load(Ordering::Relaxed), 0);
        drop(executor);
        assert_eq!(drops.load(Ordering::Relaxed), 2);
    }
}

/// Calls that request further calls, without end: each run makes those that had
/// arrived.
#[test]
fn calls_without_end_do_not_hold_a_run() {
    fn call_again(remote: &RemoteHandle, count: Arc<AtomicUsize>) {
        let again = remote.clone();
        remote.call(move || {
            count.fetch_add(1, Ordering::Relaxed);
            call_again(&again, count);
        });
    }
    let mut executor = in_quarters();
    let count = Arc::new(AtomicUsize::new(0));
    call_again(&executor.remote(), count.clone());
    for run in 1..=5 {
        executor.run_phase(Phase::Update);
        assert_eq!(count.load(Ordering::Relaxed), run);
    }
}

/// A call is like host code right before the run: it may even run the executor, if
/// it can reach it.
#[test]
fn a_call_may_run_another_executor() {
    let mut executor = in_quarters();
    thread_local! {
        static OTHER: RefCell<Option<Executor>> = const { RefCell::new(None) };
    }
    let other = in_quarters();
    let frames = Rc::new(RefCell::new(Vec::new()));
    let log = frames.clone();
    other.start(async move {
        next_frame().await;
        log.borrow_mut().push(time().frame);
    });
    OTHER.set(Some(other));
    elsewhere(&executor, |remote| {
        remote.call(|| OTHER.with_borrow_mut(|other| other.as_mut().unwrap().run_frame(0.25)));
    });
    executor.run_frame(0.25);
    assert_eq!(frames.take(), [1]);
    OTHER.take();
}

#[test]
fn a_script_and_a_handle_find_the_remote_of_their_executor() {
    let (mut executor, log) = (in_quarters(), Shared::default());
    let say_by = |remote: RemoteHandle, text: &'static str, log: Shared| {
        let called = thread::spawn(move || remote.call(move || log.say(text)));
        assert!(called.join().unwrap());
    };
    let handle = executor.handle();
    executor.start({
        let log = log.clone();
        async move { say_by(remote(), "by a script", log) }
    });
    executor.enter(|| say_by(remote(), "by the host", log.clone()));
    say_by(handle.remote().unwrap(), "by a handle", log.clone());
    executor.run_frame(0.25);
    let said = [
        "F1.host: by a script",
        "F1.host: by the host",
        "F1.host: by a handle",
    ];
    assert_eq!(log.take(), said);
    drop(executor);
    assert!(handle.remote().is_none());
}
