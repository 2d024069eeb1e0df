//! Patches of the code before the place of a save: an error, and no entry read as another one. Code
//! that moves as a whole is no patch.

use framestep_durable::prelude::*;

const HIT: Signal<u32> = signal("hit");
const HEAL: Signal<u32> = signal("heal");

/// A script named "talk" with this body, in a module of its own.
macro_rules! talk {
    ($module:ident, { $($body:tt)* }) => {
        mod $module {
            use super::*;

            #[derive(Serialize, Deserialize)]
            pub(super) struct Talk;

            impl DurableScript for Talk {
                const NAME: &'static str = "talk";
                type Output = ();

                async fn run(self) -> Chapter<Self> {
                    $($body)*
                    Chapter::Done(())
                }
            }
        }
    };
}

fn say(line: &'static str) {
    with(move |lines: &mut Vec<String>| lines.push(line.to_owned()));
}

async fn say_slowly(line: &'static str) {
    say(line);
    wait_frames(2).await;
}

talk!(original, {
    say("Halt!");
    wait_seconds(0.2).await;
    say("Take this.");
    wait_seconds(0.2).await;
    say("(100 gold)");
    wait_seconds(0.2).await;
    say("Farewell.");
});

talk!(moved, {
    say("Halt!");
    wait_seconds(0.2).await;
    say("Take this.");
    wait_seconds(0.2).await;
    say("(100 gold)");
    wait_seconds(0.2).await;
    say("Farewell.");
    wait_seconds(0.2).await;
    say("And come back.");
});

talk!(with_another_line, {
    say("Halt!");
    wait_seconds(0.2).await;
    say("You again?");
    // They know each other.
    wait_seconds(0.2).await;
    say("Take this.");
    wait_seconds(0.2).await;
    say("(100 gold)");
    wait_seconds(0.2).await;
    say("Farewell.");
});

talk!(with_one_line_less, {
    say("Halt!");
    wait_seconds(0.2).await;

    say("(100 gold)");
    wait_seconds(0.2).await;
    say("Farewell.");
});

talk!(with_a_longer_wait_and_other_texts, {
    say("Halt, stranger!");
    wait_seconds(0.2 + 0.0).await;
    say("Take this, please.");
    wait_seconds(0.2 + 0.2).await;
    say("(100 gold)");
    wait_seconds(0.2).await;
    say("Farewell.");
});

#[rustfmt::skip]
talk!(in_one_line, {
    say("Halt!"); wait_seconds(0.2).await; say("Take"); wait_seconds(0.2).await; say("(100 gold)"); wait_seconds(0.2).await;
});

#[rustfmt::skip]
talk!(in_one_line_with_another, {
    say("Halt!"); wait_seconds(0.2).await; say("You again?"); wait_seconds(0.2).await; say("Take"); wait_seconds(0.2).await; say("(100 gold)"); wait_seconds(0.2).await;
});

talk!(is_hit, {
    let health = HIT.wait().await;
    with(move |lines: &mut Vec<String>| lines.push(format!("-{health}")));
    wait_seconds(9).await;
});

talk!(is_healed, {
    let health = HEAL.wait().await;
    with(move |lines: &mut Vec<String>| lines.push(format!("+{health}")));
    wait_seconds(9).await;
});

talk!(takes_turns, {
    next_frame().await;
    with(|lines: &mut Vec<String>| lines.push("turn".to_owned()));
    wait_seconds(9).await;
});

talk!(hits, {
    HIT.emit(5);
    wait_seconds(9).await;
});

talk!(heals, {
    HEAL.emit(5);
    wait_seconds(9).await;
});

talk!(speaks_and_acts, {
    say_slowly("Halt!").await;
    with(|lines: &mut Vec<String>| lines.push("(100 gold)".to_owned()));
    wait_seconds(0.2).await;
    say_slowly("Farewell.").await;
    wait_seconds(9).await;
});

talk!(speaks_and_acts_elsewhere, {
    say_slowly("Halt!").await;
    with(|lines: &mut Vec<String>| lines.push("(100 gold)".to_owned()));
    wait_seconds(0.2).await;
    say_slowly("Farewell.").await;
    wait_seconds(9).await;
});

/// Plays `before` for some frames, saves it in a file, and goes on with `after`.
fn play<A: DurableScript, B: DurableScript>(before: A, _: B, frames: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    let mut runtime = Runtime::new(Registry::new().with::<A>().for_build("1.0"));
    runtime.spawn(before).detach();
    for _ in 0..frames {
        runtime.run_frame_with(&mut lines, 0.1);
        runtime.named(&HIT).emit(5);
    }
    let file = runtime.save().unwrap().to_bytes();
    let save = SaveState::from_bytes(&file).unwrap();
    let mut runtime = Runtime::new(Registry::new().with::<B>().for_build("1.1"));
    if let Err(error) = runtime.restore(&save, Policy::Fail) {
        assert!(matches!(error, RestoreError::Diverged(_)), "{error}");
        return vec![error.to_string()];
    }
    for _ in 0..12 {
        runtime.run_frame_with(&mut lines, 0.1);
    }
    lines
}

