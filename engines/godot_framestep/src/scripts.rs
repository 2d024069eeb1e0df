//! Starting scripts, on a node or on none.

use std::future::Future;
use std::rc::Rc;

use framestep::{Coroutine, OwnerHandle, with_ref};
use godot::classes::object::ConnectFlags;
use godot::prelude::*;

use crate::host::{Shared, with_shared};

#[track_caller]
fn shared() -> Rc<Shared> {
    match Shared::get() {
        Some(shared) => shared,
        None => panic!("scripts need a FramestepHost in the tree: make it an autoload"),
    }
}

/// The scene tree, in a script.
///
/// It is what the host lends to scripts: `with(|tree: &mut Gd<SceneTree>| ..)` borrows
/// the same.
///
/// # Panics
///
/// Outside a script.
#[track_caller]
pub fn tree() -> Gd<SceneTree> {
    with_ref(Gd::clone)
}

/// The owner of scripts that belong to no node. They go on when the scene changes, stand
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
/// They end when the node leaves the tree, destructors and all. They stand still while
/// Godot does not process the node, as its `process_mode` says: while the tree is paused,
/// for most nodes.
pub trait NodeScripts {
    /// Adds a script of this node. It is first polled in the next run of Update: that of
    /// this frame, in the `_process` of a node.
    ///
    /// This is the one for a node's own methods: when the script runs, no method has the
    /// node bound any more.
    ///
    /// On a node outside the tree it is refused: the handle is that of a script that
    /// was stopped before it began.
    ///
    /// # Panics
    ///
    /// If no [`FramestepHost`](crate::FramestepHost) is in the tree.
    #[track_caller]
    fn spawn_script<F>(&self, script: F) -> Coroutine<F::Output>
    where
        F: Future + 'static;

    /// Adds a script of this node and polls it at once, up to its first wait, or refuses
    /// it, like [`spawn_script`](Self::spawn_script).
    ///
    /// A script that binds the node panics if it is started so in a method that has
    /// `&mut self`.
    ///
    /// # Panics
    ///
    /// If no [`FramestepHost`](crate::FramestepHost) is in the tree.
    #[track_caller]
    fn start_script<F>(&self, script: F) -> Coroutine<F::Output>
    where
        F: Future + 'static;

    /// Stops all scripts of this node. It may have others at once.
    fn stop_scripts(&self);
}

impl<T: Inherits<Node>> NodeScripts for Gd<T> {
    fn spawn_script<F>(&self, script: F) -> Coroutine<F::Output>
    where
        F: Future + 'static,
    {
        owner_of(&shared(), self).spawn(script)
    }

    fn start_script<F>(&self, script: F) -> Coroutine<F::Output>
    where
        F: Future + 'static,
    {
        let shared = shared();
        let owner = owner_of(&shared, self);
        let mut tree = shared.tree.clone();
        match shared.handle.lend(&mut tree, |_| owner.start(script)) {
            Some(script) => script,
            None => unreachable!("the executor is as old as what the host shares"),
        }
    }

    fn stop_scripts(&self) {
        with_shared(|shared| shared.ties.stop(self.instance_id()));
    }
}

/// The owner of the scripts of `node`, which from now on end with it.
fn owner_of<T: Inherits<Node>>(shared: &Shared, node: &Gd<T>) -> OwnerHandle {
    let node = node.clone().upcast::<Node>();
    if !node.is_inside_tree() {
        return shared.refusing.handle();
    }
    let key = node.instance_id();
    let Some((owner, is_new)) = shared.ties.tie(key) else {
        return shared.refusing.handle();
    };
    if is_new {
        if !node.can_process() {
            owner.pause();
        }
        node.signals()
            .tree_exiting()
            .builder()
            .flags(ConnectFlags::ONE_SHOT)
            .connect(move || with_shared(|shared| shared.ties.end(key)));
    }
    owner
}
