"""Continuing the merges of a model, and dropping leaves, on texts drawn by Hypothesis."""

from __future__ import annotations

from collections import Counter

from hypothesis import assume, given, settings
from hypothesis import strategies as st

from spmcompat.bpe.merges import count_in_encoded, find_merges
from spmcompat.model.pieces import Piece, pieces_of
from spmcompat.model.sentencepiece_model_pb2 import TrainerSpec
from spmcompat.runtime.workers import Workers
from spmcompat.tools.edit.leaves import least_used_first, parts_of_pieces
from spmcompat.tools.edit.reach import unreachable
from tests.oracle import growing
from tests.oracle.characters import SPACE, Options
from tests.property.test_merging import texts
from tests.searches import examples
from tests.unit.bpe.test_merges import merges_of, segments_of
from tests.unit.tools.edit.growing_models import KINDS, PLAIN, extended, scores_of, trained, trimmed

BPE = TrainerSpec(model_type=TrainerSpec.BPE)
PIECES = st.dictionaries(
    st.text("abc▁1", min_size=2, max_size=6), st.integers(-6, 0).map(float), max_size=12
)


@settings(max_examples=examples(200))
@given(texts(), PIECES, st.integers(1, 40), st.sampled_from([1, 10**9]))
def test_merges_after_initial_pieces_are_those_of_the_oracle(
    lines: list[str], scores: dict[str, float], wanted: int, repeated: int
) -> None:
    """Initial pieces that cross the boundary of a segment have no effect."""
    options = {"split_by_whitespace": False, "split_by_unicode_script": False}
    counted = [f"{line}\t{repeated}" for line in lines]
    segments = segments_of(counted, input_format="tsv", character_coverage=1.0, **options)
    encoded = [(piece.encode(), score) for piece, score in scores.items()]
    merges = find_merges(segments, wanted, Workers(2), initial=encoded)
    oracle = growing.extending_merges(
        [(SPACE + line, repeated) for line in lines], Options(**options), scores, wanted
    )
    assert [(piece.decode(), count) for piece, count, _ in merges] == list(oracle)


@settings(max_examples=examples(100))
@given(texts(), st.integers(1, 40), st.integers(1, 40))
def test_leaves_fall_and_all_others_stay_reachable(
    lines: list[str], wanted: int, size: int
) -> None:
    learned = merges_of(segments_of(lines, character_coverage=1.0), wanted)
    characters = {c for line in lines for c in SPACE + line}
    texts = [*(piece for piece, count in learned if count > 0), *sorted(characters)]
    scores = {piece: -float(rank) for rank, piece in enumerate(texts)}
    pieces = [Piece(piece, score) for piece, score in scores.items()]
    segments = segments_of(lines, character_coverage=1.0)
    given_pieces = [(piece.encode(), score) for piece, score in scores.items()]
    counts = Counter(
        dict(zip(texts, count_in_encoded(segments, given_pieces, Workers(1)), strict=True))
    )
    droppable = {piece: (True, score) for piece, score in scores.items() if len(piece) > 1}
    fallen = []
    for piece in least_used_first(droppable, parts_of_pieces(pieces), counts):
        if len(fallen) == size:
            break
        fallen.append(piece)
        left = [one for one in pieces if one.text not in fallen]
        assert unreachable(left, BPE) == []
    assert fallen == growing.trimmed_by_leaves(scores, counts, len(fallen))
    assert len(fallen) == min(size, len(droppable))


@settings(max_examples=40)
@given(st.sampled_from(KINDS), texts(), texts(), st.integers(1, 12))
def test_old_ids_stay_and_fewer_pieces_can_come_back(
    kind: str, lines: list[str], new: list[str], add: int
) -> None:
    model = trained(lines, vocab_size=30, model_type=kind, character_coverage=1.0, **PLAIN)
    missing = {c for line in new for c in line} - set(scores_of(model))
    assume(len(missing) <= add)
    grown = extended(model, new, add)
    assert grown.pieces[: len(model.pieces)] == model.pieces
    added = [one.piece for one in grown.pieces[len(model.pieces) :]]
    assert len(added) <= add
    assert missing <= {*added}
    assert unreachable(pieces_of(grown), grown.trainer_spec, added) == []
    fixed = sum(one.type != 1 or len(one.piece) == 1 for one in grown.pieces)
    assume(fixed < len(grown.pieces))
    small = trimmed(grown, new, fixed)
    assert [one for one in grown.pieces if one.type != 1 or len(one.piece) == 1] == [*small.pieces]
