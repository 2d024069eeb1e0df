//! Snapshots: what each coroutine waits for, according to the executor.

mod in_a_run;

use std::cell::Cell;
use std::future::poll_fn;
use std::rc::Rc;
use std::task::Poll;
use std::time::Duration;

use futures::channel::oneshot;
use futures::stream::FuturesUnordered;
use futures::{FutureExt, StreamExt, select_biased};

use framestep::Executor;
use framestep::inspect::{CoroutineInfo, Snapshot, State, TimerClock, Wait};
use framestep::prelude::*;
use framestep::scene::{Behaviour, Scene, SceneContext};
use framestep::task::{CoroutineId, ScriptBuilder};

use framestep_testkit::timeline::{in_quarters, unclamped};
use framestep_testkit::{OnDrop, forever, swallow, update, yield_now};

fn half_second_steps() -> Executor {
    Executor::builder().max_delta(10).fixed_delta(0.5).build()
}

/// A snapshot's text about one coroutine, without id and name.
fn says(snapshot: &Snapshot, id: CoroutineId) -> String {
    let info = snapshot.get(id).expect("alive");
    let line = info.to_string();
    let begin = format!("{} {}: ", info.id(), info.name());
    line.strip_prefix(&begin).expect("begins so").to_owned()
}

fn state_of(executor: &Executor, id: CoroutineId) -> String {
    says(&executor.snapshot(), id)
}

/// Starts a coroutine and returns what it waits for.
#[track_caller]
fn check_wait<F: Future + 'static>(script: F, expected: &str) {
    let executor = half_second_steps();
    let id = executor.start(script).id();
    assert_eq!(state_of(&executor, id), expected);
}

/// Two coroutines, each of which joins the other.
fn cycle(executor: &mut Executor) -> [CoroutineId; 2] {
    let give = Rc::new(Cell::new(None::<Coroutine<()>>));
    let take = give.clone();
    let north = executor
        .spawn(async move { drop(take.take().unwrap().await) })
        .named("north");
    let north_id = north.id();
    let south = executor
        .spawn(async move { drop(north.await) })
        .named("south");
    let ids = [north_id, south.id()];
    give.set(Some(south));
    update(executor, 0.25);
    ids
}

#[test]
fn every_kind_of_wait_is_shown() {
    check_wait(next_frame(), "the next frame");
    check_wait(
        next_frame().in_phase(Phase::LateUpdate),
        "the next frame, in LateUpdate",
    );
    check_wait(wait_frames(1), "the next frame");
    check_wait(wait_frames(2), "2 frames");
    check_wait(wait_frames(3), "3 frames");
    check_wait(
        wait_frames(3).in_phase(Phase::Custom(7)),
        "3 frames, in Custom(7)",
    );
    check_wait(wait_steps(1), "the next FixedUpdate");
    check_wait(wait_steps(3), "3 steps, in FixedUpdate");
    check_wait(fixed_update(), "the next FixedUpdate");
    check_wait(end_of_frame(), "the next EndOfFrame");
    check_wait(in_phase(Phase::Custom(7)), "the next Custom(7)");
    check_wait(in_phase(Phase::Update), "the next Update");
    check_wait(wait_until(|| false), "a condition");
    check_wait(wait_while(|| true), "a condition");
    check_wait(
        wait_until(|| false).in_phase(Phase::EarlyUpdate),
        "a condition, in EarlyUpdate",
    );
    check_wait(wait_seconds(1.5), "1.5s, until 1.5s");
    check_wait(wait_seconds(0), "0ns, until 0ns");
    check_wait(
        wait_seconds(1.5).in_phase(Phase::FixedUpdate),
        "1.5s, until 1.5s of fixed time, in FixedUpdate",
    );
    check_wait(
        wait_seconds_realtime(2).in_phase(Phase::LateUpdate),
        "2s, until 2s of realtime, in LateUpdate",
    );
    check_wait(forever(), "nothing (never resumes)");
    check_wait(wait_seconds(f32::INFINITY), "nothing (never resumes)");
    check_wait(wait_frames(u64::MAX), "nothing (never resumes)");
    check_wait(wait_steps(u64::MAX), "nothing (never resumes)");
    check_wait(swallow(forever()), "nothing (never resumes)");
}

