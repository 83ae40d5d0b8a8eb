"""tiktoken: which models are exported exactly, and why other models are refused."""

import json
from base64 import b64decode
from pathlib import Path
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from sentencepiece import SentencePieceProcessor

from spmcompat.model.sentencepiece_model_pb2 import ModelProto
from spmcompat.tools.export import tiktoken
from spmcompat.tools.export.targets import Loaded
from tests.unit.tools.export.small_models import (
    BPE,
    EXACT,
    PIECE,
    TEXT,
    UNIGRAM,
    byte_pieces,
    made,
    trained,
    verified,
)

BYTES_AND_EXACT = {"byte_fallback": True, **EXACT}
ENGLISH = [line for line in TEXT if line.isascii()] * 3
QUOTES = [f"“{line}” — ‘café’" for line in ENGLISH]
MARK = "\u2581"
ROOT = Path(__file__).resolve().parents[4]


def needs_tiktoken() -> None:
    pytest.importorskip("tiktoken", reason="tiktoken is not installed")


def encode(model: ModelProto, text: str) -> list[int]:
    processor = SentencePieceProcessor(model_proto=model.SerializeToString())
    ids: list[int] = processor.encode(text)
    return ids


def load(model: ModelProto, folder: Path) -> Loaded:
    for name, content in tiktoken.files(model).items():
        (folder / name).write_bytes(content)
    return tiktoken.load(str(folder))


def pieces_of(model: ModelProto, text: str) -> list[str]:
    return [model.pieces[one].piece for one in encode(model, text)]


def run_from_page(start: str, replaced: dict[str, str]) -> dict[str, Any]:
    """Run the program in docs/exporting.md that begins with `start`. Return its global variables.

    Before the program runs, each key of `replaced` is replaced by its value.
    """
    page = (ROOT / "docs" / "exporting.md").read_text(encoding="utf-8")
    programs = [part.split("```")[0] for part in page.split("```python\n")[1:]]
    [program] = [one for one in programs if one.startswith(start)]
    for old, new in replaced.items():
        assert old in program
        program = program.replace(old, new)
    names: dict[str, Any] = {}
    exec(program, names)
    return names


def refusals(model: ModelProto) -> str:
    return " ".join(limit.line for limit in tiktoken.limits(model) if limit.refuses)


def assert_exact(model: ModelProto, lines: list[str] | None = None) -> None:
    """Require that only lines with U+2581 differ, and that no other limit is reported."""
    [limit] = tiktoken.limits(model)
    assert "U+2581" in limit.text
    found = verified(tiktoken, model, lines or [])
    assert [one.line for one in found.differences if MARK not in one.line] == []
    assert found.lines > 70


class TestFiles:
    """The content of the files."""

    def test_ranks_are_ids_and_characters_win_over_bytes(self) -> None:
        pieces = [*byte_pieces(), (f"{MARK}a", 0.0), (MARK, -1.0), ("a", -2.0), ("é", -3.0)]
        model = made(BPE, pieces)
        model.trainer_spec.byte_fallback = True
        lines = tiktoken.files(model)["ranks.tiktoken"].splitlines()
        ranks = {b64decode(token): int(rank) for token, rank in map(bytes.split, lines)}
        expected = {bytes([byte]): 3 + byte for byte in range(256)}
        expected.update({b" a": 259, b" ": 260, b"a": 261, "é".encode(): 262})
        assert ranks == expected
        assert list(ranks.values()) == sorted(ranks.values())

    def test_the_settings_are_arguments_of_the_encoding(self) -> None:
        model = trained("bpe", ENGLISH, user_defined_symbols=["a b", "<x>"], **BYTES_AND_EXACT)
        settings = json.loads(tiktoken.files(model)["encoding.json"])
        assert settings.keys() == {"name", "pat_str", "special_tokens"}
        # sentencepiece never finds "a b": it looks for symbols after it has replaced spaces with
        # space marks.
        assert settings["special_tokens"] == {"<unk>": 0, "<s>": 1, "</s>": 2, "a b": 3}

    def test_the_page_shows_how_to_load_them(self, tmp_path: Path) -> None:
        needs_tiktoken()
        model = trained("bpe", ENGLISH, **BYTES_AND_EXACT)
        load(model, tmp_path)
        names = run_from_page("import base64", {"out/": f"{tmp_path}/"})
        assert names["ids"] == encode(model, "The quick brown fox")

    def test_decoding(self, tmp_path: Path) -> None:
        needs_tiktoken()
        model = trained("bpe", ENGLISH, **BYTES_AND_EXACT)
        load(model, tmp_path)
        encoding = run_from_page("import base64", {"out/": f"{tmp_path}/"})["encoding"]
        for line in ["the dog é\U0001f999", "  a\n"]:
            assert encoding.decode(encode(model, line)) == line


