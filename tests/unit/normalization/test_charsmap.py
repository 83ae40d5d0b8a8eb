"""Charsmaps: the predefined ones, compilation, TSV files, and all errors."""

from __future__ import annotations

import random
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from spmcompat.errors import BadValueError, TrainingError
from spmcompat.normalization import charsmaps
from spmcompat.normalization.charsmaps import Normalizer
from spmcompat.releases import RELEASES, Release
from tests.kinds import raises_kind
from tests.parity import reference_normalizer as reference
from tests.searches import LONG


def outcome(function: Callable[..., Any], *arguments: Any) -> Any:
    try:
        return function(*arguments)
    except Exception as error:
        return error


def assert_same_outcome(ours: Any, theirs: Any) -> None:
    if isinstance(theirs, UnicodeDecodeError):
        # The message of the library quotes bytes that are not UTF-8, so Python cannot show it.
        theirs = RuntimeError()
    if isinstance(theirs, Exception):
        assert isinstance(ours, TrainingError)
        assert isinstance(ours, type(theirs))
        assert isinstance(ours, ValueError) == isinstance(theirs, ValueError)
        assert "\n" not in str(ours)
    else:
        assert ours == theirs


@pytest.mark.parametrize("name", [*charsmaps.NAMES, "identity"])
def test_predefined_charsmaps_are_those_of_the_library(name: str) -> None:
    assert charsmaps.precompiled(name) == reference.precompiled(name)


@pytest.mark.slow
@pytest.mark.parametrize("name", charsmaps.NAMES)
def test_predefined_charsmaps_are_the_same_after_decompiling_and_compiling(name: str) -> None:
    blob = charsmaps.precompiled(name)
    rules = charsmaps.decompile(blob)
    assert rules == reference.decompile(blob)
    assert charsmaps.compile_charsmap(rules) == blob


@pytest.mark.parametrize("name", ["nfkd", "nmt-nfkc", "Foo", "../nfkc", "nfkc\n", "nfkc1"])
def test_unknown_names_are_refused_as_the_library_does(name: str) -> None:
    theirs = outcome(reference.precompiled, name)
    assert isinstance(theirs, Exception)
    assert_same_outcome(outcome(charsmaps.precompiled, name), theirs)


def test_the_message_of_an_unknown_name_lists_the_known_ones() -> None:
    for name in ("nfkd", ""):
        with raises_kind(f"bad-value nmt_nfkc {name}"):
            charsmaps.precompiled(name)


def random_rules(seed: int, count: int, alphabet: str, longest: int) -> dict[Any, Any]:
    rng = random.Random(seed)

    def points(shortest: int) -> tuple[int, ...]:
        return tuple(map(ord, rng.choices(alphabet, k=rng.randint(shortest, longest))))

    rules = {points(1): points(0) for _ in range(count)}
    return {source: target for source, target in rules.items() if source != target}


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize(
    ("count", "alphabet", "longest"),
    [
        (10, "ab", 3),
        (3000, "abcdefghij", 6),
        (5000, "aàáâãäåāăąǎȁḁạảấ\u0300\u0301\u0302", 4),
        (20000, "".join(map(chr, range(0x4E00, 0x9FFF, 7))), 2),
        (5000, "".join(map(chr, [*range(1, 0x300, 5), *range(0x1F600, 0x1F650)])), 5),
    ],
)
def test_large_rule_sets_compile_to_the_bytes_of_the_library(
    seed: int, count: int, alphabet: str, longest: int
) -> None:
    rules = random_rules(seed, count, alphabet, longest)
    blob = charsmaps.compile_charsmap(rules)
    assert blob == reference.compile_charsmap(rules)
    assert charsmaps.decompile(blob) == rules


@pytest.mark.parametrize("size", [1, 255, 256, 300, 1000])
def test_long_keys_compile_to_the_bytes_of_the_library(size: int) -> None:
    rules = {(0x61,) * size: (0x62,), (0x61,) * (size - 1) + (0x63,): ()}
    assert charsmaps.compile_charsmap(rules) == reference.compile_charsmap(rules)


