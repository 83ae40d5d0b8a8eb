"""Several sizes from one run: each model equals the model of a separate run of either library."""

from __future__ import annotations

import io
import os
from collections.abc import Sequence
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest

import spmcompat
from spmcompat.cli.train import main
from tests.kinds import raises_kind
from tests.parity import corpora
from tests.parity.case import DEFAULT_RELEASE, WRITER, Option
from tests.parity.harness import Trainers, file_case, sentences_case
from tests.searches import LONG

TEXT = corpora.topics_text()
WORDS = corpora.words_text(1, lines=800, types=2000)
SIZES = (150, 900, 260, 400)
NEAR = (300, 301, 303, 330)
FAR_AND_NEAR = (150, 900, 300, 301, 330)
SOFT: dict[str, Option] = {"hard_vocab_limit": False, "num_threads": 2}
KINDS = ("unigram", "bpe", "word", "char")


def texts_of(sizes: Sequence[int]) -> list[str]:
    return [str(size) for size in sizes]


def check_own_runs(
    trainers: Trainers,
    options: dict[str, Option],
    text: str = TEXT,
    sizes: Sequence[int] = SIZES,
    *,
    in_reference: bool = True,
    **more: Any,
) -> None:
    """Compare the files of one run with those of separate runs.

    The separate runs are runs of the reference, or of spmcompat without `in_reference`.
    """
    chosen = {**SOFT, **options}
    together = trainers.ours.run(
        file_case({**chosen, "vocab_size": texts_of(sizes)}, [text], **more)
    )
    assert together.failure is None, together.failure
    names = {f"m-{size}{end}" for size in sizes for end in (".model", ".vocab")}
    assert together.outputs.keys() == names
    release = more.get("release", DEFAULT_RELEASE)
    side = trainers.of_release(release) if in_reference else trainers.ours
    for size in sizes:
        own = {**chosen, "vocab_size": size, "model_prefix": f"m-{size}"}
        outcome = side.run(file_case(own, [text], **more))
        assert outcome.failure is None, outcome.failure
        for name, data in outcome.outputs.items():
            assert together.outputs[name] == data, name


@pytest.mark.parametrize("workers", [1, 3])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("sizes", [SIZES, NEAR, (500,)], ids=str)
def test_every_model_type(
    trainers: Trainers, kind: str, sizes: Sequence[int], workers: int
) -> None:
    check_own_runs(trainers, {"model_type": kind}, TEXT, sizes, workers=workers)


@pytest.mark.parametrize("form", ["cli", "string"])
@pytest.mark.parametrize("kind", ["unigram", "bpe"])
def test_the_command_line_and_one_string(trainers: Trainers, kind: str, form: str) -> None:
    check_own_runs(trainers, {"model_type": kind}, TEXT, (300, 150), form=form)


@pytest.mark.parametrize(
    "options",
    [
        {"num_threads": 1},
        {"num_threads": 3},
        {"num_threads": 16, "num_sub_iterations": 3},
        {"seed_sentencepiece_size": 0},
        {"seed_sentencepiece_size": 1500},
        {"shrinking_factor": 0.5},
        {"shrinking_factor": 0.95},
        {"min_freq_alpha": 0.01},
        {"seed_piece_length_power": 0.5},
        {"use_sparse_pruning": True},
        {"use_sparse_pruning": True, "post_l1_debias": False},
        {"split_by_whitespace": False},
        {"required_chars": "éß", "character_coverage": 0.98},
        {"treat_whitespace_as_suffix": True},
        {"model_type": "bpe", "required_chars": "éß", "character_coverage": 0.98},
        {"model_type": "bpe", "split_digits": True},
        {"model_type": "word", "use_all_vocab": True},
        {"model_type": "char", "use_all_vocab": True},
    ],
    ids=str,
)
def test_options(trainers: Trainers, options: dict[str, Option]) -> None:
    check_own_runs(trainers, options, WORDS, FAR_AND_NEAR)


