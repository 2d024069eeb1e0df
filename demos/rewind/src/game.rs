//! The game: a step, a copy, going back to a copy, bytes for a file.

use std::error::Error;
use std::time::Duration;

use framestep::Executor;
use framestep_durable::prelude::*;

use crate::code;
use crate::fight::{NEAR, STRUCK};
use crate::lines;
use crate::platform;
use crate::scripts::{self, BUMP, PRESSED, TAKEN};
use crate::world::{Push, World};

/// The length of a frame of the game: 60 in a second, to the nanosecond.
pub(crate) const STEP: Duration = Duration::from_nanos(16_666_667);

#[derive(Debug)]
pub(crate) struct Game {
    pub(crate) world: World,
    pub(crate) runtime: Runtime,
    /// Where the scripts wait: see `lines.rs`.
    pub(crate) lines: String,
}

/// Everything that changes.
#[derive(Clone, Debug)]
pub(crate) struct Moment {
    pub(crate) world: World,
    pub(crate) scripts: SaveState,
    /// A save state has no lines of source: scripts that it restores have none until they are polled.
    pub(crate) lines: String,
}

impl Game {
    pub(crate) fn new(seed: u64) -> Self {
        let mut world = World::new(seed);
        let mut runtime = empty_runtime();
        runtime.lend(&mut world, |runtime| scripts::start_all(runtime));
        let lines = lines::of(&runtime);
        Game {
            world,
            runtime,
            lines,
        }
    }

    pub(crate) fn step(&mut self, push: Push) {
        let Game {
            world,
            runtime,
            lines,
        } = self;
        let events = world.advance(push, STEP.as_secs_f32());
        events
            .bumps
            .iter()
            .for_each(|at| runtime.named(&BUMP).emit(*at));
        let pressed = events.pressed.iter();
        pressed.for_each(|door| runtime.named(&PRESSED).emit(*door));
        let taken = events.taken.iter();
        taken.for_each(|coin| runtime.named(&TAKEN).emit(*coin));
        if events.is_near {
            runtime.named(&NEAR).emit(());
        }
        if events.is_struck {
            runtime.named(&STRUCK).emit(());
        }
        runtime.run_frame_with(world, STEP);
        *lines = lines::of(runtime);
    }

    pub(crate) fn moment(&self) -> Moment {
        Moment {
            world: self.world.clone(),
            scripts: self.runtime.save_state().expect("all scripts are durable"),
            lines: self.lines.clone(),
        }
    }

    pub(crate) fn go_back_to(&mut self, moment: Moment) {
        let rolled_back = self.runtime.rollback(&moment.scripts);
        rolled_back.expect("the scripts depend only on what is recorded");
        self.world = moment.world;
        self.lines = moment.lines;
    }

    /// Steps from the beginning of the game.
    pub(crate) fn steps(&self) -> u64 {
        self.runtime.time().frame
    }

    /// A hash of everything that changes: the same state has the same hash everywhere.
    pub(crate) fn checksum(&self) -> u64 {
        let Moment { world, scripts, .. } = self.moment();
        scripts.checksum_with(&world)
    }

    /// The game as a file: a line that identifies the code, the scripts, and the world.
    pub(crate) fn to_bytes(&self) -> Result<Vec<u8>, Box<dyn Error>> {
        let mut file = heading().into_bytes();
        file.extend(self.runtime.save()?.to_bytes_with(&self.world));
        Ok(file)
    }

    /// Reads a file. A save of other code is an error: where panics abort, as in the browser,
    /// it could crash the page.
    pub(crate) fn from_bytes(file: &[u8]) -> Result<Self, Box<dyn Error>> {
        let Some(content) = file.strip_prefix(heading().as_bytes()) else {
            return if file.starts_with(NAME.as_bytes()) {
                Err("the save is from another build of the game".into())
            } else {
                Err("this is not a save of the game".into())
            };
        };
        let (scripts, world) = SaveState::from_bytes_with(content)?;
        let mut runtime = empty_runtime();
        runtime.restore(&scripts, Policy::Fail)?;
        let lines = lines::of(&runtime);
        Ok(Game {
            world,
            runtime,
            lines,
        })
    }
}

/// The lines of awaits are noted only where they are shown.
fn empty_runtime() -> Runtime {
    let builder = Executor::builder().inspect(platform::shows_lines());
    Runtime::with(builder, scripts::registry())
}

const NAME: &str = "framestep-rewind";

fn heading() -> String {
    format!("{NAME} {:016x}\n", code::FINGERPRINT)
}
