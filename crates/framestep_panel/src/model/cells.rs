//! The texts of one line of the list.

use std::time::Duration;

use framestep::Phase;
use framestep::inspect::{State, TimerClock, Wait};

use super::frame::{Clocks, Frame};
use super::kind::Kind;
use super::script::{Script, Waiting};
use super::text::{clean, duration, place};

/// The texts of a script's line, in the order of the columns.
#[derive(Clone, Debug)]
pub(crate) struct Cells {
    pub(crate) kind: Kind,
    pub(crate) name: String,
    pub(crate) description: String,
    pub(crate) wait: String,
    pub(crate) place: String,
    /// The part of the time that is left.
    pub(crate) left: Option<f32>,
    pub(crate) polls: String,
    /// The time in polls, for each frame.
    pub(crate) average: String,
    pub(crate) longest: String,
}

impl Cells {
    /// `earlier` is the frame from which the average counts.
    pub(crate) fn new(script: &Script, frame: &Frame, earlier: Option<&Frame>) -> Self {
        let known = |text: Option<String>| text.unwrap_or_default();
        let profile = script.profile;
        Cells {
            kind: script.kind,
            name: script.name().to_owned(),
            description: script.description().unwrap_or_default().to_owned(),
            wait: wait(script, frame),
            place: known(script.waits_at().map(place)),
            left: script.left(frame.number(), &frame.clocks),
            polls: known(profile.map(|profile| count(profile.polls))),
            average: known(average(script, frame, earlier).map(duration)),
            longest: known(profile.map(|profile| duration(profile.longest))),
        }
    }
}

/// A number of at most five characters.
pub(crate) fn count(number: u64) -> String {
    match number {
        0..100_000 => number.to_string(),
        100_000..10_000_000 => format!("{} k", number / 1000),
        _ => format!("{} M", number / 1_000_000),
    }
}

fn average(script: &Script, frame: &Frame, earlier: Option<&Frame>) -> Option<Duration> {
    let now = script.profile?;
    let earlier = earlier.filter(|earlier| earlier.number() < frame.number());
    let was = earlier.and_then(|earlier| earlier.script(script.id())?.profile);
    let frames = match (earlier, was) {
        (Some(earlier), Some(_)) => frame.number() - earlier.number(),
        _ => frame.number().saturating_sub(script.who.born),
    };
    let spent = now
        .total
        .saturating_sub(was.map_or(Duration::ZERO, |was| was.total));
    Some(spent / u32::try_from(frames.max(1)).unwrap_or(u32::MAX))
}

/// What the script waits for, in words.
pub(crate) fn wait(script: &Script, frame: &Frame) -> String {
    let name = |id| match frame.script(id) {
        Some(joined) => format!("end of {} ({id})", joined.name()),
        None => format!("end of {id}"),
    };
    write(script, |waiting| match &waiting.wait {
        Wait::Join { id } => name(*id),
        _ => one(waiting, script, frame.number(), &frame.clocks),
    })
}

/// The same with exact times, to tell two runs apart. Only `now` of the frame is used, so
/// the script can be that of another run.
pub(crate) fn wait_for_later(script: &Script, now: &Frame) -> String {
    let is_paused = script.state == State::Paused;
    write(script, |waiting| {
        let mut wait = waiting.wait.clone();
        match &mut wait {
            Wait::FrameCount { left, .. } => {
                let count = waiting.count_left(is_paused, script.changed, now.number());
                *left = count.unwrap_or(*left);
            }
            Wait::Timer { left, clock, .. } => {
                let known = now.clocks.knows(*clock);
                let time = waiting.time_left(is_paused || !known, &now.clocks);
                *left = time.unwrap_or(*left);
            }
            _ => {}
        }
        wait.to_string()
    })
}

fn write(script: &Script, text: impl Fn(&Waiting) -> String) -> String {
    let mut out = match script.state {
        State::Running => "running".to_owned(),
        State::Ready if script.phase == Phase::Update => "ready".to_owned(),
        State::Ready => format!("ready in {}", script.phase),
        State::Paused => "paused".to_owned(),
        _ => String::new(),
    };
    let mut between = if out.is_empty() { "" } else { ": " };
    for waiting in &script.waits {
        out.push_str(between);
        out.push_str(&text(waiting));
        between = " | ";
    }
    out
}

fn one(waiting: &Waiting, script: &Script, frame: u64, clocks: &Clocks) -> String {
    let is_paused = script.state == State::Paused;
    let count = waiting.count_left(is_paused, script.changed, frame);
    let many = |one, many| match count {
        Some(1) => format!("1 {one}"),
        count => format!("{} {many}", count.unwrap_or(0)),
    };
    let mut text = match &waiting.wait {
        Wait::Frame { .. } => "next frame".to_owned(),
        Wait::Run { phase } => return format!("next {phase}"),
        Wait::Condition { .. } => "a condition".to_owned(),
        Wait::FrameCount { .. } => many("frame", "frames"),
        Wait::StepCount { .. } => many("step", "steps"),
        Wait::Timer { clock, .. } => {
            let left = waiting.time_left(is_paused, clocks).unwrap_or_default();
            match clock {
                TimerClock::Game => duration(left),
                TimerClock::Fixed => format!("{} fixed", duration(left)),
                TimerClock::Realtime => format!("{} realtime", duration(left)),
                clock => format!("{} on {clock}", duration(left)),
            }
        }
        Wait::Signal { name, .. } => format!("signal {}", clean(name)),
        Wait::Watch { name, .. } => format!("watch {}", clean(name)),
        Wait::Permit { name, .. } => format!("a permit of {}", clean(name)),
        Wait::Wake { .. } => "a wake".to_owned(),
        Wait::Never => return "nothing: never resumes".to_owned(),
        other => return clean(&other.to_string()),
    };
    if let Some(phase) = waiting.wait.phase().filter(|phase| *phase != Phase::Update) {
        text.push_str(&format!(" in {phase}"));
    }
    text
}
