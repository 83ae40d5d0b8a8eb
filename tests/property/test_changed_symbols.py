"""`changed_symbols` gives the same result as its definition, which is written out in the test."""

from hypothesis import example, given
from hypothesis import strategies as st

from spmcompat.normalization.charsmaps import compile_charsmap
from spmcompat.tools.export.gguf_limits import changed_symbols
from tests.unit.tools.export.small_models import PIECE, UNIGRAM, made

TEXTS = st.text("ab▁c", min_size=1, max_size=6)


@given(
    symbols=st.lists(TEXTS, max_size=5, unique=True),
    rules=st.dictionaries(TEXTS, st.text("de ", max_size=2), min_size=1, max_size=8),
)
@example(symbols=["b" * 8_000, "b" * 8_000 + "a"], rules={"a": "d", "b" * 300 + "ac": "d"})
@example(symbols=["▁", "a"], rules={"▁": " ", "ab": "d"})
def test_changed_symbols(symbols: list[str], rules: dict[str, str]) -> None:
    model = made(UNIGRAM, [(symbol, 0.0, PIECE.USER_DEFINED) for symbol in symbols])
    model.normalizer_spec.precompiled_charsmap = compile_charsmap(
        {tuple(map(ord, source)): tuple(map(ord, target)) for source, target in rules.items()}
    )
    changing = [source for source, target in rules.items() if target.replace(" ", "▁") != source]
    expected = {}
    for symbol in symbols:
        is_always = any(source in symbol for source in changing)
        begins = [source[:at] for source in changing for at in range(1, len(source))]
        if is_always or symbol.endswith(tuple(begins)):
            expected[symbol] = is_always
    assert changed_symbols(model) == expected
