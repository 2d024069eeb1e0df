//! Rollbacks between timelines, with save states from files and other runtimes.

use framestep_durable::prelude::*;

use crate::twin::{Log, log, quiet, what};

/// Draws a random number in each frame. The numbers identify a timeline.
#[derive(Serialize, Deserialize)]
struct Draws;

#[derive(Clone, Debug, Default, PartialEq)]
struct World {
    dice: u32,
    drawn: Vec<u32>,
}

impl DurableScript for Draws {
    const NAME: &'static str = "draws";
    type Output = u32;

    async fn run(self) -> Chapter<Self> {
        let mut sum = 0;
        for _ in 0..5 {
            let number = with(|world: &mut World| {
                world.dice += 1;
                world.dice
            });
            sum += number;
            next_frame().await;
            with(move |world: &mut World| world.drawn.push(number));
        }
        Chapter::Done(sum)
    }
}

fn blank() -> Runtime {
    quiet(Registry::new().with::<Draws>())
}

fn begun(dice: u32, frames: u32) -> (Runtime, World) {
    let mut runtime = blank();
    let mut world = World {
        dice,
        ..World::default()
    };
    runtime.lend(&mut world, |runtime| runtime.start(Draws).detach());
    play(&mut runtime, &mut world, frames);
    (runtime, world)
}

fn play(runtime: &mut Runtime, world: &mut World, frames: u32) {
    for _ in 0..frames {
        runtime.run_frame_with(world, 0.1);
    }
}

fn of_file(save: &SaveState) -> SaveState {
    SaveState::from_bytes(&save.to_bytes()).unwrap()
}

#[test]
fn two_timelines_from_one_moment_can_be_left_and_entered_again() {
    let (mut runtime, start) = begun(0, 0);
    let fork = runtime.save_state().unwrap();
    let mut moments = Vec::new();
    for dice in [1, 101, 1_001] {
        runtime.rollback(&fork).unwrap();
        let mut world = World {
            dice,
            ..start.clone()
        };
        for left in (0..5).rev() {
            runtime.run_frame_with(&mut world, 0.1);
            moments.push((runtime.save_state().unwrap(), world.clone(), left));
        }
    }
    let ends: Vec<World> = [4, 9, 14].map(|end: usize| moments[end].1.clone()).into();
    assert_eq!(ends[1].drawn, [1, 102, 103, 104, 105]);
    // In an order in which the timelines alternate.
    for at in (0..moments.len()).map(|count| count * 7 % 15) {
        let (save, then, left) = &moments[at];
        for save in [save.clone(), of_file(save)] {
            runtime.rollback(&save).unwrap();
            let mut world = then.clone();
            play(&mut runtime, &mut world, *left);
            assert_eq!(world, ends[at / 5], "moment {at}");
        }
    }
}

#[test]
fn a_save_state_of_another_runtime_replaces_the_whole_state() {
    for (frames, other_frames) in (0..4).flat_map(|a| (0..4).map(move |b| (a, b))) {
        let (mut one, world) = begun(10, frames);
        let (mut other, other_world) = begun(50, other_frames);
        let (own, foreign) = (one.save_state().unwrap(), other.save_state().unwrap());
        let mut end = other_world.clone();
        play(&mut other, &mut end, 6);

        one.rollback(&foreign).unwrap();
        assert_eq!(one.save_state().unwrap().checksum(), foreign.checksum());
        let mut again = other_world;
        play(&mut one, &mut again, 6);
        assert_eq!(again, end);

        one.rollback(&own).unwrap();
        let mut again = world;
        play(&mut one, &mut again, 6);
        assert_eq!(again.drawn, [11, 12, 13, 14, 15]);
    }
}

