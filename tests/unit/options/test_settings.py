"""Keywords, strings and flags are converted to specs."""

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from google.protobuf.message import Message

from spmcompat.engine import stored_defaults
from spmcompat.errors import BadValueError, TrainingError
from spmcompat.model.sentencepiece_model_pb2 import NormalizerSpec
from spmcompat.options.from_flags import from_flags
from spmcompat.options.from_keywords import from_kwargs, from_string, from_values
from spmcompat.options.option import OBJECT
from spmcompat.options.settings import Settings, with_charsmaps
from spmcompat.options.table import OPTIONS
from spmcompat.releases import RELEASES, Release
from tests.kinds import raises_kind
from tests.parity.fields_of_spm_train import every_field


def stored(spec: Message) -> dict[str, Any]:
    """Return the fields that are set."""
    return {field.name: value for field, value in spec.ListFields()}


def test_only_what_is_given_is_stored() -> None:
    settings = from_kwargs({"vocab_size": 8000, "add_dummy_prefix": True})
    assert stored(settings.trainer) == {"vocab_size": 8000}
    assert stored(settings.normalizer) == {"add_dummy_prefix": True}
    assert stored(settings.denormalizer) == {}


def test_the_command_line_stores_every_field() -> None:
    settings = from_flags({})
    trainer = stored(settings.trainer).keys()
    assert len(trainer) == 36
    assert {"input_format", "required_chars", "pretokenization_delimiter"} <= trainer
    assert not {"input", "control_symbols", "user_defined_symbols", "accept_language"} & trainer
    assert list(stored(settings.normalizer)) == [
        "name",
        "add_dummy_prefix",
        "remove_extra_whitespaces",
        "normalization_rule_tsv",
    ]
    assert stored(settings.denormalizer) == {}


@pytest.mark.parametrize("release", RELEASES.values(), ids=RELEASES)
def test_the_stored_defaults_are_those_of_spm_train(release: Release) -> None:
    known = every_field({}, release)
    ours = stored_defaults(release)
    assert ours.pop("model_prefix") == ""
    assert ours == {
        name: f"{value:g}" if isinstance(value, float) else str(value).lower()
        for name, value in known.items()
    }


def test_no_setting_leaks_into_the_next() -> None:
    from_flags({"vocab_size": "5", "control_symbols": "a"})
    settings = from_flags({})
    assert settings.trainer.vocab_size == 8000
    assert not settings.trainer.control_symbols


def test_string_keeps_the_first_of_two() -> None:
    settings = from_string("--vocab_size=60 vocab_size=x --byte_fallback --unk_surface=a=b")
    assert settings.trainer.vocab_size == 60
    assert settings.trainer.byte_fallback
    assert settings.trainer.unk_surface == "a=b"


@pytest.mark.parametrize("text", ["--vocab_size=60  --byte_fallback", " --byte_fallback", "--a "])
def test_string_with_a_space_too_many(text: str) -> None:
    with raises_kind("unknown-option"):
        from_string(text)


EMPTY_ARGUMENTS = ["--vocab_size=60  --compat={}", " --vocab_size=60 --compat={}   "]


@pytest.mark.parametrize("text", EMPTY_ARGUMENTS)
def test_empty_arguments_of_a_string(text: str) -> None:
    for release in ("0.2.0", "0.2.1"):
        assert stored(from_string(text.format(release)).trainer) == {"vocab_size": 60}
    for release in ("0.2.2", "0.2.3"):
        with raises_kind("unknown-option"):
            from_string(text.format(release))


@pytest.mark.parametrize("text", ["--vocab_size=60 --", "--vocab_size=60 --=1 ", "=1"])
def test_arguments_without_a_name(text: str) -> None:
    for release in ("0.2.1", "0.2.3"):
        with raises_kind("unknown-option"):
            from_string(f"{text} --compat={release}")


@pytest.mark.parametrize("name", ["compat", "workers", "recipe", "on_round"])
def test_own_keyword_beside_a_string(name: str) -> None:
    with raises_kind(f"conflicting-options {name}", BadValueError):
        from_string("--vocab_size=60", [name])


def test_keywords_of_the_reference_beside_a_string() -> None:
    settings = from_string("--byte_fallback=true", ["vocab_size", "model_writer"])
    assert stored(settings.trainer) == {"byte_fallback": True}
    (note,) = settings.notes
    assert "vocab_size" in note
    assert "model_writer" in note


