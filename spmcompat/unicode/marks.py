"""The marks that replace or precede characters in normalized text, as in ``marks.hpp``.

The boundary mark is not defined here, because it differs between releases (see `Release.boundary`).
"""

# Replaces a space.
SPACE_MARK = "\u2581"

# Replaces a character that is not in the alphabet.
UNKNOWN_MARK = "\u2585"

# Precedes each small letter that was a capital, if the rules are nmt_nfkc_mark_case. The script of
# the mark is Inherited, so a piece of any script can contain the mark.
CASE_MARK = "\u034e"