#[test]
fn waits_that_are_made_of_others_show_as_those() {
    check_wait(animate(1, |_| ()), "the next frame | 1s, until 1s");
    check_wait(async { frames().next().await }, "the next frame");
    check_wait(async { interval(2).tick().await }, "2s, until 2s");
    check_wait(
        async {
            let signal = Signal::<()>::new();
            signal.wait().await;
        },
        "a wake",
    );
    check_wait(
        async {
            let (_sender, receiver) = oneshot::channel::<()>();
            let _ = timeout(3, receiver).await;
        },
        "3s, until 3s | a wake",
    );
}

#[test]
fn a_wake_is_shown_for_as_long_as_somebody_has_the_waker() {
    let mut executor = unclamped();
    let (sender, receiver) = oneshot::channel::<()>();
    let keeper = Rc::new(Cell::new(None));
    let kept = keeper.clone();
    let script = executor.start(async move {
        let _ = receiver.await;
        let keeps = poll_fn(|cx| {
            kept.set(Some(cx.waker().clone()));
            Poll::<()>::Pending
        });
        let _ = timeout(3, keeps).await;
        wait_seconds(4).await;
    });
    let id = script.id();
    assert_eq!(state_of(&executor, id), "a wake");
    sender.send(()).unwrap();
    update(&mut executor, 1);
    assert_eq!(state_of(&executor, id), "3s, until 4s | a wake");
    keeper.take();
    assert_eq!(state_of(&executor, id), "3s, until 4s");
    update(&mut executor, 3);
    assert_eq!(state_of(&executor, id), "4s, until 8s | a wake");
    keeper.take();
    assert_eq!(state_of(&executor, id), "4s, until 8s");
}

#[test]
fn every_wait_that_may_resume_it_is_shown() {
    check_wait(
        async { futures::join!(next_frame(), fixed_update(), wait_frames(4)) },
        "the next FixedUpdate | the next frame | 4 frames",
    );
    check_wait(
        async { futures::join!(wait_until(|| false), wait_while(|| true)) },
        "a condition | a condition",
    );
}

#[test]
fn waits_behind_a_combinator_are_shown() {
    let mut executor = unclamped();
    let script = async {
        let waits: FuturesUnordered<_> = [3, 2].map(wait_seconds).into_iter().collect();
        waits.collect::<Vec<_>>().await
    };
    let id = executor.start(script).id();
    // It wakes itself once all of them have been polled.
    assert_eq!(state_of(&executor, id), "ready");
    update(&mut executor, 1);
    let expected = "1s, until 2s | 2s, until 3s | a wake";
    assert_eq!(state_of(&executor, id), expected);
}

#[test]
fn a_condition_differs_from_the_waits_before_and_after_it() {
    let mut executor = unclamped();
    let id = executor
        .start(async {
            next_frame().await;
            let frame = time().frame + 2;
            wait_until(move || time().frame == frame).await;
            next_frame().await;
            select_biased! {
                () = wait_until(|| false) => {}
                () = std::future::ready(()).fuse() => {}
            }
            next_frame().await;
        })
        .id();
    let mut states = Vec::new();
    while executor.is_alive(id) {
        states.push(state_of(&executor, id));
        update(&mut executor, 0.25);
    }
    let (frame, condition) = ("the next frame", "a condition");
    assert_eq!(states, [frame, condition, condition, frame, frame]);
}

