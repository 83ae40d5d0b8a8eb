"""Damaged ``tokenizer.json`` files for the commands that read them."""

from __future__ import annotations

import base64
import json
import random
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from spmcompat.__main__ import main
from spmcompat.normalization.charsmaps import compile_charsmap
from spmcompat.runtime.libraries import is_installed
from tests.hostile.mutations import damage_bytes, damage_document, nested, to_json

TEXT = "The cat sat on the mat, and the dog sat on the cat. 123 Übermut, naïve café; 猫がいる\n"
OPTIONS = {
    "unigram": ["--model_type=unigram"],
    "bpe": [
        "--model_type=bpe",
        "--normalization_rule_name=identity",
        "--user_defined_symbols=<mask>,<m,@@",
    ],
    "rules": ["--model_type=unigram", "--normalization_rule_tsv=rules.tsv"],
}
PATTERNS = (
    r"\A(?:(a|a)*b)\z",
    r"\A(?:(?:a+)+b)\z",
    r"\A(?:" + "(?:a|a)?" * 60 + r")\z",
    r"\A(?:" + "(?:a|b)" * 60 + r")\z",
    r"\A(?:" + "(?:" * 3_000 + "a" + ")" * 3_000 + r")\z",
    r"\A(?:[\x{0}-\x{10FFFF}][\x{0}-\x{10FFFF}])\z",
    r"\A(?:\x{FFFFFF})\z",
    r"\A(?:" + "a" * 100_000 + r")\z",
    r"\A(?:(?i:a){1,999999999})\z",
    r"\A(?:[z-a]|[|]\p{L})\z",
    "(",
)
STEPS: tuple[dict[str, Any], ...] = (
    {"type": "Lowercase"},
    {"type": "NFKD"},
    {"type": "StripAccents"},
    {"type": "WhitespaceSplit"},
    {"type": "Metaspace", "replacement": "▁", "prepend_scheme": "first", "split": False},
    {"type": "Metaspace", "replacement": "▁"},
    {"type": "Strip", "strip_left": False, "strip_right": True},
    {"type": "Replace", "pattern": {"String": ""}, "content": "x"},
    {"type": "Replace", "pattern": {"String": "a" * 100_000}, "content": "x" * 100_000},
    {"type": "Replace", "pattern": {"Regex": " {2,}"}, "content": " "},
    {"type": "Prepend", "prepend": "▁"},
    {"type": "Split", "pattern": {"Regex": "a|b"}, "behavior": "Isolated", "invert": False},
    {"type": "Split", "pattern": None, "behavior": "Isolated"},
    {"type": "Sequence"},
)
CHARSMAPS = ("AAAA", "====", "A" * 400, "/////w==", "\x00", "AQAAAAEAAAA=")


def prepare(folder: Path) -> None:
    """Export models, write files like those of other tools, and check which can be imported."""
    Path("rules.tsv").write_text("41\t61\n65 301\tE9\n74 68\tFE\n9\t20\n")
    text = folder / "text.txt"
    text.write_text(TEXT * 20, encoding="utf-8")
    for name, options in OPTIONS.items():
        flags = [f"--input={text}", f"--model_prefix={name}", "--vocab_size=90", *options]
        assert main(["train", *flags, "--hard_vocab_limit=false"]) == 0
        exporting = ["--to=tokenizer.json", f"--output={name}.json", "--verify=no"]
        assert main(["export", *exporting, f"{name}.model"]) == 0
    for name, document in _of_other_tools().items():
        Path(f"{name}.json").write_text(json.dumps(document), encoding="utf-8")
    for name in (*OPTIONS, "llama"):
        assert main(["import", f"{name}.json", "--output=imported.model"]) == 0, name
    expected = 0 if is_installed("tokenizers") else 1
    assert main(["evaluate", "--quiet", f"--text={text}", "llama.json"]) == expected
    for name in ("gpt2", "t5", "albert"):
        assert main(["import", f"{name}.json", "--output=imported.model"]) == 1, name
    assert main(["import", "albert.json", "--output=imported.model", "--approximate"]) == 0


