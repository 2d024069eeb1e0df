//! Sees when Godot stops or starts processing a node, so that it need not be asked in each frame.

use godot::classes::node::InternalMode;
use godot::classes::notify::NodeNotification;
use godot::prelude::*;

use crate::host::with_shared;

/// An internal child of a node whose scripts have lived for a second. Godot notifies a node when
/// it can no longer process, or can again, but has no signal for that. What it notifies a child
/// of with the process mode *Inherit* is true of the parent, too.
///
/// Internal children are not saved, and `get_children()` leaves them out.
#[derive(GodotClass)]
#[class(base = Node, init, internal)]
pub(crate) struct FramestepWatch {
    /// `None` in a copy, which Godot has made with the node.
    watched: Option<InstanceId>,
    base: Base<Node>,
}

/// Adds a watch to a node of the tree. If that cannot be, the node continues to be asked.
pub(crate) fn add(mut node: Gd<Node>) {
    let key = node.instance_id();
    let mut watch = FramestepWatch::new_alloc();
    watch.bind_mut().watched = Some(key);
    watch.set_name("FramestepWatch");
    // A game that listens to its own children does not expect this one.
    let blocks = node.is_blocking_signals();
    node.set_block_signals(true);
    node.add_child_ex(&watch)
        .internal(InternalMode::BACK)
        .done();
    // Handlers of the tree's signals may have freed it.
    if node.is_instance_valid() {
        node.set_block_signals(blocks);
    }
    if watch.is_instance_valid() && !watch.is_inside_tree() {
        watch.free();
        with_shared(|shared| shared.ties.unwatch(key));
    }
}

#[godot_api]
impl INode for FramestepWatch {
    fn on_notification(&mut self, what: NodeNotification) {
        let parent = match what {
            NodeNotification::ENTER_TREE => self.base().get_parent(),
            _ => None,
        };
        let is_elsewhere = |key| parent.is_some_and(|parent| parent.instance_id() != key);
        match self.watched {
            // Godot has copied it, or it was moved.
            None if what == NodeNotification::ENTER_TREE => self.base_mut().queue_free(),
            Some(key) if is_elsewhere(key) => self.base_mut().queue_free(),
            Some(key) if what == NodeNotification::EXIT_TREE => {
                with_shared(|shared| shared.ties.unwatch(key));
                // The node may come back, and gets another one then.
                self.base_mut().queue_free();
            }
            // Godot has several reasons not to process a node: whatever it is, the node is asked.
            Some(key) => with_shared(|shared| shared.ties.ask_soon(key)),
            None => {}
        }
    }
}
