"""Compiles charsmaps, loads rules from TSV files and predefined charsmaps, and normalizes text.

The C++ code is in ``charsmap.hpp`` and ``normalizer.hpp``. This module reads files, and converts
C++ exceptions to exceptions of the package. Training uses the C++ classes directly.
"""

import contextlib
import functools
import os
import re

from cython cimport final
from cython.operator cimport dereference, preincrement
from libc.stdint cimport UINT32_MAX, uint32_t
from libcpp cimport bool as cbool
from libcpp.map cimport map as cpp_map
from libcpp.memory cimport unique_ptr
from libcpp.set cimport set as cpp_set
from libcpp.string cimport string
from libcpp.string_view cimport string_view
from libcpp.vector cimport vector

from spmcompat.errors import BadRulesError, BadValueError, UnknownRulesError
from spmcompat.normalization.rules import MARK_CASE, NAMES, OWN_NAMES
from spmcompat.releases import DEFAULT
from spmcompat.runtime.inputs import open_file


ctypedef vector[uint32_t] Chars
ctypedef cpp_map[Chars, Chars] Rules


cdef extern from "spmcompat/normalization/charsmap.hpp" namespace "spmcompat" nogil:
    string cpp_compile "spmcompat::compile_charsmap"(
        const Rules& rules, cbool change_something) except +
    string cpp_without "spmcompat::without_characters"(
        string_view blob, const cpp_set[uint32_t]& characters) except +
    Rules cpp_decompile "spmcompat::decompile_charsmap"(string_view blob) except +
    cbool cpp_any_source_has_space "spmcompat::any_source_has_space"(string_view blob) except +
    void cpp_check "spmcompat::parse_charsmap"(string_view blob) except +


cdef extern from "spmcompat/normalization/derived_rules.hpp" namespace "spmcompat" nogil:
    string cpp_without_accents "spmcompat::without_accents"(
        string_view blob, const cpp_set[uint32_t]& accents) except +

    cdef cppclass CaseMarking:
        string marking
        string restoring

    CaseMarking cpp_mark_case "spmcompat::mark_case"(
        string_view blob, string_view folding, const cpp_set[uint32_t]& not_capitals) except +


# The nonspacing marks (Mn) of the Unicode blocks of combining marks, and of the Cyrillic, Coptic,
# Hebrew, Arabic and Syriac blocks. In these scripts, a text without such marks is still readable.
# In other scripts, such as Devanagari, Thai and Kana, nonspacing marks write vowels and consonants.
# U+0338 is not included, because it negates signs: without it, ≠ would become =. Some of the
# characters in the ranges are not assigned in older versions of Unicode.
_ACCENTS = (
    "300-337 339-36F 483-487 591-5BD 5BF 5C1-5C2 5C4-5C5 5C7 610-61A 64B-65F 670 6D6-6DC 6DF-6E4 "
    "6E7-6E8 6EA-6ED 711 730-74A 897-89F 8CA-8E1 8E3-8FF 1AB0-1ABD 1ABF-1AFF 1DC0-1DFF 2CEF-2CF1 "
    "2DE0-2DFF A66F A674-A67D A69E-A69F FB1E FE20-FE2F 10EFA-10EFF 1E08F"
)

# Characters that case folding changes to a single character although they are not capitals: the
# small letters of Cherokee, the iota subscript, the final sigma and variants of Cyrillic letters.
_NOT_CAPITALS = "345 3C2 13F8-13FD 1C80-1C8A AB70-ABBF"

_CODE_POINT = re.compile(rb"(?:U\+)?\s*\+?(?:0[xX])?([0-9A-Fa-f]+)\s*")
_STREAMED_CODE_POINT = re.compile(rb"(?:U\+)?\s*\+?(?:0[xX])?([0-9A-Fa-f]+)")


