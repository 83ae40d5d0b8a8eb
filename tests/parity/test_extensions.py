"""By default, models equal the reference's. The reference can load models of any extension."""

from __future__ import annotations

import io
import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

import spmcompat
from spmcompat.model.sentencepiece_model_pb2 import ModelProto
from spmcompat.options.extension_options import RECIPES
from spmcompat.options.option import SETTINGS
from spmcompat.options.table import OPTIONS
from tests.kinds import raises_kind
from tests.parity import corpora, reference
from tests.parity.case import Option
from tests.parity.harness import Trainers

TEXT = corpora.topics_text()
SPACE = "\u2581"

CONFIGURATIONS: list[dict[str, object]] = [
    {"recipe": "paper"},
    {"recipe": "fsp"},
    {"recipe": "fsp", "shrinking_factor": 0},
    {"recipe": "mingram"},
    {"recipe": "mingram", "space_pieces": "separate"},
    {"seed_mode": "bpe"},
    {"seed_mode": "pretokens", "prefix_recovery": True},
    {"prefix_recovery": True},
    {"seed_factor": 7.5},
    {"m_step": "ml"},
    {"early_prune_threshold": 0},
    {"early_prune_threshold": 3},
    {"prune": "exact"},
    {"prune": "exact", "prune_overshoot": 1},
    {"prune_overshoot": 1},
    {"prune_overshoot": 2},
    {"final_estimate": "renormalize"},
    {"final_estimate": "em:3"},
    {"final_estimate": "em:2", "m_step": "ml", "prune_overshoot": 1},
    {"space_pieces": "separate"},
    {"space_pieces": "separate", "model_type": "bpe"},
    {"space_pieces": "separate", "prune": "exact", "seed_mode": "pretokens"},
]


BASE: dict[str, Option] = {"vocab_size": 400, "character_coverage": 1, "minloglevel": 2}
APART: dict[str, Option] = {"user_defined_symbols": SPACE, "add_dummy_prefix": False}


def train(options: dict[str, object], text: str = TEXT, **others: object) -> bytes:
    written = io.BytesIO()
    chosen: dict[str, Any] = {**BASE, **others, **options}
    lines = text.split("\n")
    spmcompat.SentencePieceTrainer.train(
        sentence_iterator=iter(lines), model_writer=written, **chosen
    )
    return written.getvalue()


def reference_model(trainers: Trainers, options: dict[str, Option], lines: list[str]) -> bytes:
    """Train with the real library, and check that spmcompat writes the same model."""
    checked = trainers.check_sentences({**BASE, **options}, lines, writer=True)
    model = checked.reference.output(".model")
    assert model is not None
    return model


def reference_pieces(
    trainers: Trainers, options: dict[str, Option], lines: list[str]
) -> list[tuple[str, float]]:
    return pieces_of(reference_model(trainers, options, lines))


def pieces_of(model: bytes) -> list[tuple[str, float]]:
    return [(piece.piece, piece.score) for piece in ModelProto.FromString(model).pieces]


def test_defaults_give_the_bytes_of_the_reference(trainers: Trainers) -> None:
    extensions = [one for one in OPTIONS.values() if not one.in_reference]
    defaults = {one.name: one.default for one in extensions if one.stored_in == SETTINGS}
    del defaults["workers"]  # by default, the number of cores
    spelled_out = {**defaults, "seed_factor": 0}
    assert train(spelled_out) == reference_model(trainers, {}, TEXT.split("\n"))
    bpe = {"model_type": "bpe"}
    expected = reference_model(trainers, bpe, TEXT.split("\n"))
    assert train({"space_pieces": "prefix"}, **bpe) == expected


@pytest.mark.parametrize("options", CONFIGURATIONS, ids=str)
def test_the_real_library_loads_the_model_and_decodes_the_text(options: dict[str, object]) -> None:
    model = train(options, hard_vocab_limit=False)
    encoder = reference.load(model)
    assert 350 < encoder.get_piece_size() <= 400
    for line in TEXT.split("\n")[:200]:
        assert encoder.decode(encoder.encode(line)) == " ".join(line.split())
    assert train(options, hard_vocab_limit=False, workers=1) == model
    assert train(options, hard_vocab_limit=False, workers=3) == model


@pytest.mark.parametrize("options", CONFIGURATIONS, ids=str)
def test_each_extension_changes_the_model(options: dict[str, object]) -> None:
    chosen = {"hard_vocab_limit": False, "model_type": options.get("model_type", "unigram")}
    assert train(options, **chosen) != train({}, **chosen)


@pytest.mark.parametrize("kind", ["latin", "han", "kana"])
def test_bpe_with_separate_spaces_equals_that_with_the_mark_as_a_symbol(
    kind: str, trainers: Trainers
) -> None:
    text = corpora.words_text(4, 300, kind, 100)
    chosen = {"model_type": "bpe", "hard_vocab_limit": False}
    model = train({"space_pieces": "separate", **chosen}, text)
    assert pieces_of(model) == reference_pieces(trainers, {**APART, **chosen}, text.split("\n"))


