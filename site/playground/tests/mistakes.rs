//! Scripts with mistakes. Each is named with its place, and the playground goes on.

use std::time::Duration;

use framestep_playground::{Options, Run, json, run};

fn play(text: &str) -> Result<Run, String> {
    let options = Options {
        dt: Duration::from_millis(250),
        frames: 40,
    };
    let result = run(text, options);
    assert!(json(&result).starts_with('{'));
    result.map_err(|error| {
        format!(
            "{}:{}: {}",
            error.place.line, error.place.column, error.words
        )
    })
}

/// What is wrong with a text that cannot be read.
fn refused(text: &str) -> String {
    match play(text) {
        Ok(_) => panic!("it was read: {text}"),
        Err(words) => words,
    }
}

/// What goes wrong in a run of `game` with this body.
fn mistake(body: &str) -> String {
    let run = play(&format!(
        "async fn game() {{\n{body}\n}}\nasync fn other() {{ next_frame().await; }}"
    ))
    .expect("it can be read");
    let mistake = run.mistakes.first().expect("it makes a mistake");
    format!("{}: {}", mistake.error.place.line, mistake.error.words)
}

#[test]
fn what_cannot_be_read_is_named_with_its_place() {
    for (text, words) in [
        (
            "",
            "1:1: the playground starts `game`, but there is no `async fn game()`",
        ),
        (
            "fn game() {}",
            "1:1: the playground starts `game`, so it is an `async fn` without parameters",
        ),
        (
            "async fn game() {\n    next_frame().await\n    next_frame().await;\n}",
            "3:5: `;` belongs here, before `next_frame`",
        ),
        (
            "async fn game() {\n    loop {\n",
            "3:1: the script ends here, but a `}` or `;` is missing",
        ),
        (
            "async fn game() { say(\"hi }",
            "1:23: this text has no end: `\"` is missing",
        ),
        (
            "fn helper() {\n    next_frame().await;\n}",
            "2:18: `.await` needs an `async fn`: this `fn` is not `async`",
        ),
        (
            "async fn game() { wait_until(|| { next_frame().await; true }).await; }",
            "1:48: `.await` cannot stand in a closure; an `async move { .. }` in it can wait",
        ),
        (
            "async fn game() { vec![1]; }",
            "1:19: the playground has no `vec!`; it has `println!`, `format!`, `select!` and `join!`",
        ),
        (
            "async fn game() { println!(\"{}\"); }",
            "1:28: the text has more `{}` than there are values",
        ),
        (
            "struct Game;",
            "1:1: a script of the playground consists of `async fn`s and `fn`s; it has no `struct` here",
        ),
        (
            "async fn game() { 1 = 2; }",
            "1:21: only a variable or a field of the world can be changed",
        ),
        (
            "async fn game() {}\nasync fn game() {}",
            "2:1: there are two functions of this name",
        ),
        (
            "async fn game() { a ~ b }",
            "1:21: a script has no character like '~'",
        ),
    ] {
        assert_eq!(refused(text), words, "{text}");
    }
}

#[test]
fn no_text_ends_the_playground() {
    // Too deep for the stack, if it were not refused.
    for (open, close) in [
        ("(", ")"),
        ("{", "}"),
        ("!", ""),
        ("[", "]"),
        ("if x {", "}"),
        ("|| ", ""),
    ] {
        let text = format!(
            "async fn game() {{ {} 1 {} }}",
            open.repeat(5_000),
            close.repeat(5_000)
        );
        let _ = refused(&text);
    }
    // Each beginning of a script.
    let text = include_str!("../presets/lever.rs");
    for end in (0..text.len()).filter(|end| text.is_char_boundary(*end)) {
        let _ = play(&text[..end]);
    }
    // Each script with a token less.
    for at in 0..text.len() {
        if text.is_char_boundary(at) && text.is_char_boundary(at + 1) {
            let _ = play(&format!("{}{}", &text[..at], &text[at + 1..]));
        }
    }
}

