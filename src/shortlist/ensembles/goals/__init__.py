"""Goals of a selection: weights of decisions, diversity, and limits."""