@pytest.mark.parametrize("depth", [30, 31, 32, 33, 70])
def test_the_number_of_sources_that_are_prefixes_is_limited(depth: int, tmp_path: Path) -> None:
    rules = {(0x61,) * size: (0x62,) for size in range(1, depth + 1)}
    ours = outcome(charsmaps.compile_charsmap, rules)
    assert_same_outcome(ours, outcome(reference.compile_charsmap, rules))
    if depth >= 32:
        assert "The number of shared prefix must be less than 32" in str(ours)


@pytest.mark.parametrize(
    ("rules", "error", "message"),
    [
        ({}, TrainingError, "bad-rules"),
        ({(): (0x61,)}, BadValueError, "bad-value"),
        ({(): ()}, BadValueError, "bad-value"),
        ({(0x61,): (0x61,)}, BadValueError, "bad-value"),
        ({(0xD800,): (0x61,)}, TrainingError, "bad-rules"),
        ({(0x61,): (0xDFFF,)}, TrainingError, "bad-rules"),
        ({(0, 0x61): (0x62,)}, TrainingError, "bad-rules"),
        ({(-1,): (0x62,)}, BadValueError, "bad-value"),
        ({(0x61,): (1 << 32,)}, BadValueError, "bad-value"),
    ],
)
def test_rules_that_cannot_be_compiled(rules: Any, error: type[Exception], message: str) -> None:
    with raises_kind(message):
        charsmaps.compile_charsmap(rules)


FILES = [
    b"",
    b"\n",
    b"41\t42\n",
    b"41\t42",
    b"41\t42\n\n",
    b"41\n",
    b"41",
    b"41\r\n",
    b"41\t42\r\n",
    b"41\t\r\n",
    b"41 42\t\t\n",
    b"41\t42\t# A => B\n",
    b"\t41\n",
    b" \t41\n",
    b" 41  42 \t 43 \n",
    b"41\t41\n",
    b"zz\t41\n",
    b"41\tzz\n",
    b"0\t41\n",
    b"0 41\t42\n",
    b"41 0 42\t43\n",
    b"41 0 42\t43\n41\t44\n",
    b"41 0\t43\n41 0 42\t44\n41 1\t45\n",
    b"41\t0\n",
    b"41\t0 42\n",
    b"41\t42 0\n",
    b"D800\t41\n",
    b"41\tDFFF\n",
    b"110000\t41\n",
    b"41\t110000\n",
    b"FFFFFFFF\t41\n",
    b"110000\t41\nFFFD\t42\n",
    b"110000\t43\nFFFD\t42\n120000\t41\n",
    b"100000000\t41\n",
    b"00000000000000041\t42\n",
    b"U+41\t43\n",
    b"u+41\t43\n",
    b"U+U+41\t43\n",
    b"U+0x41\t43\n",
    b"0x41\t0X43\n",
    b"0x\t41\n",
    b"U+\t41\n",
    b"+41\t43\n",
    b"U++41\t43\n",
    b"+0x41\t43\n",
    b"0x+41\t43\n",
    b"-41\t43\n",
    b"-0\t43\n",
    b"+\t43\n",
    b"\x0b41\x0c\t43\n",
    b"\x0bU+41\t43\n",
    b"U+\x0b41\t43\n",
    b"41\x00\t43\n",
    b"\x1c41\t43\n",
    b"4_1\t43\n",
    b"\xef\xbb\xbf41\t43\n",
    b"\xd9\xa1\t43\n",
    b"\xff\t43\n",
    b"41\t42\n41\t43\n",
    b"41\t42\n41 41\t43\n41\t44\n",
    b"41\t42\nzz\t41\n",
]


