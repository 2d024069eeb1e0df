//! The node that drives the scripts.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::fmt;
use std::rc::Rc;
use std::time::Duration;

use framestep::inspect::{CoroutineInfo, Snapshot, State};
use framestep::{Executor, Handle, Owner};
use godot::classes::node::ProcessMode;
use godot::classes::{ProjectSettings, RenderingServer, Time};
use godot::prelude::*;
use godot::signal::ConnectHandle;

use crate::debugger;
use crate::frames::Frames;
use crate::monitors::{self, Polls};
use crate::script::FramestepScript;
use crate::ties::Ties;
use crate::watch;

thread_local! {
    /// The state of the host in the tree. It is not in the node, so that scripts can use
    /// it while Godot has the node bound.
    static SHARED: RefCell<Option<Rc<Shared>>> = const { RefCell::new(None) };
}

/// The state that the host and the functions for scripts share.
pub(crate) struct Shared {
    /// Borrowed while scripts run.
    frames: RefCell<Frames>,
    pub(crate) handle: Handle,
    pub(crate) ties: Ties<InstanceId, Gd<Node>>,
    /// Owns the scripts that belong to no node: paused with the tree.
    pub(crate) free: Owner,
    /// Owns what announces the ends of scripts to Godot. It is never paused.
    pub(crate) watchers: Owner,
    /// The scripts whose end will be announced.
    pub(crate) awaited: RefCell<BTreeMap<InstanceId, Gd<FramestepScript>>>,
    pub(crate) tree: Gd<SceneTree>,
    /// It is processed unless the editor has suspended the game.
    host: Gd<Node>,
    pub(crate) polls: Polls,
    #[cfg(feature = "durable")]
    pub(crate) games: crate::durable::Games,
    /// `Time.get_ticks_usec()` in the latest frame.
    ticks: Cell<u64>,
}

/// Whether a setting of the project is there, and true.
fn is_set(setting: &str) -> bool {
    let settings = ProjectSettings::singleton();
    settings.has_setting(setting) && settings.get_setting(setting).booleanize()
}

impl Shared {
    fn new(tree: Gd<SceneTree>, host: Gd<Node>) -> Self {
        // Lines of code in snapshots, where they cost little beside the rest.
        let executor = Executor::builder()
            .inspect(cfg!(debug_assertions))
            .call_chains(cfg!(debug_assertions) && is_set("framestep/call_chains"))
            .build();
        executor.on_report(|report| godot_error!("{report}"));
        Shared {
            ties: Ties::new(executor.handle()),
            free: executor.owner(),
            watchers: executor.owner(),
            awaited: RefCell::default(),
            polls: Polls::default(),
            #[cfg(feature = "durable")]
            games: crate::durable::Games::default(),
            handle: executor.handle(),
            tree,
            host,
            ticks: Cell::new(Time::singleton().get_ticks_usec()),
            frames: RefCell::new(Frames::new(executor)),
        }
    }

    /// That of the host in the tree.
    pub(crate) fn get() -> Option<Rc<Shared>> {
        SHARED.with_borrow(Clone::clone)
    }

    /// How many scripts there are.
    pub(crate) fn count(&self) -> usize {
        match self.frames.try_borrow() {
            Ok(frames) => frames.driven().len(),
            // They are running.
            Err(_) => self.handle.snapshot().map_or(0, |snapshot| snapshot.len()),
        }
    }

    /// Calls `f` with the frames and the tree, unless scripts are running. Only a call
    /// back into the engine's main loop could cause that.
    fn run(&self, f: impl FnOnce(&mut Frames, &mut Gd<SceneTree>)) {
        let Ok(mut frames) = self.frames.try_borrow_mut() else {
            godot_error!("scripts cannot step the main loop that they run in");
            return;
        };
        f(&mut frames, &mut self.tree.clone());
    }

    /// Ends all scripts of a node.
    pub(crate) fn end(&self, node: InstanceId) {
        self.ties.end(node);
        self.clean_up();
    }

    /// Stops all scripts of a node.
    pub(crate) fn stop(&self, node: InstanceId) {
        self.ties.stop(node);
        self.clean_up();
    }

