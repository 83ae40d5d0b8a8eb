"""Edits single pieces: adds, renames and removes them, changes their scores, and reorders ids.

All edits of one call refer to pieces of the original model, so their order does not matter. The new
model is checked as a whole: either all edits are made, or none.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from html import escape
from typing import TYPE_CHECKING, NamedTuple

from spmcompat.cli.plain import plain_fields
from spmcompat.engine import SPACE_MARK, did_you_mean, to_float32
from spmcompat.errors import BadValueError
from spmcompat.model.encoding import BpeEncoder, UnigramEncoder, encoder_of
from spmcompat.model.pieces import (
    BYTE,
    CONTROL,
    NORMAL,
    UNKNOWN,
    UNUSED,
    USER_DEFINED,
    Piece,
    is_learned,
    model_type_of,
    pieces_of,
    type_name,
)
from spmcompat.model.sentencepiece_model_pb2 import ModelProto, TrainerSpec
from spmcompat.tools.edit import reach
from spmcompat.tools.edit.reach import Gate, containing
from spmcompat.tools.edit.vocabulary import (
    a_few,
    below,
    ids_of,
    lowest_score,
    with_pieces,
)

if TYPE_CHECKING:
    from spmcompat.tools.edit.report import Changes


class BadEditError(BadValueError):
    """The model does not allow an edit."""

    kind = "bad-edit"


_PLACEHOLDER = re.compile(
    r"[<\[]\|?(?:unused|reserved|placeholder|reserved_special_token)[_-]?\d+\|?[>\]]",
    re.IGNORECASE,
)


def is_placeholder(piece: Piece, trainer: TrainerSpec) -> bool:
    """Return whether a piece is a placeholder such as ``<unused0>``, which only reserves an id."""
    fixed = (trainer.unk_piece, trainer.bos_piece, trainer.eos_piece, trainer.pad_piece)
    return (
        piece.type in (NORMAL, CONTROL, USER_DEFINED)
        and _PLACEHOLDER.fullmatch(piece.text) is not None
        and piece.text not in fixed
    )


@dataclass(frozen=True)
class Edits:
    """The edits of one call.

    Attributes
    ----------
    add_control, add_user_defined, add : sequence of str
        New control pieces, user-defined symbols and normal pieces.
    rename : mapping of str to str
        The new text of each piece to rename.
    remove : sequence of str
        Pieces to remove.
    set_score : mapping of str to float
        The new scores of normal pieces. The pieces may be old ones, or new ones from `add`.
    use_unused : bool
        Whether new pieces reuse the ids of unused pieces and placeholders.
    reorder_ids : bool
        Whether to drop unused pieces and renumber the remaining ones.
    """

    add_control: Sequence[str] = ()
    add_user_defined: Sequence[str] = ()
    add: Sequence[str] = ()
    rename: Mapping[str, str] = field(default_factory=dict)
    remove: Sequence[str] = ()
    set_score: Mapping[str, float] = field(default_factory=dict)
    use_unused: bool = False
    reorder_ids: bool = False

    def check(self) -> None:
        """Raise if there is an error that can be found without the model.

        Raises
        ------
        BadValueError
            If nothing is to be changed, if a text or a score is not allowed, or if two edits
            concern the same piece.
        """
        added = [text for text, _ in self.added]
        if not (added or self.rename or self.remove or self.set_score or self.reorder_ids):
            raise BadEditError("nothing to change. Give at least one edit, such as --remove=PIECE.")
        for text in (*added, *self.remove, *self.rename, *self.rename.values(), *self.set_score):
            _check_unicode(text)
        if "" in added:
            raise BadEditError("a piece to add is empty. Look for two commas in a row.")
        if len(set(added)) < len(added):
            twice = next(text for text in added if added.count(text) > 1)
            raise BadEditError(f"{twice} is added twice. Duplicated symbols are not allowed.")
        if len(set(self.remove)) < len(self.remove):
            raise BadEditError("a piece is removed twice. Name it once.")
        for text in self.remove:
            if text in self.rename or text in self.set_score:
                raise BadEditError(
                    f"{text} is removed, and also renamed or given a score. Choose one."
                )
        for text, score in self.set_score.items():
            _score(text, score)

    @property
    def added(self) -> list[tuple[str, int]]:
        """The texts and types of all new pieces."""
        return [
            *((text, CONTROL) for text in self.add_control),
            *((text, USER_DEFINED) for text in self.add_user_defined),
            *((text, NORMAL) for text in self.add),
        ]


class EditResult(NamedTuple):
    """The result of an edit.

    Attributes
    ----------
    model : bytes
        The new model.
    old_size, size : int
        The number of pieces before and after the edit.
    ids : dict of str to int
        The ids of the pieces that were added, were renamed or got a new score.
    unreachable : list of str
        Normal pieces that can no longer be used because they contain a new user-defined symbol.
    covering : list of str
        Normal pieces that contain a new user-defined symbol and can still be used.
    dropped_samples : int
        The number of self-test samples that were dropped because they may no longer be valid.
    changes : Changes or None
        How the encoding of the text changes; None if no text is given.
    """

    model: bytes
    old_size: int
    size: int
    ids: dict[str, int]
    unreachable: list[str]
    covering: list[str]
    dropped_samples: int
    changes: Changes | None = None

    def to_dict(self) -> dict[str, object]:
        """Return all attributes except `model`, as data that JSON can represent."""
        return plain_fields(self)

    def __repr__(self) -> str:
        """Return a summary: the number of pieces before and after the edit."""
        return f"<EditResult: {self.old_size:,} pieces became {self.size:,}>"

    def _repr_html_(self) -> str:
        """Return the summary and the words whose encoding changes, as HTML for a notebook."""
        words = "" if self.changes is None else self.changes._repr_html_()
        return f"<p>{escape(repr(self))}</p>{words}"


def edit_model(model: ModelProto, edits: Edits) -> tuple[ModelProto, EditResult]:
    """Return a model with some pieces changed, and what changed.

    Parameters
    ----------
    model : ModelProto
        The model. It is not modified.
    edits : Edits
        The changes to make.

    Raises
    ------
    BadValueError
        If an edit is not possible.
    """
    edits.check()
    old = pieces_of(model)
    if model.trainer_spec.model_type == TrainerSpec.WORD:
        edits = _both_forms(edits, old)
    pieces = _Edit(model, old, edits).vocabulary()
    origins: list[int | None] = [i if i < len(old) else None for i in range(len(pieces))]
    changed = _changed_texts(old, pieces)
    if edits.reorder_ids:
        order = _new_order(pieces)
        changed |= {piece.text for piece in pieces if piece.type == UNUSED}
        pieces = [pieces[i] for i in order]
        origins = [origins[i] for i in order]
    new_model = with_pieces(model, pieces, origins)
    unreachable, covering = _check_reach(old, pieces, changed, model.trainer_spec)
    ids = ids_of(pieces)
    named = [*(text for text, _ in edits.added), *edits.rename.values(), *edits.set_score]
    return new_model, EditResult(
        new_model.SerializeToString(),
        len(old),
        len(pieces),
        {text: ids[text] for text in named if text in ids},
        unreachable,
        covering,
        len(model.self_test_data.samples),
    )


def _both_forms(edits: Edits, old: Sequence[Piece]) -> Edits:
    """Remove or rename a symbol of a word model also in the form with a space mark before it.

    See `_Edit._added`. A form that an edit names is changed only by that edit.
    """
    symbols = {piece.text for piece in old if piece.type == USER_DEFINED}
    others = symbols.difference(edits.remove, edits.rename)
    marked = {text: SPACE_MARK + text for text in symbols if SPACE_MARK + text in others}
    renamed = {
        marked[text]: SPACE_MARK + new_text
        for text, new_text in edits.rename.items()
        if text in marked and not new_text.startswith(SPACE_MARK)
    }
    removed = [marked[text] for text in edits.remove if text in marked]
    return replace(edits, rename={**edits.rename, **renamed}, remove=[*edits.remove, *removed])


class _Edit:
    """Applies edits to the pieces of one model."""

    def __init__(self, model: ModelProto, old: Sequence[Piece], edits: Edits) -> None:
        self._model = model
        self._pieces = list(old)
        self._ids = ids_of(old)
        self._edits = edits
        self._is_bpe = model.trainer_spec.model_type == TrainerSpec.BPE
        self._gate = Gate(model)
        self._lowest = lowest_score(old)

    def vocabulary(self) -> list[Piece]:
        """Return the vocabulary after all edits except reordering."""
        self._check_names()
        edits = self._edits
        scores = {text: _score(text, score) for text, score in edits.set_score.items()}
        for text in edits.remove:
            self._remove(self._ids[text])
        for text, new_text in edits.rename.items():
            self._rename(self._ids[text], new_text)
        for text, score in scores.items():
            if text in self._ids:
                self._set_score(self._ids[text], score)
        self._lowest = min(self._lowest, lowest_score(self._pieces))
        self._add(self._ids_now(), scores)
        return self._pieces

    def _check_names(self) -> None:
        """Raise if an edit names a piece that does not exist, or removes one that must stay."""
        edits = self._edits
        known = {text for text, _ in edits.added}
        for option, texts in (("rename", edits.rename), ("remove", edits.remove)):
            for text in texts:
                self._check_name(text, option)
        for text in edits.set_score:
            if text not in known:
                self._check_name(text, "set_score")
        for text in edits.remove:
            self._check_removable(self._pieces[self._ids[text]])

    def _check_name(self, text: str, option: str) -> None:
        if text in self._ids:
            return
        spaced = text.replace(" ", SPACE_MARK)
        close = [one for one in (spaced, SPACE_MARK + spaced) if one in self._ids]
        if close:
            hint = f" Did you mean {' or '.join(close)}?"
        else:
            hint = did_you_mean(text, self._ids) or " Write U+2581 for a space."
        raise BadEditError(f"--{option}: no piece is {text!r}.{hint}")

    def _check_removable(self, piece: Piece) -> None:
        if piece.type == UNKNOWN:
            raise BadEditError(
                f"{piece.text} is the unknown piece, which a model needs. You can rename it."
            )
        if piece.type == BYTE:
            raise BadEditError(
                f"{piece.text} is a byte piece; byte_fallback needs all 256 of them. Keep it."
            )
        if piece.type == UNUSED:
            raise BadEditError(f"{piece.text} is unused already. Leave out --remove for it.")

    def _remove(self, piece_id: int) -> None:
        """Make a piece unused.

        In a BPE model, an unused piece still takes part in merges, so pieces that are merged from
        it remain reachable. Pieces are merged in the order of their scores. A removed symbol would
        be merged first, because symbols have the score 0. So a removed symbol gets a new lowest
        score.
        """
        piece = self._pieces[piece_id]
        sinks = self._is_bpe and piece.type != NORMAL
        score = self._next_score() if sinks else piece.score
        self._pieces[piece_id] = Piece(piece.text, score, UNUSED)

    def _rename(self, piece_id: int, text: str) -> None:
        piece = self._pieces[piece_id]
        if piece.type == BYTE:
            raise BadEditError(f"{piece.text} is a byte piece, whose text is fixed. Keep it.")
        if not text:
            raise BadEditError(f"--rename: the new text of {piece.text} is empty.")
        self._check_text(text, piece.type)
        self._pieces[piece_id] = piece._replace(text=text)

    def _ids_now(self) -> dict[str, int]:
        """Return the current ids of the pieces by text, after removing and renaming."""
        ids: dict[str, int] = {}
        for piece_id, piece in enumerate(self._pieces):
            other = ids.setdefault(piece.text, piece_id)
            if other == piece_id:
                continue
            is_unused = UNUSED in (piece.type, self._pieces[other].type)
            remedy = (
                "That piece is unused, but keeps its text: drop it first with --reorder_ids"
                if is_unused
                else "Choose another text"
            )
            raise BadEditError(f"--rename: {piece.text} is already defined. {remedy}.")
        return ids

    def _set_score(self, piece_id: int, score: float) -> None:
        piece = self._pieces[piece_id]
        if piece.type != NORMAL:
            raise BadEditError(
                f"--set_score: {piece.text} is a piece of the type {type_name(piece.type)}. Only "
                "the scores of normal pieces have an effect."
            )
        self._pieces[piece_id] = piece._replace(score=score)

    def _add(self, ids: Mapping[str, int], scores: Mapping[str, float]) -> None:
        """Add the new pieces. A new piece takes the id of the unused piece with the same text."""
        new: list[Piece] = []
        for text, piece_type in self._added():
            self._check_text(text, piece_type)
            own = ids.get(text)
            if own is None:
                new.append(self._new_piece(text, piece_type, scores.get(text)))
                continue
            stored = self._pieces[own]
            if stored.type != UNUSED:
                raise BadEditError(
                    f"{text} is already defined: it is the piece of id {own}. Duplicated symbols "
                    "are not allowed. To change its type, remove it in the same call."
                )
            score = scores.get(text, stored.score if _is_below_zero(stored.score) else None)
            self._pieces[own] = self._new_piece(text, piece_type, score)
        self._place(new)

    def _added(self) -> list[tuple[str, int]]:
        """Return the texts and types of all new pieces.

        In a word model, words begin with the space mark. So, as in training, each symbol is also
        added with a space mark before it.
        """
        added = self._edits.added
        if self._model.trainer_spec.model_type == TrainerSpec.WORD:
            added += [
                (SPACE_MARK + text, USER_DEFINED)
                for text in self._edits.add_user_defined
                if not text.startswith(SPACE_MARK)
            ]
        return list(dict.fromkeys(added))

    def _place(self, new: Sequence[Piece]) -> None:
        """Put the new pieces at the end, or give them the ids of unused pieces and placeholders."""
        if not self._edits.use_unused:
            self._pieces += new
            return
        free = self._free_ids()
        if len(free) < len(new):
            raise BadEditError(
                f"--use_unused: {len(new)} ids are needed, but only {len(free)} are unused or "
                "placeholders such as <unused0>. Add fewer pieces, or leave out --use_unused."
            )
        for piece_id, piece in zip(free, new, strict=False):
            self._pieces[piece_id] = piece

    def _new_piece(self, text: str, piece_type: int, score: float | None) -> Piece:
        if piece_type != NORMAL:
            return Piece(text, 0.0, piece_type)
        if score is None:
            return Piece(text, self._next_score())
        self._lowest = min(self._lowest, score)
        return Piece(text, score)

    def _next_score(self) -> float:
        """Return a new score that is below all scores of the model."""
        self._lowest = below(self._lowest, 1.0 if self._is_bpe else 0.0001)
        return self._lowest

    def _free_ids(self) -> list[int]:
        """Return the ids that new pieces may take: those of unused pieces and placeholders.

        In a BPE model, an unused piece is not replaced if other pieces are merged from it.
        """
        trainer = self._model.trainer_spec
        free = [
            piece_id
            for piece_id, piece in enumerate(self._pieces)
            if piece.type == UNUSED or is_placeholder(piece, trainer)
        ]
        if not self._is_bpe:
            return free
        encoder = BpeEncoder(self._pieces)
        needed = {
            part
            for text in containing(self._pieces, [self._pieces[i].text for i in free])
            for _, left, right in encoder.merges(text)
            for part in (left, right)
        }
        return [i for i in free if self._pieces[i].text not in needed]

    def _check_text(self, text: str, piece_type: int) -> None:
        """Raise if a piece would never be used because the normalizer never produces its text."""
        if piece_type == USER_DEFINED:
            if " " in text and self._model.normalizer_spec.escape_whitespaces:
                raise BadEditError(
                    f"{text!r} contains a space, but normalized text never does. Write U+2581 "
                    f"instead: {text.replace(' ', SPACE_MARK)}"
                )
            return
        if piece_type != NORMAL:
            return
        if not self._gate.lets_through(text):
            raise BadEditError(f"{text!r} would never be used: {self._gate.reason(text)}")


def _check_unicode(text: str) -> None:
    """Raise if a text has surrogates. Python uses them for invalid bytes on the command line."""
    try:
        text.encode()
    except UnicodeEncodeError:
        raise BadEditError(f"the piece {text!r} is not valid UTF-8. Write it in UTF-8.") from None


def _score(text: str, score: float) -> float:
    value = to_float32(score)
    if not math.isfinite(value):
        raise BadEditError(f"--set_score: the score of {text} is not a finite 32-bit number.")
    if not _is_below_zero(value):
        raise BadEditError(
            f"--set_score: the score of {text} must be below 0. A piece of score 0 ranks above "
            "all others, and would change how existing text is cut."
        )
    return value


def _is_below_zero(score: float) -> bool:
    """Return whether a score is negative or -0.0, which is the score of the first merge of BPE."""
    return math.copysign(1, score) < 0


def _changed_texts(old: Sequence[Piece], new: Sequence[Piece]) -> set[str]:
    """Return the texts of the pieces that were added, removed or changed.

    Normal pieces that became unused are left out, because this change makes no other piece
    unreachable.
    """
    types = {piece.text: piece.type for piece in old}
    unused = {
        piece.text for piece in new if piece.type == UNUSED and types.get(piece.text) == NORMAL
    }
    return {piece.text for piece in {*old} ^ {*new}} - unused


def _new_order(pieces: Sequence[Piece]) -> list[int]:
    """Return the ids in their new order: meta pieces as before, then normal pieces by score."""
    meta = [i for i, piece in enumerate(pieces) if not is_learned(piece)]
    normal = [i for i, piece in enumerate(pieces) if piece.type == NORMAL]
    return meta + sorted(normal, key=lambda i: -pieces[i].score)


def _check_reach(
    old: Sequence[Piece], new: Sequence[Piece], changed: set[str], trainer: TrainerSpec
) -> tuple[list[str], list[str]]:
    """Raise if a normal piece has become unreachable, unless it contains a new symbol.

    Returns
    -------
    unreachable : list of str
        The pieces that contain a new user-defined symbol and can no longer be used.
    covering : list of str
        The pieces that contain a new user-defined symbol and can still be used.
    """
    lost = reach.unreachable(new, trainer, containing(new, changed))
    for text in lost:
        if text in changed:
            raise BadEditError(
                f"{text} would never be used: {_why_unreachable(text, new, trainer)}"
            )
    unreachable_now = set(lost)
    reached_before = unreachable_now - set(reach.unreachable(old, trainer, lost))
    lost = [text for text in lost if text in reached_before]
    symbols = [piece.text for piece in new if piece.type == USER_DEFINED and piece.text in changed]
    holders = set(containing(new, symbols))
    others = [text for text in lost if text not in holders]
    if others:
        raise BadEditError(
            f"{a_few(others)} could no longer be used, because pieces that they contain change. "
            "Remove these pieces too, or change something else."
        )
    unreachable = [text for text in lost if text in holders]
    covering = [one.text for one in new if one.text in holders - unreachable_now]
    return unreachable, covering


def _why_unreachable(text: str, pieces: Sequence[Piece], trainer: TrainerSpec) -> str:
    """Return why a piece is unreachable, and what to do about it."""
    tokens = encoder_of(pieces, trainer)(text)
    cut = f"it is cut into {' '.join(tokens)}"
    symbols = {piece.text for piece in pieces if piece.type == USER_DEFINED}
    if found := next((token for token in tokens if token in symbols), None):
        return f"{cut}, and {found} is a user-defined symbol. Add another piece."
    if trainer.model_type == TrainerSpec.BPE:
        steps = ["".join(tokens[:n]) for n in range(2, len(tokens))]
        return f"{cut}. Before it, add the pieces that it is merged from: {', '.join(steps)}."
    if trainer.model_type == TrainerSpec.UNIGRAM:
        needed = UnigramEncoder(pieces).score_without(text)
        return (
            f"{cut}, whose score is {needed:.6g}. Give it a score above that, with --set_score "
            "or the keyword set_score."
        )
    kind = model_type_of(trainer)
    return f"{cut} by a {kind} model. Add a single {kind}, or a user-defined symbol."
