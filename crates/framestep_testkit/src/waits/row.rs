//! A row of the table, and the macro that makes one.

use std::future::poll_fn;
use std::mem::forget;
use std::pin::Pin;
use std::task::Poll;

use framestep::prelude::*;
use futures::future::LocalBoxFuture;

use super::boxed::Wait;
use super::{Arg, Boxed, Given};

/// The clock on which a wait counts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum OnClock {
    /// That of its script.
    Own,
    /// The one that it is given.
    Given,
    Realtime,
}

/// What makes a wait due.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Rule {
    /// The first run of its phase in a later frame.
    NextFrame,
    /// The same, in the frame so many frames later.
    Frames,
    /// The next run of its phase.
    Run,
    /// So many runs of its phase.
    Runs,
    /// The first run of its phase in a later frame, or step, at or past the deadline.
    Time(OnClock),
    /// The first run of its phase in a later frame, or step, in which the condition holds.
    Condition,
    /// The end of another script.
    Join,
    /// An act of a script or the host, outside the table of docs/contract.md#frame: its
    /// waker resumes the script, at home.
    Event,
    /// Something of its own, which its own tests describe.
    Other,
}

impl Rule {
    /// The wait is in the table of docs/contract.md#frame: it resumes its script by itself.
    pub fn is_of_the_contract(self) -> bool {
        self != Rule::Event
    }

    /// A script or the host ends the wait, so that it may be awaited anywhere.
    pub fn goes_anywhere(self) -> bool {
        matches!(self, Rule::Event | Rule::Join)
    }
}

/// The phase in which a wait resumes its script.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Place {
    /// At home.
    Home,
    /// At home, or in the phase that `in_phase` names.
    InPhase,
    /// In the phase that is its argument.
    Argument,
    /// In this phase.
    Always(Phase),
}

/// One wait: a function, and how to call it.
#[derive(Clone, Copy)]
#[expect(clippy::struct_excessive_bools, reason = "they are properties")]
pub struct Row {
    /// The function that makes it.
    pub call: &'static str,
    /// Its type, as it is printed.
    pub of: &'static str,
    pub rule: Rule,
    pub place: Place,
    /// With these arguments, awaited in frame 0, it is due in these frames. A frame and a
    /// step are a quarter of a second long. In frame 2, the host sends 2.
    pub due: &'static [(Arg, u64)],
    /// What a snapshot shows, with the arguments of [`Given::named`].
    pub shown: &'static [&'static str],
    /// It is polled in each run of its phase until it is due.
    pub asks: bool,
    /// It is made of other waits or futures.
    pub is_made_of_others: bool,
    /// Its length is that of a period, and is not zero.
    pub is_period: bool,
    /// After its end it may be polled again.
    pub repeats: bool,
    /// Even in the steady state, making it takes memory.
    pub allocates: bool,
    /// It polls only what has been woken, so that a script polls it on behalf of others.
    pub hides: bool,
    /// Its line in the table. `None` for a stream, which another crate polls.
    pub line: Option<u32>,
    pub make: fn(&Given) -> Boxed,
    /// Awaits it, in [`line`](Self::line).
    pub awaited: fn(Given) -> LocalBoxFuture<'static, ()>,
    /// Awaits it and a frame, again and again, without a box.
    pub repeated: fn(Given) -> LocalBoxFuture<'static, ()>,
    /// Begins it, and calls `in_phase` on it, which must panic, in this line.
    pub begun: Option<Begun>,
    /// Forgets it, begun and not, in place and behind a pointer.
    pub forget: fn(Given) -> LocalBoxFuture<'static, ()>,
}

/// Begins a wait, and passes a call that must panic, and its line, to a check.
pub type Begun = fn(Given, fn(&mut dyn FnMut(), u32)) -> LocalBoxFuture<'static, ()>;

impl Row {
    /// The file of the lines.
    pub const FILE: &'static str = super::table::FILE;

    pub const fn due(self, due: &'static [(Arg, u64)]) -> Self {
        Row { due, ..self }
    }

    pub const fn shown(self, shown: &'static [&'static str]) -> Self {
        Row { shown, ..self }
    }

    pub const fn asks(self) -> Self {
        Row { asks: true, ..self }
    }

    pub const fn made_of_others(self) -> Self {
        Row {
            is_made_of_others: true,
            ..self
        }
    }

    pub const fn period(self) -> Self {
        Row {
            is_period: true,
            ..self
        }
    }

    pub const fn repeats(self) -> Self {
        Row {
            repeats: true,
            ..self
        }
    }

    pub const fn allocates(self) -> Self {
        Row {
            allocates: true,
            ..self
        }
    }

    pub const fn hides(self) -> Self {
        Row {
            hides: true,
            ..self
        }
    }

    pub const fn without_line(self) -> Self {
        Row { line: None, ..self }
    }

    pub fn make(&self, given: &Given) -> Boxed {
        (self.make)(given)
    }

    /// It counts the time of a clock, and stands still in a pause.
    pub fn counts_time(&self) -> bool {
        matches!(self.rule, Rule::Time(_))
    }
}