    /// Calls the closures that wait for the tree, of scripts that have ended. Not only in the
    /// next run: Godot may enter another scene before that.
    pub(crate) fn clean_up(&self) {
        self.handle.clean_up(&mut self.tree.clone());
    }

    /// Pauses the scripts of nodes that Godot does not process now.
    fn sync_pauses(&self) {
        if self.tree.is_paused() || !self.host.can_process() {
            self.free.pause();
        } else {
            self.free.resume();
        }
        self.ties.sync(|node| !node.can_process());
    }

    fn begin_step(&self, delta: f64) {
        self.sync_pauses();
        self.run(|frames, tree| frames.begin_step(delta, tree));
        #[cfg(feature = "durable")]
        self.games.each(&self.tree, |game| game.begin_step(delta));
    }

    fn begin_frame(&self, delta: f64) {
        self.sync_pauses();
        for (key, node) in self.ties.grow_old() {
            if node.is_instance_valid() && node.is_inside_tree() {
                watch::add(node);
            } else {
                self.ties.unwatch(key);
            }
        }
        self.polls.begin_frame();
        let now = Time::singleton().get_ticks_usec();
        let real = Duration::from_micros(now.saturating_sub(self.ticks.replace(now)));
        self.run(|frames, tree| frames.begin_frame(real, delta, tree));
        #[cfg(feature = "durable")]
        self.games
            .each(&self.tree, |game| game.begin_frame(real, delta));
    }

    fn end_step(&self) {
        self.run(Frames::end_step);
        #[cfg(feature = "durable")]
        self.games.each(&self.tree, |game| game.end_step());
    }

    fn update(&self) {
        self.run(Frames::update);
        #[cfg(feature = "durable")]
        self.games.each(&self.tree, |game| game.update());
    }

    fn end_frame(&self) {
        self.run(Frames::end_frame);
        #[cfg(feature = "durable")]
        self.games.each(&self.tree, |game| game.end_frame());
    }
}

/// Calls `f` with the scripts, if the host is in the tree.
pub(crate) fn with_shared(f: impl FnOnce(&Shared)) {
    if let Some(shared) = Shared::get() {
        f(&shared);
    }
}

/// The node that drives the scripts of a game: an autoload, of which there is one.
///
/// It runs the scripts of a frame, or of a physics step, after the `_process`, or
/// `_physics_process`, of all other nodes. It is processed even while the tree is paused:
/// scripts are paused with their node.
///
/// When it leaves the tree, all scripts end.
#[derive(GodotClass)]
#[class(base = Node, init)]
pub struct FramestepHost {
    connections: Vec<ConnectHandle>,
    base: Base<Node>,
}

#[godot_api]
impl INode for FramestepHost {
    fn enter_tree(&mut self) {
        let tree = self.base().get_tree();
        if Shared::get().is_some() {
            godot_error!("there is a FramestepHost already: this one drives nothing");
            return;
        }
        let this = self.to_gd().upcast::<Node>();
        let mut node = this.clone();
        node.set_process_mode(ProcessMode::ALWAYS);
        node.set_process_priority(i32::MAX);
        node.set_physics_process_priority(i32::MAX);

        SHARED.set(Some(Rc::new(Shared::new(tree.clone(), node))));
        // Both signals come before the nodes are processed, with the new delta.
        let step = this.clone();
        let begin_step = move || {
            let delta = step.get_physics_process_delta_time();
            with_shared(|shared| shared.begin_step(delta));
        };
        let begin_frame = move || {
            let delta = this.get_process_delta_time();
            with_shared(|shared| shared.begin_frame(delta));
        };
        let end_frame = || {
            with_shared(Shared::end_frame);
        };
        self.connections = vec![
            tree.signals().physics_frame().connect(begin_step),
            tree.signals().process_frame().connect(begin_frame),
            RenderingServer::singleton()
                .signals()
                .frame_post_draw()
                .connect(end_frame),
        ];
        monitors::add();
        debugger::add();
    }

