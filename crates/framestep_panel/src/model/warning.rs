//! What may be wrong.

use std::collections::BTreeMap;
use std::panic::Location;
use std::time::Duration;

use framestep::Phase;
use framestep::inspect::{Source, State, Wait};
use framestep::task::CoroutineId;

use super::cells::wait;
use super::frame::Frame;
use super::kind::Kind;
use super::listener::{Actor, Heard};
use super::runs::{Difference, Lengths};
use super::script::Script;
use super::sources::{self, Holder};
use super::text::{clean, duration, place};

/// How bad a [`Warning`] is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Level {
    /// A script that cannot continue, or that differs between runs.
    Error,
    /// A script that holds up the frame, or that nothing seems to wake.
    Warning,
    /// A script that has waited for long.
    Note,
}

/// Something that may be wrong, in a sentence.
#[derive(Clone, Debug)]
pub struct Warning {
    /// How bad it is.
    pub level: Level,
    /// The sentence.
    pub text: String,
    /// The script, or the first of several.
    pub script: Option<CoroutineId>,
    /// The line to look at.
    pub at: Option<&'static Location<'static>>,
}

/// A script that was slow in one frame.
#[derive(Clone, Debug)]
pub(crate) struct Slow {
    pub(crate) frame: u64,
    pub(crate) took: Duration,
    pub(crate) times: u32,
    pub(crate) name: String,
    pub(crate) from: Option<&'static Location<'static>>,
    pub(crate) to: Option<&'static Location<'static>>,
}

pub(crate) struct Facts<'a> {
    pub(crate) frame: &'a Frame,
    pub(crate) heard: &'a Heard,
    pub(crate) slow: &'a BTreeMap<CoroutineId, Slow>,
    pub(crate) difference: Option<&'a Difference>,
    pub(crate) lengths: Option<&'a Lengths>,
    pub(crate) patience: Duration,
}

/// At most this many warnings of each sort are listed.
const MOST: usize = 20;

/// Scripts that wait in the same way.
#[derive(Default)]
struct Group<'a> {
    count: usize,
    first: Option<&'a Script>,
    longest: Duration,
}

/// The scripts that may need a warning, found in one pass. Most scripts need none.
#[derive(Default)]
struct Suspects<'a> {
    /// Positions of those that join another script.
    joining: Vec<usize>,
    /// Those that wait for nothing.
    never: Vec<&'a Script>,
    /// Those whose home phase has not run.
    homeless: Vec<&'a Script>,
    paused: Vec<&'a Script>,
    /// Those that wait for an event, a wake or a condition.
    waiting: Vec<&'a Script>,
}

impl<'a> Suspects<'a> {
    fn of(frame: &'a Frame) -> Self {
        let mut suspects = Suspects::default();
        for (at, script) in frame.scripts().enumerate() {
            match script.kind {
                Kind::Join => suspects.joining.push(at),
                Kind::Event => {
                    suspects.joining.push(at);
                    suspects.waiting.push(script);
                }
                Kind::Never => suspects.never.push(script),
                Kind::Wake | Kind::Condition => suspects.waiting.push(script),
                _ => {}
            }
            if !script.home_has_run {
                suspects.homeless.push(script);
            }
            if script.paused_since.is_some() {
                suspects.paused.push(script);
            }
        }
        suspects
    }
}

