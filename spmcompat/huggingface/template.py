"""Templates: tokenizer.json documents whose vocabularies are to be trained."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from spmcompat.bpe.token_trainer import Tokens
from spmcompat.errors import BadValueError, printable
from spmcompat.runtime.inputs import open_file
from spmcompat.splitting.bert import BertOptions
from spmcompat.splitting.expressions import scanner_of

SHIPPED = ("gpt2", "cl100k", "o200k", "llama3", "qwen2", "bert")
"""The names of the templates that are part of this package."""

Json = dict[str, Any]

_PARTS = ("normalizer", "pre_tokenizer", "post_processor", "decoder")
_CHOICES = f"Give a tokenizer.json, a folder that contains one, or one of {', '.join(SHIPPED)}"
_MOST_BYTES = 128 << 20  # the largest public files have about 35 MB
_META = frozenset("\\^$*+?{}[]|()")
_UNLIMITED = re.compile(r"(?<!\\)\{\d*,?\d*\}\+")


class TemplateError(BadValueError):
    """A file is not a tokenizer.json whose vocabulary can be trained."""

    kind = "bad-template"


class Splitting(NamedTuple):
    """How a template cuts texts into words.

    Attributes
    ----------
    scanner : str or BertOptions
        The scanner for its expression, or the options of BERT; an empty text if the library
        ``tokenizers`` has to cut the text.
    adds_space : bool
        Whether a text that does not begin with a space is read as if it did.
    normalizes : bool
        Whether a text is normalized with NFC first.
    """

    scanner: str | BertOptions = ""
    adds_space: bool = False
    normalizes: bool = False

    @property
    def are_bytes(self) -> bool:
        """Whether the letters of the words are bytes, as the scanners of expressions give them."""
        return isinstance(self.scanner, str) and self.scanner != ""


class Template:
    """A tokenizer without its vocabulary.

    Parameters
    ----------
    document : object
        The content of a tokenizer.json.
    name : str
        Its name in messages.
    files : sequence of str
        The files that it was read from. No output may replace them.

    Attributes
    ----------
    name, files
        As given.
    document : dict
        The content, without vocabulary and merges.

    Raises
    ------
    TemplateError
        If the document is not a tokenizer of BPE or WordPiece.
    """

    def __init__(self, document: object, name: str, files: Sequence[str] = ()) -> None:
        self.name = name
        self.files = files
        self.document = _checked(document, name)

    @classmethod
    def load(cls, like: str | os.PathLike[str]) -> Template:
        """Load a template: a file, a folder of transformers, or the name of a shipped one.

        Raises
        ------
        MissingFileError
            If there is no such file.
        TemplateError
            If it is not a tokenizer.json of BPE or WordPiece.
        """
        name = printable(os.fspath(like))
        path = os.fspath(like)
        paths = []
        if path in SHIPPED:
            source = os.path.join(os.path.dirname(__file__), "templates", f"{path}.json")
        else:
            source = os.path.join(path, "tokenizer.json") if os.path.isdir(path) else path
            paths.append(source)
        with open_file(source, _CHOICES) as file:
            content = file.read(_MOST_BYTES + 1)
        try:
            if len(content) > _MOST_BYTES:
                raise ValueError("it is too large")
            return cls(json.loads(content), name, paths)
        except TemplateError:
            raise
        except (ValueError, RecursionError) as error:
            raise TemplateError(f"{name}: not a tokenizer.json: {error}. {_CHOICES}.") from None

    @property
    def model(self) -> Json:
        """The description of the model, without vocabulary and merges."""
        return self.document["model"]  # type: ignore[no-any-return]

    @property
    def is_bpe(self) -> bool:
        """Whether the model is BPE; otherwise, it is WordPiece."""
        return bool(self.model["type"] == "BPE")

    @property
    def special_tokens(self) -> list[Json]:
        """The special tokens among the added tokens, in the order of their ids, without ids."""
        found = sorted(self.document["added_tokens"], key=lambda token: token.get("id", 0))
        return [special_token(token) for token in found if token.get("special")]

    def described(self, names: Iterable[str]) -> list[Json]:
        """Return the descriptions of special tokens, with the settings that the template has."""
        known = {token["content"]: token for token in self.document["added_tokens"]}
        return [special_token(known.get(name, name)) for name in names]

    @property
    def is_byte_level(self) -> bool:
        """Whether the characters of words represent bytes."""
        return any(one["type"] == "ByteLevel" for one in steps(self.document["pre_tokenizer"]))

    def prefix_or(self, given: str | None) -> str:
        """Return the prefix of letters inside words: the given one, or that of the template."""
        default = None if self.is_bpe else "##"
        return _text_or(given, self.model.get("continuing_subword_prefix"), default)

    def suffix_or(self, given: str | None) -> str:
        """Return the suffix of letters that end words: the given one, or that of the template."""
        return _text_or(given, self.model.get("end_of_word_suffix"))

    @property
    def splitting(self) -> Splitting:
        """How texts are cut into words."""
        if options := self._bert_options():
            return Splitting(options)
        normalizer = steps(self.document["normalizer"])
        *before, last = steps(self.document["pre_tokenizer"]) or [{"type": ""}]
        if last["type"] != "ByteLevel" or [one["type"] for one in normalizer] not in ([], ["NFC"]):
            return Splitting()
        adds_space = bool(last.get("add_prefix_space", True))
        if not before and last.get("use_regex", True):
            return Splitting("gpt2", adds_space, bool(normalizer))
        if len(before) != 1 or last.get("use_regex", True) or adds_space:
            return Splitting()
        return Splitting(_scanner_of_step(before[0]), normalizes=bool(normalizer))

    def _bert_options(self) -> BertOptions | None:
        """Return the options of BERT's normalizer, if texts are cut as BERT does."""
        normalizer, pre_tokenizer = (
            self.document[part] or {"type": ""} for part in ("normalizer", "pre_tokenizer")
        )
        if normalizer["type"] != "BertNormalizer" or pre_tokenizer["type"] != "BertPreTokenizer":
            return None
        given: list[Any] = [normalizer.get(name) for name in BertOptions._fields]
        options = BertOptions(*given)
        if options.strip_accents is None:
            options = options._replace(strip_accents=options.lowercase)
        # An option of another type is left to the library, which refuses it.
        return options if all(isinstance(one, bool) for one in options) else None

    def warnings(self) -> list[str]:
        """Return a sentence for each step that was probably not intended."""
        splits = steps(self.document["pre_tokenizer"])
        found = [
            f"{self.name}: a Split looks for the text {text[:60]!r} itself, and will hardly find "
            'it. If it is an expression, write {"Regex": ...} instead of {"String": ...}.'
            for text in plain_patterns(self.document["pre_tokenizer"])
        ]
        if any(_UNLIMITED.search(_pattern(step, "Regex")) for step in splits):
            found.append(
                f"{self.name}: in a Split of tokenizers, a limit such as {{1,3}}+ has no effect, "
                "because the engine reads the plus as a repetition. Write {1,3} without it."
            )
        return found

    def filled(self, tokens: Tokens, special_tokens: Sequence[Json], affixes: Json) -> Json:
        """Return the document with a trained vocabulary.

        Parameters
        ----------
        tokens : Tokens
            The vocabulary.
        special_tokens : sequence of dict
            The added tokens, without ids.
        affixes : dict
            The affixes of letters, by their names in the model.

        Raises
        ------
        TemplateError
            If the template needs a token that is not in the vocabulary.
        """
        ids = {text: number for number, text in enumerate(tokens.texts)}
        added = [{"id": ids[token["content"]], **token} for token in special_tokens]
        padding = self.document["padding"]
        if padding is not None:
            (pad_id,) = self._ids_of([padding["pad_token"]], ids, "padding")
            padding = {**padding, "pad_id": pad_id}
        if unknown := self.model.get("unk_token"):
            self._ids_of([unknown], ids, "model")
        return {
            **self.document,
            "padding": padding,
            "added_tokens": sorted(added, key=lambda token: token["id"]),
            "post_processor": self._renumbered(self.document["post_processor"], ids),
            "model": filled_model(self.model, tokens, affixes),
        }

    def _renumbered(self, step: Json | None, ids: Mapping[str, int]) -> Json | None:
        """Return a post-processor with the new ids of its special tokens."""
        if step is None:
            return None
        changed = dict(step)
        if step["type"] == "Sequence":
            parts = _parts_of(step)
            key = next((key for key, value in step.items() if value is parts), "processors")
            changed[key] = [self._renumbered(one, ids) for one in parts]
        try:
            if "special_tokens" in step:
                changed["special_tokens"] = {
                    key: {**token, "ids": self._ids_of(token["tokens"], ids, "post_processor")}
                    for key, token in step["special_tokens"].items()
                }
            for key in {"cls", "sep"} & step.keys():
                text, _ = step[key]
                changed[key] = [text, *self._ids_of([text], ids, "post_processor")]
        except (TypeError, KeyError, AttributeError) as error:
            raise TemplateError(
                f"{self.name}: its post_processor is damaged. {_CHOICES}."
            ) from error
        return changed

    def _ids_of(self, tokens: Iterable[str], ids: Mapping[str, int], part: str) -> list[int]:
        missing = next((token for token in tokens if token not in ids), None)
        if missing is not None:
            raise TemplateError(
                f"{self.name}: its {part} needs the token {missing!r}. Add it to special_tokens."
            )
        return [ids[token] for token in tokens]


