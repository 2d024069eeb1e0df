//! What is compared.

use std::cell::RefCell;
use std::fmt::Debug;

use framestep::Executor;

use crate::twin::{Game, Log};

thread_local! {
    static PRINTED: RefCell<Log> = const { RefCell::new(Vec::new()) };
}

/// Keeps a line that a plain script prints.
pub(crate) fn keep(line: String) {
    PRINTED.with_borrow_mut(|printed| printed.push(line));
}

/// All that plain scripts have printed.
pub(crate) fn printed((): &()) -> String {
    PRINTED.with_borrow(|printed| printed.join("\n"))
}

/// What a durable script does instead of printing, because a replay must not print again.
macro_rules! note {
    ($($text:tt)*) => {{
        let line = format!($($text)*);
        framestep_durable::with(move |log: &mut $crate::twin::Log| log.push(line));
    }};
}

pub(crate) use note;

/// All that durable scripts have printed.
pub(crate) fn lines(log: &Log) -> String {
    log.join("\n")
}

/// A plain script with its host.
pub(crate) struct Plain<W> {
    pub(crate) begin: fn(&mut W) -> Executor,
    pub(crate) frame: fn(u32, &mut Executor, &mut W),
    pub(crate) shown: fn(&W) -> String,
}

impl<W: Default> Plain<W> {
    /// What is to be seen after each of the first frames.
    pub(crate) fn film(&self, frames: u32) -> Vec<String> {
        let mut world = W::default();
        let mut executor = (self.begin)(&mut world);
        let frame = |frame| {
            (self.frame)(frame, &mut executor, &mut world);
            (self.shown)(&world)
        };
        (1..=frames).map(frame).collect()
    }
}

/// Plays the port beside the original, and the port beside its twins that are saved, loaded and
/// rolled back.
#[track_caller]
pub(crate) fn assert_same<W>(film: &[String], game: &Game<W>, shown: fn(&W) -> String)
where
    W: Clone + Default + Debug + PartialEq + 'static,
{
    assert!(
        film.iter().any(|frame| *frame != film[0]),
        "nothing happens"
    );
    let mut world = W::default();
    let mut runtime = (game.blank)();
    (game.begin)(&mut runtime, &mut world);
    for (frame, expected) in (0..).zip(film) {
        (game.frame)(frame, &mut runtime, &mut world);
        assert_eq!(shown(&world), *expected, "after frame {}", frame + 1);
    }
    let end = game.assert_like_its_twin();
    assert_eq!(Some(&shown(&end)), film.last());
}

/// Makes a test of each folder: its name, and how many frames are played.
macro_rules! ports {
    ($($name:ident: $frames:literal;)*) => {
        $(
            mod $name {
                pub(super) mod durable;
                pub(super) mod plain;
            }

            #[test]
            fn $name() {
                let plain = $crate::ported::harness::Plain {
                    begin: $name::plain::begin,
                    frame: $name::plain::frame,
                    shown: $name::plain::shown,
                };
                let game = $crate::twin::Game {
                    blank: $name::durable::blank,
                    begin: $name::durable::begin,
                    frame: |frame, runtime, world| {
                        $name::durable::frame(frame + 1, runtime, world);
                    },
                    frames: $frames,
                };
                let shown = $name::durable::shown;
                $crate::ported::harness::assert_same(&plain.film($frames), &game, shown);
            }
        )*
    };
}

pub(crate) use ports;
