//! A game with everything that a save can contain, and its saves in files: one of each form for each
//! format that was released. They are read, continued and compared as long as there are files of
//! players like them.
//!
//! The scripts below must not change: saves of them are in the folder `saved`. What a later format
//! adds goes into a script of its own.

use std::cell::Cell;
use std::fs;
use std::path::{Path, PathBuf};

use framestep_durable::prelude::*;

use crate::twin::{Log, log, quiet};

const BELL: Signal<String> = signal("bell");
const SILENCE: Signal<()> = signal("silence");
const STAGE: Watch<Stage> = watch("stage", Default::default);
const COUNT: Watch<u32> = watch("count", Default::default);

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Stage {
    number: u32,
    hero: Option<String>,
    deaths: Vec<(f32, char)>,
}

#[derive(Serialize, Deserialize)]
struct Riddle {
    text: String,
}

impl Request for Riddle {
    const NAME: &'static str = "riddle";
    type Answer = Option<u8>;
}

/// What an actor does. The states of actors have every kind of field.
#[derive(Clone, Debug, Serialize, Deserialize)]
enum Role {
    Waits { kind: String },
    Talks(String, u32),
    Watches,
    Asks(String),
    Ticks,
    Animates,
    Joins,
    Selects,
    Guards,
    Rewards { chapter: u8 },
    Fails,
    Ends(Option<Vec<i64>>),
    Stops,
    Sleeps,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
struct Actor {
    role: Role,
    clock: ClockId,
    /// A clock that some hold.
    held: ClockId,
    owner: Option<OwnerId>,
}

impl DurableScript for Actor {
    const NAME: &'static str = "actor";
    const VERSION: u32 = 3;
    type Output = Option<Vec<i64>>;

