//! Code that is exchanged while its scripts wait.

use framestep_durable::prelude::*;
use framestep_durable::{Reloaded, Restored};

type Log = Vec<String>;

fn say(line: impl Into<String>) {
    let line = line.into();
    with(move |log: &mut Log| log.push(line));
}

const BELL: Signal<u32> = signal("bell");

/// The code with which the game has been started.
mod first {
    use super::*;

    #[durable]
    pub(crate) async fn guard(number: u32) -> u32 {
        say(format!("{number} sleeps"));
        wait_seconds(1).await;
        say(format!("{number} wakes"));
        let rings = BELL.wait().await;
        rings + number
    }

    #[durable]
    pub(crate) async fn captain() {
        let guards = [start(guard(1)), start(guard(2))];
        for guard in guards {
            let rings = guard.await.unwrap();
            say(format!("heard {rings}"));
        }
    }

    #[durable]
    pub(crate) async fn patrol(at: u32) -> Chapter {
        say(format!("at {at}"));
        wait_seconds(0.5).await;
        Chapter::Next(patrol(at + 1))
    }

    pub(crate) fn registry() -> Registry {
        let registry = Registry::new().script(guard).script(captain);
        registry.script(patrol)
    }
}

/// The same, further down in the file: nothing but words has changed.
#[allow(dead_code, reason = "scripts of this code are only begun by name")]
mod second {
    use super::*;

    #[durable]
    pub(crate) async fn guard(number: u32) -> u32 {
        say(format!("{number} dozes"));
        wait_seconds(1).await;
        say(format!("{number} is up"));
        let rings = BELL.wait().await;
        rings + number
    }

    #[durable]
    pub(crate) async fn captain() {
        let guards = [start(guard(1)), start(guard(2))];
        for guard in guards {
            let rings = guard.await.unwrap();
            say(format!("heard {rings}!"));
        }
    }

    #[durable]
    pub(crate) async fn patrol(at: u32) -> Chapter {
        say(format!("stands at {at}"));
        wait_seconds(0.5).await;
        Chapter::Next(patrol(at + 1))
    }

    pub(crate) fn registry() -> Registry {
        let registry = Registry::new().script(guard).script(captain);
        registry.script(patrol)
    }
}

/// A guard who yawns, and waits in another way.
mod third {
    use super::*;

    #[durable]
    pub(crate) async fn guard(number: u32) -> u32 {
        say(format!("{number} yawns"));
        wait_frames(4).await;
        say(format!("{number} wakes"));
        let rings = BELL.wait().await;
        rings + number
    }

    pub(crate) fn registry() -> Registry {
        let registry = Registry::new().script(guard);
        registry.script(first::captain).script(first::patrol)
    }
}

struct Game {
    runtime: Runtime,
    log: Log,
}

impl Game {
    fn new() -> Self {
        Game {
            runtime: Runtime::new(first::registry()),
            log: Log::new(),
        }
    }

    fn start<S: DurableScript>(&mut self, script: S) -> ScriptHandle<S::Output> {
        self.runtime
            .lend(&mut self.log, |runtime| runtime.start(script))
    }

    fn frames(&mut self, frames: u32) {
        for _ in 0..frames {
            self.runtime.run_frame_with(&mut self.log, 0.25);
        }
    }

    /// What has been said since the last call.
    fn said(&mut self) -> Vec<String> {
        std::mem::take(&mut self.log)
    }

    fn reload(&mut self, registry: Registry) -> Reloaded {
        self.runtime.reload(registry, Policy::Restart).unwrap()
    }
}

