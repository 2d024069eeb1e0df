//! An engine with its own loop: it runs each phase after its own code for that phase.

use std::cell::Cell;
use std::rc::Rc;
use std::time::Duration;

use framestep::prelude::*;

/// A custom phase, after the world has been drawn.
const HUD: Phase = Phase::Custom(0);

/// The simulated object.
#[derive(Default)]
struct Ball {
    height: Cell<f32>,
    speed: Cell<f32>,
    bounced: Cell<bool>,
}

impl Ball {
    fn step(&self, step: Duration) {
        let step = step.as_secs_f32();
        self.speed.set(self.speed.get() - 9.81 * step);
        self.height.set(self.height.get() + self.speed.get() * step);
        self.bounced.set(self.height.get() < 0.0);
        if self.bounced.get() {
            self.height.set(0.0);
            self.speed.set(-0.8 * self.speed.get());
        }
    }
}

/// Checks every physics step, and ends with the third bounce.
async fn referee(ball: Rc<Ball>) {
    for bounce in 1..=3 {
        while !ball.bounced.get() {
            fixed_update().await;
        }
        println!("bounce {bounce}, step at {:?}", time().elapsed);
        fixed_update().await;
    }
}

/// Prints the height in every tenth frame.
async fn hud(ball: Rc<Ball>) {
    loop {
        wait_frames(10).in_phase(HUD).await;
        let (frame, height) = (time().frame, ball.height.get());
        println!("frame {frame}: the ball is at {height:.2} m");
    }
}

fn main() {
    let ball = Rc::new(Ball::default());
    ball.height.set(2.0);

    let mut executor = Executor::builder().fixed_delta(0.02).build();
    let referee = executor.start(referee(ball.clone()));
    executor.start(hud(ball.clone()));

    while !referee.is_finished() {
        executor.begin_frame(1.0 / 30.0);

        // The engine: input.
        executor.run_phase(Phase::EarlyUpdate);

        // This replaces the engine's own accumulator, so that the engine and the
        // scripts share the steps: it returns true once for every 0.02 s.
        while executor.begin_fixed_step() {
            ball.step(executor.time().delta);
            executor.run_phase(Phase::FixedUpdate);
        }

        // The engine: its update, then its late update.
        executor.run_phase(Phase::Update);
        executor.run_phase(Phase::LateUpdate);

        // The engine: draws the world, then what lies over it.
        executor.run_phase(HUD);
        executor.run_phase(Phase::EndOfFrame);
    }
}
