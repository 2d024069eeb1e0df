//! Time runs back, and forwards again.

use crate::demo::push;
use crate::game::Game;
use crate::history::{FRAMES, History};
use crate::world::World;

#[test]
fn time_runs_back_frame_by_frame_and_the_same_pushes_lead_to_the_same_world() {
    let mut game = Game::new(1);
    let mut history = History::default();
    let mut played = Vec::new();
    for _ in 0..1_000 {
        history.note(&game);
        played.push((game.world.clone(), game.moment().scripts.checksum()));
        game.step(push(&game.world));
    }
    let end = (game.world.clone(), game.moment().scripts.checksum());
    let is_met = |is_so: fn(&World) -> bool| played.iter().any(|(world, _)| is_so(world));
    assert!(is_met(|world| world.score > 0));
    assert!(is_met(|world| world.doors.contains(&1.0)));
    assert!(is_met(|world| world.guardian.lives == 1));

    for (world, checksum) in played.iter().rev().take(FRAMES) {
        assert!(history.rewind(&mut game));
        assert_eq!(game.world, *world);
        assert_eq!(game.moment().scripts.checksum(), *checksum);
    }
    assert!(!history.rewind(&mut game));
    for _ in 0..FRAMES {
        game.step(push(&game.world));
    }
    assert_eq!((game.world.clone(), game.moment().scripts.checksum()), end);
}