@contextlib.contextmanager
def _as_own_errors():
    """Convert the errors of the C++ code to errors of the package."""
    try:
        yield
    except OverflowError:
        raise BadValueError(
            "A normalization rule contains a number that is not a code point: give numbers from 0 "
            "to 0x10FFFF."
        ) from None
    except ValueError as error:
        raise BadValueError(str(error)) from None
    except RuntimeError as error:
        raise BadRulesError(str(error)) from None


def compile_charsmap(rules, *, bint change_something=True):
    """Compile rules to the bytes that a model stores as ``precompiled_charsmap``.

    Parameters
    ----------
    rules : Mapping[tuple[int, ...], tuple[int, ...]]
        Maps the code points of each source to those of its target, which may be empty. Numbers
        above U+10FFFF count as U+FFFD.
    change_something : bool
        Whether it is an error if the source of a rule is empty or equals its target.

    Returns
    -------
    bytes
        The same bytes as from ``Builder::CompileCharsMap`` of sentencepiece.

    Raises
    ------
    BadValueError
        With `change_something`: a source is empty or equals its target. In any case: a number is
        below 0 or above 2**32 - 1.
    TrainingError
        There are no rules; a rule contains a surrogate; a source begins with U+0000; or 32 or more
        sources are prefixes of one source.
    """
    cdef Rules cpp_rules
    with _as_own_errors():
        for source, target in rules.items():
            cpp_rules[<Chars>source] = <Chars>target
        return <bytes>cpp_compile(cpp_rules, change_something)


def decompile(blob):
    """Return the rules of a compiled charsmap. This is the inverse of `compile_charsmap`.

    Parameters
    ----------
    blob : bytes
        A compiled charsmap. Empty bytes mean no rules.

    Returns
    -------
    dict[tuple[int, ...], tuple[int, ...]]
        Maps the code points of each source to those of its target.

    Raises
    ------
    TrainingError
        The charsmap is broken; its arcs form a cycle; a source has more than 1000 bytes; or there
        are more than 2**20 rules, or more than 16 MiB of rules.
    """
    cdef bytes text = blob
    cdef Rules rules
    with _as_own_errors():
        rules = cpp_decompile(text)
    result = {}
    it = rules.begin()
    while it != rules.end():
        result[tuple(dereference(it).first)] = tuple(dereference(it).second)
        preincrement(it)
    return result


def check_charsmap(bytes blob not None):
    """Raise if ``sentencepiece`` would not load a compiled charsmap.

    Parameters
    ----------
    blob : bytes
        A compiled charsmap. Empty bytes mean no rules.

    Raises
    ------
    TrainingError
        The charsmap is broken.
    """
    with _as_own_errors():
        cpp_check(blob)


def any_source_has_space(bytes blob not None):
    """Return whether the source of any rule contains a space (U+0020).

    If none does, raw tokens can be normalized one at a time.

    Parameters
    ----------
    blob : bytes
        A compiled charsmap. Empty bytes mean no rules.

    Raises
    ------
    TrainingError
        The charsmap is broken.
    """
    with _as_own_errors():
        return cpp_any_source_has_space(blob)


def load_rules(path, code_points="strict"):
    r"""Read rules from a TSV file.

    A line consists of the code points of a source, a tab, and the code points of its target. Code
    points are in hexadecimal and separated by spaces. Without a target, the source is deleted. Text
    after a second tab is a comment. If two rules have the same source, the later one is used.

    Parameters
    ----------
    path : str
        The path of the file.
    code_points : str
        How a code point is read. ``strict``: it must be a number. ``forgiving``: anything else
        counts as 0. ``streamed``: only the number at the beginning of the word counts, or 0 if
        there is none.

    Returns
    -------
    dict[tuple[int, ...], tuple[int, ...]]
        The rules in the form that `compile_charsmap` takes.

    Raises
    ------
    MissingFileError
        The file cannot be read.
    TrainingError
        A line has no source, or one of its words is not a code point. The message names the
        file and the line.
    """
    with open_file(path, "Give a readable TSV file of normalization rules") as file:
        content = file.read()
    return parse_rules(content, str(path), code_points)


