//! Chapters: saved exactly where one ends and the next one begins.

use framestep_durable::prelude::*;

use crate::twin::Game;

type Log = Vec<u32>;

/// A script whose chapters wait in different ways, or not at all.
#[derive(Clone, Serialize, Deserialize)]
struct Novel {
    chapter: u32,
    /// Each chapter whose number is a multiple of this waits. The others begin and end in one
    /// poll.
    waits_each: u32,
    last: u32,
}

impl DurableScript for Novel {
    const NAME: &'static str = "novel";
    type Output = u32;

    async fn run(self) -> Chapter<Self> {
        let chapter = self.chapter;
        with(move |log: &mut Log| log.push(chapter));
        if chapter % self.waits_each == 0 {
            next_frame().await;
            with(move |log: &mut Log| log.push(chapter + 1_000));
        }
        if chapter == self.last {
            return Chapter::Done(chapter);
        }
        Chapter::Next(Novel {
            chapter: chapter + 1,
            ..self
        })
    }
}

/// Starts itself again, as a child, and ends.
#[derive(Serialize, Deserialize)]
struct Heir(u32);

impl DurableScript for Heir {
    const NAME: &'static str = "heir";
    type Output = ();

    async fn run(self) -> Chapter<Self> {
        let generation = self.0;
        next_frame().await;
        with(move |log: &mut Log| log.push(generation));
        if generation < 8 {
            start(Heir(generation + 1)).detach();
        }
        Chapter::Done(())
    }
}

fn blank() -> Runtime {
    Runtime::new(Registry::new().with::<Novel>().with::<Heir>())
}

fn frame(_: u32, runtime: &mut Runtime, log: &mut Log) {
    runtime.run_frame_with(log, 0.1);
}

#[test]
fn a_save_at_the_change_of_chapters_continues_in_the_new_one() {
    let game = Game {
        blank,
        begin: |runtime, log| {
            let novel = Novel {
                chapter: 0,
                waits_each: 1,
                last: 8,
            };
            runtime.lend(log, |runtime| runtime.start(novel).detach());
        },
        frame,
        frames: 12,
    };
    let expected: Log = (0..9)
        .flat_map(|chapter| [chapter, chapter + 1_000])
        .collect();
    assert_eq!(game.assert_like_its_twin(), expected);
}

#[test]
fn chapters_that_never_wait_have_ended_when_a_save_is_possible() {
    let game = Game {
        blank,
        begin: |runtime, log| {
            let novel = Novel {
                chapter: 0,
                waits_each: 7,
                last: 40,
            };
            runtime.lend(log, |runtime| runtime.start(novel).detach());
        },
        frame,
        frames: 9,
    };
    let log = game.assert_like_its_twin();
    let began: Log = log.into_iter().filter(|&number| number < 1_000).collect();
    assert_eq!(began, (0..=40).collect::<Log>());
}

#[test]
fn a_script_that_starts_itself_again_is_saved_in_each_generation() {
    let game = Game {
        blank,
        begin: |runtime, log| runtime.lend(log, |runtime| runtime.start(Heir(0)).detach()),
        frame,
        frames: 12,
    };
    assert_eq!(game.assert_like_its_twin(), (0..9).collect::<Log>());
}

#[test]
fn a_script_that_was_spawned_and_never_polled_is_saved_too() {
    let runtime = blank();
    let novel = Novel {
        chapter: 5,
        waits_each: 1,
        last: 5,
    };
    let id = runtime.spawn(novel).id();
    let file = runtime.save().unwrap().to_bytes();
    let mut twin = blank();
    let save = SaveState::from_bytes(&file).unwrap();
    twin.restore(&save, Policy::Fail).unwrap();
    assert!(twin.is_alive(id));
    assert_eq!(twin.entries(id), Some(0));
    let mut log = Log::new();
    for _ in 0..3 {
        twin.run_frame_with(&mut log, 0.1);
    }
    assert_eq!(log, [5, 1_005]);
}

#[test]
fn a_rollback_over_the_change_of_chapters_plays_the_old_one_again() {
    let (mut runtime, mut log) = (blank(), Log::new());
    let novel = Novel {
        chapter: 0,
        waits_each: 1,
        last: 30,
    };
    runtime.lend(&mut log, |runtime| runtime.start(novel).detach());
    let mut kept = Vec::new();
    for _ in 0..20 {
        kept.push((runtime.save_state().unwrap(), log.clone()));
        runtime.run_frame_with(&mut log, 0.1);
    }
    let end = (runtime.save_state().unwrap().checksum(), log.clone());
    for (at, (save, then)) in kept.iter().enumerate() {
        runtime.rollback(save).unwrap();
        log.clone_from(then);
        for _ in at..20 {
            runtime.run_frame_with(&mut log, 0.1);
        }
        let again = (runtime.save_state().unwrap().checksum(), log.clone());
        assert_eq!(again, end, "from frame {at}");
    }
}
