//! Behaviours and scenes: who is called when, and what ends with whom.

use std::cell::{Cell, RefCell};
use std::future::poll_fn;
use std::ops::{Deref, DerefMut};
use std::rc::Rc;
use std::task::Poll;

use framestep::prelude::*;
use framestep::{Behaviour, Executor, Report, Scene, SceneContext, This, WithError};

use crate::steady_state::allocations_of;
use crate::support::{forever, panic_of, panic_place_of, panic_text, result_of};
use crate::timeline::{Log, UNLIMITED};

type Hook = Box<dyn FnMut(&SceneContext<'_, Actor>)>;

/// Notes the callbacks it has been given something to do in, and does it.
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

    /// One that notes all its callbacks, and does nothing.
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

/// A scene in which a frame of `FRAME` is one fixed step, and which fails its
/// test when it goes if a callback has panicked: such as one with an assertion.
struct Stage {
    scene: Scene,
    heard: Heard,
}

#[derive(Clone, Default)]
struct Heard(Rc<RefCell<Vec<String>>>);

fn stage() -> Stage {
    let builder = Executor::builder().fixed_delta(FRAME);
    let scene = Scene::with_executor(builder.max_delta(UNLIMITED).build());
    let heard = Heard::default();
    let hear = heard.clone();
    let on_report = move |report: &Report| hear.0.borrow_mut().push(report.to_string());
    scene.executor().on_report(on_report);
    Stage { scene, heard }
}

impl Stage {
    /// Compares what has been reported.
    #[track_caller]
    fn check_reports(&self, expected: &[&str]) {
        assert_eq!(*self.heard.0.take(), *expected);
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

/// Says `text` in every frame, and notes when it is dropped.
async fn ticks(log: Log, text: &'static str) {
    let _gone = log.on_drop(format_args!("{text} dropped"));
    loop {
        next_frame().await;
        log.say(text);
    }
}

/// Says `text` in all phases of a frame.
async fn phases(log: Log, text: &'static str) {
    log.say(format_args!("{text} begins"));
    loop {
        for phase in crate::support::PHASES {
            in_phase(phase).await;
            log.say(text);
        }
    }
}

mod frame {
    use super::*;

    #[test]
    fn callbacks_of_all_come_before_the_coroutines_of_all_phase_by_phase() {
        let log = Log::new();
        let mut scene = stage();
        for name in ["a", "b"] {
            let say = log.clone();
            scene.add(Actor::full(name, &log).on("start", move |context| {
                context.start(phases(say.clone(), name));
            }));
        }
        scene.run_frame(FRAME);
        log.check(&[
            "F1.host: a start",
            "F1.host: a begins",
            "F1.host: b start",
            "F1.host: b begins",
            "F1.EarlyUpdate: a",
            "F1.EarlyUpdate: b",
            "F1.host: a fixed_update",
            "F1.host: b fixed_update",
            "F1.FixedUpdate: a",
            "F1.FixedUpdate: b",
            "F1.host: a update",
            "F1.host: b update",
            "F1: a",
            "F1: b",
            "F1.host: a late_update",
            "F1.host: b late_update",
            "F1.LateUpdate: a",
            "F1.LateUpdate: b",
            "F1.EndOfFrame: a",
            "F1.EndOfFrame: b",
        ]);
        let a = scene.find::<Actor>().unwrap();
        assert!(scene.destroy(&a));
        scene.run_frame(0);
        log.check(&[
            "F2.EarlyUpdate: a",
            "F2.EarlyUpdate: b",
            "F2.host: a update",
            "F2.host: b update",
            "F2.host: a late_update",
            "F2.host: b late_update",
            "F2.host: a on_destroy",
        ]);
    }

    /// Notes what the clocks read in a callback: frame, delta, elapsed.
    fn reads(log: &Log, name: &'static str) -> impl FnMut(&SceneContext<'_, Actor>) + use<> {
        let log = log.clone();
        move |context| {
            let now = context.time();
            assert_eq!(now, time());
            let (delta, elapsed) = (now.delta.as_secs_f64(), now.elapsed.as_secs_f64());
            log.note(format!("F{} {name} +{delta} ={elapsed}", now.frame));
        }
    }

    fn clock_reader(log: &Log) -> Actor {
        Actor::new("", &Log::new())
            .on("start", reads(log, "start"))
            .on("fixed_update", reads(log, "fixed"))
            .on("update", reads(log, "update"))
    }

    #[test]
    fn fixed_steps_are_as_many_as_fit_and_read_their_own_time() {
        let log = Log::new();
        let mut scene = stage();
        scene.add(clock_reader(&log));
        for dt in [0.125, 0.625, 0.0] {
            scene.run_frame(dt);
        }
        log.check(&[
            "F1 start +0.125 =0.125",
            "F1 update +0.125 =0.125",
            "F2 fixed +0.25 =0.25",
            "F2 fixed +0.25 =0.5",
            "F2 fixed +0.25 =0.75",
            "F2 update +0.625 =0.75",
            "F3 update +0 =0.75",
        ]);
    }

    #[test]
    fn update_reads_the_time_of_the_frame_also_if_the_host_leaves_fixed_steps_over() {
        let log = Log::new();
        let mut scene = stage();
        scene.add(clock_reader(&log));
        scene.begin_frame(1);
        assert!(scene.begin_fixed_step());
        scene.run_phase(Phase::FixedUpdate);
        scene.run_phase(Phase::Update);
        log.check(&[
            "F1 start +0.25 =0.25",
            "F1 fixed +0.25 =0.25",
            "F1 update +1 =1",
        ]);
    }

    #[test]
    fn a_scene_may_be_stepped_in_parts() {
        let run = |step: fn(&mut Scene)| {
            let log = Log::new();
            let mut scene = stage();
            let say = log.clone();
            scene.add(Actor::full("a", &log).on("start", move |context| {
                context.start(phases(say.clone(), "a"));
            }));
            for _ in 0..3 {
                step(&mut scene);
            }
            log.take()
        };
        let whole = run(|scene| scene.run_frame(FRAME));
        let parts = run(|scene| {
            scene.begin_frame(FRAME);
            scene.run_phase(Phase::EarlyUpdate);
            while scene.begin_fixed_step() {
                scene.run_phase(Phase::FixedUpdate);
            }
            scene.run_phase(Phase::Update);
            scene.run_phase(Phase::Custom(7));
            scene.run_phase(Phase::LateUpdate);
            scene.run_phase(Phase::EndOfFrame);
        });
        assert_eq!(parts, whole);
    }

    #[test]
    fn time_goes_as_fast_as_the_clock_of_the_executor() {
        let log = Log::new();
        let mut scene = stage();
        scene.add(clock_reader(&log));
        scene.executor().clock().set_scale(0.5);
        frames(&mut scene, 2);
        scene.executor().clock().pause();
        frames(&mut scene, 1);
        log.check(&[
            "F1 start +0.125 =0.125",
            "F1 update +0.125 =0.125",
            "F2 fixed +0.25 =0.25",
            "F2 update +0.125 =0.25",
            "F3 update +0 =0.25",
        ]);
    }

    #[test]
    fn an_executor_keeps_its_settings_and_its_coroutines() {
        let log = Log::new();
        let executor = Executor::builder().max_delta(0.5).fixed_delta(1).build();
        executor.start(ticks(log.clone(), "before the scene"));
        let mut scene = Scene::with_executor(executor);
        scene.add(Actor::full("a", &log));
        scene.run_frame(10);
        scene.run_frame(10);
        log.check(&[
            "F1.host: a start",
            "F1.host: a update",
            "F1: before the scene",
            "F1.host: a late_update",
            "F2.host: a fixed_update",
            "F2.host: a update",
            "F2: before the scene",
            "F2.host: a late_update",
        ]);
        drop(scene);
        log.check(&["F2.host: a on_destroy", "before the scene dropped"]);
    }
}

mod start {
    use super::*;

    /// One that adds a newcomer in `callback` of frame 1.
    fn adds_in(callback: &'static str, log: &Log) -> Actor {
        let say = log.clone();
        let mut done = false;
        Actor::new("", &Log::new()).on(callback, move |context| {
            if !std::mem::replace(&mut done, true) {
                context.scene().add(Actor::full("new", &say)).unwrap();
            }
        })
    }

    /// The first three callbacks of what `put` adds, in frames of one fixed step.
    fn first_callbacks(put: impl FnOnce(&Scene, &Log)) -> String {
        let log = Log::new();
        let mut scene = stage();
        put(&scene, &log);
        frames(&mut scene, 3);
        let lines = log.take();
        let starts = lines.iter().filter(|line| line.ends_with("start"));
        assert_eq!(starts.count(), 1);
        lines[..3].join(", ").replace(".host: new", "")
    }

    #[test]
    fn comes_before_all_else_when_added_by_the_host() {
        let calls = first_callbacks(|scene, log| {
            scene.add(Actor::full("new", log));
        });
        assert_eq!(calls, "F1 start, F1 fixed_update, F1 update");
    }

    #[test]
    fn comes_before_all_else_when_added_in_a_callback() {
        let calls = |callback| {
            first_callbacks(|scene, log| {
                let adds = scene.add(adds_in(callback, log));
                if callback == "on_destroy" {
                    adds.destroy();
                }
            })
        };
        let this_frame = "F1 start, F1 fixed_update, F1 update";
        let after_the_step = "F1 start, F1 update, F1 late_update";
        let next_frame = "F2 start, F2 fixed_update, F2 update";
        assert_eq!(calls("start"), this_frame);
        assert_eq!(calls("fixed_update"), after_the_step);
        assert_eq!(calls("update"), next_frame);
        assert_eq!(calls("late_update"), next_frame);
        assert_eq!(calls("on_destroy"), next_frame);
    }

    #[test]
    fn comes_before_all_else_when_added_in_a_coroutine() {
        let calls = |phase| {
            first_callbacks(|scene, log| {
                let (handle, log) = (scene.handle(), log.clone());
                scene.executor().start(async move {
                    in_phase(phase).await;
                    handle.add(Actor::full("new", &log)).unwrap();
                });
            })
        };
        let next_frame = "F2 start, F2 fixed_update, F2 update";
        assert_eq!(
            calls(Phase::EarlyUpdate),
            "F1 start, F1 fixed_update, F1 update"
        );
        assert_eq!(
            calls(Phase::FixedUpdate),
            "F1 start, F1 update, F1 late_update"
        );
        assert_eq!(calls(Phase::Update), next_frame);
        assert_eq!(calls(Phase::LateUpdate), next_frame);
        assert_eq!(calls(Phase::EndOfFrame), next_frame);
    }

    #[test]
    fn comes_before_the_next_fixed_step_when_added_in_one() {
        let log = Log::new();
        let mut scene = stage();
        scene.add(adds_in("fixed_update", &log));
        scene.run_frame(3.0 * FRAME);
        log.check(&[
            "F1.host: new start",
            "F1.host: new fixed_update",
            "F1.host: new fixed_update",
            "F1.host: new update",
            "F1.host: new late_update",
        ]);
    }

    /// Adds another of its kind in every `start`.
    struct Rabbit;

    impl Behaviour for Rabbit {
        fn start(&mut self, context: &SceneContext<'_, Self>) {
            context.scene().add(Rabbit);
        }
    }

    #[test]
    fn that_adds_another_without_end_holds_no_frame_up() {
        let mut scene = stage();
        scene.add(Rabbit);
        scene.run_frame(FRAME);
        assert_eq!(scene.len(), 4); // a `start` for each of three parts of the frame
    }
}

mod coroutines {
    use super::*;

    /// Compares with lines in which `%` stands for the callback.
    #[track_caller]
    fn check(log: &Log, callback: &str, lines: &[&str]) {
        let lines: Vec<String> = lines.iter().map(|l| l.replace('%', callback)).collect();
        log.check(&lines.iter().map(String::as_str).collect::<Vec<_>>());
    }

    #[test]
    fn begin_in_order_when_their_callback_has_returned_before_the_next_callback() {
        for callback in ["start", "fixed_update", "update", "late_update"] {
            let log = Log::new();
            let mut scene = stage();
            let say = log.clone();
            scene.add(Actor::new("a", &log).on(callback, move |context| {
                let (log, inner) = (say.clone(), says(say.clone(), "inner"));
                context.start(async move {
                    log.say("one");
                    start(inner);
                    log.say("one goes on");
                });
                context.start(says(say.clone(), "two"));
                say.say("a returns");
            }));
            scene.add(Actor::new("b", &log).on(callback, |_| ()));
            scene.run_frame(FRAME);
            check(
                &log,
                callback,
                &[
                    "F1.host: a %",
                    "F1.host: a returns",
                    "F1.host: one",
                    "F1.host: inner",
                    "F1.host: one goes on",
                    "F1.host: two",
                    "F1.host: b %",
                ],
            );
        }
    }

    #[test]
    fn spawned_ones_begin_in_the_next_update() {
        let log = Log::new();
        let mut scene = stage();
        let mut actor = Actor::new("a", &log);
        for callback in ["start", "fixed_update", "update", "late_update"] {
            let say = log.clone();
            let mut done = false;
            actor = actor.on(callback, move |context| {
                if !std::mem::replace(&mut done, true) {
                    context.spawn(says(say.clone(), callback));
                }
            });
        }
        let say = log.clone();
        scene.add(actor);
        scene.run_frame(FRAME);
        say.check(&[
            "F1.host: a start",
            "F1.host: a fixed_update",
            "F1.host: a update",
            "F1: start",
            "F1: fixed_update",
            "F1: update",
            "F1.host: a late_update",
        ]);
        scene.run_frame(FRAME);
        say.check(&[
            "F2.host: a fixed_update",
            "F2.host: a update",
            "F2: late_update",
            "F2.host: a late_update",
        ]);
    }

    #[test]
    fn of_the_free_functions_belong_to_the_behaviour() {
        let log = Log::new();
        let mut scene = stage();
        let say = log.clone();
        let other = scene.add(Actor::new("other", &log));
        let actor = scene.add(Actor::new("a", &log).on("start", move |_| {
            start(ticks(say.clone(), "started"));
            spawn(ticks(say.clone(), "spawned"));
            spawn_in(Phase::LateUpdate, ticks(say.clone(), "spawned in"));
            let effects = owner();
            effects.start(ticks(say.clone(), "of an owner below"));
            std::mem::forget(effects);
            other.with(|_| start(ticks(say.clone(), "in a closure of another")));
        }));
        scene.run_frame(FRAME);
        log.check(&["F1.host: a start"]);
        assert_eq!(scene.executor().len(), 5);
        actor.set_active(false);
        assert!(scene.executor().is_empty());
    }

    /// Starts what it finds missing in a callback, and stops it in the next.
    fn toggles(callback: &'static str, log: &Log) -> Actor {
        let say = log.clone();
        let mut running: Option<Coroutine<()>> = None;
        Actor::new("a", log).on(callback, move |context| {
            match running.take() {
                Some(coroutine) => assert!(coroutine.stop()),
                None => running = Some(context.start(ticks(say.clone(), "tick"))),
            }
            say.say("returns");
        })
    }

    #[test]
    fn are_started_and_stopped_by_handle_in_every_callback() {
        for callback in ["fixed_update", "update"] {
            let log = Log::new();
            let mut scene = stage();
            scene.add(toggles(callback, &log));
            frames(&mut scene, 2);
            check(
                &log,
                callback,
                &[
                    "F1.host: a %",
                    "F1.host: returns",
                    "F2.host: a %",
                    "tick dropped",
                    "F2.host: returns",
                ],
            );
        }
        let log = Log::new();
        let mut scene = stage();
        scene.add(toggles("late_update", &log));
        frames(&mut scene, 3);
        log.check(&[
            "F1.host: a late_update",
            "F1.host: returns",
            "F2: tick",
            "F2.host: a late_update",
            "tick dropped",
            "F2.host: returns",
            "F3.host: a late_update",
            "F3.host: returns",
        ]);
    }

    #[test]
    fn are_all_stopped_before_stop_all_returns_those_yet_to_begin_as_well() {
        let log = Log::new();
        let mut scene = stage();
        let say = log.clone();
        scene.add(
            Actor::new("a", &log)
                .on("start", {
                    let log = log.clone();
                    move |context| {
                        context.start(ticks(log.clone(), "old"));
                    }
                })
                .on("late_update", move |context| {
                    let started = context.start(ticks(say.clone(), "never begun"));
                    let spawned = context.spawn(ticks(say.clone(), "never begun"));
                    context.stop_all();
                    say.say("stopped");
                    assert!(started.is_finished() && spawned.is_finished());
                    context.start(says(say.clone(), "started since"));
                }),
        );
        scene.run_frame(FRAME);
        log.check(&[
            "F1.host: a start",
            "F1.host: a late_update",
            "old dropped",
            "F1.host: stopped",
            "F1.host: started since",
        ]);
    }

    #[test]
    fn of_another_behaviour_may_be_stopped_in_a_callback() {
        let log = Log::new();
        let mut scene = stage();
        let other = scene.add(Actor::new("other", &log));
        other.start(ticks(log.clone(), "due"));
        let victim = other.clone();
        scene.add(Actor::new("a", &log).on("update", move |_| victim.stop_all()));
        scene.run_frame(FRAME);
        log.check(&["F1.host: a update", "due dropped"]);
        assert!(other.is_alive());
    }

    #[test]
    fn may_be_stopped_and_started_by_one_of_them_while_their_run_is_under_way() {
        let log = Log::new();
        let mut scene = stage();
        let actor = scene.add(Actor::new("a", &log));
        let (this, say) = (actor.clone(), log.clone());
        let later = Rc::new(RefCell::new(None));
        let victim = later.clone();
        actor.start(async move {
            next_frame().await;
            let victim: Coroutine<()> = victim.take().unwrap();
            assert!(victim.stop());
            this.start(ticks(say.clone(), "new"));
            say.say("goes on");
        });
        actor.start(ticks(log.clone(), "between"));
        *later.borrow_mut() = Some(actor.start(ticks(log.clone(), "later")));
        frames(&mut scene, 2);
        log.check(&[
            "later dropped",
            "F1: goes on",
            "F1: between",
            "F2: new",
            "F2: between",
        ]);
    }

    #[test]
    fn may_begin_before_their_behaviour_starts() {
        let log = Log::new();
        let mut scene = stage();
        let actor = scene.add(Actor::full("a", &log));
        actor.start(phases(log.clone(), "coroutine"));
        log.check(&["F0: coroutine begins"]);
        scene.begin_frame(FRAME);
        scene.run_phase(Phase::EarlyUpdate);
        log.check(&["F1.host: a start", "F1.EarlyUpdate: coroutine"]);
    }

    #[test]
    fn stand_still_while_their_behaviour_is_paused_and_its_callbacks_go_on() {
        let log = Log::new();
        let mut scene = stage();
        let actor = scene.add(Actor::new("a", &log).on("update", |_| ()));
        actor.start(ticks(log.clone(), "tick"));
        scene.run_frame(FRAME);
        assert!(actor.pause());
        assert!(!actor.pause());
        actor.start(says(log.clone(), "started while paused"));
        scene.run_frame(FRAME);
        assert!(actor.resume());
        assert!(!actor.resume());
        scene.run_frame(FRAME);
        log.check(&[
            "F1.host: a update",
            "F1: tick",
            "F2.host: a update",
            "F3.host: a update",
            "F3: started while paused",
            "F3: tick",
        ]);
    }
}

mod destroy {
    use super::*;

    /// Ticks, and has a coroutine that waits for the end of each frame.
    fn with_coroutines(log: &Log) -> Actor {
        let say = log.clone();
        Actor::full("a", log).on("start", move |context| {
            context.start(ticks(say.clone(), "tick"));
            let log = say.clone();
            context.start(async move {
                let _gone = log.on_drop("end dropped");
                loop {
                    end_of_frame().await;
                    log.say("end");
                }
            });
        })
    }

    #[test]
    fn in_a_callback_lets_it_go_on_to_the_end_of_the_frame() {
        let log = Log::new();
        let mut scene = stage();
        let say = log.clone();
        let actor = with_coroutines(&log).on("update", move |context| {
            if time().frame == 2 {
                assert!(context.destroy_self());
                assert!(!context.destroy_self());
                context.start(says(say.clone(), "started since"));
            }
        });
        let actor = scene.add(actor);
        scene.run_frame(FRAME);
        log.take();
        scene.run_frame(FRAME);
        log.check(&[
            "F2.host: a fixed_update",
            "F2.host: a update",
            "F2.host: started since",
            "F2: tick",
            "F2.host: a late_update",
            "F2.EndOfFrame: end",
            "tick dropped",
            "end dropped",
            "F2.host: a on_destroy",
        ]);
        assert!(!actor.destroy() && scene.is_empty());
        frames(&mut scene, 2);
        log.check(&[]);
    }

    #[test]
    fn by_a_coroutine_of_its_own_lets_that_go_on_too() {
        let log = Log::new();
        let mut scene = stage();
        let actor = scene.add(Actor::full("a", &log));
        let (this, say) = (actor.clone(), log.clone());
        actor.start(async move {
            let _gone = say.on_drop("coroutine dropped");
            next_frame().await;
            assert!(this.destroy());
            assert!(!this.destroy());
            say.say("destroys");
            end_of_frame().await;
            say.say("still there");
            this.with(|actor| actor.lines += 1);
            next_frame().await;
            unreachable!();
        });
        scene.run_frame(FRAME);
        log.check(&[
            "F1.host: a start",
            "F1.host: a fixed_update",
            "F1.host: a update",
            "F1: destroys",
            "F1.host: a late_update",
            "F1.EndOfFrame: still there",
            "coroutine dropped",
            "F1.host: a on_destroy",
        ]);
    }

    #[test]
    fn by_another_in_the_middle_of_a_pass_changes_nothing_until_the_end_of_the_frame() {
        let log = Log::new();
        let mut scene = stage();
        let late = Rc::new(RefCell::new(None::<This<Actor>>));
        let victim = late.clone();
        scene.add(Actor::new("a", &log).on("update", move |_| {
            let victim = victim.borrow_mut().take();
            assert!(victim.is_none_or(|victim| victim.destroy() && !victim.is_alive()));
        }));
        let b = scene.add(Actor::full("b", &log));
        *late.borrow_mut() = Some(b);
        frames(&mut scene, 2);
        log.check(&[
            "F1.host: b start",
            "F1.host: b fixed_update",
            "F1.host: a update",
            "F1.host: b update",
            "F1.host: b late_update",
            "F1.host: b on_destroy",
            "F2.host: a update",
        ]);
    }

    #[test]
    fn before_the_start_skips_all_but_on_destroy() {
        let log = Log::new();
        let mut scene = stage();
        let actor = scene.add(Actor::full("a", &log));
        actor.start(ticks(log.clone(), "tick"));
        assert!(scene.destroy(&actor));
        assert!(!scene.destroy(&actor));
        frames(&mut scene, 2);
        log.check(&["F1: tick", "tick dropped", "F1.host: a on_destroy"]);
    }

    #[test]
    fn stops_the_coroutines_before_on_destroy_where_nothing_can_be_started() {
        let log = Log::new();
        let mut scene = stage();
        let say = log.clone();
        let actor = scene.add(Actor::new("a", &log).on("on_destroy", move |context| {
            let this = context.this();
            this.set_active(true);
            assert!(context.start(says(say.clone(), "started")).is_finished());
            assert!(context.spawn(says(say.clone(), "spawned")).is_finished());
            assert!(start(says(say.clone(), "freely")).is_finished());
            assert!(this.start(says(say.clone(), "by handle")).is_finished());
            assert!(!this.is_alive() && !this.is_active() && !context.destroy_self());
        }));
        let coroutine = actor.start(ticks(log.clone(), "tick"));
        actor.destroy();
        frames(&mut scene, 2);
        log.check(&["F1: tick", "tick dropped", "F1.host: a on_destroy"]);
        let result = result_of(scene.executor(), coroutine);
        assert!(result.unwrap_err().is_stopped());
    }

    #[test]
    fn leaves_the_behaviour_to_what_others_start_in_on_destroy_and_calls_that_once() {
        let log = Log::new();
        let mut scene = stage();
        let (host, say) = (scene.executor().handle(), log.clone());
        let actor = Actor::new("a", &log).on("on_destroy", move |context| {
            let (this, say) = (context.this(), say.clone());
            host.start(async move {
                let found = this.try_with(|_| ()).is_ok();
                say.say(if found { "found" } else { "gone" });
                next_frame().await;
                let found = this.try_with(|_| ()).is_ok();
                say.say(if found { "found" } else { "gone" });
            });
        });
        scene.add(actor).destroy();
        frames(&mut scene, 2);
        log.check(&["F1.host: a on_destroy", "F1.host: found", "F2: gone"]);
    }

    /// Destroys `victim` when it goes itself.
    fn takes_along(log: &Log, victim: impl Fn() -> Option<This<Actor>> + 'static) -> Actor {
        Actor::new("parent", log).on("on_destroy", move |_| {
            assert!(victim().unwrap().destroy());
        })
    }

    #[test]
    fn in_an_on_destroy_takes_others_along_in_the_same_frame() {
        let log = Log::new();
        let mut scene = stage();
        let before = scene.add(Actor::new("before", &log).on("on_destroy", |_| ()));
        let after = Rc::new(RefCell::new(None));
        let first = scene.add(takes_along(&log, move || Some(before.clone())));
        let victim = after.clone();
        let second = scene.add(takes_along(&log, move || victim.borrow().clone()));
        *after.borrow_mut() = Some(scene.add(Actor::new("after", &log).on("on_destroy", |_| ())));
        first.destroy();
        second.destroy();
        scene.run_frame(FRAME);
        log.check(&[
            "F1.host: parent on_destroy",
            "F1.host: parent on_destroy",
            "F1.host: after on_destroy",
            "F1.host: before on_destroy",
        ]);
        assert!(scene.is_empty());
    }

    /// Adds and destroys another of its kind when it goes.
    struct Hydra(Rc<Cell<u32>>);

    impl Behaviour for Hydra {
        fn on_destroy(&mut self, context: &SceneContext<'_, Self>) {
            self.0.set(self.0.get() + 1);
            if let Some(head) = context.scene().add(Hydra(self.0.clone())) {
                head.destroy();
            }
        }
    }

    #[test]
    fn of_one_that_always_comes_back_holds_no_frame_up() {
        let heads = Rc::new(Cell::new(0));
        let mut scene = stage();
        scene.add(Hydra(heads.clone())).destroy();
        frames(&mut scene, 3);
        assert_eq!(heads.get(), 3);
        drop(scene);
        assert_eq!((heads.get(), Rc::strong_count(&heads)), (4, 1));
    }

    #[test]
    fn of_the_whole_scene_is_in_order_and_once_for_each() {
        let log = Log::new();
        let mut scene = stage();
        for name in ["a", "b", "c"] {
            let say = log.clone();
            let actor = scene.add(Actor::new(name, &log).on("on_destroy", move |context| {
                let others = context.scene().find_all::<Actor>();
                say.say(format_args!("{} others", others.len()));
                if name != "a" {
                    let late = context.scene().add(Actor::full("late", &say));
                    assert!(late.is_none());
                }
            }));
            let log = log.clone();
            actor.start(async move {
                let _gone = log.on_drop(format_args!("{name}'s coroutine dropped"));
                forever().await;
            });
            if name == "a" {
                actor.destroy();
                scene.run_frame(FRAME);
            }
        }
        let handle = scene.handle();
        log.note("scene dropped");
        drop(scene);
        log.check(&[
            "a's coroutine dropped",
            "F1.host: a on_destroy",
            "F1.host: 0 others",
            "scene dropped",
            "b's coroutine dropped",
            "F1.host: b on_destroy",
            "F1.host: 1 others",
            "c's coroutine dropped",
            "F1.host: c on_destroy",
            "F1.host: 0 others",
        ]);
        assert!(handle.add(Actor::full("late", &log)).is_none());
        assert!(handle.find::<Actor>().is_none() && handle.find_all::<Actor>().is_empty());
    }

    #[test]
    fn inside_a_closure_that_has_it_waits_for_the_end_of_the_frame() {
        let log = Log::new();
        let mut scene = stage();
        let actor = scene.add(Actor::full("a", &log));
        actor.with(|a| {
            assert!(actor.destroy());
            a.lines = 7;
        });
        assert_eq!(actor.with(|a| a.lines), 7);
        scene.run_frame(FRAME);
        log.check(&["F1.host: a on_destroy"]);
    }

    #[test]
    fn of_the_scene_inside_a_closure_waits_for_the_closure() {
        for panics in [false, true] {
            let log = Log::new();
            let scene = stage();
            let actor = scene.add(Actor::new("a", &log).on("on_destroy", |_| ()));
            let (this, say) = (actor.clone(), log.clone());
            let with = move || {
                this.with(|_| {
                    drop(scene);
                    say.note("scene dropped");
                    assert!(!panics, "on purpose");
                });
            };
            if panics {
                assert_eq!(panic_of(with), "on purpose");
            } else {
                with();
            }
            log.check(&["scene dropped", "F0: a on_destroy"]);
            assert!(matches!(
                actor.try_with(|_| ()),
                Err(WithError::Destroyed { .. })
            ));
        }
    }
}

mod this {
    use super::*;

    /// A behaviour that tells the others in this module nothing but its number.
    #[derive(Debug)]
    struct Number(u32);

    impl Behaviour for Number {}

    #[test]
    fn borrows_until_the_closure_returns_and_begins_then_what_was_started() {
        let log = Log::new();
        let scene = stage();
        let (a, b) = (scene.add(Number(1)), scene.add(Number(2)));
        let sum = a.with(|one| {
            a.start(says(log.clone(), "of a"));
            let sum = b.with(|two| {
                b.start(says(log.clone(), "of b"));
                one.0 + two.0
            });
            log.note("both are borrowed");
            sum
        });
        assert_eq!(sum, 3);
        log.check(&["both are borrowed", "F0: of a", "F0: of b"]);
    }

    #[test]
    fn names_the_type_and_the_way_out_if_a_closure_has_the_behaviour() {
        let scene = stage();
        let number = scene.add(Number(1));
        number.with(|one| {
            assert_eq!(
                panic_of(|| number.with(|one| one.0)),
                "the `it::scene::this::Number` is borrowed by a closure or callback around this \
                 call: use the reference which that one has, or `spawn` what needs the state"
            );
            let error = number.try_with(|one| one.0).unwrap_err();
            assert!(matches!(error, WithError::Borrowed { type_name, .. } if type_name.ends_with("Number")));
            one.0 += 1;
        });
        assert_eq!(number.with(|number| number.0), 2);
    }

    #[test]
    fn finds_the_behaviour_borrowed_by_its_callbacks_and_free_in_what_they_start() {
        let log = Log::new();
        let mut scene = stage();
        let mut actor = Actor::new("a", &log);
        for callback in CALLBACKS {
            let say = log.clone();
            actor = actor.on(callback, move |context| {
                let this = context.this();
                let borrowed = matches!(this.try_with(|_| ()), Err(WithError::Borrowed { .. }));
                say.note(if borrowed { "borrowed" } else { "free" });
                let say = say.clone();
                context.start(async move { this.with(|_| say.note("free")) });
            });
        }
        scene.add(actor);
        scene.run_frame(FRAME);
        drop(scene);
        log.check(&[
            "F1.host: a start",
            "borrowed",
            "free",
            "F1.host: a fixed_update",
            "borrowed",
            "free",
            "F1.host: a update",
            "borrowed",
            "free",
            "F1.host: a late_update",
            "borrowed",
            "free",
            "F1.host: a on_destroy",
            "borrowed",
        ]);
    }

    #[test]
    fn names_the_type_and_the_way_out_if_the_behaviour_is_gone() {
        let mut scene = stage();
        let number = scene.add(Number(1));
        let orphan = {
            let number = number.clone();
            scene.executor().start(async move {
                next_frame().await;
                next_frame().await;
                number.with(|number| number.0)
            })
        };
        number.destroy();
        scene.run_frame(FRAME);
        let text = "the `it::scene::this::Number` has been destroyed: ask `is_alive` first, or use \
                    `try_with`";
        assert_eq!(panic_of(|| number.with(|number| number.0)), text);
        let error = number.try_with(|number| number.0).unwrap_err();
        assert!(matches!(error, WithError::Destroyed { .. }));
        assert_eq!(error.to_string(), text);
        scene.run_frame(FRAME);
        let error = result_of(scene.executor(), orphan).unwrap_err();
        assert_eq!(panic_text(&*error.into_panic()), text);
    }

    #[test]
    fn blames_the_caller() {
        let mut scene = stage();
        let number = scene.add(Number(1));
        number.with(|_| {
            let here = format!("{}:{}", file!(), line!() + 1);
            assert_eq!(panic_place_of(|| number.with(|_| ())), here);
        });
        number.destroy();
        scene.run_frame(FRAME);
        let here = format!("{}:{}", file!(), line!() + 1);
        assert_eq!(panic_place_of(|| number.with(|_| ())), here);
    }

    #[test]
    fn gives_the_behaviour_back_if_the_closure_panics() {
        let log = Log::new();
        let mut scene = stage();
        let number = scene.add(Number(1));
        let (this, say) = (number.clone(), log.clone());
        let coroutine = number.start(async move {
            this.with(|_| {
                this.start(says(say, "started before the panic"));
                panic!("on purpose");
            })
        });
        log.check(&["F0: started before the panic"]);
        assert!(coroutine.is_finished());
        scene.run_frame(FRAME);
        assert!(number.is_alive());
        assert_eq!(number.with(|number| number.0), 1);
    }

    #[test]
    fn is_equal_to_all_others_of_the_same_behaviour_also_when_that_is_gone() {
        let mut scene = stage();
        let (a, b) = (scene.add(Number(1)), scene.add(Number(1)));
        assert_eq!(a, a.clone());
        assert_eq!(scene.find(), Some(a.clone()));
        assert_ne!(a, b);
        assert_eq!(
            format!("{a:?}"),
            "This { behaviour: \"it::scene::this::Number\", alive: true }"
        );
        a.destroy();
        scene.run_frame(FRAME);
        assert_eq!(a, a.clone());
        assert_ne!(a, scene.add(Number(1)));
    }

    /// Drops what it holds with the behaviour.
    struct Holds {
        _held: Rc<()>,
        this: Option<This<Holds>>,
    }

    impl Behaviour for Holds {
        fn start(&mut self, context: &SceneContext<'_, Self>) {
            self.this = Some(context.this());
            let this = context.this();
            context.start(async move {
                let _this = this;
                forever().await;
            });
        }
    }

    #[test]
    fn keeps_nothing_alive() {
        let held = Rc::new(());
        let mut scene = stage();
        let [a, b] = [held.clone(), held.clone()].map(|held| {
            scene.add(Holds {
                _held: held,
                this: None,
            })
        });
        scene.run_frame(FRAME);
        a.destroy();
        scene.run_frame(FRAME);
        assert_eq!(Rc::strong_count(&held), 2);
        drop(scene);
        assert_eq!(Rc::strong_count(&held), 1);
        for gone in [a, b] {
            assert!(!gone.is_alive() && !gone.is_active());
            assert!(!gone.destroy() && !gone.pause() && !gone.resume());
            gone.stop_all();
            gone.set_active(true);
            assert!(gone.start(async {}).is_finished() && gone.spawn(async {}).is_finished());
        }
    }

    #[test]
    fn is_found_by_type_until_it_is_destroyed_or_panics() {
        let mut scene = stage();
        assert_eq!(scene.find::<Number>(), None);
        let all = [1, 2, 3, 4].map(|number| scene.add(Number(number)));
        let log = Log::new();
        scene.add(Actor::new("other", &log).on("update", |_| panic!("on purpose")));
        let numbers = |scene: &Scene| {
            let found = scene.find_all::<Number>();
            assert_eq!(scene.handle().find_all::<Number>(), found);
            assert_eq!(scene.find::<Number>(), found.first().cloned());
            assert_eq!(scene.handle().find::<Number>(), found.first().cloned());
            let numbers = found.iter().map(|this| this.with(|number| number.0));
            numbers.collect::<Vec<_>>()
        };
        assert_eq!(numbers(&scene), [1, 2, 3, 4]);
        all[0].destroy();
        all[2].destroy();
        all[3].set_active(false);
        assert_eq!(numbers(&scene), [2, 4]);
        assert_eq!(scene.len(), 3);
        scene.begin_frame(FRAME);
        scene.run_phase(Phase::Update);
        assert_eq!(scene.find::<Actor>(), None);
        scene.run_phase(Phase::EndOfFrame);
        assert_eq!((numbers(&scene), scene.len()), (vec![2, 4], 2));
        assert_eq!(scene.heard.0.take().len(), 1);
    }

    /// Notes whether the behaviour can be had when it is dropped.
    struct AsksAtTheEnd(Log, &'static str, Option<This<Asked>>);

    struct Asked(Option<AsksAtTheEnd>);

    impl Behaviour for Asked {}

    impl Drop for AsksAtTheEnd {
        fn drop(&mut self) {
            let result = self.2.as_ref().unwrap().try_with(|_| ());
            let found = match result {
                Ok(()) => "found",
                Err(WithError::Destroyed { .. }) => "gone",
                Err(_) => "borrowed",
            };
            self.0.say(format_args!("{}: {found}", self.1));
        }
    }

    #[test]
    fn is_there_for_the_destructors_of_coroutines_and_not_for_its_own() {
        let log = Log::new();
        let mut scene = stage();
        let asked = scene.add(Asked(None));
        let own = AsksAtTheEnd(log.clone(), "its own", Some(asked.clone()));
        asked.with(|behaviour| behaviour.0 = Some(own));
        let of_coroutine = AsksAtTheEnd(log.clone(), "a coroutine's", Some(asked.clone()));
        asked.start(async move {
            let _asks = of_coroutine;
            forever().await;
        });
        asked.destroy();
        scene.run_frame(FRAME);
        log.check(&["F1.host: a coroutine's: found", "F1.host: its own: gone"]);
    }
}

mod active {
    use super::*;

    #[test]
    fn inactive_ones_get_no_callbacks_and_have_no_coroutines() {
        let log = Log::new();
        let mut scene = stage();
        let actor = scene.add(
            Actor::new("a", &log)
                .on("start", |_| ())
                .on("update", |_| ()),
        );
        actor.start(ticks(log.clone(), "tick"));
        scene.run_frame(FRAME);
        log.check(&["F1.host: a start", "F1.host: a update", "F1: tick"]);
        actor.set_active(false);
        log.check(&["tick dropped"]);
        assert!(actor.start(says(log.clone(), "refused")).is_finished());
        assert!(actor.spawn(says(log.clone(), "refused")).is_finished());
        assert!(actor.is_alive() && !actor.is_active());
        scene.run_frame(FRAME);
        log.check(&[]);
        actor.set_active(true);
        actor.start(says(log.clone(), "taken"));
        scene.run_frame(FRAME);
        log.check(&["F2.host: taken", "F3.host: a update"]);
    }

    #[test]
    fn one_that_is_inactive_from_the_beginning_starts_when_it_is_activated() {
        let log = Log::new();
        let mut scene = stage();
        let actor = scene.add(
            Actor::new("a", &log)
                .on("start", |_| ())
                .on("update", |_| ()),
        );
        actor.set_active(false);
        frames(&mut scene, 2);
        log.check(&[]);
        actor.set_active(true);
        frames(&mut scene, 2);
        log.check(&["F3.host: a start", "F3.host: a update", "F4.host: a update"]);
    }

    #[test]
    fn one_that_deactivates_itself_is_out_for_the_rest_of_the_frame() {
        let log = Log::new();
        let mut scene = stage();
        let say = log.clone();
        let actor = Actor::full("a", &log).on("fixed_update", move |context| {
            context.start(ticks(say.clone(), "begun by nobody"));
            context.this().set_active(false);
            assert!(context.start(says(say.clone(), "refused")).is_finished());
        });
        scene.add(actor);
        frames(&mut scene, 2);
        log.check(&["F1.host: a start", "F1.host: a fixed_update"]);
    }

    #[test]
    fn a_coroutine_that_deactivates_its_behaviour_goes_on_to_its_next_wait() {
        let log = Log::new();
        let mut scene = stage();
        let actor = scene.add(Actor::new("a", &log).on("late_update", |_| ()));
        let (this, say) = (actor.clone(), log.clone());
        actor.start(async move {
            let _gone = say.on_drop("dropped");
            next_frame().await;
            this.set_active(false);
            say.say("still said");
            next_frame().await;
            unreachable!();
        });
        actor.start(ticks(log.clone(), "sibling"));
        scene.run_frame(FRAME);
        log.check(&["sibling dropped", "F1: still said", "dropped"]);
    }

    #[test]
    fn inactive_ones_are_told_when_they_are_destroyed() {
        let log = Log::new();
        let mut scene = stage();
        let actor = scene.add(Actor::full("a", &log));
        actor.set_active(false);
        actor.destroy();
        scene.run_frame(FRAME);
        log.check(&["F1.host: a on_destroy"]);
    }
}

mod panics {
    use super::*;

    #[test]
    fn in_a_callback_end_the_behaviour_and_are_reported_and_nothing_else_stops() {
        for callback in ["start", "fixed_update", "update", "late_update"] {
            let log = Log::new();
            let mut scene = stage();
            let say = log.clone();
            let bad = Actor::new("bad", &log).on("on_destroy", |_| ());
            let bad = scene.add(bad.on(callback, move |context| {
                let log = say.clone();
                context.start(async move {
                    let _gone = log.on_drop("what it started dropped");
                    assert!(!std::thread::panicking());
                    log.say("what it started");
                    forever().await;
                });
                panic!("on {}", "purpose");
            }));
            bad.start(ticks(log.clone(), "older"));
            scene.add(Actor::new("good", &log).on(callback, |_| ()));
            scene.begin_frame(FRAME);
            scene.run_phase(Phase::EarlyUpdate);
            while scene.begin_fixed_step() {
                scene.run_phase(Phase::FixedUpdate);
            }
            scene.run_phase(Phase::Update);
            scene.run_phase(Phase::LateUpdate);
            assert!(!bad.is_alive() && !bad.destroy());
            bad.set_active(true);
            assert!(!bad.is_active() && bad.start(async {}).is_finished());
            scene.run_phase(Phase::EndOfFrame);
            assert!(matches!(
                bad.try_with(|_| ()),
                Err(WithError::Destroyed { .. })
            ));
            let mut lines = log.take();
            lines.retain(|line| line != "F1: older");
            let expected = [
                &format!("F1.host: bad {callback}"),
                "F1.host: what it started",
                "older dropped",
                "what it started dropped",
                &format!("F1.host: good {callback}"),
            ];
            assert_eq!(lines, expected);
            let report = format!(
                "frame 1: `{callback}` of it::scene::Actor panicked: on purpose; it is removed \
                 from its scene"
            );
            scene.check_reports(&[&report]);
            assert_eq!(scene.len(), 1);
            frames(&mut scene, 1);
            if callback != "start" {
                log.check(&[&format!("F2.host: good {callback}")]);
            }
        }
    }

    #[test]
    fn are_reported_with_callback_frame_and_message() {
        let scene = Scene::new();
        let heard = Rc::new(RefCell::new(Vec::new()));
        let hear = heard.clone();
        let on_report = move |report: &Report| hear.borrow_mut().push(report.clone());
        scene.executor().on_report(on_report);
        let log = Log::new();
        let mut scene = scene;
        scene.add(Actor::new("a", &log).on("update", |_| std::panic::panic_any(7)));
        scene.run_frame(FRAME);
        let heard = heard.borrow();
        let [
            Report::BehaviourPanicked {
                behaviour,
                callback,
                frame,
                message,
                ..
            },
        ] = &heard[..]
        else {
            panic!("one report of a panic, not {heard:?}");
        };
        assert_eq!(
            (*behaviour, *callback, *frame),
            ("it::scene::Actor", "update", 1)
        );
        assert_eq!(*message, None);
    }

    #[test]
    fn in_on_destroy_still_remove_the_behaviour() {
        let log = Log::new();
        let mut scene = stage();
        let bad = scene.add(Actor::new("bad", &log).on("on_destroy", |_| panic!("on purpose")));
        let good = scene.add(Actor::new("good", &log).on("on_destroy", |_| ()));
        bad.destroy();
        good.destroy();
        scene.run_frame(FRAME);
        log.check(&["F1.host: bad on_destroy", "F1.host: good on_destroy"]);
        scene.check_reports(&[
            "frame 1: `on_destroy` of it::scene::Actor panicked: on purpose; it is removed from \
             its scene",
        ]);
        assert!(bad.try_with(|_| ()).is_err());
        scene.run_frame(FRAME);
        log.check(&[]);
    }

    /// Panics when it is dropped.
    struct Bomb(Log);

    impl Behaviour for Bomb {
        fn on_destroy(&mut self, _: &SceneContext<'_, Self>) {
            self.0.say("on_destroy");
        }
    }

    impl Drop for Bomb {
        fn drop(&mut self) {
            self.0.say("dropped");
            panic!("on purpose");
        }
    }

    #[test]
    fn in_a_destructor_are_reported_and_hold_up_nobody() {
        let log = Log::new();
        let mut scene = stage();
        scene.add(Bomb(log.clone())).destroy();
        scene
            .add(Actor::new("good", &log).on("on_destroy", |_| ()))
            .destroy();
        scene.run_frame(FRAME);
        log.check(&[
            "F1.host: on_destroy",
            "F1.host: dropped",
            "F1.host: good on_destroy",
        ]);
        scene.check_reports(&[
            "frame 1: `drop` of it::scene::panics::Bomb panicked: on purpose; it is removed from \
             its scene",
        ]);
        scene.add(Bomb(log.clone()));
        let heard = scene.heard.clone();
        drop(scene);
        log.check(&["F1.host: on_destroy", "F1.host: dropped"]);
        assert_eq!(heard.0.take().len(), 1);
    }

    #[test]
    fn in_a_coroutine_leave_the_behaviour_alone() {
        let log = Log::new();
        let mut scene = stage();
        let actor = scene.add(Actor::new("a", &log).on("update", |_| ()));
        actor.start(async {
            next_frame().await;
            panic!("on purpose");
        });
        actor.start(ticks(log.clone(), "sibling"));
        frames(&mut scene, 2);
        log.check(&[
            "F1.host: a update",
            "F1: sibling",
            "F2.host: a update",
            "F2: sibling",
        ]);
    }
}

mod stepping {
    use super::*;

    struct Gold(u32);

    #[test]
    fn lent_state_is_there_in_callbacks_and_in_coroutines() {
        let log = Log::new();
        let mut scene = stage();
        let mut gold = Gold(0);
        let say = log.clone();
        scene.add(Actor::new("a", &log).on("update", move |context| {
            let found = with(|gold: &mut Gold| {
                gold.0 += 1;
                context.start(says(say.clone(), "started inside"));
                gold.0
            });
            say.say(format_args!("{found} in a callback"));
            let say = say.clone();
            context.start(async move {
                end_of_frame().await;
                let found = with(|gold: &mut Gold| {
                    gold.0 += 10;
                    gold.0
                });
                say.say(format_args!("{found} in a coroutine"));
            });
        }));
        scene.lend(&mut gold, |scene| scene.run_frame(FRAME));
        log.check(&[
            "F1.host: a update",
            "F1.host: 1 in a callback",
            "F1.host: started inside",
            "F1.EndOfFrame: 11 in a coroutine",
        ]);
        assert_eq!(gold.0, 11);
    }

    #[test]
    fn inside_a_closure_that_may_have_a_behaviour_is_refused_and_harms_nothing() {
        let log = Log::new();
        let mut scene = stage();
        let actor = scene.add(Actor::new("a", &log).on("update", |_| ()));
        actor.with(|_| {
            let text = panic_of(|| scene.run_frame(FRAME));
            assert!(text.contains("`with`"), "names no reason: {text}");
            let here = format!("{}:{}", file!(), line!() + 1);
            assert_eq!(panic_place_of(|| scene.run_frame(FRAME)), here);
            let here = format!("{}:{}", file!(), line!() + 1);
            assert_eq!(panic_place_of(|| scene.run_until(async {}, FRAME)), here);
        });
        assert_eq!(scene.executor().time().frame, 0);
        scene.run_frame(FRAME);
        log.check(&["F1.host: a update"]);
    }

    #[test]
    fn runs_until_a_future_has_returned() {
        let log = Log::new();
        let mut scene = stage();
        let actor = scene.add(Actor::new("a", &log).on("update", |_| ()));
        let this = actor.clone();
        let lines = scene.run_until(
            async move {
                wait_frames(2).await;
                this.with(|actor| actor.lines)
            },
            FRAME,
        );
        assert_eq!(lines, 0);
        log.check(&["F1.host: a update", "F2.host: a update"]);
        let text = panic_of(|| scene.run_until(async { panic!("on purpose") }, FRAME));
        assert_eq!(text, "on purpose");
        let text = panic_of(|| {
            scene.run_until(
                async {
                    stop(current());
                    forever().await;
                },
                FRAME,
            );
        });
        assert!(text.contains("`run_until` has no output"), "{text}");
    }
}

mod size {
    use super::*;

    /// Counts up in each callback, and once a frame in a coroutine.
    struct Ant {
        steps: u64,
        all: Rc<Cell<u64>>,
    }

    impl Behaviour for Ant {
        fn start(&mut self, context: &SceneContext<'_, Self>) {
            let this = context.this();
            context.start(async move {
                loop {
                    next_frame().await;
                    this.with(|ant| ant.steps += 1);
                }
            });
        }

        fn update(&mut self, _: &SceneContext<'_, Self>) {
            self.steps += 1;
        }

        fn on_destroy(&mut self, _: &SceneContext<'_, Self>) {
            self.all.set(self.all.get() + self.steps);
        }
    }

    #[test]
    fn ten_thousand_behaviours_come_act_and_go() {
        let mut scene = stage();
        let all = Rc::new(Cell::new(0));
        let ant = || Ant {
            steps: 0,
            all: all.clone(),
        };
        let ants: Vec<_> = (0..10_000).map(|_| scene.add(ant())).collect();
        frames(&mut scene, 3);
        assert_eq!(ants[9_999].with(|ant| ant.steps), 5); // the coroutine from frame 2 on
        for ant in ants.iter().step_by(2) {
            ant.destroy();
        }
        assert_eq!(scene.len(), 5_000);
        frames(&mut scene, 1);
        assert_eq!(all.get(), 5_000 * 7);
        assert_eq!(scene.executor().len(), 5_000);
        frames(&mut scene, 1);
        assert_eq!(ants[9_999].with(|ant| ant.steps), 9);
        drop(scene);
        assert_eq!(all.get(), 5_000 * 7 + 5_000 * 9);
    }

    #[test]
    fn a_frame_allocates_nothing_in_the_steady_state() {
        let mut scene = stage();
        let all = Rc::new(Cell::new(0));
        for _ in 0..100 {
            scene.add(Ant {
                steps: 0,
                all: all.clone(),
            });
        }
        frames(&mut scene, 100);
        assert_eq!(allocations_of(|| frames(&mut scene, 100)), 0);
    }

    /// Starts a coroutine in every frame and is found by others.
    struct Busy(Option<This<Busy>>);

    impl Behaviour for Busy {
        fn update(&mut self, context: &SceneContext<'_, Self>) {
            let this = context.this();
            context.start(async move {
                end_of_frame().await;
                this.with(|busy| busy.0 = None);
            });
            let first = context.scene().find::<Busy>();
            self.0 = first.filter(This::is_alive);
        }
    }

    #[test]
    fn coroutines_handles_and_searches_allocate_nothing_in_the_steady_state() {
        let mut scene = stage();
        for _ in 0..100 {
            scene.add(Busy(None));
        }
        frames(&mut scene, 100);
        assert_eq!(allocations_of(|| frames(&mut scene, 100)), 0);
    }
}
