//! New calls of helpers before the point of a save, whose results the script does not use.

use framestep_durable::prelude::*;

use super::{Story, builds, loads, say};

/// A line that is typed: its place in the text is read, and it ends with its time or with a key.
pub(crate) async fn types(text: &str) {
    let from = with_ref(|story: &Story| story.len());
    assert!(from < 60, "a value that is made up is zero");
    say(text);
    select! {
        _ = wait_seconds(0.3) => {}
        _ = super::HEAL.wait() => {}
    }
    wait_seconds(0.2).await;
}

pub(crate) fn told() -> usize {
    with_ref(|story: &Story| story.len())
}

pub(crate) fn tells(what: &str) {
    say(what);
}

#[test]
fn a_line_of_a_helper_that_reads_is_passed() {
    let builds = builds!({
        calls::types("a").await;
        calls::types("b").await;
        calls::types("c").await;
    } => {
        calls::types("a").await;
        calls::types("new").await;
        calls::types("b").await;
        calls::types("c").await;
    });
    let outcomes = loads(&builds);
    outcomes
        .are_right()
        .say("is new, before the point of the save: passed");
}

#[test]
fn what_an_argument_of_a_new_call_reads_is_passed_with_it() {
    let builds = builds!({
        line("a").await;
        line("b").await;
    } => {
        calls::tells(&format!("new {}", calls::told()));
        line("a").await;
        line("b").await;
    });
    loads(&builds).are_right();
}

#[test]
fn a_new_call_that_changes_a_variable_of_the_script_is_refused() {
    let builds = builds!({
        line("a").await;
        say("0");
    } => {
        fn reads(into: &mut usize) {
            *into = with_ref(|story: &Story| story.len() + 1);
        }
        let mut read = 0;
        reads(&mut read);
        line("a").await;
        say(read.to_string());
    });
    loads(&builds).are_refused(0..5, "the save has no value for it");
}

#[test]
fn a_new_call_in_an_expression_that_is_used_is_refused() {
    let builds = builds!({
        line("a").await;
        line("b").await;
    } => {
        let read = with_ref(|story: &Story| story.len());
        line("a").await;
        if read > 90 {
            line("c").await;
        }
        line("b").await;
    });
    loads(&builds).are_refused(0..10, "the save has no value for it");
}

#[test]
fn a_new_call_that_starts_or_holds_something_is_refused() {
    let holds = builds!({
        line("a").await;
    } => {
        const SEATS: Semaphore = semaphore("patched new seats", 1);
        async fn sits() {
            let _seat = SEATS.acquire().await;
            say("sits");
        }
        sits().await;
        line("a").await;
    });
    loads(&holds).are_refused(0..5, "is a new wait for a value");
}

/// A question whose answer only its helper uses.
async fn asks(text: &'static str) {
    let answer = ask(move || super::stored::Quiz(text.to_owned())).await;
    say(answer);
}

#[test]
fn a_new_call_that_asks_is_passed_and_asks_nothing() {
    let builds = builds!({
        line("a").await;
        line("b").await;
    } => {
        line("a").await;
        calls::timeout_of_asks().await;
        line("b").await;
    });
    loads(&builds).are_right();
}

/// The same with an end, for a host that does not answer.
pub(crate) async fn timeout_of_asks() {
    let _ = timeout(0.5, asks("new")).await;
}
