//! The first difference of two runs.

use std::cell::Cell;

use framestep::prelude::*;
use framestep_timeline::{Film, check_determinism};

use crate::support::{message, recorded};

/// A run in which one of many scripts can differ.
fn run(odd: u64) -> Film {
    let (mut executor, recorder) = recorded();
    for number in 0..20_u64 {
        executor
            .script(format!("goblin {number}"))
            .start(async move {
                loop {
                    wait_frames(2 + number % 3).await;
                    if number == 7 && time().frame > 30 {
                        wait_frames(odd).await;
                    }
                }
            });
    }
    executor.run_frames(60, 0.25);
    recorder.film()
}

#[test]
fn the_first_frame_script_and_line_that_differ_are_named() {
    assert!(run(2).difference(&run(2)).is_none());
    let difference = run(2).difference(&run(3)).unwrap();
    assert_eq!(difference.frame, 33);
    assert_eq!(difference.script.as_deref(), Some("goblin 7 (7v1)"));
    assert!(
        difference
            .place
            .as_ref()
            .unwrap()
            .contains("comparing.rs:20:"),
        "{difference}"
    );
    assert_eq!(difference.left.as_deref(), Some("waits for 2 frames"));
    assert_eq!(difference.right.as_deref(), Some("waits for 3 frames"));
    assert!(
        difference
            .to_string()
            .starts_with("the runs differ in frame 33, in Update: goblin 7 (7v1) at ")
    );
}

#[test]
fn a_run_that_ends_earlier_differs_where_it_ends() {
    let whole = run(2);
    let half = whole.clone().frames(0..=29);
    let difference = whole.difference(&half).unwrap();
    assert_eq!((difference.frame, difference.right), (30, None));
}

#[test]
fn both_lines_are_named_if_the_runs_continue_at_different_lines() {
    let run = |hurries: bool| {
        let (mut executor, recorder) = recorded();
        executor.script("weather").start(async move {
            wait_frames(2).await;
            if hurries {
                return;
            }
            wait_frames(4).await;
        });
        executor.run_frames(8, 0.25);
        recorder.film()
    };
    let (calm, hurried) = (run(false), run(true));
    let difference = calm.difference(&hurried).unwrap();
    let [at, after] = [&difference.left_place, &difference.right_place].map(|place| {
        let place = place.as_ref().expect("the line is known");
        assert!(place.contains("comparing.rs:"), "{place}");
        place
    });
    assert_ne!(at, after);
    let expected = format!(
        "the runs differ in frame 2, in Update: weather (0v1)\n  \
         first run:  waits for 4 frames at {at}\n  \
         second run: finished after {after}"
    );
    assert_eq!(difference.to_string(), expected);
    assert!(run(false).difference(&run(false)).is_none());
}

#[test]
fn check_determinism_returns_the_hash_of_a_run() {
    let game = |recorder: &framestep_timeline::Recorder| {
        let mut executor = Executor::new();
        recorder.watch(&executor);
        executor.script("a").start(wait_seconds(1));
        move |_frame| executor.run_frame(0.25)
    };
    let hash = check_determinism(10, game).unwrap();
    assert_eq!(check_determinism(10, game).unwrap(), hash);
    assert_ne!(check_determinism(3, game).unwrap(), hash);
}

#[test]
fn check_determinism_names_what_differs() {
    let runs = Cell::new(0);
    let difference = check_determinism(500, |recorder| {
        let mut executor = Executor::new();
        recorder.watch(&executor);
        runs.set(runs.get() + 1);
        let run = runs.get();
        executor.script("weather").start(async move {
            wait_seconds(90).await;
            wait_frames(run).await;
        });
        move |_frame| executor.run_frame(0.25)
    })
    .unwrap_err();
    assert_eq!(runs.get(), 2);
    assert_eq!(difference.frame, 360);
    assert_eq!(difference.script.as_deref(), Some("weather (0v1)"));
    assert!(difference.place.unwrap().contains("comparing.rs:"));
}

#[test]
fn a_game_that_is_not_watched_panics() {
    let text = message(|| drop(check_determinism(3, |_recorder| |_frame| ())));
    assert!(text.contains("recorder.watch(&executor)"), "{text}");
}

/// A script with these lengths in each run, one after the other.
fn patrol(lengths: &[u32], branch: bool) -> framestep_timeline::Film {
    let (mut executor, recorder) = recorded();
    let lengths = lengths.to_vec();
    executor.script("patrol").start(async move {
        for length in lengths {
            wait_seconds(length).await;
        }
        if branch {
            wait_frames(3).await;
        } else {
            wait_frames(5).await;
        }
    });
    executor.run_frames(200, 0.25);
    recorder.film()
}

#[test]
fn a_difference_lists_the_next_waits_of_both_runs_and_guesses_the_cause() {
    let first = patrol(&[1, 2, 3, 4], true);
    let difference = first.difference(&patrol(&[1, 3, 4, 2], true)).unwrap();
    let words = |next: &[String]| {
        let words = next.iter().map(|it| it.split(" at ").next().unwrap());
        words.collect::<Vec<_>>().join(", ")
    };
    assert_eq!(words(&difference.left_next), "2s, 3s, 4s, 3 frames");
    assert_eq!(words(&difference.right_next), "3s, 4s, 2s, 3 frames");
    let text = difference.to_string();
    let guess =
        "it looks like the same waits in another order: do they follow the order of a HashMap?";
    assert!(text.ends_with(guess), "{text}");
    assert!(
        text.contains("\n  next waits, second run: 3s at "),
        "{text}"
    );

    let guess = |other: &framestep_timeline::Film| {
        let difference = first.difference(other).unwrap();
        difference.looks_like.expect("a guess")
    };
    let others = patrol(&[1, 2, 5, 9], true);
    assert!(guess(&others).starts_with("the same lines with other lengths"));
    let others = patrol(&[1, 2, 3, 4], false);
    assert!(guess(&others).starts_with("another branch"));
}

#[test]
fn scripts_that_are_started_in_another_order_look_like_a_map() {
    let run = |names: [&'static str; 3]| {
        let (mut executor, recorder) = recorded();
        executor.script("spawner").start(async move {
            next_frame().await;
            for name in names {
                script(name).start(wait_seconds(9));
            }
        });
        executor.run_frames(3, 0.25);
        recorder.film()
    };
    let difference = run(["a", "b", "c"])
        .difference(&run(["b", "c", "a"]))
        .unwrap();
    let guess = difference.looks_like.expect("a guess");
    assert!(
        guess.starts_with("the same scripts in another order"),
        "{guess}"
    );
}
