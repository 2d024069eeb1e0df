//! `stop_within`: when the time of a request begins and is over, for each caller, and that the
//! request is no coroutine.

use std::cell::{Cell, RefCell};
use std::fmt::Write as _;
use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;
use std::time::Duration;

use framestep::inspect::Report;
use framestep::prelude::*;
use framestep::{Executor, Owner};

use framestep_testkit::timeline::{DRAWN, Log, in_quarters, unclamped};
use framestep_testkit::{forever, panic_of};

/// A script that reads the request at home, and ends by itself after `seconds`.
async fn fade(seconds: f64) -> &'static str {
    stop_requested().await;
    wait_seconds(seconds).await;
    "faded"
}

/// The frame and the phase of now, as `5L` in frame 5, `LateUpdate`.
fn now() -> String {
    let time = time();
    let letter = match time.phase {
        None => 'h',
        Some(Phase::EndOfFrame) => 'Z',
        Some(phase) => phase.to_string().remove(0),
    };
    format!("{}{letter}", time.frame)
}

/// Waits for frame 1, then for a run of `phase` in it.
async fn first_run_of(phase: Phase) {
    next_frame().in_phase(phase).await;
}

/// When `stop_within(1)` stops what is left, if it is called in frame 1 by a script that resumes
/// in `caller`, or by the host after that frame. Checks that a fade of the same length ends.
fn stop_after_call_in(caller: Option<Phase>, home: Phase, pauses: impl Fn(&Owner)) -> String {
    let mut executor = in_quarters();
    let above = executor.owner();
    let owner = Rc::new(above.child());
    let fades = owner.script("").in_phase(home).start(fade(1.0));
    let reads = owner.script("").in_phase(home).start(async {
        wait_until(is_stop_requested).await;
        wait_seconds(1).await;
    });
    let left: Rc<RefCell<String>> = Rc::default();
    let said = left.clone();
    owner.script("").in_phase(home).start(async move {
        let _left = defer_call(move || *said.borrow_mut() = now());
        forever().await;
    });
    if let Some(phase) = caller {
        let owner = owner.clone();
        executor.start(async move {
            first_run_of(phase).await;
            drop(owner.stop_within(1));
        });
    }
    executor.run_frame(0.25);
    if caller.is_none() {
        drop(owner.stop_within(1));
    }
    pauses(&above);
    executor.run_frames(9, 0.25);
    if !above.is_paused() {
        assert_eq!(
            fades.take_output().unwrap().ok(),
            Some("faded"),
            "{home:?}, {caller:?}"
        );
        assert_eq!(
            reads.take_output().unwrap().ok(),
            Some(()),
            "{home:?}, {caller:?}"
        );
    }
    executor.assert_empty();
    left.take()
}

fn table(pauses: impl Fn(&Owner)) -> String {
    let mut table = String::new();
    for home in DRAWN {
        let callers = DRAWN.map(Some).into_iter().chain([None]);
        let row: Vec<_> = callers
            .map(|caller| stop_after_call_in(caller, home, &pauses))
            .collect();
        writeln!(table, "{:<11} {}", home.to_string(), row.join(" ")).unwrap();
    }
    table
}

/// One row for each home phase of the scripts, one column for each place of the call in frame 1: a
/// run of a phase, or the host after the frame. A cell is the frame and the phase of the stop.
// docs/contract.md#decided-stop-within
#[test]
fn the_time_begins_in_the_first_run_of_the_home_phase_after_the_call() {
    let expected = "\
        EarlyUpdate 6E 6E 6E 6E 6E 6E\n\
        FixedUpdate 5F 6F 6F 6F 6F 6F\n\
        Update      5U 5U 6U 6U 6U 6U\n\
        LateUpdate  5L 5L 5L 6L 6L 6L\n\
        EndOfFrame  5Z 5Z 5Z 5Z 6Z 6Z\n";
    assert_eq!(table(|_| ()), expected);
    // A pause of the owner, here through the one above, makes no difference.
    assert_eq!(
        table(|above| {
            above.pause();
        }),
        expected
    );
}

