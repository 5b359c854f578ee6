"""Methods independent of any application: a program or clauses in, a front out."""
