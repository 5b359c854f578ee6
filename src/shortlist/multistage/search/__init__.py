"""Search for the best stage assignments: enumeration with proof, windows, and evolution."""
