"""Output of commands, for people and as JSON."""
