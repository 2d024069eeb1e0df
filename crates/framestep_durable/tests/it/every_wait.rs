//! Each wait, saved at every moment between two runs, and restored: it ends in the same frame
//! and phase as a wait that was not saved.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use framestep_durable::prelude::*;
use futures::StreamExt;

use crate::twin::{MOMENTS, phase_at};

const BELL: Signal<u32> = signal("bell");
const STAGE: Watch<u32> = watch("stage", Default::default);
const SEATS: Semaphore = semaphore("seats", 1);

#[derive(Clone, Debug, Default, PartialEq)]
struct World {
    log: Vec<String>,
    is_open: bool,
    resolver: Option<Resolver<u32>>,
}

#[derive(Serialize, Deserialize)]
struct Question;

impl Request for Question {
    const NAME: &'static str = "question";
    type Answer = u32;
}

#[derive(Serialize, Deserialize)]
struct Child;

impl DurableScript for Child {
    const NAME: &'static str = "child";
    type Output = u32;

    async fn run(self) -> Chapter<Self> {
        wait_seconds(0.35).await;
        Chapter::Done(5)
    }
}

/// Has the seat for a while.
#[derive(Serialize, Deserialize)]
struct Sits;

impl DurableScript for Sits {
    const NAME: &'static str = "sits";
    type Output = ();

    async fn run(self) -> Chapter<Self> {
        let _seat = SEATS.acquire().await;
        wait_seconds(0.35).await;
        Chapter::Done(())
    }
}

/// The names of the waits, as the crate exports them.
const WAITS: &[&str] = &[
    "next_frame",
    "next_frame in_phase",
    "in_phase",
    "end_of_frame",
    "fixed_update",
    "wait_frames",
    "wait_steps",
    "yield_now",
    "yield_now beside others",
    "on_clock",
    "on_clock twice",
    "on_clock of realtime, while the game is held",
    "scaled and held clocks",
    "wait_seconds",
    "wait_seconds in_phase",
    "wait_seconds of a clock",
    "wait_seconds of realtime",
    "wait_seconds_realtime",
    "wait_until of a clock",
    "wait_until",
    "wait_until in_phase",
    "wait_while",
    "animate",
    "animate in_phase",
    "interval, burst",
    "interval, skip",
    "interval, delay",
    "interval in_phase",
    "interval, all ticks",
    "timeout that ends",
    "timeout that does not",
    "timeout_at",
    "a timeout that moves",
    "wait_seconds that moves",
    "interval, first after",
    "interval that begins anew",
    "stop_requested",
    "signal",
    "signal with a key",
    "signal wait_for",
    "signal or_closed",
    "value or_closed",
    "subscription",
    "changes_of",
    "every_frames",
    "debounce",
    "debounce_by_key",
    "sample",
    "frames",
    "throttle",
    "when_each",
    "value changed",
    "value wait_for",
    "value with a key",
    "semaphore",
    "semaphore with a key",
    "promise",
    "promise that is cancelled",
    "ask",
    "start and join",
    "spawn and join",
    "start_in and join",
    "a child that is stopped",
    "join!",
    "select!",
    "race",
    "join_all",
    "try_join_all",
    "a chapter",
];

#[derive(Clone, Serialize, Deserialize)]
struct One {
    wait: String,
    clock: ClockId,
    chapter: u32,
}

fn log(what: impl Into<String>) {
    let (what, time) = (what.into(), time());
    with(move |world: &mut World| {
        let phase = time
            .phase
            .map_or_else(String::new, |phase| phase.to_string());
        world.log.push(format!("{what} F{}.{phase}", time.frame));
    });
}

async fn ticks(missed: MissedTicks, phase: Option<Phase>) {
    let mut ticks = interval(0.15).missed_ticks(missed);
    if let Some(phase) = phase {
        ticks = ticks.in_phase(phase);
    }
    for _ in 0..4 {
        let tick = ticks.tick().await;
        log(format!("{tick:?}"));
    }
}

