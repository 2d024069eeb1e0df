//! Functions without the attribute: what they do is done by the statement of the script that calls them.

use framestep_durable::prelude::*;

use super::{Story, builds, loads, modules, talks};

#[test]
fn a_helper_that_does_more_does_that_from_then_on() {
    let builds = talks!({
        async fn tell(text: &str) {
            say(text);
            wait_seconds(1).await;
        }
        #[durable]
        pub(super) async fn talk() {
            tell("a").await;
            tell("b").await;
            tell("c").await;
        }
    } => {
        async fn tell(text: &str) {
            say(text);
            with(|story: &mut Story| story.push("a bow".into()));
            wait_seconds(1).await;
        }
        #[durable]
        pub(super) async fn talk() {
            tell("a").await;
            tell("b").await;
            tell("c").await;
        }
    });
    loads(&builds).are_right();
}

#[test]
fn a_helper_that_waits_twice_waits_so_from_then_on() {
    let builds = talks!({
        async fn tell(text: &str) {
            say(text);
            wait_seconds(1).await;
        }
        #[durable]
        pub(super) async fn talk() {
            tell("a").await;
            tell("b").await;
            tell("c").await;
        }
    } => {
        async fn tell(text: &str) {
            say(text);
            wait_seconds(0.5).await;
            wait_seconds(0.5).await;
        }
        #[durable]
        pub(super) async fn talk() {
            tell("a").await;
            tell("b").await;
            tell("c").await;
        }
    });
    loads(&builds).are_right();
}

#[test]
fn lines_that_move_into_a_helper_or_a_child_are_refused_while_they_run() {
    let helper = builds!({
        say("a");
        wait_seconds(1).await;
        say("b");
        wait_seconds(1).await;
        say("c");
        wait_seconds(1).await;
        say("d");
    } => {
        async fn rest() {
            wait_seconds(1).await;
            say("d");
        }
        say("a");
        wait_seconds(1).await;
        say("b");
        wait_seconds(1).await;
        say("c");
        rest().await;
    });
    let outcomes = loads(&helper);
    assert!(
        outcomes
            .refused
            .iter()
            .all(|(frame, _)| (20..30).contains(frame))
    );
}

#[test]
fn one_helper_that_two_scripts_call_is_of_the_script_that_calls_it() {
    let builds = modules!({
        #[durable]
        async fn other(count: u32) {
            line(&format!("other {count}")).await;
            line(&format!("other {count} again")).await;
        }
        #[durable]
        pub(super) async fn talk() {
            start(other(1)).detach();
            line("a").await;
            line("b").await;
            line("c").await;
        }
        pub(super) fn registry() -> Registry { Registry::new().script(talk).script(other) }
        pub(super) fn begin() -> impl DurableScript { talk() }
    } => {
        #[durable]
        async fn other(count: u32) {
            line(&format!("other {count}")).await;
            line(&format!("other {count} again")).await;
        }
        #[durable]
        pub(super) async fn talk() {
            start(other(1)).detach();
            line("a").await;
            line("between").await;
            line("b").await;
            line("c").await;
        }
        pub(super) fn registry() -> Registry { Registry::new().script(talk).script(other) }
        pub(super) fn begin() -> impl DurableScript { talk() }
    });
    let outcomes = loads(&builds);
    assert_eq!(outcomes.refused, []);
}

#[test]
fn helpers_of_helpers_are_of_the_statement_too() {
    let builds = builds!({
        async fn twice(text: &str) {
            line(text).await;
            line(&format!("{text}, again")).await;
        }
        twice("a").await;
        twice("b").await;
        twice("c").await;
    } => {
        async fn twice(text: &str) {
            line(text).await;
            line(&format!("{text}, again")).await;
        }
        twice("a").await;
        twice("new").await;
        twice("b").await;
        twice("c").await;
    });
    loads(&builds).are_right();
}

#[test]
fn futures_in_a_list_are_of_the_statement_that_awaits_them() {
    let builds = builds!({
        line("a").await;
        join_all([line("b1"), line("b2")]).await;
        line("c").await;
    } => {
        line("new").await;
        line("a").await;
        join_all([line("b1"), line("b2")]).await;
        line("c").await;
    });
    loads(&builds).are_right();
}

#[test]
fn a_closure_is_of_the_statement_that_calls_it() {
    let builds = builds!({
        let tell = |text: &str| say(text);
        tell("a");
        wait_seconds(1).await;
        tell("b");
        wait_seconds(1).await;
        tell("c");
    } => {
        let tell = |text: &str| say(text);
        tell("a");
        wait_seconds(1).await;
        tell("new");
        tell("b");
        wait_seconds(1).await;
        tell("c");
    });
    loads(&builds).are_right();
}

/// The guide lists it under what is not found.
#[test]
fn what_a_helper_computes_is_not_compared() {
    let builds = talks!({
        fn roll() -> usize {
            with_ref(|story: &Story| story.len() + 1)
        }
        #[durable]
        pub(super) async fn talk() {
            let rolled = roll();
            wait_seconds(1).await;
            say(rolled.to_string());
        }
    } => {
        fn roll() -> usize {
            with_ref(|story: &Story| story.len() + 11)
        }
        #[durable]
        pub(super) async fn talk() {
            let rolled = roll();
            wait_seconds(1).await;
            say(rolled.to_string());
        }
    });
    let (mut runtime, mut story) = (Runtime::new((builds.before)()), Story::new());
    (builds.begin)(&runtime);
    runtime.run_frame_with(&mut story, 0.1);
    let save = runtime.save().unwrap();
    let mut runtime = Runtime::new((builds.after)());
    runtime.restore(&save, Policy::Fail).unwrap();
    for _ in 0..10 {
        runtime.run_frame_with(&mut story, 0.1);
    }
    assert_eq!(story, ["1"], "what the earlier code has returned");
}