#[test]
fn what_is_left_shrinks_from_frame_to_frame() {
    let mut executor = half_second_steps();
    let slow = executor.clock().child();
    slow.set_scale(0.5);
    let frames = executor.start(wait_frames(4)).id();
    let game = executor.start(wait_seconds(2)).id();
    let slowly = executor.start(slow.wait_seconds(2)).id();
    let fixed = executor
        .start(wait_seconds(3).in_phase(Phase::FixedUpdate))
        .id();
    executor.run_frame(0.25);
    executor.run_frame(0.5);
    let snapshot = executor.snapshot();
    assert_eq!(says(&snapshot, frames), "2 frames");
    assert_eq!(says(&snapshot, game), "1.25s, until 2s");
    assert_eq!(says(&snapshot, slowly), "1.625s, until 2s of clock 1");
    // One step of half a second; the frame is at 0.75 s.
    assert_eq!(
        says(&snapshot, fixed),
        "2.5s, until 3s of fixed time, in FixedUpdate"
    );
}

#[test]
fn the_deadline_of_a_timer_is_the_reading_at_which_it_is_due_also_when_that_is_over() {
    let mut executor = in_quarters();
    let id = executor.start(wait_seconds(1)).id();
    let fixed = wait_seconds(1).in_phase(Phase::FixedUpdate);
    let fixed = executor.start(fixed).id();
    executor.run_frame(0.75);
    executor.begin_frame(0.75);
    assert_eq!(says(&executor.snapshot(), id), "0ns, until 1s");
    for _ in 0..3 {
        // The host does not run the phase.
        executor.begin_fixed_step();
    }
    assert_eq!(
        says(&executor.snapshot(), fixed),
        "0ns, until 1s of fixed time, in FixedUpdate"
    );
    // In a pause: a deadline that had passed before stays, a later one moves.
    let later = executor.start(wait_seconds(1)).id();
    executor.pause(id);
    executor.pause(later);
    executor.begin_frame(0.5);
    assert_eq!(says(&executor.snapshot(), id), "paused: 0ns, until 1s");
    assert_eq!(says(&executor.snapshot(), later), "paused: 1s, until 3s");
}

#[test]
fn a_timer_on_fixed_steps_counts_the_steps_of_its_clock() {
    let mut executor = in_quarters();
    let slow = executor.clock().child();
    slow.set_scale(0.5);
    let wait = slow.wait_seconds(1).in_phase(Phase::FixedUpdate);
    let id = executor.start(wait).id();
    executor.begin_frame(1);
    executor.begin_fixed_step();
    assert_eq!(
        says(&executor.snapshot(), id),
        "875ms, until 1s of clock 1, in FixedUpdate"
    );
}

#[test]
fn timers_can_be_read_as_numbers() {
    let mut executor = unclamped();
    let id = executor.start(wait_seconds_realtime(1.5)).id();
    update(&mut executor, 1);
    let snapshot = executor.snapshot();
    let waits: Vec<Wait> = snapshot.get(id).unwrap().waits().cloned().collect();
    let [
        Wait::Timer {
            phase,
            clock,
            deadline,
            left,
            ..
        },
    ] = waits[..]
    else {
        panic!("{waits:?}");
    };
    assert_eq!((phase, clock), (Phase::Update, TimerClock::Realtime));
    assert_eq!(deadline, Duration::from_millis(1500));
    assert_eq!(left, Duration::from_millis(500));
}

#[test]
fn timers_of_paused_ones_stand_still() {
    let mut executor = unclamped();
    let owner = executor.owner();
    let waits = owner.start(wait_seconds(2));
    let both = owner.start(async { futures::join!(wait_seconds(3), wait_frames(2)) });
    let [waits, both] = [waits.id(), both.id()];
    update(&mut executor, 0.5);
    owner.pause();
    for elapsed in ["2s", "7s"] {
        let snapshot = executor.snapshot();
        assert_eq!(snapshot.get(waits).unwrap().state(), State::Paused);
        let until = snapshot.time().elapsed + Duration::from_millis(1500);
        assert_eq!(
            says(&snapshot, waits),
            format!("paused: 1.5s, until {until:?}")
        );
        assert_eq!(
            until,
            Duration::from_secs_f32(elapsed.trim_end_matches('s').parse().unwrap())
        );
        // The second time, the wheel has already expired it.
        update(&mut executor, 5);
    }
    owner.resume();
    let snapshot = executor.snapshot();
    assert_eq!(says(&snapshot, waits), "1.5s, until 12s");
    assert_eq!(snapshot.get(both).unwrap().state(), State::Ready);
    update(&mut executor, 0.5);
    assert_eq!(state_of(&executor, waits), "1s, until 12s");
    assert_eq!(state_of(&executor, both), "2s, until 13s");
    update(&mut executor, 1);
    assert!(!executor.is_alive(waits));
}