@pytest.mark.parametrize(
    ("text", "remedy"),
    [
        ("corpus.txt", "--input=FILE"),
        ("--input corpus.txt", "--input=corpus.txt"),
        ("--input=a.txt --model_prefix m", "--model_prefix=m"),
        ("--input=my file.txt --model_prefix=m", "input='my file.txt'"),
        ("--model_prefix=my model --input=a.txt", "model_prefix='my model'"),
        ("--input=a b/c=d.txt", "input='a b/c=d.txt'"),
        ("--user_defined_symbols=<a>, <b>", "user_defined_symbols='<a>, <b>'"),
    ],
)
def test_string_with_a_part_that_is_no_option(text: str, remedy: str) -> None:
    with raises_kind(f"unknown-option {remedy}"):
        from_string(text)


@pytest.mark.parametrize("name", ["control_symbols", "user_defined_symbols"])
def test_a_symbol_with_white_space_at_an_end_is_noted(name: str, tmp_path: Path) -> None:
    file = tmp_path / "symbols.txt"
    file.write_text("<a>\r\n<b>\r\n", newline="")
    for settings, symbol in (
        (from_kwargs({name: "<a>, <b>"}), " <b>"),
        (from_values({name: ["<b>\n", "<a>"]}), "<b>\n"),
        (from_flags({name: "<a>,<b> ,<c>"}), "<b> "),
        (from_flags({f"{name}_file": str(file)}), "<a>\r"),
    ):
        (note,) = settings.notes
        assert note.startswith(f"{name} contains {symbol!r}")
    for symbols in (["<a b>", "  ", "\n", "\t\t"], []):
        assert from_values({name: symbols}).notes == []


def test_own_options_are_not_stored() -> None:
    settings = from_kwargs({"workers": 3, "sampling_seed": 7, "minloglevel": 1})
    assert (settings.own.workers, settings.own.sampling_seed, settings.own.min_log_level) == (
        3,
        7,
        1,
    )
    assert stored(settings.trainer) == {}


def test_retired_options_are_reported() -> None:
    settings = from_kwargs({"mining_sentence_size": "anything"})
    assert settings.notes == ["--mining_sentence_size is deprecated and ignored."]
    assert stored(settings.trainer) == {}


def test_unknown_option_is_answered_with_a_close_one() -> None:
    with raises_kind("unknown-option vocab_size"):
        from_kwargs({"vocab_sise": 1})


def test_option_of_another_form() -> None:
    with raises_kind("unknown-option required_chars_file"):
        from_kwargs({"required_chars_file": "x"})
    with raises_kind("unknown-option escape_whitespaces"):
        from_flags({"escape_whitespaces": "true"})
    with raises_kind("unknown-option"):
        from_string("--sentence_iterator=x")


def test_lone_surrogate() -> None:
    with raises_kind("not-utf8 unk_surface UTF-8", BadValueError):
        from_kwargs({"unk_surface": "\ud800"})


def test_flags_read_hexadecimal_and_white_space() -> None:
    settings = from_flags({"vocab_size": "0x40", "byte_fallback": " Yes\n"})
    assert settings.trainer.vocab_size == 64
    assert settings.trainer.byte_fallback


def test_files_of_symbols(tmp_path: Path) -> None:
    (tmp_path / "c").write_bytes(b"<a>\r\n<b,c>\n")
    (tmp_path / "r").write_bytes("ß\n\nø".encode())
    settings = from_flags(
        {
            "control_symbols_file": str(tmp_path / "c"),
            "control_symbols": "<z>",
            "required_chars_file": str(tmp_path / "r"),
            "required_chars": "gone",
        }
    )
    assert list(settings.trainer.control_symbols) == ["<z>", "<a>\r", "<b,c>"]
    assert settings.trainer.required_chars == "ßø"
    with raises_kind("cannot-read"):
        from_flags({"user_defined_symbols_file": str(tmp_path / "nowhere")})
    (tmp_path / "latin").write_bytes(b"\xe9\n")
    with raises_kind("not-utf8 UTF-8", BadValueError):
        from_flags({"user_defined_symbols_file": str(tmp_path / "latin")})


