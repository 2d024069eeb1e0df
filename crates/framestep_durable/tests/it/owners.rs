//! Nested owners with their own clocks, which scripts and the host pause, stop and drop.

use std::cell::{Cell, RefCell};

use framestep_durable::{RuntimeHandle, prelude::*};

use crate::sleeps::reread;
use crate::twin::{Game, Log, MOMENTS, log, moment, quiet};

const BELL: Signal<u32> = signal("bell");

#[derive(Serialize, Deserialize)]
struct Actor {
    children: u32,
}

impl DurableScript for Actor {
    const NAME: &'static str = "actor";
    type Output = u32;

    async fn run(self) -> Chapter<Self> {
        let children = self.children;
        let _guard = defer(|log: &mut Log| log.push("leaves".into()));
        if children > 0 {
            let children = children - 1;
            start(Actor { children }).detach();
        }
        for round in 0..6 {
            select! {
                bell = BELL.wait() => log(format!("hears {bell}")),
                _ = wait_seconds(0.1) => log(format!("waited {round}")),
            }
        }
        Chapter::Done(children)
    }
}

/// Pauses owners one after the other, resumes them in another phase, and stops two.
#[derive(Serialize, Deserialize)]
struct Director {
    owners: [OwnerId; 4],
}

impl DurableScript for Director {
    const NAME: &'static str = "director";
    type Output = ();

    async fn run(self) -> Chapter<Self> {
        let owners = self.owners;
        for owner in owners {
            next_frame().await;
            log(format!("pauses {} {}", owner.pause(), owner.pause()));
        }
        BELL.emit(77);
        for owner in owners.into_iter().rev() {
            log(format!("resumes {} {}", owner.resume(), owner.resume()));
            in_phase(Phase::LateUpdate).await;
        }
        owners[1].stop_all();
        let late = owners[0].start(Actor { children: 0 });
        next_frame().await;
        owners[0].stop_all();
        log(format!("{:?}", late.await));
        Chapter::Done(())
    }
}

fn blank() -> Runtime {
    quiet(Registry::new().with::<Actor>().with::<Director>())
}

/// Four owners: a chain of three on a slow clock, and one by itself.
fn owners(runtime: &mut Runtime) -> [OwnerId; 4] {
    let clock = runtime.enter(|| ClockId::GAME.child());
    runtime.enter(|| clock.clock()).set_scale(0.5);
    let a = runtime.enter(|| owner_on(clock));
    let b = runtime.enter(|| a.child());
    let c = runtime.enter(|| b.child());
    [a, b, c, runtime.owner()]
}

fn begin(runtime: &mut Runtime, (log, kept): &mut (Log, Vec<OwnerId>)) {
    let all = owners(runtime);
    kept.extend(all);
    runtime.lend(log, |runtime| {
        for owner in all {
            runtime
                .enter(|| owner.start(Actor { children: 1 }))
                .detach();
            let in_steps = Actor { children: 0 };
            runtime.enter(|| owner.start(in_steps)).detach();
        }
    });
}

#[test]
fn owners_are_paused_resumed_and_stopped_by_scripts() {
    let game = Game {
        blank,
        begin: |runtime, world| {
            begin(runtime, world);
            let owners: [OwnerId; 4] = world.1.as_slice().try_into().unwrap();
            let mut mixed = owners;
            mixed.reverse();
            runtime.start(Director { owners }).detach();
            runtime
                .enter(|| mixed[0].start(Director { owners: mixed }))
                .detach();
        },
        frame: |at, runtime, world: &mut (Log, Vec<OwnerId>)| moment(at, runtime, &mut world.0),
        frames: 6 * MOMENTS,
    };
    assert!(game.assert_like_its_twin().0.len() > 20);
}

#[test]
fn owners_are_paused_twice_deactivated_and_dropped_by_the_host_between_phases() {
    let game = Game {
        blank,
        begin,
        frame: |at, runtime, (log, owners): &mut (Log, Vec<OwnerId>)| {
            let (first, last) = (owners[0], owners[3]);
            runtime.lend(log, |runtime| match at {
                7 => assert!(runtime.enter(|| first.pause())),
                12 => {
                    assert!(runtime.enter(|| first.resume()));
                    assert!(runtime.enter(|| first.pause()) && !runtime.enter(|| first.pause()));
                }
                20 => {
                    assert!(runtime.enter(|| first.resume()) && !runtime.enter(|| first.resume()));
                    runtime.enter(|| last.set_active(false));
                    let refused = runtime.enter(|| last.start(Actor { children: 0 }));
                    assert!(matches!(
                        runtime.take(refused),
                        Some(Err(JoinError::Stopped { .. }))
                    ));
                }
                25 => {
                    runtime.enter(|| last.set_active(true));
                    runtime.enter(|| last.start(Actor { children: 1 })).detach();
                }
                31 => assert!(runtime.enter(|| last.remove()) && !runtime.enter(|| last.remove())),
                40 => assert!(runtime.enter(|| first.remove())),
                _ => {}
            });
            moment(at, runtime, log);
        },
        frames: 5 * MOMENTS,
    };
    let (log, _) = game.assert_like_its_twin();
    assert_eq!(
        log.iter().filter(|line| line.starts_with("leaves")).count(),
        14
    );
}

