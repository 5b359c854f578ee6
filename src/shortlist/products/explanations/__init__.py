"""Why something cannot be: rules, limits and choices that contradict each other, with numbers."""
