"""Damaged templates for ``train_tokenizer`` and ``count --like``."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from spmcompat.__main__ import main
from spmcompat.huggingface.files import TARGETS
from spmcompat.huggingface.template import SHIPPED, Template
from tests.hostile.mutations import damage_bytes, damage_document, to_json

TEXT = "The cat sat on the mat, it's 123 naïve cafés; 猫がいる [MASK]\n"
OTHERS: dict[str, dict[str, Any]] = {
    "metaspace": {"pre_tokenizer": {"type": "Metaspace", "replacement": "▁"}},
    "digits": {
        "normalizer": {"type": "Sequence", "normalizers": [{"type": "NFKC"}]},
        "pre_tokenizer": {"type": "Digits", "individual_digits": True},
    },
    "plain": {
        "pre_tokenizer": {
            "type": "Split",
            "pattern": {"String": "[a-z]+"},
            "behavior": "Isolated",
            "invert": False,
        }
    },
}


def prepare(folder: Path) -> None:
    """Write the templates, and check that they can be trained."""
    (folder / "text.txt").write_text(TEXT * 5, encoding="utf-8")
    documents = {name: Template.load(name).document for name in SHIPPED}
    # So few tokens that each part of the file is damaged often enough.
    documents["llama3"]["added_tokens"] = documents["llama3"]["added_tokens"][:3]
    documents |= {name: {**parts, "model": {"type": "BPE"}} for name, parts in OTHERS.items()}
    for name, document in documents.items():
        path = folder / f"{name}.json"
        path.write_text(json.dumps(document), encoding="utf-8")
        for arguments in _commands(path, folder, "tokenizer.json"):
            assert main(arguments) == 0, arguments


def command(chance: random.Random, valid: Path, folder: Path) -> Callable[[], int]:
    """Return a command that reads a damaged copy of a template."""
    data = chance.choice(sorted(valid.glob("*.json"))).read_bytes()
    damaged = folder / "template.json"
    if chance.random() < 0.3:
        damaged.write_bytes(damage_bytes(data, chance))
    else:
        document = damage_document(json.loads(data), chance)
        damaged.write_text(to_json(document), encoding="utf-8")
    return partial(main, chance.choice(_commands(damaged, valid, chance.choice([*TARGETS]))))


def _commands(template: Path, valid: Path, to: str) -> list[list[str]]:
    reading = [f"--like={template}", f"--input={valid / 'text.txt'}", "--quiet"]
    return [
        ["train_tokenizer", *reading, "--vocab_size=290", f"--to={to}", "--output=trained"],
        ["count", *reading, "--output=words"],
    ]
