//! Durable scripts, driven by the host beside the plain ones.

use std::cell::{Cell, RefCell};
use std::fmt;
use std::panic::Location;
use std::rc::{Rc, Weak};
use std::time::Duration;

use framestep::Phase;
use framestep_durable::prelude::{DeserializeOwned, Serialize};
use framestep_durable::{
    Policy, RestoreError, Restored, Runtime, RuntimeHandle, SaveError, SaveState,
};
use godot::prelude::*;

use crate::frames::{Driven, Frames};
use crate::scripts::shared;

/// A game whose scripts can be saved in the middle of an `.await`, loaded and rewound: a
/// [`Runtime`] of durable scripts and their world, which the
/// [`FramestepHost`](crate::FramestepHost) drives.
///
/// The scripts see `W`, and no nodes: what nodes show is rebuilt from the world. In each phase,
/// they run after the plain scripts, on the same clock. They stand still while the tree is paused,
/// and while it is not [active](Self::set_active). They end when this is dropped, such as with the
/// node that owns it, or when the host leaves the tree.
///
/// # Examples
///
/// ```no_run
/// use framestep_durable::prelude::*;
/// use godot::classes::{ILabel, Label};
/// use godot::prelude::*;
/// use godot_framestep::Durable;
///
/// #[derive(Default, Serialize, Deserialize)]
/// struct Story {
///     line: String,
/// }
///
/// #[durable]
/// async fn meeting() {
///     for line in ["Halt!", "Who goes there?", "Move along."] {
///         with(|story: &mut Story| story.line = line.into());
///         wait_seconds(2).await;
///     }
/// }
///
/// #[derive(GodotClass)]
/// #[class(base = Label, init)]
/// struct Teller {
///     story: Option<Durable<Story>>,
///     base: Base<Label>,
/// }
///
/// #[godot_api]
/// impl ILabel for Teller {
///     fn ready(&mut self) {
///         let runtime = Runtime::new(Registry::new().script(meeting));
///         let story = Durable::new(runtime, Story::default());
///         story.host().spawn(meeting()).detach();
///         self.story = Some(story);
///     }
///
///     fn process(&mut self, _delta: f64) {
///         let line = self.story.as_ref().map(|story| story.with(|story| story.line.clone()));
///         self.base_mut().set_text(&line.unwrap_or_default());
///     }
/// }
///
/// #[godot_api]
/// impl Teller {
///     /// For a file: in the middle of a line.
///     #[func]
///     fn save(&self) -> PackedByteArray {
///         match self.story.as_ref().map(Durable::save) {
///             Some(Ok(bytes)) => PackedByteArray::from(bytes.as_slice()),
///             Some(Err(error)) => {
///                 godot_error!("{error}");
///                 PackedByteArray::new()
///             }
///             None => PackedByteArray::new(),
///         }
///     }
/// }
/// ```
pub struct Durable<W: 'static> {
    game: Rc<Game<W>>,
}

/// A moment of a [`Durable`] game in memory, to go back to.
#[derive(Clone, Debug)]
pub struct Moment<W> {
    scripts: SaveState,
    world: W,
}

struct Game<W> {
    /// Borrowed while scripts run.
    frames: RefCell<Frames<Runtime>>,
    /// The same.
    world: RefCell<W>,
    host: RuntimeHandle,
    is_active: Cell<bool>,
}