def command(chance: random.Random, valid: Path, folder: Path) -> Callable[[], int]:
    """Return a command that reads a damaged copy of one of the files."""
    data = chance.choice(sorted(valid.glob("*.json"))).read_bytes()
    damaged = folder / "tokenizer.json"
    if chance.random() < 0.3:
        damaged.write_bytes(damage_bytes(data, chance))
    else:
        damage = _damage_part if chance.random() < 0.5 else damage_document
        damaged.write_text(to_json(damage(json.loads(data), chance)), encoding="utf-8")
    # If `tokenizers` is not installed, most commands reject every file with a one-line error.
    text = f"--text={valid / 'text.txt'}"
    other = str(chance.choice(sorted(valid.glob("*.json"))))
    importing = ["import", str(damaged), "--output=imported.model"]
    if chance.random() < 0.5:
        importing.append("--approximate")
    commands = [
        importing,
        ["diff", str(damaged), other],
        ["evaluate", "--quiet", text, str(damaged)],
        ["show", "--check", "--json", text, str(damaged)],
        ["show", str(damaged)],
        ["view", text, str(damaged)],
    ]
    return partial(main, chance.choice(commands))


def _damage_part(document: dict[str, Any], chance: random.Random) -> dict[str, Any]:
    """Change one part of the document, and leave the other parts as they are."""
    model, vocabulary = document["model"], document["model"]["vocab"]
    pieces = [one[0] for one in vocabulary] if isinstance(vocabulary, list) else list(vocabulary)
    pattern, piece = chance.choice(PATTERNS), chance.choice(pieces)
    match chance.randrange(12):
        case 0:
            document["decoder"] = _replace(pattern, "")
        case 1:
            document["pre_tokenizer"] = {**_replace(pattern, ""), "type": "Split"}
        case 2:
            steps = [_replace(pattern, chance.choice(["", " "]))] * chance.choice([1, 3_000])
            document["normalizer"] = {"type": "Sequence", "normalizers": steps}
        case 3:
            step = {"type": "Precompiled", "precompiled_charsmap": chance.choice(CHARSMAPS)}
            document["normalizer"] = step
        case 4:
            name = chance.choice(["normalizer", "pre_tokenizer", "decoder", "post_processor"])
            document[name] = {"type": "Sequence", f"{name}s": nested(3_000, chance)}
        case 5:
            token = {"id": chance.choice([0, 1, 2**31, -1]), "content": piece, "special": True}
            document["added_tokens"] = [token] * chance.choice([1, 1_000])
        case 6 | 7:
            part, name = chance.choice(
                [("normalizer", "normalizers"), ("pre_tokenizer", "pretokenizers")]
            )
            document[part] = _with_damaged_steps(document[part] or {}, name, chance)
        case 8:
            ids = (len(pieces), len(pieces) + 1, 2**31 - 1)
            token = {"id": chance.choice(ids), "content": chance.choice(["<x>", "", "▁", "\0"])}
            token["special"] = chance.random() < 0.5
            document["added_tokens"] = [*(document["added_tokens"] or []), token]
        case 9 if "merges" in model:
            model["merges"].append([piece, chance.choice([piece, "absent"])])
        case 10 if isinstance(vocabulary, dict):
            vocabulary[piece] = chance.choice([0, 2**31, 2**40, -1, len(vocabulary)])
        case _ if isinstance(vocabulary, list):
            score = chance.choice([float("nan"), float("inf"), 1e300, -1e39, 3.5e38, 10**400, 0])
            vocabulary[chance.randrange(len(vocabulary))] = [piece, score]
        case _:
            vocabulary["a" * chance.choice([1_000, 100_000])] = len(vocabulary)
    return document


def _with_damaged_steps(part: dict[str, Any], name: str, chance: random.Random) -> dict[str, Any]:
    """Add a step. Then remove a step, repeat or shuffle all steps, or leave them as they are."""
    steps = [*part.get(name, [part] if part else []), dict(chance.choice(STEPS))]
    match chance.randrange(4):
        case 0:
            steps.pop(chance.randrange(len(steps)))
        case 1:
            steps = steps * chance.choice([2, 30])  # a step can be a megabyte
        case 2:
            chance.shuffle(steps)
    return {"type": "Sequence", name: steps}


