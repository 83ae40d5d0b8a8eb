"""Reads gold lists of segmented words in their published formats.

The format is recognized by the content of the file.
"""

from __future__ import annotations

import csv
import itertools
import os
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from io import TextIOWrapper
from os import PathLike
from typing import NamedTuple, TextIO, TypeAlias

from spmcompat.errors import BadValueError, NotUtf8Error, UsageError
from spmcompat.runtime.inputs import open_file
from spmcompat.tools.evaluate.gold import GoldWord


class WordListError(BadValueError):
    """A list of words, morphs or affixes is not valid."""

    kind = "bad-word-list"


# Why a row is left out. A message puts these words after a number and "rows".
_REPEATED = "with a word of an earlier row"
_EMPTY = "with an empty part"
_NOT_JOINED = "with parts that do not join to the word"
_WHITE_SPACE = "with white space in the word"
_DIGIT = "with a digit in the word"
_NOT_UNIQUE = "not marked as unique"
_OTHER_STEM = "with a stem other than the lemma"
_OTHER_PARSE = "not marked as the correct parse"
_NO_AFFIX = "with neither a prefix nor a suffix"
_ELSEWHERE = "with an affix that is not at that end of the word"
_UNREADABLE = "with a segmentation that cannot be read"
_NO_BASE = "with a base that is not in the word"
_SEVERAL_BASES = "with a base that occurs several times in the word"
_OTHER_AFFIXES = "with other affixes"

# The subsets of a list: words whose affixes are all prefixes, and words whose affixes are all
# suffixes.
SUBSETS = ("prefixes", "suffixes")

# A part of a segmentation in MorphoLex: a prefix, a root, a suffix, or a bracket around a stem.
_MORPH = re.compile(r"<([^<>(){}]+)<|\(([^<>(){}]+)\)|>([^<>(){}]+)>|[{}]")
_ROOT = 2  # the group of _MORPH that matches a root; group 1 matches a prefix, group 3 a suffix

# The values of the column correctParse that mark a correct parse.
_YES = ("yes", "1", "1.0", "true")
_BARS = "|||"  # separates the fields of a line in a list of DagoBERT
_SHOWN = 60  # the number of characters of a line that an error message shows
_LONGEST_LINE = 1 << 16  # characters

# A word, or the reason why its row is left out.
_Found: TypeAlias = "GoldWord | str"
_Row: TypeAlias = "Mapping[str, str]"
_Reader: TypeAlias = "Callable[[Sequence[str], str], Iterator[_Found]]"


class GoldList(NamedTuple):
    """A gold list.

    Attributes
    ----------
    name : str
        The name of the file, or the whole path if another list has the same file name.
    words : tuple of GoldWord
        The distinct words.
    left_out : dict of str to int
        For each reason to leave out rows, the number of these rows.
    format : str
        The name of the format of the file.
    """

    name: str
    words: tuple[GoldWord, ...]
    left_out: Mapping[str, int]
    format: str = ""

    @property
    def summary(self) -> str:
        """One line that states the number of words, and how many rows are left out."""
        words = f"{self.name}: {_number(len(self.words), 'word')}"
        return f"{words}; left out: {_reasons(self.left_out)}" if self.left_out else words


def read_gold_lists(paths: Sequence[str]) -> list[GoldList]:
    """Read several gold lists, and give each a unique name.

    Parameters
    ----------
    paths : sequence of str
        Paths of the lists. After a path, ``:prefixes`` or ``:suffixes`` selects the words with one
        stem whose affixes are all prefixes, or all suffixes.

    Raises
    ------
    UsageError
        If a list or a subset is named twice.
    BadValueError
        If a file has an unknown or a broken format, or if a subset is empty.
    MissingFileError
        If a file cannot be read.
    """
    for path, count in Counter(paths).items():
        if count > 1:
            raise UsageError(f"--gold names {path} twice. Name each list once.")
    names = Counter(os.path.basename(path) for path in paths)
    lists = [_subset(read_gold(path), subset) for path, subset in map(split_subset, paths)]
    return [
        found._replace(name=path) if names[found.name] > 1 else found
        for path, found in zip(paths, lists, strict=True)
    ]


def split_subset(name: str) -> tuple[str, str]:
    """Split a name into the path of a list and the subset after a colon; "" for no subset."""
    path, _, subset = name.rpartition(":")
    return (path, subset) if path and subset in SUBSETS else (name, "")


