"""Finds out which texts llama.cpp will encode differently than sentencepiece with the same model.

The rules in this module come from ``llama-vocab.cpp``. The tests check them with
``llama-cpp-python``.
"""

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence, Set
from functools import lru_cache

from spmcompat.engine import SPACE_MARK, decompile
from spmcompat.model.meta_pieces import reserved_ids
from spmcompat.model.pieces import (
    BYTE,
    CONTROL,
    NORMAL,
    UNKNOWN,
    UNUSED,
    USER_DEFINED,
    model_type_of,
    texts_of_type,
)
from spmcompat.model.sentencepiece_model_pb2 import ModelProto, TrainerSpec
from spmcompat.tools.edit.vocabulary import a_few
from spmcompat.tools.export.limits import DECODING_RULES, TIES, Limit

_NAMES = {"bos": "bos", "eos": "eos", "unk": "unknown", "pad": "padding"}

# llama.cpp turns tokens with these texts into control tokens.
_ALWAYS_CONTROL = frozenset(
    [
        "<|eot_id|>",
        "<|im_end|>",
        "<|end|>",
        "<end_of_turn>",
        "<|endoftext|>",
        "<|end_of_text|>",
        "<EOT>",
        "_<EOT>",
        "[EOT]",
        "<end_of_utterance>",
        "<|eom_id|>",
        "<|fim_prefix|>",
        "<fim-prefix>",
        "<fim_prefix>",
        "<PRE>",
        "<|code_prefix|>",
        "<|prefix|>",
        "<|fim_suffix|>",
        "<fim-suffix>",
        "<fim_suffix>",
        "<SUF>",
        "<|code_suffix|>",
        "<|suffix|>",
        "<|fim_middle|>",
        "<fim-middle>",
        "<fim_middle>",
        "<MID>",
        "<|code_middle|>",
        "<|middle|>",
        "<|fim_pad|>",
        "<fim-pad>",
        "<fim_pad>",
        "<PAD>",
        "[PAD]",
        "<|fim_repo|>",
        "<|repo_name|>",
        "<fim-repo>",
        "<REPO>",
        "<reponame>",
        "<|file_sep|>",
        "<|return|>",
        "<|call|>",
        "<|flush|>",
        "<|calls|>",
        "</s>",
        "[EOS]",
        "<eos>",
        "<turn|>",
        "<|tool_response>",
        "[e~[",
    ]
)
# llama.cpp turns tokens with these texts into user-defined tokens.
_ALWAYS_USER_DEFINED = frozenset(["<|channel|>", "<|message|>", "<|start|>", "<|constrain|>"])


def limits(model: ModelProto) -> list[Limit]:
    """Return the limits of a GGUF file."""
    kind = model.trainer_spec.model_type
    if kind not in (TrainerSpec.UNIGRAM, TrainerSpec.BPE):
        name = model_type_of(model.trainer_spec)
        return [
            Limit(
                f"llama.cpp has no tokenizer for a {name} model.",
                "Train with --model_type=unigram or --model_type=bpe.",
                refuses=True,
            )
        ]
    found = [*_common_limits(model)]
    if kind == TrainerSpec.BPE:
        return [*found, *_bpe_limits(model)]
    return [*found, *_unigram_limits(model), TIES]


def special_ids(model: ModelProto) -> dict[str, int]:
    """Return the ids of the reserved pieces. The keys are their names in GGUF."""
    ids = reserved_ids(model.trainer_spec, ((piece.piece, piece.type) for piece in model.pieces))
    return {name: ids[kind] for kind, name in _NAMES.items() if kind in ids}


def cut_symbols(model: ModelProto) -> list[str]:
    """Return the symbols of a BPE model at which llama.cpp must cut the text.

    A symbol of one character that no learned piece contains needs no cut. A symbol with a space
    never matches, because ``sentencepiece`` replaces the spaces of the text with space marks first.
    """
    learned = (NORMAL, UNUSED)
    merged = set("".join(piece.piece for piece in model.pieces if piece.type in learned))
    return [
        symbol
        for symbol in texts_of_type(model, USER_DEFINED)
        if " " not in symbol and not (len(symbol) == 1 and symbol not in merged)
    ]


def changed_symbols(model: ModelProto) -> dict[str, bool]:
    """Return, for each symbol that the charsmap changes, whether it does so in every text.

    The charsmap changes some symbols only before certain characters, for example ``>`` before a
    combining stroke.
    """
    return _changed(
        tuple(texts_of_type(model, USER_DEFINED)), model.normalizer_spec.precompiled_charsmap
    )


