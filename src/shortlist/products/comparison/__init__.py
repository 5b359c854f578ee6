"""Methods side by side on one product line."""
