//! Checks whether two runs of a game are equal.

use crate::compare::Difference;
use crate::recorder::Recorder;

/// At most this many events are kept for finding the first difference: 96 MiB.
const MOST_EVENTS: usize = 4 << 20;

/// Runs a game twice, and compares all events. Returns the [hash](Recorder::hash) of the
/// run.
///
/// `make` makes the game: it creates an executor, has the recorder
/// [watch](Recorder::watch) it, starts the scripts, and returns a closure that runs one
/// frame. The closure gets the number of the frame, from 1.
///
/// # Errors
///
/// The first frame, script and line in which the second run differs from the first.
///
/// # Panics
///
/// If the recorder saw no event.
///
/// # Examples
///
/// ```
/// use std::cell::Cell;
/// use framestep::prelude::*;
/// use framestep_timeline::check_determinism;
///
/// let mut calls = Cell::new(0);
/// let result = check_determinism(100, |recorder| {
///     let mut executor = Executor::new();
///     recorder.watch(&executor);
///     calls.set(calls.get() + 1);
///     let length = calls.get(); // differs from run to run
///     executor.script("dice").start(async move { wait_frames(length).await });
///     move |_frame| executor.run_frame(0.25)
/// });
/// let difference = result.unwrap_err();
/// assert_eq!((difference.frame, difference.script.as_deref()), (0, Some("dice (0v1)")));
/// ```
pub fn check_determinism<G: FnMut(u64)>(
    frames: u64,
    mut make: impl FnMut(&Recorder) -> G,
) -> Result<u64, Difference> {
    let mut run = || {
        let recorder = Recorder::new()
            .keep_frames(usize::MAX)
            .keep_events(MOST_EVENTS);
        let game = make(&recorder);
        (game, recorder)
    };
    let mut hashes = Vec::new();
    let (mut game, first) = run();
    hashes.push(first.hash());
    for frame in 1..=frames {
        game(frame);
        hashes.push(first.hash());
    }
    drop(game);
    assert!(
        !first.is_empty(),
        "check_determinism saw no event: `make` has to call `recorder.watch(&executor)` before it starts scripts"
    );

    let (mut game, second) = run();
    let mut frame = 0;
    while second.hash() == hashes[index(frame)] {
        if frame == frames {
            return Ok(second.hash());
        }
        frame += 1;
        game(frame);
    }
    let kept = second.film();
    Err(first
        .film()
        .difference(&kept)
        .unwrap_or_else(|| Difference::unseen(frame)))
}

fn index(frame: u64) -> usize {
    usize::try_from(frame).expect("the frames have been run")
}
