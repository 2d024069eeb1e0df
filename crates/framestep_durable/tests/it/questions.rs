//! Signals, values and questions between the phases: asked, answered late, twice, or never.

use framestep_durable::prelude::*;

use crate::twin::{Game, Log, MOMENTS, log, moment, quiet};

const BELL: Signal<u32> = signal("bell");
const GONG: Signal<String> = signal("gong");
const STAGE: Watch<u32> = watch("stage", Default::default);

/// Two waits for one signal. One begins earlier and lives longer.
#[derive(Serialize, Deserialize)]
struct Listens {
    name: u32,
}

impl DurableScript for Listens {
    const NAME: &'static str = "listens";
    type Output = ();

    async fn run(self) -> Chapter<Self> {
        let name = self.name;
        for stage in 0..4 {
            let first = select! {
                bell = BELL.wait() => format!("bell {bell}"),
                gong = GONG.wait() => format!("gong {gong}"),
                stage = STAGE.changed() => format!("stage {stage}"),
                _ = wait_frames(3) => "nothing".to_owned(),
            };
            log(format!("{name} {first}"));
            let mut early = Box::pin(BELL.wait());
            let both = timeout(0.1, async { join!(early.as_mut(), BELL.wait()) }).await;
            log(format!("{name} {both:?}"));
            // Polled once, and dropped in the same poll.
            let mut dropped = Box::pin(BELL.wait());
            assert!(futures::poll!(dropped.as_mut()).is_pending());
            drop(dropped);
            let reached = timeout(0.2, STAGE.wait_for(|now| *now > stage)).await;
            log(format!("{name} {reached:?}"));
        }
        Chapter::Done(())
    }
}

#[derive(Serialize, Deserialize)]
struct Emits {
    name: u32,
}

impl DurableScript for Emits {
    const NAME: &'static str = "emits";
    type Output = ();

    async fn run(self) -> Chapter<Self> {
        let name = self.name;
        for round in 0..8 {
            BELL.emit(name * 100 + round);
            if round % 2 == 0 {
                GONG.emit(format!("{name}.{round}"));
            }
            if round % 3 == 0 {
                STAGE.set(round);
                STAGE.set(round); // is a change all the same
            }
            log(format!("{name} reads {}", STAGE.get()));
            match (name + round) % 4 {
                0 => next_frame().await,
                1 => fixed_update().await,
                2 => end_of_frame().await,
                _ => wait_seconds(0.12).await,
            }
        }
        Chapter::Done(())
    }
}

const HOMES: [Phase; 3] = [Phase::Update, Phase::FixedUpdate, Phase::EarlyUpdate];

#[test]
fn signals_and_values_from_scripts_and_between_the_phases() {
    let game = Game {
        blank: || quiet(Registry::new().with::<Listens>().with::<Emits>()),
        begin: |runtime, log| {
            runtime.lend(log, |runtime| {
                for (name, home) in (0..).zip(HOMES) {
                    runtime.enter(|| start_in(home, Listens { name })).detach();
                    runtime.enter(|| start_in(home, Emits { name })).detach();
                }
            });
        },
        frame: |at, runtime, log: &mut Log| {
            if at % 5 == 2 {
                runtime.named(&BELL).emit(1_000 + at);
                runtime.named(&GONG).emit(format!("{at}"));
            }
            if at % 11 == 5 {
                runtime.named(&STAGE).set(at);
                runtime.named(&BELL).emit(2_000 + at);
            }
            moment(at, runtime, log);
        },
        frames: 6 * MOMENTS,
    };
    assert!(game.assert_like_its_twin().len() > 40);
}

#[derive(Serialize, Deserialize)]
struct Riddle(u32);

impl Request for Riddle {
    const NAME: &'static str = "riddle";
    type Answer = String;
}

/// Asks, asks with a timeout, and asks two questions at once.
#[derive(Serialize, Deserialize)]
struct Sphinx(u32);

impl DurableScript for Sphinx {
    const NAME: &'static str = "sphinx";
    type Output = ();

    async fn run(self) -> Chapter<Self> {
        let number = self.0;
        log(ask(|| Riddle(number)).await);
        let limited = timeout(0.2, ask(|| Riddle(100 + number))).await;
        log(format!("{limited:?}"));
        let both = join!(ask(|| Riddle(200 + number)), ask(|| Riddle(300 + number)));
        log(format!("{both:?}"));
        Chapter::Next(Sphinx(number + 1))
    }
}

fn sphinxes() -> Runtime {
    quiet(Registry::new().with::<Sphinx>())
}

/// All open questions, for a host that has forgotten which it has received.
fn open(runtime: &mut Runtime) -> Vec<(RequestId<Riddle>, Riddle)> {
    let now = runtime.save_state().unwrap();
    runtime.rollback(&now).unwrap();
    runtime.requests()
}

#[test]
fn questions_can_be_answered_late_twice_or_never() {
    let game = Game {
        blank: sphinxes,
        begin: |runtime, log| {
            runtime.lend(log, |runtime| {
                for (number, home) in (0..).zip(HOMES) {
                    runtime
                        .enter(|| start_in(home, Sphinx(10 * number)))
                        .detach();
                }
            });
        },
        frame: |at, runtime, log: &mut Log| {
            if at % 4 == 1 {
                for (number, (id, riddle)) in (at..).zip(open(runtime)) {
                    if number % 3 == 0 {
                        assert!(runtime.answer(id, &format!("{} at {at}", riddle.0)));
                        assert!(!runtime.answer(id, &"another answer".to_owned()));
                    }
                }
            }
            moment(at, runtime, log);
        },
        frames: 6 * MOMENTS,
    };
    let log = game.assert_like_its_twin();
    assert!(log.len() > 8);
    assert!(log.iter().all(|line| !line.contains("another")), "{log:?}");
}

#[test]
fn an_answered_question_is_open_again_after_a_rollback_and_closed_after_its_timeout() {
    let (mut runtime, mut log) = (sphinxes(), Log::new());
    runtime.start(Sphinx(1)).detach();
    let asked = runtime.save_state().unwrap();
    let (first, _) = runtime.requests::<Riddle>()[0];
    assert!(runtime.requests::<Riddle>().is_empty());
    assert!(runtime.answer(first, &"a".into()) && !runtime.answer(first, &"b".into()));
    let answered = runtime.save_state().unwrap();
    runtime.run_frame_with(&mut log, 0.1);
    assert!(!runtime.answer(first, &"c".into()));
    let (limited, _) = runtime.requests::<Riddle>()[0];
    for _ in 0..3 {
        runtime.run_frame_with(&mut log, 0.1);
    }
    assert!(!runtime.answer(limited, &"too late".into()));

    runtime.rollback(&asked).unwrap();
    assert_eq!(runtime.requests::<Riddle>().len(), 1);
    assert!(runtime.answer(first, &"another".into()));

    let file = answered.to_bytes();
    let mut loaded = sphinxes();
    let save = SaveState::from_bytes(&file).unwrap();
    loaded.restore(&save, Policy::Fail).unwrap();
    assert!(loaded.requests::<Riddle>().is_empty());
    log.clear();
    loaded.run_frame_with(&mut log, 0.1);
    assert!(log[0].starts_with("a F1.Update"), "{log:?}");
}
