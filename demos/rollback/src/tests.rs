//! Rollback leads to the same game.

use ggrs::{Frame, SessionBuilder};

use crate::game::Game;
use crate::network::Quality;
use crate::peer::{INPUT_DELAY, PREDICTION, Pair, Rollback, buttons_of};
use crate::world::Buttons;

/// Debug builds are slow.
const FRAMES: u32 = if cfg!(debug_assertions) {
    1_000
} else {
    10_000
};

#[test]
fn every_frame_that_is_simulated_again_has_the_same_checksum() {
    let mut session = SessionBuilder::<Rollback>::new()
        .with_num_players(2)
        .unwrap()
        .with_check_distance(PREDICTION - 1)
        .start_synctest_session()
        .unwrap();
    let mut game = Game::new(5);
    for _ in 0..FRAMES {
        let frame = session.current_frame();
        for player in [0, 1] {
            let buttons = buttons_of(5, player, frame);
            session.add_local_input(player, buttons).unwrap();
        }
        let requests = session.advance_frame().unwrap();
        game.fulfil(requests);
    }
    // A game in which nothing happens would prove nothing.
    let world = &game.world;
    assert!(world.deaths >= FRAMES / 1_000 && world.next_power_up >= FRAMES / 1_000);
}

#[test]
fn the_scripts_depend_only_on_the_world_and_on_what_is_recorded() {
    let (mut game, mut plain) = (Game::tested(5), Game::new(5));
    for frame in 0..Frame::try_from(FRAMES).unwrap() {
        let buttons = [0, 1].map(|player| buttons_of(5, player, frame));
        game.advance(buttons);
        plain.advance(buttons);
        assert_eq!(game.save().checksum(), plain.save().checksum());
    }
}

#[test]
fn peers_on_a_bad_network_confirm_the_frames_of_a_game_without_a_network() {
    for (seed, quality) in [(1, Quality::new(2, 6, 10)), (2, Quality::new(1, 9, 10))] {
        let mut pair = Pair::connect(seed, quality);
        pair.play(FRAMES);
        let [first, second] = &pair.peers;
        assert!(first.compare_with(second) >= FRAMES as usize);
        assert!(first.told.rollbacks > FRAMES / 10 && first.told.deepest >= 5);
        assert!(pair.lost() > pair.sent() / 20);

        let mut game = Game::new(seed);
        for (frame, &confirmed) in (0..).zip(first.confirmed()) {
            assert_eq!(game.save().checksum(), confirmed, "frame {frame}");
            game.advance([0, 1].map(|player| delayed(seed, player, frame)));
        }
    }
}

#[test]
fn a_desync_names_the_script_and_the_line() {
    let mut pair = Pair::connect(1, Quality::new(2, 4, 2));
    pair.peers[1].game.fault = Some(300);
    pair.play(500);
    let [first, second] = &pair.peers;
    assert!(first.told.desync.or(second.told.desync).is_some());
    let (frame, difference) = first.difference(second).unwrap();
    assert!((300..400).contains(&frame), "{frame}: {difference}");
    let begins = difference.starts_with("script `");
    assert!(
        begins && difference.contains(": a `with` at "),
        "{difference}"
    );
    assert!(difference.contains("scripts.rs:"), "{difference}");
}

/// The buttons that count in a frame: those of an earlier one.
fn delayed(seed: u64, player: usize, frame: Frame) -> Buttons {
    let delay = Frame::try_from(INPUT_DELAY).unwrap();
    if frame < delay {
        return Buttons::default();
    }
    buttons_of(seed, player, frame - delay)
}