#[test]
fn save_states_from_before_a_restore_are_valid_after_it() {
    let (first, _) = begun(10, 3);
    let (second, _) = begun(50, 3);
    let mut runtime = blank();
    let saves = [&first, &second].map(|other| {
        let save = of_file(&other.save_state().unwrap());
        runtime.restore(&save, Policy::Fail).unwrap();
        runtime.save_state().unwrap()
    });
    for (save, last) in saves.iter().zip([15, 55]) {
        runtime.rollback(save).unwrap();
        let dice = last - 1;
        let mut world = World {
            dice,
            ..World::default()
        };
        play(&mut runtime, &mut world, 6);
        assert_eq!(world.drawn, [last - 1, last]);
    }
}

#[test]
fn handles_of_the_host_follow_a_rollback() {
    let (mut runtime, mut world) = begun(0, 0);
    let sum = runtime.lend(&mut world, |runtime| runtime.start(Draws));
    let begun = runtime.save_state().unwrap();
    for _ in 0..3 {
        let mut world = world.clone();
        assert_eq!(runtime.result(&sum), None);
        play(&mut runtime, &mut world, 5);
        assert_eq!(runtime.result(&sum), Some(Ok(2 + 4 + 6 + 8 + 10)));
        runtime.rollback(&begun).unwrap();
    }
}

#[test]
fn a_handle_that_a_rollback_invalidated_does_not_detach_a_later_script() {
    let mut runtime = blank();
    let empty = runtime.save_state().unwrap();
    let before = runtime.spawn(Draws);
    runtime.rollback(&empty).unwrap();
    let after = runtime.spawn(Draws);
    drop(before);
    play(&mut runtime, &mut World::default(), 6);
    assert_eq!(runtime.take(after), Some(Ok(15)));
}

/// Of another type than `Draws`, so that a result which was mistaken for its own could not be read.
#[derive(Serialize, Deserialize)]
struct Reads;

impl DurableScript for Reads {
    const NAME: &'static str = "reads";
    type Output = String;

    async fn run(self) -> Chapter<Self> {
        wait_frames(4).await;
        Chapter::Done("read".into())
    }
}

/// In two timelines, number 1 is another script.
#[test]
fn a_handle_of_another_timeline_does_nothing_to_the_script_that_has_its_number() {
    let mut runtime = quiet(Registry::new().with::<Draws>().with::<Reads>());
    let mut world = World::default();
    let empty = runtime.save_state().unwrap();
    let draws = runtime.spawn(Draws);
    play(&mut runtime, &mut world, 1);
    let drawing = runtime.save_state().unwrap();

    runtime.rollback(&empty).unwrap();
    assert!(!draws.stop() && !draws.pause() && !draws.resume() && !draws.request_stop());
    let reads = runtime.spawn(Reads);
    assert_eq!(draws.id(), reads.id());
    play(&mut runtime, &mut world, 1);
    assert!(!draws.stop() && !draws.pause() && !draws.resume() && !draws.request_stop());
    let reading = runtime.save_state().unwrap();
    play(&mut runtime, &mut world, 4);
    assert_eq!(runtime.result(&draws), None);
    assert_eq!(runtime.result(&reads), Some(Ok("read".into())));

    // Back in the first one, and back again: each handle is of its own script.
    runtime.rollback(&drawing).unwrap();
    assert!(!reads.stop() && draws.pause() && draws.resume());
    play(&mut runtime, &mut world, 5);
    assert_eq!(runtime.result(&reads), None);
    assert!(matches!(runtime.result(&draws), Some(Ok(1..))));
    runtime
        .rollback(&reading.into_send().into_save_state())
        .unwrap();
    assert!(!draws.stop() && reads.pause() && reads.resume());
    assert!(
        runtime
            .enter(|| reads.id().handle::<String>())
            .unwrap()
            .stop()
    );
    assert!(runtime.take(reads).unwrap().is_err());
    assert_eq!(runtime.take(draws), None);
}

