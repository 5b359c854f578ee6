"""Panels: whom to ask, in which order, when to stop, and at what price."""
