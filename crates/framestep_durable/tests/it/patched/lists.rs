//! Loops over lists that the code or a constant tells, without labels.

use super::{Story, builds, loads, say, talks};

macro_rules! constants {
    ([$($before:expr),*] => [$($after:expr),*]) => {
        constants!(&str: [$($before),*] => [$($after),*] in LINES, line => line.to_string())
    };
    ($of:ty: [$($before:expr),*] => [$($after:expr),*] in $list:expr, $item:pat => $said:expr) => {
        talks!({
            const LINES: &[$of] = &[$($before),*];
            #[durable]
            pub async fn talk() {
                for $item in $list {
                    say($said);
                    wait_seconds(0.8).await;
                }
                say("end");
                wait_seconds(0.5).await;
            }
        } => {
            const LINES: &[$of] = &[$($after),*];
            #[durable]
            pub async fn talk() {
                for $item in $list {
                    say($said);
                    wait_seconds(0.8).await;
                }
                say("end");
                wait_seconds(0.5).await;
            }
        })
    };
}

#[test]
fn new_items_of_a_constant_are_passed_before_the_point_and_done_behind_it() {
    let front = constants!(["a", "b", "c", "d"] => ["new", "a", "b", "c", "d"]);
    loads(&front).are_right();
    let middle = constants!(["a", "b", "c", "d"] => ["a", "b", "new", "other", "c", "d"]);
    loads(&middle).are_right();
    let end = constants!(["a", "b", "c", "d"] => ["a", "b", "c", "d", "new"]);
    loads(&end).are_right();
}

#[test]
fn an_item_that_is_gone_is_refused_only_behind_it_in_the_loop() {
    let removed = constants!(["a", "b", "c", "d"] => ["a", "c", "d"]);
    let outcomes = loads(&removed);
    // "b" and what is behind it, as long as the loop is not over.
    outcomes.are_refused(8..32, "for item in labelled(LIST, |item| item.id)");
    let replaced = constants!(["a", "b"] => ["c"]);
    loads(&replaced).are_refused(0..16, "");
}

/// ```text
/// before   odd "11"  even "12"  odd "13"      a save in the turn of "11"
/// after   even "12"  even "12"  odd "13"      the first call is that of "13"
/// ```
#[test]
fn a_turn_is_not_taken_for_that_of_another_item_whose_call_is_alike() {
    let changed = talks!({
        const LINES: &[u32] = &[11, 12, 13];
        #[durable]
        pub async fn talk() {
            for line in LINES {
                if line % 2 == 1 {
                    say(line.to_string());
                    wait_seconds(0.8).await;
                }
            }
            wait_seconds(0.5).await;
        }
    } => {
        const LINES: &[u32] = &[12, 12, 13];
        #[durable]
        pub async fn talk() {
            for line in LINES {
                if line % 2 == 1 {
                    say(line.to_string());
                    wait_seconds(0.8).await;
                }
            }
            wait_seconds(0.5).await;
        }
    });
    // Behind it, the call of "11" is one too many.
    loads(&changed).are_refused(0..21, "");
}

#[test]
fn items_in_another_order_are_refused_only_between_them() {
    let swapped = constants!(["a", "b", "c", "d"] => ["a", "c", "b", "d"]);
    // "c" and "b" are in each other's turns.
    loads(&swapped).are_refused(8..24, "is gone or has moved");
}

#[test]
fn a_turn_in_which_nothing_was_done_yet_is_that_of_its_item() {
    let builds = talks!({
        const LINES: &[&str] = &["a", "b", "c"];
        #[durable]
        pub async fn talk() {
            for line in LINES {
                wait_seconds(0.8).await;
                say(*line);
            }
        }
    } => {
        const LINES: &[&str] = &["b", "c", "a"];
        #[durable]
        pub async fn talk() {
            for line in LINES {
                wait_seconds(0.8).await;
                say(*line);
            }
        }
    });
    // In the third turn, "a" and "b" are done, and "c" is not.
    loads(&builds).are_refused(0..24, "is gone or has moved");
}

#[test]
fn an_item_with_another_text_is_the_same() {
    let reworded =
        constants!(["Good evning.", "A beer?", "Bye."] => ["Good evening.", "A beer?", "Bye."]);
    let outcomes = loads(&reworded);
    assert_eq!(outcomes.refused, []);
}

#[test]
fn a_new_item_beside_one_with_another_text_is_told_by_its_words() {
    let told = constants!(
        ["Good evening, stranger from far.", "Bye."] =>
        ["It rains again since three nights.", "Good evening, my stranger from far.", "Bye."]
    );
    loads(&told).are_right();
    let untold = constants!(["one", "Bye."] => ["two", "three", "Bye."]);
    loads(&untold).are_refused(0..8, "or another one");
}

