"""Problem of stages: prices, stages, and the confidence of predictions."""
