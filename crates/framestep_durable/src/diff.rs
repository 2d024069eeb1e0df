//! What differs between two save states, with scripts and lines.

use std::collections::BTreeMap;
use std::fmt;

use crate::bytes::Bytes;
use crate::cell::ScriptId;
use crate::content::Content;
use crate::effects::Effect;
use crate::error::{said_at, waits};
use crate::events::Listed;
use crate::file::stops_of;
use crate::image::{NamedWait, SaveState, ScriptImage};
use crate::journal::{Entry, Kind};
use crate::look::{permits_text, promise_text, stream_text, text_of, value_text};
use crate::site::Site;
use crate::topic::Topic;

/// A difference between two save states. Made by [`SaveState::diff`].
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Difference {
    /// The script that differs, with its name. `None` if it is not a script.
    pub script: Option<(ScriptId, String)>,
    /// The number of the journal entry that differs, from 1.
    pub entry: Option<u32>,
    /// What the one save state has, with the line.
    pub here: String,
    /// What the other one has.
    pub there: String,
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.write(f, "there")
    }
}

impl Difference {
    /// Writes it. `there` says where the other save state is from.
    pub(crate) fn write(&self, f: &mut impl fmt::Write, there: &str) -> fmt::Result {
        if let Some((script, name)) = &self.script {
            write!(f, "script `{name}` ({script})")?;
            if let Some(entry) = self.entry {
                write!(f, ", entry {entry}")?;
            }
            f.write_str(": ")?;
        }
        write!(f, "{}; {there} {}", self.here, self.there)
    }
}

impl SaveState {
    /// What differs between this save state and another one, such as those of two peers for the
    /// same frame: for each script its first difference, then values, signals and the rest. Empty
    /// if both have the same [checksum](Self::checksum), unless the lent states differ: the first is the
    /// first effect that has done something else, if both runtimes [hash
    /// them](crate::RuntimeBuilder::hash_effects). Lines of the code may differ, as in different builds.
    ///
    /// # Examples
    ///
    /// ```
    /// use framestep_durable::prelude::*;
    ///
    /// #[derive(Serialize, Deserialize)]
    /// struct Dice;
    ///
    /// impl DurableScript for Dice {
    ///     const NAME: &'static str = "dice";
    ///     type Output = ();
    ///
    ///     async fn run(self) -> Chapter<Self> {
    ///         with(|random: &mut u32| *random);
    ///         wait_seconds(1).await;
    ///         Chapter::Done(())
    ///     }
    /// }
    ///
    /// let save_with = |mut random: u32| {
    ///     let mut runtime = Runtime::new(Registry::new().with::<Dice>());
    ///     runtime.spawn(Dice);
    ///     runtime.run_frame_with(&mut random, 0.1);
    ///     runtime.save_state().unwrap()
    /// };
    /// let difference = &save_with(3).diff(&save_with(4))[0];
    /// let text = difference.to_string();
    /// assert!(text.starts_with("script `dice` (#1), entry 1: a `with` at "));
    /// assert!(text.ends_with(" returned 3; there 4"));
    /// ```
    #[must_use]
    pub fn diff(&self, other: &SaveState) -> Vec<Difference> {
        let sides = Sides {
            here: self,
            there: other,
        };
        let mut found = Vec::new();
        found.extend(self.first_effect(other));
        sides.compare_scripts(&mut found);
        sides.compare_events(&mut found);
        let rest = [
            (
                "the clocks",
                self.clocks == other.clocks && self.clock_parents == other.clock_parents,
            ),
            (
                "the owners",
                Bytes::of(&self.owners) == Bytes::of(&other.owners),
            ),
            (
                "the scripts that have been requested to stop",
                self.asked == other.asked,
            ),
            (
                "the requests to stop",
                stops_of(&self.stops) == stops_of(&other.stops),
            ),
            ("the waits for signals", self.signals == other.signals),
            (
                "the waits for values",
                waits_of(&self.values) == waits_of(&other.values),
            ),
            (
                "the permits or the waits for them",
                self.permits == other.permits,
            ),
            (
                "the promises or subscriptions",
                self.promises == other.promises && self.streams == other.streams,
            ),
            (
                "the results that nobody has read",
                self.ended == other.ended,
            ),
            (
                "the numbers of the next script, question and owner",
                (self.next_script, self.next_request, self.next_owner)
                    == (other.next_script, other.next_request, other.next_owner),
            ),
            ("the waits of the executor", self.waits == other.waits),
            ("the order of the executor", self.lists == other.lists),
        ];
        for (what, is_same) in rest {
            if !is_same {
                found.push(Difference {
                    script: None,
                    entry: None,
                    here: format!("{what} are one thing"),
                    there: "another".to_owned(),
                });
            }
        }
        found
    }
}

