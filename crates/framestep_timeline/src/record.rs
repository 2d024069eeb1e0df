//! One event, as it is stored: 24 bytes, with numbers in place of names.

use framestep::Phase;
use framestep::inspect::TimerClock;
use framestep::task::Outcome;
use serde::{Deserialize, Serialize};

use crate::tables::Script;

/// The number that stands for no script, name or place.
pub(crate) const NONE: u32 = 0;

/// One event. The meaning of the fields depends on the kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Record {
    pub(crate) kind: Kind,
    /// Of a wait: its kind. Of an end: the outcome. Of an emission: see [`Record::listeners`].
    pub(crate) detail: u8,
    /// Of a wait: the phase it resumes in. Else: the phase of the run under way.
    pub(crate) phase: u16,
    /// The script, or [`NONE`].
    pub(crate) script: u32,
    /// Where it was started, where it waits, or from where it continues. Of a frame: the
    /// upper half of its number.
    /// Of a wake: the name of the signal. Of an emission: the value of the watch, as a name.
    pub(crate) place: u32,
    /// Another script (the parent, the joined script, the one that wakes), or a name (of
    /// a signal), or a clock. Of a frame: the lower half of its number.
    pub(crate) other: u32,
    /// Of a wait: its deadline, or how many frames are left. Of a frame: the reading of
    /// the game clock. Of a start: the names of the script (the lower half) and of its
    /// owner (the upper half). Of permits: how many. Else: the stopwatch.
    pub(crate) value: u64,
}

const _: () = assert!(size_of::<Record>() == 24);

