# Scripts call functions of GDScript, and wait for their end.
extends "res://checks/check.gd"

func sum(a: int, b: int) -> int:
	return a + b

func sum_later(a: int, b: int) -> int:
	await get_tree().create_timer(0.1).timeout
	return a + b

func nothing_later() -> void:
	await get_tree().process_frame

class Guard extends Node:
	func talk() -> bool:
		while true:
			await get_tree().process_frame
		return true

func check_a_function_that_does_not_await() -> void:
	expect(await probe().calls(sum, [1, 2]).join(), 3)
	expect_notes("returned 3")

func check_a_function_that_awaits() -> void:
	var script: FramestepScript = probe().calls(sum_later, [1, 2])
	expect(script.waits_for(), "signal the end of sum_later")
	expect(await script.join(), 3)

func check_a_lambda() -> void:
	var later := func(word: String) -> String:
		await get_tree().process_frame
		return word + "!"
	expect(await probe().calls(later, ["yes"]).join(), "yes!")

func check_no_result() -> void:
	expect(await probe().calls(nothing_later, []).join(), null)

func check_an_object_that_is_freed_in_its_function() -> void:
	var guard := Guard.new()
	add_child(guard)
	var script: FramestepScript = probe().calls(guard.talk, [])
	await frames(2)
	guard.free()
	expect(await script.join(), null)
	expect_notes("cannot end")

func check_an_object_that_is_freed_before() -> void:
	var guard := Guard.new()
	var talk := guard.talk
	guard.free()
	probe().calls(talk, [])
	# In the next frame, like a wait without a length.
	await frames(1)
	expect_notes("")
	await frames(1)
	expect_notes("cannot end")

# Its panic is expected: see scripts/plays/godot.
func check_a_method_that_does_not_exist() -> void:
	var script: FramestepScript = probe().calls(Callable(self, "no_such_method"), [])
	await script.join()
	expect(script.error().contains("has no method no_such_method"), true)

func check_a_script_that_is_stopped_leaves_the_function_alone() -> void:
	var script: FramestepScript = probe().calls(sum_later, [1, 2])
	await frames(1)
	script.stop()
	await frames(10)
	expect_notes("")
