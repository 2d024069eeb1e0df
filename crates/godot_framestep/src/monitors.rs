//! What the debugger's monitors show.

use std::cell::{Cell, OnceCell};
use std::rc::Rc;

use framestep::Handle;
use framestep::inspect::{TraceHook, TraceKind};
use godot::builtin::Callable;
use godot::classes::Performance;
use godot::prelude::*;

use crate::host::Shared;

/// How many scripts there are.
const SCRIPTS: &str = "framestep/scripts";
/// How often scripts were polled in the last frame and its steps.
const POLLS: &str = "framestep/polls";

/// Counts polls from the first question on: before, it costs nothing.
#[derive(Default)]
pub(crate) struct Polls {
    hook: OnceCell<TraceHook>,
    counted: Rc<Cell<u32>>,
    last: Cell<u32>,
}

impl Polls {
    pub(crate) fn begin_frame(&self) {
        self.last.set(self.counted.take());
    }

    fn in_last_frame(&self, executor: &Handle) -> u32 {
        if self.hook.get().is_none() {
            let counted = self.counted.clone();
            let hook = executor.on_trace(move |event| {
                if matches!(event.kind, TraceKind::Resumed { .. }) {
                    counted.set(counted.get() + 1);
                }
            });
            drop(self.hook.set(hook));
        }
        self.last.get()
    }
}

/// The callables are removed before the extension is: Godot does not survive a monitor that is
/// left.
pub(crate) fn add() {
    let mut performance = Performance::singleton();
    performance.add_custom_monitor(SCRIPTS, &Callable::from_fn(SCRIPTS, |_| scripts()));
    performance.add_custom_monitor(POLLS, &Callable::from_fn(POLLS, |_| polls()));
}

pub(crate) fn remove() {
    for monitor in [SCRIPTS, POLLS] {
        Performance::singleton().remove_custom_monitor(monitor);
    }
}

pub(crate) fn scripts() -> u32 {
    let count = Shared::get().map_or(0, |shared| shared.count());
    u32::try_from(count).unwrap_or(u32::MAX)
}

pub(crate) fn polls() -> u32 {
    Shared::get().map_or(0, |shared| shared.polls.in_last_frame(&shared.handle))
}
