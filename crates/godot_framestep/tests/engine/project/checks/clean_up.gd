# When the clean-up of a script runs: a check for each row of the table in the README. `dropped` is a
# destructor, `cleaned` a closure that borrows the tree.
extends "res://checks/check.gd"

# A node with the script, which has begun.
func cleaning(parent: Node = self) -> Probe:
	var node := probe(parent)
	node.cleans_up()
	await frames(2)
	expect_notes("")
	return node

func check_queue_free() -> void:
	var node: Probe = await cleaning()
	node.tree_exited.connect(func() -> void: Notes.add("exited"))
	node.queue_free()
	expect_notes("")
	await frames(1)
	expect_notes("dropped cleaned exited")

func check_free() -> void:
	var node: Probe = await cleaning()
	node.free()
	expect_notes("dropped cleaned")

func check_remove_child() -> void:
	var node: Probe = await cleaning()
	remove_child(node)
	expect_notes("dropped cleaned")
	node.free()

func check_reparent() -> void:
	var parent := Node.new()
	add_child(parent)
	var node: Probe = await cleaning()
	node.reparent(parent)
	expect_notes("dropped cleaned")

func check_change_of_scene() -> void:
	var scene := PackedScene.new()
	var root := Node.new()
	scene.pack(root)
	root.free()
	get_tree().change_scene_to_packed(scene)
	await frames(2)
	await cleaning(get_tree().current_scene)
	get_tree().scene_changed.connect(func() -> void: Notes.add("changed"), CONNECT_ONE_SHOT)
	get_tree().change_scene_to_packed(scene)
	await frames(2)
	expect_notes("dropped cleaned changed")

func check_stop_of_a_script() -> void:
	var script: FramestepScript = Probe.cleans_up_without_node()
	await frames(2)
	expect(script.stop(), true)
	expect_notes("dropped cleaned")

func check_stop_scripts() -> void:
	var node: Probe = await cleaning()
	FramestepHost.stop_scripts_of(node)
	expect_notes("dropped cleaned")
	node.cleans_up()
	await frames(2)
	node.stop_all()
	expect_notes("dropped cleaned")

func check_a_return() -> void:
	probe().cleans_up_soon(false)
	await frames(4)
	expect_notes("ends dropped cleaned")

# Its panic is expected: see scripts/plays/godot.
func check_a_panic() -> void:
	probe().cleans_up_soon(true)
	await frames(4)
	expect_notes("dropped cleaned")

func check_the_host_leaves_the_tree() -> void:
	await cleaning()
	var host := get_node("/root/Framestep")
	get_tree().root.remove_child(host)
	expect_notes("dropped cleaned")
	get_tree().root.add_child(host)
	get_tree().root.move_child(host, 0)
