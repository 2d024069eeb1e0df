//! What happens in a history: to nodes, to the log, to messages on their way.

use super::log::SimLog;
use super::node::ToNode;
use super::{FAILOVER_TIMEOUT, Happens, Micros, RETRY, World};
use crate::body::{Ordered, close_envelope};
use crate::entry::{Build, Generation, Player, Topic};
use crate::log::acknowledged;
use crate::role::Event;
use crate::role::mutant::Mutant;
use crate::saves;

impl World {
    pub(super) fn step(&mut self, happens: Happens) {
        match happens {
            Happens::Node(node, start, what) => {
                let it = &self.nodes[node];
                if !it.is_alive || it.start != start {
                    return;
                }
                if it.paused_until > self.now {
                    let at = it.paused_until;
                    self.at(at, Happens::Node(node, start, what));
                    return;
                }
                self.node_step(node, what);
            }
            Happens::Tick {
                node,
                start,
                attempt,
                id,
                after,
                body,
            } => {
                let event = if self.is_astray() {
                    let Some(seq) = self.log.append_to_other(&id) else {
                        return;
                    };
                    match acknowledged(seq) {
                        Err(_) if self.mutant != Some(Mutant::AnyAnswerCounts) => {
                            Event::Lost { attempt }
                        }
                        _ => Event::Appended { attempt, seq },
                    }
                } else if self.mutant == Some(Mutant::CompareIsNotAtomic)
                    && after.is_some()
                    && self.log.is_last(after)
                {
                    // The leader has compared, and the others append it a little later.
                    let at = self.now + self.delay();
                    let happens = Happens::Tick {
                        node,
                        start,
                        attempt,
                        id,
                        after: None,
                        body,
                    };
                    self.at(at, happens);
                    return;
                } else if let Some(seq) = self.log.tick(&id, after, &body) {
                    self.ticked_at.entry(seq).or_insert(self.now);
                    Event::Appended { attempt, seq }
                } else {
                    self.counts.refused += 1;
                    Event::Refused { attempt }
                };
                self.answer(node, start, event);
            }
            Happens::Answer { .. } | Happens::Close { .. } if self.is_astray() => {}
            Happens::Answer { body, id } => {
                self.log.append(Topic::Answer("room".into()), &id, &body);
            }
            Happens::Input { player, serial } => self.input(player, serial),
            Happens::Close { after, id } => {
                let body = Ordered { after }.to_bytes();
                self.log.append(Topic::Close("room".into()), &id, &body);
            }
            Happens::Closes => self.close_room(),
            Happens::OtherEnds => {
                self.has_other = false;
                self.log.end_other();
            }
            Happens::Player(player) => self.player(player),
            Happens::Store {
                node,
                start,
                at,
                slot,
                revision,
                bytes,
            } => {
                let newest = |log: &SimLog| saves::newest_entry(&log.slots());
                let is_any = self.mutant == Some(Mutant::OldSaveWins);
                let before = newest(&self.log);
                let is_stored = self.log.store(slot, revision, bytes, is_any);
                if self.counts.cuts == 0 && newest(&self.log) < before {
                    let why = format!("a save at {at} has replaced the newest one, at {before}");
                    self.broken.get_or_insert(why);
                }
                let event = if is_stored {
                    self.saved(at)
                } else {
                    Event::SaveFailed { at }
                };
                self.answer(node, start, event);
            }
            Happens::Trim { before } => self.log.trim(before),
            Happens::Start(node) => self.start(node),
            Happens::Trouble => self.trouble(),
            Happens::Operator => self.operator(),
        }
    }

    pub(super) fn saved(&self, at: u64) -> Event {
        let slots = self.log.slots();
        Event::Saved {
            at,
            needed: saves::oldest(&slots),
            newest: saves::newest_entry(&slots),
        }
    }

    pub(super) fn start(&mut self, node: usize) {
        if self.nodes[node].is_alive {
            return;
        }
        // Without the log, a node does not start.
        if self.is_lost(Some(node)) {
            self.at(self.now + RETRY, Happens::Start(node));
            return;
        }
        let build = self.nodes[node].build;
        self.counts.old_starts += u64::from(build < self.newest_build);
        let next = self.next_generation();
        if !self.generations.contains_key(&build) {
            self.order(build, next);
        }
        let generation = if self.mutant == Some(Mutant::LastStartedRuns) {
            // Its clock may be wrong.
            self.now + self.random.below(100_000)
        } else {
            self.generations[&build]
        };
        let it = &mut self.nodes[node];
        it.is_alive = true;
        it.generation = generation;
        self.tell(0, node, ToNode::SendHeartbeat);
        // It learns the members first.
        self.tell(FAILOVER_TIMEOUT, node, ToNode::Time);
    }

    pub(super) fn next_generation(&self) -> Generation {
        self.generations.values().max().copied().unwrap_or(0) + 1
    }

    /// From now on, a build has a generation.
    pub(super) fn order(&mut self, build: Build, generation: Generation) {
        self.generations.insert(build, generation);
        self.orders.push((self.now, build, generation));
    }

    /// Whether a build was later than another one at some time from `since` to `until`.
    pub(super) fn was_told(&self, from: Build, to: Build, since: Micros, until: Micros) -> bool {
        let (mut of_from, mut of_to) = (0, 0);
        let mut was_later = false;
        for &(at, build, generation) in self.orders.iter().filter(|(at, ..)| *at <= until) {
            // What counted before this order.
            was_later |= at > since && of_to > of_from;
            if build == from {
                of_from = generation;
            } else if build == to {
                of_to = generation;
            }
        }
        was_later || of_to > of_from
    }

    /// Whether a message reaches a server of the log that is cut off from the others.
    pub(super) fn is_astray(&mut self) -> bool {
        let is_astray = self.has_other && self.random.is(600);
        self.counts.astray += u64::from(is_astray);
        is_astray
    }

    /// The log receives an input.
    pub(super) fn input(&mut self, player: u64, serial: u64) {
        let name = format!("p{player}");
        let at = usize::try_from(serial).unwrap_or(0) - 1;
        let (session, number, after) = self.sent[&player].all[at];
        let id = format!("{name}-{session}-{number}");
        let answer = if self.is_astray() {
            self.log.append_to_other(&id)
        } else {
            let topic = Topic::Input("room".into(), Player::new(&name).expect("a name"));
            let body = close_envelope(session, number, after, &serial.to_le_bytes());
            Some(self.log.append(topic, &id, &body))
        };
        let is_any = self.mutant == Some(Mutant::AnyAnswerCounts);
        let Some(seq) = answer.filter(|seq| is_any || acknowledged(*seq).is_ok()) else {
            return;
        };
        self.acknowledged.entry((player, serial)).or_insert(seq);
        if !self.is_lost(None) {
            let sent = self.sent.get_mut(&player).expect("it has sent");
            sent.open.remove(&serial);
            sent.place = (seq, self.now);
        }
    }

    pub(super) fn restart(&mut self, node: usize, build: u64, after: Micros) {
        let start = self.nodes[node].start + 1;
        self.nodes[node] = self.node(node, start, build);
        let at = self.now + after;
        self.at(at, Happens::Start(node));
    }
}
