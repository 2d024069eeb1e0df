//! The hook of the panel in the trace of an executor.

use std::cell::Cell;
use std::rc::Rc;
use std::time::Duration;

use framestep::prelude::*;
use framestep_panel::Panel;

use crate::{run, warnings};

/// Whether the executor records anything about scripts. Without `inspect`, it does so only
/// for trace hooks.
fn is_observed(executor: &Executor) -> bool {
    let probe = executor.script("probe").start(wait_seconds(99));
    let snapshot = executor.snapshot();
    let is_observed = snapshot.get(probe.id()).unwrap().spawned_at().is_some();
    probe.stop();
    is_observed
}

#[test]
fn the_executor_observes_nothing_for_a_closed_panel() {
    let executor = Executor::new();
    let mut panel = Panel::new();
    panel.listen(&executor);
    assert!(!is_observed(&executor));
    for _ in 0..2 {
        panel.open();
        assert!(is_observed(&executor));
        panel.close();
        assert!(!is_observed(&executor));
    }
    panel.open();
    drop(panel);
    assert!(!is_observed(&executor));
}

#[test]
fn other_hooks_get_the_same_events() {
    let mut executor = Executor::new();
    let mut panel = Panel::new();
    panel.patience(Duration::from_secs(1));
    panel.open();
    panel.listen(&executor);
    let count = Rc::new(Cell::new(0));
    let events = Rc::clone(&count);
    executor.on_full_trace(move |_| events.set(events.get() + 1));
    let gate = Signal::<()>::new().named("gate");
    let opened = gate.clone();
    executor
        .script("keeper")
        .start(async move { opened.wait().await });
    run(&mut executor, &mut panel, 5);
    let heard = count.get();
    assert!(heard > 5);
    assert!(warnings(&mut panel)[0].contains("nobody has emitted it since"));
    panel.close();
    gate.emit(());
    run(&mut executor, &mut panel, 1);
    assert!(count.get() > heard);
}

#[test]
fn the_panel_listens_to_one_executor_at_a_time() {
    let (first, second) = (Executor::new(), Executor::new());
    let mut panel = Panel::new();
    panel.open();
    panel.listen(&first);
    panel.listen_through(&second.handle());
    assert!(!is_observed(&first));
    assert!(is_observed(&second));
}

#[test]
fn what_the_first_frame_of_another_run_did_is_remembered() {
    let mut panel = Panel::new();
    panel.patience(Duration::from_secs(1));
    panel.open();
    for _ in 0..2 {
        let mut executor = Executor::builder().inspect(true).build();
        panel.listen(&executor);
        let guard = executor.script("guard").start(wait_seconds(99));
        executor.script("cutscene").start(async move {
            next_frame().await;
            guard.pause();
            wait_seconds(99).await;
        });
        run(&mut executor, &mut panel, 9);
        let warnings = warnings(&mut panel);
        assert!(warnings[0].contains("by cutscene (1v1)"), "{warnings:?}");
    }
}
