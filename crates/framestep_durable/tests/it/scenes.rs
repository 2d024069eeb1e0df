//! Random scenes, saved at random moments and restored in another runtime: both continue alike.

use std::cell::Cell;

use framestep_durable::prelude::*;

use framestep_testkit::Random;
use framestep_testkit::phases::{PHASES, RUNS, with_custom};

const BELL: Signal<u64> = signal("bell");
const COUNT: Watch<u64> = watch("count", Default::default);
/// With a small limit, so that subscriptions lose events.
const TAP: Signal<u64> = signal_with_limit("tap", 3);
const SEATS: Semaphore = semaphore("seats", 2);

thread_local! {
    /// Whether scripts run later code than that of the first save.
    static IS_PATCHED: Cell<bool> = const { Cell::new(false) };
}

/// What scripts change and log.
#[derive(Clone, Debug, Default, PartialEq)]
struct World {
    log: Vec<String>,
    counter: u64,
    dice: u64,
    resolvers: Vec<PromiseId<u64>>,
}

/// One instruction of a random script.
#[derive(Clone, Debug, Serialize, Deserialize)]
enum Op {
    NextFrame(Option<u8>),
    Frames(u64),
    Steps(u64),
    Seconds(u64, Option<u8>),
    Realtime(u64),
    OnClock(u8, u64),
    UntilClock(u8, u64),
    EndOfFrame,
    FixedUpdate,
    Custom(u8),
    Until(u64, Option<u8>),
    Bell,
    Changed,
    CountAtLeast(u64),
    Animate(u64, Option<u8>),
    Ticks(u64, u8, Option<u8>),
    Ask(u64),
    Yield,
    Now(u8),
    On(u8, Vec<Op>),
    Held(u8, Vec<Op>),
    Scaled(u8, u8, Vec<Op>),
    Start(u8, bool),
    Spawn(u8, bool),
    Join(Vec<Op>),
    Both(Vec<Op>, Vec<Op>),
    Either(Vec<Op>, Vec<Op>),
    Timeout(u64, Vec<Op>),
    Emit(u64),
    Set(u64),
    Get,
    Time,
    Scale(u8, u8),
    PauseClock(u8),
    ResumeClock(u8),
    StopOther(u8),
    PauseOther(u8),
    ResumeOther(u8),
    PauseOwner(u8),
    ResumeOwner(u8),
    Guard,
    Panic,
    BellOf(u8),
    BellFor(u64),
    Hear(u8, u64),
    EmitOf(u8, u64),
    Tap(u64),
    SetOf(u8, u64),
    RemoveOf(u8),
    ChangedOf(u8),
    Seat(u64),
    SeatOf(u8, u64),
    TrySeat,
    Seats,
    Promise(u64),
    Resolve(u64),
    Asked(u64),
    AskOther(u8),
    AskOwner(u8),
    StopWithin(u8, u64, bool),
    Ended(u8),
    Group(u8, u8, u64),
    Each(u8, u64),
    Moves(u64),
    Seats2(u64),
    CountSeats(u8),
    EmitOne(u64),
    Streams(u64),
    Carry(u8, u64),
}

#[derive(Clone, Debug, Serialize, Deserialize)]
struct Question(u64);

impl Request for Question {
    const NAME: &'static str = "question";
    type Answer = u64;
}

/// A script of random instructions, a few in each chapter.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Actor {
    seed: u64,
    chapters: u8,
    depth: u8,
    clocks: Vec<ClockId>,
    owners: Vec<OwnerId>,
}

fn phase(number: Option<u8>) -> Option<Phase> {
    Some(with_custom(3)[usize::from(number?)])
}

fn length(ms: u64) -> f64 {
    ms as f64 / 1_000.0
}

fn any_phase(random: &mut Random) -> Option<u8> {
    random.one_in(3).then(|| random.below(RUNS as u64) as u8)
}

fn any_ops(random: &mut Random, most: u64, depth: u8) -> Vec<Op> {
    let len = 1 + random.below(most);
    (0..len).map(|_| any_op(random, depth)).collect()
}

