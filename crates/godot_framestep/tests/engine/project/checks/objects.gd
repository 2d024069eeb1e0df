# Scripts as objects: GDScript awaits, stops and pauses them.
extends "res://checks/check.gd"

func check_the_result() -> void:
	var script: FramestepScript = probe().add(1, 2, 0.1)
	expect(script.is_running(), true)
	expect(script.result(), null)
	expect(script.waits_for().contains("100ms"), true)
	var began := Engine.get_process_frames()
	expect(await script.join(), 3)
	expect(Engine.get_process_frames() - began, 6)
	expect(script.is_running(), false)
	expect(script.result(), 3)
	expect(script.error(), "")
	expect(script.waits_for(), "")
	# Once more, without a wait.
	expect(await script.join(), 3)
	expect(Engine.get_process_frames() - began, 6)

func check_an_object_that_nobody_keeps() -> void:
	expect(await probe().add(3, 4, 0.1).finished, 7)

func check_a_script_that_has_ended_in_the_call() -> void:
	var node := probe()
	expect(await node.add(1, 2, 0.0).finished, 3)
	expect(await node.add(2, 2, 0.0).join(), 4)

func check_several_wait_for_one() -> void:
	var script: FramestepScript = probe().add(1, 2, 0.05)
	for number in 3:
		note_end(script, str(number))
	await script.join()
	await frames(1)
	expect_notes("dropped 0: 3 1: 3 2: 3")

func note_end(script: FramestepScript, name: String) -> void:
	var result: int = await script.join()
	Notes.add("%s: %s" % [name, result])

func check_stop() -> void:
	var script: FramestepScript = probe().add(1, 2, 5.0)
	note_stop(script)
	await frames(1)
	expect(script.stop(), true)
	expect_notes("dropped")
	expect(script.is_running(), false)
	expect(script.stop(), false)
	await frames(1)
	expect_notes("stopped")
	expect(script.error().contains("add) was stopped before it finished"), true)

func note_stop(script: FramestepScript) -> void:
	if await script.join() == null:
		Notes.add("stopped")

func check_a_node_that_is_freed_ends_the_await() -> void:
	var node := probe()
	var script: FramestepScript = node.add(1, 2, 5.0)
	note_stop(script)
	await frames(1)
	node.queue_free()
	await frames(2)
	expect_notes("dropped stopped")

func check_stop_in_a_pause() -> void:
	var script: FramestepScript = probe().add(1, 2, 5.0)
	note_stop(script)
	get_tree().paused = true
	await frames(1)
	script.stop()
	await frames(2)
	expect_notes("dropped stopped")

func check_pause_and_resume() -> void:
	var script: FramestepScript = probe().each("update", "update")
	await frames(3)
	expect(script.pause(), true)
	Notes.take()
	await frames(3)
	expect_notes("")
	expect(script.is_paused(), true)
	expect(script.resume(), true)
	await frames(2)
	expect_notes("update update")

# Its error is expected: see scripts/plays/godot.
func check_a_panic() -> void:
	var node := probe()
	var other: FramestepScript = node.each("update", "other")
	var script: FramestepScript = node.panics()
	expect(await script.join(), null)
	expect(script.error().contains("the lamp is out of oil"), true)
	expect(Notes.take().contains("dropped"), true)
	expect(other.is_running(), true)

# The same.
func check_a_panic_alone() -> void:
	probe().panics_alone()
	await frames(3)

func check_monitors() -> void:
	var node := probe()
	var before: int = Performance.get_custom_monitor("framestep/scripts")
	Performance.get_custom_monitor("framestep/polls")
	for number in 5:
		node.each("update", "")
	node.tick("", 60.0)
	await frames(3)
	expect(Performance.get_custom_monitor("framestep/scripts") - before, 6)
	expect(Performance.get_custom_monitor("framestep/polls"), 5)

func check_the_list_of_scripts() -> void:
	var node := probe()
	node.name = "Bell"
	node.add(1, 2, 60.0)
	node.hears(node.done)
	var listed: Dictionary
	for script in FramestepHost.scripts():
		if script.waits_for == "signal Bell.done":
			listed = script
		elif script.name == "add":
			expect(script.waits_for.begins_with("60s, until "), true)
	expect(listed.get("state"), "waiting")
	# In debug builds.
	expect(listed.get("line", "").contains("probe.rs:"), true)

func check_a_thread_that_answers() -> void:
	expect(await probe().asks_a_thread().join(), 7)
