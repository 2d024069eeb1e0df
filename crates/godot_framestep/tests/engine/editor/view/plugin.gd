# Plays the project's game, and reads what the tab of addons/framestep shows. With a display, takes
# a picture.
@tool
extends EditorPlugin

var view: Control

func _enter_tree() -> void:
	# After the first look at all files.
	await get_tree().create_timer(1.0).timeout
	await until(func() -> bool: return not EditorInterface.get_resource_filesystem().is_scanning())
	await get_tree().create_timer(1.0).timeout
	EditorInterface.set_plugin_enabled("framestep", true)
	# The editor saves it later.
	await until(func() -> bool: return FileAccess.get_file_as_string("res://project.godot").contains("[autoload]"))
	view = find(EditorInterface.get_base_control(), "Scripts")
	check("an autoload", ProjectSettings.get_setting("autoload/Framestep", ""), "*res://addons/framestep/host.tscn")
	check("without a game", view.summary.text, "No game with scripts runs.")
	EditorInterface.play_main_scene()
	await until(func() -> bool: return view.session.is_active() and view.has_host)
	show_view(view)
	await until(func() -> bool: return rows().size() >= 4)
	await get_tree().create_timer(0.5).timeout
	var shown := rows()
	check("summary", view.summary.text, "4 scripts, 1 poll in the last frame")
	for row: Array in [
		["game::guard", "/root/Game/Gate", "waiting", "signal Gate.knocked"],
		["game::sleeper", "/root/Game/Tower", "waiting"],
		["game::walker", "", "waiting", "the next frame"],
		["game::paused", "/root/Game/Cellar", "paused"],
	]:
		var cells: Array = shown.get(row[0], [])
		check("row of %s" % row[0], cells.slice(0, row.size()), row)
		check("line of %s" % row[0], " ".join(cells).contains("game.rs:"), row[0] != "game::paused")
	if DisplayServer.get_name() != "headless":
		get_tree().root.get_texture().get_image().save_png("res://view.png")
	view.filter.text = "tower"
	view.show_rows()
	check("filter", rows().keys(), ["game::sleeper"])
	# The game stands still while the editor has suspended it, and so do scripts without a node.
	view.filter.text = ""
	view.session.send_message("scene:suspend_changed", [true])
	await get_tree().create_timer(1.0).timeout
	check("suspended", rows().get("game::walker", [0, 0, 0])[2], "paused")
	check("suspended, without polls", view.summary.text, "4 scripts, 0 polls in the last frame")
	view.session.send_message("scene:suspend_changed", [false])
	await get_tree().create_timer(1.0).timeout
	check("it goes on", rows().get("game::walker", [0, 0, 0])[2], "waiting")
	EditorInterface.stop_playing_scene()
	await until(func() -> bool: return not view.has_host)
	print("the view is as expected")
	get_tree().quit()

func check(what: String, actual: Variant, expected: Variant) -> void:
	if actual != expected:
		printerr("VIEW %s: is %s, expected %s" % [what, actual, expected])

func until(condition: Callable) -> void:
	while not condition.call():
		await get_tree().process_frame

# The cells by the first of each row.
func rows() -> Dictionary:
	var all := {}
	for row: TreeItem in view.tree.get_root().get_children():
		var cells := range(6).map(func(column: int) -> String: return row.get_text(column))
		all[cells[0]] = cells
	return all

func find(node: Node, with_name: String) -> Control:
	for found in node.find_children(with_name, "VBoxContainer", true, false):
		if found.get("summary"):
			return found
	return null

# Makes it the current tab, and the debugger the current panel.
func show_view(node: Node) -> void:
	while node:
		if node.get_parent() is TabContainer:
			node.get_parent().current_tab = node.get_parent().get_tab_idx_from_control(node)
		if node is CanvasItem:
			node.show()
		node = node.get_parent()
