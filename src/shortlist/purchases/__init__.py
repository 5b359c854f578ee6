"""What a feature model says about buying the columns of a table."""
