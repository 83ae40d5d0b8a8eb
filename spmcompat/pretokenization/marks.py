"""The characters that replace others in normalized text."""

SPACE_MARK = "\u2581"
"""For a space."""
UNKNOWN_MARK = "\u2585"
"""For every character that is not required."""
