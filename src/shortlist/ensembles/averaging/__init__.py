"""Committees that average probabilities, chosen with proof."""
