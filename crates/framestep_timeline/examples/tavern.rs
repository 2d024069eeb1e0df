//! An evening at a tavern, in which five things go wrong. What does the timeline show?
//!
//! `cargo run --example tavern [folder]`

use std::cell::Cell;
use std::collections::{HashMap, VecDeque};
use std::path::PathBuf;
use std::rc::Rc;
use std::time::Duration;

use framestep::inspect::describe;
use framestep::prelude::*;
use framestep_timeline::{Film, Recorder};

/// A frame, in seconds.
const DT: f64 = 0.05;
const FRAMES: u64 = 2_400;

/// What the scripts share.
#[derive(Clone)]
struct Tavern {
    supper: Signal<u32>,
    last_orders: Signal<()>,
    hour: Signal<u32>,
    guard_here: Signal<()>,
    oven: Semaphore,
    stools: Semaphore,
    pantry: Watch<i32>,
    gold: Watch<i32>,
    /// The work of the scripts, instead of time that passes: the film is the same in each run.
    work: Rc<Cell<u64>>,
}

impl Tavern {
    fn works(&self, micros: u64) {
        self.work.set(self.work.get() + micros);
    }
}

fn bell() -> Signal<u32> {
    Signal::new().named("supper")
}

async fn clock(tavern: Tavern) {
    for hour in 17.. {
        tavern.hour.emit(hour);
        wait_seconds(10).await;
    }
}

async fn innkeeper(tavern: Tavern) {
    let supper = bell();
    for portion in 0.. {
        wait_seconds(15).await;
        supper.emit(portion);
        tavern.works(30);
        wait_seconds(3).await;
    }
}

async fn guest(tavern: Tavern, number: u32) {
    wait_seconds(0.3 * f64::from(number)).await;
    {
        let _stool = tavern.stools.acquire().await;
        wait_seconds(4 + number % 3).await;
        tavern.gold.update(|gold| *gold += 3);
    }
    tavern.supper.wait().await;
    for _ in 0..5 {
        wait_seconds(1.5).await;
        tavern.works(20);
    }
    tavern.gold.update(|gold| *gold += 7);
}

async fn baker(tavern: Tavern) {
    for loaf in 0.. {
        wait_seconds(3).await;
        let _oven = tavern.oven.acquire().await;
        wait_seconds(2).await;
        if loaf % 4 == 3 {
            let errand = script("errand").start(errand(tavern.clone()));
            drop(errand.await);
        }
    }
}

async fn errand(tavern: Tavern) {
    tavern.pantry.wait_for(|sacks| *sacks > 3).await;
    tavern.pantry.update(|sacks| *sacks -= 4);
    wait_seconds(1).await;
}

async fn miller(tavern: Tavern) {
    loop {
        wait_seconds(9).await;
        tavern.pantry.update(|sacks| *sacks += 1);
        let _oven = tavern.oven.acquire().await;
        wait_seconds(0.5).await;
    }
}

async fn cook(tavern: Tavern) {
    loop {
        wait_seconds(2).await;
        tavern.works(150);
        select! {
            _ = tavern.last_orders.wait() => return,
            () = wait_seconds(1) => {}
        }
    }
}

async fn grumbler(tavern: Tavern) {
    wait_seconds(12).await;
    loop {
        select! {
            () = tavern.guard_here.wait() => {
                describe("is quiet");
                wait_seconds(30).await;
            }
            hour = tavern.hour.wait() => {
                if hour > 20 {
                    break;
                }
            }
        }
    }
    describe("walks home");
    wait_seconds(1_000).await;
}

async fn guard(tavern: Tavern) {
    wait_seconds(40.15).await;
    tavern.guard_here.emit(());
    loop {
        wait_seconds(7).await;
        tavern.works(40);
    }
}

async fn candles(tavern: Tavern) {
    for flicker in 0_u32.. {
        wait_frames(7).await;
        tavern.works(if flicker % 24 == 23 { 2_050 } else { 15 });
    }
}