def filled_model(model: Json, tokens: Tokens, affixes: Json) -> Json:
    """Return the description of a model with a trained vocabulary."""
    filled = {**model, **affixes, "vocab": {text: n for n, text in enumerate(tokens.texts)}}
    if model["type"] == "BPE":
        filled["merges"] = [[left, right] for left, right in tokens.merges]
    return filled


def special_token(token: str | Json) -> Json:
    """Return the description of a special token, with the defaults of ``tokenizers``."""
    given = {"content": token} if isinstance(token, str) else token
    flags = ("single_word", "lstrip", "rstrip", "normalized")
    return {
        "content": given["content"],
        **{flag: bool(given.get(flag, False)) for flag in flags},
        "special": True,
    }


def steps(step: Json | None) -> list[Json]:
    """Return the steps of a normalizer or pre-tokenizer. Sequences in sequences are flattened."""
    if step is None:
        return []
    if step["type"] != "Sequence":
        return [step]
    return [one for part in _parts_of(step) for one in steps(part)]


def _text_or(*choices: object) -> str:
    """Return the first text among the choices; empty if there is none."""
    return next((text for text in choices if isinstance(text, str)), "")


def _scanner_of_step(step: Json) -> str:
    """Return the scanner that cuts as a ``Split`` does; empty if there is none."""
    pattern = step.get("pattern")
    if step["type"] != "Split" or not isinstance(pattern, dict) or step.get("invert"):
        return ""
    expression = pattern.get("Regex") if step.get("behavior") == "Isolated" else None
    return (scanner_of(expression) or "") if isinstance(expression, str) else ""


