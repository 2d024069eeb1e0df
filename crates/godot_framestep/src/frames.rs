//! Translates Godot's calls in a frame into frames, steps and phases of an executor. It needs no
//! engine.

use std::time::Duration;

use framestep::{Executor, Phase};

/// What is driven: an executor, or a runtime of durable scripts.
pub(crate) trait Driven {
    fn begin_frame_with(&mut self, real: Duration, delta: f64);
    fn begin_fixed_step_of(&mut self, delta: f64);
    fn end_fixed_step(&mut self);
    /// Runs a phase with `state` lent.
    fn run<S: 'static>(&mut self, phase: Phase, state: &mut S);
}

impl Driven for Executor {
    fn begin_frame_with(&mut self, real: Duration, delta: f64) {
        self.begin_frame_with(real, delta);
    }

    fn begin_fixed_step_of(&mut self, delta: f64) {
        self.begin_fixed_step_of(delta);
    }

    fn end_fixed_step(&mut self) {
        self.end_fixed_step();
    }

    fn run<S: 'static>(&mut self, phase: Phase, state: &mut S) {
        self.lend(state, |executor| executor.run_phase(phase));
    }
}

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
pub(crate) struct Frames<E = Executor> {
    executor: E,
    stage: Stage,
}

impl<E: Driven> Frames<E> {
    pub(crate) fn new(executor: E) -> Self {
        Frames {
            executor,
            stage: Stage::Idle,
        }
    }

    pub(crate) fn driven(&self) -> &E {
        &self.executor
    }

    #[cfg(feature = "durable")]
    pub(crate) fn driven_mut(&mut self) -> &mut E {
        &mut self.executor
    }

    /// Whether a step has begun, and its scripts have not run.
    #[cfg(feature = "durable")]
    pub(crate) fn is_in_step(&self) -> bool {
        self.stage == Stage::InStep
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
        self.executor.run(phase, state);
    }
}

#[cfg(test)]
mod tests;
