"""Choice of the point of a front that predicts, and decisions on rows stage by stage."""