def words_that_begin_alike() -> str:
    words = corpora.words_text(4, 300, "latin", 100).split("\n")
    lines = (" ".join("x" + word for word in line.split()) for line in words if line)
    return "\n".join(f"{line} xö" for line in lines)


@pytest.mark.parametrize(
    "options",
    [{}, {"remove_extra_whitespaces": False}, {"split_by_whitespace": False}, {"num_threads": 3}],
    ids=str,
)
def test_unigram_with_separate_spaces_equals_that_of_one_word_a_line(
    options: dict[str, object], trainers: Trainers
) -> None:
    """A seed that ends a word depends on the next character, so all lines end in the same word."""
    text = words_that_begin_alike()
    common = {"num_threads": options.get("num_threads", 16), "hard_vocab_limit": False}
    model = train({"space_pieces": "separate", **options, **common}, text)
    assert pieces_of(model) == reference_pieces(trainers, {**APART, **common}, text.split())


@pytest.mark.parametrize("text", [TEXT, corpora.mixed_text(8, 300)], ids=["topics", "mixed"])
def test_separate_spaces_with_a_seed_file(text: str, tmp_path: Path, trainers: Trainers) -> None:
    sentences = reference.normalize(text.split("\n"), rule_name="nmt_nfkc", add_dummy_prefix=False)
    words = [word for sentence in sentences for word in sentence.split(SPACE) if word]
    found = Counter(
        word[i : i + n] for word in words for n in range(2, 9) for i in range(len(word))
    )
    seeds = "".join(f"{part}\t{count}\n" for part, count in found.most_common(3000))
    file = tmp_path / "seeds.tsv"
    file.write_text(seeds)
    chosen = {"seed_sentencepieces_file": str(file), "vocab_size": 700, "hard_vocab_limit": False}
    model = train({"space_pieces": "separate", **chosen}, text)
    assert pieces_of(model) == reference_pieces(trainers, {**APART, **chosen}, words)


@pytest.mark.parametrize("pretokenizer", [None, "script"])
@pytest.mark.parametrize("model_type", ["unigram", "bpe"])
@pytest.mark.parametrize("kind", ["topics", "mixed", "kana"])
def test_no_piece_holds_a_separate_space_and_more(
    model_type: str, kind: str, pretokenizer: str | None
) -> None:
    text = corpora.small()[kind][:60_000].decode(errors="ignore")
    chosen: dict[str, object] = {"pretokenizer": pretokenizer} if pretokenizer else {}
    chosen |= {"vocab_size": 600, "hard_vocab_limit": False, "model_type": model_type}
    model = train({"space_pieces": "separate", **chosen}, text)
    assert not any(SPACE in piece and piece != SPACE for piece, _ in pieces_of(model))
    assert mixed_pieces(model, text.split("\n")) == set()


def test_a_vocabulary_without_unused_pieces_may_be_too_small() -> None:
    """By default, the recipe accepts fewer pieces. With a hard limit, training warns and fails."""
    options = {"recipe": "mingram", "vocab_size": 1500}
    log = io.StringIO()
    model = train(options, minloglevel=1, logstream=log)
    size = len(pieces_of(model))
    assert 1400 < size < 1500
    assert log.getvalue() == ""
    with raises_kind(f"vocabulary-too-large 1500 {size}"):
        train(options, hard_vocab_limit=True, minloglevel=1, logstream=log)
    assert "drop_unused may leave fewer pieces than vocab_size" in log.getvalue()
    assert len(pieces_of(train({**options, "drop_unused": False}))) == 1500


DROPPED: list[dict[str, object]] = [
    {},
    {"recipe": "mingram", "drop_unused": False},
    {"model_type": "bpe"},
    {"user_defined_symbols": "<a>,<b>", "byte_fallback": True, "vocab_size": 600},
    {"user_defined_symbols": f"<a>,{SPACE},<b>", "pad_id": 399},
    {"hard_vocab_limit": False, "vocab_size": 90_000},
]


@pytest.mark.parametrize("options", DROPPED, ids=str)
def test_a_dropped_space_is_one_more_id_after_all_others(options: dict[str, object]) -> None:
    model = train({"space_pieces": "dropped", **options})
    encoder = reference.load(model)
    size = encoder.get_piece_size() - 1
    asked = options.get("vocab_size", BASE["vocab_size"])
    assert size == asked or (size < 90_000 and not options["hard_vocab_limit"])
    assert encoder.piece_to_id(SPACE) == size
    message = ModelProto.FromString(model)
    assert message.trainer_spec.vocab_size == size + 1
    assert message.pieces[size].type == message.pieces[size].USER_DEFINED
    if options.get("user_defined_symbols"):
        assert [encoder.piece_to_id(symbol) for symbol in ("<a>", "<b>")] == [3, 4]
    for line in TEXT.split("\n")[:200]:
        ids = encoder.encode(line)
        assert encoder.decode(ids) == " ".join(line.split())
        kept = [piece_id for piece_id in ids if piece_id != size]
        assert encoder.decode(kept) == "".join(line.split())


