"""The differences between a ``tokenizer.json`` with a layout of ``transformers`` and its model."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from spmcompat.engine import SPACE_MARK
from spmcompat.model.pieces import BYTE, BYTE_PIECES, NORMAL, UNKNOWN, texts_of_type
from spmcompat.model.sentencepiece_model_pb2 import ModelProto, NormalizerSpec
from spmcompat.tools.export.charsmap_steps import JsonObject
from spmcompat.tools.export.layouts import Layout
from spmcompat.tools.export.limits import Limit, difference, some
from spmcompat.tools.export.merges_of_pieces import encoder_without_symbols, merges_of, same_order

_UNKNOWN = "\U0010fffd\U0010fffc"  # two private-use characters


def symbol_differences(spec: NormalizerSpec, tokens: Sequence[JsonObject]) -> Iterator[Limit]:
    """Yield the limits of the added tokens that become user-defined symbols.

    Parameters
    ----------
    spec : NormalizerSpec
        The normalizer of the model.
    tokens : sequence of dict
        The added tokens of the file that are not special.
    """
    symbols = [str(token["content"]) for token in tokens]
    changes = spec.precompiled_charsmap or spec.remove_extra_whitespaces or spec.add_dummy_prefix
    if symbols and changes:
        symbol = min(symbols)
        yield difference(
            f"Added tokens such as {symbol!r} become user-defined symbols. The file normalizes the "
            "parts of the text around them separately; sentencepiece normalizes the whole text.",
            f"{symbol}a" if spec.add_dummy_prefix else f"a {symbol}",
        )
    words = _having(tokens, "single_word")
    if words:
        yield difference(
            f"The file finds {some(words)} only as a separate word; sentencepiece also finds it "
            "within words.",
            f"a{words[0]}a",
        )
    stripping = _having(tokens, "lstrip", "rstrip")
    if stripping:
        yield difference(
            f"The file removes white space around {some(stripping)}; sentencepiece keeps it.",
            f"a \n{stripping[0]}\n a",
        )
    spaced = [symbol for symbol in symbols if " " in symbol]
    if spaced:
        yield difference(
            f"sentencepiece never finds {some(spaced)} in a text, because of the space in it.",
            spaced[0],
        )
    others = {*spaced, *_having(tokens, "normalized")}
    marked = [symbol for symbol in symbols if SPACE_MARK in symbol and symbol not in others]
    if marked:
        yield difference(
            f"sentencepiece finds {some(marked)} also with spaces in place of the space marks.",
            marked[0].replace(SPACE_MARK, " "),
        )


def _having(tokens: Sequence[JsonObject], *settings: str) -> list[str]:
    """Return the texts of the tokens for which one of the settings is true."""
    return [str(token["content"]) for token in tokens if any(map(token.get, settings))]


def unigram_differences(described: JsonObject, model: ModelProto) -> Iterator[Limit]:
    """Yield the limits of a Unigram model."""
    rounded = [
        text
        for piece, (text, score) in zip(model.pieces, described["vocab"], strict=True)
        if piece.type == NORMAL and piece.score != score
    ]
    if rounded:
        yield difference(
            f"The scores of {len(rounded):,} pieces, such as {rounded[0]!r}, are rounded to "
            "float32. If two segmentations have almost the same score, the model may choose "
            "another one than the file."
        )
    if described.get("byte_fallback"):
        yield difference(
            "The file finds the names of bytes in a text; sentencepiece does not.",
            BYTE_PIECES[0x41],
        )


def bpe_differences(
    described: JsonObject, model: ModelProto, merges: Sequence[tuple[str, str]]
) -> Iterator[Limit]:
    """Yield the limits of a BPE model. `merges` are the merges of the file."""
    types = {piece.piece: piece.type for piece in model.pieces}
    normal = [
        merge for merge in merges if all(types[text] == NORMAL for text in (*merge, "".join(merge)))
    ]
    # Merges that result in control pieces or symbols do no harm: ``tokenizers`` cuts the texts of
    # these pieces out of a line before it merges anything.
    found = ["".join(merge) for merge in merges if types["".join(merge)] in (BYTE, UNKNOWN)]
    if found:
        yield difference(
            f"The file finds {found[0]!r} in a text; sentencepiece does not.", found[0]
        )
    ours = merges_of(model)
    if not same_order(ours, normal):
        extra = sorted(set(ours) - set(normal))
        text = "The merges of one piece have different ranks in the file"
        if extra:
            text = f"{len(extra):,} merges, such as {extra[0]!r}, are missing in the file"
        yield difference(
            f"{text}. sentencepiece merges all neighbours whose joined text is a piece, in the "
            "order of the scores of the pieces."
        )
    if not described.get("unk_token") and not described.get("byte_fallback"):
        yield difference(
            "The file leaves out unknown characters; sentencepiece has a piece for them.", _UNKNOWN
        )
    elif not described.get("fuse_unk") and not described.get("byte_fallback"):
        yield difference(
            "The file makes each unknown character a token; sentencepiece joins them.", _UNKNOWN
        )
    if described.get("ignore_merges"):
        encoder = encoder_without_symbols(model)
        for text, kind in types.items():
            if kind == NORMAL and len(text) > 1 and encoder.parts(text) is None:
                yield difference(
                    f"Merges do not produce {text!r}, which the file uses if it is the whole text "
                    "(ignore_merges).",
                    text.removeprefix(SPACE_MARK).replace(SPACE_MARK, " "),
                )
                break


def word_differences(model: ModelProto, layout: Layout) -> Iterator[Limit]:
    """Yield a limit if the file encodes word by word, but a piece contains parts of two words."""
    collapses = model.normalizer_spec.remove_extra_whitespaces
    for text in texts_of_type(model, NORMAL) if layout.cuts_words else ():
        if SPACE_MARK in text[1:] and not (collapses and SPACE_MARK * 2 in text):
            yield difference(
                f"The piece {text!r} continues after a space mark. The file cuts each text at "
                "spaces, so it never uses this piece.",
                text.removeprefix(SPACE_MARK).replace(SPACE_MARK, " "),
            )
            return
