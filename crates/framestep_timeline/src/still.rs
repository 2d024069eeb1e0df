//! One frame of a film: what each script was waiting for.

use std::collections::HashMap;
use std::fmt;

use framestep::inspect::{CallChain, Snapshot};

use crate::film::Film;
use crate::record::Kind;
use crate::state::{Live, State};
use crate::text;

/// What each script was doing at the end of one frame.
///
/// It prints as a table, like [`framestep::inspect::Snapshot`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Still {
    frame: u64,
    elapsed: u64,
    scripts: Vec<ScriptAt>,
}

/// One script in a [`Still`].
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ScriptAt {
    /// Its id, as [`framestep::task::CoroutineId`] prints it.
    pub id: String,
    /// Its name, without the modules of a path, and with escapes for hidden characters.
    pub name: String,
    /// The name of its owner.
    pub owner: Option<String>,
    /// What it was doing.
    pub doing: Doing,
    /// What it was waiting for. The first of these that is due resumes it.
    pub waits: Vec<WaitAt>,
    /// The functions through which it had come to its waits. Empty without
    /// [`Still::with_call_chains`].
    pub call_chains: Vec<CallChain>,
}

/// What a script was doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Doing {
    /// It was spawned, and had not been polled yet.
    New,
    /// It waited.
    Waiting,
    /// It had been woken, and not polled since.
    Ready,
    /// It was paused.
    Paused,
}

/// One wait of a script in a [`Still`].
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct WaitAt {
    /// What it waited for, as [`framestep::inspect::Wait`] prints it.
    pub what: String,
    /// The file, line and column of the `.await`. If a crate from elsewhere contains it, the line
    /// of another wait of the script comes first, or that which started the script:
    /// `src/door.rs:12:30, in futures-util-0.3.31/src/stream.rs:9:12`.
    pub place: Option<String>,
    /// The frame in which the wait began.
    pub since: u64,
}

impl Film {
    /// What the scripts were doing at the end of a frame. `None` if the film does not have
    /// the frame.
    ///
    /// # Examples
    ///
    /// ```
    /// use framestep::prelude::*;
    /// use framestep_timeline::Recorder;
    ///
    /// let mut executor = Executor::new();
    /// let recorder = Recorder::new();
    /// recorder.watch(&executor);
    /// executor.script("door").start(wait_seconds(2));
    /// executor.run_frames(20, 0.25);
    ///
    /// let still = recorder.film().at(3).unwrap();
    /// assert_eq!(still.get("door").unwrap().waits[0].what, "1.25s, until 2s");
    /// assert!(recorder.film().at(9).unwrap().scripts().is_empty());
    /// ```
    pub fn at(&self, frame: u64) -> Option<Still> {
        let range = self.range()?;
        if !range.contains(&frame) {
            return None;
        }
        let mut state = self.base.clone();
        for record in &self.records {
            if record.kind == Kind::FrameBegan && record.frame() > frame {
                break;
            }
            state.apply(record);
        }
        Some(self.still(&state, frame))
    }

    fn still(&self, state: &State, frame: u64) -> Still {
        let live = (0..).zip(&state.live);
        let alive = live.filter(|(script, live)| live.is_alive && self.is_shown(*script));
        let mut scripts: Vec<(u64, ScriptAt)> = alive
            .map(|(script, live)| {
                let at = self.script_at(script, live, state.elapsed);
                (self.script(script).serial, at)
            })
            .collect();
        scripts.sort_by_key(|(serial, _)| *serial);
        Still {
            frame,
            elapsed: state.elapsed,
            scripts: scripts.into_iter().map(|(_, script)| script).collect(),
        }
    }

    fn script_at(&self, script: u32, live: &Live, now: u64) -> ScriptAt {
        ScriptAt {
            id: self.label(script).to_owned(),
            name: self.name(script),
            owner: self.owner(script),
            doing: match live {
                Live {
                    paused: Some(_), ..
                } => Doing::Paused,
                Live { is_woken: true, .. } => Doing::Ready,
                Live {
                    was_polled: false,
                    waits,
                    ..
                } if waits.is_empty() => Doing::New,
                _ => Doing::Waiting,
            },
            waits: live
                .waits
                .iter()
                .map(|open| WaitAt {
                    what: self.wait(&open.record, Some(now)),
                    place: self.line_of(
                        script,
                        open.record.place(),
                        live.waits.iter().map(|other| other.record.place()),
                    ),
                    since: open.frame,
                })
                .collect(),
            call_chains: Vec::new(),
        }
    }
}

impl Still {
    /// The frame.
    pub fn frame(&self) -> u64 {
        self.frame
    }

