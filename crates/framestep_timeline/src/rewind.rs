//! Recordings of inputs, and going back in time by running the game again.

use std::fmt;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::compare::Difference;
use crate::film::Film;
use crate::recorder::Recorder;
use crate::still::Still;

/// What the host passed to the game in each frame, and optionally what the scripts did.
///
/// It can be stored in any format that serde supports, if the inputs can.
///
/// # Examples
///
/// ```
/// use std::time::Duration;
/// use framestep_timeline::Recording;
///
/// let mut recording = Recording::new(7);
/// recording.push(Duration::from_millis(16), "jump".to_owned());
/// let file = serde_json::to_string(&recording).unwrap();
/// assert_eq!(serde_json::from_str::<Recording<String>>(&file).unwrap(), recording);
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Recording<I> {
    seed: u64,
    steps: Vec<Step<I>>,
    film: Option<Film>,
}

/// One frame of a [`Recording`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Step<I> {
    /// How long the frame was. Pass the same value to the executor when you record and
    /// when you run again. Whole nanoseconds survive any file format.
    pub dt: Duration,
    /// The inputs of the frame.
    pub input: I,
}

impl<I> Recording<I> {
    /// Creates an empty recording of a game with this seed.
    pub fn new(seed: u64) -> Self {
        Recording {
            seed,
            steps: Vec::new(),
            film: None,
        }
    }

    /// Adds a frame.
    pub fn push(&mut self, dt: Duration, input: I) {
        self.steps.push(Step { dt, input });
    }

    /// Keeps what the scripts did, so that a change of the code is noticed.
    pub fn keep(&mut self, film: Film) {
        self.film = Some(film);
    }

    /// The seed of the game.
    pub fn seed(&self) -> u64 {
        self.seed
    }

    /// The frames. Frame 1 is the first.
    pub fn steps(&self) -> &[Step<I>] {
        &self.steps
    }

    /// How many frames there are.
    pub fn len(&self) -> u64 {
        self.steps.len() as u64
    }

    /// Whether there are no frames.
    pub fn is_empty(&self) -> bool {
        self.steps.is_empty()
    }

    /// What the scripts did, if it was [kept](Recording::keep).
    pub fn film(&self) -> Option<&Film> {
        self.film.as_ref()
    }

    /// The first difference between two recordings: in the seed, in the inputs, or in
    /// what the scripts did. `None` if they are equal.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::time::Duration;
    /// use framestep_timeline::Recording;
    ///
    /// let mut left = Recording::new(7);
    /// left.push(Duration::from_millis(16), 'a');
    /// let mut right = left.clone();
    /// left.push(Duration::from_millis(16), 'b');
    /// right.push(Duration::from_millis(16), 'c');
    /// let difference = left.difference(&right).unwrap();
    /// assert_eq!(difference.to_string(), "the inputs of frame 2 differ");
    /// ```
    pub fn difference(&self, other: &Recording<I>) -> Option<RecordingDifference>
    where
        I: PartialEq,
    {
        if self.seed != other.seed {
            return Some(RecordingDifference::Seed(self.seed, other.seed));
        }
        let films = || self.film.as_ref()?.difference(other.film.as_ref()?);
        let pairs = self.steps.iter().zip(&other.steps);
        let inputs = (1..).zip(pairs).find(|(_, (a, b))| a != b);
        // Different inputs cause the other differences, unless the scripts differed
        // before.
        match (inputs, films()) {
            (Some((frame, _)), Some(film)) if film.frame >= frame => {
                Some(RecordingDifference::Input { frame })
            }
            (_, Some(film)) => Some(RecordingDifference::Scripts(Box::new(film))),
            (Some((frame, _)), None) => Some(RecordingDifference::Input { frame }),
            (None, None) if self.len() != other.len() => {
                Some(RecordingDifference::Length(self.len(), other.len()))
            }
            (None, None) => None,
        }
    }
}

/// Where two [recordings](Recording::difference) differ.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RecordingDifference {
    /// The seeds.
    Seed(u64, u64),
    /// The inputs or the length of a frame.
    Input {
        /// The first frame that differs.
        frame: u64,
    },
    /// What the scripts did with the same inputs: the code differs, or is not
    /// deterministic.
    Scripts(Box<Difference>),
    /// One has more frames than the other.
    Length(u64, u64),
}

impl fmt::Display for RecordingDifference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RecordingDifference::Seed(left, right) => {
                write!(f, "the seeds differ: {left} and {right}")
            }
            RecordingDifference::Input { frame } => write!(f, "the inputs of frame {frame} differ"),
            RecordingDifference::Scripts(difference) => difference.fmt(f),
            RecordingDifference::Length(left, right) => {
                write!(
                    f,
                    "they have {left} and {right} frames, and are equal that far"
                )
            }
        }
    }
}

