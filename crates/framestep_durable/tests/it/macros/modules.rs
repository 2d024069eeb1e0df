//! A module of chapters.

use framestep_durable::prelude::*;

use crate::twin::Game;

type Log = Vec<String>;

const NEAR: Signal<u8> = signal("near");

/// The guardian.
#[durable(state = Guardian)]
pub(crate) mod guardian {
    #![allow(clippy::redundant_pub_crate)]

    use super::{Log, NEAR};
    use framestep_durable::prelude::*;

    const LIVES: u8 = 2;

    #[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
    pub(crate) enum Mood {
        Calm,
        Angry,
    }

    fn note(text: String) {
        with(move |log: &mut Log| log.push(text));
    }

    /// Until somebody is near.
    #[chapter]
    pub(crate) async fn sleeps() -> Chapter<Mood> {
        let lives = NEAR.wait().await;
        note(format!("wakes with {lives}"));
        Chapter::Next(fights(lives.min(LIVES), Mood::Calm))
    }

    #[chapter]
    async fn fights(mut lives: u8, mood: Mood) -> Chapter<Mood> {
        note(format!("fights with {lives}"));
        wait_seconds(0.2).await;
        lives -= 1;
        if lives == 0 {
            return Chapter::Next(falls(mood));
        }
        Chapter::Next(fights(lives, Mood::Angry))
    }

    /// The last chapter.
    #[framestep_durable::chapter]
    async fn falls(mood: Mood) -> Mood {
        wait_frames(2).await;
        note("falls".into());
        mood
    }
}

/// Chapters with `?`.
#[durable(state = Errand)]
mod errand {
    use framestep_durable::prelude::*;

    #[chapter]
    pub(super) async fn leaves(for_shop: u8) -> Result<Chapter<String>, u8> {
        next_frame().await;
        if for_shop > 3 {
            Err(for_shop)?;
        }
        Ok(Chapter::Next(returns()))
    }

    #[chapter]
    async fn returns() -> Result<String, u8> {
        next_frame().await;
        Ok("bread".into())
    }
}

#[durable]
async fn witness() -> Result<guardian::Mood, JoinError> {
    guardian::sleeps().await
}

fn blank() -> Runtime {
    let registry = Registry::new()
        .script(guardian::sleeps)
        .script(errand::leaves)
        .script(witness);
    Runtime::new(registry)
}

#[test]
fn a_state_with_a_name_is_an_enum_of_the_chapters() {
    assert_eq!(guardian::Guardian::NAME, "guardian");
    assert!(matches!(guardian::sleeps(), guardian::Guardian::Sleeps));
    assert!(matches!(
        errand::leaves(3),
        errand::Errand::Leaves { for_shop: 3 }
    ));
}

#[test]
fn chapters_follow_each_other() {
    let (mut runtime, mut log) = (blank(), Log::new());
    let witness = runtime.spawn(witness());
    runtime.run_frame_with(&mut log, 0.1);
    runtime.named(&NEAR).emit(9);
    for _ in 0..8 {
        runtime.run_frame_with(&mut log, 0.1);
    }
    assert_eq!(
        log,
        ["wakes with 9", "fights with 2", "fights with 1", "falls"]
    );
    assert_eq!(runtime.take(witness), Some(Ok(Ok(guardian::Mood::Angry))));
}

#[test]
fn a_question_mark_ends_the_script_with_the_error() {
    let mut runtime = blank();
    let errands = [3, 4].map(|shop| runtime.spawn(errand::leaves(shop)));
    for _ in 0..4 {
        runtime.run_frame(0.1);
    }
    let [done, failed] = errands.map(|errand| runtime.take(errand));
    assert_eq!(done, Some(Ok(Ok("bread".into()))));
    assert_eq!(failed, Some(Ok(Err(4))));
}

#[test]
fn modules_are_saved_loaded_and_rolled_back_at_every_moment() {
    let game = Game {
        blank,
        begin: |runtime, _| {
            runtime.spawn(witness()).detach();
            runtime.spawn(guardian::sleeps()).detach();
            runtime.spawn(errand::leaves(1)).detach();
        },
        frame: |frame, runtime, log: &mut Log| {
            if frame == 2 {
                runtime.named(&NEAR).emit(1);
            }
            runtime.run_frame_with(log, 0.1);
        },
        frames: 10,
    };
    let log = game.assert_like_its_twin();
    assert_eq!(log.iter().filter(|line| *line == "falls").count(), 2);
}
