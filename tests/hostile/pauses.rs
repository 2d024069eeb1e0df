//! Pauses must hold, and must neither lose nor move what they delay.

use std::cell::{Cell, RefCell};
use std::future::poll_fn;
use std::rc::Rc;
use std::time::Duration;

use futures::future::{LocalBoxFuture, pending};
use futures::stream::FuturesUnordered;
use futures::{FutureExt, StreamExt};

use framestep::Executor;
use framestep::inspect::State;
use framestep::prelude::*;

use framestep_testkit::poll_once;
use framestep_testkit::timeline::{Log, in_quarters, unclamped};
use framestep_testkit::watched::watched;

#[derive(Clone, Copy, Debug)]
enum Paused {
    Itself,
    ByItsOwner,
    /// Its owner counts on a separate clock.
    ByAnOwnerWithAClock,
}

type MakeWait = fn() -> LocalBoxFuture<'static, ()>;
type MakeWaitIn = fn(Phase, Clock) -> LocalBoxFuture<'static, ()>;

const PAUSED: [Paused; 3] = [
    Paused::Itself,
    Paused::ByItsOwner,
    Paused::ByAnOwnerWithAClock,
];

/// Starts `script` and runs frames of a quarter of a second: `before`, then
/// `paused` ones, then `after`.
fn run(how: Paused, script: LocalBoxFuture<'static, ()>, frames: [u32; 3]) {
    let mut executor = unclamped();
    let clock = executor.clock().child();
    let owner = match how {
        Paused::ByAnOwnerWithAClock => executor.owner_on(&clock),
        _ => executor.owner(),
    };
    let coroutine = owner.start(watched(script));
    let [before, paused, after] = frames;
    for _ in 0..before {
        executor.run_frame(0.25);
    }
    match how {
        Paused::Itself => _ = coroutine.pause(),
        _ => _ = owner.pause(),
    }
    for _ in 0..paused {
        executor.run_frame(0.25);
    }
    match how {
        Paused::Itself => _ = coroutine.resume(),
        _ => _ = owner.resume(),
    }
    executor.run_phase(Phase::Custom(1));
    for _ in 0..after {
        executor.run_frame(0.25);
        executor.run_phase(Phase::Custom(1));
    }
}

#[test]
fn an_animation_stands_still_while_its_coroutine_is_paused() {
    for how in PAUSED {
        for pauses in [0, 1, 10] {
            let values = Rc::new(RefCell::new(Vec::new()));
            let push = values.clone();
            let script = async move {
                animate(1, |value| push.borrow_mut().push(value)).await;
            };
            run(how, script.boxed_local(), [1, pauses, 4]);
            let all = [0.0, 0.25, 0.5, 0.75, 1.0];
            assert_eq!(*values.borrow(), all, "{how:?}, {pauses} frames");
        }
    }
}

#[test]
fn an_interval_has_no_overdue_ticks_after_a_pause() {
    // What the coroutine waits for between two ticks, when it is paused.
    let busy: [(&str, MakeWait); 5] = [
        ("nothing", || async {}.boxed_local()),
        ("seconds", || wait_seconds(0.5).map(drop).boxed_local()),
        ("frames", || wait_frames(2).map(drop).boxed_local()),
        ("next_frame", || next_frame().map(drop).boxed_local()),
        ("a phase", || {
            in_phase(Phase::Custom(1)).map(drop).boxed_local()
        }),
    ];
    for how in PAUSED {
        for (name, busy) in busy {
            let frames = Rc::new(RefCell::new(Vec::new()));
            let push = frames.clone();
            let script = async move {
                let mut ticks = interval(1);
                loop {
                    ticks.tick().await;
                    push.borrow_mut().push(time().frame);
                    busy().await;
                }
            };
            // A tick in frame 4, and a second of script time until the next one.
            run(how, script.boxed_local(), [4, 20, 4]);
            assert_eq!(*frames.borrow(), [4, 28], "busy with {name}, {how:?}");
        }
    }
}

