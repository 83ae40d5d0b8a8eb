"""Converts a ``tokenizer.json`` to a model.

This module first guesses a model from the file and exports it. The guess is accepted only if each
part of the export equals the same part of the file. So if this module overlooks something in the
file, the import fails instead of writing a wrong model.

Otherwise, the file may have a layout that ``transformers`` writes (`layouts`). It becomes a model
with the same pieces, and the result includes all differences between the file and the model
(`layout_differences`).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import product
from typing import NamedTuple

from spmcompat.engine import (
    DEFAULT,
    LARGEST_FLOAT32,
    MARK_CASE,
    NAMES,
    OWN_NAMES,
    RELEASES,
    Release,
    case_restorer,
    compile_charsmap,
    precompiled,
    to_float32,
)
from spmcompat.errors import BadValueError, TrainingError
from spmcompat.model.encoding import symbol_score
from spmcompat.model.loading import check_loads
from spmcompat.model.pieces import (
    BYTE,
    BYTE_PIECES,
    CONTROL,
    NORMAL,
    UNKNOWN,
    UNUSED,
    USER_DEFINED,
)
from spmcompat.model.sentencepiece_model_pb2 import ModelProto, NormalizerSpec, TrainerSpec
from spmcompat.tools.export import tokenizer_json
from spmcompat.tools.export.charsmap_steps import JsonObject, Points, rules_of_steps
from spmcompat.tools.export.document import read_document, refusal
from spmcompat.tools.export.layout_differences import (
    bpe_differences,
    symbol_differences,
    unigram_differences,
    word_differences,
)
from spmcompat.tools.export.layouts import Layout, layout_of
from spmcompat.tools.export.limits import Limit
from spmcompat.tools.export.merges_of_pieces import same_order
from spmcompat.tools.export.normalizer_json import normalizer
from spmcompat.tools.export.patterns import texts_of_pattern

_BYTES = frozenset(BYTE_PIECES)
# Limits the time for the expansion of a pattern into the texts that match it. The texts may have at
# most `_WORK` times as many characters as all pieces together. An exported pattern stays below the
# limit, although it repeats the beginnings of symbols.
_WORK = 100
_FEWEST_PREDEFINED = 10_000  # all predefined sets of rules have more rules
_ALWAYS_STORED = frozenset(["model_type", "precompiled_charsmap"])


def import_tokenizer(content: bytes) -> tuple[ModelProto, list[Limit]]:
    """Convert the content of a ``tokenizer.json`` to a model.

    Parameters
    ----------
    content : bytes
        The content of the file.

    Returns
    -------
    model : ModelProto
        A model that encodes as the file does, apart from the limits.
    limits : list of Limit
        The differences between the file and the model. If `refuses` is true, ordinary lines may be
        encoded differently.

    Raises
    ------
    BadValueError
        If the file is not a ``tokenizer.json``, or no model is similar to it. The message names the
        section of the file that cannot be imported.
    """
    document, described = _read(content)
    vocabulary = _vocabulary(document, described)
    added = _added_tokens(document, vocabulary)
    limits: list[Limit] = []
    model, unequal = _exact(document, described, vocabulary, added)
    if unequal:
        try:
            layout = layout_of(document, _most(vocabulary))
        except BadValueError:
            if unequal == "normalizer":
                raise
            raise refusal(unequal, document) from None
        model, limits = _similar(document, described, vocabulary, added, layout)
    symbols = [token for token in _tokens(document) if not token["special"]]
    limits += symbol_differences(model.normalizer_spec, symbols)
    _add_new(model, added)
    limits += _set_unknown(model, described, added.control)
    _set_trainer_spec(model, document, described)
    _clear_defaults(model.trainer_spec)
    _clear_defaults(model.normalizer_spec)
    try:
        check_loads(model)
    except BadValueError as error:
        raise refusal("model", document, f"{error}") from None
    return model, [*limits, *_left_out(document, model)]


def pieces_of_export(content: bytes) -> ModelProto | None:
    """Return a model with only the pieces of a file, with their types.

    This is much faster than an import, because it leaves out the normalizer. It is for files that
    ``tokenizers`` has loaded.

    Returns
    -------
    ModelProto or None
        None if the decoder of the file shows that it is not an export of spmcompat.
    """
    try:
        document, described = _read(content)
        if not _is_export(document):
            return None
        vocabulary = _vocabulary(document, described)
        added = _added_tokens(document, vocabulary)
        model = _with_pieces(document, described, vocabulary, added)
    except BadValueError:
        return None
    _add_new(model, added)
    return model


def _is_export(document: JsonObject) -> bool:
    """Return whether the decoder has a step for whole pieces, as that of each export."""
    return any(map(_whole, _decoders(document)))


def _read(content: bytes) -> tuple[JsonObject, JsonObject]:
    """Return the document and its model, with the scores of a Unigram model as float32 values."""
    document = read_document(content)
    described = document["model"]
    assert isinstance(described, dict)
    if described["type"] not in ("Unigram", "BPE"):
        raise refusal("model", document, "its type must be Unigram or BPE.")
    if not described["vocab"]:
        raise refusal("model", document, "it has no pieces.")
    if described["type"] == "Unigram":
        entries: list[tuple[str, float]] = described["vocab"]
        described["vocab"] = [[text, _nearest_float32(score)] for text, score in entries]
    return document, described


class _Added(NamedTuple):
    """The added tokens of the file.

    Attributes
    ----------
    control : set of str
        The special tokens.
    symbols : set of str
        The other tokens.
    new : list of (str, bool)
        The tokens with ids after the vocabulary, and whether they are special.
    """

    control: set[str]
    symbols: set[str]
    new: list[tuple[str, bool]]


def _vocabulary(document: JsonObject, described: JsonObject) -> dict[str, int]:
    """Return the ids of the pieces.

    Raises
    ------
    BadValueError
        If a text or an id occurs twice, or an id is missing.
    """
    if described["type"] == "Unigram":
        entries: list[tuple[str, float]] = described["vocab"]  # type: ignore[assignment]
        ids = {text: index for index, (text, _) in enumerate(entries)}
        if len(ids) != len(entries):
            raise refusal("model", document, "a piece occurs twice.")
        unknown = described.get("unk_id")
        if unknown is not None and unknown >= len(ids):  # type: ignore[operator]
            raise refusal("model", document, f"its unk_id {unknown} is not in the vocabulary.")
        return ids
    given: dict[str, int] = described["vocab"]  # type: ignore[assignment]
    texts = sorted(given, key=given.__getitem__)
    if [given[text] for text in texts] != list(range(len(texts))):
        raise refusal("model", document, "its ids have gaps, or two pieces have the same id.")
    return {text: index for index, text in enumerate(texts)}


def _added_tokens(document: JsonObject, vocabulary: Mapping[str, int]) -> _Added:
    """Return the added tokens.

    Raises
    ------
    BadValueError
        If the id of a token is neither its id in the vocabulary nor the next free id.
    """
    tokens = _tokens(document)
    special = {str(token["content"]): bool(token["special"]) for token in tokens}
    ids = dict(vocabulary)
    new = []
    for token in sorted(tokens, key=lambda token: token["id"]):  # type: ignore[arg-type,return-value]
        text = str(token["content"])
        if text not in ids and token["id"] == len(ids):
            ids[text] = len(ids)
            new.append((text, special[text]))
        if ids.get(text) != token["id"]:
            reason = f"{text!r} does not have the id {token['id']} in the vocabulary."
            raise refusal("added_tokens", document, reason)
    symbols = {text for text, is_special in special.items() if not is_special}
    return _Added(special.keys() - symbols, symbols, new)


def _tokens(document: JsonObject) -> list[JsonObject]:
    return document.get("added_tokens") or []  # type: ignore[return-value]


def _most(pieces: Collection[str]) -> int:
    return _WORK * (sum(map(len, pieces)) + len(pieces))


# ---------------------------------------------------------------- exports of spmcompat


def _exact(
    document: JsonObject, described: JsonObject, vocabulary: Mapping[str, int], added: _Added
) -> tuple[ModelProto, str]:
    """Return the model whose export is this file, if the file is an export of spmcompat.

    Returns
    -------
    model : ModelProto
        The model, without its trainer spec.
    unequal : str
        The name of a section of the file that differs from an export of the model; empty if the
        file equals the export.
    """
    model = _with_pieces(document, described, vocabulary, added)
    if not _set_normalizer(model, document):
        return model, "normalizer"
    if not added.symbols.issubset(text for text, _ in added.new):
        return model, "added_tokens"
    exported = tokenizer_json.content(model)
    if document.get("pre_tokenizer") != exported["pre_tokenizer"]:
        return model, "pre_tokenizer"
    return model, "" if _equal_models(document, described, exported) else "model"


def _with_pieces(
    document: JsonObject, described: JsonObject, vocabulary: Mapping[str, int], added: _Added
) -> ModelProto:
    """Return a model with the pieces of the file, which is expected to be an export."""
    control = _silent(document, vocabulary) | added.control
    model = ModelProto()
    if described["type"] == "Unigram":
        _add_unigram(model, document, described, control)
    else:
        symbols = _symbols(document, vocabulary)
        _add_bpe(model, described, vocabulary, control, symbols, _merges(document, described))
    model.trainer_spec.byte_fallback = bool(described.get("byte_fallback"))
    return model


def _add_unigram(
    model: ModelProto, document: JsonObject, described: JsonObject, control: Collection[str]
) -> None:
    """Add the pieces. Infer the type of each piece from its score, as an export writes it."""
    vocabulary: list[tuple[str, float]] = described["vocab"]  # type: ignore[assignment]
    unknown: int | None = described.get("unk_id")  # type: ignore[assignment]
    reserved = [score for text, score in vocabulary if text in _BYTES or text in control]
    is_export = _is_export(document)
    low = vocabulary[unknown][1] if unknown is not None else min(reserved, default=None)
    for index, (text, score) in enumerate(vocabulary):
        kind = _meta_type(text, described, is_unknown=index == unknown, control=control)
        if kind == NORMAL and low is not None and score == low - 1:
            kind = UNUSED
        elif kind == NORMAL and score == symbol_score(text) and is_export:
            kind = USER_DEFINED
        _refuse_score(document, score, kind)
        _add(model, text, _score_of_model(text, score) if kind == NORMAL else 0.0, kind)
    cuts = document.get("pre_tokenizer")
    is_char = isinstance(cuts, dict) and cuts["type"] == "Sequence"
    model.trainer_spec.model_type = TrainerSpec.CHAR if is_char else TrainerSpec.UNIGRAM


def _score_of_model(text: str, score: float) -> float:
    """Return the score of a normal piece; this is the inverse of `tokenizer_json.normal_score`."""
    of_symbol = symbol_score(text)
    return of_symbol if score == tokenizer_json.normal_score(of_symbol, text) else score


def _add_bpe(
    model: ModelProto,
    described: JsonObject,
    vocabulary: Mapping[str, int],
    control: Collection[str],
    symbols: Collection[str],
    merges: Sequence[tuple[str, str]],
) -> None:
    types = {}
    for text in vocabulary:
        is_unknown = text == described.get("unk_token")
        types[text] = _meta_type(text, described, is_unknown=is_unknown, control=control)
        if types[text] == NORMAL and text in symbols:
            types[text] = USER_DEFINED
    # The scores are as in sentencepiece: pieces that merges produce have the highest scores, in the
    # order of their merges. Other pieces come after them.
    made = dict.fromkeys(left + right for left, right in merges)
    normal = [text for text in made if types.get(text) == NORMAL]
    normal += [text for text in vocabulary if types[text] == NORMAL and text not in made]
    scores = {text: -float(rank) for rank, text in enumerate(normal)}
    for text in vocabulary:
        _add(model, text, scores.get(text, 0.0), types[text])
    model.trainer_spec.model_type = TrainerSpec.BPE if merges else TrainerSpec.CHAR


def _meta_type(
    text: str, described: JsonObject, *, is_unknown: bool, control: Collection[str]
) -> ModelProto.SentencePiece.Type:
    if described.get("byte_fallback") and text in _BYTES:
        return BYTE
    if is_unknown:
        return UNKNOWN
    return CONTROL if text in control else NORMAL


def _add_new(model: ModelProto, added: _Added) -> None:
    for text, is_special in added.new:
        _add(model, text, 0.0, CONTROL if is_special else USER_DEFINED)


def _nearest_float32(score: float) -> float:
    """Return the float32 value nearest to a score if both are almost equal; otherwise, the score.

    ``tokenizers`` reads numbers with an error in the last bits of float64, and writes these inexact
    numbers to its files.
    """
    if abs(score) > LARGEST_FLOAT32:
        return score
    rounded = to_float32(score)
    return rounded if abs(score - rounded) <= abs(rounded) * 2.0**-50 else score


def _refuse_score(document: JsonObject, score: float, kind: int) -> None:
    if kind == NORMAL and abs(score) > LARGEST_FLOAT32:
        raise refusal("model", document, f"the score {score!r} is not a float32.")


def _add(model: ModelProto, text: str, score: float, kind: int) -> None:
    piece = model.pieces.add(piece=text, score=to_float32(score))
    if kind != NORMAL:
        piece.MergeFrom(ModelProto.SentencePiece(type=kind))  # type: ignore[arg-type]


def _merges(document: JsonObject, described: JsonObject) -> list[tuple[str, str]]:
    """Return the merges as pairs. In older files, a merge is a text: two parts and a space between.

    Raises
    ------
    BadValueError
        If a part or the result of a merge is not a piece.
    """
    vocabulary: Mapping[str, int] = described["vocab"]  # type: ignore[assignment]
    merges = []
    for merge in described["merges"]:  # type: ignore[attr-defined]
        left, _, right = (
            merge.partition(" ") if isinstance(merge, str) else (merge[0], "", merge[1])
        )
        for part in (left, right, left + right):
            if part not in vocabulary:
                raise refusal("model", document, f"a merge names {part!r}, which is not a piece.")
        merges.append((left, right))
    return merges


def _set_normalizer(model: ModelProto, document: JsonObject) -> bool:
    """Set the normalizer whose export has the steps of the file. Return whether it was found.

    Raises
    ------
    BadValueError
        If the charsmap of a step is damaged.
    """
    described = document.get("normalizer")
    steps: Sequence[JsonObject] = []
    if isinstance(described, dict):
        steps = described.get("normalizers", [described])
    spec = model.normalizer_spec
    try:
        rules = rules_of_steps(steps)
        charsmap = compile_charsmap(rules, change_something=False) if rules else b""
    except TrainingError as error:
        raise refusal(
            "normalizer", document, f"its precompiled_charsmap is damaged: {error}"
        ) from None
    spec.name, release = _name_and_release(rules, charsmap)
    spec.precompiled_charsmap = charsmap
    for prefix, remove, escape, suffix in product((True, False), repeat=4):
        spec.add_dummy_prefix = prefix
        spec.remove_extra_whitespaces = remove
        spec.escape_whitespaces = escape
        model.trainer_spec.treat_whitespace_as_suffix = not suffix
        if _steps(normalizer(model)) == list(steps):
            if spec.name == MARK_CASE:
                model.denormalizer_spec.CopyFrom(case_restorer(release))
            return True
    return False


def _name_and_release(rules: Mapping[Points, Points], charsmap: bytes) -> tuple[str, Release]:
    """Return the name of the rules of a charsmap, and the release whose rules these are.

    Only one set of predefined rules can be equal to the given ones. It follows from what they do:
    only nmt turns a TAB into a space, cf turns a capital into one small letter, MARK_CASE turns a
    capital into two characters, and strip_accents deletes accents.
    """
    if len(rules) < _FEWEST_PREDEFINED:
        return ("user_defined" if rules else "identity"), DEFAULT
    name = "nmt_nfkc" if (0x09,) in rules else "nfkc"
    if len(rules.get((0x41,), ())) == 1:
        name = f"{name}_cf"
    if len(rules.get((0x41,), ())) == 2:
        name = MARK_CASE
    elif (0x300,) in rules:
        name = f"{name}_strip_accents"
    for release in (DEFAULT, *RELEASES.values()) if name in (*NAMES, *OWN_NAMES) else ():
        if precompiled(name, release.characters_without_rules) == charsmap:
            return name, release
    return "user_defined", DEFAULT


def _steps(normalizer: JsonObject | None) -> list[JsonObject]:
    return [] if normalizer is None else list(normalizer["normalizers"])  # type: ignore[call-overload]


def _equal_models(document: JsonObject, described: JsonObject, exported: JsonObject) -> bool:
    """Return whether the ``model`` section of the file is equivalent to that of an export."""
    ours, theirs = dict(exported["model"]), dict(described)  # type: ignore[call-overload]
    if ours["type"] != theirs["type"]:
        return False
    if ours["type"] == "BPE":
        theirs.setdefault("ignore_merges", False)
        for name in ("continuing_subword_prefix", "end_of_word_suffix"):
            theirs[name] = theirs.get(name) or None
        theirs["dropout"] = theirs.get("dropout") or None
        if not same_order(ours["merges"], _merges(document, described)):
            return False
        del ours["merges"], theirs["merges"]
    theirs.setdefault("byte_fallback", False)
    return bool(ours == theirs)


# ---------------------------------------------------------------- layouts of transformers


def _similar(
    document: JsonObject,
    described: JsonObject,
    vocabulary: Mapping[str, int],
    added: _Added,
    layout: Layout,
) -> tuple[ModelProto, list[Limit]]:
    """Return a model with the pieces and the layout of the file, and how it differs from the file.

    Raises
    ------
    BadValueError
        If the model of the file has a setting that ``sentencepiece`` does not have.
    """
    model = ModelProto()
    spec = model.normalizer_spec
    spec.name, spec.precompiled_charsmap = layout.name, layout.charsmap
    spec.add_dummy_prefix = layout.add_dummy_prefix
    spec.remove_extra_whitespaces = layout.remove_extra_whitespaces
    spec.escape_whitespaces = layout.escape_whitespaces
    _check_symbols(document, described, layout.symbols)
    symbols = {*layout.symbols, *added.symbols}
    differences = list(layout.differences)
    if described["type"] == "Unigram":
        entries: list[tuple[str, float]] = described["vocab"]  # type: ignore[assignment]
        for index, (text, score) in enumerate(entries):
            is_unknown = index == described.get("unk_id")
            kind = _meta_type(text, described, is_unknown=is_unknown, control=added.control)
            if kind == NORMAL and text in symbols:
                kind = USER_DEFINED
            _refuse_score(document, score, kind)
            _add(model, text, score if kind == NORMAL else 0.0, kind)
        model.trainer_spec.model_type = TrainerSpec.UNIGRAM
        differences += unigram_differences(described, model)
    else:
        for name in ("continuing_subword_prefix", "end_of_word_suffix", "dropout"):
            if described.get(name):
                raise refusal("model", document, f"it has the setting {name}.")
        merges = _merges(document, described)
        _add_bpe(model, described, vocabulary, added.control, symbols, merges)
        differences += bpe_differences(described, model, merges)
    differences += word_differences(model, layout)
    return model, differences


def _check_symbols(document: JsonObject, described: JsonObject, symbols: Collection[str]) -> None:
    """Raise if the pre-tokenizer isolates a symbol that the model may encode as several pieces.

    Raises
    ------
    BadValueError
        If there is such a symbol.
    """
    if described["type"] == "Unigram":
        # A symbol whose score is 0 or more is encoded as one piece, because all of its other
        # segmentations have a negative score.
        entries: list[tuple[str, float]] = described["vocab"]  # type: ignore[assignment]
        whole = {text for text, score in entries if score >= 0}
    else:
        vocabulary: Mapping[str, int] = described["vocab"]  # type: ignore[assignment]
        whole = {text for text in vocabulary if described.get("ignore_merges") or len(text) == 1}
    for symbol in symbols:
        if symbol not in whole:
            raise refusal("pre_tokenizer", document, f"it does not keep {symbol!r} in one piece.")


# ---------------------------------------------------------------- trainer spec and limits


def _set_trainer_spec(model: ModelProto, document: JsonObject, described: JsonObject) -> None:
    spec = model.trainer_spec
    spec.vocab_size = len(model.pieces)
    spec.byte_fallback = bool(described.get("byte_fallback"))
    texts = {piece.piece: index for index, piece in enumerate(model.pieces)}
    spec.unk_id = -1
    named = {"bos": "<s>", "eos": "</s>", "pad": "<pad>"}
    for index, piece in enumerate(model.pieces):
        if piece.type == UNKNOWN:
            spec.unk_id, spec.unk_piece = index, piece.piece
            spec.unk_surface = _surface(document)
        if piece.type == USER_DEFINED:
            spec.user_defined_symbols.append(piece.piece)
        if piece.type == CONTROL and piece.piece not in named.values():
            spec.control_symbols.append(piece.piece)
    for kind, text in named.items():
        index = texts.get(text, -1)
        is_control = index >= 0 and model.pieces[index].type == CONTROL
        setattr(spec, f"{kind}_id", index if is_control else -1)


def _clear_defaults(spec: TrainerSpec | NormalizerSpec) -> None:
    """Clear the fields whose value is the default, because trainers do not store them either."""
    for field, value in spec.ListFields():
        if field.name in _ALWAYS_STORED or field.is_repeated:
            continue
        if value == field.default_value:
            spec.ClearField(field.name)


def _set_unknown(model: ModelProto, described: JsonObject, control: Collection[str]) -> list[Limit]:
    """Give a BPE model an unknown piece if it needs one. Return how it then differs from the file.

    ``transformers`` 5 writes files with a special token ``<unk>``, but without unk_token, for
    models with byte fallback. Other models without byte fallback get a new piece.
    """
    if described["type"] != "BPE" or described.get("unk_token"):
        return []
    text = TrainerSpec().unk_piece
    if text in control:
        for piece in model.pieces:
            if piece.piece == text:
                piece.type = UNKNOWN
        return []
    if described.get("byte_fallback"):
        return []
    texts = {piece.piece for piece in model.pieces}
    while text in texts:
        text = f"<{text}>"
    number = len(model.pieces)
    _add(model, text, 0.0, UNKNOWN)
    reason = f"The file has no unknown token, so the model gets one more piece, {text!r}: {number}."
    return [Limit(reason, refuses=True)]


def _left_out(document: JsonObject, model: ModelProto) -> Iterator[Limit]:
    """Yield what the ``tokenizer.json`` contains but the imported model cannot store."""
    special = [token["content"] for token in _tokens(document) if token["special"]]
    if special:
        yield Limit(
            f"Special tokens such as {special[0]!r} become control pieces: sentencepiece never "
            "finds their texts in a line."
        )
    if document.get("post_processor") is not None:
        yield Limit(
            "The post-processor is left out: sentencepiece adds no pieces such as bos and eos "
            "unless it is asked to."
        )
    for setting in ("truncation", "padding"):
        if document.get(setting) is not None:
            yield Limit(f"The {setting} of texts is left out.")
    if document.get("decoder") != tokenizer_json.decoder(model):
        yield Limit("The decoder is left out: ids can be decoded to a text with other spaces.")


# ---------------------------------------------------------------- patterns of the file


def _texts(part: str, document: JsonObject, pattern: str, pieces: Collection[str]) -> set[str]:
    """Return the texts that a pattern of the file lists as alternatives.

    The pattern is never run, because matching could take any amount of time.

    Raises
    ------
    BadValueError
        If the pattern is not a list of texts.
    """
    texts = texts_of_pattern(pattern, _most(pieces))
    if texts is None:
        shown = ascii(pattern if len(pattern) <= 60 else pattern[:60] + "…")
        raise refusal(part, document, f"its regular expression {shown} is not a list of pieces.")
    return set(texts)


def _silent(document: JsonObject, pieces: Collection[str]) -> set[str]:
    """Return the pieces that the decoder drops. These are the control pieces."""
    # An earlier step may drop the unknown piece, if its surface is empty.
    for step in reversed([*_decoders(document)]):
        pattern = _whole(step)
        if pattern and step.get("content") == "":
            return _texts("decoder", document, pattern, pieces)
    return set()


def _surface(document: JsonObject) -> str:
    """Return the text that the decoder writes for the unknown piece."""
    # In an export, the first step for whole pieces is that of the unknown piece.
    contents = (str(step.get("content", "")) for step in _decoders(document) if _whole(step))
    return next(contents, TrainerSpec().unk_surface)


def _whole(step: JsonObject) -> str:
    """Return the pattern of a step without its anchors, or "" if it does not match whole pieces."""
    pattern = step.get("pattern")
    regex = str(pattern.get("Regex", "")) if isinstance(pattern, dict) else ""
    is_whole = regex.startswith("\\A(?:") and regex.endswith("\\z")
    return regex.removeprefix("\\A").removesuffix("\\z") if is_whole else ""


def _decoders(document: JsonObject) -> Iterable[JsonObject]:
    decoder = document.get("decoder")
    return decoder.get("decoders", [decoder]) if isinstance(decoder, dict) else []


def _symbols(document: JsonObject, pieces: Collection[str]) -> set[str]:
    """Return the user-defined symbols that the pre-tokenizer of a BPE file isolates."""
    described = document.get("pre_tokenizer")
    if not isinstance(described, dict) or described.get("type") != "Split":
        return set()
    pattern = described.get("pattern")
    regex = pattern.get("Regex") if isinstance(pattern, dict) else None
    return set() if regex is None else _texts("pre_tokenizer", document, regex, pieces)
