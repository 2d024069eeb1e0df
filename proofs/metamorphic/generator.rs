//! Random programs.

use framestep::Phase;

use framestep_testkit::own::rows;
use framestep_testkit::phases;
use framestep_testkit::waits::{OnClock, Place, Rule};

use super::program::{
    Act, At, ClockAct, How, Length, Mode, On, Op, Own, OwnerAct, Program, Script, Settings, Step,
    UNIT, Wait,
};

/// The runs of a frame, in order.
const RUNS: [Phase; phases::RUNS] = phases::with_custom(7);

/// Names the features of programs. Each program has some of them: a program with all
/// of them rarely tests any feature in depth.
macro_rules! features {
    ($($name:ident: $percent:literal,)*) => {
        #[derive(Clone, Copy)]
        struct Features {
            $($name: bool,)*
        }

        impl Features {
            fn choose(mut chance: impl FnMut(u64) -> bool) -> Self {
                Features { $($name: chance($percent),)* }
            }
        }
    };
}

features! {
    sleepy: 12,
    simple: 15,
    pauses: 60,
    long_pauses: 60,
    groups: 60,
    timers: 85,
    counts: 40,
    fixed: 40,
    clocks: 35,
    owners: 50,
    lends: 15,
    panics: 20,
    events: 60,
    yields: 30,
    joins: 50,
    stops: 45,
    conditions: 40,
    shares: 20,
    destructors: 35,
    skips: 40,
    homes: 50,
    odd: 10,
}

/// A weight, and a function that makes a part of a program at a given depth.
type Maker<T> = (usize, fn(&mut Random, usize) -> T);

struct Random {
    random: framestep_testkit::Random,
    on: Features,
}

impl Random {
    fn below(&mut self, n: usize) -> usize {
        usize::try_from(self.random.below(n as u64)).expect("it is below a `usize`")
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
        // Whole frames have no custom phase, and a frame after a sleep has many steps.
        let sleepy = self.on.sleepy;
        let mut phases = RUNS.to_vec();
        phases.retain(|phase| !sleepy || !matches!(phase, Phase::FixedUpdate | Phase::Custom(_)));
        self.pick(&phases)
    }

    fn at(&mut self) -> At {
        (!self.chance(45)).then(|| self.phase())
    }

    /// The phase of a wait that counts time.
    fn timed_at(&mut self) -> At {
        if self.on.fixed && self.chance(30) {
            return Some(Phase::FixedUpdate);
        }
        self.at()
    }

    fn length(&mut self) -> Length {
        match self.below(60) {
            1 if self.on.odd => Length::Infinite,
            2..=4 if self.on.odd => Length::Negative,
            5..=8 => Length::Nanos(1),
            9..=16 => Length::Nanos(0),
            _ => Length::Nanos(UNIT * (1 + self.below(8) as u64)),
        }
    }

    fn period(&mut self) -> Length {
        Length::Nanos(UNIT * (1 + self.below(3) as u64))
    }

    fn dt(&mut self) -> u64 {
        match self.below(40) {
            0..=1 => UNIT / 8,
            2..=4 => 0,
            5..=7 => 16 * UNIT,
            _ => UNIT * (1 + self.below(4) as u64),
        }
    }

    fn value(&mut self) -> u64 {
        self.below(3) as u64
    }

