# What the guide's page for people who come from GDScript says about `await` there.
extends "res://checks/check.gd"

signal opened

class Timed extends Node:
	var frame := 0
	func _process(_delta: float) -> void:
		frame += 1
		Notes.add("process")
		if frame == 1:
			wait()
	func wait() -> void:
		await get_tree().create_timer(0.09).timeout
		Notes.add("timer@%d" % frame)

func check_a_timer_counts_the_frame_in_which_it_is_made() -> void:
	add_child(Timed.new())
	await frames(8)
	# 5.4 frames of a sixtieth, the first of which is that of the await; and after the nodes.
	expect(Notes.take().contains("process process process process process process timer@6"), true)

func check_emit_resumes_inside_the_call() -> void:
	enter()
	opened.emit()
	Notes.add("emitted")
	expect_notes("entered emitted")

func enter() -> void:
	await opened
	Notes.add("entered")

func check_pauses() -> void:
	get_tree().paused = true
	note_timer("always", true)
	note_timer("with the tree", false)
	await frames(10)
	expect_notes("always")
	get_tree().paused = false
	await frames(10)
	expect_notes("with the tree")

func note_timer(name: String, process_always: bool) -> void:
	await get_tree().create_timer(0.1, process_always).timeout
	Notes.add(name)

func check_a_tween_that_is_killed_never_finishes() -> void:
	var tween := create_tween()
	tween.tween_interval(0.1)
	note_tween(tween)
	await frames(2)
	tween.kill()
	await frames(20)
	expect_notes("")

func note_tween(tween: Tween) -> void:
	await tween.finished
	Notes.add("finished")

class Door extends Node:
	func open() -> void:
		await get_tree().process_frame
		await get_tree().process_frame
		Notes.add("open")

func check_a_function_of_a_node_that_is_freed_does_not_resume_nor_its_caller() -> void:
	var door := Door.new()
	add_child(door)
	note_door(door)
	await frames(1)
	door.free()
	await frames(5)
	expect_notes("")

func note_door(door: Door) -> void:
	await door.open()
	Notes.add("the door is open")

func check_slow_motion_makes_shorter_steps() -> void:
	Engine.time_scale = 0.5
	await frames(3)
	var steps := Engine.get_physics_frames()
	await frames(10)
	expect(Engine.get_physics_frames() - steps, 10)
	expect(is_equal_approx(get_physics_process_delta_time(), 0.5 / 60), true)

# The same in Rust: see the table of the page.
func check_the_same_waits_in_rust() -> void:
	var node := probe()
	var began := Engine.get_process_frames()
	await get_tree().create_timer(0.09).timeout
	var in_gdscript := Engine.get_process_frames() - began
	began = Engine.get_process_frames()
	await node.add(1, 2, 0.09).join()
	var in_rust := Engine.get_process_frames() - began
	# 5.4 frames: a timer of Godot counts the frame in which it is made.
	expect([in_gdscript, in_rust], [5, 6])
