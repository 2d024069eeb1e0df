//! What a script does once in its life: beyond chapters, restarts, files and rollbacks.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};

use framestep_durable::prelude::*;

use crate::twin::Game;

thread_local! {
    /// Whether the code is that of the second release.
    static IS_PATCHED: Cell<bool> = const { Cell::new(false) };
}

#[derive(Clone, Debug, Default, PartialEq)]
struct World {
    gold: u32,
    log: Vec<String>,
}

fn say(line: &'static str) {
    with(move |world: &mut World| world.log.push(line.to_owned()));
}

/// Pays in its second chapter, and greets once in all of them.
#[derive(Clone, Serialize, Deserialize)]
struct Quest {
    chapter: u32,
}

impl DurableScript for Quest {
    const NAME: &'static str = "quest";
    type Output = u32;

    async fn run(self) -> Chapter<Self> {
        with_once("greeting", |world: &mut World| {
            world.log.push("hello".to_owned());
        });
        if IS_PATCHED.get() {
            say("patched");
        }
        wait_frames(2).await;
        let label = format!("reward {}", self.chapter);
        let gold = with_once(&label, |world: &mut World| {
            world.gold += 100;
            world.gold
        });
        wait_frames(2).await;
        let again = with_once(label, |_: &mut World| 0_u32);
        assert_eq!(again, gold, "the result of the first call");
        match self.chapter {
            2 => Chapter::Done(gold),
            chapter => Chapter::Next(Quest {
                chapter: chapter + 1,
            }),
        }
    }
}

fn blank() -> Runtime {
    Runtime::new(Registry::new().with::<Quest>())
}

fn begin(runtime: &mut Runtime, _: &mut World) {
    runtime.spawn(Quest { chapter: 0 }).detach();
}

fn frame(_: u32, runtime: &mut Runtime, world: &mut World) {
    runtime.run_frame_with(world, 0.1);
}

/// Loads a save of the first release with the code of the second one, and plays to the end.
fn patched(runtime: &Runtime, world: &World, policy: Policy) -> World {
    let save = SaveState::from_bytes(&runtime.save().unwrap().to_bytes()).unwrap();
    IS_PATCHED.set(true);
    let (mut runtime, mut world) = (blank(), world.clone());
    let restored = runtime.restore(&save, policy).unwrap();
    assert_eq!(restored.restarted.len() + restored.waiting.len(), 1);
    for _ in 0..16 {
        runtime.run_frame_with(&mut world, 0.1);
    }
    assert!(runtime.scripts().is_empty());
    IS_PATCHED.set(false);
    world
}

#[test]
fn what_is_done_once_is_not_done_again_in_any_chapter() {
    let game = Game {
        blank,
        begin,
        frame,
        frames: 16,
    };
    let world = game.assert_like_its_twin();
    assert_eq!((world.gold, world.log), (300, vec!["hello".to_owned()]));
}

#[test]
fn a_restart_neither_repeats_nor_loses_what_is_done_once() {
    for policy in [Policy::Restart, Policy::RestartAfterWait] {
        let (mut runtime, mut world) = (blank(), World::default());
        begin(&mut runtime, &mut world);
        for frame in 1..12 {
            runtime.run_frame_with(&mut world, 0.1);
            let end = patched(&runtime, &world, policy);
            assert_eq!(end.gold, 300, "{policy:?} {frame}");
            let greetings = end.log.iter().filter(|line| *line == "hello");
            assert_eq!(greetings.count(), 1, "{policy:?} {frame}");
        }
    }
}

#[test]
fn a_save_shows_what_is_done_once_and_compares_it() {
    let played = |frames| {
        let (mut runtime, mut world) = (blank(), World::default());
        begin(&mut runtime, &mut world);
        for _ in 0..frames {
            runtime.run_frame_with(&mut world, 0.1);
        }
        runtime.save_state().unwrap()
    };
    let text = played(3).to_string();
    assert!(text.contains("has done \"greeting\" once\n"), "{text}");
    assert!(
        text.contains("has done \"reward 0\" once, which returned 100\n"),
        "{text}"
    );
    let label = format!("a `with_once` at {}:", file!());
    assert!(
        text.contains(&label) && text.contains(": \"reward 0\"\n"),
        "{text}"
    );
    // A forged file in which the same was done, with another result.
    let mut json = serde_json::to_value(played(3)).unwrap();
    json["scripts"][0]["once"]["reward 0"] = [101].into();
    let other: SaveState = serde_json::from_value(json).unwrap();
    assert_ne!(other.checksum(), played(3).checksum());
    let difference = played(3).diff(&other)[0].to_string();
    let expected = "script `quest` (#1): it has done once \"greeting\", \"reward 0\" (returned 100); \
                    there it has done once \"greeting\", \"reward 0\" (returned 101)";
    assert_eq!(difference, expected);
}

