//! What the debugger of the editor can ask: the tab of `addons/framestep` does.

use godot::builtin::Callable;
use godot::classes::EngineDebugger;
use godot::prelude::*;

use crate::host::FramestepHost;
use crate::monitors;

/// The first part of the names of messages.
const CAPTURE: &str = "framestep";
/// No message has more, so that the debugger does not stop at a long one.
const SHOWN: usize = 1_000;

/// Without a debugger it costs nothing.
pub(crate) fn add() {
    let mut debugger = EngineDebugger::singleton();
    if debugger.is_active() && !debugger.has_capture(CAPTURE) {
        debugger.register_message_capture(CAPTURE, &Callable::from_fn(CAPTURE, answer));
        debugger.send_message("framestep:host", &varray![true]);
    }
}

pub(crate) fn remove() {
    let mut debugger = EngineDebugger::singleton();
    if debugger.is_active() && debugger.has_capture(CAPTURE) {
        debugger.send_message("framestep:host", &varray![false]);
        debugger.unregister_message_capture(CAPTURE);
    }
}

/// Whether it knows the message.
fn answer(message: &[&Variant]) -> bool {
    if message.first().map(ToString::to_string).as_deref() != Some("list") {
        return false;
    }
    let (count, polls) = (monitors::scripts(), monitors::polls());
    let scripts = FramestepHost::list(SHOWN);
    EngineDebugger::singleton().send_message(
        "framestep:scripts",
        &varray![count, polls, &scripts.to_variant()],
    );
    true
}