impl One {
    #[expect(clippy::too_many_lines, reason = "a table")]
    async fn wait(&self) {
        let share = |share: f32| with(|world: &mut World| world.log.push(format!("{share}")));
        match self.wait.as_str() {
            "next_frame" => next_frame().await,
            "next_frame in_phase" => next_frame().in_phase(Phase::LateUpdate).await,
            "in_phase" => in_phase(Phase::Custom(1)).await,
            "end_of_frame" => end_of_frame().await,
            "fixed_update" => fixed_update().await,
            "wait_frames" => wait_frames(4).await,
            "wait_steps" => wait_steps(7).await,
            "yield_now" => {
                for _ in 0..3 {
                    yield_now().await;
                    next_frame().await;
                }
            }
            "yield_now beside others" => {
                let ended = join!(yield_now(), timeout(0.2, yield_now()), wait_frames(1));
                log(format!("{ended:?}"));
            }
            "on_clock" => {
                on_clock(self.clock.clock(), wait_seconds(0.1)).await;
                let tick =
                    on_clock(self.clock.clock(), async { interval(0.05).tick().await }).await;
                log(format!("{tick:?}"));
                on_clock(self.clock.clock(), animate(0.05, share)).await;
            }
            "on_clock twice" => {
                let inner = on_clock(realtime(), async {
                    wait_seconds(0.2).await;
                    log("inner");
                });
                let outer = async {
                    wait_seconds(0.1).await;
                    inner.await;
                    log("outer");
                    wait_seconds(0.05).await;
                };
                on_clock(self.clock.clock(), outer).await;
            }
            "on_clock of realtime, while the game is held" => {
                let _held = clock().pause_guard();
                let shown = animate(0.35, share).in_phase(Phase::Update);
                on_clock(realtime(), shown).await;
            }
            "scaled and held clocks" => {
                let slow = self.clock.clock().scaled(0.7);
                let slower = clock().scaled(0.3);
                wait_seconds(0.03).await;
                drop(slow);
                let held = self.clock.clock().pause_guard();
                wait_seconds(0.03).await;
                drop(slower);
                let quick = clock().scaled(1.1);
                wait_seconds(0.1).await;
                drop((held, quick));
                self.clock.clock().wait_seconds(0.1).await;
            }
            "wait_seconds" => wait_seconds(0.4).await,
            "wait_seconds in_phase" => wait_seconds(0.23).in_phase(Phase::FixedUpdate).await,
            "wait_seconds of a clock" => self.clock.clock().wait_seconds(0.2).await,
            "wait_seconds of realtime" => ClockId::REALTIME.clock().wait_seconds(0.3).await,
            "wait_seconds_realtime" => wait_seconds_realtime(0.3).await,
            "wait_until of a clock" => self.clock.clock().wait_until(0.25).await,
            "wait_until" => wait_until(|| with_ref(|world: &World| world.is_open)).await,
            "wait_until in_phase" => {
                let open = wait_until(|| with_ref(|world: &World| world.is_open));
                open.in_phase(Phase::EarlyUpdate).await;
            }
            "wait_while" => wait_while(|| with_ref(|world: &World| !world.is_open)).await,
            "animate" => animate(0.35, share).await,
            "animate in_phase" => animate(0.1, share).in_phase(Phase::FixedUpdate).await,
            "interval, burst" => ticks(MissedTicks::Burst, None).await,
            "interval, skip" => ticks(MissedTicks::Skip, None).await,
            "interval, delay" => ticks(MissedTicks::Delay, None).await,
            "interval in_phase" => ticks(MissedTicks::Burst, Some(Phase::FixedUpdate)).await,
            "interval, all ticks" => {
                let mut ticks = interval(0.03);
                for _ in 0..4 {
                    let due = select! {
                        due = ticks.ticks() => due,
                        () = in_phase(Phase::Custom(1)) => ticks.tick().await.skipped,
                    };
                    log(format!("{due}"));
                }
            }
            "timeout that ends" => {
                let ended = timeout(0.25, BELL.wait()).await;
                log(format!("{ended:?}"));
            }
            "timeout that does not" => {
                let ended = timeout(9, wait_frames(3)).await;
                log(format!("{ended:?}"));
            }
            "timeout_at" => {
                let ended = timeout_at(0.25, BELL.wait())
                    .in_phase(Phase::LateUpdate)
                    .await;
                log(format!("{ended:?}"));
            }
            "a timeout that moves" => {
                let mut bell = std::pin::pin!(timeout(0.25, BELL.keyed("never").wait()));
                let mut pause = wait_seconds(0.15);
                let ended = loop {
                    select! {
                        ended = bell.as_mut() => break ended,
                        () = &mut pause => {
                            bell.as_mut().reset(0.5);
                            pause = wait_seconds(9);
                        }
                    }
                };
                log(format!("{ended:?}"));
            }
            "wait_seconds that moves" => {
                let mut window = self
                    .clock
                    .clock()
                    .wait_seconds(0.1)
                    .in_phase(Phase::LateUpdate);
                let mut more = interval(0.1);
                let mut moves = 0;
                while moves < 3 {
                    select! {
                        () = &mut window => break,
                        tick = more.tick() => {
                            log(format!("{tick:?}"));
                            window.reset(0.15);
                            moves += 1;
                        }
                    }
                }
                if moves == 3 {
                    window.await;
                }
            }
            "interval, first after" => {
                let mut ticks = interval(0.25).first_after(0.1);
                for _ in 0..3 {
                    let tick = ticks.tick().await;
                    log(format!("{tick:?}"));
                }
            }
            "interval that begins anew" => {
                let mut ticks = interval(0.25);
                let mut pauses = wait_seconds(0.2);
                for _ in 0..3 {
                    select! {
                        tick = ticks.tick() => log(format!("{tick:?}")),
                        () = &mut pauses => {
                            ticks.reset();
                            pauses = wait_seconds(0.3);
                        }
                    }
                }
            }
            "stop_requested" => {
                let ended = join!(timeout(0.2, stop_requested()), stop_requested());
                log(format!("{ended:?} {}", is_stop_requested()));
            }
            "signal" => log(format!("{}", BELL.wait().await)),
            "signal with a key" => log(format!("{}", BELL.keyed("b").wait().await)),
            "signal wait_for" => log(format!("{}", BELL.wait_for(|bell| *bell > 7).await)),
            "subscription" => {
                let mut bells = BELL.subscribe();
                for _ in 0..2 {
                    wait_seconds(0.15).await;
                    log(format!(
                        "{}, {} missed",
                        bells.next().await.unwrap(),
                        bells.missed()
                    ));
                }
            }
            "value with a key" => log(format!("{}", STAGE.keyed((1, 'b')).changed().await)),
            "semaphore" => {
                let child = start(Sits);
                let seat = SEATS.acquire().await;
                log(format!("{seat:?}, {} left", SEATS.available()));
                log(format!("{:?}", child.await));
            }
            "semaphore with a key" => {
                let seats = SEATS.keyed(self.clock);
                let first = seats.acquire().await;
                let both = join!(seats.acquire(), async {
                    wait_frames(3).await;
                    drop(first);
                });
                log(format!("{both:?}"));
            }
            "promise" | "promise that is cancelled" => {
                let (resolver, promise) = promise::<u32>("answer");
                with(move |world: &mut World| world.resolver = Some(resolver));
                log(format!("{:?}", promise.await));
            }
            "changes_of" => {
                let is_open = || with_ref(|world: &World| world.is_open);
                let mut changes = changes_of(is_open).with_present();
                for _ in 0..2 {
                    log(format!("{:?}", changes.next().await));
                }
            }
            "every_frames" => {
                let mut frames = every_frames(3).in_phase(Phase::LateUpdate);
                for pause in [0, 2] {
                    log(format!("{:?}", frames.next().await));
                    wait_frames(pause).await;
                }
            }
            "debounce" => {
                let mut settled = debounce(0.25, BELL.subscribe());
                log(format!("{:?}", settled.next().await));
            }
            "signal or_closed" => {
                let ended = BELL.keyed("gone").wait().or_closed().await;
                log(format!("{ended:?}"));
            }
            "value or_closed" => {
                let ended = STAGE.keyed("gone").changed().or_closed().await;
                log(format!("{ended:?}"));
            }
            "debounce_by_key" => {
                let ticks = interval(0.1).map(|tick| tick.late.as_nanos());
                let mut settled = debounce_by_key(0.15, ticks, |late| late % 3);
                for _ in 0..2 {
                    log(format!("{:?}", timeout(0.3, settled.next()).await));
                }
            }
            "sample" => {
                let mut latest = sample(0.25, interval(0.1));
                for _ in 0..2 {
                    log(format!("{:?}", latest.next().await));
                }
            }
            "frames" => {
                let mut each = frames().in_phase(Phase::LateUpdate);
                for pause in [1, 3] {
                    log(format!("{:?}", each.next().await.map(|time| time.frame)));
                    wait_frames(pause).await;
                }
            }
            "throttle" => {
                let mut first = throttle(0.2, interval(0.1));
                for _ in 0..3 {
                    log(format!("{:?}", first.next().await));
                }
            }
            "when_each" => {
                let children = [
                    start(Child),
                    spawn(Child),
                    start_in(Phase::FixedUpdate, Child),
                ];
                stop(children[1].id());
                let mut each = when_each(children);
                while let Some(end) = each.next().await {
                    log(format!("{end:?}"));
                }
            }
            "value changed" => log(format!("{}", STAGE.changed().await)),
            "value wait_for" => {
                let stage = STAGE.wait_for(|stage| *stage == 2).await;
                log(format!("{stage}"));
            }
            "ask" => log(format!("{}", ask(|| Question).await)),
            "start and join" => log(format!("{:?}", start(Child).await)),
            "spawn and join" => log(format!("{:?}", spawn(Child).await)),
            "start_in and join" => {
                let child = start_in(Phase::FixedUpdate, Child);
                log(format!("{:?}", child.await));
            }
            "a child that is stopped" => {
                let child = start(Child);
                let id = child.id();
                let ended = join!(child, async {
                    wait_frames(2).await;
                    stop(id)
                });
                log(format!("{ended:?}"));
            }
            "join!" => {
                let ended = join!(wait_seconds(0.3), wait_frames(2), wait_steps(9));
                log(format!("{ended:?}"));
            }
            "select!" => {
                let first = select! {
                    _ = wait_seconds(0.3) => "time",
                    _ = wait_frames(3) => "frames",
                };
                log(first);
            }
            "race" => drop(race([wait_frames(5), wait_frames(3)]).await),
            "join_all" => drop(join_all((1..5).map(wait_frames)).await),
            "try_join_all" => {
                let children = [start(Child), start(Child)];
                let all = try_join_all(children).await;
                log(format!("{all:?}"));
            }
            "a chapter" => wait_frames(2).await,
            other => panic!("no wait is named {other}"),
        }
    }
}

