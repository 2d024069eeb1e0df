//! One run at a time (docs/contract.md#rule-13-one-run). A call that would step an
//! executor while one of its coroutines is being polled panics at the caller's line,
//! and changes nothing.
//!
//! `&mut` prevents most of this. It remains possible if a coroutine that is started
//! through a `Handle` shares the game with its host, or owns its executor.

use std::cell::{Cell, RefCell};
use std::convert::identity;
use std::rc::{Rc, Weak};
use std::sync::Arc;
use std::task::{Context, Wake, Waker};

use futures::FutureExt;
use futures::channel::oneshot;

use framestep::prelude::*;
use framestep::scene::{Behaviour, Scene, SceneContext};
use framestep::{Executor, Handle};

use framestep_testkit::timeline::{Log, in_quarters};
use framestep_testkit::{forever, place_of_panic, result_of};

type Game = Rc<RefCell<Executor>>;

/// A call that steps an executor, and its line.
type Step = (u32, fn(&mut Executor));

const STEPS: [Step; 8] = [
    (line!(), |executor| executor.begin_frame(0.25)),
    (line!(), |executor| _ = executor.begin_fixed_step()),
    (line!(), |executor| executor.run_phase(Phase::Update)),
    (line!(), |executor| executor.run_phase(Phase::FixedUpdate)),
    (line!(), |executor| executor.run_frame(0.25)),
    (line!(), |executor| executor.run_frames(2, 0.25)),
    (line!(), |executor| executor.run_frame_with(&mut 0, 0.25)),
    (line!(), |executor| executor.run_until(async {}, 0.25)),
];

/// An executor in frame 1 with a fixed step to run.
fn game() -> (Game, Handle) {
    let mut executor = in_quarters();
    executor.begin_frame(0.5);
    let handle = executor.handle();
    (Rc::new(RefCell::new(executor)), handle)
}

/// Checks that `step` panics on `game` at its line, and that nothing has changed.
fn refuses(game: &Game, (line, step): Step) {
    let before = {
        let executor = game.borrow();
        (executor.time(), executor.len(), executor.has_ready())
    };
    let place = place_of_panic(|| step(&mut game.borrow_mut()));
    assert_eq!(place, format!("{}:{line}", file!()));
    let executor = game.borrow();
    let after = (executor.time(), executor.len(), executor.has_ready());
    assert_eq!(after, before);
}

/// A coroutine that is due in the next Update and logs it.
fn bystander(handle: &Handle, log: &Log) {
    let (waits, spawned) = (log.clone(), log.clone());
    drop(handle.start(async move {
        in_phase(Phase::Update).await;
        waits.say("bystander");
    }));
    drop(handle.spawn(async move { spawned.say("spawned") }));
}

/// Runs the rest of frame 1 and all of frame 2.
fn goes_on(game: &Game, log: &Log) {
    let mut executor = game.borrow_mut();
    log.check(&[]);
    assert!(executor.begin_fixed_step(), "the steps are still to come");
    executor.run_phase(Phase::FixedUpdate);
    assert!(executor.begin_fixed_step());
    assert!(!executor.begin_fixed_step());
    executor.run_phase(Phase::Update);
    log.check(&["F1: spawned", "F1: bystander"]);
    executor.run_frame(0.25);
    assert_eq!(executor.time().frame, 2);
}

#[test]
fn a_coroutine_that_shares_the_game_cannot_step_it_from_its_poll() {
    for step in STEPS {
        let (game, handle) = game();
        let log = Log::new();
        bystander(&handle, &log);
        let shared = game.clone();
        let script = handle.start(async move {
            refuses(&shared, step);
            refuses(&shared, step);
            next_frame().await;
            time().frame
        });
        goes_on(&game, &log);
        let frame = result_of(&game.borrow(), script).unwrap();
        assert_eq!(frame, 2, "it went on");
    }
}

#[test]
fn a_coroutine_that_owns_its_executor_cannot_step_it() {
    for (line, step) in STEPS {
        let (game, handle) = game();
        let log = Log::new();
        bystander(&handle, &log);
        let mut executor = Rc::into_inner(game).unwrap().into_inner();
        let slot = Rc::new(RefCell::new(None));
        let give_back = slot.clone();
        let script = handle.start(async move {
            let place = place_of_panic(|| step(&mut executor));
            assert_eq!(place, format!("{}:{line}", file!()));
            give_back.replace(Some(executor));
        });
        let game = Rc::new(RefCell::new(slot.take().unwrap()));
        goes_on(&game, &log);
        result_of(&game.borrow(), script).unwrap();
    }
}