class TestExact:
    """Models for which tiktoken gives the same ids as sentencepiece."""

    def test_ascii_text(self) -> None:
        needs_tiktoken()
        assert_exact(trained("bpe", ENGLISH, **BYTES_AND_EXACT), ENGLISH)

    @pytest.mark.parametrize(
        "options",
        [
            {"treat_whitespace_as_suffix": True},
            {"split_by_whitespace": False},
            {"allow_whitespace_only_pieces": True},
            {"split_digits": True},
            {"user_defined_symbols": ["<sep>", "<s", "the", "th", "\n", "0", "é", MARK, "日本"]},
            {"user_defined_symbols": [f"x{MARK}y", "the"]},
            {"user_defined_symbols": ["the", "quick"], "split_by_whitespace": False},
            {"control_symbols": ["<mask>", "the"]},
        ],
        ids=str,
    )
    def test_options(self, options: dict[str, object]) -> None:
        needs_tiktoken()
        model = trained("bpe", ENGLISH, **BYTES_AND_EXACT, **options)
        lines = ["the<sep>the 100 \n\n a  the", "<s <sep> thethe th", "x y日本xx y", "the quick"]
        assert_exact(model, lines)

    def test_characters_of_several_bytes_as_symbols(self) -> None:
        needs_tiktoken()
        options = {**BYTES_AND_EXACT, "character_coverage": 1.0}
        remedy = refusals(trained("bpe", QUOTES, **options))
        assert "--user_defined_symbols=é,—,‘,’,“,” " in remedy
        assert "docs/exporting.md" not in remedy
        model = trained("bpe", QUOTES, user_defined_symbols=list("é—‘’“”"), **options)
        assert_exact(model, QUOTES)

    def test_long_texts(self, tmp_path: Path) -> None:
        """tiktoken's pattern engine fails after a million steps."""
        needs_tiktoken()
        for symbols in ([], ["<sep>", "quick"]):
            options = {**BYTES_AND_EXACT, "user_defined_symbols": symbols}
            model = trained("bpe", ENGLISH, **options)
            loaded = load(model, tmp_path)
            for text in ("x" * 1_200_000, " " * 1_200_000, "the <sep> dog " * 100_000):
                assert loaded.encode([text])[0] == encode(model, text)

    def test_characters_of_two_bytes_whose_ids_are_low(self, tmp_path: Path) -> None:
        needs_tiktoken()
        merged = [("éa", -1.0), ("aé", -2.0), ("aéa", -3.0), ("aa", -4.0), (f"{MARK}é", -5.0)]
        characters = [("é", -7.0), ("ß", -8.0)]
        rest = [("a", -9.0), (MARK, -10.0)]
        model = made(BPE, [*byte_pieces(), *characters, *merged, *rest])
        model.trainer_spec.byte_fallback = True
        assert refusals(model) == ""
        lines = ["aéaéaaéé a é ßaß", "ééééaaaa", "è\u0301éß" * 9]
        assert load(model, tmp_path).encode(lines) == [encode(model, line) for line in lines]

    def test_the_page_shows_how_to_lower_the_ids_of_characters(self, tmp_path: Path) -> None:
        needs_tiktoken()
        lines = [line for line in TEXT if "ещё" in line or "Über" in line] * 3
        model = trained("bpe", lines, **BYTES_AND_EXACT)
        assert "docs/exporting.md shows how" in refusals(model)
        (tmp_path / "exact.model").write_bytes(model.SerializeToString())
        run_from_page("import spmcompat", {'"exact': f'"{tmp_path}/exact'})
        changed = ModelProto.FromString((tmp_path / "exact2.model").read_bytes())
        assert_exact(changed, lines)
        for line in lines:
            assert pieces_of(changed, line) == pieces_of(model, line)

    @settings(max_examples=150, deadline=None)
    @given(data=st.data())
    def test_any_model_that_is_not_refused(
        self, data: st.DataObject, tmp_path_factory: pytest.TempPathFactory
    ) -> None:
        needs_tiktoken()
        model = data.draw(models())
        assume(not refusals(model))
        folder = tmp_path_factory.mktemp("tiktoken")
        texts = data.draw(st.lists(st.text("ab é<>\n☃"), min_size=5, max_size=5))
        texts += [
            piece.piece.replace(MARK, " ") for piece in model.pieces if piece.type == PIECE.NORMAL
        ]
        assert load(model, folder).encode(texts) == [encode(model, text) for text in texts]