/// Uses the host as it is dropped.
#[derive(Serialize, Deserialize)]
struct Leaves;

thread_local! {
    static LEAVE: RefCell<Option<Box<dyn FnOnce()>>> = const { RefCell::new(None) };
    /// Whether the latest one has come to its end: a panic of a destructor would only be reported.
    static HAS_LEFT: Cell<bool> = const { Cell::new(false) };
}

struct OnDrop;

impl Drop for OnDrop {
    fn drop(&mut self) {
        if let Some(leave) = LEAVE.take() {
            leave();
            HAS_LEFT.set(true);
        }
    }
}

impl DurableScript for Leaves {
    const NAME: &'static str = "leaves";
    type Output = ();

    async fn run(self) -> Chapter<Self> {
        let _guard = OnDrop;
        loop {
            wait_frames(9).await;
        }
    }
}

/// An owner, one below it, and a script of the latter that does this as it is dropped.
fn leaving(leave: fn(&RuntimeHandle, [OwnerId; 2])) -> (Runtime, [OwnerId; 2]) {
    let runtime = quiet(Registry::new().with::<Leaves>());
    let above = runtime.owner();
    let owners = [above, runtime.enter(|| above.child())];
    runtime.enter(|| owners[1].start(Leaves)).detach();
    let host = runtime.host().clone();
    LEAVE.set(Some(Box::new(move || leave(&host, owners))));
    (runtime, owners)
}

fn assert_restored(runtime: &Runtime) {
    assert!(HAS_LEFT.replace(false));
    let mut later = quiet(Registry::new().with::<Leaves>());
    later.restore(&reread(runtime), Policy::Fail).unwrap();
    assert!(later.scripts().is_empty());
}

#[test]
fn an_owner_that_a_destructor_makes_below_one_that_is_dropped_is_dropped_with_it() {
    let (runtime, [above, below]) = leaving(|host, [above, below]| {
        let made = [
            host.executor().enter(|| above.child()).unwrap(),
            host.executor().enter(|| below.child()).unwrap(),
        ];
        assert!(host.executor().enter(|| made[0].remove()).unwrap());
        let refused = host.executor().enter(|| made[1].start(Leaves)).unwrap();
        assert!(matches!(
            host.take(refused),
            Some(Err(JoinError::Stopped { .. }))
        ));
    });
    assert!(runtime.enter(|| above.remove()));
    assert!(!runtime.enter(|| below.remove()));
    assert_restored(&runtime);
}

#[test]
fn an_owner_that_a_destructor_drops_while_it_is_deactivated_is_gone() {
    let (runtime, [above, below]) =
        leaving(|host, [above, _]| assert!(host.executor().enter(|| above.remove()).unwrap()));
    runtime.enter(|| above.set_active(false));
    assert!(!runtime.enter(|| above.remove()) && !runtime.enter(|| below.remove()));
    assert_restored(&runtime);
}

#[test]
fn a_destructor_may_make_an_owner_below_one_that_is_deactivated() {
    let (runtime, [above, _]) = leaving(|host, [above, below]| {
        host.executor().enter(|| above.child()).unwrap();
        host.executor().enter(|| below.child()).unwrap();
    });
    runtime.enter(|| above.set_active(false));
    assert_restored(&runtime);
    assert!(runtime.enter(|| above.remove()));
}

/// With a cost that grows with the square, this would take minutes.
#[test]
fn a_long_chain_of_owners_is_dropped_in_time_and_no_other_owner_with_it() {
    let runtime = Runtime::new(Registry::new());
    let top = runtime.owner();
    let middle = runtime.enter(|| top.child());
    let beside = runtime.enter(|| top.child());
    let mut last = middle;
    for _ in 0..100_000 {
        last = runtime.enter(|| last.child());
    }
    assert!(runtime.enter(|| middle.remove()));
    assert!(!runtime.enter(|| last.remove()) && !runtime.enter(|| middle.remove()));
    assert!(runtime.enter(|| beside.remove()) && runtime.enter(|| top.remove()));
}

