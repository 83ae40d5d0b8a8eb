"""Reads a ``tokenizer.json``, and checks the types and sizes of all values that an import uses.

`_DOCUMENT` at the end of this module describes the file. Code that uses a checked document may rely
on this description. Fields that are not in the description may have any value.
"""

from __future__ import annotations

import base64
import binascii
import json
import os
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeAlias

from spmcompat.errors import BadModelError, BadValueError, TrainingError
from spmcompat.runtime.inputs import open_file

if TYPE_CHECKING:
    from spmcompat.tools.export.charsmap_steps import JsonObject


class TokenizerJsonError(BadValueError):
    """A file is not a tokenizer.json, or is damaged."""

    kind = "bad-tokenizer-json"


class CannotImportError(BadValueError):
    """A part of a tokenizer.json has no equivalent in a model."""

    kind = "cannot-import"


MOST_BYTES = 128 << 20
"""The size limit of a file. The largest public files have about 35 MB."""

Hook: TypeAlias = "Callable[[list[tuple[str, Any]]], JsonObject]"
Check: TypeAlias = "Callable[[object], str]"
"""Returns a text about the first error in a value: where it is, and what is expected there.

The text is empty if there is no error.
"""


def document_path(path: str) -> str:
    """Return the path of the ``tokenizer.json`` in a folder. Another path is returned unchanged."""
    return os.path.join(path, "tokenizer.json") if os.path.isdir(path) else path


def read_content(path: str) -> bytes:
    """Return the content of a ``tokenizer.json``, whose path or whose folder is given.

    Raises
    ------
    TrainingError
        If the file cannot be read, or is too large.
    """
    with open_file(document_path(path), "Check the path") as file:
        content = file.read(MOST_BYTES + 1)
    if len(content) > MOST_BYTES:
        raise TokenizerJsonError(
            f'"{path}": not a tokenizer.json: it has more than {MOST_BYTES >> 20} MiB. Check the '
            "path."
        )
    return content


def read_document(content: bytes, hook: Hook | None = None) -> JsonObject:
    """Parse and check the content of a ``tokenizer.json``.

    Parameters
    ----------
    content : bytes
        The content of the file.
    hook : callable, optional
        Makes a JSON object from its names and values. By default, a name that occurs twice is an
        error.

    Returns
    -------
    dict
        The document. It always names the type of the model.

    Raises
    ------
    BadValueError
        If the content is not JSON, or a value has the wrong type or size.
    """
    try:
        document = json.loads(
            content, object_pairs_hook=hook or _without_duplicates, parse_constant=_refuse_constant
        )
    except BadValueError:
        raise
    except RecursionError:
        raise TokenizerJsonError("not a tokenizer.json: its JSON is nested too deeply.") from None
    except ValueError:
        raise TokenizerJsonError(
            "not a tokenizer.json: it is not JSON. spmcompat export makes one from a .model file."
        ) from None
    if not isinstance(document, dict) or not isinstance(document.get("model"), dict):
        raise TokenizerJsonError('not a tokenizer.json: it has no "model".')
    described = document["model"]
    # Files of the first releases of tokenizers do not name the type.
    other = "BPE" if "merges" in described else "WordPiece"
    described.setdefault("type", "Unigram" if isinstance(described.get("vocab"), list) else other)
    checks = dict(_DOCUMENT)
    if kind := CHECKED_MODELS.get(str(described["type"])):
        checks["model"] = kind
    if error := _fields(checks)(document):
        raise _damaged(error.removeprefix("."))
    return document


@contextmanager
def errors_of_tokenizers(path: str) -> Iterator[None]:
    """Convert an error that ``tokenizers`` raises because of a file into a `BadValueError`.

    An empty path is left out of the message.
    """
    try:
        yield
    except (MemoryError, TrainingError):
        raise
    except BaseException as error:
        # A panic in the library's Rust code raises a PanicException. This class is not a subclass
        # of Exception and cannot be imported.
        if not isinstance(error, Exception) and type(error).__name__ != "PanicException":
            raise
        name = f'"{path}": ' if path else ""
        reason = " ".join(str(error).split())
        raise BadModelError(f"{name}tokenizers cannot use it: {reason}") from error


def steps_of_part(document: JsonObject, part: str) -> list[JsonObject]:
    """Return the steps of a part: a normalizer, a pre-tokenizer or a decoder."""
    step = document.get(part)
    if step is None:
        return []
    return list(step.get(_STEPS[part], ())) if step["type"] == "Sequence" else [step]


def refusal(part: str, document: JsonObject, reason: str = "") -> BadValueError:
    """Return the error for a part of the file that cannot be imported."""
    value = document.get(part)
    named = value["type"] if isinstance(value, dict) and "type" in value else ""
    kind = f" ({short_name(str(named))})" if named else ""
    reason = reason or "a sentencepiece model cannot do exactly the same."
    return CannotImportError(
        f'the part "{part}"{kind} cannot be imported: {reason} Import a file that spmcompat export '
        "or transformers has written, or one that works in the same way."
    )


def short_name(name: str) -> str:
    """Return a name from a file in a form that is safe and short enough for a message."""
    return name if name.isidentifier() and len(name) < 40 else ascii(name[:40])


def _damaged(reason: str) -> BadValueError:
    return TokenizerJsonError(f"a damaged tokenizer.json: {reason}. Import an undamaged copy.")


