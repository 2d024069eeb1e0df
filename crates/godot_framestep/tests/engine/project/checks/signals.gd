# Scripts wait for signals.
extends "res://checks/check.gd"

signal nothing
signal three(a: int, b: String, c: Node)

func check_arguments() -> void:
	var node := probe()
	node.hears(nothing)
	node.hears(three)
	await frames(1)
	nothing.emit()
	three.emit(1, "two", self)
	expect_notes("")
	await frames(1)
	expect_notes("[] [1, two, %s]" % self)

func check_an_emission_at_once() -> void:
	probe().hears(nothing)
	nothing.emit()
	await frames(1)
	expect_notes("[]")

func check_emissions_are_all_read() -> void:
	probe().reads(three)
	for number in 3:
		three.emit(number, "", null)
	await frames(5)
	expect_notes("[0, , <null>] [1, , <null>] [2, , <null>]")

func check_an_emitter_that_is_freed() -> void:
	var emitter := probe()
	var node := probe()
	var hears: FramestepScript = node.hears(emitter.done)
	node.reads(emitter.done)
	emitter.hears_typed()
	await frames(1)
	emitter.done.emit()
	await frames(1)
	expect_notes("[] []")
	node.hears(emitter.done)
	await frames(1)
	emitter.free()
	await frames(2)
	expect_notes("freed freed")
	expect(hears.is_running(), false)

func check_a_reference_that_is_released() -> void:
	var emitter := Emitter.new()
	probe().hears(emitter.rang)
	await frames(1)
	emitter = null
	await frames(1)
	expect_notes("freed")

class Loader extends RefCounted:
	@warning_ignore("unused_signal")
	signal loaded
	@warning_ignore("unused_signal")
	signal progressed(part: int)

class Emitter extends RefCounted:
	@warning_ignore("unused_signal")
	signal rang

func check_an_emitter_that_is_freed_already() -> void:
	var emitter := probe()
	var rang := emitter.done
	emitter.free()
	probe().hears(rang)
	# In the next frame, like a wait without a length.
	await frames(1)
	expect_notes("")
	await frames(1)
	expect_notes("freed")

# Its errors are expected: see scripts/plays/godot.
func check_a_signal_that_does_not_exist() -> void:
	probe().hears(Signal(self, "no_such_signal"))
	await frames(2)
	expect_notes("freed")

func check_typed_signals() -> void:
	var node := probe()
	node.hears_typed()
	await frames(1)
	node.hit.emit(3, "Bob", self)
	await frames(1)
	expect_notes("3 Bob")

func check_a_script_that_ends_disconnects() -> void:
	var node := probe()
	var script: FramestepScript = node.hears(nothing)
	expect(nothing.get_connections().size(), 1)
	script.stop()
	expect(nothing.get_connections().size(), 0)
	node.hears(nothing)
	node.hears(nothing)
	node.reads(nothing)
	expect(nothing.get_connections().size(), 3)
	node.free()
	expect(nothing.get_connections().size(), 0)

func check_the_snapshot_names_the_signal() -> void:
	var node := probe()
	node.name = "Alarm"
	var script: FramestepScript = probe().hears(node.done)
	expect(script.waits_for(), "signal Alarm.done")
	expect(FramestepHost.snapshot().contains("signal Alarm.done"), true)

func check_the_snapshot_names_the_line_that_starts_a_script() -> void:
	var node := probe()
	node.hears(nothing) # `start_script`
	node.waits() # `spawn_script`
	var lines := FramestepHost.snapshot().split("\n")
	expect(Array(lines).filter(func(line: String) -> bool: return line.contains("src/probe.rs:")).size() >= 2, true)
	expect(FramestepHost.snapshot().contains("src/scripts.rs"), false)

# Its errors are expected: see scripts/plays/godot.
func check_another_thread() -> void:
	# Nodes of the tree emit on the main thread only.
	var loader := Loader.new()
	probe().hears(loader.loaded)
	probe().hears(loader.progressed)
	await frames(1)
	var thread := Thread.new()
	thread.start(func() -> void:
		loader.loaded.emit()
		loader.progressed.emit(1)
		loader.progressed.emit.call_deferred(2))
	thread.wait_to_finish()
	await frames(2)
	expect_notes("[2] []")

func check_timers_and_tweens_of_godot() -> void:
	var node := probe()
	node.hears(get_tree().create_timer(0.1).timeout)
	var tween := create_tween()
	tween.tween_interval(0.1)
	node.hears(tween.finished)
	await frames(9)
	expect_notes("[] []")
