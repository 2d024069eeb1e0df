//! Changes of the shape of a script: conditions, loops, branches, and what is in the place of what.

use super::{builds, loads, talks};

#[test]
fn an_arm_at_the_front_of_a_match_is_no_change() {
    let builds = builds!({
        let n = with(|_: &mut Story| 2_u32);
        match n { 1 => line("one").await, 2 => { line("two").await; line("two b").await; } _ => line("many").await }
        line("end").await;
    } => {
        let n = with(|_: &mut Story| 2_u32);
        match n { 0 => line("zero").await, 1 => line("one").await, 2 => { line("two").await; line("two b").await; } _ => line("many").await }
        line("end").await;
    });
    loads(&builds).are_right();
}

#[test]
fn arms_in_another_order_are_no_change() {
    let builds = builds!({
        for n in 0..3_u32 {
            match n { 0 => line("zero").await, 1 => line("one").await, _ => line("many").await }
        }
    } => {
        for n in 0..3_u32 {
            match n { 1 => line("one").await, 0 => line("zero").await, _ => line("many").await }
        }
    });
    loads(&builds).are_right();
}

#[test]
fn another_kind_of_loop_with_the_same_turns_goes_on() {
    let builds = builds!({
        let mut n = 0;
        while n < 3 { line(&format!("n {n}")).await; n += 1; }
        line("end").await;
    } => {
        for n in 0..3 { line(&format!("n {n}")).await; }
        line("end").await;
    });
    loads(&builds).are_right();
}

#[test]
fn an_else_before_the_point_is_passed() {
    let builds = builds!({
        if with_ref(|s: &Story| s.len() > 5) { line("rich").await; }
        line("a").await;
        line("b").await;
    } => {
        if with_ref(|s: &Story| s.len() > 5) { line("rich").await; } else { line("poor").await; }
        line("a").await;
        line("b").await;
    });
    loads(&builds)
        .are_right()
        .say("is new, before the point of the save: passed");
}

#[test]
fn a_statement_that_moves_into_a_loop_is_the_same() {
    let builds = builds!({
        line("intro").await;
        for n in 0..3 { line(&format!("n {n}")).await; }
        line("end").await;
    } => {
        for n in 0..3 { if n == 0 { line("intro").await; } line(&format!("n {n}")).await; }
        line("end").await;
    });
    loads(&builds).are_right();
}

#[test]
fn a_return_before_the_point_is_refused() {
    let builds = builds!({
        line("a").await;
        line("b").await;
        line("c").await;
    } => {
        line("a").await;
        if "b".len() == 1 { return; }
        line("b").await;
        line("c").await;
    });
    loads(&builds).are_refused(5..15, "comes to its end without it");
}

#[test]
fn a_subscription_in_the_place_of_waits_is_refused() {
    let builds = builds!({
        HIT.wait().await;
        say("hit");
        HIT.wait().await;
        say("hit again");
    } => {
        let mut hits = HIT.subscribe();
        hits.next().await;
        say("hit");
        hits.next().await;
        say("hit again");
    });
    loads(&builds).are_refused(0..30, "`subscribe` of `hit`");
}

#[test]
fn a_timeout_around_a_pending_wait_begins_with_the_load() {
    let builds = builds!({
        say("a");
        KEY.wait().await;
        say("b");
        HIT.wait().await;
        say("c");
    } => {
        say("a");
        let _ = timeout(3, KEY.wait()).await;
        say("b");
        HIT.wait().await;
        say("c");
    });
    loads(&builds).are_right();
}

#[test]
fn a_joined_branch_that_is_gone_is_refused_while_it_waits() {
    let builds = builds!({
        join!(
            async { line("one").await; },
            async { line("two").await; line("two b").await; },
        );
        line("end").await;
    } => {
        join!(
            async { line("one").await; },
        );
        line("end").await;
    });
    loads(&builds).are_refused(0..10, "which is gone");
}

#[test]
fn a_selected_branch_that_is_gone_is_refused_while_it_waits() {
    let builds = builds!({
        select! {
            _ = HIT.wait() => say("hit"),
            () = wait_seconds(1) => say("bored"),
        }
        line("end").await;
    } => {
        select! {
            () = wait_seconds(1) => say("bored"),
        }
        line("end").await;
    });
    loads(&builds).are_refused(0..10, "which is gone");
}

#[test]
fn of_equal_lines_one_may_be_added() {
    let builds = builds!({
        line("...").await;
        line("...").await;
        line("end").await;
    } => {
        line("...").await;
        line("...").await;
        line("...").await;
        line("end").await;
    });
    loads(&builds).are_right();
}

#[test]
fn of_equal_lines_one_may_be_removed() {
    let builds = builds!({
        line("...").await;
        line("...").await;
        line("...").await;
        line("end").await;
    } => {
        line("...").await;
        line("...").await;
        line("end").await;
    });
    loads(&builds).are_right();
}

#[test]
fn a_deferred_end_that_is_new_is_done() {
    let builds = builds!({
        line("a").await;
        line("b").await;
    } => {
        let _end = defer(|s: &mut Story| s.push("deferred".into()));
        line("a").await;
        line("b").await;
    });
    loads(&builds).are_right();
}

#[test]
fn a_deferred_end_that_is_gone_is_not_done() {
    let builds = builds!({
        let _end = defer(|s: &mut Story| s.push("deferred".into()));
        line("a").await;
        line("b").await;
    } => {
        line("a").await;
        line("b").await;
    });
    loads(&builds).are_right();
}

#[test]
fn a_loop_that_ends_earlier_is_refused_behind_its_end() {
    let builds = builds!({
        let mut n = 0;
        loop { line(&format!("n {n}")).await; n += 1; if n == 4 { break; } }
        line("end").await;
    } => {
        let mut n = 0;
        loop { line(&format!("n {n}")).await; n += 1; if n == 2 { break; } }
        line("end").await;
    });
    loads(&builds).are_refused(10..25, "a condition or a loop before it has changed");
}

