"""The plan of a run: how options and releases determine it."""

from __future__ import annotations

import inspect
import re

import pytest

from spmcompat.model.sentencepiece_model_pb2 import TrainerSpec
from spmcompat.options.planning import PlanOptions, make_plan
from spmcompat.plan import STRUCTS, CoveragePlan, Plan, TextPlan
from spmcompat.releases import RELEASES, Release


@pytest.mark.parametrize("part", [Plan, TextPlan, CoveragePlan, *STRUCTS.values()])
def test_every_field_is_explained(part: type[Plan]) -> None:
    explained = re.findall(r"^([\w, ]+) : ", inspect.getdoc(part) or "", flags=re.MULTILINE)
    assert [name for names in explained for name in names.split(", ")] == list(part._fields)


def test_raw_tokens_are_counted_where_nothing_reaches_across_spaces() -> None:
    assert make_plan(PlanOptions()).counting.by_raw_tokens
    others = [
        PlanOptions(remove_extra_whitespaces=False),
        PlanOptions(add_dummy_prefix=False),
        PlanOptions(treat_whitespace_as_suffix=True),
        PlanOptions(split_by_whitespace=False),
        PlanOptions(pretokenization_delimiter="▁"),
        PlanOptions(pretokenizer=list),
    ]
    assert not any(make_plan(options).counting.by_raw_tokens for options in others)
    assert not make_plan(PlanOptions(), meta_pieces=["▁a"]).counting.by_raw_tokens


@pytest.mark.parametrize("release", RELEASES.values(), ids=list(RELEASES))
def test_bpe_keeps_contexts_only_for_its_active_set(release: Release) -> None:
    plan = make_plan(PlanOptions(model_type=TrainerSpec.BPE, text=TextPlan(release=release)))
    assert plan.counting.keeps_contexts == release.bpe_active_set
    assert not make_plan(
        PlanOptions(model_type=TrainerSpec.CHAR, text=TextPlan(release=release))
    ).counting.keeps_contexts


@pytest.mark.parametrize("release", RELEASES.values(), ids=list(RELEASES))
def test_seeds_have_a_plan_of_their_own_where_they_are_counted_otherwise(release: Release) -> None:
    assert make_plan(PlanOptions(text=TextPlan(release=release))).seeds is None
    twice = make_plan(PlanOptions(text=TextPlan(input_format="tsv", release=release)))
    assert (twice.seeds is not None) == release.seeds_see_lines_twice
    if twice.seeds is not None:
        assert (twice.counting.copies, twice.seeds.counting.copies) == (0, 2)
        assert not twice.seeding.looks_at_text_end
    cut = make_plan(PlanOptions(pretokenization_delimiter="|", text=TextPlan(release=release)))
    assert (cut.counting.delimiter == b"|") != (cut.cutting.removed_delimiter == b"|")
    assert (cut.seeds is not None) == release.removes_delimiter
    if cut.seeds is not None:
        assert cut.seeds.cutting.delimiter_cuts
        assert not cut.cutting.delimiter_cuts


@pytest.mark.parametrize("release", RELEASES.values(), ids=list(RELEASES))
def test_an_empty_sentence_stays_only_where_its_position_matters(release: Release) -> None:
    options = PlanOptions(text=TextPlan(release=release), split_by_whitespace=False)
    assert make_plan(options).counting.removes_all_empty == release.removes_all_empty
    words = PlanOptions(text=TextPlan(release=release), model_type=TrainerSpec.WORD)
    assert make_plan(words).counting.removes_all_empty


@pytest.mark.parametrize("release", RELEASES.values(), ids=list(RELEASES))
def test_bpe_cuts_segments_with_the_characters_unless_the_release_looks_at_pretokens(
    release: Release,
) -> None:
    bpe = make_plan(PlanOptions(text=TextPlan(release=release), model_type=TrainerSpec.BPE))
    expected = not release.bpe_active_set and release.bpe_longest_pretoken == 0
    assert bpe.counting.cuts_segments == expected
    for other in (TrainerSpec.UNIGRAM, TrainerSpec.WORD, TrainerSpec.CHAR):
        assert not make_plan(
            PlanOptions(text=TextPlan(release=release), model_type=other)
        ).counting.cuts_segments


def test_pretokens_are_kept_unless_the_space_mark_is_required() -> None:
    assert make_plan(PlanOptions()).counting.keeps_pretokens
    assert not make_plan(PlanOptions(required_chars="▁")).counting.keeps_pretokens
    assert not make_plan(PlanOptions(split_by_whitespace=False)).counting.keeps_pretokens
    apart = make_plan(PlanOptions(space_pieces="separate"), meta_pieces=["▁", "x"])
    assert not apart.counting.keeps_pretokens
    assert apart.meta_pieces == (b"x",)
