"""Integer programs of users: read from files, arrays and modelling packages, solved, and rechecked."""
