# Every kind of wait, at many rates: no wait is early or late.
extends "res://checks/check.gd"

func check_all_rates() -> void:
	var waits := 0
	for ticks: int in [30, 60, 144]:
		for scale: float in [0.5, 1.0, 2.0]:
			waits += await run_at(ticks, scale)
	print("%d waits" % waits)

func run_at(ticks: int, scale: float) -> int:
	Engine.physics_ticks_per_second = ticks
	Engine.time_scale = scale
	# The first step may have the length of before.
	await frames(4)
	var sweep := Sweep.new()
	add_child(sweep)
	await frames(2)
	sweep.begin()
	await frames(100)
	Engine.time_scale = 1.5 * scale
	await frames(100)
	var waits := sweep.verify()
	var wrong := Notes.take()
	if wrong:
		failures.append("%d ticks, scale %s: %s" % [ticks, scale, wrong.left(400)])
	if waits < 1000 or sweep.frames() < 200 or sweep.steps() < 100:
		failures.append("%d waits, %d frames, %d steps" % [waits, sweep.frames(), sweep.steps()])
	sweep.free()
	return waits
