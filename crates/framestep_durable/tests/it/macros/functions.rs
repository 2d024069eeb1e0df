//! A function: its state, its output, its chapters, and who awaits it.

use framestep_durable::prelude::*;

use crate::twin::Game;

type Log = Vec<String>;

fn note(text: impl Into<String>) {
    let text = text.into();
    with(move |log: &mut Log| log.push(text));
}

/// Counts down. A parameter may change in the body.
#[durable]
async fn countdown(mut from: u32, name: String) -> u32 {
    let start = from;
    while from > 0 {
        note(format!("{name} {from}"));
        wait_seconds(0.2).await;
        from -= 1;
    }
    start
}

#[durable]
async fn idle() {
    next_frame().await;
}

/// Chapters without an output.
#[durable]
async fn lamp(blinks: u8) -> Chapter {
    note(format!("lamp {blinks}"));
    wait_frames(2).await;
    if blinks == 0 {
        return Chapter::Done(());
    }
    Chapter::Next(lamp(blinks - 1))
}

/// Chapters with an output.
#[durable]
async fn sum(of: Vec<u32>, so_far: u32) -> Chapter<u32> {
    next_frame().await;
    match of.split_last() {
        None => Chapter::Done(so_far),
        Some((last, others)) => Chapter::Next(sum(others.to_vec(), so_far + last)),
    }
}

/// Awaits states: starts and joins.
#[durable]
async fn parent(stops: bool) -> Result<u32, JoinError> {
    note("parent");
    let countdown = start(countdown(2, "child".into()));
    if stops {
        stop(countdown.id());
    }
    let sum = sum(vec![1, 2, 3], 0).await?;
    idle().await?;
    note(format!("sum {sum}"));
    Ok(sum + countdown.await?)
}

/// `?` in a chapter.
#[durable]
async fn digits(text: String, sum: u32) -> Result<Chapter<u32>, String> {
    next_frame().await;
    let Some(digit) = text.chars().next() else {
        return Ok(Chapter::Done(sum));
    };
    let value = digit.to_digit(10).ok_or(format!("`{digit}`"))?;
    Ok(Chapter::Next(digits(text[1..].into(), sum + value)))
}

fn blank() -> Runtime {
    let registry = Registry::new()
        .script(countdown)
        .script(idle)
        .script(lamp)
        .script(sum)
        .script(parent)
        .script(digits);
    Runtime::new(registry)
}

fn frame(_: u32, runtime: &mut Runtime, log: &mut Log) {
    runtime.run_frame_with(log, 0.1);
}

/// Runs a script to its end.
fn output<S: DurableScript>(script: S) -> Result<S::Output, JoinError> {
    let (mut runtime, mut log) = (blank(), Log::new());
    let handle = runtime.spawn(script);
    for _ in 0..20 {
        runtime.run_frame_with(&mut log, 0.1);
    }
    runtime.take(handle).expect("it ends within 20 frames")
}

#[test]
fn a_call_makes_the_state_and_runs_nothing() {
    fn name_of<S: DurableScript>(_: &S) -> &'static str {
        S::NAME
    }
    let state = countdown(3, "a".into());
    assert_eq!((state.from, state.name.as_str()), (3, "a"));
    assert_eq!(name_of(&state), "countdown");
}

#[test]
fn the_output_is_what_the_function_returns() {
    assert_eq!(output(countdown(3, "a".into())), Ok(3));
    assert_eq!(output(idle()), Ok(()));
    assert_eq!(output(lamp(2)), Ok(()));
    assert_eq!(output(sum(vec![4, 5, 6], 1)), Ok(16));
}

#[test]
fn a_question_mark_ends_a_chapter_with_the_error() {
    assert_eq!(output(digits("123".into(), 0)), Ok(Ok(6)));
    assert_eq!(output(digits("1x3".into(), 0)), Ok(Err("`x`".into())));
}

#[test]
fn an_awaited_state_is_started_and_joined() {
    assert_eq!(output(parent(false)), Ok(Ok(8)));
    assert!(matches!(
        output(parent(true)),
        Ok(Err(JoinError::Stopped { .. }))
    ));
}

#[test]
fn the_journal_is_empty_after_each_chapter() {
    let (mut runtime, mut log) = (blank(), Log::new());
    let lamp = runtime.spawn(lamp(100));
    for _ in 0..150 {
        runtime.run_frame_with(&mut log, 0.1);
        assert!(runtime.entries(lamp.id()).unwrap() < 3);
    }
}

#[test]
fn functions_are_saved_loaded_and_rolled_back_at_every_moment() {
    let game = Game {
        blank,
        begin: |runtime, log| {
            runtime.lend(log, |runtime| {
                runtime.start(parent(false)).detach();
                runtime.start(lamp(2)).detach();
                runtime.spawn(digits("12".into(), 0)).detach();
            });
        },
        frame,
        frames: 12,
    };
    let log = game.assert_like_its_twin();
    let of_lamp = log.iter().filter(|line| line.starts_with("lamp"));
    assert!(of_lamp.eq(["lamp 2", "lamp 1", "lamp 0"]));
    assert!(log.iter().any(|line| line == "sum 6"));
}

#[test]
fn a_divergence_has_the_line_of_the_await_that_started_the_script() {
    #[durable(name = "parent")]
    async fn changed(stops: bool) {
        assert!(!stops);
        note("parent");
        idle().await.unwrap();
    }
    let line = line!() - 2;
    let (runtime, mut log) = (blank(), Log::new());
    let mut runtime = runtime;
    runtime.spawn(parent(false)).detach();
    runtime.run_frame_with(&mut log, 0.1);
    let save = runtime.save().unwrap();

    let mut twin = Runtime::new(
        Registry::new()
            .script(changed)
            .script(countdown)
            .script(sum),
    );
    let error = twin.restore(&save, Policy::Fail).unwrap_err().to_string();
    let place = format!("{}:{line}", file!());
    assert!(error.contains(&place), "{error}");
}
