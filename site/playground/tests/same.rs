//! The scripts of `presets`, compiled by rustc and read by the playground: both must do the same.

use std::cell::RefCell;
use std::time::Duration;

use framestep::prelude::*;
use framestep_playground::{Options, Printed, Run, Source, record, run};

thread_local! {
    static PRINTED: RefCell<Vec<Printed>> = const { RefCell::new(Vec::new()) };
}

/// Notes what a compiled script prints.
macro_rules! println {
    ($($arguments:tt)*) => {
        super::print(format!($($arguments)*))
    };
}

struct Compiled;

impl Source for Compiled {
    fn lines(&self, _: framestep::task::CoroutineId, mut noted: Vec<u32>) -> Vec<u32> {
        noted.sort_unstable();
        noted.dedup();
        noted
    }

    fn end_frame(&self) -> Vec<Printed> {
        PRINTED.take()
    }
}

/// A text for each frame, with all that happened in it.
fn frames(run: &Run) -> Vec<String> {
    run.frames
        .iter()
        .enumerate()
        .map(|(number, frame)| {
            let name = |id: framestep::task::CoroutineId| {
                let script = run.scripts.iter().find(|script| script.id == id);
                // The name of a compiled one begins with its module.
                script.map_or("?", |script| {
                    script.name.rsplit("::").next().unwrap_or_default()
                })
            };
            let mut text = vec![format!("frame {number}, {:?}", frame.elapsed)];
            for event in &frame.events {
                let script = event.script.map_or("the host", name);
                text.push(format!("{:?} {script}: {:?}", event.phase, event.what));
            }
            for line in &frame.printed {
                text.push(format!("{} prints {:?}", name(line.script), line.text));
            }
            for waiting in &frame.waits {
                let waits: Vec<_> = waiting.waits.iter().map(ToString::to_string).collect();
                text.push(format!(
                    "{} waits at {:?} for {}, {}",
                    name(waiting.script),
                    waiting.lines,
                    waits.join(" or "),
                    waiting.is_paused
                ));
            }
            let world = frame.world;
            text.push(format!(
                "{:.4} {:.4} {:.4} {}",
                world.hero, world.door, world.lamp, world.coins
            ));
            text.join("\n")
        })
        .collect()
}

fn print(text: String) {
    let script = current();
    PRINTED.with_borrow_mut(|printed| printed.push(Printed { script, text }));
}

/// Compares a script with its text, in frames of several lengths.
fn compare(text: &str, begin: impl Fn(&Executor)) {
    for dt in [0.25, 0.1, 1.0 / 60.0, 1.0] {
        let options = Options {
            dt: Duration::from_secs_f64(dt),
            frames: 200,
        };
        let compiled = record(options, &Compiled, &begin);
        let read = run(text, options).expect("it can be read");
        assert!(read.mistakes.is_empty(), "{:?}", read.mistakes);
        let (compiled, read) = (frames(&compiled), frames(&read));
        for (compiled, read) in compiled.iter().zip(&read) {
            assert_eq!(compiled, read, "frames of {dt} s");
        }
        assert_eq!(compiled.len(), read.len());
        assert!(compiled.len() > 3);
    }
}

macro_rules! presets {
    ($($name:ident)*) => {$(
        mod $name {
            use framestep::prelude::*;
            use framestep_playground::World;

            include!(concat!("../presets/", stringify!($name), ".rs"));

            #[test]
            fn is_read_as_it_is_compiled() {
                let text = include_str!(concat!("../presets/", stringify!($name), ".rs"));
                super::compare(text, |executor| drop(executor.script("game").start(game())));
            }
        }
    )*};
}

presets! { door several lever owners phases both stuck }
