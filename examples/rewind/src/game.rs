//! The game: a step, a copy, going back to a copy, a file.

use std::error::Error;
use std::fs;
use std::path::Path;
use std::time::Duration;

use framestep_durable::prelude::*;

use crate::fight::{NEAR, STRUCK};
use crate::scripts::{self, BUMP, PRESSED, TAKEN};
use crate::world::{Push, World};

/// The length of a frame of the game: 60 in a second, to the nanosecond.
pub(crate) const STEP: Duration = Duration::from_nanos(16_666_667);

#[derive(Debug)]
pub(crate) struct Game {
    pub(crate) world: World,
    pub(crate) runtime: Runtime,
}

/// All that changes.
#[derive(Clone, Debug)]
pub(crate) struct Moment {
    pub(crate) world: World,
    pub(crate) scripts: Snapshot,
}

impl Game {
    pub(crate) fn new(seed: u64) -> Self {
        let mut world = World::new(seed);
        let mut runtime = Runtime::new(scripts::registry());
        runtime.lend(&mut world, |runtime| scripts::start_all(runtime));
        Game { world, runtime }
    }

    pub(crate) fn step(&mut self, push: Push) {
        let Game { world, runtime } = self;
        let events = world.advance(push, STEP.as_secs_f32());
        events.bumps.iter().for_each(|at| runtime.emit(&BUMP, at));
        let pressed = events.pressed.iter();
        pressed.for_each(|door| runtime.emit(&PRESSED, door));
        let taken = events.taken.iter();
        taken.for_each(|coin| runtime.emit(&TAKEN, coin));
        if events.is_near {
            runtime.emit(&NEAR, &());
        }
        if events.is_struck {
            runtime.emit(&STRUCK, &());
        }
        runtime.run_frame_with(world, STEP);
    }

    pub(crate) fn moment(&self) -> Moment {
        Moment {
            world: self.world.clone(),
            scripts: self.runtime.snapshot().expect("all scripts are durable"),
        }
    }

    pub(crate) fn go_back_to(&mut self, moment: Moment) {
        let rolled_back = self.runtime.rollback(&moment.scripts);
        rolled_back.expect("the scripts depend on nothing but what is recorded");
        self.world = moment.world;
    }

    pub(crate) fn save(&self, path: &Path) -> Result<(), Box<dyn Error>> {
        let bytes = self.runtime.save()?.to_bytes_with(&self.world);
        Ok(fs::write(path, bytes)?)
    }

    pub(crate) fn load(path: &Path) -> Result<Self, Box<dyn Error>> {
        let (scripts, world) = Snapshot::from_bytes_with(&fs::read(path)?)?;
        let mut runtime = Runtime::new(scripts::registry());
        runtime.restore(&scripts, Policy::Restart)?;
        Ok(Game { world, runtime })
    }
}
