//! An engine with its own loop: it runs each phase after its own code for that phase.

use std::time::Duration;

use framestep::prelude::*;

/// A phase of the engine, after it has drawn the world.
const HUD: Phase = Phase::Custom(0);

/// The engine's simulation.
struct Ball {
    height: f32,
    speed: f32,
    bounced: bool,
}

impl Ball {
    fn step(&mut self, step: Duration) {
        let step = step.as_secs_f32();
        self.speed -= 9.81 * step;
        self.height += self.speed * step;
        self.bounced = self.height < 0.0;
        if self.bounced {
            self.height = 0.0;
            self.speed *= -0.8;
        }
    }
}

/// Checks every step of the physics, and ends with the third bounce.
async fn referee() {
    for bounce in 1..=3 {
        while !with_ref(|ball: &Ball| ball.bounced) {
            fixed_update().await;
        }
        println!("bounce {bounce}, step at {:?}", time().elapsed);
        fixed_update().await;
    }
}

/// Prints the height in every tenth frame.
async fn hud() {
    loop {
        wait_frames(10).in_phase(HUD).await;
        let height = with_ref(|ball: &Ball| ball.height);
        println!("frame {}: the ball is at {height:.2} m", time().frame);
    }
}

/// Runs the scripts of one phase, and lends them the ball.
fn run_scripts(executor: &mut Executor, ball: &mut Ball, phase: Phase) {
    executor.lend(ball, |executor| executor.run_phase(phase));
}

fn main() {
    let mut ball = Ball {
        height: 2.0,
        speed: 0.0,
        bounced: false,
    };
    let mut executor = Executor::builder().fixed_delta(0.02).build();
    let referee = executor
        .script("")
        .in_phase(Phase::FixedUpdate)
        .spawn(referee());
    executor.start(hud());

    while !referee.is_finished() {
        executor.begin_frame(1.0 / 30.0);

        // The engine: input.
        run_scripts(&mut executor, &mut ball, Phase::EarlyUpdate);

        // This replaces the engine's own accumulator, so that the engine and the
        // scripts share the steps: it returns true once for every 0.02 s.
        while executor.begin_fixed_step() {
            ball.step(executor.time().delta);
            run_scripts(&mut executor, &mut ball, Phase::FixedUpdate);
        }

        // The engine: its update, then its late update.
        run_scripts(&mut executor, &mut ball, Phase::Update);
        run_scripts(&mut executor, &mut ball, Phase::LateUpdate);

        // The engine: draws the world, then what lies over it.
        run_scripts(&mut executor, &mut ball, HUD);
        run_scripts(&mut executor, &mut ball, Phase::EndOfFrame);
    }
}
