"""The classifiers to choose from: fitted here or elsewhere, and what they answer."""
