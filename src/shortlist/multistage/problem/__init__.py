"""Prices of features, stage assignments, and thresholds of confidence: the parts of a problem of stages."""
