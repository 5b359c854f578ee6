"""What the commands say that look into a feature model."""
