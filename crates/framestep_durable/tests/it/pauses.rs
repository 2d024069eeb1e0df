//! Scripts that stop and pause others, between all phases.

use framestep_durable::prelude::*;

use crate::twin::{Game, Log, MOMENTS, log, moment, quiet};

const BELL: Signal<u32> = signal("bell");

/// Waits for a bell or for a time, with a guard and children.
#[derive(Serialize, Deserialize)]
struct Actor {
    name: String,
    children: u32,
}

fn actor(name: &str, children: u32) -> Actor {
    let name = name.to_owned();
    Actor { name, children }
}

impl DurableScript for Actor {
    const NAME: &'static str = "actor";
    type Output = u32;

    async fn run(self) -> Chapter<Self> {
        let Actor { name, children } = self;
        let left = name.clone();
        let _guard = defer(move |log: &mut Log| log.push(format!("{left} leaves")));
        let child = (children > 0).then(|| start(actor(&format!("{name}'"), children - 1)));
        for _ in 0..4 {
            select! {
                bell = BELL.wait() => log(format!("{name} hears {bell}")),
                _ = wait_seconds(0.15) => log(format!("{name} waited")),
            }
            next_frame().await;
        }
        if let Some(child) = child {
            log(format!("{name} joins {:?}", child.await));
        }
        Chapter::Done(children)
    }
}

/// What is done to the others.
#[derive(Clone, Copy, Serialize, Deserialize)]
enum Deed {
    Stops,
    PausesTwiceAndResumesAtOnce,
    PausesForThreeFrames,
    StartsAndStopsAtOnce,
    StopsWithAWakeThatIsRemembered,
    ResumesInOtherPhases,
}

#[derive(Serialize, Deserialize)]
struct Villain {
    deed: Deed,
    victims: Vec<ScriptId>,
}

impl DurableScript for Villain {
    const NAME: &'static str = "villain";
    type Output = ();

    async fn run(self) -> Chapter<Self> {
        let all = |deed: fn(ScriptId) -> bool| {
            let done: Vec<bool> = self.victims.iter().map(|&id| deed(id)).collect();
            log(format!("{done:?}"));
        };
        next_frame().await;
        match self.deed {
            Deed::Stops => all(stop),
            Deed::PausesTwiceAndResumesAtOnce => {
                all(|id| pause(id) && !pause(id) && resume(id) && !resume(id));
            }
            Deed::PausesForThreeFrames => {
                all(pause);
                wait_frames(3).await;
                all(resume);
            }
            Deed::StartsAndStopsAtOnce => {
                for child in [start(actor("new", 1)), spawn(actor("later", 0))] {
                    assert!(stop(child.id()) && !stop(child.id()));
                    log(format!("{:?}", child.await));
                }
                let child = spawn(actor("paused", 0));
                assert!(pause(child.id()));
                wait_frames(2).await;
                assert!(resume(child.id()) && stop(child.id()));
                log(format!("{:?}", child.await));
            }
            Deed::StopsWithAWakeThatIsRemembered => {
                all(pause);
                BELL.emit(9);
                next_frame().await;
                all(stop);
            }
            Deed::ResumesInOtherPhases => {
                all(pause);
                BELL.emit(9);
                in_phase(Phase::LateUpdate).await;
                all(resume);
                fixed_update().await;
                all(|id| pause(id) && resume(id));
                BELL.emit(11);
                all(pause);
                end_of_frame().await;
                all(resume);
            }
        }
        Chapter::Done(())
    }
}

fn blank() -> Runtime {
    quiet(Registry::new().with::<Actor>().with::<Villain>())
}

macro_rules! deeds {
    ($($name:ident: $deed:ident)*) => {$(
        #[test]
        fn $name() {
            let game = Game {
                blank,
                begin: |runtime, log| runtime.lend(log, |runtime| {
                    let a = runtime.start(actor("a", 2));
                    let b = runtime.enter(|| start_in(Phase::FixedUpdate, actor("b", 0)));
                    let c = runtime.spawn(actor("c", 0));
                    let victims = vec![a.id(), b.id(), ScriptId::from_raw(2), c.id()];
                    for home in [Phase::Update, Phase::LateUpdate] {
                        let victims = victims.clone();
                        let villain = Villain { deed: Deed::$deed, victims };
                        runtime.enter(|| start_in(home, villain)).detach();
                    }
                }),
                frame: |at, runtime, log: &mut Log| {
                    if at % 7 == 3 {
                        runtime.lend(log, |runtime| runtime.named(&BELL).emit(at));
                    }
                    moment(at, runtime, log);
                },
                frames: 5 * MOMENTS,
            };
            assert!(game.assert_like_its_twin().len() > 6);
        }
    )*};
}

deeds! {
    scripts_that_stop_others: Stops
    scripts_that_pause_others_twice: PausesTwiceAndResumesAtOnce
    scripts_that_pause_others_for_frames: PausesForThreeFrames
    scripts_that_start_and_stop_at_once: StartsAndStopsAtOnce
    scripts_that_stop_others_with_a_wake_that_is_remembered: StopsWithAWakeThatIsRemembered
    scripts_that_resume_others_in_other_phases: ResumesInOtherPhases
}
