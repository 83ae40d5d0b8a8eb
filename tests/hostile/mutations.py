"""Random damage to bytes and to documents made of dicts, lists and scalars."""

from __future__ import annotations

import copy
import json
import random
from typing import Any, TypeAlias

Document: TypeAlias = Any
"""A value of JSON: a dict, a list, a string, a number, a truth value or None."""

_BYTES = [b"", b"\0", b"\xff", b"\x80", b"\xed\xa0\x80", b"\x1b[2J", b"\xff\xff\xff\xff\x7f", b"\n"]
_STRINGS = ["", "\0", "\ud800", "\x1b]0;x\x07", "▁", "\n", "a" * 100_000, "../../x", "/dev/zero"]
_NUMBERS = [0, -1, 1, 2**31, 2**63, -(2**63) - 1, 2**64, 10**400, 1e308, float("nan"), float("inf")]


def damage_bytes(data: bytes, chance: random.Random) -> bytes:
    """Return the data with up to eight random changes."""
    damaged = bytearray(data)
    for _ in range(chance.randint(1, 8)):
        begin = chance.randint(0, len(damaged))
        end = min(begin + chance.choice([0, 1, 1, 2, 4, 16, 256]), len(damaged))
        match chance.randrange(6):
            case 0:
                damaged[begin:end] = bytes(chance.randrange(256) for _ in range(end - begin))
            case 1:
                del damaged[begin:end]
            case 2:
                damaged[begin:begin] = damaged[begin:end] * chance.choice([1, 2, 100])
            case 3:
                damaged[begin:end] = chance.choice(_BYTES)
            case 4 if end > begin:
                damaged[begin] ^= 1 << chance.randrange(8)
            case 5 if chance.random() < 0.2:
                del damaged[begin:]
    return bytes(damaged)


def damage_document(document: Document, chance: random.Random) -> Document:
    """Return a copy of the document with up to four random changes."""
    root = [copy.deepcopy(document)]
    for _ in range(chance.randint(1, 4)):
        if not root:
            break
        holder, key = chance.choice(_places(root))
        _change(holder, key, chance)
    return root[0] if root else None


def _places(root: list[Document]) -> list[tuple[Any, Any]]:
    """Return a pair (container, key) for every entry of every dict and list of the document."""
    found: list[tuple[Any, Any]] = []
    waiting: list[Document] = [root]
    while waiting:
        node = waiting.pop()
        keys = list(node) if isinstance(node, dict) else range(len(node))
        found += [(node, key) for key in keys]
        waiting += [node[key] for key in keys if isinstance(node[key], dict | list)]
    return found


def _change(holder: Any, key: Any, chance: random.Random) -> None:
    value = holder[key]
    match chance.randrange(5):
        case 0:
            del holder[key]
        case 1 if isinstance(holder, dict):
            holder[chance.choice([*_STRINGS, "type", "id"])] = holder.pop(key)
        case 2 if isinstance(holder, list):
            # Many copies of a large container would take minutes to write.
            copies = 2 if isinstance(value, dict | list) else 1000
            holder[key:key] = [value] * chance.choice([1, copies])
        case 3 if isinstance(value, str):
            at = chance.randint(0, len(value))
            holder[key] = value[:at] + chance.choice(_STRINGS) + value[at:]
        case _:
            holder[key] = hostile_value(chance)


def hostile_value(chance: random.Random) -> Document:
    """Return a value of a wrong type or size."""
    match chance.randrange(6):
        case 0:
            return chance.choice(_NUMBERS)
        case 1:
            return chance.choice(_STRINGS)
        case 2:
            return chance.choice([None, True, False, [], {}])
        case 3:
            return [chance.choice(_NUMBERS), chance.choice(_STRINGS)]
        case 4:
            return {chance.choice(_STRINGS): chance.choice(_NUMBERS)}
        case _:
            return nested(chance.choice([10, 3_000, 100_000]), chance)


def nested(depth: int, chance: random.Random) -> Document:
    """Return nested lists or dicts."""
    value: Document = "x"
    is_list = chance.random() < 0.5
    for _ in range(depth):
        value = [value] if is_list else {"a": value}
    return value


def to_json(document: Document) -> str:
    """Serialize a document of any depth; ``json.dumps`` recurses, which limits its depth."""
    written: list[str] = []
    waiting: list[tuple[str, Document]] = [("value", document)]
    while waiting:
        kind, value = waiting.pop()
        if kind == "text":
            written.append(value)
        elif isinstance(value, dict | list):
            opening, closing = ("{", "}") if isinstance(value, dict) else ("[", "]")
            waiting.append(("text", closing))
            items = list(value.items()) if isinstance(value, dict) else [("", one) for one in value]
            for number in range(len(items) - 1, -1, -1):
                name, item = items[number]
                waiting.append(("value", item))
                label = f"{json.dumps(name)}:" if isinstance(value, dict) else ""
                waiting.append(("text", ("," if number else "") + label))
            written.append(opening)
        else:
            written.append(json.dumps(value))
    return "".join(written)
