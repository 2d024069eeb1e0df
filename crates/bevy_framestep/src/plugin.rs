//! The plugin: scripts in the schedules of an app.

use std::fmt;
use std::sync::Arc;

use bevy_app::{App, Plugin};
use bevy_ecs::prelude::*;
use bevy_ecs::schedule::ScheduleLabel;
use framestep::inspect::Report;
use framestep::{Builder, Phase};

use crate::clean_up;
use crate::executor::{
    Framestep, Shared, begin_fixed_step, begin_frame, end_fixed_step, run_scripts,
};
use crate::last::Runs;
use crate::output::ScriptOutput;
use crate::schedules::add_main_schedules;
use crate::setup::Setup;
use crate::wake::{self, MakeWake};

/// Runs scripts in an app, on Bevy's clocks.
///
/// | after the systems of | run the scripts of |
/// |---|---|
/// | `PreUpdate` | [`Phase::EarlyUpdate`] |
/// | `FixedUpdate` | [`Phase::FixedUpdate`] |
/// | `Update` | [`Phase::Update`] |
/// | `PostUpdate` | [`Phase::LateUpdate`] |
/// | `Last` | [`Phase::EndOfFrame`] |
///
/// [`run_after`](Self::run_after) chooses other schedules. The scripts run in the schedule
/// itself, as its last system: all others have run, and their commands are applied. Only
/// systems that are ordered after [`ScriptSystems::Run`] come later. A frame of the scripts
/// begins in `First`, as soon as Bevy's clocks have gone on.
///
/// [`ScriptSystems::Run`]: crate::ScriptSystems::Run
///
/// In an app without any script, only the first phase of a frame looks for scripts that a
/// [`RemoteHandle`](framestep::task::RemoteHandle) has sent.
///
/// In a [`SubApp`](bevy_app::SubApp) that has no schedules yet, the plugin adds those of an
/// app, and `Main` as the one that it runs. Add this plugin before `TimePlugin` there, or
/// insert `Time<Real>` and `Time<Virtual>` as the main app has them.
///
/// # Time
///
/// The game clock of the scripts is `Time<Virtual>`, their realtime is `Time<Real>`,
/// and their fixed steps are those of `Time<Fixed>`, to the nanosecond. Pause the game,
/// slow it down, change its clamp or the timestep there: scripts go along. Where a
/// clock was set back, the scripts go on by its latest delta.
///
/// Time that Bevy's clocks read before the plugin was added does not count.
///
/// # Panics
///
/// In the first frame, if the app has no `TimePlugin`. It is part of `DefaultPlugins`
/// and `MinimalPlugins`.
///
/// # Examples
///
/// ```
/// use std::time::Duration;
///
/// use bevy_app::App;
/// use bevy_framestep::prelude::*;
/// use bevy_time::{TimePlugin, TimeUpdateStrategy};
///
/// let mut app = App::new();
/// app.add_plugins((TimePlugin, FramestepPlugin::default()));
/// app.insert_resource(TimeUpdateStrategy::ManualDuration(Duration::from_millis(250)));
/// let door = app.world_mut().start_script(|| async {
///     wait_seconds(0.5).await;
///     time().frame
/// });
/// app.update(); // the first one takes no time: that is how Bevy's clocks begin
/// app.update();
/// assert!(!door.is_finished());
/// app.update();
/// assert!(door.is_finished());
/// ```
#[derive(Clone, Default)]
#[must_use = "a plugin does nothing until it is added to an app"]
pub struct FramestepPlugin {
    setup: Setup,
    /// Make the scripts' errors of a type heard.
    heard: Vec<fn(&Shared)>,
    kept: Kept,
    wake: Option<Arc<MakeWake>>,
}

/// How many events a stream keeps.
#[derive(Clone, Copy)]
struct Kept(usize);

impl Default for Kept {
    fn default() -> Self {
        Kept(1_024)
    }
}

