//! Rollback netcode with scripts: two peers play a small game over a bad network with GGRS,
//! and the scripts of framestep are part of the state that is rolled back.
//!
//! - `world.rs` is the game without scripts: players, bullets, a boss. It is cloned.
//! - `scripts.rs` is what happens over time: the countdown, the boss and its patterns, the
//!   power-ups, the lives of the players. The state of these is a `SaveState`.
//! - `game.rs` joins both: a step, a copy, going back to a copy, a checksum.
//! - `peer.rs` is what GGRS needs: it answers the requests to save, load and advance.
//! - `network.rs` loses and delays packets, the same packets in every run.

mod game;
mod network;
mod peer;
mod random;
mod scripts;
#[cfg(test)]
mod tests;
mod world;

use std::hint::black_box;
use std::time::{Duration, Instant};

use crate::game::{Game, STEP};
use crate::network::Quality;
use crate::peer::{Pair, buttons_of};

const FRAMES: u32 = 10_000;

fn main() {
    for (name, quality) in [
        ("good", Quality::perfect(1)),
        ("usual", Quality::new(2, 4, 2)),
        ("bad", Quality::new(2, 6, 10)),
    ] {
        report(name, quality);
    }
    report_costs();
    report_desync();
}

/// What a peer says whose game draws one random number more.
fn report_desync() {
    let mut pair = Pair::connect(1, Quality::new(2, 4, 2));
    pair.peers[1].game.fault = Some(300);
    pair.play(500);
    let [first, second] = &pair.peers;
    let found = first.told.desync.or(second.told.desync);
    println!(
        "a planted desync in step 300, found by the checksums of frame {}",
        found.unwrap_or(-1)
    );
    match first.difference(second) {
        Some((frame, difference)) => {
            println!("  the scripts differ from frame {frame} on: {difference}");
        }
        None => println!("  the scripts do not differ"),
    }
}

/// What GGRS requests for a rollback by seven frames, one request after the other.
fn report_costs() {
    let mut game = Game::new(1);
    let mut spent = [Duration::ZERO; 4];
    let mut measure = |at: usize, begin: Instant| spent[at] += begin.elapsed();
    for frame in 0..2_000 {
        let first = game.save();
        for frame in frame..frame + 7 {
            let buttons = [0, 1].map(|player| buttons_of(1, player, frame));
            let begin = Instant::now();
            game.advance(buttons);
            measure(0, begin);
            let begin = Instant::now();
            let saved = game.save();
            measure(1, begin);
            let begin = Instant::now();
            black_box(saved.checksum());
            measure(2, begin);
        }
        let begin = Instant::now();
        game.go_back_to(&first);
        measure(3, begin);
        game.advance([0, 1].map(|player| buttons_of(1, player, frame)));
    }
    let [advance, save, checksum] = [0, 1, 2].map(|at| spent[at].as_secs_f64() * 1e6 / 14_000.0);
    let back = spent[3].as_secs_f64() * 1e6 / 2_000.0;
    println!(
        "a frame {advance:.1} us, a copy {save:.1} us, its checksum {checksum:.1} us, \
         seven frames back {back:.1} us"
    );
}

fn report(name: &str, quality: Quality) {
    let mut pair = Pair::connect(1, quality);
    let begin = Instant::now();
    pair.play(FRAMES);
    let spent = begin.elapsed();
    let [first, second] = &pair.peers;
    assert_eq!(first.told.desync.or(second.told.desync), None);
    let compared = first.compare_with(second);
    println!("{name} network: {quality}");
    println!("  {} of {} packets lost", pair.lost(), pair.sent());
    for (at, peer) in pair.peers.iter().enumerate() {
        let told = &peer.told;
        println!(
            "  peer {at}: {} frames, {} rollbacks of {:.1} frames (at most {}), {} frames \
             simulated again, {} stalls",
            peer.frame(),
            told.rollbacks,
            f64::from(told.again) / f64::from(told.rollbacks.max(1)),
            told.deepest,
            told.again,
            told.stalls,
        );
    }
    println!("  {compared} confirmed frames have the same checksum at both peers");
    println!("  {}", summary(&first.game));
    let ticks = f64::from(pair.ticks) * 2.0;
    println!(
        "  {:.0} us a tick and peer, of {:.0} us\n",
        spent.as_secs_f64() * 1e6 / ticks,
        STEP.as_secs_f64() * 1e6
    );
}

fn summary(game: &Game) -> String {
    let world = &game.world;
    format!(
        "round {}, boss beaten {} times, {} deaths, {} power-ups taken; {} scripts alive",
        world.round,
        world.wins,
        world.deaths,
        world.taken,
        game.runtime.scripts().len()
    )
}
