"""What every method answers with: fronts, selections, proofs, and how one point is picked."""