impl FramestepPlugin {
    /// Runs the scripts of `phase` after the systems of `schedule`, instead of where
    /// they run otherwise. Phases after the same schedule run in the order in which they
    /// were first named.
    ///
    /// The schedule may be one of your own: the scripts run whenever it does.
    ///
    /// # Examples
    ///
    /// ```
    /// use bevy_app::{App, FixedPostUpdate};
    /// use bevy_framestep::prelude::*;
    /// use bevy_time::TimePlugin;
    ///
    /// const AFTER_PHYSICS: Phase = Phase::Custom(0);
    ///
    /// let mut app = App::new();
    /// app.add_plugins((
    ///     TimePlugin,
    ///     FramestepPlugin::default().run_after(AFTER_PHYSICS, FixedPostUpdate),
    /// ));
    /// ```
    pub fn run_after(mut self, phase: Phase, schedule: impl ScheduleLabel) -> Self {
        self.setup.run_after(phase, schedule);
        self
    }

    /// Sets up the executor. What it says of time has no effect: Bevy's clocks count.
    ///
    /// # Examples
    ///
    /// A panic of a script is to end the program, as one of a system does. (An app that
    /// catches such a panic cannot go on: Bevy has lost the schedules that were running.)
    ///
    /// ```
    /// use bevy_framestep::prelude::*;
    ///
    /// let plugin = FramestepPlugin::default().executor(|builder| builder.propagate_panics(true));
    /// # let _ = plugin;
    /// ```
    pub fn executor(mut self, setup: impl Fn(Builder) -> Builder + Send + Sync + 'static) -> Self {
        self.setup.executor(setup);
        self
    }

    /// Has `hook` called with every [`Report`]: a script that panicked and that nobody
    /// joins, one that keeps being woken. Without it, the first report of each kind is
    /// printed to standard error.
    ///
    /// # Examples
    ///
    /// ```
    /// use bevy_framestep::prelude::*;
    ///
    /// // In a game: `bevy::log::error!("{report}")`.
    /// let plugin = FramestepPlugin::default().on_report(|report| eprintln!("{report}"));
    /// # let _ = plugin;
    /// ```
    pub fn on_report(mut self, hook: impl Fn(&Report) + Send + Sync + 'static) -> Self {
        self.setup.on_report(hook);
        self
    }

    /// Has the errors in unobserved outputs of type `T` passed to Bevy's error handler, and those of
    /// scripts that return nothing besides such an error.
    ///
    /// Only for the errors of scripts that nothing but other scripts start, with
    /// [`start`](framestep::start()): the types of scripts that a system or the host has started
    /// [are known](crate::ScriptOutput).
    ///
    /// # Examples
    ///
    /// ```
    /// use bevy_framestep::prelude::*;
    ///
    /// async fn save() -> Result<u64, std::io::Error> {
    ///     Err(std::io::Error::other("disk full"))
    /// }
    ///
    /// async fn game() {
    ///     wait_seconds(60).await;
    ///     start(save());
    /// }
    ///
    /// let plugin = FramestepPlugin::default().hear_errors_of::<Result<u64, std::io::Error>>();
    /// # let _ = (plugin, game);
    /// ```
    pub fn hear_errors_of<T: ScriptOutput>(mut self) -> Self {
        self.heard.push(Shared::hear::<T>);
        self
    }

    /// Sets how many messages or events a stream keeps for a script that has not read them: 1,024,
    /// unless this is called. Beyond that, the stream loses the oldest ones, and
    /// [`missed`](crate::Messages::missed) counts them.
    ///
    /// It holds for [`messages`](crate::messages), for [`Events`](crate::Events), and for the waits for one
    /// of them. All scripts that wait for a type share the memory: it holds what the slowest one
    /// has not read.
    ///
    /// # Panics
    ///
    /// If `events` is zero.
    ///
    /// # Examples
    ///
    /// ```
    /// use bevy_framestep::prelude::*;
    ///
    /// let plugin = FramestepPlugin::default().keep_events(50_000);
    /// # let _ = plugin;
    /// ```
    #[track_caller]
    pub fn keep_events(mut self, events: usize) -> Self {
        assert!(events > 0, "a stream must keep one event at least");
        self.kept = Kept(events);
        self
    }

