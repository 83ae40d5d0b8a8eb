"""The marks that replace or precede characters in normalized text, as in ``marks.hpp``.

The boundary mark is not defined here, because it differs between releases (see `Release.boundary`).
"""

# Replaces a space.
SPACE_MARK = "\u2581"

# Replaces a character that is not in the alphabet.
UNKNOWN_MARK = "\u2585"

# Precedes a small letter that was a capital, with the rules nmt_nfkc_mark_case. Its script is
# Inherited, so a piece of any script can contain it.
CASE_MARK = "\u034e"
