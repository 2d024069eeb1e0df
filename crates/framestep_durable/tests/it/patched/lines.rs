//! Lines that are inserted, removed, reworded and moved.

use framestep_durable::prelude::*;

use super::{Story, builds, loads};

#[test]
fn a_line_before_the_point_is_passed_and_one_behind_it_is_told() {
    let builds = builds!({
        say("wake");
        wait_seconds(1).await;
        say("dress");
        wait_seconds(1).await;
        say("eat");
        wait_seconds(1).await;
        say("go");
    } => {
        say("wake");
        wait_seconds(1).await;
        say("wash");
        wait_seconds(1).await;
        say("dress");
        wait_seconds(1).await;
        say("eat");
        wait_seconds(1).await;
        say("go");
    });
    loads(&builds)
        .are_right()
        .say("is new, before the point of the save: passed");
}

#[test]
fn a_line_at_the_end_is_told() {
    let builds = builds!({
        say("one");
        wait_seconds(1).await;
        say("two");
    } => {
        say("one");
        wait_seconds(1).await;
        say("two");
        wait_seconds(1).await;
        say("three");
    });
    let outcomes = loads(&builds);
    assert_eq!(outcomes.are_right().passed, [""; 0]);
}

#[test]
fn a_line_at_the_front_is_passed() {
    let builds = builds!({
        line("Good evening.").await;
        line("A beer.").await;
    } => {
        line("Hey!").await;
        line("Good evening.").await;
        line("A beer.").await;
    });
    loads(&builds).are_right().say("lines.rs");
}

#[test]
fn a_wait_that_is_inserted_before_the_point_is_over() {
    let builds = builds!({
        say("knock");
        KEY.wait().await;
        say("enter");
        wait_seconds(2).await;
        say("leave");
    } => {
        say("knock");
        KEY.wait().await;
        wait_seconds(0.5).await;
        say("enter");
        wait_seconds(2).await;
        say("leave");
    });
    loads(&builds).are_right();
}

#[test]
fn an_effect_that_is_inserted_before_the_point_is_not_done() {
    let builds = builds!({
        say("slay it");
        HIT.wait().await;
        say("well done");
        KEY.wait().await;
        say("farewell");
    } => {
        say("slay it");
        HIT.wait().await;
        with(|story: &mut Story| story.push("100 gold".into()));
        say("well done");
        KEY.wait().await;
        say("farewell");
    });
    loads(&builds).are_right();
}

#[test]
fn a_value_that_is_read_before_the_point_is_refused() {
    let builds = builds!({
        say("a");
        wait_seconds(1).await;
        say("b");
        wait_seconds(1).await;
        say("c");
    } => {
        say("a");
        wait_seconds(1).await;
        let told = with(|story: &mut Story| story.len());
        if told > 9 {
            say("at length");
        }
        say("b");
        wait_seconds(1).await;
        say("c");
    });
    loads(&builds).are_refused(10..20, "is new, and the save has no value for it");
}

#[test]
fn a_wait_for_a_value_before_the_point_is_refused() {
    let builds = builds!({
        say("a");
        wait_seconds(1).await;
        say("b");
        wait_seconds(1).await;
        say("c");
    } => {
        say("a");
        wait_seconds(1).await;
        let _ = timeout(1, HIT.wait()).await;
        let hit = HIT.wait().await;
        say("b");
        wait_seconds(1).await;
        say("c");
        assert_eq!(hit, 5);
    });
    let outcomes = loads(&builds);
    assert!(
        outcomes
            .refused
            .iter()
            .all(|(frame, _)| (10..20).contains(frame))
    );
    assert_eq!(outcomes.refused.len(), 20);
}

#[test]
fn a_line_that_is_removed_stays_told() {
    let builds = builds!({
        line("one").await;
        line("two").await;
        line("three").await;
        line("four").await;
    } => {
        line("one").await;
        line("three").await;
        line("four").await;
    });
    let outcomes = loads(&builds);
    // While that line is told, there is no place to go on.
    outcomes.are_refused(5..10, "is gone");
    outcomes.say("is gone: skipped");
}

#[test]
fn two_statements_that_become_one_count_as_that() {
    let builds = builds!({
        with(|story: &mut Story| story.push("5 gold".into()));
        say("thanks");
        wait_seconds(1).await;
        say("bye");
    } => {
        with(|story: &mut Story| {
            story.push("5 gold".into());
            story.push("thanks".into());
        });
        wait_seconds(1).await;
        say("bye");
    });
    loads(&builds).are_right();
}

#[test]
fn a_typo_is_the_same_line() {
    let builds = builds!({
        line("Anna: Hello.").await;
        line("Ben: Helo, my dear frend.").await;
        line("Anna: Bye.").await;
    } => {
        line("Anna: Hello.").await;
        line("Ben: What a day it was yesterday.").await;
        line("Ben: Hello, my dear friend.").await;
        line("Anna: Bye.").await;
    });
    loads(&builds).are_right();
}

#[test]
fn lines_that_change_places_are_refused_between_them() {
    let builds = builds!({
        line("one").await;
        line("two").await;
        line("three").await;
        line("four").await;
    } => {
        line("one").await;
        line("three").await;
        line("two").await;
        line("four").await;
    });
    let outcomes = loads(&builds);
    assert!(
        outcomes
            .refused
            .iter()
            .all(|(frame, _)| (5..15).contains(frame))
    );
    let (_, first) = &outcomes.refused[0];
    assert!(
        first.contains("it has not been done") || first.contains("would be done again"),
        "{first}"
    );
}

