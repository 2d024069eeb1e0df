# Adds the autoload that drives scripts, and a tab of the debugger that shows them.
@tool
extends EditorPlugin

const Debugger := preload("debugger.gd")
const AUTOLOAD := "Framestep"

var debugger: EditorDebuggerPlugin

func _enable_plugin() -> void:
	if not ProjectSettings.has_setting("autoload/" + AUTOLOAD):
		add_autoload_singleton(AUTOLOAD, get_script().resource_path.get_base_dir() + "/host.tscn")

func _disable_plugin() -> void:
	remove_autoload_singleton(AUTOLOAD)

func _enter_tree() -> void:
	debugger = Debugger.new()
	add_debugger_plugin(debugger)

func _exit_tree() -> void:
	remove_debugger_plugin(debugger)
