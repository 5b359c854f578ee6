"""Chosen committees and stages as files that other programs read without Shortlist."""
