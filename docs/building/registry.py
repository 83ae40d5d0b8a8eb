"""The drawings and the generated texts by name.

The function that makes an item is imported when it is needed.
"""

from functools import cache
from importlib import import_module

_DRAWINGS = {
    "counts": "building.unigram_pictures:counts",
    "seeds": "building.unigram_pictures:seeds",
    "lattice": "building.unigram_pictures:lattice",
    "expected": "building.unigram_pictures:expected",
    "pruning": "building.unigram_pictures:pruning",
    "merges": "building.bpe_pictures:merges",
    "partial-sums": "building.summation_pictures:partial_sums",
    "gains": "building.benchmark_pictures:gains",
    "growth": "building.benchmark_pictures:growth",
    "speed-unigram": "building.benchmark_pictures:speed_unigram",
    "speed-bpe": "building.benchmark_pictures:speed_bpe",
    "memory-unigram": "building.benchmark_pictures:memory_unigram",
    "workers": "building.benchmark_pictures:workers",
    "types": "building.benchmark_pictures:types",
    "stages": "building.benchmark_pictures:stages",
    "more-cores": "building.benchmark_pictures:more_cores",
    "vocabulary-size": "building.size_pictures:bytes_per_token",
}
_MARKDOWN = {
    "same-flags": "building.option_entries:same_flags",
    "new-flags": "building.option_entries:new_flags",
    "retired-flags": "building.option_entries:retired_flags",
    "counts-rows": "building.unigram_pictures:counts_rows",
    "em-rows": "building.unigram_pictures:em_rows",
    "final-rows": "building.unigram_pictures:final_rows",
    "orders-of-summation": "building.summation_pictures:orders",
}


@cache
def drawing(name: str) -> str:
    """Return a drawing as SVG."""
    return _made(_DRAWINGS[name])


@cache
def markdown(name: str) -> str:
    """Return a generated text."""
    return _made(_MARKDOWN[name])


def _made(maker: str) -> str:
    module, _, function = maker.partition(":")
    made: str = getattr(import_module(module), function)()
    return made
