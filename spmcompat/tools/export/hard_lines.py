"""Lines that exports are known to get wrong. Every export is verified with them by default."""

from spmcompat.engine import SPACE_MARK, UNKNOWN_MARK
from spmcompat.model.pieces import CONTROL, UNKNOWN, UNUSED, USER_DEFINED, texts_of_type
from spmcompat.model.sentencepiece_model_pb2 import ModelProto

_WHITE_SPACE = (
    "",
    " ",
    "   ",
    " leading",
    "trailing ",
    "  two  in  a  row  ",
    "tab\there\t\tand\tthere",
    "two\nlines",
    "a\n\n\nb\r\nc\rd",
    "\n",
    "\t",
    "end\n",
    "no-break\u00a0space, thin\u2009space, ideographic\u3000space",
    "\u00a0leading and trailing\u00a0",
    "\u3000",
    "line\u2028separator, paragraph\u2029separator, next\u0085line",
    "zero\u200bwidth\u200bspace",
    "word\u2060joiner and \ufeffbyte order mark",
    "form\x0cfeed, vertical\x0btab, null\x00character, bell\x07, delete\x7f",
    "en\u2002em\u2003ogham\u1680mongolian\u180enarrow\u202fmath\u205f",
    "soft\u00adhyphen",
)

_CLUSTERS = (
    "cafe\u0301 und Ko\u0308ln, e\u0301\u0302 a\u0323\u0307",
    "\u0301 begins with a combining mark",
    "a \u0301 mark behind a space, and\u3099",
    "Z\u0351\u036b\u0343\u036a\u0302\u036b\u033d\u034f\u0334\u0319\u0324a\u0300\u0301\u0302lgo",
    "\ufb01nd the o\ufb03ce \ufb02oor \ufb06op",
    "\ufb01\u0301 \u2460\u0302 \u00bd\u0301",
    "\uff26\uff55\uff4c\uff4c \uff57\uff49\uff44\uff54\uff48 \uff8a\uff9f\uff8b\uff9e\uff76\uff9e",
    "\u30cf\u309a \u304b\u3099 \u306f\u309a\u3072\u3099",
    "\u1112\u1161\u11ab\u1100\u1173\u11af \ud55c\uae00 \u1100\u1161",
    "\u3131\u314f\u3134 \uffa1\uffc2",
    "\U0001f468\u200d\U0001f469\u200d\U0001f467\u200d\U0001f466 \U0001f44d\U0001f3fd "
    "\U0001f1e9\U0001f1ea \u2764\ufe0f",
    "\u0995\u09cd\u09b7 \u0915\u094d\u0937\u093f \u0928\u093c \u0b95\u0bcd\u0bb7",
    "\u0e01\u0e33 \u0e19\u0e49\u0e33 \u0eb3",
    "\u0644\u0627\u064b \u0628\u0650\u0633\u0652\u0645\u0650 \ufefb \ufdfa",
    "\u05e9\u05c1\u05dc\u05d5\u05b9\u05dd",
    "\u2126 \u212b \u212a \u00b5 \u017f \u1e9b\u0323",
    "\u2460 \u33a2 \u2122 \u00bd \u2167 \u3392 \u337f \u2026 \u2025",
    "\u0130stanbul \u0131 \u00df \u1e9e \u03a3\u03c2",
    "\u4e0d \uf967 \U0002f800 \u2f00",
    "\u0f71\u0f72\u0f74 \u0f73 \u0344",
    "\r\n\r\n \u0d4e\u0d15 \u0600\u0661",
)

_TEXT = (
    "The quick brown fox jumps over the lazy dog.",
    "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
    "abababababababababab ababa",
    "1234567890 3.14159 1,000,000 007",
    "...---...!!!???",
    "http://example.org/~user?q=a%20b&c=d#e",
    "def f(x):\n    return x  # \ttabs",
    "\u3053\u3093\u306b\u3061\u306f\u4e16\u754c\u3002\u4f60\u597d\uff0c\u4e16\u754c\uff01",
    "Привет, мир! Γεια σου, κόσμε.",
    "\U00010348\U0001d11e\U000e0001 \u13a0\u1680\ufffd",
    "\U00010348\U00010348\U00010348",
    f"{SPACE_MARK}mark in the text {SPACE_MARK} {SPACE_MARK}{SPACE_MARK}x{SPACE_MARK}",
    f"reserved {UNKNOWN_MARK} character",
    "<unk> <s> </s> <pad> <mask> [UNK] [CLS]",
    "hello<s>world</s> <s>",
    "<unk><unk>",
    "<0x0A> <0x41><0xFF>",
    "<0x0a> 0x41",
    "\u2047 unknown shown",
)


def hard_lines(model: ModelProto) -> list[str]:
    """Return the built-in lines, and lines that contain the symbols of a model.

    Parameters
    ----------
    model : ModelProto
        The model.
    """
    symbols = texts_of_type(model, USER_DEFINED, CONTROL, UNKNOWN, UNUSED)[:50]
    lines = [*_WHITE_SPACE, *_CLUSTERS, *_TEXT]
    for symbol in symbols:
        text = symbol.replace(SPACE_MARK, " ")
        lines += [
            symbol,
            f"{text} {text}{text}",
            f"The{text}quick {text} fox  {text}\u00e9{text}",
            f" {text}\u0301 {symbol[:-1]}",
        ]
    return lines
