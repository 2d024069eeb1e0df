//! Starting scripts, with or without a node.

use std::future::Future;
use std::panic::Location;
use std::rc::Rc;

use framestep::Coroutine;
use framestep::lend::with_ref;
use framestep::task::OwnerHandle;
use godot::classes::Engine;
use godot::classes::object::ConnectFlags;
use godot::prelude::*;

use crate::host::{Shared, with_shared};

#[track_caller]
pub(crate) fn shared() -> Rc<Shared> {
    match Shared::get() {
        Some(shared) => shared,
        None if Engine::singleton().is_editor_hint() => panic!(
            "scripts do not run in the editor: in a class with `tool`, ask \
             `Engine::singleton().is_editor_hint()` before you start one"
        ),
        None => panic!(
            "scripts need a FramestepHost in the tree: make `res://addons/framestep/host.tscn` an autoload"
        ),
    }
}

/// The scene tree, in a script.
///
/// The host lends it to scripts: `with(|tree: &mut Gd<SceneTree>| ..)` borrows the same.
///
/// # Panics
///
/// Outside a script.
#[track_caller]
pub fn tree() -> Gd<SceneTree> {
    with_ref(Gd::clone)
}

/// The owner of scripts without a node. They continue when the scene changes, stand
/// still while the tree is paused, and end with the host.
///
/// # Panics
///
/// If no [`FramestepHost`](crate::FramestepHost) is in the tree.
#[track_caller]
pub fn scripts() -> OwnerHandle {
    shared().free.handle()
}

/// Scripts of a node.
///
/// They are dropped when the node leaves the tree, and their destructors run. They stand
/// still while Godot does not process the node, according to its `process_mode`: for
/// most nodes, while the tree is paused.
pub trait NodeScripts {
    /// Adds a script of this node. It is first polled in the next run of Update. In the
    /// `_process` of a node, that is the run of this frame.
    ///
    /// Use it in a node's own methods: when the script runs, no method has the node
    /// bound.
    ///
    /// # Errors
    ///
    /// A node outside the tree has no scripts: this one is dropped, the handle is that of a
    /// script that was stopped before it began, and Godot's output has an error with the line
    /// of this call.
    ///
    /// # Panics
    ///
    /// If no [`FramestepHost`](crate::FramestepHost) is in the tree.
    #[track_caller]
    fn spawn_script<F>(&self, script: F) -> Coroutine<F::Output>
    where
        F: Future + 'static;

    /// Adds a script of this node and polls it at once, up to its first wait.
    ///
    /// If this is called in a method with `&mut self`, a script that binds the node
    /// panics.
    ///
    /// # Errors
    ///
    /// Those of [`spawn_script`](Self::spawn_script).
    ///
    /// # Panics
    ///
    /// If no [`FramestepHost`](crate::FramestepHost) is in the tree.
    #[track_caller]
    fn start_script<F>(&self, script: F) -> Coroutine<F::Output>
    where
        F: Future + 'static;

    /// Stops all scripts of this node. New ones can be added at once.
    fn stop_scripts(&self);
}

impl<T: Inherits<Node>> NodeScripts for Gd<T> {
    #[track_caller]
    fn spawn_script<F>(&self, script: F) -> Coroutine<F::Output>
    where
        F: Future + 'static,
    {
        match owner_of(&shared(), self.clone().upcast(), Location::caller()) {
            Some(owner) => owner.spawn(script),
            None => Coroutine::default(),
        }
    }

    #[track_caller]
    fn start_script<F>(&self, script: F) -> Coroutine<F::Output>
    where
        F: Future + 'static,
    {
        let shared = shared();
        let Some(owner) = owner_of(&shared, self.clone().upcast(), Location::caller()) else {
            return Coroutine::default();
        };
        owner.start_with(&mut shared.tree.clone(), script)
    }

    fn stop_scripts(&self) {
        with_shared(|shared| shared.stop(self.instance_id()));
    }
}

/// The owner of the scripts of `node`. From now on they end with the node. `None` if the node
/// can have none.
fn owner_of(shared: &Shared, node: Gd<Node>, caller: &Location<'_>) -> Option<OwnerHandle> {
    if !node.is_inside_tree() {
        godot_error!(
            "{caller}: {node} is not in the tree, so its script does not run: start it in `ready` \
             or later, or with `scripts()`"
        );
        return None;
    }
    let key = node.instance_id();
    let (owner, is_new) = shared.ties.tie(key, || {
        // For snapshots, which have no lines of code in a release either.
        let path = cfg!(debug_assertions).then(|| node.get_path().to_string());
        (node.clone(), path)
    })?;
    if is_new {
        shared.ties.sync_one(key, !node.can_process());
        let end = move || with_shared(|shared| shared.end(key));
        let once = ConnectFlags::ONE_SHOT;
        node.signals()
            .tree_exiting()
            .builder()
            .flags(once)
            .connect(end);
        // Of scripts that start while it is leaving the tree.
        node.signals()
            .tree_exited()
            .builder()
            .flags(once)
            .connect(end);
    }
    Some(owner)
}