#[test]
fn mistakes_of_a_run_end_the_script() {
    for (body, words) in [
        (
            "sleep(1).await;",
            "2: there is no function `sleep` in this script, and the playground has: ",
        ),
        ("other();", "2: `other` does nothing without `.await`"),
        (
            "println!(\"{coins}\");",
            "2: there is no variable `coins` here",
        ),
        (
            "loop {}",
            "2: the scripts do too much in this frame: is there a loop without an `.await`?",
        ),
        (
            "loop { start(async move {}); }",
            "2: more than 1000 scripts are started in this frame",
        ),
        (
            "loop { spawn(other()); }",
            "2: more than 500 scripts are alive: does each of them start others, without end?",
        ),
        (
            "wait_seconds(\"1\").await;",
            "2: `wait_seconds` takes a number of seconds, not a text",
        ),
        (
            "wait_frames(0 - 1).await;",
            "2: `wait_frames` takes a number of frames, which cannot be negative",
        ),
        (
            "let x = 1 + 1.0;",
            "2: rustc refuses `+` between an integer and a float; write `1.0` for `1`",
        ),
        (
            "let x = 9223372036854775807 + 1;",
            "2: this panics: the number is too large, or is divided by zero",
        ),
        (
            "let x = 1 / 0;",
            "2: this panics: the number is too large, or is divided by zero",
        ),
        (
            "with(|world| world.gold = 1);",
            "2: the world has no `gold`; it has `hero`, `door`, `lamp` and `coins`",
        ),
        (
            "with(|world| with(|world| 1));",
            "2: this panics: a `with` inside a `with` borrows the same world twice",
        ),
        (
            "wait_until(|| 1).await;",
            "2: a condition is `true` or `false`, not an integer",
        ),
        (
            "let h = start(other()); h.stop(); h.await.unwrap();",
            "2: this panics: `unwrap` on an error: ",
        ),
        (
            "let h = start(other()); h.await; h.await;",
            "2: this handle has been awaited already, or dropped",
        ),
        (
            "let w = other(); w.await; w.await;",
            "2: `other` has been awaited already; rustc refuses this, or the script panics",
        ),
        ("1.await;", "2: an integer cannot be awaited"),
        (
            "interval(0);",
            "2: this panics: the period of an interval is longer than zero",
        ),
        ("next_frame(1).await;", "2: `next_frame` takes fewer values"),
        (
            "let o = owner(); drop(o); o.start(other());",
            "2: this owner has been dropped",
        ),
        (
            "game().await;",
            "2: calls are too deep here: does a function call itself?",
        ),
        (
            "let Ok(x) = timeout(0.1, other()).await; let Ok(y) = timeout(0.1, wait_seconds(5)).await;",
            "2: the pattern does not match Err(",
        ),
    ] {
        let said = mistake(body);
        assert!(said.starts_with(words), "{body}: {said}");
    }
}

#[test]
fn a_mistake_ends_one_script_alone() {
    let run = play(
        "async fn bad() { next_frame().await; let x = 1 / 0; }
         async fn game() { let bad = start(bad()); println!(\"{}\", bad.await.is_err()); wait_seconds(1).await; println!(\"end\"); }",
    )
    .expect("it can be read");
    let printed: Vec<_> = run
        .frames
        .iter()
        .flat_map(|frame| &frame.printed)
        .map(|line| line.text.as_str())
        .collect();
    assert_eq!(printed, ["true", "end"]);
    assert_eq!((run.mistakes.len(), run.mistakes[0].frame), (1, 1));
    assert!(!run.goes_on);
}

#[test]
fn scripts_that_start_others_without_end_leave_the_rest_of_the_frames() {
    for start in ["start", "spawn"] {
        let run = play(&format!(
            "async fn flood() {{ loop {{ {start}(flood()); {start}(flood()); next_frame().await; }} }}
             async fn game() {{ {start}(flood()); wait_seconds(5).await; println!(\"end\"); }}"
        ))
        .expect("it can be read");
        assert!(!run.mistakes.is_empty());
        assert_eq!(run.frames.len(), 41, "no frame is missing");
        assert!(run.frames.iter().all(|frame| frame.waits.len() <= 500));
        assert!(run.frames[20].printed.iter().any(|line| line.text == "end"));
    }
}
