//! A small scene in real time, or, with `--headless`, on virtual time without a
//! clock.

mod countdown;
mod cutscene;
mod door;
mod enemy;
mod hero;
mod level;
mod options;
mod patrol;
mod scene;
mod stage;

use std::error::Error;
use std::process::ExitCode;
use std::rc::Rc;
use std::thread;
use std::time::{Duration, Instant};

use framestep::prelude::*;

use level::Loader;
use options::Options;

fn main() -> ExitCode {
    let options = match Options::parse(std::env::args().skip(1)) {
        Ok(options) => options,
        Err(message) => {
            eprintln!("gameplay: {message}\n\n{}", options::USAGE);
            return ExitCode::from(2);
        }
    };
    if options.help {
        println!("{}", options::USAGE);
        return ExitCode::SUCCESS;
    }
    match play(&options) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("gameplay: {error}");
            ExitCode::FAILURE
        }
    }
}

fn play(options: &Options) -> Result<(), Box<dyn Error>> {
    // In real time the disk is slow, so that the scripts must wait.
    let disk_delay = Duration::from_millis(if options.headless { 0 } else { 400 });
    let loader = Rc::new(Loader::new(disk_delay));

    let mut executor = Executor::new();
    let scene = executor.start(scene::play(loader.clone()));
    let is_over = || scene.is_finished();
    if options.headless {
        run_headless(&mut executor, &loader, options.fps, is_over);
    } else {
        run_in_real_time(&mut executor, &loader, options.fps, is_over);
    }

    // The scene has ended, so this runs no frame and returns the result.
    executor.run_until(scene, 0)??;

    let time = executor.time();
    println!(
        "{} frames, {:.3} s, coroutines left: {}",
        time.frame,
        time.elapsed.as_secs_f64(),
        executor.len()
    );
    Ok(())
}

/// Runs a frame every 1/`fps` s of wall-clock time, and passes in how long it took.
fn run_in_real_time(
    executor: &mut Executor,
    loader: &Loader,
    fps: u32,
    is_over: impl Fn() -> bool,
) {
    let frame = Duration::from_secs(1) / fps;
    let mut last = Instant::now();
    let mut boundary = last + frame;
    while !is_over() {
        loader.begin();
        thread::sleep(boundary.saturating_duration_since(Instant::now()));
        let now = Instant::now();
        executor.run_frame(now - last);
        last = now;
        // After a slow frame, one frame follows at once; its dt makes up for the
        // others.
        boundary = (boundary + frame).max(now);
    }
}

/// Runs frames of exactly 1/`fps` s, as fast as possible.
fn run_headless(executor: &mut Executor, loader: &Loader, fps: u32, is_over: impl Fn() -> bool) {
    while !is_over() {
        // Only the duration of a thread differs from run to run. So no frame runs
        // while a thread works: a level requested in one frame arrives in the next.
        loader.begin();
        loader.finish();
        executor.run_frame(1.0 / f64::from(fps));
    }
}