fn any_op(random: &mut Random, depth: u8) -> Op {
    let ms = [0, 10, 16, 20, 33, 50, 100, 250, 1_000][random.below(9) as usize];
    if random.one_in(6) {
        return match random.below(15) {
            0 | 1 => Op::Asked(ms),
            2 => Op::AskOther(random.below(16) as u8),
            3 => Op::AskOwner(random.below(3) as u8),
            4 => Op::StopWithin(random.below(3) as u8, ms, random.one_in(2)),
            5 => Op::Ended(random.below(3) as u8),
            6 => Op::Group(random.below(4) as u8, random.below(4) as u8, ms),
            7 => Op::Each(random.below(4) as u8, ms),
            8 => Op::Moves(ms),
            9 => Op::Seats2(ms),
            10 => Op::CountSeats(random.below(4) as u8),
            11 => Op::EmitOne(random.below(100)),
            12 | 13 => Op::Carry(random.below(4) as u8, ms),
            _ => Op::Streams(ms),
        };
    }
    match random.below(if depth < 2 { 72 } else { 62 }) {
        0 | 1 => Op::NextFrame(any_phase(random)),
        2 => Op::Frames(random.below(5)),
        3 => Op::Steps(random.below(4)),
        4..=7 => Op::Seconds(ms, any_phase(random)),
        8 => Op::Realtime(ms),
        9 | 10 => Op::OnClock(random.below(3) as u8, ms),
        11 => Op::UntilClock(random.below(3) as u8, ms * 4),
        12 => Op::EndOfFrame,
        13 => Op::FixedUpdate,
        14 => Op::Custom(random.below(2) as u8),
        15 | 16 => Op::Until(random.below(6), any_phase(random)),
        17 => Op::Bell,
        18 => Op::Changed,
        19 => Op::CountAtLeast(random.below(8)),
        20 | 21 => Op::Animate(ms, any_phase(random)),
        22 | 23 => Op::Ticks(ms.max(5), random.below(4) as u8, any_phase(random)),
        24 => Op::Ask(random.below(100)),
        25 => Op::Emit(random.below(100)),
        26 => Op::Set(random.below(8)),
        27 => Op::Get,
        28 => Op::Time,
        29 => Op::Scale(random.below(3) as u8, random.below(4) as u8),
        30 => Op::PauseClock(random.below(3) as u8),
        31 => Op::ResumeClock(random.below(3) as u8),
        32 => Op::StopOther(random.below(16) as u8),
        33 => Op::PauseOther(random.below(16) as u8),
        34 => Op::ResumeOther(random.below(16) as u8),
        35 => Op::PauseOwner(random.below(3) as u8),
        36 => Op::ResumeOwner(random.below(3) as u8),
        37 if random.one_in(8) => Op::Panic,
        37 | 38 => Op::Guard,
        39 => Op::Start(random.below(4) as u8, random.one_in(2)),
        40 => Op::BellOf(random.below(3) as u8),
        41 => Op::BellFor(random.below(4)),
        42..=44 => Op::Hear(random.below(4) as u8, ms),
        45 => Op::EmitOf(random.below(3) as u8, random.below(100)),
        46 | 47 => Op::Tap(random.below(100)),
        48 => Op::SetOf(random.below(3) as u8, random.below(8)),
        49 => Op::RemoveOf(random.below(3) as u8),
        50 => Op::ChangedOf(random.below(3) as u8),
        51..=53 => Op::Seat(ms),
        54 => Op::SeatOf(random.below(3) as u8, ms),
        55 => Op::TrySeat,
        56 => Op::Seats,
        57 | 58 => Op::Promise(ms),
        59 => Op::Resolve(random.below(9)),
        60 => Op::Yield,
        61 => Op::Now(random.below(3) as u8),
        62 => Op::Spawn(random.below(4) as u8, random.one_in(2)),
        63 => Op::Join(any_ops(random, 3, depth + 1)),
        64 => Op::Both(any_ops(random, 2, depth + 1), any_ops(random, 3, depth + 1)),
        65 | 66 => Op::Either(any_ops(random, 2, depth + 1), any_ops(random, 3, depth + 1)),
        67 | 68 => Op::On(random.below(5) as u8, any_ops(random, 3, depth + 1)),
        69 => Op::Held(random.below(4) as u8, any_ops(random, 2, depth + 1)),
        70 => Op::Scaled(
            random.below(4) as u8,
            random.below(9) as u8,
            any_ops(random, 3, depth + 1),
        ),
        _ => Op::Timeout(ms, any_ops(random, 3, depth + 1)),
    }
}

fn log(who: u64, what: String) {
    with(move |world: &mut World| {
        world.counter += 1;
        world.log.push(format!("{who:x} {what}"));
    });
}

impl Actor {
    fn child(&self, salt: u8) -> Actor {
        Actor {
            seed: self.seed.wrapping_mul(31).wrapping_add(u64::from(salt)),
            chapters: 1,
            depth: self.depth + 1,
            ..self.clone()
        }
    }

    fn perform<'a>(&'a self, ops: &'a [Op]) -> std::pin::Pin<Box<dyn Future<Output = u64> + 'a>> {
        Box::pin(async move {
            for op in ops {
                self.perform_one(op).await;
            }
            ops.len() as u64
        })
    }