#[test]
fn a_list_may_be_gone_over_in_several_ways() {
    let numbered = constants!(
        &str: ["a", "b", "c"] => ["a", "new", "b", "c"] in LINES.iter().enumerate(),
        (_, line) => line.to_string()
    );
    loads(&numbered).are_right();
    let indexed = constants!(
        &str: ["a", "b", "c"] => ["a", "new", "b", "c"] in 0..LINES.len(),
        at => LINES[at]
    );
    loads(&indexed).are_right();
    let of_text = builds!({
        const TEXT: &str = "a\nb\nc";
        for line in TEXT.lines() {
            say(line);
            wait_seconds(1).await;
        }
    } => {
        const TEXT: &str = "a\nb\nc";
        for line in TEXT.lines() {
            say(line);
            wait_seconds(1).await;
        }
        say("end");
    });
    loads(&of_text).are_right();
}

/// Two bodies with lists in them.
macro_rules! literals {
    ([$($before:tt)*] => [$($after:tt)*]) => {
        [
            builds!({
                for text in [$($before)*] {
                    say(text);
                    wait_seconds(1).await;
                }
            } => {
                for text in [$($after)*] {
                    say(text);
                    wait_seconds(1).await;
                }
            }),
            builds!({
                let texts = vec![$($before)*];
                for text in &texts {
                    say(*text);
                    wait_seconds(1).await;
                }
            } => {
                let texts = vec![$($after)*];
                for text in &texts {
                    say(*text);
                    wait_seconds(1).await;
                }
            }),
            builds!({
                const TEXTS: [&str; 3] = [$($before)*];
                match 1 {
                    1 => for text in TEXTS {
                        say(text);
                        wait_seconds(1).await;
                    },
                    _ => {}
                }
            } => {
                const TEXTS: &[&str] = &[$($after)*];
                match 1 {
                    1 => for text in TEXTS {
                        say(*text);
                        wait_seconds(1).await;
                    },
                    _ => {}
                }
            }),
        ]
    };
}

#[test]
fn lists_in_the_code_are_told_as_well() {
    for builds in literals!(["a", "b", "c"] => ["new", "a", "b", "c"]) {
        loads(&builds).are_right();
    }
    for builds in literals!(["a", "b", "c"] => ["a", "b", "new", "c"]) {
        loads(&builds).are_right();
    }
    for builds in literals!(["a", "b", "c"] => ["b", "c"]) {
        loads(&builds).are_refused(0..30, "is gone or has moved");
    }
}

#[test]
fn lists_in_lists_are_told() {
    let builds = builds!({
        for scene in ["inn", "road"] {
            for who in ["anna", "ben"] {
                say(format!("{scene}: {who}"));
                wait_seconds(0.5).await;
            }
        }
    } => {
        for scene in ["inn", "wood", "road"] {
            for who in ["carl", "anna", "ben"] {
                say(format!("{scene}: {who}"));
                wait_seconds(0.5).await;
            }
        }
    });
    loads(&builds).are_right();
}

