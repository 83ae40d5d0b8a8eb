"""Converts a ``tokenizer.json`` to a model.

This module first guesses a model from the file and exports it. The guess is accepted only if each
part of the export equals the same part of the file. So if this module overlooks something in the
file, the import fails instead of writing a wrong model.

Otherwise, the file may have a layout that ``transformers`` writes (`layouts`). It becomes a model
with the same pieces, and the result includes all differences between the file and the model
(`layout_differences`).
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
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
from spmcompat.model.meta_pieces import RESERVED, reserved_ids
from spmcompat.model.pieces import (
    BYTE,
    BYTE_PIECES,
    CONTROL,
    NORMAL,
    UNKNOWN,
    UNUSED,
    USER_DEFINED,
    texts_of_type,
)
from spmcompat.model.sentencepiece_model_pb2 import ModelProto, NormalizerSpec, TrainerSpec
from spmcompat.tools.export import tokenizer_json
from spmcompat.tools.export.charsmap_steps import JsonObject, Points, pattern_of, rules_of_steps
from spmcompat.tools.export.document import read_document, refusal, steps_of_part
from spmcompat.tools.export.layout_differences import (
    bpe_differences,
    symbol_differences,
    unigram_differences,
    word_differences,
)
from spmcompat.tools.export.layouts import Layout, layout_of
from spmcompat.tools.export.limits import Limit, difference
from spmcompat.tools.export.merges_of_pieces import same_order
from spmcompat.tools.export.normalizer_json import normalizer
from spmcompat.tools.export.patterns import texts_of_pattern

_BYTES = frozenset(BYTE_PIECES)
# Limits the time for the expansion of a pattern into the texts that match it. The texts may have at
# most `_WORK` times as many characters as all pieces together. An exported pattern stays below the
# limit, although it repeats the beginnings of symbols.
_WORK = 100
_FEWEST_PREDEFINED = 10_000  # all predefined sets of rules have more rules
_OWN_SETTINGS = ("continuing_subword_prefix", "end_of_word_suffix", "dropout")
"""Settings of a BPE model that ``sentencepiece`` does not have."""
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
    file = _read(content)
    limits: list[Limit] = []
    model, unequal = _exact(file)
    if unequal:
        try:
            layout = layout_of(file.document, _most(file.ids))
        except BadValueError:
            if unequal == "normalizer":
                raise
            raise refusal(unequal, file.document) from None
        model, limits = _similar(file, layout)
    symbols = [token for token in _tokens(file.document) if not token["special"]]
    limits += symbol_differences(model.normalizer_spec, symbols)
    _add_new(model, file)
    limits += _set_unknown(model, file)
    _set_trainer_spec(model, file.document)
    _clear_defaults(model.trainer_spec)
    _clear_defaults(model.normalizer_spec)
    try:
        check_loads(model)
    except BadValueError as error:
        raise refusal("model", file.document, f"{error}") from None
    return model, [*limits, *_left_out(file.document, model)]


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
        file = _read(content)
        model = _with_pieces(file) if _is_export(file.document) else None
    except BadValueError:
        return None
    if model is not None:
        _add_new(model, file)
    return model


def _is_export(document: JsonObject) -> bool:
    """Return whether the decoder has a step for whole pieces, as that of each export."""
    return any(map(_whole, steps_of_part(document, "decoder")))


class _File(NamedTuple):
    """A checked file.

    Attributes
    ----------
    document : dict
        The content.
    described : dict
        The model in it. The scores of a Unigram model are float32 values if possible.
    ids : dict of str to int
        The ids of the pieces, in ascending order.
    control, symbols : set of str
        The added tokens that are special, and the others.
    new : list of (str, bool)
        The added tokens with ids after the vocabulary, and whether they are special.
    """

    document: JsonObject
    described: JsonObject
    ids: dict[str, int]
    control: set[str]
    symbols: set[str]
    new: list[tuple[str, bool]]


def _read(content: bytes) -> _File:
    """Parse a file, and check its model and its added tokens.

    Raises
    ------
    BadValueError
        If a text or an id occurs twice, an id is missing, or the id of an added token is neither
        its id in the vocabulary nor the next free id.
    """
    document = read_document(content)
    described = document["model"]
    if described["type"] not in ("Unigram", "BPE"):
        raise refusal("model", document, "its type must be Unigram or BPE.")
    if not described["vocab"]:
        raise refusal("model", document, "it has no pieces.")
    if described["type"] == "Unigram":
        described["vocab"] = [[text, _nearest_float32(score)] for text, score in described["vocab"]]
    pieces = _ids_of(document, described)
    ids = dict(pieces)
    tokens = sorted(_tokens(document), key=lambda token: token["id"])
    special = {token["content"]: token["special"] for token in tokens}
    for token in tokens:
        text = token["content"]
        if token["id"] == len(ids):
            ids.setdefault(text, len(ids))
        if ids.get(text) != token["id"]:
            reason = f"{text!r} does not have the id {token['id']} in the vocabulary."
            raise refusal("added_tokens", document, reason)
    symbols = {text for text, is_special in special.items() if not is_special}
    new = [(text, special[text]) for text in ids if text not in pieces]
    return _File(document, described, pieces, special.keys() - symbols, symbols, new)


def _ids_of(document: JsonObject, described: JsonObject) -> dict[str, int]:
    """Return the ids of the pieces."""
    given = described["vocab"]
    if described["type"] == "Unigram":
        texts = [text for text, _ in given]
        if len(set(texts)) != len(texts):
            raise refusal("model", document, "a piece occurs twice.")
        unknown = described.get("unk_id")
        if unknown is not None and unknown >= len(texts):
            raise refusal("model", document, f"its unk_id {unknown} is not in the vocabulary.")
    else:
        texts = sorted(given, key=given.__getitem__)
        if [given[text] for text in texts] != [*range(len(texts))]:
            raise refusal("model", document, "its ids have gaps, or two pieces have the same id.")
    return {text: index for index, text in enumerate(texts)}


def _tokens(document: JsonObject) -> list[JsonObject]:
    return document.get("added_tokens") or []


def _most(pieces: Collection[str]) -> int:
    return _WORK * (sum(map(len, pieces)) + len(pieces))


# ---------------------------------------------------------------- exports of spmcompat


def _exact(file: _File) -> tuple[ModelProto, str]:
    """Return the model whose export is this file, if the file is an export of spmcompat.

    Returns
    -------
    model : ModelProto
        The model, without its trainer spec.
    unequal : str
        The name of a section of the file that differs from an export of the model; empty if the
        file equals the export.
    """
    model = _with_pieces(file)
    if not _set_normalizer(model, file.document):
        return model, "normalizer"
    if not file.symbols.issubset(text for text, _ in file.new):
        return model, "added_tokens"
    exported = tokenizer_json.content(model)
    if file.document.get("pre_tokenizer") != exported["pre_tokenizer"]:
        return model, "pre_tokenizer"
    return model, "" if _equal_models(file, exported["model"]) else "model"


def _with_pieces(file: _File) -> ModelProto:
    """Return a model with the pieces of the file, which is expected to be an export."""
    control = _texts_of_silent(file) | file.control
    if file.described["type"] != "Unigram":
        return _model(file, control, _cut_symbols(file))
    # Infer the type of each piece from its score, as an export writes it.
    scores = dict(file.described["vocab"])
    unknown = _unknown_text(file)
    reserved = [score for text, score in scores.items() if text in _BYTES or text in control]
    low = min(reserved, default=None) if unknown is None else scores[unknown]
    unused = {text for text, score in scores.items() if low is not None and score == low - 1}
    is_export = _is_export(file.document)
    symbols = {text for text, score in scores.items() if is_export and score == symbol_score(text)}
    model = _model(file, control, symbols, unused)
    if (file.document.get("pre_tokenizer") or {}).get("type") == "Sequence":
        model.trainer_spec.model_type = TrainerSpec.CHAR
    return model


def _model(
    file: _File, control: Collection[str], symbols: Collection[str], unused: Collection[str] = ()
) -> ModelProto:
    """Return a model with the pieces of the file.

    Of the normal pieces, those in `unused` become unused, and those in `symbols` user-defined.
    """
    model, described = ModelProto(), file.described
    kinds = {
        USER_DEFINED: symbols,
        UNUSED: unused,
        CONTROL: control,
        UNKNOWN: {_unknown_text(file)},
        BYTE: _BYTES if described.get("byte_fallback") else (),
    }
    types = dict.fromkeys(file.ids, NORMAL)
    for kind, texts in kinds.items():  # a later type takes precedence
        types.update(dict.fromkeys(types.keys() & texts, kind))
    normal = [text for text, kind in types.items() if kind == NORMAL]
    if described["type"] == "Unigram":
        model.trainer_spec.model_type = TrainerSpec.UNIGRAM
        given = dict(described["vocab"])
        scores = {text: _score_of_model(text, given[text]) for text in normal}
        for score in scores.values():
            if abs(score) > LARGEST_FLOAT32:
                raise refusal("model", file.document, f"the score {score!r} is not a float32.")
    else:
        # The scores are as in sentencepiece: pieces that merges produce have the highest scores, in
        # the order of their merges. Other pieces come after them.
        made = dict.fromkeys(left + right for left, right in _merges(file))
        model.trainer_spec.model_type = TrainerSpec.BPE if made else TrainerSpec.CHAR
        ordered = [text for text in made if types[text] == NORMAL]
        ordered += [text for text in normal if text not in made]
        scores = {text: -float(rank) for rank, text in enumerate(ordered)}
    for text, kind in types.items():
        _add(model, text, scores.get(text, 0.0), kind)
    model.trainer_spec.byte_fallback = bool(described.get("byte_fallback"))
    return model


def _unknown_text(file: _File) -> str | None:
    """Return the text of the unknown piece; None if there is none."""
    if file.described["type"] != "Unigram":
        return file.described.get("unk_token")
    number = file.described.get("unk_id")
    return None if number is None else file.described["vocab"][number][0]


def _score_of_model(text: str, score: float) -> float:
    """Return the score of a normal piece; this is the inverse of `tokenizer_json.normal_score`."""
    of_symbol = symbol_score(text)
    return of_symbol if score == tokenizer_json.normal_score(of_symbol, text) else score


def _add_new(model: ModelProto, file: _File) -> None:
    for text, is_special in file.new:
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


def _add(model: ModelProto, text: str, score: float, kind: int) -> None:
    piece = model.pieces.add(piece=text, score=to_float32(score))
    if kind != NORMAL:
        piece.MergeFrom(ModelProto.SentencePiece(type=kind))  # type: ignore[arg-type]


def _merges(file: _File) -> list[tuple[str, str]]:
    """Return the merges as pairs. In older files, a merge is a text: two parts and a space between.

    Raises
    ------
    BadValueError
        If a part or the result of a merge is not a piece.
    """
    merges = []
    for merge in file.described["merges"]:
        left, right = merge.partition(" ")[::2] if isinstance(merge, str) else merge
        for part in (left, right, left + right):
            if part not in file.ids:
                reason = f"a merge names {part!r}, which is not a piece."
                raise refusal("model", file.document, reason)
        merges.append((left, right))
    return merges


def _set_normalizer(model: ModelProto, document: JsonObject) -> bool:
    """Set the normalizer whose export has the steps of the file. Return whether it was found.

    Raises
    ------
    BadValueError
        If the charsmap of a step is damaged.
    """
    steps = steps_of_part(document, "normalizer")
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
        exported = normalizer(model)
        if steps == ([] if exported is None else exported["normalizers"]):
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


def _equal_models(file: _File, exported: JsonObject) -> bool:
    """Return whether the ``model`` section of the file is equivalent to that of an export."""
    ours, theirs = dict(exported), dict(file.described)
    if ours["type"] != theirs["type"]:
        return False
    if ours["type"] == "BPE":
        theirs.setdefault("ignore_merges", False)
        for name in _OWN_SETTINGS:
            theirs[name] = theirs.get(name) or None
        if not same_order(ours.pop("merges"), _merges(file)):
            return False
        del theirs["merges"]
    theirs.setdefault("byte_fallback", False)
    return ours == theirs


# ---------------------------------------------------------------- layouts of transformers


def _similar(file: _File, layout: Layout) -> tuple[ModelProto, list[Limit]]:
    """Return a model with the pieces and the layout of the file, and how it differs from the file.

    Raises
    ------
    BadValueError
        If the model of the file has a setting that ``sentencepiece`` does not have, or the
        pre-tokenizer isolates a symbol that the model may encode as several pieces.
    """
    described = file.described
    is_unigram = described["type"] == "Unigram"
    if is_unigram:
        # A symbol whose score is 0 or more is encoded as one piece, because all of its other
        # segmentations have a negative score.
        whole = {text for text, score in described["vocab"] if score >= 0}
    else:
        whole = {text for text in file.ids if described.get("ignore_merges") or len(text) == 1}
    for symbol in layout.symbols:
        if symbol not in whole:
            reason = f"it does not keep {symbol!r} in one piece."
            raise refusal("pre_tokenizer", file.document, reason)
    for name in () if is_unigram else _OWN_SETTINGS:
        if described.get(name):
            raise refusal("model", file.document, f"it has the setting {name}.")
    model = _model(file, file.control, {*layout.symbols, *file.symbols})
    model.normalizer_spec.CopyFrom(layout.spec)
    if is_unigram:
        differences = unigram_differences(described, model)
    else:
        differences = bpe_differences(described, model, _merges(file))
    return model, [*layout.differences, *differences, *word_differences(model, layout)]


# ---------------------------------------------------------------- trainer spec and limits


def _set_trainer_spec(model: ModelProto, document: JsonObject) -> None:
    spec = model.trainer_spec
    spec.vocab_size = len(model.pieces)
    for text in texts_of_type(model, UNKNOWN):
        spec.unk_piece, spec.unk_surface = text, _surface(document)
    ids = reserved_ids(spec, ((piece.piece, piece.type) for piece in model.pieces))
    for kind in RESERVED:
        setattr(spec, f"{kind}_id", ids.get(kind, -1))
    named = (spec.bos_piece, spec.eos_piece, spec.pad_piece)
    spec.control_symbols.extend(one for one in texts_of_type(model, CONTROL) if one not in named)
    spec.user_defined_symbols.extend(texts_of_type(model, USER_DEFINED))


def _clear_defaults(spec: TrainerSpec | NormalizerSpec) -> None:
    """Clear the fields whose value is the default, because trainers do not store them either."""
    for field, value in spec.ListFields():
        if field.name in _ALWAYS_STORED or field.is_repeated:
            continue
        if value == field.default_value:
            spec.ClearField(field.name)


def _set_unknown(model: ModelProto, file: _File) -> list[Limit]:
    """Give a BPE model an unknown piece if it needs one. Return how it then differs from the file.

    ``transformers`` 5 writes files with a special token ``<unk>``, but without unk_token, for
    models with byte fallback. Other models without byte fallback get a new piece.
    """
    described = file.described
    if described["type"] != "BPE" or described.get("unk_token"):
        return []
    text = TrainerSpec().unk_piece
    if text in file.control:
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
    return [difference(reason)]


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


def _texts(part: str, file: _File, pattern: str) -> set[str]:
    """Return the texts that a pattern of the file lists as alternatives.

    The pattern is never run, because matching could take any amount of time.

    Raises
    ------
    BadValueError
        If the pattern is not a list of texts.
    """
    texts = texts_of_pattern(pattern, _most(file.ids))
    if texts is None:
        shown = ascii(pattern if len(pattern) <= 60 else pattern[:60] + "…")
        reason = f"its regular expression {shown} is not a list of pieces."
        raise refusal(part, file.document, reason)
    return set(texts)


def _texts_of_silent(file: _File) -> set[str]:
    """Return the pieces that the decoder drops. These are the control pieces."""
    # An earlier step may drop the unknown piece, if its surface is empty.
    for step in reversed(steps_of_part(file.document, "decoder")):
        pattern = _whole(step)
        if pattern and step.get("content") == "":
            return _texts("decoder", file, pattern)
    return set()


def _surface(document: JsonObject) -> str:
    """Return the text that the decoder writes for the unknown piece."""
    # In an export, the first step for whole pieces is that of the unknown piece.
    steps = steps_of_part(document, "decoder")
    contents = (step.get("content", "") for step in steps if _whole(step))
    return next(contents, TrainerSpec().unk_surface)


def _whole(step: JsonObject) -> str:
    """Return the pattern of a step without its anchors, or "" if it does not match whole pieces."""
    regex = pattern_of(step, "Regex")
    is_whole = regex.startswith("\\A(?:") and regex.endswith("\\z")
    return regex.removeprefix("\\A").removesuffix("\\z") if is_whole else ""


def _cut_symbols(file: _File) -> set[str]:
    """Return the user-defined symbols that the pre-tokenizer of a BPE file isolates."""
    described = file.document.get("pre_tokenizer") or {}
    regex = pattern_of(described, "Regex") if described.get("type") == "Split" else None
    return set() if regex is None else _texts("pre_tokenizer", file, regex)
