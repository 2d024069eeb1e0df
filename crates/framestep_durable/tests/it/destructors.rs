//! Destructors with effects: a restore, a trial or a rollback must not call them.

use std::cell::{Cell, RefCell};
use std::panic::{AssertUnwindSafe, catch_unwind, panic_any};
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};

use framestep::task::CoroutineId;
use framestep_durable::prelude::*;

use crate::sleeps::{Sleeps, reread};

const KNOCK: Signal<u32> = signal("knock");
const LEVEL: Watch<u32> = watch("level", Default::default);

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
                KNOCK.emit(2);
                wait_frames(50).await;
            }
            _ => with(|_: &mut u32| ()),
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
    let save = reread(&runtime);
    HAS_CHANGED.set(to);
    let mut later = blank();
    let restored = later.restore(&save, Policy::Fail);
    (later, restored.map(drop).map_err(|error| error.to_string()))
}

#[test]
fn a_script_that_waits_for_something_else_than_its_save_is_an_error_and_does_not_hang() {
    let (mut later, restored) = changed(0, 1);
    if restored.is_ok() {
        for _ in 0..100 {
            later.run_frame(0.1);
        }
        later.named(&KNOCK).emit(1);
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
        0 => KNOCK.emit(1),
        1 => LEVEL.set(1),
        2 => assert!(LEVEL.get() < 2),
        3 => assert!(time().frame < 100),
        4 => drop(start(Sleeps)),
        5 => drop(with(|_: &mut u32| (1.5_f32, Some(true)))),
        _ => assert!(!stop(ScriptId::from_raw(9))),
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
    let mut runtime = Runtime::new(
        Registry::new()
            .with::<Guards>()
            .with::<Sleeps>()
            .with::<Changes>(),
    );
    runtime.lend(&mut 0_u32, |runtime| {
        for effect in 0..EFFECTS {
            runtime.start(Guards { effect }).detach();
        }
        f(runtime);
        // The effects of their destructors need what is lent.
        for (id, _) in runtime.scripts() {
            runtime.enter(|| stop(id));
        }
    });
}

#[test]
fn a_script_with_two_destructors_that_have_effects_is_saved_and_restored() {
    assert!(in_another_process("destructors::aborts_in_a_restore"));
    assert!(in_another_process("destructors::aborts_in_a_trial"));
    assert!(in_another_process("destructors::aborts_in_a_rollback"));
    assert!(in_another_process("destructors::aborts_in_a_policy"));
}

#[test]
#[ignore = "it may abort: another test runs it in a separate process"]
fn aborts_in_a_policy() {
    let registry = Registry::new().with::<Guards>().with::<Sleeps>();
    with_guards(|runtime| {
        // The last script is of no registry.
        runtime.start(Changes).detach();
        let save = reread(runtime);
        let restored = catch_unwind(AssertUnwindSafe(|| {
            Runtime::new(registry).restore_with(&save, |_| panic!("the policy panics"))
        }));
        assert!(restored.is_err());
    });
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
        let save = reread(runtime);
        runtime.restore(&save, Policy::Fail).unwrap();
    });
}

#[test]
#[ignore = "it may abort: another test runs it in a separate process"]
fn aborts_in_a_rollback() {
    with_guards(|runtime| {
        let save = runtime.save_state().unwrap();
        for _ in 0..3 {
            runtime.run_frame(0.1);
        }
        runtime.rollback(&save).unwrap();
    });
}

thread_local! {
    /// What the destructors of `Calls` do: such as code of an engine, which knows the host.
    static CALL: RefCell<Option<Box<dyn Fn()>>> = const { RefCell::new(None) };
}

fn on_call(f: impl Fn() + 'static) {
    CALL.set(Some(Box::new(f)));
}

fn call() {
    CALL.with_borrow(|call| call.iter().for_each(|call| call()));
}

/// Has a destructor that calls while it waits, and one that has called before.
#[derive(Serialize, Deserialize)]
struct Calls;

impl DurableScript for Calls {
    const NAME: &'static str = "calls";
    type Output = ();

    async fn run(self) -> Chapter<Self> {
        next_frame().await;
        drop(OnDrop(call));
        let _guard = OnDrop(call);
        loop {
            next_frame().await;
        }
    }
}

