"""Logs of answers as they are: tables, and the logs of evaluation tools."""