def _without_duplicates(pairs: list[tuple[str, object]]) -> dict[str, object]:
    found = dict(pairs)
    if len(found) != len(pairs):
        counts = Counter(name for name, _ in pairs)
        twice = counts.most_common(1)[0][0]
        raise _damaged(f"the name {_shown(twice)} occurs twice in one object")
    return found


def _refuse_constant(name: str) -> object:
    raise _damaged(f"it contains {name}, which is not a JSON number")


def _shown(text: str) -> str:
    return ascii(text if len(text) <= 40 else text[:40] + "…")


# ---------------------------------------------------------------- checks of values


def _needs(description: str, allows: Callable[[object], bool]) -> Check:
    return lambda value: "" if allows(value) else f" must be {description}"


def _is_text(value: object) -> bool:
    return isinstance(value, str) and not any("\ud800" <= one <= "\udfff" for one in value)


def _is_number(value: object) -> bool:
    if not isinstance(value, int | float) or isinstance(value, bool):
        return False
    return abs(value) < 1e300


def _is_id(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 1 << 31


def _is_base64(value: object) -> bool:
    try:
        base64.b64decode(str(value), validate=True)
    except (binascii.Error, ValueError):
        return False
    return isinstance(value, str)


_text = _needs("text in Unicode", _is_text)
_number = _needs("a finite number", _is_number)
_id = _needs("a whole number from 0 to 2147483647", _is_id)
_flag = _needs("true or false", lambda value: isinstance(value, bool))
_base64 = _needs("bytes in base64", _is_base64)


def _or_null(check: Check) -> Check:
    return lambda value: "" if value is None else check(value)


def _list(item: Check) -> Check:
    def check(value: object) -> str:
        if not isinstance(value, list):
            return " must be a list"
        errors = (f"[{index}]{error}" for index, one in enumerate(value) if (error := item(one)))
        return next(errors, "")

    return check


def _pair(first: Check, second: Check) -> Check:
    def check(value: object) -> str:
        if not isinstance(value, list) or len(value) != 2:
            return " must be a list of two values"
        errors = (f"[{n}]{error}" for n in (0, 1) if (error := (first, second)[n](value[n])))
        return next(errors, "")

    return check


def _either(one: Check, other: Check) -> Check:
    return lambda value: one(value) and other(value)


def _mapping(name: Check, item: Check) -> Check:
    def check(value: object) -> str:
        if not isinstance(value, dict):
            return " must be an object"
        for key, one in value.items():
            if error := name(key) or item(one):
                return f"[{_shown(key)}]{error}"
        return ""

    return check


def _fields(checks: Mapping[str, Check], required: str = "") -> Check:
    """Return a function that checks an object. The object must have the fields in `required`."""

    def check(value: object) -> str:
        if not isinstance(value, dict):
            return " must be an object"
        for name in required.split():
            if name not in value:
                return f' has no "{name}"'
        for name, one in checks.items():
            if name in value and (error := one(value[name])):
                return f".{name}{error}"
        return ""

    return check


def _step_of(checks: Mapping[str, Check]) -> Check:
    """Return a function that checks a step. A ``Precompiled`` step must have a charsmap."""
    other, precompiled = (_fields(checks, f"type{more}") for more in ("", " precompiled_charsmap"))

    def check(value: object) -> str:
        is_precompiled = isinstance(value, dict) and value.get("type") == "Precompiled"
        return precompiled(value) if is_precompiled else other(value)

    return check


# ---------------------------------------------------------------- the file

_STEP = {
    "type": _text,
    "content": _text,
    "prepend": _text,
    "pattern": _or_null(_fields({"String": _text, "Regex": _text})),
    "precompiled_charsmap": _base64,
    "strip_left": _flag,
    "strip_right": _flag,
}
_CUT = {
    "type": _text,
    "pattern": _STEP["pattern"],
    "replacement": _text,
    "prepend_scheme": _or_null(_text),
    "add_prefix_space": _flag,
    "split": _flag,
    "behavior": _text,
    "invert": _flag,
}
_step = _step_of(_STEP)
CHECKED_MODELS = {
    "Unigram": _fields(
        {
            "unk_id": _or_null(_id),
            "vocab": _list(_pair(_text, _number)),
            "byte_fallback": _flag,
        },
        "vocab",
    ),
    "WordLevel": _fields({"unk_token": _text, "vocab": _mapping(_text, _id)}, "vocab"),
    "BPE": _fields(
        {
            "unk_token": _or_null(_text),
            "vocab": _mapping(_text, _id),
            "merges": _list(_either(_text, _pair(_text, _text))),
            "byte_fallback": _flag,
        },
        "vocab merges",
    ),
    "WordPiece": _fields(
        {"unk_token": _text, "vocab": _mapping(_text, _id), "continuing_subword_prefix": _text},
        "vocab",
    ),
}
_token = _fields(
    {
        "id": _id,
        "content": _text,
        "special": _flag,
        "single_word": _flag,
        "lstrip": _flag,
        "rstrip": _flag,
        "normalized": _flag,
    },
    "id content special",
)
_STEPS = {"normalizer": "normalizers", "pre_tokenizer": "pretokenizers", "decoder": "decoders"}
"""The field with the steps of a ``Sequence``, for each part."""
_DOCUMENT: dict[str, Check] = {
    "added_tokens": _or_null(_list(_token)),
    "normalizer": _or_null(_step_of({**_STEP, "normalizers": _list(_step)})),
    "pre_tokenizer": _or_null(
        _fields({**_CUT, "pretokenizers": _list(_fields(_CUT, "type"))}, "type")
    ),
    "decoder": _or_null(_step_of({**_STEP, "decoders": _list(_step)})),
}