#[test]
fn an_effect_that_is_split_counts_as_done() {
    let builds = builds!({
        line("a").await;
        with(|s: &mut Story| { s.push("x".into()); s.push("y".into()); });
        line("b").await;
    } => {
        line("a").await;
        with(|s: &mut Story| { s.push("x".into()); });
        with(|s: &mut Story| { s.push("y".into()); });
        line("b").await;
    });
    loads(&builds).are_right();
}

#[test]
fn a_line_in_a_block_that_is_awaited_in_its_place_is_the_same() {
    let builds = builds!({
        line("a").await;
        line("b").await;
        line("c").await;
    } => {
        let later = async { line("b").await; };
        line("a").await;
        later.await;
        line("c").await;
    });
    loads(&builds).are_right();
}

#[test]
fn an_interval_with_another_period_keeps_its_next_tick() {
    let builds = builds!({
        let mut ticks = interval(1);
        for n in 0..4 { ticks.tick().await; say(format!("tick {n}")); }
    } => {
        let mut ticks = interval(0.5);
        for n in 0..4 { ticks.tick().await; say(format!("tick {n}")); }
    });
    loads(&builds).are_right();
}

#[test]
fn an_animation_of_another_length_keeps_its_end() {
    let builds = builds!({
        animate(2, |share| if share >= 1.0 { say("done") }).await;
        line("end").await;
    } => {
        animate(1, |share| if share >= 1.0 { say("done") }).await;
        line("end").await;
    });
    loads(&builds).are_right();
}

#[test]
fn a_child_that_is_made_in_another_way_is_refused() {
    let builds = talks!({
        #[durable]
        pub(super) async fn child() { line("child").await; line("child b").await; }
        #[durable]
        pub(super) async fn talk() { line("a").await; let child = start(child()); line("b").await; child.await.unwrap(); line("c").await; }
    } and child => {
        #[durable]
        pub(super) async fn child() { line("child").await; line("child b").await; }
        #[durable]
        pub(super) async fn talk() { line("a").await; let child = spawn(child()); line("b").await; child.await.unwrap(); line("c").await; }
    } and child);
    loads(&builds).are_refused(5..20, "`spawn` of `child`");
}

#[test]
fn a_child_that_becomes_lines_is_refused_while_it_is_joined() {
    let builds = talks!({
        #[durable]
        pub(super) async fn child() { line("child").await; line("child b").await; }
        #[durable]
        pub(super) async fn talk() { line("a").await; start(child()).await.unwrap(); line("c").await; }
    } and child => {
        #[durable]
        pub(super) async fn child() { line("child").await; line("child b").await; }
        #[durable]
        pub(super) async fn talk() { line("a").await; line("child").await; line("child b").await; line("c").await; }
    } and child);
    loads(&builds).are_refused(5..15, "the script waits in a statement that is gone");
}

#[test]
fn a_permit_of_another_name_is_refused_while_it_is_held() {
    let builds = builds!({
        const SEATS: Semaphore = semaphore("patched seats", 1);
        let _seat = SEATS.acquire().await;
        line("a").await;
        line("b").await;
    } => {
        const SEATS: Semaphore = semaphore("patched tables", 1);
        let _seat = SEATS.acquire().await;
        line("a").await;
        line("b").await;
    });
    loads(&builds).are_refused(0..10, "patched tables");
}

#[test]
fn of_waits_for_one_signal_the_first_may_be_removed() {
    let builds = builds!({
        KEY.wait().await; say("first");
        KEY.wait().await; say("second");
        KEY.wait().await; say("third");
    } => {
        KEY.wait().await; say("second");
        KEY.wait().await; say("third");
    });
    loads(&builds).are_right();
}

#[test]
fn a_loop_that_counts_further_is_noted() {
    let builds = builds!({
        for n in 0..3 {
            line(&format!("{n}")).await;
        }
    } => {
        for n in 0..5 {
            line(&format!("{n}")).await;
        }
    });
    let outcomes = loads(&builds);
    outcomes.are_right().say("the loop of line");
    outcomes.say("goes round in another way");
}

#[test]
fn a_loop_in_a_loop_that_counts_further_is_refused() {
    let builds = builds!({
        for a in 0..2 {
            for b in 0..2 {
                line(&format!("{a} {b}")).await;
            }
        }
    } => {
        for a in 0..2 {
            for b in 0..3 {
                line(&format!("{a} {b}")).await;
            }
        }
    });
    loads(&builds).are_refused(0..20, "is in a loop in another loop");
}

#[test]
fn a_loop_in_a_loop_that_ends_later_is_refused() {
    let builds = builds!({
        for a in 0..2 {
            let mut b = 0;
            loop {
                line(&format!("{a} {b}")).await;
                b += 1;
                if b == 2 {
                    break;
                }
            }
        }
    } => {
        for a in 0..2 {
            let mut b = 0;
            loop {
                line(&format!("{a} {b}")).await;
                b += 1;
                if b == 3 {
                    break;
                }
            }
        }
    });
    loads(&builds).are_refused(0..20, "is in a loop in another loop");
}

#[test]
fn a_line_in_a_loop_in_a_loop_is_passed() {
    let builds = builds!({
        for a in 0..2 {
            for b in 0..2 {
                line(&format!("{a} {b}")).await;
            }
        }
    } => {
        for a in 0..2 {
            for b in 0..2 {
                let text = format!("new {a} {b}");
                line(&text).await;
                line(&format!("{a} {b}")).await;
            }
        }
    });
    loads(&builds).are_right();
}
