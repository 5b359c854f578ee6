"""Commands that hand a saved model to other programs."""
