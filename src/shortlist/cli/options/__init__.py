"""Options of commands, and their checks before the work."""
