//! A game without a window: runs the frames that are asked for on its standard input, and answers
//! with the world and the status.

use std::io::BufRead;

use framestep_durable::Registry;
use framestep_durable::Runtime;
use world::World;

fn main() {
    let registry: Registry = scripts::registry();
    let mut runtime = Runtime::new(registry);
    let mut world = World::default();
    runtime.start(scripts::clerk(1)).detach();
    #[cfg(feature = "live")]
    let mut live = framestep_live::Live::watch(
        framestep_live::game!("scripts")
            .parts(["town"])
            .hangs_after(std::time::Duration::from_secs(1))
            .quiet(),
    );
    // The first one goes on from an earlier process, before anything else happens.
    #[cfg(feature = "live")]
    live.update_game(&mut runtime, &mut world);
    #[cfg(feature = "live")]
    let mut loaded = String::new();
    println!("begins");
    for line in std::io::stdin().lock().lines() {
        match line.unwrap().as_str() {
            "elect" => runtime.start(town::mayor(1, town::Pay::Much)).detach(),
            "greet" => world.log.push(town::GREETING.to_owned()),
            "frame" => runtime.run_frame_with(&mut world, 0.25),
            #[cfg(feature = "live")]
            "update" => {
                live.update_game(&mut runtime, &mut world);
            }
            #[cfg(feature = "live")]
            "wait" => {
                live.wait(std::time::Duration::from_secs(8));
                live.update_game(&mut runtime, &mut world);
            }
            #[cfg(feature = "live")]
            "accept" => {
                live.accept();
            }
            // What must not be: the layout of this type is that of the code it came with.
            "lend" => runtime.lend(&mut scripts::Local::default(), |_| ()),
            #[cfg(feature = "live")]
            command if command.starts_with("load ") => loaded = load(&command["load ".len()..]),
            _ => {}
        }
        let log = world.log.join(", ");
        let (time, scripts) = (runtime.time(), runtime.scripts().len());
        print!("frame {} | {scripts} scripts | {log} | ", time.frame);
        #[cfg(feature = "live")]
        print!(
            "{} | {}{loaded}",
            live.building().is_some() || !live.is_watching(),
            told(&live)
        );
        println!();
    }
}

/// Loads a library that other means have built, and returns what is said about it.
#[cfg(feature = "live")]
fn load(path: &str) -> String {
    // SAFETY: the test has built it from these sources. What it must find is that the library uses
    // another copy of framestep, and so cannot be used.
    match unsafe { framestep_live::load(path.as_ref()) } {
        Ok(registry) => format!(" (loaded {registry:?})"),
        Err(error) => format!(" (not loaded: {error})"),
    }
}

/// What is told about the sources, in one line.
#[cfg(feature = "live")]
fn told(live: &framestep_live::Live) -> String {
    let told = live.status().to_string().replace('\n', "\\n");
    match live.status() {
        framestep_live::Status::Exchanged { timings, .. } => {
            let [build, load, exchange] = [timings.build, timings.load, timings.exchange];
            format!("{told} (build {} ms, load {load:.1?}, exchange {exchange:.1?})", build.as_millis())
        }
        _ => told,
    }
}
