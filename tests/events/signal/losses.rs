//! Events that a signal cannot keep: a wait keeps its own, and each loss is reported.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use framestep::Executor;
use framestep::inspect::Report;
use framestep::prelude::*;

use framestep_testkit::poll_once;
use framestep_testkit::timeline::unclamped;

/// An executor, and what it reports.
fn reporting() -> (Executor, Rc<RefCell<Vec<Report>>>) {
    let executor = unclamped();
    let heard = Rc::new(RefCell::new(Vec::new()));
    let log = heard.clone();
    executor.on_report(move |report| log.borrow_mut().push(report.clone()));
    (executor, heard)
}

// docs/contract.md#decided-stored-events
#[test]
fn a_wait_returns_the_first_event_however_many_follow() {
    let (mut executor, heard) = reporting();
    let hits = Signal::new();
    let scripts: Vec<_> = (0..3)
        .map(|_| {
            let script = executor.start(hits.wait());
            script.pause();
            script
        })
        .collect();
    let unread = hits.subscribe();
    for hit in 0..3_000 {
        hits.emit(hit);
    }
    drop(unread);
    for (frame, script) in scripts.iter().enumerate() {
        // The value is stored for those that are left.
        let stored = format!("stored: {}", usize::from(frame < 3));
        assert!(format!("{hits:?}").contains(&stored), "{hits:?}");
        script.resume();
        executor.run_frame(0.25);
        assert_eq!(script.take_output().unwrap().unwrap(), 0);
    }
    assert_eq!(
        format!("{hits:?}"),
        "Signal { subscribers: 0, stored: 0, .. }"
    );
    assert_eq!(*heard.borrow(), []);
}

#[test]
fn waits_keep_an_event_each_and_no_more() {
    let (mut executor, heard) = reporting();
    let bell = Signal::with_limit(2);
    let mut scripts = Vec::new();
    for event in 0..100 {
        scripts.push(executor.start(bell.wait()));
        scripts.last().unwrap().pause();
        bell.emit(event);
        bell.emit(1_000);
    }
    assert!(format!("{bell:?}").contains("stored: 100"));
    for (event, script) in scripts.iter().enumerate().step_by(2) {
        script.stop();
        assert!(format!("{bell:?}").contains(&format!("stored: {}", 99 - event / 2)));
    }
    for script in &scripts {
        script.resume();
    }
    executor.run_frame(0.25);
    for (event, script) in scripts.iter().enumerate().skip(1).step_by(2) {
        assert_eq!(script.take_output().unwrap().unwrap(), event);
    }
    assert_eq!(*heard.borrow(), []);
}

#[test]
fn an_event_is_dropped_with_the_last_wait_for_it() {
    let executor = unclamped();
    let bell = Signal::new();
    let value = Rc::new(());
    let scripts = [0, 1].map(|_| executor.start(bell.wait()));
    bell.emit(value.clone());
    bell.emit(value.clone());
    assert_eq!(Rc::strong_count(&value), 2, "nobody waits for the second");
    let [first, second] = scripts;
    first.stop();
    assert_eq!(Rc::strong_count(&value), 2);
    second.stop();
    assert_eq!(Rc::strong_count(&value), 1);
}

// docs/contract.md#decided-stored-events
#[test]
fn a_subscription_that_loses_events_is_reported_with_its_script() {
    let (mut executor, heard) = reporting();
    let hits = Signal::with_limit(4).named("hits");
    let mut events = hits.subscribe();
    let line = line!() + 4;
    let porter = executor.start(async move {
        let mut seen = Vec::new();
        loop {
            seen.push(events.next().await.unwrap());
            wait_seconds(1).await;
            if seen.len() == 4 {
                return (seen, events.missed());
            }
        }
    });
    let porter = porter.named("porter");
    let id = porter.id();
    for hit in 0..10 {
        hits.emit(hit);
    }
    executor.run_frames(3, 1); // reads 6, 7 and 8
    for hit in 10..14 {
        hits.emit(hit);
    }
    executor.run_frames(2, 1);
    assert_eq!(
        porter.take_output().unwrap().unwrap(),
        (vec![6, 7, 8, 10], 7)
    );
    let heard = heard.borrow();
    let [
        report @ Report::EventsMissed { place, .. },
        Report::EventsMissed { missed: 1, .. },
    ] = &heard[..]
    else {
        panic!("{heard:?}");
    };
    assert_eq!((place.file(), place.line()), (file!(), line));
    assert_eq!(
        report.to_string(),
        format!(
            "coroutine {id} (porter) has lost 6 events of the signal `hits` before the `.await` at \
             {place}: the signal stores 4, and drops the oldest; read them in time, or give it a \
             larger limit with `with_limit`"
        )
    );
}