#[test]
fn nor_can_one_that_it_starts_or_stops() {
    /// Tries to step the game when it is dropped.
    struct OnDrop(Game, Step, Rc<Cell<u32>>);
    impl Drop for OnDrop {
        fn drop(&mut self) {
            refuses(&self.0, self.1);
            self.2.set(self.2.get() + 1);
        }
    }
    for step in STEPS {
        let (game, handle) = game();
        let (log, drops) = (Log::new(), Rc::new(Cell::new(0)));
        bystander(&handle, &log);
        let on_drop = OnDrop(game.clone(), step, drops.clone());
        let victim = handle.start(async move {
            let _on_drop = on_drop;
            forever().await;
        });
        let (shared, handle_inside, refused) = (game.clone(), handle.clone(), drops.clone());
        let script = handle.start(async move {
            let inner = shared.clone();
            // Polled inside this poll.
            let child = handle_inside.start(async move { refuses(&inner, step) });
            // Dropped inside this poll.
            assert!(victim.stop());
            assert_eq!(refused.get(), 1);
            // Destructors of its own.
            drop(OnDrop(shared.clone(), step, refused.clone()));
            child.await.unwrap();
            // A poll without the host.
            refuses(&shared, step);
        });
        assert!(script.is_finished());
        result_of(&game.borrow(), script).unwrap();
        assert_eq!(drops.get(), 2);
        goes_on(&game, &log);
    }
}

thread_local! {
    /// A game that wakers, which must be `Send`, can reach.
    static GAME: RefCell<Weak<RefCell<Executor>>> = const { RefCell::new(Weak::new()) };
    static RUNG: Cell<u32> = const { Cell::new(0) };
}

/// Tries to step the game when it is woken.
struct StepsOnWake(Step);

impl Wake for StepsOnWake {
    fn wake(self: Arc<Self>) {
        let game = GAME.with_borrow(Weak::upgrade);
        refuses(&game.expect("it is there"), self.0);
        RUNG.set(RUNG.get() + 1);
    }
}

#[test]
fn nor_can_a_waker_that_is_called_in_the_poll() {
    for step in STEPS {
        let (game, handle) = game();
        let log = Log::new();
        bystander(&handle, &log);
        GAME.set(Rc::downgrade(&game));
        RUNG.set(0);
        // The host waits for a message with its own waker.
        let waker = Waker::from(Arc::new(StepsOnWake(step)));
        let (sender, mut receiver) = oneshot::channel();
        let pending = receiver.poll_unpin(&mut Context::from_waker(&waker));
        assert!(pending.is_pending());
        let script = handle.start(async move { sender.send(()).unwrap() });
        assert_eq!(RUNG.get(), 1);
        result_of(&game.borrow(), script).unwrap();
        goes_on(&game, &log);
    }
}

#[test]
fn nor_can_a_hook_that_is_called_in_the_poll() {
    for step in STEPS {
        let (game, handle) = game();
        let log = Log::new();
        bystander(&handle, &log);
        let (shared, called) = (Rc::downgrade(&game), Rc::new(Cell::new(0)));
        let count = called.clone();
        let polling = Rc::new(Cell::new(false));
        let is_polling = polling.clone();
        let hook = game.borrow().on_trace(move |_| {
            if is_polling.get() {
                let game = shared.upgrade().expect("it is there");
                let (line, step) = step;
                let place = place_of_panic(|| step(&mut game.borrow_mut()));
                assert_eq!(place, format!("{}:{line}", file!()));
                count.set(count.get() + 1);
            }
        });
        let handle_inside = handle.clone();
        let script = handle.start(async move {
            polling.set(true);
            // The hook is called for it.
            let stopped = handle_inside.spawn(forever());
            stopped.stop();
            polling.set(false);
        });
        assert!(called.get() > 0);
        assert!(hook.remove());
        result_of(&game.borrow(), script).unwrap();
        goes_on(&game, &log);
    }
}

#[test]
fn one_that_does_not_catch_the_panic_ends_with_it_alone() {
    for (_, step) in STEPS {
        let (game, handle) = game();
        let log = Log::new();
        bystander(&handle, &log);
        let shared = game.clone();
        let script = handle.start(async move { step(&mut shared.borrow_mut()) });
        let error = result_of(&game.borrow(), script).unwrap_err();
        assert!(error.is_panic());
        goes_on(&game, &log);
    }
}

// Allowed runs

#[test]
fn a_destructor_that_the_host_brings_about_between_runs_may_run_it() {
    /// Runs a frame when it is dropped.
    struct Runs(Game);
    impl Drop for Runs {
        fn drop(&mut self) {
            self.0.borrow_mut().run_frame(0.25);
        }
    }
    /// Something of the host that drops a coroutine.
    type Ends = fn(Coroutine<()>, Owner);
    let ways: [Ends; 4] = [
        |script, _owner| assert!(script.stop()),
        |script, owner| {
            drop(identity(script).stop_on_drop());
            drop(owner);
        },
        |_script, owner| owner.stop_all(),
        |_script, owner| drop(owner),
    ];
    for ends in ways {
        let game = Rc::new(RefCell::new(in_quarters()));
        let handle = game.borrow().handle();
        let log = Log::new();
        let say = log.clone();
        drop(handle.start(async move {
            loop {
                next_frame().await;
                say.say("another");
            }
        }));
        let owner = handle.owner().unwrap();
        let runs = Runs(game.clone());
        let script = owner.start(async move {
            let _runs = runs;
            forever().await;
        });
        ends(script, owner);
        log.check(&["F1: another"]);
        game.borrow_mut().run_frame(0.25);
        log.check(&["F2: another"]);
        assert_eq!(game.borrow().len(), 1);
    }
}