@pytest.mark.parametrize("kind", ["unigram", "bpe"])
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"control_symbols": ["<a>"], "user_defined_symbols": ["the", "<b>"], "pad_id": 3},
        {"auto_character_coverage": True, "use_sparse_pruning": True},
        {"auto_character_coverage": True, "use_sparse_pruning": True, "unk_id": -1},
    ],
    ids=str,
)
def test_meta_pieces_take_room_in_each(
    trainers: Trainers, kind: str, options: dict[str, Option]
) -> None:
    if kind == "bpe":
        options = {name: value for name, value in options.items() if "sparse" not in name}
    options = {**options, "model_type": kind, "byte_fallback": True}
    check_own_runs(trainers, options, TEXT, (420, 900, 640))


@pytest.mark.parametrize("kind", KINDS)
def test_old_releases(trainers: Trainers, old_release: str, kind: str) -> None:
    check_own_runs(trainers, {"model_type": kind}, TEXT, SIZES, release=old_release)


@pytest.mark.parametrize("kind", ["unigram", "bpe"])
def test_more_merges_than_the_active_set_holds(
    trainers: Trainers, old_release: str, kind: str
) -> None:
    sizes = (99, 100, 101, 6000, 777)
    check_own_runs(trainers, {"model_type": kind}, WORDS, sizes, release=old_release)


EXTENSIONS: list[dict[str, Option]] = [
    {"recipe": "paper"},
    {"recipe": "fsp"},
    {"recipe": "mingram"},
    {"objective": "fewest_tokens"},
    {"objective": "fewest_tokens", "drop_unused": True},
    {"prune": "exact"},
    {"prune": "exact", "prune_overshoot": 1},
    {"prune": "flat", "prune_overshoot": 1},
    {"prune_overshoot": 1},
    {"prune_overshoot": 2.5},
    {"final_estimate": "renormalize"},
    {"final_estimate": "em:2"},
    {"final_estimate": "em:2", "seed_factor": 4},
    {"m_step": "ml", "early_prune_threshold": 2},
    {"seed_mode": "bpe"},
    {"seed_mode": "pretokens", "prefix_recovery": True},
    {"space_pieces": "dropped"},
    {"space_pieces": "dropped", "model_type": "bpe"},
    {"prune_overshoot": 1, "compat": "0.2.2"},
    {"prune": "exact", "compat": "0.2.1"},
]


@pytest.mark.parametrize("options", EXTENSIONS, ids=str)
def test_extensions(trainers: Trainers, options: dict[str, Option]) -> None:
    check_own_runs(trainers, options, TEXT, FAR_AND_NEAR, in_reference=False)


def test_any_sizes_together(trainers: Trainers) -> None:
    """The model of one size does not depend on the other sizes or on their order."""
    options = {**SOFT, "prune_overshoot": 1}
    models = {}
    for size in SIZES:
        models |= several(trainers, options, [size])
    for number in (2, 3):
        for sizes in combinations(SIZES, number):
            assert several(trainers, options, sizes).items() <= models.items()
            assert several(trainers, options, sizes[::-1]).items() <= models.items()


def several(
    trainers: Trainers, options: dict[str, Option], sizes: Sequence[int]
) -> dict[str, bytes]:
    case = file_case({**options, "vocab_size": texts_of(sizes)}, [TEXT])
    return dict(trainers.ours.run(case).outputs)


SOME_OPTIONS: list[dict[str, Option]] = [
    {},
    {"prune_overshoot": 1},
    {"prune": "exact", "prune_overshoot": 1},
    {"use_sparse_pruning": True},
    {"compat": "0.2.1"},
    {"model_type": "bpe"},
]
# In a short run, each text has two of the options.
SMALL_TEXTS = [
    (name, options)
    for number, name in enumerate(corpora.SMALL)
    for place, options in enumerate(SOME_OPTIONS)
    if LONG or number % 3 == place % 3
]


@pytest.mark.parametrize(("name", "options"), SMALL_TEXTS, ids=str)
def test_every_small_text(trainers: Trainers, name: str, options: dict[str, Option]) -> None:
    """The run for all sizes fails if and only if a separate run fails, with the same message."""
    text = corpora.small()[name][:60_000]
    chosen = {**SOFT, **options}
    sizes = (300, 420, 1000)
    own, failures = {}, []
    for size in sizes:
        case = file_case({**chosen, "vocab_size": size, "model_prefix": f"m-{size}"}, [text])
        outcome = trainers.ours.run(case)
        own.update(outcome.outputs)
        if outcome.failure is not None:
            failures.append(outcome.failure.message)
    together = trainers.ours.run(file_case({**chosen, "vocab_size": texts_of(sizes)}, [text]))
    if not failures:
        assert together.outputs == own
    else:
        assert together.failure is not None
        assert not together.outputs
        said = together.failure.message
        assert any(said.endswith(message) for message in failures)