impl Facts<'_> {
    pub(crate) fn warnings(&self) -> Vec<Warning> {
        let suspects = Suspects::of(self.frame);
        let mut out = Vec::new();
        let now = self.frame.number();
        let difference = self.difference.filter(|it| it.frame <= now);
        out.extend(difference.map(differs));
        let lengths = self.lengths.filter(|it| it.frame <= now);
        out.extend(lengths.map(cannot_compare));
        self.cycles(&suspects.joining, &mut out);
        self.alone(&suspects, &mut out);
        self.slow(&mut out);
        self.paused(&suspects.paused, &mut out);
        self.waiting(&suspects.waiting, &mut out);
        out.sort_by_key(|warning| warning.level);
        out
    }

    /// The script that has to act before a script continues, if only one can, and what it does
    /// to that one.
    fn next(&self, at: usize) -> Option<(usize, String)> {
        let frame = self.frame.number();
        let script = &self.frame.scripts[at];
        let (other, verb) = match script.only_wait()? {
            Wait::Join { id } => (*id, "joins".to_owned()),
            Wait::Permit { source, .. } => {
                let holders = self.heard.sources.holders(source, frame);
                let mut ids = holders
                    .iter()
                    .map(|holder| holder.by.as_ref().map(|by| by.id));
                let first = ids.next()??;
                if !ids.all(|id| id == Some(first)) {
                    return None;
                }
                let of = sources::name(source);
                (first, format!("waits for a permit of {of}, held by"))
            }
            // That nobody else emits it is known from the past only.
            wait @ (Wait::Signal { source, .. } | Wait::Watch { source, .. }) => {
                let waited = self.waited(script);
                let only = self
                    .heard
                    .sources
                    .only_emitter(source, frame, |id| self.frame.find(id).is_some());
                let only = only.filter(|_| waited >= self.patience)?;
                let what = match wait {
                    Wait::Signal { .. } => "signal",
                    _ => "watch",
                };
                let of = sources::name(source);
                (
                    only,
                    format!("waits for {what} {of}, emitted by no other live script than"),
                )
            }
            _ => return None,
        };
        let scripts = &self.frame.scripts;
        let at = scripts.binary_search_by_key(&other, |script| script.who.id);
        Some((at.ok()?, verb))
    }

    /// How long a script has waited.
    fn waited(&self, script: &Script) -> Duration {
        // A condition is polled in each frame, so its last poll says nothing.
        let seen = script.waits.iter().map(|waiting| waiting.seen).min();
        let polled = script.since.filter(|_| script.kind != Kind::Condition);
        let since = polled.map(|since| since.elapsed).or(seen);
        let now = self.frame.time.elapsed;
        now.saturating_sub(since.unwrap_or(now))
    }

    fn cycles(&self, joining: &[usize], out: &mut Vec<Warning>) {
        let scripts = &self.frame.scripts;
        // The start of the walk that reached each script first.
        let mut walk = vec![u32::MAX; scripts.len()];
        let mut count = 0;
        for &start in joining {
            let mark = u32::try_from(start).unwrap_or(u32::MAX - 1);
            let mut at = start;
            let mut end = None;
            while walk[at] == u32::MAX {
                walk[at] = mark;
                match self.next(at) {
                    Some((after, _)) => at = after,
                    None => break,
                }
                if walk[at] == mark {
                    end = Some(at);
                }
            }
            let Some(first) = end else { continue };
            count += 1;
            if count > MOST {
                break;
            }
            let mut text = String::new();
            let mut at = first;
            for _ in 0..6 {
                let Some((after, verb)) = self.next(at) else {
                    break;
                };
                let (name, id) = (scripts[at].name(), scripts[at].id());
                text.push_str(&format!("{name} ({id}) {verb} "));
                at = after;
                if at == first {
                    break;
                }
            }
            let last = if at == first {
                scripts[first].name()
            } else {
                "others, and so on"
            };
            out.push(Warning {
                level: Level::Error,
                text: format!("{text}{last}: they wait for each other, and never end"),
                script: Some(scripts[first].id()),
                at: scripts[first].line(),
            });
        }
    }

    /// Scripts that are stuck by themselves.
    fn alone(&self, suspects: &Suspects<'_>, out: &mut Vec<Warning>) {
        let mut never = Group::default();
        for &script in &suspects.never {
            never.add(script, Duration::ZERO);
            if never.count <= MOST {
                out.push(Warning {
                    level: Level::Error,
                    text: format!(
                        "{} ({}) never resumes: it waits for nothing",
                        script.name(),
                        script.id()
                    ),
                    script: Some(script.id()),
                    at: script.line(),
                });
            }
        }
        let mut homeless: BTreeMap<Phase, Group<'_>> = BTreeMap::new();
        // Without a step, it is correct that the fixed phase has not run.
        let has_begun = self.frame.number() > 1;
        for &script in suspects.homeless.iter().filter(|_| has_begun) {
            let home = script.who.home;
            if home != Phase::FixedUpdate {
                homeless
                    .entry(home)
                    .or_default()
                    .add(script, Duration::ZERO);
            }
        }
        if never.count > MOST {
            out.push(never.warning(Level::Error, |who| {
                format!("in all, {who} never resume: they wait for nothing")
            }));
        }
        for (home, group) in homeless {
            out.push(group.warning(Level::Error, |who| {
                let verb = group.verb("has", "have");
                format!("{who} {verb} the home phase {home}, which the host has not run")
            }));
        }
    }

    fn slow(&self, out: &mut Vec<Warning>) {
        let now = self.frame.number();
        let slow = self.slow.iter().filter(|(_, slow)| slow.frame <= now);
        let mut slow: Vec<_> = slow.collect();
        slow.sort_by_key(|(_, slow)| std::cmp::Reverse(slow.took));
        for (id, slow) in slow.into_iter().take(MOST) {
            let lines = match (slow.from, slow.to) {
                (Some(from), Some(to)) if from != to => {
                    format!(", between {} and {}", place(from), place(to))
                }
                (Some(at), _) | (None, Some(at)) => format!(", after {}", place(at)),
                (None, None) => String::new(),
            };
            let times = match slow.times {
                1 => String::new(),
                times => format!("; slow {times} times"),
            };
            out.push(Warning {
                level: Level::Warning,
                text: format!(
                    "{} ({id}) took {} of frame {}{lines}{times}",
                    slow.name,
                    duration(slow.took),
                    slow.frame
                ),
                script: Some(*id),
                at: slow.from.or(slow.to),
            });
        }
    }

    fn paused(&self, paused: &[&Script], out: &mut Vec<Warning>) {
        let now = self.frame.time.elapsed;
        let mut groups: BTreeMap<(u64, Option<&str>, Option<CoroutineId>), Group<'_>> =
            BTreeMap::new();
        for script in paused {
            let Some((frame, elapsed)) = script.paused_since else {
                continue;
            };
            let cause = self.heard.paused(script.id(), self.frame.number());
            let by = cause.and_then(|cause| cause.by.as_ref()).map(|by| by.id);
            let key = (cause.map_or(frame, |cause| cause.frame), script.owner(), by);
            let since = now.saturating_sub(elapsed);
            groups.entry(key).or_default().add(script, since);
        }
        groups.retain(|_, group| group.longest >= self.patience);
        for ((frame, owner, _), group) in groups.into_iter().take(MOST) {
            let cause = group
                .first
                .and_then(|first| self.heard.paused(first.id(), self.frame.number()));
            let by = match cause {
                Some(cause) => format!(", by {}", actor(cause.by.as_ref(), self.frame)),
                None => String::new(),
            };
            out.push(group.warning(Level::Warning, |who| {
                let verb = group.verb("has", "have");
                let of = match owner {
                    Some(owner) if group.count > 1 => format!(" of {owner}"),
                    _ => String::new(),
                };
                let time = duration(group.longest);
                format!("{who}{of} {verb} been paused for {time}, since frame {frame}{by}")
            }));
        }
    }

    /// Scripts that wait for an event that does not come.
    fn waiting(&self, waiting: &[&Script], out: &mut Vec<Warning>) {
        let mut groups: BTreeMap<(String, u32), Group<'_>> = BTreeMap::new();
        for script in waiting {
            let lasts = script.waits.iter().any(|waiting| {
                !matches!(
                    Kind::of_wait(&waiting.wait),
                    Kind::Event | Kind::Wake | Kind::Condition
                )
            });
            if lasts {
                continue;
            }
            let waited = self.waited(script);
            if waited < self.patience {
                continue;
            }
            let key = match script.kind {
                Kind::Event => wait(script, self.frame),
                _ => format!(
                    "{}{}",
                    wait(script, self.frame),
                    script.waits_at().map_or_else(
                        || format!(" in {}", script.name()),
                        |at| format!(" at {}", place(at))
                    )
                ),
            };
            let source = script
                .waits
                .iter()
                .find_map(|waiting| waiting.wait.source());
            let number = source.map_or(0, Source::number);
            let group = groups.entry((key, number)).or_default();
            group.add(script, waited);
        }
        let mut groups: Vec<_> = groups.into_iter().collect();
        groups.sort_by_key(|(_, group)| std::cmp::Reverse(group.longest));
        for ((what, _), group) in groups.into_iter().take(MOST) {
            let (level, note) = self.served(&group);
            out.push(group.warning(level, |who| {
                let verb = group.verb("waits", "wait");
                format!(
                    "{who} {verb} for {what}, for {} so far{note}",
                    duration(group.longest)
                )
            }));
        }
    }

    /// What is known about what should end the wait.
    fn served(&self, group: &Group<'_>) -> (Level, String) {
        let waits = group.first.map_or(&[][..], |first| &first.waits);
        let wait = waits.iter().map(|waiting| &waiting.wait);
        let known = wait.clone().find_map(|wait| Some((wait, wait.source()?)));
        let Some((wait, source)) = known.filter(|_| self.heard.any) else {
            return (Level::Note, String::new());
        };
        let (frame, sources) = (self.frame.number(), &self.heard.sources);
        if let Wait::Permit { .. } = wait {
            return self.held(source);
        }
        let since = group.first.and_then(|first| first.since);
        let since = since.map_or(frame, |since| since.frame);
        let emitted = sources.emissions(source, frame);
        let is_served = emitted.as_ref().is_some_and(|it| it.last.frame >= since);
        if let Some((other, emitted)) = sources.twin(source, since, frame).filter(|_| !is_served) {
            let by = actor(emitted.last.by.as_ref(), self.frame);
            let text = format!(
                "; it is another one than that{}, which {by} emitted in frame {}: this one is{}",
                sources::origin(other),
                emitted.last.frame,
                sources::origin(source),
            );
            return (Level::Warning, text);
        }
        let value = sources.value(source, frame);
        let value = value.map_or(String::new(), |value| {
            format!("; its value is {}", clean(&value))
        });
        match emitted {
            None if sources.has_forgotten(source, frame) => (Level::Note, value),
            None => (
                Level::Warning,
                format!("{value}; nobody has emitted it since the panel was opened"),
            ),
            Some(emitted) => {
                let by = actor(emitted.last.by.as_ref(), self.frame);
                let last = emitted.last.frame;
                let text = match emitted.count {
                    1 => format!("{value}; emitted once, in frame {last} by {by}"),
                    count => {
                        format!("{value}; emitted {count} times, last in frame {last} by {by}")
                    }
                };
                if emitted.last.is_heard {
                    return (Level::Note, text);
                }
                let text = format!("{text}, while nobody waited for it");
                (Level::Warning, text)
            }
        }
    }

    /// Which scripts hold permits, and since when. It is worse if one has ended.
    fn held(&self, source: &Source) -> (Level, String) {
        let holders = self.heard.sources.holders(source, self.frame.number());
        let count = holders.len();
        let (left, held): (Vec<&Holder>, Vec<&Holder>) = holders.into_iter().partition(|holder| {
            let by = holder.by.as_ref();
            by.is_some_and(|by| self.frame.find(by.id).is_none())
        });
        let level = if left.is_empty() {
            Level::Note
        } else {
            Level::Warning
        };
        let mut text = String::new();
        for (at, holder) in left.iter().chain(&held).take(2).enumerate() {
            let by = actor(holder.by.as_ref(), self.frame);
            let (since, line) = (holder.frame, place(holder.at));
            text.push_str(&if at < left.len() {
                format!("; taken in frame {since} ({line}) and not given back by {by}")
            } else {
                format!("; held by {by} since frame {since} ({line})")
            });
        }
        if let Some(more @ 1..) = count.checked_sub(2) {
            text.push_str(&format!("; and by {more} more"));
        }
        (level, text)
    }
}

