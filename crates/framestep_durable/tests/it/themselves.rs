//! Scripts that stop and pause themselves and their parents.

use framestep_durable::prelude::*;

use crate::twin::{Game, Log, log, quiet, what};

/// Does something to itself.
#[derive(Serialize, Deserialize)]
enum Own {
    StopsAndWaits,
    PausesAndWaits,
    PausesAndResumes,
    StopsAndIsDone,
    StopsAndBeginsAChapter,
    HasAChildThatStopsIt,
    StopsItsParent(ScriptId),
    PausesAndBeginsAChapter,
    PausesAndIsDone,
    IsInItsNextChapter,
}

#[derive(Serialize, Deserialize)]
struct Narcissus {
    me: ScriptId,
    own: Own,
}

impl DurableScript for Narcissus {
    const NAME: &'static str = "narcissus";
    type Output = ();

    async fn run(self) -> Chapter<Self> {
        let me = self.me;
        let next = Narcissus {
            me,
            own: Own::IsInItsNextChapter,
        };
        wait_frames(1).await;
        match self.own {
            Own::StopsAndWaits => {
                assert!(stop(me));
                log("goes on up to its next wait");
                next_frame().await;
                log("never");
            }
            Own::PausesAndWaits => {
                assert!(pause(me));
                next_frame().await;
                log("resumed by the host");
            }
            Own::PausesAndResumes => {
                assert!(pause(me) && resume(me));
                next_frame().await;
                log("goes on");
            }
            Own::StopsAndIsDone => drop(stop(me)),
            Own::PausesAndIsDone => drop(pause(me)),
            Own::StopsAndBeginsAChapter => {
                stop(me);
                return Chapter::Next(next);
            }
            Own::PausesAndBeginsAChapter => {
                pause(me);
                return Chapter::Next(next);
            }
            Own::HasAChildThatStopsIt => {
                let own = Own::StopsItsParent(me);
                let child = start(Narcissus { me, own });
                log(format!("never {:?}", child.await));
            }
            Own::StopsItsParent(parent) => {
                assert!(stop(parent));
                wait_frames(2).await;
                log("outlives its parent");
            }
            Own::IsInItsNextChapter => log("is in its next chapter"),
        }
        Chapter::Done(())
    }
}

fn blank() -> Runtime {
    quiet(Registry::new().with::<Narcissus>())
}

#[test]
fn scripts_that_stop_and_pause_themselves_and_their_parents() {
    let game = Game {
        blank,
        begin: |runtime, log| {
            let owns = [
                Own::StopsAndWaits,
                Own::PausesAndWaits,
                Own::PausesAndResumes,
                Own::StopsAndIsDone,
                Own::StopsAndBeginsAChapter,
                Own::HasAChildThatStopsIt,
                Own::PausesAndBeginsAChapter,
                Own::PausesAndIsDone,
            ];
            runtime.lend(log, |runtime| {
                for (number, own) in (1..).zip(owns) {
                    let me = ScriptId::from_raw(number);
                    assert_eq!(runtime.start(Narcissus { me, own }).id(), me);
                }
            });
        },
        frame: |at, runtime, log: &mut Log| {
            if at == 5 {
                for paused in [2, 7] {
                    assert!(runtime.enter(|| resume(ScriptId::from_raw(paused))));
                }
            }
            runtime.run_frame_with(log, 0.1);
        },
        frames: 12,
    };
    let log = game.assert_like_its_twin();
    let expected = [
        "goes on up to its next wait",
        "goes on",
        "outlives its parent",
        "resumed by the host",
        "is in its next chapter",
    ];
    assert_eq!(what(&log), expected);
}