// docs/contract.md#decided-stored-events
#[test]
fn a_filter_that_may_have_missed_its_event_is_reported() {
    let (mut executor, heard) = reporting();
    let keys = Signal::with_limit(3);
    let script = executor.start(keys.wait_for(|&key| key == 'y'));
    script.pause();
    for key in "yabcde".chars() {
        keys.emit(key);
    }
    script.resume();
    executor.run_frame(0.25);
    assert!(!script.is_finished());
    let heard = heard.borrow();
    assert!(
        matches!(
            &heard[..],
            [Report::EventsMissed {
                id: Some(_),
                missed: 3,
                limit: 3,
                ..
            }]
        ),
        "{heard:?}"
    );
}

#[test]
fn a_filter_that_is_polled_in_time_misses_nothing() {
    let (mut executor, heard) = reporting();
    let keys = Signal::new();
    let script = executor.start(keys.wait_for(|&key| key == 5_000));
    for key in 0..=5_000 {
        keys.emit(key);
        if key % 1_000 == 999 {
            executor.run_frame(0.25);
        }
    }
    executor.run_frame(0.25);
    assert_eq!(script.take_output().unwrap().unwrap(), 5_000);
    assert_eq!(*heard.borrow(), []);
}

// docs/contract.md#decided-emit-one
#[test]
fn an_event_of_emit_one_that_no_script_takes_is_reported() {
    let (mut executor, heard) = reporting();
    let jobs = Signal::new().named("jobs");
    let value = Rc::new(());
    let place = std::panic::Location::caller().line() + 3;
    for refuses in [true, false] {
        let script = executor.start(jobs.wait_for(move |_| !refuses));
        assert!(jobs.emit_one(value.clone()).is_none());
        if !refuses {
            script.stop();
        }
        executor.run_frame(0.25);
    }
    assert_eq!(Rc::strong_count(&value), 1);
    let heard = heard.borrow();
    let texts: Vec<_> = heard.iter().map(Report::to_string).collect();
    let text = format!(
        "the event that `emit_one` at {}:{place}:22 has sent with the signal `jobs` was dropped: \
         the scripts that waited for it were stopped, or have refused it; emit it when such a \
         script exists, or keep it in a queue",
        file!()
    );
    assert_eq!(texts, [text.clone(), text]);
}

#[test]
fn an_event_of_emit_one_that_ends_with_its_executor_is_not_reported() {
    let (executor, heard) = reporting();
    let jobs = Signal::new();
    executor.start(jobs.wait());
    assert!(jobs.emit_one(1).is_none());
    drop(executor);
    assert_eq!(*heard.borrow(), []);
}

/// Emits on its signal when it is cloned.
struct Echo {
    signal: Option<Signal<Echo>>,
    clones: Rc<Cell<u32>>,
}

impl Clone for Echo {
    fn clone(&self) -> Self {
        self.clones.set(self.clones.get() + 1);
        if let Some(signal) = &self.signal {
            for _ in 0..3 {
                signal.emit(Echo {
                    signal: None,
                    clones: self.clones.clone(),
                });
            }
        }
        Echo {
            signal: None,
            clones: self.clones.clone(),
        }
    }
}

/// The event leaves the list while it is cloned.
#[test]
fn a_clone_may_push_its_own_event_out() {
    let mut executor = unclamped();
    let signal = Signal::with_limit(1);
    let clones = Rc::new(Cell::new(0));
    let mut unread = signal.subscribe();
    let scripts: Vec<_> = (0..2).map(|_| executor.start(signal.wait())).collect();
    signal.emit(Echo {
        signal: Some(signal.clone()),
        clones: clones.clone(),
    });
    executor.run_frame(0.25);
    assert!(scripts.iter().all(Coroutine::is_finished));
    // The last one gets the value itself.
    assert_eq!(clones.get(), 1);
    executor.run_until(
        async move {
            assert!(poll_once(&mut unread.next()).await.is_ready());
            assert_eq!(unread.missed(), 3);
        },
        0.25,
    );
    drop(scripts);
    assert_eq!(
        format!("{signal:?}"),
        "Signal { subscribers: 0, stored: 0, .. }"
    );
}
