//! A game and its twins: loaded from a file or rolled back, they continue like the game itself.

use std::fmt::Debug;

use framestep_durable::prelude::*;

use framestep_testkit::phases::{RUNS, with_custom};

/// A game that is saved, verified, loaded and rolled back between all of its moments.
pub(crate) struct Game<W> {
    /// Makes a runtime without scripts.
    pub(crate) blank: fn() -> Runtime,
    /// Begins the game.
    pub(crate) begin: fn(&mut Runtime, &mut W),
    /// What the host does at a moment: a frame with all phases, or one phase.
    pub(crate) frame: fn(u32, &mut Runtime, &mut W),
    pub(crate) frames: u32,
}

/// The game as it was before each moment, and at its end.
struct Past<W> {
    worlds: Vec<W>,
    saves: Vec<SaveState>,
}

fn checksum(runtime: &Runtime) -> u64 {
    let checksum = runtime.checksum().unwrap();
    assert_eq!(checksum, runtime.save_state().unwrap().checksum());
    checksum
}

impl<W: Clone + Default + Debug + PartialEq + 'static> Game<W> {
    fn begun(&self) -> (Runtime, W) {
        let (mut runtime, mut world) = ((self.blank)(), W::default());
        (self.begin)(&mut runtime, &mut world);
        (runtime, world)
    }

    /// Plays to the end. Returns the runtime and the world.
    pub(crate) fn play(&self) -> (Runtime, W) {
        let (mut runtime, mut world) = self.begun();
        for frame in 0..self.frames {
            (self.frame)(frame, &mut runtime, &mut world);
        }
        (runtime, world)
    }

    /// Plays from moment `from` on, and compares each moment before `to` with the past.
    #[track_caller]
    fn go_on(&self, past: &Past<W>, runtime: &mut Runtime, from: u32, to: u32, how: &str) {
        let at = |moment: u32| past.saves[moment as usize].checksum();
        assert_eq!(checksum(runtime), at(from), "{how} {from}");
        let mut world = past.worlds[from as usize].clone();
        for frame in from..to.min(self.frames) {
            (self.frame)(frame, runtime, &mut world);
            let then = &past.worlds[frame as usize + 1];
            assert_eq!(world, *then, "{how} {from}, in {frame}");
            assert_eq!(
                checksum(runtime),
                at(frame + 1),
                "{how} {from}, after {frame}"
            );
        }
    }

    fn loaded(&self, save: &SaveState) -> Runtime {
        let mut twin = (self.blank)();
        let save = SaveState::from_bytes(&save.to_bytes()).unwrap();
        let restored = twin.restore(&save, Policy::Fail).unwrap();
        assert!(restored.restarted.is_empty() && restored.dropped.is_empty());
        twin
    }

    /// Plays, and verifies, saves and takes a save state before each moment.
    fn past(&self) -> (Runtime, Past<W>) {
        let (mut runtime, mut world) = self.begun();
        let mut past = Past {
            worlds: Vec::new(),
            saves: Vec::new(),
        };
        for frame in 0..=self.frames {
            let save = runtime.save_state().unwrap();
            runtime.verify().unwrap();
            assert_eq!(runtime.save().unwrap().to_bytes(), save.to_bytes());
            past.worlds.push(world.clone());
            past.saves.push(save);
            if frame < self.frames {
                (self.frame)(frame, &mut runtime, &mut world);
            }
        }
        (runtime, past)
    }

    /// Verifies, saves, loads and rolls back the game at each moment, and compares all that
    /// follows. Returns the world at the end.
    #[track_caller]
    pub(crate) fn assert_like_its_twin(&self) -> W {
        let (undisturbed, end) = self.play();
        let (mut runtime, past) = self.past();
        assert_eq!(past.worlds.last(), Some(&end), "saves disturb nothing");
        let last = past.saves.last().unwrap().checksum();
        assert_eq!(checksum(&undisturbed), last);

        // Backwards, then forwards, to moments that are later than the present one.
        for (count, moment) in (0..=self.frames).rev().chain(0..=self.frames).enumerate() {
            let save = &past.saves[moment as usize];
            let then = &past.worlds[moment as usize];
            let mut world = then.clone();
            runtime.lend(&mut world, |runtime| runtime.rollback(save).unwrap());
            assert_eq!(world, *then, "a rollback to {moment} changes nothing");
            let to = moment + 1 + count as u32 % 6;
            self.go_on(&past, &mut runtime, moment, to, "rolled back to");
        }
        for moment in 0..=self.frames {
            let mut twin = self.loaded(&past.saves[moment as usize]);
            // To compare all that follows would take quadratic time.
            let to = if moment % 4 == 0 {
                self.frames
            } else {
                moment + 10
            };
            self.go_on(&past, &mut twin, moment, to, "loaded at");
        }
        // From file to file.
        let mut runtime = self.begun().0;
        for moment in 0..self.frames {
            runtime = self.loaded(&runtime.save_state().unwrap());
            self.go_on(&past, &mut runtime, moment, moment + 1, "from file to file");
        }
        end
    }
}

/// A runtime in which a panic ends only its script, and nothing is printed.
pub(crate) fn quiet(registry: Registry) -> Runtime {
    let builder = framestep::Executor::builder()
        .fixed_delta(0.04)
        .propagate_panics(false);
    let runtime = Runtime::with(builder, registry);
    runtime.executor().on_report(|_| ());
    runtime
}

/// The moments of a frame: its begin, three fixed steps at most, and its other phases.
pub(crate) const MOMENTS: u32 = 4 + RUNS as u32 - 1;

/// The phase of a moment after the fixed steps.
pub(crate) fn phase_at(moment: u32) -> Phase {
    let phases = with_custom(1).into_iter();
    let mut others = phases.filter(|phase| *phase != Phase::FixedUpdate);
    others
        .nth(moment as usize - 4)
        .expect("a moment of a frame")
}

/// One moment of a frame. The lengths of frames differ, and some have no fixed step.
pub(crate) fn moment<W: 'static>(moment: u32, runtime: &mut Runtime, world: &mut W) {
    let dts = [0.1, 0.0, 0.3, 0.04, 0.05, 1.0 / 3.0, 0.1, 0.2, 0.01];
    let (frame, at) = (moment / MOMENTS, moment % MOMENTS);
    match at {
        0 => runtime.begin_frame(dts[frame as usize % dts.len()]),
        1..=3 => {
            if runtime.begin_fixed_step() {
                runtime.lend(world, |runtime| runtime.run_phase(Phase::FixedUpdate));
            }
        }
        at => {
            let phase = phase_at(at);
            runtime.lend(world, |runtime| runtime.run_phase(phase));
        }
    }
}

/// What scripts did, with the time at which they did it.
pub(crate) type Log = Vec<String>;

pub(crate) fn log(what: impl Into<String>) {
    let (what, now) = (what.into(), time());
    with(move |log: &mut Log| {
        let phase = now
            .phase
            .map_or_else(String::new, |phase| phase.to_string());
        log.push(format!("{what} F{}.{phase} {:?}", now.frame, now.elapsed));
    });
}

/// The lines of a log, without their times.
pub(crate) fn what(log: &Log) -> Vec<&str> {
    log.iter()
        .map(|line| line.split(" F").next().unwrap())
        .collect()
}
