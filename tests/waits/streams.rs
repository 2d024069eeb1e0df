//! Streams over time: `every_frames`, `changes_of`, `debounce`, `throttle`.

use std::cell::Cell;
use std::rc::Rc;

use futures::StreamExt;

use framestep::prelude::*;

use framestep_testkit::timeline::{Log, Timeline, unclamped};
use framestep_testkit::{panic_of, poll_once};

// docs/contract.md#decided-streams
#[test]
fn every_frames_counts_from_the_first_poll_and_skips_what_it_has_missed() {
    let mut timeline = Timeline::with_dt(0.25);
    timeline.row("each", |mark| async move {
        next_frame().await;
        let mut frames = every_frames(3);
        for _ in 0..3 {
            let now = frames.next().await.unwrap();
            assert_eq!(now, time());
            mark.hit();
        }
    });
    timeline.row("late", |mark| async move {
        let mut frames = every_frames(3);
        for waits in [0, 4] {
            wait_frames(waits).await;
            frames.next().await;
            mark.hit();
        }
    });
    timeline.row("phase", |mark| async move {
        let mut frames = every_frames(2).in_phase(Phase::LateUpdate);
        for _ in 0..2 {
            frames.next().await;
            mark.hit();
        }
    });
    timeline.row("zero", |mark| async move {
        every_frames(0).take(2).for_each(async |_| mark.hit()).await;
    });
    timeline.check(
        "
        frame 0 1 2 3 4 5 6 7 8 9 10 11
        each  - - - - * - - * - - *
        late  - - - - * - - - - - *
        phase - - L - L
        zero  - * *
        ",
    );
}

#[test]
fn changes_of_reads_once_in_each_frame_and_yields_what_differs() {
    let mut executor = unclamped();
    let log = Log::new();
    let (value, reads) = (Rc::new(Cell::new(0)), Rc::new(Cell::new(0)));
    let (read, count, say) = (value.clone(), reads.clone(), log.clone());
    executor.start(async move {
        let mut changes = changes_of(move || {
            count.set(count.get() + 1);
            read.get()
        });
        while let Some(value) = changes.next().await {
            say.say(value);
            if value == 5 {
                wait_frames(2).await; // 6, and 5 again, are not seen
            }
        }
    });
    for now in [0, 1, 1, 5, 6, 5, 5, 7] {
        value.set(now);
        executor.run_frame(1);
    }
    log.check(&["F2: 1", "F4: 5", "F8: 7"]);
    // At the first poll, then in each frame but the two of the pause.
    assert_eq!(reads.get(), 1 + 8 - 2);
}

// docs/contract.md#decided-streams
#[test]
fn changes_of_on_fixed_steps_reads_in_each_step() {
    let mut executor = framestep_testkit::timeline::in_quarters();
    let seen = executor
        .script("")
        .in_phase(Phase::FixedUpdate)
        .start(async {
            let steps = changes_of(|| time().elapsed).map(|elapsed| elapsed.as_millis());
            steps.take(3).collect::<Vec<_>>().await
        });
    executor.run_frame(0.75);
    assert_eq!(seen.take_output().unwrap().unwrap(), [250, 500, 750]);
}

#[test]
fn changes_of_with_its_present_value_yields_that_first() {
    let executor = unclamped();
    let seen = executor.start(async {
        let mut present = changes_of(|| 1).with_present();
        let first = present.next().await;
        (first, poll_once(&mut present.next()).await.is_pending())
    });
    assert_eq!(seen.take_output().unwrap().unwrap(), (Some(1), true));
    let text = panic_of(|| futures::executor::block_on(changes_of(|| 1).next()));
    assert!(text.contains("`changes_of()` was polled outside"), "{text}");
}

