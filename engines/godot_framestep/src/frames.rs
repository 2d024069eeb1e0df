//! Translates Godot's calls in a frame into frames, steps and phases of an executor. It needs no
//! engine.

use std::time::Duration;

use framestep::{Executor, Phase};

/// The state of the host within a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    /// Between two frames, or two steps.
    Idle,
    /// A step has begun, and its scripts have not run.
    InStep,
    /// A frame has begun, and its Update has not run.
    InFrame,
    /// Update has run, and the end of the frame has not.
    Updated,
}

/// Drives an executor in the order of Godot's calls.
///
/// | Godot | what it does |
/// |---|---|
/// | the signal `physics_frame` | [`begin_step`](Self::begin_step) |
/// | `_physics_process` of all other nodes | |
/// | `_physics_process` of the host, the last one | [`end_step`](Self::end_step): `FixedUpdate` |
/// | the signal `process_frame` | [`begin_frame`](Self::begin_frame): `EarlyUpdate` |
/// | `_process` of all other nodes | |
/// | `_process` of the host, the last one | [`update`](Self::update): Update, `LateUpdate` |
/// | the signal `frame_post_draw` | [`end_frame`](Self::end_frame): `EndOfFrame` |
///
/// Godot makes the physics steps before it knows how long the frame is, so fixed time may be
/// ahead of the time of the frame. Both deltas are already scaled by `Engine.time_scale`.
///
/// If a call is missing, such as `frame_post_draw` for a minimised window, the next call first
/// runs its phases: no phase of a frame is skipped.
///
/// Scripts may borrow the `state` of a call with `with`.
#[derive(Debug)]
pub(crate) struct Frames {
    executor: Executor,
    stage: Stage,
}

impl Frames {
    pub(crate) fn new(executor: Executor) -> Self {
        Frames {
            executor,
            stage: Stage::Idle,
        }
    }

    /// How many scripts there are.
    pub(crate) fn count(&self) -> usize {
        self.executor.len()
    }

    /// Begins a physics step of `delta` seconds: until its end the game clock reads fixed time,
    /// even for other nodes.
    pub(crate) fn begin_step<S: 'static>(&mut self, delta: f64, state: &mut S) {
        self.make_up_for(state);
        self.executor.begin_fixed_step_of(delta);
        self.stage = Stage::InStep;
    }

    /// Runs the scripts of the step.
    pub(crate) fn end_step<S: 'static>(&mut self, state: &mut S) {
        if self.stage == Stage::InStep {
            self.make_up_for(state);
        }
    }

    /// Begins a frame: realtime advances by `real`, the game clock by `delta` seconds.
    pub(crate) fn begin_frame<S: 'static>(&mut self, real: Duration, delta: f64, state: &mut S) {
        self.make_up_for(state);
        self.executor.begin_frame_with(real, delta);
        self.stage = Stage::InFrame;
        self.run(Phase::EarlyUpdate, state);
    }

    /// Runs the scripts of Update and `LateUpdate`.
    pub(crate) fn update<S: 'static>(&mut self, state: &mut S) {
        if self.stage == Stage::InFrame {
            self.run_update(state);
        }
    }

    /// Runs the scripts that wait for the end of the frame.
    pub(crate) fn end_frame<S: 'static>(&mut self, state: &mut S) {
        if self.stage == Stage::Updated {
            self.make_up_for(state);
        }
    }

    /// Runs the remaining phases of the current step or frame.
    fn make_up_for<S: 'static>(&mut self, state: &mut S) {
        if self.stage == Stage::InStep {
            self.run(Phase::FixedUpdate, state);
            self.executor.end_fixed_step();
        }
        if self.stage == Stage::InFrame {
            self.run_update(state);
        }
        if self.stage == Stage::Updated {
            self.run(Phase::EndOfFrame, state);
        }
        self.stage = Stage::Idle;
    }

    fn run_update<S: 'static>(&mut self, state: &mut S) {
        self.run(Phase::Update, state);
        self.run(Phase::LateUpdate, state);
        self.stage = Stage::Updated;
    }

    fn run<S: 'static>(&mut self, phase: Phase, state: &mut S) {
        self.executor
            .lend(state, |executor| executor.run_phase(phase));
    }
}

#[cfg(test)]
mod tests;
