//! A game of durable scripts that is saved at a dozen moments, some of them in the middle of a
//! frame. A save holds everything, so the rest of the game is a function of the file.

use std::time::Duration;

use framestep_durable::prelude::*;

use crate::weather::{Sky, warning, weather};

const BELL: Signal<f32> = signal("bell");
const HEAT: Watch<f64> = watch("heat", Default::default);

/// How many parts a frame has between which the game may be saved.
const PARTS: u32 = 7;
/// The game ends here.
const END: u32 = 150 * PARTS;
/// When the game is saved. Also at its end.
const SAVES: [u32; 12] = [0, 17, 61, 111, 160, 214, 330, 415, 527, 640, 753, 890];

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct World {
    /// How many parts of frames have passed.
    moment: u32,
    pub(crate) log: Vec<String>,
    gold: u64,
    pub(crate) light: f32,
    pub(crate) speed: f64,
    pub(crate) sky: Sky,
    guard: OwnerId,
    slow: ClockId,
}

fn log(what: impl Into<String>) {
    let (what, now) = (what.into(), time());
    with(move |world: &mut World| {
        let phase = now
            .phase
            .map_or_else(String::new, |phase| phase.to_string());
        world.log.push(format!("{} {phase} {what}", now.frame));
    });
}

/// Digs, round after round, with numbers of all kinds in its state.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Miner {
    name: String,
    round: usize,
    depth: f64,
    pace: f32,
    debt: i64,
}

impl DurableScript for Miner {
    const NAME: &'static str = "miner";
    type Output = f64;

    async fn run(self) -> Chapter<Self> {
        let Miner {
            name,
            round,
            depth,
            pace,
            debt,
        } = self;
        wait_seconds(0.1 + f64::from(pace) / 3.0).await;
        let gold = with(move |world: &mut World| {
            world.gold += u64::from(pace.to_bits() % 7) << 33;
            world.speed = (world.speed + 1.0 / 3.0).sqrt();
            world.gold
        });
        let depth = (depth + time().elapsed.as_secs_f64()).sqrt();
        log(format!(
            "{name} {round}: {gold} gold at {depth}, debt {debt}"
        ));
        if round == 9 {
            return Chapter::Done(depth);
        }
        Chapter::Next(Miner {
            name,
            round: round + 1,
            depth,
            pace: pace * 1.1 + 0.01,
            debt: debt - 0x1_2345_6789,
        })
    }
}

/// A light that fades in and out, and ticks.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Lamp {
    missed: u8,
}

impl DurableScript for Lamp {
    const NAME: &'static str = "lamp";
    type Output = ();

    async fn run(self) -> Chapter<Self> {
        let missed = match self.missed {
            0 => MissedTicks::Burst,
            1 => MissedTicks::Skip,
            _ => MissedTicks::Delay,
        };
        animate(0.3, |t| with(|world: &mut World| world.light = t * t / 3.0)).await;
        let mut ticks = interval(0.07).missed_ticks(missed);
        for _ in 0..5 {
            let tick = ticks.tick().await;
            log(format!("{tick:?}"));
        }
        let slow = with(|world: &mut World| world.slow);
        slow.clock().wait_seconds(0.05).await;
        animate(0.2, |t| with(|world: &mut World| world.light *= 1.0 - t)).await;
        end_of_frame().await;
        Chapter::Next(Lamp {
            missed: (self.missed + 1) % 3,
        })
    }
}

/// Listens for signals, values and answers.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Alarm {
    least: f64,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
struct MayPass {
    weight: f32,
}

impl Request for MayPass {
    const NAME: &'static str = "may pass";
    type Answer = Option<f64>;
}

impl DurableScript for Alarm {
    const NAME: &'static str = "watch";
    type Output = ();

    async fn run(self) -> Chapter<Self> {
        let heard = timeout(0.9, BELL.wait()).await;
        log(format!("heard {heard:?}"));
        if let Ok(weight) = heard {
            let answer = ask(move || MayPass { weight }).await;
            log(format!("may pass: {answer:?}"));
        }
        let least = self.least;
        let first = select! {
            heat = HEAT.wait_for(move |heat| *heat >= least) => format!("heat {heat}"),
            _ = wait_until(|| with_ref(|world: &World| world.light > 0.3)) => "light".to_owned(),
            _ = wait_seconds_realtime(1.5) => "nothing".to_owned(),
        };
        log(first);
        HEAT.set(HEAT.get() / 7.0);
        Chapter::Next(Alarm {
            least: least * 1.25,
        })
    }
}

/// Has children, and waits for them.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Parent {
    round: u32,
}

impl DurableScript for Parent {
    const NAME: &'static str = "parent";
    type Output = ();

    async fn run(self) -> Chapter<Self> {
        let round = self.round;
        let child = move |number: u32| Physics {
            steps: 3 + number,
            position: 0.0,
            speed: 0.1,
        };
        let _left = defer(move |world: &mut World| world.log.push(format!("left {round}")));
        let ended = join!(start_in(Phase::FixedUpdate, child(round)), spawn(child(1)));
        log(format!("joined {ended:?}"));
        let guard = with(|world: &mut World| world.guard);
        let first = guard.start(child(2));
        let id = first.id();
        let ended = join!(first, async {
            wait_seconds(0.12).await;
            stop(id)
        });
        log(format!("stopped {ended:?}"));
        join_all((1..4).map(wait_frames)).await;
        in_phase(Phase::Custom(3)).await;
        Chapter::Next(Parent { round: round + 1 })
    }
}

/// Moves in fixed steps.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Physics {
    steps: u32,
    position: f64,
    speed: f32,
}

