"""Data sets: shipped ones, ones to fetch, and files of a folder."""
