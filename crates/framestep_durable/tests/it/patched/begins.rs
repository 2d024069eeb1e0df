//! When waits begin that the code of a save did not have.

use framestep_durable::prelude::*;

use super::{Builds, HIT, KEY, Story, builds};

const GOLD: Watch<u32> = watch("gold", Default::default);
const DOOR: Semaphore = semaphore("door", 1);

/// A save of the earlier build after one frame, in the later build.
fn loaded(builds: &Builds) -> (Runtime, Story) {
    let (mut runtime, mut story) = (Runtime::new((builds.before)()), Story::new());
    (builds.begin)(&runtime);
    runtime.run_frame_with(&mut story, 0.1);
    let file = runtime.save().unwrap().to_bytes();
    let mut other = Runtime::new((builds.after)());
    other
        .restore(&SaveState::from_bytes(&file).unwrap(), Policy::Fail)
        .unwrap();
    (other, story)
}

fn frames((runtime, story): &mut (Runtime, Story), count: usize) {
    for _ in 0..count {
        runtime.run_frame_with(story, 0.1);
    }
}

/// In a branch that was over, beside one that goes on.
fn joined(hears: &str) -> Builds {
    match hears {
        "wait" => builds!({
            join!(async { say("a") }, async { wait_frames(5).await });
            say("end");
        } => {
            join!(
                async {
                    say("a");
                    KEY.wait().await;
                    say("heard");
                },
                async { wait_frames(5).await },
            );
            say("end");
        }),
        "wait_for" => builds!({
            join!(async { say("a") }, async { wait_frames(5).await });
            say("end");
        } => {
            join!(
                async {
                    say("a");
                    HIT.wait_for(|hit| *hit > 3).await;
                    say("heard");
                },
                async { wait_frames(5).await },
            );
            say("end");
        }),
        "keyed" => builds!({
            join!(async { say("a") }, async { wait_frames(5).await });
            say("end");
        } => {
            join!(
                async {
                    say("a");
                    KEY.keyed(7).wait().await;
                    say("heard");
                },
                async { wait_frames(5).await },
            );
            say("end");
        }),
        "next" => builds!({
            let mut keys = KEY.subscribe();
            join!(async { say("a") }, async { wait_frames(5).await });
            say("end");
            keys.next().await;
        } => {
            let mut keys = KEY.subscribe();
            join!(
                async {
                    say("a");
                    keys.next().await;
                    say("heard");
                },
                async { wait_frames(5).await },
            );
            say("end");
            keys.next().await;
        }),
        _ => builds!({
            join!(async { say("a") }, async { wait_frames(5).await });
            say("end");
        } => {
            join!(
                async {
                    say("a");
                    super::GOLD.changed().await;
                    say("heard");
                },
                async { wait_frames(5).await },
            );
            say("end");
        }),
    }
}

fn happens(runtime: &Runtime, hears: &str) {
    match hears {
        "wait_for" => runtime.named(&HIT).emit(5),
        "keyed" => runtime.named(&KEY.keyed(7)).emit(()),
        "changed" => runtime.named(&GOLD).set(3),
        _ => runtime.named(&KEY).emit(()),
    }
}

const KINDS: [&str; 5] = ["wait", "wait_for", "keyed", "next", "changed"];

#[test]
fn a_new_wait_hears_what_happens_between_the_load_and_the_first_run() {
    for hears in KINDS {
        let mut game = loaded(&joined(hears));
        happens(&game.0, hears);
        frames(&mut game, 1);
        assert_eq!(game.1, ["a", "heard"], "{hears}");
        frames(&mut game, 10);
        assert_eq!(game.1, ["a", "heard", "end"], "{hears}");
    }
}

#[test]
fn a_new_wait_hears_what_happens_after_the_first_run() {
    for hears in KINDS {
        let mut game = loaded(&joined(hears));
        frames(&mut game, 2);
        happens(&game.0, hears);
        frames(&mut game, 1);
        assert_eq!(game.1, ["a", "heard"], "{hears}");
    }
}

#[test]
fn a_new_wait_is_saved_before_the_first_run() {
    for hears in KINDS {
        let builds = joined(hears);
        let (game, story) = loaded(&builds);
        let file = game.save().unwrap().to_bytes();
        let mut again = (Runtime::new((builds.after)()), story);
        let restored = again
            .0
            .restore(&SaveState::from_bytes(&file).unwrap(), Policy::Fail);
        assert_eq!(restored.unwrap().passed, [], "{hears}");
        happens(&again.0, hears);
        frames(&mut again, 1);
        assert_eq!(again.1, ["a", "heard"], "{hears}");
    }
}

#[test]
fn a_new_wait_is_rolled_back_before_the_first_run() {
    for hears in KINDS {
        let (runtime, story) = loaded(&joined(hears));
        let save = runtime.save().unwrap();
        happens(&runtime, hears);
        let mut game = (runtime, story.clone());
        frames(&mut game, 7);
        game.0.rollback(&save).unwrap();
        game.1 = story;
        happens(&game.0, hears);
        frames(&mut game, 1);
        assert_eq!(game.1, ["a", "heard"], "{hears}");
    }
}

#[test]
fn a_new_wait_for_a_permit_gets_it_from_a_later_branch() {
    let builds = builds!({
        join!(
            async { say("a") },
            async {
                let door = super::DOOR.acquire().await;
                wait_frames(5).await;
                say("b");
                drop(door);
            },
        );
        say("end");
    } => {
        join!(
            async {
                say("a");
                let _door = super::DOOR.acquire().await;
                say("c");
            },
            async {
                let door = super::DOOR.acquire().await;
                wait_frames(5).await;
                say("b");
                drop(door);
            },
        );
        say("end");
    });
    let mut game = loaded(&builds);
    frames(&mut game, 10);
    assert_eq!(game.1, ["a", "b", "c", "end"]);
}

#[test]
fn a_new_wait_of_a_branch_of_a_select_ends_it() {
    let builds = builds!({
        select! {
            hit = HIT.wait() => say(format!("hit {hit}")),
            () = wait_seconds(5) => say("bored"),
        }
    } => {
        select! {
            hit = HIT.wait() => say(format!("hit {hit}")),
            heal = HEAL.wait() => say(format!("heal {heal}")),
            () = wait_seconds(5) => say("bored"),
        }
    });
    let mut game = loaded(&builds);
    game.0.named(&super::HEAL).emit(3);
    frames(&mut game, 2);
    assert_eq!(game.1, ["heal 3"]);
}