def parse_rules(bytes content not None, str name not None, code_points="strict"):
    """Return the rules in the content of a TSV file, as `load_rules` does.

    Parameters
    ----------
    content : bytes
        The content.
    name : str
        The name of the file in messages.
    code_points : str
        How a code point is read: see `load_rules`.

    Raises
    ------
    TrainingError
        A line has no source, or one of its words is not a code point.
    """
    lines = content.removesuffix(b"\n").split(b"\n") if content else []
    rules = {}
    for number, line in enumerate(lines, start=1):
        source, target, *_ = line.split(b"\t") + [b""]
        place = f"{name}, line {number}"
        key = _code_points(source, place, code_points)
        if not key:
            raise BadRulesError(
                f"{place}: the rule has no source: write 'source<TAB>target' in hexadecimal "
                "code points."
            )
        rules[key] = _code_points(target, place, code_points)
    return rules


def _code_points(bytes field, str place, str reading):
    points = []
    for word in filter(None, field.split(b" ")):
        if reading == "streamed":
            match = _STREAMED_CODE_POINT.match(word)
            points.append(min(int(match[1], 16), UINT32_MAX) if match else 0)
            continue
        match = _CODE_POINT.fullmatch(word)
        value = int(match[1], 16) if match else 1 << 32
        if value >= 1 << 32 and reading == "forgiving":
            value = 0
        if value >= 1 << 32:
            shown = word.decode("utf-8", "backslashreplace")
            raise BadRulesError(
                f"{place}: Invalid hex codepoint: {shown!r}: write hexadecimal code points "
                "separated by spaces, for example '41 301'."
            )
        points.append(value)
    return tuple(points)


def precompiled(str name, str characters_without_rules=""):
    """Return the compiled charsmap of a named rule set.

    Parameters
    ----------
    name : str
        One of `NAMES`; one of `OWN_NAMES`, whose charsmaps are derived from those; or ``identity``,
        whose charsmap is empty.
    characters_without_rules : str
        Hexadecimal code points and ranges, such as ``61C A7F1-A7F4``. Rules whose source contains
        one of these characters are left out, because earlier releases do not have them.

    Returns
    -------
    bytes
        The charsmap of that name in sentencepiece 0.2.3, or derived from one, without the rules
        that are left out.

    Raises
    ------
    BadValueError
        The name contains a character other than a to z, ``_`` and ``-``.
    MissingFileError
        No rule set has that name.
    """
    if name == "identity":
        return b""
    choice = f"choose one of {', '.join((*NAMES, 'identity', *OWN_NAMES))}"
    if not re.fullmatch("[a-z_-]*", name):
        raise BadValueError(f"Invalid charsmap name {name!r}: {choice}.")
    if name in OWN_NAMES:
        return _derived(name, characters_without_rules)[0]
    if name not in NAMES:
        raise UnknownRulesError(f"No precompiled charsmap is found: {name}: {choice}.")
    return _predefined(name, characters_without_rules)


def case_restoring(str characters_without_rules=""):
    """Return the charsmap that restores, in decoded text, the capitals that `MARK_CASE` marked.

    Parameters
    ----------
    characters_without_rules : str
        As for `precompiled`.
    """
    return _derived(MARK_CASE, characters_without_rules)[1]


# The result is cached: deriving takes a fifth of a second, and a run needs the rules several times.
@functools.lru_cache(maxsize=1)
def _derived(str name, str characters_without_rules):
    """Return the normalizer's and the denormalizer's charsmap for one of `OWN_NAMES`.

    The denormalizer's charsmap is empty if decoded text needs no rules.
    """
    cdef bytes rules = _predefined(OWN_NAMES[name], characters_without_rules)
    if name != MARK_CASE:
        return <bytes>cpp_without_accents(rules, _characters(_ACCENTS)), b""
    cdef bytes folding = _predefined("nmt_nfkc_cf", characters_without_rules)
    cdef CaseMarking found = cpp_mark_case(rules, folding, _characters(_NOT_CAPITALS))
    return <bytes>found.marking, <bytes>found.restoring


