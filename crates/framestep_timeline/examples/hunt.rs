//! Five games with one fault each. What does the timeline show?
//!
//! `cargo run --example hunt [folder]`

#![expect(clippy::result_large_err, reason = "as in the library")]

use std::cell::{Cell, RefCell};
use std::path::PathBuf;
use std::rc::Rc;

use framestep::prelude::*;
use framestep_timeline::{Film, Recorder, check_determinism};

/// Other scripts, among which the fault hides.
fn crowd(executor: &Executor) {
    let squads = [
        ("guards", "guard", 12),
        ("wolves", "wolf", 9),
        ("villagers", "villager", 16),
    ];
    for (squad, name, size) in squads {
        let owner = executor.owner().named(squad);
        for number in 1..=size {
            let length = 0.3 + 0.05 * f64::from(number);
            let script = owner.script(format!("{name} {number}"));
            script.start(async move {
                loop {
                    wait_seconds(length).await;
                    wait_frames(2).await;
                }
            });
        }
        std::mem::forget(owner);
    }
}

fn film(
    frames: u64,
    play: impl FnOnce(&Executor),
    mut between: impl FnMut(&Executor, u64),
) -> Film {
    let mut executor = Executor::new();
    let recorder = Recorder::new().stopwatch({
        let start = std::time::Instant::now();
        move || start.elapsed()
    });
    recorder.watch(&executor);
    crowd(&executor);
    play(&executor);
    for frame in 1..=frames {
        between(&executor, frame);
        executor.run_frame(0.05);
    }
    recorder.film()
}

/// A signal that never comes: the lever emits another one.
fn no_signal() -> Film {
    let (wanted, emitted) = (
        Signal::<()>::new().named("gate.open"),
        Signal::<()>::new().named("gate.opened"),
    );
    film(
        80,
        |executor| {
            executor
                .script("gate")
                .start(async move { wanted.wait().await });
            executor.script("lever").start(async move {
                wait_seconds(1).await;
                emitted.emit(());
            });
        },
        |_, _| (),
    )
}

/// A pause without a resume: the menu is stopped before it resumes the boat.
fn pause() -> Film {
    let menu = Cell::new(None);
    film(
        80,
        |executor| {
            let boat = executor.script("boat").start(async {
                loop {
                    wait_seconds(0.2).await;
                }
            });
            let boat = boat.id();
            let handle = executor.handle();
            menu.set(Some(
                executor
                    .script("menu")
                    .start(async move {
                        wait_seconds(1).await;
                        handle.pause(boat);
                        wait_seconds(1).await;
                        handle.resume(boat);
                    })
                    .id(),
            ));
        },
        |executor, frame| {
            if frame == 30 {
                menu.get().map(|menu| executor.stop(menu));
            }
        },
    )
}

/// Two scripts that wait for each other.
fn cycle() -> Film {
    film(
        80,
        |executor| {
            let slot = Rc::new(RefCell::new(None::<Coroutine<()>>));
            let other = slot.clone();
            let smith = executor.script("smith").spawn(async move {
                wait_seconds(0.5).await;
                let miner = other.borrow_mut().take();
                drop(miner.expect("the miner is there").await);
            });
            *slot.borrow_mut() = Some(executor.script("miner").spawn(async move {
                wait_seconds(0.75).await;
                drop(smith.await);
            }));
        },
        |_, _| (),
    )
}

/// A script that holds up the frame: it searches for a path in one poll.
fn glutton() -> Film {
    film(
        80,
        |executor| {
            executor.script("path finder").start(async {
                loop {
                    wait_seconds(0.5).await;
                    let mut sum = 0_u64;
                    for number in 0..6_000_000_u64 {
                        sum = std::hint::black_box(sum.wrapping_mul(31) ^ number);
                    }
                }
            });
        },
        |_, _| (),
    )
}

/// A script that differs between two runs: it reads a global counter.
fn differs() -> Result<u64, framestep_timeline::Difference> {
    let ids = Cell::new(0_u32);
    check_determinism(200, |recorder| {
        let mut executor = Executor::new();
        recorder.watch(&executor);
        crowd(&executor);
        let first = ids.get();
        ids.set(first + 1);
        executor.script("weather").start(async move {
            wait_seconds(2).await;
            if first % 2 == 1 {
                wait_frames(5).await;
            }
            wait_seconds(1).await;
        });
        move |_frame| executor.run_frame(0.05)
    })
}

fn main() -> std::io::Result<()> {
    let folder = PathBuf::from(std::env::args().nth(1).unwrap_or(".".to_owned()));
    let films = [
        ("no signal", no_signal as fn() -> Film),
        ("pause", pause),
        ("cycle", cycle),
        ("glutton", glutton),
    ];
    for (name, film) in films {
        let film = film();
        println!("{name}:");
        for finding in film.findings() {
            println!("  {finding}");
        }
        let path = folder.join(format!("hunt {name}.svg"));
        std::fs::write(path, film.svg().title(name).most_lanes(8).to_string())?;
    }
    match differs() {
        Ok(hash) => println!("the runs are equal: {hash:x}"),
        Err(difference) => println!("differs:\n  {difference}"),
    }
    Ok(())
}
