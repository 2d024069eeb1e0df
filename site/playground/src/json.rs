//! A run as JSON, for the page.

use std::collections::HashMap;
use std::fmt::{Display, Write};

use framestep::Phase;
use framestep::inspect::Wait;
use framestep::task::{CoroutineId, Outcome};

use crate::error::Error;
use crate::run::{Run, What};

/// The run, or what is wrong with the script, as JSON.
pub fn json(result: &Result<Run, Error>) -> String {
    match result {
        Err(error) => object(&[("error", mistake(error))]),
        Ok(run) => whole(run),
    }
}

fn whole(run: &Run) -> String {
    let numbers: HashMap<_, _> = run
        .scripts
        .iter()
        .enumerate()
        .map(|(number, script)| (script.id, number))
        .collect();
    let number = |id: CoroutineId| numbers.get(&id).map_or("null".to_owned(), usize::to_string);
    let scripts = run.scripts.iter().map(|script| {
        let (end, outcome) = match script.ended {
            Some((frame, outcome)) => (frame.to_string(), quoted(word(outcome))),
            None => ("null".into(), "null".into()),
        };
        object(&[
            ("name", quoted(&script.name)),
            ("began", script.began.to_string()),
            ("ended", end),
            ("outcome", outcome),
        ])
    });
    let frames = run.frames.iter().map(|frame| {
        let events = frame.events.iter().map(|event| {
            let (what, of) = match &event.what {
                What::Began => ("began", "null".into()),
                What::Polled => ("polled", "null".into()),
                What::Ended(outcome) => (word(*outcome), "null".into()),
                What::Emitted(name) => ("emitted", quoted(name)),
                What::Paused => ("paused", "null".into()),
                What::Resumed => ("resumed", "null".into()),
            };
            let script = event.script.map_or("null".into(), number);
            let phase = event.phase.map_or("null".into(), quoted);
            object(&[
                ("script", script),
                ("phase", phase),
                ("what", quoted(what)),
                ("of", of),
            ])
        });
        let printed = frame.printed.iter().map(|line| {
            object(&[
                ("script", number(line.script)),
                ("text", quoted(&line.text)),
            ])
        });
        let waits = frame.waits.iter().map(|waiting| {
            let words = waiting.waits.iter().map(|wait| match wait {
                Wait::Join { id } => {
                    let other = run.scripts.iter().find(|script| script.id == *id);
                    other.map_or_else(
                        || wait.to_string(),
                        |script| format!("the end of {}", script.name),
                    )
                }
                other => other.to_string(),
            });
            let words: Vec<_> = words.collect();
            object(&[
                ("script", number(waiting.script)),
                ("lines", list(waiting.lines.iter().map(u32::to_string))),
                ("kind", quoted(waiting.waits.first().map_or("ready", kind))),
                ("phase", phase(&waiting.waits)),
                ("paused", waiting.is_paused.to_string()),
                ("words", quoted(words.join(" or "))),
            ])
        });
        let world = object(&[
            ("hero", float(frame.world.hero)),
            ("door", float(frame.world.door)),
            ("lamp", float(frame.world.lamp)),
            ("coins", frame.world.coins.to_string()),
        ]);
        object(&[
            ("time", format!("{:?}", frame.elapsed.as_secs_f64())),
            ("events", list(events)),
            ("printed", list(printed)),
            ("waits", list(waits)),
            ("world", world),
        ])
    });
    let mistakes = run.mistakes.iter().map(|each| {
        object(&[
            ("script", number(each.script)),
            ("frame", each.frame.to_string()),
            ("error", mistake(&each.error)),
        ])
    });
    object(&[
        ("scripts", list(scripts)),
        ("frames", list(frames)),
        ("mistakes", list(mistakes)),
        ("goesOn", run.goes_on.to_string()),
    ])
}

fn mistake(error: &Error) -> String {
    object(&[
        ("line", error.place.line.to_string()),
        ("column", error.place.column.to_string()),
        ("words", quoted(&error.words)),
    ])
}

fn word(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Finished => "finished",
        Outcome::Stopped => "stopped",
        Outcome::Panicked => "panicked",
    }
}

/// The colour of a wait.
fn kind(wait: &Wait) -> &'static str {
    match wait {
        Wait::Frame { .. }
        | Wait::Run { .. }
        | Wait::FrameCount { .. }
        | Wait::StepCount { .. } => "frames",
        Wait::Timer { .. } => "time",
        Wait::Condition { .. } => "condition",
        Wait::Join { .. } | Wait::Scripts { .. } => "end",
        Wait::Never => "never",
        _ => "event",
    }
}

/// The phase in which a script resumes, if it is the same for all that it waits for.
fn phase(waits: &[Wait]) -> String {
    let first = waits.first().and_then(Wait::phase);
    let is_same = waits.iter().all(|wait| wait.phase() == first);
    match first.filter(|_| is_same) {
        Some(phase @ Phase::Custom(_)) => quoted(format!("{phase}")),
        Some(phase) => quoted(phase),
        None => "null".into(),
    }
}

fn float(number: f32) -> String {
    if number.is_finite() {
        format!("{number:?}")
    } else {
        "0".into()
    }
}

fn object(fields: &[(&str, String)]) -> String {
    let fields: Vec<_> = fields
        .iter()
        .map(|(name, value)| format!("\"{name}\":{value}"))
        .collect();
    format!("{{{}}}", fields.join(","))
}

fn list(items: impl Iterator<Item = String>) -> String {
    format!("[{}]", items.collect::<Vec<_>>().join(","))
}

fn quoted(text: impl Display) -> String {
    let mut quoted = String::from("\"");
    for letter in text.to_string().chars() {
        match letter {
            '"' => quoted += "\\\"",
            '\\' => quoted += "\\\\",
            '\n' => quoted += "\\n",
            letter if letter.is_control() => {
                let _ = write!(quoted, "\\u{:04x}", u32::from(letter));
            }
            letter => quoted.push(letter),
        }
    }
    quoted + "\""
}
