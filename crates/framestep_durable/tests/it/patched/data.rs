//! Loops over data: code for one statement, unless the items have labels.

use framestep_durable::prelude::*;

use super::{Builds, Story, builds, loads};

macro_rules! lists {
    ([$($before:expr),*] => [$($after:expr),*]) => {
        builds!({
            const LINES: &[&str] = &[$($before),*];
            for line in labelled(LINES, |line| **line) {
                say(*line);
                wait_seconds(1).await;
            }
            say("end");
        } => {
            const LINES: &[&str] = &[$($after),*];
            for line in labelled(LINES, |line| **line) {
                say(*line);
                wait_seconds(1).await;
            }
            say("end");
        })
    };
}

#[test]
fn items_that_are_new_are_passed_before_the_point_and_done_behind_it() {
    let front = lists!(["a", "b", "c", "d"] => ["new", "a", "b", "c", "d"]);
    loads(&front).are_right();
    let middle = lists!(["a", "b", "c", "d"] => ["a", "b", "new", "c", "d"]);
    loads(&middle).are_right();
    let end = lists!(["a", "b", "c", "d"] => ["a", "b", "c", "d", "new"]);
    loads(&end).are_right();
}

#[test]
fn items_that_are_gone_are_refused_only_while_they_are_under_way() {
    let removed = lists!(["a", "b", "c", "d"] => ["a", "c", "d"]);
    loads(&removed).are_refused(10..20, "awaiting");
}

#[test]
fn items_in_another_order_are_refused_between_them() {
    let swapped = lists!(["a", "b", "c", "d"] => ["a", "c", "b", "d"]);
    let outcomes = loads(&swapped);
    assert!(
        outcomes
            .refused
            .iter()
            .all(|(frame, _)| (10..40).contains(frame))
    );
    let (_, first) = &outcomes.refused[0];
    assert!(first.contains("it has not been done"), "{first}");
    let (_, last) = outcomes.refused.last().unwrap();
    assert!(last.contains("in another order"), "{last}");
}

#[test]
fn equal_labels_are_told_apart_by_their_order() {
    let builds = builds!({
        const LINES: &[(&str, &str)] = &[("x", "one"), ("x", "two"), ("x", "three")];
        for line in labelled(LINES, |line| line.0) {
            say(line.1);
            wait_seconds(1).await;
        }
    } => {
        const LINES: &[(&str, &str)] = &[("y", "new"), ("x", "one"), ("x", "two"), ("x", "three")];
        for line in labelled(LINES, |line| line.0) {
            say(line.1);
            wait_seconds(1).await;
        }
    });
    loads(&builds).are_right();
}

#[test]
fn labels_of_inner_lists_belong_to_the_outer_item() {
    let builds = builds!({
        for scene in labelled(["inn", "road"], |scene| *scene) {
            for who in labelled(["anna", "ben"], |who| *who) {
                say(format!("{scene}: {who}"));
                wait_seconds(0.5).await;
            }
        }
    } => {
        for scene in labelled(["inn", "road"], |scene| *scene) {
            for who in labelled(["carl", "anna", "ben"], |who| *who) {
                say(format!("{scene}: {who}"));
                wait_seconds(0.5).await;
            }
        }
    });
    let outcomes = loads(&builds);
    assert_eq!(outcomes.refused, []);
}

#[test]
fn a_list_that_becomes_labelled_is_refused_where_the_save_has_no_labels() {
    let builds = builds!({
        for text in ["a", "b", "c"] {
            say(text);
            wait_seconds(1).await;
        }
    } => {
        for text in labelled(["a", "b", "c"], |text| *text) {
            say(text);
            wait_seconds(1).await;
        }
    });
    let outcomes = loads(&builds);
    assert!(outcomes.refused.iter().all(|(frame, _)| *frame < 30));
}

macro_rules! placed {
    ([$($before:expr),*] => [$($after:expr),*]) => {
        builds!({
            const LINES: &[&str] = &[$($before),*];
            for line in LINES {
                place(line);
                say(*line);
                wait_seconds(1).await;
            }
            say("end");
        } => {
            const LINES: &[&str] = &[$($after),*];
            for line in LINES {
                place(line);
                say(*line);
                wait_seconds(1).await;
            }
            say("end");
        })
    };
}

#[test]
fn a_place_alone_finds_another_list_and_does_not_guess() {
    let changed: [Builds; 4] = [
        placed!(["a", "b", "c", "d"] => ["new", "a", "b", "c", "d"]),
        placed!(["a", "b", "c", "d"] => ["a", "b", "new", "c", "d"]),
        placed!(["a", "b", "c", "d"] => ["a", "c", "d"]),
        placed!(["a", "b", "c", "d"] => ["a", "c", "b", "d"]),
    ];
    for builds in &changed {
        let outcomes = loads(builds);
        assert!(!outcomes.refused.is_empty());
    }
    loads(&placed!(["a", "b", "c", "d"] => ["a", "b", "c", "d", "new"])).are_right();
}

mod many {
    use framestep_durable::prelude::*;

    use super::Story;

    #[durable]
    pub(super) async fn tells(first: u32) {
        for number in labelled(first..10_000, |number| *number) {
            with(move |story: &mut Story| story.push(number.to_string()));
            if number == 9_998 {
                wait_seconds(1).await;
            }
        }
    }
}

#[test]
fn ten_thousand_labels_are_taken() {
    let registry = || Registry::new().script(many::tells);
    let (mut runtime, mut story) = (Runtime::new(registry()), Story::new());
    runtime.lend(&mut story, |runtime| runtime.start(many::tells(0)).detach());
    let file = runtime.save().unwrap().to_bytes();
    let mut runtime = Runtime::new(registry());
    let save = SaveState::from_bytes(&file).unwrap();
    runtime.restore(&save, Policy::Fail).unwrap();
    for _ in 0..12 {
        runtime.run_frame_with(&mut story, 0.1);
    }
    assert_eq!(story.len(), 10_000);
}

#[test]
fn outside_of_a_durable_script_a_labelled_list_is_the_list() {
    let items: Vec<u32> = labelled([3, 1, 2], |number| *number).collect();
    assert_eq!(items, [3, 1, 2]);
}
