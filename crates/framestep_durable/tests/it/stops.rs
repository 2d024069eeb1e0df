//! Requests to stop, what is stopped after some time, and the ends of owners: saved, rolled back and
//! replayed in the middle.

use std::cell::RefCell;
use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll};

use framestep::inspect::Report;
use framestep_durable::prelude::*;

use crate::twin::{Game, Log, MOMENTS, log, moment, quiet, what};

/// Ends in its own way once it is asked.
#[derive(Clone, Serialize, Deserialize)]
enum Actor {
    /// Waits for the request, then for some frames.
    Fades(u64),
    /// Looks between two waits.
    Swings,
    /// Does not read it.
    Deaf,
    /// Begins another chapter once it is asked.
    Chapters(u32),
    /// Starts another script after it was asked.
    Starts,
}

impl DurableScript for Actor {
    const NAME: &'static str = "actor";
    type Output = u64;

    async fn run(self) -> Chapter<Self> {
        let _guard = defer(|log: &mut Log| log.push("leaves".into()));
        match self {
            Actor::Fades(frames) => {
                select! {
                    () = stop_requested() => log("asked"),
                    () = wait_seconds(60) => {}
                }
                wait_frames(frames).await;
                log(format!("faded, asked {}", is_stop_requested()));
            }
            Actor::Swings => {
                let mut swings = 0;
                while !is_stop_requested() {
                    wait_seconds(0.15).await;
                    swings += 1;
                }
                log(format!("{swings} swings"));
            }
            Actor::Deaf => wait_seconds(60).await,
            Actor::Chapters(0) => log(format!("last chapter, asked {}", is_stop_requested())),
            Actor::Chapters(left) => {
                stop_requested().await;
                log(format!("{left} chapters left"));
                next_frame().await;
                return Chapter::Next(Actor::Chapters(left - 1));
            }
            Actor::Starts => {
                stop_requested().await;
                let late = start(Actor::Fades(1));
                log(format!("{:?}", late.await));
            }
        }
        Chapter::Done(time().frame)
    }
}

/// Awaits the end of a room, asks a script by its number, then gives the level some time.
#[derive(Serialize, Deserialize)]
struct Director {
    level: OwnerId,
    room: OwnerId,
}

impl DurableScript for Director {
    const NAME: &'static str = "director";
    type Output = ();

    async fn run(self) -> Chapter<Self> {
        let single = start(Actor::Fades(2));
        wait_frames(2).await;
        let asked = [
            single.request_stop(),
            single.request_stop(),
            request_stop(single.id()),
        ];
        log(format!("{asked:?}, room empty {}", self.room.is_empty()));
        log(format!("{:?}", single.await.is_ok()));
        self.room.request_stop();
        self.room.ended().await;
        log(format!("room ended {}", self.room.is_empty()));
        self.room.ended().await; // at once
        let stopped = self.level.stop_within(0.2);
        let first = self.level.stop_within(f32::INFINITY).await;
        log(format!("level stopped {}, {first}", stopped.await));
        Chapter::Done(())
    }
}

fn registry() -> Registry {
    Registry::new().with::<Actor>().with::<Director>()
}

fn blank() -> Runtime {
    quiet(registry())
}

fn begin(runtime: &mut Runtime, log: &mut Log) {
    let slow = runtime.enter(|| ClockId::GAME.child());
    runtime.enter(|| slow.clock()).set_scale(0.5);
    let level = runtime.enter(|| owner_on(slow));
    let room = runtime.enter(|| level.child());
    runtime.lend(log, |runtime| {
        for actor in [Actor::Fades(3), Actor::Swings, Actor::Deaf, Actor::Starts] {
            runtime.enter(|| level.start(actor)).detach();
        }
        runtime.enter(|| room.start(Actor::Chapters(2))).detach();
        runtime.enter(|| room.start(Actor::Fades(2))).detach();
        let late = runtime.enter(|| spawn_in(Phase::LateUpdate, Actor::Fades(1)));
        late.request_stop();
        late.detach();
        runtime.start(Director { level, room }).detach();
    });
}