    #[expect(clippy::too_many_lines, reason = "a table")]
    async fn perform_one(&self, op: &Op) {
        let who = self.seed % 0x1000;
        let clock = |at: u8| self.clocks[usize::from(at) % self.clocks.len()];
        let owner = |at: u8| self.owners[usize::from(at) % self.owners.len()];
        match op {
            Op::NextFrame(None) => next_frame().await,
            Op::NextFrame(at) => next_frame().in_phase(phase(*at).unwrap()).await,
            Op::Frames(frames) => wait_frames(*frames).await,
            Op::Steps(steps) => wait_steps(*steps).await,
            Op::Seconds(ms, None) => wait_seconds(length(*ms)).await,
            Op::Seconds(ms, at) => {
                wait_seconds(length(*ms))
                    .in_phase(phase(*at).unwrap())
                    .await;
            }
            Op::Realtime(ms) => wait_seconds_realtime(length(*ms)).await,
            Op::OnClock(at, ms) => clock(*at).clock().wait_seconds(length(*ms)).await,
            Op::UntilClock(at, ms) => clock(*at).clock().wait_until(length(*ms)).await,
            Op::EndOfFrame => end_of_frame().await,
            Op::FixedUpdate => fixed_update().await,
            Op::Custom(number) => in_phase(Phase::Custom(*number)).await,
            Op::Until(more, at) => {
                let goal = with(|world: &mut World| world.counter) + more;
                let wait = wait_until(move || with_ref(|world: &World| world.counter >= goal));
                match phase(*at) {
                    Some(phase) => wait.in_phase(phase).await,
                    None => wait.await,
                }
            }
            Op::Bell => {
                let rung = BELL.wait().await;
                log(who, format!("bell {rung}"));
            }
            Op::Changed => {
                let count = COUNT.changed().await;
                log(who, format!("changed {count}"));
            }
            Op::CountAtLeast(least) => {
                let least = *least;
                let count = COUNT.wait_for(move |count| *count >= least).await;
                log(who, format!("at least {count}"));
            }
            Op::Animate(ms, at) => {
                let animation = animate(length(*ms), move |share| {
                    with(|world: &mut World| {
                        world.log.push(format!("{who:x} share {share}"));
                    });
                });
                match phase(*at) {
                    Some(phase) => animation.in_phase(phase).await,
                    None => animation.await,
                }
            }
            Op::Ticks(ms, ticks, at) => {
                let mut interval = interval(length(*ms));
                if let Some(phase) = phase(*at) {
                    interval = interval.in_phase(phase);
                }
                for _ in 0..*ticks {
                    let tick = interval.tick().await;
                    log(who, format!("{tick:?}"));
                }
            }
            Op::Ask(question) => {
                let question = *question;
                let answer = ask(move || Question(question)).await;
                log(who, format!("answer {answer}"));
            }
            Op::Yield => yield_now().await,
            Op::Now(at) => {
                let clock = clock(*at);
                let (now, delta) = (clock.clock().now(), clock.clock().delta());
                let scales = [clock.clock().scale(), clock.clock().effective_scale()];
                log(
                    who,
                    format!("{now:?} {delta:?} {scales:?} {}", clock.clock().is_paused()),
                );
            }
            Op::On(at, ops) => {
                let clock = match at {
                    3 => framestep_durable::clock(),
                    4 => realtime(),
                    at => clock(*at).clock(),
                };
                let done = on_clock(clock, self.perform(ops)).await;
                log(who, format!("on a clock {done}"));
            }
            Op::Held(at, ops) => {
                let held = if *at == 3 { ClockId::GAME } else { clock(*at) };
                let _held = held.clock().pause_guard();
                // Not longer: what counts on the clock alone would never end.
                let done = timeout(0.3, on_clock(realtime(), self.perform(ops)));
                let done = on_clock(realtime(), done).await;
                log(who, format!("held {done:?}"));
            }
            Op::Scaled(at, tenths, ops) => {
                let scaled = if *at == 3 { ClockId::GAME } else { clock(*at) };
                let _scaled = scaled.clock().scaled(0.3 + f64::from(*tenths) / 10.0);
                let done = self.perform(ops).await;
                log(who, format!("scaled {done}"));
            }
            Op::Start(..) | Op::Spawn(..) | Op::Group(..) | Op::Each(..) if self.depth >= 3 => {
                next_frame().await;
            }
            Op::Start(salt, joins) => {
                let child = start(self.child(*salt));
                if *joins {
                    let result = child.await;
                    log(who, format!("joined {result:?}"));
                }
            }
            Op::Spawn(salt, joins) => {
                let child = spawn(self.child(*salt));
                if *joins {
                    let result = child.await;
                    log(who, format!("joined {result:?}"));
                }
            }
            Op::Join(ops) => {
                let done = join_all([self.perform(ops), self.perform(ops)]).await;
                log(who, format!("all {done:?}"));
            }
            Op::Both(first, second) => {
                let done = join!(self.perform(first), self.perform(second));
                log(who, format!("both {done:?}"));
            }
            Op::Either(first, second) => {
                let done = select! {
                    done = self.perform(first) => done,
                    done = self.perform(second) => 100 + done,
                };
                log(who, format!("either {done}"));
            }
            Op::Timeout(ms, ops) => {
                let done = timeout(length(*ms), self.perform(ops)).await;
                log(who, format!("timeout {done:?}"));
            }
            Op::Emit(value) => BELL.emit(*value),
            Op::Set(value) => COUNT.set(*value),
            Op::Get => log(who, format!("count {}", COUNT.get())),
            Op::Time => log(who, format!("{:?}", time())),
            Op::Scale(at, scale) => clock(*at).clock().set_scale(f64::from(*scale) / 2.0),
            Op::PauseClock(at) => {
                let paused = clock(*at).clock().pause();
                log(who, format!("pause clock {paused}"));
            }
            Op::ResumeClock(at) => {
                clock(*at).clock().resume();
            }
            Op::StopOther(at) => {
                let stopped = stop(other(*at));
                log(who, format!("stop {stopped}"));
            }
            Op::PauseOther(at) => {
                let paused = pause(other(*at));
                log(who, format!("pause {paused}"));
            }
            Op::ResumeOther(at) => {
                let resumed = resume(other(*at));
                log(who, format!("resume {resumed}"));
            }
            Op::PauseOwner(at) => {
                owner(*at).pause();
            }
            Op::ResumeOwner(at) => {
                owner(*at).resume();
            }
            Op::Guard => {
                let _guard = defer(move |world: &mut World| {
                    world.log.push(format!("{who:x} left"));
                });
                next_frame().await;
            }
            Op::Panic => panic!("on purpose"),
            Op::BellOf(of) => {
                let rung = BELL.keyed(of).wait().or_closed().await;
                log(who, format!("bell of {of} {rung:?}"));
            }
            Op::BellFor(least) => {
                let least = *least;
                let rung = BELL.wait_for(move |rung| rung % 4 >= least).await;
                log(who, format!("bell for {rung}"));
            }
            Op::Hear(taps, ms) => {
                let mut heard = TAP.subscribe();
                let mut only = TAP.keyed(0).subscribe();
                for _ in 0..*taps {
                    wait_seconds(length(*ms)).await;
                    let tap = select! {
                        tap = heard.next() => tap.unwrap(),
                        tap = only.next() => 1_000 + tap.unwrap(),
                    };
                    log(who, format!("heard {tap}"));
                }
                log(who, format!("missed {} {}", heard.missed(), only.missed()));
            }
            Op::EmitOf(of, value) => {
                BELL.keyed(of).emit(*value);
                TAP.keyed(of).emit(*value);
            }
            Op::Tap(value) => {
                for more in 0..value % 4 {
                    TAP.emit(value + more);
                }
            }
            Op::SetOf(of, value) => COUNT.keyed(of).set(*value),
            Op::RemoveOf(of) => {
                BELL.keyed(of).remove();
                log(who, format!("removed {}", COUNT.keyed(of).remove()));
            }
            Op::ChangedOf(of) => {
                let count = COUNT.keyed(of).changed().or_closed().await;
                log(who, format!("changed {of} {count:?}"));
                let mut counts = COUNT.keyed(of).subscribe().or_closed();
                while let Some(count) = counts.next().await {
                    log(who, format!("changed again {of} {count}"));
                }
            }
            Op::Seat(ms) => {
                let _seat = SEATS.acquire().await;
                log(who, "sits".to_owned());
                wait_seconds(length(*ms)).await;
            }
            Op::SeatOf(of, ms) => {
                let seats = SEATS.keyed(of);
                let (first, _second) = join!(seats.acquire(), seats.acquire());
                drop(first);
                let _third = seats.acquire().await;
                wait_seconds(length(*ms)).await;
            }
            Op::TrySeat => {
                let seat = SEATS.try_acquire();
                log(who, format!("takes {seat:?}"));
                next_frame().await;
            }
            Op::Seats => log(who, format!("{} seats", SEATS.available())),
            Op::Promise(ms) => {
                let (resolver, mut promise) = promise::<u64>("answer");
                with(move |world: &mut World| world.resolvers.push(resolver));
                let early = timeout(length(*ms), &mut promise).await;
                log(who, format!("promised {early:?}"));
                if early.is_err() {
                    let late = timeout(length(*ms), promise).await;
                    log(who, format!("promised late {late:?}"));
                }
            }
            Op::Asked(ms) => {
                let asked = timeout(length(*ms), stop_requested()).await.is_ok();
                log(who, format!("asked {asked} {}", is_stop_requested()));
            }
            Op::AskOther(at) => log(who, format!("asks {}", request_stop(other(*at)))),
            Op::AskOwner(at) => owner(*at).request_stop(),
            Op::StopWithin(at, ms, waits) => {
                let stopped = owner(*at).stop_within(length(*ms));
                if *waits {
                    log(who, format!("stopped within {}", stopped.await));
                }
            }
            Op::Ended(at) => {
                let ended = timeout(0.2, owner(*at).ended()).await;
                log(who, format!("ended {ended:?} {}", owner(*at).is_empty()));
            }
            Op::Group(one, other, ms) => {
                let mut actors = group();
                actors.start(self.child(*one));
                actors.spawn(self.child(*other));
                let joined = timeout(length(*ms), actors.join()).await;
                log(who, format!("group {joined:?}"));
            }
            Op::Each(salt, ms) => {
                let actors = [0, 1, 2].map(|more| start(self.child(salt + more)).stop_on_drop());
                let mut each = when_each(actors);
                for _ in 0..2 {
                    let end = timeout(length(*ms), each.next()).await;
                    log(who, format!("each {end:?}"));
                }
            }
            Op::Moves(ms) => {
                let mut window = wait_seconds(length(*ms));
                let mut ticks = interval(0.03).first_after(0.01);
                for _ in 0..3 {
                    select! {
                        () = &mut window => {
                            ticks.reset();
                            window = wait_seconds(0.02);
                        }
                        tick = ticks.tick() => {
                            log(who, format!("moves {tick:?}"));
                            window.reset(length(*ms));
                        }
                    }
                }
            }
            Op::Seats2(ms) => {
                let seats = timeout(length(*ms) + 0.05, SEATS.acquire_many(2)).await;
                log(who, format!("both {}", seats.is_ok()));
                wait_seconds(length(*ms)).await;
            }
            Op::CountSeats(count) => match count {
                0 => SEATS.add(1),
                count => SEATS.set_count(usize::from(*count)),
            },
            Op::EmitOne(value) => {
                let left = (BELL.emit_one(*value), TAP.emit_one(*value));
                log(who, format!("for one {left:?}"));
            }
            Op::Streams(ms) => {
                let mut settled = debounce(0.03, throttle(length(*ms), TAP.subscribe()));
                let mut frames = every_frames(3);
                let mut counts = changes_of(|| with_ref(|world: &World| world.counter / 7));
                let mut set = COUNT.subscribe();
                let mut keyed = debounce_by_key(length(*ms), TAP.subscribe(), |tap| tap % 3);
                let mut latest = sample(0.05, TAP.subscribe());
                for _ in 0..6 {
                    let item = select! {
                        count = set.next() => count.map(|count| 20_000 + count),
                        tap = settled.next() => tap,
                        tap = keyed.next() => tap.map(|tap| 30_000 + tap),
                        tap = latest.next() => tap.map(|tap| 40_000 + tap),
                        time = frames.next() => time.map(|time| 1_000 + time.frame),
                        count = counts.next() => count.map(|count| 9_000 + count),
                    };
                    log(who, format!("item {item:?}"));
                }
            }
            Op::Carry(chapters, ms) => {
                let mut taps = TAP.subscribe();
                let tap = timeout(length(*ms), taps.next()).await;
                log(who, format!("carries after {tap:?}"));
                let every = interval(length((*ms).max(5))).missed_ticks(MissedTicks::Skip);
                start(reader(who, taps.into(), every.into(), *chapters)).detach();
            }
            Op::Resolve(value) => {
                let resolver = with(|world: &mut World| world.resolvers.pop());
                if let Some(resolver) = resolver {
                    let is_canceled = resolver.is_canceled();
                    let done = match *value {
                        0 | 1 => resolver.cancel(),
                        value => resolver.send(value).is_ok(),
                    };
                    log(who, format!("resolves {is_canceled} {done}"));
                }
            }
        }
        log(who, format!("{op:?}"));
    }
}