cdef bytes _predefined(str name, str characters_without_rules):
    if characters_without_rules:
        return _of_earlier_release(name, characters_without_rules)
    path = os.path.join(os.path.dirname(__file__), "data", f"{name}.charsmap")
    with open(path, "rb") as file:
        return file.read()


# The result is cached, because leaving out some rules means compiling all others again.
@functools.lru_cache(maxsize=4)
def _of_earlier_release(str name, str characters_without_rules):
    cdef bytes blob = _predefined(name, "")
    return <bytes>cpp_without(blob, _characters(characters_without_rules))


cdef cpp_set[uint32_t] _characters(str ranges):
    cdef cpp_set[uint32_t] found
    for part in ranges.split():
        first, _, last = part.partition("-")
        for c in range(int(first, 16), int(last or first, 16) + 1):
            found.insert(c)
    return found


@final
cdef class Normalizer:
    """Normalize text as sentencepiece does before training.

    Parameters
    ----------
    charsmap : bytes
        Compiled rules. Empty bytes mean no rules.
    add_dummy_prefix : bool
        Add a space mark at the beginning of the text.
    remove_extra_whitespaces : bool
        Collapse spaces, and remove spaces at both ends.
    escape_whitespaces : bool
        Replace spaces with the space mark (U+2581).
    treat_whitespace_as_suffix : bool
        Put the space mark of `add_dummy_prefix` at the end of the text.
    symbols : Sequence[bytes]
        User-defined symbols, which are not normalized.

    Raises
    ------
    TrainingError
        The charsmap is broken, or a symbol contains a 0 byte.
    """

    cdef unique_ptr[SymbolMatcher] symbols
    cdef unique_ptr[CNormalizer] normalizer

    def __init__(
        self,
        bytes charsmap=b"",
        *,
        cbool add_dummy_prefix=True,
        cbool remove_extra_whitespaces=True,
        cbool escape_whitespaces=True,
        cbool treat_whitespace_as_suffix=False,
        symbols=(),
    ):
        cdef NormalizerOptions options
        options.add_dummy_prefix = add_dummy_prefix
        options.remove_extra_whitespaces = remove_extra_whitespaces
        options.escape_whitespaces = escape_whitespaces
        options.treat_whitespace_as_suffix = treat_whitespace_as_suffix
        with _as_own_errors():
            if symbols:
                self.symbols.reset(new SymbolMatcher(symbols))
            self.normalizer.reset(new CNormalizer(charsmap, options, self.symbols.get()))

    def normalize(self, bytes text):
        """Return the normalized text. Every malformed byte becomes U+FFFD."""
        cdef string out
        self.normalizer.get().normalize(text, len(text), out)
        return <bytes>out

    def normalize_raw_token(self, bytes text):
        """Normalize a raw token as if a space came before it. The token must not contain U+0020.

        Spaces that rules produce remain U+0020. No space mark is added at the beginning, and no
        space is removed at the end.
        """
        cdef string out
        self.normalizer.get().normalize_raw_token(text, len(text), out)
        return <bytes>out


def replace_meta_pieces(pieces, bytes text):
    """Replace each meta piece with the boundary mark (U+001F), by leftmost longest match.

    Parameters
    ----------
    pieces : Sequence[bytes]
        The meta pieces.
    text : bytes
        The text that may contain them.

    Returns
    -------
    bytes
        The text with its meta pieces replaced.

    Raises
    ------
    TrainingError
        A piece contains a 0 byte.
    """
    cdef vector[string] symbols = pieces
    cdef unique_ptr[MetaPieceMatcher] matcher
    cdef string source = text
    cdef string out
    with _as_own_errors():
        matcher.reset(new MetaPieceMatcher(symbols, DEFAULT.boundary))
    matcher.get().replace(source, out)
    return <bytes>out
