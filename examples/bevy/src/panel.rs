//! The panel: what each script waits for, from a snapshot of the executor.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use bevy::prelude::*;
use bevy::sprite::Anchor;
use bevy_framestep::framestep::{CoroutineInfo, Snapshot, TimerClock, Wait};
use bevy_framestep::prelude::*;

use crate::art::Drawn;
use crate::layer;
use crate::lines;
use crate::stage::{HALF, PANEL};
use crate::text::line;

/// How many kinds of scripts fit on the panel.
const ROWS: usize = 24;

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
    text("who               waits for", 15.0, gold, 98.0);
    let rows = text("", 15.0, Color::srgb(0.82, 0.86, 0.98), 122.0);
    let keys = "arrows walk  space strikes  esc menu";
    text(
        keys,
        15.0,
        Color::srgb(0.55, 0.58, 0.72),
        2.0 * HALF.y - 30.0,
    );
    world.start_script(move || show(figures, rows));
}

/// The script of the panel: several times a second, even while the game is paused.
async fn show(figures: Entity, rows: Entity) -> Result<(), Missing> {
    loop {
        let snapshot = handle().snapshot().expect("the app is there");
        figures.get_mut(|text: &mut Text2d| text.0 = count(&snapshot))?;
        rows.get_mut(|text: &mut Text2d| text.0 = list(&snapshot))?;
        lines::show(&snapshot);
        wait_seconds_realtime(0.125).await;
    }
}

fn count(snapshot: &Snapshot) -> String {
    let (now, scripts) = (snapshot.time(), snapshot.len());
    let seconds = now.elapsed.as_secs_f32();
    format!(
        "{scripts} scripts at work\nframe {}, {seconds:.1} s",
        now.frame
    )
}

/// A row for each kind of script: how many there are, and what one of them waits for.
fn list(snapshot: &Snapshot) -> String {
    let mut kinds = BTreeMap::<&str, (usize, &CoroutineInfo)>::new();
    for script in snapshot {
        let (count, _) = kinds.entry(short(script.name())).or_insert((0, script));
        *count += 1;
    }
    let mut text = String::new();
    for (name, (count, script)) in kinds.into_iter().take(ROWS) {
        let times = if count > 1 {
            format!(" x{count}")
        } else {
            String::new()
        };
        let who = format!("{name}{times}");
        let what = describe(script, snapshot);
        writeln!(text, "{who:<18}{what:.18}").expect("a string takes everything");
    }
    text
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
        // The type of the event or message.
        Wait::Signal { name, .. } => name.rsplit("::").next().unwrap_or_default().to_string(),
        Wait::Wake { .. } => "the world".to_string(),
        wait => wait.to_string(),
    }
}
