//! Copies of what opened, closed or changed an earlier room of a name.

use super::people::{close, kick, presence};
use super::*;
use crate::room::Presence;
use std::slice::from_ref;

/// As it was in the log once: made after this entry.
fn made((topic, body): (Topic, Vec<u8>), after: u64) -> (Topic, Vec<u8>) {
    let body = String::from_utf8(body).unwrap();
    (topic, body.replace("LAST", &after.to_string()).into_bytes())
}

/// ```text
/// log    1: opens a (after 0) | 2: ends it | 3: opens a, once more | .. | opens a (after what is known)
/// room   a                    |            |                       |    | another one
/// ```
#[test]
fn a_late_copy_of_an_opening_does_not_open_the_room_again() {
    for is_closed_by_operator in [false, true] {
        let mut log = Log::new();
        let opening = made(open("a", "pot", "5"), 0);
        log.frame(from_ref(&opening));
        log.frame(from_ref(&opening)); // it is open
        let end = if is_closed_by_operator {
            close("a")
        } else {
            text("a", "alice", 1, "994")
        };
        log.frame(&[end, opening.clone()]);
        log.frame(from_ref(&opening));
        (0..100).for_each(|_| log.frame(&[]));
        log.frame(from_ref(&opening));
        // Also one that a node has computed which has loaded a save.
        let save = log.0.save().unwrap();
        log.0.load(Some(&save)).unwrap();
        log.frame(&[opening]);
        assert_eq!(log.view("a"), None);
        assert_eq!(
            log.0.refused().not_opened,
            if is_closed_by_operator { 4 } else { 3 }
        );
        log.frame(&[open("a", "pot", "7")]);
        assert_eq!(log.view("a"), Some((7, 0)));
    }
}

#[test]
fn an_opening_names_an_entry_that_was_there_before_it() {
    let mut log = Log::new();
    log.frame(&[
        open_after("a", "pot", "5", 1),
        open_after("b", "pot", "5", u64::MAX),
        (
            Topic::Open("c".into()),
            br#"{"kind":"pot","args":5}"#.to_vec(),
        ),
        // It asks for an entry.
        (Topic::Open("d".into()), Vec::new()),
    ]);
    assert_eq!(log.0.status(), []);
    let expected = Refused {
        not_opened: 3,
        ..Refused::default()
    };
    assert_eq!(log.0.refused(), expected);
    assert!(
        matches!(log.0.absence("a"), Some((_, Absence::Refused(why))) if why.contains("names entry 1"))
    );
}

#[test]
fn an_opening_that_was_refused_does_not_open_the_room_once_there_is_a_place() {
    let mut log = Log::new();
    log.frame(&["a", "b", "c"].map(|room| open(room, "pot", "1"))); // 1, 2, 3: it is full
    let opening = made(open("d", "pot", "1"), 3);
    log.frame(from_ref(&opening));
    assert_eq!(log.0.refused().not_opened, 1);
    log.frame(&[close("a")]);
    log.frame(&[opening]);
    assert_eq!(log.view("d"), None);
    log.frame(&[open("d", "pot", "1")]);
    assert_eq!(log.view("d"), Some((1, 0)));
}

#[test]
fn a_late_copy_of_an_order_of_the_operator_does_nothing_to_a_later_room_of_the_name() {
    let mut log = Log::new();
    let (closing, kicking) = (made(close("a"), 1), made(kick("a", "bob"), 1));
    log.frame(&[open("a", "pot", "5")]);
    log.frame(&[kicking.clone(), closing.clone(), open("a", "pot", "7")]);
    log.frame(&[closing, kicking, presence("a", "bob", true)]);
    let bob = Player::new("bob").unwrap();
    assert_eq!(log.view("a"), Some((7, 0)));
    let heard = log.0.look("a", |pot: &Pot, _| pot.heard.clone()).unwrap();
    assert_eq!(heard, [(bob, Presence::Joined)]);
    // An order that names nothing is none.
    log.frame(&[(Topic::Close("a".into()), Vec::new())]);
    assert!(log.view("a").is_some());
    log.frame(&[close("a")]);
    assert_eq!(log.view("a"), None);
}

/// Another build goes on where nothing is known but the last entry that has ended a room. Each build must have the
/// same state there.
#[test]
fn five_seconds_after_the_last_room_a_shard_is_as_if_it_had_begun_there() {
    let mut log = Log::new();
    assert_eq!(log.0.empty(), Some(0));
    let opening = made(open("a", "pot", "5"), 0);
    log.frame(from_ref(&opening));
    log.frame(&[open("b", "pot", "5"), text("a", "alice", 1, "994")]); // ends it in entry 3
    log.frame(&[text("b", "alice", 1, "994")]); // and this one in entry 4
    // Ten frames a second.
    (0..50).for_each(|_| log.frame(&[]));
    assert_eq!(log.0.empty(), None);
    log.frame(&[]);
    assert_eq!(log.0.empty(), Some(4));

    let mut begun = Log::new();
    begun.0.load_empty(log.0.frame, 4);
    begun.1 = log.1;
    assert_eq!(begun.0.hash(), log.0.hash());
    for log in [&mut log, &mut begun] {
        log.frame(&[
            opening.clone(),
            open_after("c", "pot", "6", 3),
            open("b", "pot", "7"),
        ]);
        assert_eq!(
            (log.view("a"), log.view("c"), log.view("b")),
            (None, None, Some((7, 0)))
        );
    }
    assert_eq!(begun.0.hash(), log.0.hash());
}