    async fn run(self) -> Chapter<Self> {
        let name = format!("{:?}", self.role);
        log(format!("{name} begins"));
        match self.role {
            Role::Waits { ref kind } => self.wait(kind).await,
            Role::Talks(who, times) => {
                for _ in 0..times {
                    log(format!("{who} hears {}", BELL.wait().await));
                }
            }
            Role::Watches => {
                log(format!("{:?}", STAGE.changed().await));
                let count = COUNT.wait_for(|count| *count > 1).await;
                log(format!("{count} {:?}", STAGE.get()));
            }
            Role::Asks(text) => {
                log(format!("{:?}", ask(|| Riddle { text }).await));
            }
            Role::Ticks => {
                let mut ticks = interval(0.15).missed_ticks(MissedTicks::Skip);
                for _ in 0..9 {
                    log(format!("{:?}", ticks.tick().await));
                }
            }
            Role::Animates => {
                let show = |share: f32| with(|log: &mut Log| log.push(format!("{share}")));
                animate(1.2, show).in_phase(Phase::FixedUpdate).await;
            }
            Role::Joins => {
                let make = |role| Actor { role, ..self };
                let first = start(make(Role::Ends(None)));
                let second = spawn(make(Role::Waits {
                    kind: "seconds".into(),
                }));
                log(format!("{:?} {:?}", first.await, second.await));
            }
            Role::Selects => {
                let either = select! {
                    _ = wait_seconds(0.95) => "time".to_owned(),
                    heard = BELL.wait() => heard,
                    _ = ask(|| Riddle { text: "how?".to_owned() }) => "answer".to_owned(),
                };
                log(either);
                let both = join!(wait_frames(7), timeout(0.4, COUNT.changed()));
                log(format!("{both:?}"));
            }
            Role::Guards => {
                let _slower = self.clock.clock().scaled(0.5);
                let _held = self.held.clock().pause_guard();
                on_clock(self.clock.clock(), wait_seconds(0.5)).await;
                yield_now().await;
                log("yields");
                on_clock(self.clock.clock(), yield_now()).await;
            }
            Role::Rewards { chapter } => {
                let number = with_once(format!("reward {chapter}"), |log: &mut Log| log.len());
                with_once("greeting", |log: &mut Log| log.push("hello".into()));
                wait_frames(4).await;
                log(format!("{number}"));
                if chapter < 4 {
                    let role = Role::Rewards {
                        chapter: chapter + 1,
                    };
                    return Chapter::Next(Actor { role, ..self });
                }
            }
            Role::Fails => {
                wait_frames(2).await;
                panic!("on purpose");
            }
            Role::Ends(output) => {
                wait_frames(2).await;
                return Chapter::Done(output);
            }
            Role::Stops => {
                self.clock.clock().pause();
                self.clock.clock().resume();
                wait_until(|| with_ref(|log: &Log| log.len() > 90)).await;
            }
            Role::Sleeps => wait_seconds(0.9).await,
        }
        log(format!("{name} ends"));
        Chapter::Done(Some(vec![-1, 1 << 40]))
    }
}

impl Actor {
    async fn wait(&self, kind: &str) {
        match kind {
            "next_frame" => next_frame().in_phase(Phase::LateUpdate).await,
            "in_phase" => in_phase(Phase::Custom(1)).await,
            "end_of_frame" => end_of_frame().await,
            "fixed_update" => fixed_update().await,
            "frames" => wait_frames(9).await,
            "steps" => wait_steps(33).await,
            "seconds" => wait_seconds(0.8).await,
            "seconds of a clock" => self.clock.clock().wait_seconds(0.7).await,
            "point of a clock" => self.clock.clock().wait_until(0.65).await,
            "realtime" => wait_seconds_realtime(0.9).await,
            "silence" => log(format!("{:?}", SILENCE.wait().await)),
            "condition" => {
                wait_while(|| with_ref(|log: &Log| log.len() < 80))
                    .in_phase(Phase::EarlyUpdate)
                    .await;
            }
            other => panic!("no wait is named {other}"),
        }
    }
}

const WAITS: [&str; 12] = [
    "next_frame",
    "in_phase",
    "end_of_frame",
    "fixed_update",
    "frames",
    "steps",
    "seconds",
    "seconds of a clock",
    "point of a clock",
    "realtime",
    "silence",
    "condition",
];

const CROWD: Signal<u32> = signal_with_limit("crowd", 2);
const CHEERS: Watch<u32> = watch("cheers", Default::default);
const SEATS: Semaphore = semaphore("seats", 2);

/// What scripts wait for by name and by key.
#[derive(Clone, Debug, Serialize, Deserialize)]
enum Visitor {
    Hears,
    Filters,
    Cheers(u8),
    Sits(u64),
    Promises { answer: Option<u32> },
}

const JOBS: Signal<u32> = signal("jobs");
const TOKENS: Semaphore = semaphore("tokens", 3);

/// What format 6 has added.
#[derive(Clone, Debug, Serialize, Deserialize)]
enum Helper {
    /// Until it is requested to stop.
    Serves(u64),
    /// Until nobody is on the owner.
    Closes(OwnerId),
    /// Gives the owner some time.
    Gives(OwnerId),
    Works,
    Reads,
    Carries(usize, u64),
    Streams,
    /// Stops two others, and joins one of them later.
    Stops,
}

impl DurableScript for Helper {
    const NAME: &'static str = "helper";
    type Output = ();

    async fn run(self) -> Chapter<Self> {
        let name = format!("{self:?}");
        match self {
            Helper::Serves(frames) => {
                stop_requested().await;
                wait_frames(frames).await;
            }
            Helper::Closes(owner) => owner.ended().await,
            Helper::Gives(owner) => {
                wait_frames(8).await;
                log(format!("{} stopped", owner.stop_within(0.2).await));
            }
            Helper::Works => log(format!("works {}", JOBS.wait().await)),
            Helper::Reads => {
                let mut jobs = JOBS.subscribe();
                log(format!("reads {}", jobs.next().await.unwrap()));
                log(format!("reads {}", jobs.next().await.unwrap()));
            }
            Helper::Carries(count, frames) => {
                let _tokens = TOKENS.acquire_many(count).await;
                log(format!("carries {count}"));
                wait_frames(frames).await;
            }
            Helper::Streams => {
                let mut settled = debounce(0.15, throttle(0.1, JOBS.subscribe()));
                log(format!("settled {:?}", settled.next().await));
                let mut frames = every_frames(3);
                log(format!("{:?}", frames.next().await.map(|time| time.frame)));
                let mut lines = changes_of(|| with_ref(|log: &Log| log.len() / 9));
                log(format!("{:?}", lines.next().await));
            }
            Helper::Stops => {
                let [first, second] = [1, 2].map(|frames| start(Helper::Serves(frames)));
                let stopped = [first.stop(), second.stop()];
                let first = first.await;
                wait_frames(9).await;
                for error in [first, second.await].map(Result::unwrap_err) {
                    // Another build has another line.
                    let has_line = error.stopped_at().is_some();
                    log(format!("{stopped:?} {error:?} {has_line}"));
                }
            }
        }
        log(format!("{name} ends"));
        Chapter::Done(())
    }
}

fn helpers(room: OwnerId) -> Vec<Helper> {
    let carries = [(2, 9), (3, 3), (1, 1)].map(|(count, frames)| Helper::Carries(count, frames));
    let others = [
        Helper::Closes(room),
        Helper::Gives(room),
        Helper::Works,
        Helper::Reads,
        Helper::Streams,
        Helper::Stops,
    ];
    others.into_iter().chain(carries).collect()
}

impl DurableScript for Visitor {
    const NAME: &'static str = "visitor";
    type Output = ();