impl SaveState {
    /// The first effect around which the lent states differ, if they are hashed.
    pub(crate) fn first_effect(&self, other: &SaveState) -> Option<Difference> {
        let pair = self.effects.first_difference(&other.effects)?;
        let [one, there] = pair;
        let of = one.or(there)?;
        let [here, there] = match pair {
            [Some(one), Some(other)] if !one.is_same_call(other) => {
                let did = |effect: &Effect| {
                    let (name, script) = (&effect.name, effect.script);
                    format!("{} of script `{name}` ({script})", effect.text)
                };
                return Some(Difference {
                    script: None,
                    entry: None,
                    here: format!("the next effect is {}", did(one)),
                    there: did(other),
                });
            }
            [Some(one), Some(other)] if one.hashes[0] == other.hashes[0] => [
                format!("{} leaves what the host lends in one state", one.text),
                "in another, and it was the same state before".to_owned(),
            ],
            [Some(one), Some(_)] => [
                format!("before {}, what the host lends is one state", one.text),
                "another, and after each effect before it is the same: the host changes it, or a \
                 closure of `animate`, `wait_until` or `defer`"
                    .to_owned(),
            ],
            _ => {
                let says = |effect: Option<&Effect>| match effect {
                    Some(effect) => effect.text.to_string(),
                    None => "it has not come so far".to_owned(),
                };
                pair.map(says)
            }
        };
        Some(Difference {
            script: Some((of.script, of.name.to_string())),
            entry: Some(of.entry),
            here,
            there,
        })
    }
}

/// The waits for each value.
fn waits_of(values: &[(Topic, Option<Content>, Vec<Listed>)]) -> Vec<(&Topic, &Vec<Listed>)> {
    let waits = values.iter().map(|(topic, _, waits)| (topic, waits));
    waits.filter(|(_, waits)| !waits.is_empty()).collect()
}

/// The two save states.
#[derive(Clone, Copy)]
struct Sides<'a> {
    here: &'a SaveState,
    there: &'a SaveState,
}

