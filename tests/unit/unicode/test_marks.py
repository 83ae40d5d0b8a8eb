"""The space mark, the unknown mark and the boundary mark are each defined in only one place."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from spmcompat.unicode.marks import CASE_MARK, SPACE_MARK, UNKNOWN_MARK

# The folder of the checkout: an installed package does not contain the C++ sources.
PACKAGE = Path(__file__).resolve().parents[3] / "spmcompat"
pytestmark = pytest.mark.skipif(not PACKAGE.is_dir(), reason="needs the C++ sources")

SOURCES = {".py", ".pyx", ".pxd", ".pyi", ".hpp"}
GENERATED = {"model/sentencepiece_model_pb2.py", "model/sentencepiece_model_pb2.pyi"}

# The patterns allow U+2581 in comments, and 0x1f as a bit mask in bits(0, 0x1f).
SPACE_OR_UNKNOWN = re.compile(r"▁|▅|(0x|\\u|\\U0000)258[15]\b|(?i:\\xe2\\x96\\x8[15])")
BOUNDARY = re.compile(r"(?<!bits\(0, )0x1f\b|\\x1f|\\u001f|\\037", re.IGNORECASE)


def _files_that_spell(pattern: re.Pattern[str]) -> Iterator[str]:
    for path in sorted(PACKAGE.rglob("*")):
        name = path.relative_to(PACKAGE).as_posix()
        if path.suffix in SOURCES and name not in GENERATED and pattern.search(path.read_text()):
            yield name


def _header() -> str:
    return (PACKAGE / "unicode" / "marks.hpp").read_text()


@pytest.mark.parametrize(("name", "mark"), [("Space", SPACE_MARK), ("Unknown", UNKNOWN_MARK)])
def test_the_header_and_the_module_agree(name: str, mark: str) -> None:
    utf8 = "".join(f"\\x{byte:02x}" for byte in mark.encode())
    header = _header()
    assert f"constexpr char32_t k{name}Mark = 0x{ord(mark):x};" in header
    assert f'constexpr std::string_view k{name}Utf8 = "{utf8}";' in header


def test_the_header_and_the_module_agree_on_the_case_mark() -> None:
    assert f"constexpr char32_t kCaseMark = 0x{ord(CASE_MARK):x};" in _header()


def test_nothing_else_spells_the_space_mark_and_the_unknown_mark() -> None:
    _header()
    assert [*_files_that_spell(SPACE_OR_UNKNOWN)] == ["unicode/marks.hpp", "unicode/marks.py"]


def test_only_the_facts_of_the_releases_spell_the_boundary_mark() -> None:
    assert [*_files_that_spell(BOUNDARY)] == ["releases.py"]
