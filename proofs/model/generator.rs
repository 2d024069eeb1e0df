//! Random programs.

use framestep::Phase;

use framestep_testkit::phases;
use framestep_testkit::waits::{OnClock, Place, Rule};

use super::features::Features;
use super::program::{
    Act, At, ClockAct, Drive, How, Length, Mode, On, Op, Own, OwnerAct, PermitsAct, Program,
    Script, Settings, Step, To, Wait, rows,
};

/// The runs of a frame, in order.
const RUNS: [Phase; phases::RUNS] = phases::with_custom(7);

/// Lengths that clocks of a quarter of a quarter of a quarter divide evenly.
const TINY: u64 = 1 << 24;
const EIGHTH: u64 = 125_000_000;
/// The first clock is the game clock.
const GAME: usize = 0;

/// A weight, and a function that makes a part of a program at a given depth.
type Maker<T> = (usize, fn(&mut Random, usize) -> T);

/// Makes the parts of programs.
struct Random {
    random: framestep_testkit::Random,
    on: Features,
    /// The waits that coroutines share, by number.
    shared: Vec<Wait>,
}

impl Random {
    fn below(&mut self, n: usize) -> usize {
        let n = self.random.below(n as u64);
        usize::try_from(n).expect("it is below a `usize`")
    }

    fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }

    fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len())]
    }

    /// One of several makers, by weight; those of weight 0 are never chosen.
    fn weigh<T>(&mut self, depth: usize, makers: &[Maker<T>]) -> T {
        let sum = makers.iter().map(|(weight, _)| weight).sum();
        let mut at = self.below(sum);
        for (weight, make) in makers {
            if at < *weight {
                return make(self, depth);
            }
            at -= weight;
        }
        unreachable!("it is below the sum")
    }

    /// A list of one to `most`.
    fn some<T>(&mut self, most: usize, mut make: impl FnMut(&mut Self) -> T) -> Vec<T> {
        let count = 1 + self.below(most);
        (0..count).map(|_| make(self)).collect()
    }

    fn phase(&mut self) -> Phase {
        if self.chance(25) {
            return Phase::Update;
        }
        self.pick(&RUNS)
    }

    /// The phase that a wait names, if any.
    fn at(&mut self) -> At {
        (!self.chance(40)).then(|| self.phase())
    }

    /// The same for a wait that counts time or checks a condition.
    fn timed_at(&mut self) -> At {
        if self.on.fixed && self.chance(30) {
            return Some(Phase::FixedUpdate);
        }
        let fixed = self.on.fixed;
        self.at()
            .filter(|&phase| fixed || phase != Phase::FixedUpdate)
    }

    /// The home of a coroutine.
    fn home(&mut self) -> Phase {
        if self.on.shares {
            return Phase::Update;
        }
        match self.phase() {
            Phase::FixedUpdate if !self.on.fixed => Phase::Update,
            phase => phase,
        }
    }

    fn length(&mut self) -> Length {
        match self.below(60) {
            0 if self.on.odd && self.on.panics => Length::NotANumber,
            1..=2 if self.on.odd => Length::Infinite,
            3..=4 if self.on.odd => Length::Negative,
            5..=8 => Length::Nanos(1),
            9..=16 => Length::Nanos(0),
            _ => Length::Nanos(EIGHTH * (1 + self.below(8) as u64)),
        }
    }

    /// A length that is not NaN.
    fn number(&mut self) -> Length {
        match self.length() {
            Length::NotANumber => Length::Infinite,
            length => length,
        }
    }

    fn period(&mut self) -> Length {
        Length::Nanos(EIGHTH * (1 + self.below(3) as u64))
    }

    fn dt(&mut self) -> Length {
        match self.below(60) {
            0 if self.on.odd => Length::NotANumber,
            1 if self.on.odd => Length::Negative,
            2 if self.on.odd => Length::Nanos(1_000_000_000_000),
            3..=4 => Length::Nanos(TINY),
            5..=10 => Length::Nanos(0),
            11..=14 => Length::Nanos(2_000_000_000),
            _ => Length::Nanos(EIGHTH * (1 + self.below(4) as u64)),
        }
    }

    fn wait(&mut self, depth: usize) -> Wait {
        let on = self.on;
        let if_on = |on: bool, weight: usize| if on { weight } else { 0 };
        let inner = if_on(depth < 2, 1);
        self.weigh(
            depth,
            &[
                (4, |r, _| r.own(Rule::NextFrame)),
                (2, |r, _| r.own(Rule::Frames)),
                (4, |r, _| r.own(Rule::Run)),
                (if_on(on.fixed || on.counts, 2), |r, _| r.own(Rule::Runs)),
                (if_on(on.timers, 4), |r, _| r.own(Rule::Time(OnClock::Own))),
                (if_on(on.timers, 1), |r, _| {
                    r.own(Rule::Time(OnClock::Realtime))
                }),
                (if_on(on.clocks && on.timers, 3), |r, _| {
                    r.own(Rule::Time(OnClock::Given))
                }),
                (if_on(on.conditions, 4), |r, _| r.own(Rule::Condition)),
                (if_on(on.joins, 4), |r, _| Wait::Join(r.below(40))),
                (if_on(on.joins, 2), |r, _| Wait::Finished(r.below(40))),
                (if_on(on.bells, 5), |r, _| Wait::Bell(r.below(3))),
                (if_on(on.ends && on.owners && on.panics, 3), |r, _| {
                    Wait::Ended(r.below(6))
                }),
                (if_on(on.asks && on.owners, 4), |_, _| Wait::Asked),
                (if_on(on.events, 5), |r, _| Wait::Event(r.below(2))),
                (if_on(on.permits, 5), |r, _| {
                    Wait::Semaphore(r.below(2), r.below(4))
                }),
                // Not within two groups: one that passes on no waker, within one that polls what
                // is woken, leaves a timer that is due unpolled. Whether a reset then polls the
                // coroutine once more is open.
                (if_on(on.resets && depth < 2, 5), |r, _| {
                    let length = r.number();
                    Wait::Timer(r.below(3), length, r.timed_at())
                }),
                (if_on(on.yields, 3), |_, _| Wait::Yield),
                (if_on(on.animations, 2), |r, _| {
                    Wait::Animate(r.period(), r.timed_at())
                }),
                (if_on(on.intervals, 2), |r, _| {
                    Wait::Interval(r.period(), 1 + r.below(4), r.timed_at())
                }),
                (if_on(on.timeouts, 3 * inner), |r, _| {
                    let wait = Box::new(r.wait(2));
                    Wait::Timeout(r.period(), r.timed_at(), wait)
                }),
                (if_on(on.moves, 4), |_, _| Wait::Loose),
                (if_on(on.shares, 8 * inner), |r, _| {
                    let number = r.below(4);
                    Wait::Shared(number, Box::new(r.shared[number].clone()))
                }),
                (
                    if_on(depth == 0, 4) + if_on(on.groups, 6 * inner),
                    |r, depth| r.group(depth),
                ),
            ],
        )
    }

    /// One of the waits that are due by a rule.
    fn own(&mut self, rule: Rule) -> Wait {
        let row = self.pick(&rows(rule));
        let most = if !self.on.counts {
            2
        } else if rule == Rule::Runs {
            5
        } else {
            4
        };
        let at = match row.place {
            Place::Argument => Some(self.phase()),
            Place::InPhase if matches!(rule, Rule::Time(_) | Rule::Condition) => self.timed_at(),
            Place::InPhase => self.at(),
            Place::Home | Place::Always(_) => None,
        };
        Wait::Own(Own {
            row,
            at,
            count: self.below(most) as u64,
            length: self.length(),
            clock: self.below(4),
            flag: (self.below(3), self.chance(70)),
        })
    }

    /// A wait in `Update`: all that share it continue in its due run, in any order
    /// of polls. It is the same whichever coroutine makes it, so it is no condition,
    /// and does not count on a clock of that coroutine.
    fn shared(&mut self) -> Wait {
        let mut rules = vec![Rule::NextFrame, Rule::Frames, Rule::Run];
        if self.on.timers {
            rules.extend([OnClock::Given, OnClock::Realtime].map(Rule::Time));
        }
        let mut rows = rows(self.pick(&rules));
        rows.retain(|row| !matches!(row.place, Place::Always(_)));
        let row = self.pick(&rows);
        let at = match row.place {
            Place::InPhase => self.pick(&[None, Some(Phase::Update)]),
            _ => Some(Phase::Update),
        };
        Wait::Own(Own {
            count: self.below(4) as u64,
            length: self.length(),
            clock: GAME,
            ..Own::new(row, at)
        })
    }

    fn group(&mut self, depth: usize) -> Wait {
        let mut modes = vec![Mode::All, Mode::First, Mode::First];
        if self.on.groups {
            modes.extend([
                Mode::JoinAll,
                Mode::SelectAll,
                Mode::OwnJoinAll,
                Mode::OwnRace,
                Mode::OwnJoin,
                Mode::OwnSelect,
            ]);
        }
        // Coroutines that share a wait are resumed through their wakers.
        if self.on.groups && !self.on.shares {
            modes.push(Mode::Muffled);
        }
        if self.on.groups && !self.on.moves && !self.on.shares {
            modes.extend([Mode::Unordered, Mode::Unordered, Mode::MuffledUnordered]);
        }
        let mode = self.pick(&modes);
        if self.on.crowds && depth == 0 && self.chance(30) {
            let kinds = self.some(4, |r| r.wait(2));
            let count = 25 + self.below(20);
            let waits = (0..count).map(|at| kinds[at % kinds.len()].clone());
            let mode = self.pick(&[Mode::Unordered, Mode::JoinAll, Mode::JoinAll]);
            return Wait::Group(mode, waits.collect());
        }
        Wait::Group(mode, self.some(4, |r| r.wait(depth + 1)))
    }

    fn begin(&mut self) -> Act {
        let home = self.home();
        let how = self.pick(&[
            How::Start,
            How::Start,
            How::Spawn,
            How::Spawn,
            How::SpawnIn(home),
            How::StartIn(home),
        ]);
        let on = if self.on.owners && self.chance(40) {
            On::Owner(self.below(6))
        } else if self.on.twins && self.chance(30) {
            On::Other
        } else {
            On::Here
        };
        let script = self.below(6);
        Act::Begin { how, on, script }
    }

    fn owner_act(&mut self) -> OwnerAct {
        let at = self.below(6);
        match self.below(12) {
            0..=3 => OwnerAct::Make {
                below: self.chance(50).then_some(at),
                clock: (self.on.clocks && self.chance(30)).then(|| self.below(4)),
            },
            4 => OwnerAct::Drop(at),
            5 => OwnerAct::StopAll(at),
            6..=7 if self.on.pauses => OwnerAct::Pause(at),
            8..=9 if self.on.pauses => OwnerAct::Resume(at),
            _ => OwnerAct::SetActive(at, self.chance(60)),
        }
    }

    fn clock_act(&mut self) -> ClockAct {
        let at = self.below(4);
        match self.below(8) {
            0..=2 => ClockAct::Child(at),
            3..=5 => ClockAct::Scale(at, self.pick(&[0, 1, 2, 3, 4, 8])),
            6 => ClockAct::Pause(at),
            _ => ClockAct::Resume(at),
        }
    }

    fn drive(&mut self) -> Drive {
        match self.below(4) {
            0 => Drive::Frame(self.dt()),
            1 => Drive::Fixed {
                steps: 1,
                custom: None,
                runs: 1,
            },
            _ => Drive::Run(self.phase(), false),
        }
    }

    fn act(&mut self, depth: usize) -> Act {
        let on = self.on;
        let if_on = |on: bool, weight: usize| if on { weight } else { 0 };
        self.weigh(
            depth,
            &[
                (8, |r, _| r.begin()),
                (if_on(on.stops, 4), |r, _| Act::Stop(r.below(40))),
                (if_on(on.stops, 1), |_, _| Act::StopSelf),
                (if_on(on.pauses, 4), |r, _| Act::Pause(r.below(40))),
                (if_on(on.pauses, 1), |_, _| Act::PauseSelf),
                (if_on(on.pauses, 5), |r, _| Act::Resume(r.below(40))),
                (if_on(on.pauses, 1), |_, _| Act::ResumeSelf),
                (if_on(on.stops, 1), |r, _| Act::StopOnDrop(r.below(40))),
                (1, |r, _| Act::DropHandle(r.below(40))),
                (if_on(on.conditions, 4), |r, _| {
                    Act::Flag(r.below(3), r.chance(60))
                }),
                (if_on(on.bells, 5), |r, _| Act::Ring(r.below(3))),
                (if_on(on.events, 5), |r, _| {
                    let to = r.pick(&[To::All, To::One, To::One]);
                    Act::Emit(r.below(2), to)
                }),
                (if_on(on.permits, 4), |r, _| {
                    let count = r.below(5);
                    let act = r.pick(&[PermitsAct::Add(count % 2), PermitsAct::SetCount(count)]);
                    Act::Semaphore(r.below(2), act)
                }),
                (if_on(on.permits, 3), |_, _| Act::Release),
                (if_on(on.resets, 6), |r, _| {
                    let length = r.number();
                    Act::Reset(r.below(3), length)
                }),
                (if_on(on.asks, 2), |_, _| Act::ReadAsk),
                (if_on(on.asks && on.owners, 3), |r, _| {
                    Act::Owner(OwnerAct::Ask(r.below(6)))
                }),
                (if_on(on.threads, 3), |r, _| Act::RingElsewhere(r.below(3))),
                (if_on(on.owners, 6), |r, _| Act::Owner(r.owner_act())),
                (if_on(on.clocks, 3), |r, _| Act::Clock(r.clock_act())),
                (if_on(on.lends && depth < 2, 4), |r, depth| {
                    Act::With(r.some(3, |r| r.act(depth + 1)))
                }),
                (1, |r, _| Act::Look(r.below(40))),
                (if_on(on.drives, 4), |r, _| {
                    Act::Drive(r.below(2), r.drive())
                }),
                (if_on(on.panics, 1), |_, _| Act::Panic),
            ],
        )
    }

    fn op(&mut self) -> Op {
        match self.below(20) {
            // Parts that depend on the order within a run exclude moved waits.
            0..=8 if self.on.moves => Op::Leave(self.wait(1)),
            0..=8 if self.on.shares => Op::Await(self.wait(0)),
            0..=8 => Op::Act(self.act(0)),
            9 if self.chance(20) => Op::Return,
            _ => Op::Await(self.wait(0)),
        }
    }

    fn script(&mut self) -> Script {
        let destructor = self.on.destructors && self.chance(40);
        Script {
            turns: self.pick(&[1, 1, 1, 2, 4]),
            body: self.some(5, Self::op),
            on_drop: if destructor {
                self.some(2, |r| r.act(1))
            } else {
                Vec::new()
            },
        }
    }

    fn seat(&mut self) -> usize {
        if self.on.twins { self.below(2) } else { 0 }
    }

    fn outside(&mut self, steps: &mut Vec<Step>, percent: usize) {
        while self.chance(percent) {
            let act = match self.below(8) {
                0..=1 => self.begin(),
                2..=3 if self.on.bells => Act::Ring(self.below(3)),
                _ => self.act(0),
            };
            let seat = self.seat();
            steps.push(match self.below(8) {
                0 if self.on.remotes => Step::RemoteHandle(seat, self.below(6)),
                1 => Step::Inside(seat, act),
                _ => Step::Outside(seat, act),
            });
        }
    }

    fn frame(&mut self, steps: &mut Vec<Step>) {
        let seat = self.seat();
        let dt = self.dt();
        steps.push(Step::Drive(seat, Drive::Frame(dt)));
        for phase in RUNS {
            self.outside(steps, 20);
            let times = if self.on.skips {
                self.pick(&[0, 1, 1, 1, 1, 1, 1, 2])
            } else {
                1
            };
            for _ in 0..times {
                let drive = if phase == Phase::FixedUpdate {
                    self.steps()
                } else {
                    Drive::Run(phase, self.on.lends && self.chance(60))
                };
                steps.push(Step::Drive(seat, drive));
            }
        }
    }

    fn steps(&mut self) -> Drive {
        if self.on.skips && self.chance(10) {
            return Drive::Run(Phase::FixedUpdate, false);
        }
        Drive::Fixed {
            steps: self.pick(&[1, 2, 5, 20]),
            custom: (!self.on.timed() && self.chance(15)).then_some(Phase::Custom(7)),
            runs: if self.on.skips {
                self.pick(&[0, 1, 1, 1, 1, 2])
            } else {
                1
            },
        }
    }

    /// A chain of coroutines, each of which stops the next when it is stopped.
    fn deep(&mut self, program: &mut Program) {
        let count = 90 + self.below(40);
        program.settings.most += count;
        let long = Own {
            length: Length::Nanos(10 * EIGHTH),
            ..Own::new(rows(Rule::Time(OnClock::Own))[0], None)
        };
        program.scripts.push(Script {
            turns: 1,
            body: vec![Op::Await(Wait::Own(long))],
            on_drop: vec![Act::StopNext],
        });
        let last = program.scripts.len() - 1;
        let at = self.below(program.steps.len());
        let crowd = Act::Crowd(count, last);
        program.steps.insert(at, Step::Outside(0, crowd));
    }
}

