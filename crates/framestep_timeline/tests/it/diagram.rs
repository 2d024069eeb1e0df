//! Timing diagrams, and comparing with one.

use framestep::prelude::*;
use framestep_timeline::Filter;

use crate::support::{message, recorded};

#[test]
fn a_diagram_shows_phases_waits_pauses_and_ends() {
    let (mut executor, recorder) = recorded();
    executor.script("all phases").start(async {
        in_phase(Phase::EarlyUpdate).await;
        fixed_update().await;
        next_frame().await;
        in_phase(Phase::LateUpdate).await;
        end_of_frame().await;
        in_phase(Phase::Custom(7)).await;
    });
    let paused = executor.script("paused").start(wait_seconds(1)).id();
    let stopped = executor.script("stopped").start(wait_seconds(9)).id();
    executor.script("later").spawn(wait_frames(2));
    for frame in 1..=8 {
        match frame {
            2 => drop(executor.pause(paused)),
            4 => drop(executor.resume(paused)),
            5 => drop(executor.stop(stopped)),
            _ => {}
        }
        executor.run_frame(0.25);
        executor.run_phase(Phase::Custom(7));
    }
    recorder.film().expect(
        "
        frame      0 1  2   3 4 5 6 7 8
        all phases * EF *LZC
        paused     * -  =   = - - * 
        stopped    * -  -   - -
        later      - *  -   *
        ",
    );
}

#[test]
fn a_diagram_shows_the_readings_of_the_game_clock() {
    let (mut executor, recorder) = recorded();
    executor.script("a").start(wait_seconds(0.25));
    executor.run_frames(2, 0.25);
    recorder.film().expect(
        "
        frame 0    1    2
        time  0.00 0.25 0.50
        a     *    *
        ",
    );
    let drawn = recorder.film().diagram().timed().to_string();
    assert_eq!(
        drawn,
        "frame 0    1    2\ntime  0.00 0.25 0.50\na     *    *\n"
    );
}

#[test]
fn more_than_three_polls_in_a_frame_are_counted() {
    let (mut executor, recorder) = recorded();
    executor.script("busy").start(async {
        next_frame().await;
        for _ in 0..8 {
            yield_now().await;
        }
        for _ in 0..2 {
            end_of_frame().await;
        }
    });
    executor.run_frames(2, 0.25);
    recorder.film().expect(
        "
        frame 0 1   2
        busy  * *9Z Z
        ",
    );
}

#[test]
fn a_panic_is_marked() {
    let (mut executor, recorder) = recorded();
    executor.on_report(|_| ());
    let script = executor.script("trap").start(async {
        next_frame().await;
        panic!("as planned");
    });
    executor.run_frames(2, 0.25);
    assert!(script.take_output().unwrap().unwrap_err().is_panic());
    recorder.film().expect("frame 0 1  2\ntrap  * *!");
}

#[test]
fn a_difference_is_shown_side_by_side() {
    let (mut executor, recorder) = recorded();
    executor.script("door").start(wait_seconds(0.5));
    executor.run_frames(2, 0.25);
    let film = recorder.film();
    let text = message(|| film.expect("frame 0 1 2\ndoor  * * -"));
    assert!(text.starts_with("the timeline differs\n"), "{text}");
    assert!(text.contains("\n  frame 0 1 2 | frame 0 1 2\n"), "{text}");
    assert!(text.contains("\n! door  * * - | door  * - *\n"), "{text}");
}

#[test]
fn a_missing_row_or_frame_differs() {
    let (mut executor, recorder) = recorded();
    executor.script("door").start(wait_seconds(0.5));
    executor.run_frames(2, 0.25);
    let film = recorder.film();
    assert!(message(|| film.expect("frame 0 1 2")).contains("differs"));
    assert!(message(|| film.expect("frame 0 9\ndoor  *")).contains('?'));
}

#[test]
fn a_text_that_is_not_a_diagram_is_an_error_with_the_reason() {
    let (_executor, recorder) = recorded();
    let film = recorder.film();
    for (drawing, reason) in [
        ("", "its first row is `frame`"),
        ("door * *", "its first row is `frame`"),
        ("frame", "has no frames"),
        ("frame 0 x", "`x` is not the number of a frame"),
        ("frame 0 1\ndoor   *", "`*` is under no frame"),
        ("frame 0 1\n      * -", "a row has no name"),
    ] {
        let text = message(|| film.expect(drawing));
        assert!(text.contains(reason), "{text}");
    }
}

#[test]
fn names_may_have_spaces_and_wide_characters() {
    let (mut executor, recorder) = recorded();
    executor.script("勇者 line 2").start(next_frame());
    executor.script("\u{202e}evil\n").start(next_frame());
    executor.run_frame(0.25);
    let film = recorder.film();
    film.clone()
        .only(&Filter::new().name("勇*"))
        .expect("frame     0 1\n勇者 line 2 * *");
    let drawn = film.diagram().to_string();
    assert_eq!(drawn.lines().count(), 3, "{drawn}");
    assert!(drawn.contains("\\u{202e}evil\\n"), "{drawn}");
}

#[test]
fn a_diagram_of_a_part_shows_that_part() {
    let (mut executor, recorder) = recorded();
    executor.script("a").start(wait_frames(4));
    executor.script("b").start(wait_frames(9));
    executor.run_frames(8, 0.25);
    let film = recorder.film();
    film.clone()
        .frames(3..=5)
        .expect("frame 3 4 5\na     - *\nb     - - -");
    film.clone().frames(6..=7).expect("frame 6 7\nb     - -");
    assert_eq!(film.clone().frames(6..=7).range(), Some(6..=7));
    assert_eq!(film.clone().frames(20..=30).range(), None);
    assert_eq!(film.clone().frames(20..=30).scripts(), 1);
    assert_eq!(film.busiest(1).scripts(), 1);
}
