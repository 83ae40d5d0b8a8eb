"""Damaged TOML files, read by ``spmcompat compare``.

A report takes a second, so most cases have a text that is too short: the command then ends after it
has read the configurations.
"""

from __future__ import annotations

import json
import math
import os
import random
from collections.abc import Callable
from functools import partial
from pathlib import Path

import spmcompat
from spmcompat.__main__ import main
from tests.hostile.mutations import Document, damage_bytes, damage_document

CONFIGURATIONS: Document = {
    "first": {"model_type": "bpe", "byte_fallback": False, "shrinking_factor": 0.5},
    "second": {"model_type": "char", "drop_spaces": True, "num_threads": 2},
    "third": {"trainer": "tokenizers.wordpiece"},
}
HOSTILE_TEXTS = (
    "[" * 5_000,
    "a = " + "[" * 100_000,
    "a = " + "{a=" * 100_000,
    ".".join("a" * 50_000) + " = 1\n",
    "[" + ".".join("a" * 50_000) + "]\n",
    "[a]\nvocab_size = " + "1" * 100_000,
    "[a]\nworkers = 0x" + "f" * 100_000,
    "[a]\nworkers = 1979-05-27T07:32:00Z\n",
    "[a]\nunk_piece = '''" + "\n" * 100_000,
    "[a]\nunk_piece = '" + "a" * 200_000 + "'\n",
    "".join(f"[a{number}]\n" for number in range(30_000)),
    "#" * 1_000_000,
)


def prepare(folder: Path) -> None:
    """Write a text of 40 lines, and compare the undamaged configurations."""
    # The training processes must import spmcompat from the same folder as this process.
    os.environ["PYTHONPATH"] = str(Path(spmcompat.__file__).parents[1])
    (folder / "text.txt").write_text("The cat sat on the mat.\n" * 40)
    (folder / "short.txt").write_text("The cat sat on the mat.\n")
    (folder / "valid.toml").write_text(_toml(CONFIGURATIONS))
    assert main(_command(folder / "valid.toml", folder / "text.txt")) == 0


def command(chance: random.Random, valid: Path, folder: Path) -> Callable[[], int]:
    """Write a damaged copy of ``valid.toml``, and return a call that reads the copy."""
    damaged = folder / "damaged.toml"
    kind = chance.random()
    if kind < 0.05:
        damaged.write_text(chance.choice(HOSTILE_TEXTS))
    elif kind < 0.4:
        damaged.write_bytes(damage_bytes((valid / "valid.toml").read_bytes(), chance))
    else:
        written = _toml(damage_document(CONFIGURATIONS, chance))
        damaged.write_text(written, encoding="utf-8", errors="surrogatepass")
    text = "text.txt" if chance.random() < 0.02 else "short.txt"
    return partial(main, _command(damaged, valid / text))


def _command(path: Path, text: Path) -> list[str]:
    files = [f"--text={text}", f"--configs={path}", "--output=report"]
    return ["compare", *files, "--vocab_size=40", "--quiet"]


def _toml(document: Document) -> str:
    """Serialize a document of any depth as TOML: dicts in it become tables or inline tables."""
    if not isinstance(document, dict):
        return f"value = {_value(document)}\n"
    lines = []
    for name, table in document.items():
        if isinstance(table, dict):
            lines.append(f"[{_string(name)}]")
            lines += [f"{_string(key)} = {_value(value)}" for key, value in table.items()]
        else:
            lines.insert(0, f"{_string(name)} = {_value(table)}")
    return "\n".join(lines) + "\n"


def _value(value: Document) -> str:
    """Serialize a value without recursion, which would limit its depth."""
    written: list[str] = []
    waiting: list[tuple[str, Document]] = [("", value)]
    while waiting:
        text, item = waiting.pop()
        if text:
            written.append(text)
        elif isinstance(item, dict):
            waiting.append(("}", None))
            for number, (name, one) in reversed([*enumerate(item.items())]):
                waiting += [("", one), (f"{', ' if number else ''}{_string(name)} = ", None)]
            written.append("{")
        elif isinstance(item, list):
            waiting.append(("]", None))
            for one in reversed(item):
                waiting += [(", ", None), ("", one)]
            written.append("[")
        else:
            written.append(_scalar(item))
    return "".join(written)


def _scalar(value: Document) -> str:
    if isinstance(value, str):
        return _string(value)
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float):
        return "nan" if math.isnan(value) else "inf" if math.isinf(value) else repr(value)
    return "''" if value is None else str(value)


def _string(text: str) -> str:
    # The escapes of JSON are valid in TOML, which also requires an escape for DEL.
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
