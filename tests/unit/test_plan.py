"""The plan of a run: the names of its fields, and how options and releases determine it."""

from __future__ import annotations

import inspect
import re
from pathlib import Path

import pytest

from spmcompat.model.sentencepiece_model_pb2 import TrainerSpec
from spmcompat.options.planning import PlanOptions, make_plan
from spmcompat.plan import ONLY_IN_PYTHON, Plan, TextPlan
from spmcompat.releases import RELEASES, Release

SOURCES = Path(__file__).resolve().parents[2] / "spmcompat"  # missing if a wheel is tested
NAMES = [name for name in Plan._fields if name not in ONLY_IN_PYTHON]

with_sources = pytest.mark.skipif(not SOURCES.is_dir(), reason="needs the C++ sources")


@with_sources
def test_the_fields_have_the_same_names_in_cpp() -> None:
    struct = (SOURCES / "plan.hpp").read_text().partition("struct Plan {")[2]
    fields = re.findall(r"^  [\w:]+ (\w+);$", struct, flags=re.MULTILINE)
    assert fields == NAMES


@with_sources
def test_the_fields_have_the_same_names_in_cython() -> None:
    declared = (SOURCES / "plan.pxd").read_text().partition("cdef struct")[2]
    fields = re.findall(r"^        \w+ (\w+)$", declared, flags=re.MULTILINE)
    assert fields == NAMES


def test_every_field_is_explained() -> None:
    explained = re.findall(r"^([\w, ]+) : ", inspect.getdoc(Plan) or "", flags=re.MULTILINE)
    assert [name for names in explained for name in names.split(", ")] == list(Plan._fields)


def test_raw_tokens_are_counted_where_nothing_reaches_across_spaces() -> None:
    assert make_plan(PlanOptions()).by_raw_tokens
    others = [
        PlanOptions(remove_extra_whitespaces=False),
        PlanOptions(add_dummy_prefix=False),
        PlanOptions(treat_whitespace_as_suffix=True),
        PlanOptions(split_by_whitespace=False),
        PlanOptions(pretokenization_delimiter="▁"),
        PlanOptions(pretokenizer=list),
    ]
    assert not any(make_plan(options).by_raw_tokens for options in others)
    assert not make_plan(PlanOptions(), meta_pieces=["▁a"]).by_raw_tokens


@pytest.mark.parametrize("release", RELEASES.values(), ids=list(RELEASES))
def test_bpe_keeps_contexts_only_for_its_active_set(release: Release) -> None:
    plan = make_plan(PlanOptions(model_type=TrainerSpec.BPE, text=TextPlan(release=release)))
    assert plan.keeps_contexts == release.bpe_active_set
    assert not make_plan(
        PlanOptions(model_type=TrainerSpec.CHAR, text=TextPlan(release=release))
    ).keeps_contexts


@pytest.mark.parametrize("release", RELEASES.values(), ids=list(RELEASES))
def test_seeds_have_a_plan_of_their_own_where_they_are_counted_otherwise(release: Release) -> None:
    assert make_plan(PlanOptions(text=TextPlan(release=release))).seeds is None
    twice = make_plan(PlanOptions(text=TextPlan(input_format="tsv", release=release)))
    assert (twice.seeds is not None) == release.seeds_see_lines_twice
    if twice.seeds is not None:
        assert (twice.copies, twice.seeds.copies) == (0, 2)
        assert not twice.looks_at_text_end
    cut = make_plan(PlanOptions(pretokenization_delimiter="|", text=TextPlan(release=release)))
    assert (cut.delimiter == b"|") != (cut.removed_delimiter == b"|")
    assert (cut.seeds is not None) == release.removes_delimiter
    if cut.seeds is not None:
        assert cut.seeds.delimiter_cuts
        assert not cut.delimiter_cuts


@pytest.mark.parametrize("release", RELEASES.values(), ids=list(RELEASES))
def test_an_empty_sentence_stays_only_where_its_position_matters(release: Release) -> None:
    options = PlanOptions(text=TextPlan(release=release), split_by_whitespace=False)
    assert make_plan(options).removes_all_empty == release.removes_all_empty
    words = PlanOptions(text=TextPlan(release=release), model_type=TrainerSpec.WORD)
    assert make_plan(words).removes_all_empty


@pytest.mark.parametrize("release", RELEASES.values(), ids=list(RELEASES))
def test_bpe_cuts_segments_with_the_characters_unless_the_release_looks_at_pretokens(
    release: Release,
) -> None:
    bpe = make_plan(PlanOptions(text=TextPlan(release=release), model_type=TrainerSpec.BPE))
    assert bpe.cuts_segments == (not release.bpe_active_set and release.bpe_longest_pretoken == 0)
    for other in (TrainerSpec.UNIGRAM, TrainerSpec.WORD, TrainerSpec.CHAR):
        assert not make_plan(
            PlanOptions(text=TextPlan(release=release), model_type=other)
        ).cuts_segments


def test_pretokens_are_kept_unless_the_space_mark_is_required() -> None:
    assert make_plan(PlanOptions()).keeps_pretokens
    assert not make_plan(PlanOptions(required_chars="▁")).keeps_pretokens
    assert not make_plan(PlanOptions(split_by_whitespace=False)).keeps_pretokens
    apart = make_plan(PlanOptions(space_pieces="separate"), meta_pieces=["▁", "x"])
    assert not apart.keeps_pretokens
    assert apart.meta_pieces == (b"x",)
