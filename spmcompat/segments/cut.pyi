from spmcompat.counting.counts import Counts
from spmcompat.plan import Plan
from spmcompat.runtime.workers import Workers
from spmcompat.segments.corpus import Corpus, SegmentCounts

def lacks_pretokens(counts: Counts, alphabet: list[tuple[int, int]], plan: Plan) -> bool: ...
def cut(
    counts: Counts, alphabet: list[tuple[int, int]], plan: Plan, workers: Workers
) -> Corpus: ...
def cut_seeding_chunk(
    counts: Counts, alphabet: list[tuple[int, int]], workers: Workers
) -> Corpus: ...
def bpe_segments(
    counts: Counts, alphabet: list[tuple[int, int]], plan: Plan, workers: Workers
) -> SegmentCounts: ...