macro_rules! numbered {
    ($(#[$note:meta])* $name:ident: $($variant:ident)*) => {
        $(#[$note])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[repr(u8)]
        pub(crate) enum $name {
            $($variant),*
        }

        impl $name {
            pub(crate) const ALL: &[$name] = &[$($name::$variant),*];

            pub(crate) fn of(number: u8) -> Option<Self> {
                Self::ALL.get(usize::from(number)).copied()
            }
        }
    };
}

numbered! {
    /// What happened.
    Kind: FrameBegan PhaseBegan PhaseEnded Spawned Named Resumed Suspended Ended WaitBegan WaitEnded
        Woken Paused Unpaused Emitted Hidden Acquired Released Valued
        Marked
}

numbered! {
    /// What a script waits for.
    WaitKind: Frame Run Condition Frames Steps Timer Join Signal Watch Permit Wake Never Other
}

impl Record {
    pub(crate) fn new(kind: Kind, phase: u16, script: u32) -> Self {
        Record {
            kind,
            detail: 0,
            phase,
            script,
            place: NONE,
            other: NONE,
            value: 0,
        }
    }

    pub(crate) fn of_frame(frame: u64, elapsed: u64) -> Self {
        let [upper, lower] = [frame >> 32, frame & 0xffff_ffff];
        Record {
            place: u32::try_from(upper).unwrap_or(u32::MAX),
            other: u32::try_from(lower).unwrap_or(u32::MAX),
            value: elapsed,
            ..Record::new(Kind::FrameBegan, 0, NONE)
        }
    }

    /// The number of the frame that this record begins.
    pub(crate) fn frame(&self) -> u64 {
        u64::from(self.place) << 32 | u64::from(self.other)
    }

    pub(crate) fn wait_kind(&self) -> WaitKind {
        WaitKind::of(self.detail).unwrap_or(WaitKind::Other)
    }

    pub(crate) fn outcome(&self) -> Outcome {
        match self.detail {
            0 => Outcome::Finished,
            1 => Outcome::Stopped,
            _ => Outcome::Panicked,
        }
    }

    /// The script that `other` names, if it names one.
    pub(crate) fn other_script(&self) -> Option<u32> {
        let names_one = match self.kind {
            Kind::Spawned | Kind::Woken => true,
            Kind::WaitBegan | Kind::WaitEnded => self.wait_kind() == WaitKind::Join,
            _ => false,
        };
        (names_one && self.other != NONE).then_some(self.other)
    }

    /// The fields that hold names. (A name is never a place and never a script.)
    pub(crate) fn names(&self) -> [u32; 2] {
        match self.kind {
            Kind::Spawned => [self.value & 0xffff_ffff, self.value >> 32]
                .map(|number| u32::try_from(number).unwrap_or(NONE)),
            Kind::Named | Kind::Resumed | Kind::Acquired | Kind::Released | Kind::Marked => {
                [self.other, NONE]
            }
            Kind::Emitted | Kind::Valued => [self.other, self.place],
            Kind::Woken => [self.place, NONE],
            Kind::WaitBegan | Kind::WaitEnded if self.wait_kind().has_name() => [self.other, NONE],
            _ => [NONE, NONE],
        }
    }

    /// The place, if the kind has one.
    pub(crate) fn place(&self) -> u32 {
        match self.kind {
            Kind::Spawned | Kind::Resumed | Kind::WaitBegan | Kind::WaitEnded | Kind::Acquired => {
                self.place
            }
            _ => NONE,
        }
    }

    /// A script with this name and owner was started.
    pub(crate) fn of_spawn(script: u32, known: &Script) -> Self {
        Record {
            place: known.place,
            other: known.parent,
            value: u64::from(known.owner) << 32 | u64::from(known.name),
            ..Record::new(Kind::Spawned, 0, script)
        }
    }

    /// Whether `value` does not count in a comparison of runs: it is a reading of the
    /// stopwatch, or holds names.
    pub(crate) fn value_is_free(&self) -> bool {
        !matches!(
            self.kind,
            Kind::FrameBegan | Kind::WaitBegan | Kind::WaitEnded | Kind::Acquired | Kind::Released
        )
    }

    /// How many listened to an emission: 255 stands for more. `None` in a film of a recorder
    /// that did not know it.
    pub(crate) fn listeners(&self) -> Option<u8> {
        self.detail.checked_sub(1)
    }

    /// Whether it is recorded even if the filter hides the script: what becomes of signals,
    /// watches and semaphores concerns others.
    pub(crate) fn is_public(&self) -> bool {
        matches!(
            self.kind,
            Kind::Emitted | Kind::Acquired | Kind::Released | Kind::Valued
        )
    }

    /// Whether both are about the same wait.
    pub(crate) fn is_same_wait(&self, other: &Record) -> bool {
        (self.detail, self.phase, self.place, self.other)
            == (other.detail, other.phase, other.place, other.other)
    }
}

impl WaitKind {
    pub(crate) fn has_name(self) -> bool {
        matches!(
            self,
            WaitKind::Signal | WaitKind::Watch | WaitKind::Permit | WaitKind::Other
        )
    }

    /// Whether a script or the host has to do something before the wait ends.
    pub(crate) fn has_cause(self) -> bool {
        matches!(
            self,
            WaitKind::Join
                | WaitKind::Signal
                | WaitKind::Watch
                | WaitKind::Permit
                | WaitKind::Wake
                | WaitKind::Never
        )
    }

    /// The word for the legend of a picture.
    pub(crate) fn word(self) -> &'static str {
        match self {
            WaitKind::Frame => "next frame",
            WaitKind::Run => "next run",
            WaitKind::Condition => "condition",
            WaitKind::Frames => "frames",
            WaitKind::Steps => "steps",
            WaitKind::Timer => "timer",
            WaitKind::Join => "join",
            WaitKind::Signal => "signal",
            WaitKind::Watch => "watch",
            WaitKind::Permit => "permit",
            WaitKind::Wake => "wake",
            WaitKind::Never => "never resumes",
            WaitKind::Other => "another wait",
        }
    }
}

pub(crate) fn outcome_number(outcome: Outcome) -> u8 {
    match outcome {
        Outcome::Finished => 0,
        Outcome::Stopped => 1,
        Outcome::Panicked => 2,
    }
}

#[expect(clippy::cast_possible_truncation, reason = "a handful of phases")]
const FIRST_CUSTOM: u16 = 1 + Phase::NAMED.len() as u16;

/// A phase as a number: 0 is none, then the named ones, then the custom ones.
pub(crate) fn phase_number(phase: Option<Phase>) -> u16 {
    let mut named = (1..).zip(Phase::NAMED);
    match phase {
        None => 0,
        Some(Phase::Custom(number)) => FIRST_CUSTOM + u16::from(number),
        Some(phase) => named
            .find(|(_, other)| *other == phase)
            .map_or(u16::MAX, |(number, _)| number),
    }
}

pub(crate) fn is_update(phase: u16) -> bool {
    named(phase) == Some(Phase::Update)
}

fn named(phase: u16) -> Option<Phase> {
    let at = usize::from(phase).checked_sub(1)?;
    Phase::NAMED.get(at).copied()
}

/// The letter of a phase in a timing diagram: its first one, with two exceptions.
pub(crate) fn phase_letter(phase: u16) -> char {
    match named(phase) {
        Some(Phase::Update) => '*',
        Some(Phase::EndOfFrame) => 'Z',
        Some(phase) => phase.to_string().remove(0),
        None if phase == 0 => '*',
        None => 'C',
    }
}

pub(crate) fn phase_word(phase: u16) -> String {
    match named(phase) {
        Some(phase) => phase.to_string(),
        None if phase == 0 => "the host".to_owned(),
        None => format!("Custom({})", phase - FIRST_CUSTOM),
    }
}

/// A clock as a number: 0 is the game clock.
pub(crate) fn clock_number(clock: TimerClock) -> u32 {
    match clock {
        TimerClock::Game => 0,
        TimerClock::Fixed => 1,
        TimerClock::Realtime => 2,
        TimerClock::Other(number) => number.saturating_add(3),
        _ => u32::MAX,
    }
}

pub(crate) fn clock_word(clock: u32) -> Option<String> {
    match clock {
        0 => None,
        1 => Some("fixed time".to_owned()),
        2 => Some("realtime".to_owned()),
        u32::MAX => Some("another clock".to_owned()),
        number => Some(format!("clock {}", number - 3)),
    }
}

/// A clock in a sentence.
pub(crate) fn clock_name(clock: u32) -> String {
    clock_word(clock).unwrap_or_else(|| "the game clock".to_owned())
}

/// A record in a file: a short list of numbers.
type Numbers = (u8, u8, u16, u32, u32, u32, u64);

impl Serialize for Record {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Record {
            kind,
            detail,
            phase,
            script,
            place,
            other,
            value,
        } = *self;
        (kind as u8, detail, phase, script, place, other, value).serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Record {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let numbers = Numbers::deserialize(deserializer)?;
        let (kind, detail, phase, script, place, other, value) = numbers;
        let kind = Kind::of(kind).ok_or_else(|| {
            serde::de::Error::custom(format!("{kind} is not a kind of event: a newer version?"))
        })?;
        Ok(Record {
            kind,
            detail,
            phase,
            script,
            place,
            other,
            value,
        })
    }
}