impl<'a> Group<'a> {
    fn add(&mut self, script: &'a Script, waited: Duration) {
        self.count += 1;
        if self.first.is_none() || waited > self.longest {
            self.first = Some(script);
        }
        self.longest = self.longest.max(waited);
    }

    fn verb(&self, one: &'static str, many: &'static str) -> &'static str {
        if self.count == 1 { one } else { many }
    }

    fn warning(&self, level: Level, text: impl Fn(String) -> String) -> Warning {
        let who = match self.first {
            Some(first) if self.count == 1 => format!("{} ({})", first.name(), first.id()),
            _ => format!("{} scripts", self.count),
        };
        Warning {
            level,
            text: text(who),
            script: self.first.map(Script::id),
            at: self.first.and_then(Script::line),
        }
    }
}

pub(crate) fn actor(actor: Option<&Actor>, frame: &Frame) -> String {
    match actor {
        None => "the host".to_owned(),
        Some(actor) => {
            let ended = if frame.find(actor.id).is_none() {
                ", which has ended"
            } else {
                ""
            };
            format!("{} ({}){ended}", clean(&actor.name), actor.id)
        }
    }
}

fn differs(difference: &Difference) -> Warning {
    Warning {
        level: Level::Error,
        text: format!(
            "{} differs from the last run, in frame {}: now {}; then {}",
            difference.name, difference.frame, difference.now, difference.before
        ),
        script: difference.id,
        at: difference.at,
    }
}

fn cannot_compare(lengths: &Lengths) -> Warning {
    Warning {
        level: Level::Note,
        text: format!(
            "this run and the last one have frames of other lengths, up to frame {}: it ends at \
             {:?}, then at {:?}; so the runs are not compared any further",
            lengths.frame, lengths.now, lengths.before
        ),
        script: None,
        at: None,
    }
}

impl Slow {
    pub(crate) fn new(script: &Script, frame: u64, took: Duration) -> Self {
        Slow {
            frame,
            took,
            times: 1,
            name: script.name().to_owned(),
            from: script.ran_from,
            to: script.waits_at().filter(|_| script.state == State::Waiting),
        }
    }
}