def _subset(found: GoldList, subset: str) -> GoldList:
    if not subset:
        return found
    if all(word.stem is None for word in found.words):
        raise WordListError(
            f"{found.name} does not state the stems of its words, so it has no subset {subset!r}. "
            "Use a list of MorphoLex, DagoBERT, MorphScore (version 2) or derivations of MorphyNet."
        )
    words = tuple(word for word in found.words if word.affixes == subset)
    if not words:
        raise WordListError(f"{found.name} contains no words with only {subset}.")
    left_out = {**found.left_out, _OTHER_AFFIXES: len(found.words) - len(words)}
    left_out = {reason: count for reason, count in left_out.items() if count}
    return found._replace(name=f"{found.name}:{subset}", words=words, left_out=left_out)


def read_gold(path: str | PathLike[str]) -> GoldList:
    """Read a gold list in one of these formats.

    - Lines of ``word<TAB>morph morph ...``.
    - MorphScore, version 1: CSV with the columns ``full_word``, ``pt1`` and ``rest``.
    - MorphScore, version 2: CSV or TSV with the columns ``stem``, ``lemma``, ``preceding_part``,
      ``following_part`` and ``wordform``. Rows that the published code does not use by default are
      left out.
    - LADEC: CSV with the columns ``c1``, ``c2``, ``stim`` and ``correctParse``.
    - MorphyNet, derivational: rows of source word, target word, their parts of speech, affix, and
      ``prefix`` or ``suffix``.
    - MorphyNet, inflectional: rows of lemma, form, features, and morphs with ``|`` between them.
    - MorphoLex: a sheet of the workbook as CSV or TSV, with the columns ``Word`` and
      ``MorphoLexSegm``, as in ``{(love)}>ly>``.
    - DagoBERT: lines of subreddit, derivative, base, and three parts of a text, with ``|||``
      between them. The boundaries are around the base.

    If several rows have the same word, only the first one counts. The derivational lists of
    MorphyNet are an exception: there, each row states one boundary, and a word gets the boundaries
    of all its rows.

    Raises
    ------
    BadValueError
        If the format is unknown, if a line does not have the format, or if no word is left.
    MissingFileError
        If the file cannot be read.
    """
    try:
        with (
            open_file(path, "Check --gold") as file,
            TextIOWrapper(file, "utf-8-sig", newline="") as text,
        ):
            return _gold_list(_lines(text, str(path)), str(path))
    except UnicodeDecodeError as error:
        raise NotUtf8Error(
            f"{path} is not UTF-8: {error.reason}. Save a table as CSV in UTF-8."
        ) from None


def _lines(file: TextIO, path: str) -> list[str]:
    lines: list[str] = []
    while line := file.readline(_LONGEST_LINE):
        if len(line) == _LONGEST_LINE:
            raise WordListError(
                f"{path}:{len(lines) + 1} has {_LONGEST_LINE:,} characters or more. A line has one "
                "word and its parts."
            )
        lines.append(line)
    return lines


def _gold_list(lines: Sequence[str], path: str) -> GoldList:
    first = next((i for i, line in enumerate(lines) if line.strip()), None)
    if first is None:
        raise WordListError(
            f"{path} contains no words. Write a word, a tab and its morphs on each line."
        )
    form, read = _reader(lines[first], f"{path}:{first + 1}")
    words: dict[str, GoldWord] = {}
    left_out: Counter[str] = Counter()
    for found in read(lines, path):
        if isinstance(found, str):
            left_out[found] += 1
        elif found.text not in words:
            words[found.text] = found
        elif read is _morphynet_derivational:
            words[found.text] = _united(words[found.text], found)
        else:
            left_out[_REPEATED] += 1
    if not words:
        only = f" to count, only {_reasons(left_out)}" if left_out else " below its header"
        raise WordListError(f"{path} contains no words{only}.")
    return GoldList(os.path.basename(path), tuple(words.values()), dict(left_out), form)


def _united(first: GoldWord, second: GoldWord) -> GoldWord:
    """Unite two derivations of a word: all boundaries, and as the stem the overlap of the stems."""
    begin, end = zip(first.stem or (0, 0), second.stem or (0, 0), strict=True)
    stem = (max(begin), min(end))
    return GoldWord(
        first.text, first.boundaries | second.boundaries, stem if stem[0] < stem[1] else None
    )


