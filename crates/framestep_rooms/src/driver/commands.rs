//! Doing what a role says.

use std::time::Duration;

use tokio::time::{Instant, sleep, timeout};

use super::load::{load, read_saves, store};
use super::{Driver, Read, ToDriver};
use crate::body::Answer;
use crate::entry::Topic;
use crate::event::ServerEvent;
use crate::log::{CALL, LogError, in_time};
use crate::metered;
use crate::role::{Command, Event};
use crate::room::EffectKey;
use crate::saves;
use crate::server::Node;

/// How long a reader waits before it says that there is no more.
const IDLE: Duration = Duration::from_millis(200);

impl Driver {
    /// Runs a task of this driver that answers with an event.
    fn answer<F>(&self, if_late: Event, task: F)
    where
        F: Future<Output = Event> + Send + 'static,
    {
        let to_me = self.to_me.clone();
        self.node.handle.spawn(async move {
            // A panic of a log must not leave the role without an answer.
            let task = tokio::spawn(timeout(CALL, task));
            let event = task.await.ok().and_then(Result::ok).unwrap_or(if_late);
            let _ = to_me.send(ToDriver::Event(event));
        });
    }

    pub(super) fn obey(&mut self, command: Command) {
        let (log, shard) = (self.node.log.clone(), self.number);
        match command {
            Command::Load { before } => {
                self.stop_reading();
                let (node, to_me) = (self.node.clone(), self.to_me.clone());
                self.is_trying = before.is_none();
                self.node.handle.spawn(async move {
                    let task = tokio::spawn(load(node.clone(), shard, before));
                    let answer = match task.await {
                        Ok(Ok((loaded, out))) => ToDriver::Loaded(loaded, out),
                        Ok(Err(why @ LogError::Unreachable(_))) => {
                            node.log_fails(shard, &why);
                            ToDriver::Event(Event::LoadFailed)
                        }
                        Ok(Err(why)) => ToDriver::LoadFailed(why.to_string()),
                        Err(_) => ToDriver::Event(Event::LoadFailed),
                    };
                    let _ = to_me.send(answer);
                });
            }
            Command::Follow { from } => self.follow(from),
            Command::Append {
                attempt,
                after,
                body,
            } => {
                let id = format!("{}-{attempt}", self.node.me);
                let after = after.unwrap_or(0);
                self.appended_at.get_or_insert_with(Instant::now);
                let node = self.node.clone();
                self.answer(Event::Lost { attempt }, async move {
                    match log.tick(shard, after, &id, &body).await {
                        Ok(seq) => {
                            node.log_answers(shard);
                            Event::Appended { attempt, seq }
                        }
                        Err(LogError::Refused) => {
                            node.log_answers(shard);
                            Event::Refused { attempt }
                        }
                        Err(why) => {
                            if let LogError::Full(why) = &why {
                                make_room(&node, shard, why).await;
                            }
                            node.log_fails(shard, &why);
                            Event::Lost { attempt }
                        }
                    }
                });
            }
            Command::Save {
                at,
                state,
                not_of_this_log,
            } => {
                let seq = at.seq;
                let spacing =
                    u64::from(self.node.options.ticks) * self.node.options.spacing.as_secs().max(1);
                let node = self.node.clone();
                self.answer(Event::SaveFailed { at: seq }, async move {
                    let bytes = saves::to_bytes(&at, &state);
                    match store(&*log, shard, &at, &bytes, not_of_this_log, spacing).await {
                        Ok(event) => event,
                        Err(LogError::Refused) => Event::SaveFailed { at: seq },
                        Err(why @ LogError::Unreachable(_)) => {
                            node.log_fails(shard, &why);
                            Event::SaveFailed { at: seq }
                        }
                        Err(why) => {
                            let (frame, why) = (at.frame, why.to_string());
                            node.tell(shard, ServerEvent::NotSaved { frame, why });
                            Event::SaveFailed { at: seq }
                        }
                    }
                });
            }
            Command::Try { at, state, entries } => self.try_frame(&at, state, &entries),
            Command::Trim { before } => {
                if !self.node.options.keeps_log {
                    self.node.handle.spawn(async move {
                        // The next save trims as well.
                        let _ = log.trim(shard, before).await;
                    });
                }
            }
            Command::Frame { at, own } => self.ran(at.frame, own),
            Command::Began => self.performing.clear(),
            Command::Unload => {
                self.stop_reading();
                self.performing.clear();
            }
            Command::Note(event) => self.note(event),
        }
    }

