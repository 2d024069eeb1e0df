//! Going back in time by running the game again.

use std::time::Duration;

use framestep::prelude::*;
use framestep_timeline::{Recorder, Recording, RecordingDifference, Rewind, RewindError, Step};

const DT: Duration = Duration::from_millis(250);

struct Game {
    executor: Executor,
    lever: Signal<()>,
}

fn make(seed: u64, recorder: &Recorder) -> Game {
    let executor = Executor::new();
    recorder.watch(&executor);
    let lever = Signal::<()>::new().named("lever");
    let waits = lever.clone();
    executor.script("gate").start(async move {
        wait_frames(seed).await;
        loop {
            waits.wait().await;
            wait_seconds(1).await;
        }
    });
    Game { executor, lever }
}

fn step(game: &mut Game, step: &Step<bool>) {
    if step.input {
        game.executor.enter(|| game.lever.emit(()));
    }
    game.executor.run_frame(step.dt);
}

fn play(seed: u64, frames: u64) -> Recording<bool> {
    let mut recording = Recording::new(seed);
    let recorder = Recorder::new();
    let mut game = make(seed, &recorder);
    for frame in 1..=frames {
        recording.push(DT, frame % 10 == 5);
        step(&mut game, recording.steps().last().unwrap());
    }
    recording.keep(recorder.film());
    recording
}

#[test]
fn it_goes_to_any_frame_and_back() {
    let mut rewind = Rewind::new(play(3, 900), make, step);
    rewind.go_to(815).unwrap();
    assert_eq!(
        rewind.still().get("gate").unwrap().waits[0].what,
        "1s, until 204.75s"
    );
    rewind.back().unwrap();
    assert_eq!(
        (rewind.frame(), rewind.game().executor.time().frame),
        (814, 814)
    );
    let gate = rewind.still().get("gate").unwrap().clone();
    assert_eq!(
        (gate.waits[0].what.as_str(), gate.waits[0].since),
        ("signal lever", 809)
    );
    rewind.forward().unwrap();
    assert_eq!(rewind.frame(), 815);
    rewind.go_to(0).unwrap();
    rewind.back().unwrap();
    assert_eq!(
        rewind.still().get("gate").unwrap().waits[0].what,
        "3 frames"
    );
    rewind.go_to(900).unwrap();
    assert_eq!(rewind.film(), *rewind.recording().film().unwrap());
    assert!(format!("{rewind:?}").contains("900"));
}

#[test]
fn there_is_no_frame_after_the_end() {
    let mut rewind = Rewind::new(play(3, 5), make, step);
    let error = rewind.go_to(6).unwrap_err();
    assert_eq!(error, RewindError::PastTheEnd { frame: 6, last: 5 });
    assert_eq!(
        error.to_string(),
        "there is no frame 6: the recording ends with frame 5"
    );
}

#[test]
fn other_code_is_noticed_at_the_first_frame_that_differs() {
    let other = |seed: u64, recorder: &Recorder| make(seed + 1, recorder);
    let mut rewind = Rewind::new(play(3, 50), other, step);
    let RewindError::Differs(difference) = rewind.go_to(40).unwrap_err() else {
        panic!("it differs");
    };
    assert_eq!(
        (difference.frame, difference.script.as_deref()),
        (0, Some("gate (0v1)"))
    );
    assert!(difference.place.unwrap().contains("rewind.rs:21:"));
    assert_eq!(rewind.frame(), 0);
}

#[test]
fn a_recording_without_a_film_is_not_compared() {
    let mut bare = Recording::new(3);
    assert!(bare.is_empty());
    (0..50).for_each(|_| bare.push(DT, false));
    let mut rewind = Rewind::new(bare, |seed, recorder| make(seed + 1, recorder), step);
    rewind.go_to(40).unwrap();
}

#[test]
fn a_recording_can_be_saved_and_loaded() {
    let recording = play(3, 30);
    let file = serde_json::to_string(&recording).unwrap();
    let read: Recording<bool> = serde_json::from_str(&file).unwrap();
    assert_eq!(read, recording);
    assert_eq!(read.difference(&recording), None);
}

#[test]
fn two_recordings_are_compared() {
    let recording = play(3, 30);
    assert_eq!(recording.difference(&play(3, 30)), None);
    assert_eq!(
        recording.difference(&play(4, 30)),
        Some(RecordingDifference::Seed(3, 4))
    );
    let mut longer = play(3, 30);
    longer.push(DT, true);
    let difference = recording.difference(&longer).unwrap();
    assert_eq!(
        difference.to_string(),
        "they have 30 and 31 frames, and are equal that far"
    );

    // Different inputs are reported before what they cause.
    let mut other = Recording::new(3);
    let recorder = Recorder::new();
    let mut game = make(3, &recorder);
    for frame in 1..=30 {
        other.push(DT, frame % 10 == 5 || frame == 18);
        step(&mut game, other.steps().last().unwrap());
    }
    other.keep(recorder.film());
    let difference = recording.difference(&other).unwrap();
    assert_eq!(difference.to_string(), "the inputs of frame 18 differ");

    // The same inputs, but other code.
    let recorder = Recorder::new();
    let mut game = make(4, &recorder);
    recording
        .steps()
        .iter()
        .for_each(|one| step(&mut game, one));
    let mut other = recording.clone();
    other.keep(recorder.film());
    let RecordingDifference::Scripts(difference) = recording.difference(&other).unwrap() else {
        panic!("the scripts differ");
    };
    assert_eq!(difference.frame, 0);
}
