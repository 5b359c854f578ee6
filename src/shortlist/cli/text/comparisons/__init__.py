"""Methods side by side, as text."""