#[test]
fn items_of_any_type_that_prints_itself_are_told() {
    let builds = talks!({
        #[derive(Debug)]
        struct Line(&'static str, f32, fn(f32) -> f32);
        const LINES: &[Line] = &[Line("a", 0.5, f32::abs), Line("b", 1.0, f32::sqrt)];
        #[durable]
        pub async fn talk() {
            for line in LINES {
                say(line.0);
                wait_seconds((line.2)(line.1)).await;
            }
        }
    } => {
        #[derive(Debug)]
        struct Line(&'static str, f32, fn(f32) -> f32);
        const LINES: &[Line] = &[Line("a", 0.5, f32::abs), Line("new", 0.3, f32::abs), Line("b", 1.0, f32::sqrt)];
        #[durable]
        pub async fn talk() {
            for line in LINES {
                say(line.0);
                wait_seconds((line.2)(line.1)).await;
            }
        }
    });
    loads(&builds).are_right();
}

#[test]
fn where_the_turns_are_not_the_items_another_list_is_refused_in_the_loop() {
    let inserted = constants!(
        &str: ["a", "b", "c", "d"] => ["a", "b", "new", "c", "d"] in LINES.iter().skip(1),
        line => line.to_string()
    );
    let outcomes = loads(&inserted);
    let (_, first) = &outcomes.are_refused(0..29, "").refused[0];
    assert!(
        first.contains("the save does not say which turn is which"),
        "{first}"
    );
    let appended = constants!(
        &str: ["a", "b", "c", "d"] => ["A", "b", "c", "d", "e"] in LINES.iter().skip(1),
        line => line.to_string()
    );
    // In the loop, all goes on. Behind it, there is one turn more.
    loads(&appended).are_refused(24..29, "");
    let reversed = constants!(
        &str: ["a", "b", "c", "d"] => ["a", "b", "c", "d", "e"] in LINES.iter().rev(),
        line => line.to_string()
    );
    loads(&reversed).are_refused(0..37, "");
    let at_once = builds!({
        let both = async {
            for text in ["a", "b"] {
                say(text);
                wait_seconds(1).await;
            }
        };
        both.await;
    } => {
        let both = async {
            for text in ["new", "a", "b"] {
                say(text);
                wait_seconds(1).await;
            }
        };
        both.await;
    });
    loads(&at_once).are_refused(0..20, "the save does not say which turn is which");
}

#[test]
fn a_value_of_an_item_is_not_read_for_another_one() {
    let swapped = builds!({
        let mut all = Vec::new();
        for text in ["a", "b"] {
            all.push(with(move |story: &mut Story| { story.push(text.into()); text.to_owned() }));
            wait_seconds(1).await;
        }
        wait_seconds(1).await;
        say(all.concat());
    } => {
        let mut all = Vec::new();
        for text in ["b", "a"] {
            all.push(with(move |story: &mut Story| { story.push(text.into()); text.to_owned() }));
            wait_seconds(1).await;
        }
        wait_seconds(1).await;
        say(all.concat());
    });
    loads(&swapped).are_refused(0..30, "reads a value in the loop over a list");
}

mod elsewhere {
    pub(crate) const LINES: &[&str] = &["a", "b"];
}

#[test]
fn imports_and_names_of_the_body_do_not_hinder() {
    let builds = builds!({
        use crate::patched::lists::elsewhere::LINES;
        for line in LINES {
            say(*line);
            wait_seconds(1).await;
        }
    } => {
        #[allow(non_snake_case, reason = "as an odd game has it")]
        let LINES = ["a".to_owned(), "b".to_owned()];
        for line in &LINES {
            say(line);
            wait_seconds(1).await;
        }
    });
    loads(&builds).are_right();
}

#[test]
fn what_changes_in_a_list_is_listed() {
    let builds = constants!(["a", "b", "c"] => ["a", "new", "b", "c"]);
    let shipped = (builds.before)().places();
    let changes = (builds.after)().changes_since(&shipped).unwrap();
    let changes: Vec<String> = changes.iter().map(ToString::to_string).collect();
    let [change] = &changes[..] else {
        panic!("{changes:#?}");
    };
    assert!(change.contains("the list of the loop at"), "{change}");
    let builds = constants!(["a", "b", "c"] => ["a", "B", "c"]);
    let shipped = (builds.before)().places();
    assert_eq!((builds.after)().changes_since(&shipped), Some(Vec::new()));
}

#[test]
fn a_list_of_the_code_may_become_a_constant() {
    let builds = talks!({
        #[durable]
        pub async fn talk() {
            for text in ["Good evening, stranger from far.", "Is it still raining on the road?", "Bye."] {
                say(text);
                wait_seconds(1).await;
            }
        }
    } => {
        const LINES: &[&str] = &[
            "Good evening, stranger from far.",
            "You are wet.",
            "Is it still raining on the road?",
            "Bye.",
        ];
        #[durable]
        pub async fn talk() {
            for text in LINES {
                say(*text);
                wait_seconds(1).await;
            }
        }
    });
    loads(&builds).are_right();
}

#[test]
fn items_that_do_not_print_themselves_are_counted() {
    macro_rules! untold {
        ([$($before:expr),*] => [$($after:expr),*]) => {
            talks!({
                struct Line(&'static str);
                const LINES: &[Line] = &[$(Line($before)),*];
                #[durable]
                pub async fn talk() {
                    for line in LINES {
                        say(line.0);
                        wait_seconds(1).await;
                    }
                }
            } => {
                struct Line(&'static str);
                const LINES: &[Line] = &[$(Line($after)),*];
                #[durable]
                pub async fn talk() {
                    for line in LINES {
                        say(line.0);
                        wait_seconds(1).await;
                    }
                    say("end");
                }
            })
        };
    }
    loads(&untold!(["a", "b"] => ["a", "B"])).are_right();
    loads(&untold!(["a", "b"] => ["new", "a", "b"]))
        .are_refused(0..20, "Derive it before a build is shipped");
}

#[test]
fn items_print_themselves_when_the_registry_hears_of_the_script() {
    use std::fmt;
    use std::sync::atomic::{AtomicU32, Ordering};

    use framestep_durable::prelude::*;

    static PRINTED: AtomicU32 = AtomicU32::new(0);
    struct Line(&'static str);
    impl fmt::Debug for Line {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            PRINTED.fetch_add(1, Ordering::Relaxed);
            f.write_str(self.0)
        }
    }
    static LINES: [Line; 2] = [Line("a"), Line("b")];
    #[durable]
    async fn talk() {
        for line in &LINES {
            say(line.0);
            wait_seconds(1).await;
        }
    }

    let mut runtime = Runtime::new(Registry::new().script(talk));
    assert_eq!(PRINTED.load(Ordering::Relaxed), 2);
    runtime.spawn(talk()).detach();
    runtime.run_frame_with(&mut Story::new(), 0.1);
    let save = runtime.save().unwrap();
    runtime.restore(&save, Policy::Fail).unwrap();
    assert_eq!(PRINTED.load(Ordering::Relaxed), 2);
}