#[test]
fn a_closure_inside_enter_is_not_a_run() {
    let (game, handle) = game();
    let frame = handle.enter(|| {
        game.borrow_mut().run_frame(0.25);
        time().frame
    });
    assert_eq!(frame, Some(2));
}

#[test]
fn another_executor_may_run_in_a_poll_and_in_a_destructor() {
    struct RunsAnother(Executor);
    impl Drop for RunsAnother {
        fn drop(&mut self) {
            self.0.run_frame(0.25);
        }
    }
    let log = Log::new();
    let with_one = |name: &'static str| {
        let executor = in_quarters();
        let say = log.clone();
        executor.start(async move {
            loop {
                next_frame().await;
                say.say(name);
            }
        });
        executor
    };
    let mut outer = in_quarters();
    let (mut inner, dropped) = (with_one("inner"), RunsAnother(with_one("dropped")));
    let say = log.clone();
    outer.start(async move {
        let _dropped = dropped;
        for _ in 0..2 {
            next_frame().await;
            say.say("before");
            inner.run_frame(0.25);
            inner.run_until(next_frame(), 0.25);
            assert_eq!(inner.time().frame, 2 * time().frame);
            say.say("after");
        }
    });
    outer.run_frame(0.25);
    log.check(&["F1: before", "F1: inner", "F2: inner", "F1: after"]);
    outer.run_frame(0.25);
    log.check(&[
        "F2: before",
        "F3: inner",
        "F4: inner",
        "F2: after",
        "F1: dropped",
    ]);
}

#[test]
fn an_executor_is_not_to_be_stepped_from_inside_another_that_its_coroutine_runs() {
    for step in STEPS {
        let (game, handle) = game();
        let log = Log::new();
        bystander(&handle, &log);
        let shared = game.clone();
        let script = handle.start(async move {
            let mut other = in_quarters();
            let inner = other.start(async move {
                refuses(&shared, step);
                next_frame().await;
                refuses(&shared, step);
            });
            other.run_frame(0.25);
            result_of(&other, inner).unwrap();
        });
        result_of(&game.borrow(), script).unwrap();
        goes_on(&game, &log);
    }
}

// A scene steps an executor of its own

#[derive(Default)]
struct Actor(Log);

impl Behaviour for Actor {
    fn start(&mut self, _: &SceneContext<'_, Self>) {
        self.0.note("start");
    }

    fn fixed_update(&mut self, _: &SceneContext<'_, Self>) {
        self.0.note("fixed update");
    }

    fn update(&mut self, _: &SceneContext<'_, Self>) {
        self.0.note("update");
    }
}

/// The same for a scene.
type SceneStep = (u32, fn(&mut Scene));

const SCENE_STEPS: [SceneStep; 5] = [
    (line!(), |scene| scene.begin_frame(0.25)),
    (line!(), |scene| _ = scene.begin_fixed_step()),
    (line!(), |scene| scene.run_phase(Phase::Update)),
    (line!(), |scene| scene.run_frame(0.25)),
    (line!(), |scene| scene.run_until(async {}, 0.25)),
];

#[test]
fn a_behaviours_coroutine_cannot_step_its_scene() {
    for (line, step) in SCENE_STEPS {
        let scene = Rc::new(RefCell::new(Scene::with_executor(in_quarters())));
        let log = Log::new();
        let actor = scene.borrow().add(Actor(log.clone()));
        scene.borrow_mut().begin_frame(0.5);
        log.take();
        let shared = scene.clone();
        let script = actor.start(async move {
            let before = shared.borrow().executor().time();
            let place = place_of_panic(|| step(&mut shared.borrow_mut()));
            assert_eq!(place, format!("{}:{line}", file!()));
            assert_eq!(shared.borrow().executor().time(), before);
        });
        result_of(scene.borrow().executor(), script).unwrap();
        log.check(&[]);
        let mut scene = scene.borrow_mut();
        assert!(scene.begin_fixed_step());
        scene.run_phase(Phase::FixedUpdate);
        scene.run_phase(Phase::Update);
        assert_eq!(scene.executor().time().frame, 1);
        assert_eq!(log.take().last().map(String::as_str), Some("update"));
    }
}
