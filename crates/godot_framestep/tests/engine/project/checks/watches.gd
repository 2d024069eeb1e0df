# Nodes whose scripts have lived for a second are watched: they are no longer asked whether they
# are paused.
extends "res://checks/check.gd"

# Until all are watched.
const OLD := 64

# A pause holds from the next frame on, or the next step.
func expect_no_updates() -> void:
	await frames(1)
	Notes.take()
	await frames(3)
	expect_notes("")

func expect_updates() -> void:
	await frames(1)
	Notes.take()
	await frames(2)
	expect_notes("update update")

func old_probe(parent: Node = self) -> Probe:
	var node := probe(parent)
	node.each("update", "update")
	await frames(OLD)
	expect(watches(node).size(), 1)
	Notes.take()
	return node

func watches(node: Node) -> Array[Node]:
	return node.get_children(true).filter(func(child: Node) -> bool: return child.get_class() == "FramestepWatch")

func check_pauses_of_all_kinds() -> void:
	var parent := Node.new()
	add_child(parent)
	var node: Probe = await old_probe(parent)
	var pauses := {
		"tree": func(on: bool) -> void: get_tree().paused = on,
		"node": func(on: bool) -> void: node.process_mode = PROCESS_MODE_DISABLED if on else PROCESS_MODE_INHERIT,
		"parent": func(on: bool) -> void: parent.process_mode = PROCESS_MODE_DISABLED if on else PROCESS_MODE_INHERIT,
		"when paused": func(on: bool) -> void: node.process_mode = PROCESS_MODE_WHEN_PAUSED if on else PROCESS_MODE_INHERIT,
	}
	process_mode = PROCESS_MODE_PAUSABLE
	for kind: String in pauses:
		pauses[kind].call(true)
		await expect_no_updates()
		pauses[kind].call(false)
		await expect_updates()
	# A change of its mode while the tree is paused.
	get_tree().paused = true
	await expect_no_updates()
	node.process_mode = PROCESS_MODE_ALWAYS
	await expect_updates()
	node.process_mode = PROCESS_MODE_INHERIT
	await expect_no_updates()

func check_a_pause_between_a_step_and_the_frame() -> void:
	var node: Probe = await old_probe()
	var step := func() -> void: node.process_mode = PROCESS_MODE_DISABLED
	get_tree().physics_frame.connect(step, CONNECT_ONE_SHOT)
	await frames(2)
	# In the frame of that step, it does not run any more.
	expect(Notes.take().count("update") <= 1, true)
	await frames(2)
	expect_notes("")

func check_the_game_does_not_see_it() -> void:
	var node := probe()
	var seen := func(child: Node) -> void: Notes.add("seen %s" % child)
	node.child_entered_tree.connect(seen)
	node.child_order_changed.connect(seen.bind(node))
	node.waits()
	await frames(OLD)
	expect(watches(node).size(), 1)
	expect_notes("")
	expect(node.is_blocking_signals(), false)
	expect(node.get_child_count(), 0)
	expect(node.get_children(), [] as Array[Node])
	var scene := PackedScene.new()
	scene.pack(node)
	expect(scene.get_state().get_node_count(), 1)

func check_a_copy_of_the_node_has_no_watch() -> void:
	var node: Probe = await old_probe()
	var copy := node.duplicate()
	add_child(copy)
	await frames(2)
	expect(copy.get_child_count(true), 0)
	Notes.take()

func check_a_node_that_loses_its_watch() -> void:
	var node: Probe = await old_probe()
	for child in node.get_children(true):
		child.free()
	node.process_mode = PROCESS_MODE_DISABLED
	await expect_no_updates()
	node.process_mode = PROCESS_MODE_INHERIT
	await expect_updates()
	# It gets another.
	await frames(OLD)
	expect(watches(node).size(), 1)

func check_a_watch_that_is_moved() -> void:
	var node: Probe = await old_probe()
	watches(node)[0].reparent(self)
	node.process_mode = PROCESS_MODE_DISABLED
	await expect_no_updates()
	expect(watches(self).size(), 0)

func check_a_node_that_is_freed_moved_or_removed() -> void:
	var node: Probe = await old_probe()
	node.waits()
	await frames(1)
	Notes.take()
	node.free()
	expect_notes("dropped")
	node = await old_probe()
	var parent := Node.new()
	add_child(parent)
	node.reparent(parent)
	await frames(2)
	expect_notes("")
	node.each("update", "again")
	await frames(3)
	parent.process_mode = PROCESS_MODE_DISABLED
	await expect_no_updates()

# As in a pool of bullets.
func check_a_node_that_comes_and_goes_has_one_watch() -> void:
	var node: Probe = await old_probe()
	for time in 3:
		remove_child(node)
		await frames(2)
		expect(watches(node).size(), 0)
		add_child(node)
		node.each("update", "update")
		await frames(OLD)
		expect(watches(node).size(), 1)

func check_a_hundred_nodes_are_watched_in_some_frames() -> void:
	var parent := Node.new()
	add_child(parent)
	for number in 100:
		probe(parent).each("update", "update")
	await frames(OLD + 100 / 16 + 2)
	for node in parent.get_children():
		expect(watches(node).size(), 1)
	process_mode = PROCESS_MODE_PAUSABLE
	get_tree().paused = true
	await expect_no_updates()
	get_tree().paused = false
	await frames(1)
	Notes.take()
	await frames(1)
	expect(Notes.take().count("update"), 100)