impl Sides<'_> {
    fn compare_scripts(self, found: &mut Vec<Difference>) {
        let by_id = |save: &SaveState| {
            let scripts = save.scripts.iter().enumerate();
            scripts
                .map(|(at, script)| (script.id, at))
                .collect::<BTreeMap<_, _>>()
        };
        let (here, there) = (by_id(self.here), by_id(self.there));
        let mut ids: Vec<ScriptId> = here.keys().chain(there.keys()).copied().collect();
        ids.sort_unstable();
        ids.dedup();
        for id in ids {
            let here = here.get(&id).map(|&at| &self.here.scripts[at]);
            let there = there.get(&id).map(|&at| &self.there.scripts[at]);
            let differs = match (here, there) {
                (Some(here), Some(there)) => self.compare(here, there),
                (here, _) => {
                    let says = |is: bool| if is { "it is alive" } else { "it is not" };
                    let says = [here.is_some(), there.is_some()].map(|is| says(is).to_owned());
                    Some((None, says))
                }
            };
            let name = here
                .or(there)
                .map_or_else(String::new, |it| it.name.to_string());
            if let Some((entry, [here, there])) = differs {
                found.push(Difference {
                    script: Some((id, name)),
                    entry,
                    here,
                    there,
                });
            }
        }
    }

    /// The first difference between two images of one script.
    fn compare(
        self,
        here: &ScriptImage,
        there: &ScriptImage,
    ) -> Option<(Option<u32>, [String; 2])> {
        if here.name != there.name {
            let says = [here, there].map(|it| format!("it is `{}`", it.name));
            return Some((None, says));
        }
        if here.state != there.state {
            let says = [here, there].map(|it| it.state.to_string());
            let [here, there] = says;
            return Some((None, [format!("its chapter began with {here}"), there]));
        }
        if let Some(differs) = self.compare_journals(here, there) {
            return Some(differs);
        }
        let places = |it: &ScriptImage| {
            let begins = (it.has_begun, it.restarts_after_wait);
            (it.version, it.home, it.owner, begins)
        };
        if places(here) != places(there) {
            let says = ["its version, home, owner or beginning is one", "another"];
            return Some((None, says.map(str::to_owned)));
        }
        if here.once != there.once {
            let says = [here, there].map(|it| format!("it has done once {}", done_once(it)));
            return Some((None, says));
        }
        self.compare_waits(here, there).map(|says| (None, says))
    }

    fn compare_journals(
        self,
        here: &ScriptImage,
        there: &ScriptImage,
    ) -> Option<(Option<u32>, [String; 2])> {
        let (mut at, mut number) = ([0, 0], 0);
        loop {
            number += 1;
            let entries = [(here, at[0], self.here), (there, at[1], self.there)];
            let [one, other] = entries.map(|(script, at, save)| {
                let read = |entry: Entry<'_>| Read {
                    is_first: entry.is_first,
                    kind: entry.kind,
                    site: save.sites.get(entry.site).cloned(),
                    text: said_at(entry.kind, entry.site, &save.sites),
                    value: entry.value.to_vec(),
                };
                script.journal.read(at, read)
            });
            match (one, other) {
                (None, None) => return None,
                (Some((one, next)), Some((other, next_there))) => {
                    if !one.is_like(&other) || one.value != other.value {
                        return Some((Some(number), one.beside(&other)));
                    }
                    at = [next, next_there];
                }
                (one, other) => {
                    let say = |read: Option<(Read, usize)>| match read {
                        Some((read, _)) => read.text(),
                        None => "it has not come so far".to_owned(),
                    };
                    return Some((Some(number), [say(one), say(other)]));
                }
            }
        }
    }

    fn compare_waits(self, here: &ScriptImage, there: &ScriptImage) -> Option<[String; 2]> {
        let named = |script: &ScriptImage| -> Vec<NamedWait> {
            let waits = script.waits.iter().map(|wait| wait.named);
            let mut waits: Vec<_> = waits.collect();
            waits.sort_unstable_by_key(|wait| wait.number);
            waits
        };
        let (mine, others) = (named(here), named(there));
        let sites = |wait: &NamedWait, of: &SaveState| of.sites.get(wait.site).cloned();
        let is_like = |(one, other): (&NamedWait, &NamedWait)| {
            let sites = (sites(one, self.here), sites(other, self.there));
            let is_same = matches!(sites, (Some(one), Some(other)) if one.is_like(&other));
            one.number == other.number && is_same
        };
        if mine.len() != others.len() || !mine.iter().zip(&others).all(is_like) {
            let here = format!("it awaits {}", waits(&mine, &self.here.sites));
            return Some([here, waits(&others, &self.there.sites)]);
        }
        let slots = |script: &ScriptImage| {
            let mut slots: Vec<_> = script.waits.iter().collect();
            slots.sort_unstable_by_key(|wait| wait.named.number);
            slots
                .into_iter()
                .map(|wait| Bytes::of(&wait.slot))
                .collect::<Vec<_>>()
        };
        let (one, other) = (slots(here), slots(there));
        let differs = one
            .iter()
            .zip(&other)
            .position(|(one, other)| one != other)?;
        let what = waits(&mine[differs..=differs], &self.here.sites);
        let [one, other] = [one, other].map(|slots| text_of(slots[differs].get()));
        Some([format!("it awaits {what}, with {one}"), other])
    }

    /// Compares values, subscriptions, permits and promises by what a text says about them.
    fn compare_events(self, found: &mut Vec<Difference>) {
        let [here, there] = [self.here, self.there].map(texts_of_events);
        let mut subjects: Vec<_> = here.keys().chain(there.keys()).collect();
        subjects.sort_unstable();
        subjects.dedup();
        for subject in subjects {
            let [here, there] = [&here, &there].map(|texts| {
                let text = texts.get(subject).cloned();
                let is_value = subject.starts_with(VALUE);
                let missing = if is_value { "its default" } else { "missing" };
                text.unwrap_or_else(|| missing.to_owned())
            });
            if here != there {
                found.push(Difference {
                    script: None,
                    entry: None,
                    here: format!("{subject} {here}"),
                    there,
                });
            }
        }
    }
}

