//! Statements of which the tables leave open whether they are the same: they are told by their words, or the save is
//! refused where it matters.

use super::{builds, loads};

#[test]
fn a_line_that_moves_behind_the_point_with_another_text_is_refused_between() {
    let builds = builds!({
        say("A storm is coming from the mountains.");
        wait_seconds(1).await;
        say("You should stay.");
        wait_seconds(2).await;
        say("Good night.");
    } => {
        wait_seconds(1).await;
        say("A storm is coming from the northern mountains.");
        say("You should stay.");
        wait_seconds(2).await;
        say("Good night.");
    });
    loads(&builds).are_refused(0..10, "it was done, and would be done again");
}

#[test]
fn a_line_that_moves_before_the_point_with_another_text_is_refused_between() {
    let builds = builds!({
        wait_seconds(1).await;
        say("A storm is coming from the mountains.");
        say("You should stay.");
        wait_seconds(2).await;
        say("Good night.");
    } => {
        say("A storm is coming from the northern mountains.");
        wait_seconds(1).await;
        say("You should stay.");
        wait_seconds(2).await;
        say("Good night.");
    });
    loads(&builds).are_refused(
        0..10,
        "was behind the point of the save, and has not been done",
    );
}

#[test]
fn a_short_line_that_shares_a_word_may_have_moved() {
    let builds = builds!({
        say("1.0");
        wait_seconds(1).await;
        say("2.0");
    } => {
        wait_seconds(1).await;
        say("1.1");
        say("2.0");
    });
    loads(&builds).are_refused(0..10, "Keep its text");
}

#[test]
fn a_line_that_moves_in_a_loop_with_another_text_is_refused_in_each_turn() {
    let builds = builds!({
        for _ in 0..3 {
            say("A storm is coming from the mountains.");
            wait_seconds(1).await;
        }
        wait_seconds(1).await;
        say("Good night.");
    } => {
        for _ in 0..3 {
            wait_seconds(1).await;
            say("A storm is coming from the northern mountains.");
        }
        wait_seconds(1).await;
        say("Good night.");
    });
    loads(&builds).are_refused(0..30, "Keep its text");
}

#[test]
fn a_new_line_with_other_words_is_not_taken_for_one_that_is_gone() {
    let builds = builds!({
        say("The old mill burns!");
        wait_seconds(1).await;
        say("Bring water, quickly, all of you!");
        wait_seconds(1).await;
        say("It is over.");
    } => {
        say("The old mill burns!");
        say("And the miller sleeps until evening.");
        wait_seconds(1).await;
        wait_seconds(1).await;
        say("It is over.");
    });
    loads(&builds).are_right();
}

#[test]
fn a_line_that_may_be_either_of_two_is_refused_while_it_waits() {
    let builds = builds!({
        say("Well?");
        line("Yes.").await;
        line("So be it.").await;
    } => {
        say("Well?");
        line("No.").await;
        line("Perhaps.").await;
        line("So be it.").await;
    });
    loads(&builds).are_refused(0..5, "as well. Keep its text until no save is there");
}

#[test]
fn a_line_with_another_text_beside_a_new_one_is_told_by_its_words() {
    let builds = builds!({
        say("Well?");
        line("Yes.").await;
        line("So be it.").await;
    } => {
        say("Well?");
        line("Perhaps.").await;
        line("Yes, of course.").await;
        line("So be it.").await;
    });
    loads(&builds).are_right();
}

#[test]
fn what_may_be_the_value_of_either_of_two_is_refused() {
    let builds = builds!({
        let cost = with_ref(|story: &Story| story.len() + 10);
        let gain = with_ref(|story: &Story| story.len() + 20);
        wait_seconds(1).await;
        say(format!("{cost}, {gain}"));
    } => {
        let cost = with_ref(|story: &Story| story.len() + 30);
        wait_seconds(1).await;
        say(format!("{cost}"));
    });
    loads(&builds).are_refused(0..10, "as well, which is gone");
}

#[test]
fn what_is_read_in_a_call_whose_result_nothing_uses_is_of_no_use_once_it_is_over() {
    let builds = builds!({
        calls::types("Yes.").await;
        wait_seconds(1).await;
        say("So be it.");
    } => {
        calls::types("No.").await;
        calls::types("Perhaps.").await;
        wait_seconds(1).await;
        say("So be it.");
    });
    loads(&builds).are_refused(0..5, "as well. Keep its text until no save is there");
}