impl DurableScript for One {
    const NAME: &'static str = "one";
    type Output = ();

    async fn run(self) -> Chapter<Self> {
        self.wait().await;
        log(format!("done {}", self.chapter));
        if self.wait == "a chapter" && self.chapter < 3 {
            let chapter = self.chapter + 1;
            return Chapter::Next(One { chapter, ..self });
        }
        Chapter::Done(())
    }
}

struct Play {
    runtime: Runtime,
    world: World,
    moment: u32,
    wait: String,
}

fn registry() -> Registry {
    Registry::new().with::<One>().with::<Child>().with::<Sits>()
}

fn runtime() -> Runtime {
    let builder = framestep::Executor::builder().fixed_delta(0.04);
    Runtime::with(builder, registry())
}

impl Play {
    fn new(wait: &str, home: Phase) -> Self {
        let mut runtime = runtime();
        let clock = runtime.child_clock(ClockId::GAME);
        runtime.clock(clock).set_scale(0.5);
        let one = One {
            wait: wait.into(),
            clock,
            chapter: 0,
        };
        let mut world = World::default();
        runtime.lend(&mut world, |runtime| runtime.start_in(home, one).detach());
        Play {
            runtime,
            world,
            moment: 0,
            wait: wait.into(),
        }
    }

    /// Advances to the next moment.
    fn advance(&mut self) {
        let (frame, at) = (self.moment / MOMENTS, self.moment % MOMENTS);
        self.moment += 1;
        let runtime = &mut self.runtime;
        match at {
            0 => {
                runtime.begin_frame(if frame == 2 { 0.3 } else { 0.1 });
                match frame {
                    3 => runtime.named(&STAGE).set(1),
                    4 => {
                        self.world.is_open = true;
                        runtime.named(&BELL).emit(7);
                        runtime.named(&BELL).emit(8);
                        if let Some((one, _)) = runtime.scripts().first() {
                            runtime.request_stop(*one);
                        }
                        runtime.named(&BELL.keyed("b")).emit(9);
                        runtime.named(&BELL.keyed("gone")).remove();
                        runtime.named(&STAGE.keyed("gone")).remove();
                        runtime.named(&STAGE.keyed((1, 'b'))).set(3);
                        if let Some(resolver) = self.world.resolver.take() {
                            let is_sent = match self.wait.as_str() {
                                "promise" => runtime.enter(|| resolver.send(6).is_ok()),
                                _ => runtime.enter(|| resolver.cancel()),
                            };
                            assert!(is_sent);
                        }
                        for (id, Question) in runtime.requests() {
                            runtime.answer(id, &42);
                        }
                    }
                    5 => runtime.named(&STAGE).set(2),
                    _ => {}
                }
            }
            1..=3 => {
                if runtime.begin_fixed_step() {
                    let world = &mut self.world;
                    runtime.lend(world, |runtime| runtime.run_phase(Phase::FixedUpdate));
                }
            }
            at => {
                let phase = phase_at(at);
                runtime.lend(&mut self.world, |runtime| runtime.run_phase(phase));
            }
        }
    }

