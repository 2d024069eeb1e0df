//! Several trace hooks side by side, and hooks that are removed.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use framestep::Executor;
use framestep::inspect::{CoroutineInfo, TraceHook, TraceKind};
use framestep::prelude::*;

use framestep_testkit::timeline::{Log, unclamped};
use framestep_testkit::{forever, update};

/// A place for the handle of a hook, which the hook can reach.
type Slot = Rc<RefCell<Option<TraceHook>>>;

/// Adds a hook that writes the life of each script to the log, after `name`.
fn listen(executor: &Executor, name: &'static str, log: &Log) -> TraceHook {
    let log = log.clone();
    executor.on_trace(move |event| log.note(format_args!("{name}: {} {}", event.name, event.kind)))
}

async fn each_frame() {
    loop {
        next_frame().await;
    }
}

/// An executor with a script called `hero`, which resumes in each frame.
fn with_hero() -> Executor {
    let executor = unclamped();
    executor.script("hero").start(each_frame());
    executor
}

#[test]
fn each_event_is_passed_to_all_hooks_in_the_order_in_which_they_were_added() {
    let mut executor = with_hero();
    let log = Log::new();
    listen(&executor, "first", &log);
    listen(&executor, "second", &log);
    executor.script("door").start(async { next_frame().await });
    log.take();
    update(&mut executor, 0.25);
    log.check(&[
        "first: hero resumed",
        "second: hero resumed",
        "first: door resumed",
        "second: door resumed",
        "first: door finished",
        "second: door finished",
    ]);
}

#[test]
fn a_removed_hook_is_dropped_and_receives_no_event() {
    let mut executor = with_hero();
    let (guard, count) = (Rc::new(()), Rc::new(Cell::new(0)));
    let (held, counts) = (guard.clone(), count.clone());
    let hook = executor.on_trace(move |_| {
        let _ = &held;
        counts.set(counts.get() + 1);
    });
    update(&mut executor, 0.25);
    assert!(hook.remove());
    assert_eq!(Rc::strong_count(&guard), 1);
    update(&mut executor, 0.25);
    assert_eq!(count.get(), 1);
    assert!(!hook.remove());
}

#[test]
fn the_other_hooks_stay_when_one_is_removed() {
    let mut executor = with_hero();
    let log = Log::new();
    let hooks = ["first", "second", "third"].map(|name| listen(&executor, name, &log));
    assert!(hooks[1].remove());
    update(&mut executor, 0.25);
    log.check(&["first: hero resumed", "third: hero resumed"]);
    assert!(hooks[0].remove());
    update(&mut executor, 0.25);
    log.check(&["third: hero resumed"]);
}

#[test]
fn a_handle_that_is_dropped_leaves_its_hook_in_place() {
    let mut executor = with_hero();
    let log = Log::new();
    drop(listen(&executor, "hook", &log));
    update(&mut executor, 0.25);
    log.check(&["hook: hero resumed"]);
}

#[test]
fn a_hook_removes_itself() {
    let mut executor = with_hero();
    executor.script("other").start(each_frame());
    let (log, guard) = (Log::new(), Rc::new(()));
    let slot = Slot::default();
    let (own, write, held) = (slot.clone(), log.clone(), guard.clone());
    let hook = executor.on_trace(move |event| {
        write.note(event);
        assert!(own.borrow().as_ref().unwrap().remove());
        assert!(!own.borrow().as_ref().unwrap().remove());
        // It is still being called.
        assert_eq!(Rc::strong_count(&held), 2);
    });
    slot.replace(Some(hook));
    let second = listen(&executor, "second", &log);
    update(&mut executor, 0.25);
    assert_eq!(Rc::strong_count(&guard), 1);
    log.check(&[
        "frame 1, Update: 0v1 hero resumed",
        "second: hero resumed",
        "second: other resumed",
    ]);
    assert!(second.remove());
    update(&mut executor, 0.25);
    log.check(&[]);
}

#[test]
fn a_hook_removes_those_before_and_after_it() {
    let mut executor = with_hero();
    let log = Log::new();
    let slots = [Slot::default(), Slot::default()];
    slots[0].replace(Some(listen(&executor, "before", &log)));
    let (others, write) = (slots.clone(), log.clone());
    executor.on_trace(move |event| {
        write.note(event);
        for hook in others.iter().filter_map(|slot| slot.take()) {
            assert!(hook.remove());
        }
    });
    slots[1].replace(Some(listen(&executor, "after", &log)));
    update(&mut executor, 0.25);
    log.check(&["before: hero resumed", "frame 1, Update: 0v1 hero resumed"]);
    update(&mut executor, 0.25);
    log.check(&["frame 2, Update: 0v1 hero resumed"]);
}

