"""Methods that know no application: program or clauses in, front out."""
