//! `yield_now`: later in the same run, even where a run or a pause holds it back.

use framestep_durable::prelude::*;

use crate::sleeps::reread;
use crate::twin::{Game, Log, MOMENTS, log, moment, quiet, what};

#[durable]
async fn turns(name: String, count: u32) {
    for _ in 0..count {
        log(name.as_str());
        yield_now().await;
    }
    log(format!("{name} ends"));
}

/// Yields while it is paused by another script, which it has let go first.
#[durable]
async fn lets_others_go_first(phase: Phase2) {
    let phase = Phase::from(phase);
    for round in 0..3 {
        in_phase(phase).await;
        log(format!("{phase} {round} before"));
        yield_now().await;
        log(format!("{phase} {round} after"));
    }
}

/// Phases, as a state can hold them.
#[derive(Clone, Copy, Serialize, Deserialize)]
enum Phase2 {
    Fixed,
    Update,
    Late,
}

impl From<Phase2> for Phase {
    fn from(phase: Phase2) -> Phase {
        match phase {
            Phase2::Fixed => Phase::FixedUpdate,
            Phase2::Update => Phase::Update,
            Phase2::Late => Phase::LateUpdate,
        }
    }
}

/// Pauses the others in the run of their yields, and resumes them two frames later.
#[durable]
async fn pauses(others: Vec<ScriptId>) {
    for phase in [Phase::Update, Phase::LateUpdate, Phase::FixedUpdate] {
        in_phase(phase).await;
        for &other in &others {
            log(format!("{other} paused: {}", pause(other)));
        }
        wait_frames(2).await;
        for &other in &others {
            log(format!("{other} resumed: {}", resume(other)));
        }
    }
}

fn registry() -> Registry {
    Registry::new()
        .script(turns)
        .script(lets_others_go_first)
        .script(pauses)
        .script(greedy)
        .script(beside)
}

fn blank() -> Runtime {
    quiet(registry())
}

#[test]
fn scripts_take_turns_within_one_run() {
    let mut runtime = blank();
    let mut log = Log::new();
    runtime.spawn(turns("a".into(), 3)).detach();
    runtime.spawn(turns("b".into(), 2)).detach();
    runtime.run_frame_with(&mut log, 0.25);
    assert_eq!(what(&log), ["a", "b", "a", "b", "a", "b ends", "a ends"]);
    assert!(runtime.scripts().is_empty());
}

#[test]
fn one_that_is_paused_in_the_run_of_its_yield_continues_alike() {
    let game = Game {
        blank,
        begin: |runtime, log: &mut Log| {
            runtime.lend(log, |runtime| {
                // Before and after them.
                let mut ids = Vec::new();
                for phase in [Phase2::Update, Phase2::Late, Phase2::Fixed] {
                    ids.push(runtime.spawn(lets_others_go_first(phase)).id());
                }
                runtime.spawn(pauses(ids.clone())).detach();
                for phase in [Phase2::Update, Phase2::Late, Phase2::Fixed] {
                    runtime.spawn(lets_others_go_first(phase)).detach();
                }
            });
        },
        frame: moment,
        frames: 9 * MOMENTS,
    };
    let log = game.assert_like_its_twin();
    let said = |words: &str| what(&log).iter().filter(|line| **line == words).count();
    assert_eq!(said("#1 paused: true"), 3, "{log:#?}");
    assert_eq!(said("Update 2 after"), 2, "{log:#?}");
}

/// Yields more often than a run allows.
#[durable]
async fn greedy(phase: Phase2) {
    in_phase(phase.into()).await;
    for turn in 0..25 {
        log(format!("greedy {turn}"));
        yield_now().await;
    }
}

/// The turns are beside other waits, and one is given up.
#[durable]
async fn beside() -> u32 {
    let ((), ended) = join!(wait_frames(2), async {
        for _ in 0..12 {
            yield_now().await;
        }
        log("twelve turns");
        12
    });
    let first = select! {
        () = yield_now() => 1,
        _ = wait_seconds(0) => 2,
    };
    log(format!("first {first}"));
    ended
}

#[test]
fn one_that_the_limit_of_a_run_holds_back_is_saved_and_continues_in_the_next_run_of_its_phase() {
    let game = Game {
        blank: || {
            let builder = framestep::Executor::builder()
                .fixed_delta(0.04)
                .max_polls_per_run(10);
            let runtime = Runtime::with(builder, registry());
            runtime.executor().on_report(|_| ());
            runtime
        },
        begin: |runtime, log: &mut Log| {
            runtime.lend(log, |runtime| {
                for phase in [Phase2::Update, Phase2::Fixed, Phase2::Late] {
                    runtime.spawn(greedy(phase)).detach();
                }
                // Outside of a run: in the next one of home.
                runtime.start(turns("started".into(), 2)).detach();
                let late = turns("late".into(), 13);
                runtime.enter(|| start_in(Phase::LateUpdate, late)).detach();
                runtime.start(beside()).detach();
            });
        },
        frame: moment,
        frames: 5 * MOMENTS,
    };
    let log = game.assert_like_its_twin();
    let frame_of = |words: &str| {
        let at = what(&log).iter().position(|line| *line == words).unwrap();
        log[at]
            .split(" F")
            .nth(1)
            .unwrap()
            .split('.')
            .next()
            .unwrap()
            .to_owned()
    };
    assert_eq!(
        ["greedy 10", "greedy 11", "greedy 24"].map(frame_of),
        ["1", "2", "3"],
        "{log:#?}"
    );
}

#[test]
fn a_look_into_a_save_shows_it() {
    let runtime = blank();
    let mut log = Log::new();
    let mut runtime = runtime;
    runtime.lend(&mut log, |runtime| {
        runtime.start(turns("a".into(), 1)).detach();
    });
    let save = reread(&runtime);
    assert!(save.to_string().contains("awaits `yield_now()`"), "{save}");
}
