"""Properties of characters, and UTF-8."""