    async fn run(self) -> Chapter<Self> {
        match &self {
            Visitor::Hears => {
                let mut heard = CROWD.subscribe();
                let mut near = CROWD.keyed("near").subscribe();
                wait_frames(6).await;
                for _ in 0..3 {
                    let (far, missed) = (heard.next().await.unwrap(), heard.missed());
                    log(format!(
                        "hears {far}, {missed} missed, {}",
                        near.next().await.unwrap()
                    ));
                }
            }
            Visitor::Filters => {
                let loud = CROWD.wait_for(|noise| *noise > 90).await;
                log(format!("filters {loud}"));
            }
            Visitor::Cheers(hero) => {
                let cheers = CHEERS.keyed(hero).changed().await;
                log(format!("cheers {cheers}, {}", CHEERS.keyed(hero).get()));
                CHEERS.keyed(hero).remove();
            }
            Visitor::Sits(frames) => {
                let _seat = SEATS.acquire().await;
                log(format!("sits, {} left", SEATS.available()));
                wait_frames(*frames).await;
            }
            Visitor::Promises { answer } => {
                let (resolver, promise) = promise::<u32>("answer");
                let answers = answer.map(|answer| start(Answers { resolver, answer }));
                log(format!("promised {:?}", promise.await));
                drop(answers);
            }
        }
        Chapter::Done(())
    }
}

/// Resolves a promise, or cancels it.
#[derive(Serialize, Deserialize)]
struct Answers {
    resolver: PromiseId<u32>,
    answer: u32,
}

impl DurableScript for Answers {
    const NAME: &'static str = "answers";
    type Output = ();

    async fn run(self) -> Chapter<Self> {
        wait_frames(u64::from(self.answer)).await;
        let done = match self.answer {
            9 => self.resolver.cancel(),
            answer => self.resolver.send(answer).is_ok(),
        };
        log(format!("answers {done}"));
        Chapter::Done(())
    }
}

/// Reads events and ticks, one in each chapter, and hands both over.
#[derive(Serialize, Deserialize)]
struct Reads {
    noises: Unread<u32>,
    every: Schedule,
    left: u32,
}

impl DurableScript for Reads {
    const NAME: &'static str = "reads";
    type Output = ();

    async fn run(mut self) -> Chapter<Self> {
        select! {
            noise = self.noises.next() => log(format!("chapter of noise {}", noise.unwrap())),
            tick = self.every.tick() => log(format!("chapter of {tick:?}")),
        }
        wait_frames(2).await;
        match self.left {
            0 => Chapter::Done(()),
            left => Chapter::Next(Reads {
                left: left - 1,
                ..self
            }),
        }
    }
}

fn visitors() -> Vec<Visitor> {
    let answers = [None, Some(2), Some(8), Some(9)];
    let promises = answers.map(|answer| Visitor::Promises { answer });
    let sits = [9, 3, 4, 5].map(Visitor::Sits);
    let cheers = [1, 2].map(Visitor::Cheers);
    let others = [Visitor::Hears, Visitor::Filters];
    others
        .into_iter()
        .chain(cheers)
        .chain(sits)
        .chain(promises)
        .collect()
}

thread_local! {
    static IS_PATCHED: Cell<bool> = const { Cell::new(false) };
}

/// A script that was patched before the save: it waits as its earlier code did.
#[derive(Serialize, Deserialize)]
struct Guard {
    name: String,
}

impl DurableScript for Guard {
    const NAME: &'static str = "guard";
    type Output = ();

