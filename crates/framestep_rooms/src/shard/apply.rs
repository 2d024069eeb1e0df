//! What the entries of a frame do.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use super::slot::{Sender, Slot, State, text_of};
use super::{CLOSED, Ended, HERE, Limits, OUT, Place, Shard};
use crate::body::{Answer, OpenText, Ordered, open_envelope};
use crate::doubles::{Doubles, Used};
use crate::entry::{Entry, Player, Topic};
use crate::event::ServerEvent;
use crate::member::shard_of;
use crate::news::{Absence, Reason, shown};
use crate::room::Presence;

impl Shard {
    pub(super) fn apply(&mut self, entry: &Entry) {
        let Some(topic) = &entry.topic else {
            return;
        };
        let Some(room) = topic.room() else {
            return;
        };
        if let Err(why) = self.check_shard(room) {
            self.refuse_elsewhere(topic, &why);
            return;
        }
        let is_out = self.is_out(room, self.frame);
        match topic {
            _ if entry.asks_for_place() => {}
            Topic::Open(room) => self.open(room, entry.seq, &entry.body),
            Topic::Close(room) if self.is_meant(room, &entry.body) => self.close(room, entry.seq),
            // It is shown, and not run.
            _ if is_out => {}
            Topic::Input(room, player) => {
                if let Err((reason, why)) = self.input(room, player, entry.seq, &entry.body) {
                    self.refuse(reason, room, Some(player), &why);
                }
            }
            Topic::Answer(room) => self.answer(room, &entry.body),
            Topic::Presence(room, player) => self.come_or_go(room, player, &entry.body),
            Topic::Kick(room, player) if self.is_meant(room, &entry.body) => {
                self.kick(room, player);
            }
            Topic::Tick | Topic::Close(_) | Topic::Kick(..) => {}
        }
    }

    /// Anybody who may write to a room may name any shard.
    fn check_shard(&self, room: &str) -> Result<(), String> {
        let Place { shard, shards } = self.place;
        if shards == 0 || shard_of(room, shards) == shard {
            return Ok(());
        }
        Err(format!(
            "it is in shard {}, and was sent to shard {shard}",
            shard_of(room, shards)
        ))
    }

    fn refuse_elsewhere(&mut self, topic: &Topic, why: &str) {
        match topic {
            Topic::Input(room, player) => self.refuse(Reason::WrongShard, room, Some(player), why),
            Topic::Open(room) => self.refuse(Reason::NotOpened, room, None, why),
            _ => {}
        }
    }

    fn answer(&mut self, room: &Arc<str>, body: &[u8]) {
        let answer = postcard::from_bytes::<Answer>(body);
        // A room that is broken already has asked nothing that counts.
        if let (Ok(answer), Some(slot)) = (answer, self.rooms.get_mut(room))
            && slot.is_live()
            && answer.opened == slot.opened
        {
            slot.hash = None;
            let taken = slot
                .state
                .with(|live| live.answer(answer.number, &answer.content));
            if let (None, State::Broken(why)) = (taken, &slot.state) {
                let event = broken("an answer to it has panicked", why);
                self.news.of(self.frame).add(room, event);
            }
        }
    }

    /// A player watches, or does not any more: a node has seen that.
    fn come_or_go(&mut self, room: &Arc<str>, player: &Player, body: &[u8]) {
        let (is_here, rate) = (body == HERE, self.limits.rate);
        let Some(slot) = self.rooms.get_mut(room) else {
            return;
        };
        let is_known = slot.senders.contains_key(player);
        if !slot.is_live() || slot.kicked.contains(player) || !is_here && !is_known {
            return;
        }
        let sender = slot.senders.entry(player.clone());
        let sender = sender.or_insert_with(|| Sender::new(self.frame, rate));
        sender.heard(self.frame, rate, self.ticks_per_second);
        if let Some(presence) = sender.come_or_go(is_here) {
            self.tell_presence(room, player, presence);
        }
    }

    fn kick(&mut self, room: &Arc<str>, player: &Player) {
        let Some(slot) = self.rooms.get_mut(room) else {
            return;
        };
        if slot.kicked.insert(player.clone()) {
            slot.senders.remove(player);
            let event = ServerEvent::PlayerKicked {
                player: player.clone(),
            };
            self.news.of(self.frame).add(room, event);
            self.tell_presence(room, player, Presence::Kicked);
        }
    }