#[track_caller]
fn assert_refused(said: &[String], parts: &[&str]) {
    let [error] = said else {
        panic!("no error: {said:?}");
    };
    for part in parts {
        assert!(error.contains(part), "{error}");
    }
}

#[test]
fn a_line_inserted_before_the_place_of_the_save_is_an_error() {
    let said = play(original::Talk, with_another_line::Talk, 6);
    assert_refused(&said, &["the end of `wait_seconds()`", "does not follow"]);
    let said = play(in_one_line::Talk, in_one_line_with_another::Talk, 6);
    assert_refused(&said, &["the end of `wait_seconds()`", "does not follow"]);
}

#[test]
fn a_line_removed_before_the_place_of_the_save_is_an_error() {
    let said = play(original::Talk, with_one_line_less::Talk, 4);
    assert_refused(&said, &["`wait_seconds()`"]);
    let said = play(in_one_line_with_another::Talk, in_one_line::Talk, 4);
    assert_refused(&said, &["`wait_seconds()`"]);
}

#[test]
fn code_that_has_moved_as_a_whole_goes_on() {
    let expected = [
        "Halt!",
        "Take this.",
        "(100 gold)",
        "Farewell.",
        "And come back.",
    ];
    for frames in 1..7 {
        assert_eq!(play(original::Talk, moved::Talk, frames), expected);
    }
}

#[test]
fn other_arguments_in_the_same_lines_go_on() {
    let said = play(original::Talk, with_a_longer_wait_and_other_texts::Talk, 4);
    assert_eq!(said, ["Halt!", "Take this.", "(100 gold)", "Farewell."]);
}

#[test]
fn a_script_may_move_without_the_functions_that_it_calls() {
    let said = play(speaks_and_acts::Talk, speaks_and_acts_elsewhere::Talk, 7);
    assert_eq!(said, ["Halt!", "(100 gold)", "Farewell."]);
}

#[test]
fn the_end_of_a_wait_for_another_signal_is_an_error() {
    let said = play(is_hit::Talk, is_healed::Talk, 3);
    let recorded = "the save has the end of `signal.wait()` for `hit`";
    assert_refused(
        &said,
        &["entry 1", recorded, "awaits `signal.wait()` for `heal`"],
    );
}

#[test]
fn the_end_of_a_wait_of_another_kind_is_an_error() {
    let said = play(is_hit::Talk, takes_turns::Talk, 3);
    assert_refused(&said, &["entry 1", "for `hit`", "awaits `next_frame()`"]);
    let said = play(takes_turns::Talk, is_hit::Talk, 3);
    assert_refused(&said, &["entry 1", "`next_frame()`", "for `hit`"]);
}

#[test]
fn an_event_that_goes_to_another_signal_is_an_error() {
    let said = play(hits::Talk, heals::Talk, 1);
    assert_refused(&said, &["an `emit` of `hit`", "does an `emit` of `heal`"]);
}

/// What is in a file does not depend on what the runtime has run before.
#[test]
fn a_file_has_the_sites_that_its_scripts_need_and_no_others() {
    let blank = || Runtime::new(Registry::new().with::<original::Talk>());
    let mut lines: Vec<String> = Vec::new();
    let mut runtime = blank();
    let before = runtime.save_state().unwrap();
    runtime.spawn(original::Talk).detach();
    for _ in 0..9 {
        runtime.run_frame_with(&mut lines, 0.1);
    }
    runtime.rollback(&before).unwrap();
    assert_eq!(
        runtime.save_state().unwrap().to_bytes(),
        blank().save_state().unwrap().to_bytes()
    );
}

talk!(reads_a_number, {
    let number = with(|_: &mut Vec<String>| 5_u32);
    with(move |lines: &mut Vec<String>| lines.push(format!("{number}")));
    wait_seconds(9).await;
});

talk!(reads_a_text, {
    let text = with(|_: &mut Vec<String>| String::from("five"));
    with(move |lines: &mut Vec<String>| lines.push(text));
    wait_seconds(9).await;
});

#[test]
fn a_value_of_another_type_is_an_error_with_its_own_entry() {
    let said = play(reads_a_number::Talk, reads_a_text::Talk, 1);
    let recorded = concat!("the save has a `with` at ", file!(), ":");
    let found = "reads its value as a `alloc::string::String`";
    assert_refused(&said, &["at entry 1:", recorded, found]);
}