// docs/contract.md#decided-stop-within
#[test]
fn scripts_of_several_homes_each_have_their_time() {
    let mut table = String::new();
    for first in DRAWN {
        let row = DRAWN.map(|second| {
            let mut executor = in_quarters();
            let owner = Rc::new(executor.owner());
            let fades =
                [first, second].map(|home| owner.script("").in_phase(home).start(fade(1.0)));
            let mine = owner.clone();
            let left = owner.start(forever());
            let calls = executor.start(async move {
                first_run_of(Phase::Update).await;
                drop(mine.stop_within(1));
            });
            // Host code starts the third in Update, so its home counts, too.
            executor.run_frames(8, 0.25);
            assert!(calls.is_finished() && left.is_finished());
            fades.map(|fade| fade.take_output().unwrap().is_ok())
        });
        for [first, second] in row {
            table.push(if first && second { '+' } else { '-' });
        }
    }
    assert_eq!(table, "+".repeat(25));
}

/// A script on fixed steps reads the request between two steps of Update, and still has all of
/// its time, at any rate of frames and steps.
// docs/contract.md#decided-stop-within
#[test]
fn a_fade_on_fixed_steps_ends_by_itself_at_every_rate() {
    for (dt, step) in [
        (0.25, 0.25),
        (0.0625, 0.25),
        (0.25, 0.0625),
        (0.2, 0.07),
        (0.07, 0.2),
    ] {
        for length in [0.0, 0.1, 0.5, 1.0] {
            let builder = Executor::builder().max_delta(1000);
            let mut executor = builder.fixed_delta(step).build();
            let owner = executor.owner();
            let fades = [Phase::FixedUpdate, Phase::Update, Phase::EarlyUpdate]
                .map(|home| owner.script("").in_phase(home).start(fade(length)));
            executor.run_frame(dt);
            let left = executor.run_until(owner.stop_within(length), dt);
            assert_eq!(left, 0, "{dt}, {step}, {length}");
            assert!(fades.iter().all(Coroutine::is_finished));
        }
    }
}

/// ```text
/// frame  0 1          2 3 4 5
/// level  - stop(0.5)  . . .      in Update: read in frame 2, over in frame 4
/// ```
// docs/contract.md#decided-stop-within
#[test]
fn the_stop_comes_after_everything_that_is_due_in_the_run() {
    let mut executor = unclamped();
    let log = Log::new();
    let owner = Rc::new(executor.owner());
    let say = log.clone();
    owner.start(async move {
        let _stopped = defer_call(move || say.say("stopped"));
        forever().await;
    });
    let (mine, say) = (owner.clone(), log.clone());
    executor.start(async move {
        next_frame().await;
        let left = mine.stop_within(0.5).await;
        say.say(format!("{left} left"));
        say.say("goes on");
    });
    let say = log.clone();
    executor.start(async move {
        wait_seconds(1).await;
        say.say("a timer of the same run");
        let later = say.clone();
        spawn(async move { later.say("spawned in it") });
        yield_now().await;
        say.say("and one that yields");
    });
    executor.run_frames(5, 0.25);
    log.check(&[
        "F4: a timer of the same run",
        "F4: spawned in it",
        "F4: and one that yields",
        "F4: stopped",
        "F4: 1 left",
        "F4: goes on",
    ]);
}

// docs/contract.md#decided-stop-within
#[test]
fn what_is_started_after_the_owner_has_ended_goes_on() {
    let mut executor = unclamped();
    let owner = Rc::new(executor.owner());
    // By the one that awaits the request, which ends in the frame of the call.
    let mine = owner.clone();
    let boss = executor.start(async move {
        mine.start(stop_requested());
        next_frame().await;
        mine.stop_within(1).await;
        mine.start(wait_seconds(60)).await
    });
    executor.run_frames(5, 1);
    assert!(!boss.is_finished() && !owner.is_empty());
    boss.stop();
    // By the host: after the call, and before the first run.
    owner.stop_all();
    owner.start(forever());
    drop(owner.stop_within(1));
    owner.stop_all();
    let late = owner.start(forever());
    executor.run_frames(5, 1);
    assert!(!late.is_finished());
    // By what waits for the end of the owner.
    owner.stop_all();
    owner.start(stop_requested());
    let mine = owner.clone();
    let next = executor.start(async move {
        mine.ended().await;
        mine.start(wait_seconds(60)).await
    });
    drop(owner.stop_within(1));
    executor.run_frames(5, 1);
    assert!(!next.is_finished() && !owner.is_empty());
}

