# Durable scripts: saved in the middle of an await, loaded, rewound.
extends "res://checks/check.gd"

func story() -> Story:
	var node := Story.new()
	add_child(node)
	return node

# A meeting that has begun in this frame takes 12 frames.
func check_it_runs_on_the_clock_of_godot() -> void:
	var node := story()
	node.begin("Ada")
	await frames(7)
	expect(node.told(), "Ada: halt, 6")
	await frames(1)
	expect(node.told(), "Ada: halt, a friend, 7")
	Engine.time_scale = 0.5
	await frames(14)
	expect(node.told().contains("move along"), true)

func check_a_save_in_the_middle_of_an_await() -> void:
	var node := story()
	node.begin("Ada")
	await frames(4)
	var bytes := node.save()
	node.queue_free()
	await frames(10)
	# As in another process.
	var other := story()
	other.begin("Bob")
	await frames(20)
	expect(other.load(bytes), "")
	expect(other.told(), "Ada: halt, 3")
	await frames(3)
	expect(other.told(), "Ada: halt, 6")
	await frames(1)
	expect(other.told(), "Ada: halt, a friend, 7")

func check_a_damaged_save_changes_nothing() -> void:
	var node := story()
	node.begin("Ada")
	await frames(9)
	var bytes := node.save()
	bytes[bytes.size() / 2] ^= 1
	var told := node.told()
	expect(node.load(bytes).is_empty(), false)
	expect(node.told(), told)

func check_rewind() -> void:
	var node := story()
	node.begin("Ada")
	await frames(16)
	var told := node.told()
	expect(told, "Ada: halt, a friend, move along, 15")
	node.rewind(10)
	expect(node.told(), "Ada: halt, 5")
	await frames(10)
	expect(node.told(), told)

func check_pauses() -> void:
	var node := story()
	node.begin("Ada")
	await frames(4)
	get_tree().paused = true
	await frames(20)
	expect(node.told(), "Ada: halt, 3")
	get_tree().paused = false
	node.hold(true)
	await frames(20)
	expect(node.told(), "Ada: halt, 3")
	node.hold(false)
	await frames(4)
	expect(node.told(), "Ada: halt, a friend, 7")

func check_a_save_in_a_plain_script() -> void:
	var node := story()
	node.begin("Ada")
	await frames(2)
	node.save_in_a_script()
	expect_notes("some bytes")

# Its panic is expected: see scripts/plays/godot.
func check_a_save_in_a_script_of_its_own() -> void:
	var node := story()
	node.begin("Ada")
	node.save_in_its_own_script()
	await frames(4)
	# The panic ends that script alone.
	expect(node.told(), "Ada: halt, 3")
	expect(node.save().is_empty(), false)
