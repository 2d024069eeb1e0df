//! Values with destructors that do anything.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use framestep_testkit::watched::{Token, fault};

use super::operations::{Site, occasionally};
use super::world::{Mood, World};

/// The text of a panic on purpose.
pub(super) const CHAOS: &str = "chaos";

/// Panics sometimes, where that does not abort the process.
pub(super) fn maybe_panic(one_in: u64) {
    let Some(world) = World::find() else { return };
    if world.mood != Mood::Panics || std::thread::panicking() || !world.one_in(one_in) {
        return;
    }
    if world.one_in(3) {
        // Its own destructor also does anything.
        resume_unwind(Box::new(Grenade::new(Site::Payload)));
    }
    resume_unwind(Box::new(CHAOS));
}

/// Calls `f`; if it panics, drops the payload, and the payloads of panics in that
/// drop.
pub(super) fn survive<R>(f: impl FnOnce() -> R) -> Option<R> {
    let mut payload = match catch_unwind(AssertUnwindSafe(f)) {
        Ok(result) => return Some(result),
        Err(payload) => payload,
    };
    while let Err(next) = catch_unwind(AssertUnwindSafe(|| drop(payload))) {
        payload = next;
    }
    None
}

/// A value that does anything when it is dropped: a local of a future, an output,
/// a payload.
pub(super) struct Grenade {
    token: Token,
    site: Site,
}

// SAFETY: grenades stay on their thread: they are payloads of panics, which must
// be `Send`, but no thread here passes on its panics.
unsafe impl Send for Grenade {}

impl Grenade {
    pub(super) fn new(site: Site) -> Self {
        let token = Token::new(site.name());
        Grenade { token, site }
    }

    pub(super) fn check(&self) {
        if !self.token.is_alive() {
            fault("a value is used after its drop");
        }
    }
}

impl Drop for Grenade {
    fn drop(&mut self) {
        self.check();
        let deep = World::find().is_some_and(|world| world.mood == Mood::Deep);
        let one_in = if deep { 1 } else { 3 };
        if self.site == Site::Payload {
            // A payload whose destructor panics may leak, and so may the second
            // payload.
            survive(|| occasionally(one_in, self.site));
            return;
        }
        occasionally(one_in, self.site);
        maybe_panic(40);
    }
}

/// An event that does anything when cloned or dropped.
pub(super) struct Event(Token);

impl Event {
    pub(super) fn new() -> Self {
        Event(Token::new("an event"))
    }
}

impl Clone for Event {
    fn clone(&self) -> Self {
        if !self.0.is_alive() {
            fault("an event is cloned after its drop");
        }
        occasionally(10, Site::Event);
        maybe_panic(60);
        Event::new()
    }
}

impl Drop for Event {
    fn drop(&mut self) {
        occasionally(10, Site::Event);
    }
}