    fn wait(&mut self, depth: usize) -> Wait {
        let on = self.on;
        let if_on = |on: bool, weight: usize| if on { weight } else { 0 };
        let inner = if_on(depth < 2 && !on.simple, 1);
        // In sleepy programs with pauses, frames that are left out must not count.
        let frames = !on.sleepy || !on.pauses;
        self.weigh(
            depth,
            &[
                (if_on(frames, 3), |r, _| r.own(Rule::NextFrame)),
                (if_on(frames && on.counts, 3), |r, _| r.own(Rule::Frames)),
                (if_on(!on.sleepy && (on.fixed || on.counts), 2), |r, _| {
                    r.own(Rule::Runs)
                }),
                (if_on(frames, 4), |r, _| r.own(Rule::Run)),
                (if_on(on.timers || on.sleepy, 5), |r, _| {
                    r.own(Rule::Time(OnClock::Own))
                }),
                (if_on(on.timers, 1), |r, _| {
                    r.own(Rule::Time(OnClock::Realtime))
                }),
                (if_on(on.clocks, 3), |r, _| {
                    r.own(Rule::Time(OnClock::Given))
                }),
                (if_on(on.clocks, 1), |r, _| {
                    Wait::Point(r.below(4), r.below(16) as u64, r.timed_at())
                }),
                (if_on(!on.sleepy && on.conditions, 4), |r, _| {
                    r.own(Rule::Condition)
                }),
                (if_on(on.joins, 4), |r, _| Wait::Join(r.below(40))),
                (if_on(on.joins, 1), |r, _| Wait::Finished(r.below(40))),
                (if_on(on.events, 8), |r, _| r.event()),
                (if_on(on.yields, 2), |_, _| Wait::Yield),
                (if_on(on.yields, 2), |_, _| Wait::ForeignYield),
                (if_on(frames && on.yields, 1), |_, _| Wait::Checkpoint),
                (if_on(!on.sleepy && on.timers, 2), |r, _| {
                    Wait::Animate(r.period(), r.timed_at())
                }),
                (if_on(on.timers, 2), |r, _| {
                    Wait::Interval(r.period(), 1 + r.below(4), r.timed_at())
                }),
                (if_on(frames && on.counts, 1), |r, _| {
                    Wait::FrameStream(1 + r.below(3), r.at())
                }),
                (if_on(on.clocks, inner), |r, depth| {
                    Wait::On(r.below(4), Box::new(r.wait(depth + 1)))
                }),
                (if_on(on.timers, 2 * inner), |r, depth| {
                    Wait::Timeout(r.period(), r.timed_at(), Box::new(r.wait(depth + 1)))
                }),
                (if_on(on.shares && !on.sleepy, 5 * inner), |r, depth| {
                    Wait::Shared(r.below(4), Box::new(r.wait(depth + 1)))
                }),
                (if_on(on.groups && frames, 6 * inner), |r, depth| {
                    r.several(depth)
                }),
            ],
        )
    }

    /// One of the waits that are due by a rule.
    fn own(&mut self, rule: Rule) -> Wait {
        let mut rows = rows(rule);
        // A frame after a sleep has many steps.
        let on_steps = Place::Always(Phase::FixedUpdate);
        rows.retain(|row| !self.on.sleepy || row.place != on_steps);
        let row = self.pick(&rows);
        let at = match row.place {
            Place::Argument => Some(self.phase()),
            // All steps of a frame read the same realtime.
            Place::InPhase if rule == Rule::Time(OnClock::Realtime) && self.on.sleepy => self.at(),
            Place::InPhase if matches!(rule, Rule::Time(_) | Rule::Condition) => self.timed_at(),
            Place::InPhase => self.at(),
            Place::Home | Place::Always(_) => None,
        };
        Wait::Own(Own {
            row,
            at,
            count: self.below(if rule == Rule::Runs { 5 } else { 4 }) as u64,
            length: self.length(),
            clock: self.below(4),
            flag: (self.below(3), self.chance(70)),
        })
    }

    fn event(&mut self) -> Wait {
        let at = self.below(2);
        match self.below(10) {
            0..=1 => Wait::Signal(at),
            2 => Wait::SignalFor(at, self.value()),
            3 => Wait::Events(at, 1 + self.below(3)),
            4 => Wait::Changed(at),
            5 => Wait::Value(at, self.value()),
            6 => Wait::Changes(at, 1 + self.below(3)),
            7 => Wait::Permit(at),
            8 => Wait::Promise,
            _ => Wait::Bell(at),
        }
    }

    fn several(&mut self, depth: usize) -> Wait {
        let mode = self.pick(&[
            Mode::Select,
            Mode::Select,
            Mode::Race,
            Mode::Join,
            Mode::JoinAll,
            Mode::SelectAll,
            Mode::TheirJoinAll,
            Mode::Unordered,
            Mode::FirstOfUnordered,
        ]);
        Wait::Several(mode, self.some(4, |r| r.wait(depth + 1)))
    }

    fn begin(&mut self) -> Act {
        let home = self.phase();
        let how = if self.on.homes {
            self.pick(&[
                How::Start,
                How::Spawn,
                How::SpawnIn(home),
                How::StartIn(home),
            ])
        } else {
            self.pick(&[How::Start, How::Spawn])
        };
        let on = if self.on.owners && self.chance(40) {
            On::Owner(self.below(6))
        } else {
            On::Here
        };
        Act::Begin(how, on, self.below(6))
    }

    fn owner_act(&mut self) -> OwnerAct {
        let at = self.below(6);
        match self.below(14) {
            0..=3 => OwnerAct::Make(
                self.chance(50).then_some(at),
                (self.on.clocks && self.chance(30)).then(|| self.below(4)),
            ),
            4 => OwnerAct::Drop(at),
            5 => OwnerAct::StopAll(at),
            6..=7 if self.on.pauses => OwnerAct::Pause(at),
            8..=9 if self.on.pauses => OwnerAct::Resume(at),
            10 if self.on.pauses => OwnerAct::Hold(at),
            11 if self.on.pauses => OwnerAct::Release,
            _ => OwnerAct::SetActive(at, self.chance(70)),
        }
    }

