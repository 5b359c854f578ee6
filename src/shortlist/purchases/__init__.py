"""What stages take from other rooms: a feature model over columns, and ensembles as their classifiers."""