@st.composite
def models(draw: st.DrawFn) -> ModelProto:
    """Draw a BPE model with user-defined symbols. Merged pieces precede or follow characters."""
    pool = ["a", "b", MARK, "<"]
    characters = [*pool, "é", "☃"]
    early = draw(st.booleans())
    pool += ["é"] if early else []
    for _ in range(draw(st.integers(0, 12))):
        pool.append(draw(st.sampled_from(pool)) + draw(st.sampled_from(pool)))
    merged = list(dict.fromkeys(one for one in pool if len(one) > 1))
    if draw(st.booleans()):  # space marks only at the start, as in training
        merged = [one for one in merged if MARK not in one.lstrip(MARK)]
    symbols = draw(
        st.lists(st.sampled_from(["<a>", "<", "a<b", "ab", "☃", "\n", "b"]), unique=True)
    )
    kept = [one for one in merged if not any(symbol in one for symbol in symbols)]
    known = [one for one in characters if one not in symbols]
    order = [*known, *kept] if early else [*kept, *known]
    scores = dict.fromkeys(known, -999.0) | {one: -float(rank) for rank, one in enumerate(kept)}
    pieces = [(one, 0.0, PIECE.USER_DEFINED) for one in symbols]
    model = made(BPE, [*pieces, *byte_pieces(), *((one, scores[one]) for one in order)])
    model.trainer_spec.byte_fallback = True
    return model


class TestRefusals:
    """Models that tiktoken cannot express."""

    @pytest.mark.parametrize("kind", ["unigram", "char", "word"])
    def test_other_kinds_of_models(self, kind: str) -> None:
        model = trained(kind, ENGLISH, **EXACT)
        assert f"a {kind} model has no merges. Train with --model_type=bpe." in refusals(model)

    @pytest.mark.parametrize(
        ("option", "value", "remedy"),
        [
            ("normalization_rule_name", "nmt_nfkc", "--normalization_rule_name=identity"),
            ("remove_extra_whitespaces", True, "--remove_extra_whitespaces=false"),
            ("add_dummy_prefix", True, "--add_dummy_prefix=false"),
            ("byte_fallback", False, "--byte_fallback=true"),
        ],
    )
    def test_options(self, option: str, value: object, remedy: str) -> None:
        model = trained("bpe", ENGLISH, **{**BYTES_AND_EXACT, option: value})
        [limit] = tiktoken.limits(model)
        assert limit.refuses
        assert remedy in limit.line

    def test_many_characters_of_several_bytes(self) -> None:
        characters = "".join(map(chr, range(0x4E00, 0x4E60)))
        model = made(BPE, [*byte_pieces(), (characters, -1.0), (MARK, -2.0)])
        model.trainer_spec.byte_fallback = True
        assert "has 96 such characters. Train with a lower --character_coverage" in refusals(model)

    def test_that_refusal_is_needed(self, tmp_path: Path) -> None:
        needs_tiktoken()
        pieces = [("aé", -1.0), ("ba", -2.0), ("é", -3.0), ("a", -4.0), ("b", -5.0), (MARK, -6.0)]
        model = made(BPE, [*byte_pieces(), *pieces])
        model.trainer_spec.byte_fallback = True
        assert "--user_defined_symbols=é " in refusals(model)
        assert "docs/exporting.md" in refusals(model)
        assert load(model, tmp_path).encode(["baé"]) != [encode(model, "baé")]

    def test_scores_in_another_order_than_ids(self) -> None:
        model = trained("bpe", ENGLISH, **BYTES_AND_EXACT)
        added = model.pieces.add(piece="own", score=0.0)
        assert "in the order of ids" in refusals(model)
        added.score = -1e6
        assert refusals(model) == ""

    def test_equal_scores(self) -> None:
        """Two merges have the same score, as in issue 1213 of huggingface/tokenizers."""
        pieces = [("ab", -1.0), ("bc", -1.0), ("a", -2.0), ("b", -3.0), ("c", -4.0), (MARK, -5.0)]
        model = made(BPE, [*byte_pieces(), *pieces])
        model.trainer_spec.byte_fallback = True
        assert "in the order of ids" in refusals(model)

    def test_a_piece_that_is_looked_up_before_merging(self, tmp_path: Path) -> None:
        needs_tiktoken()
        pieces = [("cd", -1.0), ("bc", -2.0), ("abc", -3.0), ("abcd", -4.0)]
        characters = [(one, -9.0) for one in ("a", "b", "c", "d", MARK)]
        model = made(BPE, [*byte_pieces(), *pieces, *characters])
        model.trainer_spec.byte_fallback = True
        assert "looks up 'abcd' before it merges" in refusals(model)
        assert load(model, tmp_path).encode(["abcd"]) != [encode(model, "abcd")]

    def test_unused_pieces(self) -> None:
        model = trained("bpe", ENGLISH, **BYTES_AND_EXACT)
        model.pieces[-1].type = PIECE.UNUSED
        assert "does not support unused pieces" in refusals(model)

    def test_no_piece_for_the_space(self) -> None:
        model = made(BPE, [*byte_pieces(), ("ab", -1.0), ("a", -2.0), ("b", -3.0)])
        model.trainer_spec.byte_fallback = True
        assert "not have a piece for a space" in refusals(model)
        model.pieces.add(piece=MARK, type=PIECE.CONTROL)
        assert "not have a piece for a space" in refusals(model)

    def test_several_reasons_are_told_at_once(self) -> None:
        assert len(tiktoken.limits(trained("bpe", ENGLISH))) == 4
        assert len(tiktoken.limits(made(UNIGRAM, [("a", -1.0)]))) == 1
