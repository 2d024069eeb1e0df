# The order of scripts and nodes in a frame.
extends "res://checks/check.gd"

func check_scripts_come_after_the_nodes_of_all_priorities() -> void:
	for priority: int in [100, -100, 2_000_000_000]:
		var node := Noting.new()
		node.name = "node%d" % priority
		node.process_priority = priority
		node.process_physics_priority = priority
		add_child(node)
	var node := probe()
	for phase: String in ["end", "late", "update", "early", "fixed"]:
		node.each(phase, phase)
	await frames(3)
	Notes.take()
	await frames(1)
	# From one `process_frame` to the next. `early` is before or after this function, by the
	# order of the connections: it is connected first.
	expect_notes("node-100 node100 node2000000000 update late end " +
		"node-100-step node100-step node2000000000-step fixed early")

func check_a_frame_without_steps_and_one_with_three() -> void:
	var node := probe()
	node.each("fixed", "fixed")
	node.each("update", "update")
	Engine.physics_ticks_per_second = 30
	await frames(4)
	Notes.take()
	await frames(4)
	expect_notes("update fixed update update fixed update")
	Engine.physics_ticks_per_second = 180
	await frames(4)
	Notes.take()
	await frames(2)
	expect_notes("update fixed fixed fixed update fixed fixed fixed")

func check_a_script_that_is_spawned_in_process_runs_in_the_same_frame() -> void:
	var node := probe()
	await frames(1)
	Notes.take()
	node.each("late", "late")
	await frames(1)
	# It waits from Update on.
	expect_notes("late")

func check_lengths_of_time() -> void:
	# The frame of the start counts as 0: a wait of a tenth of a second is six frames of a
	# sixtieth.
	var node := probe()
	node.tick("tenth", 0.1)
	await frames(14)
	expect_notes("tenth@6 tenth@12")

func check_slow_motion_and_a_standstill() -> void:
	var node := probe()
	Engine.time_scale = 0.5
	await frames(1)
	node.tick("tenth", 0.1)
	await frames(13)
	expect_notes("tenth@12")
	Engine.time_scale = 0.0
	await frames(1)
	node.each("update", "update")
	await frames(20)
	# Frames go on; in the first one it begins to wait.
	expect(Notes.take().count("update"), 19)

func check_realtime() -> void:
	Engine.time_scale = 0.1
	var real: float = await probe().waits_realtime(0.02).join()
	if real < 0.02:
		failures.append("early, after %s s" % real)

func check_the_tree_in_scripts() -> void:
	expect(await probe().sees_tree().join(), true)
