"""Rechecks of a saved ensemble against its table."""
