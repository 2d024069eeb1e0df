//! Bevy's clocks in a save: they decide when the next fixed step is due.

use std::cell::Cell;
use std::time::Duration;

use bevy_ecs::prelude::*;
use bevy_time::{Fixed, Real, Time, Virtual};
use serde::{Deserialize, Serialize};

use crate::executor::Seen;

/// The readings of Bevy's clocks, and how much of them the scripts have not counted yet.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Clocks {
    game: Option<Game>,
    fixed: Option<Steps>,
    unseen_real: Duration,
    unseen_game: Duration,
    unseen_fixed: Duration,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
struct Reading {
    elapsed: Duration,
    delta: Duration,
    wrap_period: Duration,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
struct Game {
    reading: Reading,
    is_paused: bool,
    speed: f64,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
struct Steps {
    reading: Reading,
    timestep: Duration,
    overstep: Duration,
}

impl Reading {
    fn of<C: Default>(clock: &Time<C>) -> Self {
        Reading {
            elapsed: clock.elapsed(),
            delta: clock.delta(),
            wrap_period: clock.wrap_period(),
        }
    }

    /// Makes a new clock with this reading.
    fn set<C: Default>(&self, clock: &mut Time<C>) {
        if !self.wrap_period.is_zero() {
            clock.set_wrap_period(self.wrap_period);
        }
        let before = self.elapsed.saturating_sub(self.delta);
        clock.advance_by(before);
        clock.advance_by(self.elapsed.saturating_sub(before));
    }
}

impl Clocks {
    pub(super) fn save(world: &World, seen: &Seen) -> Self {
        let game = world.get_resource::<Time<Virtual>>();
        let fixed = world.get_resource::<Time<Fixed>>();
        Clocks {
            unseen_real: unseen::<Real>(&seen.real, world),
            unseen_game: unseen::<Virtual>(&seen.game, world),
            unseen_fixed: unseen::<Fixed>(&seen.fixed, world),
            game: game.map(|clock| Game {
                reading: Reading::of(clock),
                is_paused: clock.is_paused(),
                speed: clock.relative_speed_f64(),
            }),
            fixed: fixed.map(|clock| Steps {
                reading: Reading::of(clock),
                timestep: clock.timestep(),
                overstep: clock.overstep(),
            }),
        }
    }

    /// Whether all clocks can be set to these readings.
    pub(super) fn are_sound(&self) -> bool {
        let speed = self.game.as_ref().map_or(1.0, |game| game.speed);
        let timestep = self.fixed.as_ref().map(|fixed| fixed.timestep);
        speed.is_finite() && speed >= 0.0 && timestep.is_none_or(|step| !step.is_zero())
    }

    /// Sets the clocks of the world, except realtime.
    pub(super) fn load(&self, world: &mut World, seen: &Seen) {
        let old = world.get_resource::<Time<Virtual>>();
        if let (Some(old), Some(saved)) = (old, &self.game) {
            let mut clock = Time::<Virtual>::from_max_delta(old.max_delta());
            saved.reading.set(&mut clock);
            clock.set_relative_speed_f64(saved.speed);
            if saved.is_paused {
                clock.pause();
            }
            let generic = clock.as_generic();
            world.insert_resource(clock);
            if let Some(mut time) = world.get_resource_mut::<Time>() {
                *time = generic;
            }
        }
        let old = world.get_resource::<Time<Fixed>>();
        if let (Some(_), Some(saved)) = (old, &self.fixed) {
            let mut clock = Time::<Fixed>::from_duration(saved.timestep);
            saved.reading.set(&mut clock);
            clock.accumulate_overstep(saved.overstep);
            world.insert_resource(clock);
        }
        set_unseen::<Real>(&seen.real, self.unseen_real, world);
        set_unseen::<Virtual>(&seen.game, self.unseen_game, world);
        set_unseen::<Fixed>(&seen.fixed, self.unseen_fixed, world);
    }
}

fn elapsed<C: Default + Send + Sync + 'static>(world: &World) -> Duration {
    let clock = world.get_resource::<Time<C>>();
    clock.map(Time::elapsed).unwrap_or_default()
}

fn unseen<C: Default + Send + Sync + 'static>(seen: &Cell<Duration>, world: &World) -> Duration {
    elapsed::<C>(world).saturating_sub(seen.get())
}

fn set_unseen<C: Default + Send + Sync + 'static>(
    seen: &Cell<Duration>,
    unseen: Duration,
    world: &World,
) {
    seen.set(elapsed::<C>(world).saturating_sub(unseen));
}