#[test]
fn a_pause_that_is_over_counts_before_the_wheel_knows_of_it() {
    let mut executor = unclamped();
    let timer = executor.start(wait_seconds(4));
    let second = executor.start(async { futures::join!(forever(), wait_seconds(4)) });
    update(&mut executor, 0.5);
    timer.pause();
    second.pause();
    update(&mut executor, 1);
    timer.resume();
    second.resume();
    update(&mut executor, 0.5);
    for id in [timer.id(), second.id()] {
        assert_eq!(state_of(&executor, id), "3s, until 5s");
    }
    executor.run_until(timer, 0.5).unwrap();
    assert_eq!(executor.time().elapsed.as_secs(), 5);
}

#[test]
fn joins_are_shown() {
    let executor = unclamped();
    let gate = executor.start(wait_seconds(1));
    let other = executor.start(wait_seconds(2));
    let (gate_id, other_id) = (gate.id(), other.id());
    let guards = [0, 1, 2].map(|_| executor.start(gate.finished()).id());
    let first = executor.start(race([gate, other])).id();
    let snapshot = executor.snapshot();
    for guard in guards {
        assert_eq!(says(&snapshot, guard), format!("the end of {gate_id}"));
    }
    let either = format!("the end of {gate_id} | the end of {other_id}");
    assert_eq!(says(&snapshot, first), either);
    let waiting = |id| {
        snapshot
            .waiting_for(id)
            .map(CoroutineInfo::id)
            .collect::<Vec<_>>()
    };
    assert_eq!(waiting(gate_id), [&guards[..], &[first]].concat());
    assert_eq!(waiting(other_id), [first]);
    assert!(waiting(first).is_empty());
}

#[test]
fn coroutines_that_are_due_are_ready() {
    let mut executor = unclamped();
    let spawned = executor.spawn(next_frame()).id();
    let late = executor
        .script("")
        .in_phase(Phase::LateUpdate)
        .spawn(next_frame())
        .id();
    let (sender, receiver) = oneshot::channel::<()>();
    let woken = executor.start(receiver).id();
    let (elsewhere, receiver) = oneshot::channel::<()>();
    let from_afar = executor.start(receiver).id();
    let child = executor.start(forever());
    let child_id = child.id();
    let joiner = executor.start(child).id();
    assert_eq!(state_of(&executor, woken), "a wake");
    sender.send(()).unwrap();
    std::thread::spawn(move || elsewhere.send(()).unwrap())
        .join()
        .unwrap();
    // In the inbox, which only a run, a spawn or a wake on this thread empties.
    assert_eq!(state_of(&executor, from_afar), "ready");
    executor.stop(child_id);
    let snapshot = executor.snapshot();
    for id in [spawned, woken, from_afar, joiner] {
        assert_eq!(says(&snapshot, id), "ready");
    }
    assert_eq!(says(&snapshot, late), "ready, in LateUpdate");
    assert!(snapshot.get(child_id).is_none());
    // Taking the snapshot has not emptied the inbox.
    update(&mut executor, 0.25);
    assert_eq!(state_of(&executor, spawned), "the next frame");
    assert_eq!(executor.len(), 2);
}

#[test]
fn one_that_wakes_itself_is_ready_for_the_next_run() {
    let executor = unclamped();
    let id = executor.start(async { yield_now().await }).id();
    assert_eq!(state_of(&executor, id), "ready");
}