    fn finish(mut self) -> World {
        while self.moment < 12 * MOMENTS {
            self.advance();
        }
        assert!(self.runtime.scripts().is_empty(), "{:?}", self.world);
        self.world
    }

    /// The same from a file.
    fn reloaded(&self) -> Play {
        let file = self.runtime.save().unwrap().to_bytes();
        let mut runtime = runtime();
        let save = SaveState::from_bytes(&file).unwrap();
        runtime.restore(&save, Policy::Fail).unwrap();
        Play {
            runtime,
            world: self.world.clone(),
            moment: self.moment,
            wait: self.wait.clone(),
        }
    }
}

#[test]
fn each_wait_that_is_saved_at_any_moment_continues_as_if_not_saved() {
    for home in [Phase::Update, Phase::FixedUpdate, Phase::EndOfFrame] {
        for wait in WAITS {
            let expected = Play::new(wait, home).finish();
            let mut play = Play::new(wait, home);
            while !play.runtime.scripts().is_empty() {
                let restored = play.reloaded().finish();
                assert_eq!(
                    restored, expected,
                    "{wait} at home in {home}, {}",
                    play.moment
                );
                play.advance();
            }
        }
    }
}

#[test]
fn a_file_has_the_same_bytes_again_when_it_is_loaded_and_saved() {
    for wait in WAITS {
        let mut play = Play::new(wait, Phase::Update);
        for _ in 0..20 {
            play.advance();
        }
        let save = play.runtime.save_state().unwrap();
        let again = play.reloaded().runtime.save_state().unwrap();
        assert_eq!(again.checksum(), save.checksum(), "{wait}");
        assert_eq!(again.to_bytes(), save.to_bytes(), "{wait}");
    }
}

