//! Waits, branches and joins.

use super::{builds, loads, modules, talks};

#[test]
fn other_lengths_hold_from_the_next_wait_on() {
    let builds = builds!({
        say("a");
        wait_seconds(1).await;
        say("b");
        wait_seconds(1).await;
        say("c");
    } => {
        say("a");
        wait_seconds(2).await;
        say("b");
        wait_seconds(2).await;
        say("c");
    });
    loads(&builds).are_right();
}

#[test]
fn branches_in_another_order_keep_their_waits() {
    let builds = builds!({
        for _ in 0..4 {
            select! {
                hit = HIT.wait() => say(format!("hit {hit}")),
                heal = HEAL.wait() => say(format!("heal {heal}")),
            }
        }
    } => {
        for _ in 0..4 {
            select! {
                heal = HEAL.wait() => say(format!("heal {heal}")),
                hit = HIT.wait() => say(format!("hit {hit}")),
            }
        }
    });
    loads(&builds).are_right();
}

#[test]
fn branches_with_deadlines_keep_their_deadlines() {
    let builds = builds!({
        select! {
            () = wait_seconds(4) => say("bored after 4"),
            () = wait_until(|| with_ref(|story: &Story| story.len() > 90)) => say("long"),
            () = wait_seconds(2.5) => say("warned after 2.5"),
        }
        say("end");
    } => {
        select! {
            () = wait_seconds(2.5) => say("warned after 2.5"),
            () = wait_until(|| with_ref(|story: &Story| story.len() > 90)) => say("long"),
            () = wait_seconds(4) => say("bored after 4"),
        }
        say("end");
    });
    loads(&builds).are_right();
}

#[test]
fn a_branch_that_is_added_begins_to_wait_at_the_load() {
    let builds = builds!({
        select! {
            hit = HIT.wait() => say(format!("hit {hit}")),
            () = wait_seconds(5) => say("bored"),
        }
        say("end");
    } => {
        select! {
            hit = HIT.wait() => say(format!("hit {hit}")),
            heal = HEAL.wait() => say(format!("heal {heal}")),
            () = wait_seconds(5) => say("bored"),
        }
        say("end");
    });
    loads(&builds).are_right();
}

#[test]
fn a_handler_that_does_more_is_passed_where_it_was_done() {
    let builds = builds!({
        loop {
            select! {
                hit = HIT.wait() => {
                    say(format!("hit {hit}"));
                    wait_seconds(0.3).await;
                    say("over");
                }
                () = KEY.wait() => say("key"),
                () = wait_seconds(4.5) => break,
            }
        }
        say("end");
    } => {
        loop {
            select! {
                hit = HIT.wait() => {
                    say(format!("hit {hit}"));
                    with(|story: &mut Story| story.push("ouch".into()));
                    wait_seconds(0.3).await;
                    say("over");
                }
                () = KEY.wait() => say("key"),
                () = wait_seconds(4.5) => break,
            }
        }
        say("end");
    });
    loads(&builds).are_right();
}

#[test]
fn a_branch_that_was_taken_is_the_same_one_in_another_order() {
    let builds = builds!({
        let text = select! {
            () = wait_seconds(0.5) => "fast",
            () = wait_seconds(9) => "slow",
        };
        wait_frames(5).await;
        say(text);
    } => {
        let text = select! {
            () = wait_seconds(9) => "slow",
            () = wait_seconds(0.5) => "fast",
        };
        wait_frames(5).await;
        say(text);
    });
    loads(&builds).are_right();
}

#[test]
fn joined_branches_in_another_order_are_told_apart() {
    let builds = builds!({
        join!(
            async {
                wait_seconds(1).await;
                say("one");
            },
            async {
                wait_seconds(3).await;
                say("three");
            },
        );
        say("end");
    } => {
        join!(
            async {
                wait_seconds(3).await;
                say("three");
            },
            async {
                wait_seconds(1).await;
                say("one");
            },
        );
        say("end");
    });
    loads(&builds).are_right();
}

#[test]
fn a_timeout_around_a_wait_that_is_over_is_no_change() {
    let builds = builds!({
        say("a");
        HIT.wait().await;
        say("hit");
        HEAL.wait().await;
        say("healed");
    } => {
        say("a");
        let _ = timeout(5, HIT.wait()).await;
        say("hit");
        HEAL.wait().await;
        say("healed");
    });
    loads(&builds).are_right();
}

