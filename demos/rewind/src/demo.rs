//! Plays by itself: forwards, with a save on the way, then back, and forwards again. If there
//! is a save, it continues that instead.

use std::path::Path;
use std::time::{Duration, Instant};

use macroquad::prelude::*;

use crate::draw::{draw, prepare};
use crate::pilot;
use crate::platform::Store;
use crate::session::Session;
use crate::show;

/// The step at which the game is saved, the last step of a new game, and how many steps are
/// rewound.
const SAVED: u64 = 420;
const LAST: u64 = 1_080;
const BACK: u64 = 300;

/// Plays, and panics if the second time differs from the first.
pub(crate) async fn play(folder: &Path, store: Store) {
    prepare();
    let mut session = Session::begin(store);
    let is_continued = session.game.steps() > 0;
    let last = LAST.max(session.game.steps() + BACK);
    go_on(&mut session, last).await;
    if is_continued {
        return take_picture(&session, false, folder, "4-continued");
    }
    take_picture(&session, false, folder, "1-forwards");
    let end = session.game.world.clone();
    let mut spent = Duration::ZERO;
    for step in 0..BACK {
        let began = Instant::now();
        assert!(session.rewind(), "ten seconds are remembered");
        spent += began.elapsed();
        if step == BACK / 2 {
            take_picture(&session, true, folder, "2-rewinding");
        }
        show(&mut session, true).await;
    }
    go_on(&mut session, last).await;
    take_picture(&session, false, folder, "3-forwards-again");
    assert!(
        session.game.world == end,
        "the same pushes lead to another world"
    );
    println!(
        "{} scripts: going back by one step takes {:.0} us",
        session.game.runtime.scripts().len(),
        spent.as_secs_f64() * 1e6 / 300.0,
    );
}

/// Plays until this many steps have passed.
async fn go_on(session: &mut Session, last: u64) {
    while session.game.steps() < last {
        pilot::step(session);
        if session.game.steps() == SAVED {
            session.save();
        }
        show(session, false).await;
    }
}

fn take_picture(session: &Session, is_rewinding: bool, folder: &Path, name: &str) {
    draw(session, is_rewinding);
    let mut picture = get_screen_data();
    for [.., alpha] in picture.get_image_data_mut() {
        *alpha = u8::MAX;
    }
    picture.export_png(&folder.join(name).with_extension("png").to_string_lossy());
}