    async fn run(self) -> Chapter<Self> {
        if IS_PATCHED.get() {
            log(format!("{} wakes", self.name));
            wait_frames(2).await;
            log(format!("{} walks", self.name));
        } else {
            select! {
                _ = wait_seconds(1.1) => {}
                _ = COUNT.changed() => {}
            }
        }
        Chapter::Done(())
    }
}

/// A script with a table of its statements.
#[durable]
async fn teller() {
    let _ = COUNT.get();
    wait_frames(4).await;
    wait_frames(400).await;
}

pub(crate) fn registry() -> Registry {
    let registry = Registry::new().with::<Actor>().with::<Guard>();
    let registry = registry
        .with::<Visitor>()
        .with::<Answers>()
        .with::<Reads>()
        .with::<Helper>()
        .script(teller);
    let registry = registry.with_watch(&STAGE).with_watch(&COUNT);
    registry.with_watch(&CHEERS)
}

pub(crate) fn blank() -> Runtime {
    let runtime = quiet(registry());
    runtime.on_loss(|_| ());
    runtime
}

/// A request to stop with a time: one script ends by itself, the other one is stopped.
fn leave(runtime: &mut Runtime, owner: OwnerId) {
    for frames in [1, 90] {
        runtime
            .enter(|| owner.start(Helper::Serves(frames)))
            .detach();
    }
    ScriptHandle::from(runtime.enter(|| owner.stop_within(0.3))).detach();
}

/// The game in the middle of everything.
#[expect(clippy::too_many_lines, reason = "everything")]
pub(crate) fn begun() -> (Runtime, Log) {
    IS_PATCHED.set(false);
    let (mut runtime, mut log) = (blank(), Log::new());
    let [slow, still, held] = [0.5, 1.0, 1.0].map(|scale| {
        let clock = runtime.enter(|| ClockId::GAME.child());
        runtime.enter(|| clock.clock()).set_scale(scale);
        clock
    });
    runtime.enter(|| still.clock()).pause();
    let top = runtime.enter(|| owner_on(slow));
    let below = runtime.enter(|| top.child());
    let paused = runtime.owner();
    let inactive = runtime.enter(|| owner_on(still));
    runtime.enter(|| inactive.set_active(false));
    let room = runtime.owner();
    let leaving = runtime.enter(|| owner_on(slow));

    let actor = |role, owner| Actor {
        role,
        clock: slow,
        held,
        owner,
    };
    let name = "Bob".to_owned();
    runtime.lend(&mut log, |runtime| runtime.start(Guard { name }).detach());
    let save = SaveState::from_bytes(&runtime.save().unwrap().to_bytes()).unwrap();
    IS_PATCHED.set(true);
    let restored = runtime.restore(&save, Policy::RestartAfterWait).unwrap();
    assert_eq!(restored.waiting.len(), 1);

    let waits = WAITS.map(|kind| Role::Waits { kind: kind.into() });
    let roles = [
        Role::Talks("Anna".into(), 3),
        Role::Watches,
        Role::Asks("why?".into()),
        Role::Asks("when?".into()),
        Role::Ticks,
        Role::Animates,
        Role::Joins,
        Role::Selects,
        Role::Guards,
        Role::Rewards { chapter: 0 },
        Role::Stops,
    ];
    runtime.lend(&mut log, |runtime| {
        for role in roles.into_iter().chain(waits) {
            runtime.start(actor(role, Some(below))).detach();
        }
        for visitor in visitors() {
            runtime.enter(|| below.start(visitor)).detach();
        }
        for frames in [1, 90] {
            runtime
                .enter(|| room.start(Helper::Serves(frames)))
                .detach();
        }
        for helper in helpers(room) {
            runtime.start(helper).detach();
        }
        let asked = runtime.start(Helper::Serves(20));
        asked.request_stop();
        asked.detach();
        leave(runtime, leaving);
        for owner in [top, below, paused] {
            let role = Role::Waits {
                kind: "seconds".into(),
            };
            runtime.enter(|| owner.start(actor(role, None))).detach();
        }
        let late = Role::Waits {
            kind: "in_phase".into(),
        };
        runtime
            .enter(|| start_in(Phase::EndOfFrame, actor(late, None)))
            .detach();
        // Their results are still there at the save.
        for role in [Role::Fails, Role::Ends(Some(vec![7])), Role::Ends(None)] {
            std::mem::forget(runtime.start(actor(role, None)));
        }
        let stopped = runtime.start(actor(Role::Sleeps, None));
        stopped.stop();
        std::mem::forget(stopped);
        let sleeps = runtime.start(actor(Role::Sleeps, None)).id();
        runtime.enter(|| pause(sleeps));
        let (noises, every) = (Unread::of(&CROWD), interval(0.25).first_after(0.3));
        let left = 6;
        runtime
            .start(Reads {
                noises,
                every: every.into(),
                left,
            })
            .detach();
    });
    runtime.enter(|| paused.pause());
    for at in 0..6 {
        frame(at, &mut runtime, &mut log);
    }
    // What has happened and has not been noticed; and scripts that have not begun.
    runtime.named(&BELL).emit("twice".to_owned());
    runtime.named(&COUNT).set(1);
    for (id, riddle) in runtime.requests::<Riddle>() {
        if riddle.text == "why?" {
            runtime.answer(id, &Some(42));
        }
    }
    for noise in 1..5 {
        runtime.named(&CROWD).emit(noise);
    }
    for job in [3, 4] {
        runtime.named(&JOBS).emit_one(job);
    }
    runtime.named(&CHEERS.keyed(1)).set(7);
    runtime.named(&SEATS.keyed("box")).set_count(9);
    runtime.spawn(actor(Role::Sleeps, Some(top))).detach();
    runtime.start(teller()).detach();
    runtime.begin_frame(0.1);
    runtime.lend(&mut log, |runtime| runtime.run_phase(Phase::EarlyUpdate));
    (runtime, log)
}

/// A frame with what the host does in it.
fn frame(at: u32, runtime: &mut Runtime, log: &mut Log) {
    match at {
        2 => runtime.named(&BELL).emit("once".to_owned()),
        3 => {
            let stage = Stage {
                number: 3,
                hero: Some("Ben".to_owned()),
                deaths: vec![(0.1, 'x'), (f32::INFINITY, 'ß')],
            };
            runtime.named(&STAGE).set(stage);
        }
        9 => runtime.named(&COUNT).set(2),
        20 => runtime.named(&SILENCE).emit(()),
        13..=16 => {
            runtime.named(&CROWD).emit(80 + at);
            runtime.named(&CROWD.keyed("near")).emit(at);
            runtime.named(&CHEERS.keyed(2)).set(at);
        }
        11 => {
            runtime.named(&BELL).emit("thrice".to_owned());
            runtime.named(&JOBS).emit(11);
        }
        12 => runtime.named(&JOBS).emit(12),
        _ => {}
    }
    runtime.run_frame_with(log, 0.1);
}

/// Plays the rest, from the middle of the frame in which it was saved.
pub(crate) fn go_on(runtime: &mut Runtime, log: &mut Log) {
    IS_PATCHED.set(true);
    while runtime.begin_fixed_step() {
        runtime.lend(log, |runtime| runtime.run_phase(Phase::FixedUpdate));
    }
    for phase in [Phase::Update, Phase::LateUpdate, Phase::EndOfFrame] {
        runtime.lend(log, |runtime| runtime.run_phase(phase));
    }
    for (id, _) in runtime.requests::<Riddle>() {
        runtime.answer(id, &None);
    }
    for at in 7..24 {
        frame(at, runtime, log);
        runtime.begin_frame(0.01);
        runtime.lend(log, |runtime| runtime.run_phase(Phase::Custom(1)));
    }
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/saved")
}

/// The number of the format, as in the names of the files.
fn format_of(file: &[u8]) -> u32 {
    u32::from_le_bytes(file[8..12].try_into().unwrap())
}

/// Writes the files of today's format. Only for a format that was not released.
#[test]
fn the_game_writes_its_files() {
    if std::env::var("FRAMESTEP_DURABLE_WRITE_EVERYTHING").is_err() {
        return;
    }
    let (mut runtime, mut log) = begun();
    let save = runtime.save().unwrap();
    let described = save.described(&registry()).unwrap();
    let compact = save.to_bytes_with(&log);
    let number = format_of(&compact);
    let path = |kind: &str| folder().join(format!("everything.{number}.{kind}"));
    fs::write(path("compact.save"), compact).unwrap();
    fs::write(path("described.save"), described.to_bytes_with(&log)).unwrap();
    // Open questions are asked again, as after a load.
    runtime.rollback(&save).unwrap();
    go_on(&mut runtime, &mut log);
    fs::write(path("log"), log.join("\n") + "\n").unwrap();
}

#[test]
fn a_file_of_each_format_goes_on_as_when_it_was_written() {
    let now = format_of(&blank().save().unwrap().to_bytes());
    let mut read = Vec::new();
    for entry in fs::read_dir(folder()).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        let is_save = path.extension().is_some_and(|it| it == "save");
        if !name.starts_with("everything.") || !is_save {
            continue;
        }
        let file = fs::read(&path).unwrap();
        let number = format_of(&file);
        assert!(name.starts_with(&format!("everything.{number}.")), "{name}");
        let (save, mut log) = match SaveState::from_bytes_with::<Log>(&file) {
            Err(RestoreError::Version { found, .. }) if found != now => continue,
            read => read.unwrap(),
        };
        read.push(number);
        IS_PATCHED.set(true);
        let dry_run = registry().dry_run(&save);
        assert!(dry_run.is_compatible(), "{name}: {dry_run}");
        let mut runtime = blank();
        runtime.restore(&save, Policy::Fail).unwrap();
        go_on(&mut runtime, &mut log);
        let expected = folder().join(format!("everything.{number}.log"));
        let expected = fs::read_to_string(expected).unwrap();
        let expected: Vec<&str> = expected.lines().collect();
        assert_eq!(log, expected, "{name}");
    }
    let of_today = read.iter().filter(|number| **number == now);
    assert_eq!(
        of_today.count(),
        2,
        "a compact and a described file of format {now}"
    );
}

