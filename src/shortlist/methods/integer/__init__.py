"""Complete fronts by integer programs."""