    fn tell_presence(&mut self, room: &Arc<str>, player: &Player, presence: Presence) {
        let Some(slot) = self.rooms.get_mut(room).filter(|slot| slot.is_live()) else {
            return;
        };
        slot.hash = None;
        slot.state
            .with(|live| live.presence(player.clone(), presence));
        if let State::Broken(why) = &slot.state {
            let event = broken(&format!("`presence` of {player} has panicked"), why);
            self.news.of(self.frame).add(room, event);
        }
    }

    /// Whether an order of the operator is for the room that has the name now: a copy of an earlier one may come
    /// at any time.
    fn is_meant(&self, room: &Arc<str>, body: &[u8]) -> bool {
        let ordered = Ordered::of_bytes(body);
        let slot = self.rooms.get(room);
        ordered.is_some_and(|it| slot.is_some_and(|slot| slot.opened <= it.after))
    }

    /// Closes a room, whatever its state is. Its name is free.
    fn close(&mut self, name: &Arc<str>, entry: u64) {
        self.end(name, entry);
        self.news.of(self.frame).add(name, ServerEvent::RoomClosed);
        self.closed.insert(name.clone(), self.frame);
        if self.closed.len() > CLOSED {
            let oldest = self.closed.iter().min_by_key(|(_, frame)| **frame);
            let oldest = oldest.map(|(name, _)| name.clone());
            oldest.and_then(|name| self.closed.remove(&name));
        }
    }

    /// Ends a room in an entry, and keeps its last views for those who watch.
    pub(super) fn end(&mut self, name: &Arc<str>, entry: u64) {
        let has_own_views = self.has_own_views(name);
        let Some(mut slot) = self.rooms.remove(name) else {
            return;
        };
        let mut watchers = vec![None];
        if has_own_views {
            let here = slot.senders.iter().filter(|(_, sender)| sender.is_here());
            watchers.extend(here.map(|(player, _)| Some(player.clone())));
        }
        let mut views = Vec::new();
        for player in watchers {
            let view = slot.view(&mut self.news, self.frame, name, player.as_ref());
            views.extend(view.map(|view| (player, view)));
        }
        self.over.push(Ended {
            room: name.clone(),
            views,
        });
        self.endings.add(name, entry, self.frame);
        self.absent.add(name, Absence::Over);
        slot.state.break_it("".into());
    }

    /// Counts what has no effect.
    fn refuse(&mut self, reason: Reason, room: &Arc<str>, player: Option<&Player>, why: &str) {
        *match reason {
            Reason::NoRoom | Reason::Broken => &mut self.refused.no_room,
            Reason::Unreadable => &mut self.refused.unreadable,
            Reason::TooLong => &mut self.refused.too_long,
            Reason::TooMany => &mut self.refused.too_many,
            Reason::TooOld => &mut self.refused.too_old,
            Reason::NotOpened => &mut self.refused.not_opened,
            Reason::Kicked => &mut self.refused.kicked,
            Reason::WrongShard => &mut self.refused.wrong_shard,
        } += 1;
        let news = self.news.of(self.frame);
        news.refused.add(reason, room, player, why);
        if reason == Reason::NotOpened {
            self.absent.add(room, Absence::Refused(shown(why)));
        }
    }

    fn open(&mut self, name: &Arc<str>, opened: u64, body: &[u8]) {
        // It may be opened by several players at once.
        if self.rooms.contains_key(name) {
            return;
        }
        let open = match self.read_open(body) {
            Ok(open) => open,
            Err(why) => return self.refuse(Reason::NotOpened, name, None, &why),
        };
        let ended = self.endings.last(name);
        if open.after < ended || open.after >= opened {
            let why = late_open(open.after, ended, opened);
            let known = self.absent.why.get(name).cloned();
            self.refuse(Reason::NotOpened, name, None, &why);
            // Who waits for the earlier room hears how that has ended.
            if let Some(known) = known {
                self.absent.add(name, known);
            }
            return;
        }
        match self.opened(name, &open) {
            Ok((kind, state)) => {
                let log = self.log;
                let slot = Slot {
                    log,
                    ..Slot::new(kind, opened, state)
                };
                self.rooms.insert(name.clone(), slot);
            }
            Err(why) => {
                // Nor has a copy of it an effect, when there is a place.
                self.endings.add(name, opened, self.frame);
                self.refuse(Reason::NotOpened, name, None, &why);
            }
        }
    }

