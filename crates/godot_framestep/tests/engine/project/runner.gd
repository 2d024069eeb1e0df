# Runs the methods `check_..` of the files that it is given.
extends Node

var files: PackedStringArray
var failed := 0
var passed := 0

func _ready() -> void:
	for file in files:
		var script: GDScript = load("res://checks/%s.gd" % file)
		if not script or not script.can_instantiate():
			printerr("%s cannot be loaded" % file)
			failed += 1
			continue
		for method in script.get_script_method_list():
			if method.name.begins_with("check_"):
				await run(file, script, method.name)
	print("%d checks passed, %d failed" % [passed, failed])
	get_tree().quit(1 if failed else 0)

func run(file: String, script: GDScript, method: String) -> void:
	var check: Node = script.new()
	add_child(check)
	await get_tree().process_frame
	Notes.take()
	await check.call(method)
	for failure in check.failures:
		printerr("%s.%s: %s" % [file, method, failure])
	print("%s %s.%s" % ["FAILED" if check.failures else "ok", file, method.trim_prefix("check_")])
	if check.failures:
		failed += 1
	else:
		passed += 1
	get_tree().paused = false
	Engine.time_scale = 1.0
	Engine.physics_ticks_per_second = 60
	check.free()
	await get_tree().process_frame
