"""Data sets: shipped sets, sets to download, and files in a folder."""
