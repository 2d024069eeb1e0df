//! What a node says about itself.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use crate::entry::Build;
use crate::event::ServerEvent;
use crate::member::Members;

/// What a node does for a shard.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    Runs,
    Follows,
}

/// How many shards a node runs, and how many it follows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Parts {
    pub(crate) runs: usize,
    pub(crate) follows: usize,
}

/// A call of the log that has failed, if none was answered since.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Failure {
    pub(crate) since: Duration,
    pub(crate) last: Duration,
    pub(crate) why: String,
}

/// After how long a shard whose calls were neither answered nor have failed does not count as one
/// that has no answer: the node does not need it any more.
const FORGOTTEN: Duration = Duration::from_secs(12);

/// What a node is.
#[derive(Debug)]
pub(crate) struct Own {
    pub(crate) build: Build,
    /// Its code, whatever the settings are.
    pub(crate) code: u64,
    pub(crate) settings: Arc<str>,
}

/// What a node has said about itself. It is asked a few times in each `failover_timeout`.
#[derive(Debug)]
pub(crate) struct Bulletin {
    me: Arc<str>,
    build: Build,
    code: u64,
    settings: Arc<str>,
    /// The settings of others with this code that were told.
    told_settings: BTreeSet<Arc<str>>,
    shards: u32,
    /// How long the number of shards must be the same before it is said.
    pause: Duration,
    others: Option<BTreeMap<Arc<str>, Other>>,
    /// The parts that were seen last, and since when.
    seen: Option<(Parts, Duration)>,
    said: Option<Parts>,
    /// The later build that was said last.
    latest: Option<Build>,
    /// Since when the log has not answered.
    gone: Option<Duration>,
}

#[derive(Debug)]
struct Other {
    leaves: bool,
    build: Build,
    /// Since when it has sent no heartbeat.
    missing: Option<Duration>,
}

/// How long a node must be missing before it is said to be lost. A log that does not answer is
/// noticed earlier: then no node is heard.
const LOST: Duration = Duration::from_millis(2_500);

/// A build that is not this node's.
fn other_build(build: Build, own: Build) -> Option<Build> {
    (build != own).then_some(build)
}

impl Bulletin {
    pub(crate) fn new(me: Arc<str>, own: Own, shards: u32, failover_timeout: Duration) -> Self {
        let Own {
            build,
            code,
            settings,
        } = own;
        Bulletin {
            me,
            build,
            code,
            settings,
            told_settings: BTreeSet::new(),
            shards,
            pause: failover_timeout * 4,
            others: None,
            seen: None,
            said: None,
            latest: None,
            gone: None,
        }
    }

    /// What is new.
    pub(crate) fn look(
        &mut self,
        now: Duration,
        members: &Members,
        parts: Parts,
        failing: &mut BTreeMap<u32, Failure>,
    ) -> Vec<ServerEvent> {
        let mut out = Vec::new();
        self.look_at_log(now, failing, &mut out);
        // While it does not answer, nobody is heard.
        if self.gone.is_none() {
            self.look_at_nodes(now, members, &mut out);
            self.look_at_parts(now, parts, &mut out);
        }
        out
    }

    pub(crate) fn log_is_silent(&self) -> bool {
        self.gone.is_some()
    }

    fn look_at_log(
        &mut self,
        now: Duration,
        failing: &mut BTreeMap<u32, Failure>,
        out: &mut Vec<ServerEvent>,
    ) {
        failing.retain(|_, failure| now < failure.last + FORGOTTEN);
        let first = failing.values().min_by_key(|failure| failure.since);
        match (first, self.gone) {
            (Some(first), None) => {
                self.gone = Some(first.since);
                out.push(ServerEvent::LogIsSilent {
                    shards: failing.len(),
                    all: self.shards,
                    why: first.why.clone(),
                });
            }
            (None, Some(since)) => {
                self.gone = None;
                for other in self
                    .others
                    .iter_mut()
                    .flat_map(|others| others.values_mut())
                {
                    other.missing = None;
                }
                let after = now.saturating_sub(since);
                out.push(ServerEvent::LogAnswers { after });
            }
            _ => {}
        }
    }

