# The last one: the game quits with live scripts of all kinds. It must not print anything.
extends "res://checks/check.gd"

func check_with_live_scripts() -> void:
	var level := Node.new()
	get_tree().root.add_child(level)
	for number in 100:
		var node := probe(level)
		node.each("update", "")
		node.each("end", "")
		node.add(1, 2, 60.0)
		node.hears(node.done)
		node.reads(get_tree().process_frame)
		node.hears_typed()
		Probe.tick_without_node("")
		node.calls(waits_for, [node])
		node.waits()
	await frames(3)
	Notes.take()

func waits_for(node: Probe) -> void:
	await node.done