/// The end that ends a request is the next one after the call, and not the next one after the
/// first poll of what it returns.
// docs/contract.md#decided-stop-within
#[test]
fn what_it_returns_waits_for_the_end_after_the_call() {
    let mut executor = unclamped();
    let owner = executor.owner();
    owner.start(stop_requested());
    let stopped = owner.stop_within(9);
    executor.run_frame(1);
    owner.start(forever());
    assert_eq!(executor.run_until(stopped, 1), 0);
    assert!(!owner.is_empty());
}

struct CallsOnDrop(Rc<Owner>, fn(&Owner));

impl Drop for CallsOnDrop {
    fn drop(&mut self) {
        (self.1)(&self.0);
    }
}

// docs/contract.md#decided-stop-within
#[test]
fn in_the_destructor_of_the_last_script_it_stops_only_what_was_started_by_then() {
    let calls: [fn(&Owner); 2] = [
        |owner| drop(owner.stop_within(1)),
        |owner| {
            drop(owner.stop_within(1));
            drop(owner.start(forever()));
        },
    ];
    for (call, is_stopped) in calls.into_iter().zip([false, true]) {
        let mut executor = unclamped();
        let owner = Rc::new(executor.owner());
        let guard = CallsOnDrop(owner.clone(), call);
        let script = owner.start(async move {
            let _guard = guard;
            forever().await;
        });
        script.stop();
        let late = owner.start(forever());
        executor.run_frames(5, 0.25);
        assert_eq!(late.is_finished(), is_stopped);
    }
}

// docs/contract.md#decided-stop-within
#[test]
fn a_stop_of_the_owner_above_leaves_the_request_to_what_a_destructor_starts() {
    let mut executor = unclamped();
    let parent = executor.owner();
    let child = Rc::new(parent.child());
    let guard = CallsOnDrop(child.clone(), |owner| drop(owner.start(forever())));
    child.start(async move {
        let _guard = guard;
        forever().await;
    });
    drop(child.stop_within(1));
    executor.run_frame(0.25);
    parent.stop_all();
    executor.run_frames(4, 0.25);
    assert!(child.is_empty());
}

// docs/contract.md#decided-stop-within
#[test]
fn a_request_is_no_script() {
    let mut executor = unclamped();
    let unobserved = Rc::new(Cell::new(0));
    let count = unobserved.clone();
    executor.on_report(move |report| {
        if let Report::StopIgnored { scripts, .. } = report {
            count.set(*scripts);
        }
    });
    let scene = executor.owner();
    let enemies = scene.child();
    enemies.start(forever());
    drop(enemies.stop_within(5));
    assert_eq!((executor.len(), executor.snapshot().iter().count()), (1, 1));
    executor.run_frame(1);
    let stopped = scene.stop_within(1);
    assert_eq!(
        (executor.run_until(stopped, 0.25), unobserved.get()),
        (1, 1)
    );
    // Neither is it awaited, not even while the owner above is paused.
    enemies.start(forever());
    drop(enemies.stop_within(5));
    executor.run_frame(1);
    scene.pause();
    enemies.stop_all();
    assert!(scene.is_empty());
    executor.assert_empty();
}

/// ```text
/// outer  stop_within(1) in frame 0   | over in frame 5
/// inner  stop_within(2) before that  | stopped by the one of `outer`
/// inner  stop_within(0.5)            | over in frame 3, alone
/// ```
// docs/contract.md#decided-stop-within
#[test]
fn the_first_request_whose_time_is_over_stops_what_it_concerns() {
    for (of_inner, in_frame, counts) in [(2.0, 5, (0, 2)), (0.5, 3, (1, 1)), (1.0, 5, (1, 1))] {
        let mut executor = unclamped();
        let outer = executor.owner();
        let inner = outer.child();
        outer.start(forever());
        let left = inner.start(forever());
        let of_inner = executor.start(inner.stop_within(of_inner));
        let of_outer = executor.start(outer.stop_within(1));
        while !left.is_finished() {
            executor.run_frame(0.25);
        }
        assert_eq!(executor.time().frame, in_frame);
        executor.run_frames(8, 0.25);
        let count = |of: Coroutine<usize>| of.take_output().unwrap().unwrap();
        assert_eq!((count(of_inner), count(of_outer)), counts);
    }
    // Two on one owner: each returns what it has stopped itself.
    let mut executor = unclamped();
    let owner = executor.owner();
    owner.start(forever());
    let both = [2, 1].map(|seconds| executor.start(owner.stop_within(seconds)));
    executor.run_frames(5, 0.25);
    assert_eq!(both.map(|one| one.take_output().unwrap().unwrap()), [0, 1]);
}

