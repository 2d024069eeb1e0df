# What should not be done is an error, and the game goes on.
extends "res://checks/check.gd"

const WAITS: PackedStringArray = [
	"next_frame", "fixed_update", "end_of_frame", "wait_frames", "wait_steps", "wait_seconds",
	"wait_seconds_realtime", "wait_until", "interval", "animate", "its own signal", "another's signal",
	"emissions", "typed", "of the crate godot", "called", "promise", "timeout", "race", "join", "child",
]

class Other extends Node:
	signal never_emitted
	func never() -> void:
		await never_emitted

# The name and the end of each kind of end.
func ends() -> Dictionary[String, Callable]:
	return {
		"free": func(node: Node) -> void: node.free(),
		"queue_free": func(node: Node) -> void: node.queue_free(),
		"remove_child": func(node: Node) -> void: node.get_parent().remove_child(node); node.queue_free(),
		"reparent": func(node: Node) -> void: node.reparent(self),
		"stop": func(node: Node) -> void: FramestepHost.stop_scripts_of(node),
		"free of the parent": func(node: Node) -> void: node.get_parent().free(),
	}

func check_each_end_in_the_middle_of_each_wait() -> void:
	var other := Other.new()
	add_child(other)
	var kinds_of_ends := ends()
	for end in kinds_of_ends:
		for wait in WAITS:
			for length: int in [0, 3]:
				var parent := Node.new()
				add_child(parent)
				var node := probe(parent)
				var script: FramestepScript = node.waits_in(wait, other)
				await frames(length)
				expect([wait, end, script.is_running()], [wait, end, true])
				Notes.take()
				kinds_of_ends[end].call(node)
				await frames(2)
				expect([wait, end, Notes.take().strip_edges(), script.is_running()], [wait, end, "dropped", false])
				if is_instance_valid(node):
					node.free()
				if is_instance_valid(parent):
					parent.free()

func check_a_change_of_scene_in_the_middle_of_each_wait() -> void:
	var other := Other.new()
	add_child(other)
	var scene := PackedScene.new()
	var root := Node.new()
	scene.pack(root)
	root.free()
	get_tree().change_scene_to_packed(scene)
	await frames(2)
	var level := get_tree().current_scene
	for wait in WAITS:
		probe(level).waits_in(wait, other)
	await frames(3)
	Notes.take()
	get_tree().change_scene_to_packed(scene)
	await frames(2)
	expect(Notes.take().count("dropped"), WAITS.size())

# Its errors are expected: see scripts/plays/godot.
func check_a_node_that_stays_bound_across_an_await() -> void:
	var node := probe()
	node.stays_bound()
	var other: FramestepScript = probe().each("update", "other")
	await frames(2)
	Notes.take()
	# A method of it fails in Godot's way, and the game goes on.
	node.stop_all()
	expect(other.is_running(), true)
	await frames(1)
	expect_notes("other")
	# Its end unbinds it.
	node.free()
	expect_notes("unbound")

# The same for what it waits for: a loop takes a frame for each turn.
func check_a_loop_around_what_is_gone() -> void:
	var emitter := probe()
	var rang := emitter.done
	var talk := emitter.stop_all
	var node := probe()
	emitter.free()
	node.hears_again(rang, talk)
	await frames(7)
	expect(Notes.take().count("false false"), 3)

# Its error is expected.
func check_a_signal_with_other_arguments() -> void:
	var node := probe()
	var script: FramestepScript = node.hears_with_types()
	node.emit_signal("hit", "three", "Bob", self)
	node.emit_signal("hit", 3)
	await frames(2)
	# It continues to wait.
	expect_notes("")
	expect(script.is_running(), true)
	node.hit.emit(3, "Bob", self)
	await frames(1)
	expect_notes("3 Bob true")

func check_an_argument_that_is_freed_before_the_script_runs() -> void:
	var node := probe()
	node.hears_with_types()
	var bullet := Node.new()
	node.hit.emit(3, "Bob", bullet)
	bullet.free()
	await frames(1)
	expect_notes("3 Bob false")
