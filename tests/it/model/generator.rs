//! Programs at random.

use framestep::Phase;

use crate::support;

use super::program::{Act, ClockAct, How, Length, Op, OwnerAct, Program, Script, Step, Wait};

/// Makes the parts of programs.
struct Random(support::Random);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        usize::try_from(self.0.below(n as u64)).expect("it is below a `usize`")
    }

    fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }

    fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len())]
    }

    /// From one up to `most`, in a list.
    fn some<T>(&mut self, most: usize, mut make: impl FnMut(&mut Self) -> T) -> Vec<T> {
        let count = 1 + self.below(most);
        (0..count).map(|_| make(self)).collect()
    }

    fn phase(&mut self) -> Phase {
        self.pick(&[
            Phase::Update,
            Phase::Update,
            Phase::Update,
            Phase::LateUpdate,
            Phase::EarlyUpdate,
            Phase::EndOfFrame,
            Phase::FixedUpdate,
            Phase::Custom(7),
        ])
    }

    fn length(&mut self) -> Length {
        match self.below(60) {
            0 => Length::NotANumber,
            1 => Length::Infinite,
            2 => Length::Negative,
            3..=6 => Length::Nanos(1),
            7..=14 => Length::Nanos(0),
            _ => Length::Nanos(125_000_000 * (1 + self.below(8) as u64)),
        }
    }

    fn dt(&mut self) -> Length {
        match self.below(60) {
            0 => Length::NotANumber,
            1 => Length::Negative,
            2 => Length::Nanos(1_000_000_000_000),
            3..=4 => Length::Nanos(1),
            5..=10 => Length::Nanos(0),
            11..=14 => Length::Nanos(2_000_000_000),
            _ => Length::Nanos(125_000_000 * (1 + self.below(4) as u64)),
        }
    }

    fn wait(&mut self) -> Wait {
        let phase = self.phase();
        match self.below(27) {
            0..=3 => Wait::NextFrame(phase),
            4..=5 => Wait::Frames(self.below(4) as u64, phase),
            6..=9 => Wait::Seconds(self.length(), phase),
            10 => Wait::Realtime(self.length(), phase),
            11..=12 => Wait::OnClock(self.below(4), self.length(), phase),
            13 => Wait::Until(self.below(3), self.chance(70), phase),
            14 => Wait::While(self.below(3), self.chance(30), phase),
            15..=16 => Wait::InPhase(phase),
            17 => Wait::FixedUpdate,
            18 => Wait::EndOfFrame,
            19..=20 => Wait::Join(self.below(40)),
            21 => Wait::Finished(self.below(40)),
            22..=25 => Wait::Bell(self.below(3)),
            _ => self.pick(&[Wait::Yield, Wait::Bell(0)]),
        }
    }

    fn begin(&mut self) -> Act {
        let phase = self.phase();
        Act::Begin {
            how: self.pick(&[
                How::Start,
                How::Start,
                How::Spawn,
                How::Spawn,
                How::SpawnIn(phase),
            ]),
            owner: self.chance(30).then(|| self.below(6)),
            script: self.below(6),
        }
    }

    fn owner_act(&mut self) -> OwnerAct {
        let at = self.below(6);
        match self.below(12) {
            0..=3 => OwnerAct::Make {
                below: self.chance(50).then_some(at),
                clock: self.chance(30).then(|| self.below(4)),
            },
            4 => OwnerAct::Drop(at),
            5 => OwnerAct::StopAll(at),
            6..=7 => OwnerAct::Pause(at),
            8..=9 => OwnerAct::Resume(at),
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

    fn act(&mut self, depth: usize) -> Act {
        let at = self.below(40);
        match self.below(40) {
            0..=11 => self.begin(),
            12..=14 => Act::Stop(at),
            15 => Act::StopSelf,
            16..=17 => Act::Pause(at),
            18 => Act::PauseSelf,
            19..=21 => Act::Resume(at),
            22 => Act::StopOnDrop(at),
            23 => Act::DropHandle(at),
            24..=26 => Act::Flag(at, self.chance(60)),
            27..=30 => Act::Ring(at),
            31..=34 => Act::Owner(self.owner_act()),
            35..=36 => Act::Clock(self.clock_act()),
            37..=38 if depth < 2 => Act::With(self.some(3, |random| random.act(depth + 1))),
            _ => Act::Panic,
        }
    }

    fn op(&mut self) -> Op {
        match self.below(20) {
            0..=7 => Op::Act(self.act(0)),
            8..=14 => Op::Await(self.wait()),
            15 => Op::All(self.some(3, Self::wait)),
            16 => Op::First(self.some(3, |random| Wait::Bell(random.below(3)))),
            17 => Op::Muffled(self.some(2, Self::wait)),
            18 => Op::First(self.some(3, Self::wait)),
            _ => self.pick_op(),
        }
    }

    /// What is rare.
    fn pick_op(&mut self) -> Op {
        if self.chance(20) {
            Op::Return
        } else {
            Op::First(self.some(3, Self::wait))
        }
    }

    fn script(&mut self) -> Script {
        Script {
            turns: self.pick(&[1, 1, 1, 2, 4]),
            body: self.some(5, Self::op),
            on_drop: if self.chance(25) {
                self.some(2, |random| random.act(1))
            } else {
                Vec::new()
            },
        }
    }

    fn outside(&mut self, steps: &mut Vec<Step>, percent: usize) {
        while self.chance(percent) {
            let act = match self.below(8) {
                0..=1 => self.begin(),
                2..=4 => Act::Ring(self.below(3)),
                _ => self.act(0),
            };
            steps.push(match self.below(8) {
                0 => Step::Remote(self.below(6)),
                1 => Step::Inside(act),
                _ => Step::Outside(act),
            });
        }
    }

    fn frame(&mut self, steps: &mut Vec<Step>) {
        steps.push(Step::Frame(self.dt()));
        for phase in [
            Phase::EarlyUpdate,
            Phase::FixedUpdate,
            Phase::Update,
            Phase::Custom(7),
            Phase::LateUpdate,
            Phase::EndOfFrame,
        ] {
            self.outside(steps, 20);
            // Now and then one is left out, or run twice.
            for _ in 0..self.pick(&[0, 1, 1, 1, 1, 1, 1, 2]) {
                if phase == Phase::FixedUpdate && self.chance(90) {
                    let custom = self.chance(10).then_some(Phase::Custom(7));
                    steps.push(Step::Fixed(custom));
                } else {
                    steps.push(Step::Run(phase, self.chance(50)));
                }
            }
        }
    }
}

/// The program of a seed.
pub(super) fn program(seed: u64) -> Program {
    let mut random = Random(support::Random::new(seed));
    let mut steps = Vec::new();
    for _ in 0..2 + random.below(3) {
        steps.push(Step::Outside(random.begin()));
    }
    random.outside(&mut steps, 40);
    for _ in 0..3 + random.below(4) {
        random.frame(&mut steps);
    }
    Program {
        scripts: random.some(6, Random::script),
        steps,
        unlimited: random.chance(50),
    }
}