/// Reads events and ticks, a few in each chapter, and hands both over.
#[durable]
async fn reader(who: u64, mut taps: Unread<u64>, mut every: Schedule, chapters: u8) -> Chapter {
    if IS_PATCHED.get() {
        wait_frames(1).await;
    }
    for _ in 0..2 {
        select! {
            tap = taps.next() => log(who, format!("carried tap {}, {} missed", tap.unwrap(), taps.missed())),
            tick = every.tick() => log(who, format!("carried {tick:?}")),
        }
    }
    match chapters {
        0 => Chapter::Done(()),
        // With another subscription, whose first one is dropped.
        1 => Chapter::Next(reader(who, Unread::of(&TAP.keyed(0)), every, 0)),
        chapters => Chapter::Next(reader(who, taps, every, chapters - 1)),
    }
}

/// A script by its number, counted from the first.
fn other(number: u8) -> ScriptId {
    ScriptId::from_raw(u64::from(number) + 1)
}

impl DurableScript for Actor {
    const NAME: &'static str = "actor";
    type Output = u64;

    async fn run(self) -> Chapter<Self> {
        if IS_PATCHED.get() {
            // A chapter of earlier code does not fit.
            wait_frames(1).await;
        }
        let mut random = Random(self.seed);
        let ops = any_ops(&mut random, 5, 0);
        self.perform(&ops).await;
        let label = format!("every {}", self.seed % 5);
        let number = with_once(label, |world: &mut World| {
            world.counter += 1;
            world.counter
        });
        log(self.seed, format!("once {number}"));
        if self.chapters == 0 {
            return Chapter::Done(self.seed);
        }
        next_frame().await;
        Chapter::Next(Actor {
            seed: random.next(),
            chapters: self.chapters - 1,
            ..self
        })
    }
}