def test_sentences_of_an_iterator_and_a_sample(trainers: Trainers) -> None:
    sentences = TEXT.splitlines()
    options: dict[str, Option] = {
        **SOFT,
        "input_sentence_size": 200,
        "shuffle_input_sentence": False,
    }
    case = sentences_case({**options, "vocab_size": texts_of(SIZES)}, sentences)
    together = trainers.ours.run(case)
    for size in SIZES:
        own = {**options, "vocab_size": size, "model_prefix": f"m-{size}"}
        outcome = trainers.reference.run(sentences_case(own, sentences))
        assert outcome.outputs.items() <= together.outputs.items()


def test_a_seed_file(trainers: Trainers) -> None:
    words = sorted({word for line in TEXT.splitlines() for word in line.split()})
    lines = "".join(f"{word}\t{number + 1}\n" for number, word in enumerate(words) if word)
    options: dict[str, Option] = {"seed_sentencepieces_file": "seeds.tsv"}
    sizes = (150, 300, 600)
    check_own_runs(trainers, options, TEXT, sizes, files={"seeds.tsv": lines.encode()})


def test_a_text_with_counts(trainers: Trainers) -> None:
    text = "".join(f"{line}\t{1 + at % 5}\n" for at, line in enumerate(TEXT.splitlines()))
    check_own_runs(trainers, {"input_format": "tsv"}, text)


def test_self_tests(trainers: Trainers, old_release: str) -> None:
    options: dict[str, Option] = {"self_test_sample_size": 50, "input_sentence_size": 0}
    check_own_runs(trainers, options, TEXT, (150, 300), release=old_release, in_reference=False)


@pytest.mark.parametrize("kind", KINDS)
def test_from_counts(kind: str, tmp_path: Path) -> None:
    pytest.importorskip("pyarrow")
    (tmp_path / "text").write_text(TEXT, encoding="utf-8")
    options: dict[str, Any] = {"model_type": kind, **SOFT, "minloglevel": 3}
    counts = spmcompat.count(input=tmp_path / "text", minloglevel=3)
    from_counts = {size: io.BytesIO() for size in SIZES}
    from_text = {size: io.BytesIO() for size in SIZES}
    spmcompat.train(
        counts=counts, vocab_size=SIZES, model_writer=from_counts.__getitem__, **options
    )
    source = {"input": tmp_path / "text"}
    spmcompat.train(vocab_size=SIZES, model_writer=from_text.__getitem__, **source, **options)
    for size in SIZES:
        assert from_counts[size].getvalue() == from_text[size].getvalue()


# Writers.


def trained(sizes: Any, writer: Any, **options: Any) -> None:
    chosen = {**SOFT, "minloglevel": 3, **options}
    spmcompat.train(
        sentence_iterator=TEXT.splitlines(), vocab_size=sizes, model_writer=writer, **chosen
    )


def test_writers_in_a_list_and_from_a_function(trainers: Trainers) -> None:
    sizes = (150, 300)
    listed, of_function = [io.BytesIO() for _ in sizes], {size: io.BytesIO() for size in sizes}
    trained(sizes, listed)
    trained([*sizes], of_function.get)
    for size, writer in zip(sizes, listed, strict=True):
        case = sentences_case(
            {**SOFT, "vocab_size": size, "minloglevel": 3}, TEXT.splitlines(), writer=True
        )
        own = trainers.reference.run(case).outputs[WRITER]
        assert writer.getvalue() == own
        assert of_function[size].getvalue() == own


def test_a_list_of_one_size_is_a_list(tmp_path: Path) -> None:
    writer = io.BytesIO()
    trained([150], [writer])
    assert writer.getvalue()
    spmcompat.train(
        sentence_iterator=TEXT.splitlines(),
        model_prefix=tmp_path / "m",
        vocab_size=range(150, 151),
        minloglevel=3,
    )
    assert sorted(os.listdir(tmp_path)) == ["m-150.model", "m-150.vocab"]


