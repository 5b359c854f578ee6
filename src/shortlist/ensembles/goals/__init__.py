"""What a selection is judged by: weights of decisions, worth of margins, diversity, and limits."""