/// A runtime, its world, and what the host does.
struct Scene {
    runtime: Runtime,
    world: World,
    random: Random,
    clocks: Vec<ClockId>,
    owners: Vec<OwnerId>,
    /// The questions that the host has yet to answer.
    asked: Vec<(RequestId<Question>, u64)>,
    /// What the host has yet to do in this frame.
    left: Vec<HostOp>,
}

#[derive(Clone, Copy, Debug)]
enum HostOp {
    Begin,
    Run(Phase),
    Steps,
    Act,
}

fn registry() -> Registry {
    let registry = Registry::new().with::<Actor>().script(reader);
    registry.with_watch(&COUNT)
}

fn runtime() -> Runtime {
    let builder = framestep::Executor::builder()
        .fixed_delta(0.02)
        .max_delta(0.1);
    let runtime = Runtime::with(builder.propagate_panics(false), registry());
    runtime.on_loss(|_| ());
    runtime
}

impl Scene {
    fn new(seed: u64) -> Self {
        let runtime = runtime();
        runtime.executor().on_report(|_| ());
        let slow = runtime.enter(|| ClockId::GAME.child());
        let menu = runtime.enter(|| ClockId::REALTIME.child());
        let slower = runtime.enter(|| slow.child());
        let parent = runtime.owner();
        let below = runtime.enter(|| parent.child());
        let timed = runtime.enter(|| owner_on(slower));
        let mut scene = Scene {
            runtime,
            world: World::default(),
            random: Random(seed),
            clocks: vec![slow, menu, slower],
            owners: vec![parent, below, timed],
            asked: Vec::new(),
            left: Vec::new(),
        };
        for _ in 0..8 {
            scene.start();
        }
        scene
    }

