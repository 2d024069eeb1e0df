//! Random programs.

mod waits;

use std::collections::BTreeSet;

use framestep::Phase;

use super::features::{Features, Judge};
use super::language::{
    Act, At, ClockAct, Drive, Hear, How, Mode, On, Op, OwnerAct, Program, Script, Settings, Step,
    To, UNIT, Wait,
};
use super::own::{Length, Own, rows};
use crate::phases;
use crate::waits::{OnClock, Place, Rule};

/// The runs of a frame, in order.
const RUNS: [Phase; phases::RUNS] = phases::with_custom(7);
/// The first clock is the game clock.
const GAME: usize = 0;

/// A weight, and a function that makes a part of a program at a given depth.
type Maker<T> = (usize, fn(&mut Random, usize) -> T);

/// Makes the parts of programs.
struct Random {
    random: crate::Random,
    on: Features,
    judge: Judge,
    /// The waits that coroutines share, by number, if they must not depend on the coroutine.
    shared: Vec<Wait>,
}

fn if_on(on: bool, weight: usize) -> usize {
    if on { weight } else { 0 }
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

    /// The reference does not know the order in a run.
    fn any_order(&self) -> bool {
        self.judge == Judge::Reference && (self.on.moves || self.on.shares)
    }

    fn phase(&mut self) -> Phase {
        if self.chance(25) {
            return Phase::Update;
        }
        // Whole frames have no custom phase, and a frame after a sleep has many steps.
        let sleepy = self.on.sleepy;
        let mut phases = RUNS.to_vec();
        phases.retain(|phase| !sleepy || !matches!(phase, Phase::FixedUpdate | Phase::Custom(_)));
        self.pick(&phases)
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
        if self.any_order() && self.on.shares {
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
            _ => Length::Nanos(UNIT * (1 + self.below(8) as u64)),
        }
    }

    /// A length that is not NaN.
    fn number(&mut self) -> Length {
        match self.length() {
            Length::NotANumber => Length::Infinite,
            length => length,
        }
    }

    /// A length that the few frames of a program often contain.
    fn short(&mut self) -> Length {
        if self.chance(20) {
            return self.number();
        }
        Length::Nanos(UNIT * self.below(4) as u64)
    }

    fn period(&mut self) -> Length {
        Length::Nanos(UNIT * (1 + self.below(3) as u64))
    }

    fn dt(&mut self) -> Length {
        match self.below(60) {
            0 if self.on.odd => Length::NotANumber,
            1 if self.on.odd => Length::Negative,
            2 if self.on.odd => Length::Nanos(8_000 * UNIT),
            3..=4 => Length::Nanos(UNIT / 8),
            5..=10 => Length::Nanos(0),
            11..=14 => Length::Nanos(16 * UNIT),
            _ => Length::Nanos(UNIT * (1 + self.below(4) as u64)),
        }
    }

    fn begin(&mut self) -> Act {
        let home = self.home();
        let how = if self.on.homes {
            self.pick(&[
                How::Start,
                How::Start,
                How::Spawn,
                How::Spawn,
                How::SpawnIn(home),
                How::StartIn(home),
            ])
        } else {
            self.pick(&[How::Start, How::Spawn])
        };
        let on = if self.on.owners && self.chance(if self.on.requests { 60 } else { 40 }) {
            On::Owner(self.below(6))
        } else if self.on.twins && self.chance(30) {
            On::OtherExecutor
        } else {
            On::Here
        };
        Act::Begin(how, on, self.below(6))
    }

    fn owner(&mut self) -> OwnerAct {
        let below = self.chance(50).then(|| self.below(6));
        let clock = self.on.clocks && self.chance(40);
        OwnerAct::Make(below, clock.then(|| self.below(4)))
    }

    fn owner_act(&mut self) -> OwnerAct {
        let on = self.on;
        self.weigh(
            0,
            &[
                (4, |r, _| r.owner()),
                (1, |r, _| OwnerAct::Drop(r.below(6))),
                (1, |r, _| OwnerAct::StopAll(r.below(6))),
                (if_on(on.pauses, 3), |r, _| OwnerAct::Pause(r.below(6))),
                (if_on(on.pauses, 3), |r, _| OwnerAct::Resume(r.below(6))),
                (if_on(on.pauses && on.guards, 1), |r, _| {
                    OwnerAct::Hold(r.below(6))
                }),
                (if_on(on.pauses && on.guards, 1), |_, _| OwnerAct::Release),
                (2, |r, _| OwnerAct::SetActive(r.below(6), r.chance(60))),
            ],
        )
    }

    fn clock_act(&mut self) -> ClockAct {
        let guards = self.on.guards;
        self.weigh(
            0,
            &[
                (3, |r, _| ClockAct::Child(r.below(4))),
                (3, |r, _| {
                    ClockAct::Scale(r.below(4), r.pick(&[0, 1, 2, 3, 4, 8]))
                }),
                (1, |r, _| ClockAct::Pause(r.below(4))),
                (1, |r, _| ClockAct::Resume(r.below(4))),
                (if_on(guards, 1), |r, _| ClockAct::Hold(r.below(4))),
                (if_on(guards, 1), |r, _| ClockAct::Slow(r.below(4))),
                (if_on(guards, 1), |_, _| ClockAct::Release),
            ],
        )
    }

    fn drive(&mut self) -> Drive {
        match self.below(4) {
            0 => Drive::Begin(self.dt()),
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
        self.weigh(
            depth,
            &[
                (8, |r, _| r.begin()),
                (if_on(on.stops, 4), |r, _| Act::Stop(r.below(40))),
                (if_on(on.stops, 1), |_, _| Act::StopSelf),
                (if_on(on.pauses, 6), |r, _| Act::Pause(r.below(40))),
                (if_on(on.pauses, 1), |_, _| Act::PauseSelf),
                (if_on(on.pauses, 7), |r, _| Act::Resume(r.below(40))),
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
                (if_on(on.values, 3), |r, _| {
                    Act::Set(r.below(2), r.below(3) as u64)
                }),
                (if_on(on.values, 2), |_, _| Act::KeepPromise),
                (if_on(on.permits, 2), |r, _| {
                    Act::AddPermits(r.below(2), r.below(2))
                }),
                (if_on(on.permits, 2), |r, _| {
                    Act::SetPermits(r.below(2), r.below(5))
                }),
                (if_on(on.permits, 3), |_, _| Act::ReturnPermits),
                (if_on(on.resets, 6), |r, _| {
                    let length = r.number();
                    Act::Reset(r.below(3), length)
                }),
                (if_on(on.asks, 2), |_, _| Act::IsStopRequested),
                (if_on(on.asks && on.owners, 3), |r, _| {
                    Act::Owner(OwnerAct::RequestStop(r.below(6)))
                }),
                (if_on(on.requests && on.owners, 4), |r, _| {
                    let length = r.short();
                    Act::Owner(OwnerAct::StopWithin(r.below(6), length))
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
            0..=8 if self.any_order() => Op::Await(self.wait(0)),
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
                0 if self.on.remotes => Step::Remote(seat, self.below(6)),
                1 => Step::Inside(seat, act),
                _ => Step::Outside(seat, act),
            });
        }
    }

    fn frame(&mut self, steps: &mut Vec<Step>) {
        let seat = self.seat();
        let dt = self.dt();
        if self.chance(10) {
            steps.push(Step::Drive(seat, Drive::Frame(dt)));
            return self.outside(steps, 20);
        }
        steps.push(Step::Drive(seat, Drive::Begin(dt)));
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
            length: Length::Nanos(10 * UNIT),
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

    /// Clocks and owners to begin with: without them, most acts on them do nothing.
    fn places(&mut self) -> Vec<Step> {
        let mut acts = Vec::new();
        if self.on.clocks {
            acts.extend((0..self.below(3)).map(|_| Act::Clock(ClockAct::Child(0))));
            if self.chance(50) {
                let quarters = self.pick(&[1, 2, 8]);
                acts.push(Act::Clock(ClockAct::Scale(1, quarters)));
            }
        }
        if self.on.owners {
            acts.extend((0..=self.below(4)).map(|_| Act::Owner(self.owner())));
        }
        let steps = acts.into_iter();
        steps.map(|act| Step::Outside(self.seat(), act)).collect()
    }

    fn program(&mut self) -> Program {
        let mut steps = self.places();
        for _ in 0..2 + self.below(3) {
            let (seat, begin) = (self.seat(), self.begin());
            steps.push(Step::Outside(seat, begin));
        }
        self.outside(&mut steps, 40);
        if self.on.sleepy {
            for _ in 0..8 + self.below(8) {
                self.outside(&mut steps, 25);
                steps.push(Step::Drive(0, Drive::Frame(Length::Nanos(UNIT))));
            }
        } else {
            for _ in 0..3 + self.below(4) {
                self.frame(&mut steps);
            }
        }
        let on = self.on;
        let settings = Settings {
            executors: if on.twins { 2 } else { 1 },
            unlimited: on.sleepy || self.chance(50),
            polls: on.limits.then(|| 1 + u32::from(self.chance(50))),
            any_order: self.any_order(),
            // It would be another script that awaits it, in some of the variants.
            itself: on.panics && self.judge == Judge::Reference,
            // The order within a run decides which timer is made first. After a pause, the order
            // of equal ones is open: docs/contract.md#rule-8-delayed-timers
            apart: on.pauses
                && !self.any_order()
                && (self.judge == Judge::Itself || self.chance(50)),
            // On the game clock, the waits of a custom phase read the step.
            ends_steps: on.timed() || self.chance(50),
            rooted: on.rooted,
            sleepy: on.sleepy,
            simple: on.simple,
            shares: on.shares,
            pauses: on.pauses,
            requests: on.requests,
            // A host that sleeps does not resume scripts.
            long_pauses: on.sleepy || on.pauses && on.long_pauses,
            ..Settings::default()
        };
        let mut program = Program {
            settings,
            scripts: self.some(6, Random::script),
            steps,
        };
        if on.deep {
            self.deep(&mut program);
        }
        program
    }
}

/// Leaves out what does not go together, and what the judge cannot judge.
fn without_conflicts(judge: Judge, on: &mut Features) {
    if on.simple {
        on.pauses = false;
        on.stops = false;
        on.owners = false;
    }
    // A coroutine must not use a wait of another executor.
    on.moves &= !on.twins;
    on.shares &= !on.twins && !on.moves;
    // For destructors that start something deep inside others, there is more than one answer.
    on.destructors &= !on.deep;
    let any_order = judge == Judge::Reference && (on.moves || on.shares);
    if !any_order {
        return;
    }
    on.destructors = false;
    // Coroutines in such waits may be polled once more for a wait that they have left,
    // depending on the order within the run.
    for depends in [
        &mut on.joins,
        &mut on.bells,
        &mut on.yields,
        &mut on.crowds,
        &mut on.ends,
        &mut on.asks,
        &mut on.requests,
        &mut on.resets,
        &mut on.events,
        &mut on.permits,
    ] {
        *depends = false;
    }
    // These count on the time of the polling coroutine.
    on.intervals = false;
    on.animations = false;
    on.shown = false;
    // A coroutine that is polled more often in a run makes shared waits sooner.
    on.limits &= !on.shares;
    on.drives &= !on.shares;
    on.panics &= !on.shares;
    on.deep = false;
}

/// The names of everything that the programs of a judge are made of.
pub fn words(judge: Judge, seeds: std::ops::Range<u64>) -> BTreeSet<String> {
    let mut words = BTreeSet::new();
    for seed in seeds {
        let program = program(judge, seed, &[]);
        let text = format!("{:?} {:?}", program.scripts, program.steps);
        let parts = text.split(|c: char| !c.is_alphanumeric() && c != '_');
        let names = parts.filter(|part| part.chars().next().is_some_and(char::is_alphabetic));
        words.extend(names.map(str::to_owned));
    }
    words
}

/// The program of a seed, for a judge, without the excluded features.
pub fn program(judge: Judge, seed: u64, without: &[String]) -> Program {
    let mut random = crate::Random(seed);
    let mut on = Features::choose(judge, without, |percent| random.below(100) < percent as u64);
    without_conflicts(judge, &mut on);
    let mut random = Random {
        random,
        on,
        judge,
        shared: Vec::new(),
    };
    random.shared = (0..4).map(|_| random.shared()).collect();
    random.program()
}