#[test]
fn requests_ends_and_deadlines_are_saved_in_the_middle() {
    let game = Game {
        blank,
        begin,
        frame: moment,
        frames: 12 * MOMENTS,
    };
    let end = game.assert_like_its_twin();
    let lines = what(&end);
    for expected in [
        "[true, false, false], room empty false",
        "2 chapters left",
        "last chapter, asked true",
        "room ended true",
        "faded, asked true",
        "level stopped 1, 0",
    ] {
        assert!(lines.contains(&expected), "{expected}: {lines:#?}");
    }
    assert!(game.play().0.scripts().is_empty());
}

/// The same in framestep's own words, to compare the frames.
#[test]
fn a_request_ends_scripts_in_the_same_frames_as_a_plain_one() {
    async fn plain(log: Rc<RefCell<Vec<String>>>, name: &'static str, frames: u64) {
        framestep::task::stop_requested().await;
        framestep::wait_frames(frames).await;
        let time = framestep::time();
        log.borrow_mut()
            .push(format!("{name} {} {:?}", time.frame, time.phase));
    }

    #[durable]
    async fn fades(name: String, frames: u64) {
        stop_requested().await;
        wait_frames(frames).await;
        let time = time();
        with(move |log: &mut Log| log.push(format!("{name} {} {:?}", time.frame, time.phase)));
    }

    #[durable]
    async fn leave(level: OwnerId) -> usize {
        wait_frames(2).await;
        level.stop_within(0.25).await
    }

    let (plains, mut executor) = (Rc::default(), framestep::Executor::new());
    let level = executor.owner();
    let below = level.child();
    level.start(plain(Rc::clone(&plains), "a", 1));
    below
        .script("")
        .in_phase(Phase::LateUpdate)
        .start(plain(Rc::clone(&plains), "b", 2));
    level.start(plain(Rc::clone(&plains), "c", 2));
    level.start(plain(Rc::clone(&plains), "d", 9));
    let leave_plain = executor.start(async move {
        framestep::wait_frames(2).await;
        let left = level.stop_within(0.25).await;
        drop(below);
        left
    });

    let mut log = Log::new();
    let registry = Registry::new().script(fades).script(leave);
    let mut runtime = Runtime::new(registry);
    let level = runtime.owner();
    let below = runtime.enter(|| level.child());
    runtime.enter(|| level.start(fades("a".into(), 1))).detach();
    runtime.enter(|| below.spawn(fades("b".into(), 2))).detach();
    runtime.enter(|| level.start(fades("c".into(), 2))).detach();
    runtime.enter(|| level.start(fades("d".into(), 9))).detach();
    let leave = runtime.start(leave(level));
    let mut ends = Vec::new();
    for frame in 0..9 {
        executor.run_frame(0.0625);
        runtime.run_frame_with(&mut log, 0.0625);
        if leave_plain.is_finished() {
            ends.push(("plain", frame));
        }
        if runtime.result(&leave).is_some() {
            ends.push(("durable", frame));
        }
    }
    let is_b = |line: &&String| line.starts_with('b');
    let expected: Vec<String> = plains
        .borrow()
        .iter()
        .filter(|line| !is_b(line))
        .cloned()
        .collect();
    let found: Vec<String> = log.iter().filter(|line| !is_b(line)).cloned().collect();
    assert_eq!(found, expected);
    assert_eq!(ends[..2], [("plain", ends[0].1), ("durable", ends[0].1)]);
    assert_eq!(runtime.take(leave), Some(Ok(1)));
    assert_eq!(leave_plain.take_output().unwrap().unwrap(), 1);
}

/// Awaits a future, and says whether that panics.
struct Catch<F>(Pin<Box<F>>);

impl<F: Future> Future for Catch<F> {
    type Output = bool;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<bool> {
        let polled = catch_unwind(AssertUnwindSafe(|| self.0.as_mut().poll(cx)));
        polled.map_or(Poll::Ready(true), |polled| polled.map(|_| false))
    }
}