    fn start(&mut self) {
        let actor = Actor {
            seed: self.random.next(),
            chapters: self.random.below(4) as u8,
            depth: 0,
            clocks: self.clocks.clone(),
            owners: self.owners.clone(),
        };
        let how = self.random.below(6);
        let owner = self.owners[self.random.below(3) as usize];
        let home = PHASES[self.random.below(PHASES.len() as u64) as usize];
        self.runtime.lend(&mut self.world, |runtime| {
            let handle = match how {
                0 | 1 => runtime.start(actor),
                2 => runtime.spawn(actor),
                3 => runtime.enter(|| start_in(home, actor)),
                _ => runtime.enter(|| owner.start(actor)),
            };
            handle.detach();
        });
    }

    /// Does the host's next action. A save is possible between any two actions.
    fn advance(&mut self) {
        let Some(op) = self.left.pop() else {
            // From the last to the first.
            self.left = Vec::new();
            for phase in with_custom(0).into_iter().rev() {
                self.left.push(match phase {
                    Phase::FixedUpdate => HostOp::Steps,
                    phase => HostOp::Run(phase),
                });
                if phase == Phase::Custom(0) {
                    self.left.push(HostOp::Act);
                }
            }
            self.left.extend([HostOp::Act, HostOp::Begin]);
            return;
        };
        match op {
            HostOp::Begin => {
                let dt = [0, 5, 16, 17, 20, 33, 50, 120][self.random.below(8) as usize];
                self.runtime.begin_frame(length(dt));
            }
            HostOp::Run(phase) => {
                let Scene { runtime, world, .. } = self;
                runtime.lend(world, |runtime| runtime.run_phase(phase));
            }
            HostOp::Steps => {
                if self.runtime.begin_fixed_step() {
                    self.left.push(HostOp::Steps);
                    self.left.push(HostOp::Run(Phase::FixedUpdate));
                }
            }
            HostOp::Act => self.act(),
        }
    }

    fn act(&mut self) {
        let script = other(self.random.below(20) as u8);
        let clock = self.clocks[self.random.below(3) as usize];
        let owner = self.owners[self.random.below(3) as usize];
        let number = self.random.below(8);
        let action = self.random.below(36);
        match action {
            20 => return self.start(),
            21 => {
                if let Some(resolver) = self.world.resolvers.pop() {
                    if number == 0 {
                        self.runtime.enter(|| resolver.cancel());
                    } else {
                        self.runtime.enter(|| resolver.send(number).is_ok());
                    }
                }
                return;
            }
            _ => {}
        }
        let asked = &mut self.asked;
        self.runtime.lend(&mut self.world, |runtime| match action {
            0 => runtime.named(&BELL).emit(number),
            1 => runtime.named(&COUNT).set(number),
            2 => drop(runtime.enter(|| stop(script))),
            3 | 4 => drop(runtime.enter(|| pause(script))),
            5..=7 => drop(runtime.enter(|| resume(script))),
            8 => drop(runtime.enter(|| owner.pause())),
            9 | 10 => drop(runtime.enter(|| owner.resume())),
            11 => runtime
                .enter(|| clock.clock())
                .set_scale(number as f64 / 4.0),
            12 => drop(runtime.enter(|| clock.clock()).pause()),
            13 | 14 => drop(runtime.enter(|| clock.clock()).resume()),
            15 => runtime
                .enter(|| ClockId::GAME.clock())
                .set_scale(1.0 + number as f64 / 8.0),
            16 => runtime.named(&BELL.keyed(number % 3)).emit(number),
            17 | 18 => runtime.named(&TAP).emit(number),
            19 => runtime.named(&COUNT.keyed(number % 3)).set(number),
            22 => drop(runtime.named(&COUNT.keyed(number % 3)).remove()),
            23 => runtime.named(&SEATS).set_count(number as usize % 4),
            24 => drop(runtime.enter(|| request_stop(script))),
            25 if number < 3 => {
                let stopped = runtime.enter(|| owner.stop_within(length(50 * number)));
                ScriptHandle::from(stopped).detach();
            }
            26 if number < 3 => runtime.enter(|| owner.request_stop()),
            27 => drop(runtime.named(&BELL).emit_one(number)),
            28 => drop(runtime.named(&TAP).emit_one(number)),
            _ => {
                // Those whose scripts have dropped them are withdrawn.
                let withdrawn = runtime.withdrawn::<Question>();
                asked.retain(|(id, _)| !withdrawn.contains(id));
                for (id, Question(question)) in runtime.requests() {
                    // A restored runtime asks again.
                    if asked.iter().all(|&(known, _)| known != id) {
                        asked.push((id, question));
                    }
                }
                asked.retain(|&(id, question)| {
                    let waits = question % 3 == number % 3;
                    if !waits {
                        assert_eq!(runtime.is_open(id), runtime.answer(id, &(question + 1)));
                    }
                    waits
                });
            }
        });
    }