impl<W: 'static> Durable<W> {
    /// Drives `runtime`, whose scripts see `world`, from the next step or frame on.
    ///
    /// # Panics
    ///
    /// If no [`FramestepHost`](crate::FramestepHost) is in the tree.
    #[track_caller]
    pub fn new(runtime: Runtime, world: W) -> Self {
        let shared = shared();
        runtime
            .executor()
            .on_report(|report| godot_error!("{report}"));
        let game = Rc::new(Game {
            host: runtime.host().clone(),
            frames: RefCell::new(Frames::new(runtime)),
            world: RefCell::new(world),
            is_active: Cell::new(true),
        });
        let entry: Weak<dyn Driver> = Rc::downgrade(&(game.clone() as Rc<dyn Driver>));
        shared.games.all.borrow_mut().push(entry);
        Durable { game }
    }

    /// Starts, stops and finds scripts, emits signals, answers requests: it has the methods of a
    /// [`Runtime`] that can be called at any time.
    pub fn host(&self) -> &RuntimeHandle {
        &self.game.host
    }

    /// Calls `f` with the world.
    ///
    /// # Panics
    ///
    /// In a script, and in what a script calls: there, `with` borrows the world.
    #[track_caller]
    pub fn with<R>(&self, f: impl FnOnce(&mut W) -> R) -> R {
        let Ok(mut world) = self.game.world.try_borrow_mut() else {
            panic!("the world is lent to the scripts, which run: borrow it with their `with`");
        };
        f(&mut world)
    }

    /// Whether the scripts run. If not, they stand still, and so does their clock.
    pub fn is_active(&self) -> bool {
        self.game.is_active.get()
    }

    /// Holds the scripts, or lets them run again, from the next step or frame on.
    pub fn set_active(&self, is_active: bool) {
        self.game.is_active.set(is_active);
    }

    /// The scripts and the world as the bytes of a file.
    ///
    /// # Errors
    ///
    /// If a script waits for something that cannot be saved.
    ///
    /// # Panics
    ///
    /// In a script and in what a script calls, in `_physics_process`, and if the `Serialize` of
    /// the world fails. `_process` and the functions of signals are fine.
    #[track_caller]
    pub fn save(&self) -> Result<Vec<u8>, SaveError>
    where
        W: Serialize,
    {
        let caller = Location::caller();
        let save = self.game.between_runs(caller, |runtime| runtime.save())?;
        Ok(save.to_bytes_with(&*self.game.world.borrow()))
    }

    /// Continues with what [`save`](Self::save) has written, in this process or in another one.
    /// The present scripts are dropped. `policy` is for scripts whose code has changed.
    ///
    /// # Errors
    ///
    /// If the bytes are damaged or do not fit the code. Nothing has changed then.
    ///
    /// # Panics
    ///
    /// In a script and in what a script calls, and in `_physics_process`.
    #[track_caller]
    pub fn load(&self, bytes: &[u8], policy: Policy) -> Result<Restored, RestoreError>
    where
        W: DeserializeOwned,
    {
        let caller = Location::caller();
        let (save, world) = SaveState::from_bytes_with::<W>(bytes)?;
        let restored = self
            .game
            .between_runs(caller, |runtime| runtime.restore(&save, policy))?;
        self.game.world.replace(world);
        Ok(restored)
    }

    /// This moment in memory. It shares what has been recorded, so a game can keep one of each
    /// frame.
    ///
    /// # Errors
    ///
    /// Those of [`save`](Self::save).
    ///
    /// # Panics
    ///
    /// In a script and in what a script calls, and in `_physics_process`.
    #[track_caller]
    pub fn moment(&self) -> Result<Moment<W>, SaveError>
    where
        W: Clone,
    {
        let caller = Location::caller();
        let scripts = self
            .game
            .between_runs(caller, |runtime| runtime.save_state())?;
        let world = self.game.world.borrow().clone();
        Ok(Moment { scripts, world })
    }

    /// Goes back to a moment of this game: rewinds it.
    ///
    /// # Errors
    ///
    /// If a script depends on what is not recorded. Nothing has changed then.
    ///
    /// # Panics
    ///
    /// In a script and in what a script calls, and in `_physics_process`.
    #[track_caller]
    pub fn go_back(&self, moment: &Moment<W>) -> Result<(), RestoreError>
    where
        W: Clone,
    {
        let caller = Location::caller();
        self.game
            .between_runs(caller, |runtime| runtime.rollback(&moment.scripts))?;
        self.game.world.replace(moment.world.clone());
        Ok(())
    }
}

impl<W: 'static> Game<W> {
    fn between_runs<R>(&self, caller: &Location<'_>, f: impl FnOnce(&mut Runtime) -> R) -> R {
        let Ok(mut frames) = self.frames.try_borrow_mut() else {
            panic!(
                "{caller}: the scripts run, so they can neither be saved nor replaced: do it in `_process`"
            );
        };
        assert!(
            !frames.is_in_step(),
            "{caller}: a physics step is under way, so scripts can neither be saved nor replaced: do it in `_process`"
        );
        f(frames.driven_mut())
    }

    fn run(&self, f: impl FnOnce(&mut Frames<Runtime>, &mut W)) {
        // Both are borrowed only if a script steps the main loop that it runs in, which the host
        // reports.
        let frames = self.frames.try_borrow_mut();
        if let (Ok(mut frames), Ok(mut world)) = (frames, self.world.try_borrow_mut()) {
            f(&mut frames, &mut world);
        }
    }
}

impl Driven for Runtime {
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
        self.lend(state, |runtime| runtime.run_phase(phase));
    }
}

/// A game of any world.
pub(crate) trait Driver {
    fn is_active(&self) -> bool;
    fn begin_step(&self, delta: f64);
    fn end_step(&self);
    fn begin_frame(&self, real: Duration, delta: f64);
    fn update(&self);
    fn end_frame(&self);
}

impl<W: 'static> Driver for Game<W> {
    fn is_active(&self) -> bool {
        self.is_active.get()
    }

    fn begin_step(&self, delta: f64) {
        self.run(|frames, world| frames.begin_step(delta, world));
    }

    fn end_step(&self) {
        self.run(Frames::end_step);
    }

    fn begin_frame(&self, real: Duration, delta: f64) {
        self.run(|frames, world| frames.begin_frame(real, delta, world));
    }

    fn update(&self) {
        self.run(Frames::update);
    }

    fn end_frame(&self) {
        self.run(Frames::end_frame);
    }
}

/// The games that the host drives, in the order in which they were made.
#[derive(Default)]
pub(crate) struct Games {
    all: RefCell<Vec<Weak<dyn Driver>>>,
}

impl Games {
    pub(crate) fn each(&self, tree: &Gd<SceneTree>, drive: impl Fn(&dyn Driver)) {
        if self.all.borrow().is_empty() || tree.is_paused() {
            return;
        }
        self.all.borrow_mut().retain(|game| game.strong_count() > 0);
        // A script may make another game.
        let count = self.all.borrow().len();
        for at in 0..count {
            let game = self.all.borrow()[at].upgrade();
            if let Some(game) = game.filter(|game| game.is_active()) {
                drive(&*game);
            }
        }
    }
}

impl<W> fmt::Debug for Durable<W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Durable")
            .field("is_active", &self.game.is_active)
            .finish_non_exhaustive()
    }
}