impl DurableScript for Physics {
    const NAME: &'static str = "physics";
    type Output = (f64, f32);

    async fn run(self) -> Chapter<Self> {
        let Physics {
            steps,
            mut position,
            mut speed,
        } = self;
        for _ in 0..steps {
            fixed_update().await;
            speed = speed * 0.97 + 0.013;
            position += f64::from(speed) * 0.02;
        }
        wait_steps(2).await;
        Chapter::Done((position, speed))
    }
}

fn registry() -> Registry {
    Registry::new()
        .with::<Miner>()
        .with::<Lamp>()
        .with::<Alarm>()
        .with::<Parent>()
        .with::<Physics>()
        .script(weather)
        .script(warning)
}

/// The game under way.
pub struct Play {
    runtime: Runtime,
    world: World,
}

impl Play {
    /// The game at its beginning.
    #[must_use]
    pub fn new() -> Self {
        let mut runtime = Runtime::new(registry());
        let slow = runtime.enter(|| ClockId::GAME.child());
        runtime.enter(|| slow.clock()).set_scale(0.7);
        let guard = runtime.enter(|| owner_on(slow));
        let mut world = World {
            moment: 0,
            log: Vec::new(),
            gold: 0,
            light: 0.0,
            speed: 0.0,
            sky: Sky::default(),
            guard,
            slow,
        };
        runtime.lend(&mut world, |runtime| {
            for (name, pace) in [("Anna", 0.3), ("Ben", 0.7)] {
                let miner = Miner {
                    name: name.into(),
                    round: 0,
                    depth: 0.0,
                    pace,
                    debt: 5,
                };
                runtime.enter(|| guard.start(miner)).detach();
            }
            runtime.start(Lamp { missed: 0 }).detach();
            runtime.start(Alarm { least: 1.5 }).detach();
            runtime.spawn(Parent { round: 0 }).detach();
            let weather = weather(0, Default::default(), Default::default(), 0.3);
            runtime.start(weather).detach();
            runtime.start(warning(0.0)).detach();
        });
        Play { runtime, world }
    }

    /// Loads a save.
    ///
    /// # Errors
    ///
    /// If it is none.
    pub fn load(file: &[u8]) -> Result<Self, RestoreError> {
        let (scripts, world) = SaveState::from_bytes_with(file)?;
        let mut runtime = Runtime::new(registry());
        runtime.restore(&scripts, Policy::Fail)?;
        Ok(Play { runtime, world })
    }

    /// Saves the game.
    ///
    /// # Panics
    ///
    /// If the scripts are not durable.
    #[must_use]
    pub fn save(&self) -> Vec<u8> {
        let scripts = self.runtime.save().expect("all scripts are durable");
        scripts.to_bytes_with(&self.world)
    }

    /// Plays on to the next moment at which the game is saved. `false` if it has ended.
    pub fn play_on(&mut self) -> bool {
        if self.world.moment == END {
            return false;
        }
        self.advance();
        while self.world.moment < END && !SAVES.contains(&self.world.moment) {
            self.advance();
        }
        true
    }

    /// Does a part of a frame.
    fn advance(&mut self) {
        let (frame, part) = (self.world.moment / PARTS, self.world.moment % PARTS);
        self.world.moment += 1;
        if part == 0 && frame % 10 == 0 {
            let scripts = self.runtime.save_state().expect("all scripts are durable");
            let checksum = scripts.checksum_with(&self.world);
            self.world.log.push(format!("checksum {checksum:016x}"));
        }
        let phase = match part {
            0 => {
                self.runtime.begin_frame(length(frame));
                return self.act(frame);
            }
            1 => Phase::EarlyUpdate,
            2 => {
                while self.runtime.begin_fixed_step() {
                    self.run(Phase::FixedUpdate);
                }
                return;
            }
            3 => Phase::Update,
            4 => Phase::LateUpdate,
            5 => Phase::Custom(3),
            _ => Phase::EndOfFrame,
        };
        self.run(phase);
    }

    fn run(&mut self, phase: Phase) {
        self.runtime
            .lend(&mut self.world, |runtime| runtime.run_phase(phase));
    }

    /// What the player and the game do besides.
    fn act(&mut self, frame: u32) {
        let Play { runtime, world } = self;
        for (id, MayPass { weight }) in runtime.requests() {
            let answer = (weight > 0.5).then(|| f64::from(weight).sqrt());
            runtime.answer(id, &answer);
        }
        match frame {
            20 | 45 | 90 => runtime.named(&BELL).emit(1.0 / world.light.max(0.1)),
            30 => drop(runtime.enter(|| ClockId::GAME.clock()).pause()),
            38 => drop(runtime.enter(|| ClockId::GAME.clock()).resume()),
            50 => drop(runtime.enter(|| world.guard.pause())),
            63 => drop(runtime.enter(|| world.guard.resume())),
            70 => runtime.enter(|| ClockId::GAME.clock()).set_scale(1.37),
            80 => runtime.enter(|| world.slow.clock()).set_scale(1.0 / 3.0),
            25 | 60 | 100 | 120 => {
                let heat: f64 = runtime.named(&HEAT).get() + world.speed + 1.0;
                runtime.named(&HEAT).set(heat);
            }
            _ => {}
        }
    }
}

impl Default for Play {
    fn default() -> Self {
        Self::new()
    }
}

/// How long a frame is: no round number, and some are long.
fn length(frame: u32) -> Duration {
    let mixed = (frame + 1).wrapping_mul(0x9E37_79B9) >> 12;
    Duration::from_nanos(u64::from(if frame % 29 == 28 {
        250_000_000
    } else {
        mixed * 37
    }))
}