/// A game that can go to any frame of a [`Recording`], by running again from the
/// beginning.
///
/// Scripts cannot be copied, so there are no saved states: to go back, it runs all frames
/// up to the one before. Games run thousands of frames a second when nothing is drawn.
///
/// # Examples
///
/// ```
/// use std::time::Duration;
/// use framestep::prelude::*;
/// use framestep_timeline::{Recording, Rewind};
///
/// let mut recording = Recording::new(0);
/// (0..1_000).for_each(|_| recording.push(Duration::from_millis(10), ()));
///
/// let mut rewind = Rewind::new(
///     recording,
///     |_seed, recorder| {
///         let executor = Executor::new();
///         recorder.watch(&executor);
///         executor.script("door").start(wait_seconds(9));
///         executor
///     },
///     |executor, step| executor.run_frame(step.dt),
/// );
/// rewind.go_to(812)?;
/// let still = rewind.still();
/// assert_eq!(still.get("door").unwrap().waits[0].what, "880ms, until 9s");
/// rewind.back()?;
/// assert_eq!(rewind.game().time().frame, 811);
/// # Ok::<(), framestep_timeline::RewindError>(())
/// ```
pub struct Rewind<I, G, M, S> {
    recording: Recording<I>,
    make: M,
    step: S,
    /// The game, its recorder and its frame. `None` only while it is being made.
    game: Option<(G, Recorder)>,
    frame: u64,
}

impl<I, G, M, S> Rewind<I, G, M, S>
where
    M: FnMut(u64, &Recorder) -> G,
    S: FnMut(&mut G, &Step<I>),
{
    /// Makes the game, which is then at frame 0.
    ///
    /// `make` makes a game from the seed, and has the recorder
    /// [watch](Recorder::watch) its executor before it starts scripts. `step` runs one
    /// frame.
    pub fn new(recording: Recording<I>, make: M, step: S) -> Self {
        let mut rewind = Rewind {
            recording,
            make,
            step,
            game: None,
            frame: 0,
        };
        rewind.begin();
        rewind
    }

    fn begin(&mut self) {
        // The old game is dropped first, because some games allow only one at a time.
        self.game = None;
        let recorder = Recorder::new();
        self.frame = 0;
        let game = (self.make)(self.recording.seed, &recorder);
        self.game = Some((game, recorder));
    }

    /// Goes to the end of a frame. Frame 0 is the beginning.
    ///
    /// # Errors
    ///
    /// If the recording has no such frame. If the recording has [kept](Recording::keep)
    /// what the scripts did, and this game does something else: then it stops at the
    /// first frame that differs.
    pub fn go_to(&mut self, frame: u64) -> Result<(), RewindError> {
        if frame > self.recording.len() {
            return Err(RewindError::PastTheEnd {
                frame,
                last: self.recording.len(),
            });
        }
        if frame < self.frame {
            self.begin();
        }
        let from = self.frame;
        while self.frame < frame {
            self.run_step();
        }
        let Some(difference) = self.check(from) else {
            return Ok(());
        };
        if difference.frame < self.frame {
            self.begin();
            while self.frame < difference.frame {
                self.run_step();
            }
        }
        Err(RewindError::Differs(Box::new(difference)))
    }

    fn run_step(&mut self) {
        let at = usize::try_from(self.frame).expect("a step of the recording");
        if let Some((game, _)) = &mut self.game {
            (self.step)(game, &self.recording.steps[at]);
        }
        self.frame += 1;
    }

    /// The first difference from the recording since a frame.
    fn check(&self, from: u64) -> Option<Difference> {
        let recorded = self.recording.film.as_ref()?;
        let cut = |film: &Film| film.clone().frames(from..=self.frame);
        cut(recorded).difference_so_far(&cut(&self.film()))
    }

    /// Goes back by one frame. At frame 0, it stays there.
    ///
    /// # Errors
    ///
    /// See [`go_to`](Rewind::go_to).
    pub fn back(&mut self) -> Result<(), RewindError> {
        self.go_to(self.frame.saturating_sub(1))
    }

    /// Goes forward by one frame.
    ///
    /// # Errors
    ///
    /// See [`go_to`](Rewind::go_to).
    pub fn forward(&mut self) -> Result<(), RewindError> {
        self.go_to(self.frame + 1)
    }

    /// The current frame: the game is at its end.
    pub fn frame(&self) -> u64 {
        self.frame
    }

    /// The game. Changes to it are lost when it goes back.
    pub fn game(&mut self) -> &mut G {
        let (game, _) = self.game.as_mut().expect("the game could not be made");
        game
    }

    /// The frames up to this one, as far as a recorder keeps them.
    pub fn film(&self) -> Film {
        let (_, recorder) = self.game.as_ref().expect("the game could not be made");
        recorder.film()
    }

    /// What each script waits for at this frame.
    ///
    /// # Panics
    ///
    /// If the recorder has seen no event.
    pub fn still(&self) -> Still {
        let still = self.film().at(self.frame);
        still.expect("`make` has to call `recorder.watch(&executor)` before it starts scripts")
    }

    /// The recording.
    pub fn recording(&self) -> &Recording<I> {
        &self.recording
    }
}

impl<I, G, M, S> fmt::Debug for Rewind<I, G, M, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut debug = f.debug_struct("Rewind");
        debug.field("frame", &self.frame);
        debug.field("frames", &self.recording.steps.len());
        debug.finish_non_exhaustive()
    }
}

/// Why a [`Rewind`] could not go to a frame.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RewindError {
    /// The recording is shorter.
    PastTheEnd {
        /// The requested frame.
        frame: u64,
        /// The last frame of the recording.
        last: u64,
    },
    /// The game does not do what was recorded: its code has changed, it has another seed,
    /// or it is not deterministic.
    Differs(Box<Difference>),
}

impl fmt::Display for RewindError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RewindError::PastTheEnd { frame, last } => {
                write!(
                    f,
                    "there is no frame {frame}: the recording ends with frame {last}"
                )
            }
            RewindError::Differs(difference) => {
                write!(f, "this game does not do what was recorded: {difference}")
            }
        }
    }
}

impl std::error::Error for RewindError {}
