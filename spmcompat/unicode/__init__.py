"""Properties of characters, UTF-8, and the marks in normalized text."""
