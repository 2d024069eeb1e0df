//! What a script does after two runs have begun to differ, and what that looks like.

use crate::film::Film;
use crate::record::{Kind, NONE, Record, WaitKind};
use crate::text;

use super::Side;

/// How many waits are shown.
const SHOWN: usize = 5;
/// How many are compared.
const COMPARED: usize = 12;

/// The next waits of the script in one of the runs.
#[derive(Debug, Default)]
pub(super) struct Next {
    waits: Vec<Ahead>,
    /// The names of the scripts that are spawned from here to the end of the frame.
    spawned: Vec<String>,
    /// Whether the difference is a spawn.
    is_spawn: bool,
}

/// A wait, as far as two runs can be compared.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Ahead {
    kind: WaitKind,
    place: Option<String>,
    /// How long it is: nanoseconds or frames.
    length: u64,
    /// What it waits for, unless that is a time.
    what: String,
}

impl Next {
    /// Reads on from an event, which the other run does not have. If it is of no script, from
    /// that of the other run.
    pub(super) fn of(
        film: &Film,
        record: Option<&Record>,
        other: Option<&Record>,
        side: &Side<'_>,
    ) -> Self {
        let Some(record) = record else {
            return Next::default();
        };
        let script = record.script;
        let mut next = Next {
            is_spawn: [Some(record), other]
                .iter()
                .flatten()
                .any(|record| matches!(record.kind, Kind::Spawned | Kind::Named)),
            ..Next::default()
        };
        let mut elapsed = side.state.elapsed;
        let mut is_same_frame = true;
        for record in std::iter::once(record).chain(side.records.clone()) {
            match record.kind {
                Kind::FrameBegan => {
                    elapsed = record.value;
                    is_same_frame = false;
                }
                Kind::Spawned if is_same_frame => {
                    next.spawned
                        .push(film.tables.names.get(record.names()[0]).to_owned());
                }
                Kind::WaitBegan if record.script == script && script != NONE => {
                    next.waits.push(Ahead::of(film, record, elapsed));
                }
                _ => {}
            }
            if next.waits.len() == COMPARED {
                break;
            }
        }
        next
    }

    /// The waits in words.
    pub(super) fn words(&self) -> Vec<String> {
        self.waits.iter().take(SHOWN).map(Ahead::words).collect()
    }
}

impl Ahead {
    fn of(film: &Film, wait: &Record, elapsed: u64) -> Self {
        let kind = wait.wait_kind();
        Ahead {
            kind,
            place: film.place(wait.place()),
            length: match kind {
                WaitKind::Timer if wait.other == 0 => wait.value.saturating_sub(elapsed),
                WaitKind::Timer | WaitKind::Frames | WaitKind::Steps => wait.value,
                _ => 0,
            },
            what: match kind {
                WaitKind::Timer | WaitKind::Frames | WaitKind::Steps => kind.word().to_owned(),
                _ => film.wait(wait, None),
            },
        }
    }

    fn words(&self) -> String {
        let what = match self.kind {
            WaitKind::Timer => text::seconds(self.length),
            WaitKind::Frames => text::counted(self.length, "frame"),
            WaitKind::Steps => text::counted(self.length, "step"),
            _ => self.what.clone(),
        };
        match &self.place {
            Some(place) => format!("{what} at {place}"),
            None => what,
        }
    }
}

/// What a difference looks like. It is a guess, so only clear cases have one.
pub(super) fn looks_like(left: &Next, right: &Next) -> Option<&'static str> {
    if is_permuted(&left.spawned, &right.spawned) && left.is_spawn {
        return Some(
            "the same scripts in another order: are they started in the order of a HashMap?",
        );
    }
    // The last waits of a run may be cut off by its end.
    let both = left.waits.len().min(right.waits.len());
    let (here, there) = (&left.waits[..both], &right.waits[..both]);
    let (first, second) = (here.first()?, there.first()?);
    let lengths = |waits: &[Ahead]| waits.iter().map(|wait| wait.length).collect::<Vec<_>>();
    let same_lines = |(one, other): (&Ahead, &Ahead)| {
        (&one.place, one.kind, &one.what) == (&other.place, other.kind, &other.what)
    };
    // Twelve waits may begin in the middle of a round, so eight of them in common are enough.
    if (2..=both)
        .rev()
        .take(6)
        .any(|count| is_permuted(&here[..count], &there[..count]))
    {
        return Some("the same waits in another order: do they follow the order of a HashMap?");
    }
    if here.iter().zip(there).all(same_lines) && lengths(here) != lengths(there) {
        return Some(
            "the same lines with other lengths: do they come from random numbers without the \
             seed, or from the wall clock?",
        );
    }
    if first.place != second.place {
        return Some(
            "another branch: does its condition read the wall clock, random numbers without the \
             seed, or state that an earlier run has left?",
        );
    }
    None
}

/// Whether both have the same items in another order.
fn is_permuted<T: Ord + Clone>(one: &[T], other: &[T]) -> bool {
    let sorted = |items: &[T]| {
        let mut items = items.to_vec();
        items.sort();
        items
    };
    one.len() > 1 && one != other && sorted(one) == sorted(other)
}
