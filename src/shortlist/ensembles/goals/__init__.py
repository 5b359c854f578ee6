"""Goals of a selection: weights of decisions, worth of margins, diversity, and limits."""