    /// The same scene in another runtime, from bytes.
    fn reloaded(&self) -> Scene {
        let mut save = self.runtime.save().unwrap();
        if self.world.log.len() % 2 == 1 {
            save = save.described(&registry()).unwrap();
        }
        self.loaded(&save.to_bytes(), Policy::Fail)
    }

    fn loaded(&self, file: &[u8], policy: Policy) -> Scene {
        let mut runtime = runtime();
        runtime.executor().on_report(|_| ());
        let save = SaveState::from_bytes(file).unwrap();
        runtime.restore(&save, policy).unwrap();
        Scene {
            runtime,
            world: self.world.clone(),
            random: self.random.clone(),
            clocks: self.clocks.clone(),
            owners: self.owners.clone(),
            asked: self.asked.clone(),
            left: self.left.clone(),
        }
    }

    #[track_caller]
    fn assert_like(&self, other: &Scene) {
        let (log, others) = (&self.world.log, &other.world.log);
        let at = log.iter().zip(others).position(|(a, b)| a != b);
        if let Some(at) = at {
            panic!("at {at}: {:?} or {:?}", &log[at], &others[at]);
        }
        assert_eq!(log.len(), others.len());
        let bytes = |scene: &Scene| scene.runtime.save_state().unwrap();
        let (a, b) = (bytes(self), bytes(other));
        for (scene, save) in [(self, &a), (other, &b)] {
            assert_eq!(scene.runtime.checksum(), Ok(save.checksum()));
        }
        if a.checksum() != b.checksum() {
            show_difference(&a, &b);
            panic!("the runtimes differ");
        }
    }
}

/// What a rollback restores: the runtime's save state, and the rest of the scene.
struct Kept {
    save: SaveState,
    world: World,
    random: Random,
    asked: Vec<(RequestId<Question>, u64)>,
    left: Vec<HostOp>,
}

impl Scene {
    fn keep(&self) -> Kept {
        Kept {
            save: self.runtime.save_state().unwrap(),
            world: self.world.clone(),
            random: self.random.clone(),
            asked: self.asked.clone(),
            left: self.left.clone(),
        }
    }

    fn go_back_to(&mut self, kept: &Kept) {
        self.runtime.rollback(&kept.save).unwrap();
        self.world = kept.world.clone();
        self.random = kept.random.clone();
        self.asked.clone_from(&kept.asked);
        self.left.clone_from(&kept.left);
    }
}

/// Prints where two save states differ.
fn show_difference(a: &SaveState, b: &SaveState) {
    let (a, b) = (format!("{a:?}"), format!("{b:?}"));
    let at = a.bytes().zip(b.bytes()).position(|(a, b)| a != b);
    let from = at.unwrap_or(0).saturating_sub(400);
    let part = |all: &str| all[from..all.len().min(from + 900)].to_owned();
    eprintln!("{}\n{}", part(&a), part(&b));
}

fn quiet_panics() {
    std::panic::set_hook(Box::new(|info| {
        let texts = ["on purpose", "on which it runs itself"];
        if !texts.iter().any(|text| info.to_string().contains(text)) {
            eprintln!("{info}");
        }
    }));
}

fn number_of(name: &str, default: u64) -> u64 {
    let number = std::env::var(name).ok();
    number.map_or(default, |number| number.parse().expect("a number"))
}

/// What some scene must have done, or these tests say nothing about it.
const DONE: [&str; 27] = [
    " asked true true",
    " asks true",
    " stopped within ",
    " ended Ok(()) true",
    " group Ok(Ok(",
    " each Ok(Some(",
    " moves ",
    " both true",
    " for one (None, ",
    " item Some(9",
    " bell of ",
    " bell for ",
    " heard 1",
    " missed 1 ",
    " removed true",
    " changed 1 ",
    " sits",
    " takes Some",
    " takes None",
    " SeatOf",
    " promised Ok(Ok(",
    " promised Ok(Err(Canceled))",
    " promised late Ok(Ok(",
    " resolves false true",
    " item Some(2000",
    " carried tap ",
    " carried Tick",
];