def test_the_function_is_called_once_for_each_size_at_the_end() -> None:
    asked: list[int] = []

    def writer_of(size: int) -> io.BytesIO:
        asked.append(size)
        return io.BytesIO()

    with raises_kind("vocabulary-too-large hard_vocab_limit"):
        trained([150, 1_000_000], writer_of, hard_vocab_limit=True)
    assert not asked
    trained([300, 150], writer_of)
    assert asked == [300, 150]


def test_a_list_of_writers_for_a_single_size() -> None:
    with raises_kind("conflicting-options model_writer", spmcompat.BadValueError):
        trained(150, [io.BytesIO()])


@pytest.mark.parametrize(
    ("writer", "says"),
    [
        (io.BytesIO(), "wrong-type"),
        (io.BytesIO, "wrong-type"),
        ([io.BytesIO()], "conflicting-options"),
        ([io.BytesIO(), None], "wrong-type"),
        (lambda size: None, "wrong-type"),
    ],
    ids=["one", "a class", "too few", "None", "a function that returns None"],
)
def test_bad_writers(writer: Any, says: str) -> None:
    with raises_kind(says, spmcompat.BadValueError):
        trained([150, 300], writer)


@pytest.mark.parametrize(
    ("writer", "says"),
    [
        ("m.model", "wrong-type model_prefix"),
        (io.BytesIO().write, "wrong-type builtin_function"),
        (io.StringIO(), "wrong-type model_prefix"),
    ],
    ids=["a path", "a function", "a text stream"],
)
def test_a_bad_writer_for_a_single_size(writer: Any, says: str) -> None:
    with raises_kind(says):
        trained(150, writer)


# Errors.


@pytest.mark.parametrize(
    ("value", "says"),
    [
        ("150,", "bad-value vocab_size"),
        (",150", "bad-value vocab_size"),
        ("150,,300", "bad-value vocab_size"),
        (",", "bad-value vocab_size"),
        ("150,many", "bad-value many vocab_size"),
        ("150,300,150", "bad-value vocab_size 150"),
        ("150,0150", "bad-value vocab_size 150"),
        ("150,1.5", "bad-value 1.5"),
        ("150,99999999999", "bad-value 99999999999"),
        ([], "bad-value vocab_size"),
        ([150, None], "bad-value None"),
        ([150, ["300", "x"]], "bad-value 300,x"),
        ([150, "300,400"], "bad-value 300,400"),
        ((150, 150), "bad-value vocab_size 150"),
        ("many", "bad-value many vocab_size"),
    ],
    ids=str,
)
def test_bad_lists(value: Any, says: str, tmp_path: Path) -> None:
    with raises_kind(says, spmcompat.BadValueError):
        spmcompat.train(
            sentence_iterator=["a b"], model_prefix=tmp_path / "m", vocab_size=value, minloglevel=3
        )
    assert not os.listdir(tmp_path)


def test_a_bad_list_on_the_command_line_is_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("text").write_text(TEXT, encoding="utf-8")
    said = io.StringIO()
    flags = ["--input=text", "--model_prefix=m", "--vocab_size=150,,300"]
    assert main(flags, io.StringIO(), said) == 2
    assert said.getvalue().count("\n") == 1
    assert os.listdir() == ["text"]


@pytest.mark.parametrize(
    ("options", "sizes", "says"),
    [
        ({}, [150, 3], "vocabulary-too-small vocab_size 3:"),
        ({}, [0, 150], "bad-value vocab_size 0:"),
        ({"unk_id": 140}, [150, 100], "bad-symbol vocab_size 100: unk_id 140"),
        ({}, [150, 5], "vocabulary-too-small vocab_size 5:"),
        ({"model_type": "bpe"}, [150, 5], "vocabulary-too-small vocab_size 5:"),
        ({"model_type": "word"}, [150, 2], "bad-symbol vocab_size 2: eos_id"),
        (
            {"hard_vocab_limit": True},
            [150, 90_000],
            "vocabulary-too-large vocab_size 90000:",
        ),
        (
            {"hard_vocab_limit": True, "model_type": "bpe"},
            [90_000, 150],
            "vocabulary-too-large vocab_size 90000:",
        ),
    ],
    ids=str,
)
def test_an_error_of_one_size_names_it_and_nothing_is_written(
    options: dict[str, Option], sizes: list[int], says: str, tmp_path: Path
) -> None:
    chosen: dict[str, Any] = {**SOFT, **options, "minloglevel": 3}
    with raises_kind(says):
        spmcompat.train(
            sentence_iterator=TEXT.splitlines(),
            model_prefix=tmp_path / "m",
            vocab_size=sizes,
            **chosen,
        )
    assert not os.listdir(tmp_path)