/// A runtime with a script that sleeps, between two that call.
fn calls() -> (Runtime, ScriptId) {
    CALL.take();
    let mut runtime = Runtime::new(Registry::new().with::<Calls>().with::<Sleeps>());
    runtime.start(Calls).detach();
    let sleeps = runtime.start(Sleeps).id();
    runtime.start(Calls).detach();
    runtime.run_frame(0.1);
    (runtime, sleeps)
}

/// What the executor calls the script of this name.
fn coroutine_of(runtime: &Runtime, name: &str) -> CoroutineId {
    let snapshot = runtime.executor().snapshot();
    let found = snapshot.iter().find(|coroutine| coroutine.name() == name);
    found.unwrap().id()
}

fn ends_all(runtime: &mut Runtime) {
    CALL.take();
    for (id, name) in runtime.scripts() {
        assert!(name == "sleeps" || runtime.enter(|| stop(id)));
    }
    for _ in 0..10 {
        runtime.run_frame(0.1);
    }
    assert_eq!(runtime.scripts(), []);
    assert!(runtime.executor().is_empty());
    runtime.save().unwrap();
}

#[test]
fn a_script_that_a_destructor_stops_during_a_trial_has_ended() {
    let (mut runtime, sleeps) = calls();
    let (host, coroutine) = (runtime.host().clone(), coroutine_of(&runtime, "sleeps"));
    on_call(move || {
        host.executor().stop(coroutine);
    });
    runtime.verify().unwrap();
    assert!(!runtime.is_alive(sleeps));
    runtime.save_state().unwrap();
    ends_all(&mut runtime);
}

#[test]
fn a_rollback_brings_back_a_script_that_a_destructor_stops_meanwhile() {
    let (mut runtime, sleeps) = calls();
    let (host, coroutine) = (runtime.host().clone(), coroutine_of(&runtime, "sleeps"));
    let save = runtime.save_state().unwrap();
    runtime.run_frame(0.1);
    on_call(move || {
        host.executor().stop(coroutine);
    });
    runtime.rollback(&save).unwrap();
    assert!(runtime.is_alive(sleeps));
    ends_all(&mut runtime);
}

#[test]
fn a_destructor_starts_nothing_during_a_rollback() {
    let (mut runtime, _) = calls();
    let host = runtime.host().clone();
    let save = runtime.save_state().unwrap();
    let before = runtime.scripts();
    runtime.run_frame(0.1);
    let calls = Cell::new(0);
    on_call(move || {
        calls.set(calls.get() + 1);
        // The first two are those of replays, in which the refusal is an error.
        match calls.get() {
            ..=2 => {}
            3 => host.start(Sleeps).detach(),
            _ => host
                .executor()
                .enter(|| owner().start(Sleeps))
                .unwrap()
                .detach(),
        }
    });
    runtime.rollback(&save).unwrap();
    assert_eq!(runtime.scripts(), before);
    runtime.save_state().unwrap();
    ends_all(&mut runtime);
}

/// The payload of a panic whose destructor panics.
struct Grenade;

impl Drop for Grenade {
    fn drop(&mut self) {
        panic!("the destructor of a payload");
    }
}

#[test]
fn a_payload_that_panics_in_a_rollback_does_not_unwind_it() {
    let (mut runtime, sleeps) = calls();
    let save = runtime.save_state().unwrap();
    runtime.run_frame(0.1);
    let calls = Cell::new(0);
    on_call(move || {
        calls.set(calls.get() + 1);
        // The first two are those of replays, in which a panic is an error.
        if calls.get() > 2 {
            panic_any(Grenade);
        }
    });
    runtime.rollback(&save).unwrap();
    assert!(runtime.enter(|| stop(sleeps)));
    assert!(!runtime.is_alive(sleeps));
    ends_all(&mut runtime);
}

/// Its destructor panics.
struct Fails;

impl Drop for Fails {
    fn drop(&mut self) {
        panic!("a destructor fails");
    }
}

#[derive(Serialize, Deserialize)]
struct HasFails;

impl DurableScript for HasFails {
    const NAME: &'static str = "has fails";
    type Output = ();

    async fn run(self) -> Chapter<Self> {
        let _fails = Fails;
        wait_seconds(9).await;
        Chapter::Done(())
    }
}

