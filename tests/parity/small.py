"""Small texts, and for each model type, options that succeed with all of these texts."""

from tests.parity import corpora
from tests.parity.case import Option

TEXTS = {
    "words": corpora.words_text(1, lines=400),
    "mixed": corpora.mixed_text(2),
    "blank lines": corpora.words_text(3, lines=90).replace("\n", "\n \n\n", 30),
    "one line": "the only line of the text\n",
}
SOFT: dict[str, Option] = {"hard_vocab_limit": False}
KINDS: dict[str, dict[str, Option]] = {
    "unigram": {**SOFT, "vocab_size": 400},
    "bpe": {**SOFT, "model_type": "bpe", "vocab_size": 400},
    "word": {**SOFT, "model_type": "word"},
    "char": {**SOFT, "model_type": "char"},
}
