"""Tables: read from files, or shipped with scikit-learn."""
