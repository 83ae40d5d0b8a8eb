"""From raw text to normalized text."""