#[test]
fn a_start_that_was_put_off_is_ready() {
    let mut executor = unclamped();
    let handle = executor.handle();
    let seen = executor.lend(&mut 0_u32, |executor| {
        executor.enter(|| {
            with(|_: &mut u32| {
                let id = start(next_frame()).id();
                says(&handle.snapshot().unwrap(), id)
            })
        })
    });
    assert_eq!(seen, "ready");
}

#[test]
fn cycles_of_joins_are_found() {
    let mut executor = unclamped();
    let [north, south] = cycle(&mut executor);
    let handle = executor.handle();
    let waits = executor.start(async move {
        next_frame().await;
        handle.stop(north);
        forever().await;
    });
    assert_eq!(executor.snapshot().cycles(), [[north, south]]);
    update(&mut executor, 0.25);
    assert!(executor.snapshot().cycles().is_empty());
    assert_eq!(executor.len(), 1);
    drop(waits);
}

#[test]
fn a_cycle_with_a_way_out_is_not_reported() {
    let mut executor = unclamped();
    let give = Rc::new(Cell::new(None::<Coroutine<()>>));
    let take = give.clone();
    let patient = executor.spawn(async move {
        let other = take.take().unwrap();
        drop(timeout(1, other).await);
    });
    give.set(Some(executor.spawn(async { drop(patient.await) })));
    update(&mut executor, 0.25);
    assert!(executor.snapshot().cycles().is_empty());
    update(&mut executor, 1);
    executor.assert_empty();
}

#[test]
fn owners_and_their_clocks_are_named() {
    let executor = unclamped();
    let level = executor.owner().named("level");
    let (slow, bats) = (executor.clock().child(), level.child());
    let on_slow = bats.child_on(&slow).named("slow bats");
    let of = |owner: &Owner| owner.start(next_frame()).id();
    let (free, own, below, named) = (
        executor.start(next_frame()).id(),
        of(&level),
        of(&bats),
        of(&on_slow),
    );
    let snapshot = executor.snapshot();
    let get = |id| snapshot.get(id).unwrap();
    assert_eq!(get(free).owner(), None);
    assert_eq!(get(own).owner(), Some("level"));
    assert_eq!(get(below).owner(), Some("level/#1"));
    assert_eq!(get(named).owner(), Some("slow bats"));
    assert_eq!(get(own).clock(), TimerClock::Game);
    assert_eq!(get(named).clock(), TimerClock::Other(1));
}

struct Door;

impl Behaviour for Door {
    fn start(&mut self, context: &SceneContext<'_, Self>) {
        context.start(wait_seconds(1));
    }
}

#[test]
fn coroutines_of_a_behaviour_have_it_as_their_owner() {
    let mut scene = Scene::new();
    scene.add(Door);
    scene.run_frame(0.25);
    let snapshot = scene.executor().snapshot();
    let owner = snapshot.iter().next().unwrap().owner().unwrap();
    assert!(owner.ends_with("::Door"), "{owner}");
}

#[test]
fn without_inspect_nothing_is_known_of_the_past() {
    let executor = unclamped();
    let id = executor.start(async { start(next_frame()).await }).id();
    for info in &executor.snapshot() {
        assert_eq!(
            (info.since(), info.spawned_at(), info.parent()),
            (None, None, None)
        );
    }
    assert!(executor.is_alive(id));
}

#[test]
fn with_inspect_it_is_known_since_when_it_waits() {
    let mut executor = Executor::builder().inspect(true).build();
    let id = executor.spawn(async {
        next_frame().await;
        wait_seconds(1).await;
    });
    let id = id.id();
    let since = |executor: &Executor| executor.snapshot().get(id).unwrap().since();
    assert_eq!(since(&executor), None);
    for expected in [1, 2, 2, 2] {
        executor.run_frame(0.25);
        let since = since(&executor).unwrap();
        assert_eq!(since.frame, expected);
        assert_eq!(
            since.elapsed,
            Duration::from_millis(250) * u32::try_from(expected).unwrap()
        );
    }
}

