//! The statement that runs.
//!
//! Notes stand before each statement. In debug builds they are calls: inlined, they were a seventh of the code of
//! scripts there.

use std::cell::Cell;
use std::fmt::{self, Write as _};
use std::future::{Future, IntoFuture};
use std::pin::Pin;
use std::task::{Context, Poll};

use pin_project::pin_project;

use crate::bytes::hash::{FNV, fnv};
use crate::places::watch;
use crate::script::context;

/// A statement, and the item of a list for which it runs: in the lower half the number of the
/// statement, in the upper half the hash of the label, or 0.
pub(crate) type Here = u64;

thread_local! {
    /// The statement of the current script.
    static HERE: Cell<Here> = const { Cell::new(0) };
}

const LABEL: Here = !0 << 32;

/// Notes that a statement begins, for the same item.
#[cfg_attr(not(debug_assertions), inline(always))]
pub fn note_place(number: u16) {
    set(place_of(number));
}

#[cfg_attr(not(debug_assertions), inline(always))]
fn set(here: Here) {
    HERE.set(here);
    watch::note(here);
}

/// Notes that a loop begins whose turns a save tells.
pub fn begin_turns(number: u16) {
    context::note_turn(number, false);
}

/// Notes that the next turn of it begins.
pub fn begin_turn(number: u16) {
    context::note_turn(number, true);
}

/// Notes what the turn is about, if that is told.
pub fn item_of_loop(number: u16, told: u32) {
    if told != 0 {
        context::note_loop(|loops| loops.item(u32::from(number), told));
    }
}

/// A statement, for the item of now.
#[cfg_attr(not(debug_assertions), inline(always))]
#[must_use]
pub fn place_of(number: u16) -> u64 {
    HERE.get() & LABEL | u64::from(number)
}

#[cfg_attr(not(debug_assertions), inline(always))]
pub(crate) fn here() -> Here {
    HERE.get()
}

/// Puts another statement in the place of this one, and returns this one.
#[cfg_attr(not(debug_assertions), inline(always))]
pub(crate) fn replace(here: Here) -> Here {
    watch::note(here);
    HERE.replace(here)
}

/// The label of the item of now.
pub(crate) fn label() -> u32 {
    label_of(here())
}

pub(crate) fn label_of(here: Here) -> u32 {
    u32::try_from(here >> 32).expect("the upper half")
}

pub(crate) fn number_of(here: Here) -> u32 {
    u32::try_from(here & !LABEL).expect("the lower half")
}

pub(crate) fn joined(number: u32, label: u32) -> Here {
    Here::from(label) << 32 | Here::from(number)
}

/// Notes that another item begins.
pub(crate) fn note_label(label: u32) {
    set(HERE.get() & !LABEL | Here::from(label) << 32);
}

/// The hash of a label, for an item of an outer one. Never 0.
pub(crate) fn hash_of_label(label: &dyn fmt::Display, outer: u32) -> u32 {
    struct Hash(u32);
    impl fmt::Write for Hash {
        fn write_str(&mut self, text: &str) -> fmt::Result {
            self.0 = fnv(text.as_bytes(), self.0);
            Ok(())
        }
    }
    let mut hash = Hash(FNV ^ outer);
    let written = write!(hash, "{label}");
    assert!(written.is_ok(), "a label has a text");
    hash.0.max(1)
}

/// A branch of a macro that polls several futures. It is a future, since such a macro may be that of another crate.
///
/// Its operand becomes a future when it is polled first, as the `async fn` does that it stands for in a plain script: a
/// state starts its script then, and not at all in a branch that is never polled.
#[derive(Debug)]
#[must_use]
#[pin_project]
pub struct At<F: IntoFuture> {
    /// Its statement.
    pub place: u64,
    /// What it awaits.
    #[pin]
    pub branch: Branch<F, F::IntoFuture>,
}

/// What a branch awaits.
#[derive(Debug)]
#[pin_project(project = Projected, project_replace = Owned)]
pub enum Branch<F, Future> {
    /// It has not been polled.
    New {
        /// Its operand.
        operand: F,
    },
    /// It has.
    Begun {
        /// Its future.
        #[pin]
        future: Future,
    },
    /// The operand has panicked.
    Taken,
}

impl<F: IntoFuture> Future for At<F> {
    type Output = F::Output;

    #[cfg_attr(not(debug_assertions), inline(always))]
    #[track_caller]
    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<F::Output> {
        let mut this = self.project();
        let before = replace(*this.place);
        if let Projected::New { .. } = this.branch.as_mut().project() {
            if let Owned::New { operand } = this.branch.as_mut().project_replace(Branch::Taken) {
                let future = operand.into_future();
                this.branch.set(Branch::Begun { future });
            }
        }
        let polled = match this.branch.project() {
            Projected::Begun { future } => future.poll(cx),
            Projected::New { .. } | Projected::Taken => {
                panic!("a branch was polled again after a panic")
            }
        };
        *this.place = replace(before);
        polled
    }
}

/// A future that may be polled in turns with others: it has a note of its own, which holds whenever it is
/// polled.
#[derive(Debug)]
#[must_use]
#[pin_project]
pub struct InPlace<F> {
    /// The statement that runs in it.
    pub place: u64,
    /// The future.
    #[pin]
    pub future: F,
}

impl<F: Future> Future for InPlace<F> {
    type Output = F::Output;

    #[cfg_attr(not(debug_assertions), inline(always))]
    #[track_caller]
    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<F::Output> {
        let this = self.project();
        let before = replace(*this.place);
        let polled = this.future.poll(cx);
        *this.place = replace(before);
        polled
    }
}
