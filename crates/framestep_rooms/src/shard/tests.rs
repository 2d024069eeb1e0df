use framestep_durable::prelude::*;

mod endings;
mod people;

use super::*;
use crate::Topic;
use crate::body::close_envelope;
use crate::entry::Entry;
use crate::role::Fold as _;
use crate::room::{Presence, Room};

#[derive(Serialize, Deserialize)]
struct Pot {
    sum: u64,
    steps: u64,
    /// Who came and went.
    heard: Vec<(Player, Presence)>,
}

#[durable]
async fn stir() -> Chapter {
    wait_frames(2).await;
    with(|pot: &mut Pot| pot.steps += 1);
    Chapter::Next(stir())
}

impl Room for Pot {
    const NAME: &'static str = "pot";
    type Args = u64;
    type Input = u64;
    type View = (u64, u64);

    fn registry() -> Registry {
        Registry::new().script(stir)
    }

    fn open(runtime: &Runtime, sum: u64) -> Self {
        runtime.spawn(stir()).detach();
        assert!(sum < 1_000, "the pot is too small");
        Pot {
            sum,
            steps: 0,
            heard: Vec::new(),
        }
    }

    fn input(&mut self, _: &Runtime, _: Player, by: u64) {
        assert!(by < 1_000, "the pot is too small");
        self.sum += by;
    }

    fn view(&self) -> (u64, u64) {
        (self.sum, self.steps)
    }

    const VIEW_PER_PLAYER: bool = true;

    fn view_for(&self, player: &Player) -> (u64, u64) {
        (self.sum, player.name().len() as u64)
    }

    fn presence(&mut self, _: &Runtime, player: Player, presence: Presence) {
        assert!(player.name() != "ghost", "a ghost");
        self.heard.push((player, presence));
    }

    fn is_over(&self) -> bool {
        self.sum == 999
    }
}

/// Stands for the entry before.
const LAST: u64 = u64::MAX;

/// A shard, and the number of the next entry.
struct Log(Shard, u64);

impl Log {
    fn new() -> Self {
        let limits = Limits {
            rooms: 3,
            size: 100,
            rate: 10,
        };
        let place = Place {
            shard: 0,
            shards: 0,
        };
        Log(Shard::new([Kind::of::<Pot>()].into(), place, 10, limits), 1)
    }

    /// A frame with these entries.
    fn frame(&mut self, entries: &[(Topic, Vec<u8>)]) {
        let mut numbered = Vec::new();
        for (topic, body) in entries {
            // An input is made after the entry before it, unless it says another one.
            let last = self.1 - 1;
            let text = String::from_utf8_lossy(body).replace("LAST", &last.to_string());
            let body = match (body.first(), body.get(17..25)) {
                (Some(2), Some(after)) if after == LAST.to_le_bytes() => {
                    [&body[..17], &last.to_le_bytes(), &body[25..]].concat()
                }
                (Some(b'{'), _) => text.into_bytes(),
                _ => body.clone(),
            };
            numbered.push(Entry {
                seq: self.1,
                topic: Some(topic.clone()),
                body: body[..].into(),
            });
            self.1 += 1;
        }
        let frame = self.0.frame + 1;
        self.0.frame(frame, &numbered);
    }

    /// The view of a room.
    fn view(&mut self, room: &str) -> Option<(u64, u64)> {
        self.0
            .view(room, None)
            .map(|shown| serde_json::from_slice(&shown.view).unwrap())
    }
}

fn out(rooms: &[(&str, u64)]) -> Out {
    let from = |(room, frame): &(&str, u64)| ((*room).into(), [*frame].into());
    rooms.iter().map(from).collect()
}

fn open(room: &str, kind: &str, args: &str) -> (Topic, Vec<u8>) {
    open_after(room, kind, args, "LAST")
}

