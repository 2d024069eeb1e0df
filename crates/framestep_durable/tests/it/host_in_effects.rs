//! What an effect, a guard or a destructor does to the runtime is done once.

use std::cell::RefCell;

use framestep_durable::{RuntimeHandle, prelude::*};

use crate::sleeps::Riddle;
use crate::twin::{Game, Log, log, quiet};

const BELL: Signal<u32> = signal("bell");
const STAGE: Watch<u32> = watch("stage", Default::default);

thread_local! {
    /// The host of the current runtime, as engines keep it in their world.
    static HOST: RefCell<Option<RuntimeHandle>> = const { RefCell::new(None) };
}

fn host() -> RuntimeHandle {
    HOST.with_borrow(|host| host.clone().unwrap())
}

#[derive(Serialize, Deserialize)]
struct Kid {
    frames: u64,
}

impl DurableScript for Kid {
    const NAME: &'static str = "kid";
    type Output = u64;

    async fn run(self) -> Chapter<Self> {
        wait_frames(self.frames).await;
        log(format!("kid of {}", self.frames));
        Chapter::Done(self.frames)
    }
}

#[derive(Serialize, Deserialize)]
struct Hears;

impl DurableScript for Hears {
    const NAME: &'static str = "hears";
    type Output = ();

    async fn run(self) -> Chapter<Self> {
        let bell = BELL.wait().await;
        log(format!("hears {bell}"));
        Chapter::Next(Hears)
    }
}

/// Calls the host in a `with` and in a guard.
#[derive(Serialize, Deserialize)]
struct Calls {
    me: ScriptId,
    call: u64,
}

fn call(number: u64, me: ScriptId) -> String {
    let host = host();
    match number {
        0 => format!(
            "stops itself {}",
            host.executor().enter(|| stop(me)).unwrap()
        ),
        1 => format!(
            "pauses itself {}",
            host.executor().enter(|| pause(me)).unwrap()
        ),
        2 => format!("starts {}", host.start(Kid { frames: 2 }).id()),
        3 => format!("spawns {}", host.spawn(Kid { frames: 3 }).id()),
        4 => {
            host.executor().named(&BELL).unwrap().emit(40);
            host.executor().named(&STAGE).unwrap().set(50);
            format!("sets {}", host.executor().named(&STAGE).unwrap().get())
        }
        5 => {
            let owner = host.owner();
            host.executor()
                .enter(|| owner.start(Kid { frames: 4 }))
                .unwrap()
                .detach();
            format!(
                "drops {}",
                host.executor().enter(|| owner.remove()).unwrap()
            )
        }
        6 => {
            let clock = host.executor().enter(|| ClockId::GAME.child()).unwrap();
            let owner = host.executor().enter(|| owner_on(clock)).unwrap();
            host.executor()
                .enter(|| clock.clock())
                .unwrap()
                .set_scale(0.5);
            host.executor()
                .enter(|| owner.start(Kid { frames: 2 }))
                .unwrap()
                .detach();
            format!(
                "pauses {}",
                host.executor().enter(|| owner.pause()).unwrap()
            )
        }
        7 => {
            let open = host.requests::<Riddle>();
            for (id, _) in &open {
                assert!(host.answer(*id, &7));
            }
            format!("answers {}", open.len())
        }
        8 => {
            let kid = host.start(Kid { frames: 0 });
            format!("takes {:?}", host.take(kid))
        }
        _ => format!(
            "stops the first {}",
            host.executor()
                .enter(|| stop(ScriptId::from_raw(1)))
                .unwrap()
        ),
    }
}

impl DurableScript for Calls {
    const NAME: &'static str = "calls";
    type Output = ();

    async fn run(self) -> Chapter<Self> {
        let Calls { me, call: number } = self;
        next_frame().await;
        let _guard = defer(move |log: &mut Log| {
            log.push("a guard".into());
            host().start(Kid { frames: number % 3 }).detach();
            host().executor().named(&BELL).unwrap().emit(100);
        });
        log(with(move |_: &mut Log| call(number, me)));
        select! {
            answer = ask(|| Riddle) => log(format!("answer {answer}")),
            bell = BELL.wait() => log(format!("bell {bell}")),
            stage = STAGE.changed() => log(format!("stage {stage}")),
            _ = wait_frames(4) => log("nothing"),
        }
        Chapter::Done(())
    }
}

