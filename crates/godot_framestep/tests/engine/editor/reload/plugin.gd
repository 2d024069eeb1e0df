# Reloads the extension in the editor, some times, and quits.
@tool
extends EditorPlugin

func _enter_tree() -> void:
	for time in 3:
		await get_tree().create_timer(0.2).timeout
		print("reload %d: %s" % [time, GDExtensionManager.reload_extension("res://checks.gdextension")])
		# The editor makes nodes to show and save them; their methods are not called.
		var host: Node = ClassDB.instantiate("FramestepHost")
		add_child(host)
		await get_tree().process_frame
		# Its error is expected.
		var tool: Node = ClassDB.instantiate("Tool")
		add_child(tool)
		tool.free()
		host.free()
	print("the editor quits")
	get_tree().quit()