def _reader(line: str, source: str) -> tuple[str, _Reader]:
    """Return the name of the format of a file that begins with this line, and its reader."""
    for columns, (form, convert) in _TABLES.items():
        for delimiter in ",\t":
            if set(columns) <= set(_split(line, delimiter)):
                return form, _table_reader(columns, convert, delimiter)
    word, *fields = line.rstrip("\r\n").split("\t")
    is_ours = "".join("".join(fields).split()) == word
    if not is_ours and line.count(_BARS) == 5:
        return "DagoBERT", _dagobert
    if len(fields) == 5 and not is_ours:
        return "MorphyNet", _morphynet_derivational
    if len(fields) == 3 and not is_ours:
        return "MorphyNet, inflectional", _morphynet_inflectional
    if fields:
        return "ours", _ours
    raise WordListError(
        f"{source}: expected a word, a tab and the word's morphs, or a list of MorphScore, LADEC, "
        f"MorphyNet, MorphoLex or DagoBERT, found {_shown(line)}."
    )


def _split(line: str, delimiter: str) -> list[str]:
    try:
        return next(csv.reader([line], delimiter=delimiter))
    except csv.Error:
        return []


def _ours(lines: Sequence[str], path: str) -> Iterator[_Found]:
    for number, line in enumerate(lines, 1):
        word, _, morphs = line.rstrip("\r\n").partition("\t")
        parts = morphs.split()
        if not line.strip():
            continue
        if not word or not parts:
            raise WordListError(
                f"{path}:{number}: expected a word, a tab and the word's morphs, found "
                f"{_shown(line)}."
            )
        if "".join(parts) != word:
            raise WordListError(
                f"{path}:{number}: the morphs {morphs!r} are not the parts of the word {word!r}."
            )
        yield _word(word, parts)


def _morphynet_derivational(lines: Sequence[str], path: str) -> Iterator[_Found]:
    for _, word, _, _, affix, kind in _fields(lines, path, 6):
        if kind not in ("prefix", "suffix"):
            yield _NO_AFFIX
            continue
        cut = len(affix) if kind == "prefix" else len(word) - len(affix)
        end = word[:cut] if kind == "prefix" else word[cut:]
        # Upper and lower case are ignored: a German noun with a prefix begins with a capital
        # letter, but MorphyNet writes all affixes in lower case.
        if 0 < cut < len(word) and _equal(end, affix):
            yield _stemmed(
                word,
                (word[:cut], word[cut:], "") if kind == "prefix" else ("", word[:cut], word[cut:]),
            )
        else:
            yield _ELSEWHERE


def _morphynet_inflectional(lines: Sequence[str], path: str) -> Iterator[_Found]:
    for _, word, _, morphs in _fields(lines, path, 4):
        yield _joined(word, morphs.split("|"))


def _dagobert(lines: Sequence[str], path: str) -> Iterator[_Found]:
    for _, word, base, *_ in _fields(lines, path, 6, _BARS):
        before, _, after = word.partition(base) if base else ("", "", "")
        if not base or base not in word:
            yield _NO_BASE
        elif base in word[len(before) + 1 :]:
            yield _SEVERAL_BASES
        else:
            yield _stemmed(word, (before, base, after))


def _fields(
    lines: Sequence[str], path: str, count: int, separator: str = "\t"
) -> Iterator[list[str]]:
    between = "tabs" if separator == "\t" else separator
    for number, line in enumerate(lines, 1):
        fields = line.rstrip("\r\n").split(separator)
        if len(fields) == count:
            yield fields
        elif line.strip():
            raise WordListError(
                f"{path}:{number}: expected {count} fields with {between} between them, as in the "
                f"lines above, found {_shown(line)}."
            )


def _table_reader(
    columns: Sequence[str], convert: Callable[[_Row], _Found], delimiter: str
) -> _Reader:
    def read(lines: Sequence[str], path: str) -> Iterator[_Found]:
        rows = _rows(lines, path, delimiter)
        _, header = next(rows)
        languages = set()
        for number, fields in rows:
            row = dict(zip(header, fields, strict=False))
            if len(fields) > len(header) or any(column not in row for column in columns):
                raise WordListError(
                    f"{path}:{number}: expected the columns {', '.join(columns)} as in the header, "
                    f"found {_shown(lines[number - 1])}."
                )
            languages.add(row.get("language"))
            if len(languages) > 1:
                raise WordListError(
                    f"{path}:{number}: expected words of one language, found "
                    f"{' and '.join(sorted(map(str, languages)))}. Keep the rows of one language."
                )
            yield convert(row)

    return read


