"""Dialogues in lines of text: what the user types, and what is answered."""