#[test]
fn scripts_go_on_at_their_awaits_in_the_new_code_with_deadlines_and_handles() {
    let mut game = Game::new();
    let guard = game.start(first::guard(3));
    game.start(first::captain()).detach();
    game.frames(3);
    assert_eq!(game.said(), ["3 sleeps", "1 sleeps", "2 sleeps"]);
    let coroutine = game.runtime.coroutine(guard.id());
    let reloaded = game.reload(second::registry());
    assert_eq!(reloaded.to_string(), "4 continued at moved lines");
    let new = game.runtime.coroutine(guard.id()).unwrap();
    assert_ne!(coroutine, Some(new));
    let snapshot = game.runtime.executor().snapshot();
    assert!(snapshot.get(new).is_some());
    assert_eq!(game.runtime.generation(), 1);
    let lines = |places: &[String]| -> Vec<u32> {
        let line = |place: &String| place.rsplit_once(':').unwrap().1.parse().unwrap();
        places.iter().map(line).collect()
    };
    let moved = reloaded.continued.iter().map(|it| {
        assert!(
            it.has_moved()
                && it.from[0].starts_with("crates/framestep_durable/tests/it/reload.rs:")
        );
        (it.name.as_str(), lines(&it.to)[0] - lines(&it.from)[0])
    });
    let moved: Vec<_> = moved.collect();
    let by = moved[0].1;
    let expected = ["guard", "captain", "guard", "guard"].map(|name| (name, by));
    assert_eq!(moved, expected);

    game.frames(1);
    assert_eq!(game.said(), ["3 is up", "1 is up", "2 is up"]);
    game.runtime.named(&BELL).emit(10);
    game.frames(1);
    assert_eq!(game.said(), ["heard 11!", "heard 12!"]);
    assert_eq!(game.runtime.take(guard), Some(Ok(13)));
}

#[test]
fn a_script_with_another_await_restarts_and_the_reason_is_told() {
    let mut game = Game::new();
    game.start(first::patrol(0)).detach();
    game.start(first::guard(1)).detach();
    game.start(first::guard(2)).detach();
    game.frames(1);
    game.said();

    let reloaded = game.reload(third::registry());
    assert_eq!(reloaded.continued.len(), 1);
    assert!(!reloaded.continued[0].has_moved());
    let text = reloaded.to_string();
    let (first, reason) = text.split_once('\n').unwrap();
    assert_eq!(first, "1 continued, 2 restarted");
    let begins = "restarted: `guard` (#2 and 1 more), at entry 2: the earlier code had it awaiting \
                  `wait_seconds()` in line ";
    assert!(reason.starts_with(begins), "{reason}");
    assert!(
        reason.contains("the new code comes to `wait_frames()` at"),
        "{reason}"
    );

    game.frames(1);
    assert_eq!(game.said(), ["1 yawns", "2 yawns", "at 1"]);
}

#[test]
fn with_policy_fail_nothing_changes() {
    let [mut game, mut twin] = [(), ()].map(|()| {
        let mut game = Game::new();
        game.start(first::patrol(0)).detach();
        game.start(first::guard(1)).detach();
        game.frames(1);
        game
    });
    let error = game.runtime.reload(third::registry(), Policy::Fail);
    assert!(matches!(error, Err(RestoreError::Diverged(it)) if it.name == "guard"));
    assert_eq!(game.runtime.generation(), 0);
    game.start(first::guard(2)).detach();
    twin.start(first::guard(2)).detach();
    for _ in 0..8 {
        game.frames(1);
        twin.frames(1);
        assert_eq!(game.said(), twin.said());
        let [here, there] = [&game, &twin].map(|it| it.runtime.save().unwrap().checksum());
        assert_eq!(here, there);
    }
}

#[test]
fn a_policy_that_panics_leaves_the_earlier_code_in_use() {
    let mut game = Game::new();
    game.start(first::guard(1)).detach();
    let panicked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        let policy = |_: &_| std::panic::resume_unwind(Box::new(()));
        game.runtime.reload_with(third::registry(), None, policy)
    }));
    assert!(panicked.is_err());
    assert_eq!(game.runtime.generation(), 0);
    game.said();
    game.frames(4);
    assert_eq!(game.said(), ["1 wakes"]);
}

#[test]
fn a_script_that_the_new_code_does_not_have_is_dropped_if_the_policy_says_so() {
    let without_guards = || Registry::new().script(first::patrol);
    let mut game = Game::new();
    let guard = game.start(first::guard(1));
    game.start(first::patrol(0)).detach();
    for policy in [Policy::Fail, Policy::Restart] {
        let error = game.runtime.reload(without_guards(), policy).unwrap_err();
        assert!(matches!(error, RestoreError::UnknownScript { name } if name == "guard"));
    }
    let reloaded = game.runtime.reload(without_guards(), Policy::Drop).unwrap();
    let text = reloaded.to_string();
    let expected = "1 continued, 1 dropped\ndropped: `guard` (#1): it had a script of this name, and \
                    no registry has one";
    assert_eq!(text, expected);
    assert!(matches!(
        game.runtime.take(guard),
        Some(Err(JoinError::Stopped { .. }))
    ));
}