/// Fixed time lags behind game time: the pause is measured on the clock that the
/// interval counts on.
#[test]
fn an_interval_in_fixed_steps_is_late_by_what_fixed_time_has_moved() {
    let mut executor = in_quarters();
    let steps = Rc::new(RefCell::new(Vec::new()));
    let push = steps.clone();
    let coroutine = executor.start(watched(async move {
        let mut ticks = interval(1).in_phase(Phase::FixedUpdate);
        loop {
            ticks.tick().await;
            push.borrow_mut().push(time().elapsed);
        }
    }));
    let step = |executor: &mut Executor| {
        assert!(executor.begin_fixed_step());
        executor.run_phase(Phase::FixedUpdate);
    };
    executor.begin_frame(1);
    step(&mut executor);
    coroutine.pause();
    for _ in 0..2 {
        step(&mut executor);
    }
    coroutine.resume();
    // Paused from 0.25 to 3 s, so that the tick is due at 1.5 s of its time.
    step(&mut executor);
    assert_eq!(*steps.borrow(), []);
    executor.run_frame(1);
    assert_eq!(*steps.borrow(), [Duration::from_millis(1_500)]);
}

/// In a phase that is run inside fixed steps in some frames only.
#[test]
fn a_timer_in_a_custom_phase_is_neither_early_nor_late_after_a_pause() {
    const PHYSICS: Phase = Phase::Custom(0);
    for in_steps in [true, false] {
        let mut executor = Executor::builder()
            .max_delta(1_000)
            .fixed_delta(0.0625)
            .build();
        let waited = Rc::new(Cell::new(None));
        let tell = waited.clone();
        let coroutine = executor.start(watched(async move {
            wait_frames(2).await;
            let begun = time().unscaled_elapsed;
            let wait = wait_seconds(0.5).in_phase(PHYSICS);
            futures::future::select(wait, pending::<()>()).await;
            tell.set(time().unscaled_elapsed.checked_sub(begun));
        }));
        executor.begin_frame(0.25);
        coroutine.pause();
        while executor.begin_fixed_step() {
            if in_steps {
                executor.run_phase(PHYSICS);
            }
        }
        coroutine.resume();
        // From here on nothing is paused.
        executor.run_phase(Phase::Update);
        if !in_steps {
            executor.run_phase(PHYSICS);
        }
        executor.begin_frame(0);
        executor.run_phase(Phase::Update);
        for _ in 0..100 {
            executor.begin_frame(0.015_625);
            while executor.begin_fixed_step() {
                if !in_steps {
                    executor.run_phase(PHYSICS);
                }
            }
            executor.run_phase(Phase::Update);
            if in_steps {
                executor.run_phase(PHYSICS);
            }
        }
        let waited = waited.get().expect("the timer ends");
        // On fixed time it is read to the step.
        let late = if in_steps { 0 } else { 62_500 };
        let range = Duration::from_millis(500)..=Duration::from_micros(500_000 + late);
        assert!(range.contains(&waited), "in steps {in_steps}: {waited:?}");
    }
}

#[test]
fn a_frame_wait_that_was_held_behind_a_pause_keeps_its_phase() {
    for combined in [false, true] {
        let mut executor = in_quarters();
        let log = Log::new();
        let (say, handle) = (log.clone(), executor.handle());
        let coroutine = executor.start(watched(async move {
            next_frame().in_phase(Phase::FixedUpdate).await;
            if combined {
                let mut waits: FuturesUnordered<_> = [fixed_update()].into_iter().collect();
                waits.next().await;
            } else {
                fixed_update().await;
            }
            assert!(handle.pause(current()));
            next_frame().await;
            say.note(format_args!(
                "F{} {:?}",
                time().frame,
                time().phase.unwrap()
            ));
        }));
        // Both steps are in the first frame, in which it pauses itself.
        executor.run_frame(0.5);
        executor.run_frame(0.25);
        coroutine.resume();
        executor.run_frame(0.25);
        log.check(&["F3 Update"]);
    }
}

/// Which of the kinds below are timers.
const TIMERS: [usize; 2] = [2, 5];

