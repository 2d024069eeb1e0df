//! Liveness: when all pauses are lifted and all events are sent, every script
//! ends and every value is dropped.
//!
//! Scripts of two executors use every kind of wait: alone, behind combinators, and
//! shared. At the same time, polls, destructors, wakers, conditions, hooks and the
//! host pause, stop, start and send at random. Then everything is resumed, except
//! a few scripts for which no other one waits. All others must end without them,
//! and then these must end when they are resumed.
//!
//! A few seeds run with every `cargo test`. `scripts/proofs/chaos` runs many.

mod operations;
mod script;
mod share;
mod waits;
mod world;

use framestep_testkit::watched::{forget_all, names_alive, take_faults};

use super::{for_seeds, on_a_deep_stack};
use world::{Mood, World};

/// The number of frames with random operations.
const FRAMES: u64 = 10;
/// Every script ends within so many undisturbed frames: it waits a few times, for
/// less than ten frames each.
const PATIENCE: u64 = 150;

/// The faults of a seed.
fn run(seed: u64, mood: Mood) -> Vec<String> {
    forget_all();
    let world = World::new(seed, mood);
    for _ in 0..FRAMES {
        world.disturb();
        world.frame();
    }
    let frozen = world.lift();
    let mut faults = world.run_out("the others are paused", &frozen);
    world.thaw(&frozen);
    faults.extend(world.run_out("nothing is paused", &[]));
    world.let_go();
    faults.extend(take_faults());
    let left = names_alive();
    if !left.is_empty() && faults.is_empty() {
        faults.push(format!("never dropped: {left:?}"));
    }
    World::end(world);
    faults.extend(take_faults());
    faults
}

fn check(mood: Mood) {
    on_a_deep_stack(move || for_seeds(0..40, |seed| run(seed, mood)));
}

#[test]
fn every_script_ends() {
    check(Mood::Plain);
}

#[test]
fn every_script_ends_that_shares_its_waits_with_others() {
    check(Mood::Shared);
}

#[test]
fn every_script_ends_where_anything_may_panic() {
    check(Mood::Panics);
}
