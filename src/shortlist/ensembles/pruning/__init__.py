"""From votes and an objective to a selection with its proof."""
