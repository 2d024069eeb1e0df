# One night after the other. This script awaits scripts in Rust, and shows what they wait for.
#
#   godot --path . -- --demo FOLDER    one night, with pictures of some frames
extends Node

@onready var stage: Stage = $Stage

func _ready() -> void:
	stage.coins_changed.connect(func(coins: int) -> void: $Hud/Coins.text = "coins: %d" % coins)
	var arguments := OS.get_cmdline_user_args()
	if arguments.size() == 2 and arguments[0] == "--demo":
		demo(arguments[1])
		return
	while true:
		$Hud/Coins.text = "coins: 0"
		var coins: int = await stage.night().join()
		print("a night is over: %d coins" % coins)

# A line for each kind of script, with what one of them waits for.
func _process(_delta: float) -> void:
	var counts := {}
	var waits := {}
	for script in FramestepHost.scripts():
		counts[script.name] = counts.get(script.name, 0) + 1
		waits[script.name] = short(script.waits_for)
	var lines := PackedStringArray()
	for kind: String in counts:
		var count := " × %d" % counts[kind] if counts[kind] > 1 else ""
		lines.append("%s%s: %s" % [kind, count, waits[kind]])
	var grid := $Hud/Scripts
	while grid.get_child_count() < lines.size():
		var label := Label.new()
		label.custom_minimum_size.x = 295
		label.clip_text = true
		label.add_theme_font_size_override("font_size", 15)
		label.add_theme_color_override("font_color", Color(0.72, 0.76, 0.95))
		grid.add_child(label)
	for number in grid.get_child_count():
		grid.get_child(number).text = lines[number] if number < lines.size() else ""

# The first wait, with a tenth of a second if it is for a time.
func short(waits_for: String) -> String:
	var first := waits_for.get_slice(" | ", 0)
	if not first.contains(", until"):
		return first
	var time := first.get_slice(", until", 0)
	var scale := 0.001 if time.ends_with("ms") else 1.0 if time.trim_suffix("s").is_valid_float() else 0.0
	return "%.1f s" % (time.to_float() * scale)

# Takes each tenth picture, and quits.
func demo(folder: String) -> void:
	var night := stage.night()
	var frame := 0
	while night.is_running():
		await RenderingServer.frame_post_draw
		if frame % 10 == 0:
			get_viewport().get_texture().get_image().save_png("%s/%04d.png" % [folder, frame])
		frame += 1
	var left: int = Performance.get_custom_monitor("framestep/scripts")
	print("%d coins, %d frames, %d scripts left" % [await night.join(), frame, left])
	get_tree().quit()