const VALUE: &str = "the value";

/// What a text says about each value, subscription, permits and promise.
fn texts_of_events(save: &SaveState) -> BTreeMap<String, String> {
    let values = save.values.iter().map(|(name, value, _)| {
        let subject = format!("{VALUE} `{name}` is");
        (subject, value_text(value.as_ref()))
    });
    let streams = save.streams.iter().map(|((script, number), stream)| {
        let name = &stream.topic;
        let subject = format!("the subscription {number} of {script} to `{name}` is");
        (subject, stream_text(stream))
    });
    let permits = save.permits.iter().map(|permits| {
        let subject = format!("the permits `{}` are", permits.topic);
        (subject, permits_text(permits))
    });
    let promises = save.promises.iter().map(|((script, number), promise)| {
        let name = &promise.name;
        let subject = format!("the promise {number} `{name}` of {script} is");
        (subject, promise_text(promise))
    });
    let all = values.chain(streams).chain(permits).chain(promises);
    all.collect()
}

/// What a script has done once, with the results.
fn done_once(script: &ScriptImage) -> String {
    let done = script.once.iter();
    let done = done.map(|(label, result)| match result.get() {
        [] => format!("{label:?}"),
        result => format!("{label:?} (returned {})", text_of(result)),
    });
    let done: Vec<String> = done.collect();
    if done.is_empty() {
        return "nothing".to_owned();
    }
    done.join(", ")
}

/// An entry of a journal.
struct Read {
    is_first: bool,
    kind: Kind,
    site: Option<Site>,
    /// What it is, and where.
    text: String,
    value: Vec<u8>,
}

impl Read {
    /// Whether only their values may differ.
    fn is_like(&self, other: &Read) -> bool {
        let sites = (&self.site, &other.site);
        let is_same_call = matches!(sites, (Some(one), Some(other)) if one.is_like(other));
        (self.is_first, self.kind) == (other.is_first, other.kind) && is_same_call
    }

    fn text(&self) -> String {
        match self.value.as_slice() {
            [] => self.text.clone(),
            value => format!("{} returned {}", self.text, text_of(value)),
        }
    }

    /// This and another one: only the value of the other one, if that is all that differs.
    fn beside(&self, other: &Read) -> [String; 2] {
        if self.is_like(other) && self.text == other.text {
            return [self.text(), text_of(&other.value)];
        }
        if self.text == other.text && self.is_first != other.is_first {
            let begins = |read: &Read| {
                let what = if read.is_first { "begins" } else { "continues" };
                format!("{} {what} a poll", read.text())
            };
            return [begins(self), begins(other)];
        }
        [self.text(), other.text()]
    }
}
