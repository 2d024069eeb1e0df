//! What players, machines, networks and operators do in a history.

use framestep_durable::StableHash;

use super::node::ToNode;
use super::{END, Happens, NODES, PLAYERS_END, RECENT, World, oracle};
use crate::role::mutant::Mutant;

impl World {
    pub(super) fn player(&mut self, player: u64) {
        let open: Vec<u64> = {
            let sent = self.sent.entry(player).or_default();
            sent.open.iter().copied().collect()
        };
        for &serial in &open {
            self.send(None, Happens::Input { player, serial });
        }
        if self.now < PLAYERS_END {
            if self.sent[&player].all.is_empty() || self.random.is(60) {
                // Another device, or a new connection. Some take their clocks for the number.
                self.counts.sessions += 1;
                let clock = self.now + self.random.below(2) * 3_600_000_000;
                let session = (clock << 8) + self.random.below(256);
                self.sent.entry(player).or_default().session = (session, 0);
            }
            if open.len() < 8 && self.random.is(700) {
                let sent = self.sent.entry(player).or_default();
                if self.now > sent.place.1 + RECENT {
                    // It asks for a place.
                    sent.place = (self.log.all.len() as u64, self.now);
                }
                sent.session.1 += 1;
                let (session, number) = sent.session;
                sent.all.push((session, number, sent.place.0));
                let serial = sent.all.len() as u64;
                sent.open.insert(serial);
                self.send(None, Happens::Input { player, serial });
            }
            if self.random.is(50) {
                // Once more, long after it was acknowledged.
                let last = self.sent[&player].all.len() as u64;
                let back = self.random.below(20);
                if last > back {
                    let serial = last - back;
                    self.send(None, Happens::Input { player, serial });
                }
            }
        }
        let at = self.now + 4_000 + self.random.below(12_000);
        self.at(at, Happens::Player(player));
    }

    /// The operator closes the room. A copy of that comes when another one may have its name.
    pub(super) fn close_room(&mut self) {
        if self.now >= PLAYERS_END {
            return;
        }
        let after = self.log.all.len() as u64;
        let id = format!("close-{}", self.now);
        let close = Happens::Close {
            after,
            id: id.into(),
        };
        self.send(None, close.clone());
        if self.random.is(300) {
            let late = self.now + self.random.below(300_000);
            self.at(late, close);
        }
        let next = self.now + 20_000 + self.random.below(150_000);
        self.at(next, Happens::Closes);
    }

    pub(super) fn trouble(&mut self) {
        if self.is_quiet() {
            self.begin_quiet();
            return;
        }
        let node = usize::try_from(self.random.below(NODES as u64)).unwrap_or(0);
        let kind = self.random.below(14);
        if self.kinds >> kind & 1 == 0 {
            let next = self.now + self.random.below(20_000);
            self.at(next, Happens::Trouble);
            return;
        }
        match kind {
            0 | 1 if self.nodes[node].is_alive => {
                self.counts.kills += 1;
                let build = self.nodes[node].build;
                let after = self.random.below(120_000);
                self.restart(node, build, after);
            }
            2 => {
                // All at once.
                for node in 0..NODES {
                    self.counts.kills += 1;
                    let build = self.nodes[node].build;
                    let after = self.random.below(60_000);
                    self.restart(node, build, after);
                }
            }
            3 | 4 => {
                self.counts.pauses += 1;
                self.nodes[node].paused_until = self.now + self.random.below(120_000);
            }
            5 | 6 => {
                self.counts.partitions += 1;
                self.nodes[node].cut_off_until = self.now + self.random.below(120_000);
                self.interrupt(node);
            }
            7 if self.nodes[node].is_alive => {
                self.counts.drains += 1;
                self.nodes[node].leaves = true;
                let after = self.random.below(80_000);
                self.tell(0, node, ToNode::SendHeartbeat);
                self.tell(after, node, ToNode::Stop);
            }
            8 => {
                self.counts.upgrades += 1;
                if self.random.is(700) {
                    self.newest_build += 1;
                }
                // Sometimes back to an older one, which the operator prefers.
                let back = u64::from(self.random.is(400));
                let build = self.newest_build.saturating_sub(back).max(1);
                if self.generations.contains_key(&build)
                    && self.generations[&build] + 1 < self.next_generation()
                {
                    self.counts.orders += 1;
                    let next = self.next_generation();
                    self.order(build, next);
                }
                // Sometimes all at once: nobody hands over.
                let is_all = self.random.is(400);
                for other in (0..NODES).filter(|other| is_all || *other == node) {
                    let after = self.random.below(60_000);
                    self.restart(other, build, after);
                }
            }
            9 | 10 => {
                let entries = self.random.below(10);
                let lost = self.log.cut(entries);
                self.counts.cuts += u64::from(!lost.is_empty());
                for entry in &lost {
                    if entry.is_tick() {
                        self.ticked_at.remove(&entry.seq);
                        self.cut
                            .insert((entry.seq, StableHash::digest(&entry.body)));
                    }
                    self.acknowledged.retain(|_, seq| *seq != entry.seq);
                }
                for node in 0..NODES {
                    self.interrupt(node);
                }
            }
            11 => {
                // A node of any build restarts: nobody has told it to run the shard.
                let build = 1 + self.random.below(self.newest_build);
                let after = self.random.below(60_000);
                self.restart(node, build, after);
            }
            12 if self.mutant == Some(Mutant::AnswersReachTheLog) => self.log.trim(u64::MAX),
            12 => {
                self.has_other = true;
                let until = self.now + self.random.below(60_000);
                self.at(until, Happens::OtherEnds);
            }
            _ => self.interrupt(node),
        }
        let next = self.now + self.random.below(40_000);
        self.at(next, Happens::Trouble);
    }

    /// The connection of a node ends. What has arrived is still read.
    fn interrupt(&mut self, node: usize) {
        self.nodes[node].epoch += 1;
    }

    pub(super) fn frames_since_trouble(&self) -> u64 {
        let since = self.log.all.get(self.entries_in_trouble..).unwrap_or(&[]);
        since.iter().filter(|entry| entry.is_tick()).count() as u64
    }

    fn begin_quiet(&mut self) {
        self.entries_in_trouble = self.log.all.len();
        self.has_other = false;
        self.log.end_other();
        // The newest build runs from now on, as after a deployment; sometimes all nodes are started
        // anew.
        let is_new_start = self.random.is(300);
        for node in 0..NODES {
            let it = &mut self.nodes[node];
            it.cut_off_until = 0;
            it.paused_until = it.paused_until.min(self.now);
            let leaves = it.leaves;
            // Builds whose frames are not handed over yet stay.
            if is_new_start || leaves {
                let build = it.build;
                self.restart(node, build, 0);
            }
        }
        self.at(self.now, Happens::Operator);
    }

    /// An operator starts a node of the build that the shard waits for.
    pub(super) fn operator(&mut self) {
        if self.now + 500_000 < END {
            self.at(self.now + 50_000, Happens::Operator);
        }
        let (build, is_free) = oracle::last_build(self);
        if build != 0 && !is_free && !self.nodes.iter().any(|it| it.build == build) {
            self.restart(0, build, 0);
        }
    }
}
