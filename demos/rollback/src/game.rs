//! The game as rollback sees it: a step, a copy, going back, a checksum.

use std::time::Duration;

use framestep_durable::prelude::*;

use crate::scripts::{self, HIT, TAKEN};
use crate::world::{Buttons, World};

/// The length of a step: 60 in a second, to the nanosecond. A step is a frame of framestep.
pub(crate) const STEP: Duration = Duration::from_nanos(16_666_667);

#[derive(Debug)]
pub(crate) struct Game {
    pub(crate) world: World,
    pub(crate) runtime: Runtime,
    /// A planted fault: in this step, the game draws a random number that others do not draw.
    pub(crate) fault: Option<u64>,
}

/// Everything that changes: GGRS keeps one of these for each of the last frames.
#[derive(Clone, Debug)]
pub(crate) struct Saved {
    world: World,
    scripts: SaveState,
}

impl Game {
    pub(crate) fn new(seed: u64) -> Self {
        Self::with(Runtime::new(scripts::registry()), seed)
    }

    /// A game whose runtime does each step twice, and names the script that does something else
    /// the second time. For tests: a step takes several times as long.
    #[cfg(test)]
    pub(crate) fn tested(seed: u64) -> Self {
        let builder = Runtime::builder(scripts::registry());
        Self::with(builder.sync_test::<World>().build(), seed)
    }

    fn with(mut runtime: Runtime, seed: u64) -> Self {
        let mut world = World::new(seed);
        let stage = runtime.owner();
        runtime.lend(&mut world, |runtime| {
            runtime.start(scripts::rounds(stage)).detach();
        });
        Game {
            world,
            runtime,
            fault: None,
        }
    }

    /// Simulates a step.
    pub(crate) fn advance(&mut self, buttons: [Buttons; 2]) {
        if self.fault == Some(self.runtime.time().frame) {
            self.world.random.below(2);
        }
        let events = self.world.advance(buttons);
        for player in &events.hits {
            self.runtime.named(&HIT).emit(*player);
        }
        for taken in &events.taken {
            self.runtime.named(&TAKEN).emit(*taken);
        }
        self.runtime.run_frame_with(&mut self.world, STEP);
    }

    pub(crate) fn save(&self) -> Saved {
        Saved {
            world: self.world.clone(),
            scripts: self.runtime.save_state().expect("all scripts are durable"),
        }
    }

    pub(crate) fn go_back_to(&mut self, saved: &Saved) {
        let rolled_back = self.runtime.rollback(&saved.scripts);
        rolled_back.expect("the scripts depend only on what is recorded");
        self.world.clone_from(&saved.world);
    }
}

impl Saved {
    /// What differs first between the scripts of two peers.
    pub(crate) fn difference(&self, other: &Saved) -> Option<String> {
        let differences = self.scripts.diff(&other.scripts);
        differences.first().map(ToString::to_string)
    }

    /// A checksum that is the same for the same state, on every machine.
    pub(crate) fn checksum(&self) -> u128 {
        let world = postcard::to_stdvec(&self.world).expect("the world serialises");
        let world = world
            .iter()
            .fold(0xCBF2_9CE4_8422_2325, |hash: u64, &byte| {
                (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01B3)
            });
        u128::from(world) << 64 | u128::from(self.scripts.checksum())
    }
}