#[test]
fn a_hook_that_is_added_by_a_hook_receives_the_next_event() {
    let mut executor = with_hero();
    executor.script("other").start(each_frame());
    let log = Log::new();
    let (handle, write) = (executor.handle(), log.clone());
    let once = Cell::new(true);
    executor.on_trace(move |_| {
        if once.replace(false) {
            let write = write.clone();
            handle.on_trace(move |event| write.note(event));
        }
    });
    update(&mut executor, 0.25);
    log.check(&["frame 1, Update: 1v1 other resumed"]);
}

#[test]
fn a_script_removes_a_hook_while_it_is_polled() {
    let mut executor = unclamped();
    let log = Log::new();
    let slot = Slot::default();
    let hook = slot.clone();
    let hero = executor.script("hero").start(async move {
        next_frame().await;
        script("child").start(async {});
        assert!(hook.take().unwrap().remove());
        start(forever());
        wait_seconds(0.25).await;
        "done"
    });
    slot.replace(Some(listen(&executor, "hook", &log)));
    update(&mut executor, 0.25);
    log.check(&[
        "hook: hero resumed",
        "hook: child spawned",
        "hook: child resumed",
        "hook: child finished",
    ]);
    assert_eq!(executor.run_until(hero, 0.25).unwrap(), "done");
}

#[test]
fn a_hook_receives_nothing_of_before_it_was_added() {
    let mut executor = unclamped();
    let log = Log::new();
    listen(&executor, "first", &log);
    let (handle, write) = (executor.handle(), log.clone());
    executor.script("hero").spawn(async move {
        // Its end has not been sent when the second hook is added.
        start(async {});
        handle.on_trace(move |event| write.note(format_args!("second: {}", event.kind)));
    });
    log.take();
    update(&mut executor, 0.25);
    let lines = log.take();
    let seconds = lines.iter().filter(|line| line.starts_with("second"));
    assert_eq!(seconds.collect::<Vec<_>>(), ["second: finished"]);
}

#[test]
fn a_hook_for_lives_beside_one_for_everything_receives_lives_only() {
    let mut executor = with_hero();
    let (lives, all) = (Log::new(), Log::new());
    listen(&executor, "life", &lives);
    let write = all.clone();
    let full = executor.on_full_trace(move |event| write.note(&event.kind));
    update(&mut executor, 0.25);
    lives.check(&["life: hero resumed"]);
    let lines = all.take();
    assert_eq!(lines[..3], ["begins, at 250ms", "begins", "resumed"]);
    assert!(full.remove());
    update(&mut executor, 0.25);
    lives.check(&["life: hero resumed"]);
    all.check(&[]);
}

/// Adds a hook that writes the begin of each frame to the log, after `name`.
fn hear_frames(executor: &Executor, name: &'static str, log: &Log) -> TraceHook {
    let log = log.clone();
    executor.on_full_trace(move |event| {
        if let TraceKind::FrameBegan { elapsed } = event.kind {
            log.note(format_args!("{name}: frame {}, {elapsed:?}", event.frame));
        }
    })
}

#[test]
fn a_full_hook_that_is_added_within_a_frame_receives_the_begin_of_that_frame_once() {
    let mut executor = with_hero();
    let log = Log::new();
    hear_frames(&executor, "first", &log);
    executor.begin_frame(0.25);
    executor.run_phase(Phase::Update);
    log.check(&["first: frame 1, 250ms"]);
    let second = hear_frames(&executor, "second", &log);
    executor.spawn(async {});
    executor.spawn(async {});
    log.check(&["second: frame 1, 250ms"]);
    assert!(second.remove());
    // There is no event between this and the next frame.
    hear_frames(&executor, "third", &log);
    executor.begin_frame(0.25);
    executor.run_phase(Phase::Update);
    log.check(&["first: frame 2, 500ms", "third: frame 2, 500ms"]);
}

