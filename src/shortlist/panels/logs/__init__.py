"""Logs of answers in their own forms: tables, and the logs of evaluation tools."""
