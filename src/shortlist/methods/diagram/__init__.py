"""Complete fronts over the models of a decision diagram."""
