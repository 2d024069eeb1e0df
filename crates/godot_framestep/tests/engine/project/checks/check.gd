# What all checks use.
extends Node

var failures: PackedStringArray

# Notes what Godot calls.
class Noting extends Node:
	func _process(_delta: float) -> void:
		Notes.add("%s" % name)
	func _physics_process(_delta: float) -> void:
		Notes.add("%s-step" % name)

func expect(what: Variant, expected: Variant) -> void:
	if typeof(what) != typeof(expected) or what != expected:
		failures.append("\n  is       %s\n  expected %s" % [what, expected])

# The notes since the last call.
func expect_notes(expected: String) -> void:
	expect(Notes.take(), expected)

func probe(parent: Node = self) -> Probe:
	var node := Probe.new()
	parent.add_child(node)
	return node

# Until all of so many frames are over, whatever is paused.
func frames(count: int) -> void:
	for _frame in count:
		await get_tree().process_frame