    fn stop_reading(&mut self) {
        self.tail += 1;
        if let Some(reader) = self.reader.take() {
            reader.abort();
        }
    }

    fn follow(&mut self, from: u64) {
        self.stop_reading();
        let (log, shard, tail, to_me) = (
            self.node.log.clone(),
            self.number,
            self.tail,
            self.read.clone(),
        );
        let pause = self.node.options.failover_timeout / 4;
        let node = self.node.clone();
        let task = self.node.handle.spawn(async move {
            let read = |read| ToDriver::Read(tail, read);
            let reading = in_time(log.read(shard, from)).await;
            if let Err(why) = &reading {
                node.log_fails(shard, why);
            }
            if let Ok(mut reader) = reading {
                node.log_answers(shard);
                while let Ok(batch) = in_time(reader.next(IDLE)).await {
                    if to_me.send(read(Read::Batch(batch))).await.is_err() {
                        return;
                    }
                }
            }
            // The role reads anew at once.
            sleep(pause).await;
            let _ = to_me.send(read(Read::Broken)).await;
        });
        self.reader = Some(task.abort_handle());
    }

    /// After a frame.
    fn ran(&mut self, frame: u64, own: bool) {
        self.counted.frame = frame;
        let now = Instant::now();
        if let Some(last) = self.last_frame.replace(now) {
            self.counted.gap = self.counted.gap.max(now - last);
        }
        self.counted.frames += 1;
        if let Some(appended_at) = self.appended_at.take().filter(|_| own) {
            metered::log_lag(self.number, appended_at.elapsed());
        }
        if !own {
            self.performing.clear();
            // The node that has ticked says them.
            self.rooms.take_news(frame);
            return;
        }
        self.show();
        if let Some(news) = self.rooms.take_news(frame) {
            for (room, event) in news.events {
                self.node.tell_of_room(self.number, &room, event);
            }
            self.refused.add(news.refused);
            self.say_refused();
        }
        if self.role.owns() {
            self.look_who_is_here();
            if self.node.has_effects {
                self.perform();
            }
        }
    }

    /// Tells what had no effect, once a second for each reason.
    pub(super) fn say_refused(&mut self) {
        for event in self.refused.due(self.node.now()) {
            self.node.tell(self.number, event);
        }
    }

    /// Performs what scripts ask of the outside.
    fn perform(&mut self) {
        let asked = self.rooms.asked();
        let is_open = |key: &EffectKey| asked.iter().any(|(open, _)| open == key);
        self.performing.retain(is_open);
        for (key, asked) in asked {
            if !self.performing.insert(key.clone()) {
                continue;
            }
            let (node, shard) = (self.node.clone(), self.number);
            self.node.handle.spawn(async move {
                let answer = loop {
                    let Some(effect) = asked.perform(key.clone()) else {
                        return;
                    };
                    match tokio::spawn(effect).await {
                        Ok(answer) => break answer,
                        Err(why) => {
                            let (key, why) = (key.to_string(), why.to_string());
                            node.tell(shard, ServerEvent::EffectPanicked { key, why });
                            sleep(Duration::from_secs(1)).await;
                        }
                    }
                };
                let body = postcard::to_stdvec(&Answer {
                    opened: key.opened,
                    number: key.number,
                    content: answer,
                });
                let Ok(body) = body else {
                    return;
                };
                // The room takes the first answer, so the id needs not be that of other nodes. A player who
                // could guess it would keep the answer out of the log.
                let id = format!("answer-{key}-{:x}", crate::random());
                let topic = Topic::Answer(key.room.clone());
                // Until the log has it, or another node performs it.
                for _ in 0..60 {
                    match node.log.append(shard, &topic, &id, &body).await {
                        Ok(_) => return,
                        Err(LogError::TooLarge { size, limit }) => {
                            let key = key.to_string();
                            node.tell(shard, ServerEvent::AnswerTooLarge { key, size, limit });
                            return;
                        }
                        Err(_) => sleep(Duration::from_millis(500)).await,
                    }
                }
            });
        }
    }
}

/// The log of a shard takes no tick any more, and without ticks there are no saves. What the newest save
/// does not need is trimmed, also if it would stay for a loss of power.
async fn make_room(node: &Node, shard: u32, why: &str) {
    if node.is_to_tell_full(shard) {
        let why = why.to_owned();
        node.tell(shard, ServerEvent::LogIsFull { why });
    }
    if !node.options.keeps_log
        && let Ok(saves) = read_saves(&*node.log, shard).await
        && let Some((at, _)) = saves.first()
    {
        let _ = node.log.trim(shard, at.since.0 + 1).await;
    }
}
