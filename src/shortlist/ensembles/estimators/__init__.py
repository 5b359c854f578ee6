"""Scikit-learn estimators; thin shells around the functions of the other rooms."""
