"""Choice of the point that predicts, and decisions on rows stage by stage."""