// docs/contract.md#decided-streams
#[test]
fn debounce_yields_the_last_of_a_burst() {
    let mut executor = unclamped();
    let log = Log::new();
    let keys = Signal::new();
    let (say, mut settled) = (log.clone(), debounce(0.5, keys.subscribe()));
    executor.start(async move {
        while let Some(key) = settled.next().await {
            say.say(key);
        }
        say.say("over");
    });
    // F1, F2, F3: a burst. It is over in F5.
    for key in ['a', 'b', 'c'] {
        keys.emit(key);
        executor.run_frame(0.25);
    }
    executor.run_frames(4, 0.25);
    keys.emit('d'); // read in F8, and the stream ends
    drop(keys);
    executor.run_frames(3, 0.25);
    log.check(&["F5: c", "F8: d", "F8: over"]);
    executor.assert_empty();
}

#[test]
fn debounce_keeps_its_item_when_a_wait_for_it_is_dropped() {
    let mut executor = unclamped();
    let seen = executor.start(async {
        let mut settled = debounce(
            2,
            futures::stream::iter([1, 2]).chain(futures::stream::pending()),
        );
        assert!(timeout(1, settled.next()).await.is_err());
        (settled.next().await, time().frame)
    });
    executor.run_frames(3, 1);
    assert_eq!(seen.take_output().unwrap().unwrap(), (Some(2), 2));
}

// docs/contract.md#decided-streams
#[test]
fn changes_of_reads_in_the_runs_in_which_wait_until_checks() {
    for phase in [Phase::Update, Phase::FixedUpdate, Phase::Custom(3)] {
        let mut executor = unclamped();
        let (checks, reads) = (Log::new(), Log::new());
        let (check, read) = (checks.clone(), reads.clone());
        executor.start(
            wait_until(move || {
                check.note(time().frame.to_string());
                false
            })
            .in_phase(phase),
        );
        executor.start(async move {
            let mut changes =
                changes_of(move || read.note(time().frame.to_string())).in_phase(phase);
            changes.next().await;
        });
        reads.check(&["0"]); // the read of the first poll
        for runs in [2, 2, 0, 1, 3] {
            executor.begin_frame(1);
            for _ in 0..runs {
                executor.run_phase(phase);
            }
        }
        let expected = ["1", "1", "2", "2", "4", "5", "5", "5"];
        checks.check(&expected);
        reads.check(&expected);
    }
}

#[test]
fn debounce_stands_still_in_a_pause() {
    let mut executor = unclamped();
    let seen = executor.start(async {
        let stream = futures::stream::iter([1]).chain(futures::stream::pending());
        debounce(2, stream).next().await;
    });
    executor.run_frame(1);
    seen.pause();
    executor.run_frames(9, 1);
    seen.resume();
    assert!(!seen.is_finished());
    executor.run_frame(1);
    assert!(seen.is_finished());
}

// docs/contract.md#decided-streams
#[test]
fn throttle_lets_one_item_pass_in_each_length() {
    let mut executor = unclamped();
    let half = executor.clock().child();
    half.set_scale(0.5);
    let (game, slow) = (executor.owner(), executor.owner_on(&half));
    let hits = Signal::new();
    let script = |owner: &Owner| {
        let hits = throttle(1, hits.subscribe());
        owner.start(hits.collect::<Vec<u64>>())
    };
    let (game, slow) = (script(&game), script(&slow));
    for frame in 1..=8 {
        hits.emit(frame);
        executor.run_frame(0.5);
    }
    drop(hits);
    executor.run_frame(0.5);
    assert_eq!(
        game.take_output().map(Result::unwrap),
        Some(vec![1, 3, 5, 7])
    );
    assert_eq!(slow.take_output().map(Result::unwrap), Some(vec![1, 5]));
}

#[test]
fn lengths_of_nan_name_their_line() {
    let executor = unclamped();
    let bell = Signal::<()>::new();
    for throttles in [false, true] {
        let line = line!() + 4;
        let events = bell.subscribe();
        let script = executor.start(async move {
            if throttles {
                throttle(f32::NAN, events).next().await;
            } else {
                debounce(f32::NAN, events).next().await;
            }
        });
        let line = line + 2 * u32::from(!throttles);
        let error = script.take_output().unwrap().unwrap_err().to_string();
        assert!(error.contains(&format!("{}:{line}", file!())), "{error}");
    }
}
