//! Saves of one build in another: each change that a studio makes to a script, saved after each frame of the
//! one build, compact and described, and loaded by the other. The two builds are two modules. A save goes on
//! right, or is refused for a reason that is right. It is never another story.

#![allow(
    dead_code,
    unreachable_pub,
    reason = "a build is a module in a function"
)]

mod begins;
mod calls;
mod data;
mod folder;
mod forged;
mod format;
mod held;
mod helpers;
mod lines;
mod list_names;
mod lists;
mod shapes;
mod stored;
mod told;
mod types;
mod unclear;
mod waits;

use framestep_durable::prelude::*;

/// What was said and paid, in order.
pub(crate) type Story = Vec<String>;

pub(crate) const KEY: Signal<()> = signal("key");
pub(crate) const HIT: Signal<u32> = signal("hit");
pub(crate) const HEAL: Signal<u32> = signal("heal");

pub(crate) fn say(text: impl Into<String>) {
    let text: String = text.into();
    with(move |story: &mut Story| story.push(text));
}

/// A line of a dialogue: what most scripts of games consist of.
pub(crate) async fn line(text: &str) {
    say(text);
    wait_seconds(0.5).await;
}

/// The two builds.
pub(crate) struct Builds {
    pub(crate) before: fn() -> Registry,
    pub(crate) after: fn() -> Registry,
    /// Starts the script.
    pub(crate) begin: fn(&Runtime),
    pub(crate) begin_after: fn(&Runtime),
}

/// Two bodies of a script without parameters.
macro_rules! builds {
    ({ $($before:tt)* } => { $($after:tt)* }) => {
        crate::patched::talks!({
            #[durable]
            pub async fn talk() { $($before)* }
        } => {
            #[durable]
            pub async fn talk() { $($after)* }
        })
    };
}

/// Two builds of a script `talk`, each with items of its own.
macro_rules! talks {
    ({ $($before:tt)* } => { $($after:tt)* }) => {
        crate::patched::talks!({ $($before)* } => { $($after)* } with talk() => talk())
    };
    ({ $($before:tt)* } and $other:ident => { $($after:tt)* } and $other_after:ident) => {
        crate::patched::modules!({
            $($before)*
            pub(super) fn registry() -> Registry { Registry::new().script(talk).script($other) }
            pub(super) fn begin() -> impl DurableScript { talk() }
        } => {
            $($after)*
            pub(super) fn registry() -> Registry { Registry::new().script(talk).script($other_after) }
            pub(super) fn begin() -> impl DurableScript { talk() }
        })
    };
    ({ $($before:tt)* } => { $($after:tt)* } with $value:expr => $value_after:expr) => {
        crate::patched::modules!({
            $($before)*
            pub(super) fn registry() -> Registry { Registry::new().script(talk) }
            pub(super) fn begin() -> impl DurableScript { $value }
        } => {
            $($after)*
            pub(super) fn registry() -> Registry { Registry::new().script(talk) }
            pub(super) fn begin() -> impl DurableScript { $value_after }
        })
    };
}

/// Two builds with items of their own, among them a registry and what begins. What is before `=>` is the earlier
/// build.
macro_rules! modules {
    ({ $($before:tt)* } => { $($after:tt)* }) => {{
        mod before {
            #[allow(unused_imports, reason = "not each build needs all")]
            use {crate::patched::*, framestep_durable::place, framestep_durable::prelude::*};
            $($before)*
        }
        mod after {
            #[allow(unused_imports, reason = "not each build needs all")]
            use {crate::patched::*, framestep_durable::place, framestep_durable::prelude::*};
            $($after)*
        }
        crate::patched::Builds {
            before: before::registry,
            after: after::registry,
            begin: |runtime| runtime.spawn(before::begin()).detach(),
            begin_after: |runtime| runtime.spawn(after::begin()).detach(),
        }
    }};
}

pub(crate) use {builds, modules, talks};

const FRAMES: usize = 60;

fn frame(runtime: &mut Runtime, story: &mut Story, number: usize) {
    match number {
        9 | 21 | 33 => runtime.named(&KEY).emit(()),
        12 | 30 => runtime.named(&HIT).emit(5),
        17 | 40 => runtime.named(&HEAL).emit(3),
        _ => {}
    }
    runtime.run_frame_with(story, 0.1);
}

fn plays(registry: fn() -> Registry, begin: fn(&Runtime)) -> Story {
    let (mut runtime, mut story) = (Runtime::new(registry()), Story::new());
    begin(&runtime);
    for number in 0..FRAMES {
        frame(&mut runtime, &mut story, number);
    }
    story
}