#[test]
fn the_files_of_today_are_those_that_the_game_writes() {
    let (runtime, log) = begun();
    let save = runtime.save().unwrap();
    let number = format_of(&save.to_bytes());
    let described = save.described(&registry()).unwrap();
    for (save, kind) in [(save, "compact"), (described, "described")] {
        let file = fs::read(folder().join(format!("everything.{number}.{kind}.save"))).unwrap();
        let (saved, saved_log) = SaveState::from_bytes_with::<Log>(&file).unwrap();
        assert_eq!(saved_log, log, "{kind}");
        // The lines of the code may differ.
        let differences: Vec<String> = saved.diff(&save).iter().map(ToString::to_string).collect();
        assert!(differences.is_empty(), "{kind}: {differences:#?}");
        assert_eq!(saved.checksum(), save.checksum(), "{kind}");
    }
}

/// Each script, slot, value and result of a save state is in the files.
#[test]
fn the_game_has_everything_that_a_save_can_contain() {
    let json = serde_json::to_value(begun().0.save().unwrap()).unwrap();
    let text = json.to_string();
    let slots = [
        "Plain", "Join", "Signal", "Next", "Value", "Permit", "Promise", "Request", "Animate",
        "Tick", "OwnerEnd", "Stop",
    ];
    for slot in slots {
        let found = text.contains(&format!("\"slot\":{{\"{slot}\":"));
        assert!(
            found || text.contains(&format!("\"slot\":\"{slot}\"")),
            "{slot}"
        );
    }
    for part in [
        "\"given\":{\"Event\":[",
        "\"given\":{\"One\":{",
        "\"given\":{\"up_to\":",
        "\"given\":\"Nothing\"",
        "\"wanted\":3",
        "\"answer\":[",
        "\"answer\":null",
        "\"has_end\":true",
        "\"is_new\":true",
        "\"is_own\":true",
        "\"is_own\":false",
        "\"settled\":null",
        "\"is_set\":true",
    ] {
        assert!(text.contains(part), "{part}");
    }
    for part in [
        "\"has_begun\":false",
        "\"restarts_after_wait\":true",
        "\"once\":{\"greeting\"",
        "\"is_paused\":true",
        "\"is_active\":false",
        "{\"Err\":{\"Stopped\":{\"by\":null}}}",
        "{\"Err\":{\"Stopped\":{\"by\":\"helper\"}}}},\"crates/framestep_durable/tests/it/everything.rs:",
        "\"stop_lines\":[[5,\"crates/framestep_durable/tests/it/everything.rs:",
        "{\"Err\":{\"Panicked\":\"on purpose\"}}",
        "{\"Ok\":[",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    let lists = json.as_object().unwrap().iter();
    for (name, list) in lists.filter(|(_, value)| value.is_array()) {
        assert!(!list.as_array().unwrap().is_empty(), "{name} is empty");
    }
}