#[test]
fn each_wait_that_the_crate_exports_is_in_the_table() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let text = fs::read_to_string(root.join("lib.rs")).unwrap();
    let (_, list) = text.split_once("pub use wait::{").unwrap();
    let (list, _) = list.split_once('}').unwrap();
    let names: BTreeSet<&str> = list.split(',').map(str::trim).collect();
    // Three others make what a wait of another name is for.
    let makes = ["semaphore", "signal_with_limit", "watch"];
    let functions = names
        .iter()
        .filter(|name| name.starts_with(char::is_lowercase) && !makes.contains(name));
    for name in functions {
        let is_tried = WAITS.iter().any(|wait| wait.starts_with(name));
        assert!(is_tried, "`{name}` is in no case");
    }
    assert!(names.contains("wait_seconds") && names.contains("signal"));
}

/// A state has the same checksum on every machine, in debug and release builds. This file was
/// written once, with `FRAMESTEP_DURABLE_WRITE`, by a build with other lines.
#[test]
fn a_file_from_elsewhere_is_the_same_file() {
    let mut play = Play::new("join!", Phase::Update);
    for _ in 0..17 {
        play.advance();
    }
    let save = play.runtime.save_state().unwrap();
    if let Ok(path) = std::env::var("FRAMESTEP_DURABLE_WRITE") {
        fs::write(path, save.to_bytes()).unwrap();
    }
    let file = include_bytes!("saved/join.save");
    let saved = SaveState::from_bytes(file).unwrap();
    assert_eq!(
        save.checksum(),
        saved.checksum(),
        "saved/join.save has another content: a new version of the format?"
    );
    let builder = framestep::Executor::builder().fixed_delta(0.04);
    let mut other = Runtime::with(builder, registry().for_build("another"));
    other.restore(&saved, Policy::Fail).unwrap();
    let play = Play {
        runtime: other,
        ..play
    };
    assert_eq!(play.finish(), Play::new("join!", Phase::Update).finish());
}
