# What a frame costs with a thousand scripts, beside GDScript's own await.
#
#   godot --headless --fixed-fps 60 --path . -- cost
extends Node

const NODES := 1000
const FRAMES := 100
const ROUNDS := 9
# Until the nodes are watched: see checks/watches.gd.
const OLD := 140

func _ready() -> void:
	await get_tree().process_frame
	var none := await measure(func(_parent: Node) -> void: pass)
	print("an empty frame: %.0f us" % none)
	compare("a wait for each frame", none, await measure(each_frame_in_gdscript), await measure(each_frame_in_rust))
	compare("asleep for a minute", none, await measure(asleep_in_gdscript), await measure(asleep_in_rust))
	compare("_process of a node", none, await measure(process_in_gdscript), await measure(each_frame_in_rust))
	get_tree().quit()

func compare(what: String, none: float, gdscript: float, rust: float) -> void:
	print("%s, %d nodes: GDScript %.0f us a frame, Rust %.0f us" % [what, NODES, gdscript - none, rust - none])

# The least of some rounds, in microseconds a frame.
func measure(start: Callable) -> float:
	var best := INF
	for _round in ROUNDS:
		var parent := Node.new()
		add_child(parent)
		start.call(parent)
		for _frame in OLD:
			await get_tree().process_frame
		var began := Time.get_ticks_usec()
		for _frame in FRAMES:
			await get_tree().process_frame
		best = minf(best, (Time.get_ticks_usec() - began) / float(FRAMES))
		parent.queue_free()
		# The timers of functions whose node is freed live on: until they are over.
		Engine.time_scale = 1000.0
		for _frame in 10:
			await get_tree().process_frame
		Engine.time_scale = 1.0
	return best

class Walker extends Node:
	func patrol() -> void:
		var turns := 0
		while true:
			await get_tree().process_frame
			turns += 1
			set_meta("turns", turns)
	func sleep(seconds: float) -> void:
		while true:
			await get_tree().create_timer(seconds).timeout

class Processed extends Node:
	var turns := 0
	func _process(_delta: float) -> void:
		turns += 1
		set_meta("turns", turns)

func each_frame_in_gdscript(parent: Node) -> void:
	for number in NODES:
		var node := Walker.new()
		parent.add_child(node)
		node.patrol()

func each_frame_in_rust(parent: Node) -> void:
	for number in NODES:
		var node := Probe.new()
		parent.add_child(node)
		node.patrol()

func asleep_in_gdscript(parent: Node) -> void:
	for number in NODES:
		var node := Walker.new()
		parent.add_child(node)
		node.sleep(60.0)

func asleep_in_rust(parent: Node) -> void:
	for number in NODES:
		var node := Probe.new()
		parent.add_child(node)
		node.sleep(60.0)

func process_in_gdscript(parent: Node) -> void:
	for number in NODES:
		parent.add_child(Processed.new())
