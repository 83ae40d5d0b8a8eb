"""The table of options agrees with the schema, and everything else follows from the table."""

from __future__ import annotations

import io

import pytest
from google.protobuf.descriptor import FieldDescriptor

import spmcompat
from derive.options import tables
from spmcompat.cli.flags import parse
from spmcompat.cli.help import help_text
from spmcompat.cli.train import command
from spmcompat.errors import BadValueError
from spmcompat.model.sentencepiece_model_pb2 import NormalizerSpec, TrainerSpec
from spmcompat.options.checks import check_options
from spmcompat.options.extension_options import RECIPES
from spmcompat.options.from_flags import from_flags
from spmcompat.options.from_keywords import from_kwargs
from spmcompat.options.help import default_text
from spmcompat.options.option import (
    BOOL,
    BYTES,
    FILE,
    FLOAT,
    INT32,
    LIST,
    MODEL_TYPE,
    NORMALIZER,
    PATH,
    SETTINGS,
    TEXT,
    TRAINER,
    UINT64,
    Option,
)
from spmcompat.options.settings import Settings
from spmcompat.options.table import GROUPS, OPTIONS
from spmcompat.plan import TextPlan
from spmcompat.releases import RELEASES
from spmcompat.stored_counts.metadata import COUNTING_OPTIONS
from spmcompat.unigram.options import UnigramOptions
from tests.kinds import raises_kind

KINDS = {
    FieldDescriptor.TYPE_BOOL: BOOL,
    FieldDescriptor.TYPE_BYTES: BYTES,
    FieldDescriptor.TYPE_ENUM: MODEL_TYPE,
    FieldDescriptor.TYPE_FLOAT: FLOAT,
    FieldDescriptor.TYPE_INT32: INT32,
    FieldDescriptor.TYPE_STRING: TEXT,
    FieldDescriptor.TYPE_UINT64: UINT64,
}


@pytest.mark.parametrize(("place", "spec"), [(TRAINER, TrainerSpec), (NORMALIZER, NormalizerSpec)])
def test_every_field_of_the_schema_is_an_option_of_its_type(
    place: str, spec: type[TrainerSpec | NormalizerSpec]
) -> None:
    options = [option for option in OPTIONS.values() if option.stored_in == place]
    fields = spec.DESCRIPTOR.fields_by_name
    assert {option.stored_as for option in options} == set(fields)
    repeated = {field.name for field, _ in spec(**_some_lists(spec)).ListFields()}
    for option in options:
        kind = LIST if option.stored_as in repeated else KINDS[fields[option.stored_as].type]
        assert kind == (TEXT if option.kind in (FILE, PATH) else option.kind), option.name


def _some_lists(spec: type[TrainerSpec | NormalizerSpec]) -> dict[str, list[str]]:
    """Return a value for every field that is a list."""
    default = spec()
    names = [field.name for field in spec.DESCRIPTOR.fields]
    simple = bool | int | float | str | bytes
    return {name: ["a"] for name in names if not isinstance(getattr(default, name), simple)}


def test_options_have_defaults() -> None:
    for option in OPTIONS.values():
        if option.stored_in == TRAINER and option.kind != LIST:
            assert option.default == getattr(TrainerSpec(), option.name)
        elif option.stored_in == SETTINGS and option.name != "workers":
            assert option.default is not None, option.name
    assert default_text(OPTIONS["model_type"]) == "unigram"
    assert default_text(OPTIONS["normalization_rule_name"]) == "nmt_nfkc"


def test_the_trainer_has_the_same_defaults() -> None:
    given = UnigramOptions()
    settings = Settings()
    shared = set(UnigramOptions._fields) & OPTIONS.keys()
    assert {o.name for o in OPTIONS.values() if o.stored_in == SETTINGS and o.models} - shared == {
        "language_first_merges",
        "language_window",
        "language_alpha",
        "space_pieces",
        "dump",
        "dump_format",
    }
    for name in shared:
        option = OPTIONS[name]
        assert getattr(given, name) == option.default, name
        if option.stored_in == SETTINGS:
            assert getattr(settings.own, name) == option.default, name


def test_facts_of_releases_are_about_options_of_the_table() -> None:
    for release in RELEASES.values():
        named = release.unknown_options | release.retired_options | release.experimental_flags
        assert named <= OPTIONS.keys()
        assert all(OPTIONS[name].in_reference for name in named)


def test_releases_that_have_an_option() -> None:
    assert OPTIONS["vocab_size"].releases == list(RELEASES)
    assert OPTIONS["self_test_sample_size"].releases == ["0.2.0", "0.2.1", "0.2.2"]
    assert OPTIONS["auto_character_coverage"].releases[0] == "0.2.3"
    assert OPTIONS["mining_sentence_size"].releases == []
    assert OPTIONS["workers"].releases == []


def test_recipes_set_values_of_extensions() -> None:
    for recipe in RECIPES.values():
        settings = from_kwargs(recipe)
        # Recipes whose vocabulary may become smaller than vocab_size also set hard_vocab_limit,
        # which is not an extension.
        extensions = recipe.keys() - {"hard_vocab_limit"}
        assert not any(OPTIONS[name].in_reference for name in extensions)
        assert ("drop_unused" in recipe) == ("hard_vocab_limit" in recipe)
        assert vars(settings.own) != vars(Settings().own)


def test_names_are_written_once() -> None:
    listed = [option.name for options in GROUPS.values() for option in options]
    assert sorted(listed) == sorted(OPTIONS)


def test_conflicts_are_with_options_of_the_table() -> None:
    for option in OPTIONS.values():
        conditions = (*option.needs, *option.excludes)
        assert {one.partition("=")[0] for one in conditions} <= OPTIONS.keys()
        assert option.refusals.keys() <= {*conditions, "models"}
        for name, has_value, value in (one.partition("=") for one in conditions):
            assert not has_value or value in OPTIONS[name].choices or name == "pretokenizer"


NEW = Option(
    "brand_new_option",
    FLOAT,
    "Does something new.",
    SETTINGS,
    default=2.5,
    least=1,
    models=("unigram",),
    in_reference=False,
)


def test_a_new_row_is_all_that_a_new_option_needs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(GROUPS, "Something new", (NEW,))
    monkeypatch.setitem(OPTIONS, NEW.name, NEW)
    assert Settings().own.brand_new_option == 2.5
    assert from_kwargs({NEW.name: 3}).own.brand_new_option == 3
    flags = parse(command()._replace(required=()), [f"--{NEW.name}=4"]).options
    assert from_flags(flags).own.brand_new_option == 4
    with raises_kind("bad-value brand_new", BadValueError):
        check_options(from_kwargs({NEW.name: 0}))
    with raises_kind("unknown-option brand_new_option"):
        from_kwargs({"brand_new_optoin": 3})
    with raises_kind("usage --brand_new_option"):
        parse(command(), ["--brand_new_optoin=3"])
    assert "--brand_new_option" in help_text(command())
    assert "| `brand_new_option` | number, 1 or more | `2.5` |" in tables()
    with raises_kind("conflicting-options brand_new_option"):
        spmcompat.SentencePieceTrainer.train(
            sentence_iterator=["a"], model_writer=io.BytesIO(), model_type="bpe", **{NEW.name: 3}
        )


def test_options_that_select_the_text_are_in_its_plan_and_in_counts() -> None:
    names = {option.name for option in OPTIONS.values() if option.selects_text}
    assert "input" in names
    assert names <= set(TextPlan._fields)
    assert names <= set(COUNTING_OPTIONS)
