# The scripts of a game that runs: how many there are, and what each of them waits for.
@tool
extends VBoxContainer

const COLUMNS: PackedStringArray = ["Script", "Node", "State", "Waits for", "Since", "Line"]
const SECONDS_BETWEEN_QUESTIONS := 0.25

var session: EditorDebuggerSession
# Games without a host do not know the question.
var has_host := false:
	set(value):
		has_host = value
		if not has_host:
			summary.text = "No game with scripts runs."

var summary := Label.new()
var filter := LineEdit.new()
var tree := Tree.new()
var last: Array

func _init() -> void:
	var line := HBoxContainer.new()
	summary.size_flags_horizontal = SIZE_EXPAND_FILL
	summary.text = "No game with scripts runs."
	line.add_child(summary)
	filter.placeholder_text = "Filter"
	filter.clear_button_enabled = true
	filter.custom_minimum_size.x = 240
	filter.text_changed.connect(func(_text: String) -> void: show_rows())
	line.add_child(filter)
	add_child(line)
	tree.columns = COLUMNS.size()
	tree.column_titles_visible = true
	tree.hide_root = true
	tree.select_mode = Tree.SELECT_ROW
	tree.size_flags_vertical = SIZE_EXPAND_FILL
	for column in COLUMNS.size():
		tree.set_column_title(column, COLUMNS[column])
		tree.set_column_title_alignment(column, HORIZONTAL_ALIGNMENT_LEFT)
		tree.set_column_clip_content(column, true)
		tree.set_column_expand_ratio(column, [3, 3, 1, 4, 1, 2][column])
	tree.create_item()
	add_child(tree)
	var timer := Timer.new()
	timer.wait_time = SECONDS_BETWEEN_QUESTIONS
	timer.autostart = true
	timer.timeout.connect(ask)
	add_child(timer)

func _ready() -> void:
	session.stopped.connect(func() -> void: has_host = false)

func ask() -> void:
	if has_host and is_visible_in_tree() and session.is_active():
		session.send_message("framestep:list", [])

# The game sends some of its scripts if it has very many.
func show_scripts(count: int, polls: int, scripts: Array) -> void:
	var text := "%s, %s in the last frame" % [_counted(count, "script"), _counted(polls, "poll")]
	if count > scripts.size():
		text += " (the first %d are shown)" % scripts.size()
	summary.text = text
	last = scripts
	show_rows()

func show_rows() -> void:
	var row := tree.get_root().get_first_child()
	for script: Dictionary in last:
		var cells: PackedStringArray = [
			script.name, script.node, script.state, script.waits_for,
			"%.1f s" % script.seconds if script.seconds >= 0.0 else "", script.line,
		]
		if filter.text and not filter.text.to_lower() in " ".join(cells).to_lower():
			continue
		# Rows are used again, so that the selection and the scroll bar stay where they are.
		if not row:
			row = tree.create_item()
		for column in cells.size():
			row.set_text(column, cells[column] if COLUMNS[column] != "Line" else cells[column].get_file())
			var is_line := COLUMNS[column] == "Line" and script.get("calls", "") != ""
			row.set_tooltip_text(column, script.calls if is_line else cells[column])
		row = row.get_next()
	while row:
		var next := row.get_next()
		row.free()
		row = next

func _counted(count: int, what: String) -> String:
	return "%d %s%s" % [count, what, "" if count == 1 else "s"]