#[track_caller]
fn at_home(script: ScriptBuilder) -> Coroutine<()> {
    script.in_phase(Phase::Update).spawn(forever())
}

/// Spawns in every way; each line returns its own number.
fn spawned_in_every_way(executor: &mut Executor) -> Vec<(CoroutineId, u32)> {
    let (handle, owner) = (executor.handle(), executor.owner());
    let weak = owner.handle();
    let mut all = vec![
        (executor.spawn(forever()).id(), line!()),
        (executor.start(forever()).id(), line!()),
        (at_home(executor.script("")).id(), line!()),
        (handle.spawn(forever()).id(), line!()),
        (handle.start(forever()).id(), line!()),
        (at_home(handle.script("")).id(), line!()),
        (owner.spawn(forever()).id(), line!()),
        (owner.start(forever()).id(), line!()),
        (at_home(owner.script("")).id(), line!()),
        (weak.start_with(&mut 1_u8, forever()).id(), line!()),
    ];
    executor.enter(|| {
        all.push((spawn(forever()).id(), line!()));
        all.push((start(forever()).id(), line!()));
        all.push((at_home(script("")).id(), line!()));
    });
    std::mem::forget(owner);
    all
}

#[test]
fn with_inspect_it_is_known_where_it_was_spawned() {
    let mut executor = Executor::builder().inspect(true).build();
    let expected = spawned_in_every_way(&mut executor);
    let snapshot = executor.snapshot();
    for (id, line) in expected {
        let place = snapshot.get(id).unwrap().spawned_at().unwrap();
        assert_eq!((place.file(), place.line()), (file!(), line));
    }
    executor.remote().spawn(forever);
    let line = line!() - 1;
    update(&mut executor, 0.25);
    let snapshot = executor.snapshot();
    let remote = snapshot.iter().last().unwrap();
    assert_eq!(remote.spawned_at().unwrap().line(), line);
}

#[test]
fn with_inspect_the_parent_is_known() {
    let mut executor = Executor::builder().inspect(true).build();
    let parent = executor.start(async { (start(forever()).id(), spawn(forever()).id()) });
    let parent_id = parent.id();
    let (started, spawned) = executor.run_until(parent, 0.25).unwrap();
    let orphan = executor.start(forever()).id();
    let snapshot = executor.snapshot();
    let parent_of = |id| snapshot.get(id).unwrap().parent();
    assert_eq!(parent_of(started), Some(parent_id));
    assert_eq!(parent_of(spawned), Some(parent_id));
    assert_eq!(parent_of(orphan), None);
}

#[test]
fn a_snapshot_prints_as_a_tree_of_joins() {
    let mut executor = unclamped();
    let enemies = executor.owner().named("enemies");
    let line = executor.start(wait_seconds(2)).named("line");
    let dialogue = executor.start(line).named("dialogue");
    let done = dialogue.finished();
    executor.start(done).named("music");
    executor.start(dialogue).named("intro");
    let goblin = enemies.start(wait_frames(3));
    goblin.named("goblin").pause();
    cycle(&mut executor);
    executor.start(forever()).named("lost");
    executor.spawn(forever()).named("new");
    let expected = "\
frame 1, 250ms: 9 coroutines, 1 ready, 1 paused
! 5v1 north joins 6v1 south joins 5v1: a cycle that never ends
! 7v1 lost never resumes: it waits for nothing
  id   name        state                owner
  0v1  line        1.75s, until 2s
  1v1    dialogue  the end of 0v1 line
  2v1      music   the end of 1v1 dialogue
  3v1      intro   the end of 1v1 dialogue
  4v1  goblin      paused: 2 frames     enemies
  5v1  north       the end of 6v1 south
  6v1    south     the end of 5v1 north
  7v1  lost        nothing (never resumes)
  8v1  new         ready
";
    let text = executor.snapshot().to_string();
    let squeeze = |text: &str| {
        let words = |line: &str| {
            line.split("  ")
                .map(str::trim)
                .filter(|w| !w.is_empty())
                .collect::<Vec<_>>()
                .join("  ")
        };
        text.lines().map(words).collect::<Vec<_>>().join("\n")
    };
    assert_eq!(squeeze(&text), squeeze(expected), "{text}");
    // The columns are aligned.
    let lines: Vec<&str> = text.lines().skip(3).collect();
    let at = lines[0].find("state").unwrap();
    for line in &lines {
        assert!(line[..at].ends_with("  "), "{text}");
        assert!(!line[at..].starts_with(' '), "{text}");
    }
    assert!(text.lines().all(|line| line.trim_end() == line));
}

