//! Closures that borrow lent state as soon as it is free.

use std::cell::{Cell, RefCell};
use std::mem;
use std::rc::Rc;

use framestep::Executor;
use framestep::inspect::Report;
use framestep::prelude::*;

use framestep_testkit::timeline::{Log, unclamped};
use framestep_testkit::{forever, panic_of};

/// The lent state: names, in order of arrival.
#[derive(Default)]
struct World(Vec<&'static str>);

/// Adds a name to the world, soon.
#[track_caller]
fn add(name: &'static str) -> bool {
    with_deferred(move |world: &mut World| world.0.push(name))
}

#[test]
fn closures_without_end_are_reported_once_for_each_run_even_an_idle_one() {
    fn again(_: &mut World) {
        with_deferred(again);
    }
    let mut executor = Executor::builder().max_polls_per_run(1).build();
    let reports = Rc::new(Cell::new(0));
    let count = reports.clone();
    executor.on_report(move |_| count.set(count.get() + 1));
    executor.enter(|| with_deferred(again));
    for frame in 1..=3 {
        executor.run_frame(0.25);
        executor.lend(&mut World::default(), |_| ());
        assert_eq!(reports.get(), frame);
    }
}

#[test]
fn a_closure_is_no_part_of_the_coroutine_that_passes_it_whenever_it_is_called() {
    let mut executor = unclamped();
    let (log, slow) = (Log::new(), executor.clock().child());
    slow.set_scale(0.5);
    let owner = executor.owner_on(&slow);
    let note = log.clone();
    owner
        .script("")
        .in_phase(Phase::LateUpdate)
        .start(async move {
            next_frame().await;
            let tell = move |_: &mut World| {
                let script = spawn(forever());
                let (seconds, home) = (time().elapsed.as_secs_f32(), script.home().unwrap());
                note.note(format!("{seconds} {home}"));
            };
            let (now, later) = (tell.clone(), tell);
            with_deferred(now);
            with(|_: &mut World| with_deferred(later));
        });
    executor.lend(&mut World::default(), |executor| executor.run_frame(1.0));
    log.check(&["1 Update", "1 Update"]);
    drop(owner);
    assert_eq!(executor.len(), 2, "they have no owner");
}

/// Adds a name when it is dropped.
struct Bullet(&'static str);

impl Drop for Bullet {
    fn drop(&mut self) {
        assert!(add(self.0), "there is an executor around destructors");
    }
}

async fn flies(bullet: Bullet) {
    forever().await;
    drop(bullet);
}

/// One frame with `world` lent.
fn lend_frame(executor: &mut Executor, world: &mut World) {
    executor.lend(world, |executor| executor.run_frame(0.25));
}

fn reports_of(executor: &Executor) -> Rc<RefCell<Vec<Report>>> {
    let reports = Rc::new(RefCell::new(Vec::new()));
    let log = reports.clone();
    executor.on_report(move |report| log.borrow_mut().push(report.clone()));
    reports
}

mod order {
    use super::*;

    #[test]
    fn at_once_if_the_state_is_free() {
        let mut executor = unclamped();
        let mut world = World::default();
        executor.spawn(async {
            assert!(add("soon"));
            with(|world: &mut World| world.0.push("after"));
        });
        lend_frame(&mut executor, &mut world);
        assert_eq!(world.0, ["soon", "after"]);
    }

    #[test]
    fn after_the_outermost_borrow_in_order_and_before_what_was_started_in_it() {
        let mut executor = unclamped();
        let mut world = World::default();
        executor.spawn(async {
            with(|world: &mut World| {
                start(async { with(|world: &mut World| world.0.push("started")) });
                add("first");
                add("second");
                world.0.push("in the closure");
            });
            with(|world: &mut World| world.0.push("after it"));
        });
        lend_frame(&mut executor, &mut world);
        let order = ["in the closure", "first", "second", "started", "after it"];
        assert_eq!(world.0, order);
    }

    #[test]
    fn after_the_outermost_of_shared_borrows() {
        let mut executor = unclamped();
        let mut world = World::default();
        executor.spawn(async {
            with_ref(|_: &World| {
                with_ref(|_: &World| add("soon"));
                with_ref(|world: &World| assert!(world.0.is_empty()));
            });
            with_ref(|world: &World| assert_eq!(world.0, ["soon"]));
        });
        lend_frame(&mut executor, &mut world);
        assert_eq!(world.0, ["soon"]);
    }

    #[test]
    fn in_the_next_lend_of_the_type_before_the_hosts_closure() {
        let mut executor = unclamped();
        let mut world = World::default();
        executor.enter(|| assert!(add("first") && add("second")));
        executor.lend(&mut 5_u8, |executor| executor.run_frame(0.25));
        assert!(world.0.is_empty());
        executor.lend(&mut world, |executor| {
            executor.enter(|| {
                with(|world: &mut World| assert_eq!(world.0, ["first", "second"]));
                add("third");
            });
        });
        assert_eq!(world.0, ["first", "second", "third"]);
    }

    #[test]
    fn of_several_types_each_waits_for_its_own() {
        let mut executor = unclamped();
        let (mut world, mut number) = (World::default(), 0_u8);
        executor.enter(|| {
            with_deferred(|number: &mut u8| *number += 1);
            add("soon");
        });
        executor.lend(&mut number, |executor| {
            executor.enter(|| assert_eq!(with(|number: &mut u8| *number), 1));
            executor.lend(&mut world, |_| ());
        });
        assert_eq!((number, &*world.0), (1, &["soon"][..]));
    }

    #[test]
    fn one_for_a_borrowed_state_does_not_go_to_another_of_the_type() {
        let mut executor = unclamped();
        let handle = executor.handle();
        let (mut outer, mut inner) = (World::default(), World::default());
        executor.lend(&mut outer, |executor| {
            executor.enter(|| {
                with(|outer: &mut World| {
                    add("outer");
                    handle.lend(&mut inner, |handle| handle.enter(|| add("inner")));
                    assert!(outer.0.is_empty());
                });
            });
        });
        assert_eq!((&*outer.0, &*inner.0), (&["outer"][..], &["inner"][..]));
    }

    #[test]
    fn a_closure_may_add_more_which_come_after_those_that_wait() {
        let mut executor = unclamped();
        let mut world = World::default();
        executor.enter(|| {
            with_deferred(|world: &mut World| {
                world.0.push("first");
                add("third");
            });
            add("second");
        });
        lend_frame(&mut executor, &mut world);
        assert_eq!(world.0, ["first", "second", "third"]);
    }

    #[test]
    fn a_closure_may_spawn_start_and_stop() {
        let mut executor = unclamped();
        let mut world = World::default();
        let owner = executor.owner();
        let stopped = owner.start(flies(Bullet("stopped by it")));
        owner.spawn(async move {
            with(|_: &mut World| {
                with_deferred(move |world: &mut World| {
                    world.0.push("soon");
                    start(async { with(|world: &mut World| world.0.push("started")) });
                    spawn(async { with(|world: &mut World| world.0.push("spawned")) });
                    assert!(stop(stopped.id()));
                });
            });
            with(|world: &mut World| world.0.push("goes on"));
        });
        lend_frame(&mut executor, &mut world);
        let order = ["soon", "stopped by it", "started", "goes on", "spawned"];
        assert_eq!(world.0, order);
    }

    #[test]
    fn what_a_closure_spawns_has_no_owner() {
        let mut executor = unclamped();
        let owner = executor.owner();
        owner.spawn(async {
            with_deferred(|_: &mut World| drop(spawn(forever())));
            with(|_: &mut World| with_deferred(|_: &mut World| drop(spawn(forever()))));
        });
        lend_frame(&mut executor, &mut World::default());
        drop(owner);
        assert_eq!(executor.len(), 2);
    }

    #[test]
    fn a_closure_that_adds_itself_without_end_is_left_to_the_next_lend_and_reported() {
        fn again(times: &Rc<Cell<u32>>) {
            let times = times.clone();
            with_deferred(move |_: &mut World| {
                times.set(times.get() + 1);
                again(&times);
            });
        }
        let mut executor = Executor::builder().max_polls_per_run(1).build();
        let reports = reports_of(&executor);
        let times = Rc::new(Cell::new(0));
        executor.enter(|| again(&times));
        executor.lend(&mut World::default(), |_| ());
        let first = times.get();
        assert!(first >= 100, "{first}");
        assert!(matches!(reports.borrow()[..], [Report::Runaway { .. }]));
        executor.lend(&mut World::default(), |_| ());
        assert_eq!(times.get(), 2 * first);
    }
}

mod destructors {
    use super::*;

    #[test]
    fn of_a_script_that_returns_panics_or_is_stopped_anywhere() {
        let mut executor = unclamped();
        let mut world = World::default();
        let bullet = Bullet("returned");
        executor.spawn(async move { drop(bullet) });
        let bullet = Bullet("panicked");
        executor.spawn(async move {
            let _bullet = bullet;
            panic!("on purpose");
        });
        let inside = executor.start(flies(Bullet("stopped inside a borrow")));
        executor.spawn(async move {
            with(|world: &mut World| {
                inside.stop();
                world.0.push("the borrow");
            });
        });
        let by_host = executor.start(flies(Bullet("stopped by the host")));
        let owner = executor.owner();
        owner.start(flies(Bullet("despawned")));
        lend_frame(&mut executor, &mut world);
        by_host.stop();
        drop(owner);
        lend_frame(&mut executor, &mut world);
        assert_eq!(
            world.0,
            [
                "returned",
                "panicked",
                "the borrow",
                "stopped inside a borrow",
                "stopped by the host",
                "despawned",
            ]
        );
    }

    #[test]
    fn of_a_script_that_no_owner_takes() {
        let mut executor = unclamped();
        let mut world = World::default();
        let owner = executor.owner();
        owner.set_active(false);
        owner.start(flies(Bullet("started")));
        owner.spawn(flies(Bullet("spawned")));
        lend_frame(&mut executor, &mut world);
        assert_eq!(world.0, ["started", "spawned"]);
    }

    #[test]
    fn of_a_result_that_is_never_taken() {
        let mut executor = unclamped();
        let mut world = World::default();
        let bullet = Bullet("result");
        let coroutine = executor.start(async move { bullet });
        drop(coroutine);
        lend_frame(&mut executor, &mut world);
        assert_eq!(world.0, ["result"]);
    }

    #[test]
    fn of_what_ends_with_the_executor_if_the_state_is_lent() {
        let mut executor = unclamped();
        let mut world = World::default();
        executor.start(flies(Bullet("dropped")));
        executor.lend(&mut world, |executor| drop(mem::take(executor)));
        assert_eq!(world.0, ["dropped"]);
    }
}

mod without {
    use super::*;

    #[test]
    fn outside_of_an_executor_the_closure_is_dropped() {
        let log = Log::new();
        let guard = log.on_drop("dropped");
        assert!(!with_deferred(move |_: &mut World| drop(guard)));
        log.check(&["dropped"]);
    }

    /// Does something when it is dropped.
    struct Does<F: FnMut()>(F);

    impl<F: FnMut()> Drop for Does<F> {
        fn drop(&mut self) {
            (self.0)();
        }
    }

    #[test]
    fn what_waits_when_the_executor_is_dropped_is_dropped_with_it() {
        let executor = unclamped();
        let log = Log::new();
        for name in ["first", "second"] {
            let guard = log.on_drop(name);
            executor.enter(|| {
                with_deferred(move |_: &mut World| {
                    let _guard = guard;
                    unreachable!("it is dropped unrun");
                })
            });
        }
        let handle = executor.handle();
        let (note, guard) = (log.clone(), log.on_drop("from a destructor"));
        let soon = Cell::new(Some(guard));
        let asks = Does(move || {
            let guard = soon.take();
            note.note(with_deferred(move |_: &mut World| drop(guard)));
        });
        executor.start(async move {
            forever().await;
            drop(asks);
        });
        drop(executor);
        log.check(&["from a destructor", "false", "first", "second"]);
        assert_eq!(handle.enter(|| ()), None);
    }

    #[test]
    fn what_waits_may_hold_the_handle_that_stops_a_coroutine() {
        let executor = unclamped();
        let log = Log::new();
        let guard = log.on_drop("stopped");
        let coroutine = executor
            .start(async move {
                forever().await;
                drop(guard);
            })
            .stop_on_drop();
        executor.enter(|| with_deferred(move |_: &mut World| drop(coroutine)));
        drop(executor);
        log.check(&["stopped"]);
    }
}

mod panicking {
    use super::*;

    #[test]
    fn a_closure_is_reported_with_its_call_and_the_others_are_called() {
        let mut executor = unclamped();
        let reports = reports_of(&executor);
        let mut world = World::default();
        let line = line!() + 3;
        executor.spawn(async {
            with(|_: &mut World| {
                with_deferred(|_: &mut World| panic!("on purpose"));
                add("second");
            });
            with(|world: &mut World| world.0.push("goes on"));
        });
        lend_frame(&mut executor, &mut world);
        assert_eq!(world.0, ["second", "goes on"]);
        let text = reports.borrow()[0].to_string();
        let place = format!("{}:{line}:", file!());
        let starts = text.starts_with("frame 1, Update: the closure of `with_deferred` at ");
        let called_with = "called with `hosts::with_deferred::World`, panicked: on purpose";
        assert!(
            starts && text.contains(&place) && text.ends_with(called_with),
            "{text}"
        );
    }

    #[test]
    fn one_that_is_called_at_once_does_not_reach_its_caller() {
        let mut executor = unclamped();
        let reports = reports_of(&executor);
        let mut world = World::default();
        executor.spawn(async {
            assert!(with_deferred(|_: &mut World| panic!("on purpose")));
            with(|world: &mut World| world.0.push("goes on"));
        });
        lend_frame(&mut executor, &mut world);
        assert_eq!(world.0, ["goes on"]);
        assert!(matches!(
            reports.borrow()[..],
            [Report::WithDeferredPanicked { .. }]
        ));
    }

    #[test]
    fn the_borrow_that_they_wait_for_calls_them_while_it_unwinds() {
        let mut executor = unclamped();
        let mut world = World::default();
        executor.lend(&mut world, |executor| {
            executor.enter(|| {
                panic_of(|| {
                    with(|_: &mut World| {
                        add("soon");
                        panic!("on purpose");
                    })
                })
            });
        });
        assert_eq!(world.0, ["soon"]);
    }

    #[test]
    fn the_host_may_have_it_let_through() {
        let mut executor = Executor::builder().propagate_panics(true).build();
        let mut world = World::default();
        executor.enter(|| {
            with_deferred(|_: &mut World| panic!("on purpose"));
            add("second");
        });
        let text = panic_of(|| lend_frame(&mut executor, &mut world));
        assert_eq!(text, "on purpose");
        assert_eq!(world.0, ["second"]);
    }

    #[test]
    fn a_hook_that_adds_more_keeps_the_order() {
        let mut executor = unclamped();
        let handle = executor.handle();
        executor.on_report(move |_| {
            handle.enter(|| add("by the hook"));
        });
        let mut world = World::default();
        executor.enter(|| {
            with_deferred(|_: &mut World| panic!("on purpose"));
            add("second");
        });
        lend_frame(&mut executor, &mut world);
        assert_eq!(world.0, ["second", "by the hook"]);
    }
}

/// Guards that borrow when they are dropped.
mod deferred {
    use super::*;

    /// Adds a name at the end of the scope.
    fn at_end(name: &'static str) -> impl Drop {
        defer(move |world: &mut World| world.0.push(name))
    }

    #[test]
    fn of_a_script_that_returns_panics_or_is_stopped_anywhere() {
        let mut executor = unclamped();
        executor.on_report(|_| {});
        let mut world = World::default();
        executor.spawn(async {
            let _end = at_end("returned");
        });
        executor.spawn(async {
            let _end = at_end("panicked");
            panic!("on purpose");
        });
        let stopped = executor.spawn(async {
            let _end = at_end("stopped by the host");
            forever().await;
        });
        let other = executor.spawn(async {
            let _end = at_end("stopped in a borrow");
            forever().await;
        });
        executor.spawn(async move {
            with(|world: &mut World| {
                other.stop();
                world.0.push("borrowed");
            });
        });
        lend_frame(&mut executor, &mut world);
        let names = ["returned", "panicked", "borrowed", "stopped in a borrow"];
        assert_eq!(world.0, names);
        stopped.stop();
        assert_eq!(world.0.len(), 4);
        lend_frame(&mut executor, &mut world);
        assert_eq!(world.0[4..], ["stopped by the host"]);
    }

    #[test]
    fn in_reverse_order_at_the_end_of_the_block_and_not_if_cancelled() {
        let mut executor = unclamped();
        let mut world = World::default();
        executor.spawn(async {
            {
                let _outer = at_end("outer");
                let _inner = at_end("inner");
                let cancelled = defer(|world: &mut World| world.0.push("never"));
                next_frame().await;
                cancelled.cancel();
            }
            with(|world: &mut World| world.0.push("after the block"));
        });
        lend_frame(&mut executor, &mut world);
        assert!(world.0.is_empty());
        lend_frame(&mut executor, &mut world);
        assert_eq!(world.0, ["inner", "outer", "after the block"]);
    }

    #[test]
    fn a_cancelled_guard_and_one_outside_of_an_executor_drop_their_closures() {
        let held = Rc::new(());
        let (in_guard, in_cancelled) = (held.clone(), held.clone());
        let guard = defer(move |_: &mut World| drop(in_guard));
        let cancelled = defer(move |_: &mut World| drop(in_cancelled));
        assert_eq!(Rc::strong_count(&held), 3);
        drop(guard);
        cancelled.cancel();
        assert_eq!(Rc::strong_count(&held), 1);
    }

    #[test]
    fn a_panic_is_reported_with_the_line_of_defer() {
        let mut executor = unclamped();
        let reports = reports_of(&executor);
        let mut world = World::default();
        let line = line!() + 2;
        executor.spawn(async {
            let _end = defer(|_: &mut World| panic!("on purpose"));
        });
        lend_frame(&mut executor, &mut world);
        let reports = reports.borrow();
        let [Report::WithDeferredPanicked { place, .. }] = &reports[..] else {
            panic!("{reports:?}");
        };
        assert_eq!((place.file(), place.line()), (file!(), line));
    }

    #[test]
    fn a_guard_names_its_state_and_its_line() {
        let text = format!("{:?}", defer(|_: &mut World| {}));
        assert!(
            text.contains("World") && text.contains("with_deferred.rs"),
            "{text}"
        );
    }
}

/// Guards that call a closure without state when they are dropped.
mod deferred_calls {
    use std::cell::Cell;

    use super::*;

    #[test]
    fn they_are_called_at_once_however_the_script_ends() {
        let mut executor = unclamped();
        executor.on_report(|_| {});
        let log = Log::new();
        let script = |name: &'static str, then: fn()| {
            let log = log.clone();
            async move {
                let _end = defer_call(|| log.say(name));
                next_frame().await;
                then();
            }
        };
        executor.start(script("returned", || ()));
        executor.start(script("panicked", || panic!("on purpose")));
        let stopped = executor.start(script("stopped", || ()));
        stopped.stop();
        log.check(&["F0: stopped"]);
        executor.run_frame(0.25);
        log.check(&["F1: returned", "F1: panicked"]);
    }

    #[test]
    fn they_may_borrow_locals_and_be_cancelled_and_need_no_executor() {
        let calls = Cell::new(0);
        {
            let _end = defer_call(|| calls.set(calls.get() + 1));
            defer_call(|| calls.set(calls.get() + 10)).cancel();
            assert_eq!(calls.get(), 0);
        }
        assert_eq!(calls.get(), 1);
    }

    #[test]
    fn what_they_start_has_no_owner() {
        let mut executor = unclamped();
        let owner = executor.owner();
        owner.start(async {
            let _end = defer_call(|| drop(start(wait_frames(2))));
            forever().await;
        });
        drop(owner);
        assert_eq!(executor.len(), 1);
        executor.run_frames(2, 0.25);
        executor.assert_empty();
    }

    #[test]
    fn a_panic_is_reported_with_its_line_and_ends_no_script() {
        let mut executor = unclamped();
        let reports = reports_of(&executor);
        let line = line!() + 2;
        let script = executor.start(async {
            drop(defer_call(|| panic!("on purpose")));
            next_frame().await;
        });
        executor.run_until(script, 0.25).unwrap();
        let reports = reports.borrow();
        let [report @ Report::WithDeferredPanicked { place, message, .. }] = &reports[..] else {
            panic!("{reports:?}");
        };
        assert_eq!((place.file(), place.line()), (file!(), line));
        assert_eq!(message.as_deref(), Some("on purpose"));
        let text = report.to_string();
        assert!(text.contains("the closure of `defer_call` at "), "{text}");
        assert!(!text.contains("`()`"), "{text}");
    }

    #[test]
    fn while_a_script_unwinds_a_panic_does_not_abort() {
        let mut executor = unclamped();
        let reports = reports_of(&executor);
        executor.start(async {
            let _end = defer_call(|| panic!("the second"));
            panic!("the first");
        });
        executor.run_frame(0.25);
        assert_eq!(reports.borrow().len(), 2);
    }

    #[test]
    fn a_guard_names_its_line() {
        let text = format!("{:?}", defer_call(|| ()));
        assert!(text.contains("with_deferred.rs"), "{text}");
    }
}

#[test]
fn the_host_has_waiting_closures_called_between_two_lends() {
    let mut executor = unclamped();
    let scripts = executor.handle();
    let mut world = World::default();
    assert!(!scripts.has_clean_up::<World>());
    executor.enter(|| {
        add("first");
        add("second");
    });
    assert!(scripts.has_clean_up::<World>());
    assert!(!scripts.has_clean_up::<u32>());
    scripts.clean_up(&mut 5_u32);
    assert_eq!(world.0, [""; 0]);
    scripts.clean_up(&mut world);
    assert_eq!(world.0, ["first", "second"]);
    assert!(!scripts.has_clean_up::<World>());
    executor.lend(&mut world, |executor| executor.run_frame(0.25));
    assert_eq!(world.0, ["first", "second"]);
    drop(executor);
    assert!(!scripts.has_clean_up::<World>());
    scripts.clean_up(&mut world);
}

/// A closure that borrows the state calls code of the host, which must see what was cleaned up.
#[test]
fn closures_that_wait_for_a_borrow_are_called_inside_it() {
    let mut executor = unclamped();
    let scripts = executor.handle();
    let mut world = World::default();
    executor.spawn(async move {
        with(|world: &mut World| {
            add("waits for the borrow");
            assert!(scripts.has_clean_up::<World>());
            assert_eq!(world.0, [""; 0]);
            scripts.clean_up(world);
            assert_eq!(world.0, ["waits for the borrow"]);
            // Nothing has changed for the code around the borrow.
            assert!(try_with(|_: &mut World| ()).is_err());
            add("waits again");
            assert_eq!(world.0.len(), 1);
        });
        with(|world: &mut World| assert_eq!(world.0.len(), 2));
    });
    executor.run_frame_with(&mut world, 0.25);
    assert_eq!(world.0, ["waits for the borrow", "waits again"]);
}

#[test]
fn a_panic_in_a_clean_up_is_reported_and_the_other_closures_are_called() {
    let executor = unclamped();
    let log = Log::new();
    let note = log.clone();
    executor.on_report(move |report| {
        assert!(matches!(report, Report::WithDeferredPanicked { .. }));
        note.note("reported");
    });
    let mut world = World::default();
    executor.enter(|| {
        with_deferred(|_: &mut World| panic!("no pool"));
        add("the next one");
    });
    executor.handle().clean_up(&mut world);
    log.check(&["reported"]);
    assert_eq!(world.0, ["the next one"]);
}

/// A run takes messages before its polls alone.
#[test]
fn the_host_makes_the_calls_of_a_remote_between_two_runs_and_not_in_one() {
    let mut executor = unclamped();
    let (scripts, remote) = (executor.handle(), executor.remote());
    let between = executor.spawn(forever());
    remote.stop(between.id());
    assert!(!between.is_finished());
    scripts.make_calls();
    assert!(between.is_finished());

    let inside = executor.spawn(forever());
    let id = inside.id();
    let caller = executor.spawn(async move {
        remote.stop(id);
        scripts.make_calls();
    });
    executor.begin_frame(0.25);
    executor.run_phase(Phase::Update);
    assert!(caller.is_finished() && !inside.is_finished());
    executor.handle().make_calls();
    assert!(inside.is_finished());
}
