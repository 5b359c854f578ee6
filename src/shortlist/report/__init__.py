"""One self-contained HTML page for fronts."""
