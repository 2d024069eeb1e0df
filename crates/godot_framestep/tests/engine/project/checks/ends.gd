# Scripts end with their nodes.
extends "res://checks/check.gd"

func check_queue_free_in_the_middle_of_an_await() -> void:
	var node := probe()
	var script: FramestepScript = node.add(1, 2, 5.0)
	await frames(3)
	node.queue_free()
	# It is freed at the end of this frame.
	expect(script.is_running(), true)
	expect_notes("")
	await frames(1)
	expect_notes("dropped")
	expect(script.is_running(), false)

func check_a_script_that_starts_while_its_node_leaves_the_tree() -> void:
	var node := probe()
	node.starts_one_in_its_end()
	await frames(2)
	node.queue_free()
	await frames(2)
	expect_notes("begins dropped")

func check_free() -> void:
	var node := probe()
	node.waits()
	await frames(1)
	node.free()
	expect_notes("dropped")

func check_a_parent_that_is_freed() -> void:
	var parent := Node.new()
	add_child(parent)
	probe(parent).waits()
	await frames(1)
	parent.free()
	expect_notes("dropped")

func check_a_node_that_is_freed_in_its_own_script() -> void:
	probe().frees_itself()
	await frames(4)
	expect_notes("frees is still polled dropped")

func check_a_node_that_moves_to_another_parent() -> void:
	var parent := Node.new()
	add_child(parent)
	var node := probe()
	var script: FramestepScript = node.waits()
	await frames(1)
	node.reparent(parent)
	expect_notes("dropped")
	expect(script.is_running(), false)
	# It may start new ones.
	expect(await node.add(1, 2, 0.0).join(), 3)

func check_a_child_that_changes_its_place_keeps_its_scripts() -> void:
	var node := probe()
	probe()
	var script: FramestepScript = node.waits()
	await frames(1)
	move_child(node, 1)
	await frames(2)
	expect(script.is_running(), true)

func check_a_node_outside_the_tree_is_refused() -> void:
	var node := Probe.new()
	var script: FramestepScript = node.add(1, 2, 0.0)
	expect(script.is_running(), false)
	expect(await script.finished, null)
	expect(script.error().contains("stopped"), true)
	node.free()

func check_a_change_of_scene() -> void:
	var scene := PackedScene.new()
	var root := Node.new()
	root.name = "Level"
	scene.pack(root)
	root.free()
	get_tree().change_scene_to_packed(scene)
	await frames(2)
	var level := get_tree().current_scene
	expect(level.name, &"Level")
	probe(level).waits()
	var free: FramestepScript = Probe.tick_without_node("free")
	await frames(1)
	Notes.take()
	get_tree().change_scene_to_packed(scene)
	await frames(2)
	expect(Notes.take().contains("dropped"), true)
	expect(is_instance_valid(level), false)
	expect(free.is_running(), true)
	free.stop()

func check_stop_scripts_of_a_node() -> void:
	var node := probe()
	node.waits()
	node.waits()
	await frames(1)
	node.stop_all()
	expect_notes("dropped dropped")
	node.waits()
	await frames(1)
	FramestepHost.stop_scripts_of(node)
	expect_notes("dropped")