#[test]
fn a_saved_scene_continues_like_one_that_was_not_saved() {
    quiet_panics();
    let scenes = number_of("FRAMESTEP_DURABLE_SCENES", 60);
    let first = number_of("FRAMESTEP_DURABLE_SEED", 1);
    let mut saves = 0;
    let mut not_done: Vec<&str> = DONE.to_vec();
    for seed in first..first + scenes {
        let mut scene = Scene::new(seed);
        let mut saves_at = Random(seed ^ 0xABCD);
        let mut copy: Option<Scene> = None;
        for moment in 0..600 {
            scene.advance();
            if let Some(copy) = &mut copy {
                copy.advance();
                if saves_at.one_in(12) {
                    let like = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
                        scene.assert_like(copy);
                    }));
                    assert!(like.is_ok(), "seed {seed}, moment {moment}");
                }
            }
            if saves_at.one_in(16) {
                copy = Some(scene.reloaded());
                saves += 1;
                let copy = copy.as_ref().unwrap();
                scene.assert_like(copy);
            }
        }
        not_done.retain(|what| !scene.world.log.iter().any(|line| line.contains(what)));
    }
    if scenes >= 60 {
        assert!(not_done.is_empty(), "no scene has done {not_done:?}");
    }
    eprintln!("{scenes} scenes, {saves} saves");
}

#[test]
fn a_scene_that_is_rolled_back_and_simulated_again_has_the_same_save_states() {
    quiet_panics();
    let scenes = number_of("FRAMESTEP_DURABLE_SCENES", 60);
    let first = number_of("FRAMESTEP_DURABLE_SEED", 1);
    let mut rollbacks = 0;
    for seed in first..first + scenes {
        let mut scene = Scene::new(seed);
        let mut depths = Random(seed ^ 0x1234);
        let mut kept: Vec<Kept> = Vec::new();
        for moment in 0..400 {
            kept.push(scene.keep());
            scene.advance();
            let depth = 1 + depths.below(70) as usize;
            if depths.one_in(8) && depth <= kept.len() {
                let from = kept.len() - depth;
                // The later save states, to compare with: another timeline does not change them.
                let expected: Vec<SaveState> =
                    kept[from..].iter().map(|kept| kept.save.clone()).collect();
                let log = scene.world.log.clone();
                scene.go_back_to(&kept[from]);
                for expected in expected {
                    let again = scene.runtime.save_state().unwrap();
                    if again.checksum() != expected.checksum() {
                        show_difference(&expected, &again);
                        panic!("seed {seed}, moment {moment}");
                    }
                    scene.advance();
                }
                assert_eq!(scene.world.log, log, "seed {seed}, moment {moment}");
                rollbacks += 1;
            }
        }
    }
    eprintln!("{scenes} scenes, {rollbacks} rollbacks");
}

/// After a patch of the code, scripts that do not fit wait as their save says. This can be saved and
/// rolled back at any moment, as everything else.
#[test]
fn a_scene_whose_scripts_wait_as_earlier_code_did_continues_alike() {
    quiet_panics();
    let scenes = number_of("FRAMESTEP_DURABLE_SCENES", 20);
    let first = number_of("FRAMESTEP_DURABLE_SEED", 1);
    let (mut waiting, mut saves) = (0, 0);
    for seed in first..first + scenes {
        IS_PATCHED.set(false);
        let mut before = Scene::new(seed);
        let mut random = Random(seed ^ 0x5EED);
        for _ in 0..40 + random.below(200) {
            before.advance();
        }
        let file = before.runtime.save().unwrap().to_bytes();
        IS_PATCHED.set(true);
        let policy = [Policy::RestartAfterWait, Policy::Restart][usize::from(random.one_in(4))];
        let mut scene = before.loaded(&file, policy);
        let text = scene.runtime.save_state().unwrap().to_string();
        waiting += text.matches("waits as earlier code did").count();
        let (mut kept, mut copy) = (scene.keep(), scene.reloaded());
        for moment in 0..200 {
            scene.advance();
            copy.advance();
            if random.one_in(9) {
                scene.assert_like(&copy);
                copy = scene.reloaded();
                scene.assert_like(&copy);
                saves += 1;
            }
            if random.one_in(15) {
                let now = scene.keep();
                scene.go_back_to(&kept);
                let again = scene.runtime.save_state().unwrap();
                assert_eq!(
                    again.checksum(),
                    kept.save.checksum(),
                    "seed {seed}, {moment}"
                );
                scene.go_back_to(&now);
                kept = now;
            }
        }
    }
    IS_PATCHED.set(false);
    assert!(waiting > 0 && saves > 0);
    eprintln!("{scenes} scenes, {waiting} waits of earlier code, {saves} saves");
}
