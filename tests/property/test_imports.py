"""An export comes back as the same model: for all releases, rules and model types."""

from collections.abc import Callable
from pathlib import Path

import pytest

from spmcompat.normalization.charsmaps import NAMES, OWN_NAMES, decompile, precompiled
from spmcompat.releases import DEFAULT, RELEASES
from spmcompat.tools.export import tokenizer_json
from spmcompat.tools.export.causes import Reference
from spmcompat.tools.export.charsmap_steps import Points
from spmcompat.tools.export.hard_lines import hard_lines
from spmcompat.tools.export.importing import import_tokenizer
from tests.searches import LONG
from tests.unit.tools.export.models import TEXT, train

Rules = dict[Points, Points]

NAMED = ["identity", *NAMES, *OWN_NAMES]
MODEL_TYPES = ("unigram", "bpe", "char")
QUOTES = {(0x201C,): (0x22,), (0x201D,): (0x22,)}
IDENTITY = {(0x41,): (0x41,), (0x20,): (0x20,), (0x4F, 0x301): (0x4F, 0x301)}
# Changes of the rules of nmt_nfkc.
CHANGED: dict[str, Callable[[Rules], Rules]] = {
    "two more": lambda rules: {**rules, **QUOTES},
    "several characters": lambda rules: {**rules, (0x74, 0x68): (0xFE,), (0x301,): ()},
    "no TAB and line break": lambda rules: {
        source: target for source, target in rules.items() if source not in ((0x09,), (0x0A,))
    },
    "half": lambda rules: dict(list(rules.items())[::2]),
}
# Rules of a file. Only sentencepiece 0.2.1 and earlier accept rules that change nothing.
FILES: dict[str, tuple[str, Rules]] = {
    "one character": ("0.2.3", {(0x41,): (0x61,), (0x301,): ()}),
    "private-use characters": (
        "0.2.3",
        {(0xF0000,): (0x41,), (0x10E9F7,): (0x42,), (0x10FFFD, 0x41): (0x10FFFE,)},
    ),
    "a letter becomes itself": ("0.2.1", {(0x41,): (0x41,)}),
    "a space becomes itself": ("0.2.0", {(0x20,): (0x20,)}),
    "a sequence becomes itself": ("0.2.1", {**IDENTITY, (0x301,): ()}),
}


def check(number: int, **options: object) -> None:
    """Check a model of each type; in a short search, of one type, which `number` chooses."""
    types = MODEL_TYPES if LONG else [MODEL_TYPES[number % len(MODEL_TYPES)]]
    for model_type in types:
        model = train(model_type, **options)
        back, limits = import_tokenizer(tokenizer_json.files(model)[""])
        assert not limits
        assert back.pieces == model.pieces
        assert back.trainer_spec.model_type == model.trainer_spec.model_type
        ours, theirs = back.normalizer_spec, model.normalizer_spec
        assert ours.precompiled_charsmap == theirs.precompiled_charsmap
        assert ours.name == theirs.name
        assert back.denormalizer_spec == model.denormalizer_spec
        lines = [*hard_lines(model), *TEXT[:8]]
        assert Reference(back).encode(lines) == Reference(model).encode(lines)


def write(rules: Rules, folder: Path) -> str:
    lines = (
        "\t".join(" ".join(f"{code:X}" for code in text) for text in rule) for rule in rules.items()
    )
    path = folder / "rules.tsv"
    path.write_text("".join(f"{line}\n" for line in lines))
    return str(path)


# In a short search, each name has one release, and each release has two names or more.
NAMES_AND_RELEASES = [
    (name, release)
    for number, name in enumerate(NAMED)
    for place, release in enumerate(RELEASES)
    if LONG or number % len(RELEASES) == place
]


@pytest.mark.parametrize(("name", "release"), NAMES_AND_RELEASES)
def test_named_rules(name: str, release: str) -> None:
    check(NAMED.index(name), normalization_rule_name=name, compat=release)


@pytest.mark.parametrize("change", CHANGED if LONG else ["several characters"])
def test_changed_rules_of_nmt_nfkc(change: str, tmp_path: Path) -> None:
    rules = CHANGED[change](decompile(precompiled("nmt_nfkc", "")))
    number = [*CHANGED].index(change)
    check(number, normalization_rule_tsv=write(rules, tmp_path), compat=DEFAULT.version)


@pytest.mark.parametrize("kind", FILES)
def test_rules_of_a_file(kind: str, tmp_path: Path) -> None:
    release, rules = FILES[kind]
    check([*FILES].index(kind), normalization_rule_tsv=write(rules, tmp_path), compat=release)


def test_rules_that_change_nothing_beside_those_of_nmt_nfkc(tmp_path: Path) -> None:
    rules = {**decompile(precompiled("nmt_nfkc", "")), **IDENTITY}
    check(0, normalization_rule_tsv=write(rules, tmp_path), compat="0.2.0")


def test_symbols_among_rules() -> None:
    """The normalizer protects symbols with placeholders, which are no rules."""
    check(1, user_defined_symbols=["<mask>", "ﬁ", "e\u0301", "x"], compat="0.2.1")
