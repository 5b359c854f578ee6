"""Output of commands, for people and for programs."""
