use std::time::Duration;

use framestep::prelude::*;

/// A phase of the engine, after it has drawn the world.
const HUD: Phase = Phase::Custom(0);

/// The engine's simulation.
#[derive(Default)]
pub(crate) struct Ball {
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

// The host.

pub(crate) fn begin(ball: &mut Ball) -> Executor {
    ball.height = 2.0;
    let executor = Executor::builder().fixed_delta(0.02).build();
    executor
        .script("")
        .in_phase(Phase::FixedUpdate)
        .spawn(referee());
    executor.start(hud());
    executor
}

pub(crate) fn frame(_: u32, executor: &mut Executor, ball: &mut Ball) {
    executor.begin_frame(1.0 / 30.0);
    while executor.begin_fixed_step() {
        ball.step(executor.time().delta);
        executor.lend(ball, |executor| executor.run_phase(Phase::FixedUpdate));
    }
    for phase in [Phase::Update, HUD] {
        executor.lend(ball, |executor| executor.run_phase(phase));
    }
}

pub(crate) fn shown(ball: &Ball) -> String {
    let printed = crate::ported::harness::printed(&());
    format!("{} {}\n{printed}", ball.height, ball.speed)
}
