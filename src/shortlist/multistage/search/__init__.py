"""Search for the best stage assignments: enumeration with proof, and evolution."""
