//! The scripts, and what they call.

/// Also what the modules of the scripts import.
#[allow(unused_imports)]
pub(crate) use framestep_durable::prelude::*;

pub(crate) type Story = Vec<String>;

pub(crate) const KEY: Signal<()> = signal("key");

pub(crate) fn tell(text: &str) {
    let text = text.to_owned();
    with(move |story: &mut Story| story.push(text));
}

pub(crate) async fn line(text: &str, frames: u64) {
    tell(text);
    wait_frames(frames).await;
}

/// A script in two builds.
pub(crate) struct Case {
    pub(crate) name: &'static str,
    pub(crate) before: fn() -> Registry,
    pub(crate) after: fn() -> Registry,
    pub(crate) begin: fn(&Runtime),
    pub(crate) begin_after: fn(&Runtime),
}

macro_rules! case {
    ($script:ident, $change:ident, $name:literal) => {
        Case {
            name: $name,
            before: || Registry::new().script($script::before::talk),
            after: || Registry::new().script($script::$change::talk),
            begin: |runtime| runtime.spawn($script::before::talk()).detach(),
            begin_after: |runtime| runtime.spawn($script::$change::talk()).detach(),
        }
    };
}

#[allow(unused_imports, clippy::all, clippy::pedantic)]
mod generated {
    use super::*;

    include!(concat!(env!("OUT_DIR"), "/generated.rs"));
}

pub(crate) use generated::CASES;
