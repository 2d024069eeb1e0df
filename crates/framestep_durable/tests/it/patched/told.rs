//! Loops over what no table tells: lists that functions return, one of several in a constant, indices and queues. A
//! save in the loop goes on if its turns so far were of the same items.
#![expect(
    clippy::explicit_into_iter_loop,
    clippy::explicit_iter_loop,
    clippy::modulo_one,
    clippy::needless_range_loop,
    clippy::never_loop,
    reason = "all forms of loops"
)]

use super::{Story, loads, talks};

/// Three lines of 0.8 seconds in a list that a function returns, then one of 0.5. `$loop` goes over it.
macro_rules! returned {
    ([$($before:expr),*] => [$($after:expr),*] in { $($loop:tt)* }) => {
        talks!({
            fn lines() -> Vec<&'static str> { vec![$($before),*] }
            #[durable]
            pub async fn talk() {
                $($loop)*
                say("end");
                wait_seconds(0.5).await;
            }
        } => {
            fn lines() -> Vec<&'static str> { vec![$($after),*] }
            #[durable]
            pub async fn talk() {
                $($loop)*
                say("end");
                wait_seconds(0.5).await;
            }
        })
    };
    ([$($before:expr),*] => [$($after:expr),*]) => {
        returned!([$($before),*] => [$($after),*] in {
            for line in lines() {
                say(line);
                wait_seconds(0.8).await;
            }
        })
    };
}

const OTHER: &str = "has gone over other items than at the save";

#[test]
fn another_list_before_the_point_is_refused() {
    // frame    0  8  16 24
    // before   a  b  c  end
    let swapped = returned!(["a", "b", "c"] => ["b", "a", "c"]);
    loads(&swapped).are_refused(0..24, OTHER);
    let reworded = returned!(["a", "b", "c"] => ["a", "B", "c"]);
    loads(&reworded).are_refused(8..24, OTHER);
    let replaced = returned!(["a", "b", "c"] => ["a", "b", "d"]);
    loads(&replaced).are_refused(16..24, OTHER);
    let front = returned!(["a", "b", "c"] => ["new", "a", "b", "c"]);
    // Behind the loop, the fourth turn has no entries.
    loads(&front).are_refused(0..29, "");
}

#[test]
fn another_list_behind_the_point_goes_on() {
    let longer = returned!(["a", "b", "c"] => ["a", "b", "c", "new"]);
    loads(&longer).are_refused(24..29, "it has not come to");
    let shorter = returned!(["a", "b", "c"] => ["a", "b"]);
    loads(&shorter).are_refused(16..29, "");
    let same = returned!(["a", "b", "c"] => ["a", "b", "c"]);
    loads(&same).are_right();
}

#[test]
fn indices_and_queues_are_told_by_what_they_find() {
    let indexed = returned!(["a", "b", "c"] => ["a", "B", "c"] in {
        let lines = lines();
        let mut at = 0;
        while at < lines.len() {
            let line = lines[at];
            at += 1;
            say(line);
            wait_seconds(0.8).await;
        }
    });
    loads(&indexed).are_refused(8..24, OTHER);
    let asked = returned!(["a", "b", "c"] => ["a", "B", "c"] in {
        let mut lines = lines().into_iter();
        while let Some(line) = lines.next() {
            say(line);
            wait_seconds(0.8).await;
        }
    });
    loads(&asked).are_refused(8..24, OTHER);
    let counted = returned!(["a", "b", "c"] => ["a", "B", "c"] in {
        let lines = lines();
        for at in 0..3 {
            let Some(line) = lines.get(at) else { break };
            say(*line);
            wait_seconds(0.8).await;
        }
    });
    loads(&counted).are_refused(8..24, OTHER);
    let left = returned!(["a", "b", "c"] => ["a", "B", "c"] in {
        let mut lines = lines();
        loop {
            let Some(line) = lines.pop() else { break };
            say(line);
            wait_seconds(0.8).await;
        }
    });
    loads(&left).are_refused(8..24, OTHER);
}

#[test]
fn turns_without_entries_count() {
    let builds = returned!(["a", "-", "b", "c"] => ["a", "-", "-", "b", "c"] in {
        for line in lines() {
            if line == "-" {
                continue;
            }
            say(line);
            wait_seconds(0.8).await;
        }
    });
    loads(&builds).are_refused(8..24, OTHER);
}

/// Two constants with three lines.
macro_rules! constants {
    ($of:ty: $before:expr => $after:expr; { $($loop:tt)* }) => {
        talks!({
            const LINES: $of = $before;
            #[durable]
            pub async fn talk() { $($loop)* }
        } => {
            const LINES: $of = $after;
            #[durable]
            pub async fn talk() { $($loop)* }
        })
    };
}

#[test]
fn one_of_several_lists_in_a_constant_is_told() {
    let builds = constants!(&[&[&str]]: &[&["x"], &["a", "b", "c"]] => &[&["x", "y"], &["a", "B", "c"]]; {
        let number = 1;
        for line in LINES[number] {
            say(*line);
            wait_seconds(0.8).await;
        }
    });
    loads(&builds).are_refused(8..24, OTHER);
}