@pytest.mark.parametrize("options", [{"prune_overshoot": 1}, {"model_type": "bpe"}], ids=str)
def test_a_dropped_space_leaves_room_for_one_more_piece(options: dict[str, object]) -> None:
    dropped = pieces_of(train({"space_pieces": "dropped", **options}))
    separate = pieces_of(train({"space_pieces": "separate", **options, "vocab_size": 401}))
    assert dropped[-1] == (SPACE, 0)
    assert sorted(dropped) == sorted(separate)


def public_corpora() -> list[Any]:
    named = corpora.large().items()
    return [pytest.param(path, id=name) for name, path in named] or [
        pytest.param(
            None, marks=pytest.mark.skip(f"{corpora.FOLDER_VARIABLE} names no folder of texts")
        )
    ]


@pytest.mark.parametrize("model_type", ["unigram", "bpe"])
@pytest.mark.parametrize("path", public_corpora())
def test_no_piece_of_public_texts_holds_a_separate_space_and_more(
    path: Path, model_type: str
) -> None:
    text = corpora.head(path, 2_000_000).decode(errors="replace")
    chosen = {"vocab_size": 8000, "hard_vocab_limit": False, "max_sentence_length": 1 << 20}
    options = {"space_pieces": "separate", "model_type": model_type, "character_coverage": 0.9995}
    model = train({**options, **chosen}, text)
    assert not any(SPACE in piece and piece != SPACE for piece, _ in pieces_of(model))
    assert mixed_pieces(model, text.split("\n")) == set()


def mixed_pieces(model: bytes, lines: list[str]) -> set[str]:
    """Encode lines with the real library; return pieces that join a space and other characters."""
    encoder = reference.load(model)
    found: set[str] = set()
    for pieces in encoder.encode(lines, out_type=str):
        found.update(pieces)
    assert SPACE in found or not any(" " in line.strip() for line in lines)
    return {piece for piece in found if SPACE in piece and piece != SPACE}


def test_an_option_overrides_the_recipe() -> None:
    fsp = {**RECIPES["fsp"]}
    assert train({"recipe": "fsp"}) == train(dict(fsp))
    assert train({"recipe": "fsp", "prune": "exact"}) == train({**fsp, "prune": "exact"})


def test_a_recipe_logs_what_it_sets() -> None:
    log = io.StringIO()
    train({"recipe": "paper", "seed_factor": 3}, minloglevel=0, logstream=log)
    assert "--recipe=paper sets --seed_mode=pretokens\n" in log.getvalue()


IGNORED = [
    ({"recipe": "mingram", "shrinking_factor": 0.8}, "shrinking_factor"),
    ({"recipe": "paper", "seed_sentencepiece_size": 5000}, "seed_sentencepiece_size"),
    ({"space_pieces": "separate", "add_dummy_prefix": True}, "add_dummy_prefix"),
    ({"space_pieces": "dropped", "add_dummy_prefix": True}, "add_dummy_prefix"),
]


@pytest.mark.parametrize(("options", "ignored"), IGNORED, ids=str)
def test_an_option_without_effect_is_told(options: dict[str, object], ignored: str) -> None:
    assert options_without_effect(options) == [ignored]
    assert (
        options_without_effect({name: value for name, value in options.items() if name != ignored})
        == []
    )


def options_without_effect(options: dict[str, object]) -> list[str]:
    """Return the options that a training run reports as having no effect."""
    log = io.StringIO()
    train(options, minloglevel=1, logstream=log)
    return re.findall(r"(\w+) has no effect with", log.getvalue())


def test_an_option_with_an_effect_is_not_reported() -> None:
    options = {"space_pieces": "separate", "add_dummy_prefix": False, "shrinking_factor": 0.8}
    assert options_without_effect(options) == []


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"seed_mode": "words"}, "bad-value words full_text"),
        ({"recipe": "cake"}, "bad-value cake"),
        ({"prune_overshoot": 0.9}, "bad-value 0.9"),
        ({"early_prune_threshold": -1}, "bad-value -1"),
        ({"final_estimate": "em:0"}, "bad-value em:0"),
        ({"final_estimate": "em"}, "bad-value em"),
        (
            {"m_step": "ml", "model_type": "bpe"},
            "conflicting-options m_step",
        ),
        ({"recipe": "paper", "model_type": "bpe"}, "conflicting-options recipe=paper"),
        (
            {"recipe": "mingram", "seed_mode": "bpe", "model_type": "bpe"},
            "conflicting-options seed_mode",
        ),
        ({"space_pieces": "separate", "model_type": "word"}, "conflicting-options space_pieces"),
        ({"prune": "exact", "use_sparse_pruning": True}, "conflicting-options prune"),
        (
            {"recipe": "mingram", "prune": "flat"},
            "conflicting-options objective=fewest_tokens prune",
        ),
        ({"seed_mode": "bpe", "prefix_recovery": True}, "conflicting-options prefix_recovery"),
        ({"shrinking_factor": 0}, "bad-value shrinking_factor 0.5"),
        ({"shrinking_factor": 1, "prune": "flat"}, "bad-value prune=flat"),
    ],
    ids=str,
)
def test_wrong_values_are_refused(options: dict[str, object], message: str) -> None:
    with raises_kind(message):
        train(options)
