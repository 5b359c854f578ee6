"""Options of commands, and checks of options before the work."""