def plain_patterns(pre_tokenizer: Json | None) -> list[str]:
    """Return the plain strings of a pre-tokenizer that were probably meant as expressions."""
    texts = (_pattern(step, "String") for step in steps(pre_tokenizer))
    return [text for text in texts if len(_META.intersection(text)) > 1]


def _pattern(step: Json, kind: str) -> str:
    """Return the pattern of a Split if it is of a kind, ``String`` or ``Regex``."""
    pattern = step.get("pattern")
    text = pattern.get(kind) if step["type"] == "Split" and isinstance(pattern, dict) else ""
    return text if isinstance(text, str) else ""


def _checked(document: object, name: str) -> Json:
    """Return a document without vocabulary, whose parts have the types that this module needs."""

    def refuse(reason: str) -> TemplateError:
        return TemplateError(f"{name}: {reason}. {_CHOICES}.")

    if not isinstance(document, dict) or not isinstance(document.get("model"), dict):
        raise refuse("not a tokenizer.json, because it has no model")
    model = {key: value for key, value in document["model"].items() if key not in _VOCABULARY}
    kind = model.get("type") or ("BPE" if "merges" in document["model"] else None)
    if not isinstance(model.get("unk_token"), str | None):
        raise refuse("its unk_token is damaged")
    if kind not in ("BPE", "WordPiece"):
        raise refuse(f"its model is {printable(str(kind))[:40]}, not BPE or WordPiece")
    state = {part: document.get(part) for part in _PARTS}
    for part, value in state.items():
        if value is not None and not _is_step(value):
            raise refuse(f"its {part} is damaged")
    padding = document.get("padding")
    if padding is not None and not _is_padding(padding):
        raise refuse("its padding is damaged")
    added = document.get("added_tokens") or []
    if not isinstance(added, list) or not all(map(_is_added_token, added)):
        raise refuse("its added_tokens are damaged")
    empty: Json = {"vocab": {}, "merges": []} if kind == "BPE" else {"vocab": {}}
    checked = {
        "version": "1.0",
        "truncation": document.get("truncation"),
        "padding": padding,
        "added_tokens": added,
        **state,
        "model": {"type": kind, **model, **empty},
    }
    # Refuses lone surrogates, and numbers that JSON does not have.
    json.dumps(checked, ensure_ascii=False, allow_nan=False).encode()
    return checked


_VOCABULARY = ("vocab", "merges")


def _is_step(value: object) -> bool:
    """Return whether a value has the form of a step, or of a sequence of steps."""
    if not isinstance(value, dict) or not isinstance(value.get("type"), str):
        return False
    return value["type"] != "Sequence" or all(map(_is_step, _parts_of(value)))


def _parts_of(sequence: Json) -> list[Any]:
    """Return the steps of a sequence, whose name depends on the part of the document."""
    return next((value for value in sequence.values() if isinstance(value, list)), [])


def _is_padding(value: object) -> bool:
    return isinstance(value, dict) and isinstance(value.get("pad_token"), str)


def _is_added_token(value: object) -> bool:
    if not isinstance(value, dict) or not isinstance(value.get("id", 0), int):
        return False
    return isinstance(value.get("content"), str) and value["content"] != ""