    fn clock_act(&mut self) -> ClockAct {
        let at = self.below(4);
        match self.below(10) {
            0..=2 => ClockAct::Child(at),
            3..=4 => ClockAct::Scale(at, self.pick(&[0, 1, 2, 3, 4, 8])),
            5 => ClockAct::Pause(at),
            6 => ClockAct::Resume(at),
            7 => ClockAct::Hold(at),
            8 => ClockAct::Slow(at),
            _ => ClockAct::Release,
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
                (if_on(on.stops, 1), |r, _| Act::StopOnDrop(r.below(40))),
                (if_on(on.pauses, 5), |r, _| Act::Pause(r.below(40))),
                (if_on(on.pauses, 6), |r, _| Act::Resume(r.below(40))),
                (if_on(on.pauses, 1), |_, _| Act::PauseSelf),
                (if_on(on.pauses, 1), |_, _| Act::ResumeSelf),
                (1, |r, _| Act::DropHandle(r.below(40))),
                (if_on(on.owners, 6), |r, _| Act::Owner(r.owner_act())),
                (if_on(on.clocks, 4), |r, _| Act::Clock(r.clock_act())),
                (if_on(on.conditions, 4), |r, _| {
                    Act::Flag(r.below(3), r.chance(60))
                }),
                (if_on(on.events, 3), |r, _| Act::Emit(r.below(2), r.value())),
                (if_on(on.events, 3), |r, _| Act::Set(r.below(2), r.value())),
                (if_on(on.events, 2), |_, _| Act::Answer),
                (if_on(on.events, 2), |_, _| Act::Release),
                (if_on(on.events, 2), |r, _| Act::Ring(r.below(2))),
                (if_on(on.lends && depth < 2, 3), |r, depth| {
                    Act::With(r.some(3, |r| r.act(depth + 1)))
                }),
                (1, |r, _| Act::Look(r.below(40))),
                (if_on(on.panics, 1), |_, _| Act::Panic),
            ],
        )
    }

    fn script(&mut self) -> Script {
        let destructor = self.on.destructors && self.chance(40);
        Script {
            turns: self.pick(&[1, 1, 1, 2, 4]),
            body: self.some(5, |r| match r.below(20) {
                0..=8 => Op::Act(r.act(0)),
                9 if r.chance(20) => Op::Return,
                _ => Op::Wait(r.wait(0)),
            }),
            on_drop: if destructor {
                self.some(2, |r| r.act(1))
            } else {
                Vec::new()
            },
        }
    }

    fn outside(&mut self, steps: &mut Vec<Step>, percent: usize) {
        while self.chance(percent) {
            let act = if self.chance(25) {
                self.begin()
            } else {
                self.act(0)
            };
            steps.push(Step::Act(act));
        }
    }

    /// The host begins a frame and runs the phases itself.
    fn frame(&mut self, steps: &mut Vec<Step>) {
        steps.push(Step::Begin(self.dt()));
        for phase in RUNS {
            self.outside(steps, 20);
            let times = if self.on.skips {
                self.pick(&[0, 1, 1, 1, 1, 1, 1, 2])
            } else {
                1
            };
            for _ in 0..times {
                steps.push(if phase == Phase::FixedUpdate {
                    let runs = if self.on.skips {
                        self.pick(&[0, 1, 1, 1, 2])
                    } else {
                        1
                    };
                    Step::Fixed(self.pick(&[1, 2, 5, 20]), runs)
                } else {
                    Step::Run(phase)
                });
            }
        }
    }
}

/// The program of a seed.
pub(super) fn program(seed: u64) -> Program {
    let mut random = framestep_testkit::Random(seed);
    let mut on = Features::choose(|percent| random.below(100) < percent);
    if on.simple {
        on.pauses = false;
        on.stops = false;
        on.owners = false;
    }
    let mut random = Random { random, on };
    let mut steps = Vec::new();
    for _ in 0..2 + random.below(3) {
        let begin = random.begin();
        steps.push(Step::Act(begin));
    }
    random.outside(&mut steps, 40);
    if on.sleepy {
        for _ in 0..8 + random.below(8) {
            random.outside(&mut steps, 25);
            steps.push(Step::Frame(UNIT));
        }
    } else {
        for _ in 0..3 + random.below(4) {
            random.frame(&mut steps);
        }
    }
    let settings = Settings {
        unlimited: on.sleepy || random.chance(50),
        rooted: random.chance(50),
        sleepy: on.sleepy,
        simple: on.simple,
        shares: on.shares,
        // A host that sleeps does not resume scripts.
        long_pauses: on.sleepy || on.pauses && on.long_pauses,
    };
    Program {
        settings,
        scripts: random.some(6, Random::script),
        steps,
    }
}
