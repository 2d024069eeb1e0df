//! The last frames of a game: going back, playing them again in a loop, and looking ahead.

use std::collections::VecDeque;
use std::error::Error;
use std::fmt;

use framestep_durable::{
    Divergence, Policy, Registry, Reloaded, RestoreError, Runtime, SaveError, SaveState,
};

use crate::quiet::quietly;

/// The last frames: for each, the world and the scripts before it, and the input of the player.
///
/// Call [`step`](History::step) once for each frame of the game. It remembers the moment and calls
/// the game's own step. `W` is the world, and `I` is what the player does in a frame.
///
/// # Examples
///
/// ```
/// use framestep_durable::prelude::*;
/// use framestep_live::History;
///
/// #[durable]
/// async fn counter() {
///     loop {
///         with(|world: &mut i32| *world += 1);
///         next_frame().await;
///     }
/// }
///
/// fn step(runtime: &mut Runtime, world: &mut i32, push: &i32) {
///     *world += push;
///     runtime.run_frame_with(world, 0.1);
/// }
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let mut runtime = Runtime::new(Registry::new().script(counter));
/// runtime.spawn(counter()).detach();
/// let mut world = 0;
/// let mut history = History::new(600);
/// for _ in 0..5 {
///     history.step(&mut runtime, &mut world, 10, step)?;
/// }
/// assert_eq!(world, 55);
///
/// // The next two frames, if the player goes on like that.
/// let mut ahead = Vec::new();
/// history.ahead(&mut runtime, &world, 2, step, |world| ahead.push(*world))?;
/// assert_eq!((world, ahead), (55, vec![66, 77]));
///
/// // The last two frames, again and again.
/// history.begin_loop(2);
/// let mut seen = Vec::new();
/// for _ in 0..5 {
///     history.step(&mut runtime, &mut world, 0, step)?;
///     seen.push(world);
/// }
/// assert_eq!(seen, [44, 55, 44, 55, 44]);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct History<W, I = ()> {
    moments: VecDeque<Moment<W, I>>,
    frames: usize,
    looping: Option<Loop>,
}

#[derive(Clone, Debug)]
struct Moment<W, I> {
    scripts: SaveState,
    world: W,
    input: I,
}

/// A part of the past that is played again and again.
#[derive(Clone, Copy, Debug)]
struct Loop {
    begin: usize,
    /// The next frame.
    at: usize,
}

/// Why the past cannot be kept, or not be reached.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HistoryError {
    /// The present moment cannot be saved.
    Save(SaveError),
    /// A moment cannot be restored.
    Restore(RestoreError),
}

impl fmt::Display for HistoryError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            HistoryError::Save(error) => error.fmt(f),
            HistoryError::Restore(error) => error.fmt(f),
        }
    }
}

impl Error for HistoryError {}

impl From<SaveError> for HistoryError {
    fn from(error: SaveError) -> Self {
        HistoryError::Save(error)
    }
}

impl From<RestoreError> for HistoryError {
    fn from(error: RestoreError) -> Self {
        HistoryError::Restore(error)
    }
}

impl<W: Clone, I: Clone> History<W, I> {
    /// A history of at most so many frames.
    ///
    /// # Panics
    ///
    /// If it is zero.
    #[track_caller]
    #[must_use]
    pub fn new(frames: usize) -> Self {
        assert!(frames > 0, "a history has at least one frame");
        History {
            moments: VecDeque::with_capacity(frames.min(1 << 16)),
            frames,
            looping: None,
        }
    }

    /// Remembers the present moment and runs a frame: calls `step` with `input`. In a
    /// [loop](Self::begin_loop), the recorded input is used, and after its last frame, the first
    /// one follows.
    ///
    /// # Errors
    ///
    /// If the present moment cannot be saved, or the first one of the loop cannot be restored. Then
    /// no frame is run.
    pub fn step(
        &mut self,
        runtime: &mut Runtime,
        world: &mut W,
        input: I,
        mut step: impl FnMut(&mut Runtime, &mut W, &I),
    ) -> Result<(), HistoryError> {
        let Some(Loop { begin, at }) = self.looping else {
            let moment = moment(runtime, world, input)?;
            if self.moments.len() == self.frames {
                self.moments.pop_front();
            }
            self.moments.push_back(moment);
            let moment = &self.moments[self.moments.len() - 1];
            step(runtime, world, &moment.input);
            return Ok(());
        };
        let at = if at == self.moments.len() {
            self.go_to(begin, runtime, world)?;
            begin
        } else {
            at
        };
        self.play(at, runtime, world, &mut step)?;
        self.looping = Some(Loop { begin, at: at + 1 });
        Ok(())
    }

    /// How many frames are remembered. In a loop, how many are before the next one.
    pub fn len(&self) -> usize {
        self.looping.map_or(self.moments.len(), |it| it.at)
    }

    /// Whether no frame is remembered.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The worlds of the past, the latest first.
    pub fn worlds(&self) -> impl Iterator<Item = &W> {
        let past = self.moments.range(..self.len()).rev();
        past.map(|moment| &moment.world)
    }

