"""The characters that stand for something else in normalized text; ``marks.hpp`` has the same ones.

The boundary mark is not among them: it differs between releases (see `Release.boundary`).
"""

# A space.
SPACE_MARK = "\u2581"

# A character that is not in the alphabet.
UNKNOWN_MARK = "\u2585"
