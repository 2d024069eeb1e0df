//! Children: joined, detached, spawned, stopped, panicked; and handles after a restore.

use framestep_durable::prelude::*;

use crate::sleeps::{Sleeps, reread};
use crate::twin::Game;

type Log = Vec<String>;

fn log(what: impl Into<String>) {
    let (what, now) = (what.into(), time());
    with(move |log: &mut Log| log.push(format!("{what} in frame {}", now.frame)));
}

/// Waits, and ends in one of three ways.
#[derive(Clone, Serialize, Deserialize)]
struct Child {
    frames: u64,
    panics: bool,
}

impl DurableScript for Child {
    const NAME: &'static str = "child of a family";
    type Output = u64;

    async fn run(self) -> Chapter<Self> {
        wait_frames(self.frames).await;
        assert!(!self.panics, "on purpose");
        log(format!("child of {}", self.frames));
        Chapter::Done(self.frames)
    }
}

#[derive(Clone, Serialize, Deserialize)]
enum Parent {
    Joins,
    JoinsLate,
    Detaches,
    Spawns,
    StopsBeforeTheJoin,
    StopsDuringTheJoin,
    JoinsOneThatPanicked,
    HasGrandchildren(u32),
}

impl DurableScript for Parent {
    const NAME: &'static str = "parent";
    type Output = String;

    async fn run(self) -> Chapter<Self> {
        let child = |frames| Child {
            frames,
            panics: false,
        };
        let ended = match self {
            Parent::Joins => format!("{:?}", start(child(4)).await),
            Parent::JoinsLate => {
                let child = start(child(2));
                wait_frames(6).await;
                format!("{:?}", child.await)
            }
            Parent::Detaches => {
                start(child(5)).detach();
                next_frame().await;
                "detached".into()
            }
            Parent::Spawns => format!("{:?}", spawn(child(3)).await),
            Parent::StopsBeforeTheJoin => {
                let child = start(child(4));
                wait_frames(2).await;
                let was_alive = stop(child.id());
                wait_frames(2).await;
                format!("{was_alive} {:?}", child.await)
            }
            Parent::StopsDuringTheJoin => {
                let child = start(child(9));
                let id = child.id();
                let both = join!(child, async {
                    wait_frames(3).await;
                    stop(id)
                });
                format!("{both:?}")
            }
            Parent::JoinsOneThatPanicked => {
                let child = start(Child {
                    frames: 2,
                    panics: true,
                });
                wait_frames(5).await;
                format!("{:?}", child.await)
            }
            Parent::HasGrandchildren(0) => format!("{:?}", start(child(3)).await),
            Parent::HasGrandchildren(more) => {
                let ended = start(Parent::HasGrandchildren(more - 1)).await;
                format!("{more} {ended:?}")
            }
        };
        log(ended.clone());
        Chapter::Done(ended)
    }
}

fn blank() -> Runtime {
    let builder = framestep::Executor::builder().propagate_panics(false);
    let registry = Registry::new().with::<Parent>().with::<Child>();
    let runtime = Runtime::with(builder, registry);
    runtime.executor().on_report(|_| ());
    runtime
}

fn frame(_: u32, runtime: &mut Runtime, log: &mut Log) {
    runtime.run_frame_with(log, 0.1);
}

/// Plays with one parent, and returns what it logged, without the children's lines.
#[track_caller]
fn logged_by(begin: fn(&mut Runtime, &mut Log)) -> Log {
    let game = Game {
        blank,
        begin,
        frame,
        frames: 12,
    };
    let mut log = game.assert_like_its_twin();
    log.retain(|line| !line.starts_with("child of"));
    log
}

macro_rules! begin {
    ($parent:expr) => {
        |runtime, log| runtime.lend(log, |runtime| runtime.start($parent).detach())
    };
}

#[test]
fn a_join_that_is_saved_at_any_frame_returns_the_result_of_the_child() {
    let log = logged_by(begin!(Parent::Joins));
    assert!(log[0].starts_with("Ok(4) in frame"), "{log:?}");
    let log = logged_by(begin!(Parent::Spawns));
    assert!(log[0].starts_with("Ok(3) in frame"), "{log:?}");
}

#[test]
fn the_result_of_a_child_that_ended_before_the_save_is_still_there_to_join() {
    let log = logged_by(begin!(Parent::JoinsLate));
    assert!(log[0].starts_with("Ok(2) in frame"), "{log:?}");
}

#[test]
fn a_detached_child_continues_after_the_save() {
    let game = Game {
        blank,
        begin: begin!(Parent::Detaches),
        frame,
        frames: 12,
    };
    let log = game.assert_like_its_twin();
    assert_eq!(log.len(), 2, "{log:?}");
    assert!(log[0].starts_with("detached"), "{log:?}");
    assert!(log[1].starts_with("child of 5"), "{log:?}");
}

