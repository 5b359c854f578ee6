"""Claims of fronts, asked again in another way than they were found."""