/// A call of `check` compiles only if the type is neither `Send` nor `Sync`: else, the
/// compiler has the choice between several implementations. On another thread, the
/// destructor of a wait would not find its executor.
pub(super) trait StaysOnItsThread<Choice> {
    fn check(&self) {}
}

pub(super) struct Sends;
pub(super) struct Syncs;

impl<W> StaysOnItsThread<()> for W {}
impl<W: Send> StaysOnItsThread<Sends> for W {}
impl<W: Sync> StaysOnItsThread<Syncs> for W {}

/// A wait that is given a length has it as a number of seconds or as a `Duration`.
macro_rules! made {
    ($given:ident, $make:expr) => {
        $make
    };
    ($given:ident, $length:ident, $make:expr) => {
        match $given.length {
            Length::Seconds($length) => $make,
            Length::Exact($length) => $make,
        }
    };
}

/// Names the phase that a wait is given, and another one before.
macro_rules! in_phase_of {
    ($given:ident, $wait:expr) => {
        match ($given.phase, $wait) {
            (None, wait) => wait,
            (Some(phase), wait) => wait.in_phase(Phase::EarlyUpdate).in_phase(phase),
        }
    };
}

/// `row!(function -> Type, rule, place, |given, length| wait)`, without `length` if it has
/// none. The place `in_phase` stands for a wait that has a function of this name. If the
/// wait cannot be moved, `boxed` makes one that can.
macro_rules! row {
    ($call:ident -> $of:ident, $rule:expr, in_phase, |$given:ident $(, $length:ident)?| $make:expr) => {
        row!($call -> $of, $rule, in_phase, |$given $(, $length)?| $make,
            boxed in_phase_of!($given, made!($given, $($length,)? $make)))
    };
    ($call:ident -> $of:ident, $rule:expr, in_phase, |$given:ident $(, $length:ident)?| $make:expr, boxed $boxed:expr) => {
        Row {
            begun: Some(|given, check| {
                Box::pin(async move {
                    let $given = &given;
                    let _ = $given;
                    let mut wait = Some(made!($given, $($length,)? $make));
                    let begun = wait.as_mut().expect("it is there");
                    assert!(super::row::poll_once(begun).await.is_pending());
                    let mut name = || {
                        drop(wait.take().expect("it is there").in_phase(Phase::LateUpdate));
                    };
                    check(&mut name, line!());
                })
            }),
            ..row!($call -> $of, $rule, Place::InPhase, |$given|
                in_phase_of!($given, made!($given, $($length,)? $make)), boxed $boxed)
        }
    };
    ($call:ident -> $of:ident, $rule:expr, $place:expr, |$given:ident $(, $length:ident)?| $make:expr) => {
        row!($call -> $of, $rule, $place, |$given| made!($given, $($length,)? $make),
            boxed made!($given, $($length,)? $make))
    };
    ($call:ident -> $of:ident, $rule:expr, $place:expr, |$given:ident $(, $length:ident)?| $make:expr, boxed $boxed:expr) => {
        Row {
            call: stringify!($call),
            of: stringify!($of),
            rule: $rule,
            place: $place,
            due: &[],
            shown: &[],
            asks: false,
            is_made_of_others: false,
            is_period: false,
            repeats: false,
            allocates: false,
            hides: false,
            line: Some(line!()),
            make: |$given| {
                let _ = $given;
                let wait = $boxed;
                StaysOnItsThread::check(&wait);
                Boxed(Box::pin(wait))
            },
            awaited: |given| {
                Box::pin(async move {
                    let $given = &given;
                    let _ = $given;
                    _ = made!($given, $($length,)? $make).await;
                })
            },
            repeated: |given| {
                Box::pin(async move {
                    let $given = &given;
                    let _ = $given;
                    loop {
                        _ = made!($given, $($length,)? $make).await;
                        next_frame().await;
                    }
                })
            },
            begun: None,
            forget: |given| {
                Box::pin(super::row::forget_all(move || {
                    let $given = &given;
                    let _ = $given;
                    $boxed
                }))
            },
        }
    };
}

/// Polls a wait once with the waker of the caller.
pub(super) async fn poll_once<F: Future + Unpin>(wait: &mut F) -> Poll<F::Output> {
    poll_fn(|cx| Poll::Ready(Pin::new(&mut *wait).poll(cx))).await
}

pub(super) async fn forget_all<W: Wait + Unpin>(make: impl Fn() -> W) {
    forget(make());
    forget(Box::new(make()));
    for boxed in [false, true] {
        let mut begun = make();
        let poll = poll_fn(|cx| Poll::Ready(Pin::new(&mut begun).poll(cx))).await;
        assert!(poll.is_pending());
        if boxed {
            forget(Box::new(begun));
        } else {
            forget(begun);
        }
    }
}