/// What has become of the saves.
#[derive(Debug, Default)]
pub(crate) struct Outcomes {
    /// The frames after which a save went on right.
    pub(crate) right: Vec<usize>,
    pub(crate) refused: Vec<(usize, String)>,
    /// What the loads have gone past.
    pub(crate) passed: Vec<String>,
}

impl Outcomes {
    /// All saves go on.
    #[track_caller]
    pub(crate) fn are_right(&self) -> &Self {
        assert_eq!(self.refused, [], "each save goes on");
        self
    }

    /// The saves after these frames are refused for this reason, and all others go on.
    #[track_caller]
    pub(crate) fn are_refused(&self, frames: std::ops::Range<usize>, why: &str) -> &Self {
        let refused: Vec<usize> = self.refused.iter().map(|(frame, _)| *frame).collect();
        let twice: Vec<usize> = frames.flat_map(|frame| [frame, frame]).collect();
        assert_eq!(refused, twice, "{:#?}", self.refused.first());
        for (frame, reason) in &self.refused {
            assert!(reason.contains(why), "frame {frame}: {reason}");
        }
        self
    }

    /// A load says that.
    #[track_caller]
    pub(crate) fn say(&self, what: &str) -> &Self {
        let says = self.passed.iter().any(|passed| passed.contains(what));
        assert!(says, "{:#?}", self.passed);
        self
    }
}

/// Saves after each frame of the one build, and loads in the other.
#[track_caller]
pub(crate) fn loads(builds: &Builds) -> Outcomes {
    let full_before = plays(builds.before, builds.begin);
    let full_after = plays(builds.after, builds.begin_after);
    let registry = (builds.before)();
    let (mut runtime, mut story) = (Runtime::new(registry.clone()), Story::new());
    (builds.begin)(&runtime);
    let mut outcomes = Outcomes::default();
    for number in 0..FRAMES {
        frame(&mut runtime, &mut story, number);
        let save = runtime.save().unwrap();
        let described = save.described(&registry).unwrap();
        for save in [save, described] {
            let file = save.to_bytes_with(&story);
            let (save, mut told) = SaveState::from_bytes_with::<Story>(&file).unwrap();
            let check = (builds.after)().check(&save);
            let mut other = Runtime::new((builds.after)());
            let restored = match other.restore(&save, Policy::Fail) {
                Err(error) => {
                    assert_ne!(check, [], "frame {number}: the check says that it fits");
                    outcomes.refused.push((number, error.to_string()));
                    continue;
                }
                Ok(restored) => restored,
            };
            assert_eq!(
                check,
                [],
                "frame {number}: the check says that it does not fit"
            );
            let passed = restored.passed.iter().map(ToString::to_string);
            outcomes.passed.extend(passed);
            let said_before = told.len();
            for after in number + 1..FRAMES {
                frame(&mut other, &mut told, after);
                if after == number + 3 {
                    other = saved_again(&other, builds.after);
                }
            }
            judge(&full_before, &full_after, &told, said_before, number);
            outcomes.right.push(number);
        }
    }
    outcomes
}

/// The same runtime, saved and loaded by its own build: nothing has changed there.
fn saved_again(runtime: &Runtime, registry: fn() -> Registry) -> Runtime {
    let file = runtime.save().unwrap().to_bytes();
    let mut other = Runtime::new(registry());
    let save = SaveState::from_bytes(&file).unwrap();
    let restored = other.restore(&save, Policy::Fail).unwrap();
    assert_eq!(restored.passed, [], "saved again by its own build");
    other
}

/// A story that two builds have told is right if nothing is told twice, nothing that both tell is missing,
/// and after the load only what the later build tells, in its order.
#[track_caller]
fn judge(before: &Story, after: &Story, told: &Story, said_before: usize, frame: usize) {
    let count = |story: &Story, text: &String| story.iter().filter(|it| *it == text).count();
    for text in told {
        let most = count(before, text).max(count(after, text));
        assert!(
            count(told, text) <= most,
            "frame {frame}: {text:?} is told twice: {told:?}"
        );
    }
    for text in before {
        let least = count(before, text).min(count(after, text));
        assert!(
            count(told, text) >= least,
            "frame {frame}: {text:?} is missing: {told:?}"
        );
    }
    let mut rest = after.iter();
    for text in &told[said_before..] {
        assert!(
            rest.any(|it| it == text),
            "frame {frame}: {text:?} is told out of order: {told:?}"
        );
    }
}