    fn exit_tree(&mut self) {
        if self.connections.is_empty() {
            return;
        }
        for connection in self.connections.drain(..) {
            if connection.is_connected() {
                connection.disconnect();
            }
        }
        monitors::remove();
        debugger::remove();
        self.report_end();
        // If a script removes the host from the tree, the run still completes.
        if let Some(shared) = SHARED.take() {
            let (scripts, mut tree) = (shared.handle.clone(), shared.tree.clone());
            scripts.lend(&mut tree, |_| drop(shared));
        }
    }

    // The node itself is not bound, so scripts may call its methods.
    #[func(gd_self)]
    fn physics_process(_this: Gd<Self>, _delta: f64) {
        with_shared(Shared::end_step);
    }

    #[func(gd_self)]
    fn process(_this: Gd<Self>, _delta: f64) {
        with_shared(Shared::update);
    }
}

impl FramestepHost {
    /// The first `count` of the scripts.
    pub(crate) fn list(count: usize) -> Array<VarDictionary> {
        let snapshot = Shared::get().and_then(|shared| shared.handle.snapshot());
        let Some(snapshot) = snapshot else {
            return Array::new();
        };
        let describe = |script| Self::describe(&snapshot, script);
        snapshot.iter().take(count).map(describe).collect()
    }

    fn describe(snapshot: &Snapshot, script: &CoroutineInfo) -> VarDictionary {
        let state = match script.state() {
            State::Running => "running",
            State::Ready => "ready",
            State::Paused => "paused",
            _ => "waiting",
        };
        let waits: Vec<_> = script.waits().map(ToString::to_string).collect();
        let line = script.waits_at().find_map(|(_, line)| line);
        let chains = script.call_chains().flatten();
        let calls: Vec<_> = chains.map(ToString::to_string).collect();
        // Owners of another kind have no path as name.
        let node = script.owner().filter(|name| name.starts_with('/'));
        let since = script.since().map(|since| since.elapsed);
        let waited = since.and_then(|since| snapshot.time().elapsed.checked_sub(since));
        vdict! {
            "name" => script.short_name(),
            "node" => node.unwrap_or_default(),
            "state" => state,
            "waits_for" => waits.join(" | "),
            "line" => line.map(ToString::to_string).unwrap_or_default(),
            "calls" => calls.join("\n"),
            "seconds" => waited.map_or(-1.0, |waited| waited.as_secs_f64()),
        }
    }

    /// An autoload leaves the tree when the game quits. Another host leaves it with its scene.
    fn report_end(&self) {
        let parent = self.base().get_parent();
        let is_in_a_scene = parent.is_some_and(|parent| parent.get_parent().is_some());
        let scripts = Shared::get().map_or(0, |shared| shared.count());
        if is_in_a_scene && scripts > 0 {
            godot_warn!(
                "{} leaves the tree with its scene, so all scripts end ({scripts}): make it an autoload",
                self.to_gd()
            );
        }
    }
}

#[godot_api]
impl FramestepHost {
    /// What each script waits for: `print(FramestepHost.snapshot())`.
    #[func]
    fn snapshot() -> GString {
        let snapshot = Shared::get().and_then(|shared| shared.handle.snapshot());
        let text = snapshot.map_or_else(String::new, |snapshot| snapshot.to_string());
        GString::from(&text)
    }

    /// A dictionary for each script: its `name`, its `state` (`running`, `ready`, `waiting`,
    /// `paused`), and what it `waits_for`. In debug builds also the path of its `node`, the `line`
    /// of that `.await`, and for how many `seconds` of the game it has waited; else they are empty,
    /// and -1. If the project sets `framestep/call_chains`, also the `calls` through which the script has
    /// come to that line, innermost first.
    #[func]
    fn scripts() -> Array<VarDictionary> {
        Self::list(usize::MAX)
    }

    /// Ends the scripts of a node, as if it had left the tree.
    #[func]
    fn stop_scripts_of(node: Gd<Node>) {
        with_shared(|shared| shared.stop(node.instance_id()));
    }
}

impl fmt::Debug for FramestepHost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FramestepHost").finish_non_exhaustive()
    }
}
