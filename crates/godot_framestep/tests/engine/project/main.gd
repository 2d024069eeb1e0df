# Runs the checks that the command line names, or all but `gdscript`, and quits: 0 if all passed.
#
#   godot --headless --fixed-fps 60 --path . [-- NAME..]
extends Node

const CHECKS := ["order", "ends", "clean_up", "pauses", "signals", "functions", "objects", "misuse", "watches", "hosts", "durable", "sweep", "quits"]

func _ready() -> void:
	if OS.get_cmdline_user_args() == PackedStringArray(["cost"]):
		add_child(preload("res://cost.gd").new())
		return
	# Outside the scene, so that a check can change it.
	var runner := preload("res://runner.gd").new()
	runner.name = "Runner"
	runner.process_mode = PROCESS_MODE_ALWAYS
	runner.files = OS.get_cmdline_user_args() if OS.get_cmdline_user_args() else PackedStringArray(CHECKS)
	get_tree().root.add_child.call_deferred(runner)