    fn look_at_nodes(&mut self, now: Duration, members: &Members, out: &mut Vec<ServerEvent>) {
        let is_first = self.others.is_none();
        let others = self.others.get_or_insert_default();
        for heartbeat in members.iter().filter(|it| it.node != self.me) {
            let other = Other {
                leaves: heartbeat.leaves,
                build: heartbeat.build,
                missing: None,
            };
            let before = others.insert(heartbeat.node.clone(), other);
            let name = short(&heartbeat.node);
            let differs = heartbeat.code == self.code && heartbeat.settings != self.settings;
            if differs && self.told_settings.insert(heartbeat.settings.clone()) {
                out.push(ServerEvent::SettingsDiffer {
                    node: name.to_owned(),
                    theirs: heartbeat.settings.to_string(),
                    ours: self.settings.to_string(),
                });
            }
            match before {
                _ if is_first => {}
                None => {
                    out.push(ServerEvent::PeerJoined {
                        node: name.to_owned(),
                        build: other_build(heartbeat.build, self.build),
                    });
                }
                Some(before) if heartbeat.leaves && !before.leaves => {
                    let node = name.to_owned();
                    out.push(ServerEvent::PeerStops { node });
                }
                Some(_) => {}
            }
        }
        if is_first {
            let with = others.keys().map(|node| short(node).to_owned()).collect();
            let build = self.build;
            out.push(ServerEvent::Joined { build, with });
        }
        let latest = members.latest(self.build);
        if let Some(latest) = latest.filter(|_| latest != self.latest) {
            out.push(ServerEvent::LaterBuild {
                build: latest,
                own: self.build,
            });
        }
        self.latest = latest.or(self.latest);
        others.retain(|node, other| {
            if members.get(node).is_some() {
                return true;
            }
            let name = short(node).to_owned();
            if other.leaves {
                out.push(ServerEvent::PeerLeft { node: name });
                return false;
            }
            let since = *other.missing.get_or_insert(now);
            let is_lost = now >= since + LOST;
            if is_lost {
                out.push(ServerEvent::PeerLost {
                    node: name,
                    build: other_build(other.build, self.build),
                });
            }
            !is_lost
        });
    }

    fn look_at_parts(&mut self, now: Duration, parts: Parts, out: &mut Vec<ServerEvent>) {
        let since = match self.seen {
            Some((seen, since)) if seen == parts => since,
            _ => now,
        };
        self.seen = Some((parts, since));
        if now >= since + self.pause && self.said != Some(parts) {
            self.said = Some(parts);
            let (Parts { runs, follows }, all) = (parts, self.shards);
            out.push(ServerEvent::Shares { runs, follows, all });
        }
    }
}

