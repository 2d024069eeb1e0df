//! A combination of blows: each has to follow within half a second.

use framestep::prelude::*;

use super::{Game, show};

const BLOWS: [&str; 3] = ["jab", "cross", "uppercut"];

async fn combo(attack: Signal<()>) {
    loop {
        attack.wait().await;
        show(BLOWS[0]);
        for blow in &BLOWS[1..] {
            if timeout(0.5, attack.wait()).await.is_err() {
                break;
            }
            show(blow);
        }
    }
}

#[test]
fn a_blow_in_time_continues_the_combo_and_a_late_one_begins_another() {
    let attack = Signal::new();
    let mut game = Game::new(());
    game.executor.spawn(combo(attack.clone()));
    game.play(".A.A.A..A...A", |(), key| {
        if key == 'A' {
            attack.emit(());
        }
    });
    game.check(&[
        "F2: jab",
        "F4: cross", // in time to the frame
        "F6: uppercut",
        "F9: jab",
        "F13: jab", // too late for a cross
    ]);
}
