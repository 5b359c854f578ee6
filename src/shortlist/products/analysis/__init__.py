"""What a feature model says about itself, why, and how it differs from another."""
