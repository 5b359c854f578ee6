"""Integer programs of anybody: read from files, arrays and modelling packages, solved, and checked again."""