def test_options_that_no_model_stores() -> None:
    given = {
        "use_sparse_pruning": " true\t",
        "post_l1_debias": "no",
        "seed_piece_length_power": " 0.5",
        "min_freq_alpha": "1e-1",
    }
    values = (True, False, 0.5, 0.1)
    by_flags = from_flags(given)
    by_keywords = from_kwargs({name: text.strip() for name, text in given.items()})
    for settings in (by_flags, by_keywords):
        assert tuple(getattr(settings.own, name) for name in given) == values
    assert by_flags.trainer == from_flags({}).trainer
    assert by_keywords.trainer == from_kwargs({}).trainer
    with raises_kind("bad-value min_freq_alpha", BadValueError):
        from_flags({"min_freq_alpha": "few"})
    with raises_kind("bad-value use_sparse_pruning", BadValueError):
        from_kwargs({"use_sparse_pruning": "perhaps"})
    with raises_kind("unknown-option use_sparse_pruning"):
        from_kwargs({"use_sparse_prunning": True})


def test_whole_normalizer() -> None:
    given = NormalizerSpec(name="mine", precompiled_charsmap=b"", add_dummy_prefix=False)
    settings = from_kwargs({"_serialized_normalizer_spec": given.SerializeToString()})
    assert settings.normalizer.SerializeToString() == given.SerializeToString()
    with raises_kind("conflicting-options", BadValueError):
        from_kwargs({"_serialized_normalizer_spec": b"", "name": "x"})
    with raises_kind("bad-value"):
        from_kwargs({"_serialized_normalizer_spec": b"\xff"})


def test_identity_stores_an_empty_charsmap() -> None:
    settings = from_kwargs({"normalization_rule_name": "identity"})
    normalizer = with_charsmaps(settings).normalizer
    assert stored(normalizer) == {"name": "identity", "precompiled_charsmap": b""}
    assert stored(settings.normalizer) == {"name": "identity"}


def test_rules_and_charsmap_exclude_each_other() -> None:
    settings = from_kwargs({"normalization_rule_tsv": "x", "precompiled_charsmap": "y"})
    with raises_kind("conflicting-options precompiled_charsmap"):
        with_charsmaps(settings)


def read(form: Callable[[dict[str, object]], Settings], given: dict[str, object]) -> object:
    """Return the fields of the settings as text, or the type and message of the error."""
    try:
        settings = form(given)
    except TrainingError as error:
        return type(error), str(error)
    return {name: repr(value) for name, value in vars(settings).items() if name != "release"}


CSV_HAS_NUL = sys.version_info >= (3, 11)

VALUES: list[object] = [
    *(True, False, 0, 1, 2, -1, 1000, 2**31, 2**32, 2**64, 10**400),
    *(0.75, 1.0, 1e-7, -0.0, float("nan"), float("inf"), 1e300),
    *("", "true", " 7", "7x", "tsv", "jsonl", "BPE", "ml", "em:07", "1000,2000", "\ud800"),
    *(["a", "b,c", 'd"e\n', " f"], ["a", ""], ["", "a"], [1, "a"], [], ["\ud800"]),
    *([["a\0b"]] if CSV_HAS_NUL else []),
    *((300, 200), range(200, 400, 100), None, Path("x y"), b"c"),
]
KEYWORDS = [
    one.name
    for one in OPTIONS.values()
    if one.keyword and one.kind != OBJECT and one.name not in ("compat", "counts", "recipe")
]


@pytest.mark.slow
@pytest.mark.parametrize("compat", ["0.2.0", "0.2.3"])
@pytest.mark.parametrize("name", KEYWORDS)
def test_values_are_stored_as_their_text_is(name: str, compat: str) -> None:
    for value in VALUES:
        given = {name: value, "compat": compat}
        stored, by_text = read(from_values, given), read(from_kwargs, given)
        assert stored == by_text, value


@pytest.mark.skipif(CSV_HAS_NUL, reason="this Python writes U+0000 as CSV")
def test_a_list_with_nul_is_refused() -> None:
    for form in (from_values, from_kwargs):
        with raises_kind("bad-value U+0000 control_symbols", BadValueError):
            form({"control_symbols": ["a\0b"]})


def test_values_are_not_turned_into_text(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("spmcompat.options.reading.to_text", None)
    settings = from_values(
        {
            "input": ["a,b"],
            "vocab_size": [900, 1000],
            "character_coverage": 0.99,
            "byte_fallback": True,
            "model_type": "bpe",
            "seed_factor": 1.5,
            "workers": 3,
            "pretokenizer": "script",
        }
    )
    assert list(settings.trainer.input) == ["a,b"]
    assert settings.sizes == (900, 1000)
    assert settings.trainer.byte_fallback is True
    assert (settings.own.seed_factor, settings.own.workers) == (1.5, 3)