# The result is cached, because computing it can take a second, and both the check of the limits and
# the export need it.
@lru_cache(maxsize=1)
def _changed(symbols: tuple[str, ...], charsmap: bytes) -> dict[str, bool]:
    if not symbols or not charsmap:
        return {}
    characters = set(map(ord, "".join(symbols)))
    rules = {
        "".join(map(chr, source)): "".join(map(chr, target))
        for source, target in decompile(charsmap).items()
        if source[0] in characters
    }
    # The last step of normalization replaces spaces with space marks.
    changing = {one for one, target in rules.items() if target.replace(" ", SPACE_MARK) != one}
    sources = _without_longer(changing)
    longest = max(map(len, sources), default=0)
    found = {}
    for symbol in symbols:
        size = len(symbol)
        is_always = any(_has_begin(symbol[at : at + longest], sources) for at in range(size))
        if is_always or any(
            _is_begin(symbol[at:], sources) for at in range(max(size - longest, 0), size)
        ):
            found[symbol] = is_always
    return found


def _without_longer(texts: Iterable[str]) -> list[str]:
    """Sort the texts. Leave out each text that begins with another of the texts."""
    kept: list[str] = []
    for text in sorted(texts):
        # In sorted order, the texts that begin with kept[-1] follow it directly.
        if not kept or not text.startswith(kept[-1]):
            kept.append(text)
    return kept


def _has_begin(text: str, begins: Sequence[str]) -> bool:
    """Return whether a text starts with one of the results of `_without_longer`.

    Only one result can be the beginning of the text: in sorted order, the last one that is not
    greater than the text.
    """
    at = bisect_right(begins, text)
    return at > 0 and text.startswith(begins[at - 1])


def _is_begin(begin: str, texts: Sequence[str], *, besides: str = "") -> bool:
    """Return whether `begin` is a proper prefix of one of `texts`, which are sorted.

    The text `besides` is ignored.
    """
    at = bisect_right(texts, begin)
    return any(text.startswith(begin) and text != besides for text in texts[at : at + 2])


def _common_limits(model: ModelProto) -> Iterator[Limit]:
    """Yield the limits of models of both types."""
    spec = model.normalizer_spec
    if any("\0" in piece.piece for piece in model.pieces):
        yield Limit(
            "A piece contains the NUL character, which ends a token of llama.cpp.",
            "Train without that symbol.",
            refuses=True,
        )
    if model.trainer_spec.treat_whitespace_as_suffix and spec.add_dummy_prefix:
        yield Limit(
            "llama.cpp does not append a space to the text.",
            "Train with --treat_whitespace_as_suffix=false or --add_dummy_prefix=false.",
            refuses=True,
        )
    if not spec.escape_whitespaces:
        yield Limit("llama.cpp always replaces spaces with the space mark.", refuses=True)
    is_bpe = model.trainer_spec.model_type == TrainerSpec.BPE
    if "eos" not in special_ids(model):
        yield Limit(
            f"The model has no eos, so llama.cpp ends a text at id {2 if is_bpe else 1}.",
            "Train with --eos_id of 0 or more.",
        )
    retyped = [
        piece.piece
        for piece in model.pieces
        if (piece.piece in _ALWAYS_USER_DEFINED and piece.type != NORMAL)
        or (is_bpe and piece.piece in _ALWAYS_CONTROL and piece.type == USER_DEFINED)
    ]
    if retyped:
        yield Limit(
            f"llama.cpp gives {a_few(retyped)} another type, so it does not find these pieces in "
            "the same texts as sentencepiece.",
            "Train with other names for these symbols.",
        )
    if model.denormalizer_spec.precompiled_charsmap:
        yield DECODING_RULES


def _unigram_limits(model: ModelProto) -> Iterator[Limit]:
    """Yield the limits of Unigram models."""
    spec = model.normalizer_spec
    if not texts_of_type(model, UNKNOWN):
        yield Limit(
            "The model has no unknown piece, which llama.cpp needs.",
            "Train with --unk_id of 0 or more.",
            refuses=True,
        )
    elif model.trainer_spec.byte_fallback:
        yield Limit(
            "llama.cpp encodes unknown characters as the unknown piece, not as bytes.",
            "Train with --byte_fallback=false or --model_type=bpe.",
        )
    if spec.remove_extra_whitespaces and not spec.add_dummy_prefix:
        yield Limit(
            "llama.cpp adds a space before the text if extra spaces are removed.",
            "Train with --add_dummy_prefix=true or --remove_extra_whitespaces=false.",
            refuses=True,
        )
    elif spec.add_dummy_prefix and not spec.remove_extra_whitespaces:
        yield Limit(
            "llama.cpp does not add a space before a text of only spaces.",
            "Train with --remove_extra_whitespaces=true or --add_dummy_prefix=false.",
            inexpressible=r"\A +\Z",
        )
    rules = decompile(spec.precompiled_charsmap) if spec.precompiled_charsmap else {}
    if spec.remove_extra_whitespaces and (ord(SPACE_MARK),) not in rules:
        yield Limit(
            "llama.cpp keeps the character U+2581 at the end of a text.",
            "Train with --remove_extra_whitespaces=false if texts end with it.",
            inexpressible=rf"{SPACE_MARK}\Z",
        )
    yield from _limits_of_changed_symbols(model)


