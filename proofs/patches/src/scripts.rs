//! The scripts, and what they call.

/// Also what the modules of the scripts import.
#[allow(unused_imports)]
pub(crate) use framestep_durable::{place, prelude::*};

pub(crate) type Story = Vec<String>;

pub(crate) const KEY: Signal<()> = signal("key");

/// An entry of a list.
#[derive(Debug)]
#[expect(dead_code, reason = "what is not told")]
pub(crate) struct Entry {
    pub(crate) of: u32,
    pub(crate) text: &'static str,
}

/// One that does not say what it is.
pub(crate) struct Bare(pub(crate) &'static str);

/// The number of an item, whatever its text.
pub(crate) fn number_of(item: &str) -> u32 {
    let (number, _) = item.split_once('.').expect("an item");
    number.parse().expect("a number")
}

/// A text, and the items of the lists around it.
pub(crate) fn tell(text: &[&str]) {
    let text = text.join(":");
    with(move |story: &mut Story| story.push(text));
}

pub(crate) async fn line(text: &[&str], frames: u64) {
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

#[allow(unused, non_snake_case, clippy::all, clippy::pedantic)]
mod generated {
    use super::*;

    include!(concat!(env!("OUT_DIR"), "/generated.rs"));
}

pub(crate) use generated::CASES;