    fn read_open<'a>(&self, body: &'a [u8]) -> Result<OpenText<'a>, String> {
        let size = self.limits.size;
        if body.len() > size {
            return Err(too_long(body, size));
        }
        serde_json::from_slice(body).map_err(|error| {
            format!("it is not opened with a kind, an entry and arguments: {error}")
        })
    }

    /// A room that is opened: its kind and its state.
    fn opened(
        &mut self,
        name: &Arc<str>,
        open: &OpenText<'_>,
    ) -> Result<(Arc<str>, State), String> {
        let rooms = self.limits.rooms;
        let kind = self.kind(open.kind).ok_or_else(|| {
            format!(
                "the server has no kind of room `{}` (`Server::room`)",
                open.kind
            )
        })?;
        if self.rooms.len() >= rooms {
            return Err(format!(
                "its shard has {rooms} rooms already (`Server::max_rooms`)"
            ));
        }
        let args = open.args.get().as_bytes();
        let state = if self.is_out(name, self.frame) {
            State::Broken(OUT.into())
        } else {
            match catch_unwind(AssertUnwindSafe(|| (kind.open)(args))) {
                Ok(live) => State::Live(live?),
                Err(panic) => {
                    let why = text_of(&*panic);
                    let event = broken("`open` has panicked", &why);
                    self.news.of(self.frame).add(name, event);
                    State::Broken(why)
                }
            }
        };
        Ok((kind.name.into(), state))
    }

    /// Applies an input. An error says why it has no effect; an input that was in the log before has
    /// none either, and is counted.
    fn input(
        &mut self,
        room: &Arc<str>,
        player: &Player,
        seq: u64,
        body: &[u8],
    ) -> Result<(), (Reason, String)> {
        let Limits { size, rate, .. } = self.limits;
        let Some(slot) = self.rooms.get_mut(room) else {
            let why = "the room is over, or was not opened".to_owned();
            return Err((Reason::NoRoom, why));
        };
        if let State::Broken(_) = slot.state {
            return Err((Reason::Broken, "the room is broken".to_owned()));
        }
        if slot.kicked.contains(player) {
            let why = "the operator has removed the player from the room".to_owned();
            return Err((Reason::Kicked, why));
        }
        if body.len() > size {
            return Err((Reason::TooLong, too_long(body, size)));
        }
        let unreadable = |error| (Reason::Unreadable, format!("it cannot be read: {error}"));
        let (envelope, input) = open_envelope(body).map_err(unreadable)?;
        let sender = slot.senders.entry(player.clone());
        let sender = sender.or_insert_with(|| Sender::new(self.frame, rate));
        if !sender.may_send(self.frame, rate, self.ticks_per_second) {
            let why = format!(
                "more than {rate} in a second, for ten seconds (`Server::inputs_per_second`)"
            );
            return Err((Reason::TooMany, why));
        }
        match sender.take(&envelope, seq, slot.since) {
            Used::First => self.applied += 1,
            Used::Double => {
                self.refused.doubles += 1;
                return Ok(());
            }
            Used::Unknown => return Err((Reason::TooOld, too_old(envelope.number))),
            Used::Late(since) => return Err((Reason::TooOld, late(envelope.after, since))),
            Used::Ahead => return Err((Reason::TooOld, ahead(envelope.after, seq))),
        }
        slot.hash = None;
        let taken = slot.state.with(|live| live.input(player.clone(), &input));
        if let State::Broken(why) = &slot.state {
            let event = broken(&format!("an input of {player} has panicked"), why);
            self.news.of(self.frame).add(room, event);
        }
        taken.unwrap_or(Ok(())).map_err(unreadable)
    }
}

pub(super) fn broken(by: &str, why: &str) -> ServerEvent {
    ServerEvent::RoomBroken {
        by: by.to_owned(),
        why: shown(why),
    }
}

fn too_old(number: u64) -> String {
    let window = Doubles::WINDOW;
    format!(
        "its number {number} is {window} or more behind the newest one of its session, so it may have been \
         applied already. A session counts its inputs up from 1; one that counts anew needs another number"
    )
}

fn late(after: u64, since: u64) -> String {
    format!(
        "it was made after entry {after} of the log, and the room knows its senders from entry {since} on: it may \
         have been applied already, or is for the room that had this name before. Name the entry of the last \
         answer or view"
    )
}

fn late_open(after: u64, ended: u64, seq: u64) -> String {
    if after >= seq {
        return ahead(after, seq);
    }
    format!(
        "it was made after entry {after} of the log, and a room of this name may have ended in entry {ended}: it may \
         have opened that one. Name an entry that was asked for right before"
    )
}

fn ahead(after: u64, seq: u64) -> String {
    format!(
        "it names entry {after} of the log, and is entry {seq} itself: the log has lost what its sender knew"
    )
}

fn too_long(body: &[u8], size: usize) -> String {
    let length = body.len();
    format!("{length} bytes are more than {size} (`Server::max_input`)")
}