#[test]
fn what_a_host_of_the_earlier_code_starts_begins_in_the_new_code() {
    let mut game = Game::new();
    game.reload(second::registry());
    let guard = game.start(first::guard(4));
    assert_eq!(game.said(), ["4 dozes"]);
    game.frames(4);
    assert_eq!(game.said(), ["4 is up"]);
    // Saved and restored, too, it is the new code.
    let save = SaveState::from_bytes(&game.runtime.save().unwrap().to_bytes()).unwrap();
    let mut loaded = Runtime::new(second::registry());
    let restored = loaded.restore(&save, Policy::Fail).unwrap();
    assert_eq!(restored, Restored::default());
    assert_eq!(loaded.scripts(), game.runtime.scripts());
    drop(guard);
}

#[test]
fn a_start_with_other_parameters_than_the_new_code_has_panics_in_the_script() {
    mod wordy {
        use super::*;

        #[durable]
        pub(super) async fn guard(number: u32, name: String) -> u32 {
            say(format!("{number} {name}"));
            number
        }
    }
    let mut game = Game::new();
    game.runtime.executor().on_report(|_| ());
    let registry = Registry::new().script(wordy::guard);
    game.reload(registry);
    let id = game.start(first::guard(1)).id();
    assert!(!game.runtime.is_alive(id));
    let patrol = game.start(first::patrol(1));
    let Some(Err(JoinError::Panicked(text))) = game.runtime.take(patrol) else {
        panic!("it has not panicked");
    };
    let words = "the script `patrol` is not in the registry of the latest code: add it with \
                 `Registry::script`. ";
    assert!(text.starts_with(words), "{text}");
    let guard = game.start(first::guard(1));
    let Some(Err(JoinError::Panicked(text))) = game.runtime.take(guard) else {
        panic!("it has not panicked");
    };
    assert!(
        text.contains("and its parameters are others in the latest code"),
        "{text}"
    );
    game.frames(2);
    assert_eq!(game.said(), [""; 0]);
}

#[test]
fn a_version_migrates_in_place() {
    mod newer {
        use super::*;
        use framestep_durable::OldState;

        #[durable(version = 1, migrate = from_number, state = Guard)]
        pub(super) async fn guard(number: u32, name: String) -> u32 {
            say(format!("{number} {name}"));
            wait_seconds(1).await;
            number
        }

        fn from_number(old: OldState<'_>) -> Option<Guard> {
            let (number,) = old.read()?;
            Some(guard(number, "Anna".to_owned()))
        }
    }
    let mut game = Game::new();
    game.start(first::guard(7)).detach();
    game.said();
    let reloaded = game.reload(Registry::new().script(newer::guard));
    let text = reloaded.to_string();
    let expected = "0 continued, 1 migrated\nmigrated: `guard` (#1): it was version 0 of it, and is \
                    version 1";
    assert_eq!(text, expected);
    game.frames(1);
    assert_eq!(game.said(), ["7 Anna"]);
}

#[test]
fn parameters_are_found_by_name_and_new_ones_have_defaults() {
    mod wordy {
        use super::*;

        #[durable]
        pub(super) async fn guard(#[serde(default)] name: String, number: u32) -> u32 {
            say(format!("{number} sleeps"));
            wait_seconds(1).await;
            say(format!("{number} {name:?} wakes"));
            number
        }
    }
    let mut game = Game::new();
    game.start(first::guard(7)).detach();
    game.said();
    let reloaded = game.reload(Registry::new().script(wordy::guard));
    assert_eq!(reloaded.continued.len(), 1);
    game.frames(4);
    assert_eq!(game.said(), ["7 \"\" wakes"]);
}