// docs/contract.md#decided-stop-within
#[test]
fn a_phase_that_the_host_does_not_run_is_not_waited_for() {
    let mut executor = unclamped();
    let owner = executor.owner();
    owner.script("").in_phase(Phase::Custom(3)).spawn(forever());
    owner
        .script("")
        .in_phase(Phase::FixedUpdate)
        .spawn(forever());
    let mut frame = |dt: f64| {
        // Neither the custom phase nor the fixed steps are ever run.
        executor.begin_frame(dt);
        executor.run_phase(Phase::LateUpdate);
        executor.time().frame
    };
    drop(owner.stop_within(1));
    let stopped = std::iter::repeat_with(|| frame(0.25)).find(|_| owner.is_empty());
    assert_eq!(stopped, Some(4));
}

/// The host begins one of the two steps of each frame, but does not run their phase.
// docs/contract.md#decided-stop-within
#[test]
fn steps_without_a_run_do_not_keep_a_request_waiting() {
    let mut executor = in_quarters();
    let owner = executor.owner();
    let fixed = owner.script("").in_phase(Phase::FixedUpdate);
    fixed.start(forever());
    drop(owner.stop_within(2));
    let stopped = (1..9).find(|_| {
        executor.begin_frame(0.5);
        assert!(executor.begin_fixed_step());
        executor.run_phase(Phase::LateUpdate);
        owner.is_empty()
    });
    assert_eq!(stopped, Some(4));
}

// docs/contract.md#decided-stop-within
#[test]
fn a_request_counts_what_was_left_when_it_was_served() {
    let mut executor = in_quarters();
    let owner = executor.owner();
    let second: Rc<RefCell<Option<Coroutine<()>>>> = Rc::default();
    let stops = second.clone();
    owner.start(async move {
        let _stops = defer_call(move || assert!(stops.take().is_some_and(|second| second.stop())));
        forever().await;
    });
    second.replace(Some(owner.start(forever())));
    let stopped = executor.start(owner.stop_within(0.5));
    executor.run_frames(4, 0.25);
    assert_eq!(stopped.take_output().unwrap().unwrap(), 2);
}

/// While the game clock is paused, no step begins.
// docs/contract.md#decided-stop-within
#[test]
fn a_request_waits_for_fixed_steps_only_while_they_can_begin() {
    for is_paused in [false, true] {
        let mut executor = in_quarters();
        let owner = executor.owner_on(&executor.realtime().clone());
        owner
            .script("")
            .in_phase(Phase::FixedUpdate)
            .start(forever());
        if is_paused {
            executor.clock().pause();
        }
        let mut stopped = executor.start(owner.stop_within(0.5));
        while !stopped.is_finished() {
            executor.run_frame(0.0625);
        }
        // Read in the first step, in frame 4, and over in the third, in frame 12.
        assert_eq!(executor.time().frame, if is_paused { 8 } else { 12 });
        let stopped = Pin::new(&mut stopped);
        assert_eq!(futures::executor::block_on(stopped).unwrap(), 1);
    }
}

// docs/contract.md#decided-stop-within
#[test]
fn the_time_stands_still_with_the_clock_of_the_owner() {
    let mut executor = unclamped();
    let clock = executor.clock().child();
    let owner = executor.owner_on(&clock);
    owner.start(forever());
    drop(owner.stop_within(0.5));
    executor.run_frame(0.25);
    clock.pause();
    executor.run_frames(40, 0.25);
    assert!(!owner.is_empty() && executor.idle_until().is_none());
    clock.resume();
    executor.run_frames(2, 0.25);
    assert!(owner.is_empty());
}