#[test]
fn a_handle_that_a_rollback_invalidated_keeps_no_result_of_another_script() {
    let mut runtime = blank();
    let empty = runtime.save_state().unwrap();
    let before = runtime.spawn(Draws);
    runtime.rollback(&empty).unwrap();
    runtime.spawn(Draws).detach();
    play(&mut runtime, &mut World::default(), 6);
    // Equal to a runtime in which there has never been such a handle.
    let mut other = blank();
    other.spawn(Draws).detach();
    play(&mut other, &mut World::default(), 6);
    let saves = [&runtime, &other].map(|runtime| runtime.save_state().unwrap());
    assert_eq!(saves[0].diff(&saves[1]), []);
    assert_eq!(runtime.checksum(), other.checksum());
    drop(before);
}

#[test]
fn handles_of_the_host_follow_a_rollback_to_a_file() {
    let (mut runtime, mut world) = begun(0, 0);
    let sum = runtime.lend(&mut world, |runtime| runtime.start(Draws));
    let begun = of_file(&runtime.save_state().unwrap());
    play(&mut runtime, &mut world, 3);
    runtime.rollback(&begun).unwrap();
    assert!(sum.pause() && sum.resume());
    play(&mut runtime, &mut world, 5);
    assert!(matches!(runtime.take(sum), Some(Ok(1..))));
}

/// Runs, saves and rolls back another runtime inside `with`.
#[derive(Serialize, Deserialize)]
struct Dreams;

impl DurableScript for Dreams {
    const NAME: &'static str = "dreams";
    type Output = ();

    async fn run(self) -> Chapter<Self> {
        for _ in 0..3 {
            let drawn = with(|(_, runtime, world): &mut (Log, Runtime, World)| {
                runtime.verify().unwrap();
                let now = runtime.save().unwrap();
                play(runtime, &mut world.clone(), 2);
                runtime.restore(&of_file(&now), Policy::Fail).unwrap();
                runtime.rollback(&now).unwrap();
                play(runtime, world, 1);
                world.drawn.len()
            });
            with(move |world: &mut (Log, Runtime, World)| world.0.push(format!("{drawn} drawn")));
            next_frame().await;
        }
        Chapter::Done(())
    }
}

#[test]
fn a_runtime_can_run_and_roll_back_in_a_step_of_another_one() {
    let (inside, world) = begun(0, 0);
    let mut outside = Runtime::new(Registry::new().with::<Dreams>());
    let mut world = (Log::new(), inside, world);
    let dreams = outside.spawn(Dreams);
    for _ in 0..4 {
        outside.run_frame_with(&mut world, 0.1);
    }
    assert_eq!(outside.take(dreams), Some(Ok(())));
    assert_eq!(world.0, ["1 drawn", "2 drawn", "3 drawn"]);
}

/// A script that logs when it ends.
#[derive(Serialize, Deserialize)]
struct Naps {
    frames: u64,
}

impl DurableScript for Naps {
    const NAME: &'static str = "naps";
    type Output = ();

    async fn run(self) -> Chapter<Self> {
        wait_frames(self.frames).await;
        log(format!("{}", self.frames));
        Chapter::Done(())
    }
}

#[test]
fn ten_thousand_scripts_are_saved_loaded_and_rolled_back() {
    let blank = || quiet(Registry::new().with::<Naps>());
    let mut runtime = blank();
    for number in 0..10_000 {
        let frames = number % 97;
        runtime.start(Naps { frames }).detach();
    }
    let mut log = Log::new();
    for _ in 0..50 {
        runtime.run_frame_with(&mut log, 0.1);
    }
    let (save, then) = (runtime.save_state().unwrap(), log.clone());
    runtime.run_frame_with(&mut log, 0.1);
    let mut loaded = blank();
    loaded.restore(&of_file(&save), Policy::Fail).unwrap();
    runtime.rollback(&save).unwrap();
    for other in [&mut runtime, &mut loaded] {
        let mut again = then.clone();
        other.run_frame_with(&mut again, 0.1);
        assert_eq!(again.len(), log.len());
        assert!(again == log);
    }
    assert_eq!(what(&log).last(), Some(&"51"));
}