#[test]
fn effects_that_change_places_take_their_own_values() {
    let builds = builds!({
        let attack = with(|_: &mut Story| 9_u32);
        let defence = with(|_: &mut Story| 2_u32);
        wait_seconds(1).await;
        say(format!("attack {attack}, defence {defence}"));
    } => {
        let defence = with(|_: &mut Story| 2_u32);
        let attack = with(|_: &mut Story| 9_u32);
        wait_seconds(1).await;
        say(format!("attack {attack}, defence {defence}"));
    });
    loads(&builds).are_right().say("stands at");
}

#[test]
fn a_value_whose_text_has_changed_is_what_it_was() {
    let builds = builds!({
        let told = with(|story: &mut Story| story.len());
        wait_seconds(1).await;
        say("end");
        if told > 100 {
            say("at length");
        }
    } => {
        let told = with(|story: &mut Story| story.len() * 10);
        wait_seconds(1).await;
        say("end");
        if told > 100 {
            say("at length");
        }
    });
    loads(&builds).are_right().say("has another text");
}

#[test]
fn a_condition_that_goes_another_way_is_refused() {
    let builds = builds!({
        let gold = with(|_: &mut Story| 7_u32);
        if gold > 5 {
            say("rich");
            wait_seconds(1).await;
        }
        say("end");
    } => {
        let gold = with(|_: &mut Story| 7_u32);
        if gold > 50 {
            say("rich");
            wait_seconds(1).await;
        }
        say("end");
    });
    let outcomes = loads(&builds);
    assert!(
        outcomes
            .refused
            .iter()
            .all(|(frame, _)| (0..10).contains(frame))
    );
    assert_eq!(outcomes.refused.len(), 20);
}

#[test]
fn a_child_that_is_started_before_the_point_is_refused() {
    let builds = builds!({
        say("a");
        wait_seconds(1).await;
        say("b");
        wait_seconds(1).await;
        say("c");
    } => {
        say("a");
        wait_seconds(1).await;
        start(talk()).detach();
        say("b");
        wait_seconds(1).await;
        say("c");
        wait_seconds(9).await;
    });
    loads(&builds).are_refused(10..20, "is new, and the save has no value for it");
}

#[test]
fn what_is_done_once_under_another_label_is_refused() {
    let builds = builds!({
        wait_seconds(1).await;
        with_once("reward", |story: &mut Story| story.push("100 gold".into()));
        say("paid");
        wait_seconds(1).await;
        say("end");
    } => {
        wait_seconds(1).await;
        with_once("first reward", |story: &mut Story| story.push("100 gold".into()));
        say("paid");
        wait_seconds(1).await;
        say("end");
    });
    loads(&builds).are_refused(10..20, "does it as \"first reward\"");
}

#[test]
fn a_loop_without_end_before_the_point_is_refused() {
    let builds = builds!({
        say("a");
        wait_seconds(1).await;
        say("b");
        wait_seconds(1).await;
        say("c");
    } => {
        say("a");
        wait_seconds(1).await;
        loop {
            say("again");
            next_frame().await;
        }
    });
    let outcomes = loads(&builds);
    assert!(outcomes.refused.iter().all(|(frame, _)| *frame >= 10));
    assert!(
        outcomes.refused[0]
            .1
            .contains("does not come to where the script was")
    );
}

#[test]
fn a_loop_of_effects_without_end_before_the_point_is_refused() {
    mod before {
        use crate::patched::*;
        #[durable]
        pub async fn talk() {
            say("a");
            wait_seconds(1).await;
        }
    }
    mod after {
        use crate::patched::*;
        #[durable]
        pub async fn talk() {
            say("a");
            loop {
                say("again");
            }
        }
    }
    let mut runtime = Runtime::new(Registry::new().script(before::talk));
    let mut story = Story::new();
    runtime.lend(&mut story, |runtime| runtime.start(before::talk()).detach());
    let save = SaveState::from_bytes(&runtime.save().unwrap().to_bytes()).unwrap();
    drop(after::talk());
    let mut runtime = Runtime::new(Registry::new().script(after::talk));
    let error = runtime
        .restore(&save, Policy::Fail)
        .unwrap_err()
        .to_string();
    assert!(error.contains("is in a loop that is new"), "{error}");
}

#[test]
fn a_line_that_has_moved_is_refused_only_between_its_places() {
    let later = builds!({
        line("a").await;
        line("b").await;
        line("c").await;
        line("d").await;
        line("e").await;
        wait_seconds(1).await;
    } => {
        line("a").await;
        line("c").await;
        line("d").await;
        line("b").await;
        line("e").await;
        wait_seconds(1).await;
    });
    // In "b", it waits in what has moved. In "c" and "d", "b" would be told again.
    loads(&later).are_refused(5..20, "");
    let earlier = builds!({
        line("a").await;
        line("b").await;
        line("c").await;
        line("d").await;
        line("e").await;
        wait_seconds(1).await;
    } => {
        line("a").await;
        line("d").await;
        line("b").await;
        line("c").await;
        line("e").await;
        wait_seconds(1).await;
    });
    loads(&earlier).are_refused(5..20, "");
    let exchanged = builds!({
        line("a").await;
        line("b").await;
        line("c").await;
        line("d").await;
        line("e").await;
        wait_seconds(1).await;
    } => {
        line("a").await;
        line("d").await;
        line("c").await;
        line("b").await;
        line("e").await;
        wait_seconds(1).await;
    });
    loads(&exchanged).are_refused(5..20, "");
}