#[test]
fn a_moment_of_the_earlier_code_is_played_again_with_the_new_code() {
    let mut game = Game::new();
    game.start(first::patrol(0)).detach();
    let mut past = Vec::new();
    for _ in 0..12 {
        past.push(game.runtime.save_state().unwrap());
        game.frames(1);
    }
    game.said();
    let reloaded = game
        .runtime
        .reload_at(second::registry(), &past[1], Policy::Restart);
    assert_eq!(reloaded.unwrap().to_string(), "1 continued at moved lines");
    assert_eq!(game.runtime.time().frame, 1);
    game.frames(3);
    assert_eq!(game.said(), ["stands at 1", "stands at 2"]);

    // From a moment of each code to one of the other: the lines are those of the code in use.
    let of_new_code = game.runtime.save_state().unwrap();
    for _ in 0..2 {
        game.runtime.rollback(&past[9]).unwrap();
        game.frames(3);
        assert_eq!(game.said(), ["stands at 5", "stands at 6"]);
        game.runtime.rollback(&of_new_code).unwrap();
        game.frames(2);
        assert_eq!(game.said(), ["stands at 3"]);
    }
}

#[test]
fn a_rollback_to_a_moment_that_the_new_code_does_not_fit_follows_the_policy() {
    let mut game = Game::new();
    game.start(first::guard(1)).detach();
    let earlier = game.runtime.save_state().unwrap();
    game.frames(1);
    game.reload(third::registry());
    game.frames(2);
    game.said();
    let error = game.runtime.rollback(&earlier).unwrap_err();
    assert!(matches!(error, RestoreError::Diverged(_)));
    assert_eq!(game.runtime.time().frame, 3);
    let restored = game.runtime.rollback_with(&earlier, Policy::Restart);
    assert_eq!(restored.unwrap().restarted.len(), 1);
    assert_eq!(game.runtime.time().frame, 0);
    game.frames(1);
    assert_eq!(game.said(), ["1 yawns"]);
}

/// The same code twice, in other lines.
mod twice {
    macro_rules! copy {
        ($name:ident) => {
            pub(crate) mod $name {
                use super::super::{BELL, Log};
                use framestep_durable::prelude::*;

                #[durable]
                pub(crate) async fn walker(number: u32) -> Chapter {
                    let luck = with(move |log: &mut Log| {
                        log.push(format!("walker {number}"));
                        u32::try_from(log.len()).unwrap() % 7
                    });
                    select! {
                        rings = BELL.wait() => {
                            let child = start(echo(rings + number));
                            wait_frames(u64::from(luck) + 1).await;
                            let heard = child.await.unwrap_or(0);
                            with(move |log: &mut Log| log.push(format!("heard {heard}")));
                        }
                        _ = wait_seconds(0.1 + 0.05 * f64::from(luck)) => {
                            animate(0.3, move |t| with(|log: &mut Log| {
                                log.push(format!("{number}: {t:.2}"));
                            }))
                            .await;
                        }
                    }
                    Chapter::Next(walker(number))
                }

                #[durable]
                pub(crate) async fn echo(rings: u32) -> u32 {
                    join!(fixed_update(), wait_seconds(0.2));
                    rings * 2
                }

                pub(crate) fn registry() -> Registry {
                    Registry::new().script(walker).script(echo)
                }
            }
        };
    }
    copy!(here);

    copy!(there);
}

#[test]
fn code_exchanged_every_seven_frames_plays_like_code_left_alone() {
    let [mut game, mut twin] = [(), ()].map(|()| {
        let mut game = Game {
            runtime: Runtime::new(twice::here::registry()),
            log: Log::new(),
        };
        for number in 0..20 {
            game.start(twice::here::walker(number)).detach();
        }
        game
    });
    let mut exchanges = 0;
    for frame in 0..700 {
        for game in [&mut game, &mut twin] {
            if frame % 11 == 0 {
                game.runtime.named(&BELL).emit(frame);
            }
            game.runtime.run_frame_with(&mut game.log, 0.016);
        }
        if frame % 7 == 0 {
            let registry = match exchanges % 2 {
                0 => twice::there::registry(),
                _ => twice::here::registry(),
            };
            let reloaded = game.runtime.reload(registry, Policy::Fail).unwrap();
            assert_eq!(reloaded.continued.len(), game.runtime.scripts().len());
            exchanges += 1;
        }
        assert_eq!(game.log, twin.log, "frame {frame}");
        assert_eq!(game.runtime.scripts(), twin.runtime.scripts());
    }
    assert!(game.log.iter().any(|line| line.starts_with("heard")));
}
