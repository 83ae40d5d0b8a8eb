"""One interface for models of all kinds."""

from __future__ import annotations

import itertools
import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from spmcompat.engine import SPACE_MARK, byte_texts
from spmcompat.errors import BadModelError, ConflictError, MissingFileError, refuse_impossible
from spmcompat.model.pieces import BYTE_PIECES, NORMAL, model_type_of, texts_of_type
from spmcompat.model.reading import read_model
from spmcompat.model.sentencepiece_model_pb2 import ModelProto
from spmcompat.runtime.libraries import require
from spmcompat.runtime.workers import Workers
from spmcompat.tools.evaluate.alignment import Span
from spmcompat.tools.evaluate.loss import MarginalLoss, has_loss
from spmcompat.tools.evaluate.pretokens import PretokenEncoder
from spmcompat.tools.evaluate.tokens import TokenKinds, flags, kinds_of_pieces, kinds_of_texts
from spmcompat.tools.evaluate.vocabularies import texts_of_pieces
from spmcompat.tools.export.document import MOST_BYTES, document_path, errors_of_tokenizers
from spmcompat.tools.export.importing import pieces_of_export

if TYPE_CHECKING:
    from tokenizers import Encoding

BYTE_SPACE = "\u0120"  # represents a space in byte-level vocabularies
_SPACES = SPACE_MARK + BYTE_SPACE
CONTINUES = "##"  # prefix of WordPiece tokens inside a word
_BYTES = {text: byte for byte, text in byte_texts().items()}
# Byte pieces for the lone surrogates to which Python decodes parts of characters.
_PARTS = {0xDC00 + byte: BYTE_PIECES[byte] for byte in range(0x80, 0x100)}


class Token(NamedTuple):
    """A token of a line.

    Attributes
    ----------
    id : int
        Its id in the file of the model.
    text : str
        The piece. If it is the unknown token, the text that it stands for. A byte-level token is
        decoded; a byte that is only a part of a character has the text of its byte piece, such as
        ``<0xE4>``.
    kind : str
        ``unknown``; ``byte`` if the token is a byte piece or contains a part of a character; or
        empty.
    """

    id: int
    text: str
    kind: str = ""


class Model(Protocol):
    """A model that can be evaluated.

    Attributes
    ----------
    path, model_type : str
        Path of the file, and kind of model.
    size : int
        Number of pieces, including special pieces.
    vocabulary, texts : set of str
        The pieces, except special pieces; and the texts of these pieces without space marks.
    kinds : TokenKinds
        Properties of each piece.
    pretokens : PretokenEncoder or None
        Encodes each pretoken separately; None if whole lines are encoded.
    loss : MarginalLoss or None
        Adds up the loss of the text; None if the model's scores are not log probabilities.
    drops_characters : bool
        Whether the model drops a character that it does not know, instead of using an unknown
        token.
    marks_continuation : bool
        Whether tokens are marked if they continue a word. Then all other tokens begin a word.
    """

    path: str
    model_type: str
    size: int
    vocabulary: set[str]
    texts: set[str]
    kinds: TokenKinds
    pretokens: PretokenEncoder | None = None
    loss: MarginalLoss | None = None
    drops_characters: bool = False
    marks_continuation: bool = False

    def encode(self, lines: Sequence[bytes]) -> Sequence[npt.NDArray[np.int32]]:
        """Return the token ids of each line. The lines are UTF-8 bytes."""

    def spans(self, lines: Sequence[str]) -> list[list[Span]]:
        """Return where the text of each token begins and ends in its line, in characters."""

    def tokens(self, lines: Sequence[str]) -> list[list[Token]]:
        """Return the tokens of each line, as they are shown to people."""

    def cut(self, words: Sequence[str], with_spaces: bool = False) -> list[list[str]]:
        """Split each word into the texts of its tokens, one for each token.

        Tokens that are only space marks are left out, except with `with_spaces`. If several tokens
        represent one character, all but one of them have an empty text. A character without tokens
        belongs to the token before it, or to the first one.
        """
        ids = self.encode([word.encode() for word in words])
        parts = []
        for word, spans, tokens in zip(words, self.spans(words), ids, strict=True):
            kept = np.flatnonzero(~self.kinds.blank[tokens] | with_spaces)
            parts.append(_parts(word, [spans[i][0] for i in kept]))
        return parts