def test_an_error_of_all_sizes_is_that_of_one() -> None:
    messages = []
    for sizes, writer in ((150, io.BytesIO()), ([150, 300], [io.BytesIO(), io.BytesIO()])):
        with pytest.raises(spmcompat.TrainingError) as error:
            trained(sizes, writer, num_threads=0)
        messages.append(str(error.value))
    assert messages[0] == messages[1]


@pytest.mark.parametrize("option", ["dump", "on_round"])
def test_options_for_a_single_model_take_one_size(option: str, tmp_path: Path) -> None:
    follower: dict[str, Any] = {"dump": tmp_path / "d", "on_round": print}
    with raises_kind(f"conflicting-options {option}", spmcompat.BadValueError):
        trained([150, 300], [io.BytesIO(), io.BytesIO()], **{option: follower[option]})
    assert not os.listdir(tmp_path)


def test_all_files_or_none(tmp_path: Path) -> None:
    """The third of four files cannot be written."""
    (tmp_path / "m-300.model").symlink_to("/dev/full")
    with raises_kind("cannot-write No space left on device"):
        train_into(tmp_path, [150, 300])
    assert os.listdir(tmp_path) == ["m-300.model"]


def test_every_target_is_checked_before_the_text_is_read(tmp_path: Path) -> None:
    (tmp_path / "m-300.vocab").mkdir()

    def no_sentence() -> Any:
        raise AssertionError
        yield

    with raises_kind("cannot-write vocab_size 300 m-300.vocab Is a directory"):
        spmcompat.train(
            sentence_iterator=no_sentence(),
            model_prefix=tmp_path / "m",
            vocab_size=[150, 300],
            minloglevel=3,
        )


def train_into(folder: Path, sizes: Any, **options: Any) -> str:
    """Train into a folder and return the log."""
    log = io.StringIO()
    spmcompat.train(
        sentence_iterator=TEXT.splitlines(),
        model_prefix=folder / "m",
        vocab_size=sizes,
        logstream=log,
        **options,
    )
    return log.getvalue()


# Messages.


def test_stages_that_not_all_sizes_share_are_told_with_their_sizes(tmp_path: Path) -> None:
    log = train_into(tmp_path, [150, 300], hard_vocab_limit=False)
    assert log.count("EM and pruning, vocab_size 150: done") == 1
    assert "vocab_size 300: EM and pruning end with 330 pieces" in log
    assert "vocab_size 150: EM and pruning end with 165 pieces" in log
    for size in (150, 300):
        assert f"m-{size}.model and {tmp_path}/m-{size}.vocab: {size} pieces" in log
    assert log.count("Seeding: done") == 1


def test_sizes_with_other_seeds_are_told_one_after_the_other(tmp_path: Path) -> None:
    log = train_into(tmp_path, [150, 300], recipe="mingram")
    for size in (150, 300):
        assert log.count(f"Seeds for vocab_size {size}") == 1
        assert log.count(f"Hard EM, vocab_size {size}: done") == 1


@pytest.mark.parametrize("kind", KINDS)
def test_a_single_size_is_not_reported_as_sizes(tmp_path: Path, kind: str) -> None:
    log = train_into(tmp_path, 300, hard_vocab_limit=False, model_type=kind)
    assert "vocab_size" not in log


@pytest.mark.parametrize("release", ["0.2.1"])
def test_a_comma_makes_a_list_in_releases_that_ignore_it(trainers: Trainers, release: str) -> None:
    """The reference reads only the number before the comma, as docs/deviations.md states."""
    case = file_case({**SOFT, "vocab_size": "150,300"}, [TEXT], release=release)
    ours = trainers.ours.run(case)
    assert {"m-150.model", "m-300.model"} <= ours.outputs.keys()