#[test]
fn calls_to_the_host_in_a_step_and_in_a_guard_are_done_once() {
    let game = Game {
        blank: || {
            let registry = Registry::new().with::<Kid>().with::<Hears>();
            quiet(registry.with::<Calls>())
        },
        begin: |runtime, log| {
            runtime.lend(log, |runtime| {
                runtime.start(Hears).detach();
                for call in 0..10 {
                    let me = ScriptId::from_raw(call + 2);
                    assert_eq!(runtime.start(Calls { me, call }).id(), me);
                }
            });
        },
        frame: |at, runtime, log: &mut Log| {
            HOST.set(Some(runtime.host().clone()));
            if at == 6 {
                runtime.enter(|| resume(ScriptId::from_raw(3)));
                runtime.lend(log, |runtime| {
                    runtime.enter(|| stop(ScriptId::from_raw(10)))
                });
            }
            runtime.run_frame_with(log, 0.1);
        },
        frames: 14,
    };
    assert!(game.assert_like_its_twin().len() > 40);
}

/// Has an effect when it is dropped.
struct Farewell(u32);

impl Drop for Farewell {
    fn drop(&mut self) {
        match self.0 {
            0 => BELL.emit(5),
            1 => STAGE.set(6),
            2 => drop(start(Kid { frames: 2 })),
            3 => drop(spawn(Kid { frames: 1 })),
            4 => drop(stop(ScriptId::from_raw(2))),
            5 => ClockId::GAME.clock().set_scale(2.0),
            _ => assert!(time().frame < 100),
        }
    }
}

#[derive(Clone, Copy, Serialize, Deserialize)]
enum End {
    Done,
    Stopped,
    Panics,
    Chapter,
}

/// Ends in one of the ways, and logs that in a destructor.
#[derive(Serialize, Deserialize)]
struct Leaves {
    end: End,
    farewell: u32,
}

impl DurableScript for Leaves {
    const NAME: &'static str = "leaves";
    type Output = ();

    async fn run(self) -> Chapter<Self> {
        let farewell = self.farewell;
        let _farewell = Farewell(farewell);
        wait_frames(3).await;
        match self.end {
            End::Done => {}
            End::Stopped => wait_seconds(100).await,
            End::Panics => panic!("on purpose"),
            End::Chapter => {
                let end = End::Done;
                return Chapter::Next(Leaves { end, farewell });
            }
        }
        Chapter::Done(())
    }
}

#[test]
fn effects_of_destructors_are_done_once_however_the_script_ends() {
    let game = Game {
        blank: || {
            let registry = Registry::new().with::<Kid>().with::<Hears>();
            quiet(registry.with::<Leaves>())
        },
        begin: |runtime, log| {
            runtime.lend(log, |runtime| {
                runtime.start(Hears).detach();
                runtime.start(Kid { frames: 50 }).detach();
                for end in [End::Done, End::Stopped, End::Panics, End::Chapter] {
                    for farewell in 0..7 {
                        runtime.start(Leaves { end, farewell }).detach();
                    }
                }
            });
        },
        frame: |at, runtime, log: &mut Log| {
            if at == 5 {
                runtime.lend(log, |runtime| {
                    for (id, _) in runtime.scripts() {
                        assert!(id.number() == 1 || runtime.enter(|| stop(id)));
                    }
                });
            }
            runtime.run_frame_with(log, 0.1);
        },
        frames: 12,
    };
    assert!(game.assert_like_its_twin().len() > 8);
}

thread_local! {
    /// A handle of a script of another runtime, as the world may have.
    static OTHER: RefCell<Option<ScriptHandle<u64>>> = const { RefCell::new(None) };
}

/// Pauses, resumes and stops a script of another runtime, in a closure.
#[durable]
async fn rules() -> [bool; 3] {
    effect(|| {
        OTHER.with_borrow(|other| {
            let other = other.as_ref().unwrap();
            [other.pause(), other.resume(), other.stop()]
        })
    })
}

#[test]
fn a_closure_stops_a_script_of_another_runtime_by_its_handle() {
    let other = quiet(Registry::new().with::<Kid>());
    let kid = other.start(Kid { frames: 9 });
    let id = kid.id();
    OTHER.set(Some(kid));
    let runtime = quiet(Registry::new().script(rules));
    let rules = runtime.start(rules());
    assert_eq!(runtime.take(rules), Some(Ok([true; 3])));
    assert!(!other.is_alive(id));
    OTHER.set(None);
}