/// The program of a seed, without the excluded features.
pub(super) fn program(seed: u64, without: &[String]) -> Program {
    let mut random = framestep_testkit::Random(seed);
    let mut on = Features::choose(without, |percent| random.below(100) < percent as u64);
    // A coroutine must not use a wait of another executor.
    on.moves &= !on.twins;
    on.shares &= !on.twins && !on.moves;
    let any_order = on.moves || on.shares;
    on.destructors &= !any_order;
    // Coroutines in such waits may be polled once more for a wait that they have
    // left, depending on the order within the run.
    for depends in [
        &mut on.joins,
        &mut on.bells,
        &mut on.yields,
        &mut on.crowds,
        &mut on.ends,
        &mut on.asks,
        &mut on.resets,
        &mut on.events,
        &mut on.permits,
    ] {
        *depends &= !any_order;
    }
    // These two count on the time of the polling coroutine.
    on.intervals &= !any_order;
    on.animations &= !any_order;
    // A coroutine that is polled more often in a run makes shared waits sooner.
    on.limits &= !on.shares;
    on.drives &= !on.shares;
    on.panics &= !on.shares;
    // For destructors that start something deep inside others, there is more than
    // one answer.
    on.destructors &= !on.deep;
    on.deep &= !any_order;
    let shared = Vec::new();
    let mut random = Random { random, on, shared };
    random.shared = (0..4).map(|_| random.shared()).collect();
    let mut steps = Vec::new();
    for _ in 0..2 + random.below(3) {
        let (seat, begin) = (random.seat(), random.begin());
        steps.push(Step::Outside(seat, begin));
    }
    random.outside(&mut steps, 40);
    for _ in 0..3 + random.below(4) {
        random.frame(&mut steps);
    }
    let settings = Settings {
        executors: if on.twins { 2 } else { 1 },
        unlimited: random.chance(50),
        polls: on.limits.then(|| 1 + u32::from(random.chance(50))),
        any_order,
        itself: on.panics,
        // The order within a run decides which timer is made first.
        apart: on.pauses && !any_order && random.chance(50),
        // On the game clock, the waits of a custom phase read the step.
        ends_steps: on.timed() || random.chance(50),
        ..Settings::default()
    };
    let mut program = Program {
        settings,
        scripts: random.some(6, Random::script),
        steps,
    };
    if on.deep {
        random.deep(&mut program);
    }
    program
}
