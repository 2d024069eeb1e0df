//! The numbers of the executor: what coroutines wait for, how long frames took.

use std::collections::{BTreeMap, VecDeque};

use framestep::inspect::{CoroutineInfo, Snapshot, State, Wait};
use framestep::prelude::*;

use crate::numbers::real;
use crate::platform::{self, stopwatch};

#[path = "../../shared/lines.rs"]
mod lines;

/// How many frames the strip shows.
pub(crate) const FRAMES: usize = 116;

/// Frames from one snapshot to the next.
const EVERY: u64 = 15;

/// The numbers of a frame.
#[derive(Default)]
pub(crate) struct Figures {
    pub(crate) frame: usize,
    pub(crate) coroutines: usize,
    /// How long the executor took, on average over the strip.
    pub(crate) milliseconds: f32,
}

#[derive(Default)]
pub(crate) struct Overlay {
    pub(crate) figures: Figures,
    /// How long the executor took in each of the last frames, in milliseconds.
    pub(crate) strip: VecDeque<f32>,
    /// How many coroutines wait for each kind of event.
    pub(crate) waits: Vec<(&'static str, usize)>,
    /// The most frequent scripts.
    pub(crate) scripts: Vec<(String, usize)>,
    /// How long the latest snapshot took, in milliseconds.
    pub(crate) snapshot_took: f32,
    /// The most coroutines at once so far.
    pub(crate) most: usize,
    /// The longest time that the executor took for a frame, in milliseconds.
    pub(crate) longest: f32,
}

impl Overlay {
    /// Records a frame that took the executor `took` milliseconds.
    pub(crate) fn note(&mut self, executor: &Executor, took: f32) {
        let frame = executor.time().frame;
        self.strip.push_back(took);
        if self.strip.len() > FRAMES {
            self.strip.pop_front();
        }
        self.most = self.most.max(executor.len());
        self.longest = self.longest.max(took);
        self.figures = Figures {
            frame: usize::try_from(frame).unwrap_or(usize::MAX),
            coroutines: executor.len(),
            milliseconds: self.strip.iter().sum::<f32>() / real(self.strip.len()),
        };
        if frame % EVERY == 1 {
            let began = stopwatch();
            let snapshot = executor.snapshot();
            self.snapshot_took = stopwatch().saturating_sub(began).as_secs_f32() * 1_000.0;
            self.waits = count_waits(&snapshot);
            self.scripts = count_scripts(&snapshot);
            if platform::shows_lines() {
                platform::tell_lines(&lines::of(&snapshot));
            }
        }
    }

    /// The longest time of the strip.
    pub(crate) fn peak(&self) -> f32 {
        self.strip.iter().copied().fold(0.0, f32::max)
    }
}

const KINDS: [&str; 9] = [
    "next frame",
    "timer",
    "signal or timer",
    "signal",
    "watch",
    "condition",
    "join",
    "other",
    "paused",
];

/// What a coroutine waits for.
fn kind(coroutine: &CoroutineInfo) -> &'static str {
    if coroutine.state() == State::Paused {
        return "paused";
    }
    let is_signal = |wait: &Wait| matches!(wait, Wait::Signal { .. });
    match coroutine.waits().next() {
        Some(Wait::Timer { .. }) if coroutine.waits().any(is_signal) => "signal or timer",
        Some(Wait::Frame { .. }) => "next frame",
        Some(Wait::Timer { .. }) => "timer",
        Some(Wait::Signal { .. }) => "signal",
        Some(Wait::Watch { .. }) => "watch",
        Some(Wait::Condition { .. }) => "condition",
        Some(Wait::Join { .. }) => "join",
        _ => "other",
    }
}

fn count_waits(snapshot: &Snapshot) -> Vec<(&'static str, usize)> {
    let mut counts = KINDS.map(|kind| (kind, 0));
    for coroutine in snapshot {
        let kind = kind(coroutine);
        for (name, count) in &mut counts {
            *count += usize::from(*name == kind);
        }
    }
    counts.to_vec()
}

fn count_scripts(snapshot: &Snapshot) -> Vec<(String, usize)> {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for coroutine in snapshot {
        *counts.entry(coroutine.name()).or_default() += 1;
    }
    let mut counts: Vec<_> = counts.into_iter().collect();
    counts.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    let shown = counts.into_iter().take(4);
    shown
        .map(|(name, count)| (short(name).to_owned(), count))
        .collect()
}

/// The path of an `async fn` without that of the crate.
fn short(name: &str) -> &str {
    name.split_once("::").map_or(name, |(_, rest)| rest)
}