// docs/contract.md#decided-stop-within
#[test]
fn a_sleeping_host_wakes_for_it() {
    let mut executor = unclamped();
    let owner = executor.owner();
    let script = owner.start(forever());
    assert_eq!(
        (executor.has_ready(), executor.next_deadline()),
        (false, None)
    );
    drop(owner.stop_within(60));
    assert!(executor.has_ready());
    executor.run_frame(0.25);
    let minute = Duration::from_secs(60);
    assert_eq!(
        (executor.has_ready(), executor.idle_until()),
        (false, Some(minute))
    );
    executor.run_frame(60);
    assert!(script.is_finished());
    assert_eq!((executor.has_ready(), executor.idle_until()), (false, None));
}

/// When `stop_within(1)` stops what is left on an owner with scripts in two home phases, if it is
/// called in frame 1 in `caller`: the time and the phase. A host that sleeps leaves out the frames
/// in which nothing is due.
fn stop_of_two_homes(homes: [Phase; 2], caller: Phase, sleeps: bool) -> String {
    let mut executor = in_quarters();
    let owner = Rc::new(executor.owner());
    let left: Rc<RefCell<String>> = Rc::default();
    let said = left.clone();
    let says = async move {
        let note = || format!("{} {}", time().elapsed.as_secs_f64(), &now()[1..]);
        let _left = defer_call(move || *said.borrow_mut() = note());
        forever().await;
    };
    owner.script("").in_phase(homes[0]).start(says);
    owner.script("").in_phase(homes[1]).start(forever());
    let calls = owner.clone();
    executor.start(async move {
        first_run_of(caller).await;
        drop(calls.stop_within(1));
    });
    let mut slept = Duration::ZERO;
    for _ in 0..9 {
        slept += Duration::from_millis(250);
        let is_due = executor.idle_until().is_some_and(|until| until <= slept);
        if is_due || !sleeps {
            executor.run_frame(std::mem::take(&mut slept));
        }
    }
    left.take()
}

/// The time begins in `LateUpdate` in frame 1, and in `EarlyUpdate` in frame 2. So it is over in
/// `LateUpdate` a frame earlier, and a run of it has to note that.
///
/// ```text
/// time         0.25                     0.5     1.25  1.5
/// EarlyUpdate                           begins        over: the stop
/// Update       stop_within(1)
/// LateUpdate                   begins           over
/// ```
// docs/contract.md#decided-stop-within
#[test]
fn a_host_that_sleeps_stops_scripts_of_several_homes_in_the_same_run() {
    let stop = |sleeps| {
        stop_of_two_homes(
            [Phase::EarlyUpdate, Phase::LateUpdate],
            Phase::Update,
            sleeps,
        )
    };
    assert_eq!([stop(false), stop(true)], ["1.5 E", "1.5 E"]);
    for (first, second, caller) in DRAWN
        .iter()
        .flat_map(|&first| DRAWN.map(|second| (first, second)))
        .flat_map(|(first, second)| DRAWN.map(|caller| (first, second, caller)))
    {
        let stop = |sleeps| stop_of_two_homes([first, second], caller, sleeps);
        assert_eq!(
            stop(false),
            stop(true),
            "{first}, {second}, called in {caller}"
        );
    }
}

// docs/contract.md#decided-stop-within
#[test]
fn zero_and_negative_lengths_are_over_a_frame_later_and_infinity_only_asks() {
    for (length, frames) in [(0.0, Some(2)), (-1.0, Some(2)), (f64::INFINITY, None)] {
        let mut executor = unclamped();
        let owner = executor.owner();
        owner.start(forever());
        drop(owner.stop_within(length));
        let mut frame = || {
            executor.run_frame(0.25);
            executor.time().frame
        };
        let stopped = std::iter::repeat_with(&mut frame)
            .take(9)
            .find(|_| owner.is_empty());
        assert_eq!(stopped, frames);
    }
}