#[test]
fn an_empty_snapshot_prints_as_one_line() {
    let executor = unclamped();
    assert_eq!(
        executor.snapshot().to_string(),
        "frame 0, 0ns: 0 coroutines\n"
    );
    assert!(executor.snapshot().is_empty());
}

#[test]
fn a_snapshot_stays_when_the_executor_is_gone() {
    let executor = unclamped();
    let handle = executor.handle();
    let id = executor.start(next_frame()).id();
    let snapshot = handle.snapshot().unwrap();
    drop(executor);
    assert!(handle.snapshot().is_none());
    let elsewhere = std::thread::spawn(move || says(&snapshot, id));
    assert_eq!(elsewhere.join().unwrap(), "the next frame");
}

#[test]
fn a_coroutine_of_another_executor_is_not_in_it() {
    let (one, other) = (unclamped(), unclamped());
    let id = one.start(next_frame()).id();
    assert_eq!(other.start(next_frame()).id().to_string(), id.to_string());
    assert!(other.snapshot().get(id).is_none());
}

#[test]
fn a_snapshot_says_that_the_home_of_a_script_has_not_run() {
    let mut executor = unclamped();
    let physics = executor
        .script("")
        .in_phase(Phase::Custom(7))
        .spawn(forever())
        .named("physics");
    executor.spawn(forever()).named("door");
    let warning = "is at home in Custom(7), which the host has not run";
    // Before the first frame, no phase has run.
    assert!(!executor.snapshot().to_string().contains(warning));
    executor.run_frame(0.25);
    let snapshot = executor.snapshot();
    assert!(!snapshot.get(physics.id()).unwrap().home_has_run());
    let text = snapshot.to_string();
    let line = format!("! {} physics {warning}", physics.id());
    assert_eq!(text.lines().filter(|at| **at == line).count(), 1, "{text}");
    assert_eq!(text.matches(warning).count(), 1, "{text}");
    executor.run_phase(Phase::Custom(7));
    let snapshot = executor.snapshot();
    assert!(snapshot.get(physics.id()).unwrap().home_has_run());
    assert!(!snapshot.to_string().contains(warning));
}

#[test]
fn a_line_break_in_a_name_does_not_break_the_table() {
    let executor = Executor::new();
    executor
        .start(wait_seconds(1))
        .named("the\nlong \u{1b}[31mdoor \u{e9}");
    assert_eq!(
        executor.snapshot().to_string(),
        "\
frame 0, 0ns: 1 coroutine
  id   name                        state
  0v1  the\\nlong \\u{1b}[31mdoor \u{e9}  1s, until 1s
"
    );
}

#[test]
fn one_taken_in_the_destructor_of_a_coroutine_that_was_ready_leaves_it_out() {
    let executor = unclamped();
    let (handle, taken) = (executor.handle(), Rc::new(Cell::new(None)));
    let seen = taken.clone();
    let looks = OnDrop(move || seen.set(handle.snapshot().map(|snapshot| snapshot.len())));
    let ready = executor.script("ready").in_phase(Phase::EndOfFrame);
    let ready = ready.spawn(async move { drop(looks) });
    assert!(ready.stop());
    assert_eq!(taken.get(), Some(0));
}
