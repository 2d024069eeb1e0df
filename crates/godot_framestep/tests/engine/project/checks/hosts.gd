# The host: one for all, and none.
extends "res://checks/check.gd"

# Its error is expected: see scripts/plays/godot.
func check_a_second_host_does_nothing() -> void:
	var node := probe()
	node.each("update", "update")
	await frames(3)
	var second := FramestepHost.new()
	add_child(second)
	Notes.take()
	await frames(3)
	expect_notes("update update update")
	second.free()
	await frames(1)
	expect_notes("update")

# Its panic is expected: see scripts/plays/godot.
func check_a_host_that_leaves_the_tree() -> void:
	var node := probe()
	var script: FramestepScript = node.waits()
	await frames(2)
	var host := get_node("/root/Framestep")
	get_tree().root.remove_child(host)
	expect_notes("dropped")
	expect(script.is_running(), false)
	expect(FramestepHost.snapshot(), "")
	expect(Performance.has_custom_monitor("framestep/scripts"), false)
	node.waits()
	await frames(2)
	get_tree().root.add_child(host)
	get_tree().root.move_child(host, 0)
	expect(await node.add(1, 2, 0.02).join(), 3)

func check_a_script_that_removes_the_host() -> void:
	var host := get_node("/root/Framestep")
	var node := probe()
	node.removes_host()
	var other: FramestepScript = node.each("late", "late")
	await frames(5)
	# The run is completed, and all scripts end.
	expect(Notes.take().contains("removed"), true)
	expect(other.is_running(), false)
	get_tree().root.add_child(host)
	get_tree().root.move_child(host, 0)
	expect(await node.add(1, 2, 0.02).join(), 3)

# Its error is expected.
func check_a_host_that_is_freed_first() -> void:
	var node := probe()
	var script: FramestepScript = node.waits()
	await frames(70)
	get_node("/root/Framestep").free()
	expect_notes("dropped")
	expect(script.is_running(), false)
	expect(script.stop(), false)
	expect(script.result(), null)
	expect(script.waits_for(), "")
	expect(node.waits() == null, true)
	node.stop_all()
	node.free()
	await frames(2)
	var host := FramestepHost.new()
	host.name = "Framestep"
	get_tree().root.add_child(host)
	get_tree().root.move_child(host, 0)
	expect(await probe().add(1, 2, 0.02).join(), 3)

# Its warning is expected.
func check_a_host_in_a_scene() -> void:
	var autoload := get_node("/root/Framestep")
	get_tree().root.remove_child(autoload)
	var scene := Node.new()
	add_child(scene)
	var host := FramestepHost.new()
	scene.add_child(host)
	var node := probe()
	expect(await node.add(1, 2, 0.02).join(), 3)
	var script: FramestepScript = node.waits()
	await frames(2)
	Notes.take()
	scene.free()
	expect_notes("dropped")
	expect(script.is_running(), false)
	get_tree().root.add_child(autoload)
	get_tree().root.move_child(autoload, 0)
	expect(await probe().add(1, 2, 0.02).join(), 3)

# A running game keeps its code: Godot reloads extensions in the editor only. Its error is expected.
func check_a_reload_in_the_game() -> void:
	var script: FramestepScript = probe().each("update", "update")
	await frames(3)
	Notes.take()
	var status := GDExtensionManager.reload_extension("res://checks.gdextension")
	expect(status, GDExtensionManager.LOAD_STATUS_FAILED)
	await frames(2)
	expect_notes("update update")
	expect(script.is_running(), true)
