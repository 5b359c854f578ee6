"""Chosen committees and stages as files for other programs, or for people with paper, without Shortlist."""