def load_model(path: str, workers: Workers, pretokenizer: str | None = None) -> Model:
    """Load a ``.model`` file, or a ``tokenizer.json`` if the path ends in ``.json``.

    Parameters
    ----------
    path : str
        Path of the file, or of a folder with a ``tokenizer.json``, as transformers saves it.
    workers : Workers
        The threads to use.
    pretokenizer : str, optional
        Cut the text into pretokens as in training with this pretokenizer; see
        `LineCutter`.

    Raises
    ------
    TrainingError
        If the file cannot be read or is not a model, or if the library is not installed.
    """
    refuse_impossible(path, "Check the path")
    path = document_path(path)
    is_ours = not path.endswith(".json")
    library, extra = ("sentencepiece", "eval") if is_ours else ("tokenizers", "compare")
    if pretokenizer is not None and not is_ours:
        raise ConflictError(
            f"{path}: --pretokenizer needs .model files. Leave out this file, or the option."
        )
    try:
        os.stat(path)  # report a missing file rather than a missing library
        require(library, path, extra)
        return _SentencePiece(path, workers, pretokenizer) if is_ours else _HuggingFace(path)
    except MissingFileError:
        raise
    except OSError as error:
        raise MissingFileError(
            f'"{path}": {os.strerror(error.errno or 0)}. Check the path.'
        ) from error


class _SentencePiece(Model):
    """A SentencePiece model that the installed ``sentencepiece`` library has loaded."""

    def __init__(self, path: str, workers: Workers, pretokenizer: str | None) -> None:
        from sentencepiece import SentencePieceProcessor

        model = read_model(path)
        try:
            self._encoder = SentencePieceProcessor(model_proto=model.SerializeToString())
        except Exception as error:
            reason = " ".join(str(error).split())
            raise BadModelError(f'"{path}": sentencepiece cannot load it: {reason}') from error
        self._threads = workers.count
        self.path = path
        self.model_type = model_type_of(model.trainer_spec)
        self.size = len(model.pieces)
        self.vocabulary = _normal_pieces(model)
        self.texts = texts_of_pieces(self.vocabulary)
        self.kinds = kinds_of_pieces(model)
        if pretokenizer is not None:
            self.pretokens = PretokenEncoder(model, workers, pretokenizer)
        if has_loss(model):
            self.loss = MarginalLoss(model, workers, pretokenizer)

    def encode(self, lines: Sequence[bytes]) -> Sequence[npt.NDArray[np.int32]]:
        encoded: list[npt.NDArray[np.int32]] = self._encoder.encode(
            lines, return_type="numpy", num_threads=self._threads
        )
        return encoded

    def spans(self, lines: Sequence[str]) -> list[list[Span]]:
        encoded = self._encoder.encode(list(lines), return_type="proto")
        return [
            _in_characters(line, [(p.begin, p.end) for p in result.pieces])
            for line, result in zip(lines, encoded, strict=True)
        ]

    def tokens(self, lines: Sequence[str]) -> list[list[Token]]:
        encoded = self._encoder.encode(list(lines), return_type="proto")
        return [
            [Token(p.id, p.piece, _kind(self.kinds, p.id)) for p in line.pieces] for line in encoded
        ]


