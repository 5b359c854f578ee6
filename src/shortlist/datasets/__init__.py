"""Data sets: shipped ones, ones to download, and files in a folder."""