def _replace(pattern: str, content: str) -> dict[str, Any]:
    return {"type": "Replace", "pattern": {"Regex": pattern}, "content": content}


def _of_other_tools() -> dict[str, dict[str, Any]]:
    """Return small files that look like those of other projects' converters and trainers."""
    special = {"lstrip": False, "rstrip": False, "normalized": False, "special": True}
    added = [
        {"id": index, "content": text, "single_word": False, **special}
        for index, text in enumerate(["<unk>", "<s>", "</s>"])
    ]
    texts = ["<unk>", "<s>", "</s>", *(f"<0x{byte:02X}>" for byte in range(256)), "▁", "a", "b"]
    bpe = {"type": "BPE", "dropout": None, "unk_token": "<unk>", "fuse_unk": True}
    spaces = {"pattern": {"String": "▁"}, "content": " "}
    template = {"type": "TemplateProcessing", "single": [], "pair": [], "special_tokens": {}}
    scores = [["<pad>", 0.0], ["</s>", 0.0], ["<unk>", 0.0], ["▁", -2.0], ["a", -3.0]]
    metaspace = {"type": "Metaspace", "replacement": "▁", "prepend_scheme": "always"}
    words = r"'s|'t| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"
    charsmap = base64.b64encode(compile_charsmap({(9,): (32,), (0x65, 0x301): (0xE9,)})).decode()
    by_bytes = {"type": "ByteLevel", "add_prefix_space": False, "use_regex": False}
    return {
        "albert": {
            "version": "1.0",
            "added_tokens": [{**added[0], "id": 2}],
            "normalizer": {
                "type": "Sequence",
                "normalizers": [
                    {"type": "Replace", "pattern": {"String": "``"}, "content": '"'},
                    {"type": "Lowercase"},
                    {"type": "Precompiled", "precompiled_charsmap": charsmap},
                ],
            },
            "pre_tokenizer": {
                "type": "Sequence",
                "pretokenizers": [{"type": "WhitespaceSplit"}, metaspace],
            },
            "post_processor": template,
            "decoder": metaspace,
            "model": {"type": "Unigram", "unk_id": 2, "vocab": scores},
        },
        "llama": {
            "version": "1.0",
            "added_tokens": added,
            "normalizer": {
                "type": "Sequence",
                "normalizers": [
                    {"type": "Prepend", "prepend": "▁"},
                    {"type": "Replace", "pattern": {"String": " "}, "content": "▁"},
                ],
            },
            "pre_tokenizer": None,
            "post_processor": template,
            "decoder": {
                "type": "Sequence",
                "decoders": [
                    {"type": "Replace", **spaces},
                    {"type": "ByteFallback"},
                    {"type": "Fuse"},
                    {"type": "Strip", "content": " ", "start": 1, "stop": 0},
                ],
            },
            "model": {
                **bpe,
                "byte_fallback": True,
                "vocab": {text: index for index, text in enumerate([*texts, "ab", "▁ab"])},
                "merges": ["a b", "▁ ab"],
            },
        },
        "gpt2": {
            "version": "1.0",
            "added_tokens": [],
            "normalizer": {"type": "NFC"},
            "pre_tokenizer": {
                "type": "Sequence",
                "pretokenizers": [
                    {"type": "Split", "pattern": {"Regex": words}, "behavior": "Isolated"},
                    by_bytes,
                ],
            },
            "post_processor": by_bytes,
            "decoder": by_bytes,
            "model": {
                **bpe,
                "unk_token": None,
                "vocab": {"a": 0, "b": 1, "ab": 2},
                "merges": ["a b"],
            },
        },
        "t5": {
            "version": "1.0",
            "added_tokens": [],
            "normalizer": {"type": "Precompiled", "precompiled_charsmap": "AAAA"},
            "pre_tokenizer": metaspace,
            "post_processor": template,
            "decoder": metaspace,
            "model": {"type": "Unigram", "unk_id": 2, "vocab": scores},
        },
    }
