"""Chosen committees and stages as files that other programs, or people with paper, use without Shortlist."""