class _HuggingFace(Model):
    """A tokenizer of the ``tokenizers`` library."""

    def __init__(self, path: str) -> None:
        from tokenizers import Tokenizer

        # os.stat reports a missing file clearly. The error of the library would not name the cause.
        size = os.stat(path).st_size
        if size > MOST_BYTES:
            raise BadModelError(
                f"{path}: a tokenizer.json of {size >> 20} MiB; at most {MOST_BYTES >> 20} MiB can "
                "be evaluated. Check the path."
            )
        with errors_of_tokenizers(path):
            self._tokenizer = Tokenizer.from_file(path)
            self._tokenizer.no_padding()
            self._tokenizer.no_truncation()
            model = self._tokenizer.model
            if hasattr(model, "dropout"):
                model.dropout = None  # With dropout, BPE leaves out merges at random.
            ids = sorted(set(self._tokenizer.get_vocab().values()))
            texts = [self._tokenizer.id_to_token(i) or "" for i in ids]
            self._added = self._tokenizer.get_added_tokens_decoder()
            special = {t.content for t in self._added.values()}
            steps = (
                self._tokenizer.normalizer,
                self._tokenizer.pre_tokenizer,
                self._tokenizer.decoder,
            )
            self._is_byte_level = "ByteLevel(" in repr(steps)
            unknown = getattr(model, "unk_token", None)
            byte_pieces = set(BYTE_PIECES) if getattr(model, "byte_fallback", False) else set()
        # The ids in the file may have gaps. If so, the tokens get new numbers without gaps, in the
        # order of their ids.
        self._ids = np.array(ids) if ids and ids[-1] >= len(ids) else None
        self.size = len(ids)
        self.path = path
        self.model_type = f"tokenizers {type(model).__name__}"
        self.marks_continuation = type(model).__name__ == "WordPiece"
        with open(path, "rb") as file:
            exported = pieces_of_export(file.read())
        if exported is not None:
            self.vocabulary = _normal_pieces(exported)
            self.texts = texts_of_pieces(self.vocabulary)
            self.kinds = kinds_of_pieces(exported)
        else:
            unknown = unknown or "<unk>"
            self.vocabulary = set(texts) - special - {unknown} - byte_pieces
            self.texts = texts_of_pieces(
                self.vocabulary, _SPACES, CONTINUES if self.marks_continuation else ""
            )
            shown = [text if text in self.vocabulary else "" for text in texts]
            self.kinds = kinds_of_texts(
                shown,
                unknown=flags(text == unknown for text in texts),
                byte=flags(text in byte_pieces for text in texts),
                marks=_SPACES,
            )
            if self.marks_continuation:
                begins = flags(not text.startswith(CONTINUES) for text in shown)
                self.kinds = self.kinds._replace(begins=begins, ends=np.zeros_like(begins))
        has_all_bytes = self.kinds.byte.sum() == 256 or self.vocabulary.issuperset(
            byte_texts().values()
        )
        self.drops_characters = not (has_all_bytes or self.kinds.unknown.any())

    def encode(self, lines: Sequence[bytes]) -> Sequence[npt.NDArray[np.int32]]:
        encoded = self._encoded([line.decode(errors="replace") for line in lines])
        return [self._numbers(line).astype(np.int32) for line in encoded]

    def spans(self, lines: Sequence[str]) -> list[list[Span]]:
        blank = self.kinds.blank
        return [
            _without_added_marks(line.offsets, np.flatnonzero(blank[self._numbers(line)]).tolist())
            for line in self._encoded(lines)
        ]

    def tokens(self, lines: Sequence[str]) -> list[list[Token]]:
        encoded = self._encoded(lines)
        return [
            [
                self._token(Token(own_id, text, _kind(self.kinds, number)), line[slice(*span)])
                for own_id, text, number, span in zip(
                    found.ids, found.tokens, self._numbers(found), found.offsets, strict=True
                )
            ]
            for line, found in zip(lines, encoded, strict=True)
        ]

    def _token(self, token: Token, source: str) -> Token:
        """Return a token with the text to show. `source` is the text in the line."""
        if token.kind == "unknown":
            return token._replace(text=source)
        is_decoded = not self._is_byte_level or token.id in self._added
        if is_decoded or not _BYTES.keys() >= {*token.text}:
            return token
        decoded = bytes(_BYTES[c] for c in token.text).decode(errors="surrogateescape")
        text = decoded.translate(_PARTS)
        return Token(token.id, text, "" if text == decoded else "byte")

    def _numbers(self, line: Encoding) -> npt.NDArray[np.int64]:
        """Return the tokens of a line as numbers without gaps."""
        ids = np.array(line.ids, dtype=np.int64)
        return ids if self._ids is None else np.searchsorted(self._ids, ids)

    def _encoded(self, lines: Sequence[str]) -> list[Encoding]:
        with errors_of_tokenizers(self.path):
            return self._tokenizer.encode_batch(list(lines), add_special_tokens=False)


def _kind(kinds: TokenKinds, number: int) -> str:
    """Return the kind of a `Token`."""
    return "unknown" if kinds.unknown[number] else "byte" if kinds.byte[number] else ""


def _normal_pieces(model: ModelProto) -> set[str]:
    return set(texts_of_type(model, NORMAL))


def _in_characters(line: str, spans: Sequence[Span]) -> list[Span]:
    """Convert offsets in bytes of UTF-8 to offsets in characters."""
    if line.isascii():
        return list(spans)
    units = np.frombuffer(line.encode(), dtype=np.uint8)
    before = np.concatenate([[0], np.cumsum(units & 0xC0 != 0x80)]).tolist()
    return [(before[begin], before[end]) for begin, end in spans]


def _without_added_marks(offsets: Sequence[Span], blank: Sequence[int]) -> list[Span]:
    """Return the offsets of a line's tokens, with an empty span for each added space mark.

    The library gives a space mark that it adds to the line the offsets of the character next to it.

    Parameters
    ----------
    offsets : sequence of (int, int)
        The offsets of each token.
    blank : sequence of int
        The indices of the tokens that are only space marks.
    """
    spans = list(offsets)
    for i in blank:
        begin, end = spans[i]
        follows = i > 0 and begin < spans[i - 1][1]
        if follows or (i + 1 < len(spans) and spans[i + 1][0] < end):
            spans[i] = (begin, begin)
    return spans


def _parts(word: str, begins: Sequence[int]) -> list[str]:
    """Split a word where its tokens begin. Several tokens may begin at the same character."""
    offsets = [0, *sorted(begins)[1:], len(word)] if begins else []
    return [word[a:b] for a, b in itertools.pairwise(offsets)]