    /// The scripts that were alive, in the order in which they were spawned.
    pub fn scripts(&self) -> &[ScriptAt] {
        &self.scripts
    }

    /// The first script with this name or this id.
    pub fn get(&self, name: &str) -> Option<&ScriptAt> {
        let is_it = |script: &&ScriptAt| script.name == name || script.id == name;
        self.scripts.iter().find(is_it)
    }

    /// Adds the call chains of a snapshot of the same frame: the `async fn`s through which each script
    /// has come to its waits, which a print lists below the script.
    ///
    /// The executor must [note them](framestep::Builder::call_chains). A film has none, since an event
    /// takes 24 bytes: those of an earlier frame come from a [`Rewind`](crate::Rewind), which runs the game
    /// to that frame again.
    ///
    /// # Panics
    ///
    /// If the snapshot is of another frame.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::time::Duration;
    /// use framestep::prelude::*;
    /// use framestep_timeline::{Recording, Rewind};
    ///
    /// async fn breathe() {
    ///     wait_seconds(1).await;
    /// }
    ///
    /// async fn dragon() {
    ///     wait_seconds(2).await;
    ///     breathe().await;
    /// }
    ///
    /// let mut recording = Recording::new(0);
    /// (0..20).for_each(|_| recording.push(Duration::from_millis(250), ()));
    /// let mut rewind = Rewind::new(
    ///     recording,
    ///     |_seed, recorder| {
    ///         let executor = Executor::builder().call_chains(true).build();
    ///         recorder.watch(&executor);
    ///         executor.script("dragon").start(dragon());
    ///         executor
    ///     },
    ///     |executor, step| executor.run_frame(step.dt),
    /// );
    /// rewind.go_to(10)?;
    /// let snapshot = rewind.game().snapshot();
    /// let still = rewind.still().with_call_chains(&snapshot);
    /// // Of `breathe`, and of `dragon`, which awaits it.
    /// assert_eq!(still.get("dragon").unwrap().call_chains[0].calls().len(), 2);
    /// # Ok::<(), framestep_timeline::RewindError>(())
    /// ```
    #[must_use]
    #[track_caller]
    pub fn with_call_chains(mut self, snapshot: &Snapshot) -> Self {
        let frame = snapshot.time().frame;
        assert_eq!(
            frame, self.frame,
            "the snapshot is of frame {frame}, and the still of frame {}: take both at the same frame",
            self.frame
        );
        let chains = snapshot.iter().map(|script| {
            let chains = script.call_chains().flatten().cloned();
            (script.id().to_string(), chains.collect())
        });
        let mut chains: HashMap<String, Vec<CallChain>> = chains.collect();
        for script in &mut self.scripts {
            script.call_chains = chains.remove(&script.id).unwrap_or_default();
        }
        self
    }
}

impl fmt::Display for Still {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (frame, elapsed) = (self.frame, text::seconds(self.elapsed));
        let scripts = text::counted(self.scripts.len() as u64, "script");
        writeln!(f, "frame {frame}, {elapsed}: {scripts}")?;
        let width = |column: fn(&ScriptAt) -> &str| {
            let widths = self
                .scripts
                .iter()
                .map(|script| column(script).chars().count());
            widths.max().unwrap_or(0)
        };
        let ids = width(|script| &script.id);
        let names = width(|script| &script.name).min(40);
        for script in &self.scripts {
            let name = text::shorten(&script.name, 40);
            write!(f, "  {:ids$}  {name:names$}  {}", script.id, script.state())?;
            if let Some(owner) = &script.owner {
                write!(f, "  [{owner}]")?;
            }
            writeln!(f)?;
            for chain in &script.call_chains {
                for call in chain.to_string().lines() {
                    writeln!(f, "  {:ids$}  in {}", "", text::visible(call))?;
                }
            }
        }
        Ok(())
    }
}

impl ScriptAt {
    /// Its state in words: `signal lever, since frame 3, at src/door.rs:12:30`.
    pub fn state(&self) -> String {
        let waits: Vec<String> = self.waits.iter().map(WaitAt::to_string).collect();
        let waits = waits.join(" | ");
        match self.doing {
            Doing::New => "not polled yet".to_owned(),
            Doing::Ready if waits.is_empty() => "ready".to_owned(),
            Doing::Ready => format!("ready: {waits}"),
            Doing::Paused if waits.is_empty() => "paused".to_owned(),
            Doing::Paused => format!("paused: {waits}"),
            Doing::Waiting => waits,
        }
    }
}

impl fmt::Display for WaitAt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, since frame {}", self.what, self.since)?;
        match &self.place {
            Some(place) => write!(f, ", at {place}"),
            None => Ok(()),
        }
    }
}