#[test]
fn snapshots_show_the_requests_that_are_not_over() {
    let mut executor = unclamped();
    let owner = executor.owner().named("crowd");
    owner.start(forever());
    let line = line!() + 1;
    drop(owner.stop_within(1));
    let what = "a request to stop the scripts of `crowd`";
    let made = format!("made at {}:{line}", file!());
    let shown = |executor: &Executor| executor.snapshot().to_string();
    assert!(shown(&executor).contains(&format!("\n  {what}, {made}\n")));
    executor.run_frame(0.25);
    executor.run_frame(0.25);
    assert!(shown(&executor).contains(&format!("\n  {what}, over in 750ms, {made}\n")));
    owner.stop_all();
    assert_eq!(executor.snapshot().stops().count(), 0);
}

#[test]
fn a_stopped_script_names_the_line_of_the_call() {
    let mut executor = unclamped();
    let owner = executor.owner();
    let script = owner.start(forever());
    let line = line!() + 1;
    drop(owner.stop_within(0.25));
    let error = executor.run_until(script, 0.25).unwrap_err();
    let place = error.stopped_at().unwrap();
    assert_eq!((error.stopped_by(), place.line()), (None, line));
}

#[test]
fn requests_cost_nothing_once_they_are_over() {
    let mut executor = unclamped();
    let owners: Vec<_> = (0..100).map(|_| executor.owner()).collect();
    for owner in &owners {
        owner.start(stop_requested());
        drop(owner.stop_within(60));
    }
    executor.run_frames(3, 0.25);
    assert_eq!(executor.next_deadline(), None);
    assert_eq!(
        framestep_testkit::allocations_of(|| executor.run_frames(100, 0.25)),
        0
    );
}

/// Awaits `own`, the handle of the calling coroutine, behind a combinator.
fn awaits_itself<F>(awaits: impl FnOnce(Coroutine<()>) -> F + 'static) -> bool
where
    F: Future<Output = ()> + 'static,
{
    let mut executor = unclamped();
    let own: Rc<RefCell<Option<Coroutine<()>>>> = Rc::default();
    let mine = own.clone();
    let script = executor.start(async move {
        next_frame().await;
        let own = mine.borrow_mut().take().unwrap();
        awaits(own).await;
    });
    let finished = script.finished();
    *own.borrow_mut() = Some(script);
    executor.run_frames(3, 1);
    futures::FutureExt::now_or_never(finished) == Some(framestep::task::Outcome::Panicked)
}

// docs/contract.md#decided-self-join
#[test]
fn a_coroutine_that_awaits_itself_panics_behind_every_combinator() {
    use futures::StreamExt;
    use futures::stream::FuturesUnordered;

    assert!(awaits_itself(|own| async move { drop(own.await) }));
    assert!(awaits_itself(|own| async move {
        select! { _ = own => {} () = wait_seconds(9) => {} }
    }));
    assert!(awaits_itself(
        |own| async move { drop(timeout(9, own).await) }
    ));
    assert!(awaits_itself(
        |own| async move { join_all([own]).await.clear() }
    ));
    assert!(awaits_itself(|own| async move {
        drop(when_each([own]).next().await);
    }));
    assert!(awaits_itself(|own| async move {
        let mut all = FuturesUnordered::from_iter([own]);
        drop(all.next().await);
    }));
    assert!(awaits_itself(|own| async move {
        let end = own.finished();
        let mut all = FuturesUnordered::from_iter([end]);
        assert!(all.next().await.is_some());
    }));
}

// docs/contract.md#decided-self-join
#[test]
fn the_end_of_its_own_owner_behind_a_combinator_panics_too() {
    let executor = unclamped();
    let owner = Rc::new(executor.owner());
    for wait in [true, false] {
        let mine = owner.clone();
        let script = owner.start(async move {
            let ended = mine.ended();
            let stopped = mine.stop_within(9);
            let mut all: futures::stream::FuturesUnordered<Pin<Box<dyn Future<Output = ()>>>> =
                futures::stream::FuturesUnordered::new();
            if wait {
                all.push(Box::pin(ended));
            } else {
                all.push(Box::pin(async move { assert_eq!(stopped.await, 0) }));
            }
            futures::StreamExt::next(&mut all).await;
        });
        let error = script.take_output().unwrap().unwrap_err();
        assert!(
            panic_of(|| std::panic::resume_unwind(error.into_panic()))
                .contains("on which it runs itself")
        );
    }
}
