//! Behaviours and scenes: when each callback is called, and when behaviours and
//! coroutines end.

mod active;
mod behaviour_handle;
mod coroutines;
mod destroy;
mod frame;
mod panics;
mod size;
mod start;
mod stepping;

use std::cell::{Cell, RefCell};
use std::future::poll_fn;
use std::ops::{Deref, DerefMut};
use std::rc::Rc;
use std::task::Poll;

use framestep::Executor;
use framestep::inspect::Report;
use framestep::lend::LendError;
use framestep::prelude::*;
use framestep::scene::{Behaviour, BehaviourHandle, Scene, SceneContext};

use framestep_testkit::allocations_of;
use framestep_testkit::timeline::{Log, UNLIMITED};
use framestep_testkit::{forever, panic_of, panic_text, place_of_panic, result_of};

type Hook = Box<dyn FnMut(&SceneContext<'_, Actor>)>;

/// Logs each callback that has an act, and performs the act.
struct Actor {
    name: &'static str,
    log: Log,
    hooks: Vec<(&'static str, Hook)>,
    lines: u32,
}

const CALLBACKS: [&str; 5] = [
    "start",
    "fixed_update",
    "update",
    "late_update",
    "on_destroy",
];

impl Actor {
    fn new(name: &'static str, log: &Log) -> Self {
        Actor {
            name,
            log: log.clone(),
            hooks: Vec::new(),
            lines: 0,
        }
    }

    /// An actor that logs all its callbacks, and does nothing else.
    fn full(name: &'static str, log: &Log) -> Self {
        CALLBACKS
            .iter()
            .fold(Actor::new(name, log), |actor, call| actor.on(call, |_| ()))
    }

    fn on(
        mut self,
        callback: &'static str,
        hook: impl FnMut(&SceneContext<'_, Actor>) + 'static,
    ) -> Self {
        self.hooks.push((callback, Box::new(hook)));
        self
    }

    fn call(&mut self, callback: &str, context: &SceneContext<'_, Self>) {
        let mut hooks = self.hooks.iter_mut().filter(|hook| hook.0 == callback);
        if let Some((_, first)) = hooks.next() {
            self.log.say(format_args!("{} {callback}", self.name));
            first(context);
            hooks.for_each(|(_, hook)| hook(context));
        }
    }
}

impl Behaviour for Actor {
    fn start(&mut self, context: &SceneContext<'_, Self>) {
        self.call("start", context);
    }

    fn fixed_update(&mut self, context: &SceneContext<'_, Self>) {
        self.call("fixed_update", context);
    }

    fn update(&mut self, context: &SceneContext<'_, Self>) {
        self.call("update", context);
    }

    fn late_update(&mut self, context: &SceneContext<'_, Self>) {
        self.call("late_update", context);
    }

    fn on_destroy(&mut self, context: &SceneContext<'_, Self>) {
        self.call("on_destroy", context);
    }
}

/// A scene with one fixed step in each frame of `FRAME`. If a callback has
/// panicked, for example by an assertion, dropping the scene fails the test.
struct Stage {
    scene: Scene,
    heard: Heard,
    /// How many coroutines were refused.
    refused: Rc<Cell<u32>>,
}

#[derive(Clone, Default)]
struct Heard(Rc<RefCell<Vec<String>>>);

fn stage() -> Stage {
    let builder = Executor::builder().fixed_delta(FRAME);
    let scene = Scene::with_executor(builder.max_delta(UNLIMITED).build());
    let heard = Heard::default();
    let hear = heard.clone();
    let refused = Rc::new(Cell::new(0));
    let count = refused.clone();
    scene.executor().on_report(move |report| match report {
        Report::Refused { .. } => count.set(count.get() + 1),
        _ => hear.0.borrow_mut().push(report.to_string()),
    });
    Stage {
        scene,
        heard,
        refused,
    }
}

impl Stage {
    /// Compares the reports.
    #[track_caller]
    fn check_reports(&self, expected: &[&str]) {
        assert_eq!(*self.heard.0.take(), *expected);
    }

    /// Compares how many coroutines were refused.
    #[track_caller]
    fn check_refused(&self, expected: u32) {
        assert_eq!(self.refused.take(), expected);
    }
}

impl Drop for Heard {
    fn drop(&mut self) {
        if Rc::strong_count(&self.0) == 1 && !std::thread::panicking() {
            assert_eq!(*self.0.borrow(), [""; 0], "reports that nobody expected");
        }
    }
}

impl Deref for Stage {
    type Target = Scene;

    fn deref(&self) -> &Scene {
        &self.scene
    }
}

impl DerefMut for Stage {
    fn deref_mut(&mut self) -> &mut Scene {
        &mut self.scene
    }
}

const FRAME: f64 = 0.25;

fn frames(scene: &mut Scene, count: u32) {
    for _ in 0..count {
        scene.run_frame(FRAME);
    }
}

/// Says `text` at once, and ends.
fn says(log: Log, text: &'static str) -> impl Future<Output = ()> {
    poll_fn(move |_| {
        log.say(text);
        Poll::Ready(())
    })
}

/// Says `text` in every frame, and again when it is dropped.
async fn ticks(log: Log, text: &'static str) {
    let _gone = log.on_drop(format_args!("{text} dropped"));
    loop {
        next_frame().await;
        log.say(text);
    }
}

/// Says `text` in the phases of diagrams.
async fn phases(log: Log, text: &'static str) {
    log.say(format_args!("{text} begins"));
    loop {
        for phase in framestep_testkit::timeline::DRAWN {
            in_phase(phase).await;
            log.say(text);
        }
    }
}