// docs/contract.md#decided-state-ready
#[test]
fn a_snapshot_shows_the_phase_in_which_one_that_was_resumed_continues() {
    let phases = [Phase::EarlyUpdate, Phase::Update, Phase::EndOfFrame];
    let kinds: [MakeWaitIn; 6] = [
        |phase, _| next_frame().in_phase(phase).map(drop).boxed_local(),
        |phase, _| in_phase(phase).map(drop).boxed_local(),
        |phase, _| wait_seconds(0).in_phase(phase).map(drop).boxed_local(),
        |phase, _| wait_frames(1).in_phase(phase).map(drop).boxed_local(),
        |phase, _| wait_until(|| true).in_phase(phase).map(drop).boxed_local(),
        |phase, clock| {
            async move {
                clock.wait_seconds(0.125).in_phase(phase).await;
            }
            .boxed_local()
        },
    ];
    let mut failures = Vec::new();
    for spawned_in in phases {
        for (first, make_first) in kinds.iter().enumerate() {
            for (second, make_second) in kinds.iter().enumerate() {
                for in_phases in phases
                    .map(|first| phases.map(|second| (first, second)))
                    .concat()
                {
                    let mut executor = unclamped();
                    let clock = executor.clock().child();
                    let waits = (
                        make_first(in_phases.0, clock.clone()),
                        make_second(in_phases.1, clock),
                    );
                    let went_on = Rc::new(Cell::new(None));
                    let tell = went_on.clone();
                    let coroutine = executor.script("").in_phase(spawned_in).spawn(async move {
                        futures::future::select(waits.0, waits.1).await;
                        tell.set(time().phase);
                    });
                    executor.run_frame(0.25);
                    coroutine.pause();
                    executor.run_frame(0.25);
                    coroutine.resume();
                    let snapshot = executor.snapshot();
                    let Some(info) = snapshot.get(coroutine.id()) else {
                        continue;
                    };
                    let (state, said) = (info.state(), info.phase());
                    executor.run_frame(0.25);
                    // A timer that stood still may be due before a ready
                    // coroutine.
                    let by_timer = [first, second].iter().any(|kind| TIMERS.contains(kind))
                        && went_on.get().is_some_and(|phase| phase < said);
                    if state == State::Ready && went_on.get() != Some(said) && !by_timer {
                        failures.push(format!(
                            "waits {first} and {second} in {in_phases:?}, spawned in \
                             {spawned_in:?}: said {said:?}, went on in {:?}",
                            went_on.get()
                        ));
                    }
                }
            }
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

#[test]
fn a_timer_that_stands_still_wakes_no_other_coroutine() {
    let mut executor = Executor::new();
    // The first wait of its task, and the first entry of the executor.
    let paused = executor.start(async { wait_seconds(0.25).await });
    let polls = Rc::new(Cell::new(0));
    let counted = polls.clone();
    executor.start(async move {
        let mut waits = FuturesUnordered::from_iter([wait_seconds(5)]);
        poll_fn(|cx| {
            counted.set(counted.get() + 1);
            waits.poll_next_unpin(cx)
        })
        .await;
    });
    // `FuturesUnordered` wakes itself once.
    executor.run_frame(0);
    let before = polls.get();
    paused.pause();
    executor.run_frames(4, 0.25);
    assert_eq!(polls.get(), before);
}

/// A wake from another thread that came before the resume comes before it in the run, too.
#[test]
fn a_wake_from_a_thread_keeps_its_place_before_a_resume() {
    let log = Log::new();
    let mut executor = unclamped();
    let mut wakers = Vec::new();
    let scripts: Vec<_> = ["paused", "awake"]
        .into_iter()
        .map(|name| {
            let (sender, receiver) = futures::channel::oneshot::channel::<()>();
            wakers.push(sender);
            let log = log.clone();
            executor.start(async move {
                let _ = receiver.await;
                log.note(name);
            })
        })
        .collect();
    scripts[0].pause();
    let wakes = move || wakers.into_iter().for_each(|waker| waker.send(()).unwrap());
    std::thread::spawn(wakes).join().unwrap();
    // The paused one remembers its wake, and is ready only now.
    scripts[0].resume();
    executor.run_frame(0.25);
    log.check(&["awake", "paused"]);
}

/// A script polls a shared wait, and drops its share. Another one has served that wait by
/// its turn. So it is no wake of the first one, which is paused.
#[test]
fn a_shared_wait_that_was_left_wakes_no_paused_script() {
    let mut executor = unclamped();
    let log = Log::new();
    let wait = next_frame().shared();
    let (taken, left) = (wait.clone(), wait.clone());
    executor.spawn(async move {
        next_frame().await;
        taken.await;
    });
    let resumed = log.clone();
    let script = executor.spawn(async move {
        let mut left = left;
        assert!(poll_once(&mut left).await.is_pending());
        drop(left);
        wait_frames(1).in_phase(Phase::EndOfFrame).await;
        resumed.note("resumed");
    });
    executor.run_frame(0.25);
    script.pause();
    executor.run_frame(0.25); // both waits are due
    script.resume();
    executor.begin_frame(0.25);
    for phase in [Phase::Update, Phase::EndOfFrame] {
        log.note(format!("{phase}"));
        executor.run_phase(phase);
    }
    log.check(&["Update", "EndOfFrame", "resumed"]);
}
