//! The panel: what each script waits for, from a snapshot of the executor.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use bevy::prelude::*;
use bevy::sprite::Anchor;
use bevy_framestep::durable::DurableRuntime;
use bevy_framestep::framestep::inspect::{CoroutineInfo, Snapshot, TimerClock, Wait};
use bevy_framestep::prelude::*;

use crate::art::Drawn;
use crate::layer;
use crate::lines;
use crate::stage::{HALF, PANEL};
use crate::text::line;

/// How many kinds of scripts fit on the panel, and how many letters into a row.
const ROWS: usize = 24;
const LETTERS: usize = 38;

/// The size of the letters in rows: all are equally wide.
const SMALL: f32 = 14.0;

pub(crate) fn spawn(world: &mut World, stage: Entity) {
    let size = vec2(PANEL, 2.0 * HALF.y);
    let sheet = Drawn::plain(Color::srgb(0.05, 0.045, 0.085), size);
    let place = Transform::from_xyz(HALF.x - PANEL / 2.0, 0.0, layer::DISPLAY);
    let sheet = world.spawn((sheet, place, ChildOf(stage))).id();
    let edge = Drawn::plain(Color::srgb(0.55, 0.42, 0.25), vec2(2.0, size.y));
    world.spawn((
        edge,
        Transform::from_xyz(-PANEL / 2.0, 0.0, 0.1),
        ChildOf(sheet),
    ));
    let left = 18.0 - PANEL / 2.0;
    let mut text = |words, size, colour, y| {
        let place = Transform::from_xyz(left, HALF.y - y, layer::TEXT - layer::DISPLAY);
        let text = (line(words, size, colour), Anchor::TOP_LEFT, place);
        world.spawn((text, ChildOf(sheet))).id()
    };
    let gold = Color::srgb(1.0, 0.82, 0.45);
    text("framestep", 28.0, gold, 14.0);
    let figures = text("", 15.0, Color::srgb(0.75, 0.8, 0.95), 52.0);
    text("who waits for what", SMALL, gold, 98.0);
    let rows = text("", SMALL, Color::srgb(0.82, 0.86, 0.98), 122.0);
    let grey = Color::srgb(0.55, 0.58, 0.72);
    let keys = "arrows walk  space strikes  esc menu\nF5 saves the fight   F9 loads it";
    text(keys, SMALL, grey, 2.0 * HALF.y - 46.0);
    world.start_script(move || show(figures, rows));
}

/// The script of the panel: several times a second, even while the game is paused.
async fn show(figures: Entity, rows: Entity) -> Result<(), Missing> {
    loop {
        let plain = handle().snapshot().expect("the app is there");
        let durable = with_ref(|world: &World| {
            let scripts = world.non_send::<DurableRuntime>();
            scripts.with_runtime(|runtime| runtime.executor().snapshot())
        });
        let all = [plain, durable];
        figures.get_mut(|text: &mut Text2d| text.0 = count(&all))?;
        rows.get_mut(|text: &mut Text2d| text.0 = list(&all))?;
        lines::show(&all);
        wait_seconds_realtime(0.125).await;
    }
}

fn count(all: &[Snapshot]) -> String {
    let scripts: usize = all.iter().map(Snapshot::len).sum();
    let now = all[0].time();
    let seconds = now.elapsed.as_secs_f32();
    format!(
        "{scripts} scripts at work\nframe {}, {seconds:.1} s",
        now.frame
    )
}

/// A row for each kind of script: how many there are, and what one of them waits for.
fn list(all: &[Snapshot]) -> String {
    let mut kinds = BTreeMap::<&str, (usize, String)>::new();
    for snapshot in all {
        for script in snapshot {
            let first = || (0, describe(script, snapshot));
            let (count, _) = kinds.entry(short(script.name())).or_insert_with(first);
            *count += 1;
        }
    }
    let rows = kinds.into_iter().take(ROWS);
    let rows: Vec<_> = rows
        .map(|(name, (count, what))| match count {
            1 => (name.to_string(), what),
            _ => (format!("{name} x{count}"), what),
        })
        .collect();
    let width = rows.iter().map(|(who, _)| who.len()).max().unwrap_or(0) + 2;
    let mut text = String::new();
    for (who, what) in rows {
        let what = fit(&what, LETTERS.saturating_sub(width).max(4));
        writeln!(text, "{who:<width$}{what}").expect("a string takes everything");
    }
    text
}

/// As much of it as fits, to the end of a word.
fn fit(text: &str, letters: usize) -> String {
    if text.len() <= letters {
        return text.to_string();
    }
    let begin: String = text.chars().take(letters - 2).collect();
    let words = begin
        .rsplit_once(' ')
        .map_or(begin.as_str(), |(words, _)| words);
    format!("{}..", words.trim_end_matches([' ', '/', ',']))
}

/// The module of an `async fn`, and as much of its name as fits.
fn short(name: &str) -> &str {
    let name = name.strip_prefix("framestep_bevy::").unwrap_or(name);
    name.split("::").next().unwrap_or(name)
}

/// Everything that it waits for. If there are several, the first to end resumes it.
fn describe(script: &CoroutineInfo, snapshot: &Snapshot) -> String {
    let mut waits: Vec<String> = script.waits().map(|wait| word(wait, snapshot)).collect();
    waits.dedup();
    match waits.join(" / ") {
        none if none.is_empty() => "runs".to_string(),
        all => all,
    }
}

fn word(wait: &Wait, snapshot: &Snapshot) -> String {
    match wait {
        Wait::Frame { .. } => "frame".to_string(),
        Wait::FrameCount { left, .. } => format!("{left} frames"),
        Wait::Timer { left, clock, .. } => {
            let left = left.as_secs_f32();
            match clock {
                TimerClock::Game => format!("{left:.1} s"),
                TimerClock::Realtime => format!("{left:.1} s real"),
                _ => format!("{left:.1} s, foes"),
            }
        }
        Wait::Join { id } => {
            let joined = snapshot.get(*id);
            let name = joined.map_or("its end", |joined| short(joined.name()));
            format!("the {name}")
        }
        // The type of the event or message, without the entity.
        Wait::Signal { name, .. } => {
            let name = name.split(" of ").next().unwrap_or_default();
            name.rsplit("::").next().unwrap_or_default().to_string()
        }
        // What, without the entity and the article.
        Wait::Other { what, .. } => {
            let what = what.split(" of entity ").next().unwrap_or_default();
            let words = what
                .strip_prefix("a ")
                .or_else(|| what.strip_prefix("the "));
            words.unwrap_or(what).to_string()
        }
        Wait::Wake { .. } => "the world".to_string(),
        wait => wait.to_string(),
    }
}
