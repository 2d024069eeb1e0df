//! Destructors with effects: a restore, a trial or a rollback must not call them.

use std::cell::Cell;
use std::process::Command;

use framestep_durable::prelude::*;

use crate::sleeps::{Sleeps, reread};

const KNOCK: Signal<u32> = Signal::new("knock");
const LEVEL: Value<u32> = Value::new("level");

/// Calls a closure when it is dropped.
struct OnDrop<F: FnMut()>(F);

impl<F: FnMut()> Drop for OnDrop<F> {
    fn drop(&mut self) {
        (self.0)();
    }
}

thread_local! {
    static HAS_CHANGED: Cell<u32> = const { Cell::new(0) };
}

/// Selects the code of a script, which changes.
#[derive(Serialize, Deserialize)]
struct Changes;

impl DurableScript for Changes {
    const NAME: &'static str = "changes";
    type Output = ();

    async fn run(self) -> Chapter<Self> {
        let _guard = OnDrop(|| {
            if let effect @ 10.. = HAS_CHANGED.get() {
                has_effect(effect - 10);
            }
        });
        next_frame().await;
        match HAS_CHANGED.get() {
            0 => drop(KNOCK.wait().await),
            1 => wait_frames(2).await,
            2 => panic!("the new code panics"),
            4 => {
                KNOCK.emit(&2);
                wait_frames(50).await;
            }
            _ => step(|_: &mut u32| ()),
        }
        Chapter::Done(())
    }
}

fn changed(from: u32, to: u32) -> (Runtime, Result<(), String>) {
    let blank = || Runtime::new(Registry::new().with::<Changes>().with::<Sleeps>());
    HAS_CHANGED.set(from);
    let mut runtime = blank();
    runtime.start(Changes).detach();
    runtime.run_frame(0.1);
    let snapshot = reread(&runtime);
    HAS_CHANGED.set(to);
    let mut later = blank();
    let restored = later.restore(&snapshot, Policy::Fail);
    (later, restored.map(drop).map_err(|error| error.to_string()))
}

#[test]
fn a_script_that_waits_for_something_else_than_its_save_is_an_error_and_does_not_hang() {
    let (mut later, restored) = changed(0, 1);
    if restored.is_ok() {
        for _ in 0..100 {
            later.run_frame(0.1);
        }
        later.emit(&KNOCK, &1);
        later.run_frame(0.1);
        let left = later.scripts();
        panic!("no error, and in 100 frames `wait_frames(2)` has not ended: {left:?}");
    }
}

#[test]
fn the_error_of_a_script_that_panics_in_a_restore_has_the_message() {
    for from in [0, 4] {
        let (_, restored) = changed(from, 2);
        let error = restored.unwrap_err();
        assert!(error.contains("panic"), "{error}");
    }
}

/// Calls this file's test `name` in another process, and returns whether it passed.
fn in_another_process(name: &str) -> bool {
    let this = std::env::current_exe().unwrap();
    let mut test = Command::new(this);
    test.args(["--exact", "--ignored", name]);
    test.output().unwrap().status.success()
}

#[test]
fn a_changed_script_whose_destructor_has_an_effect_is_an_error_and_no_abort() {
    assert!(in_another_process("destructors::aborts_in_a_divergence"));
}

#[test]
#[ignore = "it may abort: another test runs it in a separate process"]
fn aborts_in_a_divergence() {
    for effect in 0..EFFECTS {
        let (_, restored) = changed(0, 10 + effect);
        assert!(restored.is_err());
    }
}

const EFFECTS: u32 = 7;

/// Has the effect of this number.
fn has_effect(number: u32) {
    match number {
        0 => KNOCK.emit(&1),
        1 => LEVEL.set(&1),
        2 => drop(LEVEL.get()),
        3 => drop(time()),
        4 => drop(start(Sleeps)),
        5 => drop(step(|_: &mut u32| (1.5_f32, Some(true)))),
        _ => drop(stop(ScriptId::of(9))),
    }
}

/// Two destructors with effects, such as guards that set a value when they are dropped.
#[derive(Serialize, Deserialize)]
struct Guards {
    effect: u32,
}

impl DurableScript for Guards {
    const NAME: &'static str = "guards";
    type Output = ();

    async fn run(self) -> Chapter<Self> {
        let effect = self.effect;
        let _first = OnDrop(move || has_effect(effect));
        let _second = OnDrop(move || has_effect(effect));
        loop {
            next_frame().await;
        }
    }
}

/// Calls `f` with a runtime that has a script for each effect.
fn with_guards(f: impl FnOnce(&mut Runtime)) {
    let mut runtime = Runtime::new(Registry::new().with::<Guards>().with::<Sleeps>());
    runtime.lend(&mut 0_u32, |runtime| {
        for effect in 0..EFFECTS {
            runtime.start(Guards { effect }).detach();
        }
        f(runtime);
        // The steps of their destructors need what is lent.
        for (id, _) in runtime.scripts() {
            runtime.stop(id);
        }
    });
}

#[test]
fn a_script_with_two_destructors_that_have_effects_is_saved_and_restored() {
    assert!(in_another_process("destructors::aborts_in_a_restore"));
    assert!(in_another_process("destructors::aborts_in_a_trial"));
    assert!(in_another_process("destructors::aborts_in_a_rollback"));
}

#[test]
#[ignore = "it may abort: another test runs it in a separate process"]
fn aborts_in_a_trial() {
    with_guards(|runtime| runtime.verify().unwrap());
}

#[test]
#[ignore = "it may abort: another test runs it in a separate process"]
fn aborts_in_a_restore() {
    with_guards(|runtime| {
        let snapshot = reread(runtime);
        runtime.restore(&snapshot, Policy::Fail).unwrap();
    });
}

#[test]
#[ignore = "it may abort: another test runs it in a separate process"]
fn aborts_in_a_rollback() {
    with_guards(|runtime| {
        let snapshot = runtime.snapshot().unwrap();
        for _ in 0..3 {
            runtime.run_frame(0.1);
        }
        runtime.rollback(&snapshot).unwrap();
    });
}
