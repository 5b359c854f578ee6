"""Lines above the worth of every row, and the branch and bound that rests on them."""
