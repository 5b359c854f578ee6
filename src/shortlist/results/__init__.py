"""Results of all methods: fronts, selections, proofs, and the pick of one point."""