#[derive(Serialize, Deserialize)]
struct JoinsFails;

impl DurableScript for JoinsFails {
    const NAME: &'static str = "joins fails";
    type Output = Result<(), JoinError>;

    async fn run(self) -> Chapter<Self> {
        let end = start(HasFails).await;
        Chapter::Done(end)
    }
}

#[test]
fn a_script_whose_destructor_panics_in_a_stop_has_ended_all_the_same() {
    let builder = framestep::Executor::builder().propagate_panics(false);
    let registry = Registry::new().with::<HasFails>().with::<JoinsFails>();
    let mut runtime = Runtime::with(builder, registry);
    runtime.executor().on_report(|_| ());
    let before = runtime.save_state().unwrap();
    let joins = runtime.start(JoinsFails);
    runtime.run_frame(0.1);
    let with_both = runtime.save_state().unwrap();
    let [_, (fails, _)] = runtime.scripts()[..] else {
        panic!("there are two scripts");
    };
    runtime.enter(|| stop(fails));
    assert!(!runtime.is_alive(fails));
    runtime.verify().unwrap();
    runtime.run_frame(0.1);
    let panicked = JoinError::Panicked("a destructor fails".to_owned());
    assert_eq!(runtime.result(&joins), Some(Ok(Err(panicked))));
    runtime.verify().unwrap();
    runtime.rollback(&with_both).unwrap();
    assert!(runtime.is_alive(fails));
    runtime.restore(&before, Policy::Fail).unwrap();
    assert!(runtime.scripts().is_empty());
}

/// Does effects in its destructor.
#[derive(Serialize, Deserialize)]
struct EndsLate;

impl DurableScript for EndsLate {
    const NAME: &'static str = "ends late";
    type Output = ();

    async fn run(self) -> Chapter<Self> {
        let _emits = OnDrop(|| {
            KNOCK.emit(1);
            LEVEL.set(LEVEL.get());
            ENDED.fetch_add(1, Ordering::Relaxed);
        });
        let _stored = defer(|_: &mut u32| ());
        let _child = start(Sleeps);
        select! {
            _ = KNOCK.wait() => {}
            _ = wait_seconds(9) => {}
        }
        Chapter::Done(())
    }
}

static ENDED: AtomicU32 = AtomicU32::new(0);
static PANICS_AT_EXIT: AtomicU32 = AtomicU32::new(0);

thread_local! {
    static RUNTIME: RefCell<Option<Runtime>> = const { RefCell::new(None) };
    static GAME: RefCell<Option<Game>> = const { RefCell::new(None) };
}

/// Plays on in its destructor, and saves.
struct Game(Runtime);

impl Drop for Game {
    fn drop(&mut self) {
        let script = self.0.start(Sleeps);
        for _ in 0..10 {
            self.0.run_frame(0.1);
        }
        assert_eq!(self.0.take(script), Some(Ok(1)));
        self.0.save().unwrap();
        ENDED.fetch_add(1, Ordering::Relaxed);
    }
}

#[test]
fn a_runtime_in_a_thread_local_ends_with_its_thread() {
    assert!(in_another_process("destructors::ends_with_its_thread"));
}

/// It counts the panics of the process, which other tests would add to.
#[test]
#[ignore = "it counts the panics of a process: another test runs it in a separate one"]
fn ends_with_its_thread() {
    std::panic::set_hook(Box::new(|_| {
        PANICS_AT_EXIT.fetch_add(1, Ordering::Relaxed);
    }));
    let thread = std::thread::spawn(|| {
        // It is dropped after everything that scripts have used in the thread.
        RUNTIME.set(None);
        GAME.set(None);
        let registry = Registry::new().with::<EndsLate>().with::<Sleeps>();
        let mut runtime = Runtime::new(registry);
        for _ in 0..3 {
            runtime.start(EndsLate).detach();
        }
        runtime.run_frame(0.1);
        RUNTIME.set(Some(runtime));
        let mut game = Runtime::new(Registry::new().with::<Sleeps>());
        game.run_frame(0.1);
        GAME.set(Some(Game(game)));
    });
    thread.join().unwrap();
    assert_eq!(PANICS_AT_EXIT.load(Ordering::Relaxed), 0);
    assert_eq!(ENDED.load(Ordering::Relaxed), 4);
}
