//! A small scene in real time; with `--headless`, the same at once and without a clock.

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
    // In real time the disk is slow, so that there is something to wait for.
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

    // It has ended, so this runs no frame: it takes the result.
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

/// Runs a frame at every 1/`fps` s of the wall clock, and tells the executor how
/// long it really was.
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
        // After a slow frame the next one comes at once, but no more than one:
        // the dt makes up for the others.
        boundary = (boundary + frame).max(now);
    }
}

/// Runs frames of exactly 1/`fps` s as fast as they go.
fn run_headless(executor: &mut Executor, loader: &Loader, fps: u32, is_over: impl Fn() -> bool) {
    while !is_over() {
        // How long a thread takes is the one thing here that differs from run to
        // run. So no frame goes by while one works: on virtual time, what was
        // asked for in one frame is there in the next.
        loader.begin();
        loader.finish();
        executor.run_frame(1.0 / f64::from(fps));
    }
}
