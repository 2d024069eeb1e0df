//! Changes that are none: comments, line breaks, names, other files, loops around what there was.

use framestep_durable::prelude::*;

use super::{builds, loads, modules, talks};

#[test]
fn comments_and_line_breaks_are_no_change() {
    let builds = builds!({
        let told = with(|story: &mut Story| { story.push("a".into()); story.len() });
        wait_seconds(1).await;
        with(move |story: &mut Story| story.push(if told > 5 { "long".into() } else { "short".into() }));
        wait_seconds(1).await;
        say("end");
    } => {
        // The first line.
        let told = with(|story: &mut Story| {
            story.push("a".into());
            story.len()
        });
        wait_seconds(1)
            .await;
        /* It depends. */
        with(
            move |story: &mut Story| story.push(if told > 5 { "long".into() } else { "short".into() }),
        );
        wait_seconds(1).await;
        say("end");
    });
    let outcomes = loads(&builds);
    assert_eq!(outcomes.are_right().passed, [""; 0]);
}

#[test]
fn a_script_that_is_renamed_and_keeps_its_name_in_files_goes_on() {
    let builds = modules!({
        #[durable]
        pub(super) async fn talk() {
            say("a");
            wait_seconds(1).await;
            say("b");
        }
        pub(super) fn registry() -> Registry { Registry::new().script(talk) }
        pub(super) fn begin() -> impl DurableScript { talk() }
    } => {
        #[durable(name = "talk")]
        pub(super) async fn chat() {
            say("a");
            wait_seconds(1).await;
            say("b");
        }
        pub(super) fn registry() -> Registry { Registry::new().script(chat) }
        pub(super) fn begin() -> impl DurableScript { chat() }
    });
    loads(&builds).are_right();
}

#[test]
fn a_script_that_is_renamed_is_refused() {
    let builds = modules!({
        #[durable]
        pub(super) async fn talk() {
            say("a");
            wait_seconds(1).await;
            say("b");
        }
        pub(super) fn registry() -> Registry { Registry::new().script(talk) }
        pub(super) fn begin() -> impl DurableScript { talk() }
    } => {
        #[durable]
        pub(super) async fn chat() {
            say("a");
            wait_seconds(1).await;
            say("b");
        }
        pub(super) fn registry() -> Registry { Registry::new().script(chat) }
        pub(super) fn begin() -> impl DurableScript { chat() }
    });
    loads(&builds).are_refused(0..10, "`talk`");
}

#[test]
fn a_loop_around_what_there_was_goes_on() {
    let builds = builds!({
        say("a");
        wait_seconds(1).await;
        say("b");
        wait_seconds(1).await;
    } => {
        for _ in 0..2 {
            say("a");
            wait_seconds(1).await;
            say("b");
            wait_seconds(1).await;
        }
    });
    loads(&builds).are_right();
}

#[test]
fn a_block_around_what_there_was_goes_on() {
    let builds = builds!({
        say("a");
        wait_seconds(1).await;
        say("b");
        wait_seconds(1).await;
        say("c");
    } => {
        if u32::MAX > 1 {
            say("a");
            wait_seconds(1).await;
            say("b");
        }
        wait_seconds(1).await;
        say("c");
    });
    loads(&builds).are_right();
}

#[test]
fn a_loop_that_counts_further_goes_on() {
    let builds = builds!({
        for count in 0..3 {
            say(format!("{count}"));
            wait_seconds(1).await;
        }
        say("end");
    } => {
        for count in 0..5 {
            say(format!("{count}"));
            wait_seconds(1).await;
        }
        say("end");
    });
    loads(&builds).are_right();
}

#[test]
fn chapters_are_told_apart() {
    let builds = modules!({
        #[durable]
        pub(super) mod dragon {
            use super::*;
            #[chapter]
            pub async fn sleeps() -> Chapter {
                say("sleeps");
                wait_seconds(1).await;
                Chapter::Next(wakes())
            }
            #[chapter]
            async fn wakes() -> Chapter {
                say("wakes");
                wait_seconds(1).await;
                Chapter::Done(())
            }
        }
        pub(super) fn registry() -> Registry { Registry::new().script(dragon::sleeps) }
        pub(super) fn begin() -> impl DurableScript { dragon::sleeps() }
    } => {
        #[durable]
        pub(super) mod dragon {
            use super::*;
            #[chapter]
            pub async fn dreams() -> Chapter {
                say("dreams");
                wait_seconds(1).await;
                Chapter::Next(sleeps())
            }
            #[chapter]
            pub async fn sleeps() -> Chapter {
                say("sleeps");
                wait_seconds(1).await;
                Chapter::Next(wakes())
            }
            #[chapter]
            async fn wakes() -> Chapter {
                say("wakes");
                wait_seconds(1).await;
                Chapter::Done(())
            }
        }
        pub(super) fn registry() -> Registry { Registry::new().script(dragon::sleeps) }
        pub(super) fn begin() -> impl DurableScript { dragon::sleeps() }
    });
    let outcomes = loads(&builds);
    // A compact state has the number of its chapter. Described, it has the name.
    assert!(outcomes.right.len() >= 60);
}

#[test]
fn another_version_is_refused_whatever_its_statements_are() {
    let builds = talks!({
        #[durable]
        pub(super) async fn talk() {
            line("one").await;
            line("two").await;
        }
    } => {
        #[durable(version = 1)]
        pub(super) async fn talk() {
            line("one").await;
            line("and a half").await;
            line("two").await;
        }
    });
    loads(&builds).are_refused(0..10, "version");
}

#[test]
fn a_macro_that_expands_to_awaits_is_one_statement() {
    macro_rules! tell {
        ($text:expr) => {{
            say($text);
            wait_seconds(0.5).await;
            say(concat!($text, "!"));
        }};
    }
    let builds = builds!({
        tell!("a");
        tell!("b");
        tell!("c");
    } => {
        tell!("a");
        tell!("new");
        tell!("b");
        tell!("c");
    });
    loads(&builds).are_right();
}

/// What only ended scripts have said of a value is not there after a load. So it is not in a file.
#[test]
fn a_game_that_was_loaded_has_the_same_file() {
    const STAGE: Watch<u8> = watch("patched stage of a script that ends", Default::default);

    #[durable]
    async fn sets() {
        STAGE.set(3);
    }
    #[durable]
    async fn waits() {
        wait_seconds(9).await;
    }

    let registry = || Registry::new().script(sets).script(waits);
    let mut runtime = Runtime::new(registry());
    runtime.start(sets()).detach();
    runtime.start(waits()).detach();
    runtime.run_frame(0.25);
    let file = runtime.save().unwrap().to_bytes();

    let mut loaded = Runtime::new(registry());
    let save = SaveState::from_bytes(&file).unwrap();
    loaded.restore(&save, Policy::Fail).unwrap();
    assert_eq!(loaded.save().unwrap().to_bytes(), file);
}
