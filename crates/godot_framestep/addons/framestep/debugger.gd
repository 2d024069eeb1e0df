# Gives each session of the debugger a tab, and passes on what its game sends.
@tool
extends EditorDebuggerPlugin

const View := preload("view.gd")

var views: Dictionary[int, View] = {}

func _setup_session(session_id: int) -> void:
	var view := View.new()
	view.name = "Scripts"
	view.session = get_session(session_id)
	view.session.add_session_tab(view)
	views[session_id] = view

func _has_capture(capture: String) -> bool:
	return capture == "framestep"

func _capture(message: String, data: Array, session_id: int) -> bool:
	match message:
		"framestep:host":
			views[session_id].has_host = data[0]
		"framestep:scripts":
			views[session_id].show_scripts(data[0], data[1], data[2])
		_:
			return false
	return true
