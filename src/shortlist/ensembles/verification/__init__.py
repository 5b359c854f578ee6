"""Rechecking a saved ensemble against its table."""
