use framestep::prelude::*;

async fn beat(name: &'static str, policy: MissedTicks) {
    let mut beats = interval(1).missed_ticks(policy);
    loop {
        let tick = beats.tick().await;
        println!(
            "frame {:2}, {:.1} s: {name} ticks, {:.1} s late, {} skipped",
            time().frame,
            time().elapsed.as_secs_f32(),
            tick.late.as_secs_f32(),
            tick.skipped
        );
    }
}

// The host.

pub(crate) type World = ();

pub(crate) fn begin((): &mut World) -> Executor {
    let executor = Executor::builder().max_delta(f32::INFINITY).build();
    executor.start(beat("burst", MissedTicks::Burst));
    executor.start(beat("skip", MissedTicks::Skip));
    executor.start(beat("delay", MissedTicks::Delay));
    executor
}

pub(crate) fn frame(frame: u32, executor: &mut Executor, (): &mut World) {
    executor.run_frame(if frame == 4 { 2.7 } else { 0.4 });
}

pub(crate) use crate::ported::harness::printed as shown;