def _rows(lines: Sequence[str], path: str, delimiter: str) -> Iterator[tuple[int, list[str]]]:
    """For each row that is not blank, yield the number of its last line, and its fields."""
    table = csv.reader(lines, delimiter=delimiter, strict=True)
    try:
        for fields in table:
            if any(fields):
                yield table.line_num, fields
    except csv.Error as error:
        raise WordListError(
            f"{path}:{table.line_num}: the row does not match the header: {error}."
        ) from error


def _morphscore_1(row: _Row) -> _Found:
    parts = (row["pt1"], row["rest"])
    return _joined(row["full_word"], parts) if all(parts) else _EMPTY


def _morphscore_2(row: _Row) -> _Found:
    word = row["wordform"]
    if row.get("unique", "unique") != "unique":
        return _NOT_UNIQUE
    if row["stem"] != row["lemma"]:
        return _OTHER_STEM
    if any(character.isdecimal() for character in word):
        return _DIGIT
    return _stemmed(word, (row["preceding_part"], row["stem"], row["following_part"]))


def _ladec(row: _Row) -> _Found:
    parts = (row["c1"], row["c2"])
    if row["correctParse"].strip().lower() not in _YES:
        return _OTHER_PARSE
    return _joined(row["stim"], parts) if all(parts) else _EMPTY


def _morpholex(row: _Row) -> _Found:
    segmentation = row["MorphoLexSegm"].strip()
    matches = list(_MORPH.finditer(segmentation))
    morphs = [(match.lastindex, match[match.lastindex]) for match in matches if match.lastindex]
    if not morphs or "".join(match[0] for match in matches) != segmentation:
        return _UNREADABLE
    kinds = [kind for kind, _ in morphs]
    texts = [text for _, text in morphs]
    found = _joined(row["Word"], texts)
    if kinds.count(_ROOT) != 1 or kinds != sorted(kinds):
        return found
    root = kinds.index(_ROOT)
    begin = len("".join(texts[:root]))
    return _with_stem(found, begin, begin + len(texts[root]))


# The columns that identify the format of a table, the name of the format, and the function that
# reads a row.
_TABLES: Mapping[tuple[str, ...], tuple[str, Callable[[_Row], _Found]]] = {
    ("full_word", "pt1", "rest"): ("MorphScore", _morphscore_1),
    ("stem", "lemma", "preceding_part", "following_part", "wordform"): (
        "MorphScore",
        _morphscore_2,
    ),
    ("c1", "c2", "stim", "correctParse"): ("LADEC", _ladec),
    ("Word", "MorphoLexSegm"): ("MorphoLex", _morpholex),
}


def _joined(word: str, parts: Sequence[str]) -> _Found:
    """Return the word with its boundaries, or the reason why its row is left out."""
    if any(character.isspace() for character in word):
        return _WHITE_SPACE
    parts = [part for part in parts if part]
    return _word(word, parts) if word and _equal("".join(parts), word) else _NOT_JOINED


def _stemmed(word: str, parts: tuple[str, str, str]) -> _Found:
    """Return the word with boundaries between its parts. The second part is the stem."""
    before, stem, _ = parts
    return _with_stem(_joined(word, parts), len(before), len(before) + len(stem))


def _with_stem(found: _Found, begin: int, end: int) -> _Found:
    return found if isinstance(found, str) else found._replace(stem=(begin, end))


def _word(word: str, parts: Sequence[str]) -> GoldWord:
    return GoldWord(word, frozenset(itertools.accumulate(map(len, parts[:-1]))))


def _equal(first: str, second: str) -> bool:
    """Return whether two texts are equal, ignoring upper and lower case."""
    return len(first) == len(second) and first.casefold() == second.casefold()


def _reasons(left_out: Mapping[str, int]) -> str:
    return ", ".join(f"{_number(count, 'row')} {reason}" for reason, count in left_out.items())


def _number(count: int, noun: str) -> str:
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def _shown(line: str) -> str:
    text = line.rstrip("\r\n")
    return repr(text if len(text) <= _SHOWN else f"{text[:_SHOWN]}...")