/// An opening that was made after this entry.
fn open_after(room: &str, kind: &str, args: &str, after: impl fmt::Display) -> (Topic, Vec<u8>) {
    let body = format!(r#"{{"kind":"{kind}","a":{after},"args":{args}}}"#);
    (Topic::Open(room.into()), body.into_bytes())
}

fn text(room: &str, player: &str, number: u64, input: &str) -> (Topic, Vec<u8>) {
    let body = format!(r#"{{"s":1,"n":{number},"a":LAST,"i":{input}}}"#).into_bytes();
    (
        Topic::Input(room.into(), Player::new(player).unwrap()),
        body,
    )
}

fn binary(room: &str, player: &str, number: u64, input: u64) -> (Topic, Vec<u8>) {
    let input = crate::Format::Postcard.write(&input).unwrap();
    let body = close_envelope(1, number, LAST, &input);
    (
        Topic::Input(room.into(), Player::new(player).unwrap()),
        body,
    )
}

#[test]
fn inputs_of_a_frame_are_applied_in_order_before_it_in_both_formats_and_once() {
    let mut log = Log::new();
    log.frame(&[open("a", "pot", "5"), text("a", "alice", 1, "10")]);
    assert_eq!(log.view("a"), Some((15, 0)));
    log.frame(&[
        binary("a", "alice", 2, 20),
        text("a", "alice", 1, "10"),
        text("a", "bob", 1, "1"),
    ]);
    assert_eq!(log.view("a"), Some((36, 0)));
    log.frame(&[]);
    assert_eq!(log.view("a"), Some((36, 1)));
    assert_eq!(
        log.0.refused(),
        Refused {
            doubles: 1,
            ..Refused::default()
        }
    );
    assert_eq!(log.0.status()[0].players, 2);
}

#[test]
fn what_cannot_be_used_is_counted_and_changes_nothing() {
    let mut log = Log::new();
    log.frame(&[
        open("a", "pot", "5"),
        open("a", "pot", "6"), // it is open
        open("b", "kettle", "5"),
        open("b", "pot", "\"text\""),
        (Topic::Open("b".into()), b"{".to_vec()),
        text("b", "alice", 1, "10"),
        text("a", "alice", 1, "\"text\""),
        (
            Topic::Input("a".into(), Player::new("alice").unwrap()),
            b"{\"s\":1}".to_vec(),
        ),
        // It asks for a place in the log, and has no effect.
        (
            Topic::Input("a".into(), Player::new("alice").unwrap()),
            Vec::new(),
        ),
        // It names no entry.
        (
            Topic::Input("a".into(), Player::new("alice").unwrap()),
            b"{\"s\":1,\"n\":1,\"i\":1}".to_vec(),
        ),
        (
            Topic::Input("a".into(), Player::new("alice").unwrap()),
            vec![2; 200],
        ),
        (Topic::Answer("a".into()), vec![255; 9]),
    ]);
    assert_eq!(log.view("a"), Some((5, 0)));
    let refused = Refused {
        no_room: 1,
        unreadable: 3,
        too_long: 1,
        not_opened: 3,
        ..Refused::default()
    };
    assert_eq!(log.0.refused(), refused);
    log.frame(&[
        open("b", "pot", "1"),
        open("c", "pot", "1"),
        open("d", "pot", "1"),
    ]);
    assert_eq!(log.0.status().len(), 3);
    assert_eq!(log.0.refused().not_opened, 4);
}

#[test]
fn a_player_may_send_ten_seconds_of_inputs_at_once_and_then_its_share_of_each_frame() {
    let mut log = Log::new();
    let mut number = 0;
    // Ten a second, at ten frames a second.
    let mut send = |count: usize| -> Vec<_> {
        let input = |_| {
            number += 1;
            text("a", "alice", number, "1")
        };
        (0..count).map(input).collect()
    };
    let mut first = vec![open("a", "pot", "0")];
    first.extend(send(104));
    log.frame(&first);
    assert_eq!(
        (log.view("a").unwrap().0, log.0.refused().too_many),
        (100, 4)
    );
    log.frame(&send(3));
    assert_eq!(
        (log.view("a").unwrap().0, log.0.refused().too_many),
        (101, 6)
    );
    for _ in 0..120 {
        log.frame(&[]);
    }
    log.frame(&send(102));
    assert_eq!(
        (log.view("a").unwrap().0, log.0.refused().too_many),
        (201, 8)
    );
}

#[test]
fn a_panic_breaks_its_room_and_a_room_that_is_over_is_closed() {
    let mut log = Log::new();
    log.frame(&[
        open("a", "pot", "1"),
        open("b", "pot", "2"),
        open("c", "pot", "3000"),
    ]);
    log.frame(&[text("a", "alice", 1, "5000"), text("b", "alice", 1, "5")]);
    log.frame(&[text("a", "alice", 2, "1")]);
    let broken: Vec<_> = log
        .0
        .status()
        .iter()
        .map(|room| room.broken.clone())
        .collect();
    let why = Some("the pot is too small".to_owned());
    assert_eq!(broken, [why.clone(), None, why]);
    assert_eq!((log.view("a"), log.view("b")), (None, Some((7, 1))));
    log.frame(&[text("b", "alice", 2, "992")]);
    assert_eq!(log.view("b"), None);
    // The name is free, and the numbers of players begin again.
    log.frame(&[open("b", "pot", "1"), text("b", "alice", 1, "1")]);
    assert_eq!(log.view("b"), Some((2, 0)));
}

#[test]
fn a_shard_that_was_loaded_goes_on_with_the_same_hashes() {
    let mut log = Log::new();
    log.frame(&[
        open("a", "pot", "1"),
        open("b", "pot", "2"),
        open("c", "pot", "3000"),
    ]);
    for frame in 0..20_u64 {
        log.frame(&[
            text("a", "alice", frame + 1, "1"),
            text("b", "bob", frame + 1, "1"),
        ]);
        let save = log.0.save().unwrap();
        let mut other = Log::new();
        other.0.load(Some(&save)).unwrap();
        other.1 = log.1;
        assert_eq!(other.0.hash(), log.0.hash());
        let next = [text("a", "alice", frame + 1, "1"), text("b", "eve", 1, "7")];
        other.frame(&next);
        // From the same state, and not from the one before: `log` goes its own way.
        let mut twin = Log::new();
        twin.0.load(Some(&save)).unwrap();
        twin.1 = log.1;
        twin.frame(&next);
        assert_eq!(other.0.hash(), twin.0.hash());
        assert_ne!(other.0.hash(), log.0.hash());
    }
    let save = log.0.save().unwrap();
    for length in 0..save.len() {
        let _ = Log::new().0.load(Some(&save[..length]));
    }
}

#[test]
fn a_room_that_differs_is_in_the_hash_of_one_of_the_next_four_frames() {
    for other in ["a", "b", "c"] {
        for number in 0..9_u64 {
            let mut logs = [Log::new(), Log::new()];
            for log in &mut logs {
                log.frame(&["a", "b", "c"].map(|room| open(room, "pot", "0")));
                (0..number).for_each(|_| log.frame(&[]));
            }
            let [one, two] = &mut logs;
            one.frame(&[text(other, "alice", 1, "1")]);
            two.frame(&[text(other, "alice", 1, "2")]);
            let mut seen = 0;
            for _ in 0..4 {
                seen += u32::from(one.0.hash() != two.0.hash());
                one.frame(&[]);
                two.frame(&[]);
            }
            assert_eq!(seen, 1, "{other}, frame {number}");
        }
    }
}

#[test]
fn a_room_that_is_taken_out_is_not_run_from_that_frame_on() {
    let mut log = Log::new();
    log.0.take_out(out(&[("a", 3)]));
    let named = std::rc::Rc::new(std::cell::RefCell::new(Vec::new()));
    let list = named.clone();
    log.0
        .call_before(move |frame, room| list.borrow_mut().push((frame, room.to_owned())));
    log.frame(&[open("a", "pot", "1"), open("b", "pot", "2")]);
    named.borrow_mut().clear();
    for _ in 0..2 {
        log.frame(&[]);
    }
    log.frame(&[text("b", "alice", 1, "1")]);
    let expected = [(2, "a"), (2, "b"), (3, "b"), (4, "b"), (4, "b")];
    let named: Vec<_> = named.borrow().clone();
    assert_eq!(
        named,
        expected.map(|(frame, room)| (frame, room.to_owned()))
    );
    assert_eq!((log.view("a"), log.view("b")), (None, Some((3, 1))));
    // One that ends the process when it is opened is shown, and not opened. One that ends it when it
    // is restored is not restored.
    log.0.take_out(out(&[("a", 3), ("b", 5), ("c", 5)]));
    log.frame(&[open("c", "pot", "1")]);
    let broken = |log: &Log| {
        let status = log.0.status().into_iter();
        let broken = status.filter(|room| room.broken.as_deref() == Some(OUT));
        broken.map(|room| room.name).collect::<Vec<_>>()
    };
    assert_eq!(broken(&log), ["a", "b", "c"]);
    let mut before = Log::new();
    before.frame(&[open("b", "pot", "2")]);
    let save = before.0.save().unwrap();
    let mut log = Log::new();
    log.0.take_out(out(&[("b", 1)]));
    log.0.load(Some(&save)).unwrap();
    assert_eq!(broken(&log), ["b"]);
}

/// An input that was made after this entry.
fn made_after(after: u64, (topic, body): (Topic, Vec<u8>)) -> (Topic, Vec<u8>) {
    let body = String::from_utf8(body).unwrap();
    (topic, body.replace("LAST", &after.to_string()).into_bytes())
}

#[test]
fn an_answer_to_a_room_that_is_broken_already_is_not_told() {
    let mut log = Log::new();
    log.frame(&[open("a", "pot", "3000")]);
    let (opened, frame) = (1, 1);
    assert_eq!(log.0.take_news(frame).unwrap().events.len(), 1);
    let answer = crate::body::Answer {
        opened,
        number: 0,
        content: Vec::new(),
    };
    log.frame(&[(
        Topic::Answer("a".into()),
        postcard::to_stdvec(&answer).unwrap(),
    )]);
    assert_eq!(log.0.take_news(frame + 1), None);
}

#[test]
fn an_input_that_was_made_for_the_room_before_does_not_count_in_the_next_one_of_that_name() {
    let mut log = Log::new();
    log.frame(&[open("a", "pot", "5")]); // entry 1
    let surrender = made_after(1, text("a", "alice", 1, "994"));
    log.frame(std::slice::from_ref(&surrender));
    assert_eq!(log.view("a"), None);
    log.frame(&[open("a", "pot", "5"), surrender]); // entry 3
    assert_eq!((log.view("a"), log.0.refused().too_old), (Some((5, 0)), 1));
    log.frame(&[made_after(3, text("a", "alice", 2, "1"))]);
    assert_eq!(log.view("a").unwrap().0, 6);
}
