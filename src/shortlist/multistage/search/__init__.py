"""Which stage assignments are best: enumeration with proof, and evolution."""
