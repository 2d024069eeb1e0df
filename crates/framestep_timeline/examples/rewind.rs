//! Records the inputs of a game, and goes back to find out where it got stuck.
//!
//! `cargo run --example rewind`

use std::cell::RefCell;
use std::rc::Rc;
use std::time::Duration;

use framestep::prelude::*;
use framestep_timeline::{Recorder, Recording, Rewind, Step};

const DT: Duration = Duration::from_millis(20);

/// A game in which a hero has to pull two levers before the bridge comes down.
struct Game {
    executor: Executor,
    left: Signal<()>,
    right: Signal<()>,
    log: Rc<RefCell<Vec<String>>>,
}

async fn bridge(left: Signal<()>, right: Signal<()>, log: Rc<RefCell<Vec<String>>>) {
    let say = |text: &str| {
        let line = format!("frame {}: {text}", time().frame);
        log.borrow_mut().push(line);
    };
    left.wait().await;
    say("the left chain is loose");
    wait_seconds(1.5).await;
    // The fault: a pull of the right lever while the left chain rattles is lost.
    right.wait().await;
    say("the bridge comes down");
}

fn make(_seed: u64, recorder: &Recorder) -> Game {
    let executor = Executor::new();
    recorder.watch(&executor);
    let game = Game {
        executor,
        left: Signal::new().named("left lever"),
        right: Signal::new().named("right lever"),
        log: Rc::default(),
    };
    let bridge = bridge(game.left.clone(), game.right.clone(), game.log.clone());
    game.executor.script("bridge").start(bridge);
    game
}

fn step(game: &mut Game, step: &Step<char>) {
    game.executor.enter(|| match step.input {
        'l' => game.left.emit(()),
        'r' => game.right.emit(()),
        _ => {}
    });
    game.executor.run_frame(step.dt);
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    // While the game is played, it records the inputs, and what the scripts do.
    let mut recording = Recording::new(1);
    let recorder = Recorder::new();
    let mut game = make(recording.seed(), &recorder);
    for frame in 1..=1_000 {
        let input = match frame {
            780 => 'l',
            812 => 'r',
            _ => ' ',
        };
        recording.push(DT, input);
        step(&mut game, &recording.steps()[recording.steps().len() - 1]);
    }
    recording.keep(recorder.film());
    let file = serde_json::to_string(&recording)?;
    println!(
        "the bridge did not come down; the recording takes {} kB as JSON\n",
        file.len() / 1_000
    );

    // Later, on another machine: what was the bridge waiting for when the lever was
    // pulled?
    let recording: Recording<char> = serde_json::from_str(&file)?;
    let mut rewind = Rewind::new(recording, make, step);
    rewind.go_to(812)?;
    print!("{}", rewind.still());
    rewind.go_to(779)?;
    print!("{}", rewind.still());
    for _ in 0..2 {
        rewind.forward()?;
        println!("a frame later: {}", rewind.still().scripts()[0].state());
    }
    rewind.back()?;
    println!(
        "and back, in frame {}: {:?}\n",
        rewind.frame(),
        rewind.game().log.borrow()
    );
    rewind.go_to(1_000)?;
    for finding in rewind.film().findings() {
        println!("{finding}");
    }
    Ok(())
}
