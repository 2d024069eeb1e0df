use std::time::Duration;

use framestep_durable::prelude::*;

use crate::ported::harness::note;

/// A phase of the engine, after it has drawn the world.
const HUD: Phase = Phase::Custom(0);

/// The engine's simulation.
#[derive(Clone, Debug, Default, PartialEq)]
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
#[durable]
async fn referee() {
    for bounce in 1..=3 {
        while !with_ref(|ball: &Ball| ball.bounced) {
            fixed_update().await;
        }
        note!("bounce {bounce}, step at {:?}", time().elapsed);
        fixed_update().await;
    }
}

/// Prints the height in every tenth frame.
#[durable]
async fn hud() {
    loop {
        wait_frames(10).in_phase(HUD).await;
        let height = with_ref(|ball: &Ball| ball.height);
        note!("frame {}: the ball is at {height:.2} m", time().frame);
    }
}

// The host.

#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Stage {
    ball: Ball,
    log: crate::twin::Log,
}

pub(crate) fn blank() -> Runtime {
    let registry = Registry::new().script(referee).script(hud);
    Runtime::with(framestep::Executor::builder().fixed_delta(0.02), registry)
}

pub(crate) fn begin(runtime: &mut Runtime, stage: &mut Stage) {
    stage.ball.height = 2.0;
    runtime.enter(|| spawn_in(Phase::FixedUpdate, referee()));
    runtime.start(hud());
}

pub(crate) fn frame(_: u32, runtime: &mut Runtime, stage: &mut Stage) {
    let Stage { ball, log } = stage;
    runtime.begin_frame(1.0 / 30.0);
    let mut run = |runtime: &mut Runtime, ball: &mut Ball, phase| {
        runtime.lend(ball, |runtime| {
            runtime.lend(log, |runtime| runtime.run_phase(phase));
        });
    };
    while runtime.begin_fixed_step() {
        ball.step(runtime.time().delta);
        run(runtime, ball, Phase::FixedUpdate);
    }
    for phase in [Phase::Update, HUD] {
        run(runtime, ball, phase);
    }
}

pub(crate) fn shown(Stage { ball, log }: &Stage) -> String {
    format!("{} {}\n{}", ball.height, ball.speed, log.join("\n"))
}