    /// Has an app woken that sleeps while nothing happens, as with
    /// `WinitSettings::desktop_app()`. `make` gets the world when all plugins are there, and
    /// returns a callback that asks for a frame.
    ///
    /// The callback is called after a frame if a script is awake, when the next timer is
    /// due, and when something outside of a frame wakes a script: on the thread that did
    /// it, or on one of the plugin's own for timers. [`next_frame_in`] says what is awake.
    ///
    /// Timers are due by the clocks of Bevy. Its `Time<Virtual>` goes on by 250 ms in a
    /// frame at the most, unless `set_max_delta` says otherwise.
    ///
    /// [`next_frame_in`]: crate::next_frame_in
    ///
    /// # Examples
    ///
    /// With `bevy_winit`, whose `EventLoopProxy` wakes the event loop:
    ///
    /// ```
    /// # use bevy_app::App;
    /// # use bevy_framestep::prelude::*;
    /// # use bevy_ecs::prelude::Resource;
    /// # #[derive(Resource)]
    /// # struct EventLoopProxyWrapper(EventLoopProxy);
    /// # impl std::ops::Deref for EventLoopProxyWrapper {
    /// #     type Target = EventLoopProxy;
    /// #     fn deref(&self) -> &EventLoopProxy {
    /// #         &self.0
    /// #     }
    /// # }
    /// # #[derive(Clone)]
    /// # struct EventLoopProxy;
    /// # impl EventLoopProxy {
    /// #     fn send_event(&self, _: WinitUserEvent) -> Result<(), ()> {
    /// #         Ok(())
    /// #     }
    /// # }
    /// # enum WinitUserEvent {
    /// #     WakeUp,
    /// # }
    /// // use bevy::winit::{EventLoopProxy, EventLoopProxyWrapper, WinitUserEvent};
    /// let plugin = FramestepPlugin::default().wake_with(|world| {
    ///     let proxy = EventLoopProxy::clone(world.resource::<EventLoopProxyWrapper>());
    ///     // It fails when the event loop has ended.
    ///     move || _ = proxy.send_event(WinitUserEvent::WakeUp)
    /// });
    /// # let _ = plugin;
    /// ```
    pub fn wake_with<W>(mut self, make: impl Fn(&World) -> W + Send + Sync + 'static) -> Self
    where
        W: Fn() + Send + Sync + 'static,
    {
        self.wake = Some(Arc::new(move |world: &World| Box::new(make(world))));
        self
    }
}

impl Plugin for FramestepPlugin {
    fn build(&self, app: &mut App) {
        add_main_schedules(app);

        let executor = self.setup.builder().build();
        self.setup.listen(&executor);
        Framestep::insert(app.world_mut(), executor, self.kept.0);
        let shared = Shared::of(app.world());
        for hear in &self.heard {
            hear(&shared);
        }
        self.setup.add_systems(
            app,
            Runs::Plain,
            begin_frame,
            (begin_fixed_step, end_fixed_step),
            run_phase,
        );
        #[cfg(feature = "state")]
        crate::transitions::add(app);
    }

    fn finish(&self, app: &mut App) {
        if let Some(make) = &self.wake {
            let wake = make(app.world());
            wake::install(app, wake);
        }
    }
}

fn run_phase(world: &mut World, phase: Phase) {
    run_scripts(world, phase);
    if phase == Phase::EndOfFrame {
        clean_up::end_at_exit(world);
    }
}

impl fmt::Debug for FramestepPlugin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FramestepPlugin")
            .field("setup", &self.setup)
            .finish_non_exhaustive()
    }
}
