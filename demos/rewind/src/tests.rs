//! Rewinding, playing forwards again, and continuing saves.

use std::path::PathBuf;
use std::{env, fs, process};

use crate::game::Game;
use crate::history::{FRAMES, History};
use crate::pilot::push;
use crate::platform::Store;
use crate::session::Session;
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

#[test]
fn the_lines_where_scripts_wait_run_back_with_the_world() {
    let mut session = Session::begin(Store::new(place("lines")));
    let mut played = Vec::new();
    for _ in 0..FRAMES {
        played.push(session.game.lines.clone());
        play(&mut session, 1);
    }
    assert!(played.iter().all(|lines| lines.contains("scripts.rs ")));
    played.dedup();
    assert!(played.len() > 10);

    let mut rewound = vec![session.game.lines.clone()];
    while session.rewind() {
        rewound.push(session.game.lines.clone());
    }
    rewound.reverse();
    rewound.dedup();
    assert!(rewound.starts_with(&played));

    // Forwards again, every line is back.
    play(&mut session, 60);
    assert!(session.game.lines.contains("scripts.rs "));
}

fn play(session: &mut Session, steps: u32) {
    for _ in 0..steps {
        session.step(push(&session.game.world));
    }
}

/// A place for a save, for one test.
fn place(name: &str) -> PathBuf {
    let path = env::temp_dir().join(format!("framestep-rewind-{}-{name}", process::id()));
    let _ = fs::remove_file(&path);
    path
}

fn notice(session: &Session) -> (bool, &str) {
    let notice = session.notice.as_ref().expect("a notice");
    (notice.is_bad, &notice.words)
}

#[test]
fn the_next_session_continues_the_save_of_the_last_one() {
    let path = place("continued");
    let mut first = Session::begin(Store::new(path.clone()));
    assert!(first.notice.is_none());
    play(&mut first, 700);
    first.save();
    let mut next = Session::begin(Store::new(path.clone()));
    let words = format!("continued from {}, at step 700", path.display());
    assert_eq!(notice(&next), (false, words.as_str()));
    for _ in 0..10 {
        assert_eq!(next.game.checksum(), first.game.checksum());
        play(&mut first, 50);
        play(&mut next, 50);
    }
    first.load();
    assert_eq!(first.game.steps(), 700);
    first.begin_anew();
    assert_eq!(first.game.steps(), 0);
    fs::remove_file(path).unwrap();
}

#[test]
fn a_save_of_another_build_is_refused_and_the_game_continues() {
    let path = place("refused");
    let mut session = Session::begin(Store::new(path.clone()));
    play(&mut session, 100);
    let before = session.game.checksum();
    session.load();
    assert_eq!(
        notice(&session),
        (true, "cannot load: there is no save yet")
    );

    let whole = session.game.to_bytes().unwrap();
    let half = &whole[..whole.len() / 2];
    let mut other = whole.clone();
    other[20] ^= 1;
    let refused = [
        (half, "the save is damaged"),
        (&other, "the save is from another build of the game"),
        (b"", "this is not a save of the game"),
        (b"something else", "this is not a save of the game"),
    ];
    for (file, words) in refused {
        fs::write(&path, file).unwrap();
        session.load();
        let (is_bad, found) = notice(&session);
        assert!(is_bad && found.contains(words), "{found}");
        assert_eq!(session.game.checksum(), before);
        let next = Session::begin(Store::new(path.clone()));
        let (is_bad, found) = notice(&next);
        assert!(is_bad && found.starts_with("cannot continue: "), "{found}");
        assert_eq!(next.game.steps(), 0);
    }
    play(&mut session, 100);
    fs::remove_file(path).unwrap();
}

#[test]
fn a_save_that_cannot_be_written_is_a_notice() {
    let store = Store::new(env::temp_dir().join("framestep-no-such-folder/rewind.save"));
    let mut session = Session::begin(store);
    session.save();
    let (is_bad, words) = notice(&session);
    assert!(is_bad && words.starts_with("cannot save: "), "{words}");
}
