"""What is asked: prices, stages, and when a prediction is confident."""