#[test]
fn what_a_loop_looks_up_in_a_constant_is_a_list_of_its_table() {
    let reworded = constants!(&[&str]: &["a", "b", "c"] => &["a", "B", "c"]; {
        for at in 0..3 {
            say(LINES[at]);
            wait_seconds(0.8).await;
        }
    });
    assert_eq!(loads(&reworded).refused, []);
    let inserted = constants!(&[&str]: &["a", "b", "c"] => &["new", "a", "b", "c"]; {
        let mut at = 0;
        while at < LINES.len() {
            say(LINES[at]);
            wait_seconds(0.8).await;
            at += 1;
        }
        say("end");
    });
    loads(&inserted).are_refused(0..24, "the save does not say which turn is which");
    let nested = constants!(&[&[&str]]: &[&["a"], &["b", "c"]] => &[&["a"], &["B", "b", "c"]]; {
        let mut at = 0;
        while at < 3 {
            say(*LINES.concat().get(at).unwrap());
            say(LINES[at / 2][at % 1]);
            wait_seconds(0.8).await;
            at += 1;
        }
    });
    loads(&nested).are_refused(0..24, "the save does not say which turn is which");
}

#[test]
fn a_list_may_become_a_function_and_a_constant() {
    let literal = talks!({
        #[durable]
        pub async fn talk() {
            for line in ["a", "b", "c"] {
                say(line);
                wait_seconds(0.8).await;
            }
        }
    } => {
        fn lines() -> Vec<&'static str> { vec!["a", "b", "c", "new"] }
        #[durable]
        pub async fn talk() {
            for line in lines() {
                say(line);
                wait_seconds(0.8).await;
            }
        }
    });
    loads(&literal).are_right();
    let constant = talks!({
        fn lines() -> Vec<&'static str> { vec!["a", "b", "c"] }
        #[durable]
        pub async fn talk() {
            for line in lines() {
                say(line);
                wait_seconds(0.8).await;
            }
        }
    } => {
        const LINES: &[&str] = &["a", "B", "c"];
        #[durable]
        pub async fn talk() {
            for &line in LINES {
                say(line);
                wait_seconds(0.8).await;
            }
        }
    });
    loads(&constant).are_refused(8..24, OTHER);
}

#[test]
fn items_may_get_debug() {
    let builds = talks!({
        #[derive(Clone)]
        struct Line(&'static str);
        fn lines() -> Vec<Line> { vec![Line("a"), Line("b"), Line("c")] }
        #[durable]
        pub async fn talk() {
            for line in lines() {
                say(line.0);
                wait_seconds(0.8).await;
            }
        }
    } => {
        #[derive(Clone, Debug)]
        struct Line(&'static str);
        fn lines() -> Vec<Line> { vec![Line("a"), Line("b"), Line("c")] }
        #[durable]
        pub async fn talk() {
            for line in lines() {
                say(line.0);
                wait_seconds(0.8).await;
            }
        }
    });
    loads(&builds).are_right();
}

/// ```text
/// before   a b | a b | a b           a save in the third round's "a" has five lines, and the inner turn of
/// after    a a c b | a a c b | ..    the second round's first "a", which is the fifth line, too
/// ```
#[test]
fn a_round_is_not_taken_for_another_one_whose_inner_turn_is_alike() {
    let builds = returned!(["a", "b"] => ["a", "a", "c", "b"] in {
        for _ in 0..3 {
            for line in lines() {
                say(line);
                wait_seconds(0.8).await;
            }
        }
    });
    // The first line of the first round is the same. Behind the rounds, there are more lines now.
    loads(&builds).are_refused(8..53, "");
}

/// Bodies that compile: with items of all kinds.
#[test]
fn each_turn_of_any_loop_may_be_told() {
    let builds = talks!({
        struct Hidden(u32);
        async fn takes(number: u32) { wait_frames(u64::from(number)).await; }
        #[durable]
        pub async fn talk() {
            for text in "1,2".split(',').map(|text| text.parse().unwrap()) {
                takes(text).await;
            }
            let mut names = vec![String::from("b")];
            for name in names.iter_mut() {
                name.push('c');
                wait_frames(1).await;
            }
            for mut name in names {
                name.push('d');
                say(name);
                wait_frames(1).await;
            }
            for (at, Hidden(number)) in [Hidden(2)].into_iter().enumerate() {
                say(format!("{at} {number}"));
                wait_frames(1).await;
            }
            for ref number in vec![1, 2].into_iter() {
                say(format!("{number}"));
                wait_frames(1).await;
            }
            let mut left = Vec::new();
            left.push(3);
            'outer: while let Some(number) = left.pop() {
                loop {
                    wait_frames(number).await;
                    continue 'outer;
                }
            }
        }
    } => {
        #[durable]
        pub async fn talk() { wait_seconds(100).await; }
    });
    let mut runtime = (Story::new(), super::Runtime::new((builds.before)()));
    (builds.begin)(&runtime.1);
    for _ in 0..20 {
        runtime.1.run_frame_with(&mut runtime.0, 0.1);
    }
    assert_eq!(runtime.0, ["bcd", "0 2", "1", "2"]);
    assert!(runtime.1.scripts().is_empty());
}
