//! Who is there, and what an operator does.

use super::*;
use crate::member::shard_of;

fn player(name: &str) -> Player {
    Player::new(name).unwrap()
}

pub(super) fn presence(room: &str, name: &str, is_here: bool) -> (Topic, Vec<u8>) {
    let body = if is_here { HERE } else { b"gone" };
    (Topic::Presence(room.into(), player(name)), body.to_vec())
}

pub(super) fn close(room: &str) -> (Topic, Vec<u8>) {
    (Topic::Close(room.into()), br#"{"a":LAST}"#.to_vec())
}

pub(super) fn kick(room: &str, name: &str) -> (Topic, Vec<u8>) {
    (
        Topic::Kick(room.into(), player(name)),
        br#"{"a":LAST}"#.to_vec(),
    )
}

impl Log {
    /// What room a has heard.
    fn heard(&self) -> Vec<(String, Presence)> {
        let heard = |pot: &Pot, _: &Runtime| pot.heard.clone();
        let heard = self.0.look("a", heard).unwrap().into_iter();
        heard.map(|(player, it)| (player.to_string(), it)).collect()
    }
}

#[test]
fn a_room_hears_once_that_a_player_joins_is_gone_and_returns() {
    let mut log = Log::new();
    log.frame(&[
        presence("a", "alice", true), // there is no room yet
        open("a", "pot", "5"),
        presence("a", "alice", true),
        presence("a", "alice", true),
        presence("a", "bob", false),
    ]);
    log.frame(&[presence("a", "alice", false), presence("a", "alice", false)]);
    log.frame(&[text("a", "eve", 1, "1"), presence("a", "eve", true)]);
    let save = log.0.save().unwrap();
    log.0.load(Some(&save)).unwrap();
    log.frame(&[presence("a", "alice", true)]);
    let expected = [
        ("alice", Presence::Joined),
        ("alice", Presence::Gone),
        ("eve", Presence::Joined),
        ("alice", Presence::Returned),
    ];
    assert_eq!(
        log.heard(),
        expected.map(|(name, it)| (name.to_owned(), it))
    );
    assert_eq!(log.0.here().len(), 2);
    assert_eq!(log.0.status()[0].here, 2);
    log.frame(&[presence("a", "ghost", true)]);
    assert_eq!(log.0.status()[0].broken.as_deref(), Some("a ghost"));
}

#[test]
fn a_player_who_has_left_is_forgotten_after_ten_minutes_and_one_who_is_there_never() {
    let mut log = Log::new();
    log.frame(&[
        open("a", "pot", "5"),
        presence("a", "alice", true),
        presence("a", "bob", true),
        text("a", "eve", 1, "1"),
    ]);
    log.frame(&[presence("a", "bob", false)]);
    // Ten frames a second.
    (0..6_000).for_each(|_| log.frame(&[]));
    assert_eq!(log.0.status()[0].players, 3);
    (0..100).for_each(|_| log.frame(&[]));
    assert_eq!(log.0.status()[0].players, 1);
}

#[test]
fn a_copy_of_an_input_never_counts_again_also_after_its_player_was_forgotten() {
    let mut log = Log::new();
    let eve = |number| made_after(number, text("a", "eve", number, "1"));
    log.frame(&[open("a", "pot", "5"), eve(1), text("a", "bob", 1, "1")]); // entries 1 to 3
    (0..6_100).for_each(|_| log.frame(&[]));
    assert_eq!(log.0.status()[0].players, 0);
    log.frame(&[eve(1)]);
    let save = log.0.save().unwrap();
    log.0.load(Some(&save)).unwrap();
    log.frame(&[eve(1)]);
    assert_eq!((log.view("a").unwrap().0, log.0.refused().too_old), (7, 2));
    // What she sends now is made after that.
    log.frame(&[text("a", "eve", 2, "1"), text("a", "eve", 2, "1"), eve(1)]);
    assert_eq!((log.view("a").unwrap().0, log.0.refused().doubles), (8, 1));
    let why =
        "it was made after entry 1 of the log, and the room knows its senders from entry 3 on";
    let mut late = log;
    late.frame(&[made_after(1, text("a", "carl", 1, "1"))]);
    let news = late.0.take_news(late.0.frame).unwrap();
    assert!(format!("{news:?}").contains(why), "{news:?}");
}

#[test]
fn a_player_who_is_kicked_has_no_effect_and_no_view_until_the_room_is_another_one() {
    let mut log = Log::new();
    log.frame(&[open("a", "pot", "5"), presence("a", "alice", true)]);
    log.frame(&[
        kick("a", "alice"),
        kick("a", "alice"),
        text("a", "alice", 1, "10"),
        presence("a", "alice", true),
        text("a", "bob", 1, "1"),
    ]);
    let expected = [("alice", Presence::Joined), ("alice", Presence::Kicked)];
    assert_eq!(
        log.heard(),
        expected.map(|(name, it)| (name.to_owned(), it))
    );
    assert_eq!((log.view("a").unwrap().0, log.0.refused().kicked), (6, 1));
    let save = log.0.save().unwrap();
    log.0.load(Some(&save)).unwrap();
    assert_eq!(log.0.view("a", Some(&player("alice"))), None);
    let bob = log.0.view("a", Some(&player("bob"))).unwrap().view;
    assert_eq!(bob, b"[6,3]");
    log.frame(&[
        close("a"),
        open("a", "pot", "1"),
        text("a", "alice", 2, "1"),
    ]);
    assert_eq!(log.view("a").unwrap().0, 2);
}

#[test]
fn a_room_that_is_closed_is_over_and_its_name_is_free_also_if_it_was_broken_or_out() {
    let mut log = Log::new();
    log.frame(&[
        close("b"), // there is none
        open("a", "pot", "5"),
        presence("a", "alice", true),
    ]);
    log.frame(&[text("a", "alice", 1, "5000")]);
    assert_eq!(log.0.absence("a").unwrap().1, Absence::Broken);
    log.frame(&[close("a"), open("a", "pot", "7")]);
    assert_eq!(log.view("a"), Some((7, 0)));
    log.frame(&[close("a")]);
    let [over] = &log.0.take_over()[..] else {
        panic!("one is over");
    };
    // The view of all. Alice did not watch this one.
    assert_eq!(
        (over.views.len(), log.0.absence("a").unwrap().1),
        (1, Absence::Over)
    );
    // One that ends its process in frame 6, and the next one of that name.
    log.0.take_out(out(&[("a", 6)]));
    log.frame(&[open("a", "pot", "1")]);
    log.frame(&[]);
    assert_eq!(log.view("a"), None);
    log.frame(&[close("a"), open("a", "pot", "2")]);
    assert_eq!(log.view("a"), Some((2, 0)));
    let save = log.0.save().unwrap();
    log.0.load(Some(&save)).unwrap();
    log.frame(&[]);
    assert_eq!(log.view("a").unwrap().0, 2);
    // It ends its process as well.
    log.0.take_out([("a".into(), [6, 9].into())].into());
    log.frame(&[]);
    assert_eq!((log.view("a"), log.0.out()), (None, 2));
}

#[test]
fn an_entry_for_a_room_of_another_shard_has_no_effect() {
    let mut log = Log::new();
    log.0.place = Place {
        shard: shard_of("a", 8),
        shards: 8,
    };
    let other = (0..100).map(|number| format!("room-{number}"));
    let other = other.filter(|room| shard_of(room, 8) != shard_of("a", 8));
    let other = &other.collect::<Vec<_>>()[0];
    log.frame(&[
        open("a", "pot", "5"),
        open(other, "pot", "5"),
        text(other, "alice", 1, "1"),
    ]);
    assert_eq!(log.0.status().len(), 1);
    let refused = Refused {
        not_opened: 1,
        wrong_shard: 1,
        ..Refused::default()
    };
    assert_eq!(log.0.refused(), refused);
}

#[test]
fn the_key_of_an_effect_has_a_number_of_the_log() {
    let opened_by = |tick: &[u8]| {
        let mut log = Log::new();
        log.frame(&[open("a", "pot", "5"), (Topic::Tick, tick.to_vec())]);
        log.0.rooms["a"].log
    };
    assert_ne!(opened_by(b"of node-1.8f"), opened_by(b"of node-1.90"));
    let key = EffectKey {
        room: "a".into(),
        opened: 17,
        number: 0,
        log: 0x8f,
    };
    assert_eq!(key.to_string(), "a-17-0-8f");
}