#[test]
fn a_script_that_catches_the_panic_of_a_wait_for_its_own_end_is_saved_and_loaded() {
    #[durable]
    async fn quest(above: OwnerId, waits_for_end: bool) -> bool {
        let panics = if waits_for_end {
            Catch(Box::pin(above.ended())).await
        } else {
            Catch(Box::pin(above.stop_within(9))).await
        };
        wait_seconds(1).await;
        panics
    }

    for waits_for_end in [true, false] {
        let registry = || Registry::new().script(quest);
        let mut runtime = quiet(registry());
        let above = runtime.owner();
        let below = runtime.enter(|| above.child());
        let quest = runtime.enter(|| below.start(quest(above, waits_for_end)));
        runtime.run_frame(0.25);
        let file = runtime.save().unwrap().to_bytes();
        let mut other = quiet(registry());
        let save = SaveState::from_bytes(&file).unwrap();
        other.restore(&save, Policy::Fail).unwrap();
        let quest = other.enter(|| quest.id().handle::<bool>()).unwrap();
        for _ in 0..4 {
            other.run_frame(0.25);
        }
        assert_eq!(other.take(quest), Some(Ok(true)));
    }
}

/// ```text
/// frame  1 (0.25 s)    2       3       4      5
/// level  read          saved   ..      ..     over: one is stopped
/// ```
#[test]
fn a_request_is_saved_with_its_deadline_and_is_no_script() {
    let mut runtime = quiet(registry());
    let level = runtime.owner();
    let mut log = Log::new();
    runtime.lend(&mut log, |runtime| {
        runtime.enter(|| level.start(Actor::Deaf)).detach();
    });
    let stopped = ScriptHandle::from(runtime.enter(|| level.stop_within(1)));
    assert_eq!((runtime.scripts().len(), runtime.executor().len()), (1, 1));
    assert!(runtime.enter(|| stopped.id().handle::<usize>()).is_some());
    runtime.run_frame_with(&mut log, 0.25);
    runtime.run_frame_with(&mut log, 0.25);
    let save = runtime.save().unwrap();
    assert!(
        save.to_string()
            .contains("a request to stop owner #1, made at ")
    );
    let end = |runtime: &mut Runtime, stopped: &ScriptHandle<usize>| {
        let mut log = Log::new();
        while runtime.result(stopped).is_none() {
            runtime.run_frame_with(&mut log, 0.25);
        }
        (runtime.time().frame, runtime.result(stopped))
    };
    let expected = (5, Some(Ok(1)));
    assert_eq!(end(&mut runtime, &stopped), expected);
    // Taken back, the request is pending again, with the same handle.
    runtime.rollback(&save).unwrap();
    assert_eq!(runtime.result(&stopped), None);
    assert_eq!(runtime.checksum().unwrap(), save.checksum());
    assert_eq!(end(&mut runtime, &stopped), expected);
    let mut other = quiet(registry());
    other
        .restore(
            &SaveState::from_bytes(&save.to_bytes()).unwrap(),
            Policy::Fail,
        )
        .unwrap();
    assert_eq!(other.checksum().unwrap(), save.checksum());
    let stopped = other.enter(|| stopped.id().handle::<usize>()).unwrap();
    assert_eq!(end(&mut other, &stopped), expected);
    // Its number is that of a script, and no script can be stopped or paused by it.
    assert!(!stopped.stop() && !other.is_alive(stopped.id()));
}

#[test]
fn what_is_started_after_the_owner_has_ended_goes_on_after_a_restore_too() {
    let mut runtime = quiet(registry());
    let level = runtime.owner();
    let mut log = Log::new();
    let stopped = runtime.lend(&mut log, |runtime| {
        runtime.enter(|| level.start(Actor::Fades(1))).detach();
        let stopped = ScriptHandle::from(runtime.enter(|| level.stop_within(1)));
        runtime.enter(|| level.stop_all());
        runtime.enter(|| level.start(Actor::Deaf)).detach();
        stopped
    });
    let save = SaveState::from_bytes(&runtime.save().unwrap().to_bytes()).unwrap();
    let mut other = quiet(registry());
    other.restore(&save, Policy::Fail).unwrap();
    let handle = other.enter(|| stopped.id().handle::<usize>()).unwrap();
    for runtime in [&mut runtime, &mut other] {
        for _ in 0..9 {
            runtime.run_frame_with(&mut log, 0.25);
        }
        assert!(!runtime.enter(|| level.is_empty()));
    }
    assert_eq!(runtime.take(stopped), Some(Ok(0)));
    assert_eq!(other.take(handle), Some(Ok(0)));
}