    /// Forgets everything.
    pub fn clear(&mut self) {
        self.moments.clear();
        self.looping = None;
    }

    /// From now on, plays the last frames again and again, at most so many, with the input that the
    /// player has given.
    pub fn begin_loop(&mut self, frames: usize) {
        self.end_loop();
        let (begin, at) = (
            self.moments.len().saturating_sub(frames),
            self.moments.len(),
        );
        self.looping = (begin < at).then_some(Loop { begin, at });
    }

    /// Ends the loop: the game goes on from the present moment, and frames after it are forgotten.
    pub fn end_loop(&mut self) {
        if let Some(Loop { at, .. }) = self.looping.take() {
            self.moments.truncate(at);
        }
    }

    /// The frame of the loop that was played last, from 1, and how many frames it has.
    pub fn in_loop(&self) -> Option<(usize, usize)> {
        let Loop { begin, at } = self.looping?;
        Some((at - begin, self.moments.len() - begin))
    }

    /// Goes back by so many frames, or as far as the history reaches, and forgets what came after.
    /// Ends a loop. Returns by how many.
    ///
    /// Scripts whose code has been exchanged since, and does not fit that moment, restart their
    /// chapters.
    ///
    /// # Errors
    ///
    /// If the moment cannot be restored. Then nothing has changed.
    pub fn go_back(
        &mut self,
        frames: usize,
        runtime: &mut Runtime,
        world: &mut W,
    ) -> Result<usize, HistoryError> {
        let frames = frames.min(self.len());
        if frames > 0 {
            let at = self.len() - frames;
            self.go_to(at, runtime, world)?;
            self.looping = None;
            self.moments.truncate(at);
        }
        Ok(frames)
    }

    /// Looks ahead: runs so many frames, calls `see` with the world after each, and goes back to
    /// the present moment. In a loop, with the recorded input, and after it with that of the last
    /// frame. Panics of scripts meanwhile are not printed; hooks are called.
    ///
    /// # Errors
    ///
    /// If the present moment cannot be saved and restored.
    pub fn ahead(
        &self,
        runtime: &mut Runtime,
        world: &W,
        frames: usize,
        mut step: impl FnMut(&mut Runtime, &mut W, &I),
        mut see: impl FnMut(&W),
    ) -> Result<(), HistoryError> {
        let Some(last) = self.moments.back() else {
            return Ok(());
        };
        let here = runtime.save_state()?;
        let mut world = world.clone();
        quietly(|| {
            for frame in self.len()..self.len() + frames {
                let moment = self.moments.get(frame).unwrap_or(last);
                step(runtime, &mut world, &moment.input);
                see(&world);
            }
        });
        Ok(runtime.rollback(&here)?)
    }

    /// Exchanges the code of the scripts at the moment so many frames ago, and plays the frames
    /// since again: the present becomes what it would be if the new code had run since then. In a
    /// loop, that moment is the first of the loop.
    ///
    /// # Errors
    ///
    /// If a script does not fit and its policy says so. Then nothing has changed.
    pub fn reload(
        &mut self,
        registry: Registry,
        frames_back: usize,
        runtime: &mut Runtime,
        world: &mut W,
        policy: impl FnMut(&Divergence) -> Policy,
        mut step: impl FnMut(&mut Runtime, &mut W, &I),
    ) -> Result<Reloaded, HistoryError> {
        let now = self.len();
        let from = match self.looping {
            Some(Loop { begin, .. }) => begin,
            None => now.saturating_sub(frames_back),
        };
        let moment = (from < now).then(|| &self.moments[from]);
        let save = moment.map(|moment| &moment.scripts);
        let reloaded = runtime.reload_with(registry, save, policy)?;
        if let Some(moment) = moment {
            *world = moment.world.clone();
        }
        for at in from..now {
            self.play(at, runtime, world, &mut step)?;
        }
        Ok(reloaded)
    }

    /// Plays a remembered frame again. What is remembered of it becomes the present moment, with
    /// the same input.
    fn play(
        &mut self,
        at: usize,
        runtime: &mut Runtime,
        world: &mut W,
        step: &mut impl FnMut(&mut Runtime, &mut W, &I),
    ) -> Result<(), HistoryError> {
        self.moments[at] = moment(runtime, world, self.moments[at].input.clone())?;
        step(runtime, world, &self.moments[at].input);
        Ok(())
    }

    fn go_to(&self, at: usize, runtime: &mut Runtime, world: &mut W) -> Result<(), HistoryError> {
        let moment = &self.moments[at];
        runtime.rollback_with(&moment.scripts, Policy::Restart)?;
        *world = moment.world.clone();
        Ok(())
    }
}

fn moment<W: Clone, I>(
    runtime: &Runtime,
    world: &W,
    input: I,
) -> Result<Moment<W, I>, HistoryError> {
    Ok(Moment {
        scripts: runtime.save_state()?,
        world: world.clone(),
        input,
    })
}