#[test]
fn coroutines_are_observed_only_while_there_is_a_hook() {
    let executor = with_hero();
    let line = |executor: &Executor| {
        let snapshot = executor.snapshot();
        let places: Vec<_> = snapshot.iter().map(CoroutineInfo::spawned_at).collect();
        places.iter().flatten().count()
    };
    let hooks = [executor.on_trace(|_| ()), executor.on_full_trace(|_| ())];
    executor.start(forever());
    assert_eq!(line(&executor), 1);
    assert!(hooks[0].remove());
    assert_eq!(line(&executor), 1);
    assert!(hooks[1].remove());
    executor.start(forever());
    assert_eq!(line(&executor), 0);
    // With another hook, the executor notes the lines of what is spawned from then on.
    executor.on_trace(|_| ());
    executor.start(forever());
    assert_eq!(line(&executor), 1);
}

#[test]
fn what_inspects_anyway_goes_on_when_the_hook_is_removed() {
    for builder in [
        Executor::builder().inspect(true),
        Executor::builder().profile(true),
        Executor::builder().slow_poll(100),
    ] {
        let mut executor = builder.build();
        let hero = executor.start(each_frame());
        assert!(executor.on_full_trace(|_| ()).remove());
        executor.run_frame(0.25);
        let snapshot = executor.snapshot();
        let hero = snapshot.get(hero.id()).unwrap();
        assert!(hero.spawned_at().is_some() && hero.waits_at().next().is_some());
    }
}

#[test]
fn waits_that_began_under_a_hook_end_as_usual_without_it() {
    let mut executor = unclamped();
    let door = Signal::<()>::new().named("door");
    let hook = executor.on_full_trace(|_| ());
    let timer = executor.start(wait_seconds(0.5));
    let event = door.clone();
    let waits = executor.start(async move { event.wait().await });
    let joins = executor.start(async { timer.await.unwrap() });
    update(&mut executor, 0.25);
    assert!(hook.remove());
    door.emit(());
    update(&mut executor, 0.25);
    assert!(joins.is_finished() && waits.is_finished());
}

#[test]
fn the_destructor_of_a_removed_hook_may_add_another() {
    struct Adds(framestep::Handle, Log);
    impl Drop for Adds {
        fn drop(&mut self) {
            let log = self.1.clone();
            self.0.on_trace(move |event| log.note(event));
        }
    }
    let mut executor = with_hero();
    let log = Log::new();
    let adds = Adds(executor.handle(), log.clone());
    let hook = executor.on_trace(move |_| _ = &adds);
    assert!(hook.remove());
    update(&mut executor, 0.25);
    log.check(&["frame 1, Update: 0v1 hero resumed"]);
}

#[test]
fn a_panic_of_a_hook_keeps_no_event_from_the_others() {
    let mut executor = with_hero();
    let log = Log::new();
    let reports = log.clone();
    executor.on_report(move |report| reports.note(report));
    listen(&executor, "first", &log);
    executor.on_trace(|_| panic!("on purpose"));
    listen(&executor, "third", &log);
    update(&mut executor, 0.25);
    let lines = log.take();
    assert_eq!(lines[..2], ["first: hero resumed", "third: hero resumed"]);
    assert!(lines[2].contains("on purpose"), "{lines:?}");
}

#[test]
fn a_hook_that_ends_its_executor_is_the_last_one_called() {
    let executor = unclamped();
    let (handle, log) = (executor.handle(), Log::new());
    let guard = Rc::new(());
    let place = Rc::new(RefCell::new(None::<Executor>));
    let (take, held) = (place.clone(), guard.clone());
    let first = executor.on_trace(move |_| {
        let _ = &held;
        drop(take.take());
    });
    let held = guard.clone();
    let write = log.clone();
    executor.on_trace(move |event| {
        let _ = &held;
        write.note(event);
    });
    place.replace(Some(executor));
    handle.start(async {});
    log.check(&[]);
    assert_eq!(Rc::strong_count(&guard), 1);
    assert!(!first.remove());
}

#[test]
fn a_hook_for_an_executor_that_is_gone_is_dropped() {
    let handle = unclamped().handle();
    let guard = Rc::new(());
    let held = guard.clone();
    let hook = handle.on_trace(move |_| _ = &held);
    assert_eq!(Rc::strong_count(&guard), 1);
    assert!(!hook.remove());
    let held = guard.clone();
    handle.on_full_trace(move |_| _ = &held);
    assert_eq!(Rc::strong_count(&guard), 1);
}
