//! Waits of other crates, which say what they are for.

use std::cell::Cell;
use std::future::{pending, poll_fn};
use std::rc::Rc;
use std::task::Poll;

use framestep::inspect::{TraceKind, Wait, WaitNote};
use framestep::prelude::*;

use framestep_testkit::timeline::{Log, unclamped};

/// Never ends. It has a note from its first poll on.
async fn noted(what: &str) {
    let mut note = None;
    poll_fn(|_| {
        note.get_or_insert_with(|| WaitNote::begin(what));
        Poll::<()>::Pending
    })
    .await;
}

fn shown(executor: &Executor, script: &Coroutine<()>) -> String {
    let snapshot = executor.snapshot();
    let waits = snapshot.get(script.id()).unwrap().waits();
    let waits: Vec<_> = waits.map(ToString::to_string).collect();
    waits.join(" | ")
}

#[test]
fn are_shown_in_snapshots_until_the_note_is_dropped() {
    let mut executor = Executor::builder().inspect(true).build();
    let script = executor.start(async {
        timeout(2, noted("a packet")).await.unwrap_err();
        race([noted("a packet"), noted("an answer")]).await;
    });
    assert_eq!(shown(&executor, &script), "2s, until 2s | a packet");
    executor.run_frames(8, 0.25);
    assert_eq!(shown(&executor, &script), "a packet | an answer");
}

#[test]
fn have_the_phase_of_the_script_and_the_line_of_the_caller() {
    let executor = Executor::builder().inspect(true).build();
    let script = executor
        .script("")
        .in_phase(Phase::LateUpdate)
        .start(async {
            let _note = WaitNote::begin("a packet");
            pending::<()>().await;
        });
    let snapshot = executor.snapshot();
    let (wait, at) = snapshot
        .get(script.id())
        .unwrap()
        .waits_at()
        .next()
        .unwrap();
    let (what, phase) = ("a packet".into(), Phase::LateUpdate);
    assert_eq!(*wait, Wait::Other { what, phase });
    assert_eq!(wait.to_string(), "a packet, in LateUpdate");
    assert_eq!(at.unwrap().file(), file!());
}

#[test]
fn are_shown_in_traces() {
    let executor = unclamped();
    let log = Log::new();
    let written = log.clone();
    let _hook = executor.on_full_trace(move |event| {
        if let TraceKind::Suspended { waits } = &event.kind {
            for waiting in waits {
                written.note(waiting.wait.to_string());
            }
        }
    });
    let _script = executor.start(noted("a packet"));
    log.check(&["a packet"]);
}

#[test]
fn are_not_written_while_nobody_looks() {
    struct Counts<'a>(&'a Cell<u32>);
    impl std::fmt::Display for Counts<'_> {
        fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            self.0.set(self.0.get() + 1);
            f.write_str("counted")
        }
    }
    let written = Cell::new(0);
    // Outside of a coroutine there is nobody to wait.
    drop(WaitNote::begin(Counts(&written)));
    let executor = unclamped();
    executor.enter(|| drop(WaitNote::begin(Counts(&written))));
    assert_eq!(written.get(), 0);
    let by_default = u32::from(cfg!(debug_assertions));
    for (inspects, count) in [(false, by_default), (true, 1)] {
        let executor = Executor::builder().inspect(inspects).build();
        let script = executor.start(async {
            let written = Cell::new(0);
            let _note = WaitNote::begin(Counts(&written));
            written.get()
        });
        assert_eq!(script.take_output().unwrap().unwrap(), count);
    }
}

#[test]
fn may_be_dropped_anywhere() {
    let executor = Executor::builder().inspect(true).build();
    let kept = Rc::new(Cell::new(None));
    let keep = kept.clone();
    let script = executor.start(async move {
        keep.set(Some(WaitNote::begin("a packet")));
        pending::<()>().await;
    });
    script.stop();
    assert!(executor.snapshot().is_empty());
    // Its script has ended, and then the executor, too.
    let again = executor.start(pending::<()>());
    assert_eq!(shown(&executor, &again), "nothing (never resumes)");
    drop(executor);
    drop(kept.take());
}
