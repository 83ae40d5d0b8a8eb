"""The options of BERT's normalizer."""

from typing import NamedTuple


class BertOptions(NamedTuple):
    """How a ``BertNormalizer`` and a ``BertPreTokenizer`` cut texts.

    Attributes
    ----------
    clean_text : bool
        Whether control characters are removed.
    handle_chinese_chars : bool
        Whether each Chinese character is a word.
    strip_accents : bool
        Whether accents are removed. In a ``BertNormalizer``, None means: if `lowercase` is set.
    lowercase : bool
        Whether capitals become small letters.
    """

    clean_text: bool = True
    handle_chinese_chars: bool = True
    strip_accents: bool = True
    lowercase: bool = True