def _limits_of_changed_symbols(model: ModelProto) -> Iterator[Limit]:
    found = changed_symbols(model)
    always = [symbol for symbol, is_always in found.items() if is_always]
    lost = [symbol for symbol in always if not symbol.isascii()]
    kept = [symbol for symbol in always if symbol.isascii()]
    if lost:
        yield Limit(
            f"llama.cpp normalizes {a_few(lost)} like other text, and so does not find it.",
            "Train with --normalization_rule_name=identity or with other symbols.",
        )
    if kept:
        spec = model.normalizer_spec
        adds_space = spec.add_dummy_prefix or spec.remove_extra_whitespaces
        space = ", and adds a space after the symbol" if adds_space else ""
        yield Limit(
            f"The normalizer would change {a_few(kept)}. llama.cpp does not normalize text that "
            f"matches the beginning of a symbol{space}.",
            "Train with --normalization_rule_name=identity or with other symbols.",
        )
    if len(found) > len(always):
        yield Limit(
            f"llama.cpp normalizes the end of {a_few([one for one in found if not found[one]])} "
            "together with a combining mark after it.",
            "Train with --normalization_rule_name=identity if the text has such marks.",
        )


def _bpe_limits(model: ModelProto) -> Iterator[Limit]:
    """Yield the limits of BPE models."""
    spec = model.normalizer_spec
    if spec.precompiled_charsmap:
        yield Limit(
            "llama.cpp does not normalize the text of a BPE model.",
            "Train with --normalization_rule_name=identity.",
        )
    if spec.remove_extra_whitespaces:
        yield Limit(
            "llama.cpp keeps extra spaces in the text of a BPE model.",
            "Train with --remove_extra_whitespaces=false.",
        )
    if not model.trainer_spec.byte_fallback:
        yield Limit(
            "llama.cpp encodes unknown characters of a BPE model as bytes, and ends the program if "
            "the model has no byte pieces.",
            "Train with --byte_fallback=true.",
            refuses=True,
        )
    symbols = cut_symbols(model)
    if symbols and spec.add_dummy_prefix:
        yield Limit(
            f"llama.cpp does not add a space before {a_few(symbols)} at the start of a text, but "
            "adds one after the symbol.",
            "Train with --add_dummy_prefix=false.",
        )
    ordered = sorted(symbols)
    overlapping = [symbol for symbol in symbols if _overlaps(symbol, ordered)]
    if overlapping:
        yield Limit(
            f"{a_few(overlapping)} may overlap in a text. sentencepiece takes the first symbol, "
            "and llama.cpp the longest one.",
            "Train with symbols that do not begin with the end of another symbol.",
        )
    unused = texts_of_type(model, UNUSED)
    if unused:
        yield Limit(
            f"llama.cpp uses the unused pieces of a BPE model: {a_few(unused)}.",
            "Train with a smaller --vocab_size instead of making pieces unused.",
        )
    texts = {piece.piece for piece in model.pieces}
    merged = [
        text
        for text in texts_of_type(model, CONTROL, UNKNOWN, BYTE)
        if len(text) == 1 or _has_parts(text, texts)
    ]
    if merged:
        yield Limit(
            f"llama.cpp merges pieces to {a_few(merged)} where a text contains these characters.",
            "Train with other names: --bos_piece, --eos_piece, --unk_piece, --control_symbols.",
        )


def _overlaps(symbol: str, ordered: Sequence[str]) -> bool:
    return any(_is_begin(symbol[at:], ordered, besides=symbol) for at in range(1, len(symbol)))


def _has_parts(text: str, texts: Set[str]) -> bool:
    return any(
        all(len(part) == 1 or part in texts for part in (text[:at], text[at:]))
        for at in range(1, len(text))
    )