#[test]
fn a_wait_of_another_kind_is_refused_while_it_waits() {
    let builds = builds!({
        say("a");
        wait_seconds(1).await;
        say("b");
        wait_seconds(1).await;
        say("c");
    } => {
        say("a");
        wait_frames(10).await;
        say("b");
        wait_seconds(1).await;
        say("c");
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
fn children_in_another_order_are_joined_as_what_they_are() {
    let builds = modules!({
        #[durable]
        async fn child(name: String) -> String {
            wait_seconds(1).await;
            name
        }
        #[durable]
        pub(super) async fn talk() {
            let red = start(child("red".into()));
            let blue = start(child("blue".into()));
            wait_seconds(0.5).await;
            say(format!("red is {}", red.await.unwrap()));
            say(format!("blue is {}", blue.await.unwrap()));
        }
        pub(super) fn registry() -> Registry { Registry::new().script(child).script(talk) }
        pub(super) fn begin() -> impl DurableScript { talk() }
    } => {
        #[durable]
        async fn child(name: String) -> String {
            wait_seconds(1).await;
            name
        }
        #[durable]
        pub(super) async fn talk() {
            let blue = start(child("blue".into()));
            let red = start(child("red".into()));
            wait_seconds(0.5).await;
            say(format!("red is {}", red.await.unwrap()));
            say(format!("blue is {}", blue.await.unwrap()));
        }
        pub(super) fn registry() -> Registry { Registry::new().script(child).script(talk) }
        pub(super) fn begin() -> impl DurableScript { talk() }
    });
    loads(&builds).are_right();
}

#[test]
fn subscriptions_in_another_order_are_told_apart() {
    let builds = builds!({
        let mut hits = HIT.subscribe();
        let mut heals = HEAL.subscribe();
        wait_seconds(2).await;
        say(format!("hit {}, heal {}", hits.next().await.unwrap(), heals.next().await.unwrap()));
    } => {
        let mut heals = HEAL.subscribe();
        let mut hits = HIT.subscribe();
        wait_seconds(2).await;
        say(format!("hit {}, heal {}", hits.next().await.unwrap(), heals.next().await.unwrap()));
    });
    loads(&builds).are_right();
}

#[test]
fn a_signal_with_another_name_is_refused_while_it_is_awaited() {
    let builds = talks!({
        const ANSWER: Signal<u32> = signal("answer");
        #[durable]
        pub(super) async fn talk() {
            let mut answers = ANSWER.subscribe();
            ANSWER.emit(7);
            wait_seconds(1).await;
            say(format!("{}", answers.next().await.unwrap()));
        }
    } => {
        const ANSWER: Signal<u32> = signal("reply");
        #[durable]
        pub(super) async fn talk() {
            let mut answers = ANSWER.subscribe();
            ANSWER.emit(7);
            wait_seconds(1).await;
            say(format!("{}", answers.next().await.unwrap()));
        }
    });
    loads(&builds).are_refused(0..10, "`subscribe`");
}

#[test]
fn several_new_waits_at_once_before_the_point_are_refused() {
    let builds = builds!({
        say("a");
        wait_seconds(1).await;
        say("b");
        wait_seconds(1).await;
        say("c");
    } => {
        say("a");
        wait_seconds(1).await;
        select! {
            () = KEY.wait() => say("key"),
            () = wait_seconds(2) => say("no key"),
        }
        say("b");
        wait_seconds(1).await;
        say("c");
    });
    loads(&builds).are_refused(10..20, "waits with others that are new");
}

#[test]
fn async_closures_and_blocks_keep_their_statements() {
    let builds = builds!({
        let both = async {
            line("one").await;
            line("two").await;
        };
        let meanwhile = async {
            wait_seconds(0.25).await;
            line("meanwhile").await;
        };
        join!(both, meanwhile);
        say("end");
    } => {
        let both = async {
            line("one").await;
            line("new").await;
            line("two").await;
        };
        let meanwhile = async {
            wait_seconds(0.25).await;
            line("meanwhile").await;
        };
        join!(both, meanwhile);
        say("end");
    });
    let outcomes = loads(&builds);
    assert_eq!(outcomes.refused, []);
}

#[test]
fn new_waits_of_each_kind_begin_after_the_load() {
    let builds = builds!({
        say("a");
        select! {
            _ = HIT.wait() => {}
            () = wait_seconds(1_000) => say("seconds"),
        }
        say("hit");
        HEAL.wait().await;
        say("healed");
    } => {
        say("a");
        select! {
            _ = HIT.wait() => {}
            () = wait_seconds(1_000) => say("seconds"),
            () = wait_frames(1_000) => say("frames"),
            () = wait_seconds_realtime(1_000) => say("realtime"),
            () = wait_until(|| with_ref(|story: &Story| story.len() > 1_000)) => say("long"),
            () = async {
                loop {
                    fixed_update().await;
                }
            } => say("steps"),
        }
        say("hit");
        HEAL.wait().await;
        say("healed");
    });
    loads(&builds).are_right();
}
