use framestep_durable::prelude::*;

use crate::ported::harness::note;

const POLICIES: [MissedTicks; 3] = [MissedTicks::Burst, MissedTicks::Skip, MissedTicks::Delay];

#[durable]
async fn beat(name: String, policy: usize) {
    let policy = POLICIES[policy];
    let mut beats = interval(1).missed_ticks(policy);
    loop {
        let tick = beats.tick().await;
        note!(
            "frame {:2}, {:.1} s: {name} ticks, {:.1} s late, {} skipped",
            time().frame,
            time().elapsed.as_secs_f32(),
            tick.late.as_secs_f32(),
            tick.skipped
        );
    }
}

// The host.

pub(crate) use crate::twin::Log as World;

pub(crate) fn blank() -> Runtime {
    let builder = framestep::Executor::builder().max_delta(f32::INFINITY);
    Runtime::with(builder, Registry::new().with::<Beat>())
}

pub(crate) fn begin(runtime: &mut Runtime, _: &mut World) {
    runtime.start(beat("burst".into(), 0)).detach();
    runtime.start(beat("skip".into(), 1)).detach();
    runtime.start(beat("delay".into(), 2)).detach();
}

pub(crate) fn frame(frame: u32, runtime: &mut Runtime, world: &mut World) {
    runtime.run_frame_with(world, if frame == 4 { 2.7 } else { 0.4 });
}

pub(crate) use crate::ported::harness::lines as shown;
