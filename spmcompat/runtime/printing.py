"""Text from a file as text for a terminal."""


def printable(text: str) -> str:
    """Return a text with escapes in the place of characters that are not printable.

    A file must not be able to move the cursor, to change colours or to begin a line.
    """
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)