#[test]
fn a_request_that_no_script_has_read_is_reported_with_the_line_of_the_call() {
    let mut runtime = Runtime::new(registry());
    let reports: Rc<RefCell<Vec<String>>> = Rc::default();
    let heard = Rc::clone(&reports);
    runtime.executor().on_report(move |report| {
        if let Report::StopIgnored { .. } = report {
            heard.borrow_mut().push(report.to_string());
        }
    });
    let [deaf, mixed] = [(); 2].map(|()| runtime.owner());
    let mut log = Log::new();
    runtime.lend(&mut log, |runtime| {
        runtime.enter(|| deaf.start(Actor::Deaf)).detach();
        runtime.enter(|| mixed.start(Actor::Deaf)).detach();
        runtime.enter(|| mixed.start(Actor::Fades(0))).detach();
    });
    let stopped =
        [deaf, mixed].map(|owner| ScriptHandle::from(runtime.enter(|| owner.stop_within(0.25))));
    let save = runtime.save().unwrap();
    let ids = stopped.map(|stopped| stopped.id());
    runtime.restore(&save, Policy::Fail).unwrap();
    let stopped = ids.map(|id| runtime.enter(|| id.handle::<usize>()).unwrap());
    for _ in 0..3 {
        runtime.run_frame_with(&mut log, 0.25);
    }
    assert_eq!(
        stopped.map(|stopped| runtime.take(stopped)),
        [Some(Ok(1)), Some(Ok(1))]
    );
    let reports = reports.borrow();
    assert_eq!(reports.len(), 1, "{reports:?}");
    assert!(reports[0].contains("stops.rs:"), "{reports:?}");
}

#[test]
#[should_panic(expected = "awaits `ended()` of owner #1, on which it runs itself")]
fn a_script_that_awaits_the_end_of_its_own_owner_panics() {
    #[durable]
    async fn forever(owner: OwnerId) {
        owner.ended().await;
    }

    let mut runtime = Runtime::with(
        framestep::Executor::builder().propagate_panics(true),
        Registry::new().script(forever),
    );
    let owner = runtime.owner();
    runtime.enter(|| owner.spawn(forever(owner))).detach();
    runtime.run_frame(0.1);
}

#[test]
fn the_end_of_an_owner_that_was_dropped_has_come() {
    #[durable]
    async fn waits(owner: OwnerId) -> u64 {
        owner.ended().await;
        time().frame
    }

    let mut runtime = Runtime::new(registry().script(waits));
    let owner = runtime.owner();
    runtime.enter(|| owner.start(Actor::Swings)).detach();
    let early = runtime.start(waits(owner));
    runtime.run_frame_with(&mut Log::new(), 0.1);
    let save = runtime.save_state().unwrap();
    let mut log = Log::new();
    runtime.lend(&mut log, |runtime| {
        assert!(runtime.enter(|| owner.remove()));
    });
    let late = runtime.start(waits(owner));
    runtime.run_frame_with(&mut log, 0.1);
    assert_eq!(runtime.result(&early), Some(Ok(2)));
    assert_eq!(runtime.take(late), Some(Ok(1)));

    // Saved between the end and the poll that notices it.
    runtime.rollback(&save).unwrap();
    runtime.lend(&mut log, |runtime| runtime.enter(|| owner.stop_all()));
    let file = runtime.save().unwrap().to_bytes();
    let save = SaveState::from_bytes(&file).unwrap();
    runtime.restore(&save, Policy::Fail).unwrap();
    let early = runtime.enter(|| early.id().handle::<u64>()).unwrap();
    runtime.run_frame(0.1);
    assert_eq!(runtime.take(early), Some(Ok(2)));
}

#[test]
fn a_plain_script_reads_the_requests_of_plain_owners() {
    async fn helper() -> bool {
        let before = is_stop_requested();
        stop_requested().await;
        !before && is_stop_requested()
    }

    let mut executor = framestep::Executor::new();
    let owner = executor.owner();
    let script = owner.start(helper());
    executor.run_frame(0.1);
    owner.request_stop();
    executor.run_frame(0.1);
    assert!(script.take_output().unwrap().unwrap());
}