/// The name of a node, without the number of its start.
pub(crate) fn short(node: &str) -> &str {
    node.rsplit_once('.').map_or(node, |(name, _)| name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::member::Heartbeat;

    /// What a node says, by the time.
    struct Test {
        bulletin: Bulletin,
        members: Members,
        parts: Parts,
        failing: BTreeMap<u32, Failure>,
        now: Duration,
    }

    impl Test {
        fn new() -> Self {
            let failover_timeout = Duration::from_millis(300);
            Test {
                bulletin: Bulletin::new(
                    "a.1".into(),
                    Own {
                        build: 7,
                        code: 70,
                        settings: "30 ticks".into(),
                    },
                    8,
                    failover_timeout,
                ),
                members: Members::new(Duration::from_millis(900), 8),
                parts: Parts::default(),
                failing: BTreeMap::new(),
                now: Duration::ZERO,
            }
        }

        fn hear(&mut self, node: &str, build: Build, leaves: bool) {
            let heartbeat = Heartbeat {
                node: node.into(),
                build,
                generation: 0,
                leaves,
                code: build * 10,
                settings: "30 ticks".into(),
                begins: Vec::new(),
                refuses: Vec::new(),
            };
            self.members.hear(self.now, heartbeat);
        }

        fn fail(&mut self, shard: u32) {
            let now = self.now;
            let failure = self.failing.entry(shard).or_insert_with(|| Failure {
                since: now,
                last: now,
                why: "no answer in time".to_owned(),
            });
            failure.last = now;
        }

        /// What it says in the next so many milliseconds.
        fn says(&mut self, millis: u64) -> Vec<Said> {
            let mut said = Vec::new();
            for _ in 0..millis / 100 {
                self.now += Duration::from_millis(100);
                let looked =
                    self.bulletin
                        .look(self.now, &self.members, self.parts, &mut self.failing);
                said.extend(looked.iter().map(|it| (it.is_warning(), it.to_string())));
            }
            said
        }
    }

    /// Whether it is a warning, and its text.
    type Said = (bool, String);

    fn info(text: &str) -> Said {
        (false, text.to_owned())
    }

    #[test]
    fn a_node_says_when_it_has_joined_and_what_it_runs_once_that_stays() {
        let mut test = Test::new();
        test.hear("a.1", 7, false);
        test.hear("b.2", 7, false);
        assert_eq!(test.says(100), [info("has joined, build 7, with b")]);
        for runs in 0..4 {
            test.parts = Parts { runs, follows: 2 };
            assert_eq!(test.says(300), []);
        }
        assert_eq!(test.says(3_000), [info("runs 3 of 8 shards, follows 2")]);
    }

    #[test]
    fn it_says_once_which_nodes_come_leave_and_are_lost() {
        let mut test = Test::new();
        test.hear("a.1", 7, false);
        assert_eq!(
            test.says(100),
            [info("has joined, build 7, no other nodes yet")]
        );
        test.hear("b.2", 7, false);
        test.hear("c.3", 9, false);
        let later = "build 9 is later than this one, and takes its shards over. To go back: `rooms top --prefer 7`";
        let joined = ["node b has joined", "node c has joined, of build 9", later];
        assert_eq!(test.says(500), joined.map(info));
        test.hear("b.2", 7, true);
        assert_eq!(test.says(500), [info("node b stops")]);
        test.members.forget(test.now + Duration::from_secs(2));
        let left = ["node b has left", "runs 0 of 8 shards, follows 0"];
        assert_eq!(test.says(2_000), left.map(info));
        let said = test.says(2_000);
        assert!(said[0].0 && said.len() == 1, "{said:?}");
        assert!(said[0].1.starts_with("node c, of build 9, is lost"));
    }

    #[test]
    fn a_log_without_answers_is_said_once_for_all_shards_and_when_it_is_back() {
        let mut test = Test::new();
        test.hear("a.1", 7, false);
        test.hear("b.2", 7, false);
        test.says(100);
        test.fail(3);
        test.fail(4);
        let said = test.says(100);
        assert!(said[0].0 && said.len() == 1, "{said:?}");
        assert!(said[0].1.contains("2 of 8 shards: no answer in time"));
        test.fail(5);
        // Nobody is heard, and no node was lost.
        test.members.forget(Duration::from_secs(10));
        test.parts.runs = 1;
        assert_eq!(test.says(3_000), []);
        test.hear("a.1", 7, false);
        test.hear("b.2", 7, false);
        test.failing.remove(&3);
        assert_eq!(test.says(100), []);
        test.failing.clear();
        assert_eq!(test.says(100), [info("the log answers again, after 3.3 s")]);
        // A shard that this node does not need any more.
        test.fail(3);
        assert_eq!(test.says(100).len(), 1);
        let said = test.says(13_000);
        assert!(
            said.contains(&info("the log answers again, after 12.0 s")),
            "{said:?}"
        );
    }
}