#[test]
fn the_host_spawns_on_an_owner_and_in_a_phase() {
    #[durable]
    async fn says_its_phase() -> Option<String> {
        time().phase.map(|phase| phase.to_string())
    }

    let mut runtime = Runtime::new(Registry::new().script(says_its_phase));
    let (kept, dropped) = (runtime.owner(), runtime.owner());
    let late = runtime.enter(|| spawn_in(Phase::LateUpdate, says_its_phase()));
    let owned = runtime.enter(|| kept.spawn(says_its_phase()));
    let stopped = runtime.enter(|| dropped.spawn(says_its_phase()));
    runtime.enter(|| dropped.remove());
    assert!(runtime.is_alive(late.id()) && runtime.is_alive(owned.id()));
    runtime.run_frame(0.25);
    assert_eq!(runtime.take(late), Some(Ok(Some("LateUpdate".into()))));
    assert_eq!(runtime.take(owned), Some(Ok(Some("Update".into()))));
    assert!(matches!(
        runtime.take(stopped),
        Some(Err(JoinError::Stopped { .. }))
    ));
}

#[durable]
async fn camper(nights: u32) {
    for night in 0..nights {
        wait_seconds(0.2).await;
        log(format!("night {night}"));
    }
}

/// Makes owners, one below another and one on a slow clock, and removes them.
#[durable]
async fn camp(slow: ClockId) {
    for round in 1..3 {
        let tents = owner();
        let tent = tents.child();
        let snails = owner_on(slow);
        for owner in [tents, tent, snails] {
            owner.start(camper(9)).detach();
        }
        wait_frames(round).await;
        log(format!("strikes {} {}", tents.remove(), tent.remove()));
        next_frame().await;
        log(format!("snails {}", snails.is_empty()));
        assert!(snails.remove());
    }
}

#[test]
fn owners_that_scripts_make_are_theirs_after_a_restore() {
    let game = Game {
        blank: || quiet(Registry::new().script(camp).script(camper)),
        begin: |runtime, world: &mut Log| {
            let slow = runtime.enter(|| ClockId::GAME.child());
            runtime.enter(|| slow.clock()).set_scale(0.5);
            runtime.lend(world, |runtime| runtime.start(camp(slow)).detach());
        },
        frame: moment,
        frames: 8 * MOMENTS,
    };
    let log = game.assert_like_its_twin();
    let count = |begin: &str| log.iter().filter(|line| line.starts_with(begin)).count();
    assert_eq!(count("strikes true false"), 2, "{log:?}");
    assert_eq!(count("snails false"), 2);
}

#[test]
fn an_owner_that_a_script_makes_is_below_that_of_the_script() {
    #[durable]
    async fn leader() -> (OwnerId, bool) {
        let camp = owner();
        camp.start(camper(9)).detach();
        next_frame().await;
        (camp, camp.is_empty())
    }

    let mut runtime = Runtime::new(Registry::new().script(leader).script(camper));
    let room = runtime.owner();
    let led = runtime.enter(|| room.start(leader()));
    runtime.run_frame(0.1);
    let (camp, is_empty) = runtime.take(led).unwrap().unwrap();
    // It is there after the script that has made it.
    assert!(!is_empty && !runtime.enter(|| camp.is_empty()));
    runtime.enter(|| room.remove());
    assert!(runtime.enter(|| camp.is_empty()) && !runtime.enter(|| camp.remove()));
}

#[test]
fn an_owner_that_a_script_makes_in_another_runtime_is_below_none() {
    #[durable]
    async fn leader() -> OwnerId {
        with(|other: &mut Runtime| {
            assert!(other.enter(|| OwnerId::remove(other.owner())));
            other.enter(owner)
        })
    }

    let mut runtime = Runtime::new(Registry::new().script(leader));
    let mut other = Runtime::new(Registry::new().script(camper));
    // The owner of the script has the number of one that is dropped in the other runtime.
    let room = runtime.owner();
    let led = runtime.lend(&mut other, |runtime| runtime.enter(|| room.start(leader())));
    let camp = runtime.take(led).unwrap().unwrap();
    other.enter(|| camp.start(camper(9))).detach();
    assert!(!other.enter(|| camp.is_empty()));
    assert!(runtime.enter(|| room.remove()));
    assert!(other.enter(|| camp.remove()));
}

#[test]
fn an_owner_below_one_that_was_removed_refuses_scripts() {
    #[durable]
    async fn late() -> bool {
        let camp = owner();
        camp.remove();
        let below = camp.child();
        below.start(camper(9)).await.is_err()
    }

    let runtime = Runtime::new(Registry::new().script(late).script(camper));
    let refused = runtime.start(late());
    assert_eq!(runtime.take(refused), Some(Ok(true)));
}
