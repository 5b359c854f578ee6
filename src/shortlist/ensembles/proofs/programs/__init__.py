"""The integer programs of pruning."""