#[test]
fn a_file_without_what_its_journal_says_is_an_error() {
    let (mut runtime, mut world) = (blank(), World::default());
    begin(&mut runtime, &mut world);
    runtime.run_frame_with(&mut world, 0.1);
    let mut json = serde_json::to_value(runtime.save().unwrap()).unwrap();
    json["scripts"][0]["once"] = serde_json::json!({});
    let save: SaveState = serde_json::from_value(json).unwrap();
    let error = blank().restore(&save, Policy::Fail).unwrap_err();
    let text = error.to_string();
    assert!(text.contains("a `with_once` at"), "{text}");
}

thread_local! {
    static LABEL: Cell<&'static str> = const { Cell::new("chest 1") };
}

#[derive(Serialize, Deserialize)]
struct Chest;

impl DurableScript for Chest {
    const NAME: &'static str = "chest";
    type Output = ();

    async fn run(self) -> Chapter<Self> {
        with_once(LABEL.get(), |world: &mut World| world.gold += 1);
        wait_frames(2).await;
        Chapter::Done(())
    }
}

#[test]
fn another_label_is_a_divergence_with_both_labels() {
    let mut runtime = Runtime::new(Registry::new().with::<Chest>());
    let mut world = World::default();
    runtime.spawn(Chest).detach();
    runtime.run_frame_with(&mut world, 0.1);
    let save = runtime.save().unwrap();
    LABEL.set("chest 2");
    let error = Registry::new().with::<Chest>().check(&save)[0].to_string();
    assert!(
        error.contains(" as \"chest 1\"; now it does it as \"chest 2\""),
        "{error}"
    );
    assert_eq!(world.gold, 1, "a replay does nothing");
}

#[derive(Serialize, Deserialize)]
struct Clumsy;

impl DurableScript for Clumsy {
    const NAME: &'static str = "clumsy";
    type Output = String;

    async fn run(self) -> Chapter<Self> {
        let fall = || {
            with_once("try", |world: &mut World| {
                world.gold += 1;
                assert!(world.gold > 1, "it falls");
                world.gold
            })
        };
        let first = catch_unwind(AssertUnwindSafe(fall));
        wait_frames(1).await;
        let second = fall();
        wait_frames(1).await;
        let as_text = catch_unwind(|| with_once("try", |_: &mut World| String::new()));
        let why = as_text.unwrap_err().downcast::<String>().unwrap();
        Chapter::Done(format!("{} {second} {why}", first.is_err()))
    }
}

#[test]
fn a_closure_that_panics_has_not_been_called_and_another_type_is_an_error() {
    let blank = || Runtime::new(Registry::new().with::<Clumsy>());
    let (mut runtime, mut world) = (blank(), World::default());
    let clumsy = runtime.spawn(Clumsy).id();
    for _ in 0..2 {
        runtime.run_frame_with(&mut world, 0.1);
    }
    // The panic is replayed, and so is the second try.
    let save = SaveState::from_bytes(&runtime.save().unwrap().to_bytes()).unwrap();
    let mut runtime = blank();
    runtime.restore(&save, Policy::Fail).unwrap();
    let clumsy = runtime.enter(|| clumsy.handle::<String>()).unwrap();
    runtime.run_frame_with(&mut world, 0.1);
    let end = runtime.take(clumsy).unwrap().unwrap();
    assert_eq!(
        end,
        "true 2 what was done once as \"try\" has not returned a `alloc::string::String`"
    );
    assert_eq!(world.gold, 2);
}

#[test]
fn outside_of_a_durable_script_nothing_is_remembered() {
    let mut executor = framestep::Executor::new();
    executor.spawn(async {
        for _ in 0..3 {
            with_once("reward", |world: &mut World| world.gold += 1);
        }
    });
    let mut world = World::default();
    executor.run_frame_with(&mut world, 0.1);
    assert_eq!(world.gold, 3);
    let error = catch_unwind(|| with_once("reward", |_: &mut World| ())).unwrap_err();
    let text = error.downcast::<String>().unwrap();
    assert!(text.contains("`with_once` at "), "{text}");
}