#[test]
fn a_child_that_is_stopped_before_or_after_the_save_is_an_error_of_its_join() {
    let log = logged_by(begin!(Parent::StopsBeforeTheJoin));
    assert!(
        log[0].starts_with("true Err(Stopped { by: Some(\"parent\"), .. })"),
        "{log:?}"
    );
    let log = logged_by(begin!(Parent::StopsDuringTheJoin));
    assert!(
        log[0].starts_with("(Err(Stopped { by: Some(\"parent\"), .. }), true)"),
        "{log:?}"
    );
}

#[test]
fn a_panic_before_the_join_is_in_the_file() {
    let log = logged_by(begin!(Parent::JoinsOneThatPanicked));
    assert!(log[0].starts_with("Err(Panicked("), "{log:?}");
    assert!(log[0].contains("on purpose"), "{log:?}");
}

#[test]
fn results_pass_through_generations_that_were_saved() {
    let log = logged_by(begin!(Parent::HasGrandchildren(4)));
    assert_eq!(log.len(), 5, "{log:?}");
    assert!(log[4].starts_with("4 Ok("), "{log:?}");
}

#[test]
fn a_handle_of_the_host_reads_a_result_a_panic_or_a_stop_from_before_the_save() {
    let mut log = Log::new();
    let mut first = blank();
    let child = |frames, panics| Child { frames, panics };
    let ended = first.spawn(child(1, false));
    let panicked = first.spawn(child(1, true));
    let stopped = first.spawn(child(9, false));
    let detached = first.spawn(child(1, false));
    let detached_id = detached.id();
    detached.detach();
    for _ in 0..3 {
        first.run_frame_with(&mut log, 0.1);
    }
    assert!(stopped.stop());
    first.run_frame_with(&mut log, 0.1);
    let file = first.save().unwrap().to_bytes();

    let mut second = blank();
    let save = SaveState::from_bytes(&file).unwrap();
    second.restore(&save, Policy::Fail).unwrap();
    assert!(second.scripts().is_empty());
    for handle in [&ended, &panicked, &stopped] {
        assert!(!second.is_alive(handle.id()));
        let again = second.enter(|| handle.id().handle::<u64>()).unwrap();
        assert_eq!(second.result(&again), first.result(handle));
    }
    assert_eq!(first.result(&ended), Some(Ok(1)));
    assert!(matches!(
        first.result(&stopped),
        Some(Err(JoinError::Stopped { .. }))
    ));
    assert!(matches!(
        first.result(&panicked),
        Some(Err(JoinError::Panicked(_)))
    ));
    assert!(second.enter(|| detached_id.handle::<u64>()).is_none());
    assert!(
        second
            .enter(|| ScriptId::from_raw(99).handle::<u64>())
            .is_none()
    );
}

#[test]
fn scripts_that_are_made_after_a_restore_have_new_numbers() {
    let mut log = Log::new();
    let mut first = blank();
    first.lend(&mut log, |runtime| runtime.start(Parent::Joins).detach());
    let save = first.save().unwrap();
    let mut second = blank();
    second.restore(&save, Policy::Fail).unwrap();
    let taken: Vec<ScriptId> = second.scripts().into_iter().map(|(id, _)| id).collect();
    let new = second.spawn(Parent::Joins).id();
    assert_eq!(taken, [ScriptId::from_raw(1), ScriptId::from_raw(2)]);
    assert_eq!(new, ScriptId::from_raw(3));
}

/// Has started a child, and detached it.
#[derive(Serialize, Deserialize)]
struct Leaves;

impl DurableScript for Leaves {
    const NAME: &'static str = "leaves";
    type Output = ();

    async fn run(self) -> Chapter<Self> {
        start(Sleeps).detach();
        wait_frames(50).await;
        Chapter::Done(())
    }
}

#[test]
fn a_save_right_after_a_restore_takes_no_result_from_the_host() {
    let blank = || Runtime::new(Registry::new().with::<Leaves>().with::<Sleeps>());
    let mut first = blank();
    first.start(Leaves).detach();
    let id = first.scripts()[1].0;
    let of_the_host = first.enter(|| id.handle::<u32>()).unwrap();
    let alive = reread(&first);
    for _ in 0..9 {
        first.run_frame(0.1);
    }
    assert_eq!(first.result(&of_the_host), Some(Ok(1)));
    let ended = reread(&first);

    let mut second = blank();
    second.restore(&alive, Policy::Fail).unwrap();
    second.verify().unwrap();
    let again = second
        .enter(|| id.handle::<u32>())
        .expect("no run has begun");
    assert_eq!(second.result(&again), None);
    second.restore(&ended, Policy::Fail).unwrap();
    second.verify().unwrap();
    let again = second
        .enter(|| id.handle::<u32>())
        .expect("no run has begun");
    assert_eq!(second.take(again), Some(Ok(1)));
}