@pytest.mark.parametrize("content", FILES)
def test_files_are_read_as_the_library_reads_them(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "rules.tsv"
    path.write_bytes(content)
    assert_same_outcome(
        outcome(lambda: charsmaps.compile_charsmap(charsmaps.load_rules(str(path)))),
        outcome(reference.compile_file, str(path)),
    )


def test_the_message_of_a_bad_line_names_the_file_and_the_line(tmp_path: Path) -> None:
    path = tmp_path / "rules.tsv"
    path.write_bytes(b"41\t42\n43\tzz\n")
    with raises_kind("bad-rules rules.tsv zz"):
        charsmaps.load_rules(str(path))
    path.write_bytes(b"41\t42\n43\t44\n\t45\n")
    with raises_kind("bad-rules rules.tsv"):
        charsmaps.load_rules(str(path))


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    missing = str(tmp_path / "missing.tsv")
    with raises_kind("cannot-read missing.tsv No such file or directory"):
        charsmaps.load_rules(missing)
    with raises_kind("cannot-read"):
        charsmaps.load_rules(str(tmp_path))
    with raises_kind("impossible-path"):
        charsmaps.load_rules("a\0b")
    assert_same_outcome(
        outcome(charsmaps.load_rules, missing), outcome(reference.compile_file, missing)
    )


def broken_charsmaps() -> dict[str, bytes]:
    good = charsmaps.compile_charsmap({(0x61,): (0x62,), (0x61, 0x63): ()})
    size = struct.unpack("<I", good[:4])[0]
    units, targets = good[4 : 4 + size], good[4 + size :]

    def with_unit(index: int, value: int) -> bytes:
        changed = struct.pack("<I", value)
        return good[:4] + units[: 4 * index] + changed + units[4 * index + 4 :] + targets

    return {
        "too short": good[:4],
        "array longer than the blob": struct.pack("<I", len(good)) + good[4:],
        "array as long as the blob": struct.pack("<I", len(good) - 4) + good[4:],
        "no array": struct.pack("<I", 0) + good[4:],
        "array too small": struct.pack("<I", 512) + good[4:],
        "no whole blocks": struct.pack("<I", size + 4) + good[4:] + b"\0" * 8,
        "targets not closed": good[:-1] + b"x",
        "root with a label": with_unit(0, struct.unpack("<I", units[:4])[0] | 1),
        "root with a value": with_unit(0, struct.unpack("<I", units[:4])[0] | 0x100),
        "root without a base": with_unit(0, 0),
        "root base outside": with_unit(0, 300 << 10),
        "a base outside": with_unit(200, 1000 << 10),
        "a value outside": with_unit(200, 1 << 31 | len(targets)),
        "a value missing": with_unit(200, 0x100 | 201),
    }


@pytest.mark.parametrize("kind", broken_charsmaps())
def test_broken_charsmaps_are_refused_as_the_library_does(kind: str) -> None:
    blob = broken_charsmaps()[kind]
    theirs = outcome(reference.validate, blob)
    assert isinstance(theirs, RuntimeError)
    ours = outcome(Normalizer, blob)
    assert_same_outcome(ours, theirs)
    sentence = str(theirs).removeprefix("INTERNAL: ")
    assert str(ours).startswith(sentence)
    assert isinstance(outcome(charsmaps.decompile, blob), TrainingError)


def test_complete_charsmaps_are_valid() -> None:
    Normalizer(b"")
    for name in charsmaps.NAMES:
        Normalizer(charsmaps.precompiled(name))
    assert charsmaps.decompile(b"") == {}


def test_a_charsmap_with_a_cycle_is_refused_when_decompiled() -> None:
    # The arc 'a' leads from the root to a state with the same base, that is, back to the root.
    units = [0] * 256
    units[0] = 1 << 10
    units[1 ^ 0x61] = 0x61 | ((1 ^ 0x61 ^ 1) << 10)
    blob = struct.pack("<257I", 1024, *units) + b"\0"
    Normalizer(blob)
    with raises_kind("bad-rules"):
        charsmaps.decompile(blob)


def crafted(arcs: dict[int, dict[int, int]], keys: dict[int, int], targets: bytes = b"\0") -> bytes:
    """Return a charsmap that no compilation produces.

    `arcs` maps the base of each state to its arcs, from label to base; the first state is the root.
    `keys` maps the states that end a source to the offsets of their targets. Bases are multiples of
    256.
    """
    size = (max(arcs) // 256 + 1) * 256
    # A lookup goes from a state to the unit with the index base ^ label, and fails if that unit has
    # another label. At first, every unit has a wrong label, so no state has an arc.
    units = [unit & 0xFF ^ 1 for unit in range(size)]
    units[0] = next(iter(arcs)) << 10
    for base, ways in arcs.items():
        for label, to in ways.items():
            unit = base ^ label
            units[unit] = label | (unit ^ to) << 10 | (0x100 if to in keys else 0)
    for base, offset in keys.items():
        units[base] = 1 << 31 | offset
    return struct.pack(f"<{size + 1}I", 4 * size, *units) + targets


def doubling(depth: int, *, ends: bool = True) -> bytes:
    """Return a charsmap with 2**depth rules: every state has two arcs to the next one."""
    last = 256 * (depth + 1)
    arcs = {256 * i: {0x61: 256 * (i + 1), 0x62: 256 * (i + 1)} for i in range(1, depth + 1)}
    return crafted({**arcs, last: {}}, {last: 0} if ends else {}, b"x\0")


def test_states_that_rules_share_are_decompiled() -> None:
    rules = charsmaps.decompile(doubling(10))
    assert len(rules) == 1024
    assert rules[(0x61, 0x62) * 5] == (0x78,)


@pytest.mark.parametrize("depth", [21, 39, 64, 65, 1000])
def test_exponentially_many_rules_are_refused(depth: int) -> None:
    blob = doubling(depth)
    Normalizer(blob)
    with raises_kind("bad-rules 1,048,576"):
        charsmaps.decompile(blob)


@pytest.mark.parametrize("depth", [39, 999])
def test_exponentially_many_paths_that_end_no_rule_are_not_followed(depth: int) -> None:
    assert charsmaps.decompile(doubling(depth, ends=False)) == {}


def test_malformed_sources_that_are_read_alike_hide_no_other_rule() -> None:
    """C0 A9 and C1 A9 are malformed. The rule of C3 A9 has the same state as that of C1 A9."""
    arcs = {256: {0xC0: 512, 0xC1: 768, 0xC3: 768}, 512: {0xA9: 1024}, 768: {0xA9: 1280}}
    blob = crafted({**arcs, 1024: {}, 1280: {}}, {1024: 0, 1280: 0})
    assert (0xE9,) in charsmaps.decompile(blob)


def test_the_sum_of_overlapping_targets_is_bounded() -> None:
    targets = b"x" * (1 << 20) + b"\0"
    arcs = {256: {0x61 + i: 512 + 256 * i for i in range(20)}}
    keys = {512 + 256 * i: i for i in range(20)}
    blob = crafted({**arcs, **{base: {} for base in keys}}, keys, targets)
    Normalizer(blob)
    with raises_kind("bad-rules 16"):
        charsmaps.decompile(blob)


@pytest.mark.parametrize("back", range(3))
def test_an_arc_to_an_earlier_state_is_refused(back: int) -> None:
    """The arc leads back to the state where it begins, or to one of the two states before it."""
    arcs = {256 * i: {0x61: 256 * (i + 1)} for i in range(1, 4)}
    arcs[1024] = {0x61: 1024 - 256 * back, 0x62: 1280}
    blob = crafted({**arcs, 1280: {}}, {1280: 0})
    Normalizer(blob)
    with raises_kind("bad-rules"):
        charsmaps.decompile(blob)


def test_the_longest_source_that_is_decompiled() -> None:
    rules = {(0x61,) * 1000: (0x62,), (0x63,): (0x64,)}
    assert charsmaps.decompile(charsmaps.compile_charsmap(rules)) == rules
    longer = charsmaps.compile_charsmap({(0x61,) * 1001: (0x62,)})
    with raises_kind("bad-rules 1000"):
        charsmaps.decompile(longer)


def test_a_long_path_to_a_known_state_is_refused() -> None:
    # A state from which a path of 600 arcs begins can be reached from the root in two ways: by one
    # arc, and by another path of 601 arcs.
    size = 600
    arcs = {256 * i: {0x61: 256 * (i + 1)} for i in range(2, 2 * size + 2)}
    arcs = {256: {0x61: 256 * (size + 2), 0x62: 512}, **arcs, 256 * (2 * size + 2): {}}
    blob = crafted(arcs, {256 * (2 * size + 2): 0})
    Normalizer(blob)
    with raises_kind("bad-rules 1000"):
        charsmaps.decompile(blob)


# The test above has the charsmaps of the newest release, which lack no rules.
EARLIER = [release for release in RELEASES.values() if release.characters_without_rules]


@pytest.mark.slow
@pytest.mark.parametrize("release", EARLIER if LONG else EARLIER[:1], ids=lambda one: one.version)
@pytest.mark.parametrize("name", charsmaps.NAMES)
def test_predefined_charsmaps_of_earlier_releases_are_decompiled(
    name: str, release: Release
) -> None:
    blob = charsmaps.precompiled(name, release.characters_without_rules)
    rules = charsmaps.decompile(blob)
    assert len(rules) > 5000
    assert charsmaps.compile_charsmap(rules) == blob
