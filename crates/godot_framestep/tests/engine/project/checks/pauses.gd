# Scripts are paused with their node.
extends "res://checks/check.gd"

func check_process_modes_in_a_paused_tree() -> void:
	var modes := {
		"inherits": PROCESS_MODE_PAUSABLE,
		"always": PROCESS_MODE_ALWAYS,
		"when_paused": PROCESS_MODE_WHEN_PAUSED,
		"disabled": PROCESS_MODE_DISABLED,
	}
	for mode: String in modes:
		var node := probe()
		node.process_mode = modes[mode]
		node.each("update", mode)
		node.each("fixed", mode + "-step")
	await frames(3)
	Notes.take()
	await frames(1)
	expect_notes("inherits always inherits-step always-step")
	get_tree().paused = true
	await frames(2)
	Notes.take()
	await frames(8)
	var notes := Notes.take().split(" ")
	# Godot makes no steps for a tree that is paused, other than for nodes that may move.
	for mode: String in ["always", "when_paused"]:
		expect(notes.count(mode), 8)
		expect(notes.count(mode + "-step"), 8)
	expect(notes.size(), 32)
	get_tree().paused = false

func check_scripts_without_a_node_are_paused_with_the_tree() -> void:
	var free: FramestepScript = Probe.tick_without_node("free")
	await frames(2)
	get_tree().paused = true
	await frames(30)
	expect_notes("")
	get_tree().paused = false
	await frames(3)
	expect_notes("free@33")
	free.stop()

func check_a_wait_stands_still_with_its_node() -> void:
	var node := probe()
	node.tick("tick", 0.1)
	await frames(4)
	node.process_mode = PROCESS_MODE_DISABLED
	await frames(30)
	expect_notes("")
	node.process_mode = PROCESS_MODE_INHERIT
	await frames(4)
	expect_notes("tick@36")

func check_a_script_that_starts_in_a_pause() -> void:
	get_tree().paused = true
	var parent := Node.new()
	parent.process_mode = PROCESS_MODE_PAUSABLE
	add_child(parent)
	var script: FramestepScript = probe(parent).add(1, 2, 0.02)
	expect(script.is_paused(), true)
	await frames(5)
	expect(script.is_running(), true)
	get_tree().paused = false
	expect(await script.join(), 3)

func check_a_parent_that_is_disabled() -> void:
	var parent := Node.new()
	add_child(parent)
	var script: FramestepScript = probe(parent).each("update", "update")
	await frames(2)
	parent.process_mode = PROCESS_MODE_DISABLED
	await frames(2)
	Notes.take()
	await frames(2)
	expect_notes("")
	expect(script.is_paused(), true)
	expect(script.is_running(), true)