async fn patrol(tavern: Tavern) {
    let rooms: HashMap<&str, f64> = [
        ("cellar", 1.0),
        ("hall", 1.5),
        ("kitchen", 2.0),
        ("stairs", 2.5),
        ("attic", 3.0),
    ]
    .into();
    let mut route: VecDeque<f64> = rooms.into_values().collect();
    loop {
        wait_seconds(route[0]).await;
        route.rotate_left(1);
        tavern.works(25);
    }
}

async fn thief(tavern: Tavern) {
    tavern.gold.wait_for(|gold| *gold > 500).await;
    tavern.gold.set(0);
}

async fn musician(tavern: Tavern) {
    loop {
        for note in [0.25, 0.25, 0.5, 1.0] {
            wait_seconds(note).await;
            tavern.works(10);
        }
        wait_frames(3).await;
    }
}

async fn cat() {
    loop {
        next_frame().await;
        wait_seconds(2.2).await;
        wait_until(|| time().frame % 50 < 3).await;
    }
}

async fn evening(recorder: Recorder) {
    for (seconds, name) in [(30, "dusk"), (40, "night"), (40, "closing time")] {
        wait_seconds(seconds).await;
        recorder.mark(name);
    }
}

fn film() -> Film {
    let work = Rc::new(Cell::new(0));
    let passed = work.clone();
    let mut executor = Executor::builder().inspect(true).build();
    let recorder = Recorder::new().stopwatch(move || Duration::from_micros(passed.get()));
    recorder.watch(&executor);
    let tavern = Tavern {
        supper: bell(),
        last_orders: Signal::new().named("last orders"),
        hour: Signal::new().named("hour"),
        guard_here: Signal::new().named("guard.here"),
        oven: Semaphore::new(1).named("oven"),
        stools: Semaphore::new(5).named("stools"),
        pantry: Watch::new(3).named("pantry").shown(),
        gold: Watch::new(20).named("gold").shown(),
        work,
    };
    let hall = executor.owner().named("hall");
    let kitchen = executor.owner().named("kitchen");
    let street = executor.owner().named("street");
    let of = || tavern.clone();
    executor.script("evening").start(evening(recorder.clone()));
    executor.script("clock").start(clock(of()));
    hall.script("innkeeper").start(innkeeper(of()));
    hall.script("grumbler").start(grumbler(of()));
    for number in 1..=9 {
        let name = format!("guest {number}");
        hall.script(name).start(guest(of(), number));
    }
    hall.script("candles").start(candles(of()));
    hall.script("musician").start(musician(of()));
    hall.script("cat").start(cat());
    kitchen.script("baker").start(baker(of()));
    kitchen.script("cook").start(cook(of()));
    kitchen.script("miller").start(miller(of()));
    street.script("guard").start(guard(of()));
    street.script("patrol").start(patrol(of()));
    street.script("thief").start(thief(of()));
    executor.run_frames(FRAMES, DT);
    recorder.film()
}

fn main() -> std::io::Result<()> {
    let folder = PathBuf::from(std::env::args().nth(1).unwrap_or(".".to_owned()));
    std::fs::create_dir_all(&folder)?;
    let (film, again) = (film(), film());
    for finding in film.findings() {
        println!("{finding}\n");
    }
    if let Some(difference) = film.difference(&again) {
        println!("{difference}\n");
    }
    let page = film
        .html()
        .title("An evening at the tavern")
        .rows_of(&[800, 200]);
    std::fs::write(folder.join("tavern.html"), page.to_string())?;
    let svg = film.svg().title("An evening at the tavern").width(1_600);
    std::fs::write(folder.join("tavern.svg"), svg.to_string())?;
    std::fs::write(folder.join("tavern.perfetto-trace"), film.perfetto())?;
    println!("tavern.html and tavern.svg open in a browser");
    Ok(())
}
