"""Scikit-learn estimators: thin shells around functions of the other packages."""
